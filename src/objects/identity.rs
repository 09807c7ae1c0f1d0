//! `id` and `ascii` of Python.

use call::Call;
use std::hash::{DefaultHasher, Hash, Hasher};
use tensor::Result;
use value::Value;

/// A number that two values share exactly while they are one object. Small numbers and texts are the same object whenever
/// they are equal, as they mostly are in CPython.
pub fn id(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    Ok(Value::Int(match value.address() {
        Some(address) => address as i64,
        None => {
            // An address for each value, in memory that is never used.
            let mut hasher = DefaultHasher::new();
            (value.type_name(), call.state.repr(&value)?).hash(&mut hasher);
            (hasher.finish() >> 17) as i64 & !7
        }
    }))
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
