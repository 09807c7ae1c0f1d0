//! Moving values between tensors: casts, copies, fills, and resolving lazy bits. Knows how dtypes convert only through
//! [`Element`]. Follows <https://pytorch.org/docs/2.7/generated/torch.Tensor.copy_.html>.

use super::block::{self, BLOCK, check_no_internal_overlap, check_no_partial_overlap, overlaps, transfer};
use super::number::{Number, Stored};
use crate::bail;
use crate::tensor::dispatch;
use crate::tensor::iterate::{Run, walk};
use crate::tensor::layout::{broadcast_sizes, show};
use crate::tensor::memory::{ElementCell, get, set};
use crate::tensor::{Category, DType, Element, Layout, Result, Scalar, View};
use num_complex::Complex;

/// A new tensor with these values in another dtype, with strides like the original's.
pub fn cast(view: &View, dtype: DType) -> Result<View> {
    let out = View::zeros_strided(view.sizes(), view.layout.like_strides(), dtype, view.device())?;
    convert(&out, view, &view.layout)?;
    Ok(out)
}

/// A new tensor with the same values and strides like the original's; lazy bits are resolved.
pub fn clone(view: &View) -> Result<View> {
    cast(view, view.dtype)
}

/// The tensor itself where it is row-major, else a row-major copy.
pub fn contiguous(view: &View) -> Result<View> {
    if view.layout.is_contiguous() {
        return Ok(view.clone());
    }
    let out = View::zeros(view.sizes(), view.dtype, view.device())?;
    let out = View { conj: view.conj, neg: view.neg, ..out };
    convert(&out, view, &view.layout)?;
    Ok(out)
}

/// The tensor itself where its conjugate bit is clear, else a copy with the conjugation carried out.
pub fn resolve_conj(view: &View) -> Result<View> {
    if view.conj { clone(view) } else { Ok(view.clone()) }
}

/// The tensor itself where its negative bit is clear, else a copy with the negation carried out.
pub fn resolve_neg(view: &View) -> Result<View> {
    if view.neg { clone(view) } else { Ok(view.clone()) }
}

/// `dst.copy_(src)`: broadcasts `src`, converts to `dst`'s dtype.
///
/// # Errors
/// RuntimeError when the sizes do not fit or `dst` cannot be written safely, NotImplementedError for a `src` without
/// data.
pub fn copy_into(dst: &View, src: &View) -> Result<()> {
    if dst.is_same(src) {
        return Ok(());
    }
    check_no_internal_overlap(dst)?;
    check_no_partial_overlap(dst, src)?;
    check_output_sizes(dst, &broadcast_sizes(dst.sizes(), src.sizes())?)?;
    if dst.device().is_meta() {
        return Ok(());
    }
    convert(dst, src, &src.layout.broadcast_to(dst.sizes()))
}

/// Refuses an output that would have to grow to the sizes the operands broadcast to.
pub fn check_output_sizes(out: &View, sizes: &[i64]) -> Result<()> {
    if out.sizes() != sizes {
        bail!(
            RuntimeError,
            "output with shape {} doesn't match the broadcast shape {}",
            show(out.sizes()),
            show(sizes)
        );
    }
    Ok(())
}

/// `dst.fill_(value)`; expanded tensors are filled like any other.
///
/// # Errors
/// RuntimeError when the value does not fit the dtype.
pub fn fill(dst: &View, value: Scalar) -> Result<()> {
    check_fits(value, dst.dtype)?;
    if dst.device().is_meta() {
        return Ok(());
    }
    let memory = dst.memory()?;
    // The lazy bits apply to what is stored: store what reads back as the value.
    let value = if dst.conj { Scalar::Complex(value.to_complex().conj()) } else { value };
    dispatch!(dst.dtype, T => {
        let element = <T as Element>::store(if dst.neg { negated(value) } else { value });
        let cells = memory.typed::<T>();
        walk([&dst.layout], |run| {
            store_block::<T>(cells, [run.offset[0], run.stride[0]], run.length, |_| element);
            Ok(())
        })
    })
}

/// Refuses a number that a dtype cannot hold, as PyTorch does before it fills with it or scales by it.
pub fn check_fits(value: Scalar, dtype: DType) -> Result<()> {
    // Of complex32, PyTorch checks whole numbers only.
    let checked = dtype != DType::ComplexHalf || value.category() <= Category::Integral;
    if checked && !value.fits(dtype) {
        bail!(RuntimeError, "value cannot be converted to type {} without overflow", checked_type_name(dtype));
    }
    Ok(())
}

/// The C++ type as the overflow message names it.
fn checked_type_name(dtype: DType) -> &'static str {
    match dtype {
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
        DType::ComplexHalf => "c10::complex<at::Half>",
        DType::ComplexFloat => "c10::complex<float>",
        DType::ComplexDouble => "c10::complex<double>",
        quantized => quantized.cpp_name(),
    }
}

fn negated(value: Scalar) -> Scalar {
    match value {
        Scalar::Bool(b) => Scalar::Bool(b),
        Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
        Scalar::UInt(u) => Scalar::Int((u as i64).wrapping_neg()),
        Scalar::Float(f) => Scalar::Float(-f),
        Scalar::Complex(c) => Scalar::Complex(-c),
    }
}

