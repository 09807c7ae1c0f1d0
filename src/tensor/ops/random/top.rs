//! The indices of the greatest values, in the order of `torch.topk`.
//!
//! Among equal values, that order results from C++'s `std::partial_sort`, `std::nth_element` and `std::sort` in the GNU
//! implementation. The same steps are taken here: quicksort with the median of three as pivot, switching to a heap if
//! that performs badly. Ranges are slices; "before" means closer to the front of the result.

use std::mem::replace;

/// A value and its index.
type Entry = (f64, usize);

/// Ranges up to this length are left to the last pass of a sort.
const SHORT: usize = 16;

/// Returns the indices of the `k` greatest of `values`, greatest first; NaN counts as greater than all numbers.
///
/// Returns all indices if there are fewer than `k`.
pub(super) fn top(values: &[f64], k: usize) -> Vec<usize> {
    let k = k.min(values.len());
    if k == 0 {
        return Vec::new();
    }
    let mut queue: Vec<Entry> = values.iter().copied().zip(0..).collect();
    if k.saturating_mul(64) <= queue.len() {
        partial_sort(&mut queue, k);
    } else {
        nth_element(&mut queue, k - 1);
        sort(&mut queue[..k - 1]);
    }
    queue.into_iter().take(k).map(|(_, index)| index).collect()
}

/// Returns the index of the first maximum, like `torch.argmax`.
pub(super) fn first_greatest(values: &[f64]) -> Option<usize> {
    let entries = values.iter().copied().zip(0..);
    let greatest = entries.reduce(|best, entry| if before(&entry, &best) { entry } else { best });
    greatest.map(|(_, index)| index)
}

fn before(a: &Entry, b: &Entry) -> bool {
    (a.0.is_nan() && !b.0.is_nan()) || a.0 > b.0
}

/// Returns how many bad pivots are tolerated in a range of this length.
fn patience(length: usize) -> u32 {
    2 * length.checked_ilog2().unwrap_or(0)
}

/// Puts the entry that belongs at `nth` there, and all entries that sort before it in front of it.
fn nth_element(mut range: &mut [Entry], mut nth: usize) {
    let mut patience = patience(range.len());
    while range.len() > 3 {
        if patience == 0 {
            heap_select(range, nth + 1);
            range.swap(0, nth);
            return;
        }
        patience -= 1;
        let cut = partition(range);
        if cut <= nth {
            range = &mut range[cut..];
            nth -= cut;
        } else {
            range = &mut range[..cut];
        }
    }
    insertion_sort(range);
}

fn sort(range: &mut [Entry]) {
    sort_nearly(range, patience(range.len()));
    insertion_sort(range);
}

/// Sorts until all remaining disorder is within short ranges.
fn sort_nearly(mut range: &mut [Entry], mut patience: u32) {
    while range.len() > SHORT {
        if patience == 0 {
            partial_sort(range, range.len());
            return;
        }
        patience -= 1;
        let cut = partition(range);
        let (front, back) = range.split_at_mut(cut);
        sort_nearly(back, patience);
        range = front;
    }
}

/// The last pass keeps equal entries in order, like any stable sort.
fn insertion_sort(range: &mut [Entry]) {
    range.sort_by(|a, b| before(b, a).cmp(&before(a, b)));
}

/// Partitions a range of more than three entries around the median of its second, middle and last entry.
///
/// No entry of the back part sorts before one of the front part. Returns the start of the back part.
fn partition(range: &mut [Entry]) -> usize {
    let (a, b, c) = (1, range.len() / 2, range.len() - 1);
    let is_before = |i: usize, j: usize| before(&range[i], &range[j]);
    let median = match (is_before(a, b), is_before(b, c), is_before(a, c)) {
        (true, true, _) => b,
        (true, false, true) => c,
        (true, false, false) => a,
        (false, _, true) => a,
        (false, true, false) => c,
        (false, false, false) => b,
    };
    range.swap(0, median);
    let pivot = range[0];
    let (mut front, mut back) = (1, range.len());
    loop {
        while before(&range[front], &pivot) {
            front += 1;
        }
        back -= 1;
        while before(&pivot, &range[back]) {
            back -= 1;
        }
        if front >= back {
            return front;
        }
        range.swap(front, back);
        front += 1;
    }
}

/// Puts the first `k` entries of the sorted order in front, sorted.
fn partial_sort(range: &mut [Entry], k: usize) {
    heap_select(range, k);
    for end in (1..k).rev() {
        let first = range[0];
        let last = replace(&mut range[end], first);
        sift(&mut range[..end], 0, last);
    }
}

/// Puts the first `k` entries of the sorted order in front, as a heap with the last of them on top.
fn heap_select(range: &mut [Entry], k: usize) {
    let (heap, rest) = range.split_at_mut(k);
    for hole in (0..k / 2).rev() {
        let entry = heap[hole];
        sift(heap, hole, entry);
    }
    for entry in rest {
        if before(entry, &heap[0]) {
            let better = replace(entry, heap[0]);
            sift(heap, 0, better);
        }
    }
}

/// Fills the hole in a heap with `entry`: the hole sinks to a leaf, and the entry rises from there.
fn sift(heap: &mut [Entry], top: usize, entry: Entry) {
    let mut hole = top;
    while 2 * hole + 1 < heap.len() {
        let (left, right) = (2 * hole + 1, 2 * hole + 2);
        let child = if right < heap.len() && !before(&heap[right], &heap[left]) { right } else { left };
        heap[hole] = heap[child];
        hole = child;
    }
    while hole > top {
        let parent = (hole - 1) / 2;
        if !before(&heap[parent], &entry) {
            break;
        }
        heap[hole] = heap[parent];
        hole = parent;
    }
    if let Some(slot) = heap.get_mut(hole) {
        *slot = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greatest_values_with_ties() {
        // The k greatest of n values that repeat 0, 1, 2.
        let expected: [(usize, usize, &[usize]); 7] = [
            (20, 20, &[2, 17, 5, 14, 8, 11, 19, 4, 7, 1, 13, 16, 10, 15, 18, 3, 12, 9, 0, 6]),
            (20, 5, &[5, 11, 8, 14, 17]),
            (3, 2, &[2, 1]),
            (200, 3, &[8, 5, 2]),
            (70, 1, &[2]),
            (10, 1, &[2]),
            (4, 4, &[2, 1, 0, 3]),
        ];
        for (n, k, expected) in expected {
            let values: Vec<f64> = (0..n).map(|i| (i * 7 % 3) as f64).collect();
            assert_eq!(top(&values, k), expected, "{k} of {n}");
        }
        assert_eq!(top(&[1.0, f64::NAN, 2.0, f64::NAN, 3.0], 3), [1, 3, 4]);
        assert!(top(&[], 3).is_empty());
    }
}
