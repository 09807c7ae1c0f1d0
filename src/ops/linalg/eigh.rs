//! Eigenvalues and eigenvectors of symmetric and Hermitian matrices: reduction to a tridiagonal matrix, then the implicit
//! QL or QR iteration. As LAPACK's sytd2, orgtr and steqr, whose signs come out.

use super::field::Field;
use super::matrix::Matrix;
use super::qr::{reflect_left, reflection};
use super::rotation::{Rotation, rotate_columns, rotation, symmetric_pair};
use crate::bail;
use crate::tensor::{Result, interrupt};
use num_traits::{Float, One, Zero};

/// Eigenvalues in ascending order and the eigenvectors as columns. Only the lower triangle is read.
///
/// # Errors
/// RuntimeError when the iteration does not converge.
pub fn eigh<T: Field>(a: Matrix<T>) -> Result<(Vec<T::Real>, Matrix<T>)> {
    let (mut diagonal, mut beside, q) = tridiagonal(a)?;
    let mut vectors = q;
    iterate::<T>(&mut diagonal, &mut beside, &mut vectors)?;
    Ok((diagonal, vectors))
}

/// The diagonal of T, the elements beside it, and Q of `A = Q T Qᴴ`.
type Tridiagonal<T> = (Vec<<T as Field>::Real>, Vec<<T as Field>::Real>, Matrix<T>);

fn tridiagonal<T: Field>(mut a: Matrix<T>) -> Result<Tridiagonal<T>> {
    let n = a.rows;
    // The whole matrix from its lower triangle, which spares telling the triangles apart.
    for j in 0..n {
        a[(j, j)] = T::of(a[(j, j)].re());
        for i in 0..j {
            a[(i, j)] = a[(j, i)].conj();
        }
    }
    let (mut taus, mut beside) = (Vec::new(), Vec::new());
    for k in 0..n.saturating_sub(1) {
        interrupt::check()?;
        let found = reflection(a[(k + 1, k)], (k + 2..n).map(|i| a[(i, k)]));
        beside.push(found.beta);
        let mut v = vec![T::one()];
        for i in k + 2..n {
            a[(i, k)] = found.own(a[(i, k)]);
            v.push(a[(i, k)]);
        }
        let tau = found.tau;
        taus.push(tau);
        if tau.is_zero() {
            continue;
        }
        let first = k + 1;
        let mut w: Vec<T> = (first..n)
            .map(|i| v.iter().enumerate().fold(T::zero(), |sum, (j, &value)| sum + a[(i, first + j)] * value) * tau)
            .collect();
        let product = w.iter().zip(&v).fold(T::zero(), |sum, (w, &v)| sum + w.conj() * v);
        let half = T::Real::one() / (T::Real::one() + T::Real::one());
        let alpha = -(tau * product).scale(half);
        for (w, &v) in w.iter_mut().zip(&v) {
            *w = *w + alpha * v;
        }
        for (j, (&vj, &wj)) in v.iter().zip(&w).enumerate() {
            for (i, (&vi, &wi)) in v.iter().zip(&w).enumerate() {
                let change = vi * wj.conj() + wi * vj.conj();
                a[(first + i, first + j)] = a[(first + i, first + j)] - change;
            }
        }
    }
    let diagonal = (0..n).map(|i| a[(i, i)].re()).collect();
    let mut q = Matrix::identity(n, n)?;
    for (k, &tau) in taus.iter().enumerate().rev() {
        let v: Vec<T> = [T::one()].into_iter().chain((k + 2..n).map(|i| a[(i, k)])).collect();
        reflect_left(&mut q, k + 1, k + 1, &v, tau);
    }
    Ok((diagonal, beside, q))
}

/// Applies rotations of neighbouring columns, as `lasr` does: each turns column `k + 1` against column `k`.
fn turn<T: Field>(z: &mut Matrix<T>, k: usize, [c, s]: Rotation<T::Real>) {
    rotate_columns(z, k, k + 1, [c, s]);
}

