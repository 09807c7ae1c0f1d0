//! Files of tensors: PyTorch's checkpoints, safetensors, npy, npz and GGUF, and folders of them. They are read from mapped
//! memory and written beside what they replace. Reading executes nothing, and takes no more memory than the file or the
//! machine allows. Knows neither the script language nor the terminal.

// Nothing a user can reach may end the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod archive;
mod atomic;
mod checkpoint;
mod contents;
mod convert;
mod diff;
mod distributed;
mod format;
pub mod gguf;
mod inspect;
mod legacy;
mod listing;
mod literal;
mod npy;
mod npz;
mod parts;
mod pickle;
pub mod progress;
mod records;
mod safetensors;
mod shards;
mod source;
mod values;

pub use atomic::{COMMON, PRIVATE, replace, temporary};
pub use checkpoint::{Location, Options, load, save, write};
pub use contents::Contents;
pub use convert::convert;
pub use diff::{Differences, diff};
pub use format::{Input, contents, load_any, save_as};
pub use safetensors::{load as load_safetensors, save as save_safetensors};
pub use source::{Source, read_whole, write_whole};
pub use values::contents_of;

/// What everything here gives.
pub use tensor::Result;
