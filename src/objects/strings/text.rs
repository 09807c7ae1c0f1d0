//! Methods of Python's strings, and the builtins between numbers and text. See `container_methods.rs`.

use crate::bounds;
use crate::iterate::{is_not_iterable, iterate};
use crate::methods::{ContainerMethod, Given, parsed, takes};
use crate::plain::numbers::size;
use crate::plain::special::index;
use crate::strings::bytes;
use crate::strings::characters::{
    decimal, ends_line, is_cased, is_digit, is_letter, is_numeric, is_of_name, is_space, is_title, push_folded,
    push_title,
};
use crate::strings::{codecs, text_format};
use crate::subscript;
use call::{Call, Row, function};
use explain::format::is_printable;
use tensor::bail;
use tensor::interrupt::watched;
use tensor::{Error, ErrorKind, Result, interrupt, limits};
use value::{Dict, Text, Value};

pub(crate) const ROWS: &[Row] = &[
    function("py.chr(any i) -> str", chr, "Returns the character with a number."),
    function("py.ord(any c) -> int", ord, "Returns the number of a character."),
    function("py.bin(any number) -> str", |c| radix(c, "#b"), "Writes a number in binary digits."),
    function("py.oct(any number) -> str", |c| radix(c, "#o"), "Writes a number in octal digits."),
    function("py.hex(any number) -> str", |c| radix(c, "#x"), "Writes a number in hexadecimal digits."),
];

type Method = ContainerMethod<Text>;

/// A method that maps a string to another.
macro_rules! made {
    ($name:literal, $change:expr, $doc:literal) => {
        takes($name, (0, 0), |text, _| Ok(Value::str($change(text))), $doc)
    };
}

/// A method that tests whether a string is not empty and all its characters are of one kind.
macro_rules! all {
    ($name:literal, $is:expr, $doc:literal) => {
        takes($name, (0, 0), |text, _| Ok(Value::Bool(!text.is_empty() && watched(text.chars()).all($is))), $doc)
    };
}

