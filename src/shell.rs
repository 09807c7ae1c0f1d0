//! The terminal's side: reads what is typed, piped or pasted, and shows what comes back.
//!
//! Nothing here evaluates: every input goes to a [`Session`](crate::session::Session), and what it gives back is put
//! on standard output (values and prints) and standard error (errors).

mod assistant;
mod config;
mod files;
mod history;
mod learn;
mod pager;
mod past;
mod progress;
mod prompt;
mod screen;
mod script;
mod test;

pub use crate::session::Language;
pub use files::{convert, diff, inspect};
pub use learn::{Learning, learn};
pub use prompt::{Opening, prompt};
pub use screen::{ColorChoice, Screen, Stream, complain, show};
pub use script::{run_code, run_file, run_standard_input};
pub use test::{Testing, test};
