//! The prompt from the user's view, on a terminal of usual size and on a small one. docs/shell.md lists these tests.
#![cfg(unix)]

mod hints;
mod pasting;
mod quizzes;
mod saving;
mod survival;
mod terminal;
mod turning;
mod undoing;

use std::process::Command;
use std::time::Duration;

use terminal::{BOTH, CTRL_C, ESCAPE, F1, Shell, Start, UP};

/// Runs a test at a plain prompt of each size, and leaves with Ctrl-D.
fn at_prompts(test: impl Fn(&mut Shell)) {
    at_prompts_with("hints = false\n", test);
}

/// Like `at_prompts`, with other settings.
fn at_prompts_with(settings: &str, test: impl Fn(&mut Shell)) {
    for size in BOTH {
        let mut shell = Shell::open(&Start { size, settings, ..Start::default() });
        test(&mut shell);
        shell.leave();
    }
}

#[test]
fn a_session() {
    at_prompts(|shell| {
        shell.check("let t = torch.ones(3);", "");
        shell.check("t", "tensor([1., 1., 1.])\n");
        shell.check(">>> u = torch.ones(3)", "");
        shell.check(">>> u", "tensor([1., 1., 1.])\n");
        shell.check("1 + x", "NameError: name 'x' is not defined\n    1 + x\n        ^\n");
        shell.check("1 + 1", "2\n");
    });
}

#[test]
fn input_goes_on_until_it_is_complete() {
    at_prompts(|shell| {
        shell.send("let sum = [20,\r");
        shell.check("22];", "");
        shell.check("sum[0] + sum[1]", "42\n");
        shell.send(">>> torch.ones(\r");
        shell.check("3)", "tensor([1., 1., 1.])\n");
        shell.send(">>> for i in range(2):\r    print(i)\r");
        shell.check("", "0\n1\n");
    });
}

const PAGE: &str = "\
>>> t = torch.ones(3)
>>> t
tensor([5., 5., 5.])
>>> x
Traceback (most recent call last):
  ...
NameError: something else
>>> torch.ones(
...     2)
tensor([6.,
        6.])
>>> torch.ones(4)";

#[test]
fn a_pasted_page_runs() {
    at_prompts(|shell| {
        let wanted = "\
>>> t = torch.ones(3)
>>> t
tensor([1., 1., 1.])
>>> x
NameError: name 'x' is not defined
    x
    ^
>>> torch.ones(
...     2)
tensor([1., 1.])
>>> torch.ones(4)
tensor([1., 1., 1., 1.])
";
        assert_eq!(shell.paste(PAGE), wanted);
        shell.check("1 + 1", "2\n");
    });
}

/// A lesson pauses before unread text leaves a small screen, and its commands are listed.
#[test]
fn a_lesson_waits_for_its_reader() {
    let start = Start { size: (60, 12), arguments: &["learn", "storage"], ..Start::default() };
    let mut shell = Shell::open(&start);
    let mut screens = 1;
    loop {
        let shown = shell.run("");
        let lines = shown.lines().count();
        assert!(lines <= 12, "{lines} lines at once:\n{shown}");
        if shown.contains(":hint, :solution") {
            break;
        }
        screens += 1;
    }
    assert!(screens > 3, "{screens}");
    shell.check(":hnit", "A lesson has no command :hnit; did you mean :hint?\n");
    assert!(shell.run(":vars").contains("float64"));
    // Ctrl-C discards the typed input, however many lines it has.
    for typed in ["3 * 5 * ", "for i in range(3):\r"] {
        shell.send(typed);
        if typed.ends_with('\r') {
            shell.ready();
        }
        shell.send(CTRL_C);
        shell.ready();
    }
    assert!(shell.run("15").contains("Not yet: that is the number of elements."));
    assert!(shell.run("3 * 5 * 8").contains("Right."));
    shell.leave();
}

/// What is typed while a lesson waits is run, and a picture taller than the screen is shown to its end.
#[test]
fn a_lesson_runs_what_is_typed_while_it_waits() {
    let start = Start { size: (80, 24), arguments: &["learn", "strides"], ..Start::default() };
    let mut shell = Shell::open(&start);
    assert!(shell.run("t.numel() * 2").contains("24"));
    let mut all = String::new();
    while !all.contains(":hint, :solution") {
        let shown = shell.run("");
        assert!(shown.lines().count() <= 24, "{shown}");
        all.push_str(&shown);
    }
    assert!(all.contains("Its storage") && all.contains("· not an element of this tensor"), "{all}");
    shell.leave();
}

