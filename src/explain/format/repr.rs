//! Python's `repr` of every value. Tensors and storages are formatted in the modules named after them.

use super::number::{push, write_complex, write_float};
use super::{Formatter, storage, tensors};
use std::cell::RefCell;
use std::rc::Rc;
use tensor::bail;
use tensor::interrupt::{self, watched};
use tensor::limits;
use tensor::memory::get;
use tensor::{Buffer, BufferKind, Device, Result, Scalar, TypeCode};
use value::{NamedTuple, Value, integers};

/// The maximum depth of nested containers: far beyond any real value, and far below the limit of the stack.
const MAX_DEPTH: usize = 200;

thread_local! {
    /// The addresses of the containers being shown, including those shown by script functions.
    static SHOWN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Marks a container as being shown, until it is dropped.
struct RecursionMark(bool);

impl RecursionMark {
    /// Marks a container. If it is already marked, returns the text for a recursive reference as an error.
    fn enter(value: &Value) -> std::result::Result<RecursionMark, &'static str> {
        let dots = match value {
            Value::List(list) if !list.is_empty() => "[...]",
            Value::Tuple(tuple) if !tuple.is_empty() => "(...)",
            Value::Dict(dict) if dict.is_ordered() => "...",
            Value::Dict(dict) if !dict.is_empty() => "{...}",
            _ => return Ok(RecursionMark(false)),
        };
        let address = value.address().unwrap_or_default();
        SHOWN.with_borrow_mut(|shown| {
            if shown.contains(&address) {
                return Err(dots);
            }
            shown.push(address);
            Ok(RecursionMark(true))
        })
    }
}

impl Drop for RecursionMark {
    fn drop(&mut self) {
        if self.0 {
            SHOWN.with_borrow_mut(Vec::pop);
        }
    }
}

/// Appends the `repr` of a value nested inside `depth` containers.
pub(super) fn write(out: &mut String, formatter: Formatter<'_>, value: &Value, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        bail!(RecursionError, "maximum recursion depth exceeded while getting the repr of an object");
    }
    let item = |out: &mut String, value: &Value| write(out, formatter, value, depth + 1);
    let _shown = match RecursionMark::enter(value) {
        Ok(shown) => shown,
        Err(within_itself) => {
            out.push_str(within_itself);
            return Ok(());
        }
    };
    match value {
        Value::None => out.push_str("None"),
        Value::Bool(b) => write_scalar(out, Scalar::Bool(*b)),
        Value::Int(i) => push(out, format_args!("{i}")),
        Value::BigInt(i) => out.push_str(&integers::decimal(i)?),
        Value::Float(f) => write_float(out, *f),
        Value::Complex(c) => write_complex(out, *c),
        Value::Str(text) => {
            if text.len() > LONG {
                room_for(text.chars().map(|c| escaped_length(u32::from(c))))?;
            }
            write_quoted(out, text.chars().map(u32::from));
        }
        Value::Tensor(tensor) => tensors::write(out, formatter, tensor)?,
        Value::Storage(storage) => storage::write_untyped(out, storage)?,
        Value::TypedStorage(typed) => storage::write_typed(out, typed)?,
        Value::DType(dtype) => push(out, format_args!("torch.{}", dtype.name())),
        Value::Device(device) => write_device(out, *device),
        Value::Layout(layout) => push(out, format_args!("torch.{}", layout.name())),
        Value::MemoryFormat(format) => push(out, format_args!("torch.{}", format.name())),
        Value::Size(sizes) => push(out, format_args!("torch.Size({:?})", sizes.as_slice())),
        Value::Tuple(items) => {
            let close = if items.len() == 1 { ",)" } else { ")" };
            write_joined(out, ("(", ", ", close), items.iter(), item)?;
        }
        // A script function that shows an item may modify the container, so the items are copied.
        Value::List(list) => write_joined(out, ("[", ", ", "]"), &list.to_vec(), item)?,
        Value::Dict(dict) if dict.is_ordered() && dict.is_empty() => out.push_str("OrderedDict()"),
        Value::Dict(dict) if dict.is_ordered() => {
            write_joined(out, ("OrderedDict([", ", ", "])"), dict.to_vec(), |out, (key, value)| {
                write_joined(out, ("(", ", ", ")"), [&key, &value], item)
            })?;
        }
        Value::Dict(dict) => write_joined(out, ("{", ", ", "}"), dict.to_vec(), |out, (key, value)| {
            item(out, &key)?;
            out.push_str(": ");
            item(out, &value)
        })?,
        Value::Set(set) if set.is_empty() => out.push_str(if set.is_frozen() { "frozenset()" } else { "set()" }),
        Value::Set(set) => {
            let ends = if set.is_frozen() { ("frozenset({", ", ", "})") } else { ("{", ", ", "}") };
            write_joined(out, ends, &set.to_vec(), item)?;
        }
        Value::NamedTuple(tuple) => write_named_tuple(out, tuple, item)?,
        Value::Slice(slice) => {
            write_joined(out, ("slice(", ", ", ")"), [&slice.start, &slice.stop, &slice.step], item)?;
        }
        Value::Range(range) if range.step == 1 => push(out, format_args!("range({}, {})", range.start, range.stop)),
        Value::Range(range) => push(out, format_args!("range({}, {}, {})", range.start, range.stop, range.step)),
        Value::Ellipsis => out.push_str("Ellipsis"),
        Value::Buffer(buffer) => write_buffer(out, buffer)?,
        Value::Generator(generator) => {
            push(out, format_args!("<torch._C.Generator object at {:#x}>", Rc::as_ptr(generator) as usize));
        }
        Value::Type(name) => push(out, format_args!("<class '{name}'>")),
        Value::Module(name) => push(out, format_args!("<module '{name}'>")),
        Value::Function(path) => {
            push(out, format_args!("<built-in function {}>", path.rsplit('.').next().unwrap_or(path)));
        }
        Value::Method(method) => match &method.of {
            Value::Type(class) => {
                // PyTorch defines the methods of tensors in a base class.
                let class = if *class == "torch.Tensor" { "torch._C.TensorBase" } else { class };
                push(out, format_args!("<method '{}' of '{class}' objects>", method.name));
            }
            other => push(out, format_args!("<built-in method {} of {} object>", method.name, other.type_name())),
        },
        Value::Object(object) => match object.special("__repr__", &[]) {
            Some(text) => out.push_str(&super::text_from_script("__repr__", text?)?),
            None => out.push_str(&object.repr()),
        },
    }
    Ok(())
}

