//! Least squares, like LAPACK's gels, gelsy, gelsd and gelss: by QR decomposition, by rank-revealing QR decomposition
//! with column exchanges, and by singular values.

use super::batch::{MatrixOrder, read, write, write_vectors};
use super::field::Field;
use super::lu::{Triangular, solve_column, solve_triangular};
use super::matrix::Matrix;
use super::qr::{apply_q, qr, reflect_left, reflection, upper, vector};
use super::rotation::triangular_pair;
use super::{Shape, svd};
use crate::bail;
use crate::layout::broadcast_sizes;
use crate::ops::number::Real;
use crate::ops::reduce::sum;
use crate::ops::view;
use crate::{DType, Device, Dims, Result, Scalar, View, interrupt};
use num_complex::Complex;
use num_traits::{Float, One, Zero};

/// The LAPACK routine to use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    Gels,
    Gelsy,
    Gelsd,
    Gelss,
}

/// A solution, the squared lengths of the residuals, ranks, and singular values, as far as the driver computes them.
pub struct LeastSquares {
    pub solution: View,
    pub residuals: View,
    pub rank: View,
    pub values: View,
}

/// The solution of one matrix; in `sides`, the rows below the solution are the residual.
struct Solution<T: Field> {
    sides: Matrix<T>,
    rank: usize,
    values: Vec<T::Real>,
}

