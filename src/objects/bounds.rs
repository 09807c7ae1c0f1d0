//! Strings and pauses whose length is an argument: strings are checked against the memory budget, pauses end on Ctrl-C.

use std::time::Duration;
use tensor::system::{Clock, Moment, System};
use tensor::{Result, interrupt, limits};

/// The largest number of copies of a string alive at once: the parts, the copies of the language and of the functions,
/// the result.
const SHARES: usize = 5;

/// The longest sleep between two interrupt checks.
const NAP: Duration = Duration::from_millis(20);

/// Returns the share of the memory budget that one string or array of the scripting language may use. While it is
/// built, its parts and the copies of the language and of the functions are alive too. The language checks the size
/// only after it has joined the parts.
pub fn share() -> usize {
    limits::budget().max(1 << 16) / SHARES
}

/// Checks that a string of `nbytes` bytes fits the memory budget.
///
/// # Errors
/// MemoryError.
pub fn room_for_text(nbytes: usize) -> Result<()> {
    limits::room(nbytes.saturating_mul(SHARES))
}

/// Repeats a string `count` times.
///
/// # Errors
/// MemoryError, KeyboardInterrupt.
pub fn repeated(text: &str, count: usize) -> Result<String> {
    let nbytes = text.len().saturating_mul(count);
    room_for_text(nbytes)?;
    let mut out = String::new();
    out.try_reserve_exact(nbytes).map_err(|_| limits::full())?;
    for piece in interrupt::pieces(0..count, text.len()) {
        out.push_str(&text.repeat(piece?.len()));
    }
    Ok(out)
}

/// Replaces the first `most` occurrences of `old` by `new`.
///
/// # Errors
/// Those of [`repeated`].
pub fn replaced(text: &str, old: &str, new: &str, most: usize) -> Result<String> {
    if new.len() > old.len() {
        let found = text.matches(old).take(most).count();
        room_for_text(text.len().saturating_add((new.len() - old.len()).saturating_mul(found)))?;
    }
    Ok(text.replacen(old, new, most))
}

/// Joins strings with a separator.
///
/// # Errors
/// Those of [`repeated`].
pub fn joined<T: AsRef<str>>(parts: &[T], separator: &str) -> Result<String> {
    let own = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.as_ref().len()));
    room_for_text(own.saturating_add(separator.len().saturating_mul(parts.len().saturating_sub(1))))?;
    let mut out = String::with_capacity(own);
    for (i, part) in parts.iter().enumerate() {
        interrupt::check_at(i)?;
        if i > 0 {
            out.push_str(separator);
        }
        out.push_str(part.as_ref());
    }
    Ok(out)
}

/// Sleeps for `how_long`, or until an interrupt.
///
/// # Errors
/// KeyboardInterrupt.
pub fn sleep(how_long: Duration) -> Result<()> {
    let start = Moment::now();
    while let Some(left) = how_long.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        interrupt::check()?;
        System::sleep(left.min(NAP));
    }
    interrupt::check()
}
