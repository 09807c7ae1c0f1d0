//! Shows which variables share a storage, which parts of it they use, and what they keep alive.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::again::Redraw;
use super::cells::{Cells, Row};
use super::picture::Picture;
use super::scene::{Block, Ink, Scene, Table, byte_count, counted, list, span};
use super::shown::Shown;
use tensor::Storage;

/// The minimum size in bytes of a storage to report if variables show less than a tenth of it.
pub(super) const WORTH_A_WORD: usize = 4096;
/// The number of cells of a view to look up in another if their layouts alone do not tell what they have in common.
const COMPARED: u64 = 4096;
/// The number of variables of a storage to compare with each other.
const PAIRED: usize = 12;

/// A variable that holds memory.
#[derive(Clone, Debug)]
pub struct Holder {
    pub name: String,
    pub storage: Storage,
    /// Python's class name; empty for a tensor.
    pub class: String,
    /// The elements shown by a tensor or an array; `None` for what is bytes only.
    pub shown: Option<Shown>,
    /// For a buffer, which has memory but not a storage: the offset in the buffer at which this storage begins.
    pub within: Option<usize>,
    /// Equal for two names of the same object.
    pub identity: usize,
    /// Number of handles of the storage that only remember earlier states.
    pub remembered: usize,
}

impl Holder {
    /// Creates the holder of a tensor, an array or a storage.
    pub fn new(name: String, class: &str, storage: Storage, shown: Option<Shown>, identity: usize) -> Holder {
        let class = class.to_owned();
        Holder { name, storage, class, shown, within: None, identity, remembered: 0 }
    }

    /// Returns the byte range from the first to the last element shown, counted from the address `base`.
    fn range(&self, base: usize) -> Range<usize> {
        let start = self.storage.data_ptr().saturating_sub(base);
        let shown = match &self.shown {
            None => 0..self.storage.nbytes(),
            Some(shown) => {
                let Range { start, end } = shown.range();
                usize::try_from(start).unwrap_or_default()..usize::try_from(end).unwrap_or_default()
            }
        };
        match shown.is_empty() {
            true => 0..0,
            false => start.saturating_add(shown.start)..start.saturating_add(shown.end),
        }
    }

    /// Returns whether the holder's storage has bytes in common with another, or is the same.
    pub fn is_on(&self, storage: &Storage) -> bool {
        self.storage == *storage || matches!(numbered(&[self.storage.clone(), storage.clone()]).as_slice(), [0, 0])
    }

    fn description(&self) -> String {
        let of_view = self.shown.as_ref().map(|shown| format!("{} {}", shown.dtype, list(&shown.layout.sizes)));
        let from = self.within.filter(|from| *from > 0).map(|from| format!("from its byte {from}"));
        let class = Some(self.class.clone()).filter(|class| !class.is_empty());
        [class, of_view, from].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// Draws the variables that hold memory, grouped by storage. Redrawing shows the variables of that time.
pub fn picture(holders: &[Holder], width: usize) -> Picture {
    let again = Some(Rc::new(Redraw::of_variables(|holders| Ok(scene(holders)))));
    Picture { again, ..Picture::of(scene(holders), width) }
}

/// Storages on the same bytes: one, or a storage and slices of it, as `torch.from_numpy()` makes them.
struct Group<'h> {
    holders: Vec<&'h Holder>,
    /// The address of the first byte, and the number of bytes.
    base: usize,
    nbytes: usize,
}

/// Assigns a number to each storage, from 0 in order of appearance; storages on the same bytes get the same number.
pub fn numbered(storages: &[Storage]) -> Vec<usize> {
    let mut ranges: Vec<(Range<usize>, &Storage, usize)> = Vec::new();
    let mut numbers: Vec<usize> = Vec::new();
    for storage in storages {
        let start = storage.data_ptr();
        let range = start..start.saturating_add(if storage.device().is_meta() { 0 } else { storage.nbytes() });
        let meets = |(other, known, _): &&(Range<usize>, &Storage, usize)| {
            *known == storage || range.start.max(other.start) < range.end.min(other.end)
        };
        let met: Vec<usize> = ranges.iter().filter(meets).map(|(.., number)| *number).collect();
        let next = ranges.iter().map(|(.., number)| number + 1).max().unwrap_or_default();
        let number = met.iter().copied().min().unwrap_or(next);
        // A storage may join slices that did not meet before.
        let joined = |known: &mut usize| {
            if met.contains(known) {
                *known = number;
            }
        };
        ranges.iter_mut().for_each(|(.., known)| joined(known));
        numbers.iter_mut().for_each(joined);
        ranges.push((range, storage, number));
        numbers.push(number);
    }
    // Close the gaps that joining left.
    let kept: BTreeSet<usize> = numbers.iter().copied().collect();
    numbers.iter().map(|number| kept.range(..number).count()).collect()
}

fn groups(holders: &[Holder]) -> Vec<Group<'_>> {
    let storages: Vec<Storage> = holders.iter().map(|holder| holder.storage.clone()).collect();
    let numbers = numbered(&storages);
    drop(storages);
    let count = numbers.iter().max().map_or(0, |last| last + 1);
    let group = |number: usize| {
        let here = holders.iter().zip(&numbers).filter(|(_, own)| **own == number).map(|(holder, _)| holder);
        // A buffer beneath several storages is one holder.
        let mut buffers = HashSet::new();
        let holders: Vec<&Holder> =
            here.filter(|holder| holder.within.is_none() || buffers.insert(holder.identity)).collect();
        let base = holders.iter().map(|holder| holder.storage.data_ptr()).min().unwrap_or_default();
        let end = holders.iter().map(|holder| holder.storage.data_ptr().saturating_add(holder.storage.nbytes())).max();
        Group { holders, base, nbytes: end.unwrap_or_default().saturating_sub(base) }
    };
    (0..count).map(group).collect()
}

