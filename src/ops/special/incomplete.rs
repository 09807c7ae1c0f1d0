//! The regularised incomplete gamma functions by SciPy's methods: step by step in the type of the arguments, as PyTorch
//! computes them.

use super::erfc;
use super::incomplete_coefficients::{LANCZOS, LANCZOS_BELOW, UNIFORM};
use crate::ops::number::{Real, is_single};
use std::f64::consts::{E, PI};

/// Terms of a series or a fraction at most.
const TERMS: i32 = 2000;

fn number<T: Real>(value: f64) -> T {
    T::from_f64(value)
}

/// The logarithm of the gamma function as the C library has it for the type.
fn lgamma<T: Real>(x: T) -> T {
    if is_single::<T>() { number(f64::from(libm::lgammaf(x.as_f64() as f32))) } else { x.through(libm::lgamma) }
}

/// Half of the distance from 1 to the next number.
#[inline(always)]
fn rounding<T: Real>() -> T {
    number(if is_single::<T>() { f64::from(f32::EPSILON) / 2.0 } else { f64::EPSILON / 2.0 })
}

/// The regularised lower incomplete gamma function `P(a, x)`.
#[inline(always)]
pub fn lower_gamma<T: Real>(a: T, x: T) -> T {
    regularised(a, x, true)
}

/// The regularised upper incomplete gamma function `Q(a, x)`.
#[inline(always)]
pub fn upper_gamma<T: Real>(a: T, x: T) -> T {
    regularised(a, x, false)
}

#[inline(always)]
fn regularised<T: Real>(a: T, x: T, lower: bool) -> T {
    let complement = |value: T| T::one() - value;
    if let Some(value) = edge(a, x) {
        return if lower { value } else { complement(value) };
    }
    if near(a, x) {
        return uniform(a, x, lower);
    }
    let small = lower && !(x > T::one() && x > a);
    // For Q, below the series of P loses nothing, or the other one does.
    let by_lower = small
        || match x {
            _ if x > number(1.1) => x < a,
            _ if x <= number(0.5) => number::<T>(-0.4) / x.ln() < a,
            _ => x * number(1.1) < a,
        };
    let upper = match x {
        _ if by_lower => {
            let value = series(a, x);
            if small {
                return value;
            }
            complement(value)
        }
        _ if x > number(1.1) => fraction(a, x),
        _ => upper_series(a, x),
    };
    if lower { complement(upper) } else { upper }
}

/// `P(a, x)` where there is nothing to compute.
#[inline(always)]
fn edge<T: Real>(a: T, x: T) -> Option<T> {
    let (zero, one) = (T::zero(), T::one());
    if a < zero || x < zero {
        return Some(T::nan());
    }
    if a == zero {
        return Some(if x > zero { one } else { T::nan() });
    }
    if x == zero {
        return Some(zero);
    }
    if a.is_infinite() {
        return Some(if x.is_infinite() { T::nan() } else { zero });
    }
    x.is_infinite().then_some(one)
}

/// Returns whether `a` is large and `x` so near to it that the uniform expansion converges.
#[inline(always)]
fn near<T: Real>(a: T, x: T) -> bool {
    let relative = (x - a).abs() / a;
    let large: T = number(200.0);
    a > number(20.0) && a < large && relative < number(0.3) || a > large && relative < number::<T>(4.5) / a.sqrt()
}

/// `x^a e^-x / Γ(a)`.
#[inline(always)]
fn density<T: Real>(a: T, x: T) -> T {
    /// Lanczos' parameter.
    const G: f64 = 6.02468004077673;
    let (half, lanczos): (T, T) = (number(0.5), number(G));
    if (a - x).abs().as_f64() > 0.4 * a.abs().as_f64() {
        let log = a.fused(x.ln(), -x) - lgamma(a);
        let least = if is_single::<T>() { -88.722_839_052_068_35 } else { -709.782_712_893_384 };
        return if log < number(least) { T::zero() } else { log.exp() };
    }
    let shifted = number::<T>((a + lanczos).as_f64() - 0.5);
    let result = (shifted / number(E)).sqrt() / lanczos_sum(a);
    if a < number(200.0) && x < number(200.0) {
        return result * ((a - x).exp() * (x / shifted).powf(a));
    }
    let ratio = number::<T>((x - a - lanczos).as_f64() + 0.5) / shifted;
    let tail = x * (half - lanczos) / shifted;
    result * a.fused(ratio.ln_1p() - ratio, tail).exp()
}

/// A ratio of polynomials of one degree, in the powers of `1 / x` where `x` is large.
#[inline(always)]
fn lanczos_sum<T: Real>(x: T) -> T {
    polynomial_or_reversed(x, &LANCZOS) / polynomial_or_reversed(x, &LANCZOS_BELOW)
}

