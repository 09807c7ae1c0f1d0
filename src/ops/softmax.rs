//! Exponentials of a line against their sum: `softmax`, `log_softmax`, `logsumexp`.

use super::compare::CompareOp;
use super::compose::{Math, number};
use super::copy::cast;
use super::lines::{each_line, like_lines};
use super::mask::masked_fill;
use super::pointwise::{UnaryOp, check_kernel, classes};
use super::reduce::{Extremum, Reduction, extremum, sum};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Result, Scalar, View};

/// Which form of the distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Softmax {
    Plain,
    Log,
}

/// The exponentials of every line as shares of their sum, or the logarithms of those shares.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for dtypes without this kernel.
pub fn softmax(which: Softmax, view: &View, dim: i64, dtype: Option<DType>) -> Result<View> {
    let converted = dtype.filter(|&dtype| dtype != view.dtype).map(|dtype| cast(view, dtype)).transpose()?;
    let view = converted.as_ref().unwrap_or(view);
    let d = wrap_dim(dim, view.ndim())?;
    let out = like_lines(view, d, view.sizes().get(d).copied().unwrap_or(1), view.dtype)?;
    if view.device().is_meta() || view.numel() == 0 {
        return Ok(out);
    }
    let last = d + 1 >= view.ndim();
    let stub = match (which, last) {
        (Softmax::Plain, true) => "softmax_lastdim_kernel_impl",
        (Softmax::Plain, false) => "softmax_kernel_impl",
        (Softmax::Log, true) => "log_softmax_lastdim_kernel_impl",
        (Softmax::Log, false) => "log_softmax_kernel_impl",
    };
    check_kernel(stub, classes::FLOAT, view.dtype)?;
    each_line(view, d, [&out], &mut |line, [out]| {
        let values = || line.iter().map(|value| value.to_f64());
        let largest = values().fold(f64::NEG_INFINITY, |a, b| if b.is_nan() || b > a { b } else { a });
        let total: f64 = values().map(|value| (value - largest).exp()).sum();
        out.extend(values().map(|value| {
            Scalar::Float(match which {
                Softmax::Plain => (value - largest).exp() / total,
                Softmax::Log => value - largest - total.ln(),
            })
        }));
        Ok(())
    })?;
    Ok(out)
}

/// The logarithm of the sum of exponentials over dimensions.
///
/// # Errors
/// As [`sum`] and [`extremum`].
pub fn logsumexp(view: &View, dims: &[i64], keepdim: bool, default: DType) -> Result<View> {
    let math = Math(default);
    let converted = if view.dtype.is_integral(true) { cast(view, default)? } else { view.clone() };
    let view = &converted;
    if view.numel() == 0 {
        return math.unary(UnaryOp::Log, &sum(&math.unary(UnaryOp::Exp, view)?, Some(dims), keepdim, None)?);
    }
    let of_real = if view.dtype.is_complex() { super::view::real(view) } else { view.clone() };
    let largest = extremum(Extremum::Max, &of_real, dims, true)?;
    let endless = math.compare(CompareOp::Eq, &math.unary(UnaryOp::Abs, &largest)?, number(f64::INFINITY))?;
    let largest = masked_fill(&largest, &endless, Scalar::Int(0))?;
    let scaled = math.unary(UnaryOp::Exp, &math.sub(view, &largest)?)?;
    let log = math.unary(UnaryOp::Log, &sum(&scaled, Some(dims), keepdim, None)?)?;
    let kept = Reduction::new(view, Some(dims), keepdim)?;
    let sizes = &kept.sizes;
    let largest = largest.with_layout(crate::tensor::Layout {
        offset: largest.layout.offset,
        ..crate::tensor::Layout::contiguous(sizes)
    });
    math.add(&log, &largest)
}
