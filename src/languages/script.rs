//! The script language. Only this room and `session` name Rhai. A call goes from the engine through binding to a row of
//! the function table.

mod arrays;
mod blobs;
pub mod bounds;
pub mod callback;
pub mod caught;
mod chains;
mod closures;
pub mod engine;
pub mod fault;
mod forms;
mod forms_of_python;
pub mod holders;
pub mod imports;
pub mod input;
mod json;
pub mod modules;
mod moments;
pub mod names;
mod native;
pub mod numbers;
pub mod own;
mod plain;
pub(crate) mod printing;
pub mod read;
pub mod runtime;
mod scoped;
pub(crate) mod shadowed;
pub mod subscripts;
pub mod values;
pub(crate) mod weave;
pub mod words;
pub mod written;

/// The result of a function registered with the engine.
pub type Scripted<T> = Result<T, Box<rhai::EvalAltResult>>;
