//! Operators of arrays and scalars, and the conversions that Python's own functions ask objects for. Each operator is a
//! ufunc; what happens between arrays and tensors follows PyTorch 2.7.

use crate::array::Array;
use crate::descr::{Descr, Kind, Weak};
use crate::ndarray::{NdArray, Number};
use crate::settings;
use crate::ufunc::{self, FpFlags, Operand, Short};
use crate::{bridge, call_ufunc, convert};
use call::State;
use num_traits::ToPrimitive;
use objects::operators;
use tensor::{Error, ErrorKind, Result, Scalar, bail};
use value::{Object, Value};

/// The operators: the name of the special method without underscores, the ufunc, and Python's symbol in messages.
const OPERATORS: &[(&str, &str, &str)] = &[
    ("add", "add", "+"),
    ("sub", "subtract", "-"),
    ("mul", "multiply", "*"),
    ("truediv", "divide", "/"),
    ("floordiv", "floor_divide", "//"),
    ("mod", "remainder", "%"),
    ("pow", "power", "** or pow()"),
    ("matmul", "matmul", "@"),
    ("and", "bitwise_and", "&"),
    ("or", "bitwise_or", "|"),
    ("xor", "bitwise_xor", "^"),
    ("lshift", "left_shift", "<<"),
    ("rshift", "right_shift", ">>"),
    ("eq", "equal", "=="),
    ("ne", "not_equal", "!="),
    ("lt", "less", "<"),
    ("le", "less_equal", "<="),
    ("gt", "greater", ">"),
    ("ge", "greater_equal", ">="),
    ("divmod", "divmod", "divmod()"),
];

const UNARY: &[(&str, &str)] = &[("neg", "negative"), ("pos", "positive"), ("abs", "absolute"), ("invert", "invert")];

/// The operand that an operator's method is called on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    InPlace,
}

fn parsed(name: &str) -> Option<(&'static str, Side)> {
    let bare = name.strip_prefix("__")?.strip_suffix("__")?;
    let find = |bare: &str| OPERATORS.iter().find(|(known, ..)| *known == bare).map(|(_, ufunc, _)| *ufunc);
    if let Some(ufunc) = find(bare) {
        return Some((ufunc, Side::Left));
    }
    let (first, rest) = bare.split_at_checked(1)?;
    match first {
        "r" => Some((find(rest)?, Side::Right)),
        "i" => Some((find(rest)?, Side::InPlace)),
        _ => None,
    }
}

pub(crate) fn is_operator(name: &str) -> bool {
    parsed(name).is_some_and(|(_, side)| side != Side::InPlace)
        || UNARY.iter().any(|(bare, _)| name.trim_matches('_') == *bare)
}

/// Reads an operand of a ufunc; `None` for values that are neither numbers nor arrays nor nests of them.
///
/// # Errors
/// Those of [`convert::array`].
pub(crate) fn operand(value: &Value) -> Result<Option<Operand>> {
    Ok(Some(match value {
        Value::Int(i) => Operand::Weak(Weak::Integer, Scalar::Int(*i)),
        Value::Float(f) => Operand::Weak(Weak::Floating, Scalar::Float(*f)),
        Value::Complex(c) => Operand::Weak(Weak::Complex, Scalar::Complex(*c)),
        Value::Bool(b) => Operand::Array(Array::scalar(Scalar::Bool(*b), Descr::BOOL)?),
        Value::BigInt(i) => match i.to_u64() {
            Some(i) => Operand::Weak(Weak::Integer, Scalar::UInt(i)),
            None => Operand::Big(i.to_string(), value::integers::to_float(i).unwrap_or(f64::INFINITY)),
        },
        Value::List(_) | Value::Tuple(_) | Value::Range(_) | Value::Size(_) => {
            Operand::Array(convert::array(value, None)?)
        }
        other => match convert::held(other)? {
            Some(array) => Operand::Array(array),
            None => return Ok(None),
        },
    }))
}

