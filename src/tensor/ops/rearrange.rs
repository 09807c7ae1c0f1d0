//! Copies with rearranged elements: rolled, flipped, repeated, cut to a triangle, placed on a diagonal. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.roll.html> and related functions.

use super::check::{UnsupportedDtypes, copy_lines, move_slice, readable, resolved, row_major_copy, size_at, supported};
use super::copy::{clone, contiguous, copy_into, truths};
use super::gather::index_select;
use super::join::cat;
use super::view::{diagonal, distinct_dims, expand, flatten, narrow, transpose, unsqueeze};
use crate::bail;
use crate::interrupt::watched;
use crate::layout::{Dims, contiguous_strides, wrap_dim};
use crate::memory::set;
use crate::{DType, Device, Layout, Result, View};

/// `roll(shifts, dims)`: shifts elements along dimensions; elements shifted past one end reappear at the other. Without
/// dimensions, elements shift in row-major order.
pub fn roll(view: &View, shifts: &[i64], dims: &[i64]) -> Result<View> {
    match (shifts, dims) {
        ([shift], [dim]) => roll_one(&resolved(view)?, *shift, *dim),
        ([], _) => bail!(RuntimeError, "`shifts` required"),
        ([shift], []) => {
            let flat = contiguous(&resolved(view)?)?;
            let line = flat.with_layout(flat.layout.view(&[-1])?);
            let rolled = roll_one(&line, *shift, 0)?;
            let layout = rolled.layout.view(view.sizes())?;
            Ok(rolled.with_layout(layout))
        }
        _ if shifts.len() != dims.len() => {
            bail!(RuntimeError, "shifts and dimensions must align. shifts: {}, dims:{}", shifts.len(), dims.len())
        }
        _ => shifts.iter().zip(dims).try_fold(resolved(view)?, |view, (shift, dim)| roll_one(&view, *shift, *dim)),
    }
}

fn roll_one(view: &View, shift: i64, dim: i64) -> Result<View> {
    if view.numel() == 0 {
        return clone(view);
    }
    let (_, size) = size_at(&view.layout, dim)?;
    let start = (i128::from(size) - i128::from(shift)).rem_euclid(i128::from(size)) as i64;
    cat(&[narrow(view, dim, start, size - start)?, narrow(view, dim, 0, start)?], dim)
}

/// `flip(dims)`: reverses the order of elements along dimensions.
pub fn flip(view: &View, dims: &[i64]) -> Result<View> {
    let dims = distinct_dims(dims, view.ndim())?;
    let view = resolved(view)?;
    // An empty tensor may have any offset and strides, and has nothing to move.
    if view.numel() <= 1 {
        return clone(&view);
    }
    let mut mirrored = view.layout.clone();
    for d in dims.into_iter().filter(|&d| d < view.ndim()) {
        let (size, stride) = (view.sizes()[d], view.strides()[d]);
        if size > 1 && stride != 0 {
            mirrored.offset += (size - 1) * stride;
            mirrored.strides[d] = -stride;
        }
    }
    if mirrored.strides == view.layout.strides {
        return clone(&view);
    }
    let out = View::unwritten_strided(view.sizes(), view.layout.like_strides(), view.dtype, view.device())?;
    if out.device().is_meta() {
        return Ok(out);
    }
    flippable(&view, &mirrored, out.strides())?;
    // In the order of the result's memory, which is that of a dense input.
    let order: Vec<i64> =
        Layout::iteration_order(view.sizes(), &[out.strides()]).into_iter().rev().map(|d| d as i64).collect();
    if out.layout.permute(&order)?.is_contiguous() {
        let length = order.last().map_or(1, |&d| view.sizes()[d as usize] as usize);
        copy_lines(&out, &readable(&view)?, &mirrored.permute(&order)?, &|_| 0..length)?;
    } else {
        move_slice(&out, &out.layout, &view, &mirrored)?;
    }
    truths(out)
}

