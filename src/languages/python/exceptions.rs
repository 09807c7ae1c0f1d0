//! Exceptions: converts between our errors and the objects that a script raises and catches. An error that began as an
//! object keeps the object.

use super::class::{Base, Entry, Instance, instance_of};
use super::construct::construct;
use super::finalisers::OuterRelease;
use super::machine::Machine;
use super::syntax::SyntaxFault;
use call::stack;
use explain::format;
pub use objects::plain::exceptions::{builtin, class, is_class};
use std::rc::Rc;
use tensor::{Error, ErrorKind, Raised, Result, bail, interrupt};
use value::{Keywords, List, Value};

/// Creates an exception of a builtin class.
pub fn new(class: &'static str, args: Vec<Value>) -> Rc<Instance> {
    let class = match (class, args.as_slice()) {
        ("OSError", [Value::Int(number), _, ..]) => of_number(*number),
        ("OSError", [Value::Bool(number), _, ..]) => of_number(i64::from(*number)),
        (class, _) => class,
    };
    let exception = Instance::new(Base::Builtin(class));
    set_args(&exception, args);
    exception
}

/// Returns the class for an operating system's error number.
fn of_number(number: i64) -> &'static str {
    match number {
        1 | 13 => "PermissionError",
        2 => "FileNotFoundError",
        4 => "InterruptedError",
        3 => "ProcessLookupError",
        10 => "ChildProcessError",
        11 => "BlockingIOError",
        17 => "FileExistsError",
        20 => "NotADirectoryError",
        21 => "IsADirectoryError",
        32 => "BrokenPipeError",
        103 => "ConnectionAbortedError",
        104 => "ConnectionResetError",
        110 => "TimeoutError",
        111 => "ConnectionRefusedError",
        _ => "OSError",
    }
}

pub(crate) fn set_args(exception: &Instance, mut args: Vec<Value>) {
    if exception.class.derives_builtin("OSError") && (3..=5).contains(&args.len()) {
        exception.fields.set("filename", args.get(2).cloned().unwrap_or(Value::None));
        if let Some(second) = args.get(4) {
            exception.fields.set("filename2", second.clone());
        }
        args.truncate(2);
    }
    if exception.class.derives_builtin("StopIteration") {
        exception.fields.set("value", args.first().cloned().unwrap_or(Value::None));
    }
    if exception.class.derives_builtin("SystemExit") {
        let code =
            if args.len() > 1 { Value::tuple(args.clone()) } else { args.first().cloned().unwrap_or(Value::None) };
        exception.fields.set("code", code);
    }
    exception.fields.set("args", Value::tuple(args));
}

/// Returns the error number or its description. The file name, if any, is a field.
pub(crate) fn part_of_os_error(exception: &Instance, name: &str) -> Value {
    match (name, args_of(exception).as_slice()) {
        ("errno", [number, _]) => number.clone(),
        ("strerror", [_, reason]) => reason.clone(),
        _ => Value::None,
    }
}

fn args_of(exception: &Instance) -> Vec<Value> {
    exception.fields.get("args").and_then(|args| args.sequence()).unwrap_or_default()
}

/// `exception.add_note(note)`
///
/// # Errors
/// Fails with TypeError if `__notes__` is not a list.
pub(crate) fn add_note(exception: &Instance, note: &Value) -> Result<()> {
    let notes = match exception.fields.get("__notes__") {
        None => List::default(),
        Some(Value::List(notes)) => notes,
        Some(_) => bail!(TypeError, "Cannot add note: __notes__ is not a list"),
    };
    notes.change(|notes| notes.push(note.clone()))?;
    exception.fields.set("__notes__", Value::List(notes));
    Ok(())
}

/// `str(exception)`
pub fn text(exception: &Instance) -> Result<String> {
    check_room()?;
    match args_of(exception).as_slice() {
        [] => Ok(String::new()),
        // The missing key of a KeyError is shown with `repr`.
        [only] if exception.class.derives_builtin("KeyError") => format::repr_by_default(only),
        [only] => format::plain_text(only),
        [number, reason] if exception.class.derives_builtin("OSError") => {
            let about = match exception.fields.get("filename") {
                Some(file) => {
                    let second = match exception.fields.get("filename2") {
                        Some(second) => format!(" -> {}", format::repr_by_default(&second)?),
                        None => String::new(),
                    };
                    format!(": {}{second}", format::repr_by_default(&file)?)
                }
                None => String::new(),
            };
            Ok(format!("[Errno {}] {}{about}", format::plain_text(number)?, format::plain_text(reason)?))
        }
        several => format::repr_by_default(&Value::tuple(several.iter().cloned())),
    }
}

