//! Python's numbers: arithmetic, order, hash and rounding of integers, floats and complex numbers, exactly as in
//! CPython 3.11. Integers of 64 bits take the fast path; only results that overflow become [`BigInt`]. Independent of
//! operator symbols and of the function table.

use super::Value;
use super::integers as whole;
use num_bigint::BigInt;
use num_complex::Complex;
use num_traits::{Euclid, Signed, ToPrimitive, Zero};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result};

/// A Python number in the form its arithmetic needs.
#[derive(Clone, Debug)]
pub enum Number {
    Int(i64),
    /// An integer beyond 64 bits.
    Big(Rc<BigInt>),
    Float(f64),
    Complex(Complex<f64>),
}

/// The result of an operation between two numbers; `None` if the operation is undefined for their types.
pub type NumberResult = Option<Result<Value>>;

/// Returns the value as a number; `None` for other types.
pub fn number(value: &Value) -> Option<Number> {
    Some(match value {
        Value::Bool(b) => Number::Int(i64::from(*b)),
        Value::Int(i) => Number::Int(*i),
        Value::BigInt(i) => Number::Big(i.clone()),
        Value::Float(f) => Number::Float(*f),
        Value::Complex(c) => Number::Complex(*c),
        _ => return None,
    })
}

/// Returns the value as an integer; `None` for other types.
pub fn integer(value: &Value) -> Option<Cow<'_, BigInt>> {
    Some(match value {
        Value::Bool(b) => Cow::Owned(BigInt::from(u8::from(*b))),
        Value::Int(i) => Cow::Owned(BigInt::from(*i)),
        Value::BigInt(i) => Cow::Borrowed(i),
        _ => return None,
    })
}

impl Number {
    /// Returns the nearest float; for a complex number, its real part.
    ///
    /// # Errors
    /// OverflowError for an integer that exceeds all floats.
    pub fn to_float(&self) -> Result<f64> {
        match self {
            Number::Int(i) => Ok(*i as f64),
            Number::Big(i) => whole::to_float(i),
            Number::Float(f) => Ok(*f),
            Number::Complex(c) => Ok(c.re),
        }
    }

    /// # Errors
    /// Those of [`Number::to_float`].
    pub fn to_complex(&self) -> Result<Complex<f64>> {
        match self {
            Number::Complex(c) => Ok(*c),
            real => Ok(Complex::new(real.to_float()?, 0.0)),
        }
    }

    fn whole(&self) -> Option<Cow<'_, BigInt>> {
        match self {
            Number::Int(i) => Some(Cow::Owned(BigInt::from(*i))),
            Number::Big(i) => Some(Cow::Borrowed(i)),
            _ => None,
        }
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        match number {
            Number::Int(i) => Value::Int(i),
            Number::Big(i) => Value::BigInt(i),
            Number::Float(f) => Value::Float(f),
            Number::Complex(c) => Value::Complex(c),
        }
    }
}

/// Two numbers converted to the wider of their two types.
enum PromotedPair<'a> {
    Whole(Cow<'a, BigInt>, Cow<'a, BigInt>),
    Floats(f64, f64),
    Complexes(Complex<f64>, Complex<f64>),
}

/// # Errors
/// OverflowError for an integer that exceeds all floats, if the other number is a float.
fn pair<'a>(a: &'a Number, b: &'a Number) -> Result<PromotedPair<'a>> {
    Ok(match (a, b) {
        (Number::Complex(_), _) | (_, Number::Complex(_)) => PromotedPair::Complexes(a.to_complex()?, b.to_complex()?),
        _ => match (a.whole(), b.whole()) {
            (Some(x), Some(y)) => PromotedPair::Whole(x, y),
            _ => PromotedPair::Floats(a.to_float()?, b.to_float()?),
        },
    })
}

/// Applies an operation in the wider of the two types.
fn arithmetic(
    (a, b): (Number, Number),
    short: fn(i64, i64) -> Option<i64>,
    long: fn(&BigInt, &BigInt) -> Result<BigInt>,
    floats: fn(f64, f64) -> f64,
    complexes: fn(Complex<f64>, Complex<f64>) -> Complex<f64>,
) -> NumberResult {
    if let (Number::Int(x), Number::Int(y)) = (&a, &b)
        && let Some(result) = short(*x, *y)
    {
        return Some(Ok(Value::Int(result)));
    }
    Some(pair(&a, &b).and_then(|pair| {
        Ok(match pair {
            PromotedPair::Whole(x, y) => Value::from(long(&x, &y)?),
            PromotedPair::Floats(x, y) => Value::Float(floats(x, y)),
            PromotedPair::Complexes(x, y) => Value::Complex(complexes(x, y)),
        })
    }))
}

