//! The cells of a storage that a variable shows, as a set: how many lie in a range, and what two sets have in common.
//! Works on sizes and strides, so a billion elements take no longer than ten.

use super::residents::upward;
use super::shown::{Shown, gcd};
use std::ops::Range;

/// Sets of at most this many steps are walked if their layout cannot be computed with.
const WALKED: u64 = 1 << 16;

/// A set of cells: the sums of a first cell and of some multiples of each step.
#[derive(Clone, Debug)]
pub(super) struct Places {
    first: i64,
    /// How many cells lie how far apart, the widest step last. No count is below 2, and no step below 1.
    runs: Vec<(i64, i64)>,
    order: Order,
}

#[derive(Clone, Debug)]
enum Order {
    Empty,
    /// Every run lies between two cells of the next, so that cells come in the order of their steps.
    Nested,
    /// The cells themselves, ascending.
    Listed(Vec<i64>),
    /// Too many steps that lead to the same cells.
    Unknown,
}

impl Places {
    /// Returns the cells of a range.
    pub(super) fn solid(range: Range<i64>) -> Places {
        match range.end - range.start {
            ..1 => Places { first: range.start, runs: Vec::new(), order: Order::Empty },
            1 => Places { first: range.start, runs: Vec::new(), order: Order::Nested },
            count => Places { first: range.start, runs: vec![(count, 1)], order: Order::Nested },
        }
    }

    /// Returns the cells that some elements fill. A cell has `cell` bytes, which must divide the size of an element and every
    /// stride, as [`cell_of`] does. `start` is the byte at which their storage begins.
    pub(super) fn of(shown: &Shown, start: i64, cell: i64) -> Places {
        let (layout, _) = upward(&shown.layout);
        let first = layout.offset.saturating_add(start) / cell;
        if layout.numel() == 0 {
            return Places::solid(first..first);
        }
        let steps = layout.sizes.iter().zip(&layout.strides).map(|(size, stride)| (*size, stride / cell));
        let mut dims: Vec<(i64, i64)> =
            steps.chain([(shown.itemsize as i64 / cell, 1)]).filter(|(count, step)| *count > 1 && *step > 0).collect();
        dims.sort_by_key(|(_, step)| *step);
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for (count, step) in dims {
            // A step that continues a run, or falls on it, makes it longer.
            let continued = runs.iter_mut().find(|(before, by)| step % *by == 0 && step <= before.saturating_mul(*by));
            match continued {
                Some((before, by)) => *before = before.saturating_add((count - 1).saturating_mul(step / *by)),
                None => runs.push((count, step)),
            }
        }
        let order = order(first, &runs);
        Places { first, runs, order }
    }

    pub(super) fn first(&self) -> i64 {
        self.first
    }

    /// Returns the distances of neighbours.
    pub(super) fn steps(&self) -> impl Iterator<Item = i64> {
        self.runs.iter().map(|(_, step)| *step)
    }

    /// Returns whether the cells lie next to each other.
    pub(super) fn is_solid(&self) -> bool {
        matches!(self.order, Order::Empty) || matches!(self.runs.as_slice(), [] | [(_, 1)])
    }

    /// Counts the cells, if that takes no walk.
    pub(super) fn count(&self) -> Option<u64> {
        match &self.order {
            Order::Empty => Some(0),
            Order::Nested => Some(product(&self.runs)),
            Order::Listed(cells) => Some(cells.len() as u64),
            Order::Unknown => None,
        }
    }

    /// Counts the cells before `end`.
    fn below(&self, end: i64) -> Option<u64> {
        match &self.order {
            Order::Empty => Some(0),
            Order::Unknown => None,
            Order::Listed(cells) => Some(cells.partition_point(|cell| *cell < end) as u64),
            Order::Nested => {
                let mut rest = end.saturating_sub(self.first);
                let mut count = 0u64;
                for (at, &(many, step)) in self.runs.iter().enumerate().rev() {
                    let inner = product(self.runs.get(..at).unwrap_or_default());
                    let whole = (rest.max(0) / step).min(many);
                    count = count.saturating_add(inner.saturating_mul(whole.unsigned_abs()));
                    if whole == many {
                        return Some(count);
                    }
                    rest -= whole * step;
                }
                Some(count + u64::from(rest > 0))
            }
        }
    }

    /// Counts the cells in a range. `None` if that would take too long.
    pub(super) fn within(&self, range: Range<i64>) -> Option<u64> {
        Some(self.below(range.end)?.saturating_sub(self.below(range.start)?))
    }

