//! Methods of Python's dictionaries and of their views. See `container_methods.rs`.

use crate::iterate::{Iter, Part, iterate};
use crate::lazy::Lazy;
use crate::methods::{ContainerMethod, parsed, takes};
use crate::operators::update;
use crate::plain::containers::no_key;
use explain::format;
use std::rc::Rc;
use tensor::{Error, Result};
use value::equality::{matches, truth};
use value::sets::combined;
use value::{Dict, Object, Set, Tuple, Value};

pub(crate) const METHODS: &[ContainerMethod<Dict>] = &[
    takes(
        "get",
        (1, 2),
        |dict, given| Ok(dict.get(&given.at(0))?.unwrap_or_else(|| given.at(1))),
        "Returns the value of a key, or a default.",
    ),
    takes("keys", (0, 0), |dict, _| Ok(view(dict, Part::Keys)), "Returns a view of the keys."),
    takes("values", (0, 0), |dict, _| Ok(view(dict, Part::Values)), "Returns a view of the values."),
    takes("items", (0, 0), |dict, _| Ok(view(dict, Part::Items)), "Returns a view of the keys with their values."),
    takes(
        "pop",
        (1, 2),
        |dict, given| match if dict.is_empty() { None } else { dict.remove(&given.at(0))? } {
            Some(value) => Ok(value),
            None if given.args.len() > 1 => Ok(given.at(1)),
            None => Err(no_key(given.state, &given.at(0))),
        },
        "Takes a key out, and returns its value.",
    ),
    takes(
        "popitem",
        (0, 0),
        |dict, given| match dict.change(|entries| entries.pop())? {
            Some((key, value)) => Ok(Value::tuple([key, value])),
            None => Err(no_key(given.state, &Value::str("popitem(): dictionary is empty"))),
        },
        "Takes out the last key, and returns it with its value.",
    ),
    takes(
        "setdefault",
        (1, 2),
        |dict, given| {
            if let Some(value) = dict.get(&given.at(0))? {
                return Ok(value);
            }
            dict.insert(given.at(0), given.at(1))?;
            Ok(given.at(1))
        },
        "Returns the value of a key, which is set if it is not there.",
    ),
    ContainerMethod {
        named: true,
        ..takes(
            "update",
            (0, 1),
            |dict, given| {
                if let Some(source) = given.args.first() {
                    update(given.state, dict, source)?;
                }
                for (name, value) in given.keywords {
                    dict.insert(Value::Str(name.clone().into()), value.clone())?;
                }
                Ok(Value::None)
            },
            "Takes over the entries of another dictionary, of pairs, and of keywords.",
        )
    },
    takes(
        "clear",
        (0, 0),
        |dict, _| {
            let doomed = dict.change(std::mem::take)?;
            drop(doomed);
            Ok(Value::None)
        },
        "Takes out all entries.",
    ),
    takes(
        "copy",
        (0, 0),
        |dict, _| Ok(Value::Dict(dict.to_kind(dict.is_ordered()))),
        "Returns a dictionary of the same entries.",
    ),
];

/// Class methods.
pub(crate) const OF_CLASS: &[ContainerMethod<str>] = &[takes(
    "fromkeys",
    (1, 2),
    |class, given| {
        let keys = iterate(given.state, &given.at(0))?.collect()?;
        let made = Dict::new(keys.into_iter().map(|key| (key, given.at(1))))?;
        Ok(Value::Dict(if class == "dict" { made } else { made.to_kind(true) }))
    },
    "Creates a dictionary of keys with one value.",
)];

/// Methods of `OrderedDict`. They take precedence over those of `dict`.
pub(crate) const ORDERED: &[ContainerMethod<Dict>] = &[
    parsed(
        "popitem",
        (0, 1),
        &["last"],
        |dict, given| {
            let last = given.option(0, "last").map_or(Ok(true), truth)?;
            let key = match (last, dict.borrow()) {
                (true, entries) => entries.iter().next_back().map(|(key, _)| key.clone()),
                (false, entries) => entries.iter().next().map(|(key, _)| key.clone()),
            };
            let Some(key) = key else { return Err(no_key(given.state, &Value::str("dictionary is empty"))) };
            let value = dict.remove(&key)?.unwrap_or(Value::None);
            Ok(Value::tuple([key, value]))
        },
        "Takes out the last key, or the first, and returns it with its value.",
    ),
    parsed(
        "move_to_end",
        (1, 2),
        &["key", "last"],
        |dict, given| {
            let key = given.option(0, "key").cloned().unwrap_or(Value::None);
            let Some(value) = dict.remove(&key)? else { return Err(no_key(given.state, &key)) };
            if given.option(1, "last").map_or(Ok(true), truth)? {
                dict.insert(key, value)?;
                return Ok(Value::None);
            }
            let rest = dict.change(std::mem::take)?;
            dict.insert(key, value)?;
            for (key, value) in rest.into_entries() {
                dict.insert(key, value)?;
            }
            Ok(Value::None)
        },
        "Moves a key to the end, or to the beginning.",
    ),
];

