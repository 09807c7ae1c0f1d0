//! [`Value`]: the arguments and results of functions. It is between the core and the rooms that read results (printing,
//! autograd, files); independent of the script language and the terminal.

// Nothing that a user can do may abort the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod array_memory;
pub mod dict;
mod discard;
pub mod equality;
pub mod hashed;
pub mod integers;
pub mod list;
pub mod numbers;
mod object;
pub mod sets;
pub mod strides;
pub mod text;

pub use array_memory::ArrayMemory;
pub use dict::Dict;
pub use discard::{discard, drop_leftovers};
pub use list::{Items, List, Tuple};
pub use object::{Object, ObjectState, Slot};
pub use sets::Set;
pub use text::Text;

use num_bigint::BigInt;
use num_complex::Complex;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::rc::Rc;
use tensor::bail;
use tensor::interrupt::watched;
use tensor::ops::random::Generator;
use tensor::{
    Buffer, BufferKind, DType, Device, Dims, Error, Result, Scalar, Storage, Tensor, TypedStorage, View, interrupt,
    limits,
};
pub use tensor::{MemoryFormat, TensorLayout};

/// The modules that are not PyTorch's; `py` holds Python's builtins. Their operations on values are not recorded
/// themselves.
pub const LIBRARY: &[&str] = &[
    "py",
    "_abc",
    "_json",
    "_posix",
    "_random",
    "_sre",
    "_struct",
    "_weakref",
    "array",
    "builtins",
    "collections",
    "copy",
    "functools",
    "importlib",
    "io",
    "itertools",
    "math",
    "numpy",
    "numpy.exceptions",
    "numpy.fft",
    "numpy.lib",
    "numpy.lib.npyio",
    "numpy.lib.stride_tricks",
    "numpy.linalg",
    "numpy.random",
    "numpy.testing",
    "operator",
    "safetensors",
    "safetensors.numpy",
    "safetensors.torch",
    "sys",
    "tempfile",
    "time",
];

/// A method, and the object or class that it was taken from.
pub struct Method {
    pub of: Value,
    pub name: &'static str,
}

/// A Python value, of the types that occur in a tensor session. Cloning is cheap: everything large is shared.
#[derive(Clone)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// An integer beyond `i64`, never within; boxed, because it is rare and would make all values larger.
    BigInt(Rc<BigInt>),
    Float(f64),
    Complex(Complex<f64>),
    Str(Text),
    Tensor(Tensor),
    Storage(Storage),
    TypedStorage(TypedStorage),
    DType(DType),
    Device(Device),
    Layout(TensorLayout),
    MemoryFormat(MemoryFormat),
    /// `torch.Size`.
    Size(Dims),
    Tuple(Tuple),
    /// Shared by all its holders, like dictionaries and sets.
    List(List),
    /// Also a `collections.OrderedDict`.
    Dict(Dict),
    /// Also a `frozenset`.
    Set(Set),
    /// `torch.return_types.*`.
    NamedTuple(Rc<NamedTuple>),
    Slice(Rc<Slice>),
    Range(Range),
    Ellipsis,
    Buffer(Buffer),
    Generator(Rc<RefCell<Generator>>),
    /// A class: `float`, `torch.Tensor`, `torch.FloatStorage`.
    Type(&'static str),
    /// A module, by its full name: `torch`, `torch.linalg`, `array`.
    Module(&'static str),
    /// A function as a value: `torch.sin`.
    Function(Rc<str>),
    /// A method as a value: `x.sum`, or `torch.Tensor.sum`, which takes its receiver as first argument.
    Method(Rc<Method>),
    /// Rarer types: context managers, `finfo`, iterators.
    Object(Rc<dyn Object>),
}

/// Keyword arguments by name.
pub type Keywords = Vec<(Rc<str>, Value)>;

thread_local! {
    static NAMES: RefCell<HashSet<&'static str>> = RefCell::default();
}

/// Returns a name that lives as long as the program. Their number is bounded by the names that a session spells out.
pub fn intern(name: &str) -> &'static str {
    NAMES.with_borrow_mut(|names| match names.get(name) {
        Some(known) => known,
        None => {
            let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
            names.insert(name);
            name
        }
    })
}

/// A tuple whose fields have names.
pub struct NamedTuple {
    /// The full name shown when printing, e.g. `torch.return_types.max`.
    pub type_name: &'static str,
    pub fields: Vec<(&'static str, Value)>,
}

/// `slice(start, stop, step)`; the parts may have any type until they are used.
#[derive(Clone)]
pub struct Slice {
    pub start: Value,
    pub stop: Value,
    pub step: Value,
}

/// `range(start, stop, step)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
}

