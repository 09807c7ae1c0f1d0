//! Finalisers: `__del__` of an object whose last reference is gone. Rust drops the object in the middle of an
//! instruction, when no code can run. So the object is queued, and the machine calls `__del__` before its next
//! instruction.

use super::class::{Entry, Instance};
use super::exceptions;
use super::machine::Machine;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tensor::interrupt;

/// Drops the copy of a variable that is stored elsewhere.
pub type OuterRelease = dyn Fn(&str);

/// The objects of a machine that are to be finalised.
#[derive(Default)]
pub(super) struct Finalisers {
    /// Objects whose `__del__` is to be called before the next instruction.
    queue: RefCell<Vec<Rc<Instance>>>,
    /// Whether there are any.
    pub(super) due: Cell<bool>,
    /// Whether some class defines `__del__`.
    pub(super) any: Cell<bool>,
    release: RefCell<Option<Rc<OuterRelease>>>,
}

impl Machine {
    /// Sets what drops the copies of variables that are stored elsewhere, so that a last reference can go while code runs.
    pub fn set_release(&self, release: Rc<OuterRelease>) {
        self.finalisers.release.replace(Some(release));
    }

    /// Queues an object for its `__del__`. Called while values are dropped, when no code can run.
    pub(crate) fn finalise_later(&self, object: Rc<Instance>) {
        self.finalisers.queue.borrow_mut().push(object);
        self.finalisers.due.set(true);
    }

    /// Returns whether `__del__` of an object is still to be called.
    pub fn is_finalising_due(&self) -> bool {
        self.finalisers.due.get()
    }

    /// Calls `__del__` of the objects whose last reference is gone. Like in Python, an error is reported on standard
    /// error and ignored.
    pub fn finalise(&self) {
        while self.finalisers.due.replace(false) {
            for object in self.finalisers.queue.take() {
                let failed = match object.method("__del__", Vec::new()) {
                    Some(Err(error)) if !interrupt::requested() => error,
                    _ => continue,
                };
                let method = object.class.find("__del__").map(|entry| match entry {
                    Entry::ObjectState(method) => self.state.repr(&method).unwrap_or_default(),
                    Entry::Native(_) => String::new(),
                });
                self.state.warn(format!(
                    "Exception ignored in: {}\nTraceback (most recent call last):\n  ...\n{}",
                    method.unwrap_or_default(),
                    exceptions::last_line(&exceptions::of_error(&failed))
                ));
            }
        }
    }

    /// Drops the attributes of tensors that are gone, which may hold the last references to objects with `__del__`.
    pub(super) fn prune_extras(&self) {
        if self.finalisers.any.get() {
            self.state.extras.prune();
        }
    }

    #[cold]
    pub(super) fn release_copy(&self, slot: u32) {
        let release = self.finalisers.release.borrow().clone();
        if let Some(release) = release {
            release(&self.variables.borrow().name(slot));
        }
    }
}
