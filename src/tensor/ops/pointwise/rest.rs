//! The loop of functions that need the remainder of a quotient.

use crate::ops::number::Real;
use crate::ops::series;
use crate::parallel::{self, vectorised, vectorised_kernel};

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
    use crate::ops::number::Real;
    use crate::ops::pointwise::BinaryOp;
    use crate::ops::pointwise::binary::float_kernel;
    use crate::ops::pointwise::real::*;
    use crate::parallel;

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
