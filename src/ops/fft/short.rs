//! Fourier transforms of few points, addition by addition in the order of Intel's library, which PyTorch calls: what cancels
//! there to zero cancels here. Lengths whose order is not known are `rustfft`'s. Knows numbers only.

use num_complex::Complex;
use rustfft::FftNum;
use rustfft::num_traits::Float;
use smallvec::{SmallVec, smallvec};
use std::iter;

/// The numbers of a transform.
pub trait Part: FftNum + Float + Default {}
impl<T: FftNum + Float + Default> Part for T {}

/// What is known of the numbers of a line, on which the order depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Complex,
    /// The signal is real.
    FromReal,
    /// The result is.
    ToReal,
}

/// The way a transform is put together.
#[derive(Debug)]
enum Plan {
    One,
    Two,
    Four,
    Eight,
    /// By the sums and differences of what lies as far from both ends: an odd length.
    Pairs,
    /// Three, five or seven points of a real signal, or five or seven of its spectrum.
    Real,
    /// Transforms of the first length within those of the second, both coprime (Good and Thomas).
    Coprime(usize, usize),
    /// Transforms of these lengths within each other, the first innermost, with turns in between (Cooley and Tukey).
    Chain(&'static [usize]),
}

/// The longest transforms put together of others, in the order of their lengths.
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

impl Plan {
    fn of(n: usize, line: Line) -> Option<Plan> {
        let real = line != Line::Complex;
        Some(match n {
            1 => Plan::One,
            2 => Plan::Two,
            4 => Plan::Four,
            8 => Plan::Eight,
            3 if line == Line::FromReal => Plan::Real,
            5 | 7 if real => Plan::Real,
            3 | 5 | 7 | 17 | 19 | 23 | 29 | 31 | 37 | 41 | 43 | 47 => Plan::Pairs,
            6 => Plan::Coprime(3, 2),
            10 => Plan::Coprime(5, 2),
            12 => Plan::Coprime(3, 4),
            14 if !real => Plan::Coprime(7, 2),
            15 if line != Line::ToReal => Plan::Coprime(5, 3),
            _ if real => return None,
            _ => Plan::Chain(CHAINS.iter().find(|(length, _)| *length == n)?.1),
        })
    }
}

/// A transform of a length whose order is known.
pub struct Short<T> {
    n: usize,
    plan: Plan,
    line: Line,
    forward: bool,
    /// Where turns by multiples of `1 / n` lead.
    roots: Vec<Complex<T>>,
}

/// As many numbers as the longest transform has, or half of them, without an allocation.
type Numbers<T> = SmallVec<[T; 48]>;

/// Points that lie evenly apart among others.
#[derive(Clone, Copy)]
struct Points<'a, T> {
    all: &'a [Complex<T>],
    step: usize,
}

impl<'a, T: Part> Points<'a, T> {
    fn at(&self, j: usize) -> Complex<T> {
        self.all[j * self.step]
    }

    /// Every `step`th of them, from `first` on.
    fn every(&self, step: usize, first: usize) -> Points<'a, T> {
        Points { all: &self.all[first * self.step..], step: step * self.step }
    }
}

impl<T: Part> Short<T> {
    pub fn of(n: usize, line: Line, forward: bool) -> Option<Short<T>> {
        let plan = Plan::of(n, line)?;
        let part = |value: f64| T::from_f64(value).unwrap_or_else(T::zero);
        let turn = |k: usize| Complex::<f64>::cis(std::f64::consts::TAU * k as f64 / n as f64);
        let roots = (0..n).map(turn).map(|root| Complex::new(part(root.re), part(root.im))).collect();
        Some(Short { n, plan, line, forward, roots })
    }

    /// Transforms `n` numbers in place.
    pub fn process(&self, line: &mut [Complex<T>]) {
        let mut out: Numbers<Complex<T>> = smallvec![Complex::default(); self.n];
        let points = Points { all: line, step: 1 };
        match (&self.plan, self.line) {
            (Plan::Real, Line::ToReal) => self.to_real(points, &mut out),
            (Plan::Real, _) => self.of_real(points, &mut out),
            (plan, _) => self.run(plan, self.n, points, &mut out),
        }
        line.copy_from_slice(&out);
    }

