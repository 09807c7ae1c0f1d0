//! Binds arguments to a signature. The rules and error messages are those of PyTorch's argument parser, or of Python
//! itself for functions that PyTorch writes in Python.

use super::builtins;
use super::indexes::{index_of, is_numpy_integer};
use super::refused::{no_combination, unexpected_keyword, with_nearest_keyword};
use super::signature::{Either, Kind, Param, Signature, matches_name};

use smallvec::SmallVec;
use std::rc::Rc;
use tensor::names::check_identifier;
use tensor::{DType, Device, Dims, Error, ErrorKind, Result};
use value::{Dict, Items, Value};

/// The bound arguments: one value per parameter, in the signature's order.
pub type Bound = SmallVec<[Value; 4]>;

/// The arguments of a call: positional ones (without `self` for a method) and keywords.
#[derive(Default)]
pub struct Arguments {
    pub positional: SmallVec<[Value; 4]>,
    pub keywords: Vec<(Rc<str>, Value)>,
}

impl Arguments {
    /// Returns the keyword argument for a parameter.
    fn keyword(&self, param: &Param) -> Option<&Value> {
        self.keywords.iter().find(|(keyword, _)| matches_name(param, keyword)).map(|(_, value)| value)
    }
}

/// The parser that PyTorch uses for the arguments. It decides the words of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// PyTorch's own argument parser.
    Torch,
    /// A C method without parameters, refused by Python before PyTorch sees the call.
    NoArguments,
    /// A function written in Python, under its qualified name there.
    Python(&'static str),
    /// One of CPython's builtins.
    Builtin,
}

/// Binds the arguments to the first signature that fits, and returns its index.
///
/// # Errors
/// TypeError in PyTorch's words if none fits.
pub fn bind<'s>(
    name: &str,
    signatures: impl Iterator<Item = &'s Signature> + Clone,
    method: Option<&Value>,
    parser: Parser,
    arguments: &Arguments,
    bound: &mut Bound,
) -> Result<usize> {
    choose(name, signatures.clone(), method, parser, arguments, bound)
        .map_err(|error| with_nearest_keyword(error, signatures, arguments))
}

fn choose<'s>(
    name: &str,
    signatures: impl Iterator<Item = &'s Signature> + Clone,
    method: Option<&Value>,
    parser: Parser,
    arguments: &Arguments,
    bound: &mut Bound,
) -> Result<usize> {
    let mut candidates = signatures.clone();
    let (first, second) = (candidates.next(), candidates.next());
    if let (Some(only), None) = (first, second)
        && !only.is_several(method.is_some())
    {
        return match parser {
            Parser::Torch => attempt(only, method, arguments, bound)?
                .map(|()| 0)
                .map_err(|m| m.error(only, method.is_some(), arguments)),
            Parser::NoArguments => no_arguments(name, only, method, arguments, bound).map(|()| 0),
            Parser::Builtin => {
                builtins::check(only, arguments)?;
                attempt(only, method, arguments, bound)?.map(|()| 0).map_err(|mismatch| match mismatch {
                    Mismatch::Wrong { param, position: Some(position), .. }
                        if let (Some(param), Some(value)) =
                            (only.params.get(param), arguments.positional.get(position - 1)) =>
                    {
                        builtins::wrong(only, position, param, value)
                    }
                    other => other.error(only, false, arguments),
                })
            }
            Parser::Python(path) => as_python(path, only, method, arguments).map(|values| {
                *bound = values;
                0
            }),
        };
    }
    for (i, signature) in signatures.clone().enumerate() {
        if attempt(signature, method, arguments, bound)?.is_ok() {
            return Ok(i);
        }
    }
    let count = arguments.positional.len() + arguments.keywords.len();
    let visible = signatures.clone().filter(|s| s.places.is_empty());
    let mut plausible = visible.flat_map(|s| s.lengths(method.is_some()).map(move |lengths| (s, lengths)));
    let mut plausible = plausible.by_ref().filter(|(_, lengths)| lengths.contains(&count));
    if let (Some((only, _)), None) = (plausible.next(), plausible.next())
        && let Err(mismatch) = attempt(only, method, arguments, bound)?
    {
        return Err(mismatch.error(only, method.is_some(), arguments));
    }
    let called = first.map_or_else(|| name.to_string().into(), Signature::called);
    Err(no_combination(&called, signatures, method.is_some(), arguments))
}

