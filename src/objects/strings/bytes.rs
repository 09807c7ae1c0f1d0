//! Python's `bytes` and `bytearray`: construction, methods and operators. A method that `str` has too runs on a string
//! with one character for each byte. See `container_methods.rs`.

use crate::bounds;
use crate::iterate::{is_not_iterable, items, iterate};
use crate::methods::{ContainerMethod, Given, parsed, takes};
use crate::plain::numbers::size;
use crate::plain::slices::{as_index, positions, slice_bounds};
use crate::plain::special::index;
use crate::strings::percent::percent;
use crate::strings::{buffers, codecs};
use call::{Call, Row, State, function};
use std::cmp::Ordering;
use tensor::bail;
use tensor::interrupt::watched;
use tensor::{Buffer, BufferKind, Error, Result, Scalar, interrupt, limits};
use value::{Keywords, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "py.bytearray(any source=[], any encoding=None, any errors=None) -> Buffer",
        |c| construct(c, BufferKind::ByteArray),
        "Creates a mutable sequence of bytes.",
    ),
    function(
        "py.bytes(any source=[], any encoding=None, any errors=None) -> Buffer",
        |c| construct(c, BufferKind::Bytes),
        "Creates an immutable sequence of bytes; in Rhai, draws a tensor or storage as show_bytes does.",
    ),
];

type Method = ContainerMethod<Buffer>;

/// The arguments of a method that `str` has too.
#[derive(Clone, Copy)]
enum Wants {
    /// This many bytes-like arguments, then arguments of any class.
    Like(usize),
    /// One optional bytes-like argument.
    Perhaps,
    /// Bytes, or an integer for one byte.
    Sought,
    /// Bytes, or a tuple of them.
    Ends,
    /// A width and a fill byte.
    Fill,
}

/// A method that `str` has too.
macro_rules! of_text {
    ($name:literal, $takes:expr, $wants:expr, $doc:literal) => {
        takes($name, $takes, |bytes, given| as_text(bytes, given, $name, $wants), $doc)
    };
    ($name:literal, $takes:expr, $names:expr, $wants:expr, $doc:literal) => {
        parsed($name, $takes, $names, |bytes, given| as_text(bytes, given, $name, $wants), $doc)
    };
}

