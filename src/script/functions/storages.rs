//! `torch.UntypedStorage` and the deprecated typed storages. Follows <https://pytorch.org/docs/2.7/storage.html>.

use super::{Call, Role, Row, attribute, function, method};
use crate::bail;
use crate::ops::copy;
use crate::script::state::State;
use crate::script::subscript;
use crate::tensor::{DType, Device, Error, ErrorKind, Result, Scalar, Storage, TypedStorage, View};
use crate::value::Value;

const fn statik(signature: &'static str, run: super::Run, doc: &'static str) -> Row {
    Row { signature, run, doc, role: Role::Static, hidden: false, python: None }
}

pub const ROWS: &[Row] = &[
    function(
        "UntypedStorage(*, int? allocator=None, Device? device=None) -> UntypedStorage",
        |c| {
            let d = c.opt_device(1)?;
            new(0, d)
        },
        "Bytes without a dtype.",
    ),
    function(
        "UntypedStorage.size(int size, *, int? allocator=None, Device? device=None) -> UntypedStorage",
        |c| {
            let d = c.opt_device(2)?;
            sized(c.int(0)?, d)
        },
        "So many zero bytes.",
    ),
    function(
        "UntypedStorage.sequence(any sequence, *, int? allocator=None, Device? device=None) -> UntypedStorage",
        |c| from_sequence(&c.value(0)),
        "Bytes from a sequence of integers, taken modulo 256.",
    ),
    method("nbytes(UntypedStorage self) -> int", |c| length(c), "The size in bytes.").python("StorageBase.nbytes"),
    method("size(UntypedStorage self) -> int", |c| length(c), "The size in bytes.").python("_StorageBase.size"),
    method("__len__(UntypedStorage self) -> int", |c| length(c), "The size in bytes.").python("StorageBase.__len__"),
    method("element_size(UntypedStorage self) -> int", |_| Ok(Value::Int(1)), "Bytes per element: one.")
        .python("StorageBase.element_size"),
    method(
        "data_ptr(UntypedStorage self) -> int",
        |c| Ok(Value::Int(c.storage(0)?.data_ptr() as i64)),
        "The address of the first byte.",
    )
    .python("StorageBase.data_ptr"),
    method(
        "resizable(UntypedStorage self) -> bool",
        |c| Ok(Value::Bool(c.storage(0)?.resizable())),
        "May the storage grow and shrink?",
    )
    .python("StorageBase.resizable"),
    method(
        "clone(UntypedStorage self) -> UntypedStorage",
        |c| c.storage(0)?.duplicate().map(Value::Storage),
        "A copy of the bytes.",
    )
    .python("_StorageBase.clone"),
    method("fill_(UntypedStorage self, any value) -> UntypedStorage", fill, "Every byte set to a value.")
        .python("StorageBase.fill_"),
    method(
        "copy_(UntypedStorage self, Storage src, any non_blocking=None) -> UntypedStorage",
        |c| {
            c.storage(0)?.copy_from(&c.storage(1)?)?;
            Ok(c.itself())
        },
        "The bytes of another storage copied in.",
    ),
    method("tolist(UntypedStorage self) -> any", |c| bytes(&c.storage(0)?), "The bytes as a list of integers.")
        .python("_StorageBase.tolist"),
    method(
        "resize_(UntypedStorage self, any size) -> UntypedStorage",
        resize,
        "Another size in place; new bytes are zero.",
    )
    .python("StorageBase.resize_"),
    method(
        "byteswap(UntypedStorage self, any dtype) -> None",
        byteswap,
        "The bytes of every element reversed in place.",
    )
    .python("_StorageBase.byteswap"),
    method("untyped(UntypedStorage self) -> UntypedStorage", |c| Ok(c.itself()), "The storage itself.")
        .python("_StorageBase.untyped"),
    method("cpu(UntypedStorage self) -> UntypedStorage", |c| Ok(c.itself()), "The storage on the CPU: itself.")
        .python("_StorageBase.cpu"),
    method("new(UntypedStorage self) -> UntypedStorage", |_| new(0, None), "A new empty storage.")
        .python("StorageBase.new"),
    method("is_shared_(UntypedStorage self) -> bool", |_| Ok(Value::Bool(false)), "Is the storage in shared memory?")
        .python("StorageBase.is_shared"),
    method(
        "is_pinned(UntypedStorage self, any device=\"cuda\") -> bool",
        |_| Ok(Value::Bool(false)),
        "Is the storage in pinned memory? Never here.",
    )
    .python("_StorageBase.is_pinned"),
    method(
        "type(UntypedStorage self, any dtype=None, bool non_blocking=False) -> any",
        |c| {
            if c.is_none(1) {
                Ok(Value::str("torch.storage.UntypedStorage"))
            } else {
                bail!(
                    NotImplementedError,
                    "conversion of an untyped storage by type() is not supported; use float(), int() and the like"
                )
            }
        },
        "The name of the class.",
    )
    .python("_StorageBase.type"),
    method("get_device(UntypedStorage self) -> int", |_| Ok(Value::None), "The device number; none on the CPU.")
        .python("_StorageBase.get_device"),
    method(
        "hpu(UntypedStorage self, any device=None, any non_blocking=False) -> UntypedStorage",
        |_| bail!(AssertionError, "HPU device module is not loaded"),
        "The storage on an HPU; there is none.",
    )
    .python("_StorageBase.hpu"),
    method(
        "cuda(UntypedStorage self, any device=None, any non_blocking=False) -> UntypedStorage",
        |_| bail!(RuntimeError, "invalid argument to exchangeDevice"),
        "The storage on a CUDA device; there is none.",
    )
    .python("_StorageBase.cuda"),
    method(
        "mps(UntypedStorage self) -> UntypedStorage",
        |_| bail!(RuntimeError, "torch.UntypedStorage(): Storage device not recognized: mps"),
        "The storage on an Apple GPU; there is none.",
    )
    .python("_StorageBase.mps"),
    method(
        "to(UntypedStorage self, *, any device, any non_blocking=False) -> UntypedStorage",
        to_device,
        "The storage on another device.",
    )
    .python("_StorageBase.to"),
    method(
        "__getitem__(UntypedStorage self, any index) -> any",
        |c| subscript::item_of(c),
        "One byte, or a slice that shares memory.",
    ),
    method(
        "__setitem__(UntypedStorage self, any index, any value) -> None",
        |c| subscript::set_item_of(c),
        "Writes bytes.",
    ),
    method("bool(UntypedStorage self) -> TypedStorage", |c| cast(c, DType::Bool), "The bytes converted to bool.")
        .python("_StorageBase.bool"),
    method("byte(UntypedStorage self) -> TypedStorage", |c| cast(c, DType::Byte), "The bytes converted to uint8.")
        .python("_StorageBase.byte"),
    method("char(UntypedStorage self) -> TypedStorage", |c| cast(c, DType::Char), "The bytes converted to int8.")
        .python("_StorageBase.char"),
    method("short(UntypedStorage self) -> TypedStorage", |c| cast(c, DType::Short), "The bytes converted to int16.")
        .python("_StorageBase.short"),
    method("int(UntypedStorage self) -> TypedStorage", |c| cast(c, DType::Int), "The bytes converted to int32.")
        .python("_StorageBase.int"),
    method("long(UntypedStorage self) -> TypedStorage", |c| cast(c, DType::Long), "The bytes converted to int64.")
        .python("_StorageBase.long"),
    method("half(UntypedStorage self) -> TypedStorage", |c| cast(c, DType::Half), "The bytes converted to float16.")
        .python("_StorageBase.half"),
    method(
        "bfloat16(UntypedStorage self) -> TypedStorage",
        |c| cast(c, DType::BFloat16),
        "The bytes converted to bfloat16.",
    )
    .python("_StorageBase.bfloat16"),
    method("float(UntypedStorage self) -> TypedStorage", |c| cast(c, DType::Float), "The bytes converted to float32.")
        .python("_StorageBase.float"),
    method(
        "double(UntypedStorage self) -> TypedStorage",
        |c| cast(c, DType::Double),
        "The bytes converted to float64.",
    )
    .python("_StorageBase.double"),
    method(
        "complex_float(UntypedStorage self) -> TypedStorage",
        |c| cast(c, DType::ComplexFloat),
        "The bytes converted to complex64.",
    )
    .python("_StorageBase.complex_float"),
    method(
        "complex_double(UntypedStorage self) -> TypedStorage",
        |c| cast(c, DType::ComplexDouble),
        "The bytes converted to complex128.",
    )
    .python("_StorageBase.complex_double"),
    method(
        "float8_e4m3fn(UntypedStorage self) -> TypedStorage",
        |c| cast(c, DType::Float8_e4m3fn),
        "The bytes converted to float8_e4m3fn.",
    )
    .python("_StorageBase.float8_e4m3fn"),
    method(
        "float8_e5m2(UntypedStorage self) -> TypedStorage",
        |c| cast(c, DType::Float8_e5m2),
        "The bytes converted to float8_e5m2.",
    )
    .python("_StorageBase.float8_e5m2"),
    method(
        "float8_e4m3fnuz(UntypedStorage self) -> TypedStorage",
        |c| cast(c, DType::Float8_e4m3fnuz),
        "The bytes converted to float8_e4m3fnuz.",
    )
    .python("_StorageBase.float8_e4m3fnuz"),
    method(
        "float8_e5m2fnuz(UntypedStorage self) -> TypedStorage",
        |c| cast(c, DType::Float8_e5m2fnuz),
        "The bytes converted to float8_e5m2fnuz.",
    )
    .python("_StorageBase.float8_e5m2fnuz"),
    attribute(
        "device(UntypedStorage self) -> Device",
        |c| Ok(Value::Device(c.storage(0)?.device())),
        "Where the bytes live.",
    ),
    attribute("is_cuda(UntypedStorage self) -> bool", |_| Ok(Value::Bool(false)), "On a CUDA device? Never here."),
    attribute("is_hpu(UntypedStorage self) -> bool", |_| Ok(Value::Bool(false)), "On an HPU? Never here."),
    attribute("is_sparse(UntypedStorage self) -> bool", |_| Ok(Value::Bool(false)), "Sparse? Never."),
    attribute("is_sparse_csr(UntypedStorage self) -> bool", |_| Ok(Value::Bool(false)), "Sparse? Never."),
    attribute("filename(UntypedStorage self) -> str", |_| Ok(Value::None), "The file mapped into memory, if any."),
    attribute(
        "_cdata(UntypedStorage self) -> int",
        |c| Ok(Value::Int(c.storage(0)?.identity() as i64)),
        "The identity of the storage as a number.",
    ),
    method(
        "tolist(TypedStorage self) -> any",
        |c| Ok(Value::list(typed(c)?.view().scalars()?.into_iter().map(Value::from))),
        "The elements as a list.",
    )
    .python("TypedStorage.tolist"),
    method("size(TypedStorage self) -> int", |c| Ok(Value::Int(typed(c)?.len() as i64)), "The number of elements.")
        .python("TypedStorage.size"),
    method("__len__(TypedStorage self) -> int", |c| Ok(Value::Int(typed(c)?.len() as i64)), "The number of elements.")
        .python("TypedStorage.__len__"),
    method("nbytes(TypedStorage self) -> int", |c| length(c), "The size in bytes.").python("TypedStorage.nbytes"),
    method(
        "element_size(TypedStorage self) -> int",
        |c| Ok(Value::Int(typed(c)?.dtype.itemsize() as i64)),
        "Bytes per element.",
    )
    .python("TypedStorage.element_size"),
    method(
        "data_ptr(TypedStorage self) -> int",
        |c| Ok(Value::Int(c.storage(0)?.data_ptr() as i64)),
        "The address of the first byte.",
    )
    .python("TypedStorage.data_ptr"),
    method(
        "untyped(TypedStorage self) -> UntypedStorage",
        |c| c.storage(0).map(Value::Storage),
        "The bytes without the dtype.",
    )
    .python("TypedStorage.untyped"),
    attribute("dtype(TypedStorage self) -> ScalarType", |c| Ok(Value::DType(typed(c)?.dtype)), "The element type."),
    attribute(
        "device(TypedStorage self) -> Device",
        |c| Ok(Value::Device(c.storage(0)?.device())),
        "Where the bytes live.",
    ),
    method("__getitem__(TypedStorage self, any index) -> any", typed_item, "One element."),
    statik(
        "UntypedStorage.from_buffer(Buffer buffer, str byte_order=\"native\", int count=-1, int offset=0, ScalarType? dtype=None) -> UntypedStorage",
        |_| {
            bail!(
                NotImplementedError,
                "UntypedStorage.from_buffer is not supported; torch.frombuffer shares a buffer's memory"
            )
        },
        "A copy of a buffer's bytes.",
    ),
];

