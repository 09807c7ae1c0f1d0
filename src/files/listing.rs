//! Lists the tensors of a checkpoint, each named by its path through the containers.

use super::checkpoint::{Checkpoint, Data};
use super::contents::{
    Bytes, Contents, DEEPEST, Elements, Entry, Plain, StorageInfo, count, scale_of_all, scales_of_each, under,
};
use super::pickle::{Array, Class, Id, Node, Pickled, Saved, Scale, TensorDescription};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use tensor::{DType, Layout, Result, bail};

/// The maximum total length of all names. A file can make them much longer than itself.
const MOST_OF_NAMES: usize = 64 << 20;

/// Adds the contents of a checkpoint.
///
/// # Errors
/// Fails with RecursionError for containers nested too deeply, and with RuntimeError for names that are too long.
pub(crate) fn list(checkpoint: Checkpoint, contents: &mut Contents) -> Result<()> {
    let Checkpoint { pickled, data } = checkpoint;
    let data = Rc::new(RefCell::new(data));
    for saved in &pickled.storages {
        let bytes = match saved.part_of.and_then(|(whole, start)| Some((contents.storages.get(whole)?, start))) {
            Some((whole, start)) => whole.bytes.from(start, saved.nbytes),
            None => bytes_of(&data, saved),
        };
        contents.storages.push(StorageInfo {
            key: saved.key.to_string(),
            nbytes: saved.nbytes as u64,
            bytes,
            location: saved.location.to_string(),
        });
    }
    contents.unknown = pickled.unknown.iter().map(|name| name.to_string()).collect();
    contents.unknown.sort_unstable();
    let mut walk = Walk { pickled: &pickled, seen: HashSet::new(), room: MOST_OF_NAMES };
    walk.visit(contents, pickled.root, String::new(), 0)
}

fn bytes_of(data: &Rc<RefCell<Data>>, saved: &Saved) -> Bytes {
    match data.borrow().stored(saved) {
        Some((source, start)) => Bytes::Stored(source, start),
        None => {
            let (data, saved) = (data.clone(), saved.clone());
            Bytes::Made(Rc::new(move || data.borrow_mut().fetch(&saved, false)))
        }
    }
}

struct Walk<'p> {
    pickled: &'p Pickled,
    /// The containers already visited; a container in several places is reported once.
    seen: HashSet<Id>,
    /// The remaining length for names.
    room: usize,
}

