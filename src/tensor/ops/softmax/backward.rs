//! The gradients of `softmax` and `log_softmax`: every step is in the order of PyTorch's vectors, and is fused with the
//! next where its compiler fuses them.

use super::{COST, Element, Softmax, halved, in_order, power};
use crate::layout::wrap_dim;
use crate::ops::check::lost;
use crate::ops::copy::{contiguous, copy_into};
use crate::ops::number::{Real, Stored, is_single};
use crate::ops::pointwise::{check_kernel, classes};
use crate::parallel::{self, Kernel, vectorised_kernel};
use crate::thresholds::{COLUMNS, PIECE};
use crate::{DType, Error, Result, View, interrupt, limits};
use half::{bf16, f16};
use num_traits::Float;
use std::array;
use std::ops::Range;

/// Computes the gradient of [`softmax`](super::softmax) along `dim` from the gradient of its `result`. Both have the
/// same sizes and dtype.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for unsupported dtypes and for different sizes or dtypes.
pub fn softmax_backward(which: Softmax, grad: &View, result: &View, dim: i64) -> Result<View> {
    if grad.sizes() != result.sizes() || grad.dtype != result.dtype {
        return Err(Error::runtime("grad and output must have the same sizes and dtype"));
    }
    let d = wrap_dim(dim, result.ndim())?;
    let out = View::unwritten(result.sizes(), result.dtype, result.device())?;
    if result.device().is_meta() || result.numel() == 0 {
        return Ok(out);
    }
    let last = d + 1 >= result.ndim();
    let stub = match (which, last) {
        (Softmax::Plain, true) => "softmax_backward_lastdim_kernel_impl",
        (Softmax::Log, true) => "log_softmax_backward_lastdim_kernel_impl",
        (Softmax::Plain, false) => "softmax_backward_kernel_impl",
        (Softmax::Log, false) => "log_softmax_backward_kernel_impl",
    };
    check_kernel(stub, classes::FLOAT, result.dtype)?;
    copy_into(&out, grad)?;
    let result = contiguous(result)?;
    match result.dtype {
        DType::Half => gradients::<f16>(which, &out, &result, d, last)?,
        DType::BFloat16 => gradients::<bf16>(which, &out, &result, d, last)?,
        DType::Float => gradients::<f32>(which, &out, &result, d, last)?,
        _ => gradients::<f64>(which, &out, &result, d, last)?,
    }
    Ok(out)
}

/// Replaces the gradients in `out` by those of the argument. Both tensors are row-major.
fn gradients<S: Element>(which: Softmax, out: &View, result: &View, d: usize, last: bool) -> Result<()> {
    let length = out.sizes().get(d).map_or(1, |&size| size as usize);
    // `width` lines lie side by side, as the columns of `length` rows.
    let width = out.sizes().iter().skip(d + 1).product::<i64>() as usize;
    let unit = length * width;
    let numel = out.numel() as usize;
    let first = usize::try_from(result.layout.offset).map_err(|_| lost())?;
    parallel::between::<S, S, _>(&*result.memory()?, &*out.memory()?, 0..numel, |results, grads| {
        let results = results.get(first..).and_then(|results| results.get(..numel)).ok_or_else(lost)?;
        let (size, work) = ((PIECE / unit).max(1) * unit, numel.saturating_mul(COST));
        parallel::parts_of(grads, size, work, &|start, part| {
            let results = results.get(start..).unwrap_or_default().chunks(unit);
            let room = if last { 0 } else { width.min(COLUMNS) };
            let mut totals = limits::vector(room)?;
            totals.resize(room, S::Compute::default());
            part.chunks_mut(unit).zip(results).try_for_each(|(grads, results)| match last {
                true => vectorised_kernel(Line { which, grads, results }),
                false => (0..width).step_by(COLUMNS).try_for_each(|start| {
                    let columns = start..width.min(start + COLUMNS);
                    let totals = totals.get_mut(..columns.len()).unwrap_or_default();
                    vectorised_kernel(Columns { which, grads, results, width, columns, totals })
                }),
            })
        })
    })
    .unwrap_or_else(|| Err(lost()))
}

