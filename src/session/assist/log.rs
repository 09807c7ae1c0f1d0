//! The log of inputs and outputs in order. `:save` writes it and `:check` compares it.

use crate::transcript::{Document, Form, Options, matches, printed};
use crate::{Language, Lines, Outcome, Session};
use std::collections::{BTreeSet, HashSet};

/// The maximum number of bytes kept of one input's output.
const LARGEST: usize = 1 << 20;
/// The maximum number of bytes kept of all output.
const ALL: usize = 64 << 20;

/// The inputs of a session and their outputs.
#[derive(Debug, Default)]
pub struct Log {
    entries: Vec<Entry>,
    /// The number of inputs at each point that undo can return to.
    moments: Vec<usize>,
    /// The undone inputs, step by step, the latest last.
    undone: Vec<Vec<Entry>>,
    /// The output of the running input so far.
    current: String,
    is_cut: bool,
    bytes: usize,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub language: Language,
    pub source: String,
    /// The output in a transcript's form; every line ends in a newline.
    pub output: String,
    /// Whether part of the output was not kept.
    pub is_cut: bool,
    /// Whether the input ended with an error.
    pub failed: bool,
    /// The script's file, if the input is the text of a script.
    pub file: Option<String>,
}

impl Log {
    /// Records output of the running input.
    pub fn print(&mut self, text: &str) {
        if self.is_cut || self.current.len() + text.len() > LARGEST || self.bytes > ALL {
            self.is_cut = true;
        } else {
            self.current.push_str(text);
        }
    }

    /// Begins an input. Output printed since the last one belongs to none.
    pub fn begin(&mut self) {
        self.current.clear();
        self.is_cut = false;
    }

    /// Ends an input, which may be a script from a file.
    pub fn end(&mut self, language: Language, source: &str, file: Option<&str>, outcome: &Outcome) {
        let text = std::mem::take(&mut self.current);
        let output = printed(&Outcome { text, error: outcome.error.clone(), exit: None, note: None });
        self.bytes += output.len() + source.len();
        let is_cut = std::mem::take(&mut self.is_cut);
        let failed = outcome.error.is_some();
        let file = file.map(str::to_owned);
        self.entries.push(Entry { language, source: source.to_owned(), output, is_cut, failed, file });
    }

    /// Records that undo can return to this point.
    pub fn mark(&mut self) {
        self.undone.clear();
        self.moments.push(self.entries.len());
    }

    /// Removes the inputs since the last recorded point, and returns them.
    pub(crate) fn go_back(&mut self) -> Vec<Entry> {
        let length = self.moments.pop().filter(|length| *length <= self.entries.len());
        let entries = length.map(|length| self.entries.split_off(length)).unwrap_or_default();
        self.undone.push(entries.clone());
        entries
    }

    /// Restores the most recently removed inputs, and returns them.
    pub(crate) fn go_forward(&mut self) -> Vec<Entry> {
        let entries = self.undone.pop().unwrap_or_default();
        self.moments.push(self.entries.len());
        self.entries.extend(entries.iter().cloned());
        entries
    }

    /// Returns the number of inputs so far.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the inputs from index `first` on.
    pub fn since(&self, first: usize) -> &[Entry] {
        self.entries.get(first..).unwrap_or_default()
    }

    fn typed(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.file.is_none())
    }

    /// Returns the session as a transcript in Markdown, without the scripts it has loaded.
    ///
    /// # Errors
    /// Fails with a sentence about an input that would not read back unchanged.
    pub fn markdown(&self, title: &str) -> Result<String, String> {
        let mut text = format!("# {title}\n");
        let mut open: Option<Language> = None;
        for entry in self.typed() {
            if open != Some(entry.language) {
                if open.is_some() {
                    text.push_str("```\n");
                }
                let mark = if entry.language == Language::Python { "pycon" } else { "rhai-session" };
                text.push_str(&format!("\n```{mark}\n"));
                open = Some(entry.language);
            }
            text.push_str(&entry.with_prompts());
            text.push_str(&entry.output);
        }
        if open.is_some() {
            text.push_str("```\n");
        }
        self.check(&text)?;
        Ok(text)
    }

    /// Checks that a transcript reads back as these inputs and outputs.
    fn check(&self, text: &str) -> Result<(), String> {
        let document = Document::parse(text, Form::Markdown);
        let mut read: Vec<_> = document.cases.iter().flat_map(|case| &case.examples).collect();
        read.reverse();
        for entry in self.typed() {
            let same = read.pop().is_some_and(|example| {
                example.source.trim_end() == entry.annotated().trim_end()
                    && example.expected == entry.output.trim_end_matches('\n')
            });
            if !same {
                let first = entry.source.lines().next().unwrap_or_default();
                return Err(format!("cannot save `{first}` in a transcript: a line of its output looks like a prompt"));
            }
        }
        Ok(())
    }

    /// Returns the inputs that did not fail as a script, which has not been run yet. An input is left out if it only
    /// defines functions that a later one redefines: a script knows all its functions from the first line on.
    ///
    /// # Errors
    /// Fails with a sentence about an input that cannot be expressed in the script's language.
    pub fn script(&self, session: &Session, language: Language) -> Result<String, String> {
        let mut known = BTreeSet::new();
        let mut parts: Vec<(&Entry, Option<Lines>)> = Vec::new();
        for entry in &self.entries {
            let lines = match entry.failed {
                true => None,
                false => {
                    Some(session.scripted(language, entry.language, &entry.source, &mut known).map_err(|reason| {
                        let first = entry.file.as_deref().or(entry.source.lines().next()).unwrap_or_default();
                        let number = parts.len() + 1;
                        format!("input {number}, `{first}`: {reason}; a transcript, FILE.md, holds both languages")
                    })?)
                }
            };
            parts.push((entry, lines));
        }
        let mut defined = HashSet::new();
        for (_, lines) in parts.iter_mut().rev() {
            let Some(Lines { functions, only_defines, .. }) = lines else { continue };
            let is_outdated = functions.iter().all(|function| defined.contains(function));
            if *only_defines && !functions.is_empty() && is_outdated {
                *lines = None;
            } else {
                defined.extend(functions.iter().cloned());
            }
        }
        let comment = if language == Language::Python { "#" } else { "//" };
        let mut text = String::new();
        for (entry, lines) in parts {
            let reason = if entry.failed { "failed" } else { "redefined below" };
            match (lines, &entry.file) {
                (Some(lines), _) => text.push_str(&format!("{}\n", lines.text)),
                (None, Some(file)) => text.push_str(&format!("{comment} {reason}: :load {file}\n")),
                (None, None) => {
                    let lines = entry.source.trim_end().lines();
                    text.extend(lines.map(|line| format!("{comment} {reason}: {line}\n")));
                }
            }
        }
        Ok(text)
    }
}

