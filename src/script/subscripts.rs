//! Subscripts as the engine asks for them: `target[index]`, and `target.name`, which reaches us as a subscript of text.

use super::runtime::Runtime;
use super::value::to_value;
use crate::functions::subscript::{attribute, item, set_attribute, set_item};
use crate::tensor::Result;
use crate::value::Value;
use rhai::{Dynamic, ImmutableString};

/// `target[index]`, or `target.name` which reaches us as a string subscript.
pub fn get(state: &Runtime, target: &Value, index: &Dynamic) -> Result<Value> {
    if let Some(name) = index.read_lock::<ImmutableString>() {
        return match target {
            Value::Dict(_) => item(state, target, &Value::str(name.as_str())),
            _ => attribute(state, target, &name),
        };
    }
    item(state, target, &to_value(index)?)
}

/// `target[index] = value`, or `target.name = value`.
pub fn set(state: &Runtime, target: &Value, index: &Dynamic, value: &Dynamic) -> Result<()> {
    let value = to_value(value)?;
    if let Some(name) = index.read_lock::<ImmutableString>() {
        return match target {
            Value::Dict(dict) => dict.insert(Value::str(name.as_str()), value),
            _ => set_attribute(state, target, &name, &value),
        };
    }
    set_item(state, target, &to_value(index)?, &value)
}
