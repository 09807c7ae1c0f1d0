//! Checkpoints of `torch.distributed.checkpoint`: a folder of files written by several processes, and `.metadata`,
//! which locates everything. Each piece of a tensor and each other value is an archive of `torch.save` inside a file.
//! Follows <https://pytorch.org/docs/2.7/distributed.checkpoint.html>. Executes nothing.

mod cover;
mod metadata;

use super::checkpoint::{self, Checkpoint, Location, Options};

use super::contents::{Bytes, Contents, Elements, Entry, Piece as Part, Plain, shown};
use super::listing;
use super::names::{Keys, at};
use super::parts::box_of;
use super::pickle::Mode;
use super::source::Source;
use metadata::{ArchiveLocation, Item, ItemContent, Metadata, PathStep, Piece, wrong};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;
use tensor::bail;
use tensor::layout::{checked_numel, contiguous_strides};
use tensor::ops::copy;
use tensor::{DType, Device, Error, ErrorKind, Layout, Result, View, interrupt};
use value::{Dict, List, Value};

/// The file name of the metadata.
pub(crate) const METADATA: &str = ".metadata";

/// The maximum size of the metadata, which is read as a whole.
const LARGEST_METADATA: usize = 1 << 29;

/// The maximum number of list items without a value. PyTorch leaves some for empty dictionaries.
const MOST_GAPS: usize = 1 << 16;

/// A folder with its metadata read.
struct Folder {
    name: String,
    metadata: Metadata,
    /// The data files by name. `nbytes` is their total size plus that of the metadata.
    files: HashMap<Rc<str>, Source>,
    nbytes: u64,
}

impl Folder {
    fn open(name: &str) -> Result<Folder> {
        let path = |file: &str| Path::new(name).join(file).to_string_lossy().into_owned();
        let source = Source::open(&path(METADATA))?;
        if source.len() > LARGEST_METADATA {
            return Err(wrong("it is too large"));
        }
        let bytes = source.bytes(0, source.len()).unwrap_or_default();
        let metadata = metadata::read(&bytes)?;
        let (mut files, mut nbytes) = (HashMap::new(), source.len() as u64);
        for (item, place) in metadata.items.iter().flat_map(places) {
            if !files.contains_key(&place.file) {
                let file = Source::open(&path(&place.file)).map_err(|error| match error.kind {
                    ErrorKind::FileNotFoundError => {
                        let (file, item) = (shown(&place.file), shown(&item.name));
                        Error::new(error.kind, format!("the file {file}, which has {item}, is missing"))
                    }
                    _ => error,
                })?;
                nbytes = nbytes.saturating_add(file.len() as u64);
                files.insert(place.file.clone(), file);
            }
            if files.get(&place.file).is_none_or(|file| place.start + place.length > file.len()) {
                let (file, item) = (shown(&place.file), shown(&item.name));
                return Err(wrong(format_args!("{item} lies beyond the end of {file}")));
            }
        }
        Ok(Folder { name: name.to_owned(), metadata, files, nbytes })
    }

    /// Returns the archive at a place, as a separate source.
    fn archive(&self, place: &ArchiveLocation) -> Result<Source> {
        let source = self.files.get(&place.file).and_then(|file| file.part(place.start, place.length));
        let source = source.ok_or_else(|| wrong(format_args!("{} is too short", shown(&place.file))))?;
        if !source.is_archive() {
            bail!(ValueError, "its bytes in {} are not an archive of torch.save", shown(&place.file));
        }
        Ok(source)
    }

    /// Returns the value of an archive.
    fn value(&self, place: &ArchiveLocation, mapped: bool) -> Result<Value> {
        let options = Options { location: Location::Here, mapped, with_arrays: true, ..Options::default() };
        checkpoint::load(&self.archive(place)?, &options)
    }

    /// Returns the tensor of an archive, after checking that it matches the metadata.
    fn piece(&self, piece: &Piece, dtype: DType, mapped: bool) -> Result<View> {
        let Value::Tensor(tensor) = self.value(&piece.place, mapped)? else {
            bail!(ValueError, "its piece at {:?} is not a tensor", piece.offsets.as_slice())
        };
        let view = tensor.view();
        if view.form.is_some() || view.device().is_meta() {
            bail!(ValueError, "its piece at {:?} is not an ordinary tensor with data", piece.offsets.as_slice());
        }
        agree(piece, dtype, (view.dtype, view.sizes()))?;
        copy::resolve_neg(&copy::resolve_conj(&view)?)
    }

