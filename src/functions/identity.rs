//! `id`, `hash` and `ascii` of Python.

use crate::bail;
use crate::call::Call;
use crate::tensor::Result;
use crate::value::Value;
use crate::value::numbers::hash_number;
use crate::value::sets::check;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// A number that two values share exactly while they are one object. Small numbers and texts are the same object whenever
/// they are equal, as they mostly are in CPython.
pub fn id(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    let address = |place: *const ()| place as usize as i64;
    Ok(Value::Int(match &value {
        Value::Tensor(t) => t.identity() as i64,
        Value::Storage(s) => s.identity() as i64,
        Value::TypedStorage(s) => s.identity() as i64,
        Value::Buffer(b) => b.identity() as i64,
        Value::Object(object) => object.identity().unwrap_or(Rc::as_ptr(object).cast::<()>() as usize) as i64,
        Value::Generator(generator) => address(Rc::as_ptr(generator).cast()),
        Value::Tuple(items) | Value::List(items) => address(Rc::as_ptr(items).cast()),
        other => {
            // A place for each value in memory that nobody has.
            let mut hasher = DefaultHasher::new();
            (other.type_name(), call.state.repr(other)?).hash(&mut hasher);
            (hasher.finish() >> 17) as i64 & !7
        }
    }))
}

/// Python's hash. Numbers have CPython's own; of a text it differs from run to run there, and here it does not.
///
/// # Errors
/// TypeError for what can change.
pub fn hash(value: &Value) -> Result<i64> {
    if let Some(hash) = hash_number(value) {
        return Ok(hash);
    }
    Ok(match value {
        Value::Object(object) => match object.special("__hash__", &[]) {
            Some(answer) => match answer? {
                Value::Int(hash) => hash,
                other => bail!(TypeError, "__hash__ method should return an integer, not '{}'", other.type_name()),
            },
            None => object.identity().unwrap_or(Rc::as_ptr(object).cast::<()>() as usize) as i64 >> 4,
        },
        Value::Tensor(t) => t.identity() as i64,
        Value::Storage(s) => s.identity() as i64,
        Value::TypedStorage(s) => s.identity() as i64,
        Value::Tuple(items) => {
            let mut hasher = DefaultHasher::new();
            items.iter().try_for_each(|item| hash(item).map(|part| part.hash(&mut hasher)))?;
            hasher.finish() as i64
        }
        other => {
            check(other)?;
            let mut hasher = DefaultHasher::new();
            match other {
                Value::Str(text) => text.hash(&mut hasher),
                Value::Type(name) | Value::Module(name) => name.hash(&mut hasher),
                Value::DType(dtype) => dtype.hash(&mut hasher),
                other => other.type_name().hash(&mut hasher),
            }
            hasher.finish() as i64
        }
    })
}

/// A text with other characters than ASCII's as Python escapes them.
pub fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match u32::from(c) {
            code if code < 0x80 => out.push(c),
            code if code < 0x100 => out.push_str(&format!("\\x{code:02x}")),
            code if code < 0x1_0000 => out.push_str(&format!("\\u{code:04x}")),
            code => out.push_str(&format!("\\U{code:08x}")),
        }
        out
    })
}
