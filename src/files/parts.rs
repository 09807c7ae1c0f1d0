//! Boxes of tensors on a storage of a file, and their elements in order. Consecutive elements are read piece by piece;
//! other layouts are copied block by block. Thus the size of the tensors does not matter.

use super::contents::{Bytes, Contents, Elements, Entry, shown};
use super::source::Source;
use std::rc::Rc;
use tensor::bail;
use tensor::parallel::writing;
use tensor::system::{File, OpenFile as _};
use tensor::thresholds::RUN;
use tensor::{DType, Device, Dims, Error, Layout, Memory, Result, Storage, View, interrupt};

/// A box of a tensor.
#[derive(Clone)]
pub(crate) struct Part {
    bytes: Bytes,
    /// Number of bytes of its storage.
    held: usize,
    pub elements: Elements,
    pub layout: Layout,
    conj: bool,
    neg: bool,
    /// Its first index in every dimension of the tensor.
    pub offsets: Dims,
}

impl Part {
    /// Returns the boxes of a tensor: a single one, unless several processes wrote it; none for a tensor without data.
    ///
    /// # Errors
    /// Fails with RuntimeError for a tensor that extends beyond its storage.
    pub(crate) fn all(contents: &Contents, entry: &Entry) -> Result<Vec<Part>> {
        let part = |storage: usize, layout: &Layout, offsets: Dims| {
            let held = contents.storages.get(storage);
            let held = held.ok_or_else(|| Error::runtime("a tensor has no storage in its file"))?;
            let Entry { elements, conj, neg, .. } = *entry;
            // A quantized tensor is the integers that it stores.
            let elements = match elements {
                Elements::Plain(dtype) => Elements::Plain(dtype.stored_integers()),
                blocks => blocks,
            };
            let (bytes, held) = (held.bytes.clone(), usize::try_from(held.nbytes).unwrap_or(usize::MAX));
            Ok(Part { bytes, held, elements, layout: layout.clone(), conj, neg, offsets })
        };
        if let Some(storage) = entry.storage {
            if contents.extent(entry).is_none() {
                bail!(RuntimeError, "{} lies beyond the end of its storage", shown(&entry.name));
            }
            let offsets = entry.layout.sizes.iter().map(|_| 0).collect();
            return part(storage, &entry.layout, offsets).map(|part| vec![part]);
        }
        if contents.extents_of_pieces(entry).iter().any(|(_, extent)| extent.is_none()) {
            bail!(RuntimeError, "a piece of {} lies beyond the end of its storage", shown(&entry.name));
        }
        entry.pieces.iter().map(|piece| part(piece.storage, &piece.layout, piece.offsets.clone())).collect()
    }

    /// Returns all whole elements of a storage, in order. The storage must be unchanged since its file was opened.
    ///
    /// # Errors
    /// Fails with RuntimeError for a storage without data.
    pub(crate) fn of_storage(storage: &Storage, dtype: DType) -> Result<Part> {
        let held = storage.nbytes();
        Ok(Part {
            bytes: Bytes::Stored(Source::of_memory(&storage.data()?, 0)?, 0),
            held,
            elements: Elements::Plain(dtype),
            layout: Layout::contiguous(&[(held / dtype.itemsize()) as i64]),
            conj: false,
            neg: false,
            offsets: [0].into_iter().collect(),
        })
    }

    /// Returns the elements of a dense tensor. Its storage must be unchanged since its file was opened.
    ///
    /// # Errors
    /// Fails with RuntimeError for a storage without data.
    pub(crate) fn of_view(view: &View) -> Result<Part> {
        let whole = Part::of_storage(&view.storage, view.dtype)?;
        let (layout, conj, neg) = (view.layout.clone(), view.conj, view.neg);
        let offsets = layout.sizes.iter().map(|_| 0).collect();
        Ok(Part { layout, conj, neg, offsets, ..whole })
    }

    /// Returns the first bytes of the storage.
    pub(crate) fn of_bytes(&self, nbytes: i64) -> Part {
        let (elements, layout) = (Elements::Plain(DType::Byte), Layout::contiguous(&[nbytes]));
        Part { elements, layout, offsets: [0].into_iter().collect(), ..self.clone() }
    }

    /// Returns the box inside this one that begins at an index of the tensor and has these sizes.
    ///
    /// # Errors
    /// Fails with RuntimeError for a box beyond this one.
    pub(crate) fn within(&self, offsets: &Dims, sizes: &Dims) -> Result<Part> {
        let mut layout = self.layout.clone();
        for ((&from, &own), &stride) in offsets.iter().zip(&self.offsets).zip(&self.layout.strides) {
            let step = (from - own).checked_mul(stride).and_then(|step| layout.offset.checked_add(step));
            layout.offset = step.ok_or_else(|| Error::runtime("a piece lies beyond all storages"))?;
        }
        layout.sizes = sizes.clone();
        Ok(Part { layout, offsets: offsets.clone(), ..self.clone() })
    }

