//! How much of a large file is written or compared: the number that a terminal may show beside the time. One at a time.

use std::sync::atomic::{AtomicU64, Ordering};

static DONE: AtomicU64 = AtomicU64::new(0);
static TOTAL: AtomicU64 = AtomicU64::new(0);

/// A file that is being written, or two that are compared; nothing is reported once it is dropped.
#[derive(Debug)]
pub struct Task;

/// Begins work on about `total` bytes.
pub fn begin(total: u64) -> Task {
    DONE.store(0, Ordering::Relaxed);
    TOTAL.store(total, Ordering::Relaxed);
    Task
}

/// Notes that this many more bytes are done.
pub(crate) fn advance(bytes: u64) {
    DONE.fetch_add(bytes, Ordering::Relaxed);
}

/// The share that is done, in percent, while something is.
pub fn percent() -> Option<u64> {
    let total = TOTAL.load(Ordering::Relaxed);
    let done = u128::from(DONE.load(Ordering::Relaxed));
    (total > 0).then(|| (done.saturating_mul(100) / u128::from(total)).min(100) as u64)
}

impl Drop for Task {
    fn drop(&mut self) {
        TOTAL.store(0, Ordering::Relaxed);
    }
}
