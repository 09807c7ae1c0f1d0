//! [`Storage`]: the bytes beneath tensors, with identity. Corresponds to PyTorch's `UntypedStorage`; independent of
//! dtypes. Follows <https://pytorch.org/docs/2.7/storage.html>.

use super::device::Device;
use super::dtype::DType;
use super::element::Scalar;
use super::error::{Error, Result};
use super::files;
use super::journal;
use super::layout::Layout;
use super::memory::{Memory, get, set};
use super::parallel;
use super::spare;
use super::thresholds;
use super::view::View;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

/// Untyped bytes shared by all tensors over them. Cloning the handle shares the storage; equality is identity.
#[derive(Clone, Debug)]
pub struct Storage(Rc<StorageInner>);

#[derive(Debug)]
struct StorageInner {
    /// Replaced instead of resized in place, so that earlier slices stay valid.
    memory: RefCell<Rc<Memory>>,
    resizable: Cell<bool>,
}

impl Drop for StorageInner {
    fn drop(&mut self) {
        spare::keep_of(self.memory.get_mut());
    }
}

/// A reference that does not keep the storage alive.
#[derive(Clone, Debug)]
pub struct WeakStorage(Weak<StorageInner>);

impl WeakStorage {
    pub fn upgrade(&self) -> Option<Storage> {
        self.0.upgrade().map(Storage)
    }
}

