//! Reductions that combine two values of a type into one of the same: products, truth, and largest and smallest values.

use super::tiles::{Tile, for_each};
use super::{Reduction, resolved};
use crate::ops::copy::{cast, copy_into, fill};
use crate::ops::number::Stored;
use crate::ops::pointwise::{check_kernel, classes, multiply_tail};
use crate::tensor::memory::{BoolByte, ElementCell, get, set};
use crate::tensor::{DType, Layout, Result, Scalar, View, interrupt};
use half::{bf16, f16};
use num_complex::Complex;

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
        DType::Bool => fold::<BoolByte, 32>(&out, &layout, &view, |a, b| a & b)?,
        DType::Half => fold::<f16, 16>(&out, &layout, &view, |a, b| f16::from_f32(a * b).to_f32())?,
        DType::BFloat16 => fold::<bf16, 16>(&out, &layout, &view, |a, b| bf16::from_f32(a * b).to_f32())?,
        DType::Float => fold::<f32, 8>(&out, &layout, &view, |a, b| a * b)?,
        DType::Double => fold::<f64, 4>(&out, &layout, &view, |a, b| a * b)?,
        DType::ComplexFloat => fold_with::<Complex<f32>, 4>(&out, &layout, &view, |a, b| a * b, multiply_tail)?,
        DType::ComplexDouble => fold_with::<Complex<f64>, 2>(&out, &layout, &view, |a, b| a * b, multiply_tail)?,
        // Products wrap, so they can be narrowed last.
        _ => {
            let wide = cast(&view, DType::Long)?;
            let product = reduction.result(&view, DType::Long)?;
            fill(&product, Scalar::Int(1))?;
            let layout = reduction.spread(&product, &wide);
            fold::<i64, 4>(&product, &layout, &wide, i64::wrapping_mul)?;
            copy_into(&out, &product)?;
        }
    }
    Ok(out)
}

/// Is any element true? No dimensions (`Some(&[])`) means none are reduced, `None` means all are.
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions.
pub fn any(view: &View, dims: Option<&[i64]>, keepdim: bool) -> Result<View> {
    truth(view, dims, keepdim, false, |a, b| a | b)
}

/// Are all elements true? Dimensions as for [`any`].
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
    combine: impl Fn(bool, bool) -> bool,
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
        fold::<BoolByte, 32>(&out, &reduction.spread(&out, &view), &view, combine)?;
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
pub(super) fn fold<S: Stored, const V: usize>(
    out: &View,
    layout: &Layout,
    view: &View,
    combine: impl Fn(S::Compute, S::Compute) -> S::Compute,
) -> Result<()> {
    fold_with::<S, V>(out, layout, view, &combine, &combine)
}

/// As [`fold`], with a `combine` of its own for elements that are combined one by one.
fn fold_with<S: Stored, const V: usize>(
    out: &View,
    layout: &Layout,
    view: &View,
    combine: impl Fn(S::Compute, S::Compute) -> S::Compute,
    combine_tail: impl Fn(S::Compute, S::Compute) -> S::Compute,
) -> Result<()> {
    let (out_memory, memory) = (out.memory()?, view.memory()?);
    let fold = Fold { results: out_memory.typed::<S>(), cells: memory.typed::<S>(), combine, combine_tail };
    for_each(layout, &view.layout, &mut |tile| fold.tile::<V>(tile))
}

struct Fold<'m, S, F, G> {
    results: &'m [ElementCell<S>],
    cells: &'m [ElementCell<S>],
    combine: F,
    combine_tail: G,
}

