//! Methods of lists, dictionaries and sets, which both languages call: found by name, run on the shared container itself.
//! The three tables are in `lists.rs`, `dicts.rs` and `sets.rs`.

use super::{dicts, lists, sets};
use crate::bail;
use crate::call::State;
use crate::tensor::{Error, Result};
use crate::value::{Keywords, Method, Value};
use std::rc::Rc;

/// The arguments of a call of a method.
pub struct Given<'a> {
    pub state: &'a State,
    pub args: &'a [Value],
    pub keywords: &'a Keywords,
}

impl Given<'_> {
    pub fn at(&self, index: usize) -> Value {
        self.args.get(index).cloned().unwrap_or(Value::None)
    }

    pub fn named(&self, name: &str) -> Option<&Value> {
        self.keywords.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }
}

/// A method of a container.
pub struct ContainerMethod<T> {
    pub name: &'static str,
    /// The fewest and the most arguments that it takes.
    pub takes: (usize, usize),
    /// Whether it takes keyword arguments.
    pub named: bool,
    pub run: fn(&T, &Given) -> Result<Value>,
    pub doc: &'static str,
}

/// A row of such a table.
pub const fn takes<T>(
    name: &'static str,
    takes: (usize, usize),
    run: fn(&T, &Given) -> Result<Value>,
    doc: &'static str,
) -> ContainerMethod<T> {
    ContainerMethod { name, takes, named: false, run, doc }
}

fn run<T>(
    table: &'static [ContainerMethod<T>],
    class: &str,
    this: &T,
    name: &str,
    given: &Given,
) -> Option<Result<Value>> {
    let method = table.iter().find(|method| method.name == name)?;
    Some(check(method, class, given).and_then(|()| (method.run)(this, given)))
}

fn check<T>(method: &ContainerMethod<T>, class: &str, given: &Given) -> Result<()> {
    let (name, count) = (method.name, given.args.len());
    if !method.named && !given.keywords.is_empty() {
        bail!(TypeError, "{class}.{name}() takes no keyword arguments");
    }
    let (least, most) = method.takes;
    if (least..=most).contains(&count) || name.starts_with("__") {
        return Ok(());
    }
    let s = |count: usize| if count == 1 { "" } else { "s" };
    Err(Error::type_error(match (least, most) {
        (0, 0) if method.named => format!("{name}() takes no positional arguments"),
        (0, 0) => format!("{class}.{name}() takes no arguments ({count} given)"),
        (1, 1) => format!("{class}.{name}() takes exactly one argument ({count} given)"),
        (least, most) if least == most => format!("{name} expected {least} argument{}, got {count}", s(least)),
        (least, _) if count < least => format!("{name} expected at least {least} argument{}, got {count}", s(least)),
        (_, most) => format!("{name} expected at most {most} argument{}, got {count}", s(most)),
    }))
}

/// `receiver.name(*args, **keywords)`, if the receiver is a container with such a method.
pub fn call(state: &State, receiver: &Value, name: &str, args: &[Value], keywords: &Keywords) -> Option<Result<Value>> {
    let given = Given { state, args, keywords };
    match receiver {
        Value::List(list) => run(lists::METHODS, "list", list, name, &given),
        Value::Dict(dict) => run(dicts::METHODS, "dict", dict, name, &given)
            .or_else(|| run(dicts::ORDERED, "OrderedDict", dict, name, &given).filter(|_| dict.is_ordered())),
        Value::Set(set) => {
            let changes = sets::METHODS_THAT_CHANGE;
            run(sets::METHODS, receiver.type_name(), set, name, &given)
                .or_else(|| if set.is_frozen() { None } else { run(changes, "set", set, name, &given) })
        }
        Value::Object(object) => dicts::view_method(object.as_any(), name, &given),
        _ => None,
    }
}

/// The method of a container as a value; `None` where there is none of that name.
pub fn method(receiver: &Value, name: &str) -> Option<Value> {
    let known = |mut names: Box<dyn Iterator<Item = &'static str>>| names.find(|known| *known == name);
    let name = match receiver {
        Value::List(_) => known(Box::new(lists::METHODS.iter().map(|method| method.name)))?,
        Value::Dict(dict) => {
            let ordered: &[_] = if dict.is_ordered() { dicts::ORDERED } else { &[] };
            known(Box::new(dicts::METHODS.iter().chain(ordered).map(|method| method.name)))?
        }
        Value::Set(set) => {
            let changes: &[_] = if set.is_frozen() { &[] } else { sets::METHODS_THAT_CHANGE };
            known(Box::new(sets::METHODS.iter().chain(changes).map(|method| method.name)))?
        }
        _ => return None,
    };
    Some(Value::Method(Rc::new(Method { of: receiver.clone(), name })))
}
