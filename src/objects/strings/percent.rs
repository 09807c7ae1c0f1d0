//! `"%d of %.2f" % (a, b)`: formatting by the rules of C's `printf`, as Python extends them. This file pads and aligns;
//! the formatter writes the numbers and strings.

use crate::bounds;
use crate::identity::escaped;
use crate::plain::containers;
use crate::plain::numbers::{float_of_number, int_of, int_of_number};
use crate::plain::special::{float_of, index};
use crate::strings::bytes;
use crate::subscript;
use call::state::State;
use std::iter::Peekable;
use std::str::CharIndices;
use tensor::{Error, ErrorKind, Result, bail, interrupt, limits};
use value::Value;
use value::numbers::{Number, number, truncated};

/// The conversion letters.
const CONVERSIONS: &str = "sracdiuoxXeEfFgG";

/// The flags, width and precision of a conversion.
#[derive(Default)]
struct Layout {
    left: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
}

/// The values to format, read in order or by name.
struct Values<'a> {
    given: &'a Value,
    items: std::vec::IntoIter<Value>,
}

impl Values<'_> {
    fn next(&mut self) -> Result<Value> {
        self.items.next().ok_or_else(|| Error::type_error("not enough arguments for format string"))
    }

    fn named(&self, state: &State, name: &str, in_bytes: bool) -> Result<Value> {
        let name = if in_bytes { bytes::made(&bytes::of_text(name))? } else { Value::str(name) };
        if let Value::Object(object) = self.given
            && let Some(value) = object.special("__getitem__", std::slice::from_ref(&name))
        {
            return value;
        }
        match self.given {
            Value::Dict(dict) => containers::dict_item(state, dict, &name),
            // A subscript of these classes fails with their own error for a string.
            Value::List(_) | Value::Range(_) | Value::Buffer(_) => subscript::item(state, self.given, &name),
            _ => bail!(TypeError, "format requires a mapping"),
        }
    }

    /// Reads the number for an asterisk.
    fn star(&mut self) -> Result<i64> {
        match self.next()? {
            Value::Int(count) => Ok(count),
            Value::Bool(count) => Ok(i64::from(count)),
            Value::BigInt(_) => bail!(OverflowError, "Python int too large to convert to C ssize_t"),
            _ => bail!(TypeError, "* wants int"),
        }
    }
}

/// `pattern % values`. A pattern of bytes has one character for each.
///
/// # Errors
/// TypeError in Python's words for too few or too many values; ValueError for an unknown conversion.
pub fn percent(state: &State, pattern: &str, values: &Value, in_bytes: bool) -> Result<Value> {
    let items = match values {
        Value::Tuple(items) => items.to_vec(),
        single => vec![single.clone()],
    };
    let mut values = Values { given: values, items: items.into_iter() };
    let mut named = false;
    let (mut out, mut chars) = (String::new(), pattern.char_indices().peekable());
    let mut count = 0;
    while let Some((_, c)) = chars.next() {
        count += 1;
        interrupt::check_at(count)?;
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.next_if(|(_, c)| *c == '%').is_some() {
            out.push('%');
            continue;
        }
        let chosen = match chars.next_if(|(_, c)| *c == '(') {
            Some(_) => {
                named = true;
                Some(values.named(state, &name(&mut chars)?, in_bytes)?)
            }
            None => None,
        };
        if chosen.is_some() {
            // After a named value, an asterisk finds no values.
            values.items = Vec::new().into_iter();
        }
        let layout = layout(&mut chars, &mut values)?;
        chars.next_if(|(_, c)| matches!(c, 'h' | 'l' | 'L'));
        let Some((at, letter)) = chars.next() else { bail!(ValueError, "incomplete format") };
        let value = match chosen {
            Some(value) => value,
            None => values.next()?,
        };
        let is_known = CONVERSIONS.contains(letter) || in_bytes && letter == 'b';
        if !is_known {
            let index = pattern.get(..at).unwrap_or_default().chars().count();
            let shown = if (' '..='~').contains(&letter) { letter } else { '?' };
            let code = u32::from(letter);
            bail!(ValueError, "unsupported format character '{shown}' ({code:#x}) at index {index}");
        }
        match letter {
            's' | 'b' | 'r' | 'a' | 'c' if in_bytes => {
                let text = byte_text(state, &value, letter, layout.precision)?;
                pad(&mut out, "", "", &text, &Layout { zeros: false, ..layout })?;
            }
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' if in_bytes && number(&value).is_none() => {
                bail!(TypeError, "float argument required, not {}", value.type_name())
            }
            _ => push(&mut out, state, &value, letter, &layout)?,
        }
        bounds::room_for_text(out.len())?;
    }
    let mapping = match values.given {
        Value::Dict(_) | Value::List(_) | Value::Range(_) => true,
        Value::Buffer(_) => !in_bytes,
        _ => false,
    };
    if !named && !mapping && values.items.next().is_some() {
        let what = if in_bytes { "bytes" } else { "string" };
        bail!(TypeError, "not all arguments converted during {what} formatting");
    }
    Ok(Value::str(out))
}

