//! Answers the line editor while an entry is typed, in the editor's types. The answers come from `session::assist`.
//! Evaluates nothing.

use std::borrow::Cow;
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use owo_colors::{OwoColorize, Style};
use rustyline::completion::{Candidate, Completer};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter, HistoryHinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Context, Event, EventContext, EventHandler, Helper, KeyCode,
    KeyEvent, Modifiers, Movement, RepeatCount,
};

use super::screen::highlighted;
use session::Completeness;
use session::assist::{
    Desk, ListedCompletion, completeness, completeness_of_paste, completions, cut, is_command, looks_printed, usages,
    with_python_prompts,
};

/// Longer entries, which were pasted, get neither colours nor hints: each key press would scan them completely.
const LONG: usize = 20_000;

/// The state shared by the prompt and the line editor.
pub(crate) struct Shared {
    pub desk: Desk,
    pub is_coloured: bool,
    pub has_hints: bool,
    pub columns: Cell<usize>,
    /// A request by a key for an action of the prompt, before the entry runs.
    pub request: Arc<Mutex<Option<Request>>>,
    /// The number of times Ctrl-C was pressed while editing this entry.
    pub stops: Arc<AtomicUsize>,
    /// Whether marked text was pasted since Enter was last pressed.
    pub is_pasted: Arc<AtomicBool>,
    /// Whether the entry was accepted without being read. It is then read where Ctrl-C is heard, unlike in the line
    /// editor.
    pub is_unread: Cell<bool>,
    pub pace: TypingPace,
}

impl Shared {
    /// Takes the pending request of a key.
    pub(crate) fn take_request(&self) -> Option<Request> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A request of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Edit the entry in the user's own editor.
    Editor,
    /// Show help on the name at this byte.
    Help(usize),
}

/// The timing that distinguishes a pasted line from a typed one.
#[derive(Default)]
pub(crate) struct TypingPace {
    /// Whether the previous statement came with a documentation prompt and printed something. Its recorded result may
    /// follow.
    pub after_result: Cell<bool>,
    /// The time when the line editor began to wait for the entry.
    pub since: Cell<Option<Instant>>,
}

impl TypingPace {
    /// The minimum time for a person to type a line.
    const HASTE: Duration = Duration::from_millis(50);

    /// Returns whether a line is the recorded result of the previous pasted statement.
    pub(crate) fn is_pasted_result(&self, line: &str) -> bool {
        self.after_result.get()
            && self.since.get().is_some_and(|since| since.elapsed() < TypingPace::HASTE)
            && looks_printed(&with_python_prompts(line))
    }
}

/// Returns the additional keys with their handlers.
pub(crate) fn keys(shared: &Rc<Shared>) -> [(Event, EventHandler); 7] {
    let control = |c| KeyEvent(KeyCode::Char(c), Modifiers::CTRL);
    let asks = |help| EventHandler::Conditional(Box::new(RequestKey { request: Arc::clone(&shared.request), help }));
    let takes = |key, whole| (Event::KeySeq(vec![key]), EventHandler::Conditional(Box::new(AcceptHintKey { whole })));
    [
        takes(control('E'), true),
        takes(KeyEvent(KeyCode::End, Modifiers::NONE), true),
        takes(KeyEvent(KeyCode::Char('f'), Modifiers::ALT), false),
        (Event::KeySeq(vec![control('X'), control('E')]), asks(false)),
        (Event::KeySeq(vec![KeyEvent(KeyCode::F(1), Modifiers::NONE)]), asks(true)),
        (
            Event::KeySeq(vec![control('C')]),
            EventHandler::Conditional(Box::new(InterruptKey { pressed: Arc::clone(&shared.stops) })),
        ),
        (
            Event::KeySeq(vec![KeyEvent(KeyCode::BracketedPasteStart, Modifiers::NONE)]),
            EventHandler::Conditional(Box::new(PasteMark { is_pasted: Arc::clone(&shared.is_pasted) })),
        ),
    ]
}

/// Keys that move forward and accept the hint at the end of the entry: all of it, or one word.
struct AcceptHintKey {
    whole: bool,
}

impl ConditionalEventHandler for AcceptHintKey {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let hint = context.hint_text().filter(|_| context.pos() == context.line().len())?;
        if self.whole {
            return Some(Cmd::CompleteHint);
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let start = hint.find(is_part).unwrap_or(hint.len());
        let rest = hint.get(start..).unwrap_or_default();
        let end = start + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        Some(Cmd::Insert(1, hint.get(..end).unwrap_or(hint).to_owned()))
    }
}

/// Handles Ctrl-C, which ends the entry unless the line editor is asking whether to list all completions. The editor
/// then waits for an answer, and in vi's command mode no letter counts as one. A second Ctrl-C therefore answers no,
/// and a third ends the entry.
struct InterruptKey {
    pressed: Arc<AtomicUsize>,
}

impl ConditionalEventHandler for InterruptKey {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        let pressed = self.pressed.fetch_add(1, Ordering::Relaxed);
        Some(if pressed.is_multiple_of(2) { Cmd::Interrupt } else { Cmd::Kill(Movement::BackwardChar(1)) })
    }
}

