//! Names that are visible in every Python function: the table's functions for Python, exceptions, and the few builtins
//! that need the machine.

use super::exceptions;
use super::machine::Machine;
use call::{Receiver, State};
use std::rc::{Rc, Weak};
use tensor::{Error, Result, bail};
use value::equality::NotImplemented;
use value::{Dict, Keywords, Object, Value, intern};

impl Machine {
    /// A copy of the variables of the module.
    pub(super) fn globals(&self) -> Result<Dict> {
        let bound = self.variables.borrow().bound();
        Dict::new(bound.into_iter().map(|(name, value)| (Value::Str(name.into()), value)))
    }
}

type Run = fn(&Machine, Vec<Value>) -> Result<Value>;

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
    fn call(&self, args: Vec<Value>, _keywords: Keywords) -> Option<Result<Value>> {
        let machine = self.machine.upgrade()?;
        Some((self.run)(&machine, args))
    }
}

const BUILTINS: &[(&str, Run)] = &[
    ("vars", |machine, args| {
        let [this] = args.as_slice() else { bail!(TypeError, "vars expected 1 argument, got {}", args.len()) };
        let found = objects::members::attribute(&machine.state, this, "__dict__");
        found.map_err(|_| Error::type_error("vars() argument must have __dict__ attribute"))
    }),
    ("__import__", |machine, args| {
        let Some(Value::Str(name)) = args.first() else { bail!(TypeError, "__import__() argument 1 must be str") };
        let level = args
            .get(4)
            .and_then(|level| if let Value::Int(level) = level { usize::try_from(*level).ok() } else { None });
        let is_from = args.get(3).is_some_and(|names| names.sequence().is_some_and(|names| !names.is_empty()));
        machine.import(&format!("{}{name}", ".".repeat(level.unwrap_or(0))), !is_from)
    }),
    ("globals", |machine, _| machine.globals().map(Value::Dict)),
];

/// The key under which the modules are kept whose names are all imported. Undo restores it with the other flags.
const IMPORTED: &str = "*";

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
        return Ok(());
    }
    let Value::Module(module_name) = module else { return Ok(()) };
    let mut modules = machine.state.flag(IMPORTED).and_then(|modules| modules.sequence()).unwrap_or_default();
    modules.retain(|known| !matches!(known, Value::Module(known) if known == module_name));
    modules.push(module.clone());
    machine.state.set_flag(IMPORTED, Value::tuple(modules));
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
pub(super) fn imported(state: &State, name: &str) -> Option<Value> {
    let modules = if state.flags.borrow().is_empty() { None } else { state.flag(IMPORTED) };
    modules?.sequence()?.iter().rev().find_map(|module| match module {
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
    if matches!(name, "__file__" | "__doc__") {
        return Ok(machine.of_script(name));
    }
    // The program's own sources can raise exceptions that a script has to import.
    let exception = || exceptions::class(name).filter(|_| machine.is_hidden).map(Value::Type);
    Ok(of_table(&machine.state, name).or_else(exception))
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
        "__package__" | "__spec__" => Some(Value::None),
        "torch" => Some(Value::Module("torch")),
        "property" | "staticmethod" | "classmethod" | "super" => Some(Value::Type(intern(name))),
        _ if name.starts_with("__") => None,
        _ => exceptions::builtin(name)
            .map(Value::Type)
            .or_else(|| objects::modules::module_value("py", name))
            .or_else(function),
    }
}