/// What an element adds to the total of its line.
#[inline(always)]
fn term<C: Real>(which: Softmax, grad: C, result: C) -> C {
    match which {
        Softmax::Plain => grad * result,
        Softmax::Log => grad,
    }
}

/// Adds what an element adds to the total of its line.
#[inline(always)]
fn added<C: Real>(which: Softmax, total: C, grad: C, result: C) -> C {
    match which {
        Softmax::Plain => grad.mul_add(result, total),
        Softmax::Log => total + grad,
    }
}

/// Computes the gradient of one element. `power` computes exponentials.
#[inline(always)]
fn gradient<C: Real>(which: Softmax, grad: C, result: C, total: C, power: impl Fn(C) -> C) -> C {
    match which {
        Softmax::Plain => (grad - total) * result,
        Softmax::Log => (-power(result)).mul_add(total, grad),
    }
}

/// Computes the totals of `N` lanes of a line.
#[inline(always)]
fn lanes<const N: usize, S: Element>(which: Softmax, grads: &[S], results: &[S]) -> Result<[S::Compute; N]> {
    // Adding to the negative zero changes no number, not even the sign of a zero.
    let mut sums = [S::Compute::neg_zero(); N];
    let (groups, rest) = grads.as_chunks::<N>();
    let (result_groups, result_rest) = results.as_chunks::<N>();
    for piece in interrupt::pieces(0..groups.len(), N) {
        let piece = piece?;
        let groups = groups.get(piece.clone()).unwrap_or_default();
        for (grads, results) in groups.iter().zip(result_groups.get(piece).unwrap_or_default()) {
            for k in 0..N {
                sums[k] = added(which, sums[k], grads[k].widen(), results[k].widen());
            }
        }
    }
    for ((sum, grad), result) in sums.iter_mut().zip(rest).zip(result_rest) {
        *sum = added(which, *sum, grad.widen(), result.widen());
    }
    Ok(sums)
}

/// Computes the total of a line: the sum of the gradients, for `softmax` times the results.
#[inline(always)]
fn total<S: Element>(which: Softmax, grads: &[S], results: &[S]) -> Result<S::Compute> {
    let is_short = grads.len() < if is_single::<S::Compute>() { 8 } else { 4 };
    if is_short && !S::NARROW {
        let terms = grads.iter().zip(results).map(|(grad, result)| term(which, grad.widen(), result.widen()));
        return Ok(terms.fold(S::Compute::neg_zero(), |sum, term| sum + term));
    }
    if S::NARROW {
        // Two vectors at a time.
        let sums = lanes::<16, S>(which, grads, results)?;
        return Ok(halved(&mut array::from_fn(|k| sums[k] + sums[k + 8])));
    }
    Ok(match is_single::<S::Compute>() {
        true => halved(&mut lanes::<8, S>(which, grads, results)?),
        false => in_order(S::Compute::neg_zero(), &lanes::<4, S>(which, grads, results)?),
    })
}

/// One line, whose elements are neighbours.
struct Line<'l, S: Stored> {
    which: Softmax,
    grads: &'l mut [S],
    results: &'l [S],
}

impl<S: Element> Kernel for Line<'_, S> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self, _fuses: bool) -> Result<()> {
        let Line { which, grads, results } = self;
        let total = total(which, grads, results)?;
        for piece in interrupt::pieces(0..grads.len(), 1) {
            let piece = piece?;
            let results = results.get(piece.clone()).unwrap_or_default();
            for (grad, result) in grads.get_mut(piece).unwrap_or_default().iter_mut().zip(results) {
                *grad = S::narrow(gradient(which, grad.widen(), result.widen(), total, power));
            }
        }
        Ok(())
    }
}

/// Lines that lie side by side: some `columns` of rows of `width` elements.
struct Columns<'c, S: Stored> {
    which: Softmax,
    grads: &'c mut [S],
    results: &'c [S],
    width: usize,
    columns: Range<usize>,
    /// Room for the totals of the columns.
    totals: &'c mut [S::Compute],
}

