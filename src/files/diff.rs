//! Compares two files or folders of tensors, in any formats: tensors that were added, removed, renamed, reshaped or
//! converted; how far the numbers of the others moved; storages shared in only one of them; values and texts. PyTorch
//! has no equivalent.

mod measure;
mod regions;
mod rename;
mod report;
mod stat;

pub(crate) use measure::Tally;

use super::contents::{Blocks, Contents, Elements, Entry};
use super::progress;
use regions::Compared;
use std::collections::{BTreeMap, HashMap, HashSet};
use tensor::{Dims, Result};

/// The differences between two files.
#[derive(Debug)]
pub struct Differences {
    names: [String; 2],
    formats: [&'static str; 2],
    tolerance: f64,
    /// In the order of the first file, followed by added tensors.
    changes: Vec<Change>,
    /// Number of tensors that are equal in both files.
    equal: usize,
    /// Tensors that share a storage in one file but not all of them in the other: the index of the file, and their
    /// names there.
    shared: Vec<(usize, Vec<String>)>,
    /// Values and texts that differ, from both files.
    values: Vec<Text>,
    metadata: Vec<Text>,
}

/// A named text in the first and in the second file.
#[derive(Debug)]
struct Text {
    name: String,
    sides: [Option<String>; 2],
}

/// A change of a tensor.
#[derive(Debug)]
struct Change {
    name: String,
    /// The name in the second file, if it is another.
    renamed: Option<String>,
    what: ChangeKind,
}

#[derive(Debug)]
enum ChangeKind {
    Added(ShownTensor),
    Removed(ShownTensor),
    /// The same bytes under another name.
    Renamed,
    /// Another shape. The elements are not compared.
    Reshaped([ShownTensor; 2]),
    /// The same shape with another dtype, other scales or other elements. `tally` is `None` if one side does not have
    /// data, or has blocks that cannot be dequantized.
    Altered {
        sides: [ShownTensor; 2],
        tally: Option<Tally>,
        at: Dims,
        /// The norm of the first, if it was asked for.
        norm: Option<f64>,
    },
}

/// A short description of a tensor.
#[derive(Clone, Debug, PartialEq)]
struct ShownTensor {
    dtype: &'static str,
    sizes: Dims,
    scale: Option<String>,
    has_data: bool,
}

impl ShownTensor {
    fn of(entry: &Entry) -> ShownTensor {
        ShownTensor {
            dtype: entry.elements.name(),
            sizes: entry.layout.sizes.clone(),
            scale: entry.scale.clone(),
            has_data: entry.storage.is_some() || !entry.pieces.is_empty(),
        }
    }
}

/// How to compare. A number is a tolerance.
#[derive(Clone, Copy, Debug)]
pub struct Comparing {
    /// Elements count as equal if their difference is at most this, either absolute or relative to the first.
    pub tolerance: f64,
    /// Whether to compute the norms of changed tensors.
    pub with_norms: bool,
}

impl From<f64> for Comparing {
    fn from(tolerance: f64) -> Comparing {
        Comparing { tolerance, with_norms: false }
    }
}

/// Compares the contents of two files. Tensors are paired by name, or if they have the same bytes; and if one beginning
/// of names was replaced by another.
///
/// # Errors
/// Fails with RuntimeError for tensors that extend beyond their storage and for files that change meanwhile, and with
/// KeyboardInterrupt.
pub fn diff(a: &Contents, b: &Contents, how: impl Into<Comparing>) -> Result<Differences> {
    let how = how.into();
    let bytes = |contents: &Contents| contents.entries.iter().map(|entry| entry.nbytes).fold(0, u64::saturating_add);
    let _task = progress::begin(bytes(a).max(bytes(b)));
    let mut pairs = Pairs::of(a, b);
    let renamed = rename::renamed(&mut pairs)?;
    let mut found = Differences {
        names: [a.name.clone(), b.name.clone()],
        formats: [a.format, b.format],
        tolerance: how.tolerance,
        changes: Vec::new(),
        equal: 0,
        shared: Vec::new(),
        values: changed_texts(&values(a), &values(b)),
        metadata: changed_texts(&a.metadata, &b.metadata),
    };
    for &(x, y) in &pairs.both {
        let new_name = (x.name != y.name).then(|| y.name.clone());
        let change = |what| Change { name: x.name.clone(), renamed: new_name.clone(), what };
        match altered(pairs.a, x, pairs.b, y, how)? {
            Some(what) => found.changes.push(change(what)),
            None if new_name.is_some() => found.changes.push(change(ChangeKind::Renamed)),
            None => found.equal += 1,
        }
    }
    let told = |entry: &Entry, what: fn(ShownTensor) -> ChangeKind| Change {
        name: entry.name.clone(),
        renamed: None,
        what: what(ShownTensor::of(entry)),
    };
    found.changes.extend(renamed.iter().map(|(from, to)| Change {
        name: from.name.clone(),
        renamed: Some(to.name.clone()),
        what: ChangeKind::Renamed,
    }));
    found.changes.extend(pairs.only_a.iter().map(|entry| told(entry, ChangeKind::Removed)));
    found.changes.extend(pairs.only_b.iter().map(|entry| told(entry, ChangeKind::Added)));
    pairs.both.extend(renamed);
    for side in 0..2 {
        let kept: Vec<_> = pairs.both.iter().map(|&(x, y)| if side == 0 { (x, y) } else { (y, x) }).collect();
        found.shared.extend(separated_groups(&kept).into_iter().map(|names| (side, names)));
    }
    Ok(found)
}

/// The tensors of two files, paired by name.
struct Pairs<'c> {
    a: &'c Contents,
    b: &'c Contents,
    both: Vec<(&'c Entry, &'c Entry)>,
    only_a: Vec<&'c Entry>,
    only_b: Vec<&'c Entry>,
}

