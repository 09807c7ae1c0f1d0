//! Reductions that combine two values of a type into one of the same: products, truth, and largest and smallest values.

use super::tiles::{Tile, for_each};
use super::{Reduction, resolved};
use crate::ops::copy::{cast, copy_into, fill};
use crate::ops::number::Stored;
use crate::ops::pointwise::{check_kernel, classes};
use crate::tensor::memory::{BoolByte, ElementCell, get, set};
use crate::tensor::{DType, Layout, Result, Scalar, View};
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
    let view = cast(&resolved(view)?, dtype)?;
    let layout = reduction.spread(&out, &view);
    match dtype {
        DType::Bool => fold::<BoolByte, 32>(&out, &layout, &view, |a, b| a & b)?,
        DType::Half => fold::<f16, 16>(&out, &layout, &view, |a, b| f16::from_f32(a * b).to_f32())?,
        DType::BFloat16 => fold::<bf16, 16>(&out, &layout, &view, |a, b| bf16::from_f32(a * b).to_f32())?,
        DType::Float => fold::<f32, 8>(&out, &layout, &view, |a, b| a * b)?,
        DType::Double => fold::<f64, 4>(&out, &layout, &view, |a, b| a * b)?,
        DType::ComplexFloat => fold::<Complex<f32>, 4>(&out, &layout, &view, |a, b| a * b)?,
        DType::ComplexDouble => fold::<Complex<f64>, 2>(&out, &layout, &view, |a, b| a * b)?,
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
    let (out_memory, memory) = (out.memory()?, view.memory()?);
    let (results, cells) = (out_memory.typed::<S>(), memory.typed::<S>());
    for_each(layout, &view.layout, |tile| fold_tile::<S, V>(results, cells, tile, &combine));
    Ok(())
}

fn fold_tile<S: Stored, const V: usize>(
    results: &[ElementCell<S>],
    cells: &[ElementCell<S>],
    tile: Tile,
    combine: &impl Fn(S::Compute, S::Compute) -> S::Compute,
) {
    let value = |cell: &ElementCell<S>| get(cell).widen();
    let put = |to: i64, value: S::Compute| {
        if let Some(cell) = results.get(to as usize) {
            set(cell, S::narrow(combine(get(cell).widen(), value)));
        }
    };
    let [width, height] = tile.size;
    for j in 0..height as i64 {
        let (to, from) = (tile.out + j * tile.out_stride[1], tile.input + j * tile.in_stride[1]);
        let run = cells.get(from as usize..).unwrap_or_default();
        match (tile.out_stride[0], tile.in_stride[0]) {
            (0, 1) => {
                let (whole, rest) = run.get(..width).unwrap_or_default().as_chunks::<V>();
                let mut steps = whole.chunks_exact(4);
                if let Some(first) = steps.next() {
                    let mut lanes = [[S::Compute::default(); V]; 4];
                    for (lanes, vector) in lanes.iter_mut().zip(first) {
                        for (lane, cell) in lanes.iter_mut().zip(vector) {
                            *lane = value(cell);
                        }
                    }
                    for step in steps.by_ref() {
                        for (lanes, vector) in lanes.iter_mut().zip(step) {
                            for (lane, cell) in lanes.iter_mut().zip(vector) {
                                *lane = combine(*lane, value(cell));
                            }
                        }
                    }
                    let [a, b, c, d] = lanes;
                    let joined = (0..V).map(|k| combine(combine(a[k], b[k]), combine(c[k], d[k])));
                    if let Some(all) = joined.reduce(combine) {
                        put(to, all);
                    }
                }
                steps.remainder().iter().flatten().chain(rest).for_each(|cell| put(to, value(cell)));
            }
            (out_step, 0) => {
                let one = run.first().map(value).unwrap_or_default();
                (0..width as i64).for_each(|i| put(to + i * out_step, one));
            }
            (out_step, step) => {
                for (i, cell) in run.iter().step_by(step as usize).take(width).enumerate() {
                    put(to + i as i64 * out_step, value(cell));
                }
            }
        }
    }
}
