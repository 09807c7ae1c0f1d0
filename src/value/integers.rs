//! Integers of any length, computed exactly as in Python. Long computations consist of short steps that check for
//! Ctrl-C, and a result's memory is checked before it is allocated. Works on numbers and strings, not on
//! [`Value`](super::Value).

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{Euclid, FromPrimitive, One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use tensor::interrupt::watched;
use tensor::{Error, ErrorKind, Result, interrupt, limits};

/// The maximum number of bits in a product or a power. Memory would allow more, but the time grows faster than the
/// length: at this length it is about a second.
const MOST_BITS: u64 = 1 << 25;

/// The maximum number of bits in a left-shifted number. Shifting is fast, so only memory limits it.
const MOST_SHIFTED: u64 = 1 << 31;

/// Factors of up to this many bits are multiplied in one step, which takes about a millisecond.
const STEP: u64 = 1 << 17;

/// Divisors and quotients of up to this many bits take one step of division.
const DIVISION_STEP: u64 = 1 << 12;

/// The maximum number of decimal digits that CPython converts between numbers and text, because conversion takes
/// quadratic time.
const MOST_DIGITS: usize = 4300;

/// A number of bits that every number of more than [`MOST_DIGITS`] digits has, with a small margin.
const BITS_OF_DIGITS: u64 = 14_400;

fn too_large() -> Error {
    Error::new(ErrorKind::OverflowError, "int too large to convert to float")
}

/// Checks that a number of `bits` bits fits the memory budget.
fn room(bits: u64) -> Result<()> {
    limits::room(usize::try_from(bits / 8).unwrap_or(usize::MAX))
}

fn signed(magnitude: BigUint, negative: bool) -> BigInt {
    BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, magnitude)
}

/// Applies an addition, or another operation whose result is at most one bit longer than the operands.
///
/// # Errors
/// MemoryError if there is not enough memory.
pub fn walked(x: &BigInt, y: &BigInt, operation: impl Fn(&BigInt, &BigInt) -> BigInt) -> Result<BigInt> {
    room(x.bits().max(y.bits()).saturating_add(1))?;
    Ok(operation(x, y))
}

/// `x * y`
///
/// # Errors
/// MemoryError if the product is too long, KeyboardInterrupt.
pub fn product(x: &BigInt, y: &BigInt) -> Result<BigInt> {
    let magnitude = limited_product(x.magnitude(), y.magnitude())?;
    Ok(signed(magnitude, x.is_negative() != y.is_negative()))
}

fn limited_product(x: &BigUint, y: &BigUint) -> Result<BigUint> {
    if x.bits().saturating_add(y.bits()) > MOST_BITS.saturating_add(1) {
        return Err(limits::full());
    }
    multiplied(x, y)
}

/// Splits a number into the part above `bits` and the part below.
fn cut(x: &BigUint, bits: u64) -> (BigUint, BigUint) {
    let high = x >> bits;
    let low = x - (&high << bits);
    (high, low)
}

/// Multiplies by Karatsuba's algorithm, down to factors that are multiplied in one step.
fn multiplied(x: &BigUint, y: &BigUint) -> Result<BigUint> {
    let (long, short) = if x.bits() >= y.bits() { (x, y) } else { (y, x) };
    if short.bits() <= 64 || long.bits() <= STEP {
        interrupt::check()?;
        return Ok(long * short);
    }
    // Shifting by whole digits is faster.
    let half = (long.bits() / 2).next_multiple_of(64);
    let (high, low) = cut(long, half);
    if short.bits() <= half {
        return Ok((multiplied(&high, short)? << half) + multiplied(&low, short)?);
    }
    let (short_high, short_low) = cut(short, half);
    let above = multiplied(&high, &short_high)?;
    let below = multiplied(&low, &short_low)?;
    let between = multiplied(&(high + low), &(short_high + short_low))? - &above - &below;
    Ok((above << (2 * half)) + (between << half) + below)
}

