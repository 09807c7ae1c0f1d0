//! Builtins that call functions of the script: `map`, `filter`, `sorted` and its kin with a key, `functools`. They need
//! the engine's context, which rows of the function table lack.

use super::autograd_function::Once;
use super::callable::{Def, Scripted, call_value, native, split_keywords};
use super::class::instance_of;
use super::descriptors::{ClassMethod, Property, StaticMethod};
use super::dict::Dict;
use super::engine::{dispatch, method_of_script};
use super::fault;
use super::list::{List, items_of, own};
use super::runtime::Runtime;
use super::value::{object, to_value};
use crate::functions::operators;
use crate::functions::sorting::sort_by_keys;
use crate::tensor::{Error, ErrorKind, Result, interrupt};
use crate::value::Value;
use crate::value::equality::truth;
use rhai::{Array, Dynamic, Engine, FnPtr, Map, NativeCallContext};
use std::any::TypeId;
use std::rc::Rc;

pub type Higher = fn(&Rc<Runtime>, &NativeCallContext, Array) -> Scripted<Dynamic>;

/// Name, the numbers of arguments, function.
const FUNCTIONS: &[(&str, &[usize], Higher)] = &[
    ("map", &[2, 3, 4], map),
    ("filter", &[2], filter),
    ("reduce", &[2, 3], reduce),
    ("partial", &[1, 2, 3, 4], partial),
    ("vmap", &[1, 2, 3, 4], super::transforms::vmap),
    ("next", &[1, 2], next),
    ("namedtuple", &[2, 3], |_, _, args| super::namedtuple::class(args)),
    ("wraps", &[1], wraps),
    ("lru_cache", &[0, 1, 2], cached),
    ("cache", &[1], cached),
    ("vars", &[1], |_, _, args| {
        let this = first(args);
        let found = super::members::attribute(&this, "__dict__");
        found.unwrap_or_else(|| Err(fault::thrown(Error::type_error("vars() argument must have __dict__ attribute"))))
    }),
    ("once_differentiable", &[1], |_, _, args| Ok(object(Rc::new(Once(first(args)))))),
    ("property", &[0, 1, 2, 3, 4], property),
    ("staticmethod", &[1], |_, _, args| Ok(object(Rc::new(StaticMethod(first(args)))))),
    ("classmethod", &[1], |_, _, args| Ok(object(Rc::new(ClassMethod(first(args)))))),
];

fn first(args: Array) -> Dynamic {
    args.into_iter().next().unwrap_or_default()
}

/// `functools.wraps(function)`: a decorator that gives another function the names of this one.
fn wraps(_: &Rc<Runtime>, _: &NativeCallContext, args: Array) -> Scripted<Dynamic> {
    let wrapped = first(args);
    let decorator = native("wraps", move |_, args| {
        let function = first(args);
        if let (Some(to), Some(from)) = (function.read_lock::<FnPtr>(), wrapped.read_lock::<FnPtr>()) {
            for name in ["__name__", "__qualname__", "__doc__"] {
                if let Some(value) = Def::attribute(&from, name) {
                    Def::set_attribute(&to, name, &value)?;
                }
            }
            Def::set_attribute(&to, "__wrapped__", &wrapped)?;
        }
        Ok(function)
    })?;
    Ok(Dynamic::from(decorator))
}

/// `functools.lru_cache`, with or without arguments: a function that remembers what it gave.
fn cached(state: &Rc<Runtime>, _: &NativeCallContext, args: Array) -> Scripted<Dynamic> {
    let (mut args, keywords) = split_keywords(args);
    let given = if args.is_empty() { Dynamic::UNIT } else { args.remove(0) };
    if given.is_unit() || given.is_int() || !keywords.is_empty() {
        let state = state.clone();
        let decorator = native("lru_cache", move |_, args| remembering(&state, first(args)))?;
        return Ok(Dynamic::from(decorator));
    }
    remembering(state, given)
}

