//! The block types of GGUF whose numbers are looked up: single numbers in a table of 16 (IQ4, MXFP4, NVFP4), or rows of
//! four or eight numbers in a codebook (IQ1 to IQ3). scripts/house/gguf_grids.py writes the codebooks.
//!
//! The arithmetic is in the order of `gguf.quants`, for bitwise equal results. Any bits are an index of the table that
//! they lead to: tables are as long as the widths of their indices allow.

use super::block_type::{
    BlockType, D, bits, byte, each, element, half_at, nibble, part, place, plain_factor, row, times,
};
use half::f16;
use tensor::quantized_block::{
    BitRange, BlockPart, Change, Element, Factor, Number, PartEncoding, Role, half_float8, half_power,
};

/// The types.
pub(super) static TYPES: &[BlockType] = &[
    row("IQ2_XXS", 16, 256, 66, |b, out| each(b, out, iq2_xxs), iq2_xxs_element, IQ2_XXS_PARTS),
    row("IQ2_XS", 17, 256, 74, |b, out| each(b, out, iq2_xs), iq2_xs_element, IQ2_XS_PARTS),
    row("IQ3_XXS", 18, 256, 98, |b, out| each(b, out, iq3_xxs), iq3_xxs_element, IQ3_XXS_PARTS),
    row("IQ1_S", 19, 256, 50, |b, out| each(b, out, iq1_s), iq1_s_element, IQ1_S_PARTS),
    row("IQ4_NL", 20, 32, 18, |b, out| each(b, out, iq4_nl), iq4_nl_element, IQ4_NL_PARTS),
    row("IQ3_S", 21, 256, 110, |b, out| each(b, out, iq3_s), iq3_s_element, IQ3_S_PARTS),
    row("IQ2_S", 22, 256, 82, |b, out| each(b, out, iq2_s), iq2_s_element, IQ2_S_PARTS),
    row("IQ4_XS", 23, 256, 136, |b, out| each(b, out, iq4_xs), iq4_xs_element, IQ4_XS_PARTS),
    row("IQ1_M", 29, 256, 56, |b, out| each(b, out, iq1_m), iq1_m_element, IQ1_M_PARTS),
    row("MXFP4", 39, 32, 17, |b, out| each(b, out, mxfp4), mxfp4_element, MXFP4_PARTS),
    row("NVFP4", 40, 64, 36, |b, out| each(b, out, nvfp4), nvfp4_element, NVFP4_PARTS),
];

const IQ4_NL_PARTS: &[BlockPart] = &[
    D,
    part(
        "qs",
        16,
        Role::Numbers,
        PartEncoding::Bits(4),
        "indices of 4 bits: the low ones of each byte are the first 16",
    ),
];

const IQ4_XS_PARTS: &[BlockPart] = &[
    D,
    part("scales_h", 2, Role::Factors, PartEncoding::Bits(2), "the higher 2 bits of the factors of d"),
    part(
        "scales_l",
        4,
        Role::Factors,
        PartEncoding::Bits(4),
        "for 32 elements each, the lower 4 bits of a factor of d, less 32",
    ),
    part("qs", 128, Role::Numbers, PartEncoding::Bits(4), "indices of 4 bits"),
];

const MXFP4_PARTS: &[BlockPart] = &[
    part("e", 1, Role::Scale, PartEncoding::HalfPower, "the scale, d = 2 ** (e - 128)"),
    part(
        "qs",
        16,
        Role::Numbers,
        PartEncoding::Bits(4),
        "indices of 4 bits: the low ones of each byte are the first 16",
    ),
];

const NVFP4_PARTS: &[BlockPart] = &[
    part(
        "d",
        4,
        Role::Scale,
        PartEncoding::HalfFloat8,
        "for 16 elements each, the scale: half an unsigned float8_e4m3",
    ),
    part(
        "qs",
        32,
        Role::Numbers,
        PartEncoding::Bits(4),
        "indices of 4 bits: of 16 elements, the low ones of 8 bytes are the first 8",
    ),
];