pub fn add(a: Number, b: Number) -> NumberResult {
    arithmetic((a, b), i64::checked_add, |x, y| whole::walked(x, y, |x, y| x + y), |x, y| x + y, |x, y| x + y)
}

pub fn sub(a: Number, b: Number) -> NumberResult {
    arithmetic((a, b), i64::checked_sub, |x, y| whole::walked(x, y, |x, y| x - y), |x, y| x - y, |x, y| x - y)
}

pub fn mul(a: Number, b: Number) -> NumberResult {
    arithmetic((a, b), i64::checked_mul, whole::product, |x, y| x * y, |x, y| x * y)
}

fn zero_division(text: &str) -> Error {
    Error::new(ErrorKind::ZeroDivisionError, text)
}

pub fn true_divide(a: Number, b: Number) -> NumberResult {
    /// Integers up to this one convert to floats exactly.
    const EXACT: u64 = 1 << 53;
    if let (Number::Int(x), Number::Int(y)) = (&a, &b)
        && *y != 0
        && x.unsigned_abs() <= EXACT
        && y.unsigned_abs() <= EXACT
    {
        return Some(Ok(Value::Float(*x as f64 / *y as f64)));
    }
    Some(pair(&a, &b).and_then(|pair| match pair {
        PromotedPair::Whole(_, y) if y.is_zero() => Err(zero_division("division by zero")),
        PromotedPair::Whole(x, y) => whole::true_quotient(&x, &y).map(Value::Float),
        PromotedPair::Floats(_, 0.0) => Err(zero_division("float division by zero")),
        PromotedPair::Floats(x, y) => Ok(Value::Float(x / y)),
        PromotedPair::Complexes(x, y) => {
            complex_quotient(x, y).map(Value::Complex).ok_or_else(|| zero_division("complex division by zero"))
        }
    }))
}

/// Returns the quotient and the remainder of two real numbers; `None` if one is complex.
fn quotient_and_rest(a: &Number, b: &Number, whole_zero: &str, float_zero: &str) -> Option<Result<(Value, Value)>> {
    if let (Number::Int(x), Number::Int(y)) = (a, b)
        && let (Some(quotient), Some(rest)) = (x.checked_div(*y), x.checked_rem(*y))
    {
        // Rust rounds towards zero, Python down.
        let down = rest != 0 && (rest < 0) != (*y < 0);
        let (quotient, rest) = if down { (quotient - 1, rest + y) } else { (quotient, rest) };
        return Some(Ok((Value::Int(quotient), Value::Int(rest))));
    }
    if matches!((a, b), (Number::Complex(_), _) | (_, Number::Complex(_))) {
        return None;
    }
    Some(pair(a, b).and_then(|pair| match pair {
        PromotedPair::Whole(_, y) if y.is_zero() => Err(zero_division(whole_zero)),
        PromotedPair::Whole(x, y) => {
            let (quotient, rest) = whole::divided(&x, &y)?;
            Ok((Value::from(quotient), Value::from(rest)))
        }
        PromotedPair::Complexes(..) | PromotedPair::Floats(_, 0.0) => Err(zero_division(float_zero)),
        PromotedPair::Floats(x, y) => {
            let (quotient, rest) = divided_floats(x, y);
            Ok((Value::Float(quotient), Value::Float(rest)))
        }
    }))
}

/// Returns the floored quotient of two floats, and the remainder with the divisor's sign. The remainder is exact, so
/// the quotient is computed from it.
fn divided_floats(x: f64, y: f64) -> (f64, f64) {
    let rest = x % y;
    let quotient = (x - rest) / y;
    let (quotient, rest) = match rest {
        0.0 => (quotient, 0.0f64.copysign(y)),
        rest if (rest < 0.0) != (y < 0.0) => (quotient - 1.0, rest + y),
        rest => (quotient, rest),
    };
    if quotient == 0.0 {
        return (0.0f64.copysign(x / y), rest);
    }
    // Corrects a rounding error next to an integer.
    let floor = quotient.floor();
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, rest)
}

pub fn floor_divide(a: Number, b: Number) -> NumberResult {
    let both = quotient_and_rest(&a, &b, "integer division or modulo by zero", "float floor division by zero");
    both.map(|both| both.map(|(quotient, _)| quotient))
}

pub fn remainder(a: Number, b: Number) -> NumberResult {
    quotient_and_rest(&a, &b, "integer modulo by zero", "float modulo").map(|both| both.map(|(_, rest)| rest))
}

