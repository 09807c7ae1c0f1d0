//! `sort`, `argsort`, `topk` and `unique`. Follows <https://pytorch.org/docs/2.7/generated/torch.sort.html>. NaN is
//! greater than every number.

mod consecutive;
mod keys;
mod radix;

pub use consecutive::unique_consecutive;
pub(super) use keys::{SortKey, rank_of_nan};

use super::check::{
    UnsupportedDtypes, at_least_1d, by_width, look_up, lost, move_slice, not_implemented, readable, resolved, size_at,
    size_or_one, supported,
};
use super::copy::{clone, contiguous};
use super::introsort::{self, nth_element, partial_sort};
use super::view::movedim;
use crate::bail;
use crate::layout::{Dims, wrap_dim};
use crate::memory::{get, set};
use crate::thresholds::{BATCH, BLOCK, DISTINCT, PIECE};
use crate::{DType, Device, Layout, Result, Scalar, View, interrupt, limits, parallel};
use keys::{PackedKey, Ranked, ReadRanks, rank_of, reading};

/// Splits a tensor into lines along a dimension: returns the layout of their starts, and the size and stride of each
/// line.
pub(super) fn line_starts(layout: &Layout, dim: usize) -> (Layout, i64, i64) {
    let mut starts = layout.clone();
    if layout.ndim() == 0 {
        return (starts, 1, 1);
    }
    let (size, stride) = (starts.sizes[dim], starts.strides[dim]);
    starts.sizes[dim] = i64::from(size > 0);
    (starts, size, stride)
}

/// `sort(dim, descending, stable)`: returns the sorted values and their original indices.
///
/// # Errors
/// IndexError for a dimension out of range; ValueError or RuntimeError for dtypes without an order.
pub fn sort(view: &View, dim: i64, descending: bool, stable: bool) -> Result<(View, View)> {
    let d = wrap_dim(dim, view.ndim())?;
    if matches!(view.dtype, DType::ComplexFloat | DType::ComplexDouble) && !view.device().is_meta() {
        bail!(ValueError, "Sort currently does not support complex dtypes on CPU.");
    }
    // A copy of bools holds 0 or 1, which is what is compared.
    let view = if view.dtype == DType::Bool { clone(view)? } else { resolved(view)? };
    let strides = view.layout.like_strides();
    let values = View::unwritten_strided(view.sizes(), strides.clone(), view.dtype, view.device())?;
    let places = View::unwritten_strided(view.sizes(), strides, DType::Long, view.device())?;
    if view.device().is_meta() {
        return Ok((values, places));
    }
    // A dimension with stride 0 is already sorted, and PyTorch does not check the dtype either.
    let repeats = view.strides().get(d) == Some(&0);
    if view.ndim() > 0 && !repeats && (view.dtype.is_float8() || view.dtype.is_complex()) {
        return not_implemented("sorting_kernel_method_name", view.dtype);
    }
    if view.numel() == 0 {
        return Ok((values, places));
    }
    // PyTorch sorts long vectors of integers in ascending order by radix sort, which is stable.
    let by_digits =
        view.ndim() == 1 && view.numel() >= 32768 && !repeats && !descending && view.dtype.is_integral(false);
    if by_digits {
        supported("parallel_sort1d_kernel", view.dtype, UnsupportedDtypes::BareUnsigned)?;
    }
    let order = match (repeats, stable || by_digits) {
        (true, _) => LineOrder::Unsorted,
        (_, true) => LineOrder::Stable,
        (_, false) => LineOrder::Sorted,
    };
    arrange(&view, d, &values, &places, descending, &order)?;
    Ok((values, places))
}

/// Puts the wanted items of a line first.
pub(super) trait Arrange: Sync {
    fn arrange<I: SortKey>(&self, items: &mut [I]) -> Result<()>;
}

/// How a line is rearranged.
#[derive(Clone, Copy)]
enum LineOrder {
    Unsorted,
    Sorted,
    /// Equal elements keep their order.
    Stable,
    /// The `count` smallest elements come first, sorted or in any order.
    Least {
        count: usize,
        sorted: bool,
    },
}

