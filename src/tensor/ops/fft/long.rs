//! Fourier transforms of lines whose order of additions in PyTorch's library is unknown, by `rustfft`. Real lines of even
//! length take a complex transform of half the length. Very long lines are divided into columns and rows, so that caches
//! hold them and all cores share them. Independent of tensors.

use super::lanes::FftFloat;
use super::lines::{LineTransform, Source};
use super::short::Line;
use crate::thresholds::DIVIDED;
use crate::{Result, limits, parallel};
use num_complex::Complex;
use rustfft::{Fft, FftDirection, FftPlanner};
use std::sync::{Arc, Mutex, PoisonError};

/// A transform of lines of one length.
pub(super) struct LongTransform<T: FftFloat> {
    line: Line,
    forward: bool,
    /// Whether a point holds two numbers of a real line.
    halved: bool,
    /// The number of complex points.
    points: usize,
    steps: Steps<T>,
    /// The roots of unity of the whole line, for halved lines: the rotations by multiples of `1 / n`.
    roots: Vec<Complex<T>>,
}

/// How the complex points are transformed.
enum Steps<T: FftFloat> {
    AtOnce(Arc<dyn Fft<T>>),
    /// By columns and rows: transforms of the number of rows, then of the number of columns.
    Divided([Arc<dyn Fft<T>>; 2]),
}

/// The transforms that were used last, the latest at the end, with the number of points of all.
pub(super) type Plans<T> = Mutex<Vec<Arc<LongTransform<T>>>>;

/// The points from which on a real line of even length takes a complex transform of half the length.
const HALVED: usize = 128;

/// The number of points of all transforms that are kept: planning takes longer than transforming.
const KEPT: usize = 1 << 22;

/// The columns that are transformed one after another, so that whole cache lines are read.
const ABREAST: usize = 8;

impl<T: FftFloat> LongTransform<T> {
    /// Returns the transform of lines of `n` points, which is kept for the next lines of that length.
    ///
    /// # Errors
    /// RuntimeError if there is not enough memory.
    pub(super) fn of(n: usize, line: Line, forward: bool) -> Result<Arc<LongTransform<T>>> {
        let mut plans = T::plans().lock().unwrap_or_else(PoisonError::into_inner);
        let matches = |plan: &Arc<Self>| plan.length() == n && plan.line == line && plan.forward == forward;
        let plan = match plans.iter().position(matches) {
            Some(place) => plans.remove(place),
            None => Arc::new(Self::planned(n, line, forward)?),
        };
        plans.push(plan.clone());
        while plans.len() > 1 && plans.iter().map(|plan| plan.points).sum::<usize>() > KEPT {
            plans.remove(0);
        }
        Ok(plan)
    }

    fn planned(n: usize, line: Line, forward: bool) -> Result<LongTransform<T>> {
        // In short lines, whose numbers are looked at, what cancels should leave nothing.
        let halved = line != Line::Complex && n.is_multiple_of(2) && n >= HALVED;
        let points = if halved { n / 2 } else { n };
        let direction = if forward { FftDirection::Forward } else { FftDirection::Inverse };
        let mut planner = FftPlanner::new();
        let divisor = |a: &usize| points.is_multiple_of(*a);
        let rows = if points < DIVIDED { 1 } else { (1..=points.isqrt()).rev().find(divisor).unwrap_or(1) };
        let steps = match rows {
            ..ABREAST => Steps::AtOnce(planner.plan_fft(points, direction)),
            _ => Steps::Divided([rows, points / rows].map(|n| planner.plan_fft(n, direction))),
        };
        let count = if halved { points / 2 + 1 } else { 0 };
        let mut roots = limits::vector(count)?;
        roots.extend((0..count).map(|k| number(root(k, n, forward))));
        Ok(LongTransform { line, forward, halved, points, steps, roots })
    }

    fn length(&self) -> usize {
        if self.halved { 2 * self.points } else { self.points }
    }

    /// Returns the number of complex points of a line.
    pub(super) fn points(&self) -> usize {
        self.points
    }

    /// Returns whether the cores share a line.
    pub(super) fn is_divided(&self) -> bool {
        matches!(self.steps, Steps::Divided(_))
    }

    /// Returns the number of complex numbers that [`Self::process`] needs besides the points.
    pub(super) fn scratch(&self) -> usize {
        match &self.steps {
            Steps::AtOnce(fft) => fft.get_inplace_scratch_len(),
            Steps::Divided(_) => self.points,
        }
    }

    /// Fills the points with a line.
    pub(super) fn load(&self, points: &mut [Complex<T>], lines: &LineTransform, source: Source<T>, line: usize) {
        match (self.halved, self.line) {
            (true, Line::FromReal) => lines.load(source, line, |j, value| {
                if let Some(point) = points.get_mut(j / 2) {
                    if j.is_multiple_of(2) { point.re = value.re } else { point.im = value.re }
                }
            }),
            (true, _) => {
                // Half of the spectrum is enough; its last point is kept apart.
                let (n, mut last) = (points.len(), T::zero());
                lines.load(source, line, |j, value| match points.get_mut(j) {
                    Some(point) => *point = value,
                    None if j == n => last = value.re,
                    None => {}
                });
                self.fold(points, last);
            }
            (false, _) => lines.load(source, line, |j, value| {
                if let Some(point) = points.get_mut(j) {
                    *point = value;
                }
            }),
        }
    }

