//! Descriptors: class members that are transformed on lookup, such as functions (to methods), properties (to values)
//! and `super()`. Also the builtin methods of classes.

use super::calls::call;
use super::class::{
    Base, Class, Entry, Instance, as_rc, find_in, instance_attribute, instance_of, machine_of, set_without_setattr,
};
use super::exceptions;
use super::function::Function;
use super::{autograd_function, construct};
use call::suggest;
use explain::format;
use objects::calling::{NativeFunction, call_value};
use objects::container_methods;
use objects::lazy::iterator_of;
use objects::modules::{CONTEXT, FUNCTION};
use objects::plain::classes::is_instance_plainly;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use tensor::{Error, Result, bail};
use value::equality::{NotImplemented, call_special, is, truth};
use value::{Dict, Keywords, Object, ObjectState, Value};

/// `staticmethod(f)`
pub(crate) struct StaticMethod(pub Value);

impl Object for StaticMethod {
    fn class_name(&self) -> &'static str {
        "staticmethod"
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        match &self.0 {
            Value::Object(object) => object.call(args, keywords),
            _ => None,
        }
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        attribute_of_function(&self.0, name)
    }
}

/// Returns an attribute of a `staticmethod` or `classmethod`, which has those of its function.
fn attribute_of_function(function: &Value, name: &str) -> Option<Value> {
    match (name, function) {
        ("__func__" | "__wrapped__", _) => Some(function.clone()),
        ("__isabstractmethod__", _) => Some(Value::Bool(is_abstract(function))),
        ("__name__" | "__qualname__" | "__doc__" | "__module__" | "__annotations__", Value::Object(function)) => {
            function.own_attribute(name).and_then(Result::ok)
        }
        _ => None,
    }
}

fn is_abstract(function: &Value) -> bool {
    let Value::Object(function) = function else { return false };
    matches!(function.own_attribute("__isabstractmethod__"), Some(Ok(Value::Bool(true))))
}

/// `classmethod(f)`
pub(crate) struct ClassMethod(pub Value);

impl Object for ClassMethod {
    fn attribute(&self, name: &str) -> Option<Value> {
        attribute_of_function(&self.0, name)
    }
    fn class_name(&self) -> &'static str {
        "classmethod"
    }
}

/// `property(get, set, delete)`. Missing functions are `None`.
#[derive(Clone)]
pub(crate) struct PropertyParts {
    pub get: Value,
    pub set: Value,
    pub delete: Value,
    pub doc: Value,
}

pub(crate) struct Property(pub RefCell<PropertyParts>);

impl Object for Property {
    fn class_name(&self) -> &'static str {
        "property"
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let parts = self.0.borrow();
        let part = match name {
            "fget" => return Some(Ok(parts.get.clone())),
            "fset" => return Some(Ok(parts.set.clone())),
            "fdel" => return Some(Ok(parts.delete.clone())),
            "__doc__" => return Some(Ok(parts.doc.clone())),
            "__isabstractmethod__" => {
                let functions = [&parts.get, &parts.set, &parts.delete];
                return Some(Ok(Value::Bool(functions.into_iter().any(is_abstract))));
            }
            "setter" => |parts: &mut PropertyParts, function| parts.set = function,
            "getter" => |parts: &mut PropertyParts, function| parts.get = function,
            "deleter" => |parts: &mut PropertyParts, function| parts.delete = function,
            _ => return Some(Err(missing("property", name))),
        };
        let parts = parts.clone();
        Some(Ok(NativeFunction::value(name, move |args, _| {
            let mut changed = parts.clone();
            part(&mut changed, args.into_iter().next().unwrap_or(Value::None));
            Ok(Value::Object(Rc::new(Property(RefCell::new(changed)))))
        })))
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        (name == "__doc__").then(|| {
            self.0.borrow_mut().doc = value.clone();
            Ok(())
        })
    }
}

impl Property {
    pub(crate) fn set(&self, this: &Value, value: &Value, name: &str, class: &Base) -> Result<()> {
        let set = self.0.borrow().set.clone();
        if matches!(set, Value::None) {
            return Err(lacks(name, class, "setter"));
        }
        call(&*machine_of(class)?, &set, vec![this.clone(), value.clone()], Keywords::new()).map(drop)
    }

