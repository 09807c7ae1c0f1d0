//! Ctrl-C on Windows is an event of the console.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

type Flag = Arc<AtomicBool>;

/// What to do at a Ctrl-C, in order.
enum Action {
    Set(Flag),
    /// Ends the program with the status if the flag is set.
    Exit(Flag, i32),
}

static ACTIONS: Mutex<Vec<Action>> = Mutex::new(Vec::new());

/// Adds an action, with the first of which the console is asked for its events.
fn act(action: Action) -> io::Result<()> {
    static HANDLER: LazyLock<Result<(), String>> =
        LazyLock::new(|| ctrlc::set_handler(pressed).map_err(|error| error.to_string()));
    HANDLER.as_ref().map_err(|error| io::Error::other(error.clone()))?;
    ACTIONS.lock().unwrap_or_else(PoisonError::into_inner).push(action);
    Ok(())
}

/// Runs on a thread of its own.
fn pressed() {
    for action in ACTIONS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        match action {
            Action::Set(flag) => flag.store(true, Ordering::SeqCst),
            Action::Exit(flag, status) if flag.load(Ordering::SeqCst) => std::process::exit(*status),
            Action::Exit(..) => {}
        }
    }
}

/// A flag that Ctrl-C sets.
pub(crate) struct Listening(Flag);

impl Listening {
    pub(crate) fn end(self) {
        let mut actions = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        actions.retain(|action| !matches!(action, Action::Set(flag) if Arc::ptr_eq(flag, &self.0)));
    }
}

/// Sets the flag at every Ctrl-C from now on.
///
/// # Errors
/// The system's error.
pub(crate) fn listen(flag: Flag) -> io::Result<Listening> {
    act(Action::Set(flag.clone())).map(|()| Listening(flag))
}

/// Ends the program with this status at a Ctrl-C that finds the flag set. Call it before [`listen`].
///
/// # Errors
/// The system's error.
pub(crate) fn exit_if_set(flag: Flag, status: i32) -> io::Result<()> {
    act(Action::Exit(flag, status))
}
