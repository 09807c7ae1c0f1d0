//! Elementary functions of complex numbers, computed in `double` whatever the operand. Branch cuts and signed zeros
//! follow C99's annex G, after W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987).

use crate::ops::number::Real;
use num_complex::Complex;

type C = Complex<f64>;

/// Applies a function of double-precision complex numbers and rounds once.
pub fn through<T: Real>(z: Complex<T>, function: impl Fn(C) -> C) -> Complex<T> {
    let result = function(Complex::new(z.re.as_f64(), z.im.as_f64()));
    Complex::new(T::from_f64(result.re), T::from_f64(result.im))
}

/// `a / b`, scaled by the larger part of the divisor so that nothing overflows on the way.
pub fn divide<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
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

pub fn reciprocal<T: Real>(z: Complex<T>) -> Complex<T> {
    divide(Complex::new(T::one(), T::zero()), z)
}

pub fn magnitude<T: Real>(z: Complex<T>) -> T {
    T::from_f64(z.re.as_f64().hypot(z.im.as_f64()))
}

/// The number of magnitude 1 in the same direction; 0 of 0.
pub fn sign<T: Real>(z: Complex<T>) -> Complex<T> {
    let size = magnitude(z);
    if size == T::zero() { Complex::new(size, size) } else { Complex::new(z.re / size, z.im / size) }
}

/// As [`sign`], dividing as complex numbers.
pub fn sign_tail<T: Real>(z: Complex<T>) -> Complex<T> {
    let size = Complex::new(magnitude(z), T::zero());
    if size.re == T::zero() { size } else { divide(z, size) }
}

/// A product with one rounding less in each part.
pub fn multiply_tail<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    Complex::new(a.re.fused(b.re, -(a.im * b.im)), a.re.fused(b.im, a.im * b.re))
}

/// `a + alpha * b`.
pub fn scaled_sum<T: Real>(a: Complex<T>, b: Complex<T>, alpha: Complex<T>) -> Complex<T> {
    Complex::new(a.re + (b.re * alpha.re - b.im * alpha.im), a.im + (b.re * alpha.im + b.im * alpha.re))
}

/// As [`scaled_sum`], with one rounding less in each part.
pub fn scaled_sum_tail<T: Real>(a: Complex<T>, b: Complex<T>, alpha: Complex<T>) -> Complex<T> {
    let product = multiply_tail(alpha, b);
    Complex::new(a.re + product.re, a.im + product.im)
}

pub fn power<T: Real>(base: Complex<T>, exponent: Complex<T>) -> Complex<T> {
    let exponent = Complex::new(exponent.re.as_f64(), exponent.im.as_f64());
    through(base, |z| exp(exponent * log(z)))
}

/// `log(exp(a) + exp(b))`, taken from the end with the larger real part.
pub fn log_add_exp<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if a.re.is_nan() || a.im.is_nan() || b.re.is_nan() || b.im.is_nan() {
        return Complex::new(T::nan(), T::nan());
    }
    let (small, large) = if a.re <= b.re { (a, b) } else { (b, a) };
    if small.re == large.re && small.re.is_infinite() {
        return if small.re < T::zero() { small } else { Complex::new(small.re, T::zero()) };
    }
    through(small - large, |z| log1p(exp(z))) + large
}

pub fn exp(z: C) -> C {
    if z.im == 0.0 {
        return C::new(z.re.exp(), z.im);
    }
    if z.re == f64::NEG_INFINITY && !z.im.is_finite() {
        return C::new(0.0, 0.0);
    }
    if z.re == f64::INFINITY && !z.im.is_finite() {
        return C::new(f64::INFINITY, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    let size = z.re.exp();
    C::new(size * cos, size * sin)
}

pub fn log(z: C) -> C {
    let (x, y) = if z.re.abs() > z.im.abs() { (z.re.abs(), z.im.abs()) } else { (z.im.abs(), z.re.abs()) };
    let size = if (0.5..2.0).contains(&x) {
        // Near 1 the logarithm of the magnitude loses digits unless 1 is taken off first.
        0.5 * ((x - 1.0) * (x + 1.0) + y * y).ln_1p()
    } else {
        x.hypot(y).ln()
    };
    C::new(size, z.im.atan2(z.re))
}

pub fn log1p(z: C) -> C {
    let size = if z.re.abs() < 0.5 && z.im.abs() < 0.5 {
        0.5 * (z.re * (2.0 + z.re) + z.im * z.im).ln_1p()
    } else {
        return log(C::new(1.0 + z.re, z.im));
    };
    C::new(size, z.im.atan2(1.0 + z.re))
}

pub fn expm1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(z.re.exp_m1(), z.im);
    }
    let half = (0.5 * z.im).sin();
    C::new(z.re.exp_m1() * z.im.cos() - 2.0 * half * half, z.re.exp() * z.im.sin())
}