    pub(crate) fn delete(&self, this: &Value, name: &str, class: &Base) -> Result<()> {
        let delete = self.0.borrow().delete.clone();
        if matches!(delete, Value::None) {
            return Err(lacks(name, class, "deleter"));
        }
        call(&*machine_of(class)?, &delete, vec![this.clone()], Keywords::new()).map(drop)
    }
}

fn lacks(name: &str, class: &Base, part: &str) -> Error {
    let class = match class {
        Base::User(class) => class.qualified(),
        Base::Builtin(_) => class.name(),
    };
    Error::attribute(format!("property '{name}' of '{class}' object has no {part}"))
}

/// Creates an object of one of the classes above, or `super(class, object)`.
///
/// # Errors
/// Fails with TypeError for arguments that the class does not accept.
pub(crate) fn construct(class: &'static str, args: &[Value], keywords: &Keywords) -> Result<Value> {
    Ok(Value::Object(match (class, args) {
        ("property", _) => Rc::new(Property(RefCell::new(property(args, keywords)?))),
        ("staticmethod", [function]) => Rc::new(StaticMethod(function.clone())),
        ("classmethod", [function]) => Rc::new(ClassMethod(function.clone())),
        ("super", [class, this]) => match as_rc::<Class>(class) {
            Some(after) => Rc::new(Super { after, this: this.clone() }),
            None => bail!(TypeError, "super() argument 1 must be a type, not {}", class.type_name()),
        },
        ("super", _) => bail!(RuntimeError, "super(): no arguments"),
        _ => bail!(TypeError, "{class} expected 1 argument, got {}", args.len()),
    }))
}

/// `property(fget, fset, fdel, doc)`
pub(super) fn property(args: &[Value], keywords: &Keywords) -> Result<PropertyParts> {
    let given = args.len() + keywords.len();
    if given > 4 {
        bail!(TypeError, "property() takes at most 4 arguments ({given} given)");
    }
    let part = |place: usize, name: &str| {
        let named = || keywords.iter().find(|(known, _)| &**known == name).map(|(_, value)| value);
        args.get(place).or_else(named).cloned().unwrap_or(Value::None)
    };
    let (get, set, delete) = (part(0, "fget"), part(1, "fset"), part(2, "fdel"));
    let doc = match (part(3, "doc"), &get) {
        (Value::None, Value::Object(function)) => function.own_attribute("__doc__").and_then(Result::ok),
        (doc, _) => Some(doc),
    };
    Ok(PropertyParts { get, set, delete, doc: doc.unwrap_or(Value::None) })
}

/// A function bound to its first argument.
pub(crate) struct BoundMethod {
    pub this: Value,
    pub function: Value,
}

impl Object for BoundMethod {
    fn object_state(&self) -> ObjectState {
        ObjectState { values: vec![self.this.clone(), self.function.clone()], ..ObjectState::default() }
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, mut args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        args.insert(0, self.this.clone());
        match &self.function {
            Value::Object(object) => object.call(args, keywords),
            Value::Method(method) => {
                let class = Base::of(&self.this).or_else(|| instance_of(&self.this).map(|this| this.class.clone()))?;
                let called = |machine: Rc<super::machine::Machine>| {
                    call_value(&machine.state, &Value::Method(method.clone()), args, keywords)
                };
                Some(machine_of(&class).and_then(called))
            }
            _ => None,
        }
    }
    fn class_name(&self) -> &'static str {
        "method"
    }
    fn repr(&self) -> String {
        let function = as_rc::<Function>(&self.function);
        let name = function.map_or("?".into(), |function| function.qualified());
        format!("<bound method {name} of {}>", shown(&self.this))
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match (name, &self.function) {
            ("__self__", _) => Some(self.this.clone()),
            ("__func__", _) => Some(self.function.clone()),
            (name, Value::Object(function)) => match function.own_attribute(name) {
                Some(found) => found.ok(),
                None => function.attribute(name),
            },
            _ => None,
        }
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        let other = args.first().and_then(as_rc::<BoundMethod>)?;
        let equal = is(&self.this, &other.this) && is(&self.function, &other.function);
        (name == "__eq__").then_some(Ok(Value::Bool(equal)))
    }
}

