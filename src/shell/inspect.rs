//! `tensorsh inspect FILE`: lists what files of tensors hold.

use super::{complain, show};
use crate::files::{self, Source};

/// Shows a report on each file, as a table or as JSON; gives the exit status. `-` is standard input.
pub fn inspect(files: &[String], as_json: bool) -> i32 {
    let mut status = 0;
    for (index, name) in files.iter().enumerate() {
        let source = match name.as_str() {
            "-" => Source::of_reader(std::io::stdin().lock(), "standard input"),
            name => Source::open(name),
        };
        match source.and_then(|source| files::contents(&source)) {
            Ok(report) if as_json => show(&format!("{}\n", report.json())),
            Ok(report) => show(&format!("{}{}\n", if index > 0 { "\n" } else { "" }, report.text())),
            Err(error) => {
                complain(&format!("{name}: {error}\n"));
                status = 1;
            }
        }
    }
    status
}
