//! Where the entries typed at the prompt are kept between sessions. Several shells may write to one file, and any of
//! them may be killed at any time: an entry is there whole or not at all. Anything that goes wrong here costs the history
//! and nothing else.
//!
//! The file holds one entry per line, oldest first, below the line `#V2`; a line end inside an entry is written `\n`, a
//! backslash `\\`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::files::replace;

const HEAD: &str = "#V2";

/// The history file, or none where it cannot be written.
#[derive(Debug)]
pub struct Store {
    path: Option<PathBuf>,
}

impl Store {
    /// A store that forgets.
    pub fn nowhere() -> Store {
        Store { path: None }
    }

    /// Opens the history in the folder `tensorsh` of the user's state folder, and gives its newest `limit` entries.
    ///
    /// # Errors
    /// A sentence that says why nothing can be kept.
    pub fn open(limit: usize) -> Result<(Store, Vec<String>), String> {
        let folder = folder().ok_or_else(|| "there is no home folder".to_owned())?;
        Store::open_in(&folder, limit).map_err(|error| format!("{}: {error}", folder.display()))
    }

    fn open_in(folder: &Path, limit: usize) -> io::Result<(Store, Vec<String>)> {
        fs::create_dir_all(folder)?;
        let store = Store { path: Some(folder.join("history")) };
        let mut entries = Vec::new();
        store.locked(|path| {
            // Whether it can be written is better known now than at the first entry.
            OpenOptions::new().append(true).create(true).open(path)?;
            let all = read(path)?;
            // A file that is read anew at every start is cut when it has become much too long, not at every entry.
            let surplus = all.len().saturating_sub(limit);
            entries = all.into_iter().skip(surplus).collect();
            if surplus > limit / 4 { replace(path, write(&entries).as_bytes()) } else { Ok(()) }
        })?;
        Ok((store, entries))
    }

    /// Adds an entry. A disk that is full now is no reason to stop the prompt: the entry will be missed, no more.
    pub fn add(&self, entry: &str) {
        let _ = self.locked(|path| {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            let mut line = String::new();
            if file.metadata()?.len() == 0 {
                line.push_str(&format!("{HEAD}\n"));
            } else if !ends_a_line(&mut file)? {
                // Somebody was killed while writing: half an entry is none.
                let bytes = fs::read(path)?;
                let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                file.set_len(whole as u64)?;
            }
            line.push_str(&escape(entry));
            line.push('\n');
            file.write_all(line.as_bytes())
        });
    }

    /// Runs `work` while no other shell touches the file.
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

fn read(path: &Path) -> io::Result<Vec<String>> {
    let bytes = fs::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    // What stands behind the last line end was never finished.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    Ok(whole.split('\n').filter(|line| !line.is_empty() && *line != HEAD).map(unescape).collect())
}

fn write(entries: &[String]) -> String {
    std::iter::once(HEAD.to_owned()).chain(entries.iter().map(|entry| escape(entry))).map(|line| line + "\n").collect()
}

fn escape(entry: &str) -> String {
    entry.replace('\\', "\\\\").replace('\n', "\\n")
}

fn unescape(line: &str) -> String {
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
    entry
}

/// Where what outlives a session is kept: the folder `tensorsh` of the user's state folder.
pub fn folder() -> Option<PathBuf> {
    state_folder(std::env::var_os("XDG_STATE_HOME").map(PathBuf::from), std::env::home_dir())
}

/// `$XDG_STATE_HOME/tensorsh`, or `~/.local/state/tensorsh`; a relative path in the variable does not count.
fn state_folder(xdg: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let state = xdg.filter(|path| path.is_absolute()).or_else(|| Some(home?.join(".local/state")))?;
    Some(state.join("tensorsh"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_folder() {
        let rows = [
            (Some("/s"), Some("/h"), Some("/s/tensorsh")),
            (Some("s"), Some("/h"), Some("/h/.local/state/tensorsh")),
            (Some(""), Some("/h"), Some("/h/.local/state/tensorsh")),
            (None, Some("/h"), Some("/h/.local/state/tensorsh")),
            (None, None, None),
        ];
        for (xdg, home, wanted) in rows {
            assert_eq!(state_folder(xdg.map(PathBuf::from), home.map(PathBuf::from)), wanted.map(PathBuf::from));
        }
    }

    #[test]
    fn entries_survive() {
        let folder = tempfile::tempdir().unwrap();
        let (store, entries) = Store::open_in(folder.path(), 10).unwrap();
        assert!(entries.is_empty());
        let typed = ["let a = [\n1]", "'\\n'", "\\", "größe"];
        typed.iter().for_each(|entry| store.add(entry));
        assert_eq!(Store::open_in(folder.path(), 10).unwrap().1, typed);
        assert_eq!(Store::open_in(folder.path(), 2).unwrap().1, typed[2..]);
        // That was long enough ago to cut the file.
        assert_eq!(Store::open_in(folder.path(), 10).unwrap().1, typed[2..]);
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
        assert_eq!(Store::open_in(folder.path(), 10).unwrap().1, ["whole"]);
        store.add("next");
        assert_eq!(Store::open_in(folder.path(), 10).unwrap().1, ["whole", "next"]);
    }
}