/// Returns Python's `repr`, for object names in messages.
pub(super) fn shown(value: &Value) -> String {
    format::repr_by_default(value).unwrap_or_else(|error| error.message)
}

/// Returns whether a value becomes a method when looked up through an object: a function or a function wrapper.
pub(crate) fn is_function(value: &Value) -> bool {
    let Value::Object(object) = value else { return false };
    object.as_any().is::<Function>() || matches!(object.class_name(), "function" | "functools._lru_cache_wrapper")
}

/// Returns whether a class member takes precedence over the object's own field of that name.
pub(crate) fn goes_first(held: &Value) -> bool {
    as_rc::<Property>(held).is_some()
        || instance_of(held).is_some_and(|descriptor| match descriptor.class.find("__get__") {
            Some(_) => descriptor.class.find("__set__").is_some(),
            None => descriptor.underlying().is_some_and(|held| goes_first(&held)),
        })
}

/// Looks up a member of a class through an object or through the class itself, and returns the result.
pub(crate) fn bound(held: &Value, this: Option<&Value>, class: &Base) -> Result<Value> {
    if let (Value::Method(method), Some(this)) = (held, this)
        && let Value::Type(of) = method.of
        && !container_methods::is_of_class(of, method.name)
    {
        return Ok(Value::Object(Rc::new(BoundMethod { this: this.clone(), function: held.clone() })));
    }
    let Value::Object(object) = held else { return Ok(held.clone()) };
    let any = object.as_any();
    if let (Some(descriptor), Some(this)) = (any.downcast_ref::<BoundDescriptor>(), this)
        && descriptor.this.is_none()
        && descriptor.method.takes == ReceiverKind::This
    {
        return Ok(BoundDescriptor::native(descriptor.method, Some(this.clone())));
    }
    if is_function(held) {
        return Ok(match this {
            Some(this) => Value::Object(Rc::new(BoundMethod { this: this.clone(), function: held.clone() })),
            None => held.clone(),
        });
    }
    if let Some(method) = any.downcast_ref::<StaticMethod>() {
        return Ok(method.0.clone());
    }
    if let Some(method) = any.downcast_ref::<ClassMethod>() {
        return Ok(Value::Object(Rc::new(BoundMethod { this: class.value(), function: method.0.clone() })));
    }
    if let (Some(property), Some(this)) = (any.downcast_ref::<Property>(), this) {
        let get = property.0.borrow().get.clone();
        if matches!(get, Value::None) {
            return Err(Error::attribute(format!("unreadable attribute of '{}' object", class.name())));
        }
        return call(&*machine_of(class)?, &get, vec![this.clone()], Keywords::new());
    }
    if let Some(descriptor) = any.downcast_ref::<Instance>() {
        let args = vec![this.cloned().unwrap_or(Value::None), class.value()];
        return match (descriptor.method("__get__", args), descriptor.underlying()) {
            (Some(found), _) => found,
            (None, Some(inner @ Value::Object(_))) => bound(&inner, this, class),
            (None, _) => Ok(held.clone()),
        };
    }
    Ok(held.clone())
}

/// Returns `__get__`, `__set__` or `__delete__` of a function or a descriptor in Rust; `None` if it has none.
pub(super) fn protocol(held: &Value, name: &str) -> Option<Value> {
    let property = as_rc::<Property>(held);
    let is_descriptor = match held {
        Value::Object(object) => {
            let any = object.as_any();
            property.is_some() || any.is::<StaticMethod>() || any.is::<ClassMethod>() || any.is::<BoundDescriptor>()
        }
        Value::Method(method) => matches!(method.of, Value::Type(_)),
        _ => false,
    };
    let class_of = |this: &Value, args: &[Value]| {
        let given = args.get(1).and_then(Base::of);
        given.or_else(|| instance_of(this).map(|this| this.class.clone())).unwrap_or(Base::Builtin("object"))
    };
    match (name, property) {
        ("__get__", _) if is_descriptor || is_function(held) => {
            let held = held.clone();
            Some(NativeFunction::value(name, move |args, _| {
                let this = args.first().cloned().unwrap_or(Value::None);
                let object = if matches!(this, Value::None) { None } else { Some(&this) };
                bound(&held, object, &class_of(&this, &args))
            }))
        }
        ("__set__", Some(property)) => Some(NativeFunction::value(name, move |args, _| match args.as_slice() {
            [this, value] => property.set(this, value, "", &class_of(this, &[])).map(|()| Value::None),
            _ => Err(wrong_count(2, args.len())),
        })),
        ("__delete__", Some(property)) => Some(NativeFunction::value(name, move |args, _| match args.as_slice() {
            [this] => property.delete(this, "", &class_of(this, &[])).map(|()| Value::None),
            _ => Err(wrong_count(1, args.len())),
        })),
        _ => None,
    }
}

