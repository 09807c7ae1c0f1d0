//! What the compiler makes of a function, and the machine runs: instructions for a machine with a stack. It must not know
//! how either works.

use super::syntax::scope::Kind;
use call::registry::{Attributes, Family};
use objects::operators::Operator;
use std::borrow::Cow;
use std::rc::Rc;
use value::Value;

/// A name that instructions use, with what is known of it beforehand.
pub struct Name {
    pub text: Rc<str>,
    /// The functions of the table under that name.
    pub family: Option<&'static Family>,
    /// The attributes of the table under that name which come before anything else.
    pub attributes: &'static Attributes,
}

/// The parameters of a function, in the order of their slots: positional, keyword-only, `*rest`, `**keywords`.
#[derive(Default)]
pub struct Parameters {
    pub names: Vec<Rc<str>>,
    pub positional_only: usize,
    /// How many take an argument by position, the positional-only ones included.
    pub positional: usize,
    pub keyword_only: usize,
    pub has_rest: bool,
    pub has_keywords: bool,
}

/// A compiled module, function, class body or comprehension.
pub struct Code {
    pub kind: Kind,
    pub name: Rc<str>,
    /// With the classes and functions it stands in.
    pub qualified: Rc<str>,
    pub parameters: Parameters,
    pub is_generator: bool,
    pub doc: Option<Rc<str>>,
    pub ops: Vec<Op>,
    /// The place in the source of each instruction, in bytes.
    pub places: Vec<u32>,
    pub source: Rc<str>,
    pub constants: Vec<Value>,
    pub names: Vec<Name>,
    /// The names of the slots; parameters first.
    pub locals: Vec<Rc<str>>,
    /// The names of its own cells, each with the slot of the parameter that it takes over.
    pub cells: Vec<(Rc<str>, Option<usize>)>,
    /// The names of the cells that come from around, which lie behind its own.
    pub free: Vec<Rc<str>>,
    /// The codes of the functions it makes, with the cells that each takes along.
    pub codes: Vec<(Rc<Code>, Vec<u32>)>,
}

impl Code {
    pub fn name(&self, at: u32) -> &str {
        self.names.get(at as usize).map_or("", |name| &*name.text)
    }

    /// The names of a call's last arguments, which are in a constant.
    pub fn keywords(&self, at: u32) -> &[Value] {
        match self.constants.get(at as usize) {
            Some(Value::Tuple(names)) => names,
            _ => &[],
        }
    }
}

/// An operator that small integers and floats need no table for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Quick {
    Plus,
    Minus,
    Times,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Other,
}

impl Quick {
    pub fn of(operator: &Operator) -> Quick {
        match operator.symbol {
            "+" => Quick::Plus,
            "-" => Quick::Minus,
            "*" => Quick::Times,
            "==" => Quick::Equal,
            "!=" => Quick::NotEqual,
            "<" => Quick::Less,
            "<=" => Quick::LessOrEqual,
            ">" => Quick::Greater,
            ">=" => Quick::GreaterOrEqual,
            _ => Quick::Other,
        }
    }
}

/// Where an instruction finds a variable.
#[derive(Clone, Copy)]
pub enum Variable {
    Local(u32),
    Cell(u32),
    Global(u32),
    /// In the namespace of a class body, by its name; where that lacks it, it is read as a global one.
    Namespace(u32, u32),
}

/// An instruction. What it takes from the stack is written from the bottom up, the last one on top.
#[derive(Clone, Copy)]
pub enum Op {
    Constant(u32),
    /// `→ value`
    Load(Variable),
    /// `value →`
    Store(Variable),
    Delete(Variable),
    Pop,
    /// Pushes a copy of the value that many places down; the topmost is the first.
    Copy(u32),
    /// Exchanges the topmost value with the one that many places down.
    Swap(u32),
    /// `a b → result`
    Binary(Quick, &'static Operator),
    InPlace(Quick, &'static Operator),
    Is,
    In,
    /// `a → result`: the name in the table of operators.
    Unary(&'static str),
    Not,
    Attribute(u32),
    /// `value object →`
    StoreAttribute(u32),
    DeleteAttribute(u32),
    /// `object index → item`
    Item,
    /// `value object index →`
    StoreItem,
    DeleteItem,
    /// `start stop step → slice`
    Slice,
    Tuple(u32),
    List(u32),
    Set(u32),
    Dict(u32),
    /// `list value → list`, as for sets
    Append,
    /// `dict key value → dict`
    SetEntry,
    /// `list iterable → list`, as for sets and dictionaries
    Extend,
    /// The same for the arguments of a call: `function list iterable → function list`.
    Spread,
    /// `function dict mapping → function dict`: keywords, of which none may come twice.
    Merge,
    ListToTuple,
    /// `value spec → text`
    Format,
    Join(u32),
    Jump(u32),
    JumpIf(bool, u32),
    JumpIfOrPop(bool, u32),
    /// `iterable →`: begins a loop.
    Begin,
    /// `→ item`, or to the end, where the loop is over.
    Next(u32),
    /// Leaves a loop before its end.
    End,
    Unpack(u32),
    /// Before and behind the starred one.
    UnpackStarred(u32, u32),
    /// `function arguments… → result`: their number, and the names of the last of them in a constant.
    Call(u32, u32),
    /// `function list dict → result`
    CallSpread,
    /// `object → object`: fails unless it has an attribute of this name.
    Expect(u32),
    /// `object arguments… → result`: the name of a method, and as for `Call`.
    CallMethod(u32, u32, u32),
    /// `defaults dict → function`
    Function(u32),
    /// `function list dict → class`: the body, the bases, and keywords.
    Class,
    /// `→ super()`, by the cell that holds the class around.
    Super(Option<u32>),
    Return,
    Yield,
    /// `iterator → result`: passes its items on.
    YieldFrom,
    /// Errors from here on go to the handler.
    Try(u32),
    EndTry,
    /// `→ exception`: the one that is being handled.
    Handled,
    /// `class →`, and to where the next clause is, unless it catches what is being handled.
    Catch(u32),
    EndHandler,
    Reraise,
    /// So many of: exception, cause.
    Raise(u8),
    /// `context → context entered`: errors from here on go to the handler.
    With(u32),
    /// `context →`
    Leave,
    /// `context →`, with the exception that is being handled: and to where it goes on if that is settled.
    LeaveHandler(u32),
    /// `value →`: shows it, as a prompt does.
    Show,
}

/// A name as a class keeps it: with the class's in front if it is the class's own.
pub(crate) fn mangled<'n>(class: &str, name: &'n str) -> Cow<'n, str> {
    match class.trim_start_matches('_') {
        class if !class.is_empty() && name.starts_with("__") && !name.ends_with("__") => {
            format!("_{class}{name}").into()
        }
        _ => name.into(),
    }
}
