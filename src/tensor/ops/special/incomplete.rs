//! The regularised incomplete gamma functions by SciPy's methods. Steps are computed in the type of the arguments, as
//! in PyTorch.

use super::erfc;
use super::incomplete_coefficients::{LANCZOS, LANCZOS_BELOW, UNIFORM};
use crate::ops::number::{Real, is_single};
use crate::parallel::{Kernel, vectorised_kernel};
use crate::thresholds::SORTED;
use std::f64::consts::{E, PI};

/// The maximum number of terms of a series or a continued fraction.
const TERMS: i32 = 2000;

fn number<T: Real>(value: f64) -> T {
    T::from_f64(value)
}

/// The logarithm of the gamma function as computed by the C library for the type.
fn lgamma<T: Real>(x: T) -> T {
    if is_single::<T>() { number(f64::from(libm::lgammaf(x.as_f64() as f32))) } else { x.via_f64(libm::lgamma) }
}

/// Returns half the distance from 1 to the next number.
#[inline(always)]
fn rounding<T: Real>() -> T {
    number(if is_single::<T>() { f64::from(f32::EPSILON) / 2.0 } else { f64::EPSILON / 2.0 })
}

/// The regularised lower incomplete gamma function `P(a, x)`.
pub(crate) fn lower_gamma<T: Real>(a: &[T], x: &[T], out: &mut [T]) {
    vectorised_kernel(Regularised { a, x, out, lower: true });
}

/// The regularised upper incomplete gamma function `Q(a, x)`.
pub(crate) fn upper_gamma<T: Real>(a: &[T], x: &[T], out: &mut [T]) {
    vectorised_kernel(Regularised { a, x, out, lower: false });
}

/// The number of elements that run through a loop together, enough for the compiler to vectorise it. One step for all
/// of them takes as long as a step for [`FEW`] elements one by one.
const LANES: usize = 32;
const FEW: usize = 8;

/// A method that computes many elements in a loop.
#[derive(Clone, Copy, PartialEq)]
enum GammaMethod {
    Series,
    UpperSeries,
    Fraction,
}

/// `P` or `Q` of many elements, grouped by method.
struct Regularised<'a, T> {
    a: &'a [T],
    x: &'a [T],
    out: &'a mut [T],
    lower: bool,
}

impl<T: Real> Kernel for Regularised<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        let lower = self.lower;
        for ((a, x), out) in self.a.chunks(SORTED).zip(self.x.chunks(SORTED)).zip(self.out.chunks_mut(SORTED)) {
            let mut ways = [[0u16; SORTED]; 3];
            let mut counts = [0; 3];
            for (k, ((&a, &x), out)) in a.iter().zip(x).zip(out.iter_mut()).enumerate() {
                if let Some(value) = edge(a, x) {
                    *out = if lower { value } else { T::one() - value };
                } else if near(a, x) {
                    *out = uniform(a, x, lower);
                } else {
                    let way = choose_method(a, x, lower) as usize;
                    ways[way][counts[way]] = k as u16;
                    counts[way] += 1;
                }
            }
            for ((way, places), count) in [GammaMethod::Series, GammaMethod::UpperSeries, GammaMethod::Fraction]
                .into_iter()
                .zip(&ways)
                .zip(counts)
            {
                let mut rest = &places[..count];
                while !rest.is_empty() {
                    let together = if rest.len() < FEW { 1 } else { LANES.min(rest.len()) };
                    let (now, later) = rest.split_at(together);
                    rest = later;
                    if together == 1 {
                        way.take::<T, 1>(a, x, out, lower, now);
                    } else {
                        way.take::<T, LANES>(a, x, out, lower, now);
                    }
                }
            }
        }
    }
}

