//! Fuzzes notebooks.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tensorsh_fuzz::page;

fuzz_target!(|text: &str| page(text, "ipynb"));
