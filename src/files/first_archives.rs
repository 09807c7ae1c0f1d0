//! Checkpoints of PyTorch's first versions: a tar archive with the bytes of storages, the layouts of tensors, and a
//! pickle that refers to both by number. PyTorch reads them under `weights_only=False` alone.

use super::checkpoint::{Checkpoint, Data};
use super::legacy::{self, Legacy};
use super::pickle::{self, Class, Mode, Node, Pickled, Saved, TensorDescription};
use super::source::Source;
use std::collections::HashMap;
use std::rc::Rc;
use tensor::bail;
use tensor::{DType, Dims, Error, ErrorKind, Layout, Result};

/// The maximum size of the pickle, which is read as a whole.
const LARGEST_PICKLE: usize = 1 << 29;
/// The maximum number of dimensions. A tensor with more is damaged.
const MOST_DIMENSIONS: usize = 64;
/// The place of a tar archive's magic word.
const MAGIC: (usize, &[u8]) = (257, b"ustar");

/// The parts of an archive.
struct Parts {
    storages: Source,
    tensors: Source,
    pickle: Source,
}

/// Returns whether a file is a tar archive.
pub(crate) fn is_tar(source: &Source) -> bool {
    source.bytes(MAGIC.0, MAGIC.1.len()).is_some_and(|magic| magic == MAGIC.1)
}

/// Returns whether a file is a tar archive of a checkpoint.
///
/// # Errors
/// Fails with RuntimeError for a tar archive that is damaged.
pub(crate) fn is_one(source: &Source) -> Result<bool> {
    match is_tar(source).then(|| Parts::of(source)) {
        None => Ok(false),
        Some(Err(error)) if error.kind == ErrorKind::ValueError => Ok(false),
        Some(parts) => parts.map(|_| true),
    }
}

impl Parts {
    fn of(source: &Source) -> Result<Parts> {
        let damaged = |error: std::io::Error| Error::runtime(format!("the tar archive is damaged: {error}"));
        let mut archive = tar::Archive::new(source.reader());
        let mut found: HashMap<String, Source> = HashMap::new();
        for entry in archive.entries_with_seek().map_err(damaged)? {
            tensor::interrupt::check()?;
            let entry = entry.map_err(damaged)?;
            let name = entry.path().map_err(damaged)?.to_string_lossy().into_owned();
            let (start, nbytes) = (usize::try_from(entry.raw_file_position()), usize::try_from(entry.size()));
            let part = start.ok().zip(nbytes.ok()).and_then(|(start, nbytes)| source.part(start, nbytes));
            found.insert(name, part.ok_or_else(|| Error::runtime("the tar archive is cut off"))?);
        }
        let is_begun = found.contains_key("sys_info") || found.contains_key("pickle");
        let mut part = |name: &str| {
            let missing = || match is_begun {
                true => Error::runtime(format!("the tar archive is cut off: it has no {name}")),
                false => Error::value(format!("the tar archive has no {name}, so it is not a checkpoint")),
            };
            found.remove(name).ok_or_else(missing)
        };
        Ok(Parts { storages: part("storages")?, tensors: part("tensors")?, pickle: part("pickle")? })
    }
}

/// What the archive describes before its pickle.
#[derive(Default)]
struct Described {
    storages: Vec<Saved>,
    /// The index of each storage, by its number.
    indices: HashMap<i128, usize>,
    /// The positions of the storages' bytes, by their keys.
    places: HashMap<Rc<str>, usize>,
    /// Storages and tensors, by the numbers that the pickle uses.
    objects: HashMap<String, Node>,
}

/// Reads the description of a checkpoint's values.
///
/// # Errors
/// Fails with RuntimeError in [`Mode::Load`], as in PyTorch, and with RuntimeError and other errors for damaged files.
pub(crate) fn open(source: &Source, mode: Mode) -> Result<Checkpoint> {
    if mode == Mode::Load {
        bail!(
            RuntimeError,
            "Cannot use ``weights_only=True`` with files saved in the legacy .tar format. In PyTorch 2.6, we changed the \
             default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running \
             `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code \
             execution. Do it only if you got the file from a trusted source."
        );
    }
    let parts = Parts::of(source)?;
    let mut described = Described::default();
    described.read_storages(&parts.storages, mode)?;
    described.read_tensors(&parts.tensors, mode)?;
    let bytes = parts.pickle.bytes(0, parts.pickle.len().min(LARGEST_PICKLE)).unwrap_or_default();
    let pickled = pickle::read_with(&bytes, mode, described.storages, described.objects)?;
    let data = Data::Legacy(Legacy::new(parts.storages, described.places));
    Ok(Checkpoint { pickled, data })
}

fn damaged(what: &str) -> Error {
    Error::runtime(format!("the tar archive is damaged: {what}"))
}

/// Reads a pickle of a count.
fn count(source: &Source, at: &mut usize, mode: Mode) -> Result<usize> {
    match legacy::number(source, at, mode)?.and_then(|count| usize::try_from(count).ok()) {
        // An item takes more than a byte.
        Some(count) if count <= source.len() => Ok(count),
        _ => Err(damaged("a count is invalid")),
    }
}

