//! Lists the tensors of a session value like those of a file, so that the two can be compared.

use super::contents::{Bytes, Contents, DEEPEST, Elements, Entry, Plain, StorageInfo, scale_of_all, scales_of_each};
use super::gguf::BlockTensor;
use super::names::{self, Keys, Leaf, at};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tensor::{DType, Form, Layout, Quantizer, Result, Storage, Tensor, View, bail, interrupt};
use value::Value;

/// Returns the contents of a tensor, or of a container of tensors.
///
/// # Errors
/// The errors of [`leaves`].
pub fn contents_of(value: &Value) -> Result<Contents> {
    let contents = Contents { format: "value", ..Contents::default() };
    let mut listing = Listing { contents, storages: HashMap::new() };
    leaves(value)?.into_iter().for_each(|leaf| listing.describe(leaf));
    Ok(listing.contents)
}

/// Returns everything in a value that contains nothing else, in order.
///
/// # Errors
/// Fails with RecursionError for containers nested too deeply, and with KeyboardInterrupt.
pub(crate) fn leaves(value: &Value) -> Result<Vec<Leaf<Value>>> {
    let walk = |keys| {
        let mut walk = Walk { keys, seen: HashSet::new(), leaves: Vec::new() };
        walk.visit(value, String::new(), 0)?;
        Ok(walk.leaves)
    };
    let names = |leaf: &Leaf<Value>| match &leaf.of {
        Value::Tensor(tensor) => parts(&leaf.name, &tensor.view()).into_iter().map(|(name, _)| name).collect(),
        _ => vec![leaf.name.clone()],
    };
    names::distinct(walk, names)
}

struct Walk {
    keys: Keys,
    /// The lists and dictionaries already visited; one in several places is listed once.
    seen: HashSet<usize>,
    leaves: Vec<Leaf<Value>>,
}

impl Walk {
    fn visit(&mut self, value: &Value, name: String, depth: usize) -> Result<()> {
        interrupt::check()?;
        if depth > DEEPEST {
            bail!(RecursionError, "maximum recursion depth exceeded: the containers are nested too deeply");
        }
        let container = match value {
            Value::List(list) => Some(list.identity()),
            Value::Dict(dict) => Some(dict.identity()),
            _ => None,
        };
        if container.is_some_and(|container| !self.seen.insert(container)) {
            return Ok(());
        }
        if let Some(entries) = value.entries() {
            for (place, (key, value)) in entries.iter().enumerate() {
                self.visit(value, names::under_key(self.keys, &name, key, place), depth + 1)?;
            }
        } else if let Some(items) = value.items() {
            for (index, item) in items.iter().enumerate() {
                self.visit(item, at(&name, index), depth + 1)?;
            }
        } else {
            self.leaves.push(Leaf { name, of: value.clone() });
        }
        Ok(())
    }
}

/// Returns the views of which a tensor consists, with their names.
fn parts(name: &str, view: &View) -> Vec<(String, View)> {
    let mut parts: Vec<(String, View)> = Vec::new();
    for (part, of_part) in view.form.as_deref().map(Form::parts).unwrap_or_default() {
        parts.push((format!("{name}.{part}"), of_part.clone()));
    }
    if view.form.is_none() || view.quantizer().is_some() {
        parts.push((name.to_owned(), view.clone()));
    }
    parts
}

struct Listing {
    contents: Contents,
    /// The index of each storage, by its identity.
    storages: HashMap<usize, usize>,
}

impl Listing {
    fn describe(&mut self, leaf: Leaf<Value>) {
        let Leaf { name, of: value } = leaf;
        if let Value::Tensor(tensor) = &value {
            return self.tensor(tensor, &name);
        }
        if let Some(tensor) = BlockTensor::of(&value) {
            let storage = self.storage(&tensor.data().storage);
            let layout = Layout::contiguous(tensor.sizes());
            let entry = Entry::new(name, DType::Byte, layout, tensor.nbytes() as u64, storage);
            self.contents.entries.push(Entry { elements: Elements::Blocks(&tensor.kind().blocks), ..entry });
            return;
        }
        let storage = match &value {
            Value::TypedStorage(typed) => Some((&typed.storage, typed.dtype)),
            Value::Storage(storage) => Some((storage, DType::Byte)),
            _ => None,
        };
        if let Some((storage, dtype)) = storage {
            let layout = Layout::contiguous(&[(storage.nbytes() / dtype.itemsize()) as i64]);
            let view = View { storage: storage.clone(), layout, dtype, conj: false, neg: false, form: None };
            let entry = Entry { kind: "storage", ..self.entry(name, &view) };
            self.contents.entries.push(entry);
            return;
        }
        let text = match &value {
            Value::Str(text) => Some(text.to_string()),
            Value::None => Some("None".to_owned()),
            Value::Bool(truth) => Some(if *truth { "True" } else { "False" }.to_owned()),
            Value::Int(number) => Some(number.to_string()),
            Value::Float(number) => Some(format!("{number:?}")),
            _ => None,
        };
        self.contents.values.push(Plain { name, class: value.type_name().to_owned(), text });
    }

    fn tensor(&mut self, tensor: &Tensor, name: &str) {
        let view = tensor.view();
        let is_quantized = view.quantizer().is_some();
        let sparse = view.form.as_deref().filter(|_| !is_quantized).map(|_| view.tensor_layout().name());
        let parts = parts(name, &view);
        for (part, of_part) in &parts {
            let entry = self.entry(part.clone(), of_part);
            let kind = match (sparse, part == name, tensor.is_parameter()) {
                (Some(layout), ..) => layout,
                (_, true, true) => "parameter",
                (_, true, _) if is_quantized => "quantized",
                _ => "tensor",
            };
            let requires_grad = part == name && tensor.requires_grad();
            self.contents.entries.push(Entry { kind, requires_grad, ..entry });
        }
    }

    fn entry(&mut self, name: String, view: &View) -> Entry {
        let nbytes = (view.numel() as u64).saturating_mul(view.dtype.itemsize() as u64);
        let scale = view.quantizer().map(|quantizer| match quantizer {
            Quantizer::PerTensor { scale, zero_point } => scale_of_all(*scale, *zero_point),
            Quantizer::PerChannel { axis, .. } => scales_of_each(*axis as i64),
        });
        let storage = (!view.device().is_meta()).then(|| self.storage(&view.storage));
        Entry {
            elements: Elements::Plain(view.dtype),
            storage,
            conj: view.conj,
            neg: view.neg,
            scale,
            ..Entry::new(name, view.dtype, view.layout.clone(), nbytes, 0)
        }
    }

    fn storage(&mut self, storage: &Storage) -> usize {
        let next = self.contents.storages.len();
        let place = *self.storages.entry(storage.identity()).or_insert(next);
        if place < next {
            return place;
        }
        let own = storage.clone();
        self.contents.storages.push(StorageInfo {
            key: place.to_string(),
            nbytes: storage.nbytes() as u64,
            bytes: Bytes::Made(Rc::new(move || Ok(own.clone()))),
            location: "cpu".to_owned(),
        });
        place
    }
}
