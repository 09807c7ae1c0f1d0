//! An interactive session: takes single or pasted entries, runs them or the commands among them, and keeps the state
//! that commands refer to. Output goes through the console.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use super::commands::{self, is_command};
use super::console::{Console, EntryOutcome};
use super::entry::{completeness_of_paste, is_unfinished, read};
use super::log::{Entry, Log};
use super::paste::{Statement, is_output_number, with_python_prompts};
use crate::quiz::Predicted;
use crate::transcript::{Document, Form, Reading};
use crate::{Completeness, Language, Live, Outcome, Said, Session, SessionOptions, stopped};

/// A session with the state of its prompt.
pub struct Desk {
    session: RefCell<Session>,
    /// The language of entries without a prompt of their own.
    language: Cell<Language>,
    /// Whether to show the Rhai form of Python typed at a Rhai prompt.
    translates: Cell<bool>,
    log: Rc<RefCell<Log>>,
    /// The last pasted session as a transcript, and the log index of its first input.
    paste: RefCell<Option<(String, usize)>>,
    /// Receives the output of inputs.
    output: Rc<RefCell<Live>>,
    /// The value of `ARGS` in scripts.
    args: Vec<String>,
    /// A line of Python to run at the start of every session.
    preface: Option<String>,
}

impl Desk {
    /// Creates a desk whose inputs print to `output`.
    pub fn new(language: Language, args: Vec<String>, output: Live) -> Desk {
        let (log, output) = (Rc::default(), Rc::new(RefCell::new(output)));
        let session = RefCell::new(new_session(&args, &log, &output));
        let (translates, paste) = (Cell::new(true), RefCell::default());
        Desk { session, language: Cell::new(language), translates, log, paste, output, args, preface: None }
    }

    /// Sets a line of Python to run at the start of every session.
    pub fn set_preface(&mut self, preface: Option<String>) {
        self.preface = preface;
    }

    /// Begins the session, which must be new.
    pub fn begin(&self, console: &mut dyn Console) {
        console.opened(&self.session());
        if let Some(preface) = &self.preface {
            let outcome = self.watched(console, false, |session| session.eval(Language::Python, preface));
            self.settle(console, &outcome, preface, None);
        }
    }

    /// Resets everything except the settings.
    pub fn reset(&self, console: &mut dyn Console) {
        crate::use_all_cores();
        self.session.replace(new_session(&self.args, &self.log, &self.output));
        self.begin(console);
        self.log.take();
        self.paste.take();
    }

    /// Takes one entry: runs its code, its pasted statements, or its command.
    pub fn take(&self, console: &mut dyn Console, entry: &str) -> EntryOutcome {
        let entry = &*with_python_prompts(entry);
        if entry.trim().is_empty() || is_output_number(entry) {
            return EntryOutcome::default();
        }
        // A stop that came too late for the previous entry must not stop this one. Between the statements of one entry,
        // or of a file that it loads, the flag is kept.
        self.session().interrupt_flag().store(false, Ordering::Relaxed);
        if is_command(entry) {
            console.remember(entry);
            return EntryOutcome { exit: commands::run(self, console, entry), ..EntryOutcome::default() };
        }
        if is_exit_word(entry) {
            console.remember(entry);
            return EntryOutcome { exit: Some(0), ..EntryOutcome::default() };
        }
        let pasted = match self.watched(console, false, |session| read(session, entry)) {
            Ok(pasted) => pasted,
            Err(stopped) => {
                console.fail(&stopped, entry, None);
                return EntryOutcome::default();
            }
        };
        self.mark_input();
        let Some(mut pasted) = pasted else {
            console.remember(entry);
            let exit = self.run_typed(console, entry);
            return EntryOutcome { exit, unfinished: None, printed: Some(false) };
        };
        let is_page = pasted.statements.len() > 1;
        let is_unfinished = |language, source: &str| is_unfinished(&self.session(), language, source);
        let unfinished = if is_page { pasted.statements.pop_if(|last| last.is_cut(is_unfinished)) } else { None };
        if pasted.has_results {
            let first = self.log().len();
            self.paste.replace(Some((pasted.transcript(), first)));
        }
        let is_echoed = pasted.has_results || pasted.statements.len() > 1;
        let taken = self.run_statements(console, &pasted.statements, is_echoed);
        EntryOutcome { unfinished: unfinished.filter(|_| taken.is_ok()), ..taken.unwrap_or_else(|stopped| stopped) }
    }

