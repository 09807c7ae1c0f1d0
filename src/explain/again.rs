//! Redrawing pictures. A picture holds a weak reference to its subject, which neither keeps the subject alive nor
//! counts as a handle.

use super::aliases::Holder;
use super::scene::Scene;
use std::collections::HashMap;
use tensor::{DType, Layout, Result, Storage, Tensor, TypedStorage, View, WeakStorage, WeakTensor};
use value::Value;

/// A recipe for redrawing a picture.
pub struct Again {
    /// The subject of the picture; `None` for a picture of all variables.
    subject: Option<Subject>,
    make: Box<Make>,
}

/// Makes a scene of a value, or of the variables that hold memory.
type Make = dyn Fn(&Value, &[Holder]) -> Result<Scene>;

/// The state of a session at the time of redrawing.
pub struct Seen {
    /// The variables that hold memory.
    pub holders: Vec<Holder>,
    /// The number of handles that only remember earlier states, by storage identity.
    pub remembered: HashMap<usize, usize>,
}

/// The result of redrawing a picture.
pub enum Fate {
    /// The scene. An error if the subject cannot be read, or has become a different kind of value.
    There(Result<Scene>),
    /// Only the undo history holds the subject, so it may come back.
    Remembered,
    /// The subject no longer exists.
    Gone,
}

impl Again {
    /// Returns a recipe for a picture of a value, made by `make`. `None` for a value without memory.
    pub fn of(value: &Value, make: impl Fn(&Value, &[Holder]) -> Result<Scene> + 'static) -> Option<Again> {
        Some(Again { subject: Some(Subject::of(value)?), make: Box::new(make) })
    }

    /// Returns a recipe for a picture of all variables.
    pub fn of_variables(make: impl Fn(&[Holder]) -> Result<Scene> + 'static) -> Again {
        Again { subject: None, make: Box::new(move |_, holders| make(holders)) }
    }

    /// Redraws the picture with the current state.
    pub fn draw(&self, seen: &Seen) -> Fate {
        let Some(subject) = &self.subject else { return Fate::There((self.make)(&Value::None, &seen.holders)) };
        let Some(value) = subject.now() else { return Fate::Gone };
        match subject.storage() {
            Some(storage) if is_remembered(&storage, &value, seen) => Fate::Remembered,
            _ => Fate::There((self.make)(&value, &seen.holders)),
        }
    }
}

/// Returns whether only internal handles keep a storage alive.
fn is_remembered(storage: &Storage, value: &Value, seen: &Seen) -> bool {
    let is_stand_in = match value {
        Value::Tensor(tensor) => tensor.holders() == 1,
        _ => true,
    };
    let ours = 1 + usize::from(is_stand_in);
    let remembered = seen.remembered.get(&storage.identity()).copied().unwrap_or_default();
    storage.holders() <= ours + remembered && !seen.holders.iter().any(|holder| holder.storage == *storage)
}

/// A weak reference to a tensor or a storage.
struct Subject(Held);

enum Held {
    Tensor(WeakTensor, Option<Window>),
    Storage(WeakStorage),
    Typed(WeakStorage, DType),
}

/// The elements of a dense tensor, without the tensor. A picture of `x.t()` shows a temporary tensor, whose memory may
/// outlive it.
struct Window {
    storage: WeakStorage,
    layout: Layout,
    dtype: DType,
    conj: bool,
    neg: bool,
}

impl Window {
    fn of(view: &View) -> Option<Window> {
        let (storage, layout) = (view.storage.downgrade(), view.layout.clone());
        view.form.is_none().then_some(Window { storage, layout, dtype: view.dtype, conj: view.conj, neg: view.neg })
    }

    fn view(&self) -> Option<View> {
        let Window { storage, layout, dtype, conj, neg } = self;
        let (storage, layout) = (storage.upgrade()?, layout.clone());
        Some(View { storage, layout, dtype: *dtype, conj: *conj, neg: *neg, form: None })
    }
}

impl Subject {
    /// Returns the subject for a value. `None` for values without memory.
    fn of(value: &Value) -> Option<Subject> {
        Some(Subject(match value {
            Value::Tensor(tensor) => Held::Tensor(tensor.downgrade(), Window::of(&tensor.borrow())),
            Value::Storage(storage) => Held::Storage(storage.downgrade()),
            Value::TypedStorage(typed) => Held::Typed(typed.storage.downgrade(), typed.dtype),
            _ => return None,
        }))
    }

    /// Returns the subject in its current state: the tensor itself or, if it is gone, a tensor with the same elements.
    fn now(&self) -> Option<Value> {
        match &self.0 {
            Held::Tensor(tensor, window) => {
                let stand_in = || window.as_ref().and_then(Window::view).map(Tensor::new);
                tensor.upgrade().or_else(stand_in).map(Value::Tensor)
            }
            Held::Storage(storage) => storage.upgrade().map(Value::Storage),
            Held::Typed(storage, dtype) => {
                storage.upgrade().map(|storage| Value::TypedStorage(TypedStorage::new(storage, *dtype)))
            }
        }
    }

    /// Returns the storage of the subject. `None` for a tensor without its own storage.
    fn storage(&self) -> Option<Storage> {
        match &self.0 {
            Held::Tensor(tensor, window) => match tensor.upgrade() {
                Some(tensor) => Some(tensor.view()).filter(|view| !view.is_sparse()).map(|view| view.storage),
                None => window.as_ref()?.storage.upgrade(),
            },
            Held::Storage(storage) | Held::Typed(storage, _) => storage.upgrade(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor::Scalar;

    #[test]
    fn a_subject_keeps_nothing_alive() {
        let view = View::from_scalars(&[2], DType::Int, [1, 2].map(Scalar::Int)).unwrap();
        let (storage, tensor) = (view.storage.clone(), Tensor::new(view));
        let held = (storage.holders(), tensor.holders());
        let subject = Subject::of(&Value::Tensor(tensor.clone())).unwrap();
        assert_eq!((storage.holders(), tensor.holders()), held);
        assert!(matches!(subject.now(), Some(Value::Tensor(now)) if now.is(&tensor)));
        // The memory outlives the tensor; afterwards nothing is left.
        drop(tensor);
        assert!(matches!(subject.now(), Some(Value::Tensor(now)) if now.view().storage == storage));
        drop(storage);
        assert!(subject.now().is_none());
    }
}
