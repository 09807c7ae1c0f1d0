//! Reductions that combine two values of a type into one of the same: products, truth, and largest and smallest values.

use super::tiles::{Tile, for_each};
use super::{Reduction, aligned, resolved};
use crate::ops::copy::{cast, copy_into, fill};
use crate::ops::number::Stored;
use crate::ops::pointwise::{check_kernel, classes, multiply_tail};
use crate::tensor::memory::{BoolByte, ElementCell, Memory, get, set};
use crate::tensor::parallel::{self, vectorised};
use crate::tensor::thresholds::{BATCH, COLUMNS, PIECE, STEPS};
use crate::tensor::{DType, Layout, Result, Scalar, View, interrupt};
use half::{bf16, f16};
use num_complex::Complex;
use std::ops::Range;

/// The product of all elements or along one dimension, as
/// [`torch.prod`](https://pytorch.org/docs/2.7/generated/torch.prod.html).
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for dtypes without this kernel.
pub fn prod(view: &View, dim: Option<i64>, keepdim: bool, dtype: Option<DType>) -> Result<View> {
    let dims = dim.map(|d| [d]);
    let reduction = Reduction::new(view, dims.as_ref().map(<[i64; 1]>::as_slice), keepdim)?;
    let dtype = dtype.unwrap_or(view.dtype.sum_result());
    let out = reduction.result(view, dtype)?;
    fill(&out, Scalar::Int(1))?;
    if view.device().is_meta() || view.numel() == 0 {
        return Ok(out);
    }
    check_kernel("prod_out_cpu", classes::BOOL | classes::NUMBERS | classes::COMPLEX, dtype)?;
    let view = resolved(view)?;
    let view = if view.dtype == dtype { view } else { cast(&view, dtype)? };
    let layout = reduction.spread(&out, &view);
    match dtype {
        DType::Bool => fold_anywhere::<BoolByte, 32>(&out, &layout, &view, |a, b| a & b)?,
        DType::Half => fold::<f16, 16>(&out, &layout, &view, |a, b| f16::from_f32(a * b).to_f32())?,
        DType::BFloat16 => fold::<bf16, 16>(&out, &layout, &view, |a, b| bf16::from_f32(a * b).to_f32())?,
        DType::Float => fold::<f32, 8>(&out, &layout, &view, |a, b| a * b)?,
        DType::Double => fold::<f64, 4>(&out, &layout, &view, |a, b| a * b)?,
        DType::ComplexFloat => fold_with::<Complex<f32>, 4>(&out, &layout, &view, false, |a, b| a * b, multiply_tail)?,
        DType::ComplexDouble => fold_with::<Complex<f64>, 2>(&out, &layout, &view, false, |a, b| a * b, multiply_tail)?,
        // Products wrap, so they can be narrowed last.
        _ => {
            let wide = cast(&view, DType::Long)?;
            let product = reduction.result(&view, DType::Long)?;
            fill(&product, Scalar::Int(1))?;
            let layout = reduction.spread(&product, &wide);
            fold_anywhere::<i64, 4>(&product, &layout, &wide, i64::wrapping_mul)?;
            copy_into(&out, &product)?;
        }
    }
    Ok(out)
}

/// Tells whether any element is true. No dimensions (`Some(&[])`) means none are reduced, `None` means all are.
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions.
pub fn any(view: &View, dims: Option<&[i64]>, keepdim: bool) -> Result<View> {
    truth(view, dims, keepdim, false, |a, b| a | b)
}

/// Tells whether all elements are true. Dimensions are as for [`any`].
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions.
pub fn all(view: &View, dims: Option<&[i64]>, keepdim: bool) -> Result<View> {
    truth(view, dims, keepdim, true, |a, b| a & b)
}

fn truth(
    view: &View,
    dims: Option<&[i64]>,
    keepdim: bool,
    identity: bool,
    combine: impl Fn(bool, bool) -> bool + Sync,
) -> Result<View> {
    // Of uint8, PyTorch makes uint8, for programs older than torch.bool.
    let dtype = if view.dtype == DType::Byte { DType::Byte } else { DType::Bool };
    if dims.is_some_and(<[i64]>::is_empty) {
        return cast(&cast(view, DType::Bool)?, dtype);
    }
    let reduction = Reduction::new(view, dims, keepdim)?;
    let out = reduction.result(view, DType::Bool)?;
    fill(&out, Scalar::Bool(identity))?;
    if !view.device().is_meta() && view.numel() > 0 {
        let view = if view.dtype == DType::Bool { view.clone() } else { cast(view, DType::Bool)? };
        fold_anywhere::<BoolByte, 32>(&out, &reduction.spread(&out, &view), &view, combine)?;
    }
    if dtype == DType::Bool { Ok(out) } else { cast(&out, dtype) }
}

/// The larger, or NaN if there is one.
pub(super) fn larger<T: PartialOrd + Copy>(a: T, b: T) -> T {
    // NaN compares unequal to itself.
    if b > a || b.partial_cmp(&b).is_none() { b } else { a }
}

/// The smaller, or NaN if there is one.
pub(super) fn smaller<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if b < a || b.partial_cmp(&b).is_none() { b } else { a }
}

