//! `tensorsh learn --report FILE`: keeps what the learner does, line by line. A kill leaves whole lines, but for the
//! last one at worst.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::screen::complain;
use session::lessons::{Record, Report};
use session::transcript::describe;

/// The largest report that is read, in bytes.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// A report that grows.
pub(super) struct ReportFile {
    path: PathBuf,
    /// `None` after a failure, which is told once.
    file: Option<File>,
}

impl ReportFile {
    /// Opens a report, or begins a new one.
    ///
    /// # Errors
    /// Fails with the reason why nothing can be kept there.
    pub(super) fn open(path: &Path) -> Result<ReportFile, String> {
        let told = |error: io::Error| describe(path, &error);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(told)?;
        if !file.metadata().map_err(told)?.is_file() {
            return Err(format!("{} is not a regular file", path.display()));
        }
        let mut text = String::new();
        let is_text = Read::by_ref(&mut file).take(MOST_BYTES).read_to_string(&mut text).is_ok();
        if !is_text || !text.trim().is_empty() && Report::read(&text).works.is_empty() {
            return Err(format!("{} is something else than a report; name a new file", path.display()));
        }
        // The end of a line that a kill has cut off.
        if !text.is_empty() && !text.ends_with('\n') {
            file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(b"\n")).map_err(told)?;
        }
        Ok(ReportFile { path: path.to_owned(), file: Some(file) })
    }

    /// Adds a line. The system writes it in one piece at the end, whoever else adds to the file.
    pub(super) fn add(&mut self, record: &Record) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(format!("{}\n", record.line()).as_bytes()) {
            complain(&format!("the report cannot be kept: {}: {error}\n", self.path.display()));
            self.file = None;
        }
    }
}
