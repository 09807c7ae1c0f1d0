//! `tensorsh --keep-going`: a script that goes on after a statement that fails.

#[cfg(unix)]
use super::interrupted_with;
use super::{run, run_here, run_on};
use crate::pace::within;
use std::fs;

#[test]
fn a_script_goes_on_after_a_statement_that_fails() {
    // The script, its standard output, its standard error, and its exit status.
    let rows = [
        ("", "", "0 of 0 statements failed\n", 0),
        ("1 + 1\nprint(2)\n", "2\n", "0 of 2 statements failed\n", 0),
        (
            "#!x\nprint(1)\n\nprint(y)\nprint(3)",
            "1\n3\n",
            "a.py:4:7: NameError: name 'y' is not defined\n    print(y)\n          ^\n1 of 3 statements failed\n",
            1,
        ),
        (
            "x = = 3\n\nif 1:\n    print(1)\nelse:\n    print(2) +\nprint(3)\n",
            "3\n",
            "a.py:1:5: SyntaxError: invalid syntax\n    x = = 3\n        ^\n\
             a.py:6:15: SyntaxError: invalid syntax\n        print(2) +\n                  ^\n\
             2 of 3 statements failed\n",
            1,
        ),
        (
            "# The function fails in its own line.\n\ndef f(x):\n    y = 1\n    return x.nope\n\nclass A:\n    \
             def f(self):\n        return f(3)\n\nA().f()\nA().f\nprint(f.__name__)\n",
            "f\n",
            "a.py:5:14: AttributeError: 'int' object has no attribute 'nope'\n        return x.nope\n                 ^^^^\n  \
             in f(), called at line 9: return f(3)\n  in A.f(), called at line 11: A().f()\n1 of 5 statements failed\n",
            1,
        ),
        (
            "x = (1,\n  2\nprint(x)\nprint(1)",
            "1\n",
            "a.py:1:5: SyntaxError: '(' was never closed\n    x = (1,\n        ^^^\n\
             a.py:3:7: NameError: name 'x' is not defined\n    print(x)\n          ^\n2 of 3 statements failed\n",
            1,
        ),
        (
            "x = 1\nif __name__ == '__main__':\n    print(x)\n    exit(x + 2)\nprint(4)\n",
            "1\n",
            "0 of 2 statements failed\n",
            3,
        ),
        (
            "print(ARGS[0])\nx\nexit()",
            "b\n",
            "a.py:2:1: NameError: name 'x' is not defined\n    x\n    ^\n1 of 3 statements failed\n",
            0,
        ),
    ];
    for (script, stdout, stderr, status) in rows {
        let wanted = (status, stdout.to_owned(), stderr.to_owned());
        assert_eq!(run_on("a.py", script, &["--keep-going", "a.py", "b"]), wanted, "{script}");
        let wanted = (status, stdout.to_owned(), stderr.replace("a.py:", "<stdin>:"));
        assert_eq!(run_here(&["--keep-going", "--python", "-", "b"], script.as_bytes()), wanted, "{script}");
    }
}

#[test]
fn lines_of_ipython_are_named_and_passed_over() {
    let script = "%matplotlib inline\nimport torch\n!pip install x \\\n  y\nif True:\n    %time f()\n    print(1)\n\
                  get_ipython().run_line_magic('time', '')\ntorch?\n# In[2]:\n\n%%bash\nls\n# In[3]:\nprint(2)\n";
    let passed_over = "a.py:1: passed over: %matplotlib inline\na.py:3: passed over: !pip install x \\\n\
                       a.py:6: passed over: %time f()\n\
                       a.py:8: passed over: get_ipython().run_line_magic('time', '')\na.py:9: passed over: torch?\n\
                       a.py:12: passed over: %%bash\n0 of 3 statements failed\n6 passed over\n";
    let wanted = (0, "1\n2\n".to_owned(), passed_over.to_owned());
    assert_eq!(run_on("a.py", script, &["--keep-going", "a.py"]), wanted);
    // Without the option such a line is an error.
    let (status, stdout, stderr) = run_on("a.py", script, &["a.py"]);
    assert_eq!((status, stdout.as_str()), (1, ""));
    assert!(stderr.starts_with("a.py:1:1: SyntaxError: invalid syntax\n"), "{stderr}");
}

#[test]
fn only_scripts_in_python_go_on() {
    let refused = "tensorsh: --keep-going runs scripts in Python: a.rhai does not end in .py\n";
    assert_eq!(run_on("a.rhai", "1", &["--keep-going", "a.rhai"]), (2, String::new(), refused.to_owned()));
    for args in [&["--rhai", "-"][..], &["-e", "1"], &["-i", "a.py"]] {
        let (status, stdout, stderr) = run_here(&[&["--keep-going"], args].concat(), b"");
        assert_eq!((status, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains("'--keep-going' cannot be used with"), "{stderr}");
    }
    let missing = "tensorsh: no.py: No such file or directory\n".to_owned();
    assert_eq!(run_here(&["--keep-going", "no.py"], b""), (1, String::new(), missing));
}

#[test]
fn modules_are_imported_beside_a_script_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("b")).unwrap();
    fs::write(folder.path().join("b/c.rhai"), "fn d(x) { x + 1 }").unwrap();
    fs::write(folder.path().join("b/a.py"), "import c\nprint(c.d(1))\n").unwrap();
    let (status, stdout, stderr) = run(folder.path(), &["b/a.py"], b"");
    let going = run(folder.path(), &["--keep-going", "b/a.py"], b"");
    assert_eq!((going.0, going.1.as_str()), (status, stdout.as_str()), "{stderr}\n{}", going.2);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_script_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.py");
    fs::write(&path, "x\nprint(1)\nwhile True:\n    pass\nprint(2)\n").unwrap();
    let (status, stderr, _) = interrupted_with(&["--keep-going", &path.to_string_lossy()]);
    assert_eq!(status, Some(130), "{stderr}");
    assert!(stderr.contains("KeyboardInterrupt\n") && stderr.ends_with("2 of 3 statements failed\n"), "{stderr}");
}

/// Each statement takes the same time, however many lines are above it.
#[test]
fn a_long_script_goes_on_in_time() {
    let count = 10_000;
    let script = "x = 1; x += 1\n".repeat(count - 1) + "x.nope";
    let going = within(2000, "a long script", || run_on("a.py", &script, &["--keep-going", "a.py"]));
    let wanted =
        format!("a.py:{count}:3: AttributeError: 'int' object has no attribute 'nope'\n    x.nope\n      ^^^^\n");
    assert_eq!(going, (1, String::new(), format!("{wanted}1 of {count} statements failed\n")));
}
