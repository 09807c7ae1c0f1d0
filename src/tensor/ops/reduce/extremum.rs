//! Maxima and minima, and their positions. NaN counts as both.

use super::fold::{fold_anywhere, larger, smaller};
use super::tiles::{Dim, odometer};
use super::{Reduction, aligned, resolved};
use crate::bail;
use crate::element::integer_limits;
use crate::layout::wrap_dim;
use crate::memory::{BoolByte, set};
use crate::ops::block::BLOCK;
use crate::ops::copy::{copy_into, fill};
use crate::ops::number::Stored;
use crate::ops::pointwise::{check_kernel, classes};
use crate::parallel::{self, vectorised};
use crate::thresholds::{PIECE, RESULTS};
use crate::{DType, Layout, Result, Scalar, View, interrupt};
use half::{bf16, f16};
use std::cmp::Ordering;
use std::ops::Range;

/// Whether to find the maximum or the minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    Max,
    Min,
}

impl Extremum {
    pub(super) fn name(self) -> &'static str {
        match self {
            Extremum::Max => "max",
            Extremum::Min => "min",
        }
    }
}

/// Runs the body with `$S` naming the element type of an ordered dtype, and `$V` the number of lanes of its folds.
/// Other dtypes must have been refused before.
macro_rules! ordered {
    ($dtype:expr, $S:ident, $V:ident => $body:expr) => {
        match $dtype {
            DType::Bool => ordered!(@ BoolByte, 1, $S, $V, $body),
            DType::Byte => ordered!(@ u8, 1, $S, $V, $body),
            DType::Char => ordered!(@ i8, 1, $S, $V, $body),
            DType::Short => ordered!(@ i16, 1, $S, $V, $body),
            DType::Int => ordered!(@ i32, 1, $S, $V, $body),
            DType::Long => ordered!(@ i64, 1, $S, $V, $body),
            DType::Half => ordered!(@ f16, 16, $S, $V, $body),
            DType::BFloat16 => ordered!(@ bf16, 16, $S, $V, $body),
            DType::Float => ordered!(@ f32, 16, $S, $V, $body),
            DType::Double => ordered!(@ f64, 8, $S, $V, $body),
            other => bail!(RuntimeError, "elements of {} have no order", other.scalar_type()),
        }
    };
    (@ $type:ty, $lanes:literal, $S:ident, $V:ident, $body:expr) => {{
        type $S = $type;
        #[allow(dead_code, reason = "not everything that is ordered is folded")]
        const $V: usize = $lanes;
        $body
    }};
}

/// `amax` or `amin` over dimensions, like [`torch.amax`](https://pytorch.org/docs/2.7/generated/torch.amax.html).
///
/// # Errors
/// IndexError and RuntimeError for wrong or empty dimensions, RuntimeError for dtypes without an order.
pub fn extremum(which: Extremum, view: &View, dims: &[i64], keepdim: bool) -> Result<View> {
    Reduction::check_nonempty(view, &format!("a{}", which.name()), Some(dims))?;
    let reduction = Reduction::new(view, Some(dims), keepdim)?;
    reduce_with(which, view, &reduction, &format!("{}_values_cpu", which.name()))
}

/// `max()` or `min()` of all elements.
///
/// # Errors
/// RuntimeError for an empty tensor and for dtypes without an order.
pub fn extremum_all(which: Extremum, view: &View) -> Result<View> {
    let reduction = Reduction::new(view, None, false)?;
    Reduction::check_nonempty(view, which.name(), None)?;
    reduce_with(which, view, &reduction, &format!("{}_all", which.name()))
}

fn reduce_with(which: Extremum, view: &View, reduction: &Reduction, stub: &str) -> Result<View> {
    let dtype = view.dtype;
    let out = reduction.result(view, dtype)?;
    if view.device().is_meta() {
        return Ok(out);
    }
    check_kernel(stub, classes::BOOL | classes::NUMBERS, dtype)?;
    if view.numel() == 0 {
        return Ok(out);
    }
    let view = resolved(view)?;
    fill(&out, neutral_element(which, dtype))?;
    let layout = reduction.spread(&out, &view);
    ordered!(dtype, S, V => match which {
        Extremum::Max => fold_anywhere::<S, S, V>(&out, &layout, &view, |value| value, larger)?,
        Extremum::Min => fold_anywhere::<S, S, V>(&out, &layout, &view, |value| value, smaller)?,
    });
    Ok(out)
}

