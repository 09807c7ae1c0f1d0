//! Reports for files with many tensors: a tree of the parts of names, and numbers by prefix, dtype and size.

use super::{table, tuple};
use crate::contents::{Contents, Entry, count, shown};
use crate::names::{parts, parts_at_most};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The number of prefixes to list at most, …
const MOST_PREFIXES: usize = 40;
/// … and of the largest tensors.
const LARGEST: usize = 5;

/// The depth of the tree. What is nested deeper stays together.
const DEEPEST: usize = 64;

/// The tensors below a part of a name.
#[derive(Default)]
struct Branch<'c> {
    /// In the order of the file, with the index of each.
    below: Vec<(&'c str, Branch<'c>)>,
    places: BTreeMap<&'c str, usize>,
    entry: Option<&'c Entry>,
}

impl<'c> Branch<'c> {
    fn add(&mut self, entry: &'c Entry) {
        let mut at = self;
        for part in parts_at_most(&entry.name, DEEPEST) {
            let next = at.below.len();
            let place = *at.places.entry(part).or_insert(next);
            if place == next {
                at.below.push((part, Branch::default()));
            }
            let Some((_, below)) = at.below.get_mut(place) else { return };
            at = below;
        }
        at.entry = Some(entry);
    }

    /// Returns the number of tensors, and of their bytes.
    fn totals(&self) -> (usize, u64) {
        let own = self.entry.map_or((0, 0), |entry| (1, entry.nbytes));
        self.below
            .iter()
            .map(|(_, branch)| branch.totals())
            .fold(own, |(count, nbytes), (more, bytes)| (count + more, nbytes.saturating_add(bytes)))
    }
}

/// Returns the tensors as a tree.
pub(super) fn tree(contents: &Contents) -> String {
    let mut root = Branch::default();
    contents.entries.iter().for_each(|entry| root.add(entry));
    let mut rows: Vec<[String; 3]> = Vec::new();
    // Names may have many parts, so the walk keeps its own stack.
    let mut open: Vec<(usize, String, &Branch)> = vec![(0, String::new(), &root)];
    while let Some((depth, part, branch)) = open.pop() {
        let indented = |text: &str| format!("{}{}", "  ".repeat(depth.saturating_sub(1)), shown(text));
        match branch.entry {
            Some(entry) => {
                let what = format!("{} {}", entry.elements.name(), tuple(&entry.layout.sizes));
                rows.push([indented(&part), what, super::bytes(entry.nbytes)]);
            }
            None if depth > 0 => {
                let (tensors, nbytes) = branch.totals();
                rows.push([indented(&part), count(tensors, "tensor"), super::bytes(nbytes)]);
            }
            None => {}
        }
        for (part, below) in branch.below.iter().rev() {
            // A part that leads to one place only stands on the same line.
            let (mut name, mut below) = ((*part).to_owned(), below);
            while let ([(part, only)], None) = (below.below.as_slice(), below.entry) {
                name += part;
                below = only;
            }
            open.push((depth + 1, name, below));
        }
    }
    let (tensors, nbytes) = root.totals();
    let mut out = table(&rows);
    let _ = write!(out, "{} of {}", count(tensors, "tensor"), super::bytes(nbytes));
    out
}

/// Numbers of a group of tensors.
#[derive(Default)]
struct Group<'c> {
    tensors: usize,
    elements: u64,
    nbytes: u64,
    dtypes: Vec<&'c str>,
}

impl<'c> Group<'c> {
    fn add(&mut self, entry: &'c Entry) {
        self.tensors += 1;
        self.elements = self.elements.saturating_add(u64::try_from(entry.layout.numel()).unwrap_or(0));
        self.nbytes = self.nbytes.saturating_add(entry.nbytes);
        let name = entry.elements.name();
        if !self.dtypes.contains(&name) {
            self.dtypes.push(name);
        }
    }

    fn row(&self, name: String, with_dtypes: bool) -> [String; 5] {
        let dtypes = if with_dtypes { self.dtypes.join(", ") } else { String::new() };
        [name, self.tensors.to_string(), self.elements.to_string(), super::bytes(self.nbytes), dtypes]
    }
}

/// Groups tensors by a key, in the order of the file.
fn grouped<'c>(entries: &'c [Entry], key: impl Fn(&'c Entry) -> String) -> Vec<(String, Group<'c>)> {
    let (mut groups, mut places): (Vec<(String, Group)>, BTreeMap<String, usize>) = Default::default();
    for entry in entries {
        let key = key(entry);
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Group::default()));
        }
        if let Some((_, group)) = groups.get_mut(place) {
            group.add(entry);
        }
    }
    groups
}

/// Returns the name up to a number of parts, with a star for what is cut off.
fn prefix(name: &str, depth: usize) -> String {
    let mut parts = parts(name);
    let start: String = parts.by_ref().take(depth).collect();
    if parts.next().is_some() { format!("{}.*", start.trim_end_matches('.')) } else { start }
}

/// Returns numbers by prefix, by dtype, and of the largest tensors.
pub(super) fn summary(contents: &Contents) -> String {
    let entries = &contents.entries;
    let mut by_prefix = grouped(entries, |entry| prefix(&entry.name, 1));
    // As many parts as fit.
    for depth in 2.. {
        let deeper = grouped(entries, |entry| prefix(&entry.name, depth));
        // A group has two tensors at least, on average.
        if deeper.len() > MOST_PREFIXES || deeper.len() * 2 > entries.len() || depth > DEEPEST {
            break;
        }
        by_prefix = deeper;
    }
    let heads = |name: &str, last: &str| [name, "tensors", "elements", "bytes", last].map(str::to_owned);
    let mut rows = vec![heads("prefix", "dtype")];
    let hidden = by_prefix.len().saturating_sub(MOST_PREFIXES);
    rows.extend(by_prefix.iter().take(MOST_PREFIXES).map(|(name, group)| group.row(shown(name), true)));
    let mut out = table(&rows);
    if hidden > 0 {
        let _ = writeln!(out, "and {hidden} more prefixes");
    }
    let mut by_dtype = grouped(entries, |entry| entry.elements.name().to_owned());
    by_dtype.sort_by_key(|(_, group)| std::cmp::Reverse(group.nbytes));
    let rows: Vec<_> = by_dtype.into_iter().map(|(name, group)| group.row(name, false)).collect();
    out += "\n";
    out += &table(&[vec![heads("dtype", "")], rows].concat());
    let mut by_size: Vec<&Entry> = entries.iter().collect();
    by_size.sort_by_key(|entry| std::cmp::Reverse(entry.nbytes));
    let row = |entry: &Entry| {
        let what = format!("{} {}", entry.elements.name(), tuple(&entry.layout.sizes));
        [shown(&entry.name), what, super::bytes(entry.nbytes)]
    };
    let rows: Vec<_> = by_size.into_iter().take(LARGEST).map(row).collect();
    out += "\n";
    out += &table(&[vec![["largest", "", "bytes"].map(str::to_owned)], rows].concat());
    let nbytes = entries.iter().fold(0u64, |sum, entry| sum.saturating_add(entry.nbytes));
    let _ = write!(out, "{} of {}", count(entries.len(), "tensor"), super::bytes(nbytes));
    if !contents.values.is_empty() {
        let _ = write!(out, "; {}", count(contents.values.len(), "other value"));
    }
    out
}
