//! Threads with stacks for deep recursion. A script's call depth is limited by the session, but exceeding the limit is
//! an error message and not an abort only if the native stack is large enough.

use crate::note_stack;
use std::io;
use std::thread::{Builder, JoinHandle};

/// Address space only: untouched pages use no memory.
const STACK_SIZES: [usize; 3] = [1 << 30, 1 << 28, 1 << 26];

/// Runs `body` on a new thread with the largest stack the system grants, up to 1 GB.
///
/// # Errors
/// Fails if no thread can be started.
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
