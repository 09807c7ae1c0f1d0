//! Results of transcripts for other programs: JSON, and JUnit's XML for continuous integration.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::example::Example;
use super::report::{Count, Palette, Totals};
use super::verdict::Kind;
use super::verdict::{CaseReport, FileReport, Standing, Verdict};

/// Reports as one JSON document.
#[derive(Clone, Debug, Default)]
pub struct Json(Vec<Value>);

impl Json {
    /// Adds the sessions of a file and their examples. Outputs of passed examples are left out: they are in the file.
    pub fn add(&mut self, report: &FileReport) {
        self.0.push(report.to_json());
    }

    /// Returns the document as text.
    pub fn text(self, totals: &Totals) -> String {
        format!("{:#}\n", self.value(totals))
    }

    /// Returns the document.
    pub fn value(self, totals: &Totals) -> Value {
        let count = |count: &Count| json!({ "passed": count.passed, "failed": count.failed });
        let (examples, sessions) = (count(&totals.examples), count(&totals.sessions));
        let apart: serde_json::Map<_, _> =
            totals.apart.iter().map(|(kind, number)| (kind.word().to_owned(), json!(number))).collect();
        let totals = json!({
            "examples": examples,
            "sessions": sessions,
            "ran": totals.ran,
            "cannot_agree": apart,
            "accepted": totals.accepted,
            "fences_not_read": totals.not_read,
        });
        json!({ "files": self.0, "totals": totals })
    }
}

impl FileReport {
    fn to_json(&self) -> Value {
        let example = |report: &CaseReport, example: &Example, verdict: &Verdict| {
            let mut entry = json!({ "line": example.line, "input": example.source, "verdict": verdict.word() });
            match verdict {
                Verdict::Differs(printed) => {
                    entry["expected"] = example.expected.as_str().into();
                    entry["printed"] = printed.trim_end_matches('\n').into();
                }
                Verdict::Broken(reason) => entry["reason"] = reason.as_str().into(),
                Verdict::Apart(_, printed) => entry["printed"] = printed.trim_end_matches('\n').into(),
                Verdict::Follows { root, printed, .. } => {
                    entry["hangs_on"] = report.case.examples.get(*root).map(|root| root.line).into();
                    entry["printed"] = printed.trim_end_matches('\n').into();
                }
                _ => {}
            }
            entry
        };
        let session = |report: &CaseReport| {
            let examples = report.counted().map(|(input, verdict)| example(report, input, verdict));
            let warning = |(line, warning): &(usize, String)| json!({ "line": line, "message": warning });
            json!({
                "name": report.case.name,
                "line": report.case.examples.first().map(|example| example.line),
                "examples": examples.collect::<Vec<_>>(),
                "warnings": report.warnings.iter().map(warning).collect::<Vec<_>>(),
            })
        };
        let mut file = json!({ "file": self.target.name() });
        match &self.cases {
            Ok(cases) => {
                let asked = cases.iter().filter(|case| case.is_asked());
                file["sessions"] = asked.map(session).collect();
            }
            Err(error) => file["error"] = error.as_str().into(),
        }
        file
    }

    /// Returns the file as a test suite, with one test case per session.
    pub fn to_junit(&self) -> String {
        let name = escaped(&self.target.name());
        let cases = match &self.cases {
            Ok(cases) => cases,
            Err(error) => {
                let error = escaped(error);
                return format!(
                    "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n    \
                     <testcase classname=\"{name}\" name=\"{name}\">\n      <error message=\"{error}\"/>\n    \
                     </testcase>\n  </testsuite>\n"
                );
            }
        };
        let (mut body, mut tests, mut failures, mut skipped) = (String::new(), 0, 0, 0);
        for report in cases.iter().filter(|case| case.is_asked()) {
            let line = report.case.examples.first().map_or(0, |example| example.line);
            let title = match report.case.name.as_str() {
                "" => format!("line {line}"),
                name => name.to_owned(),
            };
            tests += 1;
            let mut failure = String::new();
            for (example, verdict) in report.case.examples.iter().zip(&report.verdicts) {
                self.push_failure(&mut failure, &Palette::default(), &report.case, example, verdict);
            }
            let title = escaped(&title);
            body.push_str(&format!(
                "    <testcase classname=\"{name}\" name=\"{title}\" file=\"{name}\" line=\"{line}\""
            ));
            let apart = apart(report);
            let bad = report.counted().filter(|(_, verdict)| verdict.is_bad()).count();
            if bad > 0 {
                failures += 1;
                let (message, failure) =
                    (format!("{bad} of {} examples failed", report.verdicts.len()), escaped(&failure));
                body.push_str(&format!(
                    ">\n      <failure type=\"wrong\" message=\"{message}\">{failure}</failure>\n    </testcase>\n"
                ));
            } else if !apart.is_empty() {
                skipped += 1;
                let message = escaped(&apart);
                body.push_str(&format!(">\n      <skipped message=\"{message}\"/>\n    </testcase>\n"));
            } else if report.verdicts.iter().all(|verdict| *verdict == Verdict::Skipped) {
                skipped += 1;
                body.push_str(">\n      <skipped/>\n    </testcase>\n");
            } else {
                body.push_str("/>\n");
            }
        }
        format!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" \
             skipped=\"{skipped}\">\n{body}  </testsuite>\n"
        )
    }
}

/// Returns the numbers of examples in a session that cannot agree here: `cannot agree here: random 2, missing 1`.
fn apart(report: &CaseReport) -> String {
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    for (_, verdict) in report.counted() {
        if let Standing::Apart(kind) = verdict.standing() {
            *kinds.entry(kind).or_default() += 1;
        }
    }
    let kinds: Vec<_> = kinds.iter().map(|(kind, number)| format!("{} {number}", kind.word())).collect();
    if kinds.is_empty() { String::new() } else { format!("cannot agree here: {}", kinds.join(", ")) }
}

/// Wraps test suites into a whole document.
pub fn junit(suites: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tensorsh\">\n{suites}</testsuites>\n")
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Ran => "ran",
            Verdict::Accepted => "accepted",
            Verdict::Apart(kind, _) => kind.word(),
            Verdict::Follows { kind, .. } => kind.map_or("follows", Kind::word),
            Verdict::Skipped => "skipped",
            Verdict::Unasked => "unasked",
            Verdict::Updated => "updated",
            Verdict::Differs(_) => "differs",
            Verdict::Broken(_) => "broken",
        }
    }
}

/// Escapes text for markup.
fn escaped(text: &str) -> String {
    text.split('\n').map(explain::escaped).collect::<Vec<_>>().join("\n")
}
