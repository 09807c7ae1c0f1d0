//! Singular values and vectors: reduction to a bidiagonal matrix, then the implicit QR iteration. Follows LAPACK's
//! gesdd for small matrices, including signs: gebd2, orgbr and bdsqr.

use super::field::Field;
use super::matrix::Matrix;
use super::qr::{form_q, qr, reflect, reflect_left, reflect_right, reflection, upper};
use super::rotation::{RotatedColumns, rotate_rows, rotation, triangular_pair, triangular_values};
use crate::bail;
use crate::ops::number::Real;
use crate::{Result, interrupt};
use num_traits::{Float, One, Zero};

/// `A = U diag(S) Vᴴ`, singular values in descending order.
pub(super) struct Svd<T: Field> {
    pub u: Matrix<T>,
    pub values: Vec<T::Real>,
    pub vh: Matrix<T>,
}

/// Which vectors to compute along with the singular values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    None,
    Reduced,
    /// U and V are square.
    Full,
}

impl Vectors {
    /// The vectors of `torch.linalg.svd`.
    pub fn of(full: bool) -> Vectors {
        if full { Vectors::Full } else { Vectors::Reduced }
    }

    /// Leaves out the vectors that only square matrices have.
    fn reduced(self) -> Vectors {
        if self == Vectors::Full { Vectors::Reduced } else { self }
    }
}

/// Computes the decomposition. Without vectors, U and V are empty.
///
/// # Errors
/// RuntimeError if the iteration does not converge.
pub(super) fn svd<T: Field>(a: &Matrix<T>, vectors: Vectors) -> Result<Svd<T>> {
    let (m, n, full) = (a.rows, a.columns, vectors == Vectors::Full);
    if m < n {
        return wide(a, vectors);
    }
    // A tall matrix is first reduced to its R.
    if n > 0 && m >= if T::DTYPE.is_complex() { n * 17 / 9 } else { n * 3 / 2 } && m > n {
        let (factored, taus) = qr(a.clone())?;
        let inner = direct(upper(&factored, n)?, vectors.reduced())?;
        if vectors == Vectors::None {
            return Ok(inner);
        }
        let q = form_q(&factored, &taus, if full { m } else { n })?;
        let u = if full { q.times(&embed_in_identity(&inner.u, m)?)? } else { q.times(&inner.u)? };
        return Ok(Svd { u, ..inner });
    }
    direct(a.clone(), vectors)
}

/// Embeds a square matrix in the corner of a larger identity.
fn embed_in_identity<T: Field>(corner: &Matrix<T>, size: usize) -> Result<Matrix<T>> {
    let mut out = Matrix::identity(size, size)?;
    for (i, j) in corner.places() {
        out[(i, j)] = corner[(i, j)];
    }
    Ok(out)
}

/// Decomposes a matrix with more columns than rows.
fn wide<T: Field>(a: &Matrix<T>, vectors: Vectors) -> Result<Svd<T>> {
    let (m, n, full) = (a.rows, a.columns, vectors == Vectors::Full);
    if m > 0 && n >= if T::DTYPE.is_complex() { m * 17 / 9 } else { m * 20 } {
        // First reduced to its L: A = L Q, by the adjoint.
        let (factored, taus) = qr(a.adjoint()?)?;
        let inner = direct(upper(&factored, m)?.adjoint()?, vectors.reduced())?;
        if vectors == Vectors::None {
            return Ok(inner);
        }
        let q = form_q(&factored, &taus, if full { n } else { m })?.adjoint()?;
        let vh = if full { embed_in_identity(&inner.vh, n)?.times(&q)? } else { inner.vh.times(&q)? };
        return Ok(Svd { vh, ..inner });
    }
    direct(a.clone(), vectors)
}

