//! The console of a lesson: what the commands of the prompt show while somebody is at an exercise.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use owo_colors::{OwoColorize, Style};

use crate::pager::{Paging, page};
use crate::prompt::in_empty_folder;
use crate::screen::{Screen, Stream, coloured_picture, complain_marked, marked, show};
use session::assist::{Console, Marked, Reply};
use session::{Language, Picture, Session};

/// The lines that `:help` adds in an exercise.
const KEYS: &[(&str, &str)] = &[
    (":hint, :solution", "help with the exercise; one way to do it"),
    (":again", "begin the exercise again"),
    (":skip, :quit", "leave the exercise; leave the lesson"),
    ("?NAME, NAME?, help(NAME)", "what a function does"),
    ("_, __, ___", "the last three results; a final ; hides the result"),
];

/// The console of a lesson at a terminal of some size.
pub(super) struct LessonConsole {
    pub(super) screen: Screen,
    pub(super) columns: usize,
    /// `None` if there is no terminal.
    pub(super) rows: Option<usize>,
    pub(super) paging: Rc<Paging>,
}

impl Console for LessonConsole {
    fn opened(&mut self, _: &Session) {}

    fn begin(&mut self, is_paged: bool) {
        self.paging.above(self.rows.filter(|_| is_paged));
    }

    fn end(&mut self) {
        self.paging.flush();
        self.paging.above(None);
    }

    fn remember(&mut self, _: &str) {}

    fn input(&mut self, _: Language, _: &str, shown: &str) {
        shown.lines().for_each(|line| self.remark(line));
    }

    fn tell(&mut self, text: &Marked) {
        page(&marked(self.screen, Stream::Output, text), self.rows);
    }

    fn draw(&mut self, picture: &Picture) {
        page(&coloured_picture(self.screen, picture), self.rows);
    }

    fn remark(&mut self, line: &str) {
        let dim = self.screen.style(Stream::Output, Style::new().dimmed());
        show(&format!("{}\n", line.style(dim)));
    }

    fn complain(&mut self, text: &Marked) {
        complain_marked(self.screen, text);
    }

    // An exercise is a question already.
    fn begin_questions(&mut self) -> bool {
        false
    }

    fn ask(&mut self, _: &str) -> Reply {
        Reply::Ended
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn keys(&self) -> &'static [(&'static str, &'static str)] {
        KEYS
    }

    fn run_in_background(&mut self, stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String> {
        in_empty_folder(stop, work)
    }
}
