//! Running sums and products along a dimension.

use super::{aligned, resolved};
use crate::layout::wrap_dim;
use crate::ops::check::lost;
use crate::ops::copy::{cast, copy_into};
use crate::ops::number::{Number, Stored};
use crate::ops::pointwise::{check_kernel, classes, multiply_tail};
use crate::thresholds::{COLUMNS, PIECE};
use crate::{DType, Dims, Layout, Result, Scalar, View, interrupt, limits, parallel};
use half::{bf16, f16};
use num_complex::Complex;

/// The cost of an element, in steps of a plain loop.
const COST: usize = 4;

/// The running operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    Sum,
    Product,
}

/// `cumsum` or `cumprod`, like [`torch.cumsum`](https://pytorch.org/docs/2.7/generated/torch.cumsum.html). The
/// accumulator is wider than the stored type.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for unsupported dtypes.
pub fn cumulative(which: Running, view: &View, dim: i64, dtype: Option<DType>) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    let dtype = dtype.unwrap_or(view.dtype.sum_result());
    let out = View::unwritten(view.sizes(), dtype, view.device())?;
    if view.device().is_meta() || view.numel() == 0 {
        return Ok(out);
    }
    let view = resolved(view)?;
    if view.ndim() == 0 {
        copy_into(&out, &view)?;
        return Ok(out);
    }
    let stub = match which {
        Running::Sum => "cumsum_out_cpu",
        Running::Product => "cumprod_out_cpu",
    };
    check_kernel(stub, classes::NUMBERS | classes::COMPLEX, dtype)?;
    match dtype {
        DType::Half => scan::<f16, f32>(which, &view, &out, d, |v| v, |v| v)?,
        DType::BFloat16 => scan::<bf16, f32>(which, &view, &out, d, |v| v, |v| v)?,
        DType::Float => scan::<f32, f64>(which, &view, &out, d, f64::from, |v| v as f32)?,
        DType::Double => scan::<f64, f64>(which, &view, &out, d, |v| v, |v| v)?,
        DType::ComplexFloat => {
            let widen = |z: Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
            let narrow = |z: Complex<f64>| Complex::new(z.re as f32, z.im as f32);
            scan::<Complex<f32>, Complex<f64>>(which, &view, &out, d, widen, narrow)?;
        }
        DType::ComplexDouble => scan::<Complex<f64>, Complex<f64>>(which, &view, &out, d, |v| v, |v| v)?,
        _ => {
            // Integers wrap, so they can be narrowed last.
            let narrow = dtype != DType::Long;
            let wide = if narrow { View::unwritten(view.sizes(), DType::Long, view.device())? } else { out.clone() };
            let view = if view.dtype == dtype { view } else { cast(&view, dtype)? };
            scan::<i64, i64>(which, &view, &wide, d, |v| v, |v| v)?;
            if narrow {
                copy_into(&out, &wide)?;
            }
        }
    }
    Ok(out)
}

