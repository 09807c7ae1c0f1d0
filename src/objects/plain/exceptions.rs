//! Python's exception classes by name, with their base classes.

/// Every exception class, with its base class.
const CLASSES: &[(&str, &str)] = &[
    ("BaseException", "object"),
    ("Exception", "BaseException"),
    ("GeneratorExit", "BaseException"),
    ("KeyboardInterrupt", "BaseException"),
    ("SystemExit", "BaseException"),
    ("ArithmeticError", "Exception"),
    ("AssertionError", "Exception"),
    ("AttributeError", "Exception"),
    ("BufferError", "Exception"),
    ("EOFError", "Exception"),
    ("ImportError", "Exception"),
    ("LookupError", "Exception"),
    ("MemoryError", "Exception"),
    ("NameError", "Exception"),
    ("OSError", "Exception"),
    ("ReferenceError", "Exception"),
    ("RuntimeError", "Exception"),
    ("StopAsyncIteration", "Exception"),
    ("StopIteration", "Exception"),
    ("SyntaxError", "Exception"),
    ("SystemError", "Exception"),
    ("TypeError", "Exception"),
    ("ValueError", "Exception"),
    ("Warning", "Exception"),
    ("FloatingPointError", "ArithmeticError"),
    ("OverflowError", "ArithmeticError"),
    ("ZeroDivisionError", "ArithmeticError"),
    ("ModuleNotFoundError", "ImportError"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("UnboundLocalError", "NameError"),
    ("BlockingIOError", "OSError"),
    ("ChildProcessError", "OSError"),
    ("ConnectionError", "OSError"),
    ("BrokenPipeError", "ConnectionError"),
    ("ConnectionAbortedError", "ConnectionError"),
    ("ConnectionRefusedError", "ConnectionError"),
    ("ConnectionResetError", "ConnectionError"),
    ("ProcessLookupError", "OSError"),
    ("FileExistsError", "OSError"),
    ("FileNotFoundError", "OSError"),
    ("InterruptedError", "OSError"),
    ("IsADirectoryError", "OSError"),
    ("NotADirectoryError", "OSError"),
    ("PermissionError", "OSError"),
    ("TimeoutError", "OSError"),
    ("NotImplementedError", "RuntimeError"),
    ("RecursionError", "RuntimeError"),
    ("IndentationError", "SyntaxError"),
    ("TabError", "IndentationError"),
    ("UnicodeError", "ValueError"),
    ("UnicodeDecodeError", "UnicodeError"),
    ("UnicodeEncodeError", "UnicodeError"),
    ("UnicodeTranslateError", "UnicodeError"),
    ("BytesWarning", "Warning"),
    ("DeprecationWarning", "Warning"),
    ("EncodingWarning", "Warning"),
    ("ImportWarning", "Warning"),
    ("PendingDeprecationWarning", "Warning"),
    ("ResourceWarning", "Warning"),
    ("SyntaxWarning", "Warning"),
    ("UnicodeWarning", "Warning"),
    ("FutureWarning", "Warning"),
    ("RuntimeWarning", "Warning"),
    ("UserWarning", "Warning"),
    ("torch._C._LinAlgError", "RuntimeError"),
    ("torch.OutOfMemoryError", "RuntimeError"),
    ("torch.autograd.gradcheck.GradcheckError", "RuntimeError"),
    ("torch.utils.checkpoint.CheckpointError", "RuntimeError"),
    ("numpy._core._exceptions.UFuncTypeError", "TypeError"),
    ("numpy.exceptions.AxisError", "ValueError"),
    ("numpy.exceptions.ComplexWarning", "RuntimeWarning"),
    ("numpy.exceptions.VisibleDeprecationWarning", "UserWarning"),
    ("numpy.linalg.LinAlgError", "ValueError"),
    ("_pickle.UnpicklingError", "Exception"),
    ("io.UnsupportedOperation", "OSError"),
    ("safetensors._safetensors_rust.SafetensorError", "Exception"),
    ("zipfile.BadZipFile", "Exception"),
];

/// Finds an exception class by its full name or by its last component.
pub fn class(name: &str) -> Option<&'static str> {
    let name = match name {
        "IOError" | "EnvironmentError" => "OSError",
        "LinAlgError" => "_LinAlgError",
        other => other,
    };
    let is = |known: &str| known == name || known.rsplit('.').next() == Some(name);
    CLASSES.iter().map(|(class, _)| *class).find(|class| is(class))
}

/// Returns the names of all exception classes without a module prefix.
pub fn all() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|(class, _)| *class).filter(|class| !class.contains('.'))
}

/// Finds an exception class that has no module prefix.
pub fn builtin(name: &str) -> Option<&'static str> {
    class(name).filter(|class| !class.contains('.'))
}

pub fn is_class(name: &str) -> bool {
    CLASSES.iter().any(|(class, _)| *class == name)
}

/// Returns the base class of an exception class.
pub fn parent(name: &str) -> Option<&'static str> {
    CLASSES.iter().find(|(class, _)| *class == name).map(|(_, parent)| *parent)
}
