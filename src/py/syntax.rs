//! Reads Python source: gives its syntax tree, or the one fault that CPython 3.11 reports, in its words and at its
//! place, and tells whether more lines could mend the fault.
//!
//! The tree is ruff's. Where ruff finds a fault, or accepts what Python 3.11 does not, `diagnose` reads the source once
//! more as CPython does and finds the words.
//!
//! It must not know what becomes of the tree: nothing here evaluates, translates or asks for variables.

mod captures;
mod check;
mod compound;
mod depth;
mod displays;
mod expressions;
mod flow;
mod node;
mod parameters;
mod patterns;
mod raised;
mod reader;
mod scopes;
mod statements;
mod strings;
mod tokens;
mod unfinished;

use crate::tensor::interrupt;
use raised::Text;
use reader::Reader;
use ruff_python_ast::{ModModule, PythonVersion, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::Ranged;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Sources from this length on are parsed on a thread of its own, which Ctrl-C leaves behind: the parser itself cannot be
/// stopped.
const LONG: usize = 1 << 18;

/// Address space for the deepest syntax tree there may be; pages that are never touched cost no memory.
const PARSER_STACK: usize = 1 << 28;

/// The reason why a source is not Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// `SyntaxError`, `IndentationError`, `TabError`; `NotImplementedError`, which only those who use the tree give;
    /// `KeyboardInterrupt`.
    pub kind: &'static str,
    pub message: String,
    /// The place in the source, in bytes: where CPython's caret begins. At most the length of the source.
    pub offset: usize,
    /// More lines could make this right: an open bracket, an open triple quote, a header without its body, a
    /// backslash at the end.
    pub incomplete: bool,
}

impl SyntaxFault {
    pub fn new(kind: &'static str, message: impl Into<String>, offset: usize) -> Self {
        Self { kind, message: message.into(), offset, incomplete: false }
    }

    pub fn syntax(message: impl Into<String>, offset: usize) -> Self {
        Self::new("SyntaxError", message, offset)
    }

    /// What Python has, and this shell has not. `construct` is a plural: "match statements".
    pub fn unsupported(construct: &str, node: &impl Ranged) -> Self {
        let message = format!("{construct} are not supported at this prompt");
        Self::new("NotImplementedError", message, node.range().start().to_usize())
    }

    /// Ctrl-C came before the whole source was read.
    pub fn stopped() -> Self {
        Self::new("KeyboardInterrupt", "", 0)
    }
}

/// The syntax tree of a source. A fault anywhere means that there is none, as Python compiles the whole input before it
/// runs any of it.
///
/// # Errors
/// The one [`SyntaxFault`] that CPython reports; Ctrl-C while a long source is read.
pub fn parse(source: &str) -> Result<Parsed<ModModule>, SyntaxFault> {
    if source.len() < LONG {
        return read(source);
    }
    let (sender, receiver) = mpsc::channel();
    let text = source.to_owned();
    let helper = thread::Builder::new().name("parser".to_owned()).stack_size(PARSER_STACK);
    // Nobody may wait for it any more.
    let Ok(_detached) = helper.spawn(move || drop(sender.send(read(&text)))) else { return read(source) };
    loop {
        match receiver.recv_timeout(Duration::from_millis(10)) {
            Ok(parsed) => return parsed,
            Err(_) if interrupt::requested() => return Err(SyntaxFault::stopped()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return read(source),
        }
    }
}

/// Whether a prompt waits for a blank line before it runs this: the last statement is a compound one, which could go
/// on. False for faulty source, about which [`SyntaxFault::incomplete`] tells.
pub fn awaits_blank_line(source: &str) -> bool {
    let last_line = source.lines().next_back().unwrap_or_default();
    if last_line.trim().is_empty() {
        return false;
    }
    let Ok(parsed) = parse(source) else { return false };
    parsed.syntax().body.last().is_some_and(|statement| {
        matches!(
            statement,
            Stmt::FunctionDef(_)
                | Stmt::ClassDef(_)
                | Stmt::If(_)
                | Stmt::For(_)
                | Stmt::While(_)
                | Stmt::With(_)
                | Stmt::Try(_)
                | Stmt::Match(_)
        )
    })
}

/// Drops what may be large on a thread of its own: whoever pressed Ctrl-C does not wait for it.
pub fn abandon<T: Send + 'static>(bulk: T) {
    // Without a thread it is dropped here.
    let _ = thread::Builder::new().name("abandoned".to_owned()).spawn(move || drop(bulk));
}

fn read(source: &str) -> Result<Parsed<ModModule>, SyntaxFault> {
    depth::check(source)?;
    let parsed = parse_unchecked(source, options());
    let first = parsed.errors().iter().min_by_key(|error| start(*error));
    let newer = parsed.unsupported_syntax_errors().iter().map(start).min();
    if first.is_some() || newer.is_some() {
        if let Some(fault) = diagnose(source) {
            let incomplete = first.is_some_and(|first| unfinished::could_be_mended(source, first, parsed.tokens()));
            return Err(SyntaxFault { incomplete, ..fault });
        }
    }
    let refused = first.map(start).or(newer);
    let Some(parsed) = parsed.try_into_module() else { return Err(SyntaxFault::syntax("invalid syntax", 0)) };
    let checked = check::check(parsed.syntax(), source);
    // What the grammar refuses comes before what the checks refuse, wherever it stands.
    if !matches!(checked, Ok(false))
        && let Some(fault) = diagnose(source)
    {
        return Err(fault);
    }
    checked?;
    match refused {
        // The grammar accepts it, and so do the checks; but there is no whole tree.
        Some(at) => Err(SyntaxFault::syntax("invalid syntax", at)),
        None => Ok(parsed),
    }
}

/// The fault that CPython finds in a source, read by its grammar.
fn diagnose(source: &str) -> Option<SyntaxFault> {
    let text = Text::of(source);
    let look = || {
        let mut fault = SyntaxFault::from(Reader::new(&text.text, false).fault_of(Reader::file)?);
        fault.offset = source.floor_char_boundary(text.place(fault.offset));
        Some(fault)
    };
    // The grammar recurses through a function for every way to read what stands in a bracket.
    thread::scope(|scope| {
        let helper = thread::Builder::new().name("grammar".to_owned()).stack_size(PARSER_STACK);
        helper.spawn_scoped(scope, look).ok()?.join().ok()?
    })
}

/// How ruff is to read a source: whole files, as Python 3.11 has them.
fn options() -> ParseOptions {
    ParseOptions::from(Mode::Module).with_target_version(PythonVersion::PY311)
}

/// Returns where a node starts in the source, in bytes.
fn start(node: &impl Ranged) -> usize {
    node.range().start().to_usize()
}

/// Returns where a node ends in the source, in bytes.
fn end(node: &impl Ranged) -> usize {
    node.range().end().to_usize()
}

/// Leaves with a SyntaxError at a place of the source.
#[macro_export]
macro_rules! bail_syntax {
    ($place:expr, $($message:tt)+) => {
        return Err($crate::py::syntax::SyntaxFault::syntax(format!($($message)+), $place as usize))
    };
}
