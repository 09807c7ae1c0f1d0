//! Fuzzes programs in Rhai.

#![no_main]

use libfuzzer_sys::fuzz_target;
use session::Language;
use tensorsh_fuzz::{prepare, program};

fuzz_target!(init: prepare(), |text: &str| program(Language::Rhai, text));
