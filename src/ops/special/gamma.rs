//! The gamma function's logarithm, its derivatives and its incomplete integrals, and Hurwitz's zeta function.
//! A&S chapters 6 and 23.

use super::{erfc, stopped};
use crate::tensor::interrupt::watched;
use std::f64::consts::{PI, SQRT_2};

/// B(2k) for k from 1 on. A&S table 23.2.
const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174611.0 / 330.0,
];

pub fn lgamma(x: f64) -> f64 {
    if x.is_infinite() { f64::INFINITY } else { libm::lgamma(x) }
}

/// The logarithm of the gamma function of `p` dimensions.
pub fn multigamma(x: f64, p: usize) -> f64 {
    if stopped(p) {
        return f64::NAN;
    }
    let constant = p as f64 * (p as f64 - 1.0) / 4.0 * PI.ln();
    watched(0..p).map(|k| lgamma(x - k as f64 / 2.0)).sum::<f64>() + constant
}

/// The logarithmic derivative of the gamma function.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        // A&S 6.3.7; the fraction alone decides the tangent.
        return if x == x.trunc() { f64::NAN } else { digamma(1.0 - x) - PI / (PI * x.fract()).tan() };
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 12.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    if x.is_infinite() {
        return x;
    }
    // A&S 6.3.18.
    let square = x * x;
    let (mut power, mut series) = (1.0, 0.0);
    for (k, b) in (1..).zip(&BERNOULLI[..8]) {
        power *= square;
        series += b / (f64::from(2 * k) * power);
    }
    sum + x.ln() - 0.5 / x - series
}

/// The `n`-th derivative of [`digamma`].
pub fn polygamma(n: i64, x: f64) -> f64 {
    match n {
        0 => digamma(x),
        1 => trigamma(x),
        _ => {
            // PyTorch's formula has 32 bits for the order.
            let n = n as i32;
            let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
            let order = f64::from(n) + 1.0;
            sign * lgamma(order).exp() * zeta(order, x)
        }
    }
}

fn trigamma(x: f64) -> f64 {
    if x < 0.5 {
        // A&S 6.4.7.
        let sine = (PI * x).sin();
        return PI * PI / (sine * sine) - trigamma(1.0 - x);
    }
    zeta(2.0, x)
}

/// `Σ (q + k)^-s` over all `k` from 0 on, by Euler's and Maclaurin's formula (A&S 23.1.30).
pub fn zeta(s: f64, q: f64) -> f64 {
    if s == 1.0 {
        return f64::INFINITY;
    }
    if s.is_nan() || q.is_nan() || s < 1.0 {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return f64::INFINITY;
        }
        // Powers of negative numbers are real for whole exponents only.
        if s != s.floor() {
            return f64::NAN;
        }
    }
    if q.is_infinite() {
        return 0.0;
    }
    let (mut sum, mut at) = (0.0, q);
    // Ten terms, and more until the place is beyond 10.
    let count = (10.0 - q).floor().max(9.0) as usize + 1;
    if stopped(count) {
        return f64::NAN;
    }
    for _ in watched(0..count) {
        let term = at.powf(-s);
        sum += term;
        at += 1.0;
        if term.abs() < f64::EPSILON * 1e-3 * f64::abs(sum) {
            return sum;
        }
    }
    let power = at.powf(-s);
    sum += at * power / (s - 1.0) + 0.5 * power;
    let (mut factor, mut scale) = (s, power / at);
    let mut factorial = 2.0;
    for (k, b) in (1..).zip(&BERNOULLI) {
        let term = b * factor * scale / factorial;
        sum += term;
        if term.abs() < f64::EPSILON * 1e-2 * f64::abs(sum) {
            break;
        }
        let n = f64::from(2 * k);
        factor *= (s + n - 1.0) * (s + n);
        scale /= at * at;
        factorial *= (n + 1.0) * (n + 2.0);
    }
    sum
}

/// The regularised lower incomplete gamma function `P(a, x)`.
pub fn lower_gamma(a: f64, x: f64) -> f64 {
    edge(a, x).unwrap_or_else(|| match uniform(a, x) {
        Some([lower, _]) => lower,
        None if x < a + 1.0 => series(a, x),
        None => 1.0 - fraction(a, x),
    })
}

/// The regularised upper incomplete gamma function `Q(a, x)`.
pub fn upper_gamma(a: f64, x: f64) -> f64 {
    edge(a, x).map_or_else(
        || match uniform(a, x) {
            Some([_, upper]) => upper,
            None if x < a + 1.0 => 1.0 - series(a, x),
            None => fraction(a, x),
        },
        |lower| 1.0 - lower,
    )
}

/// `P(a, x)` where there is nothing to compute.
fn edge(a: f64, x: f64) -> Option<f64> {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 {
        return Some(f64::NAN);
    }
    if a == 0.0 {
        return Some(if x > 0.0 { 1.0 } else { f64::NAN });
    }
    if x == 0.0 {
        return Some(0.0);
    }
    if a.is_infinite() {
        return Some(if x.is_infinite() { f64::NAN } else { 0.0 });
    }
    x.is_infinite().then_some(1.0)
}

/// `P(a, x)` and `Q(a, x)` where `a` is so large that series need many terms: Temme's uniform expansion (DLMF 8.12). What
/// is far from `a` differs from 0 and 1 by less than a double shows.
fn uniform(a: f64, x: f64) -> Option<[f64; 2]> {
    const LARGE: f64 = 1e6;
    /// The first coefficients of `1 / (λ - 1) - 1 / η` in powers of `η`.
    const NEAR: [f64; 5] = [-1.0 / 3.0, 1.0 / 12.0, -2.0 / 135.0, 1.0 / 864.0, 1.0 / 2835.0];
    if a < LARGE {
        return None;
    }
    let mu = (x - a) / a;
    if mu.abs() > 0.1 {
        return Some(if mu < 0.0 { [0.0, 1.0] } else { [1.0, 0.0] });
    }
    // μ - ln(1 + μ), without cancellation.
    let (mut power, mut half_square) = (mu, 0.0);
    for k in 2..20 {
        power *= -mu;
        half_square -= power / f64::from(k);
    }
    let eta = (2.0 * half_square).max(0.0).sqrt().copysign(mu);
    let series = NEAR.iter().rev().fold(0.0, |sum, c| sum * eta + c) - 1.0 / (540.0 * a);
    let rest = (-a * half_square).exp() / (2.0 * PI * a).sqrt() * series;
    let bell = |eta: f64| 0.5 * erfc(eta * a.sqrt() / SQRT_2);
    Some([bell(-eta) - rest, bell(eta) + rest])
}

/// `x^a e^-x / Γ(a)`.
fn density(a: f64, x: f64) -> f64 {
    (a * x.ln() - x - lgamma(a)).exp()
}

/// A&S 6.5.29, for `P` where `x` is not far above `a`.
fn series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut n) = (1.0 / a, 1.0 / a, a);
    while term > sum * f64::EPSILON * 0.1 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    (sum * density(a, x)).min(1.0)
}

/// A&S 6.5.31, for `Q` where `x` is above `a`, evaluated forwards by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / away(b));
    let mut result = d;
    for n in 1..100_000 {
        let n = f64::from(n);
        let numerator = -n * (n - a);
        b += 2.0;
        d = 1.0 / away(numerator * d + b);
        c = away(b + numerator / c);
        let factor = d * c;
        result *= factor;
        if (factor - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    result * density(a, x)
}
