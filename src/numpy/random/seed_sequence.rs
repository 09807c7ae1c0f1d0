//! `SeedSequence`: spreads seeds of any size over the words that a bit generator starts from.

use tensor::Error;
use tensor::Result;

const POOL: usize = 4;
const MIX_LEFT: u32 = 0xca01_f9dd;
const MIX_RIGHT: u32 = 0x4973_f715;

/// Multiplies a word by a constant that changes with every use.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    /// The constants with which entropy enters the pool.
    fn entering() -> Self {
        Hash { constant: 0x43b0_d7e5, multiplier: 0x931e_8875 }
    }

    /// The constants with which words leave the pool.
    fn leaving() -> Self {
        Hash { constant: 0x8b51_f9dd, multiplier: 0x58f3_8ded }
    }

    fn apply(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ (word >> 16)
    }
}

fn mix(left: u32, right: u32) -> u32 {
    let mixed = MIX_LEFT.wrapping_mul(left).wrapping_sub(MIX_RIGHT.wrapping_mul(right));
    mixed ^ (mixed >> 16)
}

/// A mixed pool of entropy. Two sequences with the same entropy, spawn key and pool size are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeedSequence {
    pool: Vec<u32>,
}

impl SeedSequence {
    /// `SeedSequence(entropy)`, for `entropy` already split by [`integer_words`]. A list of integers is the
    /// concatenation of their words.
    pub(super) fn new(entropy: &[u32]) -> Self {
        SeedSequence::mixed(entropy, &[], POOL)
    }

    /// `SeedSequence(entropy, spawn_key=…, pool_size=…)`. The key of a child ends with its number.
    pub(super) fn with_options(entropy: &[u32], spawn_key: &[u32], pool_size: usize) -> Result<Self> {
        if pool_size < POOL {
            return Err(Error::value(format!("The size of the entropy pool should be at least {POOL}")));
        }
        Ok(SeedSequence::mixed(entropy, spawn_key, pool_size))
    }

    fn mixed(entropy: &[u32], spawn_key: &[u32], pool_size: usize) -> Self {
        let mut all = entropy.to_vec();
        // Without zeros in between, a spawn key could pass for the end of a short seed.
        if !spawn_key.is_empty() && all.len() < pool_size {
            all.resize(pool_size, 0);
        }
        all.extend(spawn_key);
        let mut hash = Hash::entering();
        let first = all.iter().copied().chain(std::iter::repeat(0)).take(pool_size);
        let mut pool: Vec<u32> = first.map(|word| hash.apply(word)).collect();
        for from in 0..pool_size {
            // A large pool takes long, because each word mixes into all others.
            if tensor::interrupt::requested() {
                break;
            }
            for to in (0..pool_size).filter(|to| *to != from) {
                pool[to] = mix(pool[to], hash.apply(pool[from]));
            }
        }
        for word in all.iter().skip(pool_size) {
            for slot in &mut pool {
                *slot = mix(*slot, hash.apply(*word));
            }
        }
        SeedSequence { pool }
    }

    /// `generate_state(count)`.
    pub(super) fn words(&self, count: usize) -> Vec<u32> {
        let mut hash = Hash::leaving();
        self.pool.iter().cycle().take(count).map(|word| hash.apply(*word)).collect()
    }

    /// `generate_state(count, np.uint64)`: pairs of words, the lower one first.
    pub(super) fn long_words(&self, count: usize) -> Vec<u64> {
        let words = self.words(count.saturating_mul(2));
        words.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
    }

    /// `pool`.
    pub(super) fn pool(&self) -> &[u32] {
        &self.pool
    }
}

/// Splits a non-negative integer, given as little-endian bytes, into 32-bit words, the lowest first. Zero is one word.
pub(super) fn integer_words(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
    let mut words: Vec<u32> = bytes.chunks(4).map(word).collect();
    while words.len() > 1 && words.last() == Some(&0) {
        words.pop();
    }
    if words.is_empty() {
        words.push(0);
    }
    words
}
