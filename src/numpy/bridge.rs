//! Between arrays and tensors, buffers and other objects that hold memory: what is shared, and what is refused. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.from_numpy.html>.

use crate::array::{Array, Order};
use crate::descr::Descr;
use crate::ndarray::NdArray;
use crate::strided::{MOST_DIMS, Strided};
use call::State;
use tensor::ops::copy;
use tensor::{Buffer, BufferKind, DType, Error, Layout, Result, Tensor, TypeCode, View, bail};
use value::Value;

/// Returns the array of a tensor, on its memory: what `Tensor.numpy()` shows.
///
/// # Errors
/// Those of [`numpy`].
pub(crate) fn array_of(tensor: &Tensor) -> Result<Array> {
    let view = checked_view(tensor, false)?;
    Array::of_view(&view).ok_or_else(|| unsupported(view.dtype))
}

fn unsupported(dtype: DType) -> Error {
    Error::type_error(format!("Got unsupported ScalarType {}", dtype.scalar_type()))
}

/// Checks that a tensor can be an array, and returns its elements without lazy bits.
fn checked_view(tensor: &Tensor, force: bool) -> Result<View> {
    let view = tensor.view();
    let records = || State::current().is_ok_and(|state| state.grad_enabled.get());
    if tensor.requires_grad() && !force && records() {
        bail!(RuntimeError, "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
    }
    if view.device().is_meta() {
        bail!(
            TypeError,
            "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        );
    }
    if view.ndim() > MOST_DIMS {
        bail!(ValueError, "number of dimensions must be within [0, {MOST_DIMS}]");
    }
    if (view.conj || view.neg) && !force {
        let (bit, name) = if view.conj { ("conjugate", "conj") } else { ("negative", "neg") };
        bail!(
            RuntimeError,
            "Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{name}().numpy() instead."
        );
    }
    if Descr::of(view.dtype).is_none() {
        return Err(unsupported(view.dtype));
    }
    if view.conj || view.neg {
        return copy::clone(&copy::resolve_neg(&copy::resolve_conj(&view)?)?);
    }
    Ok(view)
}

/// `Tensor.numpy(force=…)`: an array on the tensor's memory.
///
/// # Errors
/// RuntimeError and TypeError in PyTorch's words for tensors without one.
pub fn numpy(tensor: &Tensor, force: bool) -> Result<Value> {
    let view = checked_view(tensor, force)?;
    // The tensor must not move its memory while the array shows it.
    view.storage.keep_size();
    let mut array = Array::of_view(&view).ok_or_else(|| unsupported(view.dtype))?;
    if array.count() == 0 {
        array.places.strides.iter_mut().for_each(|stride| *stride = 0);
    }
    // PyTorch keeps the memory by a tensor of its own.
    Ok(NdArray::on(array, Value::from(view), true))
}

/// `torch.from_numpy(array)`: a tensor on the array's memory, whose storage begins where the array does.
///
/// # Errors
/// ValueError and TypeError in PyTorch's words.
pub fn from_numpy(value: &Value) -> Result<Value> {
    let Some(this) = NdArray::of(value) else { bail!(TypeError, "expected np.ndarray (got {})", value.type_name()) };
    if !this.is_writeable() {
        State::current()?.warn_once(
            "UserWarning",
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing \
             to this tensor will result in undefined behavior. You may want to copy the array to protect its data or make \
             it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this \
             program.",
        );
    }
    let view = elements(&this.array())?;
    this.lend(&view.storage);
    Ok(Value::from(view))
}

/// Returns a tensor on the memory of an array.
///
/// # Errors
/// Those of [`from_numpy`].
pub(crate) fn tensor_of(array: &Array) -> Result<Value> {
    elements(array).map(Value::from)
}

/// Returns the elements of an array as those of a tensor.
///
/// # Errors
/// Those of [`from_numpy`].
pub(crate) fn elements(array: &Array) -> Result<View> {
    let size = array.itemsize() as i64;
    for (&stride, &count) in array.places.strides.iter().zip(array.shape()) {
        if stride < 0 && count > 0 {
            bail!(
                ValueError,
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not \
                 currently supported. (You can probably work around this by making a copy of your array  with \
                 array.copy().) "
            );
        }
        if stride % size != 0 {
            bail!(
                ValueError,
                "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate \
                 the memory."
            );
        }
    }
    if array.descr.swapped {
        bail!(
            ValueError,
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is \
             currently not supported."
        );
    }
    let strides = array.places.strides.iter().map(|stride| stride / size).collect();
    let layout = Layout { sizes: array.places.shape.clone(), strides, offset: 0 };
    let length = tensor::view::storage_bytes(&layout, array.descr.dtype)?;
    let start = usize::try_from(array.places.offset).unwrap_or_default();
    let storage = array.storage.slice(start, start.saturating_add(length))?;
    Ok(View { storage, layout, dtype: array.descr.dtype, conj: false, neg: false, form: None })
}

/// Returns the result of a ufunc on a tensor as a tensor: what `Tensor.__array_wrap__` makes of it.
///
/// # Errors
/// Those of [`from_numpy`].
pub(crate) fn wrapped(array: &Array) -> Result<Value> {
    match array.descr.dtype {
        DType::Bool => tensor_of(&array.copied(Descr::native(DType::Byte), Order::Keep)?),
        _ => tensor_of(array),
    }
}

/// Returns the array of a buffer of numbers, on its memory.
///
/// # Errors
/// NotImplementedError for buffers of other things.
pub(crate) fn array_of_buffer(buffer: &Buffer) -> Result<Option<Array>> {
    let descr = match buffer.kind() {
        BufferKind::Bytes => return Ok(None),
        _ => descr_of_code(buffer.code())?,
    };
    let nbytes = buffer.nbytes();
    let storage = buffer.storage(0, nbytes);
    let storage = storage.ok_or_else(|| Error::runtime("the memory of the buffer is not available"))?;
    let size = descr.itemsize() as i64;
    let length = nbytes as i64 / size;
    Ok(Some(Array { storage, descr, places: Strided::dense(&[length], descr.itemsize(), false) }))
}

fn descr_of_code(code: TypeCode) -> Result<Descr> {
    Descr::parse(&code.as_char().to_string())
}

/// `np.frombuffer(…)`.
///
/// # Errors
/// ValueError and TypeError in NumPy's words.
pub(crate) fn frombuffer(source: &Value, descr: Descr, count: i64, offset: i64) -> Result<Value> {
    let (storage, writable) = match source {
        Value::Buffer(buffer) => {
            let storage = buffer.storage(0, buffer.nbytes());
            (storage.ok_or_else(|| Error::runtime("the memory of the buffer is not available"))?, buffer.writable())
        }
        other => match NdArray::of(other) {
            Some(this) if this.array().is_c() => {
                let array = this.array();
                let start = usize::try_from(array.places.offset).unwrap_or_default();
                let end = start.saturating_add((array.count() as usize).saturating_mul(array.itemsize()));
                (array.storage.slice(start, end)?, this.is_writeable())
            }
            Some(_) => bail!(ValueError, "ndarray is not C-contiguous"),
            None => bail!(TypeError, "a bytes-like object is required, not '{}'", other.type_name()),
        },
    };
    let (length, size) = (storage.nbytes() as i64, descr.itemsize() as i64);
    if offset < 0 || offset > length {
        bail!(ValueError, "offset must be non-negative and no greater than buffer length ({length})");
    }
    let rest = length - offset;
    let count = match count {
        ..0 if rest % size != 0 => bail!(ValueError, "buffer size must be a multiple of element size"),
        ..0 => rest / size,
        count => match count.checked_mul(size) {
            Some(bytes) if bytes <= rest => count,
            _ => bail!(ValueError, "buffer is smaller than requested size"),
        },
    };
    let places = Strided { offset, ..Strided::dense(&[count], descr.itemsize(), false) };
    Ok(NdArray::on(Array { storage, descr, places }, source.clone(), writable))
}

/// Returns a window on the elements of an array, by Python's buffer protocol.
///
/// # Errors
/// ValueError in NumPy's words if the elements do not lie side by side in row-major order; NotImplementedError for
/// elements that a memoryview here has no format for.
pub(crate) fn buffer(this: &NdArray) -> Result<Buffer> {
    let array = this.array();
    if array.ndim() > 1 {
        bail!(NotImplementedError, "memoryviews of several dimensions are not supported at this prompt");
    }
    let descr = array.descr;
    match descr.code().to_string().chars().next().and_then(TypeCode::from_char) {
        Some(code) if !descr.swapped => window(this, code),
        _ => bail!(NotImplementedError, "memoryviews of {} are not supported here", descr.text()),
    }
}

/// Returns a window on the bytes of an array.
///
/// # Errors
/// ValueError as for [`buffer`].
pub(crate) fn bytes(this: &NdArray) -> Result<Buffer> {
    window(this, TypeCode::U8)
}

fn window(this: &NdArray, code: TypeCode) -> Result<Buffer> {
    let array = this.array();
    if !array.is_c() {
        bail!(ValueError, "ndarray is not C-contiguous");
    }
    let start = usize::try_from(array.places.offset).unwrap_or_default();
    let end = start.saturating_add(usize::try_from(array.count()).unwrap_or_default().saturating_mul(array.itemsize()));
    Buffer::over(&array.storage, start..end, code, this.is_writeable())
        .ok_or_else(|| Error::runtime("the storage beneath this array has become too small for it"))
}
