//! [`Shown`]: the bytes that a tensor or an array shows of a storage. Tensors count in elements and arrays in bytes;
//! pictures of both together count in bytes.

use super::residents::{Residents, residents, upward};
use std::ops::Range;
use tensor::{Dims, Layout, View};
use value::ArrayMemory;

/// Elements in bytes of a storage. Holds no handle of the storage.
#[derive(Clone, Debug)]
pub struct Shown {
    pub dtype: String,
    pub itemsize: usize,
    /// The sizes, and the strides and the offset in bytes.
    pub layout: Layout,
}

impl Shown {
    pub fn of_view(view: &View) -> Shown {
        Shown {
            dtype: view.dtype.name().to_owned(),
            itemsize: view.dtype.itemsize(),
            layout: in_bytes(&view.layout, view.dtype.itemsize()),
        }
    }

    pub fn of_array(array: &ArrayMemory) -> Shown {
        Shown { dtype: array.dtype_name.clone(), itemsize: array.dtype.itemsize(), layout: array.layout.clone() }
    }

    /// Returns the range from the first byte of any element to the last. Empty without elements.
    pub(crate) fn range(&self) -> Range<i64> {
        if self.layout.numel() == 0 {
            return 0..0;
        }
        let (layout, _) = upward(&self.layout);
        let last = layout
            .sizes
            .iter()
            .zip(&layout.strides)
            .fold(layout.offset, |at, (size, stride)| at.saturating_add((size - 1).saturating_mul(*stride)));
        layout.offset..last.saturating_add(self.itemsize as i64)
    }

    /// Returns a number that divides the distance of any two elements.
    fn step(&self) -> i64 {
        let moving = self.layout.sizes.iter().zip(&self.layout.strides).filter(|(size, _)| **size > 1);
        moving.fold(0, |step, (_, stride)| gcd(step, stride.saturating_abs())).max(1)
    }

    /// Returns the elements that begin at one of these bytes, each with its first byte.
    pub(crate) fn starting_in(&self, bytes: Range<i64>) -> impl Iterator<Item = (i64, Residents)> {
        let step = self.step();
        let range = self.range();
        let (from, to) = (bytes.start.max(range.start), bytes.end.min(range.end));
        // No element begins between two multiples of the step.
        let first = from.saturating_add((self.layout.offset.saturating_sub(from)).rem_euclid(step));
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        (first..to).step_by(step).filter_map(|at| Some((at, residents(&self.layout, at)?)))
    }

    /// Returns the elements that a byte belongs to, with their first bytes.
    pub(crate) fn at(&self, byte: i64) -> impl Iterator<Item = (i64, Residents)> {
        self.starting_in(byte.saturating_sub(self.itemsize as i64 - 1)..byte.saturating_add(1))
    }

    /// Returns the index of the first element that begins at a byte.
    pub fn index_at(&self, byte: i64) -> Option<Dims> {
        residents(&self.layout, byte).map(|found| found.first)
    }

    /// Returns whether a byte belongs to an element.
    pub(crate) fn has(&self, byte: i64) -> bool {
        self.at(byte).next().is_some()
    }
}

/// A storage cut into cells of the same size, which an element fills if all elements are whole items apart.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// The number of bytes of a cell: those of an element, or 1.
    pub cell: usize,
    /// The number of bytes before the first whole cell.
    pub lead: usize,
    /// The first bytes of the elements in cells, with no negative stride.
    pub layout: Layout,
}

impl Shown {
    pub(super) fn grid(&self) -> Grid {
        let (mut layout, _) = upward(&self.layout);
        let size = self.itemsize.max(1) as i64;
        let is_whole = layout.sizes.iter().zip(&layout.strides).all(|(count, stride)| *count < 2 || stride % size == 0);
        let cell = if is_whole { size } else { 1 };
        let lead = layout.offset.rem_euclid(cell);
        layout.offset = (layout.offset - lead) / cell;
        layout.strides.iter_mut().for_each(|stride| *stride /= cell);
        Grid { cell: cell as usize, lead: lead as usize, layout }
    }
}

fn in_bytes(layout: &Layout, itemsize: usize) -> Layout {
    let scale = |elements: i64| elements.saturating_mul(itemsize as i64);
    Layout {
        sizes: layout.sizes.clone(),
        strides: layout.strides.iter().map(|&stride| scale(stride)).collect::<Dims>(),
        offset: scale(layout.offset),
    }
}

pub(super) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_any_of_their_bytes() {
        let layout = |sizes: &[i64], strides: &[i64], offset| Layout {
            sizes: Dims::from_slice(sizes),
            strides: Dims::from_slice(strides),
            offset,
        };
        for (layout, itemsize, range) in [
            (layout(&[3], &[-4], 9), 4, 1..13),
            (layout(&[2, 2], &[-12, 4], 14), 2, 2..20),
            (layout(&[], &[], 3), 8, 3..11),
            (layout(&[4], &[1], 2), 4, 2..9),
            (layout(&[1], &[-99], 5), 2, 5..7),
            (layout(&[0], &[4], 5), 4, 0..0),
        ] {
            let shown = Shown { dtype: String::new(), itemsize, layout };
            assert_eq!(shown.range(), range, "{shown:?}");
            let mut wanted: Vec<i64> = shown.layout.offsets().flat_map(|at| at..at + itemsize as i64).collect();
            wanted.sort_unstable();
            wanted.dedup();
            let found: Vec<i64> = (0..40).filter(|byte| shown.has(*byte)).collect();
            assert_eq!(found, wanted, "{shown:?}");
        }
    }
}
