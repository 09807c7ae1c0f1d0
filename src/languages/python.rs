//! The Python language, as in CPython 3.11: the syntax (`syntax`), the compiler (`compile`, `code`) and the machine
//! that runs the code (`machine`), with its functions, classes, generators and exceptions.
//!
//! This part does not depend on Rhai. It finds everything outside the language itself in the function table.

pub(crate) mod autograd_function;
pub mod builtins;
pub mod calls;
mod cell;
pub mod class;
mod class_names;
mod class_order;
pub mod code;
pub mod compile;
pub mod construct;
pub(crate) mod descriptors;
mod dynamic;
mod embedded;
pub mod exceptions;
pub mod fields;
mod finalisers;
pub mod frame;
pub mod function;
pub mod generator;
mod held;
mod imports;
mod instance;
mod library;
pub mod machine;
mod main_module;
mod namespaces;
mod operations;
mod patterns;
pub mod rhai_form;
pub mod shared;
pub mod syntax;
mod tracebacks;
pub mod variables;
