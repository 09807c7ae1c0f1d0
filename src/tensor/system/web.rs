//! The page that runs the program, with files in memory that live as long as the page. Single-threaded. A private mapping is
//! a copy of a file's bytes, and a shared one is those bytes themselves.

use super::{Access, Clock, Files, Folders, Machine, Mapping, OpenFile, PathKind, Status, SystemFailure};
use std::alloc::{self, GlobalAlloc, Layout};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

mod imports {
    #[link(wasm_import_module = "tensorsh")]
    // SAFETY: docs/play/session.js provides these functions with these types; they take numbers, and addresses of texts
    // that they read before they return.
    unsafe extern "C" {
        /// Returns the milliseconds since some earlier moment.
        pub(super) safe fn elapsed() -> f64;
        /// Returns the milliseconds since 1970.
        pub(super) safe fn epoch() -> f64;
        pub(super) safe fn sleep(milliseconds: f64);
        /// Returns a nonzero value if the session should stop its computation.
        pub(super) safe fn stop() -> u32;
        pub(super) safe fn entropy() -> u32;
        /// Returns a nonzero value if the engine's own stack has space for the calls between two checks.
        pub(super) safe fn has_room_for_calls() -> u32;
        pub(super) safe fn complain(text: *const u8, nbytes: usize);
        /// Fetches the part of the program with a name, and returns its length; a negative number if that fails.
        pub(super) safe fn fetch(name: *const u8, nbytes: usize) -> i32;
        /// Writes the part that was fetched last.
        pub(super) safe fn take(into: *mut u8);
    }
}

/// A WebAssembly instance in a page or in node.
pub struct Web;

impl Clock for Web {
    fn elapsed() -> Duration {
        duration(imports::elapsed())
    }

    fn since_epoch() -> Duration {
        duration(imports::epoch())
    }

    fn sleep(time: Duration) {
        imports::sleep(time.as_secs_f64() * 1000.0);
    }
}

fn duration(milliseconds: f64) -> Duration {
    Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default()
}

/// The bytes available to a session. The rest of the 4 GiB of 32-bit addresses is reserved for reporting errors and
/// freeing memory.
const MEMORY: usize = 3 << 30;

/// The standard allocator with a count of the bytes in use. The memory of an instance never shrinks, so its size does
/// not tell.
pub struct CountingAllocator;

