//! Fourier transforms of few points. Additions follow the order of Intel's library, which PyTorch calls, so that the
//! same terms cancel to zero. Lengths whose order is unknown are left to `rustfft`. Independent of tensors.

use super::lanes::{FftFloat, Lanes, Point};
use crate::parallel::{Kernel, vectorised, vectorised_kernel};
use num_complex::Complex;
use smallvec::{SmallVec, smallvec};
use std::iter;

/// Which side of a line is real; the order of additions depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Complex,
    /// The signal is real.
    FromReal,
    /// The result is real.
    ToReal,
}

/// What the library transforms at once: a line alone, whose points are adjacent or not, or one of several dimensions of
/// a complex or real signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    Line,
    StridedLine,
    Complex,
    Real,
}

/// Where a transform multiplies by its factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scaling {
    Nowhere,
    Points,
    /// The results of the inner transforms, or all terms of a real line ([`Algorithm::Scaled`]).
    Inside,
    Results,
}

impl Scaling {
    fn of(n: usize, line: Line, whole: Whole, factor: f64) -> Scaling {
        match (n, line) {
            _ if factor == 1.0 => Scaling::Nowhere,
            (2 | 4, Line::Complex) if matches!(whole, Whole::Line | Whole::Complex) => Scaling::Points,
            _ if whole != Whole::Line || factor != 1.0 / n as f64 => Scaling::Results,
            (6 | 10 | 14, Line::Complex) => Scaling::Inside,
            (3 | 5 | 6 | 7 | 10 | 12 | 15, Line::FromReal | Line::ToReal) => Scaling::Inside,
            _ => Scaling::Results,
        }
    }
}

/// The algorithm of a transform.
#[derive(Debug)]
enum Algorithm {
    One,
    Two,
    Four,
    Eight,
    /// An odd length, from sums and differences of the points that are equally far from both ends.
    Pairs,
    /// Three, five or seven points of a real signal, or five or seven of its spectrum.
    Real,
    /// Three, five or seven points of a real line, or of the inner transforms of one, multiplied by the factor.
    Scaled,
    /// Transforms of the first length within those of the second, both coprime (Good and Thomas).
    Coprime(usize, usize),
    /// Transforms of these lengths nested in each other, the first innermost, with twiddle factors in between (Cooley
    /// and Tukey).
    Chain(&'static [usize]),
}

/// The chains of the longer composed transforms, sorted by length.
const CHAINS: &[(usize, &[usize])] = &[
    (9, &[3, 3]),
    (16, &[4, 4]),
    (18, &[6, 3]),
    (20, &[4, 5]),
    (21, &[7, 3]),
    (25, &[5, 5]),
    (27, &[3, 3, 3]),
    (28, &[4, 7]),
    (30, &[6, 5]),
    (35, &[7, 5]),
    (36, &[4, 3, 3]),
    (42, &[6, 7]),
    (48, &[4, 4, 3]),
    (49, &[7, 7]),
    (54, &[6, 3, 3]),
    (60, &[4, 3, 5]),
    (63, &[7, 3, 3]),
    (64, &[4, 4, 4]),
    (80, &[4, 4, 5]),
    (81, &[3, 3, 3, 3]),
    (84, &[4, 3, 7]),
    (100, &[4, 5, 5]),
    (112, &[4, 4, 7]),
    (144, &[4, 4, 3, 3]),
];

impl Algorithm {
    fn of(n: usize, line: Line, whole: Whole) -> Option<Algorithm> {
        let real = line != Line::Complex;
        Some(match n {
            1 => Algorithm::One,
            2 => Algorithm::Two,
            4 => Algorithm::Four,
            8 => Algorithm::Eight,
            3 if line == Line::FromReal => Algorithm::Real,
            5 | 7 if real => Algorithm::Real,
            3 | 5 | 7 | 17 | 19 | 23 | 29 | 31 | 37 | 41 | 43 | 47 => Algorithm::Pairs,
            6 => Algorithm::Coprime(3, 2),
            10 => Algorithm::Coprime(5, 2),
            12 => Algorithm::Coprime(3, 4),
            14 if !real => Algorithm::Coprime(7, 2),
            15 if line != Line::ToReal => Algorithm::Coprime(5, 3),
            16 if whole == Whole::Real && line == Line::FromReal => Algorithm::Chain(&[4, 4]),
            _ if real => return None,
            _ => Algorithm::Chain(CHAINS.iter().find(|(length, _)| *length == n)?.1),
        })
    }
}

/// A transform whose order of additions is known.
pub(super) struct ShortTransform<T> {
    n: usize,
    plan: Algorithm,
    line: Line,
    whole: Whole,
    forward: bool,
    factor: T,
    scaling: Scaling,
    /// The roots of unity: the rotations by multiples of `1 / n`.
    roots: Vec<Complex<T>>,
}

/// The number of pairs of points in the longest transform that is not composed of others.
const HALF: usize = 23;

/// A list of the numbers of a short transform, on the stack.
type StackVec<T> = SmallVec<[T; 16]>;

/// Evenly spaced points among others.
#[derive(Clone, Copy)]
struct StridedPoints<'a, T, const L: usize> {
    all: &'a [Point<T, L>],
    step: usize,
}

