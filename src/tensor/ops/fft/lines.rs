//! Transforms consecutive lines on all cores: several short lines at a time by `short.rs`, or one after another by
//! `long.rs` if the order of PyTorch's steps is unknown.

use super::TransformKind;
use super::lanes::{FftFloat, Point};
use super::long::LongTransform;
use super::short::{Line, ShortTransform, Whole};
use crate::memory::Plain;
use crate::ops::check::lost;
use crate::ops::copy;
use crate::thresholds::PIECE;
use crate::{Result, View, interrupt, limits, parallel};
use num_complex::Complex;
use std::iter;

/// The number of short lines transformed together.
const LANES: usize = 8;

/// The steps that a number of a result takes, compared with an element of other loops.
const STEPS: usize = 4;

/// Returns the numbers of the results that a core computes at a time: whole units.
fn piece(unit: usize) -> usize {
    (PIECE / unit).max(1).saturating_mul(unit)
}

/// How lines are transformed.
#[derive(Debug)]
pub(super) struct LineTransform {
    /// The number of points of a transform.
    pub n: usize,
    /// The number of values in an input line, and in a line of the result.
    pub present: usize,
    pub kept: usize,
    pub kind: TransformKind,
    pub whole: Whole,
    pub forward: bool,
    /// The factor that results are multiplied by.
    pub factor: f64,
}

impl LineTransform {
    /// Transforms the lines of `signal` into those of `out`; both are row-major. Their numbers, or the parts of their
    /// complex numbers, have type `T`.
    ///
    /// # Errors
    /// KeyboardInterrupt.
    pub(super) fn compute<T: FftFloat + Plain>(&self, signal: &View, out: &View) -> Result<()> {
        if out.numel() == 0 {
            return Ok(());
        }
        let numbers = |view: &View| if view.dtype.is_complex() { 2 } else { 1 };
        let (reads, writes) = (numbers(signal), numbers(out));
        let signal = match parallel::reading::<T, _>(&*signal.memory()?, |_| ()) {
            Some(()) => signal.clone(),
            // `frombuffer` may start at an odd byte; such a signal is copied.
            None => copy::clone(signal)?,
        };
        let first = signal.layout.offset as usize * reads;
        let length = out.numel() as usize * writes;
        parallel::between::<T, T, _>(&*signal.memory()?, &*out.memory()?, 0..length, |from, to| {
            self.run(Source { from: from.get(first..).unwrap_or_default(), complex: reads == 2 }, to, writes)
        })
        .unwrap_or_else(|| Err(lost()))
    }

    fn run<T: FftFloat + Plain>(&self, source: Source<T>, to: &mut [T], writes: usize) -> Result<()> {
        let real = !source.complex;
        let line = match self.kind {
            TransformKind::HalfToReal => Line::ToReal,
            _ if real => Line::FromReal,
            _ => Line::Complex,
        };
        // The inverse transform of a real signal is the conjugate of its forward transform; missing halves of spectra
        // are filled with conjugates.
        let forward = match line {
            Line::Complex => self.forward,
            Line::FromReal => true,
            Line::ToReal => false,
        };
        let size = self.kept * writes;
        match ShortTransform::of(self.n, line, self.whole, forward, self.factor) {
            Some(short) => {
                let work = to.len().saturating_mul(STEPS);
                parallel::parts_of(to, piece(size * LANES), work, &|start, part| {
                    self.by_lanes::<T, LANES>(&short, source, start / size, part, writes)
                })
            }
            None => {
                let plan = LongTransform::<T>::of(self.n, line, forward)?;
                // A long line is divided among the cores itself.
                let piece = if plan.is_divided() { to.len() } else { piece(size) };
                let work = to.len().saturating_mul(STEPS);
                parallel::parts_of(to, piece, work, &|start, part| {
                    let mut points = limits::filled(Complex::default(), plan.points())?;
                    let mut scratch = limits::filled(Complex::default(), plan.scratch())?;
                    for (i, out) in part.chunks_exact_mut(size).enumerate() {
                        interrupt::check()?;
                        plan.load(&mut points, self, source, start / size + i);
                        plan.process(&mut points, &mut scratch)?;
                        plan.store(&points, self, real, out);
                    }
                    Ok(())
                })
            }
        }
    }

