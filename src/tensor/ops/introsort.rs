//! Sorts and selects by the algorithms of C++'s standard library, because the order of equal elements shows in the
//! results of PyTorch's `sort`, `argsort` and `topk`. Quicksort with a median of three, heapsort if it degenerates,
//! insertion sort at the end. Independent of tensors. All functions fail early if the thread is interrupted.

use crate::thresholds::SORTED_ALONE;
use crate::{Error, ErrorKind, Result, interrupt, limits, parallel};
use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

/// Quicksort stops below this number of elements, and insertion sort finishes.
const SMALL: usize = 16;

/// The number of items that quicksort scans on one side before it exchanges misplaced ones.
const LOOKED_AT: usize = 64;

/// The cost of sorting one element, in steps of a kernel.
const LOOKS: usize = 16;

/// Returns how often quicksort may split the range before heapsort takes over.
fn depth_limit(length: usize) -> u32 {
    2 * length.checked_ilog2().unwrap_or(0)
}

/// `std::sort`; not stable.
pub(super) fn sort<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) -> Result<()> {
    sort_nearly(items, depth_limit(items.len()), less)?;
    let (head, tail) = (items.len().min(SMALL), items.len());
    insertion_sort(&mut items[..head], less);
    for i in head..tail {
        interrupt::check_at(LOOKS * i)?;
        insert_unguarded(items, i, less);
    }
    Ok(())
}

/// Like [`sort`], on all cores. `less` must be a total order. Parts split by quicksort are independent.
pub(super) fn sort_shared<T: Copy + Send>(items: &mut [T], less: &(impl Fn(&T, &T) -> bool + Sync)) -> Result<()> {
    let length = items.len();
    let mut parts = Vec::new();
    split(items, depth_limit(length), length.div_ceil(PARTS * parallel::cores()).max(SORTED_ALONE), less, &mut parts)?;
    let parts: Vec<_> = parts.into_iter().map(Mutex::new).collect();
    parallel::tasks(parts.len(), LOOKS.saturating_mul(length), &|k| {
        let Some(part) = parts.get(k) else { return Ok(()) };
        let (items, depth) = &mut *part.lock().unwrap_or_else(PoisonError::into_inner);
        sort_nearly(items, *depth, less)?;
        for i in 1..items.len() {
            interrupt::check_at(LOOKS * i)?;
            insert_unguarded(items, i, less);
        }
        Ok(())
    })
}

/// The number of parts per core that an array is split into; quicksort's parts vary widely in length.
const PARTS: usize = 8;

/// Runs [`sort_nearly`] until no part has more than `most` items. Lists the parts, each with the number of splits
/// still allowed.
fn split<'i, T: Copy>(
    mut items: &'i mut [T],
    mut depth: u32,
    most: usize,
    less: &impl Fn(&T, &T) -> bool,
    parts: &mut Vec<(&'i mut [T], u32)>,
) -> Result<()> {
    while items.len() > most && depth > 0 {
        depth -= 1;
        let cut = partition(items, less)?;
        let (low, high) = items.split_at_mut(cut);
        split(high, depth, most, less, parts)?;
        items = low;
    }
    limits::push(parts, (items, depth))
}

