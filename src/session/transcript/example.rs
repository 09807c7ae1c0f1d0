//! What a page is read as: sessions of examples, each with its recorded output and the place of that in the file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::lines::Encoding;
use super::options::{Options, Scope, Settings};
use crate::{Language, python_goes_on};

/// The first line of Python's error reports.
pub(crate) const TRACEBACK: &str = "Traceback (most recent call last):";

/// How a run reads its pages, unless they say otherwise themselves.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// How far a session goes; `None` for each form's own way.
    pub scope: Option<Scope>,
    /// The options that all examples start with.
    pub options: Options,
}

/// A parsed page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The sessions with at least one example, in file order.
    pub cases: Vec<Case>,
    /// The number of blocks that are not read, by their language, or by `no prompt`.
    pub not_read: BTreeMap<String, usize>,
    /// What the page says about itself.
    pub settings: Settings,
}

/// One session.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The heading above, or the object that a docstring describes. Empty without a heading, or with several.
    pub name: String,
    /// The examples in the order in which they run; at least one.
    pub examples: Vec<Example>,
}

/// How an input is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// Like a prompt: the value of every expression is shown.
    #[default]
    Prompt,
    /// Like a script: only what it prints is shown.
    Script,
    /// Like a cell of a notebook: the value of the last expression is shown.
    Cell,
}

/// How the output of an example is written into its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// On lines of its own.
    Lines {
        /// The prefix of every line: the indentation of an indented block, and the marks of a quotation.
        indent: String,
        /// The line end: `"\n"` or `"\r\n"`.
        line_end: &'static str,
        encoding: Encoding,
        /// The line with the value, from 0, and the number that IPython writes before it, `Out[3]: `.
        numbered: Option<(usize, String)>,
    },
    /// In a comment.
    Comment {
        /// The start of its further lines, with the line end before it.
        next: String,
        encoding: Encoding,
    },
    /// As the outputs of a cell, in JSON.
    Outputs {
        /// The number of the execution, as in the file.
        execution_count: String,
    },
    /// The example does not record an output.
    Nowhere,
}

/// One input and what was printed for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The language, given by the prompt.
    pub language: Language,
    pub manner: Manner,
    /// The line of the prompt, from 1.
    pub line: usize,
    /// The heading above, or the number of the cell.
    pub heading: String,
    /// The lines of the input as in the file, with prompts and line ends, but without the indentation of a fence.
    pub input: String,
    /// The input without prompts.
    pub source: String,
    /// The recorded output. Lines are joined by `\n`, trailing blank lines removed.
    pub expected: String,
    /// The options of the page, and those in the input's comments.
    pub options: Options,
    /// The byte range of the recorded output in the file, with line ends.
    pub output: Range<usize>,
    pub written: Written,
    pub origin: Origin,
}

/// Where an input comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    Page,
    /// A file that sessions run first.
    Setup(Arc<str>),
    /// The module around a docstring: a statement that a session needs.
    Module(Arc<str>),
}

impl Origin {
    /// Returns whether the input is an example of the page.
    pub fn is_page(&self) -> bool {
        *self == Origin::Page
    }

    /// Returns the file, if it is not the page.
    pub(super) fn file(&self) -> Option<&str> {
        match self {
            Origin::Page => None,
            Origin::Setup(file) | Origin::Module(file) => Some(file),
        }
    }
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

    /// Returns whether the page records an output for this input, even an empty one.
    pub fn is_recorded(&self) -> bool {
        self.written != Written::Nowhere
    }
}

/// Returns the language of a line that starts with a prompt, and the line without it. Pages also put a tab after
/// Python's prompt, or nothing. Without a space, `rhai>` may be a comparison.
pub fn prompt_of(line: &str) -> Option<(Language, &str)> {
    if let Some(rest) = line.strip_prefix(">>>") {
        let input = rest.strip_prefix([' ', '\t']).unwrap_or(rest);
        return (!rest.starts_with('>')).then_some((Language::Python, input));
    }
    let rest = line.strip_prefix("rhai>")?;
    if rest.is_empty() { Some((Language::Rhai, "")) } else { Some((Language::Rhai, rest.strip_prefix([' ', '\t'])?)) }
}

/// Returns a continuation line without its prompt: `... ` in Python, `    > ` in Rhai. A tab in place of the space is
/// kept, because it indents the line.
pub(crate) fn continuation_of(line: &str, language: Language) -> Option<&str> {
    let prompt = match language {
        Language::Python => "...",
        Language::Rhai => "    >",
    };
    let rest = line.strip_prefix(prompt)?;
    if rest.is_empty() || rest.starts_with('\t') { Some(rest) } else { rest.strip_prefix(' ') }
}
