//! Loops over elements on all cores. This file, four of its submodules and `memory.rs` are the only ones of the core
//! that may contain `unsafe`, besides `system`: here kernels, which are plain functions of slices, access memory that
//! views share. Independent of what the elements mean.
//!
//! Why this is safe: memories cannot leave their thread (`Rc`, `Cell`), and a loop here keeps that thread busy, so that
//! only the loop accesses them until it ends. Captures of a kernel must be `Sync`, which cells are not. How the loop
//! accesses memory is decided from addresses before it starts, in [`OperandAccess`].

pub(crate) mod fused;
mod helpers;
mod product;
mod short;
mod tasks;
mod vectors;

use super::error::{Error, Result};
use super::interrupt;
use super::iterate::{Run, Tile, Tiles};
use super::layout::{Layout, alike};
use super::memory::{Loan, Memory, Plain};
use super::thresholds::{BLOCK, GATHERED, SHORT, SMALL_TILE, STREAMED, THREAD, TILE};
use short::ShortLoop;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;
use vectors::{flush_streamed_stores, stream};

pub(crate) use product::PER_ELEMENT;
pub use product::{GemmElement, Matrix, add_product};
pub(crate) use product::{add_product_fused, add_product_within};
pub(crate) use short::in_short;
pub(crate) use tasks::tasks;
pub use tasks::{collect, cores, parts, parts_of, set_cores};
pub use vectors::{Kernel, halves, set_width, singles, vectorised, vectorised_kernel};
pub(crate) use vectors::{join_halves, prefetch};

/// Lends the elements of a memory as a slice for reading while `body` runs, for several threads or for a loop without
/// cells. `None` if the memory is not aligned for the type.
///
/// # Panics
/// If `body` accesses the memory in another way, through a handle in a thread-local.
pub fn reading<T: Plain, R>(memory: &Memory, body: impl FnOnce(&[T]) -> R + Send) -> Option<R> {
    reading_both(memory, memory, |elements, _| body(elements))
}

/// Like [`reading`], for two memories at once.
pub fn reading_both<T: Plain, R>(a: &Memory, b: &Memory, body: impl FnOnce(&[T], &[T]) -> R + Send) -> Option<R> {
    let (first, second) = (a.start()?.cast::<T>(), b.start()?.cast::<T>());
    let length = |memory: &Memory| memory.nbytes() / size_of::<T>();
    (first.is_aligned() && second.is_aligned()).then(|| {
        let _loan = Loan::of(&[a, b]);
        // SAFETY: the memories hold as many initialised elements, and any bits are a `T`. Nothing writes to them meanwhile:
        // `body` is `Send` and so holds no memory and no cells, and a handle in a thread-local panics (see `Loan`).
        let (a, b) = unsafe {
            (slice::from_raw_parts(first.as_ptr(), length(a)), slice::from_raw_parts(second.as_ptr(), length(b)))
        };
        body(a, b)
    })
}

/// Lends elements of a memory as a slice for writing. `None` if they are out of range or not aligned.
pub fn writing<T: Plain, R>(
    memory: &Memory,
    range: Range<usize>,
    body: impl FnOnce(&mut [T]) -> R + Send,
) -> Option<R> {
    let start = memory.start()?.cast::<T>();
    let fits = range.start <= range.end && range.end <= memory.nbytes() / size_of::<T>();
    (fits && start.is_aligned()).then(|| {
        let _loan = Loan::of(&[memory]);
        // SAFETY: as in `reading_both`; only `body` reads or writes them meanwhile.
        body(unsafe { slice::from_raw_parts_mut(start.as_ptr().add(range.start), range.len()) })
    })
}

/// Lends one memory for [`reading`] and another for [`writing`]. Also `None` if they share a byte.
pub fn between<S: Plain, T: Plain, R>(
    from: &Memory,
    to: &Memory,
    range: Range<usize>,
    body: impl FnOnce(&[S], &mut [T]) -> R + Send,
) -> Option<R> {
    from_both([from, from], to, range, |[elements, _], out| body(elements, out))
}

