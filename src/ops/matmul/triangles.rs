//! The places of a triangle, and matrices along a diagonal.

use crate::bail;
use crate::ops::check::{not_implemented, same_device};
use crate::ops::copy::copy_into;
use crate::ops::rearrange::Triangle;
use crate::ops::view;
use crate::tensor::layout::checked_numel;
use crate::tensor::{DType, Device, Error, Result, Scalar, View, promote_types};

/// The rows and columns of a triangle's elements, as
/// [`torch.tril_indices`](https://pytorch.org/docs/2.7/generated/torch.tril_indices.html): two rows of numbers.
///
/// # Errors
/// RuntimeError for negative sizes and dtypes that are not whole numbers.
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
    checked_numel(&[rows, columns])?;
    // The columns of a row that belong to the triangle.
    let within = |row: i64| -> (i64, i64) {
        let edge = row.saturating_add(offset);
        match side {
            Triangle::Lower => (0, edge.saturating_add(1).clamp(0, columns)),
            Triangle::Upper => (edge.clamp(0, columns), columns),
        }
    };
    let count: i64 = (0..rows).map(within).map(|(from, to)| to - from).sum();
    if device.is_meta() {
        return View::zeros(&[2, count], dtype, device);
    }
    if !dtype.is_integral(false) || dtype.is_bare_unsigned() {
        let kernel = if side == Triangle::Lower { "tril_indices" } else { "triu_indices" };
        return not_implemented(kernel, dtype);
    }
    let mut places = Vec::new();
    let total = usize::try_from(count).unwrap_or(usize::MAX);
    places.try_reserve_exact(total.saturating_mul(2)).map_err(|_| Error::runtime("not enough memory for indices"))?;
    for row in 0..rows {
        let (from, to) = within(row);
        places.extend((from..to).map(|_| Scalar::Int(row)));
    }
    for row in 0..rows {
        let (from, to) = within(row);
        places.extend((from..to).map(Scalar::Int));
    }
    View::from_scalars(&[2, count], dtype, places)
}

/// Matrices along a diagonal, zeros elsewhere; vectors and numbers count as matrices of one row.
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
