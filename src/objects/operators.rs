//! Operators, one row each. Tensors go through the function table; Python's own values follow Python's rules.

use crate::bounds;
use crate::calling::call_plain;
use crate::iterate::{items, iterate};
use crate::plain::slices::as_index;
use crate::plain::type_forms;
use crate::strings::bytes;
use crate::strings::percent::percent;
use crate::subscript;
use call::bind::{Arguments, unsupported_operands};
use call::dispatch;
use call::signature::Kind;
use call::state::State;
use call::{Call, Overloads, Receiver, stack, suggest};
use std::cmp::Ordering;
use std::sync::OnceLock;
use tensor::bail;
use tensor::interrupt::{self, watched};
use tensor::{BufferKind, Error, ErrorKind, Result, limits};
use value::equality::{Number, SPECIAL, call_special, equals, is, matches, number, special, truth};
use value::numbers::{
    NumberResult, add, bits, compare, floor_divide, inverted, mul, negative, power, remainder, shift_left, shift_right,
    sub, true_divide,
};
use value::{Dict, Slice, Value, sets, sizes_of};

/// A binary operator.
pub struct Operator {
    /// The symbol in scripts. Rhai cannot spell Python's `//`, which is called by its method name.
    pub symbol: &'static str,
    /// Python's symbol, for messages.
    pub python: &'static str,
    /// The name of the tensor method, `add` for `x.add(y)`.
    pub method: &'static str,
    /// The function for a number on the left. `None` calls `method` with the operands swapped.
    reflected: Option<&'static str>,
    pub in_place: Option<&'static str>,
    numbers: Option<fn(Number, Number) -> NumberResult>,
    /// The methods of `method`, once they were looked up.
    methods: OnceLock<Option<&'static Overloads>>,
}

impl Operator {
    /// Calls the method of a tensor with the other operand.
    fn apply(&self, state: &State, this: &Value, other: &Value) -> Result<Value> {
        let find = || state.registry.find(self.method, Receiver::Class(Kind::Tensor));
        call_method(state, self.method, *self.methods.get_or_init(find), this, std::slice::from_ref(other))
    }
}

const fn operator(
    symbol: &'static str,
    method: &'static str,
    reflected: Option<&'static str>,
    in_place: Option<&'static str>,
    numbers: Option<fn(Number, Number) -> NumberResult>,
) -> Operator {
    spelled(symbol, symbol, method, reflected, in_place, numbers)
}

/// An operator whose symbol in messages differs.
const fn spelled(
    symbol: &'static str,
    python: &'static str,
    method: &'static str,
    reflected: Option<&'static str>,
    in_place: Option<&'static str>,
    numbers: Option<fn(Number, Number) -> NumberResult>,
) -> Operator {
    Operator { symbol, python, method, reflected, in_place, numbers, methods: OnceLock::new() }
}

pub static BINARY: [Operator; 19] = [
    operator("+", "add", None, Some("+="), Some(add)),
    operator("-", "sub", Some("rsub"), Some("-="), Some(sub)),
    operator("*", "mul", None, Some("*="), Some(mul)),
    operator("/", "div", Some("rdiv"), Some("/="), Some(true_divide)),
    spelled("__floordiv__", "//", "floor_divide", Some("floor_divide"), None, Some(floor_divide)),
    operator("%", "remainder", Some("remainder"), Some("%="), Some(remainder)),
    spelled("**", "** or pow()", "pow", Some("pow"), Some("**="), Some(power)),
    operator("@", "matmul", None, None, None),
    operator("==", "eq", None, None, None),
    operator("!=", "ne", None, None, None),
    operator("<", "lt", Some("gt"), None, Some(|a, b| compare(&a, &b, Ordering::is_lt))),
    operator("<=", "le", Some("ge"), None, Some(|a, b| compare(&a, &b, Ordering::is_le))),
    operator(">", "gt", Some("lt"), None, Some(|a, b| compare(&a, &b, Ordering::is_gt))),
    operator(">=", "ge", Some("le"), None, Some(|a, b| compare(&a, &b, Ordering::is_ge))),
    operator("&", "bitwise_and", None, Some("&="), Some(|a, b| bits(&a, &b, |a, b| a & b, |a, b| a & b))),
    operator("|", "bitwise_or", None, Some("|="), Some(|a, b| bits(&a, &b, |a, b| a | b, |a, b| a | b))),
    operator("^", "bitwise_xor", None, Some("^="), Some(|a, b| bits(&a, &b, |a, b| a ^ b, |a, b| a ^ b))),
    operator("<<", "bitwise_left_shift", Some("bitwise_left_shift"), Some("<<="), Some(shift_left)),
    operator(">>", "bitwise_right_shift", Some("bitwise_right_shift"), Some(">>="), Some(shift_right)),
];

