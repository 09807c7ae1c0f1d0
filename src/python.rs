//! Turns what stands after `>>> ` in a documentation session, Python, into the Rhai text that means the same.
//!
//! The grammar is a real Python parser's; this room only writes. Every statement of the input becomes one
//! [`Statement`], to be run in order. The Rhai text is shown to learners, so it keeps the shape and the names of the
//! Python wherever Rhai allows it, and calls a function of the engine (`truth`, `iter`, `unpack`, `__floordiv__` …)
//! where the two languages mean different things.
//!
//! It must not know what a tensor is, which functions exist, or how anything is evaluated: the one thing it may ask
//! is whether a variable is already defined.
//!
//! The rooms: [`guard`] looks at the source before and after parsing (depth, faults, "is there more to come?"),
//! `names` spells Python's names in Rhai, `scope` remembers what is defined where, `writer` collects text and its
//! way back to the source, and `expression`, `subscript`, `call`, `literal`, `comprehension`, `statement`,
//! `target`, `block`, `function` each write one kind of construct.

mod block;
mod call;
mod class;
mod comprehension;
mod expression;
mod function;
mod guard;
mod literal;
mod names;
mod scope;
mod statement;
mod subscript;
mod target;
mod writer;

use crate::tensor::interrupt;
use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::Ranged;

pub use names::is_bare as is_bare_call;
pub use names::original as original_name;
use scope::Scope;
use std::collections::HashSet;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
pub use writer::SourceMap;
use writer::Writer;

/// Sources from this length on are parsed on a thread of its own, which Ctrl-C leaves behind: the parser itself cannot be
/// stopped.
const LONG: usize = 1 << 18;

/// Address space for the deepest syntax tree there may be; pages that are never touched cost no memory.
const PARSER_STACK: usize = 1 << 28;

/// One statement of the input, in source order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// Rhai text to evaluate.
    Run {
        rhai: String,
        /// The statement is an expression: a prompt shows its value unless that is `()`.
        echo: bool,
        map: SourceMap,
        /// The variables the statement assigns, spelled as in the Rhai text.
        names: Vec<String>,
        /// The variables of the session that functions in it assign, likewise.
        globals: Vec<String>,
    },
    /// `del a, b`: these variables, spelled as in Rhai, are to leave the scope. Also used to remove a temporary that
    /// the statement before it needed. A name that is not there is Python's NameError, at this place of the source, in bytes.
    Delete { names: Vec<String>, offset: usize },
}

/// The reason why the input cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// `SyntaxError`; `NotImplementedError` for a construct of Python that has no translation; `KeyboardInterrupt`.
    pub kind: &'static str,
    pub message: String,
    /// The position in the Python source, in bytes.
    pub offset: usize,
    /// More lines could make this right: an open bracket, an open triple quote, a header without its body, a
    /// backslash at the end.
    pub incomplete: bool,
}

impl SyntaxFault {
    fn syntax(message: impl Into<String>, offset: usize) -> Self {
        Self { kind: "SyntaxError", message: message.into(), offset, incomplete: false }
    }

    /// Ctrl-C came before the whole source was translated.
    fn stopped() -> Self {
        Self { kind: "KeyboardInterrupt", ..Self::syntax("", 0) }
    }

    /// `construct` is a plural: "class definitions".
    fn unsupported(construct: &str, node: &impl Ranged) -> Self {
        Self {
            kind: "NotImplementedError",
            message: format!("{construct} are not supported at this prompt"),
            offset: start(node),
            incomplete: false,
        }
    }
}

/// The answer of every writing function: nothing, or the reason to give up.
type Written = Result<(), SyntaxFault>;

