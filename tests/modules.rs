//! Scripts in several files, and names declared by assignments: the program's output, and the positions of faults.

use std::fs;
use std::path::Path;
use std::process::Command;
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::session::{Language, Session, SessionOptions};

/// The files of a folder, by name.
const FILES: &[(&str, &str)] = &[
    (
        "stats.rhai",
        "const SCALE = 2;\nlet weights = torch.tensor([1.0, 2.0]);\nprint(\"read\");\nfn mean(x) { x.sum() / x.numel() }\nfn scaled(x) { mean(x) * SCALE + global::SCALE }\nfn bad(x) { x[0, 1:].view(99) }\nfn worse(x) { bad(x) }",
    ),
    ("calling.rhai", "// The second line.\nfn apply(f) { f.call(1) }"),
    ("apart.rhai", "let [a, b, c] = [1, 2, 3];\nconst (d, e) = (4, 5); let f = 6;"),
    ("twice.rhai", "import \"stats\" as s;\nlet two = s::mean(arange(4.0)) * 2;"),
    ("round.rhai", "import \"about\" as a;"),
    ("about.rhai", "import \"round\" as r;"),
    ("unreadable.rhai", "let x = 1;\nlet y = x +;"),
    ("failing.rhai", "let x = 1;\nlet y = torch.ones(2).view(3);"),
    ("elsewhere/far.rhai", "import \"near\" as n;\nlet x = n::x + 1;"),
    ("elsewhere/near.rhai", "let x = 41;"),
];

