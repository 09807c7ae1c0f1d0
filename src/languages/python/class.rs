//! Classes defined by a script, and their objects: inheritance, fields, and attribute lookup. Objects have identity:
//! every reference sees their changes. Descriptors are in `descriptors.rs`, exceptions in `exceptions.rs`.

use super::autograd_function::Context;
use super::calls::call;
use super::class_names::ClassNames;
use super::class_order;
use super::code::mangled;
use super::descriptors::{self, BoundDescriptor, NativeMethod};
use super::exceptions;
use super::fields::Fields;
use super::machine::Machine;
use objects::calling::NativeFunction;
use objects::plain::classes::parent_of_class;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use tensor::{Error, Result, bail};
use value::{Dict, Keywords, Object, ObjectState, Value};

/// A class: defined by a script, or builtin and known by its full name.
#[derive(Clone)]
pub enum Base {
    Builtin(&'static str),
    User(Rc<Class>),
}

impl Base {
    /// Returns the value as a class, if it is one.
    pub fn of(value: &Value) -> Option<Base> {
        match value {
            Value::Type(name) => Some(Base::Builtin(name)),
            value => as_rc::<Class>(value).map(Base::User),
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

    /// Returns the name without its module.
    pub fn name(&self) -> &'static str {
        match self {
            Base::Builtin(name) => name.rsplit('.').next().unwrap_or(name),
            Base::User(class) => class.name(),
        }
    }

    /// Returns the name of the module that defines it.
    pub fn module(&self) -> &'static str {
        match self {
            Base::Builtin(name) => name.rsplit_once('.').map_or("builtins", |(module, _)| module),
            Base::User(class) => class.names.get().module,
        }
    }

    /// Returns the class and all its bases, in the order of attribute lookup.
    pub(crate) fn ancestors(&self) -> Vec<Base> {
        match self {
            Base::Builtin("object") => vec![self.clone()],
            Base::Builtin(name) => {
                let mut all = vec![self.clone()];
                let mut name = *name;
                while let Some(parent) = parent_of_class(name) {
                    all.push(Base::Builtin(parent));
                    // The only builtin class here with two bases.
                    if name == "io.UnsupportedOperation" {
                        all.push(Base::Builtin("ValueError"));
                    }
                    name = parent;
                }
                all
            }
            Base::User(class) => std::iter::once(self.clone()).chain(class.order.iter().cloned()).collect(),
        }
    }

    pub fn derives(&self, from: &Base) -> bool {
        match (self, from) {
            (_, Base::Builtin(name)) => self.derives_builtin(name),
            (Base::Builtin(_), Base::User(_)) => false,
            (Base::User(class), _) => self.is(from) || class.order.iter().any(|base| base.is(from)),
        }
    }

    pub(crate) fn derives_builtin(&self, name: &str) -> bool {
        match self {
            Base::User(class) => {
                name == "object"
                    || class.order.iter().any(|base| matches!(base, Base::Builtin(known) if *known == name))
            }
            Base::Builtin(own) if *own == name || name == "object" => true,
            Base::Builtin(_) => {
                self.ancestors().iter().any(|base| matches!(base, Base::Builtin(known) if *known == name))
            }
        }
    }

