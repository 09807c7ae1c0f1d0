//! Formats the contents of a file as a report: a table, the shared storages, and the number of stored bytes that no
//! tensor uses; or a tree of names, or a summary.

mod summary;

use super::contents::{Contents, Entry, Piece, Plain, StorageInfo, count, shown};
use super::names;
use super::select::Selection;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use tensor::{Error, Result};

/// What to report, and how.
#[derive(Clone, Debug, Default)]
pub struct Reporting {
    /// The patterns of the names to report; all names if empty.
    pub filter: Vec<String>,
    /// The order of the tensors, if it is not that of the file.
    pub sort: Option<Sort>,
    pub form: ReportForm,
}

/// An order of tensors.
#[derive(Clone, Copy, Debug)]
pub enum Sort {
    /// By name, with numbers in names by their value.
    Name,
    /// By the number of bytes, largest first.
    Size,
    Dtype,
}

/// A form of a report.
#[derive(Clone, Copy, Debug, Default)]
pub enum ReportForm {
    #[default]
    Table,
    /// The parts of names below each other.
    Tree,
    /// Numbers by prefix, dtype and size.
    Summary,
    Json,
}

/// The number of values to list, …
const LISTED: usize = 50;
/// … and the number of characters of each.
const WIDEST: usize = 100;

