//! The loops of functions that need a quotient, its remainder, or a product of many factors.

use super::binary::zip;
use super::real::integer_power;
use crate::element::whole;
use crate::ops::number::{Integer, Real};
use crate::parallel::{self, vectorised, vectorised_kernel};
use elementary::series;

/// Dividends below this have exact quotients in double precision: a rounded quotient does not reach the next integer.
const DIVIDEND: f64 = (1u64 << 51) as f64;

/// Computes functions of two integers and their quotient, which `round` makes whole. Divisors must not be zero. The
/// quotient is computed in double precision, because processors do not divide vectors of integers. `exact` computes the
/// function if a dividend has too many digits for that.
#[inline(always)]
pub(super) fn by_quotient<T: Integer>(
    a: &[T],
    b: &[T],
    out: &mut [T],
    exact: impl Fn(T, T) -> T,
    round: impl Fn(f64) -> f64,
    function: impl Fn(T, T, T) -> T,
) {
    let is_far = |a: T| a.as_f64().abs() >= DIVIDEND;
    if T::BITS == 64 && vectorised(|| a.iter().fold(false, |any, &a| any | is_far(a))) {
        return zip(a, b, out, exact);
    }
    zip(a, b, out, |a, b| function(a, b, T::wrapped(whole(round(a.as_f64() / b.as_f64())))));
}

/// Raises integers to powers. If the exponent is the same for all, groups of bases are multiplied together.
pub(super) fn integer_powers<T: Integer>(bases: &[T], exponents: &[T], out: &mut [T]) {
    const GROUP: usize = 64;
    let first = exponents.first().copied().unwrap_or_default();
    let exponent = first.to_u64().filter(|_| exponents.iter().fold(true, |all, &exponent| all & (exponent == first)));
    let Some(exponent) = exponent else { return zip(bases, exponents, out, integer_power) };
    vectorised(move || {
        for (out, bases) in out.chunks_mut(GROUP).zip(bases.chunks(GROUP)) {
            let mut squares = [T::one(); GROUP];
            squares[..bases.len()].copy_from_slice(bases);
            let mut powers = [T::one(); GROUP];
            let mut exponent = exponent;
            while exponent > 0 {
                if exponent & 1 == 1 {
                    powers.iter_mut().zip(&squares).for_each(|(power, square)| *power = power.wrapping_mul(square));
                }
                squares.iter_mut().for_each(|square| *square = square.wrapping_mul(square));
                exponent >>= 1;
            }
            out.copy_from_slice(&powers[..out.len()]);
        }
    });
}

/// Computes functions of two numbers and the remainder of their quotient.
struct RestLoop<'a, T, F> {
    a: &'a [T],
    b: &'a [T],
    out: &'a mut [T],
    function: F,
}

impl<T: Real, F: Fn(T, T, T) -> T> parallel::Kernel for RestLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        for ((out, &a), &b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            *out = (self.function)(a, b, T::from_f64(series::rest(a.as_f64(), b.as_f64())));
        }
    }
}

