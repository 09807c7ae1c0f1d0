//! The objects that scripts hold: [`NdArray`], with its base and flags, and [`Number`], a scalar. Follows
//! <https://numpy.org/doc/2.4/reference/arrays.ndarray.html>.

use crate::array::Array;

use crate::descr::{Descr, Kind};
use crate::dtypes;
use crate::operate;
use crate::{attributes, bridge, index};

use explain::format::arrays::Style;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use tensor::{Buffer, Error, ErrorKind, Result, Scalar, Storage, View, WeakStorage, bail};
use value::{Object, ObjectState, Value};

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
    fn new(array: Array, base: Option<Value>, writeable: bool) -> Rc<NdArray> {
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

fn shown(array: &Array, style: Style) -> String {
    let text = || {
        let view = array.readable()?;
        crate::printing::write(&view, array.descr, style)
    };
    text().unwrap_or_else(|error: Error| format!("<{}>", error.message))
}

impl Object for NdArray {
    fn class_name(&self) -> &'static str {
        "numpy.ndarray"
    }
    fn type_name(&self) -> &str {
        "numpy.ndarray"
    }
    fn is_array(&self) -> bool {
        true
    }
    fn elements(&self) -> Option<View> {
        self.array.borrow().readable().ok()
    }
    fn buffer(&self) -> Option<Result<Buffer>> {
        Some(bridge::buffer(self))
    }
    fn bytes(&self) -> Option<Result<Buffer>> {
        Some(bridge::bytes(self))
    }
    fn tensor_elements(&self) -> Option<Result<View>> {
        Some(bridge::elements(&self.array.borrow()).inspect(|view| self.lend(&view.storage)))
    }
    fn repr(&self) -> String {
        shown(&self.array.borrow(), Style::Repr)
    }
    fn text(&self) -> String {
        shown(&self.array.borrow(), Style::Str)
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        attributes::get(self, name)
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        Some(attributes::set(self, name, value))
    }
    fn length(&self) -> Option<Result<Value>> {
        Some(match self.array.borrow().shape().first() {
            Some(&length) => Ok(Value::Int(length)),
            None => Err(Error::type_error("len() of unsized object")),
        })
    }
    fn item(&self, _session: &dyn Any, index: &Value) -> Option<Result<Value>> {
        Some(index::get(self, index))
    }
    fn set_item(&self, _session: &dyn Any, index: &Value, value: &Value) -> Option<Result<()>> {
        Some(index::set(self, index, value))
    }
    fn iterator(&self) -> Option<Result<Value>> {
        Some(match self.array.borrow().ndim() {
            0 => Err(Error::type_error("iteration over a 0-d array")),
            _ => Ok(Value::Object(Rc::new(Rows { of: self.itself(), next: Cell::new(0) }))),
        })
    }
    fn has_special(&self, name: &str) -> bool {
        matches!(name, "__getitem__" | "__len__" | "__array__") || operate::is_operator(name)
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        operate::special(&self.itself(), name, args)
    }
    fn object_state(&self) -> ObjectState {
        let mut values = vec![Value::Storage(self.array.borrow().storage.clone())];
        values.extend(self.base.clone());
        ObjectState { values, ..ObjectState::default() }
    }
}

/// An iterator over the parts of an array along its first dimension.
struct Rows {
    of: Value,
    next: Cell<i64>,
}

