//! Parses a page, by the form of its file, into sessions and examples. Evaluates nothing.

use std::path::Path;

use super::example::{Document, Reading};
use super::options::Scope;
use super::reader::Reader;
use super::{docstrings, html, markdown, notebook, rst};

/// The form of a file with recorded sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Fenced and indented blocks with a prompt, however they are marked, and fences marked as Python without one.
    /// Directives of MyST. A heading names a case and starts a fresh session.
    Markdown,
    /// The whole file is one session. If it does not begin with a prompt, it is a page: prompts may be indented, and
    /// text after a blank line below a result is prose, unless it is indented further.
    Text,
    /// reStructuredText: blocks with a prompt, `code-block` without one, and the directives of `sphinx.ext.doctest`.
    Rst,
    /// Python's docstrings, each a session of its own, with the names of their module.
    Docstrings,
    /// The cells of a notebook and their outputs.
    Notebook,
    /// `pre` elements.
    Html,
}

/// File name extensions, with their forms.
const EXTENSIONS: &[(&str, Form)] = &[
    ("md", Form::Markdown),
    ("markdown", Form::Markdown),
    ("mdx", Form::Markdown),
    ("qmd", Form::Markdown),
    ("txt", Form::Text),
    ("rst", Form::Rst),
    ("rest", Form::Rst),
    ("py", Form::Docstrings),
    ("pyi", Form::Docstrings),
    ("ipynb", Form::Notebook),
    ("html", Form::Html),
    ("htm", Form::Html),
];

impl Form {
    /// Returns the form for a file name; anything unknown is text.
    pub fn of(path: &Path) -> Form {
        Form::by_extension(path).unwrap_or(Form::Text)
    }

    /// Returns the form for a file name, if its extension has one.
    pub(super) fn by_extension(path: &Path) -> Option<Form> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, form)| *form)
    }

    /// Returns the form of a text without a name: a notebook if it begins like one, Markdown if it contains a block
    /// with a session.
    pub fn of_text(text: &str) -> Form {
        if text.trim_start().starts_with('{') {
            return Form::Notebook;
        }
        let has_fence = text.lines().any(|line| line.trim_start().starts_with(['`', '~']));
        let is_markdown = has_fence && !Document::parse(text, Form::Markdown).cases.is_empty();
        if is_markdown { Form::Markdown } else { Form::Text }
    }

    /// Returns how far a session goes, if neither the page nor the caller says so.
    pub(super) fn scope(self) -> Scope {
        match self {
            // The name of an object is the heading of its docstring.
            Form::Markdown | Form::Docstrings => Scope::Heading,
            Form::Text | Form::Rst | Form::Notebook | Form::Html => Scope::Page,
        }
    }
}

impl Document {
    /// Parses `text` in a form. What a page says wrongly about itself is left out.
    pub fn parse(text: &str, form: Form) -> Document {
        Document::read(text, form, &Reading::default()).unwrap_or_default()
    }

    /// Parses `text` in a form.
    ///
    /// # Errors
    /// Fails with the line and the fault, if a notebook is not one, or if a page's words about itself are unknown.
    pub fn read(text: &str, form: Form, reading: &Reading) -> Result<Document, String> {
        let mut reader = Reader::default();
        match form {
            Form::Text => reader.text(text),
            Form::Markdown => markdown::read(text, &mut reader),
            Form::Rst => rst::read(text, &mut reader),
            Form::Docstrings => docstrings::read(text, &mut reader),
            Form::Notebook => notebook::read(text, &mut reader)?,
            Form::Html => html::read(text, &mut reader),
        }
        reader.finish(form.scope(), reading)
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::Written;
    use super::*;
    use std::collections::BTreeMap;

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
            (">>>x\nrhai>y\n", &[("x", "rhai>y", 1)]),
            (">>> f(\n   1)\nout\n", &[("f(\n   1)", "out", 1)]),
            (">>> f(\nTraceback (most recent call last):\n", &[("f(", "Traceback (most recent call last):", 1)]),
            (">>> for i in x:\n        i\nout\n", &[("for i in x:\n        i", "out", 1)]),
            (">>> with x:\n>>>     y\n>>> z\n", &[("with x:\n    y", "", 1), ("z", "", 3)]),
            ("In [1]: x\nOut[1]: 1\n\nIn [2]: f(\n   ...: 1)\nOut[2]: \n2\n", &[("x", "1", 1), ("f(\n1)", "2", 4)]),
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
        assert_eq!(&text[last.output.clone()], "  x\n    y\n");
        assert!(matches!(&last.written, Written::Lines { indent, .. } if indent == "  "));
        assert_eq!(last.input, ">>> c\n");
        let not_read = [("bash".to_owned(), 1), ("prompt outside a fence".to_owned(), 1)];
        assert_eq!(document.not_read, BTreeMap::from(not_read));
    }

    #[test]
    fn blocks_are_read_for_their_prompts_and_not_for_their_marks() {
        let text = "```python\n>>> a\n1\n```\n```\nrhai> b\n```\n```python\nc\n```\n```pycon\n```\n```julia\nx\n```\n~~~\n>>> d";
        let document = Document::parse(text, Form::Markdown);
        assert_eq!(
            examples(text, Form::Markdown),
            [row("a", "1", 2), row("b", "", 6), row("c", "", 9), row("d", "", 17)]
        );
        let not_read: Vec<_> = document.not_read.iter().map(|(why, number)| (why.as_str(), *number)).collect();
        assert_eq!(not_read, [("julia", 1), ("no prompt", 1)]);
    }

    #[test]
    fn the_output_is_a_range_of_bytes() {
        let text = ">>> x\r\né\r\n\r\n>>> y\n";
        let document = Document::parse(text, Form::Text);
        let ranges: Vec<_> = document.cases[0].examples.iter().map(|example| &text[example.output.clone()]).collect();
        assert_eq!(ranges, ["é\r\n", ""]);
    }
}
