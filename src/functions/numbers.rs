//! Python's `int` and `float`: conversions, and methods of their values.

use super::operators;
use super::python::{binary, no_number, scalar};
use super::subscript;
use crate::bail;
use crate::call::bind::unsupported_operands;
use crate::call::{Call, Row, attribute, function, method};
use crate::tensor::{Buffer, BufferKind, Error, ErrorKind, Result, Scalar, limits};
use crate::value::numbers::{self, Number, integer, number, truncated};
use crate::value::{Value, integers};
use num_bigint::{BigInt, Sign};
use num_traits::{Signed, Zero};
use std::borrow::Cow;

pub const ROWS: &[Row] = &[
    function(
        "py.int(any x=0, any base=None) -> int",
        int,
        "Converts to an integer; text may be in a base other than ten.",
    ),
    function("py.float(any x=0.0) -> float", float, "Converts to a float."),
    method(
        "bit_count(int self) -> int",
        |c| Ok(counted(whole(&c.value(0)).magnitude().count_ones())),
        "Counts the binary digits of the magnitude that are 1.",
    ),
    method(
        "bit_length(int self) -> int",
        |c| Ok(counted(whole(&c.value(0)).bits())),
        "Counts the binary digits of the magnitude.",
    ),
    method(
        "as_integer_ratio(int self) -> any",
        |c| Ok(Value::tuple([c.itself(), Value::Int(1)])),
        "Returns the number as a fraction.",
    ),
    method(
        "to_bytes(int self, any length=1, str byteorder=\"big\", *, bool signed=False) -> any",
        to_bytes,
        "Writes the number as bytes, the largest first or last.",
    ),
    function(
        "int::from_bytes(any bytes, str byteorder=\"big\", *, bool signed=False) -> int",
        from_bytes,
        "Reads a number from bytes, the largest first or last.",
    ),
    attribute("real(int self) -> int", |c| Ok(c.itself()), "The number itself."),
    attribute("imag(int self) -> int", |_| Ok(Value::Int(0)), "The imaginary part, 0."),
    attribute("numerator(int self) -> int", |c| Ok(c.itself()), "The number itself."),
    attribute("denominator(int self) -> int", |_| Ok(Value::Int(1)), "What the number is divided by, 1."),
    method("conjugate(int self) -> int", |c| Ok(c.itself()), "Returns the number itself."),
    method(
        "is_integer(float self) -> bool",
        |c| Ok(Value::Bool(real(c).fract() == 0.0)),
        "Returns whether the number is whole.",
    ),
    method("as_integer_ratio(float self) -> any", ratio, "Returns the number as a fraction in lowest terms."),
    method("conjugate(float self) -> float", |c| Ok(c.itself()), "Returns the number itself."),
    function(
        "py.pow(any base, any exp, any mod=None) -> any",
        pow,
        "Computes a power, or what a division of it leaves.",
    ),
    function("py.round(any number, any ndigits=None) -> any", round, "Rounds a number, halves to the even side."),
    function("py.divmod(any a, any b) -> any", divmod, "Returns the quotient and the remainder."),
    function("py.input(any prompt=\"\") -> str", input, "Reads a typed line; a session has none to give."),
];

/// An integer of either size; the signature lets nothing else come here.
fn whole(value: &Value) -> Cow<'_, BigInt> {
    integer(value).unwrap_or_default()
}

fn counted(bits: u64) -> Value {
    Value::from(i128::from(bits))
}

/// The whole number that a value stands for, as Python's `__index__` gives it: an integer, a truth, or a tensor of one.
///
/// # Errors
/// TypeError for anything else.
pub fn index(value: &Value) -> Result<Value> {
    match value {
        Value::Int(_) | Value::BigInt(_) => Ok(value.clone()),
        Value::Bool(b) => Ok(Value::Int(i64::from(*b))),
        Value::Object(object) if let Some(answer) = object.special("__index__", &[]) => answer,
        other => match subscript::as_index(other)? {
            Some(index) => Ok(Value::Int(index)),
            None => bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name()),
        },
    }
}

/// The integer that digits in a source mean, with the prefix of their base.
///
/// # Errors
/// ValueError for more digits than are read.
pub fn literal(text: &str) -> Result<Value> {
    let base = if text.starts_with('0') && text.len() > 1 { 0 } else { 10 };
    integers::parse(text, base)?.map(Value::from).ok_or_else(|| Error::value("invalid decimal literal"))
}

