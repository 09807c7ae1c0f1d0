//! The tutorial: the pages in docs/learn, as lessons with exercises that are checked by what the learner's answer does.
//! Reads and checks; what is shown when, and where progress is kept, the shell knows.

mod parse;

use std::sync::LazyLock;

use crate::session::{Completeness, Language, Session, SessionOptions};
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
    Session(Inputs),
}

/// The inputs of a session on a page, in Python; in Rhai only where the Rhai form of a line is not enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    pub python: Vec<Example>,
    pub rhai: Vec<Example>,
}

/// An input as a learner reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub language: Language,
    pub source: String,
}

/// Something to do, and how to tell whether it is done. All code is Python, of which lessons in Rhai show the Rhai form.
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

/// A line of a page as lessons in `language` tell it; nothing for one that makes known what Rhai knows anyway.
pub fn told(session: &Session, language: Language, example: Language, source: &str) -> Option<Told> {
    if (language, example) != (Language::Rhai, Language::Python) {
        return Some(Told { language: example, source: source.to_owned() });
    }
    // A test sees to it that every line of a page has a form.
    let Ok(rhai) = session.rhai_form(source) else { return told(session, example, example, source) };
    let lines: Vec<_> = rhai.lines().filter(|line| !line.starts_with("//")).collect();
    (!lines.is_empty()).then(|| Told { language, source: lines.join("\n") })
}

/// The language of what was typed in a lesson that is in the `chosen` one: the other, if only that reads it.
pub fn language_of(session: &Session, chosen: Language, source: &str) -> Language {
    let is_invalid = |language| session.completeness(language, source) == Completeness::Invalid;
    match chosen {
        Language::Rhai if session.is_only_python(source) => Language::Python,
        Language::Python if is_invalid(Language::Python) && !is_invalid(Language::Rhai) => Language::Rhai,
        chosen => chosen,
    }
}

impl Inputs {
    /// What lessons in `language` run.
    pub fn examples(&self, language: Language) -> &[Example] {
        if language == Language::Rhai && !self.rhai.is_empty() { &self.rhai } else { &self.python }
    }
}

impl Exercise {
    /// A session in which the exercise can be done, and in which `options` say where output goes; with what was run there.
    pub fn session(&self, language: Language, options: SessionOptions) -> (Session, Vec<Told>) {
        let mut session = Session::new(SessionOptions { keeps_results: true, ..options });
        let mut given = Vec::new();
        for line in self.given.lines() {
            let Some(told) = told(&session, language, Language::Python, line) else { continue };
            session.eval(told.language, &told.source);
            given.push(told);
        }
        (session, given)
    }

    /// Returns whether what was done so far solves it. Evaluates in the session of the exercise and shows nothing.
    pub fn is_solved(&self, session: &mut Session) -> bool {
        session.eval(Language::Python, "answer = None");
        // Without a value so far there is no `_`, and the answer stays nothing.
        session.eval(Language::Python, "answer = _");
        session.eval(Language::Python, &format!("assert ({})", self.check)).error.is_none()
    }

    /// Returns whether an input that did not solve it, and that has shown a value or not, was meant to: whoever looks at
    /// a variable, or at what is to be changed, gives no answer.
    pub fn is_answer(&self, source: &str, has_shown: bool) -> bool {
        let is_name = source.trim().chars().all(|c| c.is_alphanumeric() || c == '_');
        let asks_for_value = self.check.contains("answer");
        if asks_for_value { has_shown && (!is_name || source.trim().parse::<i64>().is_ok()) } else { !has_shown }
    }

