//! The QR iteration from Hessenberg to Schur form: triangular for complex matrices; for real ones with two-row blocks
//! for conjugate pairs of eigenvalues. Follows LAPACK's lahqr and lanv2.

use super::field::Field;
use super::matrix::Matrix;
use super::qr::reflection;
use super::rotation::{rotate_columns, rotate_rows};
use crate::bail;
use crate::ops::number::Real;
use crate::parallel::vectorised;
use crate::{Result, interrupt};
use num_complex::Complex;
use num_traits::{Float, One, Zero};
use std::ops::Range;

/// Number types whose matrices have their own kind of Schur form.
pub(super) trait Schur: Field {
    const IS_COMPLEX: bool;

    /// Iterates the active part of `h` to Schur form and applies the same steps to `z`. Returns the eigenvalues.
    ///
    /// # Errors
    /// RuntimeError if the iteration does not converge.
    fn schur(h: &mut Matrix<Self>, z: &mut Matrix<Self>, active: Range<usize>) -> Result<Vec<Complex<Self::Real>>>;
}

macro_rules! schur {
    ($($real:ty)*) => {$(
        impl Schur for $real {
            const IS_COMPLEX: bool = false;
            fn schur(h: &mut Matrix<$real>, z: &mut Matrix<$real>, active: Range<usize>) -> Result<Vec<Complex<$real>>> {
                real(h, z, active)
            }
        }
        impl Schur for Complex<$real> {
            const IS_COMPLEX: bool = true;
            fn schur(h: &mut Matrix<Self>, z: &mut Matrix<Self>, active: Range<usize>) -> Result<Vec<Self>> {
                complex(h, z, active)
            }
        }
    )*};
}
schur!(f32 f64);

/// The maximum number of iterations per eigenvalue, as in LAPACK.
const ITERATIONS: usize = 30;

/// The number of iterations without success before an exceptional shift.
const PATIENCE: usize = 10;

/// Returns the first row of the block that ends with `last`: the subdiagonal element before it is negligible.
fn block_start<T: Field>(h: &Matrix<T>, first: usize, last: usize, active: &Range<usize>) -> usize {
    let ulp = <T::Real as Float>::epsilon();
    let tiny = <T::Real as Float>::min_positive_value() * (<T::Real as Real>::from_f64(active.len() as f64) / ulp);
    let mut k = last;
    while k > first {
        let below = h[(k, k - 1)].size();
        if below <= tiny {
            break;
        }
        let mut scale = h[(k - 1, k - 1)].size() + h[(k, k)].size();
        if scale.is_zero() {
            if k >= active.start + 2 {
                scale = scale + Float::abs(h[(k - 1, k - 2)].re());
            }
            if k + 1 < active.end {
                scale = scale + Float::abs(h[(k + 1, k)].re());
            }
        }
        if Float::abs(h[(k, k - 1)].re()) <= ulp * scale {
            let beside = h[(k - 1, k)].size();
            let apart = (h[(k - 1, k - 1)] - h[(k, k)]).size();
            let own = h[(k, k)].size();
            let (more, less) = (Float::max(below, beside), Float::min(below, beside));
            let (large, small) = (Float::max(own, apart), Float::min(own, apart));
            let sum = large + more;
            if less * (more / sum) <= Float::max(tiny, ulp * (small * (large / sum))) {
                break;
            }
        }
        k -= 1;
    }
    k
}

/// Takes steps until the block that ends at `i` has at most `rows` rows, and returns its first row. `step` gets the
/// current first row of the block, and the number of steps taken with it.
fn settled<T: Field>(
    h: &mut Matrix<T>,
    i: usize,
    rows: usize,
    active: &Range<usize>,
    mut step: impl FnMut(&mut Matrix<T>, usize, usize),
) -> Result<usize> {
    let mut first = active.start;
    for iteration in 0..=ITERATIONS * active.len().max(PATIENCE) {
        interrupt::check()?;
        first = block_start(h, first, i, active);
        if first > active.start {
            h[(first, first - 1)] = T::zero();
        }
        if first + rows > i {
            return Ok(first);
        }
        step(h, first, iteration + 1);
    }
    diverged(i)
}

