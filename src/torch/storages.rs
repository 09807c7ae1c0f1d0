//! `torch.UntypedStorage`: bytes without a dtype. Follows <https://pytorch.org/docs/2.7/storage.html>. The deprecated
//! typed classes are in `typed_storages.rs`.

use super::legacy_storages::legacy_new;
use super::storage_devices::no_driver;
use super::typed_storages::cast;
use call::{Call, Row, attribute, class_method, function, method};
use objects::legacy_classes::{class_attribute, legacy_class};
use objects::storages::{byte, class_repr, index_argument};
use tensor::{DType, Device, Error, Result, Storage, TypedStorage, bail, interrupt, limits};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "UntypedStorage(*, int? allocator=None, Device? device=None) -> UntypedStorage",
        |c| {
            let d = c.opt_device(1)?;
            new(0, d)
        },
        "Creates a storage of bytes without a dtype.",
    ),
    function(
        "UntypedStorage.size(int size, *, int? allocator=None, Device? device=None) -> UntypedStorage",
        |c| {
            let d = c.opt_device(2)?;
            new(checked_size(c.int(0)?)?, d)
        },
        "Creates a storage of the given number of zero bytes.",
    ),
    function(
        "UntypedStorage.sequence(any sequence, *, int? allocator=None, Device? device=None) -> UntypedStorage",
        from_sequence,
        "Creates a storage from a sequence of integers, taken modulo 256.",
    ),
    class_method(
        "UntypedStorage::from_buffer(any buffer, any byte_order=None, any count=-1, any offset=0, any \
 dtype=None) -> UntypedStorage",
        |c| {
            let dtype = c.value(4);
            objects::strings::buffers::copied(c, &dtype).map(Value::Storage)
        },
        "Copies a buffer's bytes, converted from the given byte order to this machine's.",
    )
    .python("function"),
    class_method(
        "UntypedStorage::from_file(any filename, any shared=False, any nbytes=0, any size=None) -> \
 UntypedStorage",
        from_file,
        "Opens the bytes of a file; with shared=True, writes reach the file, created or extended as needed.",
    )
    .python("function"),
    method("nbytes(UntypedStorage self) -> int", length, "Returns the size in bytes.").python("StorageBase.nbytes"),
    method("size(UntypedStorage self) -> int", length, "Returns the size in bytes.").python("_StorageBase.size"),
    method("__len__(UntypedStorage self) -> int", length, "Returns the size in bytes.").python("StorageBase.__len__"),
    method(
        "__hash__(UntypedStorage self) -> int",
        |c| Ok(Value::Int(c.storage(0)?.identity() as i64)),
        "Returns a number that is the same for the same storage.",
    ),
    method(
        "element_size(UntypedStorage self) -> int",
        |_| Ok(Value::Int(1)),
        "Returns the number of bytes per element: one.",
    )
    .python("StorageBase.element_size"),
    method(
        "data_ptr(UntypedStorage self) -> int",
        |c| Ok(Value::Int(c.storage(0)?.data_ptr() as i64)),
        "Returns the address of the first byte.",
    )
    .python("StorageBase.data_ptr"),
    method(
        "resizable(UntypedStorage self) -> bool",
        |c| Ok(Value::Bool(c.storage(0)?.resizable())),
        "Returns whether the storage may grow and shrink.",
    )
    .python("StorageBase.resizable"),
    method(
        "clone(UntypedStorage self) -> UntypedStorage",
        |c| c.storage(0)?.duplicate().map(Value::Storage),
        "Copies the bytes.",
    )
    .python("_StorageBase.clone"),
    method("fill_(UntypedStorage self, any value) -> UntypedStorage", fill, "Sets every byte to a value.")
        .python("StorageBase.fill_"),
    method(
        "copy_(UntypedStorage self, Storage src, any non_blocking=None) -> UntypedStorage",
        |c| {
            c.storage(0)?.copy_from(&c.storage(1)?)?;
            Ok(c.itself())
        },
        "Copies in the bytes of another storage.",
    ),
    method(
        "tolist(UntypedStorage self) -> any",
        |c| Ok(Value::list(interrupt::watched(c.storage(0)?.to_vec()?).map(|b| Value::Int(i64::from(b))))),
        "Returns the bytes as a list of integers.",
    )
    .python("_StorageBase.tolist"),
    method(
        "resize_(UntypedStorage self, any size) -> UntypedStorage",
        |c| {
            let size = c.value(1);
            resize(&c.storage(0)?, &size)?;
            Ok(c.itself())
        },
        "Resizes the storage in place; new bytes are zero.",
    )
    .python("StorageBase.resize_"),
    method(
        "byteswap(UntypedStorage self, any dtype) -> None",
        byteswap,
        "Reverses the bytes of every element, in place.",
    )
    .python("_StorageBase.byteswap"),
    method("untyped(UntypedStorage self) -> UntypedStorage", |c| Ok(c.itself()), "Returns the storage itself.")
        .python("_StorageBase.untyped"),
    method(
        "new(UntypedStorage self) -> UntypedStorage",
        |c| new(0, Some(c.storage(0)?.device())),
        "Creates an empty storage.",
    )
    .python("StorageBase.new"),
    method(
        "is_shared(UntypedStorage self) -> bool",
        |c| Ok(Value::Bool(c.storage(0)?.is_shared())),
        "Returns whether other processes can see the bytes, or a file holds them.",
    )
    .python("StorageBase.is_shared"),
    method(
        "share_memory_(UntypedStorage self) -> UntypedStorage",
        |c| {
            c.storage(0)?.share()?;
            Ok(c.itself())
        },
        "Moves the bytes to shared memory, for every tensor over them.",
    )
    .python("_StorageBase.share_memory_"),
    method(
        "type(UntypedStorage self, any dtype=None, any non_blocking=False) -> any",
        |c| {
            if c.is_none(1) {
                Ok(Value::str("torch.storage.UntypedStorage"))
            } else {
                let class = c.value(1);
                as_class(c, &class)
            }
        },
        "Returns the name of the class, or converts the bytes to another storage class.",
    )
    .python("_StorageBase.type"),
    method(
        "get_device(UntypedStorage self) -> int",
        |_| Ok(Value::None),
        "Returns the device number; the CPU has none.",
    )
    .python("_StorageBase.get_device"),
    method(
        "__getitem__(UntypedStorage self, any index) -> any",
        |c| objects::storages::item(&c.storage(0)?, &c.value(1)),
        "Returns one byte, or a slice that shares memory.",
    ),
    method(
        "__setitem__(UntypedStorage self, any index, any value) -> None",
        |c| objects::storages::set_item(&c.storage(0)?, &c.value(1), &c.value(2)).map(|()| Value::None),
        "Writes bytes.",
    ),
    method(
        "__copy__(UntypedStorage self) -> UntypedStorage",
        |c| c.storage(0)?.duplicate().map(Value::Storage),
        "Copies the bytes.",
    ),
    method("bool(UntypedStorage self) -> TypedStorage", |c| cast_bytes(c, DType::Bool), "Converts the bytes to bool.")
        .python("_StorageBase.bool"),
    method("byte(UntypedStorage self) -> TypedStorage", |c| cast_bytes(c, DType::Byte), "Converts the bytes to uint8.")
        .python("_StorageBase.byte"),
    method("char(UntypedStorage self) -> TypedStorage", |c| cast_bytes(c, DType::Char), "Converts the bytes to int8.")
        .python("_StorageBase.char"),
    method(
        "short(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::Short),
        "Converts the bytes to int16.",
    )
    .python("_StorageBase.short"),
    method("int(UntypedStorage self) -> TypedStorage", |c| cast_bytes(c, DType::Int), "Converts the bytes to int32.")
        .python("_StorageBase.int"),
    method("long(UntypedStorage self) -> TypedStorage", |c| cast_bytes(c, DType::Long), "Converts the bytes to int64.")
        .python("_StorageBase.long"),
    method(
        "half(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::Half),
        "Converts the bytes to float16.",
    )
    .python("_StorageBase.half"),
    method(
        "bfloat16(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::BFloat16),
        "Converts the bytes to bfloat16.",
    )
    .python("_StorageBase.bfloat16"),
    method(
        "float(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::Float),
        "Converts the bytes to float32.",
    )
    .python("_StorageBase.float"),
    method(
        "double(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::Double),
        "Converts the bytes to float64.",
    )
    .python("_StorageBase.double"),
    method(
        "complex_float(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::ComplexFloat),
        "Converts the bytes to complex64.",
    )
    .python("_StorageBase.complex_float"),
    method(
        "complex_double(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::ComplexDouble),
        "Converts the bytes to complex128.",
    )
    .python("_StorageBase.complex_double"),
    method(
        "float8_e4m3fn(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::Float8_e4m3fn),
        "Converts the bytes to float8_e4m3fn.",
    )
    .python("_StorageBase.float8_e4m3fn"),
    method(
        "float8_e5m2(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::Float8_e5m2),
        "Converts the bytes to float8_e5m2.",
    )
    .python("_StorageBase.float8_e5m2"),
    method(
        "float8_e4m3fnuz(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::Float8_e4m3fnuz),
        "Converts the bytes to float8_e4m3fnuz.",
    )
    .python("_StorageBase.float8_e4m3fnuz"),
    method(
        "float8_e5m2fnuz(UntypedStorage self) -> TypedStorage",
        |c| cast_bytes(c, DType::Float8_e5m2fnuz),
        "Converts the bytes to float8_e5m2fnuz.",
    )
    .python("_StorageBase.float8_e5m2fnuz"),
    attribute(
        "device(UntypedStorage self) -> Device",
        |c| Ok(Value::Device(c.storage(0)?.device())),
        "The device the bytes live on.",
    )
    .python("StorageBase.device"),
    attribute(
        "is_cuda(UntypedStorage self) -> bool",
        |_| Ok(Value::Bool(false)),
        "Whether the storage is on a CUDA device: never here.",
    )
    .python("UntypedStorage.is_cuda"),
    attribute(
        "is_hpu(UntypedStorage self) -> bool",
        |_| Ok(Value::Bool(false)),
        "Whether the storage is on an HPU: never here.",
    )
    .python("UntypedStorage.is_hpu"),
    attribute(
        "is_sparse(UntypedStorage self) -> bool",
        |_| Ok(Value::Bool(false)),
        "Whether the storage is sparse: never.",
    ),
    attribute(
        "is_sparse_csr(UntypedStorage self) -> bool",
        |_| Ok(Value::Bool(false)),
        "Whether the storage is sparse: never.",
    ),
    attribute(
        "filename(UntypedStorage self) -> str",
        |c| Ok(c.storage(0)?.filename().map_or(Value::None, Value::str)),
        "The file that writes reach, if any.",
    )
    .python("UntypedStorage.filename"),
    attribute(
        "_cdata(UntypedStorage self) -> int",
        |c| Ok(Value::Int(c.storage(0)?.identity() as i64)),
        "The identity of the storage as a number.",
    ),
    attribute(
        "__class__(UntypedStorage self) -> Type",
        |_| Ok(Value::Type("torch.storage.UntypedStorage")),
        "The class.",
    ),
];