impl PartialEq for Storage {
    fn eq(&self, other: &Storage) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Storage {
    /// Wraps memory. Borrowed and mapped memory cannot be resized.
    pub fn new(memory: Memory) -> Storage {
        let resizable = !matches!(memory, Memory::Borrowed { .. } | Memory::Mapped(_));
        Storage::of(Rc::new(memory), resizable)
    }

    fn of(memory: Rc<Memory>, resizable: bool) -> Storage {
        Storage(Rc::new(StorageInner { memory: RefCell::new(memory), resizable: Cell::new(resizable) }))
    }

    /// Allocates `nbytes` zeroed bytes on the device.
    ///
    /// # Errors
    /// RuntimeError if the memory cannot be allocated or the device does not exist here.
    pub fn zeroed(nbytes: usize, device: Device) -> Result<Storage> {
        if device.available()?.is_meta() {
            return Ok(Storage::new(Memory::Meta { nbytes, device }));
        }
        // Memory that was in use is in a cache, and has its pages; the system provides new ones when they are touched.
        if nbytes <= thresholds::CLEARED
            && let Some(mut memory) = spare::take_of(nbytes)
            && let Some(own) = Rc::get_mut(&mut memory)
        {
            own.clear();
            return Ok(Storage::of(memory, true));
        }
        let memory = Memory::heap(nbytes).or_else(|_| {
            spare::clear();
            Memory::heap(nbytes)
        })?;
        Ok(Storage::new(memory))
    }

    /// Creates a cpu storage of `nbytes` bytes without memory, for code that only needs to know which tensors share
    /// storage. Reading it is an error.
    pub fn absent(nbytes: usize) -> Storage {
        Storage::new(Memory::Meta { nbytes, device: Device::CPU })
    }

    /// Allocates `nbytes` bytes on the device that the caller must write before they are read.
    ///
    /// # Errors
    /// Those of [`Storage::zeroed`].
    pub fn unwritten(nbytes: usize, device: Device) -> Result<Storage> {
        if !device.available()?.is_meta()
            && let Some(memory) = spare::take_of(nbytes)
        {
            let storage = Storage::of(memory, true);
            storage.mark_unwritten();
            return Ok(storage);
        }
        let storage = Storage::zeroed(nbytes, device)?;
        storage.mark_unwritten();
        Ok(storage)
    }

    /// Makes reads of unwritten bytes noticeable, in debug builds and if there are not many.
    fn mark_unwritten(&self) {
        if cfg!(debug_assertions) && self.nbytes() < thresholds::SPARE {
            self.memory().bytes().iter().for_each(|byte| set(byte, 0xA5));
        }
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Storage> {
        Ok(Storage::new(Memory::from_bytes(bytes)?))
    }

    /// Maps the first `nbytes` of a file as a storage; see [`files::map`].
    ///
    /// # Errors
    /// RuntimeError in PyTorch's words.
    pub fn from_file(name: &str, shared: bool, nbytes: i64) -> Result<Storage> {
        // No file is opened for zero bytes.
        let memory = if nbytes == 0 { Memory::heap(0)? } else { files::map(name, shared, nbytes)? };
        let storage = Storage::new(memory);
        storage.keep_size();
        Ok(storage)
    }

    /// Makes the storage's size fixed.
    pub fn keep_size(&self) {
        self.0.resizable.set(false);
    }

    /// Returns the current memory; the handle keeps it alive across a later resize.
    #[inline]
    pub fn memory(&self) -> Rc<Memory> {
        self.0.memory.borrow().clone()
    }

    /// Returns the memory for reading or writing its bytes.
    ///
    /// # Errors
    /// NotImplementedError for meta storages; RuntimeError if the mapped file was truncated.
    pub fn data(&self) -> Result<Rc<Memory>> {
        let memory = self.memory();
        if memory.is_meta() {
            return Err(Error::not_implemented("Not available for 'meta' device type"));
        }
        memory.check()?;
        Ok(memory)
    }

    pub fn nbytes(&self) -> usize {
        self.0.memory.borrow().nbytes()
    }

    pub fn device(&self) -> Device {
        if self.0.memory.borrow().is_meta() { Device::META } else { Device::CPU }
    }

    /// Returns the device that tensors over this storage report. It differs from the storage's own for fake devices.
    pub fn tensor_device(&self) -> Device {
        match **self.0.memory.borrow() {
            Memory::Meta { device, .. } => device,
            _ => Device::CPU,
        }
    }

    /// Returns the address of the first byte; 0 if empty or without memory.
    pub fn data_ptr(&self) -> usize {
        self.0.memory.borrow().address()
    }

    /// Restores a previous memory. Tensors over the storage are not updated.
    pub fn restore(&self, memory: Rc<Memory>, resizable: bool) {
        self.0.memory.replace(memory);
        self.0.resizable.set(resizable);
    }

    /// Returns PyTorch's answer, which says that shared memory is resizable although [`Storage::resize`] refuses it.
    pub fn resizable(&self) -> bool {
        self.0.resizable.get()
    }

    /// Returns whether the bytes are in shared memory or a mapped file.
    pub fn is_shared(&self) -> bool {
        self.0.memory.borrow().mapped().is_some()
    }

    /// Returns the name of the mapped file, if writes change it.
    pub fn filename(&self) -> Option<String> {
        self.0.memory.borrow().mapped().filter(|m| m.shared).and_then(|m| m.name.clone())
    }

    /// Moves the bytes to shared memory, for all tensors over the storage. Earlier slices keep the old bytes.
    ///
    /// # Errors
    /// RuntimeError for a meta storage, or if shared memory is not available.
    pub fn share(&self) -> Result<()> {
        let memory = self.memory();
        if memory.is_meta() {
            return Err(Error::runtime("_share_fd_: only available on CPU"));
        }
        if memory.mapped().is_none() {
            self.0.memory.replace(Rc::new(files::share(&memory)?));
        }
        Ok(())
    }

    /// Counts the handles to this storage, including those of tensors.
    pub fn holders(&self) -> usize {
        Rc::strong_count(&self.0)
    }

    /// Returns a handle that does not keep the storage alive.
    pub fn downgrade(&self) -> WeakStorage {
        WeakStorage(Rc::downgrade(&self.0))
    }

    /// Returns a number that identifies the storage.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    /// Changes the size, keeping the bytes that fit; new bytes are zero. Tensors over the storage are not updated.
    ///
    /// # Errors
    /// RuntimeError for memory that is shared or belongs to a buffer or file, or if memory runs out. Nothing has
    /// changed then.
    pub fn resize(&self, nbytes: usize) -> Result<()> {
        let old = self.memory();
        if !self.resizable() || old.mapped().is_some() {
            return Err(Error::runtime("Trying to resize storage that is not resizable"));
        }
        if old.nbytes() == nbytes {
            return Ok(());
        }
        let new = match *old {
            Memory::Meta { device, .. } => Memory::Meta { nbytes, device },
            _ => Memory::heap(nbytes)?,
        };
        new.copy_from(&old);
        self.0.memory.replace(Rc::new(new));
        Ok(())
    }

    /// Grows the storage to at least `nbytes`.
    pub fn reserve(&self, nbytes: usize) -> Result<()> {
        if nbytes > self.nbytes() { self.resize(nbytes) } else { Ok(()) }
    }

    /// Returns an independent copy of the bytes.
    pub fn duplicate(&self) -> Result<Storage> {
        let copy = Storage::zeroed(self.nbytes(), self.tensor_device())?;
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// Sets every byte, on all cores if there are many. Does nothing for meta storages.
    pub fn fill(&self, value: u8) -> Result<()> {
        let memory = self.memory();
        memory.check()?;
        journal::note_bytes(&memory, 0..memory.nbytes());
        let filled = parallel::writing(&memory, 0..memory.nbytes(), |bytes: &mut [u8]| {
            parallel::parts(bytes, 1, &|_, part| {
                part.fill(value);
                Ok(())
            })
        });
        filled.unwrap_or(Ok(()))
    }

    /// Copies all bytes of `source`.
    ///
    /// # Errors
    /// RuntimeError if the sizes differ; NotImplementedError if only the source is a meta storage.
    pub fn copy_from(&self, source: &Storage) -> Result<()> {
        let (to, from) = (self.memory(), source.memory());
        if to.nbytes() != from.nbytes() {
            return Err(Error::runtime(format!(
                "size does not match, self was {} bytes but src was {} bytes",
                to.nbytes(),
                from.nbytes()
            )));
        }
        if from.is_meta() && !to.is_meta() {
            return Err(Error::not_implemented("Cannot copy out of meta tensor; no data!"));
        }
        to.check()?;
        from.check()?;
        journal::note_bytes(&to, 0..to.nbytes());
        to.copy_from(&from);
        Ok(())
    }

    /// Returns bytes `start..stop` as a separate storage that shares memory with this one. The range must be in bounds.
    pub fn slice(&self, start: usize, stop: usize) -> Result<Storage> {
        let out_of_bounds =
            || Error::index(format!("slice {start}:{stop} out of range for storage of size {}", self.nbytes()));
        let length = stop.checked_sub(start).ok_or_else(out_of_bounds)?;
        Memory::borrow(&self.data()?, start, length).map(Storage::new).ok_or_else(out_of_bounds)
    }

    /// Returns one byte, or `None` beyond the end.
    pub fn byte(&self, index: usize) -> Result<Option<u8>> {
        Ok(self.data()?.bytes().get(index).map(get))
    }

    /// Writes one byte. Returns false if it is out of range.
    pub fn set_byte(&self, index: usize, value: u8) -> Result<bool> {
        let memory = self.data()?;
        journal::note_bytes(&memory, index..index.saturating_add(1));
        Ok(memory.bytes().get(index).map(|cell| set(cell, value)).is_some())
    }

    /// Returns a copy of all bytes.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        self.data()?.to_vec()
    }

    /// Reverses the bytes of every group of `group` bytes.
    ///
    /// # Errors
    /// RuntimeError if the size is not a multiple of the group.
    pub fn byteswap(&self, group: usize) -> Result<()> {
        let memory = self.data()?;
        if !memory.nbytes().is_multiple_of(group) {
            return Err(Error::runtime(format!("the length of data is not a multiple of {group}")));
        }
        if ![1, 2, 4, 8].contains(&group) {
            return Err(Error::runtime(format!("elements of {group} bytes cannot be swapped")));
        }
        journal::note_bytes(&memory, 0..memory.nbytes());
        memory.swap_bytes(group);
        Ok(())
    }
}

/// A storage read as elements of one dtype: PyTorch's deprecated `TypedStorage`. Every new one is a distinct object;
/// clones of the handle are the same object.
#[derive(Clone, Debug)]
pub struct TypedStorage {
    pub storage: Storage,
    pub dtype: DType,
    identity: Rc<()>,
}

impl PartialEq for TypedStorage {
    fn eq(&self, other: &TypedStorage) -> bool {
        Rc::ptr_eq(&self.identity, &other.identity)
    }
}

impl TypedStorage {
    pub fn new(storage: Storage, dtype: DType) -> TypedStorage {
        TypedStorage { storage, dtype, identity: Rc::new(()) }
    }

    /// Returns a number that identifies the object.
    pub fn identity(&self) -> usize {
        // The reference counts before the empty value make the address unique.
        Rc::as_ptr(&self.identity) as usize
    }

    /// Returns the number of whole elements.
    pub fn len(&self) -> usize {
        self.storage.nbytes() / self.dtype.itemsize()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the whole storage as a 1-d view; for a quantized dtype, as its stored integers.
    pub fn view(&self) -> View {
        let layout = Layout::contiguous(&[self.len() as i64]);
        let dtype = self.dtype.stored_integers();
        View { storage: self.storage.clone(), layout, dtype, conj: false, neg: false, form: None }
    }

    /// Returns the elements.
    ///
    /// # Errors
    /// NotImplementedError for meta storages; RuntimeError if the mapped file was truncated.
    pub fn scalars(&self) -> Result<Vec<Scalar>> {
        self.storage.data()?;
        self.view().scalars()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::set;

    fn storage(bytes: &[u8]) -> Storage {
        match Storage::from_bytes(bytes) {
            Ok(storage) => storage,
            Err(error) => panic!("{error}"),
        }
    }

    fn bytes(storage: &Storage) -> Vec<u8> {
        storage.to_vec().unwrap_or_default()
    }

    #[test]
    fn slices_share_memory_and_outlive_their_storage() {
        let whole = storage(&[1, 2, 3, 4, 5]);
        let Ok(part) = whole.slice(1, 4) else { panic!("a slice within bounds") };
        assert_eq!(part.fill(9), Ok(()));
        assert_eq!(bytes(&whole), [1, 9, 9, 9, 5]);
        let Ok(inner) = part.slice(2, 3) else { panic!("a slice of a slice") };
        drop((whole, part));
        assert_eq!(bytes(&inner), [9]);
        assert!(inner.slice(0, 2).is_err() && inner.slice(1, 0).is_err() && inner.slice(1, 1).is_ok());
        assert!(inner.resize(4).is_err() && !inner.resizable());
    }

    #[test]
    fn resizing_keeps_what_fits_and_leaves_slices_alone() {
        let whole = storage(&[1, 2, 3, 4]);
        let Ok(part) = whole.slice(2, 4) else { panic!("a slice within bounds") };
        assert_eq!(whole.resize(6), Ok(()));
        assert_eq!(bytes(&whole), [1, 2, 3, 4, 0, 0]);
        assert_eq!(whole.resize(1), Ok(()));
        assert_eq!(whole.resize(3), Ok(()));
        assert_eq!((bytes(&whole), bytes(&part)), (vec![1, 0, 0], vec![3, 4]));
        assert_eq!(whole.resize(0), Ok(()));
        assert_eq!((whole.data_ptr(), bytes(&whole).len()), (0, 0));
    }

    #[test]
    fn copies_may_overlap() {
        let whole = storage(&[1, 2, 3, 4, 5]);
        let (Ok(low), Ok(high)) = (whole.slice(0, 4), whole.slice(1, 5)) else { panic!("slices within bounds") };
        assert_eq!(high.copy_from(&low), Ok(()));
        assert_eq!(bytes(&whole), [1, 1, 2, 3, 4]);
        assert_eq!(low.copy_from(&high), Ok(()));
        assert_eq!(bytes(&whole), [1, 2, 3, 4, 4]);
        assert!(whole.copy_from(&low).is_err() && whole.copy_from(&whole).is_ok());
    }

    #[test]
    fn elements_may_stand_at_odd_addresses() {
        let whole = storage(&[0; 19]);
        let Ok(odd) = whole.slice(1, 19) else { panic!("a slice within bounds") };
        let memory = odd.memory();
        let cells = memory.typed::<u64>();
        assert_eq!(cells.len(), 2);
        cells.iter().for_each(|cell| set(cell, 0x0102_0304_0506_0708));
        assert_eq!(odd.byteswap(4).map_err(|e| e.message), Err("the length of data is not a multiple of 4".into()));
        assert_eq!(odd.byteswap(2), Ok(()));
        assert_eq!(bytes(&odd)[..9], [7, 8, 5, 6, 3, 4, 1, 2, 7]);
        assert_eq!(get(&cells[1]), 0x0201_0403_0605_0807);
        assert_eq!((odd.byte(18), odd.set_byte(17, 3), odd.byte(17)), (Ok(None), Ok(true), Ok(Some(3))));
    }

    #[test]
    fn without_bytes_there_is_only_a_size() {
        let Ok(meta) = Storage::zeroed(1 << 50, Device::META) else { panic!("no memory is needed") };
        assert_eq!((meta.nbytes(), meta.data_ptr(), meta.memory().bytes().len()), (1 << 50, 0, 0));
        assert!(meta.to_vec().is_err() && meta.slice(0, 1).is_err() && meta.fill(1).is_ok());
        assert!(meta.resize(7).is_ok() && meta.duplicate().is_ok_and(|copy| copy.nbytes() == 7));
    }
}
