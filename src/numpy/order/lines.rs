//! Sorts lines of numbers that lie side by side. Each number becomes an integer of the same order, which is sorted by its
//! digits; long lines are sorted in pieces on all cores, and the pieces are merged.

use std::cmp::Ordering;
use tensor::{Result, interrupt, limits, parallel};

/// A number that sorts like an unsigned integer of its size.
pub(super) trait Sortable: Copy + Send + Sync {
    type Key: Copy + Default + Ord + Send + Sync + Into<u64>;
    /// Whether elements that are equal can be told apart: the two zeros.
    const HAS_TIES: bool;
    fn order(a: &Self, b: &Self) -> Ordering;
    fn key(self) -> Self::Key;
    fn of(key: Self::Key) -> Self;
}

macro_rules! integers_sort {
    ($($t:ty: $key:ty, $least:expr;)*) => {$(
        impl Sortable for $t {
            type Key = $key;
            const HAS_TIES: bool = false;
            fn order(a: &$t, b: &$t) -> Ordering {
                a.cmp(b)
            }
            #[inline(always)]
            fn key(self) -> $key {
                self as $key ^ $least as $key
            }
            #[inline(always)]
            fn of(key: $key) -> $t {
                (key ^ $least as $key) as $t
            }
        }
    )*};
}
integers_sort! {
    u8: u8, 0;
    u16: u16, 0;
    u32: u32, 0;
    u64: u64, 0;
    i8: u8, i8::MIN;
    i16: u16, i16::MIN;
    i32: u32, i32::MIN;
    i64: u64, i64::MIN;
}

macro_rules! floats_sort {
    ($($t:ty: $key:ty, $bits:literal;)*) => {$(
        impl Sortable for $t {
            type Key = $key;
            const HAS_TIES: bool = true;
            fn order(a: &$t, b: &$t) -> Ordering {
                a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
            }
            #[inline(always)]
            fn key(self) -> $key {
                let bits = self.to_bits();
                // Negative numbers in reverse; all NaN are one, behind infinity.
                let sign = (bits.cast_signed() >> ($bits - 1)).cast_unsigned();
                if self.is_nan() { <$key>::MAX } else { bits ^ (sign | 1 << ($bits - 1)) }
            }
            #[inline(always)]
            fn of(key: $key) -> $t {
                let sign = (!key.cast_signed() >> ($bits - 1)).cast_unsigned();
                if key == <$key>::MAX { <$t>::NAN } else { <$t>::from_bits(key ^ (sign | 1 << ($bits - 1))) }
            }
        }
    )*};
}
floats_sort! {
    f32: u32, 32;
    f64: u64, 64;
}

/// Numbers that are sorted at once, on one core: with their copy they fit its cache.
const PIECE: usize = 1 << 16;

/// The shortest line that is sorted by digits.
const DIGITS: usize = 512;

/// NumPy sorts lines up to this length by insertion, which keeps the order of equal elements.
const INSERTED: usize = 16;

/// Sorts each line of `length` elements.
///
/// # Errors
/// MemoryError; KeyboardInterrupt.
pub(super) fn sort_lines<T: Sortable>(all: &mut [T], length: usize) -> Result<()> {
    if T::HAS_TIES && length <= INSERTED {
        for (i, line) in all.chunks_mut(length.max(1)).enumerate() {
            interrupt::check_at(i)?;
            line.sort_by(T::order);
        }
        return Ok(());
    }
    if length > PIECE {
        return all.chunks_mut(length).try_for_each(sort_long);
    }
    let (length, work) = (length.max(1), all.len());
    parallel::parts_of(all, PIECE / length * length, work, &|_, lines| {
        let (mut keys, mut spare) = (zeros::<T::Key>(length)?, zeros::<T::Key>(length)?);
        for line in lines.chunks_mut(length) {
            keys.iter_mut().zip(&*line).for_each(|(key, &item)| *key = item.key());
            sort_piece(&mut keys, &mut spare);
            line.iter_mut().zip(&keys).for_each(|(item, &key)| *item = T::of(key));
        }
        Ok(())
    })
}

fn zeros<K: Copy + Default>(count: usize) -> Result<Vec<K>> {
    let mut zeros = limits::vector(count)?;
    zeros.resize(count, K::default());
    Ok(zeros)
}

