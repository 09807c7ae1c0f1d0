//! Mapped and shared memory, and the handler for the signal sent when a mapped file was truncated: the mapping
//! continues with zeros, and its next use reports the loss.

use crate::system::{Mapping, OpenFile, SystemFailure};
use memmap2::{MmapOptions, MmapRaw};
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};
use std::{io, ptr};

/// A mapping, and its entry in the list that the signal handler reads.
#[derive(Debug)]
pub struct Map {
    map: MmapRaw,
    region: &'static Region,
}

impl Mapping for Map {
    type File = File;

    fn of_file(file: &File, nbytes: usize, shared: bool) -> io::Result<Map> {
        let mut options = MmapOptions::new();
        options.len(nbytes).no_reserve_swap();
        let map = if shared {
            options.map_raw(file)?
        } else {
            // SAFETY: the mapping is only ever reached through its address and cells (`Memory::typed`), so changes of
            // the file by others are no aliasing violation; a file cut short is handled by `on_bus_error`.
            MmapRaw::from(unsafe { options.map_copy(file) }?)
        };
        Ok(Map::new(map))
    }

    /// POSIX shared memory, whose name is removed immediately.
    fn shared(nbytes: usize) -> Result<Map, SystemFailure> {
        let file = unnamed_shared_memory(nbytes)?;
        MmapOptions::new().len(nbytes.max(1)).map_raw(&file).map(Map::new).map_err(|error| ("mmap", error))
    }

    fn start(&self) -> *mut u8 {
        self.map.as_mut_ptr()
    }

    fn has_lost_page(&self) -> bool {
        self.region.lost.load(Ordering::Relaxed)
    }
}

impl Map {
    fn new(map: MmapRaw) -> Map {
        let start = map.as_mut_ptr() as usize;
        let region = Region::claim(start, start.saturating_add(map.len()));
        Map { map, region }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // Released before the addresses are unmapped, so that the handler never touches a later mapping there.
        self.region.release();
    }
}

/// Returns a descriptor of zeroed shared memory without a name.
fn unnamed_shared_memory(nbytes: usize) -> Result<File, SystemFailure> {
    use std::os::fd::FromRawFd;
    static SERIAL: AtomicUsize = AtomicUsize::new(0);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let name = format!("/tensorsh_{}_{serial}\0", std::process::id());
    let name = name.as_ptr().cast();
    // SAFETY: `name` ends in NUL and outlives the calls; the descriptor is owned by the `File` alone.
    let file = unsafe {
        let descriptor = libc::shm_open(name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, 0o600);
        if descriptor < 0 {
            return Err(("open", io::Error::last_os_error()));
        }
        libc::shm_unlink(name);
        File::from_raw_fd(descriptor)
    };
    OpenFile::set_len(&file, nbytes as u64).map_err(|e| ("resize", e))?;
    reserve(&file, 0, nbytes as u64).map_err(|e| ("reserve", e))?;
    Ok(file)
}

/// Allocates space for bytes `from..to` of a file now: if the space were missing at a later write to a mapping, the
/// page would be lost. Does nothing if the file system does not support the request.
///
/// # Errors
/// The system's error, usually a lack of space.
#[cfg(target_os = "linux")]
pub(crate) fn reserve(file: &File, from: u64, to: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let too_large = |_| io::Error::from_raw_os_error(libc::EFBIG);
    let start = libc::off_t::try_from(from).map_err(too_large)?;
    let length = libc::off_t::try_from(to.saturating_sub(from)).map_err(too_large)?;
    if length == 0 {
        return Ok(());
    }
    loop {
        // SAFETY: a plain system call on an open descriptor.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, start, length) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => return Ok(()),
            _ => return Err(error),
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn reserve(_file: &File, _from: u64, _to: u64) -> io::Result<()> {
    Ok(())
}

/// Ignores the signal for the limit on file sizes. Exceeding the limit is then an error of the call, as in Python,
/// instead of a signal that ends the process.
pub(crate) fn ignore_file_size_signal() {
    static ONCE: Once = Once::new();
    // SAFETY: a plain system call.
    ONCE.call_once(|| unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    });
}

/// An address range of a mapping, known to the signal handler. Regions are never freed, only reused.
#[derive(Debug)]
struct Region {
    start: AtomicUsize,
    end: AtomicUsize,
    /// Whether a page could not be read from the file and was replaced by zeros.
    lost: AtomicBool,
    taken: AtomicBool,
    next: *mut Region,
}

// SAFETY: `next` is written before the region is published and never changes; everything else is atomic.
unsafe impl Sync for Region {}

/// The newest region; the others are linked from it.
static REGIONS: AtomicPtr<Region> = AtomicPtr::new(ptr::null_mut());
/// Whether a page was replaced since the last [`lost_page`].
static LOST: AtomicBool = AtomicBool::new(false);
static PAGE: AtomicUsize = AtomicUsize::new(4096);
static FORMER: OnceLock<libc::sigaction> = OnceLock::new();

impl Region {
    fn claim(start: usize, end: usize) -> &'static Region {
        install_handler();
        let mut current = REGIONS.load(Ordering::Acquire);
        // SAFETY: regions are leaked, so every pointer in the list stays valid.
        while let Some(region) = unsafe { current.as_ref() } {
            if region.taken.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                // In this order, the handler never sees a range of another mapping.
                region.lost.store(false, Ordering::Relaxed);
                region.start.store(start, Ordering::Release);
                region.end.store(end, Ordering::Release);
                return region;
            }
            current = region.next;
        }
        let region = Box::leak(Box::new(Region {
            start: AtomicUsize::new(start),
            end: AtomicUsize::new(end),
            lost: AtomicBool::new(false),
            taken: AtomicBool::new(true),
            next: REGIONS.load(Ordering::Acquire),
        }));
        while let Err(newer) = REGIONS.compare_exchange(region.next, region, Ordering::AcqRel, Ordering::Acquire) {
            region.next = newer;
        }
        region
    }

    fn release(&self) {
        self.end.store(0, Ordering::Release);
        self.start.store(0, Ordering::Release);
        self.taken.store(false, Ordering::Release);
    }
}

