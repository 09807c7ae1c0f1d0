//! `.metadata`: the pickle that locates every box of every tensor. Understands only the classes written by
//! `torch.distributed.checkpoint`, as descriptions; nothing is called. Knows no other files.

use super::cover;
use crate::contents::shown;
use crate::pickle::{self, Class, Id, Mode, Node, Pickled};
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};
use std::rc::Rc;
use tensor::bail;
use tensor::layout::checked_numel;
use tensor::{DType, Dims, Error, Result, interrupt};

/// The maximum depth of nested containers.
const DEEPEST: usize = 200;

/// The maximum number of dimensions, as in PyTorch.
const MOST_DIMENSIONS: usize = 64;

/// The maximum number of attributes of an object. A few bytes may reference one object often.
const MOST_ATTRIBUTES: usize = 64;

const CLASSES: &str = "torch.distributed.checkpoint.metadata";

/// The items described by the metadata, in order.
#[derive(Debug)]
pub(super) struct Metadata {
    pub items: Vec<Item>,
}

/// A tensor or another value.
#[derive(Debug)]
pub(super) struct Item {
    /// The full name: `model.weight`.
    pub name: Rc<str>,
    /// The keys and indices that lead to it.
    pub path: Vec<PathStep>,
    pub what: ItemContent,
}

/// A dictionary key or a list index.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PathStep {
    Key(Rc<str>),
    Index(usize),
}

#[derive(Debug)]
pub(super) enum ItemContent {
    Tensor { dtype: DType, sizes: Dims, pieces: Vec<Piece> },
    Other(ArchiveLocation),
}

/// A box of a tensor.
#[derive(Debug)]
pub(super) struct Piece {
    /// Its first index in every dimension.
    pub offsets: Dims,
    pub sizes: Dims,
    pub place: ArchiveLocation,
}

/// The location of an archive inside a file.
#[derive(Clone, Debug)]
pub(super) struct ArchiveLocation {
    pub file: Rc<str>,
    pub start: usize,
    pub length: usize,
}

/// The error for invalid metadata.
pub(super) fn wrong(why: impl std::fmt::Display) -> Error {
    Error::value(format!("the checkpoint's .metadata is wrong: {why}"))
}

/// Reads the metadata.
///
/// # Errors
/// Fails with ValueError for impossible pieces, and with EOFError, UnpicklingError and others for damaged files.
pub(super) fn read(bytes: &[u8]) -> Result<Metadata> {
    let pickled = pickle::read(bytes, &mut 0, Mode::Report)?;
    let reader = Reader { pickled: &pickled };
    let metadata = reader.object(pickled.root, "Metadata")?;
    let mut places = reader.places(metadata.get("storage_data")?)?;
    let paths = reader.paths(metadata.get("planner_data").ok())?;
    let mut items = Vec::new();
    let mut names = HashSet::new();
    for &(name, described) in reader.dict(metadata.get("state_dict_metadata")?)? {
        interrupt::check()?;
        let name = reader.text(name)?;
        if !names.insert(name.clone()) {
            return Err(wrong(format_args!("{} is described twice", shown(&name))));
        }
        let said = |error: Error| Error::new(error.kind, format!("{}: {}", shown(&name), error.message));
        let what = reader.what(&name, described, &mut places).map_err(said)?;
        let path = paths.get(&name).cloned().unwrap_or_else(|| vec![PathStep::Key(name.clone())]);
        items.push(Item { name, path, what });
    }
    refuse_shared(&items)?;
    Ok(Metadata { items })
}

/// Rejects items that share bytes.
fn refuse_shared(items: &[Item]) -> Result<()> {
    let mut all: Vec<(&ArchiveLocation, &str)> = Vec::new();
    for item in items {
        match &item.what {
            ItemContent::Tensor { pieces, .. } => all.extend(pieces.iter().map(|piece| (&piece.place, &*item.name))),
            ItemContent::Other(place) => all.push((place, &item.name)),
        }
    }
    all.sort_by_key(|(place, _)| (&place.file, place.start));
    for pair in all.windows(2) {
        if let [(one, name), (next, other)] = pair
            && one.file == next.file
            && one.start + one.length > next.start
        {
            let (name, other) = (shown(name), shown(other));
            return Err(wrong(format_args!("{name} and {other} share bytes of {}", shown(&one.file))));
        }
    }
    Ok(())
}

/// The places of pieces, by the name of the tensor and the piece's first index, and of other values.
type ArchiveLocations = HashMap<(Rc<str>, Option<Dims>), ArchiveLocation>;

