//! Compares the two languages: the table of docs/rhai.md holds in both, and functions of numbers equal those of
//! tensors.

use expressions::{Expression, Random};
use std::collections::HashSet;
use tensorsh::languages::script::numbers::{FLOATS, ROUNDING};
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::session::{Language, Session, SessionOptions};

#[path = "languages/expressions.rs"]
mod expressions;

const PAGE: &str = include_str!("../docs/rhai.md");
const HEAD: &str = "| Rhai | gives | Python | gives | Why they differ |";

/// Splits a row of the table into cells, with code marks removed.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_matches('|').replace("\\|", "\0");
    row.split('|').map(|cell| cell.trim().trim_matches('`').replace('\0', "|")).collect()
}

/// Returns the output of an expression, or the kind of its error.
fn shown(session: &mut Session, language: Language, code: &str) -> String {
    let outcome = session.eval(language, code);
    outcome.error.map_or_else(|| outcome.text.trim_end().to_owned(), |error| error.kind)
}

fn on_large_stack<T: Send + 'static>(run: impl FnOnce() -> T + Clone + Send + 'static) -> T {
    spawn_with_big_stack("languages", run).unwrap().join().unwrap()
}

#[test]
fn the_table_of_both_languages_holds() {
    on_large_stack(|| {
        let rows: Vec<_> =
            PAGE.lines().skip_while(|line| *line != HEAD).skip(2).take_while(|l| !l.is_empty()).collect();
        assert!(rows.len() >= 60, "only {} rows", rows.len());
        for row in rows {
            let [rhai, gives, python, python_gives, why] = cells(row).try_into().unwrap();
            let mut session = Session::new(SessionOptions::default());
            let names = "import math, torch\nfrom math import inf, nan";
            assert_eq!(session.eval(Language::Python, names).error, None);
            assert_eq!(shown(&mut session, Language::Python, &python), python_gives, "{row}");
            let mut session = Session::new(SessionOptions::default());
            assert_eq!(shown(&mut session, Language::Rhai, &rhai), gives, "{row}");
            assert_eq!(gives == python_gives, why.is_empty(), "{row}");
        }
    });
}

/// If a Rhai operator differs from Python's, the prompt says so, once for each.
#[test]
fn a_note_compares_an_operator_with_python_once() {
    on_large_stack(|| {
        let mut session = Session::new(SessionOptions::default());
        let mut note = |code: &str| session.eval(Language::Rhai, code).note;
        assert_eq!(note("6 / 2 + 6.0 / 4 + 7 % 3 + 1 << 3 >> 1"), None);
        assert!(note("7 / 2").is_some_and(|note| note.starts_with("`7 / 2` is 3 in Rhai; Python gives 3.5")));
        assert_eq!(note("9 / 2"), None);
        assert!(note("-5 % 3").is_some_and(|note| note.contains("Python gives 1")));
        assert!(note("1 << 64").is_some_and(|note| note.contains("Python gives 18446744073709551616")));
        assert_eq!(note("-5.5 % 3"), None);
        assert!(note("let n = 7; n /= 2;").is_some_and(|note| note.contains("leaves n a whole number")));
        assert_eq!(note("let x = 7.0; x /= 2; let t = torch.ones(1); t /= 2;"), None);
        assert!(note("(-8.0) ** 0.5").is_some_and(|note| note.contains("complex")));
        let mut session = Session::new(SessionOptions::default());
        assert_eq!(session.run_script(Language::Rhai, "let x = 7 / 2;", None).note, None);
        let note = session.eval(Language::Rhai, "1.0 / 0").note;
        assert!(note.is_some_and(|note| note.contains("Python raises ZeroDivisionError")));
    });
}

/// The fast functions of numbers, compared with the functions of tensors on a tensor of the single number.
#[test]
fn functions_of_numbers_are_those_of_tensors() {
    on_large_stack(|| {
        let mut session = Session::new(SessionOptions::default());
        let mut number = |code: &str| {
            let text = shown(&mut session, Language::Rhai, code);
            text.parse::<f64>().unwrap_or_else(|_| panic!("{code} gives {text}"))
        };
        let numbers = [
            "0.0", "-0.0", "0.3", "-0.7", "1.0", "2.5", "-2.5", "3.5", "100.0", "1e-300", "1e300", "inf", "-inf", "nan",
        ];
        for (name, _) in FLOATS.iter().chain(ROUNDING).chain(&[("sign", f64::signum as fn(f64) -> f64)]) {
            let torch = match *name {
                "ln" => "log",
                "ceiling" => "ceil",
                name => name,
            };
            for x in numbers {
                let quick = [format!("{name}({x})"), format!("({x}).{name}()")].map(|code| number(&code));
                let slow = number(&format!("torch.{torch}(torch.tensor({x}, dtype=float64)).item()"));
                for quick in quick {
                    let is_same = quick.is_nan() && slow.is_nan()
                        || quick.to_bits().abs_diff(slow.to_bits()) <= 1 && quick.signum() == slow.signum();
                    assert!(is_same, "{name}({x}) gives {quick}, of a tensor {slow}");
                }
            }
        }
    });
}

