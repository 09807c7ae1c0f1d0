//! Reads `x[i]` and writes `x[i] = v` through a subscript. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.Tensor.index_put_.html>. `tensor::index` determines the elements of a
//! subscript; this file moves them.

use super::check::{
    Positions, UnsupportedDtypes, by_width, copy_slices, expanded, fits, look_up, lost, no_overlap, resolved,
    supported, through_bits,
};
use super::copy::{clone, copy_into, truths};
use super::gather::{APART, Joined, Reduce, Spread, in_bounds};
use super::mask::masked_fill_;
use crate::bail;
use crate::index::{Gather, Index, Resolved, resolve};
use crate::layout::{show, wrap_dim};
use crate::memory::{get, set as put};
use crate::{DType, Device, Dims, Error, Layout, Result, Scalar, View, interrupt};

/// `x[indices]`: a view for basic subscripts, a copy if tensors or booleans index.
///
/// # Errors
/// Those of [`resolve`] and [`index_tensors`].
pub fn index(view: &View, indices: &[Index]) -> Result<View> {
    match resolve(view, indices)? {
        Resolved::Basic(layout) => Ok(view.with_layout(layout)),
        Resolved::Advanced { base, indices } => index_tensors(&view.with_layout(base), &indices),
    }
}

/// `x[indices] = value`, by PyTorch's broadcasting rules: leading dimensions of size 1 of the value are ignored. Use
/// [`number`] to convert a Python number.
///
/// # Errors
/// Those of [`resolve`], [`index_put_`] and `copy_`; RuntimeError if the value does not broadcast.
pub fn set(view: &View, indices: &[Index], value: &View) -> Result<()> {
    match indices {
        // PyTorch ignores the value here, whatever its shape.
        [Index::Bool(false)] => return Ok(()),
        [Index::Bool(true)] => return assign(&view.with_layout(view.layout.unsqueeze(0)?), value),
        _ => {}
    }
    match resolve(view, indices)? {
        Resolved::Basic(layout) => assign(&view.with_layout(layout), value),
        Resolved::Advanced { base, indices } => {
            index_put_(&view.with_layout(base), &indices, &without_leading_ones(value)?, false)
        }
    }
}

/// Converts a Python number to a value for [`set`], with the target's dtype and device.
///
/// # Errors
/// RuntimeError if the dtype cannot hold the number.
pub fn number(view: &View, value: Scalar) -> Result<View> {
    fits(value, view.dtype)?;
    if view.device().is_meta() { View::zeros(&[], view.dtype, Device::META) } else { View::scalar(value, view.dtype) }
}

/// Copies `value` into a view, broadcast and converted.
fn assign(target: &View, value: &View) -> Result<()> {
    if target.sizes() == value.sizes() {
        return copy_into(target, value);
    }
    if value.ndim() == 0 && !value.device().is_meta() {
        // Copy an element of the target itself, which must be read before it is overwritten.
        let value = if value.storage == target.storage { clone(value)? } else { value.clone() };
        return copy_into(target, &expanded(&value, target.sizes())?);
    }
    copy_into(target, &expanded(&without_leading_ones(value)?, target.sizes())?)
}

fn without_leading_ones(value: &View) -> Result<View> {
    let ones = value.sizes().iter().take_while(|&&size| size == 1).count();
    match value.sizes().get(ones..) {
        Some(rest) if ones > 0 => Ok(value.with_layout(value.layout.view(rest)?)),
        _ => Ok(value.clone()),
    }
}

