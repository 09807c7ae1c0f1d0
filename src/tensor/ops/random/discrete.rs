//! Integers: ranges, permutations and coin flips.

use super::RealKind;
use super::generator::Generator;
use crate::interrupt::watched;

/// Ranges of at least this many values take 64 random bits per number, smaller ones 32.
const WIDE_RANGE: u64 = 1 << 28;

/// Permutations of at least this many elements (`0xFFFFFFFF / 20`) take 64 random bits per element.
const LONG_PERMUTATION: usize = 214_748_364;

/// Fills `out` with integers from `low` to `low + range - 1`: `torch.randint` and `random_(from, to)`.
///
/// A `range` of 0 stands for all 2^64 integers, whatever `low` is: `random_(-2**63, None)`.
pub fn random_from_to(generator: &mut Generator, out: &mut [i64], low: i64, range: u64) {
    match range {
        0 => out.iter_mut().for_each(|value| *value = generator.random64() as i64),
        1..WIDE_RANGE => {
            let divisor = range as f64;
            generator.fill(out, |word| low.wrapping_add(i64::from(rest(word, divisor))));
        }
        WIDE_RANGE.. => {
            out.iter_mut().for_each(|value| *value = low.wrapping_add_unsigned(generator.random64() % range));
        }
    }
}

/// `word % divisor` for a whole divisor below 2^31, by a division of floats, which is vectorised. It is exact: the
/// quotient is below 2^32 / divisor and, if it is no integer, at least 1 / divisor away from one, so it is not rounded
/// to one.
#[inline(always)]
pub(super) fn rest(word: u32, divisor: f64) -> i32 {
    let word = f64::from(word);
    (word - (word / divisor).floor() * divisor) as i32
}

/// The dtypes supported by `random_()` without bounds, each with its own range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullRange {
    Bool,
    U8,
    I8,
    I16,
    I32,
    I64,
    Real(RealKind),
}

/// Fills `out` with integers from 0 to the dtype's maximum: `random_()` without bounds. For floating dtypes, the maximum is
/// the last integer before the dtype skips integers. All fit the dtype exactly; for `bool` they are 0 and 1.
pub fn random_full(generator: &mut Generator, out: &mut [i64], dtype: FullRange) {
    let (range, wide) = match dtype {
        FullRange::Bool => (2, false),
        FullRange::U8 => (1 << 8, false),
        FullRange::I8 => (1 << 7, false),
        FullRange::I16 => (1 << 15, false),
        FullRange::I32 => (1 << 31, false),
        FullRange::I64 => (1 << 63, true),
        FullRange::Real(kind) => ((1u64 << kind.digits()) + 1, kind == RealKind::F64),
    };
    let draw = |generator: &mut Generator| {
        let bits = if wide { generator.random64() } else { u64::from(generator.random()) };
        (bits % range) as i64
    };
    out.iter_mut().for_each(|value| *value = draw(generator));
}

/// Returns the numbers 0 to `n - 1` in random order.
///
/// <https://pytorch.org/docs/2.7/generated/torch.randperm.html>
pub fn randperm(generator: &mut Generator, n: usize) -> Vec<i64> {
    let mut order: Vec<i64> = watched(0..n as i64).collect();
    let n = order.len();
    if n < LONG_PERMUTATION {
        for i in watched(0..n.saturating_sub(1)) {
            // Division of 32 bits is faster.
            let ahead = generator.random() % (n - i) as u32;
            order.swap(i, i + ahead as usize);
        }
    } else {
        // Each element is swapped with itself or an earlier one.
        for i in watched(0..n) {
            let place = (generator.random64() % (i as u64 + 1)) as usize;
            order.swap(i, place);
        }
    }
    order
}

/// Fills `out` with booleans that are true with probability `p`: `bernoulli_(p)`.
pub fn bernoulli_scalar(generator: &mut Generator, out: &mut [bool], p: f64) {
    out.iter_mut().for_each(|flip| *flip = generator.unit() < p);
}

/// Draws a boolean for each probability: `torch.bernoulli(p)` and `bernoulli_(p)` with a tensor `p` of dtype `kind`.
pub fn bernoulli_tensor(generator: &mut Generator, out: &mut [bool], p: &[f64], kind: RealKind) {
    // Probabilities of the 16-bit dtypes are compared in single precision.
    let kind = if kind == RealKind::F64 { kind } else { RealKind::F32 };
    out.iter_mut().zip(p).for_each(|(flip, &p)| *flip = kind.unit(generator) < p);
}

/// Draws the number of events for each rate: `torch.poisson`. Small rates multiply uniform numbers until their product
/// is small enough; larger ones use W. Hörmann's transformed rejection (PTRS, 1993).
///
/// <https://pytorch.org/docs/2.7/generated/torch.poisson.html>
pub fn poisson(generator: &mut Generator, out: &mut [f64], rates: &[f64]) {
    for (count, &rate) in out.iter_mut().zip(rates) {
        *count = if rate >= 10.0 { rejected(generator, rate) } else { multiplied(generator, rate) };
    }
}

fn multiplied(generator: &mut Generator, rate: f64) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    let (limit, mut product, mut events) = ((-rate).exp(), 1.0, 0.0);
    loop {
        product *= generator.unit();
        if product <= limit {
            return events;
        }
        events += 1.0;
    }
}

fn rejected(generator: &mut Generator, rate: f64) -> f64 {
    let log_rate = rate.ln();
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let sure = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = generator.unit() - 0.5;
        let v = generator.unit();
        let distance = 0.5 - u.abs();
        let events = ((2.0 * a / distance + b) * u + rate + 0.43).floor();
        if distance >= 0.07 && v <= sure {
            return events;
        }
        if events < 0.0 || distance < 0.013 && v > distance {
            continue;
        }
        let hat = v.ln() + inverse_alpha.ln() - (a / (distance * distance) + b).ln();
        if hat <= -rate + events * log_rate - libm::lgamma(events + 1.0) {
            return events;
        }
    }
}
