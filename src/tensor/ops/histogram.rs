//! Counts and searches: `histc`, `histogram`, `bincount`, `searchsorted`, `bucketize`, `isin`.

mod even;

pub use even::histc;

use super::block::{self, values};
use super::check::{lost, readable, resolved};
use super::copy::{cast, contiguous, fill};
use super::create::linspace;
use super::gather::{APART, gather};
use super::number::Stored;
use super::pointwise::{check_kernel, classes};
use super::reduce::{Extremum, extremum_all};
use super::view::reshape;
use crate::bail;
use crate::layout::show;
use crate::memory::{Plain, get, set};
use crate::parallel::{self, Kernel, vectorised_kernel};
use crate::thresholds::PIECE;
use crate::{DType, Result, Scalar, View, interrupt, limits};
use half::{bf16, f16};
use num_traits::AsPrimitive;

/// Runs the body with `$T` naming the type of a dtype of the list.
macro_rules! by_type {
    ($dtype:expr, $T:ident => $body:expr; $($variant:ident $type:ty),*) => {
        match $dtype {
            $(DType::$variant => {
                type $T = $type;
                $body
            })*
            other => bail!(RuntimeError, "elements of {} are no numbers", other.scalar_type()),
        }
    };
}

macro_rules! by_integer {
    ($dtype:expr, $T:ident => $body:expr) => {
        by_type!($dtype, $T => $body; Byte u8, Char i8, Short i16, Int i32, Long i64)
    };
}

macro_rules! by_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        by_type!($dtype, $T => $body; Byte u8, Char i8, Short i16, Int i32, Long i64, Half f16, BFloat16 bf16, Float f32,
            Double f64)
    };
}

