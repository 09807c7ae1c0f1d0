//! Splits finished text into pieces with roles, so that a terminal can colour them. Uses only the text; concatenated,
//! the pieces equal it.

use tensor::DType;

/// The role of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Spaces, newlines and anything unknown.
    Plain,
    Number,
    /// `True`, `False`, `None`.
    Constant,
    /// A quoted string with its quotes.
    Str,
    /// Brackets, commas, colons.
    Punctuation,
    /// The mark for omitted elements.
    Ellipsis,
    /// `size=`, `dtype=`, `requires_grad=`, including the sign.
    Keyword,
    DType,
    /// Any other word: `tensor`, `torch.Size`, `<MulBackward0>`.
    Name,
    /// The line below a storage.
    Footer,
    /// The class of an error.
    ErrorKind,
    ErrorMessage,
}

/// A text to show, and how to split it.
#[derive(Clone, Copy, Debug)]
pub struct Styled<'a> {
    text: &'a str,
    is_error: bool,
}

impl<'a> Styled<'a> {
    /// The `repr` of a value.
    pub fn value(text: &'a str) -> Styled<'a> {
        Styled { text, is_error: false }
    }

    /// An error as `RuntimeError: message`.
    pub fn error(text: &'a str) -> Styled<'a> {
        Styled { text, is_error: true }
    }

    /// Returns the text without styling.
    pub fn plain(&self) -> &'a str {
        self.text
    }

    /// Returns the pieces in order. None of them is empty.
    pub fn pieces(&self) -> Pieces<'a> {
        Pieces { rest: self.text, at_line_start: true, next: if self.is_error { Next::ErrorKind } else { Next::Value } }
    }
}

/// Iterator over the pieces of a [`Styled`] text.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    rest: &'a str,
    at_line_start: bool,
    next: Next,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Value,
    ErrorKind,
    ErrorMessage,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (Role, &'a str);

    fn next(&mut self) -> Option<(Role, &'a str)> {
        if self.rest.is_empty() {
            return None;
        }
        let (role, length) = match self.next {
            Next::ErrorKind => {
                self.next = Next::ErrorMessage;
                (Role::ErrorKind, self.rest.find([':', '\n']).unwrap_or(self.rest.len()).max(1))
            }
            Next::ErrorMessage => (Role::ErrorMessage, self.rest.len()),
            Next::Value => classify(self.rest, self.at_line_start),
        };
        // An error message may begin with any character. Never split one.
        let length = (length..self.rest.len()).find(|&at| self.rest.is_char_boundary(at)).unwrap_or(self.rest.len());
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.at_line_start = piece.ends_with('\n');
        Some((role, piece))
    }
}

/// Returns the role and the length in bytes of the first piece of `text`, which is not empty.
fn classify(text: &str, at_line_start: bool) -> (Role, usize) {
    let span = |matches: fn(char) -> bool| text.find(|c| !matches(c)).unwrap_or(text.len());
    let first = text.chars().next().unwrap_or(' ');
    if at_line_start && text.starts_with("[torch.storage.") {
        return (Role::Footer, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("...") {
        return (Role::Ellipsis, 3);
    }
    if let Some(length) = number(text) {
        return (Role::Number, length);
    }
    match first {
        '\'' | '"' => (Role::Str, quoted(text, first)),
        '<' => (Role::Name, text.find('>').map_or(text.len(), |end| end + 1)),
        c if c.is_alphabetic() || c == '_' => word(text),
        '[' | ']' | '(' | ')' | '{' | '}' | ',' | ':' | '=' => {
            (Role::Punctuation, span(|c| matches!(c, '[' | ']' | '(' | ')' | '{' | '}' | ',' | ':' | '=')))
        }
        c if c.is_whitespace() => (Role::Plain, span(char::is_whitespace)),
        c => (Role::Plain, c.len_utf8()),
    }
}

/// Returns the length of a number at the start of the text: digits with a point, exponent and `j`, or `nan` and `inf`.
fn number(text: &str) -> Option<usize> {
    let unsigned = text.trim_start_matches(['-', '+']);
    let sign = text.len() - unsigned.len();
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut length = if unsigned.starts_with("nan") || unsigned.starts_with("inf") { 3 } else { digits(unsigned) };
    if length == 0 {
        return None;
    }
    if unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        if unsigned[length..].starts_with('.') && !unsigned[length..].starts_with("...") {
            length += 1;
            length += digits(&unsigned[length..]);
        }
        if let Some(exponent) = unsigned[length..].strip_prefix(['e', 'E']) {
            let power = exponent.trim_start_matches(['-', '+']);
            if digits(power) > 0 {
                length += 1 + (exponent.len() - power.len()) + digits(power);
            }
        }
    }
    if unsigned[length..].starts_with('j') {
        length += 1;
    }
    // `inf` may be the start of a longer word.
    let ends = !unsigned[length..].starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '=');
    ends.then_some(sign + length)
}

