//! Results of pages as text: one line per file, a line-by-line difference for each failed example, and totals.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use owo_colors::{OwoColorize, Style};
use similar::{ChangeTag, TextDiff};

use super::example::{Case, Example};
use super::verdict::Kind;
use super::verdict::{CaseReport, FileReport, Standing, Verdict};

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
    /// Inputs that agree with their page, and those that do not; without skipped ones, and those of `apart`.
    pub examples: Count,
    /// Sessions. One fails if an example in it does.
    pub sessions: Count,
    /// The number of examples that only had to run.
    pub ran: usize,
    /// The number of examples that cannot agree here.
    pub apart: BTreeMap<Kind, usize>,
    /// The number of failures that the baseline lists.
    pub accepted: usize,
    /// The number of blocks that were not read, by their language, or by `no prompt`.
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
        for report in cases.iter().filter(|case| case.is_asked()) {
            self.sessions.add(!report.is_bad());
            for (_, verdict) in report.counted() {
                match (verdict, verdict.standing()) {
                    (Verdict::Skipped, _) => {}
                    (_, Standing::Apart(kind)) => *self.apart.entry(kind).or_default() += 1,
                    (Verdict::Accepted, _) => self.accepted += 1,
                    (verdict, standing) => {
                        self.ran += usize::from(*verdict == Verdict::Ran);
                        self.examples.add(standing == Standing::Good);
                    }
                }
            }
        }
    }

    /// Returns whether something was run and nothing failed.
    pub(super) fn all_passed(&self) -> bool {
        self.sessions.passed > 0 && self.sessions.failed == 0
    }

    /// Returns whether there was no session to run.
    pub fn is_empty(&self) -> bool {
        self.sessions == Count::default()
    }

    /// Returns whether everything was read, run and compared, and agrees.
    pub fn all_confirmed(&self) -> bool {
        self.all_passed() && self.not_read.is_empty() && self.apart.is_empty()
    }

    /// Returns the exit status: 1 if something failed, or nothing was run; 3 if nothing failed, but something is
    /// missing here; else 0.
    pub fn status(&self) -> i32 {
        match self.all_passed() {
            false => 1,
            true if self.apart.contains_key(&Kind::Missing) => 3,
            true => 0,
        }
    }

    /// Returns the lines at the end of a run: what was not read and not compared, and the counts.
    pub fn render(&self, palette: &Palette) -> String {
        let style = if self.all_passed() { palette.good } else { palette.bad };
        let mut text = listed(&self.not_read, "fence", "fences", "not read");
        let apart = self.apart.iter().map(|(kind, number)| (kind.word().to_owned(), *number)).collect();
        text.push_str(&listed(&apart, "example", "examples", "cannot agree here"));
        if self.ran > 0 {
            text.push_str(&format!("{} only ran: the page does not show the output\n", examples(self.ran)));
        }
        if self.accepted > 0 {
            text.push_str(&format!("{} in the baseline\n", examples(self.accepted)));
        }
        if self.is_empty() {
            return format!("{text}{}\n", "no session found".style(style));
        }
        format!("{text}examples: {}\n{}\n", self.examples, format!("sessions: {}", self.sessions).style(style))
    }
}

/// Formats numbers of things by their kind, the most frequent first: `3 fences not read (julia 2, no prompt 1)`. Returns
/// an empty text if all are 0.
fn listed(kinds: &BTreeMap<String, usize>, one: &str, many: &str, what: &str) -> String {
    let number: usize = kinds.values().sum();
    if number == 0 {
        return String::new();
    }
    let mut kinds: Vec<_> = kinds.iter().collect();
    kinds.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
    // A mark is text of the page, and must not control the terminal.
    let plain = |why: &str| why.chars().filter(|c| !c.is_control()).collect::<String>();
    let kinds: Vec<_> = kinds.iter().map(|(why, number)| format!("{} {number}", plain(why))).collect();
    format!("{number} {} {what} ({})\n", if number == 1 { one } else { many }, kinds.join(", "))
}

fn examples(number: usize) -> String {
    format!("{number} example{}", if number == 1 { "" } else { "s" })
}

impl FileReport {
    /// Returns whether the file could be run and nothing in it failed.
    pub fn is_good(&self) -> bool {
        self.cases.as_ref().is_ok_and(|cases| !cases.iter().any(CaseReport::is_bad))
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
        for report in cases {
            for (index, (example, verdict)) in report.case.examples.iter().zip(&report.verdicts).enumerate() {
                self.push_failure(&mut text, palette, &report.case, example, verdict);
                if matches!(verdict, Verdict::Differs(_) | Verdict::Broken(_)) {
                    text.push_str(&hanging(report.hanging_on(index), "    ", "\n"));
                }
            }
        }
        text.push_str(&self.apart(palette, cases, quiet));
        if let Some(advice) = &self.advice {
            text.push_str(&format!("{}: {advice}\n", self.target.name()));
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
            _ => return,
        };
        let file = example.origin.file().map_or_else(|| self.target.name(), str::to_owned);
        let place = format!("{file}:{}", example.line);
        text.push_str(&format!("{}", place.style(palette.place)));
        let name = if case.name.is_empty() { &example.heading } else { &case.name };
        if !name.is_empty() {
            text.push_str(&format!(" {}", format!("({name})").style(palette.dim)));
        }
        text.push('\n');
        for line in example.input.lines() {
            text.push_str(&format!("    {line}\n"));
        }
        text.push_str(&detail);
    }