/// Calls a special method of an array or a scalar; `None` if it has none of this name or does not support the operand.
pub(crate) fn special(this: &Value, name: &str, args: &[Value]) -> Option<Result<Value>> {
    if let Some((ufunc, side)) = parsed(name) {
        let [other] = args else {
            // `pow` with a modulus.
            return None;
        };
        return binary(this, ufunc, side, other);
    }
    match (name.trim_matches('_'), args) {
        (bare, []) if let Some((_, ufunc)) = UNARY.iter().find(|(known, _)| *known == bare) => Some(unary(this, ufunc)),
        ("bool", []) => Some(truth(this).map(Value::Bool)),
        ("int", []) => Some(python(this, "int")),
        ("float", []) => Some(python(this, "float")),
        ("complex", []) => Some(python(this, "complex")),
        ("index", []) => index(this),
        ("hash", []) => Some(Err(Error::type_error("unhashable type: 'numpy.ndarray'"))),
        ("delitem", [_]) if NdArray::of(this).is_some() => Some(Err(Error::value("cannot delete array elements"))),
        ("contains", [item]) => Some(contains(this, item)),
        ("round", _) if let Some(number) = Number::in_value(this) => round(&number, args),
        ("copy", []) => Some(copied(this)),
        ("deepcopy", [_]) => Some(copied(this)),
        ("len", []) => NdArray::of(this)?.length(),
        _ => None,
    }
}

fn truth(this: &Value) -> Result<bool> {
    match Number::in_value(this) {
        Some(number) => Ok(number.value.truth()),
        None => truth_of(&convert::array(this, None)?),
    }
}

fn copied(this: &Value) -> Result<Value> {
    match NdArray::of(this) {
        Some(array) => {
            let array = array.array();
            Ok(NdArray::value(array.copied(array.descr, crate::Order::Keep)?))
        }
        None => Ok(this.clone()),
    }
}

fn unary(this: &Value, name: &str) -> Result<Value> {
    call_ufunc::apply(name, std::slice::from_ref(this), None)
}

/// Converts to a number of Python by `int`, `float` or `complex`.
fn python(this: &Value, function: &str) -> Result<Value> {
    let value = Value::from(single(&convert::array(this, None)?)?);
    // Numbers that drop their imaginary part do so without an error, as in NumPy.
    let value = match (&value, function) {
        (Value::Complex(c), "int" | "float") => Value::Float(c.re),
        _ => value,
    };
    State::current()?.call_given(&Value::Function(format!("py.{function}").into()), vec![value])
}

fn index(this: &Value) -> Option<Result<Value>> {
    let array = match convert::array(this, None) {
        Ok(array) => array,
        Err(error) => return Some(Err(error)),
    };
    if array.ndim() == 0 && array.descr.is_integral() {
        return Some(array.item().map(Value::from));
    }
    match Number::in_value(this) {
        // A scalar that is no integer has no such method.
        Some(_) => None,
        None => Some(Err(Error::type_error("only integer scalar arrays can be converted to a scalar index"))),
    }
}

fn contains(this: &Value, item: &Value) -> Result<Value> {
    let equal = call_ufunc::apply("equal", &[this.clone(), item.clone()], None)?;
    let equal = convert::array(&equal, None)?;
    Ok(Value::Bool(equal.scalars()?.iter().any(|answer| answer.truth())))
}

/// `round(scalar)`: an integer of Python without a number of digits, else a scalar.
fn round(number: &Number, args: &[Value]) -> Option<Result<Value>> {
    match args {
        _ if matches!(number.descr.kind(), Kind::Bool | Kind::Complex) => {
            let class = number.class_name();
            Some(Err(Error::type_error(format!("type {class} doesn't define __round__ method"))))
        }
        [] | [Value::None] => Some(match number.descr.kind() {
            Kind::Floating => State::current()
                .and_then(|state| state.call_given(&Value::Function("py.round".into()), vec![number.python()])),
            _ => Ok(number.python()),
        }),
        [digits] => {
            let state = match State::current() {
                Ok(state) => state,
                Err(error) => return Some(Err(error)),
            };
            Some(rounded(&state, &number.value(), digits))
        }
        _ => None,
    }
}

