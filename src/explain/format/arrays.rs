//! Formats arrays like numpy: columns of numbers as wide as the longest.

use super::number::write_float;
use tensor::{DType, Layout, Result, Scalar, View};

/// The context of the output: `repr` with name and commas, `repr` of a single number that is not an array, or `print`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Repr,
    Number,
    Str,
}

/// Arrays with more elements than this are summarised.
const THRESHOLD: i64 = 1000;
/// Number of elements at each end of a summarised dimension.
const EDGE: i64 = 3;
const LINE: usize = 75;
/// The maximum number of digits after the point.
const PRECISION: usize = 8;

/// Formats an array.
pub fn write(view: &View, style: Style) -> Result<String> {
    let name = view.dtype.name();
    if view.ndim() == 0 {
        let text = element(view.item()?, view.dtype);
        let usual = matches!(view.dtype, DType::Long | DType::Double | DType::Bool | DType::ComplexDouble);
        return Ok(match style {
            Style::Number if view.dtype == DType::Bool => format!("np.{text}"),
            Style::Number => format!("np.{name}({text})"),
            Style::Repr if usual => format!("array({text})"),
            Style::Repr => format!("array({text}, dtype={name})"),
            Style::Str => text,
        });
    }
    let usual = matches!(view.dtype, DType::Long | DType::Double | DType::Bool | DType::ComplexDouble);
    if view.numel() == 0 {
        if style == Style::Str {
            return Ok("[]".to_owned());
        }
        let shape = if view.ndim() > 1 { format!("{}, ", shape_text(view.sizes())) } else { String::new() };
        return Ok(format!("array([], {shape}dtype={name})"));
    }
    let (before, separator) = if style == Style::Str { ("", " ") } else { ("array(", ", ") };
    let shown = if view.numel() > THRESHOLD { Some(EDGE) } else { None };
    let mut items = Vec::new();
    collect(view, &view.layout, shown, &mut items)?;
    let texts = aligned(&items, view.dtype);
    let mut writer =
        Writer { texts: texts.into_iter(), separator, shown, out: before.to_owned(), indent: before.len() };
    writer.array(view.sizes(), 0);
    let mut out = writer.out;
    if style != Style::Str {
        let mut notes = Vec::new();
        if shown.is_some() {
            notes.push(shape_text(view.sizes()));
        }
        if !usual {
            notes.push(format!("dtype={name}"));
        }
        if !notes.is_empty() {
            let suffix = notes.join(", ");
            // On a new line if it does not fit.
            let last = out.rsplit('\n').next().map_or(0, str::len);
            out.push(',');
            out.push_str(if last + suffix.len() + 3 > LINE { "\n      " } else { " " });
            out.push_str(&suffix);
        }
        out.push(')');
    }
    Ok(out)
}