fn remembering(state: &Rc<Runtime>, function: Dynamic) -> Scripted<Dynamic> {
    let known = Rc::new(Dict::new([]).map_err(fault::thrown)?);
    let state = state.clone();
    let remembering = native("lru_cache", move |context, args| {
        let (args, keywords) = split_keywords(args);
        let mut parts = args.iter().map(to_value).collect::<Result<Vec<_>>>().map_err(fault::thrown)?;
        for (name, value) in &keywords {
            parts.push(Value::str(name.as_str()));
            parts.push(to_value(value).map_err(fault::thrown)?);
        }
        let key = Value::tuple(parts);
        if let Some(value) = known.get(&key) {
            return Ok(value);
        }
        let value = call_value(&state, context, &function, args, keywords)?;
        known.insert(key, value.clone()).map_err(fault::thrown)?;
        Ok(value)
    })?;
    Ok(Dynamic::from(remembering))
}

/// `next(iterator, default)`
fn next(_: &Rc<Runtime>, _: &NativeCallContext, args: Array) -> Scripted<Dynamic> {
    let mut args = args.into_iter();
    let (iterator, default) = (args.next().unwrap_or_default(), args.next());
    let refused = |value: &Dynamic| {
        let class = to_value(value).map_or_else(|_| String::from("object"), |value| value.type_name().to_owned());
        fault::thrown(Error::type_error(format!("'{class}' object is not an iterator")))
    };
    let Some(instance) = instance_of(&iterator) else { return Err(refused(&iterator)) };
    match (instance.call("__next__", Array::new()), default) {
        (None, _) => Err(refused(&iterator)),
        (Some(Err(error)), Some(default)) if fault::error_of(&error).kind == ErrorKind::StopIteration => Ok(default),
        (Some(item), _) => item,
    }
}

/// `property(fget, fset, fdel, doc)`
fn property(_: &Rc<Runtime>, _: &NativeCallContext, args: Array) -> Scripted<Dynamic> {
    let (args, mut keywords) = split_keywords(args);
    let mut part =
        |place: usize, name: &str| args.get(place).cloned().or_else(|| keywords.remove(name)).unwrap_or_default();
    let (get, set, delete) = (part(0, "fget"), part(1, "fset"), part(2, "fdel"));
    Ok(object(Rc::new(Property { get, set, delete })))
}

/// The function of this name, for calls through a variable.
pub fn find(name: &str) -> Option<Higher> {
    FUNCTIONS.iter().find(|(known, ..)| *known == name).map(|(.., run)| *run)
}

/// Those that take `key=`, `reverse=` and `default=`.
const KEYED: &[(&str, Keyed)] = &[("sorted", sorted), ("min", least), ("max", greatest)];

type Keyed = fn(&Runtime, Vec<(Value, Dynamic)>, &Map) -> Result<Dynamic>;

/// Adds the functions to the engine.
pub fn register(engine: &mut Engine, state: &Rc<Runtime>) {
    for (name, arities, run) in FUNCTIONS {
        for arity in *arities {
            // `functools.reduce(f, x)` comes with its module in front.
            for module in [false, true] {
                let state = state.clone();
                let types = vec![TypeId::of::<Dynamic>(); arity + usize::from(module)];
                engine.register_raw_fn(*name, types, move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
                    if let Some(called) = method_of_script(&state, name, args) {
                        return called;
                    }
                    let mut args: Array = args.iter().map(|arg| arg.flatten_clone()).collect();
                    let first = args.first().map(to_value).transpose();
                    if matches!(first, Ok(Some(Value::Module(_)))) {
                        args.drain(..1);
                    }
                    run(&state, &context, args)
                });
            }
        }
    }
    for (name, run) in KEYED {
        let (this, name) = (state.clone(), *name);
        for arity in 1..4 {
            let types = [vec![TypeId::of::<Dynamic>(); arity], vec![TypeId::of::<Map>()]].concat();
            let this = this.clone();
            engine.register_raw_fn(name, types, move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
                let takes_key =
                    args.last().and_then(|last| last.read_lock::<Map>()).is_some_and(|m| m.contains_key("key"));
                if !takes_key {
                    return plain(&this, name, args).map_err(fault::thrown);
                }
                let mut args: Array = args.iter().map(|arg| arg.flatten_clone()).collect();
                let keywords = args.pop().and_then(|map| map.try_cast::<Map>()).unwrap_or_default();
                if matches!(args.first().map(to_value), Some(Ok(Value::Module(_)))) {
                    args.drain(..1);
                }
                keyed(&this, &context, args, keywords, *run)
            });
        }
    }
    let this = state.clone();
    engine.register_raw_fn(
        "sort",
        [TypeId::of::<List>()],
        move |context: NativeCallContext, args: &mut [&mut Dynamic]| sort(&this, &context, args),
    );
    let this = state.clone();
    engine.register_raw_fn(
        "sort",
        [TypeId::of::<List>(), TypeId::of::<Map>()],
        move |context: NativeCallContext, args: &mut [&mut Dynamic]| sort(&this, &context, args),
    );
}

