//! Class members that change when looked up through an object: functions become methods, and `staticmethod`,
//! `classmethod`, `property` and the members every class starts with say what they become. `super()` looks up past a
//! class.

use super::autograd_function::{self, CONTEXT, FUNCTION};
use super::callable::{Def, Scripted};
use super::callback::Home;
use super::class::{Base, Class, Entry, Instance, call_entry, class_of, find_in, instance_of, set_plainly};
use super::exceptions;
use super::fault;
use super::value::{BoxedObject, object, to_dynamic, to_value};
use crate::format;
use crate::tensor::{Error, Result};
use crate::value::{Object, Value};
use rhai::{Array, Dynamic, FnPtr, Map};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

/// Reads what an object of one of our classes gives.
pub fn as_object<T: Object, R>(value: &Dynamic, read: impl FnOnce(&T) -> Option<R>) -> Option<R> {
    let boxed = value.read_lock::<BoxedObject>()?;
    match &boxed.0 {
        Value::Object(object) => object.as_any().downcast_ref::<T>().and_then(read),
        _ => None,
    }
}

macro_rules! plain_object {
    ($type:ty, $name:literal) => {
        impl Object for $type {
            fn class_name(&self) -> &'static str {
                $name
            }
            fn as_any(&self) -> &dyn Any {
                self
            }
        }
    };
}

/// `staticmethod(f)`
pub struct StaticMethod(pub Dynamic);
plain_object!(StaticMethod, "staticmethod");

/// `classmethod(f)`
pub struct ClassMethod(pub Dynamic);
plain_object!(ClassMethod, "classmethod");

/// `property(get, set, delete)`; what is missing is `()`.
#[derive(Clone, Default)]
pub struct Property {
    pub get: Dynamic,
    pub set: Dynamic,
    pub delete: Dynamic,
}

impl Object for Property {
    fn class_name(&self) -> &'static str {
        "property"
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        Accessor::of(self.clone(), name).map(|part| to_value(&part))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Property {
    pub fn get(&self, this: &Dynamic, home: &Home) -> Scripted<Dynamic> {
        home.invoke(&self.get, vec![this.clone()], Map::new())
    }

    pub fn set(&self, this: &Dynamic, value: &Dynamic, name: &str, class: &str, home: &Home) -> Scripted<()> {
        if self.set.is_unit() {
            return Err(fault::thrown(Error::attribute(format!(
                "property '{name}' of '{class}' object has no setter"
            ))));
        }
        home.invoke(&self.set, vec![this.clone(), value.clone()], Map::new()).map(drop)
    }
}

/// The property that is held, if it is one.
pub fn property_of(held: &Dynamic) -> Option<Property> {
    as_object(held, |property: &Property| Some(property.clone()))
}

/// A function with its first argument.
pub struct BoundMethod {
    pub this: Dynamic,
    pub function: Dynamic,
}

impl Object for BoundMethod {
    fn is_callable(&self) -> bool {
        true
    }
    fn class_name(&self) -> &'static str {
        "method"
    }
    fn repr(&self) -> String {
        let name = Def::of(&self.function).map_or("?".into(), |def| def.name.clone());
        format!("<bound method {name} of {}>", shown(&self.this))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "__self__" => to_value(&self.this).ok(),
            "__func__" => to_value(&self.function).ok(),
            "__name__" => Def::of(&self.function).map(|def| Value::str(def.short_name())),
            "__qualname__" => Def::of(&self.function).map(|def| Value::str(&def.name)),
            _ => None,
        }
    }
}

/// Python's `repr`, for names of objects in texts.
fn shown(value: &Dynamic) -> String {
    let shown = to_value(value).and_then(|value| format::plainly(&value));
    shown.unwrap_or_else(|error| error.message)
}

/// Returns the result of looking up a class's member, through an object of the class or through the class itself.
pub fn bound(held: &Dynamic, this: Option<&Dynamic>, class: &Base) -> Scripted<Dynamic> {
    if held.is::<FnPtr>() {
        return Ok(match this {
            Some(this) => object(Rc::new(BoundMethod { this: this.clone(), function: held.clone() })),
            None => held.clone(),
        });
    }
    if let Some(function) = as_object(held, |method: &StaticMethod| Some(method.0.clone())) {
        return Ok(function);
    }
    if let Some(function) = as_object(held, |method: &ClassMethod| Some(method.0.clone())) {
        return Ok(object(Rc::new(BoundMethod { this: to_dynamic(class.value()), function })));
    }
    if let Some(descriptor) = instance_of(held)
        && descriptor.class.find("__get__").is_some()
    {
        let args = vec![this.cloned().unwrap_or_default(), to_dynamic(class.value())];
        return descriptor.call("__get__", args).unwrap_or_else(|| Ok(held.clone()));
    }
    Ok(held.clone())
}

