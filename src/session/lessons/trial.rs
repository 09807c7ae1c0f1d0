//! Tries the answers on a lesson's page, for authors: correct ones must pass, all others must not, and every sentence on
//! the page must be reached.

use std::rc::Rc;

use super::{Attempt, Exercise, Verdict, language_of, parse, translated};
use crate::transcript::{OnOpen, Tried};
use crate::{Completeness, Language};

/// Tries the answers on a page, and returns what was found, in the order of the page. `on_open` receives every session
/// that runs them.
pub fn tried(page: &str, on_open: &OnOpen) -> Vec<Tried> {
    let lesson = parse::lesson("", page);
    let lines: Vec<_> = page.lines().collect();
    let (mut start, mut all) = (0, Vec::new());
    for exercise in &lesson.exercises {
        let heading = format!("## Exercise: {}", exercise.title);
        start += lines.iter().skip(start).position(|line| *line == heading).unwrap_or_default();
        let mut found: Vec<_> = parts(exercise, on_open)
            .into_iter()
            .map(|(text, fault)| {
                let text = if text.is_empty() { heading.clone() } else { text };
                let line = start + lines.iter().skip(start).position(|line| *line == text).unwrap_or_default() + 1;
                Tried { exercise: exercise.title.clone(), line, text, fault }
            })
            .collect();
        found.sort_by_key(|tried| tried.line);
        all.append(&mut found);
        start += 1;
    }
    all
}

/// What became of an answer: its verdict, or its error.
type Judged = Result<Verdict, String>;

/// Returns the parts of an exercise that were tried, by their lines, with what is wrong with each. The line is empty for
/// the exercise as a whole.
fn parts(exercise: &Exercise, on_open: &OnOpen) -> Vec<(String, Option<String>)> {
    let failing = [&exercise.given, &exercise.second].into_iter().find_map(|code| failing(code, on_open));
    if let Some((line, error)) = failing {
        return vec![(line, Some(format!("this code fails: {error}")))];
    }
    let mut parts = Vec::new();
    let mut sentences = Vec::new();
    for (answers, is_right) in [(&exercise.right, true), (&exercise.wrong, false), (&exercise.tricks, false)] {
        for answer in answers {
            let mut found = None;
            for language in [Language::Python, Language::Rhai] {
                let judged = judged(exercise, language, &[(Language::Python, answer)], on_open);
                if let Some(Ok(Verdict::Wrong(why) | Verdict::Forbidden(why))) = &judged {
                    sentences.push(why.clone());
                }
                let fault = fault(judged, language, is_right);
                found = found.or_else(|| fault.map(|fault| format!("{fault} ({language:?})")));
            }
            parts.push((answer.clone(), found));
        }
    }
    let solved = [Language::Python, Language::Rhai].map(|language| {
        let inputs = exercise.solution_inputs().flat_map(|inputs| inputs.examples(language));
        let is_given = |source: &str| exercise.given.lines().any(|line| line == source);
        let inputs: Vec<_> = inputs.map(|input| (input.language, &*input.source)).collect();
        let inputs: Vec<_> = inputs.into_iter().filter(|(_, source)| !is_given(source)).collect();
        matches!(judged(exercise, language, &inputs, on_open), Some(Ok(Verdict::Right)))
    });
    let whole = match (exercise.task.is_empty() || exercise.hints.is_empty(), solved) {
        (true, _) => Some("the exercise has no task or no hint".to_owned()),
        (_, [true, true]) => None,
        (_, [false, _]) => Some("the solution does not solve the exercise".to_owned()),
        _ => Some("the solution does not solve the exercise in Rhai".to_owned()),
    };
    parts.push((String::new(), whole));
    for (condition, sentence) in exercise.forbidden.iter().chain(&exercise.likely) {
        if !sentences.contains(sentence) {
            parts.push((format!("{condition}: {sentence}"), Some("no answer leads to this sentence".to_owned())));
        }
    }
    parts
}

/// Returns what is wrong with the judgement on an answer.
fn fault(judged: Option<Judged>, language: Language, is_right: bool) -> Option<String> {
    Some(match (judged, is_right) {
        (None, _) if language == Language::Python => "this is not a whole input".to_owned(),
        (Some(Ok(Verdict::Right)), false) => "this answer should not pass".to_owned(),
        (Some(Ok(Verdict::Right)), true) | (None, _) => return None,
        (Some(Ok(verdict)), true) => format!("this right answer is refused: {}", verdict.text()),
        (Some(Err(error)), true) => format!("this right answer fails: {error}"),
        // An answer that fails says so itself.
        (Some(_), false) => return None,
    })
}

/// Returns the first line of given code that fails, with the error.
fn failing(code: &str, on_open: &OnOpen) -> Option<(String, String)> {
    let exercise = Exercise::default();
    let attempt = exercise.begin_watched(Language::Python, Box::new(|_| {}), Rc::clone(on_open));
    let mut lines = code.lines();
    lines.find_map(|line| {
        let error = attempt.desk.session_mut().eval(Language::Python, line).error?;
        Some((line.to_owned(), format!("{}: {}", error.kind, error.message)))
    })
}

/// Gives inputs one after the other in a lesson in `language`, until one is right. `None` if one has no form in that
/// language.
pub(super) fn judged(
    exercise: &Exercise,
    language: Language,
    inputs: &[(Language, &str)],
    on_open: &OnOpen,
) -> Option<Judged> {
    let mut attempt = exercise.begin_watched(language, Box::new(|_| {}), Rc::clone(on_open));
    let mut last = None;
    for (of, source) in inputs {
        let Some(told) = form(&attempt, language, *of, source)? else { continue };
        let (outcome, verdict) = attempt.answer(language, &told);
        last = match (outcome.error, verdict) {
            (Some(error), _) => Some(Err(format!("{}: {}", error.kind, error.message))),
            (None, verdict) => verdict.map(Ok),
        };
        if matches!(last, Some(Ok(Verdict::Right) | Err(_))) {
            break;
        }
    }
    last
}

/// Returns an input in a lesson's language: `None` if it has no form there, and `Some(None)` if none is needed.
fn form(attempt: &Attempt, language: Language, of: Language, source: &str) -> Option<Option<String>> {
    let session = attempt.desk.session();
    if language != of && session.rhai_form(source).is_err()
        || session.completeness(of, source) != Completeness::Complete
    {
        return None;
    }
    let Some(told) = translated(&session, language, of, source) else { return Some(None) };
    // The lesson's language may accept it with another meaning.
    (language_of(&session, language, &told.source) == told.language).then_some(Some(told.source))
}