/// An accumulator type of running sums and products.
trait ScanNumber: Number {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! carried {
    ($($t:ty: $plus:expr, $times:expr;)*) => {$(
        impl ScanNumber for $t {
            #[inline]
            fn plus(self, other: $t) -> $t {
                let plus: fn($t, $t) -> $t = $plus;
                plus(self, other)
            }
            #[inline]
            fn times(self, other: $t) -> $t {
                let times: fn($t, $t) -> $t = $times;
                times(self, other)
            }
        }
    )*};
}
carried! {
    i64: i64::wrapping_add, i64::wrapping_mul;
    f32: |a, b| a + b, |a, b| a * b;
    f64: |a, b| a + b, |a, b| a * b;
    Complex<f64>: |a, b| a + b, multiply_tail;
}

/// Scans the lines along dimension `d` into `out`, which is row-major. Uses all cores if other dimensions come before.
fn scan<S: Stored, A: ScanNumber>(
    which: Running,
    view: &View,
    out: &View,
    d: usize,
    widen: impl Fn(S::Compute) -> A + Send + Sync,
    narrow: impl Fn(A) -> S::Compute + Send + Sync,
) -> Result<()> {
    let view = if view.dtype == S::DTYPE { view.clone() } else { cast(view, S::DTYPE)? };
    let view = aligned::<S>(&view)?;
    let (sizes, strides) = (view.sizes(), view.strides());
    let part = |from, to, offset| Layout {
        sizes: Dims::from_slice(&sizes[from..to]),
        strides: Dims::from_slice(&strides[from..to]),
        offset,
    };
    let (slabs, columns) = (part(0, d, view.layout.offset), part(d + 1, view.ndim(), 0));
    let (size, along, width) = (sizes[d] as usize, strides[d], columns.numel() as usize);
    let start = A::from_scalar(Scalar::Int(i64::from(which == Running::Product)));
    let widen = |element: S| widen(element.widen());
    let narrow = |carried: A| S::narrow(narrow(carried));
    parallel::between::<S, S, _>(&*view.memory()?, &*out.memory()?, 0..out.numel() as usize, |elements, results| {
        let lines = ScanLines { elements, width, along, widen, narrow };
        let unit = size * width;
        let (size_of_part, work) = ((PIECE / unit).max(1) * unit, results.len().saturating_mul(COST));
        parallel::parts_of(results, size_of_part, work, &|first, part| {
            let slabs = || slabs.offsets_from((first / (size * width)) as i64);
            let most = if width == 1 { (interrupt::STRIDE / size).clamp(1, COLUMNS) } else { width.min(COLUMNS) };
            let mut places = limits::filled(0, most)?;
            if width == 1 {
                let mut slabs = slabs();
                for part in part.chunks_mut(most * size) {
                    places.iter_mut().zip(slabs.by_ref().take(part.len() / size)).for_each(|(place, at)| *place = at);
                    let mut carried = start;
                    // Whole lines, or pieces of a long one.
                    for piece in part.chunks_mut(interrupt::STRIDE) {
                        let size = size.min(piece.len());
                        carried = match which {
                            Running::Sum => lines.one_by_one(piece, size, &places, carried, A::plus),
                            Running::Product => lines.one_by_one(piece, size, &places, carried, A::times),
                        }
                        .ok_or_else(lost)?;
                        places[0] = lines.after(places[0], piece.len());
                        interrupt::check()?;
                    }
                }
                return Ok(());
            }
            let mut carried = limits::filled(start, most)?;
            let mut offsets = columns.offsets();
            for column in (0..width).step_by(COLUMNS) {
                let count = most.min(width - column);
                let (carried, places) = (&mut carried[..count], &mut places[..count]);
                places.iter_mut().zip(&mut offsets).for_each(|(place, offset)| *place = offset);
                // The offsets are incomplete if Ctrl-C was pressed.
                interrupt::check()?;
                for (slab, mut at) in part.chunks_exact_mut(size * width).zip(slabs()) {
                    carried.fill(start);
                    for rows in slab[column..].chunks_mut((interrupt::STRIDE / count).max(1).saturating_mul(width)) {
                        match which {
                            Running::Sum => lines.side_by_side(rows, at, carried, places, A::plus),
                            Running::Product => lines.side_by_side(rows, at, carried, places, A::times),
                        }
                        .ok_or_else(lost)?;
                        at = lines.after(at, rows.len().div_ceil(width));
                        interrupt::check()?;
                    }
                }
            }
            interrupt::check()
        })
    })
    .unwrap_or_else(|| Err(lost()))
}

/// The number of lines that are scanned at a time.
const LINES: usize = 4;

/// Lines of elements. Their loops call no functions and are not inlined: around calls, the compiler keeps the
/// accumulator in memory, which takes three times as long. Both methods take the function that adds an element to the
/// accumulator, and return `None` if elements are missing.
struct ScanLines<'a, S, W, N> {
    elements: &'a [S],
    /// The distance between the results of a line.
    width: usize,
    /// The distance between the elements of a line.
    along: i64,
    /// Conversions to the accumulator type, and back.
    widen: W,
    narrow: N,
}

impl<S: Stored, A: ScanNumber, W: Fn(S) -> A, N: Fn(A) -> S> ScanLines<'_, S, W, N> {
    /// Scans lines of `size` elements that start at `places` into `results`, some at a time: each waits for its own
    /// accumulator. Each line starts with `start`. Returns the accumulator of a single line.
    #[inline(never)]
    fn one_by_one(
        &self,
        results: &mut [S],
        size: usize,
        places: &[i64],
        start: A,
        join: impl Fn(A, A) -> A,
    ) -> Option<A> {
        let mut carried = start;
        let whole = results.len() / size / LINES * LINES;
        let (groups, rest) = results.split_at_mut(whole * size);
        for (lines, places) in groups.chunks_exact_mut(LINES * size).zip(places.as_chunks::<LINES>().0) {
            let (mut carried, mut at) = ([start; LINES], *places);
            for i in 0..size {
                for k in 0..LINES {
                    carried[k] = join(carried[k], (self.widen)(*self.elements.get(at[k] as usize)?));
                    *lines.get_mut(k * size + i)? = (self.narrow)(carried[k]);
                    at[k] = self.after(at[k], 1);
                }
            }
        }
        for (line, &place) in rest.chunks_exact_mut(size).zip(places.get(whole..)?) {
            let mut at = place;
            carried = start;
            for result in line {
                carried = join(carried, (self.widen)(*self.elements.get(at as usize)?));
                *result = (self.narrow)(carried);
                at = self.after(at, 1);
            }
        }
        Some(carried)
    }

    /// Scans lines side by side, one for each column of `rows`. The offsets of the next elements are `places` relative
    /// to `at`.
    #[inline(never)]
    fn side_by_side(
        &self,
        rows: &mut [S],
        mut at: i64,
        carried: &mut [A],
        places: &[i64],
        join: impl Fn(A, A) -> A,
    ) -> Option<()> {
        for row in rows.chunks_mut(self.width) {
            for ((result, carried), place) in row.iter_mut().zip(&mut *carried).zip(places) {
                *carried = join(*carried, (self.widen)(*self.elements.get((at + place) as usize)?));
                *result = (self.narrow)(*carried);
            }
            at = self.after(at, 1);
        }
        Some(())
    }

    /// Returns the offset some steps along a line. An offset past the last element is never read.
    #[inline(always)]
    fn after(&self, at: i64, steps: usize) -> i64 {
        at.wrapping_add(self.along.wrapping_mul(steps as i64))
    }
}
