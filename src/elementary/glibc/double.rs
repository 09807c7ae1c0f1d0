//! Functions of `f64`. A result is computed as a sum of two doubles. Functions with an inverse correct another library's
//! result by one step of Newton's method. What has no digits to lose (zeros, infinities, NaN, underflow) is left to that
//! library.

use super::pair::Pair;
use super::{exponentials, log10};
// glibc has libm's formulas of these.
pub use libm::{cbrt, fma, log1p};

/// 1/k!
const INVERSE_FACTORIALS: [Pair; 9] = [
    Pair::whole(1.0),
    Pair::whole(1.0),
    Pair::whole(0.5),
    Pair::new(0.166_666_666_666_666_66, 9.251_858_538_542_97e-18),
    Pair::new(0.041_666_666_666_666_664, 2.312_964_634_635_742_7e-18),
    Pair::new(0.008_333_333_333_333_333, 1.156_482_317_317_871_4e-19),
    Pair::new(0.001_388_888_888_888_889, -5.300_543_954_373_577e-20),
    Pair::new(0.000_198_412_698_412_698_4, 1.720_955_829_342_070_5e-22),
    Pair::new(2.480_158_730_158_73e-5, 2.151_194_786_677_588_2e-23),
];
const HALF_PI: Pair = Pair::new(std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
const LN_2: Pair = Pair::new(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
const LOG2_E: Pair = Pair::new(std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17);

/// Below this magnitude an odd function's cubic term is less than half a unit in the last place.
const SMALL: f64 = 1.0 / (1 << 27) as f64;

pub fn sin(x: f64) -> f64 {
    if x.abs() < SMALL || !x.is_finite() { libm::sin(x) } else { sin_cos(x).0.rounded() }
}

pub fn cos(x: f64) -> f64 {
    if x.abs() < SMALL || !x.is_finite() { libm::cos(x) } else { sin_cos(x).1.rounded() }
}

pub fn tan(x: f64) -> f64 {
    if x.abs() < SMALL || !x.is_finite() {
        return libm::tan(x);
    }
    let (sin, cos) = sin_cos(x);
    (sin / cos).rounded()
}

pub fn asin(x: f64) -> f64 {
    let near = libm::asin(x);
    if x.abs() < SMALL || near.is_nan() {
        return near;
    }
    let (sin, cos) = sin_cos(near);
    (Pair::whole(near) + (Pair::whole(x) - sin) / cos).rounded()
}

pub fn acos(x: f64) -> f64 {
    let near = libm::acos(x);
    if near == 0.0 || near.is_nan() {
        return near;
    }
    let (sin, cos) = sin_cos(near);
    (Pair::whole(near) + (cos - Pair::whole(x)) / sin).rounded()
}

pub fn atan(x: f64) -> f64 {
    if x.abs() < SMALL || !x.is_finite() { libm::atan(x) } else { atan2(x, 1.0) }
}

pub fn atan2(y: f64, x: f64) -> f64 {
    let near = libm::atan2(y, x);
    // A small angle is the quotient, which is rounded already.
    if near.abs() < SMALL || near.is_nan() || x == 0.0 || y == 0.0 || x.is_infinite() || y.is_infinite() {
        return near;
    }
    // Only the ratio counts; the larger of the two is made about 1.
    let exponent = libm::frexp(x.abs().max(y.abs())).1;
    let [x, y] = [x, y].map(|part| libm::ldexp(part, -exponent));
    let (sin, cos) = sin_cos(near);
    let (x, y) = (Pair::whole(x), Pair::whole(y));
    (Pair::whole(near) + (y * cos - x * sin) / (x * cos + y * sin)).rounded()
}

pub fn exp(x: f64) -> f64 {
    if x.abs() <= exponentials::EXP_LIMIT {
        return exponentials::exp(x);
    }
    let near = libm::exp(x);
    if near.is_normal() { power(Pair::whole(x)) } else { near }
}

pub fn exp2(x: f64) -> f64 {
    if x.abs() <= exponentials::EXP2_LIMIT { exponentials::exp2(x) } else { libm::exp2(x) }
}

pub fn expm1(x: f64) -> f64 {
    if x.abs() <= exponentials::EXP_M1_LIMIT { exponentials::exp_m1(x) } else { libm::expm1(x) }
}

pub fn sinh(x: f64) -> f64 {
    if x.abs() <= exponentials::HYPERBOLIC_LIMIT { exponentials::sinh(x) } else { half_power(x.abs()).copysign(x) }
}

pub fn cosh(x: f64) -> f64 {
    if x.abs() <= exponentials::HYPERBOLIC_LIMIT { exponentials::cosh(x) } else { half_power(x.abs()) }
}

pub fn tanh(x: f64) -> f64 {
    exponentials::tanh(x)
}

/// Returns e^x / 2, where e^x alone may overflow.
fn half_power(x: f64) -> f64 {
    let power = exp(x);
    if power.is_finite() {
        return 0.5 * power;
    }
    let root = exp(0.5 * x);
    (0.5 * root) * root
}

pub fn log(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return libm::log(x);
    }
    let (exponent, rest) = logarithm(x);
    (LN_2 * Pair::whole(exponent) + rest).rounded()
}

pub fn log2(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return libm::log2(x);
    }
    let (exponent, rest) = logarithm(x);
    (Pair::whole(exponent) + rest * LOG2_E).rounded()
}