/// Returns the smallest and the largest number; both are NaN if one of the numbers is.
fn extremes(values: &[f64]) -> (f64, f64) {
    if values.iter().any(|v| v.is_nan()) {
        return (f64::NAN, f64::NAN);
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    (low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// Returns the range of the bins of `histogramdd` along a dimension: as given, or that of the coordinates.
fn outer_edges(values: &[f64], given: Option<(f64, f64)>, dim: usize) -> Result<(f64, f64)> {
    let (low, high) = match given {
        Some(range) => range,
        None if values.is_empty() => (0.0, 1.0),
        None => extremes(values),
    };
    let shown = |end: f64| if end.is_nan() { "nan".to_owned() } else { end.to_string() };
    if !low.is_finite() || !high.is_finite() {
        let (low, high) = (shown(low), shown(high));
        bail!(RuntimeError, "torch.histogramdd: dimension {dim}'s range [{low}, {high}] is not finite");
    }
    if low > high {
        bail!(
            RuntimeError,
            "torch.histogramdd: min should not exceed max, but got min {low} max {high} for dimension {dim}"
        );
    }
    Ok(if low == high { (low - 0.5, high + 0.5) } else { (low, high) })
}

fn check_bins(bins: i64, dim: usize) -> Result<()> {
    if bins <= 0 {
        bail!(RuntimeError, "torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}");
    }
    Ok(())
}

fn doubles(view: &View) -> Result<Vec<f64>> {
    values::<f64>(&contiguous(&cast(view, DType::Double)?)?)
}

/// The bins of a histogram: their number, or their edges.
pub enum Bins<'v> {
    Count(i64),
    Edges(&'v View),
}

/// Computes the (weighted) number of elements in each bin, or the density, and returns it with the bins' edges.
///
/// # Errors
/// Those of [`histogramdd`] for points with one coordinate.
pub fn histogram(
    view: &View,
    bins: Bins,
    range: Option<&[f64]>,
    weight: Option<&View>,
    density: bool,
) -> Result<(View, View)> {
    if let Bins::Count(bins) = bins {
        check_bins(bins, 0)?;
    }
    let points = reshape(view, &[view.numel(), 1])?;
    let weight = weight.map(|weight| reshape(weight, &[weight.numel()])).transpose()?;
    let (hist, edges) = histogramdd(&points, vec![bins], range, weight.as_ref(), density)?;
    match edges.into_iter().next() {
        Some(edges) => Ok((hist, edges)),
        None => bail!(RuntimeError, "a histogram has edges"),
    }
}

/// Checks the tensor of edges along a dimension.
fn check_edges(view: &View, edges: &View, dim: usize) -> Result<()> {
    if edges.dtype != view.dtype {
        bail!(
            RuntimeError,
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype {} \
             and bins for dimension {dim} with dtype {}",
            view.dtype.cpp_name(),
            edges.dtype.cpp_name()
        );
    }
    if edges.ndim() != 1 {
        bail!(
            RuntimeError,
            "torch.histogramdd: bins tensor should have one dimension, but got {} dimensions in the bins tensor for \
             dimension {dim}",
            edges.ndim()
        );
    }
    if edges.numel() == 0 {
        bail!(
            RuntimeError,
            "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for \
             dimension {dim}"
        );
    }
    Ok(())
}

/// Returns the bin of a value; the last bin includes its upper edge. Searches like C++'s `std::upper_bound`, which
/// shows if the edges do not ascend.
fn bin(edges: &[f64], value: f64) -> Option<usize> {
    let (&lowest, &highest) = (edges.first()?, edges.last()?);
    if !(lowest..=highest).contains(&value) {
        return None;
    }
    let (mut start, mut length) = (0, edges.len());
    while length > 0 {
        let half = length / 2;
        if value < *edges.get(start + half)? {
            length = half;
        } else {
            start += half + 1;
            length -= half + 1;
        }
    }
    start.min(edges.len() - 1).checked_sub(1)
}

/// Computes the (weighted) number of points in each box of a grid, or the density, and returns it with the grid's
/// edges. The innermost dimension holds the coordinates of a point; `ranges` has two numbers for each coordinate.
///
/// # Errors
/// Those of [`histogram`], and RuntimeError unless there is one entry of bins and one range for each coordinate.
pub fn histogramdd(
    view: &View,
    bins: Vec<Bins>,
    ranges: Option<&[f64]>,
    weight: Option<&View>,
    density: bool,
) -> Result<(View, Vec<View>)> {
    let Some((&dims, outer)) = view.sizes().split_last().filter(|_| view.ndim() > 1) else {
        bail!(RuntimeError, "torch.histogramdd: input tensor should have at least 2 dimensions")
    };
    let dims = dims as usize;
    if bins.len() != dims {
        if bins.iter().any(|bins| matches!(bins, Bins::Edges(_))) {
            bail!(
                RuntimeError,
                "torch.histogramdd: expected {dims} sequences of bin edges for a {dims}-dimensional histogram but got {}",
                bins.len()
            );
        }
        bail!(RuntimeError, "histogramdd: The size of bins must be equal to the innermost dimension of the input.");
    }
    if let Some(ranges) = ranges.filter(|ranges| ranges.len() != 2 * dims) {
        bail!(
            RuntimeError,
            "torch.histogramdd: for a {dims}-dimensional histogram range should have {} elements, but got {}",
            2 * dims,
            ranges.len()
        );
    }
    let values = doubles(view)?;
    let count = outer.iter().product::<i64>() as usize;
    let mut grid = Vec::new();
    for (d, bins) in bins.iter().enumerate() {
        grid.push(match bins {
            Bins::Count(bins) => {
                if ranges.is_none() && count > 0 {
                    check_kernel("histogramdd", classes::WIDE_FLOAT, view.dtype)?;
                }
                let own: Vec<f64> = values.iter().skip(d).step_by(dims.max(1)).copied().collect();
                let range = ranges.and_then(|ranges| Some((*ranges.get(2 * d)?, *ranges.get(2 * d + 1)?)));
                let (low, high) = outer_edges(&own, range, d)?;
                let steps = bins.saturating_add(1).max(1);
                linspace(Scalar::Float(low), Scalar::Float(high), steps, Some(view.dtype), view.dtype, view.device())?
            }
            Bins::Edges(edges) => {
                check_edges(view, edges, d)?;
                super::copy::clone(edges)?
            }
        });
    }
    let check_counts = |edges: bool| {
        let counts =
            bins.iter().zip(&grid).enumerate().filter(|(_, (bins, _))| matches!(bins, Bins::Edges(_)) == edges);
        counts.into_iter().try_for_each(|(d, (bins, grid))| match bins {
            Bins::Count(bins) => check_bins(*bins, d),
            Bins::Edges(_) => check_bins(grid.numel() - 1, d),
        })
    };
    // PyTorch checks a number of bins before the weights, but a number that follows from edges after them.
    check_counts(false)?;
    let weights = match weight {
        Some(weight) => {
            check_weight(view, weight, outer)?;
            doubles(weight)?
        }
        None => limits::filled(1.0, count)?,
    };
    check_counts(true)?;
    check_kernel("histogramdd", classes::WIDE_FLOAT, view.dtype)?;
    let places = grid.iter().map(doubles).collect::<Result<Vec<_>>>()?;
    let sizes: Vec<i64> = places.iter().map(|edges| edges.len().saturating_sub(1) as i64).collect();
    let boxes = View::zeros(&sizes, view.dtype, view.device())?.numel();
    let mut totals = limits::filled(0.0, boxes as usize)?;
    for (i, (point, &weight)) in values.chunks_exact(dims.max(1)).zip(&weights).enumerate() {
        interrupt::check_at(i)?;
        let place =
            point.iter().zip(&places).zip(&sizes).try_fold(0, |place, ((&value, edges), &size)| {
                bin(edges, value).map(|bin| place * size as usize + bin)
            });
        if let Some(total) = place.and_then(|place| totals.get_mut(place)) {
            *total += weight;
        }
    }
    if density {
        let total: f64 = totals.iter().sum();
        for (i, amount) in totals.iter_mut().enumerate() {
            interrupt::check_at(i)?;
            let (mut rest, mut volume) = (i, 1.0);
            for (edges, &size) in places.iter().zip(&sizes).rev() {
                let bin = rest % size.max(1) as usize;
                volume *= edges.get(bin + 1).zip(edges.get(bin)).map_or(1.0, |(high, low)| high - low);
                rest /= size.max(1) as usize;
            }
            *amount /= total * volume;
        }
    }
    let hist = View::from_scalars(&sizes, view.dtype, totals.into_iter().map(Scalar::Float))?;
    Ok((hist, grid))
}

/// Refuses weights unless there is one for each point.
fn check_weight(view: &View, weight: &View, sizes: &[i64]) -> Result<()> {
    if weight.dtype != view.dtype {
        bail!(
            RuntimeError,
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, \
             but got input({}), and weight({})",
            view.dtype.cpp_name(),
            weight.dtype.cpp_name()
        );
    }
    if weight.sizes() != sizes {
        bail!(
            RuntimeError,
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding \
             its innermost dimension, but got input with shape {} and weight with shape {}",
            show(view.sizes()),
            show(weight.sizes())
        );
    }
    Ok(())
}

/// Counts the occurrences of each number from 0 on, or sums the weights at its positions.
///
/// # Errors
/// RuntimeError unless the tensor is a vector of non-negative integers and the weights have its length.
pub fn bincount(view: &View, weights: Option<&View>, minlength: i64) -> Result<View> {
    if minlength < 0 {
        bail!(RuntimeError, "minlength should be >= 0");
    }
    check_kernel("bincount_cpu", classes::INT, view.dtype)?;
    let refuse = || crate::Error::runtime("bincount only supports 1-d non-negative integral inputs.");
    if view.ndim() == 1 && view.numel() == 0 {
        return View::zeros(&[minlength], DType::Long, view.device());
    }
    if view.ndim() != 1 || extremum_all(Extremum::Min, view)?.item()?.to_i64() < 0 {
        return Err(refuse());
    }
    if weights.is_some_and(|w| w.sizes() != view.sizes()) {
        bail!(RuntimeError, "weights should be 1-d and have the same length as input");
    }
    let most = extremum_all(Extremum::Max, view)?.item()?.to_i64();
    let Some(length) = most.checked_add(1) else {
        bail!(RuntimeError, "maximum value of input overflowed, it should be < {most} but got {most}");
    };
    let length = length.max(minlength);
    let dtype = match weights.map(|w| w.dtype) {
        None => DType::Long,
        Some(DType::Float) => DType::Float,
        Some(_) => DType::Double,
    };
    // Allocated first, so that a huge length fails with an error instead of aborting the process.
    let totals = View::unwritten(&[length], dtype, view.device())?;
    fill(&totals, Scalar::Int(0))?;
    let numbers = readable(&contiguous(view)?)?;
    match weights {
        None => by_integer!(view.dtype, T => count_integers::<T>(&totals, &numbers))?,
        Some(weights) => {
            let weights = contiguous(&if dtype == DType::Float { weights.clone() } else { cast(weights, dtype)? })?;
            by_integer!(view.dtype, T => match dtype {
                DType::Float => add_weights::<T, f32>(&totals, &numbers, &weights),
                _ => add_weights::<T, f64>(&totals, &numbers, &weights),
            })?;
        }
    }
    Ok(totals)
}

/// Returns the elements of a contiguous view of a memory's elements.
fn elements_of<'m, T>(view: &View, elements: &'m [T]) -> &'m [T] {
    let start = view.layout.offset as usize;
    elements.get(start..start + view.numel() as usize).unwrap_or_default()
}

/// Counts non-negative integers. Cores count parts of them in tables of their own, unless the tables are long.
fn count_integers<T: Plain + AsPrimitive<usize>>(totals: &View, numbers: &View) -> Result<()> {
    let (length, first, size) = (totals.numel() as usize, numbers.layout.offset as usize, numbers.numel() as usize);
    let tables = parallel::cores().min(size / length.saturating_mul(4).max(4 * PIECE));
    let count = |numbers: &[T], table: &mut [i64]| {
        for part in numbers.chunks(APART) {
            interrupt::check()?;
            for number in part {
                *table.get_mut(number.as_()).ok_or_else(lost)? += 1;
            }
        }
        Ok(())
    };
    let done = parallel::between::<T, i64, _>(&*numbers.memory()?, &*totals.memory()?, 0..length, |from, totals| {
        let numbers = from.get(first..first + size).ok_or_else(lost)?;
        if tables < 2 {
            return count(numbers, totals);
        }
        let tables = parallel::collect(tables, size, &|k| {
            let mut table = limits::filled(0, length)?;
            count(&numbers[size * k / tables..size * (k + 1) / tables], &mut table)?;
            Ok(table)
        })?;
        for table in tables {
            totals.iter_mut().zip(table).for_each(|(total, count)| *total += count);
        }
        Ok(())
    });
    done.ok_or_else(lost)?
}

/// Adds the weight of each non-negative integer to its total, in order.
fn add_weights<T: Plain + AsPrimitive<usize>, W: Plain + std::ops::Add<Output = W>>(
    totals: &View,
    numbers: &View,
    weights: &View,
) -> Result<()> {
    let (to, numbers_memory, weights_memory) = (totals.memory()?, numbers.memory()?, weights.memory()?);
    let to = to.typed::<W>();
    let numbers = elements_of(numbers, numbers_memory.typed::<T>());
    let weights = elements_of(weights, weights_memory.typed::<W>());
    for (i, (number, weight)) in numbers.iter().zip(weights).enumerate() {
        if i % APART == 0 {
            interrupt::check()?;
        }
        let total = to.get(get(number).as_()).ok_or_else(lost)?;
        set(total, get(total) + get(weight));
    }
    Ok(())
}

/// Options for looking up values among sorted ones.
pub struct Search<'v> {
    /// Whether to return the position after equal elements.
    pub right: bool,
    pub int32: bool,
    /// The permutation that sorts the boundaries.
    pub sorter: Option<&'v View>,
}

