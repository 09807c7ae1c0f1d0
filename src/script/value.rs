//! Conversions between the script language's `Dynamic` and our [`Value`]. Numbers, strings, lists and maps are Rhai's
//! own; every other value travels in a box whose type names its contents, so that Rhai's messages can be understood.

use super::callback::ScriptFunction;
use super::dict::Dict;
use super::fault::{Thrown, python_type};
use super::list::List;
use super::set::Set;
use crate::tensor::interrupt::watched;
use crate::tensor::{Error, ErrorKind, Result, Tensor, limits};
use crate::value::{Object, Range, Slice, Value};
use rhai::{Dynamic, Engine, Identifier, ImmutableString, Module};
use std::any::TypeId;
use std::rc::Rc;

/// A boxed value; `KIND` only makes the types differ.
#[derive(Clone)]
pub struct Boxed<const KIND: u8>(pub Value);

macro_rules! boxes {
    ($($kind:literal $name:literal: $($pattern:tt)::+ $(($any:tt))?;)*) => {
        /// The name of every boxed class, by kind, as error messages of the script engine spell it.
        pub const CLASSES: &[(&str, u8)] = &[$(($name, $kind)),*];

        fn boxed(value: Value) -> Dynamic {
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

        /// Tells the engine the names of our classes. It asks for the receiver's at every method call, and the engine's
        /// own list comes first: tensors stand there alone.
        pub fn register_names(engine: &mut Engine, module: &mut Module) {
            engine.register_type_with_name::<Tensor>("Tensor");
            module.set_custom_type::<List>("list").set_custom_type::<Dict>("dict").set_custom_type::<Set>("set");
            $(module.set_custom_type::<Boxed<$kind>>($name);)*
        }

        /// The type ids of all classes whose values have attributes and subscripts.
        pub fn class_ids() -> Vec<TypeId> {
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
    22 "OrderedDict": Value::OrderedDict(_);
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

/// The box that objects travel in.
pub type BoxedObject = Boxed<18>;

/// An object in the script language.
pub fn object(object: Rc<dyn Object>) -> Dynamic {
    Dynamic::from(Boxed::<18>(Value::Object(object)))
}

/// A text as a subscript. A bare one would be read as the name of an attribute: Rhai knows `x["a"]` and `x.a` as one.
pub fn text_subscript(text: &str) -> Dynamic {
    boxed(Value::str(text))
}

/// The maximum depth of nested lists.
const MAX_DEPTH: usize = 200;

pub fn too_deep() -> Error {
    Error::new(ErrorKind::RecursionError, "maximum recursion depth exceeded")
}

/// Into the script language, as a line of Python sees it: lists and dictionaries are objects.
///
/// # Errors
/// TypeError for a dictionary with keys that can change.
pub fn to_object(value: Value) -> Result<Dynamic> {
    Ok(match value {
        Value::List(items) => {
            let items: Result<Vec<Dynamic>> = watched(items.iter().cloned()).map(to_object).collect();
            Dynamic::from(List::new(items?))
        }
        Value::Set(items) => Dynamic::from(Set::new(items.iter().cloned())?),
        Value::Dict(ref entries) | Value::OrderedDict(ref entries) => {
            let entry = |(key, value): &(Value, Value)| Ok((key.clone(), to_object(value.clone())?));
            let dict = Dict::new(entries.iter().map(entry).collect::<Result<Vec<_>>>()?)?;
            Dynamic::from(if let Value::OrderedDict(_) = value { dict.ordered() } else { dict })
        }
        other => to_dynamic(other),
    })
}

/// Into the script language.
pub fn to_dynamic(value: Value) -> Dynamic {
    match value {
        Value::Tensor(tensor) => Dynamic::from(tensor),
        Value::None => Dynamic::UNIT,
        Value::Bool(b) => b.into(),
        Value::Int(i) => i.into(),
        Value::Float(f) => f.into(),
        Value::Str(s) => ImmutableString::from(&*s).into(),
        Value::List(items) | Value::Set(items) => {
            watched(items.iter().cloned()).map(to_dynamic).collect::<rhai::Array>().into()
        }
        Value::Object(object) => match object.as_any().downcast_ref() {
            Some(ScriptFunction(function)) => Dynamic::from(function.clone()),
            None => boxed(Value::Object(object)),
        },
        other => boxed(other),
    }
}

/// Out of the script language.
///
/// # Errors
/// TypeError for values of the script language that no function takes, such as closures.
pub fn to_value(dynamic: &Dynamic) -> Result<Value> {
    to_value_within(dynamic, &mut Copied::default())
}

/// The copies made of a value so far. A text or a list that stands in a list many times is copied as often.
#[derive(Default)]
pub struct Copied {
    depth: usize,
    nbytes: usize,
}

impl Copied {
    fn text(&mut self, nbytes: usize) -> Result<()> {
        self.nbytes = self.nbytes.saturating_add(nbytes);
        limits::grown_to::<u8>(self.nbytes)
    }

    /// Copies the `count` items of a list or a dictionary.
    ///
    /// # Errors
    /// Those of `copy`; RecursionError for lists too deep within each other, MemoryError.
    pub fn items<I, T>(
        &mut self,
        count: usize,
        items: impl Iterator<Item = I>,
        copy: impl Fn(I, &mut Copied) -> Result<T>,
    ) -> Result<Rc<[T]>> {
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

/// As [`to_value`], for what lies within lists and dictionaries.
pub fn to_value_within(dynamic: &Dynamic, copied: &mut Copied) -> Result<Value> {
    // What calls are made of comes first.
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
        return copied.items(array.len(), array.iter(), to_value_within).map(Value::List);
    }
    if let Some(list) = dynamic.read_lock::<List>() {
        return list.to_value(copied);
    }
    if let Some(dict) = dynamic.read_lock::<Dict>() {
        return dict.to_value(copied);
    }
    if let Some(set) = dynamic.read_lock::<Set>() {
        return Ok(set.to_value());
    }
    let id = if dynamic.is_shared() { dynamic.clone().flatten().type_id() } else { dynamic.type_id() };
    if let Some(value) = unboxed(dynamic, id) {
        return Ok(value);
    }
    if let Some(thrown) = dynamic.read_lock::<Thrown>() {
        // What a script has caught is its text.
        return Ok(Value::str(thrown.to_string()));
    }
    if let Some(map) = dynamic.read_lock::<rhai::Map>() {
        let entry = |(k, v): (&Identifier, &Dynamic), copied: &mut Copied| {
            Ok((Value::str(k.as_str()), to_value_within(v, copied)?))
        };
        return copied.items(map.len(), map.iter(), entry).map(Value::Dict);
    }
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
    if let Some(c) = dynamic.read_lock::<char>() {
        return Ok(Value::str(c.to_string()));
    }
    if let Some(blob) = dynamic.read_lock::<rhai::Blob>() {
        return crate::tensor::Buffer::bytearray(&blob).map(Value::Buffer);
    }
    if let Some(function) = dynamic.read_lock::<rhai::FnPtr>() {
        return Ok(Value::Object(Rc::new(ScriptFunction(function.clone()))));
    }
    Err(Error::type_error(format!("a {} cannot be used here", python_type(dynamic.type_name()))))
}

/// A Rhai range as a subscript: `..` arrives as `0..i64::MAX`.
fn slice_of(start: i64, stop: i64) -> Value {
    let stop = if stop == i64::MAX { Value::None } else { Value::Int(stop) };
    Value::Slice(Rc::new(Slice { start: Value::Int(start), stop, step: Value::None }))
}

/// A Rhai range used as a sequence of numbers.
pub fn as_range(dynamic: &Dynamic) -> Option<Range> {
    if let Some(range) = dynamic.read_lock::<std::ops::Range<i64>>() {
        return Some(Range { start: range.start, stop: range.end, step: 1 });
    }
    dynamic.read_lock::<std::ops::RangeInclusive<i64>>().map(|range| Range {
        start: *range.start(),
        stop: range.end().saturating_add(1),
        step: 1,
    })
}
