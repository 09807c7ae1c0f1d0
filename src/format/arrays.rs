//! Arrays as numpy prints them: columns of numbers that take as much room as the longest of them needs.

use super::number::write_float;
use crate::tensor::{DType, Layout, Result, Scalar, View};

/// How it is asked for: by `repr`, with the name and commas, or by `print`; or by `repr` for a number of its own, which
/// is no array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Repr,
    Number,
    Str,
}

/// Arrays of more elements are summarised.
const THRESHOLD: i64 = 1000;
/// Elements at each end of a summarised dimension.
const EDGE: i64 = 3;
const LINE: usize = 75;
/// Most digits behind the point.
const PRECISION: usize = 8;

/// The text of an array.
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
            // On a line of its own where it does not fit.
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

/// The places shown of a dimension.
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

/// One number by itself.
fn element(scalar: Scalar, dtype: DType) -> String {
    match scalar {
        Scalar::Float(value) if dtype == DType::Float => format!("{:?}", value as f32),
        Scalar::Float(value) => {
            let mut text = String::new();
            write_float(&mut text, value);
            text
        }
        _ => aligned(&[scalar], dtype).into_iter().next().unwrap_or_default(),
    }
}

/// The numbers as text of one length.
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
                    Scalar::Bool(true) => "True".to_owned(),
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

/// The digits before and behind the point of the shortest text for a number, at most as many as are printed.
fn digits(value: f64, dtype: DType) -> (String, String) {
    let shortest = match dtype {
        DType::Double => format!("{value}"),
        DType::Half => format!("{}", half::f16::from_f64(value)),
        _ => format!("{}", value as f32),
    };
    let text = match shortest.split_once('.') {
        Some((_, behind)) if behind.len() > PRECISION => format!("{value:.PRECISION$}"),
        _ => shortest,
    };
    match text.split_once('.') {
        Some((whole, behind)) => (whole.to_owned(), behind.trim_end_matches('0').to_owned()),
        None => (text, String::new()),
    }
}

fn floats(values: &[f64], dtype: DType, signed: bool) -> Vec<String> {
    let finite = values.iter().map(|value| value.abs()).filter(|value| value.is_finite() && *value != 0.0);
    let (least, most) = finite.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), v| (least.min(v), most.max(v)));
    let scientific = most > 0.0 && (most >= 1e8 || least < 1e-4 || most / least > 1000.0);
    // Digits, and an exponent where there is one.
    let parts: Vec<(String, String, String)> = values
        .iter()
        .map(|&value| match (value.is_finite(), scientific) {
            (false, _) if value.is_nan() => ("nan".to_owned(), String::new(), String::new()),
            (false, _) => (if value > 0.0 { "inf" } else { "-inf" }.to_owned(), String::new(), String::new()),
            (true, false) => {
                let (whole, behind) = digits(value, dtype);
                (whole, behind, String::new())
            }
            (true, true) => {
                let text = if dtype == DType::Double { format!("{value:e}") } else { format!("{:e}", value as f32) };
                let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let (whole, behind) = digits(mantissa.parse().unwrap_or(0.0), DType::Double);
                let exponent: i32 = exponent.parse().unwrap_or(0);
                (whole, behind, format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()))
            }
        })
        .collect();
    let is_number = |whole: &str| !whole.ends_with(['n', 'f']);
    let behind = parts.iter().map(|(_, behind, _)| behind.len()).max().unwrap_or(0);
    let texts: Vec<String> = parts
        .into_iter()
        .map(|(whole, own, exponent)| {
            let sign = if signed && !whole.starts_with('-') { "+" } else { "" };
            match (is_number(&whole), exponent.is_empty()) {
                (false, _) => format!("{sign}{whole}"),
                (true, true) => format!("{sign}{whole}.{own:<behind$}"),
                (true, false) => format!("{sign}{whole}.{own:0<behind$}{exponent}"),
            }
        })
        .collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

/// Writes the brackets around texts.
struct Writer<'s> {
    texts: std::vec::IntoIter<String>,
    separator: &'s str,
    shown: Option<i64>,
    out: String,
    /// The room before the first bracket.
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
                    self.word("...", depth + 1)
                } else {
                    self.out.push_str("...")
                }
                self.between(rest.len(), depth);
            }
            if rest.is_empty() {
                let text = self.texts.next().unwrap_or_default();
                self.word(&text, depth + 1);
            } else {
                self.array(rest, depth + 1);
            }
            previous = Some(i);
        }
        self.out.push(']');
    }

    /// Writes what stands between two items: a separator, or as many line breaks as there are dimensions within.
    fn between(&mut self, inner: usize, depth: usize) {
        self.out.push_str(self.separator.trim_end());
        if inner == 0 {
            self.out.push(' ');
        } else {
            self.out.push_str(&"\n".repeat(inner));
            self.out.push_str(&" ".repeat(self.indent + depth + 1));
        }
    }

    /// A number within a number of brackets, on a new line where it does not fit.
    fn word(&mut self, text: &str, brackets: usize) {
        let line = self.out.rsplit('\n').next().unwrap_or_default();
        if !line.ends_with('[') && line.len() + text.len() + self.separator.trim_end().len().max(1) > LINE {
            self.out.truncate(self.out.trim_end().len());
            self.out.push('\n');
            self.out.push_str(&" ".repeat(self.indent + brackets));
        }
        self.out.push_str(text);
    }
}
