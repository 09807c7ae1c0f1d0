//! The quantized types of GGUF: small numbers in blocks with a scale each, one row per type. [`codebooks`] has those whose
//! numbers are looked up.
//!
//! Follows <https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-common.h>. The arithmetic is in the order
//! of `gguf.quants`, for bitwise equal results. Knows neither files nor tensors.

use super::block_type::{
    BlockType, D, byte, each, element, half_at, nibble, part, place, plain_factor, row, sized, times,
};
use super::codebooks;
use tensor::quantized_block::{BitRange, BlockPart, Element, Minimum, Number, PartEncoding, Role, digit, sum};

impl BlockType {
    /// Returns the type of a code.
    pub fn of(code: u32) -> Option<&'static BlockType> {
        types().find(|row| row.code == code)
    }
}

/// Returns all types.
fn types() -> impl Iterator<Item = &'static BlockType> {
    TYPES.iter().chain(codebooks::TYPES)
}

/// The types whose numbers are stored in full. For those without a layout, the sizes are known, so that files containing
/// them can be checked.
static TYPES: &[BlockType] = &[
    row("Q4_0", 2, 32, 18, |b, out| each(b, out, q4_0), q4_0_element, &[D, QS16]),
    row("Q4_1", 3, 32, 20, |b, out| each(b, out, q4_1), q4_1_element, &[D, M, QS16]),
    row("Q5_0", 6, 32, 22, |b, out| each(b, out, q5_0), q5_0_element, &[D, QH4, QS16]),
    row("Q5_1", 7, 32, 24, |b, out| each(b, out, q5_1), q5_1_element, &[D, M, QH4, QS16]),
    row("Q8_0", 8, 32, 34, |b, out| each(b, out, q8_0), q8_0_element, &[D, BYTES]),
    row("Q2_K", 10, 256, 84, |b, out| each(b, out, q2_k), q2_k_element, Q2_K),
    row("Q3_K", 11, 256, 110, |b, out| each(b, out, q3_k), q3_k_element, Q3_K),
    row("Q4_K", 12, 256, 144, |b, out| each(b, out, q4_k), q4_k_element, Q4_K),
    row("Q5_K", 13, 256, 176, |b, out| each(b, out, q5_k), q5_k_element, Q5_K),
    row("Q6_K", 14, 256, 210, |b, out| each(b, out, q6_k), q6_k_element, Q6_K),
    row("TQ1_0", 34, 256, 54, |b, out| each(b, out, tq1_0), tq1_0_element, TQ1_0),
    row("TQ2_0", 35, 256, 66, |b, out| each(b, out, tq2_0), tq2_0_element, TQ2_0),
    sized("Q8_1", 9, 32, 40),
    sized("Q8_K", 15, 256, 292),
    sized("Q1_0", 41, 128, 18),
];

const Q2_K: &[BlockPart] = &[
    part("scales", 16, Role::Factors, PartEncoding::Bits(4), "for 16 elements each, a factor of d and one of dmin"),
    part("qs", 64, Role::Numbers, PartEncoding::Bits(2), "the elements, of 2 bits"),
    D,
    DMIN,
];

const Q3_K: &[BlockPart] = &[
    part("hmask", 32, Role::Numbers, PartEncoding::Bits(1), "the highest bit of every element"),
    part("qs", 64, Role::Numbers, PartEncoding::Bits(2), "the lower 2 bits of every element"),
    part("scales", 12, Role::Factors, PartEncoding::Packed, "for 16 elements each, a factor of d, of 6 bits, less 32"),
    D,
];

const Q4_K: &[BlockPart] =
    &[D, DMIN, FACTORS, part("qs", 128, Role::Numbers, PartEncoding::Bits(4), "the elements, of 4 bits")];

const Q5_K: &[BlockPart] = &[
    D,
    DMIN,
    FACTORS,
    part("qh", 32, Role::Numbers, PartEncoding::Bits(1), "the highest bit of every element"),
    part("qs", 128, Role::Numbers, PartEncoding::Bits(4), "the lower 4 bits of every element"),
];

const Q6_K: &[BlockPart] = &[
    part("ql", 128, Role::Numbers, PartEncoding::Bits(4), "the lower 4 bits of every element"),
    part("qh", 64, Role::Numbers, PartEncoding::Bits(2), "the higher 2 bits of every element"),
    part("scales", 16, Role::Factors, PartEncoding::Int8, "for 16 elements each, a factor of d"),
    D,
];

