//! Sums and means. Floats are summed in cascades, with four accumulators of one vector each: first short runs, then
//! runs of runs, so that only numbers of similar size are added.

use super::fold::integers;
use super::tiles::{Tile, for_each};
use super::{Reduction, aligned, resolved};
use crate::bail;
use crate::memory::{get, set};
use crate::ops::copy::{cast, copy_into};
#[cfg(target_feature = "simd128")]
use crate::ops::number::Number;
use crate::ops::number::Stored;
use crate::ops::pointwise::{Output, check_kernel, classes, div};
use crate::ops::promote::Operand;
use crate::parallel::{self, Kernel, vectorised_kernel};
use crate::thresholds::{BATCH, FAR, LONG_SUM, PIECE, RESULTS};
use crate::{DType, Layout, Result, Scalar, View, interrupt};
#[cfg(target_feature = "simd128")]
use elementary::singles;
use half::{bf16, f16};
use num_complex::Complex;
use std::array;
use std::ops::{Add, Range};

/// Sums over dimensions, like [`torch.sum`](https://pytorch.org/docs/2.7/generated/torch.sum.html). Integers are summed
/// in `int64` unless a dtype is given.
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions, RuntimeError for unsupported dtypes.
pub fn sum(view: &View, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<View> {
    let reduction = Reduction::new(view, dims, keepdim)?;
    let dtype = dtype.unwrap_or(view.dtype.sum_result());
    let out = reduction.result(view, dtype)?;
    if view.device().is_meta() || view.numel() == 0 {
        return Ok(out);
    }
    check_kernel("sum_cpu", classes::BOOL | classes::NUMBERS | classes::COMPLEX, dtype)?;
    let view = resolved(view)?;
    if dtype.is_integral(true) {
        // Sums of integers wrap, so they can be narrowed last; booleans and floats must be converted first.
        let first = dtype == DType::Bool || !view.dtype.is_integral(true);
        let view = if first { cast(&view, dtype)? } else { view };
        integers(&out, &reduction, &view, 0, i64::wrapping_add)?;
        return Ok(out);
    }
    let view = if view.dtype == dtype { view } else { cast(&view, dtype)? };
    let layout = reduction.spread(&out, &view);
    match dtype {
        DType::Half | DType::BFloat16 => {
            // Rounded once, at the end.
            let total = reduction.result(&view, DType::Float)?;
            if dtype == DType::Half {
                cascade::<f16, f32, 8, 16>(&total, &layout, &view)?;
            } else {
                cascade::<bf16, f32, 8, 16>(&total, &layout, &view)?;
            }
            copy_into(&out, &total)?;
        }
        DType::Float => cascade::<f32, f32, 8, 8>(&out, &layout, &view)?,
        DType::Double => cascade::<f64, f64, 4, 4>(&out, &layout, &view)?,
        DType::ComplexFloat => cascade::<Complex<f32>, Complex<f32>, 4, 4>(&out, &layout, &view)?,
        _ => cascade::<Complex<f64>, Complex<f64>, 2, 2>(&out, &layout, &view)?,
    }
    Ok(out)
}

/// Averages over dimensions, like [`torch.mean`](https://pytorch.org/docs/2.7/generated/torch.mean.html): the sum,
/// divided by the count.
///
/// # Errors
/// Those of [`sum`], and RuntimeError for dtypes that are not floating.
pub fn mean(view: &View, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<View> {
    let (which, asked) = match dtype {
        Some(dtype) => ("Optional", dtype),
        None => ("Input", view.dtype),
    };
    if !asked.is_differentiable() {
        let got = if view.device().is_meta() { format!("torch.{}", asked.name()) } else { asked.scalar_type().into() };
        bail!(
            RuntimeError,
            "mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. \
             Got: {got}"
        );
    }
    let reduction = Reduction::new(view, dims, keepdim)?;
    let in_float = asked.is_reduced_floating_point();
    let total = sum(view, dims, keepdim, Some(if in_float { DType::Float } else { asked }))?;
    let count = Operand::Number(Scalar::Int(reduction.factor(view)));
    let mean = div((&total).into(), count, None, Output::InPlace(&total), asked)?;
    if in_float { cast(&mean, asked) } else { Ok(mean) }
}

/// The accumulators of one vector register.
type Lanes<C, const V: usize> = [C; V];

#[inline(always)]
fn add_lanes<C: Copy + Add<Output = C>, const V: usize>(to: &mut Lanes<C, V>, from: &Lanes<C, V>) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = *to + from;
    }
}

