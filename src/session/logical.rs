//! Follows brackets, strings and comments line by line, without parsing. Finds where an input may end, in time
//! proportional to its length.

use std::ops::Range;

use super::Language;

/// What a scanner is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    /// An open bracket, by the bracket that closes it.
    Bracket(char),
    /// `${` in a Rhai template. Closed by `}`.
    Interpolation,
    /// A string that may continue on the next line: three quotes, a Rhai template, or one quote after a backslash.
    Text { quote: char, triple: bool },
    /// A Rhai comment `/* … */`.
    Comment,
}

/// Reads an input line by line. Tells whether the lines so far surely need another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineScanner {
    language: Language,
    open: Vec<Context>,
    /// Whether the last line ended in a backslash that joins it to the next.
    is_joined: bool,
    /// Whether a bracket was closed by another kind. Only the parser can say what follows.
    is_faulty: bool,
    /// The byte in the last line at which a comment begins that ends with the line.
    comment: Option<usize>,
}

impl LineScanner {
    pub(crate) fn new(language: Language) -> LineScanner {
        LineScanner { language, open: Vec::new(), is_joined: false, is_faulty: false, comment: None }
    }

    /// Returns the byte in the last line at which its comment begins.
    pub(crate) fn comment(&self) -> Option<usize> {
        self.comment
    }

    /// Reads a whole source.
    pub(crate) fn of(language: Language, source: &str) -> LineScanner {
        let mut scanner = LineScanner::new(language);
        source.split('\n').for_each(|line| scanner.line(line));
        scanner
    }

    /// Returns whether a bracket, a string or a comment is open, or the last line continues after a backslash.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_faulty && (self.is_joined || !self.open.is_empty())
    }

    /// Returns whether a bracket was closed by another kind. What follows is then unknown.
    pub(crate) fn is_faulty(&self) -> bool {
        self.is_faulty
    }

    /// Returns whether a string or a comment is open, in which any line may follow.
    pub(crate) fn is_in_text(&self) -> bool {
        !self.is_faulty && matches!(self.open.last(), Some(Context::Text { .. } | Context::Comment))
    }

    /// Reads a line, given without its line end.
    pub(crate) fn line(&mut self, line: &str) {
        self.is_joined = false;
        self.comment = None;
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let length = match self.open.last() {
                Some(&Context::Text { quote, triple }) => self.text(rest, quote, triple),
                Some(Context::Comment) => self.block_comment(rest),
                _ => {
                    if first == '#' && self.language == Language::Python {
                        self.comment = Some(line.len() - rest.len());
                    }
                    self.code(rest, first)
                }
            };
            rest = rest.get(length..).unwrap_or_default();
        }
        // A string in single quotes ends with its line, unless a backslash joins it to the next.
        if let Some(Context::Text { quote: '"' | '\'', triple: false }) = self.open.last()
            && !self.is_joined
        {
            self.open.pop();
        }
    }

    /// Reads within a string. Returns the number of bytes read.
    fn text(&mut self, rest: &str, quote: char, triple: bool) -> usize {
        let is_template = quote == '`';
        let stop = |c: char| c == quote || (c == '\\' && !is_template) || (c == '$' && is_template);
        let Some(at) = rest.find(stop) else { return rest.len() };
        let there = rest.get(at..).unwrap_or_default();
        if let Some(escaped) = there.strip_prefix('\\') {
            self.is_joined = escaped.is_empty();
            return at + 1 + escaped.chars().next().map_or(0, char::len_utf8);
        }
        if there.starts_with("${") {
            self.open.push(Context::Interpolation);
            return at + 2;
        }
        if !there.starts_with(quote) || triple && !there.starts_with(&quote.to_string().repeat(3)) {
            return at + 1;
        }
        self.open.pop();
        at + if triple { 3 } else { 1 }
    }

    fn block_comment(&mut self, rest: &str) -> usize {
        let Some(at) = rest.as_bytes().windows(2).position(|pair| matches!(pair, b"*/" | b"/*")) else {
            return rest.len();
        };
        if rest.get(at..).is_some_and(|sign| sign.starts_with('*')) {
            self.open.pop();
        } else {
            self.open.push(Context::Comment);
        }
        at + 2
    }

    fn code(&mut self, rest: &str, first: char) -> usize {
        let is_python = self.language == Language::Python;
        match first {
            '#' if is_python => return rest.len(),
            '/' if !is_python && rest.starts_with("//") => return rest.len(),
            '/' if !is_python && rest.starts_with("/*") => {
                self.open.push(Context::Comment);
                return 2;
            }
            '\\' if is_python && rest.len() == 1 => self.is_joined = true,
            '(' => self.open.push(Context::Bracket(')')),
            '[' => self.open.push(Context::Bracket(']')),
            '{' => self.open.push(Context::Bracket('}')),
            ')' | ']' | '}' => match self.open.pop() {
                Some(Context::Bracket(close)) if close == first => {}
                Some(Context::Interpolation) if first == '}' => {}
                _ => self.is_faulty = true,
            },
            '`' if !is_python => self.open.push(Context::Text { quote: first, triple: false }),
            '"' | '\'' => {
                // In Rhai a single quote encloses one character.
                let triple = is_python && (rest.starts_with("\"\"\"") || rest.starts_with("'''"));
                self.open.push(Context::Text { quote: first, triple });
                return if triple { 3 } else { 1 };
            }
            _ => {}
        }
        first.len_utf8()
    }
}

