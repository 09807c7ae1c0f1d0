//! The Python programs and sessions in tests/python/cases and tests/python/written must print the same as in CPython. tests/python/programs.py
//! generated and recorded the former; tests/python/compare.py compares any number of others.

use std::fs;
use std::path::Path;
use tensorsh::session::assist::describe;
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::session::{Language, Outcome, Session, SessionOptions, Step, steps, without_magics};

/// The number of differing cases to report.
const TOLD: usize = 12;

/// A program or a session, with its heading.
struct Case {
    /// The file and the line of the heading, and the templates of the program.
    name: String,
    kind: Kind,
    /// The blocks, by their marks.
    blocks: Vec<(String, String)>,
}

#[derive(PartialEq)]
enum Kind {
    Script,
    Session,
}

#[test]
fn programs_print_what_cpython_prints() {
    check(&Kind::Script);
}

#[test]
fn sessions_print_what_cpython_prints() {
    check(&Kind::Session);
}

/// `--keep-going` runs each statement on its own. Up to the first failure, which it describes alike, a program must print
/// what it prints as a whole.
#[test]
fn programs_print_the_same_statement_by_statement() {
    let cases: Vec<_> = cases().into_iter().filter(|case| case.kind == Kind::Script).collect();
    let mut differences = Vec::new();
    for case in &cases {
        let source = case.block("python");
        let (whole, by_statement) = (on_big_stack(source, described), on_big_stack(source, described_by_statement));
        if whole != by_statement {
            differences.push(format!("{}\nwhole:\n{whole}\nby statement:\n{by_statement}", case.name));
        }
    }
    let told = differences[..differences.len().min(TOLD)].join("\n");
    assert!(differences.is_empty(), "{} of {} programs differ, such as\n\n{told}", differences.len(), cases.len());
}

/// A cell of a notebook differs from a script only if its last statement has a value.
#[test]
fn programs_print_the_same_in_a_cell() {
    let cases: Vec<_> = cases().into_iter().filter(|case| case.kind == Kind::Script).collect();
    for case in &cases {
        let source = case.block("python");
        assert_eq!(without_magics(source), (source.to_owned(), Vec::new()), "{}", case.name);
        assert_eq!(on_big_stack(source, described_in_a_cell), on_big_stack(source, described), "{}", case.name);
    }
}

fn described_in_a_cell(source: &str) -> String {
    let outcome = Session::new(SessionOptions::default()).eval_cell(&format!("{source}\nNone\n"));
    let error = outcome.error.map(|error| describe(&error, source, Some("a.py")).text());
    format!("{}{}", outcome.text, error.unwrap_or_default())
}

fn described(source: &str) -> String {
    let outcome = Session::new(SessionOptions::default()).run_script(Language::Python, source, None);
    let error = outcome.error.map(|error| describe(&error, source, Some("a.py")).text());
    format!("{}{}", outcome.text, error.unwrap_or_default())
}

fn described_by_statement(source: &str) -> String {
    let mut session = Session::new(SessionOptions::default());
    let mut told = String::new();
    for step in steps(source) {
        let Step::Statement(statement) = step else { panic!("{step:?} is Python") };
        let outcome = session.run_statement(&statement, None);
        told += &outcome.text;
        if let Some(error) = outcome.error {
            told.push_str(&describe(&error, &statement.text, Some("a.py")).text());
            break;
        }
        if outcome.exit.is_some() {
            break;
        }
    }
    told
}

fn check(kind: &Kind) {
    let cases: Vec<_> = cases().into_iter().filter(|case| case.kind == *kind).collect();
    assert!(cases.len() > 50, "only {} cases", cases.len());
    let differences: Vec<_> = cases.iter().filter_map(Case::difference).collect();
    let told = differences[..differences.len().min(TOLD)].join("\n");
    assert!(differences.is_empty(), "{} of {} programs differ, such as\n\n{told}", differences.len(), cases.len());
}

