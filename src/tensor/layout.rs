//! Sizes, strides and offset: the algebra of views as pure functions. Independent of bytes and dtypes. All numbers
//! count elements. Functions have PyTorch's names (`infer_size`, `compute_stride`), so that both code bases can be
//! searched.

mod loops;
mod offsets;

pub use offsets::Offsets;

use super::error::{Error, Result};
use crate::bail;
use smallvec::SmallVec;

/// One number per dimension; up to four dimensions are stored inline. With a fifth, every move of a view, a step or a
/// script's arguments would become a call of `memcpy`, which costs more than the rare allocation.
pub type Dims = SmallVec<[i64; 4]>;

/// The maximum number of dimensions for which PyTorch accepts lists of dimensions. Only malicious inputs have more;
/// loops over pairs of dimensions check for interrupts.
pub(crate) const MOST_NAMED: usize = 64;

/// Checks that a list of dimensions is allowed for `ndim` dimensions.
///
/// # Errors
/// RuntimeError for too many dimensions.
pub(crate) fn check_nameable(ndim: usize) -> Result<()> {
    if ndim > MOST_NAMED {
        bail!(RuntimeError, "only tensors with up to {MOST_NAMED} dims are supported");
    }
    Ok(())
}

/// The elements of a storage that belong to a tensor, and their order.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    pub sizes: Dims,
    pub strides: Dims,
    pub offset: i64,
}

impl Clone for Layout {
    /// Creating a view copies a layout. `SmallVec`'s own clone copies item by item; this one copies the bytes.
    #[inline]
    fn clone(&self) -> Layout {
        Layout { sizes: Dims::from_slice(&self.sizes), strides: Dims::from_slice(&self.strides), offset: self.offset }
    }
}

/// Returns whether two lists of sizes or strides are the same. For so few numbers, a loop takes less time than a call of
/// the function that compares bytes.
#[inline(always)]
pub(crate) fn alike(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// Formats sizes like PyTorch's messages: `[2, 3]`.
pub fn show(dims: &[i64]) -> String {
    format!("{dims:?}")
}

/// Returns the number of elements of a tensor with these sizes.
///
/// # Errors
/// RuntimeError if a size is negative or the product overflows.
pub fn checked_numel(sizes: &[i64]) -> Result<i64> {
    if let Some(&negative) = sizes.iter().find(|&&s| s < 0) {
        bail!(RuntimeError, "Trying to create tensor with negative dimension {negative}: {}", show(sizes));
    }
    // PyTorch multiplies from the left in 64 unsigned bits: a zero after an overflow does not help.
    sizes
        .iter()
        .try_fold(1u64, |n, &s| n.checked_mul(s.unsigned_abs()))
        .and_then(|n| i64::try_from(n).ok())
        .ok_or_else(|| Error::runtime(format!("Storage size calculation overflowed with sizes={}", show(sizes))))
}

/// Checks that the number of elements fits into 64 bits. PyTorch multiplies without a sign, from the left.
///
/// # Errors
/// RuntimeError, in PyTorch's words, also for a negative size.
pub fn check_numel(sizes: &[i64]) -> Result<()> {
    let product = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size as u64));
    match product.map(i64::try_from) {
        Some(Ok(_)) if sizes.iter().all(|&size| size >= 0) => Ok(()),
        _ => bail!(RuntimeError, "numel: integer multiplication overflow"),
    }
}

/// Returns row-major strides; a size of 0 counts as 1.
pub fn contiguous_strides(sizes: &[i64]) -> Dims {
    let mut strides = Dims::from_elem(0, sizes.len());
    let mut step = 1i64;
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = step;
        step = step.saturating_mul(size.max(1));
    }
    strides
}

/// Returns the strides of a view without elements. PyTorch lets them wrap around.
fn empty_strides(sizes: &[i64]) -> Dims {
    let mut strides = Dims::from_elem(0, sizes.len());
    let mut step = 1i64;
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = step;
        step = step.wrapping_mul(size.max(1));
    }
    strides
}

/// Resolves a possibly negative dimension against `ndim` dimensions; a 0-d tensor accepts the same as a 1-d one.
pub fn wrap_dim(dim: i64, ndim: usize) -> Result<usize> {
    let n = (ndim as i64).max(1);
    if dim < -n || dim >= n {
        bail!(IndexError, "Dimension out of range (expected to be in range of [{}, {}], but got {dim})", -n, n - 1);
    }
    Ok(if dim < 0 { (dim + n) as usize } else { dim as usize })
}

