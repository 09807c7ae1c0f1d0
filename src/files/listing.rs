//! Lists the tensors of a checkpoint, each named by its path through the containers.

use super::checkpoint::{Checkpoint, Data, Options};
use super::contents::{
    Bytes, Contents, DEEPEST, Elements, Entry, Plain, StorageInfo, count, scale_of_all, scales_of_each,
};
use super::names::{self, Keys, Leaf, at};
use super::pickle::{Array, Class, Id, Mode, Node, Pickled, Saved, Scale, TensorDescription, key_value};
use super::source::Source;
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use tensor::{DType, Error, ErrorKind, Layout, Result, bail};
use value::Value;

/// The maximum total length of all names. A file can make them much longer than itself.
const MOST_OF_NAMES: usize = 64 << 20;

/// Adds the contents of a checkpoint.
///
/// # Errors
/// The errors of [`leaves`].
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
    leaves(&pickled)?.iter().for_each(|leaf| describe(&pickled, contents, leaf));
    Ok(())
}

/// Returns everything in a checkpoint that contains nothing else, in order.
///
/// # Errors
/// Fails with RecursionError for containers nested too deeply, and with RuntimeError for names that are too long.
pub(crate) fn leaves(pickled: &Pickled) -> Result<Vec<Leaf<Id>>> {
    let walk = |keys| {
        let mut walk = Walk { pickled, keys, seen: HashSet::new(), room: MOST_OF_NAMES, leaves: Vec::new() };
        walk.visit(pickled.root, String::new(), 0)?;
        Ok(walk.leaves)
    };
    names::distinct(walk, |leaf| parts(pickled, leaf).into_iter().map(|(name, _)| name).collect())
}

/// Returns whether to load a leaf, given its name, and its class if it is an object or function that does not exist here.
pub(crate) type Choose<'a> = dyn Fn(&str, Option<&str>) -> Result<bool> + 'a;

/// Loads the chosen leaves of a checkpoint.
///
/// # Errors
/// Fails with RuntimeError and others for damaged files, and with the errors of `choose`.
pub(crate) fn load_leaves(source: &Source, options: &Options, choose: &Choose) -> Result<Vec<Leaf<Value>>> {
    let Checkpoint { pickled, mut data } = Checkpoint::read(source, Mode::Report)?;
    options.say_devices(&pickled);
    let mut builder = options.builder(&pickled, &mut data);
    let mut loaded = Vec::new();
    for Leaf { name, of } in leaves(&pickled)? {
        let node = pickled.node(of);
        let foreign = node.is_foreign().then(|| node.class_in(&pickled));
        if choose(&name, foreign)? {
            loaded.push(Leaf { of: builder.value(of)?, name });
        }
    }
    Ok(loaded)
}

/// Returns the name and the node of each tensor of which a leaf consists. A leaf other than a tensor is its only part.
fn parts(pickled: &Pickled, leaf: &Leaf<Id>) -> Vec<(String, Id)> {
    let name = &leaf.name;
    match pickled.node(leaf.of) {
        Node::Sparse(sparse) => sparse.named_parts().map(|(part, id)| (format!("{name}.{part}"), id)).collect(),
        Node::Tensor(shown) => {
            let mut parts = Vec::new();
            if let Some(Scale::PerChannel { scales, zero_points, .. }) = shown.scale {
                parts.extend([(format!("{name}.scales"), scales), (format!("{name}.zero_points"), zero_points)]);
            }
            parts.push((name.clone(), leaf.of));
            parts
        }
        _ => vec![(name.clone(), leaf.of)],
    }
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
    keys: Keys,
    /// The containers already visited; a container in several places is reported once.
    seen: HashSet<Id>,
    /// The remaining length for names.
    room: usize,
    leaves: Vec<Leaf<Id>>,
}

