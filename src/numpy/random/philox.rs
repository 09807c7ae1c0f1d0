//! Philox 4x64: encrypts a counter. Every block of four words depends on the key and the counter alone.

use super::bits::{BitGenerator, Half, Reader};
use super::seed_sequence::SeedSequence;
use tensor::Result;

const LANES: usize = 4;
const ROUNDS: usize = 10;
const MULTIPLIERS: [u64; 2] = [0xd2e7_470e_e14c_6c93, 0xca5a_8263_9512_1157];
/// What the key grows by in each round.
const WEYL: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];

/// A 256-bit counter, lowest word first, a 128-bit key, and the words of the last block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Philox {
    pub counter: [u64; LANES],
    pub key: [u64; 2],
    pub buffer: [u64; LANES],
    /// Index of the next word in `buffer`; 4 means that all are used.
    pub position: usize,
    pub half: Half,
}

impl Philox {
    /// `Philox(seed)`.
    pub(super) fn new(sequence: &SeedSequence) -> Self {
        let words = sequence.long_words(2);
        Philox::from_key([words[0], words[1]], [0; LANES])
    }

    /// `Philox(key=…, counter=…)`.
    pub(super) fn from_key(key: [u64; 2], counter: [u64; LANES]) -> Self {
        Philox { counter, key, buffer: [0; LANES], position: LANES, half: Half::default() }
    }

    fn block(&self) -> [u64; LANES] {
        let (mut lanes, mut key) = (self.counter, self.key);
        for _ in 0..ROUNDS {
            let left = u128::from(MULTIPLIERS[0]) * u128::from(lanes[0]);
            let right = u128::from(MULTIPLIERS[1]) * u128::from(lanes[2]);
            lanes = [
                (right >> 64) as u64 ^ lanes[1] ^ key[0],
                right as u64,
                (left >> 64) as u64 ^ lanes[3] ^ key[1],
                left as u64,
            ];
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        lanes
    }

    fn count(&mut self) {
        for word in &mut self.counter {
            *word = word.wrapping_add(1);
            if *word != 0 {
                return;
            }
        }
    }

    /// `advance(delta)`, with `delta` modulo 2^256 as words, the lowest first. Drops the rest of the block.
    pub(super) fn advance(&mut self, delta: [u64; LANES]) {
        let mut carry = false;
        for (word, step) in self.counter.iter_mut().zip(delta) {
            if carry {
                *word = word.wrapping_add(1);
                carry = *word == 0;
            }
            let (sum, overflow) = word.overflowing_add(step);
            *word = sum;
            carry = carry || overflow;
        }
        (self.position, self.buffer, self.half) = (LANES, [0; LANES], Half::default());
    }

    /// `jumped(jumps)`: 2^128 blocks further for every jump.
    pub(super) fn jumped(&self, jumps: u128) -> Self {
        let mut other = self.clone();
        other.advance([0, 0, jumps as u64, (jumps >> 64) as u64]);
        other
    }
}

impl BitGenerator for Philox {
    fn name(&self) -> &'static str {
        "Philox"
    }

    fn next_u32(&mut self) -> u32 {
        let mut half = self.half;
        let word = half.next(|| self.next_u64());
        self.half = half;
        word
    }

    fn next_u64(&mut self) -> u64 {
        if self.position >= LANES {
            self.count();
            self.buffer = self.block();
            self.position = 0;
        }
        self.position += 1;
        self.buffer[self.position - 1]
    }

    fn state(&self) -> Vec<u8> {
        let mut block = Vec::with_capacity(86);
        let words = self.counter.iter().chain(&self.key).chain(&self.buffer);
        block.extend(words.flat_map(|word| word.to_le_bytes()));
        block.push(self.position as u8);
        self.half.write(&mut block);
        block
    }

    fn restore(&mut self, block: &[u8]) -> Result<()> {
        let mut reader = Reader::new(block);
        let mut words = [0; 2 * LANES + 2];
        for word in &mut words {
            *word = reader.u64()?;
        }
        let position = usize::from(reader.u8()?);
        let half = Half::read(&mut reader)?;
        reader.end()?;
        let [c0, c1, c2, c3, k0, k1, b0, b1, b2, b3] = words;
        *self = Philox { counter: [c0, c1, c2, c3], key: [k0, k1], buffer: [b0, b1, b2, b3], position, half };
        Ok(())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn std::any::Any {
        self
    }
}