/// Formats a value for a pattern of bytes.
fn byte_text(state: &State, value: &Value, letter: char, precision: Option<usize>) -> Result<String> {
    let mut text = match (letter, value) {
        ('c', Value::Int(_) | Value::Bool(_) | Value::BigInt(_)) => {
            let code = if let Value::Int(code) = value { u8::try_from(*code).ok() } else { None };
            let out = || Error::new(ErrorKind::OverflowError, "%c arg not in range(256)");
            char::from(code.ok_or_else(out)?).to_string()
        }
        ('c', Value::Buffer(byte)) if byte.len() == 1 => bytes::text(&bytes::raw(byte)?),
        ('c', _) => bail!(TypeError, "%c requires an integer in range(256) or a single byte"),
        ('r' | 'a', _) => escaped(&state.repr(value)?),
        (_, Value::Buffer(part)) => bytes::text(&bytes::raw(part)?),
        (_, Value::Object(object))
            if let Some(Value::Buffer(part)) = object.special("__bytes__", &[]).transpose()? =>
        {
            bytes::text(&bytes::raw(&part)?)
        }
        _ => bail!(
            TypeError,
            "%b requires a bytes-like object, or an object that implements __bytes__, not '{}'",
            value.type_name()
        ),
    };
    if let Some((end, _)) = precision.and_then(|most| text.char_indices().nth(most)) {
        text.truncate(end);
    }
    Ok(text)
}

/// Reads a name in parentheses, which may contain balanced pairs of them.
fn name(chars: &mut Peekable<CharIndices<'_>>) -> Result<String> {
    let (mut name, mut depth) = (String::new(), 1);
    for (_, c) in chars {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(name);
        }
        name.push(c);
    }
    bail!(ValueError, "incomplete format key")
}

fn layout(chars: &mut Peekable<CharIndices<'_>>, values: &mut Values<'_>) -> Result<Layout> {
    let mut layout = Layout::default();
    while let Some((_, flag)) = chars.next_if(|(_, c)| "-+ #0".contains(*c)) {
        match flag {
            '-' => layout.left = true,
            '+' => layout.plus = true,
            ' ' => layout.blank = true,
            '#' => layout.alternate = true,
            _ => layout.zeros = true,
        }
    }
    layout.width = if chars.next_if(|(_, c)| *c == '*').is_some() {
        let width = values.star()?;
        layout.left |= width < 0;
        usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX)
    } else {
        digits(chars, isize::MAX as usize, "width too big")?
    };
    if chars.next_if(|(_, c)| *c == '.').is_some() {
        layout.precision = Some(if chars.next_if(|(_, c)| *c == '*').is_some() {
            limits::count(values.star()?)
        } else {
            digits(chars, i32::MAX as usize, "precision too big")?
        });
    }
    Ok(layout)
}

/// Reads a decimal number; 0 if there are no digits.
fn digits(chars: &mut Peekable<CharIndices<'_>>, most: usize, beyond: &str) -> Result<usize> {
    let mut number = 0usize;
    while let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(10)) {
        chars.next();
        let next = number.checked_mul(10).and_then(|number| number.checked_add(digit as usize));
        number = next.filter(|next| *next <= most).ok_or_else(|| Error::value(beyond))?;
    }
    Ok(number)
}

