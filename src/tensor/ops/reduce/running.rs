//! Running extrema and sums of exponentials along a dimension.

use super::Extremum;
use super::extremum::ordered;
use crate::bail;
use crate::layout::wrap_dim;
use crate::memory::{BoolByte, get, set};
use crate::ops::check::{lost, resolved};
use crate::ops::copy::copy_into;
use crate::ops::lines::{each_line, like_lines};
use crate::ops::number::Stored;
use crate::ops::pointwise::{check_kernel, classes};
use crate::ops::sort::line_starts;
use crate::{DType, Result, Scalar, View, interrupt};
use half::{bf16, f16};
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
    if view.ndim() == 0 {
        copy_into(&values, view)?;
        return Ok((values, places));
    }
    check_kernel(format_args!("cum{}_cpu", which.name()), classes::BOOL | classes::NUMBERS, view.dtype)?;
    let view = resolved(view)?;
    ordered!(view.dtype, S, V => match which {
        Extremum::Max => running::<S>(&view, d, &values, &places, |new, old| new >= old)?,
        Extremum::Min => running::<S>(&view, d, &values, &places, |new, old| new <= old)?,
    });
    Ok((values, places))
}

/// Calls `step` for every element along dimension `d`, line by line: with its index in the line, the element, and the
/// index of its result in a row-major tensor like `view`.
fn each_in_lines<S: Stored>(
    view: &View,
    d: usize,
    result: &View,
    mut step: impl FnMut(usize, S, usize) -> Result<()>,
) -> Result<()> {
    let memory = view.memory()?;
    let elements = memory.typed::<S>();
    let [(starts, size, stride), (results, _, result_stride)] = [view, result].map(|view| line_starts(&view.layout, d));
    for (mut from, mut to) in starts.offsets().zip(results.offsets()) {
        interrupt::check()?;
        for piece in interrupt::pieces(0..size as usize, 1) {
            for i in piece? {
                step(i, get(elements.get(from as usize).ok_or_else(lost)?), to as usize)?;
                (from, to) = (from.wrapping_add(stride), to.wrapping_add(result_stride));
            }
        }
    }
    Ok(())
}

/// Writes the best elements so far along dimension `d`, and their indices. `replaces` compares a new value with the
/// best one; NaN replaces everything.
fn running<S: Stored<Compute: PartialOrd>>(
    view: &View,
    d: usize,
    values: &View,
    places: &View,
    replaces: impl Fn(S::Compute, S::Compute) -> bool,
) -> Result<()> {
    let (to, at) = (values.memory()?, places.memory()?);
    let (to, at) = (to.typed::<S>(), at.typed::<i64>());
    // The best element so far: as stored, as a number, and its index.
    let (mut kept, mut best, mut place) = (S::default(), S::Compute::default(), 0);
    each_in_lines::<S>(view, d, values, |i, element, result| {
        let value = element.widen();
        if i == 0 || replaces(value, best) || value.partial_cmp(&value).is_none() {
            (kept, best, place) = (element, value, i);
        }
        set(to.get(result).ok_or_else(lost)?, kept);
        set(at.get(result).ok_or_else(lost)?, place as i64);
        Ok(())
    })
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
    let view = &resolved(view)?;
    match view.dtype {
        DType::Half => sums_of_reals::<f16>(view, d, &out)?,
        DType::BFloat16 => sums_of_reals::<bf16>(view, d, &out)?,
        DType::Float => sums_of_reals::<f32>(view, d, &out)?,
        DType::Double => sums_of_reals::<f64>(view, d, &out)?,
        _ => sums_of_scalars(view, d, &out)?,
    }
    Ok(out)
}

/// [`log_cumulative_sum_exp`] of real numbers.
fn sums_of_reals<S: Stored>(view: &View, d: usize, out: &View) -> Result<()> {
    let to = out.memory()?;
    let to = to.typed::<S>();
    let mut total = f64::NEG_INFINITY;
    each_in_lines::<S>(view, d, out, |i, element, result| {
        total = joined_reals(element.load().to_f64(), if i == 0 { f64::NEG_INFINITY } else { total });
        set(to.get(result).ok_or_else(lost)?, S::store(Scalar::Float(total)));
        Ok(())
    })
}

/// [`log_cumulative_sum_exp`] of any numbers.
fn sums_of_scalars(view: &View, d: usize, out: &View) -> Result<()> {
    each_line(view, d, [out], &mut |line, [out]| {
        let mut total = Complex::new(f64::NEG_INFINITY, 0.0);
        for (i, &value) in line.iter().enumerate() {
            interrupt::check_at(i)?;
            total = joined(value.to_complex(), total);
            out.push(if view.dtype.is_complex() { Scalar::Complex(total) } else { Scalar::Float(total.re) });
        }
        Ok(())
    })
}

/// `ln(e^a + e^b)`.
#[inline]
fn joined_reals(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b || b.is_nan() { (a, b) } else { (b, a) };
    if high.is_nan() || high.is_infinite() && (high == low || low == f64::NEG_INFINITY) {
        return high;
    }
    high + (low - high).exp().ln_1p()
}

/// Like [`joined_reals`], for complex numbers.
fn joined(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let (low, high) = if a.re < b.re || b.re.is_nan() { (a, b) } else { (b, a) };
    if high.re.is_nan() || high.re.is_infinite() && (high == low || low.re == f64::NEG_INFINITY) {
        return high;
    }
    if a.im == 0.0 && b.im == 0.0 {
        return Complex::new(joined_reals(a.re, b.re), 0.0);
    }
    high + (Complex::new(1.0, 0.0) + (low - high).exp()).ln()
}