impl GammaMethod {
    /// Computes the results at up to as many places as there are lanes; if there are fewer, spare lanes repeat the last
    /// place.
    #[inline(always)]
    fn take<T: Real, const N: usize>(self, a: &[T], x: &[T], out: &mut [T], lower: bool, places: &[u16]) {
        let place = |lane: usize| usize::from(places[lane.min(places.len() - 1)]);
        let (a, x) = (lanes::<T, N>(|l| a[place(l)]), lanes::<T, N>(|l| x[place(l)]));
        let values = match self {
            GammaMethod::Series => series(a, x),
            GammaMethod::UpperSeries => upper_series(a, x),
            GammaMethod::Fraction => fraction(a, x),
        };
        let is_asked = (self == GammaMethod::Series) == lower;
        for (&place, value) in places.iter().zip(values) {
            out[usize::from(place)] = if is_asked { value } else { T::one() - value };
        }
    }
}

#[inline(always)]
fn lanes<T: Real, const N: usize>(lane: impl Fn(usize) -> T) -> [T; N] {
    let mut made = [T::zero(); N];
    for (l, made) in made.iter_mut().enumerate() {
        *made = lane(l);
    }
    made
}

/// Returns whether all lanes are 0.
#[inline(always)]
fn none<T: Real, const N: usize>(live: &[T; N]) -> bool {
    live.iter().fold(T::zero(), |sum, &live| sum + live) == T::zero()
}

/// Chooses the method for arguments that are neither at an edge nor near each other.
#[inline(always)]
fn choose_method<T: Real>(a: T, x: T, lower: bool) -> GammaMethod {
    if lower && !(x > T::one() && x > a) {
        return GammaMethod::Series;
    }
    // For Q, use the series of P where its complement loses no digits, else the series of Q.
    let by_lower = match x {
        _ if x > number(1.1) => x < a,
        _ if x <= number(0.5) => number::<T>(-0.4) / x.ln() < a,
        _ => x * number(1.1) < a,
    };
    match x {
        _ if by_lower => GammaMethod::Series,
        _ if x > number(1.1) => GammaMethod::Fraction,
        _ => GammaMethod::UpperSeries,
    }
}

/// Returns `P(a, x)` where no computation is needed.
#[inline(always)]
fn edge<T: Real>(a: T, x: T) -> Option<T> {
    let (zero, one) = (T::zero(), T::one());
    if a < zero || x < zero {
        return Some(T::nan());
    }
    if a == zero {
        return Some(if x > zero { one } else { T::nan() });
    }
    if x == zero {
        return Some(zero);
    }
    if a.is_infinite() {
        return Some(if x.is_infinite() { T::nan() } else { zero });
    }
    x.is_infinite().then_some(one)
}

/// Returns whether `a` is large and `x` close enough to it for the uniform expansion to converge.
#[inline(always)]
fn near<T: Real>(a: T, x: T) -> bool {
    let relative = (x - a).abs() / a;
    let large: T = number(200.0);
    a > number(20.0) && a < large && relative < number(0.3) || a > large && relative < number::<T>(4.5) / a.sqrt()
}

/// `x^a e^-x / Γ(a)`.
#[inline(always)]
fn density<T: Real, const N: usize>(a: [T; N], x: [T; N]) -> [T; N] {
    let ratios = lanczos_sums(a);
    lanes::<T, N>(|l| density_at(a[l], x[l], ratios[l]))
}

/// Computes one lane of [`density`], given the Lanczos sum.
#[inline(always)]
fn density_at<T: Real>(a: T, x: T, lanczos_sum: T) -> T {
    /// The parameter of the Lanczos approximation.
    const G: f64 = 6.02468004077673;
    let (half, lanczos): (T, T) = (number(0.5), number(G));
    if (a - x).abs().as_f64() > 0.4 * a.abs().as_f64() {
        let log = a.fused(x.ln(), -x) - lgamma(a);
        let least = if is_single::<T>() { -88.722_839_052_068_35 } else { -709.782_712_893_384 };
        return if log < number(least) { T::zero() } else { log.exp() };
    }
    let shifted = number::<T>((a + lanczos).as_f64() - 0.5);
    let result = (shifted / number(E)).sqrt() / lanczos_sum;
    if a < number(200.0) && x < number(200.0) {
        return result * ((a - x).exp() * (x / shifted).powf(a));
    }
    let ratio = number::<T>((x - a - lanczos).as_f64() + 0.5) / shifted;
    let tail = x * (half - lanczos) / shifted;
    result * a.fused(ratio.ln_1p() - ratio, tail).exp()
}

