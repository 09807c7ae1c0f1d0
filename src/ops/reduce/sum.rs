//! Sums and means. Floats are added in cascades: short runs first, then runs of runs, four at a time and as many lanes
//! wide as a vector holds, so that only numbers of similar size meet.

use super::tiles::{Tile, for_each};
use super::{Reduction, resolved};
use crate::bail;
use crate::ops::copy::{cast, copy_into};
use crate::ops::number::{Number, Stored};
use crate::ops::pointwise::{Output, check_kernel, classes, div};
use crate::ops::promote::Operand;
use crate::tensor::memory::{ElementCell, get, set};
use crate::tensor::{DType, Layout, Result, Scalar, View, dispatch};
use half::{bf16, f16};
use num_complex::Complex;
use std::ops::Add;

/// The sum over dimensions, as [`torch.sum`](https://pytorch.org/docs/2.7/generated/torch.sum.html). Integers add up in
/// `int64` unless a dtype is given.
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions, RuntimeError for dtypes without this kernel.
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
        // Sums of integers wrap, so they can be narrowed last; truth and floats must be converted first.
        let first = dtype == DType::Bool || !view.dtype.is_integral(true);
        let view = if first { cast(&view, dtype)? } else { view };
        let total = reduction.result(&view, DType::Long)?;
        let layout = reduction.spread(&total, &view);
        dispatch!(view.dtype, S => integers::<S>(&total, &layout, &view))?;
        if dtype == DType::Long {
            return Ok(total);
        }
        copy_into(&out, &total)?;
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

/// The mean over dimensions, as [`torch.mean`](https://pytorch.org/docs/2.7/generated/torch.mean.html): the sum,
/// divided.
///
/// # Errors
/// As [`sum`], and RuntimeError for dtypes that are not floating.
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

/// Adds up whole numbers, in any order.
fn integers<S: Stored>(out: &View, layout: &Layout, view: &View) -> Result<()> {
    let (out_memory, memory) = (out.memory()?, view.memory()?);
    let (sums, cells) = (out_memory.typed::<i64>(), memory.typed::<S>());
    let value = |cell: &ElementCell<S>| get(cell).widen().to_scalar().to_i64();
    let add = |to: i64, value: i64| {
        if let Some(sum) = sums.get(to as usize) {
            set(sum, get(sum).wrapping_add(value));
        }
    };
    for_each(layout, &view.layout, &mut |tile| {
        let [width, height] = tile.size;
        for j in 0..height as i64 {
            let (to, from) = (tile.out + j * tile.out_stride[1], tile.input + j * tile.in_stride[1]);
            let run = cells.get(from as usize..).unwrap_or_default();
            match (tile.out_stride[0], tile.in_stride[0]) {
                (0, 0) => add(to, run.first().map(value).unwrap_or_default().wrapping_mul(width as i64)),
                (0, 1) => add(to, run.iter().take(width).map(value).fold(0, i64::wrapping_add)),
                (0, step) => {
                    let values = run.iter().step_by(step as usize).take(width).map(value);
                    add(to, values.fold(0, i64::wrapping_add));
                }
                (out_step, 0) => {
                    let one = run.first().map(value).unwrap_or_default();
                    (0..width as i64).for_each(|i| add(to + i * out_step, one));
                }
                (out_step, step) => {
                    for (i, cell) in run.iter().step_by(step as usize).take(width).enumerate() {
                        add(to + i as i64 * out_step, value(cell));
                    }
                }
            }
        }
    });
    Ok(())
}

/// As many values as one vector register holds, each added to by itself.
type Lanes<C, const V: usize> = [C; V];

fn add_lanes<C: Copy + Add<Output = C>, const V: usize>(to: &mut Lanes<C, V>, from: &Lanes<C, V>) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = *to + from;
    }
}

/// Four running sums over `size` steps; `add` adds one step's values. Runs of at least 16 steps are added up by
/// themselves, then runs of runs, on four levels.
fn four_sums<C, const V: usize>(size: usize, add: impl Fn(usize, &mut [Lanes<C, V>; 4])) -> [Lanes<C, V>; 4]
where
    C: Copy + Default + Add<Output = C>,
{
    const LEVELS: usize = 4;
    let ceil_log2 = if size <= 2 { 1 } else { usize::BITS - (size - 1).leading_zeros() };
    let level_power = (ceil_log2 / LEVELS as u32).max(4);
    let level_step = 1usize << level_power;
    let mut sums = [[[C::default(); V]; 4]; LEVELS];
    let mut i = 0;
    while i + level_step <= size {
        let [run, ..] = &mut sums;
        for _ in 0..level_step {
            add(i, run);
            i += 1;
        }
        for level in 1..LEVELS {
            let (below, above) = sums.split_at_mut(level);
            let (Some(below), Some(above)) = (below.last_mut(), above.first_mut()) else { break };
            for (above, below) in above.iter_mut().zip(below.iter_mut()) {
                add_lanes(above, below);
                *below = [C::default(); V];
            }
            // Only a full run moves further up.
            if i & ((level_step - 1) << (level as u32 * level_power)) != 0 {
                break;
            }
        }
    }
    let [mut total, upper @ ..] = sums;
    for i in i..size {
        add(i, &mut total);
    }
    for level in &upper {
        for (total, level) in total.iter_mut().zip(level) {
            add_lanes(total, level);
        }
    }
    total
}

/// The sum of `size` steps, every fourth in one of four sums.
fn row_sum<C, const V: usize>(size: usize, add: impl Fn(usize, &mut Lanes<C, V>)) -> Lanes<C, V>
where
    C: Copy + Default + Add<Output = C>,
{
    let fours = size / 4;
    let sums = four_sums::<C, V>(fours, |i, sums| {
        for (k, sum) in sums.iter_mut().enumerate() {
            add(4 * i + k, sum);
        }
    });
    let [mut total, others @ ..] = sums;
    for i in 4 * fours..size {
        add(i, &mut total);
    }
    for other in &others {
        add_lanes(&mut total, other);
    }
    total
}