impl<'a, T: FftFloat, const L: usize> StridedPoints<'a, T, L> {
    #[inline(always)]
    fn at(&self, j: usize) -> Point<T, L> {
        self.all[j * self.step]
    }

    /// Returns every `step`th point, starting with `first`.
    fn every(&self, step: usize, first: usize) -> StridedPoints<'a, T, L> {
        StridedPoints { all: &self.all[first * self.step..], step: step * self.step }
    }
}

/// A run of `count` transforms that are not composed of others, whose points and results are adjacent. A struct instead
/// of a closure: a closure this large is not inlined into vectorised code.
struct Columns<'a, T, const L: usize> {
    short: &'a ShortTransform<T>,
    plan: &'a Algorithm,
    n: usize,
    points: StridedPoints<'a, T, L>,
    count: usize,
    out: &'a mut [Point<T, L>],
}

impl<T: FftFloat, const L: usize> Kernel for Columns<'_, T, L> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        let Columns { short, plan, n, points, count, out } = self;
        for k in 0..count {
            let column = StridedPoints { all: &points.all[k..], ..points };
            short.column(plan, n, column, |j, value| out[k + count * j] = value);
        }
    }
}

/// Multiplies points by twiddle factors, the multiples of `second / n`.
struct TwiddleProduct<'a, T, const L: usize> {
    short: &'a ShortTransform<T>,
    row: &'a mut [Point<T, L>],
    second: usize,
    n: usize,
}

impl<T: FftFloat, const L: usize> Kernel for TwiddleProduct<'_, T, L> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        let TwiddleProduct { short, row, second, n } = self;
        for (value, root) in row.iter_mut().skip(1).zip(short.turns(second, n)) {
            *value = *value * if short.forward { root.conj() } else { root };
        }
    }
}

impl<T: FftFloat> ShortTransform<T> {
    pub(super) fn of(n: usize, line: Line, whole: Whole, forward: bool, factor: f64) -> Option<ShortTransform<T>> {
        let scaling = Scaling::of(n, line, whole, factor);
        let plan = match n {
            3 | 5 | 7 if scaling == Scaling::Inside => Algorithm::Scaled,
            _ => Algorithm::of(n, line, whole)?,
        };
        let turn = |k: usize| Complex::<f64>::cis(std::f64::consts::TAU * k as f64 / n as f64);
        let roots = (0..n).map(turn).map(|root| Complex::new(T::number(root.re), T::number(root.im))).collect();
        Some(ShortTransform { n, plan, line, whole, forward, factor: T::number(factor), scaling, roots })
    }

