//! Builtins that consume items and return a container or a single value: `list`, `dict`, `sum`, `max`, `sorted` …. They
//! read one item at a time and avoid copies.

use crate::calling::call_plain;
use crate::iterate::{Iter, is_not_iterable, items_of as items, iterate};
use crate::operators;
use crate::plain::long_ranges;
use crate::plain::slices::as_index;
use crate::plain::sorting::sorted_items;
use call::{Call, Row, State, function};
use tensor::{BufferKind, Error, ErrorKind, Result, Tensor, bail, interrupt};
use value::equality::truth;
use value::{Dict, Range, Set, Value};

pub const ROWS: &[Row] = &[
    function("py.len(any obj) -> int", |c| len(&c.value(0)), "Returns the number of items."),
    function(
        "py.list(any iterable=[]) -> any",
        |c| items(c, 0).map(|items| Value::List(items.into())),
        "Collects the items in a list.",
    ),
    function(
        "py.tuple(any iterable=[]) -> any",
        |c| match c.value(0) {
            tuple @ Value::Tuple(_) => Ok(tuple),
            _ => items(c, 0).map(|items| Value::Tuple(items.into())),
        },
        "Collects the items in a tuple.",
    ),
    function("py.dict(any[] mapping, *, any{} entries) -> any", dict, "Creates a dictionary of keys and values.")
        .python("dict"),
    function("py.set(any iterable=[]) -> any", |c| set(c).map(Value::Set), "Collects the items, each once."),
    function(
        "py.frozenset(any iterable=[]) -> any",
        |c| match c.value(0) {
            Value::Set(set) if set.is_frozen() => Ok(Value::Set(set)),
            _ => Ok(Value::Set(set(c)?.to_kind(true))),
        },
        "Collects the items, each once, in a set that cannot be changed.",
    ),
    function("py.range(any[] bounds) -> any", range, "Creates a range of integers."),
    function("py.sum(any iterable, any start=0) -> any", sum, "Adds up the items."),
    function(
        "py.min(any[] items, *, any{} options) -> any",
        |c| extreme(c, "min", "<"),
        "Returns the smallest item, or that with the smallest key.",
    )
    .python("min"),
    function(
        "py.max(any[] items, *, any{} options) -> any",
        |c| extreme(c, "max", ">"),
        "Returns the largest item, or that with the largest key.",
    )
    .python("max"),
    function("py.all(any iterable) -> bool", |c| any_is(c, false), "Returns whether all items are true."),
    function("py.any(any iterable) -> bool", |c| any_is(c, true), "Returns whether any item is true."),
    function(
        "py.sorted(any iterable, *, any key=None, any reverse=False) -> any",
        sorted,
        "Sorts the items, or by the keys that a function gives.",
    ),
];

/// Returns the keyword arguments of a function for which `None` differs from a missing argument. Fails with TypeError
/// for unknown keywords.
fn options(call: &Call, index: usize, name: &str, known: &[&str]) -> Result<Vec<(Value, Value)>> {
    let given = call.value(index).entries().unwrap_or_default();
    for (key, _) in &given {
        if !matches!(key, Value::Str(key) if known.contains(&&**key)) {
            let key = call.state.str(key)?;
            bail!(TypeError, "'{key}' is an invalid keyword argument for {name}()");
        }
    }
    Ok(given)
}

fn option(options: &[(Value, Value)], name: &str) -> Option<Value> {
    options.iter().find(|(key, _)| matches!(key, Value::Str(key) if &**key == name)).map(|(_, value)| value.clone())
}

