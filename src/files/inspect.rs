//! What is in a file, without its data: every tensor with its layout, which of them share a storage, and how many bytes
//! are kept that no tensor shows.

use super::archive::Archive;
use super::checkpoint::Checkpoint;
use super::format::Format;
use super::pickle::{Class, Id, Node, Pickled, Scale, Shown};
use super::source::Source;
use super::{npy, npz, safetensors};
use crate::bail;
use crate::tensor::{DType, Dims, Layout, Result};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// The maximum depth of nested containers.
const DEEPEST: usize = 200;

/// Characters of all names together. A file can make them much longer than itself.
const MOST_OF_NAMES: usize = 64 << 20;

/// The values that a text lists, …
const LISTED: usize = 50;
/// … and the characters of each.
const WIDEST: usize = 100;

/// The contents of a file.
#[derive(Debug)]
pub struct Report {
    file: String,
    format: Format,
    nbytes: usize,
    entries: Vec<Entry>,
    storages: Vec<Held>,
    /// What else it holds.
    values: Vec<Plain>,
    /// Texts beside the tensors.
    metadata: BTreeMap<String, String>,
    /// Names of classes and functions that loading it in Python would call, and that are not called here.
    unknown: Vec<String>,
}

/// A value that is no tensor.
#[derive(Debug)]
struct Plain {
    name: String,
    /// Python's class.
    class: String,
    /// As Python shows it; none where it cannot be known.
    text: Option<String>,
}

/// A tensor or storage of the file.
#[derive(Debug)]
struct Entry {
    name: String,
    kind: &'static str,
    dtype: DType,
    sizes: Dims,
    strides: Dims,
    offset: i64,
    /// Bytes of its elements.
    nbytes: u64,
    /// `None` on the `meta` device.
    storage: Option<usize>,
    /// The first byte it shows and the one behind the last, where it lies within its storage.
    extent: Option<(u64, u64)>,
    requires_grad: bool,
}

/// A storage of the file.
#[derive(Debug)]
struct Held {
    key: String,
    nbytes: u64,
    /// Its position in the file, if it is stored as it is.
    place: Option<usize>,
    location: String,
}

/// Reads what a file says of itself.
///
/// # Errors
/// ValueError when it is of no format that is read; what the reader of its format says.
pub fn inspect(source: &Source) -> Result<Report> {
    let format = Format::of(source)?;
    let mut report = Report {
        file: source.name().unwrap_or_default().to_owned(),
        format,
        nbytes: source.len(),
        entries: Vec::new(),
        storages: Vec::new(),
        values: Vec::new(),
        metadata: BTreeMap::new(),
        unknown: Vec::new(),
    };
    match format {
        Format::Checkpoint | Format::Legacy => report.read_checkpoint(&Checkpoint::describe(source)?)?,
        Format::Safetensors => {
            report.metadata = safetensors::metadata(source)?;
            for described in safetensors::header(source)? {
                report.add(described.name, described.dtype, described.layout, described.nbytes, Some(described.place));
            }
        }
        Format::Npy => {
            let header = npy::header_of(source)?;
            report.add(String::new(), header.dtype, header.layout, header.nbytes, Some(header.start));
        }
        Format::Npz => {
            let mut archive = Archive::open(source)?;
            for (entry, header) in npz::headers(&mut archive)? {
                let place = archive.place(&entry).and_then(|place| place.checked_add(header.start));
                let name = entry.strip_suffix(".npy").unwrap_or(&entry).to_owned();
                report.add(name, header.dtype, header.layout, header.nbytes, place);
            }
        }
    }
    Ok(report)
}

impl Report {
    /// Adds a tensor that has its storage to itself.
    fn add(&mut self, name: String, dtype: DType, layout: Layout, nbytes: usize, place: Option<usize>) {
        let storage = Some(self.storages.len());
        self.storages.push(Held { key: name.clone(), nbytes: nbytes as u64, place, location: "cpu".to_owned() });
        self.entries.push(Entry {
            name,
            kind: "tensor",
            dtype,
            sizes: layout.sizes,
            strides: layout.strides,
            offset: layout.offset,
            nbytes: nbytes as u64,
            storage,
            extent: Some((0, nbytes as u64)),
            requires_grad: false,
        });
    }

