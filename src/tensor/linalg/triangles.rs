//! Solves with triangular matrices and with Cholesky factors.

use super::batch::{MatrixOrder, allocate_batch, each, read, write};
use super::lu::{self, Triangular};
use super::{Shape, paired};
use crate::bail;
use crate::ops::copy::copy_into;
use crate::ops::pointwise::conj;
use crate::ops::view;
use crate::{DType, Device, Dims, Result, Scalar, View};
use num_complex::Complex;

/// Solves a triangular `A X = B` or `X A = B`, in the dtype of `A`.
pub fn solve_triangular(a: &View, b: &View, upper: bool, left: bool, unit: bool) -> Result<View> {
    let b = crate::ops::copy::cast(b, a.dtype)?;
    let (x, y, shape) = paired("linalg.solve_triangular", a, &b, left)?;
    let sizes = [shape.rows, shape.columns];
    // The library reads a conjugated column-major matrix by rows; the result then has this layout too.
    let by_rows = a.conj && a.ndim() >= 2 && view::matrix_t(a)?.layout.is_contiguous();
    let order = if by_rows { MatrixOrder::Rows } else { MatrixOrder::Columns };
    if x.device().is_meta() {
        return allocate_batch(&shape.batch, sizes[0], sizes[1], order, a.dtype, Device::META);
    }
    solve_with_triangles(&x, &y, &shape.batch, (Triangular { upper, unit }, left, order), "triangular_solve_cpu")
}

/// Solves with triangles that already have the result's batch.
fn solve_with_triangles(
    x: &View,
    y: &View,
    batch: &[i64],
    (shape, left, order): (Triangular, bool, MatrixOrder),
    kernel: &str,
) -> Result<View> {
    let sizes = Shape::of("", y)?;
    by_field!(x.dtype, kernel, T => {
        let both: Vec<_> = read::<T>(x)?.into_iter().zip(read::<T>(y)?).collect();
        let solutions = each(both, sizes.rows.min(sizes.columns), |(matrix, side)| {
            // X A = B is Aᵀ Xᵀ = Bᵀ.
            let (matrix, mut side) = if left { (matrix, side) } else { (matrix.transpose()?, side.transpose()?) };
            let shape = Triangular { upper: shape.upper == left, ..shape };
            match side.columns {
                1 => lu::solve_column(&matrix, &mut side, shape),
                _ => lu::solve_triangular(&matrix, &mut side, shape)?,
            }
            if left { Ok(side) } else { side.transpose() }
        })?;
        write(batch, [sizes.rows, sizes.columns], order, solutions)
    })
}

/// Broadcasts both sides of the older solvers' equations to one batch, with their error messages.
fn older_pair(name: &str, b: &View, a: &View) -> Result<(View, View, Shape)> {
    if a.dtype != b.dtype {
        let (b, a) = (b.dtype.scalar_type(), a.dtype.scalar_type());
        bail!(
            RuntimeError,
            "Expected b and A to have the same dtype, but found b of type {b} and A of type {a} instead."
        );
    }
    let (sa, sb) = (Shape::of(name, a)?, Shape::of(name, b)?);
    if sa.rows != sa.columns {
        bail!(
            RuntimeError,
            "A must be batches of square matrices, but they are {} by {} matrices",
            sa.rows,
            sa.columns
        );
    }
    if sa.rows != sb.rows {
        bail!(
            RuntimeError,
            "Incompatible matrix sizes for {name}: each A matrix is {} by {} but each b matrix is {} by {}",
            sa.rows,
            sa.rows,
            sb.rows,
            sb.columns
        );
    }
    paired(name, a, b, true)
}

/// Solves a triangular `A X = B` or `Aᵀ X = B`, and returns the solution and a copy of `A`.
pub fn triangular_solve(b: &View, a: &View, upper: bool, turned: bool, unit: bool) -> Result<(View, View)> {
    for (what, view) in [("b", b), ("A", a)] {
        if view.ndim() < 2 {
            bail!(
                RuntimeError,
                "torch.triangular_solve: Expected {what} to have at least 2 dimensions, but it has {} dimensions instead",
                view.ndim()
            );
        }
    }
    let (x, y, shape) = older_pair("triangular_solve", b, a)?;
    let copy = allocate_batch(&shape.batch, shape.rows, shape.rows, MatrixOrder::Columns, a.dtype, a.device())?;
    if x.device().is_meta() {
        return Ok((
            allocate_batch(&shape.batch, shape.rows, shape.columns, MatrixOrder::Columns, a.dtype, Device::META)?,
            copy,
        ));
    }
    copy_into(&copy, &x)?;
    let coefficient = if turned { view::matrix_t(&x)? } else { x };
    let how = (Triangular { upper: upper != turned, unit }, true, MatrixOrder::Columns);
    Ok((solve_with_triangles(&coefficient, &y, &shape.batch, how, "triangular_solve_cpu")?, copy))
}

/// Solves `A X = B` given the Cholesky factor of `A`.
pub fn cholesky_solve(b: &View, factor: &View, upper: bool) -> Result<View> {
    let ndim = factor.ndim() as i64;
    if ndim < 2 || b.ndim() < 2 {
        let which = if b.ndim() < 2 { ("b", b.ndim()) } else { ("u", factor.ndim()) };
        bail!(RuntimeError, "{} should have at least 2 dimensions, but has {} dimensions instead", which.0, which.1);
    }
    let (x, y, shape) = older_pair("cholesky_solve", b, factor)?;
    solve_with_factor(&x, &y, &shape.batch, upper, "cholesky_solve_cpu")
}

/// Solves with a Cholesky factor and its adjoint.
fn solve_with_factor(factor: &View, b: &View, batch: &[i64], upper: bool, kernel: &str) -> Result<View> {
    if factor.device().is_meta() {
        let shape = Shape::of("", b)?;
        return allocate_batch(batch, shape.rows, shape.columns, MatrixOrder::Columns, factor.dtype, Device::META);
    }
    let turned = conj(&view::matrix_t(factor)?);
    let (first, second) = if upper { (&turned, factor) } else { (factor, &turned) };
    let how = |upper| (Triangular { upper, unit: false }, true, MatrixOrder::Columns);
    let half = solve_with_triangles(first, b, batch, how(false), kernel)?;
    solve_with_triangles(second, &half, batch, how(true), kernel)
}

/// Inverts a matrix given its Cholesky factor.
pub fn cholesky_inverse(factor: &View, upper: bool) -> Result<View> {
    let shape = Shape::square("cholesky_inverse", factor)?;
    let sizes: Dims = shape.batch.iter().copied().chain([shape.rows as i64; 2]).collect();
    let identity = View::zeros(&sizes, factor.dtype, factor.device())?;
    let ones = crate::ops::create::eye(shape.rows as i64, shape.rows as i64, factor.dtype, factor.device())?;
    copy_into(&identity, &ones)?;
    let inverse = solve_with_factor(factor, &identity, &shape.batch, upper, "cholesky_inverse_out_cpu")?;
    if inverse.dtype.is_complex() && !inverse.device().is_meta() {
        // A Hermitian matrix is real along the diagonal.
        let diagonal = view::diagonal(&inverse, 0, -2, -1)?;
        crate::ops::copy::fill(&diagonal.complex_part(true), Scalar::Int(0))?;
    }
    Ok(inverse)
}