#[inline(always)]
fn add_four<C: Copy + Add<Output = C>, const V: usize>(to: &mut [Lanes<C, V>; 4], from: &[Lanes<C, V>; 4]) {
    to.iter_mut().zip(from).for_each(|(to, from)| add_lanes(to, from));
}

/// Adds a vector of values to the lanes. If the vector is twice as wide, its two halves are added first.
#[inline(always)]
fn add_vector<C: Copy + Add<Output = C>, const V: usize, const W: usize>(lanes: &mut Lanes<C, V>, vector: &[C; W]) {
    let (low, high) = vector.split_at(V.min(W));
    if W == V {
        lanes.iter_mut().zip(low).for_each(|(lane, &value)| *lane = *lane + value);
    } else {
        let pairs = low.iter().zip(high);
        lanes.iter_mut().zip(pairs).for_each(|(lane, (&low, &high))| *lane = *lane + (low + high));
    }
}

/// Returns the values of a few elements: the elements themselves, or converted into `room`.
#[inline(always)]
fn as_compute_type<'r, S: Stored>(elements: &'r [S], room: &'r mut [S::Compute]) -> &'r [S::Compute] {
    match S::as_computed(elements) {
        Some(values) => values,
        None => {
            S::widen_all(elements, room);
            room.get(..elements.len()).unwrap_or_default()
        }
    }
}

pub(super) const LEVELS: usize = 4;

/// The addends of a sum with four accumulators of `V` lanes.
trait Addends<const V: usize>: Sync {
    type Value: Copy + Default + Add<Output = Self::Value> + Send;
    /// Whether adjacent elements are added in lanes; other loops do not benefit from wide vectors.
    const WIDE: bool;
    /// Adds the addends of some steps. Must be marked `inline(always)`: functions that are called use the narrowest
    /// vectors.
    fn add(&self, steps: Range<usize>, sums: &mut [Lanes<Self::Value, V>; 4]);
}

/// Computes the sums of every level after some steps: runs of `1 << power` steps are summed separately, then runs of
/// runs. The remaining steps are on the lowest level.
struct Levels<'a, A, const V: usize> {
    steps: Range<usize>,
    power: u32,
    addends: &'a A,
}

impl<A: Addends<V>, const V: usize> Kernel for Levels<'_, A, V> {
    type Output = Result<[[Lanes<A::Value, V>; 4]; LEVELS]>;
    #[inline(always)]
    fn run(self, _fuses: bool) -> Self::Output {
        let Levels { steps, power, addends } = self;
        let run = 1usize << power;
        let mut sums = [[[A::Value::default(); V]; 4]; LEVELS];
        let mut i = steps.start;
        // The last run has fewer steps, possibly zero.
        for runs in interrupt::pieces(0..steps.len() / run + 1, 4 * V * run) {
            for _ in runs? {
                let [lowest, ..] = &mut sums;
                let whole = i + run <= steps.end;
                addends.add(i..steps.end.min(i + run), lowest);
                if !whole {
                    break;
                }
                i += run;
                for level in 1..LEVELS {
                    let (below, above) = sums.split_at_mut(level);
                    let (Some(below), Some(above)) = (below.last_mut(), above.first_mut()) else { break };
                    add_four(above, below);
                    *below = [[A::Value::default(); V]; 4];
                    // Only a full run moves to the next level.
                    if i & ((run - 1) << (level as u32 * power)) != 0 {
                        break;
                    }
                }
            }
        }
        Ok(sums)
    }
}

/// Runs a loop that does not benefit from wide vectors, compiled once for all callers.
#[inline(never)]
fn run_narrow<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(false)
}

/// Returns how many steps a run of the lowest level has, as a power of two: at least 16.
#[inline(always)]
pub(super) fn power_of(size: usize) -> u32 {
    let ceil_log2 = if size <= 2 { 1 } else { usize::BITS - (size - 1).leading_zeros() };
    (ceil_log2 / LEVELS as u32).max(4)
}

