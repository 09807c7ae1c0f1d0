//! The objects that scripts hold: [`NdArray`], with its base and flags, and [`Number`], a scalar. Follows
//! <https://numpy.org/doc/2.4/reference/arrays.ndarray.html>.

use crate::array::Array;

use crate::descr::Descr;

use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};
use tensor::{Error, Result, Scalar, Storage, WeakStorage};
use value::Value;

/// An array of a script.
pub struct NdArray {
    /// The object itself, which its views keep as their base.
    own: Weak<NdArray>,
    array: RefCell<Array>,
    /// What owns the memory; `None` if the array does.
    base: Option<Value>,
    writeable: Cell<bool>,
    /// The number of views whose base this is.
    views: Cell<usize>,
    /// The storages of tensors that were made on the memory.
    lent: RefCell<Vec<WeakStorage>>,
}

impl Drop for NdArray {
    fn drop(&mut self) {
        if let Some(base) = self.base.as_ref().and_then(NdArray::of) {
            base.views.set(base.views.get().saturating_sub(1));
        }
    }
}

impl NdArray {
    pub(crate) fn new(array: Array, base: Option<Value>, writeable: bool) -> Rc<NdArray> {
        if let Some(base) = base.as_ref().and_then(NdArray::of) {
            base.views.set(base.views.get() + 1);
        }
        Rc::new_cyclic(|own| NdArray {
            own: own.clone(),
            array: RefCell::new(array),
            base,
            writeable: Cell::new(writeable),
            views: Cell::new(0),
            lent: RefCell::default(),
        })
    }

    /// Creates an array that owns its memory.
    pub fn value(array: Array) -> Value {
        Value::Object(NdArray::new(array, None, true))
    }

    /// Creates an array on memory that another object owns.
    pub fn on(array: Array, base: Value, writeable: bool) -> Value {
        Value::Object(NdArray::new(array, Some(base), writeable))
    }

    /// Creates a view of this array. Its base is the array that owns the memory, as in NumPy.
    pub fn view(&self, array: Array) -> Value {
        let base = match &self.base {
            Some(Value::Object(base)) if base.as_any().is::<NdArray>() => Some(Value::Object(base.clone())),
            _ => self.own.upgrade().map(|own| Value::Object(own)),
        };
        Value::Object(NdArray::new(array, base, self.writeable.get()))
    }

    /// Like [`NdArray::view`], for a view that must not be written to.
    pub fn read_only_view(&self, array: Array) -> Value {
        let view = self.view(array);
        if let Value::Object(object) = &view
            && let Some(view) = object.as_any().downcast_ref::<NdArray>()
        {
            view.writeable.set(false);
        }
        view
    }

    /// Returns what the array shows, without copying its description.
    pub(crate) fn shown(&self) -> Ref<'_, Array> {
        self.array.borrow()
    }

    pub fn array(&self) -> Array {
        self.array.borrow().clone()
    }

    /// Replaces what the array shows: another shape, other strides or another dtype of the same bytes.
    pub fn show(&self, array: Array) {
        self.array.replace(array);
    }

    /// Notes that a tensor was made on the memory.
    pub fn lend(&self, storage: &Storage) {
        let mut lent = self.lent.borrow_mut();
        lent.retain(|lent| lent.upgrade().is_some());
        lent.push(storage.downgrade());
    }

    /// Returns whether views or tensors show the memory, so that the array must not leave it.
    pub fn is_shared(&self) -> bool {
        self.views.get() > 0 || self.lent.borrow().iter().any(|lent| lent.upgrade().is_some())
    }

    pub fn base(&self) -> Option<Value> {
        self.base.clone()
    }

    pub fn itself(&self) -> Value {
        self.own.upgrade().map_or(Value::None, |own| Value::Object(own))
    }

    pub fn is_writeable(&self) -> bool {
        self.writeable.get()
    }

    pub fn set_writeable(&self, writeable: bool) {
        self.writeable.set(writeable);
    }

    /// # Errors
    /// ValueError in NumPy's words if the array is read-only.
    pub fn check_writeable(&self, what: &str) -> Result<()> {
        if self.writeable.get() { Ok(()) } else { Err(Error::value(format!("{what} is read-only"))) }
    }

    /// Returns the array of a value.
    pub fn of(value: &Value) -> Option<Rc<NdArray>> {
        match value {
            Value::Object(object) => object.as_any().downcast_ref::<NdArray>()?.own.upgrade(),
            _ => None,
        }
    }
}

/// A scalar: `np.float64(1.5)`.
#[derive(Clone, Copy)]
pub struct Number {
    pub value: Scalar,
    pub descr: Descr,
}

impl Number {
    /// Returns the scalar with the value of an array without dimensions.
    pub fn of(array: &Array) -> Result<Number> {
        Ok(Number { value: array.item()?, descr: array.descr.to_native() })
    }

    pub fn value(self) -> Value {
        Value::Object(Rc::new(self))
    }

    /// Returns an array without dimensions that holds the value.
    pub fn array(&self) -> Result<Array> {
        Array::scalar(self.value, self.descr)
    }

    /// Returns the scalar that a value is.
    pub fn in_value(value: &Value) -> Option<Number> {
        match value {
            Value::Object(object) => object.as_any().downcast_ref::<Number>().copied(),
            _ => None,
        }
    }

    /// Returns the value as a number of Python.
    pub fn python(&self) -> Value {
        Value::from(self.value)
    }
}

