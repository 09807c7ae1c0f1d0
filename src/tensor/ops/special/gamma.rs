//! The logarithm of the gamma function, its derivatives, and the Hurwitz zeta function, by the approximations of the
//! Cephes library. Steps are computed in the type of the argument, as in PyTorch.

use super::polynomial;
use crate::interrupt;
use crate::ops::number::{Real, is_single};
use num_traits::Float;
use std::f64::consts::PI;

pub(crate) fn lgamma<T: Real>(x: T) -> T {
    // From here on, PyTorch's single precision returns infinity, slightly too early.
    let endless = x.is_infinite() || is_single::<T>() && x > T::from_f64(4.037_11e36);
    if endless { T::infinity() } else { x.via_f64(libm::lgamma) }
}

/// The logarithmic derivative of the gamma function.
#[inline(always)]
pub(crate) fn digamma<T: Real>(x: T) -> T {
    /// ψ(10).
    const AT_10: f64 = 2.251752589066721;
    /// B(2k) / 2k, highest first.
    const SERIES: [f64; 7] =
        [1.0 / 12.0, -691.0 / 32760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0];
    let number = |value: f64| T::from_f64(value);
    if x == T::zero() {
        return T::infinity().copysign(-x);
    }
    let negative = x < T::zero();
    if negative && x == x.trunc() {
        return T::nan();
    }
    // A&S 6.3.7.
    let (mut at, mut sum) = (if negative { T::one() - x } else { x }, T::zero());
    while at < number(10.0) {
        sum = sum - T::one() / at;
        at = at + T::one();
    }
    let value = if at == number(10.0) {
        sum + number(AT_10)
    } else {
        // A&S 6.3.18.
        let square = T::one() / (at * at);
        let series = if at < number(1e17) { square * polynomial(square, &SERIES) } else { T::zero() };
        sum + at.ln() - number(0.5) / at - series
    };
    // The tangent depends on the fraction only.
    if negative { value - number(PI / (PI * x.as_f64().fract()).tan()) } else { value }
}

/// The derivative of [`digamma`].
#[inline(always)]
pub fn trigamma<T: Real>(x: T) -> T {
    let number = |value: f64| T::from_f64(value);
    let (mut x, mut sum, reflected) = (x, T::zero(), x < number(0.5));
    if reflected {
        // A&S 6.4.7.
        let sine = (number(PI) * x).sin();
        sum = -(number(PI) * number(PI)) / (sine * sine);
        x = T::one() - x;
    }
    for _ in 0..6 {
        sum = sum + T::one() / (x * x);
        x = x + T::one();
    }
    // A&S 6.4.12.
    let square = T::one() / (x * x);
    let inner = (-square).fused(number(1.0 / 42.0), number(1.0 / 30.0));
    let inner = (-square).fused(inner, number(1.0 / 6.0));
    sum = sum + square.fused(inner, T::one() + T::one() / (number(2.0) * x)) / x;
    if reflected { -sum } else { sum }
}

/// The `n`-th derivative of [`digamma`], for `n` of at least 2.
pub fn polygamma<T: Real>(n: i64, x: T) -> T {
    // PyTorch's formula has a 32-bit order.
    let n = n as i32;
    let sign = if n % 2 == 0 { -T::one() } else { T::one() };
    // n!, at least in single precision.
    let order = f64::from(n) + 1.0;
    let factorial = match is_single::<T::Wide>() {
        true => T::from_f64(lgamma(T::Wide::from_f64(order)).exp().as_f64()),
        false => lgamma(T::from_f64(order)).exp(),
    };
    sign * factorial * zeta(T::from_f64(f64::from(n.wrapping_add(1))), x)
}

/// `Σ (q + k)^-s` over all `k` from 0 on, by the Euler–Maclaurin formula (A&S 23.1.30), in a wider type.
pub fn zeta<T: Real>(s: T, q: T) -> T {
    /// (2k)! / B(2k).
    const FACTORS: [f64; 12] = [
        12.0,
        -720.0,
        30240.0,
        -1_209_600.0,
        47_900_160.0,
        -1_892_437_580.318_379_3,
        74_724_249_600.0,
        -2_950_130_727_918.164,
        116_467_828_143_500.67,
        -4_597_978_722_407_472.6,
        181_521_054_019_435_460.0,
        -7_166_165_256_175_667_000.0,
    ];
    if s == T::one() {
        return T::infinity();
    }
    if s < T::one() {
        return T::nan();
    }
    if q <= T::zero() {
        if q == q.floor() {
            return T::infinity();
        }
        // Powers of negative numbers are real for integer exponents only.
        if s != s.floor() {
            return T::nan();
        }
    }
    let wide = |value: T| T::Wide::from_f64(value.as_f64());
    let number = |value: f64| T::Wide::from_f64(value);
    let one = number(1.0);
    let tiny = number(f64::EPSILON / 2.0);
    let back = |value: T::Wide| T::from_f64(value.as_f64());
    // The first power is computed in the type, but at least in single precision.
    let narrow = is_single::<T::Wide>();
    let (mut sum, mut at) = (if narrow { wide(q).powf(wide(-s)) } else { wide(q.powf(-s)) }, wide(q));
    let (s, mut power) = (wide(s), number(0.0));
    let mut count = 0u64;
    while count < 9 || at <= number(9.0) {
        count += 1;
        // For a very negative `q`, this takes as many steps, or never ends.
        if count.is_multiple_of(1 << 12) && interrupt::requested() {
            return T::nan();
        }
        at = at + one;
        power = at.powf(-s);
        sum = sum + power;
        if -tiny * sum < power && power < tiny * sum {
            return back(sum);
        }
    }
    sum = sum + power * at / (s - one);
    sum = sum - number(0.5) * power;
    let (mut factor, mut k, base) = (one, number(0.0), at);
    for divisor in FACTORS {
        factor = factor * (s + k);
        power = power / base;
        let term = factor * power / number(divisor);
        sum = sum + term;
        if (term / sum).abs() < tiny {
            break;
        }
        k = k + one;
        factor = factor * (s + k);
        power = power / base;
        k = k + one;
    }
    back(sum)
}