/// Refuses dtypes that PyTorch's loop does not support. Contiguous lines that are not reversed are copied by another
/// loop, which supports all dtypes.
fn flippable(view: &View, mirrored: &Layout, out: &[i64]) -> Result<()> {
    let still: Dims = view.strides().iter().zip(&mirrored.strides).map(|(a, b)| if a == b { *a } else { 0 }).collect();
    let order = Layout::iteration_order(view.sizes(), &[out, view.strides(), &still]);
    match order.into_iter().find(|&d| view.sizes()[d] != 1) {
        Some(d) if out[d] == 1 && still[d] == 1 => Ok(()),
        _ => supported("flip_cpu", view.dtype, UnsupportedDtypes::ComplexHalf),
    }
}

/// `fliplr()`: reverses the second dimension.
pub fn fliplr(view: &View) -> Result<View> {
    if view.ndim() < 2 {
        bail!(RuntimeError, "Input must be >= 2-d.");
    }
    flip(view, &[1])
}

/// `flipud()`: reverses the first dimension.
pub fn flipud(view: &View) -> Result<View> {
    if view.ndim() < 1 {
        bail!(RuntimeError, "Input must be >= 1-d.");
    }
    flip(view, &[0])
}

/// `rot90(k, dims)`: rotates in the plane of two dimensions by `k` quarter turns, from the first towards the second.
pub fn rot90(view: &View, k: i64, dims: &[i64]) -> Result<View> {
    let &[dim0, dim1] = dims else {
        bail!(RuntimeError, "expected total rotation dims == 2, but got dims = {}", dims.len());
    };
    let ndim = view.ndim() as i64;
    if ndim < 2 {
        bail!(RuntimeError, "expected total dims >= 2, but got total dims = {ndim}");
    }
    if dim0 == dim1 || dim0.abs_diff(dim1) == ndim as u64 {
        bail!(RuntimeError, "expected rotation dims to be different, but got dim0 = {dim0} and dim1 = {dim1}");
    }
    for (name, dim) in [("dim0", dim0), ("dim1", dim1)] {
        if dim < -ndim || dim >= ndim {
            bail!(RuntimeError, "Rotation {name} out of range, {name} = {dim}");
        }
    }
    match k.rem_euclid(4) {
        0 => row_major_copy(view),
        1 => transpose(&flip(view, &[dim1])?, dim0, dim1),
        2 => flip(view, dims),
        _ => transpose(&flip(view, &[dim0])?, dim0, dim1),
    }
}

/// `repeat(repeats)`: repeats the tensor along each dimension; the result is row-major.
pub fn repeat(view: &View, repeats: &[i64]) -> Result<View> {
    let Some(added) = repeats.len().checked_sub(view.ndim()) else {
        bail!(
            RuntimeError,
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        );
    };
    let mut padded = Dims::from_elem(1, added);
    padded.extend_from_slice(view.sizes());
    let sizes: Dims = padded.iter().zip(repeats).map(|(size, count)| size.wrapping_mul(*count)).collect();
    let out = View::unwritten(&sizes, view.dtype, view.device())?;
    if out.numel() == 0 {
        return Ok(out);
    }
    // With the sizes repeats × sizes, the result is an expanded tensor.
    let mut tiled = Layout { sizes: Dims::from_slice(repeats), strides: Dims::new(), offset: 0 };
    tiled.sizes.extend_from_slice(&padded);
    tiled.strides.extend(out.strides().iter().zip(&padded).map(|(stride, size)| stride * size));
    tiled.strides.extend_from_slice(out.strides());
    copy_into(&out.with_layout(tiled.clone()), &expand(&expand(view, &padded)?, &tiled.sizes)?)?;
    Ok(out)
}

/// `tile(dims)`: like [`repeat`], with ones for missing leading dimensions.
pub fn tile(view: &View, counts: &[i64]) -> Result<View> {
    let mut repeats = Dims::from_elem(1, view.ndim().saturating_sub(counts.len()));
    repeats.extend_from_slice(counts);
    repeat(view, &repeats)
}

