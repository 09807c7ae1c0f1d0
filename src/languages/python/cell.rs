//! Variables that functions share.

use std::cell::RefCell;
use std::rc::Rc;
use value::{Slot, Value, discard};

/// A variable shared by several functions.
#[derive(Clone, Default)]
pub struct Cell(Rc<Shared>);

#[derive(Default)]
struct Shared(RefCell<Option<Value>>);

impl Drop for Shared {
    fn drop(&mut self) {
        discard(self.0.take());
    }
}

impl Cell {
    pub fn new(value: Option<Value>) -> Cell {
        Cell(Rc::new(Shared(RefCell::new(value))))
    }

    pub fn get(&self) -> Option<Value> {
        self.0.0.borrow().clone()
    }

    /// Sets the variable, and returns its old value.
    pub fn set(&self, value: Option<Value>) -> Option<Value> {
        self.0.0.replace(value)
    }
}

impl Slot for Cell {
    fn value(&self) -> Option<Value> {
        self.get()
    }
    fn put(&self, value: Option<Value>) {
        drop(self.set(value));
    }
    fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}