/// Bytes in use.
static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged; counting touches no allocated memory.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same, as in all functions below.
        counted(layout.size(), unsafe { alloc::System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        counted(layout.size(), unsafe { alloc::System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = counted(size, unsafe { alloc::System.realloc(start, layout, size) });
        if !moved.is_null() {
            LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        moved
    }

    // SAFETY: as above.
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the memory came from the system's allocator through `alloc`.
        unsafe { alloc::System.dealloc(start, layout) }
    }
}

fn counted(size: usize, start: *mut u8) -> *mut u8 {
    if !start.is_null() {
        LIVE.fetch_add(size, Ordering::Relaxed);
    }
    start
}

impl Machine for Web {
    const NAME: &str = "web";

    fn memory() -> Option<usize> {
        Some(MEMORY)
    }

    fn free_memory() -> Option<usize> {
        Self::used_memory().map(|(used, _)| MEMORY.saturating_sub(used))
    }

    fn used_memory() -> Option<(usize, usize)> {
        let used = LIVE.load(Ordering::Relaxed);
        Some((used, used))
    }

    fn address_limit() -> Option<usize> {
        None
    }

    fn entropy() -> u64 {
        u64::from(imports::entropy()) << 32 | u64::from(imports::entropy())
    }

    /// No signal can arrive while the instance computes, so the page is asked.
    #[inline]
    fn poll_stop_request(flag: &AtomicBool) {
        if imports::stop() != 0 {
            flag.store(true, Ordering::Relaxed);
        }
    }

    fn keep_freed_memory() {}

    fn write_error(text: &str) {
        imports::complain(text.as_ptr(), text.len());
    }

    /// The check takes microseconds, so it is skipped for shallow nesting.
    fn has_room_for_calls(used: usize) -> bool {
        const SHALLOW: usize = 1 << 16;
        used < SHALLOW || imports::has_room_for_calls() != 0
    }

    fn advise_large_pages(_start: usize, _end: usize) {}
}

/// Returns the part of the program with a name. It is fetched once and kept as long as the instance.
pub(super) fn fetched(name: &'static str) -> io::Result<&'static [u8]> {
    static PARTS: Mutex<BTreeMap<&str, &[u8]>> = Mutex::new(BTreeMap::new());
    let mut parts = PARTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(part) = parts.get(name) {
        return Ok(part);
    }
    let length = usize::try_from(imports::fetch(name.as_ptr(), name.len())).map_err(|_| {
        let text = format!("this page could not fetch {name} from its site; try again when the site can be reached");
        io::Error::new(ErrorKind::NotFound, text)
    })?;
    let mut bytes = vec![0; length];
    imports::take(bytes.as_mut_ptr());
    let part: &'static [u8] = bytes.leak();
    parts.insert(name, part);
    Ok(part)
}

type FileContent = Arc<Mutex<Content>>;

/// The bytes of a file. They do not move while they are mapped.
#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// How many shared mappings there are.
    maps: usize,
}

/// All files, by their full names.
static FILES: Mutex<BTreeMap<PathBuf, FileContent>> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, BTreeMap<PathBuf, FileContent>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn locked(content: &FileContent) -> MutexGuard<'_, Content> {
    content.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the names and lengths of all files, sorted.
pub fn listed() -> Vec<(String, usize)> {
    let shown = |name: &Path| name.strip_prefix("/").unwrap_or(name).to_string_lossy().into_owned();
    files().iter().map(|(name, content)| (shown(name), locked(content).bytes.len())).collect()
}

/// Stores bytes as a file. Its folder need not exist; folders are implied by files.
///
/// # Errors
/// IsADirectory if the name is that of a folder.
pub fn keep(name: &str, bytes: Vec<u8>) -> io::Result<()> {
    let path = Path::new(name);
    if let Ok(PathKind::Folder) = Web::kind(path) {
        return Err(io::Error::from(ErrorKind::IsADirectory));
    }
    files().insert(Web::full_name(path), Arc::new(Mutex::new(Content { bytes, maps: 0 })));
    Ok(())
}

/// Calls `work` while a folder of that name exists, then removes the folder with its contents.
pub fn with_folder(folder: &Path, work: impl FnOnce()) {
    let name = Web::full_name(folder);
    files().insert(name.join(EMPTY), FileContent::default());
    work();
    files().retain(|file, _| !file.starts_with(&name));
}

/// An open file. As in an operating system, it keeps its contents when another file takes its name.
#[derive(Debug)]
pub struct File {
    content: FileContent,
    position: u64,
    writable: bool,
}

fn no_room() -> io::Error {
    io::Error::from(ErrorKind::StorageFull)
}

impl File {
    fn of(content: FileContent, writable: bool) -> File {
        File { content, position: 0, writable }
    }

    fn place(&self) -> io::Result<usize> {
        usize::try_from(self.position).map_err(|_| no_room())
    }
}

/// The bytes of a page of memory.
const PAGE: usize = 1 << 16;

/// Extends the contents to at least this length.
///
/// # Errors
/// Unsupported for a mapped file beyond its last page, whose bytes would have to move.
fn extend_to(Content { bytes, maps }: &mut Content, length: usize) -> io::Result<()> {
    if *maps > 0 && length > bytes.capacity() {
        return Err(io::Error::new(
            ErrorKind::Unsupported,
            "in a browser, a file cannot grow so far while it is mapped",
        ));
    }
    let more = length.saturating_sub(bytes.len());
    bytes.try_reserve(more).map_err(|_| no_room())?;
    bytes.resize(bytes.len() + more, 0);
    Ok(())
}

impl Read for File {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let start = self.place()?;
        let count = {
            let content = locked(&self.content);
            let rest = content.bytes.get(start..).unwrap_or_default();
            let count = rest.len().min(into.len());
            into[..count].copy_from_slice(&rest[..count]);
            count
        };
        self.position += count as u64;
        Ok(count)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.writable {
            return Err(io::Error::from(ErrorKind::PermissionDenied));
        }
        let start = self.place()?;
        let end = start.checked_add(bytes.len()).ok_or_else(no_room)?;
        let mut content = locked(&self.content);
        extend_to(&mut content, end)?;
        content.bytes[start..end].copy_from_slice(bytes);
        drop(content);
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(step) => (locked(&self.content).bytes.len() as u64).checked_add_signed(step),
            SeekFrom::Current(step) => self.position.checked_add_signed(step),
        };
        self.position = place.ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?;
        Ok(self.position)
    }
}

impl OpenFile for File {
    fn kind(&self) -> io::Result<PathKind> {
        Ok(PathKind::File(locked(&self.content).bytes.len() as u64))
    }

    fn read_exact_at(&self, into: &mut [u8], position: u64) -> io::Result<()> {
        let content = locked(&self.content);
        let bytes = &content.bytes;
        let part = usize::try_from(position).ok().and_then(|start| bytes.get(start..start.checked_add(into.len())?));
        into.copy_from_slice(part.ok_or_else(|| io::Error::from(ErrorKind::UnexpectedEof))?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(|_| no_room())?;
        let mut content = locked(&self.content);
        content.bytes.truncate(length);
        extend_to(&mut content, length)
    }

    fn reserve(&self, _from: u64, _to: u64) -> io::Result<()> {
        Ok(())
    }
}

/// A temporary file.
pub struct Temporary(PathBuf);

impl AsRef<Path> for Temporary {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        files().remove(&self.0);
    }
}