/// Decomposes through a bidiagonal matrix of the same sizes: upper if there are at least as many rows as columns, lower
/// otherwise.
fn direct<T: Field>(mut a: Matrix<T>, vectors: Vectors) -> Result<Svd<T>> {
    let (m, n, full) = (a.rows, a.columns, vectors == Vectors::Full);
    let k = m.min(n);
    let is_upper = m >= n;
    let (mut d, mut e) = (Vec::new(), Vec::new());
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    for i in 0..k {
        interrupt::check()?;
        if is_upper {
            let (beta, tau, v) = clear_column(&mut a, i, i);
            d.push(beta);
            lefts.push((i, v, tau));
            if i + 1 < n {
                let (beta, tau, v) = clear_row(&mut a, i, i + 1);
                e.push(beta);
                rights.push((i + 1, v, tau));
            }
        } else {
            let (beta, tau, v) = clear_row(&mut a, i, i);
            d.push(beta);
            rights.push((i, v, tau));
            if i + 1 < m {
                let (beta, tau, v) = clear_column(&mut a, i + 1, i);
                e.push(beta);
                lefts.push((i + 1, v, tau));
            }
        }
    }
    e.truncate(k.saturating_sub(1));
    let rows = if vectors == Vectors::None { 0 } else { k };
    let (mut u, mut v) = (RotatedColumns::identity(rows, k)?, RotatedColumns::identity(rows, k)?);
    let mut turned = Vec::new();
    if !is_upper {
        // Rotations from the left turn a lower matrix into an upper one.
        for i in 0..k.saturating_sub(1) {
            let ([c, s], r) = rotation(d[i], e[i]);
            d[i] = r;
            e[i] = s * d[i + 1];
            d[i + 1] = c * d[i + 1];
            turned.push([c, s]);
        }
    }
    // The sign of a single value goes to U, as in `bdsdc`.
    let negated = matches!(d.as_slice(), [value] if Float::is_sign_negative(*value));
    if negated {
        d[0] = -d[0];
    }
    Bidiagonal { d: &mut d, e: &mut e, u: &mut u, v: &mut v }.diagonalize()?;
    let (mut u, mut v) = (u.finish()?, v.finish()?);
    make_positive(&mut d, &mut v);
    sort(&mut d, &mut u, &mut v);
    if vectors == Vectors::None {
        return Ok(Svd { u: Matrix::zeros(0, 0)?, values: d, vh: Matrix::zeros(0, 0)? });
    }
    if negated {
        u[(0, 0)] = -u[(0, 0)];
    }
    let vh = v.transpose()?;
    for (i, [c, s]) in turned.into_iter().enumerate().rev() {
        rotate_rows(&mut u, i, i + 1, [c, -s]);
    }
    let mut whole_u = embedded::<T>(&u, m, if full { m } else { k })?;
    reflect(&mut whole_u, &lefts, true, false)?;
    let mut whole_vh = embedded::<T>(&vh, if full { n } else { k }, n)?;
    reflect(&mut whole_vh, &rights, false, true)?;
    Ok(Svd { u: whole_u, values: d, vh: whole_vh })
}

/// Embeds a real matrix in the corner of an identity.
fn embedded<T: Field>(corner: &Matrix<T::Real>, rows: usize, columns: usize) -> Result<Matrix<T>> {
    let mut out = Matrix::identity(rows, columns)?;
    for (i, j) in corner.places() {
        out[(i, j)] = T::of(corner[(i, j)]);
    }
    Ok(out)
}

/// Reflects the rows from `row` on to eliminate the rest of a column. Returns the remaining element, the factor and the
/// reflector.
fn clear_column<T: Field>(a: &mut Matrix<T>, row: usize, column: usize) -> (T::Real, T, Vec<T>) {
    let found = reflection(a[(row, column)], (row + 1..a.rows).map(|i| a[(i, column)]));
    let rest = (row + 1..a.rows).map(|i| found.own(a[(i, column)]));
    let v: Vec<T> = [T::one()].into_iter().chain(rest).collect();
    reflect_left(a, row, column + 1, &v, found.tau.conj());
    (found.beta, found.tau, v)
}

/// Reflects the columns from `column` on to eliminate the rest of a row.
fn clear_row<T: Field>(a: &mut Matrix<T>, row: usize, column: usize) -> (T::Real, T, Vec<T>) {
    let found = reflection(a[(row, column)].conj(), (column + 1..a.columns).map(|j| a[(row, j)].conj()));
    let rest = (column + 1..a.columns).map(|j| found.own(a[(row, j)].conj()));
    let v: Vec<T> = [T::one()].into_iter().chain(rest).collect();
    reflect_right(a, row + 1, column, &v, found.tau);
    (found.beta, found.tau, v)
}

