//! The exponential of matrices, by Taylor polynomials that are evaluated with few products. The degree depends on the
//! norm; matrices of large norm are scaled down, and the result is squared. Follows PyTorch, which follows Bader,
//! Blanes and Casas, "Computing the Matrix Exponential with an Optimized Taylor Polynomial Approximation", Mathematics
//! 2019, 7, 1174.

use super::batch::{MatrixOrder, allocate_batch};
use super::{Shape, check_floating};
use crate::ops::copy::{clone, contiguous, copy_into};
use crate::ops::matmul::bmm;
use crate::ops::pointwise::{BinaryOp, Output, UnaryOp, add, binary, unary};
use crate::ops::promote::Operand;
use crate::ops::reduce::{Extremum, extremum, sum};
use crate::ops::view;
use crate::{DType, Device, Result, Scalar, View};
use half::{bf16, f16};

/// The norm up to which each degree is accurate enough, for degrees 1, 2, 4, 8, 12 and 18.
const SINGLE: [f64; 6] = [
    1.192_092_800_768_788e-7,
    5.978_858_893_805_233e-4,
    5.116_619_363_445_086e-2,
    5.800_524_627_688_768e-1,
    1.461_661_507_209_034,
    3.010_066_362_817_634,
];
const DOUBLE: [f64; 6] = [
    2.220_446_049_250_313e-16,
    2.580_956_802_971_767e-8,
    3.397_168_839_976_962e-4,
    4.991_228_871_115_323e-2,
    2.996_158_913_811_58e-1,
    1.090_863_719_290_036,
];

/// The coefficients of `I`, `A`, `A²` and `A³` for degree 12, one row per sum.
const TWELVE: [f64; 16] = [
    9.0198e-16,
    0.469_321_175_954_182_4,
    -0.200_994_249_270_472_84,
    -0.046_239_461_340_630_71,
    5.315_978_959_758_713,
    1.199_267_904_171_322_3,
    0.011_792_962_409_929_97,
    0.011_088_445_285_191_68,
    0.181_888_699_821_704_35,
    0.055_027_984_399_253_99,
    0.093_515_907_705_354_15,
    0.006_107_005_288_980_582,
    -2.086_132e-13,
    -0.131_810_610_138_301_84,
    -0.020_278_555_405_892_59,
    -0.006_759_518_468_630_864,
];

/// The coefficients of `I`, `A`, `A²`, `A³` and `A⁶` for degree 18, one row per sum.
const EIGHTEEN: [f64; 25] = [
    0.0,
    -1.003_655_810_301_446_2e-1,
    -8.029_246_482_411_57e-3,
    -8.921_384_980_457_3e-4,
    0.0,
    0.0,
    3.978_497_494_996_451e-1,
    1.367_837_784_604_117_2,
    4.982_896_225_253_826_7e-1,
    -6.378_981_945_947_233e-4,
    -1.096_763_960_529_620_6e1,
    1.680_158_138_789_062,
    5.717_798_464_788_655e-2,
    -6.982_101_224_880_520_6e-3,
    3.349_750_170_860_705e-5,
    -9.043_168_323_908_106e-2,
    -6.764_045_190_713_819e-2,
    6.759_613_017_704_597e-2,
    2.955_525_704_293_155e-2,
    -1.391_802_575_160_607e-5,
    0.0,
    0.0,
    -9.233_646_193_671_186e-2,
    -1.693_649_390_020_817_2e-2,
    -1.400_867_981_820_361e-5,
];

