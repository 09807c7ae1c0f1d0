//! Threads that help a loop. They are started on demand and sleep between loops, so that later loops need not start
//! threads. A loop never waits for a helper to arrive: its own thread does the work, and a late helper finds it done.

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Work that several threads may join by calling it, as many as there are seats.
type SharedWork<'a> = dyn Fn() + Sync + 'a;

/// The loops that want help, and their helpers.
struct HelperPool {
    state: Mutex<State>,
    /// Signalled when there are free seats.
    wanted: Condvar,
    /// Signalled when the last helper has left a loop.
    done: Condvar,
    /// The number of free seats, and of departures of helpers from loops; readable without the lock.
    seats: AtomicUsize,
    departures: AtomicUsize,
}

struct State {
    loops: Vec<SharedLoop>,
    /// The number of helpers, and of those that sleep.
    helpers: usize,
    idle: usize,
    next: usize,
}

struct SharedLoop {
    id: usize,
    /// Valid while the loop is in the list.
    work: &'static SharedWork<'static>,
    seats: usize,
    helping: usize,
    panic: Option<Box<dyn Any + Send>>,
}

static CREW: HelperPool = HelperPool {
    state: Mutex::new(State { loops: Vec::new(), helpers: 0, idle: 0, next: 0 }),
    wanted: Condvar::new(),
    done: Condvar::new(),
    seats: AtomicUsize::new(0),
    departures: AtomicUsize::new(0),
};

/// Number of polls before a thread sleeps: about ten microseconds, which is less than waking up takes.
const LOOKS: usize = 1 << 10;

/// Calls `work` on this thread and on up to `helpers` others. Returns when all calls have ended.
///
/// # Panics
/// If `work` panics on any thread.
pub(super) fn with_help(helpers: usize, work: &SharedWork) {
    let _leaves_nobody = Membership(CREW.join(helpers, work));
    work();
}

/// The most helpers, whatever `set_num_threads` asks for: each has a stack of its own, and the process must not run out of
/// addresses. Loops wait for no helper, so fewer do the same work.
const MOST: usize = 128;

/// A loop's entry in the list, which is removed even if its own thread panics.
struct Membership(usize);

impl Drop for Membership {
    fn drop(&mut self) {
        let panic = CREW.leave(self.0);
        if let Some(panic) = panic
            && !thread::panicking()
        {
            resume_unwind(panic);
        }
    }
}

impl HelperPool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a loop to the list, and wakes or starts helpers for it. Without other threads, the calling thread does all
    /// the work.
    fn join(&'static self, seats: usize, work: &SharedWork) -> usize {
        // SAFETY: only the lifetime changes. The loop leaves the list, and waits for all who help it, before the caller
        // of `with_help` gets back what `work` borrows (`Membership`).
        let work = unsafe { std::mem::transmute::<&SharedWork<'_>, &'static SharedWork<'static>>(work) };
        let mut state = self.state();
        let id = state.next;
        state.next = state.next.wrapping_add(1);
        state.loops.push(SharedLoop { id, work, seats, helping: 0, panic: None });
        self.seats.fetch_add(seats, Ordering::Release);
        let open: usize = state.loops.iter().map(|each| each.seats + each.helping).sum();
        while state.helpers < open.min(MOST) && thread::Builder::new().spawn(|| self.help()).is_ok() {
            state.helpers += 1;
        }
        let sleeping = state.idle;
        drop(state);
        (0..seats.min(sleeping)).for_each(|_| self.wanted.notify_one());
        id
    }

    /// Removes a finished loop from the list.
    fn leave(&self, id: usize) -> Option<Box<dyn Any + Send>> {
        let mut state = self.state();
        if let Some(own) = state.loops.iter_mut().find(|each| each.id == id) {
            self.seats.fetch_sub(std::mem::take(&mut own.seats), Ordering::Release);
        }
        loop {
            let place = state.loops.iter().position(|each| each.id == id)?;
            if state.loops.get(place).is_some_and(|own| own.helping == 0) {
                return state.loops.swap_remove(place).panic;
            }
            let before = self.departures.load(Ordering::Acquire);
            drop(state);
            let left = looking(|| self.departures.load(Ordering::Acquire) != before);
            state = self.state();
            if !left && state.loops.iter().any(|each| each.id == id && each.helping > 0) {
                state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// The main loop of a helper.
    fn help(&self) {
        loop {
            let (id, work) = self.seat();
            let panic = catch_unwind(AssertUnwindSafe(work)).err();
            let mut state = self.state();
            if let Some(joined) = state.loops.iter_mut().find(|each| each.id == id) {
                joined.helping -= 1;
                joined.panic = joined.panic.take().or(panic);
                self.departures.fetch_add(1, Ordering::Release);
                if joined.helping == 0 {
                    self.done.notify_all();
                }
            }
        }
    }

    /// Waits for a seat and takes it.
    fn seat(&self) -> (usize, &'static SharedWork<'static>) {
        looking(|| self.seats.load(Ordering::Acquire) > 0);
        let mut state = self.state();
        loop {
            if let Some(open) = state.loops.iter_mut().find(|each| each.seats > 0) {
                open.seats -= 1;
                open.helping += 1;
                self.seats.fetch_sub(1, Ordering::Release);
                return (open.id, open.work);
            }
            state.idle += 1;
            state = self.wanted.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

/// Polls for a while. Returns whether the condition became true.
fn looking(come: impl Fn() -> bool) -> bool {
    (0..LOOKS).any(|_| {
        spin_loop();
        come()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn as_many_help_as_may() {
        for helpers in [0, 1, 3] {
            // A barrier: all threads must arrive before any continues.
            let (all, calls) = (Barrier::new(helpers + 1), AtomicUsize::new(0));
            with_help(helpers, &|| {
                all.wait();
                calls.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(calls.into_inner(), helpers + 1);
        }
    }

    #[test]
    fn a_helper_can_be_helped() {
        let calls = AtomicUsize::new(0);
        let both = Barrier::new(2);
        with_help(1, &|| {
            both.wait();
            let inner = Barrier::new(2);
            with_help(1, &|| {
                inner.wait();
                calls.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(calls.into_inner(), 4);
    }

    #[test]
    fn nobody_is_left_behind() {
        let calls = AtomicUsize::new(0);
        for _ in 0..10_000 {
            let here = AtomicUsize::new(0);
            with_help(2, &|| {
                here.fetch_add(1, Ordering::Relaxed);
                calls.fetch_add(1, Ordering::Relaxed);
                here.fetch_sub(1, Ordering::Relaxed);
            });
            assert_eq!(here.into_inner(), 0);
        }
        assert!((10_000..=30_000).contains(&calls.into_inner()));
    }

    #[test]
    fn a_panic_of_a_helper_is_the_loops_own() {
        let (both, first) = (Barrier::new(2), thread::current().id());
        let panics = catch_unwind(AssertUnwindSafe(|| {
            with_help(1, &|| {
                both.wait();
                assert!(thread::current().id() == first, "a helper panics");
            });
        }));
        assert!(panics.is_err());
        // The helper helps again.
        let both = Barrier::new(2);
        with_help(1, &|| {
            both.wait();
        });
    }
}
