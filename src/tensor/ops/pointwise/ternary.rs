//! Operations on three operands: sums with a scaled product or quotient, interpolation, and clamping.

use super::classes::*;
use super::real::{larger_of, smaller_of};
use super::{
    BinaryOp, Output, Plan, Shape, binary, check_kernel, check_sizes, complex, converted, copy_back, plan, source,
    write_target,
};
use crate::bail;
use crate::memory::BoolByte;
use crate::ops::block::{self, BLOCK, Pace};
use crate::ops::copy::{check_fits, fill};
use crate::ops::number::{Number, Real, Stored};
use crate::ops::promote::{Operand, result_type};
use crate::parallel::vectorised;
use crate::{Category, DType, Result, Scalar, View, can_cast};
use num_complex::Complex;

/// A ternary operation; sums have a factor as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TernaryOp {
    /// `a + value * b * c`.
    Addcmul,
    /// `a + value * b / c`.
    Addcdiv,
    /// `a + c * (b - a)`.
    Lerp,
    /// `a`, bounded below by `b` and above by `c`.
    Clamp,
    /// `a`, bounded below by `b`.
    AtLeast,
    /// `a`, bounded above by `b`.
    AtMost,
}

impl TernaryOp {
    fn stub(self) -> &'static str {
        match self {
            TernaryOp::Addcmul => "addcmul_cpu_out",
            TernaryOp::Addcdiv => "addcdiv_cpu_out",
            TernaryOp::Lerp => "lerp_kernel_tensor",
            TernaryOp::Clamp | TernaryOp::AtLeast | TernaryOp::AtMost => "clamp_cpu",
        }
    }

    fn supported(self) -> u8 {
        match self {
            TernaryOp::Addcmul => NUMBERS | COMPLEX | COMPLEX_HALF,
            TernaryOp::Addcdiv | TernaryOp::Lerp => FLOAT | COMPLEX,
            TernaryOp::Clamp | TernaryOp::AtLeast | TernaryOp::AtMost => NUMBERS,
        }
    }
}

/// A kernel over blocks of one compute type: three operands, results, and the factor of sums.
pub(super) type TernaryKernel<C> = fn([&[C]; 3], &mut [C], C);

/// A compute type with kernels for three operands.
pub(super) trait TernaryKernels: Number {
    fn ternary(op: TernaryOp) -> TernaryKernel<Self>;
}

/// The function must own its captures: those behind references are read again for each element.
fn zip<C: Copy>([a, b, c]: [&[C]; 3], out: &mut [C], function: impl Fn(C, C, C) -> C) {
    vectorised(move || {
        for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
            *out = function(a, b, c);
        }
    });
}

/// The kernels of a type, from functions of three numbers; `$value` names the factor.
macro_rules! table {
    ($op:expr, $value:ident { $($name:ident => $function:expr,)* }) => {
        match $op {
            $(TernaryOp::$name => |abc, out, $value| {
                let _ = $value;
                zip(abc, out, $function)
            },)*
        }
    };
}

macro_rules! kernels {
    (integers $($t:ty)*) => {$(
        impl TernaryKernels for $t {
            fn ternary(op: TernaryOp) -> TernaryKernel<$t> {
                table!(op, value {
                    Addcmul => move |a, b, c| a.wrapping_add(value.wrapping_mul(b).wrapping_mul(c)),
                    Addcdiv => move |a, b, c| a.wrapping_add(value.wrapping_mul(b).checked_div(c).unwrap_or_default()),
                    Lerp => |a, _, _| a,
                    Clamp => |a, b, c| a.max(b).min(c),
                    AtLeast => |a, b, _| a.max(b),
                    AtMost => |a, b, _| a.min(b),
                })
            }
        }
    )*};
    (floats $($t:ty)*) => {$(
        impl TernaryKernels for $t {
            fn ternary(op: TernaryOp) -> TernaryKernel<$t> {
                table!(op, value {
                    Addcmul => move |a, b, c| (value * b).fused(c, a),
                    Addcdiv => move |a, b, c| a + value * b / c,
                    // From the nearer end, so that both ends are exact.
                    Lerp => |a, b, c| {
                        let (weight, end) = if c.abs() < 0.5 { (c, a) } else { (c - 1.0, b) };
                        weight.fused(b - a, end)
                    },
                    Clamp => |a, b, c| smaller_of(larger_of(a, b), c),
                    // A single bound that is NaN has no effect.
                    AtLeast => |a, b, _| if a < b { b } else { a },
                    AtMost => |a, b, _| if a > b { b } else { a },
                })
            }
        }

        impl TernaryKernels for Complex<$t> {
            fn ternary(op: TernaryOp) -> TernaryKernel<Self> {
                table!(op, value {
                    Addcmul => move |a, b, c| a + value * b * c,
                    Addcdiv => move |a, b, c| a + complex::divide(value * b, c),
                    Lerp => |a, b, c: Self| {
                        if c.norm_sqr() < 0.25 { a + c * (b - a) } else { b - (b - a) * (Complex::new(1.0, 0.0) - c) }
                    },
                    // Unreachable: complex numbers have no order and are refused.
                    Clamp => |a, _, _| a,
                    AtLeast => |a, _, _| a,
                    AtMost => |a, _, _| a,
                })
            }
        }
    )*};
}
kernels!(integers u8 i8 i16 i32 i64 u16 u32 u64);
kernels!(floats f32 f64);

