//! Methods of Python's built-in classes, which both languages find by name and run on the value itself. The tables
//! stand beside their classes (`text.rs`, `bytes.rs`, `numbers.rs`, `tuples.rs`, `lists.rs`, `dicts.rs`, `sets.rs`),
//! and only they implement the methods. Lower rooms reach the methods through the registry (`METHODS`).

use crate::calling;
use crate::methods::{Given, Table, run};
use crate::operators;
use crate::plain::{dicts, lists, numbers, sets, special, tuples};
use crate::special_methods::{self, Does, TENSOR};
use crate::strings::{bytes, text};
use call::State;
use call::registry::Methods;
use std::rc::Rc;
use tensor::{BufferKind, Error, Result, TypeCode, bail};
use value::equality::{NotImplemented, Number, number};
use value::{Keywords, Method, Object, Value};

/// The entry points that the registry offers to lower rooms.
pub const METHODS: Methods = Methods { call, find: method, names };

/// Returns the class whose methods a value has; `None` if these tables do not cover it.
fn class_of(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Bool(_) => "int",
        Value::NamedTuple(_) | Value::Size(_) => "tuple",
        Value::Str(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Complex(_)
        | Value::Buffer(_)
        | Value::Tuple(_)
        | Value::Range(_)
        | Value::Slice(_)
        | Value::List(_)
        | Value::Dict(_)
        | Value::Set(_) => value.class_name(),
        Value::Object(object) if dicts::set_like(value).is_some() => object.class_name(),
        _ => return None,
    })
}

/// `receiver.name(*args, **keywords)`. Returns `None` if the value or class has no such method here.
pub fn call(state: &State, receiver: &Value, name: &str, args: &[Value], keywords: &Keywords) -> Option<Result<Value>> {
    let plain;
    let args = match receiver {
        // A text's methods keep none of their arguments, and read texts.
        Value::Str(_) if !name.starts_with("format") && name != "__mod__" && args.iter().any(is_derived) => {
            plain = args.iter().map(|arg| arg.underlying().unwrap_or_else(|| arg.clone())).collect::<Vec<_>>();
            plain.as_slice()
        }
        _ => args,
    };
    let given = Given { state, args, keywords };
    let found = match receiver {
        Value::Str(text) => run(&[text::METHODS], "str", text, name, &given),
        Value::Bool(_) | Value::Int(_) | Value::BigInt(_) => run(&[numbers::INT], "int", receiver, name, &given),
        Value::Float(float) => run(&[numbers::FLOAT], "float", float, name, &given),
        Value::Complex(complex) => run(&[numbers::COMPLEX], "complex", complex, name, &given),
        Value::Buffer(buffer) => run(bytes::tables(buffer.kind()), receiver.class_name(), buffer, name, &given),
        Value::Tuple(_) | Value::NamedTuple(_) | Value::Size(_) => {
            run(&[tuples::TUPLE], "tuple", receiver, name, &given)
        }
        Value::Range(range) => run(&[tuples::RANGE], "range", range, name, &given),
        Value::Slice(slice) => run(&[tuples::SLICE], "slice", &**slice, name, &given),
        Value::List(list) => run(&[lists::METHODS], "list", list, name, &given),
        Value::Dict(dict) => {
            let ordered =
                if dict.is_ordered() { run(&[dicts::ORDERED], "OrderedDict", dict, name, &given) } else { None };
            ordered.or_else(|| run(&[dicts::METHODS], "dict", dict, name, &given))
        }
        Value::Set(set) => {
            let changes = sets::METHODS_THAT_CHANGE;
            run(&[sets::METHODS], receiver.type_name(), set, name, &given)
                .or_else(|| if set.is_frozen() { None } else { run(&[changes], "set", set, name, &given) })
        }
        Value::Object(object) if name.starts_with("__") && is_of_numpy(object) => {
            let (_, does) = of_plain(receiver, name)?;
            return Some(done(does, receiver, &given));
        }
        Value::Object(_) => {
            let view = dicts::set_like(receiver)?;
            run(&[dicts::VIEW], receiver.class_name(), view, name, &given)
        }
        Value::Type(class) => return of_class(class, name, &given),
        value if name.starts_with("__") => {
            let (_, does) = of_plain(value, name)?;
            return Some(done(does, receiver, &given));
        }
        _ => return None,
    };
    let class = class_of(receiver)?;
    found.or_else(|| class_method(class, name, &given)).or_else(|| special(class, receiver, name, &given))
}

