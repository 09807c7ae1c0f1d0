//! Classes that a script defines, and their objects: inheritance, fields, and attribute lookup. Objects have identity:
//! everyone who holds one sees its changes. Members that act on lookup are in `descriptors.rs`; exceptions are in
//! `exceptions.rs`.

use super::callable::Scripted;
use super::callback::Home;
use super::descriptors::{self, NativeMethod};
use super::dict::Dict;
use super::fault;
use super::list::{List, own};
use super::members;
use super::value::{object, to_dynamic, to_value};
use crate::bail;
use crate::functions::parent_of_class;
use crate::tensor::{Error, Result};
use crate::value::equality;
use crate::value::{Object, Value, intern};
use rhai::{Array, Dynamic, Map};
use std::any::Any;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// Named values in the order in which they were set.
#[derive(Default)]
pub struct Fields(RefCell<Vec<(Rc<str>, Dynamic)>>);

impl Fields {
    pub fn get(&self, name: &str) -> Option<Dynamic> {
        self.0.borrow().iter().find(|(known, _)| &**known == name).map(|(_, value)| value.clone())
    }

    pub fn set(&self, name: &str, value: Dynamic) {
        let value = own(value);
        let mut fields = self.0.borrow_mut();
        match fields.iter_mut().find(|(known, _)| &**known == name) {
            Some(field) => {
                let before = std::mem::replace(&mut field.1, value);
                // What is dropped may look here.
                drop(fields);
                drop(before);
            }
            None => fields.push((name.into(), value)),
        }
    }

    /// Removes a field, and returns whether it was there.
    pub fn remove(&self, name: &str) -> bool {
        let mut fields = self.0.borrow_mut();
        let Some(at) = fields.iter().position(|(known, _)| &**known == name) else { return false };
        let removed = fields.remove(at);
        drop(fields);
        drop(removed);
        true
    }

    pub fn names(&self) -> Vec<Rc<str>> {
        self.0.borrow().iter().map(|(name, _)| name.clone()).collect()
    }

    /// Everything that is held, which is then no longer.
    pub fn take(&self) -> Vec<Dynamic> {
        self.0.take().into_iter().map(|(_, value)| value).collect()
    }

    fn entries(&self) -> Vec<(Value, Dynamic)> {
        self.0.borrow().iter().map(|(name, value)| (Value::str(name), value.clone())).collect()
    }
}

/// A class: one of a script, or one that is there from the start, by its full name.
#[derive(Clone)]
pub enum Base {
    Builtin(&'static str),
    User(Rc<Class>),
}

impl Base {
    /// The class that a value is, if it is one.
    pub fn of(value: &Value) -> Option<Base> {
        match value {
            Value::Type(name) => Some(Base::Builtin(name)),
            Value::Object(object) => {
                object.as_any().downcast_ref::<Class>().and_then(|class| class.this.upgrade()).map(Base::User)
            }
            _ => None,
        }
    }

    pub fn value(&self) -> Value {
        match self {
            Base::Builtin(name) => Value::Type(name),
            Base::User(class) => Value::Object(class.clone()),
        }
    }

