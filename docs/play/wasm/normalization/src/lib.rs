//! A stand-in for the crate of this name, whose tables contain the decompositions of all characters. Every browser has
//! them too, so JavaScript normalises the names that the Python parser asks for.

mod imports {
    #[link(wasm_import_module = "tensorsh")]
    // SAFETY: docs/play/session.js provides both functions with these types. The first one reads the text before it
    // returns; the second one writes the number of bytes that the first one returned.
    unsafe extern "C" {
        /// Normalises a text, and returns the length of the result.
        pub(super) safe fn normalize(text: *const u8, nbytes: usize) -> usize;
        /// Writes the result.
        pub(super) safe fn take(into: *mut u8);
    }
}

/// The form of a text that Python compares names in.
pub trait UnicodeNormalization {
    /// Returns the characters of the text in form KC.
    fn nfkc(self) -> std::vec::IntoIter<char>;
}

impl UnicodeNormalization for &str {
    fn nfkc(self) -> std::vec::IntoIter<char> {
        let mut bytes = vec![0; imports::normalize(self.as_ptr(), self.len())];
        imports::take(bytes.as_mut_ptr());
        String::from_utf8_lossy(&bytes).chars().collect::<Vec<_>>().into_iter()
    }
}
