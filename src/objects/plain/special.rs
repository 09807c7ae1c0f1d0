//! Numbers of objects by their special methods: `__index__`, `__float__` and their like.

use super::slices;
use std::rc::Rc;
use tensor::{Result, bail};
use value::numbers::number;
use value::{Object, Value};

/// Converts a value to an integer, like Python's `__index__`: an integer, a bool, an integer tensor of one element, or
/// an object with that method.
///
/// # Errors
/// TypeError for anything else.
pub fn index(value: &Value) -> Result<Value> {
    match value {
        Value::Int(_) | Value::BigInt(_) => Ok(value.clone()),
        Value::Bool(b) => Ok(Value::Int(i64::from(*b))),
        Value::Object(object) if let Some(answer) = object.special("__index__", &[]) => match answer? {
            index @ (Value::Int(_) | Value::BigInt(_)) => Ok(index),
            Value::Bool(b) => Ok(Value::Int(i64::from(b))),
            other => bail!(TypeError, "__index__ returned non-int (type {})", other.type_name()),
        },
        other => match slices::as_index(other)? {
            Some(index) => Ok(Value::Int(index)),
            None => bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name()),
        },
    }
}

/// Calls the first of some special methods that the object has. Returns its name and result.
pub(crate) fn special(object: &Rc<dyn Object>, names: &[&'static str]) -> Option<Result<(&'static str, Value)>> {
    names.iter().find_map(|name| Some(object.special(name, &[])?.map(|value| (*name, value))))
}

/// Converts an object to a float by its special methods; `None` if it has none of them.
pub fn float_of(object: &Rc<dyn Object>) -> Option<Result<f64>> {
    let special = special(object, &["__float__", "__index__"])?;
    Some(special.and_then(|(name, value)| match (name, value) {
        ("__float__", Value::Float(float)) => Ok(float),
        ("__float__", other) => {
            bail!(TypeError, "{}.__float__ returned non-float (type {})", object.type_name(), other.type_name())
        }
        (_, value) => number(&value).map_or(Ok(f64::NAN), |number| number.to_float()),
    }))
}
