//! Tests the program as a whole process: its output and its exit status.

#[path = "cli/documentation.rs"]
mod documentation;
#[path = "cli/exercises.rs"]
mod exercises;
#[path = "cli/files.rs"]
mod files;
#[path = "cli/keep_going.rs"]
mod keep_going;
#[path = "cli/lessons.rs"]
mod lessons;
#[path = "cli/modules.rs"]
mod modules;
#[path = "cli/quiz.rs"]
mod quiz;

use crate::pace::within;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
#[cfg(unix)]
use std::time::{Duration, Instant};

use tensorsh::session::lessons::{Attempt, lessons as own_lessons, translated};
use tensorsh::session::{Language, SessionOptions};

/// Runs the program in `folder`. Returns its exit status, standard output and standard error.
fn run(folder: &Path, args: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        .args(args)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input);
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

/// Runs the program on a single file `name` with the contents `text`.
fn run_on(name: &str, text: &str, args: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    run(folder.path(), args, b"")
}

fn run_here(args: &[&str], input: &[u8]) -> (i32, String, String) {
    run(tempfile::tempdir().unwrap().path(), args, input)
}

fn out(text: &str) -> (i32, String, String) {
    (0, text.to_owned(), String::new())
}

#[test]
fn code_shows_its_value() {
    assert_eq!(run_here(&["-e", "torch.ones(3)"], b""), out("tensor([1., 1., 1.])\n"));
    assert_eq!(run_here(&["-e", "let a = 1;", "-e", "a + 1"], b""), out("2\n"));
    assert_eq!(run_here(&["-e", "-1 + 2"], b""), out("1\n"));
    assert_eq!(run_here(&["-e", "print(ARGS.len())", "a", "-b"], b""), out("2\n"));
}

#[test]
fn code_that_fails_shows_where() {
    let (status, stdout, stderr) = run_here(&["-e", "1 + x", "-e", "2"], b"");
    assert_eq!((status, stdout.as_str()), (1, ""));
    assert_eq!(stderr, "NameError: name 'x' is not defined\n    1 + x\n        ^\n");
}

#[test]
fn a_name_off_by_a_letter_is_found() {
    for (code, meant) in [
        ("prnt(3)", "print"),
        ("torch.zeros(2, dtype=f32)", "float32"),
        ("torch.flaot32", "float32"),
        ("torch.zeros(2).veiw(2)", "view"),
        ("[1].apend(2)", "append"),
        ("'a'.uper()", "upper"),
        ("{}.iterms()", "items"),
    ] {
        let (_, _, errors) = run_here(&["--python", "-e", "import torch", "-e", code], b"");
        assert!(errors.ends_with(&format!("hint: did you mean '{meant}'?\n")), "{code}: {errors}");
    }
}

#[test]
fn standard_input_is_a_script_or_a_session() {
    assert_eq!(run_here(&[], b"let a = 1;\nprint(a + 1);\na"), out("2\n"));
    assert_eq!(run_here(&["-", "x"], b"print(ARGS[0])"), out("x\n"));
    assert_eq!(run_here(&[], b""), out(""));
    let page = b"\n  >>> t = torch.ones(3)\n  >>> t\n  tensor([9.])\n  rhai> 1 +\n      > 1\n  5\n";
    assert_eq!(run_here(&[], page), out(">>> t = torch.ones(3)\n>>> t\ntensor([1., 1., 1.])\nrhai> 1 +\n    > 1\n2\n"));
    let (status, stdout, stderr) = run_here(&[], b">>> x\n>>> torch.ones(3)\n");
    assert_eq!((status, stdout.as_str()), (1, ">>> x\n>>> torch.ones(3)\ntensor([1., 1., 1.])\n"));
    assert!(stderr.starts_with("NameError: name 'x' is not defined\n"), "{stderr}");
}

