//! Kernels of real numbers in single and double precision; half precision goes through single.

use super::math::Real;
use super::run::{One, Two, called, map, map_plain, two};
use super::table::Op;
use tensor::memory::BoolByte;

/// Returns quotient rounded down and remainder with the divisor's sign, for a divisor that is not zero.
#[inline(always)]
fn quotient_and_rest<T: Real>(a: T, b: T) -> (T, T) {
    let (zero, one) = (T::zero(), T::one());
    let mut rest = a % b;
    if b == zero {
        return (a / b, rest);
    }
    let mut quotient = (a - rest) / b;
    if rest != zero {
        if (b < zero) != (rest < zero) {
            rest = rest + b;
            quotient = quotient - one;
        }
    } else {
        rest = zero.with_sign(b);
    }
    if quotient == zero {
        return (zero.with_sign(a / b), rest);
    }
    let floor = quotient.floor();
    let half = T::of(0.5);
    (if quotient - floor > half { floor + one } else { floor }, rest)
}

fn floor_quotient<T: Real>(a: T, b: T) -> T {
    if b == T::zero() { a / b } else { quotient_and_rest(a, b).0 }
}

fn floor_rest<T: Real>(a: T, b: T) -> T {
    quotient_and_rest(a, b).1
}

// Of equal numbers, so of zeros, the second is the result.
#[inline(always)]
pub(super) fn larger<T: Real>(a: T, b: T) -> T {
    let largest = if a > b { a } else { b };
    if a.is_nan() { a } else { largest }
}

#[inline(always)]
pub(super) fn smaller<T: Real>(a: T, b: T) -> T {
    let smallest = if a < b { a } else { b };
    if a.is_nan() { a } else { smallest }
}

#[inline(always)]
pub(super) fn larger_number<T: Real>(a: T, b: T) -> T {
    let largest = if a > b { a } else { b };
    if b.is_nan() { a } else { largest }
}

#[inline(always)]
pub(super) fn smaller_number<T: Real>(a: T, b: T) -> T {
    let smallest = if a < b { a } else { b };
    if b.is_nan() { a } else { smallest }
}

fn heaviside<T: Real>(a: T, at_zero: T) -> T {
    match a {
        a if a.is_nan() => a,
        a if a == T::zero() => at_zero,
        a if a < T::zero() => T::zero(),
        _ => T::one(),
    }
}

fn next_after<T: Real>(a: T, b: T) -> T {
    match (a, b) {
        _ if a.is_nan() || b.is_nan() => a + b,
        _ if a == b => b,
        _ => a.neighbour(a < b),
    }
}

fn sum_of_exponents<T: Real>(a: T, b: T) -> T {
    if a == b {
        return a + T::LN_2;
    }
    let apart = a - b;
    if apart > T::zero() {
        a + (-apart).plain_exp().ln_1p()
    } else if apart <= T::zero() {
        b + apart.plain_exp().ln_1p()
    } else {
        apart
    }
}

fn sum_of_binary_exponents<T: Real>(a: T, b: T) -> T {
    if a == b {
        return a + T::one();
    }
    let apart = a - b;
    let log = |value: T| T::LOG2_E * value.ln_1p();
    if apart > T::zero() {
        a + log((-apart).exp2())
    } else if apart <= T::zero() {
        b + log(apart.exp2())
    } else {
        apart
    }
}

/// Returns the kernel of two numbers. `part` is the number of the output.
pub(super) fn two_reals<T: Real>(op: Op, part: usize) -> Option<Two<T, T, T>> {
    Some(match (op, part) {
        (Op::Add, _) => two!(|a: T, b: T| a + b),
        (Op::Subtract, _) => two!(|a: T, b: T| a - b),
        (Op::Multiply, _) => two!(|a: T, b: T| a * b),
        (Op::Divide, _) => two!(|a: T, b: T| a / b),
        (Op::FloorDivide, _) => called!(floor_quotient::<T>),
        (Op::Divmod, 0) => called!(|a: T, b: T| quotient_and_rest(a, b).0),
        (Op::Remainder | Op::Divmod, _) => called!(floor_rest::<T>),
        (Op::Fmod, _) => called!(|a: T, b: T| a % b),
        (Op::Power | Op::FloatPower, _) => called!(|a: T, b: T| a.powf(b)),
        (Op::Maximum, _) => two!(larger::<T>),
        (Op::Minimum, _) => two!(smaller::<T>),
        (Op::Fmax, _) => two!(larger_number::<T>),
        (Op::Fmin, _) => two!(smaller_number::<T>),
        (Op::Arctan2, _) => called!(|a: T, b: T| a.atan2(b)),
        (Op::Hypot, _) => called!(|a: T, b: T| a.hypot(b)),
        (Op::Heaviside, _) => called!(heaviside::<T>),
        (Op::Copysign, _) => two!(|a: T, b: T| a.with_sign(b)),
        (Op::Nextafter, _) => called!(next_after::<T>),
        (Op::Logaddexp, _) => called!(sum_of_exponents::<T>),
        (Op::Logaddexp2, _) => called!(sum_of_binary_exponents::<T>),
        _ => return None,
    })
}

type Scaled<T> = (Two<T, i32, T>, Two<T, i64, T>);

