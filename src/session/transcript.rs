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

pub use baseline::Baseline;
pub use compare::matches;
pub use export::{Json, junit};
pub use files::{Found, Target, collect, decode, describe, read_text};
pub use judge::Kind;
pub use lines::Encoding;
pub use options::{Options, Scope, Settings};
pub(crate) use parse::continuation_of;
pub use parse::{Case, Document, Example, Form, Manner, Reading, Written, prompt_of};
pub use replay::{Answer, printed, replay};
pub use report::{Count, Palette, Totals};
pub use run::{CaseReport, FileReport, Standing, Terms, Verdict, run_files, run_here};
pub use stack::spawn_with_big_stack;
pub use update::write_whole;
