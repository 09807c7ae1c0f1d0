//! Attributes of values by name: reading, setting and deleting. Objects look up their own through [`value::Object`].

use crate::calling;
use crate::legacy_classes::{class_attribute, class_of_dtype};
use crate::modules;
use call::bind::Bound;
use call::dispatch::invoke;
use call::extras::Extras;
use call::registry::{Attributes, of_class};
use call::state::Import;
use call::{Call, Function, Kind, LIBRARY, Receiver, State, suggest};
use std::rc::Rc;
use tensor::bail;
use tensor::{Error, Result};
use value::equality::NotImplemented;
use value::{Method, Object, Value};

/// `value.name`.
///
/// # Errors
/// AttributeError in Python's words.
pub fn attribute(state: &State, value: &Value, name: &str) -> Result<Value> {
    let found = own_attribute(state, value, name);
    if found.is_ok() || !name.starts_with("__") {
        return found;
    }
    let special = state.special_attribute.borrow().clone();
    match special {
        Some(special) => special(value, name)?.map_or(found, Ok),
        None => found,
    }
}

fn own_attribute(state: &State, value: &Value, name: &str) -> Result<Value> {
    let missing = || suggest::no_attribute(state, value, name);
    let method = state.registry.methods.find;
    match value {
        Value::Module(module) => match of_module(state, module, name) {
            Some(member) => Ok(member),
            None => match (state.registry.outside.member)(state, module, name)? {
                Some(member) => Ok(member),
                None => in_library(state, module, name)?.ok_or_else(missing),
            },
        },
        Value::Object(object) if let Some(found) = object.own_attribute(name) => found,
        Value::Object(object) if object.is_array() => {
            let family =
                state.registry.family(name).filter(|family| family.find(Receiver::Class(Kind::Array)).is_some());
            let of = || Some(Value::Method(Rc::new(Method { of: value.clone(), name: family?.name })));
            of().or_else(|| method(value, name)).ok_or_else(missing)
        }
        Value::Object(object) => object
            .attribute(name)
            .or_else(|| method(value, name))
            .or_else(|| method_of_file(state, object, name).map(|name| bound(value, name)))
            .ok_or_else(missing),
        Value::NamedTuple(tuple) => {
            let field = tuple.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone());
            field.or_else(|| method(value, name)).ok_or_else(missing)
        }
        Value::Slice(slice) => match name {
            "start" => Ok(slice.start.clone()),
            "stop" => Ok(slice.stop.clone()),
            "step" => Ok(slice.step.clone()),
            _ => method(value, name).ok_or_else(missing),
        },
        Value::Range(range) if let "start" | "stop" | "step" = name => Ok(Value::Int(match name {
            "start" => range.start,
            "stop" => range.stop,
            _ => range.step,
        })),
        Value::Method(method) if let "__name__" | "__qualname__" | "__self__" = name => Ok(match (name, &method.of) {
            ("__name__", _) => Value::str(method.name),
            ("__self__", of) => of.clone(),
            (_, Value::Type(class)) => {
                Value::str(format!("{}.{}", class.rsplit('.').next().unwrap_or(class), method.name))
            }
            (_, of) => Value::str(format!("{}.{}", of.type_name(), method.name)),
        }),
        _ if let Some(method) = method(value, name) => Ok(method),
        Value::Type(class) => class_attribute(state, class, name).ok_or_else(missing),
        Value::Function(path) => calling::function_attribute(state, path, name).ok_or_else(missing),
        _ => {
            let kind = Kind::of(value).ok_or_else(missing)?;
            if let Some(function) = state.registry.attribute(name, kind) {
                return read(state, function, value);
            }
            if let Some(extra) = state.extras.get(value, name) {
                return Ok(extra);
            }
            if name == "__dict__"
                && let Some(own) = state.extras.all(value)
            {
                return Ok(Value::Dict(own));
            }
            let class = value.class_name().rsplit('.').next().unwrap_or_default();
            if let Some(family) = state.registry.family(name)
                && family.find(Receiver::Class(kind)).is_some()
            {
                return Ok(Value::Method(Rc::new(Method { of: value.clone(), name: family.name })));
            }
            state.registry.find(name, Receiver::Module(class)).ok_or_else(missing)?;
            Ok(Value::Function(format!("{class}.{name}").into()))
        }
    }
}

/// Returns the name of a method of files, whose rows stand for all rarer objects.
fn method_of_file(state: &State, object: &Rc<dyn Object>, name: &str) -> Option<&'static str> {
    if !["_io.", "tempfile."].iter().any(|module| object.class_name().starts_with(module)) {
        return None;
    }
    let family = state.registry.family(name)?;
    family.find(Receiver::Class(Kind::Object)).map(|_| family.name)
}

fn bound(value: &Value, name: &'static str) -> Value {
    Value::Method(Rc::new(Method { of: value.clone(), name }))
}

/// Returns what the library's text of a module has, in Python.
fn in_library(state: &State, module: &'static str, name: &str) -> Result<Option<Value>> {
    let of_all = [
        "__all__",
        "__class__",
        "__dict__",
        "__file__",
        "__loader__",
        "__name__",
        "__package__",
        "__path__",
        "__spec__",
    ];
    if !LIBRARY.contains(&module) || of_all.contains(&name) {
        return Ok(None);
    }
    let importer = state.importer.borrow().clone();
    match importer.map(|importer| importer(Import::Member(module, name))).transpose()? {
        Some(Value::Object(absent)) if absent.as_any().is::<NotImplemented>() => Ok(None),
        found => Ok(found),
    }
}

