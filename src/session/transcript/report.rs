//! Results of transcripts as text: one line per file, a line-by-line difference for each failed example, and totals.

use std::collections::{BTreeMap, HashSet};

use owo_colors::{OwoColorize, Style};
use similar::{ChangeTag, TextDiff};

use super::parse::{Case, Example};
use super::run::{CaseReport, FileReport, Verdict};

/// The styles of a report's parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Palette {
    good: Style,
    bad: Style,
    place: Style,
    dim: Style,
}

impl Palette {
    /// Returns styled output if `coloured`, plain output otherwise.
    pub fn new(coloured: bool) -> Palette {
        if !coloured {
            return Palette::default();
        }
        Palette {
            good: Style::new().green(),
            bad: Style::new().red(),
            place: Style::new().bold(),
            dim: Style::new().dimmed(),
        }
    }
}

/// Counts over many files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Inputs, without skipped ones.
    pub examples: Count,
    /// Sessions.
    pub sessions: Count,
    /// The number of fenced blocks that were not read, by their language, or by `no prompt`.
    pub not_read: BTreeMap<String, usize>,
}

/// The numbers of examples that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Printed the recorded output, or had it updated.
    pub passed: usize,
    /// Printed something else, or nothing.
    pub failed: usize,
}

impl Count {
    fn add(&mut self, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

impl Totals {
    /// Adds the results of a file. A session passes if all its examples do; an unreadable file is a failed session.
    pub fn add(&mut self, report: &FileReport) {
        for (why, number) in &report.not_read {
            *self.not_read.entry(why.clone()).or_default() += number;
        }
        let Ok(cases) = &report.cases else {
            self.sessions.add(false);
            return;
        };
        for CaseReport { verdicts, .. } in cases.iter().filter(|case| case.is_asked()) {
            self.sessions.add(verdicts.iter().all(Verdict::is_good));
            for verdict in verdicts.iter().filter(|verdict| **verdict != Verdict::Skipped) {
                self.examples.add(verdict.is_good());
            }
        }
    }

    /// Returns whether something was run and nothing failed.
    pub fn all_passed(&self) -> bool {
        self.sessions.passed > 0 && self.sessions.failed == 0
    }

    /// Returns the lines at the end of a run: what was not read, and the counts.
    pub fn render(&self, palette: &Palette) -> String {
        let style = if self.all_passed() { palette.good } else { palette.bad };
        let not_read = self.not_read_text();
        if self.sessions == Count::default() {
            return format!("{not_read}{}\n", "no session found".style(style));
        }
        format!("{not_read}examples: {}\n{}\n", self.examples, format!("sessions: {}", self.sessions).style(style))
    }

    /// Returns a line on the blocks that were not read: `3 fences not read (julia 2, no prompt 1)`.
    fn not_read_text(&self) -> String {
        let number: usize = self.not_read.values().sum();
        if number == 0 {
            return String::new();
        }
        let mut kinds: Vec<_> = self.not_read.iter().collect();
        kinds.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
        // A mark is text of the page, and must not control the terminal.
        let plain = |why: &str| why.chars().filter(|c| !c.is_control()).collect::<String>();
        let kinds: Vec<_> = kinds.iter().map(|(why, number)| format!("{} {number}", plain(why))).collect();
        format!("{number} fence{} not read ({})\n", if number == 1 { "" } else { "s" }, kinds.join(", "))
    }
}

impl Verdict {
    pub(super) fn is_good(&self) -> bool {
        matches!(self, Verdict::Passed | Verdict::Skipped | Verdict::Updated | Verdict::Unasked)
    }
}

impl CaseReport {
    /// Returns whether the session was selected to run.
    pub(super) fn is_asked(&self) -> bool {
        !self.verdicts.contains(&Verdict::Unasked)
    }
}

impl FileReport {
    /// Returns whether the file could be run and nothing in it failed.
    pub fn is_good(&self) -> bool {
        let good = |cases: &Vec<CaseReport>| cases.iter().flat_map(|case| &case.verdicts).all(Verdict::is_good);
        self.cases.as_ref().is_ok_and(good)
    }

    /// Returns the warnings of the file's examples with their positions, except those already in `told`.
    pub fn warnings(&self, palette: &Palette, told: &mut HashSet<String>) -> String {
        let mut text = String::new();
        for (line, warning) in self.cases.iter().flatten().flat_map(|case| &case.warnings) {
            if told.insert(warning.clone()) {
                let warning = format!("{}:{line}: {warning}", self.target.name());
                text.push_str(&format!("{}\n", warning.style(palette.dim)));
            }
        }
        text
    }

    /// Returns a report for every example with a different output, in order.
    pub fn differences(&self, palette: &Palette) -> Vec<String> {
        let mut all = Vec::new();
        for CaseReport { case, verdicts, .. } in self.cases.iter().flatten() {
            for (example, verdict) in case.examples.iter().zip(verdicts) {
                if let Verdict::Differs(_) = verdict {
                    let mut text = String::new();
                    self.push_failure(&mut text, palette, case, example, verdict);
                    all.push(text);
                }
            }
        }
        all
    }

    /// Returns the file's failures, and a line for the file itself unless `quiet`.
    pub fn render(&self, palette: &Palette, quiet: bool) -> String {
        let cases = match &self.cases {
            Ok(cases) => cases,
            Err(error) => return format!("{} {error}\n", "FAIL".style(palette.bad)),
        };
        let mut text = String::new();
        for CaseReport { case, verdicts, .. } in cases {
            for (example, verdict) in case.examples.iter().zip(verdicts) {
                self.push_failure(&mut text, palette, case, example, verdict);
            }
        }
        if let Some(reason) = &self.not_updated {
            text.push_str(&format!("{}: {reason}\n", self.target.name()));
        }
        let is_asked = cases.is_empty() || cases.iter().any(CaseReport::is_asked);
        if is_asked && !quiet || !text.is_empty() {
            text.push_str(&self.summary(palette, cases));
        }
        text
    }

    pub(super) fn push_failure(
        &self,
        text: &mut String,
        palette: &Palette,
        case: &Case,
        example: &Example,
        verdict: &Verdict,
    ) {
        let detail = match verdict {
            Verdict::Differs(printed) => difference(palette, &example.expected, printed),
            Verdict::Broken(reason) => format!("    {}\n", reason.style(palette.bad)),
            Verdict::Passed | Verdict::Skipped | Verdict::Updated | Verdict::Unasked => return,
        };
        let place = format!("{}:{}", self.target.name(), example.line);
        text.push_str(&format!("{}", place.style(palette.place)));
        if !case.name.is_empty() {
            text.push_str(&format!(" {}", format!("({})", case.name).style(palette.dim)));
        }
        text.push('\n');
        for line in example.input.lines() {
            text.push_str(&format!("    {line}\n"));
        }
        text.push_str(&detail);
    }

    fn summary(&self, palette: &Palette, cases: &[CaseReport]) -> String {
        let count = |wanted: fn(&Verdict) -> bool| {
            cases.iter().flat_map(|case| &case.verdicts).filter(|verdict| wanted(verdict)).count()
        };
        let counts: Vec<_> = [
            (count(|verdict| *verdict == Verdict::Passed), "passed"),
            (count(|verdict| !verdict.is_good()), "failed"),
            (count(|verdict| *verdict == Verdict::Updated), "updated"),
            (count(|verdict| *verdict == Verdict::Skipped), "skipped"),
        ]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
        let counts = if counts.is_empty() { "no examples".to_owned() } else { counts.join(", ") };
        let mark = if self.is_good() { "ok  ".style(palette.good) } else { "FAIL".style(palette.bad) };
        format!("{mark} {}: {counts}\n", self.target.name())
    }
}

/// Marks recorded lines that were not printed with `-`, and printed lines that were not recorded with `+`.
fn difference(palette: &Palette, expected: &str, printed: &str) -> String {
    let (expected, printed) = (closed(expected), closed(printed));
    let mut text = String::new();
    for change in TextDiff::from_lines(&expected, &printed).iter_all_changes() {
        let line = change.value().trim_end_matches('\n');
        text.push_str(&match change.tag() {
            ChangeTag::Delete => format!("  {}\n", format!("- {line}").style(palette.bad)),
            ChangeTag::Insert => format!("  {}\n", format!("+ {line}").style(palette.good)),
            ChangeTag::Equal => format!("    {line}\n"),
        });
    }
    text
}

/// Ends the last line, so that a missing line end does not count as a difference.
fn closed(text: &str) -> String {
    let text = text.trim_end_matches('\n');
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::files::Target;
    use super::super::parse::{Document, Form};
    use super::*;

    fn report(text: &str, verdicts: Vec<Verdict>) -> FileReport {
        let document = Document::parse(text, Form::Text);
        let case = Arc::new(document.cases[0].clone());
        let target = Target::file("dir/a.txt".into());
        FileReport {
            target,
            cases: Ok(vec![CaseReport { case, verdicts, warnings: Vec::new() }]),
            not_read: BTreeMap::new(),
            not_updated: None,
        }
    }

    #[test]
    fn a_failure_names_its_line_and_shows_what_differs() {
        let report = report(">>> x\n1\n2\n>>> y\n", vec![Verdict::Differs("1\n3\n".to_owned()), Verdict::Passed]);
        let wanted = "dir/a.txt:1\n    >>> x\n    1\n  - 2\n  + 3\nFAIL dir/a.txt: 1 passed, 1 failed\n";
        assert_eq!(report.render(&Palette::new(false), true), wanted);
        let mut totals = Totals::default();
        totals.add(&report);
        assert_eq!(totals.render(&Palette::new(false)), "examples: 1 passed, 1 failed\nsessions: 0 passed, 1 failed\n");
        let coloured = report.render(&Palette::new(true), true);
        assert!(coloured.contains("\u{1b}[31m- 2\u{1b}["), "{coloured:?}");
    }

    #[test]
    fn a_good_file_is_one_line_or_none() {
        let report = report(">>> x\n>>> y\n", vec![Verdict::Passed, Verdict::Skipped]);
        assert_eq!(report.render(&Palette::new(false), false), "ok   dir/a.txt: 1 passed, 1 skipped\n");
        assert_eq!(report.render(&Palette::new(false), true), "");
    }
}
