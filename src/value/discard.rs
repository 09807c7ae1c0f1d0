//! Drops containers without recursion: nested lists may be as deep as memory allows, and dropping them level by level
//! would exhaust the stack. Independent of the kind of container.
//!
//! Dropping very many values takes long: after Ctrl-C, the rest waits until the next drop, or until [`drop_leftovers`]
//! is called.

use super::Value;
use std::cell::RefCell;
use tensor::interrupt;

/// The number of values dropped between two checks for Ctrl-C.
const MANY: usize = interrupt::STRIDE / 16;

/// The values still to be dropped.
#[derive(Default)]
struct DropQueue {
    values: Vec<Value>,
    /// Long iterators of values, which are not copied to the list.
    long: Vec<Box<dyn Iterator<Item = Value>>>,
    /// Whether values are being dropped.
    busy: bool,
}

thread_local! {
    static WAITING: RefCell<DropQueue> = RefCell::default();
}

/// Drops values. The values that they contain are queued, so that the stack does not grow.
pub fn discard<I: IntoIterator<Item = Value, IntoIter: 'static>>(items: I) {
    let items = items.into_iter();
    if items.size_hint().0 > MANY {
        add(|waiting| waiting.long.push(Box::new(items)));
        return;
    }
    // The other values are dropped here, while the queue is not borrowed: they may discard more.
    let nested: Vec<Value> = items.filter(holds_values).collect();
    if !nested.is_empty() {
        add(|waiting| waiting.values.extend(nested));
    }
}

/// Returns the next value to drop. The queue is not borrowed while an iterator runs, which may drop values itself.
fn next() -> Option<Value> {
    loop {
        let (value, long) = WAITING
            .try_with(|waiting| {
                let mut waiting = waiting.borrow_mut();
                let value = waiting.values.pop();
                let long = if value.is_none() { waiting.long.pop() } else { None };
                (value, long)
            })
            .ok()?;
        if value.is_some() {
            return value;
        }
        let mut long = long?;
        if let Some(value) = long.next() {
            let _ = WAITING.try_with(|waiting| waiting.borrow_mut().long.push(long));
            return Some(value);
        }
    }
}

/// Drops the values left over by an interrupt.
pub fn drop_leftovers() {
    add(|_| {});
}

fn add(more: impl FnOnce(&mut DropQueue)) {
    // At the end of a thread, the list no longer exists; remaining values are not deeply nested.
    let begun = WAITING.try_with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        more(&mut waiting);
        !std::mem::replace(&mut waiting.busy, true)
    });
    if !matches!(begun, Ok(true)) {
        return;
    }
    let mut dropped = 0usize;
    while let Some(value) = next() {
        drop(value);
        dropped += 1;
        if dropped.is_multiple_of(MANY) && interrupt::requested() {
            break;
        }
    }
    let _ = WAITING.try_with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        waiting.busy = false;
        if waiting.values.is_empty() {
            waiting.values = Vec::new();
        }
    });
}

/// Returns whether dropping the value may drop others.
fn holds_values(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Object(_) | Value::NamedTuple(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Text;

    #[test]
    fn what_an_interrupt_leaves_is_dropped_later() {
        let flag = interrupt::Interrupt::default();
        interrupt::watch(&flag);
        let text = Value::str("a text that all share");
        let Value::Str(Text::Short(shared)) = &text else { panic!("a text") };
        flag.set();
        drop(Value::list((0..3 * MANY).map(|_| Value::tuple([text.clone()]))));
        assert!(std::rc::Rc::strong_count(shared) > MANY);
        flag.clear();
        drop_leftovers();
        assert_eq!(std::rc::Rc::strong_count(shared), 1);
    }
}
