//! Recorded sessions: pages with inputs and their printed results, in many forms.
//!
//! A page runs through the same [`Session`](crate::Session) as a typed line. Only the two ends differ: its input
//! comes from a file, and its output is compared, rewritten or returned. Nothing here writes to a terminal; reports and
//! replays are returned as text.

mod baseline;
mod blocks;
mod code;
mod compare;
mod docstrings;
mod example;
mod export;
mod files;
mod html;
mod judge;
mod lines;
mod markdown;
mod names;
mod notebook;
mod options;
mod parse;
mod prompts;
mod reader;
mod replay;
mod report;
mod rst;
mod run;
mod stack;
mod update;
mod verdict;

pub use baseline::Baseline;
pub use compare::matches;
pub(crate) use example::continuation_of;
pub use example::{Case, Document, Example, Manner, Reading, Written, prompt_of};
pub use export::{Json, junit};
pub use files::{Found, Target, collect, decode, describe, read_text};
pub(crate) use html::without_references;
pub use lines::Encoding;
pub use options::{Options, Scope, Settings};
pub use parse::Form;
pub(crate) use prompts::{in_number_of, out_number_of};
pub use replay::{Answer, answer, printed, replay};
pub use report::{Count, Palette, Totals};
pub use run::{OnOpen, Terms, Tried, TryPage, run_files, run_here};
pub use stack::spawn_with_big_stack;
pub use tensor::system::with_slashes;
pub use update::write_whole;
pub use verdict::{CaseReport, FileReport, Kind, Standing, Verdict};
