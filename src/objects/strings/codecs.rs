//! Text encodings: those of Unicode, ASCII and Latin-1, with Python's error handlers. This file must not know any
//! value.

use crate::bounds::room_for_text;
use tensor::{Error, ErrorKind, Result, bail, interrupt};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8 {
        mark: bool,
    },
    /// One byte for each character below a bound.
    Narrow(&'static str, u32),
    /// Escapes for what latin-1 lacks; unless `raw`, for what cannot be printed, too.
    Escaped {
        raw: bool,
    },
    /// Units of two or four bytes. `big` is the byte order; `None` leaves it to a byte order mark.
    Wide {
        name: &'static str,
        unit: usize,
        big: Option<bool>,
    },
}

impl Encoding {
    fn find(name: &str) -> Result<Encoding> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let wide = |name, unit, big| Encoding::Wide { name, unit, big };
        Ok(match plain.as_str() {
            "utf8" | "u8" | "utf" => Encoding::Utf8 { mark: false },
            "utf8sig" => Encoding::Utf8 { mark: true },
            "ascii" | "usascii" | "646" => Encoding::Narrow("ascii", 128),
            "latin1" | "latin" | "iso88591" | "l1" | "88591" | "cp819" => Encoding::Narrow("latin-1", 256),
            "utf16" | "u16" => wide("utf-16", 2, None),
            "utf16le" => wide("utf-16-le", 2, Some(false)),
            "utf16be" => wide("utf-16-be", 2, Some(true)),
            "utf32" | "u32" => wide("utf-32", 4, None),
            "utf32le" => wide("utf-32-le", 4, Some(false)),
            "rawunicodeescape" => Encoding::Escaped { raw: true },
            "unicodeescape" => Encoding::Escaped { raw: false },
            "utf32be" => wide("utf-32-be", 4, Some(true)),
            _ => return Err(unknown(format!("unknown encoding: {name}"))),
        })
    }
}

/// Writes characters beyond latin-1 as `\\uXXXX`; unless `raw`, others that are not printable as escapes, too.
fn escaped(text: &str, raw: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        let code = u32::from(c);
        match code {
            0x10000.. => out.extend(format!("\\U{code:08x}").into_bytes()),
            0x100.. => out.extend(format!("\\u{code:04x}").into_bytes()),
            _ if raw => out.push(code as u8),
            _ => match c {
                '\\' => out.extend(b"\\\\"),
                '\n' => out.extend(b"\\n"),
                '\r' => out.extend(b"\\r"),
                '\t' => out.extend(b"\\t"),
                ' '..='~' => out.push(code as u8),
                _ => out.extend(format!("\\x{code:02x}").into_bytes()),
            },
        }
    }
    out
}

fn unknown(message: String) -> Error {
    Error::new(ErrorKind::Other("LookupError"), message)
}

/// `text.encode(encoding, errors)`
///
/// # Errors
/// LookupError for an unknown encoding; UnicodeEncodeError for characters that it cannot represent; MemoryError.
pub(crate) fn encode(text: &str, encoding: &str, errors: &str) -> Result<Vec<u8>> {
    let (name, bound) = match Encoding::find(encoding)? {
        Encoding::Utf8 { mark } => {
            room_for_text(text.len())?;
            let mark: &[u8] = if mark { b"\xef\xbb\xbf" } else { b"" };
            return Ok([mark, text.as_bytes()].concat());
        }
        Encoding::Escaped { raw } => {
            room_for_text(text.len().saturating_mul(10))?;
            return Ok(escaped(text, raw));
        }
        Encoding::Wide { unit, big, .. } => {
            room_for_text(text.len().saturating_mul(unit))?;
            let mut out = Vec::new();
            let mut push = |code: u32| {
                let bytes = code.to_le_bytes();
                let (low, _) = bytes.split_at(unit);
                if big == Some(true) { out.extend(low.iter().rev()) } else { out.extend(low) }
            };
            if big.is_none() {
                push(0xfeff);
            }
            for (i, c) in text.chars().enumerate() {
                interrupt::check_at(i)?;
                if unit == 4 {
                    push(u32::from(c));
                } else {
                    c.encode_utf16(&mut [0; 2]).iter().for_each(|part| push(u32::from(*part)));
                }
            }
            return Ok(out);
        }
        Encoding::Narrow(name, bound) => (name, bound),
    };
    let (mut out, mut skipped) = (Vec::new(), 0);
    for (i, c) in text.chars().enumerate() {
        interrupt::check_at(i)?;
        let code = u32::from(c);
        if code < bound {
            out.extend(u8::try_from(code));
            continue;
        }
        if skipped > i {
            continue;
        }
        match errors {
            "ignore" => {}
            "replace" => out.push(b'?'),
            "xmlcharrefreplace" => out.extend(format!("&#{code};").bytes()),
            "backslashreplace" => out.extend(escape(code).bytes()),
            "strict" | "surrogateescape" | "surrogatepass" => {
                skipped = i + text.chars().skip(i).take_while(|c| u32::from(*c) >= bound).count();
                let which = match skipped - i {
                    1 => format!("character '{}' in position {i}", escape(code)),
                    _ => format!("characters in position {i}-{}", skipped - 1),
                };
                let message = format!("'{name}' codec can't encode {which}: ordinal not in range({bound})");
                return Err(Error::new(ErrorKind::Other("UnicodeEncodeError"), message));
            }
            _ => return Err(unknown(format!("unknown error handler name '{errors}'"))),
        }
        room_for_text(out.len())?;
    }
    Ok(out)
}