#[test]
fn a_page_that_arrives_line_by_line_runs() {
    at_prompts(|shell| {
        shell.send(&format!("{PAGE}\n").replace('\n', "\r"));
        for wanted in [
            "\ntensor([1., 1., 1.])\r\n",
            "\nNameError: name 'x' is not defined\r\n",
            "\ntensor([1., 1.])\r\n",
            "\ntensor([1., 1., 1., 1.])\r\n",
        ] {
            let seen = shell.sees(wanted);
            assert!(!seen.contains("\ntensor([5., 5., 5.])"), "a recorded result is passed over: {seen}");
        }
        shell.ready();
    });
}

#[test]
fn a_line_typed_after_a_page_is_run() {
    at_prompts(|shell| {
        shell.check(">>> torch.ones(3)", "tensor([1., 1., 1.])\n");
        // A pause that a pasted line would not have.
        std::thread::sleep(Duration::from_millis(200));
        shell.check("[1, 2]", "[1, 2]\n");
    });
}

#[test]
fn a_page_of_ipython_runs_and_its_open_end_stays_in_the_line() {
    at_prompts(|shell| {
        let page = "In [1]: x = 20\n\nIn [2]: x + 22\nOut[2]: 0\n\nIn [3]: print(\"open\",";
        assert_eq!(shell.paste(page), ">>> x = 20\n>>> x + 22\n42\n");
        shell.sees("print(\"open\",");
        shell.check("x)", "open 20\n");
    });
}

#[test]
fn a_long_paste_is_taken() {
    at_prompts(|shell| {
        let page: String = (0..1000).map(|at| format!(">>> x = {at}\n")).collect();
        assert_eq!(shell.paste(&page), page);
        shell.check("x", "999\n");
    });
}

#[test]
fn pasted_outputs_are_checked() {
    at_prompts(|shell| {
        assert_eq!(shell.paste(">>> 1 + 1\n2\n>>> 2 + 2\n5\n"), ">>> 1 + 1\n2\n>>> 2 + 2\n4\n");
        let report = shell.run(":check");
        assert!(report.contains(">>> 2 + 2\n- 5\n+ 4\n1 outputs match, 1 differ"), "{report}");
    });
}

#[test]
fn words_that_leave() {
    for word in ["exit", "exit()", "quit()", ">>> exit()", "exit(0)", ":quit"] {
        let mut shell = Shell::open(&Start::default());
        shell.send(&format!("{word}\r"));
        shell.ended();
    }
}

#[test]
fn ctrl_c_at_the_prompt_clears_the_line() {
    at_prompts(|shell| {
        shell.send("exit(9");
        shell.sees("exit(9");
        shell.send(CTRL_C);
        shell.ready();
        shell.check("1 + 1", "2\n");
    });
}

#[test]
fn the_history_is_kept() {
    for size in BOTH {
        let start = Start { size, ..Start::default() };
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Shell::open_in(folder.path(), &start);
        shell.check("20 + 22", "42\n");
        shell.leave();
        let mut shell = Shell::open_in(folder.path(), &start);
        shell.send(UP);
        shell.sees("20 + 22");
        shell.check("", "42\n");
        shell.leave();
    }
}

#[test]
fn the_history_has_a_limit() {
    for size in BOTH {
        let start = Start { size, settings: "hints = false\nhistory = 3\n", ..Start::default() };
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Shell::open_in(folder.path(), &start);
        (1..=9).for_each(|number| shell.check(&number.to_string(), &format!("{number}\n")));
        shell.leave();
        Shell::open_in(folder.path(), &start).leave();
        let kept = std::fs::read_to_string(folder.path().join("tensorsh/history")).unwrap();
        assert_eq!(kept, "#V2\n7\n8\n9\n");
    }
}

#[test]
fn a_state_folder_that_cannot_be_written_costs_only_the_history() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut shell = Shell::open_in(&file, &Start::default());
    shell.check("1 + 1", "2\n");
    shell.leave();
}

