//! A matrix for decompositions, stored by columns in its own memory; and batches of them, read from tensors and written
//! to new ones.

use super::field::Field;
use crate::bail;
use crate::memory::{get, set};
use crate::ops::check::resolved;
use crate::ops::copy::contiguous;
use crate::{DType, Device, Dims, Error, Result, View, interrupt, limits};
use std::ops::{Index, IndexMut};

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

    /// The conjugate transpose.
    pub(super) fn adjoint(&self) -> Result<Matrix<T>> {
        let mut out = Matrix::zeros(self.columns, self.rows)?;
        for (i, j) in self.places() {
            out[(j, i)] = self[(i, j)].conj();
        }
        Ok(out)
    }

    pub(super) fn transpose(&self) -> Result<Matrix<T>> {
        let mut out = Matrix::zeros(self.columns, self.rows)?;
        for (i, j) in self.places() {
            out[(j, i)] = self[(i, j)];
        }
        Ok(out)
    }

    /// Iterates over the indices of all elements, column by column. Empty for a matrix without rows, even if it has
    /// many columns.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<T> {
        let (rows, columns) = (self.rows, if self.rows == 0 { 0 } else { self.columns });
        (0..columns).flat_map(move |j| (0..rows).map(move |i| (i, j)))
    }

    pub(super) fn times(&self, other: &Matrix<T>) -> Result<Matrix<T>> {
        let mut out = Matrix::zeros(self.rows, other.columns)?;
        for j in 0..if self.rows == 0 { 0 } else { other.columns } {
            interrupt::check()?;
            for k in 0..self.columns.min(other.rows) {
                let factor = other[(k, j)];
                for i in 0..self.rows {
                    out[(i, j)] = out[(i, j)] + self[(i, k)] * factor;
                }
            }
        }
        Ok(out)
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
        self.values.iter().all(|v| num_traits::Float::is_finite(v.re()) && num_traits::Float::is_finite(v.im()))
    }
}

/// Reads the matrices in a tensor's last two dimensions, in row-major order of the batch.
pub(super) fn read<T: Field>(view: &View) -> Result<Vec<Matrix<T>>> {
    let [batch @ .., rows, columns] = view.sizes() else { bail!(RuntimeError, "a matrix has two dimensions") };
    let (rows, columns) = (*rows as usize, *columns as usize);
    let count = batch.iter().product::<i64>() as usize;
    let flat = contiguous(&resolved(view)?)?;
    let memory = flat.memory()?;
    let cells = memory.typed::<T>().get(flat.layout.offset as usize..).unwrap_or_default();
    let mut matrices = limits::vector(count)?;
    for k in 0..count {
        interrupt::check_at(k)?;
        let mut matrix = Matrix::zeros(rows, columns)?;
        let own = cells.get(k * rows * columns..).unwrap_or_default();
        for (n, cell) in own.iter().take(rows * columns).enumerate() {
            matrix[(n / columns, n % columns)] = get(cell);
        }
        matrices.push(matrix);
    }
    Ok(matrices)
}

/// The layout of a new tensor's matrices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MatrixOrder {
    Rows,
    Columns,
}

/// Allocates a tensor for a batch of matrices.
pub(super) fn allocate_batch(
    batch: &[i64],
    rows: usize,
    columns: usize,
    order: MatrixOrder,
    dtype: DType,
    device: Device,
) -> Result<View> {
    let (first, second) = if order == MatrixOrder::Rows { (rows, columns) } else { (columns, rows) };
    let sizes: Dims = batch.iter().copied().chain([first as i64, second as i64]).collect();
    let view = View::zeros(&sizes, dtype, device)?;
    let ndim = view.ndim() as i64;
    if order == MatrixOrder::Rows { Ok(view) } else { Ok(view.with_layout(view.layout.transpose(ndim - 2, ndim - 1)?)) }
}

/// Writes a batch of matrices, all of the given sizes, to a new tensor.
pub(super) fn write<T: Field>(
    batch: &[i64],
    [rows, columns]: [usize; 2],
    order: MatrixOrder,
    matrices: impl IntoIterator<Item = Matrix<T>>,
) -> Result<View> {
    let out = allocate_batch(batch, rows, columns, order, T::DTYPE, Device::CPU)?;
    let memory = out.memory()?;
    let cells = memory.typed::<T>();
    for (k, matrix) in matrices.into_iter().enumerate() {
        for (i, j) in matrix.places().filter(|&(i, j)| i < rows && j < columns) {
            let place = if order == MatrixOrder::Rows { i * columns + j } else { j * rows + i };
            if let Some(cell) = cells.get(k * rows * columns + place) {
                set(cell, matrix[(i, j)]);
            }
        }
    }
    Ok(out)
}

/// Writes a batch of vectors to a new tensor.
pub(crate) fn write_vectors<T: Field>(
    batch: &[i64],
    length: usize,
    vectors: impl IntoIterator<Item = Vec<T>>,
) -> Result<View> {
    let sizes: Dims = batch.iter().copied().chain([length as i64]).collect();
    let out = View::zeros(&sizes, T::DTYPE, Device::CPU)?;
    let memory = out.memory()?;
    for (cell, value) in memory.typed::<T>().iter().zip(vectors.into_iter().flatten()) {
        set(cell, value);
    }
    Ok(out)
}
