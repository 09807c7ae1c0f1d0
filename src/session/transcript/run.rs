//! Runs many pages: files in parallel on all cores, every session on its own thread. Endless examples are interrupted.
//! Returns reports in file order; prints nothing.

mod exercises;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::baseline::Baseline;
use super::code::file_examples;
use super::docstrings::add_module;
use super::example::{Case, Document, Example, Origin, Reading};
use super::files::{Target, read_text};
use super::judge::{Judge, depends_on_seed};
use super::names::bound;
use super::parse::Form;
use super::replay::{Answer, Run};
use super::stack::spawn_with_big_stack;
use super::verdict::{CaseReport, FileReport, Kind, Verdict};
pub use exercises::{OnOpen, Tried, TryPage};

/// The conditions for running examples.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Whether to rewrite recorded outputs that differ.
    pub update: bool,
    /// The time limit for one example; `None` for no limit.
    pub limit: Option<Duration>,
    /// Run only sessions whose name, or whose file name, contains this.
    pub filter: Option<String>,
    /// How pages are read that do not say it themselves.
    pub reading: Reading,
    /// A file of Python that every session runs first: its name and its text.
    pub setup: Option<(String, String)>,
    /// Failures that are accepted.
    pub baseline: Option<Arc<Baseline>>,
    /// How the answers to a page's exercises are tried; `None` to leave them out.
    pub try_page: Option<TryPage>,
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
    run_by(target, &Terms::default(), |case, seed| {
        let mut taken = Taken::new(case);
        let mut run = Run::new(seed);
        for example in &case.examples {
            if taken.take_unrun(example) {
                continue;
            }
            if taken.take(example, run.answer(example)) {
                break;
            }
        }
        taken.finish(ENDED.to_owned(), run.is_unseeded())
    })
}

fn run_file(target: &Target, terms: &Terms) -> FileReport {
    run_by(target, terms, |case, seed| run_case(case, seed, terms.limit))
}

fn run_by(
    target: &Target,
    terms: &Terms,
    run_case: impl Fn(&Arc<Case>, u64) -> (CaseReport, Vec<String>),
) -> FileReport {
    let mut report = FileReport {
        target: target.clone(),
        cases: Ok(Vec::new()),
        not_read: BTreeMap::new(),
        not_updated: None,
        advice: None,
    };
    let document = match read(target, terms) {
        Ok(document) => document,
        Err(error) => {
            report.cases = Err(error);
            return report;
        }
    };
    let Document { cases, not_read, .. } = document;
    report.not_read = not_read;
    let first_line =
        |case: &Case| case.examples.iter().find(|example| example.origin.is_page()).map_or(0, |first| first.line);
    let asked = target.line.and_then(|line| cases.iter().rposition(|case| first_line(case) <= line));
    let is_asked = |index: usize, case: &Case| {
        let is_named = |text: &String| case.name.contains(text) || target.name().contains(text);
        (target.line.is_none() || asked == Some(index)) && terms.filter.as_ref().is_none_or(is_named)
    };
    let run = |(index, case): (usize, Case)| {
        let case = Arc::new(case);
        if !is_asked(index, &case) {
            let verdicts = vec![Verdict::Unasked; case.examples.len()];
            return CaseReport::of_verdicts(case, verdicts);
        }
        let (mut report, printed) = run_case(&case, 0);
        if report.is_unseeded && report.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Differs(_))) {
            let (_, reseeded) = run_case(&case, 1);
            report.tell_random(&printed, &reseeded);
        }
        report
    };
    let mut cases: Vec<CaseReport> = cases.into_iter().enumerate().map(run).collect();
    report.advice = on_headings(&cases);
    let is_asked = target.line.is_none() && terms.filter.as_ref().is_none_or(|text| target.name().contains(text));
    if let Some(try_page) = terms.try_page.filter(|_| is_asked)
        && let Ok((page, Form::Markdown)) = target.read()
        && exercises::are_in(&page)
    {
        cases.extend(exercises::reports(exercises::watched(&page, try_page, terms.limit)));
    }
    if let Some(baseline) = &terms.baseline {
        cases.iter_mut().for_each(|case| baseline.accept(&target.name(), case));
    }
    report.cases = Ok(cases);
    if terms.update {
        report.update(|_, _, _| true);
    }
    report
}

