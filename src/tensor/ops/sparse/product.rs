//! Products with sparse matrices: only stored elements are multiplied. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.sparse.mm.html>.

use super::compressed::starts;
use super::{Coordinates, coalesce, coo, dense_dim, expect_coo, pick, sparse_dim, to_layout, vector};
use crate::bail;
use crate::ops::gather::{index_add_, index_reduce_};
use crate::ops::pointwise::{BinaryOp, Output, binary};
use crate::ops::promote::Operand;
use crate::ops::view as views;
use crate::{DType, Device, Result, Scalar, TensorLayout, View, interrupt, limits};

/// A sparse matrix as the rows, columns and values of its elements.
struct Elements {
    coordinates: Coordinates,
    values: View,
}

impl Elements {
    fn of(view: &View) -> Result<Elements> {
        if sparse_dim(view) != 2 || dense_dim(view) != 0 || view.ndim() != 2 {
            bail!(RuntimeError, "a product needs a sparse matrix, got {} dimensions", view.ndim());
        }
        let whole = coalesce(&to_layout(view, TensorLayout::SparseCoo)?)?;
        let parts = expect_coo(&whole, "mm")?;
        Ok(Elements { coordinates: Coordinates::of(parts, view.sizes())?, values: parts.values.clone() })
    }

    fn row(&self, n: usize) -> i64 {
        self.coordinates.rows.first().and_then(|row| row.get(n)).copied().unwrap_or_default()
    }

    fn column(&self, n: usize) -> i64 {
        self.coordinates.rows.get(1).and_then(|row| row.get(n)).copied().unwrap_or_default()
    }
}

fn multiply(a: &View, b: &View) -> Result<View> {
    binary(BinaryOp::Mul, Operand::Tensor(a), Operand::Tensor(b), Output::New, DType::Float)
}

/// Multiplies a sparse by a dense matrix; the result is dense.
///
/// # Errors
/// RuntimeError, in PyTorch's words, if the sizes or dtypes do not match.
pub fn sparse_dense(a: &View, b: &View) -> Result<View> {
    let elements = Elements::of(a)?;
    let [rows, inner] = [a.sizes()[0], a.sizes()[1]];
    if b.ndim() != 2 {
        crate::layout::wrap_dim(1, b.ndim())?;
        bail!(RuntimeError, "addmm: Argument #3 (dense): Expected dim 0 size {inner}, got {}", b.ndim());
    }
    let [given, columns] = [b.sizes()[0], b.sizes()[1]];
    if given != inner && a.compressed().is_some() {
        return mismatch(a, b);
    }
    if given != inner {
        bail!(RuntimeError, "addmm: Argument #3 (dense): Expected dim 0 size {inner}, got {given}");
    }
    if a.dtype != b.dtype {
        bail!(RuntimeError, "expected scalar type {} but found {}", a.dtype.scalar_type(), b.dtype.scalar_type());
    }
    let out = View::zeros(&[rows, columns], a.dtype, Device::CPU)?;
    let coordinates = &elements.coordinates;
    let (of_rows, of_columns) = (vector(&coordinates.rows[0])?, &coordinates.rows[1]);
    let terms = multiply(&views::unsqueeze(&elements.values, 1)?, &pick(b, of_columns)?)?;
    index_add_(&out, 0, &of_rows, &terms, Scalar::Int(1))?;
    Ok(out)
}

/// Multiplies a dense by a sparse matrix; the result is dense.
pub fn dense_sparse(a: &View, b: &View) -> Result<View> {
    if a.ndim() != 2 || b.ndim() != 2 || a.sizes()[1] != b.sizes()[0] {
        if let ([_, given], [inner, _], true) = (a.sizes(), b.sizes(), b.coo().is_some()) {
            bail!(RuntimeError, "addmm: Argument #3 (dense): Expected dim 0 size {inner}, got {given}");
        }
        return mismatch(a, b);
    }
    let turned = to_layout(b, TensorLayout::SparseCoo)?;
    let product = sparse_dense(&super::rearrange::permute(&turned, &[1, 0])?, &views::transpose(a, 0, 1)?)?;
    views::transpose(&product, 0, 1)
}

