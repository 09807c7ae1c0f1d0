//! Exponentials of a line relative to their sum: `softmax`, `log_softmax`, `logsumexp`.

use super::check::lost;
use super::compare::CompareOp;
use super::compose::{Math, number};
use super::copy::{cast, copy_into};
use super::mask::masked_fill;
use super::number::{Real, Stored, is_single};
use super::pointwise::{UnaryOp, check_kernel, classes};
use super::reduce::{Extremum, Reduction, extremum, larger, sum};
use super::series;
use crate::tensor::layout::wrap_dim;
use crate::tensor::parallel::{self, Kernel, vectorised, vectorised_kernel};
use crate::tensor::thresholds::COLUMNS;
use crate::tensor::{DType, Result, Scalar, View, interrupt, limits};
use half::{bf16, f16};
use std::ops::Range;

/// The form of the distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Softmax {
    Plain,
    Log,
}

/// The exponentials of every line as shares of their sum, or the logarithms of those shares.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for dtypes without this kernel.
pub fn softmax(which: Softmax, view: &View, dim: i64, dtype: Option<DType>) -> Result<View> {
    let converted = dtype.filter(|&dtype| dtype != view.dtype).map(|dtype| cast(view, dtype)).transpose()?;
    let view = converted.as_ref().unwrap_or(view);
    let d = wrap_dim(dim, view.ndim())?;
    let out = View::unwritten(view.sizes(), view.dtype, view.device())?;
    if view.device().is_meta() || view.numel() == 0 {
        return Ok(out);
    }
    let last = d + 1 >= view.ndim();
    let stub = match (which, last) {
        (Softmax::Plain, true) => "softmax_lastdim_kernel_impl",
        (Softmax::Log, true) => "log_softmax_lastdim_kernel_impl",
        (_, false) => "softmax_kernel_impl",
    };
    check_kernel(stub, classes::FLOAT, view.dtype)?;
    copy_into(&out, view)?;
    match view.dtype {
        DType::Half => shares::<f16>(which, &out, d)?,
        DType::BFloat16 => shares::<bf16>(which, &out, d)?,
        DType::Float => shares::<f32>(which, &out, d)?,
        _ => shares::<f64>(which, &out, d)?,
    }
    Ok(out)
}

/// Elements of a line whose exponentials are computed together, and as many sums are added up.
const STEP: usize = 256;

/// Puts shares in place of the elements of a row-major tensor.
fn shares<S: Stored<Compute: Real>>(which: Softmax, out: &View, d: usize) -> Result<()> {
    let length = out.sizes().get(d).map_or(1, |&size| size as usize);
    // So many lines lie side by side, as the columns of `length` rows.
    let width = out.sizes().iter().skip(d + 1).product::<i64>() as usize;
    let unit = length * width;
    parallel::writing::<S, _>(&*out.memory()?, 0..out.numel() as usize, |elements| {
        parallel::parts(elements, unit, &|_, part| {
            let room = if width == 1 { length } else { 3 * width.min(COLUMNS) };
            let mut numbers = limits::vector(room)?;
            numbers.resize(room, 0.0);
            part.chunks_mut(unit).try_for_each(|lines| match width {
                1 => along(which, lines, &mut numbers),
                _ => side_by_side(which, lines, width, &mut numbers),
            })
        })
    })
    .unwrap_or_else(|| Err(lost()))
}

#[inline(always)]
fn wide<S: Stored<Compute: Real>>(element: &S) -> f64 {
    element.widen().as_f64()
}

#[inline(always)]
fn narrow<S: Stored<Compute: Real>>(value: f64) -> S {
    S::narrow(Real::from_f64(value))
}

/// Exponentials of elements, less the largest of their lines, so exact that it does not show in an `S`. Not a closure: the
/// compiler would not inline it where vectors are.
struct Powers<'a, S> {
    elements: &'a [S],
    largest: &'a [f64],
    into: &'a mut [f64],
}

impl<S: Stored<Compute: Real>> Kernel for Powers<'_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        for ((into, element), largest) in self.into.iter_mut().zip(self.elements).zip(self.largest) {
            let value = wide(element) - largest;
            *into = if is_single::<S::Compute>() { series::exp(value) } else { value.exp() };
        }
    }
}

