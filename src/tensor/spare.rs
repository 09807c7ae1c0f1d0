//! Large freed memories, kept for results of the same size: getting zeroed pages from the system takes longer than
//! computing most results. Each thread keeps its own; they are freed when it ends. Code that takes a memory must write
//! all of it before it is read.

use super::limits;
use super::memory::Memory;
use super::thresholds;
use std::cell::RefCell;

thread_local! {
    static SPARE: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

/// Returns whether a memory of this size is worth keeping.
pub(crate) fn is_large(nbytes: usize) -> bool {
    nbytes >= thresholds::SPARE
}

/// Keeps a memory that is no longer used. Frees the oldest ones if the total gets too large.
pub(crate) fn keep(memory: Memory) {
    if !matches!(memory, Memory::Heap(_)) || !is_large(memory.nbytes()) {
        return;
    }
    // A thread that is ending keeps nothing.
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        spare.push(memory);
        let mut total: usize = spare.iter().map(Memory::nbytes).sum();
        while total > limits::spare() {
            total -= spare.remove(0).nbytes();
        }
    });
}

/// Takes a memory of this size, with arbitrary contents.
pub(crate) fn take(nbytes: usize) -> Option<Memory> {
    if !is_large(nbytes) {
        return None;
    }
    SPARE.with(|spare| {
        let mut spare = spare.borrow_mut();
        let place = spare.iter().rposition(|memory| memory.nbytes() == nbytes)?;
        Some(spare.remove(place))
    })
}

/// Returns all memories to the system.
pub(crate) fn clear() {
    SPARE.with(|spare| spare.borrow_mut().clear());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_kept_for_one_of_its_size() {
        let heap = |nbytes| match Memory::heap(nbytes) {
            Ok(memory) => memory,
            Err(error) => panic!("{error}"),
        };
        let (first, second) = (heap(thresholds::SPARE), heap(thresholds::SPARE + 1));
        let addresses = (first.address(), second.address());
        [first, second, heap(thresholds::SPARE - 1)].into_iter().for_each(keep);
        assert!(take(thresholds::SPARE - 1).is_none() && take(thresholds::SPARE + 2).is_none());
        assert_eq!(take(thresholds::SPARE).map(|memory| memory.address()), Some(addresses.0));
        assert!(take(thresholds::SPARE).is_none());
        clear();
        assert!(take(thresholds::SPARE + 1).is_none());
    }

    #[test]
    fn not_more_is_kept_than_may_be() {
        let size = limits::spare() / 2;
        for _ in 0..3 {
            Memory::heap(size).into_iter().for_each(keep);
        }
        assert!(take(size).is_some() && take(size).is_some() && take(size).is_none());
        Memory::heap(limits::spare() + 1).into_iter().for_each(keep);
        assert!(take(limits::spare() + 1).is_none());
    }
}