/// The reason why a signature does not fit. Only the one to report becomes an error.
enum Mismatch {
    TooMany,
    Missing {
        from: usize,
    },
    /// The value at `position` has the wrong kind, or the keyword's value if `position` is `None`. `element` is the
    /// wrong element of a list.
    Wrong {
        param: usize,
        position: Option<usize>,
        element: Option<usize>,
    },
    Keywords,
}

/// Tries one signature. The outer error is for a value of the right type that is out of range.
fn attempt(
    signature: &Signature,
    method: Option<&Value>,
    arguments: &Arguments,
    bound: &mut Bound,
) -> Result<Result<(), Mismatch>> {
    let params = signature.visible(method.is_some());
    let given = &arguments.positional;
    let max_positional = signature.positional - usize::from(method.is_some()).min(signature.positional);
    // A single list of integers may be spread: `view(2, 3)`.
    let spread = max_positional == 1 && matches!(params.first().map(|p| p.kind), Some(Kind::Ints(_)));
    let unbounded = signature.unbounded;
    if given.len() > max_positional && !spread && !unbounded {
        return Ok(Err(Mismatch::TooMany));
    }
    bound.clear();
    if let Some(this) = method {
        bound.push(this.clone());
    }
    let mut next = 0;
    let mut keywords_used = 0;
    for (i, param) in params.iter().enumerate() {
        if param.kind == Kind::Rest {
            bound.push(Value::tuple(given.iter().skip(next).cloned()));
            next = given.len();
            continue;
        }
        let positional = if next < given.len() {
            if param.keyword_only {
                return Ok(Err(Mismatch::TooMany));
            }
            given.get(next)
        } else {
            None
        };
        let keyword = match positional {
            Some(_) => None,
            None => arguments.keyword(param),
        };
        let Some(value) = positional.or(keyword) else {
            match &param.default {
                Some(default) => bound.push(default.to_value()),
                None => return Ok(Err(Mismatch::Missing { from: i })),
            }
            continue;
        };
        let held = value.underlying().filter(|_| !matches!(param.kind, Kind::Any | Kind::Object | Kind::Sequence));
        let value = held.as_ref().unwrap_or(value);
        if is_of_kind(param.kind, value) {
            bound.push(value.clone());
        } else if matches!(value, Value::None) && param.nullable {
            bound.push(Value::None);
        } else {
            match accept(param, value) {
                Accept::Yes => bound.push(convert(signature.name, param, value)?),
                Accept::No(_) if spread && next == 0 && keyword.is_none() && starts_as_ints(given) => {
                    bound.push(Value::Size(unpack_ints(signature.name, param, given)?));
                    next = given.len();
                    continue;
                }
                // PyTorch checks all tensors of a list at once and does not try another overload.
                Accept::No(Some(element)) if param.kind == Kind::Tensors => {
                    let items = value.sequence().unwrap_or_default();
                    return Err(Error::type_error(format!(
                        "expected Tensor as element {element} in argument {i}, but got {}",
                        items.get(element).map_or("object", Value::type_name)
                    )));
                }
                // Only errors about a positional list name the element.
                Accept::No(_) if keyword.is_some() => {
                    return Ok(Err(Mismatch::Wrong { param: i, position: None, element: None }));
                }
                Accept::No(element) => {
                    // For a spread list, the error names the first argument as an element.
                    let element = element.or(spread.then_some(0));
                    return Ok(Err(Mismatch::Wrong { param: i, position: Some(next + 1), element }));
                }
            }
        }
        match keyword {
            Some(_) => keywords_used += 1,
            None => next += 1,
        }
    }
    if keywords_used < arguments.keywords.len() {
        return Ok(Err(Mismatch::Keywords));
    }
    // An overload never takes numbers only.
    let mut places = signature.params.iter().zip(bound.iter()).filter(|(param, _)| param.either.is_some());
    // If `self` can be a number without a separate overload, numbers are accepted as tensors.
    let passes = signature.params.first().is_some_and(|this| this.kind == Kind::Operand && this.either.is_none());
    let has_new_only = || {
        let mut places = places.clone().filter(|_| !passes);
        places.any(|(param, value)| param.either == Some(Either::New) && !matches!(value, Value::Tensor(_)))
    };
    if arguments.keywords.iter().any(|(keyword, _)| &**keyword == "out") && has_new_only() {
        return Ok(Err(Mismatch::Keywords));
    }
    if let (Some((_, first)), Some((_, second))) = (places.next(), places.next())
        && !matches!(first, Value::Tensor(_))
        && !matches!(second, Value::Tensor(_))
    {
        return Ok(Err(Mismatch::Wrong { param: 0, position: Some(1), element: None }));
    }
    Ok(Ok(()))
}

