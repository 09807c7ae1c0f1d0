//! Results that depend on a tolerance: pseudoinverses and ranks.

use super::batch::{MatrixOrder, allocate_batch};
use super::{Shape, Vectors, eigh, svd_decomposition};
use crate::bail;
use crate::layout::broadcast_sizes;
use crate::ops::compare::{CompareOp, compare};
use crate::ops::copy::cast;
use crate::ops::matmul::bmm;
use crate::ops::pointwise::{BinaryOp, Output, UnaryOp, binary, unary};
use crate::ops::promote::Operand;
use crate::ops::reduce::{Extremum, extremum, sum};
use crate::ops::{mask, view};
use crate::{DType, Device, Dims, Result, Scalar, View};

/// The thresholds up to which values count as zero: absolute, and relative to the largest value. One for all matrices,
/// or one for each.
pub struct Tolerances {
    pub absolute: Option<View>,
    pub relative: Option<View>,
    /// Whether the caller could specify only one of them.
    pub alone: bool,
}

impl Tolerances {
    fn check(&self, name: &str) -> Result<()> {
        // On its own, the relative tolerance is an older parameter.
        let relative = if self.alone { "rcond" } else { "rtol" };
        for (what, given) in [("atol", &self.absolute), (relative, &self.relative)] {
            if let Some(given) = given.as_ref().filter(|given| given.dtype.is_complex()) {
                let got = given.dtype.scalar_type();
                bail!(RuntimeError, "{name}: {what} tensor of complex type is not supported. Got {got}");
            }
        }
        Ok(())
    }

    /// Returns the threshold for the values of each matrix.
    fn limits(&self, a: &View, shape: &Shape, largest: &View) -> Result<View> {
        let epsilon = epsilon(a)? * shape.rows.max(shape.columns) as f64;
        let number = |value: f64| View::from_scalars(&[], DType::Double, [Scalar::Float(value)]);
        let relative = match (&self.relative, &self.absolute) {
            (Some(relative), _) => relative.clone(),
            (None, None) => number(epsilon)?,
            // A given absolute tolerance disables the default relative one.
            (None, Some(absolute)) => {
                let scalars = absolute.scalars()?.into_iter();
                let defaults = scalars.map(|given| Scalar::Float(if given.to_f64() > 0.0 { 0.0 } else { epsilon }));
                View::from_scalars(absolute.sizes(), DType::Double, defaults)?
            }
        };
        let absolute = match &self.absolute {
            Some(absolute) => absolute.clone(),
            None => number(0.0)?,
        };
        let scaled = binary_op(BinaryOp::Mul, &view::unsqueeze(&relative, -1)?, largest)?;
        binary_op(BinaryOp::Maximum, &view::unsqueeze(&absolute, -1)?, &scaled)
    }

    fn batch(&self, batch: &[i64]) -> Result<Dims> {
        let given = [&self.absolute, &self.relative].into_iter().flatten();
        given
            .into_iter()
            .try_fold(Dims::from_slice(batch), |batch, tolerance| broadcast_sizes(&batch, tolerance.sizes()))
    }
}

/// Returns the distance from 1 to the next number.
pub fn epsilon(a: &View) -> Result<f64> {
    match a.dtype.to_real() {
        DType::Float => Ok(f64::from(f32::EPSILON)),
        DType::Double => Ok(f64::EPSILON),
        _ => bail!(RuntimeError, "This function doesn't handle types other than float and double"),
    }
}

fn binary_op(op: BinaryOp, a: &View, b: &View) -> Result<View> {
    binary(op, Operand::Tensor(a), Operand::Tensor(b), Output::New, DType::Float)
}

fn exceeds(values: &View, limits: &View) -> Result<View> {
    compare(CompareOp::Gt, Operand::Tensor(values), Operand::Tensor(limits), Output::New, DType::Float)
}

