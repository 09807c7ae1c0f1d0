//! Python's exceptions: the builtin classes, and the conversion between our errors and the objects that a script raises
//! and catches. Between functions of the table an exception is an [`Error`] with a number, which finds the object again
//! here.

use super::class::{Base, Instance, instance_of};
use super::fault;
use super::value::{object, to_dynamic, to_value};
use crate::format;
pub use crate::functions::exceptions::{builtin, class, is_class};
use crate::tensor::{Error, ErrorKind, Result};
use crate::value::{Value, intern};
use rhai::{Array, Dynamic, EvalAltResult, Position};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// A new exception of a class that is there from the start.
pub fn raised(class: &'static str, args: &[Dynamic]) -> Result<Rc<Instance>> {
    let exception = Instance::new(Base::Builtin(class));
    set_args(&exception, args)?;
    Ok(exception)
}

pub fn set_args(exception: &Instance, args: &[Dynamic]) -> Result<()> {
    let args = args.iter().map(to_value).collect::<Result<Vec<_>>>()?;
    exception.fields.set("args", to_dynamic(Value::tuple(args)));
    Ok(())
}

fn args_of(exception: &Instance) -> Vec<Value> {
    let args = exception.fields.get("args").and_then(|args| to_value(&args).ok());
    args.and_then(|args| args.sequence()).unwrap_or_default()
}

/// `str(exception)`
///
/// # Errors
/// What showing its arguments raises.
pub fn text(exception: &Instance) -> Result<String> {
    within(|| text_of(exception))
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The maximum depth of exceptions within each other.
const MAX_DEPTH: usize = 100;

/// Shows an exception that may stand in another, or in itself.
fn within(show: impl FnOnce() -> Result<String>) -> Result<String> {
    let depth = DEPTH.get();
    if depth >= MAX_DEPTH {
        return Err(super::value::too_deep());
    }
    DEPTH.set(depth + 1);
    let shown = show();
    DEPTH.set(depth);
    shown
}

fn text_of(exception: &Instance) -> Result<String> {
    match args_of(exception).as_slice() {
        [] => Ok(String::new()),
        // A key that was not found is shown as it was written.
        [only] if exception.class.derives_builtin("KeyError") => format::plainly(only),
        [only] => format::plain_text(only),
        several => format::plainly(&Value::tuple(several.iter().cloned())),
    }
}

/// `repr(exception)`
///
/// # Errors
/// As [`text`].
pub fn repr(exception: &Instance) -> Result<String> {
    within(|| {
        let args = args_of(exception);
        let shown = args.iter().map(format::plainly).collect::<Result<Vec<_>>>()?;
        Ok(format!("{}({})", exception.class.name(), shown.join(", ")))
    })
}

thread_local! {
    /// The last exceptions that went through functions of the table, by number.
    static ON_THE_WAY: RefCell<(u64, VecDeque<(u64, Dynamic)>)> = const { RefCell::new((0, VecDeque::new())) };
}

/// The number of exceptions that are remembered.
const REMEMBERED: usize = 64;

/// Converts an exception to an error of ours: its class, its text, and a number by which it is found again.
pub fn to_error(exception: &Rc<Instance>) -> Error {
    let message = match exception.call("__str__", Array::new()) {
        Some(Ok(text)) => text.to_string(),
        // As Python does.
        Some(Err(_)) => "<exception str() failed>".to_owned(),
        None => String::new(),
    };
    let name = exception.class.name();
    let kind = match &exception.class {
        Base::Builtin(_) => ErrorKind::from_name(name).unwrap_or(ErrorKind::Other(name)),
        Base::User(_) => ErrorKind::Other(intern(name.rsplit('.').next().unwrap_or(name))),
    };
    let number = ON_THE_WAY.with_borrow_mut(|(last, kept)| {
        *last += 1;
        kept.push_back((*last, object(exception.clone())));
        if kept.len() > REMEMBERED {
            kept.pop_front();
        }
        *last
    });
    Error { raised: Some(number), ..Error::new(kind, message) }
}

/// The exception that an error of ours stands for, if it began as one.
pub fn recalled(error: &Error) -> Option<Dynamic> {
    let number = error.raised?;
    ON_THE_WAY.with_borrow(|(_, kept)| kept.iter().find(|(known, _)| *known == number).map(|(_, e)| e.clone()))
}

/// Lets go of all exceptions; nothing is on its way between two inputs.
pub fn forget() {
    let kept = ON_THE_WAY.with_borrow_mut(|(_, kept)| std::mem::take(kept));
    drop(kept);
}

/// The object that `except … as e` gives for an error of ours.
pub fn from_error(error: &Error) -> Result<Dynamic> {
    if let Some(exception) = recalled(error) {
        return Ok(exception);
    }
    let name = error.kind.name();
    let class = class(&name).unwrap_or("RuntimeError");
    let message = error.message.as_str();
    let arg = match message.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(key) if class == "KeyError" => Value::str(key),
        _ => match message.parse::<i64>() {
            Ok(key) if class == "KeyError" => Value::Int(key),
            _ => Value::str(message),
        },
    };
    let args = if message.is_empty() { Vec::new() } else { vec![to_dynamic(arg)] };
    let exception = raised(class, &args)?;
    if matches!(class, "NameError" | "AttributeError") {
        // Only the text tells the name.
        let name = message.split('\'').rev().nth(1).unwrap_or_default();
        exception.fields.set("name", name.to_owned().into());
    }
    Ok(object(exception))
}