const IQ2_XXS_PARTS: &[BlockPart] = &[
    D,
    part(
        "qs",
        64,
        Role::Numbers,
        PartEncoding::Packed,
        "for 32 elements each, four indices, four times 7 signs (an eighth makes the number of minus signs even), \
         and 4 bits of a factor of d: (scale + 0.5) / 4",
    ),
];

const IQ2_XS_PARTS: &[BlockPart] = &[
    D,
    part(
        "qs",
        64,
        Role::Numbers,
        PartEncoding::Packed,
        "for 8 elements each, an index of 9 bits, and 7 signs (an eighth makes the number of minus signs even)",
    ),
    SCALES_OF_16,
];

const IQ2_S_PARTS: &[BlockPart] = &[
    D,
    part("qs", 32, Role::Numbers, PartEncoding::Bits(8), "for 8 elements each, the lower 8 bits of an index"),
    SIGNS,
    part("qh", 8, Role::Numbers, PartEncoding::Bits(2), "the higher 2 bits of the indices"),
    SCALES_OF_16,
];

const IQ3_XXS_PARTS: &[BlockPart] = &[
    D,
    part("qs", 64, Role::Numbers, PartEncoding::Bits(8), "for 4 elements each, an index"),
    part(
        "scales_and_signs",
        32,
        Role::Numbers,
        PartEncoding::Packed,
        "for 32 elements each, four times 7 signs (an eighth makes the number of minus signs even), and 4 bits of a \
         factor of d: (scale + 0.5) / 2",
    ),
];

const IQ3_S_PARTS: &[BlockPart] = &[
    D,
    part("qs", 64, Role::Numbers, PartEncoding::Bits(8), "for 4 elements each, the lower 8 bits of an index"),
    part("qh", 8, Role::Numbers, PartEncoding::Bits(1), "the highest bit of the indices"),
    SIGNS,
    part("scales", 4, Role::Factors, PartEncoding::Bits(4), "for 32 elements each, a factor of d: 2 * scale + 1"),
];

const IQ1_S_PARTS: &[BlockPart] = &[
    D,
    part("qs", 32, Role::Numbers, PartEncoding::Bits(8), "for 8 elements each, the lower 8 bits of an index"),
    part(
        "qh",
        16,
        Role::Numbers,
        PartEncoding::Packed,
        "for 32 elements each, four times the higher 3 bits of an index, 3 bits of a factor of d (2 * scale + 1), and a \
         bit that shifts the numbers down",
    ),
];

const IQ1_M_PARTS: &[BlockPart] = &[
    part("qs", 32, Role::Numbers, PartEncoding::Bits(8), "for 8 elements each, the lower 8 bits of an index"),
    part(
        "qh",
        16,
        Role::Numbers,
        PartEncoding::Bits(4),
        "for 8 elements each, the higher 3 bits of an index, and a bit that shifts the numbers down",
    ),
    part(
        "scales",
        8,
        Role::Factors,
        PartEncoding::Packed,
        "for 16 elements each, 3 bits of a factor of d (2 * scale + 1); the highest 4 bits of four words are d, a \
         float16",
    ),
];

const SIGNS: BlockPart = part("signs", 32, Role::Numbers, PartEncoding::Bits(1), "the sign of every element");
const SCALES_OF_16: BlockPart =
    part("scales", 8, Role::Factors, PartEncoding::Bits(4), "for 16 elements each, a factor of d: (scale + 0.5) / 4");

// Tables of single numbers.

/// A table of 16 numbers.
struct Table {
    /// The name in llama.cpp.
    name: &'static str,
    numbers: [i8; 16],
}

