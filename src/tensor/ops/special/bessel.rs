//! Bessel functions of orders 0 and 1, and the Airy function, by the approximations of the Cephes library. Steps are
//! computed in the type of the argument, as in PyTorch, with fused products where PyTorch's compiler fuses them.

use super::coefficients::*;
use super::error::ONE_OVER_SQRT_PI;
use super::polynomial;
use crate::ops::number::{Real, is_single};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_4, PI};

/// √(2 / π).
const SQRT_2_OVER_PI: f64 = 0.7978845608028654;

fn number<T: Real>(value: f64) -> T {
    T::from_f64(value)
}

/// Half of a sum of Chebyshev polynomials at `x / 2`, highest degree first (Clenshaw's recurrence).
#[inline(always)]
fn chebyshev<T: Real>(x: T, coefficients: &[f64]) -> T {
    let (mut sum, mut before, mut last) = (T::zero(), T::zero(), T::zero());
    for &coefficient in coefficients {
        (last, before) = (before, sum);
        sum = x.fused(before, -last) + number(coefficient);
    }
    number::<T>(0.5) * (sum - last)
}

/// Returns whether I is computed by the series around 0.
#[inline(always)]
fn i_is_near<T: Real>(size: T) -> bool {
    size <= number(8.0)
}

/// `exp(-|x|) I(x)` by the series around 0; for order 1, without a factor `x`.
#[inline(always)]
fn i_near<T: Real>(size: T, near: &[f64]) -> T {
    chebyshev(size / number(2.0) - number(2.0), near)
}

/// `exp(-|x|) I(x) sqrt(x)`, by the asymptotic series.
#[inline(always)]
fn i_far<T: Real>(size: T, far: &[f64]) -> T {
    chebyshev(number::<T>(32.0) / size - number(2.0), far)
}

/// `exp(-|x|) I0(x)`.
#[inline(always)]
pub(crate) fn i0e<T: Real>(x: T) -> T {
    let x = x.abs();
    if i_is_near(x) { i_near(x, &I0_NEAR) } else { i_far(x, &I0_FAR) / x.sqrt() }
}

#[inline(always)]
pub(crate) fn i0<T: Real>(x: T) -> T {
    let x = x.abs();
    if i_is_near(x) { x.exp() * i_near(x, &I0_NEAR) } else { x.exp() * i_far(x, &I0_FAR) / x.sqrt() }
}

/// Returns the series of I1; single precision has shorter ones.
#[inline(always)]
fn i1_series<T: Real>() -> [&'static [f64]; 2] {
    if is_single::<T>() { [&I1_NEAR_SINGLE, &I1_FAR_SINGLE] } else { [&I1_NEAR, &I1_FAR] }
}

/// Returns the value of an odd function at `x`, given its value at `|x|`.
#[inline(always)]
fn odd<T: Real>(x: T, of_size: T) -> T {
    if x < T::zero() { -of_size } else { of_size }
}

#[inline(always)]
pub(crate) fn i1<T: Real>(x: T) -> T {
    let (size, [near, far]) = (x.abs(), i1_series::<T>());
    odd(
        x,
        if i_is_near(size) {
            size.exp() * size * i_near(size, near)
        } else {
            size.exp() * i_far(size, far) / size.sqrt()
        },
    )
}

/// `exp(-|x|) I1(x)`.
#[inline(always)]
pub(crate) fn i1e<T: Real>(x: T) -> T {
    let (size, [near, far]) = (x.abs(), i1_series::<T>());
    odd(x, if i_is_near(size) { i_near(size, near) * size } else { i_far(size, far) / size.sqrt() })
}

/// I1 by the long series in any type; `torch.special.modified_bessel_i1` differs from `torch.special.i1`.
#[inline(always)]
pub(crate) fn modified_i1<T: Real>(x: T) -> T {
    let size = x.abs();
    let value = if i_is_near(size) {
        i_near(size, &I1_NEAR) * size * size.exp()
    } else {
        size.exp() * i_far(size, &I1_FAR) / size.sqrt()
    };
    odd(x, value)
}

/// Returns the value of functions of the second kind where they are not finite.
#[inline(always)]
fn second_kind<T: Real>(x: T, at_zero: T) -> Option<T> {
    if x == T::zero() { Some(at_zero) } else { (x < T::zero()).then(T::nan) }
}

/// K above 2, by the asymptotic series.
#[inline(always)]
fn k_far<T: Real>(x: T, scaled: bool, far: &[f64]) -> T {
    let series = chebyshev(number::<T>(8.0) / x - number(2.0), far);
    if scaled { series / x.sqrt() } else { (-x).exp() * series / x.sqrt() }
}

