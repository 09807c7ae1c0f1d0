//! Singular values and vectors: reduction to a bidiagonal matrix, then the implicit QR iteration. As LAPACK's gesdd for
//! small matrices: gebd2, orgbr and bdsqr, whose signs come out.

use super::field::Field;
use super::matrix::Matrix;
use super::qr::{form_q, qr, reflect_left, reflect_right, reflection, upper};
use super::rotation::{rotate_columns, rotate_rows, rotation, triangular_pair, triangular_values};
use crate::bail;
use crate::tensor::{Result, interrupt};
use num_traits::{Float, One, Zero};

/// `A = U diag(S) Vᴴ`, singular values in descending order.
pub struct Svd<T: Field> {
    pub u: Matrix<T>,
    pub values: Vec<T::Real>,
    pub vh: Matrix<T>,
}

/// The decomposition; `full` makes U and V square.
///
/// # Errors
/// RuntimeError when the iteration does not converge.
pub fn svd<T: Field>(a: &Matrix<T>, full: bool) -> Result<Svd<T>> {
    let (m, n) = (a.rows, a.columns);
    if m < n {
        return wide(a, full);
    }
    // A tall matrix is first reduced to its R.
    if n > 0 && m >= n * 11 / 6 && m > n {
        let (factored, taus) = qr(a.clone());
        let inner = direct(upper(&factored, n)?, false)?;
        let q = form_q(&factored, &taus, if full { m } else { n })?;
        let u = if full { q.times(&beside_identity(&inner.u, m)?)? } else { q.times(&inner.u)? };
        return Ok(Svd { u, ..inner });
    }
    direct(a.clone(), full)
}

/// A square matrix in the corner of a larger identity.
fn beside_identity<T: Field>(corner: &Matrix<T>, size: usize) -> Result<Matrix<T>> {
    let mut out = Matrix::identity(size, size)?;
    for (i, j) in corner.places() {
        out[(i, j)] = corner[(i, j)];
    }
    Ok(out)
}

/// A matrix with more columns than rows.
fn wide<T: Field>(a: &Matrix<T>, full: bool) -> Result<Svd<T>> {
    let (m, n) = (a.rows, a.columns);
    if m > 0 && n >= m * 11 / 6 {
        // First reduced to its L: A = L Q, by the adjoint.
        let (factored, taus) = qr(a.adjoint()?);
        let inner = direct(upper(&factored, m)?.adjoint()?, false)?;
        let q = form_q(&factored, &taus, if full { n } else { m })?.adjoint()?;
        let vh = if full { beside_identity(&inner.vh, n)?.times(&q)? } else { inner.vh.times(&q)? };
        return Ok(Svd { vh, ..inner });
    }
    direct(a.clone(), full)
}

/// The decomposition through a bidiagonal matrix of the same sizes: upper where there are no more columns than rows,
/// lower otherwise.
fn direct<T: Field>(mut a: Matrix<T>, full: bool) -> Result<Svd<T>> {
    let (m, n) = (a.rows, a.columns);
    let k = m.min(n);
    let is_upper = m >= n;
    let (mut d, mut e) = (Vec::new(), Vec::new());
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    for i in 0..k {
        interrupt::check()?;
        if is_upper {
            let (beta, tau, v) = clear_column(&mut a, i, i);
            d.push(beta);
            lefts.push((i, tau, v));
            if i + 1 < n {
                let (beta, tau, v) = clear_row(&mut a, i, i + 1);
                e.push(beta);
                rights.push((i + 1, tau, v));
            }
        } else {
            let (beta, tau, v) = clear_row(&mut a, i, i);
            d.push(beta);
            rights.push((i, tau, v));
            if i + 1 < m {
                let (beta, tau, v) = clear_column(&mut a, i + 1, i);
                e.push(beta);
                lefts.push((i + 1, tau, v));
            }
        }
    }
    e.truncate(k.saturating_sub(1));
    let (mut u, mut vh) = (Matrix::<T::Real>::identity(k, k)?, Matrix::<T::Real>::identity(k, k)?);
    let mut turned = Vec::new();
    if !is_upper {
        // Rotations from the left make a lower matrix an upper one.
        for i in 0..k.saturating_sub(1) {
            let ([c, s], r) = rotation(d[i], e[i]);
            d[i] = r;
            e[i] = s * d[i + 1];
            d[i + 1] = c * d[i + 1];
            turned.push([c, s]);
        }
    }
    diagonalize(&mut d, &mut e, &mut u, &mut vh)?;
    for (i, [c, s]) in turned.into_iter().enumerate().rev() {
        rotate_rows(&mut u, i, i + 1, [c, -s]);
    }
    let mut whole_u = embedded::<T>(&u, m, if full { m } else { k })?;
    for (start, tau, v) in lefts.iter().rev() {
        reflect_left(&mut whole_u, *start, 0, v, *tau);
    }
    let mut whole_vh = embedded::<T>(&vh, if full { n } else { k }, n)?;
    for (start, tau, v) in rights.iter().rev() {
        reflect_right(&mut whole_vh, 0, *start, v, tau.conj());
    }
    Ok(Svd { u: whole_u, values: d, vh: whole_vh })
}