/// Unary operators and the function each calls on a tensor.
pub const UNARY: &[(&str, &str)] =
    &[("-", "neg"), ("+", "positive"), ("!", "logical_not"), ("__invert__", "bitwise_not")];

/// Finds an operator by its symbol in scripts or in Python.
pub fn find(symbol: &str) -> Option<&'static Operator> {
    BINARY.iter().find(|o| o.symbol == symbol || o.python == symbol)
}

/// Applies an operator to the first two arguments of a call.
///
/// # Errors
/// Those of [`binary`].
pub fn called(call: &Call, symbol: &str) -> Result<Value> {
    match find(symbol) {
        Some(operator) => binary(call.state, operator, &call.value(0), &call.value(1)),
        None => bail!(TypeError, "there is no operator {symbol}"),
    }
}

/// Computes `a / divisor` as `divisor.reciprocal() * a`, like PyTorch's `Tensor.__rdiv__`.
pub fn quotient(state: &State, a: &Value, divisor: &Value) -> Result<Value> {
    apply(state, "mul", &method(state, "reciprocal", divisor)?, a)
}

/// `a op b`.
///
/// # Errors
/// TypeError in Python's words if the operands do not support the operator; errors of the function called.
pub fn binary(state: &State, operator: &Operator, a: &Value, b: &Value) -> Result<Value> {
    if let Some(answer) = special(operator.symbol, a, b) {
        return answer;
    }
    // The values of objects whose classes derive from Python's own, which have no such method themselves.
    let held = |value: &Value| value.underlying().filter(|held| !matches!(held, Value::Object(_)));
    let (own, others) = (held(a), held(b));
    if own.is_some() || others.is_some() {
        return binary(state, operator, own.as_ref().unwrap_or(a), others.as_ref().unwrap_or(b));
    }
    // `@` takes tensors only.
    let matrices = operator.symbol == "@";
    match (a, b) {
        (Value::Tensor(_), Value::Tensor(_)) => operator.apply(state, a, b),
        (Value::Tensor(_), _) if is_operand(b) && !matrices => operator.apply(state, a, b),
        (_, Value::Tensor(_)) if is_operand(a) && !matrices => match (operator.reflected, operator.symbol) {
            // A comparison is mirrored: `2 < x` calls `x.gt(2)`.
            (Some(mirrored), "<" | "<=" | ">" | ">=") => apply(state, mirrored, b, a),
            (Some("rsub"), _) => apply(state, "rsub", b, a),
            (Some("rdiv"), _) => quotient(state, a, b),
            (Some(function), _) => apply_function(state, function, a, b),
            (None, _) => operator.apply(state, b, a),
        },
        (Value::Str(pattern), _) if operator.symbol == "%" => percent(state, pattern, b, false),
        (Value::Type(_) | Value::Object(_) | Value::None, _)
            if operator.symbol == "|"
                && let Some(union) = type_forms::union(a, b) =>
        {
            Ok(union)
        }
        _ => plain(state, operator, a, b),
    }
}

/// `a op= b`. Changes a tensor or a mutable container in place and returns it; other values get a new value.
pub fn in_place(state: &State, operator: &Operator, a: &Value, b: &Value) -> Result<Value> {
    if let Some(changed) = changed_container(state, operator, a, b)? {
        return Ok(changed);
    }
    match a {
        Value::Object(_)
            if let Some((_, left, _)) = SPECIAL.iter().find(|(known, ..)| *known == operator.symbol)
                && let Some(answer) = call_special(a, &left.replacen("__", "__i", 1), b) =>
        {
            answer
        }
        // PyTorch has no in-place matrix product.
        Value::Tensor(_) if operator.symbol == "@" => binary(state, operator, a, b),
        Value::Tensor(_) if is_operand(b) => apply(state, &format!("{}_", operator.method), a, b),
        // A container such as a dict is not tried as a number of repetitions, so the error names `*=`.
        _ if operator.symbol == "*" && is_sequence(b) && !is_sequence(a) && has_items(a) => {
            let answer = special("*", a, b);
            answer.unwrap_or_else(|| Err(unsupported_operands("*=", a, b)))
        }
        _ => binary(state, operator, a, b).map_err(|error| {
            // Python's message names the operator as written.
            let symbol = operator.python.split(' ').next().unwrap_or(operator.python);
            let unsupported = format!("unsupported operand type(s) for {}:", operator.python);
            match error.message.strip_prefix(&unsupported).filter(|_| error.raised.is_none()) {
                Some(rest) => Error::type_error(format!("unsupported operand type(s) for {symbol}=:{rest}")),
                None => error,
            }
        }),
    }
}

