//! Fuzzes models in several files, and checkpoints of several processes, with one file changed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensorsh_fuzz::folder;

fuzz_target!(|bytes: &[u8]| folder(bytes));
