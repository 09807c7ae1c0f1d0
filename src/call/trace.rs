//! The recorded calls of an expression whose elements are followed: `origin(x.sum(1))`. `dispatch/tracing.rs` records them.

use super::reads::TracedCall;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tensor::Tensor;

/// The most calls that are recorded for one expression.
pub const MOST_CALLS: usize = 10_000;

/// The calls recorded for an expression.
#[derive(Default)]
pub struct Trace {
    /// Every call reads this.
    is_on: Cell<bool>,
    calls: RefCell<Vec<Rc<TracedCall>>>,
    /// Whether there were more.
    is_cut: Cell<bool>,
}

impl Trace {
    /// Begins to record. Forgets what was recorded before.
    pub fn begin(&self) {
        self.is_on.set(true);
        self.is_cut.set(false);
        self.calls.take();
    }

    /// Ends recording, and returns the calls in the order in which they ended.
    pub fn end(&self) -> Vec<Rc<TracedCall>> {
        self.is_on.set(false);
        self.calls.take()
    }

    /// Sets whether calls are recorded. Returns whether they were.
    pub(crate) fn set_on(&self, is_on: bool) -> bool {
        self.is_on.replace(is_on)
    }

    /// Adds a call. Beyond the most, recording ends.
    pub(crate) fn add(&self, call: TracedCall) {
        let mut calls = self.calls.borrow_mut();
        if calls.len() >= MOST_CALLS {
            self.is_on.set(false);
            self.is_cut.set(true);
        } else {
            calls.push(Rc::new(call));
        }
    }

    /// Returns the number of calls so far.
    pub(crate) fn len(&self) -> usize {
        self.calls.borrow().len()
    }

    /// Returns whether a call since the first `count` returned this tensor.
    pub(crate) fn made(&self, count: usize, tensor: &Tensor) -> bool {
        let calls = self.calls.borrow();
        let since = calls.get(count..).unwrap_or_default();
        since.iter().flat_map(|call| &call.outputs).any(|output| output.tensor.is(tensor))
    }

    /// Returns whether the expression made more calls than were recorded.
    pub fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on.get()
    }
}
