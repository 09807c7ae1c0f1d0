//! The tutorial: the pages of docs/learn as lessons, with exercises checked by the effect of the learner's answer.
//! Reads and checks only. The shell decides what to show, and stores progress.

mod parse;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use crate::texts::texts;
use crate::transcript::Example;
use crate::{Completeness, Language, Outcome, Said, Session, SessionOptions};

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// The name in commands and in stored progress.
    pub name: &'static str,
    pub title: String,
    pub parts: Vec<PagePart>,
    pub exercises: Vec<Exercise>,
}

/// A piece of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum PagePart {
    /// A paragraph, on one line.
    Prose(String),
    /// Inputs that run while the page is read.
    Session(Inputs),
}

/// The inputs of a session on a page, in Python. The Rhai version exists only if the Rhai form of a line is not enough.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    pub python: Vec<Example>,
    pub rhai: Vec<Example>,
}

/// An input as shown to a learner.
#[derive(Clone, Debug, PartialEq)]
pub struct TranslatedInput {
    pub language: Language,
    pub source: String,
}

/// An exercise, with code that checks whether it is done. All code is Python; lessons in Rhai show its Rhai form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exercise {
    pub title: String,
    pub task: Vec<PagePart>,
    /// Code to run first.
    pub given: String,
    /// An initial value that `check` and `forbidden` can refer to, such as an address or an identity. A number or a
    /// tuple of numbers.
    pub kept: String,
    /// An expression that is true when the exercise is done. `answer` is the value of the last input.
    pub check: String,
    /// Conditions that must not hold, each with a sentence for the learner. They rule out ways around the lesson.
    pub forbidden: Vec<(String, String)>,
    /// Correct answers, …
    pub right: Vec<String>,
    /// … incorrect ones, for the test, …
    pub wrong: Vec<String>,
    /// … and correct ones that use a forbidden way.
    pub cheats: Vec<String>,
    pub hints: Vec<Vec<PagePart>>,
    pub solution: Vec<PagePart>,
}

/// Every lesson, in order.
pub fn lessons() -> &'static [Lesson] {
    static LESSONS: LazyLock<Vec<Lesson>> =
        LazyLock::new(|| texts().lessons.iter().map(|(name, page)| parse::lesson(name, page)).collect());
    &LESSONS
}

/// Returns the lesson with a number or a name.
pub fn find(wanted: &str) -> Option<&'static Lesson> {
    let by_number = wanted.parse::<usize>().ok().and_then(|number| lessons().get(number.checked_sub(1)?));
    by_number.or_else(|| lessons().iter().find(|lesson| lesson.name == wanted))
}

/// Returns a line of a page for lessons in `language`. `None` if the line only introduces names that Rhai knows anyway.
pub fn translated(session: &Session, language: Language, example: Language, source: &str) -> Option<TranslatedInput> {
    if (language, example) != (Language::Rhai, Language::Python) {
        return Some(TranslatedInput { language: example, source: source.to_owned() });
    }
    // A test makes sure that every line of a page has a Rhai form.
    let Ok(rhai) = session.rhai_form(source) else { return translated(session, example, example, source) };
    let lines: Vec<_> = rhai.lines().filter(|line| !line.starts_with("//")).collect();
    (!lines.is_empty()).then(|| TranslatedInput { language, source: lines.join("\n") })
}

/// Returns the language of an input in a lesson in `chosen`: the other language, if only that one accepts it.
pub(crate) fn language_of(session: &Session, chosen: Language, source: &str) -> Language {
    let is_invalid = |language| session.completeness(language, source) == Completeness::Invalid;
    match chosen {
        Language::Rhai if session.is_only_python(source) => Language::Python,
        Language::Python if is_invalid(Language::Python) && !is_invalid(Language::Rhai) => Language::Rhai,
        chosen => chosen,
    }
}

impl Inputs {
    /// Returns the examples for lessons in `language`.
    pub fn examples(&self, language: Language) -> &[Example] {
        if language == Language::Rhai && !self.rhai.is_empty() { &self.rhai } else { &self.python }
    }
}

