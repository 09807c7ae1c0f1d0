//! Python's `int`, `float` and `complex`: construction, methods and the builtins for numbers. See
//! `container_methods.rs`.

use crate::iterate::{is_not_iterable, iterate};
use crate::methods::{ContainerMethod, Given, parsed, takes};
use crate::operators::called as binary;
use crate::plain::special::{float_of, index, special};
use crate::strings::bytes;
use crate::strings::characters::{decimal, is_space};
use call::bind::unsupported_operands;
use call::{Call, Row, attribute, function};
use num_bigint::{BigInt, Sign};
use num_complex::Complex;
use num_traits::{Signed, Zero};
use std::borrow::Cow;
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result, Scalar, bail, limits};
use value::equality::{call_special, truth};
use value::numbers::{self, Number, integer, number, truncated};
use value::{Object, Value, integers};

pub const ROWS: &[Row] = &[
    function(
        "py.int(any x=0, any base=None) -> int",
        int,
        "Converts to an integer; text may be in a base other than ten.",
    ),
    function("py.float(any x=0.0) -> float", float, "Converts to a float."),
    function("py.complex(any real=0, any imag=None) -> any", complex, "Creates a complex number."),
    attribute("real(int self) -> int", |c| index(&c.itself()), "The number itself."),
    attribute("imag(int self) -> int", |_| Ok(Value::Int(0)), "The imaginary part, 0."),
    attribute("numerator(int self) -> int", |c| index(&c.itself()), "The number itself."),
    attribute("denominator(int self) -> int", |_| Ok(Value::Int(1)), "What the number is divided by, 1."),
    attribute("real(float self) -> float", |c| Ok(c.itself()), "The number itself."),
    attribute("imag(float self) -> float", |_| Ok(Value::Float(0.0)), "The imaginary part, 0.0."),
    function(
        "py.pow(any base, any exp, any mod=None) -> any",
        pow,
        "Computes a power, or what a division of it leaves.",
    ),
    function("py.round(any number, any ndigits=None) -> any", round, "Rounds a number, halves to the even side."),
    function("py.divmod(any a, any b) -> any", divmod, "Returns the quotient and the remainder."),
    function("py.input(any prompt=\"\") -> str", input, "Reads a typed line; a session has none to give."),
];

pub const INT: &[ContainerMethod<Value>] = &[
    takes(
        "bit_count",
        (0, 0),
        |int, _| Ok(counted(whole(int).magnitude().count_ones())),
        "Counts the binary digits of the magnitude that are 1.",
    ),
    takes("bit_length", (0, 0), |int, _| Ok(counted(whole(int).bits())), "Counts the binary digits of the magnitude."),
    takes(
        "as_integer_ratio",
        (0, 0),
        |int, _| Ok(Value::tuple([index(int)?, Value::Int(1)])),
        "Returns the number as a fraction.",
    ),
    takes("conjugate", (0, 0), |int, _| index(int), "Returns the number itself."),
    parsed(
        "to_bytes",
        (0, 2),
        &["length", "byteorder", "signed"],
        to_bytes,
        "Writes the number as bytes, the largest first or last.",
    ),
];

pub(crate) const INT_OF_CLASS: &[ContainerMethod<str>] = &[parsed(
    "from_bytes",
    (1, 2),
    &["bytes", "byteorder", "signed"],
    |_, given| from_bytes(given),
    "Reads a number from bytes, the largest first or last.",
)];

pub const FLOAT: &[ContainerMethod<f64>] = &[
    takes("is_integer", (0, 0), |x, _| Ok(Value::Bool(x.fract() == 0.0)), "Returns whether the number is whole."),
    takes("as_integer_ratio", (0, 0), |x, _| ratio(*x), "Returns the number as a fraction in lowest terms."),
    takes("conjugate", (0, 0), |x, _| Ok(Value::Float(*x)), "Returns the number itself."),
    takes("hex", (0, 0), |x, _| Ok(Value::str(hexadecimal(*x))), "Writes the number exactly, in hexadecimal digits."),
];

pub(crate) const FLOAT_OF_CLASS: &[ContainerMethod<str>] =
    &[takes("fromhex", (1, 1), |_, given| from_hexadecimal(given), "Reads a float in hexadecimal digits.")];

pub const COMPLEX: &[ContainerMethod<Complex<f64>>] = &[takes(
    "conjugate",
    (0, 0),
    |z, _| Ok(Value::Complex(z.conj())),
    "Returns the number with the other imaginary part.",
)];

