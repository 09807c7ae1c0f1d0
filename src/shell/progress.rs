//! A progress line: if an input runs longer than a moment, a line on the terminal shows the elapsed time, and that
//! Ctrl-C stops it. Printed output replaces the line.

use files::progress::percent;
use std::io::{IsTerminal, Write, stderr};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time before the line appears.
const PATIENCE: Duration = Duration::from_millis(1500);
/// The interval at which the line is updated.
const PERIOD: Duration = Duration::from_millis(500);

static WORK: Mutex<ProgressState> = Mutex::new(ProgressState { since: None, is_shown: false });
static CHANGED: Condvar = Condvar::new();

struct ProgressState {
    since: Option<Instant>,
    is_shown: bool,
}

impl ProgressState {
    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            write("\r\x1b[2K");
        }
    }
}

fn work() -> MutexGuard<'static, ProgressState> {
    // The state stays consistent even if a thread panics while holding the lock.
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the line. Errors are ignored, since the terminal may be gone.
fn write(text: &str) {
    let mut error = stderr().lock();
    let _ = error.write_all(text.as_bytes()).and_then(|()| error.flush());
}

/// Starts watching. Does nothing if standard error is not a terminal.
pub(crate) fn watch() {
    if !stderr().is_terminal() {
        return;
    }
    // Without the thread, only the line is missing.
    let _ = thread::Builder::new().name("progress".to_owned()).spawn(|| {
        let mut work = work();
        loop {
            work = match work.since {
                None => CHANGED.wait(work).unwrap_or_else(PoisonError::into_inner),
                Some(since) => {
                    let elapsed = since.elapsed();
                    if elapsed >= PATIENCE {
                        work.is_shown = true;
                        let share = percent().map(|percent| format!(", {percent} % done")).unwrap_or_default();
                        write(&format!("\r\x1b[2K\x1b[2m… {} s{share}, Ctrl-C stops\x1b[0m", elapsed.as_secs()));
                    }
                    let pause = if elapsed < PATIENCE { PATIENCE - elapsed } else { PERIOD };
                    CHANGED.wait_timeout(work, pause).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    });
}

/// Starts the clock. The line is removed when the result is dropped.
pub(crate) fn begin() -> ProgressGuard {
    work().since = Some(Instant::now());
    CHANGED.notify_all();
    ProgressGuard
}

/// Hides the line while another program uses the terminal, until the result is dropped.
pub(crate) fn pause() -> PausedProgress {
    let mut work = work();
    work.clear();
    PausedProgress(work.since.take())
}

/// Removes the line before other output.
pub(crate) fn clear() {
    work().clear();
}

/// A running input.
#[derive(Debug)]
pub(crate) struct ProgressGuard;

impl Drop for ProgressGuard {
    fn drop(&mut self) {
        let mut work = work();
        work.since = None;
        work.clear();
        CHANGED.notify_all();
    }
}

/// A pause while another program uses the terminal.
#[derive(Debug)]
pub(crate) struct PausedProgress(Option<Instant>);

impl Drop for PausedProgress {
    fn drop(&mut self) {
        work().since = self.0;
        CHANGED.notify_all();
    }
}
