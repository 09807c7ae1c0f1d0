//! Rows whose functions are written in Python behave like those in Rust: in both languages, in errors, with Ctrl-C, and
//! beside the names of a session.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::session::{Failure, Language, Session, SessionOptions};

/// Evaluates inputs, and returns the text and the failure of the last one.
fn last(session: &mut Session, language: Language, inputs: &[&str]) -> (String, Option<Failure>) {
    let (end, before) = inputs.split_last().unwrap();
    for input in before {
        assert_eq!(session.eval(language, input).error, None, "{input}");
    }
    let outcome = session.eval(language, end);
    (outcome.text, outcome.error)
}

fn fresh() -> Session {
    Session::new(SessionOptions::default())
}

#[test]
fn both_languages_call_it() {
    let wanted = "tensor([0.0000, 0.7500, 0.7500, 0.0000])\n";
    let python = last(&mut fresh(), Language::Python, &["import torch", "torch.signal.windows.hann(4)"]);
    assert_eq!(python, (wanted.to_owned(), None));
    let rhai = last(&mut fresh(), Language::Rhai, &["torch.signal.windows.hann(4)"]);
    assert_eq!(rhai, (wanted.to_owned(), None));
}

/// An error is reported at the line that called the row, without any line of the row's own source.
#[test]
fn errors_point_at_the_caller() {
    let message = "Standard deviation must be positive, got: 0 instead.";
    let define = "import torch\ndef window():\n    return torch.signal.windows.gaussian(5, std=0)";
    let (_, failure) = last(&mut fresh(), Language::Python, &[define, "window()"]);
    let failure = failure.unwrap();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("ValueError", message));
    assert_eq!(failure.source.as_deref(), Some(define));
    assert_eq!(failure.position.map(|(line, _)| line), Some(3));
    assert_eq!(failure.trace.len(), 1, "{:?}", failure.trace);
    let (_, failure) =
        last(&mut fresh(), Language::Rhai, &["let x = 1;\n\nlet w = torch.signal.windows.gaussian(5, #{std: 0});"]);
    let failure = failure.unwrap();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("ValueError", message));
    assert_eq!((failure.position.map(|(line, _)| line), failure.source, failure.trace), (Some(3), None, Vec::new()));
}

/// A function of the session that a row calls is in the trace, and the row is not.
#[test]
fn errors_of_functions_that_it_calls_point_at_them() {
    let define =
        "import torch\ndef f(x):\n    return x.nope\ndef g(x):\n    return torch.autograd.functional.vjp(f, x)";
    let (_, failure) = last(&mut fresh(), Language::Python, &[define, "g(torch.ones(2))"]);
    let failure = failure.unwrap();
    assert_eq!(failure.message, "'Tensor' object has no attribute 'nope'");
    assert_eq!((failure.position.map(|(line, _)| line), failure.trace.len()), (Some(3), 2), "{:?}", failure.trace);
    let caught = "try:\n    g(torch.ones(2))\nexcept AttributeError as error:\n    print(error, error.__context__)";
    let (text, failure) = last(&mut fresh(), Language::Python, &[define, caught]);
    assert_eq!((text.as_str(), failure), ("'Tensor' object has no attribute 'nope' None\n", None));
}

/// Names of the session are not seen by a row's source, and its names not by the session.
#[test]
fn names_are_separate() {
    let mut session = fresh();
    let shadow = "import torch as t\nmath = torch = checked = cosines = sum = enumerate = list = ValueError = None";
    let (text, failure) = last(&mut session, Language::Python, &[shadow, "t.signal.windows.hann(3).tolist()"]);
    assert_eq!((text.as_str(), failure), ("[0.0, 1.0, 0.0]\n", None));
    let (text, _) = last(&mut session, Language::Rhai, &["let sum = 1; fn checked() { 2 }", "checked()"]);
    assert_eq!(text, "2\n");
    let mut session = fresh();
    let inputs = ["import torch", "_ = torch.signal.windows.hann(3)", "'cosines' in globals(), 'math' in globals()"];
    assert_eq!(last(&mut session, Language::Python, &inputs), ("(False, False)\n".to_owned(), None));
    let names: Vec<String> = session.variables().into_iter().map(|variable| variable.name).collect();
    assert_eq!(names.iter().filter(|name| *name != "torch" && *name != "_").count(), 0, "{names:?}");
    let (_, failure) = last(&mut session, Language::Python, &["cosines"]);
    assert_eq!(failure.unwrap().kind, "NameError");
}

#[test]
fn ctrl_c_ends_it() {
    let mut session = fresh();
    let long = "try:\n    torch.autograd.functional.jacobian(lambda x: x * 2, torch.ones(1000000))\nexcept:\n    pass";
    for source in ["import torch", "_ = torch.autograd.functional.jacobian(lambda x: x * 2, torch.ones(2))"] {
        assert_eq!(session.eval(Language::Python, source).error, None);
    }
    let flag = session.interrupt_flag();
    let asks = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        flag.store(true, Ordering::Relaxed);
    });
    let begun = Instant::now();
    let outcome = session.eval(Language::Python, long);
    asks.join().unwrap();
    assert_eq!(outcome.error.map(|error| error.kind).as_deref(), Some("KeyboardInterrupt"));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn endless_recursion_is_an_error() {
    let run = || {
        let define = "import torch\ndef f(x):\n    return torch.autograd.functional.jacobian(f, x)";
        let (_, failure) = last(&mut fresh(), Language::Python, &[define, "f(torch.ones(1))"]);
        failure.map(|failure| failure.kind)
    };
    let kind = spawn_with_big_stack("recursion", run).unwrap().join().unwrap();
    assert_eq!(kind.as_deref(), Some("RecursionError"));
}
