//! Reductions that skip elements or return both extrema: `nansum`, `nanmean`, `count_nonzero`, `aminmax`.

use super::extremum::{Extremum, extremum, extremum_all};
use super::{Reduction, any, sum};
use crate::bail;
use crate::ops::compare::CompareOp;
use crate::ops::compose::{Math, number};
use crate::ops::pointwise::{Output, UnaryOp, check_kernel, classes, map_real};
use crate::thresholds::SHORT;
use crate::{DType, Dims, Layout, Result, View};

/// Sums all elements that are not NaN.
///
/// # Errors
/// Those of [`fn@sum`], and RuntimeError for complex tensors.
pub fn nansum(view: &View, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<View> {
    if view.dtype.is_complex() {
        bail!(RuntimeError, "nansum does not support complex inputs");
    }
    if view.dtype.is_integral(true) {
        return sum(view, dims, keepdim, dtype);
    }
    check_kernel("nansum_cpu", classes::FLOAT, dtype.unwrap_or(view.dtype))?;
    // A sum is NaN if an addend is. Any other sum has no NaN to skip.
    let total = sum(view, dims, keepdim, dtype)?;
    if view.device().is_meta() || !has_nan(&total)? {
        return Ok(total);
    }
    let clean = |view: &View| {
        map_real("nansum_cpu", classes::FLOAT, view, Output::New, None, &|v: f64| if v.is_nan() { 0.0 } else { v })
    };
    if view.layout.is_non_overlapping_and_dense() {
        return sum(&clean(view)?, dims, keepdim, dtype);
    }
    // The order of addition follows the strides, so they are kept: the memory between the elements is copied as well.
    let Layout { sizes, strides, offset } = view.layout.clone();
    let between = Dims::from_slice(&[view.layout.storage_elements()? - offset]);
    let all = clean(&view.with_layout(Layout { sizes: between, strides: Dims::from_slice(&[1]), offset }))?;
    sum(&all.with_layout(Layout { sizes, strides, offset: 0 }), dims, keepdim, dtype)
}

fn has_nan(view: &View) -> Result<bool> {
    if view.numel() <= SHORT as i64 {
        return Ok(view.scalars()?.iter().any(|value| value.to_f64().is_nan()));
    }
    Ok(any(&Math(DType::Float).unary(UnaryOp::Isnan, view)?, None, false)?.item()?.truth())
}

/// Averages all elements that are not NaN.
///
/// # Errors
/// RuntimeError for integers, otherwise those of [`nansum`].
pub fn nanmean(view: &View, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<View> {
    if !view.dtype.is_differentiable() {
        bail!(
            RuntimeError,
            "nanmean(): expected input to have floating point or complex dtype but got {}",
            view.dtype.scalar_type()
        );
    }
    let math = Math(DType::Float);
    let total = nansum(view, dims, keepdim, dtype)?;
    let present = math.unary(UnaryOp::LogicalNot, &math.unary(UnaryOp::Isnan, view)?)?;
    math.div(&total, &sum(&present, dims, keepdim, None)?)
}

/// Counts the nonzero elements.
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions, RuntimeError for unsupported dtypes.
pub fn count_nonzero(view: &View, dims: Option<&[i64]>) -> Result<View> {
    if dims.is_none_or(<[i64]>::is_empty) && !view.device().is_meta() {
        let supported = classes::BOOL | classes::NUMBERS | classes::COMPLEX | classes::COMPLEX_HALF;
        check_kernel("nonzero_count_cpu", supported, view.dtype)?;
    }
    if view.dtype == DType::Bool {
        return sum(view, dims, false, None);
    }
    let nonzero = Math(DType::Float).compare(CompareOp::Ne, view, number(0.0))?;
    sum(&nonzero, dims, false, None)
}

/// Returns the smallest and the largest element, of all or along a dimension.
///
/// # Errors
/// IndexError for a wrong or empty dimension, RuntimeError for an empty tensor and for dtypes without an order.
pub fn aminmax(view: &View, dim: Option<i64>, keepdim: bool) -> Result<(View, View)> {
    if dim.is_none() && view.numel() == 0 {
        bail!(
            RuntimeError,
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        );
    }
    let dims = dim.map(|d| [d]);
    let reduction = Reduction::new(view, dims.as_ref().map(<[i64; 1]>::as_slice), keepdim)?;
    if let Some(d) = dim
        && view.numel() == 0
        && reduction.factor(view) == 0
    {
        bail!(IndexError, "aminmax: Expected reduction dim {d} to have non-zero size.");
    }
    if !view.device().is_meta() {
        check_kernel("aminmax_cpu", classes::BOOL | classes::NUMBERS, view.dtype)?;
    }
    let end = |which| match dims {
        Some(dims) => extremum(which, view, &dims, keepdim),
        None if keepdim => extremum(which, view, &[], true),
        None => extremum_all(which, view),
    };
    Ok((end(Extremum::Min)?, end(Extremum::Max)?))
}
