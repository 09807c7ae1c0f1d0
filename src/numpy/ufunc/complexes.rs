//! Kernels of complex numbers.

use super::compare::Compared;
use super::math::Real;
use super::run::{One, Two, called, map, map_plain, two, zip};
use super::table::Op;
use super::{analytic, inverse};
use num_complex::Complex;
use tensor::memory::BoolByte;

#[inline(always)]
fn multiply<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
}

/// Multiplies as C compilers do: a product with an infinite factor is infinite.
fn recovered<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let product = multiply(a, b);
    if !product.re.is_nan() || !product.im.is_nan() {
        return product;
    }
    let zero = T::zero();
    let boxed = |x: Complex<T>| {
        let unit = |part: T| (if part.is_infinite() { T::one() } else { zero }).with_sign(part);
        Complex::new(unit(x.re), unit(x.im))
    };
    let emptied = |x: Complex<T>| {
        let part = |part: T| if part.is_nan() { zero.with_sign(part) } else { part };
        Complex::new(part(x.re), part(x.im))
    };
    let is_infinite = |x: Complex<T>| x.re.is_infinite() || x.im.is_infinite();
    let (mut x, mut y, mut again) = (a, b, false);
    if is_infinite(x) {
        (x, y, again) = (boxed(x), emptied(y), true);
    }
    if is_infinite(y) {
        (x, y, again) = (emptied(x), boxed(y), true);
    }
    let overflows = [a.re * b.re, a.im * b.im, a.re * b.im, a.im * b.re].iter().any(|part| part.is_infinite());
    if !again && overflows {
        (x, y, again) = (emptied(x), emptied(y), true);
    }
    let infinity = T::infinity();
    match again {
        true => Complex::new(infinity * (x.re * y.re - x.im * y.im), infinity * (x.re * y.im + x.im * y.re)),
        false => product,
    }
}

/// Smith's method.
fn divide<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let (zero, one) = (T::zero(), T::one());
    let (re, im) = (b.re.abs(), b.im.abs());
    if re >= im {
        if re == zero && im == zero {
            return Complex::new(a.re / re, a.im / re);
        }
        let ratio = b.im / b.re;
        let scale = one / (b.re + b.im * ratio);
        Complex::new((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale)
    } else {
        let ratio = b.re / b.im;
        let scale = one / (b.im + b.re * ratio);
        Complex::new((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale)
    }
}

fn scaled<T: Real>(a: Complex<T>, factor: T) -> Complex<T> {
    Complex::new(a.re * factor, a.im * factor)
}

fn is_nan<T: Real>(a: Complex<T>) -> bool {
    a.re.is_nan() || a.im.is_nan()
}

fn larger<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T>
where
    Complex<T>: Compared,
{
    if b.less_equal(a) || is_nan(a) { a } else { b }
}

fn smaller<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T>
where
    Complex<T>: Compared,
{
    if a.less_equal(b) || is_nan(a) { a } else { b }
}

fn larger_number<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T>
where
    Complex<T>: Compared,
{
    if b.less_equal(a) || is_nan(b) { a } else { b }
}

fn smaller_number<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T>
where
    Complex<T>: Compared,
{
    if a.less_equal(b) || is_nan(b) { a } else { b }
}

/// Whole powers by products; others by the logarithm.
fn power<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let (zero, one) = (T::zero(), T::one());
    if b.re == zero && b.im == zero {
        return Complex::new(one, zero);
    }
    if a.re == zero && a.im == zero {
        return match b.re > zero {
            true => Complex::new(zero, zero),
            false => Complex::new(T::nan(), T::nan()),
        };
    }
    let n = b.re.to_f64() as i64;
    if b.im == zero && T::of(n as f64) == b.re {
        if n == 1 {
            return a;
        }
        if n == 2 {
            return multiply(a, a);
        }
        if n == 3 {
            return multiply(a, multiply(a, a));
        }
        if n > -100 && n < 100 {
            let (mut result, mut base, left, mut mask) = (Complex::new(one, zero), a, n.unsigned_abs(), 1u64);
            loop {
                if left & mask != 0 {
                    result = multiply(result, base);
                }
                mask <<= 1;
                if left < mask {
                    break;
                }
                base = multiply(base, base);
            }
            return if b.re < zero { divide(Complex::new(one, zero), result) } else { result };
        }
    }
    let mut exponent = recovered(b, analytic::ln(a));
    // A zero result takes the sign of this NaN. x86 makes a negative one, and ARM a positive one.
    if exponent.im.is_nan() {
        exponent.im = T::nan().with_sign(-one);
    }
    analytic::exp(exponent)
}