fn iterate<T: Field>(d: &mut [T::Real], e: &mut [T::Real], z: &mut Matrix<T>) -> Result<()> {
    let n = d.len();
    let zero = <T::Real as Zero>::zero();
    let one = <T::Real as One>::one();
    let two = one + one;
    let eps = <T::Real as Float>::epsilon() / two;
    let (eps2, tiny) = (eps * eps, <T::Real as Float>::min_positive_value());
    let mut left = n.saturating_mul(30);
    let mut start = 0;
    while start < n {
        if start > 0 {
            e[start - 1] = zero;
        }
        // A block ends where the element beside the diagonal is as good as zero.
        let mut end = n - 1;
        for m in start..n - 1 {
            let size = Float::abs(e[m]);
            if size == zero {
                end = m;
                break;
            }
            if size <= Float::sqrt(Float::abs(d[m])) * Float::sqrt(Float::abs(d[m + 1])) * eps {
                e[m] = zero;
                end = m;
                break;
            }
        }
        let (first, last) = (start, end);
        start = end + 1;
        if first == last {
            continue;
        }
        let negligible = |d: &[T::Real], size: T::Real, a: usize, b: usize| {
            size * size <= (eps2 * Float::abs(d[a])) * Float::abs(d[b]) + tiny
        };
        if Float::abs(d[last]) >= Float::abs(d[first]) {
            // QL: from the top.
            let mut l = first;
            while l <= last {
                let m = (l..last).find(|&m| negligible(d, e[m], m, m + 1)).unwrap_or(last);
                if m < last {
                    e[m] = zero;
                }
                if m == l {
                    l += 1;
                    continue;
                }
                if m == l + 1 {
                    let (values, [c, s]) = symmetric_pair(d[l], e[l], d[l + 1]);
                    turn(z, l, [c, s]);
                    (d[l], d[l + 1]) = (values[0], values[1]);
                    e[l] = zero;
                    l += 2;
                    continue;
                }
                if left == 0 {
                    return no_convergence();
                }
                left -= 1;
                interrupt::check()?;
                let mut p = d[l];
                let mut g = (d[l + 1] - p) / (two * e[l]);
                let r = Float::hypot(g, one);
                g = d[m] - p + e[l] / (g + if Float::is_sign_negative(g) { -r } else { r });
                let (mut s, mut c) = (one, one);
                p = zero;
                for i in (l..m).rev() {
                    let (f, b) = (s * e[i], c * e[i]);
                    let ([cosine, sine], r) = rotation(g, f);
                    (c, s) = (cosine, sine);
                    if i != m - 1 {
                        e[i + 1] = r;
                    }
                    g = d[i + 1] - p;
                    let r = (d[i] - g) * s + two * c * b;
                    p = s * r;
                    d[i + 1] = g + p;
                    g = c * r - b;
                    turn(z, i, [c, -s]);
                }
                d[l] = d[l] - p;
                e[l] = g;
            }
        } else {
            // QR: from the bottom.
            let mut l = last;
            loop {
                let m = (first + 1..=l).rev().find(|&m| negligible(d, e[m - 1], m, m - 1)).unwrap_or(first);
                if m > first {
                    e[m - 1] = zero;
                }
                let done = if m == l {
                    1
                } else if m + 1 == l {
                    let (values, [c, s]) = symmetric_pair(d[l - 1], e[l - 1], d[l]);
                    turn(z, l - 1, [c, s]);
                    (d[l - 1], d[l]) = (values[0], values[1]);
                    e[l - 1] = zero;
                    2
                } else {
                    0
                };
                if done > 0 {
                    if l < first + done {
                        break;
                    }
                    l -= done;
                    continue;
                }
                if left == 0 {
                    return no_convergence();
                }
                left -= 1;
                interrupt::check()?;
                let mut p = d[l];
                let mut g = (d[l - 1] - p) / (two * e[l - 1]);
                let r = Float::hypot(g, one);
                g = d[m] - p + e[l - 1] / (g + if Float::is_sign_negative(g) { -r } else { r });
                let (mut s, mut c) = (one, one);
                p = zero;
                for i in m..l {
                    let (f, b) = (s * e[i], c * e[i]);
                    let ([cosine, sine], r) = rotation(g, f);
                    (c, s) = (cosine, sine);
                    if i != m {
                        e[i - 1] = r;
                    }
                    g = d[i] - p;
                    let r = (d[i + 1] - g) * s + two * c * b;
                    p = s * r;
                    d[i] = g + p;
                    g = c * r - b;
                    turn(z, i, [c, s]);
                }
                d[l] = d[l] - p;
                e[l - 1] = g;
            }
        }
    }
    for i in 0..n {
        let mut least = i;
        for j in i + 1..n {
            if d[j] < d[least] {
                least = j;
            }
        }
        d.swap(i, least);
        z.swap_columns(i, least);
    }
    Ok(())
}

fn no_convergence<T>() -> Result<T> {
    bail!(RuntimeError, "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned.")
}