/// Replaces the `-1` in a requested shape by the size that gives `numel` elements.
///
/// # Errors
/// RuntimeError, in PyTorch's words, if there are two of them, or the shape does not match.
pub fn infer_size(shape: &[i64], numel: i64) -> Result<Dims> {
    let mut known = 1i64;
    let mut unknown = None;
    for (i, &size) in shape.iter().enumerate() {
        match size {
            -1 if unknown.is_some() => bail!(RuntimeError, "only one dimension can be inferred"),
            -1 => unknown = Some(i),
            s if s >= 0 => known = known.checked_mul(s).unwrap_or(i64::MAX),
            s => bail!(RuntimeError, "invalid shape dimension {s}"),
        }
    }
    let fits = numel == known || unknown.is_some() && known > 0 && numel % known == 0;
    // PyTorch compares a product that wraps around, and finds the overflow afterwards.
    let wrapped = shape.iter().fold(1i64, |product, &size| product.wrapping_mul(size));
    if !fits && unknown.is_none() && wrapped == 0 && numel == 0 {
        check_numel(shape)?;
    }
    if !fits {
        bail!(RuntimeError, "shape '{}' is invalid for input of size {numel}", show(shape));
    }
    let mut sizes = Dims::from_slice(shape);
    if let Some(i) = unknown {
        if known == 0 {
            bail!(
                RuntimeError,
                "cannot reshape tensor of 0 elements into shape {} because the unspecified dimension size -1 can be \
                 any value and is ambiguous",
                show(shape)
            );
        }
        sizes[i] = numel / known;
    }
    // A size of zero does not help if the product before it overflows.
    check_numel(&sizes)?;
    if numel == 0 && empty_strides(&sizes).iter().any(|&stride| stride < 0) {
        bail!(RuntimeError, "Stride calculation overflowed");
    }
    Ok(sizes)
}

/// Returns the sizes that both operands broadcast to.
///
/// # Errors
/// RuntimeError naming the first dimension, from the right, that does not match.
pub fn broadcast_sizes(a: &[i64], b: &[i64]) -> Result<Dims> {
    let ndim = a.len().max(b.len());
    let mut out = Dims::from_elem(1, ndim);
    for i in (0..ndim).rev() {
        let from_end = ndim - i;
        let size = |s: &[i64]| if from_end <= s.len() { s[s.len() - from_end] } else { 1 };
        let (x, y) = (size(a), size(b));
        if x != y && x != 1 && y != 1 {
            bail!(
                RuntimeError,
                "The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {i}"
            );
        }
        out[i] = if x == 1 { y } else { x };
    }
    Ok(out)
}

impl Layout {
    /// Returns a row-major layout with offset 0.
    pub fn contiguous(sizes: &[i64]) -> Layout {
        Layout { sizes: Dims::from_slice(sizes), strides: contiguous_strides(sizes), offset: 0 }
    }

    pub fn ndim(&self) -> usize {
        self.sizes.len()
    }

    pub fn numel(&self) -> i64 {
        // A size of zero makes the product zero, however large the others are.
        if self.sizes.contains(&0) { 0 } else { self.sizes.iter().product() }
    }

