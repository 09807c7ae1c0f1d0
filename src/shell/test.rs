//! `tensorsh test`: runs recorded sessions, reports the results, asks about outputs that differ, and runs again when a
//! file changes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{Read, stdin};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use super::{Screen, Stream, complain, show};
use session::lessons::tried;
use session::transcript::{
    Baseline, FileReport, Found, Json, Palette, Target, Terms, Totals, collect, decode, describe, junit, run_files,
    write_whole,
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
    /// Whether anything that is not read, not compared or missing here is a failure.
    pub strict: bool,
    /// Whether paths without examples are accepted.
    pub allow_empty: bool,
    /// Whether to print a patch with the new outputs in place of the report.
    pub diff: bool,
    /// The file to write today's failures to.
    pub write_baseline: Option<PathBuf>,
}

/// The interval between two checks for changed files.
const GLANCE: Duration = Duration::from_millis(200);

/// Runs the sessions, and returns the exit status.
pub fn test(screen: Screen, testing: &Testing) -> i32 {
    let (found, all_found) = gather(&testing.paths);
    let files = pages(&found);
    // Taken before the run, so that changes made meanwhile are noticed.
    let mut seen = times(&files);
    let (status, names) = run(screen, testing, &found, &files);
    if testing.watch {
        loop {
            sleep(GLANCE);
            let files = pages(&gather(&testing.paths).0);
            let now = times(&files);
            let is_new = |target: &&Target| target.path().is_some_and(|path| now.get(path) != seen.get(path));
            let changed: Vec<Target> = files.iter().filter(is_new).cloned().collect();
            seen = now;
            if !changed.is_empty() {
                show("\n");
                run(screen, testing, &[], &changed);
            }
        }
    }
    if all_found && (testing.allow_empty || have_examples(&found, names.as_ref())) { status } else { 1 }
}

/// Returns whether there is an example in each path, and names those without. `names` are the names of the files with
/// examples; `None` if not all files were run.
fn have_examples(found: &[(PathBuf, Found)], names: Option<&HashSet<String>>) -> bool {
    let Some(names) = names.filter(|_| found.len() > 1) else { return true };
    let mut have_all = true;
    let has_none = |found: &Found| !found.pages.iter().any(|file| names.contains(&file.name()));
    for (path, _) in found.iter().filter(|(_, found)| has_none(found)) {
        complain(&format!("tensorsh: {} has no examples\n", path.display()));
        have_all = false;
    }
    have_all
}

/// Returns the pages of all paths.
fn pages(found: &[(PathBuf, Found)]) -> Vec<Target> {
    found.iter().flat_map(|(_, found)| &found.pages).cloned().collect()
}

/// Returns the pages of each given path, and whether all were found.
fn gather(paths: &[PathBuf]) -> (Vec<(PathBuf, Found)>, bool) {
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

fn standard_input() -> Result<Found, String> {
    let mut bytes = Vec::new();
    let read = stdin().lock().read_to_end(&mut bytes).map_err(|error| error.to_string());
    let text = read.and_then(|_| decode(bytes)).map_err(|fault| format!("standard input: {fault}"))?;
    Ok(Found { pages: vec![Target::typed(text)], ..Found::default() })
}

/// Returns the modification time of each file.
fn times(files: &[Target]) -> HashMap<PathBuf, Option<SystemTime>> {
    let paths = files.iter().filter_map(|target| target.path().map(Path::to_owned));
    let written = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    paths.map(|path| (path.clone(), written(&path))).collect()
}

/// Runs the files. Returns the exit status, and the names of the files with examples if all were run.
fn run(
    screen: Screen,
    testing: &Testing,
    found: &[(PathBuf, Found)],
    files: &[Target],
) -> (i32, Option<HashSet<String>>) {
    let mut names = Some(HashSet::new());
    let palette = Palette::new(screen.is_coloured(Stream::Output));
    let (mut totals, mut told, mut suites) = (Totals::default(), HashSet::new(), String::new());
    let (mut json, mut baseline) = (Json::default(), Baseline::default());
    let mut has_left = false;
    let terms = Terms { try_page: Some(tried), ..testing.terms.clone() };
    run_files(files, &terms, |mut report| {
        if testing.review && !has_left {
            has_left = review(&palette, &mut report).is_break();
        }
        totals.add(&report);
        let has_examples = report.cases.as_ref().is_ok_and(|cases| !cases.is_empty());
        if let Some(names) = names.as_mut().filter(|_| has_examples) {
            names.insert(report.target.name());
        }
        if testing.junit.is_some() {
            suites.push_str(&report.to_junit());
        }
        if testing.write_baseline.is_some() {
            baseline.add(&report);
        }
        if testing.diff {
            patch(&report);
        } else if testing.json {
            json.add(&report);
        } else {
            // Most files of Python in a folder have no examples.
            let is_code = !has_examples && report.cases.is_ok() && report.target.is_code() && files.len() > 1;
            show(&report.render(&palette, testing.quiet || testing.review || is_code));
            if !testing.quiet {
                show(&report.warnings(&palette, &mut told));
            }
        }
        let enough = testing.fail_fast && !report.is_good();
        names = names.take().filter(|_| !enough);
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let summary = format!("{}{}", passed_over(found), totals.render(&palette));
    if testing.diff {
        complain(&summary);
    } else if testing.json {
        show(&json.text(&totals));
    } else {
        show(&summary);
    }
    let mut status = match totals {
        _ if testing.strict => i32::from(!totals.all_confirmed()),
        _ if testing.allow_empty && totals.is_empty() => 0,
        _ => totals.status(),
    };
    if let Some(path) = &testing.write_baseline {
        match write_whole(path, &baseline.text()) {
            Ok(()) => status = 0,
            Err(reason) => status = refused(&reason),
        }
    }
    if let Some(path) = &testing.junit
        && let Err(error) = fs::write(path, junit(&suites))
    {
        status = refused(&describe(path, &error));
    }
    (status, names)
}

fn refused(reason: &str) -> i32 {
    complain(&format!("tensorsh: {reason}\n"));
    1
}

/// Prints what `--update` would change in a file, as a patch.
fn patch(report: &FileReport) {
    match report.patch() {
        Ok(patch) => show(&patch.unwrap_or_default()),
        Err(reason) => complain(&format!("{}: {reason}\n", report.target.name())),
    }
    if let Err(error) = &report.cases {
        complain(&format!("tensorsh: {error}\n"));
    }
}

/// Returns a line for each folder with files that are in no known form: `docs: 7 files not read (png 5, css 2)`.
fn passed_over(found: &[(PathBuf, Found)]) -> String {
    let line = |(path, found): &(PathBuf, Found)| {
        let number: usize = found.skipped.values().sum();
        let mut kinds: Vec<_> = found.skipped.iter().collect::<BTreeMap<_, _>>().into_iter().collect();
        kinds.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
        let kinds: Vec<_> = kinds.iter().map(|(kind, number)| format!("{kind} {number}")).collect();
        let word = if number == 1 { "file" } else { "files" };
        match number {
            0 => String::new(),
            _ => format!("{}: {number} {word} not read ({})\n", path.display(), kinds.join(", ")),
        }
    };
    found.iter().map(line).collect()
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

/// Prints the sessions of files with what they print now.
pub fn replay(files: &[PathBuf]) -> i32 {
    let mut status = 0;
    for file in files {
        match session::transcript::replay(&Target::file(file.clone())) {
            Ok(text) => show(&text),
            Err(error) => {
                complain(&format!("tensorsh: {error}\n"));
                status = 1;
            }
        }
    }
    status
}