/// Returns the scene of the variables that hold memory, grouped by storage.
fn scene(holders: &[Holder]) -> Scene {
    let groups = groups(holders);
    let names: HashSet<&str> = holders.iter().map(|holder| holder.name.as_str()).collect();
    let what = counted(names.len() as u64, "variable");
    let mut scene = Scene::new(format!("{what} on {}", counted(groups.len() as u64, "storage")));
    let mut has_unnamed = false;
    for (i, group) in groups.iter().enumerate() {
        has_unnamed |= add(&mut scene, i + 1, group);
    }
    if has_unnamed {
        scene.note(Ink::Label, "An unnamed handle is a tensor kept alive by a view or by autograd.");
    }
    scene
}

/// Returns the scene of one storage with its variables.
pub fn of_storage(number: usize, storage: &Storage, holders: &[Holder]) -> Scene {
    let groups = groups(holders);
    let of = |group: &&Group| group.holders.iter().any(|holder| holder.storage == *storage);
    let Some(group) = groups.iter().find(of) else { return Scene::default() };
    let mut scene = Scene::new(describe(number, group).0);
    draw(&mut scene, group);
    scene
}

/// Adds one storage with its variables. Returns whether the storage has an unnamed handle.
fn add(scene: &mut Scene, number: usize, group: &Group) -> bool {
    let (heading, has_unnamed) = describe(number, group);
    scene.heading(heading);
    draw(scene, group);
    has_unnamed
}

/// Describes a storage, and returns whether it has an unnamed handle.
fn describe(number: usize, group: &Group) -> (String, bool) {
    let (all, unnamed) = handles(&group.holders);
    let nbytes = byte_count(group.nbytes as u64);
    let mut heading = format!("storage #{number}: {nbytes}, held by {}", counted(all as u64, "handle"));
    if unnamed > 0 {
        heading.push_str(&format!(", {unnamed} of them unnamed"));
    }
    (heading, unnamed > 0)
}

/// Adds the variables of one storage.
fn draw(scene: &mut Scene, group: &Group) {
    let fact = |holder: &&Holder| {
        let range = holder.range(group.base);
        let text = format!("{}  bytes {}..{}", holder.description(), range.start, range.end);
        (holder.name.clone(), span(if holder.shown.is_some() { Ink::Plain } else { Ink::Label }, text))
    };
    scene.blocks.push(Block::Facts(group.holders.iter().map(fact).collect()));
    let cells = cells(group);
    cells.draw(scene);
    if let Some(table) = overlaps(&group.holders, &cells) {
        scene.blocks.push(Block::Table(table));
    }
    if let Some(cost) = cost(group) {
        scene.note(Ink::Fault, cost);
    }
}

