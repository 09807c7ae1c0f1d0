//! An operating system, through the standard library or, for what it lacks, `memmap2` and `tempfile`. What Unix and
//! Windows do in different ways has the same names in `unix` and in `windows`.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use super::{Access, Clock, Files, Folders, Machine, OpenFile, PathKind, Status};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
#[cfg(unix)]
use unix as host;
#[cfg(windows)]
use windows as host;

/// The operating system.
pub struct Native;

impl Clock for Native {
    fn elapsed() -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }

    fn since_epoch() -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn sleep(time: Duration) {
        thread::sleep(time);
    }
}

impl Machine for Native {
    const NAME: &str = host::NAME;

    fn memory() -> Option<usize> {
        host::memory()
    }

    fn free_memory() -> Option<usize> {
        host::free_memory()
    }

    fn used_memory() -> Option<(usize, usize)> {
        host::used_memory()
    }

    fn address_limit() -> Option<usize> {
        host::address_limit()
    }

    fn entropy() -> u64 {
        // Every RandomState has new keys, derived from the system's entropy.
        RandomState::new().build_hasher().finish()
    }

    #[inline(always)]
    fn poll_stop_request(_flag: &AtomicBool) {}

    #[inline(always)]
    fn has_room_for_calls(_used: usize) -> bool {
        true
    }

    fn advise_large_pages(start: usize, end: usize) {
        host::advise_large_pages(start, end);
    }

    fn keep_freed_memory() {
        host::keep_freed_memory();
    }

    fn write_error(text: &str) {
        eprint!("{text}");
    }
}

impl Files for Native {
    type File = File;
    type Mapping = host::Map;
    type Temporary = tempfile::TempPath;

    fn open(path: &Path, access: Access) -> io::Result<File> {
        match access {
            Access::Read => File::open(path).map_err(|error| host::open_error(path, error)),
            Access::Change => {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).truncate(false);
                host::open_as_owner(&mut options, path).map_err(|error| host::open_error(path, error))
            }
        }
    }

    fn kind(path: &Path) -> io::Result<PathKind> {
        fs::metadata(path).map(kind)
    }

    fn read(path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path).map_err(|error| host::open_error(path, error))
    }

    fn replace_contents(path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::write(path, bytes)
    }

    fn copy(from: &Path, to: &Path) -> io::Result<()> {
        fs::copy(from, to).map(drop)
    }

    fn remove(path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn names(folder: &Path) -> io::Result<Vec<String>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn full_name(path: &Path) -> PathBuf {
        host::canonical(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
    }

    fn current_folder() -> PathBuf {
        std::env::current_dir().unwrap_or_default()
    }

    fn folders_in(variable: &str) -> Vec<PathBuf> {
        std::env::split_paths(&std::env::var_os(variable).unwrap_or_default()).collect()
    }

    fn temporary(prefix: &str, suffix: &str) -> io::Result<tempfile::TempPath> {
        Ok(tempfile::Builder::new().prefix(prefix).suffix(suffix).tempfile()?.into_temp_path())
    }

    /// Writes the new contents to a file in the same folder, which is renamed when complete.
    fn rewrite<E>(
        path: &Path,
        mode: u32,
        refused: impl Fn(io::Error) -> E,
        write: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), E> {
        // Of a symbolic link, the target is replaced, not the link.
        let path = host::canonical(path).unwrap_or_else(|_| path.to_owned());
        let old = path.metadata().ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            return Err(refused(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tensorsh-");
        let mut new = host::temporary_file(builder, mode, folder).map_err(&refused)?;
        write(new.as_file_mut())?;
        new.flush().map_err(&refused)?;
        if let Some(old) = &old {
            new.as_file().set_permissions(old.permissions()).map_err(&refused)?;
            new.as_file().sync_all().map_err(&refused)?;
        }
        new.persist(&path).map_err(|error| refused(error.error))?;
        if old.is_some() {
            // The rename must reach the disk too; if the folder cannot be opened for that, the error is ignored.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    #[inline]
    fn lost_page() -> bool {
        host::lost_page()
    }
}

impl Folders for Native {
    fn status(path: &Path, of_link: bool) -> io::Result<Status> {
        host::status(path, of_link)
    }

    fn create_folder(path: &Path, mode: u32) -> io::Result<()> {
        host::create_folder(path, mode)
    }

    fn remove_folder(path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn rename(from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn read_link(path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn link(target: &Path, path: &Path) -> io::Result<()> {
        host::link(target, path)
    }

    fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        host::set_mode(path, mode)
    }

    fn set_times(path: &Path, accessed: u64, changed: u64) -> io::Result<()> {
        let time = |nanoseconds| UNIX_EPOCH + Duration::from_nanos(nanoseconds);
        let times = fs::FileTimes::new().set_accessed(time(accessed)).set_modified(time(changed));
        host::open_for_times(path)?.set_times(times)
    }

    fn enter(path: &Path) -> io::Result<()> {
        std::env::set_current_dir(path)
    }

    fn environment() -> Vec<(String, String)> {
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
    }

    fn process() -> u32 {
        std::process::id()
    }
}

impl OpenFile for File {
    fn kind(&self) -> io::Result<PathKind> {
        self.metadata().map(kind)
    }

    fn read_exact_at(&self, into: &mut [u8], position: u64) -> io::Result<()> {
        host::read_exact_at(self, into, position)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        // With the signal ignored, exceeding the limit on file sizes is an error of the call, as in Python, instead of
        // a signal that ends the process.
        host::ignore_file_size_signal();
        File::set_len(self, length)
    }

    fn reserve(&self, from: u64, to: u64) -> io::Result<()> {
        host::reserve(self, from, to)
    }
}

fn kind(metadata: fs::Metadata) -> PathKind {
    match () {
        () if metadata.is_file() => PathKind::File(metadata.len()),
        () if metadata.is_dir() => PathKind::Folder,
        () => PathKind::Other,
    }
}
