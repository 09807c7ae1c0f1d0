//! Reads, writes, calls and subscripts of a script on its own classes and their objects. `None` means that the value is
//! neither; the caller then asks the table.

use super::autograd_function::Once;
use super::callable::{Def, Scripted, call_value};
use super::class::{
    Base, Class, Entry, Instance, call_entry, class_attribute, class_of, instance_attribute, instance_of, is_same,
    set_class_attribute, set_instance_attribute,
};
use super::descriptors::{Accessor, BoundNative, ClassMethod, StaticMethod, Super, as_object, missing, property_of};
use super::dict::Dict;
use super::fault;
use super::list::own;
use super::namedtuple::NamedTupleClass;
use super::runtime::Runtime;
use super::value::{BoxedObject, object, to_dynamic, to_value};
use crate::tensor::{Error, ErrorKind};
use crate::value::Object;
use rhai::{Array, Dynamic, FnPtr, Map};
use std::rc::Rc;

/// A value whose attributes are looked up here.
enum Target {
    Instance(Rc<Instance>),
    Class(Rc<Class>),
    Super(Dynamic),
}

fn target(value: &Dynamic) -> Option<Target> {
    if !value.is::<BoxedObject>() && !value.is_shared() {
        return None;
    }
    if let Some(instance) = instance_of(value) {
        return Some(Target::Instance(instance));
    }
    if let Some(class) = class_of(value) {
        return Some(Target::Class(class));
    }
    as_object(value, |_: &Super| Some(())).map(|()| Target::Super(value.flatten_clone()))
}

/// Returns whether it is an object or a class of a script.
pub fn is_own(value: &Dynamic) -> bool {
    target(value).is_some()
}

/// `value.name`
pub fn attribute(value: &Dynamic, name: &str) -> Option<Scripted<Dynamic>> {
    if let Some(function) = value.read_lock::<FnPtr>() {
        return Some(Def::attribute(&function, name).ok_or_else(|| fault::thrown(missing("function", name))));
    }
    if let Some(property) = property_of(value) {
        return Accessor::of(property, name).map(Ok);
    }
    let target = target(value)?;
    let found = match &target {
        Target::Instance(this) => instance_attribute(this, name),
        Target::Class(this) => class_attribute(this, name),
        Target::Super(this) => as_object(this, |this: &Super| Some(this.attribute(name))).unwrap_or(Ok(None)),
    };
    Some(found.and_then(|found| found.ok_or_else(|| fault::thrown(absent(&target, name)))))
}

fn absent(target: &Target, name: &str) -> Error {
    match target {
        Target::Instance(this) => missing(this.type_name(), name),
        Target::Class(this) => Error::attribute(format!("type object '{}' has no attribute '{name}'", this.name)),
        Target::Super(_) => missing("super", name),
    }
}

/// `value.name = new`. What the engine writes back after reading it is no assignment.
pub fn set_attribute(state: &Runtime, value: &Dynamic, name: &str, new: &Dynamic) -> Option<Scripted<()>> {
    if let Some(function) = value.read_lock::<FnPtr>() {
        return Some(Def::set_attribute(&function, name, new));
    }
    if as_object(value, |_: &Globals| Some(())).is_some() {
        assign_global(state, name, new);
        return Some(Ok(()));
    }
    let target = target(value)?;
    if let Some((read, known, of)) = state.read_back.take()
        && known == name
        && is_same(&of, value)
        && is_same(&read, new)
    {
        return Some(Ok(()));
    }
    Some(match target {
        Target::Instance(this) => set_instance_attribute(&this, name, &own(new.clone())),
        Target::Class(this) => {
            set_class_attribute(&this, name, new);
            Ok(())
        }
        Target::Super(_) => Err(fault::thrown(missing("super", name))),
    })
}

