//! LU and Cholesky factorizations, and solving with them, like LAPACK's getrf, getrs, potrf and trtrs. All of them stop
//! after Ctrl-C.

use super::field::Field;
use super::matrix::Matrix;
use crate::{Result, interrupt};
use num_traits::{Float, One, Zero};

/// `P A = L U`: both factors in one matrix, the row exchanged at each step, and the first zero on the diagonal, counted
/// from one, if any.
pub(super) struct Lu<T> {
    pub factors: Matrix<T>,
    pub pivots: Vec<usize>,
    pub zero: Option<usize>,
}

/// Eliminates column by column, with the largest element of each as its pivot.
pub(super) fn lu<T: Field>(mut a: Matrix<T>) -> Lu<T> {
    let (mut pivots, mut zero) = (Vec::new(), None);
    for j in 0..a.rows.min(a.columns) {
        if interrupt::requested() {
            break;
        }
        let mut pivot = j;
        for i in j + 1..a.rows {
            if a[(i, j)].size() > a[(pivot, j)].size() {
                pivot = i;
            }
        }
        pivots.push(pivot);
        if a[(pivot, j)].is_zero() {
            zero = zero.or(Some(j + 1));
        } else {
            a.swap_rows(j, pivot);
            let (divisor, inverse) = (a[(j, j)], a[(j, j)].inverse());
            // Like the library, divides the last column of the smallest real square matrices, and multiplies all others
            // by the inverse.
            let divides = !T::DTYPE.is_complex() && a.rows <= 4 && a.columns == a.rows && j + 2 == a.rows;
            for i in j + 1..a.rows {
                a[(i, j)] = if divides { a[(i, j)] / divisor } else { a[(i, j)] * inverse };
            }
        }
        for k in j + 1..a.columns {
            let factor = a[(j, k)];
            for i in j + 1..a.rows {
                a[(i, k)] = a[(i, k)] - a[(i, j)] * factor;
            }
        }
    }
    Lu { factors: a, pivots, zero }
}

impl<T: Field> Lu<T> {
    /// Returns whether the number of exchanges is odd, which gives the sign of the permutation.
    pub(crate) fn is_odd(&self) -> bool {
        self.pivots.iter().enumerate().filter(|&(i, &pivot)| i != pivot).count() % 2 == 1
    }

    /// Returns the permutation as an order of rows.
    pub(super) fn rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.factors.rows).collect();
        for (i, &pivot) in self.pivots.iter().enumerate() {
            rows.swap(i, pivot);
        }
        rows
    }

    /// Returns the lower factor, with ones on its diagonal, and the upper factor.
    pub(super) fn split(&self) -> Result<(Matrix<T>, Matrix<T>)> {
        let (m, n) = (self.factors.rows, self.factors.columns);
        let k = m.min(n);
        let (mut lower, mut upper) = (Matrix::identity(m, k)?, Matrix::zeros(k, n)?);
        for (i, j) in self.factors.places() {
            let part = if i > j { &mut lower } else { &mut upper };
            part[(i, j)] = self.factors[(i, j)];
        }
        Ok((lower, upper))
    }

    /// Solves `A X = B` in place.
    pub(super) fn solve(&self, b: &mut Matrix<T>) {
        for (i, &pivot) in self.pivots.iter().enumerate() {
            b.swap_rows(i, pivot);
        }
        solve_triangular(&self.factors, b, Triangular { upper: false, unit: true });
        solve_triangular(&self.factors, b, Triangular { upper: true, unit: false });
    }

    /// Solves `Aᴴ X = B` in place.
    pub(crate) fn solve_adjoint(&self, b: &mut Matrix<T>) -> Result<()> {
        self.solve_with_transposed(&self.factors.adjoint()?, b);
        Ok(())
    }

    /// Solves `Aᵀ X = B` in place.
    pub(crate) fn solve_transposed(&self, b: &mut Matrix<T>) -> Result<()> {
        self.solve_with_transposed(&self.factors.transpose()?, b);
        Ok(())
    }

    fn solve_with_transposed(&self, turned: &Matrix<T>, b: &mut Matrix<T>) {
        solve_triangular(turned, b, Triangular { upper: false, unit: false });
        solve_triangular(turned, b, Triangular { upper: true, unit: true });
        for (i, &pivot) in self.pivots.iter().enumerate().rev() {
            b.swap_rows(i, pivot);
        }
    }
}

