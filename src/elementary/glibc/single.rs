//! Functions of `f32`. glibc computes most of them in doubles, and so does this.

use super::double;
use super::log10;
// glibc has libm's formulas of these.
pub use libm::{cbrtf as cbrt, exp2f as exp2, expm1f as expm1, fmaf as fma, log1pf as log1p};

macro_rules! by_double {
    ($($name:ident($($x:ident),+);)+) => {$(
        #[doc = concat!("[`double::", stringify!($name), "`], rounded.")]
        pub fn $name($($x: f32),+) -> f32 {
            double::$name($(f64::from($x)),+) as f32
        }
    )+};
}

by_double! {
    tan(x); asin(x); acos(x);
    exp(x); log(x); log2(x);
    pow(x, y);
}

/// The series of the cosine without its first term, and of the sine: C. M. Payne and Arm's optimised routines, which glibc
/// has since 2.28.
const COSINE: [f64; 4] = [-0.49999999725108224, 0.041666623324344516, -0.001388676379437604, 2.4390450703564542e-05];
const SINE: [f64; 3] = [-0.16666654943701084, 0.008332178146138854, -0.00019517298981385725];
/// From here on, whole turns need more digits than a double has.
const TURNS: f32 = 120.0;

/// Returns the sine of an angle, `quarters` of a turn further.
fn turned(x: f64, quarters: i32) -> f64 {
    let count = (x * std::f64::consts::FRAC_2_PI).round_ties_even();
    let rest = (-count).mul_add(std::f64::consts::FRAC_PI_2, x);
    let quarters = count as i32 + quarters;
    let square = rest * rest;
    let value = if quarters & 1 == 0 {
        let cube = rest * square;
        (cube * square).mul_add(square.mul_add(SINE[2], SINE[1]), cube.mul_add(SINE[0], rest))
    } else {
        let fourth = square * square;
        let low = fourth.mul_add(COSINE[1], square.mul_add(COSINE[0], 1.0));
        (fourth * square).mul_add(square.mul_add(COSINE[3], COSINE[2]), low)
    };
    if quarters & 2 == 0 { value } else { -value }
}

pub fn sin(x: f32) -> f32 {
    /// Below this magnitude the sine is the number.
    const SMALL: f32 = 1.0 / 4096.0;
    match x.abs() {
        size if size < SMALL => x,
        size if size < TURNS => turned(f64::from(x), 0) as f32,
        _ => double::sin(f64::from(x)) as f32,
    }
}

pub fn cos(x: f32) -> f32 {
    if x.abs() < TURNS { turned(f64::from(x), 1) as f32 } else { double::cos(f64::from(x)) as f32 }
}

/// The arctangents of ½, 1, 1½ and infinity, each in two parts, and the series of the rest.
const ARCTANGENTS: [[f32; 2]; 4] = [
    [0.463_647_6, 5.012_158e-9],
    [f32::from_bits(0x3F49_0FDA), 3.774_894_7e-8],
    [0.982_793_7, 3.447_321_7e-8],
    [f32::from_bits(0x3FC9_0FDA), 7.549_789e-8],
];
/// Its even and odd terms, the highest power first.
const EVEN: [f32; 6] = [0.016_285_82, 0.049_768_78, 0.066_610_73, 0.090_908_87, 0.142_857_15, 0.333_333_34];
const ODD: [f32; 5] = [-0.036_531_57, -0.058_335_703, -0.076_918_76, -0.111_111_104, -0.2];

pub fn atan(x: f32) -> f32 {
    let size = x.abs();
    let (near, rest) = match size {
        size if size.is_nan() || size < 1.862_645_1e-9 => return x,
        size if size < 0.4375 => (None, x),
        size if size < 0.6875 => (Some(0), (2.0 * size - 1.0) / (2.0 + size)),
        size if size < 1.1875 => (Some(1), (size - 1.0) / (size + 1.0)),
        size if size < 2.4375 => (Some(2), (size - 1.5) / (1.0 + 1.5 * size)),
        size if size < 33_554_432.0 => (Some(3), -1.0 / size),
        _ => return (ARCTANGENTS[3][0] + ARCTANGENTS[3][1]).copysign(x),
    };
    let square = rest * rest;
    let fourth = square * square;
    let polynomial = |terms: &[f32]| terms.iter().fold(0.0, |sum, term| term + fourth * sum);
    let even = square * polynomial(&EVEN);
    let odd = fourth * polynomial(&ODD);
    match near {
        None => rest - rest * (even + odd),
        Some(near) => {
            let [high, low] = ARCTANGENTS[near];
            (high - ((rest * (even + odd) - low) - rest)).copysign(x)
        }
    }
}