/// Computes the Lanczos sums: ratios of polynomials of the same degree, in powers of `1 / x` for large `x`.
#[inline(always)]
fn lanczos_sums<T: Real, const N: usize>(x: [T; N]) -> [T; N] {
    let power = lanes::<T, N>(|l| if x[l].abs() > T::one() { T::one() / x[l] } else { x[l] });
    let polynomial = |coefficients: &[f64; 13]| {
        let pairs = coefficients.iter().zip(coefficients.iter().rev());
        pairs.fold([T::zero(); N], |sum, (&first, &last)| {
            lanes::<T, N>(|l| sum[l].fused(power[l], number(if x[l].abs() > T::one() { last } else { first })))
        })
    };
    let (above, below) = (polynomial(&LANCZOS), polynomial(&LANCZOS_BELOW));
    lanes::<T, N>(|l| above[l] / below[l])
}

/// DLMF 8.11.4, for P.
#[inline(always)]
fn series<T: Real, const N: usize>(a: [T; N], x: [T; N]) -> [T; N] {
    let density = density(a, x);
    let (mut at, mut term, mut sum) = (a, [T::one(); N], [T::one(); N]);
    let mut live = lanes::<T, N>(|l| if density[l] == T::zero() { T::zero() } else { T::one() });
    for _ in 0..TERMS {
        at = lanes::<T, N>(|l| at[l] + T::one());
        term = lanes::<T, N>(|l| term[l] * (x[l] / at[l]));
        let next = lanes::<T, N>(|l| sum[l] + term[l]);
        sum = lanes::<T, N>(|l| if live[l] == T::zero() { sum[l] } else { next[l] });
        live = lanes::<T, N>(|l| if term[l] <= rounding::<T>() * next[l] { T::zero() } else { live[l] });
        if none(&live) {
            break;
        }
    }
    lanes::<T, N>(|l| if density[l] == T::zero() { density[l] } else { sum[l] * density[l] / a[l] })
}

/// DLMF 8.7.3, for Q.
#[inline(always)]
fn upper_series<T: Real, const N: usize>(a: [T; N], x: [T; N]) -> [T; N] {
    let (mut factor, mut sum) = ([T::one(); N], [T::zero(); N]);
    let mut live = [T::one(); N];
    for n in 1..TERMS {
        let n: T = number(f64::from(n));
        factor = lanes::<T, N>(|l| factor[l] * (-x[l] / n));
        let term = lanes::<T, N>(|l| factor[l] / (a[l] + n));
        let next = lanes::<T, N>(|l| sum[l] + term[l]);
        sum = lanes::<T, N>(|l| if live[l] == T::zero() { sum[l] } else { next[l] });
        live = lanes::<T, N>(|l| if term[l].abs() <= rounding::<T>() * next[l].abs() { T::zero() } else { live[l] });
        if none(&live) {
            break;
        }
    }
    lanes::<T, N>(|l| {
        let (a, log) = (a[l], x[l].ln());
        let term = -a.fused(log, -lgamma(T::one() + a)).exp_m1();
        (-a.fused(log, -lgamma(a)).exp()).fused(sum[l], term)
    })
}

