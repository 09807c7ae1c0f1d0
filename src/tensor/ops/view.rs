//! Operations that return another view of the same storage, and the few (`reshape`, `flatten`, `contiguous`) that fall
//! back to a copy. Follows <https://pytorch.org/docs/2.7/tensor_view.html>. The computations on strides are in
//! `Layout`; this file has the rules and errors of each function.

use super::check::{expanded, row_major_copy, size_at};
use crate::bail;
use crate::layout::{Dims, check_nameable, contiguous_strides, infer_size, show, wrap_dim};
use crate::view::check_bounds;
use crate::{DType, Error, Layout, Result, View};
use smallvec::SmallVec;

/// Adds a dimension of size 1 before position `dim`.
pub fn unsqueeze(view: &View, dim: i64) -> Result<View> {
    view.layout.unsqueeze(dim).map(|layout| view.with_layout(layout))
}

/// Drops dimensions of size 1: all of them, or those in `dims`.
pub fn squeeze(view: &View, dims: Option<&[i64]>) -> Result<View> {
    let layout = match dims {
        None => view.layout.squeeze(|_| true),
        Some(dims) => {
            let dims = distinct_dims(dims, view.ndim())?;
            view.layout.squeeze(|d| dims.contains(&d))
        }
    };
    Ok(view.with_layout(layout))
}

/// Resolves a list of distinct dimensions.
///
/// # Errors
/// IndexError for a dimension out of range, RuntimeError for one named twice.
pub(super) fn distinct_dims(dims: &[i64], ndim: usize) -> Result<Vec<usize>> {
    check_nameable(ndim)?;
    let mut out = Vec::new();
    for &dim in dims {
        let d = wrap_dim(dim, ndim)?;
        if out.contains(&d) {
            bail!(RuntimeError, "dim {d} appears multiple times in the list of dims");
        }
        out.push(d);
    }
    Ok(out)
}

/// `transpose`, also known as `swapaxes` and `swapdims`.
pub fn transpose(view: &View, dim0: i64, dim1: i64) -> Result<View> {
    view.layout.transpose(dim0, dim1).map(|layout| view.with_layout(layout))
}

/// Reorders dimensions; `dims` lists the old dimension of each new one.
pub fn permute(view: &View, dims: &[i64]) -> Result<View> {
    view.layout.permute(dims).map(|layout| view.with_layout(layout))
}

/// `movedim` or `moveaxis`: moves each dimension of `source` to the corresponding position in `destination`; the others
/// keep their order.
pub fn movedim(view: &View, source: &[i64], destination: &[i64]) -> Result<View> {
    if source.len() != destination.len() {
        bail!(
            RuntimeError,
            "movedim: Invalid source or destination dims: source ({} dims) should contain the same number of dims as \
             destination ({} dims)",
            show(source),
            show(destination)
        );
    }
    let wrap = |dims: &[i64]| dims.iter().map(|&dim| wrap_dim(dim, view.ndim())).collect::<Result<Vec<usize>>>();
    let (from, to) = (wrap(source)?, wrap(destination)?);
    for (dims, given, name) in [(&from, source, "source"), (&to, destination, "destination")] {
        let mut seen: SmallVec<[bool; 6]> = SmallVec::from_elem(false, view.ndim().max(1));
        if dims.iter().any(|&d| std::mem::replace(&mut seen[d], true)) {
            bail!(RuntimeError, "movedim: repeated dim in `{name}` ({})", show(given));
        }
    }
    if view.ndim() == 0 {
        return Ok(view.clone());
    }
    let mut placed: SmallVec<[Option<usize>; 6]> = SmallVec::from_elem(None, view.ndim());
    let mut moves: SmallVec<[bool; 6]> = SmallVec::from_elem(false, view.ndim());
    for (&from, &to) in from.iter().zip(&to) {
        placed[to] = Some(from);
        moves[from] = true;
    }
    let mut rest = (0..view.ndim()).filter(|&d| !moves[d]);
    let order: Dims = placed.iter().filter_map(|place| place.or_else(|| rest.next())).map(|d| d as i64).collect();
    permute(view, &order)
}

