//! Orthogonal polynomials by their recurrences. A&S chapter 22. The degree is a real number whose fraction is dropped;
//! polynomials of negative degree are 0.

/// `p(n + 1) = next(n, p(n), p(n - 1))`, from degrees 0 and 1.
fn recur(n: i64, first: f64, second: f64, next: impl Fn(f64, f64, f64) -> f64) -> f64 {
    if n < 0 {
        return 0.0;
    }
    if n == 0 {
        return first;
    }
    let (mut before, mut current) = (first, second);
    for k in 1..n {
        (before, current) = (current, next(k as f64, current, before));
        if current.is_nan() {
            break;
        }
    }
    current
}

/// A Chebyshev polynomial, known by its value at degree 1. `trigonometric` is its form inside of [-1, 1], used for
/// high degrees.
fn chebyshev(x: f64, n: f64, second: f64, trigonometric: impl Fn(f64, f64) -> f64) -> f64 {
    let n = n as i64;
    if n > 8 && x.abs() < 1.0 {
        return trigonometric(n as f64, x.acos());
    }
    if x.abs() == 1.0 && n > 8 {
        // Constant, or growing by one step a degree: the recurrence would count up to any degree.
        let step = second - 1.0;
        let last = if x > 0.0 { 1.0 + n as f64 * step } else { at_minus_one(n, second) };
        return last;
    }
    recur(n, 1.0, second, |_, current, before| 2.0 * x * current - before)
}

/// At -1 the magnitudes behave as at 1 and the signs alternate.
fn at_minus_one(n: i64, second: f64) -> f64 {
    let magnitude = 1.0 + n as f64 * (second.abs() - 1.0);
    if n % 2 == 0 { magnitude } else { -magnitude }
}

pub fn chebyshev_t(x: f64, n: f64) -> f64 {
    chebyshev(x, n, x, |n, angle| (n * angle).cos())
}

pub fn chebyshev_u(x: f64, n: f64) -> f64 {
    chebyshev(x, n, 2.0 * x, |n, angle| ((n + 1.0) * angle).sin() / angle.sin())
}

pub fn chebyshev_v(x: f64, n: f64) -> f64 {
    chebyshev(x, n, 2.0 * x - 1.0, |n, angle| ((n + 0.5) * angle).cos() / (angle / 2.0).cos())
}

pub fn chebyshev_w(x: f64, n: f64) -> f64 {
    chebyshev(x, n, 2.0 * x + 1.0, |n, angle| ((n + 0.5) * angle).sin() / (angle / 2.0).sin())
}

/// A polynomial of [0, 1] made from one of [-1, 1].
pub fn shifted(polynomial: fn(f64, f64) -> f64) -> impl Fn(f64, f64) -> f64 {
    move |x, n| polynomial(2.0 * x - 1.0, n)
}

pub fn hermite_h(x: f64, n: f64) -> f64 {
    recur(n as i64, 1.0, 2.0 * x, |k, current, before| 2.0 * (x * current - k * before))
}

pub fn hermite_he(x: f64, n: f64) -> f64 {
    recur(n as i64, 1.0, x, |k, current, before| x * current - k * before)
}

pub fn laguerre(x: f64, n: f64) -> f64 {
    if x == 0.0 && n >= 0.0 {
        return 1.0;
    }
    recur(n as i64, 1.0, 1.0 - x, |k, current, before| ((2.0 * k + 1.0 - x) * current - k * before) / (k + 1.0))
}

pub fn legendre(x: f64, n: f64) -> f64 {
    if x.abs() == 1.0 && n >= 0.0 {
        return if x > 0.0 || (n as i64) % 2 == 0 { 1.0 } else { -1.0 };
    }
    recur(n as i64, 1.0, x, |k, current, before| ((2.0 * k + 1.0) * x * current - k * before) / (k + 1.0))
}
