//! Buffer objects: Python's `array.array`, `bytearray`, `bytes` and `memoryview`, as containers of bytes that a tensor
//! can borrow. A buffer that grows moves its bytes; an earlier tensor keeps the old memory alive.

use super::element::Scalar;
use super::error::{Error, Result};
use super::limits;
use super::memory::{BoolByte, Memory, Plain, get, set};
use super::storage::Storage;
use crate::bail;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

impl Steps {
    /// Returns the place in memory of element number `i`.
    fn place(self, i: usize) -> Option<usize> {
        (i < self.len).then_some(())?;
        self.first.checked_add_signed(isize::try_from(i).ok()?.checked_mul(self.step)?)
    }
}

/// A Python buffer object. Cloning the handle shares it.
#[derive(Clone, Debug)]
pub struct Buffer(Rc<BufferInner>);

#[derive(Debug)]
struct BufferInner {
    kind: BufferKind,
    memory: RefCell<Rc<Memory>>,
    /// The elements of a `memoryview` that was sliced with a step.
    steps: Option<Steps>,
}

/// Elements of a memory that need not follow each other: number `i` is element `first + i * step`.
#[derive(Clone, Copy, Debug)]
struct Steps {
    first: usize,
    len: usize,
    step: isize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    Bytes,
    ByteArray,
    /// `array.array` with its type code.
    Array(TypeCode),
    /// A `memoryview`, with its format, and whether the underlying memory is writable.
    MemoryView {
        format: TypeCode,
        writable: bool,
    },
}

macro_rules! type_codes {
    ($($code:literal $variant:ident: $rust:ty;)*) => {
        /// The element type of an `array.array`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TypeCode { $($variant),* }

        impl TypeCode {
            pub fn from_char(code: char) -> Option<TypeCode> {
                match code { $($code => Some(TypeCode::$variant),)* _ => None }
            }

            pub fn as_char(self) -> char {
                match self { $(TypeCode::$variant => $code),* }
            }

            pub fn itemsize(self) -> usize {
                match self { $(TypeCode::$variant => size_of::<$rust>()),* }
            }

            fn read(self, memory: &Memory, index: usize) -> Option<Scalar> {
                match self { $(TypeCode::$variant => memory.typed::<$rust>().get(index).map(get).map(ArrayItem::load),)* }
            }

            fn write(self, memory: &Memory, index: usize, value: Scalar) -> Result<bool> {
                match self { $(TypeCode::$variant => {
                    let value = <$rust as ArrayItem>::store(value)?;
                    Ok(memory.typed::<$rust>().get(index).map(|cell| set(cell, value)).is_some())
                })* }
            }
        }
    };
}

type_codes! {
    'b' I8: i8;
    'B' U8: u8;
    'u' Char: u32;
    'h' I16: i16;
    'H' U16: u16;
    'i' I32: i32;
    'I' U32: u32;
    'l' Long: i64;
    'L' ULong: u64;
    'q' I64: i64;
    'Q' U64: u64;
    'f' F32: f32;
    'd' F64: f64;
    '?' Bool: BoolByte;
}

/// An element of an `array.array`, with Python's range checks.
trait ArrayItem: Plain {
    fn load(self) -> Scalar;
    fn store(value: Scalar) -> Result<Self>;
}

macro_rules! array_integers {
    ($($t:ty: $name:literal;)*) => {$(
        impl ArrayItem for $t {
            fn load(self) -> Scalar {
                i64::try_from(self).map_or(Scalar::UInt(self as u64), Scalar::Int)
            }
            fn store(value: Scalar) -> Result<$t> {
                let (wide, value) = match value {
                    Scalar::Int(i) => (i128::from(i), <$t>::try_from(i).ok()),
                    Scalar::UInt(u) => (i128::from(u), <$t>::try_from(u).ok()),
                    Scalar::Bool(b) => (i128::from(b), <$t>::try_from(u8::from(b)).ok()),
                    Scalar::Float(_) => bail!(TypeError, "'float' object cannot be interpreted as an integer"),
                    Scalar::Complex(_) => bail!(TypeError, "'complex' object cannot be interpreted as an integer"),
                };
                value.ok_or_else(|| {
                    let end = if wide < i128::from(<$t>::MIN) { "less than minimum" } else { "greater than maximum" };
                    Error::new(super::error::ErrorKind::OverflowError, format!("{} is {end}", $name))
                })
            }
        }
    )*};
}

