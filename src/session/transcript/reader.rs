//! Assembles sessions from the blocks of a page, whatever its form.

use std::collections::BTreeMap;

use super::example::{
    Case, Document, Example, Manner, Origin, Reading, TRACEBACK, Written, continuation_of, prompt_of,
};
use super::lines::{Encoding, Line, dedent, indent_of, lines};
use super::options::{Mark, Options, Scope, Settings};
use super::prompts::{has_prompt, in_number_of, out_number_of};
use crate::Language;
use crate::logical::{LineScanner, is_block};

/// When the example of a block runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Before the others, in every session of the page.
    Setup,
    #[default]
    Test,
    /// After the others, in every session of the page.
    Cleanup,
}

/// What a page says about a block.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockOptions {
    pub(super) role: Role,
    /// The groups of sessions in `sphinx.ext.doctest`; none for its default, `*` for all.
    pub(super) groups: Vec<String>,
    /// Options of doctest, separated by commas or spaces.
    pub(super) options: String,
}

impl BlockOptions {
    /// Returns whether the block belongs to a group. The default has an empty name.
    fn is_in(&self, group: &str) -> bool {
        match self.groups.as_slice() {
            [] => group.is_empty(),
            groups => groups.iter().any(|own| own == "*" || own == group),
        }
    }
}

/// An example, and the parts of the page that it belongs to.
#[derive(Clone)]
struct Item {
    example: Example,
    heading: usize,
    block: usize,
    about: BlockOptions,
}

/// Collects the examples of a page.
#[derive(Default)]
pub(super) struct Reader {
    items: Vec<Item>,
    /// The numbers of the current heading and block, from 0.
    heading: usize,
    block: usize,
    name: String,
    about: BlockOptions,
    /// The lines of the last example, if it can still take some. A closed block ends it.
    open: Option<OpenExample>,
    is_page: bool,
    settings: Settings,
    /// What the next block is, as a comment says.
    mark: Option<Mark>,
    /// The first fault in what the page says about itself.
    fault: Option<String>,
    not_read: BTreeMap<String, usize>,
}

/// The state of the example that takes lines.
struct OpenExample {
    scanner: LineScanner,
    /// Whether no output has been read yet.
    is_input: bool,
    /// Whether the lines of its block have no prompts.
    is_bare: bool,
}

impl Reader {
    /// Reads a file that is one session, or a page with sessions.
    pub(super) fn text(&mut self, text: &str) {
        let first = text.lines().find(|line| !line.trim().is_empty());
        let is_session = first.is_none_or(has_prompt);
        self.is_page = !is_session;
        if is_session {
            lines(text).for_each(|line| self.session_line(&line, "", Encoding::Plain));
        } else {
            self.loose(lines(text), Encoding::Plain);
        }
    }

