//! NumPy's arrays on the storages of tensors. Follows <https://numpy.org/doc/2.4/reference/>.

// Nothing that a user can do may abort the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod array;
mod ask;
mod attributes;
mod behaviour;
pub mod bridge;
mod call_ufunc;
mod combine;
mod convert;
mod create;
pub mod descr;
mod dtypes;
pub mod element;
mod flat;
mod index;
mod methods;
mod module;
pub mod ndarray;
mod operate;
mod order;
mod overlap;
mod printing;
mod python;
mod random;
mod settings;
pub mod strided;
pub mod ufunc;

use call::Row;

pub use array::{Array, Order};
pub use descr::{Casting, Descr, Kind, Weak, promoted};
pub use module::OUTSIDE;
pub use strided::Strided;

/// The rows of the function table, each list with its subject.
pub const TABLES: &[(&str, &[Row])] = &[
    ("arrays", ask::ROWS),
    ("arrays", combine::ROWS),
    ("arrays", create::ROWS),
    ("arrays", methods::ROWS),
    ("arrays", printing::ROWS),
    ("arrays", settings::ROWS),
];
