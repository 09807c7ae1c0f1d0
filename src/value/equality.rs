//! Python's `==`, `is` and truth of values. Independent of the function table.

use super::numbers::same;
pub use super::numbers::{Number, number};
use super::sets;
use crate::{Object, Value};
use std::cell::Cell;
use std::rc::Rc;
use tensor::interrupt::{self, watched};
use tensor::{Buffer, BufferKind, Error, ErrorKind, Result};

/// Returns the truth of a value, like Python's `bool()`.
///
/// # Errors
/// RuntimeError for a tensor without exactly one element.
pub fn truth(value: &Value) -> Result<bool> {
    Ok(match value {
        Value::None => false,
        Value::Str(s) => !s.is_empty(),
        Value::Tensor(tensor) => {
            let view = tensor.borrow();
            match view.numel() {
                0 => return Err(Error::runtime("Boolean value of Tensor with no values is ambiguous")),
                1 => view.item()?.truth(),
                _ => return Err(Error::runtime("Boolean value of Tensor with more than one value is ambiguous")),
            }
        }
        Value::Tuple(items) => !items.is_empty(),
        Value::List(list) => !list.is_empty(),
        Value::Set(set) => !set.is_empty(),
        Value::Dict(dict) => !dict.is_empty(),
        Value::Size(sizes) => !sizes.is_empty(),
        Value::Range(range) => !range.is_empty(),
        Value::Buffer(buffer) => !buffer.is_empty(),
        Value::Storage(storage) => storage.nbytes() > 0,
        Value::TypedStorage(typed) => !typed.is_empty(),
        Value::Object(object) if let Some(answer) = object.special("__bool__", &[]) => match answer? {
            Value::Bool(answer) => answer,
            other => {
                let class = other.type_name();
                return Err(Error::type_error(format!("__bool__ should return bool, returned {class}")));
            }
        },
        Value::Object(object) if let Some(length) = object.special("__len__", &[]) => match length? {
            Value::Int(..0) => return Err(Error::value("__len__() should return >= 0")),
            Value::Int(length) => length > 0,
            Value::Bool(length) => length,
            Value::BigInt(_) => {
                return Err(Error::new(ErrorKind::OverflowError, "cannot fit 'int' into an index-sized integer"));
            }
            other => {
                let class = other.type_name();
                return Err(Error::type_error(format!("'{class}' object cannot be interpreted as an integer")));
            }
        },
        other => other.as_scalar().is_none_or(|s| s.truth()),
    })
}

/// Python's `==` between values that are not tensors; `false` if comparing fails.
pub fn equal(a: &Value, b: &Value) -> bool {
    equals(a, b).unwrap_or(false)
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The maximum depth of compared containers: far beyond any real value, and far below the limit of the stack.
const MAX_DEPTH: usize = 200;

/// Python's `==` between values that are not tensors.
///
/// # Errors
/// Errors raised by a script's `__eq__`; RecursionError for containers nested too deeply.
pub fn equals(a: &Value, b: &Value) -> Result<bool> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => return Ok(x == y),
        (Value::Str(x), Value::Str(y)) => return Ok(x == y),
        _ => {}
    }
    if let (Some(x), Some(y)) = (number(a), number(b)) {
        return Ok(same(&x, &y));
    }
    if let Some(answer) = special("==", a, b) {
        return truth(&answer?);
    }
    let depth = DEPTH.get();
    if depth >= MAX_DEPTH {
        return Err(Error::new(ErrorKind::RecursionError, "maximum recursion depth exceeded in comparison"));
    }
    DEPTH.set(depth + 1);
    let answer = same_contents(a, b);
    DEPTH.set(depth);
    answer
}

/// Returns whether two values are identical or equal, which is how containers compare items.
///
/// # Errors
/// Those of [`equals`].
pub fn matches(a: &Value, b: &Value) -> Result<bool> {
    if is(a, b) { Ok(true) } else { equals(a, b) }
}