/// Returns whether K is computed by its own series and the logarithm times I.
#[inline(always)]
fn k_is_near<T: Real>(x: T) -> bool {
    x <= number(2.0)
}

#[inline(always)]
fn shifted_square<T: Real>(x: T) -> T {
    x.fused(x, number(-2.0))
}

#[inline(always)]
pub(crate) fn modified_k0<T: Real>(x: T) -> T {
    if let Some(value) = second_kind(x, T::infinity()) {
        return value;
    }
    if !k_is_near(x) {
        return k_far(x, false, &K0_FAR);
    }
    let series = chebyshev(shifted_square(x), &K0_NEAR);
    if !is_single::<T>() {
        return (-(number::<T>(0.5) * x).ln()).fused(i0(x), series);
    }
    // Only this logarithm is computed in double precision.
    let log = (0.5 * x.as_f64()).ln();
    number((-log).mul_add(i0(x).as_f64(), series.as_f64()))
}

/// `exp(x) K0(x)`.
#[inline(always)]
pub(crate) fn scaled_k0<T: Real>(x: T) -> T {
    if let Some(value) = second_kind(x, T::infinity()) {
        return value;
    }
    if !k_is_near(x) {
        return k_far(x, true, &K0_FAR);
    }
    (-(number::<T>(0.5) * x).ln()).fused(i0(x), chebyshev(shifted_square(x), &K0_NEAR)) * x.exp()
}

/// K1, or `exp(x) K1(x)`.
#[inline(always)]
fn k1<T: Real>(x: T, scaled: bool) -> T {
    if let Some(value) = second_kind(x, T::infinity()) {
        return value;
    }
    if !k_is_near(x) {
        return k_far(x, scaled, &K1_FAR);
    }
    let near = (number::<T>(0.5) * x).ln().fused(modified_i1(x), chebyshev(shifted_square(x), &K1_NEAR) / x);
    if scaled { near * x.exp() } else { near }
}

#[inline(always)]
pub(crate) fn modified_k1<T: Real>(x: T) -> T {
    k1(x, false)
}

/// `exp(x) K1(x)`.
#[inline(always)]
pub(crate) fn scaled_k1<T: Real>(x: T) -> T {
    k1(x, true)
}

#[inline(always)]
fn ratio<T: Real>(x: T, above: &[f64], below: &[f64]) -> T {
    polynomial(x, above) / polynomial(x, below)
}

/// The in-phase and out-of-phase parts of J and Y from 5 on, in 1 / x².
#[inline(always)]
fn oscillating<T: Real>(x: T, square: T, [cosine, cosine_below, sine, sine_below]: [&[f64]; 4]) -> [T; 2] {
    [ratio(square, cosine, cosine_below), number::<T>(5.0) / x * ratio(square, sine, sine_below)]
}

#[inline(always)]
fn oscillating_0<T: Real>(x: T) -> [T; 2] {
    oscillating(
        x,
        number::<T>(25.0) / (x * x),
        [&ORDER_0_COSINE, &ORDER_0_COSINE_BELOW, &ORDER_0_SINE, &ORDER_0_SINE_BELOW],
    )
}

#[inline(always)]
fn oscillating_1<T: Real>(x: T) -> [T; 2] {
    let scaled = number::<T>(5.0) / x;
    oscillating(x, scaled * scaled, [&ORDER_1_COSINE, &ORDER_1_COSINE_BELOW, &ORDER_1_SINE, &ORDER_1_SINE_BELOW])
}

#[inline(always)]
fn amplitude<T: Real>(x: T, oscillation: T) -> T {
    oscillation * number(SQRT_2_OVER_PI) / x.sqrt()
}

#[inline(always)]
pub(crate) fn j0<T: Real>(x: T) -> T {
    let x = x.abs();
    if x <= number(5.0) {
        let square = x * x;
        if x < number(0.00001) {
            return T::one() - square / number(4.0);
        }
        let zeros = (square - number(5.783185962946784)) * (square - number(30.471262343662087));
        return zeros * polynomial(square, &J0_NEAR) / polynomial(square, &J0_NEAR_BELOW);
    }
    let ([even, odd], angle) = (oscillating_0(x), x - number(FRAC_PI_4));
    amplitude(x, even.fused(angle.cos(), -(odd * angle.sin())))
}

