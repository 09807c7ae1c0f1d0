//! The offsets of a layout's elements in row-major order.

use super::{Dims, Layout};
use crate::interrupt;

/// Iterates over the offsets of elements in row-major order, for code that visits them one by one. Stops after Ctrl-C.
pub struct Offsets<'a> {
    layout: &'a Layout,
    /// The index of the current run in every dimension but the last.
    index: Dims,
    next: Option<i64>,
    /// The number of offsets of the current run after the next one, and their distance.
    left: i64,
    step: i64,
    /// The number of offsets returned since the last check for Ctrl-C.
    unwatched: usize,
}

impl Layout {
    /// Iterates over the elements' offsets into the storage, in row-major order.
    pub fn offsets(&self) -> Offsets<'_> {
        self.offsets_from(0)
    }

    /// Like [`offsets`](Layout::offsets), starting at element number `first`.
    pub(crate) fn offsets_from(&self, first: i64) -> Offsets<'_> {
        let mut index = Dims::from_elem(0, self.ndim());
        let next = (first < self.numel()).then(|| {
            let mut offset = self.offset;
            self.unravel(first, |d, i| {
                index[d] = i;
                offset += i * self.strides[d];
            });
            offset
        });
        let (size, step) = self.sizes.last().copied().zip(self.strides.last().copied()).unwrap_or((1, 0));
        let left = size - 1 - index.pop().unwrap_or(0);
        Offsets { layout: self, index, next, left, step, unwatched: 0 }
    }
}

impl Offsets<'_> {
    /// Returns the first offset of the run that follows one that ends at `last`.
    fn next_run(&mut self, last: i64) -> Option<i64> {
        let (sizes, strides) = (&self.layout.sizes, &self.layout.strides);
        let length = sizes.last().copied().unwrap_or(1);
        let mut offset = last - self.step * (length - 1);
        for d in (0..self.index.len()).rev() {
            self.index[d] += 1;
            offset += strides[d];
            if self.index[d] < sizes[d] {
                self.left = length - 1;
                return Some(offset);
            }
            offset -= strides[d] * sizes[d];
            self.index[d] = 0;
        }
        None
    }
}

impl Iterator for Offsets<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        let current = self.next?;
        self.unwatched += 1;
        // Elements visited one by one may be a page apart.
        if self.unwatched == interrupt::STRIDE / 16 {
            self.unwatched = 0;
            if interrupt::requested() {
                self.next = None;
                return None;
            }
        }
        if self.left > 0 {
            self.left -= 1;
            self.next = Some(current + self.step);
        } else {
            self.next = self.next_run(current);
        }
        Some(current)
    }
}
