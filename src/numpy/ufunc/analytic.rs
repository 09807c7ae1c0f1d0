//! Analytic functions of complex numbers with the digits of the GNU C library, which NumPy calls: exponential, logarithm,
//! roots, waves and their hyperbolic kin. The inverse ones are in [`super::inverse`]. Follows Annex G of the C standard
//! for infinities, NaNs and signed zeros.

use super::math::Real;
use num_complex::Complex;

pub(super) fn complex<T: Real>(re: T, im: T) -> Complex<T> {
    Complex::new(re, im)
}

/// Limits of a type that formulas depend on.
pub(super) struct Limits<T> {
    /// The largest whole number whose exponential is finite.
    pub(super) exponent: T,
    pub(super) half_exponent: T,
    pub(super) epsilon: T,
    pub(super) least: T,
    pub(super) most: T,
    pub(super) digits: i64,
}

pub(super) fn limits<T: Real>() -> Limits<T> {
    let is_single = size_of::<T>() == size_of::<f32>();
    Limits {
        exponent: T::of(if is_single { 88.0 } else { 709.0 }),
        half_exponent: T::of(if is_single { 44.0 } else { 354.0 }),
        epsilon: T::epsilon(),
        least: T::min_positive_value(),
        most: T::max_value(),
        digits: if is_single { 24 } else { 53 },
    }
}

/// Returns sine and cosine; of tiny angles, without rounding.
fn turn<T: Real>(angle: T) -> (T, T) {
    if angle.abs() > T::min_positive_value() { (angle.sin(), angle.cos()) } else { (angle, T::one()) }
}

/// Returns `exp(power) * factors`, where the exponential alone may overflow.
fn scaled<T: Real>(mut power: T, mut a: T, mut b: T) -> Complex<T> {
    let Limits { exponent, most, .. } = limits::<T>();
    let whole = exponent.exp();
    for _ in 0..2 {
        if power > exponent {
            power = power - exponent;
            a = a * whole;
            b = b * whole;
        }
    }
    if power > exponent {
        return complex(most * a, most * b);
    }
    let size = power.exp();
    complex(size * a, size * b)
}

pub(super) fn exp<T: Real>(x: Complex<T>) -> Complex<T> {
    let (nan, zero, infinity) = (T::nan(), T::zero(), T::infinity());
    if x.re.is_finite() {
        if !x.im.is_finite() {
            return complex(nan, nan);
        }
        let (sine, cosine) = turn(x.im);
        return scaled(x.re, cosine, sine);
    }
    if x.re.is_infinite() {
        let size = if x.re < zero { zero } else { infinity };
        return match x.im.is_finite() {
            true if x.im == zero => complex(size, x.im),
            true => {
                let (sine, cosine) = turn(x.im);
                complex(size.with_sign(cosine), size.with_sign(sine))
            }
            false if x.re > zero => complex(infinity, nan),
            false => complex(zero, zero.with_sign(x.im)),
        };
    }
    complex(nan, if x.im == zero { x.im } else { nan })
}

/// Returns `x² + y² - 1`, with the rounding errors of the squares.
pub(super) fn beside_one<T: Real>(x: T, y: T) -> T {
    if size_of::<T>() == size_of::<f32>() {
        let (x, y) = (x.to_f64(), y.to_f64());
        return T::of((x - 1.0) * (x + 1.0) + y * y);
    }
    let (x, y) = (x.to_f64(), y.to_f64());
    let (a, b) = (x * x, y * y);
    let mut terms = [x.mul_add(x, -a), a, y.mul_add(y, -b), b, -1.0];
    let order = |terms: &mut [f64]| terms.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    order(&mut terms);
    for i in 0..4 {
        let (small, large) = (terms[i], terms[i + 1]);
        let sum = large + small;
        terms[i] = (large - sum) + small;
        terms[i + 1] = sum;
        order(&mut terms[i + 1..]);
    }
    let [a, b, c, d, e] = terms;
    T::of(e + d + c + b + a)
}

