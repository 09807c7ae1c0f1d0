//! Solves with existing factors, and decomposes general and indefinite matrices.

use super::batch::{MatrixOrder, allocate_batch, each, read, write, write_vectors};
use super::field::Field;
use super::ldl::{self, Ldl};
use super::{Shape, check_floating, eig as general, info_tensor, lu, paired};
use crate::bail;
use crate::layout::broadcast_sizes;
use crate::ops::view;
use crate::{DType, Device, Dims, Result, Scalar, View};
use num_complex::Complex;

/// Solves `A X = B` or `Aᴴ X = B` for a factored `A`, or the same equations with X on the left.
pub fn lu_solve(factors: &View, pivots: &View, b: &View, left: bool, adjoint: bool) -> Result<View> {
    let name = "linalg.lu_solve";
    if pivots.dtype != DType::Int {
        bail!(RuntimeError, "{name}: pivots should be a Tensor of scalar type torch.int32");
    }
    let (x, y, shape) = paired(name, factors, b, left)?;
    if pivots.sizes().last() != factors.sizes().last() {
        bail!(RuntimeError, "{name}: Number of pivots per batch should be same as the dimension of the matrix");
    }
    let n = x.sizes().last().copied().unwrap_or(0) as usize;
    let sizes: Dims = shape.batch.iter().copied().chain([n as i64]).collect();
    let order = if left { MatrixOrder::Columns } else { MatrixOrder::Rows };
    if x.device().is_meta() {
        return allocate_batch(&shape.batch, shape.rows, shape.columns, order, factors.dtype, Device::META);
    }
    let given: Vec<i64> = view::expand(pivots, &sizes)?.scalars()?.into_iter().map(Scalar::to_i64).collect();
    if y.numel() == 0 {
        return allocate_batch(&shape.batch, shape.rows, shape.columns, order, factors.dtype, Device::CPU);
    }
    if given.iter().any(|&pivot| pivot < 1) {
        bail!(
            RuntimeError,
            "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of lu_factor?"
        );
    }
    if given.iter().any(|&pivot| pivot > n as i64) {
        bail!(
            RuntimeError,
            "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you properly pass the result of \
             lu_factor?"
        );
    }
    let exchanged: Vec<usize> = given.into_iter().map(|pivot| pivot as usize - 1).collect();
    by_field!(factors.dtype, "lu_solve_cpu", T => {
        let mut solutions = Vec::new();
        for (i, (matrix, mut side)) in read::<T>(&x)?.into_iter().zip(read::<T>(&y)?).enumerate() {
            let pivots = exchanged.get(i * n..(i + 1) * n).unwrap_or_default().to_vec();
            let factors = lu::Lu { factors: matrix, pivots, zero: None };
            // X A = B is Aᴴ Xᴴ = Bᴴ.
            if !left {
                side = side.adjoint()?;
            }
            if adjoint == left { factors.solve_adjoint(&mut side)? } else { factors.solve(&mut side)? }
            solutions.push(if left { side } else { side.adjoint()? });
        }
        write(&shape.batch, [shape.rows, shape.columns], order, solutions)
    })
}

/// Factors symmetric or Hermitian matrices. Returns L and D in one matrix, the exchanges, and the first zero block of
/// D.
pub fn ldl_factor(a: &View, hermitian: bool) -> Result<(View, View, View)> {
    let name = "torch.linalg.ldl_factor_ex";
    let shape = Shape::square(name, a)?;
    check_floating(name, a, true)?;
    let n = shape.rows;
    let sizes: Dims = shape.batch.iter().copied().chain([n as i64]).collect();
    if a.device().is_meta() {
        let factors = allocate_batch(&shape.batch, n, n, MatrixOrder::Columns, a.dtype, Device::META)?;
        let part = |sizes: &[i64]| View::zeros(sizes, DType::Int, Device::META);
        return Ok((factors, part(&sizes)?, part(&shape.batch)?));
    }
    by_field!(a.dtype, "ldl_factor_cpu", T => {
        let (mut factors, mut pivots, mut zeros) = (Vec::new(), Vec::new(), Vec::new());
        for matrix in read::<T>(a)? {
            let found = ldl::ldl(matrix, hermitian);
            factors.push(found.factors);
            pivots.extend(found.pivots.into_iter().map(Scalar::Int));
            zeros.push(found.zero.unwrap_or(0));
        }
        let factors = write(&shape.batch, [n, n], MatrixOrder::Columns, factors)?;
        Ok((factors, View::from_scalars(&sizes, DType::Int, pivots)?, info_tensor(&shape.batch, zeros)?))
    })
}

