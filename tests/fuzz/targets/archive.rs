//! Fuzzes files that consist of others: checkpoints, archives of arrays, and tar archives.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensorsh_fuzz::file;

fuzz_target!(|bytes: &[u8]| file(bytes));
