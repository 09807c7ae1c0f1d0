//! Objects of classes that derive from Python's own: `class Table(dict)`, `class Name(str)`. Such an object holds a value
//! of the builtin class, whose methods it has beneath those of its own class.

use super::class::{Base, Class, Entry, Instance, as_rc, instance_of};
use super::descriptors::{self, NativeMethod, ReceiverKind, native_method};
use objects::calling::{NativeFunction, call_value};
use objects::container_methods;
use objects::iterate::iterate;
use objects::plain::{containers, type_forms};
use std::rc::Rc;
use tensor::{Error, Result, bail};
use value::equality::{SPECIAL, is};
use value::{Dict, Keywords, List, Method, Set, Value};

/// The builtin classes whose objects hold a value.
const CLASSES: &[&str] = &[
    "dict",
    "collections.OrderedDict",
    "list",
    "set",
    "frozenset",
    "tuple",
    "str",
    "int",
    "float",
    "complex",
    "bytes",
    "bytearray",
    "property",
    "classmethod",
    "staticmethod",
    "types.GenericAlias",
];

impl Base {
    /// Returns which of [`CLASSES`] the bases of a class include.
    ///
    /// # Errors
    /// TypeError if there are several, none of which derives from the others.
    pub(super) fn held_in(order: &[Base]) -> Result<Option<&'static str>> {
        let mut found: Option<&'static str> = None;
        for base in order {
            let Base::Builtin(class) = base else { continue };
            if !CLASSES.contains(class) {
                continue;
            }
            match found {
                Some(known) if !Base::Builtin(known).derives(base) => {
                    bail!(TypeError, "multiple bases have instance lay-out conflict")
                }
                Some(_) => {}
                None => found = Some(class),
            }
        }
        Ok(found)
    }
}

impl Base {
    /// Returns the value of a new object before it is filled; `None` for a class that has no empty value.
    pub(super) fn empty(class: &str) -> Option<Value> {
        Some(match class {
            "dict" => Value::Dict(Dict::default()),
            "collections.OrderedDict" => Value::Dict(Dict::default().to_kind(true)),
            "list" => Value::List(List::default()),
            "set" => Value::Set(Set::default()),
            "frozenset" => Value::Set(Set::default().to_kind(true)),
            "tuple" => Value::tuple([]),
            "str" => Value::str(""),
            "int" => Value::Int(0),
            "float" => Value::Float(0.0),
            _ => return None,
        })
    }
}

impl Base {
    /// Returns a shallow copy of the value that an object holds.
    pub(super) fn copied(held: &Value) -> Value {
        match held {
            Value::Dict(dict) => Value::Dict(dict.to_kind(dict.is_ordered())),
            Value::List(list) => Value::List(list.to_vec().into()),
            Value::Set(set) => Value::Set(set.to_kind(set.is_frozen())),
            other => other.clone(),
        }
    }
}

/// Returns whether the value is filled by `__init__`, not by `__new__`.
fn is_filled_later(class: &str) -> bool {
    matches!(class, "dict" | "collections.OrderedDict" | "list" | "set" | "bytearray")
}

/// Returns whether the class has no hash: what its objects hold may change.
fn is_unhashable(class: &str) -> bool {
    is_filled_later(class) || class == "numpy.ndarray"
}

impl Base {
    /// Creates an object whose class derives from `holds`, as the `__new__` of that class does.
    ///
    /// # Errors
    /// Those of the builtin class.
    pub(super) fn new_held(
        class: &Rc<Class>,
        holds: &'static str,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> Result<Value> {
        let base = Base::User(class.clone());
        if is_filled_later(holds) && Base::empty(holds).is_some() {
            return Ok(Value::Object(Instance::new(base)));
        }
        let machine = class.machine()?;
        let (args, keywords) = match is_filled_later(holds) || holds == "property" {
            true => (Vec::new(), Keywords::new()),
            false => (args, keywords),
        };
        let made = match holds {
            "property" | "classmethod" | "staticmethod" => descriptors::construct(holds, &args, &keywords)?,
            _ => call_value(&machine.state, &Value::Type(holds), args, keywords)?,
        };
        // `int(x)` of an object that has `__int__` may be an object of this kind.
        let held = made.underlying().unwrap_or(made);
        Ok(Value::Object(Instance::with(base, Some(held), None)))
    }
}

/// `dict.__new__(cls, ...)`
fn new(_: &Value, mut args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    if args.is_empty() {
        bail!(TypeError, "__new__(): not enough arguments");
    }
    let class = args.remove(0);
    match (as_rc::<Class>(&class), &class) {
        (Some(class), _) => match class.holds {
            Some(holds) => Base::new_held(&class, holds, args, keywords),
            None => Ok(Value::Object(Instance::new(Base::User(class)))),
        },
        (None, Value::Type(_)) => {
            bail!(NotImplementedError, "__new__ of a builtin class is not supported at this prompt")
        }
        (None, other) => bail!(TypeError, "__new__(X): X is not a type object ({})", other.type_name()),
    }
}

