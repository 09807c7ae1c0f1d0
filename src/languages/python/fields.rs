//! The named values of an object, a class or a function.

use std::cell::OnceCell;
use std::rc::Rc;
use value::{Dict, Value};

/// Named values in insertion order: the `__dict__` of an object or a class. Most functions have none, and no dictionary.
#[derive(Default)]
pub struct Fields(OnceCell<Dict>);

impl Fields {
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.get()?.get_str(name)
    }

    pub fn set(&self, name: &str, value: Value) {
        // Cannot fail: strings are hashable, and the fields are not borrowed here.
        let _ = self.shared().insert(Value::str(name), value);
    }

    /// Sets or removes a field, and returns its old value.
    pub fn replace(&self, name: &str, value: Option<Value>) -> Option<Value> {
        let before = self.get(name);
        match value {
            Some(value) => self.set(name, value),
            None => drop(self.shared().remove(&Value::str(name))),
        }
        before
    }

    /// Removes a field, and returns whether it existed.
    pub fn remove(&self, name: &str) -> bool {
        self.replace(name, None).is_some()
    }

    fn shared(&self) -> &Dict {
        self.0.get_or_init(Dict::default)
    }

    /// Returns the underlying dictionary, which is shared.
    pub fn dict(&self) -> Dict {
        self.shared().clone()
    }

    pub fn names(&self) -> Vec<Rc<str>> {
        let names = self.0.get().map(Dict::to_vec).unwrap_or_default().into_iter().map(|(name, _)| name);
        names.filter_map(|name| if let Value::Str(name) = name { Some(name.to_rc()) } else { None }).collect()
    }

    /// Returns the underlying dictionary as a value. It is shared, not copied.
    pub(crate) fn to_dict(&self) -> Value {
        Value::Dict(self.dict())
    }
}
