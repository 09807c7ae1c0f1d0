//! Maxima and minima, and their positions. NaN counts as both.

use super::fold::{fold_anywhere, larger, smaller};
use super::tiles::{Dim, odometer};
use super::{Reduction, aligned, resolved};
use crate::bail;
use crate::element::integer_limits;
use crate::layout::wrap_dim;
use crate::memory::{BoolByte, set};
use crate::ops::block::{BLOCK, Scratch, valued};
use crate::ops::copy::{copy_into, fill};
use crate::ops::number::Stored;
use crate::ops::pointwise::{check_kernel, classes};
use crate::parallel::{self, vectorised};
use crate::thresholds::{COLUMNS, PIECE, RESULTS};
use crate::{DType, Layout, Result, Scalar, View, interrupt};
use half::{bf16, f16};
use std::array;
use std::fmt;
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
pub(super) use ordered;

/// `amax` or `amin` over dimensions, like [`torch.amax`](https://pytorch.org/docs/2.7/generated/torch.amax.html).
///
/// # Errors
/// IndexError and RuntimeError for wrong or empty dimensions, RuntimeError for dtypes without an order.
pub fn extremum(which: Extremum, view: &View, dims: &[i64], keepdim: bool) -> Result<View> {
    Reduction::check_nonempty(view, format_args!("a{}", which.name()), Some(dims))?;
    let reduction = Reduction::new(view, Some(dims), keepdim)?;
    reduce_with(which, view, &reduction, format_args!("{}_values_cpu", which.name()))
}

/// `max()` or `min()` of all elements.
///
/// # Errors
/// RuntimeError for an empty tensor and for dtypes without an order.
pub fn extremum_all(which: Extremum, view: &View) -> Result<View> {
    let reduction = Reduction::new(view, None, false)?;
    Reduction::check_nonempty(view, which.name(), None)?;
    reduce_with(which, view, &reduction, format_args!("{}_all", which.name()))
}

fn reduce_with(which: Extremum, view: &View, reduction: &Reduction, stub: fmt::Arguments<'_>) -> Result<View> {
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
    check_kernel(format_args!("{name}_cpu"), classes::BOOL | classes::NUMBERS, view.dtype)?;
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
    check_kernel(format_args!("{name}_cpu"), classes::NUMBERS, view.dtype)?;
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
        Extremum::Max => find_by::<S>(view, d, values, indices, |new, old| new > old),
        Extremum::Min => find_by::<S>(view, d, values, indices, |new, old| new < old),
    })
}

