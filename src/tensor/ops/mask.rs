//! Operations controlled by a mask or a condition: `masked_fill`, `masked_select`, `masked_scatter`, `where`,
//! `nonzero`. Follows <https://pytorch.org/docs/2.7/generated/torch.masked_select.html> and related functions.

use super::block::{self, check_no_internal_overlap, check_no_partial_overlap};
use super::check::{
    UnsupportedDtypes, at_least_1d, by_width, expanded, fits, lost, no_meta_kernel, resolved, same_device, supported,
    through_bits,
};
use super::copy::{cast, check_output_sizes, contiguous, copy_into, truths};
use super::pointwise::converted;
use crate::bail;
use crate::index as subscript;
use crate::layout::broadcast_sizes;
use crate::memory::{get, set as put};
use crate::parallel::vectorised;
use crate::thresholds::BLOCK;
use crate::{DType, Layout, Result, Scalar, View, interrupt, limits};
use std::hint::select_unpredictable;

/// `x.masked_fill_(mask, value)`: writes the value where the mask, broadcast, is true.
///
/// # Errors
/// RuntimeError for a mask that is not boolean or does not broadcast, a number that does not fit, and dtypes that
/// PyTorch refuses.
pub fn masked_fill_(view: &View, mask: &View, value: Scalar) -> Result<()> {
    fill_masked(view, view, mask, value)
}

/// Writes the value where the mask is true, and the elements of `view`, of `out`'s dtype, elsewhere.
fn fill_masked(out: &View, view: &View, mask: &View, value: Scalar) -> Result<()> {
    let sizes = broadcast_sizes(out.sizes(), mask.sizes());
    if out.device().is_meta() || mask.device().is_meta() {
        return sizes.map(drop);
    }
    if mask.dtype != DType::Bool {
        bail!(
            RuntimeError,
            "masked_fill_ only supports boolean masks, but got mask with dtype {}",
            mask.dtype.cpp_name()
        );
    }
    check_no_partial_overlap(out, mask)?;
    let sizes = sizes?;
    check_output_sizes(out, &sizes)?;
    supported("masked_fill", out.dtype, UnsupportedDtypes::Float8)?;
    fits(value, out.dtype)?;
    let value = View::scalar(value, out.dtype)?;
    let view = resolved(view)?;
    through_bits(out, |out| choose(out, mask, &value, &view))
}

/// Writes `a` where the condition is true, `b` elsewhere. Operands broadcast to `out`; `a` and `b` have its dtype.
fn choose(out: &View, condition: &View, a: &View, b: &View) -> Result<()> {
    by_width!(out.dtype, T => block::ternary::<u8, T>(out, [condition, a, b], &|condition, a, b, out| {
        vectorised(|| {
            for (((out, &condition), &a), &b) in out.iter_mut().zip(condition).zip(a).zip(b) {
                // Without this, the compiler selects the address to read, with an unpredictable branch.
                *out = select_unpredictable(condition != 0, a, b);
            }
        });
    }))
}

/// `x.masked_fill(mask, value)`: like [`masked_fill_`], on a copy broadcast against the mask.
pub fn masked_fill(view: &View, mask: &View, value: Scalar) -> Result<View> {
    let sizes = broadcast_sizes(mask.sizes(), view.sizes())?;
    same_device(mask, view)?;
    let out = View::unwritten(&sizes, view.dtype, view.device())?;
    fill_masked(&out, view, mask, value)?;
    truths(out)
}

/// Returns the number in a 0-d tensor that fills another tensor. PyTorch's `masked_fill_` and `index_fill_` accept only
/// 0-d tensors.
///
/// # Errors
/// Fails with RuntimeError unless the tensor is 0-dimensional; `function` is named in the message.
pub fn fill_value(function: &str, value: &View) -> Result<Scalar> {
    if value.ndim() != 0 {
        bail!(
            RuntimeError,
            "{function} only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
            value.ndim()
        );
    }
    value.item()
}

