//! The script language. Only this room and `session` name Rhai. A call goes from the engine through binding to a row of
//! the function table.

mod arrays;
mod blobs;
pub mod bounds;
pub mod callback;
pub mod caught;
mod closures;
pub mod engine;
pub mod fault;
pub mod holders;
pub mod imports;
pub mod input;
mod json;
pub mod modules;
mod moments;
mod native;
pub mod numbers;
pub mod own;
mod plain;
pub(crate) mod printing;
pub mod reading;
pub mod runtime;
mod scoped;
pub(crate) mod shadowed;
pub mod subscripts;
mod tokens;
pub mod values;
pub mod words;

/// The result of a function registered with the engine.
pub type Scripted<T> = Result<T, Box<rhai::EvalAltResult>>;
