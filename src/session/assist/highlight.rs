//! Splits typed text into words, numbers, strings and comments for highlighting. Does not parse, so unfinished or wrong
//! input works too.

use crate::{Language, comment_length, keywords, string_length};

/// The kind of a piece of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Keyword,
    Constant,
    Number,
    Text,
    Comment,
    Prompt,
    /// The name of a called function.
    Call,
    Plain,
}

impl Piece {
    /// The class name in style sheets.
    pub fn name(self) -> &'static str {
        match self {
            Piece::Keyword => "keyword",
            Piece::Constant => "constant",
            Piece::Number => "number",
            Piece::Text => "text",
            Piece::Comment => "comment",
            Piece::Prompt => "prompt",
            Piece::Call => "call",
            Piece::Plain => "plain",
        }
    }
}

const CONSTANTS: &[&str] = &["true", "false", "True", "False", "None", "inf", "nan"];

/// Splits a text at a prompt for `language` into pieces. Concatenated, they equal the text.
pub fn pieces(language: Language, text: &str) -> Vec<(Piece, &str)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    // Text after `>>> ` is Python at any prompt.
    let mut language = language;
    if let Some(prompt) = [">>> ", "... "].into_iter().find(|prompt| rest.starts_with(prompt)) {
        pieces.push((Piece::Prompt, &rest[..prompt.len()]));
        rest = &rest[prompt.len()..];
        language = Language::Python;
    }
    while let Some(first) = rest.chars().next() {
        let (piece, length) = if let Some(length) = string_length(language, rest) {
            (Piece::Text, length.unwrap_or(rest.len()))
        } else if let Some(length) = comment_length(language, rest) {
            (Piece::Comment, length.unwrap_or(rest.len()))
        } else if first.is_ascii_digit() {
            (Piece::Number, number(rest))
        } else if first.is_alphabetic() || first == '_' {
            word(language, rest)
        } else {
            (Piece::Plain, first.len_utf8())
        };
        let (part, after) = rest.split_at(length);
        pieces.push((piece, part));
        rest = after;
    }
    pieces
}

fn number(text: &str) -> usize {
    let mut length = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let belongs = match c {
            // `1..3` is a range, not a number with two points.
            '.' => !text[at..].starts_with("..") && !text[..at].contains('.'),
            '+' | '-' => matches!(before, 'e' | 'E') && !text.starts_with("0x"),
            c => c.is_ascii_alphanumeric() || c == '_',
        };
        if !belongs {
            break;
        }
        length = at + c.len_utf8();
        before = c;
    }
    length
}

fn word(language: Language, text: &str) -> (Piece, usize) {
    let length = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let word = &text[..length];
    let piece = match word {
        word if keywords(language).contains(&word) => Piece::Keyword,
        word if CONSTANTS.contains(&word) => Piece::Constant,
        _ if text[length..].starts_with('(') => Piece::Call,
        _ => Piece::Plain,
    };
    (piece, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(language: Language, text: &str) -> Vec<(Piece, &str)> {
        pieces(language, text).into_iter().filter(|(piece, _)| *piece != Piece::Plain).collect()
    }

    #[test]
    fn pieces_of_both_languages() {
        use Piece::*;
        type Wanted = &'static [(Piece, &'static str)];
        let rows: &[(Language, &str, Wanted)] = &[
            (
                Language::Rhai,
                "let t = f(1.5, \"a\"); // b",
                &[(Keyword, "let"), (Call, "f"), (Number, "1.5"), (Text, "\"a\""), (Comment, "// b")],
            ),
            (Language::Python, "for i in x: # b", &[(Keyword, "for"), (Keyword, "in"), (Comment, "# b")]),
            (Language::Rhai, "1..3", &[(Number, "1"), (Number, "3")]),
            (Language::Rhai, ">>> not True", &[(Prompt, ">>> "), (Keyword, "not"), (Constant, "True")]),
            (Language::Rhai, "1e-3+x1", &[(Number, "1e-3")]),
            (Language::Rhai, "\"open", &[(Text, "\"open")]),
        ];
        for (language, text, wanted) in rows {
            assert_eq!(marked(*language, text), *wanted, "{text}");
        }
    }

    #[test]
    fn the_pieces_are_the_text() {
        for text in ["", "é…'", "`a\nb", "/* open", "\"\\", "1.2.3", "_", "#{a: 1}", "\u{301}x"] {
            for language in [Language::Python, Language::Rhai] {
                assert_eq!(pieces(language, text).into_iter().map(|(_, part)| part).collect::<String>(), text);
            }
        }
    }
}