struct Reader<'p> {
    pickled: &'p Pickled,
}

/// The attributes of an object.
struct Attributes<'p> {
    class: &'static str,
    entries: HashMap<&'p str, Id>,
}

impl Attributes<'_> {
    fn get(&self, name: &str) -> Result<Id> {
        let found = self.entries.get(name).copied();
        found.ok_or_else(|| wrong(format_args!("a {} has no {name}", self.class)))
    }
}

impl<'p> Reader<'p> {
    /// Returns the name of an object's class, and the parts it was made of.
    fn class(&self, id: Id) -> Option<(&'p str, &'p [Id])> {
        match self.pickled.node(id) {
            Node::Unknown(class, parts, _) => Some((self.pickled.unknown.get(*class)?, parts)),
            _ => None,
        }
    }

    fn is_of(&self, id: Id, class: &str) -> bool {
        let module = if class == "_StorageInfo" { "torch.distributed.checkpoint.filesystem" } else { CLASSES };
        let found = self.class(id).and_then(|(name, _)| name.strip_prefix(module)?.strip_prefix('.'));
        found == Some(class)
    }

    /// Returns the attributes of an object of this class.
    fn object(&self, id: Id, class: &'static str) -> Result<Attributes<'p>> {
        if !self.is_of(id, class) {
            let found = self.class(id).map_or("another value", |(found, _)| found);
            return Err(wrong(format_args!("expected a {class}, not {}", shown(found))));
        }
        let (_, parts) = self.class(id).unwrap_or_default();
        let mut entries = HashMap::new();
        let attributes = parts.iter().map(|&part| self.dict(part).map_or(1, <[_]>::len));
        if parts.len() > MOST_ATTRIBUTES || attributes.sum::<usize>() > MOST_ATTRIBUTES {
            return Err(wrong(format_args!("a {class} has more than {MOST_ATTRIBUTES} attributes")));
        }
        for &part in parts {
            if let Node::Dict(attributes, _) = self.pickled.node(part) {
                for &(name, value) in attributes {
                    if let Node::Str(name) = self.pickled.node(name) {
                        entries.insert(&**name, value);
                    }
                }
            }
        }
        Ok(Attributes { class, entries })
    }

    fn dict(&self, id: Id) -> Result<&'p [(Id, Id)]> {
        match self.pickled.node(id) {
            Node::Dict(entries, _) => Ok(entries),
            _ => Err(wrong("expected a dictionary")),
        }
    }