/// Copies and converts; `layout` is `src`'s, broadcast to `dst`'s sizes.
fn convert(dst: &View, src: &View, layout: &Layout) -> Result<()> {
    if dst.device().is_meta() {
        return Ok(());
    }
    let conj = dst.dtype.is_complex() && dst.conj != src.conj;
    let neg = dst.neg != src.neg;
    if dst.dtype == src.dtype && !conj && !neg {
        return transfer(dst, src, layout);
    }
    if conj || neg {
        // Convert first, then see to the bits.
        let plain = View { conj: false, neg: false, ..src.clone() };
        let converted = if src.dtype == dst.dtype { plain } else { cast(&plain, dst.dtype)? };
        let layout = if src.dtype == dst.dtype { layout.clone() } else { converted.layout.broadcast_to(dst.sizes()) };
        return dispatch!(dst.dtype, T => resolve_into::<T>(dst, &converted, &layout, conj, neg));
    }
    // Every dtype has one type wide enough for its values; blocks pass through it.
    match src.dtype.category() {
        _ if src.dtype == DType::UInt64 => convert_through::<u64>(dst, src, layout),
        Category::Bool | Category::Integral => convert_through::<i64>(dst, src, layout),
        Category::Floating => convert_through::<f64>(dst, src, layout),
        Category::Complex => convert_through::<Complex<f64>>(dst, src, layout),
    }
}

/// Copies elements of one dtype, conjugated or negated.
fn resolve_into<T: Stored>(dst: &View, src: &View, layout: &Layout, conj: bool, neg: bool) -> Result<()> {
    let target = View { conj: false, neg: false, ..dst.clone() };
    block::unary::<T, T>(&target, src, layout, 64, &|values, out, _| {
        for (out, &value) in out.iter_mut().zip(values) {
            let value = if conj { value.conjugate() } else { value };
            *out = if neg { value.negate() } else { value };
        }
    })
}

/// A type through which conversions pass without loss.
trait Wide: Copy + Default {
    fn read(value: Scalar) -> Self;
    fn scalar(self) -> Scalar;
    fn is_nan(self) -> bool {
        matches!(self.scalar(), Scalar::Float(f) if f.is_nan())
    }
}

macro_rules! wide {
    ($($t:ty: $read:expr, $scalar:expr;)*) => {$(
        impl Wide for $t {
            #[inline(always)]
            fn read(value: Scalar) -> $t {
                let read: fn(Scalar) -> $t = $read;
                read(value)
            }
            #[inline(always)]
            fn scalar(self) -> Scalar {
                let scalar: fn($t) -> Scalar = $scalar;
                scalar(self)
            }
        }
    )*};
}
wide! {
    i64: Scalar::to_i64, Scalar::Int;
    u64: |v| v.to_i64() as u64, Scalar::UInt;
    f64: Scalar::to_f64, Scalar::Float;
    Complex<f64>: Scalar::to_complex, Scalar::Complex;
}

fn convert_through<W: Wide>(dst: &View, src: &View, layout: &Layout) -> Result<()> {
    let mut buffer = [W::default(); BLOCK];
    // Overlapping views of different dtypes cannot both be dense; element by element is the order PyTorch writes in.
    let size = if overlaps(dst, src) { 1 } else { BLOCK };
    let (to, from) = (dst.memory()?, src.memory()?);
    let whole = dst.dtype.is_integral(false);
    let signless = matches!(src.dtype, DType::Float8_e4m3fnuz | DType::Float8_e5m2fnuz);
    walk([&dst.layout, layout], |run: Run<2>| {
        for start in (0..run.length).step_by(size) {
            let block = &mut buffer[..size.min(run.length - start)];
            let at = |k: usize| [run.offset[k] + start as i64 * run.stride[k], run.stride[k]];
            dispatch!(src.dtype, S => load_block::<S, W>(from.typed(), at(1), block));
            if whole && signless {
                // The NaN of these formats has the bits of a negative zero, and counts as one.
                block.iter_mut().filter(|w| w.is_nan()).for_each(|w| *w = W::default());
            }
            dispatch!(dst.dtype, D => store_block::<D>(to.typed(), at(0), block.len(), |i| D::store(block[i].scalar())));
        }
        Ok(())
    })
}

fn load_block<S: Element, W: Wide>(cells: &[ElementCell<S>], [offset, stride]: [i64; 2], into: &mut [W]) {
    let cells = usize::try_from(offset).ok().and_then(|start| cells.get(start..)).unwrap_or_default();
    match stride as usize {
        1 => {
            for (value, cell) in into.iter_mut().zip(cells) {
                *value = W::read(get(cell).load());
            }
        }
        0 => into.fill(W::read(cells.first().map(get).unwrap_or_default().load())),
        step => {
            for (value, cell) in into.iter_mut().zip(cells.iter().step_by(step)) {
                *value = W::read(get(cell).load());
            }
        }
    }
}

#[inline(always)]
fn store_block<D: Element>(
    cells: &[ElementCell<D>],
    [offset, stride]: [i64; 2],
    length: usize,
    value: impl Fn(usize) -> D,
) {
    let cells = usize::try_from(offset).ok().and_then(|start| cells.get(start..)).unwrap_or_default();
    if stride == 1 {
        for (i, cell) in cells.iter().take(length).enumerate() {
            set(cell, value(i));
        }
    } else if stride > 0 {
        for (i, cell) in cells.iter().step_by(stride as usize).take(length).enumerate() {
            set(cell, value(i));
        }
    } else if let Some(cell) = cells.first() {
        set(cell, value(length.saturating_sub(1)));
    }
}