fn diverged<T>(index: usize) -> Result<T> {
    bail!(
        LinAlgError,
        "linalg.eig: The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: {}).",
        index + 1
    )
}

fn real<R: Field<Real = R> + Real + Float>(
    h: &mut Matrix<R>,
    z: &mut Matrix<R>,
    active: Range<usize>,
) -> Result<Vec<Complex<R>>> {
    let n = h.rows;
    let zero = <R as Zero>::zero();
    let mut values: Vec<Complex<R>> = (0..n).map(|i| Complex::new(h[(i, i)], zero)).collect();
    let mut end = active.end;
    while end > active.start {
        let i = end - 1;
        let first = settled(h, i, 2, &active, |h, first, count| double_step(h, z, first, i, count))?;
        if first == i {
            values[i] = Complex::new(h[(i, i)], zero);
        } else {
            let pair = standardise(h, z, i - 1);
            values[i - 1] = pair[0];
            values[i] = pair[1];
        }
        end = first;
    }
    Ok(values)
}

/// Takes one step with two shifts on the block from `l` to `i`.
fn double_step<R: Field<Real = R> + Real + Float>(
    h: &mut Matrix<R>,
    z: &mut Matrix<R>,
    l: usize,
    i: usize,
    count: usize,
) {
    let (zero, one, n) = (<R as Zero>::zero(), <R as One>::one(), h.rows);
    let ulp = <R as Float>::epsilon();
    let number = <R as Real>::from_f64;
    let exceptional = |corner: R, s: R| [number(0.75) * s + corner, number(-0.4375) * s, s, number(0.75) * s + corner];
    let [a, b, c, d] = if count.is_multiple_of(2 * PATIENCE) {
        exceptional(h[(i, i)], Float::abs(h[(i, i - 1)]) + Float::abs(h[(i - 1, i - 2)]))
    } else if count.is_multiple_of(PATIENCE) {
        exceptional(h[(l, l)], Float::abs(h[(l + 1, l)]) + Float::abs(h[(l + 2, l + 1)]))
    } else {
        [h[(i - 1, i - 1)], h[(i - 1, i)], h[(i, i - 1)], h[(i, i)]]
    };
    // The eigenvalues of the two-by-two matrix. Of two real ones, the one closer to the corner is used twice.
    let size = Float::abs(a) + Float::abs(b) + Float::abs(c) + Float::abs(d);
    let (mut first, mut second) = (Complex::new(zero, zero), Complex::new(zero, zero));
    if size != zero {
        let (a, b, c, d) = (a / size, b / size, c / size, d / size);
        let middle = (a + d) / (one + one);
        let determinant = (a - middle) * (d - middle) - b * c;
        let root = Float::sqrt(Float::abs(determinant));
        if determinant >= zero {
            first = Complex::new(middle * size, root * size);
            second = first.conj();
        } else {
            let (plus, minus) = (middle + root, middle - root);
            let near = if Float::abs(plus - d) <= Float::abs(minus - d) { plus } else { minus };
            first.re = near * size;
            second.re = near * size;
        }
    }
    // The row to start at: two small consecutive subdiagonal elements allow starting further down.
    let mut m = i - 2;
    let mut v;
    loop {
        let below = h[(m + 1, m)];
        let s = Float::abs(h[(m, m)] - second.re) + Float::abs(second.im) + Float::abs(below);
        let scaled = below / s;
        v = [
            scaled * h[(m, m + 1)] + (h[(m, m)] - first.re) * ((h[(m, m)] - second.re) / s)
                - first.im * (second.im / s),
            scaled * (h[(m, m)] + h[(m + 1, m + 1)] - first.re - second.re),
            scaled * h[(m + 2, m + 1)],
        ];
        let s = Float::abs(v[0]) + Float::abs(v[1]) + Float::abs(v[2]);
        v = v.map(|x| x / s);
        if m == l {
            break;
        }
        let around = Float::abs(h[(m - 1, m - 1)]) + Float::abs(h[(m, m)]) + Float::abs(h[(m + 1, m + 1)]);
        if Float::abs(h[(m, m - 1)]) * (Float::abs(v[1]) + Float::abs(v[2])) <= ulp * Float::abs(v[0]) * around {
            break;
        }
        m -= 1;
    }
    for k in m..i {
        let width = (i - k + 1).min(3);
        if k > m {
            for (r, value) in v.iter_mut().enumerate().take(width) {
                *value = h[(k + r, k - 1)];
            }
        }
        let found = reflection(v[0], v[1..width].iter().copied());
        if k > m {
            h[(k, k - 1)] = found.beta;
            for r in 1..width {
                h[(k + r, k - 1)] = zero;
            }
        } else if m > l {
            h[(k, k - 1)] = h[(k, k - 1)] * (one - found.tau);
        }
        let u: Vec<R> = std::iter::once(one).chain(v[1..width].iter().map(|&x| found.own(x))).collect();
        let times = |x: R| x * found.tau;
        for column in h.columns_from(k).chunks_exact_mut(n) {
            let own = &mut column[k..k + width];
            let sum = u.iter().zip(&*own).fold(zero, |sum, (&u, &x)| sum + u * x);
            u.iter().zip(own).for_each(|(&u, x)| *x = *x - sum * times(u));
        }
        reflect_columns(h, k, (k + 3).min(i) + 1, &u, found.tau);
        reflect_columns(z, k, n, &u, found.tau);
    }
}

