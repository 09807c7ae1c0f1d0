//! Numbers of twice the precision of a double.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number of some hundred bits: the sum of two doubles, of which the second is at most half a unit in the last place of the
/// first. Numbers beyond 2^990 overflow.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) high: f64,
    low: f64,
}

impl Pair {
    pub(super) const fn new(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    pub(super) const fn whole(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }

    /// Returns the nearest double.
    pub(super) fn rounded(self) -> f64 {
        self.high + self.low
    }

    /// The same number with halves that do not overlap, given that the first is the larger one.
    pub(super) fn normal(self) -> Self {
        let high = self.high + self.low;
        Self { high, low: self.low - (high - self.high) }
    }

    pub(super) fn scaled(self, by: f64) -> Self {
        let product = exact_product(self.high, by);
        Self { high: product.high, low: product.low + self.low * by }.normal()
    }
}

/// Returns a + b without an error.
fn exact_sum(a: f64, b: f64) -> Pair {
    let high = a + b;
    let of_b = high - a;
    Pair { high, low: (a - (high - of_b)) + (b - of_b) }
}

/// Returns a · b without an error, from halves of 26 bits: T. Dekker (1971). A fused multiply-add would do it in one
/// instruction, but WebAssembly lacks one, and emulating it is slow.
fn exact_product(a: f64, b: f64) -> Pair {
    let halves = |x: f64| {
        let far = x * 134_217_729.0;
        let high = far - (far - x);
        (high, x - high)
    };
    let high = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    Pair { high, low: ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low }
}

impl Add for Pair {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (highs, lows) = (exact_sum(self.high, other.high), exact_sum(self.low, other.low));
        let sum = Self { high: highs.high, low: highs.low + lows.high }.normal();
        Self { high: sum.high, low: sum.low + lows.low }.normal()
    }
}

impl Neg for Pair {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Pair {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Pair {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = exact_product(self.high, other.high);
        let low = product.low + (self.high * other.low + self.low * other.high);
        Self { high: product.high, low }.normal()
    }
}

impl Div for Pair {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::whole(first);
        Self { high: first, low: rest.high / other.high }.normal()
    }
}
