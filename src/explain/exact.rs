//! Exact numbers: a fraction times a power of two. Every finite float is one, and so are sums, products and quotients.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Signed, ToPrimitive, Zero};
use tensor::interrupt::watched;
use tensor::{DType, Scalar};

/// `numerator / denominator * 2^power`.
#[derive(Clone, Debug)]
pub struct Exact {
    numerator: BigInt,
    denominator: BigUint,
    power: i64,
}

/// The number of digits after the point of a decimal that does not end.
const DIGITS: usize = 20;
/// The largest power of two of which a decimal is written out.
const MOST_BITS: u64 = 1 << 13;

impl Exact {
    pub(crate) fn integer(value: impl Into<BigInt>) -> Exact {
        Exact { numerator: value.into(), denominator: BigUint::one(), power: 0 }
    }

    /// Returns a number's exact value. `None` if it is not finite, or complex.
    pub fn of(value: Scalar) -> Option<Exact> {
        match value {
            Scalar::Bool(value) => Some(Exact::integer(u8::from(value))),
            Scalar::Int(value) => Some(Exact::integer(value)),
            Scalar::UInt(value) => Some(Exact::integer(value)),
            Scalar::Float(value) => Exact::float(value),
            Scalar::Complex(_) => None,
        }
    }

    fn float(value: f64) -> Option<Exact> {
        let (numerator, power) = significand(Scalar::Float(value))?;
        Some(Exact { numerator: numerator.into(), denominator: BigUint::one(), power })
    }

    pub fn plus(&self, other: &Exact) -> Exact {
        let power = self.power.min(other.power);
        let scaled = |of: &Exact, by: &BigUint| (of.numerator.clone() << (of.power - power)) * BigInt::from(by.clone());
        let numerator = scaled(self, &other.denominator) + scaled(other, &self.denominator);
        Exact { numerator, denominator: &self.denominator * &other.denominator, power }.reduced()
    }

    /// Adds numbers, which are read twice. `None` if one is not finite.
    pub(crate) fn sum<I: Iterator<Item = Scalar>>(values: impl Fn() -> I) -> Option<Exact> {
        // Of numbers that are not too far apart, this many fit 128 bits together.
        const COUNT: usize = 1 << 24;
        const BITS: i64 = 100;
        let mut power = 0;
        for value in watched(values()) {
            power = power.min(significand(value)?.1);
        }
        let (mut total, mut near) = (BigInt::zero(), 0i128);
        for (number, value) in watched(values()).enumerate() {
            let (numerator, own) = significand(value)?;
            let shift = own - power;
            match i64::from(128 - numerator.unsigned_abs().leading_zeros()) + shift {
                ..=BITS => near += numerator << shift,
                _ => total += BigInt::from(numerator) << shift,
            }
            if number % COUNT == COUNT - 1 {
                total += std::mem::take(&mut near);
            }
        }
        Some(Exact { numerator: total + near, denominator: BigUint::one(), power }.reduced())
    }

    pub fn minus(&self, other: &Exact) -> Exact {
        self.plus(&Exact { numerator: -&other.numerator, ..other.clone() })
    }

    pub fn times(&self, other: &Exact) -> Exact {
        let numerator = &self.numerator * &other.numerator;
        let denominator = &self.denominator * &other.denominator;
        Exact { numerator, denominator, power: self.power + other.power }.reduced()
    }

    /// Divides. `None` for division by zero.
    pub fn over(&self, other: &Exact) -> Option<Exact> {
        if other.numerator.is_zero() {
            return None;
        }
        let sign = if other.numerator.is_negative() { Sign::Minus } else { Sign::Plus };
        let numerator = &self.numerator * BigInt::from_biguint(sign, other.denominator.clone());
        let denominator = &self.denominator * other.numerator.magnitude();
        Some(Exact { numerator, denominator, power: self.power - other.power }.reduced())
    }

