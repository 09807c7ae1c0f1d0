//! The legacy storage classes, `torch.FloatStorage` and so on, one for each dtype, and their attributes. Follows
//! <https://pytorch.org/docs/2.7/storage.html#legacy-typed-storage>.

use super::storages::{checked_size, class_repr, warn_typed};
use super::typed_storages::{is_sequence, is_size};
use crate::legacy_tensor_class;
use crate::objects::strings::buffers;
use call::signature::Kind;
use call::state::State;
use call::{Call, Receiver, Row, class_method, function};
use std::rc::Rc;
use tensor::{DType, Device, Error, Result, Storage, TypedStorage, bail};
use value::{Method, TensorLayout, Value};

macro_rules! legacy {
    ($($prefix:literal $dtype:ident),*) => {
        /// The constructors and class methods of the legacy classes.
        pub(crate) const LEGACY: &[Row] = &[$(
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

        /// The legacy classes of CUDA devices. Calling one always fails.
        pub(crate) const ON_CUDA: &[Row] = &[$(
            function(
                concat!("cuda.", $prefix, "Storage(any[] args, *, any wrap_storage=None, any dtype=None, any device=None) -> TypedStorage"),
                |c| construct_on_cuda(c, concat!("torch.cuda.", $prefix, "Storage")),
                concat!("Creates a storage of ", $prefix, " elements on a CUDA device; there is none."),
            ).python("TypedStorage.__new__"),
        )*];

        /// Returns the full name of the legacy CUDA class with this short name.
        pub(crate) fn cuda_class(name: &str) -> Option<&'static str> {
            match name {
                $(concat!($prefix, "Storage") if !DType::$dtype.is_quantized() => Some(concat!("torch.cuda.", $prefix, "Storage")),)*
                _ => None,
            }
        }

        /// Returns the full name of the legacy class with this short name.
        pub(crate) fn legacy_class(name: &str) -> Option<&'static str> {
            match name {
                $(concat!($prefix, "Storage") => Some(concat!("torch.", $prefix, "Storage")),)*
                _ => None,
            }
        }

        /// Returns the dtype of a legacy class, given its full name.
        pub(crate) fn legacy_dtype(class: &str) -> Option<DType> {
            match class {
                $(concat!("torch.", $prefix, "Storage") => Some(DType::$dtype),)*
                _ => None,
            }
        }

        /// Returns the full name of the legacy class of a dtype.
        pub(crate) fn class_of_dtype(dtype: DType) -> Option<&'static str> {
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

/// Returns an attribute of the class itself, such as `torch.FloatStorage.dtype`.
pub fn class_attribute(state: &State, class: &'static str, name: &str) -> Option<Value> {
    match name {
        "__name__" | "__qualname__" => Some(Value::str(class.rsplit('.').next().unwrap_or(class))),
        "__module__" => Some(Value::str(class.rsplit_once('.').map_or("builtins", |(module, _)| module))),
        "dtype" | "_dtype" => dtype_of_class(class).map(Value::DType),
        "is_sparse" | "is_sparse_csr" if class.ends_with("Storage") => Some(Value::Bool(false)),
        "is_cuda" if class.ends_with("Tensor") => Some(Value::Bool(class.starts_with("torch.cuda."))),
        "layout" if class.ends_with("Tensor") => Some(Value::Layout(TensorLayout::Strided)),
        // A class method as a value.
        _ => {
            let short = class.rsplit('.').next().unwrap_or(class);
            if state.registry.find(name, Receiver::Module(short)).is_some() {
                return Some(Value::Function(format!("{short}.{name}").into()));
            }
            let (kind, family) = (kind_of_class(class)?, state.registry.family(name));
            match family.filter(|family| family.find(Receiver::Class(kind)).is_some()) {
                Some(family) => Some(Value::Method(Rc::new(Method { of: Value::Type(class), name: family.name }))),
                None => state.registry.attribute(name, kind).map(|f| Value::Function(f.signature.name.into())),
            }
        }
    }
}

/// Checks that a legacy class supports a method. Storage classes of CUDA devices do not support `from_buffer`.
///
/// # Errors
/// RuntimeError if it does not.
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

/// Returns the dtype in the name of a legacy class of storages or tensors.
fn dtype_of_class(class: &str) -> Option<DType> {
    let short = class.rsplit('.').next()?;
    let on_cpu = format!("torch.{short}");
    legacy_dtype(&on_cpu).or_else(|| legacy_tensor_class(short).map(|(_, dtype)| dtype))
}

/// Returns whether the value is an instance of a legacy class. The dtype decides; storages without data belong to none.
pub(crate) fn is_instance(value: &Value, class: &str) -> bool {
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

pub(crate) fn wrong(class: &str, forms: &[&str], why: &str) -> String {
    let forms: String = forms.iter().map(|form| format!(" * {form}\n")).collect();
    format!("{class} received an invalid combination of arguments. Expected one of:\n{forms}{why}")
}

pub(crate) const ONE_WRAPPED: &str = "No positional arguments should be given when using 'wrap_storage'";

pub(crate) fn construct_legacy(call: &mut Call, dtype: DType) -> Result<Value> {
    warn_typed(call.state);
    let args = call.value(0).sequence().unwrap_or_default();
    match legacy_arguments(call, class_of_dtype(dtype).unwrap_or("torch.TypedStorage"), "cpu", &args)? {
        Some(storage) => Ok(Value::TypedStorage(TypedStorage::new(storage, dtype))),
        None => legacy_new(call.state, dtype, &args),
    }
}

/// `torch.cuda.FloatStorage(…)`. The arguments are checked before the device is refused.
fn construct_on_cuda(call: &mut Call, class: &str) -> Result<Value> {
    warn_typed(call.state);
    let args = call.value(0).sequence().unwrap_or_default();
    legacy_arguments(call, class, "cuda", &args)?;
    super::storage_devices::no_driver()
}

/// Checks the arguments of a legacy class. Returns the storage to wrap, if one was given.
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

/// Creates a storage of a dtype: empty, of a given size, or with the elements of a sequence.
pub(crate) fn legacy_new(state: &State, dtype: DType, args: &[Value]) -> Result<Value> {
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
            super::data::from_data(sequence, Some(dtype.stored_integers()), state.default_dtype.get())?.storage
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
