//! Gradients: recording operations as they run, and walking the record backwards.
//! Follows <https://pytorch.org/docs/2.7/notes/autograd.html>. Knows operations and values, no script and no terminal.
//!
//! A derivative is written as a call of the very functions a script calls ([`Functions`]), so that a formula is recorded
//! in its turn when `create_graph` asks for gradients of gradients.

// Nothing a user can reach may end the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

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
pub use engine::{FREED, Pass, backward, comes_from_others, current, gradients};
pub use graph::{Node, NodeHook, add_after_hook, add_hook, grad_fn, remove_hook, retain_grad};
pub use record::{Plan, Recording, plan};
pub use rules::{Rule, derivatives, refused_by, rule};
pub use saved::{Packer, Packing, Saved};

use tensor::Result;
use value::Value;

/// The function table, as formulas call it: what is called is recorded like any other call.
pub trait Functions {
    /// Calls the overload with this key; arguments left out take their defaults.
    fn call(&self, key: &str, args: &[Value]) -> Result<Value>;

    /// Turns the recording of calls on or off and gives the state before.
    fn set_recording(&self, on: bool) -> bool;

    /// Returns whether NaN gradients are errors.
    fn refuses_nan(&self) -> bool {
        false
    }
}
