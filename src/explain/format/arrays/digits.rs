//! The decimal digits of floats: exact ones, and the fewest that identify a number in its dtype.

use super::super::number::{write_fixed, write_scientific};
use half::f16;
use tensor::DType;

/// The precision of a float, which decides how many digits identify it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    Half,
    Single,
    Double,
}

/// The rule for the number of digits after the point.
#[derive(Clone, Copy)]
pub(super) enum Digits {
    /// This many digits of the exact value.
    Exact(usize),
    /// The fewest that identify the number, or those of the exact value up to a limit. Without trailing zeros.
    Shortest(Option<usize>),
    /// Like [`Exact`](Digits::Exact), but the text reads back as the number if possible.
    Filled(usize),
}

impl Precision {
    /// Returns the precision of a dtype or of its complex parts.
    pub(super) fn of(dtype: DType) -> Precision {
        match dtype.to_real() {
            DType::Half => Precision::Half,
            DType::Float => Precision::Single,
            _ => Precision::Double,
        }
    }

    /// Numbers of at least this magnitude are written with an exponent.
    pub(super) fn largest_plain(self) -> f64 {
        match self {
            Precision::Half => 1e3,
            Precision::Single => 1e6,
            Precision::Double => 1e8,
        }
    }

    /// Returns whether an array needs exponents because its smallest or its largest nonzero magnitude is too small or
    /// too different from the other. Computes in this precision, like NumPy.
    pub(super) fn needs_exponent(self, least: f64, most: f64) -> bool {
        let (tiny, ratio) = match self {
            Precision::Half => (f16::from_f64(1e-4).to_f64(), f16::from_f32(most as f32 / least as f32).to_f64()),
            Precision::Single => (f64::from(1e-4f32), f64::from(most as f32 / least as f32)),
            Precision::Double => (1e-4, most / least),
        };
        least < tiny || ratio > 1000.0
    }

    /// Any two texts of at most this many digits are read as different numbers, so they cannot tie. A subnormal number,
    /// for which that is not true, has too many exact digits for a tie.
    fn distinct_digits(self) -> usize {
        match self {
            Precision::Half => 3,
            Precision::Single => 6,
            Precision::Double => 15,
        }
    }

    /// Returns whether a text is read as this number.
    fn reads(self, text: &str, value: f64) -> bool {
        match self {
            Precision::Half => text.parse().is_ok_and(|read| f16::from_f64(read).to_f64() == value),
            Precision::Single => text.parse().is_ok_and(|read: f32| f64::from(read) == value),
            Precision::Double => text.parse() == Ok(value),
        }
    }
}

/// Formats a finite number. The text always has a point, like `-1.`, and may end in an exponent, like `1.5e-07`.
pub(super) fn text(value: f64, precision: Precision, digits: Digits, scientific: bool) -> String {
    let size = value.abs();
    let mut text = match digits {
        Digits::Exact(count) => exact(size, count, scientific),
        Digits::Filled(count) => {
            // For all numbers but powers of two, no text reads back if the nearest does not.
            let readable = is_power_of_two(size).then(|| readable(size, precision, count, scientific)).flatten();
            readable.unwrap_or_else(|| exact(size, count, scientific))
        }
        Digits::Shortest(limit) => {
            let shortest = shortest(size, precision);
            let (mantissa, exponent) = parts(&shortest);
            let significant: String = mantissa.chars().filter(char::is_ascii_digit).collect();
            let count = match scientific {
                true => significant.len() - 1,
                false => usize::try_from(significant.len() as i64 - 1 - exponent).unwrap_or(0),
            };
            match limit {
                Some(limit) if limit < count => trimmed(exact(size, limit, scientific)),
                _ if scientific => join(&significant, exponent),
                _ => plain(&significant, exponent),
            }
        }
    };
    if value.is_sign_negative() {
        text.insert(0, '-');
    }
    text
}

/// Formats a magnitude with `count` digits after the point, rounded to nearest, ties to even.
fn exact(size: f64, count: usize, scientific: bool) -> String {
    let mut text = String::new();
    if scientific {
        write_scientific(&mut text, size, count);
    } else {
        write_fixed(&mut text, size, count);
    }
    if count == 0 {
        text.insert(text.find('e').unwrap_or(text.len()), '.');
    }
    text
}

/// Returns the text with `count` digits after the point that reads as this magnitude. `None` if no text does.
///
/// That is the nearest text, except for some powers of two. The next number above a power of two is twice as far away as
/// the next below, so the text above may read as the power although the nearest text, below, does not.
fn readable(size: f64, precision: Precision, count: usize, scientific: bool) -> Option<String> {
    let nearest = exact(size, count, scientific);
    if precision.reads(&nearest, size) {
        return Some(nearest);
    }
    if !is_power_of_two(size) {
        return None;
    }
    incremented(nearest).filter(|above| precision.reads(above, size))
}

fn is_power_of_two(size: f64) -> bool {
    size.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1
}

/// Adds one to the last digit of a text. `None` if that changes the number of digits.
fn incremented(text: String) -> Option<String> {
    let end = text.find('e').unwrap_or(text.len());
    let last = text.get(..end)?.rfind(|c: char| c.is_ascii_digit() && c != '9')?;
    let carry = |(at, c): (usize, char)| match c {
        '0'..='8' if at == last => char::from(c as u8 + 1),
        '9' if at > last && at < end => '0',
        other => other,
    };
    Some(text.char_indices().map(carry).collect())
}

/// Returns the shortest text that reads as this magnitude, in scientific notation: `1.5e-7`. Of several such texts,
/// returns the nearest, and of two equally near the one with an even last digit.
fn shortest(size: f64, precision: Precision) -> String {
    let text = match precision {
        Precision::Half => return half_shortest(size),
        Precision::Single => format!("{:e}", size as f32),
        Precision::Double => format!("{size:e}"),
    };
    let digits = parts(&text).0.bytes().filter(u8::is_ascii_digit).count();
    if digits <= precision.distinct_digits() {
        return text;
    }
    // Rust resolves ties upwards.
    readable(size, precision, digits - 1, true).unwrap_or(text)
}

fn half_shortest(size: f64) -> String {
    // Five digits identify any of them.
    let texts = (0..5).filter_map(|count| readable(size, Precision::Half, count, true));
    texts.map(trimmed).next().unwrap_or_else(|| format!("{size:e}"))
}

/// Splits a text in scientific notation into mantissa and exponent.
fn parts(text: &str) -> (&str, i64) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    (mantissa, exponent.parse().unwrap_or(0))
}

/// Joins significant digits to a text in scientific notation.
fn join(significant: &str, exponent: i64) -> String {
    let (whole, fraction) = significant.split_at_checked(1).unwrap_or((significant, ""));
    format!("{whole}.{fraction}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

/// Joins significant digits to a text without an exponent.
fn plain(significant: &str, exponent: i64) -> String {
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    let Ok(exponent) = usize::try_from(exponent) else {
        return format!("0.{}{significant}", zeros(-exponent - 1));
    };
    match significant.split_at_checked(exponent + 1) {
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => format!("{significant}{}.", zeros((exponent + 1 - significant.len()) as i64)),
    }
}

/// Removes zeros at the end of the digits behind the point.
fn trimmed(mut text: String) -> String {
    let end = text.find('e').unwrap_or(text.len());
    let kept = text.get(..end).map_or(end, |digits| digits.trim_end_matches('0').len());
    if text.get(..end).is_some_and(|digits| digits.contains('.')) {
        text.replace_range(kept..end, "");
    }
    text
}