pub fn unary(state: &State, name: &str, a: &Value) -> Result<Value> {
    let wrong = |symbol: &str| Error::type_error(format!("bad operand type for unary {symbol}: '{}'", a.type_name()));
    let method_of = match name {
        "neg" => "__neg__",
        "positive" => "__pos__",
        _ => "__invert__",
    };
    match (name, a) {
        ("neg" | "positive" | "bitwise_not", Value::Object(object))
            if let Some(answer) = object.special(method_of, &[]) =>
        {
            answer
        }
        ("bitwise_not", Value::Tensor(t)) if !t.borrow().dtype.is_integral(true) => {
            Err(Error::type_error("~ (operator.invert) is only implemented on integer and Boolean-type tensors"))
        }
        (_, Value::Tensor(_)) => method(state, name, a),
        ("logical_not", other) => Ok(Value::Bool(!truth(other)?)),
        ("neg", _) => number(a).map(negative).ok_or_else(|| wrong("-")),
        ("positive", _) => number(a).map(Value::from).ok_or_else(|| wrong("+")),
        _ => number(a).and_then(inverted).ok_or_else(|| wrong("~")),
    }
}

pub(super) fn is_operand(value: &Value) -> bool {
    // A number beyond 64 bits is an operand too: the function fails with OverflowError.
    matches!(value, Value::Tensor(_) | Value::BigInt(_)) || value.as_scalar().is_some()
}

/// Calls a method of a tensor with one argument.
fn apply(state: &State, name: &str, this: &Value, other: &Value) -> Result<Value> {
    call_on(state, name, this, std::slice::from_ref(other))
}

/// Calls a method of a tensor without arguments.
pub fn method(state: &State, name: &str, this: &Value) -> Result<Value> {
    call_on(state, name, this, &[])
}

/// Calls a method of a tensor.
pub fn call_on(state: &State, name: &str, this: &Value, args: &[Value]) -> Result<Value> {
    call_method(state, name, state.registry.find(name, Receiver::Class(Kind::Tensor)), this, args)
}

/// Calls a method of a tensor that was looked up by its name.
fn call_method(
    state: &State,
    name: &str,
    overloads: Option<&Overloads>,
    this: &Value,
    args: &[Value],
) -> Result<Value> {
    let Some(overloads) = overloads else { return Err(suggest::no_attribute(state, this, name)) };
    if let Value::Tensor(tensor) = this
        && let Some(result) = dispatch::try_plain_method(state, overloads, tensor.clone(), args.iter())
    {
        return result;
    }
    let arguments = Arguments { positional: args.iter().cloned().collect(), keywords: Vec::new() };
    dispatch::call(state, overloads, Some(this), &arguments)
}

fn apply_function(state: &State, name: &str, a: &Value, b: &Value) -> Result<Value> {
    let Some(overloads) = state.registry.find(name, Receiver::Module("")) else {
        return Err(suggest::no_attribute(state, &Value::Module("torch"), name));
    };
    let arguments = Arguments { positional: [a.clone(), b.clone()].into_iter().collect(), keywords: Vec::new() };
    dispatch::call(state, overloads, None, &arguments)
}