    /// Moves factors of two to the power, and cancels a denominator that divides the numerator.
    fn reduced(mut self) -> Exact {
        if self.numerator.is_zero() {
            return Exact::integer(0);
        }
        if !self.denominator.is_one() {
            let zeros = self.denominator.trailing_zeros().unwrap_or_default();
            self.denominator >>= zeros;
            self.power -= zeros as i64;
            let denominator = BigInt::from(self.denominator.clone());
            if (&self.numerator % &denominator).is_zero() {
                self.numerator /= denominator;
                self.denominator = BigUint::one();
            }
        }
        let zeros = self.numerator.trailing_zeros().unwrap_or_default();
        self.numerator >>= zeros;
        self.power += zeros as i64;
        self
    }

    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.numerator.is_negative()
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.denominator.is_one() && self.power >= 0
    }

    /// Returns the number of bits that it takes.
    pub(crate) fn bits(&self) -> u64 {
        self.numerator.bits() + self.denominator.bits() + self.power.unsigned_abs()
    }

    /// Returns the nearest float64, or one beside it.
    pub fn to_f64(&self) -> f64 {
        // 64 bits of the quotient, cut off.
        let shift = 64 - (self.numerator.bits() as i64 - self.denominator.bits() as i64);
        let scaled = match shift {
            0.. => (self.numerator.magnitude() << shift) / &self.denominator,
            _ => self.numerator.magnitude() / (&self.denominator << -shift),
        };
        let power = (self.power - shift).clamp(-3000, 3000) as i32;
        // In steps, because single powers of two are out of range.
        let value = (0..4).fold(scaled.to_f64().unwrap_or_default(), |value, step| {
            value * 2f64.powi(power / 4 + i32::from(step < power % 4) - i32::from(step < -(power % 4)))
        });
        if self.is_negative() { -value } else { value }
    }

    /// Returns the numerator and the denominator of the magnitude in units of `2^power`.
    pub(crate) fn in_units(&self, power: i64) -> (BigUint, BigUint) {
        let (magnitude, shift) = (self.numerator.magnitude(), self.power - power);
        match shift {
            0.. => (magnitude << shift, self.denominator.clone()),
            _ => (magnitude.clone(), &self.denominator << -shift),
        }
    }

    /// Returns `floor(log2(|x|))`. The number must not be zero.
    pub(crate) fn magnitude(&self) -> i64 {
        let estimate = self.numerator.bits() as i64 - self.denominator.bits() as i64;
        let (numerator, denominator) = Exact { power: 0, ..self.clone() }.in_units(estimate);
        self.power + if numerator < denominator { estimate - 1 } else { estimate }
    }

    /// Writes the number as a decimal with all its digits. Ends in `…` if the decimal does not end, or is very long.
    pub fn decimal(&self) -> String {
        let sign = if self.is_negative() { "-" } else { "" };
        if self.power.unsigned_abs() + self.numerator.bits() > MOST_BITS {
            return format!("{sign}2^{}…", self.magnitude());
        }
        let (numerator, denominator) = self.in_units(0);
        let whole = &numerator / &denominator;
        let rest = numerator - &whole * &denominator;
        if rest.is_zero() {
            return format!("{sign}{whole}");
        }
        // A power of two divides 10^places.
        let ends = self.denominator.is_one();
        let lead = (-self.magnitude()).max(0) as usize * 3 / 10;
        let places = if ends { (-self.power) as usize } else { lead + DIGITS };
        let digits = rest * BigUint::from(10u8).pow(places as u32) / denominator;
        let digits = format!("{digits:0>places$}");
        if ends {
            format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
        } else {
            format!("{sign}{whole}.{digits}…")
        }
    }

    /// Like [`Exact::decimal`], with some `most` digits; `…` stands for the others.
    pub fn short(&self, most: usize) -> String {
        let text = self.decimal();
        if text.chars().count() <= most + 2 || text.contains('^') {
            return text;
        }
        let body = text.trim_start_matches('-').trim_end_matches('…');
        let point = body.find('.').unwrap_or(body.len());
        let start = body.find(|digit| ('1'..='9').contains(&digit)).unwrap_or_default();
        let exponent = point as i64 - start as i64 - i64::from(start < point);
        let sign = if self.is_negative() { "-" } else { "" };
        if (-4..16).contains(&exponent) {
            // The point is among the digits, unless all are behind it.
            let end = start + most + usize::from(start < point);
            return match body.get(..end.max(point)) {
                Some(cut) if cut.len() < body.len() => format!("{sign}{cut}…"),
                _ => text,
            };
        }
        let digits: String = body.chars().skip(start).filter(|digit| *digit != '.').collect();
        let digits = digits.trim_end_matches('0');
        let (first, others) = digits.split_at(1.min(digits.len()));
        let (point, rest) = if others.is_empty() { ("", "") } else { (".", others.get(..most - 1).unwrap_or(others)) };
        let more = if rest.len() < others.len() || text.ends_with('…') { "…" } else { "" };
        format!("{sign}{first}{point}{rest}{more}e{exponent}")
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Exact) -> bool {
        self.minus(other).is_zero()
    }
}

