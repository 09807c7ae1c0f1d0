//! Tracks the progress of writing or comparing a large file, which a terminal may show. One task at a time.

use std::sync::atomic::{AtomicU64, Ordering};

static DONE: AtomicU64 = AtomicU64::new(0);
static TOTAL: AtomicU64 = AtomicU64::new(0);

/// A file being written, or two being compared. Dropping it ends the report.
#[derive(Debug)]
pub struct Task;

/// Begins a task of about `total` bytes.
pub fn begin(total: u64) -> Task {
    DONE.store(0, Ordering::Relaxed);
    TOTAL.store(total, Ordering::Relaxed);
    Task
}

/// Adds finished bytes.
pub(crate) fn advance(bytes: u64) {
    DONE.fetch_add(bytes, Ordering::Relaxed);
}

/// Returns the finished share in percent, if a task is running.
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
