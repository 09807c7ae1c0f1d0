//! Copies in which one part of a view is replaced: `diagonal_scatter`, `select_scatter`, `slice_scatter`,
//! `as_strided_scatter`; and `fill_diagonal_`, which writes in place. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.slice_scatter.html> and related functions.

use super::copy::{clone_storage, copy_into, fill};
use super::view::{as_strided, diagonal, select, slice};
use crate::bail;
use crate::layout::show;
use crate::{Result, Scalar, View};

/// Copies the tensor with its strides, and writes the source to the part that `part` selects.
///
/// # Errors
/// RuntimeError if the source's size differs from the part's; errors of `part`.
fn replaced(view: &View, source: &View, part: impl FnOnce(&View) -> Result<View>) -> Result<View> {
    let out = clone_storage(view)?;
    let slice = part(&out)?;
    if slice.sizes() != source.sizes() {
        bail!(
            RuntimeError,
            "expected src to have a size equal to the slice of self. src size = {}, slice size = {}",
            show(source.sizes()),
            show(slice.sizes())
        );
    }
    copy_into(&slice, source)?;
    Ok(out)
}

/// `diagonal_scatter(src, offset, dim1, dim2)`.
pub fn diagonal_scatter(view: &View, source: &View, offset: i64, dim1: i64, dim2: i64) -> Result<View> {
    replaced(view, source, |out| diagonal(out, offset, dim1, dim2))
}

/// `select_scatter(src, dim, index)`.
pub fn select_scatter(view: &View, source: &View, dim: i64, index: i64) -> Result<View> {
    replaced(view, source, |out| select(out, dim, index))
}

/// `slice_scatter(src, dim, start, end, step)`.
pub fn slice_scatter(
    view: &View,
    source: &View,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<View> {
    replaced(view, source, |out| slice(out, dim, start, end, step))
}

/// `as_strided_scatter(src, size, stride, storage_offset)`.
pub fn as_strided_scatter(
    view: &View,
    source: &View,
    sizes: &[i64],
    strides: &[i64],
    offset: Option<i64>,
) -> Result<View> {
    replaced(view, source, |out| as_strided(out, sizes, strides, offset))
}

/// `fill_diagonal_(value, wrap)`: fills the main diagonal. With `wrap`, the diagonal of a tall matrix starts again
/// after one row.
///
/// # Errors
/// RuntimeError for fewer than two dimensions, for more than two of different sizes, or for a value that does not fit.
pub fn fill_diagonal_(view: &View, value: Scalar, wrap: bool) -> Result<()> {
    let [height, width, rest @ ..] = view.sizes() else { bail!(RuntimeError, "dimensions must larger than 1") };
    let (height, width) = (*height, *width);
    if !rest.is_empty() && (height != width || rest.iter().any(|&size| size != height)) {
        bail!(RuntimeError, "all dimensions of input must be of equal length");
    }
    let (size, offset) = (height.min(width), view.layout.offset);
    let stride = view.strides().iter().fold(0i64, |sum, &stride| sum.wrapping_add(stride));
    fill(&as_strided(view, &[size], &[stride], Some(offset))?, value)?;
    if wrap && rest.is_empty() && height > width + 1 {
        let step = width + 1;
        let again = (view.numel() + step - 1) / step - size;
        let down = view.strides().first().copied().unwrap_or(0).wrapping_mul(step);
        fill(&as_strided(view, &[again], &[stride], Some(offset.wrapping_add(down)))?, value)?;
    }
    Ok(())
}
