//! The prompt on a pseudo-terminal, as a user meets it.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use expectrl::session::OsSession;
use expectrl::{ControlCode, Eof, Expect, Session};

/// A prompt whose history stands below `state`.
fn open(state: &Path) -> OsSession {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tensorsh"));
    command.env("XDG_STATE_HOME", state).env("TERM", "xterm").env("NO_COLOR", "1").arg("-q");
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    session.expect("rhai> ").unwrap();
    session
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

/// Ctrl-D, at a prompt: before it, the terminal itself would swallow the key.
fn leave(session: &mut OsSession) {
    session.send(ControlCode::EndOfTransmission).unwrap();
    session.expect(Eof).unwrap();
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
