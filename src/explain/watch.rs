//! Shows which bytes of a storage an input changed, and through which names the change is visible.

use super::aliases::Holder;
use super::bytes::{Reading, decode_bytes};
use super::scene::{Block, Ink, Lane, Scene, Strip, Table, byte_count, counted, span};
use std::collections::BTreeSet;
use std::ops::Range;
use tensor::memory::get;
use tensor::{Error, Result, Storage, WeakStorage};

/// The maximum size of a storage to watch. Its bytes are copied, and compared after every input.
const LARGEST: usize = 32 << 20;
/// The number of changed elements to draw.
const DRAWN: usize = 16;
/// The number of changed elements to look up in every variable.
const LOOKED_UP: usize = 1000;

/// A watched storage.
#[derive(Debug)]
pub struct Watched {
    storage: WeakStorage,
    reading: Reading,
    /// The number of bytes before the first element.
    lead: usize,
    /// The bytes at the last look.
    bytes: Vec<u8>,
}

/// The state of a watched storage.
pub enum Change {
    None,
    /// The last owner of the storage is gone.
    Gone,
    RedrawContext(Scene),
}

impl Watched {
    /// Starts watching. Elements are read as `reading` says, one of them from the byte `offset`.
    ///
    /// # Errors
    /// Fails with NotImplementedError for a storage without data, and with ValueError for one that is too large.
    pub fn new(storage: &Storage, reading: Reading, offset: usize) -> Result<Watched> {
        let nbytes = storage.data()?.nbytes();
        if nbytes > LARGEST {
            let (nbytes, largest) = (byte_count(nbytes as u64), byte_count(LARGEST as u64));
            return Err(Error::value(format!("watch() copies the bytes: {nbytes} are more than {largest}")));
        }
        let lead = offset % reading.dtype.itemsize().max(1);
        Ok(Watched { storage: storage.downgrade(), reading, lead, bytes: storage.to_vec()? })
    }

    pub fn is_of(&self, storage: &Storage) -> bool {
        self.storage.upgrade().as_ref() == Some(storage)
    }

    /// Compares the bytes with the last ones, describes the change, and remembers the new bytes. Calls `holders` only
    /// after a change.
    pub fn look(&mut self, holders: impl FnOnce() -> Vec<Holder>) -> Change {
        let Some(storage) = self.storage.upgrade() else { return Change::Gone };
        // A truncated file cannot be read; its next use reports the error.
        let Ok(memory) = storage.data() else { return Change::None };
        let cells = memory.bytes();
        let is_same = cells.len() == self.bytes.len() && cells.iter().zip(&self.bytes).all(|(cell, b)| get(cell) == *b);
        if is_same || cells.len() > LARGEST {
            return Change::None;
        }
        let Ok(now) = memory.to_vec() else { return Change::None };
        let before = std::mem::replace(&mut self.bytes, now);
        let here: Vec<Holder> = holders().into_iter().filter(|holder| holder.is_on(&storage)).collect();
        Change::RedrawContext(self.scene(&before, &here, storage.data_ptr()))
    }

    /// Divides bytes into elements, each with its first byte.
    fn elements<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = (usize, &'b [u8])> {
        let size = self.reading.dtype.itemsize().max(1);
        let (lead, rest) = bytes.split_at(self.lead.min(bytes.len()));
        let first = Some((0, lead)).filter(|(_, lead)| !lead.is_empty());
        let start = lead.len();
        first.into_iter().chain(rest.chunks(size).enumerate().map(move |(i, chunk)| (start + i * size, chunk)))
    }

    fn scene(&self, before: &[u8], holders: &[Holder], address: usize) -> Scene {
        let pairs = || {
            let both = self.elements(before).zip(self.elements(&self.bytes));
            both.map(|((at, old), (_, new))| (at, (old, new))).filter(|(_, (old, new))| old != new)
        };
        let changed: Vec<Range<usize>> = pairs().map(|(at, (old, _))| at..at + old.len()).collect();
        let count = changed.len() as u64;
        let mut scene = Scene::new(format!(
            "watch: {} changed in a storage of {}",
            counted(count, &format!("{} element", self.reading.name())),
            byte_count(self.bytes.len() as u64)
        ));
        if before.len() != self.bytes.len() {
            let (old, new) = (byte_count(before.len() as u64), byte_count(self.bytes.len() as u64));
            scene.note(Ink::Fault, format!("The storage had {old} and has {new}."));
        }
        let mut ruler = Lane::ruler("byte");
        let mut old_values = Lane::framed("before");
        let mut new_values = Lane::framed("after");
        for (at, (old, new)) in pairs().take(DRAWN) {
            ruler.push(1, Ink::Label, at.to_string());
            old_values.push(1, Ink::Unused, decode_bytes(old, self.reading).unwrap_or_default());
            new_values.push(1, Ink::Fault, decode_bytes(new, self.reading).unwrap_or_default());
        }
        if !ruler.items.is_empty() {
            scene.blocks.push(Block::Strip(Strip { lanes: vec![ruler, old_values, new_values] }));
        }
        if changed.len() > DRAWN {
            scene.note(Ink::Unused, format!("… and {} more", changed.len() - DRAWN));
        }
        let mut table = Table { head: vec!["seen through", "at"], rows: Vec::new() };
        for holder in holders {
            let seen = seen_through(holder, &changed, address);
            if !seen.is_empty() {
                table.rows.push(vec![span(Ink::Label, &holder.name), span(Ink::Plain, seen)]);
            }
        }
        if !table.rows.is_empty() {
            scene.blocks.push(Block::Table(table));
        } else if !changed.is_empty() {
            scene.note(Ink::Plain, "No variable shows these bytes.");
        }
        scene
    }
}

/// Describes the indices at which a variable shows the changed bytes of the storage at `address`.
fn seen_through(holder: &Holder, changed: &[Range<usize>], address: usize) -> String {
    // The holder may be on a slice of the storage, or on the storage of which this is a slice.
    let own = |byte: usize| {
        let byte = i64::try_from(byte).unwrap_or(i64::MAX);
        byte.saturating_add_unsigned(address as u64).saturating_sub_unsigned(holder.storage.data_ptr() as u64)
    };
    let Some(shown) = &holder.shown else {
        let first = own(changed.first().map(|range| range.start).unwrap_or_default());
        return format!("its bytes from {} on", first.max(0));
    };
    let first_inside = 1 - shown.itemsize as i64;
    let mut seen = BTreeSet::new();
    let found: Vec<String> = changed
        .iter()
        .take(LOOKED_UP)
        .flat_map(|range| shown.starting_in(own(range.start).saturating_add(first_inside)..own(range.end)))
        .filter(|(start, _)| seen.insert(*start))
        .map(|(_, found)| match found.count {
            1 => format!("{:?}", found.first.as_slice()),
            more => format!("{:?} and {} more", found.first.as_slice(), more - 1),
        })
        .collect();
    let shown: Vec<_> = found.iter().take(4).cloned().collect();
    match found.len() {
        0 => String::new(),
        n if n > shown.len() => format!("{}, … ({} indices)", shown.join(", "), n),
        _ => shown.join(", "),
    }
}
