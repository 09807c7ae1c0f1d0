//! Elementary functions of complex numbers. Most are computed in the type of the numbers, like the C library that
//! PyTorch calls; the inverse functions in `double`. Branch cuts and signed zeros follow C99's annex G, after W. Kahan,
//! "Branch Cuts for Complex Elementary Functions" (1987).

use crate::ops::number::{Real, is_single};
use elementary::series::{self, Fused};
use num_complex::Complex;

type C = Complex<f64>;

/// Applies a function of double-precision complex numbers and rounds once.
pub(super) fn via_f64<T: Real>(z: Complex<T>, function: impl Fn(C) -> C) -> Complex<T> {
    let result = function(Complex::new(z.re.as_f64(), z.im.as_f64()));
    Complex::new(T::from_f64(result.re), T::from_f64(result.im))
}

/// `a / b`, scaled by the larger part of the divisor to avoid overflow.
pub(super) fn divide<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let (re, im) = (b.re.abs(), b.im.abs());
    if re >= im {
        if re == T::zero() && im == T::zero() {
            return Complex::new(a.re / re, a.im / im);
        }
        let ratio = b.im / b.re;
        let scale = T::one() / b.im.fused(ratio, b.re);
        Complex::new(a.im.fused(ratio, a.re) * scale, (-a.re).fused(ratio, a.im) * scale)
    } else {
        let ratio = b.re / b.im;
        let scale = T::one() / b.re.fused(ratio, b.im);
        Complex::new(a.re.fused(ratio, a.im) * scale, (a.im.fused(ratio, -a.re)) * scale)
    }
}

pub(super) fn reciprocal<T: Real>(z: Complex<T>) -> Complex<T> {
    divide(Complex::new(T::one(), T::zero()), z)
}

#[inline(always)]
pub(super) fn magnitude<T: Real>(z: Complex<T>) -> T {
    let (re, im) = (z.re.as_f64(), z.im.as_f64());
    T::from_f64(if is_single::<T>() { series::hypot::<Fused>(re, im) } else { re.hypot(im) })
}

pub(super) fn angle<T: Real>(z: Complex<T>) -> Complex<T> {
    let (re, im) = (z.re.as_f64(), z.im.as_f64());
    Complex::new(T::from_f64(if is_single::<T>() { series::atan2::<Fused>(im, re) } else { im.atan2(re) }), T::zero())
}

/// Returns the number of magnitude 1 in the same direction, or 0 for 0.
pub(super) fn sign<T: Real>(z: Complex<T>) -> Complex<T> {
    let size = magnitude(z);
    if size == T::zero() { Complex::new(size, size) } else { Complex::new(z.re / size, z.im / size) }
}

/// Like [`sign`], with a complex division.
pub(crate) fn sign_tail<T: Real>(z: Complex<T>) -> Complex<T> {
    let size = Complex::new(magnitude(z), T::zero());
    if size.re == T::zero() { size } else { divide(z, size) }
}

/// Multiplies with one rounding less in each part.
pub(crate) fn multiply_tail<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    Complex::new(a.re.fused(b.re, -(a.im * b.im)), a.re.fused(b.im, a.im * b.re))
}

/// `a + alpha * b`.
pub(crate) fn scaled_sum<T: Real>(a: Complex<T>, b: Complex<T>, alpha: Complex<T>) -> Complex<T> {
    Complex::new(a.re + (b.re * alpha.re - b.im * alpha.im), a.im + (b.re * alpha.im + b.im * alpha.re))
}

/// Like [`scaled_sum`], with one rounding less in each part.
pub(crate) fn scaled_sum_tail<T: Real>(a: Complex<T>, b: Complex<T>, alpha: Complex<T>) -> Complex<T> {
    let product = multiply_tail(alpha, b);
    Complex::new(a.re + product.re, a.im + product.im)
}

pub(super) fn power<T: Real>(base: Complex<T>, exponent: Complex<T>) -> Complex<T> {
    exp(product(exponent, log(base)))
}

/// Multiplies; the product is infinite if a factor is, even if its parts cancel.
fn product<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let plain = a * b;
    let is_infinite = |z: Complex<T>| z.re.is_infinite() || z.im.is_infinite();
    let grows = || [a.re * b.re, a.im * b.im, a.re * b.im, a.im * b.re].iter().any(|part| part.is_infinite());
    if !plain.re.is_nan() || !plain.im.is_nan() || !is_infinite(a) && !is_infinite(b) && !grows() {
        return plain;
    }
    let unit = |part: T, whole: Complex<T>| match is_infinite(whole) {
        true => (if part.is_infinite() { T::one() } else { T::zero() }).copysign(part),
        false if part.is_nan() => T::zero().copysign(part),
        false => part,
    };
    let [a, b] = [a, b].map(|z| Complex::new(unit(z.re, z), unit(z.im, z)));
    (a * b) * T::infinity()
}

