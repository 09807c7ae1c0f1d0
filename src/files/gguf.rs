//! GGUF, the format of llama.cpp: settings of a model; the names, types and positions of its tensors; and their bytes,
//! each at a multiple of the alignment. Tensors are mapped from the file; those in quantized blocks are
//! [`BlockTensor`]s. Follows <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>, versions 2 and 3.

mod block_tensor;
mod block_type;
mod blocks;
mod codebooks;
mod metadata;

pub use block_tensor::BlockTensor;
pub use block_type::BlockType;

use super::contents::{Blocks, Bytes, Contents, Elements, Plain};
use super::source::Source;
use metadata::Setting;
use std::collections::HashSet;
use tensor::layout::checked_numel;
use tensor::{DType, Dims, Error, ErrorKind, Layout, Result, View, interrupt};
use value::{Dict, Value};

pub(crate) const MAGIC: &[u8] = b"GGUF";

/// The name of the format, without the version.
pub(crate) const FORMAT: &str = "GGUF";

/// The maximum number of dimensions in ggml.
const MOST_DIMENSIONS: u32 = 4;

/// The default alignment of data.
const ALIGNMENT: u32 = 32;

/// Number of items processed between two checks for Ctrl-C.
const PATIENCE: u64 = 1 << 12;

/// The element type of a tensor.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    Plain(DType),
    Blocks(&'static BlockType),
    /// An unassigned type number; the size of such a tensor is unknown.
    Unknown(u32),
}

/// A tensor's entry in the header.
#[derive(Debug)]
pub struct TensorHeader {
    pub name: String,
    pub kind: Type,
    /// The sizes in PyTorch's order, which is the reverse of the file's: the last dimension is innermost.
    pub sizes: Dims,
    /// The offset of its data.
    pub place: usize,
    /// Number of bytes of its data; `None` for an unknown type.
    pub nbytes: Option<usize>,
}

/// The header before the data.
#[derive(Debug)]
pub struct Header {
    pub version: u32,
    /// The settings in file order, as texts.
    pub metadata: Vec<(String, String)>,
    pub tensors: Vec<TensorHeader>,
}

fn invalid(why: impl std::fmt::Display) -> Error {
    Error::value(format!("Cannot read GGUF: {why}"))
}

/// Formats a name for messages.
fn shown(name: &str) -> String {
    format!("'{}'", name.escape_debug())
}

/// A reader of the header.
struct HeaderReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> HeaderReader<'a> {
    fn take(&mut self, nbytes: u64) -> Result<&'a [u8]> {
        let end = usize::try_from(nbytes).ok().and_then(|nbytes| self.at.checked_add(nbytes));
        let found = end.and_then(|end| Some((end, self.bytes.get(self.at..end)?)));
        let (end, found) =
            found.ok_or_else(|| invalid(format_args!("the file ends within its header, after byte {}", self.at)))?;
        self.at = end;
        Ok(found)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N as u64)?.first_chunk().copied().ok_or_else(|| invalid("a number is cut off"))
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a count of items that take at least `least` bytes each.
    fn count(&mut self, least: u64, what: &str) -> Result<u64> {
        let count = self.u64()?;
        self.check_count(count, least, what)
    }

    fn check_count(&self, count: u64, least: u64, what: &str) -> Result<u64> {
        let rest = (self.bytes.len() - self.at) as u64;
        match count.checked_mul(least).is_some_and(|needed| needed <= rest) {
            true => Ok(count),
            false => Err(invalid(format_args!("{count} {what} do not fit into the {rest} bytes that are left"))),
        }
    }

    fn text(&mut self) -> Result<&'a [u8]> {
        let length = self.u64()?;
        self.take(length)
    }

    fn name(&mut self) -> Result<&'a str> {
        let at = self.at;
        str::from_utf8(self.text()?).map_err(|_| invalid(format_args!("the name at byte {at} is not UTF-8")))
    }
}

/// Checks for Ctrl-C at intervals.
fn check_interrupt(item: u64) -> Result<()> {
    if item.is_multiple_of(PATIENCE) { interrupt::check() } else { Ok(()) }
}

/// Reads the header, and checks that the file contains the data.
///
/// # Errors
/// Fails with ValueError for an invalid file, and with KeyboardInterrupt.
pub fn header(source: &Source) -> Result<Header> {
    source.reading(parse)?
}

