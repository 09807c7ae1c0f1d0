//! The names of PyTorch's and Python's modules that hold functions.

pub use crate::value::LIBRARY;

/// Modules a name may be reached through; `py` holds Python's builtins.
pub const MODULES: &[&str] = &[
    "py",
    "array",
    "autograd",
    "autograd.function",
    "autograd.functional",
    "autograd.graph",
    "collections",
    "copy",
    "cuda",
    "functools",
    "io",
    "itertools",
    "linalg",
    "math",
    "nn",
    "numpy",
    "nn.functional",
    "signal",
    "signal.windows",
    "operator",
    "safetensors",
    "safetensors.torch",
    "storage",
    "sys",
    "serialization",
    "tempfile",
    "testing",
    "time",
    "sparse",
    "special",
    "fft",
    "func",
    "utils",
    "utils.dlpack",
    "_subclasses.fake_tensor",
    BELOW,
];

/// `torch._VF`: what a function that PyTorch writes in Python hands on to.
pub const BELOW: &str = "_VF";

/// The module `name` inside of another.
pub fn submodule(parent: &str, name: &str) -> Option<&'static str> {
    MODULES.iter().copied().find(|module| match module.rsplit_once('.') {
        Some((outer, inner)) => outer == parent && inner == name,
        None => parent == "torch" && *module == name && !LIBRARY.contains(module),
    })
}