    /// Reads lines with prompts among prose. A prompt may be indented. Text to the left of it ends the output, and so
    /// does text after a blank line that is not indented further.
    pub(super) fn loose<'a>(&mut self, lines: impl Iterator<Item = Line<'a>>, encoding: Encoding) {
        let (mut indent, mut is_below_blank) = (String::new(), false);
        for line in lines {
            let body = line.text.trim_start();
            let column = line.text.len() - body.len();
            if has_prompt(body) {
                if self.open.is_none() || column < indent.len() {
                    self.block += 1;
                }
                line.text.get(..column).unwrap_or_default().clone_into(&mut indent);
            } else if !body.is_empty()
                && (column < indent.len() || is_below_blank && column == indent.len())
                && out_number_of(body).is_none()
                && !self.is_continued()
            {
                self.close_block();
            }
            is_below_blank = body.is_empty();
            self.session_line(&line, &indent, encoding);
        }
        self.close_block();
    }

    /// Reads the lines of a block with prompts.
    pub(super) fn session_block(&mut self, lines: &[Line<'_>], indent: &str, encoding: Encoding) {
        lines.iter().for_each(|line| self.session_line(line, indent, encoding));
        self.close_block();
    }

    /// Returns whether the last line is an input that surely goes on, in an open bracket or string.
    fn is_continued(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.is_input && open.scanner.is_open())
    }

    /// Reads a line inside a session. `indent` is the prefix of the block around it.
    pub(super) fn session_line(&mut self, line: &Line<'_>, indent: &str, encoding: Encoding) {
        let text = dedent(&line.text, indent);
        let prompt = prompt_of(text).map(|(language, input)| (language, input, Manner::Prompt));
        let prompt = prompt.or_else(|| Some((Language::Python, in_number_of(text)?, Manner::Cell)));
        if let Some((language, input, manner)) = prompt {
            if manner == Manner::Prompt && self.is_inside_block(language, input) {
                return self.push_input(text, input, line);
            }
            let mut scanner = LineScanner::new(language);
            scanner.line(input);
            self.open = Some(OpenExample { scanner, is_input: true, is_bare: false });
            let prefix = line.text.strip_suffix(text).unwrap_or_default();
            let written = Written::Lines {
                indent: prefix.to_owned(),
                line_end: if line.end == "\r\n" { "\r\n" } else { "\n" },
                encoding,
                numbered: None,
            };
            let example = Example {
                language,
                manner,
                line: line.number,
                heading: self.name.clone(),
                input: format!("{text}{}", line.end),
                source: input.to_owned(),
                expected: String::new(),
                options: Options::default(),
                output: line.after..line.after,
                written,
                origin: Origin::Page,
            };
            return self.push(example);
        }
        let (Some(open), Some(item)) = (&mut self.open, self.items.last_mut()) else { return };
        let example = &mut item.example;
        if open.is_input {
            let continued = continuation_of(text, example.language)
                .or_else(|| text.trim_start().strip_prefix("...:").map(|rest| rest.strip_prefix(' ').unwrap_or(rest)));
            if let Some(input) = continued {
                return self.push_input(text, input, line);
            }
            let is_header = || example.source.trim_end().ends_with(':') && is_block(&example.source);
            let is_indented = text.starts_with([' ', '\t']) && !text.trim().is_empty();
            // The error of an input that is never closed.
            let is_report = text == TRACEBACK || text.starts_with("  File \"");
            if !is_report && (open.scanner.is_open() || is_indented && (open.is_bare || is_header())) {
                open.is_bare |= !open.scanner.is_open();
                return self.push_input(text, text, line);
            }
        }
        open.is_input = false;
        let (number, value) = match out_number_of(text) {
            Some(value) => (text.strip_suffix(value).map(str::to_owned), value),
            None => (None, text),
        };
        if let (Some(number), Written::Lines { numbered, .. }) = (number, &mut example.written) {
            // IPython separates the value from the input by a blank line in some versions.
            *numbered = Some((example.expected.lines().count(), number));
            example.output.end = line.after;
            if value.is_empty() {
                return;
            }
        }
        example.expected.push_str(value);
        example.expected.push('\n');
        if !value.is_empty() {
            example.output.end = line.after;
        }
    }

    /// Returns whether a line with a prompt belongs to the block above it: pages also put prompts before its lines.
    fn is_inside_block(&self, language: Language, input: &str) -> bool {
        let (Some(open), Some(item)) = (&self.open, self.items.last()) else { return false };
        open.is_input
            && language == Language::Python
            && item.example.language == language
            && item.example.manner == Manner::Prompt
            && (input.starts_with([' ', '\t']) && !input.trim().is_empty() || is_clause(input))
            && is_block(&item.example.source)
    }

    /// Adds a line to the input of the last example. `text` is the line with its prompt.
    fn push_input(&mut self, text: &str, input: &str, line: &Line<'_>) {
        let (Some(open), Some(item)) = (&mut self.open, self.items.last_mut()) else { return };
        open.scanner.line(input);
        let example = &mut item.example;
        example.input.push_str(text);
        example.input.push_str(line.end);
        example.source.push('\n');
        example.source.push_str(input);
        example.output = line.after..line.after;
    }

    /// Adds an example to the current block.
    pub(super) fn push(&mut self, mut example: Example) {
        let mut about = self.about.clone();
        match self.mark {
            Some(Mark::Setup) => about.role = Role::Setup,
            Some(Mark::Skip) => example.options.skip = true,
            None => {}
        }
        self.items.push(Item { example, heading: self.heading, block: self.block, about });
    }

    /// Returns the heading above.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the last example of these groups.
    pub(super) fn last_of_groups(&mut self, groups: &[String]) -> Option<&mut Example> {
        let item = self.items.iter_mut().rev().find(|item| item.about.groups == groups);
        item.filter(|item| item.about.role == Role::Test).map(|item| &mut item.example)
    }

    /// Sets what the page says about the blocks that follow, up to the next call.
    pub(super) fn about(&mut self, about: BlockOptions) {
        self.about = about;
    }

    /// Counts a block without examples.
    pub(super) fn not_read(&mut self, why: &str) {
        *self.not_read.entry(why.to_owned()).or_default() += 1;
        self.mark = None;
    }

    /// Begins the part of the page below a heading.
    pub(super) fn heading(&mut self, name: &str) {
        self.close_block();
        self.heading += 1;
        name.clone_into(&mut self.name);
    }

    /// Reads what a page says about itself, at a line.
    pub(super) fn comment(&mut self, words: &str, line: usize) {
        match self.settings.take(words) {
            Ok(None) => {}
            Ok(mark) => self.mark = mark,
            Err(word) => {
                let fault = format!(
                    "line {line}: unknown word {word:?} after `tensorsh:`; known are session=page|heading|block, \
                     setup=FILE, setup, skip, and options such as +NUMBER"
                );
                self.fault.get_or_insert(fault);
            }
        }
    }

    /// Closes the block. Text after it is prose, not output.
    pub(super) fn close_block(&mut self) {
        if self.items.last().is_some_and(|item| item.block == self.block) {
            self.mark = None;
        }
        self.block += 1;
        self.open = None;
    }

    /// Sorts the examples into sessions.
    pub(super) fn finish(mut self, scope: Scope, reading: &Reading) -> Result<Document, String> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let scope = self.settings.scope.or(reading.scope).unwrap_or(scope);
        for Item { example, about, .. } in &mut self.items {
            example.expected.truncate(example.expected.trim_end_matches('\n').len());
            let mut options = Options { page: self.is_page, ..reading.options.clone() };
            options.add(&self.settings.options);
            options.add(&example.options);
            options.set_all(&about.options);
            options.take_from(&mut example.source, example.language);
            example.options = options;
        }
        Ok(Document { cases: sessions(self.items, scope), not_read: self.not_read, settings: self.settings })
    }
}

