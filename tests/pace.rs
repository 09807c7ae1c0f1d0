//! How fast the machine is right now. A test that something is quick compares it with this, because a busy machine takes
//! several times as long for everything.

use std::fmt::Write;
use std::time::{Duration, Instant};

/// The numbers that one unit of work formats. On an idle machine this takes some ten milliseconds.
const NUMBERS: u32 = if cfg!(debug_assertions) { 40_000 } else { 400_000 };

/// Times one unit of work.
fn unit() -> Duration {
    let began = Instant::now();
    let mut text = String::new();
    for number in 0..NUMBERS {
        text.clear();
        write!(text, "{number}").unwrap();
    }
    std::hint::black_box(&text);
    began.elapsed()
}

/// Checks that the time since `began` is at most that of so many units of work, by the slowest of three. A
/// hundredth of a second is never too long.
#[track_caller]
pub(crate) fn check(began: Instant, units: u32, what: &str) {
    let took = began.elapsed();
    if took < Duration::from_millis(10) {
        return;
    }
    let slowest = (0..3).map(|_| unit()).max().unwrap_or_default();
    assert!(took <= slowest * units, "{what} took {took:?}; {units} times {slowest:?} is allowed");
}

/// Runs `work`, which may take as long as so many units of work.
#[track_caller]
pub(crate) fn within<R>(units: u32, what: &str, work: impl FnOnce() -> R) -> R {
    let began = Instant::now();
    let result = work();
    check(began, units, what);
    result
}
