//! `torch.TypedStorage` and the legacy classes such as `torch.FloatStorage`. They are deprecated, but complete. Follows
//! <https://pytorch.org/docs/2.7/storage.html#legacy-typed-storage>.

use super::legacy_storages::{ONE_WRAPPED, construct_legacy, legacy_new, wrong};
use super::storages::{as_class, resize};
use call::facets::NameInference::Nameless;
use call::{Call, Row, attribute, class_method, function, method};
use objects::legacy_classes::class_of_dtype;
use objects::storages::{class_repr, set_typed_item, typed_item, warn_typed};
use objects::strings::buffers;
use std::rc::Rc;
use tensor::bail;
use tensor::ops::copy;
use tensor::{DType, Device, Error, ErrorKind, Result, Storage, TypedStorage, interrupt};
use value::{Slice, Value};

macro_rules! casts {
    ($($name:literal $dtype:ident),*) => {
        /// The methods that convert the elements, such as `storage.float()`.
        pub(crate) const CASTS: &[Row] = &[$(
            method(
                concat!($name, "(TypedStorage self) -> TypedStorage"),
                |c| cast(&typed(c)?, DType::$dtype),
                concat!("Converts the elements as ", $name, "() does."),
            ).python(concat!("TypedStorage.", $name)),
        )*];
    };
}

casts! {
    "bool" Bool, "byte" Byte, "char" Char, "short" Short, "int" Int, "long" Long, "half" Half, "bfloat16" BFloat16,
    "float" Float, "double" Double, "complex_float" ComplexFloat, "complex_double" ComplexDouble,
    "float8_e4m3fn" Float8_e4m3fn, "float8_e5m2" Float8_e5m2, "float8_e4m3fnuz" Float8_e4m3fnuz,
    "float8_e5m2fnuz" Float8_e5m2fnuz
}