/// Groups examples into sessions, in the order of the first test of each.
fn sessions(items: Vec<Item>, scope: Scope) -> Vec<Case> {
    // Set-ups run in every session of their group.
    let (tests, shared): (Vec<Item>, Vec<Item>) = items.into_iter().partition(|item| item.about.role == Role::Test);
    // The names of the groups, in the order of the page.
    let mut names: Vec<&str> = Vec::new();
    for item in &tests {
        let own = item.about.groups.iter().map(String::as_str).filter(|name| *name != "*");
        let default = item.about.groups.is_empty().then_some("");
        for name in own.chain(default) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        names.push("");
    }
    let mut order: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    let mut groups: Vec<(&str, Vec<&Item>)> = Vec::new();
    for item in &tests {
        let part = match scope {
            Scope::Page => 0,
            Scope::Heading => item.heading,
            Scope::Block => item.block,
        };
        for name in names.iter().copied().filter(|name| item.about.is_in(name)) {
            let index = *order.entry((part, name)).or_insert(groups.len());
            if index == groups.len() {
                groups.push((name, Vec::new()));
            }
            if let Some((_, group)) = groups.get_mut(index) {
                group.push(item);
            }
        }
    }
    if groups.is_empty() && !shared.is_empty() {
        groups.push(("", Vec::new()));
    }
    let case = |(name, group): (&str, Vec<&Item>)| {
        let of_role = |role| {
            let is_shared = move |item: &&Item| item.about.role == role && item.about.is_in(name);
            shared.iter().filter(is_shared).map(|item| item.example.clone())
        };
        let heading = match scope {
            Scope::Page => "",
            Scope::Heading | Scope::Block => group.first().map_or("", |item| &item.example.heading),
        };
        let mut examples: Vec<Example> = of_role(Role::Setup).collect();
        examples.extend(group.iter().map(|item| item.example.clone()));
        examples.extend(of_role(Role::Cleanup));
        Case { name: if name.is_empty() { heading } else { name }.to_owned(), examples }
    };
    groups.into_iter().map(case).filter(|case| !case.examples.is_empty()).collect()
}

/// Returns whether a line is a clause of the block above it.
fn is_clause(input: &str) -> bool {
    let word = input.split(|next: char| !next.is_alphanumeric()).next().unwrap_or_default();
    matches!(word, "else" | "elif" | "except" | "finally")
}

/// Returns the common indentation of lines that are not blank.
pub(super) fn common_indent<'a>(lines: impl Iterator<Item = &'a str>) -> &'a str {
    let indents = lines.filter(|line| !line.trim().is_empty()).map(indent_of);
    indents.min_by_key(|indent| indent.len()).unwrap_or_default()
}