/// A function that is put into a class knows it from then on, for `super()`.
pub fn note_owner(value: &Dynamic, class: &Rc<Class>) {
    let inner = as_object(value, |method: &StaticMethod| Some(method.0.clone()))
        .or_else(|| as_object(value, |method: &ClassMethod| Some(method.0.clone())));
    if let Some(inner) = inner {
        return note_owner(&inner, class);
    }
    if let Some(property) = property_of(value) {
        [property.get, property.set, property.delete].iter().for_each(|function| note_owner(function, class));
    }
    if let Some(def) = Def::of(value) {
        def.owner.replace(Some(Rc::downgrade(class)));
    }
}

/// `super()`: what comes after a class in the order of another.
pub struct Super {
    pub after: Rc<Class>,
    /// The object, or in a class method the class.
    pub this: Dynamic,
}

impl Object for Super {
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        Some(match self.attribute(name) {
            Ok(Some(found)) => to_value(&found),
            Ok(None) => Err(missing("super", name)),
            Err(error) => Err(fault::error_of(&error)),
        })
    }
    fn set_attribute(&self, name: &str, _value: &Value) -> Option<Result<()>> {
        Some(Err(missing("super", name)))
    }
    fn class_name(&self) -> &'static str {
        "super"
    }
    fn repr(&self) -> String {
        format!("<super: <class '{}'>, {}>", self.after.name, shown(&self.this))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Super {
    /// The class of the object, and what is looked through.
    fn order(&self) -> Option<(Base, Vec<Base>)> {
        let class = match instance_of(&self.this) {
            Some(instance) => instance.class.clone(),
            None => Base::User(class_of(&self.this)?),
        };
        let own = Base::User(self.after.clone());
        let order = class.ancestors();
        let at = order.iter().position(|base| base.is(&own))?;
        Some((class, order.into_iter().skip(at + 1).collect()))
    }

    fn find(&self, name: &str) -> Option<(Base, Entry)> {
        let (class, order) = self.order()?;
        find_in(&order, name).map(|entry| (class, entry))
    }

    pub fn attribute(&self, name: &str) -> Scripted<Option<Dynamic>> {
        match self.find(name) {
            None => Ok(None),
            Some((_, Entry::Native(method))) => Ok(Some(method.of(&self.this))),
            Some((class, Entry::Held(held))) => match property_of(&held) {
                Some(property) => property.get(&self.this, &self.after.home).map(Some),
                None => bound(&held, instance_of(&self.this).map(|_| &self.this), &class).map(Some),
            },
        }
    }

    /// Calls a method; `None` where there is none.
    pub fn call(&self, name: &str, mut args: Array, keywords: Map) -> Option<Scripted<Dynamic>> {
        let (class, entry) = self.find(name)?;
        // In a class method, and in `__new__`, what is found takes its class itself.
        if let (None, Entry::Held(held)) = (instance_of(&self.this), &entry) {
            let callee = bound(held, None, &class);
            return Some(callee.and_then(|callee| self.after.home.invoke(&callee, args, keywords)));
        }
        if let Entry::Native(method) = &entry
            && method.takes == Takes::Nothing
        {
            return Some((method.run)(&Dynamic::UNIT, std::mem::take(&mut args), keywords));
        }
        Some(call_entry(&entry, &self.this, &class, args, keywords))
    }
}

/// The first argument of a builtin method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    This,
    Class,
    Nothing,
}

/// A method that a class has from the start.
pub struct NativeMethod {
    class: &'static str,
    name: &'static str,
    pub takes: Takes,
    /// Whether it does something else than objects do anyway.
    pub special: bool,
    pub run: fn(&Dynamic, Array, Map) -> Scripted<Dynamic>,
}

impl NativeMethod {
    /// The method with what it takes in front; nothing of the kind yet for `()`.
    pub fn of(&'static self, this: &Dynamic) -> Dynamic {
        object(Rc::new(BoundNative { method: self, this: RefCell::new(this.clone()) }))
    }

    /// Returns whether it belongs to the class itself.
    pub fn of_class(&self) -> bool {
        self.takes == Takes::Class
    }
}

/// A [`NativeMethod`] as a value.
pub struct BoundNative {
    method: &'static NativeMethod,
    this: RefCell<Dynamic>,
}

