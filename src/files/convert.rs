//! Converts files of tensors to another format, or their floats to another dtype. Tensors are copied from file to file
//! in pieces, so their size does not matter. Contents that a format cannot represent are rejected by name before
//! anything is written.

use super::archive::Body;
use super::checkpoint::{folder_of, replacing, write_bodies};
use super::contents::{Contents, DEEPEST, Elements, Entry, count, shown};
use super::format::{Input, Target, target};
use super::npz::Array;
use super::parts::{Part, box_of};
use super::safetensors::Outgoing;
use super::values::contents_of;
use super::{gguf, npy, npz, safetensors};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::BufWriter;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tensor::bail;
use tensor::interrupt::{self, Interrupt};
use tensor::ops::copy;
use tensor::thresholds::CONVERTED;
use tensor::{DType, Device, Dims, Error, Form, Layout, MemoryFormat, Result, Storage, Tensor, TypedStorage, View};
use value::{Dict, List, Value};

/// Converts a file or folder to another file, in the format given by its extension. `dtype` names the new dtype of
/// floats; blocks of a GGUF file become that dtype or `float32`. Stops when `stop` is set. Returns a note on contents
/// left out.
///
/// # Errors
/// Fails with ValueError for an unknown extension, and for tensors and values that the format cannot represent. Fails
/// with TypeError for a `dtype` other than a float. Also fails with errors of reading and writing, and with
/// KeyboardInterrupt.
pub fn convert(from: &Input, to: &str, dtype: Option<&str>, stop: &Arc<AtomicBool>) -> Result<Option<String>> {
    interrupt::watch(&Interrupt::of(stop.clone()));
    let dtype = dtype.map(float_named).transpose()?;
    let target = target(to)?;
    let told = from.contents()?;
    match target {
        Target::Checkpoint => to_checkpoint(from, &told, to, dtype)?,
        _ => to_tensors(&told, target, to, dtype)?,
    }
    let are_kept = target == Target::Safetensors && !told.format.starts_with(gguf::FORMAT);
    Ok((!told.metadata.is_empty() && !are_kept)
        .then(|| format!("{} of metadata left out", count(told.metadata.len(), "text"))))
}

