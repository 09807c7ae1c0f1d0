//! [`Storage`]: the bytes beneath tensors, with identity. PyTorch's `UntypedStorage`; it knows no dtype.
//! Follows <https://pytorch.org/docs/2.7/storage.html>.

use super::device::Device;
use super::dtype::DType;
use super::error::{Error, Result};
use super::layout::Layout;
use super::memory::{Memory, get, set};
use super::tensor::View;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Untyped bytes shared by every tensor over them. Cloning the handle shares; equality is identity.
#[derive(Clone, Debug)]
pub struct Storage(Rc<StorageInner>);

#[derive(Debug)]
struct StorageInner {
    /// Replaced, never resized in place, so that a slice taken before a resize stays valid.
    memory: RefCell<Rc<Memory>>,
    resizable: Cell<bool>,
}

impl PartialEq for Storage {
    fn eq(&self, other: &Storage) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Storage {
    /// Wraps memory. Memory that belongs to someone else cannot be resized.
    pub fn new(memory: Memory) -> Storage {
        let resizable = !matches!(memory, Memory::Borrowed { .. });
        Storage(Rc::new(StorageInner { memory: RefCell::new(Rc::new(memory)), resizable: Cell::new(resizable) }))
    }

    /// `nbytes` zeroed bytes on the device.
    ///
    /// # Errors
    /// RuntimeError when the memory cannot be had or the device does not exist here.
    pub fn zeroed(nbytes: usize, device: Device) -> Result<Storage> {
        Ok(Storage::new(if device.available()?.is_meta() { Memory::Meta { nbytes } } else { Memory::heap(nbytes)? }))
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Storage> {
        Ok(Storage::new(Memory::from_bytes(bytes)?))
    }

    /// The memory as it is now; the handle keeps it alive across a later resize.
    #[inline]
    pub fn memory(&self) -> Rc<Memory> {
        self.0.memory.borrow().clone()
    }

    pub fn nbytes(&self) -> usize {
        self.0.memory.borrow().nbytes()
    }

    pub fn device(&self) -> Device {
        if self.0.memory.borrow().is_meta() { Device::META } else { Device::CPU }
    }

    /// The address of the first byte, 0 when empty or without memory.
    pub fn data_ptr(&self) -> usize {
        self.0.memory.borrow().address()
    }

    pub fn resizable(&self) -> bool {
        self.0.resizable.get()
    }

    /// A number that is the same for two handles exactly when they are one storage.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    /// Changes the size, keeping the bytes that fit; new bytes are zero. Tensors over the storage are not told.
    ///
    /// # Errors
    /// RuntimeError for memory that belongs to a buffer, or when memory runs out; nothing has changed then.
    pub fn resize(&self, nbytes: usize) -> Result<()> {
        if !self.resizable() {
            return Err(Error::runtime("Trying to resize storage that is not resizable"));
        }
        let old = self.memory();
        if old.nbytes() == nbytes {
            return Ok(());
        }
        let new = if old.is_meta() { Memory::Meta { nbytes } } else { Memory::heap(nbytes)? };
        for (to, from) in new.bytes().iter().zip(old.bytes()) {
            to.set(from.get());
        }
        self.0.memory.replace(Rc::new(new));
        Ok(())
    }

    /// Grows to at least `nbytes`.
    pub fn reserve(&self, nbytes: usize) -> Result<()> {
        if nbytes > self.nbytes() { self.resize(nbytes) } else { Ok(()) }
    }

    /// An independent copy of the bytes.
    pub fn duplicate(&self) -> Result<Storage> {
        let copy = Storage::zeroed(self.nbytes(), self.device())?;
        copy.copy_from(self)?;
        Ok(copy)
    }

    pub fn fill(&self, value: u8) {
        for byte in self.memory().bytes() {
            set(byte, value);
        }
    }

    /// Copies all bytes of `source`.
    ///
    /// # Errors
    /// RuntimeError when the sizes differ.
    pub fn copy_from(&self, source: &Storage) -> Result<()> {
        let (to, from) = (self.memory(), source.memory());
        if to.nbytes() != from.nbytes() {
            return Err(Error::runtime(format!(
                "size does not match, self was {} bytes but src was {} bytes",
                to.nbytes(),
                from.nbytes()
            )));
        }
        // The two may overlap (a slice and its parent): take the source first.
        let bytes: Vec<_> = from.bytes().iter().map(Cell::get).collect();
        for (to, from) in to.bytes().iter().zip(bytes) {
            to.set(from);
        }
        Ok(())
    }

    /// Bytes `start..stop` as a storage of their own that shares memory with this one. Bounds must hold.
    pub fn slice(&self, start: usize, stop: usize) -> Result<Storage> {
        let out_of_bounds =
            || Error::index(format!("slice {start}:{stop} out of range for storage of size {}", self.nbytes()));
        let length = stop.checked_sub(start).ok_or_else(out_of_bounds)?;
        if self.device().is_meta() {
            return Err(Error::not_implemented("Not available for 'meta' device type"));
        }
        Memory::borrow(&self.memory(), start, length).map(Storage::new).ok_or_else(out_of_bounds)
    }

    pub fn byte(&self, index: usize) -> Option<u8> {
        self.memory().bytes().get(index).map(get)
    }

    /// Writes one byte; false when there is no such byte.
    pub fn set_byte(&self, index: usize, value: u8) -> bool {
        self.memory().bytes().get(index).map(|cell| set(cell, value)).is_some()
    }

    pub fn to_vec(&self) -> Vec<u8> {
        self.memory().bytes().iter().map(get).collect()
    }

    /// Reverses the bytes of every group of `group` bytes.
    ///
    /// # Errors
    /// RuntimeError when the size is not a multiple of the group.
    pub fn byteswap(&self, group: usize) -> Result<()> {
        let memory = self.memory();
        if !memory.nbytes().is_multiple_of(group) {
            return Err(Error::runtime(format!("the length of data is not a multiple of {group}")));
        }
        for chunk in memory.bytes().chunks_exact(group) {
            for i in 0..group / 2 {
                chunk[i].swap(&chunk[group - 1 - i]);
            }
        }
        Ok(())
    }
}

/// A storage read as elements of one dtype: PyTorch's deprecated `TypedStorage`.
#[derive(Clone, Debug)]
pub struct TypedStorage {
    pub storage: Storage,
    pub dtype: DType,
}

impl TypedStorage {
    /// The number of whole elements.
    pub fn len(&self) -> usize {
        self.storage.nbytes() / self.dtype.itemsize()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole storage as a one-dimensional view.
    pub fn view(&self) -> View {
        let layout = Layout::contiguous(&[self.len() as i64]);
        View { storage: self.storage.clone(), layout, dtype: self.dtype, conj: false, neg: false }
    }
}
