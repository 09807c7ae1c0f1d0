//! The compiler's output, which the machine runs: instructions for a stack machine. Knows neither the compiler nor the
//! machine.

use super::syntax::scope::ScopeKind;
use call::registry::{Attributes, Family, Overloads};
use objects::operators::Operator;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use value::Value;

/// A name used by instructions, with facts looked up in advance.
pub struct Name {
    pub text: Rc<str>,
    /// The table functions of that name.
    pub family: Option<&'static Family>,
    /// The methods of tensors of that name whose arguments PyTorch parses, for the short cut of plain calls.
    pub methods: Option<&'static Overloads>,
    /// The table attributes of that name that take precedence over all others.
    pub attributes: &'static Attributes,
}

/// The parameters of a function in slot order: positional, keyword-only, `*rest`, `**keywords`.
#[derive(Default)]
pub struct Parameters {
    pub names: Vec<Rc<str>>,
    pub positional_only: usize,
    /// Number of parameters that can be passed by position, including positional-only ones.
    pub positional: usize,
    pub keyword_only: usize,
    pub has_rest: bool,
    pub has_keywords: bool,
}

/// A compiled module, function, class body or comprehension.
pub struct Code {
    pub kind: ScopeKind,
    pub name: Rc<str>,
    /// The name with the enclosing classes and functions.
    pub qualified: Rc<str>,
    pub parameters: Parameters,
    pub is_generator: bool,
    pub is_async: bool,
    pub doc: Option<Rc<str>>,
    pub ops: Vec<Op>,
    /// The byte offset in the source of each instruction.
    pub places: Vec<u32>,
    pub source: Rc<str>,
    pub constants: Vec<Value>,
    pub names: Vec<Name>,
    /// The names of the slots, parameters first.
    pub locals: Vec<Rc<str>>,
    /// The names of the code's own cells. If a parameter moves into a cell, the cell has the parameter's slot.
    pub cells: Vec<(Rc<str>, Option<usize>)>,
    /// The names of the cells of enclosing functions, which follow the code's own cells.
    pub free: Vec<Rc<str>>,
    /// The codes of the functions it creates, each with the cells that the function captures.
    pub codes: Vec<(Rc<Code>, Vec<u32>)>,
    /// What is compiled when the function is first called. Until then the code has a name, parameters and free cells, and no
    /// instructions.
    pub late: Option<Late>,
}

/// The part of a source that a function is compiled from when it is first called.
pub struct Late {
    /// The lines of the function in the source, without its decorators.
    pub range: Range<usize>,
    pub is_indented: bool,
    /// The class whose private names it uses, and whether it is a method there.
    pub class: Option<Rc<str>>,
    pub is_method: bool,
    pub annotations_are_texts: bool,
    pub code: OnceCell<Rc<Code>>,
}

impl Code {
    pub fn name(&self, at: u32) -> &str {
        self.names.get(at as usize).map_or("", |name| &*name.text)
    }

    /// Returns a text among the constants.
    pub fn text(&self, at: u32) -> &str {
        match self.constants.get(at as usize) {
            Some(Value::Str(text)) => text,
            _ => "",
        }
    }

    /// Returns the keywords of a call's last arguments, from a constant.
    pub fn keywords(&self, at: u32) -> &[Value] {
        match self.constants.get(at as usize) {
            Some(Value::Tuple(names)) => names,
            _ => &[],
        }
    }
}

/// An operator with a fast path for small integers and floats.
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

/// The builtins that see the names of their caller.
pub(super) const SEEING: [&str; 5] = ["dir", "eval", "exec", "locals", "vars"];

/// The location of a variable, for an instruction.
#[derive(Clone, Copy)]
pub enum Variable {
    Local(u32),
    Cell(u32),
    Global(u32),
    /// A name in a class body's namespace. If the namespace lacks it, the global variable is read.
    Namespace(u32, u32),
}