    /// Transforms `L` lines at a time, starting with line `first`.
    fn by_lanes<T: FftFloat + Plain, const L: usize>(
        &self,
        short: &ShortTransform<T>,
        source: Source<T>,
        first: usize,
        out: &mut [T],
        writes: usize,
    ) -> Result<()> {
        let mut points = limits::filled(Point::<T, L>::zero(), self.n)?;
        let mut results = limits::filled(Point::<T, L>::zero(), self.n)?;
        let size = self.kept * writes;
        for (i, lines) in out.chunks_mut(size * L).enumerate() {
            let count = lines.len() / size;
            for lane in 0..count {
                self.load(source, first + i * L + lane, |j, value| {
                    if let Some(point) = points.get_mut(j) {
                        (point.re.0[lane], point.im.0[lane]) = (value.re, value.im);
                    }
                });
            }
            short.process(&mut points, &mut results);
            for (lane, out) in lines.chunks_exact_mut(size).enumerate() {
                let at = |k: usize| {
                    results.get(k).map_or(Complex::default(), |point| Complex::new(point.re.0[lane], point.im.0[lane]))
                };
                self.store(!source.complex, at, 1.0, out);
            }
        }
        Ok(())
    }

    /// Passes the points of a line to `put`, padded with zeros.
    #[inline(always)]
    pub(super) fn load<T: FftFloat>(&self, source: Source<T>, line: usize, mut put: impl FnMut(usize, Complex<T>)) {
        let LineTransform { n, present, kind, forward, .. } = *self;
        let reads = if source.complex { 2 } else { 1 };
        let own = source.from.get(line * present * reads..).unwrap_or_default();
        let own = own.get(..present * reads).unwrap_or(own);
        let pairs = own.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1]));
        match kind {
            TransformKind::HalfToReal => {
                let padding = iter::repeat_n(Complex::default(), (n / 2 + 1).saturating_sub(present));
                for (j, value) in pairs.take(n / 2 + 1).chain(padding).enumerate() {
                    // A point that is its own mirror image is real.
                    if j == 0 || 2 * j == n {
                        put(j, Complex::new(value.re, T::zero()));
                        continue;
                    }
                    let (value, mirrored) = if forward { (value.conj(), value) } else { (value, value.conj()) };
                    put(j, value);
                    put(n - j, mirrored);
                }
            }
            _ => {
                match source.complex {
                    true => pairs.take(n).enumerate().for_each(|(j, value)| put(j, value)),
                    false => own.iter().take(n).enumerate().for_each(|(j, &x)| put(j, Complex::new(x, T::zero()))),
                }
                (present..n).for_each(|j| put(j, Complex::default()));
            }
        }
    }

    /// Writes the results of a line, scaled.
    #[inline(always)]
    pub(super) fn store<T: FftFloat>(&self, real: bool, at: impl Fn(usize) -> Complex<T>, factor: f64, out: &mut [T]) {
        let &LineTransform { n, kind, forward, .. } = self;
        let scale = T::number(factor);
        if kind == TransformKind::HalfToReal {
            out.iter_mut().enumerate().for_each(|(k, out)| *out = at(k).re * scale);
            return;
        }
        let half = if real { (n / 2 + 1) * 2 } else { out.len() };
        let (first, mirrored) = out.split_at_mut(half.min(out.len()));
        let turned = |value: Complex<T>, turn: bool| if turn { value.conj() } else { value };
        for (k, out) in first.chunks_exact_mut(2).enumerate() {
            let value = at(k);
            // The spectrum of a real signal is symmetric.
            let value = match real {
                true if k == 0 || 2 * k == n => turned(Complex::new(value.re, T::zero()), !forward),
                _ => turned(value, real && !forward),
            };
            (out[0], out[1]) = (value.re * scale, value.im * scale);
        }
        for (k, out) in mirrored.chunks_exact_mut(2).enumerate() {
            let value = turned(at(n - n / 2 - 1 - k), forward);
            (out[0], out[1]) = (value.re * scale, value.im * scale);
        }
    }
}

