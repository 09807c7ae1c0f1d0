//! The output of one session on the page, and the page's files.

use super::events::Listener;
use super::pictures::Pictures;
use super::request::Parsed;
use serde_json::Value;
use session::assist::{Console, Marked, Reply};
use session::{Failure, Language, Live, Picture, Session};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The files of the page, which inputs open by name.
pub trait Files {
    /// Returns the names and sizes in bytes, in order.
    fn list(&self) -> Vec<(String, usize)>;

    /// Removes a file.
    ///
    /// # Errors
    /// Fails with the reason if the file could not be removed.
    fn remove(&self, name: &str) -> Result<(), String>;

    /// Calls `work` with the path of an empty folder, which is deleted afterwards. Stopping the input sets `stop`
    /// meanwhile.
    ///
    /// # Errors
    /// Fails with the reason if there is no folder.
    fn run_in_background(&self, stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String>;
}

/// The destination of a session's output.
#[derive(Clone)]
pub(crate) struct Stage {
    pub listener: Listener,
    pub files: Rc<dyn Files>,
    pub pictures: Rc<RefCell<Pictures>>,
}

/// The keys listed in the overview of commands.
const KEYS: &[(&str, &str)] = &[
    ("?NAME, NAME?, help(NAME)", "what a function does"),
    ("Tab", "names, methods, keywords, files"),
    ("_, __, ___", "the last three results; a final ; hides the result"),
];

/// The width of text in columns.
pub(crate) const COLUMNS: usize = 80;

impl Stage {
    /// Creates the stage of the page's own session.
    pub(crate) fn new(listener: Listener, files: Rc<dyn Files>) -> Stage {
        Stage { listener, files, pictures: Rc::new(RefCell::new(Pictures::new())) }
    }

    /// Creates a stage for another session. Picture numbers continue.
    pub(crate) fn another(&self) -> Stage {
        let pictures = Rc::new(RefCell::new(self.pictures.borrow().another()));
        Stage { pictures, ..self.clone() }
    }

    /// Returns the listener for a session on this stage.
    pub(crate) fn live(&self) -> Live {
        let (listener, pictures) = (self.listener.clone(), Rc::clone(&self.pictures));
        Box::new(move |said| listener.said(said, &mut pictures.borrow_mut()))
    }

    /// Draws a picture again for a chosen item. Returns false if the picture can no longer be asked.
    pub(crate) fn choose(&self, id: u64, choice: usize) -> bool {
        self.pictures.borrow_mut().choose(id, choice, &self.listener)
    }

    /// Lets go of the tensors behind pictures before an input runs.
    pub(crate) fn let_go(&self) {
        self.pictures.borrow_mut().let_go();
    }

    /// Redraws the pictures that a session has changed.
    pub(crate) fn renew(&self, session: &Session) {
        self.pictures.borrow_mut().renew(&session.seen(), &self.listener);
    }

    /// Sets the width of the column that pictures are drawn for, in pixels.
    pub(crate) fn set_column(&self, width: f64) {
        self.pictures.borrow().set_column(width);
    }

    /// Redraws all pictures, as wide as the column.
    pub(crate) fn refit(&self) {
        self.pictures.borrow().refit(&self.listener);
    }

    /// Judges a text typed into a blank part of a picture.
    ///
    /// # Errors
    /// Fails if there is no such picture or part.
    pub(crate) fn fill(&self, id: usize, part: usize, typed: &str) -> Parsed<Value> {
        self.pictures.borrow().fill(id as u64, part, typed)
    }

    /// Returns the whole of a picture with blank parts.
    ///
    /// # Errors
    /// Fails if there is no such picture.
    pub(crate) fn solve(&self, id: usize) -> Parsed<Value> {
        self.pictures.borrow().solve(id as u64)
    }

    /// Reports that the pictures are no longer redrawn, because their session ends.
    pub(crate) fn clear(&self) {
        self.pictures.borrow_mut().forget(&self.listener);
    }
}

impl Console for Stage {
    // The worker that contains everything here can stop any session.
    fn opened(&mut self, _: &Session) {}

    fn begin(&mut self, _: bool) {}

    fn end(&mut self) {}

    // The page keeps its own history.
    fn remember(&mut self, _: &str) {}

    fn input(&mut self, language: Language, source: &str, _: &str) {
        self.listener.input(language, source);
    }

    fn tell(&mut self, text: &Marked) {
        self.listener.marked(text);
    }

    fn draw(&mut self, picture: &Picture) {
        self.pictures.borrow_mut().add(picture, &self.listener);
    }

    fn remark(&mut self, line: &str) {
        self.listener.line("note", line);
    }

    fn complain(&mut self, text: &Marked) {
        self.listener.line("warning", &text.text());
    }

    fn note(&mut self, note: &str) {
        self.listener.line("note", note);
    }

    fn fail(&mut self, failure: &Failure, source: &str, file: Option<&str>) {
        self.listener.failure(failure, source, file);
    }

    // The page has a view of its own for questions.
    fn begin_questions(&mut self) -> bool {
        false
    }

    fn ask(&mut self, _: &str) -> Reply {
        Reply::Ended
    }

    fn columns(&self) -> usize {
        COLUMNS
    }

    fn keys(&self) -> &'static [(&'static str, &'static str)] {
        KEYS
    }

    fn run_in_background(&mut self, stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String> {
        self.files.run_in_background(stop, work)
    }
}