pub(crate) const METHODS: &[Method] = &[
    made!("upper", str::to_uppercase, "Converts to capital letters."),
    made!("lower", str::to_lowercase, "Converts to small letters."),
    made!("title", title, "Capitalizes each word."),
    made!("capitalize", capitalize, "Capitalizes the first letter."),
    made!("swapcase", swapcase, "Swaps capital and small letters."),
    made!("casefold", |text| folded(text, push_folded), "Converts to a form for comparing without case."),
    takes("strip", (0, 1), |text, given| strip(text, given, "strip"), "Removes the blanks around the text."),
    takes("lstrip", (0, 1), |text, given| strip(text, given, "lstrip"), "Removes the blanks before the text."),
    takes("rstrip", (0, 1), |text, given| strip(text, given, "rstrip"), "Removes the blanks behind the text."),
    parsed("split", (0, 2), &["sep", "maxsplit"], split, "Splits the text at separators."),
    parsed("rsplit", (0, 2), &["sep", "maxsplit"], rsplit, "Splits the text at separators, counted from the end."),
    parsed("splitlines", (0, 1), &["keepends"], splitlines, "Splits the text into lines."),
    takes("join", (1, 1), join, "Joins texts with this one between them."),
    takes("replace", (2, 3), replace, "Replaces one text with another."),
    takes("partition", (1, 1), |text, given| partition(text, given, false), "Splits the text at the first separator."),
    takes("rpartition", (1, 1), |text, given| partition(text, given, true), "Splits the text at the last separator."),
    takes(
        "removeprefix",
        (1, 1),
        |text, given| {
            let prefix = given.str(0, "removeprefix() argument must be str")?;
            Ok(Value::str(text.strip_prefix(prefix).unwrap_or(text)))
        },
        "Removes a beginning.",
    ),
    takes(
        "removesuffix",
        (1, 1),
        |text, given| {
            let suffix = given.str(0, "removesuffix() argument must be str")?;
            Ok(Value::str(text.strip_suffix(suffix).unwrap_or(text)))
        },
        "Removes an ending.",
    ),
    parsed(
        "startswith",
        (1, 3),
        &[],
        |text, given| has_end(text, given, "startswith", |text, end| text.starts_with(end)),
        "Returns whether the text begins with another, or with one of several.",
    ),
    parsed(
        "endswith",
        (1, 3),
        &[],
        |text, given| has_end(text, given, "endswith", |text, end| text.ends_with(end)),
        "Returns whether the text ends with another, or with one of several.",
    ),
    parsed(
        "find",
        (1, 3),
        &[],
        |text, given| Ok(Value::Int(place(text, given, false)?.unwrap_or(-1))),
        "Returns the position of a text's first occurrence, or -1.",
    ),
    parsed(
        "rfind",
        (1, 3),
        &[],
        |text, given| Ok(Value::Int(place(text, given, true)?.unwrap_or(-1))),
        "Returns the position of a text's last occurrence, or -1.",
    ),
    parsed(
        "index",
        (1, 3),
        &[],
        |text, given| found(place(text, given, false)?),
        "Returns the position of a text's first occurrence.",
    ),
    parsed(
        "rindex",
        (1, 3),
        &[],
        |text, given| found(place(text, given, true)?),
        "Returns the position of a text's last occurrence.",
    ),
    parsed(
        "count",
        (1, 3),
        &[],
        |text, given| {
            let part = searched(text, given)?;
            let wanted = given.str(0, MUST_BE)?;
            Ok(Value::Int(part.map_or(0, |(part, _)| part.matches(wanted).count() as i64)))
        },
        "Counts how often a text occurs.",
    ),
    all!("isalpha", is_letter, "Returns whether the text is made of letters."),
    all!("isdigit", is_digit, "Returns whether the text is made of digits."),
    all!("isdecimal", |c| decimal(c).is_some(), "Returns whether the text is made of digits of decimal numbers."),
    all!("isnumeric", is_numeric, "Returns whether the text is made of numerals."),
    all!("isalnum", |c| is_letter(c) || is_numeric(c), "Returns whether the text is made of letters and digits."),
    all!("isspace", is_space, "Returns whether the text is made of blanks."),
    takes(
        "isupper",
        (0, 0),
        |text, _| cased(text, |c| c.is_lowercase() || is_title(c)),
        "Returns whether all letters are capitals.",
    ),
    takes(
        "islower",
        (0, 0),
        |text, _| cased(text, |c| c.is_uppercase() || is_title(c)),
        "Returns whether all letters are small.",
    ),
    takes(
        "istitle",
        (0, 0),
        |text, _| Ok(Value::Bool(is_titled(text))),
        "Returns whether each word has one capital, its first letter.",
    ),
    takes("isascii", (0, 0), |text, _| Ok(Value::Bool(text.is_ascii())), "Returns whether all characters are ASCII's."),
    takes(
        "isprintable",
        (0, 0),
        |text, _| Ok(Value::Bool(watched(text.chars()).all(is_printable))),
        "Returns whether all characters are shown as themselves.",
    ),
    takes(
        "isidentifier",
        (0, 0),
        |text, _| {
            Ok(Value::Bool(!text.is_empty() && watched(text.chars().enumerate()).all(|(at, c)| is_of_name(c, at))))
        },
        "Returns whether the text could be a name.",
    ),
    takes("zfill", (1, 1), zfill, "Pads with zeros before the text, to a width."),
    takes("ljust", (1, 2), |text, given| pad(text, given, (0, 1)), "Pads with blanks behind the text, to a width."),
    takes("rjust", (1, 2), |text, given| pad(text, given, (1, 1)), "Pads with blanks before the text, to a width."),
    takes("center", (1, 2), |text, given| pad(text, given, (1, 2)), "Pads with blanks around the text, to a width."),
    parsed("expandtabs", (0, 1), &["tabsize"], expandtabs, "Puts blanks in the place of tabs."),
    takes("translate", (1, 1), translate, "Puts other texts in the place of characters, as a table says."),
    parsed(
        "encode",
        (0, 2),
        &["encoding", "errors"],
        |text, given| {
            let encoding = given.str_option(0, "encode", "encoding")?.unwrap_or("utf-8");
            let errors = given.str_option(1, "encode", "errors")?.unwrap_or("strict");
            bytes::made(&codecs::encode(text, encoding, errors)?)
        },
        "Writes the text as bytes.",
    ),
    ContainerMethod {
        named: true,
        ..takes(
            "format",
            (0, usize::MAX),
            |text, given| text_format::format(text, given),
            "Puts values in the place of fields in braces.",
        )
    },
    takes(
        "format_map",
        (1, 1),
        |text, given| text_format::format_map(text, given),
        "Puts values of a mapping in the place of fields in braces.",
    ),
];

