//! `tensorsh test` on pages in every form that documentation is written in.

use super::{run, run_on};
#[cfg(unix)]
use crate::{console, pace::check};
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Copies a folder.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The folder has right, wrong, missing, random and unread examples. Every line of the report was checked against the
/// pages by hand.
#[test]
fn pages_in_every_form_are_reported() {
    let (status, stdout, stderr) = run(&tests(), &["test", "documentation"], b"");
    assert_eq!(stdout, fs::read_to_string(tests().join("documentation.report")).unwrap());
    assert_eq!((status, stderr.as_str()), (1, ""));
}

#[test]
fn a_patch_is_what_update_writes() {
    let (status, patch, _) = run(&tests(), &["test", "--diff", "documentation"], b"");
    assert_eq!((status, patch.as_str()), (1, &*fs::read_to_string(tests().join("documentation.patch")).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    copied(&tests().join("documentation"), &folder.path().join("documentation"));
    let (status, stdout, _) = run(folder.path(), &["test", "--update", "documentation"], b"");
    assert_eq!(status, 3, "{stdout}");
    assert!(stdout.ends_with("examples: 49 passed, 0 failed\nsessions: 11 passed, 0 failed\n"), "{stdout}");
    let (_, again, _) = run(folder.path(), &["test", "--diff", "documentation"], b"");
    assert_eq!(again, "");
    // Applying the patch to the old pages gives the new ones, byte for byte.
    let files = ["guide.md", "manual.rst", "module.py", "notebook.ipynb", "session.txt", "site/page.html"];
    for file in files {
        let old = fs::read_to_string(tests().join("documentation").join(file)).unwrap();
        let hunks = patch.split("--- a/").find(|part| part.starts_with(&format!("documentation/{file}"))).unwrap();
        let lines = |sign: char| {
            hunks.lines().skip(2).filter_map(move |line| line.strip_prefix(sign)).map(str::to_owned).collect::<Vec<_>>()
        };
        let mut wanted = old;
        for (removed, added) in lines('-').into_iter().zip(lines('+')) {
            assert_eq!(wanted.matches(&removed).count(), 1, "{file}: {removed}");
            wanted = wanted.replace(&removed, &added);
        }
        assert_eq!(fs::read_to_string(folder.path().join("documentation").join(file)).unwrap(), wanted, "{file}");
    }
}

#[test]
fn failures_of_today_can_be_accepted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), "# T\n```\n>>> 1\n2\n>>> import nowhere\n>>> 3\n3\n```\n").unwrap();
    let test = |args: &[&str]| run(folder.path(), &[&["test"], args, &["a.md"]].concat(), b"");
    assert_eq!(test(&[]).0, 1);
    assert_eq!(test(&["--write-baseline", "known.json"]).0, 0);
    let list = fs::read_to_string(folder.path().join("known.json")).unwrap();
    let wanted = "{\"failures\": [\n\
                  {\"file\":\"a.md\",\"session\":\"T\",\"input\":\"1\",\"kind\":\"wrong\"},\n\
                  {\"file\":\"a.md\",\"session\":\"T\",\"input\":\"import nowhere\",\"kind\":\"missing\"}\n]}\n";
    assert_eq!(list, wanted);
    let (status, stdout, _) = test(&["--baseline", "known.json"]);
    let wanted = "ok   a.md: 1 passed, 2 in the baseline\n2 examples in the baseline\n\
                  examples: 1 passed, 0 failed\nsessions: 1 passed, 0 failed\n";
    assert_eq!((status, stdout.as_str()), (0, wanted));
    // A new failure is one, wherever the old ones have moved to.
    fs::write(folder.path().join("a.md"), "\n# T\n```\n>>> 1\n2\n>>> import nowhere\n>>> 3\n4\n```\n").unwrap();
    let (status, stdout, _) = test(&["--baseline", "known.json"]);
    assert_eq!(status, 1);
    assert!(
        stdout.starts_with("a.md:7 (T)\n    >>> 3\n  - 4\n  + 3\nFAIL a.md: 1 failed, 2 in the baseline\n"),
        "{stdout}"
    );
    for (file, text) in [("known.json", "{\"failures\": [{}]}"), ("other.json", "x")] {
        fs::write(folder.path().join(file), text).unwrap();
        let (status, _, stderr) = test(&["--baseline", file]);
        let wanted = format!("tensorsh: {file}: not a baseline; --write-baseline writes one\n");
        assert_eq!((status, stderr), (1, wanted));
    }
    assert_eq!(test(&["--baseline", "none.json"]).2, "tensorsh: none.json: No such file or directory\n");
}