fn new(nbytes: usize, device: Option<Device>) -> Result<Value> {
    Storage::zeroed(nbytes, device.unwrap_or(Device::CPU)).map(Value::Storage)
}

/// Checks the size of a storage like PyTorch.
pub(crate) fn checked_size(size: i64) -> Result<usize> {
    let Ok(nbytes) = u64::try_from(size) else {
        return Err(Error::runtime(format!(
            "[enforce fail at alloc_cpu.cpp:93] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been called with \
             negative number: {}",
            size as u64
        )));
    };
    usize::try_from(nbytes).map_err(|_| limits::refusal(nbytes))
}

fn from_sequence(call: &mut Call) -> Result<Value> {
    let items = match call.value(0) {
        Value::Buffer(buffer) => buffer.items().into_iter().map(Value::from).collect(),
        Value::Str(_) => bail!(TypeError, "torch.UntypedStorage(): a sequence of integers is needed, not str"),
        Value::Storage(storage) => storage.to_vec()?.into_iter().map(|b| Value::Int(i64::from(b))).collect(),
        Value::Object(object) if object.has_special("__getitem__") && object.has_special("__len__") => {
            objects::iterate::items(call.state, &call.value(0))?
        }
        other => other.sequence().ok_or_else(|| {
            Error::runtime(format!("torch.UntypedStorage(): Expected a sequence type, but got {}", other.type_name()))
        })?,
    };
    let bytes =
        items.iter().map(|item| byte(item, "a storage holds bytes: a sequence of integers is needed, but it has"));
    let bytes = bytes.collect::<Result<Vec<u8>>>()?;
    match call.opt_device(2)? {
        Some(device) if device.is_meta() => new(bytes.len(), Some(device)),
        _ => Storage::from_bytes(&bytes).map(Value::Storage),
    }
}

