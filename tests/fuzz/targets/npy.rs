//! Fuzzes npy files: bare, and as the entries of npz archives.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensorsh_fuzz::{archive, file};

fuzz_target!(|bytes: &[u8]| {
    file(bytes);
    file(&archive(&[("a.npy", bytes)], bytes.len() % 2 > 0));
});
