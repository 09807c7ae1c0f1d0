//! Methods of Python's lists, and what their subscripts do. See `containers.rs`.

use super::containers::{ContainerMethod, Given, takes};
use super::iterate::iterate;
use super::sorting::sorted_by;
use super::subscript::{as_index, positions, slice_bounds};
use crate::bail;
use crate::call::State;
use crate::tensor::{Error, Result, interrupt, limits};
use crate::value::equality::matches;
use crate::value::{List, Slice, Value};

pub const METHODS: &[ContainerMethod<List>] = &[
    takes(
        "append",
        (1, 1),
        |list, given| {
            limits::grown_to::<Value>(list.len() + 1)?;
            list.change(|items| items.push(given.at(0)))?;
            Ok(Value::None)
        },
        "Adds an item at the end.",
    ),
    takes(
        "extend",
        (1, 1),
        |list, given| extend(given.state, list, &given.at(0)).map(|()| Value::None),
        "Adds the items of another value at the end.",
    ),
    takes(
        "insert",
        (2, 2),
        |list, given| {
            let length = list.len();
            let Some(at) = as_index(&given.at(0))? else {
                bail!(TypeError, "'{}' object cannot be interpreted as an integer", given.at(0).type_name())
            };
            let at = if at < 0 { at.saturating_add(length as i64).max(0) } else { at };
            limits::grown_to::<Value>(length + 1)?;
            let at = usize::try_from(at).unwrap_or(length).min(length);
            list.change(|items| items.insert(at, given.at(1)))?;
            Ok(Value::None)
        },
        "Puts an item before a place.",
    ),
    takes(
        "pop",
        (0, 1),
        |list, given| {
            if list.is_empty() {
                bail!(IndexError, "pop from empty list");
            }
            match given.args.first() {
                None => list.change(Vec::pop)?.ok_or_else(|| Error::index("pop from empty list")),
                Some(index) => {
                    let Some(at) = as_index(index)? else {
                        bail!(TypeError, "'{}' object cannot be interpreted as an integer", index.type_name())
                    };
                    let at = within(at, list.len(), "pop index out of range")?;
                    list.change(|items| items.remove(at))
                }
            }
        },
        "Takes an item out, by default the last one.",
    ),
    takes(
        "remove",
        (1, 1),
        |list, given| match position(list, &given.at(0), 0, usize::MAX)? {
            Some(at) => list.change(|items| drop(items.remove(at))).map(|()| Value::None),
            None => bail!(ValueError, "list.remove(x): x not in list"),
        },
        "Takes out the first item that is equal to a value.",
    ),
    takes("clear", (0, 0), |list, _| list.replace(Vec::new()).map(|()| Value::None), "Takes out all items."),
    takes("copy", (0, 0), |list, _| Ok(Value::List(list.to_vec().into())), "Returns a list of the same items."),
    takes(
        "reverse",
        (0, 0),
        |list, _| list.change(|items| items.reverse()).map(|()| Value::None),
        "Reverses the order of the items.",
    ),
    takes(
        "index",
        (1, 3),
        |list, given| {
            let length = list.len();
            let bound = |at: usize, default: usize| -> Result<usize> {
                match given.args.get(at).map(as_index).transpose()?.flatten() {
                    Some(at) if at < 0 => Ok((at.saturating_add(length as i64)).max(0) as usize),
                    Some(at) => Ok(at as usize),
                    None => Ok(default),
                }
            };
            match position(list, &given.at(0), bound(1, 0)?, bound(2, usize::MAX)?)? {
                Some(at) => Ok(Value::Int(at as i64)),
                None => bail!(ValueError, "{} is not in list", given.state.repr(&given.at(0))?),
            }
        },
        "Returns the place of the first item that is equal to a value.",
    ),
    takes(
        "count",
        (1, 1),
        |list, given| {
            let mut count = 0;
            for (i, item) in list.to_vec().iter().enumerate() {
                interrupt::check_at(i)?;
                count += i64::from(matches(item, &given.at(0))?);
            }
            Ok(Value::Int(count))
        },
        "Counts the items that are equal to a value.",
    ),
    ContainerMethod {
        named: true,
        ..takes(
            "sort",
            (0, 0),
            |list, given| {
                if let Some((name, _)) =
                    given.keywords.iter().find(|(name, _)| !matches!(&**name, "key" | "reverse"))
                {
                    bail!(TypeError, "'{name}' is an invalid keyword argument for sort()");
                }
                let items = list.to_vec();
                let sorted = sorted_by(given.state, items, given.named("key"), given.named("reverse"))?;
                // Some may be missing.
                interrupt::check()?;
                list.replace(sorted).map(|()| Value::None)
            },
            "Sorts the items.",
        )
    },
];

