//! Formats single numbers like Python: `repr` (the shortest text that reads back), `%.4f` and `%.4e`. Knows neither
//! tensors nor options.

use num_complex::Complex;
use std::fmt::Write;
use tensor::interrupt;

/// The maximum number of digits of an `f64` after its point; further digits are zeros.
const MAX_FRACTION: usize = 1074;

/// Python's `repr` of a float: `0.1`, `1e-05`, `1e+16`, `nan`.
pub(crate) fn float_repr(value: f64) -> String {
    let mut out = String::new();
    write_float(&mut out, value);
    out
}

/// Python's `repr` of a complex number: `(1+2j)`, `2j`, `(-0-1j)`.
pub(crate) fn complex_repr(value: Complex<f64>) -> String {
    let mut out = String::new();
    write_complex(&mut out, value);
    out
}

/// Appends the same text as [`float_repr`].
pub(crate) fn write_float(out: &mut String, value: f64) {
    if write_nonfinite(out, value) {
        return;
    }
    let start = out.len();
    // Rust and Python agree on when to use an exponent, but not on its format.
    push(out, format_args!("{value:?}"));
    settle_tie(out, start, value);
    pad_exponent(out, start);
}

/// Resolves ties: if two shortest texts are equally close to the value, Rust picks the larger and Python the one with
/// an even last digit.
fn settle_tie(out: &mut String, start: usize, value: f64) {
    let end = out[start..].find('e').map_or(out.len(), |e| start + e);
    let digits = out[start..end].trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    // Decimals of up to 15 digits are all different floats, so shorter texts cannot tie.
    if digits < 15 {
        return;
    }
    let even = format!("{value:.*e}", digits - 1);
    let Some((mantissa, _)) = even.split_once('e') else { return };
    if even.parse() == Ok(value)
        && let Some(last) = mantissa.get(mantissa.len() - 1..)
        && !out[start..end].ends_with(".0")
    {
        out.replace_range(end - 1..end, last);
    }
}

/// Appends the same text as [`complex_repr`].
pub(crate) fn write_complex(out: &mut String, value: Complex<f64>) {
    write_complex_by(out, value, write_float);
}

/// Appends a complex number like [`write_complex`]; `write` appends its parts as floats.
pub(super) fn write_complex_by(out: &mut String, value: Complex<f64>, write: impl Fn(&mut String, f64)) {
    // A part is a float without a trailing `.0`.
    let write_part = |out: &mut String, part: f64| {
        write(out, part);
        if out.ends_with(".0") {
            out.truncate(out.len() - 2);
        }
    };
    let bare = value.re == 0.0 && value.re.is_sign_positive();
    if !bare {
        out.push('(');
        write_part(out, value.re);
        if value.im.is_nan() || value.im.is_sign_positive() {
            out.push('+');
        }
    }
    write_part(out, value.im);
    out.push('j');
    if !bare {
        out.push(')');
    }
}

/// Appends `'%.{precision}f' % value`: exact decimal digits, ties to even.
pub(crate) fn write_fixed(out: &mut String, value: f64, precision: usize) {
    if write_nonfinite(out, value) {
        return;
    }
    let digits = precision.min(MAX_FRACTION);
    push(out, format_args!("{value:.digits$}"));
    push_times(out, '0', precision - digits);
}

/// Appends a character `count` times.
pub(crate) fn push_times(out: &mut String, c: char, mut count: usize) {
    let piece = c.to_string().repeat(count.min(1 << 16));
    while count > 0 && !interrupt::requested() {
        let now = count.min(1 << 16);
        out.push_str(piece.get(..now * c.len_utf8()).unwrap_or_default());
        count -= now;
    }
}

/// Appends `'%.{precision}e' % value`: the exponent has a sign and at least two digits.
pub(crate) fn write_scientific(out: &mut String, value: f64, precision: usize) {
    if write_nonfinite(out, value) {
        return;
    }
    let digits = precision.min(MAX_FRACTION);
    let start = out.len();
    push(out, format_args!("{value:.digits$e}"));
    if precision > digits
        && let Some(e) = out[start..].rfind('e')
    {
        let exponent = out.split_off(start + e);
        push_times(out, '0', precision - digits);
        out.push_str(&exponent);
    }
    pad_exponent(out, start);
}