impl Mismatch {
    fn error(&self, signature: &Signature, method: bool, arguments: &Arguments) -> Error {
        let name = &signature.called();
        let params = signature.visible(method);
        let text = match self {
            Mismatch::TooMany => {
                let max = params.iter().filter(|p| !p.keyword_only).count();
                let min = params.iter().filter(|p| p.default.is_none()).count();
                let given = arguments.positional.len();
                if min != max {
                    format!("{name}() takes from {min} to {max} positional arguments but {given} were given")
                } else {
                    format!(
                        "{name}() takes {max} positional argument{} but {given} {} given",
                        if max == 1 { "" } else { "s" },
                        if given == 1 { "was" } else { "were" }
                    )
                }
            }
            Mismatch::Missing { from } => {
                let missing: Vec<String> = params
                    .iter()
                    .skip(*from)
                    .filter(|p| p.default.is_none())
                    .map(|p| format!("\"{}\"", p.shown_name()))
                    .collect();
                // PyTorch's message has the plural the wrong way round.
                let plural = if missing.len() == 1 { "s" } else { "" };
                format!(
                    "{name}() missing {} required positional argument{plural}: {}",
                    missing.len(),
                    missing.join(", ")
                )
            }
            Mismatch::Wrong { param, position, element } => {
                let Some(param) = params.get(*param) else { return Error::type_error("invalid arguments") };
                let value = match position {
                    Some(position) => arguments.positional.get(position - 1),
                    None => arguments.keyword(param),
                };
                let Some(value) = value else { return Error::type_error("invalid arguments") };
                let culprit = match (*element, value.sequence()) {
                    (Some(k), Some(items)) => items.get(k).map(|v| v.type_name().to_string()),
                    (Some(k), None) => arguments.positional.get(k).map(|v| v.type_name().to_string()),
                    _ => None,
                };
                let got = culprit.unwrap_or_else(|| value.type_name().to_string());
                let place = position.map(|p| format!(" (position {p})")).unwrap_or_default();
                let want = param.kind.type_name();
                let but = match element {
                    Some(element) => format!(", but found element of type {got} at pos {element}"),
                    None => format!(", not {got}"),
                };
                format!("{name}(): argument '{}'{place} must be {want}{but}", param.shown_name())
            }
            Mismatch::Keywords => unexpected_keyword(name, params, arguments),
        };
        let error = Error::type_error(text);
        let named = params.iter().find(|param| param.keyword_only).map(Param::shown_name);
        match named.filter(|_| matches!(self, Mismatch::TooMany)) {
            Some(named) => error.with_hint(format!("what follows goes by a name: `{named}=…`")),
            None => error,
        }
    }
}

fn no_arguments(
    name: &str,
    signature: &Signature,
    method: Option<&Value>,
    arguments: &Arguments,
    bound: &mut Bound,
) -> Result<()> {
    let given = arguments.positional.len();
    let class = match method {
        None | Some(Value::Tensor(_)) => "TensorBase",
        Some(other) => other.type_name().rsplit('.').next().unwrap_or_default(),
    };
    if !arguments.keywords.is_empty() {
        return Err(Error::type_error(format!("{class}.{name}() takes no keyword arguments")));
    }
    if given > 0 {
        return Err(Error::type_error(format!("{class}.{name}() takes no arguments ({given} given)")));
    }
    attempt(signature, method, arguments, bound)?.map_err(|m| m.error(signature, true, arguments))
}

