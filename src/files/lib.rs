//! Files of tensors: PyTorch's checkpoints, safetensors, npy, npz and GGUF, and folders of them. Files are
//! memory-mapped for reading and replaced atomically on writing. Reading executes nothing, and allocates no more memory
//! than the file and the machine allow. Knows neither the script language nor the terminal.

// User input must never panic the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod archive;
mod atomic;
mod checkpoint;
mod contents;
mod convert;
mod diff;
mod distributed;
mod first_archives;
mod foreign;
mod format;
pub mod gguf;
mod inspect;
mod legacy;
mod listing;
mod literal;
mod names;
mod npy;
mod npz;
mod parts;
mod pickle;
pub mod progress;
mod records;
mod safetensors;
mod select;
mod shards;
mod source;
mod tensor_file;
mod values;

pub use atomic::{COMMON, PRIVATE, replace, temporary};
pub use checkpoint::{Location, Options, SaveOptions, load, save, write};
pub use contents::Contents;
pub use convert::{Conversion, convert};
pub use diff::{Comparing, Differences, diff};
pub use format::{Input, Loading, contents, load_any, save_as};
pub use inspect::{ReportForm, Reporting, Sort};
pub use literal::python_literal;
pub use npy::save_array;
pub use npz::{ArrayArchive, NamedArray, save_arrays, write_arrays};
pub use safetensors::{load as load_safetensors, save as save_safetensors, to_bytes as safetensors_bytes};
pub use source::{Source, read_whole, write_whole};
pub use tensor_file::{TensorEntry, TensorFile};
pub use values::contents_of;

/// The result of everything here.
pub use tensor::Result;
