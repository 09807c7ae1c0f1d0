//! Quizzes for a page: questions one by one, and the verdict on what is typed.

use super::request::{Parsed, Request};
use explain::svg;
use serde_json::{Value, json};
use session::Picture;
use session::quiz::{Judgement, Question, Round, SheetTerms, Topic, any_seed};

/// The width of pictures, in columns. A page scales none of it, so this only breaks lines.
const COLUMNS: usize = 80;

/// A quiz in progress.
pub(crate) struct Quiz {
    round: Round,
    number: usize,
}

impl Quiz {
    /// Begins a quiz on a topic, or on all of them.
    ///
    /// # Errors
    /// Fails if there is no such topic or level.
    pub(crate) fn begin(request: &Request) -> Parsed<Quiz> {
        let topics = match request.text("topic")? {
            "" => Vec::new(),
            name => vec![Topic::named(name).ok_or_else(|| format!("there is no topic {name}"))?],
        };
        let level = match request.number("level")? {
            0 => None,
            level @ 1..=3 => Some(level),
            level => return Err(format!("a level is 1, 2 or 3, or 0 for all, not {level}")),
        };
        let seed = request.number("seed").map_or_else(|_| any_seed(), |seed| seed as u64);
        let terms = SheetTerms { topics, level, seed, count: None, language: request.language()? };
        Ok(Quiz { round: Round::new(terms), number: 0 })
    }

    /// Goes on to the next question, and tells the answer to the one before if it has not been answered.
    pub(crate) fn next(&mut self) -> Value {
        let skipped = self.round.skipped();
        let question = self.round.next_question();
        self.number += 1;
        let again = self.round.terms.command(None);
        json!({ "skipped": skipped, "again": again, "question": question.map(|question| self.stated(&question)) })
    }

    fn stated(&self, question: &Question) -> Value {
        let options: Vec<Value> = question.choices().map(|(letter, text)| json!([letter.to_string(), text])).collect();
        json!({
            "number": self.number,
            "topic": question.topic.name(),
            "level": question.level,
            "session": question.session(self.round.terms.language),
            "ask": question.ask,
            "options": options,
        })
    }

    /// Judges an answer.
    pub(crate) fn guess(&mut self, typed: &str) -> Value {
        let (verdict, text, picture) = match self.round.judge(typed, COLUMNS) {
            Judgement::Right => ("right", "Right.".to_owned(), None),
            Judgement::Wrong { answer, picture } => ("wrong", format!("No, the answer is {answer}."), picture),
            Judgement::Unread(hint) => ("unread", hint.to_owned(), None),
        };
        let (right, answered) = (self.round.right, self.round.answered);
        let drawn = |picture: &Picture| json!({ "svg": svg::draw(&picture.scene), "alt": picture.text().trim_end() });
        let picture = picture.as_ref().map(drawn);
        json!({ "verdict": verdict, "text": text, "right": right, "answered": answered, "picture": picture })
    }
}