/// A real matrix in the corner of an identity.
fn embedded<T: Field>(corner: &Matrix<T::Real>, rows: usize, columns: usize) -> Result<Matrix<T>> {
    let mut out = Matrix::identity(rows, columns)?;
    for (i, j) in corner.places() {
        out[(i, j)] = T::of(corner[(i, j)]);
    }
    Ok(out)
}

/// Reflects the rows from `row` on so that a column ends there. Gives the remaining element and the reflection.
fn clear_column<T: Field>(a: &mut Matrix<T>, row: usize, column: usize) -> (T::Real, T, Vec<T>) {
    let found = reflection(a[(row, column)], (row + 1..a.rows).map(|i| a[(i, column)]));
    let rest = (row + 1..a.rows).map(|i| found.own(a[(i, column)]));
    let v: Vec<T> = [T::one()].into_iter().chain(rest).collect();
    reflect_left(a, row, column + 1, &v, found.tau.conj());
    (found.beta, found.tau, v)
}

/// Reflects the columns from `column` on so that a row ends there.
fn clear_row<T: Field>(a: &mut Matrix<T>, row: usize, column: usize) -> (T::Real, T, Vec<T>) {
    let found = reflection(a[(row, column)].conj(), (column + 1..a.columns).map(|j| a[(row, j)].conj()));
    let rest = (column + 1..a.columns).map(|j| found.own(a[(row, j)].conj()));
    let v: Vec<T> = [T::one()].into_iter().chain(rest).collect();
    reflect_right(a, row + 1, column, &v, found.tau);
    (found.beta, found.tau, v)
}

