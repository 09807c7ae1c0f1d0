//! Attributes that a script sets on tensors and storages, as Python allows: `x.name = 'weights'`. They belong to the
//! object and are dropped with it. PyTorch's own attributes are looked up before these.

use std::cell::RefCell;
use tensor::{Result, Tensor, WeakStorage, WeakTensor};
use value::{Dict, Value};

/// An object with attributes. The attributes do not keep it alive.
enum Holder {
    Tensor(WeakTensor),
    Untyped(WeakStorage),
    Typed(WeakStorage),
}

impl Holder {
    fn of(value: &Value) -> Option<Holder> {
        match value {
            Value::Tensor(tensor) => Some(Holder::Tensor(tensor.downgrade())),
            Value::Storage(storage) => Some(Holder::Untyped(storage.downgrade())),
            Value::TypedStorage(typed) => Some(Holder::Typed(typed.storage.downgrade())),
            _ => None,
        }
    }

    fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Holder::Tensor(weak), Value::Tensor(tensor)) => {
                weak.upgrade().is_some_and(|held| Tensor::is(&held, tensor))
            }
            (Holder::Untyped(weak), Value::Storage(storage)) => weak.upgrade().as_ref() == Some(storage),
            (Holder::Typed(weak), Value::TypedStorage(typed)) => weak.upgrade().as_ref() == Some(&typed.storage),
            _ => false,
        }
    }

    fn is_alive(&self) -> bool {
        match self {
            Holder::Tensor(weak) => weak.upgrade().is_some(),
            Holder::Untyped(weak) | Holder::Typed(weak) => weak.upgrade().is_some(),
        }
    }
}

/// The attributes of all objects of a session. There are usually none or a few.
#[derive(Default)]
pub struct Extras(RefCell<Vec<(Holder, Dict)>>);

impl Extras {
    /// Returns whether an object can have attributes.
    pub fn fit(object: &Value) -> bool {
        Holder::of(object).is_some()
    }

    /// Returns the attributes of an object that was given some.
    pub fn of(&self, object: &Value) -> Option<Dict> {
        self.0.borrow().iter().find(|(holder, _)| holder.is(object)).map(|(_, own)| own.clone())
    }

    pub fn get(&self, object: &Value, name: &str) -> Option<Value> {
        self.of(object)?.get_str(name)
    }

    /// Returns the attributes of an object, its `__dict__`: `None` if the object cannot have any.
    pub fn all(&self, object: &Value) -> Option<Dict> {
        if let Some(own) = self.of(object) {
            return Some(own);
        }
        let own = Dict::of_names([]);
        self.0.borrow_mut().push((Holder::of(object)?, own.clone()));
        Some(own)
    }

    /// Sets an attribute of an object. Does nothing if the object cannot have attributes.
    ///
    /// # Errors
    /// Those of [`Dict::insert`].
    pub fn set(&self, object: &Value, name: &str, value: &Value) -> Result<()> {
        self.all(object).map_or(Ok(()), |own| own.insert(Value::str(name), value.clone()))
    }

    /// Removes an attribute. Returns whether it existed.
    ///
    /// # Errors
    /// Those of [`Dict::remove`].
    pub fn remove(&self, object: &Value, name: &str) -> Result<bool> {
        let Some(own) = self.of(object) else { return Ok(false) };
        Ok(own.remove(&Value::str(name))?.is_some())
    }

    /// Drops the attributes of objects that no longer exist.
    pub fn prune(&self) {
        let mut extras = self.0.take();
        extras.retain(|(holder, _)| holder.is_alive());
        self.0.replace(extras);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor::{DType, Scalar, View};

    #[test]
    fn attributes_belong_to_their_object() {
        let tensor = || match View::scalar(Scalar::Int(1), DType::Long) {
            Ok(view) => Value::from(Tensor::new(view)),
            Err(error) => panic!("{error}"),
        };
        let (a, b, extras) = (tensor(), tensor(), Extras::default());
        assert!(extras.set(&a, "name", &Value::Int(3)).and_then(|()| extras.set(&a, "name", &Value::Int(4))).is_ok());
        assert!(matches!(extras.get(&a, "name"), Some(Value::Int(4))));
        assert!(extras.get(&b, "name").is_none() && extras.get(&a, "other").is_none());
        drop(a);
        extras.prune();
        assert!(extras.remove(&b, "name") == Ok(false) && extras.0.borrow().is_empty());
        assert!(extras.set(&b, "name", &Value::None).is_ok());
        assert!(extras.remove(&b, "name") == Ok(true) && extras.remove(&b, "name") == Ok(false));
        assert!(extras.all(&b).is_some_and(|own| own.is_empty()) && extras.all(&Value::None).is_none());
    }
}
