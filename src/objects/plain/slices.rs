//! Resolves integer and slice subscripts against a number of items. This file must not know the container.

use num_traits::Signed;
use std::rc::Rc;
use tensor::{DType, Result, bail};
use value::{Range, Slice, Value};

/// Reads an integer subscript: a number, an integer tensor of one element, or an object with `__index__`. Returns
/// `None` for other values.
pub fn as_index(index: &Value) -> Result<Option<i64>> {
    Ok(match index {
        Value::Int(i) => Some(*i),
        Value::Bool(b) => Some(i64::from(*b)),
        Value::BigInt(_) => bail!(IndexError, "cannot fit 'int' into an index-sized integer"),
        Value::Tensor(t) if t.borrow().numel() == 1 && t.borrow().dtype.is_integral(true) => {
            Some(t.borrow().item()?.to_i64())
        }
        Value::Tensor(_) => bail!(TypeError, "only integer tensors of a single element can be converted to an index"),
        Value::Object(object) if let Some(answer) = object.special("__index__", &[]) => match answer? {
            Value::Int(i) => Some(i),
            Value::Bool(b) => Some(i64::from(b)),
            Value::BigInt(_) => bail!(IndexError, "cannot fit 'int' into an index-sized integer"),
            other => bail!(TypeError, "__index__ returned non-int (type {})", other.type_name()),
        },
        _ => None,
    })
}

/// Reads one part of a slice; `None` if it is absent.
///
/// # Errors
/// TypeError if the part cannot be a slice bound.
pub(crate) fn slice_part(part: &Value) -> Result<Option<i64>> {
    match part {
        Value::None => Ok(None),
        // Python clamps integers beyond 64 bits.
        Value::BigInt(i) => Ok(Some(if i.is_negative() { i64::MIN } else { i64::MAX })),
        other => match as_index(other)? {
            Some(i) => Ok(Some(i)),
            None => bail!(TypeError, "slice indices must be integers or None or have an __index__ method"),
        },
    }
}

/// Resolves a slice over `length` items by Python's rules. Returns start, stop and step.
pub(crate) fn slice_bounds(slice: &Slice, length: usize) -> Result<(i64, i64, i64)> {
    slice_of(slice, i64::try_from(length).unwrap_or(i64::MAX))
}

/// Like [`slice_bounds`], for `n` items that need not be in memory.
///
/// # Errors
/// Those of [`slice_bounds`].
pub fn slice_of(slice: &Slice, n: i64) -> Result<(i64, i64, i64)> {
    let step = slice_part(&slice.step)?.unwrap_or(1);
    if step == 0 {
        bail!(ValueError, "slice step cannot be zero");
    }
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |v: i64| (if v < 0 { v.saturating_add(n) } else { v }).clamp(low, high);
    let start = slice_part(&slice.start)?.map_or(if step > 0 { low } else { high }, clamp);
    let stop = slice_part(&slice.stop)?.map_or(if step > 0 { high } else { low }, clamp);
    Ok((start, stop, step))
}

pub fn positions(start: i64, stop: i64, step: i64) -> impl Iterator<Item = usize> {
    Range { start, stop, step }.iter().filter_map(|i| usize::try_from(i).ok())
}

/// Creates a slice value.
pub fn slice(start: Value, stop: Value, step: Value) -> Value {
    Value::Slice(Rc::new(Slice { start, stop, step }))
}

/// Returns the dtype of a list used as an index: masks keep theirs, all others become `int64`.
pub(crate) fn index_dtype(dtype: DType) -> DType {
    if matches!(dtype, DType::Bool | DType::Byte) { dtype } else { DType::Long }
}