const METHODS: &[Method] = &[
    of_text!("upper", (0, 0), Wants::Like(0), "Converts ASCII's letters to capital ones."),
    of_text!("lower", (0, 0), Wants::Like(0), "Converts ASCII's letters to small ones."),
    of_text!("title", (0, 0), Wants::Like(0), "Capitalizes each word."),
    of_text!("capitalize", (0, 0), Wants::Like(0), "Capitalizes the first letter."),
    of_text!("swapcase", (0, 0), Wants::Like(0), "Swaps capital and small letters."),
    of_text!("isalpha", (0, 0), Wants::Like(0), "Returns whether all bytes are letters."),
    of_text!("isdigit", (0, 0), Wants::Like(0), "Returns whether all bytes are digits."),
    of_text!("isalnum", (0, 0), Wants::Like(0), "Returns whether all bytes are letters or digits."),
    of_text!("isspace", (0, 0), Wants::Like(0), "Returns whether all bytes are blanks."),
    of_text!("isupper", (0, 0), Wants::Like(0), "Returns whether all letters are capitals."),
    of_text!("islower", (0, 0), Wants::Like(0), "Returns whether all letters are small."),
    of_text!("istitle", (0, 0), Wants::Like(0), "Returns whether each word has one capital, its first letter."),
    takes(
        "isascii",
        (0, 0),
        |bytes, _| Ok(Value::Bool(raw(bytes)?.is_ascii())),
        "Returns whether all bytes are ASCII's.",
    ),
    of_text!("strip", (0, 1), Wants::Perhaps, "Removes the blanks around the bytes."),
    of_text!("lstrip", (0, 1), Wants::Perhaps, "Removes the blanks before the bytes."),
    of_text!("rstrip", (0, 1), Wants::Perhaps, "Removes the blanks behind the bytes."),
    of_text!("split", (0, 2), &["sep", "maxsplit"], Wants::Perhaps, "Splits the bytes at separators."),
    of_text!("rsplit", (0, 2), &["sep", "maxsplit"], Wants::Perhaps, "Splits at separators, counted from the end."),
    of_text!("splitlines", (0, 1), &["keepends"], Wants::Like(0), "Splits the bytes into lines."),
    of_text!("partition", (1, 1), Wants::Like(1), "Splits the bytes at the first separator."),
    of_text!("rpartition", (1, 1), Wants::Like(1), "Splits the bytes at the last separator."),
    of_text!("replace", (2, 3), Wants::Like(2), "Replaces some bytes with others."),
    of_text!("removeprefix", (1, 1), Wants::Like(1), "Removes a beginning."),
    of_text!("removesuffix", (1, 1), Wants::Like(1), "Removes an ending."),
    of_text!("startswith", (1, 3), &[], Wants::Ends, "Returns whether the bytes begin with others."),
    of_text!("endswith", (1, 3), &[], Wants::Ends, "Returns whether the bytes end with others."),
    of_text!("find", (1, 3), &[], Wants::Sought, "Returns the position of the first occurrence, or -1."),
    of_text!("rfind", (1, 3), &[], Wants::Sought, "Returns the position of the last occurrence, or -1."),
    of_text!("index", (1, 3), &[], Wants::Sought, "Returns the position of the first occurrence."),
    of_text!("rindex", (1, 3), &[], Wants::Sought, "Returns the position of the last occurrence."),
    of_text!("count", (1, 3), &[], Wants::Sought, "Counts how often bytes occur."),
    of_text!("zfill", (1, 1), Wants::Like(0), "Pads with zeros before the bytes, to a width."),
    of_text!("expandtabs", (0, 1), &["tabsize"], Wants::Like(0), "Puts blanks in the place of tabs."),
    of_text!("ljust", (1, 2), Wants::Fill, "Pads with blanks behind the bytes, to a width."),
    of_text!("rjust", (1, 2), Wants::Fill, "Pads with blanks before the bytes, to a width."),
    of_text!("center", (1, 2), Wants::Fill, "Pads with blanks around the bytes, to a width."),
    takes("join", (1, 1), join, "Joins bytes with these between them."),
    parsed("translate", (0, 2), &["", "delete"], translate, "Replaces each byte by a table of 256."),
    parsed("hex", (0, 2), &["sep", "bytes_per_sep"], hex, "Writes each byte in two hexadecimal digits."),
    parsed(
        "decode",
        (0, 2),
        &["encoding", "errors"],
        |bytes, given| {
            let encoding = given.str_option(0, "decode", "encoding")?.unwrap_or("utf-8");
            let errors = given.str_option(1, "decode", "errors")?.unwrap_or("strict");
            codecs::decode(&raw(bytes)?, encoding, errors).map(Value::str)
        },
        "Reads the bytes as text.",
    ),
];

const METHODS_THAT_CHANGE: &[Method] = &[
    takes(
        "append",
        (1, 1),
        |bytes, given| change(bytes, |held| byte(&given.at(0)).map(|byte| held.push(byte))),
        "Adds a byte at the end.",
    ),
    takes(
        "extend",
        (1, 1),
        |bytes, given| {
            let more = match iterate(given.state, &given.at(0)) {
                Err(error) if is_not_iterable(&error) => {
                    bail!(TypeError, "can't extend bytearray with {}", given.at(0).type_name())
                }
                items => items?.collect()?.iter().map(byte).collect::<Result<Vec<u8>>>()?,
            };
            change(bytes, |held| {
                held.extend(more);
                Ok(())
            })
        },
        "Adds bytes at the end.",
    ),
    takes(
        "insert",
        (2, 2),
        |bytes, given| {
            let (at, new) = (size(&given.at(0))?, byte(&given.at(1))?);
            change(bytes, |held| {
                let length = held.len() as i64;
                let place = if at < 0 { at.saturating_add(length).max(0) } else { at.min(length) };
                held.insert(place as usize, new);
                Ok(())
            })
        },
        "Adds a byte before a position.",
    ),
    takes(
        "pop",
        (0, 1),
        |bytes, given| {
            let at = given.args.first().map_or(Ok(-1), size)?;
            let mut gone = 0;
            change(bytes, |held| {
                if held.is_empty() {
                    bail!(IndexError, "pop from empty bytearray");
                }
                let place = if at < 0 { at.saturating_add(held.len() as i64) } else { at };
                match usize::try_from(place).ok().filter(|place| *place < held.len()) {
                    Some(place) => gone = held.remove(place),
                    None => bail!(IndexError, "pop index out of range"),
                }
                Ok(())
            })?;
            Ok(Value::Int(i64::from(gone)))
        },
        "Takes out the byte at a position, the last one by itself.",
    ),
    takes(
        "remove",
        (1, 1),
        |bytes, given| {
            let wanted = byte(&given.at(0))?;
            change(bytes, |held| match held.iter().position(|byte| *byte == wanted) {
                Some(at) => {
                    held.remove(at);
                    Ok(())
                }
                None => bail!(ValueError, "value not found in bytearray"),
            })
        },
        "Takes out the first byte of a value.",
    ),
    takes(
        "reverse",
        (0, 0),
        |bytes, _| {
            change(bytes, |held| {
                held.reverse();
                Ok(())
            })
        },
        "Reverses the order of the bytes.",
    ),
    takes(
        "clear",
        (0, 0),
        |bytes, _| {
            change(bytes, |held| {
                held.clear();
                Ok(())
            })
        },
        "Takes out all bytes.",
    ),
    takes(
        "copy",
        (0, 0),
        |bytes, _| of_kind(BufferKind::ByteArray, &raw(bytes)?),
        "Returns the same bytes in memory of its own.",
    ),
];

