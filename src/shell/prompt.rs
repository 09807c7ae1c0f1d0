//! The prompt: reads and edits lines, evaluates a statement when it is complete, and shows what it prints.
//!
//! Text copied out of a page arrives in one of two ways. A terminal that marks pasted text hands it over as one entry,
//! whose statements are run one by one. Without such marks every line arrives as if it had been typed; then the lines
//! that look like printed results and come faster than anybody types are passed over.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use owo_colors::{OwoColorize, Style};
use rustyline::error::ReadlineError;
use rustyline::{ColorMode, CompletionType, Config as EditorConfig, EditMode, Editor};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::assistant::{Assistant, Pace, Request, Shared, keys};
use super::commands::{self, Flow, is_command};
use super::config::Config;
use super::fault::{describe, noted};
use super::help::help;
use super::history::{Kept, Store};
use super::log::{Entry, Log};
use super::pager::{Paging, page};
use super::past::Past;
use super::paste::{Statement, read_session, with_python_prompts};
use super::progress;
use super::screen::{Screen, Stream, complain, show};
use super::script::is_unfinished;
use crate::session::{Language, Outcome, Said, Session, SessionOptions, set_budget};
use crate::transcript::{Document, Form};

/// The way a prompt begins.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// No greeting.
    pub quiet: bool,
    /// The value of `ARGS` in scripts.
    pub args: Vec<String>,
    /// The settings file is not read.
    pub no_config: bool,
    /// The language of the prompt, whatever the settings file says.
    pub language: Option<Language>,
    /// A script that runs before the first prompt, its variables staying.
    pub script: Option<PathBuf>,
}

/// Runs the prompt until the user leaves it, and gives the program's exit status.
pub fn prompt(screen: Screen, opening: Opening) -> i32 {
    match Prompt::open(screen, opening).and_then(|mut prompt| prompt.run()) {
        Ok(status) => status,
        Err(error) => {
            complain(&format!("tensorsh: the terminal cannot be used: {error}\n"));
            1
        }
    }
}

/// The prompt of one terminal.
pub struct Prompt {
    screen: Screen,
    shared: Rc<Shared>,
    editor: Editor<Assistant, Past>,
    store: Store,
    config: Config,
    log: Rc<RefCell<Log>>,
    paging: Rc<Paging>,
    args: Vec<String>,
    /// The last pasted session, and which input of the log was its first.
    paste: Option<(String, usize)>,
    /// The initial text of the next entry, and its cursor.
    initial: Option<(String, usize)>,
}

impl Prompt {
    fn open(screen: Screen, opening: Opening) -> rustyline::Result<Prompt> {
        let (config, faults) = if opening.no_config { Default::default() } else { Config::read() };
        set_budget(config.memory);
        let screen = screen.configured(config.color, config.theme);
        // A long history is read while the session is made.
        let limit = config.history;
        let reading = thread::Builder::new().name("history".to_owned()).spawn(move || Store::open(limit));
        let log = Rc::default();
        let paging = Rc::default();
        let session = new_session(screen, &opening.args, &log, &paging);
        flag::register(SIGINT, session.interrupt_flag()).map_err(ReadlineError::Io)?;
        let shared = Rc::new(Shared {
            session: Rc::new(RefCell::new(session)),
            language: Cell::new(opening.language.unwrap_or(config.language)),
            is_coloured: screen.is_coloured(Stream::Output),
            has_hints: config.hints,
            columns: Cell::new(80),
            request: Default::default(),
            stops: Default::default(),
            pace: Pace::default(),
        });
        let settings = EditorConfig::builder()
            // Whether there are colours has been decided.
            .color_mode(if shared.is_coloured { ColorMode::Forced } else { ColorMode::Disabled })
            .edit_mode(if config.vi { EditMode::Vi } else { EditMode::Emacs })
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_history(settings, Past::new(Kept::default(), config.history))?;
        editor.set_helper(Some(Assistant::new(Rc::clone(&shared))));
        for (event, handler) in keys(&shared) {
            editor.bind_sequence(event, handler);
        }
        let mut prompt = Prompt {
            screen,
            shared,
            editor,
            store: Store::nowhere(),
            config,
            log,
            paging,
            args: opening.args,
            paste: None,
            initial: None,
        };
        let history = match reading {
            Ok(reader) => reader.join().unwrap_or_else(|_| Err("its file could not be read".to_owned())),
            Err(_) => Store::open(limit),
        };
        prompt.begin(opening.quiet, history, opening.script.as_deref(), &faults);
        Ok(prompt)
    }