/// Binds the arguments of a function that PyTorch writes in Python. The error messages are CPython's.
fn as_python(path: &str, signature: &Signature, method: Option<&Value>, arguments: &Arguments) -> Result<Bound> {
    let params = signature.visible(method.is_some());
    // Methods of these classes are written in C. Errors do not count `self`, and keywords are refused.
    let in_c = path.starts_with("StorageBase.") || path.starts_with("TensorBase.");
    if in_c && !arguments.keywords.is_empty() {
        return Err(Error::type_error(format!("{path}() takes no keyword arguments")));
    }
    if in_c && arguments.positional.len() != params.len() {
        let given = arguments.positional.len();
        let takes = if params.is_empty() { "no arguments" } else { "exactly one argument" };
        return Err(Error::type_error(format!("{path}() takes {takes} ({given} given)")));
    }
    // So are NumPy's, but they take keywords.
    let (path, in_numpy) = match path.strip_prefix("numpy.") {
        Some(name) => (name, true),
        None => (path, false),
    };
    // Errors of C functions that take keywords do not contain the name.
    let nameless = path == "function";
    if let Some(rest) = params.iter().position(|p| p.kind == Kind::Rest) {
        let (before, keywords) = params.split_at(rest);
        return collect_rest(path, method, before, keywords.get(1..).unwrap_or_default(), arguments);
    }
    // Python counts `self`, and the class for a class method.
    let has_own = method.is_some() && !in_numpy;
    let own = usize::from(has_own || matches!(path, "TypedStorage.from_file" | "Parameter.__new__"));
    let given = arguments.positional.len() + own;
    let positional: Vec<&Param> = params.iter().filter(|p| !p.keyword_only).collect();
    let max = positional.len() + own;
    for (keyword, _) in &arguments.keywords {
        match params.iter().position(|p| p.name == &**keyword) {
            // Missing arguments are reported first.
            None if nameless => {}
            None => return Err(Error::type_error(format!("{path}() got an unexpected keyword argument '{keyword}'"))),
            Some(i) if i < arguments.positional.len() => {
                return Err(Error::type_error(format!("{path}() got multiple values for argument '{keyword}'")));
            }
            Some(_) => {}
        }
    }
    if given > max && nameless {
        return Err(Error::type_error(format!("function takes at most {max} arguments ({given} given)")));
    }
    if given > max {
        let min = positional.iter().filter(|p| p.default.is_none()).count() + own;
        let takes = if min == max {
            format!("{max} positional argument{}", if max == 1 { "" } else { "s" })
        } else {
            format!("from {min} to {max} positional arguments")
        };
        let were = if given == 1 { "was" } else { "were" };
        return Err(Error::type_error(format!("{path}() takes {takes} but {given} {were} given")));
    }
    let mut bound = Bound::new();
    bound.extend(method.cloned());
    let mut missing = Vec::new();
    for (i, param) in params.iter().enumerate() {
        let value = arguments
            .positional
            .get(i)
            .filter(|_| !param.keyword_only)
            .or_else(|| arguments.keywords.iter().find(|(k, _)| &**k == param.name).map(|(_, v)| v));
        match (value, param.default) {
            (Some(value), _) => bound.push(value.clone()),
            (None, Some(default)) => bound.push(default.to_value()),
            (None, None) => missing.push(param),
        }
    }
    let Some(first) = missing.first() else {
        let unknown = arguments.keywords.iter().find(|(keyword, _)| !params.iter().any(|p| p.name == &**keyword));
        return match unknown {
            Some((keyword, _)) => {
                Err(Error::type_error(format!("'{keyword}' is an invalid keyword argument for this function")))
            }
            None => Ok(bound),
        };
    };
    if nameless {
        let place = params.iter().position(|p| p.name == first.name).map_or(0, |i| i + 1);
        return Err(Error::type_error(format!("function missing required argument '{}' (pos {place})", first.name)));
    }
    if in_numpy {
        let place = params.iter().position(|p| p.name == first.name).unwrap_or(0);
        return Err(Error::type_error(format!("{path}() missing required argument '{}' (pos {place})", first.name)));
    }
    Err(missing_arguments(path, &missing))
}

/// Builds CPython's error for missing required arguments.
fn missing_arguments(path: &str, missing: &[&Param]) -> Error {
    let kind = if missing.iter().all(|p| p.keyword_only) { "keyword-only" } else { "positional" };
    missing_names(path, kind, &missing.iter().map(|p| p.name).collect::<Vec<&str>>())
}

