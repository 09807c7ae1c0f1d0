//! Drawing a picture again: what it is of is held so that it is not kept alive by that, nor counted.

use super::aliases::Holder;
use super::scene::Scene;
use std::collections::HashMap;
use tensor::{DType, Layout, Result, Storage, Tensor, TypedStorage, View, WeakStorage, WeakTensor};
use value::Value;

/// The way to draw a picture again.
pub struct Again {
    /// What it is of; nothing for a picture of all variables.
    subject: Option<Subject>,
    make: Box<Make>,
}

/// Makes a scene of a value, or of the variables that have memory.
type Make = dyn Fn(&Value, &[Holder]) -> Result<Scene>;

/// What there is when a picture is drawn again.
pub struct Seen {
    /// The variables that have memory.
    pub holders: Vec<Holder>,
    /// For a storage, by its identity, the handles that only remember what it was.
    pub remembered: HashMap<usize, usize>,
}

/// What has become of a picture.
pub enum Fate {
    /// It can be drawn; not where its subject cannot be read, or has become another kind of thing.
    There(Result<Scene>),
    /// Its subject is only remembered, so that it may come back.
    Remembered,
    /// Its subject is no more.
    Gone,
}

impl Again {
    /// The way to draw a picture of a value, which `make` made; none for a value without memory.
    pub fn of(value: &Value, make: impl Fn(&Value, &[Holder]) -> Result<Scene> + 'static) -> Option<Again> {
        Some(Again { subject: Some(Subject::of(value)?), make: Box::new(make) })
    }

    /// The way to draw a picture of all variables.
    pub fn of_variables(make: impl Fn(&[Holder]) -> Result<Scene> + 'static) -> Again {
        Again { subject: None, make: Box::new(move |_, holders| make(holders)) }
    }

    /// Draws the picture as it is now.
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

/// A tensor or a storage that may be gone.
struct Subject(Held);

enum Held {
    Tensor(WeakTensor, Option<Window>),
    Storage(WeakStorage),
    Typed(WeakStorage, DType),
}

/// What a dense tensor shows of its storage. A picture of `x.t()` shows a temporary tensor on memory that outlives it.
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
    /// The subject that a value is; nothing for what has no memory.
    fn of(value: &Value) -> Option<Subject> {
        Some(Subject(match value {
            Value::Tensor(tensor) => Held::Tensor(tensor.downgrade(), Window::of(&tensor.borrow())),
            Value::Storage(storage) => Held::Storage(storage.downgrade()),
            Value::TypedStorage(typed) => Held::Typed(typed.storage.downgrade(), typed.dtype),
            _ => return None,
        }))
    }

    /// What is there of it now: the tensor as it is, or where that is gone, a tensor that shows what it showed.
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

    /// The storage beneath it; `None` for a tensor without a storage of its own.
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
        // The memory outlives the tensor, and then nothing is left.
        drop(tensor);
        assert!(matches!(subject.now(), Some(Value::Tensor(now)) if now.view().storage == storage));
        drop(storage);
        assert!(subject.now().is_none());
    }
}
