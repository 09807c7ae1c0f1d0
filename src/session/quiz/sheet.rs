//! Questions in order, and a sheet of them in Markdown. The seed, the topics, the level and the language decide them,
//! here and everywhere.

use super::question::{Question, silent_session};
use super::random::Random;
use super::{MOST, Topic};
use crate::{Language, Session, nearest};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What a sheet asks.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetTerms {
    /// Empty for all of them.
    pub topics: Vec<Topic>,
    /// From 1 to 3. `None` for questions that become harder.
    pub level: Option<usize>,
    pub seed: u64,
    /// `None` for questions without end.
    pub count: Option<usize>,
    /// The language of the lines; answers may be in either.
    pub language: Language,
}

/// The number of questions that a level lasts if questions become harder without end.
const PER_LEVEL: usize = 4;
/// The most drafts tried for a question.
const TRIES: usize = 200;
/// The most drafts of one kind tried for an answer drawn beforehand.
const TRIES_OF_KIND: usize = 40;
/// One in so many questions whose answer may be that an operation is refused has that answer.
const REFUSED_IN: i64 = 3;

/// The questions of a sheet, made one by one.
pub(super) struct Questions {
    terms: SheetTerms,
    random: Random,
    pub(super) session: Session,
    /// The questions so far. None comes twice.
    seen: BTreeSet<String>,
    /// The topics still to come before all of them come again.
    topics: Vec<Topic>,
    made: usize,
}

impl Questions {
    pub(super) fn new(terms: SheetTerms) -> Questions {
        let random = Random::new(terms.seed);
        Questions { terms, random, session: silent_session(), seen: BTreeSet::new(), topics: Vec::new(), made: 0 }
    }

    /// Makes the next question. `None` at the end of the sheet, or if all questions have been asked.
    pub(super) fn next(&mut self) -> Option<Question> {
        if self.made >= self.terms.count.unwrap_or(usize::MAX) {
            return None;
        }
        let (topic, level) = (self.topic()?, self.level());
        let kinds = topic.levels().get(level - 1)?;
        for _ in 0..TRIES {
            let kind = kinds.get(self.random.below(kinds.len() as i64) as usize)?;
            let (is_first, is_refused) = (self.random.coin(), self.random.below(REFUSED_IN) == 0);
            for _ in 0..TRIES_OF_KIND {
                let draft = kind(&mut self.random);
                let form = draft.form;
                let (language, random) = (self.terms.language, &mut self.random);
                let Some(question) = Question::of(draft, (topic, level), language, &mut self.session, random) else {
                    continue;
                };
                // Draws of the same kind go on until the answer is the one drawn: no answer is the likelier one.
                let is_wanted = match (form.is_two_way(), form.may_fail()) {
                    (true, _) => question.answer.is_first() == is_first,
                    (_, true) => question.answer.is_first() == is_refused,
                    _ => true,
                };
                if is_wanted && self.seen.insert(format!("{:?} {}", question.lines, question.ask)) {
                    self.made += 1;
                    return Some(question);
                }
            }
        }
        None
    }

    fn topic(&mut self) -> Option<Topic> {
        if self.topics.is_empty() {
            self.topics = if self.terms.topics.is_empty() { Topic::ALL.to_vec() } else { self.terms.topics.clone() };
            self.random.shuffle(&mut self.topics);
        }
        self.topics.pop()
    }

    fn level(&self) -> usize {
        let rising = match self.terms.count {
            Some(count) => 3 * self.made / count.max(1),
            None => self.made / PER_LEVEL,
        };
        self.terms.level.unwrap_or(rising.min(2) + 1).clamp(1, 3)
    }
}

/// A sheet of questions.
pub struct Sheet {
    terms: SheetTerms,
    pub questions: Vec<Question>,
}

impl Sheet {
    pub fn new(terms: SheetTerms) -> Sheet {
        let count = terms.count.unwrap_or(MOST).min(MOST);
        let mut all = Questions::new(SheetTerms { count: Some(count), ..terms.clone() });
        let questions = std::iter::from_fn(|| all.next()).collect();
        Sheet { terms, questions }
    }

