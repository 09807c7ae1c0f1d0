//! A fault while it is being looked for: kind, words and place.
//!
//! It must not know what raised it.

use super::SyntaxFault;

/// The answer of everything that looks for a fault: what was found, nothing, or the fault that ends the search.
pub type Found<T> = Result<Option<T>, Raised>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    pub kind: &'static str,
    pub message: String,
    /// In bytes of the text that is read.
    pub at: usize,
    /// The tokens themselves are at fault: nothing behind this place can be read.
    pub lexical: bool,
}

impl Raised {
    pub fn syntax(message: impl Into<String>, at: usize) -> Self {
        Self { kind: "SyntaxError", message: message.into(), at, lexical: false }
    }

    pub fn lexical(kind: &'static str, message: impl Into<String>, at: usize) -> Self {
        Self { kind, message: message.into(), at, lexical: true }
    }
}

impl From<Raised> for SyntaxFault {
    fn from(raised: Raised) -> Self {
        Self::new(raised.kind, raised.message, raised.at)
    }
}

/// A source with the line ends that Python sees, and the way back.
pub struct Text {
    pub text: String,
    /// The places in `text` before each of which one more byte stood in the source.
    dropped: Vec<usize>,
    /// The length of the source.
    length: usize,
}

impl Text {
    pub fn of(source: &str) -> Self {
        let mut text = String::with_capacity(source.len() + 1);
        let mut dropped = Vec::new();
        let mut characters = source.chars().peekable();
        // A mark of the byte order at the beginning of a file is not part of what it says.
        if characters.next_if_eq(&'\u{feff}').is_some() {
            dropped.extend([0, 0, 0]);
        }
        while let Some(character) = characters.next() {
            if character != '\r' {
                text.push(character);
                continue;
            }
            if characters.next_if_eq(&'\n').is_some() {
                dropped.push(text.len());
            }
            text.push('\n');
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Self { text, dropped, length: source.len() }
    }

    /// The place in the source of a place in the text.
    pub fn place(&self, at: usize) -> usize {
        (at + self.dropped.partition_point(|place| *place <= at)).min(self.length)
    }
}