fn is_big_endian(byteorder: &str) -> Result<bool> {
    match byteorder {
        "big" => Ok(true),
        "little" => Ok(false),
        _ => bail!(ValueError, "byteorder must be either 'little' or 'big'"),
    }
}

fn to_bytes(call: &mut Call) -> Result<Value> {
    let (value, signed) = (call.value(0), call.bool(3)?);
    let (value, big_endian) = (whole(&value), is_big_endian(call.str(2)?)?);
    let length = match index(&call.value(1))? {
        Value::Int(length) if length >= 0 => length as usize,
        Value::Int(_) => bail!(ValueError, "length argument must be non-negative"),
        _ => bail!(OverflowError, "Python int too large to convert to C ssize_t"),
    };
    if value.is_negative() && !signed {
        bail!(OverflowError, "can't convert negative int to unsigned");
    }
    limits::room(length)?;
    // Without a sign, a byte may be needed for it that is not asked for.
    let mut bytes = value.to_signed_bytes_le();
    if !signed && bytes.last() == Some(&0) {
        bytes.pop();
    }
    if bytes.len() > length && !(length == 0 && value.is_zero()) {
        bail!(OverflowError, "int too big to convert");
    }
    bytes.resize(length, if value.is_negative() { 255 } else { 0 });
    if big_endian {
        bytes.reverse();
    }
    Buffer::bytes(&bytes).map(Value::Buffer)
}

fn from_bytes(call: &mut Call) -> Result<Value> {
    let big_endian = is_big_endian(call.str(1)?)?;
    let byte = |value: Value| match index(&value)? {
        Value::Int(byte) => u8::try_from(byte).map_err(|_| Error::value("bytes must be in range(0, 256)")),
        _ => bail!(ValueError, "bytes must be in range(0, 256)"),
    };
    let mut bytes = match call.value(0) {
        value @ (Value::Buffer(_) | Value::List(_) | Value::Tuple(_) | Value::Size(_) | Value::Range(_)) => {
            subscript::items(call.state, &value)?.into_iter().map(byte).collect::<Result<Vec<u8>>>()?
        }
        other => bail!(TypeError, "cannot convert '{}' object to bytes", other.type_name()),
    };
    if big_endian {
        bytes.reverse();
    }
    Ok(Value::from(if call.bool(2)? {
        BigInt::from_signed_bytes_le(&bytes)
    } else {
        BigInt::from_bytes_le(Sign::Plus, &bytes)
    }))
}

fn real(call: &Call) -> f64 {
    match call.value(0) {
        Value::Float(f) => f,
        _ => f64::NAN,
    }
}

fn ratio(call: &mut Call) -> Result<Value> {
    let value = real(call);
    if value.is_nan() {
        bail!(ValueError, "cannot convert NaN to integer ratio");
    }
    if value.is_infinite() {
        return Err(Error::new(ErrorKind::OverflowError, "cannot convert Infinity to integer ratio"));
    }
    let (numerator, denominator) = integers::fraction(value);
    Ok(Value::tuple([Value::from(numerator), Value::from(denominator)]))
}

fn divmod(call: &mut Call) -> Result<Value> {
    let (a, b) = (call.value(0), call.value(1));
    match (number(&a), number(&b)) {
        (Some(x), Some(y)) => numbers::divmod(x, y).unwrap_or_else(|| Err(unsupported_operands("divmod()", &a, &b))),
        _ if !matches!(
            (&a, &b),
            (Value::Tensor(_) | Value::Object(_), _) | (_, Value::Tensor(_) | Value::Object(_))
        ) =>
        {
            Err(unsupported_operands("divmod()", &a, &b))
        }
        _ => Ok(Value::tuple([binary(call, "//")?, binary(call, "%")?])),
    }
}

fn pow(call: &mut Call) -> Result<Value> {
    if call.is_none(2) {
        return binary(call, "**");
    }
    let (a, b, modulus) = (call.value(0), call.value(1), call.value(2));
    let (Some(x), Some(y), Some(z)) = (number(&a), number(&b), number(&modulus)) else {
        let [a, b, modulus] = [&a, &b, &modulus].map(|value| value.type_name());
        bail!(TypeError, "unsupported operand type(s) for ** or pow(): '{a}', '{b}', '{modulus}'")
    };
    numbers::power_modulo(&x, &y, &z).unwrap_or_else(|| match [x, y, z] {
        numbers if numbers.iter().any(|number| matches!(number, Number::Complex(_))) => {
            bail!(ValueError, "complex modulo")
        }
        _ => bail!(TypeError, "pow() 3rd argument not allowed unless all arguments are integers"),
    })
}

