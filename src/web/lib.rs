//! The shell in a browser page: requests and answers, and events between them, all of them text in
//! JSON. docs/architecture.md lists them.
//!
//! Knows neither a browser nor WebAssembly: it is built and tested anywhere. The host passes a listener for events and
//! [`Files`].

// Nothing a user can reach may end the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod events;
mod page;
mod pictures;
mod request;
mod stage;
mod teaching;
mod variables;

pub use page::Page;
pub use stage::Files;
