//! Converts files of tensors to another format, or their floats to another dtype. Tensors are copied from file to file
//! in pieces, so their size does not matter. Contents that a format cannot represent are rejected by name before
//! anything is written.

mod elements;
mod planned;
mod shards;

use super::archive::Body;
use super::checkpoint::{folder_of, foreign_devices, replacing, write_bodies};
use super::contents::{Contents, Elements, Entry, Plain, count, shown};
use super::format::{Input, Loading, Target, target};
use super::names::Leaf;
use super::npz::Array;
use super::pickle::Facts;
use super::safetensors::{Outgoing, area, overlapping, set_text};
use super::select::{Selection, check_distinct};
use super::values::contents_of;
use super::{gguf, npy, npz, safetensors};
use elements::ConvertedElements;
use planned::{PlannedCheckpoint, independent, tensors_in};
use shards::write_shards;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::BufWriter;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tensor::bail;
use tensor::interrupt::{self, Interrupt};
use tensor::{DType, Error, Layout, Result, Storage, Tensor, View};
use value::{Dict, Value};

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
        let devices = foreign_devices(told.storages.iter().map(|held| held.location.as_str()));
        if let Some(devices) = devices.filter(|_| !self.how.keep_device) {
            self.say(format!("tensors saved from {devices} are written for the CPU"));
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
            let named = |error: Error| Error::new(error.kind, format!("{}: {}", shown(name), error.message));
            let head = npy::head(dtype, &body.sizes, false).map_err(named)?;
            Ok(Array { name: name.clone(), head, body: Box::new(body) })
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
        let planned = RefCell::new(PlannedCheckpoint::new(self.dtype));
        let devices: RefCell<HashMap<usize, Rc<str>>> = RefCell::default();
        let keep = |storage: &Storage, tag: &str| drop(devices.borrow_mut().insert(storage.identity(), tag.into()));
        // Loading leaves it out.
        let array = told.values.iter().find(|value| value.class == npy::CLASS && self.selection.takes(&value.name));
        if let Some(array) = array.filter(|_| !self.how.tensors) {
            return Err(unmakeable(&array.name, &array.class));
        }
        let value = if has_blocks {
            self.blocks(told, &planned)?
        } else {
            let attach = |tensor: &Tensor, attributes| planned.borrow_mut().attach(tensor, attributes);
            let say = |note| self.say(note);
            // The devices have been told already.
            let how = Loading { mapped: true, say: &say, attach: Some(&attach), devices: Some(&keep) };
            let value = if is_flat { self.leaves(from, told, &how)? } else { from.load(&how)? };
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
            if !self.how.keep_device {
                return None;
            }
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
    fn leaves(&self, from: &Input, told: &Contents, how: &Loading) -> Result<Value> {
        let choose = |name: &str, class: Option<&str>| match class {
            _ if !self.selection.takes(name) => Ok(false),
            Some(_) if self.how.tensors => {
                self.left_out.borrow_mut().push(name.to_owned());
                Ok(false)
            }
            Some(class) => Err(unmakeable(name, class)),
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
        // In the order of the file.
        let places: HashMap<&str, usize> =
            told.values.iter().enumerate().map(|(place, value)| (value.name.as_str(), place)).collect();
        self.left_out.borrow_mut().sort_by_key(|name| places.get(name.as_str()).copied());
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

/// Returns the error for an object or a function, which exists in Python alone.
fn unmakeable(name: &str, class: &str) -> Error {
    let (name, class) = (shown(name), shown(class));
    Error::value(format!("{name} ({class}): it cannot be made here, nor written; --tensors leaves it out"))
}

fn of_mixed(names: &str) -> Error {
    Error::value(format!("{names} read the same storage as different dtypes: clone them first (--clone)"))
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
