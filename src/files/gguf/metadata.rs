//! The settings of a GGUF file, as texts. Long arrays are cut to their first items, as a vocabulary has hundreds of
//! thousands of words. Knows no tensors.

use super::{HeaderReader, check_interrupt, invalid};
use std::fmt::Write;
use tensor::{Error, Result};

/// The number of array items to show, …
const TOLD: u64 = 8;
/// … the number of bytes of a text, …
const LONGEST: usize = 64 << 10;
/// … and of a text inside an array.
const LONGEST_ITEM: usize = 100;

/// The maximum depth of nested arrays.
const DEEPEST: usize = 16;

/// A value of the metadata.
pub(super) struct Setting {
    pub text: String,
    /// The number, if it is an unsigned 32-bit integer.
    number: Option<u32>,
}

/// A type of values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueType {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    Text,
    Array,
    U64,
    I64,
    F64,
}

impl ValueType {
    /// Reads a type code. Codes count from 0.
    fn read(cursor: &mut HeaderReader) -> Result<ValueType> {
        use ValueType::*;
        let code = cursor.u32()?;
        let known = [U8, I8, U16, I16, U32, I32, F32, Bool, Text, Array, U64, I64, F64];
        let kind = usize::try_from(code).ok().and_then(|code| known.get(code));
        kind.copied().ok_or_else(|| invalid(format_args!("a setting is of type {code}, which does not exist")))
    }

    /// Returns the minimum number of bytes of a value.
    fn least(self) -> u64 {
        match self {
            ValueType::U8 | ValueType::I8 | ValueType::Bool => 1,
            ValueType::U16 | ValueType::I16 => 2,
            ValueType::U32 | ValueType::I32 | ValueType::F32 => 4,
            ValueType::U64 | ValueType::I64 | ValueType::F64 | ValueType::Text => 8,
            ValueType::Array => 12,
        }
    }

    /// Returns whether all values have the same size.
    fn is_fixed(self) -> bool {
        !matches!(self, ValueType::Text | ValueType::Array)
    }
}

impl Setting {
    pub(super) fn read(cursor: &mut HeaderReader) -> Result<Setting> {
        let kind = ValueType::read(cursor)?;
        let mut text = String::new();
        match kind {
            ValueType::Text => text = decode_text(cursor.text()?, LONGEST),
            kind => value(cursor, kind, 0, &mut text)?,
        }
        let number = if kind == ValueType::U32 { text.parse().ok() } else { None };
        Ok(Setting { text, number })
    }

    /// Returns the value as an alignment.
    ///
    /// # Errors
    /// Fails with ValueError for anything other than a power of two.
    pub(crate) fn alignment(&self) -> Result<u32> {
        let number = self.number.filter(|number| number.is_power_of_two());
        number.ok_or_else(|| invalid("its alignment is not a power of two in 32 bits"))
    }
}

/// Decodes a text, cut to `most` bytes.
fn decode_text(bytes: &[u8], most: usize) -> String {
    let part = bytes.get(..most).unwrap_or(bytes);
    let mut text = String::from_utf8_lossy(part).into_owned();
    if part.len() < bytes.len() {
        // The cut may have split a character.
        text.truncate(text.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
        text += &format!("… ({} bytes)", bytes.len());
    }
    text
}

/// Appends the next value.
fn value(cursor: &mut HeaderReader, kind: ValueType, depth: usize, out: &mut String) -> Result<()> {
    let written = match kind {
        ValueType::U8 => write!(out, "{}", u8::from_le_bytes(cursor.array()?)),
        ValueType::I8 => write!(out, "{}", i8::from_le_bytes(cursor.array()?)),
        ValueType::U16 => write!(out, "{}", u16::from_le_bytes(cursor.array()?)),
        ValueType::I16 => write!(out, "{}", i16::from_le_bytes(cursor.array()?)),
        ValueType::U32 => write!(out, "{}", cursor.u32()?),
        ValueType::I32 => write!(out, "{}", i32::from_le_bytes(cursor.array()?)),
        ValueType::F32 => write!(out, "{:?}", f32::from_le_bytes(cursor.array()?)),
        ValueType::U64 => write!(out, "{}", cursor.u64()?),
        ValueType::I64 => write!(out, "{}", i64::from_le_bytes(cursor.array()?)),
        ValueType::F64 => write!(out, "{:?}", f64::from_le_bytes(cursor.array()?)),
        ValueType::Bool => match cursor.array()? {
            [0] => write!(out, "False"),
            [1] => write!(out, "True"),
            [other] => return Err(invalid(format_args!("{other} is not a boolean"))),
        },
        ValueType::Text => write!(out, "'{}'", decode_text(cursor.text()?, LONGEST_ITEM).escape_debug()),
        ValueType::Array => return array(cursor, depth, out),
    };
    written.map_err(|_| Error::runtime("a string cannot be written"))
}

/// Appends an array: its first items, and the number of items if it was cut.
fn array(cursor: &mut HeaderReader, depth: usize, out: &mut String) -> Result<()> {
    if depth >= DEEPEST {
        return Err(invalid(format_args!("arrays are nested more than {DEEPEST} deep")));
    }
    let kind = ValueType::read(cursor)?;
    let count = cursor.count(kind.least(), "items of an array")?;
    out.push('[');
    for item in 0..count.min(TOLD) {
        if item > 0 {
            out.push_str(", ");
        }
        value(cursor, kind, depth + 1, out)?;
    }
    let rest = count.saturating_sub(TOLD);
    if rest > 0 {
        out.push_str(&format!(", … ({count} in all)"));
    }
    out.push(']');
    if kind.is_fixed() {
        cursor.take(rest * kind.least())?;
        return Ok(());
    }
    let mut unseen = String::new();
    for item in 0..rest {
        check_interrupt(item)?;
        match kind {
            ValueType::Text => drop(cursor.text()?),
            kind => value(cursor, kind, depth + 1, &mut unseen)?,
        }
        unseen.clear();
    }
    Ok(())
}
