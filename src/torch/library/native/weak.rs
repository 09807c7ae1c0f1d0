//! `_weakref`: pointers that do not keep their objects.

use call::{Row, function};
use objects::calling::NativeFunction;
use std::rc::{Rc, Weak};
use tensor::{Result, WeakTensor, bail};
use value::{Object, Value};

pub(in crate::library) const ROWS: &[Row] = &[
    function(
        "_weakref._pointer(any object) -> any",
        |c| pointer(&c.value(0)),
        "Returns a function that returns the object, or None once it is gone.",
    ),
    function(
        "_weakref._watch(any object, any callback) -> None",
        |c| {
            if let Value::Object(object) = c.value(0) {
                object.watch(c.value(1));
            }
            Ok(Value::None)
        },
        "Has a function called when an object of a script is gone.",
    ),
];

enum Pointer {
    Object(Weak<dyn Object>),
    Tensor(WeakTensor),
    /// A builtin class, function or module, which is never gone.
    Lasting(Value),
}

fn pointer(object: &Value) -> Result<Value> {
    let pointer = match object {
        Value::Object(object) => Pointer::Object(Rc::downgrade(object)),
        Value::Tensor(tensor) => Pointer::Tensor(tensor.downgrade()),
        Value::Type(_) | Value::Function(_) | Value::Module(_) => Pointer::Lasting(object.clone()),
        other => bail!(TypeError, "cannot create weak reference to '{}' object", other.type_name()),
    };
    Ok(NativeFunction::value("pointer", move |_, _| {
        let found = match &pointer {
            Pointer::Object(object) => object.upgrade().map(Value::Object),
            Pointer::Tensor(tensor) => tensor.upgrade().map(Value::Tensor),
            Pointer::Lasting(value) => Some(value.clone()),
        };
        Ok(found.unwrap_or(Value::None))
    }))
}
