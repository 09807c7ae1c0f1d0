//! `torch.linalg`: solving, inverting and decomposing matrices. Follows <https://pytorch.org/docs/2.7/linalg.html>.
//!
//! Each decomposition computes in the operand's own precision and makes LAPACK's choices of sign and order. This file
//! handles tensors, batches and errors; the algorithms are in the submodules and work on single matrices.

/// Runs the body with `$T` naming the number type of a dtype for which decompositions exist.
macro_rules! by_field {
    ($dtype:expr, $kernel:expr, $T:ident => $body:expr) => {
        match $dtype {
            DType::Float => {
                type $T = f32;
                $body
            }
            DType::Double => {
                type $T = f64;
                $body
            }
            DType::ComplexFloat => {
                type $T = Complex<f32>;
                $body
            }
            DType::ComplexDouble => {
                type $T = Complex<f64>;
                $body
            }
            other => bail!(RuntimeError, "\"{}\" not implemented for '{}'", $kernel, other.scalar_type()),
        }
    };
}

mod batch;
mod eig;
mod eigh;
mod exponential;
mod factored;
mod field;
mod ldl;
mod lstsq;
mod lu;
mod matrix;
mod pseudo;
mod qr;
mod rotation;
mod schur;
mod svd;
mod triangles;

pub use exponential::matrix_exp;
pub use factored::{eig, eigvals, ldl_factor, ldl_solve, lu_solve};
pub use lstsq::{Driver, LeastSquares, lstsq};
pub use pseudo::{Tolerances, epsilon, matrix_rank, pinv};
pub use svd::Vectors;
pub use triangles::{cholesky_inverse, cholesky_solve, solve_triangular, triangular_solve};

use crate::bail;
use crate::layout::{Dims, broadcast_sizes, show};
use crate::ops::copy::copy_into;
use crate::ops::view;
use crate::{DType, Device, Layout, Result, Scalar, View};
use batch::{MatrixOrder, allocate_batch, each, read, read_turned, write, write_vectors};
use field::Field;
use lu::{cholesky as cholesky_factor, lu as lu_factors};
use matrix::Matrix;
use num_complex::Complex;
use num_traits::{Float, One, Zero};

/// The last two dimensions of a tensor, and the batch dimensions.
pub struct Shape {
    pub batch: Dims,
    pub rows: usize,
    pub columns: usize,
}

impl Shape {
    /// Interprets a tensor as a batch of matrices.
    ///
    /// # Errors
    /// RuntimeError for fewer than two dimensions.
    pub fn of(name: &str, view: &View) -> Result<Shape> {
        match view.sizes() {
            [batch @ .., rows, columns] => {
                Ok(Shape { batch: Dims::from_slice(batch), rows: *rows as usize, columns: *columns as usize })
            }
            _ => bail!(RuntimeError, "{name}: The input tensor A must have at least 2 dimensions."),
        }
    }

    /// Like [`Shape::of`], with the error message of factorizations by elimination.
    ///
    /// # Errors
    /// RuntimeError for fewer than two dimensions.
    pub(crate) fn of_two_or_more(name: &str, view: &View) -> Result<Shape> {
        if view.ndim() < 2 {
            let got = show(view.sizes());
            bail!(RuntimeError, "{name}: Expected tensor with 2 or more dimensions. Got size: {got} instead");
        }
        Shape::of(name, view)
    }

    /// Interprets a tensor as a batch of square matrices.
    ///
    /// # Errors
    /// RuntimeError for fewer than two dimensions and for matrices that are not square.
    pub fn square(name: &str, view: &View) -> Result<Shape> {
        let shape = Shape::of(name, view)?;
        if shape.rows != shape.columns {
            let (m, n) = (shape.rows, shape.columns);
            bail!(RuntimeError, "{name}: A must be batches of square matrices, but they are {m} by {n} matrices");
        }
        Ok(shape)
    }
}

