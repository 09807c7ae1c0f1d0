//! Calling what is only known at run time: functions held in variables, classes, decorators, and calls whose arguments
//! were collected first. Translated Python reaches these by name; see the translator's list.

use super::dict::Dict;
use super::engine::{dispatch, print_text};
use super::fault::{self, Thrown};
use super::functions::Receiver;
use super::list::own;
use super::parameters::Parameters;
use super::state::State;
use super::value::{text_subscript, to_dynamic, to_value};
use crate::tensor::{Error, ErrorKind, Result};
use crate::value::Value;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, Map, NativeCallContext};
use std::rc::Rc;

pub type Scripted<T> = std::result::Result<T, Box<EvalAltResult>>;

/// Adds the functions to the engine. They need its context, which rows of the function table do not have.
pub fn register(engine: &mut Engine, state: &Rc<State>) {
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
    engine.register_fn("function_", |name: &str, body: FnPtr, names: Array, defaults: Map| {
        function(Parameters::new(name, &names, defaults), body)
    });
    super::higher::register(engine, state);
    let this = state.clone();
    engine.register_fn("__merge__", move |first: Map, second: Dynamic| merge(&this, first, &second));
    engine.register_fn("caught_", caught);
    engine.register_fn("key_", text_subscript);
    engine.register_fn("__matches__", |error: Dynamic, kind: &str| {
        let raised = error_of(&error).kind.name();
        raised == kind || kind == "Exception" || kind == "BaseException"
    });
}

/// Our function or method of that name, with arguments collected beforehand.
pub fn call_named(
    state: &State,
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

/// A function written in Python, as the engine's own kind of function.
pub fn function(parameters: Parameters, body: FnPtr) -> Scripted<FnPtr> {
    native("function", move |context, args| {
        let (args, keywords) = split_keywords(args);
        let bound = parameters.bind(args, keywords).map_err(fault::thrown)?;
        body.call_within_context(context, bound)
    })
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
    state: &Rc<State>,
    context: &NativeCallContext,
    callee: &Dynamic,
    mut args: Array,
    keywords: Map,
) -> Scripted<Dynamic> {
    if let Some(function) = callee.read_lock::<FnPtr>().map(|function| function.clone()) {
        if !keywords.is_empty() {
            args.push(keywords.into());
        }
        return function.call_within_context(context, args.into_iter().map(own).collect::<Array>());
    }
    match to_value(callee).map_err(fault::thrown)? {
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
            let module = super::functions::MODULES.iter().copied().find(|known| *known == module).unwrap_or("torch");
            call_named(state, name, Some(to_dynamic(Value::Module(module))), args, keywords)
        }
        Value::Method(method) => call_named(state, method.name, Some(to_dynamic(method.of.clone())), args, keywords),
        Value::Type(class) => {
            let (path, name) = class.rsplit_once('.').unwrap_or(("", class));
            let inner = path.strip_prefix("torch.").unwrap_or(path);
            let of_module = super::functions::MODULES.iter().copied().find(|known| *known == inner);
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
fn decorate(state: &Rc<State>, manager: Dynamic, args: Array) -> Scripted<Dynamic> {
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

fn merge(state: &State, mut first: Map, second: &Dynamic) -> Scripted<Map> {
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

/// The error behind what a script's `catch` receives.
fn error_of(caught: &Dynamic) -> Error {
    if let Some(thrown) = caught.read_lock::<Thrown>() {
        return thrown.0.clone();
    }
    let text = match caught.read_lock::<Map>() {
        // The engine describes its own errors by a map.
        Some(map) => map.get("message").map_or_else(String::new, ToString::to_string),
        None => caught.to_string(),
    };
    Error::new(ErrorKind::RuntimeError, text)
}

/// The value of `except … as e`.
fn caught(error: Dynamic) -> Result<Dynamic, Box<EvalAltResult>> {
    Ok(Dynamic::from(error_of(&error).message))
}
