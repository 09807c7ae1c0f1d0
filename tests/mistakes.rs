//! The output for common mistakes in Rhai, and the errors that a script catches: the tables in tests/mistakes. Lines
//! after `| ` are a script in the file `a.rhai`, lines after `> ` are successive inputs. The complete output is
//! indented below.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn mistakes_are_told_in_terms_of_rhai() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let (mut checked, mut different) = (0, Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let table = fs::read_to_string(entry.unwrap().path()).unwrap();
        for case in table.split("\n\n").filter(|case| case.lines().any(|line| !line.starts_with('#'))) {
            let behind = |mark: &str| case.lines().filter_map(|line| line.strip_prefix(mark)).collect::<Vec<_>>();
            let (script, inputs) = (behind("| "), behind("> "));
            let expected = behind("    ").join("\n");
            let shown = shown(&script, &inputs);
            checked += 1;
            if shown.trim_end() != expected.trim_end() {
                different.push(format!("{case}\n  is shown as\n{shown}"));
            }
        }
    }
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different.join("\n"));
    assert!(checked >= 70, "only {checked} cases");
}

/// Returns the output of a script, or of successive inputs.
fn shown(script: &[&str], inputs: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.rhai"), script.join("\n")).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_tensorsh"));
    match inputs {
        [] => program.arg("a.rhai"),
        inputs => program.args(inputs.iter().flat_map(|input| ["-e", input])),
    };
    let output = program.current_dir(folder.path()).output().unwrap();
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat()
}

/// Internal names, which must not be shown unless they were typed.
const WITHIN: &[&str] = &[
    "_(",
    "__",
    "anon$",
    "Data race",
    "::",
    "underscore_",
    "held_",
    "protected",
    "type_of_",
    "Dynamic",
    "FnPtr",
    "Fn(",
    "ErrorIn",
    "ImmutableString",
    "i64",
    "f64",
    "CharsStream",
];

#[test]
fn no_name_from_within_is_shown() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    for entry in fs::read_dir(folder).unwrap() {
        let table = fs::read_to_string(entry.unwrap().path()).unwrap();
        for case in table.split("\n\n") {
            let (shown, typed): (Vec<_>, Vec<_>) = case.lines().partition(|line| line.starts_with("    "));
            for within in WITHIN.iter().filter(|within| !typed.iter().any(|line| line.contains(*within))) {
                assert!(!shown.iter().any(|line| line.contains(within)), "{within} in {case}");
            }
        }
    }
}
