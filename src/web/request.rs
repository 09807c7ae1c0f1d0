//! Requests of a page, read from JSON, and positions in text, which a page counts in UTF-16 units.

use serde_json::Value;
use session::Language;

/// The result of parsing a request; the error is a sentence that says why it is malformed.
pub(crate) type Parsed<T> = Result<T, String>;

/// A request: an object with a field `ask`.
pub(crate) struct Request(Value);

impl Request {
    /// # Errors
    /// Fails with the reason why the text is not a request. The same holds for all methods below.
    pub(crate) fn read(text: &str) -> Parsed<Request> {
        serde_json::from_str(text).map(Request).map_err(|error| format!("a request is JSON: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> Parsed<&str> {
        self.0.get(name).and_then(Value::as_str).ok_or_else(|| format!("a request needs a string \"{name}\""))
    }

    /// Returns the text of a field that may be left out.
    pub(crate) fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub(crate) fn number(&self, name: &str) -> Parsed<usize> {
        let number = self.0.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| format!("this request needs a whole number \"{name}\""))
    }

    /// Returns the width of the column for pictures in pixels, if the request names it.
    pub(crate) fn width(&self) -> Option<f64> {
        self.0.get("width").and_then(Value::as_f64)
    }

    /// Returns a field of any type; `None` if it is absent or null.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn language(&self) -> Parsed<Language> {
        match self.text("language")? {
            "python" => Ok(Language::Python),
            "rhai" => Ok(Language::Rhai),
            other => Err(format!("a language is \"python\" or \"rhai\", not \"{other}\"")),
        }
    }

    /// Returns the source, and the byte in it that the request refers to.
    pub(crate) fn place(&self) -> Parsed<(&str, usize)> {
        let source = self.text("source")?;
        Ok((source, byte_at(source, self.number("at")?)))
    }
}

/// Returns the name of a language in requests and answers.
pub(crate) fn named(language: Language) -> &'static str {
    match language {
        Language::Python => "python",
        Language::Rhai => "rhai",
    }
}

/// Returns the byte at a position in UTF-16 units, or the end of the text for a position beyond it.
fn byte_at(text: &str, units: usize) -> usize {
    let mut seen = 0;
    for (byte, c) in text.char_indices() {
        if seen >= units {
            return byte;
        }
        seen += c.len_utf16();
    }
    text.len()
}

/// Returns the length of a text in UTF-16 units.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the position of a byte in a text, in UTF-16 units.
pub(crate) fn units_before(text: &str, byte: usize) -> usize {
    text.get(..byte).map_or_else(|| units(text), units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_counted_in_units_of_utf16() {
        let text = "aé漢🚀b";
        for (at, byte) in [(0, 0), (1, 1), (2, 3), (3, 6), (5, 10), (6, 11), (9, 11)] {
            assert_eq!(byte_at(text, at), byte, "{at}");
            assert_eq!(units_before(text, byte), at.min(6), "{at}");
        }
        // A position inside a surrogate pair refers to the next character.
        assert_eq!(byte_at(text, 4), 10);
    }
}
