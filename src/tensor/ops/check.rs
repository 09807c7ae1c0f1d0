//! Checks that precede the loop of an operation that moves elements: whether the kernel supports the dtype, whether the
//! operands may overlap, whether a number fits. Also resolves lazy conjugate and negative bits, because these kernels
//! only see bytes. Independent of any particular operation.

#[cfg(test)]
pub(super) mod testing;

use super::block::{check_no_internal_overlap, check_no_partial_overlap, elements};
use super::copy::{check_fits, clone, clone_storage, copy_into};
use crate::bail;
use crate::iterate::{Run, walk};
use crate::layout::wrap_dim;
use crate::memory::{get, set};
use crate::parallel::{self, Elements, StepPattern, vectorised};
use crate::{DType, Error, Layout, Result, Scalar, View};
use num_complex::Complex;
use std::ops::Range;

/// Runs the body with `$T` naming a plain type as wide as the dtype's elements, for kernels that only move them.
macro_rules! by_width {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.itemsize() {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            8 => {
                type $T = u64;
                $body
            }
            _ => {
                type $T = num_complex::Complex<f64>;
                $body
            }
        }
    };
}
pub(super) use by_width;

/// The dtypes that a kernel does not support.
#[derive(Clone, Copy)]
pub(super) enum UnsupportedDtypes {
    /// `uint16`, `uint32` and `uint64`.
    BareUnsigned,
    /// The types above and the 8-bit floats.
    Float8,
    /// The types above and `complex32`.
    ComplexHalf,
}

/// Refuses a dtype that the kernel does not support; the message names the kernel.
pub(super) fn supported(kernel: &str, dtype: DType, lacks: UnsupportedDtypes) -> Result<()> {
    let refused = match lacks {
        UnsupportedDtypes::BareUnsigned => dtype.is_bare_unsigned(),
        UnsupportedDtypes::Float8 => dtype.is_bare_unsigned() || dtype.is_float8(),
        UnsupportedDtypes::ComplexHalf => dtype.is_bare_unsigned() || dtype.is_float8() || dtype == DType::ComplexHalf,
    };
    if refused { not_implemented(kernel, dtype) } else { Ok(()) }
}

/// Fails with the error for a dtype that a kernel does not support.
pub(super) fn not_implemented<T>(kernel: &str, dtype: DType) -> Result<T> {
    bail!(RuntimeError, "\"{kernel}\" not implemented for '{}'", dtype.scalar_type())
}

/// Refuses a number that the dtype cannot hold. Unlike `fill_`, these operations also check `complex32`.
pub(super) fn fits(value: Scalar, dtype: DType) -> Result<()> {
    if dtype == DType::ComplexHalf && !value.fits(dtype) {
        bail!(RuntimeError, "value cannot be converted to type c10::complex<c10::Half> without overflow");
    }
    check_fits(value, dtype)
}

/// Refuses a source that shares memory with the target. Like PyTorch, only checks tensors without gaps.
pub(super) fn no_overlap(target: &View, source: &View) -> Result<()> {
    check_no_partial_overlap(target, source)?;
    // The remaining tensors are disjoint or overlap completely.
    let dense = |view: &View| view.numel() > 0 && view.layout.is_non_overlapping_and_dense();
    let start = |view: &View| view.layout.offset.wrapping_mul(view.dtype.itemsize() as i64);
    if target.storage == source.storage && dense(target) && dense(source) && start(target) == start(source) {
        bail!(
            RuntimeError,
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single \
             memory location. Please clone() the tensor before performing the operation."
        )
    }
    Ok(())
}

/// Returns the tensor itself, or a copy with its lazy bits resolved if it has any.
pub fn resolved(view: &View) -> Result<View> {
    if view.conj || view.neg { clone(view) } else { Ok(view.clone()) }
}

/// Returns a row-major copy; lazy bits are resolved.
pub(super) fn row_major_copy(view: &View) -> Result<View> {
    let out = View::zeros(view.sizes(), view.dtype, view.device())?;
    copy_into(&out, view)?;
    Ok(out)
}

/// Calls `change` with the target. A target with lazy bits is changed through a resolved copy.
pub(super) fn through_bits(target: &View, change: impl FnOnce(&View) -> Result<()>) -> Result<()> {
    if !target.conj && !target.neg {
        return change(target);
    }
    let plain = clone(target)?;
    change(&plain)?;
    copy_into(target, &plain)
}

/// Refuses to mix a tensor that has data with a meta tensor.
pub(super) fn same_device(expected: &View, other: &View) -> Result<()> {
    let (expected, other) = (expected.device(), other.device());
    if expected.is_meta() != other.is_meta() {
        bail!(RuntimeError, "Tensor on device {other} is not on the expected device {expected}!");
    }
    Ok(())
}

