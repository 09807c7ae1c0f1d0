//! Calls of what is only known at run time: functions held in variables, classes, decorators, and calls whose arguments
//! were collected first. Translated Python reaches these by name; see the translator's list.

use super::bounds::MOST_ARGUMENTS;
use super::class::{Base, Class, Fields, class_of, instance_of};
use super::descriptors::Super;
use super::dict::Dict;
use super::engine::{dispatch, print_text};
use super::list::own;
use super::parameters::Parameters;
use super::runtime::Runtime;
use super::value::{BoxedObject, object, text_subscript, to_dynamic, to_value};
use super::{exceptions, fault, members};
use crate::call::Receiver;
use crate::functions::subscript;
use crate::tensor::{Error, ErrorKind, Result};
use crate::value::equality::truth;
use crate::value::{Object, Value};
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext};
use std::any::Any;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

pub type Scripted<T> = std::result::Result<T, Box<EvalAltResult>>;

/// Adds the functions to the engine. They need its context, which rows of the function table do not have.
pub fn register(engine: &mut Engine, state: &Rc<Runtime>) {
    let this = state.clone();
    engine.register_fn("call_", move |context: NativeCallContext, callee: Dynamic, args: Array| {
        call_value(&this, &context, &callee, args, Map::new())
    });
    let this = state.clone();
    engine.register_fn("call_", move |context: NativeCallContext, callee: Dynamic, args: Array, keywords: Map| {
        call_value(&this, &context, &callee, args, keywords)
    });
    let this = state.clone();
    engine.register_fn("__call__", move |context: NativeCallContext, name: &str, args: Array, keywords: Map| {
        // One of ours, if there is one of that name; a function of the script otherwise.
        match FnPtr::new(name) {
            Ok(_) if !this.registry.is_callable(name) && args.len() > MOST_ARGUMENTS => {
                Err(fault::thrown(Error::new(ErrorKind::NameError, format!("name '{name}' is not defined"))))
            }
            Ok(function) if !this.registry.is_callable(name) => {
                call_value(&this, &context, &Dynamic::from(function), args, keywords)
            }
            _ => call_named(&this, name, None, args, keywords),
        }
    });
    let this = state.clone();
    engine.register_fn(
        "__call__",
        move |_: NativeCallContext, object: Dynamic, name: &str, args: Array, keywords: Map| {
            call_named(&this, name, Some(object), args, keywords)
        },
    );
    let this = state.clone();
    engine.register_fn("function_", move |name: &str, body: FnPtr, names: Array, defaults: Map| {
        function(&this, Parameters::new(name, &names, defaults), body)
    });
    register_classes(engine, state);
    super::higher::register(engine, state);
    let this = state.clone();
    engine.register_fn("__merge__", move |first: Map, second: Dynamic| merge(&this, first, &second));
    engine.register_fn("key_", |key: Dynamic| match key.read_lock::<ImmutableString>() {
        Some(text) => text_subscript(&text),
        None => key.clone(),
    });
    register_exceptions(engine, state);
}

