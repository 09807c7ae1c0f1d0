//! Loops over the elements of sparse tensors: sorting and finding indices, sums of values with the same index, and
//! products by rows. Elements of `f32` and `f64` are computed on slices. All other dtypes go through the functions for
//! dense tensors, with the same order of sums.

use super::{pick, vector};
use crate::layout::Dims;
use crate::memory::Plain;
use crate::ops::copy;
use crate::ops::gather::index_add_;
use crate::ops::number::Real;
use crate::parallel::{Kernel, between, from_both, parts_of, reading_both, vectorised_kernel};
use crate::{DType, Result, Scalar, View, interrupt, limits};
use std::ops::{Add, Range};

/// Calls a macro for the type of a dtype that is computed on slices. Gives `None` for every other dtype.
macro_rules! on_slices {
    ($dtype:expr, $run:ident) => {
        match $dtype {
            DType::Float => $run!(f32),
            DType::Double => $run!(f64),
            _ => None,
        }
    };
}

/// Returns the positions that sort `keys`, which are not negative and less than `bound`. Equal keys keep their order.
/// `None` if they are sorted already.
pub(super) fn stable_order(keys: &[i64], bound: i64) -> Result<Option<Vec<i64>>> {
    if keys.is_sorted() {
        return Ok(None);
    }
    let mut order = limits::filled(0i64, keys.len())?;
    if bound as usize <= keys.len().saturating_mul(4) {
        let mut next = limits::filled(0i64, bound as usize + 1)?;
        keys.iter().for_each(|&key| next[key as usize + 1] += 1);
        (1..next.len()).for_each(|key| next[key] += next[key - 1]);
        for (n, &key) in (0..).zip(keys) {
            order[next[key as usize] as usize] = n;
            next[key as usize] += 1;
        }
    } else {
        (0..).zip(&mut order).for_each(|(n, position)| *position = n);
        order.sort_by_key(|&n| keys[n as usize]);
    }
    Ok(Some(order))
}

/// Returns the items at these positions; `None` means all of them, in order.
pub(super) fn ordered(items: &[i64], order: Option<&[i64]>) -> Vec<i64> {
    match order {
        Some(order) => order.iter().map(|&n| items[n as usize]).collect(),
        None => items.to_vec(),
    }
}

/// Finds the positions of numbers in a list. Ascending questions are answered fastest.
pub(super) struct Lookup {
    keys: Vec<i64>,
    order: Option<Vec<i64>>,
    last: usize,
}

impl Lookup {
    pub(super) fn new(list: &[i64], bound: i64) -> Result<Lookup> {
        let order = stable_order(list, bound)?;
        Ok(Lookup { keys: ordered(list, order.as_deref()), order, last: 0 })
    }

    /// Returns the range of sorted positions with this key.
    pub(super) fn find(&mut self, key: i64) -> Range<usize> {
        let from = if self.last > 0 && self.keys[self.last - 1] >= key { 0 } else { self.last };
        // Double the distance until the key is passed, and search the last distance.
        let mut reach = 1;
        while self.keys.get(from + reach).is_some_and(|&there| there < key) {
            reach *= 2;
        }
        let end = (from + reach + 1).min(self.keys.len());
        let start = from + self.keys[from..end].partition_point(|&there| there < key);
        self.last = start;
        start..start + self.keys[start..].iter().take_while(|&&there| there == key).count()
    }

    /// Returns the position in the list of a sorted position.
    pub(super) fn position(&self, sorted: usize) -> i64 {
        self.order.as_ref().map_or(sorted as i64, |order| order[sorted])
    }
}

/// Adds rows of `values` to rows of `out`, in order: for each target, the row at the same place of `sources`, or of
/// `values` itself. Both are row-major; `out` has been made for the purpose.
pub(super) fn accumulate(out: &View, targets: &[i64], sources: Option<&[i64]>, values: &View) -> Result<()> {
    if targets.is_empty() || out.numel() == 0 {
        return Ok(());
    }
    macro_rules! run {
        ($t:ty) => {
            add_rows::<$t>(out, targets, sources, &row_major(values)?)
        };
    }
    let done = if values.dtype == out.dtype {
        match out.dtype {
            DType::Long => run!(i64),
            dtype => on_slices!(dtype, run),
        }
    } else {
        None
    };
    if let Some(done) = done {
        return done;
    }
    let rows = match sources {
        Some(sources) => pick(values, sources)?,
        None => values.clone(),
    };
    index_add_(out, 0, &vector(targets)?, &rows, Scalar::Int(1))
}

