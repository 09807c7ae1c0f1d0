//! The bits of one element: sign, exponent and mantissa of a float, and how they give its value.

use super::asked;
use super::bytes::{Reading, decode_bytes};
use super::element;
use super::scene::{Block, Ink, Lane, Scene, Span, Strip, Table, span};
use crate::format::float_repr;
use half::{bf16, f16};
use tensor::float8::{self, Layout};
use tensor::{Category, DType, Error, Memory, Result, Scalar, View};

/// The bit fields of a float.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fields {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

/// The bit patterns that are not finite numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Special {
    /// The highest exponent: infinity if the mantissa is zero, else NaN.
    HighestExponent,
    /// Only the pattern with all exponent and mantissa bits set: NaN.
    AllOnes,
    /// Only the pattern with just the sign bit set: NaN.
    SignAlone,
    /// All bits are exponent; the highest one: NaN.
    ExponentAlone,
}

impl Fields {
    fn ieee(bits: u32, mantissa: u32) -> Fields {
        let exponent = bits - 1 - mantissa;
        Fields { exponent, mantissa, bias: (1 << (exponent - 1)) - 1, special: Special::HighestExponent }
    }

    fn float8<F: Layout>() -> Fields {
        let special = match (F::FNUZ, F::INFINITE) {
            (true, _) => Special::SignAlone,
            (false, true) => Special::HighestExponent,
            (false, false) => Special::AllOnes,
        };
        Fields { exponent: F::EXPONENT_BITS, mantissa: 7 - F::EXPONENT_BITS, bias: F::BIAS, special }
    }

    /// Returns the letter and the ink for the field of a bit, counted from the sign.
    fn at(&self, bit: u32) -> (char, Ink) {
        match bit {
            _ if self.special == Special::ExponentAlone => ('e', Ink::Exponent),
            0 => ('s', Ink::Sign),
            bit if bit <= self.exponent => ('e', Ink::Exponent),
            _ => ('m', Ink::Mantissa),
        }
    }

    /// Returns the fields of a floating-point dtype. `None` for any other.
    fn of(dtype: DType) -> Option<Fields> {
        Some(match dtype {
            DType::Half => Fields::ieee(16, f16::MANTISSA_DIGITS - 1),
            DType::BFloat16 => Fields::ieee(16, bf16::MANTISSA_DIGITS - 1),
            DType::Float => Fields::ieee(32, f32::MANTISSA_DIGITS - 1),
            DType::Double => Fields::ieee(64, f64::MANTISSA_DIGITS - 1),
            DType::Float8_e4m3fn => Fields::float8::<float8::E4M3FnFormat>(),
            DType::Float8_e5m2 => Fields::float8::<float8::E5M2Format>(),
            DType::Float8_e4m3fnuz => Fields::float8::<float8::E4M3FnuzFormat>(),
            DType::Float8_e5m2fnuz => Fields::float8::<float8::E5M2FnuzFormat>(),
            DType::Float8_e8m0fnu => Fields { exponent: 8, mantissa: 0, bias: 127, special: Special::ExponentAlone },
            _ => return None,
        })
    }
}

/// A float split into its fields.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FloatParts {
    fields: Fields,
    is_negative: bool,
    exponent: u64,
    mantissa: u64,
}

impl FloatParts {
    fn of(bits: u64, fields: Fields) -> FloatParts {
        FloatParts {
            fields,
            is_negative: bits >> (fields.exponent + fields.mantissa) & 1 == 1,
            exponent: bits >> fields.mantissa & ((1 << fields.exponent) - 1),
            mantissa: bits & ((1 << fields.mantissa) - 1),
        }
    }

    fn has_highest_exponent(&self) -> bool {
        self.exponent == (1 << self.fields.exponent) - 1
    }

    fn is_nan(&self) -> bool {
        match self.fields.special {
            Special::HighestExponent => self.has_highest_exponent() && self.mantissa != 0,
            Special::AllOnes => self.has_highest_exponent() && self.mantissa == (1 << self.fields.mantissa) - 1,
            Special::ExponentAlone => self.has_highest_exponent(),
            Special::SignAlone => self.is_negative && self.exponent == 0 && self.mantissa == 0,
        }
    }