fn shape_text(sizes: &[i64]) -> String {
    match sizes {
        [one] => format!("shape=({one},)"),
        sizes => format!("shape=({})", sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Returns the indices shown of a dimension.
fn places(size: i64, shown: Option<i64>) -> impl Iterator<Item = i64> {
    let (first, last) = match shown.filter(|edge| size > 2 * edge) {
        Some(edge) => (edge, size - edge),
        None => (size, size),
    };
    (0..first).chain(last..size)
}

fn collect(view: &View, layout: &Layout, shown: Option<i64>, items: &mut Vec<Scalar>) -> Result<()> {
    match layout.sizes.first() {
        None => items.push(view.with_layout(layout.clone()).item()?),
        Some(&size) => {
            for i in places(size, shown) {
                collect(view, &layout.select(0, i), shown, items)?;
            }
        }
    }
    Ok(())
}

/// Formats a single number.
fn element(scalar: Scalar, dtype: DType) -> String {
    match scalar {
        Scalar::Float(value) if dtype == DType::Float => format!("{:?}", value as f32),
        Scalar::Float(value) => {
            let mut text = String::new();
            write_float(&mut text, shortest(value, dtype, true).parse().unwrap_or(value));
            text
        }
        _ => aligned(&[scalar], dtype).concat().trim_start().to_owned(),
    }
}

/// Formats numbers with equal length.
fn aligned(items: &[Scalar], dtype: DType) -> Vec<String> {
    match items.first() {
        Some(Scalar::Float(_)) => {
            let values: Vec<f64> = items.iter().map(|item| item.to_f64()).collect();
            floats(&values, dtype, false)
        }
        Some(Scalar::Complex(_)) => {
            let parts = |part: fn(Scalar) -> f64| items.iter().map(|&item| part(item)).collect::<Vec<f64>>();
            let (re, im) = (parts(|item| item.to_complex().re), parts(|item| item.to_complex().im));
            let real = dtype.to_real();
            let pairs = floats(&re, real, false).into_iter().zip(floats(&im, real, true));
            pairs
                .map(|(re, im)| format!("{re}{}j{}", im.trim_end(), " ".repeat(im.len() - im.trim_end().len())))
                .collect()
        }
        _ => {
            let texts: Vec<String> = items
                .iter()
                .map(|item| match item {
                    Scalar::Bool(true) => " True".to_owned(),
                    Scalar::Bool(false) => "False".to_owned(),
                    Scalar::UInt(value) => value.to_string(),
                    other => other.to_i64().to_string(),
                })
                .collect();
            let width = texts.iter().map(String::len).max().unwrap_or(0);
            texts.into_iter().map(|text| format!("{text:>width$}")).collect()
        }
    }
}

/// Returns the shortest text that identifies a number in its dtype, with or without an exponent.
fn shortest(value: f64, dtype: DType, scientific: bool) -> String {
    let value = match dtype {
        DType::Half => {
            let texts = (0..5).map(|digits| format!("{value:.digits$e}"));
            let mut values = texts.filter_map(|text| text.parse::<f64>().ok());
            values.find(|&short| half::f16::from_f64(short) == half::f16::from_f64(value)).unwrap_or(value)
        }
        _ => value,
    };
    match (dtype, scientific) {
        (DType::Float, false) => format!("{}", value as f32),
        (DType::Float, true) => format!("{:e}", value as f32),
        (_, false) => format!("{value}"),
        (_, true) => format!("{value:e}"),
    }
}

/// Returns the digits before and after the point of the shortest text for a number, up to the printed precision.
fn digits(value: f64, dtype: DType) -> (String, String) {
    let text = match shortest(value, dtype, false) {
        long if long.split_once('.').is_some_and(|(_, behind)| behind.len() > PRECISION) => {
            format!("{value:.PRECISION$}")
        }
        short => short,
    };
    match text.split_once('.') {
        Some((whole, behind)) => (whole.to_owned(), behind.trim_end_matches('0').to_owned()),
        None => (text, String::new()),
    }
}

/// Returns the number of digits after the point of a number in scientific notation.
fn mantissa_digits(value: f64, dtype: DType) -> usize {
    let mantissa = |text: &str| match text.split_once('e').unwrap_or((text, "")).0.split_once('.') {
        Some((_, behind)) => behind.trim_end_matches('0').len(),
        None => 0,
    };
    match mantissa(&shortest(value, dtype, true)) {
        few if few <= PRECISION => few,
        _ => mantissa(&format!("{value:.PRECISION$e}")),
    }
}

/// Formats a number with an exponent of at least two digits.
fn scientific(value: f64, behind: usize) -> String {
    let text = format!("{value:.behind$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if behind == 0 { "." } else { "" };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}{point}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn floats(values: &[f64], dtype: DType, signed: bool) -> Vec<String> {
    let finite = values.iter().filter(|value| value.is_finite());
    let sizes = finite.clone().map(|value| value.abs()).filter(|size| *size != 0.0);
    let (least, most) = sizes.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), v| (least.min(v), most.max(v)));
    // Above this magnitude, the dtype can no longer represent every integer digit, and numbers get an exponent.
    let largest = match dtype {
        DType::Half => 1e3,
        DType::Float => 1e6,
        _ => 1e8,
    };
    let with_exponent = most > 0.0 && (most >= largest || least < 1e-4 || most / least > 1000.0);
    let behind = match with_exponent {
        true => finite.map(|&value| mantissa_digits(value, dtype)).max(),
        false => finite.map(|&value| digits(value, dtype).1.len()).max(),
    };
    let behind = behind.unwrap_or(0);
    let text = |&value: &f64| {
        let text = match value {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
            // All numbers get the same number of digits. A number with a shorter text is padded.
            _ if with_exponent => scientific(value, behind),
            _ => {
                let (whole, own) = digits(value, dtype);
                format!("{whole}.{own:<behind$}")
            }
        };
        if signed && !text.starts_with('-') { format!("+{text}") } else { text }
    };
    let texts: Vec<String> = values.iter().map(text).collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

/// Writes brackets around the formatted numbers.
struct Writer<'s> {
    texts: std::vec::IntoIter<String>,
    separator: &'s str,
    shown: Option<i64>,
    out: String,
    /// The indentation before the first bracket.
    indent: usize,
}

impl Writer<'_> {
    fn array(&mut self, sizes: &[i64], depth: usize) {
        let Some((&size, rest)) = sizes.split_first() else { return };
        self.out.push('[');
        let gap = self.shown.is_some_and(|edge| size > 2 * edge);
        let mut previous: Option<i64> = None;
        for i in places(size, self.shown) {
            let skipped = gap && previous.is_some_and(|before| before + 1 != i);
            if previous.is_some() {
                self.between(rest.len(), depth);
            }
            if skipped {
                if rest.is_empty() {
                    self.number("...", depth + 1)
                } else {
                    self.out.push_str("...")
                }
                self.between(rest.len(), depth);
            }
            if rest.is_empty() {
                let text = self.texts.next().unwrap_or_default();
                self.number(&text, depth + 1);
            } else {
                self.array(rest, depth + 1);
            }
            previous = Some(i);
        }
        self.out.push(']');
    }

    /// Writes the separator between two items, with a line break for each inner dimension.
    fn between(&mut self, inner: usize, depth: usize) {
        self.out.push_str(self.separator.trim_end());
        if inner == 0 {
            self.out.push(' ');
        } else {
            self.out.push_str(&"\n".repeat(inner));
            self.out.push_str(&" ".repeat(self.indent + depth + 1));
        }
    }

    /// Writes a number inside `brackets` brackets, on a new line if it does not fit.
    fn number(&mut self, text: &str, brackets: usize) {
        let line = self.out.rsplit('\n').next().unwrap_or_default();
        // Account for the closing brackets, including that of `array(`.
        let closing = brackets.max(1) + usize::from(self.indent > 0);
        if !line.ends_with('[') && line.len() + text.len() + closing > LINE {
            self.out.truncate(self.out.trim_end().len());
            self.out.push('\n');
            self.out.push_str(&" ".repeat(self.indent + brackets));
        }
        self.out.push_str(text);
    }
}
