//! The services of the underlying system: files, mapped and shared memory, the clock, information on memory, standard
//! error. The traits define them; [`native`] implements them with an operating system, `web` with the page that runs
//! the program. All other code uses only the traits. Independent of tensors.
//!
//! Threads are the standard library's: without support, starting one fails, and callers work alone.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
pub mod web;

use std::fmt::Debug;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The system that this build runs on.
#[cfg(not(target_family = "wasm"))]
pub type System = native::Native;
#[cfg(target_family = "wasm")]
pub type System = web::Web;

/// An open file of this system.
pub type File = <System as Files>::File;
/// Mapped or shared memory of this system.
pub type Mapped = <System as Files>::Mapping;
/// A file that is deleted when this is dropped.
pub type Temporary = <System as Files>::Temporary;

/// A text that few sessions read. A program on an operating system embeds it; a page fetches it from its site when it is
/// first read, so that a first visitor does not wait for it. [`part!`](crate::part) makes one.
pub struct Part {
    #[cfg(not(target_family = "wasm"))]
    bytes: &'static [u8],
    /// The path in the folder of parts on the page's site.
    #[cfg(target_family = "wasm")]
    name: &'static str,
}

#[cfg(not(target_family = "wasm"))]
impl Part {
    #[doc(hidden)]
    pub const fn new(bytes: &'static [u8]) -> Part {
        Part { bytes }
    }

    /// # Errors
    /// None: the program has the bytes.
    pub fn bytes(&self) -> io::Result<&'static [u8]> {
        Ok(self.bytes)
    }
}

#[cfg(target_family = "wasm")]
impl Part {
    #[doc(hidden)]
    pub const fn new(name: &'static str) -> Part {
        Part { name }
    }

    /// # Errors
    /// NotFound if the page cannot reach its site; a later call tries again.
    pub fn bytes(&self) -> io::Result<&'static [u8]> {
        web::fetched(self.name)
    }
}

impl Part {
    /// # Errors
    /// NotFound if the page cannot reach its site; a later call tries again. InvalidData if the text is not UTF-8.
    pub fn text(&self) -> io::Result<&'static str> {
        std::str::from_utf8(self.bytes()?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// Makes the [`Part`] with a name on a page's site from the file at a path, relative to the caller's file.
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! part {
    ($name:expr, $path:expr) => {
        $crate::system::Part::new(include_bytes!($path))
    };
}
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! part {
    ($name:expr, $path:expr) => {
        $crate::system::Part::new($name)
    };
}

/// The clock.
pub trait Clock {
    /// Returns the time since some earlier moment. It never decreases.
    fn elapsed() -> Duration;
    /// Returns the time since the beginning of 1970.
    fn since_epoch() -> Duration;
    /// Waits.
    fn sleep(time: Duration);
}

/// A moment of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// Added to every moment, so that moments can be moved into the past.
    const BEFORE: Duration = Duration::from_secs(1 << 40);

    pub fn now() -> Moment {
        Moment(Self::BEFORE + System::elapsed())
    }

    /// Returns the time since this moment.
    pub fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }

    /// Returns the seconds from `other` to this moment.
    pub fn seconds_since(self, other: Moment) -> f64 {
        match self.0.checked_sub(other.0) {
            Some(since) => since.as_secs_f64(),
            None => -(other.0 - self.0).as_secs_f64(),
        }
    }

    /// Returns a moment later or `earlier` by this duration, or `None` if it is out of range.
    pub fn moved(self, by: Duration, earlier: bool) -> Option<Moment> {
        if earlier { self.0.checked_sub(by) } else { self.0.checked_add(by) }.map(Moment)
    }
}

