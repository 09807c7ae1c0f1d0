//! Functions of `f32` computed in double precision by branch-free arithmetic, so that loops over them are vectorised.
//! Their errors are far below half a unit in the last place of an `f32`; results are correctly rounded except for rare
//! ties. `f64` uses the system's functions. Independent of tensors.

use super::lanes::{Lanes, ROUND};
use std::f64::consts::{
    FRAC_1_SQRT_2, FRAC_2_PI, FRAC_2_SQRT_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, LOG10_E, PI, SQRT_2,
};

/// The leading bits of ln 2, few enough for their multiples by an exponent to be exact, and the rest.
const LN_2_HIGH: f64 = f64::from_bits(LN_2.to_bits() & !0xFFFF_FFFF);
const LN_2_LOW: f64 = 4.749_325_039_031_672_6e-7;

/// π/2 in three parts; the first two are short enough for their multiples by an integer of 20 bits to be exact.
const HALF_PI: [f64; 3] = [
    f64::from_bits(0x3FF9_21FB_5440_0000),
    f64::from_bits(0x3DD0_B461_1A60_0000),
    f64::from_bits(0x3BA3_198A_2E03_7073),
];
/// The largest angle for which [`sin`], [`cos`] and [`tan`] can count the quarter turns.
pub const TURNS: f64 = (1 << 20) as f64;

/// How a product and a sum become one step, and for which numbers.
pub trait Steps {
    type N: Lanes;
    /// Whether results are checked before they are rounded to `f32`, so that they need not have the last bits of a double.
    /// Polynomials are then evaluated four terms at a time: fewer steps wait for each other.
    const IS_CHECKED: bool;
    fn fused(a: Self::N, b: Self::N, c: Self::N) -> Self::N;
}

/// Steps with one rounding: an instruction of most processors.
pub struct Fused;

