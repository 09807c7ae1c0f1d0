//! Reductions that combine two values of a type into one: products, `any` and `all`, maxima and minima.

use super::tiles::{Tile, for_each};
use super::{Reduction, aligned, resolved};
use crate::bail;
use crate::dtype::element_types;
use crate::memory::{BoolByte, ElementCell, Memory, get, set};
use crate::ops::block::{BLOCK, Scratch, valued};
use crate::ops::check::by_width;
use crate::ops::copy::{cast, copy_into, fill, row_major};
use crate::ops::number::{Number, Real, Stored, rounded};
use crate::ops::pointwise::{check_kernel, classes, multiply_tail};
use crate::parallel::{self, Kernel, vectorised, vectorised_kernel};
use crate::thresholds::{BATCH, COLUMNS, PIECE, STEPS};
use crate::{DType, Dims, Layout, Result, Scalar, View, interrupt};
use half::{bf16, f16};
use num_complex::Complex;
use num_traits::Float;
use std::ops::Range;

/// Runs the body with `$S` naming the element type of an integral or `bool` dtype.
macro_rules! whole {
    ($dtype:expr, $S:ident => $body:expr) => {
        whole!(@ [Bool Byte Char Short Int Long UInt16 UInt32 UInt64] $dtype, $S, $body)
    };
    (@ [$($variant:ident)*] $dtype:expr, $S:ident, $body:expr) => {
        match $dtype {
            $(DType::$variant => {
                type $S = element_types::$variant;
                $body
            })*
            other => bail!(RuntimeError, "elements of {} are no whole numbers", other.scalar_type()),
        }
    };
}

/// The product of all elements or along one dimension, like
/// [`torch.prod`](https://pytorch.org/docs/2.7/generated/torch.prod.html).
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for unsupported dtypes.
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
    // Integers are not converted; other operands are cast to the dtype first.
    let as_is = view.dtype == dtype || dtype.is_integral(false) && view.dtype.is_integral(true);
    let view = if as_is { view } else { cast(&view, dtype)? };
    let layout = reduction.spread(&out, &view);
    match dtype {
        DType::Half => fold_reals::<f16, 16>(&out, &layout, &view, |a, b| rounded::<f16>(a * b))?,
        DType::BFloat16 => fold_reals::<bf16, 16>(&out, &layout, &view, |a, b| rounded::<bf16>(a * b))?,
        DType::Float => fold_reals::<f32, 8>(&out, &layout, &view, |a, b| a * b)?,
        DType::Double => fold_reals::<f64, 4>(&out, &layout, &view, |a, b| a * b)?,
        DType::ComplexFloat => fold::<Complex<f32>, 4>(&out, &layout, &view, |a, b| a * b, multiply_tail)?,
        DType::ComplexDouble => fold::<Complex<f64>, 2>(&out, &layout, &view, |a, b| a * b, multiply_tail)?,
        // Operands have been cast to `bool` if needed; other integers are narrowed last, because products wrap.
        _ => integers(&out, &reduction, &view, 1, i64::wrapping_mul)?,
    }
    Ok(out)
}

/// Combines integers or booleans in 64 bits, in any order; `out` starts with `identity`.
pub(super) fn integers(
    out: &View,
    reduction: &Reduction,
    view: &View,
    identity: i64,
    combine: impl Fn(i64, i64) -> i64 + Sync,
) -> Result<()> {
    let wide = if out.dtype == DType::Long { out.clone() } else { reduction.result(view, DType::Long)? };
    fill(&wide, Scalar::Int(identity))?;
    let layout = reduction.spread(&wide, view);
    whole!(view.dtype, S => {
        let lift = |value: <S as Stored>::Compute| value.to_scalar().to_i64();
        fold_anywhere::<S, i64, 1>(&wide, &layout, view, lift, combine)?;
    });
    if wide.is_same(out) { Ok(()) } else { copy_into(out, &wide) }
}

/// Returns whether any element is true. `Some(&[])` reduces no dimensions, `None` all.
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions.
pub fn any(view: &View, dims: Option<&[i64]>, keepdim: bool) -> Result<View> {
    truth(view, dims, keepdim, true)
}

/// Returns whether all elements are true. Dimensions are as for [`any`].
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions.
pub fn all(view: &View, dims: Option<&[i64]>, keepdim: bool) -> Result<View> {
    truth(view, dims, keepdim, false)
}