/// The position of the first item that is equal to a value.
fn position(list: &List, wanted: &Value, from: usize, to: usize) -> Result<Option<usize>> {
    for (i, item) in list.to_vec().iter().enumerate().take(to).skip(from) {
        interrupt::check_at(i)?;
        if matches(item, wanted)? {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

/// Adds the items of another value at the end.
///
/// # Errors
/// TypeError for what cannot be iterated over, MemoryError.
pub fn extend(state: &State, list: &List, source: &Value) -> Result<()> {
    let more = iterate(state, source)?.collect()?;
    limits::room_for::<Value>(list.len() + more.len())?;
    list.change(|items| items.extend(more))
}

fn within(at: i64, length: usize, refusal: &str) -> Result<usize> {
    let place = if at < 0 { at.saturating_add(length as i64) } else { at };
    usize::try_from(place).ok().filter(|&place| place < length).ok_or_else(|| Error::index(refusal))
}

/// The position that an integer subscript names.
fn place(index: &Value, length: usize) -> Result<usize> {
    match as_index(index)? {
        Some(at) => within(at, length, "list assignment index out of range"),
        None => bail!(TypeError, "list indices must be integers or slices, not {}", index.type_name()),
    }
}

/// The positions that a slice selects.
fn chosen(slice: &Slice, length: usize) -> Result<Vec<usize>> {
    let (start, stop, step) = slice_bounds(slice, length)?;
    Ok(positions(start, stop, step).filter(|&i| i < length).collect())
}

/// `list[index] = value`
///
/// # Errors
/// IndexError, TypeError and ValueError in Python's words.
pub fn set_item(state: &State, list: &List, index: &Value, value: Value) -> Result<()> {
    let Value::Slice(slice) = index else {
        let at = place(index, list.len())?;
        let before = list.change(|items| items.get_mut(at).map(|item| std::mem::replace(item, value)))?;
        drop(before);
        return Ok(());
    };
    let values = match iterate(state, &value) {
        Ok(items) => items.collect()?,
        Err(_) if !matches!(slice.step, Value::None) => bail!(TypeError, "must assign iterable to extended slice"),
        Err(_) => bail!(TypeError, "can only assign an iterable"),
    };
    // Some of them may be missing.
    interrupt::check()?;
    let length = list.len();
    let (start, stop, step) = slice_bounds(slice, length)?;
    if step == 1 {
        let (start, stop) = (start.max(0) as usize, stop.max(start).max(0) as usize);
        limits::room_for::<Value>(length + values.len())?;
        let removed: Vec<Value> = list.change(|items| items.splice(start..stop, values).collect())?;
        drop(removed);
        return Ok(());
    }
    let chosen = chosen(slice, length)?;
    if chosen.len() != values.len() {
        let (given, wanted) = (values.len(), chosen.len());
        bail!(ValueError, "attempt to assign sequence of size {given} to extended slice of size {wanted}");
    }
    let before = list.change(|items| {
        let pairs = chosen.into_iter().zip(values);
        pairs.map(|(i, value)| items.get_mut(i).map(|item| std::mem::replace(item, value))).collect::<Vec<_>>()
    })?;
    drop(before);
    Ok(())
}

/// `del list[index]`
///
/// # Errors
/// As [`set_item`].
pub fn delete_item(list: &List, index: &Value) -> Result<()> {
    let length = list.len();
    let mut doomed = match index {
        Value::Slice(slice) => chosen(slice, length)?,
        _ => vec![place(index, length)?],
    };
    doomed.sort_unstable();
    let mut kept = Vec::with_capacity(length - doomed.len());
    let mut doomed = doomed.into_iter().peekable();
    for (i, item) in list.to_vec().into_iter().enumerate() {
        if doomed.next_if_eq(&i).is_none() {
            kept.push(item);
        }
    }
    list.replace(kept)
}