/// Returns the integer at a position, and advances the position.
fn i64_at(source: &Source, at: &mut usize) -> Result<i64> {
    let bytes = source.bytes(*at, 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
    *at = at.saturating_add(8);
    bytes.map(i64::from_le_bytes).ok_or_else(|| Error::new(ErrorKind::EOFError, ""))
}

/// Returns the items of a tuple.
fn tuple<const N: usize>(pickled: &Pickled) -> Result<[&Node; N]> {
    match pickled.node(pickled.root) {
        Node::Tuple(items) => <[&Node; N]>::try_from(items.iter().map(|id| pickled.node(*id)).collect::<Vec<_>>()).ok(),
        _ => None,
    }
    .ok_or_else(|| damaged("a description has other parts"))
}

fn int(node: &Node) -> Result<i128> {
    match node {
        Node::Int(number) => Ok(*number),
        Node::Str(digits) => digits.parse().map_err(|_| damaged("a number is invalid")),
        _ => Err(damaged("a number is missing")),
    }
}

impl Described {
    fn add(&mut self, number: i128, saved: Saved) {
        self.objects.insert(number.to_string(), Node::Storage(self.storages.len()));
        self.indices.insert(number, self.storages.len());
        self.storages.push(saved);
    }

    fn read_storages(&mut self, source: &Source, mode: Mode) -> Result<()> {
        let mut at = 0;
        for _ in 0..count(source, &mut at, mode)? {
            tensor::interrupt::check()?;
            let pickled = legacy::next(source, &mut at, mode)?;
            let [key, location, class] = tuple(&pickled)?;
            let (Node::Str(location), Node::Class(Class::Storage(dtype))) = (location, class) else {
                return Err(damaged("a storage has no class"));
            };
            let (number, itemsize) = (int(key)?, dtype.map_or(1, DType::itemsize));
            let nbytes = usize::try_from(i64_at(source, &mut at)?).ok().and_then(|count| count.checked_mul(itemsize));
            let end = nbytes.and_then(|nbytes| at.checked_add(nbytes)).filter(|&end| end <= source.len());
            let (Some(nbytes), Some(end)) = (nbytes, end) else {
                return Err(damaged("a storage lies beyond its end"));
            };
            let key: Rc<str> = number.to_string().into();
            self.places.insert(key.clone(), at);
            self.add(
                number,
                Saved { key, dtype: *dtype, nbytes, location: location.clone(), part_of: None, inline: None },
            );
            at = end;
        }
        let views = legacy::next(source, &mut at, mode)?;
        let Node::List(items) = views.node(views.root) else {
            return Err(damaged("the parts of storages are missing"));
        };
        for item in items {
            let Node::Tuple(parts) = views.node(*item) else { return Err(damaged("a part of a storage is invalid")) };
            let parts = parts.iter().map(|id| int(views.node(*id))).collect::<Result<Vec<_>>>()?;
            let &[number, whole, offset, length] = parts.as_slice() else {
                return Err(damaged("a part of a storage is invalid"));
            };
            let saved = self.indices.get(&whole).and_then(|&index| Some((index, self.storages.get(index)?)));
            let (index, saved) = saved.ok_or_else(|| damaged("a part of a storage has no whole"))?;
            let bytes = |count: i128| usize::try_from(count).ok()?.checked_mul(saved.dtype.map_or(1, DType::itemsize));
            let (Some(start), Some(nbytes), None) = (bytes(offset), bytes(length), saved.part_of) else {
                return Err(damaged("a part of a storage is invalid"));
            };
            let part_of = Some((index, start));
            let saved = Saved { key: number.to_string().into(), nbytes, part_of, ..saved.clone() };
            self.add(number, saved);
        }
        Ok(())
    }

    fn read_tensors(&mut self, source: &Source, mode: Mode) -> Result<()> {
        let mut at = 0;
        for _ in 0..count(source, &mut at, mode)? {
            tensor::interrupt::check()?;
            let pickled = legacy::next(source, &mut at, mode)?;
            let [key, storage, _] = tuple(&pickled)?;
            let index = self.indices.get(&int(storage)?).copied();
            let index = index.ok_or_else(|| damaged("a tensor has no storage"))?;
            let dtype = self.storages.get(index).and_then(|saved| saved.dtype).unwrap_or(DType::Byte);
            // The number of dimensions has 4 bytes, and 4 more that are not used.
            let ndim = i64_at(source, &mut at)? as u32 as usize;
            if ndim > MOST_DIMENSIONS {
                return Err(damaged("a tensor has too many dimensions"));
            }
            let mut dims = || (0..ndim).map(|_| i64_at(source, &mut at)).collect::<Result<Dims>>();
            let (sizes, strides) = (dims()?, dims()?);
            let layout = Layout { sizes, strides, offset: i64_at(source, &mut at)? };
            let node = Node::Tensor(Rc::new(TensorDescription::on(index, dtype, layout)));
            self.objects.insert(int(key)?.to_string(), node);
        }
        Ok(())
    }
}