/// Returns whether any element is true or, if `wanted` is false, whether all are.
fn truth(view: &View, dims: Option<&[i64]>, keepdim: bool, wanted: bool) -> Result<View> {
    // For uint8, PyTorch returns uint8, for programs older than torch.bool.
    let dtype = if view.dtype == DType::Byte { DType::Byte } else { DType::Bool };
    if dims.is_some_and(<[i64]>::is_empty) {
        return cast(&cast(view, DType::Bool)?, dtype);
    }
    let reduction = Reduction::new(view, dims, keepdim)?;
    let out = reduction.result(view, DType::Bool)?;
    fill(&out, Scalar::Bool(!wanted))?;
    if !view.device().is_meta() && view.numel() > 0 {
        let view = if view.dtype.is_integral(true) { resolved(view)? } else { cast(view, DType::Bool)? };
        let layout = reduction.spread(&out, &view);
        // For integers and booleans, an element is zero exactly if all its bits are.
        by_width!(view.dtype, S => {
            let lift = |value: S| BoolByte::new(value.truth());
            let combine = |a: BoolByte, b: BoolByte| if wanted { a | b } else { a & b };
            fold_anywhere::<S, BoolByte, 1>(&out, &layout, &view, lift, combine)?;
        });
    }
    if dtype == DType::Bool { Ok(out) } else { cast(&out, dtype) }
}

/// Returns the larger value, or NaN if there is one.
#[inline(always)]
pub(super) fn larger<T: PartialOrd + Copy>(a: T, b: T) -> T {
    // NaN compares unequal to itself. Without a branch, this compiles to vector instructions.
    if (b > a) | b.partial_cmp(&b).is_none() { b } else { a }
}

/// Returns the smaller value, or NaN if there is one.
#[inline(always)]
pub(super) fn smaller<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if (b < a) | b.partial_cmp(&b).is_none() { b } else { a }
}

/// `out = combine(out, element)` for every element. A vector has `V` elements. Along contiguous runs, four vectors are
/// accumulated at a time and combined at the end. `combine_tail` is used for elements that are combined one by one.
fn fold<S: Stored, const V: usize>(
    out: &View,
    layout: &Layout,
    view: &View,
    combine: impl Fn(S::Compute, S::Compute) -> S::Compute + Sync,
    combine_tail: impl Fn(S::Compute, S::Compute) -> S::Compute + Sync,
) -> Result<()> {
    run::<S, S, V, false>(out, layout, view, None, (|value| value, combine, combine_tail))
}

/// Like [`fold`], for products of real numbers.
fn fold_reals<S: Stored<Compute: Real>, const V: usize>(
    out: &View,
    layout: &Layout,
    view: &View,
    multiply: impl Fn(S::Compute, S::Compute) -> S::Compute + Sync,
) -> Result<()> {
    let zero = <S::Compute as Default>::default();
    let settled =
        Settled { start: zero, is_settled: |value| value == <S::Compute as Default>::default() || value.is_nan() };
    run::<S, S, V, false>(out, layout, view, Some(settled), (|value| value, &multiply, &multiply))
}

/// When a fold in order can no longer change: a product that is 0 stays 0 or becomes NaN, and one that is NaN stays
/// NaN. From there on, pieces can be folded separately, from `start`, and joined.
#[derive(Clone, Copy)]
struct Settled<C> {
    start: C,
    is_settled: fn(C) -> bool,
}

/// Like [`fold`], with `lift` applied to the elements, for a `combine` that is independent of order: long runs are
/// distributed over cores. `V` is 1 for integers and booleans, whose loops compilers vectorise themselves.
pub(super) fn fold_anywhere<S: Stored, R: Stored, const V: usize>(
    out: &View,
    layout: &Layout,
    view: &View,
    lift: impl Fn(S::Compute) -> R::Compute + Sync,
    combine: impl Fn(R::Compute, R::Compute) -> R::Compute + Sync,
) -> Result<()> {
    run::<S, R, V, true>(out, layout, view, None, (lift, &combine, &combine))
}

fn run<S: Stored, R: Stored, const V: usize, const ANYWHERE: bool>(
    out: &View,
    layout: &Layout,
    view: &View,
    settled: Option<Settled<R::Compute>>,
    (lift, combine, combine_tail): (
        impl Fn(S::Compute) -> R::Compute + Sync,
        impl Fn(R::Compute, R::Compute) -> R::Compute + Sync,
        impl Fn(R::Compute, R::Compute) -> R::Compute + Sync,
    ),
) -> Result<()> {
    let view = aligned::<S>(view)?;
    let (out_memory, memory) = (out.memory()?, view.memory()?);
    let (results, cells) = (out_memory.typed::<R>(), memory.typed::<S>());
    let (lift, combine, combine_tail) = (&lift, &combine, &combine_tail);
    let fold = Fold { results, view: &view, memory: &memory, cells, settled, lift, combine, combine_tail };
    for_each(layout, &view.layout, &mut |tile| fold.tile::<V, ANYWHERE>(tile))
}

