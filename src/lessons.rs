//! The tutorial: the pages in docs/learn, as lessons with exercises that are checked by what the learner's answer does.
//! Reads and checks; what is shown when, and where progress is kept, the shell knows.

mod parse;

use std::sync::LazyLock;

use crate::session::{Language, Session, SessionOptions};
use crate::transcript::Example;

/// The pages, in the order in which they are taught, each with the name it goes by.
const PAGES: &[(&str, &str)] = &[
    ("storage", include_str!("../docs/learn/01-storage.md")),
    ("strides", include_str!("../docs/learn/02-strides.md")),
    ("views", include_str!("../docs/learn/03-views.md")),
    ("transpose", include_str!("../docs/learn/04-transpose.md")),
    ("bytes", include_str!("../docs/learn/05-bytes.md")),
    ("frombuffer", include_str!("../docs/learn/06-frombuffer.md")),
    ("indexing", include_str!("../docs/learn/07-indexing.md")),
    ("broadcasting", include_str!("../docs/learn/08-broadcasting.md")),
    ("as-strided", include_str!("../docs/learn/09-as-strided.md")),
    ("saving", include_str!("../docs/learn/10-saving.md")),
];

/// A page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lesson {
    /// By which it is asked for and remembered.
    pub name: &'static str,
    pub title: String,
    pub parts: Vec<Part>,
    pub exercises: Vec<Exercise>,
}

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A paragraph, on one line.
    Prose(String),
    /// Inputs that are run as one reads.
    Session(Vec<Example>),
}

/// Something to do, and how to tell whether it is done. All code is Python.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exercise {
    pub title: String,
    pub task: Vec<Part>,
    /// Run before.
    pub given: String,
    /// True when it is done; `answer` is the value of the last input.
    pub check: String,
    /// Answers that are right, …
    pub right: Vec<String>,
    /// … and some that are not, for the test.
    pub wrong: Vec<String>,
    pub hints: Vec<Vec<Part>>,
    pub solution: Vec<Part>,
}

/// Every lesson, in order.
pub fn lessons() -> &'static [Lesson] {
    static LESSONS: LazyLock<Vec<Lesson>> =
        LazyLock::new(|| PAGES.iter().map(|(name, page)| parse::lesson(name, page)).collect());
    &LESSONS
}

/// The lesson of that number or name.
pub fn find(wanted: &str) -> Option<&'static Lesson> {
    let by_number = wanted.parse::<usize>().ok().and_then(|number| lessons().get(number.checked_sub(1)?));
    by_number.or_else(|| lessons().iter().find(|lesson| lesson.name == wanted))
}

impl Exercise {
    /// A session in which the exercise can be done, and in which `options` say where output goes.
    pub fn session(&self, options: SessionOptions) -> Session {
        let mut session = Session::new(SessionOptions { keeps_results: true, ..options });
        session.eval(Language::Python, &self.given);
        session
    }

    /// Returns whether what was done so far solves it. Evaluates in the session of the exercise and shows nothing.
    pub fn is_solved(&self, session: &mut Session) -> bool {
        session.eval(Language::Python, "answer = None");
        // Without a value so far there is no `_`, and the answer stays nothing.
        session.eval(Language::Python, "answer = _");
        session.eval(Language::Python, &format!("assert ({})", self.check)).error.is_none()
    }

    /// The inputs of the solution.
    pub fn solution_inputs(&self) -> impl Iterator<Item = &Example> {
        self.solution.iter().flat_map(|part| match part {
            Part::Session(examples) => examples.as_slice(),
            Part::Prose(_) => &[],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solves(exercise: &Exercise, inputs: &[&str]) -> bool {
        let mut session = exercise.session(SessionOptions::default());
        for input in inputs {
            let outcome = session.eval(Language::Python, input);
            assert_eq!(outcome.error, None, "{}: {input}", exercise.title);
        }
        exercise.is_solved(&mut session)
    }

    #[test]
    fn right_answers_are_told_from_wrong_ones() {
        for (lesson, exercise) in lessons().iter().flat_map(|lesson| lesson.exercises.iter().map(move |e| (lesson, e)))
        {
            let place = format!("{}: {}", lesson.name, exercise.title);
            assert!(exercise.right.len() > 1 && exercise.wrong.len() > 1, "{place}: too few answers");
            assert!(!exercise.hints.is_empty() && !exercise.task.is_empty(), "{place}: no hint or no task");
            for answer in &exercise.right {
                assert!(solves(exercise, &[answer]), "{place}: {answer} is right");
            }
            for answer in &exercise.wrong {
                assert!(!solves(exercise, &[answer]), "{place}: {answer} is wrong");
            }
            assert!(!solves(exercise, &[]), "{place}: doing nothing is wrong");
            let solution: Vec<_> = exercise.solution_inputs().map(|example| example.source.as_str()).collect();
            assert!(!solution.is_empty() && solves(exercise, &solution), "{place}: the solution");
        }
    }

    #[test]
    fn lessons_are_found() {
        assert_eq!(lessons().len(), 10);
        assert!(lessons().iter().all(|lesson| lesson.exercises.len() > 1 && lesson.parts.len() > 3));
        assert_eq!(find("3").map(|lesson| lesson.name), Some("views"));
        assert_eq!(find("saving").map(|lesson| lesson.title.as_str()), Some("Saving and sharing"));
        assert!(find("0").is_none() && find("11").is_none() && find("none").is_none());
    }
}
