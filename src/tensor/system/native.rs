//! An operating system, through the standard library or, for what it lacks, `libc`, `memmap2` and `tempfile`.

mod mapping;

use super::{Access, Clock, Files, Folders, Machine, OpenFile, PathKind, Status};
use mapping::{Map, ignore_file_size_signal, lost_page, reserve};
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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
    const NAME: &str = std::env::consts::OS;

    fn memory() -> Option<usize> {
        let machine = meminfo(&["MemTotal:", "SwapTotal:"]);
        // A control group may limit the memory to less than the machine's.
        let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
        [machine, group].into_iter().flatten().min()
    }

    fn free_memory() -> Option<usize> {
        meminfo(&["MemAvailable:", "SwapFree:"])
    }

    fn used_memory() -> Option<(usize, usize)> {
        let table = fs::read_to_string("/proc/self/statm").ok()?;
        let mut pages =
            table.split(' ').map(|pages| pages.parse::<usize>().ok().map(|pages| pages.saturating_mul(4096)));
        Some((pages.next()??, pages.next()??))
    }

    fn address_limit() -> Option<usize> {
        let table = fs::read_to_string("/proc/self/limits").ok()?;
        let row = table.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        row.split_whitespace().next()?.parse().ok()
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
        mapping::advise_large_pages(start, end);
    }

    fn keep_freed_memory() {
        mapping::keep_freed_memory();
    }

    fn write_error(text: &str) {
        eprint!("{text}");
    }
}

/// Returns the sum of some rows of Linux's memory table.
fn meminfo(rows: &[&str]) -> Option<usize> {
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    rows.iter().try_fold(0usize, |sum, row| {
        let line = table.lines().find(|line| line.starts_with(row))?;
        let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
        sum.checked_add(kilobytes.checked_mul(1024)?)
    })
}

impl Files for Native {
    type File = File;
    type Mapping = Map;
    type Temporary = tempfile::TempPath;

    fn open(path: &Path, access: Access) -> io::Result<File> {
        match access {
            Access::Read => File::open(path),
            Access::Change => {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).truncate(false);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                options.open(path)
            }
        }
    }

    fn kind(path: &Path) -> io::Result<PathKind> {
        fs::metadata(path).map(kind)
    }

    fn read(path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
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
        path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
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
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let old = path.metadata().ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            return Err(refused(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let permissions: Permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        let mut builder = tempfile::Builder::new();
        let mut new = builder.prefix(".tensorsh-").permissions(permissions).tempfile_in(folder).map_err(&refused)?;
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
        lost_page()
    }
}

impl Folders for Native {
    fn status(path: &Path, of_link: bool) -> io::Result<Status> {
        let known = if of_link { fs::symlink_metadata(path)? } else { fs::metadata(path)? };
        let time = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Ok(Status {
            mode: known.mode(),
            inode: known.ino(),
            device: known.dev(),
            links: known.nlink(),
            owner: known.uid(),
            group: known.gid(),
            size: known.len(),
            times: [
                time(known.atime(), known.atime_nsec()),
                time(known.mtime(), known.mtime_nsec()),
                time(known.ctime(), known.ctime_nsec()),
            ],
        })
    }

    fn create_folder(path: &Path, mode: u32) -> io::Result<()> {
        std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), mode).create(path)
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
        std::os::unix::fs::symlink(target, path)
    }

    fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
    }

    fn set_times(path: &Path, accessed: u64, changed: u64) -> io::Result<()> {
        let time = |nanoseconds| UNIX_EPOCH + Duration::from_nanos(nanoseconds);
        let times = fs::FileTimes::new().set_accessed(time(accessed)).set_modified(time(changed));
        File::open(path)?.set_times(times)
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
        std::os::unix::fs::FileExt::read_exact_at(self, into, position)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        // With the signal ignored, exceeding the limit on file sizes is an error of the call, as in Python, instead of
        // a signal that ends the process.
        ignore_file_size_signal();
        File::set_len(self, length)
    }

    fn reserve(&self, from: u64, to: u64) -> io::Result<()> {
        reserve(self, from, to)
    }
}

fn kind(metadata: fs::Metadata) -> PathKind {
    match () {
        () if metadata.is_file() => PathKind::File(metadata.len()),
        () if metadata.is_dir() => PathKind::Folder,
        () => PathKind::Other,
    }
}
