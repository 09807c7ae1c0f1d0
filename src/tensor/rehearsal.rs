//! Redirects files while a script is rehearsed: files that it writes go to a hidden folder and are read back from
//! there. Code that opens a file asks here for its path.

use crate::system::{Files, System};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// While this exists, files written by this thread are redirected.
pub struct Rehearsal(());

struct Redirection {
    folder: PathBuf,
    /// The files written, with the paths that replace theirs.
    written: HashMap<PathBuf, PathBuf>,
}

thread_local! {
    /// The files written since the last query.
    static WRITTEN: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
    static ELSEWHERE: RefCell<Option<Redirection>> = const { RefCell::new(None) };
}

impl Rehearsal {
    /// Redirects written files to an empty folder.
    pub fn begin(folder: &Path) -> Rehearsal {
        ELSEWHERE.set(Some(Redirection { folder: folder.to_owned(), written: HashMap::new() }));
        Rehearsal(())
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        drop(ELSEWHERE.take());
    }
}

/// Returns the path to read a file from.
pub fn to_read(name: &str) -> Cow<'_, str> {
    let found = ELSEWHERE.with_borrow(|elsewhere| {
        let place = elsewhere.as_ref()?.written.get(&System::full_name(Path::new(name)))?;
        place.to_str().map(str::to_owned)
    });
    found.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Returns the path to write a file to.
pub fn to_write(path: &Path) -> Cow<'_, Path> {
    if ELSEWHERE.with_borrow(Option::is_none) {
        WRITTEN.with_borrow_mut(|written| written.push(path.to_owned()));
    }
    ELSEWHERE.with_borrow_mut(|elsewhere| {
        let Some(Redirection { folder, written }) = elsewhere else { return Cow::Borrowed(path) };
        let next = folder.join(written.len().to_string());
        Cow::Owned(written.entry(System::full_name(path)).or_insert(next).clone())
    })
}

/// Returns the files that this thread has opened for writing since the last call, in order.
pub fn take_written() -> Vec<PathBuf> {
    WRITTEN.take()
}

/// Returns the path of a file to be modified, after copying its current contents there.
///
/// # Errors
/// The system's error if the file cannot be copied.
pub(crate) fn to_change(name: &str) -> io::Result<Cow<'_, str>> {
    let there = to_read(name);
    let Cow::Owned(place) = to_write(Path::new(name)) else { return Ok(there) };
    let from = Path::new(&*there);
    if System::kind(from).is_ok() && from != place {
        System::copy(from, &place)?;
    }
    Ok(place.to_str().map_or(there, |place| Cow::Owned(place.to_owned())))
}
