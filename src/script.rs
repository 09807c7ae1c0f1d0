//! The script language: the only room that names Rhai. A call travels from the engine through binding to a row of the
//! function table; Python lines are translated first.

pub mod autograd_function;
pub mod bind;
mod bounds;
pub mod callable;
pub mod callback;
pub mod class;
mod descriptors;
pub mod dict;
pub mod engine;
pub mod exceptions;
pub mod extras;
pub mod fault;
pub mod functions;
mod hashed;
pub mod help;
pub mod higher;
pub mod list;
mod members;
mod named;
pub mod operators;
pub mod parameters;
mod plain;
pub mod python;
pub mod reference;
pub mod set;
pub mod signature;
pub mod stack;
pub mod state;
pub mod subscript;
mod transforms;
pub mod tree;
pub mod value;
mod warnings;