/// Returns whether a value's class derives from one of Python's own.
fn is_derived(value: &Value) -> bool {
    value.underlying().is_some()
}

/// Returns whether an object is an array or one of NumPy's scalars.
fn is_of_numpy(object: &Rc<dyn Object>) -> bool {
    let class = object.class_name();
    class.starts_with("numpy.") && has_special_methods(class)
}

/// Finds a special method of a value whose class has no table.
fn of_plain(value: &Value, name: &str) -> Option<(&'static str, Does)> {
    match value {
        Value::Tensor(_) => special_methods::find("Tensor", name),
        Value::Storage(_) | Value::TypedStorage(_) => special_methods::find("Storage", name),
        Value::Object(object) if is_of_numpy(object) => special_methods::find(object.class_name(), name),
        Value::DType(_) | Value::Device(_) | Value::Layout(_) | Value::None => {
            special_methods::function(value.type_name(), name)
        }
        _ => None,
    }
}

/// `receiver.__name__(*args)`: calls a special method of the receiver's class.
fn special(class: &str, receiver: &Value, name: &str, given: &Given) -> Option<Result<Value>> {
    let (_, does) = special_methods::find(class, name)?;
    Some(done(does, receiver, given))
}

/// Runs a special method on its receiver and arguments.
fn done(does: Does, receiver: &Value, given: &Given) -> Result<Value> {
    let count = if let Does::Function(_, count) = does { count } else { 1 };
    if given.args.len() != count {
        let (plural, got) = (if count == 1 { "" } else { "s" }, given.args.len());
        return Err(Error::type_error(format!("expected {count} argument{plural}, got {got}")));
    }
    let (symbol, other) = match does {
        Does::Function(path, _) => {
            let args = std::iter::once(receiver).chain(given.args).cloned().collect();
            return calling::call_plain(given.state, &Value::Function(path.into()), args);
        }
        Does::Operator(symbol) | Does::Reflected(symbol) | Does::InPlace(symbol) => (symbol, given.at(0)),
    };
    let Some(operator) = operators::find(symbol) else { bail!(TypeError, "there is no operator {symbol}") };
    let of_tensor = matches!(receiver, Value::Tensor(_));
    match does {
        _ if !knows(receiver, symbol, &other, does) => Ok(Value::Object(Rc::new(NotImplemented))),
        Does::InPlace(_) => operators::in_place(given.state, operator, receiver, &other),
        Does::Reflected("/") if of_tensor => operators::quotient(given.state, &other, receiver),
        Does::Reflected(_) if symbol != "*" || of_tensor => operators::binary(given.state, operator, &other, receiver),
        // `__mul__` and `__rmul__` of a sequence both take the number of repetitions.
        _ if symbol == "*" && number(receiver).is_none() && !of_tensor => {
            special::index(&other).and_then(|times| operators::binary(given.state, operator, receiver, &times))
        }
        _ => operators::binary(given.state, operator, receiver, &other),
    }
}

