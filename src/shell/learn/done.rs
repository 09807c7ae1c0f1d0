//! The finished exercises, which the user's state folder keeps.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::history;
use crate::screen::complain;
use files::{PRIVATE, replace};
use session::lessons::{Exercise, Lesson};

/// The finished exercises.
pub(super) struct Done {
    /// `None` if nothing can be kept.
    path: Option<PathBuf>,
    done: BTreeSet<String>,
}

impl Done {
    pub(super) fn read() -> Done {
        let path = history::folder().map(|folder| folder.join("learn"));
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        Done { path, done: text.lines().map(str::to_owned).collect() }
    }

    fn key(lesson: &Lesson, exercise: &Exercise) -> String {
        format!("{}: {}", lesson.key, exercise.title)
    }

    pub(super) fn has(&self, lesson: &Lesson, exercise: &Exercise) -> bool {
        self.done.contains(&Done::key(lesson, exercise))
    }

    pub(super) fn has_all(&self, lesson: &Lesson) -> bool {
        lesson.exercises.iter().all(|exercise| self.has(lesson, exercise))
    }

    /// Returns the number of finished exercises of a lesson.
    pub(super) fn count(&self, lesson: &Lesson) -> usize {
        lesson.exercises.iter().filter(|exercise| self.has(lesson, exercise)).count()
    }

    pub(super) fn add(&mut self, lesson: &Lesson, exercise: &Exercise) {
        self.done.insert(Done::key(lesson, exercise));
        self.write();
    }

    /// Forgets these lessons, or everything.
    pub(super) fn forget(&mut self, lessons: Option<&[Lesson]>) {
        match lessons {
            None => self.done.clear(),
            Some(lessons) => {
                let exercises = lessons.iter().flat_map(|lesson| lesson.exercises.iter().map(move |e| (lesson, e)));
                for (lesson, exercise) in exercises {
                    self.done.remove(&Done::key(lesson, exercise));
                }
            }
        }
        self.write();
    }

    fn write(&self) {
        let Some(path) = &self.path else { return };
        let text: String = self.done.iter().map(|line| format!("{line}\n")).collect();
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = made.and_then(|()| replace(path, text.as_bytes(), PRIVATE)) {
            complain(&format!("progress cannot be saved: {}: {error}\n", path.display()));
        }
    }
}
