//! Input that is complete from the start: a script file, `-e CODE`, piped standard input. Returns the program's exit
//! status. The command line decides which of them to use.

use std::io::{Read, stdin};
use std::mem::ManuallyDrop;
use std::path::Path;

use super::interrupts::{exit_if_set, listen};
use super::screen::{Screen, complain, complain_marked, show, show_said};
use session::assist::{Pasted, describe, noted, read, with_python_prompts};
use session::transcript::{decode, prompt_of, read_text};
use session::{Failure, Language, Outcome, Session, SessionOptions, Step, steps};

/// The exit status of a script ended by Ctrl-C, as shells expect it.
pub(super) const INTERRUPTED: i32 = 130;

/// Runs a script file, in Python if its name ends in `.py`. A first line with `#!` is skipped.
pub fn run_file(screen: Screen, path: &Path, args: Vec<String>) -> i32 {
    match read_text(path) {
        Ok(text) => run_script(screen, Some(Language::of_script(path)), Some(path), &text, args),
        Err(error) => {
            complain(&format!("tensorsh: {error}\n"));
            1
        }
    }
}

/// Runs a module of Python by its name.
pub fn run_module(screen: Screen, name: &str, args: Vec<String>) -> i32 {
    let mut session = open(screen, args);
    let (outcome, module) = session.run_module(name);
    let (text, file) = module.map_or_else(Default::default, |(text, file)| (text, file.display().to_string()));
    settle(screen, outcome, &text, Some(&file).filter(|file| !file.is_empty()).map(String::as_str)).unwrap_or(0)
}

/// Evaluates pieces of code in one session, as if each had been typed at the prompt, up to the first that fails.
pub fn run_code(screen: Screen, language: Option<Language>, codes: &[String], args: Vec<String>) -> i32 {
    let mut session = open(screen, args);
    for code in codes {
        let outcome = session.eval(language.unwrap_or(Language::Rhai), code);
        if let Some(status) = settle(screen, outcome, code, None) {
            return status;
        }
    }
    0
}

/// Runs piped input: a script, or a session copied from a page, which starts with a prompt. If no language is given, a
/// script that only Python accepts is read as Python.
pub fn run_standard_input(screen: Screen, language: Option<Language>, args: Vec<String>) -> i32 {
    match read_standard_input() {
        Ok(text) if starts_with_prompt(&text) => run_pasted(screen, &text, args),
        Ok(text) => run_script(screen, language, None, &text, args),
        Err(error) => {
            complain(&format!("tensorsh: {error}\n"));
            1
        }
    }
}

fn read_standard_input() -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = stdin().lock().read_to_end(&mut bytes).map_err(|error| error.to_string());
    read.and_then(|_| decode(bytes)).map_err(|error| format!("standard input: {error}"))
}

/// Runs a script in Python statement by statement, to its end whatever fails. Without a file, reads standard input.
/// Counts the failures on standard error.
pub fn run_each_statement(screen: Screen, file: Option<&Path>, args: Vec<String>) -> i32 {
    if let Some(file) = file.filter(|file| Language::of_script(file) != Language::Python) {
        complain(&format!("tensorsh: --keep-going runs scripts in Python: {} does not end in .py\n", file.display()));
        return 2;
    }
    match file.map_or_else(read_standard_input, read_text) {
        Ok(text) => run_steps(screen, file, &text, args),
        Err(error) => {
            complain(&format!("tensorsh: {error}\n"));
            1
        }
    }
}

fn run_steps(screen: Screen, file: Option<&Path>, text: &str, args: Vec<String>) -> i32 {
    let name = name_of(file);
    let mut session = open(screen, args);
    let (mut begun, mut failed, mut passed_over, mut status) = (0, 0, 0, 0);
    for step in steps(&without_first_mark(text)) {
        let statement = match step {
            Step::Statement(statement) => statement,
            Step::PassedOver { line, text } => {
                complain(&format!("{name}:{line}: passed over: {text}\n"));
                passed_over += 1;
                continue;
            }
        };
        begun += 1;
        let outcome = session.run_statement(&statement, file);
        let exit = outcome.exit;
        let is_interrupted = outcome.error.as_ref().is_some_and(|error| error.interrupted);
        failed += usize::from(outcome.error.is_some());
        status = settle(screen, outcome, &statement.text, Some(&name)).unwrap_or(status);
        if exit.is_some() || is_interrupted {
            break;
        }
    }
    complain(&format!("{failed} of {begun} statements failed\n"));
    if passed_over > 0 {
        complain(&format!("{passed_over} passed over\n"));
    }
    status
}

