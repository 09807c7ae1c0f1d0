//! The order in which reductions and scans compute one element of their result, written to a [`Tape`]. This is the slow
//! twin of `sum`, `fold` and `scan`: one lane at a time, and one number at a time. Its last number is the element.

use super::tiles::{Tile, for_each};
use super::{Extremum, Reduction, Running, SpreadMeasure, resolved};
use crate::layout::wrap_dim;
use crate::ops::copy::cast;
use crate::tape::{LONGEST, Operation, Stage, Tape, Term};
use crate::{DType, Dims, Layout, Memory, Result, Scalar, View, interrupt};
use std::rc::Rc;

/// Writes what [`sum`](super::sum()) computes for the element at `index`. `None` if the order is not known, or if there
/// are more than [`LONGEST`] elements.
///
/// # Errors
/// Those of [`sum`](super::sum()).
pub fn sum(
    view: &View,
    dims: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
    index: &[i64],
) -> Result<Option<Tape>> {
    let dtype = dtype.unwrap_or(view.dtype.sum_result());
    let Some((mut writer, total)) = summed(view, dims, keepdim, dtype, index)? else { return Ok(None) };
    writer.finish(total, dtype, Scalar::Int(0))
}

/// Writes what [`mean`](super::mean) computes for the element at `index`.
///
/// # Errors
/// Those of [`mean`](super::mean).
pub fn mean(
    view: &View,
    dims: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
    index: &[i64],
) -> Result<Option<Tape>> {
    let asked = dtype.unwrap_or(view.dtype);
    let wide = if asked.is_reduced_floating_point() { DType::Float } else { asked };
    if !asked.is_floating_point() {
        return Ok(None);
    }
    let Some((mut writer, total)) = summed(view, dims, keepdim, wide, index)? else { return Ok(None) };
    let count = Reduction::new(view, dims, keepdim)?.factor(view);
    writer.tape.stage = Stage::End;
    let total = total.unwrap_or_else(|| writer.tape.constant(wide, Scalar::Int(0)));
    let count = writer.tape.constant(wide, Scalar::Int(count));
    let mean = writer.tape.step(Operation::Divide, wide, total, count);
    writer.finish(Some(mean), asked, Scalar::Int(0))
}

/// Writes a sum, without the last rounding to the dtype of the result.
fn summed(
    view: &View,
    dims: Option<&[i64]>,
    keepdim: bool,
    dtype: DType,
    index: &[i64],
) -> Result<Option<(Writer, Option<Term>)>> {
    let reduction = Reduction::new(view, dims, keepdim)?;
    let view = resolved(view)?;
    if reduction.factor(&view) > LONGEST || dtype.is_complex() || view.dtype.is_complex() {
        return Ok(None);
    }
    if dtype.is_integral(true) {
        let mut writer = Writer::whole(&view, dtype)?;
        let total = writer.in_reading_order(&reduction, index, Operation::Add)?;
        return Ok(Some((writer, total)));
    }
    let view = if view.dtype == dtype { view } else { cast(&view, dtype)? };
    let lanes = match dtype {
        DType::Half | DType::BFloat16 => Lanes { count: 8, elements: 16 },
        DType::Float => Lanes { count: 8, elements: 8 },
        DType::Double => Lanes { count: 4, elements: 4 },
        _ => return Ok(None),
    };
    let (layout, to) = placed(&reduction, &view, index)?;
    let wide = if dtype == DType::Double { dtype } else { DType::Float };
    let mut writer = Writer::new(&view, wide)?;
    let mut total = None;
    if view.numel() > 0 {
        for_each(&layout, &view.layout, &mut |tile| {
            for part in writer.sums_of_tile(tile.reduced_first(), to, lanes)? {
                writer.tape.stage = Stage::Parts;
                total = writer.add(total, part);
            }
            Ok(())
        })?;
    }
    Ok(Some((writer, total)))
}

/// Returns the layout that a reduction's loops walk, and the offset of one element of the result.
fn placed(reduction: &Reduction, view: &View, index: &[i64]) -> Result<(Layout, i64)> {
    let out = reduction.result(view, DType::Bool)?;
    let to = index.iter().zip(out.strides()).map(|(index, stride)| index * stride).sum();
    Ok((reduction.spread(&out, view), to))
}

