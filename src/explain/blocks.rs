//! One block of a quantized format: its bytes by part, and how the bits give the first elements. Knows no block
//! formats; the caller describes the bytes.

use super::bytes::{Reading, decode_bytes};
use super::element::exact;
use super::scene::{Block as Piece, Ink, Lane, Scene, Span, Strip, Table, counted, span};
use tensor::quantized_block::{
    BitRange, BlockPart, Change, Element, Factor, Minimum, Number, PartEncoding, Role, digit, half_float8, half_power,
};
use tensor::{DType, Scalar};

/// A decoded block.
pub struct Block {
    /// The tensor and type of the block.
    pub title: String,
    pub bytes: Vec<u8>,
    /// The number of its elements.
    pub count: usize,
    pub parts: &'static [BlockPart],
    /// The first elements, which share a scale and a minimum.
    pub elements: Vec<Element>,
}

fn ink_of(role: Role) -> Ink {
    match role {
        Role::Scale | Role::Factors => Ink::Exponent,
        Role::Minimum => Ink::Sign,
        Role::Numbers => Ink::Mantissa,
    }
}

impl Block {
    /// Draws the bytes of the block by part. A long part is cut to the first `cells`.
    pub fn bytes(&self, cells: usize) -> Scene {
        let mut scene = Scene::new(format!("{}: byte by byte", self.title));
        let bits = (8 * self.bytes.len()) as f64 / self.count.max(1) as f64;
        let (elements, bytes) = (counted(self.count as u64, "element"), counted(self.bytes.len() as u64, "byte"));
        scene.facts(vec![("holds".to_owned(), span(Ink::Plain, format!("{elements} in {bytes}, {bits} bits each")))]);
        let (mut start, mut is_cut) = (0, false);
        for part in self.parts {
            let end = start + part.nbytes;
            let range =
                if part.nbytes == 1 { format!("byte {start}") } else { format!("bytes {start} to {}", end - 1) };
            scene.heading(format!("{}, {range}: {}", part.name, part.about));
            let shown = part.nbytes.min(cells.max(2));
            let strip = strip_of(part, start, self.bytes.get(start..start + shown).unwrap_or_default());
            scene.blocks.push(Piece::Strip(strip));
            is_cut |= shown < part.nbytes;
            start = end;
        }
        if self.parts.iter().any(|part| matches!(part.holds, PartEncoding::Bits(2..8))) {
            scene.note(Ink::Label, "The lowest bits of a byte hold the first of its numbers.");
        }
        if is_cut {
            scene.note(Ink::Unused, "… marks bytes that are not drawn; cells= draws more");
        }
        scene
    }

    /// Draws how the bits give the first elements.
    pub fn bits(&self) -> Scene {
        let count = |number: usize| counted(number as u64, "element");
        let mut scene = Scene::new(format!("{}: {}", self.title, count(self.count)));
        let (mut facts, mut start) = (Vec::new(), 0);
        for part in self.parts {
            if let PartEncoding::Float16 = part.holds {
                let value = float16(self.bytes.get(start..start + part.nbytes).unwrap_or_default());
                facts.push((part.name.to_owned(), span(ink_of(part.role), format!("{value}, {}", part.about))));
            }
            start += part.nbytes;
        }
        // The scale is not in a part of its own, or not a float16.
        if let Some(first) = self.elements.first().filter(|_| !facts.iter().any(|(name, _)| name == "d")) {
            facts.push((
                "d".to_owned(),
                span(ink_of(Role::Scale), format!("{}, the scale", float32(first.scale.whole))),
            ));
        }
        let mut product = |name: &str, ink, factor: Factor, of: &str| {
            if let Some(times) = factor.times {
                let text = format!("{of} * {times} = {}", float32(factor.value()));
                facts.push((name.to_owned(), span(ink, text)));
            }
        };
        let Some(first) = self.elements.first() else {
            scene.facts(facts);
            return scene;
        };
        product("scale", ink_of(Role::Scale), first.scale, "d");
        let rule = match first.minimum {
            None => "",
            Some(Minimum::Added(_)) => " + m",
            Some(Minimum::TakenOff(minimum)) => {
                product("minimum", ink_of(Role::Minimum), minimum, "dmin");
                " - minimum"
            }
        };
        let scale = if first.scale.times.is_some() { "scale" } else { "d" };
        facts.push(("value".to_owned(), span(Ink::Plain, format!("{scale} * number{rule}, in float32"))));
        scene.facts(facts);
        scene.heading(format!("The first {}", count(self.elements.len())));
        scene.blocks.push(Piece::Strip(self.bits_of_the_first()));
        if (0..self.bytes.len()).any(|byte| (0..8).any(|bit| self.owner(byte, bit) == Owner::Several)) {
            scene.note(Ink::Label, "* marks bits of several elements.");
        }
        let head = vec!["element", "its bits", "number", "value"];
        let rows = self.elements.iter().enumerate().map(|(at, element)| row_of(element, at)).collect();
        scene.blocks.push(Piece::Table(Table { head, rows }));
        scene
    }