/// The largest number of brackets and strings without an end that [`statements`] recovers from. Each costs another pass
/// over the rest of the source.
const RECOVERIES: usize = 100;

/// Splits Python into its statements at the outer level, each with the lines of its block. Blank lines and comments
/// belong to no statement, unless they are inside one. A source that does not parse is split as well. With a bracket or
/// a string that is never closed, the rest of the source is one statement.
pub(crate) fn statements(source: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    split(source, 0, &mut found);
    found
}

/// Like [`statements`], but a statement with an open bracket ends before the next line that may begin a statement, so
/// that the others can run.
pub(crate) fn separate_statements(source: &str) -> Vec<Range<usize>> {
    let (mut found, mut from) = (Vec::new(), 0);
    for _ in 0..RECOVERIES {
        let is_ended = split(source, from, &mut found);
        let Some(last) = found.last_mut().filter(|_| !is_ended) else { break };
        let Some(next) = next_statement(source, last.clone()) else { break };
        last.end = last.start + source.get(last.start..next).unwrap_or_default().trim_end().len();
        from = next;
    }
    found
}

/// Returns the first line below the first one of a statement that may begin a statement of its own.
fn next_statement(source: &str, statement: Range<usize>) -> Option<usize> {
    let mut at = statement.start;
    let lines = source.get(statement)?.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line)
    });
    let begins = |line: &str| line.starts_with(|c: char| c.is_alphabetic() || "_@".contains(c)) && !is_inner(line);
    lines.skip(1).find(|(_, line)| begins(line)).map(|(at, _)| at)
}

/// Adds the statements from `at` on. Returns whether the last one is ended: no bracket or string is open.
fn split(source: &str, mut at: usize, found: &mut Vec<Range<usize>>) -> bool {
    let mut scanner = LineScanner::new(Language::Python);
    let mut is_decorated = false;
    let first = found.len();
    for whole in source.get(at..).unwrap_or_default().split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        let (was_open, start) = (scanner.is_open(), at);
        at += whole.len();
        let end = start + line.trim_end().len();
        if !was_open && line.trim_start().is_empty() {
            continue;
        }
        let is_remark = !was_open && line.trim_start().starts_with('#');
        scanner.line(line);
        match found.get_mut(first..).and_then(<[_]>::last_mut) {
            Some(last) if was_open || (is_inner(line) || is_decorated) && !is_remark => last.end = end,
            _ if is_remark => continue,
            _ => found.push(start..end),
        }
        // A decorator belongs to the definition below.
        is_decorated = if was_open { is_decorated } else { line.starts_with('@') };
        if scanner.is_faulty() {
            scanner = LineScanner::new(Language::Python);
        }
    }
    !scanner.is_open()
}