/// Operators between values that are not tensors.
fn plain(state: &State, operator: &Operator, a: &Value, b: &Value) -> Result<Value> {
    match operator.symbol {
        "==" => return equals(a, b).map(Value::Bool),
        "!=" => return equals(a, b).map(|equal| Value::Bool(!equal)),
        _ => {}
    }
    if let (Some(x), Some(y), Some(numbers)) = (number(a), number(b), operator.numbers)
        && let Some(answer) = numbers(x, y)
    {
        return match (operator.symbol, a, b, answer?) {
            // Bitwise operators between bools return a bool.
            ("&" | "|" | "^", Value::Bool(_), Value::Bool(_), Value::Int(bit)) => Ok(Value::Bool(bit != 0)),
            (.., answer) => Ok(answer),
        };
    }
    if let (Value::Set(x), Value::Set(y)) = (a, b)
        && let Some(answer) = value::sets::combined(operator.symbol, x, y)?
    {
        return Ok(answer);
    }
    if let Some(answer) = bytes::operated(state, operator.symbol, a, b) {
        return answer;
    }
    match (operator.symbol, a, b) {
        ("+", Value::Str(x), Value::Str(y)) => bounds::joined(&[x, y], "").map(Value::str),
        ("+", Value::Str(_), other) => {
            Err(Error::type_error(format!("can only concatenate str (not \"{}\") to str", other.type_name())))
        }
        ("+", Value::List(x), Value::List(y)) => {
            limits::room_for::<Value>(x.len() + y.len())?;
            Ok(Value::list(x.borrow().iter().chain(y.borrow().iter()).cloned()))
        }
        ("+", Value::List(_), other) => {
            Err(Error::type_error(format!("can only concatenate list (not \"{}\") to list", other.type_name())))
        }
        ("+", Value::Size(x), Value::Size(y)) => Ok(Value::Size(x.iter().chain(y).copied().collect())),
        (
            "+",
            Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_),
            Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_),
        ) => {
            let (x, y) = (a.sequence().unwrap_or_default(), b.sequence().unwrap_or_default());
            limits::room_for::<Value>(x.len() + y.len())?;
            let joined: Vec<Value> = x.into_iter().chain(y).collect();
            if let Value::Size(_) = a { sizes_of(&joined).map(Value::Size) } else { Ok(Value::tuple(joined)) }
        }
        ("+", Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_), other) => {
            Err(Error::type_error(format!("can only concatenate tuple (not \"{}\") to tuple", other.type_name())))
        }
        ("|", Value::Dict(x), Value::Dict(y)) => {
            let merged = x.to_kind(x.is_ordered());
            y.to_vec().into_iter().try_for_each(|(key, value)| merged.insert(key, value))?;
            Ok(Value::Dict(merged))
        }
        ("*", sequence, n) | ("*", n, sequence) if is_sequence(sequence) => repeat(sequence, repetitions(n)?),
        ("<" | "<=" | ">" | ">=", Value::Str(x), Value::Str(y)) => Ok(Value::Bool(match operator.symbol {
            "<" => x < y,
            "<=" => x <= y,
            ">" => x > y,
            _ => x >= y,
        })),
        ("<" | "<=" | ">" | ">=", Value::List(x), Value::List(y)) => {
            in_order(state, operator, &x.to_vec(), &y.to_vec())
        }
        (
            "<" | "<=" | ">" | ">=",
            Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_),
            Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_),
        ) => in_order(state, operator, &a.sequence().unwrap_or_default(), &b.sequence().unwrap_or_default()),
        ("<" | "<=" | ">" | ">=", Value::Slice(x), Value::Slice(y)) => {
            let parts = |slice: &Slice| [slice.start.clone(), slice.stop.clone(), slice.step.clone()];
            in_order(state, operator, &parts(x), &parts(y))
        }
        ("<" | "<=" | ">" | ">=", ..) => Err(unordered(operator, a, b)),
        _ => Err(unsupported_operands(operator.python, a, b)),
    }
}

/// Compares two sequences by their first different items, or by their lengths if there are none.
fn in_order(state: &State, operator: &Operator, a: &[Value], b: &[Value]) -> Result<Value> {
    for (x, y) in a.iter().zip(b) {
        if !is_or_equals(state, x, y)? {
            // A list may contain itself.
            stack::check()?;
            return binary(state, operator, x, y);
        }
    }
    plain(state, operator, &Value::Int(a.len() as i64), &Value::Int(b.len() as i64))
}

/// Returns whether two values are identical or equal, the test that containers apply to their items.
///
/// # Errors
/// Errors of the comparison; RuntimeError for tensors of several elements.
pub fn is_or_equals(state: &State, a: &Value, b: &Value) -> Result<bool> {
    if let (Value::Tensor(_), _) | (_, Value::Tensor(_)) = (a, b)
        && !is(a, b)
        && let Some(operator) = find("==")
    {
        return binary(state, operator, a, b).and_then(|answer| truth(&answer));
    }
    matches(a, b)
}

