//! Text in pieces that are marked with their meaning. The front end chooses colours.

/// The meaning of a piece of text. The text must be clear without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Plain,
    /// The class of an error.
    Kind,
    /// The carets below a fault.
    Caret,
    /// An incidental remark.
    Aside,
    /// A recorded line that is no longer printed.
    Removed,
    /// A line that is printed in its place.
    Added,
}

/// Text in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    pub pieces: Vec<(Mark, String)>,
}

impl Marked {
    /// Appends a piece.
    pub fn push(&mut self, mark: Mark, text: impl Into<String>) {
        self.pieces.push((mark, text.into()));
    }

    /// Appends a line with an incidental remark.
    pub(crate) fn push_remark(&mut self, line: impl Into<String>) {
        self.push(Mark::Aside, line);
        self.push(Mark::Plain, "\n");
    }

    /// Inserts a piece at the start.
    pub fn begin(&mut self, text: impl Into<String>) {
        self.pieces.insert(0, (Mark::Plain, text.into()));
    }

    /// Returns the text without marks.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl From<String> for Marked {
    fn from(text: String) -> Marked {
        Marked { pieces: vec![(Mark::Plain, text)] }
    }
}

impl From<&str> for Marked {
    fn from(text: &str) -> Marked {
        Marked::from(text.to_owned())
    }
}
