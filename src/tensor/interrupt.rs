//! Stopping a kernel from outside. Whoever runs a session names the flag that asks it to stop (Ctrl-C sets it); loops over
//! many elements look at it every [`STRIDE`] elements and fail with a KeyboardInterrupt. The flag stays set until the
//! input has ended, so a loop that has no way to fail may simply leave off: nobody gets to see what it left undone.
//!
//! ```text
//! for part in elements.chunks(STRIDE) { interrupt::check()?; … }                         // in a kernel
//! let flag = interrupt::flag(); spawn(move || …, flag.is_set() …)                        // on a thread it starts
//! ```

use super::error::{Error, ErrorKind, Result};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many elements a loop may handle between two looks at the flag: a few milliseconds' worth for the slowest kernel,
/// and so many that looking costs nothing. A multiple of every vector's length.
pub const STRIDE: usize = 1 << 18;

/// A request to stop that several threads can see. A clone is the same request.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks for a stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Withdraws the request.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for a signal handler.
    pub fn shared(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

thread_local! {
    static WATCHED: RefCell<Interrupt> = RefCell::default();
}

/// Makes `flag` the one that kernels on this thread look at.
pub fn watch(flag: &Interrupt) {
    WATCHED.with(|watched| watched.replace(flag.clone()));
}

/// The flag that kernels on this thread look at, to be handed to threads that help it.
pub fn flag() -> Interrupt {
    WATCHED.with(|watched| watched.borrow().clone())
}

/// Has this thread been asked to stop?
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

/// [`check`], at the steps of a loop whose number is a multiple of [`STRIDE`].
///
/// # Errors
/// KeyboardInterrupt.
#[inline]
pub fn check_at(step: usize) -> Result<()> {
    if step.is_multiple_of(STRIDE) { check() } else { Ok(()) }
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
}
