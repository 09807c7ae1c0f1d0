//! Errors leaving the script engine: ours travel as thrown values, and the engine's own are put into Python's words. No
//! name of a Rust type leaves this file.

use super::value::{CLASSES, to_value};
use crate::call::Receiver;
use crate::call::signature::Kind;
use crate::call::suggest::{suggestion, with_suggestion};
use crate::format::{Formatter, PrintOptions};
use crate::library::registry;
use crate::tensor::{DType, Error, ErrorKind};
use crate::value::Value;
use rhai::{Dynamic, EvalAltResult, ParseError, Position};
use std::fmt;

/// The token a running script is ended with by Ctrl-C.
#[derive(Clone)]
pub struct Interrupted;

/// The token a script is ended with that has taken more memory than there is.
#[derive(Clone)]
pub struct OutOfMemory;

/// The token a script is ended with by `exit()`.
#[derive(Clone)]
pub struct Exit;

/// An error of ours as the engine carries it.
#[derive(Clone, Debug)]
pub struct Thrown(pub Error);

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.0.message.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{}", self.0.kind.name(), self.0.message)
    }
}

/// A failed evaluation, explained.
#[derive(Clone, Debug)]
pub struct Fault {
    pub error: Error,
    /// In the text that defines the innermost of the calls, or in the one that was evaluated.
    pub position: Position,
    /// The calls of script functions it happened in, innermost first.
    pub calls: Vec<ScriptCall>,
    /// The function that was called by its bare name and is none of ours, and with how many arguments.
    pub unknown: Option<(String, usize)>,
    pub interrupted: bool,
}

/// A call of a function that a script defines.
#[derive(Clone, Debug)]
pub struct ScriptCall {
    pub name: String,
    /// The position of the call, in the text that defines the next call outwards.
    pub position: Position,
}

/// Wraps an error for the engine; the position is filled in by it.
pub fn thrown(error: Error) -> Box<EvalAltResult> {
    if error.kind == ErrorKind::SystemExit {
        return EvalAltResult::ErrorTerminated(Dynamic::from(Exit), Position::NONE).into();
    }
    EvalAltResult::ErrorRuntime(Dynamic::from(Thrown(error)), Position::NONE).into()
}

/// Returns the error without its position.
pub fn error_of(error: &EvalAltResult) -> Error {
    from_eval(error, &|_| String::new()).error
}

/// The error behind what a script's `catch` receives.
pub fn caught_error(caught: &Dynamic) -> Error {
    if let Some(thrown) = caught.read_lock::<Thrown>() {
        return thrown.0.clone();
    }
    // The engine describes its own errors by a map; where they happened within a call, only the text tells which it was.
    let text = match caught.read_lock::<rhai::Map>() {
        Some(map) => map.get("message").map_or_else(String::new, ToString::to_string),
        None => return raised(caught).unwrap_or_else(|| Error::runtime(text_of_value(caught))),
    };
    let first = text.lines().next().unwrap_or_default();
    let first = first.split(" @ '").next().unwrap_or(first);
    let first = first.rsplit_once(" (line ").map_or(first, |(before, _)| before);
    error_of(&described(first))
}

/// The engine's error of which this is the text.
fn described(text: &str) -> EvalAltResult {
    use EvalAltResult as E;
    let none = Position::NONE;
    let Some((what, name)) = text.split_once(": ") else {
        return match text {
            "For loop expects iterable type" => E::ErrorFor(none),
            _ if text.starts_with("Array index") => E::ErrorArrayBounds(0, 0, none),
            _ if text.starts_with("String index") => E::ErrorStringBounds(0, 0, none),
            _ => E::ErrorArithmetic(text.to_owned(), none),
        };
    };
    match what {
        "Variable not found" => E::ErrorVariableNotFound(name.to_owned(), none),
        "Function not found" => E::ErrorFunctionNotFound(name.to_owned(), none),
        "Property not found" => E::ErrorPropertyNotFound(name.to_owned(), none),
        "Indexer unavailable" => E::ErrorIndexingType(name.to_owned(), none),
        "Invalid index" => E::ErrorIndexNotFound(name.to_owned().into(), none),
        "Runtime error" => E::ErrorRuntime(name.to_owned().into(), none),
        _ if what.starts_with("Division by zero") => E::ErrorArithmetic(text.to_owned(), none),
        _ => E::ErrorDotExpr(text.to_owned(), none),
    }
}

/// The end of an evaluation that was asked to stop.
pub fn interrupted() -> Box<EvalAltResult> {
    EvalAltResult::ErrorTerminated(Dynamic::from(Interrupted), Position::NONE).into()
}