    /// Transforms `n` numbers of each line, and multiplies by the factor. Overwrites the points.
    pub(super) fn process<const L: usize>(&self, points: &mut [Point<T, L>], out: &mut [Point<T, L>]) {
        if self.scaling == Scaling::Points {
            self.scale(points);
        }
        let points = StridedPoints { all: points, step: 1 };
        match (&self.plan, self.line) {
            (Algorithm::Real, Line::ToReal) => self.to_real(points, out),
            (Algorithm::Real, _) => self.of_real(points, out),
            (plan, _) => self.run(plan, self.n, points, out),
        }
        if self.scaling == Scaling::Results {
            self.scale(out);
        }
    }

    fn scale<const L: usize>(&self, points: &mut [Point<T, L>]) {
        vectorised(|| points.iter_mut().for_each(|point| *point = point.scale(self.factor)));
    }

    /// Rotates by a quarter turn in the direction of the transform.
    #[inline(always)]
    fn quarter_turn<const L: usize>(&self, z: Point<T, L>) -> Point<T, L> {
        if self.forward { Point { re: z.im, im: -z.re } } else { Point { re: -z.im, im: z.re } }
    }

    /// Iterates over the roots of unity at `k / n`, `2 k / n` and so on. `n` divides the length, and `k < n`.
    #[inline(always)]
    fn turns(&self, k: usize, n: usize) -> impl Iterator<Item = Complex<T>> {
        let step = k * (self.n / n);
        let mut place = 0;
        iter::repeat_with(move || {
            place += step;
            if place >= self.n {
                place -= self.n;
            }
            self.roots[place]
        })
    }

    fn run<const L: usize>(&self, plan: &Algorithm, n: usize, points: StridedPoints<T, L>, out: &mut [Point<T, L>]) {
        match *plan {
            Algorithm::Coprime(a, b) => self.coprime(a, b, points, out),
            Algorithm::Chain(lengths) => self.chain(lengths, points, out),
            _ => vectorised_kernel(Columns { short: self, plan, n, points, count: 1, out }),
        }
    }

    /// Computes a transform that is not composed of others.
    #[inline(always)]
    fn column<const L: usize>(
        &self,
        plan: &Algorithm,
        n: usize,
        points: StridedPoints<T, L>,
        mut put: impl FnMut(usize, Point<T, L>),
    ) {
        let zero = Point::zero();
        let at = |j| points.at(j);
        match *plan {
            Algorithm::One => put(0, at(0)),
            Algorithm::Two => {
                put(0, at(0) + at(1));
                put(1, at(0) - at(1));
            }
            Algorithm::Four => {
                let values = self.four([at(0), at(1), at(2), at(3)]);
                (0..4).for_each(|k| put(k, values[k]));
            }
            Algorithm::Eight => {
                let even = self.four([at(0), at(2), at(4), at(6)]);
                let mut odd = self.four([at(1), at(3), at(5), at(7)]);
                let half = self.turns(1, 8).next().unwrap_or_default().re;
                // Rotated by an eighth, a quarter, and three eighths. Of several dimensions of a real signal, the
                // parts are multiplied before they are added.
                let (before, after) = if self.whole == Whole::Real && self.line == Line::FromReal {
                    (half, T::one())
                } else {
                    (T::one(), half)
                };
                let [first, third] = [odd[1].scale(before), odd[3].scale(before)];
                odd[1] = (first + self.quarter_turn(first)).scale(after);
                odd[2] = self.quarter_turn(odd[2]);
                odd[3] = (self.quarter_turn(third) - third).scale(after);
                for k in 0..4 {
                    put(k, even[k] + odd[k]);
                    put(k + 4, even[k] - odd[k]);
                }
            }
            Algorithm::Scaled => self.scaled_pairs(n, points, put),
            _ => match n {
                3 => self.pairs(points, [&mut [zero; 1], &mut [zero; 1], &mut [zero; 1]], put),
                5 => self.pairs(points, [&mut [zero; 2], &mut [zero; 2], &mut [zero; 2]], put),
                7 => self.pairs(points, [&mut [zero; 3], &mut [zero; 3], &mut [zero; 3]], put),
                _ => {
                    let mut room = [[zero; HALF]; 3];
                    self.pairs(points, room.each_mut().map(|room| &mut room[..n / 2]), put);
                }
            },
        }
    }

