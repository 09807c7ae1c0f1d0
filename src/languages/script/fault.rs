//! Errors leaving the script engine. Ours travel as thrown values; the engine's own are translated into Python's
//! messages. No Rust type name leaves this file.

use super::caught::Caught;
use super::input::RhaiInput;
use super::runtime::Runtime;
use super::values::{CLASSES, to_value};
use super::words::PROPERTIES;
use super::{own, words};
use call::Receiver;
use call::module_names::MODULES;
use call::signature::Kind;
use call::suggest::{suggestion, with_suggestion};
use explain::format::{Formatter, PrintOptions};
use rhai::{Dynamic, EvalAltResult, ParseError, ParseErrorType, Position};
use std::collections::BTreeSet;
use std::fmt;
use tensor::{DType, Error, ErrorKind};
use torch::library::registry;
use value::Value;

/// The token that ends a running script after Ctrl-C.
#[derive(Clone)]
pub struct Interrupted;

/// The token that ends a script which has run out of memory.
#[derive(Clone)]
pub struct OutOfMemory;

/// The token that ends a script whose calls are nested too deeply for the stack.
#[derive(Clone)]
pub(crate) struct TooDeep;

/// The token that ends a script after `exit()`.
#[derive(Clone)]
pub struct ExitToken;

/// An error of ours, wrapped as a value for the engine.
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
    /// The error kind that the script gave to a value it has thrown.
    pub own_kind: Option<String>,
    /// The value that the script itself has thrown.
    pub thrown: Option<Dynamic>,
    /// The position in the input that defines the innermost call, or in the input that was evaluated.
    pub position: Position,
    /// The input that `position` refers to, once a script has caught the error.
    pub place: Option<RhaiInput>,
    /// The calls of script functions that led to the error, innermost first.
    pub calls: Vec<ScriptCall>,
    pub interrupted: bool,
}

/// A call of a function defined by a script.
#[derive(Clone, Debug)]
pub struct ScriptCall {
    pub name: String,
    /// The position of the call, in the input that defines the next outer function.
    pub position: Position,
    /// The input that `position` refers to, once a script has caught the error.
    pub place: Option<RhaiInput>,
}

impl ScriptCall {
    /// The file of a module, if this call is its import.
    pub fn module(&self) -> Option<&str> {
        self.name.contains(std::path::is_separator).then_some(&*self.name)
    }

    /// The name to show for the function.
    pub fn shown_name(&self) -> &str {
        if is_unnamed(&self.name) { "an unnamed function" } else { &self.name }
    }
}

/// Returns whether this is an engine name for an unnamed function.
pub fn is_unnamed(name: &str) -> bool {
    name.contains('$')
}

impl Fault {
    /// The name of Python's exception class, or the kind that the script gave.
    pub fn kind(&self) -> String {
        self.own_kind.clone().unwrap_or_else(|| self.error.kind.name())
    }

    /// Returns whether a script has thrown a value that is not an exception.
    pub(crate) fn is_value_of_script(&self) -> bool {
        self.thrown.as_ref().is_some_and(|value| raised(value).is_none())
    }

    /// Records the inputs in which the error and its calls happened, so that they can be reported from any input.
    /// `here` is the input that the error has reached.
    pub fn settle(&mut self, state: &Runtime, here: &RhaiInput) {
        let names: Vec<_> = self.calls.iter().map(|call| call.name.clone()).collect();
        for (index, call) in self.calls.iter_mut().enumerate() {
            let caller = names.get(index + 1).map(String::as_str);
            call.place.get_or_insert_with(|| state.cell_of(caller, here));
        }
        self.place.get_or_insert_with(|| state.cell_of(names.first().map(String::as_str), here));
    }
}

/// Wraps an error for the engine, which fills in the position.
pub(crate) fn thrown(error: Error) -> Box<EvalAltResult> {
    if error.kind == ErrorKind::SystemExit {
        return EvalAltResult::ErrorTerminated(Dynamic::from(ExitToken), Position::NONE).into();
    }
    EvalAltResult::ErrorRuntime(Dynamic::from(Thrown(error)), Position::NONE).into()
}

