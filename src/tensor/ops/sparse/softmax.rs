//! Softmax of sparse tensors: missing elements count as minus infinity, so their softmax is zero. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.sparse.softmax.html>.

use super::{Coordinates, coalesce, coo, expect_coo, pick, sparse_dim, vector};
use crate::layout::wrap_dim;
use crate::ops::copy;
use crate::ops::gather::index_copy_;
use crate::ops::softmax::{Softmax, softmax as dense};
use crate::{DType, Result, View};
use std::collections::BTreeMap;

/// Computes the softmax along a dimension, or its logarithm.
///
/// # Errors
/// IndexError for a dimension out of range; RuntimeError for integers.
pub fn softmax(which: Softmax, view: &View, dim: i64, dtype: Option<DType>) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    let whole = coalesce(view)?;
    let parts = expect_coo(&whole, "softmax")?;
    let values = copy::cast(&parts.values, dtype.unwrap_or(view.dtype))?;
    let split = sparse_dim(view);
    if d >= split {
        let shares = dense(which, &values, (d - split + 1) as i64, None)?;
        return coo(view.sizes(), parts.indices.clone(), shares, true);
    }
    let coordinates = Coordinates::of(parts, &view.sizes()[..split])?;
    // Elements that differ only in the index along `d` form one line.
    let mut groups: BTreeMap<Vec<i64>, Vec<i64>> = BTreeMap::new();
    for n in 0..coordinates.nnz {
        let others = coordinates.rows.iter().enumerate().filter(|&(row, _)| row != d).map(|(_, row)| row[n]);
        groups.entry(others.collect()).or_default().push(n as i64);
    }
    let shares = copy::clone(&values)?;
    for positions in groups.values() {
        let group = dense(which, &pick(&values, positions)?, 0, None)?;
        index_copy_(&shares, 0, &vector(positions)?, &group)?;
    }
    coo(view.sizes(), parts.indices.clone(), shares, true)
}
