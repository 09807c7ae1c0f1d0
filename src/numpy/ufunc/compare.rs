//! Comparisons, logic, and the other kernels whose results are bools.

use super::run::{One, Two, map, two};
use super::table::Op;
use num_complex::Complex;
use tensor::memory::BoolByte;

/// An element that can be compared and tested.
pub(super) trait Compared: Copy + PartialEq {
    fn less(self, other: Self) -> bool;
    fn less_equal(self, other: Self) -> bool;
    fn truth(self) -> bool;
}

macro_rules! compared {
    ($($t:ty: $zero:expr),*) => {$(
        impl Compared for $t {
            #[inline(always)]
            fn less(self, other: $t) -> bool {
                self < other
            }
            #[inline(always)]
            fn less_equal(self, other: $t) -> bool {
                self <= other
            }
            #[inline(always)]
            fn truth(self) -> bool {
                self != $zero
            }
        }
    )*};
}
compared!(u8: 0, i8: 0, u16: 0, i16: 0, u32: 0, i32: 0, u64: 0, i64: 0, f32: 0.0, f64: 0.0, BoolByte: BoolByte::default());

macro_rules! complex_compared {
    ($($t:ty),*) => {$(
        // Real parts count first; a NaN in any imaginary part makes them incomparable.
        impl Compared for Complex<$t> {
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                (self.re < other.re && !self.im.is_nan() && !other.im.is_nan())
                    || (self.re == other.re && self.im < other.im)
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> bool {
                (self.re < other.re && !self.im.is_nan() && !other.im.is_nan())
                    || (self.re == other.re && self.im <= other.im)
            }
            #[inline(always)]
            fn truth(self) -> bool {
                self.re != 0.0 || self.im != 0.0
            }
        }
    )*};
}
complex_compared!(f32, f64);

/// Returns the kernel of a comparison or of logic.
pub(super) fn relation<T: Compared>(op: Op) -> Option<Two<T, T, BoolByte>> {
    Some(match op {
        Op::Equal => two!(|a: T, b: T| BoolByte::new(a == b)),
        Op::NotEqual => two!(|a: T, b: T| BoolByte::new(a != b)),
        Op::Less => two!(|a: T, b: T| BoolByte::new(a.less(b))),
        Op::LessEqual => two!(|a: T, b: T| BoolByte::new(a.less_equal(b))),
        Op::Greater => two!(|a: T, b: T| BoolByte::new(b.less(a))),
        Op::GreaterEqual => two!(|a: T, b: T| BoolByte::new(b.less_equal(a))),
        Op::LogicalAnd => two!(|a: T, b: T| BoolByte::new(a.truth() & b.truth())),
        Op::LogicalOr => two!(|a: T, b: T| BoolByte::new(a.truth() | b.truth())),
        Op::LogicalXor => two!(|a: T, b: T| BoolByte::new(a.truth() ^ b.truth())),
        _ => return None,
    })
}

type Mixed = fn(&[i64], &[u64], &mut [BoolByte]);

/// Returns the kernel that compares int64 with uint64 exactly.
pub(super) fn mixed(op: Op) -> Option<Mixed> {
    // Negative numbers are below all others.
    Some(match op {
        Op::Equal => two!(|a: i64, b: u64| BoolByte::new(a >= 0 && a as u64 == b)).slices,
        Op::NotEqual => two!(|a: i64, b: u64| BoolByte::new(a < 0 || a as u64 != b)).slices,
        Op::Less => two!(|a: i64, b: u64| BoolByte::new(a < 0 || (a as u64) < b)).slices,
        Op::LessEqual => two!(|a: i64, b: u64| BoolByte::new(a < 0 || a as u64 <= b)).slices,
        Op::Greater => two!(|a: i64, b: u64| BoolByte::new(a >= 0 && a as u64 > b)).slices,
        Op::GreaterEqual => two!(|a: i64, b: u64| BoolByte::new(a >= 0 && a as u64 >= b)).slices,
        _ => return None,
    })
}

/// Returns the comparison with its sides exchanged.
pub(super) fn mirrored(op: Op) -> Op {
    match op {
        Op::Less => Op::Greater,
        Op::LessEqual => Op::GreaterEqual,
        Op::Greater => Op::Less,
        Op::GreaterEqual => Op::LessEqual,
        other => other,
    }
}

/// Returns the kernel of a test of whole numbers.
pub(super) fn whole_test<T: Compared>(op: Op) -> Option<One<T, BoolByte>> {
    Some(match op {
        Op::Isnan | Op::Isinf => |_, out| out.fill(BoolByte::new(false)),
        Op::Isfinite => |_, out| out.fill(BoolByte::new(true)),
        Op::LogicalNot => |from, out| map(from, out, |a: T| BoolByte::new(!a.truth())),
        _ => return None,
    })
}

/// Returns the kernel of bools that results in bools.
pub(super) fn bools(op: Op) -> Option<Two<BoolByte, BoolByte, BoolByte>> {
    Some(match op {
        Op::Add | Op::BitwiseOr | Op::Maximum | Op::Fmax => two!(|a: BoolByte, b: BoolByte| a | b),
        Op::Multiply | Op::BitwiseAnd | Op::Minimum | Op::Fmin => two!(|a: BoolByte, b: BoolByte| a & b),
        Op::BitwiseXor => two!(|a: BoolByte, b: BoolByte| a ^ b),
        _ => return relation(op),
    })
}

/// Returns the kernel of one bool.
pub(super) fn one_bool(op: Op) -> Option<One<BoolByte, BoolByte>> {
    Some(match op {
        Op::Absolute | Op::Ceil | Op::Floor | Op::Trunc => {
            |from, out| map(from, out, |a: BoolByte| BoolByte::new(a.get()))
        }
        Op::Invert => |from, out| map(from, out, |a: BoolByte| !a),
        _ => return whole_test(op),
    })
}