/// The deprecation warning every typed storage gives, once.
pub fn warn_typed(state: &State) {
    state.warn_once("UserWarning", "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()");
}

fn new(nbytes: usize, device: Option<Device>) -> Result<Value> {
    Storage::zeroed(nbytes, device.unwrap_or(Device::CPU)).map(Value::Storage)
}

/// The size of a storage as PyTorch checks it.
fn checked_size(size: i64) -> Result<usize> {
    usize::try_from(size).map_err(|_| {
        Error::runtime(format!(
            "[enforce fail at alloc_cpu.cpp:93] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been called with \
             negative number: {}",
            size as u64
        ))
    })
}

fn sized(size: i64, device: Option<Device>) -> Result<Value> {
    new(checked_size(size)?, device)
}

fn from_sequence(value: &Value) -> Result<Value> {
    let items = match value {
        Value::Buffer(buffer) => buffer.items().into_iter().map(Value::from).collect(),
        Value::Str(_) => bail!(TypeError, "torch.UntypedStorage(): a sequence of integers is needed, not str"),
        other => other.sequence().ok_or_else(|| {
            Error::runtime(format!("torch.UntypedStorage(): Expected a sequence type, but got {}", other.type_name()))
        })?,
    };
    let bytes: Result<Vec<u8>> = items
        .iter()
        .map(|item| match item {
            Value::Int(i) => Ok(*i as u8),
            Value::Bool(b) => Ok(u8::from(*b)),
            other => Err(Error::type_error(format!(
                "torch.UntypedStorage(): a sequence of integers is needed, but it has a {}",
                other.type_name()
            ))),
        })
        .collect();
    Storage::from_bytes(&bytes?).map(Value::Storage)
}