/// Returns an odd integer, or 0, and a power of two whose product is the number. `None` if it is not finite. Integers
/// have the power 0.
fn significand(value: Scalar) -> Option<(i128, i64)> {
    let value = match value {
        Scalar::Bool(value) => return Some((value.into(), 0)),
        Scalar::Int(value) => return Some((value.into(), 0)),
        Scalar::UInt(value) => return Some((value.into(), 0)),
        Scalar::Float(value) if value.is_finite() => value,
        _ => return None,
    };
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let zeros = significand.trailing_zeros() % 64;
    let magnitude = i128::from(significand >> zeros);
    let power = if significand == 0 { 0 } else { exponent.max(1) - 1075 + i64::from(zeros) };
    Some((if value < 0.0 { -magnitude } else { magnitude }, power))
}

/// A floating-point format: the bits of its significand, and the power of two of its smallest number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub digits: i64,
    pub lowest: i64,
}

impl Format {
    /// Returns the format of a dtype. `None` for other dtypes than floats with a sign and a mantissa.
    pub(crate) fn of(dtype: DType) -> Option<Format> {
        let (digits, lowest) = match dtype {
            DType::Half => (11, -24),
            DType::BFloat16 => (8, -133),
            DType::Float => (24, -149),
            DType::Double => (53, -1074),
            DType::Float8_e5m2 => (3, -16),
            DType::Float8_e4m3fn => (4, -9),
            DType::Float8_e5m2fnuz => (3, -17),
            DType::Float8_e4m3fnuz => (4, -10),
            _ => return None,
        };
        Some(Format { digits, lowest })
    }
}

/// How an exact number is rounded to a format.
#[derive(Clone, Debug)]
pub struct Rounding {
    /// The power of two of the last bit that is kept: the neighbours are this far apart.
    pub power: i64,
    /// The bits that are kept, as an integer.
    kept: BigUint,
    /// The fraction of the last bit that is dropped.
    dropped: (BigUint, BigUint),
    is_negative: bool,
}

/// The number of dropped bits that are shown.
const SHOWN: usize = 24;

impl Rounding {
    /// Splits a number at the last bit of a format.
    pub(crate) fn new(value: &Exact, format: Format) -> Rounding {
        let power = match value.is_zero() {
            true => format.lowest,
            false => (value.magnitude() - format.digits + 1).max(format.lowest),
        };
        let (numerator, denominator) = value.in_units(power);
        let kept = &numerator / &denominator;
        let rest = numerator - &kept * &denominator;
        Rounding { power, kept, dropped: (rest, denominator), is_negative: value.is_negative() }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.dropped.0.is_zero()
    }

    /// Returns whether the number is halfway between its neighbours.
    pub(crate) fn is_tie(&self) -> bool {
        &self.dropped.0 << 1 == self.dropped.1
    }

    fn is_up(&self) -> bool {
        let twice = &self.dropped.0 << 1;
        twice > self.dropped.1 || twice == self.dropped.1 && self.kept.bit(0)
    }

    fn signed(&self, units: BigUint) -> Exact {
        let sign = if self.is_negative { Sign::Minus } else { Sign::Plus };
        Exact { numerator: BigInt::from_biguint(sign, units), denominator: BigUint::one(), power: self.power }.reduced()
    }

    /// Returns the neighbour towards zero, or the number itself if it is exact.
    pub fn inner(&self) -> Exact {
        self.signed(self.kept.clone())
    }

    /// Returns the neighbour away from zero.
    pub fn outer(&self) -> Exact {
        self.signed(&self.kept + 1u8)
    }

    /// Returns the nearest neighbour, the even one in a tie. The format's largest number is not considered.
    pub(crate) fn nearest(&self) -> Exact {
        if self.is_up() { self.outer() } else { self.inner() }
    }

    pub fn gap(&self) -> Exact {
        Exact { numerator: BigInt::one(), denominator: BigUint::one(), power: self.power }
    }

    /// Writes the gap in a few letters: as a decimal, or as a power of two.
    pub(crate) fn gap_in_brief(&self) -> String {
        let text = self.gap().decimal();
        if text.len() <= 8 { text } else { format!("2^{}", self.power) }
    }

    /// Returns the bits that are kept, and those that are dropped; `…` stands for more.
    pub fn bits(&self) -> (String, String) {
        let (mut rest, unit) = self.dropped.clone();
        let mut dropped = String::new();
        while !rest.is_zero() && dropped.len() < SHOWN {
            rest <<= 1u8;
            let one = rest >= unit;
            if one {
                rest -= &unit;
            }
            dropped.push(if one { '1' } else { '0' });
        }
        if !rest.is_zero() {
            dropped.push('…');
        }
        (self.kept.to_str_radix(2), dropped)
    }

