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
