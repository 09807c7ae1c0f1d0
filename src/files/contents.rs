//! The contents of a file or a folder of tensors: every tensor with its layout, the storages, other values, and the
//! location of the bytes. Every format is read into this structure, from which reports, comparisons and conversions are
//! made. Knows no formats.

use super::source::Source;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use tensor::bail;
use tensor::parallel::writing;
use tensor::{DType, Device, Dims, Error, ErrorKind, Layout, Result, Storage};

/// The contents of a file or a folder.
#[derive(Debug, Default)]
pub struct Contents {
    /// The path as given.
    pub name: String,
    pub format: &'static str,
    /// The total size of all files in bytes.
    pub nbytes: u64,
    pub entries: Vec<Entry>,
    pub storages: Vec<StorageInfo>,
    /// Values other than tensors.
    pub values: Vec<Plain>,
    /// Text metadata.
    pub metadata: BTreeMap<String, String>,
    /// The names of classes and functions that loading in Python would call. They are not called here.
    pub unknown: Vec<String>,
}

/// A value other than a tensor.
#[derive(Debug)]
pub struct Plain {
    pub name: String,
    /// The name of Python's class.
    pub class: String,
    /// The `repr` in Python; `None` if unknown.
    pub text: Option<String>,
}

/// A tensor or a storage.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: String,
    pub kind: &'static str,
    pub elements: Elements,
    pub layout: Layout,
    /// The number of bytes of its elements.
    pub nbytes: u64,
    /// `None` on the `meta` device, and for a tensor in pieces.
    pub storage: Option<usize>,
    /// The pieces of a tensor written by several processes; empty for an ordinary tensor.
    pub pieces: Vec<Piece>,
    pub requires_grad: bool,
    pub conj: bool,
    pub neg: bool,
    /// A description of a quantized tensor's scale.
    pub scale: Option<String>,
}

/// A box of a larger tensor.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its first index in every dimension.
    pub offsets: Dims,
    pub layout: Layout,
    pub storage: usize,
}

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements {
    Plain(DType),
    /// Numbers with few bits, in blocks that share a scale.
    Blocks(&'static Blocks),
}

/// A block type.
#[derive(Debug)]
pub struct Blocks {
    pub name: &'static str,
    /// Number of elements in a block, …
    pub count: usize,
    /// … and number of bytes.
    pub nbytes: usize,
    /// Dequantizes blocks; `None` for a type of which only the size is known.
    pub take_apart: Option<DequantizeFn>,
}

/// Converts whole blocks to their elements.
pub(crate) type DequantizeFn = fn(&[u8], &mut [f32]);

impl Blocks {
    /// Returns the function that dequantizes blocks.
    ///
    /// # Errors
    /// Fails with NotImplementedError for a type of which only the size is known.
    pub(crate) fn dequantizer(&self) -> Result<DequantizeFn> {
        let missing = || format!("blocks of type {} cannot be dequantized", self.name);
        self.take_apart.ok_or_else(|| Error::new(ErrorKind::NotImplementedError, missing()))
    }
}

impl PartialEq for Blocks {
    fn eq(&self, other: &Blocks) -> bool {
        self.name == other.name
    }
}

impl Elements {
    pub fn name(self) -> &'static str {
        match self {
            Elements::Plain(dtype) => dtype.name(),
            Elements::Blocks(blocks) => blocks.name,
        }
    }

    /// Returns the smallest unit that can be decoded: its number of elements and of bytes.
    pub fn unit(self) -> (usize, usize) {
        match self {
            Elements::Plain(dtype) => (1, dtype.itemsize()),
            Elements::Blocks(blocks) => (blocks.count, blocks.nbytes),
        }
    }

    /// Returns the size in bytes of `count` elements.
    ///
    /// # Errors
    /// Fails with RuntimeError if they do not fill whole blocks.
    pub fn nbytes(self, count: usize) -> Result<usize> {
        let (numbers, nbytes) = self.unit();
        let units = count.checked_div(numbers).filter(|units| units * numbers == count);
        let nbytes = units.and_then(|units| units.checked_mul(nbytes));
        nbytes
            .ok_or_else(|| Error::runtime(format!("{count} elements are not a whole number of {} blocks", self.name())))
    }

    /// Dequantizes all blocks of a storage to float32.
    ///
    /// # Errors
    /// Fails with MemoryError, and with RuntimeError for elements that are not blocks.
    pub fn dequantize(self, packed: &Storage) -> Result<Storage> {
        let Elements::Blocks(blocks) = self else { bail!(RuntimeError, "{} has no blocks", self.name()) };
        let packed = packed.to_vec()?;
        let numbers = packed.len() / blocks.nbytes * blocks.count;
        let storage = Storage::unwritten(numbers.saturating_mul(size_of::<f32>()), Device::CPU)?;
        let take_apart = blocks.dequantizer()?;
        let taken = writing(&*storage.data()?, 0..numbers, |numbers: &mut [f32]| take_apart(&packed, numbers));
        taken.ok_or_else(|| Error::runtime("not enough memory to dequantize blocks")).map(|()| storage)
    }
}

