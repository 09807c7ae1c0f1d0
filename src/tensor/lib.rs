//! The core: dtypes, bytes, layouts and tensors. Independent of scripts, the terminal and file formats.
//!
//! A [`View`] is a layout over the bytes of a storage, [`ops`] compute on views, and errors use PyTorch's words:
//!
//! ```
//! use tensorsh_tensor::ops::view::transpose;
//! use tensorsh_tensor::{DType, Scalar, View};
//!
//! # fn main() -> tensorsh_tensor::Result<()> {
//! let numbers = View::from_scalars(&[6], DType::Short, (0..6).map(Scalar::Int))?;
//! let rows = numbers.with_layout(numbers.layout.view(&[2, 3])?);
//! assert_eq!((rows.strides(), rows.storage == numbers.storage), (&[3, 1][..], true));
//! let columns = transpose(&rows, 0, 1)?;
//! assert_eq!(columns.strides(), [1, 3]);
//! assert!(columns.layout.view(&[6]).is_err_and(|error| error.message.starts_with("view size is not compatible")));
//! # Ok(())
//! # }
//! ```

// Nothing that a user can do may abort the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

// `dispatch!` is defined by a macro, so the modules below find it by textual order, not by a path.
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
pub mod missing_seed;
pub mod names;
pub mod parallel;
pub mod quantized_block;
pub mod rehearsal;
mod retakes;
mod spare;
mod step;
pub mod storage;
pub mod tape;
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
pub use memory_format::{MemoryFormat, check_strides};
pub use names::{Name, Names};
pub use retakes::Retake;
pub use step::Step;
pub use storage::{Storage, TypedStorage, WeakStorage};
pub use tensor::{AutogradMeta, GradFn, Hook, Hooks, Origin, Tensor, WeakTensor};
pub use view::View;
pub use viewable::ViewFault;
