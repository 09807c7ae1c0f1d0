//! Compiles the syntax tree of an input: each function, class body and comprehension becomes a [`Code`]. Statements are
//! in `compile/statements.rs`, blocks that can be left early in `compile/blocks.rs`, expressions in
//! `compile/expressions.rs`, `match` in `compile/patterns.rs`, names and targets in `compile/names.rs`, functions and classes in `compile/functions.rs`.
//! Knows nothing about how code runs.

mod blocks;
mod expressions;
mod functions;
mod names;
mod patterns;
mod statements;

use super::code::{Code, Late, Name, Op, Parameters};
use super::syntax::outline::Outline;
use super::syntax::scope::{MODULE, Scope, ScopeKind, Scopes, scopes};
use super::syntax::{self, SyntaxFault};
use blocks::Block;
use call::{Kind, Receiver, Registry};
use ruff_python_ast::{ModModule, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;
use tensor::interrupt;
use value::{Tuple, Value};

/// The constant with the empty list of keywords.
const NO_NAMES: u32 = 0;

type Compiled = Result<(), SyntaxFault>;

/// Assigns slots to the variables of the session.
pub(crate) type SlotOf<'a> = &'a mut dyn FnMut(&str) -> u32;

/// The statements whose values are shown, if they are expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// None, like in a script.
    Nothing,
    /// All outside functions and classes, like at a prompt.
    Every,
    /// The last one, unless a semicolon follows it, like in a cell of a notebook.
    Last,
    /// None; the value of the one expression is the result, like that of `eval`.
    Result,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A module: its names are the variables.
    Module,
    /// Code that `exec` runs with names of its own.
    Namespace,
}

/// Compiles an input.
///
/// # Errors
/// Fails with NotImplementedError for unsupported constructs, and with SyntaxError for faults that only CPython's
/// compiler reports.
pub fn compile(
    module: &ModModule,
    source: &Rc<str>,
    registry: &'static Registry,
    slot_of: SlotOf,
    shows: Shows,
    unit: Unit,
) -> Result<Rc<Code>, SyntaxFault> {
    let mut scopes = scopes(module, None);
    if unit == Unit::Namespace {
        scopes.look_in_namespace();
    }
    let unit = CodeBuilder::new(&scopes, source, None, (MODULE, "<module>", Parameters::default()));
    let last = module.body.last().filter(|last| last.is_expr_stmt() && !is_muted(source, last)).map(source_offset);
    let mut compiler = Compiler { shows, last, ..Compiler::new(&scopes, source, registry, slot_of, unit) };
    match shows {
        Shows::Nothing => compiler.documented_body(&module.body)?,
        Shows::Every | Shows::Last | Shows::Result => compiler.body(&module.body)?,
    }
    compiler.ends(0);
    Ok(Rc::new(compiler.unit.code))
}

/// Compiles a module that is part of the program. Its functions are compiled by [`compile_late`] when they are first called.
///
/// # Errors
/// Fails like [`compile`].
pub(super) fn compile_known(
    source: &Rc<str>,
    registry: &'static Registry,
    slot_of: SlotOf,
) -> Result<Rc<Code>, SyntaxFault> {
    let outline = Outline::of(source);
    let module = syntax::parse_known(&outline.text)?;
    let scopes = scopes(&module, Some(&outline));
    let unit = CodeBuilder::new(&scopes, source, None, (MODULE, "<module>", Parameters::default()));
    let mut compiler = Compiler::new(&scopes, source, registry, slot_of, unit);
    compiler.documented_body(&module.body)?;
    compiler.ends(0);
    Ok(Rc::new(compiler.unit.code))
}

/// Compiles the function of an outline.
///
/// # Errors
/// Fails like [`compile`].
pub(super) fn compile_late(
    outlined: &Code,
    late: &Late,
    registry: &'static Registry,
    slot_of: SlotOf,
) -> Result<Rc<Code>, SyntaxFault> {
    // What encloses the function in its module, as far as it matters.
    let header = match (late.is_indented, late.is_method) {
        (false, _) => "",
        (true, false) => "if 1:\n",
        (true, true) => "class C:\n",
    };
    let text = format!("{header}{}", outlined.source.get(late.range.clone()).unwrap_or_default());
    let module = syntax::parse_known(&text)?;
    let statement = match module.body.first() {
        Some(Stmt::If(around)) => around.body.first(),
        Some(Stmt::ClassDef(around)) => around.body.first(),
        first => first,
    };
    let Some(Stmt::FunctionDef(function)) = statement else {
        return Err(SyntaxFault::syntax("invalid syntax", late.range.start));
    };
    let scopes = scopes(&module, None);
    let head = (scopes.of(function), &*function.name, functions::parameters(&function.parameters));
    let mut unit = CodeBuilder::new(&scopes, &outlined.source, None, head);
    unit.class = late.class.clone();
    unit.code.qualified = outlined.qualified.clone();
    let mut compiler = Compiler {
        base: late.range.start.saturating_sub(header.len()) as u32,
        annotations_are_texts: late.annotations_are_texts,
        ..Compiler::new(&scopes, &outlined.source, registry, slot_of, unit)
    };
    compiler.function_body(function)?;
    Ok(Rc::new(compiler.unit.code))
}

