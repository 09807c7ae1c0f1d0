//! The prompt on a pseudo-terminal, as a user meets it.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use expectrl::process::unix::Signal;
use expectrl::session::OsSession;
use expectrl::{ControlCode, Eof, Expect, Session};

/// A prompt whose history stands below `state`. Without hints and colours a line is drawn once, so that the next
/// `rhai> ` is the next prompt.
fn open(state: &Path) -> OsSession {
    open_with(state, "hints = false\n", |_| {})
}

/// A prompt with these settings, its files below `state`.
fn open_with(state: &Path, settings: &str, change: impl FnOnce(&mut Command)) -> OsSession {
    if state.is_dir() {
        std::fs::create_dir_all(state.join("tensorsh")).unwrap();
        std::fs::write(state.join("tensorsh/config.toml"), settings).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_tensorsh"));
    command.env("XDG_STATE_HOME", state).env("XDG_CONFIG_HOME", state).env("TERM", "xterm").env("NO_COLOR", "1");
    command.env("PAGER", "cat").arg("-q");
    if state.is_dir() {
        command.current_dir(state);
    }
    change(&mut command);
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(30)));
    let sign = if settings.contains("python") { ">>> " } else { "rhai> " };
    expect(&mut session, sign);
    session
}

/// Runs a test at a prompt of its own on a terminal of usual size, and on a small one.
fn on_both_sizes(test: impl Fn(&mut OsSession, &Path)) {
    for (columns, rows) in [(80, 24), (40, 10)] {
        let state = tempfile::tempdir().unwrap();
        let mut session = open(state.path());
        session.get_process_mut().set_window_size(columns, rows).unwrap();
        // The terminal tells of its size by a signal, which the prompt reads before the next line.
        check(&mut session, "0", "\n0\r\n");
        test(&mut session, state.path());
        leave(&mut session);
    }
}

/// Types a line and waits for `wanted`, then for the next prompt.
fn check(session: &mut OsSession, line: &str, wanted: &str) {
    session.send_line(line).unwrap();
    expect(session, wanted);
    expect(session, "rhai> ");
}

fn expect(session: &mut OsSession, wanted: &str) {
    if let Err(error) = session.expect(wanted) {
        panic!("waiting for {wanted:?}: {error}");
    }
}

/// Ctrl-D, at a prompt, until it is heard: the terminal itself swallows the key while the shell is between two lines.
fn leave(session: &mut OsSession) {
    session.set_expect_timeout(Some(Duration::from_secs(3)));
    let left = (0..10).any(|_| {
        // What is on its way to the prompt has to arrive first.
        std::thread::sleep(Duration::from_millis(200));
        // Where the shell has gone already, there is nobody to send the key to.
        let _ = session.send(ControlCode::EndOfTransmission);
        session.expect(Eof).is_ok()
    });
    assert!(left, "Ctrl-D does not leave");
}

/// Ctrl-C, by itself: a terminal that is between two lines forgets what was typed around it.
fn give_up(session: &mut OsSession) {
    std::thread::sleep(Duration::from_millis(300));
    session.send(ControlCode::EndOfText).unwrap();
    std::thread::sleep(Duration::from_millis(300));
}

/// Text as a terminal hands over what is pasted.
fn pasted(text: &str) -> String {
    format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\n', "\r"))
}

#[test]
fn a_session() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    check(&mut session, "let t = torch.ones(3);", "\n");
    check(&mut session, "t", "tensor([1., 1., 1.])");
    check(&mut session, ">>> u = torch.ones(3)", "\n");
    check(&mut session, ">>> u", "tensor([1., 1., 1.])");
    session.send_line("1 + x").unwrap();
    expect(&mut session, "NameError: name 'x' is not defined\r\n    1 + x\r\n        ^\r\n");
    expect(&mut session, "rhai> ");
    check(&mut session, "1 + 1", "\n2\r\n");
    leave(&mut session);
}

