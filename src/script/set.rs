//! Python's sets: shared by everybody who holds them. See `list.rs`. A line of Rhai has arrays instead.

use super::engine::{add, any};
use super::functions;
use super::list::{List, items_of};
use super::operators::equal;
use super::state::State;
use super::value::{self, to_dynamic, to_value};
use crate::bail;
use crate::tensor::interrupt::watched;
use crate::tensor::{Error, ErrorKind, Result};
use crate::value::Value;
use rhai::{Dynamic, Module};
use std::any::TypeId;
use std::cell::RefCell;
use std::rc::Rc;

/// A set. Cloning it gives another handle on the same items.
#[derive(Clone)]
pub struct Set(Rc<RefCell<Vec<Value>>>);

impl Set {
    /// A set of these items, each once.
    ///
    /// # Errors
    /// TypeError for an item that can change.
    pub fn new(items: impl IntoIterator<Item = Value>) -> Result<Set> {
        Ok(Set(Rc::new(RefCell::new(distinct(items)?))))
    }

    pub fn items(&self) -> Vec<Value> {
        functions::in_set_order(&self.0.borrow())
    }

    pub fn to_value(&self) -> Value {
        Value::Set(self.items().into())
    }

    /// A number that is the same for two handles exactly when they are one set.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    fn position(&self, wanted: &Value) -> Result<Option<usize>> {
        check(wanted)?;
        Ok(watched(self.0.borrow().iter()).position(|item| equal(item, wanted)))
    }

    fn insert(&self, item: Value) -> Result<()> {
        if self.position(&item)?.is_none() {
            self.0.borrow_mut().push(item);
        }
        Ok(())
    }

    /// Puts these items in place of all others.
    pub fn replace(&self, items: Vec<Value>) {
        drop(self.0.replace(items));
    }
}

