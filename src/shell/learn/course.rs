//! Which lessons are meant: one of docs/learn by its number or name, somebody's file, or a folder of files.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use files::read_whole;
use session::lessons::{Lesson, MOST_BYTES, find, lessons, place, read};
use session::transcript::{describe, with_slashes};

/// Lessons in the order in which they are taken.
#[derive(Debug)]
pub(crate) struct Course {
    pub lessons: Cow<'static, [Lesson]>,
    /// The position of the lesson that was asked for.
    pub first: Option<usize>,
    /// The position of the exercise that was asked for.
    pub exercise: Option<usize>,
}

impl Course {
    /// Returns the lessons of docs/learn.
    pub(crate) fn own() -> Course {
        Course { lessons: Cow::Borrowed(lessons()), first: None, exercise: None }
    }

    /// Finds what is meant by the argument of a command.
    ///
    /// # Errors
    /// Fails with lines that say what is wrong, and where.
    pub(crate) fn find(wanted: &str) -> Result<Course, String> {
        let (name, number) = if Path::new(wanted).exists() { (wanted, None) } else { place(wanted) };
        let mut course = match find(name).and_then(|found| lessons().iter().position(|lesson| lesson == found)) {
            Some(first) => Course { first: Some(first), ..Course::own() },
            None => Course::at(Path::new(name), wanted)?,
        };
        if let Some(number) = number {
            let Some(lesson) = course.first.and_then(|first| course.lessons.get(first)) else {
                return Err(format!("{name} is a folder; name one of its lessons, as in {name}/LESSON.md:{number}\n"));
            };
            let count = lesson.exercises.len();
            course.exercise = number.checked_sub(1).filter(|index| *index < count);
            if course.exercise.is_none() {
                return Err(format!("the lesson {name} has no exercise {number}; it has {count}\n"));
            }
        }
        Ok(course)
    }

    fn at(path: &Path, wanted: &str) -> Result<Course, String> {
        if path.is_dir() {
            let found = pages(path).map_err(|error| format!("{}\n", describe(path, &error)))?;
            if found.is_empty() {
                return Err(format!("{} has no lessons: a lesson is a file that ends in .md\n", path.display()));
            }
            let (mut read, mut broken) = (Vec::new(), String::new());
            for page in &found {
                match lesson(page) {
                    Ok(lesson) => read.push(lesson),
                    Err(why) => broken.push_str(&why),
                }
            }
            return match broken.is_empty() {
                true => Ok(Course { lessons: Cow::Owned(read), first: None, exercise: None }),
                false => Err(broken),
            };
        }
        // A name with a dot or a separator was meant as a file.
        if !path.exists() && !wanted.contains(['.', '/', '\\']) {
            return Err(format!("there is no lesson {wanted}; see tensorsh learn --list\n"));
        }
        Ok(Course { lessons: Cow::Owned(vec![lesson(path)?]), first: Some(0), exercise: None })
    }
}

/// Returns the pages of a folder, in the order of their names. A README describes the folder and is no lesson.
fn pages(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = with_slashes(entry?.path());
        let is_page = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
        let is_readme = path.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("readme"));
        if is_page && !is_readme && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads somebody's lesson.
///
/// # Errors
/// Fails with a line for everything that is wrong.
fn lesson(path: &Path) -> Result<Lesson, String> {
    let shown = path.display();
    // Twice the limit, so that a page that is a little too long is read, and told to be divided.
    let bytes =
        read_whole(&path.to_string_lossy(), 2 * MOST_BYTES as u64).map_err(|error| format!("{}\n", error.message))?;
    let page = String::from_utf8(bytes).map_err(|_| format!("{shown} is not text in UTF-8\n"))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    // Lessons of two people may have the same name and title, but not the same path.
    let key =
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().replace(['\n', '\r'], "\u{fffd}");
    read(&name, &key, page.trim_start_matches('\u{feff}')).map_err(|mistakes| {
        mistakes.iter().map(|mistake| format!("{shown}:{}: {}\n", mistake.line, mistake.what)).collect()
    })
}