/// Python's `repr` of a string, with Python's choice of quotes and escapes.
#[cfg(test)]
pub(super) fn str_repr(text: &str) -> String {
    let mut out = String::new();
    write_quoted(&mut out, text.chars().map(u32::from));
    out
}

/// Appends one element as a Python number.
pub(super) fn write_scalar(out: &mut String, value: Scalar) {
    match value {
        Scalar::Bool(b) => out.push_str(if b { "True" } else { "False" }),
        Scalar::Int(i) => push(out, format_args!("{i}")),
        Scalar::UInt(u) => push(out, format_args!("{u}")),
        Scalar::Float(f) => write_float(out, f),
        Scalar::Complex(c) => write_complex(out, c),
    }
}

/// Appends sizes as the tuple in a tensor's suffix: `(2, 3)`, `(3,)`, `()`.
pub(super) fn write_sizes(out: &mut String, sizes: &[i64]) {
    let close = if sizes.len() == 1 { ",)" } else { ")" };
    out.push('(');
    for (i, size) in sizes.iter().enumerate() {
        push(out, format_args!("{}{size}", if i == 0 { "" } else { ", " }));
    }
    out.push_str(close);
}

fn write_joined<T>(
    out: &mut String,
    (open, separator, close): (&str, &str, &str),
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T) -> Result<()>,
) -> Result<()> {
    out.push_str(open);
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push_str(separator);
        }
        interrupt::check_at(i * 16)?;
        limits::grown_to::<u8>(out.len())?;
        write(out, item)?;
    }
    out.push_str(close);
    Ok(())
}

fn write_device(out: &mut String, device: Device) {
    push(out, format_args!("device(type='{}'", device.name()));
    if let Some(index) = device.index {
        push(out, format_args!(", index={index}"));
    }
    out.push(')');
}

/// Appends a named tuple. PyTorch's own result types put each field on a line; others look like Python's.
fn write_named_tuple(
    out: &mut String,
    tuple: &NamedTuple,
    mut item: impl FnMut(&mut String, &Value) -> Result<()>,
) -> Result<()> {
    let (name, open, separator) = match tuple.type_name.strip_prefix("torch.return_types.") {
        Some(_) => (tuple.type_name, "(\n", ",\n"),
        None if tuple.type_name.starts_with("sys.") => (tuple.type_name, "(", ", "),
        None => (tuple.type_name.rsplit('.').next().unwrap_or_default(), "(", ", "),
    };
    out.push_str(name);
    write_joined(out, (open, separator, ")"), &tuple.fields, |out, (name, value)| {
        push(out, format_args!("{name}="));
        item(out, value)
    })
}