    /// Returns the first cell at or after another.
    pub(super) fn next(&self, cell: i64) -> Option<i64> {
        self.nth(self.below(cell)?)
    }

    /// Returns a cell by its rank.
    fn nth(&self, rank: u64) -> Option<i64> {
        if let Order::Listed(cells) = &self.order {
            return cells.get(usize::try_from(rank).ok()?).copied();
        }
        if rank >= self.count()? {
            return None;
        }
        let (mut rest, mut cell) = (rank, self.first);
        for (count, step) in &self.runs {
            let count = count.unsigned_abs();
            cell = cell.saturating_add_unsigned((rest % count).saturating_mul(step.unsigned_abs()));
            rest /= count;
        }
        Some(cell)
    }

    /// Counts the cells that both have, if at most `walked` of them have to be looked up.
    pub(super) fn common(&self, other: &Places, walked: u64) -> Option<u64> {
        if self.is_apart(other) {
            return Some(0);
        }
        if self.first == other.first && self.runs == other.runs && self.count().is_some() {
            return self.count();
        }
        for (one, other) in [(self, other), (other, self)] {
            if one.is_solid() {
                return other.within(one.first..one.first.saturating_add(one.count()? as i64));
            }
        }
        let (few, many) = if self.count()? <= other.count()? { (self, other) } else { (other, self) };
        let count = few.count().filter(|count| *count <= walked)?;
        let has = |cell: i64| many.within(cell..cell.saturating_add(1)) == Some(1);
        Some((0..count).filter_map(|rank| few.nth(rank)).filter(|cell| has(*cell)).count() as u64)
    }

    /// Returns whether two sets can be told to have no cell in common: their ranges do not meet, or not if everything
    /// is taken modulo one of their steps, as the left and the right half of every row of a matrix.
    pub(super) fn is_apart(&self, other: &Places) -> bool {
        if matches!(self.order, Order::Empty) || matches!(other.order, Order::Empty) {
            return true;
        }
        let steps = self.runs.iter().chain(&other.runs).map(|(_, step)| *step);
        let common = steps.clone().fold(0, gcd);
        steps.chain([common, i64::MAX]).filter(|modulus| *modulus > 1).any(|modulus| {
            match (self.modulo(modulus), other.modulo(modulus)) {
                (Some(one), Some(other)) => one.end <= other.start || other.end <= one.start,
                _ => false,
            }
        })
    }

    /// Returns the range of the cells modulo a number; `None` if it goes around.
    fn modulo(&self, modulus: i64) -> Option<Range<i64>> {
        let start = self.first.rem_euclid(modulus);
        let within = self.runs.iter().filter(|(_, step)| step % modulus != 0);
        let last = within.fold(start, |at, (count, step)| at.saturating_add((count - 1).saturating_mul(*step)));
        (last < modulus).then_some(start..last + 1)
    }
}

/// Returns the largest number of bytes that divides some elements, their distances and where they begin.
pub(super) fn cell_of<'s>(all: impl Iterator<Item = (&'s Shown, i64)>) -> i64 {
    let numbers = all.filter(|(shown, _)| shown.layout.numel() > 0).flat_map(|(shown, start)| {
        let moving = shown.layout.sizes.iter().zip(&shown.layout.strides).filter(|(size, _)| **size > 1);
        let steps = moving.map(|(_, stride)| stride.saturating_abs());
        steps.chain([shown.itemsize as i64, shown.layout.offset.saturating_add(start).saturating_abs()])
    });
    numbers.fold(0, gcd).max(1)
}

fn product(runs: &[(i64, i64)]) -> u64 {
    runs.iter().fold(1u64, |product, (count, _)| product.saturating_mul(count.unsigned_abs()))
}