#[test]
fn an_entry_of_several_lines_is_one_in_the_history() {
    at_prompts(|shell| {
        shell.send("let long = [20,\r");
        shell.check("22];", "");
        shell.check("let long = 1;", "");
        shell.check(&format!("{UP}{UP}"), "");
        shell.check("long", "[20, 22]\n");
    });
}

#[test]
fn the_history_can_be_searched() {
    at_prompts(|shell| {
        shell.check("1000 + 1", "1001\n");
        shell.check("2000 + 2", "2002\n");
        shell.check("\u{12}1000", "1001\n");
    });
}

#[test]
fn a_resized_terminal_shows_the_entry_anew() {
    let mut shell = Shell::open(&Start::default());
    shell.send("let sum = 20 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1;");
    shell.sees("1;");
    // Without a key press, the line wraps at the terminal's new width.
    shell.resize((30, 10));
    shell.sees("rhai> let sum = 20 + 1 + 1 + 1");
    shell.check("", "");
    shell.check("sum", "30\n");
    shell.leave();
}

#[test]
fn emacs_keys() {
    at_prompts(|shell| {
        // Go to the beginning, cut the word, go to the end, paste it.
        shell.check("40 + \u{1}\u{1b}d\u{5}\u{19} + 4", "44\n");
        // Undo.
        shell.check("6 * 7\u{17}\u{1f}", "42\n");
    });
}

#[test]
fn vi_keys() {
    at_prompts_with("hints = false\nkeys = \"vi\"\n", |shell| {
        shell.send("1 + 1");
        shell.sees("1 + 1");
        // The cursor moves back a column once Escape has been recognised.
        shell.send(ESCAPE);
        shell.sees("\u{1b}[D");
        shell.check("0i4", "42\n");
    });
}

#[test]
fn the_users_editor_edits_the_entry() {
    for size in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let editor = folder.path().join("editor");
        std::fs::write(&editor, "#!/bin/sh\necho '6 * 7' > \"$1\"\n").unwrap();
        assert!(Command::new("chmod").arg("+x").arg(&editor).status().unwrap().success());
        let environment = [("EDITOR", editor.to_str().unwrap())];
        let mut shell = Shell::open_in(folder.path(), &Start { size, environment: &environment, ..Start::default() });
        shell.send("1 + \u{18}\u{5}");
        shell.ready();
        shell.check("", "42\n");
        shell.leave();
    }
}

#[test]
fn tab_completes_names_members_and_keywords() {
    at_prompts(|shell| {
        shell.check("let tensor_of_mine = torch.ones(2, 3);", "");
        shell.check("tensor_of\t.untyped_sto\t().nb\t()", "24\n");
        shell.check("torch.zeros(1, #{dty\tint3\t})", "tensor([0], dtype=torch.int32)\n");
        shell.check("torch.zeros(1, dty\tint3\t)", "tensor([0], dtype=torch.int32)\n");
        shell.check(">>> torch.zeros(1, dty\ttorch.int3\t)", "tensor([0], dtype=torch.int32)\n");
        // A value of the keyword, by its own name.
        shell.check(">>> torch.zeros(1, dtype=int3\t)", "tensor([0], dtype=torch.int32)\n");
        // Two completions are listed with their descriptions.
        shell.send("tensor_of_mine.trans\t\t");
        shell.sees("transpose_");
        shell.send(CTRL_C);
        shell.ready();
        // Keys of a map, and methods of arrays, strings and storages.
        shell.check("let config = #{learning_rate: 0.5}; let storage = tensor_of_mine.untyped_storage();", "");
        shell.check("config.learn\t", "0.5\n");
        shell.check("let items = [3, 1];", "");
        shell.check("items.revers\t(); items", "[1, 3]\n");
        shell.check("storage.nbyt\t()", "24\n");
        // A word that is not a prefix of any name is searched for.
        shell.check("tensor_of_mine.s_contig\t()", "True\n");
    });
}