/// Returns the kernels of a number and a power of two.
pub(super) fn scaled<T: Real>(op: Op) -> Option<Scaled<T>> {
    (op == Op::Ldexp)
        .then_some((called!(|a: T, b: i32| a.times_power(i64::from(b))), called!(|a: T, b: i64| a.times_power(b))))
}

fn sign<T: Real>(a: T) -> T {
    match a {
        a if a > T::zero() => T::one(),
        a if a < T::zero() => -T::one(),
        a if a == T::zero() => T::zero(),
        _ => a,
    }
}

fn spacing<T: Real>(a: T) -> T {
    if a.is_infinite() {
        return T::nan();
    }
    if a.is_nan() {
        return a;
    }
    // The distance to the next number away from zero; from either zero, to the next above.
    match a < T::zero() {
        true => a.neighbour(false) - a,
        false => a.neighbour(true) - a,
    }
}

fn whole_part<T: Real>(a: T) -> T {
    a.trunc()
}

fn fraction<T: Real>(a: T) -> T {
    if a.is_infinite() { T::zero().with_sign(a) } else { (a - a.trunc()).with_sign(a) }
}

macro_rules! slices {
    ($t:ident, $function:expr) => {
        |from, out| map(from, out, $function)
    };
}

macro_rules! slices_called {
    ($t:ident, $function:expr) => {
        |from, out| map_plain(from, out, $function)
    };
}

/// Returns the kernel of one number. `part` is the number of the output.
pub(super) fn one_real<T: Real>(op: Op, part: usize) -> Option<One<T, T>> {
    Some(match (op, part) {
        (Op::Absolute | Op::Fabs, _) => slices!(T, |a: T| a.abs()),
        (Op::Negative, _) => slices!(T, |a: T| -a),
        (Op::Positive | Op::Conjugate, _) => |from, out| out.copy_from_slice(from),
        (Op::Square, _) => slices!(T, |a: T| a * a),
        (Op::Reciprocal, _) => slices!(T, |a: T| T::one() / a),
        (Op::Sign, _) => slices!(T, sign::<T>),
        (Op::Sqrt, _) => slices!(T, |a: T| a.sqrt()),
        (Op::Rint, _) => slices!(T, |a: T| a.rint()),
        (Op::Floor, _) => slices!(T, |a: T| a.floor()),
        (Op::Ceil, _) => slices!(T, |a: T| a.ceil()),
        (Op::Trunc, _) => slices!(T, |a: T| a.trunc()),
        (Op::Radians | Op::DegToRad, _) => slices!(T, |a: T| a * T::PI_BY_180),
        (Op::Degrees | Op::RadToDeg, _) => slices!(T, |a: T| a * T::BY_PI_180),
        (Op::Spacing, _) => slices_called!(T, spacing::<T>),
        (Op::Frexp, 0) => slices_called!(T, |a: T| a.parts().0),
        (Op::Modf, 0) => slices_called!(T, fraction::<T>),
        (Op::Modf, _) => slices_called!(T, whole_part::<T>),
        (Op::Exp, _) => T::exp_all,
        (Op::Exp2, _) => slices_called!(T, |a: T| a.exp2()),
        (Op::Expm1, _) => slices_called!(T, |a: T| a.exp_m1()),
        (Op::Log, _) => T::log_all,
        (Op::Log2, _) => slices_called!(T, |a: T| a.log2()),
        (Op::Log10, _) => slices_called!(T, |a: T| a.log10()),
        (Op::Log1p, _) => slices_called!(T, |a: T| a.ln_1p()),
        (Op::Cbrt, _) => slices_called!(T, |a: T| a.cube_root()),
        (Op::Sin, _) => T::sin_all,
        (Op::Cos, _) => T::cos_all,
        (Op::Tan, _) => slices_called!(T, |a: T| a.tan()),
        (Op::Arcsin, _) => slices_called!(T, |a: T| a.asin()),
        (Op::Arccos, _) => slices_called!(T, |a: T| a.acos()),
        (Op::Arctan, _) => slices_called!(T, |a: T| a.atan()),
        (Op::Sinh, _) => slices_called!(T, |a: T| a.sinh()),
        (Op::Cosh, _) => slices_called!(T, |a: T| a.cosh()),
        (Op::Tanh, _) => T::tanh_all,
        (Op::Arcsinh, _) => slices_called!(T, |a: T| a.arcsinh()),
        (Op::Arccosh, _) => slices_called!(T, |a: T| a.arccosh()),
        (Op::Arctanh, _) => slices_called!(T, |a: T| a.arctanh()),
        _ => return None,
    })
}

/// Returns the kernel of a test of one number.
pub(super) fn real_test<T: Real>(op: Op) -> Option<One<T, BoolByte>> {
    Some(match op {
        Op::Isnan => slices!(T, |a: T| BoolByte::new(a.is_nan())),
        Op::Isinf => slices!(T, |a: T| BoolByte::new(a.is_infinite())),
        Op::Isfinite => slices!(T, |a: T| BoolByte::new(a.is_finite())),
        Op::Signbit => slices!(T, |a: T| BoolByte::new(a.is_sign_negative())),
        Op::LogicalNot => slices!(T, |a: T| BoolByte::new(a == T::zero())),
        _ => return None,
    })
}

/// Returns the kernel of the exponent of `frexp`.
pub(super) fn exponents<T: Real>(op: Op, part: usize) -> Option<One<T, i32>> {
    (op == Op::Frexp && part == 1).then_some(slices_called!(T, |a: T| a.parts().1))
}
