//! Elementwise operations. One mechanism serves all of them: promotion, broadcasting, result strides, checks of
//! in-place and `out=` destinations, errors. An operation's kernels are its row in `binary.rs` or `unary.rs`; this file
//! depends on the rows only. Follows <https://pytorch.org/docs/2.7/torch.html#pointwise-ops>.

mod arithmetic;
mod binary;
pub(crate) mod complex;
mod lookup;
mod mapped;
mod narrow;
mod quick;
pub mod real;
mod rest;
mod ternary;
mod unary;
mod zip;

pub use arithmetic::{add, div, negated, pow, rsub, sub};
pub(crate) use binary::as_common_dtype;
pub use binary::{BinaryOp, Rounding, binary};
pub(crate) use complex::multiply_tail;
pub use mapped::{RealFunction, map_real, nan_to_num};
pub(crate) use quick::compare as quick_compare;
pub(crate) use real::larger_of;
pub use ternary::{TernaryOp, clamp, clamp_tensors, lerp_number, ternary};
pub use unary::{UnaryOp, conj, conj_physical, unary};

use super::block::{Source, check_no_internal_overlap, check_no_partial_overlap};
use super::copy::{cast, check_output_sizes, copy_into};
use super::number::{Number, Stored};
use super::promote::Operand;
use crate::bail;
use crate::layout::{alike, broadcast_sizes, contiguous_strides, show};
use crate::{DType, Device, Dims, Layout, Result, Scalar, View, can_cast};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::fmt::Display;

/// The destination of a result.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// A new tensor.
    New,
    /// The first operand, whose sizes must not change.
    InPlace(&'a View),
    /// `out=`. If its sizes are wrong, the returned view has the right layout over the output's storage, which is grown
    /// as needed; the caller updates the tensor.
    Out(&'a View),
}

impl<'a> Output<'a> {
    fn view(self) -> Option<&'a View> {
        match self {
            Output::New => None,
            Output::InPlace(view) | Output::Out(view) => Some(view),
        }
    }
}

/// The classes of dtypes that kernels support.
pub mod classes {
    use crate::DType;

    pub type Classes = u8;
    pub const BOOL: Classes = 1;
    /// `uint8` and the signed integers.
    pub const INT: Classes = 2;
    /// `uint16`, `uint32`, `uint64`.
    pub(crate) const UNSIGNED: Classes = 4;
    /// `float32` and `float64`.
    pub(crate) const WIDE_FLOAT: Classes = 8;
    /// `float16` and `bfloat16`.
    pub(crate) const NARROW_FLOAT: Classes = 128;
    pub const FLOAT: Classes = WIDE_FLOAT | NARROW_FLOAT;
    pub(crate) const FLOAT8: Classes = 16;
    pub const COMPLEX: Classes = 32;
    pub const COMPLEX_HALF: Classes = 64;
    pub const NUMBERS: Classes = INT | FLOAT;
    pub const ALL: Classes = 255;

    pub fn of(dtype: DType) -> Classes {
        match dtype {
            DType::Bool => BOOL,
            DType::ComplexHalf => COMPLEX_HALF,
            d if d.is_bare_unsigned() => UNSIGNED,
            d if d.is_integral(false) => INT,
            d if d.is_float8() => FLOAT8,
            d if d.is_reduced_floating_point() => NARROW_FLOAT,
            d if d.is_floating_point() => WIDE_FLOAT,
            _ => COMPLEX,
        }
    }
}

/// The dtypes supported by most functions of [`map_real`].
pub const FLOATS: classes::Classes = classes::FLOAT;

/// Refuses a dtype that a kernel does not support.
pub fn check_kernel(name: impl Display, supported: classes::Classes, dtype: DType) -> Result<()> {
    if supported & classes::of(dtype) == 0 {
        bail!(RuntimeError, "\"{name}\" not implemented for '{}'", dtype.scalar_type());
    }
    Ok(())
}

/// An operation that has passed its checks and is ready to run.
pub(crate) struct Plan {
    /// The destination of the result. Meta tensors need nothing else.
    pub target: View,
    /// Whether there is data to compute.
    pub compute: bool,
}

/// The shape and dtype of a result, determined before it is computed.
pub(crate) struct Shape {
    pub sizes: Dims,
    /// The dtype that the operands are computed in.
    pub common: DType,
    /// The dtype of a new result.
    pub result: DType,
    /// Whether `common` must be castable to the output's dtype.
    pub safe_cast: bool,
}

