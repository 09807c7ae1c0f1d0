//! Bytes and their owners. One of the few files that may contain `unsafe`. Other code accesses [`Memory`] through
//! [`Memory::typed`], a slice of cells, so that overlapping views are safe Rust. `limits.rs` decides how much memory
//! the machine can give, `files.rs` which file is mapped and how.

use super::device::Device;
use super::error::{Error, Result};
use super::float8::Float8;
use super::interrupt;
use super::limits;
use super::thresholds::{COPIED, LARGE_PAGE};
use crate::system::{self, File, Files, Machine, Mapping, OpenFile, PathKind, System, SystemFailure};
use half::{bf16, f16};
use num_complex::Complex;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::io;
use std::ops::{BitAnd, BitOr, BitXor, Not, Range};
use std::ptr::{self, NonNull};
use std::rc::Rc;

/// A `bool` element: any byte is valid, nonzero is true, and the byte survives a round trip through `view(dtype)`.
/// Results computed from such elements are 0 or 1.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct BoolByte(u8);

impl BoolByte {
    #[inline(always)]
    pub fn new(value: bool) -> BoolByte {
        BoolByte(u8::from(value))
    }

    #[inline(always)]
    pub fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for BoolByte {
    #[inline(always)]
    fn from(value: bool) -> BoolByte {
        BoolByte::new(value)
    }
}

impl PartialEq for BoolByte {
    #[inline(always)]
    fn eq(&self, other: &BoolByte) -> bool {
        self.get() == other.get()
    }
}

impl PartialOrd for BoolByte {
    #[inline(always)]
    fn partial_cmp(&self, other: &BoolByte) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
    #[inline(always)]
    fn lt(&self, other: &BoolByte) -> bool {
        !self.get() & other.get()
    }
    #[inline(always)]
    fn le(&self, other: &BoolByte) -> bool {
        !self.get() | other.get()
    }
    #[inline(always)]
    fn gt(&self, other: &BoolByte) -> bool {
        self.get() & !other.get()
    }
    #[inline(always)]
    fn ge(&self, other: &BoolByte) -> bool {
        self.get() | !other.get()
    }
}

impl BitAnd for BoolByte {
    type Output = BoolByte;
    #[inline(always)]
    fn bitand(self, other: BoolByte) -> BoolByte {
        BoolByte::new(self.get() & other.get())
    }
}

impl BitOr for BoolByte {
    type Output = BoolByte;
    #[inline(always)]
    fn bitor(self, other: BoolByte) -> BoolByte {
        BoolByte::new(self.0 | other.0 != 0)
    }
}

impl BitXor for BoolByte {
    type Output = BoolByte;
    #[inline(always)]
    fn bitxor(self, other: BoolByte) -> BoolByte {
        BoolByte::new(self.get() ^ other.get())
    }
}

impl Not for BoolByte {
    type Output = BoolByte;
    #[inline(always)]
    fn not(self) -> BoolByte {
        BoolByte::new(!self.get())
    }
}

/// Types whose values are plain bytes.
///
/// # Safety
/// Every bit pattern of the type's size must be a valid value, and the type must have no padding and no destructor.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($t:ty),*) => {$(
        // SAFETY: integers, IEEE floats and one-byte wrappers accept every bit pattern and have no padding.
        unsafe impl Plain for $t {}
    )*};
}
plain!(BoolByte, u8, i8, i16, i32, i64, u16, u32, u64, f16, bf16, f32, f64);

// SAFETY: a transparent wrapper around one byte (the format marker is zero-sized).
unsafe impl<F: Send + Sync + 'static> Plain for Float8<F> {}
// SAFETY: two plain values of one type side by side, `repr(C)`.
unsafe impl<P: Plain> Plain for Complex<P> {}

/// A value at any address: storages may begin at odd bytes (`frombuffer(…, offset=1)`), so elements need not be
/// aligned. This costs nothing on the supported machines.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed)]
pub struct Unaligned<T>(T);

/// One element of a storage, shared by all views of it.
pub type ElementCell<T> = Cell<Unaligned<T>>;

/// Reads the element in `cell`.
#[inline(always)]
pub fn get<T: Plain>(cell: &ElementCell<T>) -> T {
    cell.get().0
}

/// Writes the element in `cell`.
#[inline(always)]
pub fn set<T: Plain>(cell: &ElementCell<T>, value: T) {
    cell.set(Unaligned(value));
}