    /// Returns the number of elements that the storage must have; 0 for an empty tensor.
    ///
    /// # Errors
    /// RuntimeError if the number overflows, in PyTorch's words.
    pub fn storage_elements(&self) -> Result<i64> {
        let overflow = || {
            Error::runtime(format!(
                "Storage size calculation overflowed with sizes={} and strides={}",
                show(&self.sizes),
                show(&self.strides)
            ))
        };
        if self.sizes.contains(&0) {
            return Ok(0);
        }
        let mut last = self.offset;
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            if size < 0 || stride < 0 {
                return Err(overflow());
            }
            let span = (size - 1).checked_mul(stride).ok_or_else(overflow)?;
            last = last.checked_add(span).ok_or_else(overflow)?;
        }
        last.checked_add(1).ok_or_else(overflow)
    }

    /// Returns whether all elements are among the first `elements` of a storage. False as well for some layouts that are,
    /// which [`Layout::storage_elements`] tells apart.
    #[inline]
    pub(crate) fn lies_within(&self, elements: usize) -> bool {
        let mut last = self.offset;
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            if size <= 0 || stride < 0 {
                return false;
            }
            last = last.saturating_add((size - 1).saturating_mul(stride));
        }
        self.offset >= 0 && (last as u64) < elements as u64
    }

    /// Returns the offsets of the lowest element and of the one after the highest; strides may be negative. `None` if
    /// there are no elements or an offset overflows.
    pub fn reach(&self) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.offset, self.offset);
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            let span = size.checked_sub(1).filter(|&last| last >= 0)?.checked_mul(stride)?;
            let end = if span < 0 { &mut low } else { &mut high };
            *end = end.checked_add(span)?;
        }
        Some((low, high.checked_add(1)?))
    }

    /// Returns whether the strides are exactly those of a new row-major tensor, in dimensions of size 1 as well. False
    /// without elements.
    pub(crate) fn is_row_major(&self) -> bool {
        let mut step = 1;
        self.sizes.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
            let is_next = stride == step && size > 0;
            step = step.saturating_mul(size);
            is_next
        })
    }

    /// Returns whether the layout is row-major without gaps. Ignores dimensions of size 1; empty tensors are contiguous.
    pub fn is_contiguous(&self) -> bool {
        if self.sizes.contains(&0) {
            return true;
        }
        let mut step = 1;
        for (&size, &stride) in self.sizes.iter().zip(&self.strides).rev() {
            if size != 1 {
                if stride != step {
                    return false;
                }
                step *= size;
            }
        }
        true
    }

    /// Returns whether the layout has no gaps with its dimensions in the given order, fastest first.
    pub(super) fn is_contiguous_in(&self, fastest_first: &[usize]) -> bool {
        let mut step = 1;
        for &d in fastest_first {
            if self.sizes[d] != 1 {
                if self.strides[d] != step {
                    return false;
                }
                step *= self.sizes[d];
            }
        }
        true
    }

    /// Returns whether elements have distinct addresses without gaps, in any order of dimensions.
    pub fn is_non_overlapping_and_dense(&self) -> bool {
        if self.is_contiguous() {
            return true;
        }
        let mut order: SmallVec<[usize; 6]> = (0..self.ndim()).filter(|&d| self.sizes[d] != 1).collect();
        order.sort_by_key(|&d| self.strides[d]);
        self.is_contiguous_in(&order)
    }

    /// Returns whether some dimension of size above 1 has stride 0, so that elements certainly share addresses.
    pub fn has_internal_overlap(&self) -> bool {
        !self.sizes.contains(&0) && self.sizes.iter().zip(&self.strides).any(|(&size, &stride)| size > 1 && stride == 0)
    }

    /// Returns whether all elements have distinct addresses; may return `false` if that is hard to tell.
    pub fn has_distinct_elements(&self) -> bool {
        let mut dims: SmallVec<[(i64, i64); 6]> =
            self.strides.iter().copied().zip(self.sizes.iter().copied()).filter(|&(_, size)| size != 1).collect();
        dims.sort_unstable();
        let mut extent = 0i64;
        dims.iter().all(|&(stride, size)| {
            let beyond = stride > extent;
            extent = extent.saturating_add((size - 1).saturating_mul(stride));
            beyond
        })
    }

    /// Returns the strides of `view(sizes)` over the same elements, or `None` if only a copy is possible.
    ///
    /// Going backwards from the last dimension, the old dimensions form chunks that are contiguous in themselves. Every
    /// new dimension must lie within one chunk.
    pub fn compute_stride(&self, sizes: &[i64]) -> Option<Dims> {
        if self.ndim() == 0 {
            return Some(Dims::from_elem(1, sizes.len()));
        }
        if self.numel() == 0 {
            let same = self.sizes.as_slice() == sizes;
            return Some(if same { self.strides.clone() } else { empty_strides(sizes) });
        }
        // Slices, to avoid checking the `SmallVec`'s storage for each index.
        let (old_sizes, old_strides) = (self.sizes.as_slice(), self.strides.as_slice());
        let mut out = Dims::from_elem(0, sizes.len());
        let strides = out.as_mut_slice();
        let mut next = sizes.len(); // new dimensions still without a stride
        let mut chunk_stride = old_strides[self.ndim() - 1];
        let (mut chunk_numel, mut view_numel) = (1i64, 1i64);
        for d in (0..old_sizes.len()).rev() {
            chunk_numel *= old_sizes[d];
            let chunk_ends =
                d == 0 || old_sizes[d - 1] != 1 && old_strides[d - 1] != chunk_numel.saturating_mul(chunk_stride);
            if !chunk_ends {
                continue;
            }
            while next > 0 && (view_numel < chunk_numel || sizes[next - 1] == 1) {
                next -= 1;
                strides[next] = view_numel * chunk_stride;
                view_numel *= sizes[next];
            }
            if view_numel != chunk_numel {
                return None;
            }
            if d > 0 {
                chunk_stride = old_strides[d - 1];
                (chunk_numel, view_numel) = (1, 1);
            }
        }
        (next == 0).then_some(out)
    }

    /// `view(*shape)`.
    ///
    /// # Errors
    /// RuntimeError if the shape does not match the number of elements or the strides do not allow a view.
    pub fn view(&self, shape: &[i64]) -> Result<Layout> {
        let sizes = infer_size(shape, self.numel())?;
        match self.compute_stride(&sizes) {
            Some(strides) => Ok(Layout { sizes, strides, offset: self.offset }),
            None => {
                let error = Error::runtime(
                    "view size is not compatible with input tensor's size and stride (at least one dimension spans \
                     across two contiguous subspaces). Use .reshape(...) instead.",
                );
                Err(match self.view_fault(&sizes) {
                    Some(fault) => error.with_hint(fault.hint(self, &sizes)),
                    None => error,
                })
            }
        }
    }

    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<Layout> {
        let (a, b) = (wrap_dim(dim0, self.ndim())?, wrap_dim(dim1, self.ndim())?);
        let mut out = self.clone();
        if a != b {
            out.sizes.swap(a, b);
            out.strides.swap(a, b);
        }
        Ok(out)
    }

    /// Reorders dimensions; `dims` lists the old dimension of each new one.
    pub fn permute(&self, dims: &[i64]) -> Result<Layout> {
        if dims.len() != self.ndim() {
            bail!(
                RuntimeError,
                "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the \
                 desired ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
                self.ndim(),
                dims.len()
            );
        }
        let mut seen: SmallVec<[bool; 6]> = SmallVec::from_elem(false, self.ndim());
        let mut out = Layout { sizes: Dims::new(), strides: Dims::new(), offset: self.offset };
        for &dim in dims {
            let d = wrap_dim(dim, self.ndim())?;
            if std::mem::replace(&mut seen[d], true) {
                bail!(RuntimeError, "permute(): duplicate dims are not allowed.");
            }
            out.sizes.push(self.sizes[d]);
            out.strides.push(self.strides[d]);
        }
        Ok(out)
    }

    /// Repeats dimensions of size 1 with stride 0, and adds leading dimensions; `-1` keeps a size. `type_name` is
    /// PyTorch's legacy name of the tensor's type (`FloatTensor`), used in one message.
    pub fn expand(&self, sizes: &[i64], type_name: &str) -> Result<Layout> {
        let Some(added) = sizes.len().checked_sub(self.ndim()) else {
            bail!(
                RuntimeError,
                "expand(torch.{type_name}{{{}}}, size={}): the number of sizes provided ({}) must be greater or equal to the \
                 number of dimensions in the tensor ({})",
                show(&self.sizes),
                show(sizes),
                sizes.len(),
                self.ndim()
            );
        };
        let mut out =
            Layout { sizes: Dims::from_slice(sizes), strides: Dims::from_elem(0, sizes.len()), offset: self.offset };
        // A 0-d tensor expands to any sizes, with strides 0.
        let dims = if self.ndim() == 0 { 0 } else { sizes.len() };
        for i in (0..dims).rev() {
            let (size, stride) = match i.checked_sub(added) {
                Some(d) => (self.sizes[d], self.strides[d]),
                // A new dimension gets the stride that would make it contiguous with the one after it.
                None if i + 1 == sizes.len() => (1, 1),
                None => (1, out.sizes[i + 1].wrapping_mul(out.strides[i + 1])),
            };
            let target = match sizes[i] {
                -1 if i < added => bail!(
                    RuntimeError,
                    "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}"
                ),
                -1 => size,
                target => target,
            };
            if target != size && size != 1 {
                bail!(
                    RuntimeError,
                    "The expanded size of the tensor ({target}) must match the existing size ({size}) at non-singleton \
                     dimension {i}.  Target sizes: {}.  Tensor sizes: {}",
                    show(sizes),
                    show(&self.sizes)
                );
            }
            out.sizes[i] = target;
            out.strides[i] = if target == size { stride } else { 0 };
        }
        if out.sizes.iter().any(|&s| s < 0) || checked_numel(&out.sizes).is_err() {
            bail!(RuntimeError, "numel: integer multiplication overflow");
        }
        Ok(out)
    }

    /// Inserts a dimension of size 1 before position `dim`.
    pub fn unsqueeze(&self, dim: i64) -> Result<Layout> {
        let mut out = self.clone();
        out.insert(dim)?;
        Ok(out)
    }

    /// Like [`Layout::unsqueeze`], but in place.
    pub fn insert(&mut self, dim: i64) -> Result<()> {
        let d = wrap_dim(dim, self.ndim() + 1)?;
        let stride = if d < self.ndim() { self.sizes[d].wrapping_mul(self.strides[d]) } else { 1 };
        self.sizes.insert(d, 1);
        self.strides.insert(d, stride);
        Ok(())
    }

    /// Drops the chosen dimensions of size 1.
    pub fn squeeze(&self, chosen: impl Fn(usize) -> bool) -> Layout {
        let mut out = Layout { sizes: Dims::new(), strides: Dims::new(), offset: self.offset };
        for d in 0..self.ndim() {
            if self.sizes[d] != 1 || !chosen(d) {
                out.sizes.push(self.sizes[d]);
                out.strides.push(self.strides[d]);
            }
        }
        out
    }

    /// Returns the slice at `index` of dimension `dim`, without that dimension. Both must be in range. The offset can
    /// only wrap for empty tensors that lie beyond every storage; creating a tensor from it then fails.
    pub fn select(&self, dim: usize, index: i64) -> Layout {
        let mut out = self.clone();
        out.offset = out.offset.wrapping_add(index.wrapping_mul(out.strides[dim]));
        out.sizes.remove(dim);
        out.strides.remove(dim);
        out
    }

    /// Applies `start:stop:step` to one dimension by Python's rules; `step` must be positive.
    pub fn slice(&self, dim: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> Layout {
        let size = self.sizes[dim];
        let clamp = |v: i64, low: i64| (if v < 0 { v.saturating_add(size) } else { v }).clamp(low, size);
        let start = clamp(start.unwrap_or(0), 0);
        let stop = clamp(stop.unwrap_or(i64::MAX), start);
        let mut out = self.clone();
        out.offset = out.offset.wrapping_add(start.wrapping_mul(out.strides[dim]));
        // A ceiling division; the usual sum could overflow for huge steps.
        out.sizes[dim] = (stop - start) / step + i64::from((stop - start) % step != 0);
        out.strides[dim] = out.strides[dim].saturating_mul(step);
        out
    }

    /// Returns the elements whose indices in `dim1` and `dim2` differ by `offset`, as a last dimension.
    pub fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Layout> {
        let (a, b) = (wrap_dim(dim1, self.ndim())?, wrap_dim(dim2, self.ndim())?);
        if a == b || self.ndim() == 0 {
            bail!(RuntimeError, "diagonal dimensions cannot be identical {dim1}, {dim2}");
        }
        let length = if offset >= 0 {
            self.sizes[a].min(self.sizes[b].saturating_sub(offset))
        } else {
            self.sizes[a].saturating_add(offset).min(self.sizes[b])
        }
        .max(0);
        let mut out = self.clone();
        if length > 0 {
            let steps = if offset >= 0 { self.strides[b] } else { self.strides[a] };
            out.offset = out.offset.wrapping_add((offset.unsigned_abs() as i64).wrapping_mul(steps));
        }
        let stride = self.strides[a].wrapping_add(self.strides[b]);
        for d in [a.max(b), a.min(b)] {
            out.sizes.remove(d);
            out.strides.remove(d);
        }
        out.sizes.push(length);
        out.strides.push(stride);
        Ok(out)
    }

    /// Returns windows of `size` every `step` along `dim`; the window becomes a last dimension.
    pub fn unfold(&self, dim: i64, size: i64, step: i64) -> Result<Layout> {
        let d = wrap_dim(dim, self.ndim())?;
        let (length, stride) = if self.ndim() == 0 { (1, 1) } else { (self.sizes[d], self.strides[d]) };
        if size < 0 {
            bail!(RuntimeError, "size is {size} but must be >= 0");
        }
        if size > length {
            bail!(RuntimeError, "maximum size for tensor at dimension {d} is {length} but size is {size}");
        }
        if step <= 0 {
            bail!(RuntimeError, "step is {step} but must be > 0");
        }
        let mut out = self.clone();
        if self.ndim() > 0 {
            out.sizes[d] = (length - size) / step + 1;
            out.strides[d] = stride.saturating_mul(step);
        }
        out.sizes.push(size);
        out.strides.push(stride);
        Ok(out)
    }
}

impl Layout {
    /// Returns the offset of element number `index`, in row-major order.
    pub fn offset_of(&self, index: i64) -> i64 {
        let mut offset = self.offset;
        self.unravel(index, |d, i| offset += i * self.strides[d]);
        offset
    }

    /// Passes the index of element number `index` along each dimension to `give`, last dimension first.
    fn unravel(&self, index: i64, mut give: impl FnMut(usize, i64)) {
        let mut rest = index;
        for (d, &size) in self.sizes.iter().enumerate().rev() {
            give(d, rest % size);
            rest /= size;
        }
    }
}
