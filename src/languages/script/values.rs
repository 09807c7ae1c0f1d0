//! Conversions between the script language's `Dynamic` and our [`Value`]. Numbers, strings, lists and maps are Rhai's
//! own. Every other value travels in a box whose type names its contents, which makes Rhai's messages readable.

use super::callback::{self, ScriptFunction};
use super::caught::Caught;
use super::fault::{Thrown, python_type, with_article};
use rhai::{Dynamic, Engine, Identifier, ImmutableString, Module};
use std::any::TypeId;
use std::collections::HashMap;
use std::rc::Rc;
use tensor::interrupt::watched;
use tensor::system::Moment;
use tensor::{Error, ErrorKind, Result, Tensor, limits};
use value::{Dict, Keywords, List, Object, Range, Slice, Value};

/// A boxed value; `KIND` only makes the types differ.
#[derive(Clone)]
pub struct Boxed<const KIND: u8>(pub Value);

macro_rules! boxes {
    ($($kind:literal $name:literal: $($pattern:tt)::+ $(($any:tt))?;)*) => {
        /// The class name of every box, by kind, as the engine's messages spell it.
        pub const CLASSES: &[(&str, u8)] = &[$(($name, $kind)),*];

        pub(super) fn boxed(value: Value) -> Dynamic {
            match &value {
                $($($pattern)::+ $(($any))? => Dynamic::from(Boxed::<$kind>(value)),)*
                // Every other variant is native to the script language.
                _ => Dynamic::UNIT,
            }
        }

        fn unboxed(dynamic: &Dynamic, id: TypeId) -> Option<Value> {
            $(if id == TypeId::of::<Boxed<$kind>>() {
                return dynamic.read_lock::<Boxed<$kind>>().map(|b| b.0.clone());
            })*
            None
        }

        /// Returns whether a value is of a class of ours, not of Rhai's own.
        pub fn is_ours(dynamic: &Dynamic) -> bool {
            if dynamic.is_shared() {
                // A value locked by a call stays shared.
                let held = dynamic.flatten_clone();
                return !held.is_shared() && is_ours(&held);
            }
            let id = dynamic.type_id();
            id == TypeId::of::<Tensor>() $(|| id == TypeId::of::<Boxed<$kind>>())*
        }

        /// Tells the engine the names of our classes. The engine asks for the receiver's name at every method call, and
        /// searches its own list first, so that list holds only tensors.
        pub(crate) fn register_names(engine: &mut Engine, module: &mut Module) {
            engine.register_type_with_name::<Tensor>("Tensor");
            $(module.set_custom_type::<Boxed<$kind>>($name);)*
        }

        /// Returns the type ids of all classes whose values have attributes and subscripts.
        pub(crate) fn class_ids() -> Vec<TypeId> {
            vec![TypeId::of::<Tensor>(), $(TypeId::of::<Boxed<$kind>>()),*]
        }
    };
}

boxes! {
    0  "torch.storage.UntypedStorage": Value::Storage(_);
    1  "torch.storage.TypedStorage": Value::TypedStorage(_);
    2  "torch.dtype": Value::DType(_);
    3  "torch.device": Value::Device(_);
    4  "torch.layout": Value::Layout(_);
    5  "torch.memory_format": Value::MemoryFormat(_);
    6  "torch.Size": Value::Size(_);
    7  "tuple": Value::Tuple(_);
    8  "dict": Value::Dict(_);
    23 "list": Value::List(_);
    24 "set": Value::Set(_);
    9  "named tuple": Value::NamedTuple(_);
    10 "slice": Value::Slice(_);
    11 "range": Value::Range(_);
    12 "ellipsis": Value::Ellipsis;
    13 "buffer": Value::Buffer(_);
    14 "Generator": Value::Generator(_);
    15 "type": Value::Type(_);
    16 "module": Value::Module(_);
    17 "builtin_function_or_method": Value::Function(_);
    18 "object": Value::Object(_);
    19 "complex": Value::Complex(_);
    20 "int": Value::BigInt(_);
    21 "str": Value::Str(_);
    22 "method": Value::Method(_);
}

/// The box that holds objects.
pub(crate) type BoxedObject = Boxed<18>;

/// The box that holds buffers.
pub(crate) type BoxedBuffer = Boxed<13>;