impl Range {
    pub fn len(self) -> u64 {
        let (start, stop, step) = (i128::from(self.start), i128::from(self.stop), i128::from(self.step));
        let span = if step > 0 { stop - start } else { start - stop };
        let step = step.abs().max(1);
        u64::try_from((span + step - 1).max(0) / step).unwrap_or(u64::MAX)
    }

    /// Returns the number of items of a list of the range. `usize::MAX`, for which every allocation fails, if the
    /// number does not fit.
    pub fn count(self) -> usize {
        usize::try_from(self.len()).unwrap_or(usize::MAX)
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns whether both ranges have the same numbers.
    pub fn is_same(self, other: Range) -> bool {
        self.len() == other.len()
            && (self.is_empty() || self.start == other.start && (self.len() == 1 || self.step == other.step))
    }

    /// Returns the position of a number in the range.
    pub fn position(self, wanted: i64) -> Option<u64> {
        let (from, step) = (i128::from(wanted) - i128::from(self.start), i128::from(self.step));
        let steps = u64::try_from(from.checked_div(step)?).ok()?;
        (from % step == 0 && steps < self.len()).then_some(steps)
    }

    /// Returns the number at a position.
    pub fn at(self, place: u64) -> Option<i64> {
        // The result is in range, so wrapping loses nothing.
        (place < self.len()).then(|| self.start.wrapping_add((place as i64).wrapping_mul(self.step)))
    }

    /// Returns the same numbers in reverse order.
    pub fn reversed(self) -> Range {
        let last = self.len().checked_sub(1).and_then(|last| self.at(last)).unwrap_or(self.start);
        let stop = if self.is_empty() { self.start } else { self.start.saturating_sub(self.step) };
        Range { start: last, stop, step: self.step.saturating_neg() }
    }

    pub fn iter(self) -> impl Iterator<Item = i64> {
        (0..self.len()).map(move |i| self.start.wrapping_add((i as i64).wrapping_mul(self.step)))
    }
}

impl Value {
    /// The elements of an array; `None` for any other value.
    pub fn elements(&self) -> Option<View> {
        if let Value::Object(object) = self { object.elements() } else { None }
    }

    /// Returns the bytes that a value lends by Python's buffer protocol; `None` if it has none.
    pub fn buffer(&self) -> Option<Result<Buffer>> {
        match self {
            Value::Buffer(buffer) => Some(Ok(buffer.clone())),
            Value::Object(object) => object.buffer(),
            _ => None,
        }
    }

    /// Returns the place of an array's elements in memory; `None` for any other value.
    pub fn array_memory(&self) -> Option<ArrayMemory> {
        if let Value::Object(object) = self { object.memory() } else { None }
    }

    pub fn str(text: impl Into<Text>) -> Value {
        Value::Str(text.into())
    }

    pub fn tuple(items: impl IntoIterator<Item = Value>) -> Value {
        Value::Tuple(watched(items).collect())
    }

    pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List(watched(items).collect())
    }

    /// Creates a tuple of plain integers, like the result of `stride()`.
    pub fn ints(items: &[i64]) -> Value {
        Value::tuple(items.iter().copied().map(Value::Int))
    }

