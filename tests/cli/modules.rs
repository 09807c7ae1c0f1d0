//! `-m MODULE`: output as of `python -m MODULE` in CPython 3.11, whose errors have a trace above their last line.

use super::run;
use std::fs;

const FILES: &[(&str, &str)] = &[
    ("pkg/__init__.py", "print('begins', __name__)"),
    ("pkg/__main__.py", "print('main of', __package__, __name__)\nfrom .helper import X\nprint(X / 0)"),
    ("pkg/helper.py", "X = 3"),
    (
        "pkg/tool.py",
        "import os, sys\nprint(__name__, __package__, sys.argv[1:], os.path.basename(sys.argv[0]))\nprint(sys.path[0] == os.getcwd())\nfrom . import helper\nprint(helper.X, os.path.basename(__file__))",
    ),
    ("bare/x.py", "print(repr(__package__))"),
    ("alone.py", "import sys\nprint(repr(__package__), sys.argv[1:])\nsys.exit(4)"),
    (
        "test_numbers.py",
        "import unittest\nclass Numbers(unittest.TestCase):\n    def test_right(self): self.assertEqual(1, 1)\n    def test_wrong(self): self.assertEqual(1, 2)\n",
    ),
];

/// The arguments, the exit status, standard output, and how standard error ends.
const RUNS: &[(&[&str], i32, &str, &str)] = &[
    (
        &["-m", "pkg.tool", "a", "-b", "--quiet"],
        0,
        "begins pkg\n__main__ pkg ['a', '-b', '--quiet'] tool.py\nTrue\n3 tool.py\n",
        "",
    ),
    (&["-m", "pkg"], 1, "begins pkg\nmain of pkg __main__\n", "ZeroDivisionError: division by zero"),
    (&["-m", "bare.x"], 0, "'bare'\n", ""),
    (&["-m", "alone", "-m", "x"], 4, "'' ['-m', 'x']\n", ""),
    (
        &["-m", "bare"],
        1,
        "",
        "ModuleNotFoundError: No module named 'bare.__main__'; 'bare' is a package and cannot be directly executed",
    ),
    (&["-m", "nope"], 1, "", "ModuleNotFoundError: No module named 'nope'"),
    (&["-m", "pkg.nope"], 1, "begins pkg\n", "ModuleNotFoundError: No module named 'pkg.nope'"),
    (&["-m", "alone.inner"], 4, "'' []\n", ""),
    (&["-i", "-m", "alone"], 2, "", "cannot be used with"),
    (&["--rhai", "-m", "alone"], 2, "", "cannot be used with"),
    (&["-m", "math"], 1, "", "ImportError: No code object available for math"),
    (&["-m", "unittest", "-q", "test_numbers"], 1, "", "FAILED (failures=1)"),
    (&["-m", "unittest", "-q", "test_numbers.Numbers.test_right"], 0, "", "OK"),
    (&["-m", "calendar", "2026", "2"], 0, "   February 2026\nMo Tu We Th Fr Sa Su\n                   1\n", ""),
];

#[test]
fn a_module_runs_as_a_script() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    for (args, status, printed, told) in RUNS {
        let (code, out, error) = run(folder.path(), args, b"");
        assert_eq!(code, *status, "{args:?}: {error}");
        assert!(out.starts_with(printed) && (out == *printed || args[1] == "calendar"), "{args:?}: {out}");
        let message = error.lines().find(|line| !told.is_empty() && line.contains(told));
        assert!(told.is_empty() && error.is_empty() || message.is_some(), "{args:?}: {error}");
    }
}