/// `len(value)`
///
/// # Errors
/// TypeError if the value has no length; errors of a script's `__len__`.
pub fn len(value: &Value) -> Result<Value> {
    let count = match value {
        Value::List(list) => list.len(),
        Value::Tuple(items) => items.len(),
        Value::Dict(dict) => dict.len(),
        Value::Set(set) => set.len(),
        Value::Size(sizes) => sizes.len(),
        Value::NamedTuple(tuple) => tuple.fields.len(),
        Value::Tensor(tensor) => return length(tensor),
        Value::Storage(storage) => storage.nbytes(),
        Value::TypedStorage(typed) => typed.len(),
        Value::Buffer(buffer) => buffer.len(),
        Value::Str(text) => text.characters(),
        Value::Range(range) => return whole(range.len()),
        Value::Object(object) if let Some(length) = object.length() => {
            let length = length?;
            return match as_index(&length).map_err(beyond_sizes)? {
                Some(length) if length < 0 => bail!(ValueError, "__len__() should return >= 0"),
                Some(length) => Ok(Value::Int(length)),
                None => bail!(TypeError, "'{}' object cannot be interpreted as an integer", length.type_name()),
            };
        }
        other => bail!(TypeError, "object of type '{}' has no len()", other.type_name()),
    };
    whole(count as u64)
}

/// The number of rows of a tensor.
///
/// # Errors
/// TypeError for a 0-dimensional tensor.
pub fn length(tensor: &Tensor) -> Result<Value> {
    match tensor.borrow().sizes().first() {
        Some(&size) => Ok(Value::Int(size)),
        None => Err(Error::type_error("len() of a 0-d tensor")),
    }
}

fn whole(count: u64) -> Result<Value> {
    match i64::try_from(count) {
        Ok(count) => Ok(Value::Int(count)),
        Err(_) => bail!(OverflowError, "Python int too large to convert to C ssize_t"),
    }
}

/// Turns the IndexError for a length beyond 64 bits into OverflowError.
fn beyond_sizes(error: Error) -> Error {
    if error.kind == ErrorKind::IndexError { Error::new(ErrorKind::OverflowError, error.message) } else { error }
}

fn dict(call: &mut Call) -> Result<Value> {
    let dict = Dict::default();
    match call.value(0).items().as_deref() {
        None | Some([]) => {}
        Some([from]) => operators::update(call.state, &dict, from)?,
        Some(several) => bail!(TypeError, "dict expected at most 1 argument, got {}", several.len()),
    }
    operators::update(call.state, &dict, &call.value(1))?;
    Ok(Value::Dict(dict))
}

fn set(call: &Call) -> Result<Set> {
    if let Value::Set(set) = call.value(0) {
        return Ok(set.to_kind(false));
    }
    let made = Set::default();
    let (mut items, mut at) = (iterate(call.state, &call.value(0))?, 0);
    while let Some(item) = items.next()? {
        // Inserting an item takes longer than a step of a kernel, so check for interrupts more often.
        interrupt::check_at(at * 16)?;
        made.insert(item)?;
        at += 1;
    }
    Ok(made)
}

fn range(call: &mut Call) -> Result<Value> {
    let given = call.value(0).sequence().unwrap_or_default();
    if given.iter().any(|value| matches!(value, Value::BigInt(_))) {
        return long_ranges::range(&given);
    }
    let number = |value: &Value| as_index(value)?.ok_or_else(|| no_integer(value));
    Ok(Value::Range(match given.iter().map(number).collect::<Result<Vec<i64>>>()?.as_slice() {
        [stop] => Range { start: 0, stop: *stop, step: 1 },
        [start, stop] => Range { start: *start, stop: *stop, step: 1 },
        [_, _, 0, ..] => bail!(ValueError, "range() arg 3 must not be zero"),
        [start, stop, step, ..] => Range { start: *start, stop: *stop, step: *step },
        [] => bail!(TypeError, "range expected at least 1 argument, got 0"),
    }))
}

fn no_integer(value: &Value) -> Error {
    Error::type_error(format!("'{}' object cannot be interpreted as an integer", value.type_name()))
}

