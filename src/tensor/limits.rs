//! Limits on memory. Tensor allocations are checked against the machine, because the system would grant a request that
//! is too large and later kill a process for lack of memory. Other objects whose length comes from a number (a list, a
//! text, a tuple of tensors, a buffer) are checked against a budget before they are allocated: [`room`], [`room_for`],
//! [`list`]. [`check_growth`] detects the sum of many small allocations.

use super::error::{Error, ErrorKind, Result};
use crate::system::{Machine, System};
use std::fmt::Display;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum bytes of one list, text, tuple or buffer, unless changed by [`set_budget`]: 960 MiB, so that the process
/// stays below a gigabyte with the largest of them.
pub const BUDGET: usize = 15 << 26;

static OBJECT: AtomicUsize = AtomicUsize::new(BUDGET);

/// Sets the maximum bytes of one list, text, tuple or buffer.
pub fn set_budget(nbytes: usize) {
    OBJECT.store(nbytes, Ordering::Relaxed);
}

/// Returns the maximum bytes of one list, text, tuple or buffer.
pub fn budget() -> usize {
    OBJECT.load(Ordering::Relaxed)
}

/// Checks that an object of `nbytes` bytes may be allocated.
///
/// # Errors
/// MemoryError without a message, as in Python.
#[inline]
pub fn room(nbytes: usize) -> Result<()> {
    if nbytes > budget() {
        return Err(full());
    }
    // Many objects that are allowed one by one may exceed the memory together.
    if nbytes >= SEEN && GRANTED.fetch_add(nbytes, Ordering::Relaxed) >= LARGE {
        GRANTED.store(0, Ordering::Relaxed);
        return check_growth();
    }
    Ok(())
}

/// Smaller objects are not counted; code that creates many of them calls [`check_growth`].
const SEEN: usize = 1 << 16;

/// Bytes of objects granted since the last check of the process.
static GRANTED: AtomicUsize = AtomicUsize::new(0);

/// Python's error for memory that cannot be allocated.
pub fn full() -> Error {
    Error::new(ErrorKind::MemoryError, "")
}

/// Checks that the process still has memory for an object that grows. The check takes a few microseconds.
///
/// # Errors
/// Those of [`room`].
pub fn check_growth() -> Result<()> {
    let Some((reserved, resident)) = System::used_memory() else { return Ok(()) };
    let fits = |used: usize, limit: usize| used <= limit - limit / 8;
    // Other processes may use the memory: refuse only if much of it is used by this one.
    let crowded = || resident > total() / 4 && available() < total() / 16;
    if fits(resident, total()) && fits(reserved, address_limit()) && !crowded() { Ok(()) } else { Err(full()) }
}

/// Returns the size of the address space that the process may use.
fn address_limit() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| System::address_limit().unwrap_or(usize::MAX))
}

/// Checks that an object of `count` items of type `T` may be allocated.
///
/// # Errors
/// Those of [`room`].
#[inline]
pub fn room_for<T>(count: usize) -> Result<()> {
    room(count.saturating_mul(size_of::<T>()))
}

/// Checks that an object may grow, item by item, to `count` items of type `T`.
///
/// # Errors
/// Those of [`room`].
#[inline]
pub fn grown_to<T>(count: usize) -> Result<()> {
    if count.saturating_mul(size_of::<T>()) <= budget() { Ok(()) } else { Err(full()) }
}

/// Converts a requested number of items: 0 for a negative number, and `usize::MAX`, which is always refused, for one
/// that exceeds the address size.
#[inline]
pub fn count(asked: i64) -> usize {
    usize::try_from(asked.max(0)).unwrap_or(usize::MAX)
}

/// Returns an empty vector with capacity for the `count` items of an object, for counts that come from the user.
///
/// # Errors
/// Those of [`room`].
pub fn list<T>(count: usize) -> Result<Vec<T>> {
    room_for::<T>(count)?;
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| full())?;
    Ok(items)
}

/// Smaller requests are granted without checking the machine.
const LARGE: usize = 256 << 20;

/// Bytes allocated and not yet freed.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Returns whether `nbytes` more may be allocated, and counts them if so; see [`give_back`]. What is refused is not counted for
/// a moment, in which another thread would be refused.
pub fn take(nbytes: usize) -> bool {
    let granted = LIVE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |before| {
        let sum = before.checked_add(nbytes)?;
        let fits = if nbytes < LARGE {
            before < total() / 2 || sum <= total()
        } else {
            sum <= total() && nbytes <= available()
        };
        fits.then_some(sum)
    });
    granted.is_ok()
}

