//! Methods of tuples, ranges and slices. See `container_methods.rs`.

use crate::methods::{ContainerMethod, Given, takes};
use crate::operators::is_or_equals;
use crate::plain::containers;
use crate::plain::slices::as_index;
use crate::plain::special::index as index_of;
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use tensor::{Result, bail, interrupt};
use value::numbers::integer;
use value::{Range, Slice, Value};

/// Methods of `tuple`, `torch.Size` and named tuples.
pub(crate) const TUPLE: &[ContainerMethod<Value>] = &[
    takes("index", (1, 3), index, "Returns the place of the first item that is equal to a value."),
    takes("count", (1, 1), count, "Counts the items that are equal to a value."),
];

pub(crate) const RANGE: &[ContainerMethod<Range>] = &[
    takes(
        "index",
        (1, 1),
        |range, given| match containers::position(given.state, &Value::Range(*range), &given.at(0))? {
            Some(at) => Ok(Value::Int(at as i64)),
            None => match given.at(0) {
                number @ (Value::Int(_) | Value::BigInt(_) | Value::Bool(_)) => {
                    bail!(ValueError, "{} is not in range", given.state.repr(&number)?)
                }
                _ => bail!(ValueError, "sequence.index(x): x not in sequence"),
            },
        },
        "Returns the place of a number.",
    ),
    takes(
        "count",
        (1, 1),
        |range, given| count(&Value::Range(*range), given),
        "Returns whether a number is there, as 0 or 1.",
    ),
];

pub(crate) const SLICE: &[ContainerMethod<Slice>] = &[takes(
    "indices",
    (1, 1),
    |slice, given| indices(slice, &integer(&index_of(&given.at(0))?).unwrap_or_default()),
    "Returns start, stop and step for so many items.",
)];

/// Resolves a slice against `length` items. Unlike in `slices.rs`, the numbers may exceed 64 bits.
fn indices(slice: &Slice, length: &BigInt) -> Result<Value> {
    let part = |part: &Value| match part {
        Value::None => Ok(None),
        Value::BigInt(whole) => Ok(Some(BigInt::clone(whole))),
        other => match as_index(other)? {
            Some(whole) => Ok(Some(BigInt::from(whole))),
            None => bail!(TypeError, "slice indices must be integers or None or have an __index__ method"),
        },
    };
    if length.is_negative() {
        bail!(ValueError, "length should not be negative");
    }
    let step = part(&slice.step)?.unwrap_or_else(|| BigInt::from(1));
    if step.is_zero() {
        bail!(ValueError, "slice step cannot be zero");
    }
    let (low, high) = if step.is_negative() { (BigInt::from(-1), length - 1) } else { (BigInt::ZERO, length.clone()) };
    let (first, last) = if step.is_negative() { (&high, &low) } else { (&low, &high) };
    let end = |given: Option<BigInt>, default: &BigInt| match given {
        Some(at) => (if at.is_negative() { at + length } else { at }).clamp(low.clone(), high.clone()),
        None => default.clone(),
    };
    let (start, stop) = (end(part(&slice.start)?, first), end(part(&slice.stop)?, last));
    Ok(Value::tuple([start, stop, step].map(Value::from)))
}

fn count(items: &Value, given: &Given) -> Result<Value> {
    containers::count(given.state, items, &given.at(0)).map(|count| Value::Int(count as i64))
}

fn index(tuple: &Value, given: &Given) -> Result<Value> {
    for bound in given.args.iter().skip(1) {
        if !matches!(bound, Value::BigInt(_)) && as_index(bound)?.is_none() {
            bail!(TypeError, "slice indices must be integers or have an __index__ method");
        }
    }
    let items = tuple.sequence().unwrap_or_default();
    let (start, stop) = given.span(1, items.len())?.unwrap_or_default();
    for (at, item) in items.iter().enumerate().take(stop).skip(start) {
        interrupt::check_at(at)?;
        if is_or_equals(given.state, item, &given.at(0))? {
            return Ok(Value::Int(at as i64));
        }
    }
    bail!(ValueError, "tuple.index(x): x not in tuple")
}
