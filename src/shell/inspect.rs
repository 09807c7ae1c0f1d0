//! `tensorsh inspect FILE`, `tensorsh diff FILE FILE`: what files of tensors hold, and what changed from one to another.

use super::{complain, progress, show};
use crate::files::{self, Contents, Source};
use crate::tensor::{Error, Result};

/// Shows a report on each file, as a table or as JSON; gives the exit status. `-` is standard input.
pub fn inspect(files: &[String], as_json: bool) -> i32 {
    let mut status = 0;
    for (index, name) in files.iter().enumerate() {
        match contents(name) {
            Ok(report) if as_json => show(&format!("{}\n", report.json())),
            Ok(report) => show(&format!("{}{}\n", if index > 0 { "\n" } else { "" }, report.text())),
            Err(error) => {
                complain_of(name, &error);
                status = 1;
            }
        }
    }
    status
}

/// Shows what differs between two files or folders; gives the exit status: 0 where nothing does, 1 where something does, 2
/// where they cannot be compared.
pub fn diff(files: [&str; 2], tolerance: f64, as_json: bool) -> i32 {
    progress::watch();
    let work = progress::begin();
    let open = |name: &str| contents(name).map_err(|error| complain_of(name, &error));
    let [Ok(a), Ok(b)] = files.map(open) else { return 2 };
    let found = files::diff(&a, &b, tolerance);
    drop(work);
    match found {
        Ok(differences) => {
            let text = if as_json { differences.json() } else { differences.text() };
            show(&format!("{text}\n"));
            i32::from(!differences.is_equal())
        }
        Err(error) => {
            complain_of(&files.join(", "), &error);
            2
        }
    }
}

fn contents(name: &str) -> Result<Contents> {
    match name {
        "-" => files::contents(&Source::of_reader(std::io::stdin().lock(), "standard input")?),
        name => files::contents(&Source::open(name)?),
    }
}

fn complain_of(name: &str, error: &Error) {
    complain(&format!("{name}: {error}\n"));
}