/// The page, the options, the exit status, and the line on the file.
#[test]
fn options_of_pages_and_of_runs() {
    let headings = "# A\n```\n>>> x = 3\n```\n# B\n```\n>>> x\n3\n```\n";
    let number = "```\n>>> torch.tensor(2.0).sqrt()\ntensor(1.41)\n```\n";
    let random = "```\n>>> torch.rand(1)\ntensor([0.1])\n```\n";
    let missing = "```\n>>> import nowhere\n>>> nowhere.f()\n3\n```\n";
    let rows: &[(&str, &[&str], i32, &str)] = &[
        (headings, &[], 1, "FAIL a.md: 1 passed, 1 failed"),
        (headings, &["--session", "page"], 0, "ok   a.md: 2 passed"),
        (&format!("<!-- tensorsh: session=page -->\n{headings}"), &[], 0, "ok   a.md: 2 passed"),
        (
            &format!("---\ntensorsh: session=heading\n---\n{headings}"),
            &["--session", "page"],
            1,
            "FAIL a.md: 1 passed, 1 failed",
        ),
        ("```\n>>> x = 1\n```\n```\n>>> x\n1\n```\n", &["--session", "block"], 1, "FAIL a.md: 1 passed, 1 failed"),
        (number, &[], 1, "FAIL a.md: 1 failed"),
        (number, &["-o", "NUMBER"], 0, "ok   a.md: 1 passed"),
        (number, &["--tolerance", "0.01"], 0, "ok   a.md: 1 passed"),
        (number, &["-o", "IGNORE_OUTPUT"], 0, "ok   a.md: 1 ran"),
        (&format!("<!-- tensorsh: +NUMBER -->\n{number}"), &[], 0, "ok   a.md: 1 passed"),
        (
            &format!("<!-- tensorsh: skip -->\n{number}{headings}"),
            &["--session", "page"],
            0,
            "ok   a.md: 2 passed, 1 skipped",
        ),
        (
            "<!-- tensorsh: setup -->\n```python\nk = 2\n```\n# A\n```\n>>> k\n2\n```\n# B\n```\n>>> k\n2\n```\n",
            &[],
            0,
            "ok   a.md: 2 passed, 2 ran",
        ),
        (random, &[], 0, "ok   a.md: 1 random"),
        (random, &["--strict"], 1, "ok   a.md: 1 random"),
        (missing, &[], 3, "ok   a.md: 2 missing"),
        (missing, &["--strict"], 1, "ok   a.md: 2 missing"),
    ];
    for (page, options, status, line) in rows {
        let (found, stdout, stderr) = run_on("a.md", page, &[&["test"], *options, &["a.md"]].concat());
        assert_eq!((found, stderr.as_str()), (*status, ""), "{page}\n{options:?}\n{stdout}");
        assert!(stdout.lines().any(|found| found == *line), "{page}\n{options:?}\n{stdout}");
    }
    let (status, stdout, _) = run_on("a.md", "<!-- tensorsh: sesion=page -->\n```\n>>> 1\n1\n```\n", &["test", "a.md"]);
    assert_eq!(status, 1);
    assert!(
        stdout.starts_with("FAIL a.md: line 1: unknown word \"sesion=page\" after `tensorsh:`; known are "),
        "{stdout}"
    );
    let (status, _, stderr) = run_on("a.md", "", &["test", "-o", "NO"]);
    assert!(status == 2 && stderr.contains("unknown; known are ELLIPSIS"), "{stderr}");
}

#[test]
fn a_set_up_file_runs_first_in_every_session() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), "# A\n```\n>>> f(1)\n2\n```\n# B\n```\n>>> f(2)\n3\n```\n").unwrap();
    fs::write(folder.path().join("first.py"), "import nowhere\n\ndef f(x):\n    return x + 1\n").unwrap();
    let (status, stdout, _) = run(folder.path(), &["test", "--setup", "first.py", "a.md"], b"");
    assert_eq!(status, 3);
    assert!(
        stdout.starts_with("first.py:1: missing here: ModuleNotFoundError: No module named 'nowhere'\n"),
        "{stdout}"
    );
    assert!(stdout.ends_with("examples: 2 passed, 0 failed\nsessions: 2 passed, 0 failed\n"), "{stdout}");
    let (status, _, stderr) = run(folder.path(), &["test", "--setup", "none.py", "a.md"], b"");
    assert_eq!((status, stderr.as_str()), (1, "tensorsh: none.py: No such file or directory\n"));
}