    pub fn find(&self, name: &str) -> Option<Entry> {
        match self {
            Base::Builtin(_) => find_in(&self.ancestors(), name),
            Base::User(class) => class.fields.get(name).map(Entry::ObjectState).or_else(|| find_in(&class.order, name)),
        }
    }
}

/// A member of a class.
#[derive(Clone)]
pub enum Entry {
    ObjectState(Value),
    /// A builtin member.
    Native(&'static NativeMethod),
    /// A method of one of Python's own classes, which runs on the value that the object holds.
    Held(&'static str),
}

/// Finds a name in the first of these classes that has it.
pub(crate) fn find_in(order: &[Base], name: &str) -> Option<Entry> {
    order.iter().find_map(|base| match base {
        Base::User(class) => class.fields.get(name).map(Entry::ObjectState),
        Base::Builtin(class) => descriptors::of_builtin(class, name),
    })
}

/// Returns the value as an object of the type `T`, if it is one.
pub(crate) fn as_rc<T: Object>(value: &Value) -> Option<Rc<T>> {
    let Value::Object(object) = value else { return None };
    if !object.as_any().is::<T>() {
        return None;
    }
    let any: Rc<dyn Any> = object.clone();
    any.downcast::<T>().ok()
}

/// A class defined by a script.
pub struct Class {
    pub(super) names: Cell<ClassNames>,
    /// Whether the class overrides attribute lookup.
    finds: Cell<bool>,
    /// Whether its objects can only have the attributes in `__slots__`.
    closed: Cell<bool>,
    /// Whether its objects are finalised by `__del__`.
    finalises: Cell<bool>,
    /// Which of Python's own classes, of those whose objects hold a value, it derives from.
    pub holds: Option<&'static str>,
    /// The class of the class: `type`, or one derived from it.
    pub meta: Base,
    pub bases: Vec<Base>,
    /// The base classes in the order of attribute lookup, without the class itself.
    pub order: Vec<Base>,
    pub fields: Fields,
    machine: Weak<Machine>,
    /// The classes that derive directly from it.
    children: RefCell<Vec<Weak<Class>>>,
    this: Weak<Class>,
}

impl Class {
    /// Creates an empty class.
    ///
    /// # Errors
    /// Fails with TypeError for bases that cannot be derived from.
    pub fn new(machine: &Rc<Machine>, module: &str, name: &str, bases: Vec<Base>, meta: Base) -> Result<Rc<Class>> {
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
        let holds = Base::held_in(&order)?;
        let class = Rc::new_cyclic(|this| Class {
            names: Cell::new(ClassNames::new(module, name)),
            finds: Cell::new(false),
            closed: Cell::new(false),
            finalises: Cell::new(false),
            holds,
            meta,
            bases,
            order,
            fields: Fields::default(),
            machine: Rc::downgrade(machine),
            children: RefCell::default(),
            this: this.clone(),
        });
        for base in &class.bases {
            if let Base::User(base) = base {
                let mut children = base.children.borrow_mut();
                children.retain(|child| child.strong_count() > 0);
                children.push(Rc::downgrade(&class));
            }
        }
        Ok(class)
    }

    /// Returns the machine that runs the functions of the class.
    pub fn machine(&self) -> Result<Rc<Machine>> {
        self.machine.upgrade().ok_or_else(|| Error::runtime("the session of this class has ended"))
    }

    /// Records, once the class body has run, whether the class overrides attribute lookup and whether `__slots__`
    /// limits its attributes.
    pub fn settle(&self) {
        let slots = self.slots();
        let closed = slots.is_some_and(|slots| !slots.iter().any(|slot| slot == "__dict__"));
        let all_above = self.order.iter().all(|base| match base {
            Base::User(class) => class.closed.get(),
            Base::Builtin(name) => *name == "object",
        });
        self.closed.set(closed && all_above);
        let own = self.fields.get("__getattribute__").is_some();
        let above = self.order.iter().any(|base| matches!(base, Base::User(class) if class.finds.get()));
        self.finds.set(own || above);
        self.note_finaliser();
    }

    /// Records whether the class or one of its bases defines `__del__`.
    fn note_finaliser(&self) {
        let above = self.order.iter().any(|base| matches!(base, Base::User(class) if class.finalises.get()));
        self.finalises.set(above || self.fields.get("__del__").is_some());
        if let (true, Some(machine)) = (self.finalises.get(), self.machine.upgrade()) {
            machine.finalisers.any.set(true);
        }
    }

    /// Returns the names in the class's own `__slots__`, if it has any.
    fn slots(&self) -> Option<Vec<String>> {
        let named = match self.fields.get("__slots__")? {
            Value::Str(name) => vec![Value::Str(name)],
            names => match names.entries() {
                Some(entries) => entries.into_iter().map(|(name, _)| name).collect(),
                None => names.sequence().unwrap_or_default(),
            },
        };
        let text =
            |name| if let Value::Str(name) = name { Some(mangled(self.name(), &name).into_owned()) } else { None };
        Some(named.into_iter().filter_map(text).collect())
    }

    /// Returns the name without its module and what encloses it.
    pub fn name(&self) -> &'static str {
        self.names.get().name
    }

    /// Sets an attribute, bypassing the metaclass.
    pub(super) fn set_field(&self, name: &str, value: &Value) {
        if matches!(name, "__name__" | "__qualname__" | "__module__") {
            self.names.set(self.names.get().renamed(name, value));
            // Only the module is among the members of a class.
            if name != "__module__" {
                return;
            }
        }
        self.fields.set(name, value.clone());
        if name == "__del__" {
            self.note_finaliser();
        }
    }

    pub fn qualified(&self) -> &'static str {
        self.names.get().qualified()
    }