/// `x[i, :, j]` for index tensors; `None` stands for `:`. The result's sizes and strides are PyTorch's.
///
/// # Errors
/// Those of [`Gather::new`]; IndexError for an index out of bounds; RuntimeError for a dtype that PyTorch cannot index.
pub fn index_tensors(view: &View, indices: &[Option<View>]) -> Result<View> {
    let view = resolved(view)?;
    let plan = Gather::new(&view, indices)?;
    let strides = plan.result_strides();
    let device = if plan.is_meta() { Device::META } else { view.device() };
    let out = View::unwritten_strided(plan.sizes(), strides, view.dtype, device)?;
    if device.is_meta() {
        return Ok(out);
    }
    supported("index_cpu", view.dtype, UnsupportedDtypes::Float8)?;
    if let Some((index, size, stride)) = plan.single() {
        let refused = &|index| Error::index(format!("index {index} is out of bounds for dimension 0 with size {size}"));
        let positions = Positions { numbers: -size..size, stride, refused };
        match plan.vector() {
            // Slices in one order, as in `index_select`.
            Some((vector, dim)) if out.layout.is_contiguous() && out.numel() > 0 => {
                copy_slices(&out, &view, dim, &positions.displacements(vector)?)?;
            }
            _ => look_up(&out, &out.layout, &view, &plan.source, &index, &positions)?,
        }
        return truths(out);
    }
    let order = Layout::iteration_order(plan.sizes(), &[out.strides()]);
    look_up(&out, &out.layout, &view, &plan.source, &plan.displacements(&order)?, &Positions::DISPLACEMENTS)?;
    truths(out)
}

/// `x.index_put_(indices, value, accumulate)`: writes the broadcast value to the indexed elements, or adds it to them.
/// If an element is indexed several times, the last write wins, in PyTorch's order.
///
/// # Errors
/// Those of [`Gather::new`]; RuntimeError if the value does not broadcast, has another dtype or shares memory with the
/// target; IndexError for an index out of bounds.
pub fn index_put_(view: &View, indices: &[Option<View>], value: &View, accumulate: bool) -> Result<()> {
    if view.device().is_meta() || value.device().is_meta() || indices.iter().flatten().any(|t| t.device().is_meta()) {
        return Ok(());
    }
    through_bits(view, |view| put_plain(view, indices, &resolved(value)?, accumulate))
}

fn put_plain(view: &View, indices: &[Option<View>], value: &View, accumulate: bool) -> Result<()> {
    if indices.len() > view.ndim() {
        bail!(IndexError, "too many indices for tensor of dimension {} (got {})", view.ndim(), indices.len());
    }
    if !accumulate
        && value.numel() == 1
        && let Some(mask) = single_mask(view, indices)?
    {
        return masked_fill_(view, &mask, value.item()?);
    }
    no_overlap(view, value)?;
    for tensor in indices.iter().flatten() {
        no_overlap(view, tensor)?;
    }
    // A copy of bools holds 0 or 1, which is what PyTorch writes.
    let value = &if value.dtype == DType::Bool { clone(value)? } else { value.clone() };
    let plan = Gather::new(view, indices)?;
    let Ok(broadcast) = value.layout.expand(plan.sizes(), "") else {
        bail!(
            RuntimeError,
            "shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}",
            show(value.sizes()),
            show(plan.sizes())
        );
    };
    if value.dtype != view.dtype {
        bail!(
            RuntimeError,
            "Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
            view.dtype.scalar_type(),
            value.dtype.scalar_type()
        );
    }
    supported("index_put", view.dtype, UnsupportedDtypes::BareUnsigned)?;
    // One vector of indices: values for one element are written in its order.
    if let (Some((places, size, _)), Some(d)) = (plan.single(), indices.iter().position(Option::is_some))
        && plan.sizes().len() == view.ndim()
        && view.layout.has_distinct_elements()
    {
        in_bounds(&places, -size..size, |index| {
            Error::index(format!("index {index} is out of bounds for dimension 0 with size {size}"))
        })?;
        let spread = Spread::new(view, d, places, value.with_layout(broadcast));
        return match accumulate {
            true => dispatch!(view.dtype, T => spread.reduce::<T>(Reduce::Add)),
            false => by_width!(view.dtype, T => spread.replace::<T>()),
        };
    }
    let order = plan.write_order(&value.layout);
    let table = plan.displacements(&order)?;
    let (places, memory) = (&table.layout, table.memory()?);
    let table = memory.typed::<i64>();
    let (to, from) = (view.memory()?, value.memory()?);
    let target = |write: i64, place: i64| -> Result<usize> {
        Ok(write.wrapping_add(get(table.get(place as usize).ok_or_else(lost)?)) as usize)
    };
    if accumulate {
        return dispatch!(view.dtype, T => {
            let (to, from) = (to.typed::<T>(), from.typed::<T>());
            walk_in_order(&order, [&plan.source, &broadcast, places], |[write, read, place]| {
                let to = to.get(target(write, place)?).ok_or_else(lost)?;
                let from = from.get(read as usize).ok_or_else(lost)?;
                put(to, get(to).plus(get(from)));
                Ok(())
            })
        });
    }
    by_width!(view.dtype, T => {
        let (to, from) = (to.typed::<T>(), from.typed::<T>());
        walk_in_order(&order, [&plan.source, &broadcast, places], |[write, read, place]| {
            let to = to.get(target(write, place)?).ok_or_else(lost)?;
            put(to, get(from.get(read as usize).ok_or_else(lost)?));
            Ok(())
        })
    })
}

