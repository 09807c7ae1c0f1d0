//! Writes the elements between brackets and breaks the lines.

use super::cells::{Cells, Visitor, indent};
use super::{ArrayOptions, columns, width};
use std::ops::Range;
use tensor::{Memory, Result, Scalar, View, interrupt, limits};

/// Appends the brackets and elements of an array. Lines begin after `prefix` columns, and the last one leaves `suffix`
/// columns empty.
pub(super) fn write(
    out: &mut String,
    view: &View,
    options: &ArrayOptions,
    separator: &str,
    prefix: usize,
    suffix: usize,
) -> Result<()> {
    if view.numel() == 0 {
        out.push_str("[]");
        return Ok(());
    }
    let summary = Summary { edges: (view.numel() > options.threshold).then_some(options.edgeitems) };
    let memory = view.memory()?;
    if summary.edges.is_none() {
        // An expanded array may have any number of elements. Refuse before reading them.
        limits::grown_to::<u8>(limits::count(view.numel()))?;
    }
    let measured = |body: Visitor<'_, Scalar>| visit(view, &memory, summary, 0, view.layout.offset, body);
    let cells = Cells::measure(view.dtype, view.ndim() > 0, options, measured)?;
    let mut writer = Writer {
        out,
        view,
        memory: &memory,
        summary,
        cells,
        separator,
        separator_width: width(separator),
        line: 0,
        line_start: 0,
        word: String::new(),
    };
    let linewidth = options.linewidth.saturating_sub(columns(suffix));
    writer.array(0, view.layout.offset, prefix + 1, linewidth)
}

/// The elements shown of a dimension: those at its ends if the array is summarised, else all.
#[derive(Clone, Copy)]
struct Summary {
    /// The number of elements at each end, if the array is summarised.
    edges: Option<i64>,
}

impl Summary {
    fn edges_of(self, size: i64) -> Option<i64> {
        self.edges.filter(|edges| edges.saturating_mul(2) < size)
    }

    /// Returns the indices written: the first ones, and the last ones if an ellipsis comes between. There is always a
    /// last one, whatever `edgeitems` says.
    fn written(self, size: i64) -> (Range<i64>, Option<Range<i64>>) {
        match self.edges_of(size) {
            Some(edges) => (0..edges.max(0), Some(size - edges.max(1)..size)),
            None => (0..size, None),
        }
    }

    /// Returns the indices that decide the format. NumPy slices them with `[:edges]` and `[-edges:]`, so all count if
    /// `edgeitems` is 0.
    fn measured(self, size: i64) -> impl Iterator<Item = i64> {
        let (head, tail) = match self.edges_of(size) {
            Some(edges) if edges > 0 => (0..edges, size - edges..size),
            Some(edges) => (0..size.saturating_add(edges), edges.saturating_neg()..size),
            None => (0..size, 0..0),
        };
        head.chain(tail)
    }
}

/// Calls `body` with every element that decides the format, from dimension `dim` on.
fn visit(
    view: &View,
    memory: &Memory,
    summary: Summary,
    dim: usize,
    offset: i64,
    body: Visitor<'_, Scalar>,
) -> Result<()> {
    let (Some(&size), Some(&stride)) = (view.sizes().get(dim), view.strides().get(dim)) else {
        return body(view.read(memory, offset));
    };
    for (count, index) in summary.measured(size).enumerate() {
        interrupt::check_at(count)?;
        visit(view, memory, summary, dim + 1, offset + index * stride, body)?;
    }
    Ok(())
}

struct Writer<'a> {
    out: &'a mut String,
    view: &'a View,
    memory: &'a Memory,
    summary: Summary,
    cells: Cells<'a>,
    separator: &'a str,
    separator_width: usize,
    /// The width of the current line of elements, and its first byte in `out`.
    line: usize,
    line_start: usize,
    /// A scratch buffer for one element.
    word: String,
}

impl Writer<'_> {
    /// Appends the elements from dimension `dim` on, which begin at a storage offset. Lines are indented by `column`
    /// spaces, and have room for `width` characters including the closing brackets.
    fn array(&mut self, dim: usize, offset: i64, column: usize, width: i64) -> Result<()> {
        let (Some(&size), Some(&stride)) = (self.view.sizes().get(dim), self.view.strides().get(dim)) else {
            return self.cells.write(self.out, self.view.read(self.memory, offset));
        };
        let (head, tail) = self.summary.written(size);
        self.out.push('[');
        if dim + 1 == self.view.ndim() {
            let trimmed = self::width(self.separator.trim_end());
            let width = width.saturating_sub(columns(trimmed.max("]".len())));
            (self.line, self.line_start) = (column, self.out.len());
            for index in head {
                interrupt::check_at(index as usize)?;
                if index > 0 {
                    self.separate();
                }
                self.element(offset + index * stride, column, width)?;
            }
            if let Some(tail) = tail {
                if self.line_start < self.out.len() {
                    self.separate();
                }
                self.word.clear();
                self.word.push_str("...");
                self.word(column, width)?;
                for index in tail {
                    self.separate();
                    self.element(offset + index * stride, column, width)?;
                }
            }
        } else {
            let inner = self.view.ndim() - dim - 1;
            for index in head.clone() {
                interrupt::check_at(index as usize)?;
                if index > 0 {
                    self.break_line(inner, column);
                }
                self.array(dim + 1, offset + index * stride, column + 1, width.saturating_sub(1))?;
            }
            if let Some(tail) = tail {
                if !head.is_empty() {
                    self.break_line(inner, column);
                }
                self.out.push_str("...");
                for index in tail {
                    self.break_line(inner, column);
                    self.array(dim + 1, offset + index * stride, column + 1, width.saturating_sub(1))?;
                }
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn separate(&mut self) {
        self.out.push_str(self.separator);
        self.line += self.separator_width;
    }

    /// Ends the line between two parts that have `inner` dimensions.
    fn break_line(&mut self, inner: usize, column: usize) {
        self.out.push_str(self.separator.trim_end());
        self.out.extend(std::iter::repeat_n('\n', inner));
        indent(self.out, column);
    }

    fn element(&mut self, offset: i64, column: usize, width: i64) -> Result<()> {
        self.word.clear();
        self.cells.write(&mut self.word, self.view.read(self.memory, offset))?;
        self.word(column, width)
    }

    /// Appends the word, on a new line if it does not fit.
    fn word(&mut self, column: usize, width: i64) -> Result<()> {
        let length = self::width(&self.word);
        if self.line > column && columns(self.line + length) > width {
            let line = self.out.get(self.line_start..).unwrap_or_default().trim_end().len();
            self.out.truncate(self.line_start + line);
            self.out.push('\n');
            (self.line, self.line_start) = (column, self.out.len());
            indent(self.out, column);
        }
        limits::grown_to::<u8>(self.out.len() + self.word.len())?;
        self.out.try_reserve(self.word.len()).map_err(|_| limits::full())?;
        self.out.push_str(&self.word);
        self.line += length;
        Ok(())
    }
}
