//! Unix: memory, permissions, and the signals of the system. What only Linux tells is unknown elsewhere.

mod mapping;

use super::super::Status;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(crate) use mapping::{Map, lost_page};
pub(super) use mapping::{advise_large_pages, ignore_file_size_signal, keep_freed_memory, page_size, reserve};

/// The system's name in Python.
pub(super) const NAME: &str = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };

pub(super) fn memory() -> Option<usize> {
    let machine = meminfo(&["MemTotal:", "SwapTotal:"]);
    // A control group may limit the memory to less than the machine's.
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    [machine, group].into_iter().flatten().min()
}

pub(super) fn free_memory() -> Option<usize> {
    meminfo(&["MemAvailable:", "SwapFree:"])
}

pub(super) fn used_memory() -> Option<(usize, usize)> {
    let table = fs::read_to_string("/proc/self/statm").ok()?;
    let bytes = |pages: &str| pages.parse::<usize>().ok().map(|pages| pages.saturating_mul(page_size()));
    let mut pages = table.split(' ').map(bytes);
    Some((pages.next()??, pages.next()??))
}

pub(super) fn address_limit() -> Option<usize> {
    let table = fs::read_to_string("/proc/self/limits").ok()?;
    let row = table.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    row.split_whitespace().next()?.parse().ok()
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

pub(super) fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Returns the error of opening a path, which says what is wrong.
pub(super) fn open_error(_path: &Path, error: io::Error) -> io::Error {
    error
}

/// Opens a file that only its owner may read if it is new.
pub(super) fn open_as_owner(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.mode(0o600).open(path)
}

pub(super) fn temporary_file(
    mut builder: tempfile::Builder,
    mode: u32,
    folder: &Path,
) -> io::Result<tempfile::NamedTempFile> {
    builder.permissions(Permissions::from_mode(mode)).tempfile_in(folder)
}

pub(super) fn status(path: &Path, of_link: bool) -> io::Result<Status> {
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

pub(super) fn create_folder(path: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().mode(mode).create(path)
}

pub(super) fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Opens a file whose times are to be set.
pub(super) fn open_for_times(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(super) fn read_exact_at(file: &File, into: &mut [u8], position: u64) -> io::Result<()> {
    FileExt::read_exact_at(file, into, position)
}