/// Builds CPython's error for missing required arguments, given their names. `kind` is `positional` or `keyword-only`.
pub fn missing_names(path: &str, kind: &str, missing: &[&str]) -> Error {
    let names: Vec<String> = missing.iter().map(|name| format!("'{name}'")).collect();
    let listed = match names.split_last() {
        Some((last, [first])) => format!("{first} and {last}"),
        Some((last, rest)) if !rest.is_empty() => format!("{}, and {last}", rest.join(", ")),
        _ => names.concat(),
    };
    let (count, plural) = (names.len(), if names.len() == 1 { "" } else { "s" });
    Error::type_error(format!("{path}() missing {count} required {kind} argument{plural}: {listed}"))
}

/// Binds the arguments of a Python function with `*args`: the parameters before it, all further positional arguments as
/// one tuple, and the keywords.
fn collect_rest(
    path: &str,
    method: Option<&Value>,
    before: &[Param],
    keywords: &[Param],
    arguments: &Arguments,
) -> Result<Bound> {
    let takes_all = keywords.iter().any(|p| p.kind == Kind::Keywords);
    let is_named = |name: &str| before.iter().chain(keywords).any(|p| p.name == name && p.kind != Kind::Keywords);
    let known = |name: &str| takes_all || is_named(name);
    if let Some((unknown, _)) = arguments.keywords.iter().find(|(k, _)| !known(k)) {
        return Err(Error::type_error(format!("{path}() got an unexpected keyword argument '{unknown}'")));
    }
    let mut bound = Bound::new();
    bound.extend(method.cloned());
    let mut missing = Vec::new();
    let mut positional = arguments.positional.iter();
    for param in before {
        let keyword = arguments.keywords.iter().find(|(k, _)| &**k == param.name).map(|(_, v)| v);
        match (positional.next(), keyword, param.default) {
            (Some(_), Some(_), _) => {
                return Err(Error::type_error(format!("{path}() got multiple values for argument '{}'", param.name)));
            }
            (Some(value), None, _) | (None, Some(value), _) => bound.push(value.clone()),
            (None, None, Some(default)) => bound.push(default.to_value()),
            (None, None, None) => missing.push(param),
        }
    }
    if !missing.is_empty() {
        return Err(missing_arguments(path, &missing));
    }
    bound.push(Value::tuple(positional.cloned()));
    for param in keywords {
        if param.kind == Kind::Keywords {
            let all = arguments.keywords.iter().filter(|(name, _)| !is_named(name));
            let all = all.map(|(name, value)| (Value::Str(name.clone().into()), value.clone()));
            bound.push(Value::Dict(Dict::new(all)?));
            continue;
        }
        let given = arguments.keywords.iter().find(|(k, _)| &**k == param.name).map(|(_, v)| v.clone());
        match given.or_else(|| param.default.map(|default| default.to_value())) {
            Some(value) => bound.push(value),
            None => missing.push(param),
        }
    }
    if missing.is_empty() { Ok(bound) } else { Err(missing_arguments(path, &missing)) }
}

/// Whether a value fits a parameter. If not, the element of a list that does not fit, if known.
enum Accept {
    Yes,
    No(Option<usize>),
}

