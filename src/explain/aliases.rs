//! Shows which variables share a storage, which parts of it they use, and what they keep alive.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::again::Redraw;
use super::picture::Picture;
use super::residents::residents;
use super::scene::{Bar, Bars, Block, Ink, Scene, Table, byte_count, counted, list, span};
use super::tensors::extent;
use tensor::{Storage, View};

/// The minimum size in bytes of a storage to report if variables show less than a tenth of it.
pub(super) const WORTH_A_WORD: usize = 4096;
/// Views with more elements than this are compared by their ranges, not byte by byte.
const COMPARED: i64 = 4096;
/// The number of variables of a storage to compare with each other.
const PAIRED: usize = 12;

/// A variable that holds memory.
#[derive(Clone, Debug)]
pub struct Holder {
    pub name: String,
    pub storage: Storage,
    /// Python's class name; empty for a tensor.
    pub class: String,
    /// The elements shown by a tensor or an array.
    pub view: Option<View>,
    /// For a buffer, which has memory but not a storage: the offset in the buffer at which this storage begins.
    pub within: Option<usize>,
    /// Equal for two names of the same object.
    pub identity: usize,
    /// Number of handles of the storage that only remember earlier states.
    pub remembered: usize,
}

impl Holder {
    /// Creates the holder of a tensor, an array or a storage.
    pub fn new(name: String, class: &str, storage: Storage, view: Option<&View>, identity: usize) -> Holder {
        let class = class.to_owned();
        Holder { name, storage, class, view: view.cloned(), within: None, identity, remembered: 0 }
    }

    /// Returns the byte range of the storage from the first to the last element shown.
    fn range(&self) -> Range<usize> {
        let Some(view) = &self.view else { return 0..self.storage.nbytes() };
        if view.numel() == 0 {
            return 0..0;
        }
        let range = extent(&view.layout);
        let scale = |at: i64| usize::try_from(at).unwrap_or_default().saturating_mul(view.dtype.itemsize());
        scale(range.start)..scale(range.end)
    }

    /// Returns the set of bytes shown. `None` if there are too many.
    fn bytes(&self) -> Option<BTreeSet<usize>> {
        let view = self.view.as_ref().filter(|view| view.numel() <= COMPARED)?;
        let size = view.dtype.itemsize();
        let starts = view.layout.offsets().filter_map(|at| usize::try_from(at).ok()?.checked_mul(size));
        Some(starts.flat_map(|start| start..start.saturating_add(size)).collect())
    }

    /// Counts the bytes that both holders show. `None` if this one has too many.
    fn common(&self, other: &Holder) -> Option<usize> {
        let view = other.view.as_ref()?;
        let is_shown = |byte: usize| {
            let place = i64::try_from(byte / view.dtype.itemsize().max(1)).unwrap_or(i64::MAX);
            residents(&view.layout, place).is_some()
        };
        Some(self.bytes()?.into_iter().filter(|byte| is_shown(*byte)).count())
    }

