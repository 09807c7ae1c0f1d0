//! `_json`: reads JSON like the scanner that CPython has in C.

use super::regex::{Input, characters};
use call::{Call, Row, function, stack};
use tensor::{Result, bail, interrupt, limits};
use value::{Dict, List, Value, integers};

pub(in crate::library) const ROWS: &[Row] = &[function(
    "_json._scan(any string, int idx, bool strict) -> any",
    scan,
    "Reads a value at a place in a text: 0, the value, where it ends; or 1, a message, a place; or 2, None, the place where there \
     is no value.",
)];

/// Why there is no value.
enum Fault {
    Invalid(&'static str, usize),
    Missing(usize),
    Other(tensor::Error),
}

impl From<tensor::Error> for Fault {
    fn from(error: tensor::Error) -> Fault {
        Fault::Other(error)
    }
}

type Scanned = std::result::Result<Value, Fault>;

fn scan(call: &mut Call) -> Result<Value> {
    let (start, strict) = (usize::try_from(call.int(1)?).unwrap_or(usize::MAX), call.bool(2)?);
    let string = call.value(0);
    let Value::Str(text) = string.underlying().unwrap_or(string) else {
        bail!(TypeError, "first argument must be a string, not {}", call.value(0).type_name())
    };
    let (scanned, end) = match text.characters() == text.len() {
        true => scanned(text.as_bytes(), start, strict),
        false => scanned(&*characters(&text), start, strict),
    };
    let place = |place: usize| Value::Int(place as i64);
    Ok(Value::tuple(match scanned {
        Ok(value) => [Value::Int(0), value, place(end)],
        Err(Fault::Invalid(message, at)) => [Value::Int(1), Value::str(message), place(at)],
        Err(Fault::Missing(at)) => [Value::Int(2), Value::None, place(at)],
        Err(Fault::Other(error)) => return Err(error),
    }))
}

fn scanned<I: Input + ?Sized>(input: &I, at: usize, strict: bool) -> (Scanned, usize) {
    let mut reader = Reader { input, at, strict };
    let value = reader.value();
    (value, reader.at)
}

struct Reader<'i, I: ?Sized> {
    input: &'i I,
    at: usize,
    strict: bool,
}

