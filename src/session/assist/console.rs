//! The front end that reads entries and shows their results: a terminal or a page. States what a desk asks of it, not how
//! that is done.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::fault::{describe, noted};
use super::marked::Marked;
use super::paste::Statement;
use crate::{Failure, Language, Picture, Session};

/// The person's side of a session. What inputs print comes by a [`Live`](crate::Live) listener instead.
pub trait Console {
    /// A session begins: whatever stops it learns how.
    fn opened(&mut self, session: &Session);

    /// Something begins to run, which may take long; what it shows is paged through where `is_paged`.
    fn begin(&mut self, is_paged: bool);

    /// It has ended.
    fn end(&mut self);

    /// An entry, or a statement of one, that is to be found again later.
    fn remember(&mut self, entry: &str);

    /// A statement of a pasted session or of a file, above its result. `shown` has its prompts.
    fn input(&mut self, language: Language, source: &str, shown: &str);

    /// Text that was asked for, which may be long.
    fn tell(&mut self, text: &Marked);

    /// A picture that was asked for.
    fn draw(&mut self, picture: &Picture);

    /// A line said besides.
    fn remark(&mut self, line: &str);

    /// The reason why something was not done.
    fn complain(&mut self, text: &Marked);

    /// What is to be said about an input besides its outcome.
    fn note(&mut self, note: &str) {
        self.complain(&noted(note));
    }

    /// The failure of an input, or of the whole of a file.
    fn fail(&mut self, failure: &Failure, source: &str, file: Option<&str>) {
        self.complain(&describe(failure, source, file));
    }

    /// The columns that text may take.
    fn columns(&self) -> usize;

    /// The keys that the overview of commands tells of.
    fn keys(&self) -> &'static [(&'static str, &'static str)];

    /// Calls `work` with the path of an empty folder that is gone afterwards. Whatever stops an input sets `stop` meanwhile.
    ///
    /// # Errors
    /// The reason why there is no such folder, or nothing to stop it by.
    fn aside(&mut self, stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String>;
}

/// What came of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The exit status, if it was the last.
    pub exit: Option<i32>,
    /// The end of a pasted session that is still to be finished.
    pub unfinished: Option<Statement>,
    /// Whether it printed something that may be recorded below it, where it is an input with a prompt of its own.
    pub printed: Option<bool>,
}
