//! Redrawing pictures. A picture holds a weak reference to its subject, which neither keeps the subject alive nor
//! counts as a handle.

use super::aliases::Holder;
use super::scene::Scene;
use super::tensors::Terms;
use super::turn::Turn;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use tensor::{DType, Error, Layout, Result, Storage, Tensor, TypedStorage, View, WeakStorage, WeakTensor};
use value::{ArrayMemory, Object, Value};

/// A recipe for redrawing a picture.
pub struct Redraw {
    /// The subject of the picture; `None` for a picture of all variables.
    subject: Option<Subject>,
    make: Box<MakeScene>,
    /// Whether the picture shows a layout, which can be changed by hand.
    is_layout: bool,
}

/// Makes a scene of a value, or of the variables that hold memory.
type MakeScene = dyn Fn(&Value, &[Holder]) -> Result<Scene>;

/// The state of a session at the time of redrawing.
pub struct RedrawContext {
    /// The variables that hold memory.
    pub holders: Vec<Holder>,
    /// The number of handles that only remember earlier states, by storage identity.
    pub remembered: HashMap<usize, usize>,
}

/// The result of redrawing a picture.
pub enum RedrawOutcome {
    /// The scene. An error if the subject cannot be read, or has become a different kind of value.
    There(Result<Scene>),
    /// Only the undo history holds the subject, so it may come back.
    Remembered,
    /// The subject no longer exists.
    Gone,
}

impl Redraw {
    /// Returns a recipe for a picture of a value, made by `make`. `None` for a value without memory.
    pub fn of(value: &Value, make: impl Fn(&Value, &[Holder]) -> Result<Scene> + 'static) -> Option<Redraw> {
        Some(Redraw { subject: Some(Subject::of(value)?), make: Box::new(make), is_layout: false })
    }

    /// Returns a recipe for a picture of all variables.
    pub fn of_variables(make: impl Fn(&[Holder]) -> Result<Scene> + 'static) -> Redraw {
        Redraw { subject: None, make: Box::new(move |_, holders| make(holders)), is_layout: false }
    }

    /// Marks the picture as one of a layout.
    pub fn of_layout(self) -> Redraw {
        Redraw { is_layout: true, ..self }
    }

    pub fn is_layout(&self) -> bool {
        self.is_layout
    }

    /// Returns the layout of the subject, to be changed by hand. `None` if the subject no longer exists.
    ///
    /// # Errors
    /// Fails with the reason why the layout cannot be changed.
    pub fn turn(&self) -> Option<std::result::Result<Turn, String>> {
        Some(Turn::of(&self.subject.as_ref().filter(|_| self.is_layout)?.now()?))
    }

    /// Returns the recipe for a picture of the same subject in a layout changed by hand.
    pub fn turned(&self, turn: &Turn, terms: Terms) -> Option<Redraw> {
        let (layout, dtype) = (turn.layout().clone(), turn.dtype());
        let make = move |value: &Value, holders: &[Holder]| {
            let turn = Turn::of(value).and_then(|turn| turn.with(layout.clone(), dtype));
            turn.map(|turn| turn.scene(holders, terms)).map_err(Error::value)
        };
        Redraw::of(&self.subject.as_ref()?.now()?, make).map(Redraw::of_layout)
    }

    /// Redraws the picture with the current state.
    pub fn draw(&self, seen: &RedrawContext) -> RedrawOutcome {
        let Some(subject) = &self.subject else {
            return RedrawOutcome::There((self.make)(&Value::None, &seen.holders));
        };
        let Some(value) = subject.now() else { return RedrawOutcome::Gone };
        match subject.storage() {
            Some(storage) if is_remembered(&storage, &value, seen) => RedrawOutcome::Remembered,
            _ => RedrawOutcome::There((self.make)(&value, &seen.holders)),
        }
    }
}

/// Returns a function that finds a value again without keeping it alive. `None` for a value without memory.
pub fn weakly(value: &Value) -> Option<impl Fn() -> Option<Value> + 'static> {
    let subject = Subject::of(value)?;
    Some(move || subject.now())
}

/// Returns whether only internal handles keep a storage alive.
fn is_remembered(storage: &Storage, value: &Value, seen: &RedrawContext) -> bool {
    let is_stand_in = match value {
        Value::Tensor(tensor) => tensor.holders() == 1,
        Value::Object(object) => Rc::strong_count(object) == 1,
        _ => true,
    };
    let ours = 1 + usize::from(is_stand_in);
    let remembered = seen.remembered.get(&storage.identity()).copied().unwrap_or_default();
    storage.holders() <= ours + remembered && !seen.holders.iter().any(|holder| holder.storage == *storage)
}

