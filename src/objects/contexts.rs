//! Context managers: `with` on devices and objects, and contexts that decorate a function.

use call::state::State;
use tensor::{Result, bail};
use value::Value;

/// Returns whether a value is a built-in context manager, which can also decorate a function.
pub(crate) fn is_context(value: &Value) -> bool {
    matches!(value, Value::Object(object) if object.is_decorator())
}

/// Enters `with value:`. Returns the value that `as` binds.
///
/// # Errors
/// TypeError if `value` is not a context manager; errors of entering it.
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

/// Leaves `with value:`.
///
/// # Errors
/// Errors of the object, such as a file that cannot be written on close.
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
