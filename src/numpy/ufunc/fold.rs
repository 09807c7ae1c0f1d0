//! How reductions combine elements. Sums of inexact numbers are pairwise, as NumPy's: blocks of 128 elements in eight
//! partial sums, and halves of longer runs. Other operations go from one element to the next.

use super::compare::bools;
use super::complexes::two_complex;
use super::integers::two_integers;
use super::math::Real;
use super::reals::two_reals;
use super::run::{Two, half_two, widen};
use super::table::Op;
use half::f16;
use num_complex::Complex;
use tensor::memory::BoolByte;
use tensor::parallel::{self, Kernel, vectorised, vectorised_kernel};

/// Elements at equal distances in a slice.
#[derive(Clone, Copy)]
pub(super) struct Line<'a, T> {
    pub(super) items: &'a [T],
    pub(super) first: i64,
    pub(super) step: i64,
    pub(super) count: usize,
}

impl<'a, T: Copy + Default> Line<'a, T> {
    #[inline(always)]
    pub(super) fn at(&self, index: usize) -> T {
        self.items.get((self.first + self.step * index as i64) as usize).copied().unwrap_or_default()
    }

    /// Returns the elements as a slice if they are adjacent.
    pub(super) fn adjacent(&self) -> Option<&'a [T]> {
        let first = usize::try_from(self.first).ok()?;
        if self.step == 1 || self.count <= 1 { self.items.get(first..first + self.count) } else { None }
    }

    pub(super) fn part(&self, start: usize, count: usize) -> Line<'a, T> {
        Line { first: self.first + self.step * start as i64, count, ..*self }
    }
}

type Fold<T> = dyn Fn(T, Line<T>) -> T + Send + Sync;
type Slices<T> = dyn Fn(&[T], &[T], &mut [T]) + Send + Sync;

/// The functions of an operation that reductions use.
pub(super) struct Reducer<T> {
    pub(super) one: Box<dyn Fn(T, T) -> T + Send + Sync>,
    /// Combines an accumulator with a line of elements.
    pub(super) fold: Box<Fold<T>>,
    pub(super) slices: Box<Slices<T>>,
}

/// An element type that can be reduced.
pub(super) trait Reduced: Copy + Default + Sized + 'static {
    fn reducer(op: Op) -> Option<Reducer<Self>>;
}

/// Builds a reducer from a kernel; `fold` replaces the walk from one element to the next.
fn of_kernel<T: Copy + Default + Send + Sync + 'static>(
    kernel: Two<T, T, T>,
    fold: Option<fn(T, Line<T>) -> T>,
) -> Reducer<T> {
    let one = kernel.one;
    let fold: Box<Fold<T>> = match fold {
        Some(fold) => Box::new(fold),
        None => Box::new(move |start, line: Line<T>| (0..line.count).fold(start, |sum, i| one(sum, line.at(i)))),
    };
    Reducer { one: Box::new(one), fold, slices: Box::new(kernel.slices) }
}

/// Folds a line in vectors if its elements are adjacent.
#[inline(always)]
fn walk<T: Copy + Default>(start: T, line: Line<T>, join: impl Fn(T, T) -> T) -> T {
    match line.adjacent() {
        Some(items) => vectorised(|| items.iter().fold(start, |sum, &item| join(sum, item))),
        None => (0..line.count).fold(start, |sum, i| join(sum, line.at(i))),
    }
}

/// Builds the functions for one operation of integers, whose order does not matter.
macro_rules! walks {
    ($op:expr, $t:ident; $($name:ident => $join:expr),* $(,)?) => {
        match $op {
            $(Op::$name => Some(|start: $t, line: Line<$t>| walk(start, line, $join)),)*
            _ => None,
        }
    };
}

