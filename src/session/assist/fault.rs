//! Lays out an error: its kind and message, the source line with a caret below the fault, the calls that led there, and
//! a hint. Returns text; shows nothing.

use unicode_width::UnicodeWidthChar;

use super::marked::{Mark, Marked};
use crate::Failure;

/// The number of columns of a long source line shown before the fault, and the number in all.
const BEFORE: usize = 60;
const SHOWN: usize = 100;

/// Returns the text for `failure`, which happened in `source`. With a `file`, the first line starts with
/// `file:line:column: `.
pub fn describe(failure: &Failure, source: &str, file: Option<&str>) -> Marked {
    // An error in a function of an earlier input does not have a position in this file.
    let file = failure.file.as_deref().or(file);
    let is_in_file = failure.source.is_none() || failure.file.is_some() || failure.lines_above.is_some();
    let here = failure.position.filter(|_| is_in_file);
    let place = match (file, here) {
        (Some(file), Some((line, column))) => {
            format!("{file}:{}:{column}: ", line + failure.lines_above.unwrap_or_default())
        }
        (Some(file), None) => format!("{file}: "),
        (None, _) => String::new(),
    };
    let separator = if failure.message.is_empty() { "" } else { ": " };
    let mut text = Marked::default();
    text.push(Mark::Plain, place);
    text.push(Mark::Kind, &failure.kind);
    text.push(Mark::Plain, format!("{separator}{}\n", failure.message));
    let source = failure.source.as_deref().unwrap_or(source);
    if let Some((excerpt, before, carets)) = failure.position.and_then(|position| excerpt(source, position, failure)) {
        text.push(Mark::Plain, format!("    {excerpt}\n    {before}"));
        text.push(Mark::Caret, carets);
        text.push(Mark::Plain, "\n");
    }
    for call in &failure.trace {
        text.push(Mark::Plain, "  ");
        text.push_remark(call.as_str());
    }
    if let Some(hint) = &failure.hint {
        text.push_remark(format!("hint: {hint}"));
    }
    text
}

/// Returns the text for a note on an input.
pub fn noted(note: &str) -> Marked {
    let mut text = Marked::default();
    text.push_remark(format!("note: {note}"));
    text
}

/// Returns the part of a line around a fault, the spaces before the carets, and the carets. Zero-width and control
/// characters are shown as `·`.
fn excerpt(source: &str, (line, column): (usize, usize), failure: &Failure) -> Option<(String, String, String)> {
    let line = source.split('\n').nth(line.checked_sub(1)?)?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.trim().is_empty() {
        return None;
    }
    let (fault, end) = extent(line, column.saturating_sub(1), missing_attribute(failure));
    let first = fault.min(line.chars().count()).saturating_sub(BEFORE);
    let (mut shown, mut before, mut carets) = (String::new(), String::new(), String::new());
    if first > 0 {
        shown.push('…');
        before.push(' ');
    }
    let mut rest = line.chars().enumerate().skip(first);
    for (index, character) in rest.by_ref().take(SHOWN) {
        let (piece, width) = match character.width() {
            _ if character == '\t' => ("    ".to_owned(), 4),
            None | Some(0) => ("·".to_owned(), 1),
            Some(width) => (character.to_string(), width),
        };
        shown.push_str(&piece);
        match index {
            index if index < fault => before.push_str(&" ".repeat(width)),
            index if index < end => carets.push_str(&"^".repeat(width)),
            _ => {}
        }
    }
    if rest.next().is_some() {
        shown.push('…');
    }
    if carets.is_empty() {
        // The fault is past the end of the line.
        carets.push('^');
    }
    Some((shown, before, carets))
}

/// Returns the name in "… has no attribute 'name'".
fn missing_attribute(failure: &Failure) -> Option<&str> {
    failure.message.lines().next()?.strip_suffix('\'')?.rsplit_once(" has no attribute '").map(|(_, name)| name)
}

/// Returns the characters of a line to mark with carets: the word, number, string or operator at `at`, with the
/// arguments or subscript after a name. A dot marks the name after it. `member` is the name at fault if only the start
/// of the whole expression is known.
fn extent(line: &str, at: usize, member: Option<&str>) -> (usize, usize) {
    let chars: Vec<char> = line.chars().collect();
    let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
    let mut start = at.min(chars.len());
    let word = |from: usize| from + chars.iter().skip(from).take_while(|c| is_part(c)).count();
    if let Some(member) = member.filter(|name| !name.is_empty()) {
        let name: Vec<char> = member.chars().collect();
        let is_here = |from: usize| {
            chars.get(from.wrapping_sub(1)) == Some(&'.')
                && chars.get(from..).is_some_and(|rest| rest.starts_with(&name))
                && word(from) == from + name.len()
        };
        if let Some(found) = (start..chars.len()).find(|&from| is_here(from)) {
            return (found, found + name.len());
        }
    }
    if chars.get(start) == Some(&'.') && chars.get(start + 1).is_some_and(is_part) {
        start += 1;
    }
    let end = match chars.get(start) {
        None => start + 1,
        Some('(' | '[' | '{') => closing(&chars, start),
        Some(&quote @ ('"' | '\'' | '`')) => string_end(&chars, start, quote),
        Some(c) if is_part(c) => {
            let end = word(start);
            if matches!(chars.get(end), Some('(' | '[')) { closing(&chars, end) } else { end }
        }
        Some(_) => {
            let is_sign = |c: &&char| "+-*/%<>=!&|^~@?".contains(**c);
            start + chars.iter().skip(start).take_while(is_sign).count().max(1)
        }
    };
    (start, end)
}