/// As [`attribute`], for the engine, which may write back what it has read.
pub fn read_attribute(state: &Runtime, value: &Dynamic, name: &str) -> Option<Scripted<Dynamic>> {
    let found = attribute(value, name)?;
    if let Ok(found) = &found {
        state.read_back.replace(Some((found.clone(), name.to_owned(), value.flatten_clone())));
    }
    Some(found)
}

/// `del value.name`
pub fn delete_attribute(value: &Dynamic, name: &str) -> Option<Scripted<()>> {
    let target = target(value)?;
    if let Target::Instance(this) = &target {
        if let Some(entry @ Entry::Held(_)) = this.class.find("__delattr__") {
            let called = call_entry(&entry, value, &this.class, vec![name.into()], Map::new());
            return Some(called.map(drop));
        }
        if let Some(Entry::Held(held)) = this.class.find(name)
            && let Some(property) = property_of(&held)
            && !property.delete.is_unit()
            && let Base::User(class) = &this.class
        {
            return Some(class.home.invoke(&property.delete, vec![value.clone()], Map::new()).map(drop));
        }
    }
    let removed = match &target {
        Target::Instance(this) => this.fields.remove(name),
        Target::Class(this) => this.fields.remove(name),
        Target::Super(_) => false,
    };
    Some(if removed { Ok(()) } else { Err(fault::thrown(absent(&target, name))) })
}

/// `value.name(*args, **keywords)`
pub fn call_method(
    state: &Rc<Runtime>,
    value: &Dynamic,
    name: &str,
    args: Array,
    keywords: Map,
) -> Option<Scripted<Dynamic>> {
    // The commonest call makes no object of the method.
    if let Some(this) = instance_of(value) {
        if this.fields.get(name).is_none()
            && let Some(entry) = this.class.find(name)
            && !matches!(&entry, Entry::Held(held) if !held.is::<FnPtr>())
        {
            return Some(call_entry(&entry, value, &this.class, args, keywords));
        }
    } else if let Some(called) = as_object(value, |this: &Super| this.call(name, args.clone(), keywords.clone())) {
        return Some(called);
    }
    let callee = match attribute(value, name) {
        // What an object of ours does not know, the table may, if it is of both.
        None => return None,
        Some(Err(error)) => return Some(Err(error)),
        Some(Ok(callee)) => callee,
    };
    let home = state.home.borrow().clone();
    Some(home.invoke(&callee, args, keywords))
}

/// `value(*args, **keywords)`; `None` for what is not of a script.
pub fn call_object(
    state: &Rc<Runtime>,
    context: &rhai::NativeCallContext,
    callee: &Dynamic,
    mut args: Array,
    keywords: Map,
) -> Option<Scripted<Dynamic>> {
    use super::descriptors::BoundMethod;
    if let Some(class) = class_of(callee) {
        return Some(construct(&class, args, keywords));
    }
    if let Some((this, function)) =
        as_object(callee, |method: &BoundMethod| Some((method.this.clone(), method.function.clone())))
    {
        args.insert(0, this);
        return Some(call_value(state, context, &function, args, keywords));
    }
    if let Some(called) = as_object(callee, |method: &BoundNative| Some(method.call(args.clone(), keywords.clone()))) {
        return Some(called);
    }
    if let Some(accessor) = as_object(callee, |accessor: &Accessor| Some(accessor.clone())) {
        return Some(Ok(accessor.with(args.into_iter().next().unwrap_or_default())));
    }
    let inner = as_object(callee, |method: &StaticMethod| Some(method.0.clone()))
        .or_else(|| as_object(callee, |method: &ClassMethod| Some(method.0.clone())));
    if let Some(inner) = inner {
        return Some(call_value(state, context, &inner, args, keywords));
    }
    if let Some(made) = as_object(callee, |class: &NamedTupleClass| Some(class.make(args.clone(), keywords.clone()))) {
        return Some(made);
    }
    if let Some(once) = as_object(callee, |once: &Once| Some(Once(once.0.clone()))) {
        return Some(once.call(&state.home.borrow().clone(), args, keywords));
    }
    let instance = instance_of(callee)?;
    Some(match instance.class.find("__call__") {
        Some(entry) => call_entry(&entry, callee, &instance.class, args, keywords),
        None => {
            let message = format!("'{}' object is not callable", instance.type_name());
            Err(fault::thrown(Error::type_error(message)))
        }
    })
}

