//! Reads along one dimension by index tensors: `index_select`, `gather`, `take`, `take_along_dim`. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.gather.html> and related functions. Unlike subscripts, most of these
//! take no negative indices. Writing is in `scatter`.

mod reduce;
mod scatter;
mod spread;

pub use reduce::{index_reduce_, scatter_reduce_};
pub use scatter::{Scattered, index_add_, index_copy_, index_fill_, put_, scatter_, scatter_add_};
pub(super) use spread::{APART, Joined, Reduce, Spread, in_bounds};

use super::check::{
    Positions, UnsupportedDtypes, at_least_1d, copy_slices, look_up, resolved, size_at, size_or_one, supported,
};
use super::copy::{cast, truths};
use super::view;
use crate::bail;
use crate::layout::{Dims, broadcast_sizes, show, wrap_dim};
use crate::memory::set;
use crate::{DType, Device, Error, ErrorKind, Layout, Result, View, interrupt};

/// `x.index_select(dim, index)`: a row-major copy of the slices at the indices, in their order.
///
/// # Errors
/// IndexError or RuntimeError, depending on the dimension, for an index out of bounds or below zero.
pub fn index_select(view: &View, dim: i64, index: &View) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    if index.ndim() > 1 {
        bail!(IndexError, "index_select(): Index is supposed to be a vector");
    }
    let count = index.numel();
    if view.ndim() == 0 && count != 1 {
        bail!(RuntimeError, "index_select(): Index to scalar can have only 1 value, got {count} value(s)");
    }
    if !matches!(index.dtype, DType::Long | DType::Int) {
        bail!(RuntimeError, "index_select(): Expected dtype int32 or int64 for index");
    }
    let mut sizes = Dims::from_slice(view.sizes());
    if let Some(size) = sizes.get_mut(d) {
        *size = count;
    }
    let out = View::unwritten(&sizes, view.dtype, either_device(view, index))?;
    if out.device().is_meta() || view.ndim() > 1 && count == 0 {
        return Ok(out);
    }
    let size = size_or_one(&view.layout, d)?;
    if view.ndim() > 1 && view.numel() == 0 && size == 0 {
        bail!(RuntimeError, "index_select(): self indexing axis dim should be positive");
    }
    if view.ndim() < 2 {
        supported("index_select", view.dtype, UnsupportedDtypes::BareUnsigned)?;
    }
    let view = resolved(view)?;
    // PyTorch has a separate loop for this dimension, with its own check.
    let by_rows = view.ndim() > 1 && (d == 1 || view.numel() == 0);
    let positions = Positions {
        numbers: 0..size,
        stride: at_least_1d(&view.layout).strides[d],
        refused: &|i| match by_rows {
            true => Error::runtime(format!("INDICES element is out of DATA bounds, id={i} axis_dim={size}")),
            false => Error::index("index out of range in self"),
        },
    };
    let displacements = positions.displacements(&as_long(index)?)?;
    if out.numel() > 0 {
        copy_slices(&out, &view, d, &displacements)?;
    }
    Ok(out)
}

/// Returns the device of a result: meta if one of the operands is meta.
fn either_device(view: &View, index: &View) -> Device {
    if index.device().is_meta() { Device::META } else { view.device() }
}

/// Returns an index tensor as `int64`, without lazy bits.
fn as_long(index: &View) -> Result<View> {
    if index.dtype == DType::Long { resolved(index) } else { cast(index, DType::Long) }
}

/// Returns the error for an index out of bounds.
fn out_of_bounds(kind: ErrorKind, index: i64, dim: usize, size: i64) -> Error {
    Error::new(kind, format!("index {index} is out of bounds for dimension {dim} with size {size}"))
}

/// `x.gather(dim, index)`: for each element of the index, the element of `x` at the same position, except along `dim`,
/// where the index gives the position.
pub fn gather(view: &View, dim: i64, index: &View) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    let out = View::unwritten(index.sizes(), view.dtype, either_device(view, index))?;
    if index.numel() == 0 {
        return Ok(out);
    }
    if index.dtype != DType::Long {
        bail!(RuntimeError, "gather(): Expected dtype int64 for index");
    }
    if view.ndim().max(1) != index.ndim().max(1) {
        bail!(RuntimeError, "Index tensor must have the same number of dimensions as input tensor");
    }
    for i in (0..view.ndim()).filter(|&i| i != d) {
        if size_or_one(&index.layout, i)? > view.sizes()[i] {
            bail!(
                RuntimeError,
                "Size does not match at dimension {i} expected index {} to be no larger than self {} apart from dimension \
                 {d}",
                show(index.sizes()),
                show(view.sizes())
            );
        }
    }
    if out.device().is_meta() {
        return Ok(out);
    }
    let (view, index) = (resolved(view)?, &resolved(index)?);
    let kernel = if view.dtype.is_floating_point() && d == 0 && selects_rows(&view, index) {
        "gather_expanded_index"
    } else {
        "scatter_gather_tensor_cpu"
    };
    supported(kernel, view.dtype, UnsupportedDtypes::ComplexHalf)?;
    let source = at_least_1d(&view.layout);
    let (size, stride) = (source.sizes[d], source.strides[d]);
    let places = at_least_1d(&index.layout);
    // The index alone determines the position along `d`, so the source has stride 0 there.
    let mut lines = Layout { sizes: places.sizes.clone(), ..source };
    lines.strides[d] = 0;
    let positions =
        Positions { numbers: 0..size, stride, refused: &|i| out_of_bounds(ErrorKind::RuntimeError, i, d, size) };
    look_up(&out, &at_least_1d(&out.layout), &view, &lines, &index.with_layout(places), &positions)?;
    truths(out)
}