    /// Reads a pasted entry, which may be long, and returns whether it needs more lines. `None` if Ctrl-C stops the
    /// reading, which is reported.
    pub fn needs_more(&self, console: &mut dyn Console, entry: &str) -> Option<bool> {
        let language = self.language.get();
        let found = self.watched(console, false, |session| {
            let found = completeness_of_paste(session, language, entry);
            if session.is_asked_to_stop() { Err(stopped()) } else { Ok(found) }
        });
        match found {
            Ok(found) => Some(found == Completeness::Incomplete),
            Err(stopped) => {
                console.fail(&stopped, entry, None);
                None
            }
        }
    }

    fn run_typed(&self, console: &mut dyn Console, entry: &str) -> Option<i32> {
        let language = self.language.get();
        self.show_translation(console, language, entry);
        let outcome = self.eval(console, language, entry, true);
        self.settle(console, &outcome, entry, None)
    }

    /// Runs the statements of a pasted session. Returns an error if a statement was stopped or ended the session.
    fn run_statements(
        &self,
        console: &mut dyn Console,
        statements: &[Statement],
        is_echoed: bool,
    ) -> Result<EntryOutcome, EntryOutcome> {
        let mut taken = EntryOutcome::default();
        for statement in statements {
            if is_echoed {
                console.input(statement.language, &statement.source, &statement.shown);
            }
            console.remember(&statement.shown);
            if is_exit_word(&statement.source) {
                return Err(EntryOutcome { exit: Some(0), ..taken });
            }
            let outcome = self.eval(console, statement.language, &statement.source, false);
            taken.printed = Some(self.log().since(0).last().is_some_and(|entry| !entry.output.is_empty()));
            taken.exit = self.settle(console, &outcome, &statement.source, None);
            if taken.exit.is_some() || is_interrupted(&outcome) {
                return Err(taken);
            }
        }
        Ok(taken)
    }

    /// Runs a session from a file as if it had been pasted. Returns an exit status if it ended the session.
    pub(crate) fn take_session(&self, console: &mut dyn Console, text: &str, name: &str) -> Option<i32> {
        let document = match Document::read(text, Form::of(Path::new(name)), &Reading::default()) {
            Ok(document) => document,
            Err(fault) => {
                console.complain(&format!("{name}: {fault}\n").into());
                return None;
            }
        };
        let examples = document.cases.iter().flat_map(|case| &case.examples);
        for example in examples.filter(|example| !example.options.skip) {
            console.input(example.language, &example.source, example.input.trim_end());
            let outcome = self.eval(console, example.language, &example.source, false);
            let exit = self.settle(console, &outcome, &example.source, None);
            if exit.is_some() || is_interrupted(&outcome) {
                return exit;
            }
        }
        None
    }

    /// Shows the Rhai form of an entry that is read as Python although it was typed at a Rhai prompt.
    fn show_translation(&self, console: &mut dyn Console, language: Language, entry: &str) {
        if !self.translates.get() || language == Language::Python || !self.session().is_only_python(entry) {
            return;
        }
        // An entry without a Rhai form still runs as Python.
        if let Ok(rhai) = self.session().rhai_form(entry) {
            rhai.lines().for_each(|line| console.remark(line));
        }
    }

    /// Evaluates an input and logs its output. Values and pictures are paged if `is_paged`.
    pub fn eval(&self, console: &mut dyn Console, language: Language, source: &str, is_paged: bool) -> Outcome {
        self.log.borrow_mut().begin();
        let outcome = self.watched(console, is_paged, |session| session.eval(language, source));
        // A line copied with its prompt shows its language by the prompt.
        let (language, source) =
            source.strip_prefix(">>> ").map_or((language, source), |rest| (Language::Python, rest));
        self.log.borrow_mut().end(language, source, None, &outcome);
        outcome
    }

    /// Runs one input without a console, and logs its output. Undo can take it back. The caller shows its error.
    pub(crate) fn run_alone(&self, language: Language, source: &str) -> Outcome {
        self.session_mut().remember();
        self.log.borrow_mut().mark();
        self.log.borrow_mut().begin();
        let outcome = self.session_mut().eval(language, source);
        self.log.borrow_mut().end(language, source, None, &outcome);
        outcome
    }

