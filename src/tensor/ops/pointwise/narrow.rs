//! Arithmetic on 16-bit floats that keeps numbers in registers between widening and narrowing. Writing single precision
//! to a buffer would double the time. The results are those of the `f32` kernels, rounded.

use super::binary::{BinaryKernel, BinaryOp, zip};
use crate::ops::number::Stored;
use crate::{DType, parallel};
use half::slice::HalfBitsSliceExt;
use half::{bf16, f16};

/// Returns the kernel for a dtype, if there is one; it takes the numbers' bits.
pub(super) fn narrow_kernel(dtype: DType, op: BinaryOp) -> Option<BinaryKernel<u16>> {
    macro_rules! by {
        ($zip:ident) => {
            match op {
                BinaryOp::Add => Some(|a, b, out| $zip(a, b, out, |a, b| a + b)),
                BinaryOp::Sub => Some(|a, b, out| $zip(a, b, out, |a, b| a - b)),
                BinaryOp::Mul => Some(|a, b, out| $zip(a, b, out, |a, b| a * b)),
                BinaryOp::TrueDivide => Some(|a, b, out| $zip(a, b, out, |a, b| a / b)),
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
            for (op, b) in BinaryOp::ALL.iter().flat_map(|op| some.map(|b| (*op, b))) {
                let Some((kernel, plain)) = narrow_kernel(dtype, op).zip(f32::binary(op)) else { continue };
                let (b, mut out) = (vec![b; a.len()], vec![0; a.len()]);
                kernel(&a, &b, &mut out);
                let wide = |all: &[u16]| -> Vec<f32> { all.iter().map(|&bits| number(bits).widen()).collect() };
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
