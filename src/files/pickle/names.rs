//! The names allowed in a pickle, and their meaning. Names are not looked up anywhere else.

use super::refused;
use tensor::{DType, Result};
use value::TensorLayout;

/// The meaning of an allowed name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Class {
    OrderedDict,
    Counter,
    Set,
    Complex,
    ByteArray,
    /// `_codecs.encode`, which protocol 2 uses for bytes.
    Encode,
    Size,
    Device,
    /// `torch.serialization._get_layout`
    Layout,
    DType(DType),
    /// A storage class; `None` is the untyped one.
    Storage(Option<DType>),
    Tensor,
    /// A quantization scheme: whether each index of a dimension has its own scale and zero point.
    Scheme(bool),
    /// A legacy tensor class, named in old files but not needed here.
    Other(&'static str),
    Parameter,
    /// One of PyTorch's functions that rebuild a tensor.
    Rebuild(Rebuild),
    /// `torch.storage._load_from_bytes`, which pickles outside of checkpoints use for storages.
    StorageOfBytes,
    /// `bytes`, which protocol 2 uses for empty bytes. `weights_only` does not allow it.
    Bytes,
    /// A name of numpy, which `weights_only` does not allow.
    NumPy(NumPy),
    /// A name that is not allowed, by its index in [`Pickled::unknown`](super::read::Pickled). Occurs only in reports.
    Unknown(usize),
}

/// `torch._utils._rebuild_…`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rebuild {
    Tensor,
    TensorV2,
    TensorV3,
    Meta,
    Parameter,
    ParameterWithState,
    Quantized,
    Sparse,
    FromType,
    /// For tensors of devices that do not exist here.
    Foreign(&'static str),
}

/// The names in pickles of plain arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NumPy {
    NdArray,
    DType,
    /// Creates an array that receives its state afterwards.
    Reconstruct,
    /// A single number.
    Scalar,
    /// Creates an array from bytes, since protocol 5.
    FromBuffer,
}

/// Formats a name for messages.
pub(super) fn path(module: &str, name: &str) -> String {
    let (module, name) = modern(module, name);
    let path = format!("{module}.{name}");
    path.strip_prefix("builtins.").map(str::to_owned).unwrap_or(path)
}

/// Converts Python 2's name of a module or function to Python 3's.
fn modern(module: &str, name: &str) -> (String, String) {
    let renamed = match (module, name) {
        ("__builtin__", "xrange") => Some(("builtins", "range")),
        ("__builtin__", "reduce") => Some(("functools", "reduce")),
        ("__builtin__", "intern") => Some(("sys", "intern")),
        ("__builtin__", "unichr") => Some(("builtins", "chr")),
        ("__builtin__", "unicode" | "basestring") => Some(("builtins", "str")),
        ("__builtin__", "long") => Some(("builtins", "int")),
        _ => None,
    };
    let (module, name) = renamed.unwrap_or((module, name));
    let module = match module {
        "__builtin__" => "builtins",
        "copy_reg" => "copyreg",
        "cPickle" => "pickle",
        "commands" => "subprocess",
        other => other,
    };
    (module.to_owned(), name.to_owned())
}

/// Returns the meaning of `module.name`.
///
/// # Errors
/// Fails with UnpicklingError for every name that `weights_only` does not allow, with its message.
pub(super) fn find(module: &str, name: &str) -> Result<Class> {
    let (module, name) = modern(module, name);
    let path = format!("{module}.{name}");
    if matches!(module.as_str(), "sys" | "os" | "posix" | "nt") {
        return Err(refused(format!("Trying to load unsupported GLOBAL {path} whose module {module} is blocked.")));
    }
    if let Some(class) = allowed(&module, &name) {
        return Ok(class);
    }
    Err(refused(match path.as_str() {
        "torch.nested._internal.nested_tensor.NestedTensor"
        | "torch.nested._internal.nested_tensor._rebuild_njt"
        | "torch._dynamo.decorators._DimRange" => {
            "``torch.nested`` and ``torch._dynamo`` must be imported to load nested jagged tensors (NJTs)".to_owned()
        }
        "torch.distributed.device_mesh.DeviceMesh"
        | "torch.distributed.tensor._dtensor_spec.DTensorSpec"
        | "torch.distributed.tensor._dtensor_spec.TensorMeta"
        | "torch.distributed.tensor.DTensor"
        | "torch.distributed.tensor.placement_types.Partial"
        | "torch.distributed.tensor.placement_types.Replicate"
        | "torch.distributed.tensor.placement_types.Shard" => {
            "``torch.distributed.tensor`` must be imported to load DTensors".to_owned()
        }
        _ => {
            let shown = path.strip_prefix("builtins.").unwrap_or(&path);
            format!(
                "Unsupported global: GLOBAL {shown} was not an allowed global by default. Please use \
                 `torch.serialization.add_safe_globals([{shown}])` or the `torch.serialization.safe_globals([{shown}])` \
                 context manager to allowlist this global if you trust this class/function."
            )
        }
    }))
}

