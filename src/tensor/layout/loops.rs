//! How loops over several operands go through their dimensions, and the strides of what they make.

use super::{Dims, Layout, MOST_NAMED, contiguous_strides};
use crate::interrupt;
use crate::memory_format::MemoryFormat;
use smallvec::SmallVec;
use std::cmp::Ordering;

impl Layout {
    /// Returns the order of dimensions, fastest first, in which PyTorch's iterator walks these operands: an insertion
    /// sort by stride that keeps the order of ambiguous pairs. Operands must have `sizes.len()` strides each.
    pub fn iteration_order(sizes: &[i64], operands: &[&[i64]]) -> SmallVec<[usize; 6]> {
        inserted(sizes.len(), |a, b| by_strides(sizes, operands, a, b))
    }

    /// Like [`Layout::iteration_order`], but reduced dimensions, where the first operand has stride 0, come first.
    pub(crate) fn reduction_order(sizes: &[i64], operands: [&[i64]; 2]) -> SmallVec<[usize; 6]> {
        let stays = |d: usize| operands[0][d] != 0;
        inserted(sizes.len(), |a, b| stays(a).cmp(&stays(b)).then_with(|| by_strides(sizes, &operands, a, b)))
    }

    /// Returns the strides of a new result of a loop over dimensions in the given order, fastest first. A size of 0
    /// makes the following strides 0, except in row-major order.
    fn loop_strides(sizes: &[i64], order: &[usize]) -> Dims {
        if order.iter().rev().copied().eq(0..sizes.len()) {
            return contiguous_strides(sizes);
        }
        let mut strides = Dims::from_elem(0, sizes.len());
        let mut step = 1i64;
        for &d in order {
            strides[d] = step;
            step = step.saturating_mul(sizes[d]);
        }
        strides
    }

    /// Returns strides without gaps in the given order of dimensions, fastest first.
    fn dense_strides(sizes: &[i64], order: &[usize]) -> Dims {
        let mut strides = Dims::from_elem(0, sizes.len());
        let mut step = 1i64;
        for &d in order {
            strides[d] = step;
            step = step.saturating_mul(sizes[d].max(1));
        }
        strides
    }

    /// Returns the strides of a new tensor "like" this one (`clone`, `*_like`, `to(dtype)`): its own if they are dense,
    /// else dense ones in the same order.
    pub(crate) fn like_strides(&self) -> Dims {
        if self.is_non_overlapping_and_dense() {
            return self.strides.clone();
        }
        let order = Self::iteration_order(&self.sizes, &[&self.strides]);
        Self::dense_strides(&self.sizes, &order)
    }

    /// Returns the strides of the result of an elementwise operation over operands broadcast to `sizes`; `original` are
    /// their layouts before broadcasting.
    pub fn elementwise_strides(sizes: &[i64], original: &[&Layout]) -> Dims {
        if let [first, rest @ ..] = original
            && original.iter().all(|l| l.sizes.as_slice() == sizes)
        {
            if original.iter().all(|l| l.is_contiguous()) {
                return contiguous_strides(sizes);
            }
            if original.iter().all(|l| MemoryFormat::ChannelsLast.describes(l))
                && let Ok(strides) = MemoryFormat::ChannelsLast.strides(sizes)
            {
                return strides;
            }
            let alike = rest.iter().all(|l| l.strides == first.strides);
            if alike && original.iter().all(|l| l.is_non_overlapping_and_dense()) {
                return first.strides.clone();
            }
        }
        let expanded: SmallVec<[Dims; 3]> = original.iter().map(|l| l.broadcast_strides(sizes)).collect();
        let strides: SmallVec<[&[i64]; 3]> = expanded.iter().map(|s| s.as_slice()).collect();
        let order = Self::iteration_order(sizes, &strides);
        Self::loop_strides(sizes, &order)
    }

    /// Returns the strides of an operand broadcast to `sizes`: 0 where the operand repeats.
    pub(crate) fn broadcast_strides(&self, sizes: &[i64]) -> Dims {
        let added = sizes.len() - self.ndim();
        let mut out = Dims::from_elem(0, sizes.len());
        for d in 0..self.ndim() {
            let repeats = self.sizes[d] == 1 && sizes[added + d] != 1;
            out[added + d] = if repeats { 0 } else { self.strides[d] };
        }
        out
    }

    /// Returns this layout broadcast to `sizes`, which must be possible.
    pub fn broadcast_to(&self, sizes: &[i64]) -> Layout {
        Layout { sizes: Dims::from_slice(sizes), strides: self.broadcast_strides(sizes), offset: self.offset }
    }
}

/// Compares two dimensions by the first operand whose strides are nonzero and differ; the larger one is walked later.
fn by_strides(sizes: &[i64], operands: &[&[i64]], a: usize, b: usize) -> Ordering {
    let mut both = operands.iter().filter(|strides| strides[a] != 0 && strides[b] != 0);
    let differs = both.find_map(|strides| match strides[a].cmp(&strides[b]) {
        Ordering::Equal if sizes[a] > sizes[b] => Some(Ordering::Greater),
        Ordering::Equal => None,
        order => Some(order),
    });
    differs.unwrap_or(Ordering::Equal)
}

/// Insertion-sorts the dimensions, starting with the last one; dimensions that compare as equal let others pass.
fn inserted(ndim: usize, compare: impl Fn(usize, usize) -> Ordering) -> SmallVec<[usize; 6]> {
    let mut order: SmallVec<[usize; 6]> = (0..ndim).rev().collect();
    for i in 1..ndim {
        if i.is_multiple_of(MOST_NAMED) && interrupt::requested() {
            break;
        }
        let mut moving = i;
        for other in (0..i).rev() {
            match compare(order[other], order[moving]) {
                Ordering::Greater => {
                    order.swap(other, moving);
                    moving = other;
                }
                Ordering::Less => break,
                Ordering::Equal => {}
            }
        }
    }
    order
}
