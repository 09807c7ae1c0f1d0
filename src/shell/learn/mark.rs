//! `tensorsh learn --mark FILE`: judges the answers of a report again. Each exercise is judged by a process of its own,
//! whose time, memory and files are limited, since a report may hold any code.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::console::LessonConsole;
use super::course::Course;
use super::report::MOST_BYTES;
use crate::screen::{ColorChoice, Screen, complain, show};
use files::read_whole;
use session::lessons::{Attempt, Exercise, Lesson, Report, Verdict, Work, command_of};
use session::{Rehearsal, SessionOptions};

/// The arguments of `tensorsh learn --mark`.
#[derive(Clone, Debug)]
pub struct Marking {
    pub report: PathBuf,
    /// The lessons to judge by. `None` means those of docs/learn, as far as the report has them.
    pub lesson: Option<String>,
    /// The time for one exercise.
    pub limit: Duration,
    /// The position of the exercise that this process judges.
    pub judged: Option<usize>,
}

/// The exit statuses of a process that judges, apart from those of a process that breaks down.
const RIGHT: i32 = 40;
const NOT_RIGHT: i32 = 41;

/// The most exercises of a report.
const MOST: usize = 1000;

/// The address space of a process that judges, in bytes, of which its stack takes one gigabyte …
#[cfg(target_os = "linux")]
const MEMORY: u64 = 4 << 30;
/// … the length of a file that it may write …
#[cfg(unix)]
const FILE: u64 = 64 << 20;
/// … and of all its files together.
const FILES: u64 = 256 << 20;

/// How often the files of a process are looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// Judges a report, prints a table, and returns the exit status: 0 if all answers are right, 1 if some are not, 2 if
/// the report cannot be judged.
pub fn mark(marking: &Marking) -> i32 {
    let refuse = |why: &str| {
        complain(&format!("tensorsh: {}\n", why.trim_end()));
        2
    };
    let bytes = match read_whole(&marking.report.to_string_lossy(), MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => return refuse(&error.message),
    };
    let report = Report::read(&String::from_utf8_lossy(&bytes));
    let course = match marking.lesson.as_deref().map_or_else(|| Ok(Course::own()), Course::find) {
        Ok(course) => course,
        Err(why) => return refuse(&why),
    };
    if let Some(index) = marking.judged {
        return report.works.get(index).map_or(2, |work| judge(work, &course.lessons));
    }
    let shown = marking.report.display();
    for line in &report.broken {
        complain(&format!("{shown}:{line}: not a line of a report\n"));
    }
    if report.works.is_empty() {
        return refuse(&format!("{shown} holds no work on an exercise"));
    }
    if report.works.len() > MOST {
        return refuse(&format!("{shown} holds work on more than {MOST} exercises"));
    }
    let rows = rows(&report, &course, marking);
    show(&table(&rows));
    let right = rows.iter().filter(|row| row.is_right).count();
    show(&format!("{right} of {} exercises are right.\n", rows.len()));
    i32::from(right < rows.len() || !report.broken.is_empty())
}

/// A line of the table.
struct Row {
    cells: [String; 7],
    is_right: bool,
}

const HEAD: [&str; 7] = ["lesson", "exercise", "attempts", "answers", "hints", "report", "judged"];

fn rows(report: &Report, course: &Course, marking: &Marking) -> Vec<Row> {
    let judged = |index: usize, work: &Work| {
        let (is_right, found) = match work.exercise_of(&course.lessons) {
            Ok(_) if work.attempt.inputs.is_empty() => (false, "no answer".to_owned()),
            Ok(_) => by_process(index, marking),
            Err(why) => (false, why.to_owned()),
        };
        row(work, is_right, found)
    };
    let works = || report.works.iter().enumerate();
    if marking.lesson.is_none() {
        return works().map(|(index, work)| judged(index, work)).collect();
    }
    // Every exercise that was asked for has its row, whether the report has it or not.
    let lessons = course.lessons.iter().enumerate();
    let asked = lessons.filter(|(place, _)| course.first.is_none_or(|first| first == *place));
    asked
        .flat_map(|(_, lesson)| {
            lesson.exercises.iter().enumerate().map(move |(index, exercise)| (lesson, index, exercise))
        })
        .filter(|(_, index, _)| course.exercise.is_none_or(|asked| asked == *index))
        .map(|(lesson, _, exercise)| match works().find(|(_, work)| is_on(work, lesson, exercise)) {
            Some((index, work)) => judged(index, work),
            None => {
                let cells = [&lesson.name, &exercise.title, "0", "0", "0", "", "not begun"].map(printable);
                Row { cells, is_right: false }
            }
        })
        .collect()
}

fn is_on(work: &Work, lesson: &Lesson, exercise: &Exercise) -> bool {
    work.lesson == lesson.name && work.exercise == exercise.title
}

