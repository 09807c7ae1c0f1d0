//! What Python's library has in C, as rows: its modules in Python (`languages/python/library`) are written on these.

pub(super) mod abc;
pub(super) mod json;
pub(super) mod posix;
pub(super) mod random;
pub(super) mod regex;
pub(super) mod structs;
pub(super) mod weak;
