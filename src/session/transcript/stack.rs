//! Threads with room for deep recursion: a script's call depth is bounded by the session's own limits, and those
//! limits are only an error message instead of an abort if the native stack outlasts them.

use crate::note_stack;
use std::io;
use std::thread::{Builder, JoinHandle};

/// Address space only: pages that are never touched cost no memory.
const STACK_SIZES: [usize; 3] = [1 << 30, 1 << 28, 1 << 26];

/// Runs `body` on a thread of its own with the largest stack the system grants, 1 GB if it can.
///
/// # Errors
/// When no thread can be started at all.
pub fn spawn_with_big_stack<T, F>(name: &str, body: F) -> io::Result<JoinHandle<T>>
where
    T: Send + 'static,
    F: FnOnce() -> T + Clone + Send + 'static,
{
    let mut refused = io::Error::other("no thread could be started");
    for size in STACK_SIZES {
        let thread = Builder::new().name(name.to_owned()).stack_size(size);
        let body = body.clone();
        let noted = move || {
            note_stack(size);
            body()
        };
        match thread.spawn(noted) {
            Ok(handle) => return Ok(handle),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