fn escape(code: u32) -> String {
    match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    }
}

/// A decoder: the text so far, and the handler for invalid bytes.
struct Reader<'a> {
    bytes: &'a [u8],
    name: &'a str,
    errors: &'a str,
    out: String,
}

impl Reader<'_> {
    /// Reads latin-1 with `\\uXXXX`; unless `raw`, with all escapes of Python's strings.
    fn escaped(&mut self, raw: bool) -> Result<()> {
        self.name = if raw { "rawunicodeescape" } else { "unicodeescape" };
        let mut at = 0;
        while let Some(&byte) = self.bytes.get(at) {
            interrupt::check_at(at)?;
            let code = self.bytes.get(at + 1).copied();
            let digits = match (byte, code) {
                (b'\\', Some(b'u')) => 4,
                (b'\\', Some(b'U')) => 8,
                (b'\\', Some(b'x')) if !raw => 2,
                _ => 0,
            };
            if digits > 0 {
                let text = self.bytes.get(at + 2..at + 2 + digits).and_then(|part| std::str::from_utf8(part).ok());
                let read = text.and_then(|text| u32::from_str_radix(text, 16).ok()).and_then(char::from_u32);
                match read {
                    Some(c) => self.out.push(c),
                    None => self.refuse(at, 1, "truncated \\UXXXXXXXX escape")?,
                }
                at += 2 + digits;
                continue;
            }
            let plain = match (byte, code) {
                (b'\\', Some(code)) if !raw => match code {
                    b'n' => Some(Some('\n')),
                    b'r' => Some(Some('\r')),
                    b't' => Some(Some('\t')),
                    b'\\' | b'\'' | b'"' => Some(Some(char::from(code))),
                    b'0' => Some(Some('\0')),
                    b'a' => Some(Some('\u{7}')),
                    b'b' => Some(Some('\u{8}')),
                    b'f' => Some(Some('\u{c}')),
                    b'v' => Some(Some('\u{b}')),
                    b'\n' => Some(None),
                    _ => None,
                },
                _ => None,
            };
            match plain {
                Some(c) => {
                    self.out.extend(c);
                    at += 2;
                }
                None => {
                    self.out.push(char::from(byte));
                    at += 1;
                }
            }
        }
        Ok(())
    }

    /// Passes invalid bytes to the error handler.
    fn refuse(&mut self, at: usize, count: usize, why: &str) -> Result<()> {
        let wrong = self.bytes.get(at..at + count).unwrap_or_default();
        match self.errors {
            "ignore" => {}
            "replace" => self.out.push('\u{fffd}'),
            "backslashreplace" => wrong.iter().for_each(|byte| self.out.push_str(&escape(u32::from(*byte)))),
            "strict" | "surrogateescape" | "surrogatepass" => {
                let which = match wrong {
                    [byte] => format!("byte {byte:#04x} in position {at}"),
                    _ => format!("bytes in position {at}-{}", at + count - 1),
                };
                let message = format!("'{}' codec can't decode {which}: {why}", self.name);
                return Err(Error::new(ErrorKind::Other("UnicodeDecodeError"), message));
            }
            "xmlcharrefreplace" | "namereplace" => {
                bail!(TypeError, "don't know how to handle UnicodeDecodeError in error callback")
            }
            other => return Err(unknown(format!("unknown error handler name '{other}'"))),
        }
        Ok(())
    }

    fn utf8(&mut self) -> Result<()> {
        let mut at = 0;
        let mut turn = 0;
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            interrupt::check_at(turn)?;
            turn += 1;
            let error = match str::from_utf8(rest) {
                Ok(text) => {
                    self.out.push_str(text);
                    return Ok(());
                }
                Err(error) => error,
            };
            let good = error.valid_up_to();
            self.out.push_str(str::from_utf8(rest.get(..good).unwrap_or_default()).unwrap_or_default());
            let wrong = error.error_len().unwrap_or(rest.len() - good);
            let why = match (error.error_len(), rest.get(good)) {
                (None, _) => "unexpected end of data",
                (_, Some(0xc2..=0xf4)) => "invalid continuation byte",
                _ => "invalid start byte",
            };
            self.refuse(at + good, wrong, why)?;
            at += good + wrong;
        }
        Ok(())
    }

    fn wide(&mut self, start: usize, unit: usize, big: bool) -> Result<()> {
        let bytes = self.bytes;
        let read = |at: usize| -> Option<u32> {
            let part = bytes.get(at..at + unit)?;
            let join = |code: u32, byte: &u8| code << 8 | u32::from(*byte);
            Some(if big { part.iter().fold(0, join) } else { part.iter().rev().fold(0, join) })
        };
        let mut at = start;
        while at < bytes.len() {
            interrupt::check_at(at)?;
            let (taken, found) = match (read(at), unit) {
                (None, _) => (bytes.len() - at, Err("truncated data")),
                (Some(high @ 0xd800..=0xdbff), 2) => match read(at + 2) {
                    None => (bytes.len() - at, Err("unexpected end of data")),
                    Some(low @ 0xdc00..=0xdfff) => (4, Ok(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))),
                    Some(_) => (2, Err("illegal UTF-16 surrogate")),
                },
                (Some(0xdc00..=0xdfff), 2) => (2, Err("illegal encoding")),
                (Some(0xd800..=0xdfff), _) => (4, Err("code point in surrogate code point range(0xd800, 0xe000)")),
                (Some(code), _) => (unit, Ok(code)),
            };
            match found.and_then(|code| char::from_u32(code).ok_or("code point not in range(0x110000)")) {
                Ok(c) => self.out.push(c),
                Err(why) => self.refuse(at, taken, why)?,
            }
            at += taken;
        }
        Ok(())
    }
}