/// A script, its output, and the start of its standard error.
const SCRIPTS: &[(&str, &str, &str)] = &[
    (
        "import \"stats\" as s;\nconst K = 10;\nfn f(x) { x + K + global::K }\nprint(s::mean(arange(4.0)), s::scaled(arange(4.0)), s::weights[1], s::SCALE, f(1));",
        "read\ntensor(1.5000) tensor(5.) tensor(2.) 2 21\n",
        "",
    ),
    (
        "import \"stats\" as s; import \"twice\" as t; print(t::two, s::weights.shape);",
        "read\ntensor(3.) torch.Size([2])\n",
        "",
    ),
    ("import \"far\" as f; print(f::x);", "42\n", ""),
    (
        "import \"stats\" as s;\ns::worse(torch.ones(2, 3));",
        "read\n",
        "stats.rhai:6:22: RuntimeError: shape '[99]' is invalid for input of size 2\n    fn bad(x) { x[0, 1:].view(99) }\n                         ^^^^^^^^\n  in bad(), called at line 7 of stats.rhai: fn worse(x) { bad(x) }\n  in worse(), called at line 2: s::worse(torch.ones(2, 3));\n",
    ),
    (
        "import \"stats\" as s;\ntry { s::bad(torch.ones(2, 3)) } catch (e) { print(e.kind, e.file, e.line, e.calls); }",
        "read\nRuntimeError stats.rhai 6 ['bad']\n",
        "",
    ),
    ("import \"apart\" as m; print(m::a, m::b, m::c, m::d, m::e, m::f);", "1 2 3 4 5 6\n", ""),
    // A closure of the script fails at its own position, even if a module calls it.
    (
        "import \"calling\" as c;\nlet y = torch.ones(2);\nprint(c::apply(|x| x + y));\nc::apply(|x| y.foo());",
        "tensor([2., 2.])\n",
        "main.rhai:4:16: AttributeError: 'Tensor' object has no attribute 'foo'\n    c::apply(|x| y.foo());\n                   ^^^\n  in an unnamed function, called at line 2 of calling.rhai: fn apply(f) { f.call(1) }\n  in apply(), called at line 4: c::apply(|x| y.foo());\n",
    ),
    (
        "import \"round\" as r;",
        "",
        "about.rhai:1:8: ImportError: modules import each other: round.rhai imports about.rhai imports round.rhai\n    import \"round\" as r;\n           ^^^^^^^\n  importing about.rhai at line 1 of round.rhai\n  importing round.rhai at line 1\n",
    ),
    (
        "\nimport \"unreadable\" as u;",
        "",
        "unreadable.rhai:2:12: SyntaxError: Unexpected ';'\n    let y = x +;\n               ^\n  importing unreadable.rhai at line 2\n",
    ),
    ("import \"failing\" as f;", "", "failing.rhai:2:23: RuntimeError: shape '[3]' is invalid for input of size 2\n"),
    (
        "import \"nothing\" as n;",
        "",
        "main.rhai:1:8: ModuleNotFoundError: No module named 'nothing'\n    import \"nothing\" as n;\n           ^^^^^^^^^\nhint: nothing.rhai is neither in",
    ),
    // A misspelt name.
    (
        "import \"stats\" as s;\ns::meen(1);",
        "read\n",
        "main.rhai:2:4: NameError: name 's::meen' is not defined\n    s::meen(1);\n       ^^^^^^^\nhint: did you mean `s::mean`?\n",
    ),
    (
        "import \"stats\" as s; s::SCALF",
        "read\n",
        "main.rhai:1:22: NameError: name 's::SCALF' is not defined\n    import \"stats\" as s; s::SCALF\n                         ^\nhint: did you mean `s::SCALE`?\n",
    ),
    (
        "import \"stats\" as s; s::weights(1)",
        "read\n",
        "main.rhai:1:25: NameError: name 's::weights' is not defined\n    import \"stats\" as s; s::weights(1)\n                            ^^^^^^^^^^\nhint: `s::weights` is a value: write it without `()`\n",
    ),
    (
        "import \"stats\" as s; s::mean(1, 2)",
        "read\n",
        "main.rhai:1:25: NameError: name 's::mean' is not defined\n    import \"stats\" as s; s::mean(1, 2)\n                            ^^^^^^^^^^\nhint: `s::mean` takes 1 argument\n",
    ),
    (
        "import \"stats\" as s; let f = s::mean;",
        "read\n",
        "main.rhai:1:30: NameError: name 's::mean' is not defined\n    import \"stats\" as s; let f = s::mean;\n                                 ^\nhint: `s::mean` is a function; as a value, write `|x| s::mean(x)`\n",
    ),
    (
        "import \"stats\" as s; fn f() { st::mean(1) } f()",
        "read\n",
        "main.rhai:1:31: ModuleNotFoundError: No module named 'st'\n    import \"stats\" as s; fn f() { st::mean(1) } f()\n                                  ^^\n  in f(), called at line 1: import \"stats\" as s; fn f() { st::mean(1) } f()\nhint: did you mean `s::mean`?\n",
    ),
    (
        "import \"stats\" as s; s.mean(1)",
        "read\n",
        "main.rhai:1:22: NameError: name 's' is not defined\n    import \"stats\" as s; s.mean(1)\n                         ^\nhint: `s` is a module: write `s::name`\n",
    ),
    (
        "import \"stat\" as s;",
        "",
        "main.rhai:1:8: ModuleNotFoundError: No module named 'stat'\n    import \"stat\" as s;\n           ^^^^^^\nhint: did you mean `import \"stats\"`?\n",
    ),
    (
        "import \"elsewhere/faar\" as s;",
        "",
        "main.rhai:1:8: ModuleNotFoundError: No module named 'elsewhere/faar'\n    import \"elsewhere/faar\" as s;\n           ^^^^^^^^^^^^^^^^\nhint: did you mean `import \"elsewhere/far\"`?\n",
    ),
    (
        "torch::ones(2)",
        "",
        "main.rhai:1:1: ModuleNotFoundError: No module named 'torch'\n    torch::ones(2)\n    ^^^^^\nhint: write a dot: `torch.ones`\n",
    ),
    ("import torch;", "", "main.rhai:1:1: SyntaxError: `import \"torch\"` imports torch.rhai; `let torch = import_"),
    // A script must declare the variables it assigns.
    (
        "x = 1;",
        "",
        "main.rhai:1:1: NameError: name 'x' is not defined\n    x = 1;\n    ^\nhint: `let x = …` makes a new variable\n",
    ),
];