pub(super) fn ln<T: Real>(x: Complex<T>) -> Complex<T> {
    let (zero, one, two) = (T::zero(), T::one(), T::of(2.0));
    let half = T::of(0.5);
    let Limits { epsilon, least, most, digits, .. } = limits::<T>();
    if x.re == zero && x.im == zero {
        let angle = if x.re.is_sign_negative() { T::of(std::f64::consts::PI) } else { zero };
        return complex(T::neg_infinity(), angle.with_sign(x.im));
    }
    if x.re.is_nan() || x.im.is_nan() {
        let is_infinite = x.re.is_infinite() || x.im.is_infinite();
        return complex(if is_infinite { T::infinity() } else { T::nan() }, T::nan());
    }
    let (re, im) = (x.re.abs(), x.im.abs());
    let (mut large, mut small) = if re < im { (im, re) } else { (re, im) };
    let mut scale = 0;
    if large > most / two {
        scale = -1;
        large = large * half;
        small = if small >= two * least { small * half } else { zero };
    } else if large < least && small < least {
        scale = digits;
        (large, small) = (large.times_power(scale), small.times_power(scale));
    }
    let size = if large == one && scale == 0 {
        (small * small).ln_1p() / two
    } else if large > one && large < two && small < one && scale == 0 {
        let mut beside = (large - one) * (large + one);
        if small >= epsilon {
            beside = beside + small * small;
        }
        beside.ln_1p() / two
    } else if large < one && large >= half && small < epsilon / two && scale == 0 {
        ((large - one) * (large + one)).ln_1p() / two
    } else if large < one && large >= half && scale == 0 && large * large + small * small >= half {
        beside_one(large, small).ln_1p() / two
    } else {
        large.hypot(small).ln() - T::of(scale as f64) * T::LN_2
    };
    complex(size, x.im.atan2(x.re))
}

pub(super) fn sqrt<T: Real>(x: Complex<T>) -> Complex<T> {
    let (zero, two, half) = (T::zero(), T::of(2.0), T::of(0.5));
    let (nan, infinity) = (T::nan(), T::infinity());
    let Limits { least, most, digits, .. } = limits::<T>();
    if !x.re.is_finite() || !x.im.is_finite() {
        return match (x.re, x.im) {
            (_, im) if im.is_infinite() => complex(infinity, im),
            (re, im) if re.is_infinite() && re < zero => {
                complex(if im.is_nan() { nan } else { zero }, infinity.with_sign(im))
            }
            (re, im) if re.is_infinite() => complex(re, if im.is_nan() { nan } else { zero.with_sign(im) }),
            _ => complex(nan, nan),
        };
    }
    if x.im == zero {
        return match x.re < zero {
            true => complex(zero, (-x.re).sqrt().with_sign(x.im)),
            false => complex(x.re.sqrt().abs(), zero.with_sign(x.im)),
        };
    }
    if x.re == zero {
        let size = x.im.abs();
        let root = if size >= two * least { (half * size).sqrt() } else { half * (two * size).sqrt() };
        return complex(root, root.with_sign(x.im));
    }
    let quarter = T::of(0.25);
    let (mut re, mut im, mut scale) = (x.re, x.im, 0i64);
    if re.abs() > most / T::of(4.0) {
        scale = 1;
        (re, im) = (re * quarter, im * quarter);
    } else if im.abs() > most / T::of(4.0) {
        scale = 1;
        re = if re.abs() >= T::of(4.0) * least { re * quarter } else { zero };
        im = im * quarter;
    } else if re.abs() < two * least && im.abs() < two * least {
        scale = -((digits + 1) / 2);
        (re, im) = (re.times_power(-2 * scale), im.times_power(-2 * scale));
    }
    let size = re.hypot(im);
    let (mut r, mut s);
    if re > zero {
        r = (half * (size + re)).sqrt();
        if scale == 1 && im.abs() < two {
            s = im / r;
            r = r.times_power(scale);
            scale = 0;
        } else {
            s = half * (im / r);
        }
    } else {
        s = (half * (size - re)).sqrt();
        if scale == 1 && im.abs() < two {
            r = (im / s).abs();
            s = s.times_power(scale);
            scale = 0;
        } else {
            r = (half * (im / s)).abs();
        }
    }
    if scale != 0 {
        (r, s) = (r.times_power(scale), s.times_power(scale));
    }
    complex(r, s.with_sign(x.im))
}

