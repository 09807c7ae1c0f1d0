//! The loop of all writes by an index along one dimension: each element of a source is combined with the element of the
//! target that its index selects. Values for one element are combined in the order of the dimension.

use super::as_long;
use crate::float8::{Float8, Format};
use crate::iterate::{Run, walk};
use crate::memory::{BoolByte, ElementCell, Plain, get, set};
use crate::ops::check::{at, at_least_1d, lost};
use crate::ops::number::{Real, Stored};
use crate::ops::pointwise::multiply_tail;
use crate::{Dims, Error, Layout, Result, View, interrupt};
use half::{bf16, f16};
use num_complex::Complex;
use num_traits::Float;

/// Elements written between two checks for Ctrl-C when they are scattered: each may touch a page for the first time.
pub(in crate::ops) const APART: usize = interrupt::STRIDE / 64;

/// How a written value is combined with the existing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum Reduce {
    Add,
    Multiply,
    Largest,
    Smallest,
}

/// Elements that can be combined. Results are rounded to the element type once.
pub(in crate::ops) trait Joined: Stored {
    fn plus(self, written: Self) -> Self;
    fn times(self, written: Self) -> Self;
    /// Returns the larger element. NaN takes precedence.
    fn larger(self, written: Self) -> Self;
    fn smaller(self, written: Self) -> Self;
}

