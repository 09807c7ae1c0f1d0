//! The script language: the only room, with `session`, that names Rhai. A call goes from the engine through binding to a
//! row of the function table.

mod arrays;
mod blobs;
pub mod bounds;
pub mod callback;
pub mod engine;
pub mod fault;
mod json;
pub mod own;
mod plain;
pub mod runtime;
mod scoped;
pub mod subscripts;
pub mod value;

/// What the engine gives.
pub type Scripted<T> = Result<T, Box<rhai::EvalAltResult>>;