#[test]
fn kinds_are_kept_apart_for_programs() {
    let page = "```\n>>> torch.rand(1)\ntensor([0.1])\n```\n# B\n```\n>>> import nowhere\n>>> 1\n2\n```\n";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), page).unwrap();
    let (_, json, _) = run(folder.path(), &["test", "--json", "--junit", "a.xml", "a.md"], b"");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["totals"]["cannot_agree"], serde_json::json!({ "random": 1, "missing": 1 }));
    let verdict = |session: usize, example: usize| {
        json["files"][0]["sessions"][session]["examples"][example]["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!([verdict(0, 0), verdict(1, 0), verdict(1, 1)], ["random", "missing", "differs"]);
    let junit = fs::read_to_string(folder.path().join("a.xml")).unwrap();
    assert!(junit.contains("<skipped message=\"cannot agree here: random 1\"/>"), "{junit}");
    assert!(junit.contains("<failure type=\"wrong\" message=\"1 of 2 examples failed\">"), "{junit}");
}

/// The file, its text, and what its report begins with.
#[test]
fn damaged_pages_are_errors_with_a_place() {
    let rows: &[(&str, &[u8], &str)] = &[
        ("a.ipynb", b"{\"cells\": [", "FAIL a.ipynb: not a notebook: EOF while parsing a list at line 1 column 11"),
        ("a.ipynb", b"[1]", "FAIL a.ipynb: not a notebook: invalid type: sequence, expected a map at line 1 column 0"),
        ("a.ipynb", b"{}", "FAIL a.ipynb: not a notebook: the key \"cells\" is missing"),
        (
            "a.ipynb",
            b"{\"worksheets\": []}",
            "FAIL a.ipynb: a notebook of format 3; `jupyter nbconvert --to notebook` converts it",
        ),
        (
            "a.ipynb",
            b"{\"cells\": [3]}",
            "FAIL a.ipynb: not a notebook: cell 1: invalid type: integer `3`, expected a map",
        ),
        ("a.md", b"```\n>>> 1\n\xff\n```\n", "FAIL a.md: invalid UTF-8 at byte 10, line 3"),
        ("a.md", b"```\n>>> 1 +\n2\n", "a.md:2\n    >>> 1 +\n  - 2\n"),
        ("a.md", b"```python\nx = '''\n>>> 1\n", "a.md:3\n    >>> 1\n"),
        ("a.py", b"def f():\n    '''\n    >>> 1\n    1\n", "no session found"),
        ("a.html", b"<pre>&gt;&gt;&gt; 1\n2<b", "a.html:1\n    >>> 1\n  - 2"),
        ("a.rst", b".. testoutput::\n\n   1\n", "1 fence not read (testoutput without testcode 1)\nno session found"),
    ];
    for (name, bytes, wanted) in rows {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let (status, stdout, _) = run(folder.path(), &["-q", "test", name], b"");
        assert!(status == 1 && stdout.starts_with(wanted), "{name} {bytes:?}\n{stdout}");
        assert_eq!(fs::read(&path).unwrap(), *bytes);
    }
}

/// An update writes a file at once when all its sessions have run.
#[cfg(unix)]
#[test]
fn an_interrupted_update_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    let page = "```\n>>> 1\n2\n>>> while True: pass\n```\n";
    fs::write(&path, page).unwrap();
    let program = env!("CARGO_BIN_EXE_tensorsh");
    let mut child = Command::new(program).args(["test", "--update"]).arg(&path).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
    check(began, 200, "an interrupted update");
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
}

