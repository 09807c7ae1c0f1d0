//! Shuffles, permutations and choices, as indices: the object layer moves the items.

use super::bits::BitGenerator;
use super::bounded::{IntegerType, Integers};
use super::common::{interval, mask_of};
use tensor::Error;
use tensor::Result;
use tensor::interrupt::check_at;
use tensor::limits::list as with_room;

/// The swaps of `shuffle(x)` for `count` items, the same in `RandomState` and `Generator`. Items are elements of a 1-d
/// array or a list, or rows of an array. Perform each swap before drawing the next.
pub(super) struct Swaps<'a> {
    bits: &'a mut dyn BitGenerator,
    left: usize,
}

impl<'a> Swaps<'a> {
    pub(super) fn new(bits: &'a mut dyn BitGenerator, count: usize) -> Self {
        Swaps { bits, left: count }
    }
}

impl Iterator for Swaps<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        if self.left < 2 {
            return None;
        }
        self.left -= 1;
        Some((self.left, interval(self.bits, self.left as u64) as usize))
    }
}

/// Shuffles a slice.
pub(super) fn shuffle<T>(bits: &mut dyn BitGenerator, items: &mut [T]) -> Result<()> {
    for (i, j) in Swaps::new(bits, items.len()) {
        check_at(i)?;
        items.swap(i, j);
    }
    Ok(())
}

/// `permutation(count)`, the same in `RandomState` and `Generator`. For an array, these are the indices of its items.
pub(super) fn permutation(bits: &mut dyn BitGenerator, count: usize) -> Result<Vec<i64>> {
    let mut items = counted(count)?;
    shuffle(bits, &mut items)?;
    Ok(items)
}

fn counted(count: usize) -> Result<Vec<i64>> {
    let mut items = with_room(count)?;
    items.extend(0..count as i64);
    Ok(items)
}

/// Which class chooses. Messages, and choices without replacement, differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    RandomState,
    Generator,
}

/// Fails if items are chosen from nothing. `sized` tells whether `a` is an array, `samples` is the product of `size`.
pub(super) fn check_population(api: Api, population: i128, sized: bool, samples: usize) -> Result<()> {
    if population > 0 || samples == 0 {
        return Ok(());
    }
    Err(Error::value(match (api, sized) {
        (Api::RandomState, false) => "a must be greater than 0 unless no samples are taken",
        (Api::RandomState, true) => "'a' cannot be empty unless no samples are taken",
        (Api::Generator, false) => "a must be a positive integer unless no samples are taken",
        (Api::Generator, true) => "a cannot be empty unless no samples are taken",
    }))
}

/// Checks `p` of `choice`, which is already 1-dimensional. `epsilon` is the machine epsilon of its dtype if it is a
/// float array, else that of `f64`.
pub(super) fn check_chances(api: Api, chances: &[f64], population: usize, epsilon: f64) -> Result<()> {
    let legacy = api == Api::RandomState;
    let text = |old: &str, new: &str| Err(Error::value(if legacy { old } else { new }));
    if chances.len() != population {
        return text("'a' and 'p' must have same size", "a and p must have same size");
    }
    let sum = compensated_sum(chances);
    if sum.is_nan() {
        return text("probabilities contain NaN", "Probabilities contain NaN");
    }
    if chances.iter().any(|chance| *chance < 0.0) {
        return text("probabilities are not non-negative", "Probabilities are not non-negative");
    }
    let tolerance = epsilon.max(f64::EPSILON).sqrt();
    if (sum - 1.0).abs() > tolerance {
        return text(
            "probabilities do not sum to 1",
            "Probabilities do not sum to 1. See Notes section of docstring for more information.",
        );
    }
    Ok(())
}

/// Fails if more items are chosen without replacement than there are, or than have a chance.
pub(super) fn check_sample(api: Api, population: usize, samples: usize, chances: Option<&[f64]>) -> Result<()> {
    if samples > population {
        return Err(Error::value(match api {
            Api::RandomState => "Cannot take a larger sample than population when 'replace=False'",
            Api::Generator => "Cannot take a larger sample than population when replace is False",
        }));
    }
    match chances {
        Some(chances) if chances.iter().filter(|chance| **chance > 0.0).count() < samples => {
            Err(Error::value("Fewer non-zero entries in p than size"))
        }
        _ => Ok(()),
    }
}

/// Kahan's sum, with which NumPy checks that probabilities add up to one.
pub(super) fn compensated_sum(numbers: &[f64]) -> f64 {
    let Some((first, rest)) = numbers.split_first() else {
        return 0.0;
    };
    let (mut sum, mut lost) = (*first, 0.0);
    for number in rest {
        let corrected = number - lost;
        let next = sum + corrected;
        lost = (next - sum) - corrected;
        sum = next;
    }
    sum
}

/// Cumulated chances, scaled to end at one.
fn cumulate(chances: &[f64]) -> Result<Vec<f64>> {
    let mut sums = with_room(chances.len())?;
    let mut sum = 0.0;
    sums.extend(chances.iter().map(|chance| {
        sum += chance;
        sum
    }));
    for entry in &mut sums {
        *entry /= sum;
    }
    Ok(sums)
}

