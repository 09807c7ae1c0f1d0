//! [`Source`]: the bytes of a file, memory-mapped, or bytes in memory in place of a file. Only the parts that a reader
//! requests are ever touched.

use std::io::{self, ErrorKind as Reason, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;
use tensor::bail;
use tensor::memory::Mapped;
use tensor::rehearsal::to_read;
use tensor::system::{Access, File, Files, OpenFile, PathKind, System, describe_error};
use tensor::{Error, ErrorKind, Memory, Result, Storage, parallel};

/// The bytes of one file.
#[derive(Clone, Debug)]
pub struct Source {
    memory: Rc<Memory>,
    /// The path, for a file.
    name: Option<String>,
}

impl Source {
    /// Maps a file copy-on-write: writes to its tensors do not change the file.
    ///
    /// # Errors
    /// Fails with FileNotFoundError, IsADirectoryError, PermissionError or OSError, with Python's messages.
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

    /// Treats bytes in memory, from `start` on, as a file.
    pub fn of_memory(memory: &Rc<Memory>, start: usize) -> Result<Source> {
        let start = start.min(memory.nbytes());
        let rest = Memory::borrow(memory, start, memory.nbytes() - start);
        let rest = rest.ok_or_else(|| Error::runtime("the buffer has changed"))?;
        Ok(Source { memory: Rc::new(rest), name: None })
    }

    /// Returns a part of the file as a separate source. `None` if the file does not have these bytes.
    pub fn part(&self, start: usize, length: usize) -> Option<Source> {
        let part = Memory::borrow(&self.memory, start, length)?;
        Some(Source { memory: Rc::new(part), name: self.name.clone() })
    }

    /// Reads a stream of bytes to its end. `name` is used in messages.
    ///
    /// # Errors
    /// Fails with OSError if they cannot be read, and with RuntimeError if they do not fit into memory.
    pub fn of_reader(mut reader: impl Read, name: &str) -> Result<Source> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| refused(&error, name))?;
        Ok(Source { memory: Rc::new(Memory::from_bytes(&bytes)?), name: Some(name.to_owned()) })
    }

    /// Returns the path, for a file.
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

    /// Returns whether the file begins like a zip archive. PyTorch checks no more than this.
    pub fn is_archive(&self) -> bool {
        self.starts_with(b"PK\x03\x04")
    }

    /// Returns a copy of `length` bytes from `start` on. `None` if the file does not have them.
    pub fn bytes(&self, start: usize, length: usize) -> Option<Vec<u8>> {
        let part = Memory::borrow(&self.memory, start, length)?;
        if length == 0 {
            return Some(Vec::new());
        }
        part.to_vec().ok()
    }

    /// Returns `nbytes` bytes from `start` on as a storage on the file itself. `None` if the file does not have them.
    pub fn storage(&self, start: usize, nbytes: usize) -> Option<Storage> {
        Memory::borrow(&self.memory, start, nbytes).map(Storage::new)
    }

    /// Returns the file, and the offset of the first byte in it.
    pub fn file(&self) -> Option<(&File, usize)> {
        self.memory.file()
    }

    /// Calls `body` with the whole file as a slice, for a reader that parses all of its header.
    ///
    /// # Errors
    /// Fails with RuntimeError for a file that was truncated meanwhile.
    pub fn reading<R>(&self, body: impl FnOnce(&[u8]) -> R + Send) -> Result<R> {
        self.memory.check()?;
        let result = parallel::reading(&self.memory, body).ok_or_else(|| Error::runtime("the file cannot be read"))?;
        self.memory.check()?;
        Ok(result)
    }

    /// Returns a sequential reader.
    pub fn reader(&self) -> Reader {
        Reader { memory: self.memory.clone(), position: 0 }
    }
}

/// Reads a whole file of at most `most` bytes.
///
/// # Errors
/// The errors of [`Source::open`], and MemoryError for a larger file.
pub fn read_whole(name: &str, most: u64) -> Result<Vec<u8>> {
    let there = to_read(name);
    let there = Path::new(&*there);
    if length(System::kind(there), name)? > most {
        return Err(Error::new(ErrorKind::MemoryError, format!("'{name}' cannot be held in memory")));
    }
    System::read(there).map_err(|error| refused(&error, name))
}

/// Replaces the contents of a file.
///
/// # Errors
/// The errors of [`Source::open`].
pub fn write_whole(name: &str, bytes: &[u8]) -> Result<()> {
    let refuse = |error: io::Error| refused(&error, name);
    super::atomic::rewrite(Path::new(name), super::atomic::COMMON, refuse, |file| {
        io::Write::write_all(file, bytes).map_err(|error| refused(&error, name))
    })
}

/// Returns the length of a regular file, and fails for anything else.
fn length(kind: io::Result<PathKind>, name: &str) -> Result<u64> {
    match kind.map_err(|error| refused(&error, name))? {
        PathKind::File(length) => Ok(length),
        PathKind::Folder => {
            Err(Error::new(ErrorKind::IsADirectoryError, format!("[Errno 21] Is a directory: '{name}'")))
        }
        PathKind::Other => Err(Error::new(ErrorKind::OSError, format!("'{name}' is not a regular file"))),
    }
}

/// Converts the error for a file that cannot be opened to Python's.
pub(crate) fn refused(error: &io::Error, name: &str) -> Error {
    let kind = match error.kind() {
        Reason::NotFound => ErrorKind::FileNotFoundError,
        Reason::PermissionDenied => ErrorKind::PermissionError,
        Reason::IsADirectory => ErrorKind::IsADirectoryError,
        _ => ErrorKind::OSError,
    };
    let (text, code) = describe_error(error);
    match code {
        Some(code) => Error::new(kind, format!("[Errno {code}] {text}: '{name}'")),
        None => Error::new(kind, format!("{text}: '{name}'")),
    }
}

/// A sequential reader of a source.
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

/// Fills a whole storage in pieces. Checks for Ctrl-C in between.
///
/// # Errors
/// Fails with the errors of `read`, and with KeyboardInterrupt.
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
