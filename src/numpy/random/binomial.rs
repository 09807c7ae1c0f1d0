//! Binomial numbers. Both generators use the same algorithms, chosen by the smaller expected count: inversion up to
//! 30, above it BTPE (Kachitvichyanukul and Schmeiser, "Binomial Random Variate Generation", 1988).

use super::common::to_long;
use super::source::{Binomial, Source};

/// `RandomState.binomial(n, p)`.
pub(super) fn legacy_binomial(source: &mut Source<'_>, n: i64, p: f64) -> i64 {
    by_smaller_chance(source, n, p, |n, p| (n as f64 * (1.0 - p).ln()).exp())
}

/// `Generator.binomial(n, p)`, and the draws of both `multinomial`s. The power of `1 - p` is more precise than the
/// legacy one, and trivial parameters consume no bits.
pub(super) fn binomial(source: &mut Source<'_>, n: i64, p: f64) -> i64 {
    if n == 0 || p == 0.0 {
        return 0;
    }
    by_smaller_chance(source, n, p, |n, p| (n as f64 * (-p).ln_1p()).exp())
}

fn by_smaller_chance(source: &mut Source<'_>, n: i64, p: f64, power: fn(i64, f64) -> f64) -> i64 {
    let draw = |source: &mut Source<'_>, chance: f64| {
        if chance * n as f64 <= 30.0 { inversion(source, n, chance, power) } else { btpe(source, n, chance) }
    };
    if p <= 0.5 { draw(source, p) } else { n.wrapping_sub(draw(source, 1.0 - p)) }
}

/// Returns the cached setup, or the one that `make` computes.
fn setup(source: &mut Source<'_>, n: i64, p: f64, make: impl FnOnce(i64, f64) -> Binomial) -> Binomial {
    match &source.cache.binomial {
        Some(known) if known.count == n && known.chance == p => known.clone(),
        _ => {
            // The fields that an algorithm does not use keep no meaning, so a fresh setup may drop them.
            let fresh = make(n, p);
            source.cache.binomial = Some(fresh.clone());
            fresh
        }
    }
}

/// Adds up probabilities until they exceed a uniform number.
fn inversion(source: &mut Source<'_>, n: i64, p: f64, power: fn(i64, f64) -> f64) -> i64 {
    let known = setup(source, n, p, |n, p| {
        let rest = 1.0 - p;
        let mean = n as f64 * p;
        let largest = mean + 10.0 * (mean * rest + 1.0).sqrt();
        let mode = to_long(if (n as f64) < largest { n as f64 } else { largest });
        let power = power(n, p);
        Binomial { count: n, chance: p, mode, power, other_chance: rest, height: mean, ..Binomial::default() }
    });
    let mut successes = 0_i64;
    let mut probability = known.power;
    let mut u = source.uniform();
    while u > probability {
        successes += 1;
        if successes > known.mode {
            successes = 0;
            probability = known.power;
            u = source.uniform();
        } else {
            u -= probability;
            let left = n.wrapping_sub(successes).wrapping_add(1) as f64;
            probability = (left * p * probability) / (successes as f64 * known.other_chance);
        }
    }
    successes
}

fn btpe_setup(n: i64, p: f64) -> Binomial {
    let trials = n as f64;
    let power = if p < 1.0 - p { p } else { 1.0 - p };
    let rest = 1.0 - power;
    let peak = trials * power + power;
    let mode = to_long(peak.floor());
    let half_width = (2.195 * (trials * power * rest).sqrt() - 4.6 * rest).floor() + 0.5;
    let centre = mode as f64 + 0.5;
    let (left, right) = (centre - half_width, centre + half_width);
    let height = 0.134 + 20.5 / (15.3 + mode as f64);
    let a = (peak - left) / (peak - left * power);
    let left_decay = a * (1.0 + a / 2.0);
    let a = (right - peak) / (right * rest);
    let right_decay = a * (1.0 + a / 2.0);
    let sides = half_width * (1.0 + 2.0 * height);
    let left_tail = sides + height / left_decay;
    let areas = [half_width, sides, left_tail, left_tail + height / right_decay];
    Binomial {
        count: n,
        chance: p,
        mode,
        power,
        other_chance: rest,
        peak,
        centre,
        left,
        right,
        height,
        left_decay,
        right_decay,
        areas,
    }
}