/// Multiplies two batches of matrices, which broadcast.
fn products(a: &View, b: &View) -> Result<View> {
    let (sa, sb) = (Shape::of("matmul", a)?, Shape::of("matmul", b)?);
    let batch = broadcast_sizes(&sa.batch, &sb.batch)?;
    let flat = |of: &View, shape: &Shape| {
        let last = [shape.rows as i64, shape.columns as i64];
        let sizes: Dims = batch.iter().chain(&last).copied().collect();
        let count = batch.iter().product();
        view::reshape(&view::expand(of, &sizes)?, &[count, last[0], last[1]])
    };
    let product = bmm(&flat(a, &sa)?, &flat(b, &sb)?)?;
    let sizes: Dims = batch.iter().copied().chain([sa.rows as i64, sb.columns as i64]).collect();
    view::reshape(&product, &sizes)
}

fn shape(a: &View, name: &str, hermitian: bool) -> Result<Shape> {
    if hermitian { Shape::square("linalg.eigh", a) } else { Shape::of(name, a) }
}

fn magnitudes(values: &View) -> Result<View> {
    unary(UnaryOp::Abs, values, Output::New, values.dtype)
}

/// Computes the pseudoinverse: singular values up to the tolerances count as zero. For Hermitian matrices, only the
/// lower triangle is read, and eigenvalues are used instead.
pub fn pinv(a: &View, tolerances: &Tolerances, hermitian: bool) -> Result<View> {
    tolerances.check("torch.linalg.pinv")?;
    let shape = shape(a, "linalg.pinv", hermitian)?;
    let (m, n) = (shape.rows, shape.columns);
    if a.device().is_meta() || a.numel() == 0 {
        return allocate_batch(&shape.batch, n, m, MatrixOrder::Rows, a.dtype, a.device());
    }
    let (values, sizes, before, after) = if hermitian {
        let (values, vectors) = eigh("linalg.eigh", a, false, true)?;
        (values.clone(), magnitudes(&values)?, vectors.clone(), vectors)
    } else {
        let [u, values, vh] = svd_decomposition("linalg.svd", a, Vectors::Reduced)?;
        (values.clone(), values, view::adjoint(&vh, "adjoint")?, u)
    };
    let largest = extremum(Extremum::Max, &sizes, &[-1], true)?;
    let counts = exceeds(&sizes, &tolerances.limits(a, &shape, &largest)?)?;
    let inverses = unary(UnaryOp::Reciprocal, &values, Output::New, values.dtype)?;
    let zero = View::zeros(&[], values.dtype, Device::CPU)?;
    let kept = cast(&mask::where_(&counts, &inverses, &zero, values.dtype)?, a.dtype)?;
    let scaled = binary_op(BinaryOp::Mul, &before, &view::unsqueeze(&kept, -2)?)?;
    products(&scaled, &view::adjoint(&after, "adjoint")?)
}

/// Counts the singular values that exceed the tolerances.
pub fn matrix_rank(a: &View, tolerances: &Tolerances, hermitian: bool) -> Result<View> {
    let name = "torch.linalg.matrix_rank";
    if a.ndim() < 2 {
        bail!(RuntimeError, "{name}: The input tensor input must have at least 2 dimensions.");
    }
    tolerances.check(name)?;
    epsilon(a)?;
    let shape = shape(a, name, hermitian)?;
    if a.device().is_meta() || a.numel() == 0 {
        let batch = if a.device().is_meta() { tolerances.batch(&shape.batch)? } else { shape.batch };
        return View::zeros(&batch, DType::Long, a.device());
    }
    let sizes = if hermitian {
        magnitudes(&eigh("linalg.eigh", a, false, false)?.0)?
    } else {
        let [_, values, _] = svd_decomposition("linalg.svd", a, Vectors::None)?;
        values
    };
    let largest = extremum(Extremum::Max, &sizes, &[-1], true)?;
    sum(&exceeds(&sizes, &tolerances.limits(a, &shape, &largest)?)?, Some(&[-1]), false, None)
}