/// `this op other`, or `other op this`.
/// Computes an operator between small arrays, or a small array and a number; `None` for anything else.
fn of_few(this: &Value, ufunc: &str, side: Side, other: &Value) -> Option<Array> {
    let ours = NdArray::of(this)?;
    let ours = ours.shown();
    let call = |other: Short| {
        let pair = if side == Side::Right { (other, Short::Array(&ours)) } else { (Short::Array(&ours), other) };
        ufunc::call_few(ufunc::find(ufunc)?, pair.0, pair.1)
    };
    match other {
        Value::Int(number) => call(Short::Number(Weak::Integer, Scalar::Int(*number))),
        Value::Float(number) => call(Short::Number(Weak::Floating, Scalar::Float(*number))),
        Value::Object(_) => call(Short::Array(&NdArray::of(other)?.shown())),
        _ => None,
    }
}

fn binary(this: &Value, ufunc: &'static str, side: Side, other: &Value) -> Option<Result<Value>> {
    if let Value::Tensor(_) = other {
        // A scalar counts as a number of Python there.
        return if NdArray::of(this).is_some() { with_tensor(this, ufunc, side, other) } else { None };
    }
    if side != Side::InPlace
        && let Some(result) = of_few(this, ufunc, side, other)
    {
        return Some(Ok(NdArray::value(result)));
    }
    // Text on the left formats, and a scalar is not joined to it.
    if let (Side::Right, Value::Str(_)) = (side, other)
        && (ufunc == "remainder" || Number::in_value(this).is_some() && ufunc == "add")
    {
        return None;
    }
    // An object that brings its own operators decides.
    if let Value::Object(object) = other
        && !object.is_array()
        && side != Side::InPlace
        && object.class().is_some()
    {
        return None;
    }
    let number = Number::in_value(this);
    // Scalars have no product of matrices.
    if number.is_some() && ufunc == "matmul" && NdArray::of(other).is_none() {
        return None;
    }
    if let (Some(number), "multiply", Value::List(_) | Value::Tuple(_) | Value::Str(_)) = (number, ufunc, other) {
        return repeated(&number, this, other);
    }
    match operand(other) {
        Ok(None) => return unlike(this, ufunc, side, other),
        Err(error) if error.kind == ErrorKind::NotImplementedError => return unlike(this, ufunc, side, other),
        Ok(Some(_)) | Err(_) => {}
    }
    // Complex scalars have no such operators.
    let is_complex = |value: &Value| match Number::in_value(value) {
        Some(number) => number.descr.kind() == Kind::Complex,
        None => matches!(value, Value::Complex(_)),
    };
    if number.is_some()
        && NdArray::of(other).is_none()
        && matches!(ufunc, "floor_divide" | "remainder" | "divmod")
        && (is_complex(this) || is_complex(other))
    {
        return None;
    }
    let pair = match side {
        Side::Right => [other.clone(), this.clone()],
        _ => [this.clone(), other.clone()],
    };
    match side {
        Side::InPlace => {
            // Scalars have no operators in place.
            NdArray::of(this)?;
            if ufunc == "divmod" {
                return None;
            }
            if ufunc == "matmul" {
                return Some(call_ufunc::apply(ufunc, &pair, None).and_then(|product| {
                    let array = NdArray::of(this).ok_or_else(|| Error::runtime("not an array"))?;
                    array.check_writeable("output array")?;
                    crate::index::store(&array.array(), &product)?;
                    Ok(this.clone())
                }));
            }
            Some(call_ufunc::apply(
                power_by(ufunc, &pair),
                call_ufunc::trimmed(power_by(ufunc, &pair), &pair),
                Some(this),
            ))
        }
        _ => {
            let name = power_by(ufunc, &pair);
            if let Err(error) = check_overflow(ufunc, &pair) {
                return Some(Err(error));
            }
            Some(call_ufunc::apply(name, call_ufunc::trimmed(name, &pair), None))
        }
    }
}