/// Sorts a line of any length on all cores.
fn sort_long<T: Sortable>(line: &mut [T]) -> Result<()> {
    let work = line.len();
    let (mut keys, mut spare) = (zeros::<T::Key>(work)?, zeros::<T::Key>(work)?);
    let items = &*line;
    parallel::parts_of(&mut keys, PIECE, work, &|start, keys| {
        keys.iter_mut().zip(items.get(start..).unwrap_or_default()).for_each(|(key, &item)| *key = item.key());
        sort_piece(keys, &mut zeros(keys.len())?);
        Ok(())
    })?;
    let mut width = PIECE;
    while width < work {
        let sorted = &keys;
        parallel::parts_of(&mut spare, PIECE, work, &|start, out| {
            let pair_start = start / (2 * width) * (2 * width);
            let pair = sorted.get(pair_start..work.min(pair_start + 2 * width)).unwrap_or_default();
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(left, right, start - pair_start, out);
            Ok(())
        })?;
        std::mem::swap(&mut keys, &mut spare);
        width *= 2;
    }
    let sorted = &keys;
    parallel::parts_of(line, PIECE, work, &|start, part| {
        part.iter_mut().zip(sorted.get(start..).unwrap_or_default()).for_each(|(item, &key)| *item = T::of(key));
        Ok(())
    })
}

/// Sorts keys by the digits that differ; `spare` has the same length.
fn sort_piece<K: Copy + Ord + Into<u64>>(keys: &mut [K], spare: &mut [K]) {
    const BITS: u32 = 8;
    let Some(&first) = keys.first() else { return };
    if keys.len() < DIGITS {
        keys.sort_unstable();
        return;
    }
    let mut varying: u64 = keys.iter().fold(0, |varying, &key| varying | (key.into() ^ first.into()));
    let (mut from, mut to) = (keys, spare);
    let mut is_copy = false;
    while varying != 0 {
        let shift = varying.trailing_zeros();
        let digit = |key: K| (key.into() >> shift) as usize % (1 << BITS);
        let mut next = [0usize; 1 << BITS];
        from.iter().for_each(|&key| next[digit(key)] += 1);
        let mut total = 0;
        next.iter_mut().for_each(|next| total += std::mem::replace(next, total));
        for &key in &*from {
            let next = &mut next[digit(key)];
            if let Some(slot) = to.get_mut(*next) {
                *slot = key;
            }
            *next += 1;
        }
        (from, to) = (to, from);
        is_copy = !is_copy;
        varying &= u64::MAX.checked_shl(shift + BITS).unwrap_or(0);
    }
    if is_copy {
        to.copy_from_slice(from);
    }
}

/// Fills `out` with the elements of two sorted runs in order, from number `start` on.
fn merge<K: Copy + Ord>(left: &[K], right: &[K], start: usize, out: &mut [K]) {
    // How many of the first elements come from the left.
    let (mut low, mut high) = (start.saturating_sub(right.len()), start.min(left.len()));
    while low < high {
        let middle = low.midpoint(high);
        match left.get(middle) <= right.get(start - middle - 1) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    let (mut left, mut right) = (left.get(low..).unwrap_or_default(), right.get(start - low..).unwrap_or_default());
    let mut out = out.iter_mut();
    while let ([a, ..], [b, ..]) = (left, right) {
        let Some(slot) = out.next() else { return };
        let from_left = a <= b;
        *slot = if from_left { *a } else { *b };
        left = &left[usize::from(from_left)..];
        right = &right[usize::from(!from_left)..];
    }
    out.zip(left.iter().chain(right)).for_each(|(slot, &key)| *slot = key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_sorted_at_every_length() {
        let ends = [DIGITS - 1, DIGITS, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 7 * PIECE + 5];
        for count in (0..40).chain(ends) {
            for most in [1, 300, 1_000_003, i64::MAX] {
                let values: Vec<i64> =
                    (0..count as i64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) % most).collect();
                let (mut quick, mut slow) = (values.clone(), values);
                sort_lines(&mut quick, count).unwrap();
                slow.sort();
                assert!(quick == slow, "{count} below {most}");
            }
        }
    }

    #[test]
    fn floats_are_sorted_with_nan_last() {
        for count in [17, DIGITS, 3 * PIECE + 1] {
            let number = |i: usize| match i % 7 {
                0 => f64::NAN,
                1 => f64::NEG_INFINITY,
                _ => ((i * 48271 % 65537) as f64 - 30000.0) / 3.0,
            };
            let mut quick: Vec<f64> = (0..count).map(number).collect();
            let mut slow = quick.clone();
            sort_lines(&mut quick, count).unwrap();
            slow.sort_by(f64::order);
            assert!(quick.iter().zip(&slow).all(|(a, b)| f64::order(a, b) == Ordering::Equal), "{count}");
        }
    }

    #[test]
    fn lines_are_sorted_apart() {
        for length in [3, 100, 1000, PIECE] {
            let mut lines: Vec<i32> = (0..5 * length as i32).map(|i| i.wrapping_mul(48271) % 1009).collect();
            let slow: Vec<i32> = lines
                .chunks(length)
                .flat_map(|line| {
                    let mut line = line.to_vec();
                    line.sort();
                    line
                })
                .collect();
            sort_lines(&mut lines, length).unwrap();
            assert!(lines == slow, "{length}");
        }
    }
}