/// Writes what [`prod`](super::prod) computes for the element at `index`.
///
/// # Errors
/// Those of [`prod`](super::prod).
pub fn prod(view: &View, dim: Option<i64>, keepdim: bool, dtype: Option<DType>, index: &[i64]) -> Result<Option<Tape>> {
    let dims = dim.map(|d| [d]);
    let reduction = Reduction::new(view, dims.as_ref().map(<[i64; 1]>::as_slice), keepdim)?;
    let dtype = dtype.unwrap_or(view.dtype.sum_result());
    let view = resolved(view)?;
    if reduction.factor(&view) > LONGEST || dtype.is_complex() || view.dtype.is_complex() {
        return Ok(None);
    }
    if dtype.is_integral(true) {
        let mut writer = Writer::whole(&view, dtype)?;
        let total = writer.in_reading_order(&reduction, index, Operation::Multiply)?;
        return writer.finish(total, dtype, Scalar::Int(1));
    }
    let lanes = match dtype {
        DType::Half | DType::BFloat16 => 16,
        DType::Float => 8,
        DType::Double => 4,
        _ => return Ok(None),
    };
    let view = if view.dtype == dtype { view } else { cast(&view, dtype)? };
    let (layout, to) = placed(&reduction, &view, index)?;
    let mut writer = Writer::new(&view, dtype)?;
    let mut total = None;
    if view.numel() > 0 {
        for_each(&layout, &view.layout, &mut |tile| {
            total = writer.products_of_tile(tile, to, lanes, total)?;
            Ok(())
        })?;
    }
    writer.finish(total, dtype, Scalar::Int(1))
}

/// Writes what [`cumulative`](super::cumulative) computes for the element at `index`.
///
/// # Errors
/// Those of [`cumulative`](super::cumulative).
pub fn cumulative(which: Running, view: &View, dim: i64, dtype: Option<DType>, index: &[i64]) -> Result<Option<Tape>> {
    let d = wrap_dim(dim, view.ndim())?;
    let dtype = dtype.unwrap_or(view.dtype.sum_result());
    let view = resolved(view)?;
    let wide = match dtype {
        DType::Half | DType::BFloat16 => DType::Float,
        DType::Float | DType::Double => DType::Double,
        dtype if dtype.is_integral(true) => DType::Long,
        _ => return Ok(None),
    };
    let last = index.get(d).copied().unwrap_or_default();
    if last >= LONGEST || view.dtype.is_complex() {
        return Ok(None);
    }
    let view = if view.dtype == dtype { view } else { cast(&view, dtype)? };
    let mut writer = Writer::new(&view, wide)?;
    let start =
        index.iter().zip(view.strides()).map(|(index, stride)| index * stride).sum::<i64>() + view.layout.offset;
    let stride = view.strides().get(d).copied().unwrap_or_default();
    let mut carried = None;
    for i in (0..=last).rev() {
        interrupt::check()?;
        let element = writer.element(start - i * stride);
        carried = match which {
            Running::Sum => writer.add(carried, Some(element)),
            Running::Product => writer.tape.multiply(wide, carried, Some(element)),
        };
    }
    writer.finish(carried, dtype, Scalar::Int(0))
}

/// Writes which elements an extremum compares for the element at `index`. They are compared in reading order: no other
/// order gives anything else, except for the sign of zero.
///
/// # Errors
/// Those of [`extremum`](super::extremum()).
pub fn extremum(
    which: Extremum,
    view: &View,
    dims: Option<&[i64]>,
    keepdim: bool,
    index: &[i64],
) -> Result<Option<Tape>> {
    let reduction = Reduction::new(view, dims, keepdim)?;
    let view = resolved(view)?;
    if reduction.factor(&view) > LONGEST || view.dtype.is_complex() || view.numel() == 0 {
        return Ok(None);
    }
    let operation = match which {
        Extremum::Max => Operation::Larger,
        Extremum::Min => Operation::Smaller,
    };
    let mut writer = Writer::new(&view, view.dtype)?;
    let result = writer.in_reading_order(&reduction, index, operation)?;
    writer.finish(result, view.dtype, Scalar::Int(0))
}