impl Exercise {
    /// Begins the exercise in a new session with these options.
    pub fn begin(&self, language: Language, options: SessionOptions) -> Attempt<'_> {
        let shown = Rc::new(Cell::new(OutputKind::Nothing));
        let (noted, mut listener) = (Rc::clone(&shown), options.live);
        let live = move |said: Said| {
            noted.set(noted.get().and(said));
            if let Some(listener) = &mut listener {
                listener(said);
            }
        };
        let mut session = Session::new(SessionOptions { live: Some(Box::new(live)), keeps_results: true, ..options });
        let mut given = Vec::new();
        for line in self.given.lines() {
            let Some(told) = translated(&session, language, Language::Python, line) else { continue };
            session.eval(told.language, &told.source);
            given.push(told);
        }
        let kept = if self.kept.is_empty() { "None" } else { &self.kept };
        // Take the value out through an error message, so that it is neither shown nor kept as the last result.
        let failure = session.eval(Language::Python, &format!("raise ValueError({kept})")).error;
        let kept = failure.map(|failure| failure.message).unwrap_or_default();
        let names = names(&session);
        Attempt { exercise: self, session, shown, given, kept, first: names.clone(), names }
    }

    fn asks_for_value(&self) -> bool {
        self.check.contains("answer")
    }

    /// Returns the inputs of the solution.
    #[cfg(test)]
    pub(crate) fn solution_inputs(&self) -> impl Iterator<Item = &Inputs> {
        self.solution.iter().filter_map(|part| match part {
            PagePart::Session(inputs) => Some(inputs),
            PagePart::Prose(_) => None,
        })
    }
}

/// An exercise in progress.
pub struct Attempt<'e> {
    exercise: &'e Exercise,
    pub session: Session,
    /// The output of the running input so far.
    shown: Rc<Cell<OutputKind>>,
    /// The inputs run at the beginning.
    pub given: Vec<TranslatedInput>,
    /// The initial value, as Python source. Text does not add a handle to the storages the learner sees.
    kept: String,
    /// The initial variables, …
    first: BTreeSet<String>,
    /// … and all variables so far.
    names: BTreeSet<String>,
}

/// The verdict on an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<'e> {
    Right,
    Wrong,
    /// Correct, but in a forbidden way; with the explanation.
    Forbidden(&'e str),
    /// The value was assigned but not shown.
    Unsaid(String),
    /// Not an answer: an inspection, or an intermediate step.
    Step,
}

impl Verdict<'_> {
    /// The name used in answers to a page.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::Wrong => "wrong",
            Verdict::Forbidden(_) => "forbidden",
            Verdict::Unsaid(_) => "unsaid",
            Verdict::Step => "step",
        }
    }

    /// The text for the learner; empty for a step.
    pub fn text(&self) -> String {
        match self {
            Verdict::Right => "Right.".to_owned(),
            Verdict::Wrong => "Not yet.".to_owned(),
            Verdict::Forbidden(why) => format!("Not like this: {why}"),
            Verdict::Unsaid(name) => format!("To submit it, type {name}."),
            Verdict::Step => String::new(),
        }
    }
}

impl<'e> Attempt<'e> {
    /// Runs an input in a lesson in `language`, and judges it. There is no verdict after an error.
    pub fn answer(&mut self, language: Language, source: &str) -> (Outcome, Option<Verdict<'e>>) {
        // A stop that came too late for the previous input must not stop this one.
        self.session.interrupt_flag().store(false, Ordering::Relaxed);
        self.shown.set(OutputKind::Nothing);
        let language = language_of(&self.session, language, source);
        let outcome = self.session.eval(language, source);
        let shown = self.shown.get();
        let verdict = outcome.error.is_none().then(|| self.judge(source, shown));
        (outcome, verdict)
    }