    /// A quarter turn in the direction of the transform.
    fn turned(&self, z: Complex<T>) -> Complex<T> {
        if self.forward { Complex::new(z.im, -z.re) } else { Complex::new(-z.im, z.re) }
    }

    /// Where turns of `k / n`, of `2 k / n` and so on lead, `n` being a divisor of the length, and `k` less than it.
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

    fn run(&self, plan: &Plan, n: usize, points: Points<T>, out: &mut [Complex<T>]) {
        let at = |j| points.at(j);
        match *plan {
            Plan::One => out[0] = at(0),
            Plan::Two => (out[0], out[1]) = (at(0) + at(1), at(0) - at(1)),
            Plan::Four => out.copy_from_slice(&self.four([at(0), at(1), at(2), at(3)])),
            Plan::Eight => {
                let even = self.four([at(0), at(2), at(4), at(6)]);
                let mut odd = self.four([at(1), at(3), at(5), at(7)]);
                let half = self.turns(1, 8).next().unwrap_or_default().re;
                // Turned by an eighth, a quarter, and three eighths.
                odd[1] = (odd[1] + self.turned(odd[1])).scale(half);
                odd[2] = self.turned(odd[2]);
                odd[3] = (self.turned(odd[3]) - odd[3]).scale(half);
                for k in 0..4 {
                    (out[k], out[k + 4]) = (even[k] + odd[k], even[k] - odd[k]);
                }
            }
            Plan::Pairs | Plan::Real => self.pairs(n, points, out),
            Plan::Coprime(a, b) => self.coprime(a, b, points, out),
            Plan::Chain(lengths) => self.chain(lengths, points, out),
        }
    }

    fn four(&self, [a, b, c, d]: [Complex<T>; 4]) -> [Complex<T>; 4] {
        let (sum, difference) = (a + c, a - c);
        let (other_sum, turned) = (b + d, self.turned(b - d));
        [sum + other_sum, difference + turned, sum - other_sum, difference - turned]
    }

    /// Five points within a chain add one after the other, unless vectors take four of them at a time.
    fn in_turn(&self) -> bool {
        self.n > 15 && !self.n.is_multiple_of(4)
    }

    /// Adds up products: up to seven points those of the pairs first, beyond in two sums, of every second one.
    fn added(&self, n: usize, first: Option<Complex<T>>, terms: &[Complex<T>]) -> Complex<T> {
        let sum = |first: Option<Complex<T>>, terms: &mut dyn Iterator<Item = &Complex<T>>| {
            terms.fold(first, |sum, term| Some(sum.map_or(*term, |sum| sum + term))).unwrap_or_default()
        };
        if n == 5 && self.in_turn() {
            return sum(first, &mut terms.iter());
        }
        if n <= 7 {
            let pairs = sum(None, &mut terms.iter());
            return first.map_or(pairs, |first| first + pairs);
        }
        let (even, last) = terms.split_at(terms.len() - terms.len() % 2);
        let lanes = sum(first, &mut even.iter().step_by(2)) + sum(None, &mut even.iter().skip(1).step_by(2));
        last.first().map_or(lanes, |last| lanes + last)
    }

    fn pairs(&self, n: usize, points: Points<T>, out: &mut [Complex<T>]) {
        let half = n / 2;
        let first = points.at(0);
        let of_both = |j| (points.at(j), points.at(n - j));
        let sums: Numbers<_> = (1..=half).map(of_both).map(|(a, b)| a + b).collect();
        let differences: Numbers<_> = (1..=half).map(of_both).map(|(a, b)| a - b).collect();
        out[0] =
            if n <= 7 { self.added(n, Some(first), &sums) } else { sums.iter().fold(first, |sum, term| sum + term) };
        let mut terms: Numbers<_> = smallvec![Complex::default(); half];
        for k in 1..=half {
            for ((term, sum), root) in terms.iter_mut().zip(&sums).zip(self.turns(k, n)) {
                *term = sum.scale(root.re);
            }
            let even = self.added(n, Some(first), &terms);
            for ((term, difference), root) in terms.iter_mut().zip(&differences).zip(self.turns(k, n)) {
                *term = difference.scale(root.im);
            }
            let odd = self.turned(self.added(n, None, &terms));
            (out[k], out[n - k]) = (even + odd, even - odd);
        }
    }

