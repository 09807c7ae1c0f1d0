//! Sums numbers one after another, on all cores. Independent of tensors.
//!
//! While a sum in double precision stays between two powers of two, its last bit has a fixed value, the [`LastBit`].
//! Each number added is rounded to whole units, and whole units add up exactly, in any order. Pieces can therefore be
//! summed independently. A number halfway between two units makes the sum even, whatever it was before. Hence a piece
//! depends only on the parity of the sum before it, and has two possible sums. A piece in which the sum reaches the
//! next power of two is summed number by number.

use crate::ops::block::BLOCK;
use crate::parallel::{self, Kernel, vectorised_kernel};
use crate::thresholds::CHAINED;
use crate::{Result, interrupt};
use std::ops::Range;

/// Non-negative numbers, each computed from one element.
pub(super) trait NonNegativeTerms: Sync {
    type Element: Copy + Default;

    fn element(&self, index: usize) -> Self::Element;
    /// Returns elements as a slice: in place if they are adjacent, else copied to `room`, which holds as many.
    fn elements<'r>(&'r self, places: Range<usize>, room: &'r mut [Self::Element]) -> &'r [Self::Element];
    /// Must be marked `inline(always)`: functions that are called use the narrowest vectors.
    fn number(&self, element: Self::Element) -> f64;
}

/// Adds `length` numbers to `total`, one after another.
///
/// # Errors
/// KeyboardInterrupt.
pub(super) fn chained<N: NonNegativeTerms>(mut total: f64, length: usize, numbers: &N) -> Result<f64> {
    let (pieces, mut next) = (length.div_ceil(CHAINED), 0);
    let piece = |k: usize| k * CHAINED..length.min((k + 1) * CHAINED);
    while next < pieces {
        // The first piece has no preceding average to estimate the next ones by.
        if let Some(unit) = LastBit::of(total).filter(|_| next > 0) {
            // As many pieces as keep the sum below the next power of two, if they resemble the previous ones.
            let most = ((2.0 * unit.base - total) / (total / next as f64)) as usize;
            let count = most.min(pieces - next);
            let sums = parallel::collect(count, count * CHAINED, &|k| Ok(unit.sums(piece(next + k), numbers)))?;
            let known = sums.into_iter().map_while(|sums| {
                total = unit.joined(total, sums)?;
                Some(())
            });
            next += known.count();
        }
        if next < pieces {
            interrupt::check()?;
            total = piece(next).fold(total, |total, index| total + numbers.number(numbers.element(index)));
            next += 1;
        }
    }
    Ok(total)
}

/// The value of the last bit of sums between a power of two, `base`, and the next one.
struct LastBit {
    base: f64,
}

/// The number of lanes in which pieces are summed.
const LANES: usize = 16;

impl LastBit {
    /// Returns the unit of a sum. `None` if the sum or a rounded number could be subnormal, or if the sum is not
    /// finite.
    fn of(total: f64) -> Option<LastBit> {
        const EXPONENT: u64 = 0x7ff << 52;
        let base = f64::from_bits(total.to_bits() & EXPONENT);
        (1e-200..1e200).contains(&base).then_some(LastBit { base })
    }

    /// Sums numbers rounded to whole units: for an even sum before them, and for an odd one. Results of at least `base
    /// / 2` are invalid.
    fn sums<N: NonNegativeTerms>(&self, places: Range<usize>, numbers: &N) -> [f64; 2] {
        let (mut room, mut rounded) = ([N::Element::default(); BLOCK], Rounded::default());
        for start in places.clone().step_by(BLOCK) {
            let elements = numbers.elements(start..places.end.min(start + BLOCK), &mut room);
            let (groups, rest) = elements.as_chunks();
            rounded = vectorised_kernel(Rounding { unit: self, numbers, groups, rounded });
            if !rest.is_empty() {
                // Zeros do not change a sum.
                let mut last = [0.0; LANES];
                last.iter_mut().zip(rest).for_each(|(last, &element)| *last = numbers.number(element));
                rounded.add_halves(self, &last);
            }
        }
        let units: f64 = rounded.lanes.iter().sum();
        rounded.to_even.map(|to_even| units + to_even)
    }

    /// Returns a number whose last bit has the value of one unit, even after adding up to `base / 2`.
    fn aligned(&self) -> f64 {
        1.5 * self.base
    }

    fn half(&self) -> f64 {
        self.base * f64::EPSILON / 2.0
    }

    /// Returns 1 if the number of units is odd.
    fn parity(&self, units: f64) -> u64 {
        (units + self.aligned()).to_bits() & 1
    }

    /// Adds a piece to the total, choosing the sum by parity. Returns `None` if the total leaves the range of this
    /// unit.
    fn joined(&self, total: f64, sums: [f64; 2]) -> Option<f64> {
        let [even, odd] = sums;
        let sum = if total.to_bits() & 1 == 0 { even } else { odd };
        (sum < self.base / 2.0 && total + sum < 2.0 * self.base).then_some(total + sum)
    }
}

/// The sum of numbers rounded to whole units, ties to even.
#[derive(Clone, Copy, Default)]
struct Rounded {
    lanes: [f64; LANES],
    /// Corrections of the sum, for an even and an odd start: in a tie it is the running sum that becomes even.
    to_even: [f64; 2],
}