fn accept(param: &Param, value: &Value) -> Accept {
    let yes = match param.kind {
        Kind::Tensor => matches!(value, Value::Tensor(_)),
        Kind::Operand => matches!(value, Value::Tensor(_) | Value::BigInt(_)) || value.as_scalar().is_some(),
        Kind::Tensors => {
            let Some(items) = list_or_tuple(value) else { return Accept::No(None) };
            return match items.iter().position(|v| !matches!(v, Value::Tensor(_))) {
                None => Accept::Yes,
                Some(i) => Accept::No(Some(i)),
            };
        }
        Kind::Number => is_number(value) || is_scalar_tensor(value),
        Kind::Int => {
            matches!(value, Value::Int(_) | Value::BigInt(_))
                || is_integer_tensor(value)
                || is_numpy_integer(value)
                || param.symbolic && index_of(value).is_some()
        }
        Kind::Float => {
            matches!(value, Value::Int(_) | Value::BigInt(_) | Value::Float(_) | Value::Bool(_))
                || is_scalar_tensor(value)
                || matches!(value, Value::Object(object) if object.number().is_some())
        }
        Kind::Numbers => list_or_tuple(value).is_some_and(|items| items.iter().all(is_number)),
        // Only the first element is checked before the overload is chosen.
        Kind::Floats => list_or_tuple(value).is_some_and(|items| items.first().is_none_or(is_number)),
        Kind::Bool => matches!(value, Value::Bool(_)),
        Kind::Str => matches!(value, Value::Str(_)),
        Kind::Ints(length) => {
            let Some(items) = list_or_tuple(value) else {
                let single = length.is_some() && is_index(value);
                return if single { Accept::Yes } else { Accept::No(None) };
            };
            return match items.first() {
                None => Accept::Yes,
                Some(first) if is_index(first) => Accept::Yes,
                Some(_) => Accept::No(Some(0)),
            };
        }
        Kind::DType => match value {
            Value::DType(_) => true,
            Value::Type(name) => dtype_of_type(name).is_some(),
            _ => false,
        },
        Kind::Device => matches!(value, Value::Device(_) | Value::Str(_) | Value::Int(_)),
        Kind::Layout => matches!(value, Value::Layout(_)),
        Kind::MemoryFormat => matches!(value, Value::MemoryFormat(_)),
        Kind::Generator => matches!(value, Value::Generator(_)),
        Kind::UntypedStorage => matches!(value, Value::Storage(_)),
        Kind::TypedStorage => matches!(value, Value::TypedStorage(_)),
        Kind::Storage => matches!(value, Value::Storage(_) | Value::TypedStorage(_)),
        Kind::Name => is_name(value),
        // Only the first element is checked before the overload is chosen.
        Kind::Names { alone } => match list_or_tuple(value) {
            Some(names) => names.first().is_none_or(is_name),
            None => alone && is_name(value),
        },
        Kind::Size => matches!(value, Value::Size(_)),
        Kind::Buffer => matches!(value, Value::Buffer(_)),
        Kind::Type => matches!(value, Value::Type(_)),
        Kind::Array => matches!(value, Value::Object(object) if object.is_array()),
        Kind::Object => matches!(value, Value::Object(_)),
        Kind::Sequence => match value {
            Value::Object(object) => object.has_special("__getitem__") && object.has_special("__len__"),
            other => other.sequence().is_some(),
        },
        Kind::Any | Kind::Rest | Kind::Keywords => true,
    };
    if yes { Accept::Yes } else { Accept::No(None) }
}

/// Returns whether a value has exactly the parameter's kind, as in most calls. [`accept`] accepts such a value, and
/// [`convert`] does not change it.
#[inline]
pub(crate) fn is_of_kind(kind: Kind, value: &Value) -> bool {
    match value {
        Value::Int(_) => matches!(kind, Kind::Int | Kind::Number | Kind::Operand | Kind::Float),
        Value::Float(_) => matches!(kind, Kind::Number | Kind::Operand | Kind::Float),
        Value::Bool(_) => kind == Kind::Bool,
        Value::Tensor(_) => matches!(kind, Kind::Tensor | Kind::Operand),
        _ => false,
    }
}

fn list_or_tuple(value: &Value) -> Option<Items<'_>> {
    match value {
        Value::Size(_) | Value::NamedTuple(_) => value.sequence().map(Items::Made),
        _ => value.items(),
    }
}

fn is_scalar_tensor(value: &Value) -> bool {
    matches!(value, Value::Tensor(t) if t.borrow().ndim() == 0 && !t.requires_grad())
}

fn is_number(value: &Value) -> bool {
    value.as_scalar().is_some() || matches!(value, Value::BigInt(_))
}

fn is_integer_tensor(value: &Value) -> bool {
    matches!(value, Value::Tensor(t) if t.borrow().ndim() == 0 && t.borrow().dtype.is_integral(false) && !t.requires_grad())
}

/// Returns whether a value has Python's `__index__` and the method succeeds.
fn is_index(value: &Value) -> bool {
    matches!(value, Value::Int(_)) || index_of(value).is_some()
}

/// Returns whether a value is a dimension name or `None`.
fn is_name(value: &Value) -> bool {
    matches!(value, Value::Str(_) | Value::None)
}

fn starts_as_ints(values: &[Value]) -> bool {
    values.first().is_some_and(is_index)
}

