//! Finds the indices of a tensor at a position of its storage. Inverts the layout without walking through the elements,
//! of which there may be a billion. Positions and strides count in any unit: elements for tensors, bytes for arrays,
//! whose strides may be negative.

use tensor::{Dims, Layout};

/// The number of positions to search for one cell before settling for the results so far.
const BUDGET: usize = 2_000;

/// The elements at one position of a storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Residents {
    /// The index of the first one in reading order.
    pub first: Dims,
    pub count: u64,
    /// Whether there may be more.
    pub is_cut: bool,
}

/// Returns the elements at `place`, counted from the start of the storage, or `None` if no element lies there.
pub(crate) fn residents(layout: &Layout, place: i64) -> Option<Residents> {
    if layout.numel() == 0 {
        return None;
    }
    let (upward, flipped) = upward(layout);
    let rest = place.checked_sub(upward.offset).filter(|rest| *rest >= 0)?;
    let layout = &upward;
    // Try the largest strides first, which leaves the smallest remainder. A stride of 0 does not move and only
    // multiplies.
    let mut order: Vec<usize> = (0..layout.ndim()).filter(|&d| size(layout, d) > 1 && stride(layout, d) > 0).collect();
    order.sort_by_key(|&d| std::cmp::Reverse(stride(layout, d)));
    let repeats = (0..layout.ndim())
        .filter(|&d| stride(layout, d) == 0)
        .fold(1u64, |count, d| count.saturating_mul(size(layout, d).unsigned_abs()));
    let index = Dims::from_elem(0, layout.ndim());
    let mut search = Search { layout, flipped: &flipped, index, first: None, count: 0, budget: BUDGET };
    search.place(&order, rest);
    let first = search.first?;
    Some(Residents { first, count: search.count.saturating_mul(repeats), is_cut: search.budget == 0 })
}

/// Returns the layout of the same places with every negative stride turned around, and which dimensions were.
pub(super) fn upward(layout: &Layout) -> (Layout, Vec<bool>) {
    let mut upward = layout.clone();
    let mut flipped = vec![false; layout.ndim()];
    for ((stride, &size), flipped) in upward.strides.iter_mut().zip(&layout.sizes).zip(&mut flipped) {
        if *stride < 0 {
            upward.offset = upward.offset.saturating_add((size - 1).max(0).saturating_mul(*stride));
            *stride = stride.saturating_neg();
            *flipped = true;
        }
    }
    (upward, flipped)
}

/// Returns the index of an element from its position in reading order.
pub fn index_of(number: i64, sizes: &[i64]) -> Dims {
    let mut rest = number;
    let mut index: Dims = sizes
        .iter()
        .rev()
        .map(|&size| {
            let here = rest % size.max(1);
            rest /= size.max(1);
            here
        })
        .collect();
    index.reverse();
    index
}

/// Returns the storage position of the element at an index.
pub(super) fn place_at(layout: &Layout, index: &[i64]) -> i64 {
    index
        .iter()
        .zip(&layout.strides)
        .fold(layout.offset, |at, (i, stride)| at.saturating_add(i.saturating_mul(*stride)))
}

fn size(layout: &Layout, dim: usize) -> i64 {
    layout.sizes.get(dim).copied().unwrap_or(1)
}

fn stride(layout: &Layout, dim: usize) -> i64 {
    layout.strides.get(dim).copied().unwrap_or(0)
}

struct Search<'a> {
    layout: &'a Layout,
    /// The dimensions that the original walks downwards.
    flipped: &'a [bool],
    index: Dims,
    first: Option<Dims>,
    count: u64,
    budget: usize,
}

impl Search<'_> {
    /// Returns the present index in the original layout.
    fn original(&self) -> Dims {
        let turned = self.index.iter().zip(self.flipped).enumerate().map(|(d, (&at, &flipped))| match flipped {
            true if stride(self.layout, d) > 0 => size(self.layout, d) - 1 - at,
            _ => at,
        });
        turned.collect()
    }

    /// Finds all combinations of the dimensions in `order` that add up to exactly `rest`. Recurses once per dimension.
    fn place(&mut self, order: &[usize], rest: i64) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        let Some((&dim, others)) = order.split_first() else {
            if rest == 0 {
                self.count = self.count.saturating_add(1);
                let index = self.original();
                if self.first.as_ref().is_none_or(|first| index < *first) {
                    self.first = Some(index);
                }
            }
            return;
        };
        let (size, stride) = (size(self.layout, dim), stride(self.layout, dim));
        let reach = others.iter().fold(0i64, |reach, &d| {
            reach.saturating_add((self::size(self.layout, d) - 1).saturating_mul(self::stride(self.layout, d)))
        });
        let least = rest.saturating_sub(reach).max(0);
        let least = least / stride + i64::from(least % stride != 0);
        let most = (rest / stride).min(size - 1);
        for steps in least..=most {
            if let Some(slot) = self.index.get_mut(dim) {
                *slot = steps;
            }
            self.place(others, rest - steps * stride);
            if self.budget == 0 {
                break;
            }
        }
        if let Some(slot) = self.index.get_mut(dim) {
            *slot = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(sizes: &[i64], strides: &[i64], offset: i64) -> Layout {
        Layout { sizes: Dims::from_slice(sizes), strides: Dims::from_slice(strides), offset }
    }

    /// Returns all indices in reading order, each with its storage position.
    fn walk(layout: &Layout) -> Vec<(Dims, i64)> {
        let mut all = vec![(Dims::new(), layout.offset)];
        for (&size, &stride) in layout.sizes.iter().zip(&layout.strides) {
            all = all
                .into_iter()
                .flat_map(|(index, place)| {
                    (0..size).map(move |i| {
                        let mut index = index.clone();
                        index.push(i);
                        (index, place + i * stride)
                    })
                })
                .collect();
        }
        all
    }

    #[test]
    fn places_are_found_as_by_walking() {
        for layout in [
            layout(&[], &[], 3),
            layout(&[2, 3], &[3, 1], 0),
            layout(&[3, 2], &[1, 3], 2),
            layout(&[3, 4], &[0, 2], 1),
            layout(&[4, 3], &[1, 1], 0),
            layout(&[2, 0, 3], &[3, 3, 1], 0),
            layout(&[2, 1, 3, 2, 2], &[7, 50, 3, 2, 0], 1),
            layout(&[5], &[-2], 9),
            layout(&[2, 3, 1], &[-3, 1, -4], 5),
            layout(&[3, 2, 4], &[2, -1, -2], 12),
        ] {
            let all = walk(&layout);
            for place in 0..40 {
                let here: Vec<_> = all.iter().filter(|(_, at)| *at == place).collect();
                let wanted = here.first().map(|(index, _)| (index.clone(), here.len() as u64, false));
                let found = residents(&layout, place).map(|found| (found.first, found.count, found.is_cut));
                assert_eq!(found, wanted, "{layout:?} {place}");
            }
        }
    }

    #[test]
    fn a_search_without_end_is_given_up() {
        let wide = layout(&[1 << 30, 1 << 30], &[1, 1], 0);
        let found = residents(&wide, 1 << 20).unwrap();
        assert!(found.is_cut && found.count > 100, "{found:?}");
        assert_eq!(residents(&layout(&[1 << 40], &[0], 0), 0).map(|found| found.count), Some(1 << 40));
    }
}
