//! Wrong calls and the answers of PyTorch 2.7.0: the class and the first line of each error, in the tables of
//! tests/refusals. A call starts a line, with its answer indented below. The lines after `>>> ` run before each call.
//! PyTorch printed the answers, so fix differences in src/, not there.

use std::fs;
use std::path::Path;
use std::thread;
use tensorsh::session::{Language, Session, SessionOptions};

/// Parsing and evaluation recurse deeply.
const STACK: usize = 1 << 28;

#[test]
fn wrong_calls_are_refused_in_pytorchs_words() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refusals");
    let mut checked = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let table = fs::read_to_string(&path).unwrap();
        let thread = thread::Builder::new().stack_size(STACK).spawn(move || differences(&table)).unwrap();
        let (count, different) = thread.join().unwrap();
        assert!(different.is_empty(), "{}: {} differ\n{}", path.display(), different.len(), different.join("\n"));
        checked += count;
    }
    assert!(checked >= 150, "only {checked} calls");
}

/// Returns the number of calls in a table, and those with a different answer.
fn differences(table: &str) -> (usize, Vec<String>) {
    let mut session = Session::new(SessionOptions::default());
    let (mut count, mut different, mut call) = (0, Vec::new(), "");
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '>'])) {
        let Some(expected) = line.strip_prefix("    ") else {
            call = line;
            continue;
        };
        for setup in table.lines().filter_map(|line| line.strip_prefix(">>> ")) {
            assert_eq!(session.eval(Language::Python, setup).error, None, "{setup}");
        }
        let outcome = session.eval(Language::Python, call);
        let got = match outcome.error {
            Some(error) => format!("{}: {}", error.kind, error.message.lines().next().unwrap_or_default()),
            None => format!("no error but {}", outcome.text),
        };
        count += 1;
        if got.trim_end() != expected {
            different.push(format!("{call}\n    {expected}\n  got {got}"));
        }
    }
    (count, different)
}
