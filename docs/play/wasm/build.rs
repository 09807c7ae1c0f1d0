//! Has the linker write the numbers in the program as short as they are, which is what docs/play/split.js expects.

fn main() {
    println!("cargo::rustc-link-arg-cdylib=--compress-relocations");
}