/// `dict.__init__(self, ...)`: fills a value that can change.
fn initialise(this: &Value, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    let Some(object) = instance_of(this) else { return Ok(Value::None) };
    if let Some(property) = this.underlying().as_ref().and_then(as_rc::<descriptors::Property>) {
        property.0.replace(descriptors::property(&args, &keywords)?);
        return Ok(Value::None);
    }
    let Base::User(class) = &object.class else { return Ok(Value::None) };
    let (Some(holds), Some(held)) = (class.holds.filter(|holds| is_filled_later(holds)), this.underlying()) else {
        return Ok(Value::None);
    };
    let machine = class.machine()?;
    if let Value::Dict(dict) = &held {
        // Filled by the class's own methods if it has some, as CPython's `OrderedDict` does.
        let filled = call_value(&machine.state, &Value::Type(holds), args, keywords)?;
        for (key, value) in filled.entries().unwrap_or_default() {
            match (holds, object.class.find("__setitem__")) {
                ("collections.OrderedDict", Some(entry @ Entry::ObjectState(_))) => {
                    super::class::call_entry(&entry, this, &object.class, vec![key, value], Keywords::new())?;
                }
                _ => dict.insert(key, value)?,
            }
        }
        return Ok(Value::None);
    }
    let name = Base::Builtin(holds).name();
    if !keywords.is_empty() {
        bail!(TypeError, "{name}() takes no keyword arguments");
    }
    if args.len() > 1 {
        bail!(TypeError, "{name} expected at most 1 argument, got {}", args.len());
    }
    let mut items = Vec::new();
    if let Some(source) = args.first() {
        items = iterate(&machine.state, source)?.collect()?;
    }
    match &held {
        Value::List(list) => list.replace(items)?,
        Value::Set(set) => {
            set.replace(Vec::new())?;
            items.into_iter().try_for_each(|item| set.insert(item))?;
        }
        _ => {
            let filled = call_value(&machine.state, &Value::Type(holds), args, keywords)?;
            run(&machine.state, &held, "extend", &[filled], &Keywords::new())?;
        }
    }
    Ok(Value::None)
}

/// `dict[str, int]`, for a class that derives from `dict`.
fn parametrised(this: &Value, args: Vec<Value>, _: Keywords) -> Result<Value> {
    match args.into_iter().next() {
        Some(args) => {
            let machine = as_rc::<Class>(this).map(|class| class.machine()).transpose()?;
            let machine = machine.ok_or_else(|| Error::type_error("__class_getitem__() needs a class"))?;
            Ok(type_forms::alias(&machine.state, this.clone(), args))
        }
        None => bail!(TypeError, "__class_getitem__() takes exactly one argument (0 given)"),
    }
}

impl Base {
    /// Returns whether the objects of a builtin class hold a value.
    pub(super) fn is_held(class: &str) -> bool {
        CLASSES.contains(&class)
    }

    /// Returns the methods that every builtin class has whose objects hold a value.
    pub(super) fn held_natives(class: &str) -> &'static [(&'static str, NativeMethod)] {
        if Base::is_held(class) { NATIVES } else { &[] }
    }
}

/// The methods that every one of [`CLASSES`] has besides those of its values.
const NATIVES: &[(&str, NativeMethod)] = &[
    ("__new__", NativeMethod { takes: ReceiverKind::Nothing, ..native_method("object", "__new__", new) }),
    ("__init__", native_method("object", "__init__", initialise)),
    (
        "__class_getitem__",
        NativeMethod { takes: ReceiverKind::Class, ..native_method("object", "__class_getitem__", parametrised) },
    ),
];

