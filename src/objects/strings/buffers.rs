//! Buffer objects and `torch.frombuffer`. Follows <https://pytorch.org/docs/2.7/generated/torch.frombuffer.html>.

use crate::methods::{ContainerMethod, Given, parsed, takes};
use crate::plain::slices::{as_index, positions, slice_bounds};
use crate::storages::index_argument;
use crate::strings::bytes::{TO_LIST, change, hex, made, raw};
use call::{Call, Row, attribute, function, method};
use tensor::{
    Buffer, BufferKind, DType, Error, ErrorKind, Layout, Result, Scalar, Storage, TypeCode, View, bail, interrupt,
    limits, memory,
};
use value::{Slice, Value, equality};

pub(crate) const ROWS: &[Row] = &[
    function(
        "frombuffer(any buffer, *, ScalarType dtype, int count=-1, int offset=0, bool requires_grad=False) \
 -> Tensor",
        frombuffer,
        "Creates a 1-d tensor that shares the memory of a buffer object.",
    ),
    function(
        "from_file(str filename, bool? shared=None, int? size=0, *, {factory}) -> Tensor",
        from_file,
        "Creates a 1-d tensor over the bytes of a file; with shared=True, writes reach the file.",
    ),
    function(
        "array.array(str typecode, any initializer=[]) -> Buffer",
        array,
        "Creates a Python array of one element type.",
    )
    .python("array.array"),
    function(
        "py.array(str typecode, any initializer=[]) -> Buffer",
        array,
        "Creates a Python array of one element type.",
    )
    .python("array"),
    function("py.memoryview(any object) -> Buffer", memoryview, "Opens a window on the bytes of a buffer.")
        .python("memoryview"),
    attribute(
        "itemsize(Buffer self) -> int",
        |c| match buffer(c)? {
            array if matches!(array.kind(), BufferKind::Array(_)) => Ok(Value::Int(array.code().itemsize() as i64)),
            _ => Ok(Value::Int(view_of(c)?.code().itemsize() as i64)),
        },
        "The size of an element in bytes.",
    ),
    attribute(
        "typecode(Buffer self) -> str",
        |c| match buffer(c)?.kind() {
            BufferKind::Array(code) => Ok(Value::str(code.as_char().to_string())),
            _ => bail!(AttributeError, "'{}' object has no attribute 'typecode'", c.value(0).type_name()),
        },
        "The letter of an array's element type.",
    ),
    attribute(
        "format(Buffer self) -> str",
        |c| Ok(Value::str(view_of(c)?.code().as_char().to_string())),
        "The letter of a memoryview's element type.",
    ),
    attribute("nbytes(Buffer self) -> int", |c| Ok(Value::Int(view_of(c)?.nbytes() as i64)), "The size in bytes."),
    attribute(
        "readonly(Buffer self) -> bool",
        |c| Ok(Value::Bool(!view_of(c)?.writable())),
        "Whether writes are refused.",
    ),
    attribute("ndim(Buffer self) -> int", |c| view_of(c).map(|_| Value::Int(1)), "The number of dimensions, 1."),
    attribute(
        "shape(Buffer self) -> any",
        |c| Ok(Value::tuple([Value::Int(view_of(c)?.len() as i64)])),
        "The number of elements, in a tuple.",
    ),
    attribute(
        "strides(Buffer self) -> any",
        |c| Ok(Value::tuple([Value::Int(view_of(c)?.stride() as i64)])),
        "The bytes from one element to the next, in a tuple.",
    ),
    attribute("suboffsets(Buffer self) -> any", |c| view_of(c).map(|_| Value::tuple([])), "An empty tuple."),
    attribute("contiguous(Buffer self) -> bool", is_contiguous, "Whether the elements lie side by side."),
    attribute("c_contiguous(Buffer self) -> bool", is_contiguous, "Whether the elements lie side by side."),
    attribute("f_contiguous(Buffer self) -> bool", is_contiguous, "Whether the elements lie side by side."),
    method(
        "__len__(Buffer self) -> int",
        |c| Ok(Value::Int(buffer(c)?.len() as i64)),
        "Returns the number of elements.",
    ),
    method(
        "__getitem__(Buffer self, any index) -> any",
        |c| crate::subscript::item_of(c),
        "Returns one element, or a copy of a slice.",
    ),
    method(
        "__setitem__(Buffer self, any index, any value) -> None",
        |c| crate::subscript::set_item_of(c),
        "Writes one element.",
    ),
];