/// Like [`between`], with two memories for reading.
pub(crate) fn from_both<S: Plain, T: Plain, R>(
    from: [&Memory; 2],
    to: &Memory,
    range: Range<usize>,
    body: impl FnOnce([&[S]; 2], &mut [T]) -> R + Send,
) -> Option<R> {
    let start = to.start()?.cast::<T>();
    let fits = range.start <= range.end && range.end <= to.nbytes() / size_of::<T>();
    let [first, second] = from.map(|memory| {
        let first = memory.start()?.cast::<S>();
        let ends = (first.addr().get() + memory.nbytes(), start.addr().get() + to.nbytes());
        let apart = ends.0 <= start.addr().get() || ends.1 <= first.addr().get();
        (apart && first.is_aligned()).then_some((first, memory.nbytes() / size_of::<S>()))
    });
    let operands = [first?, second?];
    (fits && start.is_aligned()).then(|| {
        let _loan = Loan::of(&[from[0], from[1], to]);
        // SAFETY: as in `reading_both` and `writing`; `to` is apart from the others.
        let (operands, out) = unsafe {
            (
                operands.map(|(first, length)| slice::from_raw_parts(first.as_ptr(), length)),
                slice::from_raw_parts_mut(start.as_ptr().add(range.start), range.len()),
            )
        };
        body(operands, out)
    })
}

/// An operand of a loop: its memory, layout and element size.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    pub memory: &'a Memory,
    pub layout: &'a Layout,
    pub itemsize: usize,
    /// Whether the kernel looks up elements itself, relative to the layout's offsets. A block then contains the whole
    /// memory.
    pub looked_up: bool,
}

/// How PyTorch's loops step through elements, as far as it affects results.
#[derive(Clone, Copy, Debug)]
pub struct StepPattern {
    /// Elements per step if all operands are contiguous, except for at most one that repeats a value.
    pub step: usize,
    /// Whether results do not depend on the steps: the kernel ignores [`Block::tail`].
    pub alike: bool,
    /// The number of further operands that repeat a value, which the loop does not see.
    pub repeated: usize,
    /// Maximum elements in a block. More than [`BLOCK`] is possible if blocks are the memory itself and the kernel
    /// needs no buffers.
    pub most: usize,
    /// Whether the kernel itself bypasses the caches where that is better: it copies by [`Block::transfer`], or fills.
    pub stores: bool,
    /// The time that an element takes, in multiples of the time of an addition. Loops that take longer are worth
    /// several threads at fewer elements.
    pub weight: usize,
}

impl StepPattern {
    /// One element after another, in blocks that fit the buffers.
    pub const SINGLE: StepPattern =
        StepPattern { step: 1, alike: true, repeated: 0, most: BLOCK, stores: false, weight: 1 };
}

/// How the loop accesses one operand.
#[derive(Clone, Copy)]
struct OperandAccess {
    start: *mut u8,
    itemsize: usize,
    /// Whether a kernel may access the memory directly as a slice. Not for inputs that overlap the output, unless they
    /// are the same elements in the same order.
    direct: bool,
    /// For a memory that is looked up as a whole, its number of elements.
    whole: Option<usize>,
}

/// Returns the start of the memory, and the address range of an operand's elements.
fn bounds(operand: &Elements) -> Result<(*mut u8, Range<usize>)> {
    let beyond = || Error::runtime("an operand lies beyond the end of its storage");
    let (low, high) = operand.layout.reach().ok_or_else(beyond)?;
    let byte = |element: i64| usize::try_from(element).unwrap_or(usize::MAX).saturating_mul(operand.itemsize);
    let (start, end) = (byte(low), byte(high));
    match operand.memory.start() {
        Some(memory) if end <= operand.memory.nbytes() && start <= end => {
            let address = memory.as_ptr() as usize;
            Ok((memory.as_ptr(), address + start..address + end))
        }
        _ => Err(beyond()),
    }
}

/// Returns access to a memory that is looked up as a whole; it must not overlap the output.
fn whole(operand: &Elements, written: &Range<usize>) -> Result<OperandAccess> {
    let (start, nbytes) = (operand.memory.start(), operand.memory.nbytes());
    match start {
        Some(start) if start.addr().get() >= written.end || start.addr().get() + nbytes <= written.start => {
            let whole = Some(nbytes / operand.itemsize.max(1));
            Ok(OperandAccess { start: start.as_ptr(), itemsize: operand.itemsize, direct: true, whole })
        }
        _ => Err(Error::runtime("a memory that is looked up is written as well")),
    }
}

/// A memory that is looked up as a whole, and the position of a block in it.
#[derive(Clone, Copy)]
struct Lookup {
    start: *const u8,
    elements: usize,
    itemsize: usize,
    place: [i64; 2],
}

