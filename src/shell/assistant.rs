//! Answers the line editor while an entry is typed: whether it is complete, how it could go on, how it looks. Looks
//! things up and evaluates nothing.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
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

use super::commands;
use super::help::uses;
use super::highlight::highlight;
use super::paste::{is_open_block, looks_printed, read_session, with_python_prompts};
use super::script::is_unfinished;
use super::table::cut;
use crate::session::{Candidate as Way, Completeness, Language, Session};

/// Entries longer than this (they were pasted) are neither coloured nor hinted at: each key press would read them whole.
const LONG: usize = 20_000;

/// The state that the prompt and the line editor share.
pub struct Shared {
    pub session: Rc<RefCell<Session>>,
    /// The language of an entry without a prompt of its own.
    pub language: Cell<Language>,
    pub is_coloured: bool,
    pub has_hints: bool,
    pub columns: Cell<usize>,
    /// A key asked for something that the prompt does, before the entry is run.
    pub request: Arc<Mutex<Option<Request>>>,
    /// The number of times Ctrl-C was pressed while this entry is edited.
    pub stops: Arc<AtomicUsize>,
    pub pace: Pace,
}

impl Shared {
    /// Takes the request of a key, once.
    pub fn take_request(&self) -> Option<Request> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A request of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// To edit the entry in the user's own editor.
    Editor,
    /// Help on the name at this byte.
    Help(usize),
}

/// The pace that tells a pasted line from a typed one.
#[derive(Default)]
pub struct Pace {
    /// The statement before came with a documentation prompt and printed something, so its recorded result may follow.
    pub after_result: Cell<bool>,
    /// The statement that runs has printed something.
    pub has_printed: Cell<bool>,
    /// The time when the line editor began to wait for the entry.
    pub since: Cell<Option<Instant>>,
}

impl Pace {
    /// Nobody types a line as fast.
    const HASTE: Duration = Duration::from_millis(50);

    /// Whether a line is the recorded result of the pasted statement before it.
    pub fn is_pasted_result(&self, line: &str) -> bool {
        self.after_result.get()
            && self.since.get().is_some_and(|since| since.elapsed() < Pace::HASTE)
            && looks_printed(line)
    }
}

/// The keys of our own, with what they ask for.
pub fn keys(shared: &Rc<Shared>) -> [(Event, EventHandler); 3] {
    let control = |c| KeyEvent(KeyCode::Char(c), Modifiers::CTRL);
    let asks = |help| EventHandler::Conditional(Box::new(Asks { request: Arc::clone(&shared.request), help }));
    [
        (Event::KeySeq(vec![control('X'), control('E')]), asks(false)),
        (Event::KeySeq(vec![KeyEvent(KeyCode::F(1), Modifiers::NONE)]), asks(true)),
        (
            Event::KeySeq(vec![control('C')]),
            EventHandler::Conditional(Box::new(Stops { pressed: Arc::clone(&shared.stops) })),
        ),
    ]
}

/// Ctrl-C ends the entry, unless the line editor has asked something: whether all ways to go on are to be listed. It waits
/// for an answer then, and in vi's command mode no letter is one. So a second Ctrl-C says no, and a third ends the entry.
struct Stops {
    pressed: Arc<AtomicUsize>,
}

impl ConditionalEventHandler for Stops {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        let pressed = self.pressed.fetch_add(1, Ordering::Relaxed);
        Some(if pressed.is_multiple_of(2) { Cmd::Interrupt } else { Cmd::Kill(Movement::BackwardChar(1)) })
    }
}

struct Asks {
    request: Arc<Mutex<Option<Request>>>,
    help: bool,
}

impl ConditionalEventHandler for Asks {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let request = if self.help { Request::Help(context.pos()) } else { Request::Editor };
        *self.request.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
        // The prompt takes the entry out of the editor, does what was asked, and puts it back.
        Some(Cmd::AcceptLine)
    }
}

/// The line editor's helper.
pub struct Assistant {
    shared: Rc<Shared>,
    history: HistoryHinter,
}

impl Assistant {
    pub fn new(shared: Rc<Shared>) -> Assistant {
        Assistant { shared, history: HistoryHinter::new() }
    }

    /// Whether Enter should go on with a further line instead of running the entry.
    fn wants_more(&self, entry: &str) -> bool {
        let session = self.shared.session.borrow();
        let is_unfinished = |language, source: &str| is_unfinished(&session, language, source);
        if entry.trim().is_empty() || commands::is_command(entry) || self.shared.pace.is_pasted_result(entry) {
            return false;
        }
        if let Some(pasted) = read_session(&with_python_prompts(entry), is_unfinished) {
            // The whole statements of a page are run, and an unfinished one at its end comes back to be finished.
            return match pasted.statements.as_slice() {
                [only] => only.takes_more(is_unfinished),
                _ => false,
            };
        }
        let language = self.shared.language.get();
        match session.completeness(language, entry) {
            // Python is taken without its prompt as well, and the body of a block ends with an empty line.
            Completeness::Complete => is_open_block(entry) && has_python_header(entry),
            Completeness::Incomplete => true,
            Completeness::Invalid => false,
        }
    }