impl Object for BoundNative {
    fn is_callable(&self) -> bool {
        true
    }
    fn class_name(&self) -> &'static str {
        "method-wrapper"
    }
    fn repr(&self) -> String {
        let this = self.this.borrow();
        match this.is_unit() {
            true => format!("<slot wrapper '{}' of '{}' objects>", self.method.name, self.method.class),
            false => format!("<bound method {} of {}>", self.method.name, shown(&this)),
        }
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl BoundNative {
    pub fn call(&self, mut args: Array, keywords: Map) -> Scripted<Dynamic> {
        let mut this = self.this.borrow().clone();
        if this.is_unit() && self.method.takes == Takes::This {
            if args.is_empty() {
                let message = format!("unbound method {}.{}() needs an argument", self.method.class, self.method.name);
                return Err(fault::thrown(Error::type_error(message)));
            }
            this = args.remove(0);
        }
        (self.method.run)(&this, args, keywords)
    }
}

const fn native_method(
    class: &'static str,
    name: &'static str,
    run: fn(&Dynamic, Array, Map) -> Scripted<Dynamic>,
) -> NativeMethod {
    NativeMethod { class, name, takes: Takes::This, special: false, run }
}

const NATIVES: &[NativeMethod] = &[
    native_method("object", "__init__", |_, _, _| Ok(Dynamic::UNIT)),
    native_method("object", "__init_subclass__", |_, _, _| Ok(Dynamic::UNIT)),
    NativeMethod {
        takes: Takes::Nothing,
        ..native_method("object", "__new__", |_, args, _| match args.first().and_then(class_of) {
            Some(class) => Ok(object(Instance::new(Base::User(class)))),
            None => Err(fault::thrown(Error::type_error("object.__new__(): not enough arguments"))),
        })
    },
    native_method("object", "__repr__", |this, _, _| Ok(address(this).into())),
    native_method("object", "__str__", |this, _, _| Ok(shown(this).into())),
    native_method("object", "__eq__", |this, args, _| {
        Ok(args.first().is_some_and(|other| super::class::is_same(this, other)).into())
    }),
    native_method("object", "__hash__", |this, _, _| {
        Ok(instance_of(this).map_or(0, |this| Rc::as_ptr(&this) as usize as i64 >> 4).into())
    }),
    native_method("object", "__setattr__", |this, args, _| match (instance_of(this), args.as_slice()) {
        (Some(this), [name, value]) => set_plainly(&this, &name.to_string(), value).map(|()| Dynamic::UNIT),
        _ => Err(fault::thrown(Error::type_error(format!("expected 2 arguments, got {}", args.len())))),
    }),
    native_method("object", "__getattribute__", |this, args, _| match (instance_of(this), args.as_slice()) {
        (Some(this), [name]) => {
            let name = name.to_string();
            let found = super::class::instance_attribute(&this, &name)?;
            found.ok_or_else(|| fault::thrown(missing(this.type_name(), &name)))
        }
        _ => Err(fault::thrown(Error::type_error(format!("expected 1 argument, got {}", args.len())))),
    }),
    NativeMethod {
        special: true,
        ..native_method("BaseException", "__init__", |this, args, _| {
            if let Some(this) = instance_of(this) {
                exceptions::set_args(&this, &args).map_err(fault::thrown)?;
            }
            Ok(Dynamic::UNIT)
        })
    },
    NativeMethod {
        special: true,
        ..native_method("BaseException", "__str__", |this, _, _| {
            let text = instance_of(this).map_or(Ok(String::new()), |this| exceptions::text(&this));
            text.map(Into::into).map_err(fault::thrown)
        })
    },
    NativeMethod {
        special: true,
        ..native_method("BaseException", "__repr__", |this, _, _| {
            let text = instance_of(this).map_or(Ok(String::new()), |this| exceptions::repr(&this));
            text.map(Into::into).map_err(fault::thrown)
        })
    },
    native_method("BaseException", "with_traceback", |this, _, _| Ok(this.clone())),
    native_method("BaseException", "add_note", |_, _, _| Ok(Dynamic::UNIT)),
    NativeMethod { takes: Takes::Class, ..native_method(FUNCTION, "apply", autograd_function::apply) },
    native_method(CONTEXT, "save_for_backward", autograd_function::save_for_backward),
    native_method(CONTEXT, "mark_dirty", autograd_function::mark_dirty),
    native_method(CONTEXT, "mark_non_differentiable", autograd_function::mark_non_differentiable),
    native_method(CONTEXT, "set_materialize_grads", autograd_function::set_materialize_grads),
];

/// Python's AttributeError.
pub fn missing(class: &str, name: &str) -> Error {
    Error::attribute(format!("'{class}' object has no attribute '{name}'"))
}

fn address(this: &Dynamic) -> String {
    instance_of(this).map_or_else(|| shown(this), |this| Object::repr(&*this))
}

/// Returns the builtin member of a class under a name.
pub fn native(class: &str, name: &str) -> Option<&'static NativeMethod> {
    NATIVES.iter().find(|method| method.class == class && method.name == name)
}

/// Returns whether a class of a script may be derived from this one.
pub fn can_be_derived(class: &str) -> bool {
    matches!(class, "object" | FUNCTION | CONTEXT | "torch.Tensor") || exceptions::is_class(class)
}

/// `p.setter`, `p.getter`, `p.deleter` of a property: what makes another one with that part.
#[derive(Clone)]
pub struct Accessor {
    property: Property,
    part: &'static str,
}
plain_object!(Accessor, "builtin_function_or_method");

impl Accessor {
    pub fn of(property: Property, name: &str) -> Option<Dynamic> {
        let part = match name {
            "setter" => "setter",
            "getter" => "getter",
            "deleter" => "deleter",
            "fget" => return Some(property.get),
            "fset" => return Some(property.set),
            "fdel" => return Some(property.delete),
            _ => return None,
        };
        Some(object(Rc::new(Accessor { property, part })))
    }

    pub fn with(&self, function: Dynamic) -> Dynamic {
        let mut property = self.property.clone();
        match self.part {
            "setter" => property.set = function,
            "getter" => property.get = function,
            _ => property.delete = function,
        }
        object(Rc::new(property))
    }
}
