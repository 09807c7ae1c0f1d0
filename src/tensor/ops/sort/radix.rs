//! A stable sort of keys by the digits of their ranks.

use super::keys::SortKey;
use crate::thresholds::DIGITS;
use crate::{Result, interrupt, limits};

/// Bits of a digit.
const BITS: u32 = 8;

/// Sorts items by rank; items of equal rank stay in order. They must be in the order of their places.
///
/// # Errors
/// KeyboardInterrupt; MemoryError if a copy of the items cannot be allocated.
pub(super) fn sort<I: SortKey>(items: &mut [I]) -> Result<()> {
    if items.len() < DIGITS {
        // Places distinguish the items, so this is stable.
        items.sort_unstable();
        return Ok(());
    }
    let Some(first) = items.first().map(I::rank) else { return Ok(()) };
    let mut varying = 0;
    for part in items.chunks(interrupt::STRIDE) {
        interrupt::check()?;
        varying |= part.iter().fold(0, |varying, item| varying | (item.rank() ^ first));
    }
    let mut copy: Vec<I> = limits::vector(items.len())?;
    copy.extend_from_slice(items);
    let (mut from, mut to) = (&mut *items, copy.as_mut_slice());
    let mut is_copy = false;
    while varying != 0 {
        // Bits that all ranks share need no pass.
        let shift = varying.trailing_zeros();
        by_digit(from, to, |item| (item.rank() >> shift) as usize % (1 << BITS))?;
        (from, to) = (to, from);
        is_copy = !is_copy;
        varying &= u64::MAX.checked_shl(shift + BITS).unwrap_or(0);
    }
    if is_copy {
        to.copy_from_slice(from);
    }
    Ok(())
}

/// Copies items, those with smaller digits first.
fn by_digit<I: SortKey>(from: &[I], to: &mut [I], digit: impl Fn(&I) -> usize) -> Result<()> {
    let mut next = [0; 1 << BITS];
    for part in from.chunks(interrupt::STRIDE) {
        interrupt::check()?;
        part.iter().for_each(|item| next[digit(item)] += 1);
    }
    let mut total = 0;
    for next in &mut next {
        total += std::mem::replace(next, total);
    }
    for part in from.chunks(interrupt::STRIDE) {
        interrupt::check()?;
        for item in part {
            let next = &mut next[digit(item)];
            if let Some(slot) = to.get_mut(*next) {
                *slot = *item;
            }
            *next += 1;
        }
    }
    Ok(())
}

/// Sorts items of distinct ranks, for which every algorithm gives the same. Returns false, with the items as they were,
/// if some ranks are equal.
pub(super) fn sort_distinct<I: SortKey>(items: &mut [I]) -> Result<bool> {
    let Some(first) = items.first().map(I::rank) else { return Ok(true) };
    // Few different ranks cannot be distinct: of `n` random ones among `n * n / 2`, some two are probably equal.
    let varying = items.iter().fold(0, |varying, item| varying | (item.rank() ^ first)).count_ones();
    if varying < 2 * items.len().ilog2() {
        return Ok(false);
    }
    let mut sorted: Vec<I> = limits::vector(items.len())?;
    sorted.extend_from_slice(items);
    sorted.sort_unstable();
    let distinct = sorted.array_windows().all(|[a, b]| a.rank() != b.rank());
    if distinct {
        items.copy_from_slice(&sorted);
    }
    Ok(distinct)
}

#[cfg(test)]
mod tests {
    use super::super::keys::{PackedKey, Ranked};
    use super::*;
    use std::fmt::Debug;

    fn check<I: SortKey>(ranks: &[u64], name: &str) {
        let items: Vec<I> = ranks.iter().enumerate().map(|(i, &rank)| I::new(rank, i, false)).collect();
        let mut wanted = items.clone();
        wanted.sort_by_key(I::rank);
        let same = |a: &[I], b: &[I]| a.iter().zip(b).all(|(a, b)| (a.rank(), a.place()) == (b.rank(), b.place()));
        let mut got = items.clone();
        must(sort(&mut got));
        assert!(same(&got, &wanted), "{name}: {} items", items.len());
        let mut got = items.clone();
        if must(sort_distinct(&mut got)) {
            assert!(same(&got, &wanted), "{name}: {} distinct items", items.len());
        } else {
            assert!(same(&got, &items), "{name}: {} items stay", items.len());
        }
    }

    fn must<T: Debug>(result: Result<T>) -> T {
        result.unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn digits_sort_as_comparisons_do() {
        let mut state = 3u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ state >> 29
        };
        for length in [0, 1, 2, 17, DIGITS - 1, DIGITS, DIGITS + 1, 5 * DIGITS] {
            let ranks: Vec<u64> = (0..length).map(|_| random()).collect();
            type Kind = fn(u64) -> u64;
            let kinds: [(&str, Kind); 7] = [
                ("any", |rank| rank),
                ("equal", |_| 77),
                ("few", |rank| rank % 5),
                ("bytes", |rank| rank & 0xff00),
                ("high", |rank| rank & 0xffff_0000_0000_0000),
                ("ends", |rank| rank & 0x8000_0000_0000_0001),
                ("twenty bits", |rank| (rank & 0xf_ffff) | 1 << 63),
            ];
            for (name, kind) in kinds {
                let ranks: Vec<u64> = ranks.iter().map(|&rank| kind(rank)).collect();
                check::<Ranked>(&ranks, name);
                let short: Vec<u64> = ranks.iter().map(|rank| rank >> 32).collect();
                check::<PackedKey>(&short, name);
            }
        }
    }
}
