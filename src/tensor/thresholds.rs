//! Every size at which a kernel changes its method, by name, in one table: how much is processed at a time, and from
//! which size a faster method is worth its overhead. None of them changes a result. [`ALL`] lists them, so that a test
//! can try sizes around each (tests/sweep).
//!
//! Debug builds divide most of them, so that tests with a few thousand elements take every path that a release build
//! takes with a million. Sizes that affect PyTorch's own results (when it uses radix sort, which products its library
//! sums in order) are not thresholds; they are defined next to the kernels.

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
    /// Maximum elements in a block: three blocks of 4-byte elements fit a level-1 cache. A multiple of every step of
    /// PyTorch's loops.
    BLOCK = 1 << 11, debug / 16;
    /// Maximum elements for which a short buffer is used: clearing a block's buffer takes longer than the work on a
    /// short run.
    SHORT = 64, debug / 4;
    /// Maximum elements of a loop that runs at once, without tiles and threads.
    SHORT_LOOP = 1 << 11, debug / 32;
    /// Maximum bytes of the output that such a loop copies if it is an input as well.
    KEPT = 1 << 10, debug / 4;
    /// Maximum elements in a block of a kernel that needs no buffers.
    LONG_BLOCK = 1 << 16, debug / 64;
    /// Elements of a run up to which several runs are gathered into a block: calling a kernel takes as long as copying
    /// some hundred bytes.
    GATHERED = 128, debug / 4;
    /// Elements that justify a second thread: two threads add 100,000 pairs in 7 µs, one in 11.
    THREAD = 1 << 15, debug / 32;
    /// Bytes per piece of a loop that only writes: smaller pieces are written more slowly.
    PART = 1 << 20, debug / 128;
    /// Bytes of a result that is too large to stay in a cache until it is read.
    STREAMED = 1 << 25, debug / 16384;
    /// Elements that are sorted by digits instead of comparisons.
    DIGITS = 1 << 9, debug / 8;
    /// Elements of a line that are first sorted as if they were distinct: more are likely to have equal ones.
    DISTINCT = 1 << 11, debug / 16;
    /// Elements that one core sorts alone.
    SORTED_ALONE = 1 << 14, debug / 64;
    /// Rows per piece of a matrix-vector product. A multiple of eight, because eight rows are computed side by side.
    STRIP = 1 << 10, debug / 64;
    /// Rows from which the columns of a matrix are long enough for vectors.
    SHORT_COLUMN = 16, debug / 1;
    /// Elements that an incomplete gamma function sorts by method at a time.
    SORTED = 1 << 10, debug / 16;
    /// Elements of a run from which processing it takes longer than starting it.
    SHORT_RUN = 16, debug / 1;
    /// Points of a Fourier transform that is divided into columns and rows.
    DIVIDED = 1 << 14, debug / 128;
    /// Elements of two files that are compared at a time.
    COMPARED = 1 << 16, debug / 64;
    /// Elements of two files that a core compares at a time: a multiple of [`COMPARED`].
    COMPARED_AT_ONCE = 1 << 20, debug / 64;
    /// Adjacent bytes from which a separate read of a file is worthwhile.
    RUN = 1 << 9, debug / 32;
    /// Elements that are converted at a time from one file to another.
    CONVERTED = 1 << 18, debug / 64;
    /// Elements that a core reduces at a time.
    PIECE = 1 << 14, debug / 16;
    /// Elements that are reduced before their results are stored.
    BATCH = 1 << 22, debug / 64;
    /// Results that are collected before they are stored.
    RESULTS = 1 << 12, debug / 64;
    /// Elements of a single sum from which all cores are used.
    LONG_SUM = 1 << 18, debug / 64;
    /// Numbers of an ordered sum that a core adds at a time.
    CHAINED = 1 << 12, debug / 64;
    /// Bytes between rows from which the processor does not prefetch the next row by itself.
    FAR = 1 << 12, debug / 16;
    /// Columns that are reduced together, row by row.
    COLUMNS = 1 << 9, debug / 8;
    /// Steps of four vectors in a reduction between two checks for Ctrl-C.
    STEPS = 1 << 12, debug / 64;
    /// Approximate elements of a tile of a loop over additions; fewer if an element takes longer.
    TILE = 1 << 14, debug / 16;
    /// Minimum elements of a tile.
    SMALL_TILE = 1 << 9, debug / 8;
    /// Elements along and across a tile if adjacent elements of one operand are along it and those of another across.
    SQUARE = 64, debug / 4;
    /// Maximum bytes of a small memory, some of which are kept with the allocation of their handle.
    SMALL_MEMORY = 1 << 10, debug / 4;
    /// Bytes from which a large memory is kept for the next result of its size.
    SPARE = 1 << 17, debug / 64;
    /// Bytes up to which a kept memory is zeroed; larger zeroed ones are new pages, which cost nothing until touched.
    CLEARED = 1 << 25, debug / 64;
    /// Bytes of a large page.
    LARGE_PAGE = 2 << 20, debug / 1;
    /// Bytes that are copied between two checks for Ctrl-C: about a millisecond.
    COPIED = 1 << 22, debug / 16384;
    /// Multiplications in one call of the matrix library, which cannot be interrupted: about ten milliseconds.
    PRODUCTS = 1 << 28, debug / 256;
    /// Multiplications of a task of a product that is summed in order.
    ORDERED = 1 << 24, debug / 4096;
    /// Elements that a loop handles between two checks for Ctrl-C: a few milliseconds for the slowest kernel, and
    /// enough to make the checks free. A multiple of every vector's length.
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
