//! The special methods of Python's built-in classes and of tensors: the classes that have each, and the operator or
//! function of the table that implements it. `container_methods.rs` calls them by name, as in `(5).__add__(3)` or
//! `map([1, 2].__contains__, items)`.

use value::equality::SPECIAL;

/// The class of tensors, as scripts see it.
pub(crate) const TENSOR: &str = "torch.Tensor";

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
const COMPLEX: &[&str] = &["+", "-", "*", "/", "**"];
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
        "complex" => [COMPLEX, COMPLEX, &[]],
        "str" | "bytes" => [TEXTS, &["*", "%"], &[]],
        "bytearray" => [TEXTS, &["*", "%"], &["+", "*"]],
        "list" => [&["+", "*"], &["*"], &["+", "*"]],
        "tuple" => [&["+", "*"], &["*"], &[]],
        "dict" => [&["|"], &["|"], &["|"]],
        "set" => [SETS, SETS, SETS],
        "frozenset" => [SETS, SETS, &[]],
        "Tensor" | "Array" => [TENSORS, TENSORS, TENSORS],
        "Boolean" | "Integer" => [INTEGERS, INTEGERS, &[]],
        "Floating" => [NUMBERS, NUMBERS, &[]],
        "ComplexFloating" => [COMPLEX, COMPLEX, &[]],
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
            "Scalar",
        ],
        "py.hash",
        0,
    ),
    (
        "__len__",
        &["str", "bytes", "bytearray", "list", "tuple", "range", "dict", "set", "frozenset", "memoryview", "Array"],
        "py.len",
        0,
    ),
    (
        "__iter__",
        &[
            "str",
            "bytes",
            "bytearray",
            "list",
            "tuple",
            "range",
            "dict",
            "set",
            "frozenset",
            "memoryview",
            "Storage",
            "Tensor",
            "Array",
        ],
        "py.iter",
        0,
    ),
    (
        "__contains__",
        &["str", "bytes", "bytearray", "list", "tuple", "range", "dict", "set", "frozenset", "Array"],
        "py.__contains__",
        1,
    ),
    (
        "__getitem__",
        &["str", "bytes", "bytearray", "list", "tuple", "range", "dict", "memoryview", "Array"],
        "py.__getitem__",
        1,
    ),
    ("__setitem__", &["bytearray", "list", "dict", "memoryview", "Array"], "py.__setitem__", 2),
    ("__delitem__", &["bytearray", "list", "dict", "memoryview", "Tensor", "Array"], "py.__delitem__", 1),
    ("__reversed__", &["list", "range", "dict", "Tensor"], "py.reversed", 0),
    ("__bool__", &["int", "float", "complex", "range", "Tensor", "Array", "Scalar"], "py.bool", 0),
    // Python 2's names, which tensors still have.
    ("__nonzero__", &["Tensor"], "py.bool", 0),
    ("__long__", &["Tensor"], "py.int", 0),
    ("__abs__", &["int", "float", "complex", "Tensor", "Array", "Scalar"], "py.abs", 0),
    ("__neg__", &["int", "float", "complex", "Tensor", "Array", "Scalar"], "py.__neg__", 0),
    ("__pos__", &["int", "float", "complex", "Tensor", "Array", "Scalar"], "py.__pos__", 0),
    ("__invert__", &["int", "Tensor", "Array", "Boolean", "Integer"], "py.__invert__", 0),
    ("__int__", &["int", "float", "Tensor", "Array", "Scalar"], "py.int", 0),
    ("__index__", &["int", "Array", "Integer"], "py.int", 0),
    ("__float__", &["int", "float", "Tensor", "Array", "Scalar"], "py.float", 0),
    ("__complex__", &["complex", "Tensor", "Array", "Scalar"], "py.complex", 0),
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

/// Returns the name under which the tables of this file list a class: arrays, and NumPy's scalars by their kinds, are not
/// listed one by one.
pub(crate) fn as_listed(class: &str) -> &str {
    match class {
        "collections.OrderedDict" => "dict",
        "torch.Size" => "tuple",
        TENSOR => "Tensor",
        storage if storage.starts_with("torch.") && storage.ends_with("Storage") => "Storage",
        "numpy.ndarray" => "Array",
        "numpy.bool" => "Boolean",
        scalar if scalar.starts_with("numpy.") => match scalar.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "numpy.int" | "numpy.uint" => "Integer",
            "numpy.float" => "Floating",
            "numpy.complex" => "ComplexFloating",
            _ => class,
        },
        _ => class,
    }
}

/// Finds a special method of a class by its name.
pub(crate) fn find(class: &str, name: &str) -> Option<(&'static str, Does)> {
    if !name.starts_with("__") {
        return None;
    }
    let class = as_listed(class);
    function(class, name).or_else(|| operator(class, name))
}

/// Finds a special method that is implemented by a function of the table.
pub(crate) fn function(class: &str, name: &str) -> Option<(&'static str, Does)> {
    let is_scalar = matches!(class, "Boolean" | "Integer" | "Floating" | "ComplexFloating");
    let is_listed = |classes: &[&str]| classes.contains(&class) || is_scalar && classes.contains(&"Scalar");
    let found =
        FUNCTIONS.iter().find(|(known, classes, ..)| *known == name && (classes.is_empty() || is_listed(classes)));
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