fn length(call: &mut Call) -> Result<Value> {
    Ok(Value::Int(call.storage(0)?.nbytes() as i64))
}

fn with_data(storage: &Storage) -> Result<()> {
    if storage.device().is_meta() {
        bail!(NotImplementedError, "Not available for 'meta' device type");
    }
    Ok(())
}

fn bytes(storage: &Storage) -> Result<Value> {
    with_data(storage)?;
    Ok(Value::list(storage.to_vec().into_iter().map(|b| Value::Int(i64::from(b)))))
}

fn fill(call: &mut Call) -> Result<Value> {
    let byte = match call.value(1) {
        Value::Int(i) => i as u8,
        Value::Bool(b) => u8::from(b),
        other => bail!(RuntimeError, "fill_ expects int, but got {}", other.type_name()),
    };
    call.storage(0)?.fill(byte);
    Ok(call.itself())
}

fn resize(call: &mut Call) -> Result<Value> {
    let Value::Int(size) = call.value(1) else {
        bail!(RuntimeError, "resize_ expects an int, but got {}", call.value(1).type_name())
    };
    call.storage(0)?.resize(checked_size(size)?)?;
    Ok(call.itself())
}

fn byteswap(call: &mut Call) -> Result<Value> {
    let Value::DType(dtype) = call.value(1) else {
        bail!(RuntimeError, "expected torch.dtype, but got <class '{}'>", call.value(1).type_name())
    };
    // The parts of a complex number are swapped each by itself.
    call.storage(0)?.byteswap(dtype.to_real().itemsize())?;
    Ok(Value::None)
}

