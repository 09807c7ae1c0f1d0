//! Finds the docstrings of a Python file, without parsing it: a file for another version of Python has docstrings too.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::code::file_examples;
use super::example::{Case, Example, Origin};
use super::lines::{Encoding, Line, indent_of, split_end};
use super::names::{bound, code_words, words};
use super::reader::Reader;
use crate::Language;

/// Reads a file: each docstring is a session, named like the object that it describes.
pub(super) fn read(text: &str, reader: &mut Reader) {
    let mut scan = Scan { text, at: 0, number: 1 };
    let mut names: Vec<(usize, &str)> = Vec::new();
    while scan.at < text.len() {
        let line = scan.rest().split('\n').next().unwrap_or_default();
        let body = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - body.len();
        if let Some(words) = body.strip_prefix("# tensorsh:") {
            reader.comment(words, scan.number);
        }
        if let Some(name) = defined(body) {
            names.retain(|(column, _)| *column < indent);
            names.push((indent, name));
        } else if indent == 0 && !body.is_empty() && !body.starts_with(['#', ')', ']', '}']) {
            names.clear();
        }
        let name = || names.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(".");
        scan.logical_line(|docstring| {
            if docstring.has_prompt() {
                reader.heading(&name());
                reader.loose(docstring.lines(), docstring.encoding());
            }
        });
    }
}

/// Returns the name in the head of a definition.
fn defined(line: &str) -> Option<&str> {
    let rest = ["def ", "async def ", "class "].iter().find_map(|head| line.strip_prefix(head))?;
    words(rest).next()
}

/// A string in three quotes.
struct Docstring<'a> {
    /// The text between the quotes, as in the file.
    body: &'a str,
    start: usize,
    number: usize,
    raw: bool,
    quote: char,
}

impl<'a> Docstring<'a> {
    fn has_prompt(&self) -> bool {
        self.body.contains(">>>") || self.body.contains("rhai>") || self.body.contains("In [")
    }

    fn encoding(&self) -> Encoding {
        Encoding::Docstring { raw: self.raw, quote: self.quote }
    }

    fn lines(&self) -> impl Iterator<Item = Line<'a>> {
        let (mut start, raw, number) = (self.start, self.raw, self.number);
        self.body
            .split_inclusive('\n')
            .enumerate()
            .map(move |(index, whole)| {
                let (text, end) = split_end(whole);
                let text = if raw { Cow::Borrowed(text) } else { unescaped(text) };
                let line = Line { number: number + index, start, after: start + whole.len(), text, end };
                start += whole.len();
                line
            })
            // The closing quotes may be indented.
            .filter(|line| !line.end.is_empty() || !line.text.trim().is_empty())
    }
}

/// Replaces the escapes in a line of a string that is not raw. A line end stays written as an escape: it would end the
/// line.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut new = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        new.push_str(before);
        let next = after.chars().next();
        rest = after.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
        match next {
            Some(quoted @ ('\\' | '\'' | '"')) => new.push(quoted),
            Some('t') => new.push('\t'),
            Some(other) => new.extend(['\\', other]),
            None => new.push('\\'),
        }
    }
    new.push_str(rest);
    Cow::Owned(new)
}

/// Reads a file from start to end.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// The line, from 1.
    number: usize,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips `length` bytes.
    fn skip(&mut self, length: usize) {
        let skipped = self.rest().get(..length).unwrap_or(self.rest());
        self.number += skipped.matches('\n').count();
        self.at += skipped.len();
    }

    /// Reads a logical line, and passes its docstrings to `found`: strings in three quotes that are statements, or that
    /// are given to something with `doc` in its name.
    fn logical_line(&mut self, mut found: impl FnMut(&Docstring<'a>)) {
        let begin = self.at;
        let mut depth = 0_usize;
        while let Some(first) = self.rest().chars().next() {
            match first {
                '#' => self.skip(self.rest().find('\n').unwrap_or(self.rest().len())),
                '\n' if depth == 0 => return self.skip(1),
                '\\' => self.skip(1 + self.rest().chars().nth(1).map_or(0, char::len_utf8)),
                '"' | '\'' => {
                    let before = self.text.get(begin..self.at).unwrap_or_default();
                    let is_raw = before.ends_with(['r', 'R']);
                    let prefix = before.trim_start().trim_end_matches(['r', 'R', 'u', 'U']);
                    let string = self.string(first, is_raw);
                    if let Some(string) = string.filter(|_| prefix.is_empty() || prefix.to_lowercase().contains("doc"))
                    {
                        found(&string);
                    }
                }
                '(' | '[' | '{' => {
                    depth += 1;
                    self.skip(1);
                }
                ')' | ']' | '}' => {
                    depth = depth.saturating_sub(1);
                    self.skip(1);
                }
                other => self.skip(other.len_utf8()),
            }
        }
    }

    /// Reads a string. Returns it if it is in three quotes.
    fn string(&mut self, quote: char, raw: bool) -> Option<Docstring<'a>> {
        let quotes: String = [quote; 3].iter().collect();
        let is_triple = self.rest().starts_with(&quotes);
        self.skip(if is_triple { 3 } else { 1 });
        let (start, number) = (self.at, self.number);
        while let Some(first) = self.rest().chars().next() {
            match first {
                '\\' => self.skip(1 + self.rest().chars().nth(1).map_or(0, char::len_utf8)),
                '\n' if !is_triple => return None,
                _ if is_triple && self.rest().starts_with(&quotes) => {
                    let body = self.text.get(start..self.at).unwrap_or_default();
                    self.skip(3);
                    return Some(Docstring { body, start, number, raw, quote });
                }
                _ if !is_triple && first == quote => {
                    self.skip(1);
                    return None;
                }
                _ => self.skip(first.len_utf8()),
            }
        }
        None
    }
}