    /// Returns a tensor: on its file if it has a single piece, otherwise assembled.
    fn tensor(&self, dtype: DType, sizes: &[i64], pieces: &[Piece], mapped: bool) -> Result<Value> {
        if let [piece] = pieces {
            // Make it contiguous, like PyTorch.
            return copy::contiguous(&self.piece(piece, dtype, mapped)?).map(Value::from);
        }
        let whole = View::unwritten(sizes, dtype, Device::CPU)?;
        for piece in pieces {
            interrupt::check()?;
            copy::copy_into(&box_of(&whole, &piece.offsets, &piece.sizes), &self.piece(piece, dtype, mapped)?)?;
        }
        Ok(Value::from(whole))
    }

    fn item(&self, item: &Item, mapped: bool) -> Result<Value> {
        interrupt::check()?;
        match &item.what {
            ItemContent::Tensor { dtype, sizes, pieces } => self.tensor(*dtype, sizes, pieces, mapped),
            ItemContent::Other(place) => self.value(place, mapped),
        }
        .map_err(|error| of_item(item, error))
    }

    /// Adds the contents of an archive.
    fn list(&self, place: &ArchiveLocation, name: &str, contents: &mut Contents) -> Result<Vec<Entry>> {
        let source = self.archive(place)?;
        let mut inner = Contents::new(&source, "");
        listing::list(Checkpoint::read(&source, Mode::Report)?, &mut inner)?;
        let below = |inner: String| match inner.chars().next() {
            None => name.to_owned(),
            Some('[' | '(') => format!("{name}{inner}"),
            Some(_) => Keys::Plain.under(name, &inner),
        };
        let first = contents.storages.len();
        for (index, mut held) in inner.storages.into_iter().enumerate() {
            // Offsets are relative to the start of the file.
            if let (Bytes::Stored(_, start), Some(file)) = (&held.bytes, self.files.get(&place.file)) {
                held.bytes = Bytes::Stored(file.clone(), place.start.saturating_add(*start));
            }
            held.key = match index {
                0 => format!("{}@{}", place.file, place.start),
                _ => format!("{}@{}/{}", place.file, place.start, held.key),
            };
            contents.storages.push(held);
        }
        let value = |value: Plain| Plain { name: below(value.name), ..value };
        contents.values.extend(inner.values.into_iter().map(value));
        let unknown: BTreeSet<String> = contents.unknown.drain(..).chain(inner.unknown).collect();
        contents.unknown = unknown.into_iter().collect();
        let entry = |entry: Entry| Entry {
            name: below(entry.name),
            storage: entry.storage.map(|storage| storage + first),
            ..entry
        };
        Ok(inner.entries.into_iter().map(entry).collect())
    }

    fn list_tensor(&self, name: &str, what: (DType, &[i64]), pieces: &[Piece], contents: &mut Contents) -> Result<()> {
        let (dtype, sizes) = what;
        let mut parts = Vec::new();
        for piece in pieces {
            let entry = <[Entry; 1]>::try_from(self.list(&piece.place, name, contents)?).ok();
            let Some(([entry], storage)) = entry.and_then(|entry| {
                let storage = entry.first()?.storage?;
                Some((entry, storage))
            }) else {
                bail!(ValueError, "its piece at {:?} is not a tensor with data", piece.offsets.as_slice())
            };
            match entry.elements {
                Elements::Plain(found) => agree(piece, dtype, (found, &entry.layout.sizes))?,
                Elements::Blocks(_) => bail!(ValueError, "its piece is made of blocks"),
            }
            if pieces.len() == 1 {
                contents.entries.push(entry);
                return Ok(());
            }
            parts.push(Part { offsets: piece.offsets.clone(), layout: entry.layout, storage });
        }
        let nbytes = checked_numel(sizes)?.saturating_mul(dtype.itemsize() as i64);
        let layout = Layout { sizes: sizes.into(), strides: contiguous_strides(sizes), offset: 0 };
        let entry = Entry::new(name.to_owned(), dtype, layout, nbytes as u64, 0);
        contents.entries.push(Entry { storage: None, pieces: parts, ..entry });
        Ok(())
    }
}

/// Returns the places of an item.
fn places(item: &Item) -> Vec<(&Item, &ArchiveLocation)> {
    match &item.what {
        ItemContent::Tensor { pieces, .. } => pieces.iter().map(|piece| (item, &piece.place)).collect(),
        ItemContent::Other(place) => vec![(item, place)],
    }
}

/// Checks that an archive matches the metadata.
fn agree(piece: &Piece, dtype: DType, found: (DType, &[i64])) -> Result<()> {
    let (found, sizes) = found;
    if found != dtype || *sizes != *piece.sizes {
        let (at, wanted) = (piece.offsets.as_slice(), piece.sizes.as_slice());
        bail!(
            ValueError,
            "its piece at {at:?} is {} of {sizes:?}, where .metadata says {} of {wanted:?}",
            found.name(),
            dtype.name()
        );
    }
    Ok(())
}

