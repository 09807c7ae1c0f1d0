//! Formats tensors like PyTorch: the numbers in columns, then everything they do not imply (dtype, size, gradient).
//! Only the elements shown are read.
//!
//! Works in two passes: the first finds the width of the columns, the second writes. The texts of elements are not
//! stored.

use super::number::{write_fixed, write_scientific};
use super::repr::{write_scalar, write_sizes};
use super::storage::reserve;
use super::{Formatter, PrintOptions, form};
use std::ops::Range;
use tensor::bail;
use tensor::layout::checked_numel;
use tensor::names::show_name;
use tensor::{DType, Dims, GradFn, Layout, Memory, Result, Scalar, Tensor, View, interrupt};

pub(super) const PREFIX: &str = "tensor(";

/// With more dimensions than this, PyTorch too overflows Python's stack.
const MAX_DIMENSIONS: usize = 400;

/// The maximum precision. No number has more digits, and a column of them would fill the memory.
const MAX_PRECISION: i64 = 100_000;

/// Appends a tensor.
pub(super) fn write(out: &mut String, formatter: Formatter<'_>, tensor: &Tensor) -> Result<()> {
    if tensor.is_parameter() {
        out.push_str("Parameter containing:\n");
    }
    let start = out.len();
    let view = tensor.view();
    out.push_str(if view.device().is_fake() { "FakeTensor(" } else { PREFIX });
    let mut suffixes = Vec::new();
    if let Some(form) = view.form.as_deref() {
        suffixes = form::write(out, formatter, &view, form)?;
        if view.is_sparse() {
            suffixes.push(format!("layout=torch.{}", view.tensor_layout().name()));
        }
    } else {
        if view.device().is_meta() {
            out.push_str("...");
        } else {
            write_body(out, formatter.options, &view, PREFIX.len())?;
        }
        strided_suffixes(&mut suffixes, formatter, &view);
    }
    if let Some(name) = grad_fn_name(tensor) {
        suffixes.push(format!("grad_fn=<{name}>"));
    } else if tensor.requires_grad() {
        suffixes.push(String::from("requires_grad=True"));
    }
    if let Some(names) = tensor.names() {
        let names: Vec<String> = names.iter().map(show_name).collect();
        let comma = if names.len() == 1 { "," } else { "" };
        suffixes.push(format!("names=({}{comma})", names.join(", ")));
    }
    write_suffixes(out, start, formatter.options.linewidth, view.coo().is_some(), &suffixes);
    out.push(')');
    Ok(())
}

/// Collects the suffixes after the numbers of a dense tensor, in PyTorch's order.
fn strided_suffixes(suffixes: &mut Vec<String>, formatter: Formatter<'_>, view: &View) {
    let meta = view.device().is_meta();
    let empty = view.sizes().contains(&0);
    if meta && view.device().name() != "cpu" {
        suffixes.push(format!("device='{}'", view.device()));
    }
    let size_unclear = if meta {
        true
    } else if empty {
        view.ndim() != 1
    } else {
        formatter.options.edgeitems == 0
    };
    if size_unclear {
        let mut size = String::from("size=");
        write_sizes(&mut size, view.sizes());
        suffixes.push(size);
    }
    // Without any numbers, only the default dtype is implied.
    let dtype_clear = view.dtype == formatter.default_dtype || !meta && !empty && formatter.dtype_is_clear(view.dtype);
    if !dtype_clear {
        suffixes.push(format!("dtype=torch.{}", view.dtype.name()));
    }
}

/// Returns the name of the operation that created a tensor. The history of a view may have to be updated first.
fn grad_fn_name(tensor: &Tensor) -> Option<String> {
    if tensor.is_outdated() {
        return match autograd::grad_fn(tensor) {
            Ok(found) => found.map(|(node, _)| node.name()),
            Err(_) => Some("Invalid".to_owned()),
        };
    }
    tensor.has_autograd().then(|| tensor.autograd(|meta| meta.grad_fn.as_ref().map(|(node, _)| node.name()))).flatten()
}

/// Appends the suffixes to the text that began at `start`, each on a new line if it does not fit. If `on_new_line`, the
/// first is on a new line in any case.
fn write_suffixes(out: &mut String, start: usize, linewidth: i64, mut on_new_line: bool, suffixes: &[String]) {
    let text = &out[start..];
    let mut column = (text.len() - text.rfind('\n').map_or(0, |newline| newline + 1)) as i64 + 2;
    for suffix in suffixes {
        let length = suffix.len() as i64;
        if std::mem::take(&mut on_new_line) || column + length + 2 > linewidth {
            out.push_str(",\n");
            indent(out, PREFIX.len());
            column = PREFIX.len() as i64 + length;
        } else {
            out.push_str(", ");
            column += length + 2;
        }
        out.push_str(suffix);
    }
}