static IQ4: Table = Table {
    name: "kvalues_iq4nl",
    numbers: [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
};

/// The numbers of `float4_e2m1fn`, doubled, with one zero.
static FLOAT4: Table =
    Table { name: "kvalues_mxfp4", numbers: [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12] };

impl Table {
    #[inline(always)]
    fn number(&self, index: u8) -> f32 {
        f32::from(self.numbers[usize::from(index & 15)])
    }

    fn element(&self, block: &[u8], place: BitRange, scale: Factor) -> Element {
        let index = bits(block, place) as usize;
        let entry = i32::from(self.numbers[index % 16]);
        let number = Number::Entry { table: self.name, index, column: None, entry, change: Change::None };
        Element { number, ..element(block, place, None, 0, scale) }
    }

    /// Dequantizes numbers whose indices are the low halves of bytes, and then those of the high halves.
    #[inline(always)]
    fn halves(&self, scale: f32, bytes: &[u8], out: &mut [f32]) {
        let (low, high) = out.split_at_mut(bytes.len());
        for ((q, low), high) in bytes.iter().zip(low).zip(high) {
            *low = scale * self.number(q & 15);
            *high = scale * self.number(q >> 4);
        }
    }
}

#[inline(always)]
fn iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) {
    IQ4.halves(half_at(block, 0), &block[2..], out);
}

fn iq4_nl_element(block: &[u8], i: usize) -> Element {
    IQ4.element(block, nibble(2, i), plain_factor(half_at(block, 0)))
}

/// Returns the factor of a group of 32 elements.
#[inline(always)]
fn iq4_xs_factor(block: &[u8], group: usize) -> i32 {
    let (low, high) = (byte(block, 4 + group / 2), byte(block, 2 + group / 4));
    i32::from(low >> (group % 2 * 4) & 15 | (high >> (group % 4 * 2) & 3) << 4) - 32
}

#[inline(always)]
fn iq4_xs(block: &[u8; 136], out: &mut [f32; 256]) {
    let d = half_at(block, 0);
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        IQ4.halves(d * iq4_xs_factor(block, group) as f32, &block[8 + 16 * group..24 + 16 * group], out);
    }
}

fn iq4_xs_element(block: &[u8], i: usize) -> Element {
    let group = i / 32;
    IQ4.element(block, nibble(8 + 16 * group, i % 32), times(half_at(block, 0), iq4_xs_factor(block, group)))
}

#[inline(always)]
fn mxfp4(block: &[u8; 17], out: &mut [f32; 32]) {
    FLOAT4.halves(half_power(block[0]), &block[1..], out);
}

fn mxfp4_element(block: &[u8], i: usize) -> Element {
    FLOAT4.element(block, nibble(1, i), plain_factor(half_power(byte(block, 0))))
}

#[inline(always)]
fn nvfp4(block: &[u8; 36], out: &mut [f32; 64]) {
    for (group, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        FLOAT4.halves(half_float8(block[group]), &block[4 + 8 * group..12 + 8 * group], out);
    }
}

fn nvfp4_element(block: &[u8], i: usize) -> Element {
    let group = i / 16;
    let place = place(4 + 8 * group + i % 8, i % 16 / 8 * 4, 4);
    FLOAT4.element(block, place, plain_factor(half_float8(byte(block, group))))
}

// Rows of a codebook.

/// All codebooks. A row takes two bytes: eight codes of 2 bits or four codes of 4 bits, the first in the lowest bits.
static GRIDS: [u8; 9216] = *include_bytes!("grids.bin");

/// A codebook.
struct Codebook {
    /// The name in llama.cpp.
    name: &'static str,
    /// The index of its first row in [`GRIDS`].
    from: usize,
    /// Number of rows, a power of two.
    count: usize,
    codes: Codes,
}

/// The meaning of codes.
#[derive(Clone, Copy)]
enum Codes {
    /// 2 bits: 8, 25 and 43.
    Two,
    /// 4 bits: multiples of 8 plus 4, up to 52, and 62.
    ThreeXxs,
    /// 4 bits: odd numbers up to 15.
    Three,
    /// 2 bits: -1, 0 and 1.
    One,
}

