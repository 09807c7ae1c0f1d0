//! Subscripts of lists and dictionaries, and membership tests. No container stays borrowed while a script runs, which
//! may change it.

use crate::iterate::{items, iterate};
use crate::operators;
use crate::plain::slices::{as_index, positions, slice_bounds};
use crate::strings::bytes;
use call::State;
use std::rc::Rc;
use tensor::{BufferKind, Error, ErrorKind, Raised, Result, bail, interrupt, limits};
use value::{Dict, List, Range, Slice, Value};

/// Resolves an index, which may be negative, to a position among `length` items.
fn place(index: i64, length: usize) -> Option<usize> {
    let from_start = if index < 0 { i128::from(index) + length as i128 } else { i128::from(index) };
    usize::try_from(from_start).ok().filter(|place| *place < length)
}

fn wrong_index(index: &Value) -> Error {
    Error::type_error(format!("list indices must be integers or slices, not {}", index.type_name()))
}

/// `list[index]`
///
/// # Errors
/// IndexError and TypeError in Python's words.
pub(crate) fn list_item(list: &List, index: &Value) -> Result<Value> {
    if let Value::Slice(slice) = index {
        let (start, stop, step) = slice_bounds(slice, list.len())?;
        let held = list.borrow();
        return Ok(Value::list(positions(start, stop, step).filter_map(|place| held.get(place).cloned())));
    }
    let Some(i) = as_index(index)? else { return Err(wrong_index(index)) };
    let found = place(i, list.len()).and_then(|place| list.get(place));
    found.ok_or_else(|| Error::index("list index out of range"))
}

/// `list[index] = value`
///
/// # Errors
/// Those of [`list_item`]; ValueError if an extended slice is assigned a different number of values.
pub(crate) fn set_list_item(state: &State, list: &List, index: &Value, value: &Value) -> Result<()> {
    if let Value::Slice(slice) = index {
        return set_slice(state, list, slice, value);
    }
    let Some(i) = as_index(index)? else { return Err(wrong_index(index)) };
    let before = list.change(|held| {
        let place = place(i, held.len())?;
        held.get_mut(place).map(|slot| std::mem::replace(slot, value.clone()))
    })?;
    // The old item is dropped after the list's borrow has ended.
    before.map(drop).ok_or_else(|| Error::index("list assignment index out of range"))
}

fn set_slice(state: &State, list: &List, slice: &Slice, value: &Value) -> Result<()> {
    let step = slice_bounds(slice, list.len())?.2;
    let new = items(state, value).map_err(|error| match error.kind {
        ErrorKind::TypeError if step == 1 => Error::type_error("can only assign an iterable"),
        ErrorKind::TypeError => Error::type_error("must assign iterable to extended slice"),
        _ => error,
    })?;
    // Collecting the values may have changed the list.
    let (start, stop, step) = slice_bounds(slice, list.len())?;
    let old = if step == 1 {
        limits::grown_to::<Value>(list.len().saturating_add(new.len()))?;
        list.change(|held| {
            let start = usize::try_from(start).unwrap_or(0).min(held.len());
            let stop = usize::try_from(stop).unwrap_or(0).clamp(start, held.len());
            held.splice(start..stop, new).collect::<Vec<_>>()
        })?
    } else {
        let places: Vec<usize> = positions(start, stop, step).collect();
        if places.len() != new.len() {
            bail!(
                ValueError,
                "attempt to assign sequence of size {} to extended slice of size {}",
                new.len(),
                places.len()
            );
        }
        list.change(|held| {
            let pairs = places.iter().zip(new);
            pairs.filter_map(|(&at, item)| held.get_mut(at).map(|slot| std::mem::replace(slot, item))).collect()
        })?
    };
    drop(old);
    Ok(())
}

/// `del list[index]`
///
/// # Errors
/// Those of [`list_item`].
pub(crate) fn delete_list_item(list: &List, index: &Value) -> Result<()> {
    if let Value::Slice(slice) = index {
        let (start, stop, step) = slice_bounds(slice, list.len())?;
        let mut places: Vec<usize> = positions(start, stop, step).collect();
        places.sort_unstable();
        let old: Vec<Value> = list.change(|held| {
            if step == 1 {
                let start = usize::try_from(start).unwrap_or(0).min(held.len());
                return held.drain(start..(start + places.len()).min(held.len())).collect();
            }
            let mut gone = places.iter().copied().peekable();
            let (mut kept, mut old) = (Vec::new(), Vec::new());
            for (i, item) in std::mem::take(held).into_iter().enumerate() {
                match gone.next_if_eq(&i) {
                    Some(_) => old.push(item),
                    None => kept.push(item),
                }
            }
            *held = kept;
            old
        })?;
        drop(old);
        return Ok(());
    }
    let Some(i) = as_index(index)? else { return Err(wrong_index(index)) };
    let old = list.change(|held| place(i, held.len()).map(|place| held.remove(place)))?;
    old.map(drop).ok_or_else(|| Error::index("list assignment index out of range"))
}

/// The KeyError for a missing key, which the error carries.
pub fn no_key(state: &State, key: &Value) -> Error {
    let raised = Some(Raised(Rc::new(key.clone())));
    Error { raised, ..Error::new(ErrorKind::KeyError, state.repr(key).unwrap_or_default()) }
}

/// `dict[key]`
///
/// # Errors
/// KeyError; TypeError if the key is not hashable.
pub(crate) fn dict_item(state: &State, dict: &Dict, key: &Value) -> Result<Value> {
    dict.get(key)?.ok_or_else(|| no_key(state, key))
}