/// Computes `x // y` and `x % y`. The remainder has the divisor's sign.
///
/// # Errors
/// ZeroDivisionError, KeyboardInterrupt.
pub fn divided(x: &BigInt, y: &BigInt) -> Result<(BigInt, BigInt)> {
    let (mut quotient, mut rest) = divided_magnitudes(x.magnitude(), y.magnitude())?;
    let negative = x.is_negative() != y.is_negative();
    if negative && !rest.is_zero() {
        quotient += 1u32;
        rest = y.magnitude() - rest;
    }
    Ok((signed(quotient, negative), signed(rest, y.is_negative())))
}

/// Returns the quotient and the remainder. Long numbers are split into digits as long as the divisor. Each step of the
/// long division uses the algorithm of Burnikel and Ziegler, which is as fast as a multiplication.
fn divided_magnitudes(x: &BigUint, y: &BigUint) -> Result<(BigUint, BigUint)> {
    if y.is_zero() {
        return Err(Error::new(ErrorKind::ZeroDivisionError, "integer division or modulo by zero"));
    }
    let bits = y.bits();
    if bits <= DIVISION_STEP || x.bits() <= bits.saturating_add(DIVISION_STEP) {
        interrupt::check()?;
        return Ok(x.div_rem_euclid(y));
    }
    let digits = usize::try_from(bits.div_ceil(32)).map_err(|_| limits::full())?;
    let length = bits.next_multiple_of(32);
    let moved = length - bits;
    let (x, y) = (x << moved, y << moved);
    let parts = x.to_u32_digits();
    let mut quotient = vec![0u32; parts.len()];
    let mut rest = BigUint::zero();
    for (from, to) in parts.chunks(digits).zip(quotient.chunks_mut(digits)).rev() {
        let (part, next) = two_by_one(&((rest << length) + BigUint::from_slice(from)), &y, length)?;
        to.iter_mut().zip(part.to_u32_digits()).for_each(|(to, digit)| *to = digit);
        rest = next;
    }
    Ok((BigUint::new(quotient), rest >> moved))
}

/// Divides `x` by `y`, which has `bits` bits; `x` must be less than `y << bits`.
fn two_by_one(x: &BigUint, y: &BigUint, bits: u64) -> Result<(BigUint, BigUint)> {
    if bits <= DIVISION_STEP || x.bits() <= bits + DIVISION_STEP {
        interrupt::check()?;
        return Ok(x.div_rem_euclid(y));
    }
    if !bits.is_multiple_of(2) {
        let (quotient, rest) = two_by_one(&(x << 1u32), &(y << 1u32), bits + 1)?;
        return Ok((quotient, rest >> 1u32));
    }
    let half = bits / 2;
    let (high, low) = cut(x, bits);
    let (third, fourth) = cut(&low, half);
    let (upper, rest) = three_by_two(&high, third, y, half)?;
    let (lower, rest) = three_by_two(&rest, fourth, y, half)?;
    Ok(((upper << half) + lower, rest))
}

/// Divides `high` followed by `low`, which is half as long as the divisor. The quotient by the divisor's upper half is
/// at most two too large.
fn three_by_two(high: &BigUint, low: BigUint, y: &BigUint, half: u64) -> Result<(BigUint, BigUint)> {
    let (y_high, y_low) = cut(y, half);
    let (mut quotient, rest) = if high >> half == y_high {
        ((BigUint::one() << half) - 1u32, high - (&y_high << half) + &y_high)
    } else {
        two_by_one(high, &y_high, half)?
    };
    let excess = multiplied(&quotient, &y_low)?;
    let mut rest = (rest << half) + low;
    while rest < excess {
        quotient -= 1u32;
        rest += y;
    }
    Ok((quotient, rest - excess))
}

/// `x ** exponent`
///
/// # Errors
/// MemoryError if the power is too long, KeyboardInterrupt.
pub fn power(x: &BigInt, exponent: &BigUint) -> Result<BigInt> {
    let negative = x.is_negative() && exponent.bit(0);
    if exponent.is_zero() || x.magnitude().is_one() {
        return Ok(signed(BigUint::one(), negative));
    }
    let Some(twos) = x.trailing_zeros() else { return Ok(BigInt::zero()) };
    let exponent = exponent.to_u64().ok_or_else(limits::full)?;
    // A power of two is a shift, and as cheap.
    let odd = x.magnitude() >> twos;
    let zeros = twos.saturating_mul(exponent);
    if odd.is_one() {
        return shifted_left(&signed(odd, negative), zeros);
    }
    if (x.bits() - 1).saturating_mul(exponent) > MOST_BITS {
        return Err(limits::full());
    }
    let mut result = odd.clone();
    for place in (0..exponent.ilog2()).rev() {
        result = multiplied(&result, &result)?;
        if exponent >> place & 1 == 1 {
            result = multiplied(&result, &odd)?;
        }
    }
    Ok(signed(result << zeros, negative))
}

