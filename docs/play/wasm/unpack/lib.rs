//! Unpacks LZMA for JavaScript (docs/play/unpack.js). The caller writes the packed bytes to the address returned by
//! `room`, calls `begin`, and then reads pieces from the address returned by `piece` until `next` returns 0.

use lzma_rust2::LzmaReader;
use std::cell::RefCell;
use std::io::{Cursor, Read};

/// The maximum number of bytes of a piece.
const PIECE: usize = 1 << 18;

thread_local! {
    static PACKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static UNPACKING: RefCell<Option<LzmaReader<Cursor<Vec<u8>>>>> = const { RefCell::new(None) };
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
    let Ok(reader) = LzmaReader::new_mem_limit(Cursor::new(PACKED.take()), u32::MAX, None) else { return 0 };
    UNPACKING.set(Some(reader));
    GIVEN.set(vec![0; PIECE]);
    1
}

/// Unpacks a piece. Returns its number of bytes: 0 at the end, -1 if the data is corrupt or truncated.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn next() -> i32 {
    let read = |reader: &mut LzmaReader<_>| GIVEN.with_borrow_mut(|given| reader.read(given));
    let read = UNPACKING.with_borrow_mut(|unpacking| unpacking.as_mut().map(read));
    read.and_then(Result::ok).and_then(|nbytes| i32::try_from(nbytes).ok()).unwrap_or(-1)
}

/// Returns the address of the last piece.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn piece() -> *const u8 {
    GIVEN.with_borrow(|given| given.as_ptr())
}
