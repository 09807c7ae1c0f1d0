//! Shows long text a screen at a time, in the user's own pager.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write, stdout};
use std::process::{Command, Stdio};

use super::progress;
use super::screen::{Screen, coloured, drawn, show, show_said};
use crate::session::Said;

/// What a session says, values and pictures by the pager if they are long.
#[derive(Default)]
pub struct Paging {
    /// What has more lines than this; none while a page is run.
    above: Cell<Option<usize>>,
    /// Pictures that nothing has been said after.
    drawn: RefCell<String>,
}

impl Paging {
    /// Sets the number of lines from which on the pager takes over.
    pub fn above(&self, rows: Option<usize>) {
        self.above.set(rows);
    }

    /// Shows a piece of output; pictures that follow each other as one.
    pub fn say(&self, screen: Screen, said: Said) {
        if let Said::Drawn(picture) = said {
            self.drawn.borrow_mut().push_str(&drawn(screen, picture));
            return;
        }
        self.flush();
        match said {
            Said::Value(text) => page(&coloured(screen, text), self.above.get()),
            _ => show_said(screen, said),
        }
    }

    /// Shows what has been drawn.
    pub fn flush(&self) {
        let drawn = self.drawn.take();
        if !drawn.is_empty() {
            page(&drawn, self.above.get());
        }
    }
}

/// Shows `text`, through the pager if it is longer than the terminal is high.
pub fn page(text: &str, rows: Option<usize>) {
    let is_long = rows.is_some_and(|rows| text.lines().count() + 1 > rows);
    if !is_long || !stdout().is_terminal() || !run(text) {
        show(text);
    }
}

/// Hands the text to `$PAGER`, or to `less`. False if there is no such program.
fn run(text: &str) -> bool {
    let chosen = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let words = chosen.unwrap_or_else(|| "less".to_owned());
    let mut words = words.split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Colours as they are; the text stays on the screen when it is left.
        command.env("LESS", "RX");
    }
    let _paused = progress::pause();
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A reader who leaves early has seen enough.
        let _ = input.write_all(text.as_bytes());
    }
    let _ = child.wait();
    true
}
