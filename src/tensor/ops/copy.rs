//! Moves values between tensors: casts, copies, fills, and resolving lazy bits. Dtypes are converted through
//! [`Element`] only. Follows <https://pytorch.org/docs/2.7/generated/torch.Tensor.copy_.html>.

use super::block::{
    self, BLOCK, Pace, Scratch, check_no_internal_overlap, check_no_partial_overlap, elements, transfer, with_scratch,
};
use super::check::lost;
use super::number::{Number, Stored};
use crate::bail;
use crate::float8::{E4M3Fn, E4M3Fnuz, E5M2, E5M2Fnuz, E8M0Fnu};
use crate::layout::{broadcast_sizes, show};
use crate::memory::{BoolByte, set};
use crate::parallel::{self, Block, StepPattern, vectorised};
use crate::thresholds::LONG_BLOCK;
use crate::{DType, Element, Layout, MemoryFormat, Result, Scalar, View, interrupt};
use half::{bf16, f16};
use num_complex::Complex;

/// Returns a new tensor with these values in another dtype and with strides like the original's.
pub fn cast(view: &View, dtype: DType) -> Result<View> {
    let out = View::unwritten_strided(view.sizes(), view.layout.like_strides(), dtype, view.device())?;
    convert(&out, view, &view.layout)?;
    Ok(out)
}

/// Returns a new tensor with the same values and strides like the original's; lazy bits are resolved.
pub fn clone(view: &View) -> Result<View> {
    cast(view, view.dtype)
}

/// Like [`cast`], with the strides of a memory format. Always copies, even if nothing changes.
///
/// # Errors
/// RuntimeError if the format is for another number of dimensions.
pub fn cast_as(view: &View, dtype: DType, format: MemoryFormat) -> Result<View> {
    let out = View::unwritten_strided(view.sizes(), format.strides_like(&view.layout)?, dtype, view.device())?;
    convert(&out, view, &view.layout)?;
    Ok(out)
}

/// Returns a row-major copy, whatever the original's strides; lazy bits are resolved.
pub fn row_major(view: &View) -> Result<View> {
    cast_as(view, view.dtype, MemoryFormat::Contiguous)
}

/// Copies the whole storage and keeps the layout. Of an expanded tensor, only its elements are copied.
pub(crate) fn clone_storage(view: &View) -> Result<View> {
    if view.layout.has_internal_overlap() { clone(view) } else { on_own_storage(view) }
}

/// Copies the whole storage and keeps the layout of any tensor.
pub(crate) fn on_own_storage(view: &View) -> Result<View> {
    let elements = view.storage.nbytes() / view.dtype.itemsize();
    let whole = clone(&view.with_layout(Layout::contiguous(&[elements as i64])))?;
    Ok(View { layout: view.layout.clone(), ..whole })
}

/// `contiguous(memory_format)`: the tensor itself if it already has that format, else a copy in that format with lazy
/// bits resolved.
///
/// # Errors
/// RuntimeError if the format is for another number of dimensions, or for `preserve_format` if a copy is needed.
pub fn contiguous_as(view: &View, format: MemoryFormat) -> Result<View> {
    if format.describes(&view.layout) {
        return Ok(view.clone());
    }
    if format == MemoryFormat::Preserve {
        bail!(RuntimeError, "preserve memory format is unsupported by the contiguous operator");
    }
    let out = View::unwritten_strided(view.sizes(), format.strides(view.sizes())?, view.dtype, view.device())?;
    convert(&out, view, &view.layout)?;
    Ok(out)
}

/// Returns the tensor itself if it is row-major, else a row-major copy.
pub fn contiguous(view: &View) -> Result<View> {
    contiguous_as(view, MemoryFormat::Contiguous)
}

/// Returns the tensor itself if its conjugate bit is clear, else a conjugated copy.
pub fn resolve_conj(view: &View) -> Result<View> {
    if view.conj { clone(view) } else { Ok(view.clone()) }
}

/// Returns the tensor itself if its negative bit is clear, else a negated copy.
pub fn resolve_neg(view: &View) -> Result<View> {
    if view.neg { clone(view) } else { Ok(view.clone()) }
}

/// `dst.copy_(src)`: broadcasts `src` and converts it to `dst`'s dtype.
///
/// # Errors
/// RuntimeError if the sizes do not broadcast or `dst` cannot be written safely, NotImplementedError for a `src`
/// without data.
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