/// A storage.
#[derive(Debug)]
pub struct StorageInfo {
    pub key: String,
    pub nbytes: u64,
    pub bytes: Bytes,
    /// The device it was saved from.
    pub location: String,
}

/// The source of a storage's bytes.
#[derive(Clone)]
pub enum Bytes {
    /// Verbatim in a file, from this offset on.
    Stored(Source, usize),
    /// Produced by a function: compressed in a file, in the other byte order, or in memory.
    Made(Rc<dyn Fn() -> Result<Storage>>),
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Bytes::Stored(source, start) => write!(f, "Stored({:?}, {start})", source.name()),
            Bytes::Made(_) => f.write_str("Made"),
        }
    }
}

impl Bytes {
    /// Returns a range of these bytes.
    pub fn from(&self, skip: usize, nbytes: usize) -> Bytes {
        match self {
            Bytes::Stored(source, start) => Bytes::Stored(source.clone(), start.saturating_add(skip)),
            Bytes::Made(make) => {
                let make = make.clone();
                Bytes::Made(Rc::new(move || make()?.slice(skip, skip.saturating_add(nbytes))))
            }
        }
    }

    /// Returns these bytes with the byte order of every group reversed.
    pub fn swapped(self, nbytes: usize, group: usize) -> Bytes {
        Bytes::Made(Rc::new(move || {
            let storage = self.open(nbytes)?.duplicate()?;
            storage.byteswap(group)?;
            Ok(storage)
        }))
    }

    /// Returns the first `nbytes` of these bytes, mapped from the file if possible.
    ///
    /// # Errors
    /// Fails with RuntimeError if the file is too short, and with the errors of producing the bytes.
    pub fn open(&self, nbytes: usize) -> Result<Storage> {
        match self {
            Bytes::Made(make) => make(),
            Bytes::Stored(source, start) => source
                .storage(*start, nbytes)
                .ok_or_else(|| Error::runtime(format!("the file ends before the {nbytes} bytes of a storage"))),
        }
    }
}

impl StorageInfo {
    /// Returns the offset of its bytes in the file, if they are stored verbatim.
    pub fn place(&self) -> Option<usize> {
        match self.bytes {
            Bytes::Stored(_, start) => Some(start),
            Bytes::Made(_) => None,
        }
    }

    /// Returns the path of the file that contains its bytes verbatim.
    pub fn file(&self) -> Option<&str> {
        match &self.bytes {
            Bytes::Stored(source, _) => source.name(),
            Bytes::Made(_) => None,
        }
    }

    /// Returns the storage, mapped from the file if possible.
    ///
    /// # Errors
    /// Fails with RuntimeError if the file is too short, and with the errors of producing the bytes.
    pub fn open(&self) -> Result<Storage> {
        self.bytes.open(usize::try_from(self.nbytes).unwrap_or(usize::MAX))
    }
}

