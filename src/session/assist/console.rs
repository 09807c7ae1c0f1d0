//! The interface of a front end that reads entries and shows their results: a terminal or a page.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::desk::Desk;
use super::fault::{describe, noted};
use super::marked::Marked;
use super::paste::Statement;
use super::turning::TurnForm;
use crate::{Failure, Language, Picture, Session};

/// The front end of a session. The output of inputs arrives through a [`Live`](crate::Live) listener instead.
pub trait Console {
    /// A session begins. Passes the session, so that the front end can stop it.
    fn opened(&mut self, session: &Session);

    /// Work begins that may take long. Its output is paged if `is_paged`.
    fn begin(&mut self, is_paged: bool);

    /// The work has ended.
    fn end(&mut self);

    /// Adds an entry, or one of its statements, to the history.
    fn remember(&mut self, entry: &str);

    /// Shows a statement of a pasted session or of a file, above its result. `shown` includes the prompts.
    fn input(&mut self, language: Language, source: &str, shown: &str);

    /// Shows requested text, which may be long.
    fn tell(&mut self, text: &Marked);

    /// Shows a requested picture.
    fn draw(&mut self, picture: &Picture);

    /// Shows an incidental remark.
    fn remark(&mut self, line: &str);

    /// Shows why something was not done.
    fn complain(&mut self, text: &Marked);

    /// Shows a note on an input.
    fn note(&mut self, note: &str) {
        self.complain(&noted(note));
    }

    /// Shows the failure of an input, or of a whole file.
    fn fail(&mut self, failure: &Failure, source: &str, file: Option<&str>) {
        self.complain(&describe(failure, source, file));
    }

    /// Begins questions, which the entry ends. Output is not paged meanwhile: a pager would take the replies. Returns
    /// whether there is somebody to ask: not without a terminal, and not on a page, which asks in its own way.
    fn begin_questions(&mut self) -> bool;

    /// Asks for a line, which is neither an entry nor remembered.
    fn ask(&mut self, sign: &str) -> Reply;

    /// Returns the available width in columns.
    fn columns(&self) -> usize;

    /// Returns the keys to list in the overview of commands.
    fn keys(&self) -> &'static [(&'static str, &'static str)];

    /// Lets the user change a layout by hand. A front end without keys says in words what can be changed.
    fn turn(&mut self, _: &Desk, form: TurnForm) {
        let words = form.words(self.columns());
        self.tell(&words.into());
    }

    /// Calls `work` with the path of an empty folder, which is deleted afterwards. Stopping the input sets `stop`
    /// meanwhile.
    ///
    /// # Errors
    /// Fails with the reason if there is no folder, or no way to stop the work.
    fn run_in_background(&mut self, stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String>;
}

/// The reply to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Line(String),
    /// Ctrl-C discarded what was typed.
    Discarded,
    /// Ctrl-D: there will be no reply.
    Ended,
}

/// The result of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryOutcome {
    /// The exit status, if the entry ended the session.
    pub exit: Option<i32>,
    /// An unfinished statement at the end of a pasted session.
    pub unfinished: Option<Statement>,
    /// For an input with a prompt of its own: whether it printed output that may be recorded below it.
    pub printed: Option<bool>,
}
