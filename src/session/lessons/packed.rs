//! Links to the page of a browser that hold a session or a lesson, as docs/play/page/link.js reads them: JSON in the
//! format "deflate", and that in the letters that a link may have.

use serde_json::{Value, json};

use super::TranslatedInput;
use super::report::named;
use crate::Language;

/// The end of a link to the page that runs these inputs at its prompt.
pub(super) fn session(inputs: &[TranslatedInput]) -> String {
    let entry = |told: &TranslatedInput| json!({ "language": named(told.language), "source": told.source });
    let entries: Vec<Value> = inputs.iter().map(entry).collect();
    let language = named(inputs.last().map_or(Language::Python, |told| told.language));
    format!("#s={}", packed(&json!({ "language": language, "entries": entries })))
}

/// The end of a link to the page that opens a lesson.
pub(super) fn lesson(name: &str, page: &str) -> String {
    format!("#l={}", packed(&json!({ "name": name, "text": page })))
}

fn packed(value: &Value) -> String {
    in_letters(&stored(value.to_string().as_bytes()))
}

/// Returns the format "deflate" without any compression: links in files may be long.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut pieces = bytes.chunks(usize::from(u16::MAX)).peekable();
    while let Some(piece) = pieces.next() {
        let length = u16::try_from(piece.len()).unwrap_or_default();
        out.push(u8::from(pieces.peek().is_none()));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(piece);
    }
    out
}

/// Returns bytes in base 64, with the letters of addresses and without padding.
fn in_letters(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for piece in bytes.chunks(3) {
        let number =
            (0..3).fold(0usize, |number, i| number << 8 | usize::from(piece.get(i).copied().unwrap_or_default()));
        for i in 0..=piece.len() {
            let letter = LETTERS.get(number >> (18 - 6 * i) & 63).copied().unwrap_or_default();
            out.push(char::from(letter));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_in_letters() {
        let rows: [(&[u8], &str); 5] =
            [(b"", ""), (b"f", "Zg"), (b"fo", "Zm8"), (b"foo", "Zm9v"), (&[0xfb, 0xff, 0xfe, 0xff], "-__-_w")];
        for (bytes, letters) in rows {
            assert_eq!(in_letters(bytes), letters);
        }
        assert_eq!(stored(b"ab"), [1, 2, 0, 0xfd, 0xff, b'a', b'b']);
        let long = stored(&vec![7; 70_000]);
        assert_eq!((long.len(), long[0], long[5 + 65_535]), (70_000 + 10, 0, 1));
    }
}
