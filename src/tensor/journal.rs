//! Records the previous contents of memory before writes. Used for memories that are too large to be copied before
//! every input, so that an input that changes one element of them can be undone. Independent of the writer and of the
//! use of the records.
//!
//! The same calls tell a watcher which memory was written, through what, and how much at once.

use super::memory::{Memory, get, set};
use super::view::View;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// Memories of more bytes are recorded, not copied.
pub const LARGE: usize = 32 << 20;
/// The maximum number of bytes in one journal. Writes beyond it cannot be undone.
const MOST_BYTES: usize = 32 << 20;
/// The maximum number of byte runs recorded for one write.
const MOST_RUNS: i64 = 4096;

/// Bytes before a write.
pub struct Entry {
    pub memory: Rc<Memory>,
    pub start: usize,
    pub bytes: Box<[u8]>,
}

impl Entry {
    fn new(memory: &Rc<Memory>, range: Range<usize>) -> Option<Entry> {
        let bytes = memory.bytes().get(range.clone())?.iter().map(get).collect();
        Some(Entry { memory: memory.clone(), start: range.start, bytes })
    }

    /// Restores the bytes, and returns those that they replace.
    pub fn swap(&self) -> Option<Entry> {
        let replaced = Entry::new(&self.memory, self.start..self.start + self.bytes.len())?;
        for (cell, byte) in self.memory.bytes().get(self.start..)?.iter().zip(&self.bytes) {
            set(cell, *byte);
        }
        Some(replaced)
    }
}

/// The writes to large memories since [`begin`].
#[derive(Default)]
pub struct Journal {
    /// The records, in the order of the writes.
    pub entries: Vec<Entry>,
    /// The addresses of memories with changes that were too large to record.
    pub lost: HashSet<usize>,
    nbytes: usize,
}

/// What a write goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writer {
    Tensor,
    Array,
    Storage,
}

/// All writes to one memory through one kind of writer, while they are watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// The largest number of bytes written by one write. If indices or a mask choose the elements, one element counts.
    pub largest: usize,
    pub count: usize,
}

/// The writes by memory, see [`identity`].
pub type WritesSeen = BTreeMap<(usize, Writer), Writes>;

/// The number of memories and writers to remember. A loop may write to new memory forever.
const MOST_SEEN: usize = 1 << 12;

thread_local! {
    static IS_OPEN: Cell<bool> = const { Cell::new(false) };
    static JOURNAL: RefCell<Journal> = RefCell::default();
    static IS_WATCHED: Cell<bool> = const { Cell::new(false) };
    static SEEN: RefCell<WritesSeen> = RefCell::default();
}

/// Starts to watch the writes of this thread.
pub fn watch() {
    SEEN.take();
    IS_WATCHED.set(true);
}

/// Stops watching, and returns the writes since [`watch`].
pub fn unwatch() -> WritesSeen {
    IS_WATCHED.set(false);
    SEEN.take()
}

#[cold]
fn see(memory: &Rc<Memory>, writer: Writer, nbytes: usize) {
    SEEN.with_borrow_mut(|seen| {
        let place = (identity(&root(memory).0), writer);
        if seen.len() < MOST_SEEN || seen.contains_key(&place) {
            let writes = seen.entry(place).or_default();
            writes.largest = writes.largest.max(nbytes);
            writes.count += 1;
        }
    });
}

/// Starts a new journal on this thread.
pub fn begin() {
    JOURNAL.take();
    IS_OPEN.set(true);
}

/// Closes the journal and returns it, if one is open.
pub fn end() -> Option<Journal> {
    IS_OPEN.replace(false).then(|| JOURNAL.take())
}

/// Returns the memory that a slice of memory belongs to, and the slice's offset in it.
pub fn root(memory: &Rc<Memory>) -> (Rc<Memory>, usize) {
    let (mut memory, mut start) = (memory.clone(), 0);
    while let Memory::Borrowed { owner, offset, .. } = &*memory {
        start += offset;
        memory = owner.clone();
    }
    (memory, start)
}

/// Returns a number that identifies a memory.
pub fn identity(memory: &Rc<Memory>) -> usize {
    Rc::as_ptr(memory) as usize
}

/// Records a view's elements; must be called before they are written to.
#[inline]
pub fn note(view: &View) {
    note_by(Writer::Tensor, view);
}

/// Like [`note`], for a write through something else than a tensor.
#[inline]
pub fn note_by(writer: Writer, view: &View) {
    if IS_WATCHED.get() {
        let count = usize::try_from(view.numel()).unwrap_or_default();
        see(&view.storage.memory(), writer, count.saturating_mul(view.dtype.itemsize()));
    }
    if IS_OPEN.get() {
        note_view(view);
    }
}

/// Like [`note`], if indices or a mask choose some of the elements.
#[inline]
pub fn note_some(view: &View) {
    if IS_WATCHED.get() {
        see(&view.storage.memory(), Writer::Tensor, view.dtype.itemsize());
    }
    if IS_OPEN.get() {
        note_view(view);
    }
}

/// Records a range of bytes; must be called before they are written to.
#[inline]
pub(crate) fn note_bytes(memory: &Rc<Memory>, range: Range<usize>) {
    if IS_WATCHED.get() {
        see(memory, Writer::Storage, range.len());
    }
    if IS_OPEN.get() {
        let (root, start) = root(memory);
        if root.nbytes() > LARGE && !root.is_meta() {
            JOURNAL.with_borrow_mut(|journal| journal.add(&root, start + range.start..start + range.end));
        }
    }
}

#[cold]
fn note_view(view: &View) {
    let (root, start) = root(&view.storage.memory());
    if root.nbytes() <= LARGE || root.is_meta() {
        return;
    }
    let layout = &view.layout;
    let itemsize = view.dtype.itemsize();
    // Contiguous elements of the last dimension are one run; otherwise each element is one.
    let (run, runs) = match (layout.strides.last(), layout.sizes.last()) {
        (Some(1), Some(&size)) if size > 0 => (size, layout.numel() / size),
        _ => (1, layout.numel()),
    };
    JOURNAL.with_borrow_mut(|journal| {
        if runs > MOST_RUNS {
            journal.lost.insert(identity(&root));
            return;
        }
        for index in 0..runs {
            let first = usize::try_from(layout.offset_of(index * run)).ok().and_then(|at| at.checked_mul(itemsize));
            match first.and_then(|first| Some(start + first..start + first + usize::try_from(run).ok()? * itemsize)) {
                Some(range) => journal.add(&root, range),
                None => drop(journal.lost.insert(identity(&root))),
            }
        }
    });
}

impl Journal {
    fn add(&mut self, root: &Rc<Memory>, range: Range<usize>) {
        let identity = identity(root);
        if self.lost.contains(&identity) {
            return;
        }
        let entry = if self.nbytes + range.len() <= MOST_BYTES { Entry::new(root, range) } else { None };
        match entry {
            Some(entry) => {
                self.nbytes += entry.bytes.len();
                self.entries.push(entry);
            }
            None => drop(self.lost.insert(identity)),
        }
    }

    /// Undoes the writes, the latest first, and returns the journal that redoes them.
    pub fn swap(self) -> Journal {
        let entries: Vec<Entry> = self.entries.iter().rev().filter_map(Entry::swap).collect();
        Journal { entries, lost: self.lost, nbytes: self.nbytes }
    }
}
