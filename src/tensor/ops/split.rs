//! Splits a tensor into views along one dimension: `unbind`, `split`, `chunk`, `tensor_split` and related functions.
//! Follows <https://pytorch.org/docs/2.7/generated/torch.tensor_split.html>. Each function has its own rules for the
//! number of pieces, and its own errors.

use super::check::size_at;
use crate::bail;
use crate::layout::{show, wrap_dim};
use crate::{Error, Result, View, interrupt, limits};

/// Returns one view for each index of a dimension.
pub fn unbind(view: &View, dim: i64) -> Result<Vec<View>> {
    let (d, size) = size_at(&view.layout, wrap_dim(dim, view.ndim())? as i64)?;
    pieces(size, |i| view.with_layout(view.layout.select(d, i)))
}

/// `split(split_size)`: returns pieces of one size; the last may be smaller.
pub fn split(view: &View, split_size: i64, dim: i64) -> Result<Vec<View>> {
    if view.ndim() == 0 {
        bail!(RuntimeError, "split expects at least a 1-dimensional tensor");
    }
    if split_size < 0 {
        bail!(RuntimeError, "split expects split_size be non-negative, but got split_size={split_size}");
    }
    let (d, size) = size_at(&view.layout, dim)?;
    if split_size == 0 && size != 0 {
        bail!(RuntimeError, "split_size can only be 0 if dimension size is 0, but got dimension size of {size}");
    }
    // An empty dimension still gives one piece.
    let count = if split_size == 0 { 1 } else { (size / split_size + i64::from(size % split_size > 0)).max(1) };
    pieces(count, |i| {
        let start = i * split_size;
        let end = start.saturating_add(split_size).min(size);
        view.with_layout(view.layout.slice(d, Some(start), Some(end), 1))
    })
}

/// `split([1, 2])` or `split_with_sizes`: returns pieces of the given sizes, which must add up to the dimension's size.
pub fn split_with_sizes(view: &View, split_sizes: &[i64], dim: i64) -> Result<Vec<View>> {
    if view.ndim() == 0 {
        bail!(RuntimeError, "split expects at least a 1-dimensional tensor");
    }
    let (d, size) = size_at(&view.layout, dim)?;
    let mut pieces = Vec::with_capacity(split_sizes.len());
    let mut start = 0i64;
    for &length in split_sizes {
        if length < 0 {
            bail!(
                RuntimeError,
                "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={}",
                show(split_sizes)
            );
        }
        let end = start.saturating_add(length);
        pieces.push(view.with_layout(view.layout.slice(d, Some(start), Some(end), 1)));
        start = end;
    }
    if start != size {
        bail!(
            RuntimeError,
            "split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {dim}), but \
             got split_sizes={}",
            show(split_sizes)
        );
    }
    Ok(pieces)
}

/// Returns at most `chunks` pieces of one size; the last may be smaller.
pub fn chunk(view: &View, chunks: i64, dim: i64) -> Result<Vec<View>> {
    if view.ndim() == 0 {
        bail!(RuntimeError, "chunk expects at least a 1-dimensional tensor");
    }
    if chunks <= 0 {
        bail!(RuntimeError, "chunk expects `chunks` to be greater than 0, got: {chunks}");
    }
    let (d, size) = size_at(&view.layout, dim)?;
    if size == 0 {
        return pieces(chunks, |_| view.with_layout(view.layout.slice(d, Some(0), Some(0), 1)));
    }
    // PyTorch rounds up with a sum that wraps for huge numbers, and then refuses the negative size.
    split(view, size.wrapping_add(chunks).wrapping_sub(1) / chunks, dim)
}

