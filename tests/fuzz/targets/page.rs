//! Fuzzes pages with recorded sessions, each in all forms, and lessons.

#![no_main]

use libfuzzer_sys::fuzz_target;
use session::lessons;
use tensorsh_fuzz::page;

fuzz_target!(|text: &str| {
    for extension in ["md", "txt", "rst", "py", "html"] {
        page(text, extension);
    }
    let _ = lessons::read("page", "page", text);
});
