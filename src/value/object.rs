//! [`Object`]: what a rarer value implements itself, instead of being a variant of [`Value`].

use crate::{ArrayMemory, Dict, Keywords, Value};
use std::any::Any;
use std::rc::Rc;
use tensor::{Buffer, Error, Result, Scalar, View};

/// A value that implements its own behaviour.
pub trait Object: Any {
    /// Returns the short name of its class, as in messages.
    fn type_name(&self) -> &str {
        let class = self.class_name();
        class.rsplit('.').next().unwrap_or(class)
    }
    /// Returns the full name of its class, as `type()` shows it.
    fn class_name(&self) -> &'static str {
        "object"
    }
    /// Returns Python's `repr`. Defaults to the class name and an address, as in Python.
    fn repr(&self) -> String {
        format!("<{} object at {:#x}>", self.class_name(), std::ptr::from_ref(self).cast::<()>() as usize)
    }
    /// Returns the text that `str` and `print` show.
    fn text(&self) -> String {
        self.repr()
    }
    /// Returns the value of an attribute, or `None` if there is no such attribute.
    fn attribute(&self, _name: &str) -> Option<Value> {
        None
    }
    /// Calls a special method (`__len__`, `__add__` …) that a script defined; `None` if it defined none.
    fn special(&self, _name: &str, _args: &[Value]) -> Option<Result<Value>> {
        None
    }
    /// Creates an object of the same class without attributes, and returns its attributes, which are to be filled.
    /// `None` for objects that are not copied.
    fn fresh(&self) -> Option<(Value, Dict)> {
        None
    }
    /// Returns whether a script's class defines this special method.
    fn has_special(&self, _name: &str) -> bool {
        false
    }
    /// Returns an attribute that the object looks up itself and whose lookup may fail. `None` leaves the name to
    /// [`Object::attribute`] and to methods.
    fn own_attribute(&self, _name: &str) -> Option<Result<Value>> {
        None
    }
    /// Sets an attribute; `None` if attributes of the object cannot be set.
    fn set_attribute(&self, _name: &str, _value: &Value) -> Option<Result<()>> {
        None
    }
    /// Deletes an attribute; `None` if attributes of the object cannot be deleted.
    fn delete_attribute(&self, _name: &str) -> Option<Result<()>> {
        None
    }
    /// Returns the number of its items, for `len`; `None` for an object without a length.
    fn length(&self) -> Option<Result<Value>> {
        self.special("__len__", &[])
    }
    /// Returns `object[index]`; `None` for an object without items. `session` is the same as for [`Object::enter`].
    fn item(&self, _session: &dyn Any, index: &Value) -> Option<Result<Value>> {
        self.special("__getitem__", std::slice::from_ref(index))
    }
    /// Runs `object[index] = value`; `None` for an object whose items cannot be set.
    fn set_item(&self, _session: &dyn Any, index: &Value, value: &Value) -> Option<Result<()>> {
        Some(self.special("__setitem__", &[index.clone(), value.clone()])?.map(drop))
    }
    /// Returns the elements of an array, which other functions may read and write; `None` for any other object.
    fn elements(&self) -> Option<View> {
        None
    }
    /// Returns the bytes that the object lends by Python's buffer protocol; `None` if it has none.
    fn buffer(&self) -> Option<Result<Buffer>> {
        None
    }
    /// Returns the bytes of an array, whatever its elements are; `None` for any other object.
    fn bytes(&self) -> Option<Result<Buffer>> {
        None
    }
    /// Returns the elements of an array as those of a tensor on the same memory, or PyTorch's refusal; `None` for any
    /// other object.
    fn tensor_elements(&self) -> Option<Result<View>> {
        None
    }
    /// Returns the place of an array's elements in memory, without a copy; `None` for any other object.
    fn memory(&self) -> Option<ArrayMemory> {
        None
    }
    /// Returns whether the object is a NumPy array or scalar.
    fn is_array(&self) -> bool {
        false
    }
    /// Returns the value of a NumPy scalar; `None` for any other object, arrays without dimensions included.
    fn number(&self) -> Option<Scalar> {
        None
    }
    /// Returns whether it is an instance of a class besides that of [`Object::class_name`].
    fn is_instance(&self, _class: &str) -> bool {
        false
    }
    /// Returns an iterator over its items; `None` if it is not iterable.
    fn iterator(&self) -> Option<Result<Value>> {
        None
    }
    /// Returns whether [`Object::next`] is implemented.
    fn is_iterator(&self) -> bool {
        false
    }
    /// Returns the next item of an iterator, or `Some(Ok(None))` at its end; `None` if the object is not an iterator.
    fn next(&self) -> Option<Result<Option<Value>>> {
        None
    }
    /// Returns whether the object can be called.
    fn is_callable(&self) -> bool {
        false
    }
    /// Calls the object; `None` if it cannot be called.
    fn call(&self, _args: Vec<Value>, _keywords: Keywords) -> Option<Result<Value>> {
        None
    }
    /// Enters the object as a context manager. Returns the value for `as`; the inner `None` stands for the object
    /// itself. Returns `None` if the object is not a context manager. `session` is the state of the session
    /// (`call::State`), a type that is unknown here.
    fn enter(&self, _session: &dyn Any) -> Option<Result<Option<Value>>> {
        None
    }
    /// Leaves the object as a context manager.
    fn exit(&self, _session: &dyn Any) -> Result<()> {
        Ok(())
    }
    /// Returns whether the object can decorate a function, which then runs within it.
    fn is_decorator(&self) -> bool {
        false
    }
    /// Called when the object decorates a function. Returns a function without arguments that makes a new context for
    /// each call, or `None` if the object itself is entered again. `session` is as in [`Object::enter`].
    fn renewed(&self, _session: &dyn Any) -> Option<Value> {
        None
    }
    /// Returns whether the object is a function whose calls return generators.
    fn is_generator_function(&self) -> bool {
        false
    }
    /// Converts the object to the error that `raise` produces, or `None` if it is not an exception.
    fn error(&self) -> Option<Error> {
        None
    }
    /// Returns the object's class, if it was written in a script.
    fn class(&self) -> Option<Value> {
        None
    }
    /// For a class, returns whether it is `class` or derived from it; `None` for other objects.
    fn derives(&self, _class: &Value) -> Option<bool> {
        None
    }
    /// Returns the value that it holds if its class derives from one of Python's own: the dictionary of an object of
    /// `class Table(dict)`. `None` for other objects.
    fn underlying(&self) -> Option<Value> {
        None
    }
    /// Has a function called when the object is gone. Only objects of a script's classes do.
    fn watch(&self, _callback: Value) {}
    /// Returns the mutable state of the object and the values it refers to, which undo saves and restores.
    fn object_state(&self) -> ObjectState {
        ObjectState::default()
    }
    /// Returns the identity of an object that is recreated for every access; equal identities mean the same object.
    fn identity(&self) -> Option<usize> {
        None
    }
}

/// A variable shared by functions.
pub trait Slot {
    fn value(&self) -> Option<Value>;
    fn put(&self, value: Option<Value>);
    fn identity(&self) -> usize;
}

/// The state that an object holds.
#[derive(Default)]
pub struct ObjectState {
    /// The object's fields.
    pub dicts: Vec<Dict>,
    /// The captured variables.
    pub slots: Vec<Rc<dyn Slot>>,
    /// The values that it always refers to.
    pub values: Vec<Value>,
}

impl dyn Object {
    /// Returns the object for downcasting.
    pub fn as_any(&self) -> &dyn Any {
        self
    }
}
