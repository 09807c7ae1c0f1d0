//! Python's dictionaries: shared by all holders, in insertion order.

use super::Value;
use super::discard::discard;
use super::hashed::Hashed;
use std::cell::{Ref, RefCell};
use std::rc::Rc;
use tensor::{Error, Result, interrupt};

/// A dictionary, or a `collections.OrderedDict`. Clones are handles to the same entries.
#[derive(Clone, Default)]
pub struct Dict(Rc<Shared>);

#[derive(Default)]
struct Shared {
    entries: RefCell<Hashed<Value>>,
    is_ordered: bool,
}

impl Drop for Shared {
    fn drop(&mut self) {
        discard(self.entries.take().into_entries().flat_map(|(key, value)| [key, value]));
    }
}

impl Dict {
    /// Creates a dictionary of these entries. If a key occurs several times, the last one wins.
    ///
    /// # Errors
    /// TypeError for an unhashable key, MemoryError.
    pub fn new(entries: impl IntoIterator<Item = (Value, Value)>) -> Result<Dict> {
        let mut held = Hashed::default();
        for (i, (key, value)) in entries.into_iter().enumerate() {
            interrupt::check_at(i)?;
            held.insert(key, value)?;
        }
        Ok(Dict(Rc::new(Shared { entries: RefCell::new(held), is_ordered: false })))
    }

    /// Creates a dictionary with distinct string keys.
    pub fn of_names<'n>(entries: impl IntoIterator<Item = (&'n str, Value)>) -> Dict {
        // Strings are hashable, so this cannot fail.
        Dict::new(entries.into_iter().map(|(name, value)| (Value::str(name), value))).unwrap_or_default()
    }

    /// Copies the entries to a new `OrderedDict` or plain dictionary.
    pub fn to_kind(&self, is_ordered: bool) -> Dict {
        Dict(Rc::new(Shared { entries: self.0.entries.clone(), is_ordered }))
    }

    pub fn is_ordered(&self) -> bool {
        self.0.is_ordered
    }

    /// Borrows the entries for reading. The dictionary must not be changed meanwhile.
    pub fn borrow(&self) -> Ref<'_, Hashed<Value>> {
        self.0.entries.borrow()
    }

    pub fn len(&self) -> usize {
        self.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.borrow().is_empty()
    }

    /// Returns a copy of the current entries.
    pub fn to_vec(&self) -> Vec<(Value, Value)> {
        interrupt::watched(self.borrow().iter()).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// TypeError for an unhashable key; errors of comparing keys.
    pub fn get(&self, key: &Value) -> Result<Option<Value>> {
        Ok(self.borrow().get(key)?.cloned())
    }

    /// Returns the value of a string key.
    pub fn get_str(&self, key: &str) -> Option<Value> {
        let entries = self.borrow();
        entries.position_of_str(key).and_then(|at| entries.at(at).cloned())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// Those of [`Dict::get`]; RuntimeError during iteration; MemoryError.
    pub fn insert(&self, key: Value, value: Value) -> Result<()> {
        let known = self.borrow().position(&key)?;
        let before = self.change(|entries| match known.and_then(|at| entries.at_mut(at)) {
            Some(slot) => Ok(Some(std::mem::replace(slot, value))),
            None => entries.add(key, value).map(|()| None),
        })??;
        // Dropping a value may run code that reads this dictionary, so no borrow is held here.
        drop(before);
        Ok(())
    }

    /// Removes a key and returns its value.
    ///
    /// # Errors
    /// Those of [`Dict::insert`].
    pub fn remove(&self, key: &Value) -> Result<Option<Value>> {
        let Some(position) = self.borrow().position(key)? else { return Ok(None) };
        Ok(self.change(|entries| entries.take(position))?.map(|(_, value)| value))
    }

    /// Replaces all entries.
    ///
    /// # Errors
    /// Those of [`Dict::insert`].
    pub fn replace(&self, entries: Vec<(Value, Value)>) -> Result<()> {
        let mut held = Hashed::default();
        entries.into_iter().try_for_each(|(key, value)| held.insert(key, value))?;
        let before = self.change(|entries| std::mem::replace(entries, held))?;
        drop(before);
        Ok(())
    }

    /// Changes the entries. Comparing keys may run a script that reads them meanwhile.
    ///
    /// # Errors
    /// RuntimeError during iteration.
    pub fn change<R>(&self, change: impl FnOnce(&mut Hashed<Value>) -> R) -> Result<R> {
        let entries = self.0.entries.try_borrow_mut();
        let mut entries = entries.map_err(|_| Error::runtime("dictionary changed size during iteration"))?;
        Ok(change(&mut entries))
    }

    /// Returns whether both handles refer to the same dictionary.
    pub fn is(&self, other: &Dict) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a number that identifies the dictionary.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}