#[test]
fn input_goes_on_until_it_is_complete() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    session.send_line("let sum = [20,").unwrap();
    session.send_line("22];").unwrap();
    expect(&mut session, "22];");
    expect(&mut session, "rhai> ");
    check(&mut session, "sum[0] + sum[1]", "\n42\r\n");
    session.send_line(">>> torch.ones(").unwrap();
    session.send_line("3)").unwrap();
    expect(&mut session, "tensor([1., 1., 1.])");
    expect(&mut session, "rhai> ");
    leave(&mut session);
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
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    session.send(pasted(PAGE)).unwrap();
    session.send("\r").unwrap();
    // The editor shows the page as it was pasted; what follows is each statement with its result of now.
    expect(&mut session, ">>> torch.ones(4)");
    expect(
        &mut session,
        ">>> t = torch.ones(3)\r\n>>> t\r\ntensor([1., 1., 1.])\r\n>>> x\r\nNameError: name 'x' is not defined",
    );
    expect(
        &mut session,
        ">>> torch.ones(\r\n...     2)\r\ntensor([1., 1.])\r\n>>> torch.ones(4)\r\ntensor([1., 1., 1., 1.])\r\n",
    );
    expect(&mut session, "rhai> ");
    check(&mut session, "1 + 1", "\n2\r\n");
    leave(&mut session);
}

#[test]
fn a_page_that_arrives_line_by_line_runs() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    session.send(format!("{PAGE}\n").replace('\n', "\r")).unwrap();
    for wanted in [
        "\ntensor([1., 1., 1.])\r\n",
        "\nNameError: name 'x' is not defined\r\n",
        "\ntensor([1., 1.])\r\n",
        "\ntensor([1., 1., 1., 1.])\r\n",
        "rhai> ",
    ] {
        expect(&mut session, wanted);
    }
    leave(&mut session);
}

#[test]
fn a_line_typed_after_a_page_is_run() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    check(&mut session, ">>> torch.ones(3)", "\ntensor([1., 1., 1.])\r\n");
    std::thread::sleep(Duration::from_millis(200));
    check(&mut session, "[1, 2]", "\n[1, 2]\r\n");
    leave(&mut session);
}

#[test]
fn ctrl_c_stops_a_script_and_keeps_the_session() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    check(&mut session, "let kept = 41;", "\n");
    session.send_line("print(\"started\"); loop {}").unwrap();
    expect(&mut session, "\nstarted\r\n");
    session.send(ControlCode::EndOfText).unwrap();
    expect(&mut session, "rhai> ");
    check(&mut session, "kept + 1", "\n42\r\n");
    check(&mut session, "1 + 1", "\n2\r\n");
    leave(&mut session);
}

#[test]
fn ctrl_c_at_the_prompt_clears_the_line() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    session.send("exit(9").unwrap();
    expect(&mut session, "exit(9");
    session.send(ControlCode::EndOfText).unwrap();
    expect(&mut session, "rhai> ");
    check(&mut session, "1 + 1", "\n2\r\n");
    leave(&mut session);
}

#[test]
fn words_that_leave() {
    for word in ["exit", "exit()", "quit()", ">>> exit()", "exit(0)"] {
        let state = tempfile::tempdir().unwrap();
        let mut session = open(state.path());
        session.send_line(word).unwrap();
        session.expect(Eof).unwrap();
    }
}

#[test]
fn the_history_is_kept() {
    const UP: &str = "\u{1b}[A";
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    check(&mut session, "20 + 22", "\n42\r\n");
    leave(&mut session);
    assert!(state.path().join("tensorsh/history").exists());
    let mut session = open(state.path());
    session.send(UP).unwrap();
    expect(&mut session, "20 + 22");
    session.send("\r").unwrap();
    expect(&mut session, "\n42\r\n");
    expect(&mut session, "rhai> ");
    leave(&mut session);
}

#[test]
fn a_state_folder_that_cannot_be_written_costs_only_the_history() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut session = open(&file);
    check(&mut session, "1 + 1", "\n2\r\n");
    leave(&mut session);
}

const TAB: &str = "\t";
const RIGHT: &str = "\u{1b}[C";

#[test]
fn tab_completes_names_members_and_keywords() {
    on_both_sizes(|session, _| {
        check(session, "let tensor_of_mine = torch.ones(2, 3);", "\n");
        session.send(format!("tensor_of{TAB}.untyped_sto{TAB}().nb{TAB}()\r")).unwrap();
        expect(session, "\n24\r\n");
        expect(session, "rhai> ");
        session.send(format!("torch.zeros(1, #{{dty{TAB}int3{TAB}}})\r")).unwrap();
        expect(session, "tensor([0], dtype=torch.int32)");
        expect(session, "rhai> ");
        // Two ways to go on are listed, with what they are.
        session.send(format!("tensor_of_mine.trans{TAB}{TAB}")).unwrap();
        expect(session, "transpose_");
        session.send(ControlCode::EndOfText).unwrap();
        expect(session, "rhai> ");
    });
}