/// Returns the error without its position.
pub(crate) fn error_of(error: &EvalAltResult, state: &Runtime) -> Error {
    let here = state.cell.borrow().clone();
    from_eval(error, state, &here).error
}

/// The error that ends an interrupted evaluation.
pub fn interrupted() -> Box<EvalAltResult> {
    EvalAltResult::ErrorTerminated(Dynamic::from(Interrupted), Position::NONE).into()
}

/// Returns whether an evaluation ended by Ctrl-C or `exit()`, not by a mistake.
pub fn is_end(error: &EvalAltResult) -> bool {
    match error {
        EvalAltResult::ErrorTerminated(..) => true,
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) | EvalAltResult::ErrorInModule(_, inner, _) => is_end(inner),
        EvalAltResult::ErrorRuntime(value, _) => {
            value.read_lock::<Thrown>().is_some_and(|thrown| thrown.0.kind == ErrorKind::KeyboardInterrupt)
        }
        _ => false,
    }
}

/// Translates a parse error.
pub fn from_parse(error: &ParseError) -> Fault {
    let message = match error.err_type() {
        ParseErrorType::LoopBreak => "`break` and `continue` are allowed only in a loop".to_owned(),
        other => other.to_string(),
    };
    fault(ErrorKind::SyntaxError, message, error.position())
}

fn fault(kind: ErrorKind, message: impl Into<String>, position: Position) -> Fault {
    Fault {
        error: Error::new(kind, message),
        own_kind: None,
        thrown: None,
        position,
        place: None,
        calls: Vec::new(),
        interrupted: false,
    }
}

/// Translates a failed evaluation. `here` is the input that was evaluated, or that contains the failed block.
pub fn from_eval(error: &EvalAltResult, state: &Runtime, here: &RhaiInput) -> Fault {
    from_call(error, state, here)
}