fn from_file(call: &mut Call) -> Result<Value> {
    let Value::Str(name) = call.value(0) else {
        bail!(TypeError, "argument 1 must be str, not {}", call.value(0).type_name())
    };
    let shared = index_argument(&call.value(1))? != 0;
    // PyTorch's documentation calls this argument `size`, its 2.7 code `nbytes`. Both are accepted.
    let nbytes = if call.is_none(3) { call.value(2) } else { call.value(3) };
    Storage::from_file(&name, shared, index_argument(&nbytes)?).map(Value::Storage)
}

fn length(call: &mut Call) -> Result<Value> {
    Ok(Value::Int(call.storage(0)?.nbytes() as i64))
}

fn fill(call: &mut Call) -> Result<Value> {
    let byte = match call.value(1) {
        Value::Int(i) => i as u8,
        Value::Bool(b) => u8::from(b),
        Value::BigInt(_) => bail!(OverflowError, "int too big to convert"),
        other => bail!(RuntimeError, "fill_ expects int, but got {}", other.type_name()),
    };
    call.storage(0)?.fill(byte)?;
    Ok(call.itself())
}

/// `storage.resize_(size)`.
pub(crate) fn resize(storage: &Storage, size: &Value) -> Result<()> {
    match size {
        Value::Int(size) => {
            if !storage.resizable() {
                // Fails for this reason before the size is checked.
                return storage.resize(usize::MAX);
            }
            storage.resize(checked_size(*size)?)
        }
        Value::BigInt(_) => bail!(RuntimeError, "Overflow when unpacking long"),
        other => bail!(RuntimeError, "resize_ expects an int, but got {}", other.type_name()),
    }
}