macro_rules! whole_reduced {
    ($($t:ident)*) => {$(
        impl Reduced for $t {
            fn reducer(op: Op) -> Option<Reducer<$t>> {
                let fold: Option<fn($t, Line<$t>) -> $t> = walks!(op, $t;
                    Add => $t::wrapping_add,
                    Multiply => $t::wrapping_mul,
                    Maximum => |a: $t, b: $t| a.max(b),
                    Minimum => |a: $t, b: $t| a.min(b),
                    Fmax => |a: $t, b: $t| a.max(b),
                    Fmin => |a: $t, b: $t| a.min(b),
                    BitwiseAnd => |a: $t, b: $t| a & b,
                    BitwiseOr => |a: $t, b: $t| a | b,
                    BitwiseXor => |a: $t, b: $t| a ^ b,
                );
                two_integers::<$t>(op, 0).map(|kernel| of_kernel(kernel, fold))
            }
        }
    )*};
}
whole_reduced!(i8 u8 i16 u16 i32 u32 i64 u64);

impl Reduced for BoolByte {
    fn reducer(op: Op) -> Option<Reducer<BoolByte>> {
        /// Elements between two looks at the result so far.
        const LOOK: usize = 4096;
        fn until(line: Line<BoolByte>, end: bool) -> bool {
            let mut start = 0;
            while start < line.count {
                let part = line.part(start, LOOK.min(line.count - start));
                let found = match part.adjacent() {
                    Some(items) => vectorised(|| items.iter().fold(false, |any, item| any | (item.get() == end))),
                    None => (0..part.count).any(|i| part.at(i).get() == end),
                };
                if found {
                    return true;
                }
                start += LOOK;
            }
            false
        }
        let fold: Option<fn(BoolByte, Line<BoolByte>) -> BoolByte> = match op {
            Op::LogicalOr | Op::BitwiseOr | Op::Maximum | Op::Fmax | Op::Add => {
                Some(|start, line| BoolByte::new(start.get() || until(line, true)))
            }
            Op::LogicalAnd | Op::BitwiseAnd | Op::Minimum | Op::Fmin | Op::Multiply => {
                Some(|start, line| BoolByte::new(start.get() && !until(line, false)))
            }
            _ => None,
        };
        bools(op).map(|kernel| of_kernel(kernel, fold))
    }
}

/// The elements that are summed without halving.
const BLOCK: usize = 128;

/// The partial sums of a block.
const LANES: usize = 8;

/// Adds the elements `from(0)` to `from(count - 1)` in pairs.
#[inline(always)]
fn block_sum<T: Real>(count: usize, from: impl Fn(usize) -> T) -> T {
    if count < LANES {
        return (0..count).fold(-T::zero(), |sum, i| sum + from(i));
    }
    let mut lanes: [T; LANES] = std::array::from_fn(&from);
    let whole = count - count % LANES;
    let mut at = LANES;
    while at < whole {
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane = *lane + from(at + k);
        }
        at += LANES;
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    (whole..count).fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, i| sum + from(i))
}

/// Elements whose blocks are summed in one vectorised loop.
const BATCH: usize = 32 * BLOCK;

/// Splits `count` elements in half until no part has more than `most`, and calls `part` with the length of each.
fn split(count: usize, most: usize, part: &mut impl FnMut(usize)) {
    if count <= most {
        return part(count);
    }
    let half = count / 2 - count / 2 % LANES;
    split(half, most, part);
    split(count - half, most, part);
}

/// Adds the sums of parts along the halves that [`split`] made.
fn join<T: Real>(count: usize, most: usize, sums: &mut impl Iterator<Item = T>) -> T {
    if count <= most {
        return sums.next().unwrap_or_else(T::zero);
    }
    let half = count / 2 - count / 2 % LANES;
    let left = join(half, most, sums);
    left + join(count - half, most, sums)
}

/// Sums blocks of adjacent elements.
struct Blocks<'a, T> {
    items: &'a [T],
    lengths: &'a [usize],
    sums: &'a mut [T],
}

impl<T: Real> Kernel for Blocks<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        let mut left = self.items;
        for (&length, sum) in self.lengths.iter().zip(self.sums) {
            let Some((block, rest)) = left.split_at_checked(length) else { return };
            left = rest;
            *sum = adjacent_block(block);
        }
    }
}

