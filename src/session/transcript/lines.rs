//! The lines of a file, with their positions. Some forms write a line in the file otherwise than it reads.

use std::borrow::Cow;

/// One line of a session, with its place in the file.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    /// The number, from 1.
    pub(super) number: usize,
    /// The byte at which the line starts in the file.
    pub(super) start: usize,
    /// The byte after the line and its line end.
    pub(super) after: usize,
    /// The text as it reads, without the line end.
    pub(super) text: Cow<'a, str>,
    /// The line end; empty for the last line of a file.
    pub(super) end: &'static str,
}

/// How a file writes the text of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// As it reads.
    #[default]
    Plain,
    /// As markup; with `marked`, in the elements that Pygments puts around outputs.
    Html {
        /// Whether the block is highlighted.
        marked: bool,
    },
    /// In a string of Python with these quotes.
    Docstring {
        /// Whether the string is raw.
        raw: bool,
        /// The character of the three quotes.
        quote: char,
    },
}

impl Encoding {
    /// Writes a line of output.
    pub(super) fn encode<'a>(self, line: &'a str) -> Cow<'a, str> {
        match self {
            Encoding::Plain | Encoding::Docstring { raw: true, .. } => Cow::Borrowed(line),
            Encoding::Html { marked } if !line.is_empty() => {
                let text = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                Cow::Owned(match marked {
                    // Pygments replaces quotes too.
                    true => {
                        let text = text.replace('"', "&quot;").replace('\'', "&#39;");
                        format!("<span class=\"go\">{text}</span>")
                    }
                    false => text,
                })
            }
            Encoding::Html { .. } => Cow::Borrowed(line),
            Encoding::Docstring { raw: false, quote } => {
                let quotes: String = [quote; 3].iter().collect();
                let escaped: String = ["\\", &quotes].concat();
                Cow::Owned(line.replace('\\', "\\\\").replace(&quotes, &escaped))
            }
        }
    }
}

/// Returns the lines of a file that writes them as they read.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').enumerate().map(move |(index, whole)| {
        let (text, end) = split_end(whole);
        let line = Line { number: index + 1, start, after: start + whole.len(), text: Cow::Borrowed(text), end };
        start += whole.len();
        line
    })
}

/// Splits a line from its line end.
pub(super) fn split_end(whole: &str) -> (&str, &'static str) {
    match (whole.strip_suffix("\r\n"), whole.strip_suffix('\n')) {
        (Some(text), _) => (text, "\r\n"),
        (None, Some(text)) => (text, "\n"),
        (None, None) => (whole, ""),
    }
}

/// Removes the prefix `indent` from the start of `text`, as far as it matches.
pub(super) fn dedent<'a>(text: &'a str, indent: &str) -> &'a str {
    let shared = text.bytes().zip(indent.bytes()).take_while(|(left, right)| left == right).count();
    text.get(shared..).unwrap_or(text)
}

/// Returns the white space at the start of a line.
pub(super) fn indent_of(text: &str) -> &str {
    let body = text.trim_start_matches([' ', '\t']);
    text.get(..text.len() - body.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_as_their_form_wants() {
        let rows = [
            (Encoding::Plain, "a < b", "a < b"),
            (Encoding::Html { marked: false }, "a < b & c", "a &lt; b &amp; c"),
            (Encoding::Html { marked: true }, "<'x'>", "<span class=\"go\">&lt;&#39;x&#39;&gt;</span>"),
            (Encoding::Html { marked: true }, "", ""),
            (Encoding::Docstring { raw: false, quote: '"' }, "b'\\x00' \"\"\"", "b'\\\\x00' \\\"\"\""),
            (Encoding::Docstring { raw: true, quote: '"' }, "b'\\x00'", "b'\\x00'"),
        ];
        for (encoding, line, wanted) in rows {
            assert_eq!(encoding.encode(line), wanted);
        }
    }
}