    /// Returns the byte offset of the first element in the storage. `None` unless the elements are consecutive and fill
    /// whole units.
    pub(crate) fn start(&self) -> Option<usize> {
        let first = usize::try_from(self.layout.offset).ok()?;
        let count = usize::try_from(self.layout.numel()).ok()?;
        let is_row = self.layout.is_contiguous() && !self.conj && !self.neg && self.elements.nbytes(count).is_ok();
        self.elements.nbytes(first).ok().filter(|_| is_row)
    }

    /// Returns the box as a tensor, on the file if possible. All of its blocks are dequantized.
    ///
    /// # Errors
    /// Fails with RuntimeError for a box beyond its storage, or if the bytes are unavailable.
    pub(crate) fn view(&self) -> Result<View> {
        let storage = self.bytes.open(self.held)?;
        let (storage, dtype) = match self.elements {
            Elements::Plain(dtype) => (storage, dtype),
            Elements::Blocks(_) => (self.elements.dequantize(&storage)?, DType::Float),
        };
        let view = View { storage, layout: self.layout.clone(), dtype, conj: self.conj, neg: self.neg, form: None };
        view.check_bounds()?;
        Ok(view)
    }

    /// Opens the bytes for reading, from offset `start` of the storage on.
    ///
    /// # Errors
    /// Fails with RuntimeError if the bytes are unavailable.
    pub(crate) fn open(&self, start: usize) -> Result<ByteSource<'_>> {
        if let Bytes::Stored(source, place) = &self.bytes
            && let Some((file, first)) = source.file()
        {
            return Ok(ByteSource::File(
                file,
                (first as u64).saturating_add(*place as u64).saturating_add(start as u64),
            ));
        }
        let memory = self.bytes.open(self.held)?.data()?;
        if start > memory.nbytes() {
            bail!(RuntimeError, "a tensor lies beyond the end of its storage");
        }
        Ok(ByteSource::Memory(memory, start))
    }

    /// Returns a reader for boxes inside this one.
    ///
    /// # Errors
    /// The errors of [`Part::view`].
    pub(crate) fn reader(&self) -> Result<Reader<'_>> {
        if let Elements::Plain(dtype) = self.elements
            && let Some((run, dims)) = run_of(&self.layout)
            && run.saturating_mul(dtype.itemsize()) >= RUN
            && let ByteSource::File(file, first) = self.open(0)?
        {
            let window = Window::File(file, first);
            return Ok(Reader { part: self, access: PartSource::Runs { window, dtype, dims } });
        }
        Ok(Reader { part: self, access: PartSource::View(self.view()?) })
    }

    /// Calls `body` with the elements in order, at most `most` at a time, until it returns false.
    ///
    /// # Errors
    /// The errors of [`Part::view`], the errors of `body`, and KeyboardInterrupt.
    pub(crate) fn pieces(&self, most: usize, body: &mut dyn FnMut(View) -> Result<bool>) -> Result<()> {
        if self.layout.numel() == 0 {
            return Ok(());
        }
        let Some(start) = self.start() else {
            let reader = self.reader()?;
            return blocks(&self.layout.sizes, most, &mut |part| body(reader.block(part)?));
        };
        let opened = self.open(start)?;
        let count = usize::try_from(self.layout.numel()).unwrap_or(0);
        for first in (0..count).step_by(most.max(1)) {
            interrupt::check()?;
            let part = most.min(count - first);
            let (from, nbytes) = (self.elements.nbytes(first)?, self.elements.nbytes(part)?);
            let storage = opened.storage(from, nbytes)?;
            let (storage, dtype) = match self.elements {
                Elements::Plain(dtype) => (storage, dtype),
                Elements::Blocks(_) => (self.elements.dequantize(&storage)?, DType::Float),
            };
            let layout = Layout::contiguous(&[part as i64]);
            if !body(View { storage, layout, dtype, conj: false, neg: false, form: None })? {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Reads boxes of a part.
pub(crate) struct Reader<'p> {
    part: &'p Part,
    access: PartSource<'p>,
}

/// The source of a reader.
enum PartSource<'p> {
    /// The file. The dimensions from `dims` on form runs long enough for one read each.
    Runs { window: Window<'p>, dtype: DType, dims: usize },
    /// The mapping, or memory.
    View(View),
}

impl Reader<'_> {
    /// Returns a box as a tensor.
    ///
    /// # Errors
    /// Fails with RuntimeError if the bytes are unavailable, and with KeyboardInterrupt.
    pub(crate) fn block(&self, part: IndexBox) -> Result<View> {
        let (window, dtype, dims) = match &self.access {
            PartSource::View(view) => return Ok(view.with_layout(within(&view.layout, part))),
            PartSource::Runs { window, dtype, dims } => (*window, *dtype, *dims),
        };
        let wanted = within(&self.part.layout, part);
        let count = usize::try_from(wanted.numel()).unwrap_or(usize::MAX);
        // If only part of a dimension inside the run is wanted, the run starts at that dimension.
        let dims = dims.max(part.iter().rposition(|&(_, size)| size != 1).unwrap_or(0));
        let run: i64 = wanted.sizes.iter().skip(dims).product();
        let (run, itemsize) = (usize::try_from(run).unwrap_or(usize::MAX), dtype.itemsize());
        let nbytes = count.checked_mul(itemsize).ok_or_else(|| Error::runtime("a tensor is too large"))?;
        let storage = Storage::unwritten(nbytes, Device::CPU)?;
        let starts = Layout {
            sizes: wanted.sizes.iter().take(dims).copied().collect(),
            strides: wanted.strides.iter().take(dims).copied().collect(),
            offset: wanted.offset,
        };
        let starts: Vec<usize> = starts.offsets().map(|start| start as usize).collect();
        let read = writing(&*storage.data()?, 0..nbytes, |bytes: &mut [u8]| {
            let mut runs = bytes.chunks_exact_mut(run.saturating_mul(itemsize).max(1)).zip(&starts);
            runs.try_for_each(|(bytes, start)| window.read(start.saturating_mul(itemsize), bytes))
        });
        read.ok_or_else(truncated)??;
        let (conj, neg) = (self.part.conj, self.part.neg);
        Ok(View { storage, layout: Layout::contiguous(&wanted.sizes), dtype, conj, neg, form: None })
    }
}

/// The error for a buffer without memory. It cannot occur, and must not be taken for bytes that were read.
pub(crate) fn truncated() -> Error {
    Error::runtime("not enough memory to read a tensor's bytes")
}

/// Returns the number of elements that are consecutive everywhere, and the first of the dimensions they span. `None` if
/// the last dimension is not consecutive.
fn run_of(layout: &Layout) -> Option<(usize, usize)> {
    let (mut run, mut first) = (1i64, layout.sizes.len());
    for (dim, (&size, &stride)) in layout.sizes.iter().zip(&layout.strides).enumerate().rev() {
        if stride != run && size != 1 {
            break;
        }
        (run, first) = (run.checked_mul(size)?, dim);
    }
    (first < layout.sizes.len()).then(|| (usize::try_from(run).unwrap_or(0), first))
}

/// An open source of bytes.
pub(crate) enum ByteSource<'f> {
    File(&'f File, u64),
    Memory(Rc<Memory>, usize),
}

impl ByteSource<'_> {
    /// Returns a range of bytes as a storage.
    fn storage(&self, from: usize, nbytes: usize) -> Result<Storage> {
        match self {
            ByteSource::Memory(memory, start) => {
                let memory = Memory::borrow(memory, start.saturating_add(from), nbytes);
                memory.map(Storage::new).ok_or_else(|| Error::runtime("a tensor lies beyond the end of its storage"))
            }
            ByteSource::File(file, first) => {
                let storage = Storage::unwritten(nbytes, Device::CPU)?;
                let window = Window::File(file, *first);
                let read = writing(&*storage.data()?, 0..nbytes, |bytes: &mut [u8]| window.read(from, bytes));
                read.ok_or_else(truncated)??;
                Ok(storage)
            }
        }
    }
}