#[test]
fn either_language_can_be_asked_for() {
    assert_eq!(run_here(&["--python", "-e", "7 // 2", "-e", "{}"], b""), out("3\n{}\n"));
    assert_eq!(run_here(&["--rhai", "-e", "#{}"], b""), out("{}\n"));
    assert_eq!(run_here(&["--python"], b"print(7 // 2)"), out("3\n"));
    // Input that only one language accepts needs no option.
    assert_eq!(run_here(&[], b"def f(x):\n    return x + 1\nprint(f(1))"), out("2\n"));
    assert_eq!(run_here(&[], b"x = 3; print(x + 1)"), out("4\n"));
    assert_eq!(run_here(&["--rhai", "--python", "-e", "1"], b"").0, 2);
}

#[test]
fn scripts_take_arguments() {
    let script = "#!/usr/bin/env tensorsh\nfor arg in ARGS { print(arg); }\n7";
    let all = ["a.rhai", "test", "--help", "-e", "-q", "--", "x"];
    assert_eq!(run_on("a.rhai", script, &all), out("test\n--help\n-e\n-q\n--\nx\n"));
    assert_eq!(run_on("a.rhai", script, &["-q", "a.rhai"]), out(""));
    assert_eq!(run_on("test", "print(1)", &["./test"]), out("1\n"));
}

#[test]
fn a_script_in_python_is_told_by_its_ending() {
    let script =
        "#!x\nimport torch\nx = torch.arange(6).view(2, 3)\nx\nfor row in x:\n    print(row.sum().item(), *ARGS)\n";
    assert_eq!(run_on("a.py", script, &["a.py", "b"]), out("3 b\n12 b\n"));
    let (status, stdout, stderr) = run_on("a.py", "print(1)\ny = 2\nprint(x)\n", &["a.py"]);
    assert_eq!((status, stdout.as_str()), (1, "1\n"));
    assert!(stderr.starts_with("a.py:3:7: NameError: name 'x' is not defined\n"), "{stderr}");
}

#[test]
fn a_script_that_fails_names_file_line_and_column() {
    let (status, stdout, stderr) = run_on("a.rhai", "#!x\nprint(1);\n  print(x);\n", &["a.rhai"]);
    assert_eq!((status, stdout.as_str()), (1, "1\n"));
    assert!(stderr.starts_with("a.rhai:3:9: NameError: name 'x' is not defined\n"), "{stderr}");
    assert!(stderr.contains("\n      print(x);\n            ^\n"), "{stderr}");
}

#[test]
fn exit_gives_the_status() {
    assert_eq!(run_on("a.rhai", "print(1); exit(7); print(2)", &["a.rhai"]).0, 7);
    assert_eq!(run_here(&["-e", "exit(3)", "-e", "print(1)"], b""), (3, String::new(), String::new()));
    assert_eq!(run_here(&["--python", "-e", "exit(3)"], b"").0, 3);
}

#[test]
fn files_that_cannot_be_read() {
    let wanted = (1, String::new(), "tensorsh: nope.rhai: No such file or directory\n".to_owned());
    assert_eq!(run_here(&["nope.rhai"], b""), wanted);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.rhai"), b"let a = 1;\nlet b = \"\xff\";\n").unwrap();
    for args in [&["bad.rhai"][..], &["replay", "bad.rhai"]] {
        let (status, _, stderr) = run(folder.path(), args, b"");
        assert_eq!((status, stderr.as_str()), (1, "tensorsh: bad.rhai: invalid UTF-8 at byte 20, line 2\n"));
    }
    let (status, _, stderr) = run_here(&[], b"\xff");
    assert_eq!((status, stderr.as_str()), (1, "tensorsh: standard input: invalid UTF-8 at byte 0, line 1\n"));
}

