//! A script that catches an error learns the same as the report would show, wherever the error was raised, and can
//! throw it again unchanged.

use std::fs;
use std::path::Path;
use tensorsh::session::{Failure, Language, Session, SessionOptions};

/// Faults of each kind: PyTorch's, Rhai's, and exceptions thrown by a script.
const FAULTS: &[&str] = &[
    "torch.ones(2).view(3)",
    "torch.ones(2)[5]",
    "torch.ones(2).shap",
    "torch.ones(2).nope()",
    "torch.nope",
    "torch.ones(2, dtyp=int8)",
    "missing",
    "missing(1)",
    "missing.part",
    "1 / 0",
    "2 ** -1",
    "9223372036854775807 + 1",
    "[1][5]",
    "\"abc\"[9]",
    "let n = 5; n[99]",
    "#{a: 1}.b",
    "let m = #{}; m[\"k\"]",
    "5.nope()",
    "[1].nope",
    "1 + #{}",
    "\"#\" * 2.0",
    "parse_int(\"x\")",
    "if 1 { }",
    "if torch.ones(2) { }",
    "let n = 5; for x in n { }",
    "let n = 5; n(1)",
    "let n = #{}; n()",
    "let f = |x| x; f(1, 2)",
    "let f = |x| x; f.call()",
    "Fn(\"nope\").call(1)",
    "eval(\"1 +\")",
    "2 in 5",
    "let a = [1]; a[\"x\"]",
    "let s = \"abc\"; s[0] = \"xy\"",
    "torch.tensor([1, 2]).tolist()[0] = 5",
    "import \"nothing\" as n",
    "n::f(1)",
    "torch::ones(2)",
    "list(1..)",
    "this",
    "throw ValueError(\"bad\")",
];

/// The places for a fault: the code of a module, the script before, and the call.
const PLACES: &[(&str, &str, &str)] = &[
    ("", "", "FAULT"),
    ("", "fn f() { FAULT }", "f()"),
    ("", "let c = || { FAULT };", "c.call()"),
    ("", "fn f() { FAULT }\nfn g() {\nf() }\nfn h() { g() }", "h()"),
    ("", "fn f(c) { c.call() }", "f(|| { FAULT })"),
    ("", "", "[1].map(|x| { FAULT })"),
    ("fn f() {\n FAULT }", "import \"part\" as p;", "p::f()"),
];

/// Runs a script. Returns its output and its failure.
fn run(folder: &Path, module: &str, script: &str) -> (String, Option<Failure>) {
    fs::write(folder.join("part.rhai"), module).unwrap();
    let file = folder.join("a.rhai");
    let outcome = Session::new(SessionOptions::default()).run_script(Language::Rhai, script, Some(&file));
    (outcome.text, outcome.error)
}

#[test]
fn what_is_caught_is_what_a_report_says() {
    let folder = tempfile::tempdir().unwrap();
    let (mut compared, mut different) = (0, Vec::new());
    for fault in FAULTS {
        for (module, before, call) in PLACES {
            let [module, before, call] = [module, before, call].map(|text| text.replace("FAULT", fault));
            // A closure looks up its captured variables when it is created.
            if run(folder.path(), &module, &before).1.is_some() {
                continue;
            }
            let told = run(folder.path(), &module, &format!("{before}\n{call}")).1;
            let print = "catch (e) { print(e.kind); print(e.line); print(e.message) }";
            let (caught, failed) = run(folder.path(), &module, &format!("{before}\ntry {{ {call} }} {print}"));
            let again = run(folder.path(), &module, &format!("{before}\ntry {{ {call} }} catch (e) {{ throw e }}")).1;
            // A text that does not parse does not run.
            let Some(told) = told.filter(|told| told.kind != "SyntaxError" || fault.starts_with("eval")) else {
                continue;
            };
            compared += 1;
            let line = told.position.map_or("None".to_owned(), |(line, _)| line.to_string());
            let wanted = format!("{}\n{line}\n{}\n", told.kind, told.message);
            if caught != wanted || failed.is_some() {
                different.push(format!("{before}\n{call}\n  tells\n{wanted}  is caught as\n{caught}{failed:?}"));
            }
            let same = |again: &Failure| {
                let line = |failure: &Failure| failure.position.map(|(line, _)| line);
                (&again.kind, &again.message, line(again), &again.file)
                    == (&told.kind, &told.message, line(&told), &told.file)
            };
            if !again.as_ref().is_some_and(same) {
                different.push(format!("{before}\n{call}\n  tells\n{told:?}\n  is thrown again as\n{again:?}"));
            }
        }
    }
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different.join("\n"));
    assert!(compared >= 250, "only {compared} were compared");
}