/// `repr(exception)`
pub fn repr(exception: &Instance) -> Result<String> {
    check_room()?;
    let shown = args_of(exception).iter().map(format::repr_by_default).collect::<Result<Vec<_>>>()?;
    Ok(format!("{}({})", exception.class.name(), shown.join(", ")))
}

/// Checks the stack: an exception may contain another exception, or itself.
fn check_room() -> Result<()> {
    if !stack::has_room() {
        bail!(RecursionError, "maximum recursion depth exceeded while getting the repr of an object");
    }
    Ok(())
}

/// Returns the last line of a traceback: the class and the message.
pub(crate) fn last_line(exception: &Instance) -> String {
    let (class, text) = (exception.class.name(), text(exception).unwrap_or_default());
    if text.is_empty() { class.to_owned() } else { format!("{class}: {text}") }
}

/// Converts an exception to an error.
pub(crate) fn to_error(exception: &Rc<Instance>) -> Error {
    let mut message = match exception.method("__str__", Vec::new()) {
        Some(Ok(Value::Str(text))) => text.to_string(),
        None => String::new(),
        // The same text as Python's.
        _ => "<exception str() failed>".to_owned(),
    };
    let notes = exception.fields.get("__notes__").and_then(|notes| notes.sequence()).unwrap_or_default();
    for note in notes {
        message.push('\n');
        message.push_str(&format::plain_text(&note).unwrap_or_default());
    }
    let name = exception.class.name();
    let kind = match &exception.class {
        Base::Builtin(_) => ErrorKind::from_name(name).unwrap_or(ErrorKind::Other(name)),
        Base::User(_) if exception.class.derives_builtin("StopIteration") => ErrorKind::StopIteration,
        Base::User(_) if exception.class.derives_builtin("SystemExit") => ErrorKind::SystemExit,
        // A traceback shows a class with its module.
        Base::User(class) => ErrorKind::Other(class.qualified()),
    };
    Error { raised: Some(Raised(exception.clone())), ..Error::new(kind, message) }
}

/// Converts an error to an exception: the original object, if the error began as one.
pub fn of_error(error: &Error) -> Rc<Instance> {
    if let Some(exception) = error.raised.as_ref().and_then(|raised| raised.0.clone().downcast::<Instance>().ok()) {
        return exception;
    }
    if let Some(key) = error.raised.as_ref().and_then(|raised| raised.0.downcast_ref::<Value>()) {
        return new("KeyError", vec![key.clone()]);
    }
    let name = error.kind.name();
    let class = class(&name).unwrap_or("RuntimeError");
    let message = error.message.as_str();
    // The system's errors say their number and file in the message.
    if let Some((number, rest)) = message.strip_prefix("[Errno ").and_then(|rest| rest.split_once("] "))
        && Base::Builtin(class).derives_builtin("OSError")
        && let Ok(number) = number.parse::<i64>()
    {
        let (reason, file) = match rest.split_once(": '") {
            Some((reason, file)) => (reason, file.strip_suffix('\'')),
            None => (rest, None),
        };
        let args = [Value::Int(number), Value::str(reason)].into_iter().chain(file.map(Value::str));
        return new("OSError", args.collect());
    }
    let arg = match message.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(key) if class == "KeyError" => Value::str(key),
        _ => match message.parse::<i64>() {
            Ok(key) if class == "KeyError" => Value::Int(key),
            _ => Value::str(message),
        },
    };
    let exception = new(class, if message.is_empty() { Vec::new() } else { vec![arg] });
    if matches!(class, "NameError" | "AttributeError" | "UnboundLocalError" | "ImportError" | "ModuleNotFoundError") {
        // The name is only in the message.
        exception.fields.set("name", Value::str(message.split('\'').rev().nth(1).unwrap_or_default()));
    }
    exception
}

/// Returns the exception that `raise value from cause` raises.
///
/// # Errors
/// Fails with TypeError if the value is not an exception, and with errors of its constructor.
pub fn raise(value: &Value, cause: Option<&Value>) -> Result<Rc<Instance>> {
    let exception =
        exception_of(value)?.ok_or_else(|| Error::type_error("exceptions must derive from BaseException"))?;
    if let Some(cause) = cause {
        let cause = match (cause, exception_of(cause)?) {
            (Value::None, _) => Value::None,
            (_, Some(cause)) => Value::Object(cause),
            _ => bail!(TypeError, "exception causes must derive from BaseException"),
        };
        exception.fields.set("__cause__", cause);
        exception.fields.set("__suppress_context__", Value::Bool(true));
    }
    Ok(exception)
}

