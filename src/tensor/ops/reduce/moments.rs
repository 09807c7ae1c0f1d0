//! Variance, standard deviation and norms: reductions whose state has several numbers or that end with a function.

use super::chain::{NonNegativeTerms, chained};
use super::tiles::{Dim, Tile, dims, for_each, odometer};
use super::{Reduction, aligned, mean, resolved};
use crate::bail;
use crate::memory::set;
use crate::ops::copy::{cast, copy_into, fill};
use crate::ops::number::{Number, Real, Stored};
use crate::ops::pointwise::{BinaryOp, Output, UnaryOp, binary, check_kernel, classes, unary};
use crate::parallel::{self, vectorised};
use crate::thresholds::RESULTS;
use crate::{DType, Dims, Layout, Result, Scalar, View, interrupt, promote_types};
use half::{bf16, f16};
use num_traits::Float;
use std::ops::Range;

/// The measure of spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadMeasure {
    Variance,
    StandardDeviation,
}

/// Returns whether a variance over these dimensions would divide by zero or less, in which case PyTorch warns.
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions.
pub fn has_no_freedom(view: &View, dims: Option<&[i64]>, correction: f64) -> Result<bool> {
    check_dtype(view)?;
    let reduction = Reduction::new(view, dims, false)?;
    let any = !reduction.sizes.contains(&0);
    Ok(any && reduction.factor(view) as f64 <= correction)
}

fn check_dtype(view: &View) -> Result<()> {
    if !view.dtype.is_differentiable() {
        bail!(RuntimeError, "std and var only support floating point and complex dtypes");
    }
    Ok(())
}

/// The variance or standard deviation over dimensions, like
/// [`torch.var`](https://pytorch.org/docs/2.7/generated/torch.var.html).
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions, RuntimeError for dtypes that are not floating.
pub fn variance(
    which: SpreadMeasure,
    view: &View,
    dims: Option<&[i64]>,
    correction: f64,
    keepdim: bool,
) -> Result<View> {
    check_dtype(view)?;
    let view = resolved(view)?;
    if view.dtype.is_complex() {
        // The variance of complex numbers is the sum of the variances of their parts.
        let part =
            |imaginary| variance(SpreadMeasure::Variance, &view.complex_part(imaginary), dims, correction, keepdim);
        let (re, im) = (part(false)?, part(true)?);
        let total = binary(BinaryOp::Add, (&re).into(), (&im).into(), Output::InPlace(&re), re.dtype)?;
        return match which {
            SpreadMeasure::Variance => Ok(total),
            SpreadMeasure::StandardDeviation => unary(UnaryOp::Sqrt, &total, Output::InPlace(&total), total.dtype),
        };
    }
    let reduction = Reduction::new(&view, dims, keepdim)?;
    let out = reduction.result(&view, view.dtype)?;
    if view.device().is_meta() {
        return Ok(out);
    }
    if view.numel() == 0 {
        fill(&out, Scalar::Float(f64::NAN))?;
        return Ok(out);
    }
    if view.dtype.is_float8() && out.numel() == 1 {
        bail!(RuntimeError, "std_var_all: Unsupported dtype {}", view.dtype.scalar_type());
    }
    check_kernel("std_cpu", classes::FLOAT, view.dtype)?;
    let finish = |sum: f64, freedom: f64| {
        let variance = sum / freedom.max(0.0);
        if which == SpreadMeasure::Variance { variance } else { variance.sqrt() }
    };
    if out.numel() == 1 && !view.dtype.is_reduced_floating_point() {
        let sum = match view.dtype {
            DType::Float => squared_deviations::<f32>(&view)?,
            _ => squared_deviations::<f64>(&view)?,
        };
        fill_rounded(&out, finish(sum, view.numel() as f64 - correction))?;
        return Ok(out);
    }
    let layout = reduction.spread(&out, &view);
    let count = reduction.factor(&view) as f64;
    match view.dtype {
        DType::Half => {
            reduce_each::<f16, _>(&out, &layout, &view, Welford::default(), |w| finish(w.m2, count - correction))
        }
        DType::BFloat16 => {
            reduce_each::<bf16, _>(&out, &layout, &view, Welford::default(), |w| finish(w.m2, count - correction))
        }
        DType::Float => {
            reduce_each::<f32, _>(&out, &layout, &view, Welford::default(), |w| finish(w.m2, count - correction))
        }
        _ => reduce_each::<f64, _>(&out, &layout, &view, Welford::default(), |w| finish(w.m2, count - correction)),
    }?;
    Ok(out)
}

/// Stores a double in every element, rounded, even if it overflows.
fn fill_rounded(out: &View, value: f64) -> Result<()> {
    let value = if out.dtype == DType::Float { f64::from(value as f32) } else { value };
    fill(out, Scalar::Float(value))
}