impl<S, F, G> Fold<'_, S, F, G>
where
    S: Stored,
    F: Fn(S::Compute, S::Compute) -> S::Compute,
    G: Fn(S::Compute, S::Compute) -> S::Compute,
{
    fn put(&self, to: i64, value: S::Compute) {
        if let Some(cell) = self.results.get(to as usize) {
            set(cell, S::narrow((self.combine_tail)(get(cell).widen(), value)));
        }
    }

    fn value(&self, offset: i64) -> S::Compute {
        self.cells.get(offset as usize).map(get).unwrap_or_default().widen()
    }

    fn from(&self, offset: i64) -> &[ElementCell<S>] {
        self.cells.get(offset as usize..).unwrap_or_default()
    }

    /// Combines a vector of elements into lanes.
    #[inline(always)]
    fn join<const V: usize>(&self, lanes: &mut [S::Compute; V], vector: &[ElementCell<S>]) {
        for (lane, cell) in lanes.iter_mut().zip(vector) {
            *lane = (self.combine)(*lane, get(cell).widen());
        }
    }

    fn tile<const V: usize>(&self, tile: Tile) -> Result<()> {
        let [width, height] = tile.size;
        if (tile.out_stride, tile.in_stride[1]) == ([0, 1], 1) && tile.in_stride[0] != 1 {
            return self.columns::<V>(tile);
        }
        for rows in interrupt::pieces(0..height, width) {
            for j in rows?.map(|j| j as i64) {
                let (to, from) = (tile.out + j * tile.out_stride[1], tile.input + j * tile.in_stride[1]);
                match (tile.out_stride[0], tile.in_stride[0]) {
                    (0, 1) => self.along::<V>(to, self.from(from).get(..width).unwrap_or_default())?,
                    (out_step, step) => {
                        for piece in interrupt::pieces(0..width, 1) {
                            for i in piece?.map(|i| i as i64) {
                                self.put(to + i * out_step, self.value(from + i * step));
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// One result of a contiguous run.
    fn along<const V: usize>(&self, to: i64, run: &[ElementCell<S>]) -> Result<()> {
        let (vectors, rest) = run.as_chunks::<V>();
        let mut steps = vectors.chunks_exact(4);
        if let Some(first) = steps.next() {
            let mut lanes = [[S::Compute::default(); V]; 4];
            for (lane, cell) in lanes.iter_mut().flatten().zip(first.iter().flatten()) {
                *lane = get(cell).widen();
            }
            for piece in interrupt::pieces(0..steps.len(), 4 * V) {
                for step in steps.by_ref().take(piece?.len()) {
                    lanes.iter_mut().zip(step).for_each(|(lanes, vector)| self.join(lanes, vector));
                }
            }
            let [a, b, c, d] = lanes;
            let combine = &self.combine;
            let joined = (0..V).map(|k| combine(combine(a[k], b[k]), combine(c[k], d[k])));
            if let Some(all) = joined.reduce(&self.combine_tail) {
                self.put(to, all);
            }
        }
        steps.remainder().iter().flatten().chain(rest).for_each(|cell| self.put(to, get(cell).widen()));
        Ok(())
    }

    /// Neighbouring results of rows that lie one after another.
    fn columns<const V: usize>(&self, tile: Tile) -> Result<()> {
        let [rows, width] = tile.size;
        let row = |i: usize| tile.input + i as i64 * tile.in_stride[0];
        let whole = width - width % (4 * V);
        for vectors in interrupt::pieces(0..whole / V, rows.saturating_mul(V)) {
            for j in vectors?.map(|k| k * V) {
                let mut lanes = [S::Compute::default(); V];
                for (lane, cell) in lanes.iter_mut().zip(self.from(row(0) + j as i64)) {
                    *lane = get(cell).widen();
                }
                for piece in interrupt::pieces(1..rows, V) {
                    piece?.for_each(|i| self.join(&mut lanes, self.from(row(i) + j as i64)));
                }
                let results = self.results.get(tile.out as usize + j..).unwrap_or_default();
                for (&lane, result) in lanes.iter().zip(results) {
                    set(result, S::narrow((self.combine)(lane, get(result).widen())));
                }
            }
        }
        for j in whole as i64..width as i64 {
            for piece in interrupt::pieces(0..rows, 1) {
                piece?.for_each(|i| self.put(tile.out + j, self.value(row(i) + j)));
            }
        }
        Ok(())
    }
}
