//! How functions are called: signatures, argument binding, rows, the registry of rows, and the state that functions
//! share. This crate knows no particular function, and not which language a call comes from.

// A user's mistake must not abort the process, so code that panics is denied.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod dispatch;

pub mod bind;
pub mod builtins;
#[allow(clippy::module_inception)]
mod call;
pub mod embedded;
pub mod extras;
pub mod facets;
pub mod indexes;
pub mod module_names;
pub mod plain;
pub mod reads;
pub mod refused;
pub mod registry;
pub mod row;
mod siblings;
pub mod signature;
pub mod stack;
pub mod state;
pub mod suggest;
pub mod trace;
pub mod warnings;

pub(crate) use call::wants_grad;
pub use call::{Call, one, view_on};
pub use module_names::{BELOW, LIBRARY, MODULES, submodule};
pub use registry::{Family, Function, Overloads, Receiver, Registry, bare_name};
pub use row::{Role, Row, Run, attribute, both, class_method, function, internal, method, setter};
pub use signature::{Kind, Param, Signature};
pub use state::State;
pub use value::Keywords;
pub use value::as_tensor;