/// Real or complex numbers; complex ones as pairs of parts.
#[derive(Clone, Copy)]
pub(super) struct Source<'a, T> {
    from: &'a [T],
    complex: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::fft::{Norm, Transform, one};
    use crate::ops::view::{movedim, select};
    use crate::thresholds::DIVIDED;
    use crate::{DType, Scalar};

    type C = Complex<f64>;

    /// Computes the given points of the transform from its definition.
    fn reference_transform(values: &[C], forward: bool, points: &[usize]) -> Vec<C> {
        let n = values.len();
        let turn = if forward { -std::f64::consts::TAU } else { std::f64::consts::TAU };
        let roots: Vec<C> = (0..n).map(|k| C::cis(turn * k as f64 / n as f64)).collect();
        let point = |k: usize| values.iter().enumerate().map(|(j, value)| value * roots[j * k % n]).sum();
        points.iter().copied().map(point).collect()
    }

    fn number(i: usize) -> f64 {
        ((i * i * 7919 + 31 * i) % 1009) as f64 / 504.0 - 1.0
    }

    fn signal(sizes: [usize; 2], dtype: DType) -> View {
        let count = sizes[0] * sizes[1];
        let values = (0..count).map(|i| Scalar::Complex(C::new(number(i), number(i + 3 * count))));
        let values = values.map(|value| if dtype.is_complex() { value } else { Scalar::Float(value.to_complex().re) });
        View::from_scalars(&sizes.map(|size| size as i64), dtype, values).unwrap()
    }

    fn numbers(view: &View) -> Vec<C> {
        view.scalars().unwrap().iter().map(|value| value.to_complex()).collect()
    }

    /// Computes an unscaled transform.
    fn transformed(view: &View, n: usize, dim: i64, kind: TransformKind, forward: bool) -> View {
        let norm = if forward { Norm::Backward } else { Norm::Forward };
        let transform = Transform { name: "fft", kind, forward, norm, default: DType::Float };
        one(view, Some(n as i64), dim, &transform).unwrap()
    }

    #[test]
    fn every_length_gives_the_sums_of_its_points() {
        // Beyond the longest length with a known order, to cover lengths with and without one; and lengths that are
        // divided into columns and rows, or cannot be.
        let divided = [2 * DIVIDED - 1, 2 * DIVIDED, 3 * DIVIDED];
        for n in (1..=150).chain(divided) {
            // All points of the longest would take minutes. A step that divides no length meets columns and rows alike;
            // the last point may lie between two steps.
            let step = if n > 1000 { 101 } else { 1 };
            for (real, complex, part) in
                [(DType::Float, DType::ComplexFloat, 2e-6), (DType::Double, DType::ComplexDouble, 1e-13)]
            {
                for forward in [true, false] {
                    // Two lines, to check that the second begins at the right offset.
                    let (complex, real) = (signal([2, n], complex), signal([2, n], real));
                    let spectra = transformed(&real, n, -1, TransformKind::RealToHalf, forward);
                    for (view, kind, from) in [
                        (&complex, TransformKind::Complex, &complex),
                        (&real, TransformKind::Complex, &real),
                        (&real, TransformKind::RealToHalf, &real),
                        (
                            &spectra,
                            TransformKind::HalfToReal,
                            &transformed(&real, n, -1, TransformKind::Complex, forward),
                        ),
                    ] {
                        // Spectra are transformed back.
                        let forward = if kind == TransformKind::HalfToReal { !forward } else { forward };
                        let found = transformed(view, n, -1, kind, forward);
                        let kept = if kind == TransformKind::RealToHalf { n / 2 + 1 } else { n };
                        assert_eq!(found.sizes(), [2, kept as i64]);
                        let points: Vec<usize> = (0..kept).filter(|k| k % step == 0 || k + 1 == kept).collect();
                        let lines = numbers(from);
                        let sums = lines.chunks_exact(n).map(|line| reference_transform(line, forward, &points));
                        let wanted: Vec<C> = sums.flatten().collect();
                        let bound = part * wanted.iter().map(|value| value.norm()).fold(1.0, f64::max);
                        let found = numbers(&found);
                        let found = found.chunks_exact(kept).flat_map(|line| points.iter().map(|&k| line[k]));
                        for (a, b) in found.zip(&wanted) {
                            let apart = (a - b).norm();
                            assert!(apart <= bound, "{n} points, {kind:?}, {forward}: {apart:e} beyond {bound:e}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn lines_together_give_what_they_give_alone() {
        // Counts around the number of lanes, and enough lines for several threads; lengths for each kind of plan and
        // without one.
        for n in [1, 3, 5, 8, 11, 15, 16, 47] {
            for count in [1, LANES - 1, LANES, LANES + 1, 3 * LANES + 5, 8192 / n] {
                for (dtype, kind, forward) in [
                    (DType::ComplexFloat, TransformKind::Complex, true),
                    (DType::ComplexDouble, TransformKind::Complex, false),
                    (DType::Float, TransformKind::RealToHalf, true),
                    (DType::Double, TransformKind::Complex, false),
                    (DType::ComplexFloat, TransformKind::HalfToReal, false),
                ] {
                    let view = signal([count, n], dtype);
                    let across = signal([n, count], dtype);
                    for (view, dim) in [(view.clone(), 1), (across, 0)] {
                        let lines = movedim(&view, &[dim], &[-1]).unwrap();
                        parallel::set_cores(3);
                        let all = movedim(&transformed(&view, n, dim, kind, forward), &[dim], &[-1]).unwrap();
                        parallel::set_cores(0);
                        for line in (0..count).step_by(count.div_ceil(50)) {
                            let alone = transformed(&select(&lines, 0, line as i64).unwrap(), n, 0, kind, forward);
                            let together = select(&all, 0, line as i64).unwrap();
                            let bits = |view: &View| -> Vec<[u64; 2]> {
                                numbers(view).iter().map(|value| [value.re.to_bits(), value.im.to_bits()]).collect()
                            };
                            assert_eq!(bits(&alone), bits(&together), "line {line} of {count}, {n} points, {kind:?}");
                        }
                    }
                }
            }
        }
    }
}