/// Runs a command in a folder, with this `tensorsh` first in the path. Returns whether it succeeded, and what it printed.
#[cfg(unix)]
fn shell(folder: &Path, command: &str) -> (bool, String) {
    let programs = Path::new(env!("CARGO_BIN_EXE_tensorsh")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// The hook refuses a commit with a page that disagrees, and takes any other.
#[cfg(unix)]
#[test]
fn the_hook_guards_commits() {
    let folder = tempfile::tempdir().unwrap();
    let hook = tests().join("../docs/hooks/pre-commit");
    let begin = format!(
        "git init -q . && git config user.name a && git config user.email a@b && cp '{}' .git/hooks/pre-commit",
        hook.display()
    );
    assert!(shell(folder.path(), &begin).0);
    let commit = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        shell(folder.path(), "git add -A && git commit -qm x")
    };
    assert_eq!(commit("no page.c", "int x;"), (true, String::new()));
    assert_eq!(commit("é page.md", "# Nothing to run\n"), (true, "no session found\n".to_owned()));
    assert!(commit("right.md", "```\n>>> 1 + 1\n2\n```\n").0);
    assert!(commit("missing.md", "```\n>>> import nowhere\n```\n").0);
    let (is_taken, text) = commit("wrong page.md", "```\n>>> 1 + 1\n3\n```\n");
    assert!(!is_taken && text.starts_with("wrong page.md:2\n    >>> 1 + 1\n  - 3\n  + 2\n"), "{text}");
    assert!(text.ends_with("tensorsh test --update FILE\n"), "{text}");
    assert!(shell(folder.path(), "tensorsh test --write-baseline .tensorsh-baseline.json 'wrong page.md'").0);
    assert!(commit("other.md", "# Accepted\n").0);
}

/// The commands of the workflow that call tensorsh, on a folder.
#[cfg(unix)]
#[test]
fn the_workflow_checks_a_folder() {
    let workflow = fs::read_to_string(tests().join("../docs/hooks/documentation.yml")).unwrap();
    let commands: Vec<&str> = workflow.lines().filter_map(|line| line.trim().strip_prefix("- run: tensorsh")).collect();
    assert_eq!(commands.len(), 1);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    fs::write(folder.path().join("README.md"), "```\n>>> 1\n1\n```\n").unwrap();
    for (page, wanted) in [(">>> 2\n2", true), (">>> import nowhere", true), (">>> 2\n3", false)] {
        fs::write(folder.path().join("docs/a.md"), format!("```\n{page}\n```\n")).unwrap();
        let (passed, text) = shell(folder.path(), &format!("tensorsh{}", commands[0]));
        assert_eq!(passed, wanted, "{text}");
        assert!(fs::read_to_string(folder.path().join("examples.xml")).unwrap().contains("docs/a.md"));
    }
}

/// The commands of docs/pages.md print what the page shows.
#[cfg(unix)]
#[test]
fn the_page_about_pages_tells_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    copied(&tests().join("documentation"), &folder.path().join("documentation"));
    let commands = console::check(&tests().join("../docs/pages.md"), folder.path(), &|_| false);
    assert_eq!(commands, 5);
}

/// Pages of many lines, most of them broken: four times as many take about four times as long.
#[test]
fn long_pages_take_time_in_proportion() {
    let pages: &[(&str, &str, &str)] = &[
        ("a.md", "```\n>>> x = '''\n", "text (\n"),
        ("a.md", "```python\nx = '''\n", "text\n"),
        ("a.md", "```python\nx = [\n", "(1,\n"),
        ("a.md", "", "```{note}\n"),
        ("a.md", "", "```\n"),
        ("a.md", "```\n>>> 1\n", "text\n"),
        ("a.txt", "A page\n\n>>> x = (\n", "text\n"),
        ("a.rst", "T\n=\n\n::\n\n    >>> 1\n    1\n", "    text\n"),
        ("a.rst", "", ".. note::\n"),
        ("a.py", "def f():\n    '''\n    >>> 1\n    1\n", "    text\n"),
        ("a.py", "'''\n>>> 1\n1\n'''\n", "x = '\n"),
        ("a.html", "<pre>&gt;&gt;&gt; 1\n1\n", "<b>text\n"),
        ("a.html", "<pre>", "<x "),
        ("a.ipynb", "{\"cells\": ", "[\n"),
    ];
    for (name, start, line) in pages {
        let time = |count: usize| {
            let began = Instant::now();
            run_on(name, &format!("{start}{}", line.repeat(count)), &["test", name]);
            began.elapsed()
        };
        let (few, many) = (time(10_000).max(Duration::from_millis(50)), time(40_000));
        assert!(many < few * 10, "{name} {start:?} {line:?}: {few:?}, and {many:?} for four times as much");
    }
}
