//! Members of modules that are not functions: constants, classes, dtypes, layouts and modules within modules.

use crate::legacy_classes::{cuda_class, cuda_tensor_class, legacy_class, legacy_tensor_class, sparse_tensor_class};
use call::State;
use std::rc::Rc;
use tensor::system::{Machine, System};
use tensor::{DType, Result, bail};
use value::{MemoryFormat, NamedTuple, Object, TensorLayout, Value};

/// The class that scripts subclass to define their own autograd functions.
pub const FUNCTION: &str = "torch.autograd.function.Function";
/// The class of the `ctx` argument.
pub const CONTEXT: &str = "torch.autograd.function.FunctionCtx";

/// The version of PyTorch whose behaviour this is.
const VERSION: &str = "2.7.0";

/// The libraries that could compute with quantized numbers.
const QUANTIZED_ENGINES: [&str; 5] = ["qnnpack", "none", "onednn", "x86", "fbgemm"];

/// Checks a value that is assigned to an attribute of a module. Most modules accept any.
///
/// # Errors
/// RuntimeError in PyTorch's words for a flag of another type.
pub(crate) fn check_flag(state: &State, module: &'static str, name: &str, value: &Value) -> Result<()> {
    let library = match (module, name) {
        ("utils.deterministic", "fill_uninitialized_memory") => match value {
            Value::Bool(_) => return Ok(()),
            other => bail!(RuntimeError, "expected a bool, but got {}", other.type_name()),
        },
        ("backends.cudnn", "allow_tf32") | ("backends.cuda.matmul", _) => "cublas",
        ("backends.cudnn", _) => "cudnn",
        ("backends.mkldnn", _) => "mkldnn",
        ("backends.quantized", "engine") => {
            return match value {
                Value::Str(engine) if QUANTIZED_ENGINES.contains(&&**engine) => Ok(()),
                other => bail!(RuntimeError, "{} is not a valid value for quantized engine", state.str(other)?),
            };
        }
        _ => return Ok(()),
    };
    match (module_value(module, name), value) {
        (Some(Value::Bool(_)), Value::Bool(_)) | (Some(Value::Int(_)), Value::Int(_)) | (None, _) => Ok(()),
        (wanted, other) => {
            let kind = if matches!(wanted, Some(Value::Int(_))) { "an int" } else { "a bool" };
            bail!(RuntimeError, "set_{name}_{library} expects {kind}, but got {}", other.type_name())
        }
    }
}

/// Python's own classes.
pub const CLASSES: [&str; 21] = [
    "float",
    "int",
    "bool",
    "complex",
    "str",
    "list",
    "tuple",
    "dict",
    "bytes",
    "bytearray",
    "memoryview",
    "range",
    "slice",
    "type",
    "object",
    "set",
    "frozenset",
    "property",
    "classmethod",
    "staticmethod",
    "super",
];

/// Returns a member of `builtins` that is not a function.
fn builtin(name: &str) -> Option<Value> {
    module_value("py", name).or_else(|| crate::plain::exceptions::builtin(name).map(Value::Type))
}

