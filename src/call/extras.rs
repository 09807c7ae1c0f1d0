//! Attributes that a script sets on tensors and storages, as Python allows: `x.name = 'weights'`. They belong to the
//! object and are dropped with it. PyTorch's own attributes are looked up before these.

use std::cell::RefCell;
use std::rc::Rc;
use tensor::{Tensor, WeakStorage, WeakTensor};
use value::Value;

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

/// One attribute of one object.
struct Extra {
    holder: Holder,
    name: Rc<str>,
    value: Value,
}

/// All such attributes of a session. There are usually none or a few.
#[derive(Default)]
pub struct Extras(RefCell<Vec<Extra>>);

impl Extras {
    /// Returns whether an object can have attributes.
    pub fn fit(object: &Value) -> bool {
        Holder::of(object).is_some()
    }

    pub fn get(&self, object: &Value, name: &str) -> Option<Value> {
        let extras = self.0.borrow();
        extras.iter().find(|extra| &*extra.name == name && extra.holder.is(object)).map(|extra| extra.value.clone())
    }

    /// Returns the attributes of an object, with their names.
    pub fn all(&self, object: &Value) -> Vec<(Rc<str>, Value)> {
        let extras = self.0.borrow();
        let own = extras.iter().filter(|extra| extra.holder.is(object));
        own.map(|extra| (extra.name.clone(), extra.value.clone())).collect()
    }

    /// Sets an attribute of an object. Does nothing if the object cannot have attributes.
    pub fn set(&self, object: &Value, name: &str, value: &Value) {
        self.remove(object, name);
        let Some(holder) = Holder::of(object) else { return };
        self.0.borrow_mut().push(Extra { holder, name: name.into(), value: value.clone() });
    }

    /// Removes an attribute. Returns whether it existed.
    pub fn remove(&self, object: &Value, name: &str) -> bool {
        // Dropping a value can drop other objects, so the list must not be borrowed meanwhile.
        let mut extras = self.0.take();
        let before = extras.len();
        extras.retain(|extra| &*extra.name != name || !extra.holder.is(object));
        let found = extras.len() < before;
        self.0.replace(extras);
        found
    }

    /// Drops the attributes of objects that no longer exist.
    pub fn prune(&self) {
        let mut extras = self.0.take();
        extras.retain(|extra| extra.holder.is_alive());
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
        extras.set(&a, "name", &Value::Int(3));
        extras.set(&a, "name", &Value::Int(4));
        assert!(matches!(extras.get(&a, "name"), Some(Value::Int(4))));
        assert!(extras.get(&b, "name").is_none() && extras.get(&a, "other").is_none());
        drop(a);
        extras.prune();
        assert!(!extras.remove(&b, "name") && extras.0.borrow().is_empty());
        extras.set(&b, "name", &Value::None);
        assert!(extras.remove(&b, "name") && !extras.remove(&b, "name"));
    }
}
