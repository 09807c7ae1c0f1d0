//! Methods of Python's sets. See `container_methods.rs`.

use crate::iterate::iterate;
use crate::methods::{ContainerMethod, Given, takes};
use crate::plain::containers::no_key;
use tensor::{Result, bail};
use value::sets::combined;
use value::{Set, Value};

/// Any number of arguments.
const ANY: (usize, usize) = (0, usize::MAX);

/// Methods of `set` and `frozenset`.
pub(crate) const METHODS: &[ContainerMethod<Set>] = &[
    takes("copy", (0, 0), |set, _| Ok(Value::Set(set.to_kind(set.is_frozen()))), "Returns a set of the same items."),
    takes("union", ANY, |set, given| with_all(set, given, "|"), "Returns the items of all."),
    takes("intersection", ANY, |set, given| with_all(set, given, "&"), "Returns the items that all have."),
    takes("difference", ANY, |set, given| with_all(set, given, "-"), "Returns the items that none of the others has."),
    takes(
        "symmetric_difference",
        (1, 1),
        |set, given| with_all(set, given, "^"),
        "Returns the items that only one of the two has.",
    ),
    takes("issubset", (1, 1), |set, given| with_all(set, given, "<="), "Returns whether another has all items."),
    takes(
        "issuperset",
        (1, 1),
        |set, given| with_all(set, given, ">="),
        "Returns whether all items of another are here.",
    ),
    takes(
        "isdisjoint",
        (1, 1),
        |set, given| match with_all(set, given, "&")? {
            Value::Set(common) => Ok(Value::Bool(common.is_empty())),
            other => Ok(other),
        },
        "Returns whether no item is in both.",
    ),
];

/// Methods of `set` alone.
pub(crate) const METHODS_THAT_CHANGE: &[ContainerMethod<Set>] = &[
    takes("add", (1, 1), |set, given| set.insert(given.at(0)).map(|()| Value::None), "Adds an item."),
    takes(
        "discard",
        (1, 1),
        |set, given| set.remove(&given.at(0)).map(|_| Value::None),
        "Takes out an item if it is there.",
    ),
    takes(
        "remove",
        (1, 1),
        |set, given| match set.remove(&given.at(0))? {
            true => Ok(Value::None),
            false => Err(no_key(given.state, &given.at(0))),
        },
        "Takes out an item.",
    ),
    takes(
        "pop",
        (0, 0),
        |set, _| {
            let Some(first) = set.to_vec().into_iter().next() else { bail!(KeyError, "'pop from an empty set'") };
            set.remove(&first)?;
            Ok(first)
        },
        "Takes out any item, and returns it.",
    ),
    takes(
        "clear",
        (0, 0),
        |set, _| {
            let doomed = set.change(std::mem::take)?;
            drop(doomed);
            Ok(Value::None)
        },
        "Takes out all items.",
    ),
    takes("update", ANY, |set, given| changed(set, given, "|"), "Adds the items of others."),
    takes("intersection_update", ANY, |set, given| changed(set, given, "&"), "Keeps the items that all have."),
    takes("difference_update", ANY, |set, given| changed(set, given, "-"), "Takes out the items of others."),
    takes(
        "symmetric_difference_update",
        (1, 1),
        |set, given| changed(set, given, "^"),
        "Keeps the items that only one of the two has.",
    ),
];

/// Combines a set with each argument in turn.
fn with_all(set: &Set, given: &Given, symbol: &str) -> Result<Value> {
    let mut result = Value::Set(set.to_kind(set.is_frozen()));
    for arg in given.args {
        let other = match arg {
            Value::Set(other) => other.clone(),
            other => Set::new(iterate(given.state, other)?.collect()?)?,
        };
        if let Value::Set(own) = &result {
            result = combined(symbol, own, &other)?.unwrap_or(Value::None);
        }
    }
    Ok(result)
}

fn changed(set: &Set, given: &Given, symbol: &str) -> Result<Value> {
    let items = match with_all(set, given, symbol)? {
        Value::Set(result) => result.change(std::mem::take)?,
        _ => return Ok(Value::None),
    };
    let before = set.change(|held| std::mem::replace(held, items))?;
    drop(before);
    Ok(Value::None)
}