/// A run of bytes with fixed length and address.
#[derive(Debug)]
pub enum Memory {
    /// Zero-initialised memory of our own.
    Heap(Heap),
    /// The bytes of a file, or memory that other processes can share.
    Mapped(Mapped),
    /// Part of another memory: a buffer object, or the storage that a slice was taken from. Keeps the owner alive.
    Borrowed { owner: Rc<Memory>, offset: usize, nbytes: usize },
    /// Only a number of bytes, without memory: the `meta` device or a fake device.
    Meta { nbytes: usize, device: Device },
}

/// An owned, zeroed allocation.
#[derive(Debug)]
pub struct Heap {
    /// The aligned start of the bytes, and the start of the allocation.
    start: NonNull<u8>,
    given: NonNull<u8>,
    nbytes: usize,
}

impl Heap {
    /// The alignment of PyTorch: a vector never crosses two cache lines.
    const ALIGN: usize = 64;

    /// The largest alignment for which the allocator returns zeroed pages without touching them. The difference to
    /// [`Heap::ALIGN`] is allocated in addition and skipped at the front.
    const GIVEN: usize = 16;

    fn layout(nbytes: usize) -> Option<Layout> {
        Layout::from_size_align(nbytes.checked_add(Self::ALIGN - Self::GIVEN)?, Self::GIVEN).ok()
    }

    fn new(nbytes: usize) -> Result<Heap> {
        if nbytes == 0 {
            return Ok(Heap { start: NonNull::dangling(), given: NonNull::dangling(), nbytes });
        }
        let failed = || limits::refusal(nbytes);
        let layout = Self::layout(nbytes).ok_or_else(failed)?;
        if !limits::take(nbytes) {
            return Err(failed());
        }
        // SAFETY: `layout` has a nonzero size.
        let given = unsafe { alloc_zeroed(layout) };
        match NonNull::new(given) {
            Some(given) => {
                let gap = given.addr().get().wrapping_neg() % Self::ALIGN;
                // SAFETY: `given` is aligned to `GIVEN`, so the gap is at most the extra bytes that were allocated.
                let start = unsafe { given.add(gap) };
                advise_large_pages(start, nbytes);
                Ok(Heap { start, given, nbytes })
            }
            None => {
                limits::give_back(nbytes);
                Err(failed())
            }
        }
    }
}

/// Requests large pages for a large allocation.
fn advise_large_pages(start: NonNull<u8>, nbytes: usize) {
    if nbytes >= 2 * LARGE_PAGE {
        let start = start.as_ptr() as usize;
        // Only pages that lie completely within it.
        System::advise_large_pages(start.next_multiple_of(LARGE_PAGE), (start + nbytes) / LARGE_PAGE * LARGE_PAGE);
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        if self.nbytes > 0
            && let Some(layout) = Self::layout(self.nbytes)
        {
            // SAFETY: `given` came from `alloc_zeroed` with this very layout and is freed once, here.
            unsafe { dealloc(self.given.as_ptr(), layout) }
            limits::give_back(self.nbytes);
        }
    }
}

thread_local! {
    /// The addresses that are lent as slices on this thread, and how many entries there are: the count is cheaper to read.
    static LENT: RefCell<Vec<Range<usize>>> = const { RefCell::new(Vec::new()) };
    static LOANS: Cell<usize> = const { Cell::new(0) };
}

/// Marks addresses as lent until it is dropped.
pub(super) struct Loan(usize);

impl Loan {
    pub(super) fn of(memories: &[&Memory]) -> Loan {
        let ranges = memories.iter().filter_map(|memory| {
            let start = memory.first_byte()?.addr().get();
            Some(start..start + memory.nbytes())
        });
        let before = LOANS.get();
        LENT.with_borrow_mut(|lent| {
            lent.extend(ranges);
            LOANS.set(lent.len());
        });
        Loan(before)
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        LENT.with_borrow_mut(|lent| lent.truncate(self.0));
        LOANS.set(self.0);
    }
}

impl Memory {
    /// Allocates `nbytes` zeroed bytes.
    ///
    /// # Errors
    /// RuntimeError, in the words of PyTorch's allocator, if the system does not have enough memory.
    pub fn heap(nbytes: usize) -> Result<Memory> {
        Ok(Memory::Heap(Heap::new(nbytes)?))
    }