/// Writes what [`variance`](super::variance) computes for all elements in single or double precision: their mean, and the
/// squares of their distances to it, added one after another in double precision. `None` for other dtypes, whose loop
/// fuses operations.
///
/// # Errors
/// Those of [`variance`](super::variance).
pub fn variance_of_all(which: SpreadMeasure, view: &View, correction: f64) -> Result<Option<Tape>> {
    let view = resolved(view)?;
    if !matches!(view.dtype, DType::Float | DType::Double) || view.numel() == 0 || view.numel() > LONGEST / 4 {
        return Ok(None);
    }
    let Some(tape) = mean(&view, None, false, None, &[])? else { return Ok(None) };
    let Some(center) = tape.result else { return Ok(None) };
    let mut writer = Writer { tape, ..Writer::new(&view, DType::Double)? };
    let together = Layout { strides: Dims::from_elem(0, view.ndim()), ..view.layout.clone() };
    let mut total = None;
    for_each(&together, &view.layout, &mut |Tile { input, size: [width, height], in_stride, .. }| {
        let mut part = None;
        writer.tape.stage = Stage::InTurn;
        for (i, j) in (0..height as i64).flat_map(|j| (0..width as i64).map(move |i| (i, j))) {
            interrupt::check()?;
            let element = writer.element(input + i * in_stride[0] + j * in_stride[1]);
            let distance = writer.tape.step(Operation::Subtract, DType::Double, element, center);
            let square = writer.tape.step(Operation::Multiply, DType::Double, distance, distance);
            part = writer.add(part, Some(square));
        }
        writer.tape.stage = Stage::Parts;
        total = writer.add(total, part);
        Ok(())
    })?;
    writer.tape.stage = Stage::End;
    let total = total.unwrap_or_else(|| writer.tape.constant(DType::Double, Scalar::Int(0)));
    let freedom = (view.numel() as f64 - correction).max(0.0);
    let freedom = writer.tape.constant(DType::Double, Scalar::Float(freedom));
    let mut result = writer.tape.step(Operation::Divide, DType::Double, total, freedom);
    if which == SpreadMeasure::StandardDeviation {
        result = writer.tape.step(Operation::SquareRoot, DType::Double, result, result);
    }
    writer.finish(Some(result), view.dtype, Scalar::Int(0))
}

/// The lanes of a vector of sums, and the stored elements that fill one.
#[derive(Clone, Copy)]
struct Lanes {
    count: usize,
    elements: usize,
}

/// Writes operations on the elements of a view.
struct Writer {
    tape: Tape,
    view: View,
    memory: Rc<Memory>,
    /// The dtype of sums and products.
    dtype: DType,
}

impl Writer {
    fn new(view: &View, dtype: DType) -> Result<Writer> {
        let tape = Tape::new(vec![view.layout.clone()]);
        Ok(Writer { tape, view: view.clone(), memory: view.memory()?, dtype })
    }

    /// Creates a writer for integers, which are combined in 64 bits.
    fn whole(view: &View, dtype: DType) -> Result<Writer> {
        let first = dtype == DType::Bool || !view.dtype.is_integral(true);
        Writer::new(&if first { cast(view, dtype)? } else { view.clone() }, DType::Long)
    }

    /// Ends the tape with the conversion to the dtype of the result; `identity` is the result without elements.
    fn finish(&mut self, result: Option<Term>, dtype: DType, identity: Scalar) -> Result<Option<Tape>> {
        self.tape.stage = Stage::End;
        let result = result.unwrap_or_else(|| self.tape.constant(self.dtype, identity));
        self.tape.result = Some(self.tape.convert(dtype, result));
        Ok(Some(std::mem::replace(&mut self.tape, Tape::new(Vec::new()))))
    }

    fn element(&mut self, offset: i64) -> Term {
        let value = self.view.read(&self.memory, offset);
        self.tape.element(0, offset, self.view.dtype, value)
    }

    fn add(&mut self, a: Option<Term>, b: Option<Term>) -> Option<Term> {
        self.tape.add(self.dtype, a, b)
    }

