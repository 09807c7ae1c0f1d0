//! Softmax of sparse tensors: missing elements count as minus infinity, so their softmax is zero. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.sparse.softmax.html>.

use super::kernels::{ordered, softmax_by_lines, stable_order};
use super::{Coordinates, coalesce, coo, expect_coo, sparse_dim, supported};
use crate::bail;
use crate::layout::{checked_numel, wrap_dim};
use crate::ops::copy;
use crate::ops::softmax::{Softmax, softmax as dense};
use crate::{DType, Result, View};

/// Computes the softmax along a dimension, or its logarithm.
///
/// # Errors
/// IndexError for a dimension out of range; RuntimeError for integers.
pub fn softmax(which: Softmax, view: &View, dim: i64, dtype: Option<DType>) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    let whole = coalesce(view)?;
    let parts = expect_coo(&whole, "softmax")?;
    let values = copy::cast(&parts.values, dtype.unwrap_or(view.dtype))?;
    let kernel = if which == Softmax::Log { "log_softmax" } else { "softmax" };
    supported(kernel, values.dtype, matches!(values.dtype, DType::Float | DType::Double))?;
    let split = sparse_dim(view);
    if d >= split {
        let shares = dense(which, &values, (d - split + 1) as i64, None)?;
        return coo(view.sizes(), parts.indices.clone(), shares, true);
    }
    // Elements that differ only in the index along `d` form one line.
    let mut sizes = view.sizes()[..split].to_vec();
    let mut coordinates = Coordinates::of(parts, &sizes)?;
    sizes.remove(d);
    coordinates.rows.remove(d);
    let lines = coordinates.places(&sizes)?;
    let order = stable_order(&lines, checked_numel(&sizes)?)?;
    let sorted = ordered(&lines, order.as_deref());
    let mut starts = vec![0];
    starts.extend((1i64..).zip(sorted.windows(2)).filter(|(_, pair)| pair[0] != pair[1]).map(|(n, _)| n));
    if !sorted.is_empty() {
        starts.push(sorted.len() as i64);
    }
    match softmax_by_lines(&values, order.as_deref(), &starts, which == Softmax::Log)? {
        Some(shares) => coo(view.sizes(), parts.indices.clone(), shares, true),
        None => bail!(RuntimeError, "the values of a sparse tensor cannot be read"),
    }
}
