//! npz: a zip archive of npy files. Uncompressed ones are mapped from the file.

use super::archive::{Archive, Body, Writer};
use super::atomic::{COMMON, rewrite};
use super::checkpoint::replacing;
use super::contents::{Bytes, Contents, shown};
use super::npy::{self, Header, MOST_OF_A_HEADER, OtherArray};
use super::progress;
use super::source::{Source, refused};
use std::cell::RefCell;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result, Storage, bail, limits};
use value::{Dict, Value};

/// How an archive without files begins.
pub(crate) const EMPTY: &[u8] = b"PK\x05\x06";

/// Returns whether an archive consists of npy files.
pub(crate) fn is_one(archive: &Archive) -> bool {
    !archive.names().is_empty() && archive.names().iter().all(|name| name.ends_with(".npy"))
}

/// Returns the name and the header of each array. The header of an array that cannot be a tensor says what it is.
///
/// # Errors
/// Fails with ValueError or RuntimeError if an entry is not an array.
fn headers(archive: &mut Archive) -> Result<Vec<(String, std::result::Result<Header, OtherArray>)>> {
    let names = archive.names().to_vec();
    let mut headers = Vec::new();
    for entry in names {
        let head = archive.head(&entry, MOST_OF_A_HEADER as u64)?;
        let header = match npy::other_array(&head)? {
            Some(other) => Err(other),
            None => Ok(npy::header(&head)?),
        };
        headers.push((entry, header));
    }
    Ok(headers)
}

fn name_of(entry: &str) -> &str {
    entry.strip_suffix(".npy").unwrap_or(entry)
}

/// Loads all arrays by name. Calls `say` for each array that cannot be a tensor and is left out.
///
/// # Errors
/// Fails with ValueError or RuntimeError if an entry is not an array.
pub(crate) fn load(source: &Source, mapped: bool, say: &dyn Fn(String)) -> Result<Value> {
    let mut archive = Archive::open(source)?;
    let mut entries = Vec::new();
    for (entry, header) in headers(&mut archive)? {
        let header = match header {
            Ok(header) => header,
            Err(other) => {
                say(format!("{} is left out: {}, which cannot be a tensor", shown(name_of(&entry)), other.text()));
                continue;
            }
        };
        let storage = archive.storage(&entry, header.start, header.nbytes, 0, mapped)?;
        let is_own = !mapped || archive.stored(&entry, header.start.saturating_add(header.nbytes), 0).is_none();
        entries.push((Value::str(name_of(&entry)), header.value(&storage, is_own)?));
    }
    Dict::new(entries).map(Value::Dict)
}

/// Returns the contents of an archive of arrays.
///
/// # Errors
/// The errors of [`headers`].
pub(crate) fn contents(source: &Source) -> Result<Contents> {
    let mut contents = Contents::new(source, "npz");
    let mut archive = Archive::open(source)?;
    let headers = headers(&mut archive)?;
    let archive = Rc::new(RefCell::new(archive));
    for (entry, header) in headers {
        let Header { element, layout, start, nbytes } = match header {
            Ok(header) => header,
            Err(other) => {
                contents.values.push(other.listed(name_of(&entry)));
                continue;
            }
        };
        let stored = archive.borrow().stored(&entry, start.saturating_add(nbytes), 0);
        let name = name_of(&entry).to_owned();
        let bytes = match stored {
            Some((source, place)) => Bytes::Stored(source, place.saturating_add(start)),
            None => {
                let archive = archive.clone();
                Bytes::Made(Rc::new(move || archive.borrow_mut().storage(&entry, start, nbytes, 0, false)))
            }
        };
        element.list(&mut contents, name, layout, nbytes, bytes)?;
    }
    Ok(contents)
}

/// Writes named tensors.
///
/// # Errors
/// Fails with TypeError for anything other than a dictionary of tensors, with RuntimeError if the file cannot be
/// written, and with KeyboardInterrupt.
pub(crate) fn save(value: &Value, path: &str) -> Result<()> {
    let Some(entries) = value.entries() else {
        bail!(TypeError, "an .npz file holds a dictionary of tensors, not a {}", value.type_name())
    };
    let mut arrays: Vec<Array> = Vec::new();
    for (name, tensor) in entries.iter() {
        let (Value::Str(name), Value::Tensor(tensor)) = (name, tensor) else {
            bail!(TypeError, "the keys of an .npz file must be strings")
        };
        let (head, storage) = npy::parts(tensor)?;
        arrays.push(Array { name: name.to_string(), head, body: Box::new(storage) });
    }
    write(&arrays, path)
}

/// An array to be written.
pub(crate) struct Array {
    pub name: String,
    pub head: Vec<u8>,
    pub body: Box<dyn Body>,
}