/// The singular values of an upper bidiagonal matrix in place of its diagonal; the rotations go to `u` and `vt`.
fn diagonalize<R: Field<Real = R> + Float>(
    d: &mut [R],
    e: &mut [R],
    u: &mut Matrix<R>,
    vt: &mut Matrix<R>,
) -> Result<()> {
    let n = d.len();
    if n == 0 {
        return Ok(());
    }
    let (zero, one) = (<R as Zero>::zero(), <R as One>::one());
    let ten = <R as num_traits::NumCast>::from(10.0).unwrap_or(one);
    let eps = <R as Float>::epsilon() / (one + one);
    let tolerance = Float::powf(eps, <R as num_traits::NumCast>::from(-0.125).unwrap_or(-one));
    let tolerance = Float::max(ten, Float::min(ten * ten, tolerance)) * eps;
    let mut least = Float::abs(d[0]);
    let mut mu = least;
    for i in 1..n {
        if least == zero {
            break;
        }
        mu = Float::abs(d[i]) * (mu / (mu + Float::abs(e[i - 1])));
        least = Float::min(least, mu);
    }
    let count = <R as num_traits::NumCast>::from(n).unwrap_or(one);
    least = least / Float::sqrt(count);
    let six = <R as num_traits::NumCast>::from(6.0).unwrap_or(one);
    let threshold = Float::max(tolerance * least, six * count * count * <R as Float>::min_positive_value());
    let mut left = 6 * n * n + 100;
    let mut m = n - 1;
    let (mut old_first, mut old_last, mut downwards) = (usize::MAX, usize::MAX, true);
    'blocks: while m > 0 {
        if left == 0 {
            bail!(
                RuntimeError,
                "linalg.svd: The algorithm failed to converge because the input matrix is ill-conditioned or has too many \
                 repeated singular values."
            );
        }
        left -= 1;
        interrupt::check()?;
        let mut most = Float::abs(d[m]);
        let mut ll = 0;
        for l in (0..m).rev() {
            let (size, beside) = (Float::abs(d[l]), Float::abs(e[l]));
            if beside <= threshold {
                e[l] = zero;
                if l == m - 1 {
                    m -= 1;
                    continue 'blocks;
                }
                ll = l + 1;
                break;
            }
            most = Float::max(most, Float::max(size, beside));
        }
        if ll + 1 == m {
            let ([small, large], right, left) = triangular_pair(d[ll], e[ll], d[m]);
            (d[ll], d[m]) = (large, small);
            e[ll] = zero;
            rotate_rows(vt, ll, m, right);
            rotate_columns(u, ll, m, left);
            if m < 2 {
                break;
            }
            m -= 2;
            continue;
        }
        if ll > old_last || m < old_first || old_last == usize::MAX {
            downwards = Float::abs(d[ll]) >= Float::abs(d[m]);
        }
        // Elements that are negligible beside their neighbours end a block.
        let mut small;
        if downwards {
            if Float::abs(e[m - 1]) <= Float::abs(tolerance) * Float::abs(d[m]) {
                e[m - 1] = zero;
                continue;
            }
            let mut mu = Float::abs(d[ll]);
            small = mu;
            for l in ll..m {
                if Float::abs(e[l]) <= tolerance * mu {
                    e[l] = zero;
                    continue 'blocks;
                }
                mu = Float::abs(d[l + 1]) * (mu / (mu + Float::abs(e[l])));
                small = Float::min(small, mu);
            }
        } else {
            if Float::abs(e[ll]) <= Float::abs(tolerance) * Float::abs(d[ll]) {
                e[ll] = zero;
                continue;
            }
            let mut mu = Float::abs(d[m]);
            small = mu;
            for l in (ll..m).rev() {
                if Float::abs(e[l]) <= tolerance * mu {
                    e[l] = zero;
                    continue 'blocks;
                }
                mu = Float::abs(d[l]) * (mu / (mu + Float::abs(e[l])));
                small = Float::min(small, mu);
            }
        }
        (old_first, old_last) = (ll, m);
        let hundredth = one / (ten * ten);
        let mut shift = zero;
        if count * tolerance * (small / most) > Float::max(eps, hundredth * tolerance) {
            let (start, values) = if downwards {
                (Float::abs(d[ll]), triangular_values(d[m - 1], e[m - 1], d[m]))
            } else {
                (Float::abs(d[m]), triangular_values(d[ll], e[ll], d[ll + 1]))
            };
            shift = values[0];
            if start > zero && (shift / start) * (shift / start) < eps {
                shift = zero;
            }
        }
        sweep(d, e, u, vt, [ll, m], shift, downwards);
        let end = if downwards { m - 1 } else { ll };
        if Float::abs(e[end]) <= threshold {
            e[end] = zero;
        }
    }
    for i in 0..n {
        if Float::is_sign_negative(d[i]) && d[i] != zero {
            d[i] = -d[i];
            for j in 0..vt.columns {
                vt[(i, j)] = -vt[(i, j)];
            }
        }
    }
    // The smallest goes to the end, and so on forward.
    for i in (1..n).rev() {
        let mut smallest = 0;
        for j in 1..=i {
            if d[j] <= d[smallest] {
                smallest = j;
            }
        }
        if smallest != i {
            d.swap(smallest, i);
            vt.swap_rows(smallest, i);
            u.swap_columns(smallest, i);
        }
    }
    Ok(())
}

