//! How kernels see tensors: blocks of consecutive values in a small buffer, in the type they are computed in. Loading
//! and storing know strides, lazy bits and element types; kernels know none of that, are plain loops over slices, and
//! exist once per compute type. Nothing here knows an operation.

use super::number::{Number, Stored};
use crate::bail;
use crate::tensor::iterate::{Run, walk};
use crate::tensor::memory::{ElementCell, Memory, get, set};
use crate::tensor::{Layout, Result, View};
use std::ops::Range;

/// Values per block: three buffers of 16-byte values fit a level-1 cache.
pub const BLOCK: usize = 512;

/// An operand of a pointwise loop.
pub enum Source<'a, C> {
    /// A tensor already of the loop's dtype, and its layout broadcast to the loop's sizes.
    Elements(&'a View, Layout),
    /// One value for every position.
    Value(C),
}

/// The bytes of a view and its lazy bits, ready to be read in blocks.
struct Reader<'m, S> {
    cells: &'m [ElementCell<S>],
    conj: bool,
    neg: bool,
}

impl<'m, S: Stored> Reader<'m, S> {
    fn new(view: &View, memory: &'m Memory) -> Reader<'m, S> {
        Reader { cells: memory.typed(), conj: view.conj, neg: view.neg }
    }

    fn load(&self, offset: i64, stride: i64, into: &mut [S::Compute]) {
        load(self.cells, offset, stride, into);
        lazy_bits(into, self.conj, self.neg);
    }
}

/// Reads `into.len()` elements from `offset` on, `stride` apart.
pub fn load<S: Stored>(cells: &[ElementCell<S>], offset: i64, stride: i64, into: &mut [S::Compute]) {
    let cells = usize::try_from(offset).ok().and_then(|start| cells.get(start..)).unwrap_or_default();
    match usize::try_from(stride) {
        Ok(1) => S::widen_run(cells, into),
        Ok(0) => into.fill(cells.first().map(get).unwrap_or_default().widen()),
        Ok(step) => {
            for (value, cell) in into.iter_mut().zip(cells.iter().step_by(step)) {
                *value = get(cell).widen();
            }
        }
        // Tensors have no negative strides.
        Err(_) => {}
    }
}

/// Writes the values from `offset` on, `stride` apart.
fn store<S: Stored>(cells: &[ElementCell<S>], offset: i64, stride: i64, values: &[S::Compute]) {
    let cells = usize::try_from(offset).ok().and_then(|start| cells.get(start..)).unwrap_or_default();
    match usize::try_from(stride) {
        Ok(1) => S::narrow_run(values, cells),
        Ok(step) if step > 0 => {
            for (cell, &value) in cells.iter().step_by(step).zip(values) {
                set(cell, S::narrow(value));
            }
        }
        _ => {
            if let (Some(cell), Some(&value)) = (cells.first(), values.last()) {
                set(cell, S::narrow(value));
            }
        }
    }
}

fn lazy_bits<C: Number>(values: &mut [C], conj: bool, neg: bool) {
    if conj {
        values.iter_mut().for_each(|v| *v = v.conjugate());
    }
    if neg {
        values.iter_mut().for_each(|v| *v = v.negate());
    }
}

/// A block of a run, and how PyTorch's kernels reach its elements: whole vectors at a time, or, at the end of a run and
/// where elements are apart, one by one. A few operations round differently in the two.
struct Block {
    range: Range<usize>,
    tail: bool,
}

/// How a run is cut into blocks.
#[derive(Clone, Copy)]
struct Cut {
    length: usize,
    /// Elements that go through vectors; a multiple of what fits into them.
    vectors: usize,
    /// Elements per block where what has been written may be read again: PyTorch's loops then show in the result, one
    /// step of vectors at a time, and the rest one by one.
    overlap: Option<usize>,
}

impl Cut {
    /// `step` elements are loaded at a time where all operands are contiguous, but for at most one that repeats a value.
    fn new<const N: usize>(run: &Run<N>, step: usize, overlap: bool) -> Cut {
        let overlap = overlap.then_some(step.max(1));
        let [out, inputs @ ..] = run.stride.as_slice() else { return Cut { length: 0, vectors: 0, overlap } };
        let repeated = inputs.iter().filter(|&&s| s == 0).count();
        let contiguous = *out == 1 && repeated <= 1 && inputs.iter().all(|&s| s == 0 || s == 1);
        let vectors = if contiguous { run.length - run.length % step.max(1) } else { 0 };
        Cut { length: run.length, vectors, overlap }
    }