pub(crate) const ROWS: &[Row] = &[
    function(
        "TypedStorage(any[] args, *, any device=None, any dtype=None, any wrap_storage=None, any _internal=None) -> TypedStorage",
        construct,
        "Creates a storage of elements of one dtype (deprecated).",
    )
    .python("TypedStorage.__new__"),
    function(
        "Storage(any[] args, *, any wrap_storage=None, any dtype=None, any device=None, any _internal=None) -> TypedStorage",
        |c| {
            let dtype = c.state.default_dtype.get();
            construct_legacy(c, dtype)
        },
        "Creates a storage of elements of the default dtype (deprecated).",
    )
    .python("TypedStorage.__new__"),
    function(
        "storage._LegacyStorage(any[] args) -> TypedStorage",
        |_| bail!(RuntimeError, "Only child classes of _LegacyStorage can be instantiated"),
        "Always fails: the parent of the legacy classes cannot be called.",
    )
    .python("TypedStorage.__new__"),
    class_method(
        "TypedStorage::from_buffer(any buffer, any byte_order=None, any count=-1, any offset=0, any \
 dtype=None, any device=None) -> TypedStorage",
        from_buffer,
        "Copies a buffer's bytes (deprecated).",
    )
    .python("function"),
    class_method(
        "TypedStorage::from_file(any filename, any shared, any size) -> TypedStorage",
        |c| {
            warn_typed(c.state);
            bail!(RuntimeError, "from_file can only be called on derived classes")
        },
        "Always fails: only the legacy classes can map files.",
    )
    .python("TypedStorage.from_file"),
    method(
        "tolist(TypedStorage self) -> any",
        |c| Ok(Value::list(interrupt::watched(typed(c)?.scalars()?).map(Value::from))),
        "Returns the elements as a list.",
    )
    .python("TypedStorage.tolist"),
    method("size(TypedStorage self) -> int", length, "Returns the number of elements.").python("TypedStorage.size"),
    method("__len__(TypedStorage self) -> int", length, "Returns the number of elements.")
        .python("TypedStorage.__len__"),
    method(
        "nbytes(TypedStorage self) -> int",
        |c| Ok(Value::Int(typed(c)?.storage.nbytes() as i64)),
        "Returns the size in bytes.",
    )
    .python("TypedStorage.nbytes"),
    method(
        "element_size(TypedStorage self) -> int",
        |c| Ok(Value::Int(typed(c)?.dtype.itemsize() as i64)),
        "Returns the number of bytes per element.",
    )
    .python("TypedStorage.element_size"),
    method(
        "data_ptr(TypedStorage self) -> int",
        |c| Ok(Value::Int(typed(c)?.storage.data_ptr() as i64)),
        "Returns the address of the first byte.",
    )
    .python("TypedStorage.data_ptr"),
    method(
        "resizable(TypedStorage self) -> bool",
        |c| Ok(Value::Bool(typed(c)?.storage.resizable())),
        "Returns whether the storage may grow and shrink.",
    )
    .python("TypedStorage.resizable"),
    method(
        "untyped(TypedStorage self) -> UntypedStorage",
        |c| Ok(Value::Storage(typed(c)?.storage)),
        "Returns the bytes without the dtype.",
    )
    .python("TypedStorage.untyped"),
    method("clone(TypedStorage self) -> TypedStorage", copied, "Copies the storage.").python("TypedStorage.clone"),
    method("__copy__(TypedStorage self) -> TypedStorage", copied, "Copies the storage.")
        .python("TypedStorage.__copy__"),
    method(
        "is_shared(TypedStorage self) -> bool",
        |c| Ok(Value::Bool(typed(c)?.storage.is_shared())),
        "Returns whether other processes can see the bytes, or a file holds them.",
    )
    .python("TypedStorage.is_shared"),
    method(
        "share_memory_(TypedStorage self) -> TypedStorage",
        |c| {
            typed(c)?.storage.share()?;
            Ok(c.itself())
        },
        "Moves the bytes to shared memory.",
    )
    .python("TypedStorage.share_memory_"),
    method("get_device(TypedStorage self) -> int", |_| Ok(Value::None), "Returns the device number; the CPU has none.")
        .python("TypedStorage.get_device"),
    method(
        "pickle_storage_type(TypedStorage self) -> str",
        pickle_storage_type,
        "Returns the name that files give the class.",
    )
    .python("TypedStorage.pickle_storage_type"),
    method(
        "type(TypedStorage self, any dtype=None, any non_blocking=False) -> any",
        type_,
        "Returns the name of the legacy class, or converts the bytes to another class.",
    )
    .python("TypedStorage.type"),
    method(
        "fill_(TypedStorage self, any value) -> TypedStorage",
        |c| {
            let (typed, value) = (typed(c)?, c.value(1));
            set_typed_item(c.state, &typed, &everything(), &value)?;
            Ok(c.itself())
        },
        "Sets every element to a value.",
    )
    .python("TypedStorage.fill_"),
    method(
        "copy_(TypedStorage self, any source, any non_blocking=None) -> TypedStorage",
        copy_,
        "Copies in the bytes of another storage, whatever its dtype.",
    )
    .python("TypedStorage.copy_"),
    method(
        "resize_(TypedStorage self, any size) -> None",
        resize_,
        "Resizes the storage to a number of elements, in place; new ones are zero.",
    )
    .python("TypedStorage.resize_"),
    method(
        "__getitem__(TypedStorage self, any index) -> any",
        |c| typed_item(c.state, &typed(c)?, &c.value(1)),
        "Returns one element.",
    ),
    method(
        "__setitem__(TypedStorage self, any index, any value) -> None",
        |c| set_typed_item(c.state, &typed(c)?, &c.value(1), &c.value(2)).map(|()| Value::None),
        "Writes elements.",
    ),
    method(
        "__hash__(TypedStorage self) -> int",
        |c| Ok(Value::Int(typed(c)?.storage.identity() as i64)),
        "Returns a number that is the same for the same storage.",
    ),
    method(
        "storage_type(Tensor self) -> any",
        |c| {
            warn_typed(c.state);
            Ok(class_of_dtype(c.tensor(0)?.borrow().dtype).map_or(Value::None, Value::Type))
        },
        "Returns the legacy storage class of the tensor's dtype (deprecated).",
    )
    .names(Nameless)
    .python("Tensor.storage_type")
    .not_differentiable(),
    method(
        "_typed_storage(Tensor self) -> TypedStorage",
        |c| {
            let v = c.tensor(0)?.borrow();
            Ok(Value::TypedStorage(TypedStorage::new(v.storage.clone(), v.dtype)))
        },
        "Returns the storage as elements of the tensor's dtype.",
    )
    .names(Nameless)
    .python("Tensor._typed_storage"),
    attribute("dtype(TypedStorage self) -> ScalarType", |c| Ok(Value::DType(typed(c)?.dtype)), "The element type."),
    attribute("_dtype(TypedStorage self) -> ScalarType", |c| Ok(Value::DType(typed(c)?.dtype)), "The element type."),
    attribute(
        "device(TypedStorage self) -> Device",
        |c| Ok(Value::Device(typed(c)?.storage.device())),
        "The device the bytes live on.",
    )
    .python("TypedStorage.device"),
    attribute(
        "filename(TypedStorage self) -> str",
        |c| Ok(typed(c)?.storage.filename().map_or(Value::None, Value::str)),
        "The file that writes reach, if any.",
    )
    .python("TypedStorage.filename"),
    attribute(
        "is_cuda(TypedStorage self) -> bool",
        |_| Ok(Value::Bool(false)),
        "Whether the storage is on a CUDA device: never here.",
    )
    .python("TypedStorage.is_cuda"),
    attribute(
        "is_hpu(TypedStorage self) -> bool",
        |_| Ok(Value::Bool(false)),
        "Whether the storage is on an HPU: never here.",
    )
    .python("TypedStorage.is_hpu"),
    attribute(
        "is_sparse(TypedStorage self) -> bool",
        |_| Ok(Value::Bool(false)),
        "Whether the storage is sparse: never.",
    ),
    attribute(
        "_untyped_storage(TypedStorage self) -> UntypedStorage",
        |c| Ok(Value::Storage(typed(c)?.storage)),
        "The bytes without the dtype.",
    ),
    attribute(
        "_cdata(TypedStorage self) -> int",
        |c| Ok(Value::Int(typed(c)?.storage.identity() as i64)),
        "The identity of the bytes as a number.",
    ),
    attribute("__class__(TypedStorage self) -> Type", |_| Ok(Value::Type("torch.storage.TypedStorage")), "The class."),
];