#[test]
fn tab_completes_commands_and_files() {
    on_both_sizes(|session, folder| {
        std::fs::write(folder.join("a_script.rhai"), "let from_file = 6 * 7;").unwrap();
        session.send(format!(":lo{TAB} a_scr{TAB}\r")).unwrap();
        expect(session, "rhai> ");
        check(session, "from_file", "\n42\r\n");
        session.send(format!("let name = \"a_scr{TAB}\";\r")).unwrap();
        expect(session, "rhai> ");
        check(session, "name", "'a_script.rhai'");
    });
}

#[test]
fn an_open_call_shows_its_signature() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open_with(state.path(), "", |_| {});
    session.send("torch.transpose(").unwrap();
    expect(&mut session, "transpose(input, dim0, dim1)");
    session.send(ControlCode::EndOfText).unwrap();
    leave(&mut session);
}

#[test]
fn an_earlier_entry_is_hinted_and_taken() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open_with(state.path(), "", |_| {});
    session.send("111 + 222\r").unwrap();
    expect(&mut session, "333");
    session.send("111").unwrap();
    expect(&mut session, " + 222");
    session.send(format!("{RIGHT}\r")).unwrap();
    expect(&mut session, "333");
    leave(&mut session);
}

#[test]
fn the_history_can_be_searched() {
    on_both_sizes(|session, _| {
        check(session, "1000 + 1", "\n1001\r\n");
        check(session, "2000 + 2", "\n2002\r\n");
        session.send("\u{12}").unwrap();
        session.send("1000").unwrap();
        session.send("\r").unwrap();
        expect(session, "\n1001\r\n");
        expect(session, "rhai> ");
    });
}

#[test]
fn an_entry_of_several_lines_is_one_in_the_history() {
    const UP: &str = "\u{1b}[A";
    on_both_sizes(|session, _| {
        session.send_line("let long = [20,").unwrap();
        session.send_line("22];").unwrap();
        expect(session, "rhai> ");
        check(session, "let long = 1;", "\n");
        session.send(format!("{UP}{UP}\r")).unwrap();
        expect(session, "rhai> ");
        check(session, "long", "[20, 22]");
    });
}

#[test]
fn the_users_editor_edits_the_entry() {
    let state = tempfile::tempdir().unwrap();
    let editor = state.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\necho '6 * 7' > \"$1\"\n").unwrap();
    Command::new("chmod").arg("+x").arg(&editor).status().unwrap();
    let mut session = open_with(state.path(), "hints = false\n", |command| {
        command.env("EDITOR", &editor).env_remove("VISUAL");
    });
    session.send("1 + \u{18}\u{5}").unwrap();
    expect(&mut session, "6 * 7");
    session.send("\r").unwrap();
    expect(&mut session, "\n42\r\n");
    expect(&mut session, "rhai> ");
    leave(&mut session);
}

#[test]
fn vi_keys() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open_with(state.path(), "hints = false\nkeys = \"vi\"\n", |_| {});
    // Escape, to the beginning, and a digit before the sum.
    session.send("1 + 1").unwrap();
    expect(&mut session, "1 + 1");
    session.send("\u{1b}").unwrap();
    std::thread::sleep(Duration::from_millis(700));
    session.send("0i4\r").unwrap();
    expect(&mut session, "\n42\r\n");
    expect(&mut session, "rhai> ");
    leave(&mut session);
}

#[test]
fn languages_are_switched() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    session.send_line(":python").unwrap();
    expect(&mut session, ">>> ");
    session.send_line("x = [i * 2 for i in range(3)]").unwrap();
    expect(&mut session, ">>> ");
    session.send_line("x").unwrap();
    expect(&mut session, "[0, 2, 4]");
    session.send_line(":rhai").unwrap();
    expect(&mut session, "rhai> ");
    check(&mut session, "x[1]", "\n2\r\n");
    leave(&mut session);
}

#[test]
fn python_at_the_rhai_prompt_shows_its_translation() {
    on_both_sizes(|session, _| {
        session.send_line("x = 42 if True else 8").unwrap();
        expect(session, "} else {");
        expect(session, "rhai> ");
        check(session, ":translate off", "\n");
        check(session, "x", "\n42\r\n");
    });
}

#[test]
fn help_is_one_key_away() {
    on_both_sizes(|session, _| {
        for asking in ["?untyped_storage", "untyped_storage?", "help(untyped_storage)", ":help untyped_storage"] {
            session.send_line(asking).unwrap();
            expect(session, "Tensor.untyped_storage()");
            expect(session, "Example");
            expect(session, "rhai> ");
        }
        session.send_line("?xyzzy").unwrap();
        expect(session, "nothing is called xyzzy");
        expect(session, "rhai> ");
        session.send("untyped_storage\u{1b}OP").unwrap();
        expect(session, "Tensor.untyped_storage()");
        expect(session, "rhai> untyped_storage");
        give_up(session);
    });
}

