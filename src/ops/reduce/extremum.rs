//! Largest and smallest elements, and where they are. NaN is both.

use super::fold::{fold, larger, smaller};
use super::tiles::{Dim, odometer};
use super::{Reduction, resolved};
use crate::bail;
use crate::ops::block::{BLOCK, load};
use crate::ops::copy::{copy_into, fill};
use crate::ops::number::Stored;
use crate::ops::pointwise::{check_kernel, classes};
use crate::tensor::element::integer_limits;
use crate::tensor::layout::wrap_dim;
use crate::tensor::memory::{BoolByte, ElementCell, get, set};
use crate::tensor::{DType, Layout, Result, Scalar, View, interrupt};
use half::{bf16, f16};
use std::cmp::Ordering;

/// Which end is looked for.
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

/// Runs the body with `$S` naming the element type of an ordered dtype; other dtypes have been refused.
macro_rules! ordered {
    ($dtype:expr, $S:ident => $body:expr) => {
        match $dtype {
            DType::Bool => ordered!(@ BoolByte, $S, $body),
            DType::Byte => ordered!(@ u8, $S, $body),
            DType::Char => ordered!(@ i8, $S, $body),
            DType::Short => ordered!(@ i16, $S, $body),
            DType::Int => ordered!(@ i32, $S, $body),
            DType::Long => ordered!(@ i64, $S, $body),
            DType::Half => ordered!(@ f16, $S, $body),
            DType::BFloat16 => ordered!(@ bf16, $S, $body),
            DType::Float => ordered!(@ f32, $S, $body),
            DType::Double => ordered!(@ f64, $S, $body),
            other => bail!(RuntimeError, "elements of {} have no order", other.scalar_type()),
        }
    };
    (@ $type:ty, $S:ident, $body:expr) => {{
        type $S = $type;
        $body
    }};
}

/// `amax` or `amin` over dimensions, as [`torch.amax`](https://pytorch.org/docs/2.7/generated/torch.amax.html).
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions and for reductions of nothing, RuntimeError for dtypes without an
/// order.
pub fn extremum(which: Extremum, view: &View, dims: &[i64], keepdim: bool) -> Result<View> {
    let reduction = Reduction::new(view, Some(dims), keepdim)?;
    reduction.check_nonempty(view, &format!("a{}", which.name()), Some(dims))?;
    reduce_with(which, view, &reduction, &format!("{}_values_cpu", which.name()))
}

/// `max()` or `min()` of all elements.
///
/// # Errors
/// RuntimeError for an empty tensor and for dtypes without an order.
pub fn extremum_all(which: Extremum, view: &View) -> Result<View> {
    let reduction = Reduction::new(view, None, false)?;
    reduction.check_nonempty(view, which.name(), None)?;
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
    fill(&out, worst(which, dtype))?;
    let layout = reduction.spread(&out, &view);
    ordered!(dtype, S => match which {
        Extremum::Max => fold::<S, 16>(&out, &layout, &view, larger)?,
        Extremum::Min => fold::<S, 16>(&out, &layout, &view, smaller)?,
    });
    Ok(out)
}

/// The value that every other replaces.
fn worst(which: Extremum, dtype: DType) -> Scalar {
    let (low, high) = integer_limits(dtype);
    match which {
        Extremum::Max if dtype.is_floating_point() => Scalar::Float(f64::NEG_INFINITY),
        Extremum::Min if dtype.is_floating_point() => Scalar::Float(f64::INFINITY),
        Extremum::Max => Scalar::Int(low as i64),
        Extremum::Min => Scalar::Int(high as i64),
    }
}

/// `max(dim)` or `min(dim)`: the values and the first index of each.
///
/// # Errors
/// IndexError for a wrong or empty dimension, RuntimeError for dtypes without an order.
pub fn extremum_dim(which: Extremum, view: &View, dim: i64, keepdim: bool) -> Result<(View, View)> {
    let name = which.name();
    let d = wrap_dim(dim, view.ndim())?;
    let reduction = Reduction::new(view, Some(&[dim]), keepdim)?;
    reduction.check_nonempty(view, name, Some(&[d as i64]))?;
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
/// IndexError for wrong dimensions and for reductions of nothing, RuntimeError for dtypes without this kernel.
pub fn arg_extremum(which: Extremum, view: &View, dim: Option<i64>, keepdim: bool) -> Result<View> {
    let name = format!("arg{}", which.name());
    if dim.is_none() && view.numel() == 0 {
        bail!(IndexError, "{name}(): Expected reduction dim to be specified for input.numel() == 0.");
    }
    let dims = dim.map(|d| wrap_dim(d, view.ndim()).map(|d| [d as i64])).transpose()?;
    let dims = dims.as_ref().map(<[i64; 1]>::as_slice);
    let reduction = Reduction::new(view, dims, keepdim)?;
    if dims.is_some() {
        reduction.check_nonempty(view, &name, dims)?;
    }
    let indices = reduction.result(view, DType::Long)?;
    // Along a dimension of size 1 there is nothing to compare.
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

/// Looks along dimension `d` of `view` for every element of the results, which are row-major.
fn find(which: Extremum, view: &View, d: usize, values: Option<&View>, indices: &View) -> Result<()> {
    let mut along = (1, 1);
    let mut outer = Vec::with_capacity(view.ndim());
    let mut step = 1;
    for (i, (&size, &stride)) in view.sizes().iter().zip(view.strides()).enumerate().rev() {
        if i == d {
            along = (size as usize, stride);
            continue;
        }
        outer.push(Dim { size, out: step, input: stride });
        step *= size;
    }
    let (memory, index_memory) = (view.memory()?, indices.memory()?);
    let value_memory = values.map(View::memory).transpose()?;
    let index_cells = index_memory.typed::<i64>();
    ordered!(view.dtype, S => {
        let cells = memory.typed::<S>();
        let value_cells = value_memory.as_deref().map(|m| m.typed::<S>()).unwrap_or_default();
        odometer(&outer, 0, view.layout.offset, &mut |out, input| {
            let (index, value) = match which {
                Extremum::Max => first::<S>(cells, input, along, Ordering::Greater)?,
                Extremum::Min => first::<S>(cells, input, along, Ordering::Less)?,
            };
            if let Some(cell) = index_cells.get(out as usize) {
                set(cell, index as i64);
            }
            if let Some(cell) = value_cells.get(out as usize) {
                set(cell, S::narrow(value));
            }
            Ok(())
        })
    })
}

/// The first of `length` elements that is not outdone in the `better` direction, or the first NaN.
fn first<S: Stored<Compute: PartialOrd>>(
    cells: &[ElementCell<S>],
    start: i64,
    (length, stride): (usize, i64),
    better: Ordering,
) -> Result<(usize, S::Compute)> {
    let mut best = (0, cells.get(start as usize).map(get).unwrap_or_default().widen());
    let mut buffer = [S::Compute::default(); BLOCK];
    for blocks in interrupt::pieces(0..length.div_ceil(BLOCK), BLOCK) {
        for block in blocks?.map(|k| k * BLOCK) {
            let values = &mut buffer[..BLOCK.min(length - block)];
            load(cells, start + block as i64 * stride, stride, values);
            for (i, &value) in values.iter().enumerate() {
                match value.partial_cmp(&best.1) {
                    Some(order) if order == better => best = (block + i, value),
                    Some(_) => {}
                    // The first NaN is the result.
                    None if best.1.partial_cmp(&best.1).is_none() => return Ok(best),
                    None => return Ok((block + i, value)),
                }
            }
        }
    }
    Ok(best)
}
