//! Ctrl-C, as a flag that is set.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{exit_if_set, listen};
#[cfg(windows)]
pub(crate) use windows::{exit_if_set, listen};