    fn read_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        for saved in &checkpoint.pickled.storages {
            self.storages.push(Held {
                key: saved.key.to_string(),
                nbytes: saved.nbytes as u64,
                place: checkpoint.data.place(saved),
                location: saved.location.to_string(),
            });
        }
        self.unknown = checkpoint.pickled.unknown.iter().map(|name| name.to_string()).collect();
        self.unknown.sort_unstable();
        let mut walk = Walk { pickled: &checkpoint.pickled, seen: HashSet::new(), room: MOST_OF_NAMES };
        walk.visit(self, checkpoint.pickled.root, String::new(), 0)
    }

    /// For each storage the names of what is on it, and how many of its bytes no tensor reaches, counted between the first
    /// and the last element of each.
    fn usage<'r>(&'r self) -> Vec<(Vec<&'r str>, u64)> {
        /// Names, and bytes from and to.
        type Uses<'n> = (Vec<&'n str>, Vec<(u64, u64)>);
        let mut usage: Vec<Uses> = vec![Default::default(); self.storages.len()];
        for entry in &self.entries {
            if let Some((users, extents)) = entry.storage.and_then(|storage| usage.get_mut(storage)) {
                users.push(&entry.name);
                extents.extend(entry.extent);
            }
        }
        let unused = |(held, (users, mut extents)): (&Held, Uses<'r>)| {
            extents.sort_unstable();
            let (mut covered, mut end) = (0u64, 0);
            for (from, to) in extents {
                covered += to.max(end) - from.max(end);
                end = end.max(to);
            }
            (users, held.nbytes.saturating_sub(covered))
        };
        self.storages.iter().zip(usage).map(unused).collect()
    }

    /// The report as a table with a summary below.
    pub fn text(&self) -> String {
        let mut out = format!("{}: {}, {}\n", shown(&self.file), self.format.name(), bytes(self.nbytes as u64));
        let heads = ["name", "", "dtype", "size", "stride", "offset", "bytes", "storage"].map(str::to_owned);
        let rows: Vec<[String; 8]> = std::iter::once(heads).chain(self.entries.iter().map(|e| self.row(e))).collect();
        let width =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..8).map(|column| width(column).unwrap_or(0)).collect();
        for row in rows.iter().filter(|_| !self.entries.is_empty()) {
            let cells = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
            let line = cells.fold(String::new(), |line, (cell, width)| format!("{line}{cell:width$}  "));
            out += line.trim_end();
            out += "\n";
        }
        let mut wasted = 0;
        for (held, (users, waste)) in self.storages.iter().zip(self.usage()) {
            if users.len() > 1 {
                let names: Vec<String> = users.iter().map(|name| shown(name)).collect();
                let _ = writeln!(out, "storage {} is shared by {}", shown(&held.key), names.join(", "));
            }
            wasted += waste;
            if waste > 0 {
                let _ = writeln!(
                    out,
                    "storage {} has {}, of which {} are shown by no tensor",
                    shown(&held.key),
                    bytes(held.nbytes),
                    bytes(waste)
                );
            }
        }
        let total = self.storages.iter().map(|held| held.nbytes).fold(0, u64::saturating_add);
        let _ = write!(
            out,
            "{} on {} of {}",
            count(self.entries.len(), "tensor"),
            count(self.storages.len(), "storage"),
            bytes(total)
        );
        if wasted > 0 {
            let _ = write!(out, ", {} of them shown by none", bytes(wasted));
        }
        if !self.values.is_empty() {
            let _ = write!(out, "; {}", count(self.values.len(), "other value"));
        }
        for (name, text) in &self.metadata {
            let _ = write!(out, "\nmetadata {}: {}", shown(name), shortened(text));
        }
        for value in self.values.iter().take(LISTED) {
            let quote = if value.class == "str" { "'" } else { "" };
            let text = value.text.as_deref().map(|text| format!(" {quote}{}{quote}", shortened(text)));
            let text = text.unwrap_or_default();
            let _ = write!(out, "\nvalue {}: {}{text}", shown(&value.name), shown(&value.class));
        }
        if self.values.len() > LISTED {
            let _ = write!(out, "\nand {} values more, which --json lists", self.values.len() - LISTED);
        }
        if !self.unknown.is_empty() {
            let names: Vec<_> = self.unknown.iter().map(|name| shown(name)).collect();
            let _ = write!(out, "\nnot executed: {}", names.join(", "));
        }
        out
    }

    fn row(&self, entry: &Entry) -> [String; 8] {
        let tuple = |dims: &[i64]| {
            let items = dims.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            if dims.len() == 1 { format!("({items},)") } else { format!("({items})") }
        };
        let storage = entry.storage.and_then(|storage| self.storages.get(storage));
        [
            shown(&entry.name),
            if entry.kind == "tensor" { String::new() } else { entry.kind.to_owned() },
            entry.dtype.name().to_owned(),
            tuple(&entry.sizes),
            tuple(&entry.strides),
            entry.offset.to_string(),
            entry.nbytes.to_string(),
            match (storage, entry.extent) {
                (None, _) => "meta".to_owned(),
                (Some(held), None) => format!("{} (beyond its end)", shown(&held.key)),
                (Some(held), Some(_)) => shown(&held.key),
            },
        ]
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        let entry = |entry: &Entry| {
            json!({
                "name": entry.name,
                "kind": entry.kind,
                "dtype": entry.dtype.name(),
                "size": entry.sizes.as_slice(),
                "stride": entry.strides.as_slice(),
                "storage_offset": entry.offset,
                "bytes": entry.nbytes,
                "storage": entry.storage,
                "is_within_storage": entry.storage.is_none() || entry.extent.is_some(),
                "requires_grad": entry.requires_grad,
            })
        };
        let storage = |(held, (users, waste)): (&Held, (Vec<&str>, u64))| {
            json!({
                "key": held.key,
                "bytes": held.nbytes,
                "file_offset": held.place,
                "location": held.location,
                "tensors": users,
                "unused_bytes": waste,
            })
        };
        let value = |value: &Plain| json!({ "name": value.name, "class": value.class, "value": value.text });
        let report = json!({
            "file": self.file,
            "format": self.format.name(),
            "bytes": self.nbytes,
            "tensors": self.entries.iter().map(entry).collect::<Vec<Json>>(),
            "storages": self.storages.iter().zip(self.usage()).map(storage).collect::<Vec<Json>>(),
            "values": self.values.iter().map(value).collect::<Vec<Json>>(),
            "metadata": self.metadata,
            "not_executed": self.unknown,
        });
        format!("{report:#}")
    }
}

