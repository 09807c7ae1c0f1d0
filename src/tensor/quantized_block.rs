//! Describes a block of quantized numbers: the purpose of its bytes, and the bits of each element. Code for a block
//! type fills in the description, and renderers read it. Independent of any block type.

/// Adjacent bytes of a block.
#[derive(Debug)]
pub struct BlockPart {
    /// The name in llama.cpp.
    pub name: &'static str,
    pub nbytes: usize,
    pub role: Role,
    pub holds: PartEncoding,
    pub about: &'static str,
}

/// The purpose of a part's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The factor of the numbers.
    Scale,
    /// The number that is added to or subtracted from them.
    Minimum,
    /// Factors of the scale and the minimum for groups of elements.
    Factors,
    /// The quantized numbers.
    Numbers,
}

/// How the bytes of a part are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartEncoding {
    Float16,
    /// Numbers of this many bits, the first in the lowest bits.
    Bits(u32),
    Int8,
    /// Numbers whose bits are not adjacent.
    Packed,
}

/// Some bits of a byte of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitRange {
    pub byte: usize,
    /// The lowest bit.
    pub shift: u32,
    pub width: u32,
}

/// One element, and where its bits are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    pub low: BitRange,
    /// The bits above the low ones.
    pub high: Option<BitRange>,
    /// The stored integer.
    pub stored: i32,
    /// The number subtracted from the stored integer.
    pub offset: i32,
    pub scale: Factor,
    pub minimum: Option<Minimum>,
}

/// A float16, and an optional small integer that it is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    pub whole: f32,
    pub times: Option<i32>,
}

/// The minimum of a block, and whether it is added or subtracted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Minimum {
    Added(Factor),
    TakenOff(Factor),
}

impl Factor {
    pub fn value(self) -> f32 {
        self.times.map_or(self.whole, |times| self.whole * times as f32)
    }
}

impl Element {
    /// Returns the places of its bits, the lower ones first.
    pub fn places(&self) -> impl Iterator<Item = BitRange> {
        [Some(self.low), self.high].into_iter().flatten()
    }

    /// Returns the represented number, in single precision.
    pub fn value(&self) -> f32 {
        let product = self.scale.value() * (self.stored - self.offset) as f32;
        match self.minimum {
            None => product,
            Some(Minimum::Added(minimum)) => sum(product, minimum.value()),
            Some(Minimum::TakenOff(minimum)) => product - minimum.value(),
        }
    }
}

/// Adds two numbers. If both are NaN, the first is returned, as by the processors that `gguf.quants` runs on; with
/// plain addition, a compiler may swap the operands.
#[inline(always)]
pub fn sum(a: f32, b: f32) -> f32 {
    if a.is_nan() { a } else { a + b }
}
