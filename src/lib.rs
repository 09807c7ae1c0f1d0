//! tensorsh, a shell for tensors and the bytes beneath them.
//!
//! One path serves every input. [`session`] takes a line; what stands after `>>> ` is Python and is translated to Rhai by
//! `script::python`; `script::engine` evaluates it; every call finds its row in the function table, where
//! `script::bind` checks the arguments; [`autograd`] records, [`ops`] compute on [`tensor`]s; [`format`](mod@format) says
//! what the value looks like; [`explain`] draws the memory beneath it. [`transcript`] and [`shell`] are the two ends: where inputs come from and where text goes.

// Nothing a user can reach may end the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod autograd;
pub mod call;
pub mod explain;
pub mod files;
pub mod format;
pub mod functions;
pub mod lessons;
pub mod ops;
pub mod python;
pub mod script;
pub mod session;
pub mod shell;
pub mod tensor;
pub mod transcript;
pub mod value;