impl TernaryKernels for BoolByte {
    fn ternary(_: TernaryOp) -> TernaryKernel<BoolByte> {
        |abc, out, _| zip(abc, out, |a, b, c| (a | b) & c)
    }
}

/// Applies a ternary operation.
///
/// # Errors
/// RuntimeError, in PyTorch's words, for operands that do not broadcast or promote, outputs that cannot hold the
/// result, and unsupported dtypes.
pub fn ternary(op: TernaryOp, operands: [&View; 3], value: Scalar, output: Output, default: DType) -> Result<View> {
    let inputs: [Operand; 3] = operands.map(Operand::Tensor);
    let common = result_type(&inputs, default)?;
    let [a, b, c] = operands;
    match op {
        TernaryOp::Lerp => same_dtype(a, b, "end").and_then(|()| same_dtype(a, c, "weight"))?,
        TernaryOp::Clamp if common.is_complex() => bail!(RuntimeError, "clamp is not supported for complex types"),
        TernaryOp::Addcdiv if b.dtype.is_integral(true) && c.dtype.is_integral(true) => bail!(
            RuntimeError,
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true \
             division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * \
             torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / \
             tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * \
             tensor1 / tensor2), for all dtypes."
        ),
        _ => {}
    }
    let sizes = check_sizes(&inputs, output)?;
    let Plan { target, compute } = plan(&inputs, output, Shape { sizes, common, result: common, safe_cast: true })?;
    if !compute {
        return Ok(target);
    }
    check_kernel(op.stub(), op.supported(), common)?;
    check_fits(value, common)?;
    let computed = write_target(&target, common)?;
    let [a, b, c] = operands.map(|view| converted(view, common));
    let (a, b, c) = (a?, b?, c?);
    run(op, [&a, &b, &c], value, &computed)?;
    copy_back(computed, &target)?;
    Ok(target)
}

/// Applies `op` to operands of `out`'s dtype.
fn run(op: TernaryOp, operands: [&View; 3], value: Scalar, out: &View) -> Result<()> {
    dispatch!(out.dtype, S => {
        type C = <S as Stored>::Compute;
        let (kernel, value) = (C::ternary(op), C::from_scalar(value));
        block::ternary::<S, S>(out, operands, &|a, b, c, out| kernel([a, b, c], out, value))
    })
}

fn same_dtype(a: &View, b: &View, name: &str) -> Result<()> {
    if a.dtype != b.dtype {
        bail!(RuntimeError, "expected dtype {} for `{name}` but got dtype {}", a.dtype.cpp_name(), b.dtype.cpp_name());
    }
    Ok(())
}