/// Which triangle of a matrix to read, and whether its diagonal is taken as ones.
#[derive(Clone, Copy)]
pub(super) struct Triangular {
    pub upper: bool,
    pub unit: bool,
}

/// The number of columns solved side by side, so that steps do not wait for each other.
const ABREAST: usize = 8;

/// Solves `A X = B` in place for a triangular `A`, with the library's steps for several columns: the terms of the
/// elements already found are summed first, and the difference is multiplied by the inverse of the diagonal.
pub(super) fn solve_triangular<T: Field>(a: &Matrix<T>, b: &mut Matrix<T>, shape: Triangular) {
    let n = a.columns.min(a.rows);
    for step in 0..n {
        if interrupt::requested() {
            return;
        }
        let at = |step: usize| if shape.upper { n - 1 - step } else { step };
        let i = at(step);
        // The elements already found, in that order, each with its factor.
        let known: Vec<(usize, T)> = (0..step).map(at).map(|k| (k, a[(i, k)])).collect();
        let inverse = if shape.unit { T::one() } else { a[(i, i)].inverse() };
        let width = b.columns;
        for columns in (0..width).step_by(ABREAST).map(|start| start..width.min(start + ABREAST)) {
            let mut sums = [T::zero(); ABREAST];
            for &(k, factor) in &known {
                for (sum, column) in sums.iter_mut().zip(columns.clone()) {
                    *sum = *sum + factor * b[(k, column)];
                }
            }
            for (sum, column) in sums.into_iter().zip(columns) {
                let value = b[(i, column)];
                let value = if known.is_empty() { value } else { value - sum };
                b[(i, column)] = if shape.unit { value } else { value * inverse };
            }
        }
    }
}

/// Like [`solve_triangular`], with the library's steps for a single column: each element is divided by the diagonal and
/// subtracted from the others as soon as it is found.
pub(crate) fn solve_column<T: Field>(a: &Matrix<T>, b: &mut Matrix<T>, shape: Triangular) {
    let n = a.columns.min(a.rows);
    for step in 0..n {
        if interrupt::requested() {
            return;
        }
        let k = if shape.upper { n - 1 - step } else { step };
        if !shape.unit {
            b[(k, 0)] = b[(k, 0)] / a[(k, k)];
        }
        let value = b[(k, 0)];
        for i in if shape.upper { 0..k } else { k + 1..n } {
            b[(i, 0)] = b[(i, 0)] - a[(i, k)] * value;
        }
    }
}

/// Returns the lower Cholesky factor of a positive-definite matrix, and the order of the first leading minor that is
/// not positive-definite. Only the lower triangle is read.
pub(super) fn cholesky<T: Field>(mut a: Matrix<T>) -> (Matrix<T>, Option<usize>) {
    let n = a.rows;
    let mut failed = None;
    for j in 0..n {
        if interrupt::requested() {
            break;
        }
        let squares = (0..j).fold(T::Real::zero(), |sum, k| sum + a[(j, k)].magnitude() * a[(j, k)].magnitude());
        let square = a[(j, j)].re() - squares;
        // NaN is not positive either.
        if square <= T::Real::zero() || Float::is_nan(square) {
            a[(j, j)] = T::of(square);
            failed = Some(j + 1);
            break;
        }
        let root = Float::sqrt(square);
        a[(j, j)] = T::of(root);
        // Single precision multiplies by the inverse, like the library.
        let inverse = T::Real::one() / root;
        let divide = |value: T| {
            if size_of::<T::Real>() == 4 { value.scale(inverse) } else { T::new(value.re() / root, value.im() / root) }
        };
        for i in j + 1..n {
            let sum = (0..j).fold(T::zero(), |sum, k| sum + a[(i, k)] * a[(j, k)].conj());
            a[(i, j)] = divide(a[(i, j)] - sum);
        }
    }
    for j in 1..n {
        for i in 0..j {
            a[(i, j)] = T::zero();
        }
    }
    // The imaginary part of the second diagonal element as the library's code for a few rows leaves it.
    if (3..=5).contains(&n) && failed.is_none_or(|order| order > 2) {
        a[(1, 1)] = T::new(a[(1, 1)].re(), -T::Real::zero());
    }
    (a, failed)
}