pub(super) fn indent(out: &mut String, columns: usize) {
    out.extend(std::iter::repeat_n(' ', columns));
}

/// Appends the numbers of a tensor with data, starting at a column of the line.
pub(super) fn write_body(out: &mut String, options: &PrintOptions, view: &View, column: usize) -> Result<()> {
    if view.sizes().contains(&0) {
        out.push_str("[]");
        return Ok(());
    }
    if view.ndim() > MAX_DIMENSIONS {
        bail!(RecursionError, "maximum recursion depth exceeded while printing a tensor of {} dimensions", view.ndim());
    }
    let numel = checked_numel(view.sizes())?;
    let shown =
        ShownIndices { edges: (numel > options.threshold).then_some(usize::try_from(options.edgeitems).unwrap_or(0)) };
    check_bounds(view, shown)?;
    // An expanded tensor may have any number of elements. Reserve the minimum they take before reading them.
    let room = |pitch: usize| if shown.edges.is_none() { pitch.saturating_mul(numel as usize) } else { 0 };
    reserve(out, room("0, ".len()))?;
    let memory = view.storage.memory();
    memory.check()?;
    let cells = ElementFormat::measure(view, &memory, shown, options)?;
    reserve(out, room(cells.pitch()))?;
    let body = Body { view, memory: &memory, shown, cells, linewidth: options.linewidth };
    body.write(out, &mut String::new(), 0, view.layout.offset, column);
    Ok(())
}

/// The indices shown of a dimension.
#[derive(Clone, Copy)]
struct ShownIndices {
    /// The number of indices shown at each end, if the tensor is summarised.
    edges: Option<usize>,
}

impl ShownIndices {
    /// Returns the first and the last indices shown. If there are last ones, an ellipsis comes between them.
    fn indices(self, size: i64) -> (Range<i64>, Option<Range<i64>>) {
        match self.edges.and_then(|edges| i64::try_from(edges).ok()) {
            // Uses subtraction: doubling a huge `edges` would overflow.
            Some(edges) if size > edges && size - edges > edges => (0..edges, Some(size - edges..size)),
            _ => (0..size, None),
        }
    }

    /// Returns all indices shown.
    fn all(self, size: i64) -> impl Iterator<Item = i64> {
        let (head, tail) = self.indices(size);
        head.chain(tail.unwrap_or(0..0))
    }
}

/// Checks that the elements shown are inside the storage, which may have shrunk since the tensor was created.
///
/// The message names the piece that PyTorch would have sliced out: a part of a complex tensor; when summarising, the
/// first row or edge that does not fit; else the first element.
fn check_bounds(view: &View, shown: ShownIndices) -> Result<()> {
    if view.check_bounds().is_ok() {
        return Ok(());
    }
    let within = |layout: Layout| view.with_layout(layout).check_bounds();
    if view.dtype.is_complex() {
        view.complex_part(false).check_bounds()?;
        view.complex_part(true).check_bounds()?;
    }
    match (shown.edges, view.sizes()) {
        (Some(0), [_, ..]) => Ok(()),
        (Some(_), &[size]) if let (head, Some(tail)) = shown.indices(size) => {
            within(view.layout.slice(0, Some(head.start), Some(head.end), 1))?;
            within(view.layout.slice(0, Some(tail.start), Some(tail.end), 1))
        }
        (Some(_), &[size, _, ..]) => shown.all(size).try_for_each(|index| within(view.layout.select(0, index))),
        _ => view
            .layout
            .offsets()
            .try_for_each(|offset| within(Layout { sizes: Dims::new(), strides: Dims::new(), offset })),
    }
}

/// The format of the elements: one column, or two for complex numbers.
struct ElementFormat {
    real: Column,
    imaginary: Option<Column>,
}

impl ElementFormat {
    /// Measures every element shown.
    fn measure(view: &View, memory: &Memory, shown: ShownIndices, options: &PrintOptions) -> Result<ElementFormat> {
        let (mut real, mut imaginary) = (Extremes::default(), Extremes::default());
        visit(view, shown, 0, view.layout.offset, &mut |offset| match view.read(memory, offset) {
            Scalar::Complex(c) => {
                real.see_float(c.re);
                imaginary.see_float(c.im);
            }
            // In this format the smallest number stands for zero, and PyTorch's `isfinite` accepts NaN.
            Scalar::Float(f) if view.dtype == DType::Float8_e8m0fnu => {
                if f.is_nan() {
                    real.has_nan = true;
                } else if f > f64::from(f32::MIN_POSITIVE / 2.0) {
                    real.see_float(f);
                }
            }
            Scalar::Float(f) => real.see_float(f),
            other => real.see_exact(other),
        });
        let column = |extremes: Extremes| match view.dtype.is_floating_point() || view.dtype.is_complex() {
            true => Column::for_floats(extremes, options),
            false => Ok(Column::for_exact(extremes)),
        };
        let imaginary = if view.dtype.is_complex() { Some(column(imaginary)?) } else { None };
        Ok(ElementFormat { real: column(real)?, imaginary })
    }