/// DLMF 8.12.3 and 8.12.4.
#[inline(always)]
fn uniform<T: Real>(a: T, x: T, lower: bool) -> T {
    let (ratio, excess) = (x / a, (x - a) / a);
    let size = || (number::<T>(-2.0) * (excess.ln_1p() - excess)).sqrt();
    let eta = match ratio {
        _ if ratio > T::one() => size(),
        _ if ratio < T::one() => -size(),
        _ => T::zero(),
    };
    let sign = if lower { -T::one() } else { T::one() };
    let bell = number::<T>(0.5) * (sign * eta * (a / number(2.0)).sqrt()).via_f64(erfc);
    let mut powers = [T::one(); 25];
    let mut known = 0;
    let (mut sum, mut scale, mut before) = (T::zero(), T::one(), T::infinity());
    for row in &UNIFORM {
        let mut coefficient: T = number(row[0]);
        for n in 1..row.len() {
            if n > known {
                powers[n] = eta * powers[n - 1];
                known += 1;
            }
            let term = number::<T>(row[n]) * powers[n];
            coefficient = coefficient + term;
            if term.abs() < rounding::<T>() * coefficient.abs() {
                break;
            }
        }
        let term = coefficient * scale;
        let size = term.abs();
        if size > before {
            break;
        }
        sum = sum + term;
        if size < rounding::<T>() * sum.abs() {
            break;
        }
        before = size;
        scale = scale / a;
    }
    // PyTorch has this π in single precision.
    let circle: T = number(f64::from(2.0 * PI as f32));
    let exponential = number::<T>((-0.5 * a.as_f64() * eta.as_f64() * eta.as_f64()).exp());
    bell + sign * exponential * sum / (circle * a).sqrt()
}

/// DLMF 8.9.2, for Q.
#[inline(always)]
fn fraction<T: Real, const N: usize>(a: [T; N], x: [T; N]) -> [T; N] {
    let density = density(a, x);
    let large: T = number(if is_single::<T>() { 16_777_216.0 } else { 4_503_599_627_370_496.0 });
    let (zero, one) = (T::zero(), T::one());
    let mut y = lanes::<T, N>(|l| one - a[l]);
    let mut z = lanes::<T, N>(|l| x[l] + y[l] + one);
    let mut c = zero;
    let (mut p, mut p_before) = (lanes::<T, N>(|l| x[l] + one), [one; N]);
    let (mut q, mut q_before) = (lanes::<T, N>(|l| z[l] * x[l]), x);
    let mut value = lanes::<T, N>(|l| p[l] / q[l]);
    let mut live = lanes::<T, N>(|l| if density[l] == zero { zero } else { one });
    for _ in 0..TERMS {
        c = c + one;
        y = lanes::<T, N>(|l| y[l] + one);
        z = lanes::<T, N>(|l| z[l] + number(2.0));
        let numerator = lanes::<T, N>(|l| y[l] * c);
        let next_p = lanes::<T, N>(|l| p[l].fused(z[l], -(p_before[l] * numerator[l])));
        let next_q = lanes::<T, N>(|l| q[l].fused(z[l], -(q_before[l] * numerator[l])));
        let next = lanes::<T, N>(|l| next_p[l] / next_q[l]);
        let change = lanes::<T, N>(|l| ((value[l] - next[l]) / next[l]).abs());
        let change = lanes::<T, N>(|l| if next_q[l] == zero { one } else { change[l] });
        let next = lanes::<T, N>(|l| if next_q[l] == zero { value[l] } else { next[l] });
        value = lanes::<T, N>(|l| if live[l] == zero { value[l] } else { next[l] });
        let scale = lanes::<T, N>(|l| if next_p[l].abs() > large { one / large } else { one });
        p_before = lanes::<T, N>(|l| p[l] * scale[l]);
        q_before = lanes::<T, N>(|l| q[l] * scale[l]);
        p = lanes::<T, N>(|l| next_p[l] * scale[l]);
        q = lanes::<T, N>(|l| next_q[l] * scale[l]);
        live = lanes::<T, N>(|l| if change[l] <= rounding::<T>() { zero } else { live[l] });
        if none(&live) {
            break;
        }
    }
    lanes::<T, N>(|l| if density[l] == zero { density[l] } else { value[l] * density[l] })
}
