//! Recorded sessions: text with inputs after prompts and their printed results below.
//!
//! A transcript runs through the same [`Session`](crate::Session) as a typed line. Only the two ends differ: its input
//! comes from a file, and its output is compared, rewritten or returned. Nothing here writes to a terminal; reports and
//! replays are returned as text.

mod compare;
mod export;
mod files;
mod markdown;
mod parse;
mod replay;
mod report;
mod run;
mod stack;
mod update;

pub use compare::matches;
pub use export::{Json, junit};
pub use files::{Target, collect, decode, describe, read_text};
pub(crate) use parse::continuation_of;
pub use parse::{Case, Document, Example, Form, Options, prompt_of};
pub use replay::{Answer, answer, printed, replay};
pub use report::{Count, Palette, Totals};
pub use run::{CaseReport, FileReport, Terms, Verdict, run_files, run_here};
pub use stack::spawn_with_big_stack;
pub use update::rewrite;