/// Reads the version, and the numbers of tensors and settings.
fn begin(cursor: &mut HeaderReader) -> Result<(u32, u64, u64)> {
    if cursor.take(MAGIC.len() as u64)? != MAGIC {
        return Err(invalid("the magic bytes are missing"));
    }
    let version = cursor.u32()?;
    match version {
        2 | 3 => {}
        1 => return Err(invalid("version 1 is not supported, only 2 and 3")),
        other if other & 0xffff == 0 && matches!(other.swap_bytes(), 1..=0xffff) => {
            return Err(invalid("big-endian files are not supported"));
        }
        other => return Err(invalid(format_args!("version {other} is not supported, only 2 and 3"))),
    }
    // The minimum sizes: a key, a type and a value; a name, dimensions, a type and an offset.
    let tensors = cursor.u64()?;
    let settings = cursor.count(13, "settings")?;
    Ok((version, cursor.check_count(tensors, 24, "tensors")?, settings))
}

fn parse(bytes: &[u8]) -> Result<Header> {
    let mut cursor = HeaderReader { bytes, at: 0 };
    let (version, tensor_count, setting_count) = begin(&mut cursor)?;
    let (mut metadata, mut keys, mut alignment) = (Vec::new(), HashSet::new(), ALIGNMENT);
    for number in 0..setting_count {
        check_interrupt(number)?;
        let key = cursor.name()?;
        if !keys.insert(key) {
            return Err(invalid(format_args!("the setting {} occurs twice", shown(key))));
        }
        let setting = Setting::read(&mut cursor)?;
        if key == "general.alignment" {
            alignment = setting.alignment()?;
        }
        metadata.push((key.to_owned(), setting.text));
    }
    let (mut tensors, mut names) = (Vec::new(), HashSet::new());
    for number in 0..tensor_count {
        check_interrupt(number)?;
        let name = cursor.name()?;
        if !names.insert(name) {
            return Err(invalid(format_args!("the tensor {} occurs twice", shown(name))));
        }
        tensors.push(described(&mut cursor, name, alignment)?);
    }
    let start =
        cursor.at.checked_next_multiple_of(alignment as usize).ok_or_else(|| invalid("the alignment is invalid"))?;
    for tensor in &mut tensors {
        tensor.place = start.checked_add(tensor.place).ok_or_else(|| outside(tensor, bytes.len()))?;
        if tensor.place.checked_add(tensor.nbytes.unwrap_or(0)).is_none_or(|end| end > bytes.len()) {
            return Err(outside(tensor, bytes.len()));
        }
    }
    check_no_shared_bytes(&tensors)?;
    Ok(Header { version, metadata, tensors })
}

fn outside(tensor: &TensorHeader, length: usize) -> Error {
    invalid(format_args!("the data of {} does not lie within the {length} bytes of the file", shown(&tensor.name)))
}

/// Reads the rest of a tensor's entry after its name. The offset is relative to the start of the data.
fn described(cursor: &mut HeaderReader, name: &str, alignment: u32) -> Result<TensorHeader> {
    let wrong = |why: &dyn std::fmt::Display| invalid(format_args!("the tensor {} {why}", shown(name)));
    let dimensions = cursor.u32()?;
    if dimensions > MOST_DIMENSIONS {
        return Err(wrong(&format_args!("has {dimensions} dimensions; at most {MOST_DIMENSIONS} are possible")));
    }
    let size = |_| i64::try_from(cursor.u64()?).map_err(|_| wrong(&"has an invalid size"));
    let mut sizes = (0..dimensions).map(size).collect::<Result<Dims>>()?;
    sizes.reverse();
    let numel = checked_numel(&sizes).ok().and_then(|numel| usize::try_from(numel).ok());
    let numel = numel.ok_or_else(|| wrong(&"has invalid sizes"))?;
    let kind = type_of(cursor.u32()?);
    let inner = sizes.last().copied().unwrap_or(1);
    let nbytes = match kind {
        Type::Plain(dtype) => numel.checked_mul(dtype.itemsize()).map(Some),
        Type::Blocks(kind) if inner % kind.blocks.count as i64 != 0 => {
            let Blocks { name, count, .. } = kind.blocks;
            return Err(wrong(&format_args!(
                "has rows of {inner} elements, which is not a multiple of the {count} of a {name} block"
            )));
        }
        // Even for a tensor without elements, the size of a row must be valid.
        Type::Blocks(kind) if (inner / kind.blocks.count as i64).checked_mul(kind.blocks.nbytes as i64).is_none() => {
            None
        }
        Type::Blocks(kind) => (numel / kind.blocks.count).checked_mul(kind.blocks.nbytes).map(Some),
        Type::Unknown(_) => Some(None),
    };
    let nbytes = nbytes.ok_or_else(|| wrong(&"has invalid sizes"))?;
    let place = cursor.u64()?;
    if !place.is_multiple_of(u64::from(alignment)) {
        return Err(wrong(&format_args!(
            "begins at byte {place} of the data, which is not a multiple of the alignment of {alignment}"
        )));
    }
    let place = usize::try_from(place).map_err(|_| wrong(&"begins at an invalid offset"))?;
    Ok(TensorHeader { name: name.to_owned(), kind, sizes, place, nbytes })
}