/// `out = combine(out, element)` for every element. `V` elements fill a vector: along contiguous runs four vectors are
/// combined at a time, and then with each other.
fn fold<S: Stored, const V: usize>(
    out: &View,
    layout: &Layout,
    view: &View,
    combine: impl Fn(S::Compute, S::Compute) -> S::Compute + Sync,
) -> Result<()> {
    fold_with::<S, V>(out, layout, view, false, &combine, &combine)
}

/// As [`fold`], for a `combine` to which it is all the same where a run is cut in two: all cores do a long one.
pub(super) fn fold_anywhere<S: Stored, const V: usize>(
    out: &View,
    layout: &Layout,
    view: &View,
    combine: impl Fn(S::Compute, S::Compute) -> S::Compute + Sync,
) -> Result<()> {
    fold_with::<S, V>(out, layout, view, true, &combine, &combine)
}

/// As [`fold`], with a `combine` of its own for elements that are combined one by one.
fn fold_with<S: Stored, const V: usize>(
    out: &View,
    layout: &Layout,
    view: &View,
    anywhere: bool,
    combine: impl Fn(S::Compute, S::Compute) -> S::Compute + Sync,
    combine_tail: impl Fn(S::Compute, S::Compute) -> S::Compute + Sync,
) -> Result<()> {
    let view = aligned::<S>(view)?;
    let (out_memory, memory) = (out.memory()?, view.memory()?);
    let (results, cells) = (out_memory.typed::<S>(), memory.typed::<S>());
    let fold = Fold { results, memory: &memory, cells, anywhere, combine, combine_tail };
    for_each(layout, &view.layout, &mut |tile| fold.tile::<V>(tile))
}

struct Fold<'m, S, F, G> {
    results: &'m [ElementCell<S>],
    memory: &'m Memory,
    cells: &'m [ElementCell<S>],
    anywhere: bool,
    combine: F,
    combine_tail: G,
}

/// The combination of four vectors of elements, lane by lane.
type Lanes<C, const V: usize> = [[C; V]; 4];

/// The number of steps that memory is prefetched ahead.
const AHEAD: usize = 16;

impl<S, F, G> Fold<'_, S, F, G>
where
    S: Stored,
    F: Fn(S::Compute, S::Compute) -> S::Compute + Sync,
    G: Fn(S::Compute, S::Compute) -> S::Compute + Sync,
{
    fn put(&self, to: i64, value: S::Compute) {
        if let Some(cell) = self.results.get(to as usize) {
            set(cell, S::narrow((self.combine_tail)(get(cell).widen(), value)));
        }
    }

    fn value(&self, offset: i64) -> S::Compute {
        self.cells.get(offset as usize).map(get).unwrap_or_default().widen()
    }

    fn tile<const V: usize>(&self, tile: Tile) -> Result<()> {
        let [width, height] = tile.size;
        if (tile.out_stride, tile.in_stride[1]) == ([0, 1], 1) && tile.in_stride[0] != 1 {
            return self.columns::<V>(tile);
        }
        if (tile.out_stride[0], tile.in_stride[0]) == (0, 1) {
            return self.rows::<V>(tile);
        }
        for rows in interrupt::pieces(0..height, width) {
            for j in rows?.map(|j| j as i64) {
                let (to, from) = (tile.out + j * tile.out_stride[1], tile.input + j * tile.in_stride[1]);
                for piece in interrupt::pieces(0..width, 1) {
                    for i in piece?.map(|i| i as i64) {
                        self.put(to + i * tile.out_stride[0], self.value(from + i * tile.in_stride[0]));
                    }
                }
            }
        }
        Ok(())
    }

    /// One result of each contiguous run. Runs that meet in a result are taken one after another, others by all cores.
    fn rows<const V: usize>(&self, tile: Tile) -> Result<()> {
        let [width, height] = tile.size;
        let run = |j: usize| {
            let start = (tile.input + j as i64 * tile.in_stride[1]) as usize;
            start..start + width
        };
        let meet = tile.out_stride[1] == 0;
        let batch = if meet { 1 } else { (BATCH / width.max(1)).max(1) };
        for first in (0..height).step_by(batch) {
            let rows = first..height.min(first + batch);
            let result = |j: usize| self.results.get((tile.out + j as i64 * tile.out_stride[1]) as usize);
            let before: Vec<_> = rows.clone().map(|j| result(j).map(get).unwrap_or_default().widen()).collect();
            let (Fold { anywhere, combine, combine_tail, .. }, work) = (self, width * rows.len());
            let after = parallel::reading::<S, _>(self.memory, |elements| {
                let each = Runs { elements, combine, combine_tail };
                if let [before] = *before {
                    return Ok(vec![vec![each.along::<V>(before, run(first), *anywhere)?]]);
                }
                let together = (PIECE / width.max(1)).max(1);
                parallel::collect(rows.len().div_ceil(together), work, &|k| {
                    let part = k * together..rows.len().min((k + 1) * together);
                    let rows = part.clone().map(|j| first + j).zip(before.get(part).unwrap_or_default());
                    rows.map(|(j, &before)| each.along::<V>(before, run(j), false)).collect()
                })
            });
            for (j, value) in rows.zip(after.transpose()?.into_iter().flatten().flatten()) {
                result(j).into_iter().for_each(|cell| set(cell, S::narrow(value)));
            }
        }
        Ok(())
    }

    /// Neighbouring results of rows that lie one after another.
    fn columns<const V: usize>(&self, tile: Tile) -> Result<()> {
        let [rows, width] = tile.size;
        let row = |i: usize| tile.input + i as i64 * tile.in_stride[0];
        let whole = width - width % (4 * V);
        let combine = &self.combine;
        let sums = parallel::reading::<S, _>(self.memory, |elements| {
            parallel::collect(whole.div_ceil(COLUMNS), whole.saturating_mul(rows), &|k| {
                let columns = k * COLUMNS..whole.min((k + 1) * COLUMNS);
                let piece = |i: usize| {
                    let start = row(i) as usize;
                    elements.get(start + columns.start..start + columns.end).unwrap_or_default()
                };
                let mut lanes: Vec<S::Compute> = piece(0).iter().map(|element| element.widen()).collect();
                for rows in interrupt::pieces(1..rows, columns.len()) {
                    let rows = rows?;
                    vectorised(|| rows.for_each(|i| join(&mut lanes, piece(i), combine)));
                }
                Ok(lanes)
            })
        });
        let results = self.results.get(tile.out as usize..).unwrap_or_default();
        for (lane, result) in sums.transpose()?.iter().flatten().flatten().zip(results) {
            set(result, S::narrow(combine(*lane, get(result).widen())));
        }
        for j in whole as i64..width as i64 {
            for piece in interrupt::pieces(0..rows, 1) {
                piece?.for_each(|i| self.put(tile.out + j, self.value(row(i) + j)));
            }
        }
        Ok(())
    }
}

