//! Windows: memory, attributes of files, and mappings. A file that is mapped can neither be truncated nor replaced, so no
//! page is ever lost.

use crate::system::{Mapping, Status, SystemFailure};
use memmap2::{MmapOptions, MmapRaw};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt, symlink_dir, symlink_file};
use std::path::{Path, PathBuf};
use windows_sys::Win32::Foundation::ERROR_HANDLE_EOF;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_READONLY, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_WRITE_ATTRIBUTES,
};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// The system's name in Python.
pub(super) const NAME: &str = "win32";

/// A mapping.
#[derive(Debug)]
pub struct Map(MmapRaw);

impl Mapping for Map {
    type File = File;

    fn of_file(file: &File, nbytes: usize, shared: bool) -> io::Result<Map> {
        let mut options = MmapOptions::new();
        options.len(nbytes);
        Ok(Map(if shared {
            options.map_raw(file)?
        } else {
            // SAFETY: the mapping is only ever reached through its address and cells (`Memory::typed`), so changes of
            // the file by others are no aliasing violation.
            MmapRaw::from(unsafe { options.map_copy(file) }?)
        }))
    }

    /// Memory of the system's page file.
    fn shared(nbytes: usize) -> Result<Map, SystemFailure> {
        let map = MmapOptions::new().len(nbytes.max(1)).map_anon();
        map.map(|map| Map(MmapRaw::from(map))).map_err(|error| ("mmap", error))
    }

    fn start(&self) -> *mut u8 {
        self.0.as_mut_ptr()
    }

    fn has_lost_page(&self) -> bool {
        false
    }
}

#[inline(always)]
pub(super) fn lost_page() -> bool {
    false
}

/// Does nothing: a file gets its space when its length is set.
pub(super) fn reserve(_file: &File, _from: u64, _to: u64) -> io::Result<()> {
    Ok(())
}

/// Does nothing: there is no such signal.
pub(super) fn ignore_file_size_signal() {}

/// Does nothing: large pages need a privilege of the account.
pub(super) fn advise_large_pages(_start: usize, _end: usize) {}

/// Does nothing: the heap has no such setting.
pub(super) fn keep_freed_memory() {}

fn memory_status() -> Option<MEMORYSTATUSEX> {
    let mut status = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
    // SAFETY: the structure is valid and says its own length.
    (unsafe { GlobalMemoryStatusEx(&mut status) } != 0).then_some(status)
}

pub(super) fn memory() -> Option<usize> {
    usize::try_from(memory_status()?.ullTotalPageFile).ok()
}

pub(super) fn free_memory() -> Option<usize> {
    usize::try_from(memory_status()?.ullAvailPageFile).ok()
}

pub(super) fn used_memory() -> Option<(usize, usize)> {
    let length = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    let mut counters = PROCESS_MEMORY_COUNTERS { cb: length, ..Default::default() };
    // SAFETY: the structure is valid and as long as stated; the handle of this process is always valid.
    let known = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &mut counters, length) } != 0;
    known.then_some((counters.PagefileUsage, counters.WorkingSetSize))
}

pub(super) fn address_limit() -> Option<usize> {
    None
}

/// Returns the canonical name as people write it: `C:\\…`, where the system says `\\\\?\\C:\\…`.
pub(super) fn canonical(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// Returns the error of opening a path. The system denies the permission to open a folder, and does not say that it is one.
pub(super) fn open_error(path: &Path, error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::PermissionDenied && path.is_dir() {
        return io::ErrorKind::IsADirectory.into();
    }
    error
}

/// Opens a file. A new one has the permissions of its folder, which a user's own folders keep to their owner.
pub(super) fn open_as_owner(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

pub(super) fn temporary_file(
    builder: tempfile::Builder,
    _mode: u32,
    folder: &Path,
) -> io::Result<tempfile::NamedTempFile> {
    builder.tempfile_in(folder)
}

/// The file types and permissions of `st_mode`.
const FOLDER: u32 = 0o040_777;
const FILE: u32 = 0o100_666;
const LINK: u32 = 0o120_777;
const WRITABLE: u32 = 0o222;
const EXECUTABLE: u32 = 0o111;

/// Returns the mode that Python makes of a file's attributes.
fn mode_of(path: &Path, known: &fs::Metadata) -> u32 {
    if known.file_type().is_symlink() {
        return LINK;
    }
    let attributes = known.file_attributes();
    let mut mode = if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 { FOLDER } else { FILE };
    if attributes & FILE_ATTRIBUTE_READONLY != 0 {
        mode &= !WRITABLE;
    }
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    if ending.is_some_and(|ending| ["exe", "bat", "cmd", "com"].iter().any(|program| ending == *program)) {
        mode |= EXECUTABLE;
    }
    mode
}

pub(super) fn status(path: &Path, of_link: bool) -> io::Result<Status> {
    let known = if of_link { fs::symlink_metadata(path)? } else { fs::metadata(path)? };
    // Only an open file tells its number and its links.
    let link = if of_link { FILE_FLAG_OPEN_REPARSE_POINT } else { 0 };
    let mut options = OpenOptions::new();
    let opened = options.access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | link).open(path);
    let more = opened.and_then(winapi_util::file::information).ok();
    Ok(Status {
        mode: mode_of(path, &known),
        inode: more.as_ref().map_or(0, |more| more.file_index()),
        device: more.as_ref().map_or(0, |more| more.volume_serial_number()),
        links: more.as_ref().map_or(1, |more| more.number_of_links()),
        owner: 0,
        group: 0,
        size: if known.is_dir() { 0 } else { known.len() },
        times: [known.last_access_time(), known.last_write_time(), known.creation_time()].map(since_1970),
    })
}

/// Converts hundreds of nanoseconds since 1601, the system's time.
fn since_1970(time: u64) -> i64 {
    const HUNDREDS_BEFORE_1970: i64 = 116_444_736_000_000_000;
    i64::try_from(time).unwrap_or(i64::MAX).saturating_sub(HUNDREDS_BEFORE_1970).saturating_mul(100)
}

/// Creates a folder with the permissions of the one around it, as Python does.
pub(super) fn create_folder(path: &Path, _mode: u32) -> io::Result<()> {
    DirBuilder::new().create(path)
}

/// Makes a link, of the kind that its target needs.
pub(super) fn link(target: &Path, path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    if folder.join(target).is_dir() { symlink_dir(target, path) } else { symlink_file(target, path) }
}

/// Sets whether the file can be written, the one permission that Python sets here.
pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    const OWNER_WRITES: u32 = 0o200;
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(mode & OWNER_WRITES == 0);
    fs::set_permissions(path, permissions)
}

/// Opens a file or a folder whose times are to be set.
pub(super) fn open_for_times(path: &Path) -> io::Result<File> {
    OpenOptions::new().access_mode(FILE_WRITE_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Fills `into` from a position. The file's own position moves, so no caller may rely on it.
pub(super) fn read_exact_at(file: &File, mut into: &mut [u8], mut position: u64) -> io::Result<()> {
    while !into.is_empty() {
        let count = match file.seek_read(into, position) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.raw_os_error() == Some(ERROR_HANDLE_EOF as i32) => 0,
            result => result?,
        };
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        into = &mut into[count..];
        position += count as u64;
    }
    Ok(())
}
