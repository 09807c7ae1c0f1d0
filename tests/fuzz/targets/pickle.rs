//! Fuzzes checkpoints by their pickle: bare, or in an archive with right checksums.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensorsh_fuzz::{archive, file};

fuzz_target!(|bytes: &[u8]| {
    file(bytes);
    file(&archive(&[("a/data.pkl", bytes), ("a/byteorder", b"little"), ("a/data/0", &[0; 96])], false));
});