#[test]
fn wrong_usage_is_status_2() {
    for args in [&["--bogus"][..], &["test"], &["replay"], &["-e"], &["test", "--bogus", "x"], &["--color", "red"]] {
        let (status, stdout, stderr) = run_here(args, b"");
        assert_eq!((status, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains("Usage: tensorsh") || stderr.contains("try '--help'"), "{stderr}");
    }
    let (status, stdout, _) = run_here(&["--help"], b"");
    assert!(status == 0 && stdout.contains("replay"));
    let version = format!("tensorsh {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run_here(&["--version"], b""), out(&version));
}

#[test]
fn completions_and_the_manual_are_printed() {
    for (shell, wanted) in [("bash", "complete -F"), ("zsh", "#compdef tensorsh"), ("fish", "complete -c tensorsh")] {
        let (status, stdout, stderr) = run_here(&["completions", shell], b"");
        assert_eq!((status, stderr.as_str()), (0, ""));
        assert!(stdout.contains(wanted) && stdout.contains("no-config"), "{stdout}");
    }
    let (status, stdout, _) = run_here(&["man"], b"");
    assert!(status == 0 && stdout.starts_with(".ie") && stdout.contains(".SH SYNOPSIS"), "{stdout}");
}

#[test]
fn colours_only_when_asked_for() {
    for (args, wanted) in [(&["-e", "x"][..], false), (&["--color", "always", "-e", "x"], true)] {
        let (_, _, stderr) = run_here(args, b"");
        assert_eq!(stderr.contains('\u{1b}'), wanted, "{stderr:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        .args(["-e", "for i in 0..1000000 { print(i); }"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_script() {
    let (status, stderr, _) = interrupted("print(1); loop {}");
    assert_eq!(status, Some(130), "{stderr}");
    assert!(stderr.contains("loop {}"), "{stderr}");
}

/// A single call that takes seconds, hours or years. The engine is not asked meanwhile, but the kernel is.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_kernel() {
    for code in [
        "let x = torch.rand(10000000); print(1); x.sort()",
        "print(1); torch.ones(1).expand(2**40).sum()",
        "print(1); torch.ones(64).expand([2**40, 64]).sum(0)",
        "print(1); torch.ones(1).expand(2**40).max()",
        "print(1); torch.ones(64).expand([2**40, 64]).amax(0)",
        "print(1); torch.ones(1).expand(2**40).argmax(0)",
        "print(1); torch.ones(1).expand(2**40).prod()",
        "print(1); torch.ones(1, #{dtype: bool}).expand(2**40).any()",
        "print(1); torch.ones(1).expand(2**40).std()",
        "print(1); torch.ones(1).expand([2**40, 2]).var(0)",
        "print(1); torch.ones(1).expand(2**40).norm()",
        "print(1); torch.zeros(1).expand(2**40).nonzero()",
        "let x = torch.ones(100000000); print(1); for i in 0..100 { x.cumsum(0) }",
        "let x = torch.rand(4000, 4000); print(1); for i in 0..100 { x @ x }",
        "let x = torch.rand(1000, 1000); print(1); torch.linalg.svd(x)",
        "print(1); torch.randperm(100000000)",
        "print(1); torch.special.legendre_polynomial_p(torch.full([1000], 0.5), 10**12)",
        "print(1); torch.special.zeta(2.0, torch.tensor([0.5 - 1e15], #{dtype: float64}))",
        "print(1); torch.special.multigammaln(torch.full([100], 1e9), 10**6)",
        "let sizes = []; sizes.pad(1000000, 1); let x = torch.zeros(sizes); print(1); x.max()",
        "print(1); torch.corrcoef(torch.zeros(10000, 3))",
        "print(1); torch.addbmm(torch.zeros(0, 3), torch.zeros(2**40, 0, 0), torch.zeros(2**40, 0, 3))",
        "print(1); torch.diff(torch.zeros(2**40, 0, #{requires_grad: true}), 2**40, 0)",
        "print(1); sleep(100000000)",
        "import time; print(1); time.sleep(1e9)",
        "print(1); sum(range(10**12))",
        "torch.set_printoptions(#{threshold: 10**12}); let x = torch.rand(10000000); print(1); print(x)",
    ] {
        let (status, stderr, began) = interrupted(code);
        assert_eq!(status, Some(130), "{code}: {stderr}");
        assert!(stderr.contains("KeyboardInterrupt"), "{code}: {stderr}");
        crate::pace::check(began, 200, code);
    }
}

/// Runs code that first prints `1`, then interrupts it. Returns the exit status, standard error, and when it was interrupted.
#[cfg(unix)]
fn interrupted(code: &str) -> (Option<i32>, String, Instant) {
    interrupted_with(&["-e", code])
}

#[cfg(unix)]
fn interrupted_with(args: &[&str]) -> (Option<i32>, String, Instant) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 2];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    // The call after the print has begun by now, or begins with the flag set. Both must end.
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap(), start)
}

