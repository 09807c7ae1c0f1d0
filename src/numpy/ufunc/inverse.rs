//! The inverse trigonometric and hyperbolic functions of complex numbers, with the digits of the GNU C library.

use super::analytic::{Limits, beside_one, complex, limits, ln, sqrt};
use super::math::Real;
use num_complex::Complex;

fn quarter_turn<T: Real>() -> T {
    T::of(std::f64::consts::FRAC_PI_2)
}

/// Computes `asinh` of a finite number other than zero; with `adjusted`, its parts are exchanged as `acos` needs them.
fn core<T: Real>(x: Complex<T>, adjusted: bool) -> Complex<T> {
    let (one, two, half) = (T::one(), T::of(2.0), T::of(0.5));
    let Limits { epsilon, .. } = limits::<T>();
    let (rx, ix) = (x.re.abs(), x.im.abs());
    let eighth = epsilon / T::of(8.0);
    // Exchanges the parts before the logarithm.
    let exchanged = |y: Complex<T>| if adjusted { complex(y.im.with_sign(x.im), y.re) } else { y };
    // The angle of a number with these parts.
    let angle = |re: T, im: T| if adjusted { re.atan2(im.with_sign(x.im)) } else { im.atan2(re) };
    let result = if rx >= one / epsilon || ix >= one / epsilon {
        let log = ln(exchanged(complex(rx, ix)));
        complex(log.re + T::LN_2, log.im)
    } else if rx >= half && ix < eighth {
        let s = one.hypot(rx);
        complex((rx + s).ln(), if adjusted { s.atan2(x.im) } else { ix.atan2(s) })
    } else if rx < eighth && ix >= T::of(1.5) {
        let s = ((ix + one) * (ix - one)).sqrt();
        complex((ix + s).ln(), angle(rx, s))
    } else if ix > one && ix < T::of(1.5) && rx < half {
        let above = (ix + one) * (ix - one);
        if rx < epsilon * epsilon {
            let s = above.sqrt();
            complex((two * (above + ix * s)).ln_1p() / two, angle(rx, s))
        } else {
            let square = rx * rx;
            let f = square * (two + square + two * ix * ix);
            let d = (above * above + f).sqrt();
            let dp = d + above;
            let dm = f / dp;
            let r1 = ((dm + square) / two).sqrt();
            let r2 = rx * ix / r1;
            complex((square + dp + two * (rx * r1 + ix * r2)).ln_1p() / two, angle(rx + r1, ix + r2))
        }
    } else if ix == one && rx < half {
        if rx < eighth {
            complex((two * (rx + rx.sqrt())).ln_1p() / two, angle(rx.sqrt(), one))
        } else {
            let d = rx * (T::of(4.0) + rx * rx).sqrt();
            let s1 = ((d + rx * rx) / two).sqrt();
            let s2 = ((d - rx * rx) / two).sqrt();
            complex((rx * rx + d + two * (rx * s1 + s2)).ln_1p() / two, angle(rx + s1, one + s2))
        }
    } else if ix < one && rx < half {
        if ix > epsilon {
            let below = (one + ix) * (one - ix);
            if rx < epsilon * epsilon {
                let s = below.sqrt();
                complex((two * rx / s).ln_1p() / two, if adjusted { s.atan2(x.im) } else { ix.atan2(s) })
            } else {
                let square = rx * rx;
                let f = square * (two + square + two * ix * ix);
                let d = (below * below + f).sqrt();
                let dp = d + below;
                let dm = f / dp;
                let r1 = ((dp + square) / two).sqrt();
                let r2 = rx * ix / r1;
                complex((square + dm + two * (rx * r1 + ix * r2)).ln_1p() / two, angle(rx + r1, ix + r2))
            }
        } else {
            let s = one.hypot(rx);
            complex((two * rx * (rx + s)).ln_1p() / two, if adjusted { s.atan2(x.im) } else { ix.atan2(s) })
        }
    } else {
        let root = sqrt(complex((rx - ix) * (rx + ix) + one, two * rx * ix));
        ln(exchanged(complex(root.re + rx, root.im + ix)))
    };
    complex(result.re.with_sign(x.re), result.im.with_sign(if adjusted { one } else { x.im }))
}

fn is_zero<T: Real>(x: Complex<T>) -> bool {
    x.re == T::zero() && x.im == T::zero()
}

fn is_finite<T: Real>(x: Complex<T>) -> bool {
    x.re.is_finite() && x.im.is_finite()
}

pub(super) fn asinh<T: Real>(x: Complex<T>) -> Complex<T> {
    let (zero, nan) = (T::zero(), T::nan());
    if is_finite(x) {
        return if is_zero(x) { x } else { core(x, false) };
    }
    if x.im.is_infinite() {
        let im = match x.re {
            re if re.is_nan() => nan,
            re if re.is_finite() => quarter_turn::<T>().with_sign(x.im),
            _ => T::of(std::f64::consts::FRAC_PI_4).with_sign(x.im),
        };
        return complex(T::infinity().with_sign(x.re), im);
    }
    if !x.re.is_finite() {
        let keeps = x.re.is_infinite() && x.im.is_finite() || x.re.is_nan() && x.im == zero;
        return complex(x.re, if keeps { zero.with_sign(x.im) } else { nan });
    }
    complex(nan, nan)
}

