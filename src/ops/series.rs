//! Functions of `f32` computed in double precision by plain arithmetic, without branches, so that a loop over them
//! becomes vector instructions. Their errors lie far below half a unit of an `f32`, so that results are correctly
//! rounded but for rare ties. `f64` itself keeps the system's functions. Knows numbers only.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// Adding it rounds a double below 2^51 to a whole number, which the lowest bits of the sum then hold.
const ROUND: f64 = 1.5 * (1u64 << 52) as f64;
/// The leading bits of ln 2, so few that their multiples by an exponent are exact, and the rest.
const LN_2_HIGH: f64 = f64::from_bits(LN_2.to_bits() & !0xFFFF_FFFF);
const LN_2_LOW: f64 = 4.749_325_039_031_672_6e-7;

/// `coefficients` as a polynomial in `x`, the constant first.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = 0.0;
    let mut k = N;
    while k > 0 {
        k -= 1;
        sum = sum * x + coefficients[k];
    }
    sum
}

/// e to the power of `x`: 2 to a whole power times the series around 0. For results that are rounded to `f32`, in which
/// everything beyond e^±200 is infinity or zero.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let x = if x > 200.0 { 200.0 } else { x };
    let x = if x < -200.0 { -200.0 } else { x };
    let rounded = x * LOG2_E + ROUND;
    let power = rounded - ROUND;
    let rest = (x - power * LN_2_HIGH) - power * LN_2_LOW;
    // 1 / k!
    let series = polynomial(
        rest,
        [
            1.0,
            1.0,
            1.0 / 2.0,
            1.0 / 6.0,
            1.0 / 24.0,
            1.0 / 120.0,
            1.0 / 720.0,
            1.0 / 5040.0,
            1.0 / 40320.0,
            1.0 / 362_880.0,
            1.0 / 3_628_800.0,
            1.0 / 39_916_800.0,
        ],
    );
    // The power is added to the exponent; of NaN, these bits are zero.
    f64::from_bits(series.to_bits().wrapping_add(rounded.to_bits() << 52))
}

/// The natural logarithm of an `f32` widened: of x = m 2^n with m in [√½, √2), n ln 2 plus twice the area tangent of
/// (m - 1) / (m + 1).
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let mantissa = f64::from_bits((x.to_bits() & MANTISSA) | 1.0f64.to_bits());
    let large = mantissa > SQRT_2;
    let mantissa = if large { mantissa * 0.5 } else { mantissa };
    // The biased exponent, as the lowest bits of a double, becomes a number without a conversion.
    let exponent = f64::from_bits((x.to_bits() >> 52) | ROUND.to_bits()) - ROUND;
    let exponent = exponent - if large { 1022.0 } else { 1023.0 };
    let tangent = (mantissa - 1.0) / (mantissa + 1.0);
    let square = tangent * tangent;
    // 2 / (2k + 1)
    let series = polynomial(
        square,
        [2.0, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0, 2.0 / 17.0, 2.0 / 19.0],
    );
    let value = exponent * LN_2 + tangent * series;
    let value = if x == f64::INFINITY { x } else { value };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    // Negative numbers have none, and NaN is not at least 0.
    if x >= 0.0 { value } else { f64::NAN }
}

/// The hyperbolic tangent, from e^2x; close to 0, where that loses digits, from its series.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let power = exp(x + x);
    let quotient = (power - 1.0) / (power + 1.0);
    let square = x * x;
    let series = x * polynomial(square, [1.0, -1.0 / 3.0, 2.0 / 15.0, -17.0 / 315.0, 62.0 / 2835.0]);
    if square < 1e-3 { series } else { quotient }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal to the system's functions, rounded to `f32`, but for one result in many thousands that is the other
    /// neighbour of a tie.
    fn agrees(quick: impl Fn(f64) -> f64, exact: impl Fn(f64) -> f64) {
        let (mut seen, mut differ) = (0, 0);
        for bits in (0..=u32::MAX).step_by(9973) {
            let x = f32::from_bits(bits);
            let (quick, exact) = (quick(f64::from(x)) as f32, exact(f64::from(x)) as f32);
            seen += 1;
            if quick.to_bits() != exact.to_bits() && !(quick.is_nan() && exact.is_nan()) {
                differ += 1;
                let apart = i64::from(quick.to_bits()).abs_diff(i64::from(exact.to_bits()));
                assert!(apart <= 1, "{x:e}: {quick:e}, not {exact:e}");
            }
        }
        assert!(differ * 10_000 <= seen, "{differ} of {seen} differ");
    }

    #[test]
    fn series_round_as_the_functions_do() {
        agrees(exp, f64::exp);
        agrees(ln, f64::ln);
        agrees(tanh, f64::tanh);
    }
}