    /// Returns the sheet in Markdown, with room for answers or with the answers at its end.
    pub fn markdown(&self, with_answers: bool) -> String {
        let mut text = format!("# Quiz: {}\n\n", self.terms.title());
        let _ = writeln!(text, "Made by `{}`.", self.terms.command(Some(self.questions.len())));
        for (number, question) in (1..).zip(&self.questions) {
            let _ = writeln!(text, "\n## {number}. {}, level {}\n", capital(question.topic.name()), question.level);
            let _ = writeln!(text, "{}", question.fence(self.terms.language));
            let _ = writeln!(text, "{}", question.ask);
            if question.options.is_empty() {
                text.push_str("\nAnswer: ________________________\n");
            } else {
                text.push('\n');
                for (letter, option) in question.choices() {
                    let _ = writeln!(text, "- {letter}) `{option}`");
                }
            }
        }
        if with_answers {
            text.push_str("\n## Answers\n\n");
            for (number, question) in (1..).zip(&self.questions) {
                let letter = question.letter().map(|letter| format!("{letter}) ")).unwrap_or_default();
                let _ = writeln!(text, "{number}. {letter}`{}`", question.answer());
            }
        }
        text
    }
}

impl SheetTerms {
    /// Reads the arguments of `:quiz`, which are those of `tensorsh quiz`: `strides views --level 2 --seed 7`.
    ///
    /// # Errors
    /// A sentence that names the argument that is not one.
    pub(crate) fn read(arguments: &str, language: Language, seed: u64) -> Result<SheetTerms, String> {
        let mut terms = SheetTerms { topics: Vec::new(), level: None, seed, count: None, language };
        let mut words = arguments.split([' ', '=']).filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            if let Some(topic) = Topic::named(word) {
                terms.add(topic);
                continue;
            }
            let number = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok());
            let name = word.trim_start_matches('-');
            match (name, number(words.next())) {
                ("seed", Some(seed)) => terms.seed = seed,
                ("level", Some(level @ 1..=3)) => terms.level = Some(level as usize),
                ("count", Some(count)) if (1..=MOST as u64).contains(&count) => terms.count = Some(count as usize),
                ("level", _) => return Err("--level takes 1, 2 or 3".to_owned()),
                ("count", _) => return Err(format!("--count takes a number from 1 to {MOST}")),
                ("seed", _) => return Err("--seed takes a number".to_owned()),
                _ => {
                    let names = Topic::ALL.map(Topic::name);
                    let near = nearest(word, names).map(|near| format!("did you mean {near}?"));
                    let near = near.unwrap_or_else(|| format!("there are {}", names.join(", ")));
                    return Err(format!("there is no topic {word}; {near}"));
                }
            }
        }
        Ok(terms)
    }

    /// Adds a topic, which counts once.
    pub fn add(&mut self, topic: Topic) {
        if !self.topics.contains(&topic) {
            self.topics.push(topic);
        }
    }

    /// Returns the topics and the level: `strides and views, level 2, seed 7`.
    pub fn title(&self) -> String {
        let names: Vec<&str> = self.topics.iter().map(|topic| topic.name()).collect();
        let topics = match names.as_slice() {
            [] => "all topics".to_owned(),
            [one] => (*one).to_owned(),
            [others @ .., last] => format!("{} and {last}", others.join(", ")),
        };
        let level = self.level.map(|level| format!(", level {level}")).unwrap_or_default();
        format!("{topics}{level}, seed {}", self.seed)
    }

    /// Returns the command that makes the same questions again.
    pub fn command(&self, count: Option<usize>) -> String {
        let mut text = "tensorsh quiz".to_owned();
        self.topics.iter().for_each(|topic| text.push_str(&format!(" {}", topic.name())));
        if let Some(level) = self.level {
            let _ = write!(text, " --level {level}");
        }
        if self.language == Language::Rhai {
            text.push_str(" --rhai");
        }
        let _ = write!(text, " --seed {}", self.seed);
        if let Some(count) = count {
            let _ = write!(text, " --count {count}");
        }
        text
    }
}

impl Question {
    /// Returns the lines as a block of a page, which `tensorsh test` can run.
    fn fence(&self, language: Language) -> String {
        let name = match language {
            Language::Python => "pycon",
            Language::Rhai => "rhai-session",
        };
        format!("```{name}\n{}```\n", self.session(language))
    }

    /// Returns the lines with their prompts.
    pub fn session(&self, language: Language) -> String {
        let (sign, next) = language.signs();
        let entry = |source: &String| {
            let signs = std::iter::once(sign).chain(std::iter::repeat(next));
            signs.zip(source.lines()).map(|(sign, line)| format!("{sign}{line}\n")).collect::<String>()
        };
        self.lines.iter().map(entry).collect()
    }
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
