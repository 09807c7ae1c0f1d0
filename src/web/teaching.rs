//! Lessons and exercises for a page: the text, the given code, and the verdict on an answer.

use super::request::{Parsed, named};
use super::stage::{Files, Stage};
use serde_json::{Value, json};
use session::assist::completeness;
use session::lessons::{Attempt, Exercise, Lesson, PagePart, TranslatedInput, command_of, find, lessons, translated};
use session::{Completeness, Language, Rehearsal, Session, SessionOptions};
use std::cell::Ref;
use std::sync::Arc;

/// The answer to "lessons".
pub(crate) fn list() -> Value {
    let line =
        |lesson: &Lesson| json!({ "name": lesson.name, "title": lesson.title, "exercises": lesson.exercises.len() });
    json!({ "lessons": lessons().iter().map(line).collect::<Vec<_>>() })
}

/// Returns a lesson in a language.
///
/// # Errors
/// Fails if there is no lesson of that name, or no folder for the files that its inputs write.
pub(crate) fn lesson(name: &str, language: Language, files: &dyn Files) -> Parsed<Value> {
    let lesson = named_lesson(name)?;
    let mut answer = Value::Null;
    // The Rhai form of an input depends on the existing variables, so the inputs run. The files they write stay hidden.
    files.run_in_background(Arc::default(), &mut |folder| {
        let _elsewhere = Rehearsal::begin(folder);
        answer = json!({
            "title": lesson.title,
            "parts": parts(&lesson.parts, language, &mut silent_session()),
            "exercises": lesson.exercises.iter().map(|exercise| described(exercise, language)).collect::<Vec<_>>(),
        });
    })?;
    Ok(answer)
}

fn named_lesson(name: &str) -> Parsed<&'static Lesson> {
    find(name).ok_or_else(|| format!("there is no lesson {name}"))
}

fn described(exercise: &Exercise, language: Language) -> Value {
    let attempt = exercise.begin(language, options_of_silence());
    let mut session = attempt.desk.session_mut();
    let task = parts(&exercise.task, language, &mut session);
    let hints: Vec<Value> = exercise.hints.iter().map(|hint| parts(hint, language, &mut session)).collect();
    let solution = parts(&exercise.solution, language, &mut silent_session());
    json!({ "title": exercise.title, "task": task, "hints": hints, "solution": solution })
}

fn options_of_silence() -> SessionOptions {
    SessionOptions { live: Some(Box::new(|_| {})), ..SessionOptions::default() }
}

/// Creates a session that discards its output.
fn silent_session() -> Session {
    Session::new(options_of_silence())
}

fn parts(parts: &[PagePart], language: Language, session: &mut Session) -> Value {
    let mut part = |part: &PagePart| match part {
        PagePart::Prose(text) => json!({ "prose": text }),
        PagePart::Session(inputs) => {
            let mut lines = Vec::new();
            for example in inputs.examples(language).iter().filter(|example| !example.options.skip) {
                if let Some(told) = translated(session, language, example.language, &example.source) {
                    if language == Language::Rhai {
                        session.eval(told.language, &told.source);
                    }
                    lines.push(input(&told));
                }
            }
            json!({ "session": lines })
        }
    };
    parts.iter().map(&mut part).collect()
}

fn input(told: &TranslatedInput) -> Value {
    json!({ "language": named(told.language), "source": told.source })
}

/// The active exercise, in its own session.
pub(crate) struct Trial {
    attempt: Attempt<'static>,
    stage: Stage,
}

impl Trial {
    /// Begins exercise number `index`, from 0, of a lesson.
    ///
    /// # Errors
    /// Fails if it does not exist.
    pub(crate) fn begin(name: &str, index: usize, language: Language, stage: Stage) -> Parsed<Trial> {
        let exercise = named_lesson(name)?.exercises.get(index);
        let exercise = exercise.ok_or_else(|| format!("the lesson {name} has no exercise {index}"))?;
        let options = SessionOptions { live: Some(stage.live()), ..SessionOptions::default() };
        Ok(Trial { attempt: exercise.begin(language, options), stage })
    }

    pub(crate) fn session(&self) -> Ref<'_, Session> {
        self.attempt.desk.session()
    }

    /// Returns the inputs run at the beginning.
    pub(crate) fn given(&self) -> Value {
        json!({ "given": self.attempt.given.iter().map(input).collect::<Vec<_>>() })
    }

    /// Runs an input, and returns the verdict.
    pub(crate) fn answer(&mut self, language: Language, source: &str) -> Value {
        let verdict = |name: &str, text: String| json!({ "verdict": name, "text": text });
        let entry = source.strip_prefix(language.signs().0).unwrap_or(source);
        if let Some(command) = command_of(entry) {
            self.attempt.desk.set_language(language);
            let worth = self.attempt.command(&mut self.stage, command);
            self.stage.renew(&self.attempt.desk.session());
            return worth.map_or_else(|| verdict("step", String::new()), |worth| verdict(worth.name(), worth.text()));
        }
        if completeness(&self.session(), language, entry) == Completeness::Incomplete {
            return verdict("more", String::new());
        }
        let (outcome, worth) = self.attempt.answer(language, entry);
        if let Some(error) = &outcome.error {
            self.stage.listener.failure(error, entry, None);
        }
        self.stage.renew(&self.attempt.desk.session());
        worth.map_or_else(|| verdict("error", String::new()), |worth| verdict(worth.name(), worth.text()))
    }

    /// Ends the exercise.
    pub(crate) fn leave(&self) {
        self.stage.clear();
    }
}
