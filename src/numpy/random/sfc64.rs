//! SFC64, Chris Doty-Humphrey's small fast chaotic generator: three words and a counter.

use super::bits::{BitGenerator, Half, Reader};
use super::seed_sequence::SeedSequence;
use tensor::Result;

/// Three mixed words and a counter: `state['state']['state']`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sfc64 {
    pub words: [u64; 4],
    pub half: Half,
}

impl Sfc64 {
    /// `SFC64(seed)`.
    pub(super) fn new(sequence: &SeedSequence) -> Self {
        let seed = sequence.long_words(3);
        let mut generator = Sfc64 { words: [seed[0], seed[1], seed[2], 1], half: Half::default() };
        for _ in 0..12 {
            generator.next_u64();
        }
        generator
    }
}

impl BitGenerator for Sfc64 {
    fn name(&self) -> &'static str {
        "SFC64"
    }

    fn next_u32(&mut self) -> u32 {
        let mut half = self.half;
        let word = half.next(|| self.next_u64());
        self.half = half;
        word
    }

    fn next_u64(&mut self) -> u64 {
        let [a, b, c, counter] = self.words;
        let out = a.wrapping_add(b).wrapping_add(counter);
        let mixed = c.rotate_left(24).wrapping_add(out);
        self.words = [b ^ (b >> 11), c.wrapping_add(c << 3), mixed, counter.wrapping_add(1)];
        out
    }

    fn state(&self) -> Vec<u8> {
        let mut block = Vec::with_capacity(37);
        block.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        self.half.write(&mut block);
        block
    }

    fn restore(&mut self, block: &[u8]) -> Result<()> {
        let mut reader = Reader::new(block);
        let words = [reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?];
        let half = Half::read(&mut reader)?;
        reader.end()?;
        *self = Sfc64 { words, half };
        Ok(())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn std::any::Any {
        self
    }
}
