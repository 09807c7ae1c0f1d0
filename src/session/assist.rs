//! Help for the person at the prompt, in a terminal or on a page: whether an entry is complete, completions,
//! highlighting, the prompt's commands, and the layout of errors. All output is text in pieces marked with their
//! meaning. The front end chooses colours and keys through [`Console`].
//!
//! Knows neither terminal nor page, starts no threads and handles no signals. Evaluation belongs to the session.

mod commands;
mod console;
mod desk;
mod entry;
mod fault;
mod growth;
mod help;
mod highlight;
mod log;
mod marked;
mod paste;
mod quizzing;
mod saving;
mod table;
mod turning;

pub use commands::{is_command, is_known_command, run as run_command, topic};
pub use console::{Console, EntryOutcome, Reply};
pub use desk::Desk;
pub use entry::{ListedCompletion, Paths, completeness, completeness_of_paste, completions, read, usages};
pub use fault::{describe, noted};
pub use help::help;
pub use highlight::{Piece, pieces};
pub use marked::{Mark, Marked};
pub use paste::{Pasted, Statement, looks_printed, with_python_prompts};
pub use saving::{TITLE, script};
pub use table::cut;
pub use turning::{TurnForm, TurnKey, TurnStep};