#[test]
fn many_names_are_told_by_subject() {
    let mut shell = Shell::open(&Start { size: (80, 40), ..Start::default() });
    shell.check("let t = torch.ones(2, 3);", "");
    shell.send("t.\t\t");
    // Likely names first, then the subjects. No question is asked.
    let likely = shell.sees("arithmetic  ");
    assert!(likely.contains("view ") && !likely.contains("possibilities"), "{likely}");
    shell.sees("views  ");
    shell.send(CTRL_C);
    shell.ready();
    // A subject stands for its names.
    shell.send("t.reductions\t\t");
    shell.sees("amax");
    shell.send(CTRL_C);
    shell.ready();
    shell.leave();
}

#[test]
fn a_question_can_be_left() {
    for keys in ["emacs", "vi"] {
        let settings = format!("hints = false\nkeys = \"{keys}\"\n");
        let mut shell = Shell::open(&Start { settings: &settings, ..Start::default() });
        (0..150).for_each(|n| std::fs::write(shell.folder.join(format!("file{n}")), "").unwrap());
        shell.send("\"fil\t\t\t");
        shell.sees("possibilities? (y or n)");
        // The second Ctrl-C answers no, the third ends the entry.
        shell.send(&format!("{CTRL_C}{CTRL_C}{CTRL_C}"));
        shell.ready();
        shell.check("1 + 1", "2\n");
        shell.leave();
    }
}

#[test]
fn tab_completes_commands_and_files() {
    at_prompts(|shell| {
        std::fs::write(shell.folder.join("a_script.rhai"), "let from_file = 6 * 7;").unwrap();
        shell.check(":lo\t a_scr\t", "");
        shell.check("from_file", "42\n");
        shell.check("let name = \"a_scr\t\";", "");
        shell.check("name", "'a_script.rhai'\n");
    });
}

#[test]
fn an_open_call_shows_its_signature() {
    at_prompts_with("", |shell| {
        shell.send("torch.transpose(");
        // A narrow terminal shows the start of the signature.
        shell.sees("   transpose(");
        shell.send(CTRL_C);
        shell.ready();
    });
}

#[test]
fn what_is_typed_is_coloured() {
    for size in BOTH {
        let start = Start { size, arguments: &["--color", "always"], ..Start::default() };
        let mut shell = Shell::open(&start);
        // A keyword of each language, in a position where it is one.
        shell.send("let ");
        shell.sees("\u{1b}[34mlet\u{1b}[0m");
        shell.send(CTRL_C);
        shell.ready();
        shell.send(">>> lambda ");
        shell.sees("\u{1b}[34mlambda\u{1b}[0m");
        shell.send(CTRL_C);
        shell.ready();
        shell.leave();
    }
}

#[test]
fn help_is_one_key_away() {
    at_prompts(|shell| {
        for asking in ["?untyped_storage", "untyped_storage?", "help(untyped_storage)", ":help untyped_storage"] {
            let text = shell.run(asking);
            assert!(text.contains("Tensor.untyped_storage()") && text.contains("Example"), "{text}");
        }
        assert!(shell.run("?xyzzy").contains("there is no help on xyzzy"));
        assert!(shell.run("?reductions").contains("amax"));
        assert!(shell.run("?swaps dimensions").contains("transpose"));
        assert!(shell.run(":help").contains(":timeit CODE"));
        shell.send(&format!("untyped_storage{F1}"));
        assert!(shell.ready().contains("Tensor.untyped_storage()"));
        shell.sees("rhai> untyped_storage");
        shell.send(CTRL_C);
        shell.ready();
    });
}

#[test]
fn help_tells_what_a_value_is() {
    at_prompts(|shell| {
        shell.check("let t = torch.ones(2, 3, requires_grad=true); let v = t.t(); let l = [1, 2];", "");
        shell.check("let s = v.untyped_storage();", "");
        for asking in ["v?", "?v", ":help v", "help(v)"] {
            let text = shell.run(asking);
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for wanted in [
                "v: float32 tensor of size [3, 2]: 6 elements",
                "stride [1, 3]: dimension 0 moves by 4 bytes",
                "contiguous no: stride(1) is 3",
                "storage 24 bytes",
                "variables t, v, s on this storage",
                "gradient recorded by TBackward0",
                "views (",
            ] {
                assert!(words.contains(wanted), "{wanted}\n{text}");
            }
        }
        let text = shell.run("t?");
        assert!(text.contains("a leaf"), "{text}");
        let text = shell.run("l?");
        assert!(text.contains("l: list of 2") && text.contains("append"), "{text}");
        let text = shell.run("s?");
        assert!(text.contains("24 bytes") && text.contains("shared with  t, v"), "{text}");
    });
}

