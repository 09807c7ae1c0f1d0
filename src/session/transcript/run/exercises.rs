//! The exercises of a lesson among the sessions of a page: every answer that the page lists is an example, which passes
//! if it is judged as the page says.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::super::example::{Case, Example, Manner, Origin, Written};
use super::super::options::Options;
use super::super::stack::spawn_with_big_stack;
use super::super::verdict::{CaseReport, Verdict};
use crate::{Language, Session};

/// Receives sessions when they are opened, before they run anything.
pub type OnOpen = Rc<dyn Fn(&Session)>;

/// An answer on a page that was tried, or another part of an exercise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The title of the exercise.
    pub exercise: String,
    /// The line, from 1.
    pub line: usize,
    pub text: String,
    /// What is wrong with it.
    pub fault: Option<String>,
}

/// Tries the answers on a page, in the order of the page.
pub type TryPage = fn(&str, &OnOpen) -> Vec<Tried>;

/// Returns whether a page has exercises.
pub(super) fn are_in(page: &str) -> bool {
    page.lines().any(|line| line.starts_with("## Exercise: "))
}

/// The number of time limits after which an answer that does not stop is abandoned, with its thread.
const PATIENCE: usize = 3;

/// The number of sessions that are open at a time: those of the attempt and its judge, and the same on other data.
const OPEN: usize = 4;

/// Tries the answers of a page on a thread of their own. One that takes longer than the limit is interrupted.
pub(super) fn watched(page: &str, try_page: TryPage, limit: Option<Duration>) -> Vec<Tried> {
    let page = page.to_owned();
    let (sender, receiver) = channel();
    let started = spawn_with_big_stack("exercises", move || {
        let opened = sender.clone();
        // Sending fails if the receiver has given up; that is fine.
        let on_open: OnOpen = Rc::new(move |session| drop(opened.send(Message::Opened(session.interrupt_flag()))));
        let found = try_page(&page, &on_open);
        drop(sender.send(Message::Done(found)));
    });
    let failed =
        |why: &str| vec![Tried { exercise: String::new(), line: 1, text: String::new(), fault: Some(why.to_owned()) }];
    if let Err(error) = started {
        return failed(&format!("cannot start a thread for the exercises: {error}"));
    }
    // Every session that opens begins the time again.
    let mut flags: VecDeque<Arc<AtomicBool>> = VecDeque::new();
    let mut timeouts = 0;
    while timeouts < PATIENCE {
        match receiver.recv_timeout(limit.unwrap_or(Duration::MAX)) {
            Ok(Message::Opened(opened)) => {
                timeouts = 0;
                flags.push_back(opened);
                if flags.len() > OPEN {
                    flags.pop_front();
                }
            }
            Ok(Message::Done(found)) => return found,
            Err(RecvTimeoutError::Timeout) => {
                flags.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
                timeouts += 1;
            }
            Err(RecvTimeoutError::Disconnected) => return failed("the exercises could not be tried to their end"),
        }
    }
    failed("an answer could not be stopped")
}

/// A message from the thread that tries answers.
enum Message {
    Opened(Arc<AtomicBool>),
    Done(Vec<Tried>),
}

/// Returns the reports on exercises, one per exercise.
pub(super) fn reports(tried: Vec<Tried>) -> Vec<CaseReport> {
    let groups = tried.chunk_by(|a, b| a.exercise == b.exercise);
    groups
        .map(|group| {
            let name = group.first().map(|first| format!("Exercise: {}", first.exercise)).unwrap_or_default();
            let verdicts = group.iter().map(|tried| tried.fault.clone().map_or(Verdict::Passed, Verdict::Broken));
            let verdicts = verdicts.collect();
            let examples = group.iter().map(|tried| example(&name, tried)).collect();
            CaseReport::of_verdicts(Arc::new(Case { name: name.clone(), examples }), verdicts)
        })
        .collect()
}

fn example(heading: &str, tried: &Tried) -> Example {
    Example {
        language: Language::Python,
        manner: Manner::Prompt,
        line: tried.line,
        heading: heading.to_owned(),
        input: format!("{}\n", tried.text),
        source: tried.text.clone(),
        expected: String::new(),
        options: Options::default(),
        output: 0..0,
        written: Written::Nowhere,
        origin: Origin::Page,
    }
}
