//! Vectors of real and complex numbers, with one lane for each line, so that one step of all lines is a few vector
//! instructions. Independent of tensors.

use super::long::Plans;
use num_complex::Complex;
use rustfft::FftNum;
use rustfft::num_traits::Float;
use std::array;
use std::ops::{Add, Mul, Neg, Sub};

/// A floating-point type that transforms are computed in.
pub(super) trait FftFloat: FftNum + Float + Default {
    fn number(value: f64) -> Self {
        Self::from_f64(value).unwrap_or_else(Self::zero)
    }

    /// The transforms that were used last.
    fn plans() -> &'static Plans<Self>;
}

macro_rules! fft_floats {
    ($($t:ty)*) => {$(
        impl FftFloat for $t {
            fn plans() -> &'static Plans<$t> {
                static PLANS: Plans<$t> = Plans::new(Vec::new());
                &PLANS
            }
        }
    )*};
}
fft_floats!(f32 f64);

/// One number of each of `L` lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<T, const L: usize>(pub [T; L]);

impl<T: FftFloat, const L: usize> Lanes<T, L> {
    pub(super) fn zero() -> Self {
        Lanes([T::zero(); L])
    }
}

impl<T: FftFloat, const L: usize> Add for Lanes<T, L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Lanes(array::from_fn(|l| self.0[l] + other.0[l]))
    }
}

impl<T: FftFloat, const L: usize> Sub for Lanes<T, L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Lanes(array::from_fn(|l| self.0[l] - other.0[l]))
    }
}

impl<T: FftFloat, const L: usize> Mul<T> for Lanes<T, L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: T) -> Self {
        Lanes(array::from_fn(|l| self.0[l] * factor))
    }
}

impl<T: FftFloat, const L: usize> Neg for Lanes<T, L> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Lanes(array::from_fn(|l| -self.0[l]))
    }
}

/// One complex number of each of `L` lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<T, const L: usize> {
    pub re: Lanes<T, L>,
    pub im: Lanes<T, L>,
}

impl<T: FftFloat, const L: usize> Point<T, L> {
    pub(super) fn zero() -> Self {
        Point { re: Lanes::zero(), im: Lanes::zero() }
    }

    #[inline(always)]
    pub(super) fn scale(self, factor: T) -> Self {
        Point { re: self.re * factor, im: self.im * factor }
    }
}

impl<T: FftFloat, const L: usize> Add for Point<T, L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Point { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<T: FftFloat, const L: usize> Sub for Point<T, L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Point { re: self.re - other.re, im: self.im - other.im }
    }
}

impl<T: FftFloat, const L: usize> Mul<Complex<T>> for Point<T, L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, by: Complex<T>) -> Self {
        Point { re: self.re * by.re - self.im * by.im, im: self.re * by.im + self.im * by.re }
    }
}