/// Copies a tile with strided runs to contiguous memory, one piece at a time, and passes each piece on. The result must
/// not depend on the order of elements.
fn moved_together(view: &View, tile: Tile, each: &mut dyn FnMut(&Memory, Tile) -> Result<()>) -> Result<()> {
    let Tile { out, input, size: [width, height], out_stride, in_stride } = tile;
    let columns = width.min(BATCH);
    let rows = (BATCH / columns.max(1)).max(1);
    for j in (0..height).step_by(rows) {
        for i in (0..width).step_by(columns) {
            let size = [columns.min(width - i), rows.min(height - j)];
            let part = Layout {
                sizes: Dims::from_slice(&[size[1] as i64, size[0] as i64]),
                strides: Dims::from_slice(&[in_stride[1], in_stride[0]]),
                offset: input + i as i64 * in_stride[0] + j as i64 * in_stride[1],
            };
            let together = row_major(&view.with_layout(part))?;
            let out = out + j as i64 * out_stride[1];
            let in_stride = [1, size[0] as i64];
            each(&*together.memory()?, Tile { out, input: together.layout.offset, size, out_stride, in_stride })?;
        }
    }
    Ok(())
}

/// A fold of elements `S`, lifted to the compute type of the results `R`.
struct Fold<'m, S, R: Stored, L, F, G> {
    results: &'m [ElementCell<R>],
    view: &'m View,
    memory: &'m Memory,
    cells: &'m [ElementCell<S>],
    settled: Option<Settled<R::Compute>>,
    lift: &'m L,
    combine: &'m F,
    combine_tail: &'m G,
}

/// Four accumulators of one vector each.
type VectorAccumulators<C, const V: usize> = [[C; V]; 4];

/// The number of rows that memory is prefetched ahead.
const AHEAD: usize = 4;