    /// Draws the bytes of the first elements, with the letter of the element below each bit.
    fn bits_of_the_first(&self) -> Strip {
        let mut places: Vec<usize> = self.elements.iter().flat_map(Element::places).map(|place| place.byte).collect();
        places.sort_unstable();
        places.dedup();
        let mut lanes = [Lane::ruler("byte"), Lane::framed("hex"), Lane::framed("bits"), Lane::framed("element")];
        let mut before = None;
        for byte in places {
            if before.is_some_and(|before| before + 1 != byte) {
                lanes.iter_mut().for_each(|lane| lane.push(1, Ink::Unused, "…"));
            }
            before = Some(byte);
            let value = self.bytes.get(byte).copied().unwrap_or_default();
            let owners: Vec<Owner> = (0..8).rev().map(|bit| self.owner(byte, bit)).collect();
            let ink = |owner: Owner| if owner == Owner::None { Ink::Unused } else { Ink::Mantissa };
            // Leave a gap between the halves of a byte.
            let drawn = |text: &dyn Fn(usize, Owner) -> char| {
                let mut all: Vec<_> = owners.iter().enumerate().map(|(at, o)| (text(at, *o), ink(*o))).collect();
                all.insert(4, (' ', Ink::Plain));
                all
            };
            let [address, hex, bits, letters] = &mut lanes;
            address.push(1, Ink::Label, format!("+{byte}"));
            hex.push(1, Ink::Shown, format!("{value:02x}"));
            bits.push_tinted(drawn(&|at, _| if value >> (7 - at) & 1 == 1 { '1' } else { '0' }));
            letters.push_tinted(drawn(&|_, owner| match owner {
                Owner::None => '·',
                Owner::One(element) => letter(element),
                Owner::Several => '*',
            }));
        }
        Strip { lanes: lanes.to_vec() }
    }

    /// Returns which of the first elements contain a bit.
    fn owner(&self, byte: usize, bit: u32) -> Owner {
        let has = |place: BitRange| place.byte == byte && (place.shift..place.shift + place.width).contains(&bit);
        let mut owners = (0..).zip(&self.elements).filter(|(_, element)| element.places().any(has));
        match (owners.next(), owners.next()) {
            (None, _) => Owner::None,
            (Some((element, _)), None) => Owner::One(element),
            _ => Owner::Several,
        }
    }
}

/// The elements that contain a bit.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    None,
    One(usize),
    Several,
}

/// Returns the letter of an element.
fn letter(element: usize) -> char {
    u8::try_from(element).ok().filter(|&at| at < 26).map_or('?', |at| char::from(b'a' + at))
}

