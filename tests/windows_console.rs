//! The prompt in a console of Windows, from the user's view. Ctrl-C is not among it: Wine's console passes none on.
#![cfg(windows)]

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use expectrl::session::OsSession;
use expectrl::{Expect, Session};

/// The maximum time to wait: much longer than anything takes on a busy machine, so that only missing output fails.
const PATIENCE: Duration = Duration::from_secs(120);
/// The time between two checks for output.
const PAUSE: Duration = Duration::from_millis(5);

const BACKSPACE: &str = "\u{7f}";
const UP: &str = "\u{1b}[A";

/// A shell at a prompt.
struct Shell {
    session: OsSession,
    /// What it has written and no test has waited for.
    output: Vec<u8>,
}

impl Shell {
    /// Opens a console and a shell in it.
    fn open() -> Shell {
        let this = std::env::current_exe().unwrap();
        let mut command = Command::new(this);
        command.args(["--exact", "in_its_console", "--ignored", "--nocapture"]);
        Shell { session: Session::spawn(command).unwrap(), output: Vec::new() }
    }

    /// Waits for `wanted` on the screen. Returns whether it came before the shell ended.
    fn came(&mut self, wanted: &str) -> bool {
        let end = Instant::now() + PATIENCE;
        loop {
            let output = String::from_utf8_lossy(&self.output);
            if let Some((_, after)) = output.split_once(wanted) {
                self.output = after.as_bytes().to_vec();
                return true;
            }
            assert!(Instant::now() < end, "{wanted:?} does not come, but {output:?}");
            let mut bytes = [0; 1 << 12];
            match self.session.try_read(&mut bytes) {
                Ok(0) => return false,
                Ok(count) => self.output.extend(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(PAUSE),
                Err(_) => return false,
            }
        }
    }

    fn send(&mut self, keys: &str) {
        self.session.send(keys).unwrap();
    }

    /// Types a line and waits for text that only its output has.
    fn sees(&mut self, line: &str, wanted: &str) {
        self.send(&format!("{line}\r"));
        assert!(self.came(wanted), "the shell ended at {line:?}");
    }
}

/// Runs the shell with the console that this process is attached to. Its own standard files may lead elsewhere.
#[test]
#[ignore = "runs in the console that another test opens"]
fn in_its_console() {
    let console = |name: &str| -> File { OpenOptions::new().read(true).write(true).open(name).unwrap() };
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        .arg("-q")
        .current_dir(folder.path())
        .env("APPDATA", folder.path())
        .env("LOCALAPPDATA", folder.path())
        .env("NO_COLOR", "1")
        .stdin(Stdio::from(console("CONIN$")))
        .stdout(Stdio::from(console("CONOUT$")))
        .stderr(Stdio::from(console("CONOUT$")))
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_session_in_a_console() {
    let mut shell = Shell::open();
    // The console may write a space as a step.
    assert!(shell.came("rhai>"));
    shell.sees("torch.arange(3) + 40", "tensor([40, 41, 42])");
    shell.sees("t.view(7)", "NameError: name 't' is not defined");
    shell.sees(&format!("600 + 67{BACKSPACE}6"), "666");
    shell.sees(UP, "666");
    shell.sees("print(\"grö\" + \"ßer\")", "größer");
    shell.send(":python\r");
    shell.sees("[k * 111 for k in range(3)]", "[0, 111, 222]");

    shell.send("exit()\r");
    let status = shell.session.get_process().wait(Some(PATIENCE.as_millis() as u32)).unwrap();
    assert_eq!(status, 0);
}