const PAGE: &str = "\
# Ones

```pycon
>>> t = torch.ones(3)
>>> t
tensor([1., 1., 1.])
>>> x
Traceback (most recent call last):
  File \"<stdin>\", line 1
NameError: name 'x' is not defined
```

Not run: `>>> 1`.

## Fresh

```rhai-session
rhai> t
Traceback (most recent call last):
NameError: name 't' is not defined
rhai> torch.ones(
    >     3)   // doctest: +ELLIPSIS
tensor([1., ...])
rhai> loop {} // doctest: +SKIP
never
```
";

#[test]
fn transcripts_that_pass() {
    assert_eq!(
        run_on("a.md", PAGE, &["test", "a.md"]),
        out("ok   a.md: 5 passed, 1 skipped\nexamples: 5 passed, 0 failed\nsessions: 2 passed, 0 failed\n")
    );
    assert_eq!(
        run_on("a.md", PAGE, &["-q", "test", "a.md"]),
        out("examples: 5 passed, 0 failed\nsessions: 2 passed, 0 failed\n")
    );
}

#[test]
fn transcripts_that_fail_show_the_difference() {
    let (status, stdout, stderr) = run_on("a.txt", ">>> torch.ones(3)\ntensor([2.])\nend\n", &["test", "a.txt"]);
    let wanted = "a.txt:1\n    >>> torch.ones(3)\n  - tensor([2.])\n  - end\n  + tensor([1., 1., 1.])\n\
                  FAIL a.txt: 1 failed\nexamples: 0 passed, 1 failed\nsessions: 0 passed, 1 failed\n";
    assert_eq!((status, stdout.as_str(), stderr.as_str()), (1, wanted, ""));
    let (status, stdout, stderr) = run_here(&["test", "nope"], b"");
    assert_eq!((status, stdout.as_str()), (1, "no session found\n"));
    assert_eq!(stderr, "tensorsh: nope: No such file or directory\n");
}

#[test]
fn an_endless_example_fails() {
    let text = "rhai> loop {}\nrhai> 1 + 1\n2\n";
    let (status, stdout, _) = run_on("a.txt", text, &["test", "--timeout", "1", "a.txt"]);
    assert_eq!(status, 1);
    assert!(stdout.contains("interrupted after 1 s"), "{stdout}");
    assert!(stdout.ends_with("examples: 1 passed, 1 failed\nsessions: 0 passed, 1 failed\n"), "{stdout}");
}

#[test]
fn folders_are_walked_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.txt", "a/z.md", "a/y.txt", "c.rhai", "a/x.txt"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, ">>> torch.ones(3)\ntensor([1., 1., 1.])\n").unwrap();
    }
    let (status, stdout, _) = run(folder.path(), &["test", "."], b"");
    let wanted = "ok   ./a/x.txt: 1 passed\nok   ./a/y.txt: 1 passed\nok   ./a/z.md: no examples\nok   ./b.txt: 1 passed\n\
                  .: 1 file not read (rhai 1)\n\
                  1 fence not read (prompt outside a fence 1)\nexamples: 3 passed, 0 failed\nsessions: 3 passed, 0 failed\n";
    assert_eq!((status, stdout.as_str()), (0, wanted));
}

