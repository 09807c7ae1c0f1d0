//! Python's dictionaries: shared by everyone who holds them, in order of insertion.

use super::Value;
use super::discard::discard;
use super::hashed::Hashed;
use std::cell::{Ref, RefCell};
use std::rc::Rc;
use tensor::{Error, Result, interrupt};

/// A dictionary, or a `collections.OrderedDict`. Cloning it gives another handle on the same entries.
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
    /// A dictionary of these entries, the last of several with the same key.
    ///
    /// # Errors
    /// TypeError for a key that can change, MemoryError.
    pub fn new(entries: impl IntoIterator<Item = (Value, Value)>) -> Result<Dict> {
        let mut held = Hashed::default();
        for (i, (key, value)) in entries.into_iter().enumerate() {
            interrupt::check_at(i)?;
            held.insert(key, value)?;
        }
        Ok(Dict(Rc::new(Shared { entries: RefCell::new(held), is_ordered: false })))
    }

    /// A dictionary of texts to values, of which no two are the same.
    pub fn of_names<'n>(entries: impl IntoIterator<Item = (&'n str, Value)>) -> Dict {
        // Texts have hashes, so nothing can fail.
        Dict::new(entries.into_iter().map(|(name, value)| (Value::str(name), value))).unwrap_or_default()
    }

    /// The same entries as an `OrderedDict` of their own, or as a plain one.
    pub fn to_kind(&self, is_ordered: bool) -> Dict {
        Dict(Rc::new(Shared { entries: self.0.entries.clone(), is_ordered }))
    }

    pub fn is_ordered(&self) -> bool {
        self.0.is_ordered
    }

    /// The entries, to be read. Nothing that changes the dictionary may run meanwhile.
    pub fn borrow(&self) -> Ref<'_, Hashed<Value>> {
        self.0.entries.borrow()
    }

    pub fn len(&self) -> usize {
        self.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.borrow().is_empty()
    }

    /// The entries as they are now.
    pub fn to_vec(&self) -> Vec<(Value, Value)> {
        interrupt::watched(self.borrow().iter()).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The value of a key.
    ///
    /// # Errors
    /// TypeError for a key without a hash; what comparing keys raises.
    pub fn get(&self, key: &Value) -> Result<Option<Value>> {
        Ok(self.borrow().get(key)?.cloned())
    }

    /// The value of a text.
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
        // What is dropped may look here.
        drop(before);
        Ok(())
    }

    /// Takes out a key.
    ///
    /// # Errors
    /// Those of [`Dict::insert`].
    pub fn remove(&self, key: &Value) -> Result<Option<Value>> {
        let Some(position) = self.borrow().position(key)? else { return Ok(None) };
        Ok(self.change(|entries| entries.take(position))?.map(|(_, value)| value))
    }

    /// Puts these entries in place of all others.
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

    /// Changes the entries. A key that a script compares may look at them meanwhile.
    ///
    /// # Errors
    /// RuntimeError during iteration.
    pub fn change<R>(&self, change: impl FnOnce(&mut Hashed<Value>) -> R) -> Result<R> {
        let entries = self.0.entries.try_borrow_mut();
        let mut entries = entries.map_err(|_| Error::runtime("dictionary changed size during iteration"))?;
        Ok(change(&mut entries))
    }

    /// Returns whether both are one dictionary.
    pub fn is(&self, other: &Dict) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// A number that is the same for two handles exactly when they are one dictionary.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}