pub(super) fn asin<T: Real>(x: Complex<T>) -> Complex<T> {
    if x.re.is_nan() || x.im.is_nan() {
        return match () {
            () if x.re == T::zero() => x,
            () if x.re.is_infinite() || x.im.is_infinite() => complex(T::nan(), T::infinity().with_sign(x.im)),
            () => complex(T::nan(), T::nan()),
        };
    }
    let y = asinh(complex(-x.im, x.re));
    complex(y.im, -y.re)
}

pub(super) fn acos<T: Real>(x: Complex<T>) -> Complex<T> {
    if !is_finite(x) || is_zero(x) {
        let y = asin(x);
        let re = quarter_turn::<T>() - y.re;
        return complex(if re == T::zero() { T::zero() } else { re }, -y.im);
    }
    let y = core(complex(-x.im, x.re), true);
    complex(y.im, y.re)
}

pub(super) fn acosh<T: Real>(x: Complex<T>) -> Complex<T> {
    let (zero, nan, infinity) = (T::zero(), T::nan(), T::infinity());
    let (quarter, eighth) = (quarter_turn::<T>(), T::of(std::f64::consts::FRAC_PI_4));
    let half = T::of(std::f64::consts::PI);
    if !is_finite(x) {
        if x.im.is_infinite() {
            let im = match x.re {
                re if re.is_nan() => nan,
                re if re.is_finite() => quarter.with_sign(x.im),
                re if re < zero => (half - eighth).with_sign(x.im),
                _ => eighth.with_sign(x.im),
            };
            return complex(infinity, im);
        }
        if x.re.is_infinite() {
            let angle = if x.re.is_sign_negative() { half } else { zero };
            return complex(infinity, if x.im.is_finite() { angle.with_sign(x.im) } else { nan });
        }
        return complex(nan, if x.re == zero { quarter } else { nan });
    }
    if is_zero(x) {
        return complex(zero, quarter.with_sign(x.im));
    }
    let y = core(complex(-x.im, x.re), true);
    if x.im.is_sign_negative() { complex(y.re, -y.im) } else { complex(-y.re, y.im) }
}

pub(super) fn atanh<T: Real>(x: Complex<T>) -> Complex<T> {
    let (zero, one, nan, half) = (T::zero(), T::one(), T::nan(), T::of(0.5));
    let quarter = quarter_turn::<T>();
    if !is_finite(x) {
        if x.im.is_infinite() {
            return complex(zero.with_sign(x.re), quarter.with_sign(x.im));
        }
        if x.re.is_infinite() || x.re == zero {
            let im = if x.im.is_finite() { quarter.with_sign(x.im) } else { nan };
            return complex(zero.with_sign(x.re), im);
        }
        return complex(nan, nan);
    }
    if is_zero(x) {
        return x;
    }
    let Limits { epsilon, .. } = limits::<T>();
    let (re, im) = (x.re.abs(), x.im.abs());
    let far = T::of(16.0) / epsilon;
    if re >= far || im >= far {
        let small = if im <= one {
            one / x.re
        } else if re <= one {
            x.re / x.im / x.im
        } else {
            let h = (x.re / T::of(2.0)).hypot(x.im / T::of(2.0));
            x.re / h / h / T::of(4.0)
        };
        return complex(small, quarter.with_sign(x.im));
    }
    let size = if re == one && im < epsilon * epsilon {
        half.with_sign(x.re) * (T::LN_2 - im.ln())
    } else {
        let square = if im >= epsilon * epsilon { x.im * x.im } else { zero };
        let (above, below) = (one + x.re, one - x.re);
        let (above, below) = (square + above * above, square + below * below);
        let ratio = above / below;
        let fourth = T::of(0.25);
        if ratio < half { fourth * ratio.ln() } else { fourth * (T::of(4.0) * x.re / below).ln_1p() }
    };
    let (large, small) = if re < im { (im, re) } else { (re, im) };
    let below = if small < epsilon / T::of(2.0) {
        let below = (one - large) * (one + large);
        if below == zero { zero } else { below }
    } else if large < one && (large >= T::of(0.75) || small >= half) {
        -beside_one(large, small)
    } else {
        (one - large) * (one + large) - small * small
    };
    complex(size, half * (T::of(2.0) * x.im).atan2(below))
}

pub(super) fn atan<T: Real>(x: Complex<T>) -> Complex<T> {
    // The same formulas with the parts exchanged.
    let y = atanh(complex(x.im, x.re));
    complex(y.im, y.re)
}
