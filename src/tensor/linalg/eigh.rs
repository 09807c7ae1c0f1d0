//! Eigenvalues and eigenvectors of symmetric and Hermitian matrices: reduction to a tridiagonal matrix, then the
//! implicit QL or QR iteration, then the reflectors of the reduction. Follows LAPACK's sytd2, steqr and ormtr,
//! including signs.

use super::field::Field;
use super::matrix::Matrix;
use super::qr::{Reflector, reflect, reflection};
use super::rotation::{RotatedColumns, older_rotation, symmetric_pair};
use crate::bail;
use crate::parallel::vectorised;
use crate::{Result, interrupt};
use num_traits::{Float, One, Zero};

/// Eigenvalues, and eigenvectors as columns.
type Eigen<T> = (Vec<<T as Field>::Real>, Option<Matrix<T>>);

/// Computes eigenvalues in ascending order and, if wanted, the eigenvectors as columns. Only one triangle is read.
///
/// # Errors
/// RuntimeError if the iteration does not converge.
pub(super) fn eigh<T: Field>(mut a: Matrix<T>, upper: bool, vectors: bool) -> Result<Eigen<T>> {
    // The upper triangle is reduced from its end, as the lower triangle of the reversed matrix.
    if upper {
        a.reverse();
    }
    let (mut reduced, reflections) = Tridiagonal::reduce(a, vectors)?;
    if upper {
        reduced.d.reverse();
        reduced.e.reverse();
    }
    reduced.diagonalize()?;
    let Tridiagonal { mut d, z, .. } = reduced;
    let mut z = z.finish()?;
    sort(&mut d, &mut z);
    if !vectors {
        return Ok((d, None));
    }
    if upper {
        z.reverse_rows();
    }
    reflect(&mut z, &reflections, true, false)?;
    if upper {
        z.reverse_rows();
    }
    Ok((d, Some(z)))
}

/// Sorts the eigenvalues, and the eigenvectors with them.
fn sort<T: Field>(d: &mut [T::Real], z: &mut Matrix<T>) {
    for i in 0..d.len() {
        let mut least = i;
        for j in i + 1..d.len() {
            if d[j] < d[least] {
                least = j;
            }
        }
        d.swap(i, least);
        z.swap_columns(i, least);
    }
}

/// A tridiagonal matrix and the accumulated rotations that diagonalise it.
struct Tridiagonal<T: Field> {
    /// The diagonal; finally the eigenvalues.
    d: Vec<T::Real>,
    /// The off-diagonal elements; finally zeros.
    e: Vec<T::Real>,
    /// The accumulated rotations; finally the eigenvectors as columns.
    z: RotatedColumns<T>,
    /// The number of steps left for the iteration.
    steps_left: usize,
}