/// `repeat_interleave(n, dim)`: repeats every element n times in a row. Without a dimension, the tensor is flattened.
pub fn repeat_interleave(view: &View, repeats: i64, dim: Option<i64>, output_size: Option<i64>) -> Result<View> {
    let input = if dim.is_some() { view.clone() } else { flatten(view, 0, -1)? };
    let d = wrap_dim(dim.unwrap_or(0), view.ndim())?;
    if repeats < 0 {
        bail!(RuntimeError, "Repeats must be non-negative");
    }
    let input = unsqueeze(&input, d as i64 + 1)?;
    let mut sizes = Dims::from_slice(input.sizes());
    sizes[d + 1] = repeats;
    let input = expand(&input, &sizes)?;
    if let Some(given) = output_size {
        let expected = sizes[d].saturating_mul(repeats);
        if given != expected {
            bail!(RuntimeError, "repeat_interleave: Invalid output_size, expected {expected} but got {given}");
        }
    }
    flatten(&row_major_copy(&input)?, d as i64, d as i64 + 1)
}

/// `repeat_interleave(repeats, dim)` with a count for each slice.
pub fn repeat_interleave_counts(
    view: &View,
    repeats: &View,
    dim: Option<i64>,
    output_size: Option<i64>,
) -> Result<View> {
    let plain = View { conj: false, neg: false, ..view.clone() };
    let input = if dim.is_some() { plain } else { flatten(&plain, 0, -1)? };
    let dim = dim.unwrap_or(0);
    let counts = match repeats.sizes() {
        [] | [1] => {
            let (_, size) = size_at(&input.layout, dim)?;
            expand(&super::view::reshape(repeats, &[1])?, &[size])?
        }
        [count] => {
            let (_, size) = size_at(&input.layout, dim)?;
            if *count != size {
                bail!(
                    RuntimeError,
                    "repeats must have the same size as input along dim, but got repeats.size(0) = {count} and \
                     input.size({dim}) = {size}"
                );
            }
            repeats.clone()
        }
        _ => bail!(RuntimeError, "repeats must be 0-dim or 1-dim tensor"),
    };
    let out = index_select(&input, dim, &repeated_positions(&counts, output_size)?)?;
    Ok(View { conj: view.conj, neg: view.neg, ..out })
}

/// `torch.repeat_interleave(repeats)`: returns each index as often as its count says.
pub fn repeated_positions(repeats: &View, output_size: Option<i64>) -> Result<View> {
    if repeats.device().is_meta() {
        return super::check::no_meta_kernel("repeat_interleave.Tensor");
    }
    if !matches!(repeats.dtype, DType::Long | DType::Int) {
        return super::check::not_implemented("repeat_interleave_cpu", repeats.dtype);
    }
    if repeats.ndim() != 1 {
        bail!(RuntimeError, "repeat_interleave only accept 1D vector as repeat");
    }
    let counts = repeats.scalars()?;
    let mut sum = 0i128;
    for count in &counts {
        let count = count.to_i64();
        if count < 0 {
            bail!(RuntimeError, "repeats can not be negative");
        }
        sum += i128::from(count);
    }
    // PyTorch refuses a sum that wraps to a negative size, in other words below -2⁶², and crashes if it wraps further.
    let total = sum as i64;
    if total < -(1 << 62) {
        bail!(RuntimeError, "IntArrayRef contains an int that cannot be represented as a SymInt: {total}");
    }
    if total >= 0 && i128::from(total) != sum {
        bail!(RuntimeError, "repeat_interleave: the repeats add up to {sum}, which is no size");
    }
    if output_size.is_some_and(|given| given != total) {
        bail!(RuntimeError, "allocated size does not match required size");
    }
    let positions = View::zeros(&[total], repeats.dtype, Device::CPU)?;
    let memory = positions.memory()?;
    let numbers = counts.iter().enumerate().flat_map(|(i, count)| (0..count.to_i64()).map(move |_| i));
    dispatch!(repeats.dtype, T => {
        use crate::{Element, Scalar};
        for (cell, number) in watched(memory.typed::<T>().iter().zip(numbers)) {
            set(cell, T::store(Scalar::Int(number as i64)));
        }
    });
    Ok(positions)
}