/// Methods of `memoryview`.
pub(super) const MEMORY_VIEW: &[ContainerMethod<Buffer>] = &[
    TO_LIST,
    parsed("tobytes", (0, 1), &["order"], |view, _| made(&raw(view)?), "Returns the bytes, row by row."),
    parsed("hex", (0, 2), &["sep", "bytes_per_sep"], hex, "Writes each byte in two hexadecimal digits."),
    takes("toreadonly", (0, 0), |buffer, _| Ok(Value::Buffer(buffer.read_only())), "Returns a read-only window."),
    parsed("cast", (0, 2), &["format", "shape"], cast, "Returns a window of another format on the same bytes."),
];

fn is_contiguous(call: &mut Call) -> Result<Value> {
    Ok(Value::Bool(view_of(call)?.is_contiguous()))
}

fn buffer(call: &Call) -> Result<Buffer> {
    match call.value(0) {
        Value::Buffer(buffer) => Ok(buffer),
        other => bail!(TypeError, "a bytes-like object is required, not '{}'", other.type_name()),
    }
}

/// Converts a value to an element.
///
/// # Errors
/// TypeError if the value is not a number.
pub(crate) fn number(value: &Value) -> Result<Scalar> {
    value
        .as_scalar()
        .ok_or_else(|| Error::type_error(format!("'{}' object cannot be interpreted as an integer", value.type_name())))
}

/// Converts a value to an element of a kind of buffer.
///
/// # Errors
/// TypeError if the kind cannot hold the value.
pub(crate) fn element(kind: BufferKind, value: &Value) -> Result<Scalar> {
    let whole = matches!(value, Value::Int(_) | Value::Bool(_) | Value::BigInt(_));
    match kind {
        BufferKind::Array(TypeCode::F32 | TypeCode::F64) => match value.as_scalar() {
            Some(scalar) if !matches!(scalar, Scalar::Complex(_)) => Ok(scalar),
            _ => bail!(TypeError, "must be real number, not {}", value.type_name()),
        },
        BufferKind::MemoryView { format, .. } => match (format, value.as_scalar()) {
            (_, Some(scalar)) if whole => Ok(scalar),
            (TypeCode::F32 | TypeCode::F64, Some(scalar @ Scalar::Float(_))) => Ok(scalar),
            _ => bail!(TypeError, "memoryview: invalid type for format '{}'", format.as_char()),
        },
        _ if whole => number(value),
        _ => bail!(TypeError, "'{}' object cannot be interpreted as an integer", value.type_name()),
    }
}

/// `array[start:stop] = array` and `memoryview[start:stop] = bytes`.
pub(crate) fn set_slice(buffer: &Buffer, slice: &Slice, value: &Value) -> Result<()> {
    let is_array = matches!(buffer.kind(), BufferKind::Array(_));
    let other = match value {
        Value::Buffer(other) if !is_array || matches!(other.kind(), BufferKind::Array(_)) => other,
        other if is_array => {
            bail!(TypeError, "can only assign array (not \"{}\") to array slice", other.type_name())
        }
        other => bail!(TypeError, "a bytes-like object is required, not '{}'", other.type_name()),
    };
    if is_array && other.kind() != buffer.kind() {
        bail!(TypeError, "bad argument type for built-in operation");
    }
    let (start, stop, step) = slice_bounds(slice, buffer.len())?;
    let places: Vec<usize> = positions(start, stop, step).collect();
    let fits = other.len() == places.len();
    if is_array && step == 1 && !fits {
        let width = buffer.nbytes().checked_div(buffer.len()).unwrap_or(1);
        let new = raw(other)?;
        return change(buffer, |held| {
            let (start, stop) = (start.max(0) as usize, stop.max(start).max(0) as usize);
            held.splice(start * width..stop * width, new);
            Ok(())
        })
        .map(drop);
    }
    if !fits && is_array {
        let (given, wanted) = (other.len(), places.len());
        bail!(ValueError, "attempt to assign array of size {given} to extended slice of size {wanted}");
    }
    if !fits || other.code() != buffer.code() {
        bail!(ValueError, "memoryview assignment: lvalue and rvalue have different structures");
    }
    let items = other.items();
    places.into_iter().zip(items).try_for_each(|(place, item)| buffer.set_item(place, item))
}

