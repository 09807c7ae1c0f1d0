//! How an error looks: its kind and message, the line it happened in with a caret below the fault, the calls that led
//! there, and a hint. Gives text; writes nothing.

use owo_colors::{OwoColorize, Style};
use unicode_width::UnicodeWidthChar;

use super::screen::{Screen, Stream};
use crate::session::Failure;

/// How many columns of a long source line are shown before the fault, and how many in all.
const BEFORE: usize = 60;
const SHOWN: usize = 100;

/// The text for `failure`, which happened in `source`. With a `file`, its first line starts `file:line:column: `.
pub fn describe(screen: Screen, failure: &Failure, source: &str, file: Option<&str>) -> String {
    let kind = failure.kind.style(screen.style(Stream::Error, Style::new().red().bold()));
    let dim = screen.style(Stream::Error, Style::new().dimmed());
    let place = match (file, failure.position) {
        (Some(file), Some((line, column))) => format!("{file}:{line}:{column}: "),
        (Some(file), None) => format!("{file}: "),
        (None, _) => String::new(),
    };
    let separator = if failure.message.is_empty() { "" } else { ": " };
    let mut text = format!("{place}{kind}{separator}{}\n", failure.message.trim_end());
    if let Some((excerpt, caret)) = failure.position.and_then(|position| excerpt(source, position)) {
        let mark = screen.style(Stream::Error, Style::new().red());
        text.push_str(&format!("    {excerpt}\n    {caret}{}\n", "^".style(mark)));
    }
    for call in &failure.trace {
        text.push_str(&format!("  {}\n", call.style(dim)));
    }
    if let Some(hint) = &failure.hint {
        text.push_str(&format!("{}\n", format!("hint: {hint}").style(dim)));
    }
    text
}

/// The part of a line around a column, and the spaces that bring a caret below it. Characters that take no column or
/// would move the cursor are shown as `·`.
fn excerpt(source: &str, (line, column): (usize, usize)) -> Option<(String, String)> {
    let line = source.split('\n').nth(line.checked_sub(1)?)?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.trim().is_empty() {
        return None;
    }
    let fault = column.saturating_sub(1);
    let first = fault.min(line.chars().count()).saturating_sub(BEFORE);
    let mut shown = String::new();
    let mut caret = String::new();
    if first > 0 {
        shown.push('…');
        caret.push(' ');
    }
    let mut rest = line.chars().enumerate().skip(first);
    for (index, character) in rest.by_ref().take(SHOWN) {
        let (piece, width) = match character.width() {
            _ if character == '\t' => ("    ".to_owned(), 4),
            None | Some(0) => ("·".to_owned(), 1),
            Some(width) => (character.to_string(), width),
        };
        shown.push_str(&piece);
        if index < fault {
            caret.push_str(&" ".repeat(width));
        }
    }
    if rest.next().is_some() {
        shown.push('…');
    }
    Some((shown, caret))
}

#[cfg(test)]
mod tests {
    use super::super::screen::ColorChoice;
    use super::*;

    fn failure(kind: &str, message: &str, position: Option<(usize, usize)>) -> Failure {
        Failure {
            kind: kind.to_owned(),
            message: message.to_owned(),
            position,
            hint: None,
            trace: Vec::new(),
            interrupted: false,
        }
    }

    #[test]
    fn errors_show_their_place() {
        let plain = Screen::new(ColorChoice::Never);
        let mut error = failure("RuntimeError", "no view\nsecond", Some((2, 5)));
        let source = "let a = 1;\nlet b = 2;";
        assert_eq!(
            describe(plain, &error, source, Some("f.rhai")),
            "f.rhai:2:5: RuntimeError: no view\nsecond\n    let b = 2;\n        ^\n"
        );
        error.position = None;
        error.trace.push("in call to f".to_owned());
        error.hint = Some("use reshape".to_owned());
        assert_eq!(
            describe(plain, &error, source, None),
            "RuntimeError: no view\nsecond\n  in call to f\nhint: use reshape\n"
        );
        assert_eq!(describe(plain, &failure("KeyboardInterrupt", "", None), "", None), "KeyboardInterrupt\n");
        let coloured = Screen::new(ColorChoice::Always);
        assert!(describe(coloured, &error, source, None).contains("\u{1b}[31;1mRuntimeError\u{1b}[0m: no view"));
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
            let found = excerpt(source, position);
            let found = found.as_ref().map(|(shown, caret)| (shown.as_str(), caret.as_str()));
            assert_eq!(found, wanted, "{source:?} {position:?}");
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_fault() {
        let source = format!("{}!{}", "a".repeat(1_000_000), "b".repeat(1_000_000));
        let (shown, caret) = excerpt(&source, (1, 1_000_001)).unwrap();
        assert_eq!(shown.chars().count(), SHOWN + 2);
        assert_eq!(shown.chars().nth(caret.len()), Some('!'));
    }
}
