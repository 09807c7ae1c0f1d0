//! Methods of Python's strings, and the builtins that write numbers as text.

use super::bounds;
use super::numbers::index;
use super::subscript;
use crate::bail;
use crate::call::{Call, Row, function, method};
use crate::tensor::interrupt::watched;
use crate::tensor::{Error, Result};
use crate::value::Value;

pub const ROWS: &[Row] = &[
    method("upper(str self) -> str", |c| text(c, |s| s.to_uppercase()), "Converts to capital letters."),
    method("lower(str self) -> str", |c| text(c, |s| s.to_lowercase()), "Converts to small letters."),
    method("title(str self) -> str", |c| text(c, title), "Capitalizes each word."),
    method("capitalize(str self) -> str", |c| text(c, capitalize), "Capitalizes the first letter."),
    method("strip(str self, str? chars=None) -> str", |c| strip(c, true, true), "Removes the blanks around the text."),
    method(
        "lstrip(str self, str? chars=None) -> str",
        |c| strip(c, true, false),
        "Removes the blanks before the text.",
    ),
    method(
        "rstrip(str self, str? chars=None) -> str",
        |c| strip(c, false, true),
        "Removes the blanks behind the text.",
    ),
    method("split(str self, str? sep=None, int maxsplit=-1) -> any", split, "Splits the text at separators."),
    method(
        "splitlines(str self) -> any",
        |c| Ok(Value::list(c.str(0)?.lines().map(Value::str))),
        "Splits the text into lines.",
    ),
    method("join(str self, any iterable) -> str", join, "Joins texts with this one between them."),
    method("replace(str self, str old, str new, int count=-1) -> str", replace, "Replaces one text with another."),
    method(
        "startswith(str self, str prefix) -> bool",
        |c| Ok(Value::Bool(c.str(0)?.starts_with(c.str(1)?))),
        "Returns whether the text begins with another.",
    ),
    method(
        "endswith(str self, str suffix) -> bool",
        |c| Ok(Value::Bool(c.str(0)?.ends_with(c.str(1)?))),
        "Returns whether the text ends with another.",
    ),
    method(
        "find(str self, str sub) -> int",
        |c| Ok(Value::Int(position(c)?.map_or(-1, |i| i as i64))),
        "Returns the position of a text's first occurrence, or -1.",
    ),
    method(
        "index(str self, str sub) -> int",
        |c| match position(c)? {
            Some(i) => Ok(Value::Int(i as i64)),
            None => bail!(ValueError, "substring not found"),
        },
        "Returns the position of a text's first occurrence.",
    ),
    method(
        "count(str self, str sub) -> int",
        |c| Ok(Value::Int(c.str(0)?.matches(c.str(1)?).count() as i64)),
        "Counts how often a text occurs.",
    ),
    method(
        "isdigit(str self) -> bool",
        |c| all(c, |ch| ch.is_ascii_digit()),
        "Returns whether the text is made of digits.",
    ),
    method(
        "isalpha(str self) -> bool",
        |c| all(c, char::is_alphabetic),
        "Returns whether the text is made of letters.",
    ),
    method("swapcase(str self) -> str", |c| text(c, swapcase), "Swaps capital and small letters."),
    method(
        "casefold(str self) -> str",
        |c| text(c, |s| s.to_lowercase()),
        "Converts to a form for comparing without case.",
    ),
    method("isupper(str self) -> bool", |c| cased(c, char::is_lowercase), "Returns whether all letters are capitals."),
    method("islower(str self) -> bool", |c| cased(c, char::is_uppercase), "Returns whether all letters are small."),
    method(
        "isalnum(str self) -> bool",
        |c| all(c, char::is_alphanumeric),
        "Returns whether the text is made of letters and digits.",
    ),
    method(
        "isnumeric(str self) -> bool",
        |c| all(c, char::is_numeric),
        "Returns whether the text is made of numerals.",
    ),
    method("partition(str self, str sep) -> any", |c| partition(c, false), "Splits the text at the first separator."),
    method("rpartition(str self, str sep) -> any", |c| partition(c, true), "Splits the text at the last separator."),
    method(
        "removeprefix(str self, str prefix) -> str",
        |c| {
            let (text, prefix) = (c.str(0)?, c.str(1)?);
            Ok(Value::str(text.strip_prefix(prefix).unwrap_or(text)))
        },
        "Removes a beginning.",
    ),
    method(
        "removesuffix(str self, str suffix) -> str",
        |c| {
            let (text, suffix) = (c.str(0)?, c.str(1)?);
            Ok(Value::str(text.strip_suffix(suffix).unwrap_or(text)))
        },
        "Removes an ending.",
    ),
    method(
        "rfind(str self, str sub) -> int",
        |c| {
            let (text, part) = (c.str(0)?, c.str(1)?);
            let found = text.rfind(part).map(|at| text.get(..at).unwrap_or_default().chars().count());
            Ok(Value::Int(found.map_or(-1, |at| at as i64)))
        },
        "Returns the position of a text's last occurrence, or -1.",
    ),
    method(
        "rsplit(str self, str? sep=None, int maxsplit=-1) -> any",
        rsplit,
        "Splits the text at separators, counted from the end.",
    ),
    method("isspace(str self) -> bool", |c| all(c, char::is_whitespace), "Returns whether the text is made of blanks."),
    method("zfill(str self, int width) -> str", zfill, "Pads with zeros before the text, to a width."),
    method(
        "ljust(str self, int width, str fillchar=\" \") -> str",
        |c| pad(c, 0, 1),
        "Pads with blanks behind the text, to a width.",
    ),
    method(
        "rjust(str self, int width, str fillchar=\" \") -> str",
        |c| pad(c, 1, 1),
        "Pads with blanks before the text, to a width.",
    ),
    method(
        "center(str self, int width, str fillchar=\" \") -> str",
        |c| pad(c, 1, 2),
        "Pads with blanks around the text, to a width.",
    ),
    method("format(str self, any[] args) -> str", format, "Replaces {} with the values."),
    function("py.chr(any i) -> str", chr, "Returns the character with a number."),
    function("py.ord(str c) -> int", ord, "Returns the number of a character."),
    function("py.bin(any number) -> str", |c| radix(c, "#b"), "Writes a number in binary digits."),
    function("py.oct(any number) -> str", |c| radix(c, "#o"), "Writes a number in octal digits."),
    function("py.hex(any number) -> str", |c| radix(c, "#x"), "Writes a number in hexadecimal digits."),
];