fn order(first: i64, runs: &[(i64, i64)]) -> Order {
    let mut reach = 0i64;
    let mut is_nested = true;
    for (count, step) in runs {
        is_nested &= reach < *step;
        reach = reach.saturating_add((count - 1).saturating_mul(*step));
    }
    if is_nested {
        return Order::Nested;
    }
    if product(runs) > WALKED {
        return Order::Unknown;
    }
    let mut cells = vec![first];
    for (count, step) in runs {
        cells = cells.iter().flat_map(|cell| (0..*count).map(move |i| cell.saturating_add(i * step))).collect();
        cells.sort_unstable();
        cells.dedup();
    }
    Order::Listed(cells)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use tensor::Layout;

    /// A number generator, so that a failure can be repeated.
    pub(crate) struct Numbers(pub u64);

    impl Numbers {
        pub(crate) fn below(&mut self, end: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % end.unsigned_abs()) as i64
        }

        /// Returns elements whose strides may repeat, overlap and go back.
        pub(crate) fn shown(&mut self) -> Shown {
            let itemsize = [1, 2, 4, 8, 12][self.below(5) as usize];
            let unit = [1, itemsize, itemsize, itemsize][self.below(4) as usize];
            let ndim = self.below(5);
            let sizes: Vec<i64> = (0..ndim).map(|_| self.below(if ndim < 3 { 9 } else { 4 })).collect();
            let strides: Vec<i64> = (0..ndim).map(|_| unit * (self.below(14) - 3)).collect();
            let mut layout = Layout { sizes: sizes.as_slice().into(), strides: strides.as_slice().into(), offset: 0 };
            layout.offset = unit * self.below(6) - layout.offsets().min().unwrap_or_default();
            Shown { dtype: String::new(), itemsize: itemsize as usize, layout }
        }
    }

    /// Returns the cells by walking through all elements.
    fn walk(shown: &Shown, start: i64, cell: i64) -> BTreeSet<i64> {
        let bytes = shown.layout.offsets().flat_map(|at| at..at + shown.itemsize as i64);
        bytes.map(|byte| (byte + start) / cell).collect()
    }

    #[test]
    fn sets_are_those_of_a_walk() {
        let mut numbers = Numbers(48);
        let (mut apart, mut met, mut disjoint) = (0, 0, 0);
        for _ in 0..3000 {
            let (one, other) = (numbers.shown(), numbers.shown());
            let starts = [0, numbers.below(3) * 4];
            let cell = cell_of([(&one, starts[0]), (&other, starts[1])].into_iter());
            let [cells, others] =
                [(&one, starts[0]), (&other, starts[1])].map(|(shown, start)| walk(shown, start, cell));
            let [places, other_places] =
                [(&one, starts[0]), (&other, starts[1])].map(|(shown, start)| Places::of(shown, start, cell));
            assert_eq!(places.count(), Some(cells.len() as u64), "{one:?}");
            for _ in 0..8 {
                let from = numbers.below(300);
                let range = from..from + numbers.below(100);
                let wanted = cells.range(range.clone()).count() as u64;
                assert_eq!(places.within(range.clone()), Some(wanted), "{one:?} {range:?}");
                assert_eq!(places.next(from), cells.range(from..).next().copied(), "{one:?} {from}");
            }
            if places.is_solid() && !cells.is_empty() {
                assert_eq!(cells.last().unwrap() - cells.first().unwrap() + 1, cells.len() as i64, "{one:?}");
            }
            let common = cells.intersection(&others).count() as u64;
            assert_eq!(places.common(&other_places, 1 << 20), Some(common), "{one:?} {other:?}");
            if places.is_apart(&other_places) {
                assert_eq!(common, 0, "{one:?} {other:?}");
                apart += 1;
            }
            met += usize::from(common > 0);
            disjoint += usize::from(common == 0);
        }
        assert!(apart > 500 && met > 500 && disjoint > 500, "{apart} {met} {disjoint}");
    }

    #[test]
    fn a_billion_elements_take_a_moment() {
        let floats = |sizes: &[i64], strides: &[i64], offset| Shown {
            dtype: String::new(),
            itemsize: 4,
            layout: Layout { sizes: sizes.into(), strides: strides.into(), offset },
        };
        let whole = floats(&[1000, 1000, 1000], &[4, 4000, 4_000_000], 0);
        let even = floats(&[1000, 1000, 500], &[4_000_000, 4000, 8], 0);
        let odd = floats(&[1000, 1000, 500], &[4_000_000, 4000, 8], 4);
        let left = floats(&[1000, 1000, 500], &[4_000_000, 4000, 4], 0);
        let right = floats(&[1000, 1000, 500], &[4_000_000, 4000, 4], 2000);
        let [whole, even, odd, left, right] = [whole, even, odd, left, right].map(|shown| Places::of(&shown, 0, 4));
        assert_eq!(whole.common(&even, 0), Some(500_000_000));
        assert_eq!((even.common(&odd, 0), left.common(&right, 0)), (Some(0), Some(0)));
        assert_eq!(even.within(10..1_000_000_000), Some(499_999_995));
        assert_eq!(even.common(&left, 0), None);
        // Of overlapping steps without order, nothing is counted.
        let tangled = Places::of(&floats(&[1 << 20, 1 << 20], &[8, 12], 0), 0, 4);
        assert_eq!((tangled.count(), tangled.within(0..9)), (None, None));
        assert_eq!(tangled.common(&Places::solid(-5..0), 9), Some(0));
    }
}