/// Reflects two or three columns from `k` on, in the first rows.
fn reflect_columns<R: Field<Real = R> + Float>(m: &mut Matrix<R>, k: usize, rows: usize, u: &[R], tau: R) {
    let zero = <R as Zero>::zero();
    let height = m.rows;
    let mut columns = m.columns_from(k).chunks_exact_mut(height).map(|column| &mut column[..rows]);
    match (u, columns.next(), columns.next(), columns.next()) {
        (&[a, b, c], Some(first), Some(second), Some(third)) => vectorised(|| {
            for ((x, y), z) in first.iter_mut().zip(second).zip(third) {
                let sum = zero + a * *x + b * *y + c * *z;
                (*x, *y, *z) = (*x - sum * (a * tau), *y - sum * (b * tau), *z - sum * (c * tau));
            }
        }),
        (&[a, b], Some(first), Some(second), _) => vectorised(|| {
            for (x, y) in first.iter_mut().zip(second) {
                let sum = zero + a * *x + b * *y;
                (*x, *y) = (*x - sum * (a * tau), *y - sum * (b * tau));
            }
        }),
        _ => {}
    }
}

/// Brings the block of rows `p` and `p + 1` to standard form: triangular, or with equal diagonal elements and
/// off-diagonal elements of opposite signs. Returns its eigenvalues.
fn standardise<R: Field<Real = R> + Real + Float>(h: &mut Matrix<R>, z: &mut Matrix<R>, p: usize) -> [Complex<R>; 2] {
    let (zero, one) = (<R as Zero>::zero(), <R as One>::one());
    let half = one / (one + one);
    let sign = |x: R| if Float::is_sign_negative(x) { -one } else { one };
    let [a, b, c, d] = [h[(p, p)], h[(p, p + 1)], h[(p + 1, p)], h[(p + 1, p + 1)]];
    let (mut cosine, mut sine) = (one, zero);
    let mut block = [a, b, c, d];
    if c == zero || (a - d == zero && sign(b) != sign(c)) {
        // Already in standard form.
    } else if b == zero {
        (cosine, sine) = (zero, one);
        block = [d, -c, zero, a];
    } else {
        let difference = a - d;
        let middle = half * difference;
        let more = Float::max(Float::abs(b), Float::abs(c));
        let less = Float::min(Float::abs(b), Float::abs(c)) * sign(b) * sign(c);
        let scale = Float::max(Float::abs(middle), more);
        let radicand = (middle / scale) * middle + (more / scale) * less;
        let four = <R as Real>::from_f64(4.0);
        if radicand >= four * <R as Float>::epsilon() {
            let shift = middle + sign(middle) * Float::sqrt(scale) * Float::sqrt(radicand);
            let length = Float::hypot(c, shift);
            (cosine, sine) = (shift / length, c / length);
            block = [d + shift, b - c, zero, d - (more / shift) * less];
        } else {
            let sum = b + c;
            let length = Float::hypot(sum, difference);
            cosine = Float::sqrt(half * (one + Float::abs(sum) / length));
            sine = -(middle / (length * cosine)) * sign(sum);
            let (aa, bb) = (a * cosine + b * sine, b * cosine - a * sine);
            let (cc, dd) = (c * cosine + d * sine, d * cosine - c * sine);
            let [a, b, c, d] =
                [aa * cosine + cc * sine, bb * cosine + dd * sine, cc * cosine - aa * sine, dd * cosine - bb * sine];
            let mean = half * (a + d);
            block = [mean, b, c, mean];
            if c != zero && b == zero {
                block = [mean, -c, zero, mean];
                (cosine, sine) = (-sine, cosine);
            } else if c != zero && sign(b) == sign(c) {
                let (root_b, root_c) = (Float::sqrt(Float::abs(b)), Float::sqrt(Float::abs(c)));
                let shift = root_b * root_c * sign(c);
                let inverse = one / Float::sqrt(Float::abs(b + c));
                block = [mean + shift, b - c, zero, mean - shift];
                let [c1, s1] = [root_b * inverse, root_c * inverse];
                (cosine, sine) = (cosine * c1 - sine * s1, cosine * s1 + sine * c1);
            }
        }
    }
    rotate_rows(h, p, p + 1, [cosine, sine]);
    rotate_columns(h, p, p + 1, [cosine, sine]);
    rotate_columns(z, p, p + 1, [cosine, sine]);
    let [a, b, c, d] = block;
    (h[(p, p)], h[(p, p + 1)], h[(p + 1, p)], h[(p + 1, p + 1)]) = (a, b, c, d);
    let im = if c == zero { zero } else { Float::sqrt(Float::abs(b)) * Float::sqrt(Float::abs(c)) };
    let pair = [Complex::new(a, im), Complex::new(d, im)];
    if c == zero { pair } else { [pair[0], pair[1].conj()] }
}

