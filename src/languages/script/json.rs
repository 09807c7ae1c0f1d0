//! Converts values to JSON and back. Rhai's own functions accept only object maps, and write tensors as invalid JSON.

use super::Scripted;
use super::fault;
use super::native::add_calling;
use super::runtime::Runtime;
use super::values::{is_ours, to_dynamic, to_value};
use rhai::{Array, Dynamic, ImmutableString, Map, Module, NativeCallContext};
use std::any::TypeId;
use std::rc::Rc;
use tensor::{Error, Result, bail, interrupt, limits};
use value::Value;

/// The maximum depth of nested arrays and objects.
const MAX_DEPTH: usize = 200;

pub(super) fn register(module: &mut Module, state: &Rc<Runtime>) {
    add_calling(module, state, "parse_json", &[TypeId::of::<ImmutableString>()], true, parse);
    for class in [TypeId::of::<Map>(), TypeId::of::<Array>()] {
        add_calling(module, state, "to_json", &[class], true, write);
    }
}

fn write(_: &Runtime, _: &NativeCallContext, args: &mut [&mut Dynamic]) -> Scripted<Dynamic> {
    let mut text = String::new();
    if let Some(value) = args.first() {
        put(value, &mut text, 0).map_err(fault::thrown)?;
    }
    Ok(text.into())
}

fn put(value: &Dynamic, text: &mut String, depth: usize) -> Result<()> {
    interrupt::check()?;
    if depth > MAX_DEPTH {
        return Err(super::values::too_deep());
    }
    limits::grown_to::<u8>(text.len())?;
    if is_ours(value) {
        let value = to_value(value)?;
        let items = match &value {
            Value::Size(_) | Value::Tuple(_) | Value::NamedTuple(_) | Value::List(_) => value.sequence(),
            _ => None,
        };
        return match items {
            Some(items) => put(&items.into_iter().map(to_dynamic).collect::<Array>().into(), text, depth),
            None => bail!(TypeError, "Object of type {} is not JSON serializable", value.type_name()),
        };
    }
    if let Some(array) = value.read_lock::<Array>() {
        text.push('[');
        for (at, item) in array.iter().enumerate() {
            text.push_str(if at > 0 { "," } else { "" });
            put(item, text, depth + 1)?;
        }
        text.push(']');
    } else if let Some(map) = value.read_lock::<Map>() {
        text.push('{');
        for (at, (key, item)) in map.iter().enumerate() {
            text.push_str(if at > 0 { "," } else { "" });
            put_text(key, text);
            text.push(':');
            put(item, text, depth + 1)?;
        }
        text.push('}');
    } else if value.is_unit() {
        text.push_str("null");
    } else if let Ok(truth) = value.as_bool() {
        text.push_str(if truth { "true" } else { "false" });
    } else if let Ok(number) = value.as_int() {
        text.push_str(&number.to_string());
    } else if let Ok(number) = value.as_float() {
        if !number.is_finite() {
            bail!(ValueError, "Out of range float values are not JSON compliant");
        }
        text.push_str(&format!("{number:?}"));
    } else if value.is_string() || value.is_char() {
        put_text(&value.to_string(), text);
    } else {
        bail!(TypeError, "Object of type {} is not JSON serializable", fault::python_type(value.type_name()));
    }
    Ok(())
}

fn put_text(value: &str, text: &mut String) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
}

fn parse(_: &Runtime, _: &NativeCallContext, args: &mut [&mut Dynamic]) -> Scripted<Dynamic> {
    let text = args.first().and_then(|text| text.read_lock::<ImmutableString>().map(|text| text.clone()));
    let text = text.unwrap_or_default();
    let mut reader = Reader { text: &text, at: 0 };
    reader.whole().map_err(fault::thrown)
}

/// A JSON reader.
struct Reader<'a> {
    text: &'a str,
    /// The offset of the next byte.
    at: usize,
}

