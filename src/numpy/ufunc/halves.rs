//! Kernels of half precision that do not go through single precision.

use super::run::{One, Two, called, map_plain};
use super::table::Op;
use half::f16;

/// Returns the next number, by counting bit patterns.
fn neighbour(value: f16, up: bool) -> f16 {
    let bits = value.to_bits();
    match bits & 0x7fff {
        0 => f16::from_bits(if up { 1 } else { 0x8001 }),
        _ if (bits & 0x8000 == 0) == up => f16::from_bits(bits + 1),
        _ => f16::from_bits(bits - 1),
    }
}

fn next_after(a: f16, b: f16) -> f16 {
    match (a, b) {
        _ if a.is_nan() || b.is_nan() => f16::NAN,
        _ if a.to_f32() == b.to_f32() => a,
        _ => neighbour(a, a.to_f32() < b.to_f32()),
    }
}

/// Returns the distance to the next number away from zero; from zero, to the next. Positive, unlike for wider numbers.
fn spacing(a: f16) -> f16 {
    if !a.is_finite() {
        return f16::NAN;
    }
    let size = f16::from_bits(a.to_bits() & 0x7fff);
    // Below a power of two on the negative side, the next number is half as far.
    let next = neighbour(size, true);
    let bits = size.to_bits();
    let is_power = bits & 0x3ff == 0 && bits > 0x400;
    match a.is_sign_negative() && (is_power || size == f16::MAX) {
        true => f16::from_f32(size.to_f32() - neighbour(size, false).to_f32()),
        false => f16::from_f32(next.to_f32() - size.to_f32()),
    }
}

pub(super) fn two_halves(op: Op) -> Option<Two<f16, f16, f16>> {
    (op == Op::Nextafter).then_some(called!(next_after))
}

pub(super) fn one_half(op: Op) -> Option<One<f16, f16>> {
    (op == Op::Spacing).then_some(|from, out| map_plain(from, out, spacing))
}

/// Functions for which NumPy has vectors of single precision that half precision does not use.
pub(super) fn plain(op: Op) -> Option<One<f32, f32>> {
    Some(match op {
        Op::Exp => |from, out| map_plain(from, out, f32::exp),
        Op::Log => |from, out| map_plain(from, out, f32::ln),
        Op::Sin => |from, out| map_plain(from, out, f32::sin),
        Op::Cos => |from, out| map_plain(from, out, f32::cos),
        Op::Tanh => |from, out| map_plain(from, out, f32::tanh),
        _ => return None,
    })
}

/// The larger and the smaller of two: of equal numbers, so of zeros, the first.
pub(super) fn extremes(op: Op) -> Option<Two<f32, f32, f32>> {
    Some(match op {
        Op::Maximum => called!(|a: f32, b: f32| if a >= b || a.is_nan() { a } else { b }),
        Op::Minimum => called!(|a: f32, b: f32| if a <= b || a.is_nan() { a } else { b }),
        Op::Fmax => called!(|a: f32, b: f32| if a >= b || b.is_nan() { a } else { b }),
        Op::Fmin => called!(|a: f32, b: f32| if a <= b || b.is_nan() { a } else { b }),
        _ => return None,
    })
}