/// `V` lanes are added in; `W` elements fill a vector as stored (twice `V` for 16-bit floats).
fn cascade<S, R, const V: usize, const W: usize>(out: &View, layout: &Layout, view: &View) -> Result<()>
where
    S: Stored,
    S::Compute: Add<Output = S::Compute>,
    R: Stored<Compute = S::Compute>,
{
    let (out_memory, memory) = (out.memory()?, view.memory()?);
    let sums = Sums { sums: out_memory.typed::<R>(), cells: memory.typed::<S>() };
    for_each(layout, &view.layout, &mut |tile| sums.tile::<V, W>(tile));
    Ok(())
}

struct Sums<'m, S, R> {
    sums: &'m [ElementCell<R>],
    cells: &'m [ElementCell<S>],
}

impl<S, R> Sums<'_, S, R>
where
    S: Stored,
    S::Compute: Add<Output = S::Compute>,
    R: Stored<Compute = S::Compute>,
{
    /// Adds to a result.
    fn store(&self, offset: i64, value: S::Compute) {
        if let Some(sum) = self.sums.get(offset as usize) {
            set(sum, R::narrow(get(sum).widen() + value));
        }
    }

    fn value(&self, offset: i64) -> S::Compute {
        self.cells.get(offset as usize).map(get).unwrap_or_default().widen()
    }

    /// Adds `V` neighbours to as many lanes.
    #[inline(always)]
    fn add_vector<const V: usize>(&self, offset: i64, lanes: &mut Lanes<S::Compute, V>) {
        let start = offset as usize;
        for (lane, cell) in lanes.iter_mut().zip(self.cells.get(start..start + V).unwrap_or_default()) {
            *lane = *lane + get(cell).widen();
        }
    }

    /// Adds `2 * V` neighbours to `V` lanes: the two halves of a vector meet first.
    #[inline(always)]
    fn add_halves<const V: usize>(&self, offset: i64, lanes: &mut Lanes<S::Compute, V>) {
        let start = offset as usize;
        let (low, high) = (self.cells.get(start..start + V), self.cells.get(start + V..start + 2 * V));
        for ((lane, low), high) in lanes.iter_mut().zip(low.unwrap_or_default()).zip(high.unwrap_or_default()) {
            *lane = *lane + (get(low).widen() + get(high).widen());
        }
    }

    fn tile<const V: usize, const W: usize>(&self, tile: Tile) {
        let Tile { out, input, mut size, mut out_stride, mut in_stride } = tile;
        if out_stride[0] != 0 && out_stride[1] == 0 {
            size.swap(0, 1);
            out_stride.swap(0, 1);
            in_stride.swap(0, 1);
        }
        let [rows, columns] = size;
        let to = |column: usize| out + column as i64 * out_stride[1];
        let from = |row: usize, column: usize| input + row as i64 * in_stride[0] + column as i64 * in_stride[1];
        let column_sum = |j: usize| {
            let [total] = row_sum::<S::Compute, 1>(rows, |i, [sum]| *sum = *sum + self.value(from(i, j)));
            self.store(to(j), total);
        };
        if out_stride[0] != 0 {
            // Nothing is reduced here.
            for j in 0..columns {
                (0..rows).for_each(|i| self.store(to(j) + i as i64 * out_stride[0], self.value(from(i, j))));
            }
        } else if in_stride[0] == 1 && rows >= W {
            (0..columns).for_each(|j| self.store(to(j), self.along::<V, W>(from(0, j), rows)));
        } else if in_stride[1] == 1 && columns >= W {
            let mut j = 0;
            while j + 4 * V <= columns {
                let four = four_sums::<S::Compute, V>(rows, |i, sums| {
                    for (k, lanes) in sums.iter_mut().enumerate() {
                        self.add_vector(from(i, j + k * V), lanes);
                    }
                });
                four.iter().flatten().enumerate().for_each(|(k, &value)| self.store(to(j + k), value));
                j += 4 * V;
            }
            while j + V <= columns {
                let lanes = row_sum::<S::Compute, V>(rows, |i, lanes| self.add_vector(from(i, j), lanes));
                lanes.iter().enumerate().for_each(|(k, &value)| self.store(to(j + k), value));
                j += V;
            }
            (j..columns).for_each(column_sum);
        } else if in_stride[0] < in_stride[1] {
            (0..columns).for_each(column_sum);
        } else {
            let whole = columns - columns % 4;
            for j in (0..whole).step_by(4) {
                let four = four_sums::<S::Compute, 1>(rows, |i, sums| {
                    for (k, [sum]) in sums.iter_mut().enumerate() {
                        *sum = *sum + self.value(from(i, j + k));
                    }
                });
                four.iter().flatten().enumerate().for_each(|(k, &value)| self.store(to(j + k), value));
            }
            (whole..columns).for_each(column_sum);
        }
    }

    /// The sum of `length` neighbours: whole vectors in lanes, the rest first, then the lanes one after another.
    fn along<const V: usize, const W: usize>(&self, start: i64, length: usize) -> S::Compute {
        let vectors = length / W;
        let lanes = row_sum::<S::Compute, V>(vectors, |i, lanes| {
            let offset = start + (i * W) as i64;
            if W == V { self.add_vector(offset, lanes) } else { self.add_halves(offset, lanes) }
        });
        let rest = (vectors * W..length).map(|i| self.value(start + i as i64));
        rest.chain(lanes).fold(S::Compute::default(), |total, value| total + value)
    }
}
