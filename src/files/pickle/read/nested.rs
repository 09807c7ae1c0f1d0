//! Storages in a pickle's bytes. Outside of a checkpoint, Python pickles a storage as a file of its own, in the format
//! of before PyTorch 1.6.

use super::{Mode, Node, Saved, read};
use tensor::{Error, Result};

/// The number of pickles in such a file. The fourth is the storage, and its bytes follow the last, after their count.
const PICKLES: usize = 5;
const VALUE: usize = 3;

/// Returns the storage in these bytes, and where its own begin.
///
/// # Errors
/// Fails with RuntimeError if they hold anything else, and with the errors of reading a pickle.
pub(super) fn storage_in(bytes: &[u8], mode: Mode) -> Result<(Saved, usize)> {
    let wrong = || Error::runtime("a storage in the pickle is damaged");
    let (mut at, mut value) = (0, None);
    for number in 0..PICKLES {
        let pickled = read(bytes, &mut at, mode)?;
        if number == VALUE {
            value = Some(pickled);
        }
    }
    let pickled = value.ok_or_else(wrong)?;
    let Node::Storage(index) = *pickled.node(pickled.root) else { return Err(wrong()) };
    let is_plain = |saved: &&Saved| saved.part_of.is_none() && saved.inline.is_none();
    let saved = pickled.storages.get(index).filter(is_plain).ok_or_else(wrong)?;
    let start = at.saturating_add(8);
    match start.checked_add(saved.nbytes).is_some_and(|end| end <= bytes.len()) {
        true => Ok((saved.clone(), start)),
        false => Err(wrong()),
    }
}