    #[inline(always)]
    fn four<const L: usize>(&self, [a, b, c, d]: [Point<T, L>; 4]) -> [Point<T, L>; 4] {
        let (sum, difference) = (a + c, a - c);
        let (other_sum, turned) = (b + d, self.quarter_turn(b - d));
        [sum + other_sum, difference + turned, sum - other_sum, difference - turned]
    }

    /// Returns whether a transform of five points within a chain adds its terms one after another. It does unless
    /// vectors process four at a time.
    #[inline(always)]
    fn in_turn(&self) -> bool {
        self.n > 15 && !self.n.is_multiple_of(4)
    }

    /// Adds up the terms of a transform of odd length. Up to seven points, the pairs are summed before the first point
    /// is added; longer transforms use two sums, of every second term each.
    #[inline(always)]
    fn added<const L: usize>(&self, first: Option<Point<T, L>>, terms: &[Point<T, L>]) -> Point<T, L> {
        let half = terms.len();
        if half == 2 && self.in_turn() {
            return in_order(first, terms, 0, 1);
        }
        if half <= 3 {
            let pairs = in_order(None, terms, 0, 1);
            return first.map_or(pairs, |first| first + pairs);
        }
        let (even, last) = terms.split_at(half - half % 2);
        let both = in_order(first, even, 0, 2) + in_order(None, even, 1, 2);
        last.first().map_or(both, |last| both + *last)
    }

    /// Computes a transform of odd length; the scratch slices have one element for each pair of points.
    #[inline(always)]
    fn pairs<const L: usize>(
        &self,
        points: StridedPoints<T, L>,
        [sums, differences, terms]: [&mut [Point<T, L>]; 3],
        mut put: impl FnMut(usize, Point<T, L>),
    ) {
        let (half, first) = (sums.len(), points.at(0));
        let n = 2 * half + 1;
        for j in 0..half {
            let (a, b) = (points.at(j + 1), points.at(n - 1 - j));
            (sums[j], differences[j]) = (a + b, a - b);
        }
        put(0, if half <= 3 { self.added(Some(first), sums) } else { in_order(Some(first), sums, 0, 1) });
        for k in 1..=half {
            for ((term, sum), root) in terms.iter_mut().zip(&*sums).zip(self.turns(k, n)) {
                *term = sum.scale(root.re);
            }
            let even = self.added(Some(first), terms);
            for ((term, difference), root) in terms.iter_mut().zip(&*differences).zip(self.turns(k, n)) {
                *term = difference.scale(root.im);
            }
            let odd = self.quarter_turn(self.added(None, terms));
            put(k, even + odd);
            put(n - k, even - odd);
        }
    }

    /// Computes [`Algorithm::Scaled`]. Three points are multiplied by roots with the factor in them; the sums and
    /// differences of more points are multiplied by the factor first.
    #[inline(always)]
    fn scaled_pairs<const L: usize>(
        &self,
        n: usize,
        points: StridedPoints<T, L>,
        mut put: impl FnMut(usize, Point<T, L>),
    ) {
        let (half, factor, from_real) = (n / 2, self.factor, self.line == Line::FromReal);
        let first = points.at(0).scale(factor);
        let [mut sums, mut differences] = [[Point::zero(); 3]; 2];
        for j in 0..half {
            let (a, b) = (points.at(j + 1), points.at(n - 1 - j));
            (sums[j], differences[j]) = (a + b, a - b);
        }
        let whole = sums.map(|sum| sum.scale(factor));
        let mut root_factor = factor;
        if n > 3 {
            (sums, differences, root_factor) =
                (whole, differences.map(|difference| difference.scale(factor)), T::one());
        }
        for k in 0..=half {
            let roots = self.turns(k, n).take(half);
            let [mut terms, mut turned] = [whole, differences];
            for (j, root) in roots.enumerate() {
                if k > 0 {
                    terms[j] = sums[j].scale(root.re * root_factor);
                }
                turned[j] = differences[j].scale(root.im * root_factor);
            }
            let ([a, b, c], [d, e, f]) = (terms, turned);
            let even = match (n, k) {
                (3, _) => first + a,
                (5, 0) if self.n == 5 => first + b + a,
                (5, 0) if self.n != 10 || !from_real => first + a + b,
                (5, _) if self.n == 5 => first + a + b,
                (5, _) => first + (a + b),
                (_, 0) if !from_real => a + b + first + c,
                (_, 1) if from_real => first + a + c + b,
                _ => first + a + (b + c),
            };
            let odd = match n {
                3 => d,
                5 => d + e,
                _ if from_real => d + f + e,
                _ if k == 2 => e + f + d,
                _ => d + e + f,
            };
            let odd = self.quarter_turn(odd);
            put(k, even + odd);
            if k > 0 {
                put(n - k, even - odd);
            }
        }
    }