/// `x.masked_select(mask)`: the elements where the mask is true, in row-major order.
///
/// # Errors
/// RuntimeError for a mask that is not boolean or does not broadcast; NotImplementedError for meta tensors.
pub fn masked_select(view: &View, mask: &View) -> Result<View> {
    if view.device().is_meta() || mask.device().is_meta() {
        return no_meta_kernel("masked_select");
    }
    if mask.dtype != DType::Bool {
        bail!(RuntimeError, "masked_select: expected BoolTensor for mask");
    }
    let sizes = broadcast_sizes(mask.sizes(), view.sizes())?;
    let view = resolved(view)?;
    let (source, masked) = (view.layout.broadcast_to(&sizes), mask.layout.broadcast_to(&sizes));
    let (from, mask_memory) = (view.memory()?, mask.memory()?);
    let truth = mask_memory.typed::<u8>();
    let mut chosen: Vec<i64> = Vec::new();
    let mut pairs = source.offsets().zip(masked.offsets()).peekable();
    while pairs.peek().is_some() {
        interrupt::check()?;
        let together = pairs.by_ref().take(BLOCK);
        limits::push_wanted(
            &mut chosen,
            BLOCK,
            together.map(|(at, mask)| (at, truth.get(mask as usize).is_some_and(|cell| get(cell) != 0))),
        )?;
    }
    interrupt::check()?;
    if !chosen.is_empty() {
        supported("masked_select", view.dtype, UnsupportedDtypes::BareUnsigned)?;
    }
    let out = View::unwritten(&[chosen.len() as i64], view.dtype, view.device())?;
    let to = out.memory()?;
    by_width!(view.dtype, T => {
        let from = from.typed::<T>();
        for (i, (cell, &at)) in to.typed::<T>().iter().zip(&chosen).enumerate() {
            interrupt::check_at(i)?;
            put(cell, get(from.get(at as usize).ok_or_else(lost)?));
        }
    });
    truths(out)
}

/// `x.masked_scatter_(mask, source)`: writes the source's elements in order where the mask is true.
///
/// # Errors
/// RuntimeError for different dtypes, masks that are not boolean or do not broadcast, and too few elements. In the last
/// case, the available elements have been written, as in PyTorch.
pub fn masked_scatter_(view: &View, mask: &View, source: &View) -> Result<()> {
    if [view, mask, source].iter().any(|v| v.device().is_meta()) {
        return Ok(());
    }
    check_no_internal_overlap(view)?;
    if view.dtype != source.dtype {
        bail!(
            RuntimeError,
            "masked_scatter: expected self and source to have same dtypes but got{} and {}",
            view.dtype.scalar_type(),
            source.dtype.scalar_type()
        );
    }
    let masked = expanded(mask, view.sizes())?.layout;
    if mask.dtype != DType::Bool {
        bail!(
            RuntimeError,
            "masked_scatter_ only supports boolean masks, but got mask with dtype {}",
            mask.dtype.scalar_type()
        );
    }
    supported("masked_scatter", view.dtype, UnsupportedDtypes::ComplexHalf)?;
    let source = contiguous(&resolved(source)?)?;
    through_bits(view, |view| {
        let (to, mask_memory, from) = (view.memory()?, mask.memory()?, source.memory()?);
        let truth = mask_memory.typed::<u8>();
        let (first, available) = (source.layout.offset as usize, source.numel() as usize);
        let last = available.max(1) - 1;
        by_width!(view.dtype, T => {
            let (to, from) = (to.typed::<T>(), from.typed::<T>().get(first..).unwrap_or_default());
            let mut taken = 0;
            let (length, [write_step, step], [writes, masks]) = by_lines([&view.layout, &masked]);
            for (write, at) in writes.offsets().zip(masks.offsets()) {
                for piece in interrupt::pieces(0..length, 1) {
                    for i in piece? {
                        let at = at + i as i64 * step;
                        let wanted = get(truth.get(at as usize).ok_or_else(lost)?) != 0;
                        if wanted & (taken == available) {
                            bail!(RuntimeError, "Number of elements of source < number of ones in mask");
                        }
                        let to = to.get((write + i as i64 * write_step) as usize).ok_or_else(lost)?;
                        // No processor could predict a branch.
                        let new = from.get(taken.min(last)).map(get).unwrap_or_default();
                        put(to, select_unpredictable(wanted, new, get(to)));
                        taken += usize::from(wanted);
                    }
                }
            }
        });
        interrupt::check()
    })
}

