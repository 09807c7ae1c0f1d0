//! Runs examples: returns the output of an input in the form used by transcripts. Knows neither the recorded output nor
//! where the text goes.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::example::{Example, Manner, TRACEBACK, prompt_of};
use super::files::Target;
use super::prompts::in_number_of;
use super::run::{self, Terms};
use crate::{Outcome, Said, Session, SessionOptions};

/// The output of one example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The output. Every line ends in `\n`.
    pub text: String,
    /// The byte of the output at which the last shown value begins.
    pub value: Option<usize>,
    /// The class of the error, and the first line of its message.
    pub error: Option<(String, String)>,
    /// The warnings.
    pub warnings: Vec<String>,
    /// Whether the input called `exit`. The rest of the session is not run.
    pub ended: bool,
}

/// Runs the sessions of a page and returns their inputs, each with its current output. Inputs without a prompt get one.
/// An example marked `+SKIP` is shown without output, and a set-up is not shown.
///
/// # Errors
/// Fails with a line that names the file if it cannot be read.
pub fn replay(target: &Target) -> Result<String, String> {
    let document = run::read(target, &Terms::default())?;
    let mut text = String::new();
    for case in &document.cases {
        if !text.is_empty() {
            text.push('\n');
        }
        let mut run = Run::new(0);
        let mut ended = false;
        for (index, example) in case.examples.iter().enumerate() {
            let is_shown = example.origin.is_page();
            if is_shown {
                text.push_str(&with_prompts(example, index + 1));
            }
            if !ended && !example.options.skip {
                let answer = run.answer(example);
                if is_shown {
                    text.push_str(&answer.text);
                }
                ended = answer.ended;
            }
        }
    }
    Ok(text)
}

/// Returns an input with prompts, those of IPython for a cell; the last line ends in `\n`.
fn with_prompts(example: &Example, number: usize) -> String {
    let numbered = format!("In [{number}]: ");
    let (first, next) = match example.manner {
        Manner::Cell => (numbered.as_str(), "   ...: "),
        Manner::Prompt | Manner::Script => example.language.signs(),
    };
    let input = example.input.trim_end_matches(['\r', '\n']);
    if example.manner == Manner::Prompt && prompt_of(input).is_some() || in_number_of(input).is_some() {
        return format!("{input}\n");
    }
    let lines = input.lines().zip(std::iter::once(first).chain(std::iter::repeat(next)));
    lines.map(|(line, prompt)| format!("{prompt}{line}").trim_end().to_owned() + "\n").collect()
}

/// What a session has printed since the last example.
#[derive(Default)]
struct Recorded {
    text: String,
    /// The byte at which the last value begins.
    value: Option<usize>,
}

/// A session that runs examples.
pub(super) struct Run {
    session: Session,
    recorded: Rc<RefCell<Recorded>>,
}

impl Run {
    /// Creates a session. `seed` takes the place of a seed that a program leaves out.
    pub(super) fn new(seed: u64) -> Run {
        let recorded: Rc<RefCell<Recorded>> = Rc::default();
        let said = Rc::clone(&recorded);
        let live = move |part: Said| {
            let Ok(mut recorded) = said.try_borrow_mut() else { return };
            if matches!(part, Said::Value(_)) {
                recorded.value = Some(recorded.text.len());
            }
            recorded.text.push_str(&part.text());
        };
        let mut session =
            Session::new(SessionOptions { live: Some(Box::new(live)), seed, ..SessionOptions::default() });
        // From now on, warnings are collected.
        session.take_warnings();
        Run { session, recorded }
    }

    /// Returns whether a random number was drawn without a seed of the page.
    pub(super) fn is_unseeded(&self) -> bool {
        self.session.is_unseeded()
    }

    /// Returns the flag that stops the running example.
    pub(super) fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.session.interrupt_flag()
    }

    /// Evaluates one example.
    pub(super) fn answer(&mut self, example: &Example) -> Answer {
        let outcome = evaluate(&mut self.session, example);
        let mut recorded = self.recorded.take();
        if let Some(at) = recorded.value.filter(|_| example.manner == Manner::Cell) {
            let value = recorded.text.split_off(at.min(recorded.text.len()));
            recorded.text.push_str(&with_class_names(&value));
        }
        let outcome = Outcome { text: recorded.text, ..outcome };
        Answer { value: recorded.value, ..finish(&mut self.session, example, &outcome) }
    }
}

/// Evaluates one example in a session of the caller.
pub fn answer(session: &mut Session, example: &Example) -> Answer {
    let outcome = evaluate(session, example);
    finish(session, example, &outcome)
}

fn evaluate(session: &mut Session, example: &Example) -> Outcome {
    match example.manner {
        Manner::Prompt => session.eval(example.language, &example.source),
        Manner::Script => session.run_script(example.language, &example.source, None),
        Manner::Cell => session.eval_cell(&example.source),
    }
}

fn finish(session: &mut Session, example: &Example, outcome: &Outcome) -> Answer {
    let text = example.without_shown_dots(&printed(outcome)).to_owned();
    let error = outcome.error.as_ref().map(|error| (error.kind.clone(), first_line(&error.message).to_owned()));
    Answer { text, value: None, error, warnings: session.take_warnings(), ended: outcome.exit.is_some() }
}

/// Shows classes as IPython does: `torch.Tensor` in place of `<class 'torch.Tensor'>`.
fn with_class_names(value: &str) -> String {
    let mut parts = value.split("<class '");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("'>") {
            Some((name, rest)) => shown.extend([name, rest]),
            None => shown.extend(["<class '", part]),
        }
    }
    shown
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Formats an outcome for a transcript: the printed text, and an error as three lines. The last of these has the kind
/// and the first line of the message.
pub fn printed(outcome: &Outcome) -> String {
    let mut text = outcome.text.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if let Some(error) = &outcome.error {
        let message = first_line(&error.message);
        let separator = if message.is_empty() { "" } else { ": " };
        // A recorded session shows the exception's text, which includes the line.
        let place = error.unread.zip(error.position).map(|(file, (line, _))| format!(" ({file}, line {line})"));
        let place = place.unwrap_or_default();
        text.push_str(&format!("{TRACEBACK}\n  ...\n{}{separator}{message}{place}\n", error.kind));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    #[test]
    fn classes_in_cells() {
        for (value, wanted) in [
            ("<class 'int'>\n", "int\n"),
            ("[<class 'int'>, <class 'torch.Tensor'>]\n", "[int, torch.Tensor]\n"),
            ("<class 'a", "<class 'a"),
            ("3\n", "3\n"),
        ] {
            assert_eq!(with_class_names(value), wanted);
        }
    }

    #[test]
    fn errors_are_three_lines() {
        let failure = |kind: &str, message: &str| Failure {
            kind: kind.to_owned(),
            message: message.to_owned(),
            ..Failure::default()
        };
        let rows = [
            ("", failure("RuntimeError", "a\nb"), "Traceback (most recent call last):\n  ...\nRuntimeError: a\n"),
            (
                "x\n",
                failure("KeyboardInterrupt", ""),
                "x\nTraceback (most recent call last):\n  ...\nKeyboardInterrupt\n",
            ),
        ];
        for (text, error, wanted) in rows {
            let outcome = Outcome { text: text.to_owned(), error: Some(error), exit: None, note: None };
            assert_eq!(printed(&outcome), wanted);
        }
    }
}
