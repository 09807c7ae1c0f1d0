//! Rows whose functions are written in Python, in the folder `python`. Arguments are bound by the row's signature, like
//! those of any other row, and passed by position.

use call::Call;
use call::embedded::Source;
use tensor::{Error, Result, part};
use value::Value;

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(Source {
            name: $name,
            part: part!(concat!("torch/", $name, ".py"), concat!("python/", $name, ".py")),
        }),*]
    };
}

const SOURCES: &[Source] = sources![
    "composites",
    "checkpoint",
    "dropout",
    "contexts",
    "functional",
    "gradcheck",
    "lowrank",
    "safetensors",
    "testing",
    "windows",
];

/// Runs a row by a function in Python, such as `windows.hann`: the source, then the function in it.
pub(crate) fn in_python(call: &mut Call, path: &str) -> Result<Value> {
    let missing = || Error::runtime(format!("{path} is not part of the program"));
    let (source, function) = path.split_once('.').ok_or_else(missing)?;
    let source = SOURCES.iter().find(|known| known.name == source).ok_or_else(missing)?;
    call.state.call_embedded(source, function, call.args.to_vec())
}
