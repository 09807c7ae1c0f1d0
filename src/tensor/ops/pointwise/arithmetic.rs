//! Functions with extra arguments around the rows of the tables: `alpha`, rounding modes, and powers by a number.

use super::binary::{BinaryOp, Rounding, binary, scaled_sum};
use super::unary::{UnaryOp, unary};
use super::{Output, Plan, Shape, check_sizes, converted, plan};
use crate::bail;
use crate::ops::copy::{check_fits, copy_into, fill};
use crate::ops::create::zeros;
use crate::ops::promote::{Operand, result_type};
use crate::{Category, DType, Result, Scalar, View};

/// `a + alpha * b`, like [`torch.add`](https://pytorch.org/docs/2.7/generated/torch.add.html).
///
/// # Errors
/// RuntimeError for an `alpha` of a higher category than the result; otherwise those of [`binary`].
pub fn add(a: Operand, b: Operand, alpha: Scalar, output: Output, default: DType) -> Result<View> {
    if matches!(alpha, Scalar::Int(1)) {
        return binary(BinaryOp::Add, a, b, output, default);
    }
    check_alpha(&[a, b], alpha, output, default)?;
    if is_one(alpha) { binary(BinaryOp::Add, a, b, output, default) } else { scaled_sum(a, b, alpha, output, default) }
}

/// `a - alpha * b`, like [`torch.sub`](https://pytorch.org/docs/2.7/generated/torch.sub.html).
///
/// # Errors
/// Those of [`add`], and RuntimeError for bool operands.
pub fn sub(a: Operand, b: Operand, alpha: Scalar, output: Output, default: DType) -> Result<View> {
    if matches!(alpha, Scalar::Int(1)) {
        return binary(BinaryOp::Sub, a, b, output, default);
    }
    BinaryOp::Sub.check_operands([a, b])?;
    check_alpha(&[a, b], alpha, output, default)?;
    if is_one(alpha) {
        return binary(BinaryOp::Sub, a, b, output, default);
    }
    scaled_sum(a, b, negated(alpha), output, default)
}

/// Negates a factor.
pub fn negated(alpha: Scalar) -> Scalar {
    match alpha {
        Scalar::Bool(b) => Scalar::Int(-i64::from(b)),
        Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
        Scalar::UInt(u) => Scalar::Int((u as i64).wrapping_neg()),
        Scalar::Float(f) => Scalar::Float(-f),
        Scalar::Complex(c) => Scalar::Complex(-c),
    }
}

/// `b - alpha * a`, like `torch.rsub`.
///
/// # Errors
/// Those of [`sub`].
pub fn rsub(a: Operand, b: Operand, alpha: Scalar, output: Output, default: DType) -> Result<View> {
    sub(b, a, alpha, output, default)
}

fn is_one(alpha: Scalar) -> bool {
    matches!(alpha, Scalar::Bool(true) | Scalar::Int(1)) || alpha == Scalar::Float(1.0)
}

fn check_alpha(operands: &[Operand], alpha: Scalar, output: Output, default: DType) -> Result<()> {
    check_sizes(operands, output)?;
    let common = result_type(operands, default)?;
    if alpha.category() == Category::Bool && common != DType::Bool {
        bail!(RuntimeError, "Boolean alpha only supported for Boolean results.");
    }
    if alpha.category() >= Category::Floating && common.is_integral(true) {
        bail!(RuntimeError, "For integral input tensors, argument alpha must not be a floating point number.");
    }
    if alpha.category() == Category::Complex && !common.is_complex() {
        bail!(RuntimeError, "For non-complex input tensors, argument alpha must not be a complex number.");
    }
    Ok(())
}

/// `a / b` with optional rounding, like [`torch.div`](https://pytorch.org/docs/2.7/generated/torch.div.html).
///
/// # Errors
/// Those of [`binary`].
pub fn div(a: Operand, b: Operand, rounding: Option<Rounding>, output: Output, default: DType) -> Result<View> {
    let op = match rounding {
        None => BinaryOp::TrueDivide,
        Some(Rounding::Trunc) => BinaryOp::TruncDivide,
        Some(Rounding::Floor) => BinaryOp::FloorDivide,
    };
    binary(op, a, b, output, default)
}

