//! How Python's names are spelled in Rhai, and which names mean something by themselves.
//!
//! It must not know which names a session has defined.

use std::borrow::Cow;

/// Words that Rhai refuses as the name of a variable, a function or a parameter, and unquoted as a key.
const RESERVED: &[&str] = &[
    "Fn",
    "as",
    "async",
    "await",
    "break",
    "call",
    "case",
    "catch",
    "const",
    "continue",
    "curry",
    "debug",
    "default",
    "do",
    "else",
    "eval",
    "export",
    "false",
    "fn",
    "for",
    "go",
    "goto",
    "if",
    "import",
    "in",
    "is",
    "is_def_fn",
    "is_def_var",
    "is_shared",
    "let",
    "loop",
    "match",
    "module",
    "new",
    "nil",
    "null",
    "package",
    "print",
    "private",
    "protected",
    "public",
    "return",
    "shared",
    "spawn",
    "static",
    "super",
    "switch",
    "sync",
    "this",
    "thread",
    "throw",
    "true",
    "try",
    "type_of",
    "until",
    "use",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Functions of the written text whose names a Python program may well give to its own.
const TAKEN: &[&str] = &["at", "builtin", "fstring", "import_from", "truth", "unpack", "unpack_star"];

/// The temporaries of the written text, so that no variable of the user's is taken for one.
const TEMPORARIES: &[&str] = &[
    "base", "broken", "class", "context", "error", "failed", "index", "item", "left", "list", "result", "returned",
    "right", "unpacked", "value",
];

/// Methods that Rhai answers itself, or refuses, whatever the type, and those with the name of a builtin: they go through
/// `__call__`.
const CAPTURED_METHODS: &[&str] = &[
    "Fn",
    "at",
    "call",
    "curry",
    "debug",
    "dict",
    "enumerate",
    "eval",
    "filter",
    "hash",
    "id",
    "input",
    "is_def_fn",
    "is_def_var",
    "iter",
    "len",
    "list",
    "map",
    "next",
    "open",
    "print",
    "repr",
    "replace",
    "reversed",
    "set",
    "sorted",
    "split",
    "str",
    "switch",
    "tuple",
    "type_of",
    "zip",
];

/// Python's built-in functions and types: called under their own name, written `builtin("name")` as a value.
const BUILTINS: &[&str] = &[
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "complex",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "hasattr",
    "hash",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "tuple",
    "type",
    "vars",
    "zip",
];

/// Engine functions that stand in the written text without standing in the Python: a `def` of such a name would
/// change what every later line means.
const ENGINE_FUNCTIONS: &[&str] = &[
    "annotate_",
    "assert_",
    "at",
    "begin_class_",
    "builtin",
    "bytes",
    "call_",
    "caught_",
    "complex",
    "delattr",
    "dict",
    "echo_",
    "end_class_",
    "float",
    "format",
    "fstring",
    "function_",
    "global_",
    "getattr",
    "import_",
    "import_from",
    "int",
    "iter",
    "leave_",
    "list",
    "raise_",
    "repr",
    "set",
    "setattr",
    "slice",
    "str",
    "super_",
    "truth",
    "tuple",
    "unpack",
    "unpack_star",
];

/// The written text for Python's operators.
const OPERATORS: &[&str] = &[
    "__concat__",
    "__floordiv__",
    "__iadd__",
    "__iand__",
    "__ifloordiv__",
    "__ilshift__",
    "__imatmul__",
    "__imod__",
    "__imul__",
    "__invert__",
    "__ior__",
    "__ipow__",
    "__irshift__",
    "__is__",
    "__isub__",
    "__itruediv__",
    "__ixor__",
    "__matches__",
    "__merge__",
    "__mod__",
    "__pos__",
    "__pow__",
    "__truediv__",
];

/// Builtins whose name is also a tensor's method, with another meaning.
pub fn is_method_too(name: &str) -> bool {
    matches!(
        name,
        "abs" | "all" | "any" | "bool" | "float" | "format" | "int" | "max" | "min" | "round" | "sum" | "type"
    )
}

pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// A call of this name is never that of a method, whatever stands first among its arguments: the written text spells
/// methods of such names another way.
pub fn is_bare(name: &str) -> bool {
    let is_operator = OPERATORS.contains(&name) || !name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    ENGINE_FUNCTIONS.contains(&name) || is_builtin(name) && !is_method_too(name) || is_operator
}

pub fn is_captured_method(name: &str) -> bool {
    CAPTURED_METHODS.contains(&name)
}

pub fn is_engine_function(name: &str) -> bool {
    ENGINE_FUNCTIONS.contains(&name) && !TAKEN.contains(&name) || (name.starts_with("__") && name.ends_with("__"))
}

/// Rhai takes it as an identifier: ASCII, and a letter is the first thing after any underscores.
pub fn is_identifier(name: &str) -> bool {
    let first = name.trim_start_matches('_').chars().next();
    first.is_some_and(|c| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A name that can stand after a dot as it is.
pub fn is_property(name: &str) -> bool {
    is_identifier(name) && name != "switch"
}

/// The Rhai spelling of a Python variable, function or parameter. One to one: a reserved word gets a trailing `_`,
/// and so does a name that would otherwise look like the result (`new` → `new_`, `new_` → `new__`).
pub fn variable(name: &str) -> Cow<'_, str> {
    if is_identifier(name) {
        let stem = name.trim_end_matches('_');
        let is_temporary =
            stem.len() < name.len() && TEMPORARIES.contains(&stem.trim_end_matches(|c: char| c.is_ascii_digit()));
        if is_temporary || RESERVED.contains(&stem) || TAKEN.contains(&stem) {
            return Cow::Owned(format!("{name}_"));
        }
        return Cow::Borrowed(name);
    }
    let mut spelled = String::with_capacity(name.len() + 10);
    if !name.trim_start_matches('_').starts_with(char::is_alphabetic) {
        spelled.push_str("underscore");
    }
    for character in name.chars() {
        if character.is_ascii() {
            spelled.push(character);
        } else {
            spelled.push_str(&format!("u{:04x}_", u32::from(character)));
        }
    }
    Cow::Owned(spelled)
}

/// The Python name that is spelled this way, as far as a trailing `_` makes the difference.
pub fn original(spelled: &str) -> &str {
    spelled.strip_suffix('_').filter(|name| variable(name) == spelled).unwrap_or(spelled)
}

/// The key of an object map, quoted where Rhai would not read it bare.
pub fn map_key(name: &str) -> Cow<'_, str> {
    if is_identifier(name) && !RESERVED.contains(&name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("\"{name}\""))
    }
}