pub fn atan2(y: f32, x: f32) -> f32 {
    /// π, less the `f32` next to it.
    const PI_REST: f32 = -8.742_278e-8;
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    if x.is_nan() || y.is_nan() {
        return x + y;
    }
    let exponent = |x: f32| i32::try_from(x.abs().to_bits() >> 23).unwrap_or(0);
    let angle = match () {
        () if x == 1.0 => return atan(y),
        () if y == 0.0 => return if x.is_sign_negative() { PI.copysign(y) } else { y },
        () if x == 0.0 => return FRAC_PI_2.copysign(y),
        () if x.is_infinite() && y.is_infinite() => {
            return if x > 0.0 { FRAC_PI_4 } else { 3.0 * FRAC_PI_4 }.copysign(y);
        }
        () if x.is_infinite() => return if x > 0.0 { 0.0 } else { PI }.copysign(y),
        () if y.is_infinite() => return FRAC_PI_2.copysign(y),
        () if exponent(y) - exponent(x) > 60 => FRAC_PI_2 + 0.5 * PI_REST,
        () if x < 0.0 && exponent(y) - exponent(x) < -60 => 0.0,
        () => atan((y / x).abs()),
    };
    if x > 0.0 { angle.copysign(y) } else { (PI - (angle - PI_REST)).copysign(y) }
}

/// √(x² + y²)
pub fn hypot(x: f32, y: f32) -> f32 {
    if x.is_infinite() || y.is_infinite() {
        return f32::INFINITY;
    }
    // The squares are exact.
    let (x, y) = (f64::from(x), f64::from(y));
    (x * x + y * y).sqrt() as f32
}

log10!(f32, libm::log10f, libm::frexpf, std::f32::consts::LOG10_E, [0x3E9A_2080, 0x3554_27DB]);

/// Below this magnitude the hyperbolic sine is the number.
const SMALL: f32 = f32::from_bits(0x3180_0000);
/// Beyond this magnitude e^-x does not count beside e^x.
const FAR: f32 = 22.0;

pub fn sinh(x: f32) -> f32 {
    let size = x.abs();
    let value = match size {
        _ if size < SMALL || !size.is_finite() => return x,
        _ if size < FAR => {
            let less_one = expm1(size);
            let quotient = |above: f32| above / (less_one + 1.0);
            0.5 * if size < 1.0 {
                2.0 * less_one - quotient(less_one * less_one)
            } else {
                less_one + quotient(less_one)
            }
        }
        _ => half_power(size),
    };
    value.copysign(x)
}

pub fn cosh(x: f32) -> f32 {
    let size = x.abs();
    match size {
        _ if size < 0.5 * std::f32::consts::LN_2 => {
            let less_one = expm1(size);
            let power = 1.0 + less_one;
            1.0 + less_one * less_one / (power + power)
        }
        _ if size < FAR => {
            let power = exp(size);
            0.5 * power + 0.5 / power
        }
        _ => half_power(size),
    }
}

/// Returns e^x / 2, where e^x alone may overflow.
fn half_power(x: f32) -> f32 {
    let power = exp(x);
    if power.is_finite() {
        return 0.5 * power;
    }
    let root = exp(0.5 * x);
    (0.5 * root) * root
}

pub fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let value = match size {
        _ if size.is_nan() => return x,
        _ if size < 1.0 => {
            let less_one = expm1(-2.0 * size);
            -less_one / (less_one + 2.0)
        }
        _ if size < FAR => 1.0 - 2.0 / (expm1(2.0 * size) + 2.0),
        _ => 1.0,
    };
    value.copysign(x)
}