/// A live view of a dictionary: `dict.keys()`, `dict.values()` or `dict.items()`.
pub(crate) struct View {
    pub dict: Dict,
    part: Part,
}

fn view(dict: &Dict, part: Part) -> Value {
    Value::Object(Rc::new(View { dict: dict.clone(), part }))
}

impl View {
    /// Returns the part of an entry that the view shows.
    pub(crate) fn shown(&self, key: &Value, value: &Value) -> Value {
        match self.part {
            Part::Keys => key.clone(),
            Part::Values => value.clone(),
            Part::Items => Value::Tuple(Tuple::from(vec![key.clone(), value.clone()])),
        }
    }

    fn items(&self) -> Vec<Value> {
        self.dict.borrow().iter().map(|(key, value)| self.shown(key, value)).collect()
    }

    fn contains(&self, item: &Value) -> Result<bool> {
        match (self.part, item) {
            (Part::Keys, key) => Ok(self.dict.get(key)?.is_some()),
            (Part::Items, Value::Tuple(pair)) if pair.len() == 2 => match &**pair {
                [key, value] => self.dict.get(key)?.map_or(Ok(false), |held| matches(&held, value)),
                _ => Ok(false),
            },
            (Part::Items, _) => Ok(false),
            (Part::Values, value) => {
                for item in self.items() {
                    if matches(&item, value)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

/// Returns the set operator that a special method implements, and whether its operands are swapped.
fn set_operator(name: &str) -> Option<(&'static str, bool)> {
    Some(match name {
        "__and__" => ("&", false),
        "__rand__" => ("&", true),
        "__or__" => ("|", false),
        "__ror__" => ("|", true),
        "__sub__" => ("-", false),
        "__rsub__" => ("-", true),
        "__xor__" => ("^", false),
        "__rxor__" => ("^", true),
        "__eq__" => ("==", false),
        "__le__" => ("<=", false),
        "__lt__" => ("<", false),
        "__ge__" => (">=", false),
        "__gt__" => (">", false),
        _ => return None,
    })
}

/// Converts an operand to a set: a set, a view of keys or items, a list or a tuple. Returns `None` for other values.
fn as_set(value: &Value) -> Option<Result<Set>> {
    match value {
        Value::Set(set) => Some(Ok(set.clone())),
        Value::Object(_) => set_like(value).map(|view| Set::new(view.items())),
        Value::List(_) | Value::Tuple(_) => Some(Set::new(value.sequence().unwrap_or_default())),
        _ => None,
    }
}

impl Object for View {
    fn class_name(&self) -> &'static str {
        match self.part {
            Part::Keys => "dict_keys",
            Part::Values => "dict_values",
            Part::Items => "dict_items",
        }
    }
    fn iterator(&self) -> Option<Result<Value>> {
        let class = match self.part {
            Part::Keys => "dict_keyiterator",
            Part::Values => "dict_valueiterator",
            Part::Items => "dict_itemiterator",
        };
        Some(Ok(Lazy::over(class, Iter::over_dict(&self.dict, self.part))))
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        Some(match (name, args) {
            ("__len__", []) => Ok(Value::Int(self.dict.len() as i64)),
            ("__reversed__", []) => {
                let mut items = self.items();
                items.reverse();
                Ok(Lazy::over("dict_reverseiterator", Iter::Made(items.into_iter())))
            }
            ("__contains__", [item]) => self.contains(item).map(Value::Bool),
            ("__repr__", []) => {
                let items = Value::List(self.items().into());
                format::repr_by_default(&items).map(|items| Value::str(format!("{}({items})", self.class_name())))
            }
            ("__hash__", []) if self.part != Part::Values => {
                Err(Error::type_error(format!("unhashable type: '{}'", self.class_name())))
            }
            (name, [other]) if self.part != Part::Values => {
                let (symbol, swapped) = set_operator(name)?;
                if matches!(symbol, "==" | "<=" | "<" | ">=" | ">") && matches!(other, Value::List(_) | Value::Tuple(_))
                {
                    return None;
                }
                let other = match as_set(other)? {
                    Ok(other) => other,
                    Err(error) => return Some(Err(error)),
                };
                let own = match Set::new(self.items()) {
                    Ok(own) => own,
                    Err(error) => return Some(Err(error)),
                };
                let answer = if swapped { combined(symbol, &other, &own) } else { combined(symbol, &own, &other) };
                answer.transpose()?
            }
            _ => return None,
        })
    }
}

/// Methods of a view of keys or items.
pub(crate) const VIEW: &[ContainerMethod<View>] = &[takes(
    "isdisjoint",
    (1, 1),
    |view, given| {
        let mut items = iterate(given.state, &given.at(0))?;
        while let Some(item) = items.next()? {
            if view.contains(&item)? {
                return Ok(Value::Bool(false));
            }
        }
        Ok(Value::Bool(true))
    },
    "Returns whether no item is in both.",
)];

/// Returns a view of keys or items, which has the operators of a set; `None` for other values.
pub(crate) fn set_like(value: &Value) -> Option<&View> {
    let Value::Object(object) = value else { return None };
    object.as_any().downcast_ref::<View>().filter(|view| view.part != Part::Values)
}
