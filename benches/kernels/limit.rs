//! The limits of the machine: how fast all cores together read, write and copy memory beyond the caches, and multiply.
//! Other machines may share its memory, so the limits are measured again for every row, in turn with the programs.

use crate::Outcome;
use crate::peer::Bytes;
use std::error::Error;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;
use tensorsh::tensor::parallel::{Kernel, cores, vectorised, vectorised_kernel};
use tensorsh::tensor::system::{Machine, System};
use tensorsh::tensor::thresholds::LARGE_PAGE;

/// Bytes processed by each core; more than its share of the level-3 cache.
const NBYTES: usize = 64 << 20;
/// Bytes of a cache line.
const LINE: usize = 64;

/// The resource that limits a row.
pub(crate) enum Bound {
    /// The bytes it must move.
    Memory,
    /// The bytes, and this many multiplications and additions.
    Arithmetic(f64),
    /// Nothing: it need not even read its operands.
    None,
}

/// The throughput of all cores per second.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// Bytes if only reading.
    read: f64,
    /// Bytes if only writing.
    written: f64,
    /// Bytes if copying, half of them read and half written, in place or elsewhere.
    copied: f64,
    /// Multiplications and additions of `float32`.
    products: f64,
}

impl Limit {
    pub(crate) const NONE: Limit = Limit { read: 0.0, written: 0.0, copied: 0.0, products: 0.0 };

    /// Returns the better of both for each throughput.
    pub(crate) fn or(self, other: Limit) -> Limit {
        Limit {
            read: self.read.max(other.read),
            written: self.written.max(other.written),
            copied: self.copied.max(other.copied),
            products: self.products.max(other.products),
        }
    }

    /// Returns the minimum number of seconds of a row whose operands are not in a cache.
    pub(crate) fn seconds(&self, bytes: Bytes, bound: &Bound) -> Option<f64> {
        let Bytes { read, written, .. } = bytes;
        // Equal amounts of reads and writes go at the speed of a copy, the rest at that of reads or writes alone.
        let both = read.min(written);
        let memory = 2.0 * both / self.copied + (read - both) / self.read + (written - both) / self.written;
        match bound {
            Bound::Memory => Some(memory),
            Bound::Arithmetic(operations) => Some(memory.max(operations / self.products)),
            Bound::None => None,
        }
    }

    pub(crate) fn describe(&self) -> String {
        let [read, written, copied, products] =
            [self.read, self.written, self.copied, self.products].map(|rate| rate / 1e9);
        format!(
            "{} cores read {read:.1} GB/s, write {written:.1} GB/s, move {copied:.1} GB/s in a copy, and do {products:.0} \
             billion operations on float32",
            cores()
        )
    }
}

/// The memory that the loops use, one piece per core.
pub(crate) struct Streams(Vec<Vec<u64>>);

impl Streams {
    pub(crate) fn new() -> Streams {
        Streams((0..cores()).map(|_| memory()).collect())
    }

    /// Measures the machine once.
    pub(crate) fn turn(&mut self) -> Outcome<Limit> {
        let (all, cores) = ((NBYTES * self.0.len()) as f64, self.0.len());
        let mut rate = |count: f64, loops: &[fn(&mut [u64])]| {
            let times: Outcome<Vec<f64>> = loops.iter().map(|work| self.seconds(*work)).collect();
            Ok::<_, Box<dyn Error>>(count / times?.into_iter().fold(f64::INFINITY, f64::min))
        };
        Ok(Limit {
            read: rate(all, &[read])?,
            written: rate(all, &[write, stream::write])?,
            copied: rate(all, &[copy, stream::copy])?.max(rate(2.0 * all, &[update])?),
            products: rate((OPERATIONS * cores) as f64, &[multiply::<64>, multiply::<128>, multiply::<192>])?,
        })
    }