/// Multiplies two sparse matrices. The result is a coalesced COO matrix with every element that some pair of stored
/// elements contributes to.
pub fn sparse_sparse(a: &View, b: &View) -> Result<View> {
    if a.ndim() != 2 || b.ndim() != 2 || a.sizes()[1] != b.sizes()[0] {
        return mismatch(a, b);
    }
    let (left, right) = (Elements::of(a)?, Elements::of(b)?);
    // Coalesced elements are ordered by row.
    let starts = starts(&right.coordinates.rows[0], b.sizes()[0])?;
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    let mut rows = vec![Vec::new(), Vec::new()];
    for n in 0..left.coordinates.nnz {
        let inner = left.column(n) as usize;
        for m in starts[inner]..starts[inner + 1] {
            limits::push(&mut lefts, n as i64)?;
            limits::push(&mut rights, m)?;
            limits::push(&mut rows[0], left.row(n))?;
            limits::push(&mut rows[1], right.column(m as usize))?;
        }
        interrupt::check()?;
    }
    let values = multiply(&pick(&left.values, &lefts)?, &pick(&right.values, &rights)?)?;
    let nnz = lefts.len();
    let sizes = [a.sizes()[0], b.sizes()[1]];
    coalesce(&coo(&sizes, Coordinates { rows, nnz }.to_view()?, values, false)?)
}

fn mismatch<T>(a: &View, b: &View) -> Result<T> {
    let shape = |view: &View| view.sizes().iter().map(i64::to_string).collect::<Vec<_>>().join("x");
    bail!(RuntimeError, "mat1 and mat2 shapes cannot be multiplied ({} and {})", shape(a), shape(b))
}

/// Multiplies a CSR matrix by a dense one and reduces the terms of each element by `sum`, `mean`, `amax` (`max`) or
/// `amin` (`min`). Rows without elements give zeros.
///
/// # Errors
/// RuntimeError for other reductions, and those of [`sparse_dense`].
pub fn reduced(a: &View, b: &View, reduce: &str) -> Result<View> {
    let total = sparse_dense(a, b)?;
    let reduce = match reduce {
        "sum" => return Ok(total),
        "max" | "amax" => "amax",
        "min" | "amin" => "amin",
        "mean" => "mean",
        other => bail!(RuntimeError, "reduce argument must be either sum, mean, amax or amin, got {other}"),
    };
    let elements = Elements::of(a)?;
    let coordinates = &elements.coordinates;
    let terms = multiply(&views::unsqueeze(&elements.values, 1)?, &pick(b, &coordinates.rows[1])?)?;
    let out = View::zeros(total.sizes(), total.dtype, Device::CPU)?;
    index_reduce_(&out, 0, &vector(&coordinates.rows[0])?, &terms, reduce, false)?;
    Ok(out)
}

/// Returns the rows of a dense matrix that have elements in the sparse one, as a COO matrix with two sparse dimensions.
pub fn rows_of(sparse: &View, dense: &View) -> Result<View> {
    let columns = dense.sizes()[1];
    let kept = kept_rows(sparse)?;
    let rows = vec![
        kept.iter().flat_map(|&row| (0..columns).map(move |_| row)).collect(),
        kept.iter().flat_map(|_| 0..columns).collect(),
    ];
    let nnz = kept.len() * columns as usize;
    let values = views::reshape(&pick(dense, &kept)?, &[-1])?;
    coo(dense.sizes(), Coordinates { rows, nnz }.to_view()?, values, false)
}

/// Like [`rows_of`], with one sparse and one dense dimension.
pub fn hybrid_rows_of(sparse: &View, dense: &View) -> Result<View> {
    let kept = kept_rows(sparse)?;
    let values = pick(dense, &kept)?;
    coo(dense.sizes(), Coordinates { nnz: kept.len(), rows: vec![kept] }.to_view()?, values, false)
}

fn kept_rows(sparse: &View) -> Result<Vec<i64>> {
    let mut rows = Elements::of(sparse)?.coordinates.rows.into_iter().next().unwrap_or_default();
    rows.dedup();
    Ok(rows)
}
