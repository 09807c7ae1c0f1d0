//! Bessel functions of the orders 0 and 1, and Airy's function. A&S chapters 9 and 10.

use std::f64::consts::{FRAC_PI_4, PI};

pub fn j0(x: f64) -> f64 {
    libm::j0(x)
}

pub fn j1(x: f64) -> f64 {
    libm::j1(x)
}

pub fn y0(x: f64) -> f64 {
    if x == 0.0 { f64::NEG_INFINITY } else { libm::y0(x) }
}

pub fn y1(x: f64) -> f64 {
    if x == 0.0 { f64::NEG_INFINITY } else { libm::y1(x) }
}

/// Beyond this argument the asymptotic series of the modified functions are exact to double precision.
const FAR: f64 = 30.0;

pub fn i0(x: f64) -> f64 {
    if x.abs() <= FAR { near(0, x) } else { far(0.0, x) * x.abs().exp() }
}

/// `exp(-|x|) I0(x)`.
pub fn i0e(x: f64) -> f64 {
    if x.abs() <= FAR { near(0, x) * (-x.abs()).exp() } else { far(0.0, x) }
}

pub fn i1(x: f64) -> f64 {
    if x.abs() <= FAR { near(1, x) } else { far(1.0, x).copysign(x) * x.abs().exp() }
}

/// `exp(-|x|) I1(x)`.
pub fn i1e(x: f64) -> f64 {
    if x.abs() <= FAR { near(1, x) * (-x.abs()).exp() } else { far(1.0, x).copysign(x) }
}

/// A&S 9.6.10: all terms have one sign.
fn near(order: u32, x: f64) -> f64 {
    let square = x * x / 4.0;
    let mut term = if order == 0 { 1.0 } else { x / 2.0 };
    let mut sum = term;
    for k in 1..120 {
        term *= square / (f64::from(k) * f64::from(k + order));
        sum += term;
        if term.abs() <= f64::abs(sum) * f64::EPSILON * 0.1 {
            break;
        }
    }
    sum
}

/// A&S 9.7.1, without the exponential.
fn far(order: f64, x: f64) -> f64 {
    let x = x.abs();
    if x.is_infinite() || x.is_nan() {
        return if x.is_nan() { x } else { 0.0 };
    }
    let mu = 4.0 * order * order;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..30 {
        let odd = f64::from(2 * k - 1);
        term *= -(mu - odd * odd) / (f64::from(k) * 8.0 * x);
        sum += term;
    }
    sum / (2.0 * PI * x).sqrt()
}

/// `exp(x) K(x)`: the integral A&S 9.6.24 by the trapezoidal rule, which converges exponentially here.
fn scaled_k(order: f64, x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x.is_infinite() {
        return 0.0;
    }
    // The integrand is a bell that narrows as the argument grows.
    let step = 0.0625_f64.min(0.5 / x.sqrt());
    let mut sum = 0.5;
    for n in 1.. {
        let t = f64::from(n) * step;
        // cosh t - 1, without cancellation.
        let half = (t / 2.0).sinh();
        let term = (-x * 2.0 * half * half).exp() * (order * t).cosh();
        sum += term;
        if term < sum * 1e-18 || t > 800.0 {
            break;
        }
    }
    sum * step
}

pub fn modified_k0(x: f64) -> f64 {
    scaled_k(0.0, x) * (-x).exp()
}

pub fn modified_k1(x: f64) -> f64 {
    scaled_k(1.0, x) * (-x).exp()
}

pub fn scaled_k0(x: f64) -> f64 {
    scaled_k(0.0, x)
}

pub fn scaled_k1(x: f64) -> f64 {
    scaled_k(1.0, x)
}

/// `sin x / x`.
pub fn spherical_j0(x: f64) -> f64 {
    match x {
        x if x.is_infinite() => 0.0,
        0.0 => 1.0,
        x => x.sin() / x,
    }
}

/// Airy's function of the first kind.
pub fn airy_ai(x: f64) -> f64 {
    if x.is_infinite() || x.is_nan() {
        return f64::NAN;
    }
    let size = x.abs();
    let zeta = size * size.sqrt() * 2.0 / 3.0;
    if x > 1.0 {
        // A&S 10.4.14.
        return (x / 3.0).sqrt() / PI * scaled_k(1.0 / 3.0, zeta) * (-zeta).exp();
    }
    if x > -7.0 {
        return airy_series(x);
    }
    // A&S 10.4.60. The coefficients are those of 10.4.58.
    let (mut even, mut odd, mut term) = (0.0, 0.0, 1.0);
    for k in 0..24 {
        match k % 4 {
            0 => even += term,
            1 => odd += term,
            2 => even -= term,
            _ => odd -= term,
        }
        let n = f64::from(k + 1);
        let next = term * (6.0 * n - 5.0) * (6.0 * n - 1.0) / (72.0 * n * zeta);
        if next > term {
            break;
        }
        term = next;
    }
    let angle = zeta + FRAC_PI_4;
    (angle.sin() * even - angle.cos() * odd) / (PI.sqrt() * size.sqrt().sqrt())
}

/// A&S 10.4.2.
fn airy_series(x: f64) -> f64 {
    const AT_ZERO: f64 = 0.355_028_053_887_817_2;
    const SLOPE: f64 = 0.258_819_403_792_806_8;
    let cube = x * x * x;
    let (mut f, mut g) = (1.0, x);
    let (mut f_sum, mut g_sum) = (f, g);
    for k in 1..60 {
        let n = f64::from(3 * k);
        f *= cube / ((n - 1.0) * n);
        g *= cube / (n * (n + 1.0));
        f_sum += f;
        g_sum += g;
    }
    AT_ZERO * f_sum - SLOPE * g_sum
}
