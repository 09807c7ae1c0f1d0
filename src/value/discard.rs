//! Drops what holds values without recursion: a list within a list within a list … may be as deep as memory allows, and
//! dropping it level by level would exhaust the stack. It knows no container.

use super::Value;
use std::cell::RefCell;

thread_local! {
    /// What is still to be dropped, while somebody drops.
    static WAITING: RefCell<Option<Vec<Value>>> = const { RefCell::new(None) };
}

/// Drops values. What they hold in turn waits until they are gone, so that the stack does not grow.
pub fn discard(items: impl IntoIterator<Item = Value>) {
    let mut nested = items.into_iter().filter(holds_values).peekable();
    if nested.peek().is_none() {
        return;
    }
    // At the end of a thread there is no list any more; then nothing is left that could be deep.
    let begun = WAITING.try_with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        let is_first = waiting.is_none();
        waiting.get_or_insert_default().extend(nested);
        is_first
    });
    if !matches!(begun, Ok(true)) {
        return;
    }
    while let Ok(Some(next)) = WAITING.try_with(|waiting| waiting.borrow_mut().as_mut().and_then(Vec::pop)) {
        drop(next);
    }
    let _ = WAITING.try_with(|waiting| waiting.borrow_mut().take());
}

/// Returns whether dropping the value may drop others.
fn holds_values(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Object(_) | Value::NamedTuple(_))
}
