//! Checkpoints in PyTorch's format before 1.6, which it still writes on request: five consecutive pickles, followed by
//! the bytes of every storage.

use super::checkpoint::{Checkpoint, Data};
use super::pickle::{self, Id, Mode, Node, Pickled, Saved};
use super::source::Source;
use std::collections::HashMap;
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result, Storage, bail};

const MAGIC_NUMBER: i128 = 0x1950_a86a_20f9_469c_fc6c;
const PROTOCOL_VERSION: i128 = 1001;

/// The storages of a file.
pub(crate) struct Legacy {
    source: Source,
    places: HashMap<Rc<str>, usize>,
}

/// Returns whether a file begins with a pickle of the magic number.
pub(crate) fn is_one(source: &Source) -> bool {
    source.bytes(0, 32.min(source.len())).is_some_and(|head| {
        pickle::read(&head, &mut 0, Mode::Arrays)
            .is_ok_and(|first| matches!(first.node(first.root), Node::Int(MAGIC_NUMBER)))
    })
}

/// Reads the pickles of a file.
///
/// # Errors
/// Fails with UnpicklingError for values that `weights_only` rejects, and with EOFError, RuntimeError and others for
/// damaged files.
pub(crate) fn open(source: &Source, mode: Mode) -> Result<Checkpoint> {
    let mut at = 0;
    if number(source, &mut at, mode)? != Some(MAGIC_NUMBER) {
        bail!(RuntimeError, "Invalid magic number; corrupt file?");
    }
    match number(source, &mut at, mode)? {
        Some(PROTOCOL_VERSION) => {}
        Some(other) => bail!(RuntimeError, "Invalid protocol version: {other}"),
        None => bail!(RuntimeError, "Invalid protocol version"),
    }
    // The system information is not needed: the bytes are always little-endian.
    next(source, &mut at, mode)?;
    let pickled = next(source, &mut at, mode)?;
    let keys = next(source, &mut at, mode)?;
    let places = storage_positions(source, &pickled, &keys, at)?;
    Ok(Checkpoint { pickled, data: Data::Legacy(Legacy { source: source.clone(), places }) })
}

/// Reads a file that is a pickle, without more around it. Storages are in the pickle itself.
///
/// # Errors
/// The errors of [`open`].
pub(crate) fn open_bare(source: &Source, mode: Mode) -> Result<Checkpoint> {
    let pickled = next(source, &mut 0, mode)?;
    Ok(Checkpoint { pickled, data: Data::Legacy(Legacy::new(source.clone(), HashMap::new())) })
}

/// Reads the pickle at a position, and advances the position. The file is read in growing pieces, because the data
/// after the pickle may be large.
///
/// # Errors
/// The errors of [`pickle::read`].
pub(crate) fn next(source: &Source, at: &mut usize, mode: Mode) -> Result<Pickled> {
    let rest = source.len().saturating_sub(*at);
    let mut length = rest.min(1 << 16);
    loop {
        let bytes = source.bytes(*at, length).ok_or_else(|| Error::new(ErrorKind::EOFError, ""))?;
        let mut end = 0;
        match pickle::read(&bytes, &mut end, mode) {
            Err(error) if error.kind == ErrorKind::EOFError && length < rest && length < LARGEST => {
                length = rest.min(length.saturating_mul(8));
            }
            Err(error) => return Err(error),
            Ok(pickled) => {
                *at += end;
                return Ok(pickled);
            }
        }
    }
}

/// Reads the next pickle, and returns its value if it is an integer.
///
/// # Errors
/// The errors of [`pickle::read`].
pub(crate) fn number(source: &Source, at: &mut usize, mode: Mode) -> Result<Option<i128>> {
    let pickled = next(source, at, mode)?;
    Ok(match pickled.node(pickled.root) {
        Node::Int(number) => Some(*number),
        _ => None,
    })
}

/// The maximum size of a pickle, which is read as a whole.
const LARGEST: usize = 1 << 29;

/// Returns the position of each storage's bytes. Storages are consecutive, each preceded by its number of elements.
fn storage_positions(
    source: &Source,
    pickled: &Pickled,
    keys: &Pickled,
    mut at: usize,
) -> Result<HashMap<Rc<str>, usize>> {
    let Node::List(order) = keys.node(keys.root) else { bail!(RuntimeError, "the file names no storages") };
    let saved: HashMap<&str, &Saved> = pickled.storages.iter().map(|saved| (&*saved.key, saved)).collect();
    let mut places = HashMap::new();
    let text = |id: &Id| match keys.node(*id) {
        Node::Str(key) => Some(key.clone()),
        Node::Int(key) => Some(key.to_string().into()),
        _ => None,
    };
    for key in order.iter().map(text) {
        let Some(saved) = key.as_deref().and_then(|key| saved.get(key)) else {
            bail!(AssertionError, "the file has a storage without tensors");
        };
        let count = source.bytes(at, 8).and_then(|count| <[u8; 8]>::try_from(count).ok()).map(u64::from_le_bytes);
        let itemsize = saved.dtype.map_or(1, |dtype| dtype.itemsize()) as u64;
        let nbytes = count.and_then(|count| count.checked_mul(itemsize));
        let Some(nbytes) = nbytes else { bail!(RuntimeError, "unexpected EOF. The file might be corrupted.") };
        if nbytes != saved.nbytes as u64 {
            bail!(RuntimeError, "storage has wrong byte size: expected {} got {nbytes}", saved.nbytes);
        }
        at += 8;
        let end = at.saturating_add(saved.nbytes);
        if end > source.len() {
            let missing = end - source.len();
            bail!(RuntimeError, "unexpected EOF, expected {missing} more bytes. The file might be corrupted.");
        }
        places.insert(saved.key.clone(), at);
        at = end;
    }
    Ok(places)
}

impl Legacy {
    /// Creates the storages of a file whose bytes begin at these places, by their keys.
    pub(crate) fn new(source: Source, places: HashMap<Rc<str>, usize>) -> Legacy {
        Legacy { source, places }
    }

    /// Returns a copy of the bytes of a storage.
    ///
    /// # Errors
    /// Fails with RuntimeError if the file does not contain them.
    pub(crate) fn fetch(&self, saved: &Saved) -> Result<Storage> {
        let missing = || Error::runtime(format!("the file has no bytes for its storage {}", saved.key));
        let (source, place) = self.stored(saved).ok_or_else(missing)?;
        source.storage(place, saved.nbytes).ok_or_else(missing)?.duplicate()
    }

    /// Returns the file and the offset of a storage's bytes.
    pub(crate) fn stored(&self, saved: &Saved) -> Option<(Source, usize)> {
        self.places.get(&saved.key).map(|&place| (self.source.clone(), place))
    }
}