impl Rounded {
    /// Adds a group that may contain numbers halfway between two units.
    #[inline(always)]
    fn add_halves(&mut self, unit: &LastBit, group: &[f64; LANES]) {
        let (aligned, half) = (unit.aligned(), unit.half());
        let before = self.lanes.iter().fold(0, |parity, &lane| parity ^ unit.parity(lane));
        let (mut odd, mut halves) = (0, 0);
        for (k, (lane, &number)) in self.lanes.iter_mut().zip(group).enumerate() {
            let rounded = (number + aligned) - aligned;
            odd |= unit.parity(rounded) << k;
            halves |= u64::from((number - rounded).abs() == half) << k;
            *lane += rounded;
        }
        while halves != 0 {
            let k = halves.trailing_zeros();
            let parity = before ^ u64::from((odd & ((1 << k) - 1)).count_ones());
            let number = group[k as usize];
            let away = if number > (number + aligned) - aligned { 2.0 * half } else { -2.0 * half };
            for (start, to_even) in (0..).zip(&mut self.to_even) {
                let is_odd = (parity ^ start ^ unit.parity(*to_even)) & 1 == 1;
                *to_even += if is_odd { away } else { 0.0 };
            }
            halves &= halves - 1;
        }
    }
}

/// Rounds groups of numbers and sums them.
struct Rounding<'n, N: NonNegativeTerms> {
    unit: &'n LastBit,
    numbers: &'n N,
    groups: &'n [[N::Element; LANES]],
    rounded: Rounded,
}

impl<N: NonNegativeTerms> Kernel for Rounding<'_, N> {
    type Output = Rounded;
    #[inline(always)]
    fn run(self, _fuses: bool) -> Rounded {
        let Rounding { unit, numbers, groups: mut left, rounded: mut sums } = self;
        let (aligned, half) = (unit.aligned(), unit.half());
        loop {
            // A function call here would move the lanes out of registers.
            let (mut lanes, mut plain) = (sums.lanes, 0);
            for group in left {
                let (mut rounded, mut halves) = ([0.0; LANES], 0);
                for k in 0..LANES {
                    let number = numbers.number(group[k]);
                    rounded[k] = (number + aligned) - aligned;
                    halves |= u64::from((number - rounded[k]).abs() == half);
                }
                if halves != 0 {
                    break;
                }
                for k in 0..LANES {
                    lanes[k] += rounded[k];
                }
                plain += 1;
            }
            sums.lanes = lanes;
            let Some((group, rest)) = left.get(plain..).and_then(<[_]>::split_first) else { return sums };
            sums.add_halves(unit, &group.map(|element| numbers.number(element)));
            left = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::{set_cores, set_width};

    impl NonNegativeTerms for &[f64] {
        type Element = f64;
        fn element(&self, index: usize) -> f64 {
            self[index]
        }
        fn elements<'r>(&'r self, places: Range<usize>, _: &'r mut [f64]) -> &'r [f64] {
            &self[places]
        }
        #[inline(always)]
        fn number(&self, element: f64) -> f64 {
            element
        }
    }

    /// The reference: adds one number after another.
    fn check(numbers: &[f64], name: &str) {
        for start in [0.0, 1.0, 3.0e-5, 1e-300, f64::INFINITY, f64::NAN] {
            let wanted = numbers.iter().fold(start, |total, number| total + number);
            let got = chained(start, numbers.len(), &numbers).expect("nobody interrupts");
            assert!(
                got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan(),
                "{name}, {} from {start}: {got:e} is not {wanted:e}",
                numbers.len()
            );
        }
    }

    #[test]
    fn pieces_add_up_as_one_number_after_another() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 11
        };
        let count = 100_000;
        let uniform: Vec<f64> = (0..count).map(|_| random() as f64 / (1u64 << 53) as f64).collect();
        let kinds: Vec<(&str, Vec<f64>)> = vec![
            ("squares", uniform.iter().map(|x| (x - 0.5) * (x - 0.5)).collect()),
            // Few bits each, so they are often halfway between two units.
            ("steps", uniform.iter().map(|x| (x * 8.0).floor() / 8.0 + f64::EPSILON / 2.0).collect()),
            ("halves of units", uniform.iter().map(|x| if *x < 0.5 { f64::EPSILON } else { 1.0 }).collect()),
            ("whole numbers", uniform.iter().map(|x| (x * 100.0).floor()).collect()),
            ("zeros", vec![0.0; count]),
            ("of all sizes", uniform.iter().map(|x| (x * 1400.0 - 700.0).exp()).collect()),
            ("growing", (0..count).map(|i| (i as f64 / 200.0).exp() * uniform[i]).collect()),
            ("shrinking", (0..count).map(|i| (-(i as f64) / 200.0).exp() * uniform[i]).collect()),
            ("subnormal", uniform.iter().map(|x| x * 1e-310).collect()),
            (
                "one that is infinite",
                (0..count).map(|i| if i == 70_001 { f64::INFINITY } else { uniform[i] }).collect(),
            ),
            ("one that is none", (0..count).map(|i| if i == 70_001 { f64::NAN } else { uniform[i] }).collect()),
        ];
        for cores in [1, 2, 3, 7] {
            set_cores(cores);
            for width in [128, 256, 512] {
                set_width(width);
                for (name, numbers) in &kinds {
                    for around in [0, LANES, BLOCK, CHAINED, 2 * CHAINED, 5 * CHAINED] {
                        for length in [around.saturating_sub(1), around, around + 1] {
                            check(&numbers[..length.min(count)], name);
                        }
                    }
                    check(numbers, name);
                }
            }
        }
        set_cores(0);
        set_width(0);
    }
}