fn text(call: &Call, change: impl Fn(&str) -> String) -> Result<Value> {
    Ok(Value::str(change(call.str(0)?)))
}

fn swapcase(text: &str) -> String {
    let swapped =
        |c: char| -> String { if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() } };
    text.chars().map(swapped).collect()
}

/// Returns whether there are letters with a case, and none of the wrong one.
fn cased(call: &Call, is_wrong: impl Fn(char) -> bool) -> Result<Value> {
    let text = call.str(0)?;
    let has_case = text.chars().any(|c| c.is_lowercase() || c.is_uppercase());
    Ok(Value::Bool(has_case && !text.chars().any(is_wrong)))
}

fn partition(call: &Call, from_end: bool) -> Result<Value> {
    let (text, separator) = (call.str(0)?, call.str(1)?);
    if separator.is_empty() {
        bail!(ValueError, "empty separator");
    }
    let found = if from_end { text.rsplit_once(separator) } else { text.split_once(separator) };
    let parts = match found {
        Some((before, after)) => [before, separator, after],
        None if from_end => ["", "", text],
        None => [text, "", ""],
    };
    Ok(Value::tuple(parts.into_iter().map(Value::str)))
}

fn rsplit(call: &mut Call) -> Result<Value> {
    let Ok(most) = usize::try_from(call.int(2)?) else { return split(call) };
    let text = call.str(0)?;
    let mut parts: Vec<&str> = match call.is_none(1) {
        true => {
            let (mut parts, mut rest) = (Vec::new(), text.trim_end());
            while !rest.is_empty() && parts.len() < most {
                let at = rest
                    .rfind(char::is_whitespace)
                    .map_or(0, |at| at + rest.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
                let (before, part) = rest.split_at(at);
                parts.push(part);
                rest = before.trim_end();
            }
            if !rest.is_empty() {
                parts.push(rest);
            }
            parts
        }
        false if call.str(1)?.is_empty() => bail!(ValueError, "empty separator"),
        false => text.rsplitn(most.saturating_add(1), call.str(1)?).collect(),
    };
    parts.reverse();
    Ok(Value::list(parts.into_iter().map(Value::str)))
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    first + chars.as_str().to_lowercase().as_str()
}

fn title(text: &str) -> String {
    let mut inside = false;
    let letter = |c: char| {
        let cased: String = if inside { c.to_lowercase().collect() } else { c.to_uppercase().collect() };
        inside = c.is_alphabetic();
        cased
    };
    text.chars().map(letter).collect()
}

fn strip(call: &mut Call, left: bool, right: bool) -> Result<Value> {
    let chars: Option<Vec<char>> = if call.is_none(1) { None } else { Some(call.str(1)?.chars().collect()) };
    let doomed = |c: char| chars.as_ref().map_or(c.is_whitespace(), |chars| chars.contains(&c));
    let text = call.str(0)?;
    let text = if left { text.trim_start_matches(doomed) } else { text };
    Ok(Value::str(if right { text.trim_end_matches(doomed) } else { text }))
}

fn split(call: &mut Call) -> Result<Value> {
    let most = usize::try_from(call.int(2)?).unwrap_or(usize::MAX).saturating_add(1);
    let text = call.str(0)?;
    if call.is_none(1) {
        let mut parts = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let end =
                if parts.len() + 1 == most { rest.len() } else { rest.find(char::is_whitespace).unwrap_or(rest.len()) };
            let (part, after) = rest.split_at(end);
            parts.push(Value::str(part));
            rest = after.trim_start();
        }
        return Ok(Value::list(parts));
    }
    match call.str(1)? {
        "" => bail!(ValueError, "empty separator"),
        separator => Ok(Value::list(text.splitn(most, separator).map(Value::str))),
    }
}