fn complex<R: Field<Real = R> + Real + Float>(
    h: &mut Matrix<Complex<R>>,
    z: &mut Matrix<Complex<R>>,
    active: Range<usize>,
) -> Result<Vec<Complex<R>>>
where
    Complex<R>: Field<Real = R>,
{
    for i in active.start + 1..active.end {
        make_real(h, z, i);
    }
    let mut end = active.end;
    while end > active.start {
        let i = end - 1;
        end = settled(h, i, 1, &active, |h, first, count| single_step(h, z, first, i, count))?;
    }
    Ok((0..h.rows).map(|i| h[(i, i)]).collect())
}

/// Scales row and column `i` to make the subdiagonal element real.
fn make_real<R: Field<Real = R> + Real + Float>(h: &mut Matrix<Complex<R>>, z: &mut Matrix<Complex<R>>, i: usize)
where
    Complex<R>: Field<Real = R>,
{
    let below = h[(i, i - 1)];
    if below.im == <R as Zero>::zero() {
        return;
    }
    let length = below.magnitude();
    h[(i, i - 1)] = Complex::new(length, <R as Zero>::zero());
    turn(h, z, i, below.scale(<R as One>::one() / length).conj(), i..h.rows);
    if i + 1 < h.rows {
        h[(i + 1, i)] = h[(i + 1, i)] * below.scale(<R as One>::one() / length);
    }
}

/// Multiplies row `i` right of the diagonal by a number of magnitude one, and column `i` above it by the conjugate.
fn turn<R: Field<Real = R> + Real + Float>(
    h: &mut Matrix<Complex<R>>,
    z: &mut Matrix<Complex<R>>,
    i: usize,
    by: Complex<R>,
    columns: Range<usize>,
) where
    Complex<R>: Field<Real = R>,
{
    for j in columns.start.max(i + 1)..columns.end {
        h[(i, j)] = h[(i, j)] * by;
    }
    for j in 0..i {
        h[(j, i)] = h[(j, i)] * by.conj();
    }
    for j in 0..z.rows {
        z[(j, i)] = z[(j, i)] * by.conj();
    }
}

