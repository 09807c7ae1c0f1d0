//! Names that are visible in every Python function: the table's functions for Python, exceptions, and the few builtins
//! that need the machine.

use super::code::SEEING;
use super::machine::Machine;
use super::{exceptions, operations};
use call::{Receiver, State};
use std::rc::{Rc, Weak};
use tensor::{Error, Result, bail};
use value::equality::NotImplemented;
use value::{Dict, Keywords, Object, Value, intern};

impl Machine {
    /// Returns the variables of the module as a dictionary, in which they are from now on.
    pub(super) fn globals(&self) -> Result<Dict> {
        if self.outer_lookup.borrow().is_none() {
            return self.variables.borrow_mut().in_dict();
        }
        let slots = self.variables.borrow().slots();
        let unset = slots.filter(|slot| self.variables.borrow().get(*slot).is_none());
        for slot in unset.collect::<Vec<_>>() {
            // A variable that is stored elsewhere until it is used.
            let name = self.variables.borrow().name(slot);
            if let Some(value) = operations::look_up_outside(self, &name) {
                self.variables.borrow_mut().set(slot, Some(value));
            }
        }
        self.variables.borrow_mut().in_dict()
    }
}

type Run = fn(&Machine, &[Value], &Keywords) -> Result<Value>;

/// Returns whether a value is one of [`SEEING`].
pub(super) fn sees_names(value: &Value) -> bool {
    let Value::Object(object) = value else { return false };
    object.as_any().downcast_ref::<Builtin>().is_some_and(|builtin| SEEING.contains(&builtin.name))
}

/// A builtin that needs the machine.
struct Builtin {
    name: &'static str,
    run: Run,
    machine: Weak<Machine>,
}

impl Object for Builtin {
    fn class_name(&self) -> &'static str {
        "builtin_function_or_method"
    }
    fn repr(&self) -> String {
        format!("<built-in function {}>", self.name)
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        matches!(name, "__name__" | "__qualname__").then(|| Value::str(self.name))
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        let machine = self.machine.upgrade()?;
        if !keywords.is_empty() && !matches!(self.name, "compile" | "__import__") {
            return Some(Err(Error::type_error(format!("{}() takes no keyword arguments", self.name))));
        }
        Some((self.run)(&machine, &args, &keywords))
    }
}

const BUILTINS: &[(&str, Run)] = &[
    ("__import__", imported_by_call),
    ("compile", Machine::compiled),
    ("dir", |machine, args, _| machine.dir(args)),
    ("eval", |machine, args, _| machine.run_source("eval", args)),
    ("exec", |machine, args, _| machine.run_source("exec", args)),
    ("globals", |machine, _, _| machine.globals().map(Value::Dict)),
    ("locals", |machine, _, _| machine.locals()),
    ("vars", |machine, args, _| machine.vars(args)),
];

/// `__import__(name, globals, locals, fromlist, level)`
fn imported_by_call(machine: &Machine, args: &[Value], keywords: &Keywords) -> Result<Value> {
    let argument = |place: usize, name: &str| {
        args.get(place).or_else(|| keywords.iter().find(|(known, _)| **known == *name).map(|(_, value)| value))
    };
    let Some(Value::Str(name)) = argument(0, "name") else { bail!(TypeError, "__import__() argument 1 must be str") };
    let level = match argument(4, "level") {
        Some(Value::Int(level)) => usize::try_from(*level).map_err(|_| Error::value("level must be >= 0"))?,
        _ => 0,
    };
    let names = argument(3, "fromlist").and_then(Value::sequence);
    machine.import(&format!("{}{name}", ".".repeat(level)), names.is_none_or(|names| names.is_empty()))
}

/// Returns the key under which the modules are kept whose names are all imported. Undo restores it with the other flags. Sources
/// of the program see none of a session's.
fn key_of_imported(machine: &Machine) -> Option<String> {
    if machine.own().is_some() {
        return Some("*".to_owned());
    }
    machine.variables.borrow().dict().filter(|_| !machine.is_hidden).map(|dict| format!("*{:x}", dict.identity()))
}

