//! Shows long text a screen at a time, in the user's own pager.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write, stdout};
use std::process::{Command, Stdio};

use super::progress;
use super::screen::{Screen, coloured, drawn, show, show_said};
use session::Said;

/// A value of fewer lines is shown at once, even if it does not fit the screen: a storage of 48 bytes should not open a
/// program. Pictures, tables and help were asked for, and are paged as soon as they do not fit.
const LONG: usize = 200;

/// What a session says, values and pictures by the pager if they are long.
#[derive(Default)]
pub(crate) struct Paging {
    /// What has more lines than this; none while a page is run.
    above: Cell<Option<usize>>,
    /// Pictures that nothing has been said after.
    drawn: RefCell<String>,
}

impl Paging {
    /// Sets the number of lines from which on the pager takes over.
    pub(crate) fn above(&self, rows: Option<usize>) {
        self.above.set(rows);
    }

    /// Shows a piece of output; pictures that follow each other as one.
    pub(crate) fn say(&self, screen: Screen, said: Said) {
        if let Said::Drawn(picture) = said {
            self.drawn.borrow_mut().push_str(&drawn(screen, picture));
            return;
        }
        self.flush();
        match said {
            Said::Value(text) => page(&coloured(screen, text), self.above.get().map(|rows| rows.max(LONG))),
            _ => show_said(screen, said),
        }
    }

    /// Shows what has been drawn.
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
    // What is typed ahead is for the shell: a pager would take it for commands, some of which write files.
    if !is_long || !stdout().is_terminal() || is_typed_ahead() || !run(text) {
        show(text);
    }
}

/// Returns whether keys wait to be read, whole lines or not.
#[cfg(unix)]
fn is_typed_ahead() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let terminal = std::io::stdin();
    let Ok(before) = tcgetattr(&terminal) else { return false };
    let mut mode = before.clone();
    // A terminal that collects lines does not tell of one without an end.
    mode.local_modes.remove(LocalModes::ICANON);
    if tcsetattr(&terminal, OptionalActions::Now, &mode).is_err() {
        return false;
    }
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let waits = poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0);
    let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    waits
}

#[cfg(not(unix))]
fn is_typed_ahead() -> bool {
    false
}

/// Hands the text to `$PAGER`, or to `less`. False if there is no such program.
fn run(text: &str) -> bool {
    let chosen = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let is_own = chosen.is_none();
    let words = chosen.unwrap_or_else(|| "less".to_owned());
    let mut words = words.split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if is_own {
        // Without commands that run programs or write files.
        command.env("LESSSECURE", "1");
    }
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