/// `base ** exponent`, like [`torch.pow`](https://pytorch.org/docs/2.7/generated/torch.pow.html). The exponents 0 and 1
/// and the base 1 need no computation; some other exponents are computed as roots and products.
///
/// # Errors
/// RuntimeError for negative integer exponents of integers; otherwise those of [`binary`].
pub fn pow(base: Operand, exponent: Operand, output: Output, default: DType) -> Result<View> {
    match (base, exponent) {
        (Operand::Tensor(tensor), Operand::Number(number)) => power_by_number(tensor, number, output, default),
        (Operand::Number(number), Operand::Tensor(tensor)) => {
            // The result is row-major, unlike that of most operations.
            let out = match output {
                Output::New => Some(zeros(tensor.sizes(), result_type(&[base, exponent], default)?, tensor.device())?),
                _ => None,
            };
            let output = out.as_ref().map_or(output, Output::Out);
            if number == Scalar::Bool(true) || !equals(number, 1.0) {
                return binary(BinaryOp::Pow, base, exponent, output, default);
            }
            let Plan { target, .. } = power_plan(base, exponent, output, default)?;
            fill(&target, Scalar::Int(1))?;
            Ok(target)
        }
        _ => binary(BinaryOp::Pow, base, exponent, output, default),
    }
}

fn equals(number: Scalar, value: f64) -> bool {
    match number {
        Scalar::Complex(c) => c.re == value && c.im == 0.0,
        real => real.to_f64() == value,
    }
}

fn power_plan(base: Operand, exponent: Operand, output: Output, default: DType) -> Result<Plan> {
    let both = [base, exponent];
    // Only tensors determine the result's shape.
    let operands = both.iter().copied().filter(|o| matches!(o, Operand::Tensor(_))).collect::<Vec<_>>();
    let sizes = check_sizes(&operands, output)?;
    let common = result_type(&both, default)?;
    plan(&operands, output, Shape { sizes, common, result: common, safe_cast: true })
}

fn power_by_number(base: &View, exponent: Scalar, output: Output, default: DType) -> Result<View> {
    let number = Operand::Number(exponent);
    let negative = exponent.category() <= Category::Integral && exponent.to_f64() < 0.0;
    if negative && base.dtype.is_integral(true) {
        bail!(RuntimeError, "Integers to negative integer powers are not allowed.");
    }
    let common = result_type(&[base.into(), number], default)?;
    if equals(exponent, 0.0) || equals(exponent, 1.0) {
        let Plan { target, .. } = power_plan(base.into(), number, output, default)?;
        if equals(exponent, 0.0) {
            fill(&target, Scalar::Int(1))?;
        } else {
            copy_into(&target, base)?;
        }
        return Ok(target);
    }
    if common.is_integral(true) || common.is_reduced_floating_point() {
        check_fits(exponent, common)?;
    }
    let base = converted(base, common)?;
    let base: &View = &base;
    if common == DType::BFloat16 && (equals(exponent, 3.0) || equals(exponent, -2.0)) {
        // Every product is rounded.
        let square = unary(UnaryOp::PowerOf2, base, Output::New, default)?;
        return match equals(exponent, 3.0) {
            true => binary(BinaryOp::Mul, (&square).into(), base.into(), output, default),
            false => unary(UnaryOp::Reciprocal, &square, output, default),
        };
    }
    let has_shortcuts = matches!(common, DType::Float | DType::Double | DType::BFloat16) || common.is_complex();
    let op = [(0.5, UnaryOp::Sqrt), (-0.5, UnaryOp::Rsqrt), (-1.0, UnaryOp::Reciprocal)]
        .into_iter()
        .chain([(2.0, UnaryOp::PowerOf2), (3.0, UnaryOp::PowerOf3), (-2.0, UnaryOp::PowerOfMinus2)])
        .find(|&(value, _)| has_shortcuts && equals(exponent, value));
    match op {
        Some((_, op)) => unary(op, base, output, default),
        None => binary(BinaryOp::Pow, base.into(), number, output, default),
    }
}

/// Converts angles to another unit.
pub(super) fn scale_angle(name: &str, angle: &View, factor: f64, output: Output, default: DType) -> Result<View> {
    if angle.dtype.is_complex() {
        bail!(RuntimeError, "{name} is not supported for complex tensors.");
    }
    let dtype = if angle.dtype.is_integral(true) { default } else { angle.dtype };
    // A new result has the operand's layout, unlike the result of a product.
    let out = match output {
        Output::New => {
            let strides = angle.layout.like_strides();
            Some(View::unwritten_strided(angle.sizes(), strides, dtype, angle.device())?)
        }
        _ => None,
    };
    let output = out.as_ref().map_or(output, Output::Out);
    binary(BinaryOp::Mul, angle.into(), Operand::Number(Scalar::Float(factor)), output, default)
}