    fn blocks(self) -> impl Iterator<Item = Block> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let tail = start >= self.vectors;
            let left = if tail { self.length - start } else { self.vectors - start };
            let size = match self.overlap {
                None => left.min(BLOCK),
                Some(whole) if !tail => whole,
                Some(_) => left.min(1),
            };
            let range = start..start + size;
            start = range.end;
            (size > 0).then_some(Block { range, tail })
        })
    }
}

/// [`walk`] for loops that exist once per element type: behind a `dyn`, so that the walk itself exists once.
pub fn walk_all<const N: usize>(layouts: [&Layout; N], body: &mut dyn FnMut(Run<N>) -> Result<()>) -> Result<()> {
    walk(layouts, body)
}

/// Could writing `out` change what is still to be read of `input`? The same elements in the same order are no danger.
pub fn overlaps(out: &View, input: &View) -> bool {
    out.storage == input.storage && !(out.layout == input.layout && out.dtype == input.dtype)
}

/// What a unary kernel does to a block: operand, results, and whether they are reached one by one.
pub type UnaryBlock<'k, C, R> = &'k dyn Fn(&[C], &mut [R], bool);

/// `out[i] = kernel(a[i])` in blocks; `a` has the layout given, of `out`'s sizes. Vectors take `step` bytes at a time.
pub fn unary<S: Stored, R: Stored>(
    out: &View,
    a: &View,
    layout: &Layout,
    step: usize,
    kernel: UnaryBlock<S::Compute, R::Compute>,
) -> Result<()> {
    let (memory, a_memory) = (out.memory()?, a.memory()?);
    let cells = memory.typed::<R>();
    let reader = Reader::<S>::new(a, &a_memory);
    let overlap = overlaps(out, a);
    let mut values = [S::Compute::default(); BLOCK];
    let mut results = [R::Compute::default(); BLOCK];
    walk_all([&out.layout, layout], &mut |run| {
        for Block { range: block, tail } in Cut::new(&run, step / size_of::<S>(), overlap).blocks() {
            let at = |k: usize| run.offset[k] + block.start as i64 * run.stride[k];
            let values = &mut values[..block.len()];
            let results = &mut results[..block.len()];
            reader.load(at(1), run.stride[1], values);
            kernel(values, results, tail);
            lazy_bits(results, out.conj, out.neg);
            store(cells, at(0), run.stride[0], results);
        }
        Ok(())
    })
}

/// What a binary kernel does to a block: first operand, second operand, results, and whether they are reached one by
/// one.
pub type BinaryBlock<'k, C, R> = &'k dyn Fn(&[C], &[C], &mut [R], bool) -> Result<()>;

/// `out[i] = kernel(a[i], b[i])` in blocks. Vectors take `step` bytes at a time.
pub fn binary<S: Stored, R: Stored>(
    out: &View,
    a: Source<S::Compute>,
    b: Source<S::Compute>,
    step: usize,
    kernel: BinaryBlock<S::Compute, R::Compute>,
) -> Result<()> {
    let memory = out.memory()?;
    let cells = memory.typed::<R>();
    let mut buffers = [[S::Compute::default(); BLOCK]; 2];
    let mut results = [R::Compute::default(); BLOCK];
    let mut layouts = [out.layout.broadcast_to(out.sizes()), out.layout.broadcast_to(out.sizes())];
    let (mut memories, mut views) = ([None, None], [None, None]);
    let mut overlap = false;
    for (k, source) in [a, b].into_iter().enumerate() {
        match source {
            Source::Value(value) => {
                buffers[k].fill(value);
                layouts[k].strides.fill(0);
            }
            Source::Elements(view, layout) => {
                memories[k] = Some(view.memory()?);
                views[k] = Some(view);
                layouts[k] = layout;
                overlap |= overlaps(out, view);
            }
        }
    }
    let readers: [Option<Reader<S>>; 2] = [0, 1].map(|k| Some(Reader::new(views[k]?, memories[k].as_deref()?)));
    let [first, second] = &mut buffers;
    walk_all([&out.layout, &layouts[0], &layouts[1]], &mut |run| {
        for Block { range: block, tail } in Cut::new(&run, step / size_of::<S>(), overlap).blocks() {
            let at = |k: usize| run.offset[k] + block.start as i64 * run.stride[k];
            let n = block.len();
            if let Some(reader) = &readers[0] {
                reader.load(at(1), run.stride[1], &mut first[..n]);
            }
            if let Some(reader) = &readers[1] {
                reader.load(at(2), run.stride[2], &mut second[..n]);
            }
            let results = &mut results[..n];
            kernel(&first[..n], &second[..n], results, tail)?;
            lazy_bits(results, out.conj, out.neg);
            store(cells, at(0), run.stride[0], results);
        }
        Ok(())
    })
}