/// `array.index(value, start, stop)`
///
/// # Errors
/// ValueError if no element equals the value.
pub(crate) fn place_of(array: &Buffer, given: &Given) -> Result<Value> {
    let bound = |at: usize, default: i64| -> Result<i64> {
        let bound = given.args.get(at).map(as_index).transpose()?.flatten().unwrap_or(default);
        Ok(if bound < 0 { bound.saturating_add(array.len() as i64) } else { bound })
    };
    let (start, stop) = (bound(1, 0)?, bound(2, i64::MAX)?);
    let wanted = given.at(0);
    for (at, item) in (0..).zip(array.items()) {
        interrupt::check_at(at as usize)?;
        if (start..stop).contains(&at) && equality::equal(&Value::from(item), &wanted) {
            return Ok(Value::Int(at));
        }
    }
    bail!(ValueError, "array.index(x): x not in array")
}

/// Returns the elements of a value.
///
/// # Errors
/// TypeError if the value is not iterable; MemoryError.
pub(crate) fn numbers(value: &Value) -> Result<Vec<Scalar>> {
    match value {
        Value::Buffer(buffer) => {
            limits::room_for::<Scalar>(buffer.len())?;
            Ok(buffer.items())
        }
        Value::Storage(storage) => Ok(storage.to_vec()?.into_iter().map(|byte| Scalar::Int(i64::from(byte))).collect()),
        Value::TypedStorage(typed) => typed.scalars(),
        other => match other.sequence() {
            Some(items) => items.iter().map(number).collect(),
            None if matches!(other, Value::Range(_)) => Err(limits::full()),
            None => bail!(TypeError, "'{}' object is not iterable", other.type_name()),
        },
    }
}

fn array(call: &mut Call) -> Result<Value> {
    let text = match call.value(0) {
        Value::Str(text) => text,
        other => bail!(TypeError, "array() argument 1 must be a unicode character, not {}", other.type_name()),
    };
    let mut chars = text.chars();
    let (Some(first), None) = (chars.next(), chars.next()) else {
        bail!(TypeError, "array() argument 1 must be a unicode character, not str")
    };
    // Only memoryviews have bools.
    let Some(code) = TypeCode::from_char(first).filter(|&code| code != TypeCode::Bool) else {
        bail!(ValueError, "bad typecode (must be b, B, u, h, H, i, I, l, L, q, Q, f or d)")
    };
    let values = match call.value(1) {
        Value::Str(text) if first == 'u' => text.chars().map(|c| Scalar::Int(i64::from(u32::from(c)))).collect(),
        Value::Str(_) => bail!(TypeError, "cannot use a str to initialize an array with typecode '{first}'"),
        other => numbers(&other)?,
    };
    Buffer::array(code, &values).map(Value::Buffer)
}

fn memoryview(call: &mut Call) -> Result<Value> {
    let Some(buffer) = call.value(0).buffer() else {
        bail!(TypeError, "memoryview: a bytes-like object is required, not '{}'", call.value(0).type_name())
    };
    Ok(Value::Buffer(buffer?.memoryview()))
}

/// `memoryview.cast(format, shape)`
///
/// # Errors
/// Python's errors. NotImplementedError for more than one dimension, and for formats of which `array.array` has none.
pub(crate) fn cast(view: &Buffer, given: &Given) -> Result<Value> {
    let text = match given.option(0, "format") {
        Some(Value::Str(text)) => text.clone(),
        Some(other) => bail!(TypeError, "cast() argument 'format' must be str, not {}", other.type_name()),
        None => bail!(TypeError, "cast() missing required argument 'format' (pos 1)"),
    };
    let mut letters = text.strip_prefix('@').unwrap_or(&text).chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return Err(bad_format()) };
    let cast = match TypeCode::from_char(letter).filter(|&code| code != TypeCode::Char) {
        Some(format) => view.cast(format)?,
        None if "c?nNP".contains(letter) => {
            bail!(NotImplementedError, "memoryviews of format '{letter}' are not supported at this prompt")
        }
        None => return Err(bad_format()),
    };
    if let Some(shape) = given.option(1, "shape") {
        let sizes = match shape.sequence() {
            Some(sizes) => {
                sizes.iter().map(|size| as_index(size)?.ok_or_else(bad_shape)).collect::<Result<Vec<_>>>()?
            }
            None => bail!(TypeError, "shape must be a list or a tuple"),
        };
        let count = sizes.iter().try_fold(1i64, |count, &size| count.checked_mul(size));
        if count != i64::try_from(cast.len()).ok() {
            bail!(TypeError, "memoryview: product(shape) * itemsize != buffer size");
        }
        if sizes.len() != 1 {
            bail!(NotImplementedError, "memoryviews of several dimensions are not supported at this prompt");
        }
    }
    Ok(Value::Buffer(cast))
}

