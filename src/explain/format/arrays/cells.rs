//! The common format of an array's elements: one column, or two for complex numbers.

use super::super::number::push;
use super::digits::{self, Digits, Precision};
use super::{ArrayOptions, FloatMode, Sign};
use num_complex::Complex;
use tensor::{Category, DType, Result, Scalar, bail};

/// NumPy's buffer for the text of a float, without its final zero byte.
const BUFFER: usize = 16_383;

/// How elements are written.
pub(super) enum Cells<'a> {
    /// `pad` aligns `True` with `False`.
    Bool {
        pad: bool,
    },
    Integer {
        sign: Sign,
        width: usize,
    },
    Real(Column<'a>),
    Complex(Column<'a>, Column<'a>),
}

/// A function that is called with values one by one.
pub(super) type Visitor<'v, T> = &'v mut dyn FnMut(T) -> Result<()>;

impl<'a> Cells<'a> {
    /// Measures the elements that `visit` passes to its argument, several times if necessary. `array` is false for a 0-d
    /// array.
    pub(super) fn measure(
        dtype: DType,
        array: bool,
        options: &'a ArrayOptions,
        visit: impl Fn(Visitor<'_, Scalar>) -> Result<()>,
    ) -> Result<Cells<'a>> {
        let column = |sign: Sign, part: fn(Scalar) -> f64| {
            let precision = Precision::of(dtype);
            Column::measure(options, sign, precision, |body| visit(&mut |value| body(part(value))))
        };
        Ok(match dtype.category() {
            Category::Bool => Cells::Bool { pad: array },
            Category::Integral => Cells::integers(options.sign, visit)?,
            Category::Floating => Cells::Real(column(options.sign, |value| value.to_f64())?),
            Category::Complex => {
                let real = column(options.sign, |value| value.to_complex().re)?;
                Cells::Complex(real, column(Sign::Plus, |value| value.to_complex().im)?)
            }
        })
    }

    fn integers(sign: Sign, visit: impl Fn(Visitor<'_, Scalar>) -> Result<()>) -> Result<Cells<'a>> {
        let mut range: Option<(i128, i128)> = None;
        visit(&mut |value| {
            let value = whole(value);
            let (low, high) = range.get_or_insert((value, value));
            (*low, *high) = (value.min(*low), value.max(*high));
            Ok(())
        })?;
        let Some((low, high)) = range else { return Ok(Cells::Integer { sign, width: 0 }) };
        let sign = if sign == Sign::Space && low < 0 { Sign::Minus } else { sign };
        let signed = usize::from(high >= 0 && sign != Sign::Minus);
        Ok(Cells::Integer { sign, width: low.to_string().len().max(high.to_string().len() + signed) })
    }

    /// Appends an element.
    pub(super) fn write(&self, out: &mut String, value: Scalar) -> Result<()> {
        match self {
            Cells::Bool { pad } => out.push_str(match value {
                Scalar::Bool(false) => "False",
                _ if *pad => " True",
                _ => "True",
            }),
            Cells::Integer { sign, width } => {
                let value = whole(value);
                match sign {
                    Sign::Space if value >= 0 => push(out, format_args!(" {value:>0$}", width.saturating_sub(1))),
                    Sign::Plus => push(out, format_args!("{value:>+width$}")),
                    _ => push(out, format_args!("{value:>width$}")),
                }
            }
            Cells::Real(column) => column.write(out, value.to_f64())?,
            Cells::Complex(real, imaginary) => {
                let Complex { re, im } = value.to_complex();
                real.write(out, re)?;
                imaginary.write(out, im)?;
                // The unit comes before the spaces that align the digits.
                let end = out.trim_end().len();
                out.insert(end, 'j');
            }
        }
        Ok(())
    }
}

/// Returns the value of an integer.
fn whole(value: Scalar) -> i128 {
    match value {
        Scalar::UInt(value) => i128::from(value),
        other => i128::from(other.to_i64()),
    }
}

/// The properties of floats that decide their format.
struct Extent {
    /// The smallest and the largest finite magnitude, without zeros.
    least: f64,
    most: f64,
    finite: bool,
    /// Whether a finite number has a minus sign.
    negative: bool,
    nonfinite: bool,
    negative_infinity: bool,
}

impl Default for Extent {
    fn default() -> Extent {
        let (least, most) = (f64::INFINITY, 0.0);
        Extent { least, most, finite: false, negative: false, nonfinite: false, negative_infinity: false }
    }
}

impl Extent {
    fn see(&mut self, value: f64) {
        if !value.is_finite() {
            self.nonfinite = true;
            self.negative_infinity |= value == f64::NEG_INFINITY;
            return;
        }
        self.finite = true;
        self.negative |= value.is_sign_negative();
        if value != 0.0 {
            self.least = self.least.min(value.abs());
            self.most = self.most.max(value.abs());
        }
    }
}

/// The widest parts of the texts of finite floats.
#[derive(Default)]
struct Widths {
    /// Characters before the point, with the sign.
    left: usize,
    /// Digits after the point.
    right: usize,
    /// Digits of the exponent.
    exponent: usize,
}

impl Widths {
    fn see(&mut self, column: &Column<'_>, value: f64) -> Result<()> {
        if !value.is_finite() {
            return Ok(());
        }
        let text = column.text(value)?;
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, ""));
        let left = mantissa.find('.').unwrap_or(mantissa.len());
        self.left = self.left.max(left);
        self.right = self.right.max(mantissa.len().saturating_sub(left + 1));
        self.exponent = self.exponent.max(exponent.len().saturating_sub(1));
        Ok(())
    }
}

