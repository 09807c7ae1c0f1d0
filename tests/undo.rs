//! Undoes recorded sessions step by step. After each step, every observable property of the session must be what it was
//! before that input. The properties are observed through Python, independently of undo's own code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tensorsh::session::transcript::{Case, Document, Form, answer, spawn_with_big_stack};
use tensorsh::session::{Language, Session, SessionOptions};

/// Asks every question about a value. A question without meaning for it fails in the same way before and after.
const QUESTIONS: &str = "
import torch
def told_(x):
    questions = [
        lambda: repr(x),
        lambda: type(x),
        lambda: (x.shape, x.stride(), x.storage_offset(), x.dtype, x._version, x.requires_grad, x.is_leaf, x.names),
        lambda: (x.grad, x.is_conj(), x.is_neg(), x.is_inference(), x.data_ptr(), x.grad_fn is None),
        lambda: (x.untyped_storage().nbytes(), x.untyped_storage().resizable(), x.untyped_storage().is_shared()),
        lambda: x.untyped_storage().tolist()[:1000],
        lambda: x.tobytes()[:1000],
        lambda: sorted(x.__dict__.items()),
        lambda: (x.nbytes(), x.data_ptr()),
        lambda: x.get_state().sum(),
    ]
    answers = []
    for question in questions:
        try:
            answers.append(question())
        except Exception as error:
            answers.append(type(error).__name__)
    return answers
def told_of_session_():
    return [
        torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled(),
        torch.are_deterministic_algorithms_enabled(), torch.get_default_device(),
        torch.random.get_rng_state().tolist()[:100], repr(torch.tensor([1/3, 1e10])),
    ]
";

/// Returns all observable properties of a session, by question.
fn told(session: &mut Session) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let names = session.variables().into_iter().map(|variable| variable.name);
    let of_variables = names.filter(|name| !name.ends_with('_')).map(|name| format!("told_({name})"));
    let python = of_variables.chain(["told_of_session_()".to_owned()]).map(|question| (Language::Python, question));
    let python: Vec<_> = python.collect();
    // Without the methods that a function of a method's name leaves behind: they lead where they lead without them.
    let functions = r#"{ let n = 0; for f in get_fn_metadata_list() { if !("this_type" in f) { n += 1; } } n }"#;
    for (language, question) in python.into_iter().chain([(Language::Rhai, functions.to_owned())]) {
        let outcome = session.eval(language, &question);
        let answer = outcome.error.map_or(outcome.text, |error| error.kind);
        all.insert(question, without_addresses(&answer));
    }
    all
}

/// Removes addresses from a text: functions of Rhai are new objects at each look.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split(" at 0x");
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        bare.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    bare
}

/// Undoes a session to its start, redoes it, and undoes it once more.
fn check(case: &Case) -> Result<(), String> {
    let mut session = Session::new(SessionOptions::default());
    assert_eq!(session.eval(Language::Python, QUESTIONS).error, None);
    let mut before = Vec::new();
    let examples: Vec<_> = case.examples.iter().take(16).collect();
    for example in &examples {
        before.push(told(&mut session));
        session.remember();
        answer(&mut session, example);
    }
    before.push(told(&mut session));
    let compare = |session: &mut Session, step: usize, what: &str| {
        let (now, then) = (told(session), &before[step]);
        let differs: Vec<_> = then
            .iter()
            .filter(|(question, answer)| now.get(*question) != Some(answer))
            .map(|(question, answer)| format!("{question}\n      was  {answer}      is   {:?}", now.get(question)))
            .chain(now.keys().filter(|key| !then.contains_key(*key)).map(|key| format!("{key} is new")))
            .take(3)
            .collect();
        let input = examples.get(step).map_or("", |example| &example.source);
        if differs.is_empty() { Ok(()) } else { Err(format!("{what} `{input}`\n    {}", differs.join("\n    "))) }
    };
    for step in (0..examples.len()).rev() {
        session.undo().ok_or("nothing to undo")?;
        compare(&mut session, step, "after undoing")?;
    }
    if session.undo().is_some() {
        return Err("more steps than inputs".to_owned());
    }
    for step in 1..=examples.len() {
        session.redo().ok_or("nothing to redo")?;
        if step % 8 == 0 || step == examples.len() {
            compare(&mut session, step, "after doing again what is before")?;
        }
    }
    for _ in &examples {
        session.undo().ok_or("nothing to undo a second time")?;
    }
    compare(&mut session, 0, "after undoing all once more")
}

/// Returns the pages with recorded sessions.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs", "docs/learn", "tests/transcripts"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    pages.sort();
    pages
}

/// Returns whether a session keeps a file open, or writes one in the current folder.
fn leaves_traces(case: &Case) -> bool {
    let traces = ["save(", "from_file", "open(", "mmap", "exit", "timestamp"];
    case.examples.iter().any(|example| traces.iter().any(|trace| example.source.contains(trace)))
}

/// Sessions that undo once restored incompletely: values of a sparse tensor, a used capsule.
const ALWAYS: &[(&str, &str)] =
    &[("corners.md", "Turned in place, and coalesced or not"), ("handed-over.md", "Through a capsule")];

#[test]
fn recorded_sessions_are_undone_step_by_step() {
    let mut cases = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let document = Document::parse(&text, Form::Markdown);
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        let chosen = document.cases.into_iter().filter(|case| case.examples.len() > 1 && !leaves_traces(case));
        cases.extend(chosen.map(|case| (name.clone(), case)));
    }
    // All sessions of README, and some spread over the others. Each takes seconds.
    const SPREAD: usize = 120;
    let (own, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(|(name, _)| name == "README.md");
    assert!(!own.is_empty() && others.len() >= SPREAD, "{} sessions", others.len());
    let step = others.len() / SPREAD;
    let is_chosen =
        |at: usize, (page, case): &(String, Case)| at.is_multiple_of(step) || ALWAYS.contains(&(page, &case.name));
    let others = others.into_iter().enumerate().filter(|(at, case)| is_chosen(*at, case)).map(|(_, case)| case);
    let chosen: Vec<_> = own.into_iter().chain(others).collect();
    assert!(ALWAYS.iter().all(|(page, name)| chosen.iter().any(|(p, case)| p == page && case.name == *name)));
    assert!(chosen.len() > SPREAD);
    let halves = [0, 1].map(|half| {
        let cases: Vec<_> = chosen.iter().skip(half).step_by(2).cloned().collect();
        let run = move || -> Vec<String> {
            let failed = cases.iter().filter_map(|(page, case)| Some((page, case, check(case).err()?)));
            failed.map(|(page, case, why)| format!("{page}, {}: {why}", case.name)).collect()
        };
        spawn_with_big_stack("undo", run).unwrap()
    });
    let failed: Vec<String> = halves.into_iter().flat_map(|half| half.join().unwrap()).collect();
    assert!(failed.is_empty(), "{} of {} differ\n{}", failed.len(), chosen.len(), failed.join("\n"));
}