    /// Creates a named tuple for a result with several parts.
    pub fn named_tuple(type_name: &'static str, fields: Vec<(&'static str, Value)>) -> Value {
        Value::NamedTuple(Rc::new(NamedTuple { type_name, fields }))
    }

    pub fn size(sizes: &[i64]) -> Value {
        Value::Size(Dims::from_slice(sizes))
    }

    /// Returns the short name of the value's class, as messages about arguments show it.
    pub fn type_name(&self) -> &str {
        match self {
            Value::Tensor(tensor) if tensor.is_parameter() => "Parameter",
            Value::Tensor(_) => "Tensor",
            Value::Dict(dict) if dict.is_ordered() => "OrderedDict",
            Value::Object(object) => object.type_name(),
            other => other.class_name(),
        }
    }

    /// Returns the full name of the value's class, as `type()` shows it.
    pub fn class_name(&self) -> &'static str {
        match self {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::BigInt(_) => "int",
            Value::Float(_) => "float",
            Value::Complex(_) => "complex",
            Value::Str(_) => "str",
            Value::Tensor(tensor) if tensor.borrow().device().is_fake() => "torch._subclasses.fake_tensor.FakeTensor",
            Value::Tensor(tensor) if tensor.is_parameter() => "torch.nn.parameter.Parameter",
            Value::Tensor(_) => "torch.Tensor",
            Value::Storage(_) => "torch.storage.UntypedStorage",
            Value::TypedStorage(_) => "torch.storage.TypedStorage",
            Value::DType(_) => "torch.dtype",
            Value::Device(_) => "torch.device",
            Value::Layout(_) => "torch.layout",
            Value::MemoryFormat(_) => "torch.memory_format",
            Value::Size(_) => "torch.Size",
            Value::Tuple(_) => "tuple",
            Value::List(_) => "list",
            Value::Dict(dict) => {
                if dict.is_ordered() {
                    "collections.OrderedDict"
                } else {
                    "dict"
                }
            }
            Value::Set(set) => {
                if set.is_frozen() {
                    "frozenset"
                } else {
                    "set"
                }
            }
            Value::NamedTuple(tuple) => tuple.type_name,
            Value::Slice(_) => "slice",
            Value::Range(_) => "range",
            Value::Ellipsis => "ellipsis",
            Value::Buffer(buffer) => match buffer.kind() {
                BufferKind::Bytes => "bytes",
                BufferKind::ByteArray => "bytearray",
                BufferKind::Array(_) => "array.array",
                BufferKind::MemoryView { .. } => "memoryview",
            },
            Value::Generator(_) => "torch._C.Generator",
            Value::Type(_) => "type",
            Value::Module(_) => "module",
            Value::Function(_) => "builtin_function_or_method",
            Value::Method(method) if matches!(method.of, Value::Type(_)) => "method_descriptor",
            Value::Method(_) => "builtin_function_or_method",
            Value::Object(object) => object.class_name(),
        }
    }

    /// Returns the items of a tuple, list, set, size, named tuple or range; `None` for other values.
    pub fn sequence(&self) -> Option<Vec<Value>> {
        Some(match self {
            Value::Tuple(items) => items.to_vec(),
            Value::List(list) => list.to_vec(),
            Value::Set(set) => set.to_vec(),
            Value::Size(sizes) => sizes.iter().copied().map(Value::Int).collect(),
            Value::NamedTuple(tuple) => tuple.fields.iter().map(|(_, value)| value.clone()).collect(),
            // A range that is too long to be stored is not treated as a sequence.
            Value::Range(range) if limits::room_for::<Value>(range.count()).is_err() => return None,
            Value::Range(range) => watched(range.iter()).map(Value::Int).collect(),
            Value::Object(object) => return object.underlying()?.sequence(),
            _ => return None,
        })
    }

    /// Returns the entries of a dictionary of either kind; `None` for other values.
    pub fn entries(&self) -> Option<Vec<(Value, Value)>> {
        match self {
            Value::Dict(dict) => Some(dict.to_vec()),
            Value::Object(object) => object.underlying()?.entries(),
            _ => None,
        }
    }

    /// Returns the value that the object of a class derived from one of Python's own holds; `None` for other values.
    pub fn underlying(&self) -> Option<Value> {
        if let Value::Object(object) = self { object.underlying() } else { None }
    }

    /// Returns a number that identifies the object; `None` for values that are compared by their contents.
    pub fn address(&self) -> Option<usize> {
        Some(match self {
            Value::Tensor(tensor) => tensor.identity(),
            Value::Storage(storage) => storage.identity(),
            Value::TypedStorage(typed) => typed.identity(),
            Value::Buffer(buffer) => buffer.identity(),
            Value::Generator(generator) => Rc::as_ptr(generator) as usize,
            Value::List(list) => list.identity(),
            Value::Dict(dict) => dict.identity(),
            Value::Set(set) => set.identity(),
            Value::Tuple(tuple) => tuple.identity(),
            Value::NamedTuple(tuple) => Rc::as_ptr(tuple) as usize,
            Value::Slice(slice) => Rc::as_ptr(slice) as usize,
            // A method of a class is looked up anew each time, but counts as the same.
            Value::Method(method) if !matches!(method.of, Value::Type(_)) => Rc::as_ptr(method) as usize,
            Value::Object(object) => object.identity().unwrap_or(Rc::as_ptr(object).cast::<()>() as usize),
            _ => return None,
        })
    }

    /// Converts a Python number to a scalar; `None` for other values.
    pub fn as_scalar(&self) -> Option<Scalar> {
        Some(match self {
            Value::Bool(b) => Scalar::Bool(*b),
            Value::Int(i) => Scalar::Int(*i),
            Value::BigInt(i) => Scalar::UInt(u64::try_from(&**i).ok()?),
            Value::Float(f) => Scalar::Float(*f),
            Value::Complex(c) => Scalar::Complex(*c),
            Value::Object(object) if self.class_name().starts_with("numpy.") => return object.number(),
            _ => return None,
        })
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Value {
        match scalar {
            Scalar::Bool(b) => Value::Bool(b),
            Scalar::Int(i) => Value::Int(i),
            Scalar::UInt(u) => Value::from(i128::from(u)),
            Scalar::Float(f) => Value::Float(f),
            Scalar::Complex(c) => Value::Complex(c),
        }
    }
}