/// Splits layouts of the same sizes into lines along the last dimension: their length, the strides along them, and the
/// layouts of their starts.
fn by_lines(layouts: [&Layout; 2]) -> (usize, [i64; 2], [Layout; 2]) {
    let length = layouts[0].sizes.last().map_or(1, |&size| size as usize);
    let steps = layouts.map(|layout| layout.strides.last().copied().unwrap_or(0));
    let starts = layouts.map(|layout| {
        let mut starts = layout.clone();
        starts.sizes.pop();
        starts.strides.pop();
        starts
    });
    (length, steps, starts)
}

/// `x.masked_scatter(mask, source)`: like [`masked_scatter_`], on a copy broadcast against the mask.
pub fn masked_scatter(view: &View, mask: &View, source: &View) -> Result<View> {
    let sizes = broadcast_sizes(mask.sizes(), view.sizes())?;
    let out = View::unwritten(&sizes, view.dtype, view.device())?;
    copy_into(&out, &view.with_layout(view.layout.broadcast_to(&sizes)))?;
    masked_scatter_(&out, mask, source)?;
    Ok(out)
}

/// `x.nonzero()`: the indices of all elements that are not zero, one row each.
///
/// # Errors
/// RuntimeError for dtypes that PyTorch refuses; NotImplementedError for meta tensors.
pub fn nonzero(view: &View) -> Result<View> {
    if !view.device().is_meta() {
        supported("nonzero_count_cpu", view.dtype, UnsupportedDtypes::Float8)?;
    }
    subscript::nonzero(view)
}

/// `torch.where(condition)`: the columns of [`nonzero`]; a 0-d tensor has one column.
pub fn nonzero_columns(view: &View) -> Result<Vec<View>> {
    let positions = nonzero(&view.with_layout(at_least_1d(&view.layout)))?;
    Ok((0..positions.sizes().get(1).copied().unwrap_or(0))
        .map(|column| positions.with_layout(positions.layout.select(1, column)))
        .collect())
}

/// `torch.where(condition, x, y)` for operands with the promoted type `dtype`.
///
/// # Errors
/// RuntimeError for a condition that is not boolean, sizes that do not broadcast and dtypes that PyTorch refuses.
pub fn where_(condition: &View, x: &View, y: &View, dtype: DType) -> Result<View> {
    let (x, y) = (converted(x, dtype)?, converted(y, dtype)?);
    let condition = match condition.dtype {
        DType::Bool => condition.clone(),
        DType::Byte => cast(condition, DType::Bool)?,
        other => bail!(
            RuntimeError,
            "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
            other.scalar_type()
        ),
    };
    // A 0-d operand may be mixed with a meta condition.
    for operand in [&x, &y] {
        if !(condition.device().is_meta() && operand.ndim() == 0) {
            same_device(&condition, operand)?;
        }
    }
    let sizes = broadcast_sizes(condition.sizes(), x.sizes()).and_then(|sizes| broadcast_sizes(&sizes, y.sizes()))?;
    let strides = Layout::elementwise_strides(&sizes, &[&condition.layout, &x.layout, &y.layout]);
    let out = View::unwritten_strided(&sizes, strides, dtype, condition.device())?;
    if out.device().is_meta() {
        return Ok(out);
    }
    supported("where_cpu", dtype, UnsupportedDtypes::BareUnsigned)?;
    choose(&out, &condition, &x, &y)?;
    truths(out)
}

#[cfg(test)]
mod tests;