/// One sweep of rotations along a block, from its top or from its bottom, with a shift or without.
fn sweep<R: Field<Real = R> + Float>(
    d: &mut [R],
    e: &mut [R],
    u: &mut Matrix<R>,
    vt: &mut Matrix<R>,
    [ll, m]: [usize; 2],
    shift: R,
    downwards: bool,
) {
    let (zero, one) = (<R as Zero>::zero(), <R as One>::one());
    let sign = |v: R| if Float::is_sign_negative(v) { -one } else { one };
    match (shift == zero, downwards) {
        (true, true) => {
            let (mut cs, mut old_cs, mut old_sn) = (one, one, zero);
            for i in ll..m {
                let ([c, s], r) = rotation(d[i] * cs, e[i]);
                let sn = s;
                cs = c;
                if i > ll {
                    e[i - 1] = old_sn * r;
                }
                let ([c, s], r) = rotation(old_cs * r, d[i + 1] * sn);
                (old_cs, old_sn) = (c, s);
                d[i] = r;
                rotate_rows(vt, i, i + 1, [cs, sn]);
                rotate_columns(u, i, i + 1, [old_cs, old_sn]);
            }
            let h = d[m] * cs;
            d[m] = h * old_cs;
            e[m - 1] = h * old_sn;
        }
        (true, false) => {
            let (mut cs, mut old_cs, mut old_sn) = (one, one, zero);
            for i in (ll + 1..=m).rev() {
                let ([c, s], r) = rotation(d[i] * cs, e[i - 1]);
                let sn = s;
                cs = c;
                if i < m {
                    e[i] = old_sn * r;
                }
                let ([c, s], r) = rotation(old_cs * r, d[i - 1] * sn);
                (old_cs, old_sn) = (c, s);
                d[i] = r;
                rotate_rows(vt, i - 1, i, [old_cs, -old_sn]);
                rotate_columns(u, i - 1, i, [cs, -sn]);
            }
            let h = d[ll] * cs;
            d[ll] = h * old_cs;
            e[ll] = h * old_sn;
        }
        (false, true) => {
            let mut f = (Float::abs(d[ll]) - shift) * (sign(d[ll]) + shift / d[ll]);
            let mut g = e[ll];
            for i in ll..m {
                let ([cr, sr], r) = rotation(f, g);
                if i > ll {
                    e[i - 1] = r;
                }
                f = cr * d[i] + sr * e[i];
                e[i] = cr * e[i] - sr * d[i];
                g = sr * d[i + 1];
                d[i + 1] = cr * d[i + 1];
                let ([cl, sl], r) = rotation(f, g);
                d[i] = r;
                f = cl * e[i] + sl * d[i + 1];
                d[i + 1] = cl * d[i + 1] - sl * e[i];
                if i + 1 < m {
                    g = sl * e[i + 1];
                    e[i + 1] = cl * e[i + 1];
                }
                rotate_rows(vt, i, i + 1, [cr, sr]);
                rotate_columns(u, i, i + 1, [cl, sl]);
            }
            e[m - 1] = f;
        }
        (false, false) => {
            let mut f = (Float::abs(d[m]) - shift) * (sign(d[m]) + shift / d[m]);
            let mut g = e[m - 1];
            for i in (ll + 1..=m).rev() {
                let ([cr, sr], r) = rotation(f, g);
                if i < m {
                    e[i] = r;
                }
                f = cr * d[i] + sr * e[i - 1];
                e[i - 1] = cr * e[i - 1] - sr * d[i];
                g = sr * d[i - 1];
                d[i - 1] = cr * d[i - 1];
                let ([cl, sl], r) = rotation(f, g);
                d[i] = r;
                f = cl * e[i - 1] + sl * d[i - 1];
                d[i - 1] = cl * d[i - 1] - sl * e[i - 1];
                if i > ll + 1 {
                    g = sl * e[i - 2];
                    e[i - 2] = cl * e[i - 2];
                }
                rotate_rows(vt, i - 1, i, [cl, -sl]);
                rotate_columns(u, i - 1, i, [cr, -sr]);
            }
            e[ll] = f;
        }
    }
}