/// Finds the insertion positions of values in sorted boundaries: one vector for all values, or one for each line of
/// values.
///
/// # Errors
/// RuntimeError for shapes that do not match.
pub fn searchsorted(boundaries: &View, values: &View, number: bool, search: &Search) -> Result<View> {
    if let Some(sorter) = search.sorter {
        if sorter.sizes() != boundaries.sizes() {
            bail!(
                RuntimeError,
                "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {}and got \
                 sorter tensor {}",
                show(boundaries.sizes()),
                show(sorter.sizes())
            );
        }
        if sorter.dtype != DType::Long {
            bail!(
                RuntimeError,
                "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {}",
                sorter.dtype.scalar_type()
            );
        }
        let length = boundaries.sizes().last().copied().unwrap_or(0);
        if !sorter.device().is_meta() && sorter.scalars()?.iter().any(|i| !(0..length).contains(&i.to_i64())) {
            bail!(RuntimeError, "torch.searchsorted(): sorter index out of range");
        }
    }
    if number && boundaries.ndim() != 1 {
        bail!(
            RuntimeError,
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got \
             boundaries tensor dim({}) and input value's dim(0) numel(1)",
            boundaries.ndim()
        );
    }
    if boundaries.ndim() == 0 {
        bail!(
            RuntimeError,
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        );
    }
    let outer = |view: &View| view.sizes().split_last().map(|(_, outer)| outer.to_vec());
    if boundaries.ndim() != 1 && (boundaries.ndim() != values.ndim() || outer(boundaries) != outer(values)) {
        bail!(
            RuntimeError,
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries \
             tensor and input value tensor must match, but we got boundaries tensor {} and input value tensor {}",
            show(boundaries.sizes()),
            show(values.sizes())
        );
    }
    let dtype = if search.int32 { DType::Int } else { DType::Long };
    if values.device().is_meta() {
        return View::zeros(values.sizes(), dtype, values.device());
    }
    if values.numel() > 0 {
        check_kernel("searchsorted_out_cpu", classes::NUMBERS, boundaries.dtype)?;
    }
    let out = View::unwritten(values.sizes(), dtype, values.device())?;
    if out.numel() == 0 {
        return Ok(out);
    }
    let sorted;
    let boundaries = match search.sorter {
        Some(sorter) => {
            sorted = gather(boundaries, -1, sorter)?;
            &sorted
        }
        None => boundaries,
    };
    // A number may have another dtype.
    let common = match boundaries.dtype == values.dtype {
        true => values.dtype,
        false if boundaries.dtype.is_floating_point() || values.dtype.is_floating_point() => DType::Double,
        false => DType::Long,
    };
    let plain = |view: &View| -> Result<View> {
        let view = if view.dtype == common { view.clone() } else { cast(view, common)? };
        readable(&contiguous(&resolved(&view)?)?)
    };
    let (boundaries, values) = (plain(boundaries)?, plain(values)?);
    by_number!(common, T => match search.int32 {
        true => search_all::<T, i32>(&boundaries, &values, &out, search.right),
        false => search_all::<T, i64>(&boundaries, &values, &out, search.right),
    })?;
    Ok(out)
}

