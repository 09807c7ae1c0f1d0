//! The prompt: reads and edits lines, passes complete entries to a [`Desk`], and shows the results.
//!
//! Text copied from a page arrives in one of two ways. A terminal that marks pasted text delivers it as one entry,
//! whose statements run one by one. Without such marks, every line arrives as if typed; lines that look like printed
//! results and arrive faster than anyone types are then skipped.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use owo_colors::{OwoColorize, Style};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{ColorMode, CompletionType, Config as EditorConfig, EditMode, Editor};

use super::assistant::{Assistant, Request, Shared, TypingPace, keys};
use super::config::Config;
use super::history::{HistoryText, Store};
use super::interrupts::listen;
use super::pager::{Paging, page};
use super::past::FileHistory;
use super::progress::{self, ProgressGuard};
use super::screen::{Screen, Stream, coloured_picture, complain, complain_marked, marked, show};
use super::turn;
use session::assist::{Console, Desk, Marked, Reply, TurnForm, help, run_command};
use session::{Language, Picture, Said, Session, set_budget};

/// The keys listed in the overview.
const KEYS: &[(&str, &str)] = &[
    ("?NAME, NAME?, help(NAME)", "what a function does; F1 on the name at the cursor"),
    ("Tab", "names, methods, keywords, files"),
    ("Ctrl-R", "search the history; the right arrow accepts the dimmed hint"),
    ("Ctrl-X Ctrl-E", "edit the entry in $EDITOR"),
    ("Ctrl-C, Ctrl-D", "interrupt; leave"),
    ("_, __, ___", "the last three results; a final ; hides the result"),
];

/// The options of a prompt.
#[derive(Clone, Debug, Default)]
pub struct PromptOptions {
    /// Whether to omit the greeting.
    pub quiet: bool,
    /// The value of `ARGS` in scripts.
    pub args: Vec<String>,
    /// Whether to ignore the settings file.
    pub no_config: bool,
    /// The language of the prompt; overrides the settings file.
    pub language: Option<Language>,
    /// A script to run before the first prompt. Its variables are kept.
    pub script: Option<PathBuf>,
    /// A command to run instead of reading entries. The startup script does not run before it.
    pub command: Option<String>,
}

/// Runs the prompt until the user leaves it, and returns the program's exit status.
pub fn prompt(screen: Screen, opening: PromptOptions) -> i32 {
    let command = opening.command.clone();
    let run = |mut prompt: Prompt| match command {
        Some(command) => {
            prompt.measure();
            Ok(run_command(&Rc::clone(&prompt.shared).desk, &mut prompt, &command).unwrap_or_default())
        }
        None => prompt.run(),
    };
    match Prompt::open(screen, opening).and_then(run) {
        Ok(status) => status,
        Err(error) => {
            complain(&format!("tensorsh: the terminal cannot be used: {error}\n"));
            1
        }
    }
}

/// The prompt of one terminal.
pub(crate) struct Prompt {
    pub(super) screen: Screen,
    shared: Rc<Shared>,
    editor: Editor<Assistant, FileHistory>,
    store: Store,
    config: Config,
    paging: Rc<Paging>,
    /// The progress display of running work.
    running: Option<ProgressGuard>,
    /// The initial text of the next entry, and the cursor in it.
    initial: Option<(String, usize)>,
    /// Reads replies to questions, without the prompt's history and completions. Opened at the first question.
    replies: Option<Editor<(), MemHistory>>,
    /// Whether the running command asks questions. Its output is then not paged, or the pager would take the replies.
    is_asking: bool,
}

