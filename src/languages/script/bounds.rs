//! Protects the machine from a script: the engine's limits, checks between the engine's steps, and limits for Rhai's
//! own functions whose result or running time grows with a number.
//!
//! After each method call on an array or a map, the engine measures the whole receiver. This would make a loop over
//! `push` quadratic. The short methods are therefore not registered, and the hook for unknown functions runs them
//! instead: see [`deferred`].

use super::Scripted;
use super::native::add;
use super::runtime::Runtime;
use super::values::to_value;
use super::words::PROPERTIES;
use super::{fault, subscripts};
use call::stack;
use objects::bounds::{repeated, replaced, room_for_text, share, sleep};
use rhai::{
    AST, ASTNode, Array, Blob, Dynamic, Engine, EvalAltResult, Expr, FuncRegistration, ImmutableString, Map, Module,
    NativeCallContext, ParseError, ParseErrorType, Position, RhaiFunc, Stmt,
};
use std::any::TypeId;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tensor::system::Moment;
use tensor::{Result, interrupt, limits};

/// The maximum depth of nested calls of script functions; the same as Python's.
const MAX_CALL_LEVELS: usize = 1000;
/// The maximum depth of an expression. The large stack of the program has room for it.
pub(crate) const MAX_EXPRESSION_DEPTH: usize = 500;
/// Number of engine steps between two readings of the clock. One reading takes about as long as one step.
const STEPS: u32 = 512;
/// Time between two checks of the process's memory.
const PAUSE: Duration = Duration::from_millis(5);
/// Sets the limits for the depth, size and running time of a script.
pub(crate) fn set_limits(engine: &mut Engine, state: &Rc<Runtime>) {
    engine.set_max_call_levels(MAX_CALL_LEVELS);
    engine.set_max_expr_depths(MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_DEPTH);
    engine.set_max_string_size(share());
    engine.set_max_array_size(most_items());
    engine.set_max_map_size(share() / ENTRY);
    let interrupt = state.interrupt.clone();
    let (steps, looked) = (Cell::new(0u32), Cell::new(Moment::now()));
    engine.on_progress(move |_| {
        if interrupt.is_set() {
            return ended(fault::Interrupted);
        }
        if !stack::has_room() {
            return ended(fault::TooDeep);
        }
        let step = steps.get().wrapping_add(1);
        steps.set(step);
        if step.is_multiple_of(STEPS) { check_growth(&looked) } else { None }
    });
}

/// Ends the script. Marked cold, like the memory check, to keep it out of the path of ordinary steps.
#[cold]
fn ended(why: impl Clone + 'static) -> Option<Dynamic> {
    Some(Dynamic::from(why))
}

#[cold]
fn check_growth(looked: &Cell<Moment>) -> Option<Dynamic> {
    if looked.get().elapsed() < PAUSE {
        return None;
    }
    looked.set(Moment::now());
    limits::check_growth().err().and_then(|_| ended(fault::OutOfMemory))
}

fn most_items() -> usize {
    share() / size_of::<Dynamic>()
}

/// Fails with MemoryError if an array may not hold this many items.
fn room_for_items(count: usize) -> Result<()> {
    if count <= most_items() { Ok(()) } else { Err(limits::full()) }
}

/// The maximum number of arguments in a call. If no function takes that many, the engine goes through all the arguments
/// about ten thousand times.
pub(crate) const MOST_ARGUMENTS: usize = 1000;

/// Rejects a text that contains a call with too many arguments.
pub(crate) fn check_calls(ast: AST) -> std::result::Result<AST, ParseError> {
    let mut refused = None;
    ast.walk(&mut |path| {
        let call = match path.last() {
            Some(ASTNode::Expr(Expr::FnCall(call, at) | Expr::MethodCall(call, at))) => Some((call, at)),
            Some(ASTNode::Stmt(Stmt::FnCall(call, at))) => Some((call, at)),
            _ => None,
        };
        refused = call.filter(|(call, _)| call.args.len() > MOST_ARGUMENTS).map(|(_, at)| *at);
        refused.is_none()
    });
    match refused {
        Some(at) => Err(ParseError(Box::new(ParseErrorType::ExprTooDeep), at)),
        None => Ok(ast),
    }
}

/// The approximate size of one entry of an object map.
const ENTRY: usize = 4 * size_of::<Dynamic>();