pub fn divmod(a: Number, b: Number) -> NumberResult {
    quotient_and_rest(&a, &b, "integer division or modulo by zero", "float divmod()")
        .map(|both| both.map(|(quotient, rest)| Value::tuple([quotient, rest])))
}

pub fn power(a: Number, b: Number) -> NumberResult {
    if let (Number::Int(x), Number::Int(y)) = (&a, &b)
        && let Some(result) = u32::try_from(*y).ok().and_then(|y| x.checked_pow(y))
    {
        return Some(Ok(Value::Int(result)));
    }
    Some(match (a.whole(), b.whole()) {
        (Some(x), Some(y)) if !y.is_negative() => whole::power(&x, y.magnitude()).map(Value::from),
        // An integer to a negative power is a float.
        (Some(_), Some(_)) => a.to_float().and_then(|x| float_power(x, b.to_float()?)),
        _ => pair(&a, &b).and_then(|pair| match pair {
            PromotedPair::Complexes(x, y) => complex_power(x, y).map(Value::Complex),
            PromotedPair::Floats(x, y) => float_power(x, y),
            PromotedPair::Whole(x, y) => whole::power(&x, y.magnitude()).map(Value::from),
        }),
    })
}

/// Raises a float to a power; the result is complex if there is no real one.
fn float_power(x: f64, y: f64) -> Result<Value> {
    if x == 0.0 && y < 0.0 && y.is_finite() {
        return Err(zero_division("0.0 cannot be raised to a negative power"));
    }
    if x < 0.0 && x.is_finite() && y.is_finite() && y.fract() != 0.0 {
        return complex_power(Complex::new(x, 0.0), Complex::new(y, 0.0)).map(Value::Complex);
    }
    let power = x.powf(y);
    if power.is_infinite() && x.is_finite() && y.is_finite() {
        return Err(Error::new(ErrorKind::OverflowError, "(34, 'Numerical result out of range')"));
    }
    Ok(Value::Float(power))
}

/// Divides complex numbers, scaled by the larger part of the divisor to avoid overflow. `None` if the divisor is zero.
fn complex_quotient(x: Complex<f64>, y: Complex<f64>) -> Option<Complex<f64>> {
    if y.re == 0.0 && y.im == 0.0 {
        return None;
    }
    Some(if y.re.abs() >= y.im.abs() {
        let ratio = y.im / y.re;
        let scale = y.re + y.im * ratio;
        Complex::new((x.re + x.im * ratio) / scale, (x.im - x.re * ratio) / scale)
    } else if y.im.abs() >= y.re.abs() {
        let ratio = y.re / y.im;
        let scale = y.re * ratio + y.im;
        Complex::new((x.re * ratio + x.im) / scale, (x.im * ratio - x.re) / scale)
    } else {
        Complex::new(f64::NAN, f64::NAN)
    })
}

/// Raises a complex number to a power: small integer exponents by products, others in polar form.
fn complex_power(x: Complex<f64>, y: Complex<f64>) -> Result<Complex<f64>> {
    let zero = || zero_division("0.0 to a negative or complex power");
    let power = if y.im == 0.0 && y.re.fract() == 0.0 && y.re.abs() <= 100.0 {
        let power = product_power(x, y.re.abs() as u32);
        if y.re > 0.0 { power } else { complex_quotient(Complex::new(1.0, 0.0), power).ok_or_else(zero)? }
    } else if x.re == 0.0 && x.im == 0.0 {
        if y.im != 0.0 || y.re < 0.0 {
            return Err(zero());
        }
        Complex::new(0.0, 0.0)
    } else {
        let (length, angle) = (x.re.hypot(x.im), x.im.atan2(x.re));
        let (mut scale, mut phase) = (length.powf(y.re), angle * y.re);
        if y.im != 0.0 {
            scale /= (angle * y.im).exp();
            phase += y.im * length.ln();
        }
        // An infinite angle has no direction; CPython reports the error of C's cosine as a division by zero.
        if phase.is_infinite() {
            return Err(zero());
        }
        Complex::new(scale * phase.cos(), scale * phase.sin())
    };
    if power.re.is_infinite() || power.im.is_infinite() {
        return Err(Error::new(ErrorKind::OverflowError, "complex exponentiation"));
    }
    Ok(power)
}

fn product_power(x: Complex<f64>, mut exponent: u32) -> Complex<f64> {
    let (mut power, mut square) = (Complex::new(1.0, 0.0), x);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power *= square;
        }
        square *= square;
        exponent >>= 1;
    }
    power
}

