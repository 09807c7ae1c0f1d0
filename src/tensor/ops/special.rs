//! Special functions of real numbers, by the approximations that PyTorch uses. Defines the functions in the tables of
//! `pointwise`; independent of tensors. Formulas are those of Abramowitz and Stegun, Handbook of Mathematical Functions
//! (cited as A&S), unless stated otherwise; outside the domain, results are PyTorch's. Follows
//! <https://pytorch.org/docs/2.7/special.html>.

use super::number::Real;
use crate::interrupt;

mod bessel;
mod coefficients;
mod erfcx;
mod error;
mod gamma;
mod incomplete;
mod incomplete_coefficients;
mod polynomials;

pub(crate) use bessel::{
    airy_ai, i0, i0e, i1, i1e, j0, j1, modified_i1, modified_k0, modified_k1, scaled_k0, scaled_k1, spherical_j0, y0,
    y1,
};
pub use error::{acosh, asinh, atanh, erf, erfc};
pub(crate) use error::{erfcx, erfinv, log_ndtr, ndtri};
pub(crate) use gamma::{digamma, lgamma};
pub use gamma::{polygamma, trigamma, zeta};
pub(crate) use incomplete::{lower_gamma, upper_gamma};
pub use polynomials::Chebyshev;
pub(crate) use polynomials::{hermite_h, hermite_he, laguerre, legendre};

/// The number of steps of a sum or a recurrence that run without checking for an interrupt.
const FEW: usize = 1 << 12;

/// Returns whether to skip a computation of this many steps, because its result will be discarded.
fn stopped(steps: usize) -> bool {
    steps > FEW && interrupt::requested()
}

/// Evaluates a polynomial, highest coefficient first, with fused multiply-adds.
#[inline(always)]
fn polynomial<T: Real>(x: T, coefficients: &[f64]) -> T {
    coefficients.iter().fold(T::zero(), |sum, &coefficient| sum.fused(x, T::from_f64(coefficient)))
}

/// `-x ln x`, and its limit 0 at 0. Here and below, `round` is applied to every intermediate result.
#[inline(always)]
pub(crate) fn entr<T: Real>(x: T, round: impl Fn(T) -> T) -> T {
    if x.is_nan() {
        x
    } else if x > T::zero() {
        -x * round(x.ln())
    } else if x == T::zero() {
        T::zero()
    } else {
        T::neg_infinity()
    }
}

/// `sin(πx) / (πx)`. The angle is rounded to the type, which matters where the sine is small.
pub(crate) fn sinc<T: Real>(x: T) -> T {
    let angle = T::from_f64(std::f64::consts::PI) * x;
    if x == T::zero() { T::one() } else { angle.sin() / angle }
}

/// Computes the odds of `x`, whose logarithm is the logit. With `eps`, `x` is clamped to `[eps, 1 - eps]` first.
#[inline(always)]
pub fn odds<T: Real>(x: T, eps: Option<T>, round: impl Fn(T) -> T) -> T {
    let x = match eps {
        Some(eps) if x < eps => eps,
        Some(eps) if x > round(T::one() - eps) => round(T::one() - eps),
        _ => x,
    };
    round(x / round(T::one() - x))
}

/// `x ln(1 + y)`, or 0 if `x` is 0.
#[inline(always)]
pub(crate) fn x_log1p_y<T: Real>(x: T, y: T, round: impl Fn(T) -> T) -> T {
    if y.is_nan() {
        y
    } else if x == T::zero() {
        T::zero()
    } else {
        x * round(y.ln_1p())
    }
}

/// Splits `x` into a mantissa in [0.5, 1) and an exponent of two.
pub fn frexp(x: f64) -> (f64, i32) {
    libm::frexp(x)
}

/// Multiplies `x` by a power of two.
pub fn ldexp(x: f64, power: i32) -> f64 {
    libm::ldexp(x, power)
}

/// Subtracts the nearest multiple of `y` from `x`.
pub fn remainder(x: f64, y: f64) -> f64 {
    libm::remainder(x, y)
}

/// Returns the next number after `a` in the direction of `b`; `step` returns a number's neighbours in its type.
pub fn next_after<T: Real>(a: T, b: T, step: impl Fn(T, bool) -> T) -> T {
    if a.is_nan() || b.is_nan() {
        return a + b;
    }
    if a == b { b } else { step(a, b > a) }
}

#[cfg(test)]
mod tests;