/// Returns the approximate number of bytes of a value, including everything it holds.
fn weight(value: &Dynamic) -> usize {
    let held = if let Some(array) = value.read_lock::<Array>() {
        array.iter().map(weight).fold(0, usize::saturating_add)
    } else if let Some(map) = value.read_lock::<Map>() {
        map.values().map(|value| ENTRY.saturating_add(weight(value))).fold(0, usize::saturating_add)
    } else {
        0
    };
    held.saturating_add(size_of::<Dynamic>())
}

/// Replaces functions of Rhai with versions that check their limits.
pub fn register(module: &mut Module) {
    let (text, int, float) = (TypeId::of::<ImmutableString>(), TypeId::of::<i64>(), TypeId::of::<f64>());
    let (array, any, char) = (TypeId::of::<Array>(), TypeId::of::<Dynamic>(), TypeId::of::<char>());
    for seconds in [int, float] {
        add(module, "sleep", &[seconds], |args| {
            let seconds = args.first().map_or(0.0, |arg| arg.as_float().unwrap_or(arg.as_int().unwrap_or(0) as f64));
            let how_long = if seconds > 0.0 {
                Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
            } else {
                Duration::ZERO
            };
            sleep(how_long).map(|()| Dynamic::UNIT)
        });
    }
    change(module, "pad", &[array, int, any], |args| match args {
        [array, length, item] => pad_array(array, length.as_int().unwrap_or(0), item),
        _ => Ok(()),
    });
    for padding in [text, char] {
        change(module, "pad", &[text, int, padding], |args| match args {
            [text, length, padding] => pad_text(text, length.as_int().unwrap_or(0), &padding.to_string()),
            _ => Ok(()),
        });
    }
    for [old, new] in [[text, text], [text, char], [char, text]] {
        change(module, "replace", &[text, old, new], |args| match args {
            [text, old, new] => {
                let replaced = replaced(&text.to_string(), &old.to_string(), &new.to_string(), usize::MAX)?;
                **text = replaced.into();
                Ok(())
            }
            _ => Ok(()),
        });
    }
    for (name, parameters, _) in CONSTANT_TIME_METHODS {
        let types: Vec<TypeId> = parameters.iter().map(Parameter::type_id).collect();
        let func = |_: Option<NativeCallContext>, _: &mut [&mut Dynamic]| {
            Err(EvalAltResult::ErrorRuntime(Dynamic::UNIT, Position::NONE).into())
        };
        FuncRegistration::new(*name).in_global_namespace().set_into_module_raw(
            module,
            &types,
            RhaiFunc::Method { func: Rc::new(func), has_context: false, is_pure: is_reader(name), is_volatile: true },
        );
    }
}

/// Adds a function that modifies its first argument.
fn change(
    module: &mut Module,
    name: &str,
    types: &[TypeId],
    run: impl Fn(&mut [&mut Dynamic]) -> Result<()> + 'static,
) {
    let func = move |_: Option<NativeCallContext>, args: &mut [&mut Dynamic]| {
        run(args).map(|()| Dynamic::UNIT).map_err(fault::thrown)
    };
    FuncRegistration::new(name).in_global_namespace().set_into_module_raw(
        module,
        types,
        RhaiFunc::Method { func: Rc::new(func), has_context: false, is_pure: false, is_volatile: true },
    );
}

fn pad_array(array: &mut Dynamic, length: i64, item: &Dynamic) -> Result<()> {
    let Some(mut array) = array.write_lock::<Array>() else { return Ok(()) };
    let length = usize::try_from(length).unwrap_or(0);
    let more = length.saturating_sub(array.len());
    room_for_items(length)?;
    limits::room(more.saturating_mul(weight(item)))?;
    array.reserve_exact(more);
    for piece in interrupt::pieces(0..more, 1) {
        let length = array.len() + piece?.len();
        array.resize(length, item.clone());
    }
    Ok(())
}

fn pad_text(text: &mut Dynamic, length: i64, padding: &str) -> Result<()> {
    let Some(mut text) = text.write_lock::<ImmutableString>() else { return Ok(()) };
    let length = usize::try_from(length).unwrap_or(0);
    let more = length.saturating_sub(text.chars().count());
    let each = padding.chars().count();
    // An empty padding, however often repeated, adds nothing.
    if more == 0 || each == 0 {
        return Ok(());
    }
    let whole = repeated(padding, more / each)?;
    let rest: String = padding.chars().take(more % each).collect();
    room_for_text(text.len() + whole.len() + rest.len())?;
    *text = [text.as_str(), &whole, &rest].concat().into();
    Ok(())
}