/// `pow(a, b, modulus)`; `None` if one of them is not an integer.
pub fn power_modulo(a: &Number, b: &Number, modulus: &Number) -> NumberResult {
    let (a, b, modulus) = (a.whole()?, b.whole()?, modulus.whole()?);
    Some(whole::power_modulo(&a, &b, &modulus).map(Value::from))
}

/// Returns whether two numbers are equal by their exact values; integers are not rounded for the comparison.
pub fn same(a: &Number, b: &Number) -> bool {
    match (a, b) {
        (Number::Complex(x), Number::Complex(y)) => x == y,
        (Number::Complex(c), real) | (real, Number::Complex(c)) => c.im == 0.0 && same(&Number::Float(c.re), real),
        _ => order(a, b) == Some(Ordering::Equal),
    }
}

/// Compares two real numbers by their exact values; `None` for NaN or a complex number.
pub fn order(a: &Number, b: &Number) -> Option<Ordering> {
    match (a, b) {
        (Number::Int(x), Number::Int(y)) => Some(x.cmp(y)),
        (Number::Float(x), Number::Float(y)) => x.partial_cmp(y),
        // A number beyond 64 bits is larger or smaller than all 64-bit ones.
        (Number::Int(_), Number::Big(y)) => Some(if y.is_positive() { Ordering::Less } else { Ordering::Greater }),
        (Number::Big(x), Number::Int(_)) => Some(if x.is_positive() { Ordering::Greater } else { Ordering::Less }),
        (Number::Big(x), Number::Big(y)) => Some(x.cmp(y)),
        (Number::Int(x), Number::Float(y)) => order_to_float(*x, *y),
        (Number::Float(x), Number::Int(y)) => order_to_float(*y, *x).map(Ordering::reverse),
        (Number::Big(x), Number::Float(y)) => whole::compared(x, *y),
        (Number::Float(x), Number::Big(y)) => whole::compared(y, *x).map(Ordering::reverse),
        (Number::Complex(_), _) | (_, Number::Complex(_)) => None,
    }
}

fn order_to_float(x: i64, y: f64) -> Option<Ordering> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if (-BEYOND..BEYOND).contains(&y) {
        return Some(x.cmp(&(y as i64)).then(0.0f64.partial_cmp(&y.fract())?));
    }
    0.0f64.partial_cmp(&y)
}

/// Compares two numbers; `None` for complex numbers, which have no order.
pub fn compare(a: &Number, b: &Number, is: fn(Ordering) -> bool) -> NumberResult {
    match (a, b) {
        (Number::Complex(_), _) | (_, Number::Complex(_)) => None,
        _ => Some(Ok(Value::Bool(order(a, b).is_some_and(is)))),
    }
}

/// Applies a bitwise operation in two's complement; `None` unless both are integers.
pub fn bits(a: &Number, b: &Number, short: fn(i64, i64) -> i64, long: fn(&BigInt, &BigInt) -> BigInt) -> NumberResult {
    if let (Number::Int(x), Number::Int(y)) = (a, b) {
        return Some(Ok(Value::Int(short(*x, *y))));
    }
    Some(whole::walked(a.whole()?.as_ref(), b.whole()?.as_ref(), long).map(Value::from))
}

pub fn shift_left(a: Number, b: Number) -> NumberResult {
    let (x, by) = (a.whole()?, b.whole()?);
    Some(if by.is_negative() {
        Err(Error::value("negative shift count"))
    } else {
        match by.to_u64() {
            Some(by) => whole::shifted_left(&x, by).map(Value::from),
            None if x.is_zero() => Ok(Value::Int(0)),
            None => Err(Error::new(ErrorKind::OverflowError, "too many digits in integer")),
        }
    })
}

pub fn shift_right(a: Number, b: Number) -> NumberResult {
    let by = b.whole()?;
    if by.is_negative() {
        return Some(Err(Error::value("negative shift count")));
    }
    // A shift by more than all bits leaves the sign.
    let by = by.to_u64().unwrap_or(u64::MAX);
    Some(Ok(match a {
        Number::Int(x) => Value::Int(x >> by.min(63)),
        Number::Big(x) if by < x.bits() => Value::from(&*x >> by),
        Number::Big(x) => Value::Int(if x.is_negative() { -1 } else { 0 }),
        Number::Float(_) | Number::Complex(_) => return None,
    }))
}

pub fn negative(a: Number) -> Value {
    match a {
        Number::Int(i) => i.checked_neg().map_or_else(|| Value::from(-BigInt::from(i)), Value::Int),
        Number::Big(i) => Value::from(-&*i),
        Number::Float(f) => Value::Float(-f),
        Number::Complex(c) => Value::Complex(-c),
    }
}