impl<S, R, L, F, G> Fold<'_, S, R, L, F, G>
where
    S: Stored,
    R: Stored,
    L: Fn(S::Compute) -> R::Compute + Sync,
    F: Fn(R::Compute, R::Compute) -> R::Compute + Sync,
    G: Fn(R::Compute, R::Compute) -> R::Compute + Sync,
{
    fn store_result(&self, to: i64, value: R::Compute) {
        if let Some(cell) = self.results.get(to as usize) {
            set(cell, R::narrow((self.combine_tail)(get(cell).widen(), value)));
        }
    }

    fn value(&self, offset: i64) -> R::Compute {
        (self.lift)(self.cells.get(offset as usize).map(get).unwrap_or_default().widen())
    }

    fn tile<const V: usize, const ANYWHERE: bool>(&self, tile: Tile) -> Result<()> {
        let [width, height] = tile.size;
        if (tile.out_stride, tile.in_stride[1]) == ([0, 1], 1) && tile.in_stride[0] != 1 {
            return self.columns::<V>(tile);
        }
        if (tile.out_stride[0], tile.in_stride[0]) == (0, 1) {
            return self.rows::<V, ANYWHERE>(tile);
        }
        if ANYWHERE && tile.out_stride[0] == 0 && width.saturating_mul(height) >= BLOCK {
            return moved_together(self.view, tile, &mut |memory, tile| {
                Fold { memory, cells: memory.typed::<S>(), ..*self }.rows::<V, ANYWHERE>(tile)
            });
        }
        for rows in interrupt::pieces(0..height, width) {
            for j in rows?.map(|j| j as i64) {
                let (to, from) = (tile.out + j * tile.out_stride[1], tile.input + j * tile.in_stride[1]);
                for piece in interrupt::pieces(0..width, 1) {
                    for i in piece?.map(|i| i as i64) {
                        self.store_result(to + i * tile.out_stride[0], self.value(from + i * tile.in_stride[0]));
                    }
                }
            }
        }
        Ok(())
    }

    /// Reduces each contiguous run to one result. Runs with the same result are processed in order, others on all
    /// cores.
    fn rows<const V: usize, const ANYWHERE: bool>(&self, tile: Tile) -> Result<()> {
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
            let (&Fold { lift, combine, combine_tail, .. }, work) = (self, width * rows.len());
            let settled = self.settled;
            let after = parallel::reading::<S, _>(self.memory, |elements| {
                let runs = Runs::<S, R, _, _, _> { elements, settled, lift, combine, combine_tail };
                if let [before] = *before {
                    return Ok(vec![vec![runs.along::<V, ANYWHERE>(before, run(first), true)?]]);
                }
                let together = (PIECE / width.max(1)).max(1);
                parallel::collect(rows.len().div_ceil(together), work, &|k| {
                    let part = k * together..rows.len().min((k + 1) * together);
                    let rows = part.clone().map(|j| first + j).zip(before.get(part).unwrap_or_default());
                    rows.map(|(j, &before)| runs.along::<V, ANYWHERE>(before, run(j), false)).collect()
                })
            });
            for (j, value) in rows.zip(after.transpose()?.into_iter().flatten().flatten()) {
                result(j).into_iter().for_each(|cell| set(cell, R::narrow(value)));
            }
        }
        Ok(())
    }

    /// Computes adjacent results from consecutive rows.
    fn columns<const V: usize>(&self, tile: Tile) -> Result<()> {
        let [rows, width] = tile.size;
        let row = |i: usize| tile.input + i as i64 * tile.in_stride[0];
        let whole = width - width % (4 * V);
        let (lift, combine) = (&self.lift, &self.combine);
        let sums = parallel::reading::<S, _>(self.memory, |elements| {
            parallel::collect(whole.div_ceil(COLUMNS), whole.saturating_mul(rows), &|k| {
                let columns = k * COLUMNS..whole.min((k + 1) * COLUMNS);
                let piece = |i: usize| {
                    let start = row(i) as usize;
                    elements.get(start + columns.start..start + columns.end).unwrap_or_default()
                };
                let mut scratch = Scratch::new();
                let mut lanes: Vec<_> = valued(piece(0), &mut scratch).iter().map(|&value| lift(value)).collect();
                let mut second = Scratch::new();
                for pair in interrupt::pieces(0..(rows - 1) / 2, 2 * columns.len()) {
                    for i in pair?.map(|pair| 1 + 2 * pair) {
                        parallel::prefetch(piece(i + AHEAD));
                        parallel::prefetch(piece(i + 1 + AHEAD));
                        let (upper, lower) = (valued(piece(i), &mut scratch), valued(piece(i + 1), &mut second));
                        vectorised(|| {
                            join(&mut lanes, upper, lower, |lane, a, b| combine(combine(lane, lift(a)), lift(b)))
                        });
                    }
                }
                if rows.is_multiple_of(2) {
                    let values = valued(piece(rows - 1), &mut scratch);
                    vectorised(|| join(&mut lanes, values, values, |lane, value, _| combine(lane, lift(value))));
                }
                Ok(lanes)
            })
        });
        let results = self.results.get(tile.out as usize..).unwrap_or_default();
        for (lane, result) in sums.transpose()?.iter().flatten().flatten().zip(results) {
            set(result, R::narrow(combine(*lane, get(result).widen())));
        }
        for j in whole as i64..width as i64 {
            for piece in interrupt::pieces(0..rows, 1) {
                piece?.for_each(|i| self.store_result(tile.out + j, self.value(row(i) + j)));
            }
        }
        Ok(())
    }
}

/// Contiguous runs, for several threads.
struct Runs<'m, S, R: Stored, L, F, G> {
    elements: &'m [S],
    settled: Option<Settled<R::Compute>>,
    lift: &'m L,
    combine: &'m F,
    combine_tail: &'m G,
}