/// `pow(x, exponent, modulus)`, with the modulus's sign.
///
/// # Errors
/// ValueError if the modulus is zero or there is no inverse; KeyboardInterrupt.
pub fn power_modulo(x: &BigInt, exponent: &BigInt, modulus: &BigInt) -> Result<BigInt> {
    if modulus.is_zero() {
        return Err(Error::value("pow() 3rd argument cannot be 0"));
    }
    let length = modulus.magnitude();
    let base = if exponent.is_negative() { inverse(x, length)? } else { residue(x, length)? };
    let exponent = exponent.magnitude();
    let mut result = BigUint::one();
    for place in (0..exponent.bits()).rev() {
        result = divided_magnitudes(&multiplied(&result, &result)?, length)?.1;
        if exponent.bit(place) {
            result = divided_magnitudes(&multiplied(&result, &base)?, length)?.1;
        }
    }
    Ok(divided(&BigInt::from(result), modulus)?.1)
}

fn residue(x: &BigInt, length: &BigUint) -> Result<BigUint> {
    Ok(divided(x, &BigInt::from(length.clone()))?.1.magnitude().clone())
}

/// Returns the inverse of `x` modulo `length`, by the extended Euclidean algorithm.
fn inverse(x: &BigInt, length: &BigUint) -> Result<BigUint> {
    let (mut a, mut b) = (BigInt::from(length.clone()), BigInt::from(residue(x, length)?));
    let (mut before, mut now) = (BigInt::zero(), BigInt::one());
    while !b.is_zero() {
        let (quotient, rest) = divided(&a, &b)?;
        let next = before - BigInt::from(multiplied(quotient.magnitude(), now.magnitude())?) * now.signum();
        (before, now) = (now, next);
        (a, b) = (b, rest);
    }
    if !a.is_one() {
        return Err(Error::value("base is not invertible for the given modulus"));
    }
    residue(&before, length)
}

/// `x << by`
///
/// # Errors
/// MemoryError if there is not enough memory.
pub fn shifted_left(x: &BigInt, by: u64) -> Result<BigInt> {
    if x.is_zero() {
        return Ok(BigInt::zero());
    }
    let bits = x.bits().saturating_add(by);
    if bits > MOST_SHIFTED + 1 {
        return Err(limits::full());
    }
    room(bits)?;
    Ok(x << by)
}

/// Returns the greatest common divisor of two magnitudes.
///
/// # Errors
/// KeyboardInterrupt.
pub fn divisor(x: &BigInt, y: &BigInt) -> Result<BigInt> {
    let (mut a, mut b) = (x.magnitude().clone(), y.magnitude().clone());
    while !b.is_zero() {
        let rest = divided_magnitudes(&a, &b)?.1;
        (a, b) = (b, rest);
    }
    Ok(BigInt::from(a))
}

/// Returns the square root of a non-negative number, rounded down. Every iteration doubles the number of correct bits,
/// starting with the highest ones.
///
/// # Errors
/// KeyboardInterrupt.
pub fn root(x: &BigInt) -> Result<BigInt> {
    let x = x.magnitude();
    if x.bits() <= 1 {
        return Ok(BigInt::from(x.clone()));
    }
    // The bits of the root after its first one.
    let length = (x.bits() - 1) / 2;
    let (mut root, mut known) = (BigUint::one(), 0u64);
    for round in (0..u64::BITS - length.leading_zeros()).rev() {
        let wanted = length >> round;
        // A Newton step on those bits of the number that determine the wanted bits of the root.
        let upper = x >> (2 * length - known - wanted + 1);
        root = (&root << (wanted - known - 1)) + divided_magnitudes(&upper, &root)?.0;
        known = wanted;
    }
    if multiplied(&root, &root)? > *x {
        root -= 1u32;
    }
    Ok(BigInt::from(root))
}