/// Reads a page, with the files that its sessions run first.
pub(super) fn read(target: &Target, terms: &Terms) -> Result<Document, String> {
    let (text, form) = target.read()?;
    let fault = |fault: String| format!("{}: {fault}", target.name());
    let mut document = Document::read(&text, form, &terms.reading).map_err(fault)?;
    if form == Form::Docstrings {
        add_module(&mut document.cases, &text, &target.name());
    }
    let folder = target.path().and_then(Path::parent).unwrap_or(Path::new(""));
    let mut setup = match &terms.setup {
        Some((name, text)) => file_examples(text, Origin::Setup(name.as_str().into())),
        None => Vec::new(),
    };
    for file in &document.settings.setup {
        let file = folder.join(file);
        setup.extend(file_examples(&read_text(&file)?, Origin::Setup(file.display().to_string().into())));
    }
    if !setup.is_empty() {
        document.cases.iter_mut().for_each(|case| drop(case.examples.splice(0..0, setup.iter().cloned())));
    }
    Ok(document)
}

/// Returns advice if sessions fail because a name is bound in an earlier one.
fn on_headings(cases: &[CaseReport]) -> Option<String> {
    let mut earlier: BTreeSet<&str> = BTreeSet::new();
    for report in cases {
        let mut own: BTreeSet<&str> = BTreeSet::new();
        for (example, verdict) in report.case.examples.iter().zip(&report.verdicts) {
            let printed = match verdict {
                Verdict::Differs(printed) if !example.expected.contains("NameError") => printed.as_str(),
                _ => "",
            };
            let unknown = printed.rsplit_once("NameError: name '").and_then(|(_, rest)| rest.split('\'').next());
            if let Some(name) = unknown.filter(|name| earlier.contains(name)) {
                return Some(format!(
                    "line {}: `{name}` is bound in an earlier session; --session page makes one session of a page",
                    example.line
                ));
            }
            own.extend(bound(example.language, &example.source));
        }
        earlier.extend(own);
    }
    None
}

impl CaseReport {
    /// Marks outputs that depend on the seed, given those of a run with another one.
    fn tell_random(&mut self, printed: &[String], reseeded: &[String]) {
        let outputs = printed.iter().zip(reseeded);
        for ((verdict, example), (first, second)) in self.verdicts.iter_mut().zip(&self.case.examples).zip(outputs) {
            if let Verdict::Differs(printed) = verdict
                && depends_on_seed(&example.expected, first, second)
            {
                *verdict = Verdict::Apart(Kind::Random, std::mem::take(printed));
            }
        }
    }
}

/// The results of a session so far.
struct Taken {
    report: CaseReport,
    judge: Judge,
    /// The outputs of all examples.
    printed: Vec<String>,
}

impl Taken {
    fn new(case: &Arc<Case>) -> Taken {
        let report = CaseReport::of_verdicts(Arc::clone(case), Vec::with_capacity(case.examples.len()));
        Taken { report, judge: Judge::default(), printed: Vec::new() }
    }

    fn push(&mut self, verdict: Verdict, printed: String) {
        self.report.verdicts.push(verdict);
        self.printed.push(printed);
    }

    /// Takes the verdict on an example that is not run. Returns whether there is one.
    fn take_unrun(&mut self, example: &Example) -> bool {
        let verdict = unrun(example);
        let is_unrun = verdict.is_some();
        verdict.into_iter().for_each(|verdict| self.push(verdict, String::new()));
        is_unrun
    }

    /// Takes an answer. Returns whether the session has ended.
    fn take(&mut self, example: &Example, mut answer: Answer) -> bool {
        let warnings = std::mem::take(&mut answer.warnings);
        self.report.warnings.extend(warnings.into_iter().map(|warning| (example.line, warning)));
        if let Some(value) = answer.value {
            self.report.values.insert(self.report.verdicts.len(), value);
        }
        let (ended, printed) = (answer.ended, answer.text.clone());
        let verdict = self.judge.verdict(self.report.verdicts.len(), example, answer);
        self.push(verdict, printed);
        ended
    }

    fn finish(mut self, fate: String, is_unseeded: bool) -> (CaseReport, Vec<String>) {
        let count = self.report.case.examples.len();
        self.report.verdicts.resize(count, Verdict::Broken(fate));
        self.report.is_unseeded = is_unseeded;
        (self.report, self.printed)
    }
}

/// The time after an interrupt in which an example must stop before its session is abandoned.
const GRACE: Duration = Duration::from_secs(5);

/// A message from a session's thread.
enum Message {
    Started(Arc<AtomicBool>),
    Answered(Answer),
    /// The session is over. Says whether a random number was drawn without a seed.
    Done(bool),
}