/// Returns whether the special method of an operator accepts the class of the other operand. If it does not, Python
/// tries the method of the other operand.
fn knows(this: &Value, symbol: &str, other: &Value, does: Does) -> bool {
    if let Value::Tensor(_) = this {
        return operators::is_operand(other) && (symbol != "@" || matches!(other, Value::Tensor(_)));
    }
    if let Value::Object(object) = this
        && is_of_numpy(object)
    {
        let is_known = |other: &Value| matches!(other, Value::Object(other) if is_of_numpy(other));
        return object.is_array() || number(other).is_some() || is_known(other);
    }
    let rank = |value: &Value| match number(value) {
        Some(Number::Int(_) | Number::Big(_)) => Some(1),
        Some(Number::Float(_)) => Some(2),
        Some(Number::Complex(_)) => Some(3),
        None => None,
    };
    if let Some(own) = rank(this) {
        let ordered = own < 3 || !matches!(symbol, "<" | "<=" | ">" | ">=");
        return ordered && rank(other).is_some_and(|other| other <= own);
    }
    let alike = match (class_of(this), class_of(other)) {
        (Some("set" | "frozenset"), Some("set" | "frozenset")) => true,
        (Some("bytes" | "bytearray"), Some("bytes" | "bytearray")) => true,
        (Some("dict" | "collections.OrderedDict"), Some("dict" | "collections.OrderedDict")) => true,
        (own, class) => own == class,
    };
    match symbol {
        "==" | "!=" => alike,
        "<" | "<=" | ">" | ">=" => alike && !matches!(this, Value::Dict(_) | Value::Range(_)),
        "+" | "*" => true,
        "%" => matches!(does, Does::Operator(_)) || alike,
        "|" if matches!((this, does), (Value::Dict(_), Does::InPlace(_))) => true,
        _ => alike,
    }
}

fn class_method(class: &'static str, name: &str, given: &Given) -> Option<Result<Value>> {
    run::<str>(&[class_table(class)], class, class, name, given)
}

/// `class.name(*args, **keywords)`. The first argument is the receiver, unless `name` is a class method.
fn of_class(class: &'static str, name: &str, given: &Given) -> Option<Result<Value>> {
    if let Some(done) = class_method(class, name, given) {
        return Some(done);
    }
    let name = name_in(class, name)?;
    // PyTorch defines the methods of tensors in a base class, and none of them is a slot.
    let (shown, is_special) = match class {
        TENSOR => ("torch._C.TensorBase", false),
        _ => (class, name.starts_with("__")),
    };
    let Some((this, args)) = given.args.split_first() else {
        return Some(Err(Error::type_error(match is_special {
            true => format!("descriptor '{name}' of '{class}' object needs an argument"),
            false => {
                format!("unbound method {}.{name}() needs an argument", shown.rsplit('.').next().unwrap_or(shown))
            }
        })));
    };
    let held = this.underlying();
    let this = held.as_ref().unwrap_or(this);
    let is_it = match this {
        Value::Tensor(_) => class == TENSOR,
        Value::Size(_) if class == "torch.Size" => true,
        Value::Storage(_) | Value::TypedStorage(_) => class == this.class_name(),
        Value::Object(object) if is_of_numpy(object) => class == object.class_name(),
        this => class_of(this).is_some_and(|own| own == class || (own, class) == ("collections.OrderedDict", "dict")),
    };
    let done = if is_it { call(given.state, this, name, args, given.keywords) } else { None };
    Some(done.unwrap_or_else(|| {
        let wrong = this.type_name();
        if is_special {
            bail!(TypeError, "descriptor '{name}' requires a '{class}' object but received a '{wrong}'");
        }
        bail!(TypeError, "descriptor '{name}' for '{shown}' objects doesn't apply to a '{wrong}' object")
    }))
}

/// The name, argument counts and documentation of a method.
#[derive(Clone, Copy)]
pub struct Known {
    pub name: &'static str,
    pub takes: (usize, usize),
    pub doc: &'static str,
}

/// The classes that have a table of methods.
pub const CLASSES: &[&str] = &[
    "str",
    "int",
    "float",
    "complex",
    "bytes",
    "bytearray",
    "array.array",
    "memoryview",
    "tuple",
    "range",
    "slice",
    "list",
    "dict",
    "collections.OrderedDict",
    "set",
    "frozenset",
];

fn known<T: ?Sized>(tables: &[Table<T>], visit: &mut dyn FnMut(Known)) {
    let methods = tables.iter().flat_map(|table| *table);
    methods.for_each(|method| visit(Known { name: method.name, takes: method.takes, doc: method.doc }));
}