/// Writes arrays.
///
/// # Errors
/// Fails with RuntimeError if the file cannot be written, and with the errors of the bodies.
pub(crate) fn write(arrays: &[Array], path: &str) -> Result<()> {
    let _task = progress::begin(arrays.iter().map(|array| array.body.nbytes() as u64).sum());
    replacing(path, |file| {
        let mut archive = Writer::new(BufWriter::with_capacity(1 << 16, file));
        for Array { name, head, body } in arrays {
            archive.add_body(&format!("{name}.npy"), head, &**body)?;
        }
        archive.finish()?.flush().map_err(|error| Error::runtime(format!("{path} cannot be written: {error}")))
    })
}

/// An archive whose entries are read when they are asked for: what `np.load` reads.
pub struct ArrayArchive(RefCell<Archive>);

impl ArrayArchive {
    /// Reads the directory of an archive.
    ///
    /// # Errors
    /// Fails with BadZipFile if it is not one.
    pub fn new(source: &Source) -> Result<ArrayArchive> {
        // Python looks for the directory only.
        let archive = match Archive::open(source) {
            Err(error) if error.kind == ErrorKind::RuntimeError => {
                let why = match error.message.rsplit_once("zip archive: ") {
                    Some((_, "not a ZIP archive" | "failed finding central directory")) | None => {
                        "File is not a zip file".to_owned()
                    }
                    Some((_, why)) => why.to_owned(),
                };
                return Err(bad(why));
            }
            other => other?,
        };
        Ok(ArrayArchive(RefCell::new(archive)))
    }

    /// Returns the names of all entries with their sizes, in the order of the archive.
    pub fn entries(&self) -> Vec<(String, u64)> {
        let archive = self.0.borrow();
        let entry = |name: &String| archive.size(name).map(|size| (name.clone(), size));
        archive.names().iter().filter_map(entry).collect()
    }

    /// Returns the first `most` bytes of an entry.
    ///
    /// # Errors
    /// Fails with BadZipFile if they cannot be read, and with MemoryError if they do not fit into memory.
    pub fn head(&self, name: &str, most: u64) -> Result<Vec<u8>> {
        let most = most.min(self.0.borrow().size(name).unwrap_or(0));
        if most > limits::budget() as u64 {
            return Err(limits::full());
        }
        self.0.borrow_mut().head(name, most).map_err(|error| bad_entry(error, name))
    }

    /// Returns the bytes of an entry from `skip` on, which must be `nbytes` many.
    ///
    /// # Errors
    /// Fails with BadZipFile if they cannot be read.
    pub fn storage(&self, name: &str, skip: usize, nbytes: usize) -> Result<Storage> {
        self.0.borrow_mut().storage(name, skip, nbytes, 0, false).map_err(|error| bad_entry(error, name))
    }
}

fn bad(why: String) -> Error {
    Error::new(ErrorKind::Other("zipfile.BadZipFile"), why)
}

fn bad_entry(error: Error, name: &str) -> Error {
    match error.message.to_ascii_lowercase().contains("checksum") {
        true => bad(format!("Bad CRC-32 for file '{name}'")),
        false if error.kind == ErrorKind::RuntimeError => bad(error.message),
        false => error,
    }
}

/// An array of an archive to be written.
pub struct NamedArray {
    pub name: String,
    pub head: Vec<u8>,
    pub storage: Storage,
}

/// Writes arrays whose headers are given to a file.
///
/// # Errors
/// Fails like Python's `open` if the file cannot be written, with RuntimeError, and with KeyboardInterrupt.
pub fn save_arrays(arrays: &[NamedArray], compressed: bool, path: &str) -> Result<()> {
    let _task = progress::begin(arrays.iter().map(|array| array.storage.nbytes() as u64).sum());
    rewrite(
        Path::new(path),
        COMMON,
        |error| refused(&error, path),
        |file| write_arrays(arrays, compressed, BufWriter::with_capacity(1 << 16, file)),
    )
}

/// Like [`save_arrays`], to a writer.
///
/// # Errors
/// Fails with RuntimeError and KeyboardInterrupt.
pub fn write_arrays<W: Write + Seek>(arrays: &[NamedArray], compressed: bool, to: W) -> Result<()> {
    let mut archive = Writer::new(to);
    for NamedArray { name, head, storage } in arrays {
        let entry = format!("{name}.npy");
        match compressed {
            true => archive.add_compressed(&entry, head, storage)?,
            false => archive.add_body(&entry, head, storage)?,
        }
    }
    archive.finish()?.flush().map_err(|error| Error::runtime(error.to_string()))
}