/// `super()`: looks up members in the classes that follow `after`.
pub(crate) struct Super {
    pub after: Rc<Class>,
    /// The object, or the class in a class method.
    pub this: Value,
}

impl Object for Super {
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        Some(self.lookup(name))
    }
    fn set_attribute(&self, name: &str, _value: &Value) -> Option<Result<()>> {
        Some(Err(missing("super", name)))
    }
    fn class_name(&self) -> &'static str {
        "super"
    }
    fn repr(&self) -> String {
        format!("<super: <class '{}'>, {}>", self.after.name(), shown(&self.this))
    }
}

impl Super {
    /// Returns the class of the object, and the next member of this name.
    fn find(&self, name: &str) -> Option<(Base, Entry)> {
        let class = match instance_of(&self.this) {
            Some(instance) => instance.class.clone(),
            None => Base::of(&self.this)?,
        };
        let own = Base::User(self.after.clone());
        // In a method of a metaclass, the object is a class.
        let class = match &class {
            Base::User(of) if !class.derives(&own) => of.meta.clone(),
            _ => class,
        };
        let order = class.ancestors();
        let at = order.iter().position(|base| base.is(&own))?;
        let entry = find_in(order.get(at + 1..)?, name)?;
        Some((class, entry))
    }

    pub(crate) fn lookup(&self, name: &str) -> Result<Value> {
        let is_object = |class: &Base| Base::of(&self.this).is_none_or(|this| !this.is(class) && !this.derives(class));
        let found = self.find(name);
        let object = found.as_ref().filter(|(class, _)| is_object(class)).map(|_| &self.this);
        match found {
            None => Err(missing("super", name)),
            Some((_, Entry::Native(method))) if method.takes == ReceiverKind::Nothing => {
                Ok(BoundDescriptor::native(method, None))
            }
            Some((_, Entry::Native(method))) => Ok(BoundDescriptor::native(method, Some(self.this.clone()))),
            Some((class, Entry::Held(name))) => Ok(match object {
                Some(object) => Base::held_method(name, object.clone()),
                None => class.held_unbound(name),
            }),
            // In a class method, the member is bound to the class itself. `__new__` receives the class from its caller.
            Some((class, Entry::ObjectState(held))) => bound(&held, object, &class),
        }
    }
}

/// The first parameter of a builtin method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReceiverKind {
    This,
    Class,
    Nothing,
}

type RunNative = fn(&Value, Vec<Value>, Keywords) -> Result<Value>;

/// A builtin method of a class.
pub struct NativeMethod {
    pub(super) class: &'static str,
    pub(super) name: &'static str,
    pub takes: ReceiverKind,
    /// Whether it does more than objects do anyway.
    pub special: bool,
    pub run: RunNative,
}

impl NativeMethod {
    /// Returns whether it is a class method.
    pub fn of_class(&self) -> bool {
        self.takes == ReceiverKind::Class
    }
}

/// A [`NativeMethod`] as a value, bound to its first argument if that is known.
pub(crate) struct BoundDescriptor {
    method: &'static NativeMethod,
    this: Option<Value>,
}

impl BoundDescriptor {
    pub(crate) fn native(method: &'static NativeMethod, this: Option<Value>) -> Value {
        Value::Object(Rc::new(BoundDescriptor { method, this }))
    }
}

