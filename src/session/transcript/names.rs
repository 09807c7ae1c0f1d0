//! The names in a source: those it binds, and all that it mentions. Finds them in the text, so that a source that does
//! not parse has names too.

use crate::logical::{LineScanner, statements};
use crate::{Language, string_length};

/// Returns the words of a source that may be names.
pub(super) fn words(source: &str) -> impl Iterator<Item = &str> {
    source
        .split(|next: char| !(next.is_alphanumeric() || next == '_'))
        .filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}

/// Returns the names that Python code mentions, without attributes, comments and strings. Strings with values in them
/// are code.
pub(super) fn code_words(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '#']) {
        let (before, there) = rest.split_at(at);
        names(before, &mut found);
        let is_formatted = before.ends_with(['f', 'F']);
        let length = match there.starts_with('#') {
            true => there.find('\n').unwrap_or(there.len()),
            false => string_length(Language::Python, there).flatten().unwrap_or(there.len()),
        };
        let (string, after) = there.split_at(length);
        if is_formatted {
            names(string, &mut found);
        }
        rest = after;
    }
    names(rest, &mut found);
    found
}

/// Adds the words of a text that do not follow a dot.
fn names<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    let start = |word: &str| (word.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    found.extend(words(text).filter(|word| !text.get(..start(word)).unwrap_or_default().trim_end().ends_with('.')));
}

/// Returns the names that a source binds: by assignments, imports, definitions, loops and `with`.
pub(super) fn bound(language: Language, source: &str) -> Vec<&str> {
    let mut names = Vec::new();
    match language {
        Language::Python => {
            for range in statements(source) {
                let mut scanner = LineScanner::new(language);
                for line in source.get(range).unwrap_or_default().lines() {
                    // A line inside a string or a bracket binds nothing.
                    if !scanner.is_open() {
                        bound_in_line(line.trim(), &mut names);
                    }
                    scanner.line(line);
                }
            }
        }
        Language::Rhai => source.split(['\n', ';']).for_each(|line| bound_in_line(line.trim(), &mut names)),
    }
    names
}

fn bound_in_line<'a>(line: &'a str, names: &mut Vec<&'a str>) {
    let first_word = |text: &'a str| words(text).next();
    if let Some(rest) = line.strip_prefix("import ") {
        // `import a.b` binds `a`.
        names.extend(rest.split(',').filter_map(|part| first_word(after(part, " as ").unwrap_or(part))));
    } else if let Some((_, rest)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        let parts = rest.trim_matches(['(', ')']).split(',');
        names.extend(parts.filter_map(|part| first_word(after(part, " as ").unwrap_or(part))));
    } else if let Some(rest) = ["def ", "async def ", "class ", "fn "].iter().find_map(|head| line.strip_prefix(head)) {
        names.extend(first_word(rest));
    } else if let Some(rest) = line.strip_prefix("for ") {
        names.extend(rest.split_once(" in ").into_iter().flat_map(|(targets, _)| words(targets)));
    } else if let Some(rest) = line.strip_prefix("with ") {
        names.extend(after(rest, " as ").and_then(first_word));
    } else {
        let line = line.strip_prefix("let ").unwrap_or(line);
        let mut rest = line;
        // All targets of `a = b = 1`, up to the value.
        while let Some(at) = assignment(rest) {
            let target = rest.get(..at).unwrap_or_default();
            if has_call(target) {
                break;
            }
            let target =
                target.split(':').next().unwrap_or(target).trim_end_matches(['+', '-', '*', '/', '@', '|', '&']);
            names.extend(target.split(',').filter_map(|part| {
                let part = part.trim_matches([' ', '(', ')', '[', ']', '*']);
                // `x[0] = 1` and `x.y = 1` change `x`.
                words(part).next()
            }));
            rest = rest.get(at + 1..).unwrap_or_default();
        }
    }
}

/// Returns whether a text calls something, and so is not the target of an assignment.
fn has_call(text: &str) -> bool {
    let mut opened = text.match_indices('(').map(|(at, _)| text.get(..at).unwrap_or_default());
    opened.any(|before| before.ends_with(|last: char| last.is_alphanumeric() || "_])".contains(last)))
}

fn after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.split_once(mark).map(|(_, after)| after)
}

/// Returns the place of the first `=` that assigns: not of `==`, `<=`, or a keyword in a call.
fn assignment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' | b'\'' | b'#' => return None,
            b'=' if depth == 0 => {
                let before = at.checked_sub(1).and_then(|at| bytes.get(at));
                let is_other = bytes.get(at + 1) == Some(&b'=') || matches!(before, Some(b'=' | b'<' | b'>' | b'!'));
                if !is_other {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_source_binds() {
        let rows: &[(&str, &[&str])] = &[
            ("x = 1", &["x"]),
            ("x == 1", &[]),
            ("a, (b, *c) = f(d=1)", &["a", "b", "c"]),
            ("a = b = 1", &["a", "b"]),
            ("x[0] = 1\ny.z += 2", &["x", "y"]),
            ("f(x=1)", &[]),
            ("import a.b, c as d", &["a", "d"]),
            ("from m import (a, b as c)", &["a", "c"]),
            ("def f(x):\n    y = 1\n", &["f", "y"]),
            ("class A(B):\n    pass", &["A"]),
            ("for i, j in x:\n    k = i", &["i", "j", "k"]),
            ("with f() as g:\n    pass", &["g"]),
            ("x: int = 3", &["x"]),
            ("print('a = 1')", &[]),
            ("f(\"\"\"\na = 1\n\"\"\",\nb = 2)", &[]),
        ];
        for (source, wanted) in rows {
            assert_eq!(bound(Language::Python, source), *wanted, "{source}");
        }
        assert_eq!(code_words("a = f(b'x y', f'{c}') # d\n\"\"\"e\nf\"\"\" + g"), ["a", "f", "b", "f", "c", "g"]);
        assert_eq!(code_words("np.take(a, b . c)"), ["np", "a", "b"]);
        assert_eq!(bound(Language::Rhai, "let x = 1; y = 2;\nfn f(a) { a }"), ["x", "y", "f"]);
    }
}