/// Folders are implied by files. One without files has a file of this name, which no path reaches.
const EMPTY: &str = "..";

impl Folders for Web {
    fn status(path: &Path, _of_link: bool) -> io::Result<Status> {
        let (mode, size) = match Web::kind(path)? {
            PathKind::File(size) => (0o100_644, size),
            PathKind::Folder => (0o040_755, 0),
            PathKind::Other => (0o020_644, 0),
        };
        Ok(Status { mode, size, links: 1, ..Status::default() })
    }

    fn create_folder(path: &Path, _mode: u32) -> io::Result<()> {
        if Web::kind(path).is_ok() {
            return Err(io::Error::from(ErrorKind::AlreadyExists));
        }
        let name = Web::full_name(path);
        match name.parent().map(Web::kind) {
            Some(Ok(PathKind::Folder)) => {}
            Some(Ok(_)) => return Err(io::Error::from(ErrorKind::NotADirectory)),
            Some(Err(error)) => return Err(error),
            None => return Err(io::Error::from(ErrorKind::NotFound)),
        }
        files().insert(name.join(EMPTY), FileContent::default());
        Ok(())
    }

    fn remove_folder(path: &Path) -> io::Result<()> {
        let name = Web::full_name(path);
        match Web::kind(path)? {
            PathKind::Folder => {}
            _ => return Err(io::Error::from(ErrorKind::NotADirectory)),
        }
        let mut files = files();
        let own = name.join(EMPTY);
        if files.keys().any(|file| file.starts_with(&name) && *file != own) {
            return Err(io::Error::from(ErrorKind::DirectoryNotEmpty));
        }
        files.remove(&own);
        Ok(())
    }

    fn rename(from: &Path, to: &Path) -> io::Result<()> {
        Web::kind(from)?;
        let (from, to) = (Web::full_name(from), Web::full_name(to));
        let mut files = files();
        let moved: Vec<PathBuf> = files.keys().filter(|file| file.starts_with(&from)).cloned().collect();
        for old in moved {
            let rest = old.strip_prefix(&from).map(Path::to_owned).unwrap_or_default();
            let new = if rest.as_os_str().is_empty() { to.clone() } else { to.join(rest) };
            if let Some(content) = files.remove(&old) {
                files.insert(new, content);
            }
        }
        Ok(())
    }

    fn read_link(_path: &Path) -> io::Result<PathBuf> {
        Err(io::Error::from(ErrorKind::InvalidInput))
    }

    fn link(_target: &Path, _path: &Path) -> io::Result<()> {
        Err(io::Error::from(ErrorKind::Unsupported))
    }

    fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
        Err(io::Error::from(ErrorKind::Unsupported))
    }

    fn set_times(path: &Path, _accessed: u64, _changed: u64) -> io::Result<()> {
        Web::kind(path).map(drop)
    }

    fn enter(_path: &Path) -> io::Result<()> {
        Err(io::Error::from(ErrorKind::Unsupported))
    }

    fn environment() -> Vec<(String, String)> {
        Vec::new()
    }

    fn process() -> u32 {
        1
    }
}

impl Files for Web {
    type File = File;
    type Mapping = Map;
    type Temporary = Temporary;

    fn open(path: &Path, access: Access) -> io::Result<File> {
        let name = Self::full_name(path);
        match (Self::kind(path), access) {
            (Ok(PathKind::Folder), _) => Err(io::Error::from(ErrorKind::IsADirectory)),
            (Err(error), Access::Read) => Err(error),
            (_, access) => {
                let content = files().entry(name).or_default().clone();
                Ok(File::of(content, access == Access::Change))
            }
        }
    }

    fn kind(path: &Path) -> io::Result<PathKind> {
        let name = Self::full_name(path);
        let files = files();
        if let Some(content) = files.get(&name) {
            return Ok(PathKind::File(locked(content).bytes.len() as u64));
        }
        let is_folder =
            name == Path::new("/") || name == temporary_folder() || files.keys().any(|file| file.starts_with(&name));
        if is_folder { Ok(PathKind::Folder) } else { Err(io::Error::from(ErrorKind::NotFound)) }
    }

    fn read(path: &Path) -> io::Result<Vec<u8>> {
        let file = Self::open(path, Access::Read)?;
        let content = locked(&file.content);
        let mut copy = Vec::new();
        copy.try_reserve_exact(content.bytes.len()).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        copy.extend_from_slice(&content.bytes);
        Ok(copy)
    }