/// The function of the table, for a call without a key.
fn plain(state: &Runtime, name: &str, args: &mut [&mut Dynamic]) -> Result<Dynamic> {
    match state.registry.family(name) {
        Some(family) => dispatch(state, family, args).and_then(|value| state.give(value)),
        None => Ok(Dynamic::UNIT),
    }
}

fn items(state: &Runtime, value: &Dynamic) -> Scripted<Vec<Dynamic>> {
    items_of(state, value).map_err(fault::thrown)
}

/// A list in a line of Python, an array in a line of Rhai.
fn list_of(state: &Runtime, items: Vec<Dynamic>) -> Dynamic {
    if state.python.get() { Dynamic::from(List::new(items)) } else { items.into() }
}

fn is_true(value: &Dynamic) -> Scripted<bool> {
    to_value(value).and_then(|value| truth(&value)).map_err(fault::thrown)
}

/// `map(f, xs, ys, …)`: as many calls as the shortest has items.
fn map(state: &Rc<Runtime>, context: &NativeCallContext, args: Array) -> Scripted<Dynamic> {
    let Some((function, sources)) = args.split_first() else { return Ok(Dynamic::UNIT) };
    // In Rhai an array comes first: `a.map(f)`.
    let (function, sources) = match sources {
        [only] if only.is::<rhai::FnPtr>() && !function.is::<rhai::FnPtr>() => (only, std::slice::from_ref(function)),
        _ => (function, sources),
    };
    let columns = sources.iter().map(|source| items(state, source)).collect::<Scripted<Vec<_>>>()?;
    let length = columns.iter().map(Vec::len).min().unwrap_or(0);
    let mut results = Vec::new();
    for i in 0..length {
        let row: Array = columns.iter().filter_map(|column| column.get(i).cloned()).collect();
        results.push(call_value(state, context, function, row, Map::new())?);
    }
    Ok(list_of(state, results))
}

/// `filter(f, xs)`; `None` stands for the items' own truth.
fn filter(state: &Rc<Runtime>, context: &NativeCallContext, args: Array) -> Scripted<Dynamic> {
    let [function, source] = args.as_slice() else { return Ok(Dynamic::UNIT) };
    let (function, source) = if source.is::<rhai::FnPtr>() && !function.is::<rhai::FnPtr>() {
        (source, function)
    } else {
        (function, source)
    };
    let mut kept = Vec::new();
    for item in items(state, source)? {
        let verdict = match function.is_unit() {
            true => item.clone(),
            false => call_value(state, context, function, vec![item.clone()], Map::new())?,
        };
        if is_true(&verdict)? {
            kept.push(item);
        }
    }
    Ok(list_of(state, kept))
}

/// `functools.reduce(f, xs, start)`
fn reduce(state: &Rc<Runtime>, context: &NativeCallContext, args: Array) -> Scripted<Dynamic> {
    let [function, source, start @ ..] = args.as_slice() else { return Ok(Dynamic::UNIT) };
    let mut items = items(state, source)?.into_iter();
    let Some(mut total) = start.first().cloned().or_else(|| items.next()) else {
        return Err(fault::thrown(Error::type_error("reduce() of empty iterable with no initial value")));
    };
    for item in items {
        total = call_value(state, context, function, vec![total, item], Map::new())?;
    }
    Ok(total)
}

