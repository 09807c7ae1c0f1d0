//! The legacy classes of storages and tensors (`torch.FloatStorage`, `torch.FloatTensor` …), one for each dtype, and
//! the attributes of classes. Follows <https://pytorch.org/docs/2.7/storage.html#legacy-typed-storage>.

use crate::calling::NativeFunction;
use call::Receiver;
use call::signature::Kind;
use call::state::State;
use std::rc::Rc;
use tensor::{DType, Result, bail};
use value::{Method, TensorLayout, Value};

/// Calls a macro with the prefix and the dtype of each legacy class of storages.
#[macro_export]
macro_rules! each_legacy_storage {
    ($rows:ident) => {
        $rows! {
            "Double" Double, "Float" Float, "Half" Half, "Long" Long, "Int" Int, "Short" Short, "Char" Char, "Byte" Byte,
            "Bool" Bool, "BFloat16" BFloat16, "ComplexDouble" ComplexDouble, "ComplexFloat" ComplexFloat, "QUInt8" QUInt8,
            "QInt8" QInt8, "QInt32" QInt32, "QUInt4x2" QUInt4x2, "QUInt2x4" QUInt2x4
        }
    };
}

/// Calls a macro with the name and the dtype of each legacy class of tensors.
#[macro_export]
macro_rules! each_legacy_tensor {
    ($rows:ident) => {
        $rows! {
            "DoubleTensor" Double, "FloatTensor" Float, "HalfTensor" Half, "LongTensor" Long, "IntTensor" Int,
            "ShortTensor" Short, "CharTensor" Char, "ByteTensor" Byte, "BoolTensor" Bool, "BFloat16Tensor" BFloat16
        }
    };
}

macro_rules! storages {
    ($($prefix:literal $dtype:ident),*) => {
        /// Full name on the CPU, full name on CUDA devices, and dtype of each legacy class of storages.
        const STORAGES: &[(&str, &str, DType)] =
            &[$((concat!("torch.", $prefix, "Storage"), concat!("torch.cuda.", $prefix, "Storage"), DType::$dtype)),*];
    };
}

macro_rules! tensors {
    ($($name:literal $dtype:ident),*) => {
        /// Full name on the CPU, full name on CUDA devices, and dtype of each legacy class of tensors.
        const TENSORS: &[(&str, &str, DType)] = &[$((concat!("torch.", $name), concat!("torch.cuda.", $name), DType::$dtype)),*];

        /// Full names of the legacy classes of sparse tensors. None has the dtype `bool`.
        const SPARSE: &[&str] = &[$(concat!("torch.sparse.", $name)),*];
    };
}

each_legacy_storage!(storages);
each_legacy_tensor!(tensors);

/// The name of a class without its module.
fn short(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// The full name of the legacy class of CUDA storages with this short name.
pub(crate) fn cuda_class(name: &str) -> Option<&'static str> {
    STORAGES.iter().find(|(class, _, dtype)| short(class) == name && !dtype.is_quantized()).map(|(_, cuda, _)| *cuda)
}

/// The full name of the legacy class of storages with this short name.
pub fn legacy_class(name: &str) -> Option<&'static str> {
    STORAGES.iter().find(|(class, ..)| short(class) == name).map(|(class, ..)| *class)
}

/// The dtype of a legacy class of storages, by its full name.
pub(crate) fn legacy_dtype(name: &str) -> Option<DType> {
    STORAGES.iter().find(|(class, ..)| *class == name).map(|(_, _, dtype)| *dtype)
}

/// The full name of the legacy class of storages of a dtype.
pub fn class_of_dtype(wanted: DType) -> Option<&'static str> {
    STORAGES.iter().find(|(_, _, dtype)| *dtype == wanted).map(|(class, ..)| *class)
}

/// The full name and the dtype of the legacy class of tensors with this short name.
pub fn legacy_tensor_class(name: &str) -> Option<(&'static str, DType)> {
    TENSORS.iter().find(|(class, ..)| short(class) == name).map(|(class, _, dtype)| (*class, *dtype))
}

