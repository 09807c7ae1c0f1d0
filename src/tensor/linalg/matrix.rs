//! A matrix for decompositions, stored by columns in its own memory.

use super::field::Field;
use crate::parallel::vectorised;
use crate::{Error, Result, interrupt, limits};
use std::ops::{Index, IndexMut, Range};

/// Multiplications up to which a product is summed in order.
const SMALL_PRODUCT: usize = 1 << 18;

/// A column-major matrix.
#[derive(Clone, Debug)]
pub(super) struct Matrix<T> {
    pub rows: usize,
    pub columns: usize,
    values: Vec<T>,
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.values[j * self.rows + i]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.values[j * self.rows + i]
    }
}

impl<T: Field> Matrix<T> {
    pub(super) fn zeros(rows: usize, columns: usize) -> Result<Matrix<T>> {
        let count = rows.checked_mul(columns).ok_or_else(|| Error::runtime("a matrix is too large"))?;
        Ok(Matrix { rows, columns, values: limits::filled(T::zero(), count)? })
    }

    pub(super) fn identity(rows: usize, columns: usize) -> Result<Matrix<T>> {
        let mut matrix = Matrix::zeros(rows, columns)?;
        for i in 0..rows.min(columns) {
            matrix[(i, i)] = T::one();
        }
        Ok(matrix)
    }

    /// Takes over the elements of a matrix, column by column.
    ///
    /// # Errors
    /// RuntimeError if their number does not match, which is a bug of the caller.
    pub(super) fn of(rows: usize, columns: usize, values: Vec<T>) -> Result<Matrix<T>> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(Error::runtime("a matrix has other sizes"));
        }
        Ok(Matrix { rows, columns, values })
    }

    /// Copies some rows and columns.
    pub(super) fn copied(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Matrix<T>> {
        let mut values = limits::vector(rows.len().saturating_mul(columns.len()))?;
        for j in columns.clone().filter(|_| !rows.is_empty()) {
            values.extend_from_slice(&self.column(j)[rows.clone()]);
        }
        Matrix::of(rows.len(), columns.len(), values)
    }

    /// Writes another matrix to the part from `row` and `column` on.
    pub(super) fn put(&mut self, row: usize, column: usize, part: &Matrix<T>) {
        for j in part.filled_columns() {
            self.column_mut(column + j)[row..row + part.rows].copy_from_slice(part.column(j));
        }
    }

    /// The conjugate transpose.
    pub(super) fn adjoint(&self) -> Result<Matrix<T>> {
        self.turned(T::conj)
    }

    pub(super) fn transpose(&self) -> Result<Matrix<T>> {
        self.turned(|value| value)
    }

    /// Transposes, tile by tile, so that neither matrix is walked across its columns.
    fn turned(&self, element: impl Fn(T) -> T) -> Result<Matrix<T>> {
        const TILE: usize = 16;
        let mut out = Matrix::zeros(self.columns, self.rows)?;
        let tiles = |size: usize| (0..size).step_by(TILE).map(move |start| start..size.min(start + TILE));
        for columns in tiles(self.filled_columns().end) {
            interrupt::check()?;
            for rows in tiles(self.rows) {
                for i in rows {
                    let from = self.values.get(columns.start * self.rows + i..).unwrap_or_default();
                    let to = &mut out.column_mut(i)[columns.clone()];
                    to.iter_mut().zip(from.iter().step_by(self.rows)).for_each(|(to, &value)| *to = element(value));
                }
            }
        }
        Ok(out)
    }

    /// Returns the indices of the columns that have elements. A matrix without rows may have any number of columns, too
    /// many to walk.
    pub(super) fn filled_columns(&self) -> Range<usize> {
        0..if self.rows == 0 { 0 } else { self.columns }
    }

    /// Iterates over the indices of all elements, column by column.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<T> {
        let (rows, columns) = (self.rows, self.filled_columns());
        columns.flat_map(move |j| (0..rows).map(move |i| (i, j)))
    }

    pub(super) fn times(&self, other: &Matrix<T>) -> Result<Matrix<T>> {
        let mut out = Matrix::zeros(self.rows, other.columns)?;
        let depth = self.columns.min(other.rows);
        if self.columns == other.rows && self.rows.saturating_mul(depth).saturating_mul(other.columns) > SMALL_PRODUCT {
            out.add_product([0, 0], T::one(), self, other)?;
            return Ok(out);
        }
        for j in out.filled_columns() {
            interrupt::check()?;
            for k in 0..depth {
                let factor = other[(k, j)];
                for i in 0..self.rows {
                    out[(i, j)] = out[(i, j)] + self[(i, k)] * factor;
                }
            }
        }
        Ok(out)
    }

    /// `C += alpha · a @ b` for the part of the matrix from `row` and `column` on.
    pub(super) fn add_product(
        &mut self,
        [row, column]: [usize; 2],
        alpha: T,
        a: &Matrix<T>,
        b: &Matrix<T>,
    ) -> Result<()> {
        let rows = self.rows;
        let into = self.values.get_mut(column * rows + row..).unwrap_or_default();
        T::add_product(into, rows, [a.rows, a.columns, b.columns], alpha, [&a.values, &b.values])
    }

    pub(crate) fn swap_rows(&mut self, a: usize, b: usize) {
        if a != b {
            for j in 0..self.columns {
                self.values.swap(j * self.rows + a, j * self.rows + b);
            }
        }
    }

    pub(crate) fn swap_columns(&mut self, a: usize, b: usize) {
        if a != b {
            for i in 0..self.rows {
                self.values.swap(a * self.rows + i, b * self.rows + i);
            }
        }
    }

    pub(crate) fn column(&self, j: usize) -> &[T] {
        &self.values[j * self.rows..(j + 1) * self.rows]
    }

    pub(crate) fn column_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.values[j * self.rows..(j + 1) * self.rows]
    }

    /// Returns the elements of a column and of all columns after it.
    pub(crate) fn columns_from(&mut self, j: usize) -> &mut [T] {
        self.values.get_mut(j * self.rows..).unwrap_or_default()
    }

    /// Returns two columns; `b` must come after `a`.
    pub(crate) fn two_columns(&mut self, a: usize, b: usize) -> [&mut [T]; 2] {
        let (before, after) = self.values.split_at_mut(b * self.rows);
        [&mut before[a * self.rows..(a + 1) * self.rows], &mut after[..self.rows]]
    }

    /// Reverses the order of rows and columns.
    pub(super) fn reverse(&mut self) {
        self.values.reverse();
    }

    pub(crate) fn reverse_rows(&mut self) {
        if self.rows > 0 {
            self.values.chunks_exact_mut(self.rows).for_each(<[T]>::reverse);
        }
    }

    pub(crate) fn has_only_finite(&self) -> bool {
        // No early end, so that the loop can be vectorised.
        let is_finite = |v: &T| num_traits::Float::is_finite(v.re()) & num_traits::Float::is_finite(v.im());
        vectorised(|| self.values.iter().fold(true, |all, v| all & is_finite(v)))
    }
}