/// Like [`from_eval`], for a failure inside a function that `cell` defines.
fn from_call(error: &EvalAltResult, state: &Runtime, cell: &RhaiInput) -> Fault {
    use ErrorKind::*;
    use EvalAltResult as E;
    let at = error.position();
    match error {
        E::ErrorInFunctionCall(_, source, inner, call_site) if source == words::SOURCE => {
            Fault { position: *call_site, ..from_call(inner, state, cell) }
        }
        E::ErrorInFunctionCall(name, source, inner, call_site) => {
            // The engine attributes a closure to the module that calls it.
            let is_here = is_unnamed(name) && state.defined.borrow().contains_key(name.as_str());
            let module = state.modules.source(source).filter(|_| !is_here);
            let defined = module.as_ref().map_or_else(|| state.cell_of(Some(name), cell), |module| module.cell.clone());
            let mut fault = from_call(inner, state, &defined);
            if module.is_some() || is_here {
                fault.place.get_or_insert(defined);
            }
            let place = cell.file().is_some().then(|| cell.clone());
            fault.calls.push(ScriptCall { name: name.clone(), position: *call_site, place });
            fault
        }
        E::ErrorInModule(file, inner, position) => {
            let module = state.modules.source(file).map_or_else(|| cell.clone(), |module| module.cell.clone());
            let mut fault = from_call(inner, state, &module);
            fault.place.get_or_insert(module);
            fault.calls.push(ScriptCall { name: file.clone(), position: *position, place: Some(cell.clone()) });
            fault
        }
        E::ErrorRuntime(value, position) => match value.read_lock::<Thrown>() {
            Some(thrown) => {
                let interrupted = thrown.0.kind == KeyboardInterrupt;
                Fault { error: thrown.0.clone(), interrupted, ..fault(RuntimeError, "", *position) }
            }
            None => match value.read_lock::<Caught>() {
                Some(caught) => (*caught.0).clone(),
                None => of_script(value, *position),
            },
        },
        E::ErrorTerminated(token, position) if token.is::<OutOfMemory>() => fault(MemoryError, "", *position),
        E::ErrorTerminated(token, position) if token.is::<TooDeep>() => {
            fault(RecursionError, "maximum recursion depth exceeded", *position)
        }
        E::ErrorTerminated(token, position) => {
            Fault { interrupted: !token.is::<ExitToken>(), ..fault(KeyboardInterrupt, "", *position) }
        }
        E::ErrorParsing(kind, position) => fault(SyntaxError, kind.to_string(), *position),
        E::ErrorVariableNotFound(name, _) => {
            fault(NameError, format!("name '{}' is not defined", words::typed(name)), at)
        }
        E::ErrorVariableExists(name, _) => fault(NameError, format!("name '{name}' already exists"), at),
        E::ErrorFunctionNotFound(signature, _) => function_not_found(signature, state, cell, at),
        E::ErrorModuleNotFound(name, _) => fault(ModuleNotFoundError, format!("No module named '{name}'"), at),
        E::ErrorUnboundThis(_) => {
            let mut fault = fault(NameError, "name 'this' is not defined", at);
            fault.error = fault.error.with_hint("`this` is the value that a function is called on: `x.f()`".to_owned());
            fault
        }
        E::ErrorBitFieldBounds(bits, index, _) => {
            fault(IndexError, format!("bit {index} is out of range: an int has {bits}"), at)
        }
        E::ErrorArrayBounds(..) => fault(IndexError, "list index out of range", at),
        E::ErrorStringBounds(..) => fault(IndexError, "string index out of range", at),
        E::ErrorIndexNotFound(key, _) => no_key(&key.to_string(), at),
        E::ErrorPropertyNotFound(name, _) => no_key(name, at),
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
        // If the receiver of `call` is not a function, Rhai takes the argument for the function.
        E::ErrorMismatchDataType(want, ..)
            if want == "Fn"
                && let Some(name) = cell.called(at) =>
        {
            fault(TypeError, no_function(name), at)
        }
        E::ErrorMismatchDataType(want, got, _) => {
            let wanted = if want == "char" { "character" } else { python_type(want) };
            let mut fault = fault(TypeError, needed(wanted, python_type(got)), at);
            if (python_type(want), python_type(got)) == ("bool", "Tensor") {
                let joins = split_at(&cell.typed, cell.place(at)).is_some_and(|(before, rest)| {
                    let condition = [before.rsplit([';', '{']).next(), rest.split([';', '{']).next()];
                    condition.into_iter().flatten().any(|part| part.contains("&&") || part.contains("||"))
                });
                let advice = if joins {
                    "combine tensors with `(x > 2) & (x < 7)`, or `|`; for one value write `.item()`"
                } else {
                    "a tensor has no truth value here; write `.item()` after one value, `.all().item()` or \
                     `.any().item()` after many"
                };
                fault.error = fault.error.with_hint(advice.to_owned());
            }
            fault
        }
        E::ErrorMismatchOutputType(_, got, _) => {
            fault(TypeError, format!("a {} is not allowed here", python_type(got)), at)
        }
        E::ErrorFor(_) => {
            let mut fault = fault(TypeError, "this value cannot be iterated over", at);
            let advice = "to count, write a range: `for i in 0..n`; for an object map `for key in map.keys()`";
            fault.error = fault.error.with_hint(advice.to_owned());
            fault
        }
        E::ErrorDataRace(what, _) => {
            let called = quoted(what).0;
            let name = called.as_ref().map_or_else(String::new, |name| format!(" of {name}()"));
            let message = format!("an argument{name} is in use by the same call: a closure holds the same variable");
            let mut fault = fault(RuntimeError, message, at);
            // Without a name, the value is the receiver of the closure.
            let advice = match called {
                Some(_) => "pass a copy to the closure or the call: `let other = …;`",
                None => "a closure stored in a map refers to the map as `this`",
            };
            fault.error = fault.error.with_hint(advice.to_owned());
            fault
        }
        E::ErrorAssignmentToConstant(name, _) => fault(TypeError, format!("'{name}' cannot be assigned to"), at),
        E::ErrorStackOverflow(_) => fault(RecursionError, "maximum recursion depth exceeded", at),
        E::ErrorDataTooLarge(..) => fault(MemoryError, "", at),
        other => {
            let text = other.to_string();
            // The position is reported elsewhere, more precisely.
            let text = text.rsplit_once(" (line ").map_or(text.as_str(), |(before, _)| before);
            fault(RuntimeError, text, at)
        }
    }
}