pub(super) fn sinh<T: Real>(x: Complex<T>) -> Complex<T> {
    let (zero, nan, infinity) = (T::zero(), T::nan(), T::infinity());
    let (is_negative, re) = (x.re.is_sign_negative(), x.re.abs());
    let signed = |value: T| if is_negative { -value } else { value };
    if re.is_finite() {
        if !x.im.is_finite() {
            return if re == zero { complex(signed(zero), nan) } else { complex(nan, nan) };
        }
        let (sine, cosine) = turn(x.im);
        let (cosine, half) = (signed(cosine), T::of(0.5));
        let exponent = limits::<T>().exponent;
        if re > exponent {
            let whole = exponent.exp() * half;
            return scaled(re - exponent, cosine * whole, sine * whole);
        }
        return complex(re.sinh() * cosine, re.cosh() * sine);
    }
    if re.is_infinite() {
        return match x.im.is_finite() {
            true if x.im == zero => complex(signed(infinity), x.im),
            true => {
                let (sine, cosine) = turn(x.im);
                complex(signed(infinity.with_sign(cosine)), infinity.with_sign(sine))
            }
            false => complex(infinity, nan),
        };
    }
    complex(nan, if x.im == zero { x.im } else { nan })
}

pub(super) fn cosh<T: Real>(x: Complex<T>) -> Complex<T> {
    let (zero, one, nan, infinity) = (T::zero(), T::one(), T::nan(), T::infinity());
    if x.re.is_finite() {
        if !x.im.is_finite() {
            return complex(nan, if x.re == zero { zero } else { nan });
        }
        let (sine, cosine) = turn(x.im);
        let exponent = limits::<T>().exponent;
        if x.re.abs() > exponent {
            let whole = exponent.exp() * T::of(0.5);
            let sine = if x.re.is_sign_negative() { -sine } else { sine };
            return scaled(x.re.abs() - exponent, cosine * whole, sine * whole);
        }
        return complex(x.re.cosh() * cosine, x.re.sinh() * sine);
    }
    if x.re.is_infinite() {
        return match x.im.is_finite() {
            true if x.im == zero => complex(infinity, x.im * one.with_sign(x.re)),
            true => {
                let (sine, cosine) = turn(x.im);
                complex(infinity.with_sign(cosine), infinity.with_sign(sine) * one.with_sign(x.re))
            }
            false => complex(infinity, nan),
        };
    }
    complex(nan, if x.im == zero { x.im } else { nan })
}

pub(super) fn sin<T: Real>(x: Complex<T>) -> Complex<T> {
    if !x.re.is_finite() && x.im.is_infinite() {
        return complex(T::nan(), T::infinity());
    }
    // sin(x) = -i sinh(ix), with the signs of zeros and NaNs that the symmetry gives.
    let turned = sinh(complex(-x.im, x.re));
    complex(turned.im, -turned.re)
}

pub(super) fn cos<T: Real>(x: Complex<T>) -> Complex<T> {
    cosh(complex(-x.im, x.re))
}

pub(super) fn tanh<T: Real>(x: Complex<T>) -> Complex<T> {
    let (zero, one, nan) = (T::zero(), T::one(), T::nan());
    if !x.re.is_finite() || !x.im.is_finite() {
        if x.re.is_infinite() {
            let im = match x.im.is_finite() && x.im.abs() > one {
                true => zero.with_sign(x.im.sin() * x.im.cos()),
                false => zero.with_sign(x.im),
            };
            return complex(one.with_sign(x.re), im);
        }
        if x.im == zero {
            return x;
        }
        return complex(if x.re == zero { x.re } else { nan }, nan);
    }
    let Limits { half_exponent, epsilon, least, .. } = limits::<T>();
    let (sine, cosine) = turn(x.im);
    let size = x.re.abs();
    if size > half_exponent {
        let whole = (half_exponent + half_exponent).exp();
        let left = size - half_exponent;
        let im = T::of(4.0) * sine * cosine / whole;
        let im = if left > half_exponent { im / whole } else { im / (left + left).exp() };
        return complex(one.with_sign(x.re), im);
    }
    let (sinh, cosh) = if size > least { (x.re.sinh(), x.re.cosh()) } else { (x.re, one) };
    let below = match sinh.abs() > cosine.abs() * epsilon {
        true => sinh * sinh + cosine * cosine,
        false => cosine * cosine,
    };
    complex(sinh * cosh / below, sine * cosine / below)
}

pub(super) fn tan<T: Real>(x: Complex<T>) -> Complex<T> {
    let turned = tanh(complex(-x.im, x.re));
    complex(turned.im, -turned.re)
}

pub(super) fn exp_m1<T: Real>(x: Complex<T>) -> Complex<T> {
    let half = (x.im / T::of(2.0)).sin();
    complex(x.re.exp_m1() * x.im.cos() - T::of(2.0) * half * half, x.re.exp() * x.im.sin())
}

pub(super) fn ln_1p<T: Real>(x: Complex<T>) -> Complex<T> {
    let re = x.re + T::one();
    complex(re.hypot(x.im).ln(), x.im.atan2(re))
}