/// Converts to a format of named, independent tensors.
fn to_tensors(told: &Contents, target: Target, to: &str, dtype: Option<DType>) -> Result<()> {
    refuse_shared(told, target)?;
    let tensors =
        told.entries.iter().map(|entry| ConvertedElements::of(told, entry, dtype)).collect::<Result<Vec<_>>>()?;
    let named = told.entries.iter().zip(tensors);
    if target == Target::Safetensors {
        let outgoing = |(entry, body): (&Entry, ConvertedElements)| Outgoing {
            name: entry.name.clone(),
            dtype: body.dtype,
            sizes: entry.layout.sizes.clone(),
            body: Box::new(body),
        };
        return safetensors::write(named.map(outgoing).collect(), text_metadata(told)?, to);
    }
    refuse_values(told, target)?;
    let array = |(entry, body): (&Entry, ConvertedElements)| {
        let head = npy::head(body.dtype, &entry.layout.sizes, false)
            .map_err(|error| Error::new(error.kind, format!("{}: {}", shown(&entry.name), error.message)))?;
        Ok(Array { name: entry.name.clone(), head, body: Box::new(body) })
    };
    let arrays = named.map(array).collect::<Result<Vec<Array>>>()?;
    match (target, arrays.as_slice()) {
        (Target::Npy, [array]) => npy::write(&array.head, &*array.body, to),
        (Target::Npy, arrays) => bail!(ValueError, "{to} can hold one tensor, not {}", arrays.len()),
        (_, arrays) => npz::write(arrays, to),
    }
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

/// Converts to a checkpoint, which keeps everything: containers, values and sharing. Only the bytes change.
fn to_checkpoint(from: &Input, told: &Contents, to: &str, dtype: Option<DType>) -> Result<()> {
    let has_blocks = told.entries.iter().any(|entry| matches!(entry.elements, Elements::Blocks(_)));
    let promised = RefCell::new(PlannedCheckpoint {
        dtype,
        bodies: HashMap::new(),
        storages: HashMap::new(),
        made: HashMap::new(),
        containers: HashMap::new(),
    });
    let value = if has_blocks {
        promised.borrow_mut().tensors(told)?
    } else {
        let value = from.load(true)?;
        if dtype.is_none() {
            value
        } else if let Some(names) = mixed(&contents_of(&value)?) {
            return Err(of_mixed(&names));
        } else {
            promised.borrow_mut().recast(&value, 0)?
        }
    };
    let body = |storage: &Storage| -> Result<Rc<dyn Body>> {
        let promised = promised.borrow();
        match promised.bodies.get(&storage.identity()) {
            Some(body) => Ok(body.clone()),
            None => Ok(Rc::new(ConvertedElements::of_storage(storage, DType::Byte, DType::Byte)?)),
        }
    };
    let folder = folder_of(to)?;
    let written = replacing(to, |file| write_bodies(&value, folder, BufWriter::with_capacity(1 << 16, file), &body));
    // PyTorch's message does not name the tensors.
    written.map_err(|error| match mixed(told) {
        Some(names) if error.message.contains("view the same data as different types") => of_mixed(&names),
        _ => error,
    })
}

fn of_mixed(names: &str) -> Error {
    Error::value(format!("{names} read the same storage as different dtypes: clone them first"))
}

/// Elements in order, converted to another dtype.
struct ConvertedElements {
    /// A single part, unless several processes wrote the tensor.
    parts: Vec<Part>,
    sizes: Dims,
    dtype: DType,
    nbytes: usize,
}

impl ConvertedElements {
    /// Returns the elements of a tensor in row-major order.
    fn of(told: &Contents, entry: &Entry, dtype: Option<DType>) -> Result<ConvertedElements> {
        let name = shown(&entry.name);
        if let Some(scale) = &entry.scale {
            bail!(ValueError, "{name} is quantized ({scale}), which only a checkpoint can hold");
        }
        let parts = Part::all(told, entry)?;
        if parts.is_empty() && entry.layout.numel() != 0 {
            bail!(ValueError, "{name} has no data: it was on the meta device");
        }
        let dtype = becomes(entry.elements, dtype);
        let count = usize::try_from(entry.layout.numel()).unwrap_or(usize::MAX);
        let nbytes = count.checked_mul(dtype.itemsize());
        let sizes = entry.layout.sizes.clone();
        Ok(ConvertedElements {
            parts,
            sizes,
            dtype,
            nbytes: nbytes.ok_or_else(|| Error::runtime(format!("{name} is too large")))?,
        })
    }

    /// Returns all elements of a storage.
    fn of_storage(storage: &Storage, from: DType, dtype: DType) -> Result<ConvertedElements> {
        let nbytes = storage.nbytes() / from.itemsize() * dtype.itemsize();
        let part = Part::of_storage(storage, from)?;
        Ok(ConvertedElements { sizes: part.layout.sizes.clone(), parts: vec![part], dtype, nbytes })
    }
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
struct PlannedCheckpoint {
    dtype: Option<DType>,
    /// The bytes to write for a storage, by its identity.
    bodies: HashMap<usize, Rc<ConvertedElements>>,
    /// The storage that replaces another, by the identity of the original.
    storages: HashMap<usize, Storage>,
    /// The tensor that replaces another, likewise.
    made: HashMap<usize, Tensor>,
    /// Lists and dictionaries, likewise.
    containers: HashMap<usize, Value>,
}

impl PlannedCheckpoint {
    /// Returns all tensors of a file by name.
    fn tensors(&mut self, told: &Contents) -> Result<Value> {
        let mut entries = Vec::new();
        for entry in &told.entries {
            let body = ConvertedElements::of(told, entry, self.dtype)?;
            let (dtype, layout) = (body.dtype, Layout::contiguous(&entry.layout.sizes));
            let storage = self.promise(body);
            let view = View { storage, layout, dtype, conj: false, neg: false, form: None };
            entries.push((Value::str(&entry.name), Value::from(view)));
        }
        Dict::new(entries).map(Value::Dict)
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
        let view = self.view(&tensor.view())?;
        let requires_grad = tensor.requires_grad();
        let made = Tensor::new(view);
        let made = if tensor.is_parameter() {
            made.to_parameter(requires_grad)
        } else {
            made.autograd_mut(|meta| meta.requires_grad = requires_grad);
            made
        };
        self.made.insert(tensor.identity(), made.clone());
        Ok(made)
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

/// Rejects tensors that share a storage, for formats that would write it twice.
fn refuse_shared(told: &Contents, target: Target) -> Result<()> {
    match by_storage(told).values().find(|entries| entries.len() > 1) {
        Some(entries) => bail!(
            ValueError,
            "{} share a storage, which {} cannot record: clone them first, or write a checkpoint (.pt), \
             which keeps the sharing",
            names(entries),
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

fn refuse_values(told: &Contents, target: Target) -> Result<()> {
    match told.values.first() {
        Some(value) => bail!(
            ValueError,
            "{} ({}): {} can hold only tensors{}",
            shown(&value.name),
            shown(&value.class),
            target.name(),
            match told.values.len() {
                1 => String::new(),
                more => format!(", and {} more are not tensors", count(more - 1, "value")),
            }
        ),
        None => Ok(()),
    }
}

/// Returns the values as texts, together with the existing texts.
fn text_metadata(told: &Contents) -> Result<Option<HashMap<String, String>>> {
    // The settings of a GGUF file are not texts, and long ones are shortened.
    let metadata = told.metadata.iter().filter(|_| !told.format.starts_with(gguf::FORMAT));
    let mut texts: HashMap<String, String> = metadata.map(|(name, text)| (name.clone(), text.clone())).collect();
    for value in &told.values {
        let is_plain = matches!(value.class.as_str(), "NoneType" | "bool" | "int" | "float" | "str");
        let Some(text) = value.text.clone().filter(|_| is_plain) else {
            bail!(
                ValueError,
                "{} ({}): safetensors can hold only tensors, numbers and strings",
                shown(&value.name),
                shown(&value.class)
            )
        };
        texts.insert(value.name.clone(), text);
    }
    Ok((!texts.is_empty()).then_some(texts))
}