/// Checks, before any check of dtypes, that the output may be written and that all sizes broadcast.
pub(crate) fn check_sizes(operands: &[Operand], output: Output) -> Result<Dims> {
    if let Some(out) = output.view() {
        check_no_internal_overlap(out)?;
        tensors(operands).try_for_each(|t| check_no_partial_overlap(out, t))?;
    }
    common_sizes(operands, output)
}

/// Makes the remaining checks, in PyTorch's order, and allocates a new result.
pub(crate) fn plan(operands: &[Operand], output: Output, shape: Shape) -> Result<Plan> {
    if let Some(out) = output.view()
        && shape.safe_cast
        && !can_cast(shape.common, out.dtype)
    {
        bail!(
            RuntimeError,
            "result type {} can't be cast to the desired output type {}",
            shape.common.scalar_type(),
            out.dtype.scalar_type()
        );
    }
    let device = common_device(tensors(operands), output)?;
    let sizes = &shape.sizes;
    let target = match output {
        Output::InPlace(view) => view.clone(),
        Output::Out(view) if view.sizes() == sizes.as_slice() => view.clone(),
        Output::Out(view) => resized(view, sizes, result_strides(operands, &shape))?,
        Output::New => View::unwritten_strided(sizes, result_strides(operands, &shape), shape.result, device)?,
    };
    let compute = !device.is_meta() && !target.device().is_meta();
    Ok(Plan { target, compute })
}

fn tensors<'v>(operands: &[Operand<'v>]) -> impl Iterator<Item = &'v View> {
    operands.iter().filter_map(|operand| match operand {
        Operand::Tensor(view) => Some(*view),
        Operand::Number(_) => None,
    })
}

/// Returns the strides of a new result. They follow the operands' strides after resolving lazy bits and converting
/// dtypes; a number counts as a 0-d tensor.
fn result_strides(operands: &[Operand], shape: &Shape) -> Dims {
    // Row-major operands and numbers, the usual case, have a row-major result.
    let is_usual = |operand: &Operand| match operand {
        Operand::Tensor(view) if view.ndim() == 0 => true,
        Operand::Tensor(view) => {
            alike(view.sizes(), &shape.sizes) && is_plain(view, shape.common) && view.layout.is_row_major()
        }
        Operand::Number(_) => true,
    };
    if operands.iter().all(is_usual) {
        return contiguous_strides(&shape.sizes);
    }
    strides_of(operands, shape)
}

/// Like [`result_strides`], for any operands.
fn strides_of(operands: &[Operand], shape: &Shape) -> Dims {
    let converted: SmallVec<[Layout; 3]> = operands
        .iter()
        .map(|operand| match operand {
            Operand::Tensor(view) if is_plain(view, shape.common) => view.layout.clone(),
            Operand::Tensor(view) => Layout { strides: view.layout.like_strides(), ..view.layout.clone() },
            Operand::Number(_) => Layout { sizes: Dims::new(), strides: Dims::new(), offset: 0 },
        })
        .collect();
    let layouts: SmallVec<[&Layout; 3]> = converted.iter().collect();
    Layout::elementwise_strides(&shape.sizes, &layouts)
}

fn common_sizes(operands: &[Operand], output: Output) -> Result<Dims> {
    let mut sizes = Dims::new();
    for (i, operand) in operands.iter().enumerate() {
        if i == 0 {
            sizes = Dims::from_slice(operand.sizes());
        } else if !alike(&sizes, operand.sizes()) {
            sizes = broadcast_sizes(&sizes, operand.sizes()).map_err(|error| {
                let is_meta = operands.iter().any(|o| matches!(o, Operand::Tensor(t) if t.device().is_meta()));
                let is_new = matches!(output, Output::New);
                if is_meta && is_new { meta_broadcast_error(i, &sizes, operand.sizes()) } else { error }
            })?;
        }
    }
    if let Output::InPlace(out) = output
        && !alike(&sizes, out.sizes())
    {
        sizes = broadcast_sizes(&sizes, out.sizes())?;
        check_output_sizes(out, &sizes)?;
    }
    Ok(sizes)
}

/// Returns the error that PyTorch's meta implementations raise for sizes that do not broadcast.
fn meta_broadcast_error(index: usize, expected: &[i64], got: &[i64]) -> crate::Error {
    let clash =
        expected.iter().rev().zip(got.iter().rev()).position(|(&e, &g)| e != g && e != 1 && g != 1).unwrap_or(0);
    crate::Error::runtime(format!(
        "Attempting to broadcast a dimension of length {} at {}! Mismatching argument at index {index} had torch.Size({}); \
         but expected shape should be broadcastable to {}",
        got[got.len() - 1 - clash],
        -(clash as i64) - 1,
        show(got),
        show(expected)
    ))
}

