//! Every size at which a kernel changes how it works, by name, in one table: how much is handed over at a time, and from
//! where on a quicker way is worth its start. None of them changes a result; [`ALL`] lists them, so that a test can walk
//! around each (tests/sweep).
//!
//! Debug builds divide most of them, so that what tests compute with a few thousand elements takes every way that a
//! release build takes with a million. Sizes that PyTorch's own results depend on (where it sorts by digits, which
//! products its library adds up in order) are no thresholds: they stand beside the kernel that follows them.

macro_rules! thresholds {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:expr, debug / $divisor:literal;)*) => {
        $(
            $(#[doc = $doc])+
            pub const $name: usize = if cfg!(debug_assertions) { ($value) / $divisor } else { $value };
        )*
        /// Every threshold with its name.
        pub const ALL: &[(&str, usize)] = &[$((stringify!($name), $name)),*];
    };
}

thresholds! {
    /// Elements in a block at most: three blocks of 4-byte elements fit a level-1 cache. A multiple of every step by which
    /// PyTorch's loops take elements.
    BLOCK = 1 << 11, debug / 16;
    /// Elements for which a short buffer is cleared: clearing a block's takes longer than the work on a short run.
    SHORT = 64, debug / 4;
    /// Elements in a block at most where a kernel needs no buffers.
    LONG_BLOCK = 1 << 16, debug / 64;
    /// Elements that are worth a thread of their own: two threads add 100,000 pairs in 7 µs, one in 11.
    THREAD = 1 << 15, debug / 32;
    /// Bytes that are handed to a core at a time where a loop only writes: in smaller pieces memory is written more slowly.
    PART = 1 << 20, debug / 128;
    /// Bytes of a result that no cache keeps until someone reads them.
    STREAMED = 1 << 25, debug / 16384;
    /// Elements that one core sorts by itself.
    SORTED_ALONE = 1 << 14, debug / 64;
    /// Rows of a matrix that a core multiplies by a vector at a time. A multiple of eight, which go side by side.
    STRIP = 1 << 10, debug / 64;
    /// Rows for which the columns of a matrix are long enough for vectors.
    SHORT_COLUMN = 16, debug / 1;
    /// Elements that an incomplete gamma function sorts by their way at a time.
    SORTED = 1 << 10, debug / 16;
    /// Elements that a run has at least where going through it takes longer than to begin it.
    SHORT_RUN = 16, debug / 1;
    /// Elements of two files that are compared at a time, …
    COMPARED = 1 << 16, debug / 64;
    /// … and those that a core is given: a multiple of them.
    COMPARED_AT_ONCE = 1 << 20, debug / 64;
    /// Bytes in a row that are worth a call to read them from a file.
    RUN = 1 << 9, debug / 32;
    /// Elements that are converted at a time from one file into another.
    CONVERTED = 1 << 18, debug / 64;
    /// Elements that a core reduces at a time.
    PIECE = 1 << 16, debug / 64;
    /// Elements that are reduced before their results are stored.
    BATCH = 1 << 22, debug / 64;
    /// Results that are waited for before they are stored.
    RESULTS = 1 << 12, debug / 64;
    /// Elements of one sum that are worth all cores.
    LONG_SUM = 1 << 18, debug / 64;
    /// Numbers of a sum in one order that a core adds up at a time.
    CHAINED = 1 << 12, debug / 64;
    /// Bytes between rows from where on the processor by itself does not know which one it will read next.
    FAR = 1 << 12, debug / 16;
    /// Columns that are reduced together, row by row.
    COLUMNS = 1 << 9, debug / 8;
    /// Steps of four vectors of a reduction between two looks for Ctrl-C.
    STEPS = 1 << 12, debug / 64;
    /// Elements of a tile of a loop, about.
    TILE = 1 << 14, debug / 16;
    /// Elements along and across a tile in which one operand's neighbours lie along, another's across.
    SQUARE = 64, debug / 4;
    /// Bytes of a memory that is worth keeping for the next result of its size. What is smaller, the allocator keeps.
    SPARE = 1 << 17, debug / 64;
    /// Bytes of a page that large memories ask for.
    LARGE_PAGE = 2 << 20, debug / 1;
    /// Bytes that are copied between two looks for Ctrl-C: a millisecond's worth.
    COPIED = 1 << 22, debug / 16384;
    /// Products that one call of the library for matrices, which cannot be stopped, may add up: some ten milliseconds'
    /// worth.
    PRODUCTS = 1 << 28, debug / 256;
    /// Elements that a loop may handle between two checks for Ctrl-C: a few milliseconds for the slowest kernel, and
    /// enough that the check costs nothing. A multiple of every vector's length.
    STRIDE = 1 << 18, debug / 64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_vanishes() {
        assert!(ALL.iter().all(|(_, size)| size.is_power_of_two() && *size >= 16));
        // The widest step takes 64 elements of one byte.
        assert!(BLOCK.is_multiple_of(64) && STRIDE.is_multiple_of(64));
    }
}