/// `log(exp(a) + exp(b))`, factoring out the operand with the larger real part.
pub(crate) fn log_add_exp<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if a.re.is_nan() || a.im.is_nan() || b.re.is_nan() || b.im.is_nan() {
        return Complex::new(T::nan(), T::nan());
    }
    let (small, large) = if a.re <= b.re { (a, b) } else { (b, a) };
    if small.re == large.re && small.re.is_infinite() {
        return if small.re < T::zero() { small } else { Complex::new(small.re, T::zero()) };
    }
    log1p(exp(small - large)) + large
}

/// Returns the largest integer with a finite exponential.
fn limit<T: Real>() -> T {
    T::from_f64(if is_single::<T>() { 88.0 } else { 709.0 })
}

/// Returns the sine and the cosine of an angle, multiplied by an exponential that may overflow the type by itself.
fn scaled_sin_cos<T: Real>(angle: T, exponent: T) -> (T, T) {
    let (mut sin, mut cos) = angle.sin_cos();
    let mut exponent = exponent;
    for _ in 0..2 {
        if exponent > limit() {
            exponent = exponent - limit();
            (sin, cos) = (sin * limit::<T>().exp(), cos * limit::<T>().exp());
        }
    }
    let size = if exponent > limit() { T::max_value() } else { exponent.exp() };
    (sin * size, cos * size)
}

pub(super) fn exp<T: Real>(z: Complex<T>) -> Complex<T> {
    if z.im == T::zero() {
        return Complex::new(z.re.exp(), z.im);
    }
    if z.re == T::neg_infinity() && !z.im.is_finite() {
        return Complex::new(T::zero(), T::zero());
    }
    if z.re == T::infinity() {
        let (sin, cos) = z.im.sin_cos();
        return match z.im.is_finite() {
            true => Complex::new(T::infinity() * cos, T::infinity() * sin),
            false => Complex::new(T::infinity(), T::nan()),
        };
    }
    let (sin, cos) = scaled_sin_cos(z.im, z.re);
    Complex::new(cos, sin)
}

pub(super) fn log<T: Real>(z: Complex<T>) -> Complex<T> {
    let (re, im) = (z.re.abs(), z.im.abs());
    let (x, y) = if re < im { (im, re) } else { (re, im) };
    let (one, half) = (T::one(), T::from_f64(0.5));
    // Near 1, the logarithm of the magnitude loses digits unless 1 is subtracted first.
    let beside = (x - one) * (x + one);
    let size = if x == one {
        (y * y).ln_1p() * half
    } else if x > one && x < T::from_f64(2.0) && y < one {
        (if y >= T::epsilon() { beside + y * y } else { beside }).ln_1p() * half
    } else if x < one && x >= half && y < T::epsilon() * half {
        beside.ln_1p() * half
    } else if x < one && x >= half && x * x + y * y >= half {
        let (x, y) = (x.as_f64(), y.as_f64());
        T::from_f64((x - 1.0) * (x + 1.0) + y * y).ln_1p() * half
    } else {
        // Scale by 1/2 or 2^60 if the magnitude overflows or underflows the type.
        let scale = match x {
            _ if x.is_finite() && x > T::max_value() * half => -1,
            _ if x > T::zero() && x < T::min_positive_value() => 60,
            _ => 0,
        };
        let factor = T::from_f64(2f64.powi(scale));
        (x * factor).hypot(y * factor).ln() - T::from_f64(f64::from(scale) * std::f64::consts::LN_2)
    };
    Complex::new(size, z.im.atan2(z.re))
}

pub(crate) fn log1p<T: Real>(z: Complex<T>) -> Complex<T> {
    let raised = Complex::new(z.re + T::one(), z.im);
    let back = Complex::new(raised.re - T::one(), raised.im);
    if raised == Complex::new(T::one(), T::zero()) {
        z
    } else if back == z {
        log(raised)
    } else {
        // The rounding error of the sum is corrected by a factor.
        multiply_tail(log(raised), divide(z, back))
    }
}

pub(crate) fn expm1<T: Real>(z: Complex<T>) -> Complex<T> {
    let two = T::from_f64(2.0);
    let half = (z.im / two).sin();
    Complex::new(z.re.exp_m1().fused(z.im.cos(), -(two * half * half)), z.re.exp() * z.im.sin())
}