/// The boxes of values that a script writes as arrays: shapes, tuples and named tuples.
pub(crate) fn sequence_ids() -> [TypeId; 3] {
    [TypeId::of::<Boxed<6>>(), TypeId::of::<Boxed<7>>(), TypeId::of::<Boxed<9>>()]
}

/// Returns whether a value is in the box for objects, functions or methods.
pub(super) fn is_boxed(dynamic: Option<&Dynamic>) -> bool {
    // A shared value may be locked; its type cannot be read then.
    dynamic.is_some_and(|dynamic| {
        !dynamic.is_shared() && (dynamic.is::<BoxedObject>() || dynamic.is::<Boxed<17>>() || dynamic.is::<Boxed<22>>())
    })
}

/// Returns the value if it is a Python list, dictionary or set.
pub fn shared(dynamic: &Dynamic) -> Option<Value> {
    let value = unboxed(dynamic, dynamic.type_id())?;
    matches!(value, Value::List(_) | Value::Dict(_) | Value::Set(_)).then_some(value)
}

/// The maximum depth of nested lists.
const MAX_DEPTH: usize = 200;

pub(crate) fn too_deep() -> Error {
    Error::new(ErrorKind::RecursionError, "maximum recursion depth exceeded")
}

/// Converts a variable or argument made by Python for the script language. Shared containers stay shared.
pub fn from_python(value: Value) -> Dynamic {
    match value {
        shared @ (Value::List(_) | Value::Set(_)) => boxed(shared),
        other => to_dynamic(other),
    }
}

/// Converts the result of a call for the script language. Lists and sets become arrays, which are copies. A list that
/// contains itself cannot be copied and stays shared.
pub(crate) fn to_dynamic(value: Value) -> Dynamic {
    match value {
        Value::List(list) if reaches_itself(&list) => boxed(Value::List(list)),
        other => to_copy(other),
    }
}

/// Like [`to_dynamic`], for a value whose lists do not contain themselves.
fn to_copy(value: Value) -> Dynamic {
    match value {
        Value::Tensor(tensor) => Dynamic::from(tensor),
        Value::None => Dynamic::UNIT,
        Value::Bool(b) => b.into(),
        Value::Int(i) => i.into(),
        Value::Float(f) => f.into(),
        Value::Str(s) => ImmutableString::from(&*s).into(),
        // An array is a copy of the list's current items.
        Value::List(list) => watched(list.to_vec()).map(to_copy).collect::<rhai::Array>().into(),
        Value::Set(set) => watched(set.to_vec()).map(to_copy).collect::<rhai::Array>().into(),
        Value::Object(object) => match object.as_any().downcast_ref::<ScriptFunction>() {
            Some(function) => Dynamic::from(function.pointer.clone()),
            None if let Some(time) = object.as_any().downcast_ref::<Timestamp>() => Dynamic::from(time.0),
            None if is_function(&*object) => callback::pointer(Value::Object(object)),
            None => boxed(Value::Object(object)),
        },
        callable @ (Value::Function(_) | Value::Method(_)) => callback::pointer(callable),
        other => boxed(other),
    }
}

/// Returns whether a list, or one nested inside it, contains itself. Only lists are searched: other containers travel
/// in a box.
pub(crate) fn reaches_itself(list: &List) -> bool {
    let within = |list: &List| -> Vec<List> {
        let lists = list.borrow();
        lists.iter().filter_map(|item| if let Value::List(list) = item { Some(list.clone()) } else { None }).collect()
    };
    if !list.borrow().iter().any(|item| matches!(item, Value::List(_))) {
        return false;
    }
    // The lists on the current path, each with its unvisited nested lists. `is_open` is `false` for a finished list.
    let mut path = vec![(list.identity(), within(list))];
    let mut is_open = HashMap::from([(list.identity(), true)]);
    while let Some((identity, left)) = path.last_mut() {
        let Some(next) = left.pop() else {
            is_open.insert(*identity, false);
            path.pop();
            continue;
        };
        match is_open.insert(next.identity(), true) {
            Some(true) => return true,
            Some(false) => drop(is_open.insert(next.identity(), false)),
            None => path.push((next.identity(), within(&next))),
        }
    }
    false
}

