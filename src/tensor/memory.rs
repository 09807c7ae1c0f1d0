//! Bytes and who owns them. This file and `parallel.rs` are the only ones that may contain `unsafe`; everything above
//! sees [`Memory`] through [`Memory::typed`], a slice of cells, so that overlapping views stay safe Rust.

use super::error::{Error, Result};
use super::float8::Float8;
use half::{bf16, f16};
use num_complex::Complex;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;

/// A `bool` element: any byte is valid, nonzero is true, and the byte survives a round trip through `view(dtype)`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct BoolByte(u8);

impl BoolByte {
    pub fn new(value: bool) -> BoolByte {
        BoolByte(u8::from(value))
    }

    pub fn get(self) -> bool {
        self.0 != 0
    }
}

/// Types whose values are plain bytes.
///
/// # Safety
/// Every bit pattern of the type's size must be a valid value, and the type must have no padding and no destructor.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($t:ty),*) => {$(
        // SAFETY: integers, IEEE floats and one-byte wrappers accept every bit pattern and have no padding.
        unsafe impl Plain for $t {}
    )*};
}
plain!(BoolByte, u8, i8, i16, i32, i64, u16, u32, u64, f16, bf16, f32, f64);

// SAFETY: a transparent wrapper around one byte (the format marker is zero-sized).
unsafe impl<F: 'static> Plain for Float8<F> {}
// SAFETY: two plain values of one type side by side, `repr(C)`.
unsafe impl<P: Plain> Plain for Complex<P> {}

/// A value at any address: storages may begin at odd bytes (`frombuffer(…, offset=1)`), so elements are never assumed
/// to be aligned. On the machines we run on this costs nothing.
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

/// A run of bytes of fixed length and address.
#[derive(Debug)]
pub enum Memory {
    /// Zero-initialised memory of our own.
    Heap(Heap),
    /// Part of another memory: a buffer object, or the storage a slice was taken from. Keeps the owner alive.
    Borrowed { owner: Rc<Memory>, offset: usize, nbytes: usize },
    /// No bytes at all, only their number: the `meta` device.
    Meta { nbytes: usize },
}

/// An owned, zeroed allocation.
#[derive(Debug)]
pub struct Heap {
    start: NonNull<u8>,
    nbytes: usize,
}

impl Heap {
    /// PyTorch aligns to 64; 16 lets the allocator hand out zero pages without touching them.
    const ALIGN: usize = 16;

    fn new(nbytes: usize) -> Result<Heap> {
        if nbytes == 0 {
            return Ok(Heap { start: NonNull::dangling(), nbytes });
        }
        let failed = || {
            Error::runtime(format!(
                "[enforce fail at alloc_cpu.cpp:119] err == 0. DefaultCPUAllocator: can't allocate memory: you tried \
                 to allocate {nbytes} bytes. Error code 12 (Cannot allocate memory)"
            ))
        };
        let layout = Layout::from_size_align(nbytes, Self::ALIGN).map_err(|_| failed())?;
        // SAFETY: `layout` has a nonzero size.
        let start = unsafe { alloc_zeroed(layout) };
        Ok(Heap { start: NonNull::new(start).ok_or_else(failed)?, nbytes })
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        if self.nbytes > 0
            && let Ok(layout) = Layout::from_size_align(self.nbytes, Self::ALIGN)
        {
            // SAFETY: `start` came from `alloc_zeroed` with this very layout and is freed once, here.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}

impl Memory {
    /// `nbytes` zeroed bytes.
    ///
    /// # Errors
    /// RuntimeError with PyTorch's allocator text when the system has no such memory.
    pub fn heap(nbytes: usize) -> Result<Memory> {
        Ok(Memory::Heap(Heap::new(nbytes)?))
    }

    /// A copy of `bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Memory> {
        let memory = Memory::heap(bytes.len())?;
        for (cell, &byte) in memory.bytes().iter().zip(bytes) {
            set(cell, byte);
        }
        Ok(memory)
    }

    /// `nbytes` bytes of `owner` from `offset` on, or `None` where they do not exist.
    pub fn borrow(owner: &Rc<Memory>, offset: usize, nbytes: usize) -> Option<Memory> {
        let end = offset.checked_add(nbytes)?;
        (end <= owner.nbytes()).then(|| Memory::Borrowed { owner: owner.clone(), offset, nbytes })
    }

    pub fn nbytes(&self) -> usize {
        match self {
            Memory::Heap(heap) => heap.nbytes,
            Memory::Borrowed { nbytes, .. } | Memory::Meta { nbytes } => *nbytes,
        }
    }

    pub fn is_meta(&self) -> bool {
        matches!(self, Memory::Meta { .. })
    }

    /// The address of the first byte; 0 where there is none.
    pub fn address(&self) -> usize {
        if self.nbytes() == 0 { 0 } else { self.start().map_or(0, |p| p.as_ptr() as usize) }
    }

    fn start(&self) -> Option<NonNull<u8>> {
        match self {
            Memory::Heap(heap) => Some(heap.start),
            Memory::Borrowed { owner, offset, .. } => {
                // SAFETY: `borrow` checked that `offset + nbytes` lies within the owner's allocation.
                owner.start().map(|start| unsafe { start.add(*offset) })
            }
            Memory::Meta { .. } => None,
        }
    }

    /// All whole elements of type `T`, from the first byte on. Meta memory has none.
    #[inline]
    pub fn typed<T: Plain>(&self) -> &[ElementCell<T>] {
        let Some(start) = self.start() else { return &[] };
        let length = self.nbytes() / size_of::<T>();
        // SAFETY: the bytes exist for as long as `self` (owners are kept alive), `Unaligned<T>` has alignment 1 and
        // accepts every bit pattern (`T: Plain`), and cells permit shared mutation on this single thread.
        unsafe { std::slice::from_raw_parts(start.as_ptr().cast::<ElementCell<T>>(), length) }
    }

    /// The bytes themselves.
    pub fn bytes(&self) -> &[ElementCell<u8>] {
        self.typed::<u8>()
    }
}