/// Methods of `array.array`.
const ARRAY: &[Method] = &[
    takes(
        "append",
        (1, 1),
        |array, given| {
            array.extend(&[crate::strings::buffers::number(&given.at(0))?])?;
            Ok(Value::None)
        },
        "Appends one element.",
    ),
    takes(
        "index",
        (1, 3),
        crate::strings::buffers::place_of,
        "Returns the place of the first element that is equal to a value.",
    ),
    takes(
        "extend",
        (1, 1),
        |array, given| {
            array.extend(&crate::strings::buffers::numbers(&given.at(0))?)?;
            Ok(Value::None)
        },
        "Appends elements.",
    ),
    TO_LIST,
    TO_BYTES,
];

pub(super) const TO_LIST: Method = takes(
    "tolist",
    (0, 0),
    |buffer, given| items(given.state, &Value::Buffer(buffer.clone())).map(Value::list),
    "Returns the elements as a list.",
);

const TO_BYTES: Method = takes("tobytes", (0, 0), |buffer, _| made(&raw(buffer)?), "Returns the bytes.");

pub(crate) const OF_CLASS: &[ContainerMethod<str>] = &[
    takes("fromhex", (1, 1), from_hex, "Reads bytes from pairs of hexadecimal digits."),
    takes("maketrans", (2, 2), |_, given| maketrans(given), "Returns a table for translating bytes."),
];

/// Returns the method tables of a kind of buffer.
pub(crate) fn tables(kind: BufferKind) -> &'static [&'static [Method]] {
    match kind {
        BufferKind::Bytes => &[METHODS],
        BufferKind::ByteArray => &[METHODS, METHODS_THAT_CHANGE],
        BufferKind::Array(_) => &[ARRAY],
        BufferKind::MemoryView { .. } => &[buffers::MEMORY_VIEW],
    }
}

/// Returns whether a buffer is `bytes` or a `bytearray`.
pub(crate) fn is_bytes(buffer: &Buffer) -> bool {
    matches!(buffer.kind(), BufferKind::Bytes | BufferKind::ByteArray)
}

/// Copies the bytes of a buffer.
///
/// # Errors
/// MemoryError.
pub fn raw(buffer: &Buffer) -> Result<Vec<u8>> {
    buffer.to_vec()
}

/// Creates a value of class `bytes`.
///
/// # Errors
/// MemoryError.
pub(crate) fn made(bytes: &[u8]) -> Result<Value> {
    Buffer::bytes(bytes).map(Value::Buffer)
}

/// Creates a `bytearray` if `kind` is one, and `bytes` otherwise.
///
/// # Errors
/// MemoryError.
pub(crate) fn of_kind(kind: BufferKind, bytes: &[u8]) -> Result<Value> {
    if kind == BufferKind::ByteArray { Buffer::bytearray(bytes).map(Value::Buffer) } else { made(bytes) }
}