array_integers! {
    i8: "signed char";
    u8: "unsigned byte integer";
    i16: "signed short integer";
    u16: "unsigned short";
    i32: "signed integer";
    u32: "unsigned int";
    i64: "signed long integer";
    u64: "unsigned long integer";
}

macro_rules! array_floats {
    ($($t:ty),*) => {$(
        impl ArrayItem for $t {
            fn load(self) -> Scalar {
                Scalar::Float(f64::from(self))
            }
            fn store(value: Scalar) -> Result<$t> {
                match value {
                    Scalar::Complex(_) => bail!(TypeError, "must be real number, not complex"),
                    real => Ok(real.to_f64() as $t),
                }
            }
        }
    )*};
}
array_floats!(f32, f64);

impl ArrayItem for BoolByte {
    fn load(self) -> Scalar {
        Scalar::Bool(self.get())
    }
    fn store(value: Scalar) -> Result<BoolByte> {
        Ok(BoolByte::new(value.truth()))
    }
}

impl Buffer {
    fn from_memory(kind: BufferKind, memory: Memory) -> Buffer {
        Buffer::new(kind, Rc::new(memory), None)
    }

    fn new(kind: BufferKind, memory: Rc<Memory>, steps: Option<Steps>) -> Buffer {
        Buffer(Rc::new(BufferInner { kind, memory: RefCell::new(memory), steps }))
    }

    pub fn bytes(data: &[u8]) -> Result<Buffer> {
        Ok(Buffer::from_memory(BufferKind::Bytes, Memory::from_bytes(data)?))
    }

    /// Creates a buffer of zero bytes.
    ///
    /// # Errors
    /// MemoryError.
    pub fn zeroed(kind: BufferKind, nbytes: usize) -> Result<Buffer> {
        limits::room(nbytes)?;
        Ok(Buffer::from_memory(kind, Memory::heap(nbytes)?))
    }

    pub fn bytearray(data: &[u8]) -> Result<Buffer> {
        Ok(Buffer::from_memory(BufferKind::ByteArray, Memory::from_bytes(data)?))
    }

    /// `array.array(code, values)`.
    ///
    /// # Errors
    /// OverflowError or TypeError for a value that the type code cannot hold.
    pub fn array(code: TypeCode, values: &[Scalar]) -> Result<Buffer> {
        let Some(nbytes) = values.len().checked_mul(code.itemsize()) else {
            bail!(OverflowError, "array too large");
        };
        let memory = Memory::heap(nbytes)?;
        for (i, &value) in values.iter().enumerate() {
            code.write(&memory, i, value)?;
        }
        Ok(Buffer::from_memory(BufferKind::Array(code), memory))
    }

    /// Returns a `memoryview` on bytes of a storage; `None` if the range is out of bounds.
    pub fn over(storage: &Storage, range: Range<usize>, format: TypeCode, writable: bool) -> Option<Buffer> {
        let memory = Memory::borrow(&storage.memory(), range.start, range.end.checked_sub(range.start)?)?;
        Some(Buffer::from_memory(BufferKind::MemoryView { format, writable }, memory))
    }

    /// Returns a `memoryview` of this format on the same elements.
    fn seen(&self, format: TypeCode, writable: bool) -> Buffer {
        Buffer::new(BufferKind::MemoryView { format, writable }, self.memory(), self.0.steps)
    }

    /// `memoryview(buffer)`
    pub fn memoryview(&self) -> Buffer {
        self.seen(self.code(), self.writable())
    }