#[test]
fn nothing_to_run_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), "# A page\n").unwrap();
    for path in [".", "a.md"] {
        let (status, stdout, _) = run(folder.path(), &["-q", "test", path], b"");
        assert_eq!((status, stdout.as_str()), (1, "no session found\n"), "{path}");
    }
}

/// The report counts the blocks that were not run.
#[test]
fn what_is_not_read_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let page = "```python\n>>> 1 + 1\n2\n```\n```julia\nx\n```\n```julia\ny\n```\n```\nimport torch\n```\n";
    fs::write(folder.path().join("a.md"), page).unwrap();
    fs::write(folder.path().join("b.md"), "```sh\n$ ls\n```\n").unwrap();
    let (status, stdout, _) = run(folder.path(), &["test", "a.md"], b"");
    let wanted = "ok   a.md: 1 passed\n3 fences not read (julia 2, no prompt 1)\nexamples: 1 passed, 0 failed\n\
                  sessions: 1 passed, 0 failed\n";
    assert_eq!((status, stdout.as_str()), (0, wanted));
    assert_eq!(run(folder.path(), &["test", "--strict", "a.md"], b"").0, 1);
    let (_, json, _) = run(folder.path(), &["test", "--json", "a.md"], b"");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["totals"]["fences_not_read"], serde_json::json!({ "julia": 2, "no prompt": 1 }));
    // A path without examples fails, whatever else is run; a folder needs one in any of its files.
    let (status, _, errors) = run(folder.path(), &["test", "a.md", "b.md"], b"");
    assert_eq!((status, errors.as_str()), (1, "tensorsh: b.md has no examples\n"));
    assert_eq!(run(folder.path(), &["test", "."], b"").0, 0);
    let (status, stdout, _) = run(folder.path(), &["test", "b.md"], b"");
    assert_eq!((status, stdout.lines().last()), (1, Some("no session found")));
}

#[test]
fn numbers_and_white_space_may_differ_where_that_is_said() {
    let page = "\
>>> torch.tensor([1.5, 2.25])  # doctest: +NUMBER
tensor([1.50, 2.2])
>>> torch.tensor([1.5, 2.25])  # doctest: +NORMALIZE_WHITESPACE
tensor([1.5000,
        2.2500])
>>> print('a\\n\\nb')
a
<BLANKLINE>
b
rhai> torch.tensor(0.5)  // doctest: +NUMBER
tensor(0.50)
";
    let (_, stdout, _) = run_on("a.txt", page, &["-q", "test", "a.txt"]);
    assert_eq!(stdout, "examples: 4 passed, 0 failed\nsessions: 1 passed, 0 failed\n");
    let (_, stdout, _) = run_on("a.txt", &page.replace("2.2]", "2.4]"), &["-q", "test", "a.txt"]);
    assert!(stdout.ends_with("examples: 3 passed, 1 failed\nsessions: 0 passed, 1 failed\n"), "{stdout}");
}

/// Two sessions, of which the second fails at its last example.
const TWO: &str = "\
# First

```pycon
>>> 1 + 1
2
```

# Second

```pycon
>>> x = 2
>>> x
3
```
";

#[test]
fn sessions_are_chosen_by_name_or_line() {
    let summary = |args: &[&str]| {
        let (status, stdout, _) = run_on("a.md", TWO, args);
        (status, stdout.lines().last().unwrap_or_default().to_owned())
    };
    let good = (0, "sessions: 1 passed, 0 failed".to_owned());
    let bad = (1, "sessions: 0 passed, 1 failed".to_owned());
    let both = (1, "sessions: 1 passed, 1 failed".to_owned());
    assert_eq!(summary(&["test", "--filter", "First", "a.md"]), good);
    assert_eq!(summary(&["test", "--filter", "Second", "a.md"]), bad);
    assert_eq!(summary(&["test", "--filter", "a.md", "a.md"]), both);
    assert_eq!(summary(&["test", "--filter", "Third", "a.md"]), (1, "no session found".to_owned()));
    for (line, wanted) in [(4, &good), (5, &good), (11, &bad), (99, &bad)] {
        assert_eq!(summary(&["test", &format!("a.md:{line}")]), *wanted, "{line}");
    }
    assert_eq!(summary(&["test", "a.md:1"]), (1, "no session found".to_owned()));
    let (_, stdout, _) = run_on("a.md", TWO, &["test", "--update", "--filter", "First", "a.md"]);
    assert_eq!(stdout, "ok   a.md: 1 passed\nexamples: 1 passed, 0 failed\nsessions: 1 passed, 0 failed\n");
}

