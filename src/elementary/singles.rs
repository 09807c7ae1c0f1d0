//! Loops over slices of `f32` for the vectors of WebAssembly, which have two doubles and no fused steps. Elsewhere a kernel
//! inlines the functions of [`super::series`] into a loop for the processor's vectors. tests/web/loops.mjs compares both to
//! the bit.

use super::lanes::{Lanes, MANTISSA, ROUND};
use super::series::{self, EXTRA, Fused, MARGIN};
use std::arch::wasm32::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The elements of which the doubtful ones are computed again together: at most as many as a number has bits.
const GROUP: usize = 16;

/// Two doubles in a vector.
#[derive(Clone, Copy)]
struct Pair(v128);

macro_rules! operators {
    ($($operator:ident $method:ident $instruction:ident;)*) => {$(
        impl $operator for Pair {
            type Output = Pair;
            #[inline(always)]
            fn $method(self, other: Pair) -> Pair {
                Pair($instruction(self.0, other.0))
            }
        }

        impl $operator<f64> for Pair {
            type Output = Pair;
            #[inline(always)]
            fn $method(self, other: f64) -> Pair {
                Pair($instruction(self.0, f64x2_splat(other)))
            }
        }
    )*};
}
operators! {
    Add add f64x2_add;
    Sub sub f64x2_sub;
    Mul mul f64x2_mul;
    Div div f64x2_div;
}

impl Neg for Pair {
    type Output = Pair;
    #[inline(always)]
    fn neg(self) -> Pair {
        Pair(f64x2_neg(self.0))
    }
}

impl Lanes for Pair {
    type Mask = v128;
    #[inline(always)]
    fn of(number: f64) -> Pair {
        Pair(f64x2_splat(number))
    }
    #[inline(always)]
    fn abs(self) -> Pair {
        Pair(f64x2_abs(self.0))
    }
    #[inline(always)]
    fn sqrt(self) -> Pair {
        Pair(f64x2_sqrt(self.0))
    }
    #[inline(always)]
    fn copysign(self, sign: Pair) -> Pair {
        Pair(v128_bitselect(sign.0, self.0, i64x2_splat(i64::MIN)))
    }
    #[inline(always)]
    fn less(self, than: Pair) -> v128 {
        f64x2_lt(self.0, than.0)
    }
    #[inline(always)]
    fn at_most(self, most: Pair) -> v128 {
        f64x2_le(self.0, most.0)
    }
    #[inline(always)]
    fn equals(self, other: Pair) -> v128 {
        f64x2_eq(self.0, other.0)
    }
    #[inline(always)]
    fn pick(mask: v128, then: Pair, otherwise: Pair) -> Pair {
        Pair(v128_bitselect(then.0, otherwise.0, mask))
    }
    #[inline(always)]
    fn within(self, limit: f64) -> Pair {
        Pair(f64x2_pmax(f64x2_pmin(self.0, f64x2_splat(limit)), f64x2_splat(-limit)))
    }
    #[inline(always)]
    fn times_power(self, rounded: Pair) -> Pair {
        Pair(i64x2_add(self.0, i64x2_shl(rounded.0, 52)))
    }
    #[inline(always)]
    fn parts(self) -> (Pair, Pair) {
        let mantissa = v128_or(v128_and(self.0, u64x2_splat(MANTISSA)), f64x2_splat(1.0));
        (Pair(mantissa), Pair(v128_or(u64x2_shr(self.0, 52), f64x2_splat(ROUND))) - ROUND)
    }
    #[inline(always)]
    fn is_odd(self) -> v128 {
        i64x2_eq(v128_and(self.0, i64x2_splat(1)), i64x2_splat(1))
    }
    #[inline(always)]
    fn turned(self, rounded: Pair, ahead: i64) -> Pair {
        let bit = v128_and(i64x2_add(rounded.0, i64x2_splat(ahead)), i64x2_splat(2));
        Pair(v128_xor(self.0, i64x2_shl(bit, 62)))
    }
}

/// Plain steps for two numbers.
struct Steps;

impl series::Steps for Steps {
    type N = Pair;
    const IS_CHECKED: bool = true;
    #[inline(always)]
    fn fused(a: Pair, b: Pair, c: Pair) -> Pair {
        a * b + c
    }
}