fn write_buffer(out: &mut String, buffer: &Buffer) -> Result<()> {
    let memory = buffer.memory();
    let cells = memory.bytes();
    let bytes = || {
        let escaped = |byte: u8| match byte {
            b'\\' | b'\n' | b'\r' | b'\t' => 2,
            b' '..=b'~' => 1,
            _ => 4,
        };
        room_for(cells.iter().map(|cell| escaped(get(cell))))?;
        memory.to_vec()
    };
    match buffer.kind() {
        BufferKind::Bytes => write_bytes(out, &bytes()?, false),
        BufferKind::ByteArray => {
            out.push_str("bytearray(");
            write_bytes(out, &bytes()?, true);
            out.push(')');
        }
        BufferKind::Array(code) if buffer.is_empty() => push(out, format_args!("array('{}')", code.as_char())),
        BufferKind::Array(code) => {
            push(out, format_args!("array('{}', ", code.as_char()));
            if code == TypeCode::Char {
                limits::room(buffer.len().saturating_mul(LONGEST_ESCAPE))?;
                let points: Vec<u32> = buffer.items().into_iter().map(|point| point.to_i64() as u32).collect();
                if let Some(point) = points.iter().find(|&&point| point > u32::from(char::MAX)) {
                    bail!(ValueError, "character U+{point:x} is not in range [U+0000; U+10ffff]");
                }
                write_quoted(out, points.into_iter());
            } else {
                let items = (0..buffer.len()).filter_map(|i| buffer.item(i));
                write_joined(out, ("[", ", ", "]"), items, |out, value| {
                    write_scalar(out, value);
                    Ok(())
                })?;
            }
            out.push(')');
        }
        BufferKind::MemoryView { .. } => push(out, format_args!("<memory at {:#x}>", buffer.identity())),
    }
    Ok(())
}

/// Returns Python's quote for a text: single, unless the text contains single quotes and no double quotes.
fn quote_for(mut has: impl FnMut(char) -> bool) -> char {
    if has('\'') && !has('"') { '"' } else { '\'' }
}

/// Texts longer than this are measured before they are written.
const LONG: usize = 1 << 20;
/// `\U0010ffff`
const LONGEST_ESCAPE: usize = 10;

/// Checks that pieces of these lengths fit into memory together.
fn room_for(lengths: impl Iterator<Item = usize>) -> Result<()> {
    let mut sum = 0;
    for (i, length) in lengths.enumerate() {
        sum += length;
        if i.is_multiple_of(interrupt::STRIDE) {
            interrupt::check()?;
            limits::grown_to::<u8>(sum)?;
        }
    }
    limits::room(sum)
}

/// Returns the length of a character in a literal.
fn escaped_length(point: u32) -> usize {
    match (short_escape(point), char::from_u32(point)) {
        (Some(escape), _) => escape.len(),
        (None, Some(c)) if is_printable(c) => c.len_utf8(),
        _ if point <= 0xff => 4,
        _ if point <= 0xffff => 6,
        _ => LONGEST_ESCAPE,
    }
}

/// Returns the escapes common to strings and bytes.
fn short_escape(point: u32) -> Option<&'static str> {
    Some(match char::from_u32(point)? {
        '\\' => "\\\\",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        _ => return None,
    })
}

/// Appends a bytes literal. In a `bytearray`, Python escapes single quotes even if unnecessary.
fn write_bytes(out: &mut String, bytes: &[u8], in_bytearray: bool) {
    let quote = quote_for(|q| bytes.contains(&(q as u8)));
    out.push('b');
    out.push(quote);
    for &byte in watched(bytes) {
        match short_escape(u32::from(byte)) {
            Some(escape) => out.push_str(escape),
            None if byte == b'\'' && in_bytearray => out.push_str("\\'"),
            None if char::from(byte) == quote => push(out, format_args!("\\{quote}")),
            None if byte.is_ascii_graphic() || byte == b' ' => out.push(char::from(byte)),
            None => push(out, format_args!("\\x{byte:02x}")),
        }
    }
    out.push(quote);
}

/// Appends a string literal. Takes code points, because arrays of characters may contain invalid ones.
fn write_quoted(out: &mut String, points: impl Iterator<Item = u32> + Clone) {
    let quote = quote_for(|q| points.clone().any(|point| point == u32::from(q)));
    out.push(quote);
    for point in watched(points) {
        match (short_escape(point), char::from_u32(point)) {
            (Some(escape), _) => out.push_str(escape),
            (None, Some(c)) if c == quote => push(out, format_args!("\\{quote}")),
            (None, Some(c)) if is_printable(c) => out.push(c),
            _ if point <= 0xff => push(out, format_args!("\\x{point:02x}")),
            _ if point <= 0xffff => push(out, format_args!("\\u{point:04x}")),
            _ => push(out, format_args!("\\U{point:08x}")),
        }
    }
    out.push(quote);
}

/// Python's `str.isprintable`. Rust's own escaping uses the same Unicode categories.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    // Rust also escapes a combining mark at the start of a string, so test the character in second position.
    let mut pair = [b'a'; 5];
    let length = 1 + c.encode_utf8(&mut pair[1..]).len();
    str::from_utf8(&pair[..length]).is_ok_and(|pair| pair.escape_debug().nth(1) == Some(c))
}