pub(crate) fn typed(call: &Call) -> Result<TypedStorage> {
    match call.value(0) {
        Value::TypedStorage(typed) => {
            warn_typed(call.state);
            Ok(typed)
        }
        _ => Err(Error::new(ErrorKind::TypeError, "a typed storage is needed")),
    }
}

fn length(call: &mut Call) -> Result<Value> {
    Ok(Value::Int(typed(call)?.len() as i64))
}

/// Builds the error message of `torch.TypedStorage` for wrong arguments.
fn misused(why: &str) -> String {
    const FORMS: [&str; 4] = [
        "(*, torch.device device, torch.dtype dtype)",
        "(int size, *, torch.device device, torch.dtype dtype)",
        "(Sequence data, *, torch.device device, torch.dtype dtype)",
        "(*, UntypedStorage wrap_storage, torch.dtype dtype)",
    ];
    wrong("TypedStorage.__init__", &FORMS, why)
}

/// Builds the error for a value given instead of an untyped storage.
pub(crate) fn not_wrapped(value: &Value) -> Error {
    Error::type_error(misused(&format!(
        "Argument 'wrap_storage' must be UntypedStorage, but got {}",
        class_repr(value)
    )))
}

fn construct(call: &mut Call) -> Result<Value> {
    warn_typed(call.state);
    let wrong = misused;
    let args = call.value(0).sequence().unwrap_or_default();
    let (device, dtype, wrapped) = (call.value(1), call.value(2), call.value(3));
    if !matches!(wrapped, Value::None) {
        if !args.is_empty() {
            bail!(RuntimeError, "{}", wrong(ONE_WRAPPED));
        }
        let dtype = match dtype {
            Value::None => bail!(RuntimeError, "{}", wrong("Argument 'dtype' must be specified")),
            Value::DType(dtype) => dtype,
            other => {
                let why = format!("Argument 'dtype' must be torch.dtype, not {}", class_repr(&other));
                bail!(TypeError, "{}", wrong(&why))
            }
        };
        if !matches!(device, Value::None) {
            bail!(RuntimeError, "{}", wrong("Argument 'device' should not be specified when 'wrap_storage' is given"));
        }
        let Value::Storage(storage) = wrapped else { return Err(not_wrapped(&wrapped)) };
        return Ok(Value::TypedStorage(TypedStorage::new(storage, dtype)));
    }
    let device = match device {
        Value::None => Device::CPU,
        Value::Device(device) => device,
        Value::Str(name) => Device::parse(&name)?,
        Value::Int(index) => Device::parse(&format!("cuda:{index}"))?,
        other => bail!(TypeError, "device(): argument 'type' (position 1) must be str, not {}", other.type_name()),
    };
    let dtype = match dtype {
        Value::None => call.state.default_dtype.get(),
        Value::DType(dtype) => dtype,
        other if matches!(args.as_slice(), [data] if is_sequence(data)) => {
            bail!(TypeError, "tensor(): argument 'dtype' must be torch.dtype, not {}", other.type_name())
        }
        other => bail!(RuntimeError, "expected torch.dtype, but got {}", class_repr(&other)),
    };
    if dtype.is_quantized() && device.name() == "cuda" {
        bail!(RuntimeError, "Cannot create CUDA storage with quantized dtype");
    }
    let device = device.available()?;
    match args.as_slice() {
        [] => Ok(()),
        [one] if is_size(one) || is_sequence(one) => Ok(()),
        [other] => Err(Error::type_error(wrong(&format!("Argument type not recognized: {}", class_repr(other))))),
        _ => Err(Error::runtime(wrong("Too many positional arguments"))),
    }?;
    let made = legacy_new(call.state, dtype, &args)?;
    match made {
        Value::TypedStorage(typed) if device.is_meta() => {
            let storage = Storage::zeroed(typed.storage.nbytes(), device)?;
            Ok(Value::TypedStorage(TypedStorage::new(storage, dtype)))
        }
        made => Ok(made),
    }
}

