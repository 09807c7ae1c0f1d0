//! Resolves integer and slice subscripts against a number of items. Knows nothing of what has the items.

use num_traits::Signed;
use std::rc::Rc;
use tensor::{DType, Result, bail};
use value::{Range, Slice, Value};

/// An integer subscript: a number, or an integer tensor of one element.
pub fn as_index(index: &Value) -> Result<Option<i64>> {
    Ok(match index {
        Value::Int(i) => Some(*i),
        Value::Bool(b) => Some(i64::from(*b)),
        Value::BigInt(_) => bail!(IndexError, "cannot fit 'int' into an index-sized integer"),
        Value::Tensor(t) if t.borrow().numel() == 1 && t.borrow().dtype.is_integral(true) => {
            Some(t.borrow().item()?.to_i64())
        }
        Value::Object(object) if let Some(answer) = object.special("__index__", &[]) => match answer? {
            Value::Int(i) => Some(i),
            Value::Bool(b) => Some(i64::from(b)),
            Value::BigInt(_) => bail!(IndexError, "cannot fit 'int' into an index-sized integer"),
            other => bail!(TypeError, "__index__ returned non-int (type {})", other.type_name()),
        },
        _ => None,
    })
}

/// One part of a slice; `None` where it is absent.
///
/// # Errors
/// TypeError for what cannot be one.
pub(crate) fn slice_part(part: &Value) -> Result<Option<i64>> {
    match part {
        Value::None => Ok(None),
        // Python clamps what does not fit.
        Value::BigInt(i) => Ok(Some(if i.is_negative() { i64::MIN } else { i64::MAX })),
        other => match as_index(other)? {
            Some(i) => Ok(Some(i)),
            None => bail!(TypeError, "slice indices must be integers or None or have an __index__ method"),
        },
    }
}

/// Start, stop and step of a slice over `length` items, by Python's rules.
pub(crate) fn slice_bounds(slice: &Slice, length: usize) -> Result<(i64, i64, i64)> {
    slice_of(slice, i64::try_from(length).unwrap_or(i64::MAX))
}

/// Like [`slice_bounds`], over `n` items that need not be in memory.
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

/// `slice(start, stop, step)` as a value.
pub fn slice(start: Value, stop: Value, step: Value) -> Value {
    Value::Slice(Rc::new(Slice { start, stop, step }))
}

/// The dtype of a list used as a subscript: masks stay masks, everything else counts.
pub(crate) fn index_dtype(dtype: DType) -> DType {
    if matches!(dtype, DType::Bool | DType::Byte) { dtype } else { DType::Long }
}