/// Refuses tensors that are not floating or complex and, unless `low_precision` is set, 16-bit floats.
pub fn check_floating(name: &str, view: &View, low_precision: bool) -> Result<()> {
    let got = view.dtype.scalar_type();
    if !view.dtype.is_differentiable() {
        bail!(RuntimeError, "{name}: Expected a floating point or complex tensor as input. Got {got}");
    }
    let low = view.dtype.is_reduced_floating_point() || view.dtype == DType::ComplexHalf;
    if low && !low_precision {
        bail!(RuntimeError, "{name}: Low precision dtypes not supported. Got {got}");
    }
    Ok(())
}

/// Creates the `int32` tensor `info` with a number for each matrix of a batch.
fn info_tensor(batch: &[i64], values: impl IntoIterator<Item = usize>) -> Result<View> {
    View::from_scalars(batch, DType::Int, values.into_iter().map(|v| Scalar::Int(v as i64)))
}

/// Returns the first matrix that failed, as the beginning of an error message, and its number.
pub fn first_failure(info: &View) -> Result<Option<(String, i64)>> {
    let failed = info.scalars()?.into_iter().map(Scalar::to_i64).enumerate().find(|&(_, info)| info != 0);
    Ok(failed.map(|(i, number)| {
        let place = if info.ndim() > 0 { format!("(Batch element {i}): ") } else { String::new() };
        (place, number)
    }))
}

/// Returns whether PyTorch factors the transpose of such a matrix. LAPACK reads matrices by columns, so this saves a
/// copy, but it rounds all results differently.
fn is_factored_transposed(a: &View) -> bool {
    a.layout.is_contiguous() && !a.dtype.is_complex()
}

/// Returns the inverse and, for each matrix, the position of the first zero on the diagonal of its U.
pub fn inv(name: &str, a: &View) -> Result<(View, View)> {
    let shape = Shape::square(name, a)?;
    check_floating(name, a, false)?;
    let n = shape.rows;
    if a.device().is_meta() {
        let inverse = allocate_batch(&shape.batch, n, n, MatrixOrder::Columns, a.dtype, a.device())?;
        return Ok((inverse, View::zeros(&shape.batch, DType::Int, Device::META)?));
    }
    by_field!(a.dtype, "lu_cpu", T => {
        let turned = is_factored_transposed(a);
        let found = each(read_turned::<T>(a, turned)?, n, |matrix| {
            let factors = lu_factors(matrix)?;
            let mut inverse = Matrix::identity(n, n)?;
            if turned { factors.solve_transposed(&mut inverse)? } else { factors.solve(&mut inverse)? }
            Ok((inverse, factors.zero.unwrap_or(0)))
        })?;
        let (inverses, zeros): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        Ok((write(&shape.batch, [n, n], MatrixOrder::Columns, inverses)?, info_tensor(&shape.batch, zeros)?))
    })
}

/// Returns the determinant's sign and the logarithm of its magnitude.
pub fn slogdet(name: &str, a: &View) -> Result<(View, View)> {
    let shape = Shape::square(name, a)?;
    check_floating(name, a, false)?;
    if a.device().is_meta() {
        let part = |dtype| View::zeros(&shape.batch, dtype, Device::META);
        return Ok((part(a.dtype)?, part(a.dtype.to_real())?));
    }
    by_field!(a.dtype, "lu_cpu", T => {
        let turned = is_factored_transposed(a);
        let found = each(read_turned::<T>(a, turned)?, shape.rows, |matrix| {
            let factors = lu_factors(matrix)?;
            let mut sign = T::of(if factors.is_odd() { -<T as Field>::Real::one() } else { <T as Field>::Real::one() });
            let mut logarithm = <T as Field>::Real::zero();
            for i in 0..shape.rows {
                let value = factors.factors[(i, i)];
                let size = value.magnitude();
                let own = if value.im().is_zero() { T::of(Float::signum(value.re())) } else { value / T::of(size) };
                sign = if value.is_zero() { T::zero() } else { sign * own };
                logarithm += Float::ln(size);
            }
            Ok((vec![sign], vec![logarithm]))
        })?;
        let (signs, logarithms): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let scalars = |view: View| view.with_layout(Layout::contiguous(&shape.batch));
        let signs = scalars(write_vectors::<T>(&shape.batch, 1, signs)?);
        Ok((signs, scalars(write_vectors::<<T as Field>::Real>(&shape.batch, 1, logarithms)?)))
    })
}