    /// Allocates a copy of `bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Memory> {
        let memory = Memory::heap(bytes.len())?;
        if let Some(start) = memory.start() {
            for (part, at) in bytes.chunks(COPIED).zip((0..).step_by(COPIED)) {
                interrupt::check()?;
                // SAFETY: the new memory has exactly `bytes.len()` bytes and no other owner.
                unsafe { ptr::copy_nonoverlapping(part.as_ptr(), start.as_ptr().add(at), part.len()) }
            }
        }
        Ok(memory)
    }

    /// Borrows `nbytes` bytes of `owner`, starting at `offset`. `None` if they are out of range.
    pub fn borrow(owner: &Rc<Memory>, offset: usize, nbytes: usize) -> Option<Memory> {
        let end = offset.checked_add(nbytes)?;
        (end <= owner.nbytes()).then(|| Memory::Borrowed { owner: owner.clone(), offset, nbytes })
    }

    pub fn nbytes(&self) -> usize {
        match self {
            Memory::Heap(heap) => heap.nbytes,
            Memory::Mapped(mapped) => mapped.nbytes,
            Memory::Borrowed { nbytes, .. } | Memory::Meta { nbytes, .. } => *nbytes,
        }
    }

    pub fn is_meta(&self) -> bool {
        matches!(self, Memory::Meta { .. })
    }

    /// Returns the mapping, if this is one.
    pub fn mapped(&self) -> Option<&Mapped> {
        match self {
            Memory::Mapped(mapped) => Some(mapped),
            _ => None,
        }
    }

    /// Returns the file beneath these bytes, and the offset of the first. The file has the same bytes until these are
    /// written to.
    pub fn file(&self) -> Option<(&File, usize)> {
        match self {
            Memory::Mapped(mapped) => mapped.file.as_ref().map(|file| (file, 0)),
            Memory::Borrowed { owner, offset, .. } => {
                owner.file().and_then(|(file, start)| Some((file, start.checked_add(*offset)?)))
            }
            Memory::Heap(_) | Memory::Meta { .. } => None,
        }
    }

    /// Returns the address of the first byte; 0 for memory without bytes.
    pub fn address(&self) -> usize {
        let is_slice = matches!(self, Memory::Borrowed { owner, .. } if owner.nbytes() > 0);
        if self.nbytes() == 0 && !is_slice { 0 } else { self.start().map_or(0, |p| p.as_ptr() as usize) }
    }

    /// Checks that the bytes still exist: another process may have truncated a mapped file.
    ///
    /// # Errors
    /// RuntimeError naming the file.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self {
            Memory::Mapped(mapped) => mapped.check(),
            Memory::Borrowed { owner, .. } => owner.check(),
            Memory::Heap(_) | Memory::Meta { .. } => Ok(()),
        }
    }

    /// Returns the first byte; `None` for meta memory.
    ///
    /// # Panics
    /// If [`super::parallel`] has lent bytes of it as a slice. Access through a cell would then be undefined behaviour. No
    /// loop does this: it needs a handle in a thread-local, which a `Send` closure could reach.
    pub(super) fn start(&self) -> Option<NonNull<u8>> {
        let start = self.first_byte();
        if LOANS.get() > 0 {
            assert!(!start.is_some_and(|start| self.is_lent(start)), "memory is accessed while it is lent as a slice");
        }
        start
    }

    #[cold]
    fn is_lent(&self, start: NonNull<u8>) -> bool {
        let start = start.addr().get();
        LENT.with_borrow(|lent| lent.iter().any(|range| range.start < start + self.nbytes() && start < range.end))
    }

    fn first_byte(&self) -> Option<NonNull<u8>> {
        match self {
            Memory::Heap(heap) => Some(heap.start),
            Memory::Mapped(mapped) => NonNull::new(mapped.map.start()),
            Memory::Borrowed { owner, offset, .. } => {
                // SAFETY: `borrow` checked that `offset + nbytes` lies within the owner's allocation.
                owner.first_byte().map(|start| unsafe { start.add(*offset) })
            }
            Memory::Meta { .. } => None,
        }
    }

    /// Returns all whole elements of type `T`, starting at the first byte; empty for meta memory.
    #[inline]
    pub fn typed<T: Plain>(&self) -> &[ElementCell<T>] {
        let Some(start) = self.start() else { return &[] };
        let length = self.nbytes() / size_of::<T>();
        // SAFETY: the bytes exist for as long as `self` (owners are kept alive; a mapping stays in place even when its
        // file shrinks, see `on_bus_error`), `Unaligned<T>` has alignment 1 and accepts every bit pattern (`T: Plain`),
        // and cells permit shared mutation on this single thread. Another process may write to a shared mapping at any
        // time; every value it can leave there is valid.
        unsafe { std::slice::from_raw_parts(start.as_ptr().cast::<ElementCell<T>>(), length) }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[ElementCell<u8>] {
        self.typed::<u8>()
    }

    /// Sets all bytes of memory of our own to zero.
    pub(super) fn clear(&mut self) {
        if let Memory::Heap(heap) = self {
            // SAFETY: the allocation has as many bytes from `start` on, and no other handle to it exists.
            unsafe { heap.start.as_ptr().write_bytes(0, heap.nbytes) }
        }
    }

    /// Copies as many bytes as both have; the two may overlap.
    pub fn copy_from(&self, source: &Memory) {
        if let (Some(to), Some(from)) = (self.start(), source.start()) {
            let length = self.nbytes().min(source.nbytes());
            // Overlapping memories are copied in a single call.
            let overlaps = to.addr().get().abs_diff(from.addr().get()) < length;
            let piece = if overlaps { length } else { COPIED };
            for at in (0..length).step_by(piece.max(1)) {
                if interrupt::requested() {
                    return;
                }
                // SAFETY: both are valid for `length` bytes, `ptr::copy` allows them to overlap, and no reference to
                // the bytes exists outside cells.
                unsafe { ptr::copy(from.as_ptr().add(at), to.as_ptr().add(at), piece.min(length - at)) }
            }
        }
    }

    /// Reverses the bytes of every whole group of 2, 4 or 8 bytes; other group sizes change nothing.
    pub fn swap_bytes(&self, group: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { self.swap_bytes_avx2(group) };
        }
        self.swap_bytes_scalar(group);
    }

    /// The same loop compiled for AVX2, which shuffles 32 bytes at a time. Without it, vector code is slower than
    /// scalar code.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn swap_bytes_avx2(&self, group: usize) {
        self.swap_bytes_scalar(group);
    }

    #[inline(always)]
    fn swap_bytes_scalar(&self, group: usize) {
        match group {
            2 => self.typed::<u16>().iter().for_each(|cell| set(cell, get(cell).swap_bytes())),
            4 => self.typed::<u32>().iter().for_each(|cell| set(cell, get(cell).swap_bytes())),
            8 => self.typed::<u64>().iter().for_each(|cell| set(cell, get(cell).swap_bytes())),
            _ => {}
        }
    }

    /// Returns a copy of the bytes.
    ///
    /// # Errors
    /// RuntimeError if there is not enough memory.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let length = self.bytes().len();
        let mut copy = Vec::new();
        copy.try_reserve_exact(length)
            .map_err(|_| Error::runtime(format!("no memory for a copy of {length} bytes")))?;
        for part in self.bytes().chunks(COPIED) {
            interrupt::check()?;
            copy.extend(part.iter().map(get));
        }
        Ok(copy)
    }
}

