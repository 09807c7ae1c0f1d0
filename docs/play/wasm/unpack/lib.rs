//! Unpacks the program for JavaScript (docs/play/unpack.js). The caller writes the packed bytes to the address returned by
//! `room`, calls `begin`, and then reads pieces from the address returned by `piece` until `next` returns 0.

mod lzma;
mod merge;

use merge::Module;
use std::cell::RefCell;

/// The number of bytes of a piece, or a little less than that.
const PIECE: usize = 1 << 18;

thread_local! {
    static PACKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static MODULE: RefCell<Option<Module>> = const { RefCell::new(None) };
    static GIVEN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns the address of a buffer of `nbytes` bytes to write to.
// SAFETY: no other function has this name. The same holds for the names below.
#[unsafe(no_mangle)]
pub extern "C" fn room(nbytes: usize) -> *mut u8 {
    PACKED.with_borrow_mut(|packed| {
        packed.resize(nbytes, 0);
        packed.as_mut_ptr()
    })
}

/// Starts unpacking the buffer. Returns 1, or 0 if its header is invalid.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn begin() -> i32 {
    // The instance is for one program.
    let module = Module::new(PACKED.take().leak());
    let begun = i32::from(module.is_some());
    MODULE.set(module);
    begun
}

/// Unpacks a piece. Returns its number of bytes: 0 at the end, -1 if the data is corrupt or truncated.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn next() -> i32 {
    GIVEN.with_borrow_mut(|given| {
        given.clear();
        let read = MODULE.with_borrow_mut(|module| module.as_mut().and_then(|module| module.read(PIECE, given)));
        read.and_then(|()| i32::try_from(given.len()).ok()).unwrap_or(-1)
    })
}

/// Returns the address of the last piece.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn piece() -> *const u8 {
    GIVEN.with_borrow(|given| given.as_ptr())
}