/// Rejection from a triangle, two parallelograms and two exponential tails. `p` is at most one half.
fn btpe(source: &mut Source<'_>, n: i64, p: f64) -> i64 {
    let known = setup(source, n, p, btpe_setup);
    let [triangle, sides, left_tail, all] = known.areas;
    let successes = loop {
        let u = source.uniform() * all;
        let v = source.uniform();
        if u <= triangle {
            break to_long((known.centre - triangle * v + u).floor());
        }
        let (y, v) = if u <= sides {
            let x = known.left + (u - triangle) / known.height;
            let v = v * known.height + 1.0 - (known.mode as f64 - x + 0.5).abs() / triangle;
            if v > 1.0 {
                continue;
            }
            (to_long(x.floor()), v)
        } else if u <= left_tail {
            let y = to_long((known.left + v.ln() / known.left_decay).floor());
            if y < 0 || v == 0.0 {
                continue;
            }
            (y, v * (u - sides) * known.left_decay)
        } else {
            let y = to_long((known.right - v.ln() / known.right_decay).floor());
            if y > n || v == 0.0 {
                continue;
            }
            (y, v * (u - left_tail) * known.right_decay)
        };
        if below_density(&known, n, y, v) {
            break y;
        }
    };
    if p > 0.5 { n.wrapping_sub(successes) } else { successes }
}

/// Whether `v` lies below the density at `y`, relative to the density at the mode.
fn below_density(known: &Binomial, n: i64, y: i64, v: f64) -> bool {
    let (r, q, m) = (known.power, known.other_chance, known.mode);
    let variance = n as f64 * r * q;
    let k = y.wrapping_sub(m).wrapping_abs();
    if k <= 20 || k as f64 >= variance / 2.0 - 1.0 {
        let s = r / q;
        let a = s * n.wrapping_add(1) as f64;
        let factor = |i: i64| a / i as f64 - s;
        // Dividing factor by factor rounds differently from dividing by their product.
        let ratio = if m < y {
            (m + 1..=y).fold(1.0, |ratio, i| ratio * factor(i))
        } else {
            (y + 1..=m).fold(1.0, |ratio, i| ratio / factor(i))
        };
        return !(v > ratio);
    }
    let steps = k as f64;
    let rho = (steps / variance) * ((steps * (steps / 3.0 + 0.625) + 0.16666666666666666) / variance + 0.5);
    let t = k.wrapping_neg().wrapping_mul(k) as f64 / (2.0 * variance);
    let log_v = v.ln();
    if log_v < t - rho {
        return true;
    }
    if log_v > t + rho {
        return false;
    }
    let x1 = y as f64 + 1.0;
    let f1 = m as f64 + 1.0;
    let z = n as f64 + 1.0 - m as f64;
    let w = n as f64 - y as f64 + 1.0;
    // The corrections of Stirling's formula.
    let correction = |x: f64| {
        let square = x * x;
        (13680. - (462. - (132. - (99. - 140. / square) / square) / square) / square) / x / 166320.
    };
    let bound = known.centre * (f1 / x1).ln()
        + (n.wrapping_sub(m) as f64 + 0.5) * (z / w).ln()
        + y.wrapping_sub(m) as f64 * (w * r / (x1 * q)).ln()
        + correction(f1)
        + correction(z)
        + correction(x1)
        + correction(w);
    !(log_v > bound)
}

/// Fills one multinomial draw: how many of `n` trials fall on each chance. Serves both generators.
pub(super) fn multinomial(source: &mut Source<'_>, n: i64, chances: &[f64], counts: &mut [i64]) {
    counts.fill(0);
    let mut remaining = 1.0;
    let mut left = n;
    let last = counts.len().saturating_sub(1);
    for (count, chance) in counts.iter_mut().zip(chances).take(last) {
        *count = binomial(source, left, chance / remaining);
        left = left.wrapping_sub(*count);
        if left <= 0 {
            break;
        }
        remaining -= chance;
    }
    if let Some(count) = counts.last_mut().filter(|_| left > 0) {
        *count = left;
    }
}
