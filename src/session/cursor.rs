//! Finds what is at a position of an unfinished input: a name, a member, an argument of a call, a string. Reads only
//! the text; callers look the names up.

use super::Language;

/// The place of the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor<'a> {
    /// The start of the word before the cursor, in bytes.
    pub start: usize,
    /// The word up to the cursor. Inside a string, the string up to the cursor.
    pub word: &'a str,
    pub place: CursorContext<'a>,
    /// The innermost call with open parentheses.
    pub call: Option<Call<'a>>,
}

/// The role of a word at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CursorContext<'a> {
    /// A variable, a function or a keyword of the language.
    Name,
    /// After a dot, with the names before it. Empty if the text before the dot is not made of names and dots.
    Member(Vec<&'a str>),
    /// Inside a string.
    Text,
    /// Inside a comment.
    Comment,
}

/// A call being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call<'a> {
    /// The path to the function: `torch.zeros` is two names.
    pub callee: Vec<&'a str>,
    /// The number of commas before the cursor.
    pub argument: usize,
    /// The character that ends a keyword's name, if one may be at the cursor.
    pub keyword: Option<&'static str>,
    /// The keyword whose value is at the cursor.
    pub value_of: Option<&'a str>,
}

/// An open bracket.
struct Frame<'a> {
    bracket: char,
    callee: Vec<&'a str>,
    commas: usize,
    /// The start of the current part: after the bracket or the last comma.
    part: usize,
}

impl<'a> Cursor<'a> {
    /// Scans `text` up to the byte `at`.
    pub(crate) fn find(language: Language, text: &'a str, at: usize) -> Cursor<'a> {
        let text = text.get(..at).unwrap_or(text);
        let mut frames: Vec<Frame> = Vec::new();
        let mut rest = text.char_indices().peekable();
        while let Some((here, c)) = rest.next() {
            let tail = &text[here..];
            let skipped = if let Some(length) = string_length(language, tail) {
                match length {
                    Some(length) => length,
                    None => {
                        let start = here + opening(language, tail);
                        return Cursor {
                            start,
                            word: &text[start..],
                            place: CursorContext::Text,
                            call: call(&frames, language, text, None),
                        };
                    }
                }
            } else if let Some(length) = comment_length(language, tail) {
                match length {
                    Some(length) => length,
                    None => return Cursor { start: at, word: "", place: CursorContext::Comment, call: None },
                }
            } else {
                match c {
                    '(' | '[' | '{' => {
                        let callee = if c == '(' { names_before(text, here) } else { Vec::new() };
                        frames.push(Frame { bracket: c, callee, commas: 0, part: here + 1 });
                    }
                    ')' | ']' | '}' => {
                        frames.pop();
                    }
                    ',' => {
                        if let Some(frame) = frames.last_mut() {
                            frame.commas += 1;
                            frame.part = here + 1;
                        }
                    }
                    _ => {}
                }
                continue;
            };
            while rest.next_if(|&(next, _)| next < here + skipped).is_some() {}
        }
        let start = text
            .rfind(|c: char| !is_part_of_name(c))
            .map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
        let word = &text[start..];
        let place = if word.starts_with(|c: char| c.is_ascii_digit()) {
            CursorContext::Comment
        } else if text[..start].trim_end().ends_with('.') && !text[..start].trim_end().ends_with("..") {
            let dot = text[..start].trim_end().len() - 1;
            CursorContext::Member(names_before(text, dot))
        } else {
            CursorContext::Name
        };
        let is_path = |c: char| is_part_of_name(c) || c == '.';
        let begin =
            text.rfind(|c: char| !is_path(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
        let call = call(&frames, language, text, Some(begin).filter(|_| place != CursorContext::Comment));
        Cursor { start, word, place, call }
    }
}

/// Returns the innermost call among the open brackets. `begin` is the start of the name or path at the cursor, if there
/// may be one.
fn call<'a>(frames: &[Frame<'a>], language: Language, text: &'a str, begin: Option<usize>) -> Option<Call<'a>> {
    let depth = frames.iter().rposition(|frame| !frame.callee.is_empty())?;
    let frame = frames.get(depth)?;
    // Keywords are in the call itself or, in Rhai, in an object map: `f(x, #{dtype: int32})`.
    let (place, sign) = match frames.get(depth + 1..) {
        Some([]) => (Some(frame), '='),
        Some([map]) if map.bracket == '{' && language == Language::Rhai => (Some(map), ':'),
        _ => (None, '='),
    };
    let before = place.zip(begin).and_then(|(place, begin)| text.get(place.part..begin)).map(str::trim);
    let keyword = before.filter(|before| before.is_empty()).map(|_| if sign == ':' { ": " } else { "=" });
    let name = before.and_then(|before| before.strip_suffix(sign)).map(str::trim_end);
    let value_of = name.filter(|name| !name.is_empty() && name.chars().all(is_part_of_name));
    Some(Call { callee: frame.callee.clone(), argument: frame.commas, keyword, value_of })
}

/// Returns the names of a dotted path that ends at byte `end`: `a.b` yields both. Empty if other text precedes them.
fn names_before(text: &str, end: usize) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text.get(..end).unwrap_or_default();
    loop {
        let start = rest
            .rfind(|c: char| !is_part_of_name(c))
            .map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
        let name = &rest[start..];
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Vec::new();
        }
        names.push(name);
        match rest[..start].strip_suffix('.') {
            Some(before) => rest = before,
            None => break,
        }
    }
    names.reverse();
    names
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of the quote at the start of a string.
fn opening(language: Language, text: &str) -> usize {
    let triple = language == Language::Python && (text.starts_with("\"\"\"") || text.starts_with("'''"));
    if triple { 3 } else { 1 }
}

/// Returns the length of the string at the start of `text`, if there is one. The inner `None` means it never ends.
pub(crate) fn string_length(language: Language, text: &str) -> Option<Option<usize>> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'') || (*c == '`' && language == Language::Rhai))?;
    let open = opening(language, text);
    let close = &text[..open];
    let mut rest = text[open..].char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '\\' if quote != '`' => {
                rest.next();
            }
            // An unclosed single-line string is an error that ends with the line.
            '\n' if open == 1 && quote != '`' => return Some(Some(open + at)),
            _ if text[open + at..].starts_with(close) => return Some(Some(open + at + open)),
            _ => {}
        }
    }
    Some(None)
}

