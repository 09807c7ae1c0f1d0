//! Parses Python source. Returns the syntax tree, or the one fault that CPython 3.11 reports, with its message and
//! position, and whether more lines could fix it.
//!
//! ruff parses the tree. If ruff finds a fault, or accepts something that Python 3.11 does not, `words` finds CPython's
//! message.
//!
//! Nothing here evaluates, translates or looks up variables.

mod check;
pub(super) mod depth;
pub(crate) mod outline;
pub mod scope;
mod tokens;
mod words;

use ruff_python_ast::helpers::is_compound_statement;
use ruff_python_ast::{ModModule, PythonVersion, Stmt};
use ruff_python_parser::{Mode, ParseError, ParseErrorType, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::Ranged;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use tensor::interrupt;
use words::ParserFault;

/// Sources of at least this length are parsed on a separate thread, which Ctrl-C abandons: the parser itself cannot be
/// interrupted.
const LONG: usize = 1 << 18;

/// Address space for the deepest syntax tree allowed. Untouched pages use no memory.
const PARSER_STACK: usize = 1 << 28;

/// The part of CPython that reports a fault. The compiler reports its faults only after the whole source is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Grammar,
    Compiler,
}

/// The reason why a source is not Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// `SyntaxError`, `IndentationError` or `TabError`; `NotImplementedError`, which only users of the tree return; or
    /// `KeyboardInterrupt`.
    pub kind: &'static str,
    pub message: String,
    /// The byte offset in the source of CPython's caret. At most the length of the source.
    pub offset: usize,
    /// Whether more lines could fix the fault: an open bracket, an open triple quote, a header without its body, a
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

    /// A fault that only CPython's compiler reports.
    fn of_compiler(message: impl Into<String>, offset: usize) -> Self {
        Self { stage: Stage::Compiler, ..Self::syntax(message, offset) }
    }

    /// A Python feature that this shell lacks. `construct` is a plural: "match statements".
    pub fn unsupported(construct: &str, node: &impl Ranged) -> Self {
        let message = format!("{construct} are not supported at this prompt");
        Self::new("NotImplementedError", message, node.range().start().to_usize())
    }

    /// The fault if Ctrl-C came before the whole source was parsed.
    pub fn stopped() -> Self {
        Self::new("KeyboardInterrupt", "", 0)
    }
}

/// Parses a source. Any fault rejects the whole source, like Python, which compiles the whole input before running any
/// of it.
///
/// # Errors
/// Fails with the one [`SyntaxFault`] that CPython reports, or if Ctrl-C comes while a long source is parsed.
pub fn parse(source: &str) -> Result<Parsed<ModModule>, SyntaxFault> {
    if !is_long(source) {
        return read(source);
    }
    let (sender, receiver) = mpsc::channel();
    let text = source.to_owned();
    let helper = thread::Builder::new().name("parser".to_owned()).stack_size(PARSER_STACK);
    // Sending fails if the receiver has given up; that is fine.
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

/// Parses a source that is part of the program, which a test has parsed with [`parse`].
///
/// # Errors
/// Fails with a [`SyntaxFault`] if the source is not Python after all.
pub(crate) fn parse_known(source: &str) -> Result<ModModule, SyntaxFault> {
    let parsed = parse_unchecked(source, options());
    if let Some(first) = parsed.errors().first() {
        return Err(words::fault(source, &ParserFault::Wrong(&first.error, first.location)));
    }
    let module = parsed.try_into_module().ok_or_else(|| SyntaxFault::syntax("invalid syntax", 0))?;
    Ok(module.into_syntax())
}

/// Returns whether a prompt waits for a blank line before it runs this: the last statement is a compound one and could
/// continue. False for faulty source, for which [`SyntaxFault::incomplete`] is set.
pub fn awaits_blank_line(source: &str) -> bool {
    let last_line = source.lines().next_back().unwrap_or_default();
    if last_line.trim().is_empty() {
        return false;
    }
    let Ok(parsed) = parse(source) else { return false };
    parsed.syntax().body.last().is_some_and(is_compound_statement)
}

/// Returns whether a source is one expression, whose value a prompt would show.
pub fn is_expression(source: &str) -> bool {
    parse(source).is_ok_and(|parsed| matches!(parsed.syntax().body.as_slice(), [Stmt::Expr(_)]))
}

/// Returns whether a source is long enough for Ctrl-C to come while it is read.
pub fn is_long(source: &str) -> bool {
    source.len() >= LONG
}

/// Drops a possibly large value on its own thread, so that Ctrl-C returns at once.
pub fn abandon<T: Send + 'static>(bulk: T) {
    // If no thread can be started, the value is dropped here.
    let _ = thread::Builder::new().name("abandoned".to_owned()).spawn(move || drop(bulk));
}

fn read(source: &str) -> Result<Parsed<ModModule>, SyntaxFault> {
    depth::check(source)?;
    let parsed = parse_unchecked(source, options());
    // CPython reports an unparenthesized generator only if everything else is correct.
    let bare = |error: &ParseError| error.error == ParseErrorType::UnparenthesizedGeneratorExpression;
    let first = parsed.errors().iter().min_by_key(|error| (bare(error), start(*error)));
    if let Some(first) = first {
        return Err(words::fault(source, &ParserFault::Wrong(&first.error, first.location)));
    }
    if let Some(newer) = parsed.unsupported_syntax_errors().iter().min_by_key(|error| start(*error)) {
        return Err(words::fault(source, &ParserFault::Newer(&newer.kind, newer.range)));
    }
    let module = parsed.try_into_module().ok_or_else(|| SyntaxFault::syntax("invalid syntax", 0))?;
    check::check(module.syntax())?;
    Ok(module)
}

/// Options for ruff: whole files, in Python 3.11.
fn options() -> ParseOptions {
    ParseOptions::from(Mode::Module).with_target_version(PythonVersion::PY311)
}

/// Returns where a node starts in the source, in bytes.
fn start(node: &impl Ranged) -> usize {
    node.range().start().to_usize()
}
