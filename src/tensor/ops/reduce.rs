//! Reductions: many elements to one. This file handles dimensions, dtypes and errors. The loops are in the submodules,
//! one per way of combining elements. Follows <https://pytorch.org/docs/2.7/torch.html#reduction-ops>.
//!
//! Floating-point results depend on the order of additions. The loops follow PyTorch's CPU kernels for 256-bit vectors
//! and one thread, so that results agree to the last bit.

mod chain;
mod extremum;
mod fold;
mod moments;
pub mod order;
mod running;
mod scan;
mod skip;
mod sum;
mod tiles;

pub use extremum::{Extremum, arg_extremum, extremum, extremum_all, extremum_dim};
pub use fold::{all, any, prod};
pub use moments::{SpreadMeasure, has_no_freedom, norm, variance};
pub use running::{log_cumulative_sum_exp, running_extremum};
pub use scan::{Running, cumulative};
pub use skip::{aminmax, count_nonzero, nanmean, nansum};
pub use sum::{mean, sum};

use crate::bail;
use crate::layout::{check_nameable, wrap_dim};
use crate::ops::check::resolved;
use crate::ops::copy::row_major;
use crate::ops::number::Stored;
use crate::parallel;
use crate::{DType, Dims, Layout, Result, View};
use std::fmt::Display;

/// The checked dimensions of a reduction.
pub(crate) struct Reduction {
    /// One flag per dimension of the operand: whether it is reduced.
    pub reduced: smallvec::SmallVec<[bool; 6]>,
    /// Sizes of the result.
    pub sizes: Dims,
    keepdim: bool,
}

impl Reduction {
    /// Checks the dimensions. `None` and an empty list mean all dimensions.
    pub(crate) fn new(view: &View, dims: Option<&[i64]>, keepdim: bool) -> Result<Reduction> {
        let ndim = view.ndim();
        let all = dims.is_none_or(<[i64]>::is_empty);
        let mut reduced = smallvec::SmallVec::from_elem(all, ndim);
        if !all {
            check_nameable(ndim)?;
        }
        // A 0-d operand is checked like a 1-d one.
        let mut seen: smallvec::SmallVec<[bool; 6]> = smallvec::SmallVec::from_elem(false, ndim.max(1));
        for &dim in dims.unwrap_or_default() {
            let d = wrap_dim(dim, ndim)?;
            if std::mem::replace(&mut seen[d], true) {
                bail!(RuntimeError, "dim {d} appears multiple times in the list of dims");
            }
            if let Some(flag) = reduced.get_mut(d) {
                *flag = true;
            }
        }
        let mut sizes = Dims::new();
        for (&size, &gone) in view.sizes().iter().zip(&reduced) {
            match (gone, keepdim) {
                (false, _) => sizes.push(size),
                (true, true) => sizes.push(1),
                (true, false) => {}
            }
        }
        Ok(Reduction { reduced, sizes, keepdim })
    }

    /// Allocates a row-major result.
    pub(crate) fn result(&self, like: &View, dtype: DType) -> Result<View> {
        View::zeros(&self.sizes, dtype, like.device())
    }

    /// Returns the result's layout in the operand's dimensions, with stride 0 in reduced ones.
    pub(crate) fn spread(&self, result: &View, operand: &View) -> Layout {
        let mut strides = Dims::new();
        let mut own = result.strides().iter();
        for &gone in &self.reduced {
            strides.push(match gone {
                false => own.next().copied().unwrap_or(0),
                true => {
                    if self.keepdim {
                        own.next();
                    }
                    0
                }
            });
        }
        Layout { sizes: Dims::from_slice(operand.sizes()), strides, offset: result.layout.offset }
    }

    /// Returns the number of elements combined in each result.
    pub(crate) fn factor(&self, view: &View) -> i64 {
        let sizes = view.sizes().iter().zip(&self.reduced);
        sizes.filter(|&(_, &gone)| gone).fold(1, |n: i64, (&size, _)| n.saturating_mul(size))
    }

    /// Refuses empty operands, for operations without a neutral value. `dims` are named in the message as the caller
    /// passed them.
    pub(crate) fn check_nonempty(view: &View, name: impl Display, dims: Option<&[i64]>) -> Result<()> {
        if view.numel() != 0 {
            return Ok(());
        }
        let Some(dims) = dims.filter(|dims| !dims.is_empty()) else {
            bail!(
                RuntimeError,
                "{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with \
                 the 'dim' argument."
            );
        };
        for &dim in dims {
            if view.sizes().get(wrap_dim(dim, view.ndim())?) == Some(&0) {
                bail!(IndexError, "{name}(): Expected reduction dim {dim} to have non-zero size.");
            }
        }
        Ok(())
    }
}

/// Returns the operand, or a copy if it is not aligned for its element type: `frombuffer` may start at an odd byte.
fn aligned<S: Stored>(view: &View) -> Result<View> {
    match parallel::reading::<S, _>(&*view.memory()?, |_| ()) {
        Some(()) => Ok(view.clone()),
        None => row_major(view),
    }
}

#[cfg(test)]
mod tests;
