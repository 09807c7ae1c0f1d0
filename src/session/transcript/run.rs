//! Runs many transcripts: files in parallel on all cores, every session on its own thread. Endless examples are
//! interrupted. Returns reports in file order; prints nothing.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::compare::matches;
use super::files::Target;
use super::parse::{Case, Document, Example};
use super::replay::{Answer, answer};
use super::stack::spawn_with_big_stack;
use super::update::rewrite;
use crate::{Session, SessionOptions};

/// The conditions for running examples.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Whether to rewrite recorded outputs that differ.
    pub update: bool,
    /// The time limit for one example.
    pub limit: Duration,
    /// Run only sessions whose name, or whose file name, contains this.
    pub filter: Option<String>,
}

/// The verdict on an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The output was as recorded.
    Passed,
    /// The example is marked not to run.
    Skipped,
    /// The example belongs to a session that was not selected.
    Unasked,
    /// The output differed, and was written into the file.
    Updated,
    /// The output differed; this is the new one.
    Differs(String),
    /// There is no output to compare, for this reason.
    Broken(String),
}

/// One session's results.
#[derive(Clone, Debug)]
pub struct CaseReport {
    /// The session.
    pub case: Arc<Case>,
    /// One verdict per example.
    pub verdicts: Vec<Verdict>,
    /// The warnings, each with the line of the example.
    pub warnings: Vec<(usize, String)>,
}

/// One file's results.
#[derive(Debug)]
pub struct FileReport {
    /// The transcript that was run.
    pub target: Target,
    /// Every session with the verdicts on its examples, or the reason why the file could not be run.
    pub cases: Result<Vec<CaseReport>, String>,
    /// The number of fenced blocks that were not read, by their language, or by `no prompt`.
    pub not_read: BTreeMap<String, usize>,
    /// The reason why the file could not be updated.
    pub not_updated: Option<String>,
}

/// Runs `files` and passes the reports to `take` in order, each as soon as it and all before it are ready. Ends early
/// if `take` breaks.
pub fn run_files(files: &[Target], terms: &Terms, mut take: impl FnMut(FileReport) -> ControlFlow<()>) {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(files.len());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(target) = files.get(index) else { break };
                    if sender.send((index, run_file(target, terms))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut turn = 0;
        for (index, report) in receiver {
            early.insert(index, report);
            while let Some(report) = early.remove(&turn) {
                if take(report).is_break() {
                    // Files not yet begun are skipped. A file that is running is run to its end.
                    return next.store(files.len(), Ordering::Relaxed);
                }
                turn += 1;
            }
        }
    });
}

/// Runs all sessions of a file on this thread, without a time limit.
pub fn run_here(target: &Target) -> FileReport {
    let terms = Terms { update: false, limit: Duration::MAX, filter: None };
    run_by(target, &terms, run_case_here)
}

fn run_file(target: &Target, terms: &Terms) -> FileReport {
    run_by(target, terms, |case| run_case(case, terms.limit))
}

fn run_by(target: &Target, terms: &Terms, run_case: impl Fn(&Arc<Case>) -> CaseReport) -> FileReport {
    let (cases, not_read) = (Ok(Vec::new()), BTreeMap::new());
    let mut report = FileReport { target: target.clone(), cases, not_read, not_updated: None };
    let (text, form) = match target.read() {
        Ok(read) => read,
        Err(error) => {
            report.cases = Err(error);
            return report;
        }
    };
    let Document { cases, not_read } = Document::parse(&text, form);
    report.not_read = not_read;
    let asked = target.line.and_then(|line| cases.iter().rposition(|case| case.examples[0].line <= line));
    let is_asked = |index: usize, case: &Case| {
        let is_named = |text: &String| case.name.contains(text) || target.name().contains(text);
        (target.line.is_none() || asked == Some(index)) && terms.filter.as_ref().is_none_or(is_named)
    };
    let run = |(index, case): (usize, Case)| {
        if is_asked(index, &case) {
            return run_case(&Arc::new(case));
        }
        let verdicts = vec![Verdict::Unasked; case.examples.len()];
        CaseReport { case: Arc::new(case), verdicts, warnings: Vec::new() }
    };
    report.cases = Ok(cases.into_iter().enumerate().map(run).collect());
    if terms.update {
        report.update(|_, _, _| true);
    }
    report
}

impl FileReport {
    /// Writes differing outputs into the file if `accepts` agrees, and marks them as updated.
    pub fn update(&mut self, mut accepts: impl FnMut(&Case, &Example, &str) -> bool) {
        self.not_updated = self.try_to_update(&mut accepts).err();
    }

    fn try_to_update(&mut self, accepts: &mut dyn FnMut(&Case, &Example, &str) -> bool) -> Result<(), String> {
        let Ok(cases) = &mut self.cases else { return Ok(()) };
        let mut answers: Vec<(&Example, Option<&str>)> = Vec::new();
        let mut accepted = Vec::new();
        for (at, report) in cases.iter().enumerate() {
            for (index, (example, verdict)) in report.case.examples.iter().zip(&report.verdicts).enumerate() {
                let printed = match verdict {
                    Verdict::Differs(printed) if accepts(&report.case, example, printed) => Some(printed.as_str()),
                    _ => None,
                };
                if printed.is_some() {
                    accepted.push((at, index));
                }
                answers.push((example, printed));
            }
        }
        if accepted.is_empty() {
            return Ok(());
        }
        let path = self.target.path().ok_or("not updated: standard input is not a file")?;
        let (text, form) = self.target.read()?;
        let new = rewrite(&text, form, &answers)?;
        fs::write(path, new).map_err(|error| format!("not updated: {error}"))?;
        for (at, index) in accepted {
            if let Some(verdict) = cases.get_mut(at).and_then(|case| case.verdicts.get_mut(index)) {
                *verdict = Verdict::Updated;
            }
        }
        Ok(())
    }
}

