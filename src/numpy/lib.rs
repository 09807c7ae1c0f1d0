//! NumPy's arrays on the storages of tensors. Follows <https://numpy.org/doc/2.4/reference/>.

// Nothing that a user can do may abort the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod array;
mod ask;
mod attributes;
mod behaviour;
pub mod bridge;
mod call_ufunc;
mod combine;
mod convert;
mod create;
mod descr;
mod dtypes;
mod element;
mod flat;
mod index;
pub mod memmap;
mod methods;
mod module;
mod ndarray;
mod operate;
mod order;
mod overlap;
mod printing;
mod python;
mod random;
mod settings;
mod strided;
mod ufunc;

use call::Row;
use tensor::{DType, Error, Result};
use value::Value;

pub(crate) use array::{Array, Order};
pub(crate) use descr::{Descr, promoted};
pub use module::OUTSIDE;
pub(crate) use strided::Strided;

/// Returns the dtype that a value names, and how NumPy shows it: `float32`, `>f4`.
///
/// # Errors
/// TypeError in NumPy's words if the value names no dtype.
pub fn dtype_of(value: &Value) -> Result<(DType, String)> {
    let descr = match value {
        Value::DType(dtype) => {
            Descr::of(*dtype).ok_or_else(|| Error::type_error(format!("NumPy has no {}", dtype.name())))?
        }
        value => dtypes::descr_of(value)?,
    };
    let name = if descr.swapped { descr.text() } else { descr.name().to_owned() };
    Ok((descr.dtype, name))
}

/// The rows of the function table, each list with its subject.
pub const TABLES: &[(&str, &[Row])] = &[
    ("arrays", ask::ROWS),
    ("arrays", combine::ROWS),
    ("arrays", create::ROWS),
    ("", memmap::ROWS),
    ("arrays", methods::ROWS),
    ("arrays", printing::ROWS),
    ("arrays", settings::ROWS),
];
