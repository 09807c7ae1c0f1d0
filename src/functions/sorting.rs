//! Sorting as Python does: stable, by `<` alone.

use super::calling::call_plain;
use super::operators;
use crate::call::State;
use crate::tensor::{Result, interrupt};
use crate::value::Value;
use crate::value::equality::truth;
use std::cmp::Ordering;

/// Items in order, by what a function says of each unless that is `None`.
///
/// # Errors
/// As [`sort_by_keys`]; what the function raises.
pub fn sorted_items(state: &State, items: Vec<Value>, key: &Value, reverse: bool) -> Result<Vec<Value>> {
    if let Value::None = key {
        let sorted = sort_by_keys(state, items.into_iter().map(|item| (item, ())).collect(), reverse)?;
        return Ok(sorted.into_iter().map(|(item, ())| item).collect());
    }
    let keyed = items.into_iter().map(|item| Ok((call_plain(state, key, vec![item.clone()])?, item)));
    let sorted = sort_by_keys(state, keyed.collect::<Result<Vec<_>>>()?, reverse)?;
    Ok(sorted.into_iter().map(|(_, item)| item).collect())
}

/// How two keys of the same plain class compare; `None` for any others, and for NaN.
fn plainly(a: &Value, b: &Value) -> Option<Ordering> {
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
pub fn sort_by_keys<T>(state: &State, keyed: Vec<(Value, T)>, reverse: bool) -> Result<Vec<(Value, T)>> {
    let Some(less) = operators::find("<") else { return Ok(keyed) };
    let mut compared = 0;
    merge_sort(keyed, &mut |a, b| {
        compared += 1;
        let (a, b) = if reverse { (b, a) } else { (a, b) };
        if let Some(order) = plainly(a, b) {
            interrupt::check_at(compared)?;
            return Ok(order == Ordering::Less);
        }
        // A comparison takes longer than a step of a kernel.
        interrupt::check_at(compared * 16)?;
        operators::binary(state, less, a, b).and_then(|answer| truth(&answer))
    })
}

/// A stable sort that stays in bounds whatever the comparison answers.
fn merge_sort<T>(
    mut items: Vec<(Value, T)>,
    before: &mut dyn FnMut(&Value, &Value) -> Result<bool>,
) -> Result<Vec<(Value, T)>> {
    if items.len() < 2 {
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
