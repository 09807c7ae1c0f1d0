//! Runs a Python script statement by statement, so that it can go on after one that fails. Each statement is compiled on
//! its own. The lines above it are not part of its text, or a long script would take quadratic time; they are counted,
//! and added to the lines of a failure.

use std::path::Path;

use super::begun::Statement;
use super::logical::separate_statements;
use super::magics::without_magics;
use super::{Outcome, Session};
use languages::python::compile::Shows;

/// A part of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Statement(Statement),
    /// A line that only IPython reads, with its number from 1. It does not run.
    PassedOver {
        line: usize,
        text: String,
    },
}

/// Splits a Python script into its steps. The script need not parse.
pub fn steps(source: &str) -> Vec<Step> {
    let (code, passed_over) = without_magics(source);
    let mut passed_over =
        passed_over.into_iter().map(|(line, text)| (line, Step::PassedOver { line, text })).peekable();
    let (mut steps, mut at, mut lines_above) = (Vec::new(), 0, 0);
    for range in separate_statements(&code) {
        lines_above += newlines(code.get(at..range.start).unwrap_or_default());
        let text = code.get(range.clone()).unwrap_or_default();
        let last_line = lines_above + newlines(text) + 1;
        // A line inside the statement's block is named before the statement runs.
        while let Some((_, step)) = passed_over.next_if(|(line, _)| *line <= last_line) {
            steps.push(step);
        }
        steps.push(Step::Statement(Statement { text: text.into(), lines_above }));
        at = range.start;
    }
    steps.extend(passed_over.map(|(_, step)| step));
    steps
}

fn newlines(text: &str) -> usize {
    text.matches('\n').count()
}

impl Session {
    /// Runs one statement of a script without showing values. Failures count lines in the script, even in functions that
    /// earlier statements have defined. Modules are imported from the folder of `file`.
    pub fn run_statement(&mut self, statement: &Statement, file: Option<&Path>) -> Outcome {
        self.import_beside(file);
        self.python.begun.insert(statement);
        self.guarded(|session| session.eval_python_text(&statement.text, Shows::Nothing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionOptions;

    #[test]
    fn a_script_is_split_into_its_steps() {
        let source = "# a\nx = 1\n%time x\n\nif x:\n    !ls\n    y = (\n2)\nz\nz?";
        let told: Vec<_> = steps(source)
            .into_iter()
            .map(|step| match step {
                Step::Statement(Statement { text, lines_above }) => (lines_above + 1, text.to_string()),
                Step::PassedOver { line, text } => (line, format!("- {text}")),
            })
            .collect();
        let wanted = [
            (2, "x = 1"),
            (3, "- %time x"),
            (6, "- !ls"),
            (5, "if x:\n    pass\n    y = (\n2)"),
            (9, "z"),
            (10, "- z?"),
        ];
        assert_eq!(told, wanted.map(|(line, text)| (line, text.to_owned())));
    }

    /// Runs a script as a whole, and statement by statement, and compares the first failures.
    #[test]
    fn a_failing_statement_is_described_as_in_a_whole_script() {
        for source in [
            "x = 1\n\n\ny = (\n  2 + z)\n",
            "def f(x):\n    '''\n    a\n    '''\n    return x.nope\n\n\ndef g(x):\n    return f(x)\n\n\nprint(1)\ng(3)\n",
            "class A:\n    def __init__(self):\n        self.b = c\n\n@lambda made: made\ndef f():\n    return A()\n\nf()\n",
            "# a\n\nif 1:",
            "# a\n\nx = (1,\n  ]\n",
            "\nx = = 3\n",
            "\n\nreturn 3",
            "\n\nraise ValueError('on line 3')",
        ] {
            let whole = Session::new(SessionOptions::default()).run_script(crate::Language::Python, source, None).error;
            let mut session = Session::new(SessionOptions::default());
            let failed = steps(source).into_iter().find_map(|step| match step {
                Step::Statement(statement) => session.run_statement(&statement, None).error,
                Step::PassedOver { .. } => None,
            });
            let told = failed.map(|failure| {
                let above = failure.lines_above.unwrap_or_default();
                let position = failure.position.map(|(line, column)| (line + above, column));
                crate::Failure { position, lines_above: None, source: None, ..failure }
            });
            assert_eq!(told, whole, "{source}");
            assert!(told.is_some(), "{source}");
        }
    }
}
