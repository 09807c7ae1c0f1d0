//! Python as CPython 3.11 has it: what a source says (`syntax`), what it becomes (`compile`, `code`), and what
//! running that means (`machine`, and what it works on: functions, classes, generators, exceptions).
//!
//! It must not know of Rhai. Whatever is not of the language alone is asked of the function table.

pub(crate) mod autograd_function;
pub mod builtins;
pub mod calls;
pub mod class;
pub mod code;
pub mod compile;
pub mod construct;
pub(crate) mod descriptors;
pub mod exceptions;
pub mod function;
pub mod generator;
pub mod machine;
mod operations;
pub mod rhai_form;
pub mod syntax;
pub mod variables;
