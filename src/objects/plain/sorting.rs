//! Sorting as Python does: stable, by `<` alone.

use crate::calling::call_plain;
use crate::operators;
use call::State;
use std::cmp::Ordering;
use tensor::{Result, interrupt};
use value::Value;
use value::equality::truth;

/// Items in order, by what a function says of each unless that is `None`.
///
/// # Errors
/// Those of [`sort_by_keys`]; what the function raises.
pub(crate) fn sorted_items(state: &State, items: Vec<Value>, key: &Value, reverse: bool) -> Result<Vec<Value>> {
    if let Value::None = key {
        let sorted = sort_by_keys(state, items.into_iter().map(|item| (item, ())).collect(), reverse)?;
        return Ok(sorted.into_iter().map(|(item, ())| item).collect());
    }
    let keyed = items.into_iter().map(|item| Ok((call_plain(state, key, vec![item.clone()])?, item)));
    let sorted = sort_by_keys(state, keyed.collect::<Result<Vec<_>>>()?, reverse)?;
    Ok(sorted.into_iter().map(|(_, item)| item).collect())
}

/// How two keys of the same plain class compare; `None` for any others, and for NaN.
fn compare_plain(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Sorts items by their keys, stably, as `<` orders them.
///
/// # Errors
/// What comparing two keys raises.
pub(crate) fn sort_by_keys<T>(state: &State, keyed: Vec<(Value, T)>, reverse: bool) -> Result<Vec<(Value, T)>> {
    let Some(less) = operators::find("<") else { return Ok(keyed) };
    let mut compared = 0;
    let mut keyed = keyed;
    // As CPython does it: items that are equal keep their order.
    if reverse {
        keyed.reverse();
    }
    let mut sorted = merge_sort(keyed, &mut |a, b| {
        compared += 1;
        if let Some(order) = compare_plain(a, b) {
            interrupt::check_at(compared)?;
            return Ok(order == Ordering::Less);
        }
        // A comparison takes longer than a step of a kernel.
        interrupt::check_at(compared * 16)?;
        operators::binary(state, less, a, b).and_then(|answer| truth(&answer))
    })?;
    if reverse {
        sorted.reverse();
    }
    Ok(sorted)
}

/// Few items are sorted as CPython does it, comparison by comparison: a script may see them.
const FEW: usize = 64;

/// Finds out how the items begin, and puts each of the others into its place.
fn insertion_sort<T>(
    items: &mut Vec<(Value, T)>,
    before: &mut dyn FnMut(&Value, &Value) -> Result<bool>,
) -> Result<()> {
    let mut sorted = 1;
    if let [first, second, ..] = items.as_slice() {
        let falls = before(&second.0, &first.0)?;
        sorted = 2;
        while let Some([last, next]) = items.get(sorted - 1..=sorted) {
            if before(&next.0, &last.0)? != falls {
                break;
            }
            sorted += 1;
        }
        if falls && let Some(run) = items.get_mut(..sorted) {
            run.reverse();
        }
    }
    for at in sorted..items.len() {
        let (mut low, mut high) = (0, at);
        while low < high {
            let middle = low + (high - low) / 2;
            let (Some(item), Some(other)) = (items.get(at), items.get(middle)) else { return Ok(()) };
            if before(&item.0, &other.0)? { high = middle } else { low = middle + 1 }
        }
        if let Some(part) = items.get_mut(low..=at) {
            part.rotate_right(1);
        }
    }
    Ok(())
}

/// A stable sort that stays in bounds whatever the comparison answers.
fn merge_sort<T>(
    mut items: Vec<(Value, T)>,
    before: &mut dyn FnMut(&Value, &Value) -> Result<bool>,
) -> Result<Vec<(Value, T)>> {
    if items.len() < FEW {
        insertion_sort(&mut items, before)?;
        return Ok(items);
    }
    let right = items.split_off(items.len() / 2);
    let (left, right) = (merge_sort(items, before)?, merge_sort(right, before)?);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        // Equal items keep their order.
        merged.extend(if before(&b.0, &a.0)? { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}
