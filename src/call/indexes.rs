//! Integers by Python's `__index__`.

use tensor::Scalar;
use value::Value;

/// Returns the integer that Python's `__index__` gives: for integers, integer tensors of one element, NumPy's integers
/// and objects of a script. `None` if there is no such method or it fails, like in PyTorch.
pub fn index_of(value: &Value) -> Option<Value> {
    match value {
        Value::Int(_) | Value::BigInt(_) => Some(value.clone()),
        Value::Tensor(t) if t.borrow().numel() == 1 && t.borrow().dtype.is_integral(true) => {
            t.borrow().item().ok().map(|item| Value::Int(item.to_i64()))
        }
        Value::Object(object) => match object.elements() {
            Some(array) if array.ndim() == 0 && array.dtype.is_integral(false) => {
                array.item().ok().map(|item| Value::Int(item.to_i64()))
            }
            Some(_) => None,
            None => match object.special("__index__", &[])?.ok()? {
                Value::Bool(truth) => Some(Value::Int(i64::from(truth))),
                index @ (Value::Int(_) | Value::BigInt(_)) => Some(index),
                _ => None,
            },
        },
        _ => None,
    }
}

/// Returns whether a value is an integer of NumPy.
pub(crate) fn is_numpy_integer(value: &Value) -> bool {
    matches!(value, Value::Object(object) if matches!(object.number(), Some(Scalar::Int(_) | Scalar::UInt(_))))
}