/// Runs a script from a file or from standard input.
fn run_script(screen: Screen, language: Option<Language>, file: Option<&Path>, text: &str, args: Vec<String>) -> i32 {
    let source = without_first_mark(text);
    let mut session = open(screen, args);
    let language = language.unwrap_or_else(|| match session.is_only_python(&source) {
        true => Language::Python,
        false => Language::Rhai,
    });
    let outcome = session.run_script(language, &source, file);
    settle(screen, outcome, &source, Some(&name_of(file))).unwrap_or(0)
}

/// Returns the name of a script for its failures.
fn name_of(file: Option<&Path>) -> String {
    file.map_or_else(|| "<stdin>".to_owned(), |file| file.display().to_string())
}

/// Replays a pasted session with current results. Continues after a statement that fails.
fn run_pasted(screen: Screen, text: &str, args: Vec<String>) -> i32 {
    let mut session = open(screen, args);
    let pasted = match read(&session, &with_python_prompts(text)) {
        Ok(pasted) => pasted,
        Err(stopped) => {
            complain_marked(screen, &describe(&stopped, text, None));
            return INTERRUPTED;
        }
    };
    let mut status = 0;
    for statement in pasted.into_iter().flat_map(|pasted: Pasted| pasted.statements) {
        show(&format!("{}\n", statement.shown));
        let outcome = session.eval(statement.language, &statement.source);
        let leaves = outcome.exit.is_some() || outcome.error.as_ref().is_some_and(|error| error.interrupted);
        if let Some(failed) = settle(screen, outcome, &statement.source, None) {
            status = failed;
            if leaves {
                break;
            }
        }
    }
    status
}

/// Creates the session for the program. It prints immediately, and Ctrl-C stops it; a second Ctrl-C ends the program if
/// the first has no effect. The session is never dropped: the system reclaims its memory faster.
fn open(screen: Screen, args: Vec<String>) -> ManuallyDrop<Session> {
    let session = Session::new(SessionOptions {
        args,
        live: Some(Box::new(move |said| show_said(screen, said))),
        ..SessionOptions::default()
    });
    // Without a handler, Ctrl-C ends the program immediately, which is acceptable here.
    let _ = exit_if_set(session.interrupt_flag(), INTERRUPTED);
    let _ = listen(session.interrupt_flag());
    ManuallyDrop::new(session)
}

/// Shows an outcome. Returns an exit status if the program should end.
fn settle(screen: Screen, outcome: Outcome, source: &str, file: Option<&str>) -> Option<i32> {
    show(&outcome.text);
    if let Some(note) = &outcome.note {
        complain_marked(screen, &noted(note));
    }
    if let Some(error) = &outcome.error {
        complain_marked(screen, &describe(error, source, file));
    }
    outcome.exit.or(outcome.error.as_ref().map(status_of))
}

fn status_of(failure: &Failure) -> i32 {
    if failure.interrupted { INTERRUPTED } else { 1 }
}

fn starts_with_prompt(text: &str) -> bool {
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty());
    first.is_some_and(|line| prompt_of(&with_python_prompts(line)).is_some())
}

/// Removes a byte order mark, and empties a `#!` line, which keeps the line numbers.
fn without_first_mark(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = if text.starts_with("#!") { text.trim_start_matches(|next| next != '\n') } else { text };
    body.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_may_name_the_interpreter() {
        let rows = [
            ("#!/usr/bin/env tensorsh\nprint(1)", "\nprint(1)"),
            ("#!tensorsh", ""),
            ("\u{feff}#!x\r\ny", "\ny"),
            ("print(1) // #!\n", "print(1) // #!\n"),
            ("", ""),
        ];
        for (text, wanted) in rows {
            assert_eq!(without_first_mark(text), wanted);
        }
    }

    #[test]
    fn a_session_is_told_from_a_script() {
        for (text, wanted) in
            [("\n  >>> x\n", true), ("rhai> x", true), ("x\n>>> y", false), ("", false), (">>>", true)]
        {
            assert_eq!(starts_with_prompt(text), wanted, "{text:?}");
        }
    }
}