/// A moment, as returned by `timestamp()`.
pub struct Timestamp(Moment);

impl Object for Timestamp {
    fn type_name(&self) -> &str {
        "timestamp"
    }
    fn class_name(&self) -> &'static str {
        "timestamp"
    }
    fn repr(&self) -> String {
        "timestamp".to_owned()
    }
}

/// Returns whether an object is a function, for which the script language has its own type.
fn is_function(object: &dyn Object) -> bool {
    object.is_callable()
        && matches!(object.class_name(), "function" | "builtin_function_or_method" | "method" | "functools.partial")
}

/// Converts a value of the script language to ours.
///
/// # Errors
/// Fails with TypeError for values that no function accepts, such as closures.
pub fn to_value(dynamic: &Dynamic) -> Result<Value> {
    to_value_within(dynamic, &mut ConversionBudget::default())
}

/// Converts the arguments of a script's call. Keywords are passed in a last object map.
pub fn arguments(args: &[&mut Dynamic]) -> Result<(Vec<Value>, Keywords)> {
    arguments_as(args, to_value)
}

/// Like [`arguments`], but converts each argument with `made`.
pub(crate) fn arguments_as(
    args: &[&mut Dynamic],
    made: fn(&Dynamic) -> Result<Value>,
) -> Result<(Vec<Value>, Keywords)> {
    let (mut positional, mut keywords) = (args, Keywords::new());
    if let Some((last, before)) = args.split_last()
        && let Some(map) = last.read_lock::<rhai::Map>()
    {
        positional = before;
        for (key, value) in map.iter() {
            keywords.push((key.as_str().into(), made(value)?));
        }
    }
    Ok((positional.iter().map(|arg| made(arg)).collect::<Result<_>>()?, keywords))
}

/// The amount copied so far while converting a value. A string or list that occurs many times is copied as often.
#[derive(Default)]
pub struct ConversionBudget {
    depth: usize,
    nbytes: usize,
}

impl ConversionBudget {
    fn text(&mut self, nbytes: usize) -> Result<()> {
        self.nbytes = self.nbytes.saturating_add(nbytes);
        limits::grown_to::<u8>(self.nbytes)
    }

    /// Copies the `count` items of a list or a dictionary.
    ///
    /// # Errors
    /// Fails with the error of `copy`, with RecursionError for lists nested too deeply, or with MemoryError.
    pub fn items<I, T>(
        &mut self,
        count: usize,
        items: impl Iterator<Item = I>,
        copy: impl Fn(I, &mut ConversionBudget) -> Result<T>,
    ) -> Result<Vec<T>> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        self.text(count.saturating_mul(size_of::<T>()))?;
        self.depth += 1;
        let copies = watched(items).map(|item| copy(item, self)).collect();
        self.depth -= 1;
        copies
    }
}

/// Like [`to_value`], for values nested in lists and dictionaries.
pub(crate) fn to_value_within(dynamic: &Dynamic, copied: &mut ConversionBudget) -> Result<Value> {
    // The most frequent types of arguments come first.
    if let Ok(i) = dynamic.as_int() {
        return Ok(Value::Int(i));
    }
    if let Some(tensor) = dynamic.read_lock::<Tensor>() {
        return Ok(Value::Tensor(tensor.clone()));
    }
    if dynamic.is_unit() {
        return Ok(Value::None);
    }
    if let Ok(f) = dynamic.as_float() {
        return Ok(Value::Float(f));
    }
    if let Ok(b) = dynamic.as_bool() {
        return Ok(Value::Bool(b));
    }
    if let Some(text) = dynamic.read_lock::<ImmutableString>() {
        copied.text(text.len())?;
        return Ok(Value::str(text.as_str()));
    }
    if let Some(array) = dynamic.read_lock::<rhai::Array>() {
        return copied.items(array.len(), array.iter(), to_value_within).map(|items| Value::List(List::from(items)));
    }
    let held = dynamic.flatten_clone();
    if held.is_shared() {
        return Err(Error::runtime("a value is in use by the same call: a closure holds the same variable"));
    }
    let id = held.type_id();
    if let Some(value) = unboxed(dynamic, id) {
        return Ok(value);
    }
    // A caught error converts to its text.
    if let Some(caught) = dynamic.read_lock::<Caught>() {
        return Ok(Value::str(caught.to_string()));
    }
    if let Some(thrown) = dynamic.read_lock::<Thrown>() {
        return Ok(Value::str(thrown.to_string()));
    }
    if let Some(map) = dynamic.read_lock::<rhai::Map>() {
        let entry = |(k, v): (&Identifier, &Dynamic), copied: &mut ConversionBudget| {
            Ok((Value::str(k.as_str()), to_value_within(v, copied)?))
        };
        return copied.items(map.len(), map.iter(), entry).and_then(Dict::new).map(Value::Dict);
    }
    if let Some(range) = as_range(dynamic) {
        return Ok(range);
    }
    if let Some(c) = dynamic.read_lock::<char>() {
        return Ok(Value::str(c.to_string()));
    }
    if let Some(blob) = dynamic.read_lock::<rhai::Blob>() {
        return tensor::Buffer::bytearray(&blob).map(Value::Buffer);
    }
    if let Some(time) = dynamic.read_lock::<Moment>() {
        return Ok(Value::Object(Rc::new(Timestamp(*time))));
    }
    if let Some(function) = dynamic.read_lock::<rhai::FnPtr>() {
        return Ok(callback::function(function.clone()));
    }
    let class = python_type(dynamic.type_name());
    Err(Error::type_error(format!("{} cannot be used here", with_article(class))))
}