    fn items(&self, id: Id) -> Result<&'p [Id]> {
        match self.pickled.node(id) {
            Node::List(items) | Node::Tuple(items) => Ok(items),
            _ => Err(wrong("expected a list")),
        }
    }

    fn text(&self, id: Id) -> Result<Rc<str>> {
        match self.pickled.node(id) {
            Node::Str(text) => Ok(text.clone()),
            _ => Err(wrong("expected a string")),
        }
    }

    fn count(&self, id: Id) -> Result<usize> {
        match self.pickled.node(id) {
            Node::Int(number) => usize::try_from(*number).ok().filter(|&number| i64::try_from(number).is_ok()),
            _ => None,
        }
        .ok_or_else(|| wrong("expected a non-negative number"))
    }

    /// Reads sizes or offsets.
    fn sizes(&self, id: Id) -> Result<Dims> {
        let count = match self.pickled.node(id) {
            Node::Size(sizes) => sizes.len(),
            _ => self.items(id)?.len(),
        };
        if count > MOST_DIMENSIONS {
            return Err(wrong(format_args!("a tensor of {count} dimensions")));
        }
        let sizes = match self.pickled.node(id) {
            Node::Size(sizes) => sizes.clone(),
            _ => self.items(id)?.iter().map(|&item| self.count(item).map(|size| size as i64)).collect::<Result<_>>()?,
        };
        if sizes.iter().any(|&size| size < 0) {
            return Err(wrong(format_args!("{:?} is negative", sizes.as_slice())));
        }
        Ok(sizes)
    }

    fn places(&self, id: Id) -> Result<ArchiveLocations> {
        let mut places = ArchiveLocations::new();
        for &(index, info) in self.dict(id)? {
            interrupt::check()?;
            let index = self.object(index, "MetadataIndex")?;
            let name = self.text(index.get("fqn")?)?;
            let offset = match index.get("offset") {
                Ok(offset) if !matches!(self.pickled.node(offset), Node::None) => Some(self.sizes(offset)?),
                _ => None,
            };
            let said = |error: Error| Error::new(error.kind, format!("{}: {}", shown(&name), error.message));
            let place = self.place(info).map_err(said)?;
            if places.insert((name.clone(), offset), place).is_some() {
                return Err(wrong(format_args!("{} has two locations for one piece", shown(&name))));
            }
        }
        Ok(places)
    }

    fn place(&self, id: Id) -> Result<ArchiveLocation> {
        let info = self.object(id, "_StorageInfo")?;
        if let Ok(transforms) = info.get("transform_descriptors")
            && !matches!(self.pickled.node(transforms), Node::None)
            && !self.items(transforms)?.is_empty()
        {
            bail!(ValueError, "it is compressed or transformed, which tensorsh does not read");
        }
        let file = self.text(info.get("relative_path")?)?;
        let mut parts = Path::new(&*file).components().peekable();
        if parts.peek().is_none() || !parts.all(|part| matches!(part, Component::Normal(_))) || file.contains('\0') {
            return Err(wrong(format_args!("the file {} lies outside of the folder", shown(&file))));
        }
        let (start, length) = (self.count(info.get("offset")?)?, self.count(info.get("length")?)?);
        if start.checked_add(length).is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(wrong(format_args!("{length} bytes from {start} on are not in any file")));
        }
        Ok(ArchiveLocation { file, start, length })
    }

    /// Returns the keys that lead to each value. A value without an entry is at the top level.
    fn paths(&self, id: Option<Id>) -> Result<HashMap<Rc<str>, Vec<PathStep>>> {
        let Some(Node::Dict(entries, _)) = id.map(|id| self.pickled.node(id)) else { return Ok(HashMap::new()) };
        let step = |&id: &Id| match self.pickled.node(id) {
            Node::Str(key) => Ok(PathStep::Key(key.clone())),
            _ => self.count(id).map(PathStep::Index),
        };
        let mut paths = HashMap::new();
        for &(name, path) in entries {
            let name = self.text(name)?;
            let path = self.items(path)?;
            if path.len() > DEEPEST {
                bail!(RecursionError, "maximum recursion depth exceeded: the file nests its containers too deeply");
            }
            let path = path.iter().map(step).collect::<Result<Vec<PathStep>>>()?;
            if !matches!(path.first(), Some(PathStep::Key(_))) {
                return Err(wrong(format_args!("{} is not in a dictionary", shown(&name))));
            }
            paths.insert(name, path);
        }
        Ok(paths)
    }

    fn what(&self, name: &Rc<str>, id: Id, places: &mut ArchiveLocations) -> Result<ItemContent> {
        if self.is_of(id, "BytesStorageMetadata") {
            let place = places.remove(&(name.clone(), None));
            return place.map(ItemContent::Other).ok_or_else(|| wrong("its bytes are missing"));
        }
        let tensor = self.object(id, "TensorStorageMetadata")?;
        let sizes = self.sizes(tensor.get("size")?)?;
        let dtype = self.dtype(tensor.get("properties")?)?;
        let mut pieces = Vec::new();
        for &chunk in self.items(tensor.get("chunks")?)? {
            let chunk = self.object(chunk, "ChunkStorageMetadata")?;
            let (offsets, extent) = (self.sizes(chunk.get("offsets")?)?, self.sizes(chunk.get("sizes")?)?);
            let at = offsets.as_slice();
            let place = places.remove(&(name.clone(), Some(offsets.clone())));
            let place = place.ok_or_else(|| wrong(format_args!("the bytes of its piece at {at:?} are missing")))?;
            // A piece takes at least the bytes of its elements, so a tensor cannot be larger than its files.
            let count = usize::try_from(checked_numel(&extent)?).ok();
            if count.and_then(|count| count.checked_mul(dtype.itemsize())).is_none_or(|nbytes| nbytes > place.length) {
                return Err(wrong(format_args!("{} bytes are too few for its piece at {at:?}", place.length)));
            }
            pieces.push(Piece { offsets, sizes: extent, place });
        }
        cover::check(&sizes, &pieces)?;
        Ok(ItemContent::Tensor { dtype, sizes, pieces })
    }

    /// Reads the dtype, the first of a tensor's properties.
    fn dtype(&self, id: Id) -> Result<DType> {
        self.object(id, "TensorProperties")?;
        let state = self.class(id).and_then(|(_, parts)| parts.iter().find_map(|&part| self.items(part).ok()?.first()));
        match state.map(|&dtype| self.pickled.node(dtype)) {
            Some(Node::Class(Class::DType(dtype))) => Ok(*dtype),
            _ => Err(wrong("its dtype is not supported")),
        }
    }
}