fn find_by<S: Stored<Compute: PartialOrd>>(
    view: &View,
    d: usize,
    values: Option<&View>,
    indices: &View,
    better: impl Fn(S::Compute, S::Compute) -> bool + Sync,
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
    // Adjacent lines across the elements are searched side by side.
    let most = match outer.first() {
        Some(inner) if stride != 1 && inner.input == 1 => (inner.size as usize).clamp(1, COLUMNS),
        _ => 1,
    };
    let mut batch: Vec<(i64, i64, usize)> = Vec::new();
    let flush = |batch: &mut Vec<(i64, i64, usize)>| -> Result<()> {
        let found = parallel::reading::<S, _>(&memory, |elements| -> Result<Vec<(usize, S::Compute)>> {
            let run = |start: i64| Run { elements, start, stride, better: &better };
            let first = |starts: &[(i64, i64, usize)]| {
                let (mut found, mut scratch) = (Vec::with_capacity(starts.len() * most), Scratch::new());
                for &(_, start, count) in starts {
                    match most {
                        1 => found.push(run(start).first(0..length, &mut scratch)?),
                        _ => run(start).side_by_side(count, length, &mut scratch, &mut found)?,
                    }
                }
                Ok(found)
            };
            if let [(_, start, 1)] = **batch {
                let piece = |k: usize| k * PIECE..length.min((k + 1) * PIECE);
                let parts = parallel::collect(length.div_ceil(PIECE), length, &|k| {
                    run(start).first(piece(k), &mut Scratch::new())
                })?;
                return Ok(parts.into_iter().reduce(|a, b| run(start).better(a, b)).into_iter().collect());
            }
            let together = (PIECE / length.saturating_mul(most).max(1)).max(1);
            let parts: Vec<_> = batch.chunks(together).collect();
            let work = batch.len().saturating_mul(length).saturating_mul(most);
            let found = parallel::collect(parts.len(), work, &|k| match parts.get(k) {
                Some(starts) => first(starts),
                None => Ok(Vec::new()),
            })?;
            Ok(found.into_iter().flatten().collect::<Vec<_>>())
        });
        let outs = batch.iter().flat_map(|&(out, _, count)| out..out + count as i64);
        for (out, (index, value)) in outs.zip(found.transpose()?.unwrap_or_default()) {
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
    let columns = if most == 1 { 1 } else { outer.remove(0).size as usize };
    odometer(&outer, 0, view.layout.offset, &mut |out, input| {
        for first in (0..columns).step_by(most) {
            batch.push((out + first as i64, input + first as i64, most.min(columns - first)));
            if batch.len() * most >= RESULTS {
                flush(&mut batch)?;
            }
        }
        Ok(())
    })?;
    flush(&mut batch)
}

/// Elements that are compared with an extremum together, to find its position.
const GROUP: usize = 32;

/// The number of rows that memory is prefetched ahead.
const AHEAD: usize = 4;

/// A line of elements `stride` apart, in which the extremum is searched.
struct Run<'m, S, F> {
    elements: &'m [S],
    start: i64,
    stride: i64,
    /// Whether a new value is better than the best one so far; false if one of them is NaN.
    better: F,
}

impl<S, F> Run<'_, S, F>
where
    S: Stored<Compute: PartialOrd>,
    F: Fn(S::Compute, S::Compute) -> bool,
{
    /// Returns the position and value of the first extremum in a range, or of the first NaN.
    fn first(&self, places: Range<usize>, scratch: &mut Scratch<S::Compute>) -> Result<(usize, S::Compute)> {
        let mut best: Option<(usize, S::Compute)> = None;
        for start in places.clone().step_by(BLOCK) {
            interrupt::check()?;
            let length = BLOCK.min(places.end - start);
            let from = (self.start + start as i64 * self.stride) as usize;
            let elements = self.elements.get(from..).unwrap_or_default();
            let values = match usize::try_from(self.stride) {
                Ok(1) => valued(elements.get(..length).unwrap_or_default(), scratch),
                step => {
                    let values = scratch.values(length);
                    match step {
                        Ok(step) if step > 0 => {
                            let elements = elements.iter().step_by(step);
                            values.iter_mut().zip(elements).for_each(|(value, e)| *value = e.widen());
                        }
                        _ => values.fill(elements.first().copied().unwrap_or_default().widen()),
                    }
                    values
                }
            };
            let choose = |old, new| if (self.better)(new, old) | is_nan(&new) { new } else { old };
            let Some(outstanding) = chosen(values, choose) else { continue };
            if best.is_some_and(|(_, best)| !is_nan(&outstanding) && !(self.better)(outstanding, best)) {
                continue;
            }
            let same = |value: &S::Compute| (*value == outstanding) | (is_nan(value) & is_nan(&outstanding));
            // Groups without the value are passed by vectors.
            let group = |values: &&[S::Compute]| vectorised(|| values.iter().fold(false, |any, v| any | same(v)));
            let before = values.chunks(GROUP).take_while(|values| !group(values)).count() * GROUP;
            let rest = values.get(before..).unwrap_or_default();
            best = rest.iter().position(same).map(|k| (start + before + k, rest[k]));
            if is_nan(&outstanding) {
                break;
            }
        }
        Ok(best.unwrap_or_default())
    }

    /// Adds what [`Run::first`] returns to `found`, for this line and those of the elements beside it, `count` in all.
    fn side_by_side(
        &self,
        count: usize,
        length: usize,
        scratch: &mut Scratch<S::Compute>,
        found: &mut Vec<(usize, S::Compute)>,
    ) -> Result<()> {
        let row = |i: usize| {
            let start = (self.start + i as i64 * self.stride) as usize;
            self.elements.get(start..).and_then(|row| row.get(..count)).unwrap_or_default()
        };
        let mut best = valued(row(0), scratch).to_vec();
        let mut places = vec![0; best.len()];
        for rows in interrupt::pieces(1..length, count) {
            for i in rows? {
                parallel::prefetch(row((i + AHEAD).min(length - 1)));
                let values = valued(row(i), scratch);
                vectorised(|| {
                    for ((best, place), &value) in best.iter_mut().zip(&mut places).zip(values) {
                        let beats = (self.better)(value, *best) | (is_nan(&value) & !is_nan(best));
                        *best = if beats { value } else { *best };
                        *place = if beats { i } else { *place };
                    }
                });
            }
        }
        found.extend(places.into_iter().zip(best));
        Ok(())
    }

    /// Returns the better of two candidates; `a` comes before `b`.
    fn better(&self, a: (usize, S::Compute), b: (usize, S::Compute)) -> (usize, S::Compute) {
        let later = (self.better)(b.1, a.1) || is_nan(&b.1) && !is_nan(&a.1);
        if later { b } else { a }
    }
}

#[inline(always)]
fn is_nan<C: PartialOrd>(value: &C) -> bool {
    value.partial_cmp(value).is_none()
}

/// Returns the best of some values, any of several equal ones. Reduces in lanes first, then across lanes.
fn chosen<C: Copy>(values: &[C], choose: impl Fn(C, C) -> C) -> Option<C> {
    vectorised(|| {
        let (vectors, rest) = values.as_chunks::<64>();
        let lanes = vectors.iter().copied().reduce(|lanes, vector| array::from_fn(|k| choose(lanes[k], vector[k])));
        let best = lanes.map(|mut lanes| {
            for left in [32, 16, 8, 4, 2, 1] {
                (0..left).for_each(|k| lanes[k] = choose(lanes[k], lanes[k + left]));
            }
            lanes[0]
        });
        best.into_iter().chain(rest.iter().copied()).reduce(&choose)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::testing::{must, tensor};
    use crate::ops::reduce::running_extremum;
    use crate::ops::view::transpose;
    use crate::parallel::{set_cores, set_width};

    /// The reference: the position of the first extremum of a line, or of its first NaN, and those of every beginning
    /// of the line if the last of several equal ones counts.
    fn one_by_one(line: &[f64], better: impl Fn(f64, f64) -> bool) -> (usize, Vec<usize>) {
        let (mut first, mut last, mut so_far) = (0, 0, Vec::new());
        for (i, &value) in line.iter().enumerate() {
            first = if better(value, line[first]) || value.is_nan() && !line[first].is_nan() { i } else { first };
            last = if better(value, line[last]) || value == line[last] || value.is_nan() { i } else { last };
            so_far.push(last);
        }
        (first, so_far)
    }

    fn places(view: &View) -> Vec<usize> {
        let scalars = view.scalars().unwrap_or_else(|error| panic!("{error}"));
        scalars.into_iter().map(|place| place.to_i64() as usize).collect()
    }

    /// Along rows, across them side by side, and one element after another.
    #[test]
    fn every_way_finds_the_same_positions() {
        let sizes = [1, 2, GROUP - 1, GROUP + 1, 2 * GROUP, COLUMNS, COLUMNS + 1, BLOCK - 1, BLOCK + 3];
        let (mut state, mut cases) = (5u64, Vec::new());
        for (k, &length) in sizes.iter().enumerate() {
            let rows = [1, 3, 2, 70, 5, 2, 4, 3, 2][k];
            for kind in 0..3 {
                let mut random = || {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 40) as f64
                };
                let values: Vec<f64> =
                    (0..rows * length).map(|_| random() % [7.0, 100.0, 60_000.0][kind] - 3.0).collect();
                cases.push((rows, length, values));
            }
        }
        for (rows, length, mut values) in cases {
            for (dtype, with_nan) in
                [(DType::Float, true), (DType::Half, false), (DType::Long, false), (DType::Float, false)]
            {
                if dtype == DType::Float && with_nan {
                    values.iter_mut().step_by(2 * length - 1).for_each(|value| *value = f64::NAN);
                } else {
                    values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = -0.0);
                }
                let view = tensor(&[rows as i64, length as i64], dtype, &values);
                let stored: Vec<f64> = view.scalars().expect("values").into_iter().map(Scalar::to_f64).collect();
                let columns = must(crate::ops::copy::row_major(&must(transpose(&view, 0, 1))));
                for (which, better) in [
                    (Extremum::Max, (|a, b| a > b) as fn(f64, f64) -> bool),
                    (Extremum::Min, (|a, b| a < b) as fn(f64, f64) -> bool),
                ] {
                    let (first, so_far): (Vec<_>, Vec<_>) =
                        stored.chunks(length).map(|line| one_by_one(line, better)).unzip();
                    for (cores, width) in [(1, 128), (2, 256), (3, 512), (7, 0)] {
                        set_cores(cores);
                        set_width(width);
                        for (view, d) in [(&view, 1), (&columns, 0)] {
                            let name = format!("{which:?} of {rows} lines of {length} {dtype:?}, dimension {d}");
                            let (best, found) = extremum_dim(which, view, d, false).expect("extrema");
                            assert_eq!(places(&found), first, "{name}");
                            let bits = |value: f64| if value.is_nan() { 1 } else { value.to_bits() };
                            let best = best.scalars().expect("values").into_iter().map(|value| bits(value.to_f64()));
                            let wanted = first.iter().zip(stored.chunks(length)).map(|(&at, line)| bits(line[at]));
                            assert!(best.eq(wanted), "{name}: values");
                            let (_, running) = running_extremum(which, view, d).expect("extrema");
                            let running = if d == 1 { running } else { must(transpose(&running, 0, 1)) };
                            assert_eq!(places(&running), so_far.concat(), "{name}: running");
                        }
                    }
                }
            }
        }
        set_cores(0);
        set_width(0);
    }
}
