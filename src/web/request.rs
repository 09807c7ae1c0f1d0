//! What a page asks, read from JSON; and positions in text, which a page counts in units of UTF-16.

use serde_json::Value;
use session::Language;

/// Parses a request, or says in a sentence why it is malformed.
pub(crate) type Read<T> = Result<T, String>;

/// A request that is an object with a field `ask`.
pub(crate) struct Request(Value);

impl Request {
    /// # Errors
    /// The reason why the text is no request; so for all that follow.
    pub(crate) fn read(text: &str) -> Read<Request> {
        serde_json::from_str(text).map(Request).map_err(|error| format!("a request is JSON: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> Read<&str> {
        self.0.get(name).and_then(Value::as_str).ok_or_else(|| format!("a request needs a string \"{name}\""))
    }

    pub(crate) fn number(&self, name: &str) -> Read<usize> {
        let number = self.0.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| format!("this request needs a whole number \"{name}\""))
    }

    pub(crate) fn language(&self) -> Read<Language> {
        match self.text("language")? {
            "python" => Ok(Language::Python),
            "rhai" => Ok(Language::Rhai),
            other => Err(format!("a language is \"python\" or \"rhai\", not \"{other}\"")),
        }
    }

    /// The source, and the byte of it that the request is about.
    pub(crate) fn place(&self) -> Read<(&str, usize)> {
        let source = self.text("source")?;
        Ok((source, byte_at(source, self.number("at")?)))
    }
}

/// The name of a language in requests and answers.
pub(crate) fn named(language: Language) -> &'static str {
    match language {
        Language::Python => "python",
        Language::Rhai => "rhai",
    }
}

/// The byte at a position counted in units of UTF-16; the end of the text for one beyond it.
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

/// The length of a text in units of UTF-16.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The position of a byte of a text, in units of UTF-16.
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
        // Within a pair of units the next character begins.
        assert_eq!(byte_at(text, 4), 10);
    }
}
