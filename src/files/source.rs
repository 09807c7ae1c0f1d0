//! [`Source`]: the bytes of a file, mapped rather than read, or bytes in memory in place of a file. A reader of a
//! format takes from it what it needs; only that is ever touched.

use std::io::{self, ErrorKind as Reason, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;
use tensor::bail;
use tensor::memory::Mapped;
use tensor::rehearsal::to_read;
use tensor::system::{Access, File, Files, Kind, Opened, System, words};
use tensor::{Error, ErrorKind, Memory, Result, Storage, parallel};

/// The bytes of one file.
#[derive(Clone, Debug)]
pub struct Source {
    memory: Rc<Memory>,
    /// The path, for a file.
    name: Option<String>,
}

impl Source {
    /// Maps a file. What is written to its tensors stays here: the file does not change.
    ///
    /// # Errors
    /// FileNotFoundError, IsADirectoryError, PermissionError or OSError in Python's words.
    pub fn open(name: &str) -> Result<Source> {
        let file = System::open(Path::new(&*to_read(name)), Access::Read).map_err(|error| refused(&error, name))?;
        let length = length(file.kind(), name)?;
        let length = usize::try_from(length);
        let length = length.map_err(|_| Error::new(ErrorKind::OSError, format!("'{name}' is too large to map")))?;
        let memory = match length {
            0 => Memory::heap(0)?,
            _ => Memory::Mapped(Mapped::file(file, length, name, false).map_err(|error| refused(&error, name))?),
        };
        Ok(Source { memory: Rc::new(memory), name: Some(name.to_owned()) })
    }

    /// Bytes that stand for a file, from `start` on.
    pub fn of_memory(memory: &Rc<Memory>, start: usize) -> Result<Source> {
        let start = start.min(memory.nbytes());
        let rest = Memory::borrow(memory, start, memory.nbytes() - start);
        let rest = rest.ok_or_else(|| Error::runtime("the buffer has changed"))?;
        Ok(Source { memory: Rc::new(rest), name: None })
    }

    /// A part of the file as a file of its own, or `None` where the file does not have these bytes.
    pub fn part(&self, start: usize, length: usize) -> Option<Source> {
        let part = Memory::borrow(&self.memory, start, length)?;
        Some(Source { memory: Rc::new(part), name: self.name.clone() })
    }

    /// Bytes that come one after another, under a name for messages.
    ///
    /// # Errors
    /// OSError where they cannot be read, RuntimeError where they do not fit into memory.
    pub fn of_reader(mut reader: impl Read, name: &str) -> Result<Source> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| refused(&error, name))?;
        Ok(Source { memory: Rc::new(Memory::from_bytes(&bytes)?), name: Some(name.to_owned()) })
    }

    /// The path, for a file.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub fn len(&self) -> usize {
        self.memory.nbytes()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the file begins with these bytes.
    pub fn starts_with(&self, bytes: &[u8]) -> bool {
        self.bytes(0, bytes.len()).is_some_and(|start| start == bytes)
    }

    /// Returns whether the file begins as zip archives do. PyTorch checks no more, either.
    pub fn is_archive(&self) -> bool {
        self.starts_with(b"PK\x03\x04")
    }

    /// A copy of `length` bytes from `start` on, or `None` where the file does not have them.
    pub fn bytes(&self, start: usize, length: usize) -> Option<Vec<u8>> {
        let part = Memory::borrow(&self.memory, start, length)?;
        if length == 0 {
            return Some(Vec::new());
        }
        part.to_vec().ok()
    }

    /// `nbytes` bytes from `start` on as a storage on the file itself, or `None` where the file does not have them.
    pub fn storage(&self, start: usize, nbytes: usize) -> Option<Storage> {
        Memory::borrow(&self.memory, start, nbytes).map(Storage::new)
    }

    /// The file itself, and the position in it of the first byte.
    pub fn file(&self) -> Option<(&File, usize)> {
        self.memory.file()
    }

    /// Lends the whole file as a slice to a reader that goes through all of its header.
    ///
    /// # Errors
    /// RuntimeError for a file that was cut off meanwhile.
    pub fn reading<R>(&self, body: impl FnOnce(&[u8]) -> R + Send) -> Result<R> {
        self.memory.check()?;
        let result = parallel::reading(&self.memory, body).ok_or_else(|| Error::runtime("the file cannot be read"))?;
        self.memory.check()?;
        Ok(result)
    }

    /// The bytes one after another.
    pub fn reader(&self) -> Reader {
        Reader { memory: self.memory.clone(), position: 0 }
    }
}