/// Computes the determinant.
pub fn det(a: &View) -> Result<View> {
    let shape = Shape::square("linalg.det", a)?;
    check_floating("linalg.det", a, true)?;
    if a.device().is_meta() {
        return View::zeros(&shape.batch, a.dtype, Device::META);
    }
    by_field!(a.dtype, "lu_cpu", T => {
        let turned = is_factored_transposed(a);
        let values = each(read_turned::<T>(a, turned)?, shape.rows, |matrix| {
            let factors = lu_factors(matrix)?;
            let product = (0..shape.rows).fold(T::one(), |product, i| product * factors.factors[(i, i)]);
            let sign = T::of(if factors.is_odd() { -<T as Field>::Real::one() } else { <T as Field>::Real::one() });
            Ok(vec![sign * product])
        })?;
        Ok(write_vectors::<T>(&shape.batch, 1, values)?.with_layout(Layout::contiguous(&shape.batch)))
    })
}

/// Returns whether the right-hand side of an equation is a vector for each matrix.
pub fn is_vector(a: &View, b: &View) -> bool {
    let batch = a.sizes().split_last().map_or(a.sizes(), |(_, rest)| rest);
    b.ndim() == 1 || (b.ndim() + 1 == a.ndim() && b.sizes() == batch)
}

/// Broadcasts both sides of an equation to one batch.
fn paired(name: &str, a: &View, b: &View, left: bool) -> Result<(View, View, Shape)> {
    let sa = Shape::square(name, a)?;
    if b.ndim() < 2 {
        bail!(RuntimeError, "{name}: The input tensor B must have at least 2 dimensions.");
    }
    let sb = Shape::of(name, b)?;
    let fits = if left { sa.rows == sb.rows } else { sa.rows == sb.columns };
    if !fits {
        let equation = if left { "AX = B" } else { "XA = B" };
        bail!(
            RuntimeError,
            "{name}: Incompatible shapes of A and B for the equation {equation} ({}x{} and {}x{})",
            sa.rows,
            sa.columns,
            sb.rows,
            sb.columns
        );
    }
    let batch = broadcast_sizes(&sa.batch, &sb.batch)?;
    let spread = |view: &View, rows: usize, columns: usize| {
        let sizes: Dims = batch.iter().copied().chain([rows as i64, columns as i64]).collect();
        view::expand(view, &sizes)
    };
    let (a, b) = (spread(a, sa.rows, sa.columns)?, spread(b, sb.rows, sb.columns)?);
    Ok((a, b, Shape { batch, ..sb }))
}

/// Solves `A X = B` or `X A = B`. Returns the solution, and where it failed.
pub fn solve(a: &View, b: &View, left: bool) -> Result<(View, View)> {
    let name = "linalg.solve";
    check_floating(name, a, false)?;
    if a.dtype != b.dtype {
        let (a, b) = (a.dtype.scalar_type(), b.dtype.scalar_type());
        bail!(
            RuntimeError,
            "{name}: Expected A and B to have the same dtype, but found A of type {a} and B of type {b} instead"
        );
    }
    let vector = is_vector(a, b);
    let sides = if vector { view::unsqueeze(b, -1)? } else { b.clone() };
    let (x, y, shape) = paired(name, a, &sides, left)?;
    let batch_a = Dims::from_slice(x.sizes().get(..x.ndim().saturating_sub(2)).unwrap_or_default());
    let sizes = [shape.rows, shape.columns];
    let order = if left { MatrixOrder::Columns } else { MatrixOrder::Rows };
    let (result, info) = if x.device().is_meta() {
        (
            allocate_batch(&shape.batch, sizes[0], sizes[1], order, a.dtype, Device::META)?,
            View::zeros(&batch_a, DType::Int, Device::META)?,
        )
    } else {
        by_field!(a.dtype, "lu_cpu", T => {
            let turned = is_factored_transposed(a);
            // `X A = B` is `Aᵀ Xᵀ = Bᵀ`.
            let sides: Vec<_> = read_turned::<T>(&x, turned)?.into_iter().zip(read_turned::<T>(&y, !left)?).collect();
            let found = each(sides, x.sizes().last().map_or(0, |&n| n as usize), |(matrix, mut side)| {
                let factors = lu_factors(matrix)?;
                match (left, turned) {
                    (true, false) | (false, true) => factors.solve(&mut side)?,
                    (true, true) | (false, false) => factors.solve_transposed(&mut side)?,
                }
                Ok((if left { side } else { side.transpose()? }, factors.zero.unwrap_or(0)))
            })?;
            let (solutions, zeros): (Vec<_>, Vec<_>) = found.into_iter().unzip();
            (write(&shape.batch, sizes, order, solutions)?, info_tensor(&batch_a, zeros)?)
        })
    };
    Ok((if vector { as_vectors(&result)? } else { result }, info))
}

