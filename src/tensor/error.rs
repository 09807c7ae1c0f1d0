//! The only error type. Its kind is the Python class that PyTorch raises; its message is PyTorch's text.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

/// The Python exception class under which an error is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    AssertionError,
    AttributeError,
    EOFError,
    FileNotFoundError,
    GradcheckError,
    IndexError,
    IsADirectoryError,
    KeyError,
    KeyboardInterrupt,
    LinAlgError,
    MemoryError,
    ModuleNotFoundError,
    NameError,
    NotImplementedError,
    OSError,
    OverflowError,
    PermissionError,
    RecursionError,
    RuntimeError,
    SafetensorError,
    StopIteration,
    SyntaxError,
    SystemError,
    SystemExit,
    TypeError,
    UnpicklingError,
    ValueError,
    ZeroDivisionError,
    /// Any other class, named: of Python, or of a script.
    Other(&'static str),
}

impl ErrorKind {
    const ALL: [ErrorKind; 28] = [
        ErrorKind::AssertionError,
        ErrorKind::AttributeError,
        ErrorKind::EOFError,
        ErrorKind::FileNotFoundError,
        ErrorKind::GradcheckError,
        ErrorKind::IndexError,
        ErrorKind::IsADirectoryError,
        ErrorKind::KeyError,
        ErrorKind::KeyboardInterrupt,
        ErrorKind::LinAlgError,
        ErrorKind::MemoryError,
        ErrorKind::ModuleNotFoundError,
        ErrorKind::NameError,
        ErrorKind::NotImplementedError,
        ErrorKind::OSError,
        ErrorKind::OverflowError,
        ErrorKind::PermissionError,
        ErrorKind::RecursionError,
        ErrorKind::RuntimeError,
        ErrorKind::SafetensorError,
        ErrorKind::StopIteration,
        ErrorKind::SyntaxError,
        ErrorKind::SystemError,
        ErrorKind::SystemExit,
        ErrorKind::TypeError,
        ErrorKind::UnpicklingError,
        ErrorKind::ValueError,
        ErrorKind::ZeroDivisionError,
    ];

    /// Returns the class's name as Python prints it, e.g. `"IndexError"`.
    pub fn name(self) -> String {
        match self {
            // PyTorch's own class, known to users as `torch.linalg.LinAlgError`.
            ErrorKind::LinAlgError => "_LinAlgError".to_owned(),
            ErrorKind::Other(name) => name.to_owned(),
            builtin => format!("{builtin:?}"),
        }
    }

    /// Returns the kind with this Python class name, if it is one of ours.
    pub fn from_name(name: &str) -> Option<ErrorKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The backends that every operation is "available for", besides the devices that compute it.
const BACKENDS_OF_ALL: &str = "BackendSelect, Python, FuncTorchDynamicLayerBackMode, Functionalize, Named, Conjugate, \
    Negative, ZeroTensor, ADInplaceOrView, AutogradOther, AutogradCPU, AutogradCUDA, AutogradHIP, AutogradXLA, \
    AutogradMPS, AutogradIPU, AutogradXPU, AutogradHPU, AutogradVE, AutogradLazy, AutogradMTIA, AutogradPrivateUse1, \
    AutogradPrivateUse2, AutogradPrivateUse3, AutogradMeta, AutogradNestedTensor, Tracer, AutocastCPU, AutocastMTIA, \
    AutocastXPU, AutocastMPS, AutocastCUDA, FuncTorchBatched, BatchedNestedTensor, FuncTorchVmapMode, Batched, VmapMode, \
    FuncTorchGradWrapper, PythonTLSSnapshot, FuncTorchDynamicLayerFrontMode, PreDispatch, PythonDispatcher";

/// A failed operation, with the content of a Python exception.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
    /// A suggestion of what to try instead, in our own words.
    pub hint: Option<Box<str>>,
    /// The exception object, if a script raised the error; for a KeyError of ours, the key.
    pub raised: Option<Raised>,
}

/// An object of a script that was raised as an error; only the script knows its type.
#[derive(Clone)]
pub struct Raised(pub Rc<dyn Any>);

impl fmt::Debug for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an exception")
    }
}

impl PartialEq for Raised {
    fn eq(&self, other: &Raised) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// An error without the script's object, which can be sent to another thread.
pub struct SendableError {
    kind: ErrorKind,
    message: String,
    hint: Option<Box<str>>,
}

impl SendableError {
    pub fn of(error: Error) -> SendableError {
        SendableError { kind: error.kind, message: error.message, hint: error.hint }
    }

    pub fn error(self) -> Error {
        Error { hint: self.hint, ..Error::new(self.kind, self.message) }
    }
}

/// The result of every fallible operation of the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), hint: None, raised: None }
    }

    /// Adds a hint.
    pub fn with_hint(self, hint: impl Into<Box<str>>) -> Error {
        Error { hint: Some(hint.into()), ..self }
    }

    pub fn runtime(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::RuntimeError, message)
    }

    pub fn type_error(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::TypeError, message)
    }

    pub fn value(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::ValueError, message)
    }

    pub fn index(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::IndexError, message)
    }

    pub fn not_implemented(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::NotImplementedError, message)
    }

    /// Returns PyTorch's error for an operation that exists, but not for this kind of tensor.
    pub fn no_backend(operation: &str, backend: &str) -> Error {
        let lines = include_str!("backends.txt").lines().filter_map(|line| line.split_once(": "));
        let named = lines.into_iter().find(|(_, operations)| operations.split(' ').any(|one| one == operation));
        let devices = named.map_or("CPU, CUDA, Meta", |(devices, _)| devices);
        Error::not_implemented(format!(
            "Could not run 'aten::{operation}' with arguments from the '{backend}' backend. This could be because the \
             operator doesn't exist for this backend, or was omitted during the selective/custom build process (if \
             using custom build). If you are a Facebook employee using PyTorch on mobile, please visit \
             https://fburl.com/ptmfixes for possible resolutions. 'aten::{operation}' is only available for these \
             backends: [{devices}, {BACKENDS_OF_ALL}]."
        ))
    }

    pub fn attribute(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::AttributeError, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            write!(f, "{:?}", self.kind)
        } else {
            write!(f, "{:?}: {}", self.kind, self.message)
        }
    }
}

impl std::error::Error for Error {}

/// Returns `Err(Error)` of the given kind with a formatted message: `bail!(IndexError, "index {i} is …")`.
#[macro_export]
macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::Error::new($crate::ErrorKind::$kind, format!($($message)+)))
    };
}