struct Walk<'p> {
    pickled: &'p Pickled,
    /// Containers that were visited: a container in several places is reported once.
    seen: HashSet<Id>,
    /// Characters that names may still have.
    room: usize,
}

impl Walk<'_> {
    fn visit(&mut self, report: &mut Report, id: Id, name: String, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            bail!(RecursionError, "maximum recursion depth exceeded: the file nests its containers too deeply");
        }
        let Some(room) = self.room.checked_sub(name.len()) else {
            bail!(RuntimeError, "the names in the file are too long to be told");
        };
        self.room = room;
        let pickled = self.pickled;
        match pickled.node(id) {
            Node::Tensor(shown) => {
                if let Some(Scale::PerChannel { scales, zero_points, .. }) = shown.scale {
                    self.visit(report, scales, format!("{name}.scales"), depth + 1)?;
                    self.visit(report, zero_points, format!("{name}.zero_points"), depth + 1)?;
                }
                report.entries.push(self.entry(report, name, shown));
            }
            Node::Sparse(sparse) => {
                let (compressed, plain) = sparse.layout.index_names();
                let names: &[&str] =
                    if sparse.parts.len() == 2 { &["indices", "values"] } else { &[compressed, plain, "values"] };
                for (part, of_part) in sparse.parts.iter().zip(names) {
                    self.visit(report, *part, format!("{name}.{of_part}"), depth + 1)?;
                }
            }
            Node::Storage(index) => {
                let saved = pickled.storages.get(*index);
                let dtype = saved.and_then(|saved| saved.dtype).unwrap_or(DType::Byte);
                let nbytes = saved.map_or(0, |saved| saved.nbytes);
                let layout = Layout::contiguous(&[(nbytes / dtype.itemsize()) as i64]);
                let shown = Shown::on(*index, dtype, layout);
                report.entries.push(Entry { kind: "storage", ..self.entry(report, name, &shown) });
            }
            Node::Dict(entries, _) if self.seen.insert(id) => {
                for &(key, value) in entries {
                    self.visit(report, value, self.below(&name, key), depth + 1)?;
                }
            }
            Node::List(items) | Node::Tuple(items) | Node::Foreign(_, items) if self.seen.insert(id) => {
                for (index, &item) in items.iter().enumerate() {
                    self.visit(report, item, format!("{name}[{index}]"), depth + 1)?;
                }
            }
            Node::Unknown(class, parts, entries) if self.seen.insert(id) => {
                let class = pickled.unknown.get(*class).map(|class| class.to_string()).unwrap_or_default();
                report.values.push(Plain { name: name.clone(), class, text: None });
                for (index, &part) in parts.iter().enumerate() {
                    match pickled.node(part) {
                        // Attributes, or the items of a sequence.
                        Node::Dict(..) => self.visit(report, part, name.clone(), depth + 1)?,
                        Node::Tuple(items) if items.is_empty() => {}
                        _ => self.visit(report, part, format!("{name}({index})"), depth + 1)?,
                    }
                }
                for &(key, value) in entries {
                    self.visit(report, value, self.below(&name, key), depth + 1)?;
                }
            }
            Node::Dict(..) | Node::List(_) | Node::Tuple(_) | Node::Foreign(..) | Node::Unknown(..) => {}
            plain => {
                let (class, text) = self.plain(plain);
                report.values.push(Plain { name, class, text });
            }
        }
        Ok(())
    }

    /// A value's class, and the value as Python shows it.
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
            Node::Class(Class::Unknown(name)) => ("type", self.pickled.unknown.get(*name).map(|name| name.to_string())),
            _ => ("type", None),
        };
        (class.to_owned(), text)
    }

    /// The name of what stands under a key.
    fn below(&self, name: &str, key: Id) -> String {
        match self.pickled.node(key) {
            Node::Str(key) if name.is_empty() => key.to_string(),
            Node::Str(key) => format!("{name}.{key}"),
            Node::Int(key) => format!("{name}[{key}]"),
            Node::Long(key) => format!("{name}[{key}]"),
            _ => format!("{name}[…]"),
        }
    }

    fn entry(&self, report: &Report, name: String, shown: &Shown) -> Entry {
        let itemsize = shown.dtype.itemsize() as u64;
        let nbytes =
            shown.layout.sizes.iter().try_fold(itemsize, |all, &size| all.checked_mul(u64::try_from(size).ok()?));
        let held = shown.storage.and_then(|index| report.storages.get(index)).map_or(0, |held| held.nbytes);
        let first = u64::try_from(shown.layout.offset).ok().and_then(|offset| offset.checked_mul(itemsize));
        let is_plain = shown.layout.sizes.len() == shown.layout.strides.len()
            && shown.layout.sizes.iter().chain(&shown.layout.strides).all(|&number| number >= 0);
        let end = if is_plain { shown.layout.storage_elements().ok() } else { None };
        let end = end.and_then(|end| u64::try_from(end).ok()?.checked_mul(itemsize)).filter(|&end| end <= held);
        Entry {
            name,
            kind: match (shown.is_parameter, shown.scale.is_some()) {
                (true, _) => "parameter",
                (_, true) => "quantized",
                _ => "tensor",
            },
            dtype: shown.dtype,
            sizes: shown.layout.sizes.clone(),
            strides: shown.layout.strides.clone(),
            offset: shown.layout.offset,
            nbytes: nbytes.unwrap_or(u64::MAX),
            storage: shown.storage,
            extent: first.zip(end).map(|(first, end)| (first.min(end), end)),
            requires_grad: shown.requires_grad,
        }
    }
}

/// A name from a file, such that it cannot speak to the terminal; the value at the top has none.
fn shown(name: &str) -> String {
    if name.is_empty() {
        return "(all)".to_owned();
    }
    name.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// A text that takes no more than a line.
fn shortened(text: &str) -> String {
    let text = shown(text);
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{} …", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A number of bytes, and what that is in a larger unit.
fn bytes(number: u64) -> String {
    const UNITS: &[&str] = &["kB", "MB", "GB", "TB", "PB", "EB"];
    let exact = count(usize::try_from(number).unwrap_or(usize::MAX), "byte");
    let (mut size, mut unit) = (number as f64, None);
    for next in UNITS {
        if size < 1000.0 {
            break;
        }
        (size, unit) = (size / 1000.0, Some(next));
    }
    match unit {
        Some(unit) => format!("{exact} ({size:.1} {unit})"),
        None => exact,
    }
}
