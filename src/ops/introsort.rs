//! Sorting and selecting as C++'s standard library does it, because PyTorch's `sort`, `argsort` and `topk` show the
//! order in which it leaves equal elements. Quicksort with a median of three, heaps when it degenerates, insertion sort
//! at the end. Knows nothing of tensors. All of them end early, with an error, when the thread is interrupted.

use crate::tensor::{Error, ErrorKind, Result, interrupt};
use std::cmp::Ordering;

/// Below this many elements quicksort stops and insertion sort finishes.
const SMALL: usize = 16;

/// An element is compared so often that it counts as several steps of a kernel.
const LOOKS: usize = 16;

/// Returns how often quicksort may halve the range before a heap takes over.
fn depth_limit(length: usize) -> u32 {
    2 * length.checked_ilog2().unwrap_or(0)
}

/// `std::sort`: not stable.
pub(super) fn sort<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) -> Result<()> {
    sort_loosely(items, depth_limit(items.len()), less)?;
    let (head, tail) = (items.len().min(SMALL), items.len());
    insertion_sort(&mut items[..head], less);
    for i in head..tail {
        interrupt::check_at(LOOKS * i)?;
        insert_unguarded(items, i, less);
    }
    Ok(())
}

/// `std::stable_sort`: pieces are sorted by themselves and merged two by two.
pub(super) fn stable_sort<T: Copy>(items: &mut [T], order: &impl Fn(&T, &T) -> Ordering) -> Result<()> {
    for piece in items.chunks_mut(interrupt::STRIDE) {
        piece.sort_by(order);
        interrupt::check()?;
    }
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

/// `std::partial_sort`: the `count` least items, sorted, come first.
pub(super) fn partial_sort<T: Copy>(items: &mut [T], count: usize, less: &impl Fn(&T, &T) -> bool) -> Result<()> {
    heap_select(items, count, less)?;
    sort_heap(&mut items[..count], less)
}

/// `std::nth_element`: the item that belongs at `nth` gets there, with none greater before it.
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

/// Sorts so far that no item is more than a small range from its place.
fn sort_loosely<T: Copy>(items: &mut [T], mut depth: u32, less: &impl Fn(&T, &T) -> bool) -> Result<()> {
    let mut last = items.len();
    while last > SMALL {
        if depth == 0 {
            return partial_sort(&mut items[..last], last, less);
        }
        depth -= 1;
        let cut = partition(&mut items[..last], less)?;
        sort_loosely(&mut items[cut..last], depth, less)?;
        last = cut;
    }
    Ok(())
}

/// Splits around the median of the second, middle and last item, which is put first. Needs four items.
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
    let (mut low, mut high) = (1, items.len());
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

fn insertion_sort<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    for i in 1..items.len() {
        if less(&items[i], &items[0]) {
            items[..=i].rotate_right(1);
        } else {
            insert_unguarded(items, i, less);
        }
    }
}

/// Moves an item down to its place; one not greater than it must come before.
fn insert_unguarded<T: Copy>(items: &mut [T], mut i: usize, less: &impl Fn(&T, &T) -> bool) {
    let item = items[i];
    while i > 0 && less(&item, &items[i - 1]) {
        items[i] = items[i - 1];
        i -= 1;
    }
    items[i] = item;
}

/// Gathers the `count` least items, as a heap, at the front.
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