fn add_rows<T: Plain + Copy + Add<Output = T>>(
    out: &View,
    targets: &[i64],
    sources: Option<&[i64]>,
    values: &View,
) -> Option<Result<()>> {
    let width = out.sizes()[1..].iter().product::<i64>() as usize;
    let start = out.layout.offset as usize;
    let first = values.layout.offset as usize;
    between::<T, T, _>(
        &*values.memory().ok()?,
        &*out.memory().ok()?,
        start..start + out.numel() as usize,
        |from, into| {
            let from = &from[first..];
            for piece in interrupt::pieces(0..targets.len(), width) {
                for n in piece? {
                    let (target, source) = (targets[n] as usize, sources.map_or(n, |sources| sources[n] as usize));
                    if width == 1 {
                        into[target] = into[target] + from[source];
                        continue;
                    }
                    let row = &mut into[target * width..(target + 1) * width];
                    row.iter_mut().zip(&from[source * width..]).for_each(|(sum, &value)| *sum = *sum + value);
                }
            }
            Ok(())
        },
    )
}

/// Returns the view itself or a row-major copy, with the lazy bits resolved.
pub(super) fn row_major(view: &View) -> Result<View> {
    if view.layout.is_contiguous() && !view.conj && !view.neg { Ok(view.clone()) } else { copy::row_major(view) }
}

/// A matrix by rows: the start of each row among the elements, and the end of the last; their columns and values.
pub(super) struct Rows {
    pub starts: Vec<i64>,
    pub columns: Vec<i64>,
    pub values: View,
}

/// How a product of two numbers is added to a sum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    /// With one rounding.
    Fused,
    /// With a rounding of the product first.
    Apart,
}

/// Adds the product of a sparse and a dense matrix to a row-major one. The products of a row are added in the order of
/// its elements. `None` for dtypes that are not computed on slices.
pub(super) fn add_product(out: &View, rows: &Rows, dense: &View, rounding: Rounding) -> Result<Option<()>> {
    if out.numel() == 0 {
        return Ok(Some(()));
    }
    let (values, dense) = (row_major(&rows.values)?, row_major(dense)?);
    macro_rules! run {
        ($t:ty) => {
            match rounding {
                Rounding::Fused => add_product_of::<$t, true>(out, rows, &values, &dense),
                Rounding::Apart => add_product_of::<$t, false>(out, rows, &values, &dense),
            }
        };
    }
    on_slices!(out.dtype, run).transpose()
}

fn add_product_of<T: Real + Plain, const FUSED: bool>(
    out: &View,
    rows: &Rows,
    values: &View,
    dense: &View,
) -> Option<Result<()>> {
    let width = out.sizes()[1] as usize;
    let (start, first, second) =
        (out.layout.offset as usize, values.layout.offset as usize, dense.layout.offset as usize);
    let (from, with, into) = (values.memory().ok()?, dense.memory().ok()?, out.memory().ok()?);
    let (starts, columns) = (rows.starts.as_slice(), rows.columns.as_slice());
    from_both::<T, T, _>([&*from, &*with], &into, start..start + out.numel() as usize, |[values, dense], out| {
        let (values, dense) = (&values[first..], &dense[second..]);
        let work = columns.len().saturating_mul(width);
        // Parts of the rows that share the work evenly if all rows are about as long.
        let lines = starts.len() - 1;
        let size = lines.div_ceil(ROW_PARTS).max(1) * width;
        parts_of(out, size, work, &|at, part| {
            let first = at / width;
            for piece in interrupt::pieces(0..part.len() / width, work / lines.max(1) + 1) {
                let piece = piece?;
                vectorised_kernel(Products::<T, FUSED> {
                    starts: &starts[first + piece.start..=first + piece.end],
                    columns,
                    values,
                    dense,
                    out: &mut part[piece.start * width..piece.end * width],
                    width,
                });
            }
            Ok(())
        })
    })
}