/// Returns the length of a quoted string at the start of the text. An unclosed string extends to the end.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn word(text: &str) -> (Role, usize) {
    let length = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(text.len());
    let word = &text[..length];
    let is_dtype = word.strip_prefix("torch.").is_some_and(|name| DType::ALL.iter().any(|dtype| dtype.name() == name));
    match word {
        _ if text[length..].starts_with('=') => (Role::Keyword, length + 1),
        "True" | "False" | "None" => (Role::Constant, length),
        _ if is_dtype => (Role::DType, length),
        _ => (Role::Name, length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: Styled<'_>) -> Vec<(Role, &str)> {
        text.pieces().filter(|(role, _)| *role != Role::Plain).collect()
    }

    #[test]
    fn a_tensor_falls_into_its_parts() {
        use Role::*;
        let text =
            "tensor([[-1.0000e+00,        nan,  ..., 3.],\n        [0.+1.j, inf]], dtype=torch.float64, size=(2,))";
        let want = [
            (Name, "tensor"),
            (Punctuation, "([["),
            (Number, "-1.0000e+00"),
            (Punctuation, ","),
            (Number, "nan"),
            (Punctuation, ","),
            (Ellipsis, "..."),
            (Punctuation, ","),
            (Number, "3."),
            (Punctuation, "],"),
            (Punctuation, "["),
            (Number, "0."),
            (Number, "+1.j"),
            (Punctuation, ","),
            (Number, "inf"),
            (Punctuation, "]],"),
            (Keyword, "dtype="),
            (DType, "torch.float64"),
            (Punctuation, ","),
            (Keyword, "size="),
            (Punctuation, "("),
            (Number, "2"),
            (Punctuation, ",))"),
        ];
        assert_eq!(pieces(Styled::value(text)), want);
    }

    #[test]
    fn storages_strings_and_errors() {
        use Role::*;
        let footer = "[torch.storage.UntypedStorage(device=cpu) of size 1]";
        let storage = format!(" 0\n{footer}");
        assert_eq!(pieces(Styled::value(&storage)), [(Number, "0"), (Footer, footer)]);
        assert_eq!(pieces(Styled::value(r"'it\'s',1")), [(Str, r"'it\'s'"), (Punctuation, ","), (Number, "1")]);
        assert_eq!(pieces(Styled::value("<MulBackward0>None")), [(Name, "<MulBackward0>"), (Constant, "None")]);
        assert_eq!(pieces(Styled::error("KeyError: 1")), [(ErrorKind, "KeyError"), (ErrorMessage, ": 1")]);
    }

    #[test]
    fn the_pieces_are_the_text() {
        for text in [
            "",
            "é…",
            "'open",
            "<open",
            "1e",
            "1...2",
            "-",
            "--5-6",
            "info=3 inf0",
            "\u{301}",
            "[torch.storage.",
            "ä: ü",
        ] {
            for styled in [Styled::value(text), Styled::error(text)] {
                assert_eq!(styled.pieces().map(|(_, piece)| piece).collect::<String>(), text);
                assert!(styled.pieces().all(|(_, piece)| !piece.is_empty()));
                assert_eq!(styled.plain(), text);
            }
        }
    }
}