/// Returns a member of a module that is neither a function nor a dtype.
pub fn module_value(module: &'static str, name: &str) -> Option<Value> {
    Some(match (module, name) {
        ("sys", "byteorder") => Value::str(if cfg!(target_endian = "little") { "little" } else { "big" }),
        ("sys", "hexversion") => Value::Int(0x030B_07F0),
        ("sys", "maxunicode") => Value::Int(0x10_FFFF),
        ("sys", "version") => Value::str("3.11.7 (tensorsh)"),
        ("sys", "version_info") => {
            let [major, minor, micro, serial] = [3, 11, 7, 0].map(Value::Int);
            let fields = vec![
                ("major", major),
                ("minor", minor),
                ("micro", micro),
                ("releaselevel", Value::str("final")),
                ("serial", serial),
            ];
            Value::NamedTuple(Rc::new(NamedTuple { type_name: "sys.version_info", fields }))
        }
        ("sys", "maxsize") => Value::Int(i64::MAX),
        ("sys", "platform") => Value::str(System::NAME),
        ("builtins", _) if let Some(value) = builtin(name) => value,
        ("math", "tau") => Value::Float(std::f64::consts::TAU),
        ("nn", "Parameter") => Value::Type("torch.nn.parameter.Parameter"),
        ("torch" | "math", "pi") => Value::Float(std::f64::consts::PI),
        ("torch" | "math", "e") => Value::Float(std::f64::consts::E),
        ("torch" | "math", "inf") => Value::Float(f64::INFINITY),
        ("torch" | "math", "nan") => Value::Float(f64::NAN),
        ("backends.cudnn", "enabled" | "allow_tf32") => Value::Bool(true),
        ("backends.cudnn", "benchmark" | "deterministic") => Value::Bool(false),
        ("backends.cudnn", "benchmark_limit") => Value::Int(10),
        ("backends.cuda.matmul", "allow_tf32") => Value::Bool(false),
        (
            "backends.cuda.matmul",
            "allow_fp16_reduced_precision_reduction" | "allow_bf16_reduced_precision_reduction",
        ) => Value::Bool(true),
        ("backends.mkldnn", "enabled") => Value::Bool(true),
        ("backends.mkldnn", "deterministic") => Value::Bool(false),
        ("backends.quantized", "engine") => Value::str("x86"),
        ("backends.quantized", "supported_engines") => Value::List(QUANTIZED_ENGINES.map(Value::str).to_vec().into()),
        ("utils.deterministic", "fill_uninitialized_memory") => Value::Bool(true),
        ("version", "__version__") => Value::str(VERSION),
        ("version", "debug") => Value::Bool(false),
        ("version", "cuda" | "hip" | "xpu") => Value::None,
        ("torch", "has_mkl" | "has_openmp" | "has_lapack" | "has_spectral") => Value::Bool(true),
        ("_C", "has_mkl" | "has_openmp" | "has_lapack" | "_has_mkldnn") => Value::Bool(true),
        ("_C", "Generator") => Value::Type("torch._C.Generator"),
        ("_C", "TensorBase" | "_TensorBase") => Value::Type("torch._C.TensorBase"),
        ("autograd" | "autograd.variable", "Variable") => Value::Type("torch.autograd.variable.Variable"),
        ("autograd" | "autograd.function", "Function") => Value::Type(FUNCTION),
        ("autograd.function", "FunctionCtx") => Value::Type(CONTEXT),
        ("autograd.function", "once_differentiable") => Value::Function("autograd.function.once_differentiable".into()),
        ("autograd.graph", "Node") => Value::Type("torch.autograd.graph.Node"),
        ("torch", "newaxis") => Value::None,
        ("torch", "__version__") => Value::str(VERSION),
        ("torch", "Tensor") => Value::Type("torch.Tensor"),
        ("torch", "Size") => Value::Type("torch.Size"),
        ("torch", "dtype") => Value::Type("torch.dtype"),
        ("torch", "layout") => Value::Type("torch.layout"),
        ("torch", "memory_format") => Value::Type("torch.memory_format"),
        ("torch", "device") => Value::Type("torch.device"),
        ("torch", "Generator") => Value::Type("torch._C.Generator"),
        ("torch" | "storage", "UntypedStorage") => Value::Type("torch.storage.UntypedStorage"),
        ("torch" | "storage", "TypedStorage") => Value::Type("torch.storage.TypedStorage"),
        ("collections", "OrderedDict") => Value::Type("collections.OrderedDict"),
        ("storage", "_LegacyStorage") => Value::Type("torch.storage._LegacyStorage"),
        ("torch", class) if class.ends_with("Storage") => Value::Type(legacy_class(class)?),
        ("torch", class) if class.ends_with("Tensor") => Value::Type(legacy_tensor_class(class)?.0),
        ("_subclasses.fake_tensor", "FakeTensorMode") => Value::Type("torch._subclasses.fake_tensor.FakeTensorMode"),
        ("_subclasses.fake_tensor", "FakeTensor") => Value::Type("torch._subclasses.fake_tensor.FakeTensor"),
        ("cuda", class) if class.ends_with("Storage") => Value::Type(cuda_class(class)?),
        ("sparse", class) if class.ends_with("Tensor") => Value::Type(sparse_tensor_class(class)?),
        ("cuda", class) if class.ends_with("Tensor") => Value::Type(cuda_tensor_class(class)?),
        (parent, module) if parent != "py" && call::submodule(parent, module).is_some() => {
            Value::Module(call::submodule(parent, module)?)
        }
        ("py", class) => Value::Type(CLASSES.into_iter().find(|known| *known == class)?),
        ("linalg" | "_C", error) => {
            Value::Type(crate::plain::exceptions::class(error).filter(|class| class.ends_with("._LinAlgError"))?)
        }
        ("io", "UnsupportedOperation") => Value::Type("io.UnsupportedOperation"),
        ("array", "array") => Value::Type("array.array"),
        ("safetensors", "SafetensorError") => Value::Type(crate::plain::exceptions::class(name)?),
        ("safetensors", "__version__") => Value::str("0.8.0"),
        _ => return None,
    })
}

/// Returns a member of `torch` that is not a function: a dtype, layout, memory format or quantization scheme.
pub fn member(name: &str) -> Option<Value> {
    DType::from_name(name)
        .map(Value::DType)
        .or_else(|| TensorLayout::ALL.into_iter().find(|l| l.name() == name).map(Value::Layout))
        .or_else(|| MemoryFormat::ALL.into_iter().find(|m| m.name() == name).map(Value::MemoryFormat))
        .or_else(|| scheme(name))
}

/// The names of all quantization schemes, without the prefix `torch.`.
pub const SCHEMES: [&str; 5] = [
    "per_tensor_affine",
    "per_channel_affine",
    "per_channel_affine_float_qparams",
    "per_tensor_symmetric",
    "per_channel_symmetric",
];

/// Returns the quantization scheme of this name.
pub fn scheme(name: &str) -> Option<Value> {
    SCHEMES.into_iter().find(|scheme| *scheme == name).map(|scheme| Value::Object(Rc::new(Scheme(scheme))))
}

/// A value of class `torch.qscheme`, which has only a name.
struct Scheme(&'static str);

impl Object for Scheme {
    fn type_name(&self) -> &str {
        "torch.qscheme"
    }
    fn repr(&self) -> String {
        format!("torch.{}", self.0)
    }
    fn identity(&self) -> Option<usize> {
        Some(self.0.as_ptr() as usize)
    }
}