fn of_item(item: &Item, error: Error) -> Error {
    match error.kind {
        ErrorKind::KeyboardInterrupt => error,
        kind => Error::new(kind, format!("{}: {}", shown(&item.name), error.message)),
    }
}

/// Loads all values of a folder, nested as when they were saved.
///
/// # Errors
/// Fails with ValueError for metadata that contradicts itself or the files, with FileNotFoundError for a missing file,
/// and with the errors of `torch.load`.
pub(crate) fn load(folder: &str, mapped: bool) -> Result<Value> {
    let folder = Folder::open(folder)?;
    let mut root = Tree::Dict(Vec::new(), HashMap::new());
    let mut gaps = MOST_GAPS;
    for item in &folder.metadata.items {
        let value = folder.item(item, mapped)?;
        root.put(&item.path, value, &mut gaps).map_err(|error| of_item(item, error))?;
    }
    root.value()
}

/// Returns the contents of a folder.
///
/// # Errors
/// The errors of [`load`].
pub(crate) fn contents(folder: &str) -> Result<Contents> {
    let folder = Folder::open(folder)?;
    let (name, nbytes) = (folder.name.clone(), folder.nbytes);
    let mut contents = Contents { name, format: "checkpoint of torch.distributed", nbytes, ..Contents::default() };
    for item in &folder.metadata.items {
        interrupt::check()?;
        let name = name_of(&item.path);
        match &item.what {
            ItemContent::Tensor { dtype, sizes, pieces } => {
                folder.list_tensor(&name, (*dtype, sizes), pieces, &mut contents)
            }
            ItemContent::Other(place) => {
                let listed = folder.list(place, &name, &mut contents);
                listed.map(|entries| contents.entries.extend(entries))
            }
        }
        .map_err(|error| of_item(item, error))?;
    }
    Ok(contents)
}

/// Returns the name for a path, as in reports on other files.
fn name_of(path: &[PathStep]) -> String {
    path.iter().fold(String::new(), |name, step| match step {
        PathStep::Key(key) => Keys::Plain.under(&name, key),
        PathStep::Index(index) => at(&name, index),
    })
}

/// Containers under construction.
enum Tree {
    /// A list item without a saved value.
    Gap,
    Leaf(Value),
    /// The entries in order, and the index of each key.
    Dict(Vec<(Rc<str>, Tree)>, HashMap<Rc<str>, usize>),
    List(Vec<Tree>),
}

impl Tree {
    /// Stores a value at a path, creating the containers on the way. `gaps` is the number of list items that may still
    /// be left unset.
    fn put(&mut self, path: &[PathStep], value: Value, gaps: &mut usize) -> Result<()> {
        let mut at = self;
        for step in path {
            if let Tree::Gap = at {
                *at = match step {
                    PathStep::Key(_) => Tree::Dict(Vec::new(), HashMap::new()),
                    PathStep::Index(_) => Tree::List(Vec::new()),
                };
            }
            at = at.below(step, gaps)?;
        }
        match at {
            Tree::Gap => *at = Tree::Leaf(value),
            _ => return Err(wrong("two values have the same path")),
        }
        Ok(())
    }

    fn below(&mut self, step: &PathStep, gaps: &mut usize) -> Result<&mut Tree> {
        let found = match (self, step) {
            (Tree::Dict(entries, places), PathStep::Key(key)) => {
                let place = *places.entry(key.clone()).or_insert(entries.len());
                if place == entries.len() {
                    entries.push((key.clone(), Tree::Gap));
                }
                entries.get_mut(place).map(|(_, tree)| tree)
            }
            (Tree::List(items), PathStep::Index(index)) => {
                let missing = index.saturating_sub(items.len());
                let rest = gaps.checked_sub(missing);
                *gaps = rest.ok_or_else(|| wrong("its list lacks too many items"))?;
                while items.len() <= *index {
                    items.push(Tree::Gap);
                }
                items.get_mut(*index)
            }
            _ => None,
        };
        found.ok_or_else(|| wrong("its path leads through a value that is not a container"))
    }

    /// Converts the tree to a value.
    fn value(self) -> Result<Value> {
        Ok(match self {
            Tree::Gap => Value::None,
            Tree::Leaf(value) => value,
            Tree::Dict(entries, _) => {
                let dict = Dict::default();
                for (key, tree) in entries {
                    dict.insert(Value::str(&*key), tree.value()?)?;
                }
                Value::Dict(dict)
            }
            Tree::List(items) => {
                let list = List::default();
                list.replace(items.into_iter().map(Tree::value).collect::<Result<_>>()?)?;
                Value::List(list)
            }
        })
    }
}