/// Code for `-e`, its output, and the start of its standard error.
const NAMES: &[(&str, &str, &str)] = &[
    ("x = torch.ones(3); x", "tensor([1., 1., 1.])\n", ""),
    ("y = 1; y = y + 2; y", "3\n", ""),
    ("if true { s = 1 } else { s = 2 }; s", "1\n", ""),
    ("let a = 5; if a > 3 { b = a * 2 } b", "10\n", ""),
    ("k = 0; for i in 0..3 { k += i } k", "3\n", ""),
    ("switch 2 { 2 => { z = 5 } _ => { z = 6 } } z", "5\n", ""),
    ("float = 3; float", "3\n", ""),
    ("q = |a, b| a + b; q(1, 2)", "3\n", ""),
    ("for i in 0..3 { t = i }; t", "", "NameError: name 't' is not defined\n"),
    ("z = z + 1", "", "NameError: name 'z' is not defined\n    z = z + 1\n        ^\n"),
    ("w += 1", "", "NameError: name 'w' is not defined\n"),
    ("é = arange(6).view(2, 3); é[1, 0]", "tensor(3)\n", ""),
    (
        "x = arange(6).view(2, 3); \"é\" + x[1, 9]",
        "",
        "IndexError: index 9 is out of bounds for dimension 1 with size 3\n    x = arange(6).view(2, 3); \"é\" + x[1, 9]\n                                     ^",
    ),
    // A constant of the same input, and one that does not exist.
    ("const K = 5; fn f(K) { K + global::K } f(1)", "6\n", ""),
    ("let k = 5; fn f() { global::k } f()", "", "NameError: name 'global::k' is not defined\n"),
    (
        "zeros(2, dtype=int8, 3)",
        "",
        "SyntaxError: positional argument follows keyword argument\n    zeros(2, dtype=int8, 3)\n                         ^\n",
    ),
];

fn run(folder: &Path, args: &[&str]) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        .args(args)
        .current_dir(folder)
        .env("TENSORSH_PATH", folder.join("elsewhere"))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn scripts_import_scripts() {
    let folder = tempfile::tempdir().unwrap();
    // Faults name files by their path from here.
    let folder = fs::canonicalize(folder.path()).unwrap();
    fs::create_dir(folder.join("elsewhere")).unwrap();
    for (name, text) in FILES {
        fs::write(folder.join(name), text).unwrap();
    }
    // An import stays available for later inputs.
    let (out, err) = run(&folder, &["-e", "import \"stats\" as s", "-e", "s::mean(s::weights)", "-e", "s::SCALE"]);
    assert_eq!((out.as_str(), err.as_str()), ("read\ntensor(1.5000)\n2\n", ""));
    // So do constants, also in functions of other inputs.
    let constants = ["const K = 5", "fn f(K) { K + global::K }", "f(1)", "global::K", "const K = 7", "f(1)"];
    let (out, err) = run(&folder, &constants.map(|input| ["-e", input]).concat());
    assert_eq!((out.as_str(), err.as_str()), ("6\n5\n8\n", ""));
    for (script, prints, says) in SCRIPTS {
        fs::write(folder.join("main.rhai"), script).unwrap();
        let (out, err) = run(&folder, &["main.rhai"]);
        assert_eq!(out, *prints, "{script}\n{err}");
        assert!(err.starts_with(says) && err.is_empty() == says.is_empty(), "{script}\n{err}");
    }
}

#[test]
fn an_assignment_makes_a_variable_where_one_types() {
    let folder = tempfile::tempdir().unwrap();
    for (code, shows, says) in NAMES {
        let (out, err) = run(folder.path(), &["-e", code]);
        assert_eq!(out, *shows, "{code}\n{err}");
        assert!(err.starts_with(says) && err.is_empty() == says.is_empty(), "{code}\n{err}");
    }
}

fn python_modules() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/modules")
}

#[test]
fn a_program_of_several_files_prints_what_cpython_prints() {
    let folder = python_modules();
    let (out, err) = run(&folder, &["main.py", "a", "b"]);
    let expected = fs::read_to_string(folder.join("expected.txt")).unwrap();
    assert_eq!((out.as_str(), err.as_str()), (expected.as_str(), ""));
    // Statement by statement, too.
    let (out, err) = run(&folder, &["--keep-going", "main.py", "a", "b"]);
    assert_eq!(out, expected);
    assert!(err.starts_with("0 of "), "{err}");
}