impl Contents {
    /// Returns for each storage the names of its users, and the number of bytes outside their extents. An extent goes
    /// from a tensor's first element to its last.
    fn usage<'r>(&'r self) -> Vec<(Vec<&'r str>, u64)> {
        /// Names, and byte ranges.
        type Uses<'n> = (Vec<&'n str>, Vec<(u64, u64)>);
        let mut usage: Vec<Uses> = vec![Default::default(); self.storages.len()];
        for entry in &self.entries {
            for (storage, extent) in self.extents_of_pieces(entry) {
                if let Some((users, extents)) = usage.get_mut(storage) {
                    users.push(&entry.name);
                    extents.extend(extent);
                }
            }
            if let Some((users, extents)) = entry.storage.and_then(|storage| usage.get_mut(storage)) {
                users.push(&entry.name);
                extents.extend(self.extent(entry));
            }
        }
        let unused = |(held, (users, mut extents)): (&StorageInfo, Uses<'r>)| {
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

    /// Returns the line above a report.
    fn heading(&self) -> String {
        format!("{}: {}, {}\n", shown(&self.name), self.format, bytes(self.nbytes))
    }

    /// Returns a report in the way that is asked for.
    ///
    /// # Errors
    /// Fails with ValueError for a pattern that no name is like.
    pub fn report(self, how: &Reporting) -> Result<String> {
        let all = self.entries.len();
        let contents = self.selected(how)?;
        let selected =
            (contents.entries.len() < all).then(|| format!("\n{} of {all} selected", contents.entries.len()));
        let text = match how.form {
            ReportForm::Json => return Ok(contents.json()),
            ReportForm::Table => contents.text(),
            ReportForm::Tree => contents.heading() + &summary::tree(&contents),
            ReportForm::Summary => contents.heading() + &summary::summary(&contents),
        };
        Ok(text + selected.as_deref().unwrap_or_default())
    }

    /// Returns the contents with the selected tensors and values, in the order that is asked for.
    fn selected(mut self, how: &Reporting) -> Result<Contents> {
        let selection = Selection::new(&how.filter, &[]);
        self.entries.retain(|entry| selection.takes(&entry.name));
        self.values.retain(|value| selection.takes(&value.name));
        selection.check_used().map_err(|error| Error::new(error.kind, error.message.replace("--only", "--filter")))?;
        if !how.filter.is_empty() {
            // Bytes of storages that are not selected belong to tensors that are not.
            self.retain_storages();
            self.unknown.clear();
        }
        match how.sort {
            None => {}
            Some(Sort::Name) => self.entries.sort_by_cached_key(|entry| names::natural(&entry.name)),
            Some(Sort::Size) => self.entries.sort_by_key(|entry| std::cmp::Reverse(entry.nbytes)),
            Some(Sort::Dtype) => self.entries.sort_by_key(|entry| entry.elements.name()),
        }
        Ok(self)
    }

    /// Removes the storages without tensors.
    fn retain_storages(&mut self) {
        let mut kept = vec![None; self.storages.len()];
        let pieces = self.entries.iter().flat_map(|entry| entry.pieces.iter().map(|piece| piece.storage));
        for storage in self.entries.iter().filter_map(|entry| entry.storage).chain(pieces) {
            if let Some(place) = kept.get_mut(storage) {
                *place = Some(0);
            }
        }
        kept.iter_mut().flatten().enumerate().for_each(|(number, place)| *place = number);
        let new = |storage: usize| kept.get(storage).copied().flatten();
        for entry in &mut self.entries {
            entry.storage = entry.storage.and_then(new);
            entry.pieces.iter_mut().for_each(|piece| piece.storage = new(piece.storage).unwrap_or(piece.storage));
        }
        let mut places = kept.iter();
        self.storages.retain(|_| places.next().is_some_and(Option::is_some));
    }

    /// Returns the report as a table with a summary.
    pub fn text(&self) -> String {
        let mut out = self.heading();
        let heads = ["name", "", "dtype", "size", "stride", "offset", "bytes", "storage"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(heads).chain(self.entries.iter().map(|e| self.row(e))).collect();
        if !self.entries.is_empty() {
            out += &table(&rows);
        }
        for entry in &self.entries {
            for piece in &entry.pieces {
                let Some(held) = self.storages.get(piece.storage) else { continue };
                let (sizes, offsets) = (tuple(&piece.layout.sizes), tuple(&piece.offsets));
                let _ = writeln!(out, "{} at {offsets}: {sizes} on {}", shown(&entry.name), shown(&held.key));
            }
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
                    "storage {} has {}, of which {} belong to no tensor",
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
            let _ = write!(out, ", {} of them in no tensor", bytes(wasted));
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
            let _ = write!(out, "\nand {} more values; --json lists them", self.values.len() - LISTED);
        }
        if !self.unknown.is_empty() {
            let names: Vec<_> = self.unknown.iter().map(|name| shown(name)).collect();
            let _ = write!(out, "\nnot executed: {}", names.join(", "));
        }
        out
    }

    fn row(&self, entry: &Entry) -> [String; 8] {
        let storage = entry.storage.and_then(|storage| self.storages.get(storage));
        [
            shown(&entry.name),
            if entry.kind == "tensor" { String::new() } else { entry.kind.to_owned() },
            entry.elements.name().to_owned(),
            tuple(&entry.layout.sizes),
            tuple(&entry.layout.strides),
            entry.layout.offset.to_string(),
            entry.nbytes.to_string(),
            match (storage, self.extent(entry)) {
                (None, _) if !entry.pieces.is_empty() => count(entry.pieces.len(), "piece"),
                (None, _) => "meta".to_owned(),
                (Some(held), None) => format!("{} (beyond its end)", shown(&held.key)),
                (Some(held), Some(_)) => shown(&held.key),
            },
        ]
    }

    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let entry = |entry: &Entry| {
            json!({
                "name": entry.name,
                "kind": entry.kind,
                "dtype": entry.elements.name(),
                "size": entry.layout.sizes.as_slice(),
                "stride": entry.layout.strides.as_slice(),
                "storage_offset": entry.layout.offset,
                "bytes": entry.nbytes,
                "storage": entry.storage,
                "is_within_storage": entry.storage.is_none() || self.extent(entry).is_some(),
                "requires_grad": entry.requires_grad,
            })
        };
        let entry = |of: &Entry| {
            let piece = |piece: &Piece| {
                json!({
                    "first_index": piece.offsets.as_slice(),
                    "size": piece.layout.sizes.as_slice(),
                    "stride": piece.layout.strides.as_slice(),
                    "storage_offset": piece.layout.offset,
                    "storage": piece.storage,
                })
            };
            let mut json = entry(of);
            if !of.pieces.is_empty() {
                json["pieces"] = of.pieces.iter().map(piece).collect();
            }
            json
        };
        let storage = |(held, (users, waste)): (&StorageInfo, (Vec<&str>, u64))| {
            json!({
                "key": held.key,
                "bytes": held.nbytes,
                "file": held.file(),
                "file_offset": held.place(),
                "location": held.location,
                "tensors": users,
                "unused_bytes": waste,
            })
        };
        let value = |value: &Plain| json!({ "name": value.name, "class": value.class, "value": value.text });
        let report = json!({
            "file": self.name,
            "format": self.format,
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

/// Formats rows as columns. A column without any text does not show.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let start = out.len();
        for (cell, width) in row.iter().zip(&widths).filter(|(_, width)| **width > 0) {
            let _ = write!(out, "{cell:width$}  ");
        }
        out.truncate(start + out.get(start..).map_or(0, |line| line.trim_end().len()));
        out.push('\n');
    }
    out
}

/// Formats sizes like a Python tuple.
pub(crate) fn tuple(dims: &[i64]) -> String {
    let items = dims.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    if dims.len() == 1 { format!("({items},)") } else { format!("({items})") }
}

/// Cuts a text to fit one line.
pub(crate) fn shortened(text: &str) -> String {
    let text = shown(text);
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{} …", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Formats a number of bytes, also in a larger unit.
pub(crate) fn bytes(number: u64) -> String {
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
