//! Keeps the entries typed at the prompt between sessions. Several shells may write to one file, and any of them may be
//! killed at any time; an entry is saved completely or not at all. Errors affect only the history.
//!
//! The file contains one entry per line, oldest first, after the line `#V2`. A line break inside an entry is written as
//! `\n`, a backslash as `\\`.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::folders;
use files::{PRIVATE, replace};
use session::transcript::describe;

const HEAD: &str = "#V2";

/// The history file; `None` if it cannot be written.
#[derive(Debug)]
pub(crate) struct Store {
    path: Option<PathBuf>,
}

impl Store {
    /// Creates a store that keeps nothing.
    pub(crate) fn nowhere() -> Store {
        Store { path: None }
    }

    /// Opens the history in the folder `tensorsh` of the user's state folder, and returns its entries. A file with many
    /// more than `limit` entries is shortened.
    ///
    /// # Errors
    /// Fails with a sentence that says why nothing can be kept.
    pub(crate) fn open(limit: usize) -> Result<(Store, HistoryText), String> {
        let folder = folder().ok_or_else(|| "there is no home folder".to_owned())?;
        Store::open_in(&folder, limit).map_err(|error| describe(&folder, &error))
    }

    fn open_in(folder: &Path, limit: usize) -> io::Result<(Store, HistoryText)> {
        fs::create_dir_all(folder)?;
        let store = Store { path: Some(folder.join("history")) };
        let mut kept = HistoryText::default();
        store.locked(|path| {
            // Find out now whether the file can be written, not at the first entry.
            OpenOptions::new().append(true).create(true).open(path)?;
            kept = HistoryText::of(match String::from_utf8(fs::read(path)?) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            });
            let surplus = kept.lines.len().saturating_sub(limit);
            // Shorten the file only once it is much too long, not at every start.
            if surplus <= limit / 4 {
                return Ok(());
            }
            kept.lines.drain(..surplus);
            let lines = kept.lines.iter().filter_map(|line| kept.text.get(line.clone()));
            let text: String = std::iter::once(HEAD).chain(lines).flat_map(|line| [line, "\n"]).collect();
            replace(path, text.as_bytes(), PRIVATE)
        })?;
        Ok((store, kept))
    }

    /// Adds an entry. Errors such as a full disk are ignored: only this entry is lost.
    pub(crate) fn add(&self, entry: &str) {
        let _ = self.locked(|path| {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            let mut line = String::new();
            if file.metadata()?.len() == 0 {
                line.push_str(&format!("{HEAD}\n"));
            } else if !ends_a_line(&mut file)? {
                // Another shell was killed while writing. Drop the partial entry.
                let bytes = fs::read(path)?;
                let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                file.set_len(whole as u64)?;
            }
            line.push_str(&escape(entry));
            line.push('\n');
            file.write_all(line.as_bytes())
        });
    }

    /// Runs `work` while the file is locked against other shells.
    fn locked(&self, work: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let lock = File::create(path.with_extension("lock"))?;
        lock.lock()?;
        work(path)
    }
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// The text of the file, and the range of each entry.
#[derive(Debug, Default)]
pub(crate) struct HistoryText {
    pub text: String,
    pub lines: VecDeque<Range<usize>>,
}

impl HistoryText {
    pub(crate) fn of(text: String) -> HistoryText {
        let mut start = 0;
        // Text after the last newline is a partial entry.
        let ends = text.match_indices('\n').map(|(end, _)| end);
        let lines = ends
            .map(|end| std::mem::replace(&mut start, end + 1)..end)
            .filter(|line| !line.is_empty() && text.get(line.clone()) != Some(HEAD))
            .collect();
        HistoryText { text, lines }
    }
}

/// Encodes an entry for the file.
pub(crate) fn escape(entry: &str) -> Cow<'_, str> {
    if entry.contains(['\\', '\n']) {
        Cow::Owned(entry.replace('\\', "\\\\").replace('\n', "\\n"))
    } else {
        Cow::Borrowed(entry)
    }
}

/// Decodes an entry from the file.
pub(crate) fn unescape(line: &str) -> Cow<'_, str> {
    if !line.contains('\\') {
        return Cow::Borrowed(line);
    }
    let mut entry = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('n') => entry.push('\n'),
                Some(other) => entry.push(other),
                None => entry.push('\\'),
            },
            c => entry.push(c),
        }
    }
    Cow::Owned(entry)
}

/// Returns the folder for data kept between sessions: `$XDG_STATE_HOME/tensorsh`, `~/.local/state/tensorsh`, or on Windows
/// `%LOCALAPPDATA%\tensorsh`.
pub(crate) fn folder() -> Option<PathBuf> {
    folders::of_user("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path, limit: usize) -> Vec<String> {
        let (_, kept) = Store::open_in(folder, limit).unwrap();
        kept.lines.iter().map(|line| unescape(&kept.text[line.clone()]).into_owned()).collect()
    }

    #[test]
    fn entries_survive() {
        let folder = tempfile::tempdir().unwrap();
        let (store, kept) = Store::open_in(folder.path(), 10).unwrap();
        assert!(kept.lines.is_empty());
        let typed = ["let a = [\n1]", "'\\n'", "\\", "größe"];
        typed.iter().for_each(|entry| store.add(entry));
        assert_eq!(entries(folder.path(), 10), typed);
        // The file is shortened once it contains many more entries than allowed.
        assert_eq!(entries(folder.path(), 2), typed[2..]);
        assert_eq!(entries(folder.path(), 10), typed[2..]);
    }

    #[test]
    fn a_half_written_entry_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = Store::open_in(folder.path(), 10).unwrap();
        store.add("whole");
        let path = folder.path().join("history");
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(b"hal");
        fs::write(&path, &bytes).unwrap();
        assert_eq!(entries(folder.path(), 10), ["whole"]);
        store.add("next");
        assert_eq!(entries(folder.path(), 10), ["whole", "next"]);
    }
}