/// Parts of the rows of a product, for the cores to take.
const ROW_PARTS: usize = 32;

/// Columns whose sums are kept in registers at a time.
const STRIPE: usize = 32;

/// The products of some rows of a sparse matrix with a dense one.
struct Products<'a, T, const FUSED: bool> {
    starts: &'a [i64],
    columns: &'a [i64],
    values: &'a [T],
    dense: &'a [T],
    out: &'a mut [T],
    width: usize,
}

impl<T: Real, const FUSED: bool> Products<'_, T, FUSED> {
    /// Adds a row's products in `N` columns from `column` on.
    #[inline(always)]
    fn stripe<const N: usize>(&self, row: &mut [T], elements: Range<usize>, column: usize) {
        let mut sums = [T::default(); N];
        sums.copy_from_slice(&row[column..column + N]);
        for (&at, &value) in self.columns[elements.clone()].iter().zip(&self.values[elements]) {
            let place = at as usize * self.width + column;
            let Some(factors) = self.dense.get(place..place + N) else { continue };
            for (sum, &factor) in sums.iter_mut().zip(factors) {
                *sum = if FUSED { value.fused(factor, *sum) } else { *sum + value * factor };
            }
        }
        row[column..column + N].copy_from_slice(&sums);
    }
}

impl<T: Real, const FUSED: bool> Kernel for Products<'_, T, FUSED> {
    type Output = ();
    #[inline(always)]
    fn run(mut self, _fuses: bool) {
        let out = std::mem::take(&mut self.out);
        for (row, pair) in out.chunks_exact_mut(self.width).zip(self.starts.windows(2)) {
            let elements = pair[0] as usize..pair[1] as usize;
            let mut column = 0;
            while column + STRIPE <= self.width {
                self.stripe::<STRIPE>(row, elements.clone(), column);
                column += STRIPE;
            }
            while column + 8 <= self.width {
                self.stripe::<8>(row, elements.clone(), column);
                column += 8;
            }
            while column < self.width {
                self.stripe::<1>(row, elements.clone(), column);
                column += 1;
            }
        }
    }
}

/// Multiplies two sparse matrices row by row. Returns the starts, columns and values of the product, with the columns of
/// a row in order. `None` for dtypes that are not computed on slices, and if the result has many more columns than
/// there are elements.
pub(super) fn product_by_rows(a: &Rows, b: &Rows, columns: i64) -> Result<Option<Rows>> {
    let elements = a.columns.len() + b.columns.len() + a.starts.len();
    if columns as usize > elements.saturating_mul(8) {
        return Ok(None);
    }
    let (left, right) = (row_major(&a.values)?, row_major(&b.values)?);
    let (from, with) = (left.memory()?, right.memory()?);
    let (first, second) = (left.layout.offset as usize, right.layout.offset as usize);
    let (a_index, b_index) = ((&a.starts, &a.columns), (&b.starts, &b.columns));
    macro_rules! run {
        ($t:ty) => {{
            if left.numel() == 0 || right.numel() == 0 {
                return Ok(None);
            }
            let parts = reading_both::<$t, _>(&from, &with, |left, right| {
                gathered(a_index, &left[first..], b_index, &right[second..], columns as usize)
            });
            match parts {
                Some(parts) => {
                    let (starts, columns, values) = parts?;
                    Some(Rows { starts, columns, values: written(&values, left.dtype)? })
                }
                None => None,
            }
        }};
    }
    Ok(on_slices!(left.dtype, run))
}

/// Makes a vector of a dtype from its elements.
pub(super) fn written<T: Plain>(elements: &[T], dtype: DType) -> Result<View> {
    let out = View::unwritten(&[elements.len() as i64], dtype, crate::Device::CPU)?;
    if !elements.is_empty() {
        let range = out.layout.offset as usize..out.layout.offset as usize + elements.len();
        crate::parallel::writing(&*out.memory()?, range, |into: &mut [T]| into.copy_from_slice(elements));
    }
    Ok(out)
}

type Parts<T> = (Vec<i64>, Vec<i64>, Vec<T>);