/// Returns the value that every other value replaces.
fn neutral_element(which: Extremum, dtype: DType) -> Scalar {
    let (low, high) = integer_limits(dtype);
    match which {
        Extremum::Max if dtype.is_floating_point() => Scalar::Float(f64::NEG_INFINITY),
        Extremum::Min if dtype.is_floating_point() => Scalar::Float(f64::INFINITY),
        Extremum::Max => Scalar::Int(low as i64),
        Extremum::Min => Scalar::Int(high as i64),
    }
}

/// `max(dim)` or `min(dim)`: returns the values and their first indices.
///
/// # Errors
/// IndexError for a wrong or empty dimension, RuntimeError for dtypes without an order.
pub fn extremum_dim(which: Extremum, view: &View, dim: i64, keepdim: bool) -> Result<(View, View)> {
    let name = which.name();
    let d = wrap_dim(dim, view.ndim())?;
    let reduction = Reduction::new(view, Some(&[dim]), keepdim)?;
    Reduction::check_nonempty(view, name, Some(&[d as i64]))?;
    if view.dtype.is_complex() {
        bail!(RuntimeError, "{name}(): does not support complex input");
    }
    let (values, indices) = (reduction.result(view, view.dtype)?, reduction.result(view, DType::Long)?);
    if view.device().is_meta() {
        return Ok((values, indices));
    }
    if view.ndim() == 0 {
        copy_into(&values, view)?;
        return Ok((values, indices));
    }
    check_kernel(&format!("{name}_cpu"), classes::BOOL | classes::NUMBERS, view.dtype)?;
    find(which, &resolved(view)?, d, Some(&values), &indices)?;
    Ok((values, indices))
}

/// `argmax` or `argmin`, along a dimension or of all elements in row-major order.
///
/// # Errors
/// IndexError for wrong or empty dimensions, RuntimeError for unsupported dtypes.
pub fn arg_extremum(which: Extremum, view: &View, dim: Option<i64>, keepdim: bool) -> Result<View> {
    let name = format!("arg{}", which.name());
    if dim.is_none() && view.numel() == 0 {
        bail!(IndexError, "{name}(): Expected reduction dim to be specified for input.numel() == 0.");
    }
    let dims = dim.map(|d| wrap_dim(d, view.ndim()).map(|d| [d as i64])).transpose()?;
    let dims = dims.as_ref().map(<[i64; 1]>::as_slice);
    let reduction = Reduction::new(view, dims, keepdim)?;
    if dims.is_some() {
        Reduction::check_nonempty(view, &name, dims)?;
    }
    let indices = reduction.result(view, DType::Long)?;
    // A dimension of size 1 needs no comparison.
    if view.device().is_meta() || dims.is_some() && view.ndim() > 0 && reduction.factor(view) == 1 {
        return Ok(indices);
    }
    check_kernel(&format!("{name}_cpu"), classes::NUMBERS, view.dtype)?;
    let view = resolved(view)?;
    let Some(dim) = dim else {
        let flat = crate::ops::copy::contiguous(&view)?;
        let layout = Layout { offset: flat.layout.offset, ..Layout::contiguous(&[view.numel()]) };
        find(which, &flat.with_layout(layout), 0, None, &indices)?;
        return Ok(indices);
    };
    find(which, &view, wrap_dim(dim, view.ndim())?, None, &indices)?;
    Ok(indices)
}

/// Searches along dimension `d` of `view` for every element of the results, which are row-major.
fn find(which: Extremum, view: &View, d: usize, values: Option<&View>, indices: &View) -> Result<()> {
    ordered!(view.dtype, S, V => match which {
        Extremum::Max => find_by::<S>(view, d, values, indices, larger, Ordering::Greater),
        Extremum::Min => find_by::<S>(view, d, values, indices, smaller, Ordering::Less),
    })
}

