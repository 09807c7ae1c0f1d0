//! Parses a transcript into cases and examples, each with the position of its recorded output, so that the output can
//! be replaced without touching other bytes. Evaluates nothing.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::markdown;
use crate::{Language, python_goes_on};

/// The form of a file with recorded sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Fenced blocks with a prompt, however they are marked; a heading names a case and starts a fresh session.
    Markdown,
    /// The whole file is one session. If it does not begin with a prompt, it is a page: prompts may be indented, and
    /// text after a blank line below a result is prose, unless it is indented further.
    Text,
}

impl Form {
    /// Returns the form for a file name: `.md` is Markdown, anything else is text.
    pub fn of(path: &Path) -> Form {
        if path.extension().is_some_and(|extension| extension == "md") { Form::Markdown } else { Form::Text }
    }

    /// Returns the form of a text without a name: Markdown if it contains a block with a session.
    pub fn of_text(text: &str) -> Form {
        if Document::parse(text, Form::Markdown).cases.is_empty() { Form::Text } else { Form::Markdown }
    }
}

/// A parsed transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The sessions with at least one example, in file order.
    pub cases: Vec<Case>,
    /// The number of fenced blocks that are not read, by their language, or by `no prompt`.
    pub not_read: BTreeMap<String, usize>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The heading above; empty if there is none.
    pub name: String,
    /// The examples in file order; at least one.
    pub examples: Vec<Example>,
}

/// One input and what was printed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The language, given by the prompt.
    pub language: Language,
    /// The line of the prompt, from 1.
    pub line: usize,
    /// The lines of the input as in the file, with prompts and line ends, but without the indentation of a fence.
    pub input: String,
    /// The input without prompts.
    pub source: String,
    /// The recorded output. Lines are joined by `\n`, trailing blank lines removed.
    pub expected: String,
    /// The options in the input's comments.
    pub options: Options,
    /// The byte range of the recorded output in the file, with line ends.
    pub output: Range<usize>,
    /// The indentation of every line of an indented fence.
    pub indent: String,
    /// The line end of the input's lines: `"\n"` or `"\r\n"`.
    pub line_end: &'static str,
}

impl Example {
    /// Removes a first line `...` from printed output if the page shows it as part of the input. A storage without data
    /// prints itself as `...`, which below a whole statement looks like a continuation line.
    pub fn without_shown_dots<'a>(&self, printed: &'a str) -> &'a str {
        let whole = self.source.strip_suffix('\n').is_some_and(|source| !python_goes_on(source));
        if whole && self.language == Language::Python {
            printed.strip_prefix("...\n").unwrap_or(printed)
        } else {
            printed
        }
    }
}

/// The options of a `# doctest:` comment in the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `...` in the recorded output matches any text.
    pub ellipsis: bool,
    /// All white space is equivalent, of any kind and length.
    pub normalize_whitespace: bool,
    /// Numbers with a point need to agree only to the recorded digits.
    pub number: bool,
    /// The example is on a page, which may omit outputs, show only the last line of an error, and continue with prose
    /// directly after a result.
    pub page: bool,
    /// The example is neither run nor counted.
    pub skip: bool,
    /// An unknown option, which makes the example fail.
    pub unknown: Option<String>,
}

/// Returns the language of a line that starts with a prompt, and the line without it.
pub fn prompt_of(line: &str) -> Option<(Language, &str)> {
    [(">>>", Language::Python), ("rhai>", Language::Rhai)].into_iter().find_map(|(prompt, language)| {
        let rest = line.strip_prefix(prompt)?;
        if rest.is_empty() { Some((language, "")) } else { Some((language, rest.strip_prefix(' ')?)) }
    })
}

/// Returns a continuation line without its prompt: `... ` in Python, `    > ` in Rhai.
pub(crate) fn continuation_of(line: &str, language: Language) -> Option<&str> {
    let prompt = match language {
        Language::Python => "...",
        Language::Rhai => "    >",
    };
    let rest = line.strip_prefix(prompt)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix(' ') }
}