    fn is_infinite(&self) -> bool {
        self.fields.special == Special::HighestExponent && self.has_highest_exponent() && self.mantissa == 0
    }

    /// Returns the power of two that scales the mantissa.
    fn power(&self) -> i32 {
        if self.fields.special == Special::ExponentAlone {
            return self.exponent as i32 - self.fields.bias;
        }
        // Subnormal numbers have the exponent of the smallest normal ones.
        self.exponent.max(1) as i32 - self.fields.bias
    }

    /// Returns the mantissa including its leading bit.
    fn significand(&self) -> f64 {
        if self.fields.special == Special::ExponentAlone {
            return 1.0;
        }
        let fraction = self.mantissa as f64 / (1u64 << self.fields.mantissa) as f64;
        if self.exponent == 0 { fraction } else { 1.0 + fraction }
    }

    fn value(&self) -> f64 {
        let sign = if self.is_negative { -1.0 } else { 1.0 };
        if self.is_nan() {
            return f64::NAN;
        }
        if self.is_infinite() {
            return sign * f64::INFINITY;
        }
        // In two steps: the smallest powers of two are out of range for a single multiplication.
        let half = self.power() / 2;
        sign * self.significand() * 2f64.powi(half) * 2f64.powi(self.power() - half)
    }
}

/// Draws the bits of the only element of a view.
///
/// # Errors
/// Fails with RuntimeError unless the view has exactly one readable element.
pub fn of_view(view: &View) -> Result<Scene> {
    if view.numel() != 1 {
        return Err(Error::runtime(format!("bits() takes one element, this tensor has {}", view.numel())));
    }
    let memory = view.memory()?;
    let size = view.dtype.itemsize();
    let start = usize::try_from(view.layout.offset).unwrap_or_default().saturating_mul(size);
    let bytes = bytes(&memory, start, size);
    let mut scene = of_bytes(&bytes, view.dtype);
    if view.conj || view.neg {
        scene.note(
            Ink::Fault,
            "A lazy conjugation or negation is pending: the shown values differ from the stored ones.",
        );
    }
    Ok(scene)
}

/// Draws the bits of a number that was stored in a view, and what became of it.
///
/// # Errors
/// Those of [`of_view`].
pub fn of_number(asked: Scalar, view: &View) -> Result<Scene> {
    let mut scene = of_view(view)?;
    asked::explain(&mut scene, asked, view.item()?, view.dtype);
    Ok(scene)
}

fn bytes(memory: &Memory, start: usize, size: usize) -> Vec<u8> {
    let cells = memory.bytes().get(start..start.saturating_add(size)).unwrap_or_default();
    cells.iter().map(tensor::memory::get).collect()
}

/// Draws the bits of one element, given its bytes in memory order.
pub(crate) fn of_bytes(bytes: &[u8], dtype: DType) -> Scene {
    let value = Reading::native(dtype).scalar(bytes).map(|value| element::in_short(value, dtype.stored_integers()));
    let mut scene = Scene::new(format!("{} {}", dtype.name(), value.unwrap_or_default()));
    if dtype.is_complex() {
        let part = dtype.to_real();
        for (name, half) in ["real part", "imaginary part"].into_iter().zip(bytes.chunks(part.itemsize())) {
            scene.heading(format!("{name}: {}", decode_bytes(half, Reading::native(part)).unwrap_or_default()));
            number(&mut scene, half, part);
        }
    } else {
        number(&mut scene, bytes, dtype);
    }
    scene
}