#[test]
fn faults_in_modules_name_their_file() {
    let (_, err) =
        run(&python_modules(), &["--python", "-e", "import helpers", "-e", "def f():\n    import broken", "-e", "f()"]);
    assert_eq!(
        err,
        "broken.py:2:1: ValueError: broken here\n    raise ValueError(\"broken here\")\n    ^^^^^\n  in broken.py, imported at \
         line 2 of an earlier input: import broken\n  in f(), called at line 1: f()\n"
    );
    let (_, err) = run(&python_modules(), &["--python", "-e", "import helpers", "-e", "helpers.f()"]);
    assert!(err.starts_with("TypeError: f() missing 1 required positional argument: 'x'"), "{err}");
}

#[test]
fn undo_takes_modules_back() {
    let outcomes = spawn_with_big_stack("modules", || {
        let mut session = Session::new(SessionOptions::default());
        let mut eval = |input: &str| {
            let outcome = session.eval(Language::Python, input);
            assert_eq!(outcome.error, None, "{input}");
            outcome.text
        };
        eval(&format!("import sys\nsys.path[0] = {:?}", python_modules().display().to_string()));
        eval("import helpers\nfrom helpers import bump\nhelpers.more = [1]\nbump()");
        session.remember();
        for input in [
            "bump()",
            "helpers.COUNT = 70",
            "helpers.more.append(2)",
            "del helpers.f",
            "helpers.fresh = 1",
            "sys.argv.append('x')",
            "vars(helpers)['COUNT'] = 80",
            "helpers.__dict__['other'] = 1",
            "import star",
        ] {
            assert_eq!(session.eval(Language::Python, input).error, None, "{input}");
        }
        session.undo().unwrap();
        let told = "helpers.COUNT, helpers.more, helpers.f(2), hasattr(helpers, 'fresh'), sys.argv, 'star' in sys.modules, bump()";
        let before = session.eval(Language::Python, told).text;
        session.remember();
        session.eval(Language::Python, "sys.modules.clear()");
        session.undo().unwrap();
        let after = session.eval(Language::Python, "sys.modules['helpers'] is helpers, helpers.COUNT").text;
        before + after.as_str()
    });
    assert_eq!(outcomes.unwrap().join().unwrap(), "(1, [1], 4, False, [''], False, 2)\n(True, 2)\n");
}

#[test]
fn what_a_module_and_an_object_have_is_completed() {
    let mut session = Session::new(SessionOptions::default());
    let mut eval = |input: &str| assert_eq!(session.eval(Language::Python, input).error, None, "{input}");
    eval(&format!("import sys\nsys.path[0] = {:?}\nimport helpers", python_modules().display().to_string()));
    eval("class A:\n    kind = 1\n    def run(self): pass\nclass B(A):\n    more = 2\nb = B(); b.own = 3");
    let names = |text: &str| {
        let found = session.complete(Language::Python, text, text.len()).candidates;
        found.into_iter().map(|candidate| candidate.text).collect::<Vec<_>>()
    };
    assert_eq!(names("b."), ["own", "more", "kind", "run"]);
    assert_eq!(names("helpers.bu"), ["bump"]);
    assert_eq!(names("A.r"), ["run"]);
}

#[test]
fn globals_leave_the_variables_of_rhai_alone() {
    let mut session = Session::new(SessionOptions::default());
    let mut text = |language, input: &str| session.eval(language, input).text;
    text(Language::Rhai, "let x = 1; let f = || x;");
    text(Language::Python, "g = globals(); g['n'] = 3");
    assert_eq!(text(Language::Rhai, "x = 5; n = n + 1; f.call()"), "5\n");
    assert_eq!(text(Language::Python, "x, n, g['n']"), "(5, 4, 4)\n");
    text(Language::Python, "del g['n']");
    assert_eq!(text(Language::Rhai, "x"), "5\n");
    assert_eq!(text(Language::Python, "'n' in g"), "False\n");
}