impl Object for BoundDescriptor {
    fn is_callable(&self) -> bool {
        true
    }
    fn class_name(&self) -> &'static str {
        "method-wrapper"
    }
    fn repr(&self) -> String {
        match &self.this {
            None => format!("<slot wrapper '{}' of '{}' objects>", self.method.name, self.method.class),
            Some(this) => format!("<bound method {} of {}>", self.method.name, shown(this)),
        }
    }
    fn identity(&self) -> Option<usize> {
        self.this.is_none().then_some(std::ptr::from_ref(self.method) as usize)
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "__name__" => Some(Value::str(self.method.name)),
            "__qualname__" => Some(Value::str(format!("{}.{}", self.method.class, self.method.name))),
            "__objclass__" => Some(Value::Type(self.method.class)),
            "__self__" => self.this.clone(),
            _ => None,
        }
    }
    fn call(&self, mut args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        let this = match &self.this {
            Some(this) => this.clone(),
            None if self.method.takes != ReceiverKind::This => Value::None,
            None if args.is_empty() => {
                let message = format!("unbound method {}.{}() needs an argument", self.method.class, self.method.name);
                return Some(Err(Error::type_error(message)));
            }
            None => args.remove(0),
        };
        Some((self.method.run)(&this, args, keywords))
    }
}

pub(super) const fn native_method(class: &'static str, name: &'static str, run: RunNative) -> NativeMethod {
    NativeMethod { class, name, takes: ReceiverKind::This, special: false, run }
}

fn wrong_count(expected: usize, given: usize) -> Error {
    let plural = if expected == 1 { "" } else { "s" };
    Error::type_error(format!("expected {expected} argument{plural}, got {given}"))
}

/// `object.__reduce_ex__(protocol)`: what `copyreg` makes an object of again.
fn reduced(this: &Value, _: Vec<Value>, _: Keywords) -> Result<Value> {
    let Some(instance) = instance_of(this) else { bail!(TypeError, "cannot pickle '{}' object", this.type_name()) };
    let machine = machine_of(&instance.class)?;
    let module = machine.import("copyreg", false)?;
    let new = objects::members::attribute(&machine.state, &module, "__newobj__")?;
    let mut args = vec![instance.class.value()];
    let (mut items, mut pairs) = (Value::None, Value::None);
    match instance.underlying() {
        Some(Value::List(list)) => items = iterator_of(&machine.state, &Value::List(list))?,
        Some(Value::Dict(dict)) => {
            let entries = dict.to_vec().into_iter().map(|(key, value)| Value::tuple([key, value]));
            pairs = iterator_of(&machine.state, &Value::list(entries))?;
        }
        held => args.extend(held),
    }
    let state = instance.method("__getstate__", Vec::new()).unwrap_or(Ok(Value::None))?;
    Ok(Value::tuple([new, Value::tuple(args), state, items, pairs]))
}

