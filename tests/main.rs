//! The tests that need no terminal and no separate run, as one program: linking the crate takes longer than most of
//! them run. `cargo test --test whole cli::` runs those of one file.

mod aliasing;
mod calculation;
mod calls;
mod caught;
mod cli;
#[cfg(unix)]
mod console;
mod cycles;
mod edges;
mod embedded;
mod explain;
// Limits the memory of the programs that it runs, which Windows has no command for.
#[cfg(unix)]
mod extremes;
mod files;
mod gradients;
mod growth;
mod hostile;
mod languages;
mod layout;
mod library;
mod mistakes;
mod modules;
// As `extremes` does.
#[cfg(unix)]
mod numpy_hostile;
mod pace;
mod python;
mod python_syntax;
mod reference;
mod refusals;
mod rhai_calls;
mod rhai_form;
mod rhai_grammar;
mod rhai_sessions;
mod scripts;
mod storage;
mod storage_names;
mod transcripts;
mod turn;
mod undo;
mod views;
mod web_page;