impl<I: Input + ?Sized> Reader<'_, I> {
    fn here(&self) -> Option<char> {
        self.input.at(self.at).and_then(char::from_u32)
    }

    fn skip_blanks(&mut self) {
        while matches!(self.here(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    /// Takes a word if it is here.
    fn takes(&mut self, word: &str) -> bool {
        let is_here = word.bytes().enumerate().all(|(i, byte)| self.input.at(self.at + i) == Some(u32::from(byte)));
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    fn value(&mut self) -> Scanned {
        interrupt::check()?;
        let start = self.at;
        match self.here() {
            Some('"') => {
                self.at += 1;
                self.text().map(Value::str)
            }
            Some('{') => self.object(),
            Some('[') => self.array(),
            Some('n') if self.takes("null") => Ok(Value::None),
            Some('t') if self.takes("true") => Ok(Value::Bool(true)),
            Some('f') if self.takes("false") => Ok(Value::Bool(false)),
            Some('N') if self.takes("NaN") => Ok(Value::Float(f64::NAN)),
            Some('I') if self.takes("Infinity") => Ok(Value::Float(f64::INFINITY)),
            Some('-') if self.takes("-Infinity") => Ok(Value::Float(f64::NEG_INFINITY)),
            Some('-' | '0'..='9') => self.number(),
            _ => Err(Fault::Missing(start)),
        }
    }

    fn digits(&mut self, text: &mut String) -> bool {
        let before = text.len();
        while let Some(digit @ '0'..='9') = self.here() {
            text.push(digit);
            self.at += 1;
        }
        text.len() > before
    }

    fn number(&mut self) -> Scanned {
        let start = self.at;
        let mut text = String::new();
        if self.takes("-") {
            text.push('-');
        }
        match self.here() {
            Some('0') => {
                text.push('0');
                self.at += 1;
            }
            _ if self.digits(&mut text) => {}
            _ => {
                self.at = start;
                return Err(Fault::Missing(start));
            }
        }
        let whole = text.clone();
        // What does not go on as a number is not part of it.
        let mut is_float = false;
        let end = self.at;
        if self.takes(".") {
            text.push('.');
            is_float = self.digits(&mut text);
            if !is_float {
                self.at = end;
                text.truncate(whole.len());
            }
        }
        let (end, length) = (self.at, text.len());
        if let Some('e' | 'E') = self.here() {
            self.at += 1;
            text.push('e');
            if let Some(sign @ ('+' | '-')) = self.here() {
                text.push(sign);
                self.at += 1;
            }
            match self.digits(&mut text) {
                true => is_float = true,
                false => {
                    self.at = end;
                    text.truncate(length);
                }
            }
        }
        if is_float {
            return Ok(Value::Float(text.parse().unwrap_or(f64::NAN)));
        }
        match whole.parse() {
            Ok(small) => Ok(Value::Int(small)),
            Err(_) => Ok(integers::parse(&whole, 10)?.map_or(Value::None, Value::from)),
        }
    }

    fn array(&mut self) -> Scanned {
        stack::check()?;
        self.at += 1;
        let mut items = Vec::new();
        self.skip_blanks();
        if self.takes("]") {
            return Ok(Value::List(List::default()));
        }
        loop {
            limits::grown_to::<Value>(items.len() + 1)?;
            items.push(self.value()?);
            self.skip_blanks();
            if self.takes("]") {
                return Ok(Value::List(items.into()));
            }
            if !self.takes(",") {
                return Err(Fault::Invalid("Expecting ',' delimiter", self.at));
            }
            self.skip_blanks();
        }
    }

    fn object(&mut self) -> Scanned {
        stack::check()?;
        self.at += 1;
        let entries = Dict::default();
        self.skip_blanks();
        if self.takes("}") {
            return Ok(Value::Dict(entries));
        }
        loop {
            if !self.takes("\"") {
                return Err(Fault::Invalid("Expecting property name enclosed in double quotes", self.at));
            }
            let key = self.text()?;
            self.skip_blanks();
            if !self.takes(":") {
                return Err(Fault::Invalid("Expecting ':' delimiter", self.at));
            }
            self.skip_blanks();
            let value = self.value()?;
            entries.insert(Value::str(key), value)?;
            self.skip_blanks();
            if self.takes("}") {
                return Ok(Value::Dict(entries));
            }
            if !self.takes(",") {
                return Err(Fault::Invalid("Expecting ',' delimiter", self.at));
            }
            self.skip_blanks();
        }
    }

    /// Reads the rest of a text, up to its quote.
    fn text(&mut self) -> std::result::Result<String, Fault> {
        let begin = self.at - 1;
        let unterminated = || Fault::Invalid("Unterminated string starting at", begin);
        let mut text = String::new();
        loop {
            let c = self.here().ok_or_else(unterminated)?;
            interrupt::check_at(self.at)?;
            self.at += 1;
            match c {
                '"' => return Ok(text),
                '\\' => {
                    let escape = self.here().ok_or_else(unterminated)?;
                    self.at += 1;
                    text.push(match escape {
                        '"' | '\\' | '/' => escape,
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'u' => self.escaped()?,
                        _ => return Err(Fault::Invalid("Invalid \\escape", self.at - 2)),
                    });
                }
                '\0'..='\u{1f}' if self.strict => {
                    return Err(Fault::Invalid("Invalid control character at", self.at - 1));
                }
                c => text.push(c),
            }
        }
    }

    /// Reads four hexadecimal digits.
    fn hexadecimal(&mut self) -> std::result::Result<u32, Fault> {
        let start = self.at;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.here().and_then(|c| c.to_digit(16));
            code = code * 16 + digit.ok_or(Fault::Invalid("Invalid \\uXXXX escape", start - 1))?;
            self.at += 1;
        }
        Ok(code)
    }

    /// Reads the digits of `\uXXXX`, and of the second half of a pair.
    fn escaped(&mut self) -> std::result::Result<char, Fault> {
        let code = self.hexadecimal()?;
        if (0xd800..0xdc00).contains(&code) && self.takes("\\u") {
            let low = self.hexadecimal()?;
            if let Some(c) = char::from_u32(0x10000 + ((code - 0xd800) << 10) + low.wrapping_sub(0xdc00)) {
                return Ok(c);
            }
        }
        // Texts here have no halves of pairs.
        char::from_u32(code).ok_or_else(|| {
            Fault::Other(tensor::Error::not_implemented("half of a surrogate pair is not supported at this prompt"))
        })
    }
}