/// What a `class` statement is written with.
fn register_classes(engine: &mut Engine, state: &Rc<Runtime>) {
    let this = state.clone();
    engine.register_fn("begin_class_", move |name: &str, bases: Array| -> Scripted<Dynamic> {
        let bases = bases.iter().map(to_value).collect::<Result<Vec<_>>>().map_err(fault::thrown)?;
        let bases = bases.iter().map(|base| {
            Base::of(base).ok_or_else(|| {
                fault::thrown(Error::not_implemented(format!(
                    "classes derived from a {} are not supported at this prompt",
                    base.type_name()
                )))
            })
        });
        let class = Class::new(name, bases.collect::<Scripted<_>>()?, this.home.borrow().clone());
        class.map(|class| object(class)).map_err(fault::thrown)
    });
    let this = state.clone();
    engine.register_fn("global_", move |name: &str| -> Scripted<Dynamic> {
        let found = this.globals.borrow().get(name).map(Dynamic::flatten_clone);
        found
            .or_else(|| super::engine::constant(name).map(to_dynamic))
            .ok_or_else(|| fault::thrown(Error::new(ErrorKind::NameError, format!("name '{name}' is not defined"))))
    });
    engine.register_fn("end_class_", |class: Dynamic| -> Scripted<Dynamic> {
        if let Some(this) = class_of(&class) {
            finish(&this)?;
        }
        Ok(class)
    });
    engine.register_fn("annotate_", |class: Dynamic, name: &str, annotation: Dynamic| {
        if let Some(class) = class_of(&class) {
            let known = class.fields.get("__annotations__");
            let mut entries = known.and_then(|known| known.try_cast::<Dict>()).map_or_else(Vec::new, |d| d.entries());
            entries.push((Value::str(name), annotation));
            if let Ok(dict) = Dict::new(entries) {
                class.fields.set("__annotations__", Dynamic::from(dict));
            }
        }
    });
    let this = state.clone();
    engine.register_fn("super_", move || match this.frames.borrow().last() {
        Some((after, this)) if let Some(after) = after.upgrade() => {
            Ok(object(Rc::new(Super { after, this: this.clone() })))
        }
        _ => Err(fault::thrown(Error::runtime("super(): no arguments"))),
    });
    engine.register_fn("super_", |class: Dynamic, this: Dynamic| match class_of(&class) {
        Some(after) => Ok(object(Rc::new(Super { after, this }))),
        None => Err(fault::thrown(Error::type_error("super() argument 1 must be a type"))),
    });
    // Attributes by name, where lists are to stay the very lists.
    let this = state.clone();
    engine.register_fn("setattr", move |target: Dynamic, name: &str, value: Dynamic| -> Scripted<()> {
        match members::set_attribute(&this, &target, name, &value) {
            Some(done) => done,
            None => {
                let (target, value) = (to_value(&target), to_value(&value));
                let done = target.and_then(|target| subscript::set_attribute(&this, &target, name, &value?));
                done.map_err(fault::thrown)
            }
        }
    });
    let this = state.clone();
    engine.register_fn("getattr", move |target: Dynamic, name: &str| -> Scripted<Dynamic> {
        match members::attribute(&target, name) {
            Some(found) => found,
            None => {
                let found = to_value(&target).and_then(|target| subscript::attribute(&this, &target, name));
                found.and_then(|found| this.give(found)).map_err(fault::thrown)
            }
        }
    });
    let this = state.clone();
    engine.register_fn("delattr", move |target: Dynamic, name: &str| -> Scripted<()> {
        match members::delete_attribute(&target, name) {
            Some(done) => done,
            None => {
                let done = to_value(&target).and_then(|target| subscript::delete_attribute(&this, &target, name));
                done.map_err(fault::thrown)
            }
        }
    });
}

/// Finishes a class as Python does once its body has run.
fn finish(class: &Rc<Class>) -> Scripted<()> {
    for name in class.fields.names() {
        if let Some(descriptor) = class.fields.get(&name).as_ref().and_then(instance_of)
            && let Some(done) = descriptor.call("__set_name__", vec![object(class.clone()), name.to_string().into()])
        {
            let _done: Dynamic = done?;
        }
    }
    let above = Super { after: class.clone(), this: object(class.clone()) };
    above.call("__init_subclass__", Array::new(), Map::new()).map_or(Ok(()), |done| done.map(drop))
}

/// What `raise` and `except` are written with.
fn register_exceptions(engine: &mut Engine, state: &Rc<Runtime>) {
    let of = |state: &Rc<Runtime>| {
        let state = state.clone();
        move |class: &Dynamic| {
            let home = state.home.borrow().clone();
            home.invoke(class, Array::new(), Map::new())
        }
    };
    let made = of(state);
    engine.register_fn("raise_", move |value: Dynamic| -> Scripted<Dynamic> {
        Err(exceptions::raise(&value, None, &made))
    });
    let made = of(state);
    engine.register_fn("raise_", move |value: Dynamic, cause: Dynamic| -> Scripted<Dynamic> {
        Err(exceptions::raise(&value, Some(&cause), &made))
    });
    let this = state.clone();
    engine.register_fn("leave_", move |context: Dynamic| -> Scripted<()> { leave(&this, &context, None).map(drop) });
    let this = state.clone();
    engine.register_fn("leave_", move |context: Dynamic, error: Dynamic| leave(&this, &context, Some(&error)));
    engine.register_fn("caught_", |error: Dynamic| -> Scripted<Dynamic> {
        exceptions::caught(&error).map(|caught| object(caught)).map_err(fault::thrown)
    });
    engine.register_fn("__matches__", |error: Dynamic, classes: Dynamic| -> Scripted<bool> {
        exceptions::caught(&error).and_then(|caught| exceptions::matches(&caught, &classes)).map_err(fault::thrown)
    });
    engine.register_fn("__matches__", |error: Dynamic, class: &str| -> Scripted<bool> {
        let caught = exceptions::caught(&error).map_err(fault::thrown)?;
        let class = exceptions::class(class)
            .ok_or_else(|| fault::thrown(Error::new(ErrorKind::NameError, format!("name '{class}' is not defined"))))?;
        Ok(caught.class.derives_builtin(class))
    });
}