/// A block of consecutive elements of every operand; operand 0 is the output. Some of them may be copies in a buffer.
pub struct Block<const N: usize> {
    data: [*mut u8; N],
    itemsize: [usize; N],
    lookup: Lookup,
    length: usize,
    /// Whether the output should be written by [`stream`].
    streams: bool,
    /// Whether PyTorch's loops process these elements one by one instead of as whole vectors. A few operations round
    /// differently in the two cases.
    pub tail: bool,
}

impl<const N: usize> Block<N> {
    /// Returns operand `index` as elements of type `T`; empty if the size differs.
    fn pointer<T: Plain>(&self, index: usize) -> (*mut T, usize) {
        match (self.data.get(index), self.itemsize.get(index)) {
            (Some(&data), Some(&size)) if size == size_of::<T>() && data.cast::<T>().is_aligned() => {
                (data.cast(), self.length)
            }
            _ => {
                debug_assert!(false, "an operand of another size");
                (std::ptr::dangling_mut(), 0)
            }
        }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns input `index`, counted from 1.
    pub fn input<T: Plain>(&self, index: usize) -> &[T] {
        let (data, length) = self.pointer(index);
        // SAFETY: `length` initialised elements of this size start here (`ParallelLoop::block`), any bits are a `T`,
        // and nobody writes to them while the block exists.
        unsafe { slice::from_raw_parts(data, length) }
    }

    /// Returns the output alone.
    pub fn output<R: Plain>(&mut self) -> &mut [R] {
        let (data, length) = self.pointer(0);
        // SAFETY: as in `input`; no other operand and no other block shares a byte with it, and `self` is borrowed
        // exclusively.
        unsafe { slice::from_raw_parts_mut(data, length) }
    }

    /// Returns the first input and the output.
    pub fn one<S: Plain, R: Plain>(&mut self) -> (&[S], &mut [R]) {
        let (data, length) = self.pointer(0);
        // SAFETY: as in `output`; the inputs share no byte with it.
        (self.input(1), unsafe { slice::from_raw_parts_mut(data, length) })
    }

    /// Copies the first input to the output.
    pub fn transfer<T: Plain>(&mut self) {
        let streams = self.streams;
        let (from, to) = self.one::<T, T>();
        if streams { stream(from, to) } else { to.copy_from_slice(from) }
    }

    /// For a looked-up first input: returns all its elements, the offset and the stride of the block in them, the
    /// second input, and the output. The elements are empty if they are not aligned for the type.
    pub(crate) fn looked_up<T: Plain, B: Plain, R: Plain>(&mut self) -> (&[T], [i64; 2], &[B], &mut [R]) {
        let (data, length) = self.pointer(0);
        let Lookup { start, elements, itemsize, place } = self.lookup;
        let fits = !start.is_null() && itemsize == size_of::<T>() && start.cast::<T>().is_aligned();
        // SAFETY: as many elements of this size start here (`whole`), any bits are a `T`, and nobody writes to them
        // while the loop runs.
        let all = if fits { unsafe { slice::from_raw_parts(start.cast(), elements) } } else { &[] };
        // SAFETY: as in `one`.
        (all, place, self.input(2), unsafe { slice::from_raw_parts_mut(data, length) })
    }

    /// Returns two inputs and the output.
    pub fn two<A: Plain, B: Plain, R: Plain>(&mut self) -> (&[A], &[B], &mut [R]) {
        let (data, length) = self.pointer(0);
        // SAFETY: as in `one`.
        (self.input(1), self.input(2), unsafe { slice::from_raw_parts_mut(data, length) })
    }

    /// Returns three inputs and the output.
    pub fn three<A: Plain, B: Plain, C: Plain, R: Plain>(&mut self) -> (&[A], &[B], &[C], &mut [R]) {
        let (data, length) = self.pointer(0);
        // SAFETY: as in `one`.
        (self.input(1), self.input(2), self.input(3), unsafe { slice::from_raw_parts_mut(data, length) })
    }
}

/// Some of a loop's blocks, in sequence.
pub struct Blocks<'l, const N: usize>(Part<'l, N>);