/// Returns an integer of any size. Callers pass integers only.
fn whole(value: &Value) -> Cow<'_, BigInt> {
    integer(value).unwrap_or_default()
}

fn counted(bits: u64) -> Value {
    Value::from(i128::from(bits))
}

/// Converts a number or a one-element tensor to a scalar.
fn scalar(value: &Value, class: &str) -> Result<Scalar> {
    match value {
        Value::Tensor(t) => {
            if t.borrow().numel() != 1 {
                bail!(ValueError, "only one element tensors can be converted to Python scalars");
            }
            // A complex number with imaginary part 0 converts like a real one.
            Ok(match t.borrow().item()? {
                Scalar::Complex(number) if class != "complex" && number.im == 0.0 => Scalar::Float(number.re),
                number => number,
            })
        }
        Value::BigInt(i) if u64::try_from(&**i).is_err() => integers::to_float(i).map(Scalar::Float),
        other => other.as_scalar().ok_or_else(|| no_number(class, other)),
    }
}

/// The error of a class of numbers that cannot convert a value.
fn no_number(class: &str, value: &Value) -> Error {
    let buffer = if class == "int" { "a string, a bytes-like object" } else { "a string" };
    Error::type_error(format!("{class}() argument must be {buffer} or a real number, not '{}'", value.type_name()))
}

/// The error for converting a complex number to a real class. Tensors use the words of C++.
fn complex_refused(class: &str, cpp: &str, value: &Value) -> Error {
    match value {
        Value::Tensor(_) => Error::runtime(format!("value cannot be converted to type {cpp} without overflow")),
        _ => no_number(class, value),
    }
}

/// Reads a count, width or position.
///
/// # Errors
/// TypeError if the value is not an integer; OverflowError if it exceeds 64 bits.
pub fn size(value: &Value) -> Result<i64> {
    match index(value)? {
        Value::Int(size) => Ok(size),
        _ => bail!(OverflowError, "Python int too large to convert to C ssize_t"),
    }
}

/// Parses an integer literal, with the prefix of its base.
///
/// # Errors
/// ValueError if the literal has too many digits or is invalid.
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

/// Reads the arguments `byteorder` and `signed`. Returns whether the order is big-endian, and whether there is a sign.
fn order(given: &Given, method: &str) -> Result<(bool, bool)> {
    let big_endian = is_big_endian(given.str_option(1, method, "byteorder")?.unwrap_or("big"))?;
    Ok((big_endian, given.named("signed").map_or(Ok(false), truth)?))
}

fn to_bytes(int: &Value, given: &Given) -> Result<Value> {
    let length = given.option(0, "length").map_or(Ok(1), size)?;
    let ((big_endian, signed), value) = (order(given, "to_bytes")?, whole(int));
    let Ok(length) = usize::try_from(length) else { bail!(ValueError, "length argument must be non-negative") };
    if value.is_negative() && !signed {
        bail!(OverflowError, "can't convert negative int to unsigned");
    }
    limits::room(length)?;
    // The signed form may end in a byte for the sign, which the unsigned form does not need.
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
    bytes::made(&bytes)
}

fn from_bytes(given: &Given) -> Result<Value> {
    let (big_endian, signed) = order(given, "from_bytes")?;
    let byte = |value: Value| match index(&value)? {
        Value::Int(byte) => u8::try_from(byte).map_err(|_| Error::value("bytes must be in range(0, 256)")),
        _ => bail!(ValueError, "bytes must be in range(0, 256)"),
    };
    let source = given.option(0, "bytes").unwrap_or(&Value::None);
    let mut bytes = match source {
        Value::Buffer(buffer) => bytes::raw(buffer)?,
        Value::Str(_) => bail!(TypeError, "cannot convert 'str' object to bytes"),
        _ => {
            let items = iterate(given.state, source).map_err(|error| match is_not_iterable(&error) {
                true => Error::type_error(format!("cannot convert '{}' object to bytes", source.type_name())),
                false => error,
            })?;
            items.collect()?.into_iter().map(byte).collect::<Result<Vec<u8>>>()?
        }
    };
    if big_endian {
        bytes.reverse();
    }
    Ok(Value::from(if signed {
        BigInt::from_signed_bytes_le(&bytes)
    } else {
        BigInt::from_bytes_le(Sign::Plus, &bytes)
    }))
}