/// Draws the bytes of a number, most significant first, and explains the bits.
fn number(scene: &mut Scene, bytes: &[u8], dtype: DType) {
    let mut address = Lane::ruler("byte");
    let mut hexadecimal = Lane::framed("hex");
    let mut bits = Lane::framed("bits");
    let mut letters = Lane::framed("field");
    let counting = if cfg!(target_endian = "little") {
        bytes.iter().enumerate().rev().collect::<Vec<_>>()
    } else {
        bytes.iter().enumerate().collect()
    };
    let fields = Fields::of(dtype);
    let mut whole = 0u64;
    for (nth, (at, byte)) in counting.into_iter().enumerate() {
        address.push(1, Ink::Label, format!("+{at}"));
        hexadecimal.push(1, Ink::Shown, format!("{byte:02x}"));
        let field = |bit: u32| fields.map_or((' ', Ink::Shown), |fields| fields.at(8 * nth as u32 + bit));
        // Leave a gap between the halves of a byte.
        let places = || (0..8).flat_map(|bit| (bit == 4).then_some(None).into_iter().chain([Some(bit)]));
        let drawn = |text: &dyn Fn(u32) -> char| {
            let place = |bit: Option<u32>| bit.map_or((' ', Ink::Plain), |bit| (text(bit), field(bit).1));
            places().map(place).collect::<Vec<_>>()
        };
        bits.push_tinted(drawn(&|bit| if byte >> (7 - bit) & 1 == 1 { '1' } else { '0' }));
        letters.push_tinted(drawn(&|bit| field(bit).0));
        whole = whole << 8 | u64::from(*byte);
    }
    let mut lanes = vec![address, hexadecimal, bits];
    lanes.extend(fields.map(|_| letters));
    scene.blocks.push(Block::Strip(Strip { lanes }));
    match fields {
        Some(fields) => float(scene, FloatParts::of(whole, fields), dtype),
        None => integer(scene, whole, dtype),
    }
}

fn float(scene: &mut Scene, parts: FloatParts, dtype: DType) {
    let Fields { exponent, mantissa, bias, .. } = parts.fields;
    let sign = if parts.is_negative { "1" } else { "0" };
    let meaning = if parts.is_negative { "negative" } else { "positive" };
    let mut table = Table { head: vec!["field", "means", "bits"], rows: Vec::new() };
    let mut row = |ink, name: &str, means: String, bits: String| {
        table.rows.push(vec![Span { ink, text: name.to_owned() }, span(Ink::Plain, means), span(ink, bits)]);
    };
    let is_power = parts.fields.special == Special::ExponentAlone;
    if !is_power {
        row(Ink::Sign, "sign", meaning.to_owned(), sign.to_owned());
    }
    let power = if parts.is_nan() || parts.is_infinite() {
        "none: not a finite number".to_owned()
    } else if parts.exponent == 0 && !is_power {
        format!("0: 2^{}, no leading 1", parts.power())
    } else {
        format!("{} - {bias}: 2^{}", parts.exponent, parts.power())
    };
    row(Ink::Exponent, "exponent", power, binary(parts.exponent, exponent));
    let fraction = if parts.is_nan() || parts.is_infinite() {
        parts.mantissa.to_string()
    } else {
        let (short, whole) = (float_repr(parts.significand()), exact(parts.significand()));
        if significant(&short) == significant(&whole) { short } else { format!("about {short}") }
    };
    if !is_power {
        row(Ink::Mantissa, "mantissa", fraction, binary(parts.mantissa, mantissa));
    }
    scene.blocks.push(Block::Table(table));
    let value = parts.value();
    if !value.is_finite() {
        return scene.note(Ink::Plain, float_repr(value));
    }
    let sign = if parts.is_negative { "-" } else { "" };
    let (short, whole) = (float_repr(value), exact(value));
    if significant(&short) == significant(&whole) {
        let significand = float_repr(parts.significand());
        scene.note(Ink::Plain, format!("{sign}{significand} * 2^{} = {short}", parts.power()));
        let brief = element::in_short(Scalar::Float(value), dtype);
        if brief != short {
            scene.note(Ink::Plain, shortest(&brief, dtype));
        }
        return;
    }
    // The decimal is not exact: show the stored number as an integer times a power of two, with all its digits.
    let integer = parts.mantissa + if parts.exponent == 0 && !is_power { 0 } else { 1 << mantissa };
    let zeros = integer.trailing_zeros();
    let power = parts.power() - mantissa as i32 + zeros as i32;
    scene.note(Ink::Plain, format!("{sign}{} * 2^{power} = {}", integer >> zeros, shortened(&whole)));
    scene.note(Ink::Plain, shortest(&element::in_short(Scalar::Float(value), dtype), dtype));
}