/// Counts `nbytes` as free again.
pub(crate) fn give_back(nbytes: usize) {
    LIVE.fetch_sub(nbytes, Ordering::Relaxed);
}

/// PyTorch's error for memory that cannot be allocated.
pub fn refusal(nbytes: impl Display) -> Error {
    Error::runtime(format!(
        "[enforce fail at alloc_cpu.cpp:119] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate \
         {nbytes} bytes. Error code 12 (Cannot allocate memory)"
    ))
}

/// Returns an empty vector with capacity for `count` items, for temporary data of kernels.
///
/// # Errors
/// [`refusal`].
pub fn vector<T>(count: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    reserve(&mut items, count)?;
    Ok(items)
}

/// Returns a vector of `count` equal items, allocated like [`vector`].
///
/// # Errors
/// [`refusal`].
pub fn filled<T: Clone>(item: T, count: usize) -> Result<Vec<T>> {
    let mut items = vector(count)?;
    items.resize(count, item);
    Ok(items)
}

/// Appends to a vector of unknown final length.
///
/// # Errors
/// Those of [`vector`].
#[inline]
pub fn push<T>(items: &mut Vec<T>, item: T) -> Result<()> {
    if items.len() == items.capacity() {
        reserve(items, items.len().max(16))?;
    }
    items.push(item);
    Ok(())
}

/// Appends those of at most `count` items that are wanted. No branch depends on that, because no processor could
/// predict it.
///
/// # Errors
/// Those of [`vector`].
#[inline]
pub(crate) fn push_wanted<T: Copy + Default>(
    items: &mut Vec<T>,
    count: usize,
    candidates: impl Iterator<Item = (T, bool)>,
) -> Result<()> {
    let start = items.len();
    if items.capacity() - start < count {
        reserve(items, count.max(start))?;
    }
    items.resize(start + count, T::default());
    let mut length = start;
    for (item, wanted) in candidates {
        // The last slot is free as long as an item may follow.
        if let Some(slot) = items.get_mut(length) {
            *slot = item;
        }
        length += usize::from(wanted);
    }
    items.truncate(length);
    Ok(())
}

/// Reserves capacity for `more` items. Checked like other memory, but not counted, because kernels free it soon.
fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    let nbytes = items.len().saturating_add(more).saturating_mul(size_of::<T>());
    if !take(nbytes) {
        return Err(refusal(nbytes));
    }
    give_back(nbytes);
    items.try_reserve_exact(more).map_err(|_| refusal(nbytes))
}

/// Sets the maximum bytes of all tensors together, instead of the machine's memory.
pub fn set_total(nbytes: usize) {
    CHOSEN.store(nbytes, Ordering::Relaxed);
}

static CHOSEN: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Returns the smaller of the machine's memory and [`set_total`]; unlimited if neither is known.
fn total() -> usize {
    static TOTAL: OnceLock<usize> = OnceLock::new();
    let machine = *TOTAL.get_or_init(|| System::memory().unwrap_or(usize::MAX));
    machine.min(CHOSEN.load(Ordering::Relaxed))
}

/// Returns the number of idle bytes that may be kept for reuse.
pub fn spare() -> usize {
    (256 << 20).min(total() / 16)
}

/// Returns the memory available now without taking it from other processes.
fn available() -> usize {
    System::free_memory().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_and_not_counted() {
        let before = LIVE.load(Ordering::Relaxed);
        assert!(!take(1 << 60) && !take(usize::MAX - before));
        assert!(take(1000));
        give_back(1000);
        assert!(vector::<u64>(usize::MAX / 4).is_err() && vector::<u64>(1 << 57).is_err());
        assert!(
            check_growth().is_ok()
                && address_limit() > 0
                // Windows counts shared pages among the resident ones, and not among the reserved.
                && System::used_memory().is_none_or(|(reserved, resident)| reserved >= resident || cfg!(windows))
        );
        assert!(room(BUDGET).is_ok() && room(BUDGET + 1).is_err() && room_for::<u64>(usize::MAX).is_err());
        assert!(list::<u64>(BUDGET).is_err() && list::<u64>(10).is_ok_and(|list| list.is_empty()));
        let mut items = Vec::new();
        assert!((0..100).all(|i| push(&mut items, i).is_ok()) && items.iter().copied().eq(0..100));
    }
}
