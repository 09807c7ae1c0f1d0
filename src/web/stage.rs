//! What one session shows on the page, and what the page has besides: its files.

use super::events::Listener;
use super::pictures::Pictures;
use session::assist::{Console, Marked};
use session::{Failure, Language, Live, Picture, Session};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The files of the page, which inputs open by their names.
pub trait Files {
    /// Their names and how many bytes they have, in order.
    fn list(&self) -> Vec<(String, usize)>;

    /// Removes a file.
    ///
    /// # Errors
    /// The reason why it is still there.
    fn remove(&self, name: &str) -> Result<(), String>;

    /// Calls `work` with the path of an empty folder that is gone afterwards. Whatever stops an input sets `stop` meanwhile.
    ///
    /// # Errors
    /// The reason why there is no such folder.
    fn aside(&self, stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String>;
}

/// Where the output of one session goes.
#[derive(Clone)]
pub(crate) struct Stage {
    pub listener: Listener,
    pub files: Rc<dyn Files>,
    pictures: Rc<RefCell<Pictures>>,
}

/// What the overview of commands tells besides them.
const KEYS: &[(&str, &str)] = &[
    ("?NAME, NAME?, help(NAME)", "what a function does"),
    ("Tab", "names, methods, keywords, files"),
    ("_, __, ___", "the last three results; a closing ; shows none"),
];

/// The columns that text is fitted into.
const COLUMNS: usize = 80;

impl Stage {
    /// The stage of the page's own session.
    pub(crate) fn new(listener: Listener, files: Rc<dyn Files>) -> Stage {
        Stage { listener, files, pictures: Rc::new(RefCell::new(Pictures::new(Rc::new(Cell::new(1))))) }
    }

    /// A stage for another session; pictures are numbered through.
    pub(crate) fn another(&self) -> Stage {
        let pictures = Rc::new(RefCell::new(self.pictures.borrow().another()));
        Stage { pictures, ..self.clone() }
    }

    /// What a session on this stage prints to.
    pub(crate) fn live(&self) -> Live {
        let (listener, pictures) = (self.listener.clone(), Rc::clone(&self.pictures));
        Box::new(move |said| listener.said(said, &mut pictures.borrow_mut()))
    }

    /// Draws the pictures again that a session has made untrue.
    pub(crate) fn renew(&self, session: &Session) {
        self.pictures.borrow_mut().renew(&session.seen(), &self.listener);
    }

    /// The pictures show what will not be there any more.
    pub(crate) fn clear(&self) {
        self.pictures.borrow_mut().forget(&self.listener);
    }
}

impl Console for Stage {
    // The worker that everything here runs in stops every session there is.
    fn opened(&mut self, _: &Session) {}

    fn begin(&mut self, _: bool) {}

    fn end(&mut self) {}

    // The page keeps a history of its own.
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

    fn columns(&self) -> usize {
        COLUMNS
    }

    fn keys(&self) -> &'static [(&'static str, &'static str)] {
        KEYS
    }

    fn aside(&mut self, stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String> {
        self.files.aside(stop, work)
    }
}