/// Converts a range to a range of integers. A range without an end cannot be enumerated and becomes a slice.
fn as_range(dynamic: &Dynamic) -> Option<Value> {
    let (start, stop) = if let Some(range) = dynamic.read_lock::<std::ops::Range<i64>>() {
        (range.start, range.end)
    } else {
        let range = dynamic.read_lock::<std::ops::RangeInclusive<i64>>()?;
        (*range.start(), range.end().saturating_add(1))
    };
    Some(if stop == i64::MAX { slice_of(start, stop) } else { Value::Range(Range { start, stop, step: 1 }) })
}

/// Converts an argument of a torch function, which expects a list in place of a range.
pub(crate) fn to_listed(dynamic: &Dynamic) -> Result<Value> {
    match as_range(dynamic) {
        Some(Value::Range(range)) => {
            limits::room(range.count().saturating_mul(size_of::<Value>()))?;
            Ok(Value::list(range.iter().map(Value::Int)))
        }
        _ => to_value(dynamic),
    }
}

/// Converts a subscript: ranges become slices, also inside an array.
pub(crate) fn to_subscript(dynamic: &Dynamic) -> Result<Value> {
    if let Some(range) = dynamic.read_lock::<std::ops::Range<i64>>() {
        return Ok(slice_of(range.start, range.end));
    }
    if let Some(range) = dynamic.read_lock::<std::ops::RangeInclusive<i64>>() {
        // `..=-1` and `..=i64::MAX` both mean "to the end".
        let stop = match *range.end() {
            -1 | i64::MAX => i64::MAX,
            end => end + 1,
        };
        return Ok(slice_of(*range.start(), stop));
    }
    match dynamic.read_lock::<rhai::Array>() {
        Some(array) if array.iter().any(is_range) => {
            let part = |item: &Dynamic| if is_range(item) { to_subscript(item) } else { to_value(item) };
            Ok(Value::list(array.iter().map(part).collect::<Result<Vec<_>>>()?))
        }
        _ => to_value(dynamic),
    }
}

/// Returns the name of a module.
#[inline]
pub(crate) fn module_name(value: &Dynamic) -> Option<&'static str> {
    match value.read_lock::<Boxed<16>>()?.0 {
        Value::Module(name) => Some(name),
        _ => None,
    }
}

/// Returns whether a value is a Rhai range.
pub fn is_range(value: &Dynamic) -> bool {
    value.is::<std::ops::Range<i64>>() || value.is::<std::ops::RangeInclusive<i64>>()
}

/// Builds a slice. `..` arrives as `0..i64::MAX`.
fn slice_of(start: i64, stop: i64) -> Value {
    let stop = if stop == i64::MAX { Value::None } else { Value::Int(stop) };
    Value::Slice(Rc::new(Slice { start: Value::Int(start), stop, step: Value::None }))
}