/// Our function or method of that name, with arguments collected beforehand.
pub fn call_named(
    state: &Runtime,
    name: &str,
    receiver: Option<Dynamic>,
    args: Array,
    keywords: Map,
) -> Scripted<Dynamic> {
    let skipped = usize::from(receiver.is_some());
    let mut all: Vec<Dynamic> = receiver.into_iter().chain(args).collect();
    if !keywords.is_empty() {
        all.push(keywords.into());
    }
    let mut all: Vec<&mut Dynamic> = all.iter_mut().collect();
    if skipped > 0
        && let Some(receiver) = all.first().map(|receiver| (**receiver).clone())
        && members::is_own(&receiver)
        && let Some(state) = state.home.borrow().runtime().ok()
    {
        let args = all.drain(1..).map(|arg| arg.flatten_clone()).collect();
        let (args, keywords) = split_keywords(args);
        if let Some(called) = special_call(&receiver, name, &args) {
            return called;
        }
        if let Some(called) = members::call_method(&state, &receiver, name, args, keywords) {
            return called;
        }
        return Err(fault::thrown(Error::attribute(format!("no attribute '{name}'"))));
    }
    if name == "print" {
        // The engine's own, in no table: its text goes to whoever listens.
        let values = all.get(skipped..).unwrap_or_default();
        state.print(&print_text(state, values).map_err(fault::thrown)?);
        return Ok(Dynamic::UNIT);
    }
    let Some(family) = state.registry.family(name) else {
        let error = Error::new(ErrorKind::NameError, format!("name '{name}' is not defined"));
        return Err(fault::thrown(error));
    };
    dispatch(state, family, &mut all).and_then(|value| state.give(value)).map_err(fault::thrown)
}

/// The end of a `with`, perhaps by an error: is that settled?
fn leave(state: &Runtime, context: &Dynamic, error: Option<&Dynamic>) -> Scripted<bool> {
    if context.is_unit() {
        return Ok(true);
    }
    if !members::is_own(context) {
        let _left: Dynamic = call_named(state, "__exit__", Some(context.clone()), Array::new(), Map::new())?;
        return Ok(false);
    }
    let args = match error {
        None => vec![Dynamic::UNIT; 3],
        Some(error) => {
            let exception = exceptions::caught(error).map_err(fault::thrown)?;
            vec![to_dynamic(exception.class.value()), object(exception), Dynamic::UNIT]
        }
    };
    match members::special(context, "__exit__", args) {
        Some(answer) => answer.and_then(|answer| to_value(&answer).and_then(|a| truth(&a)).map_err(fault::thrown)),
        None => Ok(false),
    }
}

/// A function written in Python: one for each time its `def` has run.
pub struct Def {
    /// With the classes and functions it stands in.
    pub name: Rc<str>,
    /// The class that holds it.
    pub owner: RefCell<Option<Weak<Class>>>,
    fields: Fields,
}

impl Object for Def {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Def {
    pub fn of(function: &Dynamic) -> Option<Rc<Def>> {
        function.read_lock::<FnPtr>().and_then(|function| Def::of_pointer(&function))
    }