/// An upper bidiagonal matrix B with `A = U B Vᵀ`, iterated to a diagonal matrix like in LAPACK's `bdsqr`.
struct Bidiagonal<'m, R: Field> {
    /// The diagonal; finally the singular values.
    d: &'m mut [R],
    /// The off-diagonal elements; finally zeros.
    e: &'m mut [R],
    u: &'m mut RotatedColumns<R>,
    v: &'m mut RotatedColumns<R>,
}

/// The thresholds below which an off-diagonal element counts as zero.
struct Limits<R> {
    /// The absolute threshold.
    threshold: R,
    /// The tolerance relative to its neighbours.
    tolerance: R,
}

impl<R: Field<Real = R> + Real> Bidiagonal<'_, R> {
    fn diagonalize(&mut self) -> Result<()> {
        let n = self.d.len();
        if n == 0 {
            return Ok(());
        }
        let limits = self.limits();
        let mut steps_left = 6 * n * n + 100;
        // The last remaining row, the block of the last step, and the direction of the sweeps in the block.
        let (mut last, mut block, mut downwards) = (n - 1, None, true);
        while last > 0 {
            if steps_left == 0 {
                bail!(
                    RuntimeError,
                    "linalg.svd: The algorithm failed to converge because the input matrix is ill-conditioned or has too \
                     many repeated singular values."
                );
            }
            steps_left -= 1;
            interrupt::check()?;
            let (first, most) = self.start_of_block(last, limits.threshold);
            if first == last {
                last -= 1;
                continue;
            }
            if first + 1 == last {
                self.solve_pair(first)?;
                last = last.saturating_sub(2);
                continue;
            }
            if block.is_none_or(|(old_first, old_last)| first > old_last || last < old_first) {
                downwards = Float::abs(self.d[first]) >= Float::abs(self.d[last]);
            }
            let Some(least) = self.least(first, last, downwards, limits.tolerance) else { continue };
            block = Some((first, last));
            let shift = self.shift(first, last, downwards, least / most, limits.tolerance);
            sweep(self.d, self.e, self.u, self.v, [first, last], shift, downwards)?;
            let end = if downwards { last - 1 } else { first };
            if Float::abs(self.e[end]) <= limits.threshold {
                self.e[end] = R::zero();
            }
        }
        Ok(())
    }

    fn limits(&self) -> Limits<R> {
        let number = <R as Real>::from_f64;
        let eps = Self::eps();
        let tolerance = Float::max(number(10.0), Float::min(number(100.0), Float::powf(eps, number(-0.125)))) * eps;
        // A lower bound of the singular values.
        let mut least = Float::abs(self.d[0]);
        let mut mu = least;
        for i in 1..self.d.len() {
            if least == R::zero() {
                break;
            }
            mu = Float::abs(self.d[i]) * (mu / (mu + Float::abs(self.e[i - 1])));
            least = Float::min(least, mu);
        }
        let count = self.count();
        let least = least / Float::sqrt(count);
        let tiny = number(6.0) * count * count * <R as Float>::min_positive_value();
        Limits { threshold: Float::max(tolerance * least, tiny), tolerance }
    }

    /// Returns half the distance from 1 to the next number: LAPACK's epsilon.
    fn eps() -> R {
        <R as Float>::epsilon() / (R::one() + R::one())
    }

    fn count(&self) -> R {
        <R as Real>::from_f64(self.d.len() as f64)
    }

    /// Returns the start of the block that ends in row `last`, and its largest element. A block starts after a
    /// negligible off-diagonal element.
    fn start_of_block(&mut self, last: usize, threshold: R) -> (usize, R) {
        let mut most = Float::abs(self.d[last]);
        for l in (0..last).rev() {
            let (size, beside) = (Float::abs(self.d[l]), Float::abs(self.e[l]));
            if beside <= threshold {
                self.e[l] = R::zero();
                return (l + 1, most);
            }
            most = Float::max(most, Float::max(size, beside));
        }
        (0, most)
    }

    /// Computes the singular values of the rows `first` and `first + 1`, which form a block.
    fn solve_pair(&mut self, first: usize) -> Result<()> {
        let last = first + 1;
        let ([small, large], right, left) = triangular_pair(self.d[first], self.e[first], self.d[last]);
        (self.d[first], self.d[last]) = (large, small);
        self.e[first] = R::zero();
        self.v.rotate(first, right)?;
        self.u.rotate(first, left)
    }

    /// Returns a lower bound of the singular values of a block. `None` if an element was negligible relative to its
    /// neighbours and was set to zero, which ends the block.
    fn least(&mut self, first: usize, last: usize, downwards: bool, tolerance: R) -> Option<R> {
        let (start, end) = if downwards { (first, last) } else { (last, first) };
        let at_end = if downwards { last - 1 } else { first };
        if Float::abs(self.e[at_end]) <= tolerance * Float::abs(self.d[end]) {
            self.e[at_end] = R::zero();
            return None;
        }
        let mut mu = Float::abs(self.d[start]);
        let mut least = mu;
        for step in 0..last - first {
            let (beside, next) =
                if downwards { (first + step, first + step + 1) } else { (last - 1 - step, last - 1 - step) };
            if Float::abs(self.e[beside]) <= tolerance * mu {
                self.e[beside] = R::zero();
                return None;
            }
            mu = Float::abs(self.d[next]) * (mu / (mu + Float::abs(self.e[beside])));
            least = Float::min(least, mu);
        }
        Some(least)
    }

    /// Returns the shift of a step: a singular value of the last two rows of the sweep, or zero if a shift would spoil
    /// small values.
    fn shift(&self, first: usize, last: usize, downwards: bool, ratio: R, tolerance: R) -> R {
        let (zero, eps) = (R::zero(), Self::eps());
        let hundredth = R::one() / <R as Real>::from_f64(100.0);
        let is_worth_it = self.count() * tolerance * ratio > Float::max(eps, hundredth * tolerance);
        if !is_worth_it {
            return zero;
        }
        let (start, l) = if downwards { (first, last - 1) } else { (last, first) };
        let shift = triangular_values(self.d[l], self.e[l], self.d[l + 1])[0];
        let start = Float::abs(self.d[start]);
        if start > zero && (shift / start) * (shift / start) < eps { zero } else { shift }
    }
}

