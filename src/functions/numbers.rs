//! Python's `int` and `float`: conversions, and methods of their values.

use super::python::scalar;
use crate::bail;
use crate::call::{Call, Row, function, method};
use crate::tensor::{Error, ErrorKind, Result, Scalar};
use crate::value::Value;

pub const ROWS: &[Row] = &[
    function(
        "py.int(any x=0, any base=None) -> int",
        int,
        "Converts to an integer; text may be in a base other than ten.",
    ),
    function("py.float(any x=0.0) -> float", float, "Converts to a float."),
    method(
        "bit_count(int self) -> int",
        |c| Ok(Value::Int(i64::from(whole(&c.value(0)).unsigned_abs().count_ones()))),
        "Counts the binary digits of the magnitude that are 1.",
    ),
    method(
        "bit_length(int self) -> int",
        |c| Ok(Value::Int(i64::from(128 - whole(&c.value(0)).unsigned_abs().leading_zeros()))),
        "Counts the binary digits of the magnitude.",
    ),
    method(
        "as_integer_ratio(int self) -> any",
        |c| Ok(Value::tuple([c.itself(), Value::Int(1)])),
        "Returns the number as a fraction.",
    ),
    method("conjugate(int self) -> int", |c| Ok(c.itself()), "Returns the number itself."),
    method(
        "is_integer(float self) -> bool",
        |c| Ok(Value::Bool(real(c).fract() == 0.0)),
        "Returns whether the number is whole.",
    ),
    method("as_integer_ratio(float self) -> any", ratio, "Returns the number as a fraction in lowest terms."),
    method("conjugate(float self) -> float", |c| Ok(c.itself()), "Returns the number itself."),
    function("py.input(any prompt=\"\") -> str", input, "Reads a typed line; a session has none to give."),
];

/// An integer of either size; the signature lets nothing else come here.
fn whole(value: &Value) -> i128 {
    match value {
        Value::Int(i) => i128::from(*i),
        Value::BigInt(i) => **i,
        _ => 0,
    }
}

/// The integer that digits in a source mean, with the prefix of their base.
///
/// # Errors
/// ValueError for more digits than are read.
pub fn literal(text: &str) -> Result<Value> {
    let read = if text.starts_with(['0']) && text.len() > 1 { digits(text, 0) } else { digits(text, 10) };
    read.map(Value::from).ok_or_else(|| Error::value("invalid decimal literal"))
}

fn real(call: &Call) -> f64 {
    match call.value(0) {
        Value::Float(f) => f,
        _ => f64::NAN,
    }
}

/// An integer written in a base; base 0 stands for what the prefix says.
fn digits(text: &str, base: u32) -> Option<i128> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = magnitude.to_ascii_lowercase();
    let prefixed = [("0b", 2), ("0o", 8), ("0x", 16)].into_iter().find(|(prefix, _)| lower.starts_with(prefix));
    let (digits, base) = match prefixed {
        Some((prefix, own)) if base == 0 || base == own => {
            let digits = &lower[prefix.len()..];
            (digits.strip_prefix('_').unwrap_or(digits), own)
        }
        // Without a prefix, zeros lead nothing but zeros.
        None if base == 0 && lower.starts_with('0') && !lower.trim_start_matches(['0', '_']).is_empty() => {
            return None;
        }
        _ => (lower.as_str(), if base == 0 { 10 } else { base }),
    };
    // Underscores stand between digits only.
    if digits.is_empty() || digits.starts_with(['_', '+', '-']) || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    let magnitude = i128::from_str_radix(&digits.replace('_', ""), base).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

/// The fraction that a float is: its mantissa over a power of two.
fn ratio(call: &mut Call) -> Result<Value> {
    let value = real(call);
    if value.is_nan() {
        bail!(ValueError, "cannot convert NaN to integer ratio");
    }
    if value.is_infinite() {
        return Err(Error::new(ErrorKind::OverflowError, "cannot convert Infinity to integer ratio"));
    }
    let (mut numerator, mut denominator) = (value, 1i128);
    while numerator.fract() != 0.0 {
        numerator *= 2.0;
        match denominator.checked_mul(2) {
            Some(doubled) => denominator = doubled,
            None => {
                return Err(Error::new(ErrorKind::OverflowError, "the fraction is beyond what an integer holds here"));
            }
        }
    }
    if numerator.abs() >= 2f64.powi(126) {
        return Err(Error::new(ErrorKind::OverflowError, "the fraction is beyond what an integer holds here"));
    }
    Ok(Value::tuple([Value::from(numerator as i128), Value::from(denominator)]))
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
                Value::Int(base) if base == 0 || (2..=36).contains(&base) => base as u32,
                Value::Int(_) => bail!(ValueError, "int() base must be >= 2 and <= 36, or 0"),
                other => bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name()),
            };
            match digits(text.trim(), base) {
                Some(i) => Ok(Value::from(i)),
                None => bail!(
                    ValueError,
                    "invalid literal for int() with base {base}: {}",
                    call.state.repr(&call.value(0))?
                ),
            }
        }
        _ if !call.is_none(1) => bail!(TypeError, "int() can't convert non-string with explicit base"),
        Value::BigInt(i) => Ok(Value::BigInt(i)),
        other => match scalar(&other, "int")? {
            Scalar::Float(f) if f.is_nan() => bail!(ValueError, "cannot convert float NaN to integer"),
            Scalar::Float(f) if f.is_infinite() => {
                Err(Error::new(ErrorKind::OverflowError, "cannot convert float infinity to integer"))
            }
            Scalar::Float(f) => Ok(Value::from(f as i128)),
            Scalar::Complex(_) => {
                bail!(TypeError, "int() argument must be a string, a bytes-like object or a real number, not 'complex'")
            }
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
                digits if digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') => digits.parse().ok(),
                _ => None,
            };
            match parsed {
                Some(value) => Ok(Value::Float(if cleaned.starts_with('-') { -value } else { value })),
                None => bail!(ValueError, "could not convert string to float: {}", call.state.repr(&call.value(0))?),
            }
        }
        Value::BigInt(i) => Ok(Value::Float(*i as f64)),
        other => match scalar(&other, "float")? {
            Scalar::Complex(_) => bail!(TypeError, "float() argument must be a string or a real number, not 'complex'"),
            s => Ok(Value::Float(s.to_f64())),
        },
    }
}