/// Returns whether a machine has imported all names of a module of the program.
pub(super) fn has_imported_all(machine: &Machine) -> bool {
    key_of_imported(machine).and_then(|key| machine.state.flag(&key)).is_some()
}

/// `from module import *`: the module's public names replace variables, and are found before builtins.
pub(super) fn import_all(machine: &Machine, module: &Value) -> Result<()> {
    if let Some(names) = machine.names_of_all(module)? {
        for (name, value) in names {
            let mut variables = machine.variables.borrow_mut();
            let slot = variables.slot(&name);
            let before = variables.set(slot, Some(value));
            drop(variables);
            drop(before);
        }
    }
    let (Value::Module(module_name), Some(key)) = (module, key_of_imported(machine)) else { return Ok(()) };
    let mut modules = machine.state.flag(&key).and_then(|modules| modules.sequence()).unwrap_or_default();
    modules.retain(|known| !matches!(known, Value::Module(known) if known == module_name));
    modules.push(module.clone());
    machine.state.set_flag(&key, Value::tuple(modules));
    let names = machine.variables.borrow().names();
    for name in names {
        if let Some(value) = public(&machine.state, module_name, &name) {
            let mut variables = machine.variables.borrow_mut();
            let slot = variables.slot(&name);
            let before = variables.set(slot, Some(value));
            drop(variables);
            drop(before);
        }
    }
    Ok(())
}

/// Returns the value of a name that `from module import *` has imported.
pub(super) fn imported(machine: &Machine, name: &str) -> Option<Value> {
    let state = &machine.state;
    if state.flags.borrow().is_empty() {
        return None;
    }
    state.flag(&key_of_imported(machine)?)?.sequence()?.iter().rev().find_map(|module| match module {
        Value::Module(module) => public(state, module, name),
        _ => None,
    })
}

/// Returns a member of a module that `import *` imports. Modules within `torch` are not among them.
fn public(state: &State, module: &'static str, name: &str) -> Option<Value> {
    let found = if name.starts_with('_') { None } else { objects::members::of_module(state, module, name) };
    found.filter(|value| !matches!((module, value), ("torch", Value::Module(_))))
}

/// Returns whether a name is a Python builtin.
pub fn is_known(state: &State, name: &str) -> bool {
    BUILTINS.iter().any(|(known, _)| *known == name) || of_table(state, name).is_some()
}

/// Returns the Python builtin of a name, for a name without a variable.
pub fn find(machine: &Machine, name: &str) -> Result<Option<Value>> {
    if let Some((name, run)) = BUILTINS.iter().find(|(known, _)| *known == name) {
        let machine = Rc::downgrade(&machine.handle()?);
        return Ok(Some(Value::Object(Rc::new(Builtin { name, run: *run, machine }))));
    }
    if matches!(name, "__file__" | "__doc__" | "__package__") {
        return Ok(of_script(machine, name));
    }
    // The program's own sources can raise exceptions that a script has to import.
    let exception = || exceptions::class(name).filter(|_| machine.is_hidden).map(Value::Type);
    Ok(of_table(&machine.state, name).or_else(exception))
}

/// Returns `__file__`, `__doc__` or `__package__` of the script that runs, for the session's own machine.
fn of_script(machine: &Machine, name: &str) -> Option<Value> {
    let shared = machine.own()?;
    match name {
        "__file__" => shared.file.borrow().as_ref().map(|file| Value::Str(file.clone().into())),
        "__package__" => Some(shared.package.borrow().as_ref().map_or(Value::None, Value::str)),
        _ => Some(shared.doc.borrow().as_ref().map_or(Value::None, |doc| Value::Str(doc.clone().into()))),
    }
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
        "__spec__" => Some(Value::None),
        "torch" => Some(Value::Module("torch")),
        "property" | "staticmethod" | "classmethod" | "super" => Some(Value::Type(intern(name))),
        _ if name.starts_with("__") => None,
        _ => exceptions::builtin(name)
            .map(Value::Type)
            .or_else(|| objects::modules::module_value("py", name))
            .or_else(function),
    }
}
