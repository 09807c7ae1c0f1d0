//! Finds renamed tensors: those with the same bytes under another name, and those below a beginning of names that was
//! replaced as a whole. A tensor that changed as well is found only in the second way.

use super::Pairs;
use super::regions::{self, Compared};
use crate::contents::{Contents, Entry};
use crate::names::parts;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tensor::{Dims, Result, interrupt};

/// The number of replaced beginnings to remember, …
const MOST_PREFIXES: usize = 64;
/// … and of tensors that look alike to choose among.
const MOST_CHOICES: usize = 64;

/// A beginning of names, and what replaced it. Both are empty or end before a dot or a bracket.
pub(super) type Prefixes = (String, String);

/// The type, sizes and first bytes of a tensor.
type Appearance = (&'static str, Dims, Vec<u8>);

/// Pairs of a tensor of the first file and one of the second.
type Found<'c> = Vec<(&'c Entry, &'c Entry)>;

/// Pairs tensors that only one file has with each other, and removes them from there. Returns those that are equal; the
/// others join `pairs.both`, to be compared.
///
/// # Errors
/// The errors of reading tensors, and KeyboardInterrupt.
pub(super) fn renamed<'c>(pairs: &mut Pairs<'c>) -> Result<Found<'c>> {
    if pairs.only_a.is_empty() || pairs.only_b.is_empty() {
        return Ok(Vec::new());
    }
    let mut search = Search::over(pairs)?;
    // First those that look like no other, which tell the beginnings; then what has an expected name; then what is left.
    let mut equal = search.unique()?;
    search.prefixes.extend(common_prefix(&pairs.only_a, &pairs.only_b));
    let (named, changed) = search.expected()?;
    equal.extend(named);
    equal.extend(search.alike()?);
    let is_taken = |taken: &HashSet<*const Entry>, entry: &Entry| taken.contains(&std::ptr::from_ref(entry));
    let taken: HashSet<*const Entry> =
        equal.iter().chain(&changed).flat_map(|&(old, new)| [std::ptr::from_ref(old), new]).collect();
    pairs.only_a.retain(|entry| !is_taken(&taken, entry));
    pairs.only_b.retain(|entry| !is_taken(&taken, entry));
    pairs.both.extend(changed);
    // In the order of the first file.
    let places: HashMap<*const Entry, usize> =
        pairs.a.entries.iter().enumerate().map(|(place, entry)| (std::ptr::from_ref(entry), place)).collect();
    equal.sort_by_key(|(old, _)| places.get(&std::ptr::from_ref(*old)).copied());
    Ok(equal)
}

/// A search among the tensors that only one file has.
struct Search<'c> {
    a: &'c Contents,
    b: &'c Contents,
    /// The tensors of the first file that are not paired yet, and how they look.
    open: Vec<(&'c Entry, Option<Rc<Appearance>>)>,
    /// Those of the second file, by how they look and by name.
    by_looks: HashMap<Rc<Appearance>, Vec<&'c Entry>>,
    by_name: HashMap<&'c str, &'c Entry>,
    /// The names of those of the second file that are paired.
    taken: HashSet<&'c str>,
    /// The beginnings that were replaced in the pairs found so far.
    prefixes: Vec<Prefixes>,
}

impl<'c> Search<'c> {
    fn over(pairs: &Pairs<'c>) -> Result<Search<'c>> {
        let mut by_looks: HashMap<Rc<Appearance>, Vec<&Entry>> = HashMap::new();
        for &entry in &pairs.only_b {
            if let Some(looks) = looks(pairs.b, entry)? {
                by_looks.entry(Rc::new(looks)).or_default().push(entry);
            }
        }
        let mut open = Vec::new();
        for &entry in &pairs.only_a {
            open.push((entry, looks(pairs.a, entry)?.map(Rc::new)));
        }
        Ok(Search {
            a: pairs.a,
            b: pairs.b,
            open,
            by_looks,
            by_name: pairs.only_b.iter().map(|entry| (entry.name.as_str(), *entry)).collect(),
            taken: HashSet::new(),
            prefixes: Vec::new(),
        })
    }

    /// Pairs each open tensor with what `choose` finds for it.
    fn pair(
        &mut self,
        mut choose: impl FnMut(&Self, &'c Entry, Option<&Appearance>) -> Result<Option<&'c Entry>>,
    ) -> Result<Found<'c>> {
        let mut found = Vec::new();
        for (entry, looks) in std::mem::take(&mut self.open) {
            interrupt::check()?;
            match choose(self, entry, looks.as_deref())? {
                Some(other) if self.taken.insert(&other.name) => found.push((entry, other)),
                _ => self.open.push((entry, looks)),
            }
        }
        Ok(found)
    }

    /// Pairs tensors that look like one other, and notes which beginnings were replaced.
    fn unique(&mut self) -> Result<Found<'c>> {
        let mut counts: HashMap<Rc<Appearance>, usize> = HashMap::new();
        for looks in self.open.iter().filter_map(|(_, looks)| looks.clone()) {
            *counts.entry(looks).or_default() += 1;
        }
        let found = self.pair(|search, entry, looks| {
            let alike =
                looks.filter(|looks| counts.get(*looks) == Some(&1)).and_then(|looks| search.by_looks.get(looks));
            match alike.map(Vec::as_slice) {
                Some(&[other]) if search.are_equal(entry, other)? => Ok(Some(other)),
                _ => Ok(None),
            }
        })?;
        for (old, new) in &found {
            let prefix = prefixes_of(&old.name, &new.name);
            if self.prefixes.len() < MOST_PREFIXES && !self.prefixes.contains(&prefix) {
                self.prefixes.push(prefix);
            }
        }
        Ok(found)
    }

