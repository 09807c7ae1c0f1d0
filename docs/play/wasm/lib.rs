//! The functions that the WebAssembly module exports to JavaScript (docs/play/session.js). A request is written to the
//! address returned by `room` and answered by `answer`; `given` then returns the address of the answer. Files are
//! passed through the same two buffers.
//!
//! An instance has one page. Its calls into JavaScript are in `system::web`, except for events, which are here.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tensorsh::session::note_stack;
use tensorsh::tensor::system::{self, Files, Machine, System};
use tensorsh::web::{self, Page};

mod imports {
    #[link(wasm_import_module = "tensorsh")]
    // SAFETY: session.js provides the function with this type, and reads the text before it returns.
    unsafe extern "C" {
        /// Receives an event, as JSON text.
        pub safe fn event(text: *const u8, nbytes: usize);
    }
}

#[global_allocator]
static MEMORY: system::web::CountingAllocator = system::web::CountingAllocator;

thread_local! {
    static PAGE: RefCell<Page> = RefCell::new(begin());
    /// The bytes that JavaScript has written.
    static TAKEN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The bytes for JavaScript to read.
    static GIVEN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn begin() -> Page {
    std::panic::set_hook(Box::new(|panic| System::write_error(&format!("{panic}\n"))));
    tensorsh::provide_texts();
    Page::new(|event| imports::event(event.as_ptr(), event.len()), Rc::new(Kept))
}

/// Sets the size of the stack in bytes. The engine's own stack use cannot be measured from here, so the size is less
/// than the whole: docs/play/session.js knows how much.
// SAFETY: no other function has this name. The same holds for the names below.
#[unsafe(no_mangle)]
pub extern "C" fn begin_with_stack(nbytes: usize) {
    note_stack(nbytes);
}

/// Returns the address of a buffer of `nbytes` bytes to write to; 0 if there is not enough memory.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn room(nbytes: usize) -> *mut u8 {
    TAKEN.with_borrow_mut(|taken| {
        taken.clear();
        if taken.try_reserve_exact(nbytes).is_err() {
            return std::ptr::null_mut();
        }
        taken.resize(nbytes, 0);
        taken.as_mut_ptr()
    })
}

/// Answers the request in the buffer, and returns the length of the answer.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let request = String::from_utf8_lossy(&TAKEN.take()).into_owned();
    give(PAGE.with_borrow_mut(|page| page.answer(&request)).into_bytes())
}

/// Returns the address of the answer.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn given() -> *const u8 {
    GIVEN.with_borrow(|given| given.as_ptr())
}

/// Stores the buffer as a file: the first `name` bytes are its name. Returns 0 if the name is that of a folder.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn put_file(name: usize) -> usize {
    let mut taken = TAKEN.take();
    let bytes = taken.split_off(name.min(taken.len()));
    usize::from(system::web::keep(&String::from_utf8_lossy(&taken), bytes).is_ok())
}

/// Returns the bytes of the file whose name is in the buffer: their number plus 1, or 0 if there is no such file.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn get_file() -> usize {
    let name = String::from_utf8_lossy(&TAKEN.take()).into_owned();
    System::read(Path::new(&name)).map_or(0, |bytes| give(bytes).saturating_add(1))
}

fn give(bytes: Vec<u8>) -> usize {
    let length = bytes.len();
    GIVEN.set(bytes);
    length
}

/// The files kept by the instance.
struct Kept;

impl web::Files for Kept {
    fn list(&self) -> Vec<(String, usize)> {
        system::web::listed()
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        System::remove(Path::new(name)).map_err(|error| format!("{name}: {error}"))
    }

    /// `stop` need not be set here: reading such a flag asks JavaScript first.
    fn run_in_background(&self, _stop: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String> {
        let folder = Path::new("/tmp/aside");
        system::web::with_folder(folder, || work(folder));
        Ok(())
    }
}