impl Arrange for LineOrder {
    fn arrange<I: SortKey>(&self, items: &mut [I]) -> Result<()> {
        let less = |a: &I, b: &I| a.rank() < b.rank();
        match *self {
            LineOrder::Unsorted => Ok(()),
            LineOrder::Sorted if items.len() <= DISTINCT && radix::sort_distinct(items)? => Ok(()),
            LineOrder::Sorted => introsort::sort_shared(items, &less),
            LineOrder::Stable => radix::sort(items),
            LineOrder::Least { count, sorted } => {
                let Some(last) = count.checked_sub(1) else { return Ok(()) };
                if count * 64 <= items.len() {
                    return partial_sort(items, count, &less);
                }
                nth_element(items, last, &less)?;
                if sorted { introsort::sort(&mut items[..last], &less) } else { Ok(()) }
            }
        }
    }
}

/// Ranks each line of `view` along `dim`, rearranges it, and writes as many elements as `values` holds.
pub(super) fn arrange(
    view: &View,
    dim: usize,
    values: &View,
    places: &View,
    reversed: bool,
    order: &impl Arrange,
) -> Result<()> {
    let size = view.sizes().get(dim).copied().unwrap_or(1);
    if PackedKey::fits(view.dtype, size) {
        place_all::<PackedKey>(view, dim, places, reversed, order)?;
    } else {
        place_all::<Ranked>(view, dim, places, reversed, order)?;
    }
    // The indices alone determine the position along `dim`, so the source has stride 0 there.
    let to = at_least_1d(&values.layout);
    let mut lines = Layout { sizes: to.sizes.clone(), ..at_least_1d(&view.layout) };
    let stride = std::mem::take(&mut lines.strides[dim]);
    let index = places.with_layout(at_least_1d(&places.layout));
    look_up(values, &to, view, &lines, &index, &|place| Ok(place * stride))
}

/// Writes the indices of each line's first elements in order, as many as `places` holds. A long line, or many lines,
/// are distributed over cores.
fn place_all<I: SortKey>(view: &View, dim: usize, places: &View, reversed: bool, order: &impl Arrange) -> Result<()> {
    let view = &readable(view)?;
    let memory = places.memory()?;
    let to = memory.typed::<i64>();
    let (starts, size, stride) = line_starts(&view.layout, dim);
    let (place_starts, kept, place_stride) = line_starts(&places.layout, dim);
    let (size, kept) = (size as usize, kept as usize);
    // The smallest items of some lines, one line after another.
    let least_of = |lines: &[(i64, i64)], read: &ReadRanks| -> Result<Vec<I>> {
        let mut items = limits::vector(lines.len() * kept + size)?;
        for &(start, _) in lines {
            let first = items.len();
            push_line(&mut items, read, start, size, stride, reversed)?;
            order.arrange(&mut items[first..])?;
            items.truncate(first + kept);
        }
        Ok(items)
    };
    let flush = |batch: &[(i64, i64)]| -> Result<()> {
        let parts: Vec<_> = batch.chunks((PIECE / size.max(1)).max(1)).collect();
        let work = batch.len().saturating_mul(size);
        let mut arranged = Vec::new();
        reading(view, &mut |read| {
            let part = |k: usize| least_of(parts.get(k).copied().unwrap_or_default(), read);
            arranged = parallel::collect(parts.len(), work, &part)?;
            Ok(())
        })?;
        let mut items = arranged.iter().flatten();
        for &(_, start) in batch {
            for (i, item) in items.by_ref().take(kept).enumerate() {
                interrupt::check_at(i)?;
                set(to.get((start + i as i64 * place_stride) as usize).ok_or_else(lost)?, item.place());
            }
        }
        Ok(())
    };
    let together = (BATCH / size.max(1)).max(1);
    let mut batch = Vec::new();
    for both in starts.offsets().zip(place_starts.offsets()) {
        limits::push(&mut batch, both)?;
        if batch.len() == together {
            flush(&batch)?;
            batch.clear();
        }
    }
    flush(&batch)
}

/// Adds the items of a line of `size` elements `stride` apart, for which there is room.
fn push_line<I: SortKey>(
    items: &mut Vec<I>,
    read: &ReadRanks,
    start: i64,
    size: usize,
    stride: i64,
    reversed: bool,
) -> Result<()> {
    let mut ranks = [0; BLOCK];
    for i in (0..size).step_by(BLOCK) {
        interrupt::check()?;
        let ranks = &mut ranks[..BLOCK.min(size - i)];
        read(start + i as i64 * stride, stride, ranks)?;
        items.extend((i..).zip(ranks).map(|(i, rank)| I::new(*rank, i, reversed)));
    }
    Ok(())
}