impl<T: Field> Tridiagonal<T> {
    /// Reduces a matrix to tridiagonal form like LAPACK's `sytd2`; also returns the reflectors that reverse the
    /// reduction.
    fn reduce(mut a: Matrix<T>, vectors: bool) -> Result<(Tridiagonal<T>, Vec<Reflector<T>>)> {
        let n = a.rows;
        // Mirror the lower triangle, so that later code need not distinguish the triangles.
        for j in 0..n {
            a[(j, j)] = T::of(a[(j, j)].re());
            for i in 0..j {
                a[(i, j)] = a[(j, i)].conj();
            }
        }
        let (mut reflections, mut beside) = (Vec::new(), Vec::new());
        for k in 0..n.saturating_sub(1) {
            interrupt::check()?;
            let found = reflection(a[(k + 1, k)], (k + 2..n).map(|i| a[(i, k)]));
            beside.push(found.beta);
            let mut v = vec![T::one()];
            v.extend((k + 2..n).map(|i| found.own(a[(i, k)])));
            let (tau, first) = (found.tau, k + 1);
            if tau.is_zero() {
                continue;
            }
            // The sums of all rows at once, column by column.
            let mut w = vec![T::zero(); v.len()];
            for (j, &value) in v.iter().enumerate() {
                let terms = w.iter_mut().zip(&a.column(first + j)[first..]);
                vectorised(|| terms.for_each(|(sum, &x)| *sum = *sum + x * value));
            }
            w.iter_mut().for_each(|sum| *sum = *sum * tau);
            let product = w.iter().zip(&v).fold(T::zero(), |sum, (w, &v)| sum + w.conj() * v);
            let half = T::Real::one() / (T::Real::one() + T::Real::one());
            let alpha = -(tau * product).scale(half);
            for (w, &v) in w.iter_mut().zip(&v) {
                *w = *w + alpha * v;
            }
            for (j, (&vj, &wj)) in v.iter().zip(&w).enumerate() {
                let terms = a.column_mut(first + j)[first..].iter_mut().zip(&v).zip(&w);
                let (vj, wj) = (vj.conj(), wj.conj());
                vectorised(|| terms.for_each(|((x, &vi), &wi)| *x = *x - (vi * wj + wi * vj)));
            }
            reflections.push((first, v, tau));
        }
        let diagonal = (0..n).map(|i| a[(i, i)].re()).collect();
        let z = RotatedColumns::identity(if vectors { n } else { 0 }, n)?;
        Ok((Tridiagonal { d: diagonal, e: beside, z, steps_left: n.saturating_mul(30) }, reflections))
    }

    /// Rotates to diagonal form, in ascending order, like LAPACK's `steqr`: block by block, each starting at the end
    /// with the smaller element.
    fn diagonalize(&mut self) -> Result<()> {
        let n = self.d.len();
        let mut first = 0;
        while first < n {
            if first > 0 {
                self.e[first - 1] = T::Real::zero();
            }
            let last = self.end_of_block(first);
            if Float::abs(self.d[last]) >= Float::abs(self.d[first]) {
                self.ql(first, last)?;
            } else {
                self.qr(first, last)?;
            }
            first = last + 1;
        }
        Ok(())
    }

    /// Returns the end of a block, where the off-diagonal element is negligible.
    fn end_of_block(&mut self, first: usize) -> usize {
        for m in first..self.d.len() - 1 {
            let size = Float::abs(self.e[m]);
            let sizes = Float::sqrt(Float::abs(self.d[m])) * Float::sqrt(Float::abs(self.d[m + 1]));
            if size == T::Real::zero() || size <= sizes * Self::eps() {
                self.e[m] = T::Real::zero();
                return m;
            }
        }
        self.d.len() - 1
    }

    /// Computes the eigenvalues of a block from its top.
    fn ql(&mut self, first: usize, last: usize) -> Result<()> {
        let mut l = first;
        while l <= last {
            let m = (l..last).find(|&m| self.is_negligible(m, m, m + 1)).unwrap_or(last);
            if m < last {
                self.e[m] = T::Real::zero();
            }
            match m - l {
                0 => l += 1,
                1 => {
                    self.solve_pair(l)?;
                    l += 2;
                }
                _ => self.ql_step(l, m)?,
            }
        }
        Ok(())
    }

    /// Computes the eigenvalues of a block from its bottom.
    fn qr(&mut self, first: usize, last: usize) -> Result<()> {
        // One more than the last remaining row, so that it is never 0.
        let mut end = last + 1;
        while end > first {
            let l = end - 1;
            let m = (first + 1..=l).rev().find(|&m| self.is_negligible(m - 1, m, m - 1)).unwrap_or(first);
            if m > first {
                self.e[m - 1] = T::Real::zero();
            }
            match l - m {
                0 => end -= 1,
                1 => {
                    self.solve_pair(m)?;
                    end -= 2;
                }
                _ => self.qr_step(l, m)?,
            }
        }
        Ok(())
    }

