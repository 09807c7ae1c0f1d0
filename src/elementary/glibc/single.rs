//! Functions of `f32`. glibc computes most of them in doubles, and so does this.

use super::double;
use super::log10;

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
            let less_one = libm::expm1f(size);
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
            let less_one = libm::expm1f(size);
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
            let less_one = libm::expm1f(-2.0 * size);
            -less_one / (less_one + 2.0)
        }
        _ if size < FAR => 1.0 - 2.0 / (libm::expm1f(2.0 * size) + 2.0),
        _ => 1.0,
    };
    value.copysign(x)
}
