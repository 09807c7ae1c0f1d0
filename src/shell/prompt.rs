//! The prompt: lines are read and edited, a statement is evaluated when it is complete, what it prints is shown.
//!
//! Text copied out of a page arrives in one of two ways. A terminal that marks pasted text hands it over as one entry,
//! whose statements are run one by one. Without such marks every line arrives as if it had been typed; then the lines
//! that look like printed results and come faster than anybody types are passed over.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use owo_colors::{OwoColorize, Style};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{FileHistory, History};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, Config, Editor, Helper};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::fault::describe;
use super::history::Store;
use super::paste::{Statement, is_open_block, looks_printed, read_session};
use super::screen::{Screen, Stream, complain, show, show_value};
use super::script::is_unfinished;
use crate::session::{Completeness, Language, Outcome, Said, Session, SessionOptions};

const PROMPT: &str = "rhai> ";
const HISTORY_LENGTH: usize = 10_000;

/// Runs the prompt until the user leaves it, and gives the program's exit status.
pub fn prompt(screen: Screen, quiet: bool, args: Vec<String>) -> i32 {
    match Prompt::open(screen, quiet, args).and_then(|mut prompt| prompt.run()) {
        Ok(status) => status,
        Err(error) => {
            complain(&format!("tensorsh: the terminal cannot be used: {error}\n"));
            1
        }
    }
}

struct Prompt {
    screen: Screen,
    session: Rc<RefCell<Session>>,
    pace: Rc<Pace>,
    editor: Editor<Assistant, FileHistory>,
    store: Store,
}

/// What tells a pasted line from a typed one.
#[derive(Default)]
struct Pace {
    /// The statement before came with a documentation prompt and printed something, so its recorded result may follow.
    after_result: Cell<bool>,
    /// The statement that runs has printed something.
    has_printed: Cell<bool>,
    /// When the line editor began to wait for the entry.
    since: Cell<Option<Instant>>,
}

impl Pace {
    /// Nobody types a line as fast.
    const HASTE: Duration = Duration::from_millis(50);

    /// Whether a line is the recorded result of the pasted statement before it.
    fn is_pasted_result(&self, line: &str) -> bool {
        self.after_result.get()
            && self.since.get().is_some_and(|since| since.elapsed() < Pace::HASTE)
            && looks_printed(line)
    }
}