#[inline(always)]
fn adjacent_block<T: Real>(block: &[T]) -> T {
    let (groups, rest) = block.as_chunks::<LANES>();
    let Some((first, groups)) = groups.split_first() else {
        return block.iter().fold(-T::zero(), |sum, &item| sum + item);
    };
    let mut lanes = *first;
    for group in groups {
        for (lane, &item) in lanes.iter_mut().zip(group) {
            *lane = *lane + item;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, &item| sum + item)
}

/// Elements that one core sums at a time.
const SHARE: usize = 1 << 18;

/// The pairwise sum of adjacent elements; of many on all cores.
fn pairwise_anywhere<T: Real + Send + Sync>(items: &[T]) -> T {
    if items.len() <= SHARE {
        return pairwise(items);
    }
    let (mut ranges, mut start) = (Vec::new(), 0);
    split(items.len(), SHARE, &mut |length| {
        ranges.push(start..start + length);
        start += length;
    });
    let part = |k: usize| {
        let range = ranges.get(k).cloned().unwrap_or_default();
        Ok(pairwise(items.get(range).unwrap_or_default()))
    };
    match parallel::collect(ranges.len(), items.len(), &part) {
        Ok(sums) => join(items.len(), SHARE, &mut sums.into_iter()),
        // Without memory for the list, or after Ctrl-C, which the caller looks for.
        Err(_) => pairwise(items),
    }
}

/// The pairwise sum of adjacent elements.
pub(super) fn pairwise<T: Real>(items: &[T]) -> T {
    if items.len() <= LANES {
        return adjacent_block(items);
    }
    if items.len() > BATCH {
        let half = items.len() / 2 - items.len() / 2 % LANES;
        let (left, right) = items.split_at(half);
        let left = pairwise(left);
        return left + pairwise(right);
    }
    let (mut lengths, mut blocks) = ([0; 2 * BATCH / BLOCK + 2], 0);
    split(items.len(), BLOCK, &mut |length| {
        if let Some(place) = lengths.get_mut(blocks) {
            *place = length;
            blocks += 1;
        }
    });
    let mut sums = [T::zero(); 2 * BATCH / BLOCK + 2];
    vectorised_kernel(Blocks { items, lengths: &lengths[..blocks], sums: &mut sums });
    join(items.len(), BLOCK, &mut sums.into_iter())
}

/// The pairwise sum of elements anywhere.
fn pairwise_of<T: Real>(start: usize, count: usize, from: &impl Fn(usize) -> T) -> T {
    if count <= BLOCK {
        return block_sum(count, |i| from(start + i));
    }
    let half = count / 2 - count / 2 % LANES;
    let left = pairwise_of(start, half, from);
    left + pairwise_of(start + half, count - half, from)
}

/// Like [`pairwise_of`], for complex numbers: eight partial sums are four of each part.
fn pairwise_complex<T: Real>(start: usize, count: usize, from: &impl Fn(usize) -> Complex<T>) -> Complex<T> {
    let add = |a: Complex<T>, b: Complex<T>| Complex::new(a.re + b.re, a.im + b.im);
    if 2 * count > BLOCK {
        // In parts: `2 * count / 2`, rounded down to whole groups of lanes.
        let half = (count - count % LANES) / 2;
        let left = pairwise_complex(start, half, from);
        return add(left, pairwise_complex(start + half, count - half, from));
    }
    const PAIRS: usize = LANES / 2;
    if count < PAIRS {
        return (0..count).fold(Complex::new(-T::zero(), -T::zero()), |sum, i| add(sum, from(start + i)));
    }
    let mut lanes: [Complex<T>; PAIRS] = std::array::from_fn(|k| from(start + k));
    let whole = count - count % PAIRS;
    for at in (PAIRS..whole).step_by(PAIRS) {
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane = add(*lane, from(start + at + k));
        }
    }
    let [a, b, c, d] = lanes;
    (whole..count).fold(add(add(a, b), add(c, d)), |sum, i| add(sum, from(start + i)))
}

/// Combines numbers in four lanes, for operations in which only NaNs and the signs of zeros depend on the order.
#[inline(always)]
fn extreme<T: Real>(start: T, line: Line<T>, join: impl Fn(T, T) -> T) -> T {
    const WIDE: usize = 32;
    let Some(items) = line.adjacent() else {
        return (0..line.count).fold(start, |best, i| join(best, line.at(i)));
    };
    vectorised(|| {
        let (groups, rest) = items.as_chunks::<WIDE>();
        let mut lanes = [start; WIDE];
        for group in groups {
            for (lane, &item) in lanes.iter_mut().zip(group) {
                *lane = join(*lane, item);
            }
        }
        let best = lanes.iter().fold(start, |best, &lane| join(best, lane));
        rest.iter().fold(best, |best, &item| join(best, item))
    })
}