    /// Returns the width of an element including the comma and space after it.
    fn pitch(&self) -> usize {
        // For a complex number, PyTorch counts the `j` but not the sign between the parts.
        self.real.width + 2 + self.imaginary.as_ref().map_or(0, |imaginary| imaginary.width + 1)
    }

    fn write(&self, out: &mut String, scratch: &mut String, value: Scalar) {
        let Some(imaginary) = &self.imaginary else { return self.real.write(out, scratch, value, true) };
        let value = value.to_complex();
        self.real.write(out, scratch, Scalar::Float(value.re), true);
        let sign = out.len();
        imaginary.write(out, scratch, Scalar::Float(value.im), false);
        if !out[sign..].starts_with('-') {
            out.insert(sign, '+');
        }
        out.push('j');
    }
}

/// Calls `body` with the storage offset of every element shown, in row-major order. Stops after Ctrl-C.
fn visit(view: &View, shown: ShownIndices, dim: usize, offset: i64, body: &mut impl FnMut(i64)) {
    let (Some(&size), Some(&stride)) = (view.sizes().get(dim), view.strides().get(dim)) else { return body(offset) };
    if shown.edges == Some(0) {
        return;
    }
    let last = dim + 1 == view.ndim();
    for index in shown.all(size) {
        if asked_to_stop(index) {
            return;
        }
        let offset = offset + index * stride;
        if last { body(offset) } else { visit(view, shown, dim + 1, offset, body) }
    }
}

/// Returns whether Ctrl-C was pressed. Checked at every row, and at intervals in a long one.
fn asked_to_stop(index: i64) -> bool {
    index % interrupt::STRIDE as i64 == 0 && interrupt::requested()
}

/// The values that can determine the width of a column.
#[derive(Default)]
struct Extremes {
    /// The smallest and largest magnitude of the positive and of the negative values, without zeros and non-finite
    /// values.
    positive: Option<(f64, f64)>,
    negative: Option<(f64, f64)>,
    /// Whether any of those values is not an integer.
    fraction: bool,
    /// Whether a NaN counts as finite, which leaves no choice but the fixed format.
    has_nan: bool,
    /// The smallest and the largest exact value.
    exact: Option<(i128, i128)>,
    /// Whether there is a `False`, which is one character longer than `True`. `None` unless the dtype is bool.
    bools: Option<bool>,
}

impl Extremes {
    fn see_float(&mut self, value: f64) {
        if value == 0.0 || !value.is_finite() {
            return;
        }
        let magnitude = value.abs();
        let side = if value < 0.0 { &mut self.negative } else { &mut self.positive };
        let (low, high) = side.get_or_insert((magnitude, magnitude));
        *low = low.min(magnitude);
        *high = high.max(magnitude);
        self.fraction |= value != value.ceil();
    }

    fn see_exact(&mut self, value: Scalar) {
        let value = match value {
            Scalar::Bool(b) => {
                self.bools = Some(self.bools == Some(true) || !b);
                return;
            }
            Scalar::UInt(u) => i128::from(u),
            other => i128::from(other.to_i64()),
        };
        let (low, high) = self.exact.get_or_insert((value, value));
        *low = value.min(*low);
        *high = value.max(*high);
    }
}

/// The format of one real component.
struct Column {
    width: usize,
    style: Style,
}

#[derive(Clone, Copy)]
enum Style {
    /// Integers and bools.
    Exact,
    /// Floats with integer values: `3.`
    Whole,
    Fixed {
        precision: usize,
    },
    Scientific {
        precision: usize,
    },
}

impl Column {
    fn for_exact(extremes: Extremes) -> Column {
        let longest = match (extremes.bools, extremes.exact) {
            (Some(any_false), _) => 4 + usize::from(any_false),
            (None, Some((low, high))) => low.to_string().len().max(high.to_string().len()),
            (None, None) => 1,
        };
        Column { width: longest, style: Style::Exact }
    }