    /// Prepares everything before the first line is read.
    fn begin(
        &mut self,
        is_quiet: bool,
        history: Result<(Store, Kept), String>,
        script: Option<&Path>,
        faults: &[String],
    ) {
        if !is_quiet {
            let version = env!("CARGO_PKG_VERSION");
            self.remark(&format!("tensorsh {version}: type Rhai, or Python behind >>>; :help helps, Ctrl-D leaves"));
        }
        for fault in faults {
            complain(&format!("{fault}\n"));
        }
        match history {
            Ok((store, kept)) => {
                self.store = store;
                *self.editor.history_mut() = Past::new(kept, self.config.history);
            }
            Err(reason) if !is_quiet => self.remark(&format!("what you type will be forgotten: {reason}")),
            Err(_) => {}
        }
        progress::watch();
        self.set_print_options();
        for script in self.config.startup.clone().iter().map(PathBuf::as_path).chain(script) {
            commands::run(self, &format!(":load {}", script.display()));
        }
    }

    /// Tells a new session how the settings file wants tensors printed.
    fn set_print_options(&self) {
        if self.config.print.is_empty() {
            return;
        }
        let options: Vec<_> = self.config.print.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let source = format!("torch.set_printoptions({})", options.join(", "));
        let outcome = self.watched(|session| session.eval(Language::Python, &source));
        self.settle(&outcome, &source);
    }