#[inline(always)]
fn polynomial_or_reversed<T: Real>(x: T, coefficients: &[f64; 13]) -> T {
    if x.abs() > T::one() {
        let y = T::one() / x;
        coefficients.iter().rev().fold(T::zero(), |sum, c| sum.fused(y, number(*c)))
    } else {
        coefficients.iter().fold(T::zero(), |sum, c| sum.fused(x, number(*c)))
    }
}

/// DLMF 8.11.4, for P.
#[inline(always)]
fn series<T: Real>(a: T, x: T) -> T {
    let density = density(a, x);
    if density == T::zero() {
        return density;
    }
    let (mut at, mut term, mut sum) = (a, T::one(), T::one());
    for _ in 0..TERMS {
        at = at + T::one();
        term = term * (x / at);
        sum = sum + term;
        if term <= rounding::<T>() * sum {
            break;
        }
    }
    sum * density / a
}

/// DLMF 8.7.3, for Q.
#[inline(always)]
fn upper_series<T: Real>(a: T, x: T) -> T {
    let (mut factor, mut sum) = (T::one(), T::zero());
    for n in 1..TERMS {
        let n = number(f64::from(n));
        factor = factor * (-x / n);
        let term = factor / (a + n);
        sum = sum + term;
        if term.abs() <= rounding::<T>() * sum.abs() {
            break;
        }
    }
    let log = x.ln();
    let term = -a.fused(log, -lgamma(T::one() + a)).exp_m1();
    (-a.fused(log, -lgamma(a)).exp()).fused(sum, term)
}

/// DLMF 8.12.3 and 8.12.4.
#[inline(always)]
fn uniform<T: Real>(a: T, x: T, lower: bool) -> T {
    let (ratio, excess) = (x / a, (x - a) / a);
    let size = || (number::<T>(-2.0) * (excess.ln_1p() - excess)).sqrt();
    let eta = match ratio {
        _ if ratio > T::one() => size(),
        _ if ratio < T::one() => -size(),
        _ => T::zero(),
    };
    let sign = if lower { -T::one() } else { T::one() };
    let bell = number::<T>(0.5) * (sign * eta * (a / number(2.0)).sqrt()).through(erfc);
    let mut powers = [T::one(); 25];
    let mut known = 0;
    let (mut sum, mut scale, mut before) = (T::zero(), T::one(), T::infinity());
    for row in &UNIFORM {
        let mut coefficient: T = number(row[0]);
        for n in 1..row.len() {
            if n > known {
                powers[n] = eta * powers[n - 1];
                known += 1;
            }
            let term = number::<T>(row[n]) * powers[n];
            coefficient = coefficient + term;
            if term.abs() < rounding::<T>() * coefficient.abs() {
                break;
            }
        }
        let term = coefficient * scale;
        let size = term.abs();
        if size > before {
            break;
        }
        sum = sum + term;
        if size < rounding::<T>() * sum.abs() {
            break;
        }
        before = size;
        scale = scale / a;
    }
    // PyTorch has this π in single precision.
    let circle: T = number(f64::from(2.0 * PI as f32));
    let exponential = number::<T>((-0.5 * a.as_f64() * eta.as_f64() * eta.as_f64()).exp());
    bell + sign * exponential * sum / (circle * a).sqrt()
}

/// DLMF 8.9.2, for Q.
#[inline(always)]
fn fraction<T: Real>(a: T, x: T) -> T {
    let density = density(a, x);
    if density == T::zero() {
        return density;
    }
    let large = if is_single::<T>() { 16_777_216.0 } else { 4_503_599_627_370_496.0 };
    let one = T::one();
    let mut y = one - a;
    let mut z = x + y + one;
    let mut c = T::zero();
    let (mut p, mut p_before, mut q, mut q_before) = (x + one, one, z * x, x);
    let mut value = p / q;
    for _ in 0..TERMS {
        c = c + one;
        y = y + one;
        z = z + number(2.0);
        let numerator = y * c;
        let next_p = p.fused(z, -(p_before * numerator));
        let next_q = q.fused(z, -(q_before * numerator));
        let mut change = one;
        if next_q != T::zero() {
            let next = next_p / next_q;
            change = ((value - next) / next).abs();
            value = next;
        }
        (p_before, p, q_before, q) = (p, next_p, q, next_q);
        if next_p.abs() > number(large) {
            for part in [&mut p, &mut p_before, &mut q, &mut q_before] {
                *part = *part * number(1.0 / large);
            }
        }
        if change <= rounding::<T>() {
            break;
        }
    }
    value * density
}