    fn handle(&self) -> Option<Rc<Class>> {
        self.this.upgrade()
    }

    /// Returns what a script's metaclass has under a name.
    fn of_meta(&self, name: &str) -> Option<Entry> {
        match &self.meta {
            Base::Builtin(_) => None,
            meta => meta.find(name).filter(|entry| matches!(entry, Entry::ObjectState(_))),
        }
    }
}

/// Returns the order in which the bases of a class are searched.
fn linearised(bases: &[Base]) -> Result<Vec<Base>> {
    let rows = bases.iter().map(Base::ancestors).chain([bases.to_vec()]).collect();
    class_order::linearised(rows, Base::is).ok_or_else(|| {
        let names: Vec<&str> = bases.iter().map(Base::name).collect();
        let names = names.join(", ");
        Error::type_error(format!("Cannot create a consistent method resolution\norder (MRO) for bases {names}"))
    })
}

impl Object for Class {
    fn object_state(&self) -> ObjectState {
        ObjectState { dicts: vec![self.fields.dict()], ..ObjectState::default() }
    }
    fn type_name(&self) -> &str {
        "type"
    }
    fn class_name(&self) -> &'static str {
        "type"
    }
    fn repr(&self) -> String {
        format!("<class '{}'>", self.names.get().path)
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let absent = || Error::attribute(format!("type object '{}' has no attribute '{name}'", self.name()));
        Some(class_attribute(&self.handle()?, name).and_then(|found| found.ok_or_else(absent)))
    }
    fn class(&self) -> Option<Value> {
        matches!(self.meta, Base::User(_)).then(|| self.meta.value())
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        if let Some(entry) = self.of_meta("__setattr__") {
            let this = Value::Object(self.handle()?);
            let args = vec![Value::str(name), value.clone()];
            return Some(call_entry(&entry, &this, &self.meta, args, Keywords::new()).map(drop));
        }
        if let Some(Entry::ObjectState(held)) = self.of_meta(name)
            && let Some(property) = as_rc::<descriptors::Property>(&held)
        {
            return Some(property.set(&Value::Object(self.handle()?), value, name, &self.meta));
        }
        self.set_field(name, value);
        Some(Ok(()))
    }
    fn delete_attribute(&self, name: &str) -> Option<Result<()>> {
        let found = self.fields.remove(name);
        self.settle();
        let absent = || Error::attribute(format!("type object '{}' has no attribute '{name}'", self.name()));
        Some(if found { Ok(()) } else { Err(absent()) })
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        let this = self.handle()?;
        Some(match self.of_meta("__call__") {
            Some(entry) => call_entry(&entry, &Value::Object(this), &self.meta, args, keywords),
            None => super::construct::construct(&this, args, keywords),
        })
    }
    fn iterator(&self) -> Option<Result<Value>> {
        self.of_meta("__iter__").and_then(|_| self.special("__iter__", &[]))
    }
    fn has_special(&self, name: &str) -> bool {
        self.of_meta(name).is_some()
    }
    fn derives(&self, class: &Value) -> Option<bool> {
        let this = Base::User(self.handle()?);
        Some(Base::of(class).is_some_and(|class| this.derives(&class)))
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        let this = self.handle()?;
        if let Some(entry) = self.of_meta(name) {
            return Some(call_entry(&entry, &Value::Object(this), &self.meta, args.to_vec(), Keywords::new()));
        }
        (name == "__getitem__").then(|| match class_attribute(&this, "__class_getitem__")? {
            Some(method) => call(&*this.machine()?, &method, args.to_vec(), Keywords::new()),
            None => bail!(TypeError, "type '{}' is not subscriptable", self.name()),
        })
    }
}