/// Rounds four numbers to `f32`, and returns all bits of those that may round otherwise: [`series::is_doubtful`].
#[inline(always)]
fn rounded(low: Pair, high: Pair) -> (v128, v128) {
    const MOST: u32 = EXTRA as u32 - 1;
    const FROM_MIDDLE: u32 = (EXTRA / 2 - MARGIN) as u32;
    let singles = |pair: Pair| f32x4_demote_f64x2_zero(pair.0);
    let rounded = i32x4_shuffle::<0, 1, 4, 5>(singles(low), singles(high));
    // What an f32 lacks is in the lower halves of the doubles.
    let halves = i32x4_shuffle::<0, 2, 4, 6>(low.0, high.0);
    let from_middle = v128_and(i32x4_sub(halves, u32x4_splat(FROM_MIDDLE)), u32x4_splat(MOST));
    let is_near = u32x4_lt(from_middle, u32x4_splat(2 * MARGIN as u32));
    let is_small = f32x4_le(f32x4_abs(rounded), f32x4_splat(f32::MIN_POSITIVE));
    (rounded, v128_or(is_near, is_small))
}

/// Computes a function of every value: with plain steps, and with fused ones, which are calls here, where the last bit of an
/// `f32` could differ.
#[inline(always)]
fn each(values: &[f32], out: &mut [f32], plain: impl Fn(Pair) -> Pair, fused: impl Fn(f64) -> f64) {
    let (groups, rest) = values.as_chunks::<GROUP>();
    let (outs, out_rest) = out.as_chunks_mut::<GROUP>();
    for (out, group) in outs.iter_mut().zip(groups) {
        let mut doubts = 0;
        for (k, (out, &[a, b, c, d])) in out.as_chunks_mut::<4>().0.iter_mut().zip(group.as_chunks::<4>().0).enumerate()
        {
            let pair = |a: f32, b: f32| plain(Pair(f64x2(f64::from(a), f64::from(b))));
            let (rounded, doubtful) = rounded(pair(a, b), pair(c, d));
            doubts |= u32::from(u32x4_bitmask(doubtful)) << (4 * k);
            *out = numbers(rounded);
        }
        if doubts != 0 {
            exactly(group, out, doubts, &fused);
        }
    }
    exactly(rest, out_rest, u32::MAX, &fused);
}

/// Computes the values whose bits are set in `doubts` with fused steps.
#[cold]
#[inline(never)]
fn exactly(values: &[f32], out: &mut [f32], doubts: u32, fused: &impl Fn(f64) -> f64) {
    for (k, (out, &value)) in out.iter_mut().zip(values).enumerate() {
        if doubts >> k & 1 == 1 {
            *out = fused(f64::from(value)) as f32;
        }
    }
}

macro_rules! loops {
    ($($name:ident)*) => {$(
        #[doc = concat!("Computes [`series::", stringify!($name), "`] of every value.")]
        #[inline(never)]
        pub fn $name(values: &[f32], out: &mut [f32]) {
            each(values, out, series::$name::<Steps>, series::$name::<Fused>);
        }
    )*};
}
loops! { exp exp2 exp_m1 ln log2 log10 ln_1p sinh cosh tanh sin cos tan asin acos atan atanh erf erfc erfinv }

/// Computes [`series::sigmoid`] of every value.
#[inline(never)]
pub fn sigmoid(values: &[f32], out: &mut [f32]) {
    each(values, out, |x| series::exp::<Steps>(-x), |x| series::exp::<Fused>(-x));
    out.iter_mut().for_each(|power| *power = 1.0 / (1.0 + *power));
}

#[inline(always)]
fn vector([a, b, c, d]: [f32; 4]) -> v128 {
    f32x4(a, b, c, d)
}

#[inline(always)]
fn numbers(vector: v128) -> [f32; 4] {
    [
        f32x4_extract_lane::<0>(vector),
        f32x4_extract_lane::<1>(vector),
        f32x4_extract_lane::<2>(vector),
        f32x4_extract_lane::<3>(vector),
    ]
}

/// Adds rows of numbers to `sums`, lane by lane, with the sums in vectors.
#[inline(always)]
fn add_each<'r>(sums: &mut [f32; 32], rows: impl Iterator<Item = &'r [f32; 32]>) {
    let vectors = |numbers: &[f32; 32]| {
        let (fours, _) = numbers.as_chunks::<4>();
        std::array::from_fn::<_, 8, _>(|k| vector(fours[k]))
    };
    let mut lanes = vectors(sums);
    for row in rows {
        lanes.iter_mut().zip(vectors(row)).for_each(|(lane, number)| *lane = f32x4_add(*lane, number));
    }
    for (four, lane) in sums.as_chunks_mut::<4>().0.iter_mut().zip(lanes) {
        *four = numbers(lane);
    }
}

/// Adds rows of numbers to `sums`.
#[inline(never)]
pub fn add_rows(sums: &mut [f32; 32], rows: &[[f32; 32]]) {
    add_each(sums, rows.iter());
}

/// Adds rows of numbers to `sums`, each of which begins `stride` elements after the last.
#[inline(never)]
pub fn add_rows_apart(sums: &mut [f32; 32], cells: &[f32], stride: usize) {
    add_each(sums, cells.chunks(stride).filter_map(|row| row.first_chunk()));
}
