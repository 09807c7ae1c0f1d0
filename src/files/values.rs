//! Lists the tensors of a session value like those of a file, so that the two can be compared.

use super::contents::{
    Bytes, Contents, DEEPEST, Elements, Entry, Plain, StorageInfo, scale_of_all, scales_of_each, under,
};
use super::gguf::BlockTensor;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tensor::{DType, Form, Layout, Quantizer, Result, Storage, Tensor, View, bail, interrupt};
use value::Value;

/// Returns the contents of a tensor, or of a container of tensors.
///
/// # Errors
/// Fails with RecursionError for containers nested too deeply, and with KeyboardInterrupt.
pub fn contents_of(value: &Value) -> Result<Contents> {
    let mut walk = Walk {
        contents: Contents { format: "value", ..Contents::default() },
        storages: HashMap::new(),
        seen: HashSet::new(),
    };
    walk.visit(value, String::new(), 0)?;
    Ok(walk.contents)
}

struct Walk {
    contents: Contents,
    /// The index of each storage, by its identity.
    storages: HashMap<usize, usize>,
    /// The lists and dictionaries already visited; one in several places is listed once.
    seen: HashSet<usize>,
}

impl Walk {
    fn visit(&mut self, value: &Value, name: String, depth: usize) -> Result<()> {
        interrupt::check()?;
        if depth > DEEPEST {
            bail!(RecursionError, "maximum recursion depth exceeded: the containers are nested too deeply");
        }
        if let Value::Tensor(tensor) = value {
            return self.tensor(tensor, name);
        }
        if let Some(tensor) = BlockTensor::of(value) {
            let storage = self.storage(&tensor.data().storage);
            let layout = Layout::contiguous(tensor.sizes());
            let entry = Entry::new(name, DType::Byte, layout, tensor.nbytes() as u64, storage);
            self.contents.entries.push(Entry { elements: Elements::Blocks(&tensor.kind().blocks), ..entry });
            return Ok(());
        }
        let storage = match value {
            Value::TypedStorage(typed) => Some((&typed.storage, typed.dtype)),
            Value::Storage(storage) => Some((storage, DType::Byte)),
            _ => None,
        };
        if let Some((storage, dtype)) = storage {
            let layout = Layout::contiguous(&[(storage.nbytes() / dtype.itemsize()) as i64]);
            let view = View { storage: storage.clone(), layout, dtype, conj: false, neg: false, form: None };
            let entry = Entry { kind: "storage", ..self.entry(name, &view) };
            self.contents.entries.push(entry);
            return Ok(());
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
            return entries.iter().try_for_each(|(key, value)| self.visit(value, below(&name, key), depth + 1));
        }
        if let Some(items) = value.items() {
            let mut items = items.iter().enumerate();
            return items.try_for_each(|(index, item)| self.visit(item, format!("{name}[{index}]"), depth + 1));
        }
        let text = match value {
            Value::Str(text) => Some(text.to_string()),
            Value::None => Some("None".to_owned()),
            Value::Bool(truth) => Some(if *truth { "True" } else { "False" }.to_owned()),
            Value::Int(number) => Some(number.to_string()),
            Value::Float(number) => Some(format!("{number:?}")),
            _ => None,
        };
        self.contents.values.push(Plain { name, class: value.type_name().to_owned(), text });
        Ok(())
    }

    fn tensor(&mut self, tensor: &Tensor, name: String) -> Result<()> {
        let view = tensor.view();
        let parts: Vec<(&str, &View)> = match view.form.as_deref() {
            Some(Form::Coo(coo)) => vec![("indices", &coo.indices), ("values", &coo.values)],
            Some(Form::Compressed(of)) => {
                let (compressed, plain) = of.layout.index_names();
                vec![(compressed, &of.compressed), (plain, &of.plain), ("values", &of.values)]
            }
            Some(Form::Quantized(Quantizer::PerChannel { scales, zero_points, .. })) => {
                vec![("scales", scales), ("zero_points", zero_points)]
            }
            _ => Vec::new(),
        };
        for (part, of_part) in parts {
            let entry = self.entry(format!("{name}.{part}"), of_part);
            self.contents.entries.push(entry);
        }
        if view.form.is_none() || view.quantizer().is_some() {
            let kind = match (tensor.is_parameter(), view.quantizer()) {
                (true, _) => "parameter",
                (_, Some(_)) => "quantized",
                _ => "tensor",
            };
            let entry = Entry { kind, requires_grad: tensor.requires_grad(), ..self.entry(name, &view) };
            self.contents.entries.push(entry);
        }
        Ok(())
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

/// Returns the name of the value under a key.
fn below(name: &str, key: &Value) -> String {
    match key {
        Value::Str(key) => under(name, key),
        Value::Int(key) => format!("{name}[{key}]"),
        _ => format!("{name}[…]"),
    }
}
