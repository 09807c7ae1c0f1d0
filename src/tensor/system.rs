//! What tensorsh asks of the system beneath it: files, mapped and shared memory, the clock, what memory there is, somewhere
//! to complain. The traits say what; [`native`] asks an operating system, `web` the page that runs the program. Nothing
//! else asks either of them. It knows no tensor.
//!
//! Threads are the standard library's: where there are none, starting one is an error, and callers work alone.

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
/// A file that is gone when this is dropped.
pub type Temporary = <System as Files>::Temporary;

/// The clock.
pub trait Clock {
    /// The time since some moment before; it never goes back.
    fn elapsed() -> Duration;
    /// The time since 1970 began.
    fn since_epoch() -> Duration;
    /// Waits.
    fn sleep(time: Duration);
}

/// A moment of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// What the clock counts from lies so long before, so that moments can be moved back.
    const BEFORE: Duration = Duration::from_secs(1 << 40);

    pub fn now() -> Moment {
        Moment(Self::BEFORE + System::elapsed())
    }

    /// The time since then.
    pub fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }

    /// The seconds from `other` to this one.
    pub fn seconds_since(self, other: Moment) -> f64 {
        match self.0.checked_sub(other.0) {
            Some(since) => since.as_secs_f64(),
            None => -(other.0 - self.0).as_secs_f64(),
        }
    }

    /// A moment so much later or `earlier`, or `None` where the clock does not reach.
    pub fn moved(self, by: Duration, earlier: bool) -> Option<Moment> {
        if earlier { self.0.checked_sub(by) } else { self.0.checked_add(by) }.map(Moment)
    }
}

/// The machine and its user.
pub trait Machine {
    /// Its name, as Python tells it.
    const NAME: &str;
    /// Bytes of memory that the machine has for us, if that is known.
    fn memory() -> Option<usize>;
    /// Bytes of memory that are free now, if that is known.
    fn free_memory() -> Option<usize>;
    /// Bytes of addresses and of memory that the process has, if the system tells.
    fn used_memory() -> Option<(usize, usize)>;
    /// Bytes of addresses that the process may have, if there is a limit.
    fn address_limit() -> Option<usize>;
    /// An unpredictable number.
    fn entropy() -> u64;
    /// Sets `flag` if someone asks for a stop in a way that could not set it by itself. Called often.
    fn heed(flag: &AtomicBool);
    /// Returns whether another call has room where the system keeps calls besides the stack, of which `used` bytes are taken.
    fn has_room_for_calls(used: usize) -> bool;
    /// Asks for large pages beneath addresses that are ours: at its first touch, a page of 4 KiB costs more than writing it.
    fn advise_large_pages(start: usize, end: usize);
    /// Writes to standard error, or what stands for it.
    fn complain(text: &str);
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    /// For reading and writing; created for its owner only if it does not exist.
    Change,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file, with its size in bytes.
    File(u64),
    Folder,
    /// A terminal, a pipe, a device.
    Other,
}

/// Files, and memory that belongs to them.
pub trait Files {
    type File: Opened;
    type Mapping: Mapping<File = Self::File>;
    type Temporary: AsRef<Path>;

    /// # Errors
    /// What the system says. So for all that follow.
    fn open(path: &Path, access: Access) -> io::Result<Self::File>;
    fn kind(path: &Path) -> io::Result<Kind>;
    fn read(path: &Path) -> io::Result<Vec<u8>>;
    /// Writes a file from its beginning, whatever was there.
    fn put(path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn copy(from: &Path, to: &Path) -> io::Result<()>;
    fn remove(path: &Path) -> io::Result<()>;
    /// The names in a folder, in no certain order.
    fn names(folder: &Path) -> io::Result<Vec<String>>;
    /// One name for a file, however it is written; it need not exist.
    fn full_name(path: &Path) -> PathBuf;
    /// The folder that relative names refer to.
    fn current_folder() -> PathBuf;
    /// The folders that an environment variable lists.
    fn folders_in(variable: &str) -> Vec<PathBuf>;
    /// An empty file whose name begins and ends so.
    fn temporary(prefix: &str, suffix: &str) -> io::Result<Self::Temporary>;

    /// Replaces the file's contents by what `write` writes. Whoever reads it, and whatever ends the process
    /// meanwhile, there is the old content or the new one. A file that replaces another has reached the disk by then, and
    /// keeps who may read it; `mode` is that of a new one, before the mask of the process.
    ///
    /// # Errors
    /// `refused` of what the system says, or the error of `write`; the old file is as it was.
    fn rewrite<E>(
        path: &Path,
        mode: u32,
        refused: impl Fn(io::Error) -> E,
        write: impl FnOnce(&mut Self::File) -> Result<(), E>,
    ) -> Result<(), E>;

    /// Returns whether a page of a mapping was lost since this was last asked: its file was cut off, and there are zeros now.
    fn lost_page() -> bool;
}

/// The system's words for an error, and its number where it has one. What is no operating system has neither, but they are known
/// for the errors that files have.
pub fn words(error: &io::Error) -> (String, Option<i32>) {
    let known = match error.kind() {
        io::ErrorKind::NotFound => Some((2, "No such file or directory")),
        io::ErrorKind::PermissionDenied => Some((13, "Permission denied")),
        io::ErrorKind::NotADirectory => Some((20, "Not a directory")),
        io::ErrorKind::IsADirectory => Some((21, "Is a directory")),
        io::ErrorKind::StorageFull => Some((28, "No space left on device")),
        _ => None,
    };
    match (error.raw_os_error(), known) {
        (None, Some((code, text))) => (text.to_owned(), Some(code)),
        (code, _) => (error.to_string().split(" (os error").next().unwrap_or_default().to_owned(), code),
    }
}

/// An open file.
pub trait Opened: Read + Write + Seek + Send + Sync + Debug {
    /// # Errors
    /// What the system says. So for all that follow.
    fn kind(&self) -> io::Result<Kind>;
    /// Fills `into` from a position on, wherever the file's own position is.
    fn read_exact_at(&self, into: &mut [u8], position: u64) -> io::Result<()>;
    /// Cuts the file off, or makes it longer by zeros.
    fn set_len(&self, length: u64) -> io::Result<()>;
    /// Takes the room for bytes `from..to` now, where the system can: a page that cannot be had when it is written to would
    /// be lost.
    fn reserve(&self, from: u64, to: u64) -> io::Result<()>;
}

/// The call of the system that failed, and what it said.
pub type Refused = (&'static str, io::Error);

/// Memory at a fixed address that is a file's, or that other processes can share.
pub trait Mapping: Sized + Debug {
    type File;
    /// The first `nbytes` (at least one) of a file. With `shared`, writes reach the file; without, they stay here.
    ///
    /// # Errors
    /// What the system says.
    fn of_file(file: &Self::File, nbytes: usize, shared: bool) -> io::Result<Self>;
    /// `nbytes` zeroed bytes of memory that other processes can share, and that has no name.
    ///
    /// # Errors
    /// What the system says, and to which call: `open`, `resize`, `reserve` or `mmap`.
    fn shared(nbytes: usize) -> Result<Self, Refused>;
    /// The address of the first byte.
    fn start(&self) -> *mut u8;
    /// Returns whether a page of it was lost.
    fn has_lost_page(&self) -> bool;
}
