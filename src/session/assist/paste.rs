//! Text copied from a documentation page: separates input lines, with their language, from printed results. Evaluates
//! nothing; the caller decides whether a statement continues.

use std::borrow::Cow;

use crate::Language;
use crate::logical::is_block;
use crate::transcript::{continuation_of, prompt_of};

/// One statement of a pasted session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub language: Language,
    /// The lines as pasted, with prompts, from the prompt's column on.
    pub shown: String,
    /// The lines without prompts.
    pub source: String,
    /// Whether a continuation prompt was seen. A line without one is then a result.
    is_prompted: bool,
    /// Whether a result was seen below the statement.
    is_closed: bool,
}

/// Replaces IPython's prompts by Python's: `In [1]: ` by `>>> `, `   ...: ` by `... `. Removes `Out[1]: `.
pub fn with_python_prompts(text: &str) -> Cow<'_, str> {
    let is_numbered = |line: &str, head: &str| {
        let rest = line.strip_prefix(head)?;
        let (number, rest) = rest.split_once("]:")?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then(|| rest.strip_prefix(' ').unwrap_or(rest).to_owned())
    };
    if !text.lines().any(|line| is_numbered(line.trim_start(), "In [").is_some()) {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').filter_map(|line| {
        let body = line.trim_start();
        Some(if let Some(input) = is_numbered(body, "In [") {
            format!(">>> {input}")
        } else if let Some(input) = body.strip_prefix("...:") {
            format!("...{input}")
        } else if let Some(output) = is_numbered(body, "Out[") {
            // A value of several lines follows below its number.
            Some(output).filter(|output| !output.is_empty())?
        } else {
            line.to_owned()
        })
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns whether an entry is only the number that IPython writes before a value, `Out[3]:`. The value follows on the
/// lines below.
pub(crate) fn is_output_number(entry: &str) -> bool {
    let number = entry.trim().strip_prefix("Out[").and_then(|rest| rest.strip_suffix("]:"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the statements of a text in which some line starts with a prompt, and whether the text contains anything
/// else. `None` for any other text. `is_unfinished` says whether a source needs more lines to be a statement.
pub fn read_session(text: &str, is_unfinished: impl Fn(Language, &str) -> bool) -> Option<Pasted> {
    let mut session = Pasted { statements: Vec::new(), has_results: false };
    let mut column = 0;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let body = line.trim_start();
        if let Some((language, input)) = prompt_of(body) {
            column = line.len() - body.len();
            match session.statements.last_mut() {
                // Pages also put `>>> ` before the indented lines of a block.
                Some(last)
                    if last.language == language
                        && input.starts_with([' ', '\t'])
                        && last.takes_more(&is_unfinished) =>
                {
                    last.is_prompted = true;
                    last.push(body, input);
                }
                _ => session.statements.push(Statement {
                    language,
                    shown: body.to_owned(),
                    source: input.to_owned(),
                    is_prompted: false,
                    is_closed: false,
                }),
            }
            continue;
        }
        let line = line.get(column.min(line.len() - body.len())..).unwrap_or(body);
        match session.statements.last_mut() {
            Some(last) if !last.is_closed => {
                if let Some(input) = continuation_of(line, last.language) {
                    last.is_prompted = true;
                    last.push(line, input);
                } else if last.takes_bare_lines(&is_unfinished) {
                    last.push(line, line);
                } else {
                    last.is_closed = true;
                    session.has_results |= !body.is_empty();
                }
            }
            _ => session.has_results |= !body.is_empty(),
        }
    }
    (!session.statements.is_empty()).then_some(session)
}

/// A pasted session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pasted {
    /// The statements, in order.
    pub statements: Vec<Statement>,
    /// Whether the text contains anything other than input: printed results or prose.
    pub has_results: bool,
}

impl Statement {
    /// Returns whether a line below may belong to the statement.
    pub(crate) fn takes_more(&self, is_unfinished: impl Fn(Language, &str) -> bool) -> bool {
        if self.is_closed {
            return false;
        }
        if self.language == Language::Python && is_open_block(&self.source) {
            return true;
        }
        is_unfinished(self.language, &self.source)
    }

    /// Returns whether a line below belongs to the statement even without a prompt. Typed lines do not have one, and
    /// some pages omit it.
    fn takes_bare_lines(&self, is_unfinished: impl Fn(Language, &str) -> bool) -> bool {
        let is_complete_block =
            self.language == Language::Python && is_block(&self.source) && self.source.contains('\n');
        if self.is_prompted && is_complete_block { false } else { self.takes_more(is_unfinished) }
    }

    fn push(&mut self, shown: &str, input: &str) {
        self.shown.push('\n');
        self.shown.push_str(shown);
        self.source.push('\n');
        self.source.push_str(input);
    }
}

/// Returns whether a Python source is a block of several lines that no blank line has ended. Another line may follow,
/// even if the source already parses.
pub(crate) fn is_open_block(source: &str) -> bool {
    is_block(source) && source.rsplit_once('\n').is_some_and(|(_, last)| !last.trim().is_empty())
}

/// Returns whether a line looks like a printed result and not like input. This happens if a session is pasted line by
/// line because the terminal does not mark pasted text.
pub fn looks_printed(line: &str) -> bool {
    let body = line.trim_end();
    let starts = |heads: &[&str]| heads.iter().any(|head| body.starts_with(head));
    body.is_empty()
        || starts(&[" ", "\t", "(", "[", "{", "<", "'", "\"", "b'", "b\"", "tensor(", "array(", "bytearray("])
        || starts(&["torch.", "True", "False", "None", "Traceback (most recent call last):", "..."])
        || body.parse::<f64>().is_ok()
        || body.split_once(": ").unwrap_or((body, "")).0.ends_with("Error")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement is unfinished while a bracket is open or a block does not have a body.
    fn is_unfinished(_: Language, source: &str) -> bool {
        let depth = source.matches(['(', '[', '{']).count() > source.matches([')', ']', '}']).count();
        depth || source.trim_end().ends_with(':')
    }

    #[test]
    fn a_number_of_ipython_is_no_input() {
        for (entry, wanted) in
            [("Out[3]:", true), (" Out[12]: ", true), ("Out[3]: 5", false), ("Out[x]:", false), ("", false)]
        {
            assert_eq!(is_output_number(entry), wanted, "{entry}");
        }
    }

    #[test]
    fn sessions() {
        let rows: &[(&str, &[&str], bool)] = &[
            (">>> x", &["x"], false),
            (">>> x\n1\n>>> y\n", &["x", "y"], true),
            ("Example:\n\n    >>> x\n    1\n    >>> f(\n    ...   2)\n    2\n", &["x", "f(\n  2)"], true),
            (">>> f([1,\n       2])\ntensor([1,\n        2])\n", &["f([1,\n       2])"], true),
            (">>> for i in x:\n...     print(i)\n0\n1\n>>> y", &["for i in x:\n    print(i)", "y"], true),
            (">>> for i in x:\n...     print(i)\n...\n>>> y", &["for i in x:\n    print(i)\n", "y"], false),
            (">>> for i in x:\n    a\n    b\n", &["for i in x:\n    a\n    b\n"], false),
            (">>> with x:\n>>>     a\n>>>     b\n>>> c", &["with x:\n    a\n    b", "c"], false),
            ("rhai> f(\n    > 1)\n2", &["f(\n1)"], true),
        ];
        for (text, sources, has_results) in rows {
            let session = read_session(text, is_unfinished).unwrap();
            let found: Vec<_> = session.statements.iter().map(|statement| statement.source.as_str()).collect();
            assert_eq!(found, *sources, "{text:?}");
            assert_eq!(session.has_results, *has_results, "{text:?}");
        }
        for text in ["", "x\ny", "let s = \">>> \";", ">>>x"] {
            assert_eq!(read_session(text, is_unfinished), None);
        }
    }

    #[test]
    fn the_prompts_of_ipython() {
        let text = "In [2]: x\nOut[2]: \ntensor([1,\n        2])";
        assert_eq!(with_python_prompts(text), ">>> x\ntensor([1,\n        2])");
        let text = "In [1]: x\nOut[1]: 1\n\nIn [12]: for i in x:\n    ...:     i\n    ...: \n";
        assert_eq!(with_python_prompts(text), ">>> x\n1\n\n>>> for i in x:\n...     i\n... \n");
        assert_eq!(with_python_prompts("a\n...: b"), "a\n...: b");
    }

    #[test]
    fn more_lines_are_taken_until_a_statement_ends() {
        let rows = [
            (">>> x", false),
            (">>> f(", true),
            (">>> for i in x:", true),
            (">>> for i in x: y", false),
            (">>> for i in x:\n...     y", true),
            (">>> for i in x:\n...     y\n...", false),
            (">>> for i in x:\n    y\n", false),
            (">>> for i in x:\n...     y\n0", false),
            (">>> f(\n...  1)", false),
            (">>> fortune = [\n1]", false),
        ];
        for (text, wanted) in rows {
            let session = read_session(text, is_unfinished).unwrap();
            assert_eq!(session.statements.last().unwrap().takes_more(is_unfinished), wanted, "{text:?}");
        }
    }

    #[test]
    fn printed_lines() {
        for line in
            ["tensor([1., 2.])", "        [1.]])", "3", "-1.5e-3", "torch.Size([2])", "(1, 2)", "ValueError: x", "True"]
        {
            assert!(looks_printed(line), "{line}");
        }
        for line in ["x", "1 + 1", "let t = tensor([1])", "print(1)", "t.shape"] {
            assert!(!looks_printed(line), "{line}");
        }
    }
}