impl Walk<'_> {
    fn visit(&mut self, contents: &mut Contents, id: Id, name: String, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            bail!(RecursionError, "maximum recursion depth exceeded: the file nests its containers too deeply");
        }
        let Some(room) = self.room.checked_sub(name.len()) else {
            bail!(RuntimeError, "the names in the file are too long");
        };
        self.room = room;
        let pickled = self.pickled;
        match pickled.node(id) {
            Node::Tensor(shown) => {
                if let Some(Scale::PerChannel { scales, zero_points, .. }) = shown.scale {
                    self.visit(contents, scales, format!("{name}.scales"), depth + 1)?;
                    self.visit(contents, zero_points, format!("{name}.zero_points"), depth + 1)?;
                }
                contents.entries.push(Self::entry(name, shown));
            }
            Node::Array(Some(array)) => Self::array(contents, name, array.clone()),
            Node::Sparse(sparse) => {
                let (compressed, plain) = sparse.layout.index_names();
                let names: &[&str] =
                    if sparse.parts.len() == 2 { &["indices", "values"] } else { &[compressed, plain, "values"] };
                for (part, of_part) in sparse.parts.iter().zip(names) {
                    self.visit(contents, *part, format!("{name}.{of_part}"), depth + 1)?;
                }
            }
            Node::Storage(index) => {
                let saved = pickled.storages.get(*index);
                let dtype = saved.and_then(|saved| saved.dtype).unwrap_or(DType::Byte);
                let nbytes = saved.map_or(0, |saved| saved.nbytes);
                let layout = Layout::contiguous(&[(nbytes / dtype.itemsize()) as i64]);
                let shown = TensorDescription::on(*index, dtype, layout);
                contents.entries.push(Entry { kind: "storage", ..Self::entry(name, &shown) });
            }
            Node::Dict(entries, _) if self.seen.insert(id) => {
                for &(key, value) in entries {
                    self.visit(contents, value, self.below(&name, key), depth + 1)?;
                }
            }
            Node::List(items) | Node::Tuple(items) | Node::Foreign(_, items) if self.seen.insert(id) => {
                for (index, &item) in items.iter().enumerate() {
                    self.visit(contents, item, format!("{name}[{index}]"), depth + 1)?;
                }
            }
            Node::Unknown(class, parts, entries) if self.seen.insert(id) => {
                let class = pickled.unknown.get(*class).map(|class| class.to_string()).unwrap_or_default();
                contents.values.push(Plain { name: name.clone(), class, text: None });
                for (index, &part) in parts.iter().enumerate() {
                    match pickled.node(part) {
                        // Attributes, or the items of a sequence.
                        Node::Dict(..) => self.visit(contents, part, name.clone(), depth + 1)?,
                        Node::Tuple(items) if items.is_empty() => {}
                        _ => self.visit(contents, part, format!("{name}({index})"), depth + 1)?,
                    }
                }
                for &(key, value) in entries {
                    self.visit(contents, value, self.below(&name, key), depth + 1)?;
                }
            }
            Node::Dict(..) | Node::List(_) | Node::Tuple(_) | Node::Foreign(..) | Node::Unknown(..) => {}
            plain => {
                let (class, text) = self.plain(plain);
                contents.values.push(Plain { name, class, text });
            }
        }
        Ok(())
    }

    /// Returns a value's class, and its `repr` in Python.
    fn plain(&self, node: &Node) -> (String, Option<String>) {
        let (class, text) = match node {
            Node::None => ("NoneType", Some("None".to_owned())),
            Node::Bool(truth) => ("bool", Some(if *truth { "True" } else { "False" }.to_owned())),
            Node::Int(number) => ("int", Some(number.to_string())),
            Node::Long(number) => ("int", Some(number.to_string())),
            Node::Float(number) => ("float", Some(format!("{number:?}"))),
            Node::Complex(number) => ("complex", Some(format!("({:?}, {:?})", number.re, number.im))),
            Node::Str(text) => ("str", Some(text.to_string())),
            Node::Bytes(bytes) | Node::ByteArray(bytes) => {
                let class = if matches!(node, Node::Bytes(_)) { "bytes" } else { "bytearray" };
                (class, Some(count(bytes.len(), "byte")))
            }
            Node::Size(sizes) => ("torch.Size", Some(format!("{:?}", sizes.as_slice()))),
            Node::Device(device) => ("torch.device", Some(device.to_string())),
            Node::Layout(layout) => ("torch.layout", Some(format!("torch.{}", layout.name()))),
            Node::Class(Class::DType(dtype)) => ("torch.dtype", Some(format!("torch.{}", dtype.name()))),
            Node::Number(name) => ("numpy.dtype", Some(name.to_string())),
            Node::Class(Class::Unknown(name)) => ("type", self.pickled.unknown.get(*name).map(|name| name.to_string())),
            _ => ("type", None),
        };
        (class.to_owned(), text)
    }

    /// Returns the name of the value under a key.
    fn below(&self, name: &str, key: Id) -> String {
        match self.pickled.node(key) {
            Node::Str(key) => under(name, key),
            Node::Int(key) => format!("{name}[{key}]"),
            Node::Long(key) => format!("{name}[{key}]"),
            _ => format!("{name}[…]"),
        }
    }

    /// Adds an array whose bytes are in the pickle itself.
    fn array(contents: &mut Contents, name: String, array: Rc<Array>) {
        let (dtype, layout, nbytes) = (array.number.dtype, array.layout.clone(), array.nbytes());
        contents.add(name, dtype, layout, nbytes, Bytes::Made(Rc::new(move || array.storage())));
        if let Some(entry) = contents.entries.last_mut() {
            entry.kind = "array";
        }
    }

    fn entry(name: String, shown: &TensorDescription) -> Entry {
        let itemsize = shown.dtype.itemsize() as u64;
        let nbytes =
            shown.layout.sizes.iter().try_fold(itemsize, |all, &size| all.checked_mul(u64::try_from(size).ok()?));
        Entry {
            name,
            kind: match (shown.is_parameter, shown.scale.is_some()) {
                (true, _) => "parameter",
                (_, true) => "quantized",
                _ => "tensor",
            },
            elements: Elements::Plain(shown.dtype),
            layout: shown.layout.clone(),
            nbytes: nbytes.unwrap_or(u64::MAX),
            storage: shown.storage,
            pieces: Vec::new(),
            requires_grad: shown.requires_grad,
            conj: shown.conj,
            neg: shown.neg,
            scale: shown.scale.as_ref().map(|scale| match scale {
                Scale::PerTensor { scale, zero_point } => scale_of_all(*scale, *zero_point),
                Scale::PerChannel { axis, .. } => scales_of_each(*axis),
            }),
        }
    }
}
