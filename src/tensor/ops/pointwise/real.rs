//! The functions of integers and real numbers that the tables use. Independent of tensors.

use crate::Scalar;
use crate::ops::number::{Integer, Real, is_single};
use crate::ops::special;
use elementary::series::{self, Fused, Plain, to_single};

pub(crate) fn floor_quotient<T: Integer>(a: T, b: T) -> T {
    let quotient = a.quotient(b);
    let inexact = a.rest(b) != T::zero();
    if inexact && (a < T::zero()) != (b < T::zero()) { quotient.wrapping_sub(&T::one()) } else { quotient }
}

pub(super) fn floor_quotient_of_rest<T: Real>(a: T, b: T, rest: T) -> T {
    floor_quotient_rounded(a, b, rest, |v| v)
}

/// Python's `//` of floats: the floor of the quotient, as exactly as possible, from the remainder. `round` is applied to
/// every intermediate result.
#[inline(always)]
pub(crate) fn floor_quotient_rounded<T: Real>(a: T, b: T, rest: T, round: impl Fn(T) -> T) -> T {
    let zero = T::zero();
    if b == zero {
        return a / b;
    }
    let mut quotient = round(round(a - rest) / b);
    if rest != zero && (b < zero) != (rest < zero) {
        quotient = round(quotient - T::one());
    }
    if quotient == zero {
        return zero.copysign(a / b);
    }
    let floor = round(quotient.floor());
    if round(quotient - floor) > T::from_f64(0.5) { floor + T::one() } else { floor }
}

pub(super) fn modulo<T: Integer>(a: T, b: T) -> T {
    let rest = a.rest(b);
    if rest != T::zero() && (rest < T::zero()) != (b < T::zero()) { rest.wrapping_add(&b) } else { rest }
}

/// Computes the remainder like PyTorch's vectors: NaN if the quotient overflows.
pub(crate) fn vector_rest<T: Real>(a: T, b: T) -> T {
    let overflows = (a / b).is_infinite() && a.is_finite() && b != T::zero();
    if overflows { T::nan() } else { a % b }
}

/// Computes Python's `%` from the remainder with the dividend's sign.
pub(crate) fn modulo_float<T: Real>(b: T, rest: T) -> T {
    let zero = T::zero();
    if rest != zero && (b < zero) != (rest < zero) { rest + b } else { rest }
}

/// Computes the remainder from a rounded quotient.
#[inline(always)]
pub(super) fn rest_of_quotient<T: Integer>(a: T, b: T, quotient: T) -> T {
    a.wrapping_sub(&quotient.wrapping_mul(&b))
}

/// With a negative exponent, only the bases 1 and -1 give a nonzero result.
pub(crate) fn integer_power<T: Integer>(base: T, exponent: T) -> T {
    match exponent.to_u64() {
        Some(exponent) => base.power(exponent),
        None if base == T::one() => T::one(),
        None if T::SIGNED && base == T::zero().wrapping_sub(&T::one()) => {
            if (exponent & T::one()) == T::zero() {
                T::one()
            } else {
                base
            }
        }
        None => T::zero(),
    }
}

pub(super) fn shift_left<T: Integer>(a: T, b: T) -> T {
    match b.to_u32() {
        Some(by) if by < T::BITS => a << by as usize,
        _ => T::zero(),
    }
}

pub(super) fn shift_right<T: Integer>(a: T, b: T) -> T {
    match b.to_u32() {
        Some(by) if by < T::BITS => a >> by as usize,
        // All bits are shifted out except the sign.
        _ if a < T::zero() => T::zero().wrapping_sub(&T::one()),
        _ => T::zero(),
    }
}

pub(super) fn gcd<T: Integer>(a: T, b: T) -> T {
    let magnitude = |v: T| if v < T::zero() { v.wrapping_negate() } else { v };
    let (mut a, mut b) = (magnitude(a), magnitude(b));
    while a != T::zero() {
        (a, b) = (b.rest(a), a);
    }
    b
}

pub(super) fn lcm<T: Integer>(a: T, b: T) -> T {
    let divisor = gcd(a, b);
    if divisor == T::zero() {
        return divisor;
    }
    // PyTorch multiplies narrow types as 32-bit integers: the result is made positive before it is narrowed.
    match (T::BITS < 32, a.to_i64(), b.to_i64(), divisor.to_i64()) {
        (true, Some(a), Some(b), Some(divisor)) if divisor != 0 => T::from_scalar(Scalar::Int((a / divisor * b).abs())),
        _ => {
            let multiple = a.quotient(divisor).wrapping_mul(&b);
            if multiple < T::zero() { multiple.wrapping_negate() } else { multiple }
        }
    }
}