/// Adds up the sums of every level; `top` is already summed on the highest.
#[inline(always)]
fn all_levels<C: Copy + Add<Output = C>, const V: usize>(
    mut top: [Lanes<C, V>; 4],
    [mut total, middle @ .., highest]: [[Lanes<C, V>; 4]; LEVELS],
) -> [Lanes<C, V>; 4] {
    add_four(&mut top, &highest);
    middle.iter().for_each(|level| add_four(&mut total, level));
    add_four(&mut total, &top);
    total
}

/// Computes four running sums over `size` steps, in runs of at least 16 steps, on four levels. The addends of the
/// highest level are independent of each other: with `shared`, all cores compute them.
#[inline(never)]
fn four_sums<A: Addends<V>, const V: usize>(size: usize, shared: bool, addends: &A) -> Result<[Lanes<A::Value, V>; 4]> {
    let power = power_of(size);
    let levels = |steps| {
        let levels = Levels { steps, power, addends };
        if A::WIDE { vectorised_kernel(levels) } else { run_narrow(levels) }
    };
    let mut start = 0;
    let mut top = [[A::Value::default(); V]; 4];
    if shared {
        let unit = 1usize << (power * (LEVELS as u32 - 1));
        start = size - size % unit;
        let parts = parallel::collect(size / unit, size * 4 * V, &|k| {
            let [.., highest] = levels(k * unit..(k + 1) * unit)?;
            Ok(highest)
        })?;
        parts.iter().for_each(|part| add_four(&mut top, part));
    }
    Ok(all_levels(top, levels(start..size)?))
}

/// Combines four partial sums; `add` folds the remainder into the first.
#[inline(always)]
fn total_of<C, const V: usize>(
    [mut total, others @ ..]: [Lanes<C, V>; 4],
    add: impl Fn(&mut Lanes<C, V>),
) -> Lanes<C, V>
where
    C: Copy + Add<Output = C>,
{
    add(&mut total);
    others.iter().for_each(|other| add_lanes(&mut total, other));
    total
}

/// Sums in `V` lanes; `W` stored elements fill a vector (twice `V` for 16-bit floats).
fn cascade<S, R, const V: usize, const W: usize>(out: &View, layout: &Layout, view: &View) -> Result<()>
where
    S: Stored,
    S::Compute: Add<Output = S::Compute>,
    R: Stored<Compute = S::Compute>,
{
    let view = aligned::<S>(view)?;
    let (out_memory, memory) = (out.memory()?, view.memory()?);
    let results = out_memory.typed::<R>();
    let store = |sums: Vec<PendingSums<S::Compute>>| {
        for (offset, value) in sums.into_iter().flatten() {
            if let Some(sum) = results.get(offset as usize) {
                set(sum, R::narrow(get(sum).widen() + value));
            }
        }
    };
    let sums = |parts: &[ColumnRange]| -> Result<Vec<PendingSums<S::Compute>>> {
        let work = parts.iter().map(|part| part.columns.len() * part.tile.size[0]).sum();
        let sums = parallel::reading::<S, _>(&memory, |cells| {
            let sums = Sums { cells };
            match parts {
                [part] => Ok(vec![sums.part::<V, W>(part, true)?]),
                parts => parallel::collect(parts.len(), work, &|k| match parts.get(k) {
                    Some(part) => sums.part::<V, W>(part, false),
                    None => Ok(Vec::new()),
                }),
            }
        });
        sums.unwrap_or_else(|| bail!(RuntimeError, "elements that are not aligned"))
    };
    let (mut parts, mut volume) = (Vec::new(), 0);
    let flush = |parts: &mut Vec<ColumnRange>| -> Result<()> {
        store(sums(parts)?);
        parts.clear();
        Ok(())
    };
    for_each(layout, &view.layout, &mut |tile| {
        let tile = tile.reduced_first();
        let [rows, columns] = tile.size;
        volume += rows * columns;
        let [down, across] = tile.in_stride;
        // Columns that are summed in groups stay together.
        let is_alone = down == 1 || across != 1 && down < across || columns < 4;
        let long = rows >= LONG_SUM && tile.out_stride[0] == 0 && is_alone;
        // About a piece. Parts with adjacent columns start at strip boundaries, others at a group of four.
        let unit = if across == 1 { 4 * STRIP } else { 4 };
        let width = if long { 1 } else { (PIECE / rows.max(1)).max(1).next_multiple_of(unit) };
        for start in (0..columns).step_by(width) {
            if long && !parts.is_empty() {
                flush(&mut parts)?;
            }
            parts.push(ColumnRange { tile, columns: start..(start + width).min(columns) });
        }
        if long || volume >= BATCH || parts.len() >= RESULTS {
            flush(&mut parts)?;
            volume = 0;
        }
        Ok(())
    })?;
    flush(&mut parts)
}

