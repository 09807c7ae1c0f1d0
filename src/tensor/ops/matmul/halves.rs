//! Products of 16-bit vectors. PyTorch uses its matrix library for few of them. Its own loops accumulate in single
//! precision, but round row products, factors and summands to 16 bits.

use super::product::write;
use super::{Factors, is_column_major};
use crate::ops::block::values;
use crate::ops::check::resolved;
use crate::ops::copy::contiguous;
use crate::ops::number::{Stored, rounded};
use crate::parallel::vectorised;
use crate::{DType, Result, Scalar, View, interrupt, limits};
use half::{bf16, f16};

/// Sums products that are each rounded to 16 bits.
///
/// # Errors
/// MemoryError; KeyboardInterrupt.
pub(super) fn dot(out: &View, a: &View, b: &View) -> Result<()> {
    match out.dtype {
        DType::Half => dot_as::<f16>(out, a, b),
        _ => dot_as::<bf16>(out, a, b),
    }
}

fn dot_as<S: Stored<Compute = f32>>(out: &View, a: &View, b: &View) -> Result<()> {
    write::<S>(out, &[rounded_dot::<S>(&elements::<S>(a)?, &elements::<S>(b)?)?])
}

/// PyTorch uses its library for `bfloat16` matrices with more elements than this.
const LIBRARY: i64 = 4096;

/// Returns whether PyTorch multiplies a matrix and a vector with these loops.
pub(crate) fn has_own_loop(a: &View, v: &View, factors: Factors) -> bool {
    let [beta, alpha] = [factors.beta, factors.alpha].map(Scalar::to_f64);
    let is_plain = v.strides() == [1] && alpha == 1.0 && beta == 0.0;
    match a.dtype {
        DType::Half => !is_plain,
        DType::BFloat16 => !is_plain && a.numel() <= LIBRARY,
        _ => false,
    }
}

/// Writes `beta · added + alpha · a @ v` to a vector.
///
/// # Errors
/// MemoryError; KeyboardInterrupt.
pub(super) fn addmv(out: &View, added: &View, a: &View, v: &View, factors: Factors) -> Result<()> {
    match out.dtype {
        DType::Half => addmv_as::<f16>(out, added, a, v, factors),
        _ => addmv_as::<bf16>(out, added, a, v, factors),
    }
}

fn addmv_as<S: Stored<Compute = f32>>(out: &View, added: &View, a: &View, v: &View, factors: Factors) -> Result<()> {
    let columns = v.numel().max(0) as usize;
    // In this case PyTorch's fast loop handles the summand too.
    let is_fast = a.dtype == DType::Half && v.strides() == [1] && factors.alpha.to_f64() == 1.0;
    let by_columns = is_column_major(a);
    let [beta, alpha] = [factors.beta, factors.alpha].map(|factor| rounded::<S>(factor.to_f64() as f32));
    let (matrix, vector) = (elements::<S>(a)?, elements::<S>(v)?);
    let added = if beta == 0.0 { Vec::new() } else { elements::<S>(added)? };
    let mut result = limits::filled(0.0f32, out.numel().max(0) as usize)?;
    let rows = matrix.chunks(columns.max(1)).map(Some).chain(std::iter::repeat(None));
    for (i, (to, row)) in result.iter_mut().zip(rows).enumerate() {
        let row = row.unwrap_or_default();
        let product = if by_columns {
            rounded::<S>(sum(row, &vector, |x, y| alpha * y * x)?)
        } else if is_fast {
            sum(row, &vector, |x, y| x * y)?
        } else {
            alpha * rounded_dot::<S>(row, &vector)?
        };
        *to = match added.get(i) {
            None => product,
            Some(value) if is_fast && !by_columns => beta * value + product,
            Some(value) => rounded::<S>(beta * value) + product,
        };
    }
    write::<S>(out, &result)
}

fn rounded_dot<S: Stored<Compute = f32>>(a: &[f32], b: &[f32]) -> Result<f32> {
    sum(a, b, |x, y| rounded::<S>(x * y))
}

/// The number of terms computed at a time, before they are added.
const TERMS: usize = 64;

/// Sums in single precision, in order.
fn sum(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> Result<f32> {
    let mut total = 0.0;
    for (a, b) in a.chunks(interrupt::STRIDE).zip(b.chunks(interrupt::STRIDE)) {
        interrupt::check()?;
        total = vectorised(|| {
            let mut total = total;
            let mut terms = [0.0; TERMS];
            for (a, b) in a.chunks(TERMS).zip(b.chunks(TERMS)) {
                terms.iter_mut().zip(a.iter().zip(b)).for_each(|(to, (&x, &y))| *to = term(x, y));
                total = terms.iter().take(a.len()).fold(total, |total, term| total + term);
            }
            total
        });
    }
    Ok(total)
}

fn elements<S: Stored<Compute = f32>>(view: &View) -> Result<Vec<f32>> {
    values::<S>(&contiguous(&resolved(view)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_made_one_term_after_the_other() {
        let number = |k: usize| ((k * 37 + 11) % 1009) as f32 / 7.0 - 70.0;
        for m in [0, 1, 2, TERMS - 1, TERMS, TERMS + 1, interrupt::STRIDE - 1, interrupt::STRIDE + TERMS + 1, 100_000] {
            let (a, b): (Vec<f32>, Vec<f32>) = ((0..m).map(number).collect(), (0..m).map(|k| number(k * k)).collect());
            let want = a.iter().zip(&b).fold(0.0, |sum, (x, y)| sum + f16::from_f32(x * y).to_f32());
            assert_eq!(rounded_dot::<f16>(&a, &b).map(f32::to_bits), Ok(want.to_bits()), "{m} terms");
        }
    }
}