#[test]
fn reports_for_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), TWO).unwrap();
    let (status, stdout, _) = run(folder.path(), &["test", "--json", "--junit", "out.xml", "a.md"], b"");
    assert_eq!(status, 1);
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let last = &report["files"][0]["sessions"][1]["examples"][1];
    let fields = ["line", "input", "verdict", "expected", "printed"].map(|field| last[field].to_string());
    assert_eq!(fields, ["12", "\"x\"", "\"differs\"", "\"3\"", "\"2\""]);
    assert_eq!(report["totals"]["sessions"], serde_json::json!({ "passed": 1, "failed": 1 }));
    let xml = fs::read_to_string(folder.path().join("out.xml")).unwrap();
    let wanted = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="tensorsh">
  <testsuite name="a.md" tests="2" failures="1" errors="0" skipped="0">
    <testcase classname="a.md" name="First" file="a.md" line="4"/>
    <testcase classname="a.md" name="Second" file="a.md" line="11">
      <failure type="wrong" message="1 of 2 examples failed">a.md:12 (Second)
    &gt;&gt;&gt; x
  - 3
  + 2
</failure>
    </testcase>
  </testsuite>
</testsuites>
"#;
    assert_eq!(xml, wanted);
}

#[test]
fn standard_input_is_tested_and_changed_outputs_are_reviewed() {
    let (status, stdout, _) = run_here(&["test", "-"], b"Prose.\n\n  >>> 1 + 1\n  2\n# a remark\n\nMore prose.\n");
    assert_eq!((status, stdout.lines().last()), (0, Some("sessions: 1 passed, 0 failed")));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    for (typed, wanted, status) in [("y\nn\n", "2", 1), ("what\ny\ny\n", "23", 0), ("q\n", "", 1), ("", "", 1)] {
        fs::write(&path, ">>> 2\n0\n>>> 3\n0\n").unwrap();
        let (found, stdout, _) = run(folder.path(), &["test", "--review", "a.txt"], typed.as_bytes());
        assert_eq!(found, status, "{stdout}");
        let text = fs::read_to_string(&path).unwrap();
        let outputs: String = text.lines().filter(|line| !line.starts_with('>') && *line != "0").collect();
        assert_eq!(outputs, wanted, "{stdout}");
    }
}

#[test]
fn the_first_failing_file_can_be_the_last() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..40 {
        fs::write(folder.path().join(format!("{at:02}.txt")), ">>> 1\n2\n").unwrap();
    }
    let (status, stdout, _) = run(folder.path(), &["test", "--fail-fast", "."], b"");
    assert_eq!((status, stdout.lines().last()), (1, Some("sessions: 0 passed, 1 failed")));
}