log10!(f64, libm::log10, libm::frexp, std::f64::consts::LOG10_E, [0x3FD3_4413_509F_6000, 0x3D59_FEF3_11F1_2B36]);

pub fn pow(x: f64, y: f64) -> f64 {
    let near = libm::pow(x, y);
    if !near.is_normal() || !x.is_finite() || near.abs() == 1.0 {
        return near;
    }
    let (exponent, rest) = logarithm(x.abs());
    power((LN_2 * Pair::whole(exponent) + rest) * Pair::whole(y)).copysign(near)
}

/// √(x² + y²) with a correction for the error of the root: C. Borges, "An improved algorithm for hypot(a, b)" (2019), the
/// one that does without fused steps. glibc has it since 2.35.
pub fn hypot(x: f64, y: f64) -> f64 {
    let (large, small) = if x.abs() < y.abs() { (y.abs(), x.abs()) } else { (x.abs(), y.abs()) };
    if !(large.is_finite() && small.is_finite()) || small == 0.0 {
        return libm::hypot(x, y);
    }
    if small <= large * f64::EPSILON / 4.0 {
        return large + small;
    }
    // Squares neither overflow nor lose bits.
    let exponent = libm::frexp(large).1;
    let is_far = exponent.abs() > 500;
    let scaled = |part: f64| if is_far { libm::ldexp(part, -exponent) } else { part };
    let (a, b) = (scaled(large), scaled(small));
    let root = (a * a + b * b).sqrt();
    let excess = if root <= 2.0 * b {
        let rest = root - b;
        a * (2.0 * rest - a) + (rest - 2.0 * (a - b)) * rest
    } else {
        let rest = root - a;
        2.0 * rest * (a - 2.0 * b) + ((4.0 * rest - b) * b + rest * rest)
    };
    let length = root - excess / (2.0 * root);
    if is_far { libm::ldexp(length, exponent) } else { length }
}

/// Returns e^x, which must be a normal number.
fn power(x: Pair) -> f64 {
    let doublings = (x.high * LOG2_E.high).round();
    let rest = x - LN_2 * Pair::whole(doublings);
    libm::ldexp((Pair::whole(1.0) + power_less_one(rest)).rounded(), doublings as i32)
}

/// Returns e^x - 1 for |x| < 0.4, with an error relative to it.
fn power_less_one(x: Pair) -> Pair {
    const HALVINGS: i32 = 4;
    let x = x.scaled(1.0 / f64::from(1 << HALVINGS));
    let [_, _, second, third, fourth, ..] = INVERSE_FACTORIALS;
    // The terms that need no second double.
    let tail = (5..=8).rev().fold(0.0, |tail, k| 1.0 / factorial(k) + x.high * tail);
    let mut sum = x * (Pair::whole(1.0) + x * (second + x * (third + x * (fourth + x.scaled(tail)))));
    for _ in 0..HALVINGS {
        sum = sum.scaled(2.0) + sum * sum;
    }
    sum
}

/// Returns an exponent of two and the natural logarithm of the rest of `x`, a positive finite number. The rest is between √½
/// and √2.
fn logarithm(x: f64) -> (f64, Pair) {
    let (mut rest, mut exponent) = libm::frexp(x);
    if rest < std::f64::consts::FRAC_1_SQRT_2 {
        (rest, exponent) = (rest * 2.0, exponent - 1);
    }
    let near = libm::log(rest);
    // rest · e^-near - 1; the difference from 1 is exact.
    let excess = Pair::whole(rest - 1.0) + Pair::whole(rest) * power_less_one(Pair::whole(-near));
    (f64::from(exponent), Pair::whole(near) + excess)
}

