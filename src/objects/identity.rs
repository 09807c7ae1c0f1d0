//! Python's `id` and `ascii`.

use call::Call;
use std::hash::{DefaultHasher, Hash, Hasher};
use tensor::Result;
use value::Value;

/// Returns a number that identifies an object. Values without an address, such as numbers and strings, have the same
/// number if their class and text agree; in CPython, that holds for most of them.
pub fn id(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    Ok(Value::Int(match value.address() {
        Some(address) => address as i64,
        None => {
            // A number that looks like an aligned address, derived from the value's class and text.
            let mut hasher = DefaultHasher::new();
            (value.type_name(), call.state.repr(&value)?).hash(&mut hasher);
            (hasher.finish() >> 17) as i64 & !7
        }
    }))
}

/// Escapes the characters outside ASCII, like Python's `ascii`.
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