fn to_device(call: &mut Call) -> Result<Value> {
    let name = match call.value(1) {
        Value::Str(name) => Device::parse(&name)?,
        Value::Device(device) => device,
        other => bail!(TypeError, "to(): argument 'device' must be torch.device, not {}", other.type_name()),
    };
    match name.name() {
        "cpu" => Ok(call.itself()),
        "cuda" => bail!(RuntimeError, "invalid argument to exchangeDevice"),
        other => bail!(AssertionError, "{} device module is not loaded", other.to_uppercase()),
    }
}

fn cast(call: &mut Call, dtype: DType) -> Result<Value> {
    warn_typed(call.state);
    let bytes = TypedStorage { storage: call.storage(0)?, dtype: DType::Byte };
    let values = copy::cast(&bytes.view(), dtype)?;
    // A storage of its own, even where nothing had to be converted.
    let values = if values.storage == bytes.storage { copy::clone(&values)? } else { values };
    Ok(Value::TypedStorage(TypedStorage { storage: values.storage, dtype }))
}

fn typed(call: &Call) -> Result<TypedStorage> {
    match call.value(0) {
        Value::TypedStorage(typed) => Ok(typed),
        _ => Err(Error::new(ErrorKind::TypeError, "a typed storage is needed")),
    }
}