    /// `memoryview.toreadonly()`: the same elements, which cannot be changed through it.
    pub fn read_only(&self) -> Buffer {
        self.seen(self.code(), false)
    }

    /// `memoryview.cast(format)`
    ///
    /// # Errors
    /// TypeError in Python's words: for elements that do not lie side by side, for two formats of which neither is one of
    /// bytes, and if the bytes are no multiple of the new size.
    pub fn cast(&self, format: TypeCode) -> Result<Buffer> {
        if !self.is_contiguous() {
            bail!(TypeError, "memoryview: casts are restricted to C-contiguous views");
        }
        if self.code().itemsize() != 1 && format.itemsize() != 1 {
            bail!(TypeError, "memoryview: cannot cast between two non-byte formats");
        }
        if !self.nbytes().is_multiple_of(format.itemsize()) {
            bail!(TypeError, "memoryview: length is not a multiple of itemsize");
        }
        Ok(self.seen(format, self.writable()))
    }

    /// `memoryview(buffer)[start::step]` with `len` elements. They share the buffer's bytes.
    pub fn slice(&self, start: usize, len: usize, step: isize) -> Option<Buffer> {
        let kind = BufferKind::MemoryView { format: self.code(), writable: self.writable() };
        let size = self.code().itemsize();
        if step == 1 && self.is_contiguous() {
            let memory = Memory::borrow(&self.memory(), start.checked_mul(size)?, len.checked_mul(size)?)?;
            return Some(Buffer::from_memory(kind, memory));
        }
        let old = self.steps();
        let first = if len == 0 { 0 } else { old.place(start)? };
        let steps = Steps { first, len, step: old.step.checked_mul(step)? };
        Some(Buffer::new(kind, self.memory(), Some(steps)))
    }

    fn steps(&self) -> Steps {
        self.0.steps.unwrap_or_else(|| Steps { first: 0, len: self.len(), step: 1 })
    }

    /// Returns the bytes from one element to the next.
    pub fn stride(&self) -> isize {
        self.steps().step.saturating_mul(self.code().itemsize() as isize)
    }

    /// Returns whether the elements lie side by side, in order.
    pub fn is_contiguous(&self) -> bool {
        self.0.steps.is_none_or(|steps| steps.step == 1 || steps.len < 2)
    }

    pub fn kind(&self) -> BufferKind {
        self.0.kind
    }

    pub fn writable(&self) -> bool {
        match self.0.kind {
            BufferKind::Bytes => false,
            BufferKind::MemoryView { writable, .. } => writable,
            BufferKind::ByteArray | BufferKind::Array(_) => true,
        }
    }

    pub fn memory(&self) -> Rc<Memory> {
        self.0.memory.borrow().clone()
    }

    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    /// Returns the size of the elements in bytes.
    pub fn nbytes(&self) -> usize {
        let Some(steps) = self.0.steps else { return self.memory().nbytes() };
        steps.len * self.code().itemsize()
    }

