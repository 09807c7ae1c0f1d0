//! Lessons and exercises for a page: the text, the given code, and the verdict on an answer.

use super::request::{Parsed, named};
use super::stage::{Files, Stage};
use serde_json::{Value, json};
use session::assist::completeness;
use session::lessons::{
    Attempt, Exercise, Lesson, Mistake, PagePart, TranslatedInput, command_of, find, lessons, read, translated,
};
use session::transcript::Example;
use session::{Completeness, Language, Rehearsal, Session, SessionOptions};
use std::cell::{Ref, RefCell};
use std::sync::Arc;

/// The answer to "lessons".
pub(crate) fn list() -> Value {
    let line =
        |lesson: &Lesson| json!({ "name": &lesson.name, "title": lesson.title, "exercises": lesson.exercises.len() });
    json!({ "lessons": lessons().iter().map(line).collect::<Vec<_>>() })
}

thread_local! {
    /// The lessons of others that were opened. They stay as long as the page: an attempt borrows its exercise.
    static OPENED: RefCell<Vec<&'static Lesson>> = const { RefCell::new(Vec::new()) };
}

/// Reads somebody else's lesson, unless it was read before.
fn opened(name: &str, page: &str) -> Parsed<&'static Lesson> {
    let is_it = |lesson: &&&Lesson| lesson.name == name && lesson.page.as_deref() == Some(page);
    if let Some(lesson) = OPENED.with_borrow(|opened| opened.iter().find(is_it).copied()) {
        return Ok(lesson);
    }
    let told = |mistakes: Vec<Mistake>| {
        let lines = mistakes.iter().map(|mistake| format!("line {}: {}", mistake.line, mistake.what));
        lines.collect::<Vec<_>>().join("\n")
    };
    let lesson: &'static Lesson = Box::leak(Box::new(read(name, name, page).map_err(told)?));
    OPENED.with_borrow_mut(|opened| opened.push(lesson));
    Ok(lesson)
}

/// Returns somebody else's lesson as it is written, with the outputs that it records. Nothing in it runs.
///
/// # Errors
/// Fails with everything that is wrong with the page.
pub(crate) fn lesson_of_others(name: &str, page: &str) -> Parsed<Value> {
    let lesson = opened(name, page)?;
    let exercise = |exercise: &Exercise| {
        let hints: Vec<Value> = exercise.hints.iter().map(|hint| as_written(hint)).collect();
        let (task, solution) = (as_written(&exercise.task), as_written(&exercise.solution));
        json!({ "title": exercise.title, "task": task, "hints": hints, "solution": solution })
    };
    let exercises: Vec<Value> = lesson.exercises.iter().map(exercise).collect();
    Ok(json!({ "title": lesson.title, "parts": as_written(&lesson.parts), "exercises": exercises }))
}

fn as_written(parts: &[PagePart]) -> Value {
    let line = |example: &Example| json!({ "language": named(example.language), "source": example.source, "output": example.expected });
    let part = |part: &PagePart| match part {
        PagePart::Prose(text) => json!({ "prose": text }),
        PagePart::Session(inputs) => json!({ "session": inputs.python.iter().map(line).collect::<Vec<_>>() }),
    };
    parts.iter().map(part).collect()
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
    /// Begins exercise number `index`, from 0, of a lesson; of somebody else's, whose text is `page`.
    ///
    /// # Errors
    /// Fails if it does not exist.
    pub(crate) fn begin(
        name: &str,
        page: Option<&str>,
        index: usize,
        language: Language,
        stage: Stage,
    ) -> Parsed<Trial> {
        let lesson = page.map_or_else(|| named_lesson(name), |page| opened(name, page))?;
        let exercise = lesson.exercises.get(index);
        let exercise = exercise.ok_or_else(|| format!("the lesson {name} has no exercise {index}"))?;
        let options = SessionOptions { live: Some(stage.live()), ..SessionOptions::default() };
        Ok(Trial { attempt: exercise.begin(language, options), stage })
    }

    pub(crate) fn session(&self) -> Ref<'_, Session> {
        self.attempt.desk.session()
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.stage
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

    /// Redraws the pictures for a column that has changed.
    pub(crate) fn refit(&self) {
        self.stage.refit();
    }

    /// Ends the exercise.
    pub(crate) fn leave(&self) {
        self.stage.clear();
    }
}
