//! Python's lists and tuples. A list is shared by all its holders. Independent of the types of items.

use super::Value;
use super::discard::discard;
use std::cell::{Ref, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use tensor::interrupt::watched;
use tensor::{Error, Result};

/// A list. Clones are handles to the same items.
#[derive(Clone, Default)]
pub struct List(Rc<Shared>);

#[derive(Default)]
struct Shared(RefCell<Vec<Value>>);

impl Drop for Shared {
    fn drop(&mut self) {
        discard(self.0.take());
    }
}

impl List {
    /// Borrows the items for reading. No script may run meanwhile.
    pub fn borrow(&self) -> Ref<'_, Vec<Value>> {
        self.0.0.borrow()
    }

    /// Returns a copy of the current items.
    pub fn to_vec(&self) -> Vec<Value> {
        let items = self.borrow();
        let mut copy = Vec::with_capacity(items.len());
        copy.extend(watched(items.iter()).cloned());
        copy
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.borrow().is_empty()
    }

    pub fn get(&self, index: usize) -> Option<Value> {
        self.borrow().get(index).cloned()
    }

    /// Changes the items.
    ///
    /// # Errors
    /// RuntimeError during iteration.
    pub fn change<R>(&self, change: impl FnOnce(&mut Vec<Value>) -> R) -> Result<R> {
        let items = self.0.0.try_borrow_mut();
        items.map(|mut items| change(&mut items)).map_err(|_| Error::runtime("list changed while it was being read"))
    }

    /// Replaces all items.
    ///
    /// # Errors
    /// Those of [`List::change`].
    pub fn replace(&self, items: Vec<Value>) -> Result<()> {
        // The old items are dropped after the list's borrow has ended: their destructors may read the list.
        self.change(|held| std::mem::replace(held, items)).map(discard)
    }

    /// Returns whether both handles refer to the same list.
    pub fn is(&self, other: &List) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a number that identifies the list.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

impl From<Vec<Value>> for List {
    fn from(items: Vec<Value>) -> List {
        List(Rc::new(Shared(RefCell::new(items))))
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> List {
        items.into_iter().collect::<Vec<_>>().into()
    }
}

/// A tuple. Clones refer to the same tuple.
#[derive(Clone, Default)]
pub struct Tuple(Rc<TupleItems>);

#[derive(Default)]
struct TupleItems(Vec<Value>);

impl Drop for TupleItems {
    fn drop(&mut self) {
        discard(std::mem::take(&mut self.0));
    }
}

impl Tuple {
    /// Returns whether both refer to the same tuple; all empty tuples are the same.
    pub fn is(&self, other: &Tuple) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.is_empty() && other.is_empty()
    }

    /// Returns a number that identifies the tuple.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

impl Deref for Tuple {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        &self.0.0
    }
}

impl From<Vec<Value>> for Tuple {
    fn from(items: Vec<Value>) -> Tuple {
        Tuple(Rc::new(TupleItems(items)))
    }
}

impl FromIterator<Value> for Tuple {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Tuple {
        items.into_iter().collect::<Vec<_>>().into()
    }
}

/// The borrowed items of a sequence; see [`List::borrow`].
pub enum Items<'a> {
    List(Ref<'a, Vec<Value>>),
    Tuple(&'a [Value]),
    /// Converted items of a sequence that does not store values.
    Made(Vec<Value>),
}

impl Deref for Items<'_> {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        match self {
            Items::List(items) => items,
            Items::Tuple(items) => items,
            Items::Made(items) => items,
        }
    }
}

impl Value {
    /// Borrows the items of a list or a tuple; `None` for other values.
    pub fn items(&self) -> Option<Items<'_>> {
        match self {
            Value::List(list) => Some(Items::List(list.borrow())),
            Value::Tuple(items) => Some(Items::Tuple(items)),
            Value::Object(object) => object.underlying()?.sequence().map(Items::Made),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_nest_is_dropped_without_recursion() {
        let (mut list, mut tuple) = (Value::list([]), Value::tuple([]));
        for _ in 0..1_000_000 {
            list = Value::list([list]);
            tuple = Value::tuple([tuple]);
        }
        drop((list, tuple));
    }
}