/// The triangle that [`triangle`] keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangle {
    Lower,
    Upper,
}

/// `tril(k)` and `triu(k)`: the elements on one side of the k-th diagonal of every matrix, zeros elsewhere. The result
/// is row-major.
pub fn triangle(view: &View, side: Triangle, k: i64) -> Result<View> {
    let name = if side == Triangle::Lower { "tril" } else { "triu" };
    let Some(first) = view.ndim().checked_sub(2) else {
        bail!(RuntimeError, "{name}: input tensor must have at least 2 dimensions");
    };
    let out = View::zeros(view.sizes(), view.dtype, view.device())?;
    if out.device().is_meta() || out.numel() == 0 {
        return Ok(out);
    }
    supported(name, view.dtype, UnsupportedDtypes::Float8)?;
    let view = readable(&resolved(view)?)?;
    let (rows, columns) = (view.sizes()[first], view.sizes()[first + 1]);
    copy_lines(&out, &view, &view.layout, &|line| {
        // For a huge `k` the sum wraps, as in PyTorch.
        let edge = (line as i64 % rows).wrapping_add(k);
        match side {
            Triangle::Lower => 0..edge.wrapping_add(1).clamp(0, columns) as usize,
            Triangle::Upper => edge.clamp(0, columns) as usize..columns as usize,
        }
    })?;
    truths(out)
}

/// `diag(k)`: a matrix with a vector on its k-th diagonal, or the k-th diagonal of a matrix as a vector.
pub fn diag(view: &View, k: i64) -> Result<View> {
    match view.ndim() {
        1 => diag_embed(view, k, -2, -1),
        2 => row_major_copy(&diagonal(view, k, 0, 1)?),
        ndim => bail!(RuntimeError, "diag(): Supports 1D or 2D tensors. Got {ndim}D"),
    }
}

/// `diag_embed(offset, dim1, dim2)`: puts the last dimension on a diagonal of two new dimensions, with zeros elsewhere.
pub fn diag_embed(view: &View, offset: i64, dim1: i64, dim2: i64) -> Result<View> {
    let (a, b) = (wrap_dim(dim1, view.ndim() + 1)?, wrap_dim(dim2, view.ndim() + 1)?);
    if a == b {
        bail!(RuntimeError, "diagonal dimensions cannot be identical {dim1}, {dim2}");
    }
    let (last, size) = size_at(&view.layout, -1)?;
    let length = offset.wrapping_abs().wrapping_add(size);
    if length < 0 {
        bail!(RuntimeError, "IntArrayRef contains an int that cannot be represented as a SymInt: {length}");
    }
    let mut sizes = Dims::from_slice(view.sizes());
    sizes.remove(last);
    sizes.insert(a.min(b), length);
    sizes.insert(a.max(b), length);
    let out = View::zeros(&sizes, view.dtype, view.device())?;
    copy_into(&diagonal(&out, offset, dim1, dim2)?, view)?;
    Ok(out)
}

/// `diagflat(offset)`: puts all elements, in row-major order, on a diagonal.
pub fn diagflat(view: &View, offset: i64) -> Result<View> {
    let flat = contiguous(view)?;
    let layout = Layout {
        sizes: Dims::from_slice(&[flat.numel()]),
        strides: contiguous_strides(&[flat.numel()]),
        offset: flat.layout.offset,
    };
    diag(&flat.with_layout(layout), offset)
}

#[cfg(test)]
mod tests;
