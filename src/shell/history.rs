//! Where the lines typed at the prompt are kept between sessions. Anything that goes wrong here costs the history and
//! nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use rustyline::history::{FileHistory, History};

/// The history file, or none where it cannot be written.
#[derive(Debug)]
pub struct Store {
    path: Option<PathBuf>,
}

impl Store {
    /// Opens the history below the user's state folder and reads it into `history`. The second value says why there
    /// is none.
    pub fn open(history: &mut FileHistory) -> (Store, Option<String>) {
        let path = state_folder(std::env::var_os("XDG_STATE_HOME").map(PathBuf::from), std::env::home_dir());
        let opened = path.ok_or_else(|| "there is no home folder".to_owned()).and_then(|folder| read(&folder, history));
        match opened {
            Ok(path) => (Store { path: Some(path) }, None),
            Err(reason) => (Store { path: None }, Some(reason)),
        }
    }

    /// Writes what was added since the last time, so that a crash loses nothing.
    pub fn save(&self, history: &mut FileHistory) {
        if let Some(path) = &self.path {
            // The folder was writable when the prompt opened; a full disk later is no reason to stop it.
            let _ = history.append(path);
        }
    }
}

fn read(folder: &Path, history: &mut FileHistory) -> Result<PathBuf, String> {
    let because = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(|error| because(&error))?;
    let path = folder.join("history");
    let file = fs::OpenOptions::new().append(true).create(true).open(&path).map_err(|error| because(&error))?;
    drop(file);
    history.load(&path).map_err(|error| because(&error))?;
    Ok(path)
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
        let mut history = FileHistory::new();
        let store = Store { path: Some(read(folder.path(), &mut history).unwrap()) };
        history.add("let a = [\n1]").unwrap();
        store.save(&mut history);
        let mut again = FileHistory::new();
        read(folder.path(), &mut again).unwrap();
        assert_eq!(again.iter().collect::<Vec<_>>(), ["let a = [\n1]"]);
    }
}
