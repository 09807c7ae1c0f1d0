//! What data-moving operations ask before their loop starts: is the dtype supported, may the operands overlap, does a
//! number fit. Also the lazy bits: kernels see bytes only, so conjugates and negatives are written out first.
//! Knows no particular operation.

use super::copy::copy_into;
use crate::bail;
use crate::tensor::{DType, Error, Layout, Result, Scalar, View};

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

/// Dtypes that a kernel does not have.
#[derive(Clone, Copy)]
pub(super) enum Lacks {
    /// `uint16`, `uint32` and `uint64`.
    BareUnsigned,
    /// Those and the 8-bit floats.
    Float8,
    /// Those and `complex32`.
    ComplexHalf,
}

/// Refuses a dtype the kernel does not have, by the kernel's name.
pub(super) fn supported(kernel: &str, dtype: DType, lacks: Lacks) -> Result<()> {
    let refused = match lacks {
        Lacks::BareUnsigned => dtype.is_bare_unsigned(),
        Lacks::Float8 => dtype.is_bare_unsigned() || dtype.is_float8(),
        Lacks::ComplexHalf => dtype.is_bare_unsigned() || dtype.is_float8() || dtype == DType::ComplexHalf,
    };
    if refused { not_implemented(kernel, dtype) } else { Ok(()) }
}

/// The refusal of a dtype by a kernel.
pub(super) fn not_implemented<T>(kernel: &str, dtype: DType) -> Result<T> {
    bail!(RuntimeError, "\"{kernel}\" not implemented for '{}'", dtype.scalar_type())
}

/// Refuses a number that the dtype cannot hold.
pub(super) fn fits(value: Scalar, dtype: DType) -> Result<()> {
    if value.fits(dtype) {
        return Ok(());
    }
    let name = match dtype {
        DType::Bool => "bool",
        DType::Byte => "uint8_t",
        DType::Char => "int8_t",
        DType::Short => "int16_t",
        DType::Int => "int",
        DType::Long => "int64_t",
        DType::UInt16 => "uint16_t",
        DType::UInt32 => "uint32_t",
        DType::UInt64 => "uint64_t",
        DType::Half => "at::Half",
        DType::BFloat16 => "at::BFloat16",
        DType::Float => "float",
        DType::Double => "double",
        DType::Float8_e4m3fn => "at::Float8_e4m3fn",
        DType::Float8_e5m2 => "at::Float8_e5m2",
        DType::Float8_e4m3fnuz => "at::Float8_e4m3fnuz",
        DType::Float8_e5m2fnuz => "at::Float8_e5m2fnuz",
        DType::ComplexHalf | DType::ComplexFloat => "c10::complex<float>",
        DType::ComplexDouble => "c10::complex<double>",
    };
    bail!(RuntimeError, "value cannot be converted to type {name} without overflow")
}

/// How far two tensors may write into each other. PyTorch's `MemOverlapStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    No,
    /// Both show exactly the same elements.
    Full,
    Partial,
    /// Gaps or repetitions make it too hard to say; treated as no overlap.
    Unknown,
}

/// Do the elements of two tensors share memory? Only tensors without gaps are judged.
pub(super) fn overlap(a: &View, b: &View) -> Overlap {
    if a.numel() == 0 || b.numel() == 0 {
        return Overlap::No;
    }
    if !a.layout.is_non_overlapping_and_dense() || !b.layout.is_non_overlapping_and_dense() {
        return Overlap::Unknown;
    }
    if a.storage != b.storage {
        return Overlap::No;
    }
    let bytes = |v: &View| {
        let item = v.dtype.itemsize() as i64;
        let start = v.layout.offset.wrapping_mul(item);
        (start, start.wrapping_add(v.numel().wrapping_mul(item)))
    };
    let (a_start, a_end) = bytes(a);
    let (b_start, b_end) = bytes(b);
    if (a_start, a_end) == (b_start, b_end) {
        return if a.strides() == b.strides() { Overlap::Full } else { Overlap::Partial };
    }
    if a_start < b_end && b_start < a_end { Overlap::Partial } else { Overlap::No }
}

/// Refuses a target of which one address is shown at several indices.
pub(super) fn no_internal_overlap(target: &View) -> Result<()> {
    if target.layout.has_internal_overlap() {
        bail!(
            RuntimeError,
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. \
             Please clone() the tensor before performing the operation."
        );
    }
    Ok(())
}

/// Refuses a source that shares memory with the target.
pub(super) fn no_overlap(target: &View, source: &View) -> Result<()> {
    match overlap(target, source) {
        Overlap::Full | Overlap::Partial => refuse_overlap(),
        Overlap::No | Overlap::Unknown => Ok(()),
    }
}

/// Refuses a source that shares memory with the target, unless both are the very same elements.
pub(super) fn no_partial_overlap(target: &View, source: &View) -> Result<()> {
    if overlap(target, source) == Overlap::Partial { refuse_overlap() } else { Ok(()) }
}

fn refuse_overlap() -> Result<()> {
    bail!(
        RuntimeError,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory \
         location. Please clone() the tensor before performing the operation."
    )
}

/// A new tensor with the same values, laid out alike (`clone()`); lazy bits are written out.
pub fn duplicate(view: &View) -> Result<View> {
    let out = View::zeros_strided(view.sizes(), view.layout.like_strides(), view.dtype, view.device())?;
    copy_into(&out, view)?;
    Ok(out)
}

/// The tensor itself, or where it has lazy bits a copy with them written out.
pub(super) fn resolved(view: &View) -> Result<View> {
    if view.conj || view.neg { duplicate(view) } else { Ok(view.clone()) }
}

/// Lets `change` write to the target, by way of a copy where the target has lazy bits.
pub(super) fn through_bits(target: &View, change: impl FnOnce(&View) -> Result<()>) -> Result<()> {
    if !target.conj && !target.neg {
        return change(target);
    }
    let plain = duplicate(target)?;
    change(&plain)?;
    copy_into(target, &plain)
}

/// Refuses to mix a tensor that has data with one that has none.
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
/// IndexError when a tensor with dimensions does not have this one.
pub(super) fn size_or_one(layout: &Layout, dim: usize) -> Result<i64> {
    match layout.sizes.get(dim) {
        _ if layout.ndim() == 0 => Ok(1),
        Some(&size) => Ok(size),
        None => crate::tensor::layout::wrap_dim(dim as i64, layout.ndim()).map(|_| 1),
    }
}

/// `size(dim)`: unlike most functions it lets nobody name a dimension of a 0-d tensor.
pub(super) fn size_at(layout: &Layout, dim: i64) -> Result<(usize, i64)> {
    let d = crate::tensor::layout::wrap_dim(dim, layout.ndim())?;
    match layout.sizes.get(d) {
        Some(&size) => Ok((d, size)),
        None => bail!(IndexError, "Dimension specified as {dim} but tensor has no dimensions"),
    }
}

/// Refuses what every in-place operation over index tensors refuses: a target that overlaps itself or an operand.
pub(super) fn writable(target: &View, operands: &[&View]) -> Result<()> {
    no_internal_overlap(target)?;
    operands.iter().try_for_each(|operand| no_overlap(target, operand))
}

/// What cannot happen once bounds are checked; said instead of panicking.
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

/// The refusal of a tensor without data by an operation whose result depends on the data.
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

/// A 0-d layout as one of a single element, which is how these operations see it.
pub(super) fn at_least_1d(layout: &Layout) -> Layout {
    let mut layout = layout.clone();
    if layout.ndim() == 0 {
        layout.sizes.push(1);
        layout.strides.push(1);
    }
    layout
}
