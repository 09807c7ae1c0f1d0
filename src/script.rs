//! The script language: the only room that names Rhai. A call goes from the engine through binding to a row of the
//! function table; lines of Python are translated first.

pub mod autograd_function;
pub mod bounds;
pub mod callable;
pub mod callback;
pub mod class;
pub mod descriptors;
pub mod dict;
pub mod engine;
pub mod exceptions;
pub mod fault;
pub mod higher;
pub mod list;
pub mod members;
pub mod namedtuple;
pub mod parameters;
mod plain;
#[cfg(test)]
mod python_tests;
pub mod runtime;
pub mod set;
pub mod stack;
pub mod subscripts;
pub mod transforms;
pub mod value;