    fn run(&mut self) -> rustyline::Result<i32> {
        loop {
            if let Some((columns, _)) = self.editor.dimensions() {
                self.shared.columns.set(columns.into());
                self.session_mut().set_width(columns.into());
            }
            self.shared.pace.since.set(Some(Instant::now()));
            // A Ctrl-C that came too late for the entry before must not keep this one from being understood.
            self.session().interrupt_flag().store(false, Ordering::Relaxed);
            let (sign, _) = self.shared.language.get().signs();
            self.shared.stops.store(0, Ordering::Relaxed);
            let initial = self.initial.take();
            let read = catch_unwind(AssertUnwindSafe(|| match initial {
                Some((text, at)) => {
                    let (left, right) = text.split_at_checked(at).unwrap_or((&text, ""));
                    self.editor.readline_with_initial(sign, (left, right))
                }
                None => self.editor.readline(sign),
            }));
            // The line editor watches over itself; where it finds a fault, that costs the line and not the session.
            let Ok(read) = read else {
                complain("the line editor has lost its place, and the line; everything else is as it was\n");
                continue;
            };
            match read {
                Ok(entry) => {
                    let flow = match self.shared.take_request() {
                        Some(request) => self.fulfil(request, entry),
                        None => self.take(&entry),
                    };
                    if let Flow::Leave(status) = flow {
                        return Ok(status);
                    }
                }
                Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => self.shared.pace.after_result.set(false),
                Err(ReadlineError::Eof) => return Ok(0),
                // A key that is no UTF-8 costs its line, not the session.
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    complain("what was typed is not valid UTF-8\n");
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Does what a key asked for, and gives the entry back to be edited.
    fn fulfil(&mut self, request: Request, entry: String) -> Flow {
        match request {
            Request::Help(at) => {
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
                let (before, after) = entry.split_at_checked(at).unwrap_or((&entry, ""));
                let before = before.trim_end_matches(['(', ' ']);
                let start = before.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
                let rest = if before.len() == at { after.find(|c| !is_part(c)).unwrap_or(after.len()) } else { 0 };
                let name =
                    format!("{}{}", before.get(start..).unwrap_or_default(), after.get(..rest).unwrap_or_default());
                if name.is_empty() {
                    commands::run(self, ":help");
                } else {
                    let text = help(&self.session(), &name);
                    page(&text, self.rows());
                }
                self.initial = Some((entry, at));
            }
            Request::Editor => {
                let text = match edited(&entry) {
                    Ok(text) => text,
                    Err(error) => {
                        complain(&format!("{error}\n"));
                        entry
                    }
                };
                let end = text.len();
                self.initial = Some((text, end));
            }
        }
        Flow::On
    }

    /// Runs one entry.
    fn take(&mut self, entry: &str) -> Flow {
        let entry = &*with_python_prompts(entry);
        if entry.trim().is_empty() || self.shared.pace.is_pasted_result(entry) {
            return Flow::On;
        }
        // Nor must it stop this one. Between the statements of one entry, or of a file that it loads, none is forgotten.
        self.session().interrupt_flag().store(false, Ordering::Relaxed);
        if is_command(entry) {
            self.remember(entry);
            return commands::run(self, entry);
        }
        if is_farewell(entry) {
            self.remember(entry);
            return Flow::Leave(0);
        }
        let pasted = {
            let session = self.session();
            read_session(entry, |language, source| is_unfinished(&session, language, source))
        };
        self.session_mut().remember();
        self.log.borrow_mut().mark();
        let Some(mut pasted) = pasted else {
            self.shared.pace.after_result.set(false);
            self.remember(entry);
            let language = self.shared.language.get();
            self.show_translation(language, entry);
            let outcome = self.eval_paged(language, entry);
            return self.settle(&outcome, entry).map_or(Flow::On, Flow::Leave);
        };
        if pasted.statements.len() > 1 {
            let session = Rc::clone(&self.shared.session);
            let is_open = |language: Language, source: &str| is_unfinished(&session.borrow(), language, source);
            if let Some(tail) = pasted.statements.pop_if(|last| last.takes_more(is_open)) {
                let end = tail.shown.len();
                self.initial = Some((tail.shown, end));
            }
        }
        if pasted.has_results {
            let first = self.log().len();
            self.paste = Some((entry.to_owned(), first));
        }
        let is_echoed = pasted.has_results || pasted.statements.len() > 1;
        self.run_statements(&pasted.statements, is_echoed)
    }

    /// Runs the session that a file holds, as if it had been pasted.
    pub fn take_session(&mut self, text: &str, name: &str) -> Flow {
        let document = Document::parse(text, Form::of(Path::new(name)));
        for case in &document.cases {
            for example in case.examples.iter().filter(|example| !example.options.skip) {
                self.echo(example.input.trim_end());
                let outcome = self.eval(example.language, &example.source);
                let is_interrupted = outcome.error.as_ref().is_some_and(|error| error.interrupted);
                if let Some(status) = self.settle(&outcome, &example.source) {
                    return Flow::Leave(status);
                }
                if is_interrupted {
                    return Flow::On;
                }
            }
        }
        Flow::On
    }

    fn run_statements(&mut self, statements: &[Statement], is_echoed: bool) -> Flow {
        for statement in statements {
            if is_echoed {
                self.echo(&statement.shown);
            }
            self.remember(&statement.shown);
            if is_farewell(&statement.source) {
                return Flow::Leave(0);
            }
            self.shared.pace.has_printed.set(false);
            let outcome = self.eval(statement.language, &statement.source);
            let has_printed = self.shared.pace.has_printed.get() || !outcome.text.is_empty() || outcome.error.is_some();
            self.shared.pace.after_result.set(has_printed);
            if let Some(status) = self.settle(&outcome, &statement.source) {
                return Flow::Leave(status);
            }
            if outcome.error.is_some_and(|error| error.interrupted) {
                self.initial = None;
                break;
            }
        }
        Flow::On
    }

    /// Shows the Rhai form of an entry that is read as Python although it stands at a prompt for Rhai.
    fn show_translation(&self, language: Language, entry: &str) {
        if !self.config.translate || language == Language::Python {
            return;
        }
        if !self.session().is_only_python(entry) {
            return;
        }
        // What has no form is Python all the same.
        if let Ok(rhai) = self.session().rhai_form(entry) {
            rhai.lines().for_each(|line| self.remark(line));
        }
    }

    /// Shows a statement of a session above its result.
    fn echo(&self, statement: &str) {
        statement.lines().for_each(|line| self.remark(line));
    }

    /// Prints a dimmed remark.
    pub fn remark(&self, line: &str) {
        let dim = self.screen.style(Stream::Output, Style::new().dimmed());
        show(&format!("{}\n", line.style(dim)));
    }

    /// Evaluates an input and takes down what it prints.
    pub fn eval(&mut self, language: Language, source: &str) -> Outcome {
        self.log.borrow_mut().begin();
        let outcome = self.watched(|session| session.eval(language, source));
        // A line copied with its prompt says by that what language it is in.
        let (language, source) =
            source.strip_prefix(">>> ").map_or((language, source), |rest| (Language::Python, rest));
        self.log.borrow_mut().end(language, source, None, &outcome);
        outcome
    }

    /// The same, and what it shows goes through the pager if it is long.
    pub fn eval_paged(&mut self, language: Language, source: &str) -> Outcome {
        let rows = self.rows();
        self.paging.above(rows);
        let outcome = self.eval(language, source);
        self.paging.above(None);
        outcome
    }

    /// Runs a script and takes down its text.
    pub fn run_script(&mut self, language: Language, text: &str, file: &Path) -> Outcome {
        self.log.borrow_mut().begin();
        let outcome = self.watched(|session| session.run_script(language, text, Some(file)));
        self.log.borrow_mut().end(language, text, file.to_str(), &outcome);
        outcome
    }

    /// Lets the session work, while a line on the terminal may tell that it does.
    pub fn watched<R>(&self, work: impl FnOnce(&mut Session) -> R) -> R {
        let mut session = self.shared.session.borrow_mut();
        let _running = progress::begin();
        let done = work(&mut session);
        self.paging.flush();
        done
    }

    /// Shows what an input left to show; gives an exit status when it was the last.
    pub fn settle(&self, outcome: &Outcome, source: &str) -> Option<i32> {
        self.report(outcome, source, None)
    }

    /// As [`Prompt::settle`], for the whole of a file.
    pub fn settle_file(&self, outcome: &Outcome, source: &str, file: &str) -> Option<i32> {
        self.report(outcome, source, Some(file))
    }

    fn report(&self, outcome: &Outcome, source: &str, file: Option<&str>) -> Option<i32> {
        show(&outcome.text);
        if let Some(note) = &outcome.note {
            complain(&noted(self.screen, note));
        }
        if let Some(error) = &outcome.error {
            let error = &commands::suggested(error, source);
            complain(&describe(self.screen, error, source, file));
        }
        outcome.exit
    }

    /// Forgets everything but the history and the settings.
    pub fn reset(&mut self) {
        let fresh = new_session(self.screen, &self.args, &self.log, &self.paging);
        // The old flag stays registered too, which does no harm.
        if let Err(error) = flag::register(SIGINT, fresh.interrupt_flag()) {
            complain(&format!("Ctrl-C will not stop what runs: {error}\n"));
        }
        *self.shared.session.borrow_mut() = fresh;
        self.set_print_options();
        *self.log.borrow_mut() = Log::default();
        self.paste = None;
    }

    /// The language of code given to a command, and the code without its prompt.
    pub fn language_of<'c>(&self, code: &'c str) -> (Language, &'c str) {
        match code.strip_prefix(">>> ") {
            Some(rest) => (Language::Python, rest),
            None => (self.shared.language.get(), code),
        }
    }

    pub fn set_language(&mut self, language: Language) {
        self.shared.language.set(language);
    }

    pub fn set_translates(&mut self, translates: bool) {
        self.config.translate = translates;
    }

    pub fn session(&self) -> Ref<'_, Session> {
        self.shared.session.borrow()
    }

    pub fn session_mut(&self) -> RefMut<'_, Session> {
        self.shared.session.borrow_mut()
    }