/// Converts solutions with one column each to vectors, with the column-major layout of a matrix of their sizes.
fn as_vectors(solutions: &View) -> Result<View> {
    let flat = view::squeeze(solutions, Some(&[-1]))?;
    let [batch @ .., rows, columns] = flat.sizes() else { return Ok(flat) };
    let laid =
        allocate_batch(batch, *rows as usize, *columns as usize, MatrixOrder::Columns, flat.dtype, flat.device())?;
    copy_into(&laid, &flat)?;
    Ok(laid)
}

/// Computes the Cholesky factor, and the order of the first leading minor that is not positive-definite.
pub fn cholesky(name: &str, a: &View, upper: bool) -> Result<(View, View)> {
    let shape = Shape::square(name, a)?;
    check_floating(name, a, true)?;
    let n = shape.rows;
    if a.device().is_meta() {
        let factor = allocate_batch(&shape.batch, n, n, MatrixOrder::Columns, a.dtype, a.device())?;
        return Ok((factor, View::zeros(&shape.batch, DType::Int, Device::META)?));
    }
    by_field!(a.dtype, "cholesky_cpu", T => {
        let found = each(read::<T>(a)?, n, |matrix| {
            let (factor, failed) = cholesky_factor(if upper { matrix.adjoint()? } else { matrix })?;
            let mut factor = if upper { factor.adjoint()? } else { factor };
            if upper {
                // The library's zeros are not conjugated.
                for (i, j) in factor.places().filter(|&(i, j)| i >= j) {
                    factor[(i, j)] = factor[(i, j)].conj();
                }
            }
            Ok((factor, failed.unwrap_or(0)))
        })?;
        let (factors, failures): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        Ok((write(&shape.batch, [n, n], MatrixOrder::Columns, factors)?, info_tensor(&shape.batch, failures)?))
    })
}

/// Computes `P A = L U`. Returns both factors in one matrix, the exchanged rows (counted from one), and the first zero
/// in U.
pub fn lu_factor(name: &str, a: &View) -> Result<(View, View, View)> {
    let shape = Shape::of_two_or_more(name, a)?;
    let (m, n) = (shape.rows, shape.columns);
    let pivot_sizes: Dims = shape.batch.iter().copied().chain([m.min(n) as i64]).collect();
    if a.device().is_meta() {
        let factors = allocate_batch(&shape.batch, m, n, MatrixOrder::Columns, a.dtype, a.device())?;
        let part = |sizes: &[i64]| View::zeros(sizes, DType::Int, Device::META);
        return Ok((factors, part(&pivot_sizes)?, part(&shape.batch)?));
    }
    by_field!(a.dtype, "lu_factor_cpu", T => {
        let (mut factors, mut pivots, mut zeros) = (Vec::new(), Vec::new(), Vec::new());
        for found in each(read::<T>(a)?, m.min(n), lu_factors)? {
            pivots.extend(found.pivots.iter().map(|&row| row + 1));
            zeros.push(found.zero.unwrap_or(0));
            factors.push(found.factors);
        }
        let factors = write(&shape.batch, [m, n], MatrixOrder::Columns, factors)?;
        Ok((factors, info_tensor(&pivot_sizes, pivots)?, info_tensor(&shape.batch, zeros)?))
    })
}