/// An object of a script's class, or an exception.
pub struct Instance {
    pub class: Base,
    pub fields: Fields,
    /// The value of an object whose class derives from one of Python's own.
    pub(super) held: Option<Value>,
    /// The additional state of `ctx` in `torch.autograd.Function`.
    pub context: Option<Context>,
    /// The calls through which an exception has passed.
    pub trace: RefCell<Vec<super::machine::TracebackStep>>,
    /// What is called when the object is gone: the callbacks of weak references.
    pub(super) watchers: RefCell<Vec<Value>>,
    /// Whether `__del__` has been called or is about to be. Python calls it at most once.
    finalised: Cell<bool>,
    this: Weak<Instance>,
}

/// The last reference to an object whose class defines `__del__` is gone. The method needs the object, so its fields
/// move to a new one, which the machine finalises before its next instruction.
impl Drop for Instance {
    fn drop(&mut self) {
        let Base::User(class) = &self.class else { return };
        let watchers = self.watchers.take();
        if !watchers.is_empty()
            && let Some(machine) = class.machine.upgrade()
        {
            watchers.into_iter().for_each(|watcher| machine.finalisers.add(watcher));
        }
        if !class.finalises.get() || self.finalised.get() {
            return;
        }
        let Some(machine) = class.machine.upgrade() else { return };
        let (fields, context, trace) =
            (std::mem::take(&mut self.fields), self.context.take(), std::mem::take(&mut self.trace));
        let held = self.held.take();
        machine.finalise_later(Rc::new_cyclic(|this| Instance {
            class: self.class.clone(),
            fields,
            held,
            context,
            trace,
            watchers: RefCell::default(),
            finalised: Cell::new(true),
            this: this.clone(),
        }));
    }
}

impl Instance {
    pub fn new(class: Base) -> Rc<Instance> {
        let held = match &class {
            Base::User(class) => class.holds.and_then(Base::empty),
            Base::Builtin(_) => None,
        };
        Instance::with(class, held, None)
    }

    pub(crate) fn with(class: Base, held: Option<Value>, context: Option<Context>) -> Rc<Instance> {
        Rc::new_cyclic(|this| Instance {
            class,
            fields: Fields::default(),
            held,
            context,
            trace: RefCell::default(),
            watchers: RefCell::default(),
            finalised: Cell::new(false),
            this: this.clone(),
        })
    }

    pub fn handle(&self) -> Option<Rc<Instance>> {
        self.this.upgrade()
    }

    /// Returns whether the class overrides attribute lookup.
    pub(crate) fn finds(&self) -> bool {
        matches!(&self.class, Base::User(class) if class.finds.get())
    }

    /// Returns whether `__slots__` limits the attributes of the object.
    pub(super) fn is_closed(&self) -> bool {
        matches!(&self.class, Base::User(class) if class.closed.get())
    }

    /// Checks that the object may have a field of this name.
    fn check_slot(&self, name: &str) -> Result<()> {
        let in_slots = |base: Base| matches!(base, Base::User(class) if class.slots().is_some_and(|slots| slots.iter().any(|slot| slot == name)));
        if !self.is_closed() || self.class.ancestors().into_iter().any(in_slots) {
            return Ok(());
        }
        match self.class.find(name) {
            Some(_) => bail!(AttributeError, "'{}' object attribute '{name}' is read-only", self.type_name()),
            None => Err(descriptors::missing(self.type_name(), name)),
        }
    }

