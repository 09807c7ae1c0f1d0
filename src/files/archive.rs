//! The parts of the zip format needed for checkpoints and npz: entries by name, their position in the file, and their
//! bytes, verified by checksum. Suspicious archives are rejected: entries that share bytes, names that are not UTF-8,
//! duplicate names.

use super::source::{Reader, Source, fill};
use std::collections::HashMap;
use std::io::{Read, Seek, Write};
use std::mem::ManuallyDrop;
use tensor::{Device, Error, Result, Storage, bail, interrupt};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The alignment of an entry's data, as in PyTorch's files.
const ALIGNMENT: u16 = 64;

/// An archive opened for reading.
pub(crate) struct Archive {
    zip: ZipArchive<Reader>,
    entries: HashMap<String, Entry>,
    /// The names, in archive order.
    names: Vec<String>,
    source: Source,
}

/// An entry in the directory of the archive.
#[derive(Clone, Copy, Debug)]
struct Entry {
    index: usize,
    /// The offset of its bytes in the file.
    start: usize,
    /// The number of uncompressed bytes.
    size: u64,
    /// Whether the bytes are stored without compression.
    is_stored: bool,
}

impl Archive {
    /// Reads only the directory of an archive.
    ///
    /// # Errors
    /// Fails with RuntimeError in the words of PyTorch's reader.
    pub(crate) fn open(source: &Source) -> Result<Archive> {
        let mut zip = ZipArchive::new(source.reader()).map_err(|error| match error {
            ZipError::InvalidArchive(_) if source.len() < 22 => broken("not a ZIP archive"),
            ZipError::InvalidArchive(_) => broken("failed finding central directory"),
            other => broken(&other.to_string()),
        })?;
        if zip.has_duplicate_names() {
            return Err(broken("a name occurs twice in the directory"));
        }
        let (mut entries, mut names) = (HashMap::new(), Vec::new());
        for index in 0..zip.len() {
            let entry = zip.by_index_raw(index).map_err(|error| broken(&error.to_string()))?;
            let name = entry.name().map_err(|_| broken("a name is not UTF-8"))?.into_owned();
            if entry.encrypted() {
                return Err(broken(&format!("{name} is encrypted")));
            }
            let start = entry.data_start().and_then(|start| usize::try_from(start).ok());
            let start = start.ok_or_else(|| broken(&format!("{name} lies beyond the end of the file")))?;
            let is_stored = entry.compression() == CompressionMethod::Stored;
            if is_stored && entry.size() != entry.compressed_size() {
                return Err(broken(&format!("{name} has two sizes")));
            }
            let end = entry.compressed_size().checked_add(start as u64);
            if end.is_none_or(|end| end > source.len() as u64) {
                return Err(broken(&format!("{name} lies beyond the end of the file")));
            }
            entries.insert(name.clone(), Entry { index, start, size: entry.size(), is_stored });
            names.push(name);
        }
        if zip.has_overlapping_entries().map_err(|error| broken(&error.to_string()))? {
            return Err(broken("entries overlap"));
        }
        Ok(Archive { zip, entries, names, source: source.clone() })
    }

    /// Returns the names of all entries, in archive order.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of bytes of an entry before compression.
    pub(crate) fn size(&self, name: &str) -> Option<u64> {
        self.entries.get(name).map(|entry| entry.size)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    fn entry(&self, name: &str) -> Result<Entry> {
        self.entries.get(name).copied().ok_or_else(|| {
            let short = name.split_once('/').map_or(name, |(_, short)| short);
            Error::runtime(format!("PytorchStreamReader failed locating file {short}: file not found"))
        })
    }

    /// Returns the first `most` bytes of an entry, or all of a shorter one.
    ///
    /// # Errors
    /// Fails with RuntimeError if the entry does not exist or cannot be read.
    pub(crate) fn head(&mut self, name: &str, most: u64) -> Result<Vec<u8>> {
        let entry = self.entry(name)?;
        let failed = |error: &dyn std::fmt::Display| failed(name, error);
        let file = self.zip.by_index(entry.index).map_err(|error| failed(&error))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        Ok(bytes)
    }

    /// Returns a whole entry of at most `most` bytes.
    ///
    /// # Errors
    /// Fails with RuntimeError if the entry is larger, missing, or does not match its checksum.
    pub(crate) fn read(&mut self, name: &str, most: u64) -> Result<Vec<u8>> {
        let bytes = self.head(name, most.saturating_add(1))?;
        if bytes.len() as u64 > most {
            return Err(failed(name, &format_args!("more than {most} bytes")));
        }
        Ok(bytes)
    }

    /// Returns bytes `skip..` of an entry, exactly `nbytes` of them: mapped from the file if requested and the entry is
    /// uncompressed, otherwise a verified copy. Up to `spare` bytes may follow.
    ///
    /// # Errors
    /// Fails with RuntimeError if the entry has another size, is missing, or does not match its checksum.
    pub(crate) fn storage(
        &mut self,
        name: &str,
        skip: usize,
        nbytes: usize,
        spare: usize,
        mapped: bool,
    ) -> Result<Storage> {
        let entry = self.entry(name)?;
        let rest = (nbytes as u64).checked_add(skip as u64).and_then(|end| entry.size.checked_sub(end));
        if rest.is_none_or(|rest| rest > spare as u64) {
            let has = entry.size.saturating_sub(skip as u64);
            bail!(
                RuntimeError,
                "record {name} has {has} bytes where {nbytes} are expected: the file might be corrupted"
            );
        }
        if mapped && entry.is_stored {
            let start = entry.start.checked_add(skip);
            let storage = start.and_then(|start| self.source.storage(start, nbytes));
            return storage.ok_or_else(|| failed(name, &"it lies beyond the end of the file"));
        }
        let storage = Storage::zeroed(nbytes, Device::CPU)?;
        let mut file = self.zip.by_index(entry.index).map_err(|error| failed(name, &error))?;
        let skipped = std::io::copy(&mut file.by_ref().take(skip as u64), &mut std::io::sink());
        skipped.map_err(|error| failed(name, &error))?;
        fill(&storage, |piece| file.read_exact(piece)).map_err(|error| match error.kind {
            tensor::ErrorKind::RuntimeError => failed(name, &error.message),
            _ => error,
        })?;
        // The checksum is verified at the end of the entry.
        let rest = file.take(spare as u64 + 1).read_to_end(&mut Vec::new()).map_err(|error| failed(name, &error))?;
        if rest > spare {
            return Err(failed(name, &"it is longer than declared"));
        }
        Ok(storage)
    }

    /// Returns the file and the offset of an entry's bytes, if the entry is uncompressed and has `nbytes` bytes, and up to
    /// `spare` more.
    pub(crate) fn stored(&self, name: &str, nbytes: usize, spare: usize) -> Option<(Source, usize)> {
        let rest = |entry: &Entry| entry.size.checked_sub(nbytes as u64);
        let fits = |entry: &&Entry| rest(entry).is_some_and(|rest| rest <= spare as u64);
        let entry = self.entries.get(name).filter(|entry| entry.is_stored).filter(fits)?;
        Some((self.source.clone(), entry.start))
    }
}

fn broken(why: &str) -> Error {
    Error::runtime(format!("PytorchStreamReader failed reading zip archive: {why}"))
}

fn failed(name: &str, why: &dyn std::fmt::Display) -> Error {
    let short = name.split_once('/').map_or(name, |(_, short)| short);
    Error::runtime(format!("PytorchStreamReader failed reading file {short}: {why}"))
}

/// An archive opened for writing. It is not finished on drop: the crate would append a directory after a failed write,
/// and print a line if that fails too.
pub(crate) struct Writer<W: Write + Seek>(ManuallyDrop<ZipWriter<W>>);

impl<W: Write + Seek> Writer<W> {
    pub(crate) fn new(inner: W) -> Writer<W> {
        Writer(ManuallyDrop::new(ZipWriter::new(inner)))
    }