/// Unpacks both factors in one matrix to `A = P L U`. Without pivots, P is the identity.
pub fn lu_unpack(factors: &View, pivots: Option<&View>) -> Result<(View, View, View)> {
    let shape = Shape::of_two_or_more("torch.lu_unpack", factors)?;
    if pivots.is_some_and(|pivots| pivots.dtype != DType::Int) {
        bail!(RuntimeError, "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.");
    }
    let (m, n) = (shape.rows, shape.columns);
    let k = m.min(n);
    if factors.device().is_meta() {
        let part =
            |rows, columns| allocate_batch(&shape.batch, rows, columns, MatrixOrder::Rows, factors.dtype, Device::META);
        return Ok((part(m, m)?, part(m, k)?, part(k, n)?));
    }
    let given: Vec<i64> = match pivots {
        Some(pivots) => pivots.scalars()?.into_iter().map(Scalar::to_i64).collect(),
        None => (1..=k as i64).collect(),
    };
    // PyTorch reads beyond the end of pivots that are too few.
    if given.len() < k || given.iter().any(|pivot| !(1..=m as i64).contains(pivot)) {
        bail!(
            RuntimeError,
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the result of lu_factor?"
        );
    }
    let exchanged: Vec<usize> = given.into_iter().map(|pivot| pivot as usize - 1).collect();
    by_field!(factors.dtype, "lu_unpack_cpu", T => {
        let (mut permutations, mut lowers, mut uppers) = (Vec::new(), Vec::new(), Vec::new());
        for (i, matrix) in read::<T>(factors)?.into_iter().enumerate() {
            let pivots = exchanged.get(i * k..(i + 1) * k).unwrap_or_default().to_vec();
            let found = lu::Lu { factors: matrix, pivots, zero: None };
            let mut permutation = Matrix::zeros(m, m)?;
            for (to, from) in found.rows().into_iter().enumerate() {
                permutation[(from, to)] = T::one();
            }
            let (lower, upper) = found.split()?;
            permutations.push(permutation);
            lowers.push(lower);
            uppers.push(upper);
        }
        Ok((
            write(&shape.batch, [m, m], MatrixOrder::Rows, permutations)?,
            write(&shape.batch, [m, k], MatrixOrder::Rows, lowers)?,
            write(&shape.batch, [k, n], MatrixOrder::Rows, uppers)?,
        ))
    })
}

/// Which parts of a QR decomposition to compute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum QrMode {
    Reduced,
    Complete,
    OnlyR,
}

/// `A = Q R`.
pub fn qr_decomposition(name: &str, a: &View, mode: QrMode) -> Result<(View, View)> {
    let shape = Shape::of(name, a)?;
    check_floating(name, a, true)?;
    let (m, n) = (shape.rows, shape.columns);
    let k = if mode == QrMode::Complete { m } else { m.min(n) };
    let nothing = View::zeros(&[0], a.dtype, a.device())?;
    if a.device().is_meta() {
        let part =
            |rows, columns| allocate_batch(&shape.batch, rows, columns, MatrixOrder::Columns, a.dtype, Device::META);
        return Ok((if mode == QrMode::OnlyR { nothing } else { part(m, k)? }, part(k, n)?));
    }
    by_field!(a.dtype, "geqrf_cpu", T => {
        let found = each(read::<T>(a)?, m.max(n), |matrix| {
            let (factored, taus) = qr::qr(matrix)?;
            let q = if mode == QrMode::OnlyR { None } else { Some(qr::form_q(&factored, &taus, k)?) };
            Ok((q, qr::upper(&factored, k)?))
        })?;
        let (qs, rs): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let qs = qs.into_iter().flatten();
        let q = if mode == QrMode::OnlyR { nothing } else { write(&shape.batch, [m, k], MatrixOrder::Columns, qs)? };
        Ok((q, write(&shape.batch, [k, n], MatrixOrder::Columns, rs)?))
    })
}