/// Copies elements as they are, without looking at them; both views have the same dtype and lazy bits.
pub fn transfer(out: &View, a: &View, layout: &Layout) -> Result<()> {
    match out.dtype.itemsize() {
        1 => transfer_as::<u8>(out, a, layout),
        2 => transfer_as::<u16>(out, a, layout),
        4 => transfer_as::<u32>(out, a, layout),
        8 => transfer_as::<u64>(out, a, layout),
        _ => transfer_as::<num_complex::Complex<f64>>(out, a, layout),
    }
}

fn transfer_as<T: Stored>(out: &View, a: &View, layout: &Layout) -> Result<()> {
    let (memory, a_memory) = (out.memory()?, a.memory()?);
    let (to, from) = (memory.typed::<T>(), a_memory.typed::<T>());
    let overlap = overlaps(out, a);
    let mut values = [T::Compute::default(); BLOCK];
    walk_all([&out.layout, layout], &mut |run| {
        if !overlap && run.stride == [1, 1] {
            let part = |cells: &'_ [ElementCell<T>], offset: i64| -> Option<Range<usize>> {
                let start = usize::try_from(offset).ok()?;
                let end = start.checked_add(run.length)?;
                (end <= cells.len()).then_some(start..end)
            };
            let (Some(d), Some(s)) = (part(to, run.offset[0]), part(from, run.offset[1])) else {
                bail!(RuntimeError, "copy beyond the end of a storage");
            };
            for (d, s) in to[d].iter().zip(&from[s]) {
                d.set(s.get());
            }
            return Ok(());
        }
        for Block { range: block, .. } in Cut::new(&run, 64 / size_of::<T>(), overlap).blocks() {
            let at = |k: usize| run.offset[k] + block.start as i64 * run.stride[k];
            let values = &mut values[..block.len()];
            load(from, at(1), run.stride[1], values);
            store(to, at(0), run.stride[0], values);
        }
        Ok(())
    })
}

/// Refuses to write a view that shows one address at several indices.
pub fn check_no_internal_overlap(out: &View) -> Result<()> {
    if out.layout.has_internal_overlap() && !out.layout.is_non_overlapping_and_dense() {
        bail!(
            RuntimeError,
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. \
             Please clone() the tensor before performing the operation."
        );
    }
    Ok(())
}

/// Refuses dense operands that share some bytes but not element for element. (Whether views with gaps meet is not
/// examined, as in PyTorch.)
pub fn check_no_partial_overlap(out: &View, input: &View) -> Result<()> {
    let dense = |v: &View| v.layout.is_non_overlapping_and_dense();
    if out.storage != input.storage || out.is_same(input) || !dense(out) || !dense(input) {
        return Ok(());
    }
    let bytes = |v: &View| {
        let (start, itemsize) = (v.layout.offset.saturating_mul(v.dtype.itemsize() as i64), v.dtype.itemsize() as i64);
        start..start.saturating_add(v.numel().saturating_mul(itemsize))
    };
    let (a, b) = (bytes(out), bytes(input));
    let full = a == b && out.strides() == input.strides();
    if !full && !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end {
        bail!(
            RuntimeError,
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single \
             memory location. Please clone() the tensor before performing the operation."
        );
    }
    Ok(())
}
