//! What a program asks about the libraries and devices below PyTorch. The answers are those of PyTorch on a machine
//! without other devices than its processor. Follows <https://pytorch.org/docs/2.7/backends.html>.
//!
//! The flags of these modules, such as `torch.backends.cudnn.benchmark`, are in `objects/modules.rs`.

use call::{Call, Row, function};
use tensor::{Device, Result, bail, parallel};
use value::Value;

/// A row for a function without arguments whose answer is always the same.
macro_rules! answers {
    ($($path:literal -> $kind:literal = $answer:expr, $doc:literal;)*) => {
        pub(crate) const ANSWERS: &[Row] =
            &[$(function(concat!($path, "() -> ", $kind), |_| Ok($answer), $doc)),*];
    };
}

answers! {
    "backends.cpu.get_cpu_capability" -> "any" = Value::str("AVX2"), "Returns the instructions whose results functions give.";
    "backends.cuda.is_built" -> "bool" = Value::Bool(true), "Returns whether PyTorch was built for CUDA.";
    "backends.cudnn.is_available" -> "bool" = Value::Bool(true), "Returns whether PyTorch was built with cuDNN.";
    "backends.cudnn.version" -> "int" = Value::Int(90501), "Returns the version of cuDNN.";
    "backends.mkl.is_available" -> "bool" = Value::Bool(true), "Returns whether PyTorch was built with MKL.";
    "backends.mkldnn.is_available" -> "bool" = Value::Bool(true), "Returns whether PyTorch was built with oneDNN.";
    "backends.mps.is_available" -> "bool" = Value::Bool(false), "Returns whether there is an MPS device: never here.";
    "backends.mps.is_built" -> "bool" = Value::Bool(false), "Returns whether PyTorch was built for MPS: not here.";
    "backends.nnpack.is_available" -> "bool" = Value::Bool(true), "Returns whether PyTorch was built with NNPACK.";
    "backends.openmp.is_available" -> "bool" = Value::Bool(true), "Returns whether PyTorch was built with OpenMP.";
    "accelerator.is_available" -> "bool" = Value::Bool(false), "Returns whether there is an accelerator: never here.";
    "accelerator.device_count" -> "int" = Value::Int(0), "Returns the number of accelerators: none.";
    "cpu.is_available" -> "bool" = Value::Bool(true), "Returns whether there is a processor.";
    "cpu.device_count" -> "int" = Value::Int(1), "Returns the number of processors, which count as one device.";
    "cpu.current_device" -> "any" = Value::str("cpu"), "Returns the name of the processor.";
    "cpu.synchronize" -> "None" = Value::None, "Waits for the processor, which is always done.";
    "cuda.is_available" -> "bool" = Value::Bool(false), "Returns whether there is a CUDA device: never here.";
    "cuda.device_count" -> "int" = Value::Int(0), "Returns the number of CUDA devices: none.";
    "cuda.is_initialized" -> "bool" = Value::Bool(false), "Returns whether CUDA is in use: never here.";
    "cuda.empty_cache" -> "None" = Value::None, "Gives back cached memory of CUDA devices: there is none.";
    "cuda.memory_allocated" -> "int" = Value::Int(0), "Returns the memory in use on a CUDA device: none.";
    "mps.is_available" -> "bool" = Value::Bool(false), "Returns whether there is an MPS device: never here.";
    "mps.device_count" -> "int" = Value::Int(0), "Returns the number of MPS devices: none.";
    "xpu.is_available" -> "bool" = Value::Bool(false), "Returns whether there is an XPU device: never here.";
    "xpu.device_count" -> "int" = Value::Int(0), "Returns the number of XPU devices: none.";
    "compiled_with_cxx11_abi" -> "bool" = Value::Bool(true), "Returns whether PyTorch was built with C++11's strings.";
    "_C._get_tracing_state" -> "any" = Value::None, "Returns what is being traced: nothing.";
    "_C._is_torch_function_enabled" -> "bool" = Value::Bool(true), "Returns whether classes may override functions.";
    "_C._cuda_getDeviceCount" -> "int" = Value::Int(0), "Returns the number of CUDA devices: none.";
}