/// Returns the reflectors of a QR decomposition, stored below R, and their factors.
pub fn geqrf(a: &View) -> Result<(View, View)> {
    if a.ndim() < 2 {
        bail!(RuntimeError, "torch.geqrf: input must have at least 2 dimensions.");
    }
    let shape = Shape::of("torch.geqrf", a)?;
    let (m, n) = (shape.rows, shape.columns);
    by_field!(a.dtype, "geqrf_cpu", T => {
        let found = each(read::<T>(a)?, m.max(n), qr::qr)?;
        let (factored, taus): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let factored = write(&shape.batch, [m, n], MatrixOrder::Columns, factored)?;
        Ok((factored, write_vectors::<T>(&shape.batch, m.min(n), taus)?))
    })
}

/// Returns the sizes of matrices that store reflectors, and the number of reflectors in each.
fn reflections(name: &str, a: &View, tau: &View) -> Result<(Shape, usize)> {
    if a.ndim() < 2 {
        bail!(RuntimeError, "{name}: input must have at least 2 dimensions.");
    }
    let Some(&k) = tau.sizes().last() else {
        bail!(IndexError, "Dimension specified as -1 but tensor has no dimensions");
    };
    Ok((Shape::of(name, a)?, k as usize))
}

/// Checks that there is a vector of factors for each matrix.
fn check_factors(name: &str, a: &View, tau: &View) -> Result<()> {
    if a.ndim() != tau.ndim() + 1 {
        bail!(
            RuntimeError,
            "{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {} and input.ndim is \
             equal to {}",
            tau.ndim(),
            a.ndim()
        );
    }
    check_batch(name, "tau", &Shape::of(name, a)?, tau.sizes().split_last().map_or(&[], |(_, batch)| batch))
}

fn check_batch(name: &str, what: &str, input: &Shape, batch: &[i64]) -> Result<()> {
    if input.batch.as_slice() != batch {
        bail!(
            RuntimeError,
            "{name}: Expected batch dimensions of {what} to be equal to input.shape[:-2], but got {}",
            show(batch)
        );
    }
    Ok(())
}

/// Computes the first columns of the product of reflectors.
pub fn householder_product(a: &View, tau: &View) -> Result<View> {
    let name = "torch.linalg.householder_product";
    let (shape, k) = reflections(name, a, tau)?;
    let (m, n) = (shape.rows, shape.columns);
    if m < n {
        bail!(RuntimeError, "{name}: input.shape[-2] must be greater than or equal to input.shape[-1]");
    }
    if k > n {
        bail!(RuntimeError, "{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]");
    }
    check_factors(name, a, tau)?;
    if tau.dtype != a.dtype {
        let (tau, input) = (tau.dtype.scalar_type(), a.dtype.scalar_type());
        bail!(RuntimeError, "{name}: tau dtype {tau} does not match input dtype {input}");
    }
    by_field!(a.dtype, "orgqr_cpu", T => {
        let taus = read::<T>(&view::unsqueeze(tau, -1)?)?;
        let mut products = Vec::new();
        for (matrix, taus) in read::<T>(a)?.into_iter().zip(taus) {
            let taus: Vec<T> = (0..k).map(|i| taus[(i, 0)]).collect();
            products.push(qr::form_q(&matrix, &taus, n)?);
        }
        write(&shape.batch, [m, n], MatrixOrder::Columns, products)
    })
}

