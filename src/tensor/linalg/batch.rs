//! Batches of matrices: read from tensors, decomposed on all cores, and written to new tensors.

use super::field::Field;
use super::matrix::Matrix;
use crate::bail;
use crate::memory::{get, set};
use crate::ops::check::resolved;
use crate::ops::copy::{contiguous, copy_into};
use crate::{DType, Device, Dims, Result, View, interrupt, limits, parallel};
use std::sync::{Mutex, PoisonError};

/// Like [`read`], transposed if `turned`.
pub(super) fn read_turned<T: Field>(view: &View, turned: bool) -> Result<Vec<Matrix<T>>> {
    let ndim = view.ndim() as i64;
    if turned { read(&view.with_layout(view.layout.transpose(ndim - 2, ndim - 1)?)) } else { read(view) }
}

/// Reads the matrices in a tensor's last two dimensions, in row-major order of the batch.
pub(super) fn read<T: Field>(view: &View) -> Result<Vec<Matrix<T>>> {
    let [batch @ .., rows, columns] = view.sizes() else { bail!(RuntimeError, "a matrix has two dimensions") };
    let (rows, columns) = (*rows as usize, *columns as usize);
    let count = batch.iter().product::<i64>() as usize;
    let ndim = view.ndim() as i64;
    let turned = view.with_layout(view.layout.transpose(ndim - 2, ndim - 1)?);
    let flat = contiguous(&resolved(&turned)?)?;
    let memory = flat.memory()?;
    let cells = memory.typed::<T>().get(flat.layout.offset as usize..).unwrap_or_default();
    let (mut matrices, size) = (limits::vector(count)?, rows * columns);
    for k in 0..count {
        interrupt::check_at(k)?;
        let mut values = limits::vector(size)?;
        values.extend(cells.get(k * size..).unwrap_or_default().iter().take(size).map(get));
        matrices.push(Matrix::of(rows, columns, values)?);
    }
    Ok(matrices)
}

/// Calls `body` for every item of a batch, on all cores if the items are worth it. `size` is the number of rows or
/// columns of a matrix.
///
/// # Errors
/// The first error of `body`; KeyboardInterrupt.
pub(super) fn each<A: Send, R: Send>(
    items: Vec<A>,
    size: usize,
    body: impl Fn(A) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let count = items.len();
    let work = size.saturating_pow(3).saturating_mul(count) / STEPS_PER_ELEMENT;
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let taken = |k: usize| items.get(k).and_then(|item| item.lock().unwrap_or_else(PoisonError::into_inner).take());
    let results = parallel::collect(count, work, &|k| taken(k).map(&body).transpose())?;
    Ok(results.into_iter().flatten().collect())
}

/// The steps of a decomposition that take as long as one element of other loops.
const STEPS_PER_ELEMENT: usize = 4;

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
    let out = allocate_batch(batch, rows, columns, MatrixOrder::Columns, T::DTYPE, Device::CPU)?;
    let memory = out.memory()?;
    let cells = memory.typed::<T>();
    for (k, matrix) in matrices.into_iter().enumerate() {
        interrupt::check()?;
        for j in 0..columns.min(matrix.filled_columns().end) {
            let column = cells.get((k * columns + j) * rows..).unwrap_or_default();
            column.iter().take(rows).zip(matrix.column(j)).for_each(|(cell, &value)| set(cell, value));
        }
    }
    if order == MatrixOrder::Columns {
        return Ok(out);
    }
    let by_rows = allocate_batch(batch, rows, columns, order, T::DTYPE, Device::CPU)?;
    copy_into(&by_rows, &out)?;
    Ok(by_rows)
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
