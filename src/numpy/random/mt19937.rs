//! MT19937, the Mersenne Twister: the generator of `RandomState` and of `np.random.seed`.

use super::bits::{BitGenerator, Reader};
use super::seed_sequence::SeedSequence;
use tensor::Error;
use tensor::Result;

pub(super) const WORDS: usize = 624;
const SHIFT: usize = 397;
const TWIST: u32 = 0x9908_b0df;
const UPPER: u32 = 0x8000_0000;

/// 624 words, and the index of the next one to hand out. Index 624 means that all are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mt19937 {
    key: [u32; WORDS],
    position: usize,
}

impl Mt19937 {
    /// `RandomState(seed)` and `np.random.seed(seed)` with an integer in [0, 2^32).
    pub(super) fn from_legacy_seed(seed: u32) -> Self {
        let mut key = [0; WORDS];
        let mut word = seed;
        for (index, slot) in (1_u32..).zip(key.iter_mut()) {
            *slot = word;
            word = 1_812_433_253_u32.wrapping_mul(word ^ (word >> 30)).wrapping_add(index);
        }
        Mt19937 { key, position: WORDS }
    }

    /// `RandomState(seeds)` with a 1-d array of integers in [0, 2^32). Fails if it is empty.
    pub(super) fn from_legacy_seeds(seeds: &[u32]) -> Result<Self> {
        if seeds.is_empty() {
            return Err(Error::value("Seed must be non-empty"));
        }
        let mut twister = Mt19937::from_legacy_seed(19_650_218);
        let key = &mut twister.key;
        let mut at = 1;
        // Both passes walk the key from word 1 and carry the last word over to word 0.
        let mut advance = |key: &mut [u32; WORDS], multiplier: u32, change: &dyn Fn(u32, usize) -> u32| {
            let before = key[at - 1];
            let mixed = key[at] ^ (before ^ (before >> 30)).wrapping_mul(multiplier);
            key[at] = change(mixed, at);
            at += 1;
            if at == WORDS {
                key[0] = key[WORDS - 1];
                at = 1;
            }
        };
        for (index, seed) in (0..seeds.len()).zip(seeds).cycle().take(seeds.len().max(WORDS)) {
            advance(key, 1_664_525, &|mixed, _| mixed.wrapping_add(*seed).wrapping_add(index as u32));
        }
        for _ in 1..WORDS {
            advance(key, 1_566_083_941, &|mixed, at| mixed.wrapping_sub(at as u32));
        }
        key[0] = UPPER;
        Ok(twister)
    }

    /// `MT19937(seed)`. The position starts at 623, one short of used up: the first number is the last word of the
    /// seeded key.
    pub(super) fn from_sequence(sequence: &SeedSequence) -> Self {
        let mut key = [0; WORDS];
        key.copy_from_slice(&sequence.words(WORDS)[..WORDS]);
        key[0] = UPPER;
        Mt19937 { key, position: WORDS - 1 }
    }

    /// Builds a generator from `state['key']` and `state['pos']`. Fails unless the key has 624 words.
    pub(super) fn from_state(key: &[u32], position: usize) -> Result<Self> {
        let key = <[u32; WORDS]>::try_from(key).map_err(|_| Error::value("state must be a 624-element array"))?;
        if position > WORDS {
            return Err(Error::value("pos must be at most 624"));
        }
        Ok(Mt19937 { key, position })
    }

    /// `state['key']`.
    pub(super) fn key(&self) -> &[u32] {
        &self.key
    }

    /// `state['pos']`.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Replaces all words by their successors.
    fn refill(&mut self) {
        for at in 0..WORDS {
            self.key[at] = successor(&self.key, at);
        }
        self.position = 0;
    }

    /// `jumped(jumps)`.
    pub(super) fn jumped(&self, jumps: usize) -> Self {
        let mut other = self.clone();
        for _ in 0..jumps {
            // One jump takes as long as many thousand numbers.
            if tensor::interrupt::requested() {
                break;
            }
            (other.key, other.position) = super::jump::jump(&other.key, other.position);
        }
        other
    }
}

/// The word that replaces word `at`.
pub(super) fn successor(key: &[u32; WORDS], at: usize) -> u32 {
    let joined = (key[at] & UPPER) | (key[(at + 1) % WORDS] & !UPPER);
    let twist = if joined & 1 == 1 { TWIST } else { 0 };
    key[(at + SHIFT) % WORDS] ^ (joined >> 1) ^ twist
}

impl BitGenerator for Mt19937 {
    fn name(&self) -> &'static str {
        "MT19937"
    }

    fn next_u32(&mut self) -> u32 {
        if self.position >= WORDS {
            self.refill();
        }
        let mut word = self.key[self.position];
        self.position += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// Two words, the upper one first.
    fn next_u64(&mut self) -> u64 {
        let upper = u64::from(self.next_u32());
        upper << 32 | u64::from(self.next_u32())
    }

    /// 27 bits of one word and 26 of the next. A 64-bit word would give other numbers.
    fn next_double(&mut self) -> f64 {
        let upper = f64::from(self.next_u32() >> 5);
        let lower = f64::from(self.next_u32() >> 6);
        (upper * 67_108_864.0 + lower) / 9_007_199_254_740_992.0
    }

    fn next_raw(&mut self) -> u64 {
        u64::from(self.next_u32())
    }

    fn state(&self) -> Vec<u8> {
        let mut block = Vec::with_capacity(4 * (WORDS + 1));
        block.extend(self.key.iter().flat_map(|word| word.to_le_bytes()));
        block.extend((self.position as u32).to_le_bytes());
        block
    }

    fn restore(&mut self, block: &[u8]) -> Result<()> {
        let mut reader = Reader::new(block);
        let mut key = [0; WORDS];
        for word in &mut key {
            *word = reader.u32()?;
        }
        let position = reader.u32()? as usize;
        reader.end()?;
        *self = Mt19937::from_state(&key, position)?;
        Ok(())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn std::any::Any {
        self
    }
}
