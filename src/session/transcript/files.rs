//! Resolves a command's PATHs to files and reads their text. Knows nothing about the contents.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::parse::Form;
use tensor::system::{describe_error, with_slashes};

/// A transcript to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    place: TranscriptSource,
    /// Run only the session that contains this line, counted from 1.
    pub line: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TranscriptSource {
    File(PathBuf),
    Typed(Arc<str>),
    /// Text with a name that resembles a file's.
    Named(Arc<str>, Arc<str>),
}

impl Target {
    /// A whole file.
    pub fn file(path: PathBuf) -> Target {
        Target { place: TranscriptSource::File(path), line: None }
    }

    /// Text from standard input.
    pub fn typed(text: String) -> Target {
        Target { place: TranscriptSource::Typed(text.into()), line: None }
    }

    /// Text with a name, which is not a file.
    pub fn named(name: &str, text: &str) -> Target {
        Target { place: TranscriptSource::Named(name.into(), text.into()), line: None }
    }

    /// Returns the file's path, if this is a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            TranscriptSource::File(path) => Some(path),
            TranscriptSource::Typed(_) | TranscriptSource::Named(..) => None,
        }
    }

    /// Returns the name for reports.
    pub fn name(&self) -> String {
        match &self.place {
            TranscriptSource::File(path) => path.display().to_string(),
            TranscriptSource::Typed(_) => "standard input".to_owned(),
            TranscriptSource::Named(name, _) => name.to_string(),
        }
    }

    /// Returns whether this is a file of Python, which need not have examples.
    pub fn is_code(&self) -> bool {
        self.path().is_some_and(|path| Form::of(path) == Form::Docstrings)
    }

    /// Returns the text, and its form.
    ///
    /// # Errors
    /// The errors of [`read_text`].
    pub fn read(&self) -> Result<(String, Form), String> {
        match &self.place {
            TranscriptSource::File(path) => Ok((read_text(path)?, Form::of(path))),
            TranscriptSource::Typed(text) => Ok((text.to_string(), Form::of_text(text))),
            TranscriptSource::Named(name, text) => Ok((text.to_string(), Form::of(Path::new(&**name)))),
        }
    }
}

/// The pages at a path, and the other files there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub pages: Vec<Target>,
    /// The number of files in no known form, by their extension, and of folders that are passed over, by their name.
    pub skipped: BTreeMap<String, usize>,
}

/// Folders with copies of what others have written.
const PASSED_OVER: &[&str] = &["__pycache__", "node_modules", "site-packages"];

/// Returns the pages at `path`: the file itself, or every file of a known form in a folder, sorted. Hidden entries are
/// passed over, and so are links to folders, which could form a cycle. `FILE:LINE` selects one session of a file.
///
/// # Errors
/// Fails with a line that names the path and the system's message.
pub fn collect(path: &Path) -> Result<Found, String> {
    let mut found = Found::default();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => walk(path, &mut found)?,
        Ok(_) => found.pages.push(Target::file(path.to_owned())),
        Err(error) => found.pages.push(at_line(path).ok_or_else(|| describe(path, &error))?),
    }
    Ok(found)
}

fn at_line(path: &Path) -> Option<Target> {
    let (file, line) = path.to_str()?.rsplit_once(':')?;
    let line = line.parse().ok().filter(|line| *line > 0)?;
    fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    Some(Target { line: Some(line), ..Target::file(file.into()) })
}

fn walk(folder: &Path, found: &mut Found) -> Result<(), String> {
    let mut entries = fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| describe(folder, &error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = with_slashes(entry.path());
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let kind = entry.file_type().map_err(|error| describe(&path, &error))?;
        if kind.is_dir() {
            if PASSED_OVER.contains(&name.as_str()) {
                *found.skipped.entry(format!("{name}/")).or_default() += 1;
            } else {
                walk(&path, found)?;
            }
        } else if Form::by_extension(&path).is_some() && path.is_file() {
            found.pages.push(Target::file(path));
        } else {
            let extension = path.extension().map(|extension| extension.to_string_lossy().into_owned());
            *found.skipped.entry(extension.unwrap_or(name)).or_default() += 1;
        }
    }
    Ok(())
}

/// Reads the whole text of a file.
///
/// # Errors
/// Fails with a line that names the file and the fault: the system's message, or the byte and line of the first invalid
/// UTF-8.
pub fn read_text(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| describe(path, &error))?;
    decode(bytes).map_err(|fault| format!("{}: {fault}", path.display()))
}

/// Decodes UTF-8.
///
/// # Errors
/// Fails with the byte offset (from 0) and the line (from 1) of the first invalid byte.
pub fn decode(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..offset).unwrap_or_default();
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        format!("invalid UTF-8 at byte {offset}, line {line}")
    })
}

/// Formats the system's message, without the "(os error 2)" that Rust appends.
pub fn describe(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {}", path.display(), describe_error(error).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_utf8_names_byte_and_line() {
        assert_eq!(decode(b"ab\nc\xff".to_vec()), Err("invalid UTF-8 at byte 4, line 2".to_owned()));
        assert_eq!(decode("é\n".as_bytes().to_vec()), Ok("é\n".to_owned()));
    }

    #[test]
    fn folders_are_walked_in_sorted_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.txt", "a/z.md", "a/y.rst", "c.rs", "d.rs", ".hidden/x.txt", "node_modules/x.md"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = collect(folder.path()).unwrap();
        let paths = found.pages.iter().map(|target| target.path().unwrap());
        let names: Vec<_> = paths.map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(names, ["a/y.rst", "a/z.md", "b.txt"].map(Path::new));
        let skipped = [("node_modules/".to_owned(), 1), ("rs".to_owned(), 2)];
        assert_eq!(found.skipped, BTreeMap::from(skipped));
    }

    #[test]
    fn a_missing_file_is_named() {
        assert_eq!(collect(Path::new("nope.txt")), Err("nope.txt: No such file or directory".to_owned()));
    }
}
