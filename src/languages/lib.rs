//! The two languages of the shell, Python and Rhai, over one function table.

// User input must never panic the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod python;
pub mod script;