fn ratio(value: f64) -> Result<Value> {
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
    let unsupported = || Err(unsupported_operands("divmod()", &a, &b));
    if let Some(answer) = call_special(&a, "__divmod__", &b).or_else(|| call_special(&b, "__rdivmod__", &a)) {
        return answer;
    }
    match (number(&a), number(&b)) {
        (Some(x), Some(y)) => numbers::divmod(x, y).unwrap_or_else(unsupported),
        _ => unsupported(),
    }
}

fn pow(call: &mut Call) -> Result<Value> {
    if call.is_none(2) {
        return binary(call, "**");
    }
    let (a, b, modulus) = (call.value(0), call.value(1), call.value(2));
    if let Value::Object(object) = &a
        && let Some(answer) = object.special("__pow__", &[b.clone(), modulus.clone()])
    {
        return answer;
    }
    let (Some(x), Some(y), Some(z)) = (number(&a), number(&b), number(&modulus)) else {
        if [&a, &b, &modulus].iter().any(|value| matches!(value, Value::Float(_))) {
            bail!(TypeError, "pow() 3rd argument not allowed unless all arguments are integers");
        }
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
    let given = if call.is_none(1) { Vec::new() } else { vec![call.value(1)] };
    if let Value::Object(object) = &value
        && let Some(answer) = object.special("__round__", &given)
    {
        return answer;
    }
    let exact = number(&value).ok_or_else(undefined)?;
    let digits = if call.is_none(1) { None } else { Some(index(&call.value(1))?) };
    numbers::rounded(&exact, digits.as_ref().and_then(numbers::integer).as_deref()).unwrap_or_else(|| Err(undefined()))
}

/// `input` prints its prompt and fails with EOFError: the session itself reads the lines of the input.
fn input(call: &mut Call) -> Result<Value> {
    let prompt = call.state.str(&call.value(0))?;
    call.state.print(&prompt);
    Err(Error::new(ErrorKind::EOFError, "EOF when reading a line"))
}

/// Prepares a string for parsing a number: trims whitespace and converts decimal digits to ASCII.
fn digits_of(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(is_space);
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let digit = |c: char| decimal(c).and_then(|digit| char::from_digit(digit, 10)).unwrap_or(c);
    Cow::Owned(text.chars().map(digit).collect())
}

/// Returns a string, or bytes as a string, prepared for parsing; `None` for other values.
fn text_of(value: &Value) -> Result<Option<String>> {
    Ok(match value {
        Value::Str(text) => Some(digits_of(text).into_owned()),
        Value::Buffer(buffer) if bytes::is_bytes(buffer) => {
            let text: String = bytes::raw(buffer)?.into_iter().map(char::from).collect();
            Some(text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b').to_owned())
        }
        _ => None,
    })
}

fn int(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    let base = match call.value(1) {
        Value::None => None,
        base => Some(match index(&base)? {
            Value::Int(base) if base == 0 || (2..=36).contains(&base) => base as u32,
            _ => bail!(ValueError, "int() base must be >= 2 and <= 36, or 0"),
        }),
    };
    if let Some(text) = text_of(&value)? {
        let base = base.unwrap_or(10);
        if let Some(int) = integers::parse(&text, base)? {
            return Ok(Value::from(int));
        }
        // Python shows only the beginning.
        let shown = match &value {
            Value::Buffer(buffer) => bytes::made(&bytes::raw(buffer)?)?,
            text => text.clone(),
        };
        let shown: String = call.state.repr(&shown)?.chars().take(200).collect();
        bail!(ValueError, "invalid literal for int() with base {base}: {shown}");
    }
    if base.is_some() {
        bail!(TypeError, "int() can't convert non-string with explicit base");
    }
    match value {
        Value::BigInt(int) => Ok(Value::BigInt(int)),
        Value::Object(object) if let Some(int) = int_of(&object) => int,
        other => int_of_number(&other),
    }
}

/// Converts a number or a one-element tensor to an integer.
pub(crate) fn int_of_number(value: &Value) -> Result<Value> {
    match scalar(value, "int")? {
        Scalar::Float(f) => truncated(f),
        Scalar::Complex(_) => Err(complex_refused("int", "int64_t", value)),
        Scalar::UInt(u) => Ok(Value::from(i128::from(u))),
        s => Ok(Value::Int(s.to_i64())),
    }
}

/// Converts an object to an integer by its special methods; `None` if it has none of them.
pub(crate) fn int_of(object: &Rc<dyn Object>) -> Option<Result<Value>> {
    let special = special(object, &["__int__", "__index__", "__trunc__"])?;
    Some(special.and_then(|(name, int)| match int {
        Value::Int(_) | Value::BigInt(_) => Ok(int),
        Value::Bool(truth) => Ok(Value::Int(i64::from(truth))),
        other => bail!(TypeError, "{name} returned non-int (type {})", other.type_name()),
    }))
}

fn float(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    if let Some(text) = text_of(&value)? {
        return match whole_float(&text) {
            Some(float) => Ok(Value::Float(float)),
            None => bail!(ValueError, "could not convert string to float: {}", call.state.repr(&value)?),
        };
    }
    match value {
        Value::BigInt(i) => integers::to_float(&i).map(Value::Float),
        Value::Object(object) if let Some(float) = float_of(&object) => float.map(Value::Float),
        other => float_of_number(&other).map(Value::Float),
    }
}

/// Converts a number or a one-element tensor to a float.
pub fn float_of_number(value: &Value) -> Result<f64> {
    match scalar(value, "float")? {
        Scalar::Complex(_) => Err(complex_refused("float", "double", value)),
        s => Ok(s.to_f64()),
    }
}

/// Parses a whole string as a float.
fn whole_float(text: &str) -> Option<f64> {
    let plain = without_underscores(text)?;
    leading_float(&plain).filter(|(_, rest)| rest.is_empty()).map(|(float, _)| float)
}

/// Parses the float at the start of a string. Returns the rest too.
fn leading_float(text: &str) -> Option<(f64, &str)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_word = |word: &str| unsigned.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let words = [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)];
    let (magnitude, length) = match words.into_iter().find(|(word, _)| is_word(word)) {
        Some((word, value)) => (value, word.len()),
        None => {
            let digits = |from: usize| {
                let rest = unsigned.get(from..).unwrap_or_default();
                from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
            };
            let mut end = digits(0);
            let mut count = end;
            if unsigned.get(end..).is_some_and(|rest| rest.starts_with('.')) {
                let behind = digits(end + 1);
                count += behind - end - 1;
                end = behind;
            }
            if count == 0 {
                return None;
            }
            if let Some(rest) = unsigned.get(end..).and_then(|rest| rest.strip_prefix(['e', 'E'])) {
                let sign = usize::from(rest.starts_with(['+', '-']));
                let behind = digits(end + 1 + sign);
                end = if behind > end + 1 + sign { behind } else { end };
            }
            (unsigned.get(..end)?.parse().ok()?, end)
        }
    };
    let value = if text.starts_with('-') { -magnitude } else { magnitude };
    Some((value, unsigned.get(length..)?))
}

