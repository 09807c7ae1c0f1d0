//! Running sums and products along a dimension.

use super::{aligned, resolved};
use crate::ops::check::lost;
use crate::ops::copy::{cast, copy_into};
use crate::ops::number::{Number, Stored};
use crate::ops::pointwise::{check_kernel, classes, multiply_tail};
use crate::tensor::layout::wrap_dim;
use crate::tensor::thresholds::COLUMNS;
use crate::tensor::{DType, Dims, Layout, Result, Scalar, View, interrupt, limits, parallel};
use half::{bf16, f16};
use num_complex::Complex;

/// The state carried along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    Sum,
    Product,
}

/// `cumsum` or `cumprod`, as [`torch.cumsum`](https://pytorch.org/docs/2.7/generated/torch.cumsum.html). What is carried
/// along is wider than what is stored.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for dtypes without this kernel.
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

/// A type that sums and products are carried along in.
trait Carried: Number {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! carried {
    ($($t:ty: $plus:expr, $times:expr;)*) => {$(
        impl Carried for $t {
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

/// Scans the lines along dimension `d` into `out`, which is row-major: on all cores where other dimensions come before.
fn scan<S: Stored, A: Carried>(
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
        let lines = Lines { elements, width, along, widen, narrow };
        parallel::parts(results, size * width, &|first, part| {
            let slabs = || slabs.offsets_from((first / (size * width)) as i64);
            // A loop for sums and one for products: no element waits for a choice.
            if width == 1 {
                return match which {
                    Running::Sum => lines.one_by_one(part, size, slabs(), start, A::plus),
                    Running::Product => lines.one_by_one(part, size, slabs(), start, A::times),
                };
            }
            let most = width.min(COLUMNS);
            let (mut carried, mut places) = (limits::filled(start, most)?, limits::filled(0, most)?);
            let mut offsets = columns.offsets();
            for column in (0..width).step_by(COLUMNS) {
                let count = most.min(width - column);
                let (carried, places) = (&mut carried[..count], &mut places[..count]);
                places.iter_mut().zip(&mut offsets).for_each(|(place, offset)| *place = offset);
                // They are not known to the last where Ctrl-C was pressed.
                interrupt::check()?;
                for (slab, from) in part.chunks_exact_mut(size * width).zip(slabs()) {
                    carried.fill(start);
                    let rows = &mut slab[column..];
                    match which {
                        Running::Sum => lines.side_by_side(rows, from, carried, places, A::plus)?,
                        Running::Product => lines.side_by_side(rows, from, carried, places, A::times)?,
                    }
                }
            }
            interrupt::check()
        })
    })
    .unwrap_or_else(|| Err(lost()))
}

/// Lines that lie side by side where they are written: columns of rows that begin `width` results apart.
struct Lines<'a, S, W, N> {
    elements: &'a [S],
    width: usize,
    /// How far apart the elements of a line are.
    along: i64,
    /// To the type of what is carried along, and back.
    widen: W,
    narrow: N,
}

impl<S: Stored, W, N> Lines<'_, S, W, N> {
    /// Scans lines of `size` elements to `results`, one after another; they begin at `starts`. `join` adds an element to
    /// what is carried along, or multiplies it by one.
    fn one_by_one<A: Carried>(
        &self,
        results: &mut [S],
        size: usize,
        starts: impl Iterator<Item = i64>,
        start: A,
        join: impl Fn(A, A) -> A,
    ) -> Result<()>
    where
        W: Fn(S) -> A,
        N: Fn(A) -> S,
    {
        for (line, mut at) in results.chunks_exact_mut(size).zip(starts) {
            let mut carried = start;
            for piece in line.chunks_mut(interrupt::STRIDE) {
                carried = self.piece(piece, at, carried, &join).ok_or_else(lost)?;
                at = self.after(at, piece.len());
                interrupt::check()?;
            }
        }
        Ok(())
    }

    /// Scans a piece of a line from `at` on; returns what is carried on, or nothing where elements are missing. It calls
    /// nothing and is not inlined: around calls the compiler keeps what is carried along in memory, at three times the
    /// time.
    #[inline(never)]
    fn piece<A: Carried>(&self, results: &mut [S], mut at: i64, mut carried: A, join: &impl Fn(A, A) -> A) -> Option<A>
    where
        W: Fn(S) -> A,
        N: Fn(A) -> S,
    {
        for result in results {
            carried = join(carried, (self.widen)(*self.elements.get(at as usize)?));
            *result = (self.narrow)(carried);
            at = self.after(at, 1);
        }
        Some(carried)
    }

    /// Scans lines whose first elements lie at `places`, counted from `from`, to `rows`, which begins with their first
    /// results.
    fn side_by_side<A: Carried>(
        &self,
        rows: &mut [S],
        from: i64,
        carried: &mut [A],
        places: &[i64],
        join: impl Fn(A, A) -> A,
    ) -> Result<()>
    where
        W: Fn(S) -> A,
        N: Fn(A) -> S,
    {
        let element = |place: i64| self.elements.get(place as usize).copied().ok_or_else(lost);
        let mut at = from;
        for rows in rows.chunks_mut((interrupt::STRIDE / places.len()).max(1).saturating_mul(self.width)) {
            for row in rows.chunks_mut(self.width) {
                for ((result, carried), place) in row.iter_mut().zip(&mut *carried).zip(places) {
                    *carried = join(*carried, (self.widen)(element(at + place)?));
                    *result = (self.narrow)(*carried);
                }
                at = self.after(at, 1);
            }
            interrupt::check()?;
        }
        Ok(())
    }

    /// The place some steps along a line. Behind its last element there need not be one, and nobody reads it.
    #[inline(always)]
    fn after(&self, at: i64, steps: usize) -> i64 {
        at.wrapping_add(self.along.wrapping_mul(steps as i64))
    }
}