/// Notes the mark before pasted text, which the line editor then inserts.
struct PasteMark {
    is_pasted: Arc<AtomicBool>,
}

impl ConditionalEventHandler for PasteMark {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        self.is_pasted.store(true, Ordering::Relaxed);
        None
    }
}

struct RequestKey {
    request: Arc<Mutex<Option<Request>>>,
    help: bool,
}

impl ConditionalEventHandler for RequestKey {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let request = if self.help { Request::Help(context.pos()) } else { Request::Editor };
        *self.request.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
        // The prompt takes the entry out of the editor, handles the request, and puts the entry back.
        Some(Cmd::AcceptLine)
    }
}

/// The line editor's helper.
pub(crate) struct Assistant {
    shared: Rc<Shared>,
    history: HistoryHinter,
}

impl Assistant {
    pub(crate) fn new(shared: Rc<Shared>) -> Assistant {
        Assistant { shared, history: HistoryHinter::new() }
    }

    /// Returns whether Enter should continue on another line in place of running the entry.
    fn wants_more(&self, entry: &str) -> bool {
        let desk = &self.shared.desk;
        let is_pasted = self.shared.is_pasted.swap(false, Ordering::Relaxed);
        self.shared.is_unread.set(false);
        if self.shared.pace.is_pasted_result(entry) {
            return false;
        }
        if is_pasted && entry.len() > LONG {
            self.shared.is_unread.set(true);
            return false;
        }
        // One Enter runs a pasted block, and a second one a typed block.
        let completeness = if is_pasted { completeness_of_paste } else { completeness };
        completeness(&desk.session(), desk.language(), entry) == Completeness::Incomplete
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let wants_more = self.wants_more(context.input());
        Ok(if wants_more { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

/// A completion as shown in the list.
pub(crate) struct ListedCandidate {
    text: String,
    shown: String,
}

impl Candidate for ListedCandidate {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.text
    }
}

impl Completer for Assistant {
    type Candidate = ListedCandidate;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<ListedCandidate>)> {
        let desk = &self.shared.desk;
        let (start, found) = completions(&desk.session(), desk.language(), line, at, &paths);
        Ok((start, self.listed(found)))
    }
}

impl Assistant {
    /// Formats the completions in one column with their descriptions, as wide as the terminal.
    fn listed(&self, found: Vec<ListedCompletion>) -> Vec<ListedCandidate> {
        let widest = found.iter().map(|way| way.name.chars().count()).max().unwrap_or_default().min(30);
        let columns = self.shared.columns.get().saturating_sub(2).max(10);
        let shown = |way: &ListedCompletion| match way.doc.as_str() {
            "" => way.name.clone(),
            doc => format!("{:widest$}  {doc}", way.name),
        };
        found.into_iter().map(|way| ListedCandidate { shown: cut(&shown(&way), columns), text: way.text }).collect()
    }
}

/// Returns the files and folders whose path begins with `word`, and the number of its bytes to replace.
fn paths(word: &str) -> (usize, Vec<(String, String)>) {
    let (folder, name) = word.rsplit_once('/').map_or(("", word), |(folder, name)| (folder, name));
    let place = match folder {
        "" if word.starts_with('/') => Path::new("/").to_owned(),
        "" => Path::new(".").to_owned(),
        folder => match (folder.strip_prefix('~'), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => Path::new(folder).to_owned(),
        },
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let is_meant = file.starts_with(name) && (name.starts_with('.') || !file.starts_with('.'));
            let sign = if entry.path().is_dir() { "/" } else { "" };
            is_meant.then(|| (format!("{file}{sign}"), String::new()))
        })
        .take(1000)
        .collect();
    found.sort_unstable();
    (name.len(), found)
}

/// The hint shown after the cursor.
pub(crate) struct Ghost {
    shown: String,
    /// The text that the right arrow inserts.
    taken: Option<String>,
}

impl Hint for Ghost {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        self.taken.as_deref()
    }
}

impl Hinter for Assistant {
    type Hint = Ghost;

    fn hint(&self, line: &str, at: usize, context: &Context<'_>) -> Option<Ghost> {
        if !self.shared.has_hints || line.len() > LONG || at < line.len() || line.is_empty() {
            return None;
        }
        let last = line.rsplit('\n').next().unwrap_or_default().chars().count();
        // A hint that wraps would make the lines jump.
        let room = self.shared.columns.get().saturating_sub(last + 10);
        if let Some(rest) = self.history.hint(line, at, context) {
            // The first line identifies an entry of several lines.
            let first = rest.lines().next().unwrap_or_default();
            let more = if first.len() < rest.len() { " …" } else { "" };
            let shown = cut(&format!("{first}{more}"), room.max(1));
            return Some(Ghost { shown, taken: Some(rest) });
        }
        let desk = &self.shared.desk;
        let usages = usages(&desk.session(), desk.language(), line, at);
        let more = if usages.len() > 1 { format!("  (and {} more)", usages.len() - 1) } else { String::new() };
        // Show the overload with the most parameters: `sum`, for example, has one without `dim`.
        let richest = usages.iter().rev().max_by_key(|usage| usage.matches(',').count())?;
        let shown = cut(&format!("   {richest}{more}"), room);
        (room > 10).then_some(Ghost { shown, taken: None })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if !self.shared.is_coloured || line.len() > LONG || is_command(line) {
            return Cow::Borrowed(line);
        }
        Cow::Owned(highlighted(self.shared.desk.language(), line))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        if self.shared.is_coloured {
            Cow::Owned(prompt.style(Style::new().bold()).to_string())
        } else {
            Cow::Borrowed(prompt)
        }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.shared.is_coloured {
            Cow::Owned(hint.style(Style::new().dimmed()).to_string())
        } else {
            Cow::Borrowed(hint)
        }
    }

