//! The numbers that matrices are decomposed in: real and complex, in single and double precision, as LAPACK has them.

use crate::ops::matmul::Ring;
use crate::ops::number::{Real, Stored};
use num_complex::Complex;
use num_traits::{Float, One, Zero};
use std::ops::{Div, Neg, Sub};

/// A field of floating-point numbers.
pub trait Field:
    Ring + Stored<Compute = Self> + Zero + One + Sub<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The type of magnitudes.
    type Real: Field<Real = Self::Real> + Real;

    fn new(re: Self::Real, im: Self::Real) -> Self;
    fn re(self) -> Self::Real;
    fn im(self) -> Self::Real;

    fn of(re: Self::Real) -> Self {
        Self::new(re, Self::Real::zero())
    }

    fn conj(self) -> Self {
        Self::new(self.re(), -self.im())
    }

    fn scale(self, by: Self::Real) -> Self {
        Self::new(self.re() * by, self.im() * by)
    }

    fn magnitude(self) -> Self::Real {
        Float::hypot(self.re(), self.im())
    }

    /// The sum of the parts' magnitudes, which LAPACK chooses pivots by.
    fn size(self) -> Self::Real {
        Float::abs(self.re()) + Float::abs(self.im())
    }
}

macro_rules! fields {
    ($($t:ty)*) => {$(
        impl Field for $t {
            type Real = $t;
            fn new(re: $t, _: $t) -> $t {
                re
            }
            fn re(self) -> $t {
                self
            }
            fn im(self) -> $t {
                0.0
            }
            fn magnitude(self) -> $t {
                self.abs()
            }
        }

        impl Field for Complex<$t> {
            type Real = $t;
            fn new(re: $t, im: $t) -> Self {
                Complex::new(re, im)
            }
            fn re(self) -> $t {
                self.re
            }
            fn im(self) -> $t {
                self.im
            }
        }
    )*};
}
fields!(f32 f64);