/// Applies an in-place operator to a list, dictionary, set or bytearray. Returns `None` if it does not change `a`.
fn changed_container(state: &State, operator: &Operator, a: &Value, b: &Value) -> Result<Option<Value>> {
    match (operator.symbol, a, b) {
        ("+", Value::List(list), _) => {
            let more = items(state, b)?;
            limits::grown_to::<Value>(list.len().saturating_add(more.len()))?;
            list.change(|held| held.extend(more))?;
        }
        ("*", Value::List(list), n) if !matches!(n, Value::Object(_) | Value::Tensor(_)) => {
            if let Value::List(repeated) = repeat(a, repetitions(n)?)? {
                list.replace(repeated.to_vec())?;
            }
        }
        ("+" | "*", Value::Buffer(buffer), _)
            if buffer.kind() == BufferKind::ByteArray && !matches!(b, Value::Object(_)) =>
        {
            if let Value::Buffer(changed) = plain(state, operator, a, b)? {
                buffer.replace(&bytes::raw(&changed)?)?;
            }
        }
        ("|", Value::Dict(dict), _) => update(state, dict, b)?,
        ("|", Value::Set(x), Value::Set(y)) if !x.is_frozen() => {
            y.to_vec().into_iter().try_for_each(|i| x.insert(i))?
        }
        ("&" | "-" | "^", Value::Set(x), Value::Set(y)) if !x.is_frozen() => {
            if let Some(Value::Set(left)) = sets::combined(operator.symbol, x, y)? {
                let left = left.borrow().clone();
                // The removed items are dropped after the set's borrow has ended.
                drop(x.change(|items| std::mem::replace(items, left))?);
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(a.clone()))
}

/// Inserts the entries of a mapping, or key-value pairs, into a dictionary.
///
/// # Errors
/// TypeError and ValueError in Python's words if `with` is neither a mapping nor pairs; errors of hashing a key.
pub fn update(state: &State, dict: &Dict, with: &Value) -> Result<()> {
    if let Value::Dict(other) = with {
        return other.to_vec().into_iter().try_for_each(|(key, value)| dict.insert(key, value));
    }
    if let Value::Object(object) = with
        && let Some(keys) = object.own_attribute("keys").and_then(Result::ok).or_else(|| object.attribute("keys"))
    {
        let keys = items(state, &call_plain(state, &keys, Vec::new())?)?;
        return keys.into_iter().try_for_each(|key| {
            let value = subscript::item(state, with, &key)?;
            dict.insert(key, value)
        });
    }
    let mut entries = iterate(state, with)?;
    let mut at = 0;
    while let Some(entry) = entries.next()? {
        interrupt::check_at(at)?;
        let pair = match iterate(state, &entry) {
            Ok(pair) => pair.collect()?,
            Err(_) => {
                let message = format!("cannot convert dictionary update sequence element #{at} to a sequence");
                return Err(Error::type_error(message));
            }
        };
        let [key, value] = <[Value; 2]>::try_from(pair).map_err(|pair| {
            let length = pair.len();
            Error::value(format!("dictionary update sequence element #{at} has length {length}; 2 is required"))
        })?;
        dict.insert(key, value)?;
        at += 1;
    }
    Ok(())
}

/// Returns whether the class of a value defines item access. CPython words some errors accordingly.
pub(crate) fn has_items(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            matches!(object.class(), Some(Value::Object(_))) || object.as_any().is::<crate::plain::dicts::View>()
        }
        Value::Dict(_) | Value::Set(_) | Value::Range(_) | Value::Storage(_) | Value::Buffer(_) => true,
        other => is_sequence(other),
    }
}

fn is_sequence(value: &Value) -> bool {
    match value {
        Value::Buffer(buffer) => bytes::is_bytes(buffer),
        _ => matches!(value, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_)),
    }
}

/// Reads the number of repetitions of a sequence.
fn repetitions(n: &Value) -> Result<i64> {
    match n {
        Value::BigInt(_) => Err(Error::new(ErrorKind::OverflowError, "cannot fit 'int' into an index-sized integer")),
        _ => as_index(n)?.ok_or_else(|| {
            Error::type_error(format!("can't multiply sequence by non-int of type '{}'", n.type_name()))
        }),
    }
}

fn unordered(operator: &Operator, a: &Value, b: &Value) -> Error {
    Error::type_error(format!(
        "'{}' not supported between instances of '{}' and '{}'",
        operator.python,
        a.type_name(),
        b.type_name()
    ))
}

/// Repeats a sequence `n` times.
fn repeat(sequence: &Value, n: i64) -> Result<Value> {
    let n = limits::count(n);
    let all = |items: &[Value]| -> Result<Vec<Value>> {
        let count = items.len().saturating_mul(n);
        let mut repeated = limits::list(count)?;
        repeated.extend(watched((0..count).filter_map(|i| items.get(i % items.len()).cloned())));
        Ok(repeated)
    };
    match sequence {
        Value::Str(s) => bounds::repeated(s, n).map(Value::str),
        Value::Buffer(buffer) => bytes::repeated(buffer, n),
        Value::List(list) => Ok(Value::List(all(&list.borrow())?.into())),
        Value::Size(sizes) => {
            limits::room_for::<i64>(sizes.len().saturating_mul(n))?;
            Ok(Value::size(&sizes.repeat(n)))
        }
        other => Ok(Value::Tuple(all(&other.sequence().unwrap_or_default())?.into())),
    }
}
