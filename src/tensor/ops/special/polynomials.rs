//! Orthogonal polynomials by their recurrences, computed in the type of the argument with fused multiply-adds, as in
//! PyTorch. A&S chapter 22. The degree is a real number whose fraction is dropped; polynomials of negative degree are
//! 0.

use super::{FEW, stopped};
use crate::interrupt::{STRIDE, pieces};
use crate::ops::number::{Real, is_single};

/// Returns the degree as an integer. NaN and values out of range give the smallest integer, as in the processor's
/// conversion.
#[inline(always)]
fn degree<T: Real>(n: T) -> i64 {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    let n = n.as_f64();
    if (-BEYOND..BEYOND).contains(&n) { n as i64 } else { i64::MIN }
}

#[inline(always)]
fn real<T: Real>(n: i64) -> T {
    // Converted directly: conversion through `f64` would round twice.
    T::from(n).unwrap_or_else(T::nan)
}

/// `p(k + 1) = next(k, p(k), p(k - 1))`, from degrees 0 and 1. Stops early at NaN, which stays NaN.
#[inline(always)]
fn recur<T: Real>(n: i64, first: T, second: T, next: impl Fn(i64, T, T) -> T) -> T {
    let count = match usize::try_from(n) {
        Err(_) => return T::zero(),
        Ok(0) => return first,
        Ok(count) => count,
    };
    if stopped(count) {
        return T::nan();
    }
    let (mut before, mut current) = (first, second);
    if count <= FEW {
        for k in 1..count {
            (before, current) = (current, next(k as i64, current, before));
        }
        return current;
    }
    for piece in pieces(1..count, STRIDE / 4096) {
        let Ok(piece) = piece else { return T::nan() };
        for k in piece {
            (before, current) = (current, next(k as i64, current, before));
        }
        if current.is_nan() {
            break;
        }
    }
    current
}

/// The four kinds of Chebyshev polynomials.
#[derive(Clone, Copy, Debug)]
pub enum Chebyshev {
    T,
    U,
    V,
    W,
}

impl Chebyshev {
    /// Evaluates the polynomial of degree `n`.
    #[inline(always)]
    pub fn at<T: Real>(self, x: T, n: T) -> T {
        let most = if let Chebyshev::T = self { 6 } else { 8 };
        self.beyond(most, x, degree(n))
    }

    /// Evaluates the shifted polynomial, which is defined on [0, 1].
    #[inline(always)]
    pub fn shifted<T: Real>(self, x: T, n: T) -> T {
        let most = if let Chebyshev::W = self { 4 } else { 6 };
        self.beyond(most, x + x - T::one(), degree(n))
    }

    /// Evaluates degrees above `most` by angles inside [-1, 1].
    #[inline(always)]
    fn beyond<T: Real>(self, most: i64, x: T, n: i64) -> T {
        if n < 0 {
            return T::zero();
        }
        if x.abs() == T::one() {
            return real(self.at_end(x > T::zero(), n));
        }
        if n > most && x.abs() < T::one() {
            return self.by_angle(x, n);
        }
        let twice = x + x;
        let second = match self {
            Chebyshev::T => x,
            Chebyshev::U => twice,
            Chebyshev::V => twice - T::one(),
            Chebyshev::W => twice + T::one(),
        };
        recur(n, T::one(), second, |_, current, before| twice.fused(current, -before))
    }

    /// Returns the value at 1 or -1: constant, or growing linearly with the degree, with alternating signs.
    fn at_end(self, positive: bool, n: i64) -> i64 {
        let size = match (self, positive) {
            (Chebyshev::T, _) | (Chebyshev::V, true) | (Chebyshev::W, false) => 1,
            (Chebyshev::U, _) => n.wrapping_add(1),
            (Chebyshev::V, false) | (Chebyshev::W, true) => n.wrapping_add(n).wrapping_add(1),
        };
        if positive || n % 2 == 0 { size } else { size.wrapping_neg() }
    }

    fn by_angle<T: Real>(self, x: T, n: i64) -> T {
        let (angle, half) = (x.acos(), T::from_f64(0.5));
        let (sin, cos) = (T::sin, T::cos);
        match self {
            Chebyshev::T => cos(real::<T>(n) * angle),
            Chebyshev::U => sin(real::<T>(n.wrapping_add(1)) * angle) / sin(angle),
            // So close to an end that the cosine or sine of the half angle is zero.
            Chebyshev::V if sin(angle * half) == T::one() => real(self.at_end(false, n)),
            Chebyshev::W if cos(angle * half) == T::one() => real(self.at_end(true, n)),
            Chebyshev::V => cos((real::<T>(n) + half) * angle) / cos(angle * half),
            Chebyshev::W => sin((real::<T>(n) + half) * angle) / sin(angle * half),
        }
    }
}

/// Beyond this degree PyTorch does not compute Hermite polynomials.
fn too_high<T: Real>(n: i64) -> bool {
    n > if is_single::<T>() { 128 } else { 512 }
}

#[inline(always)]
pub(crate) fn hermite_h<T: Real>(x: T, n: T) -> T {
    let (n, twice) = (degree(n), x + x);
    if too_high::<T>(n) {
        return T::nan();
    }
    recur(n, T::one(), twice, |k, current, before| twice.fused(current, -(real::<T>(2 * k) * before)))
}

#[inline(always)]
pub(crate) fn hermite_he<T: Real>(x: T, n: T) -> T {
    let n = degree(n);
    if too_high::<T>(n) {
        return T::nan();
    }
    recur(n, T::one(), x, |k, current, before| x.fused(current, -(real::<T>(k) * before)))
}

#[inline(always)]
pub(crate) fn laguerre<T: Real>(x: T, n: T) -> T {
    let (n, second) = (degree(n), T::one() - x);
    if x == T::zero() && n >= 0 {
        return T::one();
    }
    recur(n, T::one(), second, |k, current, before| {
        (real::<T>(2 * k) + second).fused(current, -(real::<T>(k) * before)) / real(k + 1)
    })
}

#[inline(always)]
pub(crate) fn legendre<T: Real>(x: T, n: T) -> T {
    let n = degree(n);
    if x.abs() == T::one() && n >= 0 {
        return if x > T::zero() || n % 2 == 0 { T::one() } else { -T::one() };
    }
    recur(n, T::one(), x, |k, current, before| {
        (real::<T>(2 * k + 1) * x).fused(current, -(real::<T>(k) * before)) / real(k + 1)
    })
}