/// Returns the table of class methods, such as `dict.fromkeys`.
fn class_table(class: &str) -> Table<str> {
    match class {
        "str" => text::OF_CLASS,
        "int" | "bool" => numbers::INT_OF_CLASS,
        "float" => numbers::FLOAT_OF_CLASS,
        "bytes" | "bytearray" => bytes::OF_CLASS,
        "dict" | "collections.OrderedDict" => dicts::OF_CLASS,
        _ => &[],
    }
}

/// Returns the names of all that a builtin class has: its methods and special methods.
pub fn members_of(class: &str) -> Vec<&'static str> {
    let mut names = names(class);
    if has_special_methods(class) {
        names.extend(special_methods::names().filter(|name| special_methods::find(class, name).is_some()));
    }
    names
}

fn has_special_methods(class: &str) -> bool {
    CLASSES.contains(&class) || special_methods::as_listed(class) != class
}

/// Returns whether a builtin class has a class method of this name.
pub fn is_of_class(class: &str, name: &str) -> bool {
    class_table(class).iter().any(|method| method.name == name)
}

/// Returns the methods of a class; empty if it has no table.
pub fn methods(class: &str) -> Vec<Known> {
    let mut methods = Vec::new();
    each_method(class, &mut |method| methods.push(method));
    methods
}

fn names(class: &str) -> Vec<&'static str> {
    methods(class).into_iter().map(|method| method.name).collect()
}

fn each_method(class: &str, visit: &mut dyn FnMut(Known)) {
    match class {
        "str" => known(&[text::METHODS], visit),
        "int" | "bool" => known(&[numbers::INT], visit),
        "float" => known(&[numbers::FLOAT], visit),
        "complex" => known(&[numbers::COMPLEX], visit),
        "bytes" => known(bytes::tables(BufferKind::Bytes), visit),
        "bytearray" => known(bytes::tables(BufferKind::ByteArray), visit),
        "array.array" => known(bytes::tables(BufferKind::Array(TypeCode::U8)), visit),
        "memoryview" => known(bytes::tables(BufferKind::MemoryView { format: TypeCode::U8, writable: false }), visit),
        "tuple" | "torch.Size" => known(&[tuples::TUPLE], visit),
        "range" => known(&[tuples::RANGE], visit),
        "slice" => known(&[tuples::SLICE], visit),
        "list" => known(&[lists::METHODS], visit),
        "dict" => known(&[dicts::METHODS], visit),
        "collections.OrderedDict" => known(&[dicts::ORDERED, dicts::METHODS], visit),
        "dict_keys" | "dict_items" => known(&[dicts::VIEW], visit),
        "set" => known(&[sets::METHODS, sets::METHODS_THAT_CHANGE], visit),
        "frozenset" => known(&[sets::METHODS], visit),
        _ => return,
    }
    known(&[class_table(class)], visit);
}

/// Returns a method of a value or class as a callable value; `None` if there is no method of that name.
pub fn method(receiver: &Value, name: &str) -> Option<Value> {
    let class = match receiver {
        Value::Type(class) => class,
        value => match class_of(value) {
            Some(class) => class,
            None => {
                let (name, _) = of_plain(value, name).filter(|_| name.starts_with("__"))?;
                return Some(Value::Method(Rc::new(Method { of: receiver.clone(), name })));
            }
        },
    };
    let name = name_in(class, name)?;
    Some(Value::Method(Rc::new(Method { of: receiver.clone(), name })))
}

/// Returns the name of a class's method as a static string; `None` if the class has no such method.
pub fn name_in(class: &str, name: &str) -> Option<&'static str> {
    let special = || has_special_methods(class).then(|| special_methods::find(class, name)).flatten();
    let mut found = None;
    each_method(class, &mut |method| {
        if method.name == name {
            found = Some(method.name);
        }
    });
    found.or_else(|| special().map(|(name, _)| name))
}
