//! Freed memories, kept for results of the same size: getting zeroed pages from the system takes longer than computing
//! most large results, and getting memory from the allocator longer than computing most small ones. Each thread keeps its
//! own; they are freed when it ends. Code that takes a memory must write all of it before it is read.

use super::device::Device;
use super::limits;
use super::memory::Memory;
use super::thresholds;
use std::cell::RefCell;
use std::rc::Rc;

/// How many small memories are kept.
const MOST_SMALL: usize = 16;

thread_local! {
    static SPARE: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
    /// Small memories with the allocation of their handle.
    static SMALL_SPARE: RefCell<Vec<Rc<Memory>>> = const { RefCell::new(Vec::new()) };
    /// What stands in a storage that gave its memory away.
    static NONE: Rc<Memory> = Rc::new(Memory::Meta { nbytes: 0, device: Device::META });
}

/// Keeps the memory of a storage that is dropped, if it is worth it and nobody else has it.
#[inline]
pub(crate) fn keep_of(memory: &mut Rc<Memory>) {
    let nbytes = memory.nbytes();
    if (nbytes > thresholds::SMALL_MEMORY && !is_large(nbytes))
        || !matches!(**memory, Memory::Heap(_))
        || Rc::get_mut(memory).is_none()
    {
        return;
    }
    let Ok(none) = NONE.try_with(Rc::clone) else { return };
    let memory = std::mem::replace(memory, none);
    if nbytes > thresholds::SMALL_MEMORY {
        return Rc::into_inner(memory).into_iter().for_each(keep);
    }
    let _ = SMALL_SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.len() == MOST_SMALL {
            spare.remove(0);
        }
        spare.push(memory);
    });
}

/// Takes a memory of this size, with arbitrary contents.
#[inline]
pub(crate) fn take_of(nbytes: usize) -> Option<Rc<Memory>> {
    if nbytes > thresholds::SMALL_MEMORY {
        return take(nbytes).map(Rc::new);
    }
    SMALL_SPARE.with(|spare| {
        let mut spare = spare.borrow_mut();
        let place = spare.iter().rposition(|memory| memory.nbytes() == nbytes)?;
        Some(spare.swap_remove(place))
    })
}

/// Returns whether a memory of this size is worth keeping.
fn is_large(nbytes: usize) -> bool {
    nbytes >= thresholds::SPARE
}

/// Keeps a large memory that is no longer used. Frees the oldest ones if the total gets too large.
fn keep(memory: Memory) {
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

/// Takes a large memory of this size, with arbitrary contents.
fn take(nbytes: usize) -> Option<Memory> {
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
    SMALL_SPARE.with(|spare| spare.borrow_mut().clear());
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
    fn a_small_memory_is_kept_if_nobody_else_has_it() {
        let heap = || match Memory::heap(24) {
            Ok(memory) => Rc::new(memory),
            Err(error) => panic!("{error}"),
        };
        let (mut first, mut second) = (heap(), heap());
        let (address, other) = (first.address(), second.clone());
        keep_of(&mut first);
        keep_of(&mut second);
        assert!(take_of(23).is_none());
        assert_eq!(take_of(24).map(|memory| memory.address()), Some(address));
        assert!(take_of(24).is_none() && Rc::ptr_eq(&second, &other));
        (0..3 * MOST_SMALL).for_each(|_| keep_of(&mut heap()));
        assert_eq!((0..3 * MOST_SMALL).filter_map(|_| take_of(24)).count(), MOST_SMALL);
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
