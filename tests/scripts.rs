//! The programs in scripts/ print what tests/scripts records. Their numbers are those of PyTorch 2.7.0.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::session::{Language, Session, SessionOptions};

/// A module for other scripts, which prints nothing by itself.
const MODULE: &str = "stats";

fn below(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// Returns the files of a folder with this extension, without the extension, in order.
fn names(folder: &str, ending: &str) -> BTreeSet<String> {
    let paths = fs::read_dir(below(folder)).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
    paths.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

/// Runs a script of a folder. Returns its output, followed by its error.
fn printed(folder: &str, name: &str) -> String {
    let path = below(folder).join(name).with_extension("rhai");
    let ran = spawn_with_big_stack("script", move || {
        let source = fs::read_to_string(&path).unwrap();
        Session::new(SessionOptions::default()).run_script(Language::Rhai, &source, Some(&path))
    });
    let outcome = ran.unwrap().join().unwrap();
    let error = outcome.error.map(|failure| format!("{}: {}\n", failure.kind, failure.message));
    format!("{}{}", outcome.text, error.unwrap_or_default())
}

#[test]
fn scripts_print_what_is_recorded() {
    let scripts = names("scripts", "rhai");
    let mut recorded = names("tests/scripts", "txt");
    for name in &recorded {
        let wanted = fs::read_to_string(below("tests/scripts").join(name).with_extension("txt")).unwrap();
        let got = printed("scripts", name);
        assert!(got == wanted, "scripts/{name}.rhai prints\n{got}\nand not\n{wanted}");
    }
    assert_eq!(printed("scripts", MODULE), "");
    recorded.insert(MODULE.to_owned());
    assert_eq!(scripts, recorded, "every script has its output in tests/scripts");
}

/// The scripts are written to be read: each starts with what it teaches, and none is longer than two screens.
#[test]
fn scripts_say_what_one_learns() {
    for name in names("scripts", "rhai") {
        let text = fs::read_to_string(below("scripts").join(&name).with_extension("rhai")).unwrap();
        assert!(text.starts_with("// "), "scripts/{name}.rhai does not open with a comment");
        let lines = text.lines().count();
        assert!((20..=80).contains(&lines), "scripts/{name}.rhai has {lines} lines");
    }
}

/// Programs by someone who has read only docs/rhai.md. Each checks its results, and throws on a mistake.
#[test]
fn programs_written_from_the_page_alone_run() {
    let programs = names("tests/programs", "rhai");
    assert!(programs.len() > 8);
    for name in programs {
        assert_eq!(printed("tests/programs", &name), "", "tests/programs/{name}.rhai");
    }
}
