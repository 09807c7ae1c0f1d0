//! Arithmetic on 16-bit floats that keeps numbers in registers between widening and narrowing. Writing single precision
//! to a buffer would double the time. The results are those of the `f32` kernels, rounded.

use super::binary::{BinaryKernel, BinaryOp, zip};
use super::real::{larger_of, smaller_of};
use super::unary::{UnaryKernel, UnaryOp};
use crate::ops::number::Stored;
use crate::{DType, parallel};
use half::slice::HalfBitsSliceExt;
use half::{bf16, f16};

/// Returns the kernel for a dtype, if there is one; it takes the numbers' bits. `tail` asks for that of elements that
/// PyTorch does not process in vectors.
pub(super) fn narrow_kernel(dtype: DType, op: BinaryOp, tail: bool) -> Option<BinaryKernel<u16>> {
    macro_rules! by {
        ($zip:ident) => {
            match op {
                BinaryOp::Add => Some(|a, b, out| $zip(a, b, out, |a, b| a + b)),
                BinaryOp::Sub => Some(|a, b, out| $zip(a, b, out, |a, b| a - b)),
                BinaryOp::Mul => Some(|a, b, out| $zip(a, b, out, |a, b| a * b)),
                BinaryOp::TrueDivide => Some(|a, b, out| $zip(a, b, out, |a, b| a / b)),
                BinaryOp::Maximum if tail => {
                    Some(|a, b, out| $zip(a, b, out, |a, b| if a.is_nan() || a >= b { a } else { b }))
                }
                BinaryOp::Minimum if tail => {
                    Some(|a, b, out| $zip(a, b, out, |a, b| if a.is_nan() || a <= b { a } else { b }))
                }
                BinaryOp::Maximum => Some(|a, b, out| $zip(a, b, out, larger_of)),
                BinaryOp::Minimum => Some(|a, b, out| $zip(a, b, out, smaller_of)),
                _ => None,
            }
        };
    }
    match dtype {
        DType::BFloat16 => by!(zip_brains),
        DType::Half => by!(zip_halves),
        _ => None,
    }
}

/// Like [`narrow_kernel`], for one operand.
pub(super) fn narrow_unary(dtype: DType, op: UnaryOp) -> Option<UnaryKernel<u16>> {
    macro_rules! by {
        ($zip:ident) => {
            match op {
                UnaryOp::Neg => Some(|a, out| $zip(a, a, out, |a, _| -a)),
                UnaryOp::Abs => Some(|a, out| $zip(a, a, out, |a, _| a.abs())),
                UnaryOp::Relu => Some(|a, out| $zip(a, a, out, |a, _| if a < 0.0 { 0.0 } else { a })),
                UnaryOp::Floor => Some(|a, out| $zip(a, a, out, |a, _| a.floor())),
                UnaryOp::Ceil => Some(|a, out| $zip(a, a, out, |a, _| a.ceil())),
                UnaryOp::Trunc => Some(|a, out| $zip(a, a, out, |a, _| a.trunc())),
                UnaryOp::Round => Some(|a, out| $zip(a, a, out, |a, _| a.round_ties_even())),
                UnaryOp::Sqrt => Some(|a, out| $zip(a, a, out, |a, _| a.sqrt())),
                UnaryOp::Reciprocal => Some(|a, out| $zip(a, a, out, |a, _| 1.0 / a)),
                _ => None,
            }
        };
    }
    match dtype {
        DType::BFloat16 => by!(zip_brains),
        DType::Half => by!(zip_halves),
        _ => None,
    }
}

fn zip_brains(a: &[u16], b: &[u16], out: &mut [u16], function: impl Fn(f32, f32) -> f32) {
    zip_as::<bf16>(a.reinterpret_cast(), b.reinterpret_cast(), out.reinterpret_cast_mut(), function);
}

fn zip_halves(a: &[u16], b: &[u16], out: &mut [u16], function: impl Fn(f32, f32) -> f32) {
    let (a, b, out) = (a.reinterpret_cast(), b.reinterpret_cast(), out.reinterpret_cast_mut());
    let done = parallel::join_halves(a, b, out, &function);
    zip_as::<f16>(&a[done..], &b[done..], &mut out[done..], function);
}

fn zip_as<S: Stored<Compute = f32>>(a: &[S], b: &[S], out: &mut [S], function: impl Fn(f32, f32) -> f32) {
    zip(a, b, out, |a, b| S::narrow(function(a.widen(), b.widen())));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::pointwise::binary::BinaryKernels;
    use crate::ops::pointwise::unary::UnaryKernels;

    /// All numbers combined with some others: zeros, subnormal and large numbers, infinity and NaN.
    #[test]
    fn numbers_in_registers_are_those_in_buffers() {
        fn check<S: Stored<Compute = f32>>(dtype: DType, number: impl Fn(u16) -> S, bits: impl Fn(S) -> u16) {
            // One more than fills whole vectors: the remainder takes another path.
            let a: Vec<u16> = (0..=u16::MAX).chain([0x3c01]).collect();
            let some = [
                0, 0x8000, 1, 0x8001, 0x007f, 0x0080, 0x03ff, 0x0400, 0x3555, 0x3c00, 0x3f80, 0xbf81, 0x4049, 0x7bff,
                0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0,
            ];
            let wide = |all: &[u16]| -> Vec<f32> { all.iter().map(|&bits| number(bits).widen()).collect() };
            for op in UnaryOp::ALL {
                let Some((kernel, plain)) = narrow_unary(dtype, *op).zip(f32::unary(*op)) else { continue };
                let (mut out, mut wanted) = (vec![0; a.len()], vec![0.0; a.len()]);
                kernel(&a, &mut out);
                plain(&wide(&a), &mut wanted);
                for ((got, wanted), a) in out.into_iter().zip(wanted).zip(&a) {
                    let rounded = bits(S::narrow(wanted));
                    assert!(got == rounded || number(got).widen().is_nan() && wanted.is_nan(), "{op:?} of {a:#x}");
                }
            }
            let each = BinaryOp::ALL.iter().flat_map(|op| some.map(|b| (*op, b)));
            for (op, b, tail) in each.flat_map(|(op, b)| [(op, b, false), (op, b, true)]) {
                let plain = if tail { f32::binary_tail(op) } else { f32::binary(op) };
                let Some((kernel, plain)) = narrow_kernel(dtype, op, tail).zip(plain) else { continue };
                let (b, mut out) = (vec![b; a.len()], vec![0; a.len()]);
                kernel(&a, &b, &mut out);
                let mut wanted = vec![0.0; a.len()];
                plain(&wide(&a), &wide(&b), &mut wanted);
                for (i, (got, wanted)) in out.into_iter().zip(wanted).enumerate() {
                    let rounded = bits(S::narrow(wanted));
                    let same = got == rounded || number(got).widen().is_nan() && wanted.is_nan();
                    assert!(same, "{dtype:?} {op:?} of {i:#x} and {:#x}: {got:#x} is not {rounded:#x}", b[i]);
                }
            }
        }
        for width in [128, 256, 512] {
            parallel::set_width(width);
            check(DType::BFloat16, bf16::from_bits, bf16::to_bits);
            check(DType::Half, f16::from_bits, f16::to_bits);
        }
        parallel::set_width(0);
    }
}