/// A source of bytes for several threads.
#[derive(Clone, Copy)]
pub(crate) enum Window<'w> {
    /// A file from this offset on. Reading avoids the mapping's pages, which would count as memory of the program, and
    /// is as fast as touching them.
    File(&'w File, u64),
    Slice(&'w [u8]),
}

impl<'w> Window<'w> {
    pub(crate) fn slice(bytes: &'w [u8], start: usize) -> Window<'w> {
        Window::Slice(bytes.get(start..).unwrap_or_default())
    }

    /// Fills `into` with bytes.
    ///
    /// # Errors
    /// Fails with RuntimeError if there are too few bytes.
    pub(crate) fn read(self, start: usize, into: &mut [u8]) -> Result<()> {
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

/// A range of indices, as start and size, in each of the first dimensions. The other dimensions are complete.
pub(crate) type IndexBox<'b> = &'b [(i64, i64)];

/// Visits boxes of at most `most` elements, in element order, until `body` returns false.
///
/// # Errors
/// Fails with the errors of `body`, and with KeyboardInterrupt.
pub(crate) fn blocks(sizes: &[i64], most: usize, body: &mut dyn FnMut(IndexBox) -> Result<bool>) -> Result<()> {
    fn walk(
        sizes: &[i64],
        most: i64,
        fixed: &mut Vec<(i64, i64)>,
        body: &mut dyn FnMut(IndexBox) -> Result<bool>,
    ) -> Result<bool> {
        interrupt::check()?;
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

/// Returns the box of a new tensor that begins at an index and has these sizes.
pub(crate) fn box_of(whole: &View, offsets: &Dims, sizes: &Dims) -> View {
    let first = offsets.iter().zip(whole.strides()).fold(whole.layout.offset, |first, (at, step)| first + at * step);
    whole.with_layout(Layout { sizes: sizes.clone(), strides: whole.layout.strides.clone(), offset: first })
}

/// Returns the layout of a block.
fn within(layout: &Layout, block: IndexBox) -> Layout {
    let mut layout = layout.clone();
    for (dim, &(start, size)) in block.iter().enumerate() {
        layout.offset += start * layout.strides[dim];
        layout.sizes[dim] = size;
    }
    layout
}