/// Reads the attribute that a row of the table defines for the value's class.
pub fn read(state: &State, function: &Function, value: &Value) -> Result<Value> {
    let mut call = Call::of(state, function, Bound::new());
    call.args.push(value.clone());
    invoke(function, &mut call)
}

/// Like [`read`], for attributes already found by name that take precedence over other members. Returns `None` if none
/// of them belongs to the value's class.
#[inline]
pub fn read_directly(state: &State, attributes: &Attributes, value: &Value) -> Option<Result<Value>> {
    let function = of_class(attributes, Kind::of(value).filter(|_| !attributes.is_empty())?)?;
    Some(read(state, function, value))
}

/// Returns a member of a module: what a script has set, or what the module has. Unlike [`attribute`], it does not look
/// for the name that was meant.
pub fn of_module(state: &State, module: &'static str, name: &str) -> Option<Value> {
    module_flag(state, module, name).or_else(|| module_member(state, module, name))
}

/// Returns an attribute that a script has set on a module.
fn module_flag(state: &State, module: &str, name: &str) -> Option<Value> {
    if state.flags.borrow().is_empty() { None } else { state.flag(&flag_path(module, name)) }
}

fn flag_path(module: &str, name: &str) -> String {
    format!("{module}.{name}")
}

fn module_member(state: &State, module: &'static str, name: &str) -> Option<Value> {
    let registry_module = match module {
        "torch" => "",
        "builtins" => "py",
        module => module,
    };
    if module == "torch"
        && let Some(value) = modules::member(name)
    {
        return Some(value);
    }
    if (module, name) == ("torch", "Storage") {
        return class_of_dtype(state.default_dtype.get()).map(Value::Type);
    }
    if module == "sys"
        && let Some(value) = state.sys.get_str(name)
    {
        return Some(value);
    }
    if name == "__name__" {
        let outer = if module == "torch" || LIBRARY.contains(&module) { "" } else { "torch." };
        return Some(Value::str(format!("{outer}{module}")));
    }
    modules::module_value(module, name).or_else(|| {
        let overloads = state.registry.find(name, Receiver::Module(registry_module))?;
        // Functions outside of `torch` are identified by their path.
        let path = if module == "torch" { overloads.name.into() } else { format!("{registry_module}.{name}").into() };
        Some(Value::Function(path))
    })
}

pub fn set_attribute(state: &State, target: &Value, name: &str, value: &Value) -> Result<()> {
    if let Value::Object(object) = target
        && let Some(done) = object.set_attribute(name, value)
    {
        return done;
    }
    // What a module already has stays, except for the flags of backends: calls would not see another function.
    if let Value::Module("sys") = target
        && state.sys.get_str(name).is_some()
    {
        return state.sys.insert(Value::str(name), value.clone());
    }
    if let Value::Module(module) = target {
        let can_change = match module_member(state, module, name) {
            None => true,
            Some(Value::Function(_) | Value::Module(_)) => false,
            Some(_) => module.starts_with("backends.") || *module == "utils.deterministic",
        };
        if can_change {
            modules::check_flag(state, module, name, value)?;
            state.set_flag(&flag_path(module, name), value.clone());
            return Ok(());
        }
    }
    if let Some(function) = Kind::of(target).and_then(|kind| state.registry.setter(name, kind)) {
        let args = [target.clone(), value.clone()].into_iter().collect();
        return invoke(function, &mut Call::of(state, function, args)).map(drop);
    }
    let defined = Kind::of(target).is_some_and(|kind| state.registry.attribute(name, kind).is_some());
    let open = Extras::fit(target) && !defined;
    if open {
        return state.extras.set(target, name, value);
    }
    if !defined {
        attribute(state, target, name)?;
    }
    Err(fixed(state, target, name, "setter"))
}

/// `del target.name` for an attribute that a script has added. A built-in attribute of a tensor is set to `None`
/// instead.
///
/// # Errors
/// AttributeError in Python's words.
pub fn delete_attribute(state: &State, target: &Value, name: &str) -> Result<()> {
    if let Value::Object(object) = target
        && let Some(done) = object.delete_attribute(name)
    {
        return done;
    }
    if state.extras.remove(target, name)? {
        return Ok(());
    }
    match (target, name) {
        (Value::Tensor(_), "data") => {
            bail!(RuntimeError, "Deleting tensor data is not allowed. Delete tensor instead!")
        }
        (Value::Tensor(_), "_backward_hooks") => bail!(RuntimeError, "Deletion of _backwards_hooks not allowed!"),
        (_, "__class__") => bail!(TypeError, "can't delete __class__ attribute"),
        _ => {}
    }
    if let (Value::Tensor(_), Some(_)) = (target, state.registry.setter(name, Kind::Tensor)) {
        return set_attribute(state, target, name, &Value::None);
    }
    attribute(state, target, name)?;
    Err(fixed(state, target, name, "deleter"))
}

/// The error for a read-only attribute. Python words it differently for properties and for attributes defined in C.
fn fixed(state: &State, target: &Value, name: &str, lacks: &str) -> Error {
    let row = Kind::of(target).and_then(|kind| state.registry.attribute(name, kind)).map(|function| function.row);
    match row.and_then(|row| row.python).and_then(|path| path.split_once('.')) {
        Some(("StorageBase", _)) => {
            Error::attribute(format!("attribute '{name}' of 'torch._C.StorageBase' objects is not writable"))
        }
        Some((class, _)) => Error::attribute(format!("property '{name}' of '{class}' object has no {lacks}")),
        None => {
            let class = if let Value::Tensor(_) = target { "torch._C.TensorBase" } else { target.type_name() };
            Error::attribute(format!("attribute '{name}' of '{class}' objects is not writable"))
        }
    }
}