pub(crate) const OF_CLASS: &[ContainerMethod<str>] =
    &[takes("maketrans", (1, 3), maketrans, "Returns a table for translating characters.")];

const MUST_BE: &str = "must be str";

/// Reads an integer that CPython stores in a C `int`.
fn short_size(value: &Value) -> Result<i32> {
    let long = || Error::new(ErrorKind::OverflowError, "Python int too large to convert to C int");
    match index(value)? {
        Value::Int(size) => i32::try_from(size).map_err(|_| long()),
        _ => Err(long()),
    }
}

/// Returns the part of a string between the second and the third argument, and the byte where it begins.
/// Returns `None` if the part ends before it begins.
fn searched<'t>(text: &'t Text, given: &Given) -> Result<Option<(&'t str, usize)>> {
    if given.args.len() < 2 {
        return Ok(Some((text, 0)));
    }
    let Some((start, stop)) = given.span(1, text.characters())? else { return Ok(None) };
    let begin = text.byte_of(start);
    Ok(text.get(begin..text.byte_of(stop)).map(|part| (part, begin)))
}

/// Finds a string in another. Returns its position in characters.
fn place(text: &Text, given: &Given, last: bool) -> Result<Option<i64>> {
    // CPython checks the bounds before the string.
    let part = searched(text, given)?;
    let wanted = given.str(0, MUST_BE)?;
    let Some((part, begin)) = part else { return Ok(None) };
    let at = if last { part.rfind(wanted) } else { part.find(wanted) };
    Ok(at.map(|at| text.characters_before(begin + at) as i64))
}

fn found(place: Option<i64>) -> Result<Value> {
    place.map(Value::Int).ok_or_else(|| Error::value("substring not found"))
}

