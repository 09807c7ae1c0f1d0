//! `torch.TypedStorage` and the legacy classes `torch.FloatStorage` and so on: deprecated, and complete.
//! Follows <https://pytorch.org/docs/2.7/storage.html#legacy-typed-storage>.

use super::storages::{as_class, checked_size, class_method, class_repr, resize, warn_typed};
use super::subscript::indices;
use super::{buffers, legacy_tensor_class, tensors};
use crate::bail;
use crate::call::signature::Kind;
use crate::call::state::State;
use crate::call::{Call, Receiver, Row, attribute, function, method};
use crate::ops::copy;
use crate::tensor::{DType, Device, Error, ErrorKind, Result, Storage, Tensor, TypedStorage, interrupt};
use crate::value::{Method, Slice, TensorLayout, Value};
use std::rc::Rc;

macro_rules! casts {
    ($($name:literal $dtype:ident),*) => {
        /// `storage.float()` and the like.
        pub const CASTS: &[Row] = &[$(
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

macro_rules! legacy {
    ($($prefix:literal $dtype:ident),*) => {
        /// The legacy classes: calling them, and their class methods.
        pub const LEGACY: &[Row] = &[$(
            function(
                concat!($prefix, "Storage(any[] args, *, any wrap_storage=None, any dtype=None, any device=None) -> TypedStorage"),
                |c| construct_legacy(c, DType::$dtype),
                concat!("Creates a storage of ", $prefix, " elements (deprecated)."),
            ).python("TypedStorage.__new__"),
            class_method(
                concat!($prefix, "Storage::from_buffer(any buffer, any byte_order=None, any count=-1, any offset=0, any dtype=None, \
 any device=None) -> TypedStorage"),
                |c| legacy_from_buffer(c, DType::$dtype),
                "Copies a buffer's bytes (deprecated).",
            ).python("function"),
            class_method(
                concat!($prefix, "Storage::from_file(any filename, any shared, any size) -> TypedStorage"),
                |c| legacy_from_file(c, DType::$dtype),
                "Opens the bytes of a file (deprecated).",
            ).python("TypedStorage.from_file"),
        )*];

        /// The legacy classes of CUDA devices; they can only be refused.
        pub const ON_CUDA: &[Row] = &[$(
            function(
                concat!("cuda.", $prefix, "Storage(any[] args, *, any wrap_storage=None, any dtype=None, any device=None) -> TypedStorage"),
                |c| construct_on_cuda(c, concat!("torch.cuda.", $prefix, "Storage")),
                concat!("Creates a storage of ", $prefix, " elements on a CUDA device; there is none."),
            ).python("TypedStorage.__new__"),
        )*];

        /// The full name of the legacy class of CUDA devices with this short name.
        pub fn cuda_class(name: &str) -> Option<&'static str> {
            match name {
                $(concat!($prefix, "Storage") if !DType::$dtype.is_quantized() => Some(concat!("torch.cuda.", $prefix, "Storage")),)*
                _ => None,
            }
        }

        /// The full name of the legacy class with this short name.
        pub fn legacy_class(name: &str) -> Option<&'static str> {
            match name {
                $(concat!($prefix, "Storage") => Some(concat!("torch.", $prefix, "Storage")),)*
                _ => None,
            }
        }

        /// The dtype of a legacy class, by its full name.
        pub fn legacy_dtype(class: &str) -> Option<DType> {
            match class {
                $(concat!("torch.", $prefix, "Storage") => Some(DType::$dtype),)*
                _ => None,
            }
        }

        /// The legacy class of a dtype, by its full name.
        pub fn class_of_dtype(dtype: DType) -> Option<&'static str> {
            match dtype {
                $(DType::$dtype => Some(concat!("torch.", $prefix, "Storage")),)*
                _ => None,
            }
        }
    };
}

legacy! {
    "Double" Double, "Float" Float, "Half" Half, "Long" Long, "Int" Int, "Short" Short, "Char" Char, "Byte" Byte,
    "Bool" Bool, "BFloat16" BFloat16, "ComplexDouble" ComplexDouble, "ComplexFloat" ComplexFloat, "QUInt8" QUInt8,
    "QInt8" QInt8, "QInt32" QInt32, "QUInt4x2" QUInt4x2, "QUInt2x4" QUInt2x4
}

pub const ROWS: &[Row] = &[
    function(
        "TypedStorage(any[] args, *, any device=None, any dtype=None, any wrap_storage=None) -> TypedStorage",
        construct,
        "Creates a storage of elements of one dtype (deprecated).",
    )
    .python("TypedStorage.__new__"),
    function(
        "Storage(any[] args, *, any wrap_storage=None, any dtype=None, any device=None) -> TypedStorage",
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
        "is_shared_(TypedStorage self) -> bool",
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
            set_item(c.state, &typed, &everything(), &value)?;
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
        |c| item(c.state, &typed(c)?, &c.value(1)),
        "Returns one element.",
    ),
    method(
        "__setitem__(TypedStorage self, any index, any value) -> None",
        |c| set_item(c.state, &typed(c)?, &c.value(1), &c.value(2)).map(|()| Value::None),
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
    .python("Tensor.storage_type"),
    method(
        "_typed_storage(Tensor self) -> TypedStorage",
        |c| {
            let v = c.tensor(0)?.borrow();
            Ok(Value::TypedStorage(TypedStorage::new(v.storage.clone(), v.dtype)))
        },
        "Returns the storage as elements of the tensor's dtype.",
    )
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

/// Attributes of a class itself: `torch.FloatStorage.dtype`.
pub fn class_attribute(state: &State, class: &'static str, name: &str) -> Option<Value> {
    match name {
        "__name__" | "__qualname__" => Some(Value::str(class.rsplit('.').next().unwrap_or(class))),
        "__module__" => Some(Value::str(class.rsplit_once('.').map_or("builtins", |(module, _)| module))),
        "dtype" | "_dtype" => dtype_of_class(class).map(Value::DType),
        "is_sparse" | "is_sparse_csr" if class.ends_with("Storage") => Some(Value::Bool(false)),
        "is_cuda" if class.ends_with("Tensor") => Some(Value::Bool(class.starts_with("torch.cuda."))),
        "layout" if class.ends_with("Tensor") => Some(Value::Layout(TensorLayout::Strided)),
        // A class method taken as a value.
        _ => {
            let short = class.rsplit('.').next().unwrap_or(class);
            if let Some(overloads) = state.registry.find(name, Receiver::Module(short)) {
                return Some(Value::Function(overloads.name.into()));
            }
            let (kind, family) = (kind_of_class(class)?, state.registry.family(name));
            match family.filter(|family| family.find(Receiver::Class(kind)).is_some()) {
                Some(family) => Some(Value::Method(Rc::new(Method { of: Value::Type(class), name: family.name }))),
                None => state.registry.attribute(name, kind).map(|f| Value::Function(f.signature.name.into())),
            }
        }
    }
}

/// Refuses what the storages of other devices cannot do: take the bytes of a buffer.
///
/// # Errors
/// RuntimeError.
pub fn refuse_elsewhere(class: &str, method: &str) -> Result<()> {
    if method == "from_buffer" && class.starts_with("torch.cuda.") {
        bail!(RuntimeError, "from_buffer: Not available for CUDA storage");
    }
    Ok(())
}

/// Returns the receiver kind of a class's objects.
pub fn kind_of_class(class: &str) -> Option<Kind> {
    match class {
        tensor if tensor.starts_with("torch.") && tensor.ends_with("Tensor") => Some(Kind::Tensor),
        "torch.storage.UntypedStorage" => Some(Kind::UntypedStorage),
        "torch.storage.TypedStorage" => Some(Kind::TypedStorage),
        "str" => Some(Kind::Str),
        _ => legacy_dtype(class).map(|_| Kind::TypedStorage),
    }
}

/// The dtype that the name of a legacy class of storages or tensors tells.
fn dtype_of_class(class: &str) -> Option<DType> {
    let short = class.rsplit('.').next()?;
    let on_cpu = format!("torch.{short}");
    legacy_dtype(&on_cpu).or_else(|| legacy_tensor_class(short).map(|(_, dtype)| dtype))
}

/// Returns whether the value is of a legacy class. They differ by dtype; storages without data belong to none.
pub fn is_instance(value: &Value, class: &str) -> bool {
    match value {
        Value::Tensor(tensor) => {
            let view = tensor.borrow();
            let wanted = class.strip_prefix("torch.").and_then(super::legacy_tensor_class);
            wanted.is_some_and(|(_, dtype)| dtype == view.dtype) && !view.device().is_meta()
        }
        Value::TypedStorage(typed) => legacy_dtype(class) == Some(typed.dtype) && !typed.storage.device().is_meta(),
        _ => false,
    }
}

pub fn typed(call: &Call) -> Result<TypedStorage> {
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

fn wrong(class: &str, forms: &[&str], why: &str) -> String {
    let forms: String = forms.iter().map(|form| format!(" * {form}\n")).collect();
    format!("{class} received an invalid combination of arguments. Expected one of:\n{forms}{why}")
}

const ONE_WRAPPED: &str = "No positional arguments should be given when using 'wrap_storage'";

/// `torch.FloatStorage(…)`.
fn construct_legacy(call: &mut Call, dtype: DType) -> Result<Value> {
    warn_typed(call.state);
    let args = call.value(0).sequence().unwrap_or_default();
    match legacy_arguments(call, class_of_dtype(dtype).unwrap_or("torch.TypedStorage"), "cpu", &args)? {
        Some(storage) => Ok(Value::TypedStorage(TypedStorage::new(storage, dtype))),
        None => legacy_new(call.state, dtype, &args),
    }
}

/// `torch.cuda.FloatStorage(…)`: the arguments are looked at before the device.
fn construct_on_cuda(call: &mut Call, class: &str) -> Result<Value> {
    warn_typed(call.state);
    let args = call.value(0).sequence().unwrap_or_default();
    legacy_arguments(call, class, "cuda", &args)?;
    super::storage_devices::no_driver()
}

/// Checks what a legacy class is called with; the storage to wrap, if there is one.
fn legacy_arguments(call: &Call, class: &str, device: &str, args: &[Value]) -> Result<Option<Storage>> {
    let forms = ["no arguments", "(int size)", "(Sequence data)", "(*, UntypedStorage wrap_storage)"];
    let wrong = |why: &str| wrong(&format!("<class '{class}'>.__new__"), &forms, why);
    if !call.is_none(3) {
        bail!(RuntimeError, "{}", wrong("Keyword argument 'device' cannot be specified"));
    }
    if !call.is_none(2) {
        bail!(RuntimeError, "{}", wrong("Keyword argument 'dtype' cannot be specified"));
    }
    match call.value(1) {
        Value::None if args.len() > 1 => bail!(RuntimeError, "{}", wrong("Too many positional arguments")),
        Value::None => match args.first() {
            Some(other) if !is_size(other) && !is_sequence(other) => {
                bail!(TypeError, "{}", wrong(&format!("Argument type not recognized: {}", class_repr(other))))
            }
            _ => Ok(None),
        },
        _ if !args.is_empty() => bail!(RuntimeError, "{}", wrong(ONE_WRAPPED)),
        Value::Storage(storage) if storage.device().name() != device => {
            let why = format!("Device of 'wrap_storage' must be {device}, but got {}", storage.device().name());
            bail!(RuntimeError, "{}", wrong(&why))
        }
        Value::Storage(storage) => Ok(Some(storage)),
        other => bail!(
            TypeError,
            "{}",
            wrong(&format!("Argument 'wrap_storage' must be UntypedStorage, but got {}", class_repr(&other)))
        ),
    }
}

/// `torch.TypedStorage(…)`.
fn construct(call: &mut Call) -> Result<Value> {
    warn_typed(call.state);
    let forms = [
        "(*, torch.device device, torch.dtype dtype)",
        "(int size, *, torch.device device, torch.dtype dtype)",
        "(Sequence data, *, torch.device device, torch.dtype dtype)",
        "(*, UntypedStorage wrap_storage, torch.dtype dtype)",
    ];
    let wrong = |why: &str| wrong("TypedStorage.__init__", &forms, why);
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
        let Value::Storage(storage) = wrapped else {
            let why = format!("Argument 'wrap_storage' must be UntypedStorage, but got {}", class_repr(&wrapped));
            bail!(TypeError, "{}", wrong(&why))
        };
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

fn is_size(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::BigInt(_) | Value::Bool(_))
}

fn is_sequence(value: &Value) -> bool {
    matches!(value, Value::Str(_) | Value::Buffer(_)) || value.sequence().is_some()
}

/// A new storage of a dtype: empty, of a size, or with the elements of a sequence.
pub fn legacy_new(state: &State, dtype: DType, args: &[Value]) -> Result<Value> {
    let overflow = || Error::runtime("Overflow when unpacking long");
    let storage = match args.first() {
        None => Storage::zeroed(0, Device::CPU)?,
        Some(Value::Bool(size)) => Storage::zeroed(usize::from(*size) * dtype.itemsize(), Device::CPU)?,
        Some(Value::Int(size)) => {
            let nbytes = size.checked_mul(dtype.itemsize() as i64).ok_or_else(overflow)?;
            Storage::zeroed(checked_size(nbytes)?, Device::CPU)?
        }
        Some(Value::BigInt(_)) => return Err(overflow()),
        Some(buffer @ Value::Buffer(_)) => bail!(TypeError, "new(): invalid data type '{}'", buffer.class_name()),
        Some(sequence) => {
            super::create::from_data(sequence, Some(dtype.stored_integers()), state.default_dtype.get())?.storage
        }
    };
    Ok(Value::TypedStorage(TypedStorage::new(storage, dtype)))
}

fn legacy_from_buffer(call: &mut Call, dtype: DType) -> Result<Value> {
    warn_typed(call.state);
    for (index, name) in [(4, "dtype"), (5, "device")] {
        if !call.is_none(index) {
            bail!(
                RuntimeError,
                "from_buffer: '{name}' can only be specified in UntypedStorage.from_buffer and \
 TypedStorage.from_buffer"
            );
        }
    }
    let storage = buffers::copied(call, &Value::DType(dtype))?;
    Ok(Value::TypedStorage(TypedStorage::new(storage, dtype)))
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

fn legacy_from_file(call: &mut Call, dtype: DType) -> Result<Value> {
    warn_typed(call.state);
    let Value::Str(name) = call.value(0) else {
        bail!(TypeError, "argument 1 must be str, not {}", call.value(0).type_name())
    };
    let shared = super::storages::index_argument(&call.value(1))? != 0;
    let size = super::storages::index_argument(&call.value(2))?;
    let Some(nbytes) = size.checked_mul(dtype.itemsize() as i64) else {
        bail!(OverflowError, "Python int too large to convert to C ssize_t")
    };
    let storage = Storage::from_file(&name, shared, nbytes)?;
    Ok(Value::TypedStorage(TypedStorage::new(storage, dtype)))
}

/// The elements converted to another dtype, in a storage of their own.
pub fn cast(typed: &TypedStorage, dtype: DType) -> Result<Value> {
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
    // A storage of its own, even where nothing had to be converted.
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
        // The product of these and a number is no number either.
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

/// `storage[index]`.
pub fn item(state: &State, typed: &TypedStorage, index: &Value) -> Result<Value> {
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
        Value::BigInt(i) => bail!(IndexError, "index {i} out of range for storage of size {n}"),
        Value::Slice(_) => bail!(RuntimeError, "slices are only supported in UntypedStorage.__getitem__"),
        Value::Bool(_) => bail!(TypeError, "can't index a <class 'torch.storage.TypedStorage'> with <class 'bool'>"),
        other => bail!(RuntimeError, "can't index a <class 'torch.storage.TypedStorage'> with {}", class_repr(other)),
    }
}

/// `storage[index] = value`, with a tensor's rules for the value.
pub fn set_item(state: &State, typed: &TypedStorage, index: &Value, value: &Value) -> Result<()> {
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
    tensors::assign(state, &Tensor::new(typed.view()), &indices(index)?, value)
}