/// A quarter of the maximum number of columns summed at a time, so that rows are read in long pieces.
const STRIP: usize = 64;

/// The number of rows added to the sums of a strip at a time. The next rows are prefetched if they are far apart.
const ROWS: usize = 4;

/// The number of steps along a run whose elements are converted together.
const TOGETHER: usize = 4;

/// The offsets of results and the values to add to them, in order.
type PendingSums<C> = Vec<(i64, C)>;

/// Some columns of a tile.
struct ColumnRange {
    tile: Tile,
    columns: Range<usize>,
}

struct Sums<'m, S> {
    cells: &'m [S],
}

impl<S> Sums<'_, S>
where
    S: Stored,
    S::Compute: Add<Output = S::Compute>,
{
    #[inline(always)]
    fn value(&self, offset: i64) -> S::Compute {
        self.cells.get(offset as usize).copied().unwrap_or_default().widen()
    }

    /// Computes the sums of a part. A long part that runs alone is `shared` by all cores.
    fn part<const V: usize, const W: usize>(
        &self,
        part: &ColumnRange,
        shared: bool,
    ) -> Result<PendingSums<S::Compute>> {
        let Tile { out, input, size: [rows, _], out_stride, in_stride } = part.tile;
        let Range { start, end } = part.columns;
        let mut sums = Vec::with_capacity(part.columns.len());
        let to = |column: usize| out + column as i64 * out_stride[1];
        let from = |row: usize, column: usize| input + row as i64 * in_stride[0] + column as i64 * in_stride[1];
        let vectors =
            |along: i64, across: i64, j: usize| Vectors { cells: self.cells, start: from(0, j), along, across };
        let shared = shared && rows >= LONG_SUM;
        let column_sum = |j: usize| -> Result<(i64, S::Compute)> {
            let [total] = row_sum::<S, 1>(rows, shared, vectors(4 * in_stride[0], in_stride[0], j))?;
            Ok((to(j), total))
        };
        if out_stride[0] != 0 {
            // Neither dimension of the tile is reduced.
            for j in start..end {
                for piece in interrupt::pieces(0..rows, 1) {
                    sums.extend(piece?.map(|i| (to(j) + i as i64 * out_stride[0], self.value(from(i, j)))));
                }
            }
        } else if in_stride[0] == 1 && rows >= W {
            for j in start..end {
                sums.push((to(j), self.along::<V, W>(from(0, j) as usize, rows, shared)?));
            }
        } else if in_stride[1] == 1 && part.tile.size[1] >= W {
            let mut j = start;
            while j + 4 * V <= end {
                let width = (end - j).min(4 * STRIP) / (4 * V) * (4 * V);
                let strip = AdjacentColumns { cells: self.cells, start: from(0, j), stride: in_stride[0], width };
                let strip = four_sums::<_, STRIP>(rows, false, &strip)?;
                let columns = strip.as_flattened().iter().take(width).enumerate();
                sums.extend(columns.map(|(k, &value)| (to(j + k), value)));
                j += width;
            }
            while j + V <= end {
                let lanes = row_sum::<S, V>(rows, false, vectors(4 * in_stride[0], in_stride[0], j))?;
                sums.extend(lanes.iter().enumerate().map(|(k, &value)| (to(j + k), value)));
                j += V;
            }
            for j in j..end {
                sums.push(column_sum(j)?);
            }
        } else if in_stride[0] < in_stride[1] {
            for j in start..end {
                sums.push(column_sum(j)?);
            }
        } else {
            let whole = end - (end - start) % 4;
            for j in (start..whole).step_by(4) {
                let four = four_sums::<_, 1>(rows, false, &vectors(in_stride[0], in_stride[1], j))?;
                sums.extend(four.iter().flatten().enumerate().map(|(k, &value)| (to(j + k), value)));
            }
            for j in whole..end {
                sums.push(column_sum(j)?);
            }
        }
        Ok(sums)
    }

    /// Sums `length` adjacent elements: whole vectors in lanes, then the remainder, then the lanes one after another.
    fn along<const V: usize, const W: usize>(&self, start: usize, length: usize, shared: bool) -> Result<S::Compute> {
        let run = self.cells.get(start..start + length).unwrap_or_default();
        if !shared {
            return vectorised_kernel(AlongRun::<S, V, W> { run });
        }
        let fours = run.as_chunks::<W>().0.as_chunks::<4>().0;
        let sums = four_sums::<_, V>(fours.len(), shared, &AdjacentElements { fours })?;
        Ok(whole_run::<S, V, W>(sums, run))
    }
}

