//! Reports of what a learner did: one line of JSON for each event. Reads them back, however they were changed
//! meanwhile.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Exercise, Lesson};
use crate::Language;

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The name of the lesson.
    pub lesson: String,
    /// The number of the exercise, from 1, …
    pub number: usize,
    /// … and its title.
    pub exercise: String,
    pub event: Event,
}

/// What a learner did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Began the exercise, or began it again, in a lesson in this language.
    Begin(Language),
    /// Gave an input, which got this verdict.
    Answer { source: String, verdict: String },
    /// Asked for a hint.
    Hint,
    /// Asked for the solution.
    Solution,
    /// Went on without an answer.
    Skip,
}

impl Record {
    /// Returns the record of an event in exercise number `index`, from 0, of a lesson.
    pub fn new(lesson: &Lesson, index: usize, event: Event) -> Record {
        let title = lesson.exercises.get(index).map(|exercise| exercise.title.clone()).unwrap_or_default();
        Record { lesson: lesson.name.clone(), number: index + 1, exercise: title, event }
    }

    /// Returns the line, without its end.
    pub fn line(&self) -> String {
        let mut line = json!({ "lesson": self.lesson, "number": self.number, "exercise": self.exercise });
        let event = match &self.event {
            Event::Begin(language) => {
                line["language"] = named(*language).into();
                "begin"
            }
            Event::Answer { source, verdict } => {
                line["source"] = source.as_str().into();
                line["verdict"] = verdict.as_str().into();
                "answer"
            }
            Event::Hint => "hint",
            Event::Solution => "solution",
            Event::Skip => "skip",
        };
        line["event"] = event.into();
        line.to_string()
    }

    /// Reads a line. `None` if it is not one of a report.
    fn of(line: &str) -> Option<Record> {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
        let event = match line.get("event")?.as_str()? {
            "begin" => Event::Begin(if text("language")? == "rhai" { Language::Rhai } else { Language::Python }),
            "answer" => Event::Answer { source: text("source")?, verdict: text("verdict").unwrap_or_default() },
            "hint" => Event::Hint,
            "solution" => Event::Solution,
            "skip" => Event::Skip,
            _ => return None,
        };
        let number = usize::try_from(line.get("number")?.as_u64()?).ok()?;
        Some(Record { lesson: text("lesson")?, number, exercise: text("exercise")?, event })
    }
}

pub(super) fn named(language: Language) -> &'static str {
    match language {
        Language::Python => "python",
        Language::Rhai => "rhai",
    }
}

/// What a learner did in one exercise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub lesson: String,
    pub number: usize,
    pub exercise: String,
    /// How often the exercise was begun.
    pub attempts: usize,
    /// The number of answers that got a verdict.
    pub answers: usize,
    pub hints: usize,
    pub saw_solution: bool,
    /// Whether the report says that an answer was right.
    pub is_said_right: bool,
    /// The attempt to judge: the last one with an answer that is said to be right, or the last one with any.
    pub attempt: Given,
    /// The attempt that the records are in.
    present: Given,
}

/// The inputs of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub language: Language,
    pub inputs: Vec<String>,
}

impl Default for Given {
    fn default() -> Given {
        Given { language: Language::Python, inputs: Vec::new() }
    }
}

impl Work {
    fn new(record: &Record) -> Work {
        Work {
            lesson: record.lesson.clone(),
            number: record.number,
            exercise: record.exercise.clone(),
            attempts: 0,
            answers: 0,
            hints: 0,
            saw_solution: false,
            is_said_right: false,
            attempt: Given::default(),
            present: Given::default(),
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Begin(language) => {
                self.attempts += 1;
                self.present = Given { language, inputs: Vec::new() };
            }
            Event::Answer { source, verdict } => {
                let is_right = verdict == "right";
                self.answers += usize::from(!matches!(verdict.as_str(), "step" | "error" | ""));
                self.present.inputs.push(source);
                if is_right || !self.is_said_right {
                    self.attempt.clone_from(&self.present);
                }
                self.is_said_right |= is_right;
            }
            Event::Hint => self.hints += 1,
            Event::Solution => self.saw_solution = true,
            Event::Skip => {}
        }
    }

    /// Returns the exercise of these lessons that the work is on.
    ///
    /// # Errors
    /// Fails with the reason why there is none.
    pub fn exercise_of<'l>(&self, lessons: &'l [Lesson]) -> Result<&'l Exercise, &'static str> {
        let lesson = lessons.iter().find(|lesson| lesson.name == self.lesson).ok_or("no such lesson here")?;
        let mut exercises = lesson.exercises.iter();
        exercises.find(|exercise| exercise.title == self.exercise).ok_or("the lesson has no such exercise")
    }
}

/// A report that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The work on each exercise, in the order in which they were first begun.
    pub works: Vec<Work>,
    /// The numbers of lines that could not be read.
    pub broken: Vec<usize>,
}

impl Report {
    /// Reads a report.
    pub fn read(text: &str) -> Report {
        let mut report = Report::default();
        let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let Some(record) = Record::of(line) else {
                report.broken.push(number);
                continue;
            };
            let key = (record.lesson.clone(), record.exercise.clone());
            let place = *places.entry(key).or_insert_with(|| {
                report.works.push(Work::new(&record));
                report.works.len() - 1
            });
            if let Some(work) = report.works.get_mut(place) {
                work.take(record.event);
            }
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(event: Event) -> Record {
        Record { lesson: "strides".into(), number: 1, exercise: "find \"it\"\n".into(), event }
    }

    fn answer(source: &str, verdict: &str) -> Event {
        Event::Answer { source: source.into(), verdict: verdict.into() }
    }

    #[test]
    fn what_is_written_is_read() {
        let events =
            [Event::Begin(Language::Rhai), answer("x\n\u{1b}é", "wrong"), Event::Hint, Event::Solution, Event::Skip];
        for event in events {
            let (line, wanted) = (record(event.clone()).line(), record(event));
            assert!(!line.contains(['\n', '\u{1b}']), "{line}");
            assert_eq!(Record::of(&line), Some(wanted));
        }
    }

    #[test]
    fn the_attempt_to_judge_is_the_last_right_one_or_the_last() {
        let begin = || Event::Begin(Language::Python);
        type Row<'r> = (Vec<Event>, &'r [&'r str], bool, [usize; 3]);
        let rows: [Row; 4] = [
            (vec![begin(), answer("1", "wrong"), Event::Hint, answer("2", "right")], &["1", "2"], true, [1, 2, 1]),
            (vec![begin(), answer("2", "right"), begin(), answer("3", "wrong")], &["2"], true, [2, 2, 0]),
            (vec![begin(), answer("x", "step"), begin(), answer("3", "wrong")], &["3"], false, [2, 1, 0]),
            (vec![begin(), Event::Skip], &[], false, [1, 0, 0]),
        ];
        for (events, inputs, is_right, counts) in rows {
            let text: String = events.into_iter().map(|event| record(event).line() + "\n").collect();
            let report = Report::read(&format!("{text}{{\"torn\": \n[]\n\n"));
            let [work] = &report.works[..] else { panic!("{report:?}") };
            assert_eq!(
                (&work.attempt.inputs[..], work.is_said_right),
                (&inputs.iter().map(|i| (*i).to_owned()).collect::<Vec<_>>()[..], is_right)
            );
            assert_eq!([work.attempts, work.answers, work.hints], counts);
            assert_eq!(report.broken.len(), 2);
        }
    }
}