    /// Combines the elements of one result in reading order. Of integers, which wrap, no other order gives anything else.
    fn in_reading_order(&mut self, reduction: &Reduction, index: &[i64], operation: Operation) -> Result<Option<Term>> {
        let mut layout = self.view.layout.clone();
        let kept = reduction.reduced.len() == index.len();
        let mut own = index.iter();
        for (d, &gone) in reduction.reduced.iter().enumerate() {
            let index = if gone && !kept { None } else { own.next() };
            if let (false, Some(&index)) = (gone, index) {
                layout.offset += index * layout.strides[d];
                layout.sizes[d] = 1;
            }
        }
        let mut total = None;
        for offset in layout.offsets() {
            interrupt::check()?;
            let element = self.element(offset);
            total = Some(match total {
                Some(total) => self.tape.step(operation, self.dtype, total, element),
                None => element,
            });
        }
        Ok(total)
    }

    /// Adds the elements of `size` steps like `Levels`: in runs of at least 16, and the totals of runs on further levels.
    fn levels(&mut self, size: usize, addend: &dyn Fn(&mut Writer, usize) -> Term) -> Result<Option<Term>> {
        let power = super::sum::power_of(size);
        let run = 1usize << power;
        let mut sums = [None; super::sum::LEVELS];
        let stage = self.tape.stage;
        let mut i = 0;
        loop {
            interrupt::check()?;
            for step in i..size.min(i + run) {
                let element = addend(self, step);
                sums[0] = self.add(sums[0], Some(element));
            }
            if i + run > size {
                break;
            }
            i += run;
            self.tape.stage = Stage::Runs;
            for level in 1..sums.len() {
                sums[level] = self.add(sums[level], sums[level - 1]);
                sums[level - 1] = None;
                if i & ((run - 1) << (level as u32 * power)) != 0 {
                    break;
                }
            }
            self.tape.stage = stage;
        }
        self.tape.stage = Stage::Runs;
        let [mut total, middle @ .., highest] = sums;
        for level in middle.into_iter().chain([highest]) {
            total = self.add(total, level);
        }
        self.tape.stage = stage;
        Ok(total)
    }

    /// Adds four sums of a lane; `rest` goes to the first.
    fn four(
        &mut self,
        lane: usize,
        size: usize,
        addend: &dyn Fn(&mut Writer, usize) -> Term,
        rest: std::ops::Range<usize>,
    ) -> Result<Option<Term>> {
        let mut sums = [None; 4];
        for (k, sum) in sums.iter_mut().enumerate() {
            self.tape.stage = Stage::Lane { sum: k as u8, lane: lane as u8 };
            *sum = self.levels(size, &|writer, step| addend(writer, 4 * step + k))?;
        }
        let [mut total, others @ ..] = sums;
        self.tape.stage = Stage::Lane { sum: 0, lane: lane as u8 };
        for k in rest {
            let element = addend(self, k);
            total = self.add(total, Some(element));
        }
        self.tape.stage = Stage::Sums;
        for other in others {
            total = self.add(total, other);
        }
        Ok(total)
    }

    /// Adds adjacent elements: whole vectors in lanes, then the rest, then the lanes one after another.
    fn along(&mut self, start: i64, length: usize, lanes: Lanes) -> Result<Option<Term>> {
        let Lanes { count, elements } = lanes;
        let vectors = length / elements;
        let mut sums = Vec::with_capacity(count);
        for lane in 0..count {
            let addend = move |writer: &mut Writer, vector: usize| {
                let at = start + (vector * elements + lane) as i64;
                let low = writer.element(at);
                if elements == count {
                    return low;
                }
                let high = writer.element(at + count as i64);
                writer.tape.step(Operation::Add, writer.dtype, low, high)
            };
            sums.push(self.four(lane, vectors / 4, &addend, vectors / 4 * 4..vectors)?);
        }
        self.tape.stage = Stage::Rest;
        let mut total = None;
        for i in vectors * elements..length {
            let element = self.element(start + i as i64);
            total = self.add(total, Some(element));
        }
        self.tape.stage = Stage::Lanes;
        Ok(sums.into_iter().fold(total, |total, lane| self.add(total, lane)))
    }

