//! `tensorsh quiz` without a terminal: sheets in Markdown.

use super::{run, run_here};
use std::fs;

/// Teachers give a sheet out by its command, so it never changes: `tensorsh quiz --seed 48 --count 24 --answers` made it.
#[test]
fn a_seed_makes_the_same_sheet() {
    let sheet = include_str!("quiz_sheet.md");
    let (status, with_answers, errors) = run_here(&["quiz", "--seed", "48", "--count", "24", "--answers"], b"");
    assert_eq!((status, with_answers.as_str(), errors.as_str()), (0, sheet, ""));
    let (_, without, _) = run_here(&["quiz", "--seed", "48", "--count", "24"], b"");
    let (questions, answers) = sheet.split_once("\n## Answers\n").unwrap();
    assert_eq!(without, questions);
    assert_eq!(answers.lines().count(), 25);
    let (_, other, _) = run_here(&["quiz", "--seed", "49", "--count", "24"], b"");
    assert_ne!(other, without);
}

#[test]
fn topics_levels_and_languages_are_chosen() {
    let (_, sheet, _) = run_here(&["quiz", "views", "sharing", "--level", "2", "--seed", "5"], b"");
    assert!(
        sheet.starts_with(
            "# Quiz: views and sharing, level 2, seed 5\n\nMade by `tensorsh quiz views sharing --level 2"
        )
    );
    let headings: Vec<_> = sheet.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(headings.len(), 10);
    assert!(headings.iter().all(|line| line.ends_with(". Views, level 2") || line.ends_with(". Sharing, level 2")));
    let (_, rhai, _) = run_here(&["quiz", "views", "--rhai", "--seed", "5", "--count", "2"], b"");
    assert!(rhai.contains("```rhai-session\nrhai> x = "), "{rhai}");
    for (args, wanted) in [
        (&["quiz", "stride"][..], "[possible values: strides, views, sharing, dtypes, broadcasting, indexing]"),
        (&["quiz", "--level", "4"], "4 is not in 1..=3"),
        (&["quiz", "--count", "0"], "0 is not in 1..=500"),
    ] {
        let (status, _, errors) = run_here(args, b"");
        assert_eq!(status, 2);
        assert!(errors.contains(wanted), "{errors}");
    }
}

#[test]
fn the_lines_of_a_sheet_run() {
    for language in ["--python", "--rhai"] {
        let folder = tempfile::tempdir().unwrap();
        let (_, sheet, _) = run_here(&["quiz", language, "--seed", "2", "--count", "40"], b"");
        fs::write(folder.path().join("sheet.md"), sheet).unwrap();
        let (status, report, errors) = run(folder.path(), &["test", "sheet.md"], b"");
        assert_eq!(status, 0, "{language}: {report}{errors}");
    }
}