/// Returns the product of `count` consecutive numbers, starting at `first`. Splits the range in halves, so that factors
/// have similar lengths.
fn product_from(first: &BigUint, count: u64) -> Result<BigUint> {
    match count {
        0 => Ok(BigUint::one()),
        1 => Ok(first.clone()),
        2..=16 if first.bits() <= 1 << 10 => Ok((1..count).fold(first.clone(), |all, i| all * (first + i))),
        _ => {
            let half = count / 2;
            limited_product(&product_from(first, half)?, &product_from(&(first + half), count - half)?)
        }
    }
}

/// Returns the falling factorial `n * (n - 1) * …` with `factors` factors, at most `n`.
///
/// # Errors
/// MemoryError if the product is too long, KeyboardInterrupt.
pub fn falling(n: &BigInt, factors: u64) -> Result<BigInt> {
    // Because `factors` is at most `n`, at least half of the factors are at least half of `n`.
    if n.bits().saturating_sub(2).saturating_mul(factors / 2) > MOST_BITS {
        return Err(limits::full());
    }
    let first = n.magnitude() + 1u32 - factors;
    product_from(&first, factors).map(BigInt::from)
}

pub fn is_negative(number: &BigInt) -> bool {
    number.sign() == Sign::Minus
}

/// Converts an integer to the nearest float, ties to even.
///
/// # Errors
/// OverflowError if the number exceeds all floats.
pub fn to_float(x: &BigInt) -> Result<f64> {
    // `to_f64` returns infinity for numbers beyond all floats.
    x.to_f64().filter(|float| float.is_finite()).ok_or_else(too_large)
}

/// Returns the integral part of a float.
///
/// # Errors
/// ValueError for NaN, OverflowError for infinities.
pub(crate) fn from_float(float: f64) -> Result<BigInt> {
    match BigInt::from_f64(float.trunc()) {
        Some(whole) => Ok(whole),
        None if float.is_nan() => Err(Error::value("cannot convert float NaN to integer")),
        None => Err(Error::new(ErrorKind::OverflowError, "cannot convert float infinity to integer")),
    }
}

/// Returns the exact value of a finite float as a fraction in lowest terms.
pub fn fraction(float: f64) -> (BigInt, BigInt) {
    let (mantissa, exponent) = parts(float);
    let twos = i64::from(mantissa.trailing_zeros());
    let numerator = signed(mantissa.into(), float.is_sign_negative());
    match exponent {
        _ if mantissa == 0 => (BigInt::zero(), BigInt::one()),
        0.. => (numerator << exponent, BigInt::one()),
        _ => {
            let common = twos.min(-exponent);
            (numerator >> common, BigInt::one() << (-exponent - common))
        }
    }
}

/// Returns a finite float's magnitude as an integer and the power of two that it is multiplied by.
pub fn parts(float: f64) -> (u64, i64) {
    let bits = float.abs().to_bits();
    let (exponent, digits) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    if exponent == 0 { (digits, -1074) } else { (digits | 1 << 52, exponent - 1075) }
}

/// Computes `x / y` for a nonzero divisor: the float nearest to the exact quotient.
///
/// # Errors
/// OverflowError if the quotient exceeds all floats, KeyboardInterrupt.
pub fn true_quotient(x: &BigInt, y: &BigInt) -> Result<f64> {
    let sign = if x.is_negative() != y.is_negative() { -1.0 } else { 1.0 };
    let length = i64::try_from(x.bits()).unwrap_or(i64::MAX) - i64::try_from(y.bits()).unwrap_or(i64::MAX);
    // The smallest float is 2**-1074, the largest less than 2**1024.
    if x.is_zero() || length < -1075 {
        return Ok(0.0 * sign);
    }
    let overflow = || Error::new(ErrorKind::OverflowError, "integer division result too large for a float");
    if length > 1025 {
        return Err(overflow());
    }
    // The quotient's upper 61 to 63 bits; the lowest bit is also set if there is a remainder.
    let scale = length - 62;
    let (x, y) = (x.magnitude(), y.magnitude());
    let (quotient, rest) = match u64::try_from(scale) {
        Ok(scale) => divided_magnitudes(x, &(y << scale))?,
        Err(_) => divided_magnitudes(&(x << scale.unsigned_abs()), y)?,
    };
    let quotient = quotient.to_u64().unwrap_or(u64::MAX) | u64::from(!rest.is_zero());
    scaled(quotient, scale).map(|float| float * sign).ok_or_else(overflow)
}