impl Reader<'_> {
    fn whole(&mut self) -> Result<Dynamic> {
        let value = self.value(0)?;
        match self.next_char() {
            None => Ok(value),
            Some(_) => Err(self.expected("the end")),
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips white space and returns the next character.
    fn next_char(&mut self) -> Option<char> {
        let blank = self.rest().find(|c| !matches!(c, ' ' | '\t' | '\r' | '\n')).unwrap_or(self.rest().len());
        self.at += blank;
        self.rest().chars().next()
    }

    /// Skips `wanted`, and returns whether it came next.
    fn skip(&mut self, wanted: char) -> bool {
        let is_next = self.next_char() == Some(wanted);
        self.at += if is_next { wanted.len_utf8() } else { 0 };
        is_next
    }

    fn expected(&self, what: &str) -> Error {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Error::value(format!("parse_json() expects {what} at line {line}, column {column} of the text"))
    }

    fn value(&mut self, depth: usize) -> Result<Dynamic> {
        interrupt::check()?;
        if depth > MAX_DEPTH {
            return Err(super::values::too_deep());
        }
        match self.next_char() {
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            Some('"') => self.string().map(Dynamic::from),
            Some('-' | '0'..='9') => self.number(),
            _ => {
                let words = [("null", Dynamic::UNIT), ("true", true.into()), ("false", false.into())];
                match words.into_iter().find(|(word, _)| self.rest().starts_with(word)) {
                    Some((word, value)) => {
                        self.at += word.len();
                        Ok(value)
                    }
                    None => Err(self.expected("a value")),
                }
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Dynamic> {
        self.skip('{');
        let mut map = Map::new();
        if self.skip('}') {
            return Ok(map.into());
        }
        loop {
            if self.next_char() != Some('"') {
                return Err(self.expected("a key in quotes"));
            }
            let key = self.string()?;
            if !self.skip(':') {
                return Err(self.expected("':'"));
            }
            map.insert(key.as_str().into(), self.value(depth + 1)?);
            if self.skip('}') {
                return Ok(map.into());
            }
            if !self.skip(',') {
                return Err(self.expected("',' or '}'"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Dynamic> {
        self.skip('[');
        let mut array = Array::new();
        if self.skip(']') {
            return Ok(array.into());
        }
        loop {
            array.push(self.value(depth + 1)?);
            if self.skip(']') {
                return Ok(array.into());
            }
            if !self.skip(',') {
                return Err(self.expected("',' or ']'"));
            }
        }
    }

    fn number(&mut self) -> Result<Dynamic> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        let word = self.rest().get(..length).unwrap_or_default();
        let digits = word.strip_prefix('-').unwrap_or(word);
        let mut leading = digits.chars();
        let (first, second) = (leading.next(), leading.next());
        let is_padded = first == Some('0') && second.is_some_and(|c| c.is_ascii_digit());
        let is_bare_point = digits.ends_with('.') || digits.contains(".e") || digits.contains(".E");
        let is_plain = first.is_some_and(|c| c.is_ascii_digit()) && !is_padded && !is_bare_point;
        // An integer of more than 64 bits becomes a float, like in a script.
        let number = word.parse().map(|number: i64| Dynamic::from(number)).ok();
        let number = number.or_else(|| word.parse().map(|number: f64| Dynamic::from(number)).ok());
        match number.filter(|_| is_plain) {
            Some(number) => {
                self.at += length;
                Ok(number)
            }
            None => Err(self.expected("a number")),
        }
    }

    fn string(&mut self) -> Result<ImmutableString> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else { return Err(self.expected("'\"'")) };
            if c != '"' && c.is_control() {
                return Err(self.expected("an escaped control character"));
            }
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(text.into()),
                '\\' => text.push(self.escaped()?),
                c => text.push(c),
            }
        }
    }

    fn escaped(&mut self) -> Result<char> {
        let Some(c) = self.rest().chars().next() else { return Err(self.expected("an escape")) };
        let meant = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(),
            _ => return Err(self.expected("an escape")),
        };
        self.at += c.len_utf8();
        Ok(meant)
    }

    /// Reads `u00e9`, or a pair of these for a character beyond 16 bits.
    fn unicode(&mut self) -> Result<char> {
        let first = self.four_digits()?;
        let code = match first {
            0xD800..=0xDBFF if self.rest().starts_with("\\u") => {
                self.at += 1;
                let second = self.four_digits()?;
                if !(0xDC00..=0xDFFF).contains(&second) {
                    return Err(self.expected("a high surrogate before this"));
                }
                0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| self.expected("a low surrogate"))
    }

    fn four_digits(&mut self) -> Result<u32> {
        let digits = self.rest().get(1..5).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(code) => {
                self.at += 5;
                Ok(code)
            }
            None => Err(self.expected("four hexadecimal digits")),
        }
    }
}
