//! The objects that scripts hold: [`NdArray`], with its base and flags, and [`Number`], a scalar. Follows
//! <https://numpy.org/doc/2.4/reference/arrays.ndarray.html>.

use crate::array::{Array, aligned};

use crate::descr::Descr;

use std::any::Any;
use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};
use tensor::journal::{self, Writer};
use tensor::{DType, Error, Layout, Result, Scalar, Storage, View, WeakStorage};
use value::{ArrayMemory, Object, ObjectState, Slot, Value};

/// An array of a script.
pub(crate) struct NdArray {
    /// The object itself, which its views keep as their base.
    own: Weak<NdArray>,
    /// Replaced as a whole, so that undo recognises a change by identity.
    state: RefCell<Rc<State>>,
    /// What owns the memory; `None` if the array does.
    base: Option<Value>,
    /// The file of an `np.memmap`; `None` for arrays of any other class.
    mapping: Option<Rc<Mapping>>,
    /// The number of views whose base this is.
    views: Cell<usize>,
    /// The storages of tensors that were made on the memory.
    lent: RefCell<Vec<WeakStorage>>,
}

/// What an `np.memmap` knows of its file. A copy of one is of the same class, and its values are None.
pub(crate) struct Mapping {
    pub filename: Value,
    pub mode: Value,
    pub offset: Value,
}

/// The part of an array that scripts can change without writing to its elements.
#[derive(Clone)]
struct State {
    array: Array,
    writeable: bool,
}

impl Object for State {
    // The undo history alone may hold a state, and with it a handle of the storage.
    fn memory(&self) -> Option<ArrayMemory> {
        let array = &self.array;
        let (sizes, strides) = (array.places.shape.clone(), array.places.strides.clone());
        Some(ArrayMemory {
            storage: array.storage.clone(),
            dtype: array.descr.dtype,
            swapped: array.descr.swapped,
            dtype_name: if array.descr.swapped { array.descr.text() } else { array.descr.name().to_owned() },
            layout: Layout { sizes, strides, offset: array.places.offset },
            is_writeable: self.writeable,
            owns_data: true,
        })
    }
}

/// The state of an array as a variable that undo saves and restores.
struct StateSlot(Weak<NdArray>);

impl Slot for StateSlot {
    fn value(&self) -> Option<Value> {
        let state = self.0.upgrade()?.state.borrow().clone();
        Some(Value::Object(state))
    }

    fn put(&self, value: Option<Value>) {
        if let Some(Value::Object(object)) = value
            && let Ok(state) = (object as Rc<dyn Any>).downcast::<State>()
            && let Some(array) = self.0.upgrade()
        {
            array.state.replace(state);
        }
    }