/// Items that are all different.
///
/// # Errors
/// TypeError for one that can change.
pub fn distinct(items: impl IntoIterator<Item = Value>) -> Result<Vec<Value>> {
    let mut kept: Vec<Value> = Vec::new();
    for item in watched(items) {
        check(&item)?;
        if !kept.iter().any(|known| equal(known, &item)) {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn check(item: &Value) -> Result<()> {
    if matches!(item, Value::List(_) | Value::Dict(_) | Value::OrderedDict(_) | Value::Set(_)) {
        bail!(TypeError, "unhashable type: '{}'", item.type_name());
    }
    Ok(())
}

/// What the operators between sets give; `None` for any other operator.
pub fn combined(symbol: &str, a: &[Value], b: &[Value]) -> Option<Value> {
    let within = |all: &[Value], item: &Value| all.iter().any(|known| equal(known, item));
    let only = |from: &[Value], without: &[Value]| -> Vec<Value> {
        from.iter().filter(|item| !within(without, item)).cloned().collect()
    };
    let is_part = |small: &[Value], large: &[Value]| small.iter().all(|item| within(large, item));
    Some(match symbol {
        "|" => Value::Set(a.iter().cloned().chain(only(b, a)).collect()),
        "&" => Value::Set(a.iter().filter(|item| within(b, item)).cloned().collect()),
        "-" => Value::Set(only(a, b).into()),
        "^" => Value::Set(only(a, b).into_iter().chain(only(b, a)).collect()),
        "==" => Value::Bool(a.len() == b.len() && is_part(a, b)),
        "!=" => Value::Bool(a.len() != b.len() || !is_part(a, b)),
        "<=" => Value::Bool(is_part(a, b)),
        "<" => Value::Bool(a.len() < b.len() && is_part(a, b)),
        ">=" => Value::Bool(is_part(b, a)),
        ">" => Value::Bool(b.len() < a.len() && is_part(b, a)),
        _ => return None,
    })
}

type Method = fn(&State, &Set, &[&mut Dynamic]) -> Result<Dynamic>;

/// The methods of a set: name, the numbers of arguments they take, function.
const METHODS: &[(&str, &[usize], Method)] = &[
    ("add", &[1], |_, set, args| set.insert(to_value(&argument(args))?).map(|()| Dynamic::UNIT)),
    ("discard", &[1], |_, set, args| {
        if let Some(at) = set.position(&to_value(&argument(args))?)? {
            let _: Value = set.0.borrow_mut().remove(at);
        }
        Ok(Dynamic::UNIT)
    }),
    ("remove", &[1], |state, set, args| {
        let item = to_value(&argument(args))?;
        let Some(at) = set.position(&item)? else {
            return Err(Error::new(ErrorKind::KeyError, state.repr(&item)?));
        };
        let _: Value = set.0.borrow_mut().remove(at);
        Ok(Dynamic::UNIT)
    }),
    ("pop", &[0], |_, set, _| {
        let Some(first) = set.items().into_iter().next() else { bail!(KeyError, "'pop from an empty set'") };
        if let Some(at) = set.position(&first)? {
            let _: Value = set.0.borrow_mut().remove(at);
        }
        Ok(to_dynamic(first))
    }),
    ("clear", &[0], |_, set, _| {
        set.replace(Vec::new());
        Ok(Dynamic::UNIT)
    }),
    ("copy", &[0], |_, set, _| made(Value::Set(set.items().into()))),
    ("set", &[0], |_, set, _| made(Value::Set(set.items().into()))),
    ("union", &[0, 1, 2, 3], |state, set, args| with_all(state, set, args, "|").and_then(made)),
    ("intersection", &[0, 1, 2, 3], |state, set, args| with_all(state, set, args, "&").and_then(made)),
    ("difference", &[0, 1, 2, 3], |state, set, args| with_all(state, set, args, "-").and_then(made)),
    ("symmetric_difference", &[1], |state, set, args| with_all(state, set, args, "^").and_then(made)),
    ("issubset", &[1], |state, set, args| with_all(state, set, args, "<=").map(to_dynamic)),
    ("issuperset", &[1], |state, set, args| with_all(state, set, args, ">=").map(to_dynamic)),
    ("isdisjoint", &[1], |state, set, args| {
        let common = with_all(state, set, args, "&")?;
        Ok(common.sequence().unwrap_or_default().is_empty().into())
    }),
    ("update", &[0, 1, 2, 3], |state, set, args| changed(state, set, args, "|")),
    ("intersection_update", &[1], |state, set, args| changed(state, set, args, "&")),
    ("difference_update", &[1], |state, set, args| changed(state, set, args, "-")),
    ("symmetric_difference_update", &[1], |state, set, args| changed(state, set, args, "^")),
    ("__ior__", &[1], |state, set, args| itself(state, set, args, "|")),
    ("__iand__", &[1], |state, set, args| itself(state, set, args, "&")),
    ("__isub__", &[1], |state, set, args| itself(state, set, args, "-")),
    ("__ixor__", &[1], |state, set, args| itself(state, set, args, "^")),
    ("iter", &[0], |_, set, _| Ok(Dynamic::from(List::new(set.items().into_iter().map(to_dynamic))))),
    ("id", &[0], |_, set, _| Ok((set.identity() as i64).into())),
    ("__contains__", &[1], |_, set, args| Ok(set.position(&to_value(&argument(args))?)?.is_some().into())),
    ("__is__", &[1], |_, set, args| {
        let other = args.first().and_then(|other| other.read_lock::<Set>());
        Ok(other.is_some_and(|other| Rc::ptr_eq(&set.0, &other.0)).into())
    }),
];

fn argument(args: &[&mut Dynamic]) -> Dynamic {
    args.first().map_or(Dynamic::UNIT, |arg| arg.flatten_clone())
}

fn made(value: Value) -> Result<Dynamic> {
    value::to_object(value)
}

/// The set combined with the items of every argument, one after the other.
fn with_all(state: &State, set: &Set, args: &[&mut Dynamic], symbol: &str) -> Result<Value> {
    let mut result = set.to_value();
    for arg in args {
        let items = items_of(state, arg)?.iter().map(to_value).collect::<Result<Vec<_>>>()?;
        let own = result.sequence().unwrap_or_default();
        result = combined(symbol, &own, &distinct(items)?).unwrap_or(Value::None);
    }
    Ok(result)
}

fn changed(state: &State, set: &Set, args: &[&mut Dynamic], symbol: &str) -> Result<Dynamic> {
    let items = with_all(state, set, args, symbol)?.sequence().unwrap_or_default();
    set.replace(items);
    Ok(Dynamic::UNIT)
}

fn itself(state: &State, set: &Set, args: &[&mut Dynamic], symbol: &str) -> Result<Dynamic> {
    let other = to_value(&argument(args))?;
    if !matches!(other, Value::Set(_)) {
        bail!(TypeError, "unsupported operand type(s) for {symbol}=: 'set' and '{}'", other.type_name());
    }
    let _: Dynamic = changed(state, set, args, symbol)?;
    Ok(Dynamic::from(set.clone()))
}

/// Adds the class to a module of the engine.
pub fn register(module: &mut Module, state: &Rc<State>) {
    let class = TypeId::of::<Set>();
    for (name, arities, method) in METHODS {
        for arity in *arities {
            let state = state.clone();
            add(module, name, &[vec![class], any(*arity)].concat(), move |args| match args.split_first() {
                Some((this, rest)) => {
                    let set = this.read_lock::<Set>().map(|set| set.clone());
                    set.map_or(Ok(Dynamic::UNIT), |set| method(&state, &set, rest))
                }
                None => Ok(Dynamic::UNIT),
            });
        }
    }
    module.set_iter_result(class, |set| {
        let items = set.try_cast::<Set>().map(|set| set.items()).unwrap_or_default();
        Box::new(items.into_iter().map(|item| Ok(to_dynamic(item))))
    });
}
