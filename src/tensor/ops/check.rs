//! Checks that precede the loop of an operation that moves elements: whether the kernel supports the dtype, whether the
//! operands may overlap, whether a number fits. Also resolves lazy conjugate and negative bits, because these kernels
//! only see bytes. Independent of any particular operation.

#[cfg(test)]
pub(super) mod testing;

use super::block::{check_no_internal_overlap, check_no_partial_overlap, elements, values};
use super::copy::{check_fits, clone, contiguous, copy_into, on_own_storage};
use crate::bail;
use crate::iterate::{Run, walk};
use crate::layout::wrap_dim;
use crate::memory::{get, set};
use crate::parallel::{self, Elements, StepPattern, vectorised};
use crate::{DType, Error, Layout, Result, Scalar, View, interrupt};
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
    let out = View::unwritten(view.sizes(), view.dtype, view.device())?;
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
pub(in crate::ops) fn no_meta_kernel<T>(operation: &str) -> Result<T> {
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
/// byte; such a view is copied. The layout stays the same, because callers have derived others from it.
pub(super) fn readable(view: &View) -> Result<View> {
    let lies = by_width!(view.dtype, T => parallel::reading::<T, _>(&*view.memory()?, |_| ()));
    if lies.is_some() { Ok(view.clone()) } else { on_own_storage(view) }
}

/// How the numbers of an index become displacements.
pub(super) struct Positions<'a> {
    /// The numbers that are allowed; negative ones count from the end.
    pub numbers: Range<i64>,
    /// The elements between two positions.
    pub stride: i64,
    /// Returns the error for a number that is not allowed.
    pub refused: &'a (dyn Fn(i64) -> Error + Sync),
}

impl Positions<'_> {
    /// Numbers that are displacements already.
    pub(super) const DISPLACEMENTS: Positions<'static> =
        Positions { numbers: 0..i64::MAX, stride: 1, refused: &|_| lost() };

    /// Refuses the first number that is not allowed.
    fn check(&self, numbers: &[i64]) -> Result<()> {
        let Range { start, end } = self.numbers;
        if vectorised(|| numbers.iter().fold(true, |all, &number| all & (start <= number) & (number < end))) {
            return Ok(());
        }
        numbers
            .iter()
            .find(|number| !self.numbers.contains(number))
            .map_or(Ok(()), |&number| Err((self.refused)(number)))
    }

    /// Returns the displacement of a number that is allowed.
    #[inline(always)]
    fn displacement(&self, number: i64) -> i64 {
        // The shift is -1 for negative numbers and 0 for others.
        (number + (number >> (i64::BITS - 1) & self.numbers.end)).wrapping_mul(self.stride)
    }

    /// Returns the displacements of an index, an `int64` tensor, in row-major order.
    pub(super) fn displacements(&self, index: &View) -> Result<Vec<i64>> {
        let mut numbers = values::<i64>(&contiguous(index)?)?;
        for numbers in numbers.chunks_mut(interrupt::STRIDE) {
            interrupt::check()?;
            self.check(numbers)?;
            vectorised(|| numbers.iter_mut().for_each(|number| *number = self.displacement(*number)));
        }
        Ok(numbers)
    }
}

/// Copies elements by index; `to` and `from` have the same dtype. Each element is read from its offset in `from_layout`
/// plus the displacement of the corresponding number of `index`, an `int64` tensor laid out for `to`'s sizes.
///
/// # Errors
/// The error of the first number that is not allowed.
pub(super) fn look_up(
    to: &View,
    to_layout: &Layout,
    from: &View,
    from_layout: &Layout,
    index: &View,
    positions: &Positions,
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
                positions.check(numbers)?;
                let mut inside = true;
                let mut origin = start;
                for (out, &number) in out.iter_mut().zip(numbers) {
                    match elements.get(origin.wrapping_add(positions.displacement(number)) as usize) {
                        Some(&element) => *out = element,
                        None => inside = false,
                    }
                    origin = origin.wrapping_add(stride);
                }
                if inside { Ok(()) } else { Err(lost()) }
            })
        })
    })
}

/// Copies slices along dimension `dim` of `from` to the row-major tensor `to`, which has elements: those at the
/// displacements, in their order.
pub(super) fn copy_slices(to: &View, from: &View, dim: usize, displacements: &[i64]) -> Result<()> {
    let from = readable(from)?;
    let Layout { sizes, strides, offset } = at_least_1d(&from.layout);
    let part =
        |dims: Range<usize>| Layout { sizes: sizes[dims.clone()].into(), strides: strides[dims].into(), offset: 0 };
    // A line is as much of a slice as has equally distant elements.
    let line_of = |first: usize| {
        let line = part(first..sizes.len());
        line.compute_stride(&[line.numel()]).map(|stride| (first, line.numel() as usize, stride[0]))
    };
    let (first, length, stride) = (dim + 1..=sizes.len()).find_map(line_of).unwrap_or((sizes.len(), 1, 1));
    let (count, between) = (displacements.len(), part(dim + 1..first).numel() as usize);
    let outer = Layout { offset, ..part(0..dim) };
    let mut lines = Layout { offset, ..part(0..first) };
    (lines.sizes[dim], lines.strides[dim]) = (count as i64, 0);
    by_width!(to.dtype, T => {
        parallel::between::<T, T, _>(&*from.memory()?, &*to.memory()?, 0..to.numel() as usize, |from, to| {
            parallel::parts(to, length, &|start, mut part| {
                let number = start / length;
                if length > 1 {
                    let lines = part.chunks_mut(length).zip(lines.offsets_from(number as i64));
                    for (number, (line, offset)) in (number..).zip(lines) {
                        let displacement = displacements.get(number / between % count).ok_or_else(lost)?;
                        copy_line(line, from, offset + displacement, stride).ok_or_else(lost)?;
                    }
                    return Ok(());
                }
                let mut rest = displacements.get(number % count..).unwrap_or_default();
                for offset in outer.offsets_from((number / count) as i64) {
                    let (elements, others) = part.split_at_mut(rest.len().min(part.len()));
                    for (to, displacement) in elements.iter_mut().zip(rest) {
                        *to = *from.get((offset + displacement) as usize).ok_or_else(lost)?;
                    }
                    (part, rest) = (others, displacements);
                    if part.is_empty() {
                        break;
                    }
                }
                Ok(())
            })
        })
        .unwrap_or_else(|| Err(lost()))
    })
}
