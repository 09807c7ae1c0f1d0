//! Subscripts as the engine asks for them: `target[index]`, and `target.name`, which reaches us as a subscript of text.

use super::runtime::Runtime;
use super::value::to_value;
use crate::functions::subscript::{attribute, item, set_attribute, set_item};
use crate::tensor::Result;
use crate::value::Value;
use crate::value::equality::equal;
use rhai::{Dynamic, ImmutableString};

/// `target[index]`, or `target.name` which reaches us as a string subscript.
pub fn get(state: &Runtime, target: &Value, index: &Dynamic) -> Result<Value> {
    if let Some(name) = index.read_lock::<ImmutableString>() {
        return match target {
            Value::Dict(_) | Value::OrderedDict(_) => item(state, target, &Value::str(name.as_str())),
            _ => attribute(state, target, &name),
        };
    }
    item(state, target, &to_value(index)?)
}

/// `target[index] = value`, or `target.name = value`.
pub fn set(state: &Runtime, target: &Value, index: &Dynamic, value: &Dynamic) -> Result<()> {
    let value = to_value(value)?;
    if let Some(name) = index.read_lock::<ImmutableString>() {
        return set_attribute(state, target, &name, &value);
    }
    set_item(state, target, &to_value(index)?, &value)
}

/// A dictionary with one entry set, as a new value; `None` for anything that is not a dictionary.
pub fn with_entry(target: &Value, key: &Dynamic, value: &Dynamic) -> Result<Option<Value>> {
    let Some(entries) = target.entries() else { return Ok(None) };
    let (key, value) = (to_value(key)?, to_value(value)?);
    let mut entries = entries.to_vec();
    match entries.iter_mut().find(|(k, _)| equal(k, &key)) {
        Some(entry) => entry.1 = value,
        None => entries.push((key, value)),
    }
    let entries = entries.into();
    Ok(Some(if let Value::OrderedDict(_) = target { Value::OrderedDict(entries) } else { Value::Dict(entries) }))
}