/// Sums a run that one core adds alone. All in one kernel, because calls between its stages take longer than a short run
/// itself.
struct AlongRun<'m, S, const V: usize, const W: usize> {
    run: &'m [S],
}

impl<S: Stored<Compute: Add<Output = S::Compute>>, const V: usize, const W: usize> Kernel for AlongRun<'_, S, V, W> {
    type Output = Result<S::Compute>;
    #[inline(always)]
    fn run(self, fuses: bool) -> Result<S::Compute> {
        let fours = self.run.as_chunks::<W>().0.as_chunks::<4>().0;
        let addends = &AdjacentElements { fours };
        let levels = Levels::<_, V> { steps: 0..fours.len(), power: power_of(fours.len()), addends }.run(fuses)?;
        Ok(whole_run::<S, V, W>(all_levels([[S::Compute::default(); V]; 4], levels), self.run))
    }
}

/// Combines the four sums of a run's steps, the vectors after the last step, the rest, and the lanes.
#[inline(always)]
fn whole_run<S: Stored<Compute: Add<Output = S::Compute>>, const V: usize, const W: usize>(
    sums: [Lanes<S::Compute, V>; 4],
    run: &[S],
) -> S::Compute {
    let (vectors, rest) = run.as_chunks::<W>();
    let odd = vectors.as_chunks::<4>().1;
    let lanes = total_of(sums, |total| odd.iter().for_each(|vector| add_vector(total, &vector.map(S::widen))));
    let rest = rest.iter().map(|element| element.widen());
    rest.chain(lanes).fold(S::Compute::default(), |total, value| total + value)
}

/// Adjacent elements, four vectors per step.
struct AdjacentElements<'m, S, const W: usize> {
    fours: &'m [[[S; W]; 4]],
}

impl<S: Stored<Compute: Add<Output = S::Compute>>, const V: usize, const W: usize> Addends<V>
    for AdjacentElements<'_, S, W>
{
    type Value = S::Compute;
    const WIDE: bool = true;
    #[inline(always)]
    fn add(&self, steps: Range<usize>, sums: &mut [Lanes<S::Compute, V>; 4]) {
        let mut room = [[[S::Compute::default(); W]; 4]; TOGETHER];
        for fours in self.fours.get(steps).unwrap_or_default().chunks(TOGETHER) {
            let values =
                as_compute_type(fours.as_flattened().as_flattened(), room.as_flattened_mut().as_flattened_mut());
            #[cfg(target_feature = "simd128")]
            if W == V
                && let Some((values, sums)) = S::Compute::as_singles(values, sums.as_flattened_mut())
                && let Ok(sums) = sums.try_into()
            {
                singles::add_rows(sums, values.as_chunks().0);
                continue;
            }
            for four in values.as_chunks::<W>().0.as_chunks::<4>().0 {
                sums.iter_mut().zip(four).for_each(|(lanes, vector)| add_vector(lanes, vector));
            }
        }
    }
}

/// Adjacent columns, one row per step. Rows are `stride` apart.
struct AdjacentColumns<'m, S> {
    cells: &'m [S],
    start: i64,
    stride: i64,
    width: usize,
}