    /// Chooses a format like `torch.set_printoptions(sci_mode=None)`: scientific if the magnitudes are too large, too
    /// small or too far apart for a common fixed format. Zeros, NaN and infinities do not count, not even for the
    /// width.
    fn for_floats(extremes: Extremes, options: &PrintOptions) -> Result<Column> {
        let (sides, has_nan) = ([extremes.positive, extremes.negative], extremes.has_nan);
        let fraction = extremes.fraction || has_nan;
        let magnitudes = sides.into_iter().flatten();
        let (low, high) = match magnitudes.reduce(|(a, b), (c, d)| (a.min(c), b.max(d))) {
            Some(extremes) => extremes,
            None if has_nan => (f64::NAN, f64::NAN),
            None => return Ok(Column { width: 1, style: Style::Whole }),
        };
        let precision = || match options.precision {
            p if p < 0 => bail!(ValueError, "Format specifier missing precision"),
            p if p > MAX_PRECISION => bail!(ValueError, "precision too big"),
            p => Ok(p as usize),
        };
        let style = |scientific: bool| {
            Ok(match (scientific, fraction) {
                (true, _) => Style::Scientific { precision: precision()? },
                (false, true) => Style::Fixed { precision: precision()? },
                (false, false) => Style::Whole,
            })
        };
        let natural = !has_nan && (high / low > 1000.0 || high > 1.0e8 || fraction && low < 1.0e-4);
        let natural_style = style(natural)?;
        // Texts grow with the magnitude or with the exponent's distance from zero, so the extremes are the widest.
        let (mut width, mut text) = (if has_nan { "nan".len() } else { 1 }, String::new());
        for (side, sign) in sides.into_iter().zip([1.0, -1.0]) {
            for magnitude in side.into_iter().flat_map(|(low, high)| [low, high]) {
                text.clear();
                natural_style.write(&mut text, Scalar::Float(sign * magnitude));
                width = width.max(text.len());
            }
        }
        // A forced style keeps the width of the natural style.
        Ok(Column { width, style: options.sci_mode.map_or(Ok(natural_style), style)? })
    }

    fn write(&self, out: &mut String, scratch: &mut String, value: Scalar, pad: bool) {
        scratch.clear();
        self.style.write(scratch, value);
        if pad {
            indent(out, self.width.saturating_sub(scratch.len()));
        }
        out.push_str(scratch);
    }
}

impl Style {
    fn write(self, out: &mut String, value: Scalar) {
        match (self, value) {
            (Style::Whole, Scalar::Float(f)) => {
                write_fixed(out, f, 0);
                if f.is_finite() {
                    out.push('.');
                }
            }
            (Style::Fixed { precision }, Scalar::Float(f)) => write_fixed(out, f, precision),
            (Style::Scientific { precision }, Scalar::Float(f)) => write_scientific(out, f, precision),
            (_, other) => write_scalar(out, other),
        }
    }
}

/// The state of the second pass.
struct Body<'a> {
    view: &'a View,
    memory: &'a Memory,
    shown: ShownIndices,
    cells: ElementFormat,
    linewidth: i64,
}

impl Body<'_> {
    /// Appends the elements from dimension `dim` on, starting at a storage offset and at `column` characters from the
    /// left. Stops after Ctrl-C.
    fn write(&self, out: &mut String, scratch: &mut String, dim: usize, offset: i64, column: usize) {
        let (Some(&size), Some(&stride)) = (self.view.sizes().get(dim), self.view.strides().get(dim)) else {
            return self.cells.write(out, scratch, self.view.read(self.memory, offset));
        };
        let inner = self.view.ndim() - dim - 1;
        let (head, tail) = self.shown.indices(size);
        out.push('[');
        if inner == 0 {
            let room = self.linewidth.saturating_sub(column as i64);
            let per_line = room.div_euclid(self.cells.pitch() as i64).max(1);
            let mut count = 0;
            let mut separate = |out: &mut String| {
                if count > 0 && count % per_line == 0 {
                    out.push_str(",\n");
                    indent(out, column + 1);
                } else if count > 0 {
                    out.push_str(", ");
                }
                count += 1;
            };
            let write = |out: &mut String, scratch: &mut String, index: i64| {
                self.cells.write(out, scratch, self.view.read(self.memory, offset + index * stride));
            };
            for index in head {
                if asked_to_stop(index) {
                    return;
                }
                separate(out);
                write(out, scratch, index);
            }
            if let Some(tail) = tail {
                separate(out);
                // Inside a row, the ellipsis has two spaces before it.
                out.push_str(if self.shown.edges == Some(0) { "..." } else { " ..." });
                for index in tail {
                    separate(out);
                    write(out, scratch, index);
                }
            }
        } else {
            let separate = |out: &mut String| {
                out.push(',');
                out.extend(std::iter::repeat_n('\n', inner));
                indent(out, column + 1);
            };
            let write = |out: &mut String, scratch: &mut String, index: i64| {
                self.write(out, scratch, dim + 1, offset + index * stride, column + 1);
            };
            for index in head.clone() {
                if asked_to_stop(index) {
                    return;
                }
                if index > 0 {
                    separate(out);
                }
                write(out, scratch, index);
            }
            if let Some(tail) = tail {
                if !head.is_empty() {
                    separate(out);
                }
                out.push_str("...");
                for index in tail {
                    separate(out);
                    write(out, scratch, index);
                }
            }
        }
        out.push(']');
    }
}