/// Checks that there is memory for this many pieces of a tensor.
///
/// # Errors
/// RuntimeError with the messages of C++'s vectors.
pub fn room_for(count: i64) -> Result<()> {
    /// A view, and the tensor made from it.
    type Piece = [View; 3];
    const MOST: i64 = i64::MAX / 8;
    if count > MOST {
        bail!(RuntimeError, "cannot create std::vector larger than max_size()");
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    limits::room_for::<Piece>(count).map_err(|_| Error::runtime("std::bad_alloc"))
}

/// Collects `count` pieces.
///
/// # Errors
/// Those of [`room_for`].
fn pieces(count: i64, mut piece: impl FnMut(i64) -> View) -> Result<Vec<View>> {
    room_for(count)?;
    let mut pieces = limits::list(count as usize).map_err(|_| Error::runtime("std::bad_alloc"))?;
    for i in 0..count {
        interrupt::check_at(i as usize)?;
        pieces.push(piece(i));
    }
    Ok(pieces)
}

/// `tensor_split(sections)`: returns `sections` pieces; if the size is not divisible, the first ones are one longer.
pub fn tensor_split_sections(view: &View, sections: i64, dim: i64) -> Result<Vec<View>> {
    let (d, size) = splittable(view, dim)?;
    if sections <= 0 {
        bail!(RuntimeError, "number of sections must be larger than 0, got {sections}");
    }
    let (length, longer) = (size / sections, size % sections);
    let mut start = 0;
    pieces(sections, |i| {
        let end = start + length + i64::from(i < longer);
        let piece = view.with_layout(view.layout.slice(d, Some(start), Some(end), 1));
        start = end;
        piece
    })
}

/// `tensor_split(indices)`: cuts before each index, which may be negative or beyond the end.
pub fn tensor_split_indices(view: &View, indices: &[i64], dim: i64) -> Result<Vec<View>> {
    let (d, size) = splittable(view, dim)?;
    let starts = std::iter::once(0).chain(indices.iter().copied());
    let ends = indices.iter().copied().chain(std::iter::once(size));
    let piece = |(start, end)| view.with_layout(view.layout.slice(d, Some(start), Some(end), 1));
    Ok(starts.zip(ends).map(piece).collect())
}

fn splittable(view: &View, dim: i64) -> Result<(usize, i64)> {
    if view.ndim() == 0 {
        bail!(RuntimeError, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
    }
    size_at(&view.layout, dim)
}

/// One of `hsplit`, `vsplit` and `dsplit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitAxis {
    /// `hsplit`: columns, or the only dimension.
    H,
    /// `vsplit`: rows.
    V,
    /// `dsplit`: the third dimension.
    D,
}

impl SplitAxis {
    /// Returns the dimension to split; fails if the tensor has too few dimensions.
    fn dim(self, view: &View) -> Result<i64> {
        let (name, needed) = match self {
            SplitAxis::H => ("hsplit", 1),
            SplitAxis::V => ("vsplit", 2),
            SplitAxis::D => ("dsplit", 3),
        };
        if view.ndim() < needed {
            bail!(
                RuntimeError,
                "torch.{name} requires a tensor with at least {needed} dimension, but got a tensor with {} dimensions!",
                view.ndim()
            );
        }
        Ok(match self {
            SplitAxis::H if view.ndim() == 1 => 0,
            SplitAxis::H => 1,
            SplitAxis::V => 0,
            SplitAxis::D => 2,
        })
    }

    /// `hsplit(sections)` and its relatives: returns pieces of equal size.
    pub fn split_sections(self, view: &View, sections: i64) -> Result<Vec<View>> {
        let dim = self.dim(view)?;
        let (_, size) = size_at(&view.layout, dim)?;
        if sections == 0 || size % sections != 0 {
            let name = match self {
                SplitAxis::H => "hsplit",
                SplitAxis::V => "vsplit",
                SplitAxis::D => "dsplit",
            };
            bail!(
                RuntimeError,
                "torch.{name} attempted to split along dimension {dim}, but the size of the dimension {size} is not \
                 divisible by the split_size {sections}!"
            );
        }
        tensor_split_sections(view, sections, dim)
    }

    /// `hsplit(indices)` and its relatives.
    pub fn split_indices(self, view: &View, indices: &[i64]) -> Result<Vec<View>> {
        tensor_split_indices(view, indices, self.dim(view)?)
    }
}