/// A parameter of a short method.
enum Parameter {
    Array,
    Map,
    Int,
    Text,
    Any,
}

impl Parameter {
    fn type_id(&self) -> TypeId {
        match self {
            Parameter::Array => TypeId::of::<Array>(),
            Parameter::Map => TypeId::of::<Map>(),
            Parameter::Int => TypeId::of::<i64>(),
            Parameter::Text => TypeId::of::<ImmutableString>(),
            Parameter::Any => TypeId::of::<Dynamic>(),
        }
    }

    fn takes(&self, value: &Dynamic) -> bool {
        match self {
            Parameter::Array => value.is_array(),
            Parameter::Map => value.is_map(),
            Parameter::Int => value.is_int(),
            Parameter::Text => value.is_string(),
            Parameter::Any => true,
        }
    }
}

type ConstantTimeMethod = fn(&mut Dynamic, &mut [&mut Dynamic]) -> Result<Dynamic>;

/// The methods of arrays and object maps that run in constant time: name, parameters, function.
const CONSTANT_TIME_METHODS: &[(&str, &[Parameter], ConstantTimeMethod)] = &[
    ("len", &[Parameter::Array], |array, _| Ok((on_array(array, |array| array.len()) as i64).into())),
    ("is_empty", &[Parameter::Array], |array, _| Ok((on_array(array, |array| array.len()) == 0).into())),
    ("push", &[Parameter::Array, Parameter::Any], |array, args| {
        let item = take_argument(args, 0);
        on_array(array, |array| check_grown(array).map(|array| array.push(item))).map(Dynamic::from)
    }),
    ("pop", &[Parameter::Array], |array, _| Ok(on_array(array, Array::pop).unwrap_or_default())),
    ("shift", &[Parameter::Array], |array, _| {
        Ok(on_array(array, |array| if array.is_empty() { Dynamic::UNIT } else { array.remove(0) }))
    }),
    ("get", &[Parameter::Array, Parameter::Int], |array, args| {
        let at = number(args);
        Ok(on_array(array, |array| index_from_end(array, at).and_then(|at| array.get(at)).cloned()).unwrap_or_default())
    }),
    ("set", &[Parameter::Array, Parameter::Int, Parameter::Any], |array, args| {
        let (at, item) = (number(args), take_argument(args, 1));
        on_array(array, |array| {
            if let Some(slot) = index_from_end(array, at).and_then(|at| array.get_mut(at)) {
                *slot = item;
            }
        });
        Ok(Dynamic::UNIT)
    }),
    ("insert", &[Parameter::Array, Parameter::Int, Parameter::Any], |array, args| {
        let (at, item) = (number(args), take_argument(args, 1));
        let insert = |array: &mut Array| {
            let array = check_grown(array)?;
            let at = index_from_end(array, at).unwrap_or(array.len());
            array.insert(at, item);
            Ok(Dynamic::UNIT)
        };
        on_array(array, insert)
    }),
    ("remove", &[Parameter::Array, Parameter::Int], |array, args| {
        let at = number(args);
        Ok(on_array(array, |array| {
            let length = array.len() as i64;
            let at = if at < 0 { at.checked_add(length) } else { Some(at) };
            let at = at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < array.len());
            at.map(|at| array.remove(at)).unwrap_or_default()
        }))
    }),
    ("len", &[Parameter::Map], |map, _| Ok((on_map(map, |map| map.len()) as i64).into())),
    ("is_empty", &[Parameter::Map], |map, _| Ok((on_map(map, |map| map.len()) == 0).into())),
    ("contains", &[Parameter::Map, Parameter::Text], |map, args| {
        let key = name(args);
        Ok(on_map(map, |map| map.contains_key(key.as_str())).into())
    }),
    ("get", &[Parameter::Map, Parameter::Text], |map, args| {
        let key = name(args);
        Ok(on_map(map, |map| map.get(key.as_str()).cloned()).unwrap_or_default())
    }),
    ("set", &[Parameter::Map, Parameter::Text, Parameter::Any], |map, args| {
        let (key, value) = (name(args), take_argument(args, 1));
        on_map(map, |map| map.insert(key.as_str().into(), value));
        Ok(Dynamic::UNIT)
    }),
    ("remove", &[Parameter::Map, Parameter::Text], |map, args| {
        let key = name(args);
        Ok(on_map(map, |map| map.remove(key.as_str())).unwrap_or_default())
    }),
];

