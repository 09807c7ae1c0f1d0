//! How a release is linked: at a fixed address on Linux, where its libraries and its memory still lie anywhere.
//!
//! The tables of functions hold forty thousand addresses. A program that may lie anywhere writes each of them when it
//! starts, and reads a megabyte of relocations for it: a quarter of its memory then, and some tenths of a millisecond.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=scripts/house/link.rs");
    let is = |name, value| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