    fn start(&mut self, name: &str, size: usize, method: CompressionMethod) -> Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .with_alignment(ALIGNMENT)
            .large_file(size as u64 >= u64::from(u32::MAX));
        self.0.start_file(name, options).map_err(|error| unwritten(name, &error))
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Fails with RuntimeError if it cannot be written.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.start(name, bytes.len(), CompressionMethod::Stored)?;
        self.0.write_all(bytes).map_err(|error| unwritten(name, &error))
    }

    /// Adds an entry made of a header and a body.
    ///
    /// # Errors
    /// Fails with RuntimeError if it cannot be written, and with the errors of the body.
    pub(crate) fn add_body(&mut self, name: &str, head: &[u8], body: &dyn Body) -> Result<()> {
        self.add_by(CompressionMethod::Stored, name, head, body)
    }

    /// Like [`Writer::add_body`], but compressed.
    ///
    /// # Errors
    /// The errors of [`Writer::add_body`].
    pub(crate) fn add_compressed(&mut self, name: &str, head: &[u8], body: &dyn Body) -> Result<()> {
        self.add_by(CompressionMethod::Deflated, name, head, body)
    }

    fn add_by(&mut self, method: CompressionMethod, name: &str, head: &[u8], body: &dyn Body) -> Result<()> {
        self.start(name, head.len().saturating_add(body.nbytes()), method)?;
        self.0.write_all(head).map_err(|error| unwritten(name, &error))?;
        write_body(body, &mut *self.0, |error| unwritten(name, error))
    }

    /// Writes the directory.
    ///
    /// # Errors
    /// Fails with RuntimeError if it cannot be written.
    pub(crate) fn finish(self) -> Result<W> {
        ManuallyDrop::into_inner(self.0).finish().map_err(|error| unwritten("the directory", &error))
    }
}

fn unwritten(name: &str, error: &dyn std::fmt::Display) -> Error {
    let short = name.split_once('/').map_or(name, |(_, short)| short);
    Error::runtime(format!("PytorchStreamWriter failed writing file {short}: file write failed: {error}"))
}

/// A source of bytes to write to a file.
pub(crate) trait Body {
    fn nbytes(&self) -> usize;

    /// Passes the bytes to `sink` in pieces, in order. Checks for Ctrl-C in between.
    ///
    /// # Errors
    /// Fails with the errors of `sink`, with KeyboardInterrupt, and with RuntimeError if the bytes are unavailable.
    fn pieces(&self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
}

impl Body for Storage {
    fn nbytes(&self) -> usize {
        Storage::nbytes(self)
    }

    fn pieces(&self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        const PIECE: usize = 1 << 20;
        let source = Source::of_memory(&self.data()?, 0)?;
        let (mut from, mut piece) = (source.reader(), vec![0; PIECE.min(source.len())]);
        loop {
            interrupt::check()?;
            let count = from.read(&mut piece).map_err(|error| Error::runtime(error.to_string()))?;
            let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
            sink(bytes)?;
        }
    }
}

/// Writes a body, and reports the progress.
///
/// # Errors
/// Fails with the write error as converted by `refused`, and with the errors of the body.
pub(crate) fn write_body(
    body: &dyn Body,
    to: &mut dyn Write,
    refused: impl Fn(&std::io::Error) -> Error,
) -> Result<()> {
    body.pieces(&mut |bytes| {
        to.write_all(bytes).map_err(|error| refused(&error))?;
        super::progress::advance(bytes.len() as u64);
        Ok(())
    })
}