    /// Says how the number was rounded to `stored`, in a few words.
    pub(crate) fn in_words(&self, stored: f64) -> &'static str {
        let fits = Exact::float(stored).is_some_and(|stored| stored == self.nearest());
        match (self.is_exact(), self.is_tie()) {
            (true, _) if fits => "exact",
            _ if !stored.is_finite() => "overflow",
            _ if !fits => "not rounded to nearest",
            (_, true) => "tie, to even",
            _ if self.is_up() => "up",
            _ => "down",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(value: f64) -> Exact {
        Exact::float(value).unwrap()
    }

    #[test]
    fn decimals_have_all_digits() {
        for (value, wanted) in [
            (exact(0.1), "0.1000000000000000055511151231257827021181583404541015625"),
            (exact(-2.5), "-2.5"),
            (exact(0.0), "0"),
            (exact(1e16), "10000000000000000"),
            (exact(5e-324).times(&exact(2f64.powi(1000))).times(&exact(2f64.powi(73))), "0.5"),
            (exact(1.0).over(&exact(3.0)).unwrap(), "0.33333333333333333333…"),
            (exact(-22.0).over(&exact(7.0)).unwrap(), "-3.14285714285714285714…"),
            (exact(6.0).over(&exact(3.0)).unwrap(), "2"),
            (exact(1e300).plus(&exact(-1e300)), "0"),
            (exact(2048.0).plus(&exact(1.0)), "2049"),
        ] {
            assert_eq!(value.decimal(), wanted);
        }
        for (value, wanted) in [
            (exact(0.1), "0.1000000000…"),
            (exact(123456.75), "123456.75"),
            (exact(1e-30), "1.000000000…e-30"),
            (exact(1e30), "1.000000000…e30"),
            (exact(-2f64.powi(-30)), "-9.313225746…e-10"),
            (exact(3e20), "3e20"),
            (exact(1234567890123456.0), "1234567890123456"),
            (exact(1.0).over(&exact(3.0)).unwrap(), "0.3333333333…"),
        ] {
            assert_eq!(value.short(10), wanted);
        }
    }

    #[test]
    fn numbers_are_read_back() {
        let mut state = 1u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let value = f64::from_bits(state);
            if let Some(exact) = Exact::float(value) {
                assert_eq!(exact.to_f64(), value);
                let rounding = Rounding::new(&exact, Format { digits: 53, lowest: -1074 });
                assert!(rounding.is_exact() && exact == rounding.inner(), "{value:e}");
                // Python's `fractions` rounds like this.
                let single = Rounding::new(&exact, Format { digits: 24, lowest: -149 }).nearest();
                if (value as f32).is_finite() {
                    assert_eq!(single.to_f64(), f64::from(value as f32), "{value:e}");
                }
            }
        }
    }

    #[test]
    fn sums_are_exact() {
        let numbers = [0.1, -1e300, 3.0, 1e-300, 5e-324, 1e300, -0.1, f64::from(0.3f32), -7.5e20, 2.0];
        for count in 0..=numbers.len() {
            let values = || numbers[..count].iter().map(|&value| Scalar::Float(value));
            let wanted = values().filter_map(Exact::of).fold(Exact::integer(0), |total, value| total.plus(&value));
            assert_eq!(Exact::sum(values), Some(wanted));
        }
        let whole = [i64::MAX, i64::MAX, -5].map(Scalar::Int);
        assert_eq!(Exact::sum(|| whole.into_iter()).map(|sum| sum.decimal()).as_deref(), Some("18446744073709551609"));
        assert_eq!(Exact::sum(|| [f64::NAN].map(Scalar::Float).into_iter()), None);
    }

    #[test]
    fn ties_go_to_even() {
        let format = Format::of(DType::Half).unwrap();
        for (value, kept, dropped, words) in [
            (2049.0, "10000000000", "1", "tie, to even"),
            (2051.0, "10000000001", "1", "tie, to even"),
            (2048.0, "10000000000", "", "exact"),
            (2050.5, "10000000001", "01", "down"),
            (2051.5, "10000000001", "11", "up"),
            (1e-8, "0", "001010101111001100011101…", "down"),
            (70000.0, "10001000101", "11", "overflow"),
        ] {
            let rounding = Rounding::new(&exact(value), format);
            let stored = half::f16::from_f64(value).to_f64();
            assert_eq!((rounding.bits(), rounding.in_words(stored)), ((kept.to_owned(), dropped.to_owned()), words));
        }
    }
}