/// The KeyError for a missing key of an object map.
fn no_key(key: &str, at: Position) -> Fault {
    let mut fault = fault(ErrorKind::KeyError, format!("'{key}'"), at);
    fault.error =
        fault.error.with_hint(format!("test `\"{key}\" in map` first; `map.get(\"{key}\")` is `()` without it"));
    fault
}

/// Returns a noun with its article.
pub(crate) fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// The message for an operand of the wrong type.
fn needed(want: &str, got: &str) -> String {
    format!("{} is needed here, not {got}", with_article(want))
}

/// Translates a value thrown by a script: an exception, an object map with a kind and a message, or any other value,
/// whose text becomes the message.
fn of_script(value: &Dynamic, at: Position) -> Fault {
    let mut fault = fault(ErrorKind::Other("Error"), "", at);
    fault.thrown = Some(value.clone());
    if let Some(error) = raised(value) {
        fault.error = error;
        return fault;
    }
    let named = |key: &str| {
        let named = value.read_lock::<rhai::Map>()?.get(key)?.clone();
        named.is_string().then(|| named.to_string())
    };
    fault.error.message = named("message").unwrap_or_else(|| text_of_value(value));
    fault.own_kind = named("kind");
    if let Some(kind) = fault.own_kind.as_deref().and_then(ErrorKind::from_name) {
        (fault.error.kind, fault.own_kind) = (kind, None);
    }
    fault
}

/// Translates `view (Tensor, i64)`: no function has that name, or none takes these arguments.
fn function_not_found(signature: &str, state: &Runtime, cell: &RhaiInput, at: Position) -> Fault {
    let (name, types) = signature.split_once(" (").unwrap_or((signature, ""));
    let types = types.strip_suffix(')').unwrap_or(types);
    let types: Vec<&str> = types.split(", ").filter(|class| !class.is_empty()).map(python_type).collect();
    let is_property = name.strip_suffix('_').is_some_and(|name| PROPERTIES.contains(&name));
    let name = words::typed(name);
    let place = cell.place(at);
    match types.as_slice() {
        // `f(2)` was rewritten to `f.call(2)`.
        [class, ..] if name == "call" && !is_named_at(&cell.typed, place, name) => {
            fault(ErrorKind::TypeError, format!("'{class}' object is not callable"), at)
        }
        ["dict"] if is_property => no_key(name, at),
        [class, ..] if follows_dot(&cell.typed, place, name) => {
            let (message, receiver) = match *class {
                "module" => {
                    let path = module_before(&cell.typed, place);
                    let module =
                        MODULES.iter().find(|module| path.strip_prefix("torch.") == Some(**module)).unwrap_or(&"");
                    (format!("module '{path}' has no attribute '{name}'"), Some(Receiver::Module(module)))
                }
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
        // The engine's call for `item in container`.
        ["str", item] if name == "contains" => {
            let message = format!("'in <string>' requires string as left operand, not {item}");
            fault(ErrorKind::TypeError, message, at)
        }
        [container, _] if name == "contains" => {
            fault(ErrorKind::TypeError, format!("argument of type '{container}' is not iterable"), at)
        }
        [left, right] if !name.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
            let message = format!("unsupported operand type(s) for {name}: '{left}' and '{right}'");
            fault(ErrorKind::TypeError, message, at)
        }
        _ => match state.defined.borrow().get(name) {
            Some(defined) => fault(ErrorKind::TypeError, wrong_number(name, &defined.parameters, types.len()), at),
            None if let Some(class) = state.variables.borrow().get(name) => {
                fault(ErrorKind::TypeError, format!("'{class}' object is not callable"), at)
            }
            None if cell.declares(name) => fault(ErrorKind::TypeError, no_function(name), at),
            None if let Some(usages) = own::usages(name) => {
                let message = format!("{name}() does not accept ({})", types.join(", "));
                let mut fault = fault(ErrorKind::TypeError, message, at);
                fault.error = fault.error.with_hint(format!("write {}", usages.join(" or ")));
                fault
            }
            None => fault(ErrorKind::NameError, format!("name '{name}' is not defined"), at),
        },
    }
}

/// Returns the module before the dot at a position: `torch.fft` in `torch.fft.foo(1)`.
fn module_before(source: &str, place: Option<(usize, usize)>) -> String {
    let before = split_at(source, place).map_or("", |(before, _)| before.trim_end().trim_end_matches('.'));
    let start = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).map_or(0, |at| at + 1);
    let path = before.get(start..).unwrap_or_default();
    if path.starts_with("torch.") { path.to_owned() } else { "torch".to_owned() }
}