/// Reports the overflow of an operation on two scalars that are integers, which wraps.
fn check_overflow(ufunc: &str, pair: &[Value; 2]) -> Result<()> {
    let whole = |value: &Value| match value {
        Value::Int(i) => Some((i128::from(*i), None)),
        other => match Number::in_value(other) {
            Some(number) if number.descr.is_integral() => match number.value {
                Scalar::UInt(u) => Some((i128::from(u), Some(number.descr.dtype))),
                other => Some((i128::from(other.to_i64()), Some(number.descr.dtype))),
            },
            _ => None,
        },
    };
    let (Some((a, first)), Some((b, second))) = (whole(&pair[0]), whole(&pair[1])) else { return Ok(()) };
    let dtype = match (first, second) {
        (Some(first), Some(second)) => crate::promoted(first, second),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return Ok(()),
    };
    let exact = match ufunc {
        "add" => a.checked_add(b),
        "subtract" => a.checked_sub(b),
        "multiply" => a.checked_mul(b),
        _ => return Ok(()),
    };
    if !Descr::native(dtype).is_integral() {
        return Ok(());
    }
    let (low, high) = tensor::element::integer_limits(dtype);
    match exact.is_some_and(|exact| (low..=high).contains(&exact)) {
        true => Ok(()),
        false => settings::report(ufunc, FpFlags::OVERFLOW, true),
    }
}

/// Returns the ufunc that NumPy computes a power by: small exponents have functions of their own.
fn power_by(ufunc: &'static str, pair: &[Value; 2]) -> &'static str {
    let (base, exponent) = (&pair[0], &pair[1]);
    let exponent = match exponent {
        Value::Int(i) => *i as f64,
        Value::Float(f) => *f,
        _ => return ufunc,
    };
    let is_weak_float = matches!(pair[1], Value::Float(_));
    let Some(array) = NdArray::of(base).map(|base| base.array()).filter(|_| ufunc == "power") else { return ufunc };
    let inexact = array.descr.is_inexact();
    match exponent {
        2.0 if inexact || !is_weak_float => "square",
        1.0 if inexact => "positive",
        -1.0 if inexact => "reciprocal",
        0.5 if inexact => "sqrt",
        _ => ufunc,
    }
}

/// `scalar * sequence`: a scalar is a number of repetitions.
fn repeated(number: &Number, this: &Value, sequence: &Value) -> Option<Result<Value>> {
    if !number.descr.is_integral() {
        return match sequence {
            Value::Str(_) => Some(Err(Error::type_error(format!(
                "can't multiply sequence by non-int of type '{}'",
                this.type_name()
            )))),
            _ => Some(call_ufunc::apply("multiply", &[this.clone(), sequence.clone()], None)),
        };
    }
    let operator = operators::find("*")?;
    Some(State::current().and_then(|state| operators::binary(&state, operator, sequence, &number.python())))
}

/// The answer for an operand that is no number: unequal, or an error that speaks of elements.
fn unlike(this: &Value, ufunc: &str, side: Side, other: &Value) -> Option<Result<Value>> {
    let answer = match ufunc {
        "equal" => false,
        "not_equal" => true,
        _ => return Some(Err(unlike_error(this, ufunc, side, other))),
    };
    // A scalar's answer is a bool of Python, except beside text.
    if Number::in_value(this).is_some() && text_dtype(other).is_none() {
        return Some(Ok(Value::Bool(answer)));
    }
    let filled = || {
        let array = convert::array(this, None)?;
        let answers = Array::zeros(array.shape(), Descr::BOOL, false)?;
        answers.fill(Scalar::Bool(answer))?;
        convert::result(answers)
    };
    Some(filled())
}

fn unlike_error(this: &Value, ufunc: &str, side: Side, other: &Value) -> Error {
    let descr = match convert::array(this, None) {
        Ok(array) => array.descr,
        Err(error) => return error,
    };
    let is_comparison = matches!(ufunc, "less" | "less_equal" | "greater" | "greater_equal");
    if let Some(text) = text_dtype(other) {
        let own = format!("dtype({})", descr.inner_repr());
        let pair = match (is_comparison, side) {
            (true, _) => {
                let class = crate::dtypes::class_name(descr);
                let text = if text.contains('S') { "BytesDType" } else { "StrDType" };
                format!("<class '{class}'>, <class 'numpy.dtypes.{text}'>")
            }
            (false, Side::Right) => format!("{text}, {own}"),
            _ => format!("{own}, {text}"),
        };
        return call_ufunc::text_error(ufunc, &pair);
    }
    if ufunc == "matmul" {
        return Error::value(
            "matmul: Input operand 1 does not have enough dimensions (has 0, gufunc core with signature \
             (n?,k),(k,m?)->(n?,m?) requires 1)",
        );
    }
    let symbol = OPERATORS.iter().find(|(_, known, _)| *known == ufunc).map_or("", |(.., symbol)| *symbol);
    let (own, other) = (python_class(descr), other.type_name());
    let (left, right) = if side == Side::Right && !is_comparison { (other, own) } else { (own, other) };
    Error::type_error(match is_comparison {
        true => format!("'{symbol}' not supported between instances of '{left}' and '{right}'"),
        false => format!("unsupported operand type(s) for {symbol}: '{left}' and '{right}'"),
    })
}

/// The error for an operand `other` that is no number, left or right of `this`.
pub(crate) fn unlike_operands(this: &Value, ufunc: &str, is_left: bool, other: &Value) -> Error {
    unlike_error(this, ufunc, if is_left { Side::Right } else { Side::Left }, other)
}

/// Returns the class of Python's numbers that elements of a dtype become.
pub(crate) fn python_class(descr: Descr) -> &'static str {
    match descr.kind() {
        Kind::Bool => "bool",
        Kind::Unsigned | Kind::Signed => "int",
        Kind::Floating => "float",
        Kind::Complex => "complex",
    }
}

