//! Python as CPython 3.11 has it: what a source says, and what running it means.
//!
//! It must not know of Rhai.

pub mod syntax;