/// Returns the device of the result. 0-d cpu tensors may be mixed with any device; in-place operations are not checked.
fn common_device<'v>(tensors: impl Iterator<Item = &'v View>, output: Output) -> Result<Device> {
    let is_cpu_number = |view: &View| view.ndim() == 0 && !view.device().is_meta();
    let (mut device, mut only_numbers) = (None, true);
    for view in tensors {
        match device {
            None => device = Some(view.device()),
            _ if is_cpu_number(view) => {}
            _ if only_numbers => device = Some(view.device()),
            Some(expected) if expected != view.device() && !matches!(output, Output::InPlace(_)) => {
                bail!(RuntimeError, "Tensor on device {} is not on the expected device {expected}!", view.device())
            }
            Some(expected) if expected != view.device() => device = Some(Device::META),
            _ => {}
        }
        only_numbers &= is_cpu_number(view);
    }
    let device = device.or(output.view().map(View::device)).unwrap_or(Device::CPU);
    if let Output::Out(out) = output
        && out.device() != device
    {
        bail!(
            RuntimeError,
            "Attempting to copy from device {device} to device {}, but cross-device copies are not allowed!",
            out.device()
        );
    }
    Ok(device)
}

/// Resizes the output; its storage is grown if needed.
fn resized(out: &View, sizes: &[i64], strides: Dims) -> Result<View> {
    let layout = Layout { sizes: Dims::from_slice(sizes), strides, offset: out.layout.offset };
    out.storage.reserve(crate::view::storage_bytes(&layout, out.dtype)?)?;
    Ok(out.with_layout(layout))
}

/// Returns the destination for results of `dtype`: the target itself or, if the target has another dtype or lazy bits,
/// a temporary that [`copy_back`] copies from.
pub(crate) fn write_target(target: &View, dtype: DType) -> Result<Cow<'_, View>> {
    if is_plain(target, dtype) {
        return Ok(Cow::Borrowed(target));
    }
    let strides = target.layout.like_strides();
    View::unwritten_strided(target.sizes(), strides, dtype, target.device()).map(Cow::Owned)
}

/// Copies the results to the target, unless they were written there directly.
pub(crate) fn copy_back(computed: Cow<View>, target: &View) -> Result<()> {
    match computed {
        Cow::Borrowed(_) => Ok(()),
        Cow::Owned(computed) => copy_into(target, &computed),
    }
}

/// Returns whether kernels of a dtype can read and write a tensor directly.
fn is_plain(view: &View, dtype: DType) -> bool {
    view.dtype == dtype && !view.conj && !view.neg
}

/// Returns a tensor of the common dtype for a kernel to read: the operand itself, or a copy that is converted and has
/// its lazy bits resolved.
pub(crate) fn converted(view: &View, dtype: DType) -> Result<Cow<'_, View>> {
    if is_plain(view, dtype) { Ok(Cow::Borrowed(view)) } else { cast(view, dtype).map(Cow::Owned) }
}

/// Returns the layout of a tensor broadcast to `sizes`.
pub(crate) fn broadcast<'v>(view: &'v View, sizes: &[i64]) -> Cow<'v, Layout> {
    if alike(view.sizes(), sizes) { Cow::Borrowed(&view.layout) } else { Cow::Owned(view.layout.broadcast_to(sizes)) }
}

/// Returns an operand as the block loop reads it. Numbers, and with `exact` all one-element tensors, are converted
/// directly to the compute type, without rounding to the common dtype first.
pub(crate) fn source<'v, S: Stored>(
    operand: Operand,
    held: &'v Option<Cow<'v, View>>,
    sizes: &[i64],
    exact: bool,
) -> Result<Source<'v, S::Compute>> {
    let round = |number: Scalar| -> S::Compute {
        if exact { S::Compute::from_scalar(number) } else { S::store(number).widen() }
    };
    match (operand, held) {
        (Operand::Number(number), _) => Ok(Source::Value(round(number))),
        (Operand::Tensor(view), _) if view.numel() == 1 && (exact || view.dtype != S::DTYPE) => {
            let value = view.with_layout(view.layout.squeeze(|_| true)).item()?;
            Ok(Source::Value(round(value)))
        }
        (_, Some(view)) => Ok(Source::Elements(view, broadcast(view, sizes))),
        (Operand::Tensor(_), None) => bail!(RuntimeError, "an operand was not converted"),
    }
}

#[cfg(test)]
mod tests;
