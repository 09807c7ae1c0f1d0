//! Methods of tuples, ranges and slices. See `container_methods.rs`.

use super::container_methods::{ContainerMethod, Given, takes};
use super::containers;
use super::numbers::index as index_of;
use super::operators::is_or_equals;
use super::subscript::{as_index, slice_bounds};
use crate::bail;
use crate::tensor::{Result, interrupt};
use crate::value::{Range, Slice, Value};
use num_traits::Signed;

/// Also of `torch.Size` and of named tuples.
pub const TUPLE: &[ContainerMethod<Value>] = &[
    takes("index", (1, 3), index, "Returns the place of the first item that is equal to a value."),
    takes("count", (1, 1), count, "Counts the items that are equal to a value."),
];

pub const RANGE: &[ContainerMethod<Range>] = &[
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

pub const SLICE: &[ContainerMethod<Slice>] = &[takes(
    "indices",
    (1, 1),
    |slice, given| {
        let length = match index_of(&given.at(0))? {
            Value::Int(length) => usize::try_from(length).ok(),
            Value::BigInt(length) if length.is_positive() => Some(usize::MAX),
            _ => None,
        };
        let Some(length) = length else { bail!(ValueError, "length should not be negative") };
        let (start, stop, step) = slice_bounds(slice, length)?;
        Ok(Value::ints(&[start, stop, step]))
    },
    "Returns start, stop and step for so many items.",
)];

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
