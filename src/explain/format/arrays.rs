//! Formats arrays and scalars like NumPy: `repr`, `str` and `np.array2string`, with the options of
//! `np.set_printoptions`. Only the elements shown are read.
//!
//! Works in two passes: [`cells`] measures the elements and chooses their common format, [`layout`] writes them between
//! brackets.

mod cells;
mod digits;
mod layout;
#[cfg(test)]
mod tests;

use super::number::{write_complex_by, write_float};
use super::repr::{write_scalar, write_sizes};
use digits::{Digits, Precision};
use tensor::{DType, Result, Scalar, View};

/// The context of the output: `repr` with name and commas, `repr` of a single number that is not an array, or `print`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Repr,
    /// `repr` of an array on a mapped file.
    Memmap,
    Number,
    Str,
}

/// The settings of `np.set_printoptions`; the defaults are NumPy's. See
/// <https://numpy.org/doc/2.4/reference/generated/numpy.set_printoptions.html>.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayOptions {
    /// Digits after the point. Like in NumPy, negative values are rejected only when a float is printed.
    pub precision: i64,
    /// Arrays with more elements than this are summarised; `i64::MAX` stands for `inf`.
    pub threshold: i64,
    /// Elements shown at each end of a summarised dimension.
    pub edgeitems: i64,
    /// Characters per line; `i64::MAX` stands for `inf`.
    pub linewidth: i64,
    /// Never chooses an exponent because of small numbers.
    pub suppress: bool,
    pub nanstr: String,
    pub infstr: String,
    pub sign: Sign,
    pub floatmode: FloatMode,
}

/// What stands before positive numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    /// `-`: nothing.
    #[default]
    Minus,
    /// `+`: a plus sign.
    Plus,
    /// ` `: a space.
    Space,
}

impl Sign {
    /// Returns the sign option with this text. `None` for any other text.
    pub fn from_text(text: &str) -> Option<Sign> {
        [Sign::Minus, Sign::Plus, Sign::Space].into_iter().find(|sign| sign.text() == text)
    }

    pub fn text(self) -> &'static str {
        match self {
            Sign::Minus => "-",
            Sign::Plus => "+",
            Sign::Space => " ",
        }
    }
}

/// The number of digits after the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FloatMode {
    /// Exactly `precision` digits.
    Fixed,
    /// As many as identify each number in its dtype.
    Unique,
    /// As many as identify each number, but at most `precision`.
    #[default]
    MaxPrec,
    /// Like `MaxPrec`, but the same for all numbers.
    MaxPrecEqual,
}

impl FloatMode {
    /// Returns the mode with this name. `None` for any other name.
    pub fn from_name(name: &str) -> Option<FloatMode> {
        let all = [FloatMode::Fixed, FloatMode::Unique, FloatMode::MaxPrec, FloatMode::MaxPrecEqual];
        all.into_iter().find(|mode| mode.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            FloatMode::Fixed => "fixed",
            FloatMode::Unique => "unique",
            FloatMode::MaxPrec => "maxprec",
            FloatMode::MaxPrecEqual => "maxprec_equal",
        }
    }
}

impl Default for ArrayOptions {
    fn default() -> ArrayOptions {
        ArrayOptions {
            precision: 8,
            threshold: 1000,
            edgeitems: 3,
            linewidth: 75,
            suppress: false,
            nanstr: "nan".to_owned(),
            infstr: "inf".to_owned(),
            sign: Sign::default(),
            floatmode: FloatMode::default(),
        }
    }
}

/// Returns whether NumPy omits the dtype in the `repr` of an array in native byte order.
pub fn is_implied(dtype: DType) -> bool {
    matches!(dtype, DType::Long | DType::Double | DType::Bool | DType::ComplexDouble)
}