fn same_contents(a: &Value, b: &Value) -> Result<bool> {
    let all = |x: &[Value], y: &[Value]| -> Result<bool> {
        if x.len() != y.len() {
            return Ok(false);
        }
        for (i, (x, y)) in x.iter().zip(y).enumerate() {
            interrupt::check_at(i)?;
            if !matches(x, y)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    Ok(match (a, b) {
        // A comparison in a script may change the lists.
        (Value::List(x), Value::List(y)) => x.len() == y.len() && all(&x.to_vec(), &y.to_vec())?,
        (Value::Tuple(x), Value::Tuple(y)) => all(x, y)?,
        (
            Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_),
            Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_),
        ) => all(&a.sequence().unwrap_or_default(), &b.sequence().unwrap_or_default())?,
        (Value::Dict(x), Value::Dict(y)) => {
            let (one, other) = (x.to_vec(), y.to_vec());
            if one.len() != other.len() {
                return Ok(false);
            }
            if x.is_ordered() && y.is_ordered() {
                let keys = |entries: &[(Value, Value)]| entries.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
                if !all(&keys(&one), &keys(&other))? {
                    return Ok(false);
                }
            }
            for (key, value) in one {
                match y.get(&key)? {
                    Some(other) if matches(&value, &other)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (Value::Set(x), Value::Set(y)) => matches!(sets::combined("==", x, y)?, Some(Value::Bool(true))),
        (Value::Buffer(x), Value::Buffer(y)) => {
            // An array equals no bytes; a memoryview equals both.
            let is_array = |buffer: &Buffer| matches!(buffer.kind(), BufferKind::Array(_));
            let is_bytes = |buffer: &Buffer| matches!(buffer.kind(), BufferKind::Bytes | BufferKind::ByteArray);
            let is_comparable = !(is_array(x) && is_bytes(y) || is_bytes(x) && is_array(y));
            let item = |buffer: &Buffer, at| buffer.item(at).map(Value::from);
            is_comparable
                && x.len() == y.len()
                && watched(0..x.len()).all(|at| match (item(x, at), item(y, at)) {
                    (Some(x), Some(y)) => equal(&x, &y),
                    _ => false,
                })
        }
        (Value::Device(x), Value::Device(y)) => x == y,
        (Value::Method(x), Value::Method(y)) => x.name == y.name && is(&x.of, &y.of),
        (Value::Range(x), Value::Range(y)) => x.is_same(*y),
        (Value::Slice(x), Value::Slice(y)) => {
            matches(&x.start, &y.start)? && matches(&x.stop, &y.stop)? && matches(&x.step, &y.step)?
        }
        _ => is(a, b),
    })
}

/// Python's `is`.
pub fn is(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => true,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Int(x), Value::Int(y)) => x == y,
        (Value::Str(x), Value::Str(y)) => x == y,
        (Value::Float(x), Value::Float(y)) => x.to_bits() == y.to_bits(),
        (Value::Complex(x), Value::Complex(y)) => [x.re, x.im].map(f64::to_bits) == [y.re, y.im].map(f64::to_bits),
        (Value::Range(x), Value::Range(y)) => x == y,
        (Value::BigInt(x), Value::BigInt(y)) => Rc::ptr_eq(x, y),
        (Value::Storage(x), Value::Storage(y)) => x == y,
        (Value::TypedStorage(x), Value::TypedStorage(y)) => x == y,
        (Value::DType(x), Value::DType(y)) => x == y,
        (Value::Layout(x), Value::Layout(y)) => x == y,
        (Value::MemoryFormat(x), Value::MemoryFormat(y)) => x == y,
        (Value::Type(x), Value::Type(y)) | (Value::Module(x), Value::Module(y)) => x == y,
        (Value::Function(x), Value::Function(y)) => x == y,
        // Methods of a class are looked up anew each time.
        (Value::Method(x), Value::Method(y)) if matches!(x.of, Value::Type(_)) => x.name == y.name && is(&x.of, &y.of),
        (Value::Tuple(x), Value::Tuple(y)) => x.is(y),
        (Value::Object(x), Value::Object(y)) => {
            Rc::ptr_eq(x, y) || x.identity().is_some_and(|id| y.identity() == Some(id))
        }
        _ if std::mem::discriminant(a) == std::mem::discriminant(b) => {
            matches!((a.address(), b.address()), (Some(x), Some(y)) if x == y)
        }
        _ => false,
    }
}

/// The result of a special method that does not support the other operand.
pub struct NotImplemented;

impl Object for NotImplemented {
    fn class_name(&self) -> &'static str {
        "NotImplementedType"
    }
    fn repr(&self) -> String {
        "NotImplemented".to_owned()
    }
    fn identity(&self) -> Option<usize> {
        Some(0)
    }
}

/// The special methods of each operator: for the left operand, and for the right one.
pub const SPECIAL: &[(&str, &str, &str)] = &[
    ("+", "__add__", "__radd__"),
    ("-", "__sub__", "__rsub__"),
    ("*", "__mul__", "__rmul__"),
    ("/", "__truediv__", "__rtruediv__"),
    ("__floordiv__", "__floordiv__", "__rfloordiv__"),
    ("%", "__mod__", "__rmod__"),
    ("**", "__pow__", "__rpow__"),
    ("@", "__matmul__", "__rmatmul__"),
    ("==", "__eq__", "__eq__"),
    ("!=", "__ne__", "__ne__"),
    ("<", "__lt__", "__gt__"),
    ("<=", "__le__", "__ge__"),
    (">", "__gt__", "__lt__"),
    (">=", "__ge__", "__le__"),
    ("&", "__and__", "__rand__"),
    ("|", "__or__", "__ror__"),
    ("^", "__xor__", "__rxor__"),
    ("<<", "__lshift__", "__rlshift__"),
    (">>", "__rshift__", "__rrshift__"),
];

/// Calls a special method of a value with one argument. `None` if it does not exist or does not support the argument.
pub fn call_special(value: &Value, name: &str, other: &Value) -> Option<Result<Value>> {
    let Value::Object(object) = value else { return None };
    match object.special(name, std::slice::from_ref(other))? {
        Ok(Value::Object(answer)) if answer.as_any().is::<NotImplemented>() => None,
        answer => Some(answer),
    }
}

/// Returns whether a value's class is derived from the other's class, so that its operators take precedence.
fn is_more_special(value: &Value, than: &Value) -> bool {
    let (Value::Object(value), Value::Object(than)) = (value, than) else { return false };
    let (Some(own), Some(other)) = (value.class(), than.class()) else { return false };
    !is(&own, &other) && matches!(&own, Value::Object(own) if own.derives(&other) == Some(true))
}

/// Applies an operator by the special methods of the operands; `None` if none applies.
pub fn special(symbol: &str, a: &Value, b: &Value) -> Option<Result<Value>> {
    if !matches!((a, b), (Value::Object(_), _) | (_, Value::Object(_))) {
        return None;
    }
    let (_, left, right) = SPECIAL.iter().find(|(known, ..)| *known == symbol)?;
    let answer = match is_more_special(b, a) {
        true => call_special(b, right, a).or_else(|| call_special(a, left, b)),
        false => call_special(a, left, b).or_else(|| call_special(b, right, a)),
    };
    answer.or_else(|| match symbol {
        "!=" => special("==", a, b).map(|equal| Ok(Value::Bool(!truth(&equal?)?))),
        _ => None,
    })
}