/// Returns the dtype that one of Python's number classes stands for.
fn dtype_of_type(name: &str) -> Option<DType> {
    Some(match name {
        "float" => DType::Double,
        "int" => DType::Long,
        "bool" => DType::Bool,
        "complex" => DType::ComplexDouble,
        _ => return None,
    })
}

/// Converts an accepted value to the form that functions read: sizes become `Size`, devices are parsed, and one-element
/// tensors become numbers.
fn convert(name: &str, param: &Param, value: &Value) -> Result<Value> {
    let single = std::slice::from_ref(value);
    Ok(match (param.kind, value) {
        // PyTorch accepts a tensor or an object with `__index__` for a list of integers, and reads it as an empty list.
        (Kind::Ints(_), Value::Tensor(_)) => Value::Size(Dims::new()),
        (Kind::Ints(_), Value::Object(_)) if !is_numpy_integer(value) => Value::Size(Dims::new()),
        (Kind::Ints(_), Value::BigInt(_)) => return Err(Error::runtime("Overflow when unpacking long")),
        (Kind::Ints(_), Value::Size(_)) => value.clone(),
        (Kind::Ints(length), _) => match (list_or_tuple(value), length) {
            (Some(items), _) => Value::Size(unpack_ints(name, param, &items)?),
            (None, Some(n)) if n > 1 => {
                let one = unpack_ints(name, param, single)?;
                Value::Size(Dims::from_elem(one.first().copied().unwrap_or_default(), usize::from(n)))
            }
            (None, _) => Value::Size(unpack_ints(name, param, single)?),
        },
        (Kind::Int, Value::BigInt(_)) => return Err(Error::runtime("Overflow when unpacking long")),
        (Kind::Int, Value::Tensor(t)) => Value::Int(t.borrow().item()?.to_i64()),
        (Kind::Int, Value::Object(_)) => index_of(value).unwrap_or_else(|| value.clone()),
        (Kind::Number | Kind::Float | Kind::Operand, Value::Object(object)) => {
            object.number().map_or_else(|| value.clone(), Value::from)
        }
        (Kind::Number | Kind::Float, Value::Tensor(t)) => Value::from(t.borrow().item()?),
        (Kind::DType, Value::Type(class)) => dtype_of_type(class).map_or(Value::None, Value::DType),
        (Kind::Device, Value::Str(text)) => Value::Device(Device::parse(text)?),
        (Kind::Device, Value::Int(index)) => Value::Device(Device::parse(&format!("cuda:{index}"))?),
        (Kind::Name, name) => {
            checked_names(single)?;
            name.clone()
        }
        (Kind::Names { .. }, names) => {
            checked_names(&list_or_tuple(names).unwrap_or(Items::Tuple(single)))?;
            names.clone()
        }
        _ => value.clone(),
    })
}

/// Checks that dimension names are identifiers or `None`.
fn checked_names(names: &[Value]) -> Result<()> {
    for name in names {
        match name {
            Value::None => {}
            Value::Str(name) => check_identifier(name)?,
            other => {
                let text = format!("expected None or string for Dimname but got {}", other.type_name());
                return Err(Error::type_error(text));
            }
        }
    }
    Ok(())
}

fn unpack_ints(name: &str, param: &Param, items: &[Value]) -> Result<Dims> {
    let mut dims = Dims::new();
    for (i, item) in items.iter().enumerate() {
        let wrong = |why: String| {
            let name = name.rsplit('.').next().unwrap_or(name);
            Error::type_error(format!(
                "{name}(): argument '{}' failed to unpack the object at pos {} with error \"{why}\"",
                param.shown_name(),
                i + 1
            ))
        };
        dims.push(match item {
            Value::Int(v) => *v,
            Value::BigInt(_) => return Err(wrong("Overflow when unpacking long".into())),
            Value::Tensor(_) | Value::Object(_) if let Some(Value::Int(index)) = index_of(item) => index,
            other => return Err(wrong(format!("type must be tuple of ints,but got {}", other.type_name()))),
        });
    }
    Ok(dims)
}

/// Builds Python's TypeError for an operator that is undefined for its operands.
pub fn unsupported_operands(symbol: &str, left: &Value, right: &Value) -> Error {
    Error::new(
        ErrorKind::TypeError,
        format!("unsupported operand type(s) for {symbol}: '{}' and '{}'", left.type_name(), right.type_name()),
    )
}