impl<S: Element> Kernel for Columns<'_, S> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self, _fuses: bool) -> Result<()> {
        let Columns { which, grads, results, width, columns, totals } = self;
        // For the columns after the last whole vector, PyTorch calls the C library.
        let vectors = (width - width % (32 / size_of::<S>())).saturating_sub(columns.start).min(totals.len());
        let rows = grads.len() / width.max(1);
        let place = |row: usize| row * width + columns.start..row * width + columns.end;
        totals.fill(S::Compute::default());
        for piece in interrupt::pieces(0..rows, columns.len()) {
            for row in piece? {
                let grads = grads.get(place(row)).unwrap_or_default();
                let results = results.get(place(row)).unwrap_or_default();
                for ((total, grad), result) in totals.iter_mut().zip(grads).zip(results) {
                    *total = added(which, *total, grad.widen(), result.widen());
                }
            }
        }
        let (vector_totals, other_totals) = totals.split_at(vectors);
        for piece in interrupt::pieces(0..rows, columns.len()) {
            for row in piece? {
                let grads = grads.get_mut(place(row)).unwrap_or_default();
                let results = results.get(place(row)).unwrap_or_default();
                let (grads, other_grads) = grads.split_at_mut(vectors.min(grads.len()));
                let (results, other_results) = results.split_at(vectors.min(results.len()));
                for ((grad, result), total) in grads.iter_mut().zip(results).zip(vector_totals) {
                    *grad = S::narrow(gradient(which, grad.widen(), result.widen(), *total, power));
                }
                for ((grad, result), total) in other_grads.iter_mut().zip(other_results).zip(other_totals) {
                    *grad = S::narrow(gradient(which, grad.widen(), result.widen(), *total, |x| x.exp()));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;
    use crate::ops::view::narrow;
    use crate::thresholds::THREAD;

    /// A tensor whose elements follow no pattern.
    fn numbers(sizes: &[i64], dtype: DType, factor: u64) -> View {
        let places = 0..sizes.iter().product::<i64>() as u64;
        let numbers = places.map(|i| Scalar::Float((i.wrapping_mul(factor) % 1009) as f64 / 300.0 - 1.7));
        View::from_scalars(sizes, dtype, numbers).unwrap()
    }

    fn bits(view: &View) -> Vec<u64> {
        view.scalars().unwrap().into_iter().map(|scalar| scalar.to_f64().to_bits()).collect()
    }

    /// Parts, threads and blocks of columns change nothing: each line or group of eight columns alone gives the same.
    #[test]
    fn gradients_do_not_depend_on_what_lies_beside_them() {
        let sizes =
            [[3, 4, 8], [2, 7, 16], [1, 5, 64], [1, 3, 8 * (COLUMNS as i64 / 8 + 3)], [9, 2 * THREAD as i64 / 9, 8]];
        for (sizes, dtype) in
            sizes.iter().flat_map(|sizes| [DType::Float, DType::Double, DType::Half].map(|d| (sizes, d)))
        {
            let (grads, results) = (numbers(sizes, dtype, 7919), numbers(sizes, dtype, 104_729));
            for (which, dim) in [Softmax::Plain, Softmax::Log].iter().flat_map(|which| [(*which, 1), (*which, 2)]) {
                let whole = softmax_backward(which, &grads, &results, dim).unwrap();
                for outer in 0..sizes[0] {
                    // Whole vectors of columns, or one line.
                    let (along, step) = if dim == 1 { (2, 16.min(sizes[2])) } else { (1, 1) };
                    for start in (0..sizes[along] - step + 1).step_by(step as usize) {
                        let part = |view: &View| {
                            let slice = narrow(view, 0, outer, 1).unwrap();
                            narrow(&slice, along as i64, start, step).unwrap()
                        };
                        let alone = softmax_backward(which, &part(&grads), &part(&results), dim).unwrap();
                        assert_eq!(bits(&alone), bits(&part(&whole)), "{sizes:?} {dtype:?} {which:?} {dim} {start}");
                    }
                }
            }
        }
    }
}