/// Memory that belongs to a file, or that other processes can share.
#[derive(Debug)]
pub struct Mapped {
    map: system::Mapped,
    nbytes: usize,
    /// The file, to check that it still has its length; `None` for anonymous shared memory.
    file: Option<File>,
    /// The file's name as given by the caller.
    pub name: Option<String>,
    /// Whether other processes see writes.
    pub shared: bool,
}

impl Mapped {
    /// Maps the first `nbytes` (at least one) of a file. With `shared`, writes change the file; otherwise they stay
    /// private.
    ///
    /// # Errors
    /// The system's error.
    pub fn file(file: File, nbytes: usize, name: &str, shared: bool) -> io::Result<Mapped> {
        let map = Mapping::of_file(&file, nbytes, shared)?;
        Ok(Mapped { map, nbytes, file: Some(file), name: Some(name.to_owned()), shared })
    }

    /// Allocates `nbytes` zeroed bytes that other processes can share.
    ///
    /// # Errors
    /// The system's error, and the call that failed.
    pub(crate) fn shared_memory(nbytes: usize) -> std::result::Result<Mapped, SystemFailure> {
        let map = Mapping::shared(nbytes)?;
        Ok(Mapped { map, nbytes, file: None, name: None, shared: true })
    }

    fn check(&self) -> Result<()> {
        let name = self.name.as_deref().unwrap_or("shared memory");
        let length = match self.file.as_ref().map(OpenFile::kind) {
            Some(Ok(PathKind::File(length))) => length,
            Some(_) => 0,
            None => u64::MAX,
        };
        if length < self.nbytes as u64 {
            return Err(Error::runtime(format!(
                "the file beneath this storage was truncated: <{name}> has {length} of the {} bytes that are mapped",
                self.nbytes
            )));
        }
        if self.map.has_lost_page() {
            return Err(Error::runtime(format!(
                "the file beneath this storage was truncated or could not be read or written (a full disk?): <{name}>"
            )));
        }
        Ok(())
    }
}

/// Reports a page that was lost while a function ran: the function has computed with zeros.
///
/// # Errors
/// RuntimeError, once after every such loss.
#[inline]
pub fn check_files() -> Result<()> {
    if System::lost_page() {
        return Err(Error::runtime(
            "the file beneath this storage was truncated while it was in use; what was to be read or written is lost",
        ));
    }
    Ok(())
}