impl<S, R, L, F, G> Runs<'_, S, R, L, F, G>
where
    S: Stored,
    R: Stored,
    L: Fn(S::Compute) -> R::Compute + Sync,
    F: Fn(R::Compute, R::Compute) -> R::Compute + Sync,
    G: Fn(R::Compute, R::Compute) -> R::Compute + Sync,
{
    /// Combines `before` with a run. A long run is distributed over cores if it is `shared`.
    fn along<const V: usize, const ANYWHERE: bool>(
        &self,
        before: R::Compute,
        run: Range<usize>,
        shared: bool,
    ) -> Result<R::Compute> {
        let Runs { lift, combine, combine_tail, .. } = self;
        let run = self.elements.get(run).unwrap_or_default();
        if V == 1 {
            let piece = |k: usize| run.get(k * PIECE..run.len().min((k + 1) * PIECE)).unwrap_or_default();
            let pieces = run.len().div_ceil(PIECE);
            if shared {
                let parts = parallel::collect(pieces, run.len(), &|k| Ok(self.fold_in_any_order(piece(k))))?;
                return Ok(parts.into_iter().flatten().fold(before, combine));
            }
            return (0..pieces).try_fold(before, |so_far, k| {
                interrupt::check()?;
                Ok(self.fold_in_any_order(piece(k)).map_or(so_far, |part| combine(so_far, part)))
            });
        }
        let (steps, _) = run.as_chunks::<V>().0.as_chunks::<4>();
        if steps.len() <= STEPS
            && let Some(values) = S::as_computed(run)
        {
            let run = ShortRun { before, values, lift, combine, combine_tail };
            return Ok(vectorised_kernel::<ShortRun<R, _, _, _, _, V, ANYWHERE>>(run));
        }
        // Combines steps whose lanes are independent of what comes before. Each piece starts with `start`, and its
        // lanes are joined to `lanes`.
        let by_pieces = |lanes: Option<VectorAccumulators<R::Compute, V>>, steps: &[[[S; V]; 4]], start| -> Result<_> {
            let parts = parallel::collect(steps.len().div_ceil(STEPS), steps.len() * 4 * V, &|k| {
                Ok(self.lanes(start, &steps[k * STEPS..steps.len().min((k + 1) * STEPS)]))
            })?;
            let joined = |mut all: VectorAccumulators<R::Compute, V>, lanes: VectorAccumulators<R::Compute, V>| {
                let pairs = all.iter_mut().flatten().zip(lanes.iter().flatten());
                pairs.for_each(|(all, &lane)| *all = combine(*all, lane));
                all
            };
            Ok(parts.into_iter().flatten().fold(lanes, |all, lanes| Some(all.map_or(lanes, |all| joined(all, lanes)))))
        };
        let (mut lanes, mut left) = (None, steps);
        if ANYWHERE && shared && steps.len() > STEPS {
            (lanes, left) = (by_pieces(None, steps, None)?, &[]);
        }
        while let Some((piece, rest)) =
            left.split_at_checked(left.len().min(STEPS)).filter(|(piece, _)| !piece.is_empty())
        {
            interrupt::check()?;
            (lanes, left) = (self.lanes(lanes, piece), rest);
            let settled = self
                .settled
                .filter(|settled| shared && lanes.iter().flatten().flatten().all(|&lane| (settled.is_settled)(lane)));
            if let Some(Settled { start, .. }) = settled {
                (lanes, left) = (by_pieces(lanes, left, Some([[start; V]; 4]))?, &[]);
            }
        }
        let all = lanes.and_then(|[a, b, c, d]: VectorAccumulators<R::Compute, V>| {
            (0..V).map(|k| combine(combine(a[k], b[k]), combine(c[k], d[k]))).reduce(combine_tail)
        });
        let rest = run.get(steps.len() * 4 * V..).unwrap_or_default().iter().map(|element| lift(element.widen()));
        // Intermediate results are rounded to the element type.
        Ok(all.into_iter().chain(rest).fold(before, |so_far, value| R::narrow(combine_tail(so_far, value)).widen()))
    }

    /// Combines integers or booleans in an order that compilers vectorise; `None` if there are none.
    fn fold_in_any_order(&self, elements: &[S]) -> Option<R::Compute> {
        let mut scratch = Scratch::new();
        let each = elements.chunks(BLOCK).map(|elements| {
            let values = valued(elements, &mut scratch);
            vectorised(|| values.iter().map(|&value| (self.lift)(value)).reduce(&self.combine))
        });
        each.flatten().reduce(&self.combine)
    }

    /// Combines `lanes` with `steps` of elements; without lanes, starts with the first step.
    fn lanes<const V: usize>(
        &self,
        mut lanes: Option<VectorAccumulators<R::Compute, V>>,
        steps: &[[[S; V]; 4]],
    ) -> Option<VectorAccumulators<R::Compute, V>> {
        let Runs { lift, combine, .. } = self;
        let join_all = |lanes: Option<VectorAccumulators<R::Compute, V>>, values: &[S::Compute]| {
            vectorised_kernel(InLanes { lanes, values, lift, combine })
        };
        if let Some(values) = S::as_computed(steps.as_flattened().as_flattened()) {
            return join_all(lanes, values);
        }
        let mut scratch = Scratch::new();
        for steps in steps.chunks(BLOCK / (4 * V)) {
            lanes = join_all(lanes, valued(steps.as_flattened().as_flattened(), &mut scratch));
        }
        lanes
    }
}