enum Part<'l, const N: usize> {
    /// All of a short loop.
    Short(&'l ShortLoop<N>),
    /// Those of some tiles.
    Tiles(&'l ParallelLoop<N>, Range<usize>),
}

impl<const N: usize> Blocks<'_, N> {
    /// Calls `body` for each block.
    ///
    /// # Errors
    /// Those of `body`; KeyboardInterrupt.
    pub fn each(&self, mut body: impl FnMut(&mut Block<N>) -> Result<()>) -> Result<()> {
        match &self.0 {
            Part::Short(work) => work.each(&mut body),
            Part::Tiles(work, tiles) => {
                let outcome = work.tiles(tiles.clone(), &mut body);
                if work.streams {
                    flush_streamed_stores();
                }
                outcome
            }
        }
    }
}

/// Calls `body` with blocks that together cover all elements of the operands, which must have the same sizes (broadcast
/// beforehand). Operand 0 is the output: the contents of a block's output are stored. `body` gets many blocks at a
/// time, so that it can set up its state once for all of them.
///
/// Large loops run on all cores. If writing the output changes elements that are still to be read, one thread processes
/// the elements in PyTorch's order instead.
///
/// # Errors
/// Those of `body`, after some elements have been written; KeyboardInterrupt.
pub fn blocks<const N: usize>(
    operands: [Elements; N],
    steps: StepPattern,
    body: &(dyn Fn(Blocks<N>) -> Result<()> + Sync),
) -> Result<()> {
    let layouts = operands.map(|operand| operand.layout);
    let Some((out, inputs)) = operands.split_first() else { return Ok(()) };
    if out.layout.numel() == 0 {
        return Ok(());
    }
    if inputs.iter().any(|input| !alike(&input.layout.sizes, &out.layout.sizes)) {
        return Err(Error::runtime("operands of different sizes"));
    }
    if let Some(short) = ShortLoop::new(&operands, &steps) {
        return body(Blocks(Part::Short(&short)));
    }
    let mut reaches = [OperandAccess { start: std::ptr::null_mut(), itemsize: 0, direct: false, whole: None }; N];
    let (mut overlap, mut aliased) = (false, false);
    let distinct = out.layout.has_distinct_elements();
    let (_, written) = bounds(out)?;
    for (k, (reach, operand)) in reaches.iter_mut().zip(&operands).enumerate() {
        if operand.looked_up {
            *reach = whole(operand, &written)?;
            continue;
        }
        let (start, read) = bounds(operand)?;
        let apart = k == 0 || read.end <= written.start || written.end <= read.start;
        // The same elements in the same order are safe: the same thread reads each, to a buffer, before it writes it.
        let same = read == written && operand.itemsize == out.itemsize && operand.layout.strides == out.layout.strides;
        let direct = apart || same && distinct;
        overlap |= !direct;
        aliased |= direct && !apart;
        *reach = OperandAccess { start, itemsize: operand.itemsize, direct, whole: None };
    }
    let single = overlap || !distinct;
    let weight = steps.weight.max(1);
    let tiles = Tiles::new(layouts, single, steps.step, (TILE / weight.next_power_of_two()).max(SMALL_TILE));
    // Short pieces are not streamed: they would leave cache lines incomplete.
    let nbytes = usize::try_from(out.layout.numel()).unwrap_or(usize::MAX).saturating_mul(out.itemsize);
    let streams = nbytes >= STREAMED && tiles.length() >= BLOCK && !single && !aliased;
    let buffered = aliased || streams && !steps.stores;
    let work = ParallelLoop { reaches, steps, streams, buffered, overlap: overlap.then_some(steps.step.max(1)), tiles };
    let (count, volume) = (work.tiles.count(), work.tiles.volume());
    let elements = count.saturating_mul(volume);
    let piece = (THREAD / 2 / weight).max(elements / (PIECES * cores()));
    let together = (piece / volume.max(1)).clamp(1, count.max(1));
    let time = if single { 0 } else { elements.saturating_mul(weight) };
    tasks(count.div_ceil(together), time, &|index| {
        let first = index * together;
        body(Blocks(Part::Tiles(&work, first..(first + together).min(count))))
    })
}

/// The number of pieces per core of a long loop: few, so that the processor can prefetch within each, but enough to
/// balance the load if other programs use a core too.
const PIECES: usize = 8;