/// The bytes of a file that is no larger than `most`.
///
/// # Errors
/// Those of [`Source::open`]; MemoryError for a larger one.
pub fn read_whole(name: &str, most: u64) -> Result<Vec<u8>> {
    let there = to_read(name);
    let there = Path::new(&*there);
    if length(System::kind(there), name)? > most {
        return Err(Error::new(ErrorKind::MemoryError, format!("'{name}' cannot be held in memory")));
    }
    System::read(there).map_err(|error| refused(&error, name))
}

/// Puts bytes in the place of what a file held.
///
/// # Errors
/// Those of [`Source::open`].
pub fn write_whole(name: &str, bytes: &[u8]) -> Result<()> {
    let refuse = |error: io::Error| refused(&error, name);
    super::atomic::rewrite(Path::new(name), super::atomic::COMMON, refuse, |file| {
        io::Write::write_all(file, bytes).map_err(|error| refused(&error, name))
    })
}

/// The length of what was opened, which has to be a file.
fn length(kind: io::Result<Kind>, name: &str) -> Result<u64> {
    match kind.map_err(|error| refused(&error, name))? {
        Kind::File(length) => Ok(length),
        Kind::Folder => Err(Error::new(ErrorKind::IsADirectoryError, format!("[Errno 21] Is a directory: '{name}'"))),
        Kind::Other => Err(Error::new(ErrorKind::OSError, format!("'{name}' is not a regular file"))),
    }
}

/// Python's words for a file that cannot be opened.
fn refused(error: &io::Error, name: &str) -> Error {
    let kind = match error.kind() {
        Reason::NotFound => ErrorKind::FileNotFoundError,
        Reason::PermissionDenied => ErrorKind::PermissionError,
        Reason::IsADirectory => ErrorKind::IsADirectoryError,
        _ => ErrorKind::OSError,
    };
    let (text, code) = words(error);
    match code {
        Some(code) => Error::new(kind, format!("[Errno {code}] {text}: '{name}'")),
        None => Error::new(kind, format!("{text}: '{name}'")),
    }
}

/// A position in a source.
#[derive(Debug)]
pub struct Reader {
    memory: Rc<Memory>,
    position: u64,
}

impl Read for Reader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.memory.check().map_err(|error| io::Error::other(error.message))?;
        let Ok(start) = usize::try_from(self.position) else { return Ok(0) };
        let count = parallel::reading(&self.memory, |all: &[u8]| {
            let rest = all.get(start..).unwrap_or_default();
            let count = rest.len().min(to.len());
            to[..count].copy_from_slice(&rest[..count]);
            count
        });
        let count = count.unwrap_or(0);
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(step) => (self.memory.nbytes() as u64).checked_add_signed(step),
            SeekFrom::Current(step) => self.position.checked_add_signed(step),
        };
        self.position = place.ok_or_else(|| io::Error::from(Reason::InvalidInput))?;
        Ok(self.position)
    }
}

/// Reads the whole of a storage, in pieces between which Ctrl-C is heeded.
///
/// # Errors
/// What `read` gives, and KeyboardInterrupt.
pub(crate) fn fill(storage: &Storage, mut read: impl FnMut(&mut [u8]) -> io::Result<()>) -> Result<()> {
    const PIECE: usize = 4 << 20;
    let memory = storage.data()?;
    let mut piece = vec![0; PIECE.min(memory.nbytes())];
    for start in (0..memory.nbytes()).step_by(PIECE) {
        tensor::interrupt::check()?;
        let length = PIECE.min(memory.nbytes() - start);
        let Some(piece) = piece.get_mut(..length) else { bail!(RuntimeError, "a piece of no length") };
        read(piece).map_err(|error| Error::runtime(error.to_string()))?;
        let piece = &*piece;
        parallel::writing(&memory, start..start + length, |bytes: &mut [u8]| bytes.copy_from_slice(piece));
    }
    Ok(())
}
