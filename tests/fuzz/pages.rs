//! Pages with recorded sessions: parsed, and rewritten with other outputs.

use session::transcript::{Case, CaseReport, Document, FileReport, Form, Reading, Target, Verdict};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Outputs that a page has difficulties to record.
const OUTPUTS: &[&str] = &["1\n", "", "a\n\n  b\n", ">>> x\n", "```\n\"\"\"\n", "<b> & \\n\\\\\n"];

/// Reads a page with this file name extension, and updates every second output.
pub fn page(text: &str, extension: &str) {
    let target = Target::named(&format!("page.{extension}"), text);
    let form = Form::of(std::path::Path::new(&target.name()));
    let Ok(document) = Document::read(text, form, &Reading::default()) else { return };
    for case in &document.cases {
        for example in &case.examples {
            assert!(text.get(example.output.clone()).is_some(), "an output lies outside the page");
            let _ = example.without_shown_dots("...\n");
        }
    }
    for (index, output) in OUTPUTS.iter().enumerate() {
        let mut count = index;
        let mut verdict = || {
            count += 1;
            if count.is_multiple_of(2) { Verdict::Passed } else { Verdict::Differs((*output).to_owned()) }
        };
        let report = |case: Case| {
            let case = Arc::new(case);
            let verdicts = case.examples.iter().map(|_| verdict()).collect();
            CaseReport::of_verdicts(case, verdicts)
        };
        let report = FileReport {
            target: target.clone(),
            cases: Ok(document.cases.clone().into_iter().map(report).collect()),
            not_read: BTreeMap::new(),
            not_updated: None,
            advice: None,
        };
        // Fails if the page cannot record the output.
        let _ = report.patch();
    }
}