/// A weak reference to a tensor or a storage.
struct Subject(WeakSubject);

enum WeakSubject {
    Tensor(WeakTensor, Option<ViewWindow>),
    Storage(WeakStorage),
    Typed(WeakStorage, DType),
    Array(Weak<dyn Object>, ArrayWindow),
}

/// The elements of an array, without the array and without a handle of its storage.
struct ArrayWindow {
    storage: WeakStorage,
    /// Everything but the storage, which is an empty one.
    rest: ArrayMemory,
}

impl ArrayWindow {
    fn of(array: ArrayMemory) -> Option<ArrayWindow> {
        let empty = Storage::from_bytes(&[]).ok()?;
        Some(ArrayWindow { storage: array.storage.downgrade(), rest: ArrayMemory { storage: empty, ..array } })
    }

    fn array(&self) -> Option<ArrayMemory> {
        Some(ArrayMemory { storage: self.storage.upgrade()?, ..self.rest.clone() })
    }
}

/// Stands for an array that no longer exists, on memory that does.
struct StandIn(ArrayMemory);

impl Object for StandIn {
    fn memory(&self) -> Option<ArrayMemory> {
        Some(self.0.clone())
    }
}

/// The elements of a dense tensor, without the tensor. A picture of `x.t()` shows a temporary tensor, whose memory may
/// outlive it.
struct ViewWindow {
    storage: WeakStorage,
    layout: Layout,
    dtype: DType,
    conj: bool,
    neg: bool,
}

impl ViewWindow {
    fn of(view: &View) -> Option<ViewWindow> {
        let (storage, layout) = (view.storage.downgrade(), view.layout.clone());
        view.form.is_none().then_some(ViewWindow { storage, layout, dtype: view.dtype, conj: view.conj, neg: view.neg })
    }

    fn view(&self) -> Option<View> {
        let ViewWindow { storage, layout, dtype, conj, neg } = self;
        let (storage, layout) = (storage.upgrade()?, layout.clone());
        Some(View { storage, layout, dtype: *dtype, conj: *conj, neg: *neg, form: None })
    }
}

impl Subject {
    /// Returns the subject for a value. `None` for values without memory.
    fn of(value: &Value) -> Option<Subject> {
        Some(Subject(match value {
            Value::Tensor(tensor) => WeakSubject::Tensor(tensor.downgrade(), ViewWindow::of(&tensor.borrow())),
            Value::Storage(storage) => WeakSubject::Storage(storage.downgrade()),
            Value::TypedStorage(typed) => WeakSubject::Typed(typed.storage.downgrade(), typed.dtype),
            Value::Object(object) => WeakSubject::Array(Rc::downgrade(object), ArrayWindow::of(object.memory()?)?),
            _ => return None,
        }))
    }

    /// Returns the subject in its current state: the tensor itself or, if it is gone, a tensor with the same elements.
    fn now(&self) -> Option<Value> {
        match &self.0 {
            WeakSubject::Tensor(tensor, window) => {
                let stand_in = || window.as_ref().and_then(ViewWindow::view).map(Tensor::new);
                tensor.upgrade().or_else(stand_in).map(Value::Tensor)
            }
            WeakSubject::Storage(storage) => storage.upgrade().map(Value::Storage),
            WeakSubject::Typed(storage, dtype) => {
                storage.upgrade().map(|storage| Value::TypedStorage(TypedStorage::new(storage, *dtype)))
            }
            WeakSubject::Array(object, window) => {
                let stand_in = || Some(Rc::new(StandIn(window.array()?)) as Rc<dyn Object>);
                object.upgrade().or_else(stand_in).map(Value::Object)
            }
        }
    }

    /// Returns the storage of the subject. `None` for a tensor without its own storage.
    fn storage(&self) -> Option<Storage> {
        match &self.0 {
            WeakSubject::Tensor(tensor, window) => match tensor.upgrade() {
                Some(tensor) => Some(tensor.view()).filter(|view| !view.is_sparse()).map(|view| view.storage),
                None => window.as_ref()?.storage.upgrade(),
            },
            WeakSubject::Storage(storage) | WeakSubject::Typed(storage, _) => storage.upgrade(),
            WeakSubject::Array(object, window) => match object.upgrade() {
                Some(object) => Some(object.memory()?.storage),
                None => window.storage.upgrade(),
            },
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