/// Translates Python source to Rhai statements.
///
/// `is_defined` tells whether the session has a variable of that name; names are spelled as Rhai has them, that is as
/// in [`Statement::Run`]'s `names`. Blank input and comments give no statements. Nothing is evaluated, and a fault
/// anywhere means that no statement is given at all, as Python compiles the whole input before running it.
///
/// # Errors
/// The first [`SyntaxFault`] of the source.
pub fn translate(source: &str, is_defined: &dyn Fn(&str) -> bool) -> Result<Vec<Statement>, SyntaxFault> {
    let parsed = parsed(source)?;
    if let Some(fault) = guard::first_fault(source, parsed.errors(), parsed.tokens()) {
        return Err(fault);
    }
    let Some(module) = parsed.syntax().as_module() else {
        return Ok(Vec::new());
    };
    let mut translator = Translator {
        source,
        scope: Scope::new(is_defined),
        out: Writer::default(),
        statements: Vec::new(),
        temporaries: Vec::new(),
        leftovers: Vec::new(),
        globals: Vec::new(),
        methods: HashSet::new(),
        blocks: 0,
        depth: 0,
    };
    for statement in &module.body {
        if interrupt::requested() {
            abandon(translator.statements);
            abandon(parsed);
            return Err(SyntaxFault::stopped());
        }
        translator.top_level(statement)?;
    }
    Ok(translator.statements)
}

/// Drops what may be large on a thread of its own: whoever pressed Ctrl-C does not wait for it.
pub fn abandon<T: Send + 'static>(bulk: T) {
    // Without a thread it is dropped here.
    let _ = thread::Builder::new().name("abandoned".to_owned()).spawn(move || drop(bulk));
}

/// The syntax tree of a source that is shallow enough to have one.
fn parsed(source: &str) -> Result<Parsed<Mod>, SyntaxFault> {
    let parse = |source: &str| {
        guard::check_depth(source)?;
        Ok(parse_unchecked(source, ParseOptions::from(Mode::Module)))
    };
    if source.len() < LONG {
        return parse(source);
    }
    let (sender, receiver) = mpsc::channel();
    let text = source.to_owned();
    let helper = thread::Builder::new().name("parser".to_owned()).stack_size(PARSER_STACK);
    // Nobody may wait for it any more.
    let Ok(_detached) = helper.spawn(move || drop(sender.send(parse(&text)))) else { return parse(source) };
    loop {
        match receiver.recv_timeout(Duration::from_millis(10)) {
            Ok(parsed) => return parsed,
            Err(_) if interrupt::requested() => return Err(SyntaxFault::stopped()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return parse(source),
        }
    }
}

/// Whether a prompt waits for a blank line before it runs this: the last statement is a compound one, which could go
/// on. False for faulty source, about which [`SyntaxFault::incomplete`] tells.
pub fn awaits_blank_line(source: &str) -> bool {
    let last_line = source.lines().next_back().unwrap_or_default();
    if last_line.trim().is_empty() || guard::check_depth(source).is_err() {
        return false;
    }
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module));
    let last = parsed.syntax().as_module().and_then(|m| m.body.last());
    parsed.has_valid_syntax()
        && last.is_some_and(|statement| {
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

/// The state that the writing functions share.
struct Translator<'a> {
    source: &'a str,
    scope: Scope<'a>,
    /// The text of the statement being written.
    out: Writer,
    statements: Vec<Statement>,
    /// The temporaries the current simple statement has named so far.
    temporaries: Vec<String>,
    /// The temporaries of the current top-level statement that would stay in the session.
    leftovers: Vec<String>,
    /// The variables that `global` statements of the current top-level statement name.
    globals: Vec<String>,
    /// The Rhai functions of the methods of the current top-level statement.
    methods: HashSet<String>,
    /// Loops, `with` and `try` blocks around the statement being written.
    blocks: usize,
    /// Expressions around the expression being written.
    depth: usize,
}

/// Returns where a node starts in the source, in bytes.
fn start(node: &impl Ranged) -> usize {
    node.range().start().to_usize()
}

/// Returns where a node ends in the source, in bytes.
fn end(node: &impl Ranged) -> usize {
    node.range().end().to_usize()
}