    /// Turns half of the spectrum of a real line into the spectrum of its numbers in pairs.
    fn fold(&self, points: &mut [Complex<T>], last: T) {
        let n = points.len();
        let i = Complex::new(T::zero(), T::one());
        let first = points[0].re;
        points[0] = Complex::new(first + last, first - last);
        for k in 1..=n / 2 {
            let (a, b) = (points[k], points[n - k].conj());
            let (even, odd) = (a + b, (a - b) * self.roots[k] * i);
            points[k] = even + odd;
            points[n - k] = (even - odd).conj();
        }
    }

    /// Writes the results of a line.
    pub(super) fn store(&self, points: &[Complex<T>], lines: &LineTransform, real: bool, out: &mut [T]) {
        let at = |k: usize| points.get(k).copied().unwrap_or_default();
        match (self.halved, self.line) {
            (true, Line::FromReal) => {
                let (n, half) = (points.len(), T::number(0.5));
                let at = |k: usize| {
                    let (a, b) = (at(if k == n { 0 } else { k }), at(if k == 0 { 0 } else { n - k }).conj());
                    let turned = (a - b) * if k <= n / 2 { self.roots[k] } else { -self.roots[n - k].conj() };
                    ((a + b) + Complex::new(turned.im, -turned.re)) * half
                };
                lines.store(real, at, lines.factor, out);
            }
            (true, _) => {
                let at = |k: usize| {
                    let point = at(k / 2);
                    Complex::new(if k.is_multiple_of(2) { point.re } else { point.im }, T::zero())
                };
                lines.store(real, at, lines.factor, out);
            }
            (false, _) => lines.store(real, at, lines.factor, out),
        }
    }

    /// Transforms the points in place.
    ///
    /// # Errors
    /// KeyboardInterrupt; RuntimeError if there is not enough memory.
    pub(super) fn process(&self, points: &mut Vec<Complex<T>>, scratch: &mut Vec<Complex<T>>) -> Result<()> {
        let [down, along] = match &self.steps {
            Steps::AtOnce(fft) => {
                fft.process_with_scratch(points, scratch);
                return Ok(());
            }
            Steps::Divided(steps) => steps,
        };
        let (rows, columns) = (down.len(), along.len());
        // Each column is transformed, rotated, and becomes a row.
        self.columns(points, scratch, down, columns, |column, row| {
            let turn = |k: usize| root(column * k % self.points, self.points, self.forward);
            let fine: [Complex<f64>; TURNS] = std::array::from_fn(turn);
            for (k, values) in row.chunks_mut(TURNS).enumerate() {
                let coarse = turn(k * TURNS);
                for (value, fine) in values.iter_mut().zip(fine) {
                    *value = *value * number(coarse * fine);
                }
            }
        })?;
        self.columns(scratch, points, along, rows, |_, _| {})?;
        // The columns are rows now, and the results lie across them.
        parallel::parts_of(scratch, rows * ABREAST, self.points, &|start, part| {
            gather(points, columns, start / rows, part, rows);
            Ok(())
        })?;
        std::mem::swap(points, scratch);
        Ok(())
    }

    /// Transforms each of `count` columns, and writes them one after another.
    fn columns(
        &self,
        from: &[Complex<T>],
        to: &mut [Complex<T>],
        fft: &Arc<dyn Fft<T>>,
        count: usize,
        after: impl Fn(usize, &mut [Complex<T>]) + Sync,
    ) -> Result<()> {
        let length = fft.len();
        parallel::parts_of(to, length * ABREAST, self.points, &|start, part| {
            let mut scratch = limits::filled(Complex::default(), fft.get_inplace_scratch_len())?;
            let first = start / length;
            gather(from, count, first, part, length);
            for (i, column) in part.chunks_exact_mut(length).enumerate() {
                fft.process_with_scratch(column, &mut scratch);
                after(first + i, column);
            }
            Ok(())
        })
    }
}

/// Copies columns of a matrix with `count` of them, from `first` on, one after another.
fn gather<T: Copy>(from: &[T], count: usize, first: usize, to: &mut [T], length: usize) {
    for (j, row) in from.chunks_exact(count).enumerate() {
        for (column, &value) in to.chunks_exact_mut(length).zip(&row[first..]) {
            column[j] = value;
        }
    }
}

/// The rotations of a row that are computed at a time.
const TURNS: usize = 32;

/// Returns the rotation by `k / n`. Quarter turns are exact, so that what cancels leaves nothing.
fn root(k: usize, n: usize, forward: bool) -> Complex<f64> {
    let (quarters, rest) = (4 * k / n, 4 * k % n);
    if rest == 0 {
        let sign = if forward { -1.0 } else { 1.0 };
        return [(1.0, 0.0), (0.0, sign), (-1.0, 0.0), (0.0, -sign)].map(|(re, im)| Complex::new(re, im))[quarters % 4];
    }
    let turn = std::f64::consts::TAU * k as f64 / n as f64;
    Complex::cis(if forward { -turn } else { turn })
}

fn number<T: FftFloat>(value: Complex<f64>) -> Complex<T> {
    Complex::new(T::number(value.re), T::number(value.im))
}