fn sum(call: &mut Call) -> Result<Value> {
    let mut items = iterate(call.state, &call.value(0))?;
    let mut total = call.value(1);
    match &total {
        Value::Str(_) => bail!(TypeError, "sum() can't sum strings [use ''.join(seq) instead]"),
        Value::Buffer(buffer) => match buffer.kind() {
            BufferKind::Bytes => bail!(TypeError, "sum() can't sum bytes [use b''.join(seq) instead]"),
            BufferKind::ByteArray => bail!(TypeError, "sum() can't sum bytearray [use b''.join(seq) instead]"),
            _ => {}
        },
        _ => {}
    }
    let Some(plus) = operators::find("+") else { return Ok(total) };
    let mut at = 0;
    while let Some(item) = items.next()? {
        interrupt::check_at(at)?;
        at += 1;
        total = match (&total, &item) {
            (Value::Int(a), Value::Int(b)) if let Some(sum) = a.checked_add(*b) => Value::Int(sum),
            (Value::Float(a), Value::Float(b)) => Value::Float(a + b),
            _ => operators::binary(call.state, plus, &total, &item)?,
        };
    }
    Ok(total)
}

fn extreme(call: &mut Call, name: &str, symbol: &str) -> Result<Value> {
    let options = options(call, 1, name, &["key", "default"])?;
    let (key, default) = (option(&options, "key").unwrap_or(Value::None), option(&options, "default"));
    let given = call.value(0);
    let mut candidates = match given.items().as_deref() {
        None | Some([]) => bail!(TypeError, "{name} expected at least 1 argument, got 0"),
        Some([only]) => iterate(call.state, only)?,
        Some(_) if default.is_some() => {
            bail!(TypeError, "Cannot specify a default for {name}() with multiple positional arguments")
        }
        Some(_) => iterate(call.state, &given)?,
    };
    let key_of = |item: &Value| match &key {
        Value::None => Ok(item.clone()),
        key => call_plain(call.state, key, vec![item.clone()]),
    };
    let Some(first) = candidates.next()? else {
        return default.ok_or_else(|| Error::value(format!("{name}() arg is an empty sequence")));
    };
    let mut best = (key_of(&first)?, first);
    let Some(operator) = operators::find(symbol) else { return Ok(best.1) };
    let mut at = 0;
    while let Some(candidate) = candidates.next()? {
        interrupt::check_at(at)?;
        at += 1;
        let key = key_of(&candidate)?;
        if truth(&operators::binary(call.state, operator, &key, &best.0)?)? {
            best = (key, candidate);
        }
    }
    Ok(best.1)
}

/// Implements `any` (`wanted` is true) and `all` (`wanted` is false). Stops at the first item whose truth is `wanted`.
fn any_is(call: &Call, wanted: bool) -> Result<Value> {
    let mut items = iterate(call.state, &call.value(0))?;
    let mut at = 0;
    while let Some(item) = items.next()? {
        interrupt::check_at(at)?;
        at += 1;
        if truth(&item)? == wanted {
            return Ok(Value::Bool(wanted));
        }
    }
    Ok(Value::Bool(!wanted))
}

fn sorted(call: &mut Call) -> Result<Value> {
    let reverse = call.value(2);
    let reverse = as_index(&reverse)?.ok_or_else(|| no_integer(&reverse))? != 0;
    sorted_items(call.state, items(call, 0)?, &call.value(1), reverse).map(|items| Value::List(items.into()))
}

fn to_unpack(state: &State, value: &Value) -> Result<Iter> {
    iterate(state, value).map_err(|error| match is_not_iterable(&error) {
        true => Error::type_error(format!("cannot unpack non-iterable {} object", value.type_name())),
        false => error,
    })
}

/// Unpacks `a, b = value` into exactly `count` items.
///
/// # Errors
/// TypeError if the value is not iterable; ValueError for a different number of items.
pub fn unpacked(state: &State, value: &Value, count: usize) -> Result<Vec<Value>> {
    let mut left = to_unpack(state, value)?;
    let mut items = Vec::new();
    while let Some(item) = left.next()? {
        if items.len() == count {
            bail!(ValueError, "too many values to unpack (expected {count})");
        }
        items.push(item);
    }
    if items.len() < count {
        bail!(ValueError, "not enough values to unpack (expected {count}, got {})", items.len());
    }
    Ok(items)
}