#[test]
fn a_watched_file_is_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, ">>> 1\n2\n").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        .args(["test", "--watch", "a.txt"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut until = |wanted: &str| lines.by_ref().any(|line| line.unwrap() == wanted);
    assert!(until("sessions: 0 passed, 1 failed"));
    fs::write(&path, ">>> 1\n1\n>>> 2\n2\n").unwrap();
    assert!(until("sessions: 1 passed, 0 failed"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn warnings_are_told_once_and_with_their_place() {
    let text = ">>> import torch\n>>> s = torch.ones(2).storage()\n";
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt"] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let (_, stdout, stderr) = run(folder.path(), &["test", "."], b"");
    assert_eq!(stderr, "");
    let warnings: Vec<_> = stdout.lines().filter(|line| line.contains("Warning: ")).collect();
    assert!(matches!(warnings[..], [only] if only.starts_with("./a.txt:2: UserWarning: TypedStorage")), "{stdout}");
}

#[test]
fn update_rewrites_outputs_and_nothing_else() {
    let stale = PAGE.replace("1., 1.]", "2.]").replace("'t' is", "'u' is").replace("1., ...", "3., ...");
    for line_end in ["\n", "\r\n"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, stale.replace('\n', line_end)).unwrap();
        let (status, stdout, _) = run(folder.path(), &["test", "--update", "a.md"], b"");
        assert_eq!(status, 0);
        assert!(stdout.starts_with("ok   a.md: 2 passed, 3 updated, 1 skipped\n"), "{stdout}");
        let wanted = PAGE
            .replace("call last):\nNameError: name 't'", "call last):\n  ...\nNameError: name 't'")
            .replace("1., ...", "1., 1., 1.");
        assert_eq!(fs::read_to_string(&path).unwrap(), wanted.replace('\n', line_end));
    }
}

/// A page as copied from a browser. Differences are reported, but not the usual deviations of pages.
#[test]
fn pages_of_documentation_are_tests() {
    let page = "Sharing#\n\nA view shows what its base holds.\n\n>>> t = torch.zeros(2, 2)\n>>> b = t.view(4)\n\
                >>> t.data_ptr() == b.data_ptr()\nTrue\n# A write is seen by both.\n>>> b[0] = 3.5\n>>> t[0][0]\n\
                tensor(3.5)\nWhat is written to one is seen in the other.\n\nSizes#\n\n>>> torch.ones(4, 1) + torch.ones(3)\n\n\
                gives a larger one.\n\n>>> x = torch.ones(3)\n>>> y = torch.ones(2)\n# they do not fit\n>>> x + y\n\
                RuntimeError: The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0\n\n\
                In [3]: x.sum()\nOut[3]:\ntensor(3.)\n";
    let (status, text, _) = run_on("page.txt", page, &["--color", "never", "test", "page.txt"]);
    assert_eq!(status, 1, "{text}");
    let reported: Vec<_> = text.lines().filter(|line| line.trim_start().starts_with(['+', '-'])).collect();
    assert_eq!(reported.first().map(|line| line.trim()), Some("- tensor(3.5)"), "{text}");
    assert_eq!(reported.last().map(|line| line.trim()), Some("+ tensor(3.5000)"), "{text}");
    let (status, text, _) = run_on("page.txt", &page.replace("(3.5)", "(3.5000)"), &["test", "page.txt"]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn replay_prints_the_sessions_of_now() {
    let text = "prose\n>>> t = torch.ones(\n...     3)\n>>> t  # what it is\nold\n\n>>> x\n>>>\n";
    let wanted = ">>> t = torch.ones(\n...     3)\n>>> t  # what it is\ntensor([1., 1., 1.])\n>>> x\n\
                  Traceback (most recent call last):\n  ...\nNameError: name 'x' is not defined\n>>>\n";
    assert_eq!(run_on("a.txt", text, &["replay", "a.txt"]), out(wanted));
    let (status, stdout, _) = run_on("a.md", PAGE, &["replay", "a.md"]);
    assert_eq!(status, 0);
    assert!(stdout.starts_with(">>> t = torch.ones(3)\n>>> t\ntensor([1., 1., 1.])\n>>> x\nTraceback"), "{stdout}");
    assert!(stdout.contains("\n\nrhai> t\nTraceback") && !stdout.contains("Fresh"), "{stdout}");
}

/// Runs `tensorsh learn` with its progress in `state` and its input as if typed. Returns its output.
fn learn(state: &Path, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        .args(["--color", "never", "learn"])
        .args(arguments)
        .env("XDG_STATE_HOME", state)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn lessons_are_learnt_and_remembered() {
    let state = tempfile::tempdir().unwrap();
    let text = learn(state.path(), &["strides"], "34\n:hint\n:solution\n35\n(1, 2)\n:skip\n");
    for wanted in
        ["2. Shape, stride, offset", "Not yet.", "one step along each dimension", "Right.", "1 of 2 exercises done"]
    {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    let list = learn(state.path(), &["--list"], "");
    assert!(list.contains("[ ]  2 strides       Shape, stride, offset (1 of 2 exercises)"), "{list}");
    // The first unfinished lesson is the first of all.
    let text = learn(state.path(), &[], "t.nbytes\nt.untyped_storage()[2] = 1\n");
    assert!(text.contains("1. What a storage is") && text.contains("2 of 2 exercises done"), "{text}");
    assert!(learn(state.path(), &["--list"], "").starts_with("[x]  1 storage"));
    // The same lessons in Rhai, with answers in both languages.
    let text = learn(state.path(), &["--rhai", "storage"], "len(range(120))\nt.untyped_storage()[2] = 1;\n");
    assert!(text.contains("rhai> let t = torch.tensor([1, 2, 3], dtype=torch.int16);"), "{text}");
    assert!(text.contains("2 of 2 exercises done") && !text.contains(">>> "), "{text}");
    learn(state.path(), &["--reset"], "");
    assert!(learn(state.path(), &["--list"], "").lines().all(|line| line.contains("(0 of")));
}

/// All lessons in one session. Before each correct answer come inspections, a wrong answer and a trick.
#[test]
fn a_newcomer_goes_through_all_lessons_in_one_go() {
    tensorsh::provide_texts();
    for (language, arguments) in [(Language::Python, &[][..]), (Language::Rhai, &["--rhai"])] {
        let (mut typed, mut exercises) = (String::new(), 0);
        for lesson in own_lessons() {
            for exercise in &lesson.exercises {
                let Attempt { desk, .. } = exercise.begin(language, SessionOptions::default());
                let answer = |python: &str| {
                    let told = translated(&desk.session(), language, Language::Python, python);
                    told.map(|told| format!("{}\n", told.source)).unwrap_or_default()
                };
                let given = desk.session().variables();
                given.iter().for_each(|variable| typed += &answer(&variable.name));
                typed += &answer(&exercise.wrong[0]);
                typed += &format!(":again\n{}:again\n", answer(&exercise.tricks[0]));
                typed += &format!(":hint\n{}", answer(&exercise.right[0]));
                exercises += 1;
            }
            // Continue to the next lesson.
            typed.push('\n');
        }
        let state = tempfile::tempdir().unwrap();
        let text = learn(state.path(), arguments, &typed);
        let said = |what: &str| text.lines().filter(|line| line.starts_with(what)).count();
        assert_eq!(said("Right."), exercises, "{language:?}\n{text}");
        assert!(said("Not yet") >= exercises && said("Not this way: ") > 0, "{language:?}\n{text}");
        assert_eq!(text.matches(": 2 of 2 exercises done.").count(), own_lessons().len(), "{language:?}\n{text}");
        let left = learn(state.path(), arguments, "");
        assert!(left.starts_with("All exercises are done."), "{left}");
    }
}

#[test]
fn a_long_sum_is_drawn_in_a_moment() {
    // A debug build takes twenty times as long.
    let (count, shown) = if cfg!(debug_assertions) { (100_000, "100 000") } else { (1_000_000, "1 000 000") };
    let made = format!("let x = torch.full([{count}], 0.1, #{{dtype: float16}});");
    let (status, text, _) = within(400, "a long sum", || run_here(&["-e", &made, "-e", "sum_steps(x)"], b""));
    assert_eq!(status, 0);
    let count = format!("the sum of {shown} numbers");
    for part in
        [count.as_str(), "in float16        256.0", "rounded once to float16", "torch.sum adds float16 in float32"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.lines().count() < 200 && !text.contains('\u{1b}'), "{text}");
}