/// Returns the mask over all of `view` if the list consists of one mask and nothing else that indexes.
fn single_mask(view: &View, indices: &[Option<View>]) -> Result<Option<View>> {
    let mut found: Option<&View> = None;
    let mut dims = 0;
    for index in indices {
        let Some(tensor) = index else {
            dims += 1;
            continue;
        };
        if !matches!(tensor.dtype, DType::Bool | DType::Byte) || found.is_some() {
            return Ok(None);
        }
        for (j, &size) in tensor.sizes().iter().enumerate() {
            wrap_dim((dims + j) as i64, view.ndim())?;
            if view.sizes().get(dims + j) != Some(&size) {
                bail!(
                    IndexError,
                    "The shape of the mask {} at index {j} does not match the shape of the indexed tensor {} at index {}",
                    show(tensor.sizes()),
                    show(view.sizes()),
                    dims + j
                );
            }
        }
        found = Some(tensor);
        dims += tensor.ndim();
    }
    let Some(mask) = found else { return Ok(None) };
    let mut layout = mask.layout.clone();
    for _ in dims..view.ndim() {
        layout = layout.unsqueeze(-1)?;
    }
    Ok(Some(mask.with_layout(layout)))
}

/// Calls `body` with the operands' offsets for every element; `order` lists the dimensions, fastest first.
fn walk_in_order<const N: usize>(
    order: &[usize],
    operands: [&Layout; N],
    mut body: impl FnMut([i64; N]) -> Result<()>,
) -> Result<()> {
    let Some(first) = operands.first() else { return Ok(()) };
    if first.sizes.contains(&0) {
        return Ok(());
    }
    let mut offset = operands.map(|layout| layout.offset);
    let (sizes, strides) = (&first.sizes, |d: usize| operands.map(|layout| layout.strides[d]));
    let (length, step, outer) = match order.split_first() {
        Some((&d, outer)) => (sizes[d], strides(d), outer),
        None => (1, [0; N], order),
    };
    let mut index = Dims::from_elem(0, outer.len());
    let mut unwatched = 0;
    loop {
        let mut place = offset;
        for _ in 0..length {
            unwatched += 1;
            if unwatched == APART {
                unwatched = 0;
                interrupt::check()?;
            }
            body(place)?;
            place = std::array::from_fn(|k| place[k].wrapping_add(step[k]));
        }
        let mut carried = true;
        for (count, &d) in index.iter_mut().zip(outer) {
            *count += 1;
            let wraps = *count == sizes[d];
            let steps = if wraps { 1 - sizes[d] } else { 1 };
            for (offset, stride) in offset.iter_mut().zip(strides(d)) {
                *offset = offset.wrapping_add(stride.wrapping_mul(steps));
            }
            if !wraps {
                carried = false;
                break;
            }
            *count = 0;
        }
        if carried {
            return interrupt::check();
        }
    }
}

#[cfg(test)]
mod tests;