    /// The language of the text at the cursor, the text behind its prompt, and how long that prompt is.
    fn input<'l>(&self, line: &'l str) -> (Language, &'l str, usize) {
        match line.strip_prefix(">>> ") {
            Some(rest) => (Language::Python, rest, line.len() - rest.len()),
            None => (self.shared.language.get(), line, 0),
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

/// A way to go on, as the list of them shows it.
pub struct Choice {
    text: String,
    shown: String,
}

impl Candidate for Choice {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.text
    }
}

impl Completer for Assistant {
    type Candidate = Choice;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Choice>)> {
        if let Some(found) = commands::complete(line, at) {
            let (start, found) = found;
            return Ok((start, self.choices(found)));
        }
        let (language, input, skipped) = self.input(line);
        let Ok(session) = self.shared.session.try_borrow() else { return Ok((at, Vec::new())) };
        let Some(at) = at.checked_sub(skipped) else { return Ok((at, Vec::new())) };
        let completion = session.complete(language, input, at);
        if completion.in_string {
            let word = input.get(completion.start..at).unwrap_or_default();
            let (length, found) = paths(word);
            return Ok((skipped + at - length, self.choices(found)));
        }
        let word = input.get(completion.start..at).unwrap_or_default();
        let found = folded(word, completion.candidates);
        Ok((skipped + completion.start, self.listed(found)))
    }
}

/// More ways to go on than this are not all listed one by one …
const MANY: usize = 40;
/// … but these many functions, and the others by their subjects.
const LIKELY: usize = 8;

/// A way to go on: what it is called in the list, what it puts into the line, and what there is to say.
type Entry = (String, String, String);

/// The ways to go on from a word, of functions the likely first. Where there are many, functions are told by their
/// subjects; a subject that is typed stands for them.
fn folded(word: &str, found: Vec<Way>) -> Vec<Entry> {
    let all = found.len();
    let (mut functions, mut ways): (Vec<Way>, Vec<Way>) = found.into_iter().partition(|way| !way.subject.is_empty());
    let is_one_subject = functions.windows(2).all(|pair| matches!(pair, [a, b] if a.subject == b.subject));
    functions.sort_by_cached_key(|way| Reverse(uses(&way.text)));
    let listed = if all > MANY && !is_one_subject { LIKELY.min(functions.len()) } else { functions.len() };
    let others = functions.split_off(listed);
    ways.extend(functions);
    let mut subjects: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for way in &others {
        subjects.entry(way.subject).or_default().push(&way.text);
    }
    // What stands for a subject leaves the word as it is.
    let told = subjects.iter().map(|(subject, names)| {
        ((*subject).to_owned(), word.to_owned(), format!("{}: {}", names.len(), names.join(" ")))
    });
    ways.into_iter().map(|way| (way.text.clone(), way.text, way.doc)).chain(told).collect()
}

impl Assistant {
    fn choices(&self, found: Vec<(String, String)>) -> Vec<Choice> {
        self.listed(found.into_iter().map(|(text, doc)| (text.clone(), text, doc)).collect())
    }

    /// The ways to go on in one column, each with what it is, as wide as the terminal.
    fn listed(&self, found: Vec<Entry>) -> Vec<Choice> {
        let widest = found.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or_default().min(30);
        let columns = self.shared.columns.get().saturating_sub(2).max(10);
        let shown =
            |name: &str, doc: &str| if doc.is_empty() { name.to_owned() } else { format!("{name:widest$}  {doc}") };
        found.into_iter().map(|(name, text, doc)| Choice { shown: cut(&shown(&name, &doc), columns), text }).collect()
    }
}