/// Computes the exponential of each matrix.
///
/// # Errors
/// RuntimeError for matrices that are not square or not floating.
pub fn matrix_exp(a: &View) -> Result<View> {
    let name = "linalg.matrix_exp";
    let shape = Shape::square(name, a)?;
    check_floating(name, a, true)?;
    let n = shape.rows;
    if a.device().is_meta() {
        return allocate_batch(&shape.batch, n, n, MatrixOrder::Rows, a.dtype, Device::META);
    }
    if n == 0 || a.numel() == 0 {
        return clone(a);
    }
    if n == 1 {
        return unary(UnaryOp::Exp, a, Output::New, a.dtype);
    }
    let matrices = view::reshape(a, &[-1, n as i64, n as i64])?;
    let sizes = unary(UnaryOp::Abs, &matrices, Output::New, a.dtype)?;
    let norms = extremum(Extremum::Max, &sum(&sizes, Some(&[-2]), false, None)?, &[-1], false)?;
    let thetas = if a.dtype.to_real() == DType::Float { SINGLE } else { DOUBLE };
    let only = if norms.numel() == 1 { norms.scalars()?.first().map(|norm| norm.to_f64()) } else { None };
    let result = match only {
        Some(norm) if norm.is_nan() => {
            let result = contiguous(&View::zeros(matrices.sizes(), a.dtype, Device::CPU)?)?;
            crate::ops::copy::fill(&result, Scalar::Float(f64::NAN))?;
            result
        }
        Some(norm) if norm < thetas[4] => polynomial(&matrices, thetas.iter().position(|&theta| norm <= theta))?,
        _ => squared(&matrices, &norms, thetas[5])?,
    };
    view::reshape(&result, a.sizes())
}

/// Evaluates the polynomial of a degree given by its index in the table.
fn polynomial(a: &View, degree: Option<usize>) -> Result<View> {
    match degree {
        Some(0) => combination_of(&powers(a, 2)?, &[1.0, 1.0]),
        Some(1) => {
            let mut parts = powers(a, 3)?;
            parts[2] = scalar_op(BinaryOp::TrueDivide, &parts[2], Scalar::Float(2.0))?;
            combination_of(&parts, &[1.0, 1.0, 1.0])
        }
        Some(2) => {
            let mut parts = powers(a, 3)?;
            parts.push(bmm(&parts[2], &combination(&parts, &[1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0])?)?);
            combination(&parts, &[1.0, 1.0, 0.0, 1.0])
        }
        Some(3) => eighth(a),
        _ => degree_12(a),
    }
}

fn eighth(a: &View) -> Result<View> {
    // Each constant is rounded to the precision of the computation.
    let round = |value: f64| if a.dtype.to_real() == DType::Float { f64::from(value as f32) } else { value };
    let root = round(13.304_134_695_650_07);
    let x3 = round(2.0 / 3.0);
    let x1 = round(x3 * ((1.0 + root) / 88.0));
    let x2 = round(x3 * ((1.0 + root) / 352.0));
    let x4 = round((-271.0 + 29.0 * root) / (315.0 * x3));
    let x5 = round((-11.0 + 11.0 * root) / (1260.0 * x3));
    let x6 = round((-99.0 + 11.0 * root) / (5040.0 * x3));
    let x7 = round((89.0 - root) / (5040.0 * x3));
    let y2 = round((857.0 - 58.0 * root) / 630.0);
    let mut parts = powers(a, 3)?;
    parts.push(bmm(&parts[2], &combination(&parts[1..3], &[x1, x2])?)?);
    let eight = bmm(&combination(&parts[2..4], &[x3, 1.0])?, &combination(&parts, &[x4, x5, x6, x7])?)?;
    parts.push(eight);
    combination(&parts, &[1.0, 1.0, y2, 0.0, 1.0])
}

fn degree_12(a: &View) -> Result<View> {
    let sums = combinations(&powers(a, 4)?, &TWELVE)?;
    let six = plus(&sums[2], &bmm(&sums[3], &sums[3])?)?;
    plus(&sums[0], &bmm(&plus(&sums[1], &six)?, &six)?)
}

fn degree_18(a: &View) -> Result<View> {
    let sums = combinations(&powers(a, 5)?, &EIGHTEEN)?;
    let nine = plus(&sums[3], &bmm(&sums[0], &sums[4])?)?;
    plus(&sums[1], &bmm(&plus(&sums[2], &nine)?, &nine)?)
}