const NATIVES: &[NativeMethod] = &[
    native_method("object", "__init__", |_, _, _| Ok(Value::None)),
    NativeMethod {
        takes: ReceiverKind::Class,
        ..native_method("object", "__init_subclass__", |this, _, keywords| match keywords.is_empty() {
            true => Ok(Value::None),
            false => {
                let name = Base::of(this).map_or("object", |class| class.name());
                Err(Error::type_error(format!("{name}.__init_subclass__() takes no keyword arguments")))
            }
        })
    },
    NativeMethod {
        takes: ReceiverKind::Nothing,
        ..native_method("object", "__new__", |_, args, _| match args.first().and_then(as_rc::<Class>) {
            Some(class) => Ok(Value::Object(Instance::new(Base::User(class)))),
            None => Err(Error::type_error("object.__new__(): not enough arguments")),
        })
    },
    NativeMethod {
        takes: ReceiverKind::Nothing,
        ..native_method("type", "__new__", |_, mut args, keywords| match args.first().and_then(Base::of) {
            Some(meta) => {
                args.remove(0);
                construct::new_class(&meta, &args, &keywords)
            }
            None => Err(Error::type_error("type.__new__(): not enough arguments")),
        })
    },
    native_method("type", "__init__", |_, _, _| Ok(Value::None)),
    native_method("type", "__call__", |this, args, keywords| match as_rc::<Class>(this) {
        Some(class) => construct::construct(&class, args, keywords),
        None => Err(Error::type_error("descriptor '__call__' requires a 'type' object")),
    }),
    NativeMethod {
        takes: ReceiverKind::Class,
        ..native_method("type", "__prepare__", |_, _, _| Ok(Value::Dict(Dict::default())))
    },
    native_method("type", "__repr__", |this, _, _| {
        Ok(Value::str(as_rc::<Class>(this).map_or_else(|| shown(this), |this| Object::repr(&*this))))
    }),
    native_method("type", "__setattr__", |this, args, _| match (as_rc::<Class>(this), args.as_slice()) {
        (Some(this), [Value::Str(name), value]) => {
            this.set_field(name, value);
            this.settle();
            Ok(Value::None)
        }
        _ => Err(wrong_count(2, args.len())),
    }),
    native_method("type", "__instancecheck__", |this, args, _| match args.as_slice() {
        [object] => is_instance_plainly(object, this).map(Value::Bool),
        _ => Err(wrong_count(1, args.len())),
    }),
    NativeMethod {
        takes: ReceiverKind::Class,
        ..native_method("object", "__subclasshook__", |_, _, _| Ok(Value::Object(Rc::new(NotImplemented))))
    },
    native_method("object", "__repr__", |this, _, _| {
        Ok(Value::str(instance_of(this).map_or_else(|| shown(this), |this| Object::repr(&*this))))
    }),
    native_method("object", "__str__", |this, _, _| Ok(Value::str(shown(this)))),
    native_method("object", "__eq__", |this, args, _| {
        Ok(match args.first() {
            Some(other) if is(this, other) => Value::Bool(true),
            _ => Value::Object(Rc::new(NotImplemented)),
        })
    }),
    native_method("object", "__ne__", |this, args, _| {
        match args.first().map(|other| call_special(this, "__eq__", other)) {
            Some(Some(equal)) => Ok(Value::Bool(!truth(&equal?)?)),
            _ => Ok(Value::Object(Rc::new(NotImplemented))),
        }
    }),
    native_method("object", "__lt__", |_, _, _| Ok(Value::Object(Rc::new(NotImplemented)))),
    native_method("object", "__le__", |_, _, _| Ok(Value::Object(Rc::new(NotImplemented)))),
    native_method("object", "__gt__", |_, _, _| Ok(Value::Object(Rc::new(NotImplemented)))),
    native_method("object", "__ge__", |_, _, _| Ok(Value::Object(Rc::new(NotImplemented)))),
    native_method("object", "__format__", |this, args, _| match args.as_slice() {
        [Value::Str(spec)] if spec.is_empty() => Ok(Value::str(explain::format::plain_text(this)?)),
        [Value::Str(_)] => {
            let class = this.type_name();
            Err(Error::type_error(format!("unsupported format string passed to {class}.__format__")))
        }
        _ => Err(wrong_count(1, args.len())),
    }),
    native_method("object", "__getstate__", |this, _, _| {
        let fields = instance_of(this).map(|this| this.fields.to_dict());
        Ok(fields.filter(|fields| fields.entries().is_some_and(|entries| !entries.is_empty())).unwrap_or(Value::None))
    }),
    native_method("object", "__sizeof__", |_, _, _| {
        Err(Error::not_implemented("the sizes of CPython's objects are not supported at this prompt"))
    }),
    native_method("object", "__reduce_ex__", reduced),
    native_method("object", "__reduce__", reduced),
    native_method("object", "__hash__", |this, _, _| Ok(Value::Int(this.address().unwrap_or_default() as i64 >> 4))),
    native_method("object", "__setattr__", |this, args, _| match (instance_of(this), args.as_slice()) {
        (Some(this), [Value::Str(name), value]) => set_without_setattr(&this, name, value).map(|()| Value::None),
        _ => Err(wrong_count(2, args.len())),
    }),
    native_method("object", "__delattr__", |this, args, _| match (instance_of(this), args.as_slice()) {
        (Some(this), [Value::Str(name)]) if this.fields.remove(name) => Ok(Value::None),
        (Some(this), [Value::Str(name)]) => Err(missing(this.type_name(), name)),
        _ => Err(wrong_count(1, args.len())),
    }),
    native_method("object", "__getattribute__", |this, args, _| match (instance_of(this), args.as_slice()) {
        (Some(this), [Value::Str(name)]) => {
            instance_attribute(&this, name)?.ok_or_else(|| missing(this.type_name(), name))
        }
        _ => Err(wrong_count(1, args.len())),
    }),
    NativeMethod {
        special: true,
        ..native_method("BaseException", "__init__", |this, args, _| {
            if let Some(this) = instance_of(this) {
                exceptions::set_args(&this, args);
            }
            Ok(Value::None)
        })
    },
    NativeMethod {
        special: true,
        ..native_method("BaseException", "__str__", |this, _, _| {
            instance_of(this).map_or(Ok(String::new()), |this| exceptions::text(&this)).map(Value::str)
        })
    },
    NativeMethod {
        special: true,
        ..native_method("BaseException", "__repr__", |this, _, _| {
            instance_of(this).map_or(Ok(String::new()), |this| exceptions::repr(&this)).map(Value::str)
        })
    },
    native_method("BaseException", "with_traceback", |this, _, _| Ok(this.clone())),
    native_method("BaseException", "add_note", |this, args, _| match (instance_of(this), args.as_slice()) {
        (Some(this), [note @ Value::Str(_)]) => exceptions::add_note(&this, note).map(|()| Value::None),
        (_, [other]) => Err(Error::type_error(format!("note must be a str, not '{}'", other.type_name()))),
        _ => {
            let given = args.len();
            Err(Error::type_error(format!("BaseException.add_note() takes exactly one argument ({given} given)")))
        }
    }),
    NativeMethod { takes: ReceiverKind::Class, ..native_method(FUNCTION, "apply", autograd_function::apply) },
    native_method(FUNCTION, "__call__", autograd_function::call_legacy),
    native_method(CONTEXT, "save_for_backward", autograd_function::save_for_backward),
    native_method(CONTEXT, "mark_dirty", autograd_function::mark_dirty),
    native_method(CONTEXT, "mark_non_differentiable", autograd_function::mark_non_differentiable),
    native_method(CONTEXT, "set_materialize_grads", autograd_function::set_materialize_grads),
];