const M: BlockPart = part("m", 2, Role::Minimum, PartEncoding::Float16, "the minimum, a float16, which is added");
const TQ1_0: &[BlockPart] = &[
    part(
        "qs",
        48,
        Role::Numbers,
        PartEncoding::Ternary(5),
        "five elements in each byte, as digits of 0, 1 and 2, less 1",
    ),
    part("qh", 4, Role::Numbers, PartEncoding::Ternary(4), "four elements in each byte"),
    D,
];

const TQ2_0: &[BlockPart] =
    &[part("qs", 64, Role::Numbers, PartEncoding::Bits(2), "the elements, of 2 bits, less 1"), D];

const DMIN: BlockPart = part("dmin", 2, Role::Minimum, PartEncoding::Float16, "the scale of the minimums, a float16");
const FACTORS: BlockPart = part(
    "scales",
    12,
    Role::Factors,
    PartEncoding::Packed,
    "for 32 elements each, a factor of d and one of dmin, of 6 bits",
);
const QH4: BlockPart = part("qh", 4, Role::Numbers, PartEncoding::Bits(1), "the highest bit of every element");
const QS16: BlockPart = part(
    "qs",
    16,
    Role::Numbers,
    PartEncoding::Bits(4),
    "4 bits of every element: of the first 16 the low ones of each byte",
);
const BYTES: BlockPart = part("qs", 32, Role::Numbers, PartEncoding::Int8, "the elements");

// Blocks of 32: the low halves of 16 bytes are elements 0 to 15, the high halves 16 to 31.

#[inline(always)]
fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (j, q) in block[2..].iter().enumerate() {
        out[j] = d * (i32::from(q & 15) - 8) as f32;
        out[j + 16] = d * (i32::from(q >> 4) - 8) as f32;
    }
}

fn q4_0_element(block: &[u8], i: usize) -> Element {
    element(block, nibble(2, i), None, 8, plain_factor(half_at(block, 0)))
}

#[inline(always)]
fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    for (j, q) in block[4..].iter().enumerate() {
        out[j] = sum(d * f32::from(q & 15), m);
        out[j + 16] = sum(d * f32::from(q >> 4), m);
    }
}

fn q4_1_element(block: &[u8], i: usize) -> Element {
    let minimum = Some(Minimum::Added(plain_factor(half_at(block, 2))));
    Element { minimum, ..element(block, nibble(4, i), None, 0, plain_factor(half_at(block, 0))) }
}

/// Returns the fifth bit of an element, shifted into position.
#[inline(always)]
fn fifth(block: &[u8], from: usize, index: usize) -> u8 {
    byte(block, from + index / 8) >> (index % 8) << 4 & 16
}

#[inline(always)]
fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (j, q) in block[6..].iter().enumerate() {
        out[j] = d * (i32::from(q & 15 | fifth(block, 2, j)) - 16) as f32;
        out[j + 16] = d * (i32::from(q >> 4 | fifth(block, 2, j + 16)) - 16) as f32;
    }
}

fn q5_0_element(block: &[u8], i: usize) -> Element {
    element(block, nibble(6, i), Some(place(2 + i / 8, i % 8, 1)), 16, plain_factor(half_at(block, 0)))
}

#[inline(always)]
fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    for (j, q) in block[8..].iter().enumerate() {
        out[j] = sum(d * f32::from(q & 15 | fifth(block, 4, j)), m);
        out[j + 16] = sum(d * f32::from(q >> 4 | fifth(block, 4, j + 16)), m);
    }
}

fn q5_1_element(block: &[u8], i: usize) -> Element {
    let minimum = Some(Minimum::Added(plain_factor(half_at(block, 2))));
    let high = Some(place(4 + i / 8, i % 8, 1));
    Element { minimum, ..element(block, nibble(8, i), high, 0, plain_factor(half_at(block, 0))) }
}

#[inline(always)]
fn q8_0(block: &[u8; 34], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (q, out) in block[2..].iter().zip(out) {
        *out = f32::from(q.cast_signed()) * d;
    }
}

fn q8_0_element(block: &[u8], i: usize) -> Element {
    let number = Number::Integer { stored: i32::from(byte(block, 2 + i).cast_signed()), offset: 0 };
    Element { number, ..element(block, place(2 + i, 0, 8), None, 0, plain_factor(half_at(block, 0))) }
}

// Blocks of 256, with separate factors for every 16 or 32 elements. A byte contains elements that are 32 apart.

/// Returns the place of an element's two bits, in an array that starts at byte `from`.
fn pair(from: usize, index: usize) -> BitRange {
    place(from + index / 128 * 32 + index % 32, index % 128 / 32 * 2, 2)
}

