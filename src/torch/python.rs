//! Rows whose functions are written in Python, in the folder `python`. Arguments are bound by the row's signature, like
//! those of any other row, and passed by position.

use call::Call;
use call::embedded::Source;
use tensor::{Error, Result};
use value::Value;

const SOURCES: &[Source] = &[
    Source { name: "composites", text: include_str!("python/composites.py") },
    Source { name: "checkpoint", text: include_str!("python/checkpoint.py") },
    Source { name: "dropout", text: include_str!("python/dropout.py") },
    Source { name: "contexts", text: include_str!("python/contexts.py") },
    Source { name: "functional", text: include_str!("python/functional.py") },
    Source { name: "gradcheck", text: include_str!("python/gradcheck.py") },
    Source { name: "lowrank", text: include_str!("python/lowrank.py") },
    Source { name: "safetensors", text: include_str!("python/safetensors.py") },
    Source { name: "testing", text: include_str!("python/testing.py") },
    Source { name: "windows", text: include_str!("python/windows.py") },
];

/// Runs a row by a function in Python, such as `windows.hann`: the source, then the function in it.
pub(crate) fn in_python(call: &mut Call, path: &str) -> Result<Value> {
    let missing = || Error::runtime(format!("{path} is not part of the program"));
    let (source, function) = path.split_once('.').ok_or_else(missing)?;
    let source = SOURCES.iter().find(|known| known.name == source).ok_or_else(missing)?;
    call.state.call_embedded(source, function, call.args.to_vec())
}