/// `std::stable_sort`: sorts pieces on all cores, then merges them two by two.
pub(super) fn stable_sort<T: Copy + Send>(items: &mut [T], order: &(impl Fn(&T, &T) -> Ordering + Sync)) -> Result<()> {
    let work = LOOKS.saturating_mul(items.len());
    parallel::parts_of(items, interrupt::STRIDE, work, &|_, piece| {
        piece.sort_by(order);
        Ok(())
    })?;
    let mut width = interrupt::STRIDE;
    if items.len() <= width {
        return Ok(());
    }
    let mut merged: Vec<T> = Vec::new();
    merged.try_reserve_exact(items.len()).map_err(|_| Error::new(ErrorKind::MemoryError, ""))?;
    while width < items.len() {
        merged.clear();
        for pair in items.chunks(width.saturating_mul(2)) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let ([first, rest_left @ ..], [second, rest_right @ ..]) = (left, right) {
                interrupt::check_at(LOOKS * merged.len())?;
                if order(second, first) == Ordering::Less {
                    merged.push(*second);
                    right = rest_right;
                } else {
                    merged.push(*first);
                    left = rest_left;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        items.copy_from_slice(&merged);
        width = width.saturating_mul(2);
    }
    Ok(())
}

/// `std::partial_sort`: puts the `count` smallest items first, sorted.
pub(super) fn partial_sort<T: Copy>(items: &mut [T], count: usize, less: &impl Fn(&T, &T) -> bool) -> Result<()> {
    heap_select(items, count, less)?;
    sort_heap(&mut items[..count], less)
}

/// `std::nth_element`: puts the item that belongs at `nth` there, with no greater item before it.
pub(super) fn nth_element<T: Copy>(items: &mut [T], nth: usize, less: &impl Fn(&T, &T) -> bool) -> Result<()> {
    if nth >= items.len() {
        return Ok(());
    }
    let (mut first, mut last) = (0, items.len());
    let mut depth = depth_limit(items.len());
    while last - first > 3 {
        if depth == 0 {
            heap_select(&mut items[first..last], nth + 1 - first, less)?;
            items.swap(first, nth);
            return Ok(());
        }
        depth -= 1;
        let cut = first + partition(&mut items[first..last], less)?;
        if cut <= nth {
            first = cut;
        } else {
            last = cut;
        }
    }
    insertion_sort(&mut items[first..last], less);
    Ok(())
}

/// Sorts until every item is within a small range of its final position.
fn sort_nearly<T: Copy>(items: &mut [T], mut depth: u32, less: &impl Fn(&T, &T) -> bool) -> Result<()> {
    let mut last = items.len();
    while last > SMALL {
        if depth == 0 {
            return partial_sort(&mut items[..last], last, less);
        }
        depth -= 1;
        let cut = partition(&mut items[..last], less)?;
        sort_nearly(&mut items[cut..last], depth, less)?;
        last = cut;
    }
    Ok(())
}

/// Partitions around the median of the second, middle and last item, which is put first. Needs at least four items.
fn partition<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) -> Result<usize> {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let at = |i: usize| &items[i];
    let median = if less(at(a), at(b)) {
        if less(at(b), at(c)) {
            b
        } else if less(at(a), at(c)) {
            c
        } else {
            a
        }
    } else if less(at(a), at(c)) {
        a
    } else if less(at(b), at(c)) {
        c
    } else {
        b
    };
    items.swap(0, median);
    let (mut low, mut high) = exchange_many(items, less)?;
    loop {
        // The median of three is a sentinel on both sides.
        while less(&items[low], &items[0]) {
            low += 1;
        }
        high -= 1;
        while less(&items[0], &items[high]) {
            high -= 1;
        }
        if low >= high {
            return Ok(low);
        }
        items.swap(low, high);
        low += 1;
        interrupt::check_at(LOOKS * low)?;
    }
}

/// Makes the exchanges of [`partition`] without unpredictable branches, while many remain: first records which items
/// are on the wrong side. Returns how far both sides have advanced.
fn exchange_many<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) -> Result<(usize, usize)> {
    let (mut low, mut high, median) = (1, items.len(), items[0]);
    let (mut from_low, mut from_high) = (Misplaced::NONE, Misplaced::NONE);
    while high - low > 2 * LOOKED_AT {
        interrupt::check()?;
        if from_low.is_empty() {
            from_low = Misplaced::among(items[low..][..LOOKED_AT].iter(), |item| !less(item, &median));
        }
        if from_high.is_empty() {
            from_high = Misplaced::among(items[high - LOOKED_AT..high].iter().rev(), |item| !less(&median, item));
        }
        let pairs = from_low.left().iter().zip(from_high.left());
        let count = pairs.len();
        pairs.for_each(|(&i, &j)| items.swap(low + usize::from(i), high - 1 - usize::from(j)));
        from_low.next += count;
        from_high.next += count;
        low += if from_low.is_empty() { LOOKED_AT } else { 0 };
        high -= if from_high.is_empty() { LOOKED_AT } else { 0 };
    }
    // Misplaced items without a partner: resume where the first of them is.
    low += from_low.left().first().map_or(0, |&i| usize::from(i));
    high -= from_high.left().first().map_or(0, |&j| usize::from(j));
    Ok((low, high))
}

/// The items of one scan that are on the wrong side, and how many of them have been exchanged.
struct Misplaced {
    places: [u8; LOOKED_AT],
    count: usize,
    next: usize,
}

impl Misplaced {
    const NONE: Misplaced = Misplaced { places: [0; LOOKED_AT], count: 0, next: 0 };

    fn among<'i, T: 'i>(items: impl Iterator<Item = &'i T>, is_misplaced: impl Fn(&T) -> bool) -> Misplaced {
        let mut all = Misplaced::NONE;
        for (i, item) in (0..).zip(items) {
            all.places[all.count % LOOKED_AT] = i;
            all.count += usize::from(is_misplaced(item));
        }
        all
    }

    fn left(&self) -> &[u8] {
        &self.places[self.next..self.count]
    }

    fn is_empty(&self) -> bool {
        self.next == self.count
    }
}

fn insertion_sort<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    for i in 1..items.len() {
        if less(&items[i], &items[0]) {
            items[..=i].rotate_right(1);
        } else {
            insert_unguarded(items, i, less);
        }
    }
}

/// Moves an item down to its position; an item that is not greater must precede it.
fn insert_unguarded<T: Copy>(items: &mut [T], mut i: usize, less: &impl Fn(&T, &T) -> bool) {
    let item = items[i];
    while i > 0 && less(&item, &items[i - 1]) {
        items[i] = items[i - 1];
        i -= 1;
    }
    items[i] = item;
}