impl Document {
    /// Parses `text` in a form.
    pub fn parse(text: &str, form: Form) -> Document {
        let mut reader = Reader::default();
        match form {
            Form::Text => reader.text(text),
            Form::Markdown => markdown::read(text, &mut reader),
        }
        reader.finish()
    }
}

/// One line of the file.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    number: usize,
    start: usize,
    /// The text without the line end.
    pub(super) text: &'a str,
    end: &'static str,
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').enumerate().map(move |(index, whole)| {
        let (text, end) = match (whole.strip_suffix("\r\n"), whole.strip_suffix('\n')) {
            (Some(text), _) => (text, "\r\n"),
            (None, Some(text)) => (text, "\n"),
            (None, None) => (whole, ""),
        };
        let line = Line { number: index + 1, start, text, end };
        start += whole.len();
        line
    })
}

impl Line<'_> {
    fn after(&self) -> usize {
        self.start + self.text.len() + self.end.len()
    }
}

/// Removes the white space `indent` from the start of `text`, as far as it matches.
pub(super) fn dedent<'a>(text: &'a str, indent: &str) -> &'a str {
    let shared = text.bytes().zip(indent.bytes()).take_while(|(left, right)| left == right).count();
    text.get(shared..).unwrap_or(text)
}

#[derive(Default)]
pub(super) struct Reader {
    cases: Vec<Case>,
    name: String,
    examples: Vec<Example>,
    /// Whether the last example can still take lines. A closed fence ends it.
    open: bool,
    is_page: bool,
    not_read: BTreeMap<String, usize>,
}

impl Reader {
    fn text(&mut self, text: &str) {
        let first = text.lines().find(|line| !line.trim().is_empty());
        if first.is_none_or(|line| prompt_of(line).is_some()) {
            return lines(text).for_each(|line| self.session_line(&line, ""));
        }
        self.is_page = true;
        let (mut indent, mut is_below_blank) = ("", false);
        for line in lines(text) {
            let body = line.text.trim_start();
            let column = line.text.len() - body.len();
            if prompt_of(body).is_some() {
                indent = line.text.get(..column).unwrap_or_default();
            } else if !body.is_empty() && (column < indent.len() || is_below_blank && column == indent.len()) {
                self.close_block();
            }
            is_below_blank = body.is_empty();
            self.session_line(&line, indent);
        }
    }

    /// Reads a line inside a session. `indent` is the indentation of the fence around it.
    pub(super) fn session_line(&mut self, line: &Line<'_>, indent: &str) {
        let text = dedent(line.text, indent);
        if let Some((language, input)) = prompt_of(text) {
            self.examples.push(Example {
                language,
                line: line.number,
                input: format!("{text}{}", line.end),
                source: input.to_owned(),
                expected: String::new(),
                options: Options::default(),
                output: line.after()..line.after(),
                indent: line.text.strip_suffix(text).unwrap_or_default().to_owned(),
                line_end: if line.end == "\r\n" { "\r\n" } else { "\n" },
            });
            self.open = true;
            return;
        }
        let Some(example) = self.examples.last_mut().filter(|_| self.open) else {
            return;
        };
        match continuation_of(text, example.language) {
            Some(input) if line.start == example.output.start => {
                example.input.push_str(text);
                example.input.push_str(line.end);
                example.source.push('\n');
                example.source.push_str(input);
                example.output = line.after()..line.after();
            }
            _ => {
                example.expected.push_str(text);
                example.expected.push('\n');
                if !text.is_empty() {
                    example.output.end = line.after();
                }
            }
        }
    }

    /// Counts a block without examples.
    pub(super) fn not_read(&mut self, why: &str) {
        *self.not_read.entry(why.to_owned()).or_default() += 1;
    }

    pub(super) fn heading(&mut self, name: &str) {
        self.close_case();
        name.clone_into(&mut self.name);
    }