#[inline(always)]
fn q2_k(block: &[u8; 84], out: &mut [f32; 256]) {
    let (d, dmin) = (half_at(block, 80), half_at(block, 82));
    for (group, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let factors = block[group];
        let (scale, minimum) = (d * f32::from(factors & 15), dmin * f32::from(factors >> 4));
        let (from, shift) = (16 + group / 8 * 32 + group % 2 * 16, group % 8 / 2 * 2);
        for (q, out) in block[from..from + 16].iter().zip(out) {
            *out = scale * f32::from(q >> shift & 3) - minimum;
        }
    }
}

fn q2_k_element(block: &[u8], i: usize) -> Element {
    let factors = i32::from(byte(block, i / 16));
    let minimum = Some(Minimum::TakenOff(times(half_at(block, 82), factors >> 4)));
    Element { minimum, ..element(block, pair(16, i), None, 0, times(half_at(block, 80), factors & 15)) }
}

/// Returns the factor of a group of 16 elements.
#[inline(always)]
fn q3_k_factor(block: &[u8], group: usize) -> i32 {
    let (low, high) = (byte(block, 96 + group % 8), byte(block, 104 + group % 4));
    i32::from(low >> (group / 8 * 4) & 15 | (high >> (group / 4 * 2) & 3) << 4) - 32
}

#[inline(always)]
fn q3_k(block: &[u8; 110], out: &mut [f32; 256]) {
    let d = half_at(block, 108);
    for (group, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = d * q3_k_factor(block, group) as f32;
        let (mask, from) = (group % 2 * 16, 32 + group / 8 * 32 + group % 2 * 16);
        let (shift, bit) = (group % 8 / 2 * 2, group / 2);
        let bytes = block[from..from + 16].iter().zip(&block[mask..mask + 16]);
        for ((q, high), out) in bytes.zip(out) {
            *out = scale * (i32::from(q >> shift & 3 | (high >> bit & 1) << 2) - 4) as f32;
        }
    }
}

fn q3_k_element(block: &[u8], i: usize) -> Element {
    let high = Some(place(i % 32, i / 32, 1));
    element(block, pair(32, i), high, 4, times(half_at(block, 108), q3_k_factor(block, i / 16)))
}

/// Returns the scale factor and the minimum factor of a group of 32 elements. For the first four groups, each is the
/// lower 6 bits of a byte; for the others, 4 bits of one byte and the highest 2 of another.
#[inline(always)]
fn k_factors(block: &[u8], group: usize) -> (u8, u8) {
    let at = |at: usize| byte(block, 4 + at);
    if group < 4 {
        (at(group) & 63, at(group + 4) & 63)
    } else {
        (at(group + 4) & 15 | at(group - 4) >> 2 & 48, at(group + 4) >> 4 | at(group) >> 2 & 48)
    }
}

/// Returns the place of an element's four low bits, in an array that starts at byte `from`.
fn k_nibble(from: usize, index: usize) -> BitRange {
    place(from + index / 64 * 32 + index % 32, index % 64 / 32 * 4, 4)
}

fn k_element(block: &[u8], low: BitRange, high: Option<BitRange>, group: usize) -> Element {
    let (scale, minimum) = k_factors(block, group);
    let minimum = Some(Minimum::TakenOff(times(half_at(block, 2), i32::from(minimum))));
    Element { minimum, ..element(block, low, high, 0, times(half_at(block, 0), i32::from(scale))) }
}

#[inline(always)]
fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    let (d, dmin) = (half_at(block, 0), half_at(block, 2));
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale, minimum) = k_factors(block, group);
        let (scale, minimum) = (d * f32::from(scale), dmin * f32::from(minimum));
        let (from, shift) = (16 + group / 2 * 32, group % 2 * 4);
        for (q, out) in block[from..from + 32].iter().zip(out) {
            *out = scale * f32::from(q >> shift & 15) - minimum;
        }
    }
}

fn q4_k_element(block: &[u8], i: usize) -> Element {
    k_element(block, k_nibble(16, i), None, i / 32)
}

#[inline(always)]
fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let (d, dmin) = (half_at(block, 0), half_at(block, 2));
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale, minimum) = k_factors(block, group);
        let (scale, minimum) = (d * f32::from(scale), dmin * f32::from(minimum));
        let (from, shift) = (48 + group / 2 * 32, group % 2 * 4);
        for ((q, high), out) in block[from..from + 32].iter().zip(&block[16..48]).zip(out) {
            *out = scale * f32::from(q >> shift & 15 | (high >> group & 1) << 4) - minimum;
        }
    }
}

