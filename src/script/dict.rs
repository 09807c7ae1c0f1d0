//! Python's dictionaries: shared by everyone who holds them, in order of insertion. See `list.rs`.

use super::engine::{add, any};
use super::list::{List, dismantle, items_of, own};
use super::runtime::Runtime;
use super::value::{self, to_dynamic, to_value};
use crate::bail;
use crate::tensor::{Error, ErrorKind, Result, interrupt, limits};
use crate::value::Value;
use crate::value::hashed::Hashed;
use rhai::{Array, Dynamic, Map, Module};
use std::any::TypeId;
use std::cell::{RefCell, RefMut};
use std::rc::Rc;

/// A dictionary, and whether it is a `collections.OrderedDict`. Cloning it gives another handle on the same entries.
#[derive(Clone)]
pub struct Dict(Rc<Entries>, bool);

/// The size of an entry, with its place among the keys.
type Entry = (Value, Dynamic, [usize; 4]);

struct Entries(RefCell<Hashed<Dynamic>>);

impl Drop for Entries {
    fn drop(&mut self) {
        dismantle(values(self.0.take()));
    }
}

fn values(entries: Hashed<Dynamic>) -> Vec<Dynamic> {
    entries.into_entries().map(|(_, value)| value).collect()
}

impl Dict {
    /// A dictionary of these entries, the last of several with the same key.
    ///
    /// # Errors
    /// TypeError for a key that can change.
    pub fn new(entries: impl IntoIterator<Item = (Value, Dynamic)>) -> Result<Dict> {
        let dict = Dict(Rc::new(Entries(RefCell::default())), false);
        for (i, (key, value)) in entries.into_iter().enumerate() {
            interrupt::check_at(i)?;
            dict.insert(key, value)?;
        }
        Ok(dict)
    }

    /// The same entries as an `OrderedDict`.
    pub fn ordered(self) -> Dict {
        Dict(self.0, true)
    }

    pub fn is_ordered(&self) -> bool {
        self.1
    }

    pub fn entries(&self) -> Vec<(Value, Dynamic)> {
        self.0.0.borrow().iter().cloned().collect()
    }

    /// Puts these entries, which came from a dictionary, in place of all others.
    pub fn replace(&self, entries: Vec<(Value, Dynamic)>) {
        let mut kept = Hashed::default();
        entries.into_iter().for_each(|(key, value)| kept.push(key, value));
        *self.0.0.borrow_mut() = kept;
    }

    /// A number that is the same for two handles exactly when they are one dictionary.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    /// The dictionary as functions of the table take it.
    ///
    /// # Errors
    /// RecursionError for one that contains itself or lies too deep.
    pub fn to_value(&self, copied: &mut value::Copied) -> Result<Value> {
        // Held as if to be written to: a dictionary that contains itself meets its own lock.
        let Ok(entries) = self.0.0.try_borrow_mut() else { return Err(value::too_deep()) };
        let entry = |(key, value): &(Value, Dynamic), copied: &mut value::Copied| {
            Ok((key.clone(), value::to_value_within(value, copied)?))
        };
        let entries = copied.items(entries.len(), entries.iter(), entry)?;
        Ok(if self.1 { Value::OrderedDict(entries) } else { Value::Dict(entries) })
    }

