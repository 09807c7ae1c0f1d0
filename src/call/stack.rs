//! Measures how much of its thread's stack a session has used. Functions can call functions of a script that call
//! functions, so only the stack itself shows the depth.

use std::cell::Cell;
use tensor::system::{Machine, System};
use tensor::{Error, ErrorKind, Result};

/// The stack, in bytes, that is reserved for the last call.
const RESERVE: usize = 1 << 20;
/// The stack assumed for a thread of unknown size.
const USUAL: usize = 1 << 21;

thread_local! {
    /// The address at which the stack was noted, and the number of bytes that calls may use beyond it.
    static STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

#[inline]
fn here() -> usize {
    let local = 0u8;
    std::ptr::from_ref(&local) as usize
}

/// Sets the stack size of this thread.
pub fn note(size: usize) {
    noted(size);
}

#[cold]
fn noted(size: usize) -> (usize, usize) {
    let stack = (here(), size.saturating_sub(RESERVE).max(size / 2));
    STACK.set(Some(stack));
    stack
}

/// Returns whether the stack has room for another call.
#[inline]
pub fn has_room() -> bool {
    let (start, room) = STACK.get().unwrap_or_else(|| noted(USUAL));
    let used = start.abs_diff(here());
    used < room && System::has_room_for_calls(used)
}

/// Checks that the stack has room for another call.
///
/// # Errors
/// RecursionError if it does not.
pub fn check() -> Result<()> {
    if has_room() { Ok(()) } else { Err(Error::new(ErrorKind::RecursionError, "maximum recursion depth exceeded")) }
}