/// The TypeError for calling a variable that is not a function.
fn no_function(name: &str) -> String {
    format!("'{name}' is not a function")
}

/// Python's TypeError for calling a script function with a wrong number of arguments.
fn wrong_number(name: &str, parameters: &BTreeSet<usize>, given: usize) -> String {
    let wanted: Vec<_> = parameters.iter().map(usize::to_string).collect();
    let noun = if wanted == ["1"] { "argument" } else { "arguments" };
    let were = if given == 1 { "was" } else { "were" };
    let shown = if is_unnamed(name) { "an unnamed function".to_owned() } else { format!("{name}()") };
    format!("{shown} takes {} positional {noun} but {given} {were} given", wanted.join(" or "))
}

/// Splits the line at a place into the text before and after it.
pub fn split_at(source: &str, place: Option<(usize, usize)>) -> Option<(&str, &str)> {
    let (line, column) = place?;
    let text = source.lines().nth(line.checked_sub(1)?)?;
    let at = text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    text.split_at_checked(at)
}

fn is_named_at(source: &str, place: Option<(usize, usize)>, name: &str) -> bool {
    split_at(source, place).is_some_and(|(_, rest)| rest.starts_with(name))
}

/// Returns whether `name` is at a place and follows a dot.
pub fn follows_dot(source: &str, place: Option<(usize, usize)>, name: &str) -> bool {
    is_named_at(source, place, name)
        && split_at(source, place).is_some_and(|(before, _)| before.trim_end().ends_with('.'))
}

/// Returns the error in a thrown value, if the value is an exception.
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

/// Returns the two quoted words of "Unknown property 'x' - a getter is not registered for type 'y'".
fn quoted(text: &str) -> (Option<&str>, Option<&str>) {
    let mut words = text.split('\'').skip(1).step_by(2);
    (words.next(), words.next())
}

/// Returns Python's name for a Rhai type.
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
        other if other.ends_with("::Thrown") || other.ends_with("::Caught") => "error",
        "CharsStream" | "BitRange" | "StepRange" => "iterator",
        other if other.ends_with("::CharsStream") || other.ends_with("::BitRange") || other.contains("::StepRange") => {
            "iterator"
        }
        other if other.contains("::") => "object",
        other => other,
    }
}

/// Returns the class behind `…::Boxed<7>`, which the engine shows for a type without a display name.
fn kind_name(rust: &str) -> &str {
    let kind = rust.rsplit('<').next().and_then(|k| k.trim_end_matches('>').trim_end_matches("u8").parse::<u8>().ok());
    CLASSES.iter().find(|(_, k)| Some(*k) == kind).map_or("object", |(name, _)| name)
}
