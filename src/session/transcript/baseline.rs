//! Accepted failures: a file that lists them, so that only new ones count.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::verdict::Kind;
use super::verdict::{CaseReport, FileReport, Standing, Verdict};

/// A list of failures, each by its file, its session, its input and its kind. Lines are left out: they move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline(BTreeSet<[String; 4]>);

impl Baseline {
    /// Reads a list that [`text`](Baseline::text) has written.
    ///
    /// # Errors
    /// Fails with a sentence if the file cannot be read, or is not such a list.
    pub fn read(path: &Path) -> Result<Baseline, String> {
        let text = super::files::read_text(path)?;
        let fault = || format!("{}: not a baseline; --write-baseline writes one", path.display());
        let list: Value = serde_json::from_str(&text).map_err(|_| fault())?;
        let entry = |value: &Value| {
            let part = |name: &str| value[name].as_str().map(str::to_owned);
            Some([part("file")?, part("session")?, part("input")?, part("kind")?])
        };
        let entries = list["failures"].as_array().ok_or_else(fault)?;
        entries.iter().map(entry).collect::<Option<_>>().map(Baseline).ok_or_else(fault)
    }

    /// Adds the failures of a file.
    pub fn add(&mut self, report: &FileReport) {
        let name = report.target.name();
        for case in report.cases.iter().flatten() {
            let entries = case.case.examples.iter().zip(&case.verdicts);
            self.0.extend(
                entries.filter_map(|(example, verdict)| entry(&name, &case.case.name, &example.source, verdict)),
            );
        }
    }

    /// Returns the list as text: one failure on a line, sorted.
    pub fn text(&self) -> String {
        let line = |[file, session, input, kind]: &[String; 4]| {
            json!({ "file": file, "session": session, "input": input, "kind": kind }).to_string()
        };
        let lines: Vec<String> = self.0.iter().map(line).collect();
        format!("{{\"failures\": [\n{}\n]}}\n", lines.join(",\n"))
    }

    /// Marks the failures of a session that the list contains.
    pub(super) fn accept(&self, file: &str, report: &mut CaseReport) {
        for (example, verdict) in report.case.examples.iter().zip(&mut report.verdicts) {
            let key = entry(file, &report.case.name, &example.source, verdict);
            if key.is_some_and(|key| self.0.contains(&key)) {
                *verdict = Verdict::Accepted;
            }
        }
    }
}

/// Returns the entry of a failure; `None` for any other verdict.
fn entry(file: &str, session: &str, input: &str, verdict: &Verdict) -> Option<[String; 4]> {
    let kind = match verdict.standing() {
        Standing::Bad => "wrong",
        Standing::Apart(Kind::Missing) => Kind::Missing.word(),
        Standing::Apart(_) | Standing::Good => return None,
    };
    let file = file.strip_prefix("./").unwrap_or(file);
    Some([file, session, input, kind].map(str::to_owned))
}