/// A new object of a class.
pub fn construct(class: &Rc<Class>, args: Array, keywords: Map) -> Scripted<Dynamic> {
    let base = Base::User(class.clone());
    if base.derives_builtin("torch.Tensor") {
        let message = "objects of classes derived from torch.Tensor are not supported at this prompt";
        return Err(fault::thrown(Error::not_implemented(message)));
    }
    let made = match base.find("__new__") {
        Some(Entry::Held(function)) => {
            let function = as_object(&function, |method: &StaticMethod| Some(method.0.clone())).unwrap_or(function);
            let all = std::iter::once(to_dynamic(base.value())).chain(args.iter().cloned()).collect();
            class.home.invoke(&function, all, keywords.clone())?
        }
        _ => object(Instance::new(base.clone())),
    };
    let Some(instance) = instance_of(&made).filter(|instance| instance.class.derives(&base)) else { return Ok(made) };
    let class = instance.class.clone();
    if instance.is_exception() {
        super::exceptions::set_args(&instance, &args).map_err(fault::thrown)?;
    }
    let is_given = !args.is_empty() || !keywords.is_empty();
    match class.find("__init__") {
        Some(entry @ Entry::Held(_)) => {
            let given = call_entry(&entry, &made, &class, args, keywords)?;
            if !given.is_unit() {
                let given = to_value(&given).map_err(fault::thrown)?;
                let message = format!("__init__() should return None, not '{}'", given.type_name());
                return Err(fault::thrown(Error::type_error(message)));
            }
        }
        _ if is_given && !instance.is_exception() && !matches!(class.find("__new__"), Some(Entry::Held(_))) => {
            return Err(fault::thrown(Error::type_error(format!("{}() takes no arguments", class.name()))));
        }
        _ if instance.is_exception() && !keywords.is_empty() => {
            return Err(fault::thrown(Error::type_error(format!("{}() takes no keyword arguments", class.name()))));
        }
        _ => {}
    }
    Ok(made)
}

/// The target of `globals_.name = value`: a variable of the session, from within a function.
pub struct Globals;

impl Object for Globals {
    fn class_name(&self) -> &'static str {
        "globals"
    }
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// Sets a variable of the session from within a function: at once for functions, and for the session itself where it
/// shares the variable, or else when the input ends.
fn assign_global(state: &Runtime, name: &str, value: &Dynamic) {
    let value = own(value.flatten_clone());
    let known = state.globals.borrow().get(name).cloned();
    if let Some(known) = known.filter(Dynamic::is_shared)
        && let Some(mut held) = known.clone().write_lock::<Dynamic>()
    {
        *held = value;
        return;
    }
    state.globals.borrow_mut().insert(name.to_owned(), value.clone());
    state.assigned.borrow_mut().push((name.to_owned(), value));
}

/// `value[index]` and its kin, by the method that the class has for it.
pub fn special(value: &Dynamic, name: &str, args: Array) -> Option<Scripted<Dynamic>> {
    if let Some(instance) = instance_of(value) {
        return match instance.call(name, args) {
            Some(called) => Some(called),
            None => Some(Err(fault::thrown(refusal(&instance, name)))),
        };
    }
    let class = class_of(value)?;
    match (Base::User(class.clone()).find("__class_getitem__"), name) {
        (Some(Entry::Held(held)), "__getitem__") => {
            let all = std::iter::once(value.clone()).chain(args).collect();
            let held = as_object(&held, |method: &ClassMethod| Some(method.0.clone())).unwrap_or(held);
            Some(class.home.invoke(&held, all, Map::new()))
        }
        (_, "__getitem__") => {
            Some(Err(fault::thrown(Error::type_error(format!("type '{}' is not subscriptable", class.name)))))
        }
        _ => None,
    }
}