/// Draws the first bytes of a part, and their values.
fn strip_of(part: &BlockPart, start: usize, bytes: &[u8]) -> Strip {
    let ink = ink_of(part.role);
    let name = match part.holds {
        PartEncoding::Float16 => "float16".to_owned(),
        PartEncoding::Bits(width @ 2..) => format!("{width} bits"),
        PartEncoding::Int8 => "int8".to_owned(),
        PartEncoding::Ternary(_) => "digits".to_owned(),
        PartEncoding::HalfPower | PartEncoding::HalfFloat8 => "scale".to_owned(),
        PartEncoding::Bits(_) | PartEncoding::Packed => "bits".to_owned(),
    };
    let (mut address, mut hex, mut held) = (Lane::ruler("byte"), Lane::framed("hex"), Lane::framed(name));
    for (at, byte) in bytes.iter().enumerate() {
        address.push(1, Ink::Label, (start + at).to_string());
        hex.push(1, ink, format!("{byte:02x}"));
        match part.holds {
            PartEncoding::Float16 if at == 0 => held.push(bytes.len(), ink, float16(bytes)),
            PartEncoding::Float16 => {}
            PartEncoding::Bits(1) | PartEncoding::Packed => {
                held.push(1, ink, format!("{:04b} {:04b}", byte >> 4, byte & 15))
            }
            PartEncoding::Bits(width) => {
                let byte = u32::from(*byte);
                let numbers = (0..8 / width).map(|nth| (byte >> (nth * width) & ((1 << width) - 1)).to_string());
                held.push(1, ink, numbers.collect::<Vec<_>>().join(" "));
            }
            PartEncoding::Int8 => held.push(1, ink, byte.cast_signed().to_string()),
            PartEncoding::Ternary(count) => {
                let digits = (0..count).map(|nth| (digit(*byte, 3u8.wrapping_pow(nth)) + 1).to_string());
                held.push(1, ink, digits.collect::<Vec<_>>().join(" "));
            }
            PartEncoding::HalfPower => held.push(1, ink, float32(half_power(*byte))),
            PartEncoding::HalfFloat8 => held.push(1, ink, float32(half_float8(*byte))),
        }
    }
    let mut lanes = vec![address, hex, held];
    if bytes.len() < part.nbytes {
        lanes.iter_mut().for_each(|lane| lane.push(1, Ink::Unused, "…"));
    }
    Strip { lanes }
}

fn row_of(element: &Element, at: usize) -> Vec<Span> {
    let place = |place: BitRange| {
        let bits = match (place.shift, place.width) {
            (0, 8) => String::new(),
            (bit, 1) => format!(" bit {bit}"),
            (first, width) => format!(" bits {first}-{}", first + width - 1),
        };
        format!("+{}{bits}", place.byte)
    };
    let places = element.places().map(place).collect::<Vec<_>>().join(", ");
    vec![
        span(Ink::Label, format!("{} {at}", letter(at))),
        span(Ink::Plain, places),
        span(ink_of(Role::Numbers), formula(element.number)),
        span(Ink::Plain, float32(element.value())),
    ]
}

/// Writes how the stored bits give a number.
fn formula(number: Number) -> String {
    let value = number.value();
    match number {
        Number::Integer { stored, offset: 0 } => stored.to_string(),
        Number::Integer { stored, offset } => format!("{stored} - {offset} = {value}"),
        Number::Digit { byte, power: 1 } => format!("{byte} * 3 // 256 - 1 = {value}"),
        Number::Digit { byte, power } => format!("{byte} * {power} % 256 * 3 // 256 - 1 = {value}"),
        Number::Entry { table, index, column, change, .. } => {
            let column = column.map_or(String::new(), |column| format!("[{column}]"));
            let entry = format!("{table}[{index}]{column}");
            match change {
                Change::None => format!("{entry} = {value}"),
                Change::Negated => format!("-{entry} = {value}"),
                Change::Shifted(by) if by < 0.0 => format!("{entry} - {} = {value}", -by),
                Change::Shifted(by) => format!("{entry} + {by} = {value}"),
            }
        }
    }
}

fn float32(value: f32) -> String {
    exact(Scalar::Float(f64::from(value)), DType::Float)
}

