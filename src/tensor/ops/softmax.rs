//! Normalised exponentials of lines: `softmax`, `log_softmax`, `logsumexp`.

mod backward;

pub use backward::softmax_backward;

use super::check::lost;
use super::compare::CompareOp;
use super::compose::{Math, number};
use super::copy::{cast, copy_into};
use super::mask::masked_fill;
use super::number::{Real, Stored, is_single};
use super::pointwise::{UnaryOp, check_kernel, classes, larger_of};
use super::reduce::{Extremum, Reduction, extremum, sum};
use crate::layout::wrap_dim;
use crate::parallel::{self, Kernel, vectorised, vectorised_kernel};
use crate::thresholds::{COLUMNS, PIECE};
use crate::{DType, Result, Scalar, View, interrupt, limits};
use elementary::series;
use half::{bf16, f16};
use num_traits::{Float, One};
use std::array;
use std::ops::Range;

/// Whether to return probabilities or their logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Softmax {
    Plain,
    Log,
}

/// Divides the exponentials of every line by their sum, or computes the logarithms of the quotients.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for unsupported dtypes.
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
        DType::Half => shares::<f16>(which, &out, d, last)?,
        DType::BFloat16 => shares::<bf16>(which, &out, d, last)?,
        DType::Float => shares::<f32>(which, &out, d, last)?,
        _ => shares::<f64>(which, &out, d, last)?,
    }
    Ok(out)
}

/// The number of lanes in which the maximum of a line is found.
const LANES: usize = 16;

/// The cost of an element, in steps of a plain loop.
const COST: usize = 4;

/// A type whose softmax is computed in `Compute`, with every step in PyTorch's order.
trait Element: Stored<Compute: Real> {
    const NARROW: bool = size_of::<Self>() == 2;
}

impl<S: Stored<Compute: Real>> Element for S {}

/// Computes the softmax of a row-major tensor in place. PyTorch has one order of steps for the `last` dimension and
/// another for the others.
fn shares<S: Element>(which: Softmax, out: &View, d: usize, last: bool) -> Result<()> {
    let length = out.sizes().get(d).map_or(1, |&size| size as usize);
    // `width` lines lie side by side, as the columns of `length` rows.
    let width = out.sizes().iter().skip(d + 1).product::<i64>() as usize;
    let unit = length * width;
    parallel::writing::<S, _>(&*out.memory()?, 0..out.numel() as usize, |elements| {
        let (size, work) = ((PIECE / unit).max(1) * unit, elements.len().saturating_mul(COST));
        parallel::parts_of(elements, size, work, &|_, part| {
            let room = if last { length } else { 3 * width.min(COLUMNS) };
            let mut numbers = limits::vector(room)?;
            numbers.resize(room, S::Compute::default());
            part.chunks_mut(unit).try_for_each(|lines| match last {
                true => vectorised_kernel(Along { which, line: lines, powers: &mut numbers }),
                false => side_by_side(which, lines, width, &mut numbers),
            })
        })
    })
    .unwrap_or_else(|| Err(lost()))
}

/// Computes the exponential of `value`; for `f32`, identical to PyTorch's vectors to the last bit.
#[inline(always)]
fn power<C: Real>(value: C) -> C {
    if is_single::<C>() { C::from_f64(f64::from(series::exp_single(value.as_f64() as f32))) } else { value.exp() }
}

/// Computes the logarithm; for `f32`, like PyTorch's vectors.
fn logarithm<C: Real>(value: C) -> C {
    if is_single::<C>() { C::from_f64(f64::from(series::ln_single(value.as_f64() as f32))) } else { value.ln() }
}

/// Computes the exponentials of elements minus the maxima of their lines. A struct instead of a closure, which the
/// compiler would not inline into vectorised code.
struct Powers<'a, S: Stored> {
    elements: &'a [S],
    largest: &'a [S::Compute],
    into: &'a mut [S::Compute],
}

impl<S: Element> Kernel for Powers<'_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        for ((into, element), largest) in self.into.iter_mut().zip(self.elements).zip(self.largest) {
            *into = power(element.widen() - *largest);
        }
    }
}