/// Combines values with lanes, four vectors at a time; without lanes, starts with the first four.
struct InLanes<'v, C, A, L, F, const V: usize> {
    lanes: Option<VectorAccumulators<A, V>>,
    values: &'v [C],
    lift: L,
    combine: F,
}

impl<C, A, L, F, const V: usize> Kernel for InLanes<'_, C, A, L, F, V>
where
    C: Copy,
    A: Copy,
    L: Fn(C) -> A,
    F: Fn(A, A) -> A,
{
    type Output = Option<VectorAccumulators<A, V>>;
    #[inline(always)]
    fn run(self, _fuses: bool) -> Option<VectorAccumulators<A, V>> {
        let InLanes { lanes, values, lift, combine } = self;
        let mut steps = values.as_chunks::<V>().0.as_chunks::<4>().0.iter();
        let [mut a, mut b, mut c, mut d] = match lanes {
            Some(lanes) => lanes,
            None => steps.next()?.map(|vector| vector.map(&lift)),
        };
        for [first, second, third, fourth] in steps {
            a = joined(a, first, &lift, &combine);
            b = joined(b, second, &lift, &combine);
            c = joined(c, third, &lift, &combine);
            d = joined(d, fourth, &lift, &combine);
        }
        Some([a, b, c, d])
    }
}

/// Folds one run that needs no conversion: steps of four vectors in lanes, then the lanes, then the rest. All in one
/// kernel, because calls between its stages take longer than a short run itself.
struct ShortRun<'v, R: Stored, C, L, F, G, const V: usize, const ANYWHERE: bool> {
    before: R::Compute,
    values: &'v [C],
    lift: L,
    combine: F,
    combine_tail: G,
}

impl<R, C, L, F, G, const V: usize, const ANYWHERE: bool> Kernel for ShortRun<'_, R, C, L, F, G, V, ANYWHERE>
where
    R: Stored,
    C: Copy,
    L: Fn(C) -> R::Compute,
    F: Fn(R::Compute, R::Compute) -> R::Compute,
    G: Fn(R::Compute, R::Compute) -> R::Compute,
{
    type Output = R::Compute;
    #[inline(always)]
    fn run(self, fuses: bool) -> R::Compute {
        let ShortRun { before, values, lift, combine, combine_tail } = self;
        let rest = values.get(values.len() / (4 * V) * (4 * V)..).unwrap_or_default();
        let lanes: Option<VectorAccumulators<R::Compute, V>> =
            InLanes { lanes: None, values, lift: &lift, combine: &combine }.run(fuses);
        let add = |so_far, value| R::narrow(combine_tail(so_far, value)).widen();
        let start = match lanes {
            Some([a, b, c, d]) => {
                let mut lanes: [_; V] = std::array::from_fn(|k| combine(combine(a[k], b[k]), combine(c[k], d[k])));
                let mut left = V;
                // Neighbours in pairs: this keeps the order, for a `combine` that may be bracketed in any way.
                while ANYWHERE && left > 1 {
                    left /= 2;
                    (0..left).for_each(|k| lanes[k] = combine(lanes[2 * k], lanes[2 * k + 1]));
                }
                lanes[..left].iter().copied().reduce(&combine_tail).map_or(before, |all| add(before, all))
            }
            None => before,
        };
        rest.iter().fold(start, |so_far, &value| add(so_far, lift(value)))
    }
}

/// Combines each lane of a vector with a value. Takes and returns the vector by value: compilers do not keep lanes in
/// one register if they are written in place.
#[inline(always)]
fn joined<C: Copy, A: Copy, const V: usize>(
    lanes: [A; V],
    values: &[C; V],
    lift: impl Fn(C) -> A,
    combine: impl Fn(A, A) -> A,
) -> [A; V] {
    let mut joined = lanes;
    for k in 0..V {
        joined[k] = combine(lanes[k], lift(values[k]));
    }
    joined
}

/// Combines lanes with the values of two rows. With one row only, choosing between a lane and a value would become a
/// conditional store, which the next load of the lane waits for.
#[inline(always)]
fn join<C: Copy, A: Copy>(lanes: &mut [A], upper: &[C], lower: &[C], combine: impl Fn(A, C, C) -> A) {
    for (lane, (&upper, &lower)) in lanes.iter_mut().zip(upper.iter().zip(lower)) {
        *lane = combine(*lane, upper, lower);
    }
}
