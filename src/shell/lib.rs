//! The terminal's side: reads typed, piped or pasted input, and shows the results.
//!
//! Nothing here evaluates. Every input goes to a [`Session`](session::Session); results are written to standard output
//! (values and prints) and standard error (errors).

// User input must never panic the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod assistant;
mod config;
mod files;
mod folders;
mod history;
mod interrupts;
mod keys;
mod learn;
mod pager;
mod past;
mod progress;
mod prompt;
mod publish;
mod quiz;
mod screen;
mod script;
mod test;
mod turn;

pub use files::{Conversion, DiffForm, ReportForm, Reporting, Sort, convert, diff, inspect};
pub use learn::{Learning, Marking, learn, mark};
pub use prompt::{PromptOptions, prompt};
pub use publish::{Publication, publish};
pub use quiz::{Quizzing, quiz, quiz_topics};
pub use screen::{ColorChoice, Screen, Stream, complain, show};
pub use script::{run_code, run_each_statement, run_file, run_module, run_standard_input};
pub use session::Language;
pub use test::{Testing, replay, test};