/// Solves `A X = B` for an `A` factored by [`ldl_factor`].
pub fn ldl_solve(factors: &View, pivots: &View, b: &View, hermitian: bool) -> Result<View> {
    let name = "torch.linalg.ldl_solve";
    let shape = Shape::square(name, factors)?;
    if b.ndim() < 2 {
        crate::layout::wrap_dim(-2, b.ndim())?;
    }
    let sides = Shape::of(name, b)?;
    check_floating(name, factors, true)?;
    let n = shape.rows;
    if sides.rows != n {
        bail!(
            RuntimeError,
            "Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix is {} by {}",
            sides.rows,
            sides.columns
        );
    }
    if b.dtype != factors.dtype {
        let (b, a) = (b.dtype.scalar_type(), factors.dtype.scalar_type());
        bail!(
            RuntimeError,
            "Expected b and A to have the same dtype, but found b of type {b} and A of type {a} instead."
        );
    }
    if !pivots.dtype.is_integral(false) {
        bail!(RuntimeError, "{name}: Expected pivots to be integers. Got {}", pivots.dtype.scalar_type());
    }
    let own: Dims = shape.batch.iter().copied().chain([n as i64]).collect();
    if pivots.sizes() != own.as_slice() {
        bail!(
            RuntimeError,
            "{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {} instead",
            crate::layout::show(pivots.sizes())
        );
    }
    let batch = broadcast_sizes(&shape.batch, &sides.batch)?;
    let spread = |view: &View, last: &[i64]| {
        let sizes: Dims = batch.iter().chain(last).copied().collect();
        view::expand(view, &sizes)
    };
    let width = sides.columns as i64;
    let (x, y) = (spread(factors, &[n as i64; 2])?, spread(b, &[n as i64, width])?);
    if x.device().is_meta() {
        return allocate_batch(&batch, n, sides.columns, MatrixOrder::Columns, b.dtype, Device::META);
    }
    let exchanged: Vec<i64> = spread(pivots, &[n as i64])?.scalars()?.into_iter().map(Scalar::to_i64).collect();
    by_field!(b.dtype, "ldl_solve_cpu", T => {
        let mut solutions = Vec::new();
        for (i, (factors, mut side)) in read::<T>(&x)?.into_iter().zip(read::<T>(&y)?).enumerate() {
            let pivots = exchanged.get(i * n..(i + 1) * n).unwrap_or_default().to_vec();
            Ldl { factors, pivots, zero: None }.solve(&mut side, hermitian);
            solutions.push(side);
        }
        write(&batch, [n, sides.columns], MatrixOrder::Columns, solutions)
    })
}

/// Computes complex eigenvalues and eigenvectors of general matrices.
///
/// # Errors
/// RuntimeError for matrices that are not square or not finite, LinAlgError if the iteration does not converge.
pub fn eig(name: &str, a: &View) -> Result<(View, View)> {
    let shape = Shape::square(name, a)?;
    let n = shape.rows;
    let complex = match a.dtype {
        DType::Float | DType::ComplexFloat => DType::ComplexFloat,
        DType::Double | DType::ComplexDouble => DType::ComplexDouble,
        DType::Half | DType::BFloat16 | DType::ComplexHalf => {
            bail!(RuntimeError, "\"linalg_eig_out_cpu\" not implemented for '{}'", a.dtype.scalar_type())
        }
        other => bail!(RuntimeError, "Unknown Complex ScalarType for {}", other.scalar_type()),
    };
    if a.device().is_meta() {
        let sizes: Dims = shape.batch.iter().copied().chain([n as i64]).collect();
        let vectors = allocate_batch(&shape.batch, n, n, MatrixOrder::Columns, complex, Device::META)?;
        return Ok((View::zeros(&sizes, complex, Device::META)?, vectors));
    }
    by_field!(a.dtype, "linalg_eig_out_cpu", T => {
        let found = each(read::<T>(a)?, n, |matrix| {
            if !matrix.has_only_finite() {
                bail!(RuntimeError, "torch.{name}: input tensor should not contain infs or NaNs.");
            }
            general::eig(matrix)
        })?;
        let (values, vectors): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        type C = Complex<<T as Field>::Real>;
        let values = write_vectors::<C>(&shape.batch, n, values)?;
        Ok((values, write::<C>(&shape.batch, [n, n], MatrixOrder::Columns, vectors)?))
    })
}

/// Computes complex eigenvalues of general matrices.
///
/// # Errors
/// Those of [`eig`].
pub fn eigvals(name: &str, a: &View) -> Result<View> {
    eig(name, a).map(|(values, _)| values)
}
