//! Conversion of nested sequences to tensors, for `torch.tensor` and related functions. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.tensor.html>.

use crate::plain::slices::index_dtype;
use tensor::bail;
use tensor::layout::checked_numel;
use tensor::ops::{copy, split};
use tensor::{DType, Device, Error, Result, Scalar, TypedStorage, View, interrupt, limits};
use value::{Items, Value, integers};

/// `torch.tensor(data)`: the sizes follow the nesting, and the dtype is that of the widest number. A bare storage is
/// shared, not copied.
///
/// # Errors
/// TypeError, ValueError and RuntimeError in PyTorch's words for data that is not a rectangular nest of numbers.
pub fn from_data(data: &Value, dtype: Option<DType>, default: DType) -> Result<View> {
    if let Value::Tensor(tensor) = data {
        let view = tensor.view();
        return copy::cast(&view, dtype.unwrap_or(view.dtype))
            .and_then(|v| if v.storage == view.storage { copy::clone(&v) } else { Ok(v) });
    }
    if let Some(array) = data.elements() {
        return match dtype.filter(|dtype| *dtype != array.dtype) {
            Some(dtype) => copy::cast(&array, dtype),
            None => copy::clone(&array),
        };
    }
    match data {
        Value::Storage(storage) if storage.device().is_meta() => {
            bail!(ValueError, "could not determine the shape of object type 'torch.storage.UntypedStorage'");
        }
        Value::Storage(storage) => {
            let dtype = dtype.unwrap_or(if storage.nbytes() == 0 { default } else { DType::Long });
            return Ok(TypedStorage::new(storage.clone(), dtype).view());
        }
        Value::TypedStorage(typed) if typed.storage.device().is_meta() => {
            bail!(NotImplementedError, "Not available for 'meta' device type");
        }
        Value::TypedStorage(typed) => {
            let (wanted, got) = (dtype.unwrap_or(default), typed.dtype);
            if wanted != got {
                bail!(
                    RuntimeError,
                    "Expected a Storage of type {} or an UntypedStorage, but got {}",
                    wanted.scalar_type(),
                    got.scalar_type()
                );
            }
            return Ok(typed.view());
        }
        _ => {}
    }
    let data = unpack_buffer(data)?;
    let mut sizes = Vec::new();
    measure(&data, &mut sizes)?;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => infer(&data, default, 0)?.unwrap_or(default),
    };
    if sizes.contains(&0) {
        // PyTorch does not look at the other elements if the first ones show that the tensor is empty.
        return View::zeros(&sizes, dtype, Device::CPU);
    }
    // The same list may occur many times in a nest, so the product of the sizes can be huge.
    let count = limits::count(checked_numel(&sizes)?);
    let mut values = limits::vector(count).map_err(|_| limits::refusal(count.saturating_mul(dtype.itemsize())))?;
    flatten(&data, &sizes, 0, dtype, &mut values)?;
    View::from_scalars(&sizes, dtype, values)
}

/// Converts a buffer of numbers to a list.
fn unpack_buffer(data: &Value) -> Result<Value> {
    Ok(match data {
        Value::Buffer(buffer) if buffer.kind() != tensor::BufferKind::Bytes => {
            limits::room_for::<Value>(buffer.len())?;
            Value::list(buffer.items().into_iter().map(Value::from))
        }
        other => other.clone(),
    })
}

/// The maximum nesting depth. Without a limit, a list that contains itself would never end.
const MOST_DIMENSIONS: usize = 128;

/// Determines the sizes by following the first element of every level.
fn measure(data: &Value, sizes: &mut Vec<i64>) -> Result<()> {
    let mut current = data.clone();
    while let Some((length, first)) = first_of(&current)? {
        if sizes.len() >= MOST_DIMENSIONS {
            bail!(ValueError, "too many dimensions '{}'", current.type_name());
        }
        sizes.push(length);
        match first {
            Some(first) => current = first,
            None => return Ok(()),
        }
    }
    if let (Value::Str(_), true) = (&current, !sizes.is_empty()) {
        bail!(ValueError, "too many dimensions 'str'");
    }
    Ok(())
}

/// Returns the number of items and the first item, or `None` if the value is not a sequence. Ranges and tensors are not
/// expanded into a list for this.
fn first_of(value: &Value) -> Result<Option<(i64, Option<Value>)>> {
    Ok(match value {
        Value::Range(range) => Some((range.len() as i64, range.iter().next().map(Value::Int))),
        Value::Tensor(t) if t.borrow().ndim() > 0 => {
            let view = t.view();
            let count = view.sizes().first().copied().unwrap_or_default();
            Some((count, (count > 0).then(|| Value::from(view.with_layout(view.layout.select(0, 0))))))
        }
        other => items_of(other)?.map(|items| (items.len() as i64, items.first().cloned())),
    })
}