pub(super) fn sqrt<T: Real>(z: Complex<T>) -> Complex<T> {
    let zero = T::zero();
    let half = T::from_f64(0.5);
    if z.im.is_infinite() {
        return Complex::new(T::infinity(), z.im);
    }
    if z.re.is_infinite() {
        return if z.re > zero {
            Complex::new(z.re, if z.im.is_nan() { z.im } else { zero.copysign(z.im) })
        } else {
            Complex::new(if z.im.is_nan() { z.im } else { zero }, T::infinity().copysign(z.im))
        };
    }
    if z.im == zero && !z.re.is_nan() {
        let root = z.re.abs().sqrt();
        return if z.re < zero { Complex::new(zero, root.copysign(z.im)) } else { Complex::new(root, z.im) };
    }
    let largest = z.re.abs().max(z.im.abs());
    let tiny = T::from_f64(2.0) * T::min_positive_value();
    if largest > T::max_value() / T::from_f64(4.0) || largest > zero && largest < tiny {
        // Scale by 1/4 or 2^60 to avoid intermediate overflow and underflow.
        let (scale, back) = if largest > T::one() { (0.25, 2.0) } else { (2f64.powi(60), 2f64.powi(-30)) };
        let root = sqrt(Complex::new(z.re * T::from_f64(scale), z.im * T::from_f64(scale)));
        return Complex::new(root.re * T::from_f64(back), root.im * T::from_f64(back));
    }
    if z.re == zero {
        let root = (half * z.im.abs()).sqrt();
        return Complex::new(root, root.copysign(z.im));
    }
    let size = z.re.hypot(z.im);
    if z.re > zero {
        let root = (half * (size + z.re)).sqrt();
        Complex::new(root, (half * (z.im / root)).copysign(z.im))
    } else {
        let root = (half * (size - z.re)).sqrt();
        Complex::new((half * (z.im / root)).abs(), root.copysign(z.im))
    }
}

pub(super) fn sin<T: Real>(z: Complex<T>) -> Complex<T> {
    rotated(z, sinh)
}

pub(super) fn cos<T: Real>(z: Complex<T>) -> Complex<T> {
    cosh(Complex::new(-z.im, z.re))
}

pub(super) fn tan<T: Real>(z: Complex<T>) -> Complex<T> {
    rotated(z, tanh)
}