/// Returns whether Ctrl-C or `exit()` ended an evaluation, not a mistake.
pub fn is_end(error: &EvalAltResult) -> bool {
    match error {
        EvalAltResult::ErrorTerminated(..) => true,
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => is_end(inner),
        EvalAltResult::ErrorRuntime(value, _) => {
            value.read_lock::<Thrown>().is_some_and(|thrown| thrown.0.kind == ErrorKind::KeyboardInterrupt)
        }
        _ => false,
    }
}

/// Explains a parse error.
pub fn from_parse(error: &ParseError) -> Fault {
    let message = error.err_type().to_string();
    fault(ErrorKind::SyntaxError, message, error.position())
}

fn fault(kind: ErrorKind, message: impl Into<String>, position: Position) -> Fault {
    Fault { error: Error::new(kind, message), position, calls: Vec::new(), unknown: None, interrupted: false }
}

/// Explains a failed evaluation. `text_of` gives the text that defines a script function, or for none the one that was
/// evaluated.
pub fn from_eval(error: &EvalAltResult, text_of: &dyn Fn(Option<&str>) -> String) -> Fault {
    from_call(error, text_of, None)
}

/// As [`from_eval`], for what failed within a call of `function`.
fn from_call(error: &EvalAltResult, text_of: &dyn Fn(Option<&str>) -> String, function: Option<&str>) -> Fault {
    use ErrorKind::*;
    use EvalAltResult as E;
    let at = error.position();
    match error {
        E::ErrorInFunctionCall(name, _, inner, call_site) => {
            let mut fault = from_call(inner, text_of, Some(name));
            fault.calls.push(ScriptCall { name: name.clone(), position: *call_site });
            fault
        }
        E::ErrorRuntime(value, position) => match value.read_lock::<Thrown>() {
            Some(thrown) => {
                let interrupted = thrown.0.kind == KeyboardInterrupt;
                Fault { error: thrown.0.clone(), interrupted, ..fault(RuntimeError, "", *position) }
            }
            None => match raised(value) {
                Some(error) => Fault { error, ..fault(RuntimeError, "", *position) },
                None => fault(RuntimeError, text_of_value(value), *position),
            },
        },
        E::ErrorTerminated(token, position) if token.is::<OutOfMemory>() => fault(MemoryError, "", *position),
        E::ErrorTerminated(token, position) => {
            Fault { interrupted: !token.is::<Exit>(), ..fault(KeyboardInterrupt, "", *position) }
        }
        E::ErrorParsing(kind, position) => fault(SyntaxError, kind.to_string(), *position),
        E::ErrorVariableNotFound(name, _) => fault(NameError, format!("name '{name}' is not defined"), at),
        E::ErrorVariableExists(name, _) => fault(NameError, format!("name '{name}' exists already"), at),
        E::ErrorFunctionNotFound(signature, _) => function_not_found(signature, &text_of(function), at),
        E::ErrorModuleNotFound(name, _) => fault(ModuleNotFoundError, format!("No module named '{name}'"), at),
        E::ErrorArrayBounds(..) => fault(IndexError, "list index out of range", at),
        E::ErrorStringBounds(..) => fault(IndexError, "string index out of range", at),
        E::ErrorIndexNotFound(key, _) => fault(KeyError, format!("'{key}'"), at),
        E::ErrorPropertyNotFound(name, _) => fault(KeyError, format!("'{name}'"), at),
        E::ErrorIndexingType(types, _) => {
            let class = types.split(' ').next().unwrap_or(types);
            fault(TypeError, format!("'{}' object is not subscriptable", python_type(class)), at)
        }
        E::ErrorDotExpr(text, _) => match quoted(text) {
            (Some(name), Some(class)) => {
                fault(AttributeError, format!("'{}' object has no attribute '{name}'", python_type(class)), at)
            }
            _ => fault(AttributeError, text.clone(), at),
        },
        E::ErrorArithmetic(text, _)
            if text.starts_with("Division by zero") || text.starts_with("Modulo division by zero") =>
        {
            fault(ZeroDivisionError, "division by zero", at)
        }
        E::ErrorArithmetic(text, _) if text.starts_with("Error parsing") => fault(ValueError, text.clone(), at),
        E::ErrorArithmetic(text, _) => fault(OverflowError, text.clone(), at),
        E::ErrorMismatchDataType(want, got, _) => {
            fault(TypeError, format!("a {} is needed here, not {}", python_type(want), python_type(got)), at)
        }
        E::ErrorMismatchOutputType(_, got, _) => {
            fault(TypeError, format!("a {} is not allowed here", python_type(got)), at)
        }
        E::ErrorFor(_) => fault(TypeError, "this value cannot be iterated over", at),
        E::ErrorAssignmentToConstant(name, _) => fault(TypeError, format!("'{name}' cannot be assigned to"), at),
        E::ErrorStackOverflow(_) => fault(RecursionError, "maximum recursion depth exceeded", at),
        E::ErrorDataTooLarge(..) => fault(MemoryError, "", at),
        other => fault(RuntimeError, other.to_string(), at),
    }
}

