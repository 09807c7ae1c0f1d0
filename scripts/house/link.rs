//! How a release is linked: at a fixed address on Linux, where its libraries and its memory still lie anywhere, and with
//! each function once.
//!
//! The tables of functions hold forty thousand addresses. A program that may lie anywhere writes each of them when it
//! starts, and reads a megabyte of relocations for it: a quarter of its memory then, and some tenths of a millisecond.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=scripts/house/link.rs");
    let is = |name, value| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        // Kernels of several types are the same instructions: 1.2 MB. Only this target's usual linker can do so, and nothing
        // here compares the addresses of functions.
        if is("CARGO_CFG_TARGET_ARCH", "x86_64") {
            println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        }
    }
}