fn bad_shape() -> Error {
    Error::type_error("memoryview.cast(): elements of shape must be integers")
}

fn bad_format() -> Error {
    Error::value(
        "memoryview: destination format must be a native single character format prefixed with an optional '@'",
    )
}

/// Returns the buffer of a call if it is a `memoryview`.
///
/// # Errors
/// AttributeError for other buffers, which have no such attribute.
fn view_of(call: &Call) -> Result<Buffer> {
    let buffer = buffer(call)?;
    if !matches!(buffer.kind(), BufferKind::MemoryView { .. }) {
        let class = call.value(0).type_name().to_owned();
        bail!(AttributeError, "'{class}' object has no attribute '{}'", call.signature.name);
    }
    Ok(buffer)
}

fn frombuffer(call: &mut Call) -> Result<Value> {
    let dtype = call.opt_dtype(1).unwrap_or(DType::Float);
    if dtype.is_quantized() {
        bail!(RuntimeError, "a tensor of dtype torch.{} needs a scale and a zero point", dtype.name());
    }
    let (count, offset) = (call.int(2)?, call.int(3)?);
    let buffer = match call.value(0) {
        // Any array lends its bytes, whatever its dtype.
        Value::Object(object) if let Some(bytes) = object.bytes() => bytes?,
        other => match other.buffer() {
            Some(buffer) => buffer?,
            None => bail!(ValueError, "object does not implement Python buffer protocol."),
        },
    };
    if !buffer.writable() {
        call.state.warn_once(
            "UserWarning",
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you \
 can write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy \
 the buffer to protect its data or make it writable before converting it to a tensor. This type of \
 warning will be suppressed for the rest of this program. (Triggered internally at \
 /pytorch/torch/csrc/utils/tensor_new.cpp:1577.)",
        );
    }
    shared(&buffer, dtype, count, offset).map(Value::from)
}

/// Creates a tensor that shares `count` elements of a buffer, from byte `offset` on. A negative count means all
/// elements.
pub fn shared(buffer: &Buffer, dtype: DType, count: i64, offset: i64) -> Result<View> {
    if !buffer.is_contiguous() {
        bail!(RuntimeError, "could not retrieve buffer from object");
    }
    let (length, size) = (buffer.nbytes() as i64, dtype.itemsize() as i64);
    if length == 0 || count == 0 {
        bail!(ValueError, "both buffer length ({length}) and count ({count}) must not be 0");
    }
    if offset < 0 || offset >= length {
        bail!(
            ValueError,
            "offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) \
 minus 1"
        );
    }
    let available = length - offset;
    let elements = if count < 0 {
        if available % size != 0 {
            bail!(
                ValueError,
                "buffer length ({available} bytes) after offset ({offset} bytes) must be a multiple of element size \
                 ({size})"
            );
        }
        available / size
    } else {
        if count.checked_mul(size).is_none_or(|needed| needed > available) {
            bail!(
                ValueError,
                "requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater \
                 than actual buffer length ({length} bytes)"
            );
        }
        count
    };
    let storage = buffer.storage(offset as usize, (elements * size) as usize);
    let storage = storage.ok_or_else(|| Error::runtime("could not retrieve buffer from object"))?;
    Ok(View { storage, layout: Layout::contiguous(&[elements]), dtype, conj: false, neg: false, form: None })
}