/// The time after an interrupt in which an example must stop before its session is abandoned.
const GRACE: Duration = Duration::from_secs(5);

/// A message from a session's thread.
enum Message {
    Started(Arc<AtomicBool>),
    Answered(Answer),
}

fn run_case_here(case: &Arc<Case>) -> CaseReport {
    let (mut verdicts, mut warnings) = (Vec::with_capacity(case.examples.len()), Vec::new());
    let mut session = fresh_session();
    for example in &case.examples {
        if let Some(verdict) = unrun(example) {
            verdicts.push(verdict);
            continue;
        }
        let answer = answer(&mut session, example);
        verdicts.push(judge(example, answer.text));
        warnings.extend(answer.warnings.into_iter().map(|warning| (example.line, warning)));
        if answer.ended {
            break;
        }
    }
    verdicts.resize(case.examples.len(), Verdict::Broken(ENDED.to_owned()));
    CaseReport { case: Arc::clone(case), verdicts, warnings }
}

/// Creates a session that collects its warnings.
fn fresh_session() -> Session {
    let mut session = Session::new(SessionOptions::default());
    session.take_warnings();
    session
}

/// The reason why the examples after a call of `exit` were not run.
const ENDED: &str = "the session has ended";

fn run_case(case: &Arc<Case>, limit: Duration) -> CaseReport {
    let (mut verdicts, mut warnings) = (Vec::with_capacity(case.examples.len()), Vec::new());
    let (sender, receiver) = channel();
    let theirs = Arc::clone(case);
    // A session that ignores the interrupt keeps its thread. The thread is not joined, so that other sessions do not
    // wait.
    let fate = match spawn_with_big_stack("session", move || session_thread(&theirs, &sender)) {
        Ok(_detached) => watch(case, &receiver, limit, &mut verdicts, &mut warnings),
        Err(error) => format!("cannot start a thread for the session: {error}"),
    };
    verdicts.resize(case.examples.len(), Verdict::Broken(fate));
    CaseReport { case: Arc::clone(case), verdicts, warnings }
}

fn session_thread(case: &Case, sender: &Sender<Message>) {
    // A session is bound to its thread, so it is created here.
    let mut session = fresh_session();
    if sender.send(Message::Started(session.interrupt_flag())).is_err() {
        return;
    }
    for example in case.examples.iter().filter(|example| unrun(example).is_none()) {
        let answer = answer(&mut session, example);
        let ended = answer.ended;
        if sender.send(Message::Answered(answer)).is_err() || ended {
            return;
        }
    }
}

/// Returns the verdict on an example that is not run.
fn unrun(example: &Example) -> Option<Verdict> {
    match &example.options.unknown {
        Some(option) => Some(Verdict::Broken(format!("unsupported doctest option: {option}"))),
        None => example.options.skip.then_some(Verdict::Skipped),
    }
}

/// Collects the answers of a session's thread. Returns the reason why the remaining examples have none.
fn watch(
    case: &Case,
    receiver: &Receiver<Message>,
    limit: Duration,
    verdicts: &mut Vec<Verdict>,
    warnings: &mut Vec<(usize, String)>,
) -> String {
    let broke_off = || "the session ended unexpectedly".to_owned();
    let Ok(Message::Started(interrupt)) = receiver.recv() else {
        return broke_off();
    };
    for example in &case.examples {
        if let Some(verdict) = unrun(example) {
            verdicts.push(verdict);
            continue;
        }
        let too_slow = || format!("interrupted after {} s", limit.as_secs_f64());
        match receiver.recv_timeout(limit) {
            Ok(Message::Answered(answer)) => {
                verdicts.push(judge(example, answer.text));
                warnings.extend(answer.warnings.into_iter().map(|warning| (example.line, warning)));
                if answer.ended {
                    return ENDED.to_owned();
                }
            }
            Ok(Message::Started(_)) | Err(RecvTimeoutError::Disconnected) => return broke_off(),
            Err(RecvTimeoutError::Timeout) => {
                interrupt.store(true, Ordering::Relaxed);
                verdicts.push(Verdict::Broken(too_slow()));
                if receiver.recv_timeout(GRACE).is_err() {
                    return "the session is still busy with an earlier example".to_owned();
                }
            }
        }
    }
    broke_off()
}

fn judge(example: &Example, printed: String) -> Verdict {
    if matches(&example.expected, &printed, &example.options) { Verdict::Passed } else { Verdict::Differs(printed) }
}

#[cfg(test)]
mod tests {
    use super::super::parse::Form;
    use super::*;

    fn verdicts(text: &str, limit: Duration) -> Vec<Verdict> {
        let document = Document::parse(text, Form::Text);
        run_case(&Arc::new(document.cases[0].clone()), limit).verdicts
    }

    #[test]
    fn an_endless_example_fails_and_the_next_one_runs() {
        let found = verdicts("rhai> loop {}\nrhai> 1 + 1\n2\nrhai> 2\n1\n", Duration::from_millis(200));
        let wanted = [
            Verdict::Broken("interrupted after 0.2 s".to_owned()),
            Verdict::Passed,
            Verdict::Differs("2\n".to_owned()),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn skipped_and_unknown_options() {
        let text = "rhai> loop {} // doctest: +SKIP\nrhai> 1 // doctest: +WHAT\n1\nrhai> exit(0)\nrhai> 2\n2\n";
        let wanted = [
            Verdict::Skipped,
            Verdict::Broken("unsupported doctest option: +WHAT".to_owned()),
            Verdict::Passed,
            Verdict::Broken("the session has ended".to_owned()),
        ];
        assert_eq!(verdicts(text, Duration::from_secs(60)), wanted);
    }
}