/// Appends `nan`, `inf` or `-inf`. Returns false, and appends nothing, for a finite value. NaN never has a sign.
fn write_nonfinite(out: &mut String, value: f64) -> bool {
    if value.is_finite() {
        return false;
    }
    out.push_str(match value {
        v if v.is_nan() => "nan",
        f64::INFINITY => "inf",
        _ => "-inf",
    });
    true
}

/// Rewrites the exponent of the number that begins at `start` from `e5` to `e+05`.
fn pad_exponent(out: &mut String, start: usize) {
    let Some(e) = out[start..].rfind('e') else { return };
    let exponent = out.split_off(start + e + 1);
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent.as_str()), |digits| ('-', digits));
    push(out, format_args!("{sign}{digits:0>2}"));
}

/// Appends formatted text.
pub(super) fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expectations are CPython's.
    #[test]
    fn floats_read_back_and_are_shortest() {
        for (value, want) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (9999999999999998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (0.1f32 as f64, "0.10000000149011612"),
            (2f64.powi(-44), "5.684341886080802e-14"),
            (2f64.powi(-25), "2.9802322387695312e-08"),
            (150.28543090820312, "150.28543090820312"),
            (-1016.4194946289062, "-1016.4194946289062"),
            (123456789012345.0, "123456789012345.0"),
            (f64::NAN, "nan"),
            (-f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float_repr(value), want);
        }
    }

    /// Expectations are CPython's.
    #[test]
    fn complex_numbers() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for (re, im, want) in [
            (1.0, 2.0, "(1+2j)"),
            (0.0, 2.0, "2j"),
            (0.0, 0.0, "0j"),
            (0.0, -0.0, "-0j"),
            (-0.0, -1.0, "(-0-1j)"),
            (-0.0, 0.0, "(-0+0j)"),
            (1.5, -0.0, "(1.5-0j)"),
            (nan, nan, "(nan+nanj)"),
            (0.0, nan, "nanj"),
            (1.0, -nan, "(1+nanj)"),
            (-inf, inf, "(-inf+infj)"),
            (inf, -inf, "(inf-infj)"),
            (1e16, 1e-5, "(1e+16+1e-05j)"),
            (100.0, 1e15, "(100+1000000000000000j)"),
        ] {
            assert_eq!(complex_repr(Complex::new(re, im)), want);
        }
    }

    /// Expectations are CPython's `'%.*f'` and `'%.*e'`.
    #[test]
    fn digits_are_exact_and_ties_go_to_even() {
        for (value, precision, fixed, scientific) in [
            (0.5, 0, "0", "5e-01"),
            (1.5, 0, "2", "2e+00"),
            (2.5, 0, "2", "2e+00"),
            (-0.4, 0, "-0", "-4e-01"),
            (0.125, 2, "0.12", "1.25e-01"),
            (0.375, 2, "0.38", "3.75e-01"),
            (2.675, 2, "2.67", "2.67e+00"),
            (1.00005f32 as f64, 4, "1.0000", "1.0000e+00"),
            (
                1e100,
                1,
                "10000000000000000159028911097599180468360808563945281389781327557747838772170381060813469985856815104.0",
                "1.0e+100",
            ),
            (9.99999, 3, "10.000", "1.000e+01"),
            (f64::NAN, 3, "nan", "nan"),
            (f64::NEG_INFINITY, 0, "-inf", "-inf"),
        ] {
            let (mut f, mut e) = (String::new(), String::new());
            write_fixed(&mut f, value, precision);
            write_scientific(&mut e, value, precision);
            assert_eq!((f.as_str(), e.as_str()), (fixed, scientific));
        }
    }

    #[test]
    fn absurd_precisions_are_zeros() {
        let mut out = String::new();
        write_fixed(&mut out, 0.5, 70_000);
        assert_eq!((out.len(), &out[..4]), (70_002, "0.50"));
        out.clear();
        write_scientific(&mut out, 5e-324, 70_000);
        assert_eq!((out.len(), out.ends_with("00e-324")), (70_007, true));
    }
}