#[test]
fn results_are_kept_and_muted() {
    on_both_sizes(|session, _| {
        check(session, "40 + 2", "\n42\r\n");
        check(session, "_ * 2", "\n84\r\n");
        check(session, "_ + __", "\n126\r\n");
        session.send_line("1234567;").unwrap();
        expect(session, "rhai> ");
        check(session, "_", "\n126\r\n");
    });
}

#[test]
fn variables_show_who_shares() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    check(&mut session, "let t = torch.ones(2, 3); let v = t.t();", "\n");
    check(&mut session, ":vars", "v     float32  [3, 2]  [1, 3]       0  #1          24  t");
    leave(&mut session);
}

#[test]
fn memory_is_drawn_as_wide_as_the_terminal() {
    on_both_sizes(|session, _| {
        check(session, "let t = torch.arange(6).view(2, 3);", "\n");
        check(session, ":explain t.t()", "index");
        check(session, ":why t.t(), [6]", "No: dimension 0 of [6]");
        check(session, ":bytes t", "little-endian");
        check(session, ":bits 1.5", "exponent");
        check(session, ":aliases", "storage #1: 48 bytes");
        check(session, "let big = torch.zeros(4096); let v = big[0..2]; big = 0;", "\n");
        check(session, ":vars", "alive to show 8 bytes");
    });
}

#[test]
fn undo_brings_bytes_and_names_back() {
    on_both_sizes(|session, _| {
        check(session, "let t = torch.ones(2);", "\n");
        check(session, "t.fill_(5); let other = 1;", "\n");
        check(session, ":undo", "\n");
        check(session, "t", "tensor([1., 1.])");
        check(session, "other", "NameError");
    });
}

#[test]
fn reset_forgets() {
    on_both_sizes(|session, _| {
        check(session, "let t = 1;", "\n");
        check(session, ":reset", "\n");
        check(session, "t", "NameError");
        check(session, "1 + 1", "\n2\r\n");
    });
}

#[test]
fn times_are_told() {
    on_both_sizes(|session, _| {
        check(session, ":time 6 * 7", "\n42\r\n");
        check(session, ":timeit 6 * 7", "best");
        check(session, ":time", ":time CODE");
    });
}

#[test]
fn a_saved_session_is_a_test_that_passes() {
    on_both_sizes(|session, folder| {
        check(session, "let t = torch.arange(3);", "\n");
        check(session, "t", "tensor([0, 1, 2])");
        check(session, ">>> t.view(2)", "RuntimeError");
        check(session, ":save kept.md", "kept.md");
        check(session, ":save kept.rhai", "kept.rhai");
        check(session, ":save kept.doc", ":save FILE");
        for arguments in [&["test", "kept.md"][..], &["kept.rhai"][..]] {
            let status =
                Command::new(env!("CARGO_BIN_EXE_tensorsh")).args(arguments).current_dir(folder).output().unwrap();
            assert!(status.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&status.stdout));
        }
        check(session, ":load kept.md", "tensor([0, 1, 2])");
    });
}

#[test]
fn pasted_outputs_are_checked() {
    on_both_sizes(|session, _| {
        session.send(pasted(">>> 1 + 1\n2\n>>> 2 + 2\n5\n")).unwrap();
        session.send("\r").unwrap();
        expect(session, "\n4\r\n");
        expect(session, "rhai> ");
        session.send_line(":check").unwrap();
        expect(session, "- 5\r\n+ 4\r\n");
        expect(session, "rhai> ");
    });
}

#[test]
fn a_page_of_ipython_runs_and_its_open_end_stays_in_the_line() {
    on_both_sizes(|session, _| {
        session.send(pasted("In [1]: x = 20\n\nIn [2]: x + 22\nOut[2]: 0\n\nIn [3]: print(\"open\",")).unwrap();
        session.send("\r").unwrap();
        expect(session, "\n42\r\n");
        expect(session, "print(\"open\",");
        session.send("x)\r").unwrap();
        expect(session, "\nopen 20\r\n");
        expect(session, "rhai> ");
    });
}

#[test]
fn a_long_paste_is_taken() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open(state.path());
    let page: String = (0..300).map(|at| format!(">>> x = {at}\n")).collect();
    session.send(pasted(&page)).unwrap();
    session.send("\r").unwrap();
    expect(&mut session, "\r\n>>> x = 299\r\n");
    expect(&mut session, "rhai> ");
    check(&mut session, "x", "\n299\r\n");
    leave(&mut session);
}