/// `functools.partial(f, *args, **keywords)`
fn partial(state: &Rc<Runtime>, _: &NativeCallContext, args: Array) -> Scripted<Dynamic> {
    let (mut args, keywords) = split_keywords(args);
    if args.is_empty() {
        return Err(fault::thrown(Error::type_error("type 'partial' takes at least one argument")));
    }
    let function = args.remove(0);
    let state = state.clone();
    let applied = native("partial", move |context, mut more| {
        let mut all = keywords.clone();
        if more.last().is_some_and(|last| last.is::<Map>()) {
            all.extend(more.pop().and_then(|map| map.try_cast::<Map>()).unwrap_or_default());
        }
        call_value(&state, context, &function, [args.clone(), more].concat(), all)
    })?;
    Ok(Dynamic::from(applied))
}

/// Computes every item's key and hands both on.
fn keyed(
    state: &Rc<Runtime>,
    context: &NativeCallContext,
    args: Array,
    keywords: Map,
    run: Keyed,
) -> Scripted<Dynamic> {
    let candidates = match args.as_slice() {
        [only] => items(state, only)?,
        several => several.to_vec(),
    };
    let pairs = with_keys(state, context, candidates, &keywords)?;
    run(state, pairs, &keywords).map_err(fault::thrown)
}

fn with_keys(
    state: &Rc<Runtime>,
    context: &NativeCallContext,
    items: Vec<Dynamic>,
    keywords: &Map,
) -> Scripted<Vec<(Value, Dynamic)>> {
    let function = keywords.get("key").filter(|key| !key.is_unit());
    let key_of = |item: Dynamic| {
        let key = match function {
            Some(function) => call_value(state, context, function, vec![item.clone()], Map::new())?,
            None => item.clone(),
        };
        Ok((to_value(&key).map_err(fault::thrown)?, item))
    };
    items.into_iter().map(key_of).collect()
}

fn is_reverse(keywords: &Map) -> Result<bool> {
    keywords.get("reverse").map_or(Ok(false), |reverse| truth(&to_value(reverse)?))
}

fn items_by_keys(state: &Runtime, pairs: Vec<(Value, Dynamic)>, keywords: &Map) -> Result<Vec<Dynamic>> {
    let sorted = sort_by_keys(state, pairs, is_reverse(keywords)?)?;
    Ok(sorted.into_iter().map(|(_, item)| item).collect())
}

fn sorted(state: &Runtime, pairs: Vec<(Value, Dynamic)>, keywords: &Map) -> Result<Dynamic> {
    Ok(list_of(state, items_by_keys(state, pairs, keywords)?))
}

/// `list.sort(key=…, reverse=…)`
fn sort(state: &Rc<Runtime>, context: &NativeCallContext, args: &mut [&mut Dynamic]) -> Scripted<Dynamic> {
    let list = args.first().and_then(|list| list.read_lock::<List>().map(|list| list.clone()));
    let keywords = args.get(1).and_then(|map| map.read_lock::<Map>().map(|map| map.clone())).unwrap_or_default();
    if let Some(list) = list {
        let pairs = with_keys(state, context, list.items(), &keywords)?;
        let sorted = items_by_keys(state, pairs, &keywords).map_err(fault::thrown)?;
        // Some may be missing.
        interrupt::check().map_err(fault::thrown)?;
        list.replace(sorted);
    }
    Ok(Dynamic::UNIT)
}

fn least(state: &Runtime, pairs: Vec<(Value, Dynamic)>, keywords: &Map) -> Result<Dynamic> {
    extreme(state, pairs, keywords, "min", "<")
}

fn greatest(state: &Runtime, pairs: Vec<(Value, Dynamic)>, keywords: &Map) -> Result<Dynamic> {
    extreme(state, pairs, keywords, "max", ">")
}

/// The first item whose key is beyond every other's.
fn extreme(state: &Runtime, pairs: Vec<(Value, Dynamic)>, keywords: &Map, name: &str, symbol: &str) -> Result<Dynamic> {
    let mut pairs = pairs.into_iter();
    let Some(mut best) = pairs.next() else {
        let default = keywords.get("default").cloned();
        return default.ok_or_else(|| Error::value(format!("{name}() arg is an empty sequence")));
    };
    let Some(operator) = operators::find(symbol) else { return Ok(best.1) };
    for pair in pairs {
        if truth(&operators::binary(state, operator, &pair.0, &best.0)?)? {
            best = pair;
        }
    }
    Ok(own(best.1))
}