fn float16(bytes: &[u8]) -> String {
    decode_bytes(bytes, Reading::native(DType::Half)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::terminal::{draw, plain};
    use super::*;

    /// Returns a block of four 4-bit numbers.
    fn block() -> Block {
        const fn part(name: &'static str, role: Role, holds: PartEncoding) -> BlockPart {
            BlockPart { name, nbytes: 2, role, holds, about: "what it is" }
        }
        const PARTS: &[BlockPart] =
            &[part("d", Role::Scale, PartEncoding::Float16), part("qs", Role::Numbers, PartEncoding::Bits(4))];
        let element = |byte, shift, stored| Element {
            places: [Some(BitRange { byte, shift, width: 4 }), None, None, None],
            number: Number::Integer { stored, offset: 8 },
            scale: Factor { whole: 0.5, times: None },
            minimum: None,
        };
        Block {
            title: "T of 'w'".to_owned(),
            bytes: vec![0x00, 0x38, 0x9b, 0x37],
            count: 4,
            parts: PARTS,
            elements: vec![element(2, 0, 11), element(3, 0, 7)],
        }
    }

    #[test]
    fn parts_are_named_and_read() {
        let drawn = plain(&draw(&block().bytes(32), 80));
        for wanted in
            ["4 elements in 4 bytes, 8 bits each", "d, bytes 0 to 1: what it is", "│   0.5   │", "│ 11 9 │ 7 3  │"]
        {
            assert!(drawn.contains(wanted), "{wanted}\n{drawn}");
        }
        assert!(!drawn.contains('…'), "{drawn}");
    }

    #[test]
    fn elements_are_made_of_their_bits() {
        let drawn = plain(&draw(&block().bits(), 80));
        for wanted in ["│ 1001 1011 │ 0011 0111 │", "│ ···· aaaa │ ···· bbbb │", "11 - 8 = 3", "b 1", "-0.5"]
        {
            assert!(drawn.contains(wanted), "{wanted}\n{drawn}");
        }
    }

    /// Elements of a codebook share the bits of an index; each has a sign.
    #[test]
    fn shared_bits_and_tables_are_drawn() {
        let place = |byte, shift, width| Some(BitRange { byte, shift, width });
        let entry =
            |column, change| Number::Entry { table: "grid", index: 155, column: Some(column), entry: 43, change };
        let element = |at, change| Element {
            places: [place(2, 0, 8), place(3, at, 1), None, None],
            number: entry(at as usize, change),
            ..block().elements[0]
        };
        let changes = [Change::None, Change::Negated, Change::Shifted(0.125), Change::Shifted(-0.125)];
        let elements = (0..).zip(changes).map(|(at, change)| element(at, change)).collect();
        let drawn = plain(&draw(&Block { elements, ..block() }.bits(), 80));
        for wanted in [
            "│ **** **** │ ···· dcba │",
            "* marks bits of several elements.",
            "grid[155][0] = 43 ",
            "-grid[155][1] = -43 ",
            "grid[155][2] + 0.125 = 43.125",
            "grid[155][3] - 0.125 = 42.875",
        ] {
            assert!(drawn.contains(wanted), "{wanted}\n{drawn}");
        }
        let digit = |power| formula(Number::Digit { byte: 100, power });
        assert_eq!(digit(1), "100 * 3 // 256 - 1 = 0");
        assert_eq!(digit(3), "100 * 3 % 256 * 3 // 256 - 1 = -1");
    }

    /// A scale that is not a float16 is taken from the elements.
    #[test]
    fn every_scale_is_named() {
        const fn part(name: &'static str, holds: PartEncoding) -> BlockPart {
            BlockPart { name, nbytes: 1, role: Role::Numbers, holds, about: "what it is" }
        }
        const PARTS: &[BlockPart] = &[
            part("e", PartEncoding::HalfPower),
            part("s", PartEncoding::HalfFloat8),
            part("digits", PartEncoding::Ternary(5)),
            part("indices", PartEncoding::Bits(8)),
        ];
        let block = Block { parts: PARTS, bytes: vec![127, 0x38, 255, 200], ..block() };
        let drawn = plain(&draw(&block.bytes(32), 80));
        for wanted in ["│ 0.5 │", "│ 2 2 2 2 2 │", "│ 200 │"] {
            assert!(drawn.contains(wanted), "{wanted}\n{drawn}");
        }
        let drawn = plain(&draw(&block.bits(), 80));
        assert!(drawn.contains("d      0.5, the scale\n"), "{drawn}");
    }
}