/// `~a`; `None` unless `a` is an integer.
pub fn inverted(a: Number) -> Option<Value> {
    match a {
        Number::Int(i) => Some(Value::Int(!i)),
        Number::Big(i) => Some(Value::from(!&*i)),
        Number::Float(_) | Number::Complex(_) => None,
    }
}

/// # Errors
/// OverflowError for a complex number whose magnitude exceeds all floats.
pub fn absolute(a: Number) -> Result<Value> {
    Ok(match a {
        Number::Int(i) if i < 0 => negative(a),
        Number::Big(i) if i.is_negative() => Value::from(-&*i),
        Number::Float(f) => Value::Float(f.abs()),
        Number::Complex(c) => {
            let length = c.re.hypot(c.im);
            if length.is_infinite() && c.re.is_finite() && c.im.is_finite() {
                return Err(Error::new(ErrorKind::OverflowError, "absolute value too large"));
            }
            Value::Float(length)
        }
        other => Value::from(other),
    })
}

/// Returns the integral part of a float.
///
/// # Errors
/// ValueError for NaN, OverflowError for infinities.
pub fn truncated(float: f64) -> Result<Value> {
    whole::from_float(float).map(Value::from)
}

/// `round(a, digits)`; without digits, rounds to an integer. `None` for a complex number.
pub fn rounded(a: &Number, digits: Option<&BigInt>) -> NumberResult {
    /// Floats have no digits after this decimal place.
    const LAST: i64 = 323;
    /// Floats have no digits this far before the decimal point.
    const FIRST: i64 = -308;
    Some(match (a, digits) {
        (Number::Complex(_), _) => return None,
        (Number::Float(x), None) => truncated(x.round_ties_even()),
        (Number::Float(x), Some(digits)) => {
            let far = if digits.is_negative() { i64::MIN } else { i64::MAX };
            let rounded = match digits.to_i64().unwrap_or(far) {
                _ if !x.is_finite() => Ok(*x),
                digits if digits > LAST => Ok(*x),
                digits if digits < FIRST => Ok(0.0f64.copysign(*x)),
                digits @ ..0 => whole::rounded_float(*x, digits.unsigned_abs()),
                // Formatting rounds correctly; parsing the digits gives the nearest float.
                digits => Ok(format!("{x:.*}", digits.unsigned_abs() as usize).parse().unwrap_or(*x)),
            };
            rounded.map(Value::Float)
        }
        (_, Some(digits)) if digits.is_negative() => {
            let zeros = digits.magnitude().to_u64().unwrap_or(u64::MAX);
            whole::rounded(a.whole()?.as_ref(), zeros).map(Value::from)
        }
        (integer, _) => Ok(Value::from(integer.clone())),
    })
}

/// The prime modulus of hashes.
const MODULUS: u64 = (1 << 61) - 1;

/// Returns Python's hash of a number, which is the same for all equal numbers: the exact value, as a fraction, modulo a
/// prime. `None` for values that are not numbers. NaN equals nothing; CPython hashes its address, here it is 0.
pub(crate) fn hash_number(value: &Value) -> Option<i64> {
    Some(match number(value)? {
        Number::Int(i) => signed_hash(i.unsigned_abs() % MODULUS, i < 0),
        Number::Big(i) => {
            let rest = i.magnitude().rem_euclid(&MODULUS.into()).to_u64().unwrap_or_default();
            signed_hash(rest, i.is_negative())
        }
        Number::Float(f) => hash_float(f),
        Number::Complex(c) => {
            const FACTOR: i64 = 1_000_003;
            match hash_float(c.re).wrapping_add(FACTOR.wrapping_mul(hash_float(c.im))) {
                -1 => -2,
                hash => hash,
            }
        }
    })
}

/// Python reserves -1 as the error indicator.
fn signed_hash(rest: u64, negative: bool) -> i64 {
    let rest = rest.cast_signed();
    match if negative { -rest } else { rest } {
        -1 => -2,
        hash => hash,
    }
}

fn hash_float(float: f64) -> i64 {
    if float.is_nan() {
        return 0;
    }
    if float.is_infinite() {
        return if float > 0.0 { 314_159 } else { -314_159 };
    }
    // Powers of two repeat with period 61, and so do those of the inverse of two.
    let (mantissa, exponent) = whole::parts(float);
    let turns = exponent.rem_euclid(61) as u32;
    let rest = (u128::from(mantissa) << turns) % u128::from(MODULUS);
    signed_hash(rest as u64, float < 0.0)
}

#[cfg(test)]
mod tests;
