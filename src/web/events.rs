//! Events sent while a request is being answered, as JSON.

use super::pictures::Pictures;
use super::request::{named, units};
use explain::format::style::{Role, Styled};
use serde_json::{Value, json};
use session::assist::{Mark, Marked, describe};
use session::{Failure, Language, Said};
use std::cell::RefCell;
use std::rc::Rc;

/// Receives an event as text.
type EventSink = dyn FnMut(&str);

/// The listener for events.
#[derive(Clone)]
pub(crate) struct Listener(Rc<RefCell<EventSink>>);

impl Listener {
    pub(crate) fn new(listener: impl FnMut(&str) + 'static) -> Listener {
        Listener(Rc::new(RefCell::new(listener)))
    }

    /// Sends an event.
    pub(crate) fn send(&self, event: &Value) {
        (self.0.borrow_mut())(&event.to_string());
    }

    pub(crate) fn text(&self, role: &str, text: &str) {
        if !text.is_empty() {
            self.send(&json!({ "event": "text", "role": role, "text": text }));
        }
    }

    /// Sends one or more lines of text, without the last newline.
    pub(crate) fn line(&self, event: &str, text: &str) {
        self.send(&json!({ "event": event, "text": text.trim_end_matches('\n') }));
    }

    pub(crate) fn input(&self, language: Language, source: &str) {
        self.send(&json!({ "event": "input", "language": named(language), "source": source }));
    }

    pub(crate) fn marked(&self, text: &Marked) {
        text.pieces.iter().for_each(|(mark, piece)| self.text(role_of_mark(*mark), piece));
    }

    /// Sends the value of an input. Adjacent pieces without colour are combined.
    fn value(&self, text: &str) {
        let mut plain = String::new();
        for (role, piece) in Styled::value(text).pieces() {
            match role_of(role) {
                "plain" => plain.push_str(piece),
                role => {
                    self.text("plain", &std::mem::take(&mut plain));
                    self.text(role, piece);
                }
            }
        }
        self.text("plain", &plain);
    }

    /// Sends a piece of output.
    pub(crate) fn said(&self, said: Said, pictures: &mut Pictures) {
        match said {
            Said::Printed(text) => self.text("plain", text),
            Said::Value(text) => self.value(text),
            Said::Drawn(picture) => pictures.add(picture, self),
            Said::Warned(text) => self.line("warning", text),
        }
    }

    /// Sends the failure of an input. Lines count from 1 in its source, columns from 0. Both are left out if the
    /// position is in another source.
    pub(crate) fn failure(&self, failure: &Failure, source: &str, file: Option<&str>) {
        let is_here = failure.source.is_none() && failure.file.is_none() && file.is_none();
        let place = failure.position.filter(|_| is_here);
        let column = place.map(|(line, column)| {
            let line = source.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
            units(&line.chars().take(column.saturating_sub(1)).collect::<String>())
        });
        self.send(&json!({
            "event": "error",
            "kind": failure.kind,
            "message": failure.message,
            "text": describe(failure, source, file).text().trim_end_matches('\n'),
            "line": place.map(|(line, _)| line),
            "column": column,
            "hint": failure.hint,
        }));
    }
}

/// Returns the name of a role that has a colour; all others are plain.
fn role_of(role: Role) -> &'static str {
    match role {
        Role::Number => "number",
        Role::Constant => "constant",
        Role::Str => "str",
        Role::DType => "dtype",
        Role::Keyword => "keyword",
        Role::Footer => "footer",
        Role::Ellipsis => "ellipsis",
        Role::Plain | Role::Punctuation | Role::Name | Role::ErrorKind | Role::ErrorMessage => "plain",
    }
}

/// Returns the ink for a mark.
fn role_of_mark(mark: Mark) -> &'static str {
    match mark {
        Mark::Plain => "plain",
        Mark::Kind | Mark::Caret | Mark::Removed => "fault",
        Mark::Aside => "label",
        Mark::Added => "good",
    }
}
