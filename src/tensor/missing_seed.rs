//! The seed in place of one that a program leaves out. PyTorch and NumPy take it from the system's entropy; here it is a
//! number, so that a session prints the same each time. To find the values that depend on it, run the program again with
//! another number.

use std::cell::Cell;

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
    static IS_USED: Cell<bool> = const { Cell::new(false) };
}

/// Sets the seed for this thread, and forgets that the last one was used.
pub fn set(seed: u64) {
    SEED.set(seed);
    IS_USED.set(false);
}

/// Returns the seed. Nothing has been drawn with it yet.
pub fn get() -> u64 {
    SEED.get()
}

/// Records that a random number was drawn without a seed of the program.
pub fn note() {
    IS_USED.set(true);
}

/// Returns whether a random number was drawn without a seed of the program.
pub fn is_used() -> bool {
    IS_USED.get()
}