/// One line. `powers` has room for its exponentials.
fn along<S: Stored<Compute: Real>>(which: Softmax, line: &mut [S], powers: &mut [f64]) -> Result<()> {
    let mut lanes = [f64::NEG_INFINITY; 16];
    for piece in interrupt::pieces(0..line.len(), 1) {
        let (vectors, rest) = line.get(piece?).unwrap_or_default().as_chunks::<16>();
        vectorised(|| {
            for elements in vectors.iter().map(<[S; 16]>::as_slice).chain([rest]) {
                lanes.iter_mut().zip(elements).for_each(|(lane, element)| *lane = larger(*lane, wide(element)));
            }
        });
    }
    let largest = lanes.into_iter().fold(f64::NEG_INFINITY, larger);
    let mut totals = [0.0; STEP];
    let mut steps = line.chunks(STEP).zip(powers.chunks_mut(STEP));
    for piece in interrupt::pieces(0..steps.len(), STEP) {
        for (elements, powers) in steps.by_ref().take(piece?.len()) {
            vectorised_kernel(Powers { elements, largest: &[largest; STEP], into: &mut *powers });
            totals.iter_mut().zip(powers).for_each(|(total, power)| *total += *power);
        }
    }
    let total: f64 = totals.iter().sum();
    let logarithm = total.ln();
    for piece in interrupt::pieces(0..line.len(), 1) {
        let piece = piece?;
        let powers = powers.get(piece.clone()).unwrap_or_default();
        let elements = line.get_mut(piece).unwrap_or_default().iter_mut();
        vectorised(|| match which {
            Softmax::Plain => elements.zip(powers).for_each(|(element, power)| *element = narrow(power / total)),
            Softmax::Log => elements.for_each(|element| *element = narrow(wide(element) - largest - logarithm)),
        });
    }
    Ok(())
}

/// The columns of rows of `width` elements. `numbers` has room for three of as many columns as are gone through together.
fn side_by_side<S: Stored<Compute: Real>>(
    which: Softmax,
    elements: &mut [S],
    width: usize,
    numbers: &mut [f64],
) -> Result<()> {
    let (largest, numbers) = numbers.split_at_mut(width.min(COLUMNS));
    let (total, powers) = numbers.split_at_mut(width.min(COLUMNS));
    for first in (0..width).step_by(COLUMNS) {
        let columns = first..width.min(first + COLUMNS);
        largest.fill(f64::NEG_INFINITY);
        total.fill(0.0);
        each_row(elements, width, &columns, |row| {
            row.iter().zip(&mut *largest).for_each(|(element, largest)| *largest = larger(*largest, wide(element)));
        })?;
        each_row(elements, width, &columns, |row| {
            vectorised_kernel(Powers { elements: row, largest, into: &mut *powers });
            total.iter_mut().zip(&*powers).for_each(|(total, power)| *total += power);
        })?;
        match which {
            Softmax::Plain => each_row(elements, width, &columns, |row| {
                vectorised_kernel(Powers { elements: &*row, largest, into: &mut *powers });
                let shares = powers.iter().zip(&*total).map(|(power, total)| power / total);
                row.iter_mut().zip(shares).for_each(|(element, share)| *element = narrow(share));
            })?,
            Softmax::Log => {
                total.iter_mut().for_each(|total| *total = total.ln());
                each_row(elements, width, &columns, |row| {
                    let lines = largest.iter().zip(&*total);
                    row.iter_mut().zip(lines).for_each(|(element, (largest, logarithm))| {
                        *element = narrow(wide(element) - largest - logarithm);
                    });
                })?;
            }
        }
    }
    Ok(())
}

/// Calls `body` for every row of `width` elements with those in `columns`.
#[inline(always)]
fn each_row<S>(elements: &mut [S], width: usize, columns: &Range<usize>, mut body: impl FnMut(&mut [S])) -> Result<()> {
    let mut rows = elements.chunks_mut(width);
    for piece in interrupt::pieces(0..rows.len(), columns.len()) {
        let rows = rows.by_ref().take(piece?.len());
        vectorised(|| rows.for_each(|row| body(row.get_mut(columns.clone()).unwrap_or_default())));
    }
    Ok(())
}

/// The logarithm of the sum of exponentials over dimensions.
///
/// # Errors
/// As [`sum`] and [`extremum`].
pub fn logsumexp(view: &View, dims: &[i64], keepdim: bool, default: DType) -> Result<View> {
    let math = Math(default);
    let converted = if view.dtype.is_integral(true) { cast(view, default)? } else { view.clone() };
    let view = &converted;
    if view.numel() == 0 {
        return math.unary(UnaryOp::Log, &sum(&math.unary(UnaryOp::Exp, view)?, Some(dims), keepdim, None)?);
    }
    let of_real = if view.dtype.is_complex() { super::view::real(view) } else { view.clone() };
    let largest = extremum(Extremum::Max, &of_real, dims, true)?;
    let endless = math.compare(CompareOp::Eq, &math.unary(UnaryOp::Abs, &largest)?, number(f64::INFINITY))?;
    let largest = masked_fill(&largest, &endless, Scalar::Int(0))?;
    let scaled = math.unary(UnaryOp::Exp, &math.sub(view, &largest)?)?;
    let log = math.unary(UnaryOp::Log, &sum(&scaled, Some(dims), keepdim, None)?)?;
    let kept = Reduction::new(view, Some(dims), keepdim)?;
    let sizes = &kept.sizes;
    let largest = largest.with_layout(crate::tensor::Layout {
        offset: largest.layout.offset,
        ..crate::tensor::Layout::contiguous(sizes)
    });
    math.add(&log, &largest)
}
