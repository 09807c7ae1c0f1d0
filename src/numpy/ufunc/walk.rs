//! The loop of a reduction: axes from the innermost to the outermost, and the folding of lines and buffers along them.

use super::fold::{Line, Reduced, Reducer};
use crate::array::Array;
use crate::strided::Strided;
use smallvec::SmallVec;
use tensor::{Dims, Error, Result, interrupt, limits};

/// One axis of the loop: its size, and the distances in elements between neighbours in the input, the output and the
/// mask.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: i64,
    input: i64,
    out: i64,
    mask: i64,
}

/// The loop: axes from the innermost to the outermost, and the first element of each operand.
pub(super) struct Walk {
    axes: SmallVec<[Axis; 4]>,
    input: i64,
    out: i64,
    mask: i64,
}

/// The elements of NumPy's buffer, which are summed at a time.
const BUFFERED: i64 = 8192;

/// How NumPy fills its buffer: with the first `axes` axes as a whole, and `count` elements of the next.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    axes: usize,
    count: i64,
}

impl Walk {
    /// Returns how a sum is divided if elements of several axes, or converted ones, go through a buffer.
    pub(super) fn chunk(&self, is_cast: bool) -> Option<Chunk> {
        let reduced = self.axes.iter().take_while(|axis| axis.out == 0).count();
        if reduced == 0 || reduced == 1 && !is_cast {
            return None;
        }
        let first = self.axes.first()?.size;
        if first > BUFFERED {
            return is_cast.then_some(Chunk { axes: 0, count: BUFFERED });
        }
        let (mut whole, mut axes) = (1, 0);
        while let Some(axis) = self.axes.get(axes).filter(|axis| axes < reduced && whole * axis.size <= BUFFERED) {
            whole *= axis.size;
            axes += 1;
        }
        let next = self.axes.get(axes).filter(|_| axes < reduced);
        Some(Chunk { axes, count: next.map_or(1, |axis| (BUFFERED / whole).clamp(1, axis.size)) })
    }
}

/// Joins axes that follow each other without gaps in every operand. Of a copy, the axes stay apart that are apart in the
/// original: NumPy converts while it iterates.
pub(super) fn plan(
    original: &Strided,
    input: &Array,
    result: &Array,
    mask: Option<&[i64]>,
    order: &[usize],
) -> Result<Walk> {
    let unaligned = || Error::runtime("an operand of a reduction is not aligned");
    let from = input.signed().ok_or_else(unaligned)?;
    let to = result.signed().ok_or_else(unaligned)?;
    let mut walk = Walk { axes: SmallVec::new(), input: from.offset, out: to.offset, mask: 0 };
    // The strides of the innermost axis joined last, in the original and the mask.
    let mut beside = (0, 0);
    let mut bits = 1;
    for &d in order.iter().rev() {
        let size = from.sizes[d];
        if size == 1 {
            continue;
        }
        let out = if to.sizes[d] == 1 { 0 } else { to.strides[d] };
        let axis = Axis { size, input: from.strides[d], out, mask: if mask.is_some() { bits } else { 0 } };
        bits *= size;
        let own = (original.strides[d], mask.and_then(|mask| mask.get(d)).copied().unwrap_or(0));
        match walk.axes.last_mut() {
            Some(inner)
                if own.0 == beside.0 * inner.size
                    && own.1 == beside.1 * inner.size
                    && axis.input == inner.input * inner.size
                    && axis.out == inner.out * inner.size =>
            {
                inner.size *= axis.size;
            }
            _ => {
                walk.axes.push(axis);
                beside = own;
            }
        }
    }
    Ok(walk)
}

/// Elements of a row that are combined at a time.
const ROW: usize = 512;

/// Folds all elements into the output.
pub(super) fn fold_all<T: Reduced + Send + Sync>(
    walk: &Walk,
    items: &[T],
    out: &mut [T],
    mask: Option<&[bool]>,
    reducer: &Reducer<T>,
) -> Result<()> {
    let one = Axis { size: 1, input: 0, out: 0, mask: 0 };
    let (inner, outer) = walk.axes.split_first().unwrap_or((&one, &[]));
    let mut index: Dims = Dims::from_elem(0, outer.len());
    let (mut at, mut place, mut choice) = (walk.input, walk.out, walk.mask);
    let mut visited = 0usize;
    loop {
        visited += inner.size as usize;
        if visited >= interrupt::STRIDE {
            visited = 0;
            interrupt::check()?;
        }
        let line = Line { items, first: at, step: inner.input, count: inner.size as usize };
        match mask {
            None => inner_loop(line, place, inner.out, out, reducer)?,
            Some(mask) => {
                // Runs of chosen elements, each a loop of its own.
                let chosen = |i: usize| mask.get((choice + inner.mask * i as i64) as usize).copied().unwrap_or(false);
                let mut start = 0;
                while start < line.count {
                    let skipped = (start..line.count).take_while(|&i| !chosen(i)).count();
                    start += skipped;
                    let run = (start..line.count).take_while(|&i| chosen(i)).count();
                    if run > 0 {
                        let part = line.part(start, run);
                        inner_loop(part, place + inner.out * start as i64, inner.out, out, reducer)?;
                    }
                    start += run;
                }
            }
        }
        if !next(outer, &mut index, &mut at, &mut place, &mut choice) {
            return Ok(());
        }
    }
}

