//! Sorting as Python does: stable, by `<` alone.

use super::operators;
use crate::call::State;
use crate::tensor::{Result, interrupt};
use crate::value::Value;
use crate::value::equality::truth;

/// Sorts items by their keys, stably, as `<` orders them.
///
/// # Errors
/// What comparing two keys raises.
pub fn sort_by_keys<T>(state: &State, keyed: Vec<(Value, T)>, reverse: bool) -> Result<Vec<(Value, T)>> {
    let Some(less) = operators::find("<") else { return Ok(keyed) };
    let mut compared = 0;
    merge_sort(keyed, &mut |a, b| {
        compared += 1;
        // A comparison takes longer than a step of a kernel.
        interrupt::check_at(compared * 16)?;
        let (a, b) = if reverse { (b, a) } else { (a, b) };
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