struct ParallelLoop<const N: usize> {
    reaches: [OperandAccess; N],
    steps: StepPattern,
    /// Whether the output bypasses the caches: it would not stay there, and its lines need not be read first.
    streams: bool,
    /// Whether kernels write results to a buffer, from which they are streamed or written over the input.
    buffered: bool,
    /// The number of elements per block if results may be read again: the steps of PyTorch's loops then affect the
    /// result. Blocks are one vector step, and the rest single elements.
    overlap: Option<usize>,
    tiles: Tiles<N>,
}

// SAFETY: the memory behind the pointers is alive and accessed by nobody else until the loop has ended (see the head of
// this file). `blocks` checked that the layouts lie within the memories. Tiles share no element of the output. If the
// output's elements are not distinct, or an input overlaps the output in another order, one thread does all.
unsafe impl<const N: usize> Sync for ParallelLoop<N> {}

/// A buffer for `LENGTH` elements of the widest type.
#[repr(C, align(64))]
struct Buffer<const LENGTH: usize>([[MaybeUninit<u8>; 16]; LENGTH]);

impl<const N: usize> ParallelLoop<N> {
    fn tiles(&self, range: Range<usize>, body: &mut dyn FnMut(&mut Block<N>) -> Result<()>) -> Result<()> {
        if self.tiles.volume() <= SHORT {
            self.in_buffers::<SHORT>(range, body)
        } else {
            self.in_buffers::<BLOCK>(range, body)
        }
    }

    /// Like [`ParallelLoop::tiles`], for blocks of at most `LENGTH` elements. Never inlined: otherwise small loops
    /// would pay for large buffers, whose pages are touched as the stack grows.
    #[inline(never)]
    fn in_buffers<const LENGTH: usize>(
        &self,
        range: Range<usize>,
        body: &mut dyn FnMut(&mut Block<N>) -> Result<()>,
    ) -> Result<()> {
        let mut buffers: [Buffer<LENGTH>; N] =
            std::array::from_fn(|_| Buffer([[const { MaybeUninit::uninit() }; 16]; LENGTH]));
        let buffers = buffers.each_mut().map(|buffer| buffer.0.as_mut_ptr().cast::<u8>());
        // The buffer of an input that repeats one element or run is filled once: its source, and the length filled. For
        // the output, the length initialised.
        let mut repeated = [(std::ptr::null_mut::<u8>(), 0); N];
        for index in range {
            let Tile { mut run, span, mut runs, step } = self.tiles.tile(index);
            let (together, tail) = self.together(&run, &span, step);
            while runs > 0 {
                let rows = together.min(runs);
                if rows > 1 {
                    interrupt::check()?;
                    self.block(&run, (span.clone(), tail), (rows, step), buffers, &mut repeated, body)?;
                } else {
                    for part in self.cut(&run, span.clone()) {
                        interrupt::check()?;
                        self.block(&run, part, (1, step), buffers, &mut repeated, body)?;
                    }
                }
                run.offset.iter_mut().zip(step).for_each(|(offset, step)| *offset += step * rows as i64);
                runs -= rows;
            }
        }
        Ok(())
    }

    /// Returns the number of runs that one block can hold, and the block's [`Block::tail`]: several runs if they are
    /// short, results follow each other without gaps, and all elements of a run are processed alike.
    fn together(&self, run: &Run<N>, span: &Range<usize>, step: [i64; N]) -> (usize, bool) {
        let follows = run.stride.first() == Some(&1) && step.first() == Some(&(run.length as i64));
        let is_looked_up = self.reaches.iter().any(|reach| reach.whole.is_some());
        let is_whole = *span == (0..run.length) && run.length <= GATHERED && self.overlap.is_none();
        if !follows || !is_whole || is_looked_up {
            return (1, false);
        }
        match self.cut(run, span.clone()).next() {
            Some((block, tail)) if self.steps.alike || block == *span => ((BLOCK / run.length.max(1)).max(1), tail),
            _ => (1, false),
        }
    }