/// Returns the sum of squared deviations from the mean, in double.
fn squared_deviations<S: Stored<Compute: Real>>(view: &View) -> Result<f64> {
    let center = mean(view, None, false, None)?.item()?.to_f64();
    let view = aligned::<S>(view)?;
    let memory = view.memory()?;
    let together = Layout { strides: Dims::from_elem(0, view.ndim()), ..view.layout.clone() };
    let mut total = 0.0;
    for_each(&together, &view.layout, &mut |Tile { input, size: [width, height], in_stride, .. }| {
        let part = parallel::reading::<S, _>(&memory, |elements| {
            (0..height as i64).try_fold(0.0, |part, j| {
                let elements = elements.get((input + j * in_stride[1]) as usize..).unwrap_or_default();
                chained(part, width, &Squares { elements, step: in_stride[0] as usize, center })
            })
        });
        total += part.transpose()?.unwrap_or_default();
        Ok(())
    })?;
    Ok(total)
}

/// Squared deviations from `center`; elements are `step` apart.
struct Squares<'m, S> {
    elements: &'m [S],
    step: usize,
    center: f64,
}

impl<S: Stored<Compute: Real>> NonNegativeTerms for Squares<'_, S> {
    type Element = S;

    fn element(&self, index: usize) -> S {
        self.elements.get(index * self.step).copied().unwrap_or_default()
    }

    fn elements<'r>(&'r self, places: Range<usize>, room: &'r mut [S]) -> &'r [S] {
        if self.step == 1 {
            return self.elements.get(places).unwrap_or_default();
        }
        let room = room.get_mut(..places.len()).unwrap_or_default();
        room.iter_mut().zip(places).for_each(|(to, index)| *to = self.element(index));
        room
    }

    #[inline(always)]
    fn number(&self, element: S) -> f64 {
        let distance = element.widen().as_f64() - self.center;
        distance * distance
    }
}

/// The state of a reduction that visits elements one after another.
trait RunningState<T>: Copy + Send + Sync {
    fn visit(self, value: T) -> Self;
}

/// B. P. Welford's running mean and sum of squared deviations.
#[derive(Clone, Copy, Default)]
struct Welford {
    count: f64,
    mean: f64,
    m2: f64,
}

impl<T: Real> RunningState<T> for Welford {
    fn visit(self, value: T) -> Welford {
        let value = value.as_f64();
        let count = self.count + 1.0;
        let delta = value - self.mean;
        let mean = self.mean + delta / count;
        Welford { count, mean, m2: delta.mul_add(value - mean, self.m2) }
    }
}

/// The number of results that one core computes side by side, so that they do not wait for each other.
const LANES: usize = 16;

/// Reduces every result separately, visiting its elements in iteration order.
fn reduce_each<S: Stored<Compute: Real>, A: RunningState<S::Compute>>(
    out: &View,
    layout: &Layout,
    view: &View,
    start: A,
    finish: impl Fn(A) -> f64 + Sync,
) -> Result<()> {
    let view = aligned::<S>(view)?;
    let (reduced, kept): (Vec<Dim>, Vec<Dim>) = dims(layout, &view.layout).into_iter().partition(|d| d.out == 0);
    let length: i64 = reduced.iter().map(|dim| dim.size).product();
    let (run, outer) = match reduced.split_first() {
        Some((run, outer)) => (*run, outer),
        None => (Dim { size: 1, out: 0, input: 0 }, [].as_slice()),
    };
    each_result::<S>(out, layout, &view, &kept, length as usize, &|elements, group| {
        let visits = ReductionInput { elements, run, outer, start };
        let carried = match group.as_array() {
            Some(group) => visits.side_by_side::<LANES>(group)?.to_vec(),
            None => {
                let one = |&place| visits.side_by_side::<1>(&[place]);
                group.iter().map(one).collect::<Result<Vec<_>>>()?.concat()
            }
        };
        Ok(carried.into_iter().map(|carried| S::narrow(Real::from_f64(finish(carried)))).collect())
    })
}

/// Computes a few results, each from the elements of the input that belong to it: the offsets of the result and of its
/// first element.
type Results<'a, S> = &'a (dyn Fn(&[S], &[(i64, i64)]) -> Result<Vec<S>> + Sync);

