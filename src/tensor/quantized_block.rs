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
    /// This many ternary digits; see [`Number::Digit`].
    Ternary(u32),
    /// The exponent of a power of two; see [`half_power`].
    HalfPower,
    /// An unsigned 8-bit float; see [`half_float8`].
    HalfFloat8,
    /// Numbers whose bits are not adjacent, or numbers of several kinds.
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
    /// The bits that determine the number: those of the stored integer or index, the lower ones first, then those of
    /// the sign. Several elements may share them.
    pub places: [Option<BitRange>; 4],
    pub number: Number,
    pub scale: Factor,
    pub minimum: Option<Minimum>,
}

/// The number that is multiplied by the scale, and how the bits give it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A stored integer, from which `offset` is subtracted.
    Integer { stored: i32, offset: i32 },
    /// One of the ternary digits of a byte, less 1. The byte is a fraction of 256. Multiplying it by `power`, a power of
    /// three, shifts out the digits before this one.
    Digit { byte: u8, power: u8 },
    /// An entry of a table.
    Entry { table: &'static str, index: usize, column: Option<usize>, entry: i32, change: Change },
}

/// What happens to an entry of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    None,
    Negated,
    /// This number is added.
    Shifted(f32),
}

/// The scale or minimum of a block, and an optional small number that it is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    pub whole: f32,
    pub times: Option<f32>,
}

/// The minimum of a block, and whether it is added or subtracted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Minimum {
    Added(Factor),
    TakenOff(Factor),
}

impl Factor {
    pub fn value(self) -> f32 {
        self.times.map_or(self.whole, |times| self.whole * times)
    }
}

impl Number {
    pub fn value(self) -> f32 {
        match self {
            Number::Integer { stored, offset } => (stored - offset) as f32,
            Number::Digit { byte, power } => digit(byte, power) as f32,
            Number::Entry { entry, change, .. } => match change {
                Change::None => entry as f32,
                Change::Negated => -entry as f32,
                Change::Shifted(by) => entry as f32 + by,
            },
        }
    }
}

impl Element {
    /// Returns the places of its bits.
    pub fn places(&self) -> impl Iterator<Item = BitRange> {
        self.places.into_iter().flatten()
    }

    /// Returns the represented number, in single precision.
    pub fn value(&self) -> f32 {
        let product = self.scale.value() * self.number.value();
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

/// Returns a ternary digit of a byte, less 1; see [`Number::Digit`].
#[inline(always)]
pub fn digit(byte: u8, power: u8) -> i32 {
    i32::from(byte.wrapping_mul(power)) * 3 / 256 - 1
}

/// Returns 2 to the power of a byte less 128: half the value of a `float8_e8m0fnu`, but without a NaN.
#[inline(always)]
pub fn half_power(byte: u8) -> f32 {
    // The two smallest powers are subnormal.
    f32::from_bits(if byte < 2 { 0x0020_0000 << byte } else { (u32::from(byte) - 1) << 23 })
}

/// Returns half the value of a `float8_e4m3fn` whose sign is ignored. Of its NaNs, 0x7f counts as zero and 0xff as 240,
/// like in `gguf.quants`.
#[inline(always)]
pub fn half_float8(byte: u8) -> f32 {
    let (exponent, mantissa) = (u32::from(byte >> 3 & 15), u32::from(byte & 7));
    match (byte, exponent) {
        (0x7f, _) => 0.0,
        (_, 0) => mantissa as f32 / 1024.0,
        // The exponent's bias is 7; that of a float32 is 127.
        _ => f32::from_bits((exponent + 127 - 7 - 1) << 23 | mantissa << 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_are_half_their_values() {
        for byte in 0..=255u8 {
            assert_eq!(f64::from(half_power(byte)), 2f64.powi(i32::from(byte) - 128));
            let (exponent, mantissa) = (i32::from(byte >> 3 & 15), f64::from(byte & 7));
            let value = if exponent == 0 { mantissa / 512.0 } else { (1.0 + mantissa / 8.0) * 2f64.powi(exponent - 7) };
            assert_eq!(f64::from(half_float8(byte)), if byte == 0x7f { 0.0 } else { value / 2.0 });
        }
    }

    /// `gguf.quants` makes a byte of five digits this way: their number in base 3, as a fraction of 256 rounded up.
    #[test]
    fn ternary_digits_are_found() {
        for number in 0..243u32 {
            let byte = (number * 256).div_ceil(243) as u8;
            for (power, place) in [(1, 81), (3, 27), (9, 9), (27, 3), (81, 1)] {
                assert_eq!(digit(byte, power), (number / place % 3) as i32 - 1, "{number} {place}");
            }
        }
    }
}