    /// Copies the bytes of the elements.
    ///
    /// # Errors
    /// MemoryError.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        limits::room(self.nbytes())?;
        let (memory, size) = (self.memory(), self.code().itemsize());
        let Some(steps) = self.0.steps else { return memory.to_vec() };
        let all = memory.bytes();
        let places = (0..steps.len).filter_map(|i| steps.place(i));
        Ok(places.flat_map(|place| all.get(place * size..(place + 1) * size).unwrap_or_default()).map(get).collect())
    }

    /// Returns the type of the elements.
    pub fn code(&self) -> TypeCode {
        match self.0.kind {
            BufferKind::Array(code) | BufferKind::MemoryView { format: code, .. } => code,
            BufferKind::Bytes | BufferKind::ByteArray => TypeCode::U8,
        }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self.0.steps {
            Some(steps) => steps.len,
            None => self.memory().nbytes() / self.code().itemsize(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn item(&self, index: usize) -> Option<Scalar> {
        self.code().read(&self.memory(), self.steps().place(index)?)
    }

    pub fn items(&self) -> Vec<Scalar> {
        (0..self.len()).filter_map(|i| self.item(i)).collect()
    }

    /// Writes one element.
    ///
    /// # Errors
    /// TypeError for read-only buffers, IndexError for an index beyond the end, ValueError or OverflowError for a value
    /// that does not fit, in Python's words.
    pub fn set_item(&self, index: usize, value: Scalar) -> Result<()> {
        if !self.writable() {
            match self.0.kind {
                BufferKind::Bytes => bail!(TypeError, "'bytes' object does not support item assignment"),
                _ => bail!(TypeError, "cannot modify read-only memory"),
            }
        }
        let stored = match (self.0.kind, self.steps().place(index)) {
            (_, None) => false,
            (BufferKind::Array(code), Some(place)) => code.write(&self.memory(), place, value)?,
            (BufferKind::MemoryView { format, .. }, Some(place)) => format
                .write(&self.memory(), place, value)
                .map_err(|_| Error::value(format!("memoryview: invalid value for format '{}'", format.as_char())))?,
            (_, Some(place)) => match value {
                Scalar::Int(_) | Scalar::UInt(_) | Scalar::Bool(_) => match u8::try_from(value.to_i64()) {
                    Ok(_) => TypeCode::U8.write(&self.memory(), place, value)?,
                    Err(_) => bail!(ValueError, "byte must be in range(0, 256)"),
                },
                Scalar::Float(_) => bail!(TypeError, "'float' object cannot be interpreted as an integer"),
                Scalar::Complex(_) => bail!(TypeError, "'complex' object cannot be interpreted as an integer"),
            },
        };
        if stored {
            return Ok(());
        }
        match self.0.kind {
            BufferKind::Array(_) => bail!(IndexError, "array assignment index out of range"),
            BufferKind::MemoryView { .. } => bail!(IndexError, "index out of bounds on dimension 1"),
            _ => bail!(IndexError, "bytearray index out of range"),
        }
    }

    /// Appends elements, moving the bytes to new memory.
    ///
    /// # Errors
    /// AttributeError for buffers that cannot grow; otherwise those of [`Buffer::array`].
    pub fn extend(&self, values: &[Scalar]) -> Result<()> {
        let added = match self.0.kind {
            BufferKind::Array(code) => Buffer::array(code, values)?,
            BufferKind::ByteArray => {
                if values.iter().any(|v| u8::try_from(v.to_i64()).is_err()) {
                    bail!(ValueError, "byte must be in range(0, 256)");
                }
                Buffer::array(TypeCode::U8, values)?
            }
            BufferKind::Bytes => bail!(AttributeError, "'bytes' object has no attribute 'extend'"),
            BufferKind::MemoryView { .. } => bail!(AttributeError, "'memoryview' object has no attribute 'extend'"),
        };
        let (old, added) = (self.memory(), added.memory());
        let grown = Memory::heap(old.nbytes() + added.nbytes())?;
        for (to, from) in grown.bytes().iter().zip(old.bytes().iter().chain(added.bytes())) {
            to.set(from.get());
        }
        self.0.memory.replace(Rc::new(grown));
        Ok(())
    }

    /// Replaces all bytes, in new memory.
    ///
    /// # Errors
    /// MemoryError.
    pub fn replace(&self, bytes: &[u8]) -> Result<()> {
        self.0.memory.replace(Rc::new(Memory::from_bytes(bytes)?));
        Ok(())
    }

    /// Restores the buffer's previous memory.
    pub fn restore(&self, memory: Rc<Memory>) {
        self.0.memory.replace(memory);
    }

    /// Returns a storage that shares the buffer's bytes from `offset` on. `None` if its elements are not contiguous.
    pub fn storage(&self, offset: usize, nbytes: usize) -> Option<Storage> {
        let first = self.is_contiguous().then_some(self.steps().first)?;
        let offset = first.checked_mul(self.code().itemsize())?.checked_add(offset)?;
        Memory::borrow(&self.memory(), offset, nbytes).map(Storage::new)
    }
}