#[test]
fn results_are_no_aliases() {
    at_prompts(|shell| {
        shell.check("let t = torch.arange(3);", "");
        shell.check("t[0..2]", "tensor([0, 1])\n");
        let text = shell.run(":aliases");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("1 variable on 1 storage") && words.contains("held by 1 handle"), "{text}");
        assert!(!text.contains("unnamed") && !text.contains('_'), "{text}");
        assert!(!shell.run(":vars").contains("shared with  _"));
    });
}

#[test]
fn an_error_underlines_its_place() {
    at_prompts(|shell| {
        let wanted = "\
RuntimeError: shape '[7]' is invalid for input of size 6
    let t = torch.ones(2, 3); t.view(7) + 1
                                ^^^^^^^
";
        shell.check("let t = torch.ones(2, 3); t.view(7) + 1", wanted);
        let text = shell.run("torch.ones(2, #{dtyp: torch.int32})");
        assert!(text.contains("hint: did you mean 'dtype'?"), "{text}");
        let wanted = "\
AttributeError: 'Tensor' object has no attribute 'shpae'
    t.shpae
      ^^^^^
hint: did you mean 'shape'?
";
        shell.check(">>> t.shpae", wanted);
    });
}

#[test]
fn figures_are_as_wide_as_the_terminal() {
    for size in BOTH {
        let mut shell = Shell::open(&Start { size, ..Start::default() });
        let text = shell.run("hist(torch.arange(1000) / 10)");
        assert!(text.contains("[90.0, 100.0]") && text.contains('█'), "{text}");
        let text = shell.run(">>> spark(torch.arange(1000))");
        let last = text.trim_end().lines().last().unwrap_or_default();
        assert_eq!(last.chars().count(), usize::from(size.0), "{text}");
        assert!(shell.run("heat(torch.eye(4))").contains("██······"), "{text}");
        shell.leave();
    }
}

#[test]
fn an_error_in_a_function_shows_its_line_and_the_calls() {
    at_prompts(|shell| {
        shell.check("fn inner(t) {\n  t.view(9)\n}", "");
        shell.check("fn outer(t) { inner(t) }", "");
        let wanted = "\
RuntimeError: shape '[9]' is invalid for input of size 2
      t.view(9)
        ^^^^^^^
  in inner(), called at line 1 of an earlier input: fn outer(t) { inner(t) }
  in outer(), called at line 1: outer(torch.ones(2))
";
        shell.check("outer(torch.ones(2))", wanted);
    });
}

#[test]
fn languages_are_switched() {
    at_prompts(|shell| {
        shell.check(":python", "");
        shell.sees(">>> ");
        shell.check("x = [i * 2 for i in range(3)]", "");
        shell.check("x", "[0, 2, 4]\n");
        shell.check(":rhai x.len()", "3\n");
        shell.check(":rhai", "");
        shell.sees("rhai> ");
        shell.check("x[1]", "2\n");
        shell.check(":python not x", "False\n");
    });
}

#[test]
fn python_at_the_rhai_prompt_shows_its_translation() {
    at_prompts(|shell| {
        assert!(shell.run("x = 42 if True else 8").contains("} else {"));
        shell.check(":translate off", "");
        shell.check("x = 43 if True else 8", "");
        shell.check("x", "43\n");
    });
}

#[test]
fn results_are_kept_and_muted() {
    at_prompts(|shell| {
        shell.check("40 + 2", "42\n");
        shell.check("_ * 2", "84\n");
        shell.check("_ + __", "126\n");
        shell.check("1234567;", "");
        shell.check("_", "126\n");
    });
}

