//! Compares the boxes that two tensors have in common. Consecutive elements are read piece by piece into buffers, on
//! all cores; other layouts are copied block by block. The size of the tensors does not matter in either case.

use super::measure::{self, Row, Tally};
use crate::contents::{Contents, Elements, Entry};
use crate::parts::{ByteSource, Part, Window, blocks, truncated};
use crate::progress;
use std::sync::atomic::{AtomicBool, Ordering};
use tensor::ops::copy;
use tensor::parallel::{self, reading, reading_both, writing};
use tensor::thresholds::{COMPARED, COMPARED_AT_ONCE};
use tensor::{Dims, Memory, Result};

/// A tensor of a file.
#[derive(Clone, Copy)]
pub(super) struct Compared<'c> {
    pub contents: &'c Contents,
    pub entry: &'c Entry,
}

impl Compared<'_> {
    fn parts(self) -> Result<Vec<Part>> {
        Part::all(self.contents, self.entry)
    }
}

/// Compares two tensors of the same shape.
///
/// # Errors
/// Fails with RuntimeError for a tensor that extends beyond its storage and for a file that changes meanwhile, and with
/// KeyboardInterrupt.
pub(super) fn compare(a: Compared, b: Compared, tolerance: f64) -> Result<Tally> {
    let mut total = Tally::default();
    each_common(a, b, |x, y, place| {
        let part = side_by_side(x, y, &Terms { tolerance, until: None })?;
        total.add(&Tally { at: place(part.at), ..part }, 0);
        Ok(true)
    })?;
    Ok(total)
}

/// Returns whether all elements are the same. Stops at the first piece with a difference.
///
/// # Errors
/// The errors of [`compare`].
pub(crate) fn are_same(a: Compared, b: Compared) -> Result<bool> {
    let differs = AtomicBool::new(false);
    each_common(a, b, |x, y, _| {
        let part = side_by_side(x, y, &Terms { tolerance: 0.0, until: Some(&differs) })?;
        let is_same = part.is_equal() && part.respelt == 0;
        differs.fetch_or(!is_same, Ordering::Relaxed);
        Ok(is_same)
    })?;
    Ok(!differs.into_inner())
}

/// Returns the Euclidean norm of a tensor, without its infinities and NaN.
///
/// # Errors
/// The errors of [`compare`].
pub(super) fn norm(tensor: Compared) -> Result<f64> {
    let mut squares = 0.0;
    for part in tensor.parts()? {
        part.pieces(COMPARED, &mut |piece| {
            let rows = copy::row_major(&piece)?;
            let memory = rows.storage.data()?;
            let row = Row { memory: &memory, elements: Elements::Plain(rows.dtype) };
            squares += measure::squares(row, usize::try_from(rows.numel()).unwrap_or(0))?;
            Ok(true)
        })?;
    }
    Ok(squares.sqrt())
}

/// Returns the bytes of the first elements. `None` for a tensor in pieces or without data.
///
/// # Errors
/// The errors of [`compare`].
pub(super) fn head(tensor: Compared) -> Result<Option<Vec<u8>>> {
    const MOST: usize = 1 << 10;
    if tensor.entry.storage.is_none() {
        return Ok(None);
    }
    let Some(part) = tensor.parts()?.into_iter().next() else { return Ok(None) };
    let mut head = None;
    part.pieces(MOST, &mut |first| {
        head = Some(copy::row_major(&first)?.storage.to_vec()?);
        Ok(false)
    })?;
    Ok(head)
}

