//! Joins tensors: `cat`, `stack` and the `*stack` family.
//! Follows <https://pytorch.org/docs/2.7/generated/torch.cat.html>.

use super::check::same_device;
use super::copy::copy_into;
use super::view::{reshape, unsqueeze};
use crate::bail;
use crate::dtype::promote_types;
use crate::layout::{Dims, contiguous_strides, show, wrap_dim};
use crate::{DType, Layout, MemoryFormat, Result, View};

/// `torch.cat(tensors, dim)`. Sizes must agree except along `dim`; dtypes are promoted. Empty 1-d tensors are skipped,
/// whatever the other sizes.
pub fn cat(tensors: &[View], dim: i64) -> Result<View> {
    if let Some(position) = tensors.iter().position(|tensor| tensor.ndim() == 0) {
        bail!(RuntimeError, "zero-dimensional tensor (at position {position}) cannot be concatenated");
    }
    let Some((head, rest)) = tensors.split_first() else {
        bail!(RuntimeError, "torch.cat(): expected a non-empty list of Tensors");
    };
    let model = tensors.iter().enumerate().find(|(_, tensor)| !is_skipped(tensor));
    let d = match model {
        Some((_, tensor)) => wrap_dim(dim, tensor.ndim())?,
        None => 0,
    };
    let dtype = rest.iter().try_fold(head.dtype, |dtype, tensor| promote_types(dtype, tensor.dtype))?;
    let mut sizes = Dims::from_slice(&[0]);
    if let Some((_, model)) = model {
        sizes = Dims::from_slice(model.sizes());
        sizes[d] = 0;
        for (position, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| !is_skipped(tensor)) {
            check_sizes(model, tensor, d, position)?;
            sizes[d] = sizes[d].saturating_add(tensor.sizes()[d]);
        }
    }
    for tensor in rest {
        same_device(head, tensor)?;
    }
    let out = View::unwritten_strided(&sizes, joined_strides(tensors, &sizes)?, dtype, head.device())?;
    let mut start = 0;
    for tensor in tensors.iter().filter(|tensor| !is_skipped(tensor)) {
        let end = start + tensor.sizes()[d];
        let part = out.with_layout(out.layout.slice(d, Some(start), Some(end), 1));
        if (dtype, tensor.dtype) == (DType::Bool, DType::Bool) {
            // Joining moves bytes: bools that are neither 0 nor 1 stay so.
            let [part, tensor] = [&part, tensor].map(|view| View { dtype: DType::Byte, ..view.clone() });
            copy_into(&part, &tensor)?;
        } else {
            copy_into(&part, tensor)?;
        }
        start = end;
    }
    Ok(out)
}

/// PyTorch accepts empty 1-d tensors for old code that appends to `torch.empty(0)`.
fn is_skipped(tensor: &View) -> bool {
    tensor.sizes() == [0]
}

fn check_sizes(model: &View, tensor: &View, dim: usize, position: usize) -> Result<()> {
    if model.ndim() != tensor.ndim() {
        bail!(RuntimeError, "Tensors must have same number of dimensions: got {} and {}", model.ndim(), tensor.ndim());
    }
    for (i, (expected, got)) in model.sizes().iter().zip(tensor.sizes()).enumerate() {
        if i != dim && expected != got {
            bail!(
                RuntimeError,
                "Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size {got} for \
                 tensor number {position} in the list."
            );
        }
    }
    Ok(())
}

/// Returns strides in the format suggested by all tensors, if they agree, else row-major strides.
fn joined_strides(tensors: &[View], sizes: &[i64]) -> Result<Dims> {
    // Lazy bits are resolved before joining, and the copies may have other strides.
    let suggested = |tensor: &View| match tensor.conj || tensor.neg {
        true => MemoryFormat::suggested(&Layout { strides: tensor.layout.like_strides(), ..tensor.layout.clone() }),
        false => MemoryFormat::suggested(&tensor.layout),
    };
    let mut formats = tensors.iter().filter(|tensor| tensor.ndim() == sizes.len()).map(suggested);
    let format = formats.next().unwrap_or(MemoryFormat::Contiguous);
    let agreed = formats.all(|other| other == format) && tensors.iter().all(|tensor| tensor.ndim() == sizes.len());
    if agreed { format.strides(sizes) } else { Ok(contiguous_strides(sizes)) }
}

