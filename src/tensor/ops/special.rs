//! Special functions of real numbers, by the approximations that PyTorch uses. This file defines what the
//! tables of `pointwise` name and knows no tensors. Formulas are those of Abramowitz and Stegun, Handbook of
//! Mathematical Functions (its numbers are cited as A&S), unless said otherwise; outside of a domain, results are
//! PyTorch's. Follows <https://pytorch.org/docs/2.7/special.html>.

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
pub use error::erf;
pub(crate) use error::{erfc, erfcx, erfinv, log_ndtr, ndtri};
pub(crate) use gamma::{digamma, lgamma};
pub use gamma::{polygamma, trigamma, zeta};
pub(crate) use incomplete::{lower_gamma, upper_gamma};
pub use polynomials::Chebyshev;
pub(crate) use polynomials::{hermite_h, hermite_he, laguerre, legendre};

/// Steps of a sum or a recurrence that need no look at the interrupt.
const FEW: usize = 1 << 12;

/// Returns whether to stop before this many steps, as their result will not be seen.
fn stopped(steps: usize) -> bool {
    steps > FEW && interrupt::requested()
}

/// A polynomial, the highest coefficient first, each step with one rounding.
#[inline(always)]
fn polynomial<T: Real>(x: T, coefficients: &[f64]) -> T {
    coefficients.iter().fold(T::zero(), |sum, &coefficient| sum.fused(x, T::from_f64(coefficient)))
}

/// `-x ln x`, whose limit at 0 is 0. `round` is applied to every intermediate result, here and below.
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

/// `sin(πx) / (πx)`. The angle is rounded to the type, which shows where the sine is small.
pub(crate) fn sinc<T: Real>(x: T) -> T {
    let angle = T::from_f64(std::f64::consts::PI) * x;
    if x == T::zero() { T::one() } else { angle.sin() / angle }
}

/// The odds, whose logarithm is logit. With `eps`, `x` is brought into `[eps, 1 - eps]` first.
#[inline(always)]
pub fn odds<T: Real>(x: T, eps: Option<T>, round: impl Fn(T) -> T) -> T {
    let x = match eps {
        Some(eps) if x < eps => eps,
        Some(eps) if x > round(T::one() - eps) => round(T::one() - eps),
        _ => x,
    };
    round(x / round(T::one() - x))
}

/// `x ln(1 + y)`, 0 where `x` is.
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

/// A mantissa of [0.5, 1) and the exponent of two.
pub fn frexp(x: f64) -> (f64, i32) {
    libm::frexp(x)
}

/// `x` times a power of two.
pub fn ldexp(x: f64, power: i32) -> f64 {
    libm::ldexp(x, power)
}

/// `x` less the multiple of `y` that is nearest to it.
pub fn remainder(x: f64, y: f64) -> f64 {
    libm::remainder(x, y)
}

/// The next number of the type after `a` in the direction of `b`, given the type's neighbours.
pub fn next_after<T: Real>(a: T, b: T, step: impl Fn(T, bool) -> T) -> T {
    if a.is_nan() || b.is_nan() {
        return a + b;
    }
    if a == b { b } else { step(a, b > a) }
}

#[cfg(test)]
mod tests;