/// `bytes.decode(encoding, errors)`
///
/// # Errors
/// LookupError for an unknown encoding; UnicodeDecodeError for invalid bytes; MemoryError.
pub(crate) fn decode(bytes: &[u8], encoding: &str, errors: &str) -> Result<String> {
    room_for_text(bytes.len().saturating_mul(3))?;
    let encoding = Encoding::find(encoding)?;
    let mut reader = Reader { bytes, name: "utf-8", errors, out: String::with_capacity(bytes.len()) };
    match encoding {
        Encoding::Utf8 { mark } => {
            reader.bytes = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| mark).unwrap_or(bytes);
            reader.utf8()?;
        }
        Encoding::Escaped { raw } => reader.escaped(raw)?,
        Encoding::Narrow(name, bound) => {
            reader.name = name;
            for (at, byte) in bytes.iter().enumerate() {
                interrupt::check_at(at)?;
                if u32::from(*byte) < bound {
                    reader.out.push(char::from(*byte));
                } else {
                    reader.refuse(at, 1, "ordinal not in range(128)")?;
                }
            }
        }
        Encoding::Wide { name, unit, big } => {
            let marks: [&[u8]; 2] =
                if unit == 2 { [b"\xff\xfe", b"\xfe\xff"] } else { [b"\xff\xfe\0\0", b"\0\0\xfe\xff"] };
            let marked = marks.iter().position(|mark| big.is_none() && bytes.starts_with(mark));
            let big = big.unwrap_or(marked == Some(1));
            reader.name = match (name, big) {
                ("utf-16", false) => "utf-16-le",
                ("utf-16", true) => "utf-16-be",
                ("utf-32", false) => "utf-32-le",
                ("utf-32", true) => "utf-32-be",
                (name, _) => name,
            };
            reader.wide(if marked.is_some() { unit } else { 0 }, unit, big)?;
        }
    }
    Ok(reader.out)
}