fn has_end(text: &Text, given: &Given, name: &str, has: fn(&str, &str) -> bool) -> Result<Value> {
    let part = searched(text, given)?.map(|(part, _)| part);
    let test = |end: &str| part.is_some_and(|part| has(part, end));
    match given.at(0) {
        Value::Str(end) => Ok(Value::Bool(test(&end))),
        Value::Tuple(ends) => {
            for end in ends.iter() {
                let Value::Str(end) = end else {
                    bail!(TypeError, "tuple for {name} must only contain str, not {}", end.type_name())
                };
                if test(end) {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        other => bail!(TypeError, "{name} first arg must be str or a tuple of str, not {}", other.type_name()),
    }
}

fn folded(text: &str, push: fn(&mut String, char)) -> String {
    watched(text.chars()).fold(String::with_capacity(text.len()), |mut out, c| {
        push(&mut out, c);
        out
    })
}

fn swapcase(text: &str) -> String {
    folded(text, |out, c| if c.is_uppercase() { out.extend(c.to_lowercase()) } else { out.extend(c.to_uppercase()) })
}

/// Returns whether a string has cased letters, none of them wrong.
fn cased(text: &str, is_wrong: impl Fn(char) -> bool) -> Result<Value> {
    Ok(Value::Bool(text.chars().any(is_cased) && !text.chars().any(is_wrong)))
}

fn is_titled(text: &str) -> bool {
    let (mut inside, mut any) = (false, false);
    for c in text.chars() {
        let begins = c.is_uppercase() || is_title(c);
        // A capital must begin a word, a small letter must not.
        if (begins || c.is_lowercase()) && begins == inside {
            return false;
        }
        inside = begins || c.is_lowercase();
        any |= inside;
    }
    any
}

fn capitalize(text: &str) -> String {
    // Lowercase the whole string: a Greek sigma has another form at the end of a word.
    let small = text.to_lowercase();
    let mut out = String::new();
    let Some(first) = text.chars().next() else { return out };
    push_title(&mut out, first);
    out.extend(small.chars().skip(first.to_lowercase().count()));
    out
}

fn title(text: &str) -> String {
    // Lowercase the whole string: a Greek sigma has another form at the end of a word.
    let small = text.to_lowercase();
    let is_plain = small.chars().count() == text.chars().count();
    let (mut out, mut inside) = (String::with_capacity(text.len()), false);
    let mut small = small.chars();
    for c in watched(text.chars()) {
        let lowered = small.next().filter(|_| is_plain);
        match (inside, lowered) {
            (true, Some(lowered)) => out.push(lowered),
            (true, None) => out.extend(c.to_lowercase()),
            (false, _) => push_title(&mut out, c),
        }
        inside = is_cased(c);
    }
    out
}

fn strip(text: &str, given: &Given, name: &str) -> Result<Value> {
    let chars: Option<Vec<char>> = match given.at(0) {
        Value::None => None,
        Value::Str(chars) => Some(chars.chars().collect()),
        _ => bail!(TypeError, "{name} arg must be None or str"),
    };
    let doomed = |c: char| chars.as_ref().map_or_else(|| is_space(c), |chars| chars.contains(&c));
    let text = if name == "rstrip" { text } else { text.trim_start_matches(doomed) };
    Ok(Value::str(if name == "lstrip" { text } else { text.trim_end_matches(doomed) }))
}

/// Reads the separator and the maximum number of splits.
fn separator<'g>(given: &'g Given) -> Result<(Option<&'g str>, usize)> {
    let most = given.option(1, "maxsplit").map_or(Ok(-1), size)?;
    let separator = match given.option(0, "sep").unwrap_or(&Value::None) {
        Value::None => None,
        Value::Str(separator) if separator.is_empty() => bail!(ValueError, "empty separator"),
        Value::Str(separator) => Some(&**separator),
        other => bail!(TypeError, "must be str or None, not {}", other.type_name()),
    };
    Ok((separator, usize::try_from(most).unwrap_or(usize::MAX - 1)))
}

fn split(text: &Text, given: &Given) -> Result<Value> {
    let (separator, most) = separator(given)?;
    if let Some(separator) = separator {
        return Ok(Value::list(text.splitn(most + 1, separator).map(Value::str)));
    }
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        interrupt::check_at(parts.len())?;
        let end = if parts.len() == most { rest.len() } else { rest.find(is_space).unwrap_or(rest.len()) };
        let (part, after) = rest.split_at(end);
        parts.push(Value::str(part));
        rest = after.trim_start_matches(is_space);
    }
    Ok(Value::list(parts))
}

fn rsplit(text: &Text, given: &Given) -> Result<Value> {
    let (separator, most) = separator(given)?;
    let mut parts = Vec::new();
    if let Some(separator) = separator {
        parts.extend(watched(text.rsplitn(most + 1, separator)).map(Value::str));
    } else {
        let mut rest = text.trim_end_matches(is_space);
        while !rest.is_empty() {
            interrupt::check_at(parts.len())?;
            let part = if parts.len() == most { rest } else { rest.rsplit(is_space).next().unwrap_or(rest) };
            parts.push(Value::str(part));
            rest = rest.get(..rest.len() - part.len()).unwrap_or_default().trim_end_matches(is_space);
        }
    }
    parts.reverse();
    Ok(Value::list(parts))
}

fn splitlines(text: &Text, given: &Given) -> Result<Value> {
    let keep = given.option(0, "keepends").map_or(Ok(0), short_size)? != 0;
    let (mut lines, mut rest) = (Vec::new(), &**text);
    while !rest.is_empty() {
        interrupt::check_at(lines.len())?;
        let end = rest.find(ends_line).unwrap_or(rest.len());
        let after = rest.get(end..).unwrap_or_default();
        let mark = if after.starts_with("\r\n") { 2 } else { after.chars().next().map_or(0, char::len_utf8) };
        lines.push(Value::str(rest.get(..if keep { end + mark } else { end }).unwrap_or_default()));
        rest = rest.get(end + mark..).unwrap_or_default();
    }
    Ok(Value::list(lines))
}

fn join(text: &Text, given: &Given) -> Result<Value> {
    let items = iterate(given.state, &given.at(0)).map_err(|error| match is_not_iterable(&error) {
        true => Error::type_error("can only join an iterable"),
        false => error,
    })?;
    let mut parts = Vec::new();
    for (i, item) in items.collect()?.into_iter().enumerate() {
        interrupt::check_at(i)?;
        match item.underlying().unwrap_or(item) {
            Value::Str(part) => parts.push(part),
            other => bail!(TypeError, "sequence item {i}: expected str instance, {} found", other.type_name()),
        }
    }
    bounds::joined(&parts, text).map(Value::str)
}

fn replace(text: &Text, given: &Given) -> Result<Value> {
    let old = given.str(0, "replace() argument 1 must be str")?;
    let new = given.str(1, "replace() argument 2 must be str")?;
    let most = given.args.get(2).map_or(Ok(-1), size)?;
    bounds::replaced(text, old, new, usize::try_from(most).unwrap_or(usize::MAX)).map(Value::str)
}

fn partition(text: &str, given: &Given, from_end: bool) -> Result<Value> {
    let separator = given.str(0, MUST_BE)?;
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

/// Returns the requested width, and the number of characters that the string lacks.
fn lacking(text: &Text, given: &Given) -> Result<(i64, usize)> {
    let width = size(&given.at(0))?;
    Ok((width, limits::count(width).saturating_sub(text.characters())))
}

fn zfill(text: &Text, given: &Given) -> Result<Value> {
    let zeros = bounds::repeated("0", lacking(text, given)?.1)?;
    let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
    bounds::joined(&[sign, &zeros, digits], "").map(Value::str)
}

/// Pads a string to a width. `part / of` of the padding goes before it.
fn pad(text: &Text, given: &Given, (part, of): (usize, usize)) -> Result<Value> {
    let (width, lacking) = lacking(text, given)?;
    let fill = match given.args.get(1) {
        None => " ",
        Some(_) => given.str(1, "The fill character must be a unicode character")?,
    };
    if fill.chars().count() != 1 {
        bail!(TypeError, "The fill character must be exactly one character long");
    }
    // Like in CPython, the odd character of a centred string's padding goes before it if the width is odd.
    let extra = if of == 2 { lacking & width as usize & 1 } else { 0 };
    let before = lacking / of * part + (lacking % of) * part / of + extra;
    let (before, after) = (bounds::repeated(fill, before)?, bounds::repeated(fill, lacking - before)?);
    bounds::joined(&[&*before, &**text, &*after], "").map(Value::str)
}

fn expandtabs(text: &Text, given: &Given) -> Result<Value> {
    let tab = usize::try_from(given.option(0, "tabsize").map_or(Ok(8), short_size)?).unwrap_or(0);
    bounds::room_for_text(text.len().saturating_add(text.matches('\t').count().saturating_mul(tab)))?;
    let (mut out, mut column) = (String::new(), 0);
    for c in watched(text.chars()) {
        match c {
            '\t' => {
                let blanks = if tab == 0 { 0 } else { tab - column % tab };
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            c => {
                out.push(c);
                column = if matches!(c, '\n' | '\r') { 0 } else { column + 1 };
            }
        }
    }
    Ok(Value::str(out))
}

fn translate(text: &Text, given: &Given) -> Result<Value> {
    let (table, mut out) = (given.at(0), String::new());
    for (i, c) in text.chars().enumerate() {
        interrupt::check_at(i)?;
        match subscript::item(given.state, &table, &Value::Int(i64::from(u32::from(c)))) {
            Ok(Value::None) => {}
            Ok(Value::Str(text)) => out.push_str(&text),
            Ok(code @ (Value::Int(_) | Value::Bool(_) | Value::BigInt(_))) => {
                let c = size(&code).ok().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
                out.push(c.ok_or_else(|| Error::value("character mapping must be in range(0x110000)"))?);
            }
            Ok(_) => bail!(TypeError, "character mapping must return integer, None or str"),
            Err(error)
                if matches!(
                    error.kind,
                    ErrorKind::KeyError | ErrorKind::IndexError | ErrorKind::Other("LookupError")
                ) =>
            {
                out.push(c);
            }
            Err(error) => return Err(error),
        }
        bounds::room_for_text(out.len())?;
    }
    Ok(Value::str(out))
}

fn maketrans(_: &str, given: &Given) -> Result<Value> {
    let table = Dict::default();
    let number = |c: char| Value::Int(i64::from(u32::from(c)));
    if let [map] = given.args {
        let Value::Dict(map) = map else {
            bail!(TypeError, "if you give only one argument to maketrans it must be a dict")
        };
        for (key, value) in map.to_vec() {
            let key = match &key {
                Value::Str(key) => match (key.chars().next(), key.chars().count()) {
                    (Some(c), 1) => number(c),
                    _ => bail!(ValueError, "string keys in translate table must be of length 1"),
                },
                Value::Int(_) | Value::BigInt(_) | Value::Bool(_) => key,
                _ => bail!(TypeError, "keys in translate table must be strings or integers"),
            };
            table.insert(key, value)?;
        }
        return Ok(Value::Dict(table));
    }
    // CPython checks the second argument before the first.
    let to = given.str(1, "maketrans() argument 2 must be str")?;
    let gone = if given.args.len() > 2 { given.str(2, "maketrans() argument 3 must be str")? } else { "" };
    let Some(Value::Str(from)) = given.args.first() else {
        bail!(TypeError, "first maketrans argument must be a string if there is a second argument")
    };
    if from.characters() != to.chars().count() {
        bail!(ValueError, "the first two maketrans arguments must have equal length");
    }
    for (from, to) in watched(from.chars().zip(to.chars())) {
        table.insert(number(from), number(to))?;
    }
    watched(gone.chars()).try_for_each(|c| table.insert(number(c), Value::None))?;
    Ok(Value::Dict(table))
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
    let length = match call.value(0) {
        Value::Str(text) => match (text.chars().next(), text.chars().count()) {
            (Some(c), 1) => return Ok(Value::Int(i64::from(u32::from(c)))),
            (_, length) => length,
        },
        Value::Buffer(buffer) if bytes::is_bytes(&buffer) => match (buffer.item(0), buffer.len()) {
            (Some(byte), 1) => return Ok(Value::from(byte)),
            (_, length) => length,
        },
        other => bail!(TypeError, "ord() expected string of length 1, but {} found", other.type_name()),
    };
    bail!(TypeError, "ord() expected a character, but string of length {length} found")
}

/// Formats an integer in the base that `spec` selects.
fn radix(call: &mut Call, spec: &str) -> Result<Value> {
    let number = index(&call.value(0))?;
    call.state.with_formatter(|f| f.format(&number, spec)).map(Value::str)
}