/// Negates the columns of V with negative singular values.
fn make_positive<R: Field<Real = R> + Float>(d: &mut [R], v: &mut Matrix<R>) {
    for (i, value) in d.iter_mut().enumerate() {
        if Float::is_sign_negative(*value) && !value.is_zero() {
            *value = -*value;
            v.column_mut(i).iter_mut().for_each(|x| *x = -*x);
        }
    }
}

/// Sorts the singular values in descending order, moving the smallest to the end first.
fn sort<R: Field<Real = R> + Float>(d: &mut [R], u: &mut Matrix<R>, v: &mut Matrix<R>) {
    for i in (1..d.len()).rev() {
        let mut smallest = 0;
        for j in 1..=i {
            if d[j] <= d[smallest] {
                smallest = j;
            }
        }
        if smallest != i {
            d.swap(smallest, i);
            v.swap_columns(smallest, i);
            u.swap_columns(smallest, i);
        }
    }
}

/// Sweeps rotations along a block, from its top or its bottom, with or without a shift.
fn sweep<R: Field<Real = R> + Float>(
    d: &mut [R],
    e: &mut [R],
    u: &mut RotatedColumns<R>,
    v: &mut RotatedColumns<R>,
    [ll, m]: [usize; 2],
    shift: R,
    downwards: bool,
) -> Result<()> {
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
                v.rotate(i, [cs, sn])?;
                u.rotate(i, [old_cs, old_sn])?;
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
                v.rotate(i - 1, [old_cs, -old_sn])?;
                u.rotate(i - 1, [cs, -sn])?;
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
                v.rotate(i, [cr, sr])?;
                u.rotate(i, [cl, sl])?;
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
                v.rotate(i - 1, [cl, -sl])?;
                u.rotate(i - 1, [cr, -sr])?;
            }
            e[ll] = f;
        }
    }
    Ok(())
}