/// Raises an exception.
pub fn throw(exception: Dynamic) -> Box<EvalAltResult> {
    EvalAltResult::ErrorRuntime(exception, Position::NONE).into()
}

/// Implements `raise value from cause`; `cause` is absent if nothing follows.
pub fn raise(
    value: &Dynamic,
    cause: Option<&Dynamic>,
    construct: impl Fn(&Dynamic) -> Result<Dynamic, Box<EvalAltResult>>,
) -> Box<EvalAltResult> {
    let wrong = || fault::thrown(Error::type_error("exceptions must derive from BaseException"));
    let made = |value: &Dynamic| match to_value(value).ok().and_then(|value| Base::of(&value)) {
        Some(class) if class.derives_builtin("BaseException") => construct(value),
        Some(_) => Err(wrong()),
        None => Ok(value.clone()),
    };
    let exception = match made(value) {
        Ok(exception) => exception,
        Err(error) => return error,
    };
    let Some(instance) = instance_of(&exception).filter(|instance| instance.is_exception()) else { return wrong() };
    if let Some(cause) = cause {
        match made(cause) {
            Ok(cause) => {
                let fits = cause.is_unit() || instance_of(&cause).is_some_and(|cause| cause.is_exception());
                if !fits {
                    return fault::thrown(Error::type_error("exception causes must derive from BaseException"));
                }
                instance.fields.set("__cause__", cause);
                instance.fields.set("__suppress_context__", true.into());
            }
            Err(error) => return error,
        }
    }
    throw(exception)
}

/// Returns whether an `except` clause with this class, or tuple of classes, catches what was raised.
///
/// # Errors
/// TypeError for what is no class of exceptions.
pub fn matches(exception: &Rc<Instance>, classes: &Dynamic) -> Result<bool> {
    let classes = match to_value(classes)? {
        Value::Tuple(items) => items.iter().cloned().map(to_dynamic).collect(),
        _ => vec![classes.clone()],
    };
    for class in classes {
        match Base::of(&to_value(&class)?).filter(|class| class.derives_builtin("BaseException")) {
            Some(class) if exception.class.derives(&class) => return Ok(true),
            Some(_) => {}
            None => {
                return Err(Error::type_error(
                    "catching classes that do not inherit from BaseException is not allowed",
                ));
            }
        }
    }
    Ok(false)
}

/// Returns the exception that a script's `catch` receives.
///
/// # Errors
/// What showing its parts raises.
pub fn caught(caught: &Dynamic) -> Result<Rc<Instance>> {
    if let Some(exception) = instance_of(caught).filter(|instance| instance.is_exception()) {
        return Ok(exception);
    }
    let exception = from_error(&fault::caught_error(caught))?;
    instance_of(&exception).ok_or_else(|| Error::runtime("an exception is needed here"))
}