    fn description(&self) -> String {
        let of_view = self.view.as_ref().map(|view| format!("{} {}", view.dtype.name(), list(view.sizes())));
        let from = self.within.filter(|from| *from > 0).map(|from| format!("from its byte {from} on"));
        let class = Some(self.class.clone()).filter(|class| !class.is_empty());
        [class, of_view, from].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// Draws the variables that hold memory, grouped by storage. Redrawing shows the variables of that time.
pub fn picture(holders: &[Holder], width: usize) -> Picture {
    Picture { scene: scene(holders), width, again: Some(Rc::new(Redraw::of_variables(|holders| Ok(scene(holders))))) }
}

/// Returns the scene of the variables that hold memory, grouped by storage.
fn scene(holders: &[Holder]) -> Scene {
    let mut storages: Vec<&Storage> = Vec::new();
    for holder in holders {
        if !storages.contains(&&holder.storage) {
            storages.push(&holder.storage);
        }
    }
    let names: HashSet<&str> = holders.iter().map(|holder| holder.name.as_str()).collect();
    let what = counted(names.len() as u64, "variable");
    let mut scene = Scene::new(format!("{what} on {}", counted(storages.len() as u64, "storage")));
    let mut has_unnamed = false;
    for (i, storage) in storages.into_iter().enumerate() {
        let here: Vec<&Holder> = holders.iter().filter(|holder| holder.storage == *storage).collect();
        has_unnamed |= group(&mut scene, i + 1, storage, &here);
    }
    if has_unnamed {
        scene.note(Ink::Label, "A handle without a name is the base of a view, or is saved in a graph.");
    }
    scene
}

/// Returns the scene of one storage with its variables.
pub fn of_storage(number: usize, storage: &Storage, holders: &[Holder]) -> Scene {
    let here: Vec<&Holder> = holders.iter().filter(|holder| holder.storage == *storage).collect();
    let mut scene = Scene::new(describe(number, storage, &here).0);
    draw(&mut scene, storage, &here);
    scene
}

/// Adds one storage with its variables. Returns whether the storage has a handle without a name.
fn group(scene: &mut Scene, number: usize, storage: &Storage, here: &[&Holder]) -> bool {
    let (heading, has_unnamed) = describe(number, storage, here);
    scene.heading(heading);
    draw(scene, storage, here);
    has_unnamed
}

/// Describes a storage, and returns whether it has a handle without a name.
fn describe(number: usize, storage: &Storage, here: &[&Holder]) -> (String, bool) {
    let nbytes = storage.nbytes();
    let (all, unnamed) = handles(storage, here);
    let mut heading =
        format!("storage #{number}: {}, held by {}", byte_count(nbytes as u64), counted(all as u64, "handle"));
    if unnamed > 0 {
        heading.push_str(&format!(", {unnamed} of them without a name"));
    }
    (heading, unnamed > 0)
}

/// Adds the variables of one storage.
fn draw(scene: &mut Scene, storage: &Storage, here: &[&Holder]) {
    let nbytes = storage.nbytes();
    let bar = |holder: &&Holder| {
        let range = holder.range();
        Bar {
            name: holder.name.clone(),
            text: format!("{}  bytes {}..{}", holder.description(), range.start, range.end),
            start: range.start as u64,
            end: range.end as u64,
            ink: if holder.view.is_some() { Ink::Shown } else { Ink::Label },
        }
    };
    scene.blocks.push(Block::Bars(Bars { total: nbytes as u64, rows: here.iter().map(bar).collect() }));
    if let Some(table) = overlaps(here) {
        scene.blocks.push(Block::Table(table));
    }
    if let Some(cost) = cost(storage, here) {
        scene.note(Ink::Fault, cost);
    }
}

/// Counts the handles of a storage, both tensors and storages, and the handles that no variable holds.
fn handles(storage: &Storage, everyone: &[&Holder]) -> (usize, usize) {
    let here: Vec<_> = everyone.iter().filter(|holder| holder.within.is_none()).collect();
    // Leave out the references in the holders themselves, and those of the undo history.
    let buffers = everyone.len() - here.len();
    let ours = here.iter().map(|holder| 1 + usize::from(holder.view.is_some())).sum::<usize>() + buffers;
    let remembered = here.first().map_or(0, |holder| holder.remembered);
    let all = storage.holders().saturating_sub(ours + remembered);
    let named = here.iter().map(|holder| holder.identity).collect::<HashSet<_>>().len();
    (all.max(named), all.saturating_sub(named))
}

/// Describes the overlap of each pair of variables.
fn overlaps(here: &[&Holder]) -> Option<Table> {
    let tensors: Vec<_> = here.iter().filter(|holder| holder.view.is_some()).take(PAIRED).collect();
    let mut table = Table { head: vec!["pair", "in common"], rows: Vec::new() };
    for (i, a) in tensors.iter().enumerate() {
        for b in tensors.iter().skip(i + 1) {
            let (left, right) = (a.range(), b.range());
            let crossing = left.start.max(right.start)..left.end.min(right.end);
            let (ink, text) = if a.identity == b.identity {
                (Ink::Shared, "two names of one tensor".to_owned())
            } else if crossing.is_empty() {
                (Ink::Unused, "nothing".to_owned())
            } else {
                match a.common(b).or_else(|| b.common(a)) {
                    Some(0) => (Ink::Unused, "nothing: each lies in the other's gaps".to_owned()),
                    Some(common) => (Ink::Shared, byte_count(common as u64)),
                    None => (Ink::Shared, format!("up to {}", byte_count(crossing.len() as u64))),
                }
            };
            table.rows.push(vec![span(Ink::Label, format!("{}, {}", a.name, b.name)), span(ink, text)]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Describes the cost of a small view of a large storage.
fn cost(storage: &Storage, here: &[&Holder]) -> Option<String> {
    let nbytes = storage.nbytes();
    if nbytes < WORTH_A_WORD || storage.device().is_meta() {
        return None;
    }
    let mut ranges: Vec<Range<usize>> = here.iter().map(|holder| holder.range()).collect();
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
    let (shown, rest) = (byte_count(shown as u64), byte_count((nbytes - shown) as u64));
    Some(format!("{names} {verb} {rest} alive to show {shown}; clone() would release them"))
}

/// Returns only the warnings, for a table of variables that has no room for more.
pub fn warnings(holders: &[Holder]) -> Vec<String> {
    let mut seen: Vec<&Storage> = Vec::new();
    let mut costs = Vec::new();
    for holder in holders {
        if !seen.contains(&&holder.storage) {
            seen.push(&holder.storage);
            let here: Vec<&Holder> = holders.iter().filter(|other| other.storage == holder.storage).collect();
            costs.extend(cost(&holder.storage, &here));
        }
    }
    costs
}
