//! Results that depend on a tolerance: pseudoinverses, ranks and least squares.

use super::eigh::eigh;
use super::field::Field;
use super::matrix::{Order, read, room, write};
use super::{Shape, svd};
use crate::bail;
use crate::ops::view;
use crate::tensor::layout::broadcast_sizes;
use crate::tensor::{DType, Device, Dims, Result, Scalar, View};
use num_complex::Complex;
use num_traits::{Float, One, Zero};

fn shape(a: &View, name: &str, hermitian: bool) -> Result<Shape> {
    if hermitian { Shape::square("linalg.eigh", a) } else { Shape::of(name, a) }
}

/// The pseudoinverse: singular values no larger than the tolerances count as zero. Of Hermitian matrices only the lower
/// triangle is read, and their eigenvalues are taken.
pub fn pinv(a: &View, atol: Option<f64>, rtol: Option<f64>, hermitian: bool) -> Result<View> {
    let shape = shape(a, "linalg.pinv", hermitian)?;
    let (m, n) = (shape.rows, shape.columns);
    if a.device().is_meta() {
        return room(&shape.batch, n, m, Order::Rows, a.dtype, Device::META);
    }
    by_field!(a.dtype, "linalg_svd_cpu", T => {
        let mut inverses = Vec::new();
        for matrix in read::<T>(a)? {
            let (u, values, mut scaled) = if hermitian {
                let (values, vectors) = eigh(matrix, false)?;
                (vectors.clone(), values, vectors)
            } else {
                let found = svd::svd(&matrix, false)?;
                (found.u, found.values, found.vh.adjoint()?)
            };
            let limit = tolerance::<T>(&values, m, n, atol, rtol);
            for (j, &value) in values.iter().enumerate() {
                let counts = Float::abs(value) > limit;
                let inverse = if counts { <T as Field>::Real::one() / value } else { <T as Field>::Real::zero() };
                for i in 0..n {
                    scaled[(i, j)] = scaled[(i, j)].scale(inverse);
                }
            }
            inverses.push(scaled.times(&u.adjoint()?)?);
        }
        write(&shape.batch, [n, m], Order::Rows, inverses)
    })
}

/// Up to where singular values count as zero.
fn tolerance<T: Field>(values: &[T::Real], m: usize, n: usize, atol: Option<f64>, rtol: Option<f64>) -> T::Real {
    use crate::ops::number::Real;
    let epsilon = <T::Real as Float>::epsilon().as_f64();
    // A given absolute tolerance does away with the default relative one.
    let rtol = rtol.unwrap_or(if atol.is_some_and(|atol| atol > 0.0) { 0.0 } else { epsilon * m.max(n) as f64 });
    let largest = values.iter().map(|value| value.as_f64().abs()).fold(0.0, f64::max);
    <T::Real as Real>::from_f64(atol.unwrap_or(0.0).max(rtol * largest))
}

/// Counts the singular values that exceed the tolerances.
pub fn matrix_rank(a: &View, atol: Option<f64>, rtol: Option<f64>, hermitian: bool) -> Result<View> {
    if a.ndim() < 2 {
        bail!(RuntimeError, "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.");
    }
    let shape = shape(a, "linalg.matrix_rank", hermitian)?;
    if a.device().is_meta() {
        return View::zeros(&shape.batch, DType::Long, Device::META);
    }
    by_field!(a.dtype, "linalg_svd_cpu", T => {
        let mut ranks = Vec::new();
        for matrix in read::<T>(a)? {
            let values = if hermitian { eigh(matrix, false)?.0 } else { svd::svd(&matrix, false)?.values };
            let limit = tolerance::<T>(&values, shape.rows, shape.columns, atol, rtol);
            ranks.push(Scalar::Int(values.into_iter().filter(|&value| Float::abs(value) > limit).count() as i64));
        }
        View::from_scalars(&shape.batch, DType::Long, ranks)
    })
}

/// The least-squares solution of smallest norm, the residuals, the rank and the singular values.
pub fn lstsq(a: &View, b: &View, rcond: Option<f64>) -> Result<(View, View)> {
    let name = "torch.linalg.lstsq";
    let shape = Shape::of(name, a)?;
    let inverse = pinv(a, None, rcond, false)?;
    let vector = b.ndim() + 1 == a.ndim();
    let sides = if vector { view::unsqueeze(b, -1)? } else { b.clone() };
    let other = Shape::of(name, &sides)?;
    if other.rows != shape.rows {
        bail!(
            RuntimeError,
            "torch.linalg.lstsq: input.size(-2) should match other.size(-{})",
            if vector { 1 } else { 2 }
        );
    }
    by_field!(a.dtype, "linalg_lstsq_cpu", T => {
        let batch = broadcast_sizes(&shape.batch, &other.batch)?;
        let spread = |view: &View, rows: usize, columns: usize| {
            let sizes: Dims = batch.iter().copied().chain([rows as i64, columns as i64]).collect();
            view::expand(view, &sizes)
        };
        let inverse = spread(&inverse, shape.columns, shape.rows)?;
        let sides = spread(&sides, other.rows, other.columns)?;
        let mut solutions = Vec::new();
        for (inverse, side) in read::<T>(&inverse)?.into_iter().zip(read::<T>(&sides)?) {
            solutions.push(inverse.times(&side)?);
        }
        let solution = write(&batch, [shape.columns, other.columns], Order::Columns, solutions)?;
        let solution = if vector { view::squeeze(&solution, Some(&[-1]))? } else { solution };
        Ok((solution, matrix_rank(a, None, rcond, false)?))
    })
}
