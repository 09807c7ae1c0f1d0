//! Ctrl-C on Unix is a signal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;
use signal_hook::{SigId, flag, low_level};

/// A flag that Ctrl-C sets.
pub(crate) struct Listening(SigId);

impl Listening {
    pub(crate) fn end(self) {
        low_level::unregister(self.0);
    }
}

/// Sets the flag at every Ctrl-C from now on.
///
/// # Errors
/// The system's error.
pub(crate) fn listen(flag: Arc<AtomicBool>) -> io::Result<Listening> {
    flag::register(SIGINT, flag).map(Listening)
}

/// Ends the program with this status at a Ctrl-C that finds the flag set. Call it before [`listen`].
///
/// # Errors
/// The system's error.
pub(crate) fn exit_if_set(flag: Arc<AtomicBool>, status: i32) -> io::Result<()> {
    flag::register_conditional_shutdown(SIGINT, status, flag).map(drop)
}
