//! Context managers: what `with` does to a device and to an object, and a context as a decorator of a function.

use call::state::State;
use tensor::{Result, bail};
use value::Value;

/// Returns whether it is a context manager of ours, which can also decorate a function.
pub(crate) fn is_context(value: &Value) -> bool {
    match value {
        Value::Device(_) => true,
        Value::Object(object) => object.is_decorator(),
        _ => false,
    }
}

/// `with value:`, at its start. Returns the value for `as`.
///
/// # Errors
/// TypeError if `value` is not a context manager; what entering it raises.
pub fn enter_context(state: &State, value: &Value) -> Result<Value> {
    if let Value::Device(device) = value {
        let before = state.default_device.replace(Some(*device));
        state.outer_devices.borrow_mut().push(before);
        return Ok(value.clone());
    }
    if let Value::Object(object) = value
        && let Some(entered) = object.enter(state)
    {
        return Ok(entered?.unwrap_or_else(|| value.clone()));
    }
    bail!(TypeError, "'{}' object does not support the context manager protocol", value.type_name())
}

/// The end of a `with`.
///
/// # Errors
/// What closing a file raises.
pub fn exit_context(state: &State, value: &Value) -> Result<()> {
    match value {
        Value::Device(_) => {
            let before = state.outer_devices.borrow_mut().pop();
            state.default_device.set(before.flatten());
            Ok(())
        }
        Value::Object(object) => object.exit(state),
        _ => Ok(()),
    }
}