impl From<View> for Value {
    fn from(view: View) -> Value {
        Value::Tensor(Tensor::new(view))
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Value {
        Value::Tensor(tensor)
    }
}

impl From<i128> for Value {
    fn from(value: i128) -> Value {
        i64::try_from(value).map_or_else(|_| Value::BigInt(Rc::new(value.into())), Value::Int)
    }
}

impl From<BigInt> for Value {
    fn from(value: BigInt) -> Value {
        match i64::try_from(&value) {
            Ok(short) => Value::Int(short),
            Err(_) => Value::BigInt(Rc::new(value)),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.type_name())
    }
}

/// Converts a tensor to nested lists of Python numbers, like `tolist()`; a 0-d tensor gives a bare number.
///
/// # Errors
/// MemoryError if there is not enough memory.
pub fn nested_list(view: &View) -> Result<Value> {
    fn nest(sizes: &[i64], values: &mut impl Iterator<Item = Scalar>) -> Result<Value> {
        let Some((&size, rest)) = sizes.split_first() else {
            return values.next().map(Value::from).ok_or_else(|| Error::runtime("tolist(): too few elements"));
        };
        let mut items = limits::list(size as usize)?;
        if rest.is_empty() {
            for piece in interrupt::pieces(0..size as usize, 1) {
                items.extend(values.take(piece?.len()).map(Value::from));
            }
        } else {
            for index in 0..size as usize {
                interrupt::check_at(index)?;
                items.push(nest(rest, values)?);
            }
        }
        Ok(Value::list(items))
    }
    // Empty lists count as items too.
    let mut items = 0usize;
    let mut lists = 1usize;
    for &size in view.sizes() {
        lists = lists.saturating_mul(usize::try_from(size).unwrap_or(usize::MAX));
        items = items.saturating_add(lists);
    }
    limits::room_for::<Value>(items)?;
    nest(view.sizes(), &mut view.scalars()?.into_iter())
}

/// Returns whether `holds` is true of a tensor that is the argument or one of its items.
#[inline]
pub fn any_tensor(value: &Value, holds: &mut impl FnMut(&Tensor) -> bool) -> bool {
    match value {
        Value::Tensor(tensor) => holds(tensor),
        Value::List(_) | Value::Tuple(_) => any_within(value, MOST_NESTED, holds),
        _ => false,
    }
}

/// The depth to which nested lists are searched for tensors: the maximum nesting of arguments. A list may contain
/// itself.
const MOST_NESTED: usize = 3;

fn any_within(value: &Value, depth: usize, holds: &mut impl FnMut(&Tensor) -> bool) -> bool {
    match value {
        Value::Tensor(tensor) => holds(tensor),
        _ if depth > 0 => {
            value.items().is_some_and(|items| items.iter().any(|item| any_within(item, depth - 1, holds)))
        }
        _ => false,
    }
}

/// Converts items to the sizes of a `torch.Size`.
///
/// # Errors
/// TypeError for items that are not integers.
pub fn sizes_of(items: &[Value]) -> Result<Dims> {
    let size = |(i, item): (usize, &Value)| match item {
        Value::Int(size) => Ok(*size),
        Value::Bool(on) => Ok(i64::from(*on)),
        Value::Tensor(tensor) => Ok(tensor.borrow().item()?.to_i64()),
        Value::BigInt(_) => bail!(RuntimeError, "Overflow when unpacking long"),
        other => bail!(TypeError, "torch.Size() takes an iterable of 'int' (item {i} is '{}')", other.type_name()),
    };
    items.iter().enumerate().map(size).collect()
}

/// Returns the value as a tensor; `None` for other types.
pub fn as_tensor(value: &Value) -> Option<&Tensor> {
    match value {
        Value::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}