    pub fn of_pointer(function: &FnPtr) -> Option<Rc<Def>> {
        let info = function.curry().first()?.read_lock::<BoxedObject>()?;
        let Value::Object(object) = &info.0 else { return None };
        let any: Rc<dyn Any> = object.clone();
        any.downcast::<Def>().ok()
    }

    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    /// An attribute of a function.
    pub fn attribute(function: &FnPtr, name: &str) -> Option<Dynamic> {
        let Some(def) = Def::of_pointer(function) else {
            return match name {
                "__name__" | "__qualname__" => Some("<lambda>".into()),
                "__doc__" => Some(Dynamic::UNIT),
                "__module__" => Some("__main__".into()),
                _ => None,
            };
        };
        if let Some(own) = def.fields.get(name) {
            return Some(own);
        }
        Some(match name {
            "__name__" => def.short_name().to_owned().into(),
            "__qualname__" => def.name.to_string().into(),
            "__doc__" => Dynamic::UNIT,
            "__module__" => "__main__".into(),
            _ => return None,
        })
    }

    pub fn set_attribute(function: &FnPtr, name: &str, value: &Dynamic) -> Scripted<()> {
        match Def::of_pointer(function) {
            Some(def) => {
                def.fields.set(name, value.clone());
                Ok(())
            }
            None => Err(fault::thrown(super::descriptors::missing("function", name))),
        }
    }
}

/// A function written in Python, as the engine's own kind of function: what is known about it is its first argument.
pub fn function(state: &Rc<Runtime>, parameters: Parameters, body: FnPtr) -> Scripted<FnPtr> {
    let def = Rc::new(Def { name: parameters.function().into(), owner: RefCell::default(), fields: Fields::default() });
    let (known, state) = (def.clone(), state.clone());
    let mut function = native("function", move |context, mut args| {
        args.drain(..1);
        let (args, keywords) = split_keywords(args);
        let bound = parameters.bind(args, keywords).map_err(fault::thrown)?;
        let owner = known.owner.borrow().clone();
        let Some(owner) = owner else { return body.call_within_context(context, bound) };
        // What `super()` in the body is about.
        state.frames.borrow_mut().push((owner, bound.first().cloned().unwrap_or_default()));
        let result = body.call_within_context(context, bound);
        state.frames.borrow_mut().pop();
        result
    })?;
    function.add_curry(object(def));
    Ok(function)
}

/// A function of ours as the engine's own kind of function.
pub fn native(name: &str, run: impl Fn(&NativeCallContext, Array) -> Scripted<Dynamic> + 'static) -> Scripted<FnPtr> {
    #[expect(deprecated, reason = "Rhai marks this method as unstable that way")]
    FnPtr::from_fn(name, move |context, args| run(&context, args.iter().map(|arg| arg.flatten_clone()).collect()))
}

/// The arguments of a function of ours: keywords travel as a last object map.
pub fn split_keywords(mut args: Array) -> (Array, Map) {
    let keywords = match args.last() {
        Some(last) if last.is::<Map>() => args.pop().and_then(|map| map.try_cast::<Map>()).unwrap_or_default(),
        _ => Map::new(),
    };
    (args, keywords)
}

/// `callee(*args, **keywords)`, whatever the callee is.
pub fn call_value(
    state: &Rc<Runtime>,
    context: &NativeCallContext,
    callee: &Dynamic,
    mut args: Array,
    keywords: Map,
) -> Scripted<Dynamic> {
    if let Some(function) = callee.read_lock::<FnPtr>().map(|function| function.clone()) {
        // A bare lambda takes its arguments by position; it is Rhai's own, and says nothing that Python would.
        if let Some(names) = state.closures.borrow().get(function.fn_name()).cloned() {
            let own_names: Array = names.iter().skip(function.curry().len()).cloned().map(Dynamic::from).collect();
            if !keywords.is_empty() || own_names.len() != args.len() {
                let parameters = Parameters::new("<lambda>", &own_names, Map::new());
                args = parameters.bind(args, keywords).map_err(fault::thrown)?;
                return function.call_within_context(context, args);
            }
        }
        if !keywords.is_empty() {
            args.push(keywords.into());
        }
        return function.call_within_context(context, args.into_iter().map(own).collect::<Array>());
    }
    if let Some(called) = members::call_object(state, context, callee, args.clone(), keywords.clone()) {
        return called;
    }
    match to_value(callee).map_err(fault::thrown)? {
        Value::Type(class) if exceptions::is_class(class) => {
            exceptions::raised(class, &args).map(|exception| object(exception)).map_err(fault::thrown)
        }
        Value::Function(name) if is_decorator(&name, &args) => {
            let manager = call_named(state, &name, Some(to_dynamic(Value::Module("torch"))), Array::new(), keywords)?;
            decorate(state, manager, args)
        }
        Value::Function(name) => {
            let (module, name) = name.rsplit_once('.').unwrap_or(("torch", &name));
            if let Some(run) = super::higher::find(name).filter(|_| !state.registry.is_callable(name)) {
                if !keywords.is_empty() {
                    args.push(keywords.into());
                }
                return run(state, context, args);
            }
            let module = crate::call::MODULES.iter().copied().find(|known| *known == module).unwrap_or("torch");
            call_named(state, name, Some(to_dynamic(Value::Module(module))), args, keywords)
        }
        Value::Method(method) => call_named(state, method.name, Some(to_dynamic(method.of.clone())), args, keywords),
        Value::Type(class) => {
            let (path, name) = class.rsplit_once('.').unwrap_or(("", class));
            let inner = path.strip_prefix("torch.").unwrap_or(path);
            let of_module = crate::call::MODULES.iter().copied().find(|known| *known == inner);
            let of_module = of_module.filter(|module| state.registry.find(name, Receiver::Module(module)).is_some());
            let module = of_module.unwrap_or(if class.contains("torch") { "torch" } else { "py" });
            call_named(state, name, Some(to_dynamic(Value::Module(module))), args, keywords)
        }
        // A context manager as a decorator.
        manager @ Value::Object(_) if matches!(args.as_slice(), [only] if only.is::<FnPtr>()) => {
            decorate(state, to_dynamic(manager), args)
        }
        other => Err(fault::thrown(not_callable(other.type_name()))),
    }
}

/// `@torch.no_grad` without parentheses.
fn is_decorator(name: &str, args: &[Dynamic]) -> bool {
    matches!(name, "no_grad" | "enable_grad" | "inference_mode") && matches!(args, [only] if only.is::<FnPtr>())
}

/// The function among `args`, run within a context each time it is called.
fn decorate(state: &Rc<Runtime>, manager: Dynamic, args: Array) -> Scripted<Dynamic> {
    let Some(function) = args.into_iter().next().and_then(|only| only.try_cast::<FnPtr>()) else {
        return Ok(Dynamic::UNIT);
    };
    let state = state.clone();
    let decorated = native("function", move |context, args| {
        let _entered: Dynamic = call_named(&state, "__enter__", Some(manager.clone()), Array::new(), Map::new())?;
        let result = function.call_within_context(context, args);
        let _left: Dynamic = call_named(&state, "__exit__", Some(manager.clone()), Array::new(), Map::new())?;
        result
    })?;
    Ok(Dynamic::from(decorated))
}

fn not_callable(class: &str) -> Error {
    Error::type_error(format!("'{class}' object is not callable"))
}

fn merge(state: &Runtime, mut first: Map, second: &Dynamic) -> Scripted<Map> {
    if let Some(map) = second.read_lock::<Map>() {
        first.extend(map.clone());
        return Ok(first);
    }
    if let Some(dict) = second.read_lock::<Dict>() {
        for (key, value) in dict.entries() {
            first.insert(state.str(&key).map_err(fault::thrown)?.into(), value);
        }
        return Ok(first);
    }
    match to_value(second).map_err(fault::thrown)? {
        Value::Dict(entries) | Value::OrderedDict(entries) => {
            for (key, value) in entries.iter() {
                let key = state.str(key).map_err(fault::thrown)?;
                first.insert(key.into(), to_dynamic(value.clone()));
            }
            Ok(first)
        }
        other => Err(fault::thrown(Error::type_error(format!(
            "argument after ** must be a mapping, not {}",
            other.type_name()
        )))),
    }
}

/// The methods that the engine calls where Python has a form for it.
const SPECIAL: &[&str] =
    &["__getitem__", "__setitem__", "__delitem__", "__contains__", "__enter__", "__exit__", "__iter__", "__next__"];

/// A special method of an object of a script.
pub fn special_call(receiver: &Dynamic, name: &str, args: &[Dynamic]) -> Option<Scripted<Dynamic>> {
    if SPECIAL.contains(&name) { members::special(receiver, name, args.to_vec()) } else { None }
}