/// The machine and its user.
pub trait Machine {
    /// The system's name in Python.
    const NAME: &str;
    /// Returns the bytes of memory that the machine has for this process, if known.
    fn memory() -> Option<usize>;
    /// Returns the bytes of memory that are free now, if known.
    fn free_memory() -> Option<usize>;
    /// Returns the bytes of address space and of memory that the process uses, if known.
    fn used_memory() -> Option<(usize, usize)>;
    /// Returns the maximum bytes of address space of the process, if limited.
    fn address_limit() -> Option<usize>;
    /// Returns an unpredictable number.
    fn entropy() -> u64;
    /// Sets `flag` if a stop was requested in a way that cannot set it directly. Called often.
    fn poll_stop_request(flag: &AtomicBool);
    /// Returns whether another nested call fits in a call stack that the system keeps in addition to the program's own
    /// stack. `used` is the number of bytes in use on the latter.
    fn has_room_for_calls(used: usize) -> bool;
    /// Requests large pages for an address range of this process. The first touch of a 4 KiB page costs more than
    /// writing it.
    fn advise_large_pages(start: usize, end: usize);
    /// Asks the allocator to keep freed memory for the next allocation, for a program whose loops use temporary memory.
    /// Returning it to the system and getting new pages for it can take longer than the work.
    fn keep_freed_memory();
    /// Writes to standard error or its substitute.
    fn write_error(text: &str);
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    /// For reading and writing; the file is created, accessible only to its owner, if it does not exist.
    Change,
}

/// What kind of object a path refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A file, with its size in bytes.
    File(u64),
    Folder,
    /// A terminal, a pipe, a device.
    Other,
}

/// Files, and memory that belongs to them.
pub trait Files {
    type File: OpenFile;
    type Mapping: Mapping<File = Self::File>;
    type Temporary: AsRef<Path>;

    /// # Errors
    /// The system's errors, as for all functions below.
    fn open(path: &Path, access: Access) -> io::Result<Self::File>;
    fn kind(path: &Path) -> io::Result<PathKind>;
    fn read(path: &Path) -> io::Result<Vec<u8>>;
    /// Replaces a file's contents.
    fn replace_contents(path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn copy(from: &Path, to: &Path) -> io::Result<()>;
    fn remove(path: &Path) -> io::Result<()>;
    /// Returns the names in a folder, in no particular order.
    fn names(folder: &Path) -> io::Result<Vec<String>>;
    /// Returns the canonical name of a file, which need not exist.
    fn full_name(path: &Path) -> PathBuf;
    /// Returns the folder that relative paths refer to.
    fn current_folder() -> PathBuf;
    /// Returns the folders listed in an environment variable.
    fn folders_in(variable: &str) -> Vec<PathBuf>;
    /// Creates an empty file whose name has this prefix and suffix.
    fn temporary(prefix: &str, suffix: &str) -> io::Result<Self::Temporary>;

    /// Replaces the file's contents by the output of `write`, atomically: readers, and anyone after a crash, see the
    /// old contents or the new. A replacement has reached the disk when this returns, and keeps the permissions of the
    /// old file. `mode` is the mode of a new file, before the umask.
    ///
    /// # Errors
    /// `refused` applied to the system's error, or the error of `write`; the old file is then unchanged.
    fn rewrite<E>(
        path: &Path,
        mode: u32,
        refused: impl Fn(io::Error) -> E,
        write: impl FnOnce(&mut Self::File) -> Result<(), E>,
    ) -> Result<(), E>;

    /// Returns whether a page of a mapping was lost since the last call, because its file was truncated. The page then
    /// has zeros.
    fn lost_page() -> bool;
}

/// What the system says of a file or folder, in the fields of `os.stat_result`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Status {
    /// The kind, and the permissions, as in `st_mode`.
    pub mode: u32,
    pub inode: u64,
    pub device: u64,
    pub links: u64,
    pub owner: u32,
    pub group: u32,
    pub size: u64,
    /// The times of the last access, change of contents and change of status, in nanoseconds since 1970.
    pub times: [i64; 3],
}

/// Folders, links and what else `os` asks of a system.
pub trait Folders {
    /// Returns what is known of a path, or of the link that it is.
    ///
    /// # Errors
    /// The system's errors, as for all functions below.
    fn status(path: &Path, of_link: bool) -> io::Result<Status>;
    fn create_folder(path: &Path, mode: u32) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_folder(path: &Path) -> io::Result<()>;
    /// Renames a file or a folder; an old file of the new name is replaced.
    fn rename(from: &Path, to: &Path) -> io::Result<()>;
    fn read_link(path: &Path) -> io::Result<PathBuf>;
    fn link(target: &Path, path: &Path) -> io::Result<()>;
    fn set_mode(path: &Path, mode: u32) -> io::Result<()>;
    /// Sets the times of the last access and change, in nanoseconds since 1970.
    fn set_times(path: &Path, accessed: u64, changed: u64) -> io::Result<()>;
    /// Makes a folder the one that relative paths refer to.
    fn enter(path: &Path) -> io::Result<()>;
    fn environment() -> Vec<(String, String)>;
    fn process() -> u32;
}

