//! Calling what is only known at run time: functions held in variables, classes, decorators, and calls whose arguments
//! were collected first. Translated Python reaches these by name; see the translator's list.

use super::engine::dispatch;
use super::fault::{self, Thrown};
use super::state::State;
use super::subscript;
use super::value::{to_dynamic, to_value};
use crate::tensor::{Error, ErrorKind, Result};
use crate::value::Value;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, Map, NativeCallContext};
use std::rc::Rc;

type Scripted<T> = std::result::Result<T, Box<EvalAltResult>>;

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
    let this = state.clone();
    engine.register_fn("map", move |context: NativeCallContext, function: FnPtr, items: Dynamic| -> Scripted<Array> {
        let items = to_value(&items).and_then(|v| subscript::items(&this, &v)).map_err(fault::thrown)?;
        items.into_iter().map(|item| function.call_within_context(&context, (to_dynamic(item),))).collect()
    });
    let this = state.clone();
    engine.register_fn("__merge__", move |first: Map, second: Dynamic| merge(&this, first, &second));
    engine.register_fn("caught_", caught);
    engine.register_fn("__matches__", |error: Dynamic, kind: &str| {
        let raised = error_of(&error).kind.name();
        raised == kind || kind == "Exception" || kind == "BaseException"
    });
}

/// Our function or method of that name, with arguments collected beforehand.
fn call_named(state: &State, name: &str, receiver: Option<Dynamic>, args: Array, keywords: Map) -> Scripted<Dynamic> {
    let mut all: Vec<Dynamic> = receiver.into_iter().chain(args).collect();
    if !keywords.is_empty() {
        all.push(keywords.into());
    }
    let mut all: Vec<&mut Dynamic> = all.iter_mut().collect();
    let Some(family) = state.registry.family(name) else {
        let error = Error::new(ErrorKind::NameError, format!("name '{name}' is not defined"));
        return Err(fault::thrown(error));
    };
    dispatch(state, family, &mut all).map(to_dynamic).map_err(fault::thrown)
}

fn call_value(
    state: &State,
    context: &NativeCallContext,
    callee: &Dynamic,
    mut args: Array,
    keywords: Map,
) -> Scripted<Dynamic> {
    if let Some(function) = callee.read_lock::<FnPtr>() {
        if !keywords.is_empty() {
            args.push(keywords.into());
        }
        return function.call_within_context(context, args);
    }
    match to_value(callee).map_err(fault::thrown)? {
        Value::Function(name) => call_named(state, &name, Some(to_dynamic(Value::Module("torch"))), args, keywords),
        Value::Type(class) => {
            let name = class.rsplit('.').next().unwrap_or(class);
            let module = if class.contains("torch") { "torch" } else { "py" };
            call_named(state, name, Some(to_dynamic(Value::Module(module))), args, keywords)
        }
        other => Err(fault::thrown(not_callable(other.type_name()))),
    }
}

fn not_callable(class: &str) -> Error {
    Error::type_error(format!("'{class}' object is not callable"))
}

fn merge(state: &State, mut first: Map, second: &Dynamic) -> Scripted<Map> {
    if let Some(map) = second.read_lock::<Map>() {
        first.extend(map.clone());
        return Ok(first);
    }
    match to_value(second).map_err(fault::thrown)? {
        Value::Dict(entries) => {
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
