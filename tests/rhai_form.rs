//! The Rhai form of Python lines: the printer writes the Rhai in every row of `python/rhai_form.txt`, and its output
//! equals that of the Python.

use tensorsh::languages::python::rhai_form::{VariableKind, rhai_form};
use tensorsh::session::{Language, Outcome, Session, SessionOptions};

const TABLE: &str = include_str!("python/rhai_form.txt");
/// The variables defined at the start of the table.
fn variable(name: &str) -> Option<VariableKind> {
    match name {
        "x" | "y" => Some(VariableKind::Tensor),
        "n" | "s" | "d" | "f" => Some(VariableKind::Other),
        _ => None,
    }
}

/// Returns the rows: a line of Python, the sign of the row, and its text.
fn rows() -> Vec<(String, char, String)> {
    let mut rows = Vec::new();
    for block in TABLE.split("\n\n") {
        let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with("# ")).collect();
        let is_form = |line: &&&str| ["= ", "~ ", "! "].iter().any(|sign| line.starts_with(sign));
        let form: Vec<&str> = lines.iter().filter(is_form).filter_map(|line| line.get(2..)).collect();
        let python: Vec<&str> = lines.iter().filter(|line| !is_form(line)).copied().collect();
        if let (Some(sign), false) = (lines.last().and_then(|line| line.chars().next()), form.is_empty()) {
            rows.push((python.join("\n"), sign, form.join("\n")));
        }
    }
    rows
}

/// Returns the output of an input in a new session.
fn shown(language: Language, source: &str) -> (String, Option<String>) {
    let mut session = Session::new(SessionOptions::default());
    let prompt = if language == Language::Python { ">>> " } else { "rhai> " };
    for line in TABLE.lines().filter_map(|line| line.strip_prefix(prompt)) {
        assert_eq!(session.eval(language, line), Outcome::default(), "{line}");
    }
    if language == Language::Rhai {
        assert!(!session.is_only_python(source), "Rhai cannot read this: {source}");
    }
    let outcome = session.eval(language, source);
    (outcome.text, outcome.error.map(|failure| format!("{}: {}", failure.kind, failure.message)))
}

#[test]
fn the_rhai_form_is_written_as_the_table_says_and_shows_the_same() {
    let rows = rows();
    assert!(rows.len() >= 80, "{} rows", rows.len());
    let mut faults = Vec::new();
    for (python, sign, wanted) in &rows {
        let written = rhai_form(python, &variable);
        match (&written, sign) {
            (Ok(rhai), '=' | '~') if rhai == wanted => {
                let (of_python, of_rhai) = (shown(Language::Python, python), shown(Language::Rhai, rhai));
                if (of_python == of_rhai) != (*sign == '=') {
                    faults.push(format!("{python}\n  shows {of_python:?}\n  and   {of_rhai:?}"));
                }
            }
            (Err(reason), '!') if reason == wanted => {}
            _ => faults.push(format!("{python}\n  is    {written:?}\n  not   {sign} {wanted:?}")),
        }
    }
    assert!(faults.is_empty(), "{} of {} rows:\n{}", faults.len(), rows.len(), faults.join("\n"));
}

#[test]
fn nothing_makes_the_printer_panic() {
    let deep = ["(", "[", "-", "lambda: ", "not ", "x.", "f()", "x[0]", "[1][", "f(1)(2, ", "f'{", "x if "]
        .map(|text| text.repeat(10_000));
    let odd = [
        "",
        "\n",
        "# a",
        "é = 1",
        "x = $",
        "'",
        "f'{x",
        "def f(:",
        "x[",
        "1 if",
        "\u{0}",
        "`x`",
        "?x",
        "a.é",
        "x.b.c[1:2,",
    ];
    let steps: String = (0..500).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    assert!(rhai_form(&steps, &|_| None).is_err());
    for source in deep.iter().map(String::as_str).chain(odd) {
        drop(rhai_form(source, &|_| None));
    }
    for (python, ..) in rows() {
        for (end, _) in python.char_indices() {
            drop(rhai_form(python.get(..end).unwrap_or_default(), &|_| Some(VariableKind::Unknown)));
        }
    }
    // Each level takes the same time: the last one, and the signs below, never ended when a level was looked at twice.
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("f(", ")"),
        ("[1, ", "]"),
        ("{'a': ", "}"),
        ("f(a=", ")"),
        ("-", ""),
        ("not ", ""),
        ("f(fn=", ")"),
    ] {
        let nested = |depth: usize| rhai_form(&format!("{}x{}", open.repeat(depth), close.repeat(depth)), &|_| None);
        assert!(nested(60).is_ok() && nested(10_000).is_err(), "{open}");
    }
    // Three levels each.
    let signs = format!("{}x{}", "1 + -(".repeat(40), ")".repeat(40));
    assert!(rhai_form(&signs, &|_| None).is_ok());
    let chains = ["()", "[0]", ".a", " + 1", " if x else x", " and x"].map(|step| format!("x{}", step.repeat(110)));
    chains.iter().for_each(|chain| drop(rhai_form(chain, &|_| None)));
    assert_eq!(rhai_form("", &|_| None), Ok(String::new()));
}

/// A list created by Python keeps its own methods in Rhai, so that its other names see the change.
#[test]
fn a_list_of_the_session_is_changed_under_all_its_names() {
    let mut session = Session::new(SessionOptions::default());
    for source in ["a = [1]; d = {}; s = {1}", "b = a"] {
        assert_eq!(session.eval(Language::Python, source).error, None);
    }
    let rows = [
        ("b.append(2)", "a", "[1, 2]\n"),
        ("b.extend([3])", "a", "[1, 2, 3]\n"),
        ("d.update({'k': 1})", "d", "{'k': 1}\n"),
    ];
    for (python, name, shown) in rows {
        let rhai = session.rhai_form(python).unwrap();
        let outcome = session.eval(Language::Rhai, &format!("{rhai};"));
        assert_eq!(outcome.error, None, "{rhai}");
        assert_eq!(session.eval(Language::Rhai, name).text, shown, "{rhai}");
    }
    assert_eq!(session.rhai_form("c = []; c.append(1)").as_deref(), Ok("let c = [];\nc.push(1)"));
}
