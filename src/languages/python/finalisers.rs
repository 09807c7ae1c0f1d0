//! Finalisers: `__del__` of an object whose last reference is gone. Rust drops the object in the middle of an
//! instruction, when no code can run. So the object is queued, and the machine calls `__del__` before its next
//! instruction (see `exceptions.rs`, which reports what fails there).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use value::Value;

/// Drops the copy of a variable that is stored elsewhere.
pub(super) type OuterRelease = dyn Fn(&str);

/// The objects of a machine that are to be finalised.
#[derive(Default)]
pub(super) struct Finalisers {
    /// Objects whose `__del__` is to be called before the next instruction, and functions to be called then.
    queue: RefCell<Vec<Value>>,
    /// Whether there are any.
    pub(super) due: Cell<bool>,
    /// Whether some class defines `__del__`.
    pub(super) any: Cell<bool>,
    pub(super) release: RefCell<Option<Rc<OuterRelease>>>,
}

impl Finalisers {
    pub(super) fn add(&self, object: Value) {
        self.queue.borrow_mut().push(object);
        self.due.set(true);
    }

    pub(super) fn take(&self) -> Vec<Value> {
        self.queue.take()
    }
}
