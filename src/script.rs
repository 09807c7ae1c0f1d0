//! The script language: the only room that names Rhai. A call travels from the engine through binding to a row of the
//! function table; Python lines are translated first.

pub mod autograd_function;
pub mod bind;
pub mod bounds;
pub mod callable;
pub mod callback;
pub mod class;
pub mod descriptors;
pub mod dict;
pub mod engine;
pub mod exceptions;
pub mod extras;
pub mod fault;
pub mod hashed;
pub mod help;
pub mod higher;
pub mod list;
pub mod members;
pub mod named;
pub mod operators;
pub mod parameters;
pub mod plain;
pub mod reference;
pub mod set;
pub mod signature;
pub mod stack;
pub mod state;
pub mod subscript;
pub mod transforms;
pub mod tree;
pub mod value;
pub mod warnings;
