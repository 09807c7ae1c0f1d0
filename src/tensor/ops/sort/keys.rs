//! Keys to sort by: an element's rank among its dtype's values, and its index. Equal values have equal ranks.

use crate::dtype::TypeOf;
use crate::ops::check::lost;
use crate::{DType, Element, Result, Scalar, View, parallel};

/// An element's rank and its original index. No two items of a line are equal: their order is that of ranks, then of
/// indices.
pub(crate) trait SortKey: Copy + Ord + Send + Sync {
    /// Creates the item of an element at an index; `reversed` inverts the order of ranks.
    fn new(rank: u64, place: usize, reversed: bool) -> Self;
    fn rank(&self) -> u64;
    fn place(&self) -> i64;
}

/// A key of any rank.
pub(crate) type Ranked = (u64, i64);

impl SortKey for Ranked {
    #[inline(always)]
    fn new(rank: u64, place: usize, reversed: bool) -> Ranked {
        (if reversed { !rank } else { rank }, place as i64)
    }
    #[inline(always)]
    fn rank(&self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn place(&self) -> i64 {
        self.1
    }
}

/// Rank and index in 32 bits each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PackedKey(u64);

impl PackedKey {
    /// Returns whether the ranks of a dtype and the indices of lines of this size fit.
    pub(crate) fn fits(dtype: DType, size: i64) -> bool {
        dtype.itemsize() <= 4 && u32::try_from(size).is_ok()
    }
}

impl SortKey for PackedKey {
    #[inline(always)]
    fn new(rank: u64, place: usize, reversed: bool) -> PackedKey {
        let rank = rank as u32;
        PackedKey(u64::from(if reversed { !rank } else { rank }) << 32 | place as u64)
    }
    #[inline(always)]
    fn rank(&self) -> u64 {
        self.0 >> 32
    }
    #[inline(always)]
    fn place(&self) -> i64 {
        i64::from(self.0 as u32)
    }
}

/// Returns the rank that every NaN of a dtype has; none if the dtype has no NaN.
pub(crate) fn rank_of_nan(dtype: DType) -> Option<u64> {
    dtype.is_floating_point().then(|| if dtype.itemsize() <= 4 { u64::from(u32::MAX) } else { u64::MAX })
}

/// Returns an element's rank: an unsigned number with the order of the values. Dtypes of at most four bytes have ranks
/// of 32 bits.
#[inline(always)]
pub(crate) fn rank_of(dtype: DType, value: Scalar) -> u64 {
    const SIGN: u64 = 1 << 63;
    const SHORT_SIGN: u32 = 1 << 31;
    let short = dtype.itemsize() <= 4;
    let value = if let Scalar::Complex(c) = value { Scalar::Float(c.re) } else { value };
    match value {
        Scalar::Bool(b) => u64::from(b),
        Scalar::Int(i) if short && dtype == DType::UInt32 => u64::from(i as u32),
        Scalar::Int(i) if short => u64::from(i as u32 ^ SHORT_SIGN),
        Scalar::Int(i) if dtype == DType::UInt64 => i as u64,
        Scalar::Int(i) => (i as u64) ^ SIGN,
        // Unsigned numbers beyond `i64` come after all others; their top bit is already set.
        Scalar::UInt(u) => u,
        Scalar::Complex(_) => 0,
        // Zero has two bit patterns; adding zero gives the positive one.
        Scalar::Float(f) if short => {
            let bits = (f as f32 + 0.0).to_bits();
            u64::from(if f.is_nan() {
                u32::MAX
            } else if bits & SHORT_SIGN == 0 {
                bits | SHORT_SIGN
            } else {
                !bits
            })
        }
        Scalar::Float(f) => {
            let bits = (f + 0.0).to_bits();
            if f.is_nan() {
                u64::MAX
            } else if bits & SIGN == 0 {
                bits | SIGN
            } else {
                !bits
            }
        }
    }
}

/// Reads ranks from a start offset with a stride, on any core.
pub(crate) type ReadRanks<'r> = dyn Fn(i64, i64, &mut [u64]) -> Result<()> + Sync + 'r;

/// Calls `body` with a function that reads the ranks of a tensor's elements.
pub(crate) fn reading(view: &View, body: &mut (dyn FnMut(&ReadRanks) -> Result<()> + Send)) -> Result<()> {
    let memory = view.memory()?;
    dispatch!(view.dtype, T => parallel::reading::<T, _>(&memory, |elements| {
        body(&|start, stride, ranks| {
            let adjacent = elements.get(start as usize..).and_then(|elements| elements.get(..ranks.len()));
            match adjacent {
                Some(elements) if stride == 1 => {
                    ranks.iter_mut().zip(elements).for_each(|(rank, element)| *rank = rank_of(T::DTYPE, element.load()));
                }
                _ => for (i, rank) in (0..).zip(ranks) {
                    let element = elements.get((start + i * stride) as usize).ok_or_else(lost)?;
                    *rank = rank_of(T::DTYPE, element.load());
                },
            }
            Ok(())
        })
    }))
    .unwrap_or_else(|| Err(lost()))
}