#[test]
fn variables_show_who_shares() {
    for (size, wanted) in
        [((80, 24), "v     float32  [3, 2]  [1, 3]       0  #1          24  t\n"), ((40, 10), "[3, 2]")]
    {
        let mut shell = Shell::open(&Start { size, ..Start::default() });
        shell.check("let t = torch.ones(2, 3); let v = t.t();", "");
        let table = shell.run(":vars");
        assert!(table.contains(wanted), "{table}");
        assert!(table.lines().all(|line| line.chars().count() <= size.0.into()), "{table}");
        shell.leave();
    }
}

#[test]
fn reset_forgets() {
    at_prompts(|shell| {
        shell.check("let t = 1;", "");
        shell.check(":reset", "");
        assert!(shell.run("t").starts_with("NameError"));
        shell.check("1 + 1", "2\n");
    });
}

#[test]
fn times_are_told() {
    at_prompts(|shell| {
        let text = shell.run(":time 6 * 7");
        assert!(text.starts_with("42\n") && text.trim_end().ends_with('s'), "{text}");
        assert!(shell.run(":timeit 6 * 7").contains("best"));
        assert!(shell.run(":time").starts_with(":time CODE"));
    });
}

#[test]
fn long_values_go_through_the_pager() {
    for size in BOTH {
        let environment = [("PAGER", "sed s/^/paged:/")];
        let mut shell = Shell::open(&Start { size, environment: &environment, ..Start::default() });
        let text = shell.run("torch.zeros(300, 1)");
        assert!(text.starts_with("paged:tensor([[0.],\npaged:        [0.],\n"), "{text}");
        // Output slightly longer than the screen is printed.
        assert!(shell.run("torch.UntypedStorage(48)").starts_with(" 0\n 0\n"));
        // Output that fits is shown directly.
        shell.check("torch.zeros(3)", "tensor([0., 0., 0.])\n");
        shell.check("print(torch.zeros(2))", "tensor([0., 0.])\n");
        // A picture is paged as a whole.
        shell.check("let t = torch.zeros(200);", "");
        let text = shell.run(":explain t");
        assert!(text.lines().filter(|line| !line.is_empty()).all(|line| line.starts_with("paged:")), "{text}");
        shell.leave();
    }
}

#[test]
fn settings_are_read_and_their_faults_told() {
    let settings = "hints = false\nlanguage = \"python\"\nnonsense = 1\n[print]\nprecision = 2\n";
    for size in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let start = Start { size, settings, ..Start::default() };
        let mut shell = Shell::start(folder.path(), &start);
        assert!(shell.ready().contains("there is no setting 'nonsense'"));
        shell.check("torch.tensor(1.23456)", "tensor(1.23)\n");
        shell.leave();
        let mut shell = Shell::start(folder.path(), &Start { arguments: &["--no-config"], ..start });
        assert_eq!(shell.ready(), "");
        shell.check("torch.tensor(1.23456)", "tensor(1.2346)\n");
        shell.leave();
    }
}

#[test]
fn a_script_runs_first() {
    for size in BOTH {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("first.rhai"), "let here = 41;").unwrap();
        let settings = "hints = false\nstartup = \"first.rhai\"\n";
        let mut shell = Shell::open_in(folder.path(), &Start { size, settings, ..Start::default() });
        shell.check("here + 1", "42\n");
        shell.leave();
        let arguments = ["-i", "first.rhai"];
        let mut shell = Shell::open_in(folder.path(), &Start { size, arguments: &arguments, ..Start::default() });
        shell.check("here + 1", "42\n");
        shell.leave();
    }
}

#[test]
fn colours_can_be_chosen() {
    let cases: [(&[&str], (&str, &str), bool); 5] = [
        (&["--color", "always"], ("NO_COLOR", "1"), true),
        (&["--color", "never"], ("NO_COLOR", ""), false),
        (&[], ("NO_COLOR", ""), true),
        (&[], ("NO_COLOR", "1"), false),
        (&["--color", "never"], ("FORCE_COLOR", "1"), false),
    ];
    for size in BOTH {
        for (arguments, variable, is_coloured) in cases {
            let environment = [variable];
            let start = Start { size, arguments, environment: &environment, ..Start::default() };
            let mut shell = Shell::open(&start);
            let text = shell.run("torch.ones(1)");
            assert_eq!(text.contains("\u{1b}[36m1."), is_coloured, "{arguments:?} {variable:?} {text:?}");
            shell.leave();
        }
    }
}
