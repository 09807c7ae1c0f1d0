//! Products with sparse matrices: only stored elements are multiplied. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.sparse.mm.html>.

use super::compressed::starts;
use super::kernels::{Rounding, Rows, accumulate, add_product, ordered, product_by_rows, stable_order};
use super::{
    Coordinates, coalesce, coo, dense_dim, expect_coo, in_library, pick, sparse_dim, supported, to_layout, vector,
};
use crate::bail;
use crate::layout::checked_numel;
use crate::ops::copy;
use crate::ops::gather::index_reduce_;
use crate::ops::pointwise::{BinaryOp, Output, binary};
use crate::ops::promote::Operand;
use crate::ops::view as views;
use crate::{DType, Device, Result, TensorLayout, View, interrupt, limits};

/// Fails with RuntimeError unless the view is a sparse matrix of numbers.
fn expect_matrix(view: &View) -> Result<()> {
    if sparse_dim(view) != 2 || dense_dim(view) != 0 || view.ndim() != 2 {
        bail!(RuntimeError, "a product needs a sparse matrix, got {} dimensions", view.ndim());
    }
    Ok(())
}

impl Rows {
    /// Reads a sparse matrix. Elements of a COO matrix that have the same index are added up if `merged` is set. They stay
    /// in their order otherwise.
    fn of(view: &View, merged: bool) -> Result<Rows> {
        expect_matrix(view)?;
        let coordinates = to_layout(view, TensorLayout::SparseCoo)?;
        let whole = if merged || view.compressed().is_some() { coalesce(&coordinates)? } else { coordinates };
        let parts = expect_coo(&whole, "mm")?;
        let given = Coordinates::of(parts, view.sizes())?;
        let order = stable_order(&given.rows[0], view.sizes()[0])?;
        let values = match &order {
            Some(order) => pick(&parts.values, order)?,
            None => parts.values.clone(),
        };
        let columns = ordered(&given.rows[1], order.as_deref());
        Ok(Rows { starts: starts(&given.rows[0], view.sizes()[0])?, columns, values })
    }

