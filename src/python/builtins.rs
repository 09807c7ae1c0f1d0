//! Names that every function of Python knows: what the function table has for Python, exceptions, and the few builtins that
//! need the machine.

use super::class::{Class, as_rc};
use super::descriptors::{ClassMethod, Property, StaticMethod, Super};
use super::exceptions;
use super::machine::Machine;
use crate::bail;
use crate::call::{Receiver, State};
use crate::functions;
use crate::tensor::{Error, Result};
use crate::value::equality::NotImplemented;
use crate::value::{Dict, Keywords, Object, Value};
use std::rc::{Rc, Weak};

type Run = fn(&Machine, Vec<Value>, Keywords) -> Result<Value>;

/// A builtin that needs the machine.
struct Builtin {
    name: &'static str,
    is_class: bool,
    run: Run,
    machine: Weak<Machine>,
}

impl Object for Builtin {
    fn class_name(&self) -> &'static str {
        if self.is_class { "type" } else { "builtin_function_or_method" }
    }
    fn repr(&self) -> String {
        if self.is_class { format!("<class '{}'>", self.name) } else { format!("<built-in function {}>", self.name) }
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        matches!(name, "__name__" | "__qualname__").then(|| Value::str(self.name))
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        let machine = self.machine.upgrade()?;
        Some((self.run)(&machine, args, keywords))
    }
}

/// Name, whether it is a class, function.
const BUILTINS: &[(&str, bool, Run)] = &[
    ("property", true, property),
    ("staticmethod", true, |_, args, _| Ok(Value::Object(Rc::new(StaticMethod(only("staticmethod", args)?))))),
    ("classmethod", true, |_, args, _| Ok(Value::Object(Rc::new(ClassMethod(only("classmethod", args)?))))),
    ("super", true, |_, args, _| match args.as_slice() {
        [class, this] => match as_rc::<Class>(class) {
            Some(after) => Ok(Value::Object(Rc::new(Super { after, this: this.clone() }))),
            None => bail!(TypeError, "super() argument 1 must be a type, not {}", class.type_name()),
        },
        _ => bail!(RuntimeError, "super(): no arguments"),
    }),
    ("vars", false, |machine, args, _| {
        let this = only("vars", args)?;
        let found = functions::subscript::attribute(&machine.state, &this, "__dict__");
        found.map_err(|_| Error::type_error("vars() argument must have __dict__ attribute"))
    }),
    ("globals", false, |machine, _, _| {
        let variables = machine.variables.borrow();
        let entry = |name: Rc<str>| {
            let slot = variables.slot_of(&name)?;
            Some((Value::Str(name.into()), variables.get(slot)?.clone()))
        };
        Dict::new(variables.names().into_iter().filter_map(entry)).map(Value::Dict)
    }),
];

fn only(name: &str, args: Vec<Value>) -> Result<Value> {
    let count = args.len();
    match <[Value; 1]>::try_from(args) {
        Ok([value]) => Ok(value),
        Err(_) => bail!(TypeError, "{name} expected 1 argument, got {count}"),
    }
}

/// `property(fget, fset, fdel, doc)`
fn property(_: &Machine, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    let given = args.len() + keywords.len();
    if given > 4 {
        bail!(TypeError, "property() takes at most 4 arguments ({given} given)");
    }
    let part = |place: usize, name: &str| {
        let named = || keywords.iter().find(|(known, _)| &**known == name).map(|(_, value)| value.clone());
        args.get(place).cloned().or_else(named).unwrap_or(Value::None)
    };
    let (get, set, delete) = (part(0, "fget"), part(1, "fset"), part(2, "fdel"));
    let doc = match (part(3, "doc"), &get) {
        (Value::None, Value::Object(function)) => function.own_attribute("__doc__").and_then(Result::ok),
        (doc, _) => Some(doc),
    };
    Ok(Value::Object(Rc::new(Property { get, set, delete, doc: doc.unwrap_or(Value::None) })))
}

/// Returns whether Python means something by a name.
pub fn is_known(state: &State, name: &str) -> bool {
    BUILTINS.iter().any(|(known, ..)| *known == name) || of_table(state, name).is_some()
}

/// What Python means by a name that no variable has.
///
/// # Errors
/// RuntimeError when the session is gone.
pub fn find(machine: &Machine, name: &str) -> Result<Option<Value>> {
    if let Some((name, is_class, run)) = BUILTINS.iter().find(|(known, ..)| *known == name) {
        let machine = Rc::downgrade(&machine.handle()?);
        return Ok(Some(Value::Object(Rc::new(Builtin { name, is_class: *is_class, run: *run, machine }))));
    }
    Ok(of_table(&machine.state, name))
}

fn of_table(state: &State, name: &str) -> Option<Value> {
    let function = || {
        let is_ours = state.registry.find(name, Receiver::Module("py")).is_some();
        is_ours.then(|| Value::Function(format!("py.{name}").into()))
    };
    match name {
        "NotImplemented" => Some(Value::Object(Rc::new(NotImplemented))),
        "Ellipsis" => Some(Value::Ellipsis),
        "__name__" => Some(Value::str("__main__")),
        "torch" => Some(Value::Module("torch")),
        _ if name.starts_with("__") => None,
        _ => {
            exceptions::builtin(name).map(Value::Type).or_else(|| functions::module_value("py", name)).or_else(function)
        }
    }
}