    /// Judges an input that ran without an error. `shown` is the kind of output.
    fn judge(&mut self, source: &str, shown: OutputKind) -> Verdict<'e> {
        let asks_for_value = self.exercise.asks_for_value();
        let names = names(&self.session);
        let new = names.difference(&self.names).next().cloned();
        let is_given = self.first.contains(source.trim());
        self.names = names;
        let forbidden = self.exercise.forbidden.iter().find(|(is, _)| self.is_true(is));
        if forbidden.is_none() && self.is_true(&self.exercise.check) {
            return Verdict::Right;
        }
        let is_answer = match shown {
            OutputKind::Value => asks_for_value && !is_given,
            OutputKind::Other => false,
            OutputKind::Nothing => !asks_for_value && new.is_none(),
        };
        // A change to a variable persists, whatever else the input has shown.
        let has_acted = is_answer || !asks_for_value && shown != OutputKind::Other && !is_given;
        match (forbidden, new) {
            (Some((_, why)), _) if has_acted => Verdict::Forbidden(why),
            _ if is_answer => Verdict::Wrong,
            (_, Some(name)) if asks_for_value && shown == OutputKind::Nothing => Verdict::Unsaid(name),
            _ => Verdict::Step,
        }
    }

    /// Returns whether an expression of the page is true. Leaves no variable behind.
    fn is_true(&mut self, expression: &str) -> bool {
        // Before the first result there is no `_`, and no answer.
        let answer = if self.exercise.asks_for_value() { "_" } else { "None" };
        let code = format!("assert (lambda answer, kept: {expression})({answer}, {})", self.kept);
        self.session.eval(Language::Python, &code).error.is_none()
    }
}

/// The output of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputKind {
    /// The value of the input.
    Value,
    /// Printed text, or a picture.
    Other,
    Nothing,
}

impl OutputKind {
    /// Combines with one more piece of output.
    fn and(self, said: Said) -> OutputKind {
        match said {
            Said::Warned(_) => self,
            Said::Value(_) => OutputKind::Value,
            _ if self == OutputKind::Value => OutputKind::Value,
            _ => OutputKind::Other,
        }
    }
}