/// `view (Tensor, i64)`: no function has that name, or none takes these arguments.
fn function_not_found(signature: &str, source: &str, at: Position) -> Fault {
    let (name, types) = signature.split_once(" (").unwrap_or((signature, ""));
    let types = types.strip_suffix(')').unwrap_or(types);
    let types: Vec<&str> = types.split(", ").filter(|class| !class.is_empty()).map(python_type).collect();
    match types.as_slice() {
        [class, ..] if follows_dot(source, at, name) => {
            let (message, receiver) = match *class {
                "module" => (format!("module 'torch' has no attribute '{name}'"), Some(Receiver::Module(""))),
                class => {
                    let receiver = match class {
                        "Tensor" => Some(Receiver::Class(Kind::Tensor)),
                        "torch.storage.UntypedStorage" => Some(Receiver::Class(Kind::UntypedStorage)),
                        _ => None,
                    };
                    (format!("'{class}' object has no attribute '{name}'"), receiver)
                }
            };
            let mut fault = fault(ErrorKind::AttributeError, message, at);
            fault.error = with_suggestion(fault.error, suggestion(registry(), receiver, name));
            fault
        }
        // What the engine makes of `item in container`.
        [container, _] if name == "contains" => {
            fault(ErrorKind::TypeError, format!("argument of type '{container}' is not iterable"), at)
        }
        [left, right] if !name.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
            let message = format!("unsupported operand type(s) for {name}: '{left}' and '{right}'");
            fault(ErrorKind::TypeError, message, at)
        }
        _ => {
            let unknown = Some((name.to_owned(), types.len()));
            Fault { unknown, ..fault(ErrorKind::NameError, format!("name '{name}' is not defined"), at) }
        }
    }
}

/// Returns whether `name` stands at a position, behind a dot.
fn follows_dot(source: &str, at: Position, name: &str) -> bool {
    let (Some(line), Some(column)) = (at.line(), at.position()) else { return false };
    let Some(text) = source.lines().nth(line - 1) else { return false };
    let mut rest = text.chars();
    let before: String = rest.by_ref().take(column.saturating_sub(1)).collect();
    before.trim_end().ends_with('.') && rest.as_str().starts_with(name)
}

/// The error that a thrown value is, if it is an exception.
fn raised(value: &Dynamic) -> Option<Error> {
    match to_value(value) {
        Ok(Value::Object(object)) => object.error(),
        _ => None,
    }
}

/// Returns a thrown value as text.
fn text_of_value(value: &Dynamic) -> String {
    if value.is_string() {
        return value.to_string();
    }
    let options = PrintOptions::default();
    let formatter = Formatter { options: &options, default_dtype: DType::Float };
    to_value(value).and_then(|value| formatter.str(&value)).unwrap_or_else(|error| error.message)
}

/// The two quoted words of "Unknown property 'x' - a getter is not registered for type 'y'".
fn quoted(text: &str) -> (Option<&str>, Option<&str>) {
    let mut words = text.split('\'').skip(1).step_by(2);
    (words.next(), words.next())
}

/// Python's name for a type of the script language.
pub fn python_type(name: &str) -> &str {
    match name {
        "i64" => "int",
        "f64" => "float",
        "string" => "str",
        other if other.contains("ImmutableString") || other == "&str" => "str",
        "char" => "str",
        "array" | "blob" => "list",
        "map" => "dict",
        "()" => "NoneType",
        "Fn" => "function",
        "UntypedStorage" => "torch.storage.UntypedStorage",
        other if other.contains("range") || other.contains("Range") => "range",
        other if other.contains("Boxed<") => kind_name(other),
        other if other.ends_with("::Tensor") => "Tensor",
        other if other.ends_with("::Thrown") => "error",
        other if other.contains("::") => "object",
        other => other,
    }
}

/// The class behind `…::Boxed<7>`, which the engine shows where no display name was asked for.
fn kind_name(rust: &str) -> &str {
    let kind = rust.rsplit('<').next().and_then(|k| k.trim_end_matches('>').trim_end_matches("u8").parse::<u8>().ok());
    CLASSES.iter().find(|(_, k)| Some(*k) == kind).map_or("object", |(name, _)| name)
}
