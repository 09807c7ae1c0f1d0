//! NumPy's universal functions: functions of elements, applied to whole arrays, and their reductions. This file has the
//! types that callers use; [`table`] lists the functions, [`resolve`] picks the loop for the operands' dtypes, [`call`]
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

pub use call::{Operand, Options, Outputs, call, cast_faults};
pub(crate) use few::{Short, call_few};
pub use flags::FpFlags;
pub(crate) use reduce::reduce_few;
pub use reduce::{Initial, Reduction, reduce, reduction_dtype};
pub use resolve::{In, LoopTypes, resolve};
pub use scan::{accumulate, at, reduceat};
pub use table::{Identity, Op, TABLE, Ufunc, find};

#[cfg(test)]
mod tests;