/// Returns the names of a session's variables.
fn names(session: &Session) -> BTreeSet<String> {
    session.variables().into_iter().map(|variable| variable.name).filter(|name| !name.starts_with('_')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Document, Form, Options, matches, printed};

    const LANGUAGES: [Language; 2] = [Language::Python, Language::Rhai];

    /// Answers on a page, the expected verdict, and the minimum number of them that its language can express.
    type Kind<'e> = (&'e [String], fn(&Verdict) -> bool, usize);

    /// Returns the verdict on the last answer. In a lesson in Rhai, answers are given in their Rhai form.
    fn verdict<'e>(
        exercise: &'e Exercise,
        lesson: Language,
        answer: Language,
        inputs: &[Example],
    ) -> Option<Verdict<'e>> {
        let mut attempt = exercise.begin(lesson, SessionOptions::default());
        let mut verdict = None;
        for input in inputs {
            if answer != input.language && attempt.session.rhai_form(&input.source).is_err() {
                return None;
            }
            let Some(told) = translated(&attempt.session, answer, input.language, &input.source) else { continue };
            let language = language_of(&attempt.session, lesson, &told.source);
            if language != told.language {
                // The lesson's language accepts it, perhaps with another meaning.
                return None;
            }
            let (outcome, found) = attempt.answer(lesson, &told.source);
            assert_eq!(outcome.error, None, "{}: {}", exercise.title, told.source);
            verdict = found;
            if verdict == Some(Verdict::Right) {
                break;
            }
        }
        verdict
    }

    fn example(source: &str) -> Example {
        let document = Document::parse(&format!(">>> {source}\n"), Form::Text);
        document.cases[0].examples[0].clone()
    }

    #[test]
    fn right_answers_are_told_from_wrong_and_from_forbidden_ones() {
        for (lesson, exercise) in lessons().iter().flat_map(|lesson| lesson.exercises.iter().map(move |e| (lesson, e)))
        {
            let place = format!("{}: {}", lesson.name, exercise.title);
            assert!(!exercise.hints.is_empty() && !exercise.task.is_empty(), "{place}: no hint or no task");
            assert_eq!(exercise.forbidden.is_empty(), exercise.cheats.is_empty(), "{place}");
            // A lesson in one language accepts answers in the other.
            for (language, answer) in LANGUAGES.iter().flat_map(|lesson| LANGUAGES.map(|answer| (*lesson, answer))) {
                let is_wrong: fn(&Verdict) -> bool = match exercise.asks_for_value() {
                    true => |verdict| *verdict == Verdict::Wrong,
                    // If a change is asked for, a shown value is only a step.
                    false => |verdict| matches!(verdict, Verdict::Wrong | Verdict::Step),
                };
                let kinds: [Kind; 3] = [
                    (&exercise.right, |verdict| *verdict == Verdict::Right, 2),
                    (&exercise.wrong, is_wrong, 2),
                    (
                        &exercise.cheats,
                        |verdict| matches!(verdict, Verdict::Forbidden(_)),
                        exercise.cheats.len().min(1),
                    ),
                ];
                for (answers, is_expected, fewest) in kinds {
                    let mut tried = 0;
                    for text in answers {
                        let verdict = verdict(exercise, language, answer, &[example(text)]);
                        let expected = verdict.as_ref().is_none_or(is_expected);
                        assert!(expected, "{place}: {text} in {answer:?} for {language:?}: {verdict:?}");
                        tried += usize::from(verdict.is_some());
                    }
                    assert!(tried >= fewest || language != answer, "{place}: too few answers in {answer:?}");
                }
                // The solution begins with the given code.
                let inputs = exercise.solution_inputs().flat_map(|inputs| inputs.examples(answer));
                let is_given = |input: &&Example| exercise.given.lines().any(|line| line == input.source);
                let solution: Vec<_> = inputs.filter(|input| !is_given(input)).cloned().collect();
                let solved = verdict(exercise, language, answer, &solution);
                let expected = solved.as_ref().map_or(language != answer, |verdict| *verdict == Verdict::Right);
                assert!(expected, "{place}: the solution in {answer:?} for {language:?}: {solved:?}");
            }
        }
    }

    /// Checks that a page shows the same in Rhai as in Python.
    fn shows_the_same(place: &str, parts: &[PagePart], session: &mut Session) {
        for part in parts {
            let PagePart::Session(inputs) = part else { continue };
            let wanted: Vec<_> = inputs.python.iter().map(|example| example.expected.as_str()).collect();
            let mut shown = Vec::new();
            for example in inputs.examples(Language::Rhai) {
                let is_formed = example.language == Language::Rhai || session.rhai_form(&example.source).is_ok();
                assert!(is_formed, "{place}: {} has no Rhai form", example.source);
                let told = translated(session, Language::Rhai, example.language, &example.source);
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
                let Attempt { mut session, given, .. } = exercise.begin(Language::Rhai, SessionOptions::default());
                let place = format!("{}: {}", lesson.name, exercise.title);
                assert!(given.iter().all(|told| told.language == Language::Rhai), "{place}: {given:?}");
                exercise.hints.iter().for_each(|hint| shows_the_same(&place, hint, &mut session));
                shows_the_same(&place, &exercise.solution, &mut fresh());
            }
        }
    }

    #[test]
    fn looking_is_no_answer() {
        let changes = Exercise {
            given: "import torch\nt = torch.zeros(1)".into(),
            check: "t.tolist() == [1]".into(),
            ..Exercise::default()
        };
        let asks = Exercise { check: "answer == 1".into(), ..changes.clone() };
        let unsaid = || Verdict::Unsaid("s".into());
        let rows = [
            ("t", Verdict::Step, Verdict::Step),
            ("print(t)", Verdict::Step, Verdict::Step),
            ("explain(t)", Verdict::Step, Verdict::Step),
            ("s = t.untyped_storage()", Verdict::Step, unsaid()),
            ("t[0] = 2", Verdict::Wrong, Verdict::Step),
            ("t + 2", Verdict::Step, Verdict::Wrong),
            ("2", Verdict::Step, Verdict::Wrong),
            ("t + 1", Verdict::Step, Verdict::Right),
            ("t[0] = 1", Verdict::Right, Verdict::Step),
        ];
        for (source, of_changes, of_asks) in rows {
            for (exercise, wanted) in [(&changes, of_changes), (&asks, of_asks)] {
                let given = verdict(exercise, Language::Python, Language::Python, &[example(source)]);
                assert_eq!(given, Some(wanted), "{source}: {}", exercise.check);
            }
        }
        // A variable counts as an answer once it is shown.
        let steps = [example("s = t + 2"), example("s")];
        assert_eq!(verdict(&asks, Language::Python, Language::Python, &steps), Some(Verdict::Wrong));
    }
}