/// The reason why the examples after a call of `exit` were not run.
const ENDED: &str = "the session has ended";

/// Runs a session on its own thread. Returns the outputs of its examples too.
fn run_case(case: &Arc<Case>, seed: u64, limit: Option<Duration>) -> (CaseReport, Vec<String>) {
    let mut taken = Taken::new(case);
    let (sender, receiver) = channel();
    let theirs = Arc::clone(case);
    // A session that ignores the interrupt keeps its thread. The thread is not joined, so that other sessions do not
    // wait.
    let (fate, is_unseeded) = match spawn_with_big_stack("session", move || session_thread(&theirs, seed, &sender)) {
        Ok(_detached) => watch(case, &receiver, limit.unwrap_or(Duration::MAX), &mut taken),
        Err(error) => (format!("cannot start a thread for the session: {error}"), false),
    };
    taken.finish(fate, is_unseeded)
}

fn session_thread(case: &Case, seed: u64, sender: &Sender<Message>) {
    // A session is bound to its thread, so it is created here.
    let mut run = Run::new(seed);
    if sender.send(Message::Started(run.interrupt_flag())).is_err() {
        return;
    }
    for example in case.examples.iter().filter(|example| unrun(example).is_none()) {
        let answer = run.answer(example);
        let ended = answer.ended;
        if sender.send(Message::Answered(answer)).is_err() || ended {
            break;
        }
    }
    // Sending fails if the receiver has given up; that is fine.
    let _ = sender.send(Message::Done(run.is_unseeded()));
}

/// Returns the verdict on an example that is not run.
fn unrun(example: &Example) -> Option<Verdict> {
    match &example.options.unknown {
        Some(option) => Some(Verdict::Broken(format!("unsupported doctest option: {option}"))),
        None => example.options.skip.then_some(Verdict::Skipped),
    }
}

/// Collects the answers of a session's thread. Returns the reason why the remaining examples have none, and whether a
/// random number was drawn without a seed.
fn watch(case: &Case, receiver: &Receiver<Message>, limit: Duration, taken: &mut Taken) -> (String, bool) {
    let broke_off = || ("the session ended unexpectedly".to_owned(), false);
    let Ok(Message::Started(interrupt)) = receiver.recv() else {
        return broke_off();
    };
    for example in &case.examples {
        if taken.take_unrun(example) {
            continue;
        }
        let too_slow = || format!("interrupted after {} s", limit.as_secs_f64());
        match receiver.recv_timeout(limit) {
            Ok(Message::Answered(answer)) => {
                if taken.take(example, answer) {
                    break;
                }
            }
            Ok(Message::Started(_) | Message::Done(_)) | Err(RecvTimeoutError::Disconnected) => return broke_off(),
            Err(RecvTimeoutError::Timeout) => {
                interrupt.store(true, Ordering::Relaxed);
                taken.push(Verdict::Broken(too_slow()), String::new());
                if receiver.recv_timeout(GRACE).is_err() {
                    return ("the session is still busy with an earlier example".to_owned(), false);
                }
            }
        }
    }
    let is_unseeded = matches!(receiver.recv_timeout(GRACE), Ok(Message::Done(true)));
    (ENDED.to_owned(), is_unseeded)
}

#[cfg(test)]
mod tests {
    use super::super::parse::Form;
    use super::*;

    fn verdicts(text: &str, limit: Duration) -> Vec<Verdict> {
        let document = Document::parse(text, Form::Text);
        run_case(&Arc::new(document.cases[0].clone()), 0, Some(limit)).0.verdicts
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

    #[test]
    fn random_values_are_told_from_wrong_ones() {
        let text = "\
>>> x = torch.rand(2)
>>> x
tensor([0.1, 0.2])
>>> x.shape
torch.Size([2])
>>> x.view(1, 2)
tensor([0.1, 0.2])
>>> y = torch.manual_seed(0)
>>> torch.rand(1)
tensor([0.5])
>>> import numpy as np
>>> np.random.rand()
0.5
";
        let report = run_here(&Target::named("a.txt", &text.replace(">>> x = ", "A page.\n\n>>> x = ")));
        let kinds = |verdict: &Verdict| match verdict {
            Verdict::Passed => "passed",
            Verdict::Apart(kind, _) => kind.word(),
            _ => "differs",
        };
        let found: Vec<_> = report.cases.unwrap()[0].verdicts.iter().map(kinds).collect();
        let wanted = ["passed", "random", "passed", "differs", "passed", "differs", "passed", "random"];
        assert_eq!(found, wanted);
    }
}