/// Stores the result of every index of the `kept` dimensions, each of `length` elements, computed on all cores.
fn each_result<S: Stored>(
    out: &View,
    layout: &Layout,
    view: &View,
    kept: &[Dim],
    length: usize,
    compute: Results<S>,
) -> Result<()> {
    let (memory, out_memory) = (view.memory()?, out.memory()?);
    let results = out_memory.typed::<S>();
    let flush = |batch: &mut Vec<(i64, i64)>| -> Result<()> {
        let computed = parallel::reading::<S, _>(&memory, |elements| {
            let groups: Vec<_> = batch.chunks(LANES).collect();
            parallel::collect(groups.len(), batch.len().saturating_mul(length), &|k| {
                compute(elements, groups.get(k).copied().unwrap_or_default())
            })
        });
        for (&(to, _), value) in batch.iter().zip(computed.transpose()?.into_iter().flatten().flatten()) {
            results.get(to as usize).into_iter().for_each(|result| set(result, value));
        }
        batch.clear();
        Ok(())
    };
    let mut batch = Vec::new();
    odometer(kept, layout.offset, view.layout.offset, &mut |to, from| {
        batch.push((to, from));
        if batch.len() == RESULTS { flush(&mut batch) } else { Ok(()) }
    })?;
    flush(&mut batch)
}

/// The elements of each result: along `run`, at every index of `outer`.
struct ReductionInput<'m, S, A> {
    elements: &'m [S],
    run: Dim,
    outer: &'m [Dim],
    start: A,
}

impl<S: Stored, A: RunningState<S::Compute>> ReductionInput<'_, S, A> {
    /// Reduces the elements of several results; the second number of each place is the offset of its first element.
    fn side_by_side<const N: usize>(&self, places: &[(i64, i64); N]) -> Result<[A; N]> {
        let mut carried = [self.start; N];
        odometer(self.outer, 0, 0, &mut |_, displacement| {
            for piece in interrupt::pieces(0..self.run.size as usize, N) {
                let piece = piece?;
                carried = vectorised(|| {
                    let mut carried = carried;
                    for i in piece {
                        let along = displacement + i as i64 * self.run.input;
                        for (carried, (_, from)) in carried.iter_mut().zip(places) {
                            let element = self.elements.get((from + along) as usize).copied().unwrap_or_default();
                            *carried = carried.visit(element.widen());
                        }
                    }
                    carried
                });
            }
            Ok(())
        })?;
        Ok(carried)
    }
}

/// The vector norm of order `p` over dimensions, like
/// [`torch.linalg.vector_norm`](https://pytorch.org/docs/2.7/generated/torch.linalg.vector_norm.html).
///
/// # Errors
/// IndexError and RuntimeError for wrong dimensions, RuntimeError for dtypes that are not floating and for norms that
/// are undefined for an empty dimension.
pub fn norm(view: &View, p: f64, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<View> {
    if !view.dtype.is_differentiable() {
        bail!(
            RuntimeError,
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}",
            view.dtype.scalar_type()
        );
    }
    if let Some(dtype) = dtype.filter(|d| !d.is_differentiable()) {
        bail!(
            RuntimeError,
            "linalg.vector_norm: dtype should be floating point or complex, but got {}",
            dtype.scalar_type()
        );
    }
    if let Some(dtype) = dtype {
        check_norm_dtype(view.dtype, dtype)?;
    }
    let reduction = Reduction::new(view, dims, keepdim)?;
    check_identity(view, p, dims, &reduction)?;
    let computed = dtype.unwrap_or(view.dtype);
    let out = reduction.result(view, computed.to_real())?;
    if view.device().is_meta() {
        return Ok(out);
    }
    if view.numel() == 0 {
        fill(&out, Scalar::Float(if p < 0.0 { f64::INFINITY } else { 0.0 }))?;
        return Ok(out);
    }
    let view = resolved(view)?;
    let view = if view.dtype == computed { view } else { cast(&view, computed)? };
    if reduction.factor(&view) == 1 && (dims.is_none() || view.ndim() > 0) && p != 0.0 {
        // The norm of a single number is its magnitude, for any order.
        let magnitude = unary(UnaryOp::Abs, &view, Output::New, DType::Float)?;
        copy_into(&out.with_layout(Layout::contiguous(view.sizes())), &magnitude)?;
        return Ok(out);
    }
    check_kernel("norm_cpu", classes::FLOAT | classes::COMPLEX | classes::COMPLEX_HALF, computed)?;
    // Norms are computed from magnitudes; those of complex numbers are computed first.
    let view = if view.dtype.is_complex() { unary(UnaryOp::Abs, &view, Output::New, DType::Float)? } else { view };
    let layout = reduction.spread(&out, &view);
    match view.dtype {
        DType::Half => norm_of::<f16, 8>(&out, &layout, &view, p)?,
        DType::BFloat16 => norm_of::<bf16, 8>(&out, &layout, &view, p)?,
        DType::Float => norm_of::<f32, 8>(&out, &layout, &view, p)?,
        _ => norm_of::<f64, 4>(&out, &layout, &view, p)?,
    }
    Ok(out)
}