fn find_by<S: Stored<Compute: PartialOrd>>(
    view: &View,
    d: usize,
    values: Option<&View>,
    indices: &View,
    choose: impl Fn(S::Compute, S::Compute) -> S::Compute + Sync,
    better: Ordering,
) -> Result<()> {
    let view = aligned::<S>(view)?;
    let (mut length, mut stride) = (1, 1);
    let mut outer = Vec::with_capacity(view.ndim());
    let mut step = 1;
    for (i, (&size, &own)) in view.sizes().iter().zip(view.strides()).enumerate().rev() {
        if i == d {
            (length, stride) = (size as usize, own);
            continue;
        }
        outer.push(Dim { size, out: step, input: own });
        step *= size;
    }
    let (memory, index_memory) = (view.memory()?, indices.memory()?);
    let value_memory = values.map(View::memory).transpose()?;
    let index_cells = index_memory.typed::<i64>();
    let value_cells = value_memory.as_deref().map(|m| m.typed::<S>()).unwrap_or_default();
    let mut batch: Vec<(i64, i64)> = Vec::new();
    let flush = |batch: &mut Vec<(i64, i64)>| -> Result<()> {
        let found = parallel::reading::<S, _>(&memory, |elements| -> Result<Vec<(usize, S::Compute)>> {
            let run = |start: i64| Run { elements, start, stride, choose: &choose, better };
            let first = |starts: &[(i64, i64)]| starts.iter().map(|&(_, start)| run(start).first(0..length)).collect();
            if let [(_, start)] = **batch {
                let piece = |k: usize| k * PIECE..length.min((k + 1) * PIECE);
                let parts = parallel::collect(length.div_ceil(PIECE), length, &|k| run(start).first(piece(k)))?;
                return Ok(parts.into_iter().reduce(|a, b| run(start).better(a, b)).into_iter().collect());
            }
            let together = (PIECE / length.max(1)).max(1);
            let parts: Vec<_> = batch.chunks(together).collect();
            let found = parallel::collect(parts.len(), batch.len() * length, &|k| match parts.get(k) {
                Some(starts) => first(starts),
                None => Ok(Vec::new()),
            })?;
            Ok(found.into_iter().flatten().collect::<Vec<_>>())
        });
        for (&(out, _), (index, value)) in batch.iter().zip(found.transpose()?.unwrap_or_default()) {
            if let Some(cell) = index_cells.get(out as usize) {
                set(cell, index as i64);
            }
            if let Some(cell) = value_cells.get(out as usize) {
                set(cell, S::narrow(value));
            }
        }
        batch.clear();
        Ok(())
    };
    odometer(&outer, 0, view.layout.offset, &mut |out, input| {
        batch.push((out, input));
        if batch.len() == RESULTS { flush(&mut batch) } else { Ok(()) }
    })?;
    flush(&mut batch)
}

/// A line of elements `stride` apart, in which the extremum is searched.
struct Run<'m, S, F> {
    elements: &'m [S],
    start: i64,
    stride: i64,
    choose: F,
    better: Ordering,
}

impl<S, F> Run<'_, S, F>
where
    S: Stored<Compute: PartialOrd>,
    F: Fn(S::Compute, S::Compute) -> S::Compute,
{
    /// Returns the position and value of the first extremum in a range, or of the first NaN.
    fn first(&self, places: Range<usize>) -> Result<(usize, S::Compute)> {
        let mut best: Option<(usize, S::Compute)> = None;
        let mut buffer = [S::Compute::default(); BLOCK];
        for start in places.clone().step_by(BLOCK) {
            interrupt::check()?;
            let values = &mut buffer[..BLOCK.min(places.end - start)];
            let from = (self.start + start as i64 * self.stride) as usize;
            let elements = self.elements.get(from..).unwrap_or_default();
            match usize::try_from(self.stride) {
                Ok(1) => S::widen_all(elements, values),
                Ok(step) if step > 0 => {
                    values.iter_mut().zip(elements.iter().step_by(step)).for_each(|(value, e)| *value = e.widen());
                }
                _ => values.fill(elements.first().copied().unwrap_or_default().widen()),
            }
            let Some(outstanding) = chosen(values, &self.choose) else { continue };
            let beaten = best.map(|(_, best)| outstanding.partial_cmp(&best));
            if beaten.is_some_and(|order| order.is_some_and(|order| order != self.better)) {
                continue;
            }
            let same = |value: &S::Compute| *value == outstanding || is_nan(value) && is_nan(&outstanding);
            best = values.iter().position(same).map(|k| (start + k, values[k]));
            if is_nan(&outstanding) {
                break;
            }
        }
        Ok(best.unwrap_or_default())
    }

    /// Returns the better of two candidates; `a` comes before `b`.
    fn better(&self, a: (usize, S::Compute), b: (usize, S::Compute)) -> (usize, S::Compute) {
        let later = match b.1.partial_cmp(&a.1) {
            Some(order) => order == self.better,
            None => !is_nan(&a.1),
        };
        if later { b } else { a }
    }
}

fn is_nan<C: PartialOrd>(value: &C) -> bool {
    value.partial_cmp(value).is_none()
}

/// Returns the best of some values, any of several equal ones. Reduces in lanes first, then across lanes.
fn chosen<C: Copy>(values: &[C], choose: impl Fn(C, C) -> C) -> Option<C> {
    vectorised(|| {
        let (vectors, rest) = values.as_chunks::<64>();
        let lanes = vectors.iter().copied().reduce(|mut lanes, vector| {
            lanes.iter_mut().zip(vector).for_each(|(lane, value)| *lane = choose(*lane, value));
            lanes
        });
        lanes.iter().flatten().chain(rest).copied().reduce(&choose)
    })
}
