//! Runs examples: returns the output of an input in the form used by transcripts. Knows neither the recorded output nor
//! where the text goes.

use super::parse::{Document, Example};
use crate::{Outcome, Session, SessionOptions};

/// The first line of Python's error reports.
pub(crate) const TRACEBACK: &str = "Traceback (most recent call last):";

/// The output of one example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The output. Every line ends in `\n`.
    pub text: String,
    /// The warnings.
    pub warnings: Vec<String>,
    /// Whether the input called `exit`. The rest of the session is not run.
    pub ended: bool,
}

/// Runs the document's sessions and returns their inputs as in the file, each with its current output. An example
/// marked `+SKIP` is shown without output.
pub fn replay(document: &Document) -> String {
    let mut text = String::new();
    for case in &document.cases {
        if !text.is_empty() {
            text.push('\n');
        }
        let mut session = Session::new(SessionOptions::default());
        let mut ended = false;
        for example in &case.examples {
            text.push_str(&example.input);
            if !text.ends_with('\n') {
                text.push('\n');
            }
            if !ended && !example.options.skip {
                let answer = answer(&mut session, example);
                text.push_str(&answer.text);
                ended = answer.ended;
            }
        }
    }
    text
}

/// Evaluates one example.
pub fn answer(session: &mut Session, example: &Example) -> Answer {
    let outcome = session.eval(example.language, &example.source);
    let text = example.without_shown_dots(&printed(&outcome)).to_owned();
    Answer { text, warnings: session.take_warnings(), ended: outcome.exit.is_some() }
}

/// Formats an outcome for a transcript: the printed text, and an error as three lines. The last of these has the kind
/// and the first line of the message.
pub fn printed(outcome: &Outcome) -> String {
    let mut text = outcome.text.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if let Some(error) = &outcome.error {
        let message = error.message.lines().next().unwrap_or_default();
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