/// An instruction. Comments show the operands on the stack from bottom to top, and the result after the arrow.
#[derive(Clone, Copy)]
pub enum Op {
    Constant(u32),
    /// `→ value`
    Load(Variable),
    /// `value →`
    Store(Variable),
    Delete(Variable),
    Pop,
    /// Pushes a copy of the value at this depth, counted from 1 at the top.
    Copy(u32),
    /// Swaps the top value with the one at this depth.
    Swap(u32),
    /// `a b → result`
    Binary(Quick, &'static Operator),
    InPlace(Quick, &'static Operator),
    Is,
    In,
    /// `a → result`, by the operator's name in the table
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
    /// `list value → list`; sets likewise
    Append,
    /// `dict key value → dict`
    SetEntry,
    /// `list iterable → list`; sets and dictionaries likewise
    Extend,
    /// `function list iterable → function list`, for the arguments of a call
    Spread,
    /// `function dict mapping → function dict`. Fails if a keyword is repeated.
    Merge,
    ListToTuple,
    /// `value spec → text`
    Format,
    Join(u32),
    Jump(u32),
    JumpIf(bool, u32),
    JumpIfOrPop(bool, u32),
    /// `iterable →`. Begins a loop.
    Begin,
    /// `→ item`. Jumps if the iterator is exhausted.
    Next(u32),
    /// Leaves a loop early.
    End,
    Unpack(u32),
    /// `subject → items or None`. The operands are the number of patterns, and the place of a starred one.
    MatchSequence(u32, Option<u32>),
    /// `subject keys → values or None`. The operand says whether the rest is wanted.
    MatchMapping(bool),
    /// `subject class → values or None`. The operands are the number of positional patterns, and the constant with the names
    /// of the others.
    MatchClass(u32, u32),
    /// Number of targets before and after the starred one.
    UnpackStarred(u32, u32),
    /// `function arguments… → result`. Operands: number of arguments, and the constant with the keywords of the last
    /// ones.
    Call(u32, u32),
    /// Notes the frame's names if the function about to be called asks for them: `locals()`. The operand is the number of
    /// arguments above it on the stack.
    Names(u32),
    /// Begins to record calls if the function on the stack shows where its arguments come from: `origin(x.sum())`.
    Record,
    /// `function list dict → result`
    CallSpread,
    /// `object → object`. Fails if the object does not have an attribute of this name.
    Expect(u32),
    /// `object arguments… → result`. Operands: name of the method, and the operands of `Call`.
    CallMethod(u32, u32, u32),
    /// `defaults dict → function`
    Function(u32),
    /// `function list dict → class`, from the body, the bases and the keywords
    Class,
    /// `→ super()`. The operand is the cell that holds the enclosing class.
    Super(Option<u32>),
    Return,
    Yield,
    /// `iterator → result`. Yields the iterator's items.
    YieldFrom,
    /// `object → iterator`, what `await` waits for
    Await,
    /// `function dict → function`. Gives a function its annotations.
    Annotate,
    /// `function → function`, for annotations whose evaluation has failed: what this program lacks is reported when they are
    /// read, anything else now.
    AnnotateLater,
    /// Opens a handler: later errors jump to it.
    Try(u32),
    EndTry,
    /// `→ exception`, the exception being handled
    Handled,
    /// `class →`. Jumps to the next clause unless the class matches the exception being handled.
    Catch(u32),
    /// `→ module`. The operands are the constant with the path, and whether the outermost module is meant.
    Import(u32, bool),
    /// `module → module value`. The operands are constants: the module's path as written, and the name.
    ImportFrom(u32, u32),
    /// `module →`. Makes the public names of the module on the stack visible: `from module import *`.
    ImportAll,
    EndHandler,
    Reraise,
    /// `exception? cause? →`. The operand is the number of values.
    Raise(u8),
    /// `context → context entered`. Opens a handler: later errors jump to it.
    With(u32),
    /// `context →`
    Leave,
    /// `context →`. Passes the exception being handled to the context, and jumps if the context suppresses it.
    LeaveHandler(u32),
    /// `value →`. Shows the value, like a prompt.
    Show,
}

/// Returns the mangled form of a name that is private to a class.
pub(crate) fn mangled<'n>(class: &str, name: &'n str) -> Cow<'n, str> {
    match class.trim_start_matches('_') {
        class if !class.is_empty() && name.starts_with("__") && !name.ends_with("__") => {
            format!("_{class}{name}").into()
        }
        _ => name.into(),
    }
}
