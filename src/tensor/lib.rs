//! The core: dtypes, bytes, layouts and tensors. Knows no script, no terminal and no file format.

// Nothing a user can reach may end the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

// `dispatch!` is made by a macro, so the modules below know it by its place and not by a path.
#[macro_use]
pub mod dtype;

pub mod linalg;
pub mod ops;
pub mod system;

pub mod buffer;
pub mod device;
pub mod element;
pub mod error;
pub mod files;
pub mod float8;
pub mod form;
pub mod index;
pub mod interrupt;
pub mod iterate;
pub mod journal;
pub mod layout;
pub mod limits;
pub mod memory;
mod memory_format;
pub mod names;
pub mod parallel;
pub mod quantized_block;
pub mod rehearsal;
mod spare;
mod step;
pub mod storage;
#[allow(clippy::module_inception)]
pub mod tensor;
pub mod thresholds;
pub mod view;
mod viewable;

pub use buffer::{Buffer, BufferKind, TypeCode};
pub use device::{Device, DeviceKind};
pub use dtype::{Category, DType, can_cast, promote_types};
pub use element::{Element, Scalar};
pub use error::{Error, ErrorKind, Raised, Result};
pub use form::{Compressed, Coo, Form, Quantizer, TensorLayout};
pub use layout::{Dims, Layout};
pub use memory::Memory;
pub use memory_format::MemoryFormat;
pub use names::{Name, Names};
pub use step::Step;
pub use storage::{Storage, TypedStorage, WeakStorage};
pub use tensor::{AutogradMeta, GradFn, Hook, Hooks, Origin, Tensor, WeakTensor};
pub use view::View;
pub use viewable::ViewFault;