fn typed_item(call: &mut Call) -> Result<Value> {
    let typed = typed(call)?;
    let n = typed.len() as i64;
    match call.value(1) {
        Value::Int(i) if i >= -n && i < n => {
            let view = typed.view();
            let element = view.with_layout(view.layout.select(0, if i < 0 { i + n } else { i }));
            element.item().map(Value::from)
        }
        Value::Int(i) => bail!(IndexError, "index {i} out of range for storage of size {n}"),
        Value::Slice(_) => bail!(RuntimeError, "slices are only supported in UntypedStorage.__getitem__"),
        other => bail!(
            RuntimeError,
            "can't index a <class 'torch.storage.TypedStorage'> with <class '{}'>",
            other.type_name()
        ),
    }
}

/// A legacy storage class called: `torch.FloatStorage([1, 0, 3])`.
///
/// # Errors
/// TypeError in PyTorch's words for what it cannot be made from.
pub fn legacy(state: &State, dtype: DType, argument: &Value) -> Result<Value> {
    warn_typed(state);
    let values: Vec<Scalar> = match argument {
        Value::None => Vec::new(),
        Value::Int(size) => {
            let nbytes = checked_size(*size)?.checked_mul(dtype.itemsize());
            let nbytes = nbytes.ok_or_else(|| Error::runtime("Storage size calculation overflowed"))?;
            return Ok(Value::TypedStorage(TypedStorage { storage: Storage::zeroed(nbytes, Device::CPU)?, dtype }));
        }
        other => {
            let items = other.sequence().ok_or_else(|| {
                Error::type_error(format!("Argument type not recognized: <class '{}'>", other.type_name()))
            })?;
            items
                .iter()
                .map(|v| {
                    v.as_scalar()
                        .ok_or_else(|| Error::type_error(format!("must be real number, not {}", v.type_name())))
                })
                .collect::<Result<_>>()?
        }
    };
    let view = View::from_scalars(&[values.len() as i64], dtype, values)?;
    Ok(Value::TypedStorage(TypedStorage { storage: view.storage, dtype }))
}
