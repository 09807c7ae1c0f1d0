//! How objects of a script behave: attributes, calls, iteration and special methods, as the trait [`Object`] asks for them.

use super::class::{Base, Entry, Instance, as_rc, call_entry, instance_attribute, set_without_setattr};
use super::{descriptors, exceptions};
use tensor::{Error, ErrorKind, Result};
use value::{Dict, Keywords, Object, ObjectState, Value};

impl Object for Instance {
    fn object_state(&self) -> ObjectState {
        let values = self.class().into_iter().chain(self.held.clone()).collect();
        ObjectState { dicts: vec![self.fields.dict()], values, ..ObjectState::default() }
    }
    fn watch(&self, callback: Value) {
        self.watchers.borrow_mut().push(callback);
    }
    fn underlying(&self) -> Option<Value> {
        self.held.clone()
    }
    fn type_name(&self) -> &str {
        self.class.name()
    }
    fn class_name(&self) -> &'static str {
        match &self.class {
            Base::Builtin(name) => name,
            Base::User(class) => class.names.get().path,
        }
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let args = || vec![Value::str(name)];
        if self.finds()
            && let Some(found) = self.call_script_method("__getattribute__", args())
        {
            let is_missing = matches!(&found, Err(error) if error.kind == ErrorKind::AttributeError);
            let other = if is_missing { self.method("__getattr__", args()) } else { None };
            return Some(other.unwrap_or(found));
        }
        let absent = || descriptors::missing(self.type_name(), name);
        Some(instance_attribute(&self.handle()?, name).and_then(|found| found.ok_or_else(absent)))
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        let written = self.call_script_method("__setattr__", vec![Value::str(name), value.clone()]);
        written.map(|done| done.map(drop)).or_else(|| Some(set_without_setattr(&self.handle()?, name, value)))
    }
    fn delete_attribute(&self, name: &str) -> Option<Result<()>> {
        if let Some(done) = self.call_script_method("__delattr__", vec![Value::str(name)]) {
            return Some(done.map(drop));
        }
        if let Some(Entry::ObjectState(held)) = self.class.find(name)
            && let Some(property) = as_rc::<descriptors::Property>(&held)
        {
            return Some(property.delete(&Value::Object(self.handle()?), name, &self.class));
        }
        Some(if self.fields.remove(name) { Ok(()) } else { Err(descriptors::missing(self.type_name(), name)) })
    }
    fn iterator(&self) -> Option<Result<Value>> {
        self.method("__iter__", Vec::new())
    }
    fn is_iterator(&self) -> bool {
        self.class.find("__next__").is_some()
    }
    fn next(&self) -> Option<Result<Option<Value>>> {
        Some(match self.method("__next__", Vec::new())? {
            Ok(item) => Ok(Some(item)),
            Err(error) if error.kind == ErrorKind::StopIteration => Ok(None),
            Err(error) => Err(error),
        })
    }
    fn is_callable(&self) -> bool {
        self.class.find("__call__").is_some()
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        let entry = self.class.find("__call__")?;
        Some(call_entry(&entry, &Value::Object(self.handle()?), &self.class, args, keywords))
    }
    fn class(&self) -> Option<Value> {
        Some(self.class.value())
    }
    fn error(&self) -> Option<Error> {
        self.is_exception().then(|| self.handle().as_ref().map(exceptions::to_error)).flatten()
    }
    fn fresh(&self) -> Option<(Value, Dict)> {
        if self.context.is_some() {
            return None;
        }
        let copy = Instance::with(self.class.clone(), self.held.as_ref().map(Base::copied), None);
        let fields = copy.fields.dict();
        Some((Value::Object(copy), fields))
    }
    fn has_special(&self, name: &str) -> bool {
        match self.class.find(name) {
            Some(Entry::ObjectState(method)) => !matches!(method, Value::None),
            Some(Entry::Held(_)) => true,
            Some(Entry::Native(_)) | None => false,
        }
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        // A non-special builtin method does nothing that objects do not do anyway.
        let entry = match self.class.find(name) {
            Some(Entry::Native(method)) if !method.special => return None,
            // A class that defines `__eq__` without `__hash__` is unhashable.
            Some(Entry::ObjectState(Value::None)) if name == "__hash__" => {
                return Some(Err(Error::type_error(format!("unhashable type: '{}'", self.type_name()))));
            }
            Some(entry) => entry,
            None => return None,
        };
        self.call_member(&entry, args.to_vec())
    }
}