/// The full name of the legacy class of CUDA tensors with this short name.
pub(crate) fn cuda_tensor_class(name: &str) -> Option<&'static str> {
    TENSORS.iter().find(|(class, ..)| short(class) == name).map(|(_, cuda, _)| *cuda)
}

/// The full name of the legacy class of sparse tensors with this short name.
pub(crate) fn sparse_tensor_class(name: &str) -> Option<&'static str> {
    SPARSE.iter().find(|class| short(class) == name && name != "BoolTensor").copied()
}

/// Returns an attribute of the class itself, such as `torch.FloatStorage.dtype`.
pub fn class_attribute(state: &State, class: &'static str, name: &str) -> Option<Value> {
    let refused = ["from_buffer", "from_file", "_new_with_weak_ptr", "_new_shared_filename"];
    if let Some(method) = refused.into_iter().find(|known| *known == name)
        && refuse_elsewhere(class, method).is_err()
    {
        let refuse = move |_, _| refuse_elsewhere(class, method).map(|()| Value::None);
        return Some(NativeFunction::value(method, refuse));
    }
    match name {
        "__name__" | "__qualname__" => Some(Value::str(class.rsplit('.').next().unwrap_or(class))),
        "__module__" => Some(Value::str(class.rsplit_once('.').map_or("builtins", |(module, _)| module))),
        "dtype" | "_dtype" => dtype_of_class(class).map(Value::DType),
        "is_sparse" | "is_sparse_csr" if class.ends_with("Storage") => Some(Value::Bool(false)),
        "is_cuda" if class.ends_with("Tensor") => Some(Value::Bool(class.starts_with("torch.cuda."))),
        "layout" if class.starts_with("torch.sparse.") => Some(Value::Layout(TensorLayout::SparseCoo)),
        "is_sparse" if class.starts_with("torch.sparse.") => Some(Value::Bool(true)),
        "layout" if class.ends_with("Tensor") => Some(Value::Layout(TensorLayout::Strided)),
        // A class method taken as a value.
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

/// Checks that a legacy class supports a class method. Storage classes of CUDA devices do not support these.
///
/// # Errors
/// RuntimeError if it does not.
pub fn refuse_elsewhere(class: &str, method: &str) -> Result<()> {
    if !class.starts_with("torch.cuda.") || !class.ends_with("Storage") {
        return Ok(());
    }
    match method {
        "from_buffer" | "_new_with_weak_ptr" | "_new_shared_filename" => {
            bail!(RuntimeError, "{method}: Not available for CUDA storage")
        }
        "from_file" => bail!(
            RuntimeError,
            "<class '{class}'>.__new__ received an invalid combination of arguments. Expected one of:\n * no arguments\n \
             * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)\nDevice of 'wrap_storage' must be \
             cuda, but got cpu"
        ),
        _ => Ok(()),
    }
}

/// Returns the receiver kind of a class's objects.
pub fn kind_of_class(class: &str) -> Option<Kind> {
    match class {
        tensor if tensor.starts_with("torch.") && tensor.ends_with("Tensor") => Some(Kind::Tensor),
        "torch.storage.UntypedStorage" => Some(Kind::UntypedStorage),
        "torch.storage.TypedStorage" => Some(Kind::TypedStorage),
        "numpy.ndarray" => Some(Kind::Array),
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

/// Returns whether a value is an instance of a legacy class. The dtype decides; values on the meta device never are.
pub(crate) fn is_instance(value: &Value, class: &str) -> bool {
    match value {
        Value::Tensor(tensor) => {
            let view = tensor.borrow();
            let sparse = class.starts_with("torch.sparse.");
            let wanted =
                class.strip_prefix(if sparse { "torch.sparse." } else { "torch." }).and_then(legacy_tensor_class);
            let of_layout = view.compressed().is_none() && view.coo().is_some() == sparse;
            wanted.is_some_and(|(_, dtype)| dtype == view.dtype) && of_layout && !view.device().is_meta()
        }
        Value::TypedStorage(typed) => legacy_dtype(class) == Some(typed.dtype) && !typed.storage.device().is_meta(),
        _ => false,
    }
}