    fn coprime<const L: usize>(&self, a: usize, b: usize, points: StridedPoints<T, L>, out: &mut [Point<T, L>]) {
        let n = a * b;
        let of = |n| Algorithm::of(n, Line::Complex, Whole::Line);
        let (Some(mut inner), Some(outer)) = (of(a), of(b)) else { return };
        let inside = self.scaling == Scaling::Inside;
        if inside && self.line != Line::Complex {
            inner = Algorithm::Scaled;
        }
        let mut ordered: StackVec<Point<T, L>> = smallvec![Point::zero(); a];
        let mut rows: StackVec<Point<T, L>> = smallvec![Point::zero(); n];
        for (second, row) in rows.chunks_exact_mut(a).enumerate() {
            for (first, point) in ordered.iter_mut().enumerate() {
                *point = points.at((b * first + a * second) % n);
            }
            self.run(&inner, a, StridedPoints { all: &ordered, step: 1 }, row);
        }
        if inside && self.line == Line::Complex {
            self.scale(&mut rows);
        }
        let mut columns: StackVec<Point<T, L>> = smallvec![Point::zero(); n];
        let points = StridedPoints { all: &rows, step: a };
        vectorised_kernel(Columns { short: self, plan: &outer, n: b, points, count: a, out: &mut columns });
        // The results are ordered by their remainders modulo both lengths.
        for (place, value) in out.iter_mut().enumerate() {
            *value = columns[place % a + place % b * a];
        }
    }

    fn chain<const L: usize>(&self, lengths: &[usize], points: StridedPoints<T, L>, out: &mut [Point<T, L>]) {
        let Some((&b, inner)) = lengths.split_last() else {
            out[0] = points.at(0);
            return;
        };
        let a: usize = inner.iter().product();
        let Some(outer) = Algorithm::of(b, Line::Complex, Whole::Line) else { return };
        if a == 1 {
            return self.run(&outer, b, points, out);
        }
        let n = a * b;
        let mut rows: StackVec<Point<T, L>> = smallvec![Point::zero(); n];
        for (second, row) in rows.chunks_exact_mut(a).enumerate() {
            self.chain(inner, points.every(b, second), row);
            if second > 0 {
                vectorised_kernel(TwiddleProduct { short: self, row, second, n });
            }
        }
        let points = StridedPoints { all: &rows, step: a };
        vectorised_kernel(Columns { short: self, plan: &outer, n: b, points, count: a, out });
    }

    /// Transforms three, five or seven points of a real signal forwards. If all points are zero, the products keep
    /// their signs.
    fn of_real<const L: usize>(&self, points: StridedPoints<T, L>, out: &mut [Point<T, L>]) {
        let n = self.n;
        let at = |j| points.at(j).re;
        let both: StackVec<_> = (1..=n / 2).map(|j| (at(j) + at(n - j), at(j) - at(n - j))).collect();
        for k in 0..=n / 2 {
            let turned = || both.iter().zip(self.turns(k, n));
            let even: StackVec<Lanes<T, L>> = turned().map(|((sum, _), root)| *sum * root.re).collect();
            let odd: StackVec<Lanes<T, L>> = turned().map(|((_, difference), root)| *difference * -root.im).collect();
            let (re, im) = match (&even[..], &odd[..]) {
                (&[a], &[b]) => (at(0) + a, b),
                (&[a, b], &[c, d]) if k == 0 => (at(0) + (a + b), c + d),
                (&[a, b], &[c, d]) => (at(0) + a + b, c + d),
                (&[a, b, c], &[d, e, f]) => (at(0) + c + (a + b), if k == 3 { d + (e + f) } else { d + f + e }),
                _ => return,
            };
            (out[k], out[(n - k) % n]) = (Point { re, im }, Point { re, im: -im });
        }
    }

