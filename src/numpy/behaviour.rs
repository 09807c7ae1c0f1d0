//! How arrays and scalars behave as objects of a script: what `value::Object` asks of them is answered by the modules that
//! know it.

use crate::array::Array;
use crate::descr::Kind;
use crate::dtypes;
use crate::ndarray::{NdArray, Number};
use crate::operate;
use crate::{attributes, bridge, index};
use explain::format::arrays::Style;
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use tensor::{Buffer, Error, Result, Scalar, View};
use value::{ArrayMemory, Object, ObjectState, Value};

fn shown(array: &Array, style: Style) -> String {
    let text = || {
        let view = array.readable()?;
        crate::printing::write(&view, array.descr, style)
    };
    text().unwrap_or_else(|error: Error| format!("<{}>", error.message))
}

impl Object for NdArray {
    fn class_name(&self) -> &'static str {
        if self.mapping().is_some() { "numpy.memmap" } else { "numpy.ndarray" }
    }
    fn type_name(&self) -> &str {
        if self.mapping().is_some() { "memmap" } else { "numpy.ndarray" }
    }
    fn is_array(&self) -> bool {
        true
    }
    fn elements(&self) -> Option<View> {
        self.shown().readable().ok()
    }
    fn memory(&self) -> Option<ArrayMemory> {
        NdArray::memory(self)
    }
    fn buffer(&self) -> Option<Result<Buffer>> {
        Some(bridge::buffer(self))
    }
    fn bytes(&self) -> Option<Result<Buffer>> {
        Some(bridge::bytes(self))
    }
    fn tensor_elements(&self) -> Option<Result<View>> {
        Some(bridge::elements(&self.shown()).inspect(|view| self.lend(&view.storage)))
    }
    fn repr(&self) -> String {
        shown(&self.shown(), if self.mapping().is_some() { Style::Memmap } else { Style::Repr })
    }
    fn text(&self) -> String {
        shown(&self.shown(), Style::Str)
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        attributes::get(self, name)
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        Some(attributes::set(self, name, value))
    }
    fn length(&self) -> Option<Result<Value>> {
        Some(match self.shown().shape().first() {
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
        Some(match self.shown().ndim() {
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
        NdArray::object_state(self)
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
        if array.shown().shape().first().is_none_or(|&length| at >= length) {
            return Some(Ok(None));
        }
        self.next.set(at + 1);
        Some(index::get(&array, &Value::Int(at)).map(Some))
    }
    fn object_state(&self) -> ObjectState {
        ObjectState { values: vec![self.of.clone()], ..ObjectState::default() }
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
    fn length(&self) -> Option<Result<Value>> {
        Some(Err(Error::type_error(format!("object of type '{}' has no len()", self.type_name()))))
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