    fn identity(&self) -> usize {
        // An address within the array: no other object has it.
        self.0.as_ptr().cast::<()>() as usize + 1
    }
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
        NdArray::of_class(array, base, writeable, None)
    }

    fn of_class(array: Array, base: Option<Value>, writeable: bool, mapping: Option<Rc<Mapping>>) -> Rc<NdArray> {
        if let Some(base) = base.as_ref().and_then(NdArray::of) {
            base.views.set(base.views.get() + 1);
        }
        Rc::new_cyclic(|own| NdArray {
            own: own.clone(),
            state: RefCell::new(Rc::new(State { array, writeable })),
            base,
            mapping,
            views: Cell::new(0),
            lent: RefCell::default(),
        })
    }

    /// Creates an array that owns its memory.
    pub(crate) fn value(array: Array) -> Value {
        Value::Object(NdArray::new(array, None, true))
    }

    /// Creates an array on memory that another object owns.
    pub(crate) fn on(array: Array, base: Value, writeable: bool) -> Value {
        Value::Object(NdArray::new(array, Some(base), writeable))
    }

    /// Creates a view of this array. Its base is the array that owns the memory, as in NumPy.
    pub(crate) fn view(&self, array: Array) -> Value {
        let base = match &self.base {
            Some(Value::Object(base)) if base.as_any().is::<NdArray>() => Some(Value::Object(base.clone())),
            _ => self.own.upgrade().map(|own| Value::Object(own)),
        };
        Value::Object(NdArray::of_class(array, base, self.is_writeable(), self.mapping.clone()))
    }

    /// Creates an array on a mapped file.
    pub(crate) fn mapped(array: Array, base: Value, writeable: bool, mapping: Mapping) -> Value {
        Value::Object(NdArray::of_class(array, Some(base), writeable, Some(Rc::new(mapping))))
    }

    /// Creates an array of the same class that owns its memory: NumPy's copies of an `np.memmap` are of that class.
    pub(crate) fn copy_of_class(&self, array: Array) -> Value {
        let nowhere = || Rc::new(Mapping { filename: Value::None, mode: Value::None, offset: Value::None });
        Value::Object(NdArray::of_class(array, None, true, self.mapping.as_ref().map(|_| nowhere())))
    }

    /// Returns the array itself, or a view of the class `np.ndarray` if it is an `np.memmap`.
    pub(crate) fn plain(&self) -> Value {
        match self.mapping {
            None => self.itself(),
            Some(_) => Value::Object(NdArray::new(self.array(), Some(self.itself()), self.is_writeable())),
        }
    }

    /// Returns what an `np.memmap` knows of its file; `None` for arrays of any other class.
    pub(crate) fn mapping(&self) -> Option<&Mapping> {
        self.mapping.as_deref()
    }

    /// Like [`NdArray::view`], for a view that must not be written to.
    pub(crate) fn read_only_view(&self, array: Array) -> Value {
        let view = self.view(array);
        if let Value::Object(object) = &view
            && let Some(view) = object.as_any().downcast_ref::<NdArray>()
        {
            view.set_writeable(false);
        }
        view
    }

    /// Returns what the array shows, without copying its description.
    pub(crate) fn shown(&self) -> Ref<'_, Array> {
        Ref::map(self.state.borrow(), |state| &state.array)
    }

    pub(crate) fn array(&self) -> Array {
        self.state.borrow().array.clone()
    }

    /// Replaces what the array shows: another shape, other strides or another dtype of the same bytes.
    pub(crate) fn show(&self, array: Array) {
        let writeable = self.is_writeable();
        self.state.replace(Rc::new(State { array, writeable }));
    }

    /// Notes that a tensor was made on the memory.
    pub(crate) fn lend(&self, storage: &Storage) {
        let mut lent = self.lent.borrow_mut();
        lent.retain(|lent| lent.upgrade().is_some());
        lent.push(storage.downgrade());
    }

    /// Returns whether views or tensors show the memory, so that the array must not leave it.
    pub(crate) fn is_shared(&self) -> bool {
        self.views.get() > 0 || self.lent.borrow().iter().any(|lent| lent.upgrade().is_some())
    }

    pub(crate) fn base(&self) -> Option<Value> {
        self.base.clone()
    }

    pub(crate) fn itself(&self) -> Value {
        self.own.upgrade().map_or(Value::None, |own| Value::Object(own))
    }

    pub(crate) fn is_writeable(&self) -> bool {
        self.state.borrow().writeable
    }

    pub(crate) fn set_writeable(&self, writeable: bool) {
        let array = self.array();
        self.state.replace(Rc::new(State { array, writeable }));
    }

    /// Records the elements for undo; must be called before they are written to.
    ///
    /// # Errors
    /// ValueError in NumPy's words if the array is read-only.
    pub(crate) fn check_writeable(&self, what: &str) -> Result<()> {
        self.refuse_read_only(what)?;
        note(&self.array());
        Ok(())
    }

    /// Like [`NdArray::check_writeable`], for a caller that records what it writes.
    ///
    /// # Errors
    /// ValueError in NumPy's words if the array is read-only.
    pub(crate) fn refuse_read_only(&self, what: &str) -> Result<()> {
        if self.is_writeable() { Ok(()) } else { Err(Error::value(format!("{what} is read-only"))) }
    }

    /// Returns the array of a value.
    pub(crate) fn of(value: &Value) -> Option<Rc<NdArray>> {
        match value {
            Value::Object(object) => object.as_any().downcast_ref::<NdArray>()?.own.upgrade(),
            _ => None,
        }
    }
}

impl NdArray {
    /// Returns the place of the elements in memory.
    pub(crate) fn memory(&self) -> Option<ArrayMemory> {
        let state = self.state.borrow().memory()?;
        Some(ArrayMemory { owns_data: self.base.is_none(), ..state })
    }

    /// Returns what undo saves and restores.
    pub(crate) fn object_state(&self) -> ObjectState {
        let mut values = vec![Value::Storage(self.shown().storage.clone())];
        values.extend(self.base.clone());
        ObjectState { values, slots: vec![Rc::new(StateSlot(self.own.clone()))], ..ObjectState::default() }
    }
}

/// Records elements for undo; must be called before they are written to.
pub(crate) fn note(array: &Array) {
    let Some((low, high)) = array.places.span(array.itemsize()) else { return };
    let (layout, dtype) = match array.places.in_elements(array.itemsize()) {
        Some(layout) => {
            let [layout] = aligned([layout]);
            (layout, array.descr.dtype)
        }
        // Elements at odd places are recorded with what is between them.
        None => (Layout { offset: low, ..Layout::contiguous(&[high - low]) }, DType::Byte),
    };
    let storage = array.storage.clone();
    journal::note_by(Writer::Array, &View { storage, layout, dtype, conj: false, neg: false, form: None });
}

/// A scalar: `np.float64(1.5)`.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    pub value: Scalar,
    pub descr: Descr,
}

impl Number {
    /// Returns the scalar with the value of an array without dimensions.
    pub(crate) fn of(array: &Array) -> Result<Number> {
        Ok(Number { value: array.item()?, descr: array.descr.to_native() })
    }

    pub(crate) fn value(self) -> Value {
        Value::Object(Rc::new(self))
    }

    /// Returns an array without dimensions that holds the value.
    pub(crate) fn array(&self) -> Result<Array> {
        Array::scalar(self.value, self.descr)
    }

    /// Returns the scalar that a value is.
    pub(crate) fn in_value(value: &Value) -> Option<Number> {
        match value {
            Value::Object(object) => object.as_any().downcast_ref::<Number>().copied(),
            _ => None,
        }
    }

    /// Returns the value as a number of Python.
    pub(crate) fn python(&self) -> Value {
        Value::from(self.value)
    }
}