/// Returns the index after the bracket that closes the one at `open`, or the end of the line if there is none.
fn closing(chars: &[char], open: usize) -> usize {
    let mut depth = 0usize;
    let mut at = open;
    while let Some(&c) = chars.get(at) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '"' | '\'' | '`' => at = string_end(chars, at, c) - 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the index after the string that begins at `open`.
fn string_end(chars: &[char], open: usize, quote: char) -> usize {
    let mut at = open + 1;
    while let Some(&c) = chars.get(at) {
        at += if c == '\\' { 2 } else { 1 };
        if c == quote {
            break;
        }
    }
    at.min(chars.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: &str, message: &str, position: Option<(usize, usize)>) -> Failure {
        Failure { kind: kind.to_owned(), message: message.to_owned(), position, ..Failure::default() }
    }

    #[test]
    fn errors_show_their_place() {
        let mut error = failure("RuntimeError", "no view\nsecond", Some((2, 5)));
        let source = "let a = 1;\nlet b = 2;";
        assert_eq!(
            describe(&error, source, Some("f.rhai")).text(),
            "f.rhai:2:5: RuntimeError: no view\nsecond\n    let b = 2;\n        ^\n"
        );
        error.position = None;
        error.trace.push("in call to f".to_owned());
        error.hint = Some("use reshape".to_owned());
        let text = describe(&error, source, None);
        assert_eq!(text.text(), "RuntimeError: no view\nsecond\n  in call to f\nhint: use reshape\n");
        let marked: Vec<_> = text.pieces.iter().filter(|(mark, _)| *mark != Mark::Plain).collect();
        let piece = |mark, text: &str| (mark, text.to_owned());
        assert_eq!(
            marked,
            [
                &piece(Mark::Kind, "RuntimeError"),
                &piece(Mark::Aside, "in call to f"),
                &piece(Mark::Aside, "hint: use reshape")
            ]
        );
        assert_eq!(describe(&failure("KeyboardInterrupt", "", None), "", None).text(), "KeyboardInterrupt\n");
    }

    #[test]
    fn carets_count_columns_of_the_screen() {
        let rows = [
            ("ab", (1, 2), Some(("ab", " "))),
            ("ab", (1, 3), Some(("ab", "  "))),
            ("ab", (1, 9), Some(("ab", "  "))),
            ("\tx\r", (1, 2), Some(("    x", "    "))),
            ("漢x", (1, 2), Some(("漢x", "  "))),
            ("\u{1b}[x", (1, 3), Some(("·[x", "  "))),
            ("ab", (2, 1), None),
            ("ab", (0, 1), None),
            ("ab\n\ncd", (2, 1), None),
        ];
        for (source, position, wanted) in rows {
            let found = excerpt(source, position, &Failure::default());
            let found = found.as_ref().map(|(shown, before, _)| (shown.as_str(), before.as_str()));
            assert_eq!(found, wanted, "{source:?} {position:?}");
        }
    }

    #[test]
    fn carets_stand_below_the_whole_fault() {
        let rows = [
            ("t.view(7) + 1", 3, "view(7)"),
            ("t.view(f(\")\"), 2) + 1", 3, "view(f(\")\"), 2)"),
            ("t.view(7,", 3, "view(7,"),
            ("t.shape", 2, "shape"),
            ("t[5] + 1", 2, "[5]"),
            ("t[5] + 1", 1, "t[5]"),
            ("a <= b", 3, "<="),
            ("1.5 + x", 7, "x"),
            ("'a\\'b' + 1", 1, "'a\\'b'"),
            ("größe.x", 7, "x"),
        ];
        for (line, column, wanted) in rows {
            let (start, end) = extent(line, column - 1, None);
            assert_eq!(line.chars().skip(start).take(end - start).collect::<String>(), wanted, "{line}");
        }
        assert_eq!(extent("t.a.b + t.bc", 0, Some("b")), (4, 5));
        assert_eq!(extent("t", 5, None), (1, 2));
    }

    #[test]
    fn a_long_line_is_cut_around_the_fault() {
        let source = format!("{}!{}", "a".repeat(1_000_000), "b".repeat(1_000_000));
        let (shown, before, _) = excerpt(&source, (1, 1_000_001), &Failure::default()).unwrap();
        assert_eq!(shown.chars().count(), SHOWN + 2);
        assert_eq!(shown.chars().nth(before.len()), Some('!'));
    }
}