impl Case {
    /// Describes the first difference in the program's output.
    fn difference(&self) -> Option<String> {
        let (wanted, got) = match self.kind {
            Kind::Script => (self.wanted(), on_big_stack(self.block("python"), script)),
            Kind::Session => (self.block("pycon").to_owned(), on_big_stack(self.block("pycon"), session)),
        };
        if wanted == got {
            return None;
        }
        let (wanted, got): (Vec<_>, Vec<_>) = (wanted.lines().collect(), got.lines().collect());
        let line = (0..).find(|line| wanted.get(*line) != got.get(*line)).unwrap_or_default();
        let shown = |lines: &[&str]| lines.get(line).copied().unwrap_or("nothing").to_owned();
        Some(format!("{}\n  wanted: {}\n  got:    {}", self.name, shown(&wanted), shown(&got)))
    }

    fn wanted(&self) -> String {
        self.block("text").to_owned() + self.block("error")
    }

    fn block(&self, mark: &str) -> &str {
        self.blocks.iter().find(|(known, _)| known == mark).map_or("", |(_, text)| text)
    }
}

/// Runs on a thread with the stack size of the program's own.
fn on_big_stack(source: &str, run: fn(&str) -> String) -> String {
    let source = source.to_owned();
    let ended = spawn_with_big_stack("case", move || run(&source)).unwrap().join();
    ended.unwrap_or_else(|_| "the session panicked\n".to_owned())
}

/// Runs a script. Returns its output, followed by its error.
fn script(source: &str) -> String {
    let outcome = Session::new(SessionOptions::default()).run_script(Language::Python, source, None);
    format!("{}{}", outcome.text, last_line(&outcome))
}

/// Runs a session. Returns its inputs and outputs as on a page.
fn session(page: &str) -> String {
    let mut session = Session::new(SessionOptions::default());
    let mut shown = String::new();
    for input in inputs(page) {
        shown += &format!(">>> {}\n", input.replace('\n', "\n... "));
        let outcome = session.eval(Language::Python, &input);
        shown += &outcome.text;
        if outcome.error.is_some() {
            shown += "Traceback (most recent call last):\n  ...\n";
        }
        shown += &last_line(&outcome);
    }
    shown
}

fn last_line(outcome: &Outcome) -> String {
    match &outcome.error {
        None => String::new(),
        Some(failure) if failure.message.is_empty() => format!("{}\n", failure.kind),
        Some(failure) => format!("{}: {}\n", failure.kind, failure.message),
    }
}

/// Returns the inputs of a session without prompts.
fn inputs(page: &str) -> Vec<String> {
    let mut inputs: Vec<String> = Vec::new();
    for line in page.lines() {
        if let Some(first) = line.strip_prefix(">>> ") {
            inputs.push(first.to_owned());
        } else if let (Some(more), Some(input)) = (line.strip_prefix("... "), inputs.last_mut()) {
            *input += &format!("\n{more}");
        }
    }
    inputs
}

/// Returns every case of every page.
fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let folders = ["cases", "written"].map(|name| fs::read_dir(folder.join(name)).unwrap());
    let mut pages: Vec<_> = folders.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages.iter().flat_map(|page| cases_of(page)).collect()
}

fn cases_of(page: &Path) -> Vec<Case> {
    let file = page.file_name().unwrap().to_string_lossy();
    let mut cases: Vec<Case> = Vec::new();
    let mut is_open = false;
    for (number, line) in fs::read_to_string(page).unwrap().lines().enumerate() {
        if let (false, Some(templates)) = (is_open, line.strip_prefix("## ")) {
            let name = format!("{file}:{}: {templates}", number + 1);
            cases.push(Case { name, kind: Kind::Script, blocks: Vec::new() });
        }
        let Some(case) = cases.last_mut() else { continue };
        if let Some(mark) = line.strip_prefix("```") {
            is_open = !is_open;
            if is_open {
                case.blocks.push((mark.to_owned(), String::new()));
                if mark == "pycon" {
                    case.kind = Kind::Session;
                }
            }
        } else if let (true, Some((_, text))) = (is_open, case.blocks.last_mut()) {
            *text += line;
            text.push('\n');
        }
    }
    cases
}