#[inline(always)]
pub(crate) fn log_add_exp<T: Real>(a: T, b: T) -> T {
    let largest = if a.is_nan() | (a > b) { a } else { b };
    let sum = largest + ln_1p(exp(-(a - b).abs()));
    if a.is_infinite() & (a == b) { a } else { sum }
}

#[inline(always)]
pub(crate) fn log_add_exp2<T: Real>(a: T, b: T) -> T {
    let largest = if a.is_nan() | (a > b) { a } else { b };
    let sum = ln_1p(exp2(-(a - b).abs())).fused(T::from_f64(std::f64::consts::LOG2_E), largest);
    if a.is_infinite() & (a == b) { a } else { sum }
}

/// `x ln y`, or 0 if `x` is 0. `round` is applied to the logarithm.
#[inline(always)]
pub(crate) fn x_log_y<T: Real>(x: T, y: T, round: impl Fn(T) -> T) -> T {
    if y.is_nan() {
        y
    } else if x == T::zero() {
        x.abs()
    } else {
        x * round(y.ln())
    }
}

pub(super) fn sign<T: Integer>(a: T) -> T {
    let above = if a > T::zero() { T::one() } else { T::zero() };
    if a < T::zero() { T::zero().wrapping_sub(&T::one()) } else { above }
}

/// Computed in the type itself, from logarithms that preserve digits, like the other inverse hyperbolic functions.
pub(super) fn asinh<T: Real>(a: T) -> T {
    let (size, one) = (a.abs(), T::one());
    let square = size * size;
    let result = if size > T::from_f64(268435456.0) {
        size.ln() + T::from_f64(std::f64::consts::LN_2)
    } else if size > T::from_f64(2.0) {
        (size + size + one / ((square + one).sqrt() + size)).ln()
    } else if size < T::from_f64(3.725290298461914e-9) || size.is_nan() {
        return a;
    } else {
        (size + square / (one + (one + square).sqrt())).ln_1p()
    };
    result.copysign(a)
}

pub(super) fn acosh<T: Real>(a: T) -> T {
    let one = T::one();
    if a > T::from_f64(268435456.0) {
        a.ln() + T::from_f64(std::f64::consts::LN_2)
    } else if a > T::from_f64(2.0) {
        (a + a - one / (a + (a * a - one).sqrt())).ln()
    } else if a >= one {
        let above = a - one;
        (above + (above + above + above * above).sqrt()).ln_1p()
    } else {
        T::nan()
    }
}

pub(super) fn atanh<T: Real>(a: T) -> T {
    let (size, one, half) = (a.abs(), T::one(), T::from_f64(0.5));
    let twice = size + size;
    let result = if size < half {
        half * (twice + twice * size / (one - size)).ln_1p()
    } else {
        half * (twice / (one - size)).ln_1p()
    };
    result.copysign(a)
}

/// The logistic function.
pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Returns the sign: 0 for NaN and for negative zero.
pub(crate) fn sign_float<T: Real>(a: T) -> T {
    if a > T::zero() {
        T::one()
    } else if a < T::zero() {
        -T::one()
    } else {
        T::zero()
    }
}

/// Functions of real numbers that are computed by a series for `f32`, and by the system's function for other types.
macro_rules! by_series {
    ($($name:ident $function:path;)*) => {$(
        #[inline(always)]
        pub fn $name<T: Real>(value: T) -> T {
            let value = value.as_f64();
            T::from_f64(match is_single::<T>() {
                true => to_single(|| series::$name::<Plain>(value), || series::$name::<Fused>(value)),
                false => $function(value),
            })
        }
    )*};
}
by_series! {
    exp f64::exp;
    exp2 f64::exp2;
    ln f64::ln;
    ln_1p f64::ln_1p;
    tanh f64::tanh;
    erf special::erf;
}

/// Returns the larger of two numbers, or NaN if either is NaN.
pub(crate) fn larger_of<T: Real>(a: T, b: T) -> T {
    if a.is_nan() || a > b { a } else { b }
}

/// Returns the smaller of two numbers, or NaN if either is NaN.
pub(crate) fn smaller_of<T: Real>(a: T, b: T) -> T {
    if a.is_nan() || a < b { a } else { b }
}