    /// Like [`Desk::eval`], for an input whose value has been predicted.
    pub(super) fn eval_predicted(&self, console: &mut dyn Console, language: Language, source: &str) -> Predicted {
        self.log.borrow_mut().begin();
        let predicted = self.watched(console, false, |session| Predicted::run(session, language, source));
        self.log.borrow_mut().end(language, source, None, &predicted.outcome);
        predicted
    }

    /// Begins an input of its own: undo returns to this moment.
    pub(super) fn mark_input(&self) {
        self.session_mut().remember();
        self.log.borrow_mut().mark();
    }

    /// Runs a script and logs its text.
    pub fn run_script(&self, console: &mut dyn Console, language: Language, text: &str, file: &Path) -> Outcome {
        self.log.borrow_mut().begin();
        let outcome = self.watched(console, false, |session| session.run_script(language, text, Some(file)));
        self.log.borrow_mut().end(language, text, file.to_str(), &outcome);
        outcome
    }

    /// Runs work on the session between `begin` and `end` of the console.
    pub fn watched<R>(&self, console: &mut dyn Console, is_paged: bool, work: impl FnOnce(&mut Session) -> R) -> R {
        console.begin(is_paged);
        let done = work(&mut self.session_mut());
        console.end();
        done
    }

    /// Shows the error and the notes of an input or of a whole file. Returns an exit status if the session ends.
    pub fn settle(
        &self,
        console: &mut dyn Console,
        outcome: &Outcome,
        source: &str,
        file: Option<&str>,
    ) -> Option<i32> {
        if let Some(note) = &outcome.note {
            console.note(note);
        }
        if let Some(error) = &outcome.error {
            console.fail(&commands::suggested(error, source), source, file);
        }
        outcome.exit
    }

    /// Returns the language of code given to a command, and the code without its prompt.
    pub(crate) fn language_of<'c>(&self, code: &'c str) -> (Language, &'c str) {
        match code.strip_prefix(">>> ") {
            Some(rest) => (Language::Python, rest),
            None => (self.language.get(), code),
        }
    }

    pub fn language(&self) -> Language {
        self.language.get()
    }

    pub fn set_language(&self, language: Language) {
        self.language.set(language);
    }

    pub fn set_translates(&self, translates: bool) {
        self.translates.set(translates);
    }

    pub fn session(&self) -> Ref<'_, Session> {
        self.session.borrow()
    }

    pub fn session_mut(&self) -> RefMut<'_, Session> {
        self.session.borrow_mut()
    }

    pub fn log(&self) -> Ref<'_, Log> {
        self.log.borrow()
    }

    /// Removes the undone inputs from the log, and returns them.
    pub(crate) fn forget_undone(&self) -> Vec<Entry> {
        self.log.borrow_mut().go_back()
    }

    /// Restores the most recently undone inputs to the log, and returns them.
    pub(crate) fn take_up_undone(&self) -> Vec<Entry> {
        self.log.borrow_mut().go_forward()
    }

    /// Returns the value of `ARGS` in scripts.
    pub fn args(&self) -> &[String] {
        &self.args
    }

    pub(crate) fn last_paste(&self) -> Option<(String, usize)> {
        self.paste.borrow().clone()
    }
}

fn new_session(args: &[String], log: &Rc<RefCell<Log>>, output: &Rc<RefCell<Live>>) -> Session {
    let (log, output) = (Rc::clone(log), Rc::clone(output));
    let live = move |said: Said| {
        log.borrow_mut().print(&said.text());
        (output.borrow_mut())(said);
    };
    Session::new(SessionOptions { args: args.to_vec(), live: Some(Box::new(live)), keeps_results: true, seed: 0 })
}

fn is_interrupted(outcome: &Outcome) -> bool {
    outcome.error.as_ref().is_some_and(|error| error.interrupted)
}

fn is_exit_word(entry: &str) -> bool {
    matches!(entry.trim().trim_end_matches(';'), "exit" | "exit()" | "quit" | "quit()")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving() {
        for (entry, wanted) in
            [("exit", true), (" quit() ", true), ("exit();", true), ("exit(3)", false), ("exits", false)]
        {
            assert_eq!(is_exit_word(entry), wanted, "{entry}");
        }
    }
}