impl Object for Rows {
    fn class_name(&self) -> &'static str {
        "iterator"
    }
    fn is_iterator(&self) -> bool {
        true
    }
    fn next(&self) -> Option<Result<Option<Value>>> {
        let array = NdArray::of(&self.of)?;
        let at = self.next.get();
        if array.array.borrow().shape().first().is_none_or(|&length| at >= length) {
            return Some(Ok(None));
        }
        self.next.set(at + 1);
        Some(index::get(&array, &Value::Int(at)).map(Some))
    }
    fn object_state(&self) -> ObjectState {
        ObjectState { values: vec![self.of.clone()], ..ObjectState::default() }
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

impl Object for Number {
    fn class_name(&self) -> &'static str {
        dtypes::class_of(self.descr)
    }
    fn type_name(&self) -> &str {
        dtypes::class_of(self.descr)
    }
    fn is_array(&self) -> bool {
        true
    }
    fn is_instance(&self, class: &str) -> bool {
        match class {
            "float" => self.descr.dtype == tensor::DType::Double,
            "complex" => self.descr.dtype == tensor::DType::ComplexDouble,
            other => other.strip_prefix("numpy.").is_some_and(|from| dtypes::derives(self.descr.name(), from)),
        }
    }
    fn identity(&self) -> Option<usize> {
        // There are two bools.
        static BOOLS: [u8; 2] = [0, 1];
        match self.value {
            Scalar::Bool(truth) => Some(std::ptr::from_ref(&BOOLS[usize::from(truth)]) as usize),
            _ => None,
        }
    }
    fn elements(&self) -> Option<View> {
        View::scalar(self.value, self.descr.dtype).ok()
    }
    fn tensor_elements(&self) -> Option<Result<View>> {
        Some(View::scalar(self.value, self.descr.dtype))
    }
    fn number(&self) -> Option<Scalar> {
        Some(self.value)
    }
    fn repr(&self) -> String {
        self.array().map_or_else(|_| String::new(), |array| shown(&array, Style::Number))
    }
    fn text(&self) -> String {
        self.array().map_or_else(|_| String::new(), |array| shown(&array, Style::Str))
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        attributes::of_number(self, name)
    }
    fn set_attribute(&self, name: &str, _value: &Value) -> Option<Result<()>> {
        let class = self.class_name();
        Some(Err(match attributes::of_number(self, name) {
            Some(_) => Error::attribute(format!("attribute '{name}' of 'numpy.generic' objects is not writable")),
            None => Error::attribute(format!("'{class}' object has no attribute '{name}'")),
        }))
    }
    fn item(&self, _session: &dyn Any, index: &Value) -> Option<Result<Value>> {
        let array = match self.array() {
            Ok(array) => NdArray::new(array, None, true),
            Err(error) => return Some(Err(error)),
        };
        Some(match index {
            Value::Tuple(_) | Value::Ellipsis | Value::None | Value::Object(_) => index::get(&array, index),
            _ => Err(Error::index("invalid index to scalar variable.")),
        })
    }
    fn has_special(&self, name: &str) -> bool {
        let integral = matches!(self.descr.kind(), Kind::Unsigned | Kind::Signed);
        match name {
            "__index__" => integral,
            "__int__" | "__float__" | "__complex__" | "__hash__" => true,
            _ => operate::is_operator(name),
        }
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        match (name, args) {
            ("__hash__", []) => Some(
                call::State::current()
                    .and_then(|state| state.call_given(&Value::Function("py.hash".into()), vec![self.python()])),
            ),
            _ => operate::special(&Value::Object(Rc::new(*self)), name, args),
        }
    }
}

/// Converts an array of one element to a number of Python, for `int(a)` and its like.
///
/// # Errors
/// TypeError in NumPy's words for other arrays.
pub fn single(array: &Array) -> Result<Scalar> {
    if array.ndim() != 0 {
        bail!(TypeError, "only 0-dimensional arrays can be converted to Python scalars");
    }
    array.item()
}

/// Returns the truth of an array.
///
/// # Errors
/// ValueError in NumPy's words unless it has exactly one element.
pub fn truth(array: &Array) -> Result<bool> {
    match array.count() {
        1 => Ok(array.scalars()?.first().is_some_and(|value| value.truth())),
        0 => bail!(
            ValueError,
            "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an \
                                array is not empty."
        ),
        _ => bail!(
            ValueError,
            "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
        ),
    }
}

/// The error for a value that cannot be hashed.
pub fn unhashable() -> Error {
    Error::new(ErrorKind::TypeError, "unhashable type: 'numpy.ndarray'")
}