    /// Cuts part of a run into blocks, each with whether its elements are processed one by one.
    fn cut(&self, run: &Run<N>, span: Range<usize>) -> impl Iterator<Item = (Range<usize>, bool)> + use<N> {
        let (step, overlap) = (self.steps.step.max(1), self.overlap);
        let contiguous = run.stride.split_first().is_some_and(|(&out, inputs)| {
            let repeated = inputs.iter().filter(|&&stride| stride == 0).count() + self.steps.repeated;
            out == 1 && repeated <= 1 && inputs.iter().all(|&stride| stride == 0 || stride == 1)
        });
        let vectors = if contiguous { run.length - run.length % step } else { 0 };
        let most = self.longest(run);
        let mut start = span.start;
        std::iter::from_fn(move || {
            let tail = start >= vectors;
            let left = if tail { span.end.saturating_sub(start) } else { vectors.min(span.end).saturating_sub(start) };
            let size = match overlap {
                None => left.min(most),
                Some(whole) if !tail => whole.min(left),
                Some(_) => left.min(1),
            };
            let range = start..start + size;
            start = range.end;
            (size > 0).then_some((range, tail))
        })
    }

    /// Returns the maximum length of a block in a run. It exceeds a buffer only if no buffer is needed.
    fn longest(&self, run: &Run<N>) -> usize {
        let bare = |k: usize| {
            let OperandAccess { start, itemsize, direct, .. } = self.reaches[k];
            let first = start.wrapping_offset(run.offset[k] as isize * itemsize as isize);
            direct && run.stride[k] == 1 && is_placed(first, itemsize)
        };
        let most = self.steps.most;
        if !self.buffered && (0..N).all(bare) { most } else { most.min(BLOCK) }
    }

    /// Passes a block to `body`: a range of a run, with its [`Block::tail`], or several runs, with the distance between
    /// their starts. Operands go through the buffers, which are large enough, if their elements are not adjacent or if
    /// the output bypasses the caches.
    fn block(
        &self,
        run: &Run<N>,
        (range, tail): (Range<usize>, bool),
        (rows, step): (usize, [i64; N]),
        buffers: [*mut u8; N],
        repeated: &mut [(*mut u8, usize); N],
        body: &mut dyn FnMut(&mut Block<N>) -> Result<()>,
    ) -> Result<()> {
        let along = range.len().min(self.longest(run));
        let length = along * rows;
        let lookup = Lookup { start: std::ptr::null(), elements: 0, itemsize: 0, place: [0; 2] };
        let (data, itemsize, streams) = ([std::ptr::null_mut(); N], [0; N], self.streams);
        let mut block = Block { data, itemsize, length, streams, tail, lookup };
        // An output that the kernel writes to a buffer first.
        let mut scattered = None;
        for k in 0..N {
            let OperandAccess { start, itemsize, direct, whole } = self.reaches[k];
            let stride = run.stride[k];
            if let Some(whole) = whole {
                let place = [run.offset[k] + range.start as i64 * stride, stride];
                block.lookup = Lookup { start, elements: whole, itemsize, place };
                continue;
            }
            // SAFETY: the offset is that of an element, which `blocks` checked to lie within the memory.
            let first =
                unsafe { start.offset((run.offset[k] + range.start as i64 * stride) as isize * itemsize as isize) };
            block.itemsize[k] = itemsize;
            let buffered = k == 0 && self.buffered;
            let is_adjacent = (stride == 1 || along == 1) && (rows == 1 || step[k] == along as i64);
            if direct && !buffered && is_adjacent && is_placed(first, itemsize) {
                block.data[k] = first;
                continue;
            }
            let buffer = buffers[k];
            block.data[k] = buffer;
            if k == 0 {
                scattered = Some((first, stride, itemsize));
                // A kernel may read the output before it writes it, so the buffer must be initialised.
                if repeated[0].1 < length {
                    // SAFETY: `length` elements fit the buffer.
                    unsafe { buffer.write_bytes(0, length * itemsize) };
                    repeated[0].1 = length;
                }
                continue;
            }
            let repeats = if rows == 1 { stride == 0 } else { step[k] == 0 };
            if repeats && direct {
                if repeated[k].0 == first && repeated[k].1 >= length {
                    continue;
                }
                repeated[k] = (first, length);
            } else {
                repeated[k].1 = 0;
            }
            for row in 0..rows {
                // SAFETY: all elements of the runs lie within the memory, and `length` of them fit the buffer.
                unsafe {
                    let from = first.offset((row as i64 * step[k]) as isize * itemsize as isize);
                    gather(itemsize, from, stride, buffer.add(row * along * itemsize), along);
                }
            }
        }
        body(&mut block)?;
        if let Some((first, stride, itemsize)) = scattered {
            // SAFETY: as for `gather`; the buffer was initialised above.
            unsafe { scatter(itemsize, buffers[0], first, stride, length, streams) };
        }
        Ok(())
    }
}

