//! The prompt on a pseudo-terminal, driven without guesses about timing. The line editor tells the terminal when it
//! begins and stops reading keys. The typed text is between the two signs, and the output after the second. A test
//! waits for such a sign, or for a text that nothing else could have written.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use expectrl::process::unix::Signal;
use expectrl::session::OsSession;
use expectrl::{Error, Expect, NBytes, Session};
use tempfile::TempDir;

/// The line editor begins to read keys, and asks for pasted text to be marked.
const BEGIN: &str = "\u{1b}[?2004h";
/// The line editor has accepted an entry.
const END: &str = "\u{1b}[?2004l";

/// The maximum time to wait: much longer than anything takes on a busy machine, so that only missing output fails.
const PATIENCE: Duration = Duration::from_secs(120);
/// The time between two checks for output.
const PAUSE: Duration = Duration::from_micros(500);

pub(crate) const CTRL_C: &str = "\u{3}";
pub(crate) const CTRL_D: &str = "\u{4}";
pub(crate) const ESCAPE: &str = "\u{1b}";
pub(crate) const UP: &str = "\u{1b}[A";
pub(crate) const RIGHT: &str = "\u{1b}[C";
pub(crate) const F1: &str = "\u{1b}OP";

/// A terminal's columns and rows.
pub(crate) type Size = (u16, u16);

/// A terminal of usual size, and a small one.
pub(crate) const BOTH: [Size; 2] = [(80, 24), (40, 10)];

/// The options for starting a prompt.
pub(crate) struct Start<'a> {
    pub size: Size,
    /// The contents of the settings file.
    pub settings: &'a str,
    pub arguments: &'a [&'a str],
    pub environment: &'a [(&'a str, &'a str)],
}

impl Default for Start<'_> {
    /// Without hints and colours, so that each text is written only once.
    fn default() -> Self {
        Start { size: (80, 24), settings: "hints = false\n", arguments: &[], environment: &[] }
    }
}

/// A shell at a prompt.
pub(crate) struct Shell {
    session: OsSession,
    /// The folder it runs in, and keeps its files in.
    pub folder: PathBuf,
    /// Keeps the folder, if it is the shell's own.
    _owned: Option<TempDir>,
}

impl Shell {
    /// Opens a shell in a folder of its own, and waits for the prompt.
    pub(crate) fn open(start: &Start) -> Shell {
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Shell::open_in(folder.path(), start);
        shell._owned = Some(folder);
        shell
    }

    /// Opens a shell in a shared folder, and waits for the prompt.
    pub(crate) fn open_in(folder: &Path, start: &Start) -> Shell {
        let mut shell = Shell::start(folder, start);
        shell.ready();
        shell
    }

    /// Starts a shell without waiting. Its files are in `folder`, unless that is not a folder.
    pub(crate) fn start(folder: &Path, start: &Start) -> Shell {
        let mut command = Command::new("sh");
        let (columns, rows) = start.size;
        // The size of the terminal is set before the shell reads it.
        command.args(["-c", &format!("stty cols {columns} rows {rows}; exec \"$0\" -q \"$@\"")]);
        command.arg(env!("CARGO_BIN_EXE_tensorsh")).args(start.arguments);
        command.env("XDG_STATE_HOME", folder).env("XDG_CONFIG_HOME", folder).env("TERM", "xterm");
        command.env_remove("VISUAL").env_remove("FORCE_COLOR").env("NO_COLOR", "1").env("PAGER", "cat");
        command.envs(start.environment.iter().copied());
        if folder.is_dir() {
            std::fs::create_dir_all(folder.join("tensorsh")).unwrap();
            std::fs::write(folder.join("tensorsh/config.toml"), start.settings).unwrap();
            command.current_dir(folder);
        }
        let session = Session::spawn(command).unwrap();
        let mut shell = Shell { session, folder: folder.to_owned(), _owned: None };
        // Spawning also sets a size, on a busy machine after `stty` has set ours.
        shell.resize(start.size);
        shell
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&mut self, (columns, rows): Size) {
        self.session.get_process_mut().set_window_size(columns, rows).unwrap();
    }