/// Computes `digits * 2**scale`, rounded once, ties to even: to 53 bits, or fewer for the smallest floats. `None`
/// beyond all floats.
fn scaled(digits: u64, scale: i64) -> Option<f64> {
    let spare = (i64::from(u64::BITS - digits.leading_zeros()) - 53).max(-1074 - scale).clamp(0, 63);
    let (kept, half) = (digits >> spare, (1u64 << spare) >> 1);
    let lost = digits & ((1 << spare) - 1);
    let up = half > 0 && (lost > half || lost == half && kept & 1 == 1);
    let exponent = scale + spare;
    let unit = match exponent {
        -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        _ => return None,
    };
    // The kept bits fit a float, so nothing is rounded again.
    Some((kept + u64::from(up)) as f64 * unit).filter(|float| float.is_finite())
}

/// Rounds to a multiple of a power of ten, ties to even.
///
/// # Errors
/// MemoryError, KeyboardInterrupt.
pub fn rounded(x: &BigInt, zeros: u64) -> Result<BigInt> {
    nearest(x, zeros, false)
}

/// Like [`rounded`]; with `more`, the exact number is slightly farther from zero.
fn nearest(x: &BigInt, zeros: u64, more: bool) -> Result<BigInt> {
    // A decimal digit has more than three bits.
    if zeros > x.bits() / 3 + 1 {
        return Ok(BigInt::zero());
    }
    let unit = power(&BigInt::from(10), &zeros.into())?;
    let (mut quotient, rest) = divided_magnitudes(x.magnitude(), unit.magnitude())?;
    let up = match (rest << 1u32).cmp(unit.magnitude()) {
        Ordering::Equal => more || quotient.bit(0),
        order => order == Ordering::Greater,
    };
    quotient += u32::from(up);
    Ok(signed(multiplied(&quotient, unit.magnitude())?, x.is_negative()))
}

/// Rounds a float to a multiple of a power of ten; ties of the exact value go to even.
///
/// # Errors
/// OverflowError if the result exceeds all floats.
pub(crate) fn rounded_float(float: f64, zeros: u64) -> Result<f64> {
    let rounded = nearest(&from_float(float)?, zeros, float.fract() != 0.0)?;
    let large = |_| Error::new(ErrorKind::OverflowError, "rounded value too large to represent");
    Ok(to_float(&rounded).map_err(large)?.abs().copysign(float))
}

/// Compares an integer with a float by their exact values; `None` for NaN.
pub fn compared(x: &BigInt, float: f64) -> Option<Ordering> {
    match BigInt::from_f64(float.trunc()) {
        Some(whole) => Some(x.cmp(&whole).then(0.0f64.partial_cmp(&float.fract())?)),
        None if float.is_nan() => None,
        None => Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater }),
    }
}

fn limit(more: &str) -> Error {
    Error::value(format!(
        "Exceeds the limit ({MOST_DIGITS} digits) for integer string conversion{more}; use sys.set_int_max_str_digits() \
         to increase the limit"
    ))
}

/// Returns the decimal digits, with a minus sign for negative numbers.
///
/// # Errors
/// ValueError for more digits than Python converts.
pub fn decimal(x: &BigInt) -> Result<String> {
    if x.bits() > BITS_OF_DIGITS {
        return Err(limit(""));
    }
    let text = x.to_string();
    if text.trim_start_matches('-').len() > MOST_DIGITS { Err(limit("")) } else { Ok(text) }
}

