//! Whether a source that grows line by line needs another line. A long source is parsed so rarely that the total time
//! stays proportional to its length.

use crate::Language;
use crate::logical::LineScanner;

/// Shorter sources are parsed at every question.
const SHORT: usize = 2048;
/// A long source without an open bracket is parsed at every question, until the total length of what was parsed exceeds
/// its length this many times. Then it must grow first.
const OFTEN: usize = 4;

/// The state of a growing source between two questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Growth {
    scanner: LineScanner,
    /// Follows Python at a prompt for Rhai, which reads both.
    other: Option<LineScanner>,
    /// Whether what a scanner follows was closed since the last parse.
    has_closed: bool,
    /// The length of the source when it was last parsed.
    parsed: usize,
    /// The total length of the sources that were parsed while long.
    spent: usize,
    short: usize,
}

impl Growth {
    pub(super) fn new(language: Language) -> Growth {
        let other = (language == Language::Rhai).then(|| LineScanner::new(Language::Python));
        let scanner = LineScanner::new(language);
        Growth { scanner, other, has_closed: false, parsed: SHORT, spent: 0, short: SHORT }
    }

    /// Reads the next line of the source, given without its line end.
    pub(super) fn line(&mut self, line: &str) {
        for scanner in [&mut self.scanner].into_iter().chain(&mut self.other) {
            let was_open = scanner.is_open();
            scanner.line(line);
            self.has_closed |= was_open && !scanner.is_open();
        }
    }

    /// Returns whether a bracket, a string or a comment is open.
    pub(super) fn is_open(&self) -> bool {
        self.scanner.is_open() || self.other.as_ref().is_some_and(LineScanner::is_open)
    }

    /// Returns whether a string or a comment is open.
    pub(super) fn is_in_text(&self) -> bool {
        self.scanner.is_in_text() || self.other.as_ref().is_some_and(LineScanner::is_in_text)
    }

    /// Returns whether the source, of all lines so far, needs another one. `parse` answers for a source at a cost in
    /// proportion to its length. While a bracket is open, the answer may miss an error before it, until the source is
    /// twice as long as when it was last parsed.
    pub(super) fn is_unfinished(&mut self, source: &str, parse: impl FnOnce(&str) -> bool) -> bool {
        let length = source.len();
        if length >= self.short {
            let may_parse = if self.is_open() && !self.has_closed {
                length >= self.parsed.saturating_mul(2)
            } else {
                self.spent <= length.saturating_mul(OFTEN)
            };
            if !may_parse {
                return true;
            }
            self.spent += length;
            self.parsed = length;
        }
        self.has_closed = false;
        parse(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Completeness, Session, SessionOptions};

    /// Returns the answers for a source after each line, up to the first that no line needs to follow, with the total
    /// length of the sources that were parsed.
    fn answers(session: &Session, language: Language, source: &str, short: usize) -> (Vec<bool>, usize) {
        let mut growth = Growth { short, parsed: short, ..Growth::new(language) };
        let (mut so_far, mut found, mut work) = (String::new(), Vec::new(), 0);
        for line in source.split('\n') {
            so_far.push_str(if found.is_empty() { "" } else { "\n" });
            so_far.push_str(line);
            growth.line(line);
            let is_unfinished = growth.is_unfinished(&so_far, |source| {
                work += source.len();
                session.completeness(language, source) == Completeness::Incomplete
            });
            found.push(is_unfinished);
            if !is_unfinished {
                break;
            }
        }
        (found, work)
    }

    /// Pieces of statements that are whole once their brackets are closed.
    const OPENERS: &[(Language, &str, &str)] = &[
        (Language::Python, "f(", ")"),
        (Language::Python, "[", "]"),
        (Language::Python, "{1: ", "}"),
        (Language::Python, "\"\"\"", "\"\"\""),
        (Language::Python, "r'''", "'''"),
        (Language::Python, "1 + \\\n(", ")"),
        (Language::Rhai, "f(", ")"),
        (Language::Rhai, "#{a: [", "]}"),
        (Language::Rhai, "`", "`"),
        (Language::Rhai, "/* ", " */ 1"),
        (Language::Rhai, "|x| {", "}"),
        // Python at a prompt for Rhai.
        (Language::Rhai, "lambda: \"\"\"", "\"\"\""),
    ];

    #[test]
    fn rare_parsing_answers_like_parsing_at_every_line() {
        let session = Session::new(SessionOptions::default());
        for (language, open, close) in OPENERS {
            for inner in ["1", "'a' ", "\"(\"", "", "# ( it's", "// [ `"] {
                for lines in [0, 1, 3, 40] {
                    let middle = format!("\n{inner}").repeat(lines);
                    let source = format!("x = {open}{middle}\n{close}\ny = 2\nz = 3");
                    let (often, _) = answers(&session, *language, &source, usize::MAX);
                    let (rarely, _) = answers(&session, *language, &source, 0);
                    // An error before an open bracket may be noticed later, but nothing whole may be missed.
                    let is_whole = |count: usize| {
                        let lines: Vec<_> = source.split('\n').take(count).collect();
                        session.completeness(*language, &lines.join("\n")) == Completeness::Complete
                    };
                    let is_late = rarely.len() > often.len() && !is_whole(often.len());
                    assert!(often == rarely || is_late, "{source:?}: {often:?} {rarely:?}");
                }
            }
        }
    }

    #[test]
    fn the_work_grows_with_the_length() {
        let session = Session::new(SessionOptions::default());
        let endless = [
            (Language::Python, "x = \"\"\""),
            (Language::Python, "x = (1 +"),
            (Language::Python, "try:\n    x"),
            (Language::Rhai, "let x = `"),
            (Language::Rhai, "let x = /*"),
            (Language::Rhai, "fn f() {"),
            (Language::Rhai, "let x ="),
            (Language::Rhai, "x = \"\"\""),
        ];
        for (language, start) in endless {
            for line in ["", "1 +"] {
                let source = format!("{start}{}", format!("\n{line}").repeat(2000));
                let (found, work) = answers(&session, language, &source, 64);
                assert!(work < 8 * source.len() + 64 * 64, "{source:.20}: {work} for {}", source.len());
                assert!(line == "1 +" || found.len() > 100, "{source:.20}: {}", found.len());
            }
        }
    }

    #[test]
    fn an_error_before_an_open_bracket_is_noticed_later() {
        let session = Session::new(SessionOptions::default());
        let source = format!("x = = f({}", "\n1,".repeat(100));
        let (often, rarely) = (
            answers(&session, Language::Python, &source, usize::MAX).0,
            answers(&session, Language::Python, &source, 16).0,
        );
        assert_eq!(often, [false]);
        assert!(rarely.len() < 16 && rarely.last() == Some(&false), "{rarely:?}");
    }
}
