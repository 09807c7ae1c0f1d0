//! Running extrema and sums of exponentials along a dimension.

use super::Extremum;
use crate::bail;
use crate::layout::wrap_dim;
use crate::memory::{get, set};
use crate::ops::check::{lost, resolved};
use crate::ops::lines::{each_line, like_lines};
use crate::ops::pointwise::{check_kernel, classes};
use crate::ops::sort::line_starts;
use crate::{DType, Element as _, Result, Scalar, View, interrupt};
use num_complex::Complex;

/// `cummax` or `cummin`: returns the extremum so far and its last index. NaN is kept.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for dtypes without an order.
pub fn running_extremum(which: Extremum, view: &View, dim: i64) -> Result<(View, View)> {
    if view.numel() == 0 {
        // The dimension is unused.
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
    let beats = |new: Scalar, old: Scalar| match (new, old) {
        (Scalar::Float(new), Scalar::Float(old)) if which == Extremum::Max => new.is_nan() || new >= old,
        (Scalar::Float(new), Scalar::Float(old)) => new.is_nan() || new <= old,
        (new, old) if which == Extremum::Max => new.to_i64() >= old.to_i64(),
        (new, old) => new.to_i64() <= old.to_i64(),
    };
    let view = resolved(view)?;
    let (from, to, at) = (view.memory()?, values.memory()?, places.memory()?);
    let [lines, value_lines, place_lines] = [&view, &values, &places].map(|view| line_starts(&view.layout, d));
    let starts = lines.0.offsets().zip(value_lines.0.offsets()).zip(place_lines.0.offsets());
    dispatch!(view.dtype, T => {
        let (from, to, at) = (from.typed::<T>(), to.typed::<T>(), at.typed::<i64>());
        for ((start, value_start), place_start) in starts {
            // The best element so far: as stored, as a number, and its index.
            let mut kept = get(from.get(start as usize).ok_or_else(lost)?);
            let (mut best, mut place) = (kept.load(), 0);
            for i in 0..size {
                interrupt::check_at(i as usize)?;
                let element = get(from.get((start + i * lines.2) as usize).ok_or_else(lost)?);
                let value = element.load();
                if beats(value, best) {
                    (kept, best, place) = (element, value, i);
                }
                set(to.get((value_start + i * value_lines.2) as usize).ok_or_else(lost)?, kept);
                set(at.get((place_start + i * place_lines.2) as usize).ok_or_else(lost)?, place);
            }
        }
    });
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