/// Changes the bytes of a buffer through a copy.
pub(super) fn change(buffer: &Buffer, changed: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<Value> {
    let mut held = raw(buffer)?;
    changed(&mut held)?;
    buffer.replace(&held)?;
    Ok(Value::None)
}

fn byte_for(value: &Value, refusal: &str) -> Result<u8> {
    match index(value)? {
        Value::Int(byte) if let Ok(byte) = u8::try_from(byte) => Ok(byte),
        _ => bail!(ValueError, "{refusal} must be in range(0, 256)"),
    }
}

fn byte(value: &Value) -> Result<u8> {
    byte_for(value, "byte")
}

/// Returns the bytes of a bytes-like value.
fn like(value: &Value) -> Result<Vec<u8>> {
    match value {
        Value::Buffer(buffer) => raw(buffer),
        Value::Object(object) if let Some(buffer) = object.bytes().or_else(|| object.buffer()) => raw(&buffer?),
        other => bail!(TypeError, "a bytes-like object is required, not '{}'", other.type_name()),
    }
}

/// Offset into a private use area of Unicode. It hides the bytes whose characters a method of `str` would take for
/// letters, whitespace or line ends.
const FREE: u32 = 0xe000;

/// Converts bytes to a string with one character for each. `lines` also hides the bytes that end a line only in `str`.
fn text_of(bytes: &[u8], lines: bool) -> Result<String> {
    bounds::room_for_text(bytes.len().saturating_mul(3))?;
    let character = |byte: &u8| match byte {
        0x80.. | 0x1c..=0x1f => char::from_u32(FREE + u32::from(*byte)).unwrap_or_default(),
        0x0b | 0x0c if lines => char::from_u32(FREE + u32::from(*byte)).unwrap_or_default(),
        _ => char::from(*byte),
    };
    Ok(watched(bytes).map(character).collect())
}

/// Converts a string made by [`text_of`] back to bytes.
pub(crate) fn of_text(text: &str) -> Vec<u8> {
    watched(text.chars()).map(|c| (u32::from(c) & 0xff) as u8).collect()
}

/// Runs a method of `str` on bytes.
fn as_text(bytes: &Buffer, given: &Given, name: &str, wants: Wants) -> Result<Value> {
    let lines = name == "splitlines";
    // CPython checks integer arguments before bytes-like ones.
    match wants {
        Wants::Sought | Wants::Ends => drop(given.span(1, 0)?),
        Wants::Fill => drop(size(&given.at(0))?),
        Wants::Perhaps => drop(given.option(1, "maxsplit").map_or(Ok(0), size)?),
        Wants::Like(_) => {}
    }
    let text = |bytes: &[u8]| text_of(bytes, lines).map(Value::str);
    let convert = |at: usize, arg: &Value| -> Result<Value> {
        match (wants, at, arg) {
            (Wants::Like(count), ..) if at < count => text(&like(arg)?),
            (Wants::Perhaps, 0, Value::None) => Ok(Value::None),
            (Wants::Perhaps, 0, _) => text(&like(arg)?),
            (Wants::Sought | Wants::Ends, 0, Value::Buffer(part)) => text(&raw(part)?),
            (Wants::Sought, 0, _) if index(arg).is_ok() => text(&[byte(arg)?]),
            (Wants::Sought, 0, _) => {
                bail!(TypeError, "argument should be integer or bytes-like object, not '{}'", arg.type_name())
            }
            (Wants::Ends, 0, Value::Tuple(ends)) => {
                let ends = ends.iter().map(|end| text(&like(end)?)).collect::<Result<Vec<_>>>()?;
                Ok(Value::tuple(ends))
            }
            (Wants::Ends, 0, _) => {
                bail!(TypeError, "{name} first arg must be bytes or a tuple of bytes, not {}", arg.type_name())
            }
            (Wants::Fill, 1, _) => match arg {
                Value::Buffer(fill) if is_bytes(fill) && fill.len() == 1 => text(&raw(fill)?),
                _ => {
                    let class = arg.type_name();
                    bail!(TypeError, "{name}() argument 2 must be a byte string of length 1, not {class}")
                }
            },
            _ => Ok(arg.clone()),
        }
    };
    let args = given.args.iter().enumerate().map(|(at, arg)| convert(at, arg)).collect::<Result<Vec<_>>>()?;
    let keyword = |(name, value): &(std::rc::Rc<str>, Value)| {
        let at = usize::from(&**name != "sep");
        Ok((name.clone(), convert(at, value)?))
    };
    let keywords = given.keywords.iter().map(keyword).collect::<Result<Keywords>>()?;
    let this = text(&raw(bytes)?)?;
    let answer = (given.state.registry.methods.call)(given.state, &this, name, &args, &keywords);
    let answer = answer.unwrap_or(Ok(Value::None)).map_err(|error| match error.message.as_str() {
        "substring not found" => Error::value("subsection not found"),
        _ => error,
    })?;
    let back = |value: &Value| match value {
        Value::Str(text) => of_kind(bytes.kind(), &of_text(text)),
        other => Ok(other.clone()),
    };
    Ok(match &answer {
        Value::List(parts) => Value::list(parts.to_vec().iter().map(back).collect::<Result<Vec<_>>>()?),
        Value::Tuple(parts) => Value::tuple(parts.iter().map(back).collect::<Result<Vec<_>>>()?),
        other => back(other)?,
    })
}

fn join(bytes: &Buffer, given: &Given) -> Result<Value> {
    let items = iterate(given.state, &given.at(0)).map_err(|error| match is_not_iterable(&error) {
        true => Error::type_error("can only join an iterable"),
        false => error,
    })?;
    let between = raw(bytes)?;
    let mut out = Vec::new();
    for (i, item) in items.collect()?.iter().enumerate() {
        interrupt::check_at(i)?;
        let Value::Buffer(part) = item else {
            bail!(TypeError, "sequence item {i}: expected a bytes-like object, {} found", item.type_name())
        };
        if i > 0 {
            out.extend_from_slice(&between);
        }
        out.extend(raw(part)?);
        limits::grown_to::<u8>(out.len())?;
    }
    of_kind(bytes.kind(), &out)
}

pub(super) fn hex(bytes: &Buffer, given: &Given) -> Result<Value> {
    let group = given.option(1, "bytes_per_sep").map_or(Ok(1), size)?;
    let held = raw(bytes)?;
    bounds::room_for_text(held.len().saturating_mul(3))?;
    let separator = match given.option(0, "sep") {
        None => None,
        Some(Value::Str(text)) => Some(text.to_string()),
        Some(Value::Buffer(bytes)) => Some(self::text(&raw(bytes)?)),
        Some(other) => bail!(TypeError, "object of type '{}' has no len()", other.type_name()),
    };
    if let Some(separator) = &separator {
        if separator.chars().count() != 1 {
            bail!(ValueError, "sep must be length 1.");
        }
        if !separator.is_ascii() {
            bail!(ValueError, "sep must be ASCII.");
        }
    }
    let (count, length) = (usize::try_from(group.unsigned_abs()).unwrap_or(usize::MAX), held.len());
    let mut out = String::with_capacity(2 * length);
    for (at, byte) in held.iter().enumerate() {
        interrupt::check_at(at)?;
        // Groups are counted from the end, or from the start if `group` is negative.
        let place = if group < 0 { at } else { length - at };
        if let Some(separator) = separator.as_deref().filter(|_| at > 0 && count > 0 && place.is_multiple_of(count)) {
            out.push_str(separator);
        }
        out.push_str(&format!("{byte:02x}"));
    }
    Ok(Value::str(out))
}

/// Converts each byte to the character with its code.
pub(crate) fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn from_hex(class: &str, given: &Given) -> Result<Value> {
    let text = given.str(0, "fromhex() argument must be str")?;
    let (mut out, mut half) = (Vec::new(), None);
    let wrong = |at: usize| -> Result<Value> {
        bail!(ValueError, "non-hexadecimal number found in fromhex() arg at position {at}")
    };
    let mut length = 0;
    // CPython reports non-ASCII characters first.
    if let Some(at) = text.chars().position(|c| !c.is_ascii()) {
        return wrong(at);
    }
    for (at, c) in text.chars().enumerate() {
        interrupt::check_at(at)?;
        length = at + 1;
        match (c.to_digit(16), half) {
            (None, None) if c.is_ascii_whitespace() || c == '\x0b' => {}
            (None, _) => return wrong(at),
            (Some(digit), None) => half = Some(digit),
            (Some(digit), Some(high)) => {
                out.extend(u8::try_from(high << 4 | digit));
                half = None;
            }
        }
    }
    if half.is_some() {
        return wrong(length);
    }
    of_kind(if class == "bytearray" { BufferKind::ByteArray } else { BufferKind::Bytes }, &out)
}

fn maketrans(given: &Given) -> Result<Value> {
    let (from, to) = (like(&given.at(0))?, like(&given.at(1))?);
    if from.len() != to.len() {
        bail!(ValueError, "maketrans arguments must have same length");
    }
    let mut table: Vec<u8> = (0..=255).collect();
    for (from, to) in from.iter().zip(to) {
        if let Some(place) = table.get_mut(usize::from(*from)) {
            *place = to;
        }
    }
    made(&table)
}

fn translate(bytes: &Buffer, given: &Given) -> Result<Value> {
    let table = match given.args.first() {
        None => bail!(TypeError, "translate() takes at least 1 positional argument (0 given)"),
        Some(Value::None) => None,
        Some(table) => Some(like(table)?),
    };
    if table.as_ref().is_some_and(|table| table.len() != 256) {
        bail!(ValueError, "translation table must be 256 characters long");
    }
    let gone = given.option(1, "delete").map_or(Ok(Vec::new()), like)?;
    let becomes = |byte: u8| table.as_ref().and_then(|table| table.get(usize::from(byte)).copied()).unwrap_or(byte);
    let left = watched(raw(bytes)?).filter(|byte| !gone.contains(byte)).map(becomes);
    of_kind(bytes.kind(), &left.collect::<Vec<u8>>())
}

/// `bytes(…)` and `bytearray(…)`
fn construct(call: &mut Call, kind: BufferKind) -> Result<Value> {
    let class = if kind == BufferKind::Bytes { "bytes" } else { "bytearray" };
    let option = |at: usize, name: &str| match call.value(at) {
        Value::None => Ok(None),
        Value::Str(text) => Ok(Some(text.to_string())),
        other => bail!(TypeError, "{class}() argument '{name}' must be str, not {}", other.type_name()),
    };
    let (encoding, errors) = (option(1, "encoding")?, option(2, "errors")?);
    let bytes = match call.value(0) {
        Value::Str(_) if encoding.is_none() => bail!(TypeError, "string argument without an encoding"),
        Value::Str(text) => {
            codecs::encode(&text, encoding.as_deref().unwrap_or_default(), errors.as_deref().unwrap_or("strict"))?
        }
        _ if encoding.is_some() => bail!(TypeError, "encoding without a string argument"),
        _ if errors.is_some() => bail!(TypeError, "errors without a string argument"),
        Value::Object(object) if let Some(answer) = object.special("__bytes__", &[]) => match answer? {
            bytes @ Value::Buffer(_) => like(&bytes)?,
            other => bail!(TypeError, "__bytes__ returned non-bytes (type {})", other.type_name()),
        },
        Value::BigInt(_) => bail!(OverflowError, "cannot fit 'int' into an index-sized integer"),
        Value::Buffer(buffer) => raw(&buffer)?,
        Value::Object(object) if let Some(buffer) = object.bytes().or_else(|| object.buffer()) => raw(&buffer?)?,
        value => match as_index(&value)? {
            Some(..0) => bail!(ValueError, "negative count"),
            Some(count) => return Buffer::zeroed(kind, limits::count(count)).map(Value::Buffer),
            None => {
                let items = iterate(call.state, &value).map_err(|error| match is_not_iterable(&error) {
                    true => Error::type_error(format!("cannot convert '{}' object to {class}", value.type_name())),
                    false => error,
                })?;
                let refusal = if kind == BufferKind::Bytes { "bytes" } else { "byte" };
                items.collect()?.iter().map(|item| byte_for(item, refusal)).collect::<Result<_>>()?
            }
        },
    };
    of_kind(kind, &bytes)
}

/// Applies an operator with bytes on the left. Returns `None` if the operator is not defined.
///
/// # Errors
/// TypeError in Python's words, MemoryError.
pub(crate) fn operated(state: &State, symbol: &str, a: &Value, b: &Value) -> Option<Result<Value>> {
    let buffer = |value: &Value| match value {
        Value::Buffer(buffer) if is_bytes(buffer) => Some(buffer.clone()),
        _ => None,
    };
    match (symbol, buffer(a), b) {
        ("+", Some(x), Value::Buffer(y)) => Some((|| {
            limits::room(x.nbytes().saturating_add(y.nbytes()))?;
            of_kind(x.kind(), &[raw(&x)?, raw(y)?].concat())
        })()),
        ("+", Some(x), _) => {
            let class = Value::Buffer(x).class_name();
            Some(Err(Error::type_error(format!("can't concat {} to {class}", b.type_name()))))
        }
        ("%", Some(x), _) => Some((|| {
            let text = percent(state, &self::text(&raw(&x)?), b, true)?;
            match &text {
                Value::Str(text) => of_kind(x.kind(), &of_text(text)),
                _ => Ok(text),
            }
        })()),
        ("<" | "<=" | ">" | ">=", Some(x), Value::Buffer(y)) => Some((|| {
            let order = raw(&x)?.cmp(&raw(y)?);
            Ok(Value::Bool(match symbol {
                "<" => order == Ordering::Less,
                "<=" => order != Ordering::Greater,
                ">" => order == Ordering::Greater,
                _ => order != Ordering::Less,
            }))
        })()),
        _ => None,
    }
}

/// Repeats the bytes of a buffer `count` times.
///
/// # Errors
/// MemoryError.
pub(crate) fn repeated(buffer: &Buffer, count: usize) -> Result<Value> {
    let once = raw(buffer)?;
    let mut all = limits::list(once.len().saturating_mul(count))?;
    for piece in interrupt::pieces(0..count, once.len()) {
        all.extend(once.repeat(piece?.len()));
    }
    of_kind(buffer.kind(), &all)
}

/// `wanted in bytes`
///
/// # Errors
/// TypeError if the value is neither bytes-like nor an integer; ValueError if the integer does not fit a byte.
pub(crate) fn contains(buffer: &Buffer, wanted: &Value) -> Result<bool> {
    let held = raw(buffer)?;
    match wanted {
        Value::Buffer(part) => Ok(text_of(&held, false)?.contains(&text_of(&raw(part)?, false)?)),
        _ if index(wanted).is_ok() => Ok(held.contains(&byte(wanted)?)),
        other => bail!(TypeError, "a bytes-like object is required, not '{}'", other.type_name()),
    }
}

/// `bytearray[index] = value` for an index or a slice; `del bytearray[index]` without a value.
///
/// # Errors
/// Python's errors for the same statement.
pub(crate) fn set_part(state: &State, buffer: &Buffer, place: &Value, value: Option<&Value>) -> Result<()> {
    let Value::Slice(slice) = place else {
        let Some(at) = as_index(place)? else {
            bail!(TypeError, "bytearray indices must be integers or slices, not {}", place.type_name())
        };
        let at = if at < 0 { at.saturating_add(buffer.len() as i64) } else { at };
        let Some(at) = usize::try_from(at).ok().filter(|at| *at < buffer.len()) else {
            bail!(IndexError, "bytearray index out of range")
        };
        return match value {
            Some(value) => buffer.set_item(at, Scalar::Int(i64::from(byte(value)?))),
            None => change(buffer, |held| {
                held.remove(at);
                Ok(())
            })
            .map(drop),
        };
    };
    let new = match value {
        None => Vec::new(),
        Some(Value::Buffer(other)) => raw(other)?,
        Some(Value::Str(_) | Value::Int(_) | Value::BigInt(_) | Value::Bool(_) | Value::Float(_) | Value::None) => {
            bail!(TypeError, "can assign only bytes, buffers, or iterables of ints in range(0, 256)")
        }
        Some(value) => iterate(state, value)?.collect()?.iter().map(byte).collect::<Result<_>>()?,
    };
    let (start, stop, step) = slice_bounds(slice, buffer.len())?;
    let places: Vec<usize> = positions(start, stop, step).collect();
    change(buffer, |held| {
        if step == 1 {
            let start = start.max(0) as usize;
            held.splice(start..start.max(stop.max(0) as usize), new);
        } else if value.is_none() {
            let mut at = 0;
            held.retain(|_| {
                at += 1;
                !places.contains(&(at - 1))
            });
        } else if new.len() == places.len() {
            for (place, byte) in places.iter().zip(new) {
                if let Some(slot) = held.get_mut(*place) {
                    *slot = byte;
                }
            }
        } else {
            let (given, wanted) = (new.len(), places.len());
            bail!(ValueError, "attempt to assign bytes of size {given} to extended slice of size {wanted}");
        }
        Ok(())
    })
    .map(drop)
}