/// `exact` computes the remainder if the quotient has too many digits for [`series::rest`].
#[inline(always)]
pub(super) fn by_rest<T: Real>(
    a: &[T],
    b: &[T],
    out: &mut [T],
    exact: impl Fn(T, T) -> T,
    function: impl Fn(T, T, T) -> T + Copy,
) {
    vectorised_kernel(RestLoop { a, b, out: &mut *out, function });
    let is_far = |a: T, b: T| {
        let small = (a.as_f64() / b.as_f64()).abs() <= series::QUOTIENT;
        !small | !b.is_finite()
    };
    let pairs = || a.iter().zip(b);
    if vectorised(|| pairs().fold(false, |any, (&a, &b)| any | is_far(a, b))) {
        let outliers = out.iter_mut().zip(pairs()).filter(|&(_, (&a, &b))| is_far(a, b));
        outliers.for_each(|(out, (&a, &b))| *out = function(a, b, exact(a, b)));
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::number::{Integer, Real};
    use crate::ops::pointwise::BinaryOp;
    use crate::ops::pointwise::binary::{float_kernel, int_kernel};
    use crate::ops::pointwise::real::*;
    use crate::parallel;

    /// Quotients and remainders of integers are those of the language, also near the limits of the type.
    #[test]
    fn quotients_are_those_of_single_numbers() {
        fn check<T: Integer>() {
            let limits = [T::min_value(), T::max_value(), T::zero(), T::wrapped(1 << 51), T::wrapped(-(1 << 51))];
            let odd = [1, -1, 2, -2, 3, 7, -7, 10, 97, 100_003, 1 << 20, 4_503_599_627_370_497];
            let near = |value: T| [-2, -1, 0, 1, 2].map(|by| value.wrapping_add(&T::wrapped(by)));
            let all: Vec<T> = limits.into_iter().chain(odd.map(T::wrapped)).flat_map(near).collect();
            // All pairs, and those whose dividends double precision holds.
            let pairs = all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b))).filter(|(_, b)| *b != T::zero());
            let small = pairs.clone().filter(|(a, _)| a.as_f64().abs() < 1e15);
            type Simple<T> = fn(T, T) -> T;
            let rows: [(BinaryOp, Simple<T>); 4] = [
                (BinaryOp::FloorDivide, floor_quotient),
                (BinaryOp::TruncDivide, T::quotient),
                (BinaryOp::Remainder, modulo),
                (BinaryOp::Fmod, T::rest),
            ];
            for (a, b) in [pairs.unzip(), small.unzip()] as [(Vec<T>, Vec<T>); 2] {
                for (op, simple) in rows {
                    let Some(kernel) = int_kernel::<T>(op) else { panic!("{op:?}") };
                    let mut out = vec![T::zero(); a.len()];
                    kernel(&a, &b, &mut out);
                    for ((&a, &b), &got) in a.iter().zip(&b).zip(&out) {
                        assert_eq!(got, simple(a, b), "{op:?} of {a:?} and {b:?}");
                    }
                }
            }
        }
        for width in [128, 256, 512] {
            parallel::set_width(width);
            check::<u8>();
            check::<i8>();
            check::<i16>();
            check::<i32>();
            check::<i64>();
        }
        parallel::set_width(0);
    }

    /// Remainders from quotients are those of the language, whatever the quotient.
    #[test]
    fn remainders_are_those_of_single_numbers() {
        fn check<T: Real>() {
            let odd =
                [0.0, -0.0, 1.0, -3.5, 1e-40, 1e30, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 7.0, 0.1, 65536.0];
            for length in [0, 1, 7, 64, 144, 145] {
                let number = |i: usize| T::from_f64(odd[i % 12] * if i.is_multiple_of(5) { 1.7 } else { 1.0 });
                let a: Vec<T> = (0..length).map(number).collect();
                let b: Vec<T> = (0..length).map(|i| number(i / 12 + i)).collect();
                let mut out = vec![T::zero(); length];
                type Simple<T> = fn(T, T) -> T;
                let rows: [(BinaryOp, Simple<T>); 3] = [
                    (BinaryOp::Fmod, vector_rest),
                    (BinaryOp::Remainder, |a, b| modulo_float(b, vector_rest(a, b))),
                    (BinaryOp::FloorDivide, |a, b| floor_quotient_of_rest(a, b, a % b)),
                ];
                for (op, simple) in rows {
                    let Some(kernel) = float_kernel::<T>(op) else { panic!("{op:?}") };
                    kernel(&a, &b, &mut out);
                    for ((&a, &b), &got) in a.iter().zip(&b).zip(&out) {
                        let (got, wanted) = (got.as_f64(), simple(a, b).as_f64());
                        let same = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
                        assert!(same, "{op:?} of {a:?} and {b:?}: {got:?} is not {wanted:?}");
                    }
                }
            }
        }
        for width in [128, 256, 512] {
            parallel::set_width(width);
            check::<f32>();
            check::<f64>();
        }
        parallel::set_width(0);
    }
}
