//! Subscripts as the engine asks for them: `target[index]`, and `target.name`, which reaches us as a subscript of text.

use super::runtime::Runtime;
use super::value::to_value;
use crate::functions::subscript::{attribute, item, set_attribute, set_item};
use crate::tensor::Result;
use crate::value::Value;
use crate::value::equality::is;
use rhai::{Dynamic, ImmutableString};

/// The depth of subscripts within each other that the engine may write back.
const READS: usize = 16;
/// The steps that the engine takes after the last call of ours until it writes back what it has read, by a subscript and by
/// a name. To what a script assigns it takes more.
const BACK: [u32; 2] = [1, 2];

/// `target[index]`, or `target.name` which reaches us as a string subscript.
pub fn get(state: &Runtime, target: &Value, index: &Dynamic) -> Result<Value> {
    let (by, found) = match index.read_lock::<ImmutableString>() {
        Some(name) => {
            let by = Value::str(name.as_str());
            let found = match target {
                Value::Dict(_) => item(state, target, &by)?,
                _ => attribute(state, target, &name)?,
            };
            (by, found)
        }
        None => {
            let by = to_value(index)?;
            let found = item(state, target, &by)?;
            (by, found)
        }
    };
    let mut read = state.read.borrow_mut();
    if read.len() >= READS {
        read.remove(0);
    }
    read.push((target.clone(), by, found.clone()));
    state.steps.set(0);
    state.changed.set(None);
    Ok(found)
}

/// `target[index] = value`, or `target.name = value`. What the engine writes back after a call on what it has read is no
/// assignment: it is the very value, at the very place. So may be what is assigned, but then the engine has taken more
/// steps since it called us, or an operator has changed the value: `x[i] += 1`.
pub fn set(state: &Runtime, target: &Value, index: &Dynamic, value: &Dynamic) -> Result<()> {
    let value = to_value(value)?;
    let name = index.read_lock::<ImmutableString>().map(|name| name.clone());
    let by = match &name {
        Some(name) => Value::str(name.as_str()),
        None => to_value(index)?,
    };
    let is_changed = state.changed.take().is_some_and(|changed| value.address() == Some(changed));
    let is_assigned = state.steps.take() > BACK[usize::from(name.is_some())] && !shares(target, &value) || is_changed;
    let back = state
        .read
        .borrow()
        .iter()
        .rposition(|(whole, at, part)| is(whole, target) && is(part, &value) && is_same_place(at, &by));
    if let Some(back) = back {
        state.read.borrow_mut().remove(back);
        if !is_assigned {
            return Ok(());
        }
    }
    match (&name, target) {
        (Some(_), Value::Dict(dict)) => dict.insert(by, value),
        (Some(name), _) => set_attribute(state, target, name, &value),
        (None, _) => set_item(state, target, &by, &value),
    }
}

/// Whether both show one memory: what was read from there is there already.
fn shares(target: &Value, value: &Value) -> bool {
    matches!((target, value), (Value::Tensor(x), Value::Tensor(y)) if x.view().storage == y.view().storage)
}

/// The engine's arrays become a new list each time.
fn is_same_place(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same_place(a, b))
        }
        _ => is(a, b),
    }
}
