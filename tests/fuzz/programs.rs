//! Programs in both languages: highlighted, completed, parsed, compiled, translated and run. A run is interrupted after a
//! second, and must end then.

use session::assist::pieces;
use session::{Completeness, Language, Session, SessionOptions, note_stack, set_budget, steps};
use std::cell::RefCell;
use std::panic;
use std::process::abort;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The time before a run is interrupted.
const PATIENCE: Duration = Duration::from_secs(1);

/// The largest list, text or buffer, in bytes.
const BUDGET: usize = 64 << 20;

/// Words of programs that could write files, wait for input, or catch every interrupt. Such programs are not run.
const NOT_RUN: &[&str] = &[
    "open",
    "os",
    "posix",
    "io",
    "shutil",
    "pathlib",
    "tempfile",
    "tofile",
    "save",
    "savez",
    "savez_compressed",
    "savetxt",
    "save_file",
    "dump",
    "memmap",
    "open_memmap",
    "from_file",
    "html",
    "svg",
    "input",
    "BaseException",
    "KeyboardInterrupt",
    "finally",
    "signal",
    "builtins",
    "__import__",
    "importlib",
    "_exit",
    "abort",
];

/// The running session's flag, and the time at which it is set.
static RUN: Mutex<Option<(Instant, Arc<AtomicBool>)>> = Mutex::new(None);

/// Whether the present run was interrupted.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// A session that parses and completes, but runs nothing.
    static READER: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Prepares this process to run programs.
pub fn prepare() {
    note_stack(stack_size());
    set_budget(BUDGET);
    // libFuzzer's own hook ends the process at any panic. One that follows an interrupt is allowed, since a kernel may
    // then leave its result unfinished.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !IS_INTERRUPTED.load(Ordering::Relaxed) {
            hook(info);
            abort();
        }
    }));
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_millis(20));
            let run = RUN.lock().expect("no panic while locked");
            if let Some((deadline, flag)) = run.as_ref()
                && Instant::now() > *deadline
            {
                IS_INTERRUPTED.store(true, Ordering::Relaxed);
                flag.store(true, Ordering::Relaxed);
            }
        }
    });
}

/// Returns the size of the main thread's stack, or the usual one if it is unlimited or unknown.
fn stack_size() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max stack size"));
    line.and_then(|line| line.split_whitespace().nth(3)?.parse().ok()).unwrap_or(8 << 20)
}

/// Does with a program whatever a user can do with it.
pub fn program(language: Language, text: &str) {
    let all: String = pieces(language, text).into_iter().map(|(_, piece)| piece).collect();
    assert_eq!(all, text, "highlighting changes the text");
    let completeness = READER.with_borrow_mut(|reader| {
        let reader = reader.get_or_insert_with(|| Session::new(SessionOptions::default()));
        if language == Language::Python {
            let _ = (steps(text), reader.rhai_form(text));
        } else {
            let _ = reader.is_only_python(text);
        }
        let _ = reader.complete(language, text, text.len());
        reader.completeness(language, text)
    });
    if completeness == Completeness::Complete && !is_dangerous(text) {
        run(language, text);
    }
}

fn is_dangerous(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // A bare `except` also catches every interrupt.
    text.split(|c| !is_word(c)).any(|word| NOT_RUN.contains(&word)) || text.replace(' ', "").contains("except:")
}

fn run(language: Language, text: &str) {
    let mut session = Session::new(SessionOptions::default());
    // Warnings are kept, not written to standard error.
    session.take_warnings();
    IS_INTERRUPTED.store(false, Ordering::Relaxed);
    *RUN.lock().expect("no panic while locked") = Some((Instant::now() + PATIENCE, session.interrupt_flag()));
    let _ = session.eval(language, text);
    // The variables can be listed, drawn and dropped after any input.
    let _ = (session.variables(), session.aliases());
    drop(session);
    *RUN.lock().expect("no panic while locked") = None;
    IS_INTERRUPTED.store(false, Ordering::Relaxed);
}