fn find(sums: &[f64], u: f64) -> i64 {
    sums.partition_point(|sum| *sum <= u) as i64
}

/// `choice(population, samples)`.
pub(super) fn with_replacement(
    bits: &mut dyn BitGenerator,
    api: Api,
    population: usize,
    samples: usize,
) -> Result<Vec<i64>> {
    let mut integers = match api {
        Api::RandomState => Integers::legacy(IntegerType::Int64),
        Api::Generator => Integers::new(IntegerType::Int64),
    };
    let mut out = with_room(samples)?;
    let last = population as i128 - 1;
    for step in 0..samples {
        check_at(step)?;
        out.push(integers.draw(bits, 0, last) as i64);
    }
    Ok(out)
}

/// `choice(population, samples, p=chances)`, the same in both classes.
pub(super) fn weighted(bits: &mut dyn BitGenerator, chances: &[f64], samples: usize) -> Result<Vec<i64>> {
    let sums = cumulate(chances)?;
    let mut out = with_room(samples)?;
    for step in 0..samples {
        check_at(step)?;
        out.push(find(&sums, bits.next_double()));
    }
    Ok(out)
}

/// `choice(population, samples, replace=False, p=chances)`, the same in both classes: draws as many as are missing,
/// keeps the first of each item, and takes these items out of the next round.
pub(super) fn weighted_without_replacement(
    bits: &mut dyn BitGenerator,
    chances: &[f64],
    samples: usize,
) -> Result<Vec<i64>> {
    let mut chances = chances.to_vec();
    let mut out: Vec<i64> = with_room(samples)?;
    for round in 1.. {
        if out.len() >= samples {
            break;
        }
        check_at(round)?;
        let uniforms: Vec<f64> = (out.len()..samples).map(|_| bits.next_double()).collect();
        let sums = cumulate(&chances)?;
        for u in uniforms {
            let item = find(&sums, u);
            // An item of this round has chance zero already, and so has an index past the end.
            if let Some(chance) = chances.get_mut(item as usize).filter(|chance| **chance != 0.0) {
                *chance = 0.0;
                out.push(item);
            }
        }
    }
    Ok(out)
}

/// `RandomState.choice(population, samples, replace=False)`: the start of a permutation.
pub(super) fn legacy_without_replacement(
    bits: &mut dyn BitGenerator,
    population: usize,
    samples: usize,
) -> Result<Vec<i64>> {
    let mut items = permutation(bits, population)?;
    items.truncate(samples);
    Ok(items)
}

/// `Generator.choice(population, samples, replace=False, shuffle=shuffled)`.
pub(super) fn without_replacement(
    bits: &mut dyn BitGenerator,
    population: usize,
    samples: usize,
    shuffled: bool,
) -> Result<Vec<i64>> {
    let cutoff = if shuffled { 50 } else { 20 };
    if population > 10_000 && samples > population / cutoff {
        let mut items = counted(population)?;
        shuffle_down_to(bits, &mut items, population.saturating_sub(samples).max(1))?;
        return Ok(items.split_off(population.saturating_sub(samples)));
    }
    let mut out = floyd(bits, population, samples)?;
    if shuffled {
        shuffle_down_to(bits, &mut out, 1)?;
    }
    Ok(out)
}

/// Shuffles the items from the end down to `first`. Unlike `shuffle`, it draws with Lemire's method.
fn shuffle_down_to(bits: &mut dyn BitGenerator, items: &mut [i64], first: usize) -> Result<()> {
    let mut integers = Integers::new(IntegerType::Uint64);
    for i in (first..items.len()).rev() {
        check_at(i)?;
        let j = integers.draw(bits, 0, i as i128) as usize;
        items.swap(i, j);
    }
    Ok(())
}

/// Floyd's algorithm: a sample in as many draws, by replacing repeated items with the largest one allowed so far.
fn floyd(bits: &mut dyn BitGenerator, population: usize, samples: usize) -> Result<Vec<i64>> {
    const FREE: u64 = u64::MAX;
    let mask = mask_of((1.2 * samples as f64) as u64);
    let size = usize::try_from(mask).unwrap_or(usize::MAX).saturating_add(1);
    let mut table: Vec<u64> = with_room(size)?;
    table.resize(size, FREE);
    // Returns whether the item was new. The table has more slots than there are samples.
    let mut insert = |item: u64| {
        let mut slot = item & mask;
        while table[slot as usize] != FREE {
            if table[slot as usize] == item {
                return false;
            }
            slot = (slot + 1) & mask;
        }
        table[slot as usize] = item;
        true
    };
    let mut integers = Integers::new(IntegerType::Uint64);
    let mut out = with_room(samples)?;
    for largest in population.saturating_sub(samples)..population {
        check_at(largest)?;
        let item = integers.draw(bits, 0, largest as i128) as u64;
        if insert(item) {
            out.push(item as i64);
        } else {
            insert(largest as u64);
            out.push(largest as i64);
        }
    }
    Ok(out)
}
