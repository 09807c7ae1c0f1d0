//! Measures how much of its thread's stack a session has used: where functions call functions of a script that call
//! functions, only the stack itself tells how deep that is. It knows no function.

use std::cell::Cell;
use tensor::system::{Machine, System};
use tensor::{Error, ErrorKind, Result};

/// The stack that remains for a call that was let through.
const RESERVE: usize = 1 << 20;
/// The stack assumed for threads whose size is unknown.
const USUAL: usize = 1 << 21;

thread_local! {
    /// The address where the stack was noted, and how much of it calls may use from there on.
    static STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

#[inline]
fn here() -> usize {
    let local = 0u8;
    std::ptr::from_ref(&local) as usize
}

/// Says how large the stack of this thread is.
pub fn note(size: usize) {
    noted(size);
}

#[cold]
fn noted(size: usize) -> (usize, usize) {
    let stack = (here(), size.saturating_sub(RESERVE).max(size / 2));
    STACK.set(Some(stack));
    stack
}

/// Returns whether there is room for another call.
#[inline]
pub fn has_room() -> bool {
    let (start, room) = STACK.get().unwrap_or_else(|| noted(USUAL));
    let used = start.abs_diff(here());
    used < room && System::has_room_for_calls(used)
}

/// Refuses to go deeper when there is no room for it.
///
/// # Errors
/// RecursionError.
pub fn check() -> Result<()> {
    if has_room() { Ok(()) } else { Err(Error::new(ErrorKind::RecursionError, "maximum recursion depth exceeded")) }
}