    pub(crate) fn is_exception(&self) -> bool {
        self.class.derives_builtin("BaseException")
    }

    /// Calls a method of the object's class. `None` if the class does not have the method.
    pub fn method(&self, name: &str, args: Vec<Value>) -> Option<Result<Value>> {
        self.class.find(name).and_then(|entry| self.call_member(&entry, args))
    }

    pub(super) fn call_member(&self, entry: &Entry, args: Vec<Value>) -> Option<Result<Value>> {
        Some(call_entry(entry, &Value::Object(self.handle()?), &self.class, args, Keywords::new()))
    }

    /// Calls a method written in a script. `None` if there is none of that name.
    pub(super) fn call_script_method(&self, name: &str, args: Vec<Value>) -> Option<Result<Value>> {
        self.class
            .find(name)
            .filter(|entry| matches!(entry, Entry::ObjectState(_)))
            .and_then(|entry| self.call_member(&entry, args))
    }
}

/// Calls a member found in the class of an object, as a method of the object.
pub(crate) fn call_entry(
    entry: &Entry,
    this: &Value,
    class: &Base,
    mut args: Vec<Value>,
    keywords: Keywords,
) -> Result<Value> {
    match entry {
        Entry::Native(method) => (method.run)(this, args, keywords),
        Entry::Held(name) => Base::call_held(name, this, args, &keywords),
        Entry::ObjectState(function) if descriptors::is_function(function) => {
            args.insert(0, this.clone());
            call(&*machine_of(class)?, function, args, keywords)
        }
        Entry::ObjectState(held) => {
            let callee = descriptors::bound(held, Some(this), class)?;
            call(&*machine_of(class)?, &callee, args, keywords)
        }
    }
}

/// Returns the machine that runs the functions of a class.
pub(crate) fn machine_of(class: &Base) -> Result<Rc<Machine>> {
    let user = class.ancestors().into_iter().find_map(|base| match base {
        Base::User(class) => Some(class.machine()),
        Base::Builtin(_) => None,
    });
    user.unwrap_or_else(|| Err(Error::type_error(format!("'{}' object is not callable", class.name()))))
}

/// Returns the value as an object of a script, if it is one.
pub(crate) fn instance_of(value: &Value) -> Option<Rc<Instance>> {
    as_rc(value)
}

/// Looks up an attribute of an object by all of Python's rules. `None` if it does not exist.
pub(crate) fn instance_attribute(this: &Rc<Instance>, name: &str) -> Result<Option<Value>> {
    let found = this.class.find(name);
    let itself = || Value::Object(this.clone());
    if let Some(Entry::ObjectState(held)) = &found
        && descriptors::goes_first(held)
    {
        return descriptors::bound(held, Some(&itself()), &this.class).map(Some);
    }
    if let Some(value) = this.fields.get(name) {
        return Ok(Some(value));
    }
    if let Some(value) = this.context.as_ref().and_then(|context| context.attribute(name)) {
        return value.map(Some);
    }
    match found {
        Some(Entry::ObjectState(held)) => return descriptors::bound(&held, Some(&itself()), &this.class).map(Some),
        Some(Entry::Native(method)) => return Ok(Some(BoundDescriptor::native(method, Some(itself())))),
        Some(Entry::Held(name)) => return Ok(Some(Base::held_method(name, itself()))),
        None => {}
    }
    if let Some(Value::Object(held)) = &this.held
        && let Some(found) = held.own_attribute(name).or_else(|| held.attribute(name).map(Ok))
    {
        return found.map(Some);
    }
    match name {
        "__class__" => return Ok(Some(this.class.value())),
        "__dict__" if !this.is_closed() => return Ok(Some(this.fields.to_dict())),
        "__module__" => return Ok(Some(Value::str(this.class.module()))),
        "__doc__" => return Ok(Some(Value::None)),
        "__traceback__" if this.is_exception() => return Ok(Some(this.traceback())),
        "__cause__" | "__context__" if this.is_exception() => return Ok(Some(Value::None)),
        "__suppress_context__" if this.is_exception() => return Ok(Some(Value::Bool(false))),
        "errno" | "strerror" | "filename" if this.class.derives_builtin("OSError") => {
            return Ok(Some(exceptions::part_of_os_error(this, name)));
        }
        _ => {}
    }
    this.method("__getattr__", vec![Value::str(name)]).transpose()
}

