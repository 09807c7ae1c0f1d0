//! Keys that are read one by one, and those that wait to be read. The same names for Unix and for Windows.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{Keys, is_typed_ahead};
#[cfg(windows)]
pub(crate) use windows::{Keys, is_typed_ahead};