fn check_norm_dtype(input: DType, asked: DType) -> Result<()> {
    let (kind, wanted) = if input.is_complex() { ("complex", true) } else { ("real", false) };
    if asked.is_complex() != wanted {
        bail!(
            RuntimeError,
            "linalg.vector_norm: dtype should be {kind} for {kind} inputs, but got {}",
            asked.scalar_type()
        );
    }
    if promote_types(input, asked)? != asked {
        bail!(
            RuntimeError,
            "linalg.vector_norm: the dtype of the input ({}) should be convertible without narrowing to the specified \
             dtype ({})",
            input.scalar_type(),
            asked.scalar_type()
        );
    }
    Ok(())
}

/// Refuses norms of empty dimensions if there is no neutral value.
fn check_identity(view: &View, p: f64, dims: Option<&[i64]>, reduction: &Reduction) -> Result<()> {
    if view.numel() != 0 || p >= 0.0 && p != f64::INFINITY {
        return Ok(());
    }
    if dims.is_none_or(<[i64]>::is_empty) {
        bail!(
            RuntimeError,
            "linalg.vector_norm cannot compute the {p} norm on an empty tensor because the operation does not have an \
             identity"
        );
    }
    for (d, (&size, &gone)) in view.sizes().iter().zip(&reduction.reduced).enumerate() {
        if gone && size == 0 {
            bail!(
                RuntimeError,
                "linalg.vector_norm cannot compute the {p} norm on the dimension {d}because this dimension is empty and \
                 the operation does not have an identity"
            );
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Power<T> {
    order: f64,
    total: T,
}

impl<T: Real> RunningState<T> for Power<T> {
    fn visit(self, value: T) -> Power<T> {
        let value = value.abs();
        let total = match self.order {
            0.0 => self.total + if value == T::zero() { T::zero() } else { T::one() },
            1.0 => self.total + value,
            2.0 => value.fused(value, self.total),
            f64::INFINITY => super::fold::larger(self.total, value),
            f64::NEG_INFINITY => super::fold::smaller(self.total, value),
            order => self.total + T::from_f64(value.as_f64().powf(T::from_f64(order).as_f64())),
        };
        Power { total, ..self }
    }
}

fn norm_of<S: Stored<Compute: Real>, const V: usize>(out: &View, layout: &Layout, view: &View, p: f64) -> Result<()> {
    let merged = dims(layout, &view.layout);
    if let ([first, kept @ ..], 2.0) = (merged.as_slice(), p)
        && first.out == 0
        && first.input == 1
        && kept.iter().all(|d| d.out != 0)
        && view.dtype != DType::Half
    {
        return euclidean::<S, V>(out, layout, view, first.size as usize, kept);
    }
    let start = match p {
        f64::NEG_INFINITY => <S::Compute as Number>::from_scalar(Scalar::Float(f64::INFINITY)),
        _ => S::Compute::default(),
    };
    reduce_each::<S, _>(out, layout, view, Power { order: p, total: start }, |power| {
        let total = power.total;
        match p {
            2.0 => total.sqrt().as_f64(),
            0.0 | 1.0 => total.as_f64(),
            p if p.is_infinite() => total.as_f64(),
            p => {
                let inverse = <S::Compute as Real>::from_f64(1.0).as_f64() / p;
                total.as_f64().powf(<S::Compute as Real>::from_f64(inverse).as_f64())
            }
        }
    })
}

/// The Euclidean norm along contiguous runs: sums squares in `V` lanes, then adds the lanes and the remaining elements.
fn euclidean<S: Stored<Compute: Real>, const V: usize>(
    out: &View,
    layout: &Layout,
    view: &View,
    length: usize,
    kept: &[Dim],
) -> Result<()> {
    // A vector holds twice as many 16-bit floats; its two halves are added to the lanes one after the other.
    let width = 32 / size_of::<S>();
    let norm = |run: &[S]| -> Result<S> {
        let (whole, rest) = run.split_at(run.len() - run.len() % width);
        let vectors = whole.as_chunks::<V>().0;
        let mut lanes = [S::Compute::default(); V];
        for piece in interrupt::pieces(0..vectors.len(), V) {
            let vectors = vectors.get(piece?).unwrap_or_default();
            lanes = vectorised(|| {
                let mut lanes = lanes;
                for vector in vectors {
                    for (lane, element) in lanes.iter_mut().zip(vector) {
                        let value = element.widen();
                        *lane = value.fused(value, *lane);
                    }
                }
                lanes
            });
        }
        let joined = lanes.into_iter().reduce(|a, b| a + b).unwrap_or_default();
        let rest = rest.iter().map(|element| element.widen());
        Ok(S::narrow(rest.fold(joined, |total, value| value.fused(value, total)).sqrt()))
    };
    let view = aligned::<S>(view)?;
    each_result::<S>(out, layout, &view, kept, length, &|elements, group| {
        let run = |from: i64| elements.get(from as usize..from as usize + length).unwrap_or_default();
        group.iter().map(|&(_, from)| norm(run(from))).collect()
    })
}
