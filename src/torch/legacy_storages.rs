//! The legacy storage classes, `torch.FloatStorage` and so on, one for each dtype, and their attributes. Follows
//! <https://pytorch.org/docs/2.7/storage.html#legacy-typed-storage>.

use super::storages::checked_size;
use super::typed_storages::{is_sequence, is_size};
use call::state::State;
use call::{Call, Row, class_method, function};
use objects::legacy_classes::class_of_dtype;
use objects::storages::{class_repr, warn_typed};
use objects::strings::buffers;
use tensor::{DType, Device, Error, Result, Storage, TypedStorage, bail};
use value::Value;

macro_rules! legacy {
    ($($prefix:literal $dtype:ident),*) => {
        /// The constructors and class methods of the legacy classes.
        pub(crate) const LEGACY: &[Row] = &[$(
            function(
                concat!($prefix, "Storage(any[] args, *, any wrap_storage=None, any dtype=None, any device=None, any _internal=None) -> TypedStorage"),
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
                concat!("cuda.", $prefix, "Storage(any[] args, *, any wrap_storage=None, any dtype=None, any device=None, any _internal=None) -> TypedStorage"),
                |c| construct_on_cuda(c, concat!("torch.cuda.", $prefix, "Storage")),
                concat!("Creates a storage of ", $prefix, " elements on a CUDA device; there is none."),
            ).python("TypedStorage.__new__"),
        )*];
    };
}

objects::each_legacy_storage!(legacy);

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
            objects::data::from_data(sequence, Some(dtype.stored_integers()), state.default_dtype.get())?.storage
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
    let shared = objects::storages::index_argument(&call.value(1))? != 0;
    let size = objects::storages::index_argument(&call.value(2))?;
    let Some(nbytes) = size.checked_mul(dtype.itemsize() as i64) else {
        bail!(OverflowError, "Python int too large to convert to C ssize_t")
    };
    let storage = Storage::from_file(&name, shared, nbytes)?;
    Ok(Value::TypedStorage(TypedStorage::new(storage, dtype)))
}