    /// One QL step: moves the off-diagonal bulge from row `m` up to row `l`, where it shrinks.
    fn ql_step(&mut self, l: usize, m: usize) -> Result<()> {
        let mut g = self.start_step(l, l + 1, l, m)?;
        let (d, e) = (&mut self.d, &mut self.e);
        let two = T::Real::one() + T::Real::one();
        let (mut s, mut c, mut p) = (T::Real::one(), T::Real::one(), T::Real::zero());
        for i in (l..m).rev() {
            let (f, b) = (s * e[i], c * e[i]);
            let ([cosine, sine], r) = older_rotation(g, f);
            (c, s) = (cosine, sine);
            if i != m - 1 {
                e[i + 1] = r;
            }
            g = d[i + 1] - p;
            let r = (d[i] - g) * s + two * c * b;
            p = s * r;
            d[i + 1] = g + p;
            g = c * r - b;
            self.z.rotate(i, [c, -s])?;
        }
        d[l] = d[l] - p;
        e[l] = g;
        Ok(())
    }

    /// One QR step: moves the off-diagonal bulge from row `m` down to row `l`, where it shrinks.
    fn qr_step(&mut self, l: usize, m: usize) -> Result<()> {
        let mut g = self.start_step(l, l - 1, l - 1, m)?;
        let (d, e) = (&mut self.d, &mut self.e);
        let two = T::Real::one() + T::Real::one();
        let (mut s, mut c, mut p) = (T::Real::one(), T::Real::one(), T::Real::zero());
        for i in m..l {
            let (f, b) = (s * e[i], c * e[i]);
            let ([cosine, sine], r) = older_rotation(g, f);
            (c, s) = (cosine, sine);
            if i != m {
                e[i - 1] = r;
            }
            g = d[i] - p;
            let r = (d[i + 1] - g) * s + two * c * b;
            p = s * r;
            d[i] = g + p;
            g = c * r - b;
            self.z.rotate(i, [c, s])?;
        }
        d[l] = d[l] - p;
        e[l - 1] = g;
        Ok(())
    }

    /// Counts a step, and returns the shifted element of row `m` that the step starts with. The shift is Wilkinson's,
    /// from row `l` and its `neighbour`; `beside` is the index of the off-diagonal element between them.
    fn start_step(&mut self, l: usize, neighbour: usize, beside: usize, m: usize) -> Result<T::Real> {
        if self.steps_left == 0 {
            bail!(
                RuntimeError,
                "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned."
            );
        }
        self.steps_left -= 1;
        interrupt::check()?;
        let (d, beside) = (&self.d, self.e[beside]);
        let g = (d[neighbour] - d[l]) / ((T::Real::one() + T::Real::one()) * beside);
        let r = Float::hypot(g, T::Real::one());
        Ok(d[m] - d[l] + beside / (g + if Float::is_sign_negative(g) { -r } else { r }))
    }

    /// Computes the eigenvalues of the rows `l` and `l + 1`, which form a block.
    fn solve_pair(&mut self, l: usize) -> Result<()> {
        let (values, [c, s]) = symmetric_pair(self.d[l], self.e[l], self.d[l + 1]);
        (self.d[l], self.d[l + 1]) = (values[0], values[1]);
        self.e[l] = T::Real::zero();
        self.z.rotate(l, [c, s])
    }

    /// Returns whether the off-diagonal element `beside`, between the rows `a` and `b`, is negligible.
    fn is_negligible(&self, beside: usize, a: usize, b: usize) -> bool {
        let (size, eps) = (Float::abs(self.e[beside]), Self::eps());
        let tiny = <T::Real as Float>::min_positive_value();
        size * size <= ((eps * eps) * Float::abs(self.d[a])) * Float::abs(self.d[b]) + tiny
    }

    /// Returns half the distance from 1 to the next number: LAPACK's epsilon.
    fn eps() -> T::Real {
        <T::Real as Float>::epsilon() / (T::Real::one() + T::Real::one())
    }
}
