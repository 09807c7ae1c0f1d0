//! The exercises of a lesson among the sessions of a page: every answer that the page lists is an example, which passes
//! if it is judged as the page says.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
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

/// Tries the answers of a page on a thread of their own. One that takes longer than the limit is interrupted.
pub(super) fn watched(page: &str, try_page: TryPage, limit: Option<Duration>) -> Vec<Tried> {
    let page = page.to_owned();
    let found: Arc<Mutex<Vec<Tried>>> = Arc::default();
    let theirs = Arc::clone(&found);
    let (sender, receiver) = channel::<Arc<AtomicBool>>();
    let Ok(thread) = spawn_with_big_stack("exercises", move || {
        // Sending fails if the receiver has given up; that is fine.
        let on_open: OnOpen = Rc::new(move |session| drop(sender.send(session.interrupt_flag())));
        let found = try_page(&page, &on_open);
        if let Ok(mut place) = theirs.lock() {
            *place = found;
        }
    }) else {
        return Vec::new();
    };
    // Every session that opens begins the time again.
    let mut last: Option<Arc<AtomicBool>> = None;
    let step = |last: &mut Option<Arc<AtomicBool>>| match receiver.recv_timeout(limit.unwrap_or(Duration::MAX)) {
        Ok(flag) => {
            *last = Some(flag);
            ControlFlow::Continue(())
        }
        Err(RecvTimeoutError::Timeout) => {
            last.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
            ControlFlow::Continue(())
        }
        Err(RecvTimeoutError::Disconnected) => ControlFlow::Break(()),
    };
    while step(&mut last).is_continue() {}
    // The channel is closed when the thread ends, or has failed.
    let _ = thread.join();
    found.lock().map(|mut found| std::mem::take(&mut *found)).unwrap_or_default()
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
