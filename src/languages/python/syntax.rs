//! Reads Python source: gives its syntax tree, or the one fault that CPython 3.11 reports, in its words and at its
//! place, and tells whether more lines could mend the fault.
//!
//! The tree is ruff's. Where ruff finds a fault, or accepts what Python 3.11 does not, `words` finds what CPython says.
//!
//! It must not know what becomes of the tree: nothing here evaluates, translates or asks for variables.

mod check;
pub(super) mod depth;
pub mod scope;
mod tokens;
mod words;

use ruff_python_ast::helpers::is_compound_statement;
use ruff_python_ast::{ModModule, PythonVersion};
use ruff_python_parser::{Mode, ParseError, ParseErrorType, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::Ranged;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use tensor::interrupt;
use words::Refused;

/// Sources from this length on are parsed on a thread of its own, which Ctrl-C leaves behind: the parser itself cannot be
/// stopped.
const LONG: usize = 1 << 18;

/// Address space for the deepest syntax tree there may be; pages that are never touched cost no memory.
const PARSER_STACK: usize = 1 << 28;

/// Which part of CPython finds a fault: faults of the compiler come only when the whole source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Grammar,
    Compiler,
}

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
    pub stage: Stage,
}

impl SyntaxFault {
    pub fn new(kind: &'static str, message: impl Into<String>, offset: usize) -> Self {
        Self { kind, message: message.into(), offset, incomplete: false, stage: Stage::Grammar }
    }

    pub fn syntax(message: impl Into<String>, offset: usize) -> Self {
        Self::new("SyntaxError", message, offset)
    }

    /// What only CPython's compiler refuses.
    fn of_compiler(message: impl Into<String>, offset: usize) -> Self {
        Self { stage: Stage::Compiler, ..Self::syntax(message, offset) }
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
    // The receiver may be gone.
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
    parsed.syntax().body.last().is_some_and(is_compound_statement)
}

/// Drops a possibly large value on its own thread, so that Ctrl-C returns at once.
pub fn abandon<T: Send + 'static>(bulk: T) {
    // Without a thread it is dropped here.
    let _ = thread::Builder::new().name("abandoned".to_owned()).spawn(move || drop(bulk));
}

fn read(source: &str) -> Result<Parsed<ModModule>, SyntaxFault> {
    depth::check(source)?;
    let parsed = parse_unchecked(source, options());
    // CPython complains of a comprehension without brackets only where the rest is in order.
    let bare = |error: &ParseError| error.error == ParseErrorType::UnparenthesizedGeneratorExpression;
    let first = parsed.errors().iter().min_by_key(|error| (bare(error), start(*error)));
    if let Some(first) = first {
        return Err(words::fault(source, &Refused::Wrong(&first.error, first.location)));
    }
    if let Some(newer) = parsed.unsupported_syntax_errors().iter().min_by_key(|error| start(*error)) {
        return Err(words::fault(source, &Refused::Newer(&newer.kind, newer.range)));
    }
    let module = parsed.try_into_module().ok_or_else(|| SyntaxFault::syntax("invalid syntax", 0))?;
    check::check(module.syntax())?;
    Ok(module)
}

/// How ruff is to read a source: whole files, as Python 3.11 has them.
fn options() -> ParseOptions {
    ParseOptions::from(Mode::Module).with_target_version(PythonVersion::PY311)
}

/// Returns where a node starts in the source, in bytes.
fn start(node: &impl Ranged) -> usize {
    node.range().start().to_usize()
}
