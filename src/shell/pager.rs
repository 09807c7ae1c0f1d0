//! Shows long text a screen at a time, in the user's own pager.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write, stdout};
use std::process::{Command, Stdio};

use super::keys::is_typed_ahead;
use super::progress;
use super::screen::{Screen, coloured, coloured_picture, show, show_said};
use session::Said;

/// A value with fewer lines is printed directly even if it does not fit the screen: a storage of 48 bytes should not
/// open a program. Pictures, tables and help, which are requested explicitly, are paged as soon as they do not fit.
const LONG: usize = 200;

/// Shows a session's output. Long values and pictures go through the pager.
#[derive(Default)]
pub(crate) struct Paging {
    /// The number of lines above which output is paged. `None` while a page runs.
    above: Cell<Option<usize>>,
    /// Consecutive pictures not shown yet.
    drawn: RefCell<String>,
}

impl Paging {
    /// Sets the number of lines above which output is paged.
    pub(crate) fn above(&self, rows: Option<usize>) {
        self.above.set(rows);
    }

    /// Shows a piece of output. Consecutive pictures are shown together.
    pub(crate) fn say(&self, screen: Screen, said: Said) {
        if let Said::Drawn(picture) = said {
            self.drawn.borrow_mut().push_str(&coloured_picture(screen, picture));
            return;
        }
        self.flush();
        match said {
            Said::Value(text) => page(&coloured(screen, text), self.above.get().map(|rows| rows.max(LONG))),
            _ => show_said(screen, said),
        }
    }

    /// Takes the pending pictures, which the caller shows.
    pub(crate) fn take(&self) -> String {
        self.drawn.take()
    }

    /// Shows the pending pictures.
    pub(crate) fn flush(&self) {
        let drawn = self.drawn.take();
        if !drawn.is_empty() {
            page(&drawn, self.above.get());
        }
    }
}

/// Shows `text`, through the pager if it is longer than the terminal is high.
pub(crate) fn page(text: &str, rows: Option<usize>) {
    let is_long = rows.is_some_and(|rows| text.lines().count() + 1 > rows);
    // Do not open the pager if keys were typed ahead. They are meant for the shell, but the pager would take them for
    // commands, some of which write files.
    if !is_long || !stdout().is_terminal() || is_typed_ahead() || !run(text) {
        show(text);
    }
}

/// Passes the text to `$PAGER`, or to `less`. Returns false if there is no such program.
fn run(text: &str) -> bool {
    let chosen = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let is_own = chosen.is_none();
    let words = chosen.unwrap_or_else(|| "less".to_owned());
    let mut words = words.split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if is_own {
        // Disables commands that run programs or write files.
        command.env("LESSSECURE", "1");
    }
    if std::env::var_os("LESS").is_none() {
        // Keeps colours, and leaves the text on the screen afterwards.
        command.env("LESS", "RX");
    }
    let _paused = progress::pause();
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Fails if the pager is closed early, which is fine.
        let _ = input.write_all(text.as_bytes());
    }
    let _ = child.wait();
    true
}