fn q5_k_element(block: &[u8], i: usize) -> Element {
    k_element(block, k_nibble(48, i), Some(place(16 + i % 32, i / 32, 1)), i / 32)
}

#[inline(always)]
fn q6_k(block: &[u8; 210], out: &mut [f32; 256]) {
    let d = half_at(block, 208);
    for (group, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = d * f32::from(block[192 + group].cast_signed());
        let (half, within) = (group / 8, group % 8);
        let low = half * 64 + within % 4 * 16;
        let high = 128 + half * 32 + within % 2 * 16;
        let (low_shift, high_shift) = (within / 4 * 4, within / 2 * 2);
        let bytes = block[low..low + 16].iter().zip(&block[high..high + 16]);
        for ((q, high), out) in bytes.zip(out) {
            *out = scale * (i32::from(q >> low_shift & 15 | (high >> high_shift & 3) << 4) - 32) as f32;
        }
    }
}

fn q6_k_element(block: &[u8], i: usize) -> Element {
    let low = place(i / 128 * 64 + i % 64, i % 128 / 64 * 4, 4);
    let scale = times(half_at(block, 208), i32::from(byte(block, 192 + i / 16).cast_signed()));
    element(block, low, Some(pair(128, i)), 32, scale)
}

// Ternary numbers.

#[inline(always)]
fn tq1_0(block: &[u8; 54], out: &mut [f32; 256]) {
    let d = half_at(block, 52);
    let (mut from, mut start) = (0, 0);
    for (nbytes, powers) in [(32, &TERNARY[..]), (16, &TERNARY[..]), (4, &TERNARY[..4])] {
        for power in powers {
            for (q, out) in block[from..from + nbytes].iter().zip(&mut out[start..start + nbytes]) {
                *out = d * digit(*q, *power) as f32;
            }
            start += nbytes;
        }
        from += nbytes;
    }
}

/// The powers of three that select a digit of a byte.
const TERNARY: [u8; 5] = [1, 3, 9, 27, 81];

fn tq1_0_element(block: &[u8], i: usize) -> Element {
    let (at, nth) = match i {
        0..160 => (i % 32, i / 32),
        160..240 => (32 + i % 16, (i - 160) / 16),
        _ => (48 + i % 4, i.wrapping_sub(240) / 4),
    };
    let number = Number::Digit { byte: byte(block, at), power: TERNARY[nth % 5] };
    Element { number, ..element(block, place(at, 0, 8), None, 0, plain_factor(half_at(block, 52))) }
}

#[inline(always)]
fn tq2_0(block: &[u8; 66], out: &mut [f32; 256]) {
    let d = half_at(block, 64);
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (from, shift) = (group / 4 * 32, group % 4 * 2);
        for (q, out) in block[from..from + 32].iter().zip(out) {
            *out = d * (i32::from(q >> shift & 3) - 1) as f32;
        }
    }
}

fn tq2_0_element(block: &[u8], i: usize) -> Element {
    element(block, pair(0, i), None, 1, plain_factor(half_at(block, 64)))
}

#[cfg(test)]
mod tests {
    use super::super::super::contents::Blocks;
    use super::*;
    use std::collections::HashSet;
    use tensor::thresholds::PART;