/// `t()`: transposes a matrix; vectors and 0-d tensors are returned unchanged.
pub fn t(view: &View) -> Result<View> {
    if view.ndim() > 2 {
        bail!(RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is {}D", view.ndim());
    }
    transpose(view, 0, if view.ndim() < 2 { 0 } else { 1 })
}

/// `.T`: reverses all dimensions. PyTorch warns unless there are two.
pub fn numpy_t(view: &View) -> View {
    let mut layout = view.layout.clone();
    layout.sizes.reverse();
    layout.strides.reverse();
    view.with_layout(layout)
}

/// `.mT`: swaps the last two dimensions.
pub fn matrix_t(view: &View) -> Result<View> {
    swap_last_two(view, "mT")
}

/// `.H`: the conjugate transpose of a matrix.
pub fn matrix_h(view: &View) -> Result<View> {
    if view.ndim() != 2 && view.ndim() != 0 {
        bail!(
            RuntimeError,
            "tensor.H is only supported on matrices (2-D tensors). Got {}-D tensor.{}",
            view.ndim(),
            if view.ndim() > 2 { " For batches of matrices, consider using tensor.mH" } else { "" }
        );
    }
    swap_last_two(view, "H").map(|view| conj(&view))
}

/// `.mH` or `adjoint()`: the conjugate transpose of a batch of matrices. `name` is the name in error messages: `mH` or
/// `adjoint()`.
pub fn adjoint(view: &View, name: &str) -> Result<View> {
    swap_last_two(view, name).map(|view| conj(&view))
}

fn swap_last_two(view: &View, name: &str) -> Result<View> {
    match view.ndim() {
        0 => Ok(view.clone()),
        1 => bail!(RuntimeError, "tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."),
        _ => transpose(view, -2, -1),
    }
}

/// `conj()`: flips the lazy conjugate bit of complex tensors; others are returned unchanged.
pub fn conj(view: &View) -> View {
    View { conj: view.conj != view.dtype.is_complex(), ..view.clone() }
}

/// `.real`: the real parts of a complex tensor; other tensors are returned unchanged.
pub fn real(view: &View) -> View {
    if view.dtype.is_complex() { view.complex_part(false) } else { view.clone() }
}

/// `.imag`.
///
/// # Errors
/// RuntimeError for a tensor that is not complex.
pub fn imag(view: &View) -> Result<View> {
    if !view.dtype.is_complex() {
        bail!(RuntimeError, "imag is not implemented for tensors with non-complex dtypes.");
    }
    Ok(view.complex_part(true))
}

/// `view_as_real`: adds a last dimension of size 2 with the real and imaginary parts.
pub fn view_as_real(view: &View) -> Result<View> {
    if !view.dtype.is_complex() {
        bail!(RuntimeError, "view_as_real is only supported for complex tensors");
    }
    if view.conj {
        bail!(
            RuntimeError,
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view \
             it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original."
        );
    }
    let mut out = view.complex_part(false);
    out.layout.sizes.push(2);
    out.layout.strides.push(1);
    Ok(out)
}

/// `view_as_complex`: turns pairs of numbers along the last dimension into complex numbers.
///
/// # Errors
/// RuntimeError if dtype, size, strides or offset do not allow it.
pub fn view_as_complex(view: &View) -> Result<View> {
    if !matches!(view.dtype, DType::Half | DType::Float | DType::Double) {
        bail!(
            RuntimeError,
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {}",
            view.dtype.scalar_type()
        );
    }
    let mut layout = view.layout.clone();
    let (Some(size), Some(stride)) = (layout.sizes.pop(), layout.strides.pop()) else {
        bail!(RuntimeError, "Input tensor must have one or more dimensions");
    };
    if size != 2 {
        bail!(RuntimeError, "Tensor must have a last dimension of size 2");
    }
    if stride != 1 {
        bail!(RuntimeError, "Tensor must have a last dimension with stride 1");
    }
    for stride in &mut layout.strides {
        if *stride % 2 != 0 {
            bail!(RuntimeError, "Tensor must have a stride divisible by 2 for all but last dimension");
        }
        *stride /= 2;
    }
    if layout.offset % 2 != 0 {
        bail!(RuntimeError, "Tensor must have a storage_offset divisible by 2");
    }
    layout.offset /= 2;
    Ok(View { layout, dtype: view.dtype.to_complex()?, ..view.clone() })
}

/// `expand` or `broadcast_to`: repeats dimensions of size 1 without copying; `-1` keeps a size.
pub fn expand(view: &View, sizes: &[i64]) -> Result<View> {
    expanded(view, sizes)
}

/// Views the storage with any sizes and strides. The offset defaults to the tensor's own.
///
/// # Errors
/// RuntimeError for lists of different lengths, negative numbers, and elements beyond the storage's end.
pub fn as_strided(view: &View, sizes: &[i64], strides: &[i64], offset: Option<i64>) -> Result<View> {
    let mut layout = Layout {
        sizes: Dims::from_slice(sizes),
        strides: Dims::from_slice(strides),
        offset: offset.unwrap_or(view.layout.offset),
    };
    match (sizes.len(), strides.len()) {
        (n, m) if n == m => {}
        (n, m) if view.device().is_meta() => {
            bail!(RuntimeError, "dimensionality of sizes ({n}) must match dimensionality of strides ({m})")
        }
        _ => bail!(RuntimeError, "mismatch in length of strides and shape"),
    }
    if view.device().is_meta() {
        contiguous_where_negative(&mut layout);
    }
    refuse_negative_strides(&layout)?;
    let overflow = || Error::runtime("numel: integer multiplication overflow");
    if sizes.iter().zip(strides).any(|(&size, &stride)| size < 0 && stride == 0) {
        return Err(overflow());
    }
    if !view.device().is_meta() {
        if layout.offset < -i64::from(!sizes.is_empty()) && !sizes.contains(&0) {
            bail!(
                RuntimeError,
                "Storage size calculation overflowed with sizes={}{}",
                show(sizes),
                if sizes.is_empty() { String::new() } else { format!(" and strides={}", show(strides)) }
            );
        }
        check_bounds(&layout, view.dtype, view.storage.nbytes())
            .map_err(|error| Error { message: error.message.replace("=[] and strides=[]", "=[]"), ..error })?;
    }
    if layout.offset < 0 {
        bail!(RuntimeError, "Tensor: invalid storage offset {}", layout.offset);
    }
    let numel = sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size));
    if sizes.iter().any(|&size| size < 0) || numel.is_none() {
        return Err(overflow());
    }
    Ok(view.with_layout(layout))
}