fn complex(call: &mut Call) -> Result<Value> {
    let (first, second) = (call.value(0), call.value(1));
    if let Value::Str(text) = &first {
        if !call.is_none(1) {
            bail!(TypeError, "complex() can't take second arg if first is a string");
        }
        let digits = digits_of(text);
        let Some(plain) = without_underscores(&digits) else {
            bail!(ValueError, "could not convert string to complex: {}", call.state.repr(&first)?)
        };
        return match read_complex(&plain) {
            Some(complex) => Ok(Value::Complex(complex)),
            None => bail!(ValueError, "complex() arg is a malformed string"),
        };
    }
    let part = |value: &Value, which: &str, what: &str| -> Result<Number> {
        let known = match value {
            Value::Object(object) if let Some(answer) = special(object, &["__complex__"]) => match answer?.1 {
                Value::Complex(complex) => Some(Number::Complex(complex)),
                other => bail!(TypeError, "__complex__ returned non-complex (type {})", other.type_name()),
            },
            Value::Object(object) if let Some(float) = float_of(object) => Some(Number::Float(float?)),
            Value::Tensor(_) => number(&Value::from(scalar(value, "complex")?)),
            other => number(other),
        };
        let wrong =
            || Error::type_error(format!("complex() {which} argument must be {what}, not '{}'", value.type_name()));
        known.ok_or_else(wrong)
    };
    if let Value::Str(_) = second {
        bail!(TypeError, "complex() second arg can't be a string");
    }
    let real = part(&first, "first", "a string or a number")?;
    let imag = if call.is_none(1) { Number::Int(0) } else { part(&second, "second", "a number")? };
    // Two real parts are taken unchanged, including the sign of a zero.
    Ok(Value::Complex(match (&real, &imag) {
        (Number::Complex(real), _) if call.is_none(1) => *real,
        (Number::Complex(_), _) | (_, Number::Complex(_)) => {
            let (real, imag) = (real.to_complex()?, imag.to_complex()?);
            Complex::new(real.re - imag.im, real.im + imag.re)
        }
        _ => Complex::new(real.to_float()?, imag.to_float()?),
    }))
}