    pub fn log(&self) -> Ref<'_, Log> {
        self.log.borrow()
    }

    /// Forgets the inputs that have been undone, and gives them.
    pub fn forget_undone(&self) -> Vec<Entry> {
        self.log.borrow_mut().go_back()
    }

    /// The value of `ARGS` in scripts.
    pub fn args(&self) -> &[String] {
        &self.args
    }

    pub fn last_paste(&self) -> Option<(&str, usize)> {
        self.paste.as_ref().map(|(text, first)| (text.as_str(), *first))
    }

    pub fn screen(&self) -> Screen {
        self.screen
    }

    /// Returns the width of the terminal.
    pub fn columns(&self) -> usize {
        self.shared.columns.get()
    }

    /// Returns the number of lines shown before the pager takes over.
    pub fn rows(&mut self) -> Option<usize> {
        let (_, rows) = self.editor.dimensions()?;
        self.config.pager.then_some(rows.into())
    }

    fn remember(&mut self, entry: &str) {
        // Without a history there is still a prompt.
        if self.editor.add_history_entry(entry).unwrap_or(false) {
            self.store.add(entry);
        }
    }
}

fn is_farewell(entry: &str) -> bool {
    matches!(entry.trim().trim_end_matches(';'), "exit" | "exit()" | "quit" | "quit()")
}

fn new_session(screen: Screen, args: &[String], log: &Rc<RefCell<Log>>, paging: &Rc<Paging>) -> Session {
    let (log, paging) = (Rc::clone(log), Rc::clone(paging));
    let live = move |said: Said, text: &str| {
        log.borrow_mut().print(text);
        paging.say(screen, said, text);
    };
    Session::new(SessionOptions { args: args.to_vec(), live: Some(Box::new(live)), keeps_results: true })
}

/// The text as the user's editor leaves it.
fn edited(text: &str) -> Result<String, String> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let mut words = editor.split_whitespace();
    let because = |error: io::Error| format!("{editor}: {error}");
    let file = tempfile::Builder::new().prefix("tensorsh-").suffix(".rhai").tempfile().map_err(because)?;
    std::fs::write(file.path(), text).map_err(because)?;
    let status = Command::new(words.next().unwrap_or("vi")).args(words).arg(file.path()).status().map_err(because)?;
    if !status.success() {
        return Err(format!("{editor} ended with {status}; the entry is as it was"));
    }
    let text = std::fs::read_to_string(file.path()).map_err(because)?;
    Ok(text.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving() {
        for (entry, wanted) in
            [("exit", true), (" quit() ", true), ("exit();", true), ("exit(3)", false), ("exits", false)]
        {
            assert_eq!(is_farewell(entry), wanted, "{entry}");
        }
    }
}