fn shortest(decimal: &str, dtype: DType) -> String {
    format!("{decimal} is the shortest decimal that reads back as this {}", dtype.name())
}

/// Returns all digits of a finite number, in the notation that Python would choose.
fn exact(value: f64) -> String {
    // The smallest positive float, 2^-1074, has that many digits after the point.
    let (digits, exponent) = if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        (format!("{value:.1074}"), String::new())
    } else {
        let text = format!("{value:.1074e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let power: i32 = power.parse().unwrap_or_default();
        let sign = if power < 0 { '-' } else { '+' };
        (digits.to_owned(), format!("e{sign}{:02}", power.abs()))
    };
    format!("{}{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns the digits of a number without leading and trailing zeros.
fn significant(number: &str) -> String {
    let digits = number.split('e').next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect::<String>();
    digits.trim_matches('0').to_owned()
}

/// The maximum number of digits on a line; a float64 may have 767.
const DIGITS: usize = 60;

fn shortened(number: &str) -> String {
    let (digits, exponent) = number.find('e').map_or((number, ""), |at| number.split_at(at));
    match digits.char_indices().nth(DIGITS) {
        Some((end, _)) => format!("{}…{exponent}", digits.get(..end).unwrap_or(digits)),
        None => number.to_owned(),
    }
}

fn integer(scene: &mut Scene, whole: u64, dtype: DType) {
    let bits = 8 * dtype.itemsize();
    let text = match dtype.category() {
        Category::Bool => format!("{whole}: any byte but 0 is True"),
        _ if dtype.is_signed() && bits > 0 && whole >> (bits - 1) & 1 == 1 => {
            format!("the highest bit is set, so 2^{bits} is subtracted from {whole}")
        }
        _ => format!("the sum of the powers of two whose bits are set: {whole}"),
    };
    scene.note(Ink::Plain, text);
}

/// Writes `bits` bits in groups of four; the first group may be shorter.
fn binary(number: u64, bits: u32) -> String {
    let digits = format!("{number:0width$b}", width = bits as usize);
    let first = digits.len() % 4;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group).into_owned());
    let groups: Vec<String> = (!head.is_empty()).then(|| head.to_owned()).into_iter().chain(groups).collect();
    groups.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor::{Layout, Storage};

    fn decoded(bytes: &[u8], dtype: DType) -> f64 {
        let storage = Storage::from_bytes(bytes).unwrap();
        let view = View { storage, layout: Layout::contiguous(&[]), dtype, conj: false, neg: false, form: None };
        match view.item() {
            Ok(Scalar::Float(value)) => value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_parts_give_the_value() {
        for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_floating_point()) {
            let fields = Fields::of(dtype).unwrap();
            let bits = 8 * dtype.itemsize();
            let step = if bits <= 16 { 1 } else { u64::MAX >> (64 - bits) >> 14 | 1 };
            for code in (0..1u64 << 14).chain((0..1 << 14).map(|code| (1 << (bits - 1)) + code)) {
                let code = if bits <= 16 {
                    code & ((1 << bits) - 1)
                } else {
                    code.wrapping_mul(step) & (u64::MAX >> (64 - bits))
                };
                let value = decoded(&code.to_le_bytes()[..dtype.itemsize()], dtype);
                let parts = FloatParts::of(code, fields).value();
                assert!(parts == value || parts.is_nan() && value.is_nan(), "{dtype:?} {code:#x}: {parts} {value}");
            }
        }
    }

    #[test]
    fn groups_of_bits() {
        assert_eq!(binary(5, 3), "101");
        assert_eq!(binary(127, 8), "0111 1111");
        assert_eq!(binary(1, 10), "00 0000 0001");
    }
}
