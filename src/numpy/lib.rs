//! NumPy's arrays on the storages of tensors. Follows <https://numpy.org/doc/2.4/reference/>.

// Nothing that a user can do may abort the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod array;
pub mod descr;
pub mod element;
pub mod strided;
pub mod ufunc;

pub use array::{Array, Order};
pub use descr::{Casting, Descr, Kind, Weak, promoted};
pub use strided::Strided;
