//! Calls of every function, generated from the parameters of PyTorch's own schemas, with the answers of PyTorch 2.7.0:
//! the overload that its parser selects or its refusal, the memory layout of results, the treatment of outputs. The
//! tables in tests/calls describe their own format. Fix a difference in src/, and remove its mark in the table.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::thread;
use tensorsh::session::{Language, Session, SessionOptions};

/// Parsing and evaluation recurse deeply.
const STACK: usize = 1 << 28;

#[test]
fn overloads_are_chosen_and_refused_as_by_pytorchs_parser() {
    check("overloads", 6000);
}

#[test]
fn results_lie_in_memory_as_pytorchs_do() {
    check("layouts", 6000);
}

#[test]
fn outputs_are_taken_and_refused_as_by_pytorch() {
    check("outputs", 6000);
}

/// Outside of inference mode, no function writes to an inference tensor: with such outputs, PyTorch refuses all calls of the
/// table that it answers otherwise.
#[test]
fn outputs_are_refused_if_they_are_inference_tensors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/calls/outputs.txt");
    let inferred = "| def inferred():\n|     with torch.inference_mode():\n|         return outputs()\n";
    let text = fs::read_to_string(path).unwrap().replace("= outputs()", "= inferred()");
    let has_outputs = |line: &&str| !line.contains('\t') || line.contains("out=o") || line.contains("out=(o");
    let text = text.lines().filter(has_outputs).collect::<Vec<_>>().join("\n");
    let text = format!("{inferred}{text}");
    let calls = thread::Builder::new().stack_size(STACK).spawn(move || answered(&text)).unwrap().join().unwrap();
    let is_refused = |answer: &str| answer.split(':').next().is_some_and(|class| class.ends_with("Error"));
    let writes = |call: &Call| call.known.is_none() && !is_refused(&call.expected);
    let calls: Vec<Call> = calls.into_iter().filter(writes).collect();
    assert!(calls.len() >= 3000, "only {} calls", calls.len());
    let words = "RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed.";
    let differ = calls.iter().filter(|call| !call.got.starts_with(words));
    let differ: Vec<String> = differ.map(|call| format!("{}\n  got {}", call.text, call.got)).collect();
    assert!(differ.is_empty(), "{} calls are not refused:\n{}", differ.len(), differ.join("\n"));
}

/// Compares the program with a table of at least `least` calls. If `DIFFERENT_CALLS` is set, writes the calls that
/// differ to that file instead, for tests/calls/record.py to mark.
fn check(table: &str, least: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/calls/{table}.txt"));
    let text = fs::read_to_string(path).unwrap();
    let calls = thread::Builder::new().stack_size(STACK).spawn(move || answered(&text)).unwrap().join().unwrap();
    assert!(calls.len() >= least, "only {} calls", calls.len());
    if let (Some(file), Some(_)) =
        (std::env::var_os("DIFFERENT_CALLS"), std::env::var("TABLE").ok().filter(|named| named == table))
    {
        let differ = calls.iter().filter(|call| call.got != call.expected);
        return fs::write(file, differ.map(|call| format!("{}\t{}\n", call.text, call.got)).collect::<String>())
            .unwrap();
    }
    let complaints: Vec<String> = calls.iter().filter_map(Call::complaint).collect();
    assert!(complaints.is_empty(), "{} of {table}\n{}", complaints.len(), complaints.join("\n"));
}

struct Call {
    text: String,
    /// The program's answer, if the row is marked as a known difference.
    known: Option<String>,
    expected: String,
    got: String,
}

impl Call {
    fn complaint(&self) -> Option<String> {
        let Call { text, known, expected, got } = self;
        match known {
            Some(_) if got == expected => Some(format!("take its mark away: {text}")),
            Some(known) if got != known => {
                Some(format!("{text}\n    {expected}\n  got {got}\n  which the mark does not say: {known}"))
            }
            None if got != expected => Some(format!("{text}\n    {expected}\n  got {got}")),
            _ => None,
        }
    }
}

/// Returns the calls of a table with the program's answers.
fn answered(table: &str) -> Vec<Call> {
    let behind = |mark: &str| table.lines().filter_map(|line| line.strip_prefix(mark)).collect::<Vec<_>>();
    let (setup, each, show) = (behind("| ").join("\n"), behind("each ").concat(), behind("show ").concat());
    let often: HashMap<&str, &str> =
        table.lines().filter(|line| line.starts_with('$')).filter_map(|line| line.split_once(' ')).collect();
    let mut session = Session::new(SessionOptions::default());
    assert_eq!(session.eval(Language::Python, &setup).error, None);
    let rows = table.lines().filter_map(|line| line.split_once('\t'));
    rows.map(|(call, answer)| {
        let marked = call.strip_prefix("~ ").map(|call| (call, answer.split_once('\t').unwrap_or((answer, ""))));
        let (call, answer, known) =
            marked.map_or((call, answer, None), |(call, (answer, known))| (call, answer, Some(known.to_owned())));
        assert_eq!(session.eval(Language::Python, &each).error, None);
        let outcome = session.eval(Language::Python, &format!("print({})", show.replace('@', call)));
        let got = match outcome.error {
            Some(error) => format!("{}: {}", error.kind, error.message.lines().next().unwrap_or_default()),
            None => outcome.text,
        };
        let expected = often.get(answer).unwrap_or(&answer).replace("@()", &format!("{}()", name(call)));
        Call { text: call.to_owned(), known, expected, got: got.trim_end().replace('\n', "\\n") }
    })
    .collect()
}

/// Returns the name of a call's function as used in refusals: `linalg_inv`.
fn name(call: &str) -> String {
    let path = call.split('(').next().unwrap_or_default();
    path.split('.').skip(1).collect::<Vec<_>>().join("_")
}