/// Takes one step with one shift on the block from `l` to `i`.
fn single_step<R: Field<Real = R> + Real + Float>(
    h: &mut Matrix<Complex<R>>,
    z: &mut Matrix<Complex<R>>,
    l: usize,
    i: usize,
    count: usize,
) where
    Complex<R>: Field<Real = R>,
{
    let (zero, one, n) = (<R as Zero>::zero(), <R as One>::one(), h.rows);
    let ulp = <R as Float>::epsilon();
    let three_quarters = <R as Real>::from_f64(0.75);
    let shift = if count.is_multiple_of(2 * PATIENCE) {
        h[(i, i)] + Complex::new(three_quarters * Float::abs(h[(i, i - 1)].re), zero)
    } else if count.is_multiple_of(PATIENCE) {
        h[(l, l)] + Complex::new(three_quarters * Float::abs(h[(l + 1, l)].re), zero)
    } else {
        let corner = h[(i, i)];
        let u = h[(i - 1, i)].sqrt() * h[(i, i - 1)].sqrt();
        if u.size() == zero {
            corner
        } else {
            let x = (h[(i - 1, i - 1)] - corner).scale(one / (one + one));
            let scale = Float::max(u.size(), x.size());
            let (xs, us) = (x.scale(one / scale), u.scale(one / scale));
            let mut y = (xs * xs + us * us).sqrt().scale(scale);
            if x.re * y.re + x.im * y.im < zero {
                y = -y;
            }
            corner - u * (u / (x + y))
        }
    };
    let mut m = i - 1;
    let mut v;
    loop {
        let (own, next) = (h[(m, m)], h[(m + 1, m + 1)]);
        let (apart, below) = (own - shift, h[(m + 1, m)].re);
        let s = apart.size() + Float::abs(below);
        let (apart, below) = (apart.scale(one / s), below / s);
        v = [apart, Complex::new(below, zero)];
        if m == l {
            break;
        }
        let above = h[(m, m - 1)].re;
        if Float::abs(above) * Float::abs(below) <= ulp * (apart.size() * (own.size() + next.size())) {
            break;
        }
        m -= 1;
    }
    for k in m..i {
        if k > m {
            v = [h[(k, k - 1)], h[(k + 1, k - 1)]];
        }
        let found = reflection(v[0], std::iter::once(v[1]));
        if k > m {
            h[(k, k - 1)] = Complex::new(found.beta, zero);
            h[(k + 1, k - 1)] = Complex::new(zero, zero);
        }
        let second = found.own(v[1]);
        let t1 = found.tau;
        let t2 = (t1 * second).re;
        for j in k..n {
            let sum = t1.conj() * h[(k, j)] + h[(k + 1, j)].scale(t2);
            h[(k, j)] = h[(k, j)] - sum;
            h[(k + 1, j)] = h[(k + 1, j)] - sum * second;
        }
        for (matrix, rows) in [(&mut *h, (k + 2).min(i) + 1), (&mut *z, n)] {
            for j in 0..rows {
                let sum = t1 * matrix[(j, k)] + matrix[(j, k + 1)].scale(t2);
                matrix[(j, k)] = matrix[(j, k)] - sum;
                matrix[(j, k + 1)] = matrix[(j, k + 1)] - sum * second.conj();
            }
        }
        if k == m && m > l {
            // Started below the block's top: the subdiagonal elements above must stay real.
            let turned = Complex::new(one, zero) - t1;
            let turned = turned.scale(one / turned.magnitude());
            h[(m + 1, m)] = h[(m + 1, m)] * turned.conj();
            if m + 2 <= i {
                h[(m + 2, m + 1)] = h[(m + 2, m + 1)] * turned;
            }
            for j in m..=i {
                if j != m + 1 {
                    turn(h, z, j, turned, 0..n);
                }
            }
        }
    }
    let below = h[(i, i - 1)];
    if below.im != zero {
        let length = below.magnitude();
        h[(i, i - 1)] = Complex::new(length, zero);
        turn(h, z, i, below.scale(one / length).conj(), 0..n);
    }
}