/// Searches every value among its boundaries. All views are contiguous.
fn search_all<S: Stored<Compute: PartialOrd>, R: Plain>(
    boundaries: &View,
    values: &View,
    out: &View,
    right: bool,
) -> Result<()>
where
    usize: AsPrimitive<R>,
{
    let length = boundaries.sizes().last().copied().unwrap_or(0) as usize;
    let numbers = block::values::<S>(boundaries)?;
    // One vector of boundaries for all values, or one for each line of them.
    let per_line = match boundaries.ndim() {
        1 => values.numel(),
        _ => values.sizes().last().copied().unwrap_or(1),
    };
    let per_line = (per_line as usize).max(1);
    let (first, size) = (values.layout.offset as usize, values.numel() as usize);
    let steps = (usize::BITS - length.leading_zeros()) as usize;
    let done = parallel::between::<S, R, _>(&*values.memory()?, &*out.memory()?, 0..size, |values, out| {
        let values = values.get(first..first + size).ok_or_else(lost)?;
        parallel::parts_of(out, PIECE / 4, size.saturating_mul(steps.max(1)), &|start, out| {
            let mut done = 0;
            while done < out.len() {
                let at = start + done;
                let count = (per_line - at % per_line).min(out.len() - done);
                let line = at / per_line * length;
                let line = numbers.get(line..line + length).ok_or_else(lost)?;
                let search =
                    Searches { line, values: &values[at..at + count], out: &mut out[done..done + count], steps };
                match right {
                    true => vectorised_kernel(search.following(|boundary, value| boundary > value)),
                    false => vectorised_kernel(search.following(|boundary, value| boundary >= value)),
                }
                done += count;
            }
            Ok(())
        })
    });
    done.ok_or_else(lost)?
}