/// Same as [`Files::lost_page`](crate::system::Files::lost_page).
#[inline]
pub(crate) fn lost_page() -> bool {
    LOST.load(Ordering::Relaxed) && LOST.swap(false, Ordering::AcqRel)
}

/// Returns the bytes of a page: 4096 on x86-64, and up to 65536 on ARM.
pub(crate) fn page_size() -> usize {
    // SAFETY: a plain system call.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

fn install_handler() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        // SAFETY: plain system calls; the handler has the signature for SA_SIGINFO and only calls functions that are
        // allowed in a signal handler.
        unsafe {
            PAGE.store(page_size(), Ordering::Relaxed);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            let mut former: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, &action, &mut former) == 0 {
                // Set once, here.
                let _ = FORMER.set(former);
            }
        }
    });
}

/// Handles SIGBUS, sent when the file of a mapped page was truncated. The rest of the mapping becomes private zeros, so
/// that the interrupted instruction can finish. The loss is recorded for [`lost_page`] and the mapping.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid `info`; regions are leaked; `mmap` with MAP_FIXED replaces only pages of a
    // mapping that is ours and alive, for it is being accessed.
    unsafe {
        let address = (*info).si_addr() as usize;
        let page = address & !(PAGE.load(Ordering::Relaxed) - 1);
        let mut current = REGIONS.load(Ordering::Acquire);
        while let Some(region) = current.as_ref() {
            let (start, end) = (region.start.load(Ordering::Acquire), region.end.load(Ordering::Acquire));
            if start <= address && address < end {
                let rest = libc::mmap(
                    page as *mut libc::c_void,
                    end - page,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
                    -1,
                    0,
                );
                if rest != libc::MAP_FAILED {
                    region.lost.store(true, Ordering::Relaxed);
                    LOST.store(true, Ordering::Release);
                    return;
                }
            }
            current = region.next;
        }
        // Not ours: call the previous handler or, without one, let the system handle the second fault.
        match FORMER.get() {
            Some(former) if former.sa_sigaction != libc::SIG_DFL && former.sa_sigaction != libc::SIG_IGN => {
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(former.sa_sigaction);
                handler(signal, info, context);
            }
            _ => {
                libc::signal(libc::SIGBUS, libc::SIG_DFL);
            }
        }
    }
}

/// Raises the sizes from which the GNU C library returns memory to the system.
pub(crate) fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Bytes of an allocation with pages of its own, which are always returned. More is not accepted.
        const SEPARATE: libc::c_int = 32 << 20;
        /// Free bytes from which memory is returned, as many as are kept for results.
        const RETURNED: libc::c_int = 256 << 20;
        // SAFETY: both calls only set a number.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, SEPARATE);
            libc::mallopt(libc::M_TRIM_THRESHOLD, RETURNED);
        }
    }
}

/// Same as [`Machine::advise_large_pages`](crate::system::Machine::advise_large_pages).
#[cfg(target_os = "linux")]
pub(crate) fn advise_large_pages(start: usize, end: usize) {
    if start < end {
        // SAFETY: advice changes no byte, for any address. If it is ignored, only time is lost.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn advise_large_pages(_start: usize, _end: usize) {}
