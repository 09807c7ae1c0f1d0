//! Work cut into pieces for all cores. Counts elements; independent of memory.

use super::helpers::with_help;
use super::vectors::{set_width, width};
use crate::error::{Result, SendableError};
use crate::interrupt;
use crate::limits;
use crate::thresholds::{PART, THREAD};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

thread_local! {
    /// The number of threads that loops of this thread may use; 0 for the number of cores.
    static CORES: Cell<usize> = const { Cell::new(0) };
}

/// Sets the number of threads that loops of this thread may use; 0 for the number of cores. Results do not depend on
/// it.
pub fn set_cores(cores: usize) {
    CORES.set(cores);
}

/// Returns the number of threads a loop may use.
pub fn cores() -> usize {
    static MACHINE: OnceLock<usize> = OnceLock::new();
    match CORES.get() {
        0 => *MACHINE.get_or_init(|| thread::available_parallelism().map_or(1, usize::from)),
        cores => cores,
    }
}

/// Calls `body` once for every number below `count`, in no particular order, on as many cores as `work` elements
/// justify. Stops early at an error or Ctrl-C.
///
/// # Errors
/// The first error of `body`; KeyboardInterrupt.
pub(crate) fn tasks(count: usize, work: usize, body: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    let task = |index: usize| interrupt::check().and_then(|()| body(index));
    let threads = if work < 2 * THREAD { 1 } else { cores().min(work / THREAD).min(count) };
    if threads <= 1 {
        return (0..count).try_for_each(task);
    }
    let (flag, width) = (interrupt::flag(), width());
    let next = AtomicUsize::new(0);
    // Report the error with the lowest number: numbers are issued in order, so all numbers below a failed one are
    // already being processed.
    let failure: Mutex<Option<(usize, SendableError)>> = Mutex::new(None);
    let run = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            if let Err(error) = task(index) {
                next.store(count, Ordering::Relaxed);
                let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                if failure.as_ref().is_none_or(|(first, _)| index < *first) {
                    *failure = Some((index, SendableError::of(error)));
                }
            }
        }
    };
    with_help(threads - 1, &|| {
        interrupt::watch(&flag);
        set_width(width);
        run();
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, error)| Err(error.error()))
}

/// Collects the results of `body` for every number below `count`, computed like [`tasks`].
///
/// # Errors
/// Those of [`tasks`].
pub fn collect<T: Send>(count: usize, work: usize, body: &(dyn Fn(usize) -> Result<T> + Sync)) -> Result<Vec<T>> {
    // An expanded tensor can have any number of parts, so the capacity is not reserved for all of them at once.
    let results: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count.min(1 << 16)));
    tasks(count, work, &|index| {
        let result = body(index)?;
        limits::push(&mut results.lock().unwrap_or_else(PoisonError::into_inner), (index, result))
    })?;
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut slots = limits::vector(results.len())?;
    slots.resize_with(results.len(), || None);
    for (index, result) in results {
        if let Some(slot) = slots.get_mut(index) {
            *slot = Some(result);
        }
    }
    Ok(slots.into_iter().flatten().collect())
}

/// Calls `body` for parts of a slice, each with its start index, on all cores if the slice is long. Every part except
/// possibly the last has a multiple of `unit` elements, and at most [`PART`] bytes or one `unit`.
///
/// # Errors
/// Those of [`tasks`].
pub fn parts<T: Send>(
    slice: &mut [T],
    unit: usize,
    body: &(dyn Fn(usize, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    let (length, unit) = (slice.len(), unit.max(1));
    let size = (PART / size_of::<T>().max(1)).min(length.div_ceil(cores()).max(THREAD / 2));
    parts_of(slice, (size / unit).max(1).saturating_mul(unit), length, body)
}

/// Like [`parts`], with parts of `size` elements and explicit `work`.
///
/// # Errors
/// Those of [`tasks`].
pub fn parts_of<T: Send>(
    slice: &mut [T],
    size: usize,
    work: usize,
    body: &(dyn Fn(usize, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    if (1..=size).contains(&slice.len()) {
        return interrupt::check().and_then(|()| body(0, slice));
    }
    let parts: Vec<Mutex<&mut [T]>> = slice.chunks_mut(size).map(Mutex::new).collect();
    tasks(parts.len(), work, &|k| match parts.get(k) {
        Some(part) => body(k * size, &mut part.lock().unwrap_or_else(PoisonError::into_inner)),
        None => Ok(()),
    })
}