/// Replaces negative strides by contiguous ones, as PyTorch does if no data is read.
fn contiguous_where_negative(layout: &mut Layout) {
    let mut inner = 1i64;
    for (&size, stride) in layout.sizes.iter().zip(&mut layout.strides).rev() {
        if *stride < 0 {
            *stride = inner;
        }
        inner = stride.wrapping_mul(size.max(1));
    }
}

fn refuse_negative_strides(layout: &Layout) -> Result<()> {
    if layout.strides.iter().any(|&stride| stride < 0) {
        bail!(
            RuntimeError,
            "as_strided: Negative strides are not supported at the moment, got strides: {}",
            show(&layout.strides)
        );
    }
    Ok(())
}

/// Returns the slice at `index` of dimension `dim`, without that dimension.
pub fn select(view: &View, dim: i64, index: i64) -> Result<View> {
    if view.ndim() == 0 {
        bail!(IndexError, "select() cannot be applied to a 0-dim tensor.");
    }
    let (d, size) = size_at(&view.layout, dim)?;
    if index >= size || index < -size {
        bail!(
            IndexError,
            "select(): index {index} out of range for tensor of size {} at dimension {d}",
            show(view.sizes())
        );
    }
    Ok(view.with_layout(view.layout.select(d, if index < 0 { index + size } else { index })))
}

/// `start:end:step` along one dimension, by Python's rules.
pub fn slice(view: &View, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<View> {
    if view.ndim() == 0 {
        bail!(IndexError, "slice() cannot be applied to a 0-dim tensor.");
    }
    let d = wrap_dim(dim, view.ndim())?;
    if step <= 0 {
        bail!(RuntimeError, "slice step must be positive");
    }
    Ok(view.with_layout(view.layout.slice(d, start, end, step)))
}

/// Returns `length` elements of a dimension, beginning at `start`; a negative start counts from the end.
pub fn narrow(view: &View, dim: i64, start: i64, length: i64) -> Result<View> {
    if view.ndim() == 0 {
        bail!(RuntimeError, "narrow() cannot be applied to a 0-dim tensor.");
    }
    if length < 0 {
        bail!(RuntimeError, "narrow(): length must be non-negative.");
    }
    let (d, size) = size_at(&view.layout, dim)?;
    if start < -size || start > size {
        bail!(IndexError, "start out of range (expected to be in range of [{}, {size}], but got {start})", -size);
    }
    let start = if start < 0 { start + size } else { start };
    if start > size - length {
        bail!(RuntimeError, "start ({start}) + length ({length}) exceeds dimension size ({size}).");
    }
    Ok(view.with_layout(view.layout.slice(d, Some(start), Some(start + length), 1)))
}

/// Returns the view that `narrow_copy` copies: like [`narrow`], with different error messages.
pub fn narrow_copied(view: &View, dim: i64, start: i64, length: i64) -> Result<View> {
    if view.device().is_meta() || view.ndim() == 0 {
        return narrow(view, dim, start, length);
    }
    if dim >= view.ndim() as i64 {
        bail!(
            RuntimeError,
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error message \
             be improved?  If so, please report an enhancement request to PyTorch.)"
        );
    }
    let (_, size) = size_at(&view.layout, dim)?;
    if length < 0 {
        narrow(view, dim, start, 0)?;
        let start = if start < 0 { start + size } else { start };
        bail!(RuntimeError, "start ({start}) + length ({length}) exceeds dimension size ({size}).");
    }
    narrow(view, dim, start, length)
}

