//! Converts files of tensors to another format, or their floats to another dtype. Tensors are copied from file to file
//! in pieces, so their size does not matter. Contents that a format cannot represent are rejected by name before
//! anything is written.

use super::archive::Body;
use super::checkpoint::{folder_of, is_foreign, replacing, write_bodies};
use super::contents::{Contents, DEEPEST, Elements, Entry, Plain, count, shown};
use super::format::{Input, Loading, Target, target};
use super::names::Leaf;
use super::npz::Array;
use super::parts::{Part, box_of};
use super::pickle::Facts;
use super::safetensors::{Outgoing, area, overlapping, set_text};
use super::select::{Selection, check_distinct};
use super::values::contents_of;
use super::{gguf, npy, npz, safetensors, shards};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{BufWriter, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tensor::bail;
use tensor::interrupt::{self, Interrupt};
use tensor::ops::copy;
use tensor::thresholds::CONVERTED;
use tensor::{DType, Device, Dims, Error, Form, Layout, MemoryFormat, Result, Storage, Tensor, TypedStorage, View};
use value::{Dict, List, Value};

/// What to convert, and how.
#[derive(Clone, Debug, Default)]
pub struct Conversion {
    /// The name of the new dtype of floats, and of blocks of a GGUF file, which otherwise become `float32`.
    pub dtype: Option<String>,
    /// The patterns of names to take; all names if empty.
    pub only: Vec<String>,
    /// The beginnings of names to replace, and their replacements.
    pub rename: Vec<(String, String)>,
    /// Whether to leave out what is not a tensor.
    pub tensors: bool,
    /// Whether to write tensors that share bytes each on its own.
    pub clone: bool,
    /// Whether to write elements that a format lacks as unsigned integers of the same bits.
    pub bits: bool,
    /// Whether a checkpoint keeps the devices that tensors were saved from.
    pub keep_device: bool,
    /// The maximum number of bytes of the tensors in one file.
    pub shard_size: Option<u64>,
}

/// Converts a file or folder to another file, in the format given by its extension. Stops when `stop` is set. Returns
/// notes on what is left out or written otherwise.
///
/// # Errors
/// Fails with ValueError for an unknown extension, for tensors and values that the format cannot represent, and for names
/// that nothing or several things have. Fails with TypeError for a dtype other than a float. Also fails with errors of
/// reading and writing, and with KeyboardInterrupt.
pub fn convert(from: &Input, to: &str, how: &Conversion, stop: &Arc<AtomicBool>) -> Result<Vec<String>> {
    interrupt::watch(&Interrupt::of(stop.clone()));
    let target = target(to)?;
    let work = Work {
        how,
        dtype: how.dtype.as_deref().map(float_named).transpose()?,
        selection: Selection::new(&how.only, &how.rename),
        left_out: RefCell::default(),
        notes: RefCell::default(),
    };
    work.check_options(target)?;
    let told = from.contents()?;
    work.say_devices(&told);
    match target {
        Target::Checkpoint => work.to_checkpoint(from, &told, to)?,
        _ => work.to_tensors(&told, target, to)?,
    }
    let are_kept = target == Target::Safetensors && !told.format.starts_with(gguf::FORMAT);
    if !told.metadata.is_empty() && !are_kept {
        work.say(format!("{} of metadata left out", count(told.metadata.len(), "text")));
    }
    Ok(work.notes())
}

/// Returns the float dtype of this name, with or without `torch.`.
fn float_named(name: &str) -> Result<DType> {
    match DType::from_name(name.strip_prefix("torch.").unwrap_or(name)) {
        Some(dtype) if dtype.is_floating_point() => Ok(dtype),
        _ => {
            let floats = DType::ALL.iter().filter(|dtype| dtype.is_floating_point()).map(|dtype| dtype.name());
            bail!(
                TypeError,
                "{name} is not a floating-point dtype: choose one of {}",
                floats.collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// A conversion under way.
struct Work<'w> {
    how: &'w Conversion,
    dtype: Option<DType>,
    selection: Selection,
    /// The names of what is no tensor and is left out.
    left_out: RefCell<Vec<String>>,
    notes: RefCell<Vec<String>>,
}

impl Work<'_> {
    fn say(&self, note: String) {
        self.notes.borrow_mut().push(note);
    }

    fn notes(self) -> Vec<String> {
        /// The number of names to list.
        const LISTED: usize = 10;
        let mut notes = self.notes.into_inner();
        let left_out = self.left_out.into_inner();
        if !left_out.is_empty() {
            let names = left_out.iter().take(LISTED).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
            let more = if left_out.len() > LISTED { ", …" } else { "" };
            let what = match left_out.len() {
                1 => "1 value that is not a tensor".to_owned(),
                several => format!("{several} values that are not tensors"),
            };
            notes.push(format!("left out {what}: {names}{more}"));
        }
        notes
    }

    /// Rejects options that mean nothing for a format.
    fn check_options(&self, target: Target) -> Result<()> {
        let Conversion { bits, keep_device, shard_size, .. } = *self.how;
        let wrong = [
            (keep_device && target != Target::Checkpoint, "--keep-device", "checkpoints, which alone know of devices"),
            (bits && target == Target::Checkpoint, "--bits", "formats that lack dtypes; a checkpoint has them all"),
            (shard_size.is_some() && target != Target::Safetensors, "--shard-size", "safetensors"),
        ];
        match wrong.iter().find(|(is_wrong, ..)| *is_wrong) {
            Some((_, option, what)) => bail!(ValueError, "{option} is for {what}"),
            None => Ok(()),
        }
    }

    fn say_devices(&self, told: &Contents) {
        let foreign: BTreeSet<&str> =
            told.storages.iter().map(|held| held.location.as_str()).filter(|location| is_foreign(location)).collect();
        if !foreign.is_empty() && !self.how.keep_device {
            let names = foreign.into_iter().map(shown).collect::<Vec<_>>().join(", ");
            self.say(format!("tensors saved from {names} are written for the CPU"));
        }
    }

    /// Converts to a format of named, independent tensors.
    fn to_tensors(&self, told: &Contents, target: Target, to: &str) -> Result<()> {
        let entries: Vec<(&Entry, String)> = told
            .entries
            .iter()
            .filter(|entry| self.selection.takes(&entry.name))
            .map(|entry| (entry, self.selection.renamed(&entry.name)))
            .collect();
        let values = self.values(told);
        self.selection.check_used()?;
        let names = entries.iter().map(|(entry, name)| (name.as_str(), entry.name.as_str()));
        let texts = values.iter().map(|(value, name)| (name.as_str(), value.name.as_str()));
        check_distinct(names.chain(texts))?;
        if !self.how.clone {
            refuse_shared(&entries, target)?;
        }
        let body = |entry: &Entry| ConvertedElements::of(told, entry, self.dtype, self.how.bits, target);
        let bodies = entries.iter().map(|(entry, _)| body(entry)).collect::<Result<Vec<_>>>()?;
        let named = entries.iter().zip(bodies);
        if target == Target::Safetensors {
            let outgoing = |((_, name), body): (&(&Entry, String), ConvertedElements)| Outgoing {
                name: name.clone(),
                elements: body.written,
                sizes: body.sizes.clone(),
                body: Box::new(body),
            };
            let (tensors, texts) = (named.map(outgoing).collect(), text_metadata(told, &values)?);
            return match self.how.shard_size {
                Some(most) => write_shards(tensors, texts, to, most),
                None => safetensors::write(tensors, texts, to),
            };
        }
        refuse_values(&values, target)?;
        let array = |((_, name), body): (&(&Entry, String), ConvertedElements)| {
            let dtype = match (body.dtype, npy::holds(body.dtype), body.dtype.itemsize()) {
                (dtype, true, _) => dtype,
                (_, false, 1) if self.how.bits => DType::Byte,
                (_, false, 2) if self.how.bits => DType::UInt16,
                (dtype, ..) => bail!(
                    TypeError,
                    "{}: {} has no {}: write the numbers as another dtype (--as float32), or their bits as unsigned \
                     integers (--bits)",
                    shown(name),
                    target.name(),
                    dtype.name()
                ),
            };
            Ok(Array { name: name.clone(), head: npy::head(dtype, &body.sizes, false)?, body: Box::new(body) })
        };
        let arrays = named.map(array).collect::<Result<Vec<Array>>>()?;
        match (target, arrays.as_slice()) {
            (Target::Npy, [array]) => npy::write(&array.head, &*array.body, to),
            (Target::Npy, arrays) => bail!(ValueError, "{to} can hold one tensor, not {}", arrays.len()),
            (_, arrays) => npz::write(arrays, to),
        }
    }

    /// Returns the selected values with their new names. Notes those that are left out.
    fn values<'t>(&self, told: &'t Contents) -> Vec<(&'t Plain, String)> {
        let taken = told.values.iter().filter(|value| self.selection.takes(&value.name));
        if self.how.tensors {
            self.left_out.borrow_mut().extend(taken.map(|value| value.name.clone()));
            return Vec::new();
        }
        taken.map(|value| (value, self.selection.renamed(&value.name))).collect()
    }

    /// Converts to a checkpoint, which keeps everything: containers, values and sharing. Of a selection it is one
    /// dictionary of names. Only the bytes change.
    fn to_checkpoint(&self, from: &Input, told: &Contents, to: &str) -> Result<()> {
        let is_flat = self.how.tensors || !self.selection.is_all();
        let has_blocks = told.entries.iter().any(|entry| matches!(entry.elements, Elements::Blocks(_)));
        let planned = RefCell::new(PlannedCheckpoint { dtype: self.dtype, ..PlannedCheckpoint::default() });
        let devices: RefCell<HashMap<usize, Rc<str>>> = RefCell::default();
        let keep = |storage: &Storage, tag: &str| drop(devices.borrow_mut().insert(storage.identity(), tag.into()));
        let value = if has_blocks {
            self.blocks(told, &planned)?
        } else {
            let attach = |tensor: &Tensor, attributes| planned.borrow_mut().attach(tensor, attributes);
            // What loading says of devices is said already.
            let say = |note: String| {
                if !note.ends_with(" to the CPU") {
                    self.say(note);
                }
            };
            let devices = self.how.keep_device.then_some(&keep as &dyn Fn(&Storage, &str));
            let how = Loading { mapped: true, say: &say, attach: Some(&attach), devices };
            let value = if is_flat { self.leaves(from, &how)? } else { from.load(&how)? };
            if self.dtype.is_some()
                && let Some(names) = mixed(&contents_of(&value)?)
            {
                return Err(of_mixed(&names));
            }
            let mut planned = planned.borrow_mut();
            match (self.how.clone, is_flat) {
                (true, _) => planned.alone = tensors_in(&value)?.iter().map(Tensor::identity).collect(),
                (_, true) => planned.alone = independent(&tensors_in(&value)?),
                _ => {}
            }
            let is_same = self.dtype.is_none() && planned.alone.is_empty();
            if is_same { value } else { planned.recast(&value, 0)? }
        };
        let body = |storage: &Storage| -> Result<Rc<dyn Body>> {
            match planned.borrow().bodies.get(&storage.identity()) {
                Some(body) => Ok(body.clone()),
                None => Ok(Rc::new(ConvertedElements::of_storage(storage, DType::Byte, DType::Byte)?)),
            }
        };
        let attributes =
            |tensor: &Tensor| planned.borrow().attributes.get(&tensor.identity()).map(|(_, own)| own.clone());
        let location = |storage: &Storage| {
            let origin = planned.borrow().origins.get(&storage.identity()).copied().unwrap_or(storage.identity());
            devices.borrow().get(&origin).cloned()
        };
        let facts = Facts { attributes: Some(&attributes), location: Some(&location) };
        let folder = folder_of(to)?;
        let written =
            replacing(to, |file| write_bodies(&value, folder, BufWriter::with_capacity(1 << 16, file), &facts, &body));
        // PyTorch's message does not name the tensors.
        written.map_err(|error| match mixed(told) {
            Some(names) if error.message.contains("view the same data as different types") => of_mixed(&names),
            _ => error,
        })
    }

    /// Returns a dictionary of everything selected, by its new name.
    fn leaves(&self, from: &Input, how: &Loading) -> Result<Value> {
        let choose = |name: &str, class: Option<&str>| match class {
            _ if !self.selection.takes(name) => Ok(false),
            Some(_) if self.how.tensors => {
                self.left_out.borrow_mut().push(name.to_owned());
                Ok(false)
            }
            Some(class) => bail!(
                ValueError,
                "{} ({}): it cannot be made here, nor written; --tensors leaves it out",
                shown(name),
                shown(class)
            ),
            None => Ok(true),
        };
        let mut taken: Vec<(String, String, Value)> = Vec::new();
        for Leaf { name, of } in from.leaves(how, &choose)? {
            let is_tensor = matches!(of, Value::Tensor(_) | Value::Storage(_) | Value::TypedStorage(_));
            if self.how.tensors && !is_tensor {
                self.left_out.borrow_mut().push(name);
                continue;
            }
            taken.push((self.selection.renamed(&name), name, of));
        }
        self.selection.check_used()?;
        check_distinct(taken.iter().map(|(name, origin, _)| (name.as_str(), origin.as_str())))?;
        Dict::new(taken.into_iter().map(|(name, _, value)| (Value::str(name), value))).map(Value::Dict)
    }

    /// Returns a dictionary of the selected tensors of a file with blocks.
    fn blocks(&self, told: &Contents, planned: &RefCell<PlannedCheckpoint>) -> Result<Value> {
        let mut entries = Vec::new();
        let mut names = Vec::new();
        for entry in told.entries.iter().filter(|entry| self.selection.takes(&entry.name)) {
            let body = ConvertedElements::of(told, entry, self.dtype, false, Target::Checkpoint)?;
            let (dtype, layout) = (body.dtype, Layout::contiguous(&entry.layout.sizes));
            let storage = planned.borrow_mut().promise(body);
            let view = View { storage, layout, dtype, conj: false, neg: false, form: None };
            let name = self.selection.renamed(&entry.name);
            entries.push((Value::str(&*name), Value::from(view)));
            names.push((name, entry.name.as_str()));
        }
        let values = self.values(told);
        self.selection.check_used()?;
        refuse_values(&values, Target::Checkpoint)?;
        check_distinct(names.iter().map(|(name, origin)| (name.as_str(), *origin)))?;
        Dict::new(entries).map(Value::Dict)
    }
}

/// Returns the dense tensors in a value that have data, each once.
fn tensors_in(value: &Value) -> Result<Vec<Tensor>> {
    let mut seen = HashSet::new();
    let mut tensors = Vec::new();
    for Leaf { of, .. } in super::values::leaves(value)? {
        if let Value::Tensor(tensor) = of {
            let is_dense = { tensor.view().form.is_none() && !tensor.view().device().is_meta() };
            if is_dense && seen.insert(tensor.identity()) {
                tensors.push(tensor);
            }
        }
    }
    Ok(tensors)
}

/// Returns the identities of tensors that share no bytes with another.
fn independent(tensors: &[Tensor]) -> HashSet<usize> {
    let mut together: BTreeMap<usize, Vec<(usize, usize, usize)>> = BTreeMap::new();
    for tensor in tensors {
        let view = tensor.view();
        let (start, end) = area(&view.layout, view.dtype);
        together.entry(view.storage.identity()).or_default().push((start, end, tensor.identity()));
    }
    let mut alone = HashSet::new();
    for mut areas in together.into_values() {
        areas.sort_unstable();
        let mut reached = 0;
        for (index, &(start, end, tensor)) in areas.iter().enumerate() {
            let next = areas.get(index + 1).map_or(usize::MAX, |(start, ..)| *start);
            if start >= reached && next >= end {
                alone.insert(tensor);
            }
            reached = reached.max(end);
        }
    }
    alone
}

fn of_mixed(names: &str) -> Error {
    Error::value(format!("{names} read the same storage as different dtypes: clone them first (--clone)"))
}

/// Writes tensors into several files of at most `most` bytes, and an index that names the file of each: all of them, or
/// none. Tensors that fit into one file are written into that alone.
fn write_shards(tensors: Vec<Outgoing>, texts: Option<HashMap<String, String>>, to: &str, most: u64) -> Result<()> {
    /// Each file stays open until the last is written.
    const MOST_SHARDS: usize = 256;
    let mut shards: Vec<(u64, Vec<Outgoing>)> = Vec::new();
    for tensor in tensors {
        let nbytes = tensor.body.nbytes() as u64;
        match shards.last_mut().filter(|(held, _)| held.saturating_add(nbytes) <= most) {
            Some((held, shard)) => {
                *held += nbytes;
                shard.push(tensor);
            }
            None => shards.push((nbytes, vec![tensor])),
        }
    }
    if shards.len() <= 1 {
        return safetensors::write(shards.pop().map(|(_, shard)| shard).unwrap_or_default(), texts, to);
    }
    if shards.len() > MOST_SHARDS {
        bail!(ValueError, "--shard-size: this would be {} files, of which {MOST_SHARDS} are possible", shards.len());
    }
    let stem = to.strip_suffix(".safetensors").unwrap_or(to);
    let (total, number) = (shards.iter().map(|(nbytes, _)| nbytes).sum(), shards.len());
    let path = |k: usize| format!("{stem}-{:05}-of-{number:05}.safetensors", k + 1);
    let mut places = Vec::new();
    for (k, (_, shard)) in shards.iter().enumerate() {
        let path = path(k);
        let file = path.rsplit(std::path::is_separator).next().unwrap_or(&path);
        places.extend(shard.iter().map(|tensor| (tensor.name.clone(), file.to_owned())));
    }
    let mut files = shards.into_iter().enumerate().map(|(k, (_, shard))| (path(k), shard));
    let index = format!("{stem}{}", shards::ENDINGS[0]);
    replacing(&index, |file| {
        let refused = |error: std::io::Error| Error::runtime(format!("{index} cannot be written: {error}"));
        file.write_all(shards::index_text(&places, total).as_bytes()).map_err(refused)?;
        write_nested(&mut files, &texts)
    })
}

/// Writes the first file, and the others before it takes its place.
fn write_nested(
    files: &mut dyn Iterator<Item = (String, Vec<Outgoing>)>,
    texts: &Option<HashMap<String, String>>,
) -> Result<()> {
    match files.next() {
        Some((path, shard)) => safetensors::write_then(shard, texts.clone(), &path, || write_nested(files, texts)),
        None => Ok(()),
    }
}

/// Elements in order, converted to another dtype.
struct ConvertedElements {
    /// A single part, unless several processes wrote the tensor.
    parts: Vec<Part>,
    sizes: Dims,
    dtype: DType,
    /// What the elements are in the new file. Those of less than a byte are copied as their bytes.
    written: Elements,
    nbytes: usize,
}

impl ConvertedElements {
    /// Returns the elements of a tensor in row-major order. With `bits`, blocks that cannot be dequantized become their
    /// bytes.
    fn of(
        told: &Contents,
        entry: &Entry,
        dtype: Option<DType>,
        bits: bool,
        target: Target,
    ) -> Result<ConvertedElements> {
        let name = shown(&entry.name);
        if let Some(scale) = &entry.scale {
            bail!(ValueError, "{name} is quantized ({scale}), which only a checkpoint can hold");
        }
        if entry.kind.starts_with("sparse") && target != Target::Checkpoint {
            bail!(ValueError, "{name} is part of a sparse tensor ({}), which only a checkpoint can hold", entry.kind);
        }
        let mut parts = Part::all(told, entry)?;
        if parts.is_empty() && entry.layout.numel() != 0 {
            bail!(ValueError, "{name} has no data: it was on the meta device");
        }
        let (mut sizes, mut written) = (entry.layout.sizes.clone(), Elements::Plain(becomes(entry.elements, dtype)));
        if let Elements::Blocks(blocks) = entry.elements
            && blocks.take_apart.is_none()
        {
            let nbytes = i64::try_from(entry.nbytes).unwrap_or(i64::MAX);
            parts = parts.iter().map(|part| part.of_bytes(nbytes)).collect();
            match (target, bits) {
                (Target::Safetensors, false) if safetensors::holds(entry.elements) => written = entry.elements,
                (_, true) => {
                    written = Elements::Plain(DType::Byte);
                    sizes = [nbytes].into_iter().collect();
                }
                _ => bail!(
                    ValueError,
                    "{name} has elements of type {}, whose numbers cannot be computed here; safetensors and npz can hold \
                     their bytes (--bits)",
                    blocks.name
                ),
            }
        }
        let dtype = match written {
            Elements::Plain(dtype) => dtype,
            Elements::Blocks(_) => DType::Byte,
        };
        let count = match written {
            Elements::Plain(_) => usize::try_from(checked_count(&sizes)).ok(),
            Elements::Blocks(_) => usize::try_from(entry.nbytes).ok(),
        };
        let nbytes = count.and_then(|count| count.checked_mul(dtype.itemsize()));
        let nbytes = nbytes.ok_or_else(|| Error::runtime(format!("{name} is too large")))?;
        Ok(ConvertedElements { parts, sizes, dtype, written, nbytes })
    }

    /// Returns all elements of a storage.
    fn of_storage(storage: &Storage, from: DType, dtype: DType) -> Result<ConvertedElements> {
        let nbytes = storage.nbytes() / from.itemsize() * dtype.itemsize();
        let part = Part::of_storage(storage, from)?;
        let (sizes, written) = (part.layout.sizes.clone(), Elements::Plain(dtype));
        Ok(ConvertedElements { sizes, parts: vec![part], dtype, written, nbytes })
    }

    /// Returns the elements of a dense tensor in row-major order.
    fn of_view(view: &View, dtype: DType) -> Result<ConvertedElements> {
        let count = usize::try_from(view.numel()).ok().and_then(|count| count.checked_mul(dtype.itemsize()));
        let nbytes = count.ok_or_else(|| Error::runtime("a tensor is too large"))?;
        let (sizes, written) = (view.layout.sizes.clone(), Elements::Plain(dtype));
        Ok(ConvertedElements { sizes, parts: vec![Part::of_view(view)?], dtype, written, nbytes })
    }
}

fn checked_count(sizes: &[i64]) -> i64 {
    tensor::layout::checked_numel(sizes).unwrap_or(i64::MAX)
}

/// Returns the new dtype of elements: `dtype` for floats and blocks, the unchanged dtype for others.
fn becomes(elements: Elements, dtype: Option<DType>) -> DType {
    match elements {
        Elements::Plain(own) if own.is_floating_point() => dtype.unwrap_or(own),
        Elements::Plain(own) => own,
        Elements::Blocks(_) => dtype.unwrap_or(DType::Float),
    }
}

impl Body for ConvertedElements {
    fn nbytes(&self) -> usize {
        self.nbytes
    }

    fn pieces(&self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut cast = |piece: View| {
            let is_ready = piece.dtype == self.dtype && covers_storage(&piece);
            let piece = if is_ready { piece } else { copy::cast_as(&piece, self.dtype, MemoryFormat::Contiguous)? };
            sink(&piece.storage.to_vec()?)?;
            Ok(true)
        };
        match self.parts.as_slice() {
            [] => Ok(()),
            [part] => part.pieces(CONVERTED, &mut cast),
            parts => cast(put_together(parts, &self.sizes)?).map(drop),
        }
    }
}

/// Returns whether a storage contains exactly the elements of a tensor, in order.
fn covers_storage(view: &View) -> bool {
    let nbytes = usize::try_from(view.numel()).ok().and_then(|count| count.checked_mul(view.dtype.itemsize()));
    let is_row = view.layout.is_contiguous() && view.layout.offset == 0 && !view.conj && !view.neg;
    is_row && nbytes == Some(view.storage.nbytes())
}

/// Assembles a tensor from its parts.
fn put_together(parts: &[Part], sizes: &Dims) -> Result<View> {
    let dtype = match parts.first().map(|part| part.elements) {
        Some(Elements::Plain(dtype)) => dtype,
        _ => bail!(RuntimeError, "pieces are of plain numbers"),
    };
    let whole = View::unwritten(sizes, dtype, Device::CPU)?;
    for part in parts {
        let view = part.reader()?.block(&[])?;
        copy::copy_into(&box_of(&whole, &part.offsets, &part.layout.sizes), &view)?;
    }
    Ok(whole)
}

/// Tensors on storages whose bytes are produced while they are written.
#[derive(Default)]
struct PlannedCheckpoint {
    dtype: Option<DType>,
    /// The identities of the tensors that get a storage of their own.
    alone: HashSet<usize>,
    /// The bytes to write for a storage, by its identity.
    bodies: HashMap<usize, Rc<ConvertedElements>>,
    /// The storage that replaces another, by the identity of the original.
    storages: HashMap<usize, Storage>,
    /// The identity of the original, by that of the storage that replaces it.
    origins: HashMap<usize, usize>,
    /// The tensor that replaces another, by the identity of the original.
    made: HashMap<usize, Tensor>,
    /// Lists and dictionaries, likewise.
    containers: HashMap<usize, Value>,
    /// The attributes of tensors, by their identity. The tensors are kept, so that no other gets the identity.
    attributes: HashMap<usize, (Tensor, Dict)>,
}

impl PlannedCheckpoint {
    fn attach(&mut self, tensor: &Tensor, attributes: Dict) {
        self.attributes.insert(tensor.identity(), (tensor.clone(), attributes));
    }

    fn promise(&mut self, body: ConvertedElements) -> Storage {
        let storage = Storage::absent(body.nbytes);
        self.bodies.insert(storage.identity(), Rc::new(body));
        storage
    }

    /// Converts the floats of a value to another dtype. Tensors that shared a storage still share one.
    fn recast(&mut self, value: &Value, depth: usize) -> Result<Value> {
        if depth > DEEPEST {
            bail!(RecursionError, "maximum recursion depth exceeded: the file nests its containers too deeply");
        }
        // A container may occur in several places, or contain itself, so it is registered before it is filled.
        Ok(match value {
            Value::Tensor(tensor) => Value::Tensor(self.tensor(tensor)?),
            Value::TypedStorage(typed) => match self.dtype.filter(|_| typed.dtype.is_floating_point()) {
                Some(dtype) => Value::TypedStorage(TypedStorage::new(self.storage(&typed.view(), dtype)?, dtype)),
                None => value.clone(),
            },
            Value::Tuple(items) => Value::Tuple(self.all(items, depth)?.into_iter().collect()),
            Value::List(list) => match self.containers.get(&list.identity()) {
                Some(made) => made.clone(),
                None => {
                    let made = List::default();
                    self.containers.insert(list.identity(), Value::List(made.clone()));
                    made.replace(self.all(&list.to_vec(), depth)?)?;
                    Value::List(made)
                }
            },
            Value::Dict(dict) => match self.containers.get(&dict.identity()) {
                Some(made) => made.clone(),
                None => {
                    let made = Dict::default().to_kind(dict.is_ordered());
                    self.containers.insert(dict.identity(), Value::Dict(made.clone()));
                    for (key, value) in dict.to_vec() {
                        made.insert(key, self.recast(&value, depth + 1)?)?;
                    }
                    Value::Dict(made)
                }
            },
            other => other.clone(),
        })
    }

    fn all(&mut self, items: &[Value], depth: usize) -> Result<Vec<Value>> {
        items.iter().map(|item| self.recast(item, depth + 1)).collect()
    }

    fn tensor(&mut self, tensor: &Tensor) -> Result<Tensor> {
        if let Some(made) = self.made.get(&tensor.identity()) {
            return Ok(made.clone());
        }
        let view = match self.alone.contains(&tensor.identity()) {
            true => self.alone(&tensor.view())?,
            false => self.view(&tensor.view())?,
        };
        let requires_grad = tensor.requires_grad();
        let made = Tensor::new(view);
        let made = if tensor.is_parameter() {
            made.to_parameter(requires_grad)
        } else {
            made.autograd_mut(|meta| meta.requires_grad = requires_grad);
            made
        };
        self.made.insert(tensor.identity(), made.clone());
        if let Some((_, attributes)) = self.attributes.get(&tensor.identity()).cloned()
            && let Value::Dict(attributes) = self.recast(&Value::Dict(attributes), 0)?
        {
            self.attach(&made, attributes);
        }
        Ok(made)
    }

    /// Returns a tensor's elements in a storage of their own.
    fn alone(&mut self, view: &View) -> Result<View> {
        let dtype = becomes(Elements::Plain(view.dtype), self.dtype);
        let storage = self.promise(ConvertedElements::of_view(view, dtype)?);
        self.origins.insert(storage.identity(), view.storage.identity());
        let layout = Layout::contiguous(view.sizes());
        Ok(View { storage, layout, dtype, conj: false, neg: false, form: None })
    }

    fn view(&mut self, view: &View) -> Result<View> {
        let Some(dtype) = self.dtype.filter(|_| view.dtype.is_floating_point()) else { return Ok(view.clone()) };
        match view.form.as_deref() {
            None => Ok(View { storage: self.storage(view, dtype)?, dtype, ..view.clone() }),
            Some(Form::Coo(coo)) => {
                let mut coo = coo.clone();
                coo.values = self.view(&coo.values)?;
                Ok(View { form: Some(Rc::new(Form::Coo(coo))), dtype, ..view.clone() })
            }
            Some(Form::Compressed(of)) => {
                let mut of = of.clone();
                of.values = self.view(&of.values)?;
                Ok(View { form: Some(Rc::new(Form::Compressed(of))), dtype, ..view.clone() })
            }
            Some(Form::Quantized(_)) => Ok(view.clone()),
        }
    }

    fn storage(&mut self, view: &View, dtype: DType) -> Result<Storage> {
        if view.device().is_meta() {
            return Ok(view.storage.clone());
        }
        if let Some(storage) = self.storages.get(&view.storage.identity()) {
            return Ok(storage.clone());
        }
        let storage = self.promise(ConvertedElements::of_storage(&view.storage, view.dtype, dtype)?);
        self.storages.insert(view.storage.identity(), storage.clone());
        self.origins.insert(storage.identity(), view.storage.identity());
        Ok(storage)
    }
}

/// Groups the tensors by storage.
fn by_storage(told: &Contents) -> BTreeMap<usize, Vec<&Entry>> {
    let mut together: BTreeMap<usize, Vec<&Entry>> = BTreeMap::new();
    for entry in &told.entries {
        if let Some(storage) = entry.storage {
            together.entry(storage).or_default().push(entry);
        }
    }
    together
}

fn names(entries: &[&Entry]) -> String {
    entries.iter().map(|entry| shown(&entry.name)).collect::<Vec<_>>().join(", ")
}

/// Rejects tensors that share bytes, for formats that would write them twice.
fn refuse_shared(entries: &[(&Entry, String)], target: Target) -> Result<()> {
    let mut together: BTreeMap<usize, Vec<(usize, usize, &str)>> = BTreeMap::new();
    for (entry, _) in entries {
        if let (Some(storage), Elements::Plain(dtype)) = (entry.storage, entry.elements)
            && entry.layout.numel() > 0
        {
            let (start, end) = area(&entry.layout, dtype);
            together.entry(storage).or_default().push((start, end, &entry.name));
        }
    }
    match together.into_values().flat_map(overlapping).next() {
        Some(names) => bail!(
            ValueError,
            "Some tensors share memory, this will lead to duplicate memory on disk and potential differences when \
             loading them again: [{}]. --clone writes each on its own; a checkpoint (.pt) keeps what {} cannot record",
            shown(&set_text(&names)),
            target.name()
        ),
        None => Ok(()),
    }
}

/// Returns the names of tensors that read the same storage as different dtypes, if there are any. Most of these cannot
/// be saved in a checkpoint, and their floats cannot be converted.
fn mixed(told: &Contents) -> Option<String> {
    let are_mixed = |entries: &&Vec<&Entry>| {
        let first = entries.first().map(|entry| entry.elements);
        entries.iter().any(|entry| Some(entry.elements) != first)
    };
    by_storage(told).values().find(are_mixed).map(|entries| names(entries))
}

fn refuse_values(values: &[(&Plain, String)], target: Target) -> Result<()> {
    match values.first() {
        Some((value, _)) => bail!(
            ValueError,
            "{} ({}): {} can hold only tensors{}; --tensors leaves them out",
            shown(&value.name),
            shown(&value.class),
            target.name(),
            match values.len() {
                1 => String::new(),
                2 => ", and 1 more value is not one".to_owned(),
                several => format!(", and {} more values are not", several - 1),
            }
        ),
        None => Ok(()),
    }
}

/// Returns the values as texts, together with the existing texts.
fn text_metadata(told: &Contents, values: &[(&Plain, String)]) -> Result<Option<HashMap<String, String>>> {
    // The settings of a GGUF file are not texts, and long ones are shortened.
    let metadata = told.metadata.iter().filter(|_| !told.format.starts_with(gguf::FORMAT));
    let mut texts: HashMap<String, String> = metadata.map(|(name, text)| (name.clone(), text.clone())).collect();
    for (value, name) in values {
        let is_plain = matches!(value.class.as_str(), "NoneType" | "bool" | "int" | "float" | "str");
        let Some(text) = value.text.clone().filter(|_| is_plain) else {
            bail!(
                ValueError,
                "{} ({}): safetensors can hold only tensors, numbers and strings; --tensors leaves it out",
                shown(&value.name),
                shown(&value.class)
            )
        };
        if texts.insert(name.clone(), text).is_some() {
            bail!(ValueError, "a value and a text of the metadata would both be called {}", shown(name));
        }
    }
    Ok((!texts.is_empty()).then_some(texts))
}