pub fn sqrt(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(0.0, z.im);
    }
    if z.im.is_infinite() {
        return C::new(f64::INFINITY, z.im);
    }
    if z.re.is_infinite() {
        return if z.re > 0.0 {
            C::new(z.re, if z.im.is_nan() { z.im } else { 0f64.copysign(z.im) })
        } else {
            C::new(if z.im.is_nan() { z.im } else { 0.0 }, f64::INFINITY.copysign(z.im))
        };
    }
    let root = ((z.re.abs() + z.re.hypot(z.im)) * 0.5).sqrt();
    if z.re >= 0.0 { C::new(root, z.im / (2.0 * root)) } else { C::new(z.im.abs() / (2.0 * root), root.copysign(z.im)) }
}

pub fn sin(z: C) -> C {
    rotated(z, sinh)
}

pub fn cos(z: C) -> C {
    cosh(C::new(-z.im, z.re))
}

pub fn tan(z: C) -> C {
    rotated(z, tanh)
}

pub fn asin(z: C) -> C {
    if z.re.is_infinite() || z.im.is_infinite() {
        return C::new(z.re.atan2(z.im.abs()), f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    C::new(z.re.atan2((minus * plus).re), (minus.conj() * plus).im.asinh())
}

pub fn acos(z: C) -> C {
    if z.re.is_infinite() || z.im.is_infinite() {
        return C::new(z.im.abs().atan2(z.re), -f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    C::new(2.0 * minus.re.atan2(plus.re), (plus.conj() * minus).im.asinh())
}

pub fn atan(z: C) -> C {
    rotated(z, atanh)
}

/// `-i f(i z)`: the circular function from the hyperbolic one.
fn rotated(z: C, function: impl Fn(C) -> C) -> C {
    let w = function(C::new(-z.im, z.re));
    C::new(w.im, -w.re)
}

pub fn sinh(z: C) -> C {
    if z.im == 0.0 {
        return C::new(z.re.sinh(), z.im);
    }
    if !z.im.is_finite() && (z.re == 0.0 || z.re.is_infinite()) {
        return C::new(z.re, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    C::new(z.re.sinh() * cos, z.re.cosh() * sin)
}

pub fn cosh(z: C) -> C {
    if z.im == 0.0 {
        return C::new(z.re.cosh(), z.re * z.im);
    }
    if !z.im.is_finite() && z.re == 0.0 {
        return C::new(f64::NAN, 0.0);
    }
    if !z.im.is_finite() && z.re.is_infinite() {
        return C::new(f64::INFINITY, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    C::new(z.re.cosh() * cos, if z.re == 0.0 { z.re * sin } else { z.re.sinh() * sin })
}

pub fn tanh(z: C) -> C {
    if z.re.abs() > 22.0 {
        // 1 in double; what is left of the imaginary part is tiny.
        let (sin, cos) = if z.im.is_finite() { z.im.sin_cos() } else { (0.0, 1.0) };
        return C::new(1f64.copysign(z.re), 4.0 * sin * cos * (-2.0 * z.re.abs()).exp());
    }
    let tan = z.im.tan();
    let beta = 1.0 + tan * tan;
    let sinh = z.re.sinh();
    let cosh = (1.0 + sinh * sinh).sqrt();
    let denominator = 1.0 + beta * sinh * sinh;
    C::new(beta * cosh * sinh / denominator, tan / denominator)
}

pub fn asinh(z: C) -> C {
    rotated(z, asin)
}

pub fn acosh(z: C) -> C {
    if z.re.is_infinite() || z.im.is_infinite() {
        return C::new(f64::INFINITY, z.im.atan2(z.re));
    }
    let (minus, plus) = (sqrt(C::new(z.re - 1.0, z.im)), sqrt(C::new(z.re + 1.0, z.im)));
    C::new((minus.conj() * plus).re.asinh(), 2.0 * minus.im.atan2(plus.re))
}

pub fn atanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x.is_infinite() || y.is_infinite() {
        return C::new(0f64.copysign(x), std::f64::consts::FRAC_PI_2.copysign(y));
    }
    let below = (1.0 - x) * (1.0 - x) + y * y;
    C::new(0.25 * (4.0 * x / below).ln_1p(), 0.5 * (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y))
}

/// `sin(πz) / (πz)`.
pub fn sinc(z: C) -> C {
    let angle = z * std::f64::consts::PI;
    if z == C::new(0.0, 0.0) { C::new(1.0, 0.0) } else { sin(angle) / angle }
}