    /// Computes five or seven points of a real signal from its spectrum.
    fn to_real<const L: usize>(&self, points: StridedPoints<T, L>, out: &mut [Point<T, L>]) {
        let (n, first) = (self.n, points.at(0).re);
        let twice: StackVec<_> = (1..=n / 2).map(|j| points.at(j) + points.at(j)).collect();
        for k in 0..=n / 2 {
            let turned = || twice.iter().zip(self.turns(k, n));
            let even: StackVec<Lanes<T, L>> = turned().map(|(z, root)| z.re * root.re).collect();
            let odd: StackVec<Lanes<T, L>> = turned().map(|(z, root)| z.im * root.im).collect();
            let (re, im) = match (&even[..], &odd[..]) {
                (&[a, b], &[c, d]) => match k {
                    0 => (first + (a + b), c + d),
                    1 => (first + b + a, c + d),
                    _ => (first + a + b, c + d),
                },
                (&[a, b, c], &[d, e, f]) => match k {
                    1 => (first + c + (a + b), d + e + f),
                    2 => (first + c + (a + b), d + (e + f)),
                    _ => (first + (a + b + c), d + e + f),
                },
                _ => return,
            };
            let im = if self.forward { -im } else { im };
            out[k] = Point { re: re - im, im: Lanes::zero() };
            if k > 0 {
                out[n - k] = Point { re: re + im, im: Lanes::zero() };
            }
        }
    }
}

/// Adds terms one after another: `first` if given, then every `step`th term starting at `from`.
#[inline(always)]
fn in_order<T: FftFloat, const L: usize>(
    first: Option<Point<T, L>>,
    terms: &[Point<T, L>],
    from: usize,
    step: usize,
) -> Point<T, L> {
    let terms = terms.iter().skip(from).step_by(step);
    terms.fold(first, |sum, term| Some(sum.map_or(*term, |sum| sum + *term))).unwrap_or(Point::zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_takes_the_steps_of_a_line_alone() {
        let lines = [Line::Complex, Line::FromReal, Line::ToReal];
        let factors = |n| [1.0, 1.0 / n as f64, 0.3];
        let cases = (1..=144).flat_map(|n| lines.into_iter().flat_map(move |line| factors(n).map(|by| (n, line, by))));
        for (n, line, factor) in cases {
            let Some(short) = ShortTransform::<f32>::of(n, line, Whole::Line, n % 2 == 0, factor) else { continue };
            let number = |i: usize| ((i * i * 7919 + 31 * i) % 1009) as f32 / 504.0 - 1.0;
            let lanes = |i: usize| Lanes(std::array::from_fn(|lane| number(8 * i + lane)));
            let mut points: Vec<Point<f32, 8>> =
                (0..n).map(|j| Point { re: lanes(2 * j), im: lanes(2 * j + 1) }).collect();
            let mut together = vec![Point::zero(); n];
            let whole = points.clone();
            short.process(&mut points, &mut together);
            for lane in 0..8 {
                let only = |from: &Lanes<f32, 8>| Lanes([from.0[lane]]);
                let mut points: Vec<Point<f32, 1>> =
                    whole.iter().map(|Point { re, im }| Point { re: only(re), im: only(im) }).collect();
                let mut alone = vec![Point::zero(); n];
                short.process(&mut points, &mut alone);
                let same = alone.iter().zip(&together).all(|(alone, together)| {
                    alone.re.0[0].to_bits() == together.re.0[lane].to_bits()
                        && alone.im.0[0].to_bits() == together.im.0[lane].to_bits()
                });
                assert!(same, "{n} points, {line:?}, lane {lane}");
            }
        }
    }
}