impl<S: Stored> AdjacentColumns<'_, S> {
    #[inline(always)]
    fn row(&self, i: usize) -> &[S] {
        let start = (self.start + i as i64 * self.stride) as usize;
        self.cells.get(start..).and_then(|row| row.get(..self.width)).unwrap_or_default()
    }

    /// Adds rows of `f32`, as many as fill the sums. Returns whether that is what they are.
    #[cfg(target_feature = "simd128")]
    fn add_singles(&self, steps: Range<usize>, sums: &mut [S::Compute]) -> bool {
        let stride = usize::try_from(self.stride).unwrap_or(0);
        let begin = (self.start + steps.start as i64 * self.stride) as usize;
        let cells = self.cells.get(begin..).unwrap_or_default();
        let cells = cells.get(..steps.len().saturating_sub(1) * stride + self.width).and_then(S::as_computed);
        match cells.and_then(|cells| S::Compute::as_singles(cells, sums)) {
            Some((cells, sums)) if sums.len() == self.width && stride >= self.width && !steps.is_empty() => {
                sums.try_into().map(|sums| singles::add_rows_apart(sums, cells, stride)).is_ok()
            }
            _ => false,
        }
    }
}

impl<S: Stored<Compute: Add<Output = S::Compute>>, const V: usize> Addends<V> for AdjacentColumns<'_, S> {
    type Value = S::Compute;
    const WIDE: bool = true;
    #[inline(always)]
    fn add(&self, steps: Range<usize>, sums: &mut [Lanes<S::Compute, V>; 4]) {
        let (mut room, sums) = ([[S::Compute::default(); V]; 4], sums.as_flattened_mut());
        #[cfg(target_feature = "simd128")]
        if self.add_singles(steps.clone(), sums) {
            return;
        }
        let far = self.stride as usize * size_of::<S>() >= FAR;
        for i in steps.clone().step_by(ROWS) {
            let end = steps.end.min(i + ROWS);
            if far {
                (i..end).for_each(|i| parallel::prefetch(self.row(i + ROWS)));
            }
            // The sums are in memory: add several elements while a sum is in a register.
            let rows: [_; ROWS] = array::from_fn(|k| S::as_computed(self.row(i + k)));
            match rows {
                [Some(a), Some(b), Some(c), Some(d)] if end - i == ROWS => {
                    let rows = a.iter().zip(b).zip(c.iter().zip(d));
                    sums.iter_mut().zip(rows).for_each(|(sum, ((&a, &b), (&c, &d)))| *sum = *sum + a + b + c + d);
                }
                _ => (i..end).for_each(|i| {
                    let row = as_compute_type(self.row(i), room.as_flattened_mut());
                    sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum = *sum + value);
                }),
            }
        }
    }
}

/// Strided vectors: those of one step are `across` apart, steps are `along` apart.
struct Vectors<'m, S> {
    cells: &'m [S],
    start: i64,
    along: i64,
    across: i64,
}

impl<S: Stored> Vectors<'_, S> {
    #[inline(always)]
    fn add<const V: usize>(&self, step: usize, k: usize, lanes: &mut Lanes<S::Compute, V>)
    where
        S::Compute: Add<Output = S::Compute>,
    {
        let start = (self.start + step as i64 * self.along + k as i64 * self.across) as usize;
        let vector = self.cells.get(start..).and_then(|vector| vector.first_chunk::<V>());
        vector.into_iter().for_each(|vector| add_vector(lanes, &vector.map(S::widen)));
    }
}

impl<S: Stored<Compute: Add<Output = S::Compute>>, const V: usize> Addends<V> for Vectors<'_, S> {
    type Value = S::Compute;
    const WIDE: bool = false;
    #[inline(always)]
    fn add(&self, steps: Range<usize>, sums: &mut [Lanes<S::Compute, V>; 4]) {
        for step in steps {
            sums.iter_mut().enumerate().for_each(|(k, lanes)| self.add(step, k, lanes));
        }
    }
}

/// Sums `size` vectors; every fourth goes to the same partial sum.
#[inline(never)]
fn row_sum<S: Stored<Compute: Add<Output = S::Compute>>, const V: usize>(
    size: usize,
    shared: bool,
    vectors: Vectors<S>,
) -> Result<Lanes<S::Compute, V>> {
    let fours = size / 4;
    let sums = four_sums::<_, V>(fours, shared, &vectors)?;
    Ok(total_of(sums, |total| (0..size % 4).for_each(|k| vectors.add(fours, k, total))))
}