impl Entry {
    /// Returns the input with its prompts; every line ends in a newline.
    fn with_prompts(&self) -> String {
        let (first, next) = self.language.signs();
        let source = self.annotated();
        let lines = source.split('\n').enumerate().map(|(at, line)| {
            let prompt = if at == 0 { first } else { next };
            format!("{prompt}{line}").trim_end().to_owned() + "\n"
        });
        lines.collect()
    }

    /// Returns the input. If its output was cut, a comment excludes it from tests.
    fn annotated(&self) -> String {
        let comment = if self.language == Language::Python { "#" } else { "//" };
        if self.is_cut { format!("{}  {comment} doctest: +SKIP", self.source) } else { self.source.clone() }
    }
}

/// Compares the outputs of a pasted session with those printed here. Returns a report for each difference, and the
/// number of matches.
pub(super) fn compare(pasted: &str, entries: &[Entry]) -> (Vec<String>, usize) {
    let document = Document::parse(pasted, Form::Text);
    let (mut reports, mut same) = (Vec::new(), 0);
    let recorded = document.cases.iter().flat_map(|case| &case.examples);
    for (example, entry) in recorded.zip(entries) {
        if example.options.skip {
            continue;
        }
        // Pasted text is a page, or part of one.
        let options = Options { page: true, ..example.options.clone() };
        if matches(&example.expected, &entry.output, &options) {
            same += 1;
            continue;
        }
        let lines =
            |sign: char, text: &str| -> String { text.lines().map(|line| format!("{sign} {line}\n")).collect() };
        let (expected, output) = (lines('-', &example.expected), lines('+', &entry.output));
        reports.push(format!("{}{expected}{output}", example.input));
    }
    (reports, same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionOptions;

    fn logged(inputs: &[(Language, &str)]) -> (Log, Session) {
        let mut log = Log::default();
        let mut session = Session::new(SessionOptions::default());
        for (language, source) in inputs {
            let outcome = session.eval(*language, source);
            log.print(&outcome.text);
            log.end(*language, source, None, &outcome);
        }
        (log, session)
    }

    #[test]
    fn a_saved_session_reads_back() {
        let (log, session) = logged(&[
            (Language::Rhai, "let t = torch.arange(3);"),
            (Language::Rhai, "t\n"),
            (Language::Python, "for i in t:\n    print(i)\n"),
            (Language::Python, "t.view(2)"),
        ]);
        let text = log.markdown("A session").unwrap();
        assert!(text.contains("rhai> t\n") && text.contains("... ") && text.contains("RuntimeError: shape"), "{text}");
        let script = log.script(&session, Language::Rhai);
        let wanted = "let t = torch.arange(3);\nt;\nfor i in t { print(i); }\n// failed: t.view(2)\n";
        assert_eq!(script.as_deref(), Ok(wanted));
    }

    #[test]
    fn what_cannot_be_read_back_is_not_saved() {
        let (log, _) = logged(&[(Language::Rhai, "print(\">>> 1\")")]);
        assert!(log.markdown("A session").is_err());
    }

    #[test]
    fn pasted_outputs_are_compared() {
        let (log, _) = logged(&[(Language::Python, "1 + 1"), (Language::Python, "2 + 2")]);
        let (reports, same) = compare(">>> 1 + 1\n2\n>>> 2 + 2\n5\n", log.since(0));
        assert_eq!((reports, same), (vec![">>> 2 + 2\n- 5\n+ 4\n".to_owned()], 1));
    }
}
