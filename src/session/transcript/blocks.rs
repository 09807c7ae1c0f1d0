//! Decides how a block is read: for its prompts, as code, or not at all. The forms find the blocks.

use super::code;
use super::example::{Example, Written};
use super::lines::{Encoding, Line, dedent};
use super::options::Options;
use super::prompts::has_prompt;
use super::reader::{BlockOptions, Reader, Role, common_indent};

/// The marks of blocks with Python.
const PYTHON: &[&str] = &["py", "py3", "python", "python3", "ipython", "ipython3"];
/// The marks of blocks with prompts, and of blocks that may be anything.
const SESSIONS: &[&str] = &["", "pycon", "pycon3", "console", "default", "none", "text", "rhai", "rhai-session"];

/// The lines of a block, and how the file writes them.
#[derive(Clone, Copy)]
pub(super) struct Block<'b, 'l> {
    pub(super) lines: &'b [Line<'l>],
    /// The prefix of every line.
    pub(super) indent: &'b str,
    pub(super) encoding: Encoding,
}

impl Block<'_, '_> {
    /// Returns whether a line of the block starts with a prompt, perhaps after further indentation.
    fn has_prompt(&self, is_indented: bool) -> bool {
        let texts = self.lines.iter().map(|line| dedent(&line.text, self.indent));
        texts.map(|text| if is_indented { text.trim_start() } else { text }).any(has_prompt)
    }

    /// Returns whether the block shows commands of a shell. Their output may quote a prompt.
    fn is_console(&self) -> bool {
        self.lines.first().is_some_and(|line| dedent(&line.text, self.indent).starts_with("$ "))
    }

    /// Passes the block to `reader`. `language` is its mark.
    pub(super) fn pass_to(&self, language: &str, reader: &mut Reader) {
        if self.has_prompt(false) {
            reader.session_block(self.lines, self.indent, self.encoding);
        } else if self.has_prompt(true) && !self.is_console() {
            reader.loose(self.lines.iter().cloned(), self.encoding);
        } else if PYTHON.contains(&language) {
            code::read(self, reader);
        } else if SESSIONS.contains(&language) {
            reader.not_read("no prompt");
        } else {
            reader.not_read(language);
        }
    }

    /// Passes the block as one example in Python that only has to run.
    fn pass_script(&self, reader: &mut Reader) {
        let Some(first) = self.lines.iter().find(|line| !line.text.trim().is_empty()) else { return };
        let source = self.text();
        let example = code::run_only(&source, reader.name().to_owned());
        reader.push(Example { line: first.number, ..example });
        reader.close_block();
    }

    /// Returns the text without the indentation that its lines have in common.
    fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| dedent(&line.text, self.indent)).collect();
        let common = common_indent(lines.iter().copied());
        let text = lines.iter().map(|line| dedent(line, common)).collect::<Vec<_>>().join("\n");
        text.trim_end().to_owned()
    }
}

/// A directive of reStructuredText or MyST, with options and a body.
pub(super) struct Directive<'b, 'l> {
    pub(super) name: &'b str,
    pub(super) argument: &'b str,
    pub(super) options: Vec<(&'b str, &'b str)>,
    pub(super) body: Block<'b, 'l>,
}

/// The directives whose body is code.
const DIRECTIVES: &[&str] = &[
    "code",
    "code-block",
    "code-cell",
    "doctest",
    "doctest-skip",
    "ipython",
    "parsed-literal",
    "prompt",
    "sourcecode",
    "testcleanup",
    "testcode",
    "testoutput",
    "testsetup",
];

impl Directive<'_, '_> {
    /// Returns whether the body of the directive `name` is code.
    pub(super) fn is_code(name: &str) -> bool {
        DIRECTIVES.contains(&name)
    }

    /// Passes the body to `reader`.
    pub(super) fn pass_to(&self, reader: &mut Reader) {
        let language = self.argument.split_whitespace().next().unwrap_or_default();
        let tags = self.option("tags").unwrap_or_default();
        let mut about = self.about();
        match self.name {
            "testsetup" | "testcleanup" => {
                about.role = if self.name == "testsetup" { Role::Setup } else { Role::Cleanup };
                reader.about(about);
                self.body.pass_script(reader);
            }
            "testcode" => {
                reader.about(about);
                self.body.pass_script(reader);
                // Without a `testoutput` below, nothing may be printed.
                if let Some(example) = reader.last_of_groups(&self.groups()) {
                    example.options.ignore_output = false;
                }
            }
            "testoutput" => self.pass_output(reader),
            "doctest" | "doctest-skip" => {
                reader.about(about);
                self.body.pass_to("pycon", reader);
            }
            "code-cell" | "ipython" => {
                // An expected error is not recorded.
                if tags.contains("skip-execution") || tags.contains("raises-exception") {
                    about.options.push_str(" +SKIP");
                }
                reader.about(about);
                let language = if ["", "ipython3"].contains(&language) { "python" } else { language };
                self.body.pass_to(language, reader);
            }
            _ => {
                reader.about(about);
                self.body.pass_to(language, reader);
            }
        }
        reader.about(BlockOptions::default());
    }

    fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Returns the groups of sessions that the argument names; none for the default.
    fn groups(&self) -> Vec<String> {
        if !self.name.starts_with("test") && self.name != "doctest" {
            return Vec::new();
        }
        let names: Vec<&str> = self.argument.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names == ["default"] {
            return Vec::new();
        }
        names.into_iter().map(|name| if name == "default" { String::new() } else { name.to_owned() }).collect()
    }

    fn about(&self) -> BlockOptions {
        let mut options = self.option("options").unwrap_or_default().to_owned();
        let is_skipped = self.name == "doctest-skip"
            || self.option("skipif").is_some_and(|condition| ["True", "1"].contains(&condition))
            || self.option("pyversion").is_some_and(|versions| !accepts_python(versions));
        if is_skipped {
            options.push_str(" +SKIP");
        }
        BlockOptions { role: Role::Test, groups: self.groups(), options }
    }

    /// Makes the body the recorded output of the `testcode` above.
    fn pass_output(&self, reader: &mut Reader) {
        let mut options = Options::default();
        options.set_all(self.option("options").unwrap_or_default());
        let lines: Vec<&Line<'_>> = self.body.lines.iter().skip_while(|line| line.text.trim().is_empty()).collect();
        let filled = lines.iter().rposition(|line| !line.text.trim().is_empty()).map_or(0, |last| last + 1);
        let lines = lines.get(..filled).unwrap_or_default();
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
        let indent = common_indent(lines.iter().map(|line| &*line.text)).to_owned();
        let expected = lines.iter().map(|line| dedent(&line.text, &indent)).collect::<Vec<_>>().join("\n");
        let above = reader.last_of_groups(&self.groups());
        let Some(example) = above.filter(|example| example.written == Written::Nowhere) else {
            return reader.not_read("testoutput without testcode");
        };
        example.options.add(&options);
        example.expected = expected;
        example.output = first.start..last.after;
        let line_end = if first.end == "\r\n" { "\r\n" } else { "\n" };
        example.written = Written::Lines { indent, line_end, encoding: self.body.encoding, numbered: None };
    }
}

/// The version of Python that a page's conditions are about.
const PYTHON_VERSION: [u32; 2] = [3, 11];

/// Returns whether a condition on Python's version holds: `>= 3.8, < 4`.
fn accepts_python(conditions: &str) -> bool {
    conditions.split(',').all(|condition| {
        let condition = condition.trim();
        let version = condition.trim_start_matches(['<', '>', '=', '!', '~', ' ']);
        let sign = condition.strip_suffix(version).unwrap_or_default().trim();
        let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        let wanted = [parts.next().unwrap_or(0), parts.next().unwrap_or(0)];
        match sign {
            ">=" | "~=" => PYTHON_VERSION >= wanted,
            ">" => PYTHON_VERSION > wanted,
            "<=" => PYTHON_VERSION <= wanted,
            "<" => PYTHON_VERSION < wanted,
            "==" => PYTHON_VERSION == wanted,
            "!=" => PYTHON_VERSION != wanted,
            _ => true,
        }
    })
}

/// Returns whether a line is an option of a directive, `:name: value`, and its parts.
pub(super) fn directive_option(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().strip_prefix(':')?.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_name.then(|| (name, value.trim()))
}

/// Splits the options from the start of a directive's lines, and removes blank lines around its body.
pub(super) fn split_options<'b, 'l>(lines: &'b [Line<'l>]) -> (Vec<(&'b str, &'b str)>, &'b [Line<'l>]) {
    let count = lines.iter().take_while(|line| directive_option(&line.text).is_some()).count();
    let (options, mut body) = lines.split_at(count);
    while let [first, rest @ ..] = body
        && first.text.trim().is_empty()
    {
        body = rest;
    }
    (options.iter().filter_map(|line| directive_option(&line.text)).collect(), body)
}

/// Returns whether a line has a prompt after its indentation.
pub(super) fn is_prompted(line: &str) -> bool {
    has_prompt(line.trim_start_matches([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::super::example::{Case, Document};
    use super::super::parse::Form;
    use super::*;

    #[test]
    fn groups_of_sphinx() {
        let text = "\
.. testsetup:: a, b

   x = 1

.. doctest:: a

   >>> 1

.. doctest:: b, default

   >>> 2

.. testcode:: *

   print(3)

.. testoutput:: *

   3

>>> 4
";
        let document = Document::parse(text, Form::Rst);
        let sources = |case: &Case| case.examples.iter().map(|example| example.source.clone()).collect::<Vec<_>>();
        let found: Vec<_> = document.cases.iter().map(|case| (case.name.as_str(), sources(case).join("; "))).collect();
        let wanted = [("a", "x = 1; 1; print(3)"), ("b", "x = 1; 2; print(3)"), ("", "2; print(3); 4")];
        assert_eq!(found, wanted.map(|(name, sources)| (name, sources.to_owned())));
        assert!(document.cases.iter().all(|case| case.examples.iter().any(|example| example.expected == "3")));
    }

    #[test]
    fn versions_of_python() {
        for (conditions, wanted) in
            [(">= 3.8", true), ("< 3.11", false), (">= 3.8, < 3.10", false), ("== 3.11", true), ("> 3.11", false)]
        {
            assert_eq!(accepts_python(conditions), wanted, "{conditions}");
        }
    }
}