/// The size of a dimension, 1 for a 0-d tensor.
///
/// # Errors
/// IndexError if a tensor with dimensions does not have this one.
pub(super) fn size_or_one(layout: &Layout, dim: usize) -> Result<i64> {
    match layout.sizes.get(dim) {
        _ if layout.ndim() == 0 => Ok(1),
        Some(&size) => Ok(size),
        None => wrap_dim(dim as i64, layout.ndim()).map(|_| 1),
    }
}

/// `size(dim)`: unlike most functions, refuses any dimension of a 0-d tensor.
pub(super) fn size_at(layout: &Layout, dim: i64) -> Result<(usize, i64)> {
    if layout.ndim() == 0 {
        bail!(IndexError, "Dimension specified as {dim} but tensor has no dimensions");
    }
    let d = wrap_dim(dim, layout.ndim())?;
    Ok((d, layout.sizes[d]))
}

/// `expand`. Errors name the tensor's type as PyTorch does: by its legacy class, or by its type below the dispatcher.
pub(super) fn expanded(view: &View, sizes: &[i64]) -> Result<View> {
    let layout = view.layout.expand(sizes, &view.type_name()).map_err(|error| {
        let scalar_type = view.dtype.scalar_type();
        let below = match view.dtype {
            _ if view.device().is_meta() => format!("expand(Meta{scalar_type}Type"),
            DType::Byte | DType::Char | DType::Short | DType::Int | DType::Long => return error,
            DType::Half | DType::Float | DType::Double => return error,
            _ => format!("expand(CPU{scalar_type}Type"),
        };
        let message = error.message.replacen(&format!("expand(torch.{}", view.type_name()), &below, 1);
        Error { message, ..error }
    })?;
    Ok(view.with_layout(layout))
}

/// The check common to all in-place operations with index tensors: refuses a target that overlaps itself or an operand.
pub(super) fn writable(target: &View, operands: &[&View]) -> Result<()> {
    check_no_internal_overlap(target)?;
    operands.iter().try_for_each(|operand| no_overlap(target, operand))
}

/// Returns the error for an offset outside the storage. It cannot happen after the bounds check, but must not panic.
pub(super) fn lost() -> Error {
    Error::runtime("an element lies outside of its storage")
}

/// The sum of two elements of one dtype, before it is rounded to that dtype. Booleans are or-ed.
pub(super) fn sum(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Bool(a), Scalar::Bool(b)) => Scalar::Bool(a | b),
        (Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a + b),
        (Scalar::Complex(a), Scalar::Complex(b)) => Scalar::Complex(a + b),
        (a, b) => Scalar::Int(a.to_i64().wrapping_add(b.to_i64())),
    }
}

/// The product of two elements of one dtype, before it is rounded to that dtype. Booleans are and-ed.
pub(super) fn product(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Bool(a), Scalar::Bool(b)) => Scalar::Bool(a & b),
        (Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a * b),
        (Scalar::Complex(a), Scalar::Complex(b)) => Scalar::Complex(a * b),
        (a, b) => Scalar::Int(a.to_i64().wrapping_mul(b.to_i64())),
    }
}

/// The product of two complex elements, computed in their own precision.
pub(super) fn complex_product(dtype: DType, a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    if dtype == DType::ComplexDouble {
        return a * b;
    }
    let [a, b] = [a, b].map(|z| Complex::new(z.re as f32, z.im as f32));
    let product = a * b;
    Complex::new(f64::from(product.re), f64::from(product.im))
}

/// Fails with the error for a meta tensor in an operation whose result depends on the data.
pub(super) fn no_meta_kernel<T>(operation: &str) -> Result<T> {
    bail!(
        NotImplementedError,
        "aten::{operation}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel \
         registered. You may have run into this message while using an operator with PT2 compilation APIs \
         (torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl. \
         Please see the following for next steps:  \
         https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
    )
}

/// Returns the layout with at least one dimension: these operations treat a 0-d tensor as one of a single element.
pub(super) fn at_least_1d(layout: &Layout) -> Layout {
    let mut layout = layout.clone();
    if layout.ndim() == 0 {
        layout.sizes.push(1);
        layout.strides.push(1);
    }
    layout
}

/// Copies elements between two layouts of the same shape; both tensors have the same dtype.
pub(super) fn move_slice(to: &View, to_layout: &Layout, from: &View, from_layout: &Layout) -> Result<()> {
    let (to_memory, from_memory) = (to.memory()?, from.memory()?);
    by_width!(to.dtype, T => {
        let (to, from) = (to_memory.typed::<T>(), from_memory.typed::<T>());
        walk([to_layout, from_layout], |run| {
            for i in 0..run.length as i64 {
                let [write, read] = at(&run, i);
                set(to.get(write).ok_or_else(lost)?, get(from.get(read).ok_or_else(lost)?));
            }
            Ok(())
        })
    })
}