/// `torch.stack(tensors, dim)`: joins tensors of one size along a new dimension.
pub fn stack(tensors: &[View], dim: i64) -> Result<View> {
    let Some(first) = tensors.first() else {
        bail!(RuntimeError, "stack expects a non-empty TensorList");
    };
    let d = wrap_dim(dim, first.ndim() + 1)?;
    for (position, tensor) in tensors.iter().enumerate() {
        if tensor.sizes() != first.sizes() {
            bail!(
                RuntimeError,
                "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {position}",
                show(first.sizes()),
                show(tensor.sizes())
            );
        }
    }
    if d < first.ndim() {
        // Concatenate along the existing dimension, then split it, so that `cat` chooses the layout.
        let mut sizes = Dims::from_slice(first.sizes());
        sizes.insert(d, tensors.len() as i64);
        let out = cat(tensors, d as i64)?;
        let layout = out.layout.view(&sizes)?;
        return Ok(out.with_layout(layout));
    }
    let columns = tensors.iter().map(|tensor| unsqueeze(tensor, d as i64)).collect::<Result<Vec<View>>>()?;
    cat(&columns, d as i64)
}

/// `torch.atleast_1d`.
pub fn atleast_1d(view: &View) -> Result<View> {
    if view.ndim() == 0 { reshape(view, &[1]) } else { Ok(view.clone()) }
}

/// `torch.atleast_2d`: a vector becomes a row.
pub fn atleast_2d(view: &View) -> Result<View> {
    match view.ndim() {
        0 => reshape(view, &[1, 1]),
        1 => unsqueeze(view, 0),
        _ => Ok(view.clone()),
    }
}

/// `torch.atleast_3d`: a vector becomes a row, and a last dimension is added.
pub fn atleast_3d(view: &View) -> Result<View> {
    match view.ndim() {
        0 => reshape(view, &[1, 1, 1]),
        1 => unsqueeze(&unsqueeze(view, 0)?, -1),
        2 => unsqueeze(view, -1),
        _ => Ok(view.clone()),
    }
}

/// Gives every tensor the dimensions that the stacking function `name` needs.
fn prepared(tensors: &[View], name: &str, prepare: fn(&View) -> Result<View>) -> Result<Vec<View>> {
    if tensors.is_empty() {
        bail!(RuntimeError, "{name} expects a non-empty TensorList");
    }
    tensors.iter().map(prepare).collect()
}

/// `torch.hstack`: joins side by side; vectors are joined end to end.
pub fn hstack(tensors: &[View]) -> Result<View> {
    let tensors = prepared(tensors, "hstack", atleast_1d)?;
    let dim = if tensors.first().is_some_and(|tensor| tensor.ndim() == 1) { 0 } else { 1 };
    cat(&tensors, dim)
}

/// `torch.vstack`, also `row_stack`: joins rows; vectors count as rows.
pub fn vstack(tensors: &[View]) -> Result<View> {
    cat(&prepared(tensors, "vstack", atleast_2d)?, 0)
}

/// `torch.dstack`: joins along the third dimension.
pub fn dstack(tensors: &[View]) -> Result<View> {
    cat(&prepared(tensors, "dstack", atleast_3d)?, 2)
}

/// `torch.column_stack`: joins side by side; vectors count as columns.
pub fn column_stack(tensors: &[View]) -> Result<View> {
    let column = |view: &View| if view.ndim() < 2 { reshape(view, &[view.numel(), 1]) } else { Ok(view.clone()) };
    hstack(&prepared(tensors, "column_stack", column)?)
}

#[cfg(test)]
mod tests;