impl Walk<'_> {
    fn visit(&mut self, id: Id, name: String, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return Err(too_deep());
        }
        let Some(room) = self.room.checked_sub(name.len()) else {
            bail!(RuntimeError, "the names in the file are too long");
        };
        self.room = room;
        let pickled = self.pickled;
        match pickled.node(id) {
            Node::Dict(entries, _) if self.seen.insert(id) => {
                for (place, &(key, value)) in entries.iter().enumerate() {
                    self.visit(value, self.below(&name, key, place), depth + 1)?;
                }
            }
            Node::List(items) | Node::Tuple(items) | Node::Foreign(_, items) if self.seen.insert(id) => {
                for (index, &item) in items.iter().enumerate() {
                    self.visit(item, at(&name, index), depth + 1)?;
                }
            }
            Node::Unknown(_, parts, entries) if self.seen.insert(id) => {
                self.leaves.push(Leaf { name: name.clone(), of: id });
                for (index, &part) in parts.iter().enumerate() {
                    match pickled.node(part) {
                        Node::Dict(attributes, _) => self.attributes(part, attributes, &name, depth)?,
                        Node::Tuple(items) if items.is_empty() => {}
                        _ => self.visit(part, format!("{name}({index})"), depth + 1)?,
                    }
                }
                for (place, &(key, value)) in entries.iter().enumerate() {
                    // An item may have the name of an attribute.
                    let below = match (self.keys, pickled.node(key)) {
                        (Keys::Quoted, Node::Str(key)) => at(&name, names::quoted(key)),
                        _ => self.below(&name, key, place),
                    };
                    self.visit(value, below, depth + 1)?;
                }
            }
            Node::Attributed(inner, attributes) => {
                self.visit(*inner, name.clone(), depth + 1)?;
                if let Node::Dict(entries, _) = pickled.node(*attributes) {
                    self.attributes(*attributes, entries, &name, depth)?;
                }
            }
            Node::Dict(..) | Node::List(_) | Node::Tuple(_) | Node::Foreign(..) | Node::Unknown(..) => {}
            _ => self.leaves.push(Leaf { name, of: id }),
        }
        Ok(())
    }

    /// Visits the attributes of an object.
    fn attributes(&mut self, id: Id, attributes: &[(Id, Id)], name: &str, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return Err(too_deep());
        }
        if !self.seen.insert(id) {
            return Ok(());
        }
        for (place, &(key, value)) in attributes.iter().enumerate() {
            let pickled = self.pickled;
            match (pickled.node(key), pickled.node(value)) {
                // The modules, parameters and buffers of a module.
                (Node::Str(key), Node::Dict(entries, _)) if self.keys.hides(key) => {
                    self.attributes(value, entries, name, depth + 1)?;
                }
                _ => self.visit(value, self.below(name, key, place), depth + 1)?,
            }
        }
        Ok(())
    }

    /// Returns the name of the value under a key.
    fn below(&self, name: &str, key: Id, place: usize) -> String {
        let node = self.pickled.node(key);
        if let Node::Str(key) = node {
            return self.keys.under(name, key);
        }
        match key_value(self.pickled, key) {
            Some(key) => names::under_key(self.keys, name, &key, place),
            None => at(name, format_args!("{} {place}", node.class_name())),
        }
    }
}

fn too_deep() -> Error {
    let text = "maximum recursion depth exceeded: the file nests its containers too deeply";
    Error::new(ErrorKind::RecursionError, text)
}

/// Adds a leaf to the contents: the entries of a tensor, or a value.
fn describe(pickled: &Pickled, contents: &mut Contents, leaf: &Leaf<Id>) {
    let Leaf { name, of } = leaf;
    match pickled.node(*of) {
        Node::Tensor(_) | Node::Sparse(_) => {
            for (name, part) in parts(pickled, leaf) {
                let Node::Tensor(shown) = pickled.node(part) else { continue };
                contents.entries.push(match pickled.node(*of) {
                    Node::Sparse(sparse) => Entry { kind: sparse.layout.name(), ..entry(name, shown) },
                    _ => entry(name, shown),
                });
            }
        }
        Node::Array(Some(array)) => add_array(contents, name.clone(), array.clone()),
        Node::Storage(index) => {
            let saved = pickled.storages.get(*index);
            let dtype = saved.and_then(|saved| saved.dtype).unwrap_or(DType::Byte);
            let nbytes = saved.map_or(0, |saved| saved.nbytes);
            let layout = Layout::contiguous(&[(nbytes / dtype.itemsize()) as i64]);
            let shown = TensorDescription::on(*index, dtype, layout);
            contents.entries.push(Entry { kind: "storage", ..entry(name.clone(), &shown) });
        }
        Node::Unknown(class, ..) => {
            let class = pickled.unknown.get(*class).map(|class| class.to_string()).unwrap_or_default();
            contents.values.push(Plain { name: name.clone(), class, text: None });
        }
        plain => {
            let (class, text) = plain_text(pickled, plain);
            contents.values.push(Plain { name: name.clone(), class, text });
        }
    }
}

/// Returns a value's class, and its `repr` in Python.
fn plain_text(pickled: &Pickled, node: &Node) -> (String, Option<String>) {
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
        Node::Class(Class::Unknown(name)) => ("type", pickled.unknown.get(*name).map(|name| name.to_string())),
        _ => ("type", None),
    };
    (class.to_owned(), text)
}

/// Adds an array whose bytes are in the pickle itself.
fn add_array(contents: &mut Contents, name: String, array: Rc<Array>) {
    let (dtype, layout, nbytes) = (array.number.dtype, array.layout.clone(), array.nbytes());
    contents.add(name, dtype, layout, nbytes, Bytes::Made(Rc::new(move || array.storage())));
    if let Some(entry) = contents.entries.last_mut() {
        entry.kind = "array";
    }
}

fn entry(name: String, shown: &TensorDescription) -> Entry {
    let itemsize = shown.dtype.itemsize() as u64;
    let nbytes = shown.layout.sizes.iter().try_fold(itemsize, |all, &size| all.checked_mul(u64::try_from(size).ok()?));
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