impl Entry {
    /// Creates the entry of a tensor with its own storage.
    pub fn new(name: String, dtype: DType, layout: Layout, nbytes: u64, storage: usize) -> Entry {
        Entry {
            name,
            kind: "tensor",
            elements: Elements::Plain(dtype),
            layout,
            nbytes,
            storage: Some(storage),
            pieces: Vec::new(),
            requires_grad: false,
            conj: false,
            neg: false,
            scale: None,
        }
    }
}

impl Contents {
    pub fn new(source: &Source, format: &'static str) -> Contents {
        let name = source.name().unwrap_or_default().to_owned();
        Contents { name, format, nbytes: source.len() as u64, ..Contents::default() }
    }

    /// Adds a tensor with its own storage.
    pub fn add(&mut self, name: String, dtype: DType, layout: Layout, nbytes: usize, bytes: Bytes) {
        self.add_of(name, Elements::Plain(dtype), layout, nbytes, bytes);
    }

    /// Like [`Contents::add`], for elements of any type.
    pub(crate) fn add_of(&mut self, name: String, elements: Elements, layout: Layout, nbytes: usize, bytes: Bytes) {
        let held = StorageInfo { key: name.clone(), nbytes: nbytes as u64, bytes, location: "cpu".to_owned() };
        let entry = Entry::new(name, DType::Byte, layout, held.nbytes, self.storages.len());
        self.entries.push(Entry { elements, ..entry });
        self.storages.push(held);
    }

    /// Returns the start and end of an entry's bytes, if they are inside its storage.
    pub fn extent(&self, entry: &Entry) -> Option<(u64, u64)> {
        let held = self.storages.get(entry.storage?)?;
        match entry.elements {
            Elements::Plain(dtype) => extent(&entry.layout, dtype, held.nbytes),
            Elements::Blocks(_) => (entry.nbytes <= held.nbytes).then_some((0, entry.nbytes)),
        }
    }

    /// Returns the storage of each piece of an entry, and the byte range of the piece if it is inside the storage.
    pub(crate) fn extents_of_pieces(&self, entry: &Entry) -> Vec<(usize, Option<(u64, u64)>)> {
        let Elements::Plain(dtype) = entry.elements else { return Vec::new() };
        let shown = |piece: &Piece| {
            let held = self.storages.get(piece.storage)?;
            Some((piece.storage, extent(&piece.layout, dtype, held.nbytes)))
        };
        entry.pieces.iter().filter_map(shown).collect()
    }
}

/// Returns the byte range of a layout, as start and end. `None` if it exceeds `held` bytes.
fn extent(layout: &Layout, dtype: DType, held: u64) -> Option<(u64, u64)> {
    let itemsize = dtype.itemsize() as u64;
    let first = u64::try_from(layout.offset).ok().and_then(|offset| offset.checked_mul(itemsize))?;
    let is_plain = layout.sizes.len() == layout.strides.len()
        && layout.sizes.iter().chain(&layout.strides).all(|&number| number >= 0);
    let end = if is_plain { layout.storage_elements().ok()? } else { return None };
    let end = u64::try_from(end).ok()?.checked_mul(itemsize).filter(|&end| end <= held)?;
    Some((first.min(end), end))
}

/// Escapes a name from a file, so that it cannot control the terminal. The top-level value does not have a name.
pub(crate) fn shown(name: &str) -> String {
    if name.is_empty() {
        return "(all)".to_owned();
    }
    name.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// The maximum depth of nested containers.
pub(crate) const DEEPEST: usize = 200;

/// Formats a count.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Describes a scale common to all elements.
pub(crate) fn scale_of_all(scale: f64, zero_point: i64) -> String {
    format!("scale {scale:?}, zero point {zero_point}")
}

/// Describes one scale per index of a dimension. The scales are listed as a tensor.
pub(crate) fn scales_of_each(axis: i64) -> String {
    format!("a scale for each index of dimension {axis}")
}