/// Like [`find`], but also allows the names for plain numpy arrays, and for storages outside of checkpoints.
///
/// # Errors
/// Fails with UnpicklingError for every other name.
pub(crate) fn find_more(module: &str, name: &str) -> Result<Class> {
    Ok(Class::NumPy(match (module, name) {
        ("numpy", "ndarray") => NumPy::NdArray,
        ("numpy", "dtype") => NumPy::DType,
        // Since numpy 2, the module's name begins with an underscore.
        ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => NumPy::Reconstruct,
        ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => NumPy::Scalar,
        ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => NumPy::FromBuffer,
        ("builtins" | "__builtin__", "bytes") => return Ok(Class::Bytes),
        ("torch.storage", "_load_from_bytes") => return Ok(Class::StorageOfBytes),
        _ => return find(module, name),
    }))
}

fn allowed(module: &str, name: &str) -> Option<Class> {
    Some(match (module, name) {
        ("collections", "OrderedDict") => Class::OrderedDict,
        ("collections", "Counter") => Class::Counter,
        ("builtins", "set") => Class::Set,
        ("builtins", "complex") => Class::Complex,
        ("builtins", "bytearray") => Class::ByteArray,
        ("_codecs", "encode") => Class::Encode,
        ("torch", "Size") => Class::Size,
        ("torch", "device") => Class::Device,
        ("torch", "Tensor") => Class::Tensor,
        ("torch.serialization", "_get_layout") => Class::Layout,
        ("torch.nn.parameter", "Parameter") => Class::Parameter,
        ("torch._tensor", "_rebuild_from_type_v2") => Class::Rebuild(Rebuild::FromType),
        ("torch._utils", function) => Class::Rebuild(match function {
            "_rebuild_tensor" => Rebuild::Tensor,
            "_rebuild_tensor_v2" => Rebuild::TensorV2,
            "_rebuild_tensor_v3" => Rebuild::TensorV3,
            "_rebuild_meta_tensor_no_storage" => Rebuild::Meta,
            "_rebuild_parameter" => Rebuild::Parameter,
            "_rebuild_parameter_with_state" => Rebuild::ParameterWithState,
            "_rebuild_qtensor" => Rebuild::Quantized,
            "_rebuild_sparse_tensor" => Rebuild::Sparse,
            "_rebuild_nested_tensor" => Rebuild::Foreign("a nested tensor"),
            "_rebuild_wrapper_subclass" => Rebuild::Foreign("a tensor of another class"),
            "_rebuild_device_tensor_from_numpy" | "_rebuild_device_tensor_from_cpu_tensor" => {
                Rebuild::Foreign("a tensor of another device")
            }
            _ => return None,
        }),
        ("torch.storage", "UntypedStorage") | ("torch", "UntypedStorage") => Class::Storage(None),
        ("torch", "per_tensor_affine" | "per_tensor_symmetric") => Class::Scheme(false),
        ("torch", "per_channel_affine" | "per_channel_symmetric" | "per_channel_affine_float_qparams") => {
            Class::Scheme(true)
        }
        ("torch", class) => match (class.strip_suffix("Storage"), class.strip_suffix("Tensor")) {
            (Some(prefix), _) => Class::Storage(Some(legacy(prefix)?)),
            (_, Some(prefix)) => legacy(prefix).map(|_| Class::Other("a legacy tensor class"))?,
            _ => Class::DType(DType::from_name(class).filter(|dtype| dtype.name() == class)?),
        },
        _ => return None,
    })
}

/// Returns the dtype of the legacy classes whose names begin with `prefix`.
fn legacy(prefix: &str) -> Option<DType> {
    let mut all = DType::ALL.iter().chain(DType::QUANTIZED).copied();
    all.find(|dtype| dtype.legacy_name() == prefix && !prefix.is_empty())
}

/// Returns the layout with this name, such as `torch.strided`.
pub(super) fn layout(name: &str) -> Option<TensorLayout> {
    let name = name.strip_prefix("torch.")?;
    TensorLayout::ALL.into_iter().find(|layout| layout.name() == name)
}
