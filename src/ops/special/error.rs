//! The error function, its complement, their inverses and the normal distribution. A&S chapters 7 and 26.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI, SQRT_2};

pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// `exp(x²) erfc(x)`.
pub fn erfcx(x: f64) -> f64 {
    if x < 10.0 {
        // The rounding error of the square would be magnified by the exponential, so it is carried along.
        let square = x * x;
        let lost = x.mul_add(x, -square);
        let scaled = square.exp() * erfc(x);
        return if scaled.is_finite() { scaled * (1.0 + lost) } else { scaled };
    }
    // A&S 7.1.23: an alternating series whose terms shrink until long after they no longer count.
    let step = -0.5 / (x * x);
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 0..20 {
        term *= f64::from(2 * n + 1) * step;
        sum += term;
    }
    sum / (x * PI.sqrt())
}

/// The number whose `erf` is `y`.
pub fn erfinv(y: f64) -> f64 {
    let size = y.abs();
    if y == 0.0 {
        return y;
    }
    if size.is_nan() || size > 1.0 {
        return f64::NAN;
    }
    if size == 1.0 {
        return f64::INFINITY.copysign(y);
    }
    // S. Winitzki's closed form is right to three digits; each of Halley's steps triples them.
    const A: f64 = 0.147;
    let log = (-size).ln_1p() + size.ln_1p();
    let middle = 2.0 / (PI * A) + log / 2.0;
    let mut x = ((middle * middle - log / A).sqrt() - middle).sqrt();
    for _ in 0..3 {
        let excess = if size < 0.5 { erf(x) - size } else { (1.0 - size) - erfc(x) };
        let newton = excess * PI.sqrt() / 2.0 * (x * x).exp();
        x -= newton / (1.0 + x * newton);
    }
    x.copysign(y)
}

/// The number below which a normal variable lies with probability `p`.
pub fn ndtri(p: f64) -> f64 {
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if (0.25..=0.75).contains(&p) {
        return SQRT_2 * erfinv(2.0 * p - 1.0);
    }
    let tail = p.min(1.0 - p);
    // A&S 26.2.23 is right to three digits; Halley's steps as in `erfinv`.
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515517 + t * (0.802853 + t * 0.010328);
    let below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    let mut x = t - above / below;
    for _ in 0..3 {
        let relative = erfc(x * FRAC_1_SQRT_2) / 2.0 / tail - 1.0;
        let newton = relative * tail * (2.0 * PI).sqrt() * (x * x / 2.0).exp();
        x += newton / (1.0 - x * newton / 2.0);
    }
    if p < 0.5 { -x } else { x }
}

/// The logarithm of the probability that a normal variable lies below `x`.
pub fn log_ndtr(x: f64) -> f64 {
    let t = x * FRAC_1_SQRT_2;
    if x < -1.0 { erfcx(-t).ln() - LN_2 - t * t } else { (-erfc(t) / 2.0).ln_1p() }
}