/// Returns the sine and the cosine of a finite angle.
fn sin_cos(x: f64) -> (Pair, Pair) {
    let (quarters, rest) = turns(x.abs());
    let square = rest * rest;
    let [.., sixth, seventh, eighth] = INVERSE_FACTORIALS;
    let [_, _, second, third, fourth, fifth, ..] = INVERSE_FACTORIALS;
    // The first terms that need no second double: (-1)^k / (2k + 1)! from k = 4, and (-1)^k / (2k)! from k = 5.
    let (mut odd, mut even) = (0.0, 0.0);
    for k in (9..=21).rev().step_by(2) {
        odd = 1.0 / factorial(k) - square.high * odd;
        even = 1.0 / factorial(k + 1) - square.high * even;
    }
    let sin = rest - rest * square * (third - square * (fifth - square * (seventh - square.scaled(odd))));
    let cos = Pair::whole(1.0)
        - square * (second - square * (fourth - square * (sixth - square * (eighth - square.scaled(even)))));
    let (sin, cos) = match quarters {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    };
    (if x < 0.0 { -sin } else { sin }, cos)
}

const fn factorial(k: u32) -> f64 {
    let (mut product, mut factor) = (1.0, 2);
    while factor <= k {
        product *= factor as f64;
        factor += 1;
    }
    product
}

/// Returns the number of quarter turns next to `x`, modulo four, and what is left of the angle: at most an eighth of a turn.
fn turns(x: f64) -> (u32, Pair) {
    /// The bits of 2/π, as many as the largest double needs.
    const BITS: [u64; 20] = [
        0xA2F9_836E_4E44_1529,
        0xFC27_57D1_F534_DDC0,
        0xDB62_9599_3C43_9041,
        0xFE51_63AB_DEBB_C561,
        0xB724_6E3A_424D_D2E0,
        0x0649_2EEA_09D1_921C,
        0xFE1D_EB1C_B129_A73E,
        0xE882_35F5_2EBB_4484,
        0xE99C_7026_B45F_7E41,
        0x3991_D639_8353_39F4,
        0x9C84_5F8B_BDF9_283B,
        0x1FF8_97FF_DE05_980F,
        0xEF2F_118B_5A0A_6D1F,
        0x6D36_7ECF_27CB_09B7,
        0x4F46_3F66_9E5F_EA2D,
        0x7527_BAC7_EBE5_F17B,
        0x3D07_39F7_8A52_92EA,
        0x6BFB_5FB1_1F8D_5D08,
        0x5603_3046_FC7B_6BAB,
        0xF0CF_BC20_9AF4_361D,
    ];
    const WORDS: usize = 4;
    if x <= std::f64::consts::FRAC_PI_4 {
        return (0, Pair::whole(x));
    }
    // x = whole · 2^exponent
    let bits = x.to_bits();
    let (whole, exponent) = (bits & ((1 << 52) - 1) | 1 << 52, (bits >> 52) as i32 - 1075);
    // Bits of 2/π before this one make whole turns of x. It is at least -54: before the first bit there are zeros.
    let first = exponent - 2;
    let word_at = |place: i32| if place < 0 { 0 } else { BITS.get(place as usize).copied().unwrap_or(0) };
    let window = |word: i32| {
        let (place, shift) = ((first + 64 * word).div_euclid(64), (first + 64 * word).rem_euclid(64));
        let two = u128::from(word_at(place)) << 64 | u128::from(word_at(place + 1));
        (two << shift >> 64) as u64
    };
    // The product modulo a whole turn; its two highest bits are the quarters. The lowest word comes first.
    let mut product = [0_u64; WORDS];
    let mut carry = 0;
    for (place, word) in product.iter_mut().enumerate() {
        let sum = u128::from(whole) * u128::from(window((WORDS - 1 - place) as i32)) + carry;
        (*word, carry) = (sum as u64, sum >> 64);
    }
    let [_, c, b, a] = product;
    let mut quarters = (a >> 62) as u32;
    // The fraction of a quarter: 190 bits, in the unit 2^-190.
    let mut fraction = [a & (u64::MAX >> 2), b, c];
    let is_above = fraction[0] >> 61 == 1;
    if is_above {
        quarters += 1;
        fraction = [!fraction[0] & (u64::MAX >> 2), !fraction[1], !fraction[2]];
    }
    let unit = libm::ldexp(1.0, -62);
    let [a, b, c] = fraction.map(|word| {
        // Both halves are exact.
        Pair::new((word >> 32) as f64 * 4_294_967_296.0, (word & 0xFFFF_FFFF) as f64)
    });
    let word = libm::ldexp(1.0, -64);
    let fraction = (a.normal() + (b.normal() + c.normal().scaled(word)).scaled(word)).scaled(unit);
    let rest = HALF_PI * fraction;
    (quarters % 4, if is_above { -rest } else { rest })
}