/// Moves to the next place along some axes, the innermost first. Returns whether there is one.
fn next(axes: &[Axis], index: &mut Dims, at: &mut i64, place: &mut i64, choice: &mut i64) -> bool {
    for (axis, index) in axes.iter().zip(index) {
        *index += 1;
        *at += axis.input;
        *place += axis.out;
        *choice += axis.mask;
        if *index < axis.size {
            return true;
        }
        *index = 0;
        *at -= axis.input * axis.size;
        *place -= axis.out * axis.size;
        *choice -= axis.mask * axis.size;
    }
    false
}

/// Sums elements by buffers: each sum in pairs covers all elements of a buffer, or each run of chosen ones.
pub(super) fn sum_chunks<T: Reduced + Send + Sync>(
    walk: &Walk,
    chunk: Chunk,
    items: &[T],
    out: &mut [T],
    mask: Option<&[bool]>,
    reducer: &Reducer<T>,
) -> Result<()> {
    let one = Axis { size: 1, input: 0, out: 0, mask: 0 };
    let (inner, outer) = walk.axes.split_at_checked(chunk.axes).unwrap_or((&[], &[]));
    let (along, outer) = outer.split_first().unwrap_or((&one, &[]));
    // A next axis that is not reduced is one of the outer ones.
    let steps = if along.out == 0 { chunk.count } else { 1 };
    let mut buffer: Vec<T> = limits::list(BUFFERED as usize)?;
    let mut index = Dims::from_elem(0, outer.len());
    let (mut at, mut place, mut choice) = (walk.input, walk.out, walk.mask);
    loop {
        let mut done = 0;
        while done < along.size {
            interrupt::check()?;
            let result = place + along.out * done;
            let fold = |buffer: &mut Vec<T>, out: &mut [T]| {
                let line = Line { items: &buffer[..], first: 0, step: 1, count: buffer.len() };
                if let Some(result) = out.get_mut(result as usize).filter(|_| !buffer.is_empty()) {
                    *result = (reducer.fold)(*result, line);
                }
                buffer.clear();
            };
            for step in done..(done + steps).min(along.size) {
                let mut within = Dims::from_elem(0, inner.len());
                let (mut at, mut choice) = (at + along.input * step, choice + along.mask * step);
                loop {
                    let is_chosen = mask.is_none_or(|mask| mask.get(choice as usize).copied().unwrap_or(false));
                    match items.get(at as usize) {
                        Some(&item) if is_chosen => buffer.push(item),
                        _ => fold(&mut buffer, out),
                    }
                    if !next(inner, &mut within, &mut at, &mut 0, &mut choice) {
                        break;
                    }
                }
            }
            fold(&mut buffer, out);
            done += steps;
        }
        if !next(outer, &mut index, &mut at, &mut place, &mut choice) {
            return Ok(());
        }
    }
}

/// Folds a line into an accumulator. A repeated element may make the line longer than any memory, so Ctrl-C is heard
/// between its parts.
fn fold_line<T: Reduced + Send + Sync>(start: T, line: Line<T>, reducer: &Reducer<T>) -> Result<T> {
    /// The most elements that are combined at once.
    const MOST: usize = 1 << 26;
    let mut result = start;
    for first in (0..line.count).step_by(MOST) {
        if first > 0 {
            interrupt::check()?;
        }
        result = (reducer.fold)(result, line.part(first, MOST.min(line.count - first)));
    }
    Ok(result)
}

/// Folds a line into one element of the output, or into a line of elements.
fn inner_loop<T: Reduced + Send + Sync>(
    line: Line<T>,
    place: i64,
    step: i64,
    out: &mut [T],
    reducer: &Reducer<T>,
) -> Result<()> {
    if step == 0 {
        if let Some(result) = out.get_mut(place as usize) {
            *result = fold_line(*result, line, reducer)?;
        }
        return Ok(());
    }
    let whole = out.get_mut(place as usize..).filter(|_| step == 1).and_then(|out| out.get_mut(..line.count));
    if let (Some(out), Some(row)) = (whole, line.adjacent()) {
        let mut before = [T::default(); ROW];
        for (out, row) in out.chunks_mut(ROW).zip(row.chunks(ROW)) {
            let before = &mut before[..row.len()];
            before.copy_from_slice(out);
            (reducer.slices)(before, row, out);
        }
        return Ok(());
    }
    let (mut before, mut beside, mut after) = ([T::default(); ROW], [T::default(); ROW], [T::default(); ROW]);
    for start in (0..line.count).step_by(ROW) {
        let count = ROW.min(line.count - start);
        let index = |i: usize| (place + step * (start + i) as i64) as usize;
        for i in 0..count {
            before[i] = out.get(index(i)).copied().unwrap_or_default();
            beside[i] = line.at(start + i);
        }
        (reducer.slices)(&before[..count], &beside[..count], &mut after[..count]);
        for (i, &value) in after[..count].iter().enumerate() {
            if let Some(result) = out.get_mut(index(i)) {
                *result = value;
            }
        }
    }
    Ok(())
}