pub(crate) fn is_size(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::BigInt(_) | Value::Bool(_))
}

pub(crate) fn is_sequence(value: &Value) -> bool {
    matches!(value, Value::Str(_) | Value::Buffer(_)) || value.sequence().is_some()
}

fn from_buffer(call: &mut Call) -> Result<Value> {
    warn_typed(call.state);
    let dtype = call.opt_dtype(4).unwrap_or_else(|| call.state.default_dtype.get());
    let device = match call.value(5) {
        Value::Str(name) => Device::parse(&name)?,
        Value::Device(device) => device,
        _ => Device::CPU,
    };
    if device.name() != "cpu" {
        bail!(RuntimeError, "TypedStorage.from_buffer: Not available for device {}", device.name());
    }
    let storage = buffers::copied(call, &Value::DType(dtype))?;
    Ok(Value::TypedStorage(TypedStorage::new(storage, dtype)))
}

/// Converts the elements to another dtype, in a new storage.
pub(crate) fn cast(typed: &TypedStorage, dtype: DType) -> Result<Value> {
    if typed.dtype.is_quantized() {
        return Err(Error::no_backend("set_.source_Storage", "QuantizedCPU"));
    }
    if typed.storage.device().is_meta() {
        let nbytes = typed.len().saturating_mul(dtype.itemsize());
        let storage = Storage::zeroed(nbytes, Device::META)?;
        return Ok(Value::TypedStorage(TypedStorage::new(storage, dtype)));
    }
    typed.storage.data()?;
    let values = copy::cast(&typed.view(), dtype)?;
    // The result has its own storage even if nothing was converted.
    let values = if values.storage == typed.storage { copy::clone(&values)? } else { values };
    Ok(Value::TypedStorage(TypedStorage::new(values.storage, dtype)))
}

fn copied(call: &mut Call) -> Result<Value> {
    let typed = typed(call)?;
    Ok(Value::TypedStorage(TypedStorage::new(typed.storage.duplicate()?, typed.dtype)))
}

fn pickle_storage_type(call: &mut Call) -> Result<Value> {
    let dtype = typed(call)?.dtype;
    match class_of_dtype(dtype) {
        Some(class) => Ok(Value::str(class.trim_start_matches("torch."))),
        None => bail!(KeyError, "'dtype torch.{} is not recognized'", dtype.name()),
    }
}

fn type_(call: &mut Call) -> Result<Value> {
    let typed = typed(call)?;
    if !call.is_none(1) {
        return as_class(call, &call.value(1));
    }
    let legacy = class_of_dtype(typed.dtype).filter(|_| !typed.storage.device().is_meta());
    Ok(Value::str(legacy.unwrap_or("torch.storage.TypedStorage")))
}

fn copy_(call: &mut Call) -> Result<Value> {
    let target = typed(call)?.storage;
    let source = match call.value(1) {
        Value::Storage(storage) => storage,
        Value::TypedStorage(typed) => typed.storage,
        other => {
            bail!(TypeError, "copy_(): argument 'src' (position 1) must be torch.Storage, not {}", other.type_name())
        }
    };
    target.copy_from(&source)?;
    Ok(call.itself())
}

fn resize_(call: &mut Call) -> Result<Value> {
    let typed = typed(call)?;
    let size = match call.value(1) {
        Value::Int(size) => Value::from(i128::from(size) * typed.dtype.itemsize() as i128),
        Value::Bool(size) => Value::Int(i64::from(size) * typed.dtype.itemsize() as i64),
        // Multiplying these by a number does not give an integer, so `resize` refuses them as they are.
        other @ (Value::Float(_) | Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Tensor(_)) => other,
        Value::BigInt(_) => bail!(RuntimeError, "Overflow when unpacking long"),
        other => bail!(TypeError, "unsupported operand type(s) for *: '{}' and 'int'", other.type_name()),
    };
    resize(&typed.storage, &size)?;
    Ok(Value::None)
}

fn everything() -> Value {
    Value::Slice(Rc::new(Slice { start: Value::None, stop: Value::None, step: Value::None }))
}