    fn coprime(&self, a: usize, b: usize, points: Points<T>, out: &mut [Complex<T>]) {
        let n = a * b;
        let (Some(inner), Some(outer)) = (Plan::of(a, Line::Complex), Plan::of(b, Line::Complex)) else { return };
        let mut ordered: Numbers<Complex<T>> = smallvec![Complex::default(); a];
        let mut rows: Numbers<Complex<T>> = smallvec![Complex::default(); n];
        for (second, row) in rows.chunks_exact_mut(a).enumerate() {
            for (first, point) in ordered.iter_mut().enumerate() {
                *point = points.at((b * first + a * second) % n);
            }
            self.run(&inner, a, Points { all: &ordered, step: 1 }, row);
        }
        let mut columns: Numbers<Complex<T>> = smallvec![Complex::default(); n];
        for (k, column) in columns.chunks_exact_mut(b).enumerate() {
            self.run(&outer, b, Points { all: &rows[k..], step: a }, column);
        }
        // What leaves these rests when divided by both.
        for (place, value) in out.iter_mut().enumerate() {
            *value = columns[place % a * b + place % b];
        }
    }

    fn chain(&self, lengths: &[usize], points: Points<T>, out: &mut [Complex<T>]) {
        let Some((&b, inner)) = lengths.split_last() else {
            out[0] = points.at(0);
            return;
        };
        let a: usize = inner.iter().product();
        let Some(outer) = Plan::of(b, Line::Complex) else { return };
        if a == 1 {
            return self.run(&outer, b, points, out);
        }
        let n = a * b;
        let mut rows: Numbers<Complex<T>> = smallvec![Complex::default(); n];
        for (second, row) in rows.chunks_exact_mut(a).enumerate() {
            self.chain(inner, points.every(b, second), row);
            if second > 0 {
                for (value, root) in row.iter_mut().skip(1).zip(self.turns(second, n)) {
                    *value = *value * if self.forward { root.conj() } else { root };
                }
            }
        }
        let mut column: Numbers<Complex<T>> = smallvec![Complex::default(); b];
        for k in 0..a {
            self.run(&outer, b, Points { all: &rows[k..], step: a }, &mut column);
            for (second, value) in column.iter().enumerate() {
                out[k + a * second] = *value;
            }
        }
    }

    /// Three, five or seven points of a real signal, forwards. Of nothing but zeros every product has its sign.
    fn of_real(&self, points: Points<T>, out: &mut [Complex<T>]) {
        let n = self.n;
        let at = |j| points.at(j).re;
        let both: Numbers<_> = (1..=n / 2).map(|j| (at(j) + at(n - j), at(j) - at(n - j))).collect();
        for k in 0..=n / 2 {
            let turned = || both.iter().zip(self.turns(k, n));
            let even: Numbers<T> = turned().map(|((sum, _), root)| *sum * root.re).collect();
            let odd: Numbers<T> = turned().map(|((_, difference), root)| *difference * -root.im).collect();
            let (re, im) = match (&even[..], &odd[..]) {
                (&[a], &[b]) => (at(0) + a, b),
                (&[a, b], &[c, d]) if k == 0 => (at(0) + (a + b), c + d),
                (&[a, b], &[c, d]) => (at(0) + a + b, c + d),
                (&[a, b, c], &[d, e, f]) => (at(0) + c + (a + b), if k == 3 { d + (e + f) } else { d + f + e }),
                _ => return,
            };
            let value = Complex::new(re, im);
            (out[k], out[(n - k) % n]) = (value, value.conj());
        }
    }

    /// Five or seven points of a real signal from its spectrum.
    fn to_real(&self, points: Points<T>, out: &mut [Complex<T>]) {
        let (n, first) = (self.n, points.at(0).re);
        let twice: Numbers<_> = (1..=n / 2).map(|j| points.at(j) + points.at(j)).collect();
        for k in 0..=n / 2 {
            let turned = || twice.iter().zip(self.turns(k, n));
            let even: Numbers<T> = turned().map(|(z, root)| z.re * root.re).collect();
            let odd: Numbers<T> = turned().map(|(z, root)| z.im * root.im).collect();
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
            out[k] = Complex::new(re - im, T::zero());
            if k > 0 {
                out[n - k] = Complex::new(re + im, T::zero());
            }
        }
    }
}