fn row(work: &Work, is_right: bool, found: String) -> Row {
    let hints = if work.saw_solution { format!("{} and the solution", work.hints) } else { work.hints.to_string() };
    let said = if work.is_said_right { "right" } else { "not right" };
    let numbers = [work.attempts.to_string(), work.answers.to_string()];
    let [attempts, answers] = numbers;
    let cells = [&work.lesson, &work.exercise, &attempts, &answers, &hints, said, &found].map(printable);
    Row { cells, is_right }
}

/// Returns text of a report as a cell: without characters that a terminal would obey, and not too long.
fn printable(text: &str) -> String {
    let mut shown: String = text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(60).is_some() {
        shown.push('…');
    }
    shown
}

fn table(rows: &[Row]) -> String {
    let lines = || std::iter::once(HEAD.map(str::to_owned)).chain(rows.iter().map(|row| row.cells.clone()));
    let mut widths = [0; 7];
    for line in lines() {
        widths.iter_mut().zip(&line).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let padded = |line: [String; 7]| {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines().map(padded).collect()
}

/// Has a process judge the work at `index` of the report. Returns whether it is right, and what to say.
fn by_process(index: usize, marking: &Marking) -> (bool, String) {
    let judged =
        started(index, marking).and_then(|(mut child, folder)| watched(&mut child, folder.path(), marking.limit));
    match judged {
        Ok(RIGHT) => (true, "right".to_owned()),
        Ok(NOT_RIGHT) => (false, "not right".to_owned()),
        Ok(_) => (false, "broke down".to_owned()),
        Err(why) => (false, why.to_string()),
    }
}

/// Starts a process that judges, with a folder for all that it writes.
fn started(index: usize, marking: &Marking) -> io::Result<(Child, TempDir)> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["learn", "--mark"]).arg(&marking.report).args(["--judge", &index.to_string()]);
    if let Some(lesson) = &marking.lesson {
        command.arg("--").arg(lesson);
    }
    for name in ["TMPDIR", "TMP", "TEMP"] {
        command.env(name, folder.path());
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok((command.spawn()?, folder))
}

/// Waits for a process, and returns its exit status; -1 for one that a signal has ended.
///
/// # Errors
/// Fails with the reason why the process was stopped.
fn watched(child: &mut Child, folder: &Path, limit: Duration) -> io::Result<i32> {
    let begin = Instant::now();
    let mut looked = begin;
    let why = loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().unwrap_or(-1));
        }
        if begin.elapsed() >= limit {
            break format!("stopped after {} s", limit.as_secs());
        }
        if looked.elapsed() >= GLANCE {
            looked = Instant::now();
            if nbytes(folder) > FILES {
                break format!("stopped after it wrote {} MiB", FILES >> 20);
            }
        }
        sleep(Duration::from_millis(5));
    };
    // It may have ended by itself meanwhile.
    let _ = child.kill();
    child.wait()?;
    Err(io::Error::other(why))
}

/// Returns the bytes of all files in a folder.
fn nbytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let length = |entry: fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => nbytes(&entry.path()),
        Ok(about) => about.len(),
        // It was removed meanwhile.
        Err(_) => 0,
    };
    entries.map(length).sum()
}

/// Judges the work in this process, and returns its exit status.
fn judge(work: &Work, lessons: &[Lesson]) -> i32 {
    limit_this_process();
    let Ok(folder) = tempfile::tempdir() else { return 2 };
    // What an answer writes goes to the folder that the other process removes.
    let _elsewhere = Rehearsal::begin(folder.path());
    let Ok(exercise) = work.exercise_of(lessons) else { return 2 };
    let options = SessionOptions { live: Some(Box::new(|_| {})), ..SessionOptions::default() };
    let mut attempt = exercise.begin(work.attempt.language, options);
    let is_right = |input: &String| given(&mut attempt, input) == Some(Verdict::Right);
    if work.attempt.inputs.iter().any(is_right) { RIGHT } else { NOT_RIGHT }
}

/// The commands that change what later answers find. All others are looks, or have to do with files.
const COMMANDS: [&str; 4] = [":undo", ":redo", ":python", ":rhai"];

/// Gives an input again.
fn given(attempt: &mut Attempt, input: &str) -> Option<Verdict> {
    let Some(command) = command_of(input) else {
        let language = attempt.desk.language();
        return attempt.answer(language, input).1;
    };
    let name = command.split_whitespace().next().unwrap_or_default();
    if !COMMANDS.contains(&name) {
        return None;
    }
    let screen = Screen::new(ColorChoice::Never);
    let mut console = LessonConsole { screen, columns: 80, rows: None, paging: Rc::default() };
    attempt.command(&mut console, command)
}

/// Limits memory and the length of written files. The process that waits for this one limits the time.
#[cfg(unix)]
fn limit_this_process() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // A process that already has a lower limit keeps it.
    let _ = setrlimit(Resource::Fsize, limit(FILE));
    let _ = setrlimit(Resource::Core, limit(0));
    #[cfg(target_os = "linux")]
    let _ = setrlimit(Resource::As, limit(MEMORY));
}

#[cfg(not(unix))]
fn limit_this_process() {}
