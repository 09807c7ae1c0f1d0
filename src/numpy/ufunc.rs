//! NumPy's universal functions: functions of elements, applied to whole arrays, and their reductions. This file has the
//! types that callers use; `table.rs` lists the functions, `resolve.rs` picks the loop for the dtypes of the operands, and `call.rs`
//! runs it. Follows <https://numpy.org/doc/2.4/reference/ufuncs.html>.

mod analytic;
mod call;
mod clip;
mod compare;
mod complexes;
mod dispatch;
mod few;
mod flags;
mod fold;
mod halves;
mod integers;
mod inverse;
mod math;
mod products;
mod reals;
mod reduce;
mod resolve;
mod run;
mod scan;
mod series;
mod table;
mod tanh;
mod walk;

pub(crate) use call::{Operand, Options, call, cast_faults};
pub(crate) use few::{Short, call_few};
pub(crate) use flags::FpFlags;
pub(crate) use reduce::reduce_few;
pub(crate) use reduce::{Initial, Reduction, reduce};
pub(crate) use resolve::In;
pub(crate) use scan::{accumulate, at, reduceat};
pub(crate) use table::{Identity, Op, TABLE, Ufunc, find};

#[cfg(test)]
mod tests;