/// Sums groups of numbers lane by lane.
#[inline(always)]
fn lanes<const N: usize, C: Real>(groups: &[[C; N]]) -> Result<[C; N]> {
    let mut sums = [C::default(); N];
    for piece in interrupt::pieces(0..groups.len(), N) {
        for group in groups.get(piece?).unwrap_or_default() {
            sums = array::from_fn(|k| sums[k] + group[k]);
        }
    }
    Ok(sums)
}

/// Sums lanes by repeatedly adding the two halves.
#[inline(always)]
fn halved<C: Real>(lanes: &mut [C; 8]) -> C {
    for count in [4, 2, 1] {
        (0..count).for_each(|k| lanes[k] = lanes[k] + lanes[k + count]);
    }
    lanes[0]
}

#[inline(always)]
fn in_order<C: Real>(first: C, numbers: &[C]) -> C {
    numbers.iter().fold(first, |sum, number| sum + *number)
}

/// Sums the exponentials of a line in the order of PyTorch's vectors.
#[inline(always)]
fn total<S: Element>(which: Softmax, powers: &[S::Compute]) -> Result<S::Compute> {
    #[inline(always)]
    fn add_each<C: Real>(sums: &mut [C], numbers: &[C]) {
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum = *sum + *number);
    }
    let zero = S::Compute::default();
    if !is_single::<S::Compute>() {
        let (groups, rest) = powers.as_chunks::<4>();
        let mut sums = lanes(groups)?;
        add_each(&mut sums, rest);
        return Ok(in_order(zero, &sums));
    }
    if S::NARROW && which == Softmax::Log {
        // Two vectors at a time.
        let (groups, rest) = powers.as_chunks::<16>();
        let mut sums = lanes(groups)?;
        add_each(&mut sums, rest);
        let (first, second) = sums.split_at(8);
        let mut sums = [zero; 8];
        add_each(&mut sums, first);
        add_each(&mut sums, second);
        return Ok(if groups.is_empty() { in_order(zero, &sums) } else { halved(&mut sums) });
    }
    let (groups, rest) = powers.as_chunks::<8>();
    let mut sums = lanes(groups)?;
    if S::NARROW {
        return Ok(in_order(halved(&mut sums), rest));
    }
    add_each(&mut sums, rest);
    Ok(if groups.is_empty() { in_order(zero, &sums) } else { halved(&mut sums) })
}

/// Computes the softmax of one line; `powers` is a scratch buffer for its exponentials. All in one kernel, because calls
/// between its stages take longer than a short line itself.
struct Along<'l, S: Stored> {
    which: Softmax,
    line: &'l mut [S],
    powers: &'l mut [S::Compute],
}

impl<S: Element> Kernel for Along<'_, S> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self, _fuses: bool) -> Result<()> {
        let Along { which, line, powers } = self;
        let mut maxima = [S::Compute::neg_infinity(); LANES];
        for piece in interrupt::pieces(0..line.len(), 1) {
            let (vectors, rest) = line.get(piece?).unwrap_or_default().as_chunks::<LANES>();
            for elements in vectors {
                maxima = array::from_fn(|k| larger_of(maxima[k], elements[k].widen()));
            }
            maxima.iter_mut().zip(rest).for_each(|(most, element)| *most = larger_of(*most, element.widen()));
        }
        for left in [LANES / 2, LANES / 4, LANES / 8, LANES / 16] {
            (0..left).for_each(|k| maxima[k] = larger_of(maxima[2 * k], maxima[2 * k + 1]));
        }
        let largest = maxima[0];
        for piece in interrupt::pieces(0..line.len(), 1) {
            let piece = piece?;
            let elements = line.get(piece.clone()).unwrap_or_default();
            for (power_of, element) in powers.get_mut(piece).unwrap_or_default().iter_mut().zip(elements) {
                *power_of = power(element.widen() - largest);
            }
        }
        let total = total::<S>(which, powers)?;
        let rounded = |value: S::Compute| S::narrow(value).widen();
        let (factor, logarithm) = match which {
            Softmax::Plain => (S::Compute::one() / total, total),
            Softmax::Log => (total, rounded(logarithm(rounded(total)))),
        };
        for piece in interrupt::pieces(0..line.len(), 1) {
            let piece = piece?;
            let powers = powers.get(piece.clone()).unwrap_or_default();
            let elements = line.get_mut(piece).unwrap_or_default().iter_mut();
            match which {
                Softmax::Plain => {
                    elements.zip(powers).for_each(|(element, power)| *element = S::narrow(*power * factor));
                }
                Softmax::Log => {
                    elements.for_each(|element| *element = S::narrow(element.widen() - largest - logarithm));
                }
            }
        }
        Ok(())
    }
}