impl<'c> Pairs<'c> {
    fn of(a: &'c Contents, b: &'c Contents) -> Pairs<'c> {
        // Two tensors of a file have the same name only in damaged files.
        let by_name: HashMap<&str, &Entry> = b.entries.iter().map(|entry| (entry.name.as_str(), entry)).collect();
        let mut taken = HashSet::new();
        let mut pairs = Pairs { a, b, both: Vec::new(), only_a: Vec::new(), only_b: Vec::new() };
        for entry in &a.entries {
            match by_name.get(entry.name.as_str()) {
                Some(other) if taken.insert(entry.name.as_str()) => pairs.both.push((entry, other)),
                _ => pairs.only_a.push(entry),
            }
        }
        let is_paired = |entry: &&Entry| {
            taken.contains(entry.name.as_str())
                && by_name.get(entry.name.as_str()).is_some_and(|other| std::ptr::eq(*other, *entry))
        };
        pairs.only_b.extend(b.entries.iter().filter(|entry| !is_paired(entry)));
        pairs
    }
}

/// Returns the difference between two tensors of the same name.
fn altered(a: &Contents, x: &Entry, b: &Contents, y: &Entry, how: Comparing) -> Result<Option<ChangeKind>> {
    let sides = [ShownTensor::of(x), ShownTensor::of(y)];
    if x.layout.sizes != y.layout.sizes {
        return Ok(Some(ChangeKind::Reshaped(sides)));
    }
    let has_data = sides.iter().all(|side| side.has_data);
    let pair = (Compared { contents: a, entry: x }, Compared { contents: b, entry: y });
    let tally = match has_data {
        false => None,
        // For blocks that cannot be dequantized, only the equality of the bytes is known.
        true if is_opaque(x) || is_opaque(y) => {
            let are_same = x.elements == y.elements && regions::are_same(pair.0, pair.1)?;
            are_same.then(Tally::default)
        }
        true => Some(regions::compare(pair.0, pair.1, how.tolerance)?),
    };
    let at = index_of(tally.map_or(0, |tally| tally.at), &x.layout.sizes);
    let is_equal = sides[0] == sides[1] && tally.map_or(!has_data, |tally| tally.is_equal());
    if is_equal {
        return Ok(None);
    }
    let norm = match how.with_norms && tally.is_some() && !is_opaque(x) {
        true => Some(regions::norm(pair.0)?),
        false => None,
    };
    Ok(Some(ChangeKind::Altered { sides, tally, at, norm }))
}

/// Returns whether a tensor consists of blocks that cannot be dequantized here.
fn is_opaque(entry: &Entry) -> bool {
    matches!(entry.elements, Elements::Blocks(Blocks { take_apart: None, .. }))
}

/// Converts an element's position in row-major order to its index.
fn index_of(mut number: u64, sizes: &[i64]) -> Dims {
    let mut index: Dims = sizes.into();
    for place in index.iter_mut().rev() {
        let size = u64::try_from(*place).unwrap_or(1).max(1);
        *place = (number % size) as i64;
        number /= size;
    }
    index
}

/// Returns the groups of tensors that share a storage although not all of their counterparts do.
fn separated_groups(pairs: &[(&Entry, &Entry)]) -> Vec<Vec<String>> {
    let mut together: BTreeMap<usize, Vec<&(&Entry, &Entry)>> = BTreeMap::new();
    for pair in pairs {
        if let Some(storage) = pair.0.storage {
            together.entry(storage).or_default().push(pair);
        }
    }
    let are_parted = |pairs: &&Vec<&(&Entry, &Entry)>| {
        let mut others = pairs.iter().map(|(_, other)| other.storage);
        let first = others.next().flatten();
        others.any(|storage| storage.is_none() || storage != first)
    };
    let names = |pairs: &Vec<&(&Entry, &Entry)>| pairs.iter().map(|(entry, _)| entry.name.clone()).collect();
    together.values().filter(are_parted).map(names).collect()
}

/// Returns the values as texts.
fn values(contents: &Contents) -> BTreeMap<String, String> {
    let text = |value: &super::contents::Plain| match &value.text {
        Some(text) if value.class == "str" => format!("'{text}'"),
        Some(text) => text.clone(),
        None => format!("a {}", value.class),
    };
    contents.values.iter().map(|value| (value.name.clone(), text(value))).collect()
}

/// Returns the names under which two sets of texts differ, with both texts.
fn changed_texts(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<Text> {
    let new = b.keys().filter(|name| !a.contains_key(*name));
    let text = |name: &String| Text { name: name.clone(), sides: [a.get(name).cloned(), b.get(name).cloned()] };
    a.keys().chain(new).map(text).filter(|text| text.sides[0] != text.sides[1]).collect()
}

impl Differences {
    /// Returns whether there are no differences.
    pub fn is_equal(&self) -> bool {
        self.changes.is_empty() && self.shared.is_empty() && self.values.is_empty() && self.metadata.is_empty()
    }
}
