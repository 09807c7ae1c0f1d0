//! Shows which bytes of a storage an input changed, and through which names the change is visible.

use super::aliases::Holder;
use super::bytes::decode_bytes;
use super::residents::residents;
use super::scene::{Block, Ink, Lane, Scene, Strip, Table, byte_count, counted, span};
use tensor::memory::get;
use tensor::{DType, Error, Result, Storage, WeakStorage};

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
    /// The dtype in which to read the elements.
    dtype: DType,
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
    /// Starts watching.
    ///
    /// # Errors
    /// Fails with NotImplementedError for a storage without data, and with ValueError for one that is too large.
    pub fn new(storage: &Storage, dtype: DType) -> Result<Watched> {
        let nbytes = storage.data()?.nbytes();
        if nbytes > LARGEST {
            let (nbytes, largest) = (byte_count(nbytes as u64), byte_count(LARGEST as u64));
            return Err(Error::value(format!("watch() copies the bytes: {nbytes} are more than {largest}")));
        }
        Ok(Watched { storage: storage.downgrade(), dtype, bytes: storage.to_vec()? })
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
        let here: Vec<Holder> = holders().into_iter().filter(|holder| holder.storage == storage).collect();
        Change::RedrawContext(self.scene(&before, &here))
    }

    fn scene(&self, before: &[u8], holders: &[Holder]) -> Scene {
        let size = self.dtype.itemsize().max(1);
        let pairs = || before.chunks(size).zip(self.bytes.chunks(size)).enumerate();
        let changed: Vec<usize> = pairs().filter(|(_, (old, new))| old != new).map(|(at, _)| at).collect();
        let count = changed.len() as u64;
        let mut scene = Scene::new(format!(
            "watch: {} changed in a storage of {}",
            counted(count, &format!("{} element", self.dtype.name())),
            byte_count(self.bytes.len() as u64)
        ));
        if before.len() != self.bytes.len() {
            let (old, new) = (byte_count(before.len() as u64), byte_count(self.bytes.len() as u64));
            scene.note(Ink::Fault, format!("The storage had {old} and has {new}."));
        }
        let mut ruler = Lane::ruler("byte");
        let mut old_values = Lane::framed("before");
        let mut new_values = Lane::framed("after");
        for (at, (old, new)) in pairs().filter(|(_, (old, new))| old != new).take(DRAWN) {
            ruler.push(1, Ink::Label, (at * size).to_string());
            old_values.push(1, Ink::Unused, decode_bytes(old, self.dtype).unwrap_or_default());
            new_values.push(1, Ink::Fault, decode_bytes(new, self.dtype).unwrap_or_default());
        }
        if !ruler.items.is_empty() {
            scene.blocks.push(Block::Strip(Strip { lanes: vec![ruler, old_values, new_values] }));
        }
        if changed.len() > DRAWN {
            scene.note(Ink::Unused, format!("… and {} more", changed.len() - DRAWN));
        }
        let mut table = Table { head: vec!["seen through", "at"], rows: Vec::new() };
        for holder in holders {
            let seen = seen_through(holder, &changed, size);
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

/// Describes the indices at which a variable shows the changed elements, each `size` bytes long.
fn seen_through(holder: &Holder, changed: &[usize], size: usize) -> String {
    let Some(view) = &holder.view else {
        let first = changed.first().map(|at| at * size).unwrap_or_default();
        return format!("its bytes from {first} on");
    };
    let own = view.dtype.itemsize().max(1);
    let mut places: Vec<usize> =
        changed.iter().take(LOOKED_UP).flat_map(|at| (at * size / own)..=((at * size + size - 1) / own)).collect();
    places.dedup();
    let found: Vec<String> = places
        .into_iter()
        .filter_map(|place| residents(&view.layout, i64::try_from(place).ok()?))
        .map(|found| match found.count {
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
