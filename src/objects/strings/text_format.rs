//! `"{} {name.part:{width}}".format(…)`: fields in braces, by CPython's rules and in its words. The formatter writes
//! the values; `members.rs` and `subscript.rs` look up attributes and items.

use crate::bounds;
use crate::identity::escaped;
use crate::members;
use crate::methods::Given;
use crate::subscript;
use tensor::{Error, ErrorKind, Result, bail, interrupt};
use value::Value;

/// The values of the fields.
struct Source<'a> {
    given: &'a Given<'a>,
    /// The mapping of `format_map`, which has no positional values.
    map: Option<Value>,
    /// The number of the next field without a number; `None` before the first.
    next: Option<usize>,
    /// Whether there was a field with a number.
    numbered: bool,
}

/// `text.format(*args, **keywords)`
///
/// # Errors
/// ValueError for an invalid format string; errors of looking up a value.
pub(crate) fn format(text: &str, given: &Given) -> Result<Value> {
    let mut source = Source { given, map: None, next: None, numbered: false };
    source.build(text, 2).map(Value::str)
}

/// `text.format_map(mapping)`
///
/// # Errors
/// Those of [`fn@format`].
pub(crate) fn format_map(text: &str, given: &Given) -> Result<Value> {
    let mut source = Source { given, map: Some(given.at(0)), next: None, numbered: false };
    source.build(text, 2).map(Value::str)
}

/// A parsed field: its name, conversion letter and format specification.
struct Field<'t> {
    name: &'t str,
    conversion: Option<char>,
    spec: &'t str,
}

/// Splits off the first character.
fn next(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    chars.next().map(|c| (c, chars.as_str()))
}

/// Parses the field after an opening brace. Returns the remaining text too.
fn field(text: &str) -> Result<(Field<'_>, &str)> {
    let (mut rest, mut end) = (text, None);
    while let Some((c, after)) = next(rest) {
        let at = text.len() - rest.len();
        rest = after;
        match c {
            '{' => bail!(ValueError, "unexpected '{{' in field name"),
            // Brackets may contain any key.
            '[' => rest = rest.find(']').and_then(|at| rest.get(at..)).unwrap_or_default(),
            '}' | ':' | '!' => {
                end = Some((c, at));
                break;
            }
            _ => {}
        }
    }
    let Some((mark, at)) = end else { bail!(ValueError, "expected '}}' before end of string") };
    let mut field = Field { name: text.get(..at).unwrap_or_default(), conversion: None, spec: "" };
    if mark == '}' {
        return Ok((field, rest));
    }
    if mark == '!' {
        let Some((letter, after)) = next(rest) else {
            bail!(ValueError, "end of string while looking for conversion specifier")
        };
        field.conversion = Some(letter);
        rest = after;
        match next(rest) {
            Some(('}', after)) => return Ok((field, after)),
            Some((':', after)) => rest = after,
            Some(_) => bail!(ValueError, "expected ':' after conversion specifier"),
            None => {}
        }
    }
    let mut depth = 1;
    for (at, c) in rest.char_indices() {
        depth = match c {
            '{' => depth + 1,
            '}' => depth - 1,
            _ => depth,
        };
        if depth == 0 {
            field.spec = rest.get(..at).unwrap_or_default();
            return Ok((field, rest.get(at + 1..).unwrap_or_default()));
        }
    }
    bail!(ValueError, "unmatched '{{' in format spec")
}

/// Parses a name as a number; `None` if it is empty or contains anything but digits.
fn number(name: &str) -> Result<Option<usize>> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    match name.parse::<i64>() {
        Ok(number) => Ok(usize::try_from(number).ok()),
        Err(_) => bail!(ValueError, "Too many decimal digits in format string"),
    }
}

impl Source<'_> {
    fn build(&mut self, text: &str, depth: usize) -> Result<String> {
        let Some(depth) = depth.checked_sub(1) else { bail!(ValueError, "Max string recursion exceeded") };
        let (mut out, mut rest, mut turn) = (String::new(), text, 0);
        while let Some(at) = rest.find(['{', '}']) {
            interrupt::check_at(turn)?;
            turn += 1;
            let (before, after) = rest.split_at(at);
            out.push_str(before);
            let (brace, after) = next(after).unwrap_or(('{', ""));
            match (brace, next(after)) {
                (brace, Some((second, after))) if brace == second => {
                    out.push(brace);
                    rest = after;
                    continue;
                }
                ('{', Some(_)) => {}
                _ => bail!(ValueError, "Single '{brace}' encountered in format string"),
            }
            let (field, after) = field(after)?;
            rest = after;
            let value = self.value(field.name)?;
            let state = self.given.state;
            let value = match field.conversion {
                None => value,
                Some('r') => Value::str(state.repr(&value)?),
                Some('s') => Value::str(state.str(&value)?),
                Some('a') => Value::str(escaped(&state.repr(&value)?)),
                Some(letter @ '!'..='~') => bail!(ValueError, "Unknown conversion specifier {letter}"),
                Some(letter) => bail!(ValueError, "Unknown conversion specifier \\x{:x}", u32::from(letter)),
            };
            let inner = field.spec.contains('{').then(|| self.build(field.spec, depth)).transpose()?;
            let spec = inner.as_deref().unwrap_or(field.spec);
            out.push_str(&state.with_formatter(|formatter| formatter.format(&value, spec))?);
            bounds::room_for_text(out.len())?;
        }
        Ok(out + rest)
    }

    /// Looks up the value that the name of a field refers to.
    fn value(&mut self, path: &str) -> Result<Value> {
        let (first, mut rest) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
        let mut value = self.first(first)?;
        let state = self.given.state;
        while let Some((mark, after)) = next(rest) {
            let (part, after) = match mark {
                '.' => after.split_at(after.find(['.', '[']).unwrap_or(after.len())),
                '[' => match after.split_once(']') {
                    Some(parts) => parts,
                    None => bail!(ValueError, "Missing ']' in format string"),
                },
                _ => bail!(ValueError, "Only '.' or '[' may follow ']' in format field specifier"),
            };
            if part.is_empty() {
                bail!(ValueError, "Empty attribute in format string");
            }
            value = match mark {
                '.' => members::attribute(state, &value, part)?,
                _ => {
                    let key = number(part)?.map_or_else(|| Value::str(part), |at| Value::Int(at as i64));
                    subscript::item(state, &value, &key)?
                }
            };
            rest = after;
        }
        Ok(value)
    }

    fn first(&mut self, name: &str) -> Result<Value> {
        let numbered = number(name)?;
        if !name.is_empty() && numbered.is_none() {
            let key = Value::str(name);
            return match &self.map {
                Some(map) => subscript::item(self.given.state, map, &key),
                None => match self.given.named(name) {
                    Some(value) => Ok(value.clone()),
                    None => Err(Error::new(ErrorKind::KeyError, self.given.state.repr(&key)?)),
                },
            };
        }
        if numbered.is_some() && self.next.is_some() {
            bail!(ValueError, "cannot switch from automatic field numbering to manual field specification");
        }
        if numbered.is_none() && self.numbered {
            bail!(ValueError, "cannot switch from manual field specification to automatic field numbering");
        }
        let at = numbered.or(self.next).unwrap_or(0);
        match numbered {
            Some(_) => self.numbered = true,
            None => self.next = Some(at + 1),
        }
        if self.map.is_some() {
            bail!(ValueError, "Format string contains positional fields");
        }
        match self.given.args.get(at) {
            Some(value) => Ok(value.clone()),
            None => bail!(IndexError, "Replacement index {at} out of range for positional args tuple"),
        }
    }
}