    fn close_case(&mut self) {
        let mut examples = std::mem::take(&mut self.examples);
        for example in &mut examples {
            example.expected.truncate(example.expected.trim_end_matches('\n').len());
            let options = Options::take_from(&mut example.source, example.language);
            example.options = Options { page: self.is_page, ..options };
        }
        self.close_block();
        if !examples.is_empty() {
            self.cases.push(Case { name: self.name.clone(), examples });
        }
    }

    /// Closes the block. Text after a closed fence is prose, not output.
    pub(super) fn close_block(&mut self) {
        self.open = false;
    }

    fn finish(mut self) -> Document {
        self.close_case();
        Document { cases: self.cases, not_read: self.not_read }
    }
}

impl Options {
    /// Reads the `# doctest: +NAME` (in Rhai also `// doctest: +NAME`) at the end of an input's lines. In Python it is
    /// a comment. Rhai does not have `#` comments, so it is removed from `source`.
    fn take_from(source: &mut String, language: Language) -> Options {
        let mut options = Options::default();
        let mut kept = Vec::new();
        for line in source.split('\n') {
            let Some((start, names)) = directive(line) else {
                kept.push(line);
                continue;
            };
            kept.push(if language == Language::Rhai { line.get(..start).unwrap_or(line) } else { line });
            for name in names.split([',', ' ', '\t']).filter(|name| !name.is_empty()) {
                let (is_on, option) = match name.split_at_checked(1) {
                    Some(("+", option)) => (true, option),
                    Some(("-", option)) => (false, option),
                    _ => (false, ""),
                };
                match option {
                    "ELLIPSIS" => options.ellipsis = is_on,
                    "NORMALIZE_WHITESPACE" => options.normalize_whitespace = is_on,
                    "NUMBER" => options.number = is_on,
                    "SKIP" => options.skip = is_on,
                    _ => options.unknown = Some(name.to_owned()),
                }
            }
        }
        *source = kept.join("\n");
        options
    }
}

