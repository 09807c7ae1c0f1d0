//! Unpacks LZMA for the JavaScript around it (docs/play/unpack.js), which writes what is packed where `room` says, calls
//! `begin`, and then reads pieces, each where `piece` says, until `next` has no more.

use lzma_rust2::LzmaReader;
use std::cell::RefCell;
use std::io::{Cursor, Read};

/// The most bytes of one piece.
const PIECE: usize = 1 << 18;

thread_local! {
    static PACKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static UNPACKING: RefCell<Option<LzmaReader<Cursor<Vec<u8>>>>> = const { RefCell::new(None) };
    static GIVEN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The address of `nbytes` bytes to write to.
// SAFETY: no other function has this name, here or below.
#[unsafe(no_mangle)]
pub extern "C" fn room(nbytes: usize) -> *mut u8 {
    PACKED.with_borrow_mut(|packed| {
        packed.resize(nbytes, 0);
        packed.as_mut_ptr()
    })
}

/// Begins with what was written. Returns 1, or 0 if it does not begin as it should.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn begin() -> i32 {
    let Ok(reader) = LzmaReader::new_mem_limit(Cursor::new(PACKED.take()), u32::MAX, None) else { return 0 };
    UNPACKING.set(Some(reader));
    GIVEN.set(vec![0; PIECE]);
    1
}

/// Unpacks a piece. Returns how many bytes it has: 0 at the end, -1 where the data contradicts itself or ends too early.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn next() -> i32 {
    let read = |reader: &mut LzmaReader<_>| GIVEN.with_borrow_mut(|given| reader.read(given));
    let read = UNPACKING.with_borrow_mut(|unpacking| unpacking.as_mut().map(read));
    read.and_then(Result::ok).and_then(|nbytes| i32::try_from(nbytes).ok()).unwrap_or(-1)
}

/// The address of the piece that was unpacked last.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn piece() -> *const u8 {
    GIVEN.with_borrow(|given| given.as_ptr())
}