fn items_of(value: &Value) -> Result<Option<Items<'_>>> {
    let made = match value {
        Value::List(_) | Value::Tuple(_) => return Ok(value.items()),
        Value::Range(range) => {
            limits::room_for::<Value>(range.count())?;
            value.sequence()
        }
        Value::Size(_) | Value::NamedTuple(_) => value.sequence(),
        // In a list, a 0-dimensional tensor is a number, and any other tensor is a sequence of its rows.
        Value::Tensor(t) if t.borrow().ndim() > 0 => {
            let view = t.view();
            let count = view.sizes().first().copied().unwrap_or_default();
            split::room_for(count)?;
            let row = |i| Value::from(view.with_layout(view.layout.select(0, i)));
            Some(interrupt::watched(0..count).map(row).collect())
        }
        Value::Storage(storage) => {
            limits::room_for::<Value>(storage.nbytes())?;
            let bytes = storage.to_vec().unwrap_or_default();
            Some(interrupt::watched(bytes).map(|b| Value::Int(i64::from(b))).collect())
        }
        Value::TypedStorage(typed) => {
            let numbers = typed.scalars()?;
            limits::room_for::<Value>(numbers.len())?;
            Some(interrupt::watched(numbers).map(Value::from).collect())
        }
        _ => None,
    };
    Ok(made.map(Items::Made))
}

/// Returns the dtype that holds all numbers, or `None` if there are no numbers.
fn infer(data: &Value, default: DType, depth: usize) -> Result<Option<DType>> {
    let one = match data {
        Value::Bool(_) => DType::Bool,
        Value::Int(_) | Value::BigInt(_) => DType::Long,
        Value::Float(_) => default,
        Value::Complex(_) => default.to_complex()?,
        Value::Tensor(t) => {
            if t.borrow().numel() != 1 {
                return Err(Error::value("only one element tensors can be converted to Python scalars"));
            }
            t.borrow().dtype
        }
        Value::Str(_) => bail!(TypeError, "new(): invalid data type 'str'"),
        Value::Buffer(_) => bail!(TypeError, "new(): invalid data type 'bytes'"),
        other => {
            let Some(items) = items_of(other)? else {
                bail!(RuntimeError, "Could not infer dtype of {}", other.type_name())
            };
            if items.is_empty() {
                return Ok(Some(default));
            }
            if depth >= MOST_DIMENSIONS {
                bail!(ValueError, "too many dimensions '{}'", other.type_name());
            }
            let mut widest = None;
            for (i, item) in items.iter().enumerate() {
                interrupt::check_at(i)?;
                let next = infer(item, default, depth + 1)?;
                widest = match (widest, next) {
                    (Some(a), Some(b)) => Some(tensor::promote_types(a, b)?),
                    (a, b) => a.or(b),
                };
            }
            return Ok(widest);
        }
    };
    Ok(Some(one))
}

fn flatten(data: &Value, sizes: &[i64], depth: usize, dtype: DType, out: &mut Vec<Scalar>) -> Result<()> {
    let Some((&size, rest)) = sizes.split_first() else {
        out.push(number(data, dtype)?);
        return Ok(());
    };
    let Some(items) = items_of(data)? else { bail!(TypeError, "not a sequence") };
    // An interrupted iterator yields fewer items.
    interrupt::check()?;
    if items.len() as i64 != size {
        bail!(ValueError, "expected sequence of length {size} at dim {depth} (got {})", items.len());
    }
    items.iter().enumerate().try_for_each(|(i, item)| {
        interrupt::check_at(i)?;
        flatten(item, rest, depth + 1, dtype, out)
    })
}

fn number(value: &Value, dtype: DType) -> Result<Scalar> {
    let scalar = match value {
        Value::Tensor(t) => t.borrow().item()?,
        Value::BigInt(i) => match u64::try_from(&**i) {
            Ok(u) if dtype == DType::UInt64 || !dtype.is_integral(true) => Scalar::UInt(u),
            _ if !dtype.is_integral(true) => Scalar::Float(integers::to_float(i)?),
            _ => return Err(Error::runtime("Overflow when unpacking long")),
        },
        Value::Str(_) => bail!(TypeError, "new(): invalid data type 'str'"),
        other => match other.as_scalar() {
            Some(scalar) => scalar,
            None if dtype.is_integral(true) => {
                bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name())
            }
            None => bail!(TypeError, "must be real number, not {}", other.type_name()),
        },
    };
    if let (Scalar::Complex(_), true) = (scalar, dtype.is_integral(false)) {
        bail!(TypeError, "'complex' object cannot be interpreted as an integer");
    }
    if let (Scalar::Complex(_), false) = (scalar, dtype.is_complex() || dtype == DType::Bool) {
        bail!(TypeError, "must be real number, not complex");
    }
    // A float that is too large becomes infinity. Integers must fit, except that negative numbers wrap in unsigned
    // dtypes.
    if dtype.is_integral(false) && !scalar.fits(dtype) {
        bail!(RuntimeError, "value cannot be converted to type {} without overflow", dtype.name());
    }
    Ok(scalar)
}

/// Converts a list used as a subscript to an index tensor.
pub(crate) fn index_tensor(value: &Value) -> Result<View> {
    let view = from_data(value, None, DType::Float)?;
    let dtype = index_dtype(view.dtype);
    if dtype == view.dtype { Ok(view) } else { copy::cast(&view, dtype) }
}