    /// Returns the sums that a tile adds to the result at `to`, in order.
    fn sums_of_tile(&mut self, tile: Tile, to: i64, lanes: Lanes) -> Result<Vec<Option<Term>>> {
        let Tile { out, input, size: [rows, columns], out_stride, in_stride } = tile;
        let from = |row: usize, column: usize| input + row as i64 * in_stride[0] + column as i64 * in_stride[1];
        let mut sums = Vec::new();
        if out_stride[0] != 0 {
            for (row, column) in (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column))) {
                if out + row as i64 * out_stride[0] + column as i64 * out_stride[1] == to {
                    sums.push(Some(self.element(from(row, column))));
                }
            }
            return Ok(sums);
        }
        let whole = match (in_stride[0] == 1 && rows >= lanes.elements, in_stride[1] == 1 && columns >= lanes.elements)
        {
            (true, _) => columns,
            // Strips of vectors: each column is one sum over the rows.
            (_, true) => columns / (4 * lanes.count) * (4 * lanes.count),
            _ if in_stride[0] < in_stride[1] => 0,
            _ => columns / 4 * 4,
        };
        for column in (0..columns).filter(|&column| out + column as i64 * out_stride[1] == to) {
            let element = |writer: &mut Writer, row: usize| writer.element(from(row, column));
            self.tape.stage = Stage::InTurn;
            sums.push(if in_stride[0] == 1 && rows >= lanes.elements {
                self.along(from(0, column), rows, lanes)?
            } else if column < whole {
                self.levels(rows, &element)?
            } else {
                self.four(0, rows / 4, &element, rows / 4 * 4..rows)?
            });
        }
        Ok(sums)
    }

    /// Multiplies `total` by the elements of a tile that belong to the result at `to`.
    fn products_of_tile(&mut self, tile: Tile, to: i64, lanes: usize, total: Option<Term>) -> Result<Option<Term>> {
        let Tile { out, input, size: [width, height], out_stride, in_stride } = tile;
        let from = |i: usize, j: usize| input + i as i64 * in_stride[0] + j as i64 * in_stride[1];
        let is_here = |i: usize, j: usize| out + i as i64 * out_stride[0] + j as i64 * out_stride[1] == to;
        let mut total = total;
        self.tape.stage = Stage::InTurn;
        if (out_stride, in_stride[1]) == ([0, 1], 1) && in_stride[0] != 1 {
            for j in (0..height).filter(|&j| is_here(0, j)) {
                if j >= height / (4 * lanes) * (4 * lanes) {
                    total = self.in_turn(total, (0..width).map(|i| from(i, j)))?;
                } else {
                    let column = self.in_turn(None, (0..width).map(|i| from(i, j)))?;
                    self.tape.stage = Stage::Parts;
                    total = self.tape.multiply(self.dtype, column, total);
                }
            }
            return Ok(total);
        }
        if (out_stride[0], in_stride[0]) != (0, 1) {
            for j in 0..height {
                total = self.in_turn(total, (0..width).filter(|&i| is_here(i, j)).map(|i| from(i, j)))?;
            }
            return Ok(total);
        }
        for j in (0..height).filter(|&j| is_here(0, j)) {
            let (start, step) = (from(0, j), 4 * lanes);
            let steps = width / step;
            if steps > 0 {
                let mut products = Vec::with_capacity(step);
                for lane in 0..step {
                    self.tape.stage = Stage::Lane { sum: (lane / lanes) as u8, lane: (lane % lanes) as u8 };
                    products.push(self.in_turn(None, (0..steps).map(|k| start + (k * step + lane) as i64))?);
                }
                let product = |k: usize, lane: usize| products.get(k * lanes + lane).copied().flatten();
                let mut all = None;
                for lane in 0..lanes {
                    self.tape.stage = Stage::Sums;
                    let low = self.tape.multiply(self.dtype, product(0, lane), product(1, lane));
                    let high = self.tape.multiply(self.dtype, product(2, lane), product(3, lane));
                    let four = self.tape.multiply(self.dtype, low, high);
                    self.tape.stage = Stage::Lanes;
                    all = self.tape.multiply(self.dtype, all, four);
                }
                self.tape.stage = Stage::Parts;
                total = self.tape.multiply(self.dtype, total, all);
            }
            self.tape.stage = Stage::Rest;
            total = self.in_turn(total, (steps * step..width).map(|i| start + i as i64))?;
        }
        Ok(total)
    }

    /// Multiplies `total` by elements, one after another.
    fn in_turn(&mut self, total: Option<Term>, offsets: impl Iterator<Item = i64>) -> Result<Option<Term>> {
        let mut total = total;
        for offset in offsets {
            interrupt::check()?;
            let element = self.element(offset);
            total = self.tape.multiply(self.dtype, total, Some(element));
        }
        Ok(total)
    }
}

#[cfg(test)]
mod tests;