    /// The values, if nobody else holds the dictionary.
    pub fn into_values(self) -> Option<Vec<Dynamic>> {
        Rc::into_inner(self.0).map(|entries| values(entries.0.take()))
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Option<Dynamic> {
        let entries = self.0.0.borrow();
        entries.position(key).and_then(|at| entries.at(at).cloned())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// TypeError for a key that can change.
    pub fn insert(&self, key: Value, value: Dynamic) -> Result<()> {
        if matches!(key, Value::List(_) | Value::Dict(_) | Value::OrderedDict(_)) {
            bail!(TypeError, "unhashable type: '{}'", key.type_name());
        }
        let value = own(value);
        let known = self.0.0.borrow().position(&key);
        let mut entries = self.changing()?;
        match known.and_then(|at| entries.at_mut(at)) {
            Some(slot) => *slot = value,
            None => {
                limits::grown_to::<Entry>(entries.len() + 1)?;
                entries.push(key, value);
            }
        }
        Ok(())
    }

    fn remove(&self, key: &Value) -> Result<Option<Dynamic>> {
        let Some(position) = self.0.0.borrow().position(key) else { return Ok(None) };
        Ok(self.changing()?.take(position).map(|(_, value)| value))
    }

    /// The entries, to be changed. A key that a script compares may look at them meanwhile.
    fn changing(&self) -> Result<RefMut<'_, Hashed<Dynamic>>> {
        let entries = self.0.0.try_borrow_mut();
        entries.map_err(|_| Error::runtime("dictionary changed size during iteration"))
    }

    /// Takes over the entries of a dictionary, of keywords, or of pairs.
    fn update(&self, state: &Runtime, source: &Dynamic) -> Result<()> {
        if let Some(dict) = source.read_lock::<Dict>().map(|dict| dict.clone()) {
            return dict.entries().into_iter().try_for_each(|(key, value)| self.insert(key, value));
        }
        if let Some(map) = source.read_lock::<Map>() {
            return map.iter().try_for_each(|(key, value)| self.insert(Value::str(key.as_str()), value.clone()));
        }
        if let Some(entries) = to_value(source)?.entries() {
            return entries.iter().try_for_each(|(key, value)| self.insert(key.clone(), to_dynamic(value.clone())));
        }
        for (i, pair) in items_of(state, source)?.into_iter().enumerate() {
            let pair = items_of(state, &pair)?;
            let [key, value] = pair.as_slice() else {
                bail!(ValueError, "dictionary update sequence element #{i} has length {}; 2 is required", pair.len())
            };
            self.insert(to_value(key)?, value.clone())?;
        }
        Ok(())
    }
}

fn missing(state: &Runtime, key: &Value) -> Error {
    match state.repr(key) {
        Ok(key) => Error::new(ErrorKind::KeyError, key),
        Err(error) => error,
    }
}

type Method = fn(&Runtime, &Dict, &[&mut Dynamic]) -> Result<Dynamic>;

/// The methods of a dictionary: name, the numbers of arguments they take, function.
const METHODS: &[(&str, &[usize], Method)] = &[
    ("get", &[1, 2], |_, dict, args| Ok(dict.get(&key(args)?).unwrap_or_else(|| argument(args, 1)))),
    ("keys", &[0], |_, dict, _| list_of(dict.entries().into_iter().map(|(key, _)| to_dynamic(key)))),
    ("values", &[0], |_, dict, _| list_of(dict.entries().into_iter().map(|(_, value)| value))),
    ("items", &[0], |_, dict, _| {
        let pair = |(key, value)| Ok(to_dynamic(Value::tuple([key, to_value(&value)?])));
        list_of(dict.entries().into_iter().map(pair).collect::<Result<Vec<_>>>()?)
    }),
    ("pop", &[1, 2], |state, dict, args| {
        let key = key(args)?;
        match (dict.remove(&key)?, args.len()) {
            (Some(value), _) => Ok(value),
            (None, 1) => Err(missing(state, &key)),
            (None, _) => Ok(argument(args, 1)),
        }
    }),
    ("popitem", &[0], |_, dict, _| match dict.changing()?.pop() {
        Some((key, value)) => Ok(to_dynamic(Value::tuple([key, to_value(&value)?]))),
        None => bail!(KeyError, "'popitem(): dictionary is empty'"),
    }),
    ("setdefault", &[1, 2], |_, dict, args| {
        let key = key(args)?;
        if dict.get(&key).is_none() {
            dict.insert(key.clone(), argument(args, 1))?;
        }
        Ok(dict.get(&key).unwrap_or_default())
    }),
    ("update", &[0, 1, 2], |state, dict, args| {
        args.iter().try_for_each(|source| dict.update(state, source))?;
        Ok(Dynamic::UNIT)
    }),
    ("clear", &[0], |_, dict, _| {
        let doomed = std::mem::take(&mut *dict.changing()?);
        dismantle(values(doomed));
        Ok(Dynamic::UNIT)
    }),
    ("copy", &[0], |_, dict, _| Dict::new(dict.entries()).map(|copy| Dynamic::from(Dict(copy.0, dict.1)))),
    ("dict", &[0, 1], |state, dict, args| {
        let copy = Dict::new(dict.entries())?;
        args.iter().try_for_each(|source| copy.update(state, source))?;
        Ok(Dynamic::from(copy))
    }),
    ("id", &[0], |_, dict, _| Ok((Rc::as_ptr(&dict.0) as *const () as i64).into())),
    ("__contains__", &[1], |_, dict, args| Ok(dict.get(&key(args)?).is_some().into())),
    ("__is__", &[1], |_, dict, args| {
        let other = args.first().and_then(|other| other.read_lock::<Dict>());
        Ok(other.is_some_and(|other| Rc::ptr_eq(&dict.0, &other.0)).into())
    }),
    ("__getitem__", &[1], |state, dict, args| {
        let key = key(args)?;
        dict.get(&key).ok_or_else(|| missing(state, &key))
    }),
    ("__setitem__", &[2], |_, dict, args| dict.insert(key(args)?, argument(args, 1)).map(|()| Dynamic::UNIT)),
    ("__delitem__", &[1], |state, dict, args| {
        let key = key(args)?;
        dict.remove(&key)?.map(|_| Dynamic::UNIT).ok_or_else(|| missing(state, &key))
    }),
    ("|", &[1], |state, dict, args| {
        let merged = Dict::new(dict.entries())?;
        merged.update(state, &argument(args, 0))?;
        Ok(Dynamic::from(merged))
    }),
    ("__ior__", &[1], |state, dict, args| {
        dict.update(state, &argument(args, 0))?;
        Ok(Dynamic::from(dict.clone()))
    }),
];

fn argument(args: &[&mut Dynamic], index: usize) -> Dynamic {
    args.get(index).map_or(Dynamic::UNIT, |arg| arg.flatten_clone())
}

fn key(args: &[&mut Dynamic]) -> Result<Value> {
    to_value(&argument(args, 0))
}

fn list_of(items: impl IntoIterator<Item = Dynamic>) -> Result<Dynamic> {
    Ok(Dynamic::from(List::new(items)))
}

/// Adds the class to a module of the engine.
pub fn register(module: &mut Module, state: &Rc<Runtime>) {
    let class = TypeId::of::<Dict>();
    for (name, arities, method) in METHODS {
        for arity in *arities {
            let state = state.clone();
            add(module, name, &[vec![class], any(*arity)].concat(), move |args| match args.split_first() {
                Some((this, rest)) => method(&state, &receiver(this)?, rest),
                None => Ok(Dynamic::UNIT),
            });
        }
    }
    // `d["k"]` and, which Rhai spells the same, `d.k`.
    let this = state.clone();
    add(module, "index$get$", &[class, TypeId::of::<Dynamic>()], move |args| match args {
        [dict, index] => {
            let key = to_value(index)?;
            receiver(dict)?.get(&key).ok_or_else(|| missing(&this, &key))
        }
        _ => Ok(Dynamic::UNIT),
    });
    add(module, "index$set$", &[class, TypeId::of::<Dynamic>(), TypeId::of::<Dynamic>()], |args| match args {
        [dict, index, value] => receiver(dict)?.insert(to_value(index)?, value.clone()).map(|()| Dynamic::UNIT),
        _ => Ok(Dynamic::UNIT),
    });
    // `dict([[k, v], …])`, which is also what a literal becomes, and `dict(a=1)`.
    for source in [TypeId::of::<Array>(), TypeId::of::<List>(), TypeId::of::<Map>()] {
        let state = state.clone();
        add(module, "dict", &[source], move |args| {
            let dict = Dict::new([])?;
            args.iter().try_for_each(|source| dict.update(&state, source))?;
            Ok(Dynamic::from(dict))
        });
    }
    module.set_iter_result(class, |dict| {
        let entries = dict.try_cast::<Dict>().map(|dict| dict.entries()).unwrap_or_default();
        Box::new(entries.into_iter().map(|(key, _)| Ok(to_dynamic(key))))
    });
}

fn receiver(this: &Dynamic) -> Result<Dict> {
    this.read_lock::<Dict>().map(|dict| dict.clone()).ok_or_else(|| Error::type_error("a dictionary is needed here"))
}
