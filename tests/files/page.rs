//! The commands of docs/files.md, run one after the other in a folder with the files that it speaks of. Its sessions are
//! run by `tensorsh test docs`.

use super::folder;
use super::folders::copied;
use crate::console::{check, run};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Files of other tests, by their names on the page.
const FILES: [(&str, &str); 4] = [
    ("scripted.pt", "scripted.pt"),
    ("blocks.gguf", "model.gguf"),
    ("others.npz", "arrays.npz"),
    ("keys.pt", "keys.pt"),
];

/// Returns a folder with the files of the page.
fn prepared() -> TempDir {
    let place = copied("page");
    for (name, on_page) in FILES {
        fs::copy(folder().join(name), place.path().join(on_page)).unwrap();
    }
    fs::rename(copied("two_writers").keep(), place.path().join("step_100")).unwrap();
    place
}

fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_commands_of_the_page_print_what_it_shows() {
    let place = prepared();
    let has_git = has_git() && run("git init -q", place.path()).is_empty();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/files.md");
    let commands = check(&page, place.path(), &|line| line.starts_with("git ") && !has_git);
    assert!(commands >= 30, "{commands} commands");
    if !has_git {
        println!("without git, the commands for it are not run");
        return;
    }
    // The configuration that the page gives is at work.
    let lines = [
        "cp before.pt state.pt && echo '*.pt diff=tensors' >.gitattributes && git add state.pt .gitattributes",
        "git -c user.name=a -c user.email=a@b commit -qm one && cp after.pt state.pt",
    ];
    lines.iter().for_each(|line| assert_eq!(run(line, place.path()), "", "{line}"));
    let told = run("git diff state.pt", place.path());
    assert!(told.contains("changed  w            float32 (3, 4)  2 of 12 elements differ"), "{told}");
    let told = run("git difftool -y -t tensorsh state.pt", place.path());
    assert!(told.contains("renamed  old          → new"), "{told}");
}