/// Returns the system's text for an error, and its number if it has one. A system with other texts and numbers than those of
/// POSIX, or without any, gets POSIX's for the common errors of files.
pub fn describe_error(error: &io::Error) -> (String, Option<i32>) {
    const INVALID: i32 = 22;
    let known = match error.kind() {
        io::ErrorKind::NotFound => Some((2, "No such file or directory")),
        io::ErrorKind::PermissionDenied => Some((13, "Permission denied")),
        io::ErrorKind::NotADirectory => Some((20, "Not a directory")),
        io::ErrorKind::IsADirectory => Some((21, "Is a directory")),
        io::ErrorKind::StorageFull => Some((28, "No space left on device")),
        io::ErrorKind::AlreadyExists => Some((17, "File exists")),
        io::ErrorKind::CrossesDevices => Some((18, "Invalid cross-device link")),
        io::ErrorKind::InvalidFilename => Some((INVALID, "Invalid argument")),
        io::ErrorKind::FileTooLarge => Some((27, "File too large")),
        io::ErrorKind::ReadOnlyFilesystem => Some((30, "Read-only file system")),
        io::ErrorKind::DirectoryNotEmpty => Some((39, "Directory not empty")),
        _ => None,
    };
    let text = || error.to_string().split(" (os error").next().unwrap_or_default().to_owned();
    match (error.raw_os_error(), known) {
        (Some(code), _) if !cfg!(windows) => (text(), Some(code)),
        (_, Some((code, text))) => (text.to_owned(), Some(code)),
        // Numbers of Windows mean something else in Python, which says "invalid argument" of all others.
        (code, None) => (text(), code.map(|_| INVALID)),
    }
}

/// Separates folders by slashes, as Windows allows, so that what names a path is the same on every system and has no backslash
/// that would escape what follows it.
pub fn with_slashes(path: PathBuf) -> PathBuf {
    match path.to_str() {
        Some(text) if cfg!(windows) => text.replace('\\', "/").into(),
        _ => path,
    }
}

/// An open file.
pub trait OpenFile: Read + Write + Seek + Send + Sync + Debug {
    /// # Errors
    /// The system's errors, as for all functions below.
    fn kind(&self) -> io::Result<PathKind>;
    /// Fills `into` from a position, independently of the file's own position.
    fn read_exact_at(&self, into: &mut [u8], position: u64) -> io::Result<()>;
    /// Truncates the file, or extends it with zeros.
    fn set_len(&self, length: u64) -> io::Result<()>;
    /// Allocates space for bytes `from..to` now, if the system can: if the space were missing at a later write to a
    /// mapping, the page would be lost.
    fn reserve(&self, from: u64, to: u64) -> io::Result<()>;
}

/// The system call that failed, and its error.
pub type SystemFailure = (&'static str, io::Error);

/// Memory at a fixed address that maps a file or that other processes can share.
pub trait Mapping: Sized + Debug {
    type File;
    /// Maps the first `nbytes` (at least one) of a file. With `shared`, writes change the file; otherwise they stay
    /// private.
    ///
    /// # Errors
    /// The system's error.
    fn of_file(file: &Self::File, nbytes: usize, shared: bool) -> io::Result<Self>;
    /// Allocates `nbytes` zeroed bytes of unnamed memory that other processes can share.
    ///
    /// # Errors
    /// The system's error, and the call that failed: `open`, `resize`, `reserve` or `mmap`.
    fn shared(nbytes: usize) -> Result<Self, SystemFailure>;
    /// Returns the address of the first byte.
    fn start(&self) -> *mut u8;
    /// Returns whether one of its pages was lost.
    fn has_lost_page(&self) -> bool;
}
