//! The script language: the only room, with `session`, that names Rhai. A call goes from the engine through binding to a
//! row of the function table.

pub mod bounds;
pub mod callback;
pub mod caught;
pub mod cell;
pub mod engine;
pub mod fault;
mod plain;
pub mod runtime;
pub mod subscripts;
pub mod value;
pub mod weave;
pub mod words;

/// What the engine gives.
pub type Scripted<T> = Result<T, Box<rhai::EvalAltResult>>;
