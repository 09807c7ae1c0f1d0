//! PCG64 and PCG64DXSM: 128-bit linear congruential generators with a scrambled output.

use super::bits::{BitGenerator, Half, Reader};
use super::seed_sequence::SeedSequence;
use tensor::Result;

const LONG_MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
const SHORT_MULTIPLIER: u64 = 0xda94_2042_e4dd_58b5;
/// How far `jumped` goes: 2^128 divided by the golden ratio.
const JUMP: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// Which of the two output functions a generator uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// `PCG64`, the generator of `default_rng`: XSL-RR of the state after a step.
    XslRr,
    /// `PCG64DXSM`: DXSM of the state before a step with a 64-bit multiplier.
    Dxsm,
}

/// The state of `PCG64` or `PCG64DXSM`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pcg64 {
    pub variant: Variant,
    /// `state['state']['state']`.
    pub state: u128,
    /// `state['state']['inc']`, always odd after seeding.
    pub increment: u128,
    pub half: Half,
}

impl Pcg64 {
    /// `PCG64(seed)`, and what `default_rng(seed)` wraps.
    pub(super) fn new(sequence: &SeedSequence) -> Self {
        Pcg64::with_variant(Variant::XslRr, sequence)
    }

    /// `PCG64DXSM(seed)`.
    pub(super) fn new_dxsm(sequence: &SeedSequence) -> Self {
        Pcg64::with_variant(Variant::Dxsm, sequence)
    }

    fn with_variant(variant: Variant, sequence: &SeedSequence) -> Self {
        let words = sequence.long_words(4);
        let start = u128::from(words[0]) << 64 | u128::from(words[1]);
        let stream = u128::from(words[2]) << 64 | u128::from(words[3]);
        let mut generator = Pcg64 { variant, state: 0, increment: stream << 1 | 1, half: Half::default() };
        // Both variants are seeded with the long multiplier.
        generator.step(LONG_MULTIPLIER);
        generator.state = generator.state.wrapping_add(start);
        generator.step(LONG_MULTIPLIER);
        generator
    }

    fn step(&mut self, multiplier: u128) {
        self.state = self.state.wrapping_mul(multiplier).wrapping_add(self.increment);
    }

    fn multiplier(&self) -> u128 {
        match self.variant {
            Variant::XslRr => LONG_MULTIPLIER,
            Variant::Dxsm => u128::from(SHORT_MULTIPLIER),
        }
    }

    /// `advance(delta)`, modulo 2^128: moves as if `delta` words had been drawn and drops the pending half.
    /// A negative delta is its two's complement.
    pub(super) fn advance(&mut self, delta: u128) {
        // The step composed with itself is again a multiplication and an addition, so squaring takes 128 rounds.
        let (mut multiplier, mut increment) = (self.multiplier(), self.increment);
        let (mut total_multiplier, mut total_increment) = (1_u128, 0_u128);
        let mut left = delta;
        while left > 0 {
            if left & 1 == 1 {
                total_multiplier = total_multiplier.wrapping_mul(multiplier);
                total_increment = total_increment.wrapping_mul(multiplier).wrapping_add(increment);
            }
            increment = multiplier.wrapping_add(1).wrapping_mul(increment);
            multiplier = multiplier.wrapping_mul(multiplier);
            left >>= 1;
        }
        self.state = total_multiplier.wrapping_mul(self.state).wrapping_add(total_increment);
        self.half = Half::default();
    }

    /// `jumped(jumps)`.
    pub(super) fn jumped(&self, jumps: u128) -> Self {
        let mut other = self.clone();
        other.advance(JUMP.wrapping_mul(jumps));
        other
    }
}

impl BitGenerator for Pcg64 {
    fn name(&self) -> &'static str {
        match self.variant {
            Variant::XslRr => "PCG64",
            Variant::Dxsm => "PCG64DXSM",
        }
    }

    fn next_u32(&mut self) -> u32 {
        let mut half = self.half;
        let word = half.next(|| self.next_u64());
        self.half = half;
        word
    }

    fn next_u64(&mut self) -> u64 {
        match self.variant {
            Variant::XslRr => {
                self.step(LONG_MULTIPLIER);
                let folded = (self.state >> 64) as u64 ^ self.state as u64;
                folded.rotate_right((self.state >> 122) as u32)
            }
            Variant::Dxsm => {
                let mut high = (self.state >> 64) as u64;
                let low = self.state as u64 | 1;
                high ^= high >> 32;
                high = high.wrapping_mul(SHORT_MULTIPLIER);
                high ^= high >> 48;
                self.step(u128::from(SHORT_MULTIPLIER));
                high.wrapping_mul(low)
            }
        }
    }

    fn state(&self) -> Vec<u8> {
        let mut block = Vec::with_capacity(37);
        block.extend(self.state.to_le_bytes());
        block.extend(self.increment.to_le_bytes());
        self.half.write(&mut block);
        block
    }

    fn restore(&mut self, block: &[u8]) -> Result<()> {
        let mut reader = Reader::new(block);
        let (state, increment) = (reader.u128()?, reader.u128()?);
        let half = Half::read(&mut reader)?;
        reader.end()?;
        *self = Pcg64 { variant: self.variant, state, increment, half };
        Ok(())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn std::any::Any {
        self
    }
}