/// `topk(k, dim, largest, sorted)`: returns the k largest or smallest elements of every line and their indices;
/// row-major.
///
/// # Errors
/// RuntimeError for a `k` out of range and dtypes that PyTorch refuses.
pub fn topk(view: &View, k: i64, dim: i64, largest: bool, sorted: bool) -> Result<(View, View)> {
    let d = wrap_dim(dim, view.ndim())?;
    if k < 0 || k > size_or_one(&view.layout, d)? {
        bail!(RuntimeError, "selected index k out of range");
    }
    let mut sizes = Dims::from_slice(view.sizes());
    if let Some(size) = sizes.get_mut(d) {
        *size = k;
    }
    let values = View::zeros(&sizes, view.dtype, view.device())?;
    let places = View::zeros(&sizes, DType::Long, view.device())?;
    if view.device().is_meta() {
        return Ok((values, places));
    }
    if view.ndim() > 0 {
        if view.dtype == DType::Bool || view.dtype.is_complex() {
            return not_implemented("topk_cpu", view.dtype);
        }
        supported("topk_cpu", view.dtype, UnsupportedDtypes::Float8)?;
    }
    let view = resolved(view)?;
    let count = k as usize;
    if values.numel() == 0 {
        return Ok((values, places));
    }
    arrange(&view, d, &values, &places, largest, &LineOrder::Least { count, sorted })?;
    Ok((values, places))
}

/// The results of [`unique`] and [`unique_consecutive`].
pub struct Unique {
    /// The distinct elements in ascending order.
    pub values: View,
    /// For every element of the input, its index in `values`.
    pub inverse: View,
    /// The number of occurrences of each of `values`.
    pub counts: View,
}

/// `torch.unique(x)` without a dimension. Every NaN counts as a distinct element.
///
/// # Errors
/// RuntimeError for dtypes that PyTorch refuses; NotImplementedError for meta tensors.
pub fn unique(view: &View) -> Result<Unique> {
    if view.device().is_meta() {
        return super::check::no_meta_kernel("_unique2");
    }
    distinct(view)
}

fn distinct(view: &View) -> Result<Unique> {
    if view.dtype.is_float8() || view.dtype.is_complex() {
        return not_implemented("unique", view.dtype);
    }
    let view = readable(&contiguous(&resolved(view)?)?)?;
    if PackedKey::fits(view.dtype, view.numel()) {
        distinct_by::<PackedKey>(&view)
    } else {
        distinct_by::<Ranked>(&view)
    }
}

/// Finds the distinct elements of a row-major tensor.
fn distinct_by<I: SortKey>(view: &View) -> Result<Unique> {
    let (memory, size) = (view.memory()?, view.numel() as usize);
    let mut items: Vec<I> = limits::vector(size)?;
    let start = view.layout.offset;
    if size > 0 {
        reading(view, &mut |read| push_line(&mut items, read, start, size, 1, false))?;
    }
    if view.dtype.is_floating_point() {
        // NaNs and the two zeros reveal that this sort is not stable.
        introsort::sort_shared(&mut items, &|a: &I, b: &I| a.rank() < b.rank())?;
    } else {
        radix::sort(&mut items)?;
    }
    let nan = rank_of_nan(view.dtype);
    let is_nan = |item: &I| Some(item.rank()) == nan;
    let inverse = View::unwritten(view.sizes(), DType::Long, Device::CPU)?;
    let inverse_memory = inverse.memory()?;
    let mut firsts: Vec<i64> = Vec::new();
    let mut counts: Vec<i64> = Vec::new();
    for (n, item) in items.iter().enumerate() {
        interrupt::check_at(n)?;
        let continues =
            n.checked_sub(1).and_then(|p| items.get(p)).is_some_and(|p| p.rank() == item.rank() && !is_nan(item));
        match counts.last_mut() {
            Some(count) if continues => *count += 1,
            _ => {
                firsts.push(item.place());
                counts.push(1);
            }
        }
        if let Some(cell) = inverse_memory.typed::<i64>().get(item.place() as usize) {
            set(cell, counts.len() as i64 - 1);
        }
    }
    let values = View::zeros(&[firsts.len() as i64], view.dtype, Device::CPU)?;
    let to = values.memory()?;
    by_width!(view.dtype, T => {
        let from = memory.typed::<T>();
        for (cell, &first) in to.typed::<T>().iter().zip(&firsts) {
            set(cell, get(from.get((view.layout.offset + first) as usize).ok_or_else(lost)?));
        }
    });
    let counts = View::from_scalars(&[counts.len() as i64], DType::Long, counts.into_iter().map(Scalar::Int))?;
    Ok(Unique { values, inverse, counts })
}