    /// Returns the row of each element.
    fn rows(&self) -> Vec<i64> {
        (0..).zip(self.starts.windows(2)).flat_map(|(row, pair)| (pair[0]..pair[1]).map(move |_| row)).collect()
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
    let out = View::zeros(&product_sizes(a, b)?, a.dtype, Device::CPU)?;
    add_sparse_dense(&out, a, b)?;
    Ok(out)
}

/// Checks the operands of [`sparse_dense`] and returns the sizes of the product.
fn product_sizes(a: &View, b: &View) -> Result<[i64; 2]> {
    expect_matrix(a)?;
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
    check_dtype(a)?;
    Ok([rows, columns])
}

/// Fails with RuntimeError for a sparse matrix of a dtype that PyTorch does not multiply by a dense one.
fn check_dtype(sparse: &View) -> Result<()> {
    match sparse.compressed() {
        Some(_) => supported("addmm_out_sparse_csr_impl_mkl", sparse.dtype, in_library(sparse.dtype)),
        None => supported("addmm_sparse_dense", sparse.dtype, sparse.dtype != DType::Bool),
    }
}

/// Checks the operands of [`sparse_dense`], and makes a row-major copy of the matrix that the product is added to, in the
/// product's size.
///
/// # Errors
/// Those of [`sparse_dense`]; RuntimeError if the matrix does not broadcast.
pub fn sized_like_product(input: &View, a: &View, b: &View) -> Result<View> {
    let [rows, columns] = product_sizes(a, b)?;
    copy::row_major(&views::expand(input, &[rows, columns])?)
}

/// Adds the product of a sparse matrix and a dense one to a row-major matrix. PyTorch fuses the products of COO matrices
/// with the sums, and its library does not for compressed ones.
pub fn add_sparse_dense(out: &View, a: &View, b: &View) -> Result<()> {
    let rounding = if a.coo().is_some() { Rounding::Fused } else { Rounding::Apart };
    add_rounded(out, a, b, rounding)
}

fn add_rounded(out: &View, a: &View, b: &View, rounding: Rounding) -> Result<()> {
    let rows = Rows::of(a, false)?;
    if add_product(out, &rows, b, rounding)?.is_none() {
        let terms = multiply(&views::unsqueeze(&rows.values, 1)?, &pick(b, &rows.columns)?)?;
        accumulate(out, &rows.rows(), None, &terms)?;
    }
    Ok(())
}

/// `bmm` of a batch of sparse matrices and a batch of dense ones: the product of one matrix with the sparse ones along its
/// diagonal.
///
/// # Errors
/// RuntimeError, in PyTorch's words, if layouts, sizes or dtypes do not match.
pub fn batches(a: &View, b: &View) -> Result<View> {
    if b.is_sparse() {
        bail!(RuntimeError, "bmm_sparse: Tensor 'mat2' must be dense");
    }
    if dense_dim(a) > 0 {
        bail!(RuntimeError, "bmm_sparse: Tensor 'self' must have 0 dense dims, but has {}", dense_dim(a));
    }
    let &[count, rows, inner] = a.sizes() else {
        bail!(RuntimeError, "bmm_sparse: Tensor 'self' must have 3 sparse dims, but has {}", sparse_dim(a));
    };
    let &[given, middle, columns] = b.sizes() else {
        bail!(RuntimeError, "bmm_sparse: Tensor 'mat2' must have 3 dims, but has {}", b.ndim());
    };
    if count != given {
        bail!(RuntimeError, "bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match");
    }
    if inner != middle {
        bail!(RuntimeError, "bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match");
    }
    supported("bmm_sparse_dense", a.dtype, !a.dtype.is_reduced_floating_point() && a.dtype != DType::Bool)?;
    let parts = expect_coo(a, "bmm")?;
    let mut coordinates = Coordinates::of(parts, a.sizes())?;
    let [batch, row, column] = coordinates.rows.as_mut_slice() else {
        bail!(RuntimeError, "a batch has three indices")
    };
    row.iter_mut().zip(&*batch).for_each(|(row, batch)| *row += batch * rows);
    column.iter_mut().zip(&*batch).for_each(|(column, batch)| *column += batch * inner);
    coordinates.rows.remove(0);
    let sizes = [checked_numel(&[count, rows])?, checked_numel(&[count, inner])?];
    let whole = coo(&sizes, coordinates.to_view()?, parts.values.clone(), parts.coalesced)?;
    let product = sparse_dense(&whole, &views::reshape(b, &[sizes[1], columns])?)?;
    views::reshape(&product, &[count, rows, columns])
}

/// Multiplies a dense by a sparse matrix; the result is dense.
pub fn dense_sparse(a: &View, b: &View) -> Result<View> {
    if a.ndim() != 2 || b.ndim() != 2 || a.sizes()[1] != b.sizes()[0] {
        if let ([_, given], [inner, _], true) = (a.sizes(), b.sizes(), b.coo().is_some()) {
            bail!(RuntimeError, "addmm: Argument #3 (dense): Expected dim 0 size {inner}, got {given}");
        }
        return mismatch(a, b);
    }
    check_dtype(b)?;
    let turned = to_layout(b, TensorLayout::SparseCoo)?;
    let (turned, dense) = (super::rearrange::permute(&turned, &[1, 0])?, views::transpose(a, 0, 1)?);
    let out = View::zeros(&product_sizes(&turned, &dense)?, a.dtype, Device::CPU)?;
    add_rounded(&out, &turned, &dense, if b.coo().is_some() { Rounding::Fused } else { Rounding::Apart })?;
    views::transpose(&out, 0, 1)
}

/// Multiplies two sparse matrices. The result is a coalesced COO matrix with every element that some pair of stored
/// elements contributes to.
pub fn sparse_sparse(a: &View, b: &View) -> Result<View> {
    if a.ndim() != 2 || b.ndim() != 2 || a.sizes()[1] != b.sizes()[0] {
        return mismatch(a, b);
    }
    let library = a.compressed().is_some() && b.compressed().is_some();
    let kernel = if library { "addmm_out_sparse_csr_impl_mkl_sparse" } else { "sparse_matmul" };
    supported(kernel, a.dtype, in_library(a.dtype))?;
    let (left, right) = (Rows::of(a, true)?, Rows::of(b, true)?);
    let sizes = [a.sizes()[0], b.sizes()[1]];
    if let Some(product) = product_by_rows(&left, &right, sizes[1])? {
        let nnz = product.columns.len();
        let indices = Coordinates { rows: vec![product.rows(), product.columns], nnz }.to_view()?;
        return coo(&sizes, indices, product.values, true);
    }
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    let mut rows = vec![Vec::new(), Vec::new()];
    for (n, row) in left.rows().into_iter().enumerate() {
        let inner = left.columns[n] as usize;
        for m in right.starts[inner]..right.starts[inner + 1] {
            limits::push(&mut lefts, n as i64)?;
            limits::push(&mut rights, m)?;
            limits::push(&mut rows[0], row)?;
            limits::push(&mut rows[1], right.columns[m as usize])?;
        }
        interrupt::check_at(n)?;
    }
    let values = multiply(&pick(&left.values, &lefts)?, &pick(&right.values, &rights)?)?;
    let nnz = lefts.len();
    let places = Coordinates { rows, nnz };
    let order = stable_order(&places.places(&sizes)?, checked_numel(&sizes)?)?;
    let (places, values) = match order {
        Some(order) => (places.at(&order), pick(&values, &order)?),
        None => (places, values),
    };
    merged(&sizes, &places, &values)
}

/// Adds up neighbours with the same index, in order.
fn merged(sizes: &[i64], places: &Coordinates, values: &View) -> Result<View> {
    let keys = places.places(sizes)?;
    let (mut firsts, mut others, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..keys.len() {
        if n > 0 && keys[n] == keys[n - 1] {
            others.push(n as i64);
            targets.push(firsts.len() as i64 - 1);
        } else {
            firsts.push(n as i64);
        }
    }
    let sums = pick(values, &firsts)?;
    accumulate(&sums, &targets, Some(&others), values)?;
    coo(sizes, places.at(&firsts).to_view()?, sums, true)
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
    supported("spmm_reduce_kernel", a.dtype, a.dtype.is_floating_point())?;
    let out = View::zeros(&[a.sizes()[0], b.sizes().last().copied().unwrap_or(0)], a.dtype, Device::CPU)?;
    let reduce = match reduce {
        "sum" => {
            product_sizes(a, b)?;
            add_sparse_dense(&out, a, b)?;
            return Ok(out);
        }
        "max" | "amax" => "amax",
        "min" | "amin" => "amin",
        "mean" => "mean",
        other => bail!(RuntimeError, "reduce argument must be either sum, mean, amax or amin, got {other}"),
    };
    let rows = Rows::of(a, false)?;
    let terms = multiply(&views::unsqueeze(&rows.values, 1)?, &pick(b, &rows.columns)?)?;
    index_reduce_(&out, 0, &vector(&rows.rows())?, &terms, reduce, false)?;
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
    let mut rows = Rows::of(sparse, false)?.rows();
    rows.dedup();
    Ok(rows)
}