impl Base {
    /// Returns the names for which [`Base::held_entry`] may find something.
    pub(super) fn held_names(class: &'static str) -> impl Iterator<Item = &'static str> {
        let known = CLASSES.contains(&class);
        let own = if known { container_methods::members_of(class) } else { Vec::new() };
        own.into_iter()
            .chain(type_forms::SPECIAL)
            .filter(move |_| known)
            .chain(is_unhashable(class).then_some("__hash__"))
    }
}

impl Base {
    /// Finds what a builtin class gives to the objects of classes that derive from it.
    pub(super) fn held_entry(class: &'static str, name: &str) -> Option<Entry> {
        match name {
            "__hash__" if is_unhashable(class) => Some(Entry::ObjectState(Value::None)),
            // These are `object`'s, and call `__repr__` and `__str__`.
            "__str__" if class != "str" => None,
            "__format__" if !matches!(class, "str" | "int" | "float" | "complex") => None,
            _ if !CLASSES.contains(&class) => None,
            _ if class == "types.GenericAlias" => {
                type_forms::SPECIAL.into_iter().find(|known| *known == name).map(Entry::Held)
            }
            _ => container_methods::name_in(class, name).map(Entry::Held),
        }
    }
}

impl Base {
    /// Returns a method of a builtin class, bound to an object.
    pub(super) fn held_method(name: &'static str, this: Value) -> Value {
        let object = this.clone();
        NativeFunction::method(name, &object, move |args, keywords| Base::call_held(name, &this, args, &keywords))
    }
}

impl Base {
    /// Returns a method of the builtin class that a class derives from, bound to none.
    pub(super) fn held_unbound(&self, name: &'static str) -> Value {
        let Base::User(user) = self else { return Value::None };
        if !is_of_class(self, name) {
            return Value::Method(Rc::new(Method { of: Value::Type(user.holds.unwrap_or("object")), name }));
        }
        let class = self.clone();
        NativeFunction::value(name, move |args, keywords| of_class(&class, name, args, keywords))
    }
}

/// Returns whether a method is one of the class, such as `dict.fromkeys`.
fn is_of_class(class: &Base, name: &str) -> bool {
    matches!(class, Base::User(class) if class.holds.is_some_and(|holds| container_methods::is_of_class(holds, name)))
}

/// `Table.fromkeys(...)`: the builtin class makes a value, and the class an object of it.
fn of_class(class: &Base, name: &'static str, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    let Base::User(class) = class else { bail!(TypeError, "{name}() needs a class") };
    let machine = class.machine()?;
    let holds = class.holds.unwrap_or("object");
    let made = run(&machine.state, &Value::Type(holds), name, &args, &keywords)?;
    if name == "maketrans" {
        return Ok(made);
    }
    super::construct::construct(class, vec![made], Keywords::new())
}

impl Base {
    /// Runs a method of a builtin class on the value that an object holds.
    ///
    /// # Errors
    /// Those of the method; TypeError for an object that holds no value.
    pub(super) fn call_held(name: &'static str, this: &Value, args: Vec<Value>, keywords: &Keywords) -> Result<Value> {
        let (Some(object), Some(held)) = (instance_of(this), this.underlying()) else {
            bail!(TypeError, "descriptor '{name}' doesn't apply to a '{}' object", this.type_name())
        };
        let state = super::class::machine_of(&object.class)?.state.clone();
        let args = match is_operator(name) {
            true => args.iter().map(|arg| arg.underlying().unwrap_or_else(|| arg.clone())).collect(),
            false => args,
        };
        match (name, &held, args.as_slice()) {
            ("__repr__", Value::Set(_), _) => return shown(&object, run(&state, &held, name, &args, keywords)?),
            ("__repr__", Value::Dict(dict), _) if dict.is_ordered() => {
                return shown(&object, run(&state, &held, name, &args, keywords)?);
            }
            ("__format__", _, [Value::Str(spec)]) if spec.is_empty() => return state.str(this).map(Value::str),
            ("__getitem__", Value::Dict(dict), [key]) => {
                return match dict.get(key)? {
                    Some(value) => Ok(value),
                    None => object
                        .method("__missing__", vec![key.clone()])
                        .unwrap_or_else(|| Err(containers::no_key(&state, key))),
                };
            }
            _ => {}
        }
        let answer = run(&state, &held, name, &args, keywords)?;
        // `+=` returns the object.
        let can_change = matches!(held, Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Buffer(_));
        Ok(if can_change && is(&answer, &held) { this.clone() } else { answer })
    }
}

fn run(state: &call::State, receiver: &Value, name: &str, args: &[Value], keywords: &Keywords) -> Result<Value> {
    let absent = || Err(Error::attribute(format!("'{}' object has no attribute '{name}'", receiver.type_name())));
    if let Value::Object(object) = receiver {
        return object.special(name, args).unwrap_or_else(absent);
    }
    container_methods::call(state, receiver, name, args, keywords).unwrap_or_else(absent)
}

fn is_operator(name: &str) -> bool {
    name != "__mod__" && SPECIAL.iter().any(|(_, ours, theirs)| name == *ours || name == *theirs)
}

/// Returns the text of a set or ordered dictionary, which begins with the name of its class.
fn shown(object: &Instance, text: Value) -> Result<Value> {
    let Value::Str(text) = &text else { return Ok(text) };
    let name = object.class.name();
    Ok(Value::str(match text.split_once('(') {
        Some((_, rest)) if !text.starts_with('{') => format!("{name}({rest}"),
        _ => format!("{name}({text})"),
    }))
}