/// Evaluates the polynomial of degree 18 on matrices that are halved as often as their norms require, and squares the
/// results as often.
fn squared(a: &View, norms: &View, theta: f64) -> Result<View> {
    let quotients = scalar_op(BinaryOp::TrueDivide, norms, Scalar::Float(theta))?;
    let logarithms = unary(UnaryOp::Log2, &quotients, Output::New, norms.dtype)?;
    let halvings: Vec<f64> = logarithms
        .scalars()?
        .into_iter()
        .map(|value| value.to_f64().ceil())
        .map(|value| if value < 0.0 { 0.0 } else { value })
        .collect();
    let fractions = halvings.iter().map(|&count| Scalar::Float((-count).exp2()));
    let fractions = View::from_scalars(&[halvings.len() as i64, 1, 1], norms.dtype, fractions)?;
    let scaled = binary(BinaryOp::Mul, Operand::Tensor(a), Operand::Tensor(&fractions), Output::New, DType::Float)?;
    let result = degree_18(&scaled)?;
    for (i, &count) in halvings.iter().enumerate().filter(|(_, count)| count.is_finite()) {
        let own = view::narrow(&result, 0, i as i64, 1)?;
        let mut power = own.clone();
        for _ in 0..count as usize {
            power = bmm(&power, &power)?;
        }
        if count > 0.0 {
            copy_into(&own, &power)?;
        }
    }
    Ok(result)
}

/// Returns the first `count` of `I`, `A`, `A²`, `A³` and `A⁶`.
fn powers(a: &View, count: usize) -> Result<Vec<View>> {
    let n = a.sizes().last().copied().unwrap_or(0);
    let one = view::expand(&crate::ops::create::eye(n, n, a.dtype, a.device())?, a.sizes())?;
    let mut parts = vec![contiguous(&one)?, contiguous(a)?];
    for next in 2..count {
        let product = match next {
            2 => bmm(&parts[1], &parts[1])?,
            3 => bmm(&parts[1], &parts[2])?,
            _ => bmm(&parts[3], &parts[3])?,
        };
        parts.push(product);
    }
    Ok(parts)
}

fn scalar_op(op: BinaryOp, a: &View, number: Scalar) -> Result<View> {
    binary(op, Operand::Tensor(a), Operand::Number(number), Output::New, DType::Float)
}

fn plus(a: &View, b: &View) -> Result<View> {
    binary(BinaryOp::Add, Operand::Tensor(a), Operand::Tensor(b), Output::New, DType::Float)
}

/// Returns the sum of the parts, each multiplied by its factor.
fn combination(parts: &[View], factors: &[f64]) -> Result<View> {
    combination_of(parts, &seen_as(parts[0].dtype, factors))
}

fn combination_of(parts: &[View], factors: &[f64]) -> Result<View> {
    if parts[0].dtype.is_complex() {
        // The factors are real.
        let parts = parts.iter().map(view::view_as_real).collect::<Result<Vec<_>>>()?;
        return view::view_as_complex(&combination_of(&parts, factors)?);
    }
    let mut sum = View::zeros(parts[0].sizes(), parts[0].dtype, Device::CPU)?;
    for (part, &factor) in parts.iter().zip(factors) {
        sum = if part.dtype.is_reduced_floating_point() {
            plus(&sum, &scalar_op(BinaryOp::Mul, part, Scalar::Float(factor))?)?
        } else {
            add(Operand::Tensor(&sum), Operand::Tensor(part), Scalar::Float(factor), Output::New, DType::Float)?
        };
    }
    Ok(sum)
}

/// Returns one sum for each row of factors.
fn combinations(parts: &[View], rows: &[f64]) -> Result<Vec<View>> {
    let factors = seen_as(parts[0].dtype, rows);
    factors.chunks(parts.len()).map(|row| combination_of(parts, row)).collect()
}

/// Reinterprets the factors as PyTorch does: for 16-bit matrices, it stores them in double precision and reads their
/// bytes as 16-bit numbers.
fn seen_as(dtype: DType, factors: &[f64]) -> Vec<f64> {
    let halves = factors.iter().flat_map(|factor| factor.to_bits().to_le_bytes());
    let halves: Vec<u8> = halves.take(2 * factors.len()).collect();
    let halves = halves.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    match dtype.to_real() {
        DType::Half => halves.map(|bits| f16::from_bits(bits).to_f64()).collect(),
        DType::BFloat16 => halves.map(|bits| bf16::from_bits(bits).to_f64()).collect(),
        _ => factors.to_vec(),
    }
}
