//! Python's object model: attributes, items, iteration, calls, operators and subscripts of values, and the plain types. What is
//! a function of PyTorch's is in the other files.

pub mod bounds;
pub mod calling;
pub mod container_methods;
pub(crate) mod contexts;
pub mod identity;
pub(crate) mod indexing;
pub mod iterate;
pub mod lazy;
pub mod members;
pub(crate) mod methods;
pub mod operators;
pub mod plain;
pub(crate) mod python;
pub mod sequences;
pub(crate) mod special_methods;
pub mod strings;
pub mod subscript;