/// Binary searches among the same boundaries.
struct Searches<'a, S: Stored, R> {
    line: &'a [S::Compute],
    values: &'a [S],
    out: &'a mut [R],
    /// The number of halvings of the longest search.
    steps: usize,
}

/// [`Searches`] for the first boundary that `follows` a value.
struct FollowingSearches<'a, S: Stored, R, F> {
    searches: Searches<'a, S, R>,
    follows: F,
}

impl<'a, S: Stored, R> Searches<'a, S, R> {
    fn following<F>(self, follows: F) -> FollowingSearches<'a, S, R, F> {
        FollowingSearches { searches: self, follows }
    }
}

impl<S: Stored, R: Copy + 'static, F: Fn(S::Compute, S::Compute) -> bool> Kernel for FollowingSearches<'_, S, R, F>
where
    usize: AsPrimitive<R>,
{
    type Output = ();
    /// Searches for some values side by side without branches, which no processor could predict. The steps are those of
    /// C++'s `std::lower_bound`, which shows if the boundaries do not ascend.
    #[inline(always)]
    fn run(self, _fuses: bool) {
        const LANES: usize = 16;
        let Searches { line, values, out, steps } = self.searches;
        let Some(last) = line.len().checked_sub(1) else { return out.fill(0.as_()) };
        for (values, out) in values.chunks(LANES).zip(out.chunks_mut(LANES)) {
            let mut wanted = [S::Compute::default(); LANES];
            wanted.iter_mut().zip(values).for_each(|(wanted, value)| *wanted = value.widen());
            let (mut low, mut high) = ([0usize; LANES], [line.len(); LANES]);
            for _ in 0..steps {
                for k in 0..LANES {
                    let middle = low[k].wrapping_add(high[k].wrapping_sub(low[k]) / 2);
                    let follows = (self.follows)(line[middle.min(last)], wanted[k]);
                    let open = low[k] < high[k];
                    low[k] = if open & !follows { middle.wrapping_add(1) } else { low[k] };
                    high[k] = if open & follows { middle } else { high[k] };
                }
            }
            out.iter_mut().zip(low).for_each(|(out, low)| *out = low.as_());
        }
    }
}

/// Computes which elements occur among the test elements.
///
/// # Errors
/// RuntimeError for complex and boolean tensors.
pub fn isin(elements: &View, tests: &View, invert: bool) -> Result<View> {
    for view in [elements, tests] {
        if view.dtype.is_complex() || view.dtype == DType::Bool {
            bail!(RuntimeError, "Unsupported input type encountered for isin(): {}", view.dtype.scalar_type());
        }
    }
    let floating = elements.dtype.is_floating_point() || tests.dtype.is_floating_point();
    let key = |value: Scalar| match floating {
        // Zero has two bit patterns; NaN equals nothing.
        true => Some((value.to_f64() + 0.0).to_bits()).filter(|_| !value.to_f64().is_nan()),
        false => Some(value.to_i64() as u64),
    };
    let known: std::collections::HashSet<u64> = interrupt::watched(tests.scalars()?).filter_map(key).collect();
    let found = interrupt::watched(elements.scalars()?).map(|value| {
        let found = key(value).is_some_and(|key| known.contains(&key));
        Scalar::Bool(found != invert)
    });
    let found: Vec<Scalar> = found.collect();
    View::from_scalars(elements.sizes(), DType::Bool, found)
}

#[cfg(test)]
mod tests;