/// Copies the elements at `layout`, whose strides may be negative, into a new row-major tensor of its sizes. Of each line
/// along the last dimension, `kept` gives the range to copy; the line is passed by its number.
pub(super) fn copy_lines(
    to: &View,
    from: &View,
    layout: &Layout,
    kept: &(dyn Fn(usize) -> Range<usize> + Sync),
) -> Result<()> {
    let length = layout.sizes.last().map_or(1, |&size| size as usize);
    let stride = layout.strides.last().copied().unwrap_or(0);
    let mut outer = layout.clone();
    outer.sizes.pop();
    outer.strides.pop();
    by_width!(to.dtype, T => {
        parallel::between::<T, T, _>(&*from.memory()?, &*to.memory()?, 0..to.numel() as usize, |from, to| {
            parallel::parts(to, length, &|start, part| {
                let first = start / length;
                let lines = part.chunks_mut(length).zip(outer.offsets_from(first as i64));
                for (number, (line, offset)) in (first..).zip(lines) {
                    let kept = kept(number);
                    let start = offset + stride * kept.start as i64;
                    let line = line.get_mut(kept).ok_or_else(lost)?;
                    copy_line(line, from, start, stride).ok_or_else(lost)?;
                }
                Ok(())
            })
        })
        .unwrap_or_else(|| Err(lost()))
    })
}

/// Copies elements that are `stride` apart. `None` if some lie outside.
fn copy_line<T: Copy>(line: &mut [T], from: &[T], start: i64, stride: i64) -> Option<()> {
    let last = start + stride * (line.len() as i64 - 1).max(0);
    let (low, high) = (usize::try_from(start.min(last)).ok()?, usize::try_from(start.max(last)).ok()?);
    if line.is_empty() {
        return Some(());
    }
    let from = from.get(low..=high)?;
    match stride {
        1 => line.copy_from_slice(from),
        -1 => vectorised(|| line.iter_mut().zip(from.iter().rev()).for_each(|(to, from)| *to = *from)),
        0 => line.fill(*from.first()?),
        _ if stride > 0 => {
            line.iter_mut().zip(from.iter().step_by(stride as usize)).for_each(|(to, from)| *to = *from);
        }
        _ => {
            let backwards = from.iter().rev().step_by(stride.unsigned_abs() as usize);
            line.iter_mut().zip(backwards).for_each(|(to, from)| *to = *from);
        }
    }
    Some(())
}

/// Returns the operands' offsets at step `i` of a run.
pub(super) fn at<const N: usize>(run: &Run<N>, i: i64) -> [usize; N] {
    std::array::from_fn(|k| (run.offset[k] + i * run.stride[k]) as usize)
}

/// Returns a view that is aligned for its element type, so that all cores can read it. `frombuffer` may start at an odd
/// byte; such a view is copied.
pub(super) fn readable(view: &View) -> Result<View> {
    let lies = by_width!(view.dtype, T => parallel::reading::<T, _>(&*view.memory()?, |_| ()));
    if lies.is_some() { Ok(view.clone()) } else { clone_storage(view) }
}

/// Copies elements by index; `to` and `from` have the same dtype. Each element is read from its offset in `from_layout`
/// plus `displacement(i)`, where `i` is the corresponding number of `index`, an `int64` tensor laid out for `to`'s
/// sizes.
///
/// # Errors
/// The first error of `displacement`.
pub(super) fn look_up(
    to: &View,
    to_layout: &Layout,
    from: &View,
    from_layout: &Layout,
    index: &View,
    displacement: &(dyn Fn(i64) -> Result<i64> + Sync),
) -> Result<()> {
    by_width!(to.dtype, T => {
        let from = readable(from)?;
        let (to_memory, memory, index_memory) = (to.memory()?, from.memory()?, index.memory()?);
        let operands = [
            Elements { layout: to_layout, ..elements(to, &to_memory, &to.layout) },
            Elements { layout: from_layout, looked_up: true, ..elements(&from, &memory, &from.layout) },
            elements(index, &index_memory, &index.layout),
        ];
        parallel::blocks(operands, StepPattern::SINGLE, &|blocks| {
            blocks.each(|block| {
                let (elements, [start, stride], numbers, out) = block.looked_up::<T, i64, T>();
                for (i, (out, &number)) in (0..).zip(out.iter_mut().zip(numbers)) {
                    let place = (start + i * stride).wrapping_add(displacement(number)?);
                    *out = *elements.get(place as usize).ok_or_else(lost)?;
                }
                Ok(())
            })
        })
    })
}