fn refusal(instance: &Instance, name: &str) -> Error {
    let class = instance.type_name();
    Error::type_error(match name {
        "__getitem__" => format!("'{class}' object is not subscriptable"),
        "__setitem__" => format!("'{class}' object does not support item assignment"),
        "__delitem__" => format!("'{class}' object doesn't support item deletion"),
        "__contains__" => format!("argument of type '{class}' is not iterable"),
        "__enter__" | "__exit__" => format!("'{class}' object does not support the context manager protocol"),
        _ => return missing(class, name),
    })
}

/// The items of an object that a script can iterate over: by `__iter__` and `__next__`, or by `__getitem__` from 0 on.
/// At most this many; `None` for an object without such methods.
pub fn items(instance: &Instance, most: usize) -> Option<Scripted<Vec<Dynamic>>> {
    if let Some(iterator) = instance.call("__iter__", Array::new()) {
        return Some(iterator.and_then(|iterator| drained(&iterator, most)));
    }
    instance.class.find("__getitem__")?;
    let mut all = Vec::new();
    loop {
        match instance.call("__getitem__", vec![(all.len() as i64).into()])? {
            Ok(item) if all.len() < most => all.push(item),
            Ok(_) => return Some(Err(fault::thrown(too_many()))),
            Err(error) if fault::error_of(&error).kind == ErrorKind::IndexError => return Some(Ok(all)),
            Err(error) => return Some(Err(error)),
        }
    }
}

fn too_many() -> Error {
    Error::new(ErrorKind::MemoryError, "")
}

/// Collects what is left in an iterator.
fn drained(iterator: &Dynamic, most: usize) -> Scripted<Vec<Dynamic>> {
    let Some(instance) = instance_of(iterator) else {
        if let Some(dict) = iterator.read_lock::<Dict>() {
            return Ok(dict.entries().into_iter().map(|(key, _)| to_dynamic(key)).collect());
        }
        if let Some(list) = iterator.read_lock::<super::list::List>() {
            return Ok(list.items());
        }
        let value = to_value(iterator).map_err(fault::thrown)?;
        let items = value.sequence().ok_or_else(|| {
            fault::thrown(Error::type_error(format!("iter() returned non-iterator of type '{}'", value.type_name())))
        })?;
        return Ok(items.into_iter().map(to_dynamic).collect());
    };
    let mut all = Vec::new();
    loop {
        crate::tensor::interrupt::check().map_err(fault::thrown)?;
        match instance.call("__next__", Array::new()) {
            None => {
                let message = format!("iter() returned non-iterator of type '{}'", instance.type_name());
                return Err(fault::thrown(Error::type_error(message)));
            }
            Some(Ok(item)) if all.len() < most => all.push(item),
            Some(Ok(_)) => return Err(fault::thrown(too_many())),
            Some(Err(error)) if fault::error_of(&error).kind == ErrorKind::StopIteration => return Ok(all),
            Some(Err(error)) => return Err(error),
        }
    }
}

/// Has the class of an object a method for `value[index]`?
pub fn has_items(value: &Dynamic) -> bool {
    instance_of(value).is_some_and(|instance| instance.class.find("__getitem__").is_some())
}

/// One item after the other of an object with `__next__`, as a loop asks for them.
pub fn steps(value: &Dynamic) -> Option<Box<dyn Iterator<Item = Scripted<Dynamic>>>> {
    let instance = instance_of(value)?;
    instance.class.find("__next__")?;
    let mut ended = false;
    Some(Box::new(std::iter::from_fn(move || {
        if ended {
            return None;
        }
        let item = instance.call("__next__", Array::new())?;
        ended = item.is_err();
        match item {
            Err(error) if fault::error_of(&error).kind == ErrorKind::StopIteration => None,
            item => Some(item),
        }
    })))
}