/// The format of floats.
pub(super) struct Column<'a> {
    options: &'a ArrayOptions,
    sign: Sign,
    precision: Precision,
    digits: Digits,
    scientific: bool,
    /// The minimum number of characters before the point.
    left: usize,
    /// The number of characters after the point, without those of an exponent.
    right: usize,
    /// The minimum number of digits of the exponent.
    exponent: usize,
    /// Whether a space stands before all numbers.
    space: bool,
    /// The width of the longest of `nanstr` and `infstr` if one may be written.
    special: Option<usize>,
    /// Whether a finite number was measured.
    finite: bool,
}

impl<'a> Column<'a> {
    /// Measures the floats that `visit` passes to its argument.
    fn measure(
        options: &'a ArrayOptions,
        sign: Sign,
        precision: Precision,
        visit: impl Fn(Visitor<'_, f64>) -> Result<()>,
    ) -> Result<Column<'a>> {
        let mut extent = Extent::default();
        visit(&mut |value| {
            extent.see(value);
            Ok(())
        })?;
        let mut column = Column::new(options, sign, precision, &extent)?;
        let mut widest = Widths::default();
        visit(&mut |value| widest.see(&column, value))?;
        column.fit(&widest);
        Ok(column)
    }

    /// Chooses the notation of floats. Their widths must follow: see [`Column::fit`].
    fn new(options: &'a ArrayOptions, sign: Sign, precision: Precision, extent: &Extent) -> Result<Column<'a>> {
        let digits = match options.floatmode {
            FloatMode::Unique => Digits::Shortest(None),
            _ => match usize::try_from(options.precision) {
                Err(_) => bail!(ValueError, "precision must be >= 0"),
                Ok(_) if extent.finite && i32::try_from(options.precision).is_err() => {
                    bail!(OverflowError, "Python int too large to convert to C int")
                }
                Ok(count) if options.floatmode == FloatMode::Fixed => Digits::Exact(count),
                Ok(count) => Digits::Shortest(Some(count)),
            },
        };
        let Extent { least, most, .. } = *extent;
        let scientific = most > 0.0
            && (most >= precision.largest_plain() || !options.suppress && precision.needs_exponent(least, most));
        let space = sign == Sign::Space && !extent.negative;
        let special = extent.nonfinite.then(|| {
            let signed = usize::from(sign != Sign::Minus || extent.negative_infinity);
            super::width(&options.nanstr).max(super::width(&options.infstr) + signed)
        });
        let finite = extent.finite;
        Ok(Column {
            options,
            sign,
            precision,
            digits,
            scientific,
            left: 0,
            right: 0,
            exponent: 0,
            space,
            special,
            finite,
        })
    }

    /// Aligns the column to the widest texts that [`Column::text`] has returned.
    fn fit(&mut self, widest: &Widths) {
        (self.left, self.right, self.exponent) = (widest.left, widest.right, widest.exponent);
        let equal = self.scientific || self.options.floatmode == FloatMode::MaxPrecEqual;
        if equal && let Digits::Shortest(_) = self.digits {
            self.digits = Digits::Filled(widest.right);
        }
        self.left += usize::from(self.space);
        if let Some(width) = self.special {
            self.left = self.left.max(width.saturating_sub(self.right_with_exponent() + 1));
        }
    }

    /// Returns the number of characters after the point.
    fn right_with_exponent(&self) -> usize {
        if self.scientific { self.right + self.exponent + 2 } else { self.right }
    }

    /// Formats a finite number without alignment.
    fn text(&self, value: f64) -> Result<String> {
        let digits = match self.digits {
            // NumPy cuts what exceeds its buffer.
            Digits::Exact(count) if self.scientific => {
                let sign = usize::from(value.is_sign_negative() || self.sign == Sign::Plus);
                Digits::Exact(count.min(BUFFER.saturating_sub(self.left.max(sign + 1) + 1)))
            }
            Digits::Exact(count) => Digits::Exact(count.min(BUFFER)),
            other => other,
        };
        let mut text = digits::text(value, self.precision, digits, self.scientific);
        if self.sign == Sign::Plus && !value.is_sign_negative() {
            text.insert(0, '+');
        }
        if text.len() > BUFFER && !self.scientific {
            bail!(RuntimeError, "Float formatting result too large");
        }
        Ok(text)
    }

    /// Appends a number.
    fn write(&self, out: &mut String, value: f64) -> Result<()> {
        if !value.is_finite() {
            let sign = match self.sign {
                _ if value == f64::NEG_INFINITY => "-",
                Sign::Plus => "+",
                _ => "",
            };
            let word = if value.is_nan() { &self.options.nanstr } else { &self.options.infstr };
            let width = self.left + self.right_with_exponent() + 1;
            indent(out, width.saturating_sub(sign.len() + super::width(word)));
            out.push_str(sign);
            out.push_str(word);
            return Ok(());
        }
        if !self.finite {
            // A negative `edgeitems` may measure other elements than those written. NumPy then fails like this.
            bail!(TypeError, "'NoneType' object cannot be interpreted as an integer");
        }
        let mut text = self.text(value)?;
        let left = text.find('.').unwrap_or(text.len());
        indent(out, self.left.saturating_sub(left));
        if let Some(e) = text.find('e') {
            let zeros = self.exponent.saturating_sub(text.len() - e - "e+".len());
            text.insert_str(e + "e+".len(), &"0".repeat(zeros));
            out.push_str(&text);
        } else {
            out.push_str(&text);
            indent(out, self.right.saturating_sub(text.len() - left - ".".len()));
        }
        Ok(())
    }
}

/// Appends spaces.
pub(super) fn indent(out: &mut String, columns: usize) {
    out.extend(std::iter::repeat_n(' ', columns));
}