    /// Sends keys.
    pub(crate) fn send(&mut self, keys: &str) {
        self.session.send(keys).unwrap();
    }

    /// Waits for `wanted`, for at most `patience`. Returns the output up to its end.
    pub(crate) fn came(&mut self, wanted: &str, patience: Duration) -> Result<String, String> {
        let end = Instant::now() + patience;
        loop {
            let found = match self.session.check(wanted) {
                Ok(found) => found,
                Err(Error::Eof) => return Err("the shell has ended".to_owned()),
                Err(error) => return Err(error.to_string()),
            };
            if !found.is_empty() {
                return Ok(String::from_utf8_lossy(found.as_bytes()).into_owned());
            }
            if Instant::now() > end {
                return Err("it does not come".to_owned());
            }
            sleep(PAUSE);
        }
    }

    /// Returns whether any output comes within `patience`, and consumes it.
    pub(crate) fn came_any(&mut self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        loop {
            match self.session.check(NBytes(1)) {
                Ok(found) if found.is_empty() => {}
                Ok(_) => return true,
                Err(error) => panic!("waiting for anything: {error}"),
            }
            if Instant::now() > end {
                return false;
            }
            sleep(PAUSE);
        }
    }

    /// Waits for `wanted` on the screen. Returns the output up to its end.
    pub(crate) fn sees(&mut self, wanted: &str) -> String {
        match self.came(wanted, PATIENCE) {
            Ok(text) => text,
            Err(reason) => panic!("waiting for {wanted:?}: {reason}"),
        }
    }

    /// Waits until keys are read again. Returns the output since the last entry was accepted.
    pub(crate) fn ready(&mut self) -> String {
        let text = self.sees(BEGIN);
        // The sign for the previous entry comes some time before the sign that keys are read.
        let printed = text.rsplit(END).next().unwrap_or_default();
        let printed = without_progress(printed.strip_suffix(BEGIN).unwrap_or(printed)).replace("\r\n", "\n");
        printed.strip_prefix('\n').map(str::to_owned).unwrap_or(printed)
    }

    /// Types a line and returns its output.
    pub(crate) fn run(&mut self, line: &str) -> String {
        self.send(line);
        self.send("\r");
        self.ready()
    }

    /// Types a line and checks its output.
    pub(crate) fn check(&mut self, line: &str, wanted: &str) {
        assert_eq!(self.run(line), wanted, "after {line:?}");
    }

    /// Pastes a text as on a terminal that marks pasted text, followed by Enter. Returns the output.
    pub(crate) fn paste(&mut self, text: &str) -> String {
        self.run(&format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\n', "\r")))
    }

    /// Leaves with Ctrl-D at an empty line.
    pub(crate) fn leave(mut self) {
        self.send(CTRL_D);
        self.ended();
    }

    /// Waits for the shell to end.
    pub(crate) fn ended(&mut self) {
        match self.came("\u{0} never written \u{0}", PATIENCE) {
            Err(reason) if reason.contains("ended") => {}
            other => panic!("the shell does not end: {other:?}"),
        }
    }

    /// Kills the shell immediately.
    pub(crate) fn kill(&mut self) {
        self.session.get_process_mut().kill(Signal::SIGKILL).unwrap();
    }
}

/// Removes the line that shows how long an entry takes, and what erases it: a busy machine shows it where another does not.
fn without_progress(text: &str) -> String {
    const ERASED: &str = "\r\u{1b}[2K";
    let mut pieces = text.split(ERASED);
    let mut printed = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let progress = piece.strip_prefix("\u{1b}[2m… ").and_then(|rest| rest.split_once("\u{1b}[0m"));
        printed += progress.map_or(piece, |(_, rest)| rest);
    }
    printed
}
