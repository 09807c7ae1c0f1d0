//! The one error type. Its kind is the Python class a PyTorch user would see, its message is PyTorch's text.

use std::fmt;

/// The Python exception class under which an error is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    AssertionError,
    AttributeError,
    FileNotFoundError,
    IndexError,
    KeyError,
    KeyboardInterrupt,
    LinAlgError,
    MemoryError,
    ModuleNotFoundError,
    NameError,
    NotImplementedError,
    OverflowError,
    RecursionError,
    RuntimeError,
    StopIteration,
    SyntaxError,
    SystemError,
    SystemExit,
    TypeError,
    ValueError,
    ZeroDivisionError,
}

impl ErrorKind {
    const ALL: [ErrorKind; 21] = [
        ErrorKind::AssertionError,
        ErrorKind::AttributeError,
        ErrorKind::FileNotFoundError,
        ErrorKind::IndexError,
        ErrorKind::KeyError,
        ErrorKind::KeyboardInterrupt,
        ErrorKind::LinAlgError,
        ErrorKind::MemoryError,
        ErrorKind::ModuleNotFoundError,
        ErrorKind::NameError,
        ErrorKind::NotImplementedError,
        ErrorKind::OverflowError,
        ErrorKind::RecursionError,
        ErrorKind::RuntimeError,
        ErrorKind::StopIteration,
        ErrorKind::SyntaxError,
        ErrorKind::SystemError,
        ErrorKind::SystemExit,
        ErrorKind::TypeError,
        ErrorKind::ValueError,
        ErrorKind::ZeroDivisionError,
    ];

    /// The class's name as Python prints it, e.g. `"IndexError"`.
    pub fn name(self) -> String {
        match self {
            // PyTorch's own, known to users as `torch.linalg.LinAlgError`.
            ErrorKind::LinAlgError => "_LinAlgError".to_owned(),
            builtin => format!("{builtin:?}"),
        }
    }

    /// The kind with this Python class name, if it is one of ours.
    pub fn from_name(name: &str) -> Option<ErrorKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A failed operation: what Python would raise.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
    /// What to try instead, in our words.
    pub hint: Option<Box<str>>,
}

/// What every fallible operation of the core returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), hint: None }
    }

    /// Adds advice.
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

/// `Err(Error)` of the given kind with a formatted message: `bail!(IndexError, "index {i} is …")`.
#[macro_export]
macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::tensor::Error::new($crate::tensor::ErrorKind::$kind, format!($($message)+)))
    };
}
