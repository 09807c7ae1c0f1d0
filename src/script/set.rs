//! Python's sets: shared by everyone who holds them. See `list.rs`. A line of Rhai has arrays instead.

use super::engine::{add, any};
use super::list::{List, items_of};
use super::runtime::Runtime;
use super::value::{self, to_dynamic, to_value};
use crate::bail;
use crate::tensor::{Error, ErrorKind, Result, limits};
use crate::value::Value;
use crate::value::hashed::Hashed;
use crate::value::sets::{Item, check, combined, distinct, hashed, in_set_order};
use rhai::{Dynamic, Module};
use std::any::TypeId;
use std::cell::{RefCell, RefMut};
use std::rc::Rc;

/// A set. Cloning it gives another handle on the same items.
#[derive(Clone)]
pub struct Set(Rc<RefCell<Hashed<()>>>);

impl Set {
    /// A set of these items, each once.
    ///
    /// # Errors
    /// TypeError for an item that can change.
    pub fn new(items: impl IntoIterator<Item = Value>) -> Result<Set> {
        Ok(Set(Rc::new(RefCell::new(hashed(items)?))))
    }

    pub fn items(&self) -> Vec<Value> {
        let items: Vec<Value> = self.0.borrow().iter().map(|(item, ())| item.clone()).collect();
        in_set_order(&items)
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
        Ok(self.0.borrow().position(wanted))
    }

    fn insert(&self, item: Value) -> Result<()> {
        if self.position(&item)?.is_none() {
            let mut items = self.changing()?;
            limits::grown_to::<Item>(items.len() + 1)?;
            items.push(item, ());
        }
        Ok(())
    }

    /// Puts these items in place of all others.
    pub fn replace(&self, items: Vec<Value>) {
        drop(self.0.replace(items.into_iter().collect()));
    }

    /// Removes an item, and returns whether it was there.
    fn remove(&self, item: &Value) -> Result<bool> {
        let Some(at) = self.position(item)? else { return Ok(false) };
        let _: Option<(Value, ())> = self.changing()?.take(at);
        Ok(true)
    }

    /// The items, to be changed. One that a script compares may look at them meanwhile.
    fn changing(&self) -> Result<RefMut<'_, Hashed<()>>> {
        self.0.try_borrow_mut().map_err(|_| Error::runtime("Set changed size during iteration"))
    }
}

/// What an item takes, with its place among the others.
type Method = fn(&Runtime, &Set, &[&mut Dynamic]) -> Result<Dynamic>;

/// The methods of a set: name, the numbers of arguments they take, function.
const METHODS: &[(&str, &[usize], Method)] = &[
    ("add", &[1], |_, set, args| set.insert(to_value(&argument(args))?).map(|()| Dynamic::UNIT)),
    ("discard", &[1], |_, set, args| set.remove(&to_value(&argument(args))?).map(|_| Dynamic::UNIT)),
    ("remove", &[1], |state, set, args| {
        let item = to_value(&argument(args))?;
        if !set.remove(&item)? {
            return Err(Error::new(ErrorKind::KeyError, state.repr(&item)?));
        }
        Ok(Dynamic::UNIT)
    }),
    ("pop", &[0], |_, set, _| {
        let Some(first) = set.items().into_iter().next() else { bail!(KeyError, "'pop from an empty set'") };
        set.remove(&first)?;
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
fn with_all(state: &Runtime, set: &Set, args: &[&mut Dynamic], symbol: &str) -> Result<Value> {
    let mut result = set.to_value();
    for arg in args {
        let items = items_of(state, arg)?.iter().map(to_value).collect::<Result<Vec<_>>>()?;
        let own = result.sequence().unwrap_or_default();
        result = combined(symbol, &own, &distinct(items)?).unwrap_or(Value::None);
    }
    Ok(result)
}

fn changed(state: &Runtime, set: &Set, args: &[&mut Dynamic], symbol: &str) -> Result<Dynamic> {
    let items = with_all(state, set, args, symbol)?.sequence().unwrap_or_default();
    set.replace(items);
    Ok(Dynamic::UNIT)
}

fn itself(state: &Runtime, set: &Set, args: &[&mut Dynamic], symbol: &str) -> Result<Dynamic> {
    let other = to_value(&argument(args))?;
    if !matches!(other, Value::Set(_)) {
        bail!(TypeError, "unsupported operand type(s) for {symbol}=: 'set' and '{}'", other.type_name());
    }
    let _: Dynamic = changed(state, set, args, symbol)?;
    Ok(Dynamic::from(set.clone()))
}

/// Adds the class to a module of the engine.
pub fn register(module: &mut Module, state: &Rc<Runtime>) {
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