/// Computes the minimum-norm solution of `min |A X - B|`.
///
/// # Errors
/// RuntimeError for sizes that do not match; LinAlgError if `gels` is applied to a rank-deficient matrix.
pub fn lstsq(a: &View, b: &View, rcond: Option<f64>, driver: Driver) -> Result<LeastSquares> {
    let name = "torch.linalg.lstsq";
    let vector = b.ndim() + 1 == a.ndim();
    let sides = if vector { view::unsqueeze(b, -1)? } else { b.clone() };
    let (shape, other) = (Shape::of(name, a)?, Shape::of(name, &sides)?);
    let (m, n, width) = (shape.rows, shape.columns, other.columns);
    let (least, most) = (m.min(n), m.max(n));
    let batch = broadcast_sizes(&shape.batch, &other.batch)?;
    let spread = |view: &View, rows: usize, columns: usize| {
        let sizes: Dims = batch.iter().copied().chain([rows as i64, columns as i64]).collect();
        view::expand(view, &sizes)
    };
    let epsilon = if a.dtype.to_real() == DType::Float { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let rcond = rcond.unwrap_or(epsilon * most as f64);
    let (wide_a, wide_b) = (spread(a, m, n)?, spread(&sides, m, width)?);
    by_field!(a.dtype, "linalg_lstsq_cpu", T => {
        type R = <T as Field>::Real;
        let limit = <R as Real>::from_f64(rcond);
        let mut solved = Vec::new();
        for (i, (matrix, side)) in read::<T>(&wide_a)?.into_iter().zip(read::<T>(&wide_b)?).enumerate() {
            interrupt::check()?;
            let side = extended(&side, most)?;
            solved.push(match driver {
                _ if m == 0 || n == 0 => Solution { sides: side, rank: 0, values: Vec::new() },
                Driver::Gels => by_qr(matrix, side, if batch.is_empty() { None } else { Some(i) })?,
                Driver::Gelsy => by_rank(matrix, side, limit)?,
                Driver::Gelsd | Driver::Gelss => by_values(&matrix, side, limit)?,
            });
        }
        let own = shape.batch.iter().product::<i64>() as usize;
        let full_rank = driver == Driver::Gels || solved.iter().all(|solved| solved.rank == n);
        let nothing = |dtype| View::zeros(&[0], dtype, Device::CPU);
        let real = a.dtype.to_real();
        let residuals = if m > n && driver != Driver::Gelsy && full_rank {
            let squares = solved.iter().map(|solved| squares(&solved.sides, n, m)).collect::<Result<Vec<_>>>()?;
            sum(&write(&batch, [m - n, width], MatrixOrder::Rows, squares)?, Some(&[-2]), false, None)?
        } else {
            nothing(real)?
        };
        let rank = if driver == Driver::Gels {
            nothing(DType::Long)?
        } else {
            let ranks = solved.iter().take(own).map(|solved| Scalar::Int(solved.rank as i64));
            View::from_scalars(&shape.batch, DType::Long, ranks)?
        };
        let values = if matches!(driver, Driver::Gelsd | Driver::Gelss) {
            write_vectors(&shape.batch, least, solved.iter().take(own).map(|solved| solved.values.clone()))?
        } else {
            nothing(real)?
        };
        let whole = write(&batch, [most, width], MatrixOrder::Columns, solved.into_iter().map(|solved| solved.sides))?;
        let solution = view::narrow(&whole, -2, 0, n as i64)?;
        if m == 0 {
            crate::ops::copy::fill(&solution, Scalar::Int(0))?;
        }
        let solution = if vector { view::squeeze(&solution, Some(&[-1]))? } else { solution };
        Ok(LeastSquares { solution, residuals, rank, values })
    })
}

/// Copies a matrix to one with `rows` rows; further rows are zero.
fn extended<T: Field>(matrix: &Matrix<T>, rows: usize) -> Result<Matrix<T>> {
    let mut out = Matrix::zeros(rows, matrix.columns)?;
    for (i, j) in matrix.places().filter(|&(i, _)| i < rows) {
        out[(i, j)] = matrix[(i, j)];
    }
    Ok(out)
}

/// Returns the squared magnitudes of some rows.
fn squares<T: Field>(matrix: &Matrix<T>, from: usize, to: usize) -> Result<Matrix<T::Real>> {
    let mut out = Matrix::zeros(to - from, matrix.columns)?;
    for (i, j) in out.places() {
        let value = matrix[(from + i, j)];
        out[(i, j)] = value.re() * value.re() + value.im() * value.im();
    }
    Ok(out)
}

/// Solves with the leading block of a triangular matrix for the first rows of the right-hand sides.
fn solve_first<T: Field>(a: &Matrix<T>, sides: &mut Matrix<T>, count: usize, upper: bool) -> Result<()> {
    let (mut corner, mut part) = (Matrix::zeros(count, count)?, Matrix::zeros(count, sides.columns)?);
    for (i, j) in corner.places() {
        corner[(i, j)] = a[(i, j)];
    }
    for (i, j) in part.places() {
        part[(i, j)] = sides[(i, j)];
    }
    match part.columns {
        1 => solve_column(&corner, &mut part, Triangular { upper, unit: false }),
        _ => solve_triangular(&corner, &mut part, Triangular { upper, unit: false })?,
    }
    for (i, j) in part.places() {
        sides[(i, j)] = part[(i, j)];
    }
    Ok(())
}

/// Sets rows of the right-hand sides to zero, starting at `from`.
fn clear<T: Field>(sides: &mut Matrix<T>, from: usize) {
    for (i, j) in sides.places().filter(|&(i, _)| i >= from) {
        sides[(i, j)] = T::zero();
    }
}

/// Solves by the QR decomposition of a tall matrix, or of the adjoint of a wide one.
fn by_qr<T: Field>(a: Matrix<T>, mut sides: Matrix<T>, element: Option<usize>) -> Result<Solution<T>> {
    let (m, n) = (a.rows, a.columns);
    let least = m.min(n);
    if a.places().all(|place| a[place].is_zero()) {
        clear(&mut sides, 0);
        return Ok(Solution { sides, rank: 0, values: Vec::new() });
    }
    let (factored, taus) = qr(if m >= n { a } else { a.adjoint()? })?;
    if let Some(zero) = (0..least).find(|&i| factored[(i, i)].is_zero()) {
        let place = element.map_or(String::new(), |element| format!("(Batch element {element}): "));
        bail!(
            LinAlgError,
            "torch.linalg.lstsq: {place}The least squares solution could not be computed because the input matrix does not \
             have full rank (error code: {}).",
            zero + 1
        );
    }
    if m >= n {
        apply_q(&factored, &taus, &mut sides, true, true)?;
        solve_first(&factored, &mut sides, n, true)?;
    } else {
        solve_first(&factored.adjoint()?, &mut sides, m, false)?;
        clear(&mut sides, m);
        apply_q(&factored, &taus, &mut sides, true, false)?;
    }
    Ok(Solution { sides, rank: least, values: Vec::new() })
}

/// `A P = Q R` with decreasing magnitudes on the diagonal of R. Returns R with the reflectors, their factors, and the
/// original index of each column.
fn pivoted_qr<T: Field>(mut a: Matrix<T>) -> Result<(Matrix<T>, Vec<T>, Vec<usize>)> {
    let (m, n) = (a.rows, a.columns);
    let mut order: Vec<usize> = (0..n).collect();
    let mut taus = Vec::new();
    let length = |a: &Matrix<T>, column: usize, from: usize| {
        (from..m).fold(T::Real::zero(), |length, i| Float::hypot(length, a[(i, column)].magnitude()))
    };
    // The norms of the rest of each column, and the norms last computed from the elements.
    let mut left: Vec<T::Real> = (0..n).map(|column| length(&a, column, 0)).collect();
    let mut computed = left.clone();
    let root = Float::sqrt(<T::Real as Float>::epsilon());
    for j in 0..m.min(n) {
        interrupt::check()?;
        let first = (j, left[j]);
        let longest = (j..n).map(|column| (column, left[column]));
        let longest = longest.fold(first, |best, own| if own.1 > best.1 { own } else { best });
        left.swap(j, longest.0);
        computed.swap(j, longest.0);
        a.swap_columns(j, longest.0);
        order.swap(j, longest.0);
        let found = reflection(a[(j, j)], (j + 1..m).map(|i| a[(i, j)]));
        for i in j + 1..m {
            a[(i, j)] = found.own(a[(i, j)]);
        }
        a[(j, j)] = T::of(found.beta);
        let v = vector(&a, j);
        reflect_left(&mut a, j, j + 1, &v, found.tau.conj());
        taus.push(found.tau);
        for column in j + 1..n {
            if left[column].is_zero() {
                continue;
            }
            let gone = a[(j, column)].magnitude() / left[column];
            let kept = Float::max(T::Real::one() - gone * gone, T::Real::zero());
            let since = left[column] / computed[column];
            if kept * since * since <= root {
                left[column] = length(&a, column, j + 1);
                computed[column] = left[column];
            } else {
                left[column] = left[column] * Float::sqrt(kept);
            }
        }
    }
    Ok((a, taus, order))
}

/// Returns the number of leading rows and columns of R that are sufficiently well conditioned. The estimates of the
/// extreme singular values are updated with each one, as in `laic1`.
fn rank_of<T: Field>(r: &Matrix<T>, limit: T::Real) -> usize {
    let least = r.rows.min(r.columns);
    let first = r[(0, 0)].magnitude();
    if first.is_zero() {
        return 0;
    }
    // Left singular vectors and values: of the largest, and of the smallest singular value.
    let mut extremes = [(vec![T::one()], first), (vec![T::one()], first)];
    for k in 1..least {
        let gamma = r[(k, k)];
        let grown = [0, 1].map(|which| {
            let (x, value) = &extremes[which];
            let alpha = x.iter().enumerate().fold(T::zero(), |sum, (i, x)| sum + x.conj() * r[(i, k)]);
            let ([small, large], _, [c, s]) = triangular_pair(*value, alpha.magnitude(), gamma.magnitude());
            let (value, kept, added) = if which == 0 { (large, c, s) } else { (small, -s, c) };
            let phase = |z: T| if z.is_zero() { T::one() } else { z / T::of(z.magnitude()) };
            let mut x: Vec<T> = x.iter().map(|x| x.scale(kept)).collect();
            x.push((phase(alpha).conj() * phase(gamma)).scale(added));
            (x, Float::abs(value))
        });
        if grown[0].1 * limit > grown[1].1 {
            return k;
        }
        extremes = grown;
    }
    least
}

/// Solves by a rank-revealing QR decomposition; parts beyond the rank count as zero.
fn by_rank<T: Field>(a: Matrix<T>, mut sides: Matrix<T>, limit: T::Real) -> Result<Solution<T>> {
    let n = a.columns;
    let (factored, taus, order) = pivoted_qr(a)?;
    let rank = rank_of(&factored, limit);
    apply_q(&factored, &taus, &mut sides, true, true)?;
    if rank == n {
        solve_first(&factored, &mut sides, n, true)?;
    } else {
        // The first `rank` rows of R are a triangle times the adjoint of another Q.
        let mut rows = Matrix::zeros(n, rank)?;
        for j in 0..rank {
            for i in j..n {
                rows[(i, j)] = factored[(j, i)].conj();
            }
        }
        let (inner, inner_taus) = qr(rows)?;
        if rank > 0 {
            solve_first(&inner.adjoint()?, &mut sides, rank, false)?;
        }
        clear(&mut sides, rank);
        let mut first = extended(&sides, n)?;
        apply_q(&inner, &inner_taus, &mut first, true, false)?;
        for (i, j) in first.places() {
            sides[(i, j)] = first[(i, j)];
        }
    }
    let mut solution = sides.clone();
    for (from, &to) in order.iter().enumerate() {
        for j in 0..sides.columns {
            solution[(to, j)] = sides[(from, j)];
        }
    }
    Ok(Solution { sides: solution, rank, values: Vec::new() })
}

/// Solves by singular values. For a tall matrix, the residual is stored below the solution.
fn by_values<T: Field>(a: &Matrix<T>, mut sides: Matrix<T>, limit: T::Real) -> Result<Solution<T>> {
    let (m, n) = (a.rows, a.columns);
    if !a.has_only_finite() {
        bail!(
            LinAlgError,
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
        );
    }
    // A tall matrix is reduced to its R.
    let reduced = if m > n {
        let (factored, taus) = qr(a.clone())?;
        apply_q(&factored, &taus, &mut sides, true, true)?;
        upper(&factored, n)?
    } else {
        a.clone()
    };
    let found = svd::svd(&reduced, svd::Vectors::Reduced)?;
    let largest = found.values.first().copied().unwrap_or_else(T::Real::zero);
    let limit = Float::max(limit * largest, <T::Real as Float>::min_positive_value());
    let rank = found.values.iter().filter(|&&value| value > limit).count();
    let rows = m.min(n);
    let mut first = Matrix::zeros(rows, sides.columns)?;
    for (i, j) in first.places() {
        first[(i, j)] = sides[(i, j)];
    }
    let mut turned = found.u.adjoint()?.times(&first)?;
    for (i, j) in turned.places() {
        turned[(i, j)] = if i < rank { turned[(i, j)].scale(T::Real::one() / found.values[i]) } else { T::zero() };
    }
    let solution = found.vh.adjoint()?.times(&turned)?;
    for (i, j) in solution.places() {
        sides[(i, j)] = solution[(i, j)];
    }
    Ok(Solution { sides, rank, values: found.values })
}