#[test]
fn settings_are_read_and_their_faults_told() {
    let state = tempfile::tempdir().unwrap();
    let settings = "hints = false\nlanguage = \"python\"\nnonsense = 1\n[print]\nprecision = 2\n";
    let mut session = open_with(state.path(), settings, |_| {});
    session.send_line("torch.tensor(1.23456)").unwrap();
    expect(&mut session, "tensor(1.23)");
    leave(&mut session);
    let mut session = open_with(state.path(), "nonsense = 1", |command| {
        command.arg("--no-config");
    });
    check(&mut session, "1", "1");
    leave(&mut session);
}

#[test]
fn a_script_runs_first() {
    let state = tempfile::tempdir().unwrap();
    std::fs::write(state.path().join("first.rhai"), "let here = 41;").unwrap();
    let mut session = open_with(state.path(), "hints = false\nstartup = \"first.rhai\"\n", |_| {});
    check(&mut session, "here + 1", "\n42\r\n");
    leave(&mut session);
    let mut session = open_with(state.path(), "hints = false\n", |command| {
        command.args(["-i", "first.rhai"]);
    });
    check(&mut session, "here + 1", "\n42\r\n");
    leave(&mut session);
}

#[test]
fn colours_can_be_forced() {
    let state = tempfile::tempdir().unwrap();
    let mut session = open_with(state.path(), "hints = false\n", |command| {
        command.env_remove("NO_COLOR").args(["--color", "always"]);
    });
    session.send_line("torch.ones(1)").unwrap();
    expect(&mut session, "\u{1b}[36m1.");
    leave(&mut session);
}

#[test]
fn the_same_history_serves_two_shells_and_survives_a_kill() {
    let state = tempfile::tempdir().unwrap();
    let (mut first, mut second) = (open(state.path()), open(state.path()));
    for number in 0..20 {
        check(&mut first, &format!("{number} + 1000"), &format!("\n{}\r\n", number + 1000));
        check(&mut second, &format!("{number} + 2000"), &format!("\n{}\r\n", number + 2000));
    }
    // SIGKILL, while the next entry is on its way.
    first.send_line("5 + 5").unwrap();
    first.get_process_mut().kill(Signal::SIGKILL).unwrap();
    leave(&mut second);
    let history = std::fs::read_to_string(state.path().join("tensorsh/history")).unwrap();
    let lines: Vec<_> = history.lines().filter(|line| *line != "#V2").collect();
    assert!(lines.len() == 40 || lines.len() == 41, "{history}");
    assert!(lines.iter().all(|line| line.contains(" + ")), "{history}");
}

#[test]
fn any_keys_leave_the_prompt_alive() {
    // A small generator of numbers, so that a failure can be repeated.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let keys: &[&str] = &[
        "t",
        "torch",
        ".",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "`",
        ":",
        "#",
        ">>> ",
        "_",
        " ",
        "1",
        "-",
        "é",
        "漢",
        "\u{301}",
        "\t",
        "\u{1b}[A",
        "\u{1b}[B",
        "\u{1b}[C",
        "\u{1b}[D",
        "\u{1b}[H",
        "\u{1b}[F",
        "\u{1b}[3~",
        "\u{7f}",
        "\u{1}",
        "\u{5}",
        "\u{b}",
        "\u{15}",
        "\u{17}",
        "\u{19}",
        "\u{14}",
        "\u{12}",
        "\u{7}",
        "\u{1b}b",
        "\u{1b}f",
        "\u{1b}d",
        "\u{1f}",
        "\u{1b}[200~>>> 1\r1\r\u{1b}[201~",
        "\u{1b}OP",
        "\u{0}",
        "\u{1b}[99;99~",
        "let x = ",
        "for i in ",
        ":vars",
        "?view",
        "\r",
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_with(folder.path(), "", |command| {
        command.env("EDITOR", "true");
    });
    for _ in 0..20 {
        let typed: String = (0..100).map(|_| keys[next(keys.len())]).collect();
        session.send(typed).unwrap();
        // Whatever state that left: out of searches and menus, away with the line.
        session.set_expect_timeout(Some(Duration::from_secs(3)));
        let is_alive = (0..10).any(|_| {
            session.send("\u{7}").unwrap();
            give_up(&mut session);
            session.send("111000 + 111\r").unwrap();
            session.expect("111111").is_ok()
        });
        assert!(is_alive, "the prompt answers no more");
    }
    give_up(&mut session);
    leave(&mut session);
}
