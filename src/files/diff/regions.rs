//! The boxes that two tensors have in common, and how their elements are brought side by side: elements in a row are read
//! piece by piece into buffers, by all cores; any other layout is copied block by block. In neither case does it matter how
//! large the tensors are.

use super::measure::{self, Row, Tally};
use crate::bail;
use crate::files::contents::{Bytes, Contents, Elements, Entry, Held, shown};
use crate::files::progress;
use crate::ops::copy;
use crate::tensor::parallel::{self, reading, reading_both, writing};
use crate::tensor::thresholds::{COMPARED, COMPARED_AT_ONCE};
use crate::tensor::{DType, Device, Dims, Error, Layout, Memory, Result, Storage, View};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A tensor of a file.
#[derive(Clone, Copy)]
pub struct Compared<'c> {
    pub contents: &'c Contents,
    pub entry: &'c Entry,
}

/// Compares two tensors of the same shape.
///
/// # Errors
/// RuntimeError for a tensor beyond its storage and a file that changes meanwhile; KeyboardInterrupt.
pub fn compare(a: Compared, b: Compared, tolerance: f64) -> Result<Tally> {
    let mut total = Tally::default();
    each_common(a, b, |x, y, place| {
        let part = side_by_side(x, y, &Terms { tolerance, until: None })?;
        total.add(&Tally { at: place(part.at), ..part }, 0);
        Ok(true)
    })?;
    Ok(total)
}

/// Returns whether all elements are the same; looks no further than to the first piece in which one is not.
///
/// # Errors
/// As [`compare`].
pub fn are_same(a: Compared, b: Compared) -> Result<bool> {
    let differs = AtomicBool::new(false);
    each_common(a, b, |x, y, _| {
        let part = side_by_side(x, y, &Terms { tolerance: 0.0, until: Some(&differs) })?;
        let is_same = part.is_equal() && part.respelt == 0;
        differs.fetch_or(!is_same, Ordering::Relaxed);
        Ok(is_same)
    })?;
    Ok(!differs.into_inner())
}

/// The bytes of the first elements, `None` for a tensor in pieces or without data.
///
/// # Errors
/// As [`compare`].
pub fn head(tensor: Compared) -> Result<Option<Vec<u8>>> {
    const MOST: usize = 1 << 10;
    if tensor.entry.storage.is_none() {
        return Ok(None);
    }
    let Some(part) = tensor.parts()?.into_iter().next() else { return Ok(None) };
    if matches!(part.elements, Elements::Blocks(_)) {
        let storage = part.held.open()?;
        return storage.slice(0, storage.nbytes().min(MOST))?.to_vec().map(Some);
    }
    let view = part.view()?;
    let mut head = None;
    blocks(view.sizes(), MOST, &mut |first| {
        if head.is_none() {
            head = Some(copy::row_major(&block(&view, first))?.storage.to_vec()?);
        }
        Ok(false)
    })?;
    Ok(head)
}