macro_rules! real_reduced {
    ($($t:ident)*) => {$(
        impl Reduced for $t {
            fn reducer(op: Op) -> Option<Reducer<$t>> {
                use super::reals::{larger, larger_number, smaller, smaller_number};
                let fold: Option<fn($t, Line<$t>) -> $t> = match op {
                    Op::Add => Some(|start, line| start + match line.adjacent() {
                        Some(items) => pairwise_anywhere(items),
                        None => pairwise_of(0, line.count, &|i| line.at(i)),
                    }),
                    Op::Maximum => Some(|start, line| extreme(start, line, larger::<$t>)),
                    Op::Minimum => Some(|start, line| extreme(start, line, smaller::<$t>)),
                    Op::Fmax => Some(|start, line| extreme(start, line, larger_number::<$t>)),
                    Op::Fmin => Some(|start, line| extreme(start, line, smaller_number::<$t>)),
                    _ => None,
                };
                two_reals::<$t>(op, 0).map(|kernel| of_kernel(kernel, fold))
            }
        }

        impl Reduced for Complex<$t> {
            fn reducer(op: Op) -> Option<Reducer<Complex<$t>>> {
                let fold: Option<fn(Complex<$t>, Line<Complex<$t>>) -> Complex<$t>> = match op {
                    Op::Add => Some(|start, line| {
                        let sum = pairwise_complex(0, line.count, &|i| line.at(i));
                        Complex::new(start.re + sum.re, start.im + sum.im)
                    }),
                    _ => None,
                };
                two_complex::<$t>(op).map(|kernel| of_kernel(kernel, fold))
            }
        }
    )*};
}
real_reduced!(f32 f64);

impl Reduced for f16 {
    fn reducer(op: Op) -> Option<Reducer<f16>> {
        if let Some(kernel) = super::halves::two_halves(op) {
            return Some(of_kernel(kernel, None));
        }
        let kernel = two_reals::<f32>(op, 0)?;
        let one = move |a: f16, b: f16| f16::from_f32((kernel.one)(a.to_f32(), b.to_f32()));
        let fold: Box<Fold<f16>> = match op {
            // The sum is in single precision until the end of the line.
            Op::Add => Box::new(|start, line| f16::from_f32(start.to_f32() + half_sum(line))),
            Op::Subtract | Op::Multiply | Op::Divide => Box::new(move |start, line| {
                let wide = (0..line.count).fold(start.to_f32(), |best, i| (kernel.one)(best, line.at(i).to_f32()));
                f16::from_f32(wide)
            }),
            _ => Box::new(move |start, line| (0..line.count).fold(start, |best, i| one(best, line.at(i)))),
        };
        let slices = move |a: &[f16], b: &[f16], out: &mut [f16]| half_two(kernel.slices, a, b, out);
        Some(Reducer { one: Box::new(one), fold, slices: Box::new(slices) })
    }
}

fn half_sum(line: Line<f16>) -> f32 {
    if line.count > BATCH {
        let half = line.count / 2 - line.count / 2 % LANES;
        let left = half_sum(line.part(0, half));
        return left + half_sum(line.part(half, line.count - half));
    }
    let mut wide = [0f32; BATCH];
    let wide = &mut wide[..line.count];
    match line.adjacent() {
        Some(items) => widen(items, wide),
        None => wide.iter_mut().enumerate().for_each(|(i, wide)| *wide = line.at(i).to_f32()),
    }
    pairwise(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_many_cores_are_those_of_one() {
        for count in [SHARE - 1, SHARE, SHARE + 1, 2 * SHARE + 9, 7 * SHARE + 1001] {
            let items: Vec<f32> = (0..count).map(|i| (i * 48271 % 65537) as f32 * 0.37 - 9000.0).collect();
            let slow = pairwise_of(0, count, &|i| items[i]);
            assert_eq!(pairwise(&items).to_bits(), slow.to_bits(), "{count}");
            assert_eq!(pairwise_anywhere(&items).to_bits(), slow.to_bits(), "{count}");
        }
    }
}
