//! Formats one element as short text for a cell.

use crate::format::{complex_repr, float_repr};
use num_complex::Complex;
use tensor::{DType, Scalar, View};

/// The number of digits shown in a cell.
const BRIEF: usize = 5;

/// Formats an element with few digits.
pub fn brief(value: Scalar) -> String {
    match value {
        Scalar::Float(f) => float_repr(rounded(f, BRIEF)),
        Scalar::Complex(c) => complex_repr(Complex::new(rounded(c.re, BRIEF), rounded(c.im, BRIEF))),
        other => whole(other),
    }
}

/// Formats an element with enough digits to identify it in `dtype`.
pub(crate) fn exact(value: Scalar, dtype: DType) -> String {
    match value {
        Scalar::Float(f) => float_repr(shortest(f, dtype)),
        Scalar::Complex(c) => {
            let part = dtype.to_real();
            complex_repr(Complex::new(shortest(c.re, part), shortest(c.im, part)))
        }
        other => whole(other),
    }
}

/// The longest decimal of an exact value that is written out.
const LONG: usize = 16;

/// Formats an element with all its digits if they are few, else like [`exact`].
pub(crate) fn precise(value: Scalar, dtype: DType) -> String {
    match value {
        Scalar::Float(f) if f.is_finite() => {
            let all = format!("{f}");
            let all = if all.contains('.') { all } else { all + ".0" };
            if all.len() <= LONG && f64::from(f as f32) == f { all } else { exact(value, dtype) }
        }
        value => exact(value, dtype),
    }
}

fn whole(value: Scalar) -> String {
    match value {
        Scalar::Bool(true) => "True".to_owned(),
        Scalar::Bool(false) => "False".to_owned(),
        Scalar::UInt(u) => u.to_string(),
        other => other.to_i64().to_string(),
    }
}

/// Rounds to this many decimal digits. The largest numbers, which would overflow, are returned unchanged.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    let nearest = format!("{value:.*e}", digits.saturating_sub(1)).parse();
    nearest.ok().filter(|nearest: &f64| nearest.is_finite()).unwrap_or(value)
}

/// Returns a decimal that reads as this value in `dtype`; of 16 and 8 bits, with five digits.
fn shortest(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::Float => (value as f32).to_string().parse().unwrap_or(value),
        // Five digits distinguish any two numbers of 16 or 8 bits.
        dtype if dtype.itemsize() <= 2 => rounded(value, BRIEF),
        _ => value,
    }
}

/// Formats a number by the shortest decimal that reads as its value in `dtype`. An integer of few digits is written out.
pub(crate) fn in_short(value: Scalar, dtype: DType) -> String {
    match value {
        Scalar::Float(f) if dtype.itemsize() <= 2 && !(f.fract() == 0.0 && f.abs() < 1e5) => {
            let reads_back = |digits: &usize| stored(rounded(f, *digits), dtype) == Some(f);
            float_repr(rounded(f, (1..BRIEF).find(reads_back).unwrap_or(BRIEF)))
        }
        value => exact(value, dtype),
    }
}

/// Returns the value that a number has in `dtype`.
fn stored(value: f64, dtype: DType) -> Option<f64> {
    View::scalar(Scalar::Float(value), dtype).and_then(|view| view.item()).ok().map(Scalar::to_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_short() {
        let third = f64::from(1.0f32 / 3.0);
        for (value, dtype, wanted_brief, wanted_exact) in [
            (Scalar::Float(third), DType::Float, "0.33333", "0.33333334"),
            (Scalar::Float(1.0), DType::Float, "1.0", "1.0"),
            (Scalar::Float(f64::NAN), DType::Float, "nan", "nan"),
            (Scalar::Float(f64::NEG_INFINITY), DType::Half, "-inf", "-inf"),
            (Scalar::Float(0.0999755859375), DType::Half, "0.099976", "0.099976"),
            (Scalar::Float(65504.0), DType::Half, "65504.0", "65504.0"),
            (Scalar::Float(0.333251953125), DType::Half, "0.33325", "0.33325"),
            (Scalar::Complex(Complex::new(1.0, -2.0)), DType::ComplexFloat, "(1-2j)", "(1-2j)"),
            (Scalar::Int(-3), DType::Long, "-3", "-3"),
            (Scalar::Bool(true), DType::Bool, "True", "True"),
        ] {
            assert_eq!((brief(value), exact(value, dtype)), (wanted_brief.to_owned(), wanted_exact.to_owned()));
        }
    }

    #[test]
    fn the_shortest_decimal_reads_back() {
        for (value, dtype, wanted) in [
            (0.0999755859375, DType::Half, "0.1"),
            (0.333251953125, DType::Half, "0.3333"),
            (65504.0, DType::Half, "65504.0"),
            (-0.09375, DType::Float8_e5m2, "-0.09"),
            (f64::from(0.1f32), DType::Float, "0.1"),
            (0.1, DType::Double, "0.1"),
            (f64::INFINITY, DType::BFloat16, "inf"),
        ] {
            assert_eq!(in_short(Scalar::Float(value), dtype), wanted);
        }
    }
}
