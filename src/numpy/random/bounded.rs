//! Integers in a range: `RandomState.randint` rejects masked bits, `Generator.integers` scales by Lemire's method
//! ("Fast Random Integer Generation in an Interval", 2019).

use super::bits::BitGenerator;
use super::common::mask_of;
use tensor::Error;
use tensor::Result;
use tensor::interrupt::check_at;

/// The dtypes of `randint` and `integers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntegerType {
    Bool,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
}

impl IntegerType {
    /// The dtype's name, as in error messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            IntegerType::Bool => "bool",
            IntegerType::Int8 => "int8",
            IntegerType::Uint8 => "uint8",
            IntegerType::Int16 => "int16",
            IntegerType::Uint16 => "uint16",
            IntegerType::Int32 => "int32",
            IntegerType::Uint32 => "uint32",
            IntegerType::Int64 => "int64",
            IntegerType::Uint64 => "uint64",
        }
    }

    /// The type of that name, or `None` if integers of it cannot be drawn.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        use IntegerType::*;
        [Bool, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64].into_iter().find(|kind| kind.name() == name)
    }

    /// The smallest and the largest number.
    pub(super) fn bounds(self) -> (i128, i128) {
        match self {
            IntegerType::Bool => (0, 1),
            IntegerType::Int8 => (i8::MIN.into(), i8::MAX.into()),
            IntegerType::Uint8 => (0, u8::MAX.into()),
            IntegerType::Int16 => (i16::MIN.into(), i16::MAX.into()),
            IntegerType::Uint16 => (0, u16::MAX.into()),
            IntegerType::Int32 => (i32::MIN.into(), i32::MAX.into()),
            IntegerType::Uint32 => (0, u32::MAX.into()),
            IntegerType::Int64 => (i64::MIN.into(), i64::MAX.into()),
            IntegerType::Uint64 => (0, u64::MAX.into()),
        }
    }

    fn bits(self) -> u32 {
        match self {
            IntegerType::Bool => 1,
            IntegerType::Int8 | IntegerType::Uint8 => 8,
            IntegerType::Int16 | IntegerType::Uint16 => 16,
            IntegerType::Int32 | IntegerType::Uint32 => 32,
            IntegerType::Int64 | IntegerType::Uint64 => 64,
        }
    }

    /// Checks the bounds of a call in NumPy's order: all of `lows`, all of `highs`, then pair by pair. The slices are
    /// broadcast by the caller: their lengths are equal, or one of them is 1. Integers beyond 128 bits can be clamped.
    pub(super) fn check(self, lows: &[i128], highs: &[i128], endpoint: bool) -> Result<()> {
        let (smallest, largest) = self.bounds();
        let open = i128::from(!endpoint);
        if lows.iter().any(|low| *low < smallest) {
            return Err(Error::value(format!("low is out of bounds for {}", self.name())));
        }
        if highs.iter().any(|high| high.saturating_sub(open) > largest) {
            return Err(Error::value(format!("high is out of bounds for {}", self.name())));
        }
        let pairs = lows.len().max(highs.len());
        let at = |items: &[i128], index: usize| items.get(index).or(items.first()).copied().unwrap_or(0);
        let empty = |index| at(lows, index) > at(highs, index).saturating_sub(open);
        if lows.is_empty() || highs.is_empty() || !(0..pairs).any(empty) {
            return Ok(());
        }
        let text = match (lows.iter().all(|low| *low == 0), endpoint) {
            (true, true) => "high < 0",
            (true, false) => "high <= 0",
            (false, true) => "low > high",
            (false, false) => "low >= high",
        };
        Err(Error::value(text))
    }
}

/// The draws of one call of `randint` or `integers`.
///
/// Types of at most 16 bits cut several numbers from one 32-bit word. The rest of the word is lost at the end of the
/// call, so make one of these for each call, not for each number.
#[derive(Clone, Debug)]
pub(super) struct Integers {
    kind: IntegerType,
    masked: bool,
    word: u32,
    left: u32,
}

impl Integers {
    /// For one call of `RandomState.randint`, `random_integers` or `choice`.
    pub(super) fn legacy(kind: IntegerType) -> Self {
        Integers { kind, masked: true, word: 0, left: 0 }
    }

    /// For one call of `Generator.integers` or `choice`.
    pub(super) fn new(kind: IntegerType) -> Self {
        Integers { kind, masked: false, word: 0, left: 0 }
    }

    /// A number in [`low`, `last`], both checked by [`IntegerType::check`]; `last` is `high - 1` unless
    /// `endpoint=True`.
    pub(super) fn draw(&mut self, bits: &mut dyn BitGenerator, low: i128, last: i128) -> i128 {
        let range = last.wrapping_sub(low) as u64;
        low.wrapping_add(i128::from(self.offset(bits, range)))
    }

    /// A number in [0, `range`]. An empty range consumes no bits.
    fn offset(&mut self, bits: &mut dyn BitGenerator, range: u64) -> u64 {
        if range == 0 {
            return 0;
        }
        let width = self.kind.bits();
        if width == 1 {
            return self.piece(bits, 1);
        }
        // Ranges that fit 32 bits draw 32 bits even for a 64-bit type.
        let width = if width == 64 && range <= u64::from(u32::MAX) { 32 } else { width };
        if range == u64::MAX >> (64 - width) {
            return self.piece(bits, width);
        }
        if self.masked {
            let mask = mask_of(range);
            loop {
                let value = self.piece(bits, width) & mask;
                if value <= range {
                    return value;
                }
            }
        }
        // The product's upper half is the result; some lower halves are rejected so that all results are as likely.
        let count = u128::from(range) + 1;
        let lower = (1_u128 << width) - 1;
        let threshold = (lower - u128::from(range)) % count;
        loop {
            let product = u128::from(self.piece(bits, width)) * count;
            if product & lower >= threshold {
                return (product >> width) as u64;
            }
        }
    }

    /// The next `width` random bits.
    fn piece(&mut self, bits: &mut dyn BitGenerator, width: u32) -> u64 {
        if width == 64 {
            return bits.next_u64();
        }
        if self.left == 0 || width == 32 {
            self.word = bits.next_u32();
            self.left = 32 / width;
        } else {
            self.word >>= width;
        }
        self.left -= 1;
        u64::from(self.word) & ((1 << width) - 1)
    }
}

/// `bytes(count)` of both generators: 32-bit words, the lowest byte first. Even no bytes cost a word.
pub(super) fn bytes(bits: &mut dyn BitGenerator, count: usize) -> Result<Vec<u8>> {
    let mut out = tensor::limits::list(count)?;
    loop {
        check_at(out.len())?;
        let word = bits.next_u32().to_le_bytes();
        out.extend(word.into_iter().take(count - out.len()));
        if out.len() == count {
            return Ok(out);
        }
    }
}

/// `RandomState.tomaxint()`.
pub(super) fn tomaxint(bits: &mut dyn BitGenerator) -> i64 {
    (bits.next_u64() >> 1) as i64
}