impl Steps for Fused {
    type N = f64;
    const IS_CHECKED: bool = false;
    #[inline(always)]
    fn fused(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

/// Steps with two roundings, for machines on which a fused one is a long function.
pub struct Plain;

impl Steps for Plain {
    type N = f64;
    const IS_CHECKED: bool = true;
    #[inline(always)]
    fn fused(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
}

/// Returns the result of fused steps, for one that is rounded to `f32`. WebAssembly has no fused steps: there plain ones do,
/// unless their error could change the `f32`.
#[inline(always)]
pub fn to_single(plain: impl Fn() -> f64, fused: impl Fn() -> f64) -> f64 {
    if cfg!(target_family = "wasm") { checked(plain(), fused) } else { fused() }
}

#[inline(always)]
fn checked(value: f64, fused: impl Fn() -> f64) -> f64 {
    #[cold]
    #[inline(never)]
    fn exactly(fused: impl Fn() -> f64) -> f64 {
        fused()
    }
    if is_doubtful(value) { exactly(fused) } else { value }
}

/// The units of a double's last place by which plain and fused steps may be apart.
pub(crate) const MARGIN: i64 = 1 << 15;
/// The units of a double's last place in one of an `f32`.
pub(crate) const EXTRA: i64 = 1 << 29;

/// Returns whether a number a little away from `value` may round to another `f32`: near the middle of two, or where they
/// are farther apart than elsewhere. Plain and fused steps are at most [`MARGIN`] apart.
#[inline(always)]
fn is_doubtful(value: f64) -> bool {
    // Signed, because the vectors of WebAssembly compare no unsigned numbers of 64 bits.
    let from_middle = value.to_bits().cast_signed().wrapping_add(MARGIN - EXTRA / 2) & (EXTRA - 1);
    (from_middle < 2 * MARGIN) | (value.abs() < f64::from(f32::MIN_POSITIVE))
}

/// Evaluates a polynomial in `x`; the constant coefficient comes first.
#[inline(always)]
fn polynomial<S: Steps, const N: usize>(x: S::N, coefficients: [f64; N]) -> S::N {
    if S::IS_CHECKED {
        let term = |k: usize| S::N::of(if k < N { coefficients[k] } else { 0.0 });
        let square = x * x;
        let fourth = square * square;
        let mut sum = S::N::of(0.0);
        let mut k = N.next_multiple_of(4);
        while k > 0 {
            k -= 4;
            let (low, high) = (S::fused(term(k + 1), x, term(k)), S::fused(term(k + 3), x, term(k + 2)));
            sum = S::fused(sum, fourth, S::fused(high, square, low));
        }
        return sum;
    }
    let mut sum = S::N::of(0.0);
    let mut k = N;
    while k > 0 {
        k -= 1;
        sum = S::fused(sum, x, S::N::of(coefficients[k]));
    }
    sum
}

/// Beyond this magnitude of x, e^x rounds to infinity or zero in `f32`.
const FAR: f64 = 200.0;

/// Computes e^x - 1 for `x` around 0.
#[inline(always)]
fn power_less_one<S: Steps>(x: S::N) -> S::N {
    // 1 / k!
    x * polynomial::<S, _>(
        x,
        [
            1.0,
            1.0 / 2.0,
            1.0 / 6.0,
            1.0 / 24.0,
            1.0 / 120.0,
            1.0 / 720.0,
            1.0 / 5040.0,
            1.0 / 40320.0,
            1.0 / 362_880.0,
            1.0 / 3_628_800.0,
            1.0 / 39_916_800.0,
        ],
    )
}

/// Divides a bounded `x` by ln 2: returns the rounded quotient in the lowest bits of a double, and the remainder.
#[inline(always)]
fn halvings<S: Steps>(x: S::N) -> (S::N, S::N) {
    let of = S::N::of;
    let rounded = x * LOG2_E + ROUND;
    let power = rounded - ROUND;
    (rounded, S::fused(-power, of(LN_2_LOW), S::fused(-power, of(LN_2_HIGH), x)))
}

/// Computes e^x for results that are rounded to `f32`. If they are checked, fewer steps are enough: e^x is a power of two,
/// and a polynomial of eight terms gives the fraction of its exponent with an error well below [`MARGIN`]. The polynomial
/// interpolates at Chebyshev points.
#[inline(always)]
pub fn exp<S: Steps>(x: S::N) -> S::N {
    if !S::IS_CHECKED {
        return exp_as_double::<S>(x);
    }
    let power = x.within(FAR) * LOG2_E;
    let rounded = power + ROUND;
    let rest = power - (rounded - ROUND);
    let series = polynomial::<S, _>(
        rest,
        [
            0.693_147_180_556_831_9,
            0.240_226_506_958_884_98,
            0.055_504_109_063_306_516,
            0.009_618_129_135_239_455,
            0.001_333_347_846_730_514,
            0.000_154_034_751_821_104_88,
            1.530_370_275_312_440_3e-5,
            1.325_080_693_203_370_9e-6,
        ],
    );
    (rest * series + 1.0).times_power(rounded)
}

/// Computes e^x: 2 to an integer power times the series around 0.
#[inline(always)]
fn exp_as_double<S: Steps>(x: S::N) -> S::N {
    let (rounded, rest) = halvings::<S>(x.within(FAR));
    (power_less_one::<S>(rest) + 1.0).times_power(rounded)
}

/// Computes e^x in single precision with the steps of the Sleef library, which PyTorch's vectors call.
#[inline(always)]
pub fn exp_single(x: f32) -> f32 {
    const ROUND: f32 = 1.5 * (1 << 23) as f32;
    let bounded = if x > 101.0 { 101.0 } else { x };
    let bounded = if bounded < -105.0 { -105.0 } else { bounded };
    let rounded = bounded * std::f32::consts::LOG2_E + ROUND;
    let count = rounded - ROUND;
    // ln 2 in two parts; the first is short enough for its multiples to be exact.
    let rest = count.mul_add(-1.428_606_8e-6, count.mul_add(-0.693_145_75, bounded));
    let series = [0.000_198_527_62, 0.001_393_043_6, 0.008_333_361, 0.041_666_485, 0.166_666_67, 0.5];
    let mut sum = series[0];
    let mut k = 1;
    while k < series.len() {
        sum = rest.mul_add(sum, series[k]);
        k += 1;
    }
    let value = 1.0 + (rest * rest).mul_add(sum, rest);
    // Two factors of half the exponent each: one factor could be subnormal or infinite.
    let power = rounded.to_bits().wrapping_sub(ROUND.to_bits()).cast_signed();
    let half = power >> 1;
    let scale = |power: i32| f32::from_bits(power.wrapping_add(127).cast_unsigned() << 23);
    let value = value * scale(half) * scale(power.wrapping_sub(half));
    let value = if x < -104.0 { 0.0 } else { value };
    if x > 100.0 { f32::INFINITY } else { value }
}

/// The error function in single precision as PyTorch's vectors compute it (A&S 7.1.26), to seven decimal places.
#[inline(always)]
pub fn erf_single(x: f32) -> f32 {
    let t = 1.0 / 0.327_591_1_f32.mul_add(x.abs(), 1.0);
    let series = 1.061_405_4_f32.mul_add(t, -1.453_152_1);
    let series = series.mul_add(t, 1.421_413_8).mul_add(t, -0.284_496_72).mul_add(t, 0.254_829_6);
    let value = (-exp_single(-(x * x)) * t).mul_add(series, 1.0);
    // Near zero the value may come out negative.
    f32::from_bits(value.to_bits() ^ (x.to_bits() & 1 << 31))
}

/// The natural logarithm of a positive number, like [`exp_single`]. Sleef computes some steps in pairs of numbers; here
/// they are in double precision.
pub fn ln_single(x: f32) -> f32 {
    if !(x > 0.0 && x < f32::INFINITY) {
        return x.ln();
    }
    // x = m 2^n with m in [3/4, 3/2).
    let exponent = (f64::from(x) / 0.75).log2().floor();
    let mantissa = f64::from(x) / exponent.exp2();
    let tangent = (mantissa - 1.0) / (mantissa + 1.0);
    let single = tangent as f32;
    let square = single * single;
    let series = square.mul_add(square.mul_add(0.302_729_5, 0.399_610_82), 0.666_669_5);
    (exponent * LN_2 + 2.0 * tangent + f64::from(square * single * series)) as f32
}

/// Computes 2^x.
#[inline(always)]
pub fn exp2<S: Steps>(x: S::N) -> S::N {
    let x = x.within(FAR);
    let rounded = x + ROUND;
    (power_less_one::<S>((x - (rounded - ROUND)) * LN_2) + 1.0).times_power(rounded)
}

/// Computes e^x - 1 without losing digits around 0.
#[inline(always)]
pub fn exp_m1<S: Steps>(x: S::N) -> S::N {
    let (rounded, rest) = halvings::<S>(x.within(FAR));
    let scale = S::N::of(1.0).times_power(rounded);
    (power_less_one::<S>(rest) * scale + (scale - 1.0)).copysign(x)
}

/// The natural logarithm of a positive, normal double. With x = m 2^n and m in [√½, √2), it is n ln 2 plus twice the
/// area tangent of (m - 1) / (m + 1). `less_one` computes m - 1 from m and n.
#[inline(always)]
fn logarithm<S: Steps>(x: S::N, less_one: impl Fn(S::N, S::N) -> S::N) -> S::N {
    let of = S::N::of;
    let (mantissa, exponent) = x.parts();
    let large = of(SQRT_2).less(mantissa);
    let mantissa = S::N::pick(large, mantissa * 0.5, mantissa);
    let exponent = exponent - S::N::pick(large, of(1022.0), of(1023.0));
    let tangent = less_one(mantissa, exponent) / (mantissa + 1.0);
    let square = tangent * tangent;
    // 2 / (2k + 1)
    let series = polynomial::<S, _>(
        square,
        [2.0, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0, 2.0 / 17.0, 2.0 / 19.0],
    );
    let value = exponent * LN_2 + tangent * series;
    let value = S::N::pick(x.equals(of(f64::INFINITY)), x, value);
    let value = S::N::pick(x.equals(of(0.0)), of(f64::NEG_INFINITY), value);
    // Negative numbers have no logarithm; NaN fails the comparison too.
    S::N::pick(of(0.0).at_most(x), value, of(f64::NAN))
}

/// The natural logarithm of a widened `f32`.
#[inline(always)]
pub fn ln<S: Steps>(x: S::N) -> S::N {
    logarithm::<S>(x, |mantissa, _| mantissa - 1.0)
}

/// The base-2 logarithm of a widened `f32`.
#[inline(always)]
pub fn log2<S: Steps>(x: S::N) -> S::N {
    ln::<S>(x) * LOG2_E
}

/// The base-10 logarithm of a widened `f32`.
#[inline(always)]
pub fn log10<S: Steps>(x: S::N) -> S::N {
    ln::<S>(x) * LOG10_E
}

/// The natural logarithm of 1 + `x`; `x` is a widened `f32`.
#[inline(always)]
pub fn ln_1p<S: Steps>(x: S::N) -> S::N {
    // Near 1, use `x` itself, because the sum has lost digits.
    let less_one = |mantissa: S::N, exponent: S::N| S::N::pick(exponent.equals(S::N::of(0.0)), x, mantissa - 1.0);
    logarithm::<S>(x + 1.0, less_one).copysign(x)
}

/// The logistic function, with every step rounded to `f32`. It checks its own steps, whichever it is called for.
#[inline(always)]
pub fn sigmoid<S: Steps<N = f64>>(x: f64) -> f64 {
    let power = to_single(|| exp::<Plain>(-x), || exp::<Fused>(-x));
    f64::from(1.0 / (1.0 + power as f32))
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh<S: Steps>(x: S::N) -> S::N {
    let above = exp_m1::<S>(x.abs());
    ((above + above / (above + 1.0)) * 0.5).copysign(x)
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh<S: Steps>(x: S::N) -> S::N {
    let power = exp_as_double::<S>(x.abs());
    (power + S::N::of(1.0) / power) * 0.5
}

/// The hyperbolic tangent, from e^2x; near 0, where that loses digits, from its series.
#[inline(always)]
pub fn tanh<S: Steps>(x: S::N) -> S::N {
    let power = exp_as_double::<S>(x + x);
    let quotient = (power - 1.0) / (power + 1.0);
    let square = x * x;
    let series = x * polynomial::<S, _>(square, [1.0, -1.0 / 3.0, 2.0 / 15.0, -17.0 / 315.0, 62.0 / 2835.0]);
    S::N::pick(square.less(S::N::of(1e-3)), series, quotient)
}

/// Reduces an angle of at most [`TURNS`] by whole quarter turns. Returns the sine and the cosine of the remainder, and
/// the number of quarter turns in the lowest bits of a double.
#[inline(always)]
fn quarter<S: Steps>(x: S::N) -> (S::N, S::N, S::N) {
    let rounded = x * FRAC_2_PI + ROUND;
    let turns = rounded - ROUND;
    let rest = ((x - turns * HALF_PI[0]) - turns * HALF_PI[1]) - turns * HALF_PI[2];
    let square = rest * rest;
    // (-1)^k / (2k + 1)!
    let sin = polynomial::<S, _>(
        square,
        [
            1.0,
            -1.0 / 6.0,
            1.0 / 120.0,
            -1.0 / 5040.0,
            1.0 / 362_880.0,
            -1.0 / 39_916_800.0,
            1.0 / 6_227_020_800.0,
            -1.0 / 1_307_674_368_000.0,
        ],
    );
    // (-1)^k / (2k)!
    let cos = polynomial::<S, _>(
        square,
        [
            1.0,
            -1.0 / 2.0,
            1.0 / 24.0,
            -1.0 / 720.0,
            1.0 / 40320.0,
            -1.0 / 3_628_800.0,
            1.0 / 479_001_600.0,
            -1.0 / 87_178_291_200.0,
            1.0 / 20_922_789_888_000.0,
        ],
    );
    (rest * sin, cos, rounded)
}

/// The sine of an angle of at most [`TURNS`].
#[inline(always)]
pub fn sin<S: Steps>(x: S::N) -> S::N {
    let (sin, cos, quarters) = quarter::<S>(x);
    S::N::pick(quarters.is_odd(), cos, sin).turned(quarters, 0)
}

/// The cosine of an angle of at most [`TURNS`].
#[inline(always)]
pub fn cos<S: Steps>(x: S::N) -> S::N {
    let (sin, cos, quarters) = quarter::<S>(x);
    S::N::pick(quarters.is_odd(), sin, cos).turned(quarters, 1)
}

/// The tangent of an angle of at most [`TURNS`].
#[inline(always)]
pub fn tan<S: Steps>(x: S::N) -> S::N {
    let (sin, cos, quarters) = quarter::<S>(x);
    let is_odd = quarters.is_odd();
    S::N::pick(is_odd, -cos, sin) / S::N::pick(is_odd, sin, cos)
}

/// The arctangent of `x`, from its series around 0, an eighth or a quarter of a turn, whichever is nearest.
#[inline(always)]
pub fn atan<S: Steps>(x: S::N) -> S::N {
    /// The tangents of one and of three sixteenths of a turn.
    const NEAR: [f64; 2] = [SQRT_2 - 1.0, SQRT_2 + 1.0];
    let size = x.abs();
    let of = S::N::of;
    let (eighth, quarter) = (of(NEAR[0]).less(size), of(NEAR[1]).less(size));
    let near = |nought: S::N, at_eighth: S::N, at_quarter: S::N| {
        S::N::pick(quarter, at_quarter, S::N::pick(eighth, at_eighth, nought))
    };
    let above = near(size, size - 1.0, of(-1.0));
    let below = near(of(1.0), size + 1.0, size);
    let middle = near(of(0.0), of(FRAC_PI_4), of(FRAC_PI_2));
    let tangent = above / below;
    // (-1)^k / (2k + 1)
    let series = polynomial::<S, _>(
        tangent * tangent,
        [
            1.0,
            -1.0 / 3.0,
            1.0 / 5.0,
            -1.0 / 7.0,
            1.0 / 9.0,
            -1.0 / 11.0,
            1.0 / 13.0,
            -1.0 / 15.0,
            1.0 / 17.0,
            -1.0 / 19.0,
            1.0 / 21.0,
            -1.0 / 23.0,
            1.0 / 25.0,
            -1.0 / 27.0,
            1.0 / 29.0,
            -1.0 / 31.0,
            1.0 / 33.0,
            -1.0 / 35.0,
            1.0 / 37.0,
        ],
    );
    (middle + tangent * series).copysign(x)
}

/// The angle of the point (`x`, `y`); both are widened `f32`s.
#[inline(always)]
pub fn atan2<S: Steps<N = f64>>(y: f64, x: f64) -> f64 {
    let (across, up) = (x.abs(), y.abs());
    let steep = up > across;
    let (above, below) = if steep { (across, up) } else { (up, across) };
    let slope = above / below;
    // Neither two zeros nor two infinities have a quotient.
    let slope = if above == below { 1.0 } else { slope };
    let slope = if below == 0.0 { 0.0 } else { slope };
    let angle = atan::<S>(slope);
    let angle = if steep { FRAC_PI_2 - angle } else { angle };
    let angle = if x.is_sign_negative() { PI - angle } else { angle };
    if x.is_nan() | y.is_nan() { f64::NAN } else { angle.copysign(y) }
}

/// The length of the vector (`x`, `y`); both are widened `f32`s, whose squares are exact.
#[inline(always)]
pub fn hypot<S: Steps<N = f64>>(x: f64, y: f64) -> f64 {
    // The squares are exact, so it is one rounding either way.
    let size = S::fused(x, x, y * y).sqrt();
    if x.is_infinite() | y.is_infinite() { f64::INFINITY } else { size }
}

/// The area tangent of a widened `f32`: half the logarithm of 1 + `t` for `t` = 2x / (1 - x).
#[inline(always)]
pub fn atanh<S: Steps>(x: S::N) -> S::N {
    let of = S::N::of;
    let size = x.abs();
    let t = (size + size) / (of(1.0) - size);
    let sum = t + 1.0;
    // What the sum has lost counts if the logarithm is small.
    let lost = S::N::pick(t.less(of(8.0)), (t - (sum - 1.0)) / sum, of(0.0));
    let less_one = |mantissa: S::N, exponent: S::N| S::N::pick(exponent.equals(of(0.0)), t, mantissa - 1.0);
    let logarithm = logarithm::<S>(sum, less_one);
    let lost = S::N::pick(sum.less(of(SQRT_2)), of(0.0), lost);
    ((logarithm + lost) * 0.5).copysign(x)
}

/// The inverse of the error function of a widened `f32`: the quantile function of the normal distribution by M. J.
/// Wichura's algorithm AS 241, to 16 digits.
#[inline(always)]
pub fn erfinv<S: Steps>(y: S::N) -> S::N {
    let size = y.abs();
    let of = S::N::of;
    let half = y * 0.5;
    let square = of(0.180_625) - half * half;
    let above = polynomial::<S, _>(
        square,
        [
            3.387_132_872_796_366_6,
            133.141_667_891_784_38,
            1_971.590_950_306_551_4,
            13_731.693_765_509_46,
            45_921.953_931_549_87,
            67_265.770_927_008_7,
            33_430.575_583_588_13,
            2_509.080_928_730_122_7,
        ],
    );
    let below = polynomial::<S, _>(
        square,
        [
            1.0,
            42.313_330_701_600_91,
            687.187_007_492_057_9,
            5_394.196_021_424_751,
            21_213.794_301_586_597,
            39_307.895_800_092_71,
            28_729.085_735_721_943,
            5_226.495_278_852_854,
        ],
    );
    let middle = half * above / below;
    // 1 - size is exact.
    let distance = (-ln::<S>((of(1.0) - size) * 0.5)).sqrt() - 1.6;
    let above = polynomial::<S, _>(
        distance,
        [
            1.423_437_110_749_683_5,
            4.630_337_846_156_546,
            5.769_497_221_460_691,
            3.647_848_324_763_204_5,
            1.270_458_252_452_368_4,
            0.241_780_725_177_450_6,
            0.022_723_844_989_269_184,
            7.745_450_142_783_414e-4,
        ],
    );
    let below = polynomial::<S, _>(
        distance,
        [
            1.0,
            2.053_191_626_637_759,
            1.676_384_830_183_803_8,
            0.689_767_334_985_1,
            0.148_103_976_427_480_08,
            0.015_198_666_563_616_457,
            5.475_938_084_995_345e-4,
            1.050_750_071_644_416_9e-9,
        ],
    );
    let tail = (above / below).copysign(y);
    let quantile = S::N::pick(size.at_most(of(0.85)), middle, tail) * FRAC_1_SQRT_2;
    let quantile = S::N::pick(size.equals(of(1.0)), of(f64::INFINITY).copysign(y), quantile);
    S::N::pick(size.at_most(of(1.0)), quantile, of(f64::NAN))
}

/// Quotients up to this size have few enough digits for [`rest`].
pub const QUOTIENT: f64 = (1u64 << 51) as f64;

/// The exact remainder of `a / b`, with the sign of `a`. The quotient must be at most [`QUOTIENT`], and `b` finite.
#[inline(always)]
pub fn rest(a: f64, b: f64) -> f64 {
    // A rounded quotient is too large by at most one, and the fused step is exact.
    let rest = (-(a / b).trunc()).mul_add(b, a);
    let (along, size) = (rest * 1.0f64.copysign(a), b.abs());
    let along = if along < 0.0 { along + size } else { along };
    let along = if along >= size { along - size } else { along };
    along.copysign(a)
}

/// The arcsine of `x`, a widened `f32`.
#[inline(always)]
pub fn asin<S: Steps>(x: S::N) -> S::N {
    atan::<S>(x / ((S::N::of(1.0) - x) * (x + 1.0)).sqrt())
}

/// The arccosine of `x`, a widened `f32`.
#[inline(always)]
pub fn acos<S: Steps>(x: S::N) -> S::N {
    atan::<S>(((S::N::of(1.0) - x) / (x + 1.0)).sqrt()) * 2.0
}

/// `x` to the power of `y`, both widened `f32`s; `x` must be finite and nonzero, `y` finite.
#[inline(always)]
pub fn pow<S: Steps<N = f64>>(x: f64, y: f64) -> f64 {
    let size = exp_as_double::<S>(y * ln::<S>(x.abs()));
    let is_whole = |y: f64| y.floor() == y;
    let power = if is_whole(0.5 * y) { size } else { -size };
    let power = if is_whole(y) { power } else { f64::NAN };
    if x < 0.0 { power } else { size }
}

/// The complementary error function for a non-negative `size`: e^-x² times a function of (x - 3) / (x + 3),
/// approximated by a polynomial to 14 digits (fitted at Chebyshev points). Beyond the limit, it rounds to 0 in `f32`.
#[inline(always)]
fn complement<S: Steps>(size: S::N) -> S::N {
    const LIMIT: f64 = 10.5;
    let limit = S::N::of(LIMIT);
    let size = S::N::pick(limit.less(size), limit, size);
    let scaled = polynomial::<S, _>(
        (size - 3.0) / (size + 3.0),
        [
            0.179_001_151_181_389_9,
            -0.326_233_560_043_025_8,
            0.245_603_801_712_351_66,
            -0.150_115_936_501_932_33,
            0.071_665_837_196_006_93,
            -0.024_392_499_285_373_136,
            0.004_269_136_398_510_287,
            0.000_707_746_031_767_059_8,
            -0.000_597_062_936_741_480_3,
            4.525_756_932_561_449e-5,
            6.406_408_632_279_741e-5,
            -1.286_454_637_279_434_4e-5,
            -8.007_705_634_238_586e-6,
            2.107_111_536_831_408e-6,
            1.305_425_408_960_906_9e-6,
            -2.295_737_105_254_132e-7,
            -2.505_126_723_156_682e-7,
            -4.591_727_234_196_611e-8,
        ],
    );
    scaled * exp_as_double::<S>(-(size * size))
}

/// The error function of a widened `f32`; near 0, from its series.
#[inline(always)]
pub fn erf<S: Steps>(x: S::N) -> S::N {
    // (-1)^k / (k! (2k + 1))
    let series = polynomial::<S, _>(
        x * x,
        [
            1.0,
            -1.0 / 3.0,
            1.0 / 10.0,
            -1.0 / 42.0,
            1.0 / 216.0,
            -1.0 / 1320.0,
            1.0 / 9360.0,
            -1.0 / 75600.0,
            1.0 / 685_440.0,
            -1.0 / 6_894_720.0,
        ],
    );
    let size = x.abs();
    let of = S::N::of;
    let far = of(1.0) - complement::<S>(size);
    S::N::pick(size.less(of(0.5)), size * FRAC_2_SQRT_PI * series, far).copysign(x)
}

/// The complementary error function of a widened `f32`.
#[inline(always)]
pub fn erfc<S: Steps>(x: S::N) -> S::N {
    let tail = complement::<S>(x.abs());
    S::N::pick(x.less(S::N::of(0.0)), S::N::of(2.0) - tail, tail)
}

#[cfg(test)]
mod tests;
