//! `tensorsh test`: runs recorded sessions, reports the results, asks about outputs that differ, and runs again when a
//! file changes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{Read, stdin};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use super::{Screen, Stream, complain, show};
use session::transcript::{
    FileReport, Json, Palette, Target, Terms, Totals, collect, decode, describe, junit, run_files,
};

/// The arguments of `tensorsh test`.
#[derive(Clone, Debug)]
pub struct Testing {
    /// Files, folders, `FILE:LINE`, `-`.
    pub paths: Vec<PathBuf>,
    pub terms: Terms,
    /// Whether to show only failures.
    pub quiet: bool,
    /// Whether to stop after the first file with a failure.
    pub fail_fast: bool,
    /// Whether to ask about every output that differs.
    pub review: bool,
    /// Whether to run again when a file changes.
    pub watch: bool,
    /// Whether to report as JSON.
    pub json: bool,
    /// The file for a report in JUnit's XML.
    pub junit: Option<PathBuf>,
    /// Whether a fenced block that is not read is a failure.
    pub strict: bool,
}

/// The interval between two checks for changed files.
const GLANCE: Duration = Duration::from_millis(200);

/// Runs the sessions, and returns the exit status.
pub fn test(screen: Screen, testing: &Testing) -> i32 {
    let (found, all_found) = gather(&testing.paths);
    let files: Vec<Target> = found.iter().flat_map(|(_, files)| files).cloned().collect();
    // Taken before the run, so that changes made meanwhile are noticed.
    let mut seen = times(&files);
    let (status, names) = run(screen, testing, &files);
    if testing.watch {
        loop {
            sleep(GLANCE);
            let files: Vec<Target> = gather(&testing.paths).0.into_iter().flat_map(|(_, files)| files).collect();
            let now = times(&files);
            let is_new = |target: &&Target| target.path().is_some_and(|path| now.get(path) != seen.get(path));
            let changed: Vec<Target> = files.iter().filter(is_new).cloned().collect();
            seen = now;
            if !changed.is_empty() {
                show("\n");
                run(screen, testing, &changed);
            }
        }
    }
    if all_found && have_examples(&found, names.as_ref()) { status } else { 1 }
}

/// Returns whether there is an example in each path, and names those without. `names` are the names of the files with
/// examples; `None` if not all files were run.
fn have_examples(found: &[(PathBuf, Vec<Target>)], names: Option<&HashSet<String>>) -> bool {
    let Some(names) = names.filter(|_| found.len() > 1) else { return true };
    let mut have_all = true;
    for (path, _) in found.iter().filter(|(_, files)| !files.iter().any(|file| names.contains(&file.name()))) {
        complain(&format!("tensorsh: {} has no examples\n", path.display()));
        have_all = false;
    }
    have_all
}

/// Returns the files of each given path, and whether all were found.
fn gather(paths: &[PathBuf]) -> (Vec<(PathBuf, Vec<Target>)>, bool) {
    let (mut files, mut all_found) = (Vec::new(), true);
    for path in paths {
        match if path.as_os_str() == "-" { standard_input() } else { collect(path) } {
            Ok(found) => files.push((path.clone(), found)),
            Err(error) => {
                complain(&format!("tensorsh: {error}\n"));
                all_found = false;
            }
        }
    }
    (files, all_found)
}

fn standard_input() -> Result<Vec<Target>, String> {
    let mut bytes = Vec::new();
    let read = stdin().lock().read_to_end(&mut bytes).map_err(|error| error.to_string());
    let text = read.and_then(|_| decode(bytes)).map_err(|fault| format!("standard input: {fault}"))?;
    Ok(vec![Target::typed(text)])
}

/// Returns the modification time of each file.
fn times(files: &[Target]) -> HashMap<PathBuf, Option<SystemTime>> {
    let paths = files.iter().filter_map(|target| target.path().map(Path::to_owned));
    let written = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    paths.map(|path| (path.clone(), written(&path))).collect()
}

/// Runs the files. Returns the exit status, and the names of the files with examples if all were run.
fn run(screen: Screen, testing: &Testing, files: &[Target]) -> (i32, Option<HashSet<String>>) {
    let mut names = Some(HashSet::new());
    let palette = Palette::new(screen.is_coloured(Stream::Output));
    let (mut totals, mut told, mut suites) = (Totals::default(), HashSet::new(), String::new());
    let mut json = Json::default();
    let mut has_left = false;
    run_files(files, &testing.terms, |mut report| {
        if testing.review && !has_left {
            has_left = review(&palette, &mut report).is_break();
        }
        totals.add(&report);
        if let Some(names) = &mut names
            && report.cases.as_ref().is_ok_and(|cases| !cases.is_empty())
        {
            names.insert(report.target.name());
        }
        if testing.junit.is_some() {
            suites.push_str(&report.to_junit());
        }
        if testing.json {
            json.add(&report);
        } else {
            show(&report.render(&palette, testing.quiet || testing.review));
            if !testing.quiet {
                show(&report.warnings(&palette, &mut told));
            }
        }
        let enough = testing.fail_fast && !report.is_good();
        names = names.take().filter(|_| !enough);
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if testing.json {
        show(&json.text(&totals));
    } else {
        show(&totals.render(&palette));
    }
    if let Some(path) = &testing.junit
        && let Err(error) = fs::write(path, junit(&suites))
    {
        complain(&format!("tensorsh: {}\n", describe(path, &error)));
        return (1, names);
    }
    let is_good = totals.all_passed() && (!testing.strict || totals.not_read.is_empty());
    (i32::from(!is_good), names)
}

/// Shows every differing output of a file, and asks what to do with it. Breaks if nothing more is to be asked.
fn review(palette: &Palette, report: &mut FileReport) -> ControlFlow<()> {
    let mut answered = ControlFlow::Continue(());
    let shown: Vec<String> = report.differences(palette);
    let mut next = shown.into_iter();
    report.update(|_, _, _| {
        let Some(difference) = next.next() else { return false };
        if answered.is_break() {
            return false;
        }
        show(&difference);
        loop {
            show("write this into the file? [y]es, [n]o, [q]uit: ");
            let mut line = String::new();
            match stdin().read_line(&mut line) {
                Ok(0) | Err(_) => {
                    show("\n");
                    answered = ControlFlow::Break(());
                    return false;
                }
                Ok(_) => match line.trim().to_lowercase().as_str() {
                    "y" | "yes" => return true,
                    "n" | "no" => return false,
                    "q" | "quit" => {
                        answered = ControlFlow::Break(());
                        return false;
                    }
                    _ => {}
                },
            }
        }
    });
    answered
}
