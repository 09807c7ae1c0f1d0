//! [`BlockType`]: the layout of a quantized block and its conversion to float32, in two ways: all elements at once, and
//! a single element with the bits it comes from. Also what the functions of several types read. Knows no type.

use super::super::contents::{Blocks, DequantizeFn};
use half::f16;
use tensor::Result;
use tensor::parallel::{Kernel, parts_of, vectorised_kernel};
use tensor::quantized_block::{BitRange, BlockPart, Element, Factor, Number, PartEncoding, Role};
use tensor::thresholds::PART;

/// A block type.
#[derive(Debug)]
pub struct BlockType {
    pub blocks: Blocks,
    /// Its number in files.
    pub code: u32,
    /// The layout of a block, for a type that can be dequantized.
    meaning: Option<BlockLayout>,
}

/// The layout of a block.
#[derive(Debug)]
struct BlockLayout {
    /// Returns one element of a block.
    one: fn(&[u8], usize) -> Element,
    /// The parts of a block, in byte order.
    parts: &'static [BlockPart],
}

impl BlockType {
    /// Dequantizes whole blocks, on all cores if there are many. Dequantizing in pieces yields the same result.
    ///
    /// # Errors
    /// Fails with NotImplementedError for a type of which only the size is known, and with KeyboardInterrupt.
    pub(crate) fn dequantize(&self, bytes: &[u8], out: &mut [f32]) -> Result<()> {
        let Blocks { count, nbytes, .. } = self.blocks;
        let all = self.blocks.dequantizer()?;
        let size = (PART / size_of::<f32>() / count).max(1) * count;
        let work = out.len();
        parts_of(out, size, work, &|start, part| {
            let (first, blocks) = (start / count, part.len() / count);
            all(bytes.get(first * nbytes..(first + blocks) * nbytes).unwrap_or_default(), part);
            Ok(())
        })
    }

    /// Returns the parts of a block, in byte order.
    pub fn parts(&self) -> &'static [BlockPart] {
        self.meaning.as_ref().map_or(&[], |meaning| meaning.parts)
    }

    /// Returns one element of a block.
    pub fn element(&self, block: &[u8], index: usize) -> Option<Element> {
        self.meaning.as_ref().map(|meaning| (meaning.one)(block, index))
    }

    /// Returns whether the type can be dequantized.
    #[cfg(test)]
    pub fn is_known(&self) -> bool {
        self.meaning.is_some()
    }
}

/// Describes a type that can be dequantized.
pub(super) const fn row(
    name: &'static str,
    code: u32,
    count: usize,
    nbytes: usize,
    all: DequantizeFn,
    one: fn(&[u8], usize) -> Element,
    parts: &'static [BlockPart],
) -> BlockType {
    let blocks = Blocks { name, count, nbytes, take_apart: Some(all) };
    BlockType { blocks, code, meaning: Some(BlockLayout { one, parts }) }
}

/// Describes a type of which only the size is known.
pub(super) const fn sized(name: &'static str, code: u32, count: usize, nbytes: usize) -> BlockType {
    BlockType { blocks: Blocks { name, count, nbytes, take_apart: None }, code, meaning: None }
}

pub(super) const fn part(
    name: &'static str,
    nbytes: usize,
    role: Role,
    holds: PartEncoding,
    about: &'static str,
) -> BlockPart {
    BlockPart { name, nbytes, role, holds, about }
}

pub(super) const D: BlockPart = part("d", 2, Role::Scale, PartEncoding::Float16, "the scale, a float16");

/// Dequantizes blocks of `N` bytes to `E` elements each.
struct DequantizeLoop<'a, const N: usize, const E: usize, F> {
    blocks: &'a [[u8; N]],
    out: &'a mut [[f32; E]],
    one: F,
}

impl<const N: usize, const E: usize, F: Fn(&[u8; N], &mut [f32; E])> Kernel for DequantizeLoop<'_, N, E, F> {
    type Output = ();

    #[inline(always)]
    fn run(self, _fuses: bool) {
        for (block, out) in self.blocks.iter().zip(self.out) {
            (self.one)(block, out);
        }
    }
}

/// Dequantizes blocks one by one with `one`.
pub(super) fn each<const N: usize, const E: usize>(
    blocks: &[u8],
    out: &mut [f32],
    one: impl Fn(&[u8; N], &mut [f32; E]),
) {
    vectorised_kernel(DequantizeLoop { blocks: blocks.as_chunks().0, out: out.as_chunks_mut().0, one });
}

/// Reads the float16 at a byte.
#[inline(always)]
pub(super) fn half_at(block: &[u8], at: usize) -> f32 {
    block.get(at..).and_then(|rest| rest.first_chunk()).map_or(0.0, |bytes| f16::from_le_bytes(*bytes).to_f32())
}

#[inline(always)]
pub(super) fn byte(block: &[u8], at: usize) -> u8 {
    block.get(at).copied().unwrap_or_default()
}

/// Reads the bits at a place of a block.
pub(super) fn bits(block: &[u8], place: BitRange) -> i32 {
    i32::from(byte(block, place.byte)) >> place.shift & ((1 << place.width) - 1)
}

pub(super) const fn place(byte: usize, shift: usize, width: u32) -> BitRange {
    BitRange { byte, shift: shift as u32, width }
}

/// Builds an element that is an integer less an offset, from the bits of the integer.
pub(super) fn element(block: &[u8], low: BitRange, high: Option<BitRange>, offset: i32, scale: Factor) -> Element {
    let above = high.map_or(0, |high| bits(block, high) << low.width);
    let number = Number::Integer { stored: bits(block, low) | above, offset };
    Element { places: [Some(low), high, None, None], number, scale, minimum: None }
}

pub(super) fn plain_factor(whole: f32) -> Factor {
    Factor { whole, times: None }
}

pub(super) fn times(whole: f32, times: i32) -> Factor {
    Factor { whole, times: Some(times as f32) }
}

/// Returns the place of an element's four low bits in a block of 32, in an array that starts at byte `from`. The low
/// halves of 16 bytes are elements 0 to 15, the high halves 16 to 31.
pub(super) fn nibble(from: usize, index: usize) -> BitRange {
    place(from + index % 16, index / 16 * 4, 4)
}