    fn known() -> impl Iterator<Item = &'static BlockType> {
        types().filter(|kind| kind.is_known())
    }

    fn random() -> impl FnMut() -> u8 {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 56) as u8
        }
    }

    #[test]
    fn the_parts_are_the_block() {
        for kind in known() {
            assert_eq!(
                kind.parts().iter().map(|part| part.nbytes).sum::<usize>(),
                kind.blocks.nbytes,
                "{}",
                kind.blocks.name
            );
        }
        let codes: HashSet<u32> = types().map(|kind| kind.code).collect();
        assert_eq!((codes.len(), known().count()), (types().count(), 23));
    }

    /// For any bytes, dequantizing all blocks at once, on one core or several, equals dequantizing element by element.
    #[test]
    fn blocks_are_their_elements() {
        let mut random = random();
        for kind in known() {
            for count in [1, 2, 3, 8 * PART / kind.blocks.count] {
                let mut blocks: Vec<u8> = (0..count * kind.blocks.nbytes).map(|_| random()).collect();
                // Put NaN and infinite scales at both ends of a block or before the last float16.
                for (n, block) in blocks.chunks_exact_mut(kind.blocks.nbytes).enumerate() {
                    let special = [0x7c00u16, 0xfc00, 0x7e12, 0xfc01, 0x0001, 0x8000][n / 4 % 6].to_le_bytes();
                    let at = [0, 2, kind.blocks.nbytes - 2, kind.blocks.nbytes - 4][n % 4];
                    block[at..at + 2].copy_from_slice(&special);
                }
                let mut out = vec![0.0; count * kind.blocks.count];
                kind.dequantize(&blocks, &mut out).unwrap();
                for (n, value) in out.iter().enumerate() {
                    let block = &blocks[n / kind.blocks.count * kind.blocks.nbytes..][..kind.blocks.nbytes];
                    let slow = kind.element(block, n % kind.blocks.count).unwrap();
                    assert_eq!(
                        value.to_bits(),
                        slow.value().to_bits(),
                        "{} {n} of {count}: {slow:?}",
                        kind.blocks.name
                    );
                }
            }
        }
    }

    /// A bit changes the numbers of just those elements that contain it, and all number bits belong to an element.
    #[test]
    fn elements_contain_the_bits_of_their_numbers() {
        let mut random = random();
        for kind in known() {
            let Blocks { name, count, nbytes, .. } = kind.blocks;
            let number = |block: &[u8], i| kind.element(block, i).unwrap().number.value();
            let zeros = vec![0; nbytes];
            let elements: Vec<Element> = (0..count).map(|i| kind.element(&zeros, i).unwrap()).collect();
            let contains = |byte, bit, i: usize| {
                let has = |p: BitRange| p.byte == byte && (p.shift..p.shift + p.width).contains(&bit);
                elements[i].places().any(has)
            };
            let mut is_changed = |byte: usize, bit: u32, i| {
                let mut block: Vec<u8> = (0..nbytes).map(|_| random()).collect();
                let before = number(&block, i);
                block[byte] ^= 1 << bit;
                number(&block, i) != before
            };
            for (byte, bit) in (0..nbytes).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
                let (with, without): (Vec<_>, Vec<_>) = (0..count).partition(|&i| contains(byte, bit, i));
                for &i in without.iter().step_by(11) {
                    assert!(!is_changed(byte, bit, i), "{name} {i}: bit {bit} of byte {byte} is missing");
                }
                // The lowest bit of an index of IQ2_XXS does not change the last two columns, and the low bits of a ternary
                // byte seldom change its first digit.
                let is_used = with.is_empty() || (0..1000).any(|_| with.iter().any(|&i| is_changed(byte, bit, i)));
                assert!(is_used, "{name}: bit {bit} of byte {byte} is not used");
            }
            let mut owned = vec![0u8; nbytes];
            for place in elements.iter().flat_map(Element::places) {
                owned[place.byte] |= (((1u32 << place.width) - 1) << place.shift) as u8;
            }
            let mut at = 0;
            for part in kind.parts() {
                let (owned, name) = (&owned[at..at + part.nbytes], part.name);
                at += part.nbytes;
                match (part.role, part.holds) {
                    // Scales and numbers share some words.
                    (Role::Numbers, PartEncoding::Packed) => assert!(owned.iter().any(|&bits| bits != 0), "{name}"),
                    (Role::Numbers, _) => assert!(owned.iter().all(|&bits| bits == 255), "{name}"),
                    _ => assert!(owned.iter().all(|&bits| bits == 0), "{name}"),
                }
            }
        }
    }

    /// An integer has its bits to itself, and so has an entry of a table without columns.
    #[test]
    fn integers_share_no_bit() {
        for kind in known() {
            let block = vec![0; kind.blocks.nbytes];
            let mut owned = vec![0u8; kind.blocks.nbytes];
            for i in 0..kind.blocks.count {
                let element = kind.element(&block, i).unwrap();
                if matches!(element.number, Number::Digit { .. } | Number::Entry { column: Some(_), .. }) {
                    continue;
                }
                for place in element.places() {
                    let mask = (((1u32 << place.width) - 1) << place.shift) as u8;
                    assert_eq!(owned[place.byte] & mask, 0, "{} {i}", kind.blocks.name);
                    owned[place.byte] |= mask;
                }
            }
        }
    }

    /// Pictures rely on this: the first elements share a scale and a minimum.
    #[test]
    fn scales_are_shared() {
        for kind in known() {
            let block: Vec<u8> = (0..kind.blocks.nbytes).map(|at| (at * 37 % 120) as u8).collect();
            let shared = |index| kind.element(&block, index).map(|element| (element.scale, element.minimum));
            for index in 0..kind.blocks.count {
                let group = index / 16 * 16;
                assert_eq!(shared(index), shared(group), "{} {index}", kind.blocks.name);
            }
        }
    }
}