/// Goes through the boxes that two tensors have in common until `body` gives false. `body` also gets what makes the number
/// of an element within the whole out of its number within the box.
fn each_common(
    a: Compared,
    b: Compared,
    mut body: impl FnMut(&Part, &Part, &dyn Fn(u64) -> u64) -> Result<bool>,
) -> Result<()> {
    let (ours, theirs) = (a.parts()?, b.parts()?);
    let sizes = &a.entry.layout.sizes;
    for x in &ours {
        for y in &theirs {
            let Some(common) = Common::of(x, y) else { continue };
            let place = |number| common.place(number, sizes);
            if !body(&x.within(&common)?, &y.within(&common)?, &place)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A box of a tensor that lies on one storage.
struct Part<'c> {
    held: &'c Held,
    elements: Elements,
    layout: Layout,
    conj: bool,
    neg: bool,
    /// Its first index in every dimension of the tensor.
    offsets: Dims,
}

impl<'c> Compared<'c> {
    fn parts(self) -> Result<Vec<Part<'c>>> {
        let Compared { contents, entry } = self;
        let part = |storage: usize, layout: &Layout, offsets: Dims| {
            let held = contents.storages.get(storage);
            let held = held.ok_or_else(|| Error::runtime("a tensor lies on no storage of its file"))?;
            let Entry { elements, conj, neg, .. } = *entry;
            Ok(Part { held, elements, layout: layout.clone(), conj, neg, offsets })
        };
        if let Some(storage) = entry.storage {
            if contents.extent(entry).is_none() {
                bail!(RuntimeError, "{} lies beyond the end of its storage", shown(&entry.name));
            }
            let offsets = entry.layout.sizes.iter().map(|_| 0).collect();
            return part(storage, &entry.layout, offsets).map(|part| vec![part]);
        }
        entry.pieces.iter().map(|piece| part(piece.storage, &piece.layout, piece.offsets.clone())).collect()
    }
}

/// What two boxes have in common.
struct Common {
    offsets: Dims,
    sizes: Dims,
}

impl Common {
    fn of(x: &Part, y: &Part) -> Option<Common> {
        let mut common = Common { offsets: Dims::new(), sizes: Dims::new() };
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

    /// The number of an element in the whole tensor.
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

impl<'c> Part<'c> {
    /// The box within this one.
    fn within(&self, common: &Common) -> Result<Part<'c>> {
        let mut layout = self.layout.clone();
        for ((&from, &own), &stride) in common.offsets.iter().zip(&self.offsets).zip(&self.layout.strides) {
            let step = (from - own).checked_mul(stride).and_then(|step| layout.offset.checked_add(step));
            layout.offset = step.ok_or_else(|| Error::runtime("a piece lies beyond all storages"))?;
        }
        layout.sizes = common.sizes.clone();
        Ok(Part { layout, offsets: common.offsets.clone(), ..*self })
    }

    /// The position of its first byte, where all elements lie in a row and begin with a whole unit.
    fn start(&self) -> Option<usize> {
        let first = usize::try_from(self.layout.offset).ok()?;
        let is_row = self.layout.is_contiguous() && !self.conj && !self.neg;
        measure::nbytes(self.elements, first).ok().filter(|_| is_row)
    }

    /// The box as a tensor. Blocks are taken apart, all of them.
    fn view(&self) -> Result<View> {
        let (storage, dtype) = match self.elements {
            Elements::Plain(dtype) => (self.held.open()?, dtype),
            Elements::Blocks(blocks) => {
                let packed = self.held.open()?.to_vec()?;
                let numbers = packed.len() / blocks.nbytes * blocks.count;
                let storage = Storage::zeroed(numbers.saturating_mul(size_of::<f32>()), Device::CPU)?;
                writing(&*storage.data()?, 0..numbers, |numbers: &mut [f32]| (blocks.take_apart)(&packed, numbers));
                (storage, DType::Float)
            }
        };
        let view = View { storage, layout: self.layout.clone(), dtype, conj: self.conj, neg: self.neg, form: None };
        view.check_bounds()?;
        Ok(view)
    }

    fn bytes(&self, start: usize) -> Result<Opened<'_>> {
        if let Bytes::Stored(source, place) = &self.held.bytes
            && let Some((file, first)) = source.file()
        {
            return Ok(Opened::File(file, (first as u64).saturating_add(*place as u64).saturating_add(start as u64)));
        }
        let memory = self.held.open()?.data()?;
        if start > memory.nbytes() {
            bail!(RuntimeError, "a tensor lies beyond the end of its storage");
        }
        Ok(Opened::Memory(memory, start))
    }
}

/// How a comparison goes.
struct Terms<'t> {
    tolerance: f64,
    /// Set at the first difference, after which nothing is looked at.
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

/// Where bytes are read from.
enum Opened<'f> {
    File(&'f File, u64),
    Memory(Rc<Memory>, usize),
}

/// Where bytes are read from by several threads.
#[derive(Clone, Copy)]
enum Window<'w> {
    /// A file from this position on. Reading takes neither the mapping's pages, which would count as memory of the program,
    /// nor more time than touching them.
    File(&'w File, u64),
    Slice(&'w [u8]),
}

impl<'w> Window<'w> {
    fn slice(bytes: &'w [u8], start: usize) -> Window<'w> {
        Window::Slice(bytes.get(start..).unwrap_or_default())
    }

    fn read(self, start: usize, into: &mut [u8]) -> Result<()> {
        let missing = |why: &dyn std::fmt::Display| Error::runtime(format!("a tensor's bytes cannot be read: {why}"));
        match self {
            Window::File(file, first) => {
                file.read_exact_at(into, first.saturating_add(start as u64)).map_err(|error| missing(&error))
            }
            Window::Slice(bytes) => {
                let end = start.saturating_add(into.len());
                into.copy_from_slice(bytes.get(start..end).ok_or_else(|| missing(&"the storage is too short"))?);
                Ok(())
            }
        }
    }
}

/// Compares two boxes of the same sizes.
fn side_by_side(x: &Part, y: &Part, terms: &Terms) -> Result<Tally> {
    let count = usize::try_from(x.layout.numel()).unwrap_or(usize::MAX);
    let (Some(first), Some(other)) = (x.start(), y.start()) else { return by_blocks(x, y, terms) };
    let elements = [x.elements, y.elements];
    if elements.iter().any(|&elements| measure::nbytes(elements, count).is_err()) {
        return by_blocks(x, y, terms);
    }
    let run = |windows: [Window; 2]| in_rows(windows, elements, count, terms);
    let tally = match (x.bytes(first)?, y.bytes(other)?) {
        (Opened::File(f, at), Opened::File(g, place)) => Some(run([Window::File(f, at), Window::File(g, place)])),
        (Opened::File(f, at), Opened::Memory(m, start)) => {
            reading(&m, |bytes: &[u8]| run([Window::File(f, at), Window::slice(bytes, start)]))
        }
        (Opened::Memory(m, start), Opened::File(g, place)) => {
            reading(&m, |bytes: &[u8]| run([Window::slice(bytes, start), Window::File(g, place)]))
        }
        (Opened::Memory(m, start), Opened::Memory(n, begin)) => {
            reading_both(&m, &n, |a: &[u8], b: &[u8]| run([Window::slice(a, start), Window::slice(b, begin)]))
        }
    };
    tally.unwrap_or_else(|| Ok(Tally::default()))
}

/// Compares elements that lie in rows, in tasks of many pieces.
fn in_rows(windows: [Window; 2], elements: [Elements; 2], count: usize, terms: &Terms) -> Result<Tally> {
    let task = COMPARED_AT_ONCE.max(COMPARED);
    let tallies = parallel::collect(count.div_ceil(task), count, &|k| {
        let mut total = Tally::default();
        let room = |elements| Memory::heap(measure::nbytes(elements, COMPARED)?);
        let buffers = [room(elements[0])?, room(elements[1])?];
        for start in (k * task..count.min((k + 1) * task)).step_by(COMPARED) {
            if terms.is_decided() {
                break;
            }
            let part = COMPARED.min(count - start);
            for side in 0..2 {
                let (from, length) = (measure::nbytes(elements[side], start)?, measure::nbytes(elements[side], part)?);
                writing(&buffers[side], 0..length, |bytes: &mut [u8]| windows[side].read(from, bytes))
                    .unwrap_or(Ok(()))?;
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

/// Compares elements in any layout, by copies of a block at a time.
fn by_blocks(x: &Part, y: &Part, terms: &Terms) -> Result<Tally> {
    let (a, b) = (x.view()?, y.view()?);
    let mut total = Tally::default();
    let mut start = 0;
    blocks(a.sizes(), COMPARED, &mut |part| {
        let (a, b) = (copy::row_major(&block(&a, part))?, copy::row_major(&block(&b, part))?);
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

/// Some indices of the first dimensions, each with its number, and all of the others.
type Block<'b> = &'b [(i64, i64)];

/// Goes through boxes of at most `most` elements, in the order of the elements, until `body` gives false.
fn blocks(sizes: &[i64], most: usize, body: &mut dyn FnMut(Block) -> Result<bool>) -> Result<()> {
    fn walk(
        sizes: &[i64],
        most: i64,
        fixed: &mut Vec<(i64, i64)>,
        body: &mut dyn FnMut(Block) -> Result<bool>,
    ) -> Result<bool> {
        crate::tensor::interrupt::check()?;
        let Some((&size, rest)) = sizes.get(fixed.len()..).and_then(<[i64]>::split_first) else { return body(fixed) };
        let of_each = rest.iter().fold(1i64, |all, &size| all.saturating_mul(size)).max(1);
        let at_once = (most / of_each).clamp(1, size.max(1));
        for start in (0..size).step_by(at_once as usize) {
            fixed.push((start, at_once.min(size - start)));
            let goes_on = if of_each > most { walk(sizes, most, fixed, body) } else { body(fixed) };
            fixed.pop();
            if !goes_on? {
                return Ok(false);
            }
        }
        Ok(true)
    }
    walk(sizes, i64::try_from(most).unwrap_or(i64::MAX), &mut Vec::new(), body).map(drop)
}

/// A block of a tensor.
fn block(view: &View, block: Block) -> View {
    let mut layout = view.layout.clone();
    for (dim, &(start, size)) in block.iter().enumerate() {
        layout.offset += start * layout.strides[dim];
        layout.sizes[dim] = size;
    }
    view.with_layout(layout)
}
