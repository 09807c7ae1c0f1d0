//! The prompt on a pseudo-terminal, driven without a guess about time. The line editor tells the terminal when it begins to
//! read keys and when it ends; between the two signs stands what was typed, and behind the second one what came of it. A
//! test waits for such a sign, or for a text that nothing else can have written.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use expectrl::process::unix::Signal;
use expectrl::session::OsSession;
use expectrl::{Error, Expect, NBytes, Session};
use tempfile::TempDir;

/// The line editor reads keys: pasted text is to be marked from now on.
const BEGIN: &str = "\u{1b}[?2004h";
/// The line editor has taken an entry.
const END: &str = "\u{1b}[?2004l";

/// How long anything is waited for: much longer than it takes on a busy machine, so that only what never comes fails.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long between two looks at what has come.
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

/// How a prompt is started.
pub(crate) struct Start<'a> {
    pub size: Size,
    /// The settings file.
    pub settings: &'a str,
    pub arguments: &'a [&'a str],
    pub environment: &'a [(&'a str, &'a str)],
}

impl Default for Start<'_> {
    /// Without hints and colours, so that a text is written once.
    fn default() -> Self {
        Start { size: (80, 24), settings: "hints = false\n", arguments: &[], environment: &[] }
    }
}

/// A shell at a prompt.
pub(crate) struct Shell {
    session: OsSession,
    /// Where it runs, and keeps its files.
    pub folder: PathBuf,
    /// Holds the folder, if it is the shell's own.
    _owned: Option<TempDir>,
}

impl Shell {
    /// A shell with a folder of its own, ready to read.
    pub(crate) fn open(start: &Start) -> Shell {
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Shell::open_in(folder.path(), start);
        shell._owned = Some(folder);
        shell
    }

    /// A shell in a folder that others use too, ready to read.
    pub(crate) fn open_in(folder: &Path, start: &Start) -> Shell {
        let mut shell = Shell::start(folder, start);
        shell.ready();
        shell
    }

    /// A shell that has just been started. Its files lie in `folder`, unless that is not one.
    pub(crate) fn start(folder: &Path, start: &Start) -> Shell {
        let mut command = Command::new("sh");
        let (columns, rows) = start.size;
        // The terminal has its size before the shell looks at it.
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
        // Spawning gives the terminal a size too, on a busy machine after `stty` has set ours.
        shell.resize(start.size);
        shell
    }

    /// Makes the terminal another size.
    pub(crate) fn resize(&mut self, (columns, rows): Size) {
        self.session.get_process_mut().set_window_size(columns, rows).unwrap();
    }

    /// Sends keys.
    pub(crate) fn send(&mut self, keys: &str) {
        self.session.send(keys).unwrap();
    }

    /// Waits for `wanted`, for `patience` at the longest; gives what came up to its end.
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

    /// Whether anything comes within `patience`; takes it.
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

    /// Waits for `wanted` on the screen; gives what came up to its end.
    pub(crate) fn sees(&mut self, wanted: &str) -> String {
        match self.came(wanted, PATIENCE) {
            Ok(text) => text,
            Err(reason) => panic!("waiting for {wanted:?}: {reason}"),
        }
    }

    /// Waits until keys are read again: gives what was printed since the last entry was taken.
    pub(crate) fn ready(&mut self) -> String {
        let text = self.sees(BEGIN);
        // Somewhat before the sign that it is read stands the sign that the entry before was taken.
        let printed = text.rsplit(END).next().unwrap_or_default();
        let printed = printed.strip_suffix(BEGIN).unwrap_or(printed).replace("\r\n", "\n");
        printed.strip_prefix('\n').map(str::to_owned).unwrap_or(printed)
    }

    /// Types a line and gives what came of it.
    pub(crate) fn run(&mut self, line: &str) -> String {
        self.send(line);
        self.send("\r");
        self.ready()
    }

    /// Types a line and says what must come of it.
    pub(crate) fn check(&mut self, line: &str, wanted: &str) {
        assert_eq!(self.run(line), wanted, "after {line:?}");
    }

    /// Pastes a text on a terminal that marks what is pasted, then Enter; gives what came of it.
    pub(crate) fn paste(&mut self, text: &str) -> String {
        self.run(&format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\n', "\r")))
    }

    /// Leaves by Ctrl-D, at an empty line.
    pub(crate) fn leave(mut self) {
        self.send(CTRL_D);
        self.ended();
    }

    /// Waits for the end of the shell.
    pub(crate) fn ended(&mut self) {
        match self.came("\u{0} never written \u{0}", PATIENCE) {
            Err(reason) if reason.contains("ended") => {}
            other => panic!("the shell does not end: {other:?}"),
        }
    }

    /// Kills the shell at once.
    pub(crate) fn kill(&mut self) {
        self.session.get_process_mut().kill(Signal::SIGKILL).unwrap();
    }
}