fn round(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    let undefined = || Error::type_error(format!("type {} doesn't define __round__ method", value.type_name()));
    if let (Value::Tensor(_), true) = (&value, call.is_none(1)) {
        return operators::method(call.state, "round", &value);
    }
    let exact = number(&value).ok_or_else(undefined)?;
    let digits = if call.is_none(1) { None } else { Some(index(&call.value(1))?) };
    numbers::rounded(&exact, digits.as_ref().and_then(numbers::integer).as_deref()).unwrap_or_else(|| Err(undefined()))
}

/// Input of a session is its lines; a program in one has nothing to read.
fn input(call: &mut Call) -> Result<Value> {
    let prompt = call.state.str(&call.value(0))?;
    call.state.print(&prompt);
    Err(Error::new(ErrorKind::EOFError, "EOF when reading a line"))
}

fn int(call: &mut Call) -> Result<Value> {
    match call.value(0) {
        Value::Str(text) => {
            let base = match call.value(1) {
                Value::None => 10,
                base => match index(&base)? {
                    Value::Int(base) if base == 0 || (2..=36).contains(&base) => base as u32,
                    _ => bail!(ValueError, "int() base must be >= 2 and <= 36, or 0"),
                },
            };
            match integers::parse(text.trim(), base)? {
                Some(i) => Ok(Value::from(i)),
                None => Err(no_literal(call, base)?),
            }
        }
        Value::Buffer(buffer)
            if matches!(buffer.kind(), BufferKind::Bytes | BufferKind::ByteArray) && call.is_none(1) =>
        {
            let text: String =
                buffer.items().iter().filter_map(|byte| u8::try_from(byte.to_i64()).ok()).map(char::from).collect();
            match integers::parse(text.trim(), 10)? {
                Some(i) => Ok(Value::from(i)),
                None => Err(no_literal(call, 10)?),
            }
        }
        _ if !call.is_none(1) => bail!(TypeError, "int() can't convert non-string with explicit base"),
        Value::BigInt(i) => Ok(Value::BigInt(i)),
        other => match scalar(&other, "int")? {
            Scalar::Float(f) => truncated(f),
            Scalar::Complex(_) => Err(no_number("int", &other)),
            Scalar::UInt(u) => Ok(Value::from(i128::from(u))),
            s => Ok(Value::Int(s.to_i64())),
        },
    }
}

fn float(call: &mut Call) -> Result<Value> {
    match call.value(0) {
        Value::Str(text) => {
            let cleaned = text.trim().to_ascii_lowercase();
            let parsed = match cleaned.trim_start_matches(['+', '-']) {
                "infinity" | "inf" => Some(f64::INFINITY),
                "nan" => Some(f64::NAN),
                digits if digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                    without_underscores(digits).and_then(|digits| digits.parse().ok())
                }
                _ => None,
            };
            match parsed {
                Some(value) => Ok(Value::Float(if cleaned.starts_with('-') { -value } else { value })),
                None => bail!(ValueError, "could not convert string to float: {}", call.state.repr(&call.value(0))?),
            }
        }
        Value::BigInt(i) => integers::to_float(&i).map(Value::Float),
        other => match scalar(&other, "float")? {
            Scalar::Complex(_) => Err(no_number("float", &other)),
            s => Ok(Value::Float(s.to_f64())),
        },
    }
}

/// The refusal of a text, of which Python shows the beginning.
fn no_literal(call: &Call, base: u32) -> Result<Error> {
    let shown: String = call.state.repr(&call.value(0))?.chars().take(200).collect();
    Ok(Error::value(format!("invalid literal for int() with base {base}: {shown}")))
}

/// The digits without the underscores between them; none where one stands elsewhere.
fn without_underscores(digits: &str) -> Option<Cow<'_, str>> {
    if !digits.contains('_') {
        return Some(Cow::Borrowed(digits));
    }
    let mut parts = digits.split('_').peekable();
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    while let Some(part) = parts.next() {
        if let Some(next) = parts.peek()
            && !(is_digit(part.chars().next_back()) && is_digit(next.chars().next()))
        {
            return None;
        }
    }
    Some(Cow::Owned(digits.replace('_', "")))
}