fn byteswap(call: &mut Call) -> Result<Value> {
    let Value::DType(dtype) = call.value(1) else {
        bail!(RuntimeError, "expected torch.dtype, but got {}", class_repr(&call.value(1)))
    };
    // The two parts of a complex number are swapped separately.
    call.storage(0)?.byteswap(dtype.to_real().itemsize())?;
    Ok(Value::None)
}

/// `storage.type(class)`: creates a storage of the class and copies the bytes. Only classes of one-byte elements fit.
pub(crate) fn as_class(call: &Call, class: &Value) -> Result<Value> {
    let storage = call.storage(0)?;
    let known = |name: &str| {
        if name.ends_with(".UntypedStorage") {
            Some("torch.storage.UntypedStorage")
        } else {
            legacy_class(name.strip_prefix("torch.")?)
        }
    };
    let name = match class {
        // The CUDA classes are in another module than their names say, so they are handled first.
        Value::Str(name) if name.starts_with("torch.cuda.") => return no_driver(),
        Value::Type(name) if name.starts_with("torch.cuda.") => return no_driver(),
        Value::Type("torch.Tensor") => bail!(RuntimeError, "Cannot cast dense tensor to sparse tensor"),
        Value::Str(name) => match (known(name), name.rsplit_once('.')) {
            (Some(known), _) => known,
            (None, Some((module, name))) => bail!(AttributeError, "module '{module}' has no attribute '{name}'"),
            (None, None) => bail!(ModuleNotFoundError, "No module named '{name}'"),
        },
        Value::Type(name) => name,
        Value::Storage(_) | Value::TypedStorage(_) | Value::Tensor(_) => {
            bail!(TypeError, "'{}' object is not callable", class.type_name())
        }
        other => bail!(AttributeError, "'{}' object has no attribute 'is_sparse'", other.type_name()),
    };
    if name == "torch.storage.UntypedStorage" {
        return Ok(Value::Storage(storage));
    }
    let dtype = match name {
        "torch.storage.TypedStorage" => Some(Value::DType(call.state.default_dtype.get())),
        _ => class_attribute(call.state, name, "dtype"),
    };
    let Some(Value::DType(dtype)) = dtype else {
        bail!(AttributeError, "type object '{name}' has no attribute 'is_sparse'")
    };
    let Value::TypedStorage(converted) = legacy_new(call.state, dtype, &[Value::Int(storage.nbytes() as i64)])? else {
        bail!(TypeError, "a typed storage is needed")
    };
    converted.storage.copy_from(&storage)?;
    Ok(Value::TypedStorage(converted))
}

/// Converts the bytes, as numbers, to a dtype.
fn cast_bytes(call: &mut Call, dtype: DType) -> Result<Value> {
    objects::storages::warn_typed(call.state);
    cast(&TypedStorage::new(call.storage(0)?, DType::Byte), dtype)
}