/// The rows that get and set a flag of `torch.__future__`. Modules of networks would obey it.
macro_rules! future {
    ($($flag:literal;)*) => {
        pub(crate) const FUTURE: &[Row] = &[$(
            function(
                concat!("__future__.get_", $flag, "() -> any"),
                |c| Ok(c.state.flag(concat!("__future__.", $flag)).unwrap_or(Value::Bool(false))),
                concat!("Returns the flag ", $flag, "."),
            )
            .python(concat!("get_", $flag)),
            function(
                concat!("__future__.set_", $flag, "(any value) -> None"),
                |c| {
                    c.state.set_flag(concat!("__future__.", $flag), c.value(0));
                    Ok(Value::None)
                },
                concat!("Sets the flag ", $flag, "."),
            )
            .python(concat!("set_", $flag)),
        )*];
    };
}

future! {
    "overwrite_module_params_on_conversion";
    "swap_module_params_on_conversion";
}

pub(crate) const ROWS: &[Row] = &[
    function("get_num_threads() -> int", |_| threads(), "Returns on how many cores a loop may run."),
    function("get_num_interop_threads() -> int", |_| threads(), "Returns how many functions may run side by side."),
    function(
        "set_num_threads(any[] threads) -> None",
        |c| {
            parallel::set_cores(thread_count(c, "set_num_threads")?);
            Ok(Value::None)
        },
        "Sets on how many cores a loop may run. Results do not depend on it.",
    ),
    function(
        "set_num_interop_threads(any[] threads) -> None",
        |c| thread_count(c, "set_num_interop_threads").map(|_| Value::None),
        "Accepts a number of cores; functions never run side by side here.",
    ),
    function(
        "get_float32_matmul_precision() -> any",
        |c| Ok(c.state.flag("float32_matmul_precision").unwrap_or_else(|| Value::str("highest"))),
        "Returns the precision that products of matrices need.",
    ),
    function(
        "set_float32_matmul_precision(any precision) -> None",
        |c| {
            let precision = c.value(0);
            match &precision {
                Value::Str(text) if matches!(&**text, "highest" | "high" | "medium") => {
                    c.state.set_flag("float32_matmul_precision", precision)
                }
                Value::Str(text) => c.state.warn_once(
                    "UserWarning",
                    format!(
                        "{text} is not one of 'highest', 'high', or 'medium'; the currentsetFloat32MatmulPrecision call \
                         has no effect. (Triggered internally at /pytorch/aten/src/ATen/Context.cpp:416.)"
                    ),
                ),
                other => bail!(
                    RuntimeError,
                    "set_float32_matmul_precision expects a str, but got {}",
                    other.type_name()
                ),
            }
            Ok(Value::None)
        },
        "Sets the precision that products of matrices need. The processor's are always the highest.",
    )
    .python("set_float32_matmul_precision"),
    function(
        "cuda.manual_seed(any seed) -> None",
        |_| Ok(Value::None),
        "Seeds the generator of a CUDA device: there is none.",
    )
    .python("manual_seed"),
    function(
        "cuda.manual_seed_all(any seed) -> None",
        |_| Ok(Value::None),
        "Seeds the generators of all CUDA devices: there are none.",
    )
    .python("manual_seed_all"),
    function("cuda.current_device() -> int", |_| no_cuda(), "Returns the current CUDA device: there is none."),
    function("cuda.synchronize(any device=None) -> None", |_| no_cuda(), "Waits for a CUDA device: there is none.")
        .python("synchronize"),
];

fn threads() -> Result<Value> {
    Ok(Value::Int(i64::try_from(parallel::cores()).unwrap_or(i64::MAX)))
}

/// Returns the only argument of a call as a number of threads.
fn thread_count(call: &Call, name: &str) -> Result<usize> {
    let args = call.value(0).sequence().unwrap_or_default();
    let [count] = args.as_slice() else {
        bail!(TypeError, "torch.{name}() takes exactly one argument ({} given)", args.len());
    };
    match count {
        Value::Int(count) if *count > 0 => Ok(usize::try_from(*count).unwrap_or(usize::MAX)),
        Value::Int(_) => bail!(RuntimeError, "{name} expects a positive integer"),
        other => bail!(RuntimeError, "{name} expects an int, but got {}", other.type_name()),
    }
}

fn no_cuda() -> Result<Value> {
    Device::parse("cuda")?.available().map(Value::Device)
}