    /// Returns the lines on examples that cannot agree here: one for each thing that is missing, and one for each other
    /// kind.
    fn apart(&self, palette: &Palette, cases: &[CaseReport], quiet: bool) -> String {
        let mut lines: BTreeMap<Kind, BTreeSet<usize>> = BTreeMap::new();
        // A set-up fails in every session.
        let mut missing: BTreeMap<(bool, &str, usize), (&str, usize)> = BTreeMap::new();
        for report in cases {
            for (index, (example, verdict)) in report.case.examples.iter().zip(&report.verdicts).enumerate() {
                match verdict {
                    Verdict::Apart(Kind::Missing, printed) => {
                        let error = printed.trim_end().lines().next_back().unwrap_or_default();
                        let file = example.origin.file();
                        let place = (file.is_none(), file.unwrap_or_default(), example.line);
                        let hanging = report.hanging_on(index);
                        if hanging > 0 || verdict.counts(example) {
                            missing.entry(place).or_insert((error, 0)).1 += hanging;
                        }
                    }
                    Verdict::Apart(kind, _) | Verdict::Follows { kind: Some(kind), .. } if *kind != Kind::Missing => {
                        lines.entry(*kind).or_default().insert(example.line);
                    }
                    _ => {}
                }
            }
        }
        let mut text = String::new();
        for ((is_page, file, line), (error, number)) in missing {
            let file = if is_page { self.target.name() } else { file.to_owned() };
            let place = format!("{file}:{line}");
            let hanging = hanging(number, " (", ")");
            text.push_str(&format!("{}: missing here: {error}{hanging}\n", place.style(palette.place)));
        }
        for (kind, lines) in lines.iter().filter(|_| !quiet) {
            let why = match kind {
                Kind::Random => "random values without a seed",
                Kind::Address => "addresses",
                Kind::Time => "times",
                Kind::Device => "a device that is not here",
                Kind::Missing => "something missing",
            };
            let places: Vec<_> = lines.iter().map(usize::to_string).collect();
            let word = if places.len() == 1 { "line" } else { "lines" };
            let line = format!("{}: cannot agree: {why}, {word} {}", self.target.name(), places.join(", "));
            text.push_str(&format!("{}\n", line.style(palette.dim)));
        }
        text
    }

    fn summary(&self, palette: &Palette, cases: &[CaseReport]) -> String {
        let all = || cases.iter().flat_map(CaseReport::counted);
        let count = |wanted: fn(&Verdict) -> bool| all().filter(|(_, verdict)| wanted(verdict)).count();
        let mut apart: BTreeMap<Kind, usize> = BTreeMap::new();
        for (_, verdict) in all() {
            if let Standing::Apart(kind) = verdict.standing() {
                *apart.entry(kind).or_default() += 1;
            }
        }
        let counts: Vec<_> = [
            (count(|verdict| *verdict == Verdict::Passed), "passed"),
            (count(|verdict| *verdict == Verdict::Ran), "ran"),
            (count(Verdict::is_bad), "failed"),
            (count(|verdict| *verdict == Verdict::Accepted), "in the baseline"),
            (count(|verdict| *verdict == Verdict::Updated), "updated"),
            (count(|verdict| *verdict == Verdict::Skipped), "skipped"),
        ]
        .into_iter()
        .chain(apart.into_iter().map(|(kind, number)| (number, kind.word())))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
        let counts = if counts.is_empty() { "no examples".to_owned() } else { counts.join(", ") };
        let mark = if self.is_good() { "ok  ".style(palette.good) } else { "FAIL".style(palette.bad) };
        format!("{mark} {}: {counts}\n", self.target.name())
    }
}

/// Says how many examples hang on another, between two texts. Returns an empty text for 0.
fn hanging(number: usize, before: &str, after: &str) -> String {
    match number {
        0 => String::new(),
        1 => format!("{before}1 more example hangs on it{after}"),
        number => format!("{before}{number} more examples hang on it{after}"),
    }
}

/// The largest number of lines whose differences are looked for, which may take its square.
const MOST_LINES: usize = 5_000;

/// Marks recorded lines that were not printed with `-`, and printed lines that were not recorded with `+`.
fn difference(palette: &Palette, expected: &str, printed: &str) -> String {
    let (expected, printed) = (closed(expected), closed(printed));
    let mut text = String::new();
    if expected.lines().count().max(printed.lines().count()) > MOST_LINES {
        let marked = |sign: &str, text: &str, style: Style| -> String {
            text.lines().map(|line| format!("  {}\n", format!("{sign} {line}").style(style))).collect()
        };
        let (removed, added) = (marked("-", &expected, palette.bad), marked("+", &printed, palette.good));
        return format!("{removed}{added}");
    }
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

    use super::super::example::Document;
    use super::super::files::Target;
    use super::super::parse::Form;
    use super::*;

    fn report(text: &str, verdicts: Vec<Verdict>) -> FileReport {
        let document = Document::parse(text, Form::Text);
        let case = Arc::new(document.cases[0].clone());
        let target = Target::file("dir/a.txt".into());
        FileReport {
            target,
            cases: Ok(vec![CaseReport::of_verdicts(case, verdicts)]),
            not_read: BTreeMap::new(),
            not_updated: None,
            advice: None,
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