/// Returns the length of the comment at the start of `text`, if there is one. The inner `None` means it runs to the end
/// of the text.
pub(crate) fn comment_length(language: Language, text: &str) -> Option<Option<usize>> {
    let ends = |mark: &str| text.find(mark).map(|at| at + if mark == "\n" { 0 } else { mark.len() });
    match language {
        Language::Python if text.starts_with('#') => Some(ends("\n")),
        Language::Rhai if text.starts_with("//") => Some(ends("\n")),
        Language::Rhai if text.starts_with("/*") => Some(ends("*/")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Language::{Python, Rhai};
    use super::*;

    /// Returns the cursor at the `|` of a text.
    fn at(language: Language, text: &str) -> Cursor<'static> {
        let at = text.find('|').unwrap();
        let text: &'static str = Box::leak(text.replacen('|', "", 1).into_boxed_str());
        Cursor::find(language, text, at)
    }

    #[test]
    fn words_and_members() {
        let rows: &[(Language, &str, usize, &str, CursorContext)] = &[
            (Rhai, "|", 0, "", CursorContext::Name),
            (Rhai, "tor|", 0, "tor", CursorContext::Name),
            (Rhai, "let x = to|rch", 8, "to", CursorContext::Name),
            (Rhai, "t.|", 2, "", CursorContext::Member(vec!["t"])),
            (Rhai, "1 + torch.linalg.in|", 17, "in", CursorContext::Member(vec!["torch", "linalg"])),
            (Rhai, "t[0].vi|", 5, "vi", CursorContext::Member(vec![])),
            (Rhai, "f(x).|", 5, "", CursorContext::Member(vec![])),
            (Rhai, "0..x|", 3, "x", CursorContext::Name),
            (Rhai, "\"ab/c|", 1, "ab/c", CursorContext::Text),
            (Rhai, "\"a\\\"b|", 1, "a\\\"b", CursorContext::Text),
            (Rhai, "\"a\" + b|", 6, "b", CursorContext::Name),
            (Rhai, "x // y|", 6, "", CursorContext::Comment),
            (Python, "x # y|", 5, "", CursorContext::Comment),
            (Python, "x // y|", 5, "y", CursorContext::Name),
            (Python, "\"\"\"a\"b|", 3, "a\"b", CursorContext::Text),
            (Rhai, "12|", 0, "12", CursorContext::Comment),
            (Rhai, "größe.ta|", 8, "ta", CursorContext::Member(vec!["größe"])),
        ];
        for (language, text, start, word, place) in rows {
            let cursor = at(*language, text);
            assert_eq!((cursor.start, cursor.word, &cursor.place), (*start, *word, place), "{text}");
        }
    }

    #[test]
    fn calls() {
        type Wanted = Option<(&'static [&'static str], usize, Option<&'static str>, Option<&'static str>)>;
        let rows: &[(Language, &str, Wanted)] = &[
            (Rhai, "x|", None),
            (Rhai, "f(|", Some((&["f"], 0, Some("="), None))),
            (Python, "f(|", Some((&["f"], 0, Some("="), None))),
            (Python, "torch.zeros(2, dt|", Some((&["torch", "zeros"], 1, Some("="), None))),
            (Python, "f(1, x + y|", Some((&["f"], 1, None, None))),
            (Python, "f((1, 2), [3, d|", Some((&["f"], 1, None, None))),
            (Python, "f(a)(|", None),
            (Rhai, "f(2, #{dt|", Some((&["f"], 1, Some(": "), None))),
            (Rhai, "f(2, #{dtype: i|", Some((&["f"], 1, None, Some("dtype")))),
            (Rhai, "f(2, #{dtype: int32, re|", Some((&["f"], 1, Some(": "), None))),
            (Rhai, "f(1) + 2|", None),
            (Rhai, "f(g(1), \"a|", Some((&["f"], 1, None, None))),
            (Rhai, "f(2, dtype=|", Some((&["f"], 1, None, Some("dtype")))),
            (Python, "f(2, dtype = torch.fl|", Some((&["f"], 1, None, Some("dtype")))),
            (Python, "f(a == b|", Some((&["f"], 0, None, None))),
            (Python, "f(dtype=g(x|", Some((&["g"], 0, Some("="), None))),
        ];
        for (language, text, wanted) in rows {
            let found = at(*language, text).call;
            let found = found.as_ref().map(|call| (call.callee.as_slice(), call.argument, call.keyword, call.value_of));
            assert_eq!(found, *wanted, "{text}");
        }
    }
}