/// Returns the kernel of two numbers.
pub(super) fn two_complex<T: Real>(op: Op) -> Option<Two<Complex<T>, Complex<T>, Complex<T>>>
where
    Complex<T>: Compared,
{
    type C<T> = Complex<T>;
    Some(match op {
        Op::Add => two!(|a: C<T>, b: C<T>| Complex::new(a.re + b.re, a.im + b.im)),
        Op::Subtract => two!(|a: C<T>, b: C<T>| Complex::new(a.re - b.re, a.im - b.im)),
        // Vectors round the two products of each part differently from single numbers.
        Op::Multiply => Two {
            slices: |a, b, out| {
                zip(a, b, out, |a: C<T>, b: C<T>| {
                    Complex::new(a.re.fused(b.re, -(a.im * b.im)), a.re.fused(b.im, a.im * b.re))
                })
            },
            one: multiply::<T>,
        },
        Op::Divide => called!(divide::<T>),
        Op::Power | Op::FloatPower => called!(power::<T>),
        Op::Maximum => called!(larger::<T>),
        Op::Minimum => called!(smaller::<T>),
        Op::Fmax => called!(larger_number::<T>),
        Op::Fmin => called!(smaller_number::<T>),
        _ => return None,
    })
}

fn sign<T: Real>(a: Complex<T>) -> Complex<T> {
    let (zero, one) = (T::zero(), T::one());
    let unit = |part: T| if part == zero { zero } else { one.with_sign(part) };
    let size = a.re.hypot(a.im);
    if size.is_nan() {
        return Complex::new(T::nan(), T::nan());
    }
    if size.is_infinite() {
        return match (a.re.is_infinite(), a.im.is_infinite()) {
            (true, true) => Complex::new(T::nan(), T::nan()),
            (true, false) => Complex::new(unit(a.re), zero),
            _ => Complex::new(zero, unit(a.im)),
        };
    }
    if size == zero { Complex::new(zero, zero) } else { Complex::new(a.re / size, a.im / size) }
}

fn reciprocal<T: Real>(a: Complex<T>) -> Complex<T> {
    let one = T::one();
    if a.re.abs() >= a.im.abs() {
        let ratio = a.im / a.re;
        let size = a.re + a.im * ratio;
        Complex::new(one / size, -ratio / size)
    } else {
        let ratio = a.re / a.im;
        let size = a.re * ratio + a.im;
        Complex::new(ratio / size, -one / size)
    }
}

