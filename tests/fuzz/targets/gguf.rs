//! Fuzzes GGUF files.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensorsh_fuzz::file;

fuzz_target!(|bytes: &[u8]| file(bytes));