/// Formats an array, or a scalar for [`Style::Number`].
///
/// `dtype` is the text that NumPy prints after `dtype=` (`float32`, `'>i4'`). It is omitted if `implied`, unless the
/// array is empty.
///
/// # Errors
/// Those of [`text`].
pub fn write(view: &View, dtype: &str, implied: bool, style: Style, options: &ArrayOptions) -> Result<String> {
    match style {
        Style::Number => Ok(scalar_repr(view.item()?, view.dtype)),
        // A 0-d array is printed like a scalar, with all its digits.
        Style::Str if view.ndim() == 0 => Ok(scalar_text(view.item()?, view.dtype)),
        Style::Str => text(view, options, " ", "", ""),
        Style::Repr => repr(view, dtype, implied, options, "array("),
        Style::Memmap => repr(view, dtype, implied, options, "memmap("),
    }
}

/// `np.array2string`: only the brackets and elements. The text leaves space for `prefix` on the left of each line and
/// for `suffix` at the end, but contains neither.
///
/// # Errors
/// ValueError or OverflowError for an invalid precision of floats, RuntimeError for numbers with too many digits,
/// MemoryError, KeyboardInterrupt, and those of [`View::memory`].
pub fn text(view: &View, options: &ArrayOptions, separator: &str, prefix: &str, suffix: &str) -> Result<String> {
    let mut out = String::new();
    layout::write(&mut out, view, options, separator, width(prefix), width(suffix))?;
    Ok(out)
}

fn repr(view: &View, dtype: &str, implied: bool, options: &ArrayOptions, prefix: &str) -> Result<String> {
    let mut out = prefix.to_owned();
    layout::write(&mut out, view, options, ", ", prefix.len(), ")".len())?;
    let mut notes = String::new();
    let empty = view.numel() == 0;
    if empty && view.sizes() != [0] || view.numel() > options.threshold {
        notes.push_str("shape=");
        write_sizes(&mut notes, view.sizes());
    }
    if empty || !implied {
        notes.push_str(if notes.is_empty() { "dtype=" } else { ", dtype=" });
        notes.push_str(dtype);
    }
    if !notes.is_empty() {
        out.push(',');
        // The notes begin a new line if they do not fit behind the numbers.
        let last = out.rfind('\n').and_then(|newline| out.get(newline + 1..)).unwrap_or(&out);
        let fits = columns(width(last) + " ".len() + width(&notes) + ")".len()) <= options.linewidth;
        match fits {
            true => out.push(' '),
            false => {
                out.push('\n');
                out.push_str(&" ".repeat(prefix.len()));
            }
        }
        out.push_str(&notes);
    }
    out.push(')');
    Ok(out)
}

/// `repr` of a scalar: `np.float64(2.5)`, `np.True_`.
fn scalar_repr(value: Scalar, dtype: DType) -> String {
    match value {
        Scalar::Bool(true) => "np.True_".to_owned(),
        Scalar::Bool(false) => "np.False_".to_owned(),
        value => {
            let text = scalar_text(value, dtype);
            // A complex number has its own parentheses.
            let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(&text);
            format!("np.{}({inner})", dtype.name())
        }
    }
}

/// `str` of a scalar: `2.5`, `(1+2j)`, `True`. Not subject to any option.
fn scalar_text(value: Scalar, dtype: DType) -> String {
    let mut out = String::new();
    let precision = Precision::of(dtype);
    match value {
        Scalar::Float(value) => write_scalar_float(&mut out, value, precision),
        Scalar::Complex(value) => {
            write_complex_by(&mut out, value, |out, part| write_scalar_float(out, part, precision));
        }
        value => write_scalar(&mut out, value),
    }
    out
}

/// Appends a float like Python, but with an exponent as soon as its precision cannot represent every integer.
fn write_scalar_float(out: &mut String, value: f64, precision: Precision) {
    let size = value.abs();
    if precision == Precision::Double || !value.is_finite() {
        return write_float(out, value);
    }
    let scientific = size >= precision.largest_plain() || size != 0.0 && size < 1e-4;
    let text = digits::text(value, precision, Digits::Shortest(None), scientific);
    match text.split_once(".e") {
        Some((whole, exponent)) => out.extend([whole, "e", exponent]),
        None => out.push_str(&text),
    }
    if out.ends_with('.') {
        out.push('0');
    }
}

/// Returns the number of characters of a text.
fn width(text: &str) -> usize {
    text.chars().count()
}

fn columns(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
