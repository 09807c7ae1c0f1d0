//! A quiz being taken: the current question, and the score.

use super::answer::Answer;
use super::question::{Question, value_of};
use super::sheet::{Questions, SheetTerms};
use crate::{Picture, Session};

/// A quiz in progress.
pub struct Round {
    pub terms: SheetTerms,
    questions: Questions,
    current: Option<Question>,
    /// The questions answered, and those of them answered rightly.
    pub answered: usize,
    pub right: usize,
}

/// The verdict on a typed answer.
pub enum Judgement {
    Right,
    /// With the right answer, and a picture that explains it.
    Wrong {
        answer: String,
        picture: Option<Picture>,
    },
    /// Not an answer of the question's form; with a sentence that says what can be typed. It does not count.
    Unread(&'static str),
}

impl Round {
    pub fn new(terms: SheetTerms) -> Round {
        Round { questions: Questions::new(terms.clone()), terms, current: None, answered: 0, right: 0 }
    }

    /// Goes on to the next question. `None` after the last one.
    pub fn next_question(&mut self) -> Option<Question> {
        self.current = self.questions.next();
        self.current.clone()
    }

    /// Judges an answer to the current question. A wrong one is explained by a picture of this width.
    pub fn judge(&mut self, typed: &str, width: usize) -> Judgement {
        let Some(question) = &self.current else { return Judgement::Unread("There is no question.") };
        let Some(typed) = question.read(&mut self.questions.session, typed) else {
            return Judgement::Unread(question.form.hint());
        };
        self.answered += 1;
        if question.answer.is_met_by(&typed) {
            self.right += 1;
            return Judgement::Right;
        }
        Judgement::Wrong { answer: question.answer(), picture: question.picture(width) }
    }

    /// Returns the answer to the current question, which does not count.
    pub fn skipped(&self) -> String {
        self.current.as_ref().map(Question::answer).unwrap_or_default()
    }
}

impl Question {
    /// Reads a typed answer: a letter of the answers to choose from, the answer itself, or arithmetic that gives it.
    pub(super) fn read(&self, session: &mut Session, typed: &str) -> Option<Answer> {
        let typed = typed.trim();
        let letter = typed.trim_end_matches(')').to_lowercase();
        let chosen = self.choices().find(|(choice, _)| letter == choice.to_string());
        let typed = chosen.map_or(typed, |(_, option)| option);
        Answer::read(self.form, typed).or_else(|| {
            let value = is_arithmetic(typed).then(|| value_of(session, &format!("({typed})")).ok())??;
            Answer::of(self.form, &value)
        })
    }
}

/// Returns whether a text has nothing but numbers and signs of cheap operations: `2*3*4`. A power could be endless.
fn is_arithmetic(text: &str) -> bool {
    const LONGEST: usize = 100;
    let is_sign = |c: char| c.is_ascii_digit() || " +-*/%(),[].".contains(c);
    text.len() <= LONGEST
        && text.chars().all(is_sign)
        && !text.contains("**")
        && text.contains(|c: char| c.is_ascii_digit())
}