    fn highlight_candidate<'c>(&self, candidate: &'c str, _: CompletionType) -> Cow<'c, str> {
        match candidate.split_once("  ") {
            Some((name, doc)) if self.shared.is_coloured => {
                Cow::Owned(format!("{name}  {}", doc.style(Style::new().dimmed())))
            }
            _ => Cow::Borrowed(candidate),
        }
    }

    fn highlight_char(&self, line: &str, _: usize, kind: CmdKind) -> bool {
        self.shared.is_coloured && line.len() <= LONG && kind != CmdKind::MoveCursor
    }
}

impl Helper for Assistant {}

#[cfg(test)]
mod tests {
    use super::*;
    use session::Language;

    fn assistant(language: Language) -> Assistant {
        Assistant::new(Rc::new(Shared {
            desk: Desk::new(language, Vec::new(), Box::new(|_| {})),
            is_coloured: false,
            has_hints: true,
            columns: Cell::new(80),
            request: Arc::default(),
            stops: Arc::default(),
            is_pasted: Arc::default(),
            is_unread: Cell::default(),
            pace: TypingPace::default(),
        }))
    }

    #[test]
    fn files_complete_a_string() {
        let history = rustyline::history::MemHistory::new();
        let line = "open(\"Cargo.to";
        let (at, found) = assistant(Language::Rhai).complete(line, line.len(), &Context::new(&history)).unwrap();
        assert_eq!((at, found[0].text.as_str()), (6, "Cargo.toml"));
    }

    #[test]
    fn what_there_is_to_choose_from_stands_in_a_column() {
        let history = rustyline::history::MemHistory::new();
        let line = "torch.zeros(3).";
        let (_, found) = assistant(Language::Python).complete(line, line.len(), &Context::new(&history)).unwrap();
        assert!(found.iter().any(|choice| choice.shown.starts_with("views ") && choice.text.is_empty()));
        assert!(found.iter().all(|choice| choice.shown.chars().count() <= 78));
    }

    #[test]
    fn the_signature_of_an_open_call_is_hinted() {
        let history = rustyline::history::MemHistory::new();
        let hint = assistant(Language::Rhai).hint("torch.transpose(", 16, &Context::new(&history)).unwrap();
        assert!(hint.shown.contains("transpose(input, dim0, dim1)") && hint.taken.is_none(), "{}", hint.shown);
    }

    /// The assistant answers for any line: typed, cut and completed at random.
    #[test]
    fn any_line_is_assisted() {
        const PIECES: &[&str] = &[
            "t",
            "torch",
            ".",
            "(",
            ")",
            "[",
            "]",
            "{",
            "#{",
            "}",
            "'",
            "\"",
            "`",
            "\"\"\"",
            ":",
            "#",
            "//",
            "/*",
            ">>> ",
            "... ",
            "rhai> ",
            "In [1]: ",
            "\n",
            "_",
            " ",
            "1",
            "0x",
            "..",
            "=",
            ", ",
            "\\",
            "é",
            "漢",
            "\u{301}",
            "\u{1f469}\u{200d}\u{1f680}",
            "let x = ",
            "for i in ",
            "def f(a):\n",
            "fn f(",
            "|x| ",
            "lambda ",
            "torch.zeros(",
            "x.view(",
            ":load ",
            "?",
            "\0",
            "\t",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % limit.max(1) as u64) as usize
        };
        let history = rustyline::history::MemHistory::new();
        let context = Context::new(&history);
        for language in [Language::Rhai, Language::Python] {
            let assistant = assistant(language);
            let mut line = String::new();
            for step in 0..100_000 {
                let at = (0..=below(line.len() + 1)).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
                match below(20) {
                    0 => line.truncate(at),
                    1 if line.len() > 120 => line.clear(),
                    2 => line = line.split_off(at),
                    _ => line.insert_str(at, PIECES[below(PIECES.len())]),
                }
                let cursor = if step % 3 == 0 { at.min(line.len()) } else { line.len() };
                let cursor = (0..=cursor).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
                assistant.hint(&line, cursor, &context);
                highlighted(language, &line);
                if step % 50 == 0 {
                    assistant.wants_more(&line);
                    let (start, _) = assistant.complete(&line, cursor, &context).unwrap();
                    assert!(line.is_char_boundary(start) && start <= cursor, "{line:?} {cursor}");
                }
            }
        }
    }
}