#[inline(always)]
pub(crate) fn j1<T: Real>(x: T) -> T {
    let size = if x < T::zero() { -x } else { x };
    let value = if size <= number(5.0) {
        let square = size * size;
        let zeros = (square - number(14.681970642123893), square - number(49.2184563216946));
        ratio(square, &J1_NEAR, &J1_NEAR_BELOW) * size * zeros.0 * zeros.1
    } else {
        let ([even, odd], angle) = (oscillating_1(size), size - number(3.0 * FRAC_PI_4));
        amplitude(size, even.fused(angle.cos(), -(odd * angle.sin())))
    };
    odd(x, value)
}

#[inline(always)]
pub(crate) fn y0<T: Real>(x: T) -> T {
    if x <= number(5.0) {
        if let Some(value) = second_kind(x, T::neg_infinity()) {
            return value;
        }
        let square = x * x;
        let ratio = ratio(square, &Y0_NEAR, &Y0_NEAR_BELOW);
        return (number::<T>(FRAC_2_PI) * x.ln()).fused(j0(x), ratio);
    }
    let ([even, odd], angle) = (oscillating_0(x), x - number(FRAC_PI_4));
    amplitude(x, even.fused(angle.sin(), odd * angle.cos()))
}

#[inline(always)]
pub(crate) fn y1<T: Real>(x: T) -> T {
    if x <= number(5.0) {
        if let Some(value) = second_kind(x, T::neg_infinity()) {
            return value;
        }
        let square = x * x;
        let ratio = ratio(square, &Y1_NEAR, &Y1_NEAR_BELOW);
        let rest = j1(x).fused(x.ln(), -(T::one() / x));
        return number::<T>(FRAC_2_PI).fused(rest, x * ratio);
    }
    let ([even, odd], angle) = (oscillating_1(x), x - number(3.0 * FRAC_PI_4));
    amplitude(x, even.fused(angle.sin(), odd * angle.cos()))
}

/// `sin x / x`; near 0, by its series.
#[inline(always)]
pub(crate) fn spherical_j0<T: Real>(x: T) -> T {
    if x.is_infinite() {
        return T::zero();
    }
    if x.abs() >= number(0.5) || x.is_nan() {
        return x.sin() / x;
    }
    // (-1)^k / (2k + 1)!
    let square = x * x;
    let factorials = [6_227_020_800.0, -39_916_800.0, 362_880.0, -5040.0, 120.0, -6.0, 1.0];
    factorials.iter().fold(T::zero(), |sum, &factorial| sum.fused(square, T::one() / number(factorial)))
}

/// The Airy function of the first kind.
#[inline(always)]
pub(crate) fn airy_ai<T: Real>(x: T) -> T {
    const BOUND: f64 = 2.09;
    if x.is_infinite() {
        return T::nan();
    }
    if x > number(103.892) {
        return T::zero();
    }
    if x < number(-BOUND) {
        let angle = number::<T>(-2.0) * x * (-x).sqrt() / number(3.0);
        let z = T::one() / angle;
        let square = z * z;
        let sine = square * polynomial(square, &AIRY_SINE) / polynomial(square, &AIRY_SINE_BELOW);
        let cosine = z * polynomial(square, &AIRY_COSINE) / polynomial(square, &AIRY_COSINE_BELOW);
        let turned = angle + number(0.25 * PI);
        let oscillation = turned.sin().fused(T::one() + sine, -(turned.cos() * cosine));
        return number::<T>(ONE_OVER_SQRT_PI) / (-x).sqrt().sqrt() * oscillation;
    }
    if x >= number(BOUND) {
        let zeta = number::<T>(2.0) * x * x.sqrt() / number(3.0);
        let z = T::one() / zeta;
        let ratio = polynomial(z, &AIRY_RIGHT) / polynomial(z, &AIRY_RIGHT_BELOW);
        return number::<T>(ONE_OVER_SQRT_PI) * ratio / (number::<T>(2.0) * x.sqrt().sqrt() * zeta.exp());
    }
    // A&S 10.4.2.
    let (mut f, mut g, mut k) = (T::one(), x, T::one());
    let (mut m, mut n, cube) = (T::one(), x, x * x * x);
    loop {
        k = k + T::one();
        m = m * cube / k;
        n = n * cube;
        k = k + T::one();
        (m, n) = (m / k, n / k);
        f = f + m;
        k = k + T::one();
        n = n / k;
        g = g + n;
        // Also stops at NaN.
        let goes_on = (m / f).abs() > T::epsilon();
        if !goes_on {
            break;
        }
    }
    number::<T>(0.3550280538878172).fused(f, -(number::<T>(0.2588194037928068) * g))
}