/// `del dict[key]`
///
/// # Errors
/// Those of [`dict_item`].
pub(crate) fn delete_dict_item(state: &State, dict: &Dict, key: &Value) -> Result<()> {
    dict.remove(key)?.map(drop).ok_or_else(|| no_key(state, key))
}

/// `del value[index]`
///
/// # Errors
/// TypeError if the target does not support deletion; those of [`delete_list_item`] and [`delete_dict_item`].
pub fn delete_item(state: &State, target: &Value, index: &Value) -> Result<()> {
    match target {
        Value::List(list) => delete_list_item(list, index),
        Value::Dict(dict) => delete_dict_item(state, dict, index),
        Value::Buffer(buffer) if buffer.kind() == BufferKind::ByteArray => bytes::set_part(state, buffer, index, None),
        Value::Buffer(buffer) if matches!(buffer.kind(), BufferKind::MemoryView { .. }) => {
            let is_read_only = !buffer.writable();
            bail!(TypeError, "{}", if is_read_only { "cannot modify read-only memory" } else { "cannot delete memory" })
        }
        Value::Tensor(_) => bail!(TypeError, "Tensor does not support deleting items"),
        Value::TypedStorage(_) => bail!(AttributeError, "__delitem__"),
        Value::Object(object) if let Some(done) = object.special("__delitem__", std::slice::from_ref(index)) => {
            done.map(drop)
        }
        // CPython words the error differently if the class defines item access and the index is an integer.
        other if operators::has_items(other) && as_index(index)?.is_some() => {
            bail!(TypeError, "'{}' object doesn't support item deletion", other.type_name())
        }
        other => bail!(TypeError, "'{}' object does not support item deletion", other.type_name()),
    }
}

/// Returns the position of a number of any class in a range.
pub(crate) fn range_index(range: Range, wanted: &Value) -> Option<u64> {
    let wanted = match wanted {
        Value::Bool(wanted) => i64::from(*wanted),
        Value::Int(wanted) => *wanted,
        Value::Float(wanted) => Some(*wanted as i64).filter(|whole| *whole as f64 == *wanted && *whole < i64::MAX)?,
        Value::Complex(wanted) if wanted.im == 0.0 => return range_index(range, &Value::Float(wanted.re)),
        _ => return None,
    };
    range.position(wanted)
}

/// Returns a closure that yields the positions of `wanted` among the items of `value`.
fn places<'a>(
    state: &'a State,
    value: &Value,
    wanted: &'a Value,
) -> Result<impl FnMut() -> Result<Option<usize>> + 'a> {
    let mut left = iterate(state, value)?;
    let mut at = 0;
    Ok(move || {
        while let Some(item) = left.next()? {
            interrupt::check_at(at)?;
            at += 1;
            // Like CPython, with the item as the left operand.
            if operators::is_or_equals(state, &item, wanted)? {
                return Ok(Some(at - 1));
            }
        }
        Ok(None)
    })
}

/// `item in value`
///
/// # Errors
/// TypeError if the value is not iterable; errors of a comparison.
pub fn contains(state: &State, value: &Value, wanted: &Value) -> Result<bool> {
    match (value, wanted) {
        (Value::Str(text), Value::Str(part)) => Ok(text.contains(&**part)),
        (Value::Str(_), _) if let Some(held) = wanted.underlying() => contains(state, value, &held),
        (Value::Str(_), other) => {
            bail!(TypeError, "'in <string>' requires string as left operand, not {}", other.type_name())
        }
        (Value::Buffer(buffer), _) if bytes::is_bytes(buffer) => bytes::contains(buffer, wanted),
        (Value::Dict(dict), _) => Ok(dict.get(wanted)?.is_some()),
        (Value::Set(set), _) => set.contains(wanted),
        (Value::Range(range), wanted) if !matches!(wanted, Value::Object(_)) => {
            Ok(range_index(*range, wanted).is_some())
        }
        (Value::Tensor(_), _) => {
            let answer = crate::operators::call_on(state, "__contains__", value, std::slice::from_ref(wanted))?;
            value::equality::truth(&answer)
        }
        (Value::Object(object), _)
            if let Some(answer) = object.special("__contains__", std::slice::from_ref(wanted)) =>
        {
            value::equality::truth(&answer?)
        }
        _ => match places(state, value, wanted) {
            Ok(mut next) => Ok(next()?.is_some()),
            Err(error) if error.message.ends_with("object is not iterable") => {
                bail!(TypeError, "argument of type '{}' is not iterable", value.type_name())
            }
            Err(error) => Err(error),
        },
    }
}

/// Returns the position of the first occurrence of a value.
///
/// # Errors
/// Those of [`contains`].
pub fn position(state: &State, value: &Value, wanted: &Value) -> Result<Option<usize>> {
    if let Value::Range(range) = value
        && !matches!(wanted, Value::Object(_))
    {
        return Ok(range_index(*range, wanted).map(|place| usize::try_from(place).unwrap_or(usize::MAX)));
    }
    places(state, value, wanted)?()
}

/// Counts the occurrences of a value.
///
/// # Errors
/// Those of [`contains`].
pub fn count(state: &State, value: &Value, wanted: &Value) -> Result<usize> {
    if let Value::Range(range) = value
        && !matches!(wanted, Value::Object(_))
    {
        return Ok(usize::from(range_index(*range, wanted).is_some()));
    }
    let mut next = places(state, value, wanted)?;
    let mut found = 0;
    while next()?.is_some() {
        found += 1;
    }
    Ok(found)
}
