//! The names of PyTorch's and Python's modules that hold functions.

pub use value::LIBRARY;

/// The modules that contain functions. `py` holds Python's builtins.
pub const MODULES: &[&str] = &[
    "py",
    "__future__",
    "_C",
    "_abc",
    "_json",
    "_posix",
    "_random",
    "_sre",
    "_struct",
    "_weakref",
    "accelerator",
    "array",
    "autograd",
    "autograd.function",
    "autograd.functional",
    "autograd.graph",
    "autograd.variable",
    "backends",
    "backends.cpu",
    "backends.cuda",
    "backends.cuda.matmul",
    "backends.cudnn",
    "backends.mkl",
    "backends.mkldnn",
    "backends.mps",
    "backends.nnpack",
    "backends.openmp",
    "backends.quantized",
    "builtins",
    "collections",
    "copy",
    "cpu",
    "cuda",
    "functools",
    "importlib",
    "io",
    "itertools",
    "linalg",
    "math",
    "mps",
    "nn",
    "numpy",
    "numpy.exceptions",
    "numpy.fft",
    "numpy.lib",
    "numpy.lib.npyio",
    "numpy.lib.stride_tricks",
    "numpy.linalg",
    "numpy.random",
    "numpy.testing",
    "nn.functional",
    "signal",
    "signal.windows",
    "operator",
    "safetensors",
    "safetensors.numpy",
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
    "utils.checkpoint",
    "utils.deterministic",
    "utils.dlpack",
    "version",
    "xpu",
    "_subclasses.fake_tensor",
    BELOW,
];

/// `torch._VF`: the module of the inner functions that PyTorch's Python functions call.
pub const BELOW: &str = "_VF";

/// The keywords of Python's statements and operators that are supported.
pub const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
    "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield",
];

/// Returns whether a word is a keyword of Python.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word) || matches!(word, "async" | "await")
}

/// Names that CPython's and PyTorch's modules have and ours lack. They are refused as unsupported instead of misspelt.
const ABSENT: &[(&str, &str)] = &[
    ("py", "BaseExceptionGroup ExceptionGroup __build_class__ aiter anext breakpoint copyright credits help license"),
    ("torch", "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d quasirandom"),
    ("array", "ArrayType typecodes"),
    ("autograd", "forward_ad"),
    ("nn.functional", "affine_grid grid_sample"),
    ("utils", "swap_tensors"),
    ("math", "gamma lgamma"),
];

/// Returns whether the module of CPython or PyTorch has a name that ours lacks.
pub fn is_absent(module: &str, name: &str) -> bool {
    ABSENT.iter().any(|(known, names)| *known == module && names.split_whitespace().any(|absent| absent == name))
}

/// Returns what a session does instead of importing a module that is known but not here; a sentence for the error.
pub fn instead(module: &str) -> Option<&'static str> {
    let plots = "there are no plots here; hist(x), spark(x) and heat(x) draw numbers as text, explain(x) draws memory";
    (module.split('.').next() == Some("matplotlib")).then_some(plots)
}

/// Returns the module `name` within another module.
pub fn submodule(parent: &str, name: &str) -> Option<&'static str> {
    let is_it = |module: &&str| match module.strip_suffix(name) {
        Some("") => parent == "torch" && !LIBRARY.contains(module),
        Some(before) => before.strip_suffix('.') == Some(parent),
        None => false,
    };
    if name.contains('.') { None } else { MODULES.iter().copied().find(is_it) }
}