/// Like [`copy_into`], for tensors of one size. The caller must already have handled shared memory.
pub fn write_into(dst: &View, src: &View) -> Result<()> {
    if dst.is_same(src) { Ok(()) } else { convert(dst, src, &src.layout) }
}

/// Refuses an output that does not have the operands' broadcast sizes.
pub(crate) fn check_output_sizes(out: &View, sizes: &[i64]) -> Result<()> {
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
/// RuntimeError if the value does not fit the dtype.
pub fn fill(dst: &View, value: Scalar) -> Result<()> {
    // For complex32, PyTorch checks the value for single elements only.
    if dst.dtype != DType::ComplexHalf || dst.numel() == 1 {
        check_fits(value, dst.dtype)?;
    }
    if dst.device().is_meta() {
        return Ok(());
    }
    // The lazy bits apply to the stored value: store the value that reads back as `value`.
    let value = if dst.conj { Scalar::Complex(value.to_complex().conj()) } else { value };
    dispatch!(dst.dtype, T => {
        block::fill::<T>(dst, <T as Element>::store(if dst.neg { negated(value) } else { value }))
    })
}

/// Fills a row-major tensor without lazy bits with numbers that `make` makes some at a time. It gets the place of the
/// first, counted from 0, and as many to make as there are in the slice; `scalar` converts them.
pub fn fill_by<S: Copy + Default>(
    dst: &View,
    scalar: impl Fn(S) -> Scalar,
    mut make: impl FnMut(usize, &mut [S]),
) -> Result<()> {
    const TOGETHER: usize = 1 << 10;
    if dst.numel() == 0 {
        return Ok(());
    }
    let memory = dst.memory()?;
    let (first, numel) = (dst.layout.offset as usize, dst.numel() as usize);
    let mut made = [S::default(); TOGETHER];
    dispatch!(dst.dtype, T => {
        let cells = memory.typed::<T>().get(first..first + numel).ok_or_else(lost)?;
        for (number, cells) in cells.chunks(TOGETHER).enumerate() {
            interrupt::check()?;
            let made = &mut made[..cells.len()];
            make(number * TOGETHER, made);
            cells.iter().zip(made).for_each(|(cell, &mut number)| set(cell, <T as Element>::store(scalar(number))));
        }
    });
    Ok(())
}

/// Refuses a number that a dtype cannot hold, as PyTorch does before filling or scaling.
pub fn check_fits(value: Scalar, dtype: DType) -> Result<()> {
    if !value.fits(dtype) {
        bail!(RuntimeError, "value cannot be converted to type {} without overflow", checked_type_name(dtype));
    }
    Ok(())
}

/// The C++ type in the overflow message.
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
        DType::Float8_e8m0fnu => "at::Float8_e8m0fnu",
        DType::ComplexHalf => "c10::complex<c10::Half>",
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

/// Converts the listed pairs with [`convert_directly`].
macro_rules! directly {
    ($dst:expr, $src:expr, $layout:expr; $($source:ident $S:ty => $($target:ident $D:ty),*;)*) => {
        match ($src.dtype, $dst.dtype) {
            $($((DType::$source, DType::$target) => return convert_directly::<$S, $D>($dst, $src, $layout),)*)*
            _ => {}
        }
    };
}

/// Evaluates an expression with `$T` standing for the type of a floating dtype narrower than `float32`. Does nothing
/// for other dtypes.
macro_rules! narrow_float {
    ($dtype:expr, $T:ident => $value:expr) => {
        match $dtype {
            DType::Half => {
                type $T = f16;
                $value
            }
            DType::BFloat16 => {
                type $T = bf16;
                $value
            }
            DType::Float8_e4m3fn => {
                type $T = E4M3Fn;
                $value
            }
            DType::Float8_e5m2 => {
                type $T = E5M2;
                $value
            }
            DType::Float8_e4m3fnuz => {
                type $T = E4M3Fnuz;
                $value
            }
            DType::Float8_e5m2fnuz => {
                type $T = E5M2Fnuz;
                $value
            }
            DType::Float8_e8m0fnu => {
                type $T = E8M0Fnu;
                $value
            }
            _ => {}
        }
    };
}

/// Copies and converts. `layout` is `src`'s, broadcast to `dst`'s sizes.
fn convert(dst: &View, src: &View, layout: &Layout) -> Result<()> {
    if dst.device().is_meta() {
        return Ok(());
    }
    let conj = dst.dtype.is_complex() && dst.conj != src.conj;
    let neg = dst.neg != src.neg;
    if dst.dtype == src.dtype && !conj && !neg {
        return if dst.dtype == DType::Bool { copy_truth(dst, src, layout) } else { transfer(dst, src, layout) };
    }
    if conj || neg {
        // Convert first, then apply the lazy bits.
        let plain = View { conj: false, neg: false, ..src.clone() };
        let converted = if src.dtype == dst.dtype { plain } else { cast(&plain, dst.dtype)? };
        let layout = if src.dtype == dst.dtype { layout.clone() } else { converted.layout.broadcast_to(dst.sizes()) };
        return dispatch!(dst.dtype, T => resolve_into::<T>(dst, &converted, &layout, conj, neg));
    }
    // Single precision and the narrower floats convert directly.
    if src.dtype == DType::Float {
        narrow_float!(dst.dtype, D => return block::convert::<f32, D>(dst, src, layout));
    } else if dst.dtype == DType::Float {
        narrow_float!(src.dtype, S => return block::convert::<S, f32>(dst, src, layout));
    }
    directly! {
        dst, src, layout;
        Float f32 => Double f64, Long i64, Int i32, Byte u8, Bool BoolByte;
        Double f64 => Float f32, Long i64, Int i32;
        Long i64 => Float f32, Double f64, Int i32, Bool BoolByte;
        Int i32 => Float f32, Double f64, Long i64;
        Byte u8 => Float f32, Long i64, Int i32;
        Bool BoolByte => Float f32, Double f64, Long i64, Int i32;
    }
    dispatch!(src.dtype, S => convert_through(dst, src, layout, read_block::<S>))
}

/// Like [`convert_through`], in one loop without a buffer. Compiled for the pairs that scripts convert most.
fn convert_directly<S: Element, D: Element>(dst: &View, src: &View, layout: &Layout) -> Result<()> {
    let (to, from) = (dst.memory()?, src.memory()?);
    let operands = [elements(dst, &to, &dst.layout), elements(src, &from, layout)];
    parallel::blocks(operands, StepPattern { most: LONG_BLOCK, ..StepPattern::SINGLE }, &|blocks| {
        blocks.each(|block| {
            let (from, to) = block.one::<S, D>();
            vectorised(|| to.iter_mut().zip(from).for_each(|(to, from)| *to = D::store(from.load())));
            Ok(())
        })
    })
}

/// Copies bools. A view of other bytes may hold any byte, but every copy holds 0 or 1.
fn copy_truth(dst: &View, src: &View, layout: &Layout) -> Result<()> {
    let [to, from] = [dst, src].map(|view| View { dtype: DType::Byte, ..view.clone() });
    block::unary::<u8, u8>(&to, &from, layout, Pace::PLAIN, &|bytes, out, _| {
        out.iter_mut().zip(bytes).for_each(|(out, &byte)| *out = u8::from(byte != 0));
    })
}

/// Makes the bytes of a new tensor 0 or 1 if it holds bools.
pub(crate) fn truths(view: View) -> Result<View> {
    if view.dtype == DType::Bool && !view.device().is_meta() {
        copy_truth(&view, &view, &view.layout)?;
    }
    Ok(view)
}

/// Copies elements of one dtype, conjugated or negated.
fn resolve_into<T: Stored>(dst: &View, src: &View, layout: &Layout, conj: bool, neg: bool) -> Result<()> {
    let target = View { conj: false, neg: false, ..dst.clone() };
    block::unary::<T, T>(&target, src, layout, Pace::PLAIN, &|values, out, _| {
        for (out, &value) in out.iter_mut().zip(values) {
            let value = if conj { value.conjugate() } else { value };
            *out = if neg { value.negate() } else { value };
        }
    })
}

/// A type that other dtypes can be converted through without loss.
trait IntermediateValue: Copy + Default {
    fn read(value: Scalar) -> Self;
    fn scalar(self) -> Scalar;
    fn is_nan(self) -> bool {
        matches!(self.scalar(), Scalar::Float(f) if f.is_nan())
    }
}

macro_rules! wide {
    ($($t:ty: $read:expr, $scalar:expr;)*) => {$(
        impl IntermediateValue for $t {
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

/// Converts between two dtypes through `W`; `read` widens a block of `src` to `W`.
fn convert_through<W: IntermediateValue>(
    dst: &View,
    src: &View,
    layout: &Layout,
    read: fn(&Block<2>, &mut [W]),
) -> Result<()> {
    let (to, from) = (dst.memory()?, src.memory()?);
    let (source, target) = (src.dtype, dst.dtype);
    let whole = target.is_integral(false);
    let signless = matches!(source, DType::Float8_e4m3fnuz | DType::Float8_e5m2fnuz);
    // Overlapping views of different dtypes cannot both be dense; copying element by element is PyTorch's order.
    let operands = [elements(dst, &to, &dst.layout), elements(src, &from, layout)];
    parallel::blocks(operands, StepPattern::SINGLE, &|blocks| {
        let mut scratch = Scratch::new();
        blocks.each(|block| {
            with_scratch(block.len().min(BLOCK), &mut scratch, |values: &mut [W]| {
                read(block, values);
                if whole && signless {
                    // In these formats, NaN has the bits of negative zero and is converted as zero.
                    values.iter_mut().filter(|w| w.is_nan()).for_each(|w| *w = W::default());
                }
                dispatch!(target, D => store_all(values, block.output::<D>()));
                Ok(())
            })
        })
    })
}

fn read_block<S: Stored<Intermediate: IntermediateValue>>(block: &Block<2>, into: &mut [S::Intermediate]) {
    let elements = block.input::<S>(1);
    vectorised(|| {
        into.iter_mut().zip(elements).for_each(|(value, element)| *value = IntermediateValue::read(element.load()))
    });
}

fn store_all<W: IntermediateValue, D: Element>(values: &[W], into: &mut [D]) {
    vectorised(|| into.iter_mut().zip(values).for_each(|(element, value)| *element = D::store(value.scalar())));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::promote::Operand;
    use crate::ops::promote::testing::{checked, held, meta, show, strides, tensor, transposed, window};

    /// operand | number | result of PyTorch 2.7.0
    const FILLS: &str = r#"
    uint8 0 | #300 | RuntimeError: value cannot be converted to type uint8_t without overflow
    uint8 0 | #-1 | uint8 255
    uint8 0 | #-256 | RuntimeError: value cannot be converted to type uint8_t without overflow
    uint8 0 | #255.5 | RuntimeError: value cannot be converted to type uint8_t without overflow
    uint8 0 | #-0.5 | RuntimeError: value cannot be converted to type uint8_t without overflow
    int8 0 | #200 | RuntimeError: value cannot be converted to type int8_t without overflow
    int32 0 | #1e19 | RuntimeError: value cannot be converted to type int without overflow
    int32 0 | #nan | RuntimeError: value cannot be converted to type int without overflow
    int32 0 | #1+1j | RuntimeError: value cannot be converted to type int without overflow
    int32 0 | #1+0j | int32 1
    float16 0 | #1e9 | RuntimeError: value cannot be converted to type at::Half without overflow
    float16 0 | #inf | float16 inf
    float8_e4m3fn 0 | #500 | RuntimeError: value cannot be converted to type at::Float8_e4m3fn without overflow
    float8_e4m3fn 0 | #inf | RuntimeError: value cannot be converted to type at::Float8_e4m3fn without overflow
    float8_e5m2 0 | #inf | float8_e5m2 inf
    float32 0 | #1e39 | RuntimeError: value cannot be converted to type float without overflow
    complex64 0j | #1e39 | RuntimeError: value cannot be converted to type c10::complex<float> without overflow
    complex32 0j | #1e9 | RuntimeError: value cannot be converted to type c10::complex<c10::Half> without overflow
    bool True | #nan | bool True
    int64 0 | #3.9 | int64 3
    "#;

    #[test]
    fn fills() {
        for line in FILLS.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let cells: Vec<&str> = line.split(" | ").collect();
            let [operand, number, want] = cells[..] else { panic!("{line}") };
            let Operand::Number(number) = held(number).operand() else { panic!("{line}") };
            let view = tensor(operand);
            assert_eq!(show(fill(&view, number).map(|()| view)), want, "{line}");
        }
        let expanded = window(&tensor("float32 1"), &[3], &[0], 0);
        assert_eq!(show(fill(&expanded, Scalar::Int(3)).map(|()| expanded)), "float32 3 3 3");
    }

    /// operand | dtype | result of PyTorch 2.7.0
    const CASTS: &str = r#"
    float32 1.9 -1.9 nan 1e10 | int32 | int32 1 -1 -2147483648 -2147483648
    float32 300 -1 3.7 | uint8 | uint8 44 255 3
    float32 1e5 0.1 nan | float16 | float16 inf 0.0999755859375 nan
    float64 0.1 1e300 | bfloat16 | bfloat16 0.10009765625 inf
    int64 300 -1 | uint8 | uint8 44 255
    int64 16777217 -3 | float32 | float32 16777216 -3
    complex64 1+2j nan+1j | float32 | float32 1 nan
    float32 0.5 0 nan | bool | bool True False True
    bool True False | complex64 | complex64 1+0j 0+0j
    float32 500 464 -0.0 nan | float8_e4m3fn | float8_e4m3fn nan 448 -0 nan
    float32 1e9 -2 | float8_e5m2 | float8_e5m2 inf -2
    uint8 200 | int8 | int8 -56
    int64 -1 | uint64 | uint64 18446744073709551615
    "#;

    #[test]
    fn casts() {
        for line in CASTS.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let cells: Vec<&str> = line.split(" | ").collect();
            let [operand, dtype, want] = cells[..] else { panic!("{line}") };
            let Some(dtype) = DType::from_name(dtype) else { panic!("{line}") };
            assert_eq!(show(cast(&tensor(operand), dtype)), want, "{line}");
        }
    }

    #[test]
    fn copies_broadcast_and_are_refused_where_unsafe() {
        let into = |dst: &View, src: &View| show(copy_into(dst, src).map(|()| dst.clone()));
        assert_eq!(into(&tensor("int32[2,2] 0 0 0 0"), &tensor("float32 1.5 2.5")), "int32[2,2] 1 2 1 2");
        assert_eq!(
            into(&tensor("float32 1 2"), &tensor("float32[2,2] 1 2 3 4")),
            "RuntimeError: output with shape [2] doesn't match the broadcast shape [2, 2]"
        );
        assert_eq!(
            into(&tensor("float32 1 2"), &tensor("float32 1 2 3")),
            "RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"
        );
        assert_eq!(
            into(&tensor("float32 1"), &meta("float32 1")),
            "NotImplementedError: Cannot copy out of meta tensor; no data!"
        );
        let numbers = tensor("float32 0 1 2 3 4 5");
        assert_eq!(
            into(&window(&numbers, &[5], &[1], 1), &window(&numbers, &[5], &[1], 0)),
            "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to \
             a single memory location. Please clone() the tensor before performing the operation."
        );
        // Views with gaps are not checked for overlap; elements are then copied one after another.
        assert_eq!(
            into(&window(&numbers, &[2, 2], &[3, 1], 1), &window(&numbers, &[2, 2], &[3, 1], 0)),
            "float32[2,2] 0 0 3 3"
        );
        let numbers = tensor("float16 0 1 2 3 4 5 6 7");
        assert_eq!(into(&window(&numbers, &[3], &[2], 2), &window(&numbers, &[3], &[2], 0)), "float16 0 0 0");
    }

    #[test]
    fn strides_and_lazy_bits() {
        let t = transposed(&tensor("float32[2,3] 1 2 3 4 5 6"));
        assert_eq!(strides(&checked(clone(&t))), [1, 3]);
        assert_eq!(strides(&checked(contiguous(&t))), [2, 1]);
        let lazy = View { conj: true, ..tensor("complex64 1+2j") };
        assert_eq!(show(resolve_conj(&lazy)), "complex64 1-2j");
        let turned = View { conj: true, ..transposed(&tensor("complex64[2,2] 1+2j 3+4j 5+6j 7+8j")) };
        assert!(!checked(contiguous(&turned)).conj);
        assert_eq!(show(contiguous(&turned)), "complex64[2,2] 1-2j 5-6j 3-4j 7-8j");
        assert_eq!(
            show(copy_into(&lazy, &tensor("complex64 3+4j")).map(|()| View { conj: false, ..lazy })),
            "complex64 3-4j"
        );
    }
}
