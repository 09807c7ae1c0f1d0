//! The error function, its complement, their inverses and the normal distribution. A&S chapters 7 and 26.

use super::coefficients::*;
use super::erfcx::PIECES;
use super::polynomial;
use crate::ops::number::{Real, is_single};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// √(2 π).
const SQRT_2_PI: f64 = 2.5066282746310007;
/// 1 / √π.
pub(super) const ONE_OVER_SQRT_PI: f64 = 0.5641895835477563;

pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

pub fn asinh(x: f64) -> f64 {
    libm::asinh(x)
}

pub fn acosh(x: f64) -> f64 {
    libm::acosh(x)
}

pub fn atanh(x: f64) -> f64 {
    libm::atanh(x)
}

/// `exp(x²) erfc(x)`.
#[inline(always)]
pub(crate) fn erfcx<T: Real>(x: T) -> T {
    let number = |value: f64| T::from_f64(value);
    let exponential = |x: T| number(2.0) * (x * x).exp();
    match x.as_f64() {
        size if size.is_nan() => x,
        size if size > 5e7 => number(ONE_OVER_SQRT_PI) / x,
        size if size > 50.0 => {
            // Five terms of the continued fraction, in double precision.
            let square = (x * x).as_f64();
            let above = square.mul_add(square + 4.5, 2.0);
            let scale = number(ONE_OVER_SQRT_PI).as_f64();
            number(scale * above / (x.as_f64() * square.mul_add(square + 5.0, 3.75)))
        }
        size if size >= 0.0 => scaled_complement(number(400.0) / (number(4.0) + x)),
        size if size < -26.7 => T::infinity(),
        size if size < -6.1 => exponential(x),
        _ => exponential(x) - scaled_complement(number(400.0) / (number(4.0) - x)),
    }
}

/// Evaluates the piece of [`PIECES`] that contains `hundredfold`, which is 100 times `4 / (4 + x)`; in double precision
/// for any type.
#[inline(always)]
fn scaled_complement<T: Real>(hundredfold: T) -> T {
    // Only x = 0 has no piece.
    let Some(piece) = PIECES.get(hundredfold.as_f64() as usize) else { return T::one() };
    let twice = hundredfold + hundredfold;
    let middle = (hundredfold.as_f64() as i32) * 2 + 1;
    let t = (twice - T::from_f64(f64::from(middle))).as_f64();
    T::from_f64(piece.iter().rev().fold(0.0, |sum: f64, coefficient| sum.mul_add(t, *coefficient)))
}

/// The inverse of [`erf`].
pub(crate) fn erfinv(y: f64) -> f64 {
    let size = y.abs();
    if y == 0.0 {
        return y;
    }
    if size.is_nan() || size > 1.0 {
        return f64::NAN;
    }
    if size == 1.0 {
        return f64::INFINITY.copysign(y);
    }
    // S. Winitzki's closed form is accurate to three digits; each of Halley's steps triples them.
    const A: f64 = 0.147;
    let log = (-size).ln_1p() + size.ln_1p();
    let middle = 2.0 / (PI * A) + log / 2.0;
    let mut x = ((middle * middle - log / A).sqrt() - middle).sqrt();
    for _ in 0..3 {
        let excess = if size < 0.5 { erf(x) - size } else { (1.0 - size) - erfc(x) };
        let newton = excess * PI.sqrt() / 2.0 * (x * x).exp();
        x -= newton / (1.0 + x * newton);
    }
    x.copysign(y)
}

/// [`erfc`] as computed by the C library for the type.
fn complement<T: Real>(x: T) -> T {
    if is_single::<T>() { T::from_f64(f64::from(libm::erfcf(x.as_f64() as f32))) } else { x.via_f64(erfc) }
}

/// The quantile function of the normal distribution.
#[inline(always)]
pub(crate) fn ndtri<T: Real>(p: T) -> T {
    const EXP_MINUS_2: f64 = 0.1353352832366127;
    let number = |value: f64| T::from_f64(value);
    if p == T::zero() || p == T::one() {
        return if p == T::zero() { T::neg_infinity() } else { T::infinity() };
    }
    if p < T::zero() || p > T::one() {
        return T::nan();
    }
    let above = p > T::one() - number(EXP_MINUS_2);
    let tail = if above { T::one() - p } else { p };
    if tail > number(EXP_MINUS_2) {
        let offset = tail - number(0.5);
        let square = offset * offset;
        let ratio = square * polynomial(square, &QUANTILE_0) / polynomial(square, &QUANTILE_0_BELOW);
        return offset.fused(ratio, offset) * number(SQRT_2_PI);
    }
    // The logarithms are computed in double precision.
    let x = number((-2.0 * tail.as_f64().ln()).sqrt());
    let z = T::one() / x;
    let (numerator, denominator): (&[f64], &[f64]) =
        if x < number(8.0) { (&QUANTILE_1, &QUANTILE_1_BELOW) } else { (&QUANTILE_2, &QUANTILE_2_BELOW) };
    let value =
        number(x.as_f64() - x.as_f64().ln() / x.as_f64()) - z * polynomial(z, numerator) / polynomial(z, denominator);
    if above { value } else { -value }
}

/// The logarithm of the normal distribution function.
#[inline(always)]
pub(crate) fn log_ndtr<T: Real>(x: T) -> T {
    let (two, t) = (T::from_f64(2.0), x * T::from_f64(FRAC_1_SQRT_2));
    if x < -T::one() { (-t).fused(t, (erfcx(-t) / two).ln()) } else { (-complement(t) / two).ln_1p() }
}