/// Multiplies another matrix by the Q of reflectors, from the left or the right.
pub fn ormqr(a: &View, tau: &View, other: &View, left: bool, transpose: bool) -> Result<View> {
    let name = "torch.ormqr";
    let (shape, k) = reflections(name, a, tau)?;
    if other.ndim() < 2 {
        bail!(RuntimeError, "{name}: other must have at least 2 dimensions.");
    }
    let sides = Shape::of(name, other)?;
    let (meets, dim) = if left { (sides.rows, -2) } else { (sides.columns, -1) };
    if meets < k {
        bail!(RuntimeError, "{name}: other.shape[{dim}] must be greater than or equal to tau.shape[-1]");
    }
    if meets != shape.rows {
        bail!(RuntimeError, "{name}: other.shape[{dim}] must be equal to input.shape[-2]");
    }
    if k > shape.columns {
        bail!(RuntimeError, "{name}: tau.shape[-1] must be less than or equal to input.shape[-1]");
    }
    check_factors(name, a, tau)?;
    if a.ndim() != other.ndim() {
        bail!(
            RuntimeError,
            "{name}: Expected other to have the same number of dimensions as input, but got other.ndim equal to {} and \
             input.ndim is equal to {}",
            other.ndim(),
            a.ndim()
        );
    }
    check_batch(name, "other", &shape, &sides.batch)?;
    for (what, of) in [("tau", tau), ("other", other)] {
        if of.dtype != a.dtype {
            bail!(
                RuntimeError,
                "{name}: Expected input and {what} to have the same dtype, but input has dtype{} and {what} has dtype {}",
                a.dtype.scalar_type(),
                of.dtype.scalar_type()
            );
        }
    }
    by_field!(a.dtype, "ormqr_cpu", T => {
        let mut products = Vec::new();
        let taus = read::<T>(&view::unsqueeze(tau, -1)?)?;
        for ((factored, taus), mut side) in read::<T>(a)?.into_iter().zip(taus).zip(read::<T>(other)?) {
            let taus: Vec<T> = (0..k).map(|i| taus[(i, 0)]).collect();
            qr::apply_q(&factored, &taus, &mut side, left, transpose)?;
            products.push(side);
        }
        write(&sides.batch, [sides.rows, sides.columns], MatrixOrder::Columns, products)
    })
}

/// Computes eigenvalues, in ascending order, and eigenvectors of symmetric or Hermitian matrices. Without `vectors`, the
/// second tensor is empty.
pub fn eigh(name: &str, a: &View, upper: bool, vectors: bool) -> Result<(View, View)> {
    let shape = Shape::square(name, a)?;
    let n = shape.rows;
    if a.device().is_meta() {
        let sizes: Dims = shape.batch.iter().copied().chain([n as i64]).collect();
        let vectors = allocate_batch(&shape.batch, n, n, MatrixOrder::Columns, a.dtype, a.device())?;
        return Ok((View::zeros(&sizes, a.dtype.to_real(), Device::META)?, vectors));
    }
    by_field!(a.dtype, "linalg_eigh_cpu", T => {
        let found = each(read::<T>(a)?, n, |matrix| eigh::eigh(matrix, upper, vectors))?;
        let (values, matrices): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let values = write_vectors::<<T as Field>::Real>(&shape.batch, n, values)?;
        if !vectors {
            return Ok((values, View::zeros(&[0], a.dtype, a.device())?));
        }
        Ok((values, write(&shape.batch, [n, n], MatrixOrder::Columns, matrices.into_iter().flatten())?))
    })
}

/// `A = U diag(S) Vᴴ`. Without vectors, U and V are empty.
pub fn svd_decomposition(name: &str, a: &View, vectors: Vectors) -> Result<[View; 3]> {
    let shape = Shape::of(name, a)?;
    check_floating(name, a, true)?;
    let (m, n) = (shape.rows, shape.columns);
    let k = m.min(n);
    let (width, height) = match vectors {
        Vectors::None => (0, 0),
        Vectors::Reduced => (k, k),
        Vectors::Full => (m, n),
    };
    if a.device().is_meta() {
        let part =
            |rows, columns| allocate_batch(&shape.batch, rows, columns, MatrixOrder::Columns, a.dtype, Device::META);
        let sizes: Dims = shape.batch.iter().copied().chain([k as i64]).collect();
        return Ok([part(m, width)?, View::zeros(&sizes, a.dtype.to_real(), Device::META)?, part(height, n)?]);
    }
    by_field!(a.dtype, "linalg_svd_cpu", T => {
        let (mut us, mut values, mut vhs) = (Vec::new(), Vec::new(), Vec::new());
        let found = each(read::<T>(a)?, m.max(n), |matrix| {
            if !matrix.has_only_finite() {
                bail!(
                    LinAlgError,
                    "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
                );
            }
            svd::svd(&matrix, vectors)
        })?;
        for found in found {
            us.push(found.u);
            values.push(found.values);
            vhs.push(found.vh);
        }
        Ok([
            write(&shape.batch, [m, width], MatrixOrder::Columns, us)?,
            write_vectors::<<T as Field>::Real>(&shape.batch, k, values)?,
            write(&shape.batch, [height, n], MatrixOrder::Columns, vhs)?,
        ])
    })
}
