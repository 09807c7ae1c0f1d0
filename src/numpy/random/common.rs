//! Distributions that `RandomState` and `Generator` draw alike, and the arithmetic they share.

use super::bits::BitGenerator;
use super::source::Source;
use std::f64::consts::PI;
use tensor::interrupt;

/// Like [`interrupt::check_at`], for loops that cannot fail: they stop, and their partial result is discarded.
pub(super) fn requested_at(step: usize) -> bool {
    step.is_multiple_of(interrupt::STRIDE) && interrupt::requested()
}

/// Converts to an integer like an x86 processor: NaN and numbers out of range become the smallest integer.
pub(super) fn to_long(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

/// A uniform integer in [0, `limit`], by masking and rejecting. Shuffles use it.
pub(super) fn interval(bits: &mut dyn BitGenerator, limit: u64) -> u64 {
    if limit == 0 {
        return 0;
    }
    let mask = mask_of(limit);
    loop {
        let word = if limit <= u64::from(u32::MAX) { u64::from(bits.next_u32()) } else { bits.next_u64() };
        if word & mask <= limit {
            return word & mask;
        }
    }
}

/// The smallest number of the form 2^k - 1 that is at least `limit`.
pub(super) fn mask_of(limit: u64) -> u64 {
    u64::MAX.checked_shr(limit.leading_zeros()).unwrap_or(0)
}

/// `random()`, `random_sample()`, `rand()`.
pub(super) fn random(source: &mut Source<'_>) -> f64 {
    source.uniform()
}

/// `uniform(low, high)`.
pub(super) fn uniform(source: &mut Source<'_>, low: f64, high: f64) -> f64 {
    low + (high - low) * source.uniform()
}

/// `laplace(loc, scale)`.
pub(super) fn laplace(source: &mut Source<'_>, loc: f64, scale: f64) -> f64 {
    loop {
        let u = source.uniform();
        if u >= 0.5 {
            return loc - scale * (2.0 - u - u).ln();
        }
        if u > 0.0 {
            return loc + scale * (u + u).ln();
        }
    }
}

/// `gumbel(loc, scale)`.
pub(super) fn gumbel(source: &mut Source<'_>, loc: f64, scale: f64) -> f64 {
    loop {
        let u = 1.0 - source.uniform();
        if u < 1.0 {
            return loc - scale * (-u.ln()).ln();
        }
    }
}

/// `logistic(loc, scale)`.
pub(super) fn logistic(source: &mut Source<'_>, loc: f64, scale: f64) -> f64 {
    loop {
        let u = source.uniform();
        if u > 0.0 {
            return loc + scale * (u / (1.0 - u)).ln();
        }
    }
}

/// `triangular(left, mode, right)`.
pub(super) fn triangular(source: &mut Source<'_>, left: f64, mode: f64, right: f64) -> f64 {
    let base = right - left;
    let left_base = mode - left;
    let ratio = left_base / base;
    let left_product = left_base * base;
    let right_product = (right - mode) * base;
    let u = source.uniform();
    if u <= ratio { left + (u * left_product).sqrt() } else { right - ((1.0 - u) * right_product).sqrt() }
}

/// `poisson(lam)`.
pub(super) fn poisson(source: &mut Source<'_>, lam: f64) -> i64 {
    if lam >= 10.0 {
        return poisson_rejecting(source, lam);
    }
    if lam == 0.0 {
        return 0;
    }
    let end = (-lam).exp();
    let mut product = 1.0;
    let mut events = 0;
    loop {
        product *= source.uniform();
        // The negation also ends the loop for NaN.
        if !(product > end) {
            return events;
        }
        events += 1;
    }
}

/// Hörmann's transformed rejection (PTRS, 1993), for means of at least 10.
fn poisson_rejecting(source: &mut Source<'_>, lam: f64) -> i64 {
    let root = lam.sqrt();
    let log_lam = lam.ln();
    let b = 0.931 + 2.53 * root;
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let sure = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = source.uniform() - 0.5;
        let v = source.uniform();
        let distance = 0.5 - u.abs();
        let k = to_long(((2.0 * a / distance + b) * u + lam + 0.43).floor());
        if distance >= 0.07 && v <= sure {
            return k;
        }
        if k < 0 || (distance < 0.013 && v > distance) {
            continue;
        }
        let bound = -lam + k as f64 * log_lam - log_gamma(k as f64 + 1.0);
        if v.ln() + inverse_alpha.ln() - (a / (distance * distance) + b).ln() <= bound {
            return k;
        }
    }
}

/// The logarithm of the gamma function for positive `x`: a Stirling series at an argument of at least 7
/// (Zhang and Jin, "Computation of Special Functions", 1996). The C library's `lgamma` rounds differently.
pub(super) fn log_gamma(x: f64) -> f64 {
    const SERIES: [f64; 10] = [
        8.333333333333333e-02,
        -2.777777777777778e-03,
        7.936507936507937e-04,
        -5.952380952380952e-04,
        8.417508417508418e-04,
        -1.917526917526918e-03,
        6.41025641025641e-03,
        -2.955065359477124e-02,
        1.796443723688307e-01,
        -1.39243221690590e+00,
    ];
    const LOG_TAU: f64 = 1.8378770664093453;
    if x == 1.0 || x == 2.0 {
        return 0.0;
    }
    let steps = if x < 7.0 { to_long(7.0 - x) } else { 0 };
    let mut at = x + steps as f64;
    let square = (1.0 / at) * (1.0 / at);
    let sum = SERIES[..9].iter().rev().fold(SERIES[9], |sum, term| sum * square + term);
    let mut result = sum / at + 0.5 * LOG_TAU + (at - 0.5) * at.ln() - at;
    if x < 7.0 {
        for _ in 0..steps {
            result -= (at - 1.0).ln();
            at -= 1.0;
        }
    }
    result
}