fn join(call: &mut Call) -> Result<Value> {
    let mut parts = Vec::new();
    for (i, item) in watched(subscript::items(call.state, &call.value(1))?).enumerate() {
        match item {
            Value::Str(part) => parts.push(part),
            other => bail!(TypeError, "sequence item {i}: expected str instance, {} found", other.type_name()),
        }
    }
    bounds::joined(&parts, call.str(0)?).map(Value::str)
}

fn replace(call: &mut Call) -> Result<Value> {
    let (text, old, new) = (call.str(0)?, call.str(1)?, call.str(2)?);
    let most = usize::try_from(call.int(3)?).unwrap_or(usize::MAX);
    bounds::replaced(text, old, new, most).map(Value::str)
}

/// Finds the second text in the first, in characters.
fn position(call: &Call) -> Result<Option<usize>> {
    let text = call.str(0)?;
    Ok(text.find(call.str(1)?).map(|at| text.get(..at).unwrap_or_default().chars().count()))
}

fn all(call: &Call, is: impl Fn(char) -> bool) -> Result<Value> {
    let text = call.str(0)?;
    Ok(Value::Bool(!text.is_empty() && text.chars().all(is)))
}

/// Counts the characters missing to a width.
fn lacking(call: &Call) -> Result<usize> {
    Ok(usize::try_from(call.int(1)?).unwrap_or(0).saturating_sub(call.str(0)?.chars().count()))
}

fn zfill(call: &mut Call) -> Result<Value> {
    let zeros = bounds::repeated("0", lacking(call)?)?;
    let text = call.str(0)?;
    let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
    bounds::joined(&[sign, &zeros, digits], "").map(Value::str)
}

/// The padding, this share of it before the text.
fn pad(call: &mut Call, part: usize, of: usize) -> Result<Value> {
    let fill = call.str(2)?;
    if fill.chars().count() != 1 {
        bail!(TypeError, "The fill character must be exactly one character long");
    }
    let lacking = lacking(call)?;
    // Of an odd number, a centred text has the larger half before it if its width is odd, as Python has it.
    let extra = if of == 2 { lacking & call.int(1)? as usize & 1 } else { 0 };
    let before = lacking / of * part + (lacking % of) * part / of + extra;
    let (before, after) = (bounds::repeated(fill, before)?, bounds::repeated(fill, lacking - before)?);
    bounds::joined(&[&before, call.str(0)?, &after], "").map(Value::str)
}

/// `"{} {1:.2f}".format(a, b)`
fn format(call: &mut Call) -> Result<Value> {
    let pattern = call.str(0)?.to_string();
    let args = subscript::items(call.state, &call.value(1))?;
    let (mut out, mut rest, mut next) = (String::new(), pattern.as_str(), 0);
    while let Some(at) = rest.find(['{', '}']) {
        let (before, after) = rest.split_at(at);
        out += before;
        if after.starts_with("{{") || after.starts_with("}}") {
            out += after.get(..1).unwrap_or_default();
            rest = after.get(2..).unwrap_or_default();
            continue;
        }
        let Some((field, after)) = after.strip_prefix('{').and_then(|field| field.split_once('}')) else {
            bail!(ValueError, "Single '{}' encountered in format string", after.get(..1).unwrap_or_default())
        };
        rest = after;
        let (name, spec) = field.split_once(':').unwrap_or((field, ""));
        let (name, is_repr) = name.strip_suffix("!r").map_or((name, false), |name| (name, true));
        let index = if name.is_empty() {
            next += 1;
            next - 1
        } else {
            name.parse().map_err(|_| Error::new(crate::tensor::ErrorKind::KeyError, format!("'{name}'")))?
        };
        let Some(value) = args.get(index) else {
            bail!(IndexError, "Replacement index {index} out of range for positional args tuple")
        };
        let value = if is_repr { Value::str(call.state.repr(value)?) } else { value.clone() };
        out += &call.state.with_formatter(|f| f.format(&value, spec))?;
        bounds::room_for_text(out.len())?;
    }
    Ok(Value::str(out + rest))
}

fn chr(call: &mut Call) -> Result<Value> {
    let code = match index(&call.value(0))? {
        Value::Int(code) if i32::try_from(code).is_ok() => u32::try_from(code).ok(),
        _ => bail!(OverflowError, "Python int too large to convert to C int"),
    };
    let c = code.and_then(char::from_u32);
    c.map(|c| Value::str(c.to_string())).ok_or_else(|| Error::value("chr() arg not in range(0x110000)"))
}

fn ord(call: &mut Call) -> Result<Value> {
    let mut chars = call.str(0)?.chars();
    match (chars.next(), chars.count()) {
        (Some(c), 0) => Ok(Value::Int(i64::from(u32::from(c)))),
        (_, more) => {
            let length = if call.str(0)?.is_empty() { 0 } else { more + 1 };
            bail!(TypeError, "ord() expected a character, but string of length {length} found")
        }
    }
}

/// A whole number in the digits that a format says.
fn radix(call: &mut Call, spec: &str) -> Result<Value> {
    let number = index(&call.value(0))?;
    call.state.with_formatter(|f| f.format(&number, spec)).map(Value::str)
}