/// `torch.unique(x, dim=…)`, or `torch.unique_consecutive(x, dim=…)` if `sorting` is off. Returns the distinct slices
/// along a dimension, ordered by their elements.
///
/// # Errors
/// RuntimeError if another dimension has size 0 and for dtypes that PyTorch refuses; NotImplementedError for meta
/// tensors.
pub fn unique_slices(view: &View, dim: i64, sorting: bool) -> Result<Unique> {
    if view.device().is_meta() {
        return super::check::no_meta_kernel(if sorting { "unique_dim" } else { "unique_consecutive" });
    }
    if !sorting && view.ndim() == 1 && dim == 0 {
        return unique_consecutive(view, true);
    }
    if view.dtype.is_float8() || view.dtype.is_complex() {
        return not_implemented("unique_dim", view.dtype);
    }
    let (d, count) = size_at(&view.layout, dim)?;
    let empty = view.sizes().iter().filter(|&&size| size == 0).count();
    if count == 0 {
        if empty > 1 {
            bail!(RuntimeError, "Number of zero sized dimensions is more than one, so unique cannot be applied ");
        }
        let none = View::zeros(&[0], DType::Long, Device::CPU)?;
        let values = View::zeros(view.sizes(), view.dtype, Device::CPU)?;
        return Ok(Unique { values, inverse: none.clone(), counts: none });
    }
    if empty > 0 {
        bail!(RuntimeError, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
    }
    let rows = resolved(&movedim(view, &[d as i64], &[0])?)?;
    let memory = rows.memory()?;
    let mut slices: Vec<Vec<u64>> = limits::vector(count as usize)?;
    for row in 0..count {
        interrupt::check_at(row as usize)?;
        let row_layout = rows.layout.select(0, row);
        let mut ranks = limits::list(row_layout.numel() as usize)?;
        let places = interrupt::watched(row_layout.offsets());
        ranks.extend(places.map(|at| rank_of(rows.dtype, rows.read(&memory, at))));
        slices.push(ranks);
    }
    let nan = rank_of_nan(view.dtype);
    let is_nan = |rank: u64| Some(rank) == nan;
    let mut items: Vec<usize> = limits::vector(slices.len())?;
    items.extend(0..slices.len());
    if sorting {
        // NaN is neither less nor greater than anything, so the result depends on the library's sort.
        introsort::sort(&mut items, &|&a: &usize, &b: &usize| {
            let mut pairs = slices[a].iter().zip(&slices[b]);
            pairs.find(|&(&x, &y)| x != y && !is_nan(x) && !is_nan(y)).is_some_and(|(x, y)| x < y)
        })?;
    }
    let (mut firsts, mut counts) = (Vec::new(), Vec::new());
    let mut inverse = limits::filled(Scalar::Int(0), count as usize)?;
    for (n, &row) in items.iter().enumerate() {
        let ranks = &slices[row];
        let same = |previous: usize| slices[previous] == *ranks && !ranks.iter().any(|&rank| is_nan(rank));
        let continues = n.checked_sub(1).and_then(|p| items.get(p)).is_some_and(|&previous| same(previous));
        match counts.last_mut() {
            Some(Scalar::Int(count)) if continues => *count += 1,
            _ => {
                firsts.push(row as i64);
                counts.push(Scalar::Int(1));
            }
        }
        if let Some(place) = inverse.get_mut(row) {
            *place = Scalar::Int(counts.len() as i64 - 1);
        }
    }
    let mut sizes = Dims::from_slice(rows.sizes());
    sizes[0] = firsts.len() as i64;
    let chosen = View::zeros(&sizes, view.dtype, Device::CPU)?;
    for (place, &first) in firsts.iter().enumerate() {
        move_slice(&chosen, &chosen.layout.select(0, place as i64), &rows, &rows.layout.select(0, first))?;
    }
    let numbers = |numbers: Vec<Scalar>| View::from_scalars(&[numbers.len() as i64], DType::Long, numbers);
    Ok(Unique { values: movedim(&chosen, &[0], &[d as i64])?, inverse: numbers(inverse)?, counts: numbers(counts)? })
}

#[cfg(test)]
mod tests;