const IQ2_XXS: Codebook = Codebook { name: "iq2xxs_grid", from: 0, count: 256, codes: Codes::Two };
const IQ2_XS: Codebook = Codebook { name: "iq2xs_grid", from: 256, count: 512, codes: Codes::Two };
const IQ2_S: Codebook = Codebook { name: "iq2s_grid", from: 768, count: 1024, codes: Codes::Two };
const IQ3_XXS: Codebook = Codebook { name: "iq3xxs_grid", from: 1792, count: 256, codes: Codes::ThreeXxs };
const IQ3_S: Codebook = Codebook { name: "iq3s_grid", from: 2048, count: 512, codes: Codes::Three };
const IQ1_S: Codebook = Codebook { name: "iq1s_grid", from: 2560, count: 2048, codes: Codes::One };

impl Codebook {
    /// Returns the codes of a row.
    #[inline(always)]
    fn row(&self, index: usize) -> u16 {
        let at = 2 * (self.from + index % self.count);
        u16::from_le_bytes([GRIDS[at], GRIDS[at + 1]])
    }

    /// Returns a number of a row.
    #[inline(always)]
    fn number(&self, row: u16, column: usize) -> i32 {
        let code = |width: usize| i32::from(row >> (width * column)) & ((1 << width) - 1);
        // Arithmetic, because lookups are not vectorised.
        match self.codes {
            Codes::Two => 8 + 17 * code(2) + (code(2) >> 1),
            Codes::ThreeXxs => 4 + 8 * code(4) + 2 * i32::from(code(4) == 7),
            Codes::Three => 1 + 2 * code(4),
            Codes::One => code(2) - 1,
        }
    }

    /// Dequantizes a row of `N` numbers, whose signs are the lowest bits of `signs`.
    #[inline(always)]
    fn signed<const N: usize>(&self, scale: f32, index: usize, signs: u32, out: &mut [f32; N]) {
        let row = self.row(index);
        for (column, out) in out.iter_mut().enumerate() {
            let number = self.number(row, column);
            *out = scale * if signs >> column & 1 == 1 { -number } else { number } as f32;
        }
    }

    /// Dequantizes a row of eight numbers, after adding `shift` to each.
    #[inline(always)]
    fn shifted(&self, scale: f32, index: usize, shift: f32, out: &mut [f32; 8]) {
        let row = self.row(index);
        for (column, out) in out.iter_mut().enumerate() {
            *out = scale * (self.number(row, column) as f32 + shift);
        }
    }

    /// Builds an element. The first places are the index, and the last one or two the sign or the shift.
    fn element(&self, place: (usize, usize), change: Change, places: [Option<BitRange>; 4], scale: Factor) -> Element {
        let (index, column) = place;
        let entry = self.number(self.row(index), column);
        let number = Number::Entry { table: self.name, index, column: Some(column), entry, change };
        Element { places, number, scale, minimum: None }
    }
}

/// Returns the 16 bits at a byte.
#[inline(always)]
fn word(block: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([byte(block, at), byte(block, at + 1)])
}

/// Returns the 32 bits at a byte.
#[inline(always)]
fn long(block: &[u8], at: usize) -> u32 {
    u32::from(word(block, at)) | u32::from(word(block, at + 2)) << 16
}

/// Returns the places of up to 8 adjacent bits, which begin `start` bits after a byte.
fn adjacent(from: usize, start: usize, width: usize) -> [Option<BitRange>; 2] {
    let (byte, shift) = (from + start / 8, start % 8);
    let low = width.min(8 - shift);
    let high = (low < width).then(|| place(byte + 1, 0, (width - low) as u32));
    [Some(place(byte, shift, low as u32)), high]
}

/// Returns the signs of eight elements from the lowest 7 bits: the eighth makes the number of negative signs even.
#[inline(always)]
fn even(signs: u32) -> u32 {
    let signs = signs & 127;
    // The parity of each number of 4 bits is a bit of this constant.
    signs | (0x6996 >> ((signs ^ signs >> 4) & 15) & 1) << 7
}