/// Computes the softmax of the columns of rows of `width` elements. `numbers` is a scratch buffer for three rows of up
/// to [`COLUMNS`] columns.
fn side_by_side<S: Element>(
    which: Softmax,
    elements: &mut [S],
    width: usize,
    numbers: &mut [S::Compute],
) -> Result<()> {
    // For the columns after the last whole vector, PyTorch calls the C library, and rounds exponentials of 16-bit
    // floats before dividing them.
    let vectors = width - width % (32 / size_of::<S>());
    // Exponentials that need no rounding replace the elements.
    let keeps_powers = which == Softmax::Plain && !S::NARROW;
    let (largest, numbers) = numbers.split_at_mut(width.min(COLUMNS));
    let (total, powers) = numbers.split_at_mut(width.min(COLUMNS));
    for first in (0..width).step_by(COLUMNS) {
        let columns = first..width.min(first + COLUMNS);
        let behind = vectors.saturating_sub(first);
        let raise = |row: &[S], largest: &[S::Compute], powers: &mut [S::Compute]| {
            vectorised_kernel(Powers { elements: row, largest, into: &mut *powers });
            let pairs = row.iter().zip(largest).skip(behind);
            powers.iter_mut().skip(behind).zip(pairs).for_each(|(power, (element, largest))| {
                *power = (element.widen() - *largest).exp();
            });
        };
        largest.fill(S::Compute::neg_infinity());
        total.fill(S::Compute::default());
        each_row(elements, width, &columns, |row| {
            row.iter().zip(&mut *largest).for_each(|(element, most)| *most = larger_of(*most, element.widen()));
        })?;
        each_row(elements, width, &columns, |row| {
            raise(row, largest, powers);
            total.iter_mut().zip(&*powers).for_each(|(total, power)| *total = *total + *power);
            if keeps_powers {
                row.iter_mut().zip(&*powers).for_each(|(element, power)| *element = S::narrow(*power));
            }
        })?;
        match which {
            Softmax::Plain if keeps_powers => each_row(elements, width, &columns, |row| {
                row.iter_mut().zip(&*total).for_each(|(power, total)| *power = S::narrow(power.widen() / *total));
            })?,
            Softmax::Plain => each_row(elements, width, &columns, |row| {
                raise(row, largest, powers);
                powers.iter_mut().skip(behind).for_each(|power| *power = S::narrow(*power).widen());
                let shares = powers.iter().zip(&*total).map(|(power, total)| *power / *total);
                row.iter_mut().zip(shares).for_each(|(element, share)| *element = S::narrow(share));
            })?,
            Softmax::Log => {
                let (in_vectors, rest) = total.split_at_mut(behind.min(total.len()));
                in_vectors.iter_mut().for_each(|total| *total = logarithm(*total));
                rest.iter_mut().for_each(|total| *total = total.ln());
                each_row(elements, width, &columns, |row| {
                    let lines = largest.iter().zip(&*total);
                    row.iter_mut().zip(lines).for_each(|(element, (largest, logarithm))| {
                        *element = S::narrow(element.widen() - *largest - *logarithm);
                    });
                })?;
            }
        }
    }
    Ok(())
}

/// Calls `body` with the `columns` of every row of `width` elements.
#[inline(always)]
fn each_row<S>(elements: &mut [S], width: usize, columns: &Range<usize>, mut body: impl FnMut(&mut [S])) -> Result<()> {
    let mut rows = elements.chunks_mut(width);
    for piece in interrupt::pieces(0..rows.len(), columns.len()) {
        let rows = rows.by_ref().take(piece?.len());
        vectorised(|| rows.for_each(|row| body(row.get_mut(columns.clone()).unwrap_or_default())));
    }
    Ok(())
}

/// Computes the logarithm of the sum of exponentials over dimensions.
///
/// # Errors
/// Those of [`sum`] and [`extremum`].
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
    let largest =
        largest.with_layout(crate::Layout { offset: largest.layout.offset, ..crate::Layout::contiguous(sizes) });
    math.add(&log, &largest)
}