/// Gathers the `count` smallest items, as a heap, at the front.
fn heap_select<T: Copy>(items: &mut [T], count: usize, less: &impl Fn(&T, &T) -> bool) -> Result<()> {
    let (heap, rest) = items.split_at_mut(count);
    if heap.is_empty() {
        return Ok(());
    }
    for parent in (0..heap.len() / 2).rev() {
        interrupt::check_at(LOOKS * parent)?;
        sift(heap, parent, heap[parent], less);
    }
    for (i, item) in rest.iter_mut().enumerate() {
        interrupt::check_at(LOOKS * i)?;
        if less(item, &heap[0]) {
            let smaller = std::mem::replace(item, heap[0]);
            sift(heap, 0, smaller, less);
        }
    }
    Ok(())
}

fn sort_heap<T: Copy>(heap: &mut [T], less: &impl Fn(&T, &T) -> bool) -> Result<()> {
    for last in (1..heap.len()).rev() {
        interrupt::check_at(LOOKS * last)?;
        let item = heap[last];
        heap[last] = heap[0];
        sift(&mut heap[..last], 0, item, less);
    }
    Ok(())
}

/// Fills the hole with `item`: the hole sinks to the bottom along the greater children, and the item rises from there.
fn sift<T: Copy>(heap: &mut [T], top: usize, item: T, less: &impl Fn(&T, &T) -> bool) {
    let mut hole = top;
    loop {
        let right = 2 * hole + 2;
        let child = match right.cmp(&heap.len()) {
            std::cmp::Ordering::Less if less(&heap[right], &heap[right - 1]) => right - 1,
            std::cmp::Ordering::Less => right,
            std::cmp::Ordering::Equal => right - 1,
            std::cmp::Ordering::Greater => break,
        };
        heap[hole] = heap[child];
        hole = child;
    }
    while hole > top {
        let parent = (hole - 1) / 2;
        if !less(&heap[parent], &item) {
            break;
        }
        heap[hole] = heap[parent];
        hole = parent;
    }
    heap[hole] = item;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference for [`sort_shared`]: `std::sort` written out item by item, on one core.
    fn sort_as_written(items: &mut [(u32, usize)]) {
        fn cut(items: &mut [(u32, usize)]) -> usize {
            let (first, middle, last) = (items[1].0, items[items.len() / 2].0, items[items.len() - 1].0);
            let three = [1, items.len() / 2, items.len() - 1];
            let median = match first < middle {
                true if middle < last => three[1],
                true => three[if first < last { 2 } else { 0 }],
                false if first < last => three[0],
                false => three[if middle < last { 2 } else { 1 }],
            };
            items.swap(0, median);
            let (mut low, mut high) = (1, items.len());
            loop {
                while items[low].0 < items[0].0 {
                    low += 1;
                }
                high -= 1;
                while items[0].0 < items[high].0 {
                    high -= 1;
                }
                if low >= high {
                    return low;
                }
                items.swap(low, high);
                low += 1;
            }
        }
        fn halve(mut items: &mut [(u32, usize)]) {
            while items.len() > SMALL {
                let middle = cut(items);
                let (low, high) = items.split_at_mut(middle);
                halve(high);
                items = low;
            }
        }
        halve(items);
        for i in 1..items.len() {
            let mut k = i;
            while k > 0 && items[k].0 < items[k - 1].0 {
                items.swap(k - 1, k);
                k -= 1;
            }
        }
    }

    #[test]
    fn cores_and_blocks_leave_equal_items_as_one_item_after_another_does() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32
        };
        let mut lengths = vec![0, 1, 2, 100_000];
        lengths.extend(
            [SMALL, LOOKED_AT, 2 * LOOKED_AT, 3 * LOOKED_AT, SORTED_ALONE, 2 * SORTED_ALONE]
                .iter()
                .flat_map(|&n| n - 1..n + 3),
        );
        for (length, kinds) in
            lengths.into_iter().flat_map(|length| [2, 10, 1000, u32::MAX].map(|kinds| (length, kinds)))
        {
            let items: Vec<_> = (0..length).map(|i| (random() % kinds, i)).collect();
            let mut wanted = items.clone();
            sort_as_written(&mut wanted);
            for cores in [1, 2, 3, 7] {
                parallel::set_cores(cores);
                let mut got = items.clone();
                sort_shared(&mut got, &|a: &(u32, usize), b: &(u32, usize)| a.0 < b.0).expect("nobody interrupts");
                assert!(got == wanted, "{length} items of {kinds} kinds on {cores} cores");
            }
            parallel::set_cores(0);
            let mut got = items;
            sort(&mut got, &|a: &(u32, usize), b: &(u32, usize)| a.0 < b.0).expect("nobody interrupts");
            assert!(got == wanted, "{length} items of {kinds} kinds");
        }
    }
}
