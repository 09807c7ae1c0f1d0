//! Stops kernels from outside. The session's owner chooses the flag that requests a stop (Ctrl-C sets it). Loops over
//! many elements check it every [`STRIDE`] elements and fail with KeyboardInterrupt. The flag stays set until the input
//! has ended, so a loop that cannot fail may simply stop: its partial result is discarded.
//!
//! ```text
//! for part in elements.chunks(STRIDE) { interrupt::check()?; … }                         // in a kernel
//! for piece in interrupt::pieces(0..rows, columns) { for row in piece? { … } }           // if steps are long
//! let flag = interrupt::flag(); spawn(move || …, flag.is_set() …)                        // in a thread it starts
//! ```

use super::error::{Error, ErrorKind, Result};
use crate::system::{Machine, System};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use super::thresholds::STRIDE;

/// A request to stop, shared by several threads. Clones share the same flag.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Requests a stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Withdraws the request.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_set(&self) -> bool {
        System::poll_stop_request(&self.0);
        self.0.load(Ordering::Relaxed)
    }

    /// Wraps the flag that a signal handler sets.
    pub fn of(flag: Arc<AtomicBool>) -> Interrupt {
        Interrupt(flag)
    }

    /// Returns the flag itself, for a signal handler.
    pub fn shared(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

thread_local! {
    static WATCHED: RefCell<Interrupt> = RefCell::default();
}

/// Sets the flag that kernels on this thread check.
pub fn watch(flag: &Interrupt) {
    WATCHED.with(|watched| watched.replace(flag.clone()));
}

/// Returns the flag that kernels on this thread check, to be passed to helper threads.
pub fn flag() -> Interrupt {
    WATCHED.with(|watched| watched.borrow().clone())
}

/// Returns whether this thread has been asked to stop.
pub fn requested() -> bool {
    WATCHED.with(|watched| watched.borrow().is_set())
}

/// Fails if this thread has been asked to stop.
///
/// # Errors
/// KeyboardInterrupt.
pub fn check() -> Result<()> {
    if requested() { Err(Error::new(ErrorKind::KeyboardInterrupt, "")) } else { Ok(()) }
}

/// Like [`check`], but only at steps of a loop that are multiples of [`STRIDE`].
///
/// # Errors
/// KeyboardInterrupt.
#[inline]
pub fn check_at(step: usize) -> Result<()> {
    if step.is_multiple_of(STRIDE) { check() } else { Ok(()) }
}

/// Iterates over items until the thread is asked to stop, for loops that cannot fail. Checks every [`STRIDE`] items.
#[inline]
pub fn watched<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    let go_on = |(i, _): &(usize, I::Item)| !(i.is_multiple_of(STRIDE) && *i > 0 && requested());
    items.into_iter().enumerate().take_while(go_on).map(|(_, item)| item)
}

/// Cuts the steps of a loop, which handle `weight` elements each, into pieces of about [`STRIDE`] elements. A [`check`]
/// comes between two pieces, so short loops have none.
///
/// # Errors
/// KeyboardInterrupt in place of a piece, which is then the last.
#[inline]
pub fn pieces(steps: Range<usize>, weight: usize) -> impl Iterator<Item = Result<Range<usize>>> {
    let most = (STRIDE / weight.max(1)).max(1);
    let mut start = steps.start;
    std::iter::from_fn(move || {
        if start >= steps.end {
            return None;
        }
        if start > steps.start
            && let Err(error) = check()
        {
            start = steps.end;
            return Some(Err(error));
        }
        let piece = start..steps.end.min(start.saturating_add(most));
        start = piece.end;
        Some(Ok(piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_seen_by_the_thread_that_watches_it() {
        let (ours, other) = (Interrupt::default(), Interrupt::default());
        watch(&ours);
        other.set();
        assert_eq!(check(), Ok(()));
        ours.set();
        assert!(check().is_err_and(|error| error.kind == ErrorKind::KeyboardInterrupt));
        let helper = flag();
        assert_eq!(std::thread::spawn(move || (helper.is_set(), requested())).join().ok(), Some((true, false)));
        ours.clear();
        assert!(!requested());
    }

    #[test]
    fn pieces_are_all_steps_until_a_request() {
        let flag = Interrupt::default();
        watch(&flag);
        let ends = |steps, weight| {
            pieces(steps, weight).map(|piece| piece.map(|p| (p.start, p.end))).collect::<Result<Vec<_>>>()
        };
        assert_eq!(ends(3..10, 1), Ok(vec![(3, 10)]));
        assert_eq!(ends(0..5, STRIDE / 2), Ok(vec![(0, 2), (2, 4), (4, 5)]));
        assert_eq!(ends(0..2, usize::MAX), Ok(vec![(0, 1), (1, 2)]));
        assert_eq!(ends(4..4, 0), Ok(vec![]));
        flag.set();
        assert_eq!(ends(0..STRIDE, 1), Ok(vec![(0, STRIDE)]));
        assert!(ends(0..STRIDE + 1, 1).is_err());
        assert_eq!(watched(0..2 * STRIDE).count(), STRIDE);
        flag.clear();
        assert_eq!(watched(0..2 * STRIDE).count(), 2 * STRIDE);
    }
}