macro_rules! joined {
    (integers $($t:ty)*) => {$(
        impl Joined for $t {
            #[inline(always)]
            fn plus(self, written: $t) -> $t {
                self.wrapping_add(written)
            }
            #[inline(always)]
            fn times(self, written: $t) -> $t {
                self.wrapping_mul(written)
            }
            #[inline(always)]
            fn larger(self, written: $t) -> $t {
                self.max(written)
            }
            #[inline(always)]
            fn smaller(self, written: $t) -> $t {
                self.min(written)
            }
        }
    )*};
    (floats $([$($of:tt)*] $t:ty;)*) => {$(
        impl<$($of)*> Joined for $t
        where
            $t: Stored<Compute: Real>,
        {
            #[inline(always)]
            fn plus(self, written: Self) -> Self {
                Self::narrow(self.widen() + written.widen())
            }
            #[inline(always)]
            fn times(self, written: Self) -> Self {
                Self::narrow(self.widen() * written.widen())
            }
            #[inline(always)]
            fn larger(self, written: Self) -> Self {
                let (a, b) = (self.widen(), written.widen());
                Self::narrow(if !a.is_nan() && (b.is_nan() || a < b) { b } else { a })
            }
            #[inline(always)]
            fn smaller(self, written: Self) -> Self {
                let (a, b) = (self.widen(), written.widen());
                Self::narrow(if !a.is_nan() && (b.is_nan() || a > b) { b } else { a })
            }
        }
    )*};
    (complex $($t:ty)*) => {$(
        impl Joined for $t {
            #[inline(always)]
            fn plus(self, written: $t) -> $t {
                Self::narrow(self.widen() + written.widen())
            }
            #[inline(always)]
            fn times(self, written: $t) -> $t {
                Self::narrow(multiply_tail(self.widen(), written.widen()))
            }
            // Complex numbers are not ordered; callers refuse them.
            fn larger(self, _written: $t) -> $t {
                self
            }
            fn smaller(self, _written: $t) -> $t {
                self
            }
        }
    )*};
}
joined!(integers u8 i8 i16 i32 i64 u16 u32 u64);
joined!(floats [] f16; [] bf16; [] f32; [] f64; [F: Format + 'static] Float8<F>;);
joined!(complex Complex<f16> Complex<f32> Complex<f64>);

impl Joined for BoolByte {
    #[inline(always)]
    fn plus(self, written: BoolByte) -> BoolByte {
        self | written
    }
    #[inline(always)]
    fn times(self, written: BoolByte) -> BoolByte {
        self & written
    }
    #[inline(always)]
    fn larger(self, written: BoolByte) -> BoolByte {
        self | written
    }
    #[inline(always)]
    fn smaller(self, written: BoolByte) -> BoolByte {
        self & written
    }
}

/// A write whose arguments are checked.
pub(in crate::ops) struct Spread<'a> {
    view: &'a View,
    /// The layout of the target, with at least one dimension.
    target: Layout,
    d: usize,
    /// Positions along `d`, as `int64`, and the elements to write, of the target's dtype. Both have the same sizes.
    index: View,
    source: View,
    /// Whether elements are visited one after another in row-major order, because writing one may change others.
    in_order: bool,
}

impl<'a> Spread<'a> {
    pub(in crate::ops) fn new(view: &'a View, d: usize, index: View, source: View) -> Spread<'a> {
        let shared = view.storage == source.storage || view.storage == index.storage;
        let in_order = shared || !view.layout.has_distinct_elements();
        Spread { view, target: at_least_1d(&view.layout), d, index, source, in_order }
    }

    /// Plans to write `source`, slice by slice, at the numbers of a vector.
    pub(in crate::ops) fn of_slices(view: &'a View, d: usize, index: &View, source: View) -> Result<Spread<'a>> {
        let index = as_long(index)?;
        let mut places =
            Layout { strides: Dims::from_elem(0, source.ndim()), offset: index.layout.offset, ..source.layout.clone() };
        if let Some(stride) = places.strides.get_mut(d) {
            *stride = index.strides().first().copied().unwrap_or(0);
        }
        Ok(Spread::new(view, d, index.with_layout(places), source))
    }

    /// Replaces elements, which have the width of `T`.
    pub(in crate::ops) fn replace<T: Plain>(&self) -> Result<()> {
        self.write(|_, written: T| written)
    }

    /// Combines elements.
    pub(in crate::ops) fn reduce<T: Joined>(&self, reduce: Reduce) -> Result<()> {
        match reduce {
            Reduce::Add => self.write(T::plus),
            Reduce::Multiply => self.write(T::times),
            Reduce::Largest => self.write(T::larger),
            Reduce::Smallest => self.write(T::smaller),
        }
    }

    /// Combines elements by `join`, which gets the existing and the written element.
    pub(in crate::ops) fn write<T: Plain>(&self, join: impl Fn(T, T) -> T) -> Result<()> {
        let (to, index, from) = (self.view.memory()?, self.index.memory()?, self.source.memory()?);
        let (to, index, from) = (to.typed::<T>(), index.typed::<i64>(), from.typed::<T>());
        let (size, stride) = (self.target.sizes[self.d], self.target.strides[self.d]);
        // Some functions count from the end.
        let shift = |i: i64| (if i < 0 { i.wrapping_add(size) } else { i }).wrapping_mul(stride);
        self.runs(&mut |run| {
            if run.stride[1] == 0 {
                // One slice of the target.
                let shift = shift(get(index.get(run.offset[1] as usize).ok_or_else(lost)?));
                let run = Run { offset: [run.offset[0] + shift, run.offset[1], run.offset[2]], ..run };
                return write_run(&run, to, from, &join);
            }
            let (mut offset, step) = (run.offset, run.stride);
            for first in (0..run.length).step_by(APART) {
                interrupt::check()?;
                for _ in first..run.length.min(first + APART) {
                    let [write, place, read] = offset;
                    let shift = shift(get(index.get(place as usize).ok_or_else(lost)?));
                    let to = to.get(write.wrapping_add(shift) as usize).ok_or_else(lost)?;
                    set(to, join(get(to), get(from.get(read as usize).ok_or_else(lost)?)));
                    offset = std::array::from_fn(|k| offset[k].wrapping_add(step[k]));
                }
            }
            Ok(())
        })
    }

    /// Calls `body` with runs of the target's lines, the index and the source.
    fn runs(&self, body: &mut dyn FnMut(Run<3>) -> Result<()>) -> Result<()> {
        let mut starts = Layout { sizes: Dims::from_slice(self.source.sizes()), ..self.target.clone() };
        starts.strides[self.d] = 0;
        let operands = [&starts, &self.index.layout, &self.source.layout];
        if !self.in_order {
            return walk(operands, body);
        }
        let [mut writes, mut places, mut reads] = operands.map(Layout::offsets);
        for step in 0.. {
            let (Some(write), Some(place), Some(read)) = (writes.next(), places.next(), reads.next()) else { break };
            interrupt::check_at(step)?;
            body(Run { offset: [write, place, read], stride: [0; 3], length: 1 })?;
        }
        interrupt::check()
    }
}

/// Combines a run of the source with one of the target; ignores the second operand.
fn write_run<T: Plain>(
    run: &Run<3>,
    to: &[ElementCell<T>],
    from: &[ElementCell<T>],
    join: &impl Fn(T, T) -> T,
) -> Result<()> {
    if run.stride[0] == 1 && run.stride[2] == 1 {
        let range = |start: i64| start as usize..start as usize + run.length;
        let to = to.get(range(run.offset[0])).ok_or_else(lost)?;
        let from = from.get(range(run.offset[2])).ok_or_else(lost)?;
        to.iter().zip(from).for_each(|(to, from)| set(to, join(get(to), get(from))));
        return Ok(());
    }
    for step in 0..run.length as i64 {
        let [write, _, read] = at(run, step);
        let to = to.get(write).ok_or_else(lost)?;
        set(to, join(get(to), get(from.get(read).ok_or_else(lost)?)));
    }
    Ok(())
}

/// Passes the first index outside `range`, in row-major order, to `error`. `index` has dtype `int64`.
pub(in crate::ops) fn in_bounds(index: &View, range: std::ops::Range<i64>, error: impl Fn(i64) -> Error) -> Result<()> {
    // Repeated indices are read once.
    let mut layout = index.layout.clone();
    for (size, &stride) in layout.sizes.iter_mut().zip(&layout.strides) {
        *size = if stride == 0 { (*size).min(1) } else { *size };
    }
    let memory = index.memory()?;
    let numbers = memory.typed::<i64>();
    let mut beyond = false;
    walk([&layout], |run| {
        let start = run.offset[0] as usize;
        if run.stride[0] == 1 {
            let numbers = numbers.get(start..start + run.length).ok_or_else(lost)?;
            beyond |= numbers.iter().fold(false, |any, number| any | !range.contains(&get(number)));
        } else {
            for step in 0..run.length as i64 {
                beyond |= !range.contains(&get(numbers.get(at(&run, step)[0]).ok_or_else(lost)?));
            }
        }
        Ok(())
    })?;
    if beyond {
        for place in layout.offsets() {
            let number = get(numbers.get(place as usize).ok_or_else(lost)?);
            if !range.contains(&number) {
                return Err(error(number));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::testing::{must, tensor};
    use crate::{DType, Scalar};

    /// Runs give what one element after another in row-major order gives, whatever the layouts.
    #[test]
    fn runs_write_what_single_elements_write() {
        const ODD: [f64; 6] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.1, 300.7];
        for (rows, columns) in
            [(0, 3), (1, 1), (1, APART as i64 + 1), (3, 2 * APART as i64), (APART as i64, 3), (17, 9)]
        {
            let sizes = [rows, columns];
            let numel = rows * columns;
            let values: Vec<f64> = (0..numel).map(|i| ODD[i as usize % 6] + (i * 7 % 11) as f64).collect();
            let row_major = Layout::contiguous(&sizes);
            let Ok(turned) = Layout::contiguous(&[columns, rows]).transpose(0, 1) else { panic!("transpose") };
            let repeated = |d: usize| {
                let mut layout = Layout::contiguous(&[if d == 0 { columns } else { rows }]);
                layout.strides = Dims::from_slice(if d == 0 { &[0, 1] } else { &[1, 0] });
                Layout { sizes: Dims::from_slice(&sizes), ..layout }
            };
            for dtype in [DType::Bool, DType::Char, DType::Half, DType::Float, DType::Double, DType::ComplexFloat] {
                let source = tensor(&[numel], dtype, &values);
                for (d, target) in [(0, &row_major), (1, &row_major), (0, &turned), (1, &turned)] {
                    let length = sizes[d].max(1);
                    let places: Vec<f64> = (0..numel).map(|i| ((i * 5 + i / 3) % length) as f64).collect();
                    let index = tensor(&[numel], DType::Long, &places);
                    for (index_layout, source_layout) in [
                        (row_major.clone(), row_major.clone()),
                        (turned.clone(), row_major.clone()),
                        (repeated(0), turned.clone()),
                        (repeated(1), row_major.clone()),
                        (row_major.clone(), repeated(1)),
                    ] {
                        for reduce in [
                            None,
                            Some(Reduce::Add),
                            Some(Reduce::Multiply),
                            Some(Reduce::Largest),
                            Some(Reduce::Smallest),
                        ] {
                            let shown = |in_order: bool| {
                                let base = tensor(&[numel], dtype, &values.iter().rev().copied().collect::<Vec<_>>());
                                let view = base.with_layout(target.clone());
                                let (index, source) = (
                                    index.with_layout(index_layout.clone()),
                                    source.with_layout(source_layout.clone()),
                                );
                                let spread = Spread { in_order, ..Spread::new(&view, d, index, source) };
                                let written = dispatch!(dtype, T => match reduce {
                                    None => spread.replace::<T>(),
                                    Some(reduce) => spread.reduce::<T>(reduce),
                                });
                                assert_eq!(written, Ok(()));
                                format!("{:?}", base.scalars())
                            };
                            assert_eq!(shown(false), shown(true), "{dtype:?} {sizes:?} {d} {target:?} {reduce:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_index_out_of_bounds_in_row_major_order_is_reported() {
        let numbers = [0.0, 1.0, 7.0, -5.0, 1.0, 9.0];
        let index = tensor(&[2, 3], DType::Long, &numbers);
        let error = |index: &View| in_bounds(index, -2..3, |i| Error::index(i.to_string())).map_err(|e| e.message);
        assert_eq!(error(&index), Err("7".to_owned()));
        let turned = must(crate::ops::view::transpose(&index, 0, 1));
        assert_eq!(error(&turned), Err("-5".to_owned()));
        assert_eq!(error(&index.with_layout(Layout::contiguous(&[2]))), Ok(()));
        assert_eq!(error(&must(View::scalar(Scalar::Int(3), DType::Long))), Err("3".to_owned()));
        assert_eq!(error(&index.with_layout(Layout::contiguous(&[0]))), Ok(()));
    }
}