/// Random expressions have the same value in both languages, or differ as stated by a row of the table: an integer
/// operation that exceeds 64 bits is an OverflowError.
#[test]
fn random_expressions_mean_the_same_in_both_languages() {
    on_large_stack(|| {
        let mut session = Session::new(SessionOptions::default());
        assert_eq!(session.eval(Language::Python, "from math import inf, nan").error, None);
        for (name, value) in expressions::VARIABLES {
            assert_eq!(session.eval(Language::Rhai, &format!("let {name} = {value};")).error, None);
        }
        let mut random = Random(41);
        let (mut values, mut errors, mut different) = (HashSet::new(), 0, Vec::new());
        for _ in 0..10_000 {
            let Expression { rhai, python, whole_parts, .. } = Expression::random(&mut random);
            let ours = shown(&mut session, Language::Rhai, &rhai);
            let theirs = shown(&mut session, Language::Python, &python);
            let mut leaves =
                |part: &String| shown(&mut session, Language::Python, &format!("-2**63 <= {part} < 2**63")) == "False";
            if ours != theirs && !(ours == "OverflowError" && whole_parts.iter().any(&mut leaves)) {
                different.push(format!("{rhai}\n    {ours}\n{python}\n    {theirs}\n"));
            }
            errors += usize::from(ours.ends_with("Error"));
            values.insert(ours);
        }
        assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.concat());
        assert!(values.len() > 500 && errors < 1000, "{} values, {errors} errors", values.len());
    });
}

/// A subscript that is certainly an integer reaches the engine unchanged; any other may be a tensor, and is checked.
/// Both have the same result, whatever else uses the counter's name.
#[test]
fn subscripts_read_the_same_however_they_count() {
    let ways = [
        "for i in 0..n { s += xs[i]; }",
        "for i in range(0, n) { s += xs[i]; }",
        "let i = 0; while i < n { s += xs[i]; i += 1; }",
        "let i = 0; while i < n { s += xs[i]; i = i + 1; }",
        "for t in torch.arange(n) { s += xs[t]; }",
        "let i = 0; for i in torch.arange(n) { s += xs[i]; }",
        "let i = 0; let add = |i| { s += xs[i]; }; for t in torch.arange(n) { add(t); }",
        "for i in 0..n { } for (t, i) in zip(torch.arange(n), torch.arange(n)) { s += xs[i]; }",
        "for i in 0..n { } fn at(i) { [5, 7][i] } for t in torch.arange(n) { let [i, j] = [t, t]; s += xs[i + j - t]; at(t % 2); }",
        "let i = 0; i += torch.tensor(0); for t in torch.arange(n) { s += xs[i + t]; }",
        "for t in torch.arange(n) { let k = t; xs[k] += 1; s += xs[t] - 1; }",
    ];
    on_large_stack(move || {
        for n in [0i64, 1, 2, 1000, 100_000] {
            let ways = if n > 1000 { &ways[..5] } else { &ways[..] };
            for way in ways {
                let mut session = Session::new(SessionOptions::default());
                let code = format!("let n = {n}; let xs = list(0..n); let s = 0; {way} s");
                assert_eq!(shown(&mut session, Language::Rhai, &code), (n * (n - 1) / 2).to_string(), "{way}");
            }
        }
    });
}

#[test]
fn the_page_names_words_that_are_reserved() {
    on_large_stack(|| {
        let listed = PAGE.split("no variable can have such a name:").nth(1).unwrap().split(".\n").next().unwrap();
        let words: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
        assert!(words.len() >= 26);
        for word in words {
            let mut session = Session::new(SessionOptions::default());
            assert_eq!(shown(&mut session, Language::Rhai, &format!("let {word} = 1;")), "SyntaxError", "{word}");
        }
    });
}