/// `UntypedStorage.from_buffer(buffer, byte_order, count, offset, dtype)`; `call` holds the first four arguments.
/// Copies the bytes, and reverses each element if the byte order differs from this machine's.
///
/// # Errors
/// PyTorch's errors, in PyTorch's order.
pub fn copied(call: &Call, dtype: &Value) -> Result<Storage> {
    let order = match call.value(1) {
        Value::None => None,
        Value::Str(order) => Some(order),
        other => bail!(TypeError, "argument 2 must be str, not {}", other.type_name()),
    };
    let (count, offset) = (index_argument(&call.value(2))?, index_argument(&call.value(3))?);
    let dtype = match dtype {
        Value::DType(dtype) => *dtype,
        Value::None => bail!(RuntimeError, "argument 'dtype' cannot be None"),
        _ => bail!(RuntimeError, "argument 'dtype' must be of type torch.dtype"),
    };
    let one_byte = dtype.itemsize() == 1 && dtype != DType::Bool && !dtype.is_quantized();
    let swap = match order.as_deref() {
        None if one_byte => false,
        None => bail!(RuntimeError, "function missing required argument 'byte_order' (pos 2)"),
        Some("native") => false,
        Some("big") => cfg!(target_endian = "little"),
        Some("little") => cfg!(target_endian = "big"),
        Some(other) => bail!(ValueError, "invalid byte_order '{other}' (expected 'big', 'little', or 'native')"),
    };
    let Value::Buffer(buffer) = call.value(0) else {
        bail!(TypeError, "a bytes-like object is required, not '{}'", call.value(0).type_name())
    };
    if !buffer.is_contiguous() {
        let kind = ErrorKind::Other("BufferError");
        return Err(Error::new(kind, "memoryview: underlying buffer is not C-contiguous"));
    }
    let (length, size) = (buffer.nbytes() as i64, dtype.itemsize() as i64);
    if offset < 0 || offset > length {
        // PyTorch's message swaps the two numbers.
        bail!(
            ValueError,
            "offset must be non-negative and no greater than buffer length ({offset}) , but got {length}"
        );
    }
    let nbytes = if count < 0 {
        if (length - offset) % size != 0 {
            bail!(ValueError, "buffer size ({length}) must be a multiple of element size ({size})");
        }
        length - offset
    } else {
        match count.checked_mul(size).filter(|nbytes| *nbytes <= length - offset) {
            Some(nbytes) => nbytes,
            None => bail!(
                ValueError,
                "buffer has only {} elements after offset {offset}, but specified a size of {count}",
                length - offset
            ),
        }
    };
    if dtype.is_quantized() || dtype.is_bare_unsigned() || dtype == DType::ComplexHalf {
        bail!(RuntimeError, "Unknown type: {}", dtype.scalar_type());
    }
    let part = buffer.storage(offset as usize, nbytes as usize);
    let storage = part.ok_or_else(|| Error::runtime("could not retrieve buffer from object"))?.duplicate()?;
    if swap {
        storage.byteswap(dtype.to_real().itemsize())?;
    }
    if dtype == DType::Bool {
        let memory = storage.data()?;
        memory.bytes().iter().for_each(|cell| memory::set(cell, u8::from(memory::get(cell) != 0)));
    }
    Ok(storage)
}

fn from_file(call: &mut Call) -> Result<Value> {
    let size = call.int(2)?;
    let dtype = call.dtype_keyword().unwrap_or_else(|| call.state.default_dtype.get());
    if matches!(call.value(6), Value::Bool(true)) {
        bail!(RuntimeError, "tensors constructed from a file cannot be pinned");
    }
    if call.device_keyword()?.is_meta() {
        bail!(
            NotImplementedError,
            "aten::from_file: attempted to run this operator with Meta tensors, but there was no fake impl or \
 Meta kernel registered."
        );
    }
    let nbytes = size.checked_mul(dtype.itemsize() as i64);
    let nbytes = nbytes.ok_or_else(|| Error::runtime("numel: integer multiplication overflow"))?;
    let storage = match size {
        // PyTorch does not open the file.
        0 => Storage::zeroed(0, tensor::Device::CPU)?,
        _ => Storage::from_file(call.str(0)?, matches!(call.value(1), Value::Bool(true)), nbytes)?,
    };
    Ok(View { storage, layout: Layout::contiguous(&[size]), dtype, conj: false, neg: false, form: None }.into())
}