/// Returns the magnitude's digits in a base that is a power of two; their number is limited only by memory.
///
/// # Errors
/// MemoryError.
pub fn binary_digits(x: &BigInt, base: u32) -> Result<String> {
    let digits = x.bits() / u64::from(base.max(2).ilog2());
    // The digits are stored twice: as numbers, and as text.
    room(digits.saturating_mul(2 * 8))?;
    let base = base.clamp(2, 36);
    let words = x.magnitude().to_u32_digits();
    if words.len() <= PART_WORDS {
        return Ok(x.magnitude().to_str_radix(base));
    }
    let mut text = String::new();
    for part in words.chunks(PART_WORDS).rev() {
        interrupt::check()?;
        let digits = BigUint::from_slice(part).to_str_radix(base);
        let width = if text.is_empty() { 0 } else { digits_of_part(base) };
        text.extend(std::iter::repeat_n('0', width.saturating_sub(digits.len())));
        text.push_str(&digits);
    }
    Ok(text)
}

/// The number of 32-bit words that are converted to or from text at a time, in a base that is a power of two. In all
/// these bases, digits end at this boundary.
const PART_WORDS: usize = 15 << 9;

/// Returns the number of digits in [`PART_WORDS`] words.
fn digits_of_part(base: u32) -> usize {
    PART_WORDS * 32 / base.max(2).ilog2() as usize
}

/// Parses an integer like Python's `int`, after surrounding whitespace has been removed. Base 0 means that the prefix
/// determines it. `None` if the text is not an integer.
///
/// # Errors
/// ValueError for more digits than Python converts.
pub fn parse(text: &str, base: u32) -> Result<Option<BigInt>> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    // Each pass over all digits of a long text takes a while.
    let lower = magnitude.to_ascii_lowercase();
    interrupt::check()?;
    let prefixed = [("0b", 2), ("0o", 8), ("0x", 16)]
        .into_iter()
        .find_map(|(prefix, own)| Some((lower.strip_prefix(prefix)?, own)).filter(|_| base == 0 || base == own));
    let (digits, base) = match prefixed {
        Some((digits, own)) => (digits.strip_prefix('_').unwrap_or(digits), own),
        // Without a prefix, a leading zero is only allowed if all digits are zeros.
        None if base == 0 && lower.starts_with('0') && !lower.trim_start_matches(['0', '_']).is_empty() => {
            return Ok(None);
        }
        None => (lower.as_str(), if base == 0 { 10 } else { base.clamp(2, 36) }),
    };
    // Underscores are only allowed between digits.
    let end = digits.find(|c: char| c != '_' && !c.is_digit(base)).unwrap_or(digits.len());
    let (digits, after) = digits.split_at(end);
    interrupt::check()?;
    if digits.is_empty() || digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return Ok(None);
    }
    let count = digits.len() - digits.matches('_').count();
    if count > MOST_DIGITS && !base.is_power_of_two() {
        return Err(limit(&format!(": value has {count} digits")));
    }
    if !after.is_empty() {
        return Ok(None);
    }
    interrupt::check()?;
    // The digits as numbers, without underscores.
    room(count as u64 * 8)?;
    let mut numbers: Vec<u8> = limits::list(count)?;
    numbers
        .extend(watched(digits.bytes()).filter_map(|digit| char::from(digit).to_digit(base)).map(|digit| digit as u8));
    interrupt::check()?;
    let part = if base.is_power_of_two() { digits_of_part(base) } else { usize::MAX };
    let mut words = Vec::new();
    for (k, part) in numbers.rchunks(part).enumerate() {
        interrupt::check()?;
        let Some(number) = BigUint::from_radix_be(part, base) else { return Ok(None) };
        // Leading zeros of a part produce no words, so the words are padded up to the next part.
        words.resize(k * PART_WORDS, 0);
        words.extend(number.to_u32_digits());
    }
    Ok(Some(signed(BigUint::new(words), negative)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_parts_are_the_digits() {
        let power = |bits: u32| BigInt::one() << bits;
        for number in [power(600_000), power(600_000) - 1, power(500_000) + power(250_000)] {
            for base in [2, 4, 8, 16, 32] {
                let text = number.to_str_radix(base);
                assert_eq!(binary_digits(&number, base), Ok(text.clone()));
                assert_eq!(parse(&text, base), Ok(Some(number.clone())));
            }
        }
    }
}