/// Returns whether a short method leaves its receiver unchanged.
fn is_reader(name: &str) -> bool {
    matches!(name, "len" | "is_empty" | "get" | "contains")
}

/// Calls a short method of an array or an object map. Returns `None` for anything else.
pub(crate) fn deferred(name: &str, args: &mut [&mut Dynamic]) -> Option<Scripted<Dynamic>> {
    let (receiver, rest) = args.split_first_mut()?;
    if !(receiver.is_array() || receiver.is_map()) {
        return None;
    }
    let (.., run) = CONSTANT_TIME_METHODS.iter().find(|(known, parameters, _)| {
        *known == name
            && parameters.split_first().is_some_and(|(this, others)| {
                this.takes(receiver)
                    && others.len() == rest.len()
                    && others.iter().zip(rest.iter()).all(|(parameter, arg)| parameter.takes(arg))
            })
    })?;
    // The engine has already refused to modify a constant.
    if receiver.is_read_only() && !is_reader(name) {
        return None;
    }
    Some(run(receiver, rest).map_err(fault::thrown))
}

/// Reads a property of an array, for which weaving has inserted a call (see `chains.rs`). Returns `None` for another
/// name, and for a value without the property: the engine then reports the position.
pub(crate) fn property(state: &Runtime, name: &str, args: &[&mut Dynamic]) -> Option<Dynamic> {
    let ([target], Some(name)) = (args, name.strip_suffix('_').filter(|name| PROPERTIES.contains(name))) else {
        return None;
    };
    if let Some(map) = target.read_lock::<Map>() {
        return map.get(name).cloned();
    }
    if super::values::is_ours(target) {
        let read = to_value(target).and_then(|value| subscripts::get(state, value, &name.into()));
        return read.and_then(|value| state.to_script(value)).ok();
    }
    if name == "tag" {
        return Some(i64::from(target.tag()).into());
    }
    let count = if let Some(array) = target.read_lock::<Array>() {
        array.len()
    } else if let Some(text) = target.read_lock::<ImmutableString>() {
        text.chars().count()
    } else {
        target.read_lock::<Blob>()?.len()
    };
    Some(if name == "len" { (count as i64).into() } else { (count == 0).into() })
}

fn on_array<T>(value: &mut Dynamic, run: impl FnOnce(&mut Array) -> T) -> T {
    match value.write_lock::<Array>() {
        Some(mut array) => run(&mut array),
        None => run(&mut Array::new()),
    }
}

fn on_map<T>(value: &mut Dynamic, run: impl FnOnce(&mut Map) -> T) -> T {
    match value.write_lock::<Map>() {
        Some(mut map) => run(&mut map),
        None => run(&mut Map::new()),
    }
}

/// Checks that an array may grow by one item.
fn check_grown(array: &mut Array) -> Result<&mut Array> {
    room_for_items(array.len() + 1)?;
    Ok(array)
}

fn take_argument(args: &mut [&mut Dynamic], index: usize) -> Dynamic {
    args.get_mut(index).map(|arg| arg.take().flatten()).unwrap_or_default()
}

fn number(args: &[&mut Dynamic]) -> i64 {
    args.first().and_then(|arg| arg.as_int().ok()).unwrap_or(0)
}

fn name(args: &[&mut Dynamic]) -> ImmutableString {
    args.first().and_then(|arg| arg.read_lock::<ImmutableString>().map(|text| text.clone())).unwrap_or_default()
}

/// Converts a number to an index into an array. A negative number counts from the end. Returns `None` beyond the end.
fn index_from_end(array: &Array, at: i64) -> Option<usize> {
    let length = array.len();
    match usize::try_from(at) {
        Ok(at) => Some(at).filter(|at| *at < length),
        Err(_) => Some(length - usize::try_from(at.unsigned_abs()).unwrap_or(length).min(length)),
    }
}