/// `lerp` with a number as its weight.
///
/// # Errors
/// Those of [`ternary`].
pub fn lerp_number(start: &View, end: &View, weight: Scalar, output: Output, default: DType) -> Result<View> {
    same_dtype(start, end, "end")?;
    check_kernel("lerp_kernel_scalar", FLOAT | COMPLEX, start.dtype)?;
    let operands = [start, end].map(Operand::Tensor);
    let sizes = check_sizes(&operands, output)?;
    let common = result_type(&operands, default)?;
    let Plan { target, compute } = plan(&operands, output, Shape { sizes, common, result: common, safe_cast: true })?;
    if !compute {
        return Ok(target);
    }
    // The weight is not rounded to 16 bits, even if the operands are.
    check_fits(weight, if matches!(common, DType::Half | DType::BFloat16) { DType::Float } else { common })?;
    let computed = write_target(&target, common)?;
    let [start, end] = [start, end].map(|view| converted(view, common).map(Some));
    let views = [start?, end?];
    dispatch!(common, S => {
        type C = <S as Stored>::Compute;
        let weights = [C::from_scalar(weight); BLOCK];
        let kernel = C::ternary(TernaryOp::Lerp);
        let a = source::<S>(operands[0], &views[0], computed.sizes(), false)?;
        let b = source::<S>(operands[1], &views[1], computed.sizes(), false)?;
        block::binary::<S, S>(&computed, a, b, Pace::PLAIN, &|a, b, out, _| {
            for ((a, b), out) in a.chunks(BLOCK).zip(b.chunks(BLOCK)).zip(out.chunks_mut(BLOCK)) {
                kernel([a, b, &weights[..a.len()]], out, C::default());
            }
            Ok(())
        })?;
    });
    copy_back(computed, &target)?;
    Ok(target)
}

/// `clamp` between numbers. If one of two bounds is NaN, every element becomes NaN.
///
/// # Errors
/// RuntimeError without bounds, and those of [`ternary`].
pub fn clamp(a: &View, bounds: [Option<Scalar>; 2], output: Output, default: DType) -> Result<View> {
    if a.dtype.is_complex() {
        bail!(RuntimeError, "clamp is not supported for complex types");
    }
    let [low, high] = bounds;
    let numbers: Vec<Operand> =
        std::iter::once(Operand::Tensor(a)).chain(bounds.into_iter().flatten().map(Operand::Number)).collect();
    let stub = match bounds {
        [None, None] => bail!(RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None"),
        [Some(_), Some(_)] => "clamp_scalar_cpu",
        [Some(_), None] => "clamp_min_scalar_cpu",
        [None, Some(_)] => "clamp_max_scalar_cpu",
    };
    let common = result_type(&numbers, default)?;
    if common.category() == Category::Complex {
        bail!(RuntimeError, "clamp is not supported for complex types");
    }
    if let Output::InPlace(out) = output
        && !can_cast(common, out.dtype)
    {
        // The wording differs from that of other operations.
        bail!(
            RuntimeError,
            "result type {} can't be cast to the desired output type {}",
            common.scalar_type(),
            out.dtype.cpp_name()
        );
    }
    let sizes = check_sizes(&[a.into()], output)?;
    let Plan { target, compute } = plan(&[a.into()], output, Shape { sizes, common, result: common, safe_cast: true })?;
    if !compute {
        return Ok(target);
    }
    let is_nan = |bound: Option<Scalar>| matches!(bound, Some(Scalar::Float(f)) if f.is_nan());
    if low.is_some() && high.is_some() && (is_nan(low) || is_nan(high)) {
        fill(&target, Scalar::Float(f64::NAN))?;
        return Ok(target);
    }
    check_kernel(stub, NUMBERS, common)?;
    let computed = write_target(&target, common)?;
    let a = converted(a, common)?;
    let limit = |bound: Scalar| check_fits(bound, common).and_then(|()| View::scalar(bound, common));
    let [low, high] = bounds.map(|bound| bound.map(limit).transpose());
    let (op, low, high) = match (low?, high?) {
        (Some(low), Some(high)) => (TernaryOp::Clamp, low, high),
        (Some(low), None) => (TernaryOp::AtLeast, low.clone(), low),
        (None, Some(high)) => (TernaryOp::AtMost, high.clone(), high),
        (None, None) => return Ok(target),
    };
    run(op, [&a, &low, &high], Scalar::Int(1), &computed)?;
    copy_back(computed, &target)?;
    Ok(target)
}

/// `clamp` between tensors.
///
/// # Errors
/// Those of [`clamp`].
pub fn clamp_tensors(a: &View, bounds: [Option<&View>; 2], output: Output, default: DType) -> Result<View> {
    if [Some(a)].iter().chain(&bounds).flatten().any(|view| view.dtype.is_complex()) {
        bail!(RuntimeError, "clamp is not supported for complex types");
    }
    match bounds {
        [None, None] => bail!(RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None"),
        [Some(low), None] => binary(BinaryOp::Maximum, a.into(), low.into(), output, default),
        [None, Some(high)] => binary(BinaryOp::Minimum, a.into(), high.into(), output, default),
        [Some(low), Some(high)] => ternary(TernaryOp::Clamp, [a, low, high], Scalar::Int(1), output, default),
    }
}
