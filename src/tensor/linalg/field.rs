//! The number types of decompositions: real and complex, in single and double precision, as in LAPACK.

use crate::ops::matmul::Ring;
use crate::ops::number::{Real, Stored};
use crate::parallel::{Matrix, add_product_within};
use crate::{Result, limits};
use num_complex::Complex;
use num_traits::{Float, One, Zero};
use std::ops::{Div, Neg, Sub};

/// A field of floating-point numbers.
pub(super) trait Field:
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

    /// `1 / self`, each part rounded once.
    fn inverse(self) -> Self;

    /// `into += alpha · a @ b` for column-major matrices: `a` of n × m and `b` of m × p elements, and `into` with columns
    /// that are `stride` elements apart.
    ///
    /// # Errors
    /// RuntimeError if a matrix is smaller than the sizes require, which is a bug of the caller; KeyboardInterrupt.
    fn add_product(
        into: &mut [Self],
        stride: usize,
        sizes: [usize; 3],
        alpha: Self,
        operands: [&[Self]; 2],
    ) -> Result<()>;

    /// Returns the sum of the parts' magnitudes, by which LAPACK chooses pivots.
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
            fn inverse(self) -> $t {
                1.0 / self
            }
            // The transposes of the matrices are row-major.
            fn add_product(
                into: &mut [$t],
                stride: usize,
                [n, m, p]: [usize; 3],
                alpha: $t,
                [a, b]: [&[$t]; 2],
            ) -> Result<()> {
                let [a, b] = [(a, n), (b, m)].map(|(values, rows)| Matrix { values, strides: [rows, 1] });
                add_product_within(into, stride, [p, m, n], alpha, b, a)
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
            fn inverse(self) -> Self {
                let [re, im] = inverse_parts(self.re.into(), self.im.into());
                Complex::new(re as $t, im as $t)
            }
            fn add_product(
                into: &mut [Self],
                stride: usize,
                sizes @ [n, _, p]: [usize; 3],
                alpha: Self,
                operands: [&[Self]; 2],
            ) -> Result<()> {
                let parts = |values: &[Self], part: fn(&Self) -> $t| -> Result<Vec<$t>> {
                    let mut parts = limits::vector(values.len())?;
                    parts.extend(values.iter().map(part));
                    Ok(parts)
                };
                let [a, b] = operands;
                let [a_re, b_re] = [parts(a, |z| z.re)?, parts(b, |z| z.re)?];
                let [a_im, b_im] = [parts(a, |z| z.im)?, parts(b, |z| z.im)?];
                let [mut re, mut im] = [limits::filled(0.0, n * p)?, limits::filled(0.0, n * p)?];
                <$t>::add_product(&mut re, n, sizes, 1.0, [&a_re, &b_re])?;
                <$t>::add_product(&mut re, n, sizes, -1.0, [&a_im, &b_im])?;
                <$t>::add_product(&mut im, n, sizes, 1.0, [&a_re, &b_im])?;
                <$t>::add_product(&mut im, n, sizes, 1.0, [&a_im, &b_re])?;
                let n = n.max(1);
                for ((column, re), im) in into.chunks_mut(stride.max(1)).zip(re.chunks(n)).zip(im.chunks(n)) {
                    for ((z, &re), &im) in column.iter_mut().zip(re).zip(im) {
                        *z += alpha * Complex::new(re, im);
                    }
                }
                Ok(())
            }
        }
    )*};
}
fields!(f32 f64);

/// Returns the parts of the inverse of a complex number. The squared magnitude is kept in two numbers, so that each
/// part is rounded only once; the library uses a wider type instead.
fn inverse_parts(re: f64, im: f64) -> [f64; 2] {
    let largest = re.abs().max(im.abs());
    if largest == 0.0 || !largest.is_finite() {
        let inverse = Complex::new(1.0, 0.0) / Complex::new(re, im);
        return [inverse.re, inverse.im];
    }
    // Scaled by a power of two, so that squares stay in range.
    let exponent = libm::frexp(largest).1;
    let [x, y] = [re, im].map(|part| libm::scalbn(part, -exponent));
    let (a, b) = (x * x, y * y);
    let high = a + b;
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    let low = (large - high + small) + x.mul_add(x, -a) + y.mul_add(y, -b);
    [x, -y].map(|part| {
        if part == 0.0 {
            return part;
        }
        let quotient = part / high;
        let rest = (-quotient).mul_add(high, part) - quotient * low;
        libm::scalbn(quotient + rest / high, -exponent)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_are_rounded_once_and_keep_to_the_range() {
        assert_eq!(inverse_parts(3.0, 4.0), [0.12, -0.16]);
        assert_eq!(inverse_parts(0.0, 2.0), [0.0, -0.5]);
        assert_eq!(inverse_parts(1e300, 0.0), [1.0 / 1e300, -0.0]);
        assert_eq!(inverse_parts(0.0, -1e-300), [0.0, 1.0 / 1e-300]);
        assert!(inverse_parts(0.0, 0.0).iter().all(|part| part.is_nan()));
    }
}