/// Returns whether an index selects whole rows of a row-major tensor. PyTorch has a separate loop for these.
fn selects_rows(view: &View, index: &View) -> bool {
    view.layout.is_contiguous()
        && view.ndim() == index.ndim()
        && view.numel() > 0
        && index.strides().first() == Some(&1)
        && (1..index.ndim()).all(|i| index.strides()[i] == 0 || index.sizes()[i] == 1 && index.strides()[i] == 1)
        && view.sizes().iter().skip(1).eq(index.sizes().iter().skip(1))
}

/// Returns the error for a row-major position outside a tensor.
fn out_of_range(numel: i64, i: i64) -> Error {
    Error::index(format!("out of range: tried to access index {i} on a tensor of {numel} elements."))
}

/// `x.take(index)`: the elements at row-major positions, in the index's shape. Positions may be negative.
pub fn take(view: &View, index: &View) -> Result<View> {
    if index.dtype != DType::Long {
        bail!(RuntimeError, "take(): Expected a long tensor for index, but got {}", index.dtype.scalar_type());
    }
    if view.numel() == 0 && index.numel() != 0 {
        bail!(IndexError, "take(): tried to take from an empty tensor");
    }
    let out = View::unwritten(index.sizes(), view.dtype, either_device(view, index))?;
    if out.device().is_meta() {
        return Ok(out);
    }
    if index.numel() == 0 {
        return Ok(out);
    }
    supported("take_cpu", view.dtype, UnsupportedDtypes::ComplexHalf)?;
    let view = resolved(view)?;
    // The index alone determines the element.
    let start = |offset| Layout { strides: Dims::from_elem(0, out.ndim()), offset, ..out.layout.clone() };
    let (index, numel) = (resolved(index)?, view.numel());
    let positions = Positions { numbers: -numel..numel, stride: 1, refused: &|i| out_of_range(numel, i) };
    if view.layout.is_contiguous() {
        look_up(&out, &out.layout, &view, &start(view.layout.offset), &index, &positions)?;
        return truths(out);
    }
    let places = positions.displacements(&index)?;
    let table = View::unwritten(index.sizes(), DType::Long, Device::CPU)?;
    for (cell, place) in table.memory()?.typed::<i64>().iter().zip(interrupt::watched(places)) {
        set(cell, view.layout.offset_of(place));
    }
    interrupt::check()?;
    look_up(&out, &out.layout, &view, &start(0), &table, &Positions::DISPLACEMENTS)?;
    truths(out)
}

/// `take_along_dim(indices, dim)`: [`gather`] with broadcast operands; without a dimension, both are flattened.
pub fn take_along_dim(view: &View, index: &View, dim: Option<i64>) -> Result<View> {
    for (position, operand) in [view, index].into_iter().enumerate() {
        let expected = if view.device().is_meta() { "meta" } else { "cpu" };
        if position > 0 && operand.device().name() != expected {
            bail!(
                RuntimeError,
                "Expected tensor to have {expected} Device, but got tensor with {} Device (while checking arguments for \
                 torch.take_along_dim():)",
                operand.device().name()
            );
        }
    }
    let Some(dim) = dim else {
        let flat = |view: &View| -> Result<View> { Ok(view.with_layout(view.layout.view(&[-1])?)) };
        return gather(&flat(view)?, 0, &flat(index)?);
    };
    if view.ndim() != index.ndim() {
        bail!(
            RuntimeError,
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {} dimensions \
             for input, and {} dimensions for indices",
            view.ndim(),
            index.ndim()
        );
    }
    if index.dtype != DType::Long {
        bail!(
            RuntimeError,
            "torch.take_along_dim(): dtype of indices should be Long but got {}",
            index.dtype.scalar_type()
        );
    }
    let d = wrap_dim(dim, view.ndim())?;
    let (_, size) = size_at(&view.layout, d as i64)?;
    // The operands broadcast against each other in all dimensions except `d`.
    let mut sizes = Dims::from_slice(view.sizes());
    sizes[d] = index.sizes()[d];
    let index_sizes = broadcast_sizes(&sizes, index.sizes())?;
    let mut sizes = Dims::from_slice(index.sizes());
    sizes[d] = size;
    let view_sizes = broadcast_sizes(&sizes, view.sizes())?;
    gather(&view::expand(view, &view_sizes)?, dim, &view::expand(index, &index_sizes)?)
}

#[cfg(test)]
mod tests;
