//! Compiles the syntax tree of an input: each function, class body and comprehension becomes a [`Code`]. Statements are in
//! `compile/statements.rs`, what may be left early in `compile/blocks.rs`, expressions in `compile/expressions.rs`, names
//! and targets in `compile/names.rs`, functions and classes in `compile/functions.rs`. It must not know how code runs.

mod blocks;
mod expressions;
mod functions;
mod names;
mod statements;

use super::code::{Code, Name, Op, Parameters, Source};
use super::scope::{Kind, MODULE, Scope, Scopes, scopes};
use super::syntax::SyntaxFault;
use crate::call::Registry;
use crate::tensor::interrupt;
use crate::value::Value;
use blocks::Block;
use ruff_python_ast::{ModModule, Stmt};
use ruff_text_size::Ranged;
use std::collections::HashMap;
use std::rc::Rc;

type Compiled = Result<(), SyntaxFault>;

/// Gives each variable of the session its slot.
pub type SlotOf<'a> = &'a mut dyn FnMut(&str) -> u32;

/// Compiles an input. `shows` says whether values of expressions are shown, as at a prompt.
///
/// # Errors
/// NotImplementedError for what is not supported; SyntaxError for what only CPython's compiler refuses.
pub fn compile(
    module: &ModModule,
    source: &Rc<Source>,
    registry: &'static Registry,
    slot_of: SlotOf,
    shows: bool,
) -> Result<Rc<Code>, SyntaxFault> {
    let scopes = scopes(module);
    let mut compiler = Compiler { scopes: &scopes, source, registry, slot_of, shows, units: Vec::new() };
    compiler.begin(MODULE, Kind::Module, "<module>", Parameters::default());
    compiler.body(&module.body)?;
    let none = compiler.constant(Value::None);
    compiler.emit(none, 0);
    compiler.emit(Op::Return, 0);
    Ok(compiler.end())
}

struct Compiler<'a, 's> {
    scopes: &'s Scopes<'a>,
    source: &'s Rc<Source>,
    registry: &'static Registry,
    slot_of: SlotOf<'s>,
    shows: bool,
    /// What is being compiled, the innermost last.
    units: Vec<Unit<'a>>,
}

/// A code while it is written.
struct Unit<'a> {
    scope: usize,
    /// The class around, for names that are its own.
    class: Option<Rc<str>>,
    code: Code,
    slots: HashMap<Rc<str>, u32>,
    names: HashMap<Rc<str>, u32>,
    /// Texts and small integers among the constants, which occur often.
    known: HashMap<Known, u32>,
    blocks: Vec<Block<'a>>,
}

#[derive(PartialEq, Eq, Hash)]
enum Known {
    Int(i64),
    Text(Rc<str>),
    None,
}

impl<'a> Compiler<'a, '_> {
    fn begin(&mut self, scope: usize, kind: Kind, name: &str, parameters: Parameters) {
        let outer = self.units.last();
        let qualified = match outer.filter(|outer| outer.code.kind != Kind::Module) {
            Some(outer) if outer.code.kind == Kind::Class => format!("{}.{name}", outer.code.qualified),
            Some(outer) => format!("{}.<locals>.{name}", outer.code.qualified),
            None => name.to_owned(),
        };
        let class = match kind {
            Kind::Class => Some(name.trim_start_matches('_').into()),
            _ => outer.and_then(|outer| outer.class.clone()),
        };
        let known = self.scopes.all.get(scope);
        let cells = known.into_iter().flat_map(Scope::cells).map(|cell| {
            let parameter = parameters.names.iter().position(|name| &**name == cell);
            (Rc::from(cell), parameter)
        });
        let code = Code {
            kind,
            name: name.into(),
            qualified: qualified.into(),
            is_generator: known.is_some_and(|scope| scope.is_generator),
            doc: None,
            ops: Vec::new(),
            places: Vec::new(),
            source: Rc::clone(self.source),
            constants: Vec::new(),
            names: Vec::new(),
            locals: parameters.names.clone(),
            cells: cells.collect(),
            free: known.into_iter().flat_map(Scope::free).map(Rc::from).collect(),
            codes: Vec::new(),
            parameters,
        };
        let slots = code.locals.iter().cloned().zip(0..).collect();
        let (names, known) = (HashMap::new(), HashMap::new());
        self.units.push(Unit { scope, class, code, slots, names, known, blocks: Vec::new() });
    }

    fn end(&mut self) -> Rc<Code> {
        // Every `begin` has its `end`.
        match self.units.pop() {
            Some(unit) => Rc::new(unit.code),
            None => unreachable!("no code was begun"),
        }
    }

    fn unit(&mut self) -> &mut Unit<'a> {
        match self.units.last_mut() {
            Some(unit) => unit,
            None => unreachable!("code is written between `begin` and `end`"),
        }
    }

    fn emit(&mut self, op: Op, place: u32) {
        let code = &mut self.unit().code;
        code.ops.push(op);
        code.places.push(place);
    }

    /// Emits a jump, whose target [`Compiler::land`] will tell.
    fn jump(&mut self, op: fn(u32) -> Op, place: u32) -> usize {
        self.emit(op(0), place);
        self.unit().code.ops.len() - 1
    }

    /// The place that the next instruction will have.
    fn here(&mut self) -> u32 {
        self.unit().code.ops.len() as u32
    }

    /// Makes a jump lead to the next instruction.
    fn land(&mut self, jump: usize) {
        let here = self.here();
        self.aim(jump, here);
    }

    fn aim(&mut self, jump: usize, target: u32) {
        let Some(op) = self.unit().code.ops.get_mut(jump) else { return };
        match op {
            Op::Jump(to)
            | Op::JumpIfFalse(to)
            | Op::JumpIfTrue(to)
            | Op::JumpIfFalseOrPop(to)
            | Op::JumpIfTrueOrPop(to)
            | Op::Next(to)
            | Op::Try(to)
            | Op::With(to)
            | Op::Catch(to)
            | Op::LeaveHandler(to) => *to = target,
            _ => {}
        }
    }

    fn constant(&mut self, value: Value) -> Op {
        let unit = self.unit();
        let key = match &value {
            Value::None => Some(Known::None),
            Value::Int(number) => Some(Known::Int(*number)),
            Value::Str(text) => Some(Known::Text(text.to_rc())),
            _ => None,
        };
        if let Some(at) = key.as_ref().and_then(|key| unit.known.get(key)) {
            return Op::Constant(*at);
        }
        let at = unit.code.constants.len() as u32;
        unit.code.constants.push(value);
        if let Some(key) = key {
            unit.known.insert(key, at);
        }
        Op::Constant(at)
    }

    fn constant_at(&mut self, value: Value) -> u32 {
        match self.constant(value) {
            Op::Constant(at) => at,
            _ => 0,
        }
    }

    fn name(&mut self, text: &str) -> u32 {
        let registry = self.registry;
        let unit = self.unit();
        if let Some(at) = unit.names.get(text) {
            return *at;
        }
        let (at, text): (_, Rc<str>) = (unit.code.names.len() as u32, text.into());
        unit.code.names.push(Name { text: text.clone(), family: registry.family(&text) });
        unit.names.insert(text, at);
        at
    }

    /// The slot of a name, or of a value that has no name in the source.
    fn slot(&mut self, name: &str) -> u32 {
        let unit = self.unit();
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

/// Where a node starts in the source, in bytes.
fn place(node: &impl Ranged) -> u32 {
    node.range().start().to_u32()
}