/// Adds to each session the statements of its module that it needs: those that bind the names it mentions, and the
/// names that these mention.
pub(super) fn add_module(cases: &mut [Case], text: &str, file: &str) {
    if cases.is_empty() {
        return;
    }
    let module: Vec<Example> = file_examples(text, Origin::Module(file.into()))
        .into_iter()
        .filter(|example| !example.source.starts_with("if __name__"))
        .collect();
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, example) in module.iter().enumerate() {
        outer_names(&example.source).into_iter().for_each(|name| by_name.entry(name).or_default().push(index));
    }
    let mentioned: Vec<Vec<&str>> = module.iter().map(|example| code_words(&example.source)).collect();
    for case in cases {
        let mut own: BTreeSet<&str> = BTreeSet::new();
        let (mut needed, mut seen): (BTreeSet<usize>, BTreeSet<&str>) = (BTreeSet::new(), BTreeSet::new());
        let mut todo: Vec<&str> = Vec::new();
        for example in &case.examples {
            todo.extend(code_words(&example.source).into_iter().filter(|word| !own.contains(word)));
            own.extend(bound(example.language, &example.source));
        }
        while let Some(name) = todo.pop() {
            let places = by_name.get(name).filter(|_| seen.insert(name));
            for place in places.into_iter().flatten().filter(|place| needed.insert(**place)) {
                todo.extend(mentioned.get(*place).into_iter().flatten());
            }
        }
        let setup: Vec<Example> = needed.into_iter().filter_map(|index| module.get(index).cloned()).collect();
        case.examples.splice(0..0, setup);
    }
}

/// Returns the names that a statement binds in its module: not those inside a function or a class.
fn outer_names(source: &str) -> Vec<&str> {
    let is_definition = source.starts_with('@') || defined(source).is_some();
    if !is_definition {
        return bound(Language::Python, source);
    }
    source
        .lines()
        .find(|line| indent_of(line).is_empty() && defined(line).is_some())
        .and_then(defined)
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::example::Document;
    use super::super::parse::Form;
    use super::*;

    #[test]
    fn docstrings_are_found_by_their_place() {
        let text = r#"""" Module.

>>> a
1
"""
import torch
x = """
>>> no docstring
"""
class A(B):
    r'''
    >>> b
    '\n'
    '''

    def f(self, x=")"):
        """Doc.

        >>> c('\\n')
        b'\\x00'

        Prose.
        """
        return [
"""
>>> no
"""]

add_docstr(torch.abs, r"""
Example::

    >>> d
    2
""")
"#;
        let document = Document::parse(text, Form::Docstrings);
        let found: Vec<_> = document
            .cases
            .iter()
            .map(|case| {
                let example = &case.examples[0];
                let output = &text[example.output.clone()];
                (case.name.as_str(), example.line, example.source.as_str(), example.expected.as_str(), output)
            })
            .collect();
        let wanted = [
            ("", 3, "a", "1", "1\n"),
            ("A", 12, "b", "'\\n'", "    '\\n'\n"),
            ("A.f", 19, "c('\\n')", "b'\\x00'", "        b'\\\\x00'\n"),
            ("", 32, "d", "2", "    2\n"),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_session_has_the_statements_of_its_module_that_it_needs() {
        let text = "import a\nimport b\nN = 3\ndef f():\n    return g() + N\n\ndef g():\n    return a\n\ndef h():\n    b\n\nif __name__ == '__main__':\n    N = h()\n";
        let page = Document::parse(">>> y = 1\n>>> f()\n", Form::Text);
        let mut cases = page.cases;
        add_module(&mut cases, text, "m.py");
        let found: Vec<_> =
            cases[0].examples.iter().map(|example| (example.line, example.source.lines().next().unwrap())).collect();
        let wanted = [(1, "import a"), (3, "N = 3"), (4, "def f():"), (7, "def g():"), (1, "y = 1"), (2, "f()")];
        assert_eq!(found, wanted);
    }
}