/// Files and folders whose path begins with `word`, and how many of its bytes are the name that they replace.
pub fn paths(word: &str) -> (usize, Vec<(String, String)>) {
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

/// Ghost text behind the cursor.
pub struct Ghost {
    shown: String,
    /// The text that the right arrow puts into the line.
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
        if let Some(rest) = self.history.hint(line, at, context) {
            // Of an entry of several lines the first is enough to tell it by.
            let shown = rest.lines().next().unwrap_or_default().to_owned();
            return Some(Ghost { shown, taken: Some(rest) });
        }
        let (language, input, skipped) = self.input(line);
        let session = self.shared.session.try_borrow().ok()?;
        let usages = session.call_hint(language, input, at.checked_sub(skipped)?)?;
        let more = if usages.len() > 1 { format!("  (and {} more)", usages.len() - 1) } else { String::new() };
        let last = line.rsplit('\n').next().unwrap_or_default().chars().count();
        // A hint that would wrap pushes the lines around.
        let room = self.shared.columns.get().saturating_sub(last + 10);
        let shown = cut(&format!("   {}{more}", usages.first()?), room);
        (room > 10).then_some(Ghost { shown, taken: None })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if !self.shared.is_coloured || line.len() > LONG || commands::is_command(line) {
            return Cow::Borrowed(line);
        }
        Cow::Owned(highlight(self.shared.language.get(), line))
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
    use crate::session::SessionOptions;

    fn assistant(language: Language) -> Assistant {
        Assistant::new(Rc::new(Shared {
            session: Rc::new(RefCell::new(Session::new(SessionOptions::default()))),
            language: Cell::new(language),
            is_coloured: false,
            has_hints: true,
            columns: Cell::new(80),
            request: Arc::default(),
            stops: Arc::default(),
            pace: Pace::default(),
        }))
    }

    #[test]
    fn entries_go_on_until_they_are_complete() {
        let assistant = assistant(Language::Rhai);
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
            (">>> x\n>>> f(", false),
            ("for i in range(3):", true),
            ("for i in range(3):  # thrice\n    print(i)", true),
            ("for i in range(3):\n    print(i)\n", false),
            ("for i in 0..3 {\n  print(i);", true),
            ("for i in 0..3 {\n  print(i);\n}", false),
            (":time [1,", false),
        ] {
            assert_eq!(assistant.wants_more(entry), wanted, "{entry:?}");
        }
    }

    #[test]
    fn completion() {
        let rows = [
            (Language::Rhai, "torch.zero", 6, "zeros"),
            (Language::Python, ">>> x = tor", 8, "torch"),
            (Language::Python, "torch.zeros(3, dt", 15, "dtype="),
            (Language::Rhai, "torch.zeros(3, #{dt", 17, "dtype: "),
            (Language::Rhai, "torch.zeros(3, dt", 15, "dtype="),
            (Language::Rhai, "torch.zeros(3, dtype=int", 21, "int32"),
            (Language::Rhai, "torch.zeros(3, #{dtype: torch.int", 30, "int32"),
            (Language::Python, "torch.zeros(3, dtype=", 21, "torch.int32"),
            (Language::Python, "torch.zeros(3, dtype=int", 21, "torch.int32"),
            (Language::Python, "torch.zeros(3, pin_memory=", 26, "False"),
            (Language::Python, "torch.zeros(3).bernou", 15, "bernoulli"),
            // What begins with nothing known is searched for.
            (Language::Python, "torch.zeros(3).s_contig", 15, "is_contiguous"),
            (Language::Python, "torch.zeros(3).views", 15, "transpose"),
            (Language::Rhai, "torch.floa", 6, "float32"),
            (Language::Rhai, ":he", 0, ":help"),
            (Language::Rhai, "open(\"Cargo.to", 6, "Cargo.toml"),
        ];
        let history = rustyline::history::MemHistory::new();
        for (language, line, start, wanted) in rows {
            let (at, found) = assistant(language).complete(line, line.len(), &Context::new(&history)).unwrap();
            assert_eq!(at, start, "{line}");
            assert!(found.iter().any(|choice| choice.text == wanted), "{line}");
        }
    }

    #[test]
    fn many_ways_are_told_by_their_subjects() {
        let history = rustyline::history::MemHistory::new();
        let complete =
            |line: &str| assistant(Language::Python).complete(line, line.len(), &Context::new(&history)).unwrap().1;
        let all = complete("torch.zeros(3).");
        assert!(all.len() < 40, "{}", all.len());
        assert!(all.iter().take(LIKELY).any(|choice| choice.text == "view"), "{:?}", all.first().map(|c| &c.shown));
        let views = all.iter().find(|choice| choice.shown.starts_with("views ")).unwrap();
        assert_eq!(views.text, "");
        // A value of the keyword is all that can stand there.
        let dtypes = complete("torch.zeros(3, dtype=torch.");
        assert!(dtypes.iter().all(|choice| choice.shown.ends_with("dtype")) && dtypes.len() > 10);
    }

    #[test]
    fn the_signature_of_an_open_call_is_hinted() {
        let history = rustyline::history::MemHistory::new();
        let hint = assistant(Language::Rhai).hint("torch.transpose(", 16, &Context::new(&history)).unwrap();
        assert!(hint.shown.contains("transpose(input, dim0, dim1)") && hint.taken.is_none(), "{}", hint.shown);
    }

    /// Typed, cut and completed at random: whatever stands in the line, the assistant answers.
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
                highlight(language, &line);
                if step % 50 == 0 {
                    assistant.wants_more(&line);
                    let (start, _) = assistant.complete(&line, cursor, &context).unwrap();
                    assert!(line.is_char_boundary(start) && start <= cursor, "{line:?} {cursor}");
                }
            }
        }
    }
}