    /// The sessions of the solution.
    pub fn solution_inputs(&self) -> impl Iterator<Item = &Inputs> {
        self.solution.iter().filter_map(|part| match part {
            Part::Session(inputs) => Some(inputs),
            Part::Prose(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Document, Form, Options, matches, printed};

    const LANGUAGES: [Language; 2] = [Language::Python, Language::Rhai];

    /// Whether an answer solves the exercise, given as it stands or, in a lesson in Rhai, in its Rhai form.
    fn solves(exercise: &Exercise, lesson: Language, answer: Language, inputs: &[Example]) -> Option<bool> {
        let (mut session, _) = exercise.session(lesson, SessionOptions::default());
        for input in inputs {
            if answer != input.language && session.rhai_form(&input.source).is_err() {
                return None;
            }
            let Some(told) = told(&session, answer, input.language, &input.source) else { continue };
            let language = language_of(&session, lesson, &told.source);
            if language != told.language {
                // It reads as the lesson's language, and may mean something else there.
                return None;
            }
            let outcome = session.eval(language, &told.source);
            assert_eq!(outcome.error, None, "{}: {}", exercise.title, told.source);
        }
        Some(exercise.is_solved(&mut session))
    }

    fn example(source: &str) -> Example {
        let document = Document::parse(&format!(">>> {source}\n"), Form::Text);
        document.cases[0].examples[0].clone()
    }

    #[test]
    fn right_answers_are_told_from_wrong_ones() {
        for (lesson, exercise) in lessons().iter().flat_map(|lesson| lesson.exercises.iter().map(move |e| (lesson, e)))
        {
            let place = format!("{}: {}", lesson.name, exercise.title);
            assert!(!exercise.hints.is_empty() && !exercise.task.is_empty(), "{place}: no hint or no task");
            // A lesson in one language takes answers in the other.
            for (language, answer) in LANGUAGES.iter().flat_map(|lesson| LANGUAGES.map(|answer| (*lesson, answer))) {
                for (answers, is_right) in [(&exercise.right, true), (&exercise.wrong, false)] {
                    let mut tried = 0;
                    for text in answers {
                        let solved = solves(exercise, language, answer, &[example(text)]);
                        assert_ne!(solved, Some(!is_right), "{place}: {text} in {answer:?} for {language:?}");
                        tried += usize::from(solved.is_some());
                    }
                    assert!(tried > 1 || language != answer, "{place}: too few answers in {answer:?}");
                }
                assert_eq!(solves(exercise, language, answer, &[]), Some(false), "{place}: doing nothing is wrong");
                let solution: Vec<_> =
                    exercise.solution_inputs().flat_map(|inputs| inputs.examples(answer)).cloned().collect();
                let solved = solves(exercise, language, answer, &solution);
                assert!(
                    solved.unwrap_or(language != answer),
                    "{place}: the solution in {answer:?} for {language:?}: {solved:?}"
                );
            }
        }
    }

    /// In Rhai a page shows what it shows in Python.
    fn shows_the_same(place: &str, parts: &[Part], session: &mut Session) {
        for part in parts {
            let Part::Session(inputs) = part else { continue };
            let wanted: Vec<_> = inputs.python.iter().map(|example| example.expected.as_str()).collect();
            let mut shown = Vec::new();
            for example in inputs.examples(Language::Rhai) {
                let is_formed = example.language == Language::Rhai || session.rhai_form(&example.source).is_ok();
                assert!(is_formed, "{place}: {} has no Rhai form", example.source);
                let told = told(session, Language::Rhai, example.language, &example.source);
                let outcome = told.map(|told| session.eval(told.language, &told.source));
                shown.push(outcome.map(|outcome| printed(&outcome)).unwrap_or_default());
            }
            let (wanted, shown) = (wanted.join("\n"), shown.concat());
            let [wanted, shown] = [&wanted, &shown].map(|text| text.lines().filter(|line| !line.is_empty()));
            let [wanted, shown] = [wanted.collect::<Vec<_>>().join("\n"), shown.collect::<Vec<_>>().join("\n")];
            let terms = Options { ellipsis: true, ..Options::default() };
            assert!(matches(&wanted, &shown, &terms), "{place}\n{wanted}\n\n{shown}");
        }
    }

    #[test]
    fn pages_show_the_same_in_rhai() {
        for lesson in lessons() {
            let fresh = || Session::new(SessionOptions::default());
            shows_the_same(lesson.name, &lesson.parts, &mut fresh());
            for exercise in &lesson.exercises {
                let (mut session, given) = exercise.session(Language::Rhai, SessionOptions::default());
                let place = format!("{}: {}", lesson.name, exercise.title);
                assert!(given.iter().all(|told| told.language == Language::Rhai), "{place}: {given:?}");
                exercise.hints.iter().for_each(|hint| shows_the_same(&place, hint, &mut session));
                shows_the_same(&place, &exercise.solution, &mut fresh());
            }
        }
    }

    #[test]
    fn looking_is_no_answer() {
        let changes = Exercise { check: "t.tolist() == [1]".into(), ..Exercise::default() };
        let asks = Exercise { check: "answer == 1".into(), ..Exercise::default() };
        let rows = [
            ("t", true, false, false),
            ("t[0] = 1", false, true, false),
            ("t + 1", true, false, true),
            ("2", true, false, true),
        ];
        for (source, has_shown, of_changes, of_asks) in rows {
            assert_eq!(changes.is_answer(source, has_shown), of_changes, "{source}");
            assert_eq!(asks.is_answer(source, has_shown), of_asks, "{source}");
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
