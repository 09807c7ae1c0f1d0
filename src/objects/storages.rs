//! Items of untyped and typed storages, and the conversion of their arguments. Follows
//! <https://pytorch.org/docs/2.7/storage.html>.

use crate::indexing;
use crate::plain::classes::class_name;
use crate::plain::slices::slice_bounds;
use crate::subscript::indices;
use call::State;
use tensor::{Error, ErrorKind, Result, Storage, Tensor, TypedStorage, bail};
use value::{Value, integers};

/// `storage[index]`.
pub fn item(storage: &Storage, index: &Value) -> Result<Value> {
    let n = storage.data()?.nbytes() as i64;
    match index {
        Value::Int(i) => {
            let wrapped = if *i < 0 { i.saturating_add(n) } else { *i };
            let byte = usize::try_from(wrapped).ok().map_or(Ok(None), |i| storage.byte(i))?;
            match byte {
                Some(byte) => Ok(Value::Int(i64::from(byte))),
                None => bail!(IndexError, "index {wrapped} out of range for storage of size {n}"),
            }
        }
        Value::BigInt(_) => bail!(RuntimeError, "Overflow when unpacking long"),
        Value::Slice(slice) => {
            let (start, stop, step) = slice_bounds(slice, storage.nbytes())?;
            if step != 1 {
                bail!(ValueError, "a storage can only be sliced with step 1, not {step}");
            }
            storage.slice(start as usize, stop.max(start) as usize).map(Value::Storage)
        }
        other => bail!(TypeError, "can't index a torch.UntypedStorage with {}", other.type_name()),
    }
}

/// `storage[index] = value`.
pub fn set_item(storage: &Storage, index: &Value, value: &Value) -> Result<()> {
    if let Value::Storage(slice) = value
        && let Ok(Value::Storage(current)) = item(storage, index)
        && (current.data_ptr(), current.nbytes()) == (slice.data_ptr(), slice.nbytes())
    {
        // The engine writes a slice back after a method call on it.
        return Ok(());
    }
    let byte = byte(value, "a storage holds bytes: expected int, but got").map_err(unexplained)?;
    if storage.device().is_meta() {
        return Ok(());
    }
    match index {
        // Like in PyTorch, negative positions are out of bounds here.
        Value::Int(i) => match usize::try_from(*i) {
            Ok(i) if storage.set_byte(i, byte)? => Ok(()),
            _ => bail!(RuntimeError, "out of bounds"),
        },
        Value::BigInt(_) => bail!(RuntimeError, "Overflow when unpacking long"),
        Value::Slice(slice) => {
            let (start, stop, step) = slice_bounds(slice, storage.nbytes())?;
            if step != 1 {
                bail!(ValueError, "a storage can only be sliced with step 1, not {step}");
            }
            let part = storage.slice(start as usize, stop.max(start) as usize)?;
            part.fill(byte)
        }
        other => {
            let reason = format!("can't index a torch.UntypedStorage with {}", other.type_name());
            Err(unexplained(Error::type_error(reason)))
        }
    }
}

/// Returns Python's error for a failure that PyTorch does not explain. The reason becomes a hint.
fn unexplained(error: Error) -> Error {
    if error.kind != ErrorKind::TypeError {
        return error;
    }
    Error::new(ErrorKind::SystemError, "error return without exception set").with_hint(error.message)
}

/// `storage[index]`.
pub fn typed_item(state: &State, typed: &TypedStorage, index: &Value) -> Result<Value> {
    warn_typed(state);
    typed.storage.data()?;
    let n = typed.len() as i64;
    match index {
        Value::Int(i) if *i >= -n && *i < n => {
            let view = typed.view();
            let element = view.with_layout(view.layout.select(0, if *i < 0 { i + n } else { *i }));
            element.item().map(Value::from)
        }
        Value::Int(i) => bail!(IndexError, "index {i} out of range for storage of size {n}"),
        Value::BigInt(i) => {
            bail!(IndexError, "index {} out of range for storage of size {n}", integers::decimal(i)?)
        }
        Value::Slice(_) => bail!(RuntimeError, "slices are only supported in UntypedStorage.__getitem__"),
        Value::Bool(_) => bail!(TypeError, "can't index a <class 'torch.storage.TypedStorage'> with <class 'bool'>"),
        other => bail!(RuntimeError, "can't index a <class 'torch.storage.TypedStorage'> with {}", class_repr(other)),
    }
}

/// `storage[index] = value`. The value is converted like that of a tensor assignment.
pub fn set_typed_item(state: &State, typed: &TypedStorage, index: &Value, value: &Value) -> Result<()> {
    warn_typed(state);
    if !matches!(index, Value::Int(_) | Value::BigInt(_) | Value::Bool(_) | Value::Slice(_)) {
        bail!(RuntimeError, "can't index a <class 'torch.storage.TypedStorage'> with {}", class_repr(index));
    }
    if matches!(value, Value::Storage(_) | Value::TypedStorage(_)) {
        bail!(RuntimeError, "cannot set item with value type {}", class_repr(value));
    }
    if typed.storage.device().is_meta() {
        return Ok(());
    }
    typed.storage.data()?;
    indexing::assign(state, &Tensor::new(typed.view()), &indices(index)?, value)
}

/// Converts a value to a byte. Integers wrap modulo 256.
pub fn byte(value: &Value, complaint: &str) -> Result<u8> {
    match value {
        Value::Int(i) => Ok(*i as u8),
        Value::Bool(b) => Ok(u8::from(*b)),
        Value::BigInt(_) => Err(Error::new(ErrorKind::OverflowError, "int too big to convert")),
        other => Err(Error::type_error(format!("{complaint} {}", other.type_name()))),
    }
}

/// Converts an argument like C code that expects an integer.
pub fn index_argument(value: &Value) -> Result<i64> {
    match value {
        Value::Int(i) => Ok(*i),
        Value::Bool(b) => Ok(i64::from(*b)),
        Value::BigInt(_) => bail!(OverflowError, "Python int too large to convert to C ssize_t"),
        other => bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name()),
    }
}

/// Warns, once per session, that typed storages are deprecated.
pub fn warn_typed(state: &State) {
    state.warn_once(
        "UserWarning",
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only \
 storage class. This should only matter to you if you are using storages directly.  To access \
 UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()",
    );
}

/// Returns a value's class as messages show it, such as `<class 'float'>`.
pub fn class_repr(value: &Value) -> String {
    format!("<class '{}'>", class_name(value))
}