/// Returns whether a line continues the statement above: it is indented, or begins with a clause of a block.
pub(crate) fn is_inner(line: &str) -> bool {
    let word = line.split(|next: char| !next.is_alphanumeric() && next != '_').next().unwrap_or_default();
    line.starts_with([' ', '\t']) || matches!(word, "else" | "elif" | "except" | "finally")
}

/// Returns whether a Python source begins with a compound statement.
pub(crate) fn is_block(source: &str) -> bool {
    let word = source.split(|next: char| !next.is_alphanumeric() && next != '_').next().unwrap_or_default();
    let is_match = || word == "match" && source.lines().next().is_some_and(|line| line.trim_end().ends_with(':'));
    let is_word = matches!(word, "if" | "for" | "while" | "def" | "class" | "with" | "try" | "async");
    source.starts_with('@') || is_word || is_match()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_lines() {
        use Language::{Python, Rhai};
        let rows = [
            (Python, "x", false),
            (Python, "f(", true),
            (Python, "f(\n1)", false),
            (Python, "f('(')  # (", false),
            (Python, "f(']'", true),
            (Python, "'''", true),
            (Python, "'''\n\\'''", true),
            (Python, "'''\n'''", false),
            (Python, "''", false),
            (Python, "x = \"\"\"a\"\" b", true),
            (Python, "'a", false),
            (Python, "'a\\\n(", false),
            (Python, "'a\\\n(' + (", true),
            (Python, "x = 1 + \\", true),
            (Python, "x = 1 + \\\n2", false),
            (Python, "f(]", false),
            (Python, "# '''", false),
            (Rhai, "f(#{a: [", true),
            (Rhai, "f(#{a: [1]})", false),
            (Rhai, "`a\n${ f(\"}\") } '", true),
            (Rhai, "`a\n${ `b` }`", false),
            (Rhai, "/* /* */", true),
            (Rhai, "/* /* */ */", false),
            (Rhai, "'\"'", false),
            (Rhai, "// (", false),
            (Rhai, "a / (", true),
        ];
        for (language, source, wanted) in rows {
            assert_eq!(LineScanner::of(language, source).is_open(), wanted, "{source:?}");
        }
    }

    #[test]
    fn the_statements_of_a_source() {
        let rows: &[(&str, &[&str])] = &[
            ("", &[]),
            ("# x\n\n", &[]),
            ("a\nb\n", &["a", "b"]),
            ("f(\n1)\nb", &["f(\n1)", "b"]),
            ("if a:\n  b\n\n  c\n# d\nelse:\n  e\nf\n", &["if a:\n  b\n\n  c\n# d\nelse:\n  e", "f"]),
            ("@a\n# b\n@c\ndef f():\n  '''\nx\n  '''\ng\n", &["@a\n# b\n@c\ndef f():\n  '''\nx\n  '''", "g"]),
            ("x = = (\n1)\ny\n", &["x = = (\n1)", "y"]),
            ("f(]\ny\n", &["f(]", "y"]),
            ("x = '''\n\na\n'''\r\ny", &["x = '''\n\na\n'''", "y"]),
            ("x = f(1,\n2\ny = 1\n", &["x = f(1,\n2", "y = 1"]),
            ("def f():\n  g(\n  h\n\n# c\nx = '''\ny\n(", &["def f():\n  g(\n  h\n\n# c", "x = '''", "y", "("]),
            ("f(\n", &["f("]),
        ];
        for (source, wanted) in rows {
            let found: Vec<_> = separate_statements(source).into_iter().map(|range| &source[range]).collect();
            assert_eq!(found, *wanted, "{source:?}");
        }
        assert_eq!(statements("x = (\ny\nz"), vec![0..9]);
        assert_eq!(separate_statements("x = (\ny\nz").len(), 3);
    }
}