/// Returns where the comment `# doctest: …` of a line starts, and the options it names. A quote after it means that it
/// is inside a string.
fn directive(line: &str) -> Option<(usize, &str)> {
    ["#", "//"].into_iter().find_map(|mark| {
        line.match_indices(mark).find_map(|(start, _)| {
            let names = line.get(start + mark.len()..)?.trim_start().strip_prefix("doctest:")?;
            (!names.contains(['"', '\''])).then_some((start, names))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(text: &str, form: Form) -> Vec<(String, String, usize)> {
        let document = Document::parse(text, form);
        let all = document.cases.into_iter().flat_map(|case| case.examples);
        all.map(|example| (example.source, example.expected, example.line)).collect()
    }

    fn row(source: &str, expected: &str, line: usize) -> (String, String, usize) {
        (source.to_owned(), expected.to_owned(), line)
    }

    #[test]
    fn text_sessions() {
        type Rows<'a> = &'a [(&'a str, &'a str, usize)];
        let rows: &[(&str, Rows<'_>)] = &[
            ("", &[]),
            ("prose\n", &[]),
            (">>> x\n1\n", &[("x", "1", 1)]),
            (">>> x", &[("x", "", 1)]),
            (">>>\n>>> x\n\n\n", &[("", "", 1), ("x", "", 2)]),
            ("a\n>>> f(\n...   1)\n...\nout\n\n more\n\n>>> y\n", &[("f(\n  1)\n", "out\n\n more", 2), ("y", "", 9)]),
            ("rhai> f(\n    > 1)\n2\n    > 3\n", &[("f(\n1)", "2\n    > 3", 1)]),
            (">>> x\n\n... no continuation\n", &[("x", "\n... no continuation", 1)]),
            (">>> x\r\n1\r\n2\r\n", &[("x", "1\n2", 1)]),
            (">>>x\nrhai>y\n", &[]),
            ("A page.\n\n    >>> x\n    1\n\n      2\n\nProse.\n", &[("x", "1\n\n  2", 3)]),
            ("A page.\n>>> x\n1\n\nProse.\n>>> y\n", &[("x", "1", 2), ("y", "", 6)]),
            ("A page.\n  >>> x\n  1\nProse.\n", &[("x", "1", 2)]),
        ];
        for (text, wanted) in rows {
            let wanted: Vec<_> = wanted.iter().map(|(source, expected, line)| row(source, expected, *line)).collect();
            assert_eq!(examples(text, Form::Text), wanted, "{text:?}");
        }
    }

    #[test]
    fn markdown_sessions_begin_at_headings() {
        let text = "\
# One
>>> not a session
```pycon title
>>> a
1
```
prose
~~~~ rhai-session
rhai> b
```
~~~~
```bash
# no heading
$ no
```
## Two ##
no session
Three
=====
  ```pycon
  >>> c
  x
    y

  ```
";
        let document = Document::parse(text, Form::Markdown);
        let names: Vec<_> = document.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["One", "Three"]);
        let wanted = [row("a", "1", 4), row("b", "```", 9), row("c", "x\n  y", 21)];
        assert_eq!(examples(text, Form::Markdown), wanted);
        let last = &document.cases[1].examples[0];
        assert_eq!((&text[last.output.clone()], last.indent.as_str()), ("  x\n    y\n", "  "));
        assert_eq!(last.input, ">>> c\n");
        assert_eq!(document.not_read, BTreeMap::from([("bash".to_owned(), 1)]));
    }

    #[test]
    fn blocks_are_read_for_their_prompts_and_not_for_their_marks() {
        let text = "```python\n>>> a\n1\n```\n```\nrhai> b\n```\n```python\nc\n```\n```pycon\n```\n```julia\nx\n```\n~~~\n>>> d";
        let document = Document::parse(text, Form::Markdown);
        assert_eq!(examples(text, Form::Markdown), [row("a", "1", 2), row("b", "", 6), row("d", "", 17)]);
        let not_read: Vec<_> = document.not_read.iter().map(|(why, number)| (why.as_str(), *number)).collect();
        assert_eq!(not_read, [("julia", 1), ("no prompt", 2)]);
    }

    #[test]
    fn the_output_is_a_range_of_bytes() {
        let text = ">>> x\r\né\r\n\r\n>>> y\n";
        let document = Document::parse(text, Form::Text);
        let ranges: Vec<_> = document.cases[0].examples.iter().map(|example| &text[example.output.clone()]).collect();
        assert_eq!(ranges, ["é\r\n", ""]);
    }

    #[test]
    fn directives() {
        let rows = [
            (">>> x # doctest: +SKIP", "x # doctest: +SKIP", Options { skip: true, ..Options::default() }),
            ("rhai> x  # doctest: +SKIP", "x  ", Options { skip: true, ..Options::default() }),
            ("rhai> x; // doctest: +ELLIPSIS", "x; ", Options { ellipsis: true, ..Options::default() }),
            (
                ">>> x #doctest: +ELLIPSIS, +SKIP",
                "x #doctest: +ELLIPSIS, +SKIP",
                Options { ellipsis: true, skip: true, ..Options::default() },
            ),
            (">>> 'x # doctest: +SKIP'", "'x # doctest: +SKIP'", Options::default()),
            (">>> x # xdoctest: +SKIP", "x # xdoctest: +SKIP", Options::default()),
            (
                "rhai> x // doctest: +NUMBER +NORMALIZE_WHITESPACE",
                "x ",
                Options { number: true, normalize_whitespace: true, ..Options::default() },
            ),
            (">>> x # doctest: +NO", "x # doctest: +NO", Options { unknown: Some("+NO".into()), ..Options::default() }),
        ];
        for (line, source, options) in rows {
            let document = Document::parse(line, Form::Text);
            let example = &document.cases[0].examples[0];
            assert_eq!((example.source.as_str(), &example.options), (source, &options), "{line}");
        }
    }
}