/// Calls `body` with each pair of overlapping boxes until it returns false. The third argument maps an element's
/// position in the box to its position in the whole tensor.
fn each_common(
    a: Compared,
    b: Compared,
    mut body: impl FnMut(&Part, &Part, &dyn Fn(u64) -> u64) -> Result<bool>,
) -> Result<()> {
    let (ours, theirs) = (a.parts()?, b.parts()?);
    let sizes = &a.entry.layout.sizes;
    for x in &ours {
        for y in &theirs {
            let Some(common) = Intersection::of(x, y) else { continue };
            let place = |number| common.place(number, sizes);
            if !body(&x.within(&common.offsets, &common.sizes)?, &y.within(&common.offsets, &common.sizes)?, &place)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The intersection of two boxes.
struct Intersection {
    offsets: Dims,
    sizes: Dims,
}

impl Intersection {
    fn of(x: &Part, y: &Part) -> Option<Intersection> {
        let mut common = Intersection { offsets: Dims::new(), sizes: Dims::new() };
        let ends = |part: &Part, dim: usize| {
            let (offset, size) = (part.offsets.get(dim)?, part.layout.sizes.get(dim)?);
            Some((*offset, offset.saturating_add(*size)))
        };
        for dim in 0..x.offsets.len() {
            let ((from, to), (other_from, other_to)) = (ends(x, dim)?, ends(y, dim)?);
            let (from, to) = (from.max(other_from), to.min(other_to));
            if from >= to {
                return None;
            }
            common.offsets.push(from);
            common.sizes.push(to - from);
        }
        Some(common)
    }

    /// Maps an element's position in the box to its position in the whole tensor.
    fn place(&self, mut number: u64, whole: &[i64]) -> u64 {
        let (mut place, mut step) = (0u64, 1u64);
        for ((&offset, &size), &all) in self.offsets.iter().zip(&self.sizes).zip(whole).rev() {
            let size = (size as u64).max(1);
            place = place.wrapping_add((offset as u64 + number % size).wrapping_mul(step));
            number /= size;
            step = step.wrapping_mul(all as u64);
        }
        place
    }
}

/// The conditions of a comparison.
struct Terms<'t> {
    tolerance: f64,
    /// Set at the first difference, which ends the comparison.
    until: Option<&'t AtomicBool>,
}

impl Terms<'_> {
    fn is_decided(&self) -> bool {
        self.until.is_some_and(|differs| differs.load(Ordering::Relaxed))
    }

    fn note(&self, tally: Tally) -> Tally {
        if let Some(differs) = self.until {
            differs.fetch_or(!tally.is_equal() || tally.respelt > 0, Ordering::Relaxed);
        }
        tally
    }
}

/// Compares two boxes of the same sizes.
fn side_by_side(x: &Part, y: &Part, terms: &Terms) -> Result<Tally> {
    let count = usize::try_from(x.layout.numel()).unwrap_or(usize::MAX);
    let (Some(first), Some(other)) = (x.start(), y.start()) else { return by_blocks(x, y, terms) };
    let elements = [x.elements, y.elements];
    let run = |windows: [Window; 2]| in_rows(windows, elements, count, terms);
    let tally = match (x.open(first)?, y.open(other)?) {
        (ByteSource::File(f, at), ByteSource::File(g, place)) => {
            Some(run([Window::File(f, at), Window::File(g, place)]))
        }
        (ByteSource::File(f, at), ByteSource::Memory(m, start)) => {
            reading(&m, |bytes: &[u8]| run([Window::File(f, at), Window::slice(bytes, start)]))
        }
        (ByteSource::Memory(m, start), ByteSource::File(g, place)) => {
            reading(&m, |bytes: &[u8]| run([Window::slice(bytes, start), Window::File(g, place)]))
        }
        (ByteSource::Memory(m, start), ByteSource::Memory(n, begin)) => {
            reading_both(&m, &n, |a: &[u8], b: &[u8]| run([Window::slice(a, start), Window::slice(b, begin)]))
        }
    };
    tally.ok_or_else(truncated)?
}

/// Compares consecutive elements, in tasks of many pieces.
fn in_rows(windows: [Window; 2], elements: [Elements; 2], count: usize, terms: &Terms) -> Result<Tally> {
    let task = COMPARED_AT_ONCE;
    let tallies = parallel::collect(count.div_ceil(task), count, &|k| {
        let mut total = Tally::default();
        let room = |elements: Elements| Memory::heap(elements.nbytes(COMPARED.min(count))?);
        let buffers = [room(elements[0])?, room(elements[1])?];
        for start in (k * task..count.min((k + 1) * task)).step_by(COMPARED) {
            if terms.is_decided() {
                break;
            }
            let part = COMPARED.min(count - start);
            for side in 0..2 {
                let (from, length) = (elements[side].nbytes(start)?, elements[side].nbytes(part)?);
                let read = writing(&buffers[side], 0..length, |bytes: &mut [u8]| windows[side].read(from, bytes));
                read.ok_or_else(truncated)??;
                if side == 0 {
                    progress::advance(length as u64);
                }
            }
            let [a, b] = [0, 1].map(|side| Row { memory: &buffers[side], elements: elements[side] });
            total.add(&terms.note(measure::compare(a, b, part, terms.tolerance)?), (start - k * task) as u64);
        }
        Ok(total)
    })?;
    let mut total = Tally::default();
    for (k, part) in tallies.iter().enumerate() {
        total.add(part, (k * task) as u64);
    }
    Ok(total)
}

/// Compares elements in any layout, by copying one block at a time.
fn by_blocks(x: &Part, y: &Part, terms: &Terms) -> Result<Tally> {
    let (a, b) = (x.reader()?, y.reader()?);
    let mut total = Tally::default();
    let mut start = 0;
    blocks(&x.layout.sizes, COMPARED, &mut |part| {
        let (a, b) = (copy::row_major(&a.block(part)?)?, copy::row_major(&b.block(part)?)?);
        let count = a.numel() as usize;
        let (memory, other) = (a.storage.data()?, b.storage.data()?);
        let a = Row { memory: &memory, elements: Elements::Plain(a.dtype) };
        let b = Row { memory: &other, elements: Elements::Plain(b.dtype) };
        progress::advance(memory.nbytes() as u64);
        total.add(&terms.note(measure::compare(a, b, count, terms.tolerance)?), start);
        start += count as u64;
        Ok(!terms.is_decided())
    })?;
    Ok(total)
}
