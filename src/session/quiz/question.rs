//! A question: a draft that a session has run, with the answer that it computed.

use super::Topic;
use super::answer::{Answer, Form};
use super::draft::{Draft, PictureRecipe, Step};
use super::random::Random;
use crate::{Language, Picture, Session, SessionOptions};
use explain::{Scene, broadcasting, promotion};
use value::Value;

/// A question with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub topic: Topic,
    /// From 1 to 3.
    pub level: usize,
    /// The lines that set it up, in the language of the quiz.
    pub lines: Vec<String>,
    /// The question, in Markdown.
    pub ask: String,
    /// The answers to choose from; empty if there are none.
    pub options: Vec<String>,
    pub(super) form: Form,
    pub(super) answer: Answer,
    /// The expression that the session computes it from.
    #[cfg(test)]
    pub(super) expression: String,
    pub(super) steps: Vec<Step>,
    picture: PictureRecipe,
}

/// The most answers to choose from.
const OPTIONS: usize = 4;
/// The facts that a picture keeps: the others take lines and explain no answer.
const FACTS: [&str; 8] = ["dtype", "size", "shape", "stride", "strides", "offset", "contiguous", "shows"];

/// Creates a session whose output goes nowhere.
pub(super) fn silent_session() -> Session {
    let mut session = Session::new(SessionOptions { live: Some(Box::new(|_| {})), ..SessionOptions::default() });
    session.eval(Language::Python, "import torch");
    session
}

/// The value of an expression, or the class of its error.
pub(super) fn value_of(session: &mut Session, expression: &str) -> Result<Value, String> {
    match session.value_of(Language::Python, expression) {
        Ok(value) => Ok(value.unwrap_or(Value::None)),
        Err(failure) => Err(failure.kind),
    }
}

/// Computes the answer of a form. `None` if the expression has none.
pub(super) fn computed(session: &mut Session, form: Form, expression: &str) -> Option<Answer> {
    match value_of(session, expression) {
        Ok(value) => Answer::of(form, &value),
        Err(kind) if form.may_fail() && matches!(kind.as_str(), "RuntimeError" | "IndexError") => {
            Answer::of_failure(form)
        }
        Err(_) => None,
    }
}

pub(super) fn set_up(session: &mut Session, steps: &[Step]) -> bool {
    steps.iter().all(|step| session.eval(Language::Python, &step.source).error.is_none())
}

impl Question {
    /// Runs a draft. `None` if it has no answer.
    pub(super) fn of(
        draft: Draft,
        (topic, level): (Topic, usize),
        language: Language,
        session: &mut Session,
        random: &mut Random,
    ) -> Option<Question> {
        if !set_up(session, &draft.steps) {
            return None;
        }
        let answer = computed(session, draft.form, &draft.answer)?;
        // Only the first level offers answers to choose from.
        let options = if level == 1 { options(&draft, &answer, session, random) } else { Vec::new() };
        let shown = draft.steps.iter().filter(|step| step.is_shown);
        let lines = shown.map(|step| match language {
            Language::Python => step.source.clone(),
            Language::Rhai => session.rhai_form(&step.source).unwrap_or_else(|_| step.source.clone()),
        });
        let lines = lines.collect();
        Some(Question {
            topic,
            level,
            lines,
            ask: match language {
                Language::Python => draft.ask,
                Language::Rhai => in_rhai(session, &draft.ask),
            },
            options,
            form: draft.form,
            answer,
            #[cfg(test)]
            expression: draft.answer,
            steps: draft.steps,
            picture: draft.picture,
        })
    }

    /// Returns the answer as text.
    pub fn answer(&self) -> String {
        self.answer.text()
    }

    /// Returns the letter of the right answer, if there are answers to choose from.
    pub fn letter(&self) -> Option<char> {
        let at = self.options.iter().position(|option| *option == self.answer())?;
        letters().nth(at)
    }

    /// Returns the answers to choose from, each with its letter.
    pub fn choices(&self) -> impl Iterator<Item = (char, &str)> {
        letters().zip(self.options.iter().map(String::as_str))
    }

    /// Draws what explains the answer, in a session of its own: the picture lists the variables of the question alone.
    pub fn picture(&self, width: usize) -> Option<Picture> {
        let mut session = silent_session();
        session.set_width(width);
        if !set_up(&mut session, &self.steps) {
            return None;
        }
        let scene = match &self.picture {
            PictureRecipe::Call(call) => match value_of(&mut session, call).ok()? {
                Value::Object(object) => object.as_any().downcast_ref::<Picture>()?.scene.with_facts(&FACTS),
                _ => return None,
            },
            PictureRecipe::Broadcast(names) => broadcast(&mut session, names)?,
            PictureRecipe::Product => {
                let [a, b] = ["a", "b"].map(|name| sizes_of(&mut session, name));
                broadcasting::product(&a?, &b?)
            }
            PictureRecipe::Promotion { operands, result } => promoted(&mut session, *operands, result)?,
        };
        Some(Picture::of(scene, width))
    }
}

/// Translates the code in a sentence, which is between backticks. Words are code that stays as it is.
fn in_rhai(session: &Session, sentence: &str) -> String {
    let part = |(at, part): (usize, &str)| match at % 2 {
        0 => part.to_owned(),
        _ => session.rhai_form(part).unwrap_or_else(|_| part.to_owned()),
    };
    sentence.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

fn letters() -> impl Iterator<Item = char> {
    ('a'..='z').take(OPTIONS)
}

fn options(draft: &Draft, answer: &Answer, session: &mut Session, random: &mut Random) -> Vec<String> {
    let mut options = Vec::new();
    for expression in &draft.others {
        let Some(other) = computed(session, draft.form, expression).map(|other| other.text()) else { continue };
        if other != answer.text() && !options.contains(&other) {
            options.push(other);
        }
    }
    if draft.form == Form::SizesOrRefused && !options.is_empty() {
        let refused = super::answer::REFUSED.to_owned();
        if answer.text() != refused {
            options.push(refused);
        }
    }
    if options.len() < 2 {
        return Vec::new();
    }
    random.shuffle(&mut options);
    options.truncate(OPTIONS - 1);
    options.push(answer.text());
    random.shuffle(&mut options);
    options
}

fn sizes_of(session: &mut Session, name: &str) -> Option<Vec<i64>> {
    match value_of(session, name).ok()? {
        Value::Tensor(tensor) => Some(tensor.view().sizes().to_vec()),
        _ => None,
    }
}

fn broadcast(session: &mut Session, names: &'static [&'static str]) -> Option<Scene> {
    let rows = names.iter().map(|name| Some((*name, sizes_of(session, name)?)));
    Some(broadcasting::scene(&rows.collect::<Option<Vec<_>>>()?))
}

fn promoted(session: &mut Session, operands: [&'static str; 2], result: &str) -> Option<Scene> {
    let mut operand = |name: &'static str| {
        Some(match value_of(session, name).ok()? {
            Value::Tensor(tensor) => {
                let view = tensor.view();
                promotion::Operand::Tensor { name, dtype: view.dtype, dims: view.sizes().len() }
            }
            number => promotion::Operand::Number { name, category: number.as_scalar()?.category() },
        })
    };
    let [a, b] = operands.map(&mut operand);
    let operands = [a?, b?];
    match value_of(session, result).ok()? {
        Value::Tensor(tensor) => Some(promotion::scene(&operands, tensor.view().dtype)),
        _ => None,
    }
}
