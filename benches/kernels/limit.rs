//! What the machine can do: how fast all cores together read, write and copy memory beyond the caches, and multiply. Other
//! machines may share its memory, and so it is asked again for every row, in turn with the programs.

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

/// Bytes that each core goes through: more than its share of a level-3 cache.
const NBYTES: usize = 64 << 20;
/// Bytes of a line of the caches.
const LINE: usize = 64;

/// What a row cannot be faster than.
pub(crate) enum Bound {
    /// The bytes it must move.
    Memory,
    /// Those, and so many multiplications and additions.
    Arithmetic(f64),
    /// It need not even read its operands.
    None,
}

/// What all cores do in a second.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// Bytes, where nothing is written.
    read: f64,
    /// Bytes, where nothing is read.
    written: f64,
    /// Bytes, half of them read and half written, here or elsewhere.
    copied: f64,
    /// Multiplications and additions of `float32`.
    products: f64,
}

impl Limit {
    pub(crate) const NONE: Limit = Limit { read: 0.0, written: 0.0, copied: 0.0, products: 0.0 };

    /// The better of both at each.
    pub(crate) fn or(self, other: Limit) -> Limit {
        Limit {
            read: self.read.max(other.read),
            written: self.written.max(other.written),
            copied: self.copied.max(other.copied),
            products: self.products.max(other.products),
        }
    }

    /// Seconds below which a row cannot be, unless its operands lie in a cache.
    pub(crate) fn seconds(&self, bytes: Bytes, bound: &Bound) -> Option<f64> {
        let Bytes { read, written, .. } = bytes;
        // As many bytes as are read and written go at the speed of a copy, the rest at that of reads or writes alone.
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

/// Memory that the loops go through, one piece for each core.
pub(crate) struct Streams(Vec<Vec<u64>>);

impl Streams {
    pub(crate) fn new() -> Streams {
        Streams((0..cores()).map(|_| memory()).collect())
    }

    /// Asks the machine once.
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

    /// What all cores take for the same work, each on its own memory.
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

/// Memory of large pages, each of which was touched.
fn memory() -> Vec<u64> {
    let count = (NBYTES + LINE) / size_of::<u64>();
    let mut words = Vec::with_capacity(count);
    let (start, page) = (words.as_ptr() as usize, LARGE_PAGE);
    System::advise_large_pages(start.next_multiple_of(page), (start + NBYTES) / page * page);
    words.resize(count, black_box(1));
    words
}

/// What of a memory begins at a line of the caches.
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

/// Stores that go past the caches. All others first read what they are going to write.
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
        // SAFETY: all memory here begins at a line of the caches, so that every 16 bytes of it are aligned; every processor
        // of this kind has the instruction.
        unsafe { _mm_stream_si128((&raw mut *to).cast(), _mm_set_epi64x(high as i64, low as i64)) };
    }

    /// Others see what was stored from here on.
    fn fence() {
        // SAFETY: as above; it touches nothing.
        unsafe { _mm_sfence() };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod stream {
    pub use super::{copy, write};
}

/// Operations that a call of [`multiply`] does.
const OPERATIONS: usize = 1 << 24;

/// Multiplications and additions on so many numbers as fit the registers of one processor or another.
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
