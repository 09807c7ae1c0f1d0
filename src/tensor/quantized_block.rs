//! What a block of quantized numbers is made of: which bytes are for what, and which bits an element comes from. Code that knows
//! a type of blocks describes it here, and renderers read it. Independent of any type.

/// Neighbouring bytes of a block.
#[derive(Debug)]
pub struct Part {
    /// Its name in llama.cpp.
    pub name: &'static str,
    pub nbytes: usize,
    pub role: Role,
    pub holds: Holds,
    pub about: &'static str,
}

/// What the bytes of a part are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What the numbers are multiplied by.
    Scale,
    /// What is added to them or taken off.
    Minimum,
    /// Factors of the two for some of the elements.
    Factors,
    /// The numbers.
    Numbers,
}

/// How the bytes of a part are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    Float16,
    /// Numbers of this many bits, the first in the lowest bits.
    Bits(u32),
    Int8,
    /// Numbers whose bits do not lie together.
    Packed,
}

/// Bits of a byte of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub byte: usize,
    /// The lowest bit.
    pub shift: u32,
    pub width: u32,
}

/// One element and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    pub low: Place,
    /// The bits above those.
    pub high: Option<Place>,
    /// The number that the bits are.
    pub stored: i32,
    /// What is taken off it.
    pub offset: i32,
    pub scale: Factor,
    pub minimum: Option<Minimum>,
}

/// A float16, and a small number that it is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    pub whole: f32,
    pub times: Option<i32>,
}

/// The second number of a block, and what becomes of it.
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
    /// Where its bits are, the lower ones first.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        [Some(self.low), self.high].into_iter().flatten()
    }

    /// The number that it stands for, in single precision.
    pub fn value(&self) -> f32 {
        let product = self.scale.value() * (self.stored - self.offset) as f32;
        match self.minimum {
            None => product,
            Some(Minimum::Added(minimum)) => sum(product, minimum.value()),
            Some(Minimum::TakenOff(minimum)) => product - minimum.value(),
        }
    }
}

/// Two numbers added. Of two that are none the first is the sum, as on the processors that `gguf.quants` runs on; a
/// compiler may swap them.
#[inline(always)]
pub fn sum(a: f32, b: f32) -> f32 {
    if a.is_nan() { a } else { a + b }
}
