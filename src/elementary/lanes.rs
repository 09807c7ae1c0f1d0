//! [`Lanes`]: what the functions of [`super::series`] compute with.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Adding this rounds a double below 2^51 to an integer, which ends up in the lowest bits of the sum.
pub(crate) const ROUND: f64 = 1.5 * (1u64 << 52) as f64;

/// The numbers that a function computes with: one, or several side by side.
pub trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// The answer to a question, for every number.
    type Mask: Copy;
    fn of(number: f64) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn less(self, than: Self) -> Self::Mask;
    fn at_most(self, most: Self) -> Self::Mask;
    fn equals(self, other: Self) -> Self::Mask;
    fn pick(mask: Self::Mask, then: Self, otherwise: Self) -> Self;
    /// Clamps to ±`limit`. Keeps NaN.
    fn within(self, limit: f64) -> Self;
    /// Multiplies by 2^n, where n is in the lowest bits of `rounded`, by adding n to the exponent. Returns zero for NaN.
    fn times_power(self, rounded: Self) -> Self;
    /// Returns the mantissa of a positive, normal number, between 1 and 2, and its biased exponent.
    fn parts(self) -> (Self, Self);
    /// Returns whether the integer in the lowest bits is odd.
    fn is_odd(self) -> Self::Mask;
    /// Flips the sign if bit 1 of the integer in the lowest bits of `rounded`, plus `ahead`, is set.
    fn turned(self, rounded: Self, ahead: i64) -> Self;
}

/// The bits of a mantissa.
pub(crate) const MANTISSA: u64 = (1 << 52) - 1;

impl Lanes for f64 {
    type Mask = bool;
    #[inline(always)]
    fn of(number: f64) -> f64 {
        number
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn copysign(self, sign: f64) -> f64 {
        f64::copysign(self, sign)
    }
    #[inline(always)]
    fn less(self, than: f64) -> bool {
        self < than
    }
    #[inline(always)]
    fn at_most(self, most: f64) -> bool {
        self <= most
    }
    #[inline(always)]
    fn equals(self, other: f64) -> bool {
        self == other
    }
    #[inline(always)]
    fn pick(mask: bool, then: f64, otherwise: f64) -> f64 {
        if mask { then } else { otherwise }
    }
    #[inline(always)]
    fn within(self, limit: f64) -> f64 {
        let x = if self > limit { limit } else { self };
        if x < -limit { -limit } else { x }
    }
    #[inline(always)]
    fn times_power(self, rounded: f64) -> f64 {
        f64::from_bits(self.to_bits().wrapping_add(rounded.to_bits() << 52))
    }
    #[inline(always)]
    fn parts(self) -> (f64, f64) {
        let mantissa = f64::from_bits((self.to_bits() & MANTISSA) | 1.0f64.to_bits());
        // With the exponent in the lowest bits of a double, a subtraction converts it to a number.
        (mantissa, f64::from_bits((self.to_bits() >> 52) | ROUND.to_bits()) - ROUND)
    }
    #[inline(always)]
    fn is_odd(self) -> bool {
        self.to_bits() & 1 == 1
    }
    #[inline(always)]
    fn turned(self, rounded: f64, ahead: i64) -> f64 {
        f64::from_bits(self.to_bits() ^ ((rounded.to_bits().wrapping_add_signed(ahead) & 2) << 62))
    }
}