/// Returns Python's AttributeError, or NotImplementedError for an attribute that CPython has.
pub(crate) fn missing(class: &str, name: &str) -> Error {
    let absent = || Error::attribute(format!("'{class}' object has no attribute '{name}'"));
    suggest::refused_special(class, name).unwrap_or_else(absent)
}

thread_local! {
    /// What builtin classes have, by class: a class is asked for the same names again and again.
    static OF_BUILTIN: RefCell<FxHashMap<&'static str, FxHashMap<&'static str, Entry>>> = RefCell::default();
}

/// Finds what a builtin class itself gives to the objects of classes that derive from it.
pub(super) fn of_builtin(class: &'static str, name: &str) -> Option<Entry> {
    OF_BUILTIN.with_borrow_mut(|known| {
        let members = known.entry(class).or_insert_with(|| {
            let names = native_names(class).chain(Base::held_names(class));
            let entry = |name| native(class, name).map(Entry::Native).or_else(|| Base::held_entry(class, name));
            names.filter_map(|name| Some((name, entry(name)?))).collect()
        });
        members.get(name).cloned()
    })
}

/// Returns the names of the builtin members of a class.
pub(super) fn native_names(class: &str) -> impl Iterator<Item = &'static str> {
    let own = NATIVES.iter().filter(move |method| method.class == class).map(|method| method.name);
    own.chain(Base::held_natives(class).iter().map(|(name, _)| *name))
}

/// Returns the builtin member of a class.
pub(crate) fn native(class: &str, name: &str) -> Option<&'static NativeMethod> {
    let own = NATIVES.iter().find(|method| method.class == class && method.name == name);
    own.or_else(|| Base::held_natives(class).iter().find(|(known, _)| *known == name).map(|(_, method)| method))
}

/// Returns whether a script's class may derive from this builtin class.
pub(crate) fn can_be_derived(class: &str) -> bool {
    matches!(class, "object" | "type" | FUNCTION | CONTEXT | "torch.Tensor")
        || Base::is_held(class)
        || objects::plain::exceptions::is_class(class)
}