/// Returns whether an element of `itemsize` bytes is aligned for a reference of its type. Sizes are powers of two, and
/// no type is aligned to more than 8.
fn is_placed(element: *const u8, itemsize: usize) -> bool {
    element.addr().is_multiple_of(itemsize.min(8))
}

/// Calls a function generic over an element of `itemsize` bytes.
macro_rules! by_itemsize {
    ($size:expr, $function:ident($($argument:expr),*)) => {
        match $size {
            1 => $function::<u8>($($argument),*),
            2 => $function::<u16>($($argument),*),
            4 => $function::<u32>($($argument),*),
            8 => $function::<u64>($($argument),*),
            _ => $function::<[u64; 2]>($($argument),*),
        }
    };
}

/// Copies `length` elements with a stride to a buffer.
///
/// # Safety
/// All of them can be read, they fit the buffer, and the two share no byte.
unsafe fn gather(itemsize: usize, from: *const u8, stride: i64, to: *mut u8, length: usize) {
    unsafe fn typed<T: Copy>(from: *const u8, stride: i64, to: *mut u8, length: usize) {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        if stride == 1 {
            // SAFETY: as the caller promises.
            unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), length * size_of::<T>()) };
            return;
        }
        if stride == 0 && length > 0 {
            // SAFETY: as the caller promises; buffers are aligned.
            unsafe {
                slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), length)
                    .fill(MaybeUninit::new(from.read_unaligned()))
            };
            return;
        }
        for i in 0..length {
            // SAFETY: as the caller promises; buffers are aligned.
            unsafe { to.add(i).write(from.offset(i as isize * stride as isize).read_unaligned()) };
        }
    }
    // SAFETY: passed on.
    unsafe { by_itemsize!(itemsize, typed(from, stride, to, length)) }
}

/// Copies a buffer to `length` elements with a stride, in order.
///
/// # Safety
/// All of them can be written, the buffer holds as many, and the two share no byte.
unsafe fn scatter(itemsize: usize, from: *const u8, to: *mut u8, stride: i64, length: usize, streams: bool) {
    unsafe fn typed<T: Copy>(from: *const u8, to: *mut u8, stride: i64, length: usize) {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        for i in 0..length {
            // SAFETY: as the caller promises; buffers are aligned.
            unsafe { to.offset(i as isize * stride as isize).write_unaligned(from.add(i).read()) };
        }
    }
    // SAFETY: passed on; the slices are the bytes that the caller names.
    unsafe {
        match stride {
            1 if streams => {
                stream(
                    slice::from_raw_parts(from, length * itemsize),
                    slice::from_raw_parts_mut(to, length * itemsize),
                );
            }
            1 => std::ptr::copy_nonoverlapping(from, to, length * itemsize),
            _ => by_itemsize!(itemsize, typed(from, to, stride, length)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;

    thread_local! {
        static HELD: RefCell<Option<Rc<Memory>>> = const { RefCell::new(None) };
    }

    fn first_of_held() -> Option<u8> {
        HELD.with_borrow(|held| held.as_ref()?.bytes().first().map(crate::memory::get))
    }

    /// A closure that is `Send` holds no memory, but it can reach one in a thread-local.
    #[test]
    fn lent_memory_is_not_accessed_in_another_way() {
        let memory = Rc::new(Memory::from_bytes(&[7; 64]).unwrap());
        let other = Memory::heap(64).unwrap();
        HELD.set(Some(Rc::new(Memory::borrow(&memory, 8, 4).unwrap())));
        let loops: [&dyn Fn(); 3] = [
            &|| {
                reading(&memory, |_: &[u8]| first_of_held());
            },
            &|| {
                writing(&memory, 0..64, |_: &mut [u8]| first_of_held());
            },
            &|| {
                between(&other, &memory, 0..64, |_: &[u8], _: &mut [u8]| first_of_held());
            },
        ];
        for access in loops {
            assert!(catch_unwind(AssertUnwindSafe(access)).is_err());
            // The loan ends with the panic.
            assert_eq!(first_of_held(), Some(7));
        }
        // Other memory is accessible, also memory made meanwhile.
        let made = reading(&other, |_: &[u8]| (first_of_held(), Memory::from_bytes(&[9]).unwrap().bytes().len()));
        assert_eq!(made, Some((Some(7), 1)));
        HELD.set(None);
    }
}
