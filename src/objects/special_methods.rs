//! The special methods of Python's built-in classes and of tensors: the classes that have each, and the operator or
//! function of the table that implements it. `container_methods.rs` calls them by name, as in `(5).__add__(3)` or
//! `map([1, 2].__contains__, items)`.

use value::equality::SPECIAL;

/// The implementation of a special method.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    /// The operator of this symbol, with the object on the left.
    Operator(&'static str),
    /// The operator of this symbol, with the object on the right.
    Reflected(&'static str),
    InPlace(&'static str),
    /// A function of the table, and the number of its arguments besides the object.
    Function(&'static str, usize),
}

const NUMBERS: &[&str] = &["+", "-", "*", "/", "__floordiv__", "%", "**"];
const INTEGERS: &[&str] = &["+", "-", "*", "/", "__floordiv__", "%", "**", "&", "|", "^", "<<", ">>"];
const TENSORS: &[&str] =
    &["+", "-", "*", "/", "__floordiv__", "%", "**", "@", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">="];
const SETS: &[&str] = &["&", "|", "^", "-"];
const TEXTS: &[&str] = &["+", "*", "%"];
const COMPARISONS: &[&str] = &["==", "!=", "<", "<=", ">", ">="];

/// Returns the operators of a class: with the object on the left, on the right, and in place.
fn operators(class: &str) -> [&'static [&'static str]; 3] {
    match class {
        "int" => [INTEGERS, INTEGERS, &[]],
        "float" => [NUMBERS, NUMBERS, &[]],
        "complex" => [&["+", "-", "*", "/", "**"], &["+", "-", "*", "/", "**"], &[]],
        "str" | "bytes" => [TEXTS, &["*", "%"], &[]],
        "bytearray" => [TEXTS, &["*", "%"], &["+", "*"]],
        "list" => [&["+", "*"], &["*"], &["+", "*"]],
        "tuple" => [&["+", "*"], &["*"], &[]],
        "dict" => [&["|"], &["|"], &["|"]],
        "set" => [SETS, SETS, SETS],
        "frozenset" => [SETS, SETS, &[]],
        "Tensor" => [TENSORS, TENSORS, TENSORS],
        _ => [&[], &[], &[]],
    }
}

const IN_PLACE: &[(&str, &str)] = &[
    ("+", "__iadd__"),
    ("*", "__imul__"),
    ("-", "__isub__"),
    ("&", "__iand__"),
    ("|", "__ior__"),
    ("^", "__ixor__"),
    ("/", "__itruediv__"),
    ("__floordiv__", "__ifloordiv__"),
    ("%", "__imod__"),
    ("**", "__ipow__"),
    ("<<", "__ilshift__"),
    (">>", "__irshift__"),
];

/// Tensors still have the names that Python 2 used for division.
const DIVISION: &[(&str, &str)] =
    &[("__div__", "__truediv__"), ("__rdiv__", "__rtruediv__"), ("__idiv__", "__itruediv__")];

/// Name, classes that have the method (empty for all), function of the table, number of arguments besides the object.
const FUNCTIONS: &[(&str, &[&str], &str, usize)] = &[
    ("__repr__", &[], "py.repr", 0),
    ("__str__", &[], "py.str", 0),
    ("__format__", &[], "py.format", 1),
    (
        "__hash__",
        &[
            "int",
            "float",
            "complex",
            "str",
            "bytes",
            "tuple",
            "range",
            "frozenset",
            "memoryview",
            "NoneType",
            "Tensor",
            "torch.Size",
            "torch.device",
            "torch.dtype",
            "torch.layout",
        ],
        "py.hash",
        0,
    ),
    (
        "__len__",
        &["str", "bytes", "bytearray", "list", "tuple", "range", "dict", "set", "frozenset", "memoryview"],
        "py.len",
        0,
    ),
    (
        "__iter__",
        &["str", "bytes", "bytearray", "list", "tuple", "range", "dict", "set", "frozenset", "memoryview"],
        "py.iter",
        0,
    ),
    (
        "__contains__",
        &["str", "bytes", "bytearray", "list", "tuple", "range", "dict", "set", "frozenset"],
        "py.__contains__",
        1,
    ),
    (
        "__getitem__",
        &["str", "bytes", "bytearray", "list", "tuple", "range", "dict", "memoryview"],
        "py.__getitem__",
        1,
    ),
    ("__setitem__", &["bytearray", "list", "dict", "memoryview"], "py.__setitem__", 2),
    ("__delitem__", &["bytearray", "list", "dict", "memoryview"], "py.__delitem__", 1),
    ("__reversed__", &["list", "range", "dict"], "py.reversed", 0),
    ("__bool__", &["int", "float", "complex", "range"], "py.bool", 0),
    ("__abs__", &["int", "float", "complex"], "py.abs", 0),
    ("__neg__", &["int", "float", "complex"], "py.__neg__", 0),
    ("__pos__", &["int", "float", "complex"], "py.__pos__", 0),
    ("__invert__", &["int"], "py.__invert__", 0),
    ("__int__", &["int", "float", "Tensor"], "py.int", 0),
    ("__index__", &["int"], "py.int", 0),
    ("__float__", &["int", "float", "Tensor"], "py.float", 0),
    ("__complex__", &["complex"], "py.complex", 0),
    ("__trunc__", &["int", "float"], "math.trunc", 0),
    ("__floor__", &["int", "float"], "math.floor", 0),
    ("__ceil__", &["int", "float"], "math.ceil", 0),
];

/// Returns the names of all special methods that some class has.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let functions = FUNCTIONS.iter().map(|(name, ..)| *name);
    let operators = SPECIAL.iter().flat_map(|(_, ours, theirs)| [*ours, *theirs]);
    functions.chain(operators).chain(IN_PLACE.iter().map(|(_, name)| *name))
}

/// Finds a special method of a class by its name.
pub(crate) fn find(class: &str, name: &str) -> Option<(&'static str, Does)> {
    if !name.starts_with("__") {
        return None;
    }
    let class = if class == "collections.OrderedDict" { "dict" } else { class };
    function(class, name).or_else(|| operator(class, name))
}

/// Finds a special method that is implemented by a function of the table.
pub(crate) fn function(class: &str, name: &str) -> Option<(&'static str, Does)> {
    let found = FUNCTIONS
        .iter()
        .find(|(known, classes, ..)| *known == name && (classes.is_empty() || classes.contains(&class)));
    found.map(|(name, _, path, takes)| (*name, Does::Function(path, *takes)))
}

/// Finds a special method that is implemented by an operator.
pub(crate) fn operator(class: &str, name: &str) -> Option<(&'static str, Does)> {
    let [left, right, in_place] = operators(class);
    let name = match DIVISION.iter().find(|(old, _)| class == "Tensor" && *old == name) {
        Some((_, new)) => new,
        None => name,
    };
    let operator = |(symbol, ours, theirs): &(&'static str, &'static str, &'static str)| match name {
        // Every class supports comparisons.
        name if name == *ours && (left.contains(symbol) || COMPARISONS.contains(symbol)) => {
            Some((*ours, Does::Operator(symbol)))
        }
        name if name == *theirs && right.contains(symbol) => Some((*theirs, Does::Reflected(symbol))),
        _ => None,
    };
    SPECIAL.iter().find_map(operator).or_else(|| {
        let (symbol, name) = IN_PLACE.iter().find(|(symbol, known)| *known == name && in_place.contains(symbol))?;
        Some((name, Does::InPlace(symbol)))
    })
}