/// Returns the kernel of one number.
pub(super) fn one_complex<T: Real>(op: Op) -> Option<One<Complex<T>, Complex<T>>> {
    type C<T> = Complex<T>;
    Some(match op {
        Op::Negative => |from, out| map(from, out, |a: C<T>| Complex::new(-a.re, -a.im)),
        Op::Positive => |from, out| out.copy_from_slice(from),
        Op::Conjugate => |from, out| map(from, out, |a: C<T>| Complex::new(a.re, -a.im)),
        Op::Square => |from, out| {
            map(from, out, |a: C<T>| Complex::new(a.re.fused(a.re, -(a.im * a.im)), a.im.fused(a.re, a.re * a.im)));
        },
        Op::Reciprocal => |from, out| map_plain(from, out, reciprocal::<T>),
        Op::Sign => |from, out| map_plain(from, out, sign::<T>),
        Op::Rint => |from, out| map(from, out, |a: C<T>| Complex::new(a.re.rint(), a.im.rint())),
        Op::Sqrt => |from, out| map_plain(from, out, analytic::sqrt::<T>),
        Op::Exp => |from, out| map_plain(from, out, analytic::exp::<T>),
        Op::Exp2 => {
            |from, out| map_plain(from, out, |a: C<T>| analytic::exp(Complex::new(a.re * T::LN_2, a.im * T::LN_2)))
        }
        Op::Expm1 => |from, out| map_plain(from, out, analytic::exp_m1::<T>),
        Op::Log => |from, out| map_plain(from, out, analytic::ln::<T>),
        Op::Log2 => |from, out| map_plain(from, out, |a: C<T>| scaled(analytic::ln(a), T::LOG2_E)),
        Op::Log10 => {
            |from, out| map_plain(from, out, |a: C<T>| scaled(analytic::ln(a), T::of(std::f64::consts::LOG10_E)))
        }
        Op::Log1p => |from, out| map_plain(from, out, analytic::ln_1p::<T>),
        Op::Sin => |from, out| map_plain(from, out, analytic::sin::<T>),
        Op::Cos => |from, out| map_plain(from, out, analytic::cos::<T>),
        Op::Tan => |from, out| map_plain(from, out, analytic::tan::<T>),
        Op::Sinh => |from, out| map_plain(from, out, analytic::sinh::<T>),
        Op::Cosh => |from, out| map_plain(from, out, analytic::cosh::<T>),
        Op::Tanh => |from, out| map_plain(from, out, analytic::tanh::<T>),
        Op::Arcsin => |from, out| map_plain(from, out, inverse::asin::<T>),
        Op::Arccos => |from, out| map_plain(from, out, inverse::acos::<T>),
        Op::Arctan => |from, out| map_plain(from, out, inverse::atan::<T>),
        Op::Arcsinh => |from, out| map_plain(from, out, inverse::asinh::<T>),
        Op::Arccosh => |from, out| map_plain(from, out, inverse::acosh::<T>),
        Op::Arctanh => |from, out| map_plain(from, out, inverse::atanh::<T>),
        _ => return None,
    })
}

/// Returns the kernel of a test of one number.
pub(super) fn complex_test<T: Real>(op: Op) -> Option<One<Complex<T>, BoolByte>> {
    type C<T> = Complex<T>;
    Some(match op {
        Op::Isnan => |from, out| map(from, out, |a: C<T>| BoolByte::new(is_nan(a))),
        Op::Isinf => |from, out| map(from, out, |a: C<T>| BoolByte::new(a.re.is_infinite() | a.im.is_infinite())),
        Op::Isfinite => |from, out| map(from, out, |a: C<T>| BoolByte::new(a.re.is_finite() & a.im.is_finite())),
        Op::LogicalNot => |from, out| map(from, out, |a: C<T>| BoolByte::new(a.re == T::zero() && a.im == T::zero())),
        _ => return None,
    })
}

/// Returns the kernel whose results are real.
pub(super) fn magnitudes<T: Real>(op: Op) -> Option<One<Complex<T>, T>> {
    (op == Op::Absolute).then_some(|from, out| map(from, out, magnitude))
}

/// Scales by the larger part, so that no square overflows.
#[inline(always)]
fn magnitude<T: Real>(a: Complex<T>) -> T {
    let (re, im) = (a.re.abs(), a.im.abs());
    let (large, small) = if re > im { (re, im) } else { (im, re) };
    let ratio = small / large;
    let size = large * ratio.fused(ratio, T::one()).sqrt();
    if re.is_infinite() || im.is_infinite() {
        T::infinity()
    } else if large == T::zero() && small == T::zero() {
        T::zero()
    } else {
        size
    }
}

/// The kernels of single numbers, and of elements against their order, where vectors round differently.
pub(super) fn plain_two<T: Real>(op: Op) -> Option<Two<Complex<T>, Complex<T>, Complex<T>>> {
    (op == Op::Multiply).then_some(called!(multiply::<T>))
}

/// Like [`plain_two`], for one input.
pub(super) fn plain_one<T: Real>(op: Op) -> Option<One<Complex<T>, Complex<T>>> {
    (op == Op::Square).then_some(|from, out| map_plain(from, out, |a: Complex<T>| multiply(a, a)))
}

/// Like [`plain_two`], for a real result.
pub(super) fn plain_magnitudes<T: Real>(op: Op) -> Option<One<Complex<T>, T>> {
    (op == Op::Absolute).then_some(|from, out| map_plain(from, out, |a: Complex<T>| a.re.hypot(a.im)))
}
