//! Text whose pieces are marked with their meaning. The front end chooses colours.

/// The meaning of a piece of text. Nothing is told by it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Plain,
    /// The class of an error.
    Kind,
    /// What points at a fault.
    Caret,
    /// What is said besides.
    Aside,
    /// A line that was recorded and is not printed any more.
    Removed,
    /// A line that is printed instead.
    Added,
}

/// Text in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    pub pieces: Vec<(Mark, String)>,
}

impl Marked {
    /// Adds a piece.
    pub fn push(&mut self, mark: Mark, text: impl Into<String>) {
        self.pieces.push((mark, text.into()));
    }

    /// Adds a line that is said besides.
    pub(crate) fn push_aside(&mut self, line: impl Into<String>) {
        self.push(Mark::Aside, line);
        self.push(Mark::Plain, "\n");
    }

    /// Puts a piece in front of all others.
    pub fn begin(&mut self, text: impl Into<String>) {
        self.pieces.insert(0, (Mark::Plain, text.into()));
    }

    /// The text alone.
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