/// Returns where the sign of an element is that [`even`] gives; for the eighth element, all seven bits.
fn even_places(from: usize, start: usize, column: usize) -> [Option<BitRange>; 2] {
    if column < 7 { adjacent(from, start + column, 1) } else { adjacent(from, start, 7) }
}

fn negated(signs: u32, column: usize) -> Change {
    if signs >> column & 1 == 1 { Change::Negated } else { Change::None }
}

/// Returns four bits of an array that starts at byte `from`.
#[inline(always)]
fn four_bits(block: &[u8], from: usize, index: usize) -> i32 {
    i32::from(byte(block, from + index / 2) >> (index % 2 * 4) & 15)
}

/// Returns the factor that a number of 4 bits is in IQ2 and IQ3_XXS: the number and a half, divided.
#[inline(always)]
fn halved(d: f32, scale: i32, part: f32) -> f32 {
    d * (0.5 + scale as f32) * part
}

fn halved_factor(d: f32, scale: i32, part: f32) -> Factor {
    // Equal to the product in the other order: no step is rounded.
    Factor { whole: d, times: Some((0.5 + scale as f32) * part) }
}

#[inline(always)]
fn iq2_xxs(block: &[u8; 66], out: &mut [f32; 256]) {
    let d = half_at(block, 0);
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let at = 2 + 8 * group;
        let signs = long(block, at + 4);
        let scale = halved(d, (signs >> 28) as i32, 0.25);
        for (nth, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            IQ2_XXS.signed(scale, block[at + nth].into(), even(signs >> (7 * nth)), out);
        }
    }
}

fn iq2_xxs_element(block: &[u8], i: usize) -> Element {
    let (at, nth, column) = (2 + i / 32 * 8, i % 32 / 8, i % 8);
    let signs = long(block, at + 4);
    let scale = halved_factor(half_at(block, 0), (signs >> 28) as i32, 0.25);
    let [low, high] = even_places(at + 4, 7 * nth, column);
    let change = negated(even(signs >> (7 * nth)), column);
    let index = byte(block, at + nth).into();
    IQ2_XXS.element((index, column), change, [Some(place(at + nth, 0, 8)), low, high, None], scale)
}

#[inline(always)]
fn iq2_xs(block: &[u8; 74], out: &mut [f32; 256]) {
    let d = half_at(block, 0);
    for (group, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = halved(d, four_bits(block, 66, group), 0.25);
        for (nth, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let word = word(block, 2 + 4 * group + 2 * nth);
            IQ2_XS.signed(scale, word.into(), even(u32::from(word >> 9)), out);
        }
    }
}

fn iq2_xs_element(block: &[u8], i: usize) -> Element {
    let (at, column) = (2 + i / 8 * 2, i % 8);
    let word = word(block, at);
    let scale = halved_factor(half_at(block, 0), four_bits(block, 66, i / 16), 0.25);
    let [sign, _] = even_places(at, 9, column);
    let change = negated(even(u32::from(word >> 9)), column);
    let places = [Some(place(at, 0, 8)), Some(place(at + 1, 0, 1)), sign, None];
    IQ2_XS.element((usize::from(word & 511), column), change, places, scale)
}

/// Returns the index of a row of IQ2_S.
#[inline(always)]
fn iq2_s_index(block: &[u8], nth: usize) -> usize {
    usize::from(byte(block, 2 + nth)) | usize::from(byte(block, 66 + nth / 4) >> (nth % 4 * 2) & 3) << 8
}

#[inline(always)]
fn iq2_s(block: &[u8; 82], out: &mut [f32; 256]) {
    let d = half_at(block, 0);
    for (nth, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let scale = halved(d, four_bits(block, 74, nth / 2), 0.25);
        IQ2_S.signed(scale, iq2_s_index(block, nth), block[34 + nth].into(), out);
    }
}