/// Contiguous runs, for several threads.
struct Runs<'m, S, F, G> {
    elements: &'m [S],
    combine: F,
    combine_tail: G,
}

impl<S, F, G> Runs<'_, S, F, G>
where
    S: Stored,
    F: Fn(S::Compute, S::Compute) -> S::Compute + Sync,
    G: Fn(S::Compute, S::Compute) -> S::Compute,
{
    /// `before` combined with a run, if it is long and `shared` by all cores.
    fn along<const V: usize>(&self, before: S::Compute, run: Range<usize>, shared: bool) -> Result<S::Compute> {
        let Runs { combine, combine_tail, .. } = self;
        let run = self.elements.get(run).unwrap_or_default();
        let (steps, _) = run.as_chunks::<V>().0.as_chunks::<4>();
        let lanes = if shared && steps.len() > STEPS {
            let parts = parallel::collect(steps.len().div_ceil(STEPS), steps.len() * 4 * V, &|k| {
                Ok(joined(None, &steps[k * STEPS..steps.len().min((k + 1) * STEPS)], combine))
            })?;
            parts.into_iter().flatten().reduce(|mut all, lanes| {
                let pairs = all.iter_mut().flatten().zip(lanes.iter().flatten());
                pairs.for_each(|(all, &lane)| *all = combine(*all, lane));
                all
            })
        } else {
            steps.chunks(STEPS).try_fold(None, |lanes, steps| {
                interrupt::check()?;
                Ok(joined(lanes, steps, combine))
            })?
        };
        let all = lanes.and_then(|[a, b, c, d]: Lanes<S::Compute, V>| {
            (0..V).map(|k| combine(combine(a[k], b[k]), combine(c[k], d[k]))).reduce(combine_tail)
        });
        let rest = run.get(steps.len() * 4 * V..).unwrap_or_default().iter().map(|element| element.widen());
        // Every value on the way has been an element of the result.
        Ok(all.into_iter().chain(rest).fold(before, |so_far, value| S::narrow(combine_tail(so_far, value)).widen()))
    }
}

/// Combines as many elements as there are lanes with them.
#[inline(always)]
fn join<S: Stored>(lanes: &mut [S::Compute], elements: &[S], combine: impl Fn(S::Compute, S::Compute) -> S::Compute) {
    for (lane, element) in lanes.iter_mut().zip(elements) {
        *lane = combine(*lane, element.widen());
    }
}

/// `lanes` combined with `steps` of elements; without lanes, the first step begins.
fn joined<S: Stored, const V: usize>(
    lanes: Option<Lanes<S::Compute, V>>,
    steps: &[[[S; V]; 4]],
    combine: impl Fn(S::Compute, S::Compute) -> S::Compute,
) -> Option<Lanes<S::Compute, V>> {
    vectorised(|| {
        let all = steps;
        let mut steps = steps.iter();
        let mut lanes = match lanes {
            Some(lanes) => lanes,
            None => steps.next()?.map(|vector| vector.map(S::widen)),
        };
        for (i, step) in steps.enumerate() {
            parallel::prefetch(all.get(i + AHEAD).map(|step| step.as_flattened()).unwrap_or_default());
            lanes.iter_mut().zip(step).for_each(|(lanes, vector)| join(lanes, vector, &combine));
        }
        Some(lanes)
    })
}
