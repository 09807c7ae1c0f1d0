//! Running extrema and sums of exponentials along a dimension.

use super::Extremum;
use crate::bail;
use crate::ops::lines::{each_line, like_lines};
use crate::ops::pointwise::{check_kernel, classes};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Result, Scalar, View, interrupt};
use num_complex::Complex;

/// `cummax` or `cummin`: the largest or smallest element so far and where it last was. NaN stays.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for dtypes without an order.
pub fn running_extremum(which: Extremum, view: &View, dim: i64) -> Result<(View, View)> {
    if view.numel() == 0 {
        // Nobody asks for the dimension.
        let room = |dtype| View::zeros(view.sizes(), dtype, view.device());
        return Ok((room(view.dtype)?, room(DType::Long)?));
    }
    if view.ndim() == 0 && !matches!(dim, 0 | -1) {
        bail!(IndexError, "cum{}(): Expected reduction dim -1 or 0 for scalar but got {dim}", which.name());
    }
    let d = wrap_dim(dim, view.ndim())?;
    let size = view.sizes().get(d).copied().unwrap_or(1);
    let values = like_lines(view, d, size, view.dtype)?;
    let places = like_lines(view, d, size, DType::Long)?;
    if view.device().is_meta() {
        return Ok((values, places));
    }
    if view.ndim() > 0 {
        check_kernel(&format!("cum{}_cpu", which.name()), classes::BOOL | classes::NUMBERS, view.dtype)?;
    }
    let is_nan = |value: Scalar| matches!(value, Scalar::Float(f) if f.is_nan());
    let beats = |new: Scalar, old: Scalar| {
        let (new, old) = if which == Extremum::Max { (new, old) } else { (old, new) };
        match (new, old) {
            (Scalar::Float(new), Scalar::Float(old)) => new >= old,
            (new, old) => new.to_i64() >= old.to_i64(),
        }
    };
    each_line(view, d, [&values, &places], &mut |line, [values, places]| {
        let Some(&first) = line.first() else { return Ok(()) };
        let mut best = (first, 0);
        for (i, &value) in (0..).zip(line) {
            interrupt::check_at(i as usize)?;
            if is_nan(value) || !is_nan(best.0) && beats(value, best.0) {
                best = (value, i);
            }
            values.push(best.0);
            places.push(Scalar::Int(best.1));
        }
        Ok(())
    })?;
    Ok((values, places))
}

/// `logcumsumexp`: the logarithm of the running sum of exponentials.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for dtypes that are not floating.
pub fn log_cumulative_sum_exp(view: &View, dim: i64) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    let size = view.sizes().get(d).copied().unwrap_or(1);
    let out = like_lines(view, d, size, view.dtype)?;
    if view.device().is_meta() || view.numel() == 0 {
        return Ok(out);
    }
    if view.ndim() > 0 {
        check_kernel("logcumsumexp_out_cpu", classes::FLOAT | classes::COMPLEX, view.dtype)?;
    }
    each_line(view, d, [&out], &mut |line, [out]| {
        let mut total = Complex::new(f64::NEG_INFINITY, 0.0);
        for (i, &value) in line.iter().enumerate() {
            interrupt::check_at(i)?;
            total = joined(value.to_complex(), total);
            out.push(if view.dtype.is_complex() { Scalar::Complex(total) } else { Scalar::Float(total.re) });
        }
        Ok(())
    })?;
    Ok(out)
}

/// `ln(e^a + e^b)`.
fn joined(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let (low, high) = if a.re < b.re || b.re.is_nan() { (a, b) } else { (b, a) };
    if high.re.is_nan() || high.re.is_infinite() && (high == low || low.re == f64::NEG_INFINITY) {
        return high;
    }
    if a.im == 0.0 && b.im == 0.0 {
        return Complex::new(high.re + (low.re - high.re).exp().ln_1p(), 0.0);
    }
    high + (Complex::new(1.0, 0.0) + (low - high).exp()).ln()
}