    fn replace_contents(path: &Path, bytes: &[u8]) -> io::Result<()> {
        Self::rewrite(path, 0, |error| error, |file| file.write_all(bytes))
    }

    fn copy(from: &Path, to: &Path) -> io::Result<()> {
        Self::replace_contents(to, &Self::read(from)?)
    }

    fn remove(path: &Path) -> io::Result<()> {
        files().remove(&Self::full_name(path)).map(drop).ok_or_else(|| io::Error::from(ErrorKind::NotFound))
    }

    fn names(folder: &Path) -> io::Result<Vec<String>> {
        let folder = Self::full_name(folder);
        let first = |file: &PathBuf| {
            let rest = file.strip_prefix(&folder).ok()?;
            Some(rest.components().next()?.as_os_str().to_string_lossy().into_owned())
        };
        let mut names: Vec<_> = files().keys().filter_map(first).collect();
        names.dedup();
        names.retain(|name| name != EMPTY);
        Ok(names)
    }

    fn full_name(path: &Path) -> PathBuf {
        let mut name = Self::current_folder();
        for part in path.components() {
            match part {
                Component::Normal(part) => name.push(part),
                Component::ParentDir => drop(name.pop()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        name
    }

    fn current_folder() -> PathBuf {
        PathBuf::from("/")
    }

    fn folders_in(_variable: &str) -> Vec<PathBuf> {
        Vec::new()
    }

    fn temporary(prefix: &str, suffix: &str) -> io::Result<Temporary> {
        static SERIAL: AtomicUsize = AtomicUsize::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = temporary_folder().join(format!("{prefix}{serial:06}{suffix}"));
        Self::replace_contents(&name, &[])?;
        Ok(Temporary(name))
    }

    fn rewrite<E>(
        path: &Path,
        _mode: u32,
        refused: impl Fn(io::Error) -> E,
        write: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), E> {
        let folder = path.parent().unwrap_or(Path::new(""));
        match (Self::kind(path), Self::kind(folder)) {
            (Ok(PathKind::Folder), _) => return Err(refused(io::Error::from(ErrorKind::IsADirectory))),
            (Ok(_), _) | (_, Ok(PathKind::Folder)) => {}
            (_, Ok(_)) => return Err(refused(io::Error::from(ErrorKind::NotADirectory))),
            (_, Err(error)) => return Err(refused(error)),
        }
        let mut new = File::of(FileContent::default(), true);
        write(&mut new)?;
        files().insert(Self::full_name(path), new.content);
        Ok(())
    }

    fn lost_page() -> bool {
        false
    }
}

fn temporary_folder() -> PathBuf {
    PathBuf::from("/tmp")
}

/// Memory of this instance: its own, or the bytes of a file.
#[derive(Debug)]
pub struct Map(Mapped);

#[derive(Debug)]
enum Mapped {
    Own(Box<[Cell<u8>]>),
    Shared(FileContent),
}

impl Map {
    fn zeroed(nbytes: usize) -> io::Result<Map> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(nbytes).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        bytes.resize(nbytes, Cell::new(0));
        Ok(Map(Mapped::Own(bytes.into_boxed_slice())))
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if let Mapped::Shared(content) = &self.0 {
            locked(content).maps -= 1;
        }
    }
}

impl Mapping for Map {
    type File = File;

    fn of_file(file: &File, nbytes: usize, shared: bool) -> io::Result<Map> {
        let mut content = locked(&file.content);
        if content.bytes.len() < nbytes {
            return Err(io::Error::from(ErrorKind::UnexpectedEof));
        }
        if shared {
            if content.maps == 0 {
                // A system maps whole pages: the file may grow to the end of its last one.
                let more = content.bytes.len().next_multiple_of(PAGE) - content.bytes.len();
                content.bytes.try_reserve_exact(more).map_err(|_| no_room())?;
            }
            content.maps += 1;
            return Ok(Map(Mapped::Shared(file.content.clone())));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(nbytes).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        bytes.extend(content.bytes.iter().take(nbytes).copied().map(Cell::new));
        Ok(Map(Mapped::Own(bytes.into_boxed_slice())))
    }

    fn shared(nbytes: usize) -> Result<Map, SystemFailure> {
        Map::zeroed(nbytes).map_err(|error| ("mmap", error))
    }

    fn start(&self) -> *mut u8 {
        match &self.0 {
            Mapped::Own(bytes) => bytes.as_ptr().cast_mut().cast(),
            Mapped::Shared(content) => locked(content).bytes.as_mut_ptr(),
        }
    }

    fn has_lost_page(&self) -> bool {
        false
    }
}