fn gathered<T: Real>(
    (a_starts, a_columns): (&Vec<i64>, &Vec<i64>),
    left: &[T],
    (b_starts, b_columns): (&Vec<i64>, &Vec<i64>),
    right: &[T],
    columns: usize,
) -> Result<Parts<T>> {
    let mut sums = limits::filled(T::default(), columns)?;
    // The row in which a column was last written to, plus one.
    let mut seen = limits::filled(0usize, columns)?;
    let mut starts = limits::vector(a_starts.len())?;
    let (mut kept, mut values) = (Vec::new(), Vec::new());
    starts.push(0);
    for (row, pair) in a_starts.windows(2).enumerate() {
        let begun = kept.len();
        for n in pair[0] as usize..pair[1] as usize {
            let inner = a_columns[n] as usize;
            for m in b_starts[inner] as usize..b_starts[inner + 1] as usize {
                let column = b_columns[m] as usize;
                if seen[column] != row + 1 {
                    seen[column] = row + 1;
                    sums[column] = T::default();
                    limits::push(&mut kept, column as i64)?;
                }
                sums[column] = sums[column] + left[n] * right[m];
            }
            interrupt::check_at(n)?;
        }
        kept[begun..].sort_unstable();
        limits::grown_to::<T>(kept.len())?;
        values.extend(kept[begun..].iter().map(|&column| sums[column as usize]));
        starts.push(kept.len() as i64);
    }
    Ok((starts, kept, values))
}

/// Computes the softmax of lines of rows, column by column, or its logarithm: `starts` divides `order`, the positions of
/// the rows of one line after the other. The steps and their order are PyTorch's. `None` for other dtypes.
pub(super) fn softmax_by_lines(
    values: &View,
    order: Option<&[i64]>,
    starts: &[i64],
    logarithm: bool,
) -> Result<Option<View>> {
    let values = row_major(values)?;
    let out = View::unwritten(values.sizes(), values.dtype, crate::Device::CPU)?;
    if out.numel() == 0 {
        return Ok(matches!(values.dtype, DType::Float | DType::Double).then_some(out));
    }
    let width = values.sizes()[1..].iter().product::<i64>() as usize;
    let (from, into) = (values.memory()?, out.memory()?);
    let (first, start) = (values.layout.offset as usize, out.layout.offset as usize);
    let range = start..start + out.numel() as usize;
    macro_rules! run {
        ($t:ty) => {
            between::<$t, $t, _>(&from, &into, range, |from, into| {
                shares(&from[first..], into, width, order, starts, logarithm)
            })
        };
    }
    let done = on_slices!(values.dtype, run);
    done.transpose().map(|done| done.map(|()| out))
}

fn shares<T: Real>(
    from: &[T],
    into: &mut [T],
    width: usize,
    order: Option<&[i64]>,
    starts: &[i64],
    logarithm: bool,
) -> Result<()> {
    let row = |n: i64| order.map_or(n as usize, |order| order[n as usize] as usize) * width;
    let mut largest = limits::filled(T::default(), width)?;
    let mut sums = limits::filled(T::default(), width)?;
    for (line, pair) in starts.windows(2).enumerate() {
        interrupt::check_at(line)?;
        largest.fill(T::neg_infinity());
        sums.fill(T::default());
        for n in pair[0]..pair[1] {
            for (largest, &value) in largest.iter_mut().zip(&from[row(n)..]) {
                *largest = if value > *largest { value } else { *largest };
            }
        }
        for n in pair[0]..pair[1] {
            for j in 0..width {
                let power = (from[row(n) + j] - largest[j]).exp();
                into[row(n) + j] = power;
                sums[j] = sums[j] + power;
            }
        }
        for (sum, largest) in sums.iter_mut().zip(&mut largest) {
            if logarithm {
                *largest = *largest + sum.ln();
            } else {
                *sum = T::one() / *sum;
            }
        }
        for n in pair[0]..pair[1] {
            for j in 0..width {
                let at = row(n) + j;
                into[at] = if logarithm { from[at] - largest[j] } else { into[at] * sums[j] };
            }
        }
    }
    Ok(())
}

/// Returns the sizes of the values of `nnz` elements like those of `values`.
pub(super) fn sizes_of(nnz: usize, values: &View) -> Dims {
    [nnz as i64].into_iter().chain(values.sizes()[1..].iter().copied()).collect()
}