    /// Pairs tensors whose names begin otherwise. Returns the equal ones, and the others.
    fn expected(&mut self) -> Result<(Found<'c>, Found<'c>)> {
        let found = self.pair(|search, entry, _| {
            let mut names = search.prefixes.iter().filter_map(|prefix| replaced(&entry.name, prefix));
            Ok(names.find_map(|name| {
                search.by_name.get(&*name).copied().filter(|other| !search.taken.contains(other.name.as_str()))
            }))
        })?;
        let (mut equal, mut changed) = (Vec::new(), Vec::new());
        for (entry, other) in found {
            if self.are_equal(entry, other)? { &mut equal } else { &mut changed }.push((entry, other));
        }
        Ok((equal, changed))
    }

    /// Pairs equal tensors. Of several, it is the one whose name ends most alike.
    fn alike(&mut self) -> Result<Found<'c>> {
        self.pair(|search, entry, looks| {
            let alike = looks.and_then(|looks| search.by_looks.get(looks)).map(Vec::as_slice).unwrap_or_default();
            let free = alike.iter().copied().filter(|other| !search.taken.contains(other.name.as_str()));
            let mut choices: Vec<&Entry> = free.take(MOST_CHOICES).collect();
            choices.sort_by_key(|other| std::cmp::Reverse(common_end(&entry.name, &other.name)));
            for other in choices {
                if search.are_equal(entry, other)? {
                    return Ok(Some(other));
                }
            }
            Ok(None)
        })
    }

    fn are_equal(&self, entry: &'c Entry, other: &'c Entry) -> Result<bool> {
        let kind = |entry: &'c Entry| (entry.elements.name(), &entry.layout.sizes, &entry.scale);
        let has_data = |entry: &Entry| entry.nbytes > 0 && entry.storage.is_some();
        let (x, y) = (Compared { contents: self.a, entry }, Compared { contents: self.b, entry: other });
        Ok(kind(entry) == kind(other) && has_data(entry) && has_data(other) && regions::are_same(x, y)?)
    }
}

/// Returns how a tensor looks. `None` without elements or data, of which nothing would be known.
fn looks(contents: &Contents, entry: &Entry) -> Result<Option<Appearance>> {
    interrupt::check()?;
    if entry.nbytes == 0 {
        return Ok(None);
    }
    let head = regions::head(Compared { contents, entry })?;
    Ok(head.map(|head| (entry.elements.name(), entry.layout.sizes.clone(), head)))
}

/// Returns the parts of a name, without the dots before them.
fn words(name: &str) -> Vec<&str> {
    parts(name).map(|part| part.strip_prefix('.').unwrap_or(part)).collect()
}

/// Returns the number of parts with which both names end.
fn common_end(a: &str, b: &str) -> usize {
    words(a).iter().rev().zip(words(b).iter().rev()).take_while(|(a, b)| a == b).count()
}

/// Returns the beginnings in which two names differ.
pub(super) fn prefixes_of(a: &str, b: &str) -> Prefixes {
    let common = common_end(a, b);
    let start = |name: &str| {
        let count = parts(name).count().saturating_sub(common);
        parts(name).take(count).collect::<String>()
    };
    (start(a), start(b))
}

/// Returns a name with its beginning replaced. `None` if it has another.
pub(super) fn replaced(name: &str, (old, new): &Prefixes) -> Option<String> {
    let rest = name.strip_prefix(old.as_str())?;
    let rest = match old.is_empty() {
        true => rest,
        false => rest.strip_prefix('.').or(rest.starts_with(['[', '(']).then_some(rest))?,
    };
    Some(match (new.is_empty(), rest.starts_with(['[', '('])) {
        (true, _) => rest.to_owned(),
        (false, true) => format!("{new}{rest}"),
        (false, false) => format!("{new}.{rest}"),
    })
}

/// Returns the beginning that all names of one side have before names of the other.
fn common_prefix(a: &[&Entry], b: &[&Entry]) -> Option<Prefixes> {
    /// Fewer pairs could be chance.
    const LEAST: usize = 2;
    let (first, ours) = (a.first()?, a.len());
    let names: HashSet<&str> = b.iter().map(|entry| entry.name.as_str()).collect();
    let candidates = b.iter().map(|other| prefixes_of(&first.name, &other.name));
    let mut plausible: Vec<Prefixes> = candidates.filter(|(old, new)| old.is_empty() != new.is_empty()).collect();
    plausible.sort_unstable();
    plausible.dedup();
    plausible.truncate(MOST_CHOICES);
    let fits = |prefix: &&Prefixes| {
        a.iter().all(|entry| replaced(&entry.name, prefix).is_some_and(|name| names.contains(&*name)))
    };
    plausible.iter().find(fits).filter(|_| ours >= LEAST).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_those_of_whole_parts() {
        let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        for (a, b, (old, new)) in [
            ("model.a.w", "module.model.a.w", ("", "module")),
            ("module.a.w", "a.w", ("module", "")),
            ("encoder.0.w", "layers[0].w", ("encoder.0", "layers[0]")),
            ("a.w", "b.w", ("a", "b")),
            ("x", "y", ("x", "y")),
            ("list[0]", "other[0]", ("list", "other")),
        ] {
            assert_eq!(prefixes_of(a, b), pair(old, new), "{a} {b}");
            let is_whole = common_end(a, b) == 0;
            assert_eq!(replaced(a, &pair(old, new)).as_deref(), (!is_whole).then_some(b), "{a} {b}");
        }
        assert_eq!(replaced("models.w", &pair("model", "x")), None);
    }
}