/// Returns the cells that the variables of a storage show.
fn cells<'h>(group: &Group<'h>) -> Cells<'h> {
    let row = |holder: &&'h Holder| {
        let start = holder.storage.data_ptr().saturating_sub(group.base);
        let [start, end] =
            [start, start.saturating_add(holder.storage.nbytes())].map(|at| i64::try_from(at).unwrap_or(i64::MAX));
        Row { name: &holder.name, shown: holder.shown.as_ref(), bytes: start..end }
    };
    Cells::new(group.holders.iter().map(row).collect(), group.nbytes)
}

/// Counts the handles of the storages, both tensors and storages, and the handles that no variable holds.
fn handles(everyone: &[&Holder]) -> (usize, usize) {
    let here: Vec<_> = everyone.iter().filter(|holder| holder.within.is_none()).collect();
    let mut counted = HashSet::new();
    let mut all = 0usize;
    for holder in everyone.iter().filter(|holder| counted.insert(holder.storage.identity())) {
        // Leave out the references in the holders themselves, and those of the undo history.
        let ours = everyone.iter().filter(|other| other.storage == holder.storage).count();
        all = all.saturating_add(holder.storage.holders().saturating_sub(ours + holder.remembered));
    }
    let named = here.iter().map(|holder| holder.identity).collect::<HashSet<_>>().len();
    (all.max(named), all.saturating_sub(named))
}

/// Describes the overlap of each pair of variables.
fn overlaps(here: &[&Holder], cells: &Cells) -> Option<Table> {
    let tensors: Vec<_> = here.iter().enumerate().filter(|(_, holder)| holder.shown.is_some()).take(PAIRED).collect();
    let mut table = Table { head: vec!["pair", "in common"], rows: Vec::new() };
    for (i, (one, a)) in tensors.iter().enumerate() {
        for (other, b) in tensors.iter().skip(i + 1) {
            let (left, right) = (a.range(0), b.range(0));
            let crossing = left.start.max(right.start)..left.end.min(right.end);
            let (ink, text) = if a.identity == b.identity {
                (Ink::Shared, format!("two names of one {}", if a.class.is_empty() { "tensor" } else { "array" }))
            } else if crossing.is_empty() {
                (Ink::Unused, "nothing".to_owned())
            } else {
                match cells.common(*one, *other, COMPARED) {
                    Some(0) => (Ink::Unused, "nothing: their elements interleave".to_owned()),
                    Some(common) => (Ink::Shared, byte_count(common)),
                    None => {
                        let most = cells.at_most(*one, *other).unwrap_or(u64::MAX).min(crossing.len() as u64);
                        (Ink::Shared, format!("up to {}", byte_count(most)))
                    }
                }
            };
            table.rows.push(vec![span(Ink::Label, format!("{}, {}", a.name, b.name)), span(ink, text)]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Describes the cost of a small view of a large storage.
fn cost(group: &Group) -> Option<String> {
    let (here, nbytes) = (&group.holders, group.nbytes);
    if nbytes < WORTH_A_WORD || here.iter().any(|holder| holder.storage.device().is_meta()) {
        return None;
    }
    let mut ranges: Vec<Range<usize>> = here.iter().map(|holder| holder.range(group.base)).collect();
    ranges.sort_by_key(|range| range.start);
    let (mut shown, mut end) = (0usize, 0usize);
    for range in ranges {
        let start = range.start.max(end);
        shown += range.end.saturating_sub(start);
        end = end.max(range.end);
    }
    if shown.saturating_mul(10) > nbytes {
        return None;
    }
    let names: Vec<_> = here.iter().map(|holder| holder.name.as_str()).collect();
    let (verb, names) = (if names.len() == 1 { "keeps" } else { "keep" }, names.join(", "));
    let copy = if here.iter().all(|holder| holder.class == "ndarray") { "copy()" } else { "clone()" };
    let (shown, rest) = (byte_count(shown as u64), byte_count((nbytes - shown) as u64));
    Some(format!("{names} {verb} {rest} alive to show {shown}; {copy} would release them"))
}

/// Returns only the warnings, for a table of variables that has no room for more.
pub fn warnings(holders: &[Holder]) -> Vec<String> {
    groups(holders).iter().filter_map(cost).collect()
}