    pub fn is(&self, other: &Base) -> bool {
        match (self, other) {
            (Base::Builtin(a), Base::Builtin(b)) => a == b,
            (Base::User(a), Base::User(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The name without its module.
    pub fn name(&self) -> &'static str {
        match self {
            Base::Builtin(name) => name.rsplit('.').next().unwrap_or(name),
            Base::User(class) => class.name,
        }
    }

    /// The class and everything it is derived from, in the order in which attributes are looked for.
    pub fn ancestors(&self) -> Vec<Base> {
        match self {
            Base::Builtin(name) => {
                let mut all = vec![self.clone()];
                let mut name = *name;
                while let Some(parent) = parent_of_class(name) {
                    all.push(Base::Builtin(parent));
                    name = parent;
                }
                all
            }
            Base::User(class) => std::iter::once(self.clone()).chain(class.order.iter().cloned()).collect(),
        }
    }

    pub fn derives(&self, from: &Base) -> bool {
        self.ancestors().iter().any(|base| base.is(from))
    }

    pub fn derives_builtin(&self, name: &str) -> bool {
        self.ancestors().iter().any(|base| matches!(base, Base::Builtin(known) if *known == name))
    }

    pub fn find(&self, name: &str) -> Option<Entry> {
        match self {
            Base::Builtin(_) => find_in(&self.ancestors(), name),
            Base::User(class) => class.fields.get(name).map(Entry::Held).or_else(|| find_in(&class.order, name)),
        }
    }
}

/// The member of a class under a name.
#[derive(Clone)]
pub enum Entry {
    Held(Dynamic),
    /// Something that the class has from the start.
    Native(&'static NativeMethod),
}

/// The first of these classes that has the name.
pub fn find_in(order: &[Base], name: &str) -> Option<Entry> {
    order.iter().find_map(|base| match base {
        Base::User(class) => class.fields.get(name).map(Entry::Held),
        Base::Builtin(class) => descriptors::native(class, name).map(Entry::Native),
    })
}

/// A class of a script.
pub struct Class {
    pub name: &'static str,
    /// With its module in front.
    path: &'static str,
    pub bases: Vec<Base>,
    /// The classes to search for attributes after the class itself.
    pub order: Vec<Base>,
    pub fields: Fields,
    pub home: Home,
    this: Weak<Class>,
}

impl Class {
    /// A class without anything in it.
    ///
    /// # Errors
    /// TypeError for what cannot be derived from.
    pub fn new(name: &str, bases: Vec<Base>, home: Home) -> Result<Rc<Class>> {
        Class::within("__main__", name, bases, home)
    }

    /// As [`Class::new`], in another module than that of the session.
    ///
    /// # Errors
    /// As [`Class::new`].
    pub fn within(module: &str, name: &str, bases: Vec<Base>, home: Home) -> Result<Rc<Class>> {
        let bases = if bases.is_empty() { vec![Base::Builtin("object")] } else { bases };
        for (i, base) in bases.iter().enumerate() {
            match base {
                Base::Builtin("bool" | "range" | "slice" | "NoneType" | "ellipsis" | "torch.dtype") => {
                    bail!(TypeError, "type '{}' is not an acceptable base type", base.name())
                }
                Base::Builtin(name) if !descriptors::can_be_derived(name) => {
                    bail!(NotImplementedError, "classes derived from {name} are not supported at this prompt")
                }
                _ => {}
            }
            if bases.iter().skip(i + 1).any(|other| other.is(base)) {
                bail!(TypeError, "duplicate base class {}", base.name());
            }
        }
        let order = linearised(&bases)?;
        let (name, path) = (intern(name), intern(&format!("{module}.{name}")));
        Ok(Rc::new_cyclic(|this| Class {
            name,
            path,
            bases,
            order,
            fields: Fields::default(),
            home,
            this: this.clone(),
        }))
    }

    fn handle(&self) -> Option<Rc<Class>> {
        self.this.upgrade()
    }
}

/// The order in which the bases of a class are looked through: each before what it is derived from, and in the order in
/// which they were named.
fn linearised(bases: &[Base]) -> Result<Vec<Base>> {
    let mut rows: Vec<Vec<Base>> = bases.iter().map(Base::ancestors).chain([bases.to_vec()]).collect();
    let mut order = Vec::new();
    loop {
        rows.retain(|row| !row.is_empty());
        if rows.is_empty() {
            return Ok(order);
        }
        let heads = rows.iter().filter_map(|row| row.first());
        let free = |head: &&Base| !rows.iter().any(|row| row.iter().skip(1).any(|other| other.is(head)));
        let Some(next) = heads.clone().find(free).cloned() else {
            let names: Vec<&str> = bases.iter().map(Base::name).collect();
            bail!(TypeError, "Cannot create a consistent method resolution\norder (MRO) for bases {}", names.join(", "))
        };
        for row in &mut rows {
            if row.first().is_some_and(|head| head.is(&next)) {
                row.remove(0);
            }
        }
        order.push(next);
    }
}

impl Object for Class {
    fn type_name(&self) -> &str {
        "type"
    }
    fn class_name(&self) -> &'static str {
        "type"
    }
    fn repr(&self) -> String {
        format!("<class '{}'>", self.path)
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let absent = || Error::attribute(format!("type object '{}' has no attribute '{name}'", self.name));
        Some(found(class_attribute(&self.handle()?, name), absent))
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        set_class_attribute(&self.handle()?, name, &to_dynamic(value.clone()));
        Some(Ok(()))
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn derives(&self, class: &Value) -> Option<bool> {
        let this = Base::User(self.handle()?);
        Some(Base::of(class).is_some_and(|class| this.derives(&class)))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// An object of a class of a script, or an exception.
pub struct Instance {
    pub class: Base,
    pub fields: Fields,
    /// The native part of the object, if it is one of ours.
    pub native: Option<Rc<dyn Native>>,
    this: Weak<Instance>,
}

/// Attributes that an object has by itself.
pub trait Native {
    fn attribute(&self, name: &str) -> Option<Result<Value>>;
    fn as_any(&self) -> &dyn Any;
}

impl Instance {
    pub fn new(class: Base) -> Rc<Instance> {
        Rc::new_cyclic(|this| Instance { class, fields: Fields::default(), native: None, this: this.clone() })
    }

    /// An object that knows something by itself.
    pub fn with_native(class: Base, native: Rc<dyn Native>) -> Rc<Instance> {
        Rc::new_cyclic(|this| Instance { class, fields: Fields::default(), native: Some(native), this: this.clone() })
    }

    pub fn handle(&self) -> Option<Rc<Instance>> {
        self.this.upgrade()
    }

    fn path(&self) -> &'static str {
        match &self.class {
            Base::Builtin(name) => name,
            Base::User(class) => class.path,
        }
    }

    pub fn is_exception(&self) -> bool {
        self.class.derives_builtin("BaseException")
    }

    /// Calls a method of the class of this object; `None` where there is none.
    pub fn call(&self, name: &str, args: Array) -> Option<Scripted<Dynamic>> {
        let entry = self.class.find(name)?;
        let this = object(self.handle()?);
        Some(call_entry(&entry, &this, &self.class, args, Map::new()))
    }
}

/// A long chain of objects is taken apart without recursion.
impl Drop for Instance {
    fn drop(&mut self) {
        super::list::dismantle(self.fields.take());
    }
}

impl Object for Instance {
    fn type_name(&self) -> &str {
        self.class.name()
    }
    fn class_name(&self) -> &'static str {
        self.path()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let absent = || descriptors::missing(self.type_name(), name);
        Some(found(instance_attribute(&self.handle()?, name), absent))
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        let set = set_instance_attribute(&self.handle()?, name, &own(to_dynamic(value.clone())));
        Some(set.map_err(|error| fault::error_of(&error)))
    }
    fn items(&self, most: usize) -> Option<Result<Vec<Value>>> {
        let items = members::items(self, most)?.map_err(|error| fault::error_of(&error));
        Some(items.and_then(|items| items.iter().map(to_value).collect()))
    }
    fn is_callable(&self) -> bool {
        self.class.find("__call__").is_some()
    }
    fn class(&self) -> Option<Value> {
        Some(self.class.value())
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        // What every object has from the start is what objects without special methods do.
        let entry = match self.class.find(name)? {
            Entry::Native(method) if !method.special => return None,
            entry => entry,
        };
        let this = object(self.handle()?);
        let args = args.iter().cloned().map(to_dynamic).map(own).collect();
        let result = call_entry(&entry, &this, &self.class, args, Map::new());
        Some(result.map_err(|error| fault::error_of(&error)).and_then(|value| to_value(&value)))
    }
}

/// Calls what was found in the class of an object, as a method of it.
pub fn call_entry(entry: &Entry, this: &Dynamic, class: &Base, mut args: Array, keywords: Map) -> Scripted<Dynamic> {
    match entry {
        Entry::Native(method) => (method.run)(this, args, keywords),
        Entry::Held(function) if function.is::<rhai::FnPtr>() => {
            args.insert(0, this.clone());
            home_of(class)?.invoke(function, args, keywords)
        }
        Entry::Held(held) => {
            let callee = descriptors::bound(held, Some(this), class)?;
            home_of(class)?.invoke(&callee, args, keywords)
        }
    }
}

/// Returns what calls functions of the script, for the members of a class.
fn home_of(class: &Base) -> Scripted<Home> {
    let user = class.ancestors().into_iter().find_map(|base| match base {
        Base::User(class) => Some(class.home.clone()),
        Base::Builtin(_) => None,
    });
    user.ok_or_else(|| fault::thrown(Error::type_error(format!("'{}' object is not callable", class.name()))))
}

/// The instance that a value of a script is.
pub fn instance_of(value: &Dynamic) -> Option<Rc<Instance>> {
    descriptors::as_object(value, Instance::handle)
}

/// The class of a script that a value is.
pub fn class_of(value: &Dynamic) -> Option<Rc<Class>> {
    descriptors::as_object(value, Class::handle)
}

/// An attribute of an object, with everything that Python looks at; `None` where there is none.
pub fn instance_attribute(this: &Rc<Instance>, name: &str) -> Scripted<Option<Dynamic>> {
    let found = this.class.find(name);
    if let Some(Entry::Held(held)) = &found
        && let Some(property) = descriptors::property_of(held)
    {
        return property.get(&object(this.clone()), &home_of(&this.class)?).map(Some);
    }
    if let Some(value) = this.fields.get(name) {
        return Ok(Some(value));
    }
    if let Some(value) = this.native.as_ref().and_then(|native| native.attribute(name)) {
        return value.map(|value| Some(to_dynamic(value))).map_err(fault::thrown);
    }
    match found {
        Some(Entry::Held(held)) => {
            return descriptors::bound(&held, Some(&object(this.clone())), &this.class).map(Some);
        }
        Some(Entry::Native(method)) => return Ok(Some(method.of(&object(this.clone())))),
        None => {}
    }
    match name {
        "__class__" => return Ok(Some(to_dynamic(this.class.value()))),
        "__dict__" => {
            let fields = Dict::new(this.fields.entries()).map_err(fault::thrown)?;
            return Ok(Some(Dynamic::from(fields)));
        }
        "__module__" => return Ok(Some("__main__".into())),
        "__doc__" => return Ok(Some(Dynamic::UNIT)),
        _ => {}
    }
    match this.class.find("__getattr__") {
        Some(entry) => call_entry(&entry, &object(this.clone()), &this.class, vec![name.into()], Map::new()).map(Some),
        None => Ok(None),
    }
}

/// An attribute of a class; `None` where there is none.
pub fn class_attribute(this: &Rc<Class>, name: &str) -> Scripted<Option<Dynamic>> {
    let base = Base::User(this.clone());
    match base.find(name) {
        Some(Entry::Held(held)) => return descriptors::bound(&held, None, &base).map(Some),
        Some(Entry::Native(method)) => {
            // A class method knows its class; any other is called with its object in front.
            let receiver = if method.of_class() { to_dynamic(base.value()) } else { Dynamic::UNIT };
            return Ok(Some(method.of(&receiver)));
        }
        None => {}
    }
    let tuple = |bases: &mut dyn Iterator<Item = Base>| to_dynamic(Value::tuple(bases.map(|base| base.value())));
    Ok(Some(match name {
        "__name__" => this.name.rsplit('.').next().unwrap_or(this.name).into(),
        "__qualname__" => this.name.into(),
        "__module__" => "__main__".into(),
        "__doc__" => Dynamic::UNIT,
        "__bases__" => tuple(&mut this.bases.iter().cloned()),
        "__mro__" => tuple(&mut base.ancestors().into_iter()),
        "__base__" => this.bases.first().map_or(Dynamic::UNIT, |base| to_dynamic(base.value())),
        "__class__" => to_dynamic(Value::Type("type")),
        "__dict__" => Dynamic::from(Dict::new(this.fields.entries()).map_err(fault::thrown)?),
        "__annotations__" => Dynamic::from(Dict::new([]).map_err(fault::thrown)?),
        _ => return Ok(None),
    }))
}

/// Sets an attribute of an object, by its class's own ways if it has any.
pub fn set_instance_attribute(this: &Rc<Instance>, name: &str, value: &Dynamic) -> Scripted<()> {
    let itself = || object(this.clone());
    if let Some(entry @ Entry::Held(_)) = this.class.find("__setattr__") {
        return call_entry(&entry, &itself(), &this.class, vec![name.into(), value.clone()], Map::new()).map(drop);
    }
    set_plainly(this, name, value)
}

/// As [`set_instance_attribute`], without `__setattr__`.
pub fn set_plainly(this: &Rc<Instance>, name: &str, value: &Dynamic) -> Scripted<()> {
    if let Some(Entry::Held(held)) = this.class.find(name)
        && let Some(property) = descriptors::property_of(&held)
    {
        let home = home_of(&this.class)?;
        return property.set(&object(this.clone()), value, name, this.class.name(), &home);
    }
    this.fields.set(name, value.clone());
    Ok(())
}

/// Sets an attribute of a class.
pub fn set_class_attribute(this: &Rc<Class>, name: &str, value: &Dynamic) {
    let value = own(value.clone());
    descriptors::note_owner(&value, this);
    this.fields.set(name, value);
}

/// Returns whether two values of a script are the same object. Numbers and texts are if they are equal.
pub fn is_same(a: &Dynamic, b: &Dynamic) -> bool {
    if let (Some(a), Some(b)) = (a.read_lock::<List>(), b.read_lock::<List>()) {
        return a.identity() == b.identity();
    }
    if let (Some(a), Some(b)) = (a.read_lock::<Dict>(), b.read_lock::<Dict>()) {
        return a.identity() == b.identity();
    }
    match (to_value(a), to_value(b)) {
        (Ok(a), Ok(b)) if a.as_scalar().is_some() => equality::equal(&a, &b),
        (Ok(a), Ok(b)) => equality::is(&a, &b),
        _ => false,
    }
}

/// An attribute that was looked for, as a value.
fn found(attribute: Scripted<Option<Dynamic>>, absent: impl FnOnce() -> Error) -> Result<Value> {
    match attribute.map_err(|error| fault::error_of(&error))? {
        Some(value) => to_value(&value),
        None => Err(absent()),
    }
}