/// Checks that no two tensors share a byte.
fn check_no_shared_bytes(tensors: &[TensorHeader]) -> Result<()> {
    let mut sorted: Vec<&TensorHeader> =
        tensors.iter().filter(|tensor| tensor.nbytes.is_some_and(|nbytes| nbytes > 0)).collect();
    sorted.sort_by_key(|tensor| tensor.place);
    for pair in sorted.windows(2) {
        if let [first, second] = pair
            && second.place - first.place < first.nbytes.unwrap_or(0)
        {
            let names = (shown(&first.name), shown(&second.name));
            return Err(invalid(format_args!("the data of {} and {} overlap", names.0, names.1)));
        }
    }
    Ok(())
}

/// The types of plain elements.
const PLAIN: &[(u32, DType)] = &[
    (0, DType::Float),
    (1, DType::Half),
    (24, DType::Char),
    (25, DType::Short),
    (26, DType::Int),
    (27, DType::Long),
    (28, DType::Double),
    (30, DType::BFloat16),
];

fn type_of(code: u32) -> Type {
    match (PLAIN.iter().find(|(known, _)| *known == code), BlockType::of(code)) {
        (Some((_, dtype)), _) => Type::Plain(*dtype),
        (None, Some(blocks)) => Type::Blocks(blocks),
        (None, None) => Type::Unknown(code),
    }
}

/// Returns the contents of a file. A tensor of an unknown type has an unknown size and is listed with the other values.
///
/// # Errors
/// The errors of [`header`].
pub fn contents(source: &Source) -> Result<Contents> {
    let header = header(source)?;
    let mut contents = Contents::new(source, if header.version == 2 { "GGUF, version 2" } else { "GGUF, version 3" });
    for tensor in header.tensors {
        let layout = Layout::contiguous(&tensor.sizes);
        let bytes = Bytes::Stored(source.clone(), tensor.place);
        match (tensor.kind, tensor.nbytes) {
            (Type::Plain(dtype), Some(nbytes)) => contents.add(tensor.name, dtype, layout, nbytes, bytes),
            (Type::Blocks(kind), Some(nbytes)) => {
                contents.add_of(tensor.name, Elements::Blocks(&kind.blocks), layout, nbytes, bytes)
            }
            (Type::Unknown(code), _) => {
                let class = format!("tensor of type number {code}");
                contents.values.push(Plain { name: tensor.name, class, text: Some(format!("{:?}", tensor.sizes)) });
            }
            (_, None) => return Err(outside(&tensor, source.len())),
        }
    }
    contents.metadata = header.metadata.into_iter().collect();
    Ok(contents)
}

/// Loads all tensors of a file by name: plain ones as tensors, the others as [`BlockTensor`]s. Both are mapped from the
/// file.
///
/// # Errors
/// Fails with ValueError for an invalid file, and with NotImplementedError for a tensor of an unknown type, whose size
/// is unknown.
pub fn load(source: &Source, mapped: bool) -> Result<Value> {
    let value = |tensor: TensorHeader| {
        let storage = |nbytes: Option<usize>| {
            let storage = nbytes.and_then(|nbytes| source.storage(tensor.place, nbytes));
            let storage = storage.ok_or_else(|| outside(&tensor, source.len()))?;
            if mapped { Ok(storage) } else { storage.duplicate() }
        };
        let value = match tensor.kind {
            Type::Plain(dtype) => {
                let (storage, layout) = (storage(tensor.nbytes)?, Layout::contiguous(&tensor.sizes));
                let view = View { storage, layout, dtype, conj: false, neg: false, form: None };
                view.check_bounds()?;
                Value::from(view)
            }
            Type::Blocks(kind) => BlockTensor::new(&tensor.name, kind, &tensor.sizes, storage(tensor.nbytes)?).value(),
            Type::Unknown(code) => return Err(unsupported_type(&tensor.name, code)),
        };
        Ok((Value::str(tensor.name.as_str()), value))
    };
    Dict::new(header(source)?.tensors.into_iter().map(value).collect::<Result<Vec<_>>>()?).map(Value::Dict)
}

fn unsupported_type(name: &str, code: u32) -> Error {
    let name = shown(name);
    let text = format!("the tensor {name} has the unknown type number {code}; inspect() lists the file");
    Error::new(ErrorKind::NotImplementedError, text)
}
