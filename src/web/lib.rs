//! The shell in a browser page: requests, answers, and events between them, all in JSON. docs/architecture.md lists
//! them.
//!
//! Knows neither a browser nor WebAssembly: it can be built and tested anywhere. The host passes a listener for events,
//! and [`Files`].

// User input must never panic the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod events;
mod page;
mod pictures;
mod quizzing;
mod request;
mod stage;
mod teaching;
mod turning;
mod variables;

pub use page::Page;
pub use stage::Files;
