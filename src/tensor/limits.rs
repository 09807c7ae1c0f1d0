//! Limits on memory. Requests of tensors are checked against the machine: a larger request would not fail at once; the
//! system would promise it and later kill some process to keep the promise. Anything else whose length a number decides
//! (a list, a text, a tuple of tensors, a buffer) is checked against a budget before it is made: [`room`],
//! [`room_for`], [`list`]. [`look`] notices what many small steps gather.

use super::error::{Error, ErrorKind, Result};
use crate::system::{Machine, System};
use std::fmt::Display;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that one list, text, tuple or buffer may have, unless [`set_budget`] has said otherwise: 960 MiB, so that the
/// process stays below a gigabyte with the largest of them.
pub const BUDGET: usize = 15 << 26;

static OBJECT: AtomicUsize = AtomicUsize::new(BUDGET);

/// Sets how many bytes one list, text, tuple or buffer may have.
pub fn set_budget(nbytes: usize) {
    OBJECT.store(nbytes, Ordering::Relaxed);
}

/// Returns the number of bytes one list, text, tuple or buffer may have.
pub fn budget() -> usize {
    OBJECT.load(Ordering::Relaxed)
}

/// Checks that an object of `nbytes` bytes may be made.
///
/// # Errors
/// MemoryError, without a text, as in Python.
#[inline]
pub fn room(nbytes: usize) -> Result<()> {
    if nbytes > budget() {
        return Err(full());
    }
    // Many objects that are allowed one by one may be too many together.
    if nbytes >= SEEN && GRANTED.fetch_add(nbytes, Ordering::Relaxed) >= LARGE {
        GRANTED.store(0, Ordering::Relaxed);
        return look();
    }
    Ok(())
}

/// Smaller objects are not counted: code that makes many of them is checked by [`look`].
const SEEN: usize = 1 << 16;

/// Bytes of objects granted since the last look at the process.
static GRANTED: AtomicUsize = AtomicUsize::new(0);

/// Python's error for memory that cannot be allocated.
pub fn full() -> Error {
    Error::new(ErrorKind::MemoryError, "")
}

/// Checks that there is still room for an object that moves as it grows. Looking at what the process has takes some
/// microseconds.
///
/// # Errors
/// Those of [`room`].
pub fn look() -> Result<()> {
    let Some((reserved, resident)) = System::used_memory() else { return Ok(()) };
    let fits = |used: usize, limit: usize| used <= limit - limit / 8;
    // What is left may be others' fault, unless much of it is here.
    let crowded = || resident > total() / 4 && available() < total() / 16;
    if fits(resident, total()) && fits(reserved, address_limit()) && !crowded() { Ok(()) } else { Err(full()) }
}

/// Returns the number of bytes of addresses the process may have.
fn address_limit() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| System::address_limit().unwrap_or(usize::MAX))
}

/// Checks that an object of `count` items of type `T` may be made.
///
/// # Errors
/// Those of [`room`].
#[inline]
pub fn room_for<T>(count: usize) -> Result<()> {
    room(count.saturating_mul(size_of::<T>()))
}

/// Checks that an object may grow, one after the other, to `count` items of type `T`.
///
/// # Errors
/// Those of [`room`].
#[inline]
pub fn grown_to<T>(count: usize) -> Result<()> {
    if count.saturating_mul(size_of::<T>()) <= budget() { Ok(()) } else { Err(full()) }
}

/// A number of items that someone asks for: none for a negative one, and `usize::MAX`, for which there is never room, where
/// addresses are shorter than the number.
#[inline]
pub fn count(asked: i64) -> usize {
    usize::try_from(asked.max(0)).unwrap_or(usize::MAX)
}

/// An empty vector with room for `count` items of an object: where the count comes from outside.
///
/// # Errors
/// Those of [`room`].
pub fn list<T>(count: usize) -> Result<Vec<T>> {
    room_for::<T>(count)?;
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| full())?;
    Ok(items)
}

/// Smaller requests are granted without looking at the machine.
const LARGE: usize = 256 << 20;

/// Bytes handed out and not yet given back.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Returns whether `nbytes` more may be allocated. If so they are counted; see [`give_back`].
pub fn take(nbytes: usize) -> bool {
    let before = LIVE.fetch_add(nbytes, Ordering::Relaxed);
    let fits = nbytes < LARGE && before < total() / 2
        || before.checked_add(nbytes).is_some_and(|sum| sum <= total()) && (nbytes < LARGE || nbytes <= available());
    if !fits {
        give_back(nbytes);
    }
    fits
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

/// An empty vector with room for `count` items: what a kernel notes down about as many elements.
///
/// # Errors
/// [`refusal`].
pub fn vector<T>(count: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    reserve(&mut items, count)?;
    Ok(items)
}

/// A vector of `count` equal items, as [`vector`].
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

/// Room for `more` items. Granted like other memory, but not counted: kernels do not keep it.
fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    let nbytes = items.len().saturating_add(more).saturating_mul(size_of::<T>());
    if !take(nbytes) {
        return Err(refusal(nbytes));
    }
    give_back(nbytes);
    items.try_reserve_exact(more).map_err(|_| refusal(nbytes))
}

/// Sets how many bytes all tensors together may have, in place of what the machine has.
pub fn set_total(nbytes: usize) {
    CHOSEN.store(nbytes, Ordering::Relaxed);
}

static CHOSEN: AtomicUsize = AtomicUsize::new(usize::MAX);

/// What the machine has for us, or what [`set_total`] said, whichever is least;
/// no limit where none is known.
fn total() -> usize {
    static TOTAL: OnceLock<usize> = OnceLock::new();
    let machine = *TOTAL.get_or_init(|| System::memory().unwrap_or(usize::MAX));
    machine.min(CHOSEN.load(Ordering::Relaxed))
}

/// Bytes that may lie idle so that they need not be asked for again.
pub fn spare() -> usize {
    (256 << 20).min(total() / 16)
}

/// Returns the memory available now without taking it from others.
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
            look().is_ok()
                && address_limit() > 0
                && System::used_memory().is_none_or(|(reserved, resident)| reserved >= resident)
        );
        assert!(room(BUDGET).is_ok() && room(BUDGET + 1).is_err() && room_for::<u64>(usize::MAX).is_err());
        assert!(list::<u64>(BUDGET).is_err() && list::<u64>(10).is_ok_and(|list| list.is_empty()));
        let mut items = Vec::new();
        assert!((0..100).all(|i| push(&mut items, i).is_ok()) && items.iter().copied().eq(0..100));
    }
}