/// Looks up an attribute of a class. `None` if it does not exist.
pub fn class_attribute(this: &Rc<Class>, name: &str) -> Result<Option<Value>> {
    let base = Base::User(this.clone());
    let itself = || Value::Object(this.clone());
    let of_meta = this.of_meta(name);
    if let Some(Entry::ObjectState(held)) = &of_meta
        && descriptors::goes_first(held)
    {
        return descriptors::bound(held, Some(&itself()), &this.meta).map(Some);
    }
    match base.find(name) {
        Some(Entry::ObjectState(held)) => return descriptors::bound(&held, None, &base).map(Some),
        None if let Some(Entry::ObjectState(held)) = &of_meta => {
            return descriptors::bound(held, Some(&itself()), &this.meta).map(Some);
        }
        Some(Entry::Native(method)) => {
            // A class method is bound to its class. Any other method takes its object as first argument.
            let receiver = method.of_class().then(|| base.value());
            return Ok(Some(BoundDescriptor::native(method, receiver)));
        }
        // The method of the builtin class itself, which is equal to that of any other class derived from it.
        Some(Entry::Held(name)) => return Ok(Some(base.held_unbound(name))),
        None => {}
    }
    let tuple = |bases: &mut dyn Iterator<Item = Base>| Value::tuple(bases.map(|base| base.value()));
    Ok(Some(match name {
        "__name__" => Value::str(this.name()),
        "__qualname__" => Value::str(this.qualified()),
        "mro" => {
            let order = base.ancestors();
            NativeFunction::value("mro", move |_, _| Ok(Value::list(order.iter().map(Base::value))))
        }
        "__subclasses__" => {
            let children: Vec<_> = this.children.borrow().iter().filter_map(Weak::upgrade).collect();
            NativeFunction::value("__subclasses__", move |_, _| {
                Ok(Value::list(children.iter().map(|child| Value::Object(child.clone()))))
            })
        }
        "__module__" => Value::str(this.names.get().module),
        "__doc__" => Value::None,
        "__bases__" => tuple(&mut this.bases.iter().cloned()),
        "__mro__" => tuple(&mut base.ancestors().into_iter()),
        "__base__" => this.bases.first().map_or(Value::None, Base::value),
        "__class__" => this.meta.value(),
        "__dict__" => this.machine()?.view(this.fields.to_dict()),
        "__annotations__" => Value::Dict(Dict::default()),
        _ => {
            let Some(entry) = this.of_meta("__getattr__") else { return Ok(None) };
            call_entry(&entry, &itself(), &this.meta, vec![Value::str(name)], Keywords::new())?
        }
    }))
}

/// Sets an attribute of an object, bypassing its `__setattr__`.
pub(crate) fn set_without_setattr(this: &Rc<Instance>, name: &str, value: &Value) -> Result<()> {
    if let Some(Entry::ObjectState(held)) = this.class.find(name) {
        let itself = Value::Object(this.clone());
        if let Some(property) = as_rc::<descriptors::Property>(&held) {
            return property.set(&itself, value, name, &this.class);
        }
        if let Some(descriptor) = instance_of(&held)
            && let Some(done) = descriptor.method("__set__", vec![itself, value.clone()])
        {
            return done.map(drop);
        }
    }
    if let Some(done) = this.context.as_ref().and_then(|context| context.set_attribute(name, value)) {
        return done;
    }
    if name == "args" && this.is_exception() {
        let Some(args) = value.sequence() else { bail!(TypeError, "'{}' object is not iterable", value.type_name()) };
        this.fields.set("args", Value::tuple(args));
        return Ok(());
    }
    this.check_slot(name)?;
    this.fields.set(name, value.clone());
    Ok(())
}