    /// Returns the seconds that all cores take for the same work, each on its own memory.
    fn seconds(&mut self, work: fn(&mut [u64])) -> Outcome<f64> {
        let barrier = Barrier::new(self.0.len());
        let timed = |words: &mut [u64]| {
            barrier.wait();
            let start = Instant::now();
            work(words);
            barrier.wait();
            start.elapsed().as_secs_f64()
        };
        thread::scope(|scope| {
            let pieces = self.0.iter_mut().map(|memory| aligned(memory));
            let threads: Vec<_> = pieces.map(|words| scope.spawn(|| timed(words))).collect();
            let times = threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked".into()));
            times.reduce(|a, b| Ok(f64::max(a?, b?))).ok_or("no thread")?
        })
    }
}

/// Allocates memory in large pages, and touches each page.
fn memory() -> Vec<u64> {
    let count = (NBYTES + LINE) / size_of::<u64>();
    let mut words = Vec::with_capacity(count);
    let (start, page) = (words.as_ptr() as usize, LARGE_PAGE);
    System::advise_large_pages(start.next_multiple_of(page), (start + NBYTES) / page * page);
    words.resize(count, black_box(1));
    words
}

/// Returns the part of a memory that starts at a cache line.
fn aligned(memory: &mut [u64]) -> &mut [u64] {
    let first = memory.as_ptr().align_offset(LINE);
    &mut memory[first..][..NBYTES / size_of::<u64>()]
}

fn read(words: &mut [u64]) {
    black_box(vectorised(|| words.iter().fold(0, |all, word| all ^ word)));
}

fn write(words: &mut [u64]) {
    let word = black_box(2);
    vectorised(|| words.fill(word));
    black_box(words);
}

fn copy(words: &mut [u64]) {
    let (from, to) = words.split_at_mut(words.len() / 2);
    to.copy_from_slice(from);
    black_box(to);
}

fn update(words: &mut [u64]) {
    let word = black_box(4);
    vectorised(|| words.iter_mut().for_each(|to| *to ^= word));
    black_box(words);
}

/// Stores that bypass the caches. Ordinary stores first read the cache line they write.
#[cfg(target_arch = "x86_64")]
mod stream {
    use std::arch::x86_64::{_mm_set_epi64x, _mm_sfence, _mm_stream_si128};
    use std::hint::black_box;

    pub(super) fn write(words: &mut [u64]) {
        let word = black_box(3);
        words.as_chunks_mut().0.iter_mut().for_each(|to| store(to, [word; 2]));
        fence();
    }

    pub(super) fn copy(words: &mut [u64]) {
        let (from, to) = words.split_at_mut(words.len() / 2);
        to.as_chunks_mut().0.iter_mut().zip(from.as_chunks().0).for_each(|(to, &from)| store(to, from));
        fence();
    }

    #[inline(always)]
    fn store(to: &mut [u64; 2], [low, high]: [u64; 2]) {
        // SAFETY: all memory here begins at a cache line, so every 16 bytes of it are aligned. Every processor of this
        // architecture has the instruction.
        unsafe { _mm_stream_si128((&raw mut *to).cast(), _mm_set_epi64x(high as i64, low as i64)) };
    }

    /// Makes the preceding stores visible to other cores.
    fn fence() {
        // SAFETY: as above; the instruction does not access memory.
        unsafe { _mm_sfence() };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod stream {
    pub(super) use super::{copy, write};
}

/// Number of operations in one call of [`multiply`].
const OPERATIONS: usize = 1 << 24;

/// Multiplies and adds as many numbers as fit into the registers of a processor.
fn multiply<const N: usize>(_: &mut [u64]) {
    struct Products<const N: usize>;
    impl<const N: usize> Kernel for Products<N> {
        type Output = [f32; N];
        #[inline(always)]
        fn run(self, fuses: bool) -> [f32; N] {
            let (factor, term) = (black_box(0.999), black_box(0.001));
            let mut sums: [f32; N] = black_box([1.0; N]);
            for _ in 0..OPERATIONS / 2 / N {
                let now = sums;
                sums = now.map(|sum| if fuses { sum.mul_add(factor, term) } else { sum * factor + term });
            }
            sums
        }
    }
    black_box(vectorised_kernel(Products::<N>));
}
