//! Gradients: records operations as they run, and walks the record backwards. Follows
//! <https://pytorch.org/docs/2.7/notes/autograd.html>. This crate knows operations and values, but no scripts and no
//! terminal.
//!
//! A derivative formula calls the same functions that scripts call ([`Functions`]). So the formula is recorded too if
//! `create_graph` asks for gradients of gradients.

// A user's mistake must not abort the process, so code that panics is denied.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod accumulate;
mod composite;
mod context;
pub mod custom;
mod derivative;
mod derivatives;
mod engine;
mod graph;
mod inplace;
mod record;
mod rules;
mod saved;

pub use context::Expr;
pub use derivative::Derivative;
pub use engine::{FREED, Pass, backward, comes_from_others, current, gradients, is_limited, run_node};
pub use graph::{Node, NodeHook, add_after_hook, add_hook, grad_fn, remove_hook, retain_grad};
pub use record::{Plan, Recording, plan};
pub use rules::{Recorded, Rule, derivatives, rule};
pub use saved::{Packer, Packing, Saved};

use tensor::Result;
use value::Value;

/// The function table, as formulas call it. Their calls are recorded like any others.
pub trait Functions {
    /// Calls the overload with this key. Missing arguments take their defaults.
    fn call(&self, key: &str, args: &[Value]) -> Result<Value>;

    /// Switches the recording of calls on or off. Returns the previous setting.
    fn set_recording(&self, on: bool) -> bool;

    /// Switches dimension names off or on. Returns the previous setting. Gradients have no names.
    fn set_nameless(&self, on: bool) -> bool;

    /// Returns whether NaN gradients are errors.
    fn refuses_nan(&self) -> bool {
        false
    }
}