fn iq2_s_element(block: &[u8], i: usize) -> Element {
    let (nth, column) = (i / 8, i % 8);
    let scale = halved_factor(half_at(block, 0), four_bits(block, 74, nth / 2), 0.25);
    let index = [place(2 + nth, 0, 8), place(66 + nth / 4, nth % 4 * 2, 2)].map(Some);
    let places = [index[0], index[1], Some(place(34 + nth, column, 1)), None];
    let change = negated(byte(block, 34 + nth).into(), column);
    IQ2_S.element((iq2_s_index(block, nth), column), change, places, scale)
}

#[inline(always)]
fn iq3_xxs(block: &[u8; 98], out: &mut [f32; 256]) {
    let d = half_at(block, 0);
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let signs = long(block, 66 + 4 * group);
        let scale = halved(d, (signs >> 28) as i32, 0.5);
        for (nth, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let signs = even(signs >> (nth / 2 * 7)) >> (nth % 2 * 4);
            IQ3_XXS.signed(scale, block[2 + 8 * group + nth].into(), signs, out);
        }
    }
}

fn iq3_xxs_element(block: &[u8], i: usize) -> Element {
    let (at, start) = (66 + i / 32 * 4, i % 32 / 8 * 7);
    let signs = long(block, at);
    let scale = halved_factor(half_at(block, 0), (signs >> 28) as i32, 0.5);
    let [low, high] = even_places(at, start, i % 8);
    let change = negated(even(signs >> start), i % 8);
    let index = byte(block, 2 + i / 4).into();
    IQ3_XXS.element((index, i % 4), change, [Some(place(2 + i / 4, 0, 8)), low, high, None], scale)
}

/// Returns the index of a row of IQ3_S.
#[inline(always)]
fn iq3_s_index(block: &[u8], nth: usize) -> usize {
    usize::from(byte(block, 2 + nth)) | usize::from(byte(block, 66 + nth / 8) >> (nth % 8) & 1) << 8
}

#[inline(always)]
fn iq3_s(block: &[u8; 110], out: &mut [f32; 256]) {
    let d = half_at(block, 0);
    for (nth, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let scale = d * (1 + 2 * four_bits(block, 106, nth / 8)) as f32;
        let signs = u32::from(block[74 + nth / 2]) >> (nth % 2 * 4);
        IQ3_S.signed(scale, iq3_s_index(block, nth), signs, out);
    }
}

fn iq3_s_element(block: &[u8], i: usize) -> Element {
    let nth = i / 4;
    let scale = times(half_at(block, 0), 1 + 2 * four_bits(block, 106, nth / 8));
    let index = [place(2 + nth, 0, 8), place(66 + nth / 8, nth % 8, 1)].map(Some);
    let places = [index[0], index[1], Some(place(74 + i / 8, i % 8, 1)), None];
    let change = negated(byte(block, 74 + i / 8).into(), i % 8);
    IQ3_S.element((iq3_s_index(block, nth), i % 4), change, places, scale)
}

/// The number that is added to the numbers of a codebook in IQ1, or subtracted from them.
const SHIFT: f32 = 0.125;

#[inline(always)]
fn shift(is_down: bool) -> f32 {
    if is_down { -SHIFT } else { SHIFT }
}

#[inline(always)]
fn iq1_s(block: &[u8; 50], out: &mut [f32; 256]) {
    let d = half_at(block, 0);
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let high = word(block, 34 + 2 * group);
        let scale = d * (1 + 2 * i32::from(high >> 12 & 7)) as f32;
        for (nth, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let index = usize::from(block[2 + 4 * group + nth]) | usize::from(high >> (3 * nth) & 7) << 8;
            IQ1_S.shifted(scale, index, shift(high >> 15 == 1), out);
        }
    }
}