struct Compiler<'a, 's> {
    scopes: &'s Scopes<'a>,
    source: &'s Rc<str>,
    /// The offset in the source of the text that is compiled.
    base: u32,
    registry: &'static Registry,
    slot_of: SlotOf<'s>,
    shows: Shows,
    /// The offset of the expression that [`Shows::Last`] shows.
    last: Option<u32>,
    /// Whether annotations are texts, as after `from __future__ import annotations`.
    annotations_are_texts: bool,
    /// The unit being compiled.
    unit: CodeBuilder<'a>,
}

/// A code under construction.
struct CodeBuilder<'a> {
    scope: usize,
    /// The enclosing class, for names private to it.
    class: Option<Rc<str>>,
    code: Code,
    slots: FxHashMap<Rc<str>, u32>,
    names: FxHashMap<Rc<str>, u32>,
    /// Strings and small integers among the constants, which occur often.
    known: FxHashMap<ConstantKey, u32>,
    blocks: Vec<Block<'a>>,
}

#[derive(PartialEq, Eq, Hash)]
enum ConstantKey {
    Int(i64),
    Text(Rc<str>),
    None,
}

/// The scope, name and parameters of a code.
type CodeHeader<'n> = (usize, &'n str, Parameters);

/// Begins a code: what is known before its body is compiled.
fn begun(scopes: &Scopes, source: &Rc<str>, outer: Option<&CodeBuilder>, head: CodeHeader<'_>) -> Code {
    let (scope, name, parameters) = head;
    let known = scopes.all.get(scope);
    let kind = known.map_or(ScopeKind::Module, |scope| scope.kind);
    let qualified = match outer.map(|outer| (outer.code.kind, &outer.code.qualified)) {
        None | Some((ScopeKind::Module | ScopeKind::Namespace, _)) => name.to_owned(),
        Some((ScopeKind::Class, around)) => format!("{around}.{name}"),
        Some((_, around)) => format!("{around}.<locals>.{name}"),
    };
    Code {
        kind,
        name: name.into(),
        qualified: qualified.into(),
        is_generator: known.is_some_and(|scope| scope.is_generator),
        is_async: false,
        doc: None,
        ops: Vec::new(),
        places: Vec::new(),
        source: Rc::clone(source),
        constants: Vec::new(),
        names: Vec::new(),
        locals: Vec::new(),
        cells: Vec::new(),
        free: known.into_iter().flat_map(Scope::free).map(Rc::from).collect(),
        codes: Vec::new(),
        late: None,
        parameters,
    }
}

impl<'a> CodeBuilder<'a> {
    fn new(
        scopes: &Scopes<'a>,
        source: &Rc<str>,
        outer: Option<&CodeBuilder<'a>>,
        head: CodeHeader<'_>,
    ) -> CodeBuilder<'a> {
        let scope = head.0;
        let mut code = begun(scopes, source, outer, head);
        let class = match code.kind {
            ScopeKind::Class => Some(code.name.trim_start_matches('_').into()),
            _ => outer.and_then(|outer| outer.class.clone()),
        };
        let cells = scopes.all.get(scope).into_iter().flat_map(Scope::cells).map(|cell| {
            let parameter = code.parameters.names.iter().position(|name| &**name == cell);
            (Rc::from(cell), parameter)
        });
        code.cells = cells.collect();
        code.constants = vec![Value::Tuple(Tuple::default())];
        code.locals.clone_from(&code.parameters.names);
        let slots = code.locals.iter().cloned().zip(0..).collect();
        let (names, known) = (FxHashMap::default(), FxHashMap::default());
        CodeBuilder { scope, class, code, slots, names, known, blocks: Vec::new() }
    }
}

impl<'a, 's> Compiler<'a, 's> {
    /// Begins a unit that shows no values.
    fn new(
        scopes: &'s Scopes<'a>,
        source: &'s Rc<str>,
        registry: &'static Registry,
        slot_of: SlotOf<'s>,
        unit: CodeBuilder<'a>,
    ) -> Compiler<'a, 's> {
        let (base, shows, last, annotations_are_texts) = (0, Shows::Nothing, None, false);
        Compiler { scopes, source, base, registry, slot_of, shows, last, annotations_are_texts, unit }
    }

