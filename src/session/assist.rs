//! Help for the person at the prompt, in a terminal or on a page: what an entry is and whether it wants more, how it could go on, how
//! it is coloured, what the prompt's commands do, what a failure looks like. Everything is text in pieces that say what they
//! are. The front end chooses colours and keys through [`Console`].
//!
//! Knows neither terminal nor page, starts no thread and heeds no signal. Evaluation is the session's.

mod commands;
mod console;
mod desk;
mod entry;
mod fault;
mod help;
mod highlight;
mod log;
mod marked;
mod paste;
mod saving;
mod table;

pub use commands::{is_command, run as run_command, topic};
pub use console::{Console, Taken};
pub use desk::Desk;
pub use entry::{Paths, Way, completeness, is_unfinished, usages, ways};
pub use fault::{describe, noted};
pub use help::help;
pub use highlight::{Piece, pieces};
pub use marked::{Mark, Marked};
pub use paste::{Pasted, Statement, looks_printed, read_session, with_python_prompts};
pub use saving::{TITLE, script};
pub use table::cut;