/// Returns the elements whose indices in `dim1` and `dim2` differ by `offset`, as a last dimension.
pub fn diagonal(view: &View, offset: i64, dim1: i64, dim2: i64) -> Result<View> {
    view.layout.diagonal(offset, dim1, dim2).map(|layout| view.with_layout(layout))
}

/// Returns windows of `size` elements every `step` along `dim`; the window becomes a last dimension.
pub fn unfold(view: &View, dim: i64, size: i64, step: i64) -> Result<View> {
    let mut layout = view.layout.unfold(dim, size, step)?;
    let d = wrap_dim(dim, view.ndim())?;
    if let Some(stride) = view.strides().get(d) {
        // If a huge step makes the stride wrap, its sign reveals it, as in PyTorch.
        layout.strides[d] = stride.wrapping_mul(step);
        refuse_negative_strides(&layout)?;
    }
    Ok(view.with_layout(layout))
}

/// Reshapes the tensor: returns a view if the strides allow it, else a copy.
pub fn reshape(view: &View, shape: &[i64]) -> Result<View> {
    let sizes = infer_size(shape, view.numel())?;
    match view.layout.compute_stride(&sizes) {
        Some(strides) => Ok(view.with_layout(Layout { sizes, strides, offset: view.layout.offset })),
        None => {
            let copy = row_major_copy(view)?;
            let strides = contiguous_strides(&sizes);
            let offset = copy.layout.offset;
            Ok(copy.with_layout(Layout { sizes, strides, offset }))
        }
    }
}

/// Joins the dimensions from `start` to `end`; returns a view if the strides allow it.
pub fn flatten(view: &View, start: i64, end: i64) -> Result<View> {
    let (start, end) = (wrap_dim(start, view.ndim())?, wrap_dim(end, view.ndim())?);
    if start > end {
        bail!(RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim");
    }
    if view.ndim() == 0 {
        return reshape(view, &[1]);
    }
    if start == end {
        return Ok(view.clone());
    }
    let mut shape = Dims::from_slice(&view.sizes()[..start]);
    shape.push(view.sizes()[start..=end].iter().product());
    shape.extend_from_slice(&view.sizes()[end + 1..]);
    reshape(view, &shape)
}

/// `ravel`: flattens to one dimension; returns a view if the tensor is contiguous.
pub fn ravel(view: &View) -> Result<View> {
    reshape(&if view.layout.is_contiguous() { view.clone() } else { row_major_copy(view)? }, &[-1])
}

/// Splits one dimension into several sizes, one of which may be `-1`.
pub fn unflatten(view: &View, dim: i64, sizes: &[i64]) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    if sizes.is_empty() {
        bail!(RuntimeError, "unflatten: sizes must be non-empty");
    }
    let (_, size) = size_at(&view.layout, d as i64)?;
    let inferred = infer_size(sizes, size).map_err(|error| {
        if error.message.contains("is invalid for input of size") {
            Error::runtime(format!(
                "unflatten: Provided sizes {} don't multiply up to the size of dim {d} ({size}) in the input tensor",
                show(sizes)
            ))
        } else if error.message.starts_with("only one") {
            Error::runtime(format!("unflatten got an unexpected error:\n{}", error.message))
        } else {
            error
        }
    })?;
    let mut shape = Dims::from_slice(view.sizes());
    shape.remove(d);
    shape.insert_from_slice(d, &inferred);
    view.layout.view(&shape).map(|layout| view.with_layout(layout))
}

#[cfg(test)]
mod tests;