/// Geometric numbers by adding up probabilities, for `p` of at least a third.
pub(super) fn geometric_searching(source: &mut Source<'_>, p: f64) -> i64 {
    let rest = 1.0 - p;
    let (mut sum, mut product) = (p, p);
    let mut trials = 1;
    let u = source.uniform();
    while u > sum {
        product *= rest;
        sum += product;
        trials += 1;
    }
    trials
}

/// `vonmises(mu, kappa)`, whose legacy version lacks the normal approximation for a `kappa` above a million.
pub(super) fn vonmises(source: &mut Source<'_>, mu: f64, kappa: f64, wide: Option<fn(&mut Source<'_>) -> f64>) -> f64 {
    if kappa.is_nan() {
        return f64::NAN;
    }
    if kappa < 1e-8 {
        return PI * (2.0 * source.uniform() - 1.0);
    }
    let s = if kappa < 1e-5 {
        1.0 / kappa + kappa
    } else if let Some(normal) = wide.filter(|_| kappa > 1e6) {
        let angle = mu + (1.0 / kappa).sqrt() * normal(source);
        let angle = if angle < -PI { angle + 2.0 * PI } else { angle };
        return if angle > PI { angle - 2.0 * PI } else { angle };
    } else {
        let r = 1.0 + (1.0 + 4.0 * kappa * kappa).sqrt();
        let rho = (r - (2.0 * r).sqrt()) / (2.0 * kappa);
        (1.0 + rho * rho) / (2.0 * rho)
    };
    let mut step = 0;
    let w = loop {
        // A `kappa` whose square overflows never ends the legacy loop.
        step += 1;
        if requested_at(step) {
            return f64::NAN;
        }
        let z = (PI * source.uniform()).cos();
        let w = (1.0 + s * z) / (s + z);
        let y = kappa * (s - w);
        let v = source.uniform();
        if y * (2.0 - y) - v >= 0.0 || (y / v).ln() + 1.0 - y >= 0.0 {
            break w;
        }
    };
    let turn = w.acos();
    let angle = if source.uniform() < 0.5 { -turn } else { turn } + mu;
    let wrapped = (angle.abs() + PI) % (2.0 * PI) - PI;
    if angle < 0.0 { -wrapped } else { wrapped }
}

/// `logseries(p)`. `log_rest` is the logarithm of `1 - p`, and `power` computes `1 - exp(x)`: the two generators differ
/// in how they round both.
pub(super) fn logseries(source: &mut Source<'_>, p: f64, log_rest: f64, power: fn(f64) -> f64) -> i64 {
    loop {
        let v = source.uniform();
        if v >= p {
            return 1;
        }
        let q = power(log_rest * source.uniform());
        if v <= q * q {
            let result = to_long((1.0 + v.ln() / q.ln()).floor());
            if result >= 1 && v != 0.0 {
                return result;
            }
            continue;
        }
        return if v >= q { 1 } else { 2 };
    }
}

/// Zipf numbers by rejection, from uniform numbers in (`smallest`, 1].
pub(super) fn zipf(source: &mut Source<'_>, a: f64, stretch: impl Fn(f64) -> f64) -> i64 {
    let exponent = a - 1.0;
    let b = 2_f64.powf(exponent);
    // With an exponent close to one, nearly every number is rejected.
    for step in 1.. {
        if requested_at(step) {
            break;
        }
        let u = stretch(source.uniform());
        let v = source.uniform();
        let x = u.powf(-1.0 / exponent).floor();
        // Numbers beyond the largest integer are rejected like any other.
        if x > i64::MAX as f64 || x < 1.0 {
            continue;
        }
        let t = (1.0 + 1.0 / x).powf(exponent);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b {
            return to_long(x);
        }
    }
    0
}

/// Gamma numbers of scale one: Ahrens and Dieter's rejection below shape 1, Marsaglia and Tsang's above.
pub(super) fn standard_gamma(
    source: &mut Source<'_>,
    shape: f64,
    exponential: fn(&mut Source<'_>) -> f64,
    normal: fn(&mut Source<'_>) -> f64,
) -> f64 {
    if shape == 1.0 {
        return exponential(source);
    }
    if shape == 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        loop {
            let u = source.uniform();
            let v = exponential(source);
            if u <= 1.0 - shape {
                let x = u.powf(1.0 / shape);
                if x <= v {
                    return x;
                }
            } else {
                let y = -((1.0 - u) / shape).ln();
                let x = (1.0 - shape + shape * y).powf(1.0 / shape);
                if x <= v + y {
                    return x;
                }
            }
        }
    }
    let b = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * b).sqrt();
    loop {
        let (x, v) = loop {
            let x = normal(source);
            let v = 1.0 + c * x;
            // The negation also accepts NaN, which a shape of NaN brings.
            if !(v <= 0.0) {
                break (x, v * v * v);
            }
        };
        let u = source.uniform();
        if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + b * (1.0 - v + v.ln()) {
            return b * v;
        }
    }
}

/// Fills `out` with gamma numbers divided by their sum.
pub(super) fn normalised_gammas(
    source: &mut Source<'_>,
    alpha: &[f64],
    out: &mut [f64],
    gamma: fn(&mut Source<'_>, f64) -> f64,
) {
    let mut sum = 0.0;
    for (number, shape) in out.iter_mut().zip(alpha) {
        *number = gamma(source, *shape);
        sum += *number;
    }
    // Multiplying by the reciprocal rounds differently from dividing.
    let inverse = 1.0 / sum;
    for number in out {
        *number *= inverse;
    }
}
