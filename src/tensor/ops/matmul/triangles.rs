//! Indices of triangles, and block-diagonal matrices.

use crate::bail;
use crate::interrupt::watched;
use crate::ops::check::{lost, not_implemented, same_device};
use crate::ops::copy::{cast, copy_into};
use crate::ops::rearrange::Triangle;
use crate::ops::view;
use crate::{DType, Device, Result, View, parallel, promote_types};

/// Returns the rows and columns of a triangle's elements as two rows of numbers, like
/// [`torch.tril_indices`](https://pytorch.org/docs/2.7/generated/torch.tril_indices.html).
///
/// # Errors
/// RuntimeError for negative sizes and dtypes that are not integral.
pub fn triangle_indices(
    side: Triangle,
    rows: i64,
    columns: i64,
    offset: i64,
    dtype: DType,
    device: Device,
) -> Result<View> {
    for (name, size) in [("row", rows), ("col", columns)] {
        if size < 0 {
            bail!(RuntimeError, "{name} must be non-negative, got{size}");
        }
    }
    let asked = match side {
        Triangle::Lower => lower_count(rows, columns, offset),
        Triangle::Upper => rows.wrapping_mul(columns).wrapping_sub(lower_count(rows, columns, offset.wrapping_sub(1))),
    };
    let room = View::zeros(&[2, asked], dtype, device)?;
    if device.is_meta() {
        return Ok(room);
    }
    if !matches!(dtype, DType::Int | DType::Long) {
        let kernel = if side == Triangle::Lower { "tril_indices" } else { "triu_indices" };
        return not_implemented(kernel, dtype);
    }
    // The columns of a row that belong to the triangle.
    let within = move |row: i64| -> (i64, i64) {
        let edge = row.saturating_add(offset);
        match side {
            Triangle::Lower => (0, edge.saturating_add(1).clamp(0, columns)),
            Triangle::Upper => (edge.clamp(0, columns), columns),
        }
    };
    let filled = match side {
        _ if columns == 0 => 0..0,
        Triangle::Lower => offset.saturating_neg().max(0)..rows,
        Triangle::Upper => 0..columns.saturating_sub(offset).clamp(0, rows),
    };
    let count = filled.clone().try_fold(0i64, |count, row| {
        let (from, to) = within(row);
        count.checked_add(to - from).filter(|&count| count <= asked)
    });
    // If a sum wrapped, the requested size is not that of the triangle.
    let Some(count) = count else { bail!(RuntimeError, "Storage size calculation overflowed with sizes=[2, {asked}]") };
    if count == 0 {
        return View::zeros(&[2, 0], dtype, device);
    }
    let out = View::unwritten(&[2, count], DType::Long, device)?;
    parallel::writing::<i64, _>(&*out.memory()?, 0..2 * count as usize, |numbers| {
        let (mut in_rows, mut in_columns) = numbers.split_at_mut(count as usize);
        for row in watched(filled) {
            let (from, to) = within(row);
            let width = (to - from) as usize;
            in_rows.split_off_mut(..width).ok_or_else(lost)?.fill(row);
            in_columns.split_off_mut(..width).ok_or_else(lost)?.iter_mut().zip(from..).for_each(|(at, n)| *at = n);
        }
        Ok(())
    })
    .unwrap_or_else(|| Err(lost()))?;
    if dtype == DType::Long { Ok(out) } else { cast(&out, dtype) }
}

/// Returns the number of elements of a lower triangle. Like PyTorch's, the sums wrap for huge sizes.
fn lower_count(rows: i64, columns: i64, offset: i64) -> i64 {
    if rows == 0 || columns == 0 {
        return 0;
    }
    let reach = rows.wrapping_add(offset);
    let first = if offset > 0 { columns.min(offset.wrapping_add(1)) } else { i64::from(reach > 0) };
    let last = columns.min(reach).max(0);
    let sloped = last.wrapping_sub(first).wrapping_add(1);
    let count = first.wrapping_add(last).wrapping_mul(sloped) >> 1;
    let whole = rows.min(reach).max(0).wrapping_sub(sloped);
    if whole > 0 { count.wrapping_add(whole.wrapping_mul(columns)) } else { count }
}

/// Arranges matrices along a diagonal, with zeros elsewhere; vectors and numbers count as matrices of one row.
///
/// # Errors
/// RuntimeError for more than two dimensions.
pub fn block_diag(blocks: &[View]) -> Result<View> {
    let mut dtype = None;
    let mut parts = Vec::with_capacity(blocks.len().max(1));
    for (i, block) in blocks.iter().enumerate() {
        if block.ndim() > 2 {
            let n = block.ndim();
            bail!(
                RuntimeError,
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {n} dimensions"
            );
        }
        dtype = Some(dtype.map_or(Ok(block.dtype), |known| promote_types(known, block.dtype))?);
        parts.push(view::reshape(
            block,
            &[if block.ndim() == 2 { block.sizes()[0] } else { 1 }, block.sizes().last().copied().unwrap_or(1)],
        )?);
    }
    if parts.is_empty() {
        return View::zeros(&[1, 0], DType::Float, Device::CPU);
    }
    let size = |d: usize| parts.iter().fold(0i64, |sum, part| sum.saturating_add(part.sizes()[d]));
    let (rows, columns) = (size(0), size(1));
    let device = parts.first().map_or(Device::CPU, View::device);
    let out = View::zeros(&[rows, columns], dtype.unwrap_or(DType::Float), device)?;
    let (mut row, mut column) = (0, 0);
    for part in &parts {
        same_device(&out, part)?;
        let (height, width) = (part.sizes()[0], part.sizes()[1]);
        copy_into(&view::narrow(&view::narrow(&out, 0, row, height)?, 1, column, width)?, part)?;
        (row, column) = (row + height, column + width);
    }
    Ok(out)
}