fn iq1_s_element(block: &[u8], i: usize) -> Element {
    let (at, start) = (34 + i / 32 * 2, i % 32 / 8 * 3);
    let high = word(block, at);
    let scale = times(half_at(block, 0), 1 + 2 * i32::from(high >> 12 & 7));
    let index = usize::from(byte(block, 2 + i / 8)) | usize::from(high >> start & 7) << 8;
    let [middle, highest] = adjacent(at, start, 3);
    let places = [Some(place(2 + i / 8, 0, 8)), middle, highest, Some(place(at + 1, 7, 1))];
    IQ1_S.element((index, i % 8), Change::Shifted(shift(high >> 15 == 1)), places, scale)
}

/// Returns the scale of IQ1_M, which four words share.
#[inline(always)]
fn iq1_m_scale(block: &[u8]) -> f32 {
    let highest = |nth: usize| word(block, 48 + 2 * nth) >> 12;
    f16::from_bits(highest(0) | highest(1) << 4 | highest(2) << 8 | highest(3) << 12).to_f32()
}

/// Returns the factor of a group of 16 elements.
#[inline(always)]
fn iq1_m_factor(block: &[u8], group: usize) -> i32 {
    1 + 2 * i32::from(word(block, 48 + group / 4 * 2) >> (group % 4 * 3) & 7)
}

/// Returns the index of a row of IQ1_M, and its shift.
#[inline(always)]
fn iq1_m_index(block: &[u8], nth: usize) -> (usize, f32) {
    let high = four_bits(block, 32, nth) as usize;
    (usize::from(byte(block, nth)) | (high & 7) << 8, shift(high >> 3 == 1))
}

#[inline(always)]
fn iq1_m(block: &[u8; 56], out: &mut [f32; 256]) {
    let d = iq1_m_scale(block);
    for (nth, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let scale = d * iq1_m_factor(block, nth / 2) as f32;
        let (index, shift) = iq1_m_index(block, nth);
        IQ1_S.shifted(scale, index, shift, out);
    }
}

fn iq1_m_element(block: &[u8], i: usize) -> Element {
    let nth = i / 8;
    let (index, shift) = iq1_m_index(block, nth);
    let (at, from) = (32 + nth / 2, nth % 2 * 4);
    let places = [place(nth, 0, 8), place(at, from, 3), place(at, from + 3, 1)].map(Some);
    let places = [places[0], places[1], places[2], None];
    let scale = times(iq1_m_scale(block), iq1_m_factor(block, i / 16));
    IQ1_S.element((index, i % 8), Change::Shifted(shift), places, scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Codebook; 6] = [IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, IQ1_S];

    /// The sum of the file is the one that scripts/house/gguf_grids.py prints.
    #[test]
    fn codebooks_are_whole() {
        assert_eq!(GRIDS.iter().map(|&byte| u32::from(byte)).sum::<u32>(), 632_228);
        let mut end = 0;
        for book in ALL {
            assert!(book.from == end && book.count.is_power_of_two(), "{}", book.name);
            end += book.count;
            let (columns, numbers): (usize, &[i32]) = match book.codes {
                Codes::Two => (8, &[8, 25, 43]),
                Codes::ThreeXxs => (4, &[4, 12, 20, 28, 36, 44, 52, 62]),
                Codes::Three => (4, &[1, 3, 5, 7, 9, 11, 13, 15]),
                Codes::One => (8, &[-1, 0, 1]),
            };
            let mut rows = std::collections::HashSet::new();
            for index in 0..book.count {
                let row: Vec<i32> = (0..columns).map(|column| book.number(book.row(index), column)).collect();
                assert!(row.iter().all(|number| numbers.contains(number)), "{} {index}: {row:?}", book.name);
                assert!(rows.insert(row), "{} {index} occurs twice", book.name);
            }
        }
        assert_eq!(2 * end, GRIDS.len());
    }

    #[test]
    fn the_eighth_sign_makes_their_number_even() {
        for signs in 0..1024u32 {
            let all = even(signs);
            assert!(all & 127 == signs & 127 && all < 256 && all.count_ones().is_multiple_of(2), "{signs}");
        }
    }
}