/// Returns the value if it is an exception, or a new exception if it is an exception class. `None` for any other value.
fn exception_of(value: &Value) -> Result<Option<Rc<Instance>>> {
    let value = match Base::of(value) {
        Some(Base::Builtin(name)) if is_class(name) => return Ok(Some(new(name, Vec::new()))),
        Some(Base::User(class)) if Base::User(class.clone()).derives_builtin("BaseException") => {
            construct(&class, Vec::new(), Keywords::new())?
        }
        _ => value.clone(),
    };
    Ok(instance_of(&value).filter(|instance| instance.is_exception()))
}

/// Returns whether an `except` clause with this class, or tuple of classes, catches an exception.
///
/// # Errors
/// Fails with TypeError for anything other than exception classes.
pub fn matches(exception: &Rc<Instance>, classes: &Value) -> Result<bool> {
    let classes = match classes {
        Value::Tuple(items) => items,
        single => std::slice::from_ref(single),
    };
    let mut found = false;
    for class in classes {
        match Base::of(class).filter(|class| class.derives_builtin("BaseException")) {
            Some(class) => found |= exception.class.derives(&class),
            None => bail!(TypeError, "catching classes that do not inherit from BaseException is not allowed"),
        }
    }
    Ok(found)
}

/// Returns the exception for a text that cannot be compiled. Its message names the file and the line.
pub(super) fn of_fault(fault: &SyntaxFault, text: &str, file: &str) -> Error {
    let line = text.get(..fault.offset).unwrap_or_default().matches('\n').count() + 1;
    let kind = match fault.kind {
        "KeyboardInterrupt" => return Error::new(ErrorKind::KeyboardInterrupt, ""),
        "NotImplementedError" => ErrorKind::NotImplementedError,
        "SyntaxError" => ErrorKind::SyntaxError,
        kind => ErrorKind::Other(kind),
    };
    Error::new(kind, format!("{} ({file}, line {line})", fault.message))
}

impl Machine {
    /// Sets what drops the copies of variables that are stored elsewhere, so that a last reference can go while code runs.
    pub fn set_release(&self, release: Rc<OuterRelease>) {
        self.finalisers.release.replace(Some(release));
    }

    /// Queues an object for its `__del__`. Called while values are dropped, when no code can run.
    pub(crate) fn finalise_later(&self, object: Rc<Instance>) {
        self.finalisers.add(Value::Object(object));
    }

    /// Returns whether `__del__` of an object is still to be called.
    pub fn is_finalising_due(&self) -> bool {
        self.finalisers.due.get()
    }

    /// Calls `__del__` of the objects whose last reference is gone. Like in Python, an error is reported on standard
    /// error and ignored.
    pub fn finalise(&self) {
        while self.finalisers.due.replace(false) {
            for queued in self.finalisers.take() {
                let Some(object) = instance_of(&queued) else {
                    // The callback of a weak reference.
                    if let Err(error) = super::calls::call(self, &queued, Vec::new(), Keywords::new())
                        && !interrupt::requested()
                    {
                        let text = last_line(&of_error(&error));
                        self.state.warn(format!("Exception ignored in a callback of a weak reference\n{text}"));
                    }
                    continue;
                };
                let failed = match object.method("__del__", Vec::new()) {
                    Some(Err(error)) if !interrupt::requested() => error,
                    _ => continue,
                };
                let method = object.class.find("__del__").map(|entry| match entry {
                    Entry::ObjectState(method) => self.state.repr(&method).unwrap_or_default(),
                    Entry::Native(_) | Entry::Held(_) => String::new(),
                });
                self.state.warn(format!(
                    "Exception ignored in: {}\nTraceback (most recent call last):\n  ...\n{}",
                    method.unwrap_or_default(),
                    last_line(&of_error(&failed))
                ));
            }
        }
    }

    /// Drops the attributes of tensors that are gone, which may hold the last references to objects with `__del__`.
    pub(super) fn prune_extras(&self) {
        if self.finalisers.any.get() {
            self.state.extras.prune();
        }
    }

    #[cold]
    pub(super) fn release_copy(&self, slot: u32) {
        let release = self.finalisers.release.borrow().clone();
        if let Some(release) = release {
            release(&self.variables.borrow().name(slot));
        }
    }
}