impl Prompt {
    fn open(screen: Screen, quiet: bool, args: Vec<String>) -> rustyline::Result<Prompt> {
        let pace = Rc::new(Pace::default());
        let printing = Rc::clone(&pace);
        let live = move |said: Said, text: &str| {
            printing.has_printed.set(true);
            match said {
                Said::Printed => show(text),
                Said::Value => show_value(screen, text),
            }
        };
        let session = Session::new(SessionOptions { args, live: Some(Box::new(live)) });
        flag::register(SIGINT, session.interrupt_flag()).map_err(ReadlineError::Io)?;
        let session = Rc::new(RefCell::new(session));
        let coloured = screen.is_coloured(Stream::Output);
        let config = Config::builder()
            .max_history_size(HISTORY_LENGTH)?
            .color_mode(if coloured { ColorMode::Enabled } else { ColorMode::Disabled })
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Assistant { session: Rc::clone(&session), pace: Rc::clone(&pace) }));
        let (store, no_history) = Store::open(editor.history_mut());
        if !quiet {
            let dim = screen.style(Stream::Output, Style::new().dimmed());
            let version = env!("CARGO_PKG_VERSION");
            let banner = format!("tensorsh {version}: type Rhai, or Python behind >>>; exit or Ctrl-D leaves");
            show(&format!("{}\n", banner.style(dim)));
            if let Some(reason) = no_history {
                show(&format!("{}\n", format!("what you type will be forgotten: {reason}").style(dim)));
            }
        }
        Ok(Prompt { screen, session, pace, editor, store })
    }

    fn run(&mut self) -> rustyline::Result<i32> {
        loop {
            self.pace.since.set(Some(Instant::now()));
            match self.editor.readline(PROMPT) {
                Ok(entry) => {
                    if let Some(status) = self.take(&entry) {
                        return Ok(status);
                    }
                }
                Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => self.pace.after_result.set(false),
                Err(ReadlineError::Eof) => return Ok(0),
                // A key that is no UTF-8 costs its line, not the session.
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    complain("what was typed is not valid UTF-8\n");
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Runs one entry. Gives an exit status when it was the last.
    fn take(&mut self, entry: &str) -> Option<i32> {
        if entry.trim().is_empty() || self.pace.is_pasted_result(entry) {
            return None;
        }
        let pasted = {
            let session = self.session.borrow();
            read_session(entry, |language, source| is_unfinished(&session, language, source))
        };
        let Some(pasted) = pasted else {
            self.pace.after_result.set(false);
            self.remember(entry);
            if is_farewell(entry) {
                return Some(0);
            }
            let outcome = self.eval(Language::Rhai, entry);
            return self.settle(&outcome, entry);
        };
        let is_echoed = pasted.has_results || pasted.statements.len() > 1;
        for statement in &pasted.statements {
            if is_echoed {
                self.echo(statement);
            }
            self.remember(&statement.shown);
            if is_farewell(&statement.source) {
                return Some(0);
            }
            self.pace.has_printed.set(false);
            let outcome = self.eval(statement.language, &statement.source);
            let has_printed = self.pace.has_printed.get() || !outcome.text.is_empty() || outcome.error.is_some();
            self.pace.after_result.set(has_printed);
            if let Some(status) = self.settle(&outcome, &statement.source) {
                return Some(status);
            }
            if outcome.error.is_some_and(|error| error.interrupted) {
                break;
            }
        }
        None
    }

    /// Shows a statement of a pasted session above its result.
    fn echo(&self, statement: &Statement) {
        let dim = self.screen.style(Stream::Output, Style::new().dimmed());
        for line in statement.shown.lines() {
            show(&format!("{}\n", line.style(dim)));
        }
    }

    fn eval(&self, language: Language, source: &str) -> Outcome {
        let mut session = self.session.borrow_mut();
        // A Ctrl-C that came too late for the statement before must not stop this one.
        session.interrupt_flag().store(false, Ordering::Relaxed);
        session.eval(language, source)
    }

    fn settle(&self, outcome: &Outcome, source: &str) -> Option<i32> {
        show(&outcome.text);
        if let Some(error) = &outcome.error {
            complain(&describe(self.screen, error, source, None));
        }
        outcome.exit
    }

    fn remember(&mut self, entry: &str) {
        let history = self.editor.history_mut();
        // Keeping the line is a convenience: a failure shows when it is missed, and harms nothing.
        let _ = history.add(entry);
        self.store.save(history);
    }
}

fn is_farewell(entry: &str) -> bool {
    matches!(entry.trim().trim_end_matches(';'), "exit" | "exit()" | "quit" | "quit()")
}

/// What the line editor asks while an entry is typed.
struct Assistant {
    session: Rc<RefCell<Session>>,
    pace: Rc<Pace>,
}

impl Assistant {
    /// Whether Enter should go on with a further line instead of running the entry.
    fn wants_more(&self, entry: &str) -> bool {
        let session = self.session.borrow();
        let is_unfinished = |language, source: &str| is_unfinished(&session, language, source);
        if entry.trim().is_empty() || self.pace.is_pasted_result(entry) {
            return false;
        }
        if let Some(pasted) = read_session(entry, is_unfinished) {
            return pasted.statements.last().is_some_and(|last| last.takes_more(is_unfinished));
        }
        match session.completeness(Language::Rhai, entry) {
            // Python is taken without its prompt as well, and the body of a block ends with an empty line.
            Completeness::Complete => is_open_block(entry) && has_python_header(entry),
            Completeness::Incomplete => true,
            Completeness::Invalid => false,
        }
    }
}

/// Whether a block's first line ends as Python's do; Rhai's end in a brace.
fn has_python_header(entry: &str) -> bool {
    entry.lines().any(|line| line.split('#').next().unwrap_or(line).trim_end().ends_with(':'))
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let wants_more = self.wants_more(context.input());
        Ok(if wants_more { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Assistant {
    type Candidate = String;
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Highlighter for Assistant {}

impl Helper for Assistant {}

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

    #[test]
    fn entries_go_on_until_they_are_complete() {
        let session = Rc::new(RefCell::new(Session::new(SessionOptions::default())));
        let assistant = Assistant { session, pace: Rc::default() };
        for (entry, wanted) in [
            ("", false),
            ("1 + 1", false),
            ("let a = [1,", true),
            ("let a = [1,\n2]", false),
            (">>> x = [1,", true),
            (">>> x = [1,\n...      2]", false),
            (">>> for i in range(3):", true),
            (">>> for i in range(3):\n...     print(i)", true),
            (">>> for i in range(3):\n...     print(i)\n...", false),
            (">>> for i in range(3):\n    print(i)\n", false),
            (">>> x\n1\n>>> y", false),
            ("for i in range(3):", true),
            ("for i in range(3):  # thrice\n    print(i)", true),
            ("for i in range(3):\n    print(i)\n", false),
            ("for i in 0..3 {\n  print(i);", true),
            ("for i in 0..3 {\n  print(i);\n}", false),
        ] {
            assert_eq!(assistant.wants_more(entry), wanted, "{entry:?}");
        }
    }
}