pub(super) fn asin(z: C) -> C {
    if z.re == 0.0 && z.im.is_nan() {
        return z;
    }
    if z.re.is_infinite() || z.im.is_infinite() {
        return C::new(z.re.atan2(z.im.abs()), f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    C::new(z.re.atan2((minus * plus).re), (minus.conj() * plus).im.asinh())
}

pub(super) fn acos(z: C) -> C {
    if z.re == 0.0 && z.im.is_nan() {
        return C::new(std::f64::consts::FRAC_PI_2, z.im);
    }
    if z.re.is_infinite() || z.im.is_infinite() {
        return C::new(z.im.abs().atan2(z.re), -f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    C::new(2.0 * minus.re.atan2(plus.re), (plus.conj() * minus).im.asinh())
}

pub(super) fn atan<T: Real>(z: Complex<T>) -> Complex<T> {
    let (im, re) = arc(z.im, z.re);
    Complex::new(re, im)
}

/// Returns the part of an inverse hyperbolic tangent along an axis and the angle across it; the argument has the part
/// `x` along the axis and `y` across.
fn arc<T: Real>(x: T, y: T) -> (T, T) {
    let number = T::from_f64;
    let (one, half, quarter) = (T::one(), number(0.5), number(0.25));
    let right = number(std::f64::consts::FRAC_PI_2).copysign(y);
    if y.is_infinite() || x.is_infinite() && !y.is_nan() {
        return (T::zero().copysign(x), right);
    }
    if x.is_nan() || y.is_nan() {
        let along = if x.is_infinite() || x == T::zero() { T::zero().copysign(x) } else { T::nan() };
        return (along, T::nan());
    }
    let huge = number(16.0) / T::epsilon();
    if x.abs() >= huge || y.abs() >= huge {
        let along = if y.abs() <= one {
            one / x
        } else if x.abs() <= one {
            x / y / y
        } else {
            let size = (x * half).hypot(y * half);
            x / size / size * quarter
        };
        return (along, right);
    }
    let least = T::epsilon() * T::epsilon();
    let along = if x.abs() == one && y.abs() < least {
        half.copysign(x) * (number(std::f64::consts::LN_2) - y.abs().ln())
    } else {
        let square = if y.abs() >= least { y * y } else { T::zero() };
        let (far, near) = (square + (one + x) * (one + x), square + (one - x) * (one - x));
        let ratio = far / near;
        if ratio < half { quarter * ratio.ln() } else { quarter * (number(4.0) * x / near).ln_1p() }
    };
    let (large, small) = if x.abs() < y.abs() { (y.abs(), x.abs()) } else { (x.abs(), y.abs()) };
    let beside = (one - large) * (one + large);
    let across = if small < T::epsilon() * half {
        beside
    } else if large < one && (large >= number(0.75) || small >= half) {
        number((1.0 - large.as_f64()) * (1.0 + large.as_f64()) - small.as_f64() * small.as_f64())
    } else {
        beside - small * small
    };
    (along, half * (number(2.0) * y).atan2(across))
}

/// `-i f(i z)`: computes a circular function from the hyperbolic one.
fn rotated<T: Real>(z: Complex<T>, function: impl Fn(Complex<T>) -> Complex<T>) -> Complex<T> {
    let w = function(Complex::new(-z.im, z.re));
    Complex::new(w.im, -w.re)
}

pub(super) fn sinh<T: Real>(z: Complex<T>) -> Complex<T> {
    if z.im == T::zero() {
        return Complex::new(z.re.sinh(), z.im);
    }
    if !z.im.is_finite() && (z.re == T::zero() || z.re.is_infinite()) {
        return Complex::new(z.re, T::nan());
    }
    if z.re.is_finite() && z.re.abs() > limit() {
        let (sin, cos) = scaled_sin_cos(z.im, z.re.abs() - T::from_f64(std::f64::consts::LN_2));
        return Complex::new(if z.re < T::zero() { -cos } else { cos }, sin);
    }
    let (sin, cos) = z.im.sin_cos();
    Complex::new(z.re.sinh() * cos, z.re.cosh() * sin)
}

pub(super) fn cosh<T: Real>(z: Complex<T>) -> Complex<T> {
    if z.im == T::zero() {
        return Complex::new(z.re.cosh(), z.im * T::one().copysign(z.re));
    }
    if !z.im.is_finite() && z.re == T::zero() {
        return Complex::new(T::nan(), T::zero());
    }
    if !z.im.is_finite() && z.re.is_infinite() {
        return Complex::new(T::infinity(), T::nan());
    }
    if z.re.is_finite() && z.re.abs() > limit() {
        let (sin, cos) = scaled_sin_cos(z.im, z.re.abs() - T::from_f64(std::f64::consts::LN_2));
        return Complex::new(cos, if z.re < T::zero() { -sin } else { sin });
    }
    let (sin, cos) = z.im.sin_cos();
    Complex::new(z.re.cosh() * cos, if z.re == T::zero() { z.re * sin } else { z.re.sinh() * sin })
}

pub(super) fn tanh<T: Real>(z: Complex<T>) -> Complex<T> {
    if z.re.is_infinite() {
        let (sin, cos) = if z.im.is_finite() && z.im.abs() > T::one() { z.im.sin_cos() } else { (z.im, T::one()) };
        return Complex::new(T::one().copysign(z.re), T::zero().copysign(sin * cos));
    }
    if z.im == T::zero() && z.re.is_nan() {
        return z;
    }
    if z.re.is_nan() || !z.im.is_finite() {
        return Complex::new(if z.re == T::zero() { z.re } else { T::nan() }, T::nan());
    }
    let half = T::from_f64((limit::<T>().as_f64() / 2.0).floor());
    if z.re.abs() > half {
        // The real part rounds to 1 in this type; the imaginary part is tiny.
        let (sin, cos) = z.im.sin_cos();
        let tiny = T::from_f64(-2.0) * z.re.abs();
        return Complex::new(T::one().copysign(z.re), T::from_f64(4.0) * sin * cos * tiny.exp());
    }
    let (sin, cos) = z.im.sin_cos();
    let is_tiny = z.re.abs() <= T::epsilon();
    let (sinh, cosh) = if is_tiny { (z.re, T::one()) } else { (z.re.sinh(), z.re.cosh()) };
    let size = if sinh.abs() > cos.abs() * T::epsilon() { sinh * sinh + cos * cos } else { cos * cos };
    Complex::new(sinh * cosh / size, sin * cos / size)
}

pub(super) fn asinh(z: C) -> C {
    rotated(z, asin)
}

pub(super) fn acosh(z: C) -> C {
    if z.re == 0.0 && z.im.is_nan() {
        return C::new(z.im, std::f64::consts::FRAC_PI_2);
    }
    if z.re.is_infinite() || z.im.is_infinite() {
        return C::new(f64::INFINITY, z.im.atan2(z.re));
    }
    let (minus, plus) = (sqrt(C::new(z.re - 1.0, z.im)), sqrt(C::new(z.re + 1.0, z.im)));
    C::new((minus.conj() * plus).re.asinh(), 2.0 * minus.im.atan2(plus.re))
}

pub(super) fn atanh<T: Real>(z: Complex<T>) -> Complex<T> {
    let (re, im) = arc(z.re, z.im);
    Complex::new(re, im)
}

/// `sin(πz) / (πz)`.
pub(crate) fn sinc<T: Real>(z: Complex<T>) -> Complex<T> {
    let angle = z * T::from_f64(std::f64::consts::PI);
    if z == Complex::new(T::zero(), T::zero()) { Complex::new(T::one(), T::zero()) } else { divide(sin(angle), angle) }
}
