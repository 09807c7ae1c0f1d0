//! Kernels of integers. Results wrap; division by zero gives zero.

use super::run::{One, Two, called, map, two};
use super::table::Op;
use num_traits::{PrimInt, WrappingAdd, WrappingMul, WrappingNeg, WrappingSub};

/// An integer type.
pub(super) trait Whole: PrimInt + WrappingAdd + WrappingSub + WrappingMul + WrappingNeg + 'static {
    const SIGNED: bool;
    const BITS: u64;
    /// Converts `1 / self` as the processor converts a float64.
    fn inverse(self) -> Self;
    /// Returns the magnitude, which fits 64 bits.
    fn magnitude(self) -> u64;
    /// Returns the lowest bits of a number.
    fn wrapped(value: u64) -> Self;
    fn as_u64(self) -> u64;
}

macro_rules! wholes {
    ($($t:ty: $signed:literal, $zero:expr, $magnitude:expr;)*) => {$(
        impl Whole for $t {
            const SIGNED: bool = $signed;
            const BITS: u64 = <$t>::BITS as u64;
            #[inline(always)]
            fn inverse(self) -> $t {
                match self {
                    0 => $zero,
                    1 => 1,
                    other if $signed && other.wrapping_add(1) == 0 => other,
                    _ => 0,
                }
            }
            #[inline(always)]
            fn magnitude(self) -> u64 {
                let magnitude: fn($t) -> u64 = $magnitude;
                magnitude(self)
            }
            #[inline(always)]
            fn wrapped(value: u64) -> $t {
                value as $t
            }
            #[inline(always)]
            fn as_u64(self) -> u64 {
                self as u64
            }
        }
    )*};
}
wholes! {
    i8: true, 0, |v| u64::from(v.unsigned_abs());
    u8: false, 0, u64::from;
    i16: true, 0, |v| u64::from(v.unsigned_abs());
    u16: false, 0, u64::from;
    i32: true, i32::MIN, |v| u64::from(v.unsigned_abs());
    u32: false, 0, u64::from;
    i64: true, i64::MIN, i64::unsigned_abs;
    u64: false, 0, |v| v;
}

/// Returns whether the divisor is -1, whose quotients are negations: one of them overflows.
#[inline(always)]
fn is_minus_one<T: Whole>(value: T) -> bool {
    T::SIGNED && value == T::zero().wrapping_sub(&T::one())
}

#[inline(always)]
fn is_negative<T: Whole>(value: T) -> bool {
    value < T::zero()
}

#[inline(always)]
fn floor_quotient<T: Whole>(a: T, b: T) -> T {
    if b == T::zero() {
        return T::zero();
    }
    if is_minus_one(b) {
        return a.wrapping_neg();
    }
    let quotient = a / b;
    let is_inexact = is_negative(a) != is_negative(b) && quotient * b != a;
    if is_inexact { quotient - T::one() } else { quotient }
}

#[inline(always)]
fn floor_rest<T: Whole>(a: T, b: T) -> T {
    if b == T::zero() || is_minus_one(b) {
        return T::zero();
    }
    let rest = a % b;
    if rest != T::zero() && is_negative(rest) != is_negative(b) { rest + b } else { rest }
}

#[inline(always)]
fn rest<T: Whole>(a: T, b: T) -> T {
    if b == T::zero() || is_minus_one(b) { T::zero() } else { a % b }
}

fn power<T: Whole>(mut base: T, exponent: T) -> T {
    let (mut result, mut left) = (T::one(), exponent.as_u64());
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(&base);
        }
        base = base.wrapping_mul(&base);
        left >>= 1;
    }
    result
}

#[inline(always)]
fn left_shift<T: Whole>(a: T, b: T) -> T {
    let by = b.as_u64();
    if by < T::BITS { a << by as usize } else { T::zero() }
}

#[inline(always)]
fn right_shift<T: Whole>(a: T, b: T) -> T {
    let by = b.as_u64();
    match by < T::BITS {
        true => a >> by as usize,
        false if is_negative(a) => T::zero().wrapping_sub(&T::one()),
        false => T::zero(),
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

fn gcd<T: Whole>(a: T, b: T) -> T {
    T::wrapped(common_divisor(a.magnitude(), b.magnitude()))
}

fn lcm<T: Whole>(a: T, b: T) -> T {
    let (a, b) = (a.magnitude(), b.magnitude());
    match common_divisor(a, b) {
        0 => T::zero(),
        divisor => T::wrapped((a / divisor).wrapping_mul(b)),
    }
}

/// Returns the kernel of two integers. `part` is the number of the output.
pub(super) fn two_integers<T: Whole>(op: Op, part: usize) -> Option<Two<T, T, T>> {
    Some(match (op, part) {
        (Op::Add, _) => two!(|a: T, b: T| a.wrapping_add(&b)),
        (Op::Subtract, _) => two!(|a: T, b: T| a.wrapping_sub(&b)),
        (Op::Multiply, _) => two!(|a: T, b: T| a.wrapping_mul(&b)),
        (Op::FloorDivide, _) | (Op::Divmod, 0) => two!(floor_quotient::<T>),
        (Op::Remainder, _) | (Op::Divmod, _) => two!(floor_rest::<T>),
        (Op::Fmod, _) => two!(rest::<T>),
        (Op::Power, _) => called!(power::<T>),
        (Op::Maximum | Op::Fmax, _) => two!(|a: T, b: T| a.max(b)),
        (Op::Minimum | Op::Fmin, _) => two!(|a: T, b: T| a.min(b)),
        (Op::BitwiseAnd, _) => two!(|a: T, b: T| a & b),
        (Op::BitwiseOr, _) => two!(|a: T, b: T| a | b),
        (Op::BitwiseXor, _) => two!(|a: T, b: T| a ^ b),
        (Op::LeftShift, _) => two!(left_shift::<T>),
        (Op::RightShift, _) => two!(right_shift::<T>),
        (Op::Gcd, _) => called!(gcd::<T>),
        (Op::Lcm, _) => called!(lcm::<T>),
        _ => return None,
    })
}

/// Returns the kernel of one integer.
pub(super) fn one_integer<T: Whole>(op: Op) -> Option<One<T, T>> {
    Some(match op {
        Op::Absolute => |from, out| {
            map(from, out, |a: T| if is_negative(a) { a.wrapping_neg() } else { a });
        },
        Op::Negative => |from, out| map(from, out, |a: T| a.wrapping_neg()),
        Op::Positive | Op::Conjugate | Op::Ceil | Op::Floor | Op::Trunc => |from, out| out.copy_from_slice(from),
        Op::Square => |from, out| map(from, out, |a: T| a.wrapping_mul(&a)),
        Op::Reciprocal => |from, out| map(from, out, |a: T| a.inverse()),
        Op::Invert => |from, out| map(from, out, |a: T| !a),
        Op::Sign => |from, out| {
            map(from, out, |a: T| match a.cmp(&T::zero()) {
                std::cmp::Ordering::Less => T::zero().wrapping_sub(&T::one()),
                std::cmp::Ordering::Equal => T::zero(),
                std::cmp::Ordering::Greater => T::one(),
            });
        },
        _ => return None,
    })
}

/// Counts the set bits of magnitudes.
pub(super) fn bit_count<T: Whole>(from: &[T], out: &mut [u8]) {
    map(from, out, |a: T| a.magnitude().count_ones() as u8);
}
