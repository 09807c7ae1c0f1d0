//! `tensorsh inspect FILE`, `tensorsh diff FILE FILE` and `tensorsh convert FILE FILE`: describes files of tensors,
//! compares two, and converts one to another format.

use super::interrupts::{exit_if_set, listen};
use super::script::INTERRUPTED;
use super::{complain, progress, show};
use files::{self, Comparing, Input, Source};
pub use files::{Conversion, ReportForm, Reporting, Sort};
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shows a report on each file, and returns the exit status. `-` is standard input.
pub fn inspect(files: &[String], how: &Reporting) -> i32 {
    let mut status = 0;
    for (index, name) in files.iter().enumerate() {
        match input(name).and_then(|input| input.contents()).and_then(|contents| contents.report(how)) {
            Ok(report) if matches!(how.form, ReportForm::Json) => show(&format!("{report}\n")),
            Ok(report) => show(&format!("{}{report}\n", if index > 0 { "\n" } else { "" })),
            Err(error) => {
                complain_of(name, &error);
                status = 1;
            }
        }
    }
    status
}

/// The form of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum DiffForm {
    /// A line a difference.
    Lines,
    /// A table of the changed tensors.
    Stat,
    Json,
}

/// Shows the differences between two files or folders. Returns the exit status: 0 if they are equal, 1 if they differ,
/// 2 if they cannot be compared.
pub fn diff(files: [&str; 2], tolerance: f64, form: DiffForm) -> i32 {
    if files == ["-", "-"] {
        complain("standard input can be read once, not twice\n");
        return 2;
    }
    progress::watch();
    let work = progress::begin();
    let open = |name: &str| input(name).and_then(|input| input.contents()).map_err(|error| complain_of(name, &error));
    let [Ok(a), Ok(b)] = files.map(open) else { return 2 };
    let found = files::diff(&a, &b, Comparing { tolerance, with_norms: matches!(form, DiffForm::Stat) });
    drop(work);
    match found {
        Ok(differences) => {
            let text = match form {
                DiffForm::Lines => differences.text(),
                DiffForm::Stat => differences.stat(),
                DiffForm::Json => differences.json(),
            };
            show(&format!("{text}\n"));
            i32::from(!differences.is_equal())
        }
        Err(error) => {
            complain_of(&files.join(", "), &error);
            2
        }
    }
}

/// Converts a file to another, and returns the exit status. Ctrl-C leaves the destination unchanged.
pub fn convert(from: &str, to: &str, how: &Conversion) -> i32 {
    let stop = Arc::new(AtomicBool::new(false));
    // Without a handler, Ctrl-C would end the program immediately and leave a partial temporary file.
    let _ = exit_if_set(stop.clone(), INTERRUPTED);
    let _ = listen(stop.clone());
    progress::watch();
    let work = progress::begin();
    let done = input(from).and_then(|input| files::convert(&input, to, how, &stop));
    drop(work);
    match done {
        Ok(notes) => {
            notes.into_iter().for_each(|note| complain(&format!("{from}: {note}\n")));
            0
        }
        Err(_) if stop.load(Ordering::Relaxed) => INTERRUPTED,
        Err(error) => {
            complain_of(from, &error);
            1
        }
    }
}

fn input(name: &str) -> files::Result<Input> {
    match name {
        "-" => Source::of_reader(std::io::stdin().lock(), "standard input").map(Input::File),
        name => Input::at(name),
    }
}

fn complain_of(name: &str, error: &dyn Display) {
    complain(&format!("{name}: {error}\n"));
}