/// Parses a complex number as `repr` writes it. Parentheses and either part may be missing.
fn read_complex(text: &str) -> Option<Complex<f64>> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let text = inner.map_or(text, |inner| inner.trim_matches(is_space));
    // The imaginary part: a float or a bare sign, before `j`.
    let unit = |text: &str| -> Option<f64> {
        let float = match text.strip_suffix(['j', 'J'])? {
            "" | "+" => 1.0,
            "-" => -1.0,
            digits => leading_float(digits).filter(|(_, rest)| rest.is_empty())?.0,
        };
        Some(float)
    };
    match leading_float(text) {
        Some((real, "")) => Some(Complex::new(real, 0.0)),
        Some((real, rest)) if rest.starts_with(['+', '-']) => Some(Complex::new(real, unit(rest)?)),
        _ => Some(Complex::new(0.0, unit(text)?)),
    }
}

/// `float.hex`
fn hexadecimal(x: f64) -> String {
    let sign = if x.is_sign_negative() && !x.is_nan() { "-" } else { "" };
    if x.is_nan() || x.is_infinite() {
        return format!("{sign}{}", if x.is_nan() { "nan" } else { "inf" });
    }
    let bits = x.to_bits();
    let (exponent, digits) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    match (exponent, digits) {
        (0, 0) => format!("{sign}0x0.0p+0"),
        (0, digits) => format!("{sign}0x0.{digits:013x}p-1022"),
        (exponent, digits) => format!("{sign}0x1.{digits:013x}p{:+}", exponent - 1023),
    }
}

/// `float.fromhex`
fn from_hexadecimal(given: &Given) -> Result<Value> {
    let Value::Str(text) = given.at(0) else { bail!(TypeError, "bad argument type for built-in operation") };
    let too_large = || Error::new(ErrorKind::OverflowError, "hexadecimal value too large to represent as a float");
    let text = text.trim_matches(is_space).to_ascii_lowercase();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let signed = |x: f64| Ok(Value::Float(if negative { -x } else { x }));
    match digits {
        "inf" | "infinity" => return signed(f64::INFINITY),
        "nan" => return signed(f64::NAN),
        _ => {}
    }
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let (digits, power) = digits.split_once('p').map_or((digits, None), |(digits, power)| (digits, Some(power)));
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let all = [before, after].concat();
    let exponent = power.map_or(Some("0"), |power| {
        let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(power)
    });
    let mantissa = BigInt::parse_bytes(all.as_bytes(), 16)
        .filter(|_| all.bytes().all(|byte| byte.is_ascii_hexdigit()) && !all.is_empty());
    let (Some(mantissa), Some(exponent)) = (mantissa, exponent) else {
        bail!(ValueError, "invalid hexadecimal floating-point string")
    };
    let beyond = if exponent.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 };
    let exponent = exponent.parse::<i64>().ok().filter(|exponent| exponent.abs() < i64::MAX / 4).unwrap_or(beyond);
    let exponent = exponent.saturating_sub(4 * after.len() as i64);
    // The position of the highest bit.
    let top = exponent.saturating_add(i64::try_from(mantissa.bits()).unwrap_or(i64::MAX / 4));
    if mantissa.is_zero() || top < -1075 {
        return signed(0.0);
    }
    if top > 1024 {
        return Err(too_large());
    }
    let (above, below) = match u64::try_from(exponent) {
        Ok(exponent) => (integers::shifted_left(&mantissa, exponent)?, BigInt::from(1)),
        Err(_) => (mantissa, integers::shifted_left(&BigInt::from(1), exponent.unsigned_abs())?),
    };
    match integers::true_quotient(&above, &below).map_err(|_| too_large())? {
        x if x.is_infinite() => Err(too_large()),
        x => signed(x),
    }
}

/// Removes the underscores between digits; `None` if an underscore is anywhere else.
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