    /// Returns a part of the text that is compiled.
    fn source_of(&self, range: Range<usize>) -> &'s str {
        let base = self.base as usize;
        self.source.get(range.start + base..range.end + base).unwrap_or_default()
    }

    /// Compiles a code nested in the current one.
    fn nested_code(
        &mut self,
        head: CodeHeader<'_>,
        write: impl FnOnce(&mut Self) -> Compiled,
    ) -> Result<Rc<Code>, SyntaxFault> {
        let inner = CodeBuilder::new(self.scopes, self.source, Some(&self.unit), head);
        let outer = std::mem::replace(&mut self.unit, inner);
        write(self)?;
        Ok(Rc::new(std::mem::replace(&mut self.unit, outer).code))
    }

    /// Ends a code that returns `None`.
    fn ends(&mut self, at: u32) {
        self.push(Value::None, at);
        self.emit(Op::Return, at);
    }

    fn emit(&mut self, op: Op, place: u32) {
        let code = &mut self.unit.code;
        code.ops.push(op);
        code.places.push(place + self.base);
    }

    /// Emits a jump. [`Compiler::land`] sets its target.
    fn jump(&mut self, op: fn(u32) -> Op, place: u32) -> usize {
        self.emit(op(0), place);
        self.unit.code.ops.len() - 1
    }

    /// Returns the index of the next instruction.
    fn here(&self) -> u32 {
        self.unit.code.ops.len() as u32
    }

    /// Makes a jump lead to the next instruction.
    fn land(&mut self, jump: usize) {
        let here = self.here();
        let Some(op) = self.unit.code.ops.get_mut(jump) else { return };
        if let Op::Jump(to)
        | Op::JumpIf(_, to)
        | Op::JumpIfOrPop(_, to)
        | Op::Next(to)
        | Op::Try(to)
        | Op::With(to)
        | Op::Catch(to)
        | Op::LeaveHandler(to) = op
        {
            *to = here;
        }
    }

    fn constant(&mut self, value: Value) -> u32 {
        let unit = &mut self.unit;
        let key = match &value {
            Value::None => Some(ConstantKey::None),
            Value::Int(number) => Some(ConstantKey::Int(*number)),
            Value::Str(text) => Some(ConstantKey::Text(text.to_rc())),
            _ => None,
        };
        if let Some(at) = key.as_ref().and_then(|key| unit.known.get(key)) {
            return *at;
        }
        let at = unit.code.constants.len() as u32;
        unit.code.constants.push(value);
        if let Some(key) = key {
            unit.known.insert(key, at);
        }
        at
    }

    fn push(&mut self, value: Value, place: u32) {
        let constant = self.constant(value);
        self.emit(Op::Constant(constant), place);
    }

    fn name(&mut self, text: &str) -> u32 {
        let unit = &mut self.unit;
        if let Some(at) = unit.names.get(text) {
            return *at;
        }
        let (at, text): (_, Rc<str>) = (unit.code.names.len() as u32, text.into());
        let (family, attributes) = (self.registry.family(&text), self.registry.plain_attributes_of(&text));
        let methods = family.and_then(|family| family.find(Receiver::Class(Kind::Tensor)));
        let methods = methods.filter(|methods| methods.is_parsed_by_torch());
        unit.code.names.push(Name { text: text.clone(), family, methods, attributes });
        unit.names.insert(text, at);
        at
    }

    /// Returns the slot of a name, or of a temporary without a name in the source.
    fn slot(&mut self, name: &str) -> u32 {
        let unit = &mut self.unit;
        if let Some(slot) = unit.slots.get(name) {
            return *slot;
        }
        let (slot, name): (_, Rc<str>) = (unit.code.locals.len() as u32, name.into());
        unit.code.locals.push(name.clone());
        unit.slots.insert(name, slot);
        slot
    }

    fn body(&mut self, body: &'a [Stmt]) -> Compiled {
        body.iter().try_for_each(|statement| {
            if interrupt::requested() {
                return Err(SyntaxFault::stopped());
            }
            self.statement(statement)
        })
    }
}

/// Returns whether a semicolon follows a statement.
fn is_muted(source: &str, statement: &Stmt) -> bool {
    source.get(statement.range().end().to_usize()..).is_some_and(|rest| rest.trim_start().starts_with(';'))
}

/// Returns the byte offset of a node in the source.
fn source_offset(node: &impl Ranged) -> u32 {
    node.range().start().to_u32()
}