/// Returns the dtype that NumPy gives text, as its messages show it; `None` for other values.
pub(crate) fn text_dtype(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(format!("dtype('<U{}')", text.chars().count())),
        Value::Buffer(buffer) if matches!(buffer.kind(), tensor::BufferKind::Bytes) => {
            Some(format!("dtype('S{}')", buffer.nbytes()))
        }
        Value::List(_) | Value::Tuple(_) => {
            let items = value.sequence()?;
            let longest = items.iter().filter_map(|item| match item {
                Value::Str(text) => Some(text.chars().count()),
                _ => None,
            });
            longest.max().map(|length| format!("dtype('<U{length}')"))
        }
        _ => None,
    }
}

/// An operator between an array and a tensor.
fn with_tensor(this: &Value, ufunc: &'static str, side: Side, tensor: &Value) -> Option<Result<Value>> {
    match (ufunc, side) {
        ("not_equal", _) => Some(Ok(Value::Bool(true))),
        ("equal", _) => Some(call_ufunc::arrays(ufunc, &[this.clone(), tensor.clone()]).and_then(|equal| {
            let equal = equal.into_iter().next().ok_or_else(|| Error::runtime("equal has a result"))?;
            bridge::tensor_of(&equal)
        })),
        ("less" | "less_equal" | "greater" | "greater_equal", _) => None,
        (_, Side::Right) => Some(call_ufunc::apply(ufunc, &[tensor.clone(), this.clone()], None)),
        ("add", _) => Some(Err(Error::type_error(
            "Concatenation operation is not implemented for NumPy arrays, use np.concatenate() instead. Please do not \
             rely on this error; it may not be given on all Python implementations.",
        ))),
        // A tensor divides an array by its reciprocal.
        ("divide", _) => Some(State::current().and_then(|state| {
            let reciprocal = operators::method(&state, "reciprocal", tensor)?;
            call_ufunc::apply("multiply", &[reciprocal, this.clone()], None)
        })),
        _ => None,
    }
}

/// Converts an array of one element to a number of Python, for `int(a)` and its like.
///
/// # Errors
/// TypeError in NumPy's words for other arrays.
fn single(array: &Array) -> Result<Scalar> {
    if array.ndim() != 0 {
        bail!(TypeError, "only 0-dimensional arrays can be converted to Python scalars");
    }
    array.item()
}

/// Returns the truth of an array.
///
/// # Errors
/// ValueError in NumPy's words unless it has exactly one element.
fn truth_of(array: &Array) -> Result<bool> {
    match array.count() {
        1 => Ok(array.scalars()?.first().is_some_and(|value| value.truth())),
        0 => bail!(
            ValueError,
            "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an \
                                array is not empty."
        ),
        _ => bail!(
            ValueError,
            "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
        ),
    }
}

/// Rounds an array or a scalar to a number of decimals.
///
/// # Errors
/// Those of the functions that it is composed of.
pub(crate) fn rounded(state: &State, value: &Value, decimals: &Value) -> Result<Value> {
    state.call_embedded(crate::python::source("methods")?, "round", vec![value.clone(), decimals.clone(), Value::None])
}