/// Formats one value and appends it.
fn push(out: &mut String, state: &State, value: &Value, letter: char, layout: &Layout) -> Result<()> {
    let format = |value: &Value, spec: &str| state.with_formatter(|f| f.format(value, spec));
    let hash = if layout.alternate { "#" } else { "" };
    let text = match letter {
        's' | 'r' | 'a' => {
            let text = match letter {
                's' => state.str(value)?,
                'r' => state.repr(value)?,
                _ => escaped(&state.repr(value)?),
            };
            let shown = layout
                .precision
                .map_or(text.len(), |most| text.char_indices().nth(most).map_or(text.len(), |(at, _)| at));
            return pad(out, "", "", text.get(..shown).unwrap_or_default(), &Layout { zeros: false, ..*layout });
        }
        'c' => {
            let text = match value {
                Value::Str(text) if text.chars().count() == 1 => text.to_string(),
                Value::Int(_) | Value::BigInt(_) | Value::Bool(_) => character(value)?.to_string(),
                _ => bail!(TypeError, "%c requires int or char"),
            };
            return pad(out, "", "", &text, &Layout { zeros: false, ..*layout });
        }
        'd' | 'i' | 'u' => {
            let whole = match (number(value), value) {
                (_, Value::Tensor(_)) => int_of_number(value)?,
                (Some(Number::Float(float)), _) => truncated(float)?,
                (None, Value::Object(object)) if let Some(whole) = int_of(object) => whole?,
                (Some(Number::Complex(_)) | None, other) => {
                    bail!(TypeError, "%{letter} format: a real number is required, not {}", other.type_name())
                }
                (Some(number), _) => Value::from(number),
            };
            format(&whole, "d")?
        }
        'o' | 'x' | 'X' => {
            let whole = match (number(value), value) {
                (Some(number @ (Number::Int(_) | Number::Big(_))), _) => Value::from(number),
                (None, Value::Object(object)) if object.special("__index__", &[]).is_some() => index(value)?,
                (_, Value::Tensor(tensor)) if tensor.borrow().dtype.is_integral(true) => index(value)?,
                _ => bail!(TypeError, "%{letter} format: an integer is required, not {}", value.type_name()),
            };
            format(&whole, &format!("{hash}{letter}"))?
        }
        _ => {
            let float = match (number(value), value) {
                (_, Value::Tensor(_)) => float_of_number(value)?,
                (None, Value::Object(object)) if let Some(float) = float_of(object) => float?,
                (Some(Number::Complex(_)) | None, other) => {
                    bail!(TypeError, "must be real number, not {}", other.type_name())
                }
                (Some(number), _) => number.to_float()?,
            };
            let precision = layout.precision.unwrap_or(6);
            format(&Value::Float(float), &format!("{hash}.{precision}{letter}"))?
        }
    };
    let (negative, text) = text.strip_prefix('-').map_or((false, text.as_str()), |text| (true, text));
    let sign = match negative {
        true => "-",
        false if layout.plus => "+",
        false if layout.blank => " ",
        false => "",
    };
    let prefixed = layout.alternate && matches!(letter, 'o' | 'x' | 'X');
    let (prefix, digits) = text.split_at_checked(if prefixed { 2 } else { 0 }).unwrap_or(("", text));
    // For integers, the precision is the minimum number of digits.
    let least = if "diuoxX".contains(letter) { layout.precision.unwrap_or(0) } else { 0 };
    limits::room(least)?;
    let zeros = "0".repeat(least.saturating_sub(digits.len()));
    pad(out, &format!("{sign}{prefix}"), &zeros, digits, layout)
}

/// Returns the character with a code point.
fn character(value: &Value) -> Result<char> {
    let code = match value {
        Value::Int(code) => u32::try_from(*code).ok(),
        Value::Bool(code) => Some(u32::from(*code)),
        _ => None,
    };
    code.and_then(char::from_u32).ok_or_else(|| Error::new(ErrorKind::OverflowError, "%c arg not in range(0x110000)"))
}

/// Appends text padded to the width. Zeros go between the sign and the digits.
fn pad(out: &mut String, sign: &str, zeros: &str, text: &str, layout: &Layout) -> Result<()> {
    let taken = sign.len() + zeros.len() + text.chars().count();
    let padding =
        bounds::repeated(if layout.zeros && !layout.left { "0" } else { " " }, layout.width.saturating_sub(taken))?;
    let parts = match (layout.left, layout.zeros) {
        (true, _) => [sign, zeros, text, &padding],
        (false, true) => [sign, &padding, zeros, text],
        (false, false) => [&padding, sign, zeros, text],
    };
    parts.into_iter().for_each(|part| out.push_str(part));
    Ok(())
}