impl Prompt {
    fn open(screen: Screen, opening: PromptOptions) -> rustyline::Result<Prompt> {
        let (config, faults) = if opening.no_config { Default::default() } else { Config::read() };
        set_budget(config.memory);
        let screen = screen.configured(config.color, config.theme);
        // Read a long history while the session is created.
        let limit = config.history;
        let reading = thread::Builder::new().name("history".to_owned()).spawn(move || Store::open(limit));
        let paging: Rc<Paging> = Rc::default();
        let said = Rc::clone(&paging);
        let live = move |text: Said| said.say(screen, text);
        let language = opening.language.unwrap_or(config.language);
        let mut desk = Desk::new(language, opening.args, Box::new(live));
        desk.set_translates(config.translate);
        desk.set_preface(config.print_options());
        let shared = Rc::new(Shared {
            desk,
            is_coloured: screen.is_coloured(Stream::Output),
            has_hints: config.hints,
            columns: Cell::new(80),
            request: Default::default(),
            stops: Default::default(),
            is_pasted: Default::default(),
            is_unread: Cell::default(),
            pace: TypingPace::default(),
        });
        let settings = EditorConfig::builder()
            // Colours have been decided already.
            .color_mode(if shared.is_coloured { ColorMode::Forced } else { ColorMode::Disabled })
            .edit_mode(if config.vi { EditMode::Vi } else { EditMode::Emacs })
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_history(settings, FileHistory::new(HistoryText::default(), config.history))?;
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
            paging,
            running: None,
            initial: None,
            replies: None,
            is_asking: false,
        };
        let history = match reading {
            Ok(reader) => reader.join().unwrap_or_else(|_| Err("its file could not be read".to_owned())),
            Err(_) => Store::open(limit),
        };
        if opening.command.is_some() {
            prompt.config.startup = None;
        }
        prompt.begin(opening.quiet, history, opening.script.as_deref(), &faults);
        Ok(prompt)
    }

    /// Prepares everything before the first line is read.
    fn begin(
        &mut self,
        is_quiet: bool,
        history: Result<(Store, HistoryText), String>,
        script: Option<&Path>,
        faults: &[String],
    ) {
        if !is_quiet {
            let version = env!("CARGO_PKG_VERSION");
            self.remark(&format!(
                "tensorsh {version}: type Rhai, or Python after >>>; :help for help, Ctrl-D to leave"
            ));
        }
        for fault in faults {
            complain(&format!("{fault}\n"));
        }
        match history {
            Ok((store, kept)) => {
                self.store = store;
                *self.editor.history_mut() = FileHistory::new(kept, self.config.history);
            }
            Err(reason) if !is_quiet => self.remark(&format!("history cannot be saved: {reason}")),
            Err(_) => {}
        }
        progress::watch();
        let shared = Rc::clone(&self.shared);
        shared.desk.begin(self);
        for script in self.config.startup.clone().iter().map(PathBuf::as_path).chain(script) {
            run_command(&shared.desk, self, &format!(":load {}", script.display()));
        }
    }

    /// Takes over the width of the terminal.
    fn measure(&mut self) {
        if let Some((columns, _)) = self.editor.dimensions() {
            self.shared.columns.set(columns.into());
            self.shared.desk.session_mut().set_width(columns.into());
        }
    }

    fn run(&mut self) -> rustyline::Result<i32> {
        loop {
            self.measure();
            self.shared.pace.since.set(Some(Instant::now()));
            // A Ctrl-C that came too late for the previous entry must not affect this one.
            self.shared.desk.session().interrupt_flag().store(false, Ordering::Relaxed);
            let (sign, _) = self.shared.desk.language().signs();
            self.shared.stops.store(0, Ordering::Relaxed);
            self.shared.is_pasted.store(false, Ordering::Relaxed);
            self.shared.is_unread.set(false);
            let initial = self.initial.take();
            let read = catch_unwind(AssertUnwindSafe(|| match initial {
                Some((text, at)) => {
                    let (left, right) = text.split_at_checked(at).unwrap_or((&text, ""));
                    self.editor.readline_with_initial(sign, (left, right))
                }
                None => self.editor.readline(sign),
            }));
            // The line editor has assertions of its own. A failure loses the line, but not the session.
            let Ok(read) = read else {
                complain("the line editor failed and lost this line; the session is unchanged\n");
                continue;
            };
            match read {
                Ok(entry) => {
                    let left = match self.shared.take_request() {
                        Some(request) => {
                            self.handle_request(request, entry);
                            None
                        }
                        None => self.take(&entry),
                    };
                    if let Some(status) = left {
                        return Ok(status);
                    }
                }
                Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => self.shared.pace.after_result.set(false),
                Err(ReadlineError::Eof) => return Ok(0),
                // Invalid UTF-8 loses the line, but not the session.
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    complain("the input is not valid UTF-8\n");
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Handles a key's request, and restores the entry for editing.
    fn handle_request(&mut self, request: Request, entry: String) {
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
                    run_command(&Rc::clone(&self.shared).desk, self, ":help");
                } else {
                    let text = help(&self.shared.desk.session(), &name);
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
    }

    /// Runs one entry. Returns an exit status if the prompt should end.
    fn take(&mut self, entry: &str) -> Option<i32> {
        let shared = Rc::clone(&self.shared);
        if shared.pace.is_pasted_result(entry) {
            return None;
        }
        if shared.is_unread.take() && shared.desk.needs_more(self, entry)? {
            self.initial = Some((format!("{entry}\n"), entry.len() + 1));
            return None;
        }
        let taken = shared.desk.take(self, entry);
        self.is_asking = false;
        if let Some(printed) = taken.printed {
            shared.pace.after_result.set(printed);
        }
        if let Some(tail) = taken.unfinished {
            let end = tail.shown.len();
            self.initial = Some((tail.shown, end));
        }
        taken.exit
    }

    /// Returns the size of the terminal in columns and rows.
    pub(super) fn size(&mut self) -> Option<(usize, usize)> {
        let (columns, rows) = self.editor.dimensions()?;
        Some((columns.into(), rows.into()))
    }

    /// Returns the number of lines shown before the pager takes over.
    pub(crate) fn rows(&mut self) -> Option<usize> {
        let (_, rows) = self.editor.dimensions()?;
        (self.config.pager && !self.is_asking).then_some(rows.into())
    }
}

impl Console for Prompt {
    fn opened(&mut self, session: &Session) {
        // The flag of an earlier session stays registered too, which is harmless.
        if let Err(error) = listen(session.interrupt_flag()) {
            complain(&format!("Ctrl-C cannot interrupt calculations: {error}\n"));
        }
    }

    fn begin(&mut self, is_paged: bool) {
        let rows = if is_paged { self.rows() } else { None };
        self.paging.above(rows);
        self.running = Some(progress::begin());
    }

    fn end(&mut self) {
        self.paging.flush();
        self.running = None;
        self.paging.above(None);
    }

    fn remember(&mut self, entry: &str) {
        // The prompt works without a history too.
        if self.editor.add_history_entry(entry).unwrap_or(false) {
            self.store.add(entry);
        }
    }

    fn input(&mut self, _: Language, _: &str, shown: &str) {
        shown.lines().for_each(|line| self.remark(line));
    }

    fn tell(&mut self, text: &Marked) {
        page(&marked(self.screen, Stream::Output, text), self.rows());
    }

    fn draw(&mut self, picture: &Picture) {
        page(&coloured_picture(self.screen, picture), self.rows());
    }

    /// Prints a dimmed line.
    fn remark(&mut self, line: &str) {
        let dim = self.screen.style(Stream::Output, Style::new().dimmed());
        show(&format!("{}\n", line.style(dim)));
    }

    fn complain(&mut self, text: &Marked) {
        complain_marked(self.screen, text);
    }

    fn begin_questions(&mut self) -> bool {
        self.is_asking = io::stdin().is_terminal();
        self.is_asking
    }

    fn ask(&mut self, sign: &str) -> Reply {
        let edit_mode = if self.config.vi { EditMode::Vi } else { EditMode::Emacs };
        let settings = EditorConfig::builder().edit_mode(edit_mode).build();
        if self.replies.is_none() {
            self.replies = Editor::with_history(settings, MemHistory::new()).ok();
        }
        let Some(replies) = &mut self.replies else { return Reply::Ended };
        match replies.readline(sign) {
            Ok(line) => {
                // Replies can be edited without a history too.
                let _ = replies.add_history_entry(&line);
                Reply::Line(line)
            }
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Reply::Discarded,
            Err(_) => Reply::Ended,
        }
    }

    fn columns(&self) -> usize {
        self.shared.columns.get()
    }

    fn keys(&self) -> &'static [(&'static str, &'static str)] {
        KEYS
    }

    fn turn(&mut self, desk: &Desk, form: TurnForm) {
        if let Some((text, at)) = turn::run(self, desk, form) {
            self.initial = Some((text, at));
        }
    }

    fn run_in_background(&mut self, stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String> {
        in_empty_folder(stop, work)
    }
}

/// Calls `work` with an empty folder, which is deleted afterwards. Ctrl-C sets `stop` meanwhile.
///
/// # Errors
/// Fails with the reason if there is no folder, or no way to handle Ctrl-C.
pub(crate) fn in_empty_folder(stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String> {
    let folder = tempfile::Builder::new().prefix("tensorsh-").tempdir().map_err(|error| error.to_string())?;
    let stop = listen(stop).map_err(|error| error.to_string())?;
    work(folder.path());
    stop.end();
    Ok(())
}

/// Opens the text in the user's editor, and returns the result.
fn edited(text: &str) -> Result<String, String> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let usual = if cfg!(windows) { "notepad" } else { "vi" };
    let editor = editor.unwrap_or_else(|| usual.to_owned());
    let mut words = editor.split_whitespace();
    let because = |error: io::Error| format!("{editor}: {error}");
    let file = tempfile::Builder::new().prefix("tensorsh-").suffix(".rhai").tempfile().map_err(because)?;
    std::fs::write(file.path(), text).map_err(because)?;
    let status = Command::new(words.next().unwrap_or(usual)).args(words).arg(file.path()).status().map_err(because)?;
    if !status.success() {
        return Err(format!("{editor} ended with {status}; the entry is unchanged"));
    }
    let text = std::fs::read_to_string(file.path()).map_err(because)?;
    Ok(text.trim_end_matches('\n').to_owned())
}
