//! The tutorial: the pages of docs/learn as lessons, with exercises checked by the effect of the learner's answer.
//! Reads and checks only. The shell decides what to show, and stores progress.

mod judge;
mod markup;
mod packed;
mod parse;
mod plain;
mod publish;
mod report;
mod source;
#[cfg(test)]
mod tests;
mod trial;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use crate::assist::{Console, Desk, is_command, run_command};
use crate::texts::texts;
use crate::transcript::{Example, OnOpen};
use crate::{Completeness, Language, Live, Outcome, Said, Session, SessionOptions};
use judge::{Activity, Finding, GivenState, Judge};
pub use plain::plain;
pub use publish::{MARK, Page, Publishing, contents, publish};
pub use report::{Event, Given, Record, Report, Work};
pub use source::{MOST_BYTES, Mistake, place, read};
use tensor::journal;
pub use trial::tried;

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// The name in commands.
    pub name: String,
    /// What tells it from all other lessons in stored progress.
    pub key: String,
    /// The text of the page, if the lesson is somebody else's.
    pub page: Option<String>,
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
/// docs/lessons.md describes the fields for authors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exercise {
    pub title: String,
    pub task: Vec<PagePart>,
    /// Code to run first.
    pub given: String,
    /// Code that assigns other data to the same variables; a right answer works on both. May be empty.
    pub second: String,
    /// An expression that is true when the exercise is done. `answer` is the value of the last input.
    pub check: String,
    /// Conditions that must not hold, each with a sentence for the learner. They rule out ways around the lesson.
    pub forbidden: Vec<(String, String)>,
    /// Conditions that hold after likely errors, each with a sentence for the learner.
    pub likely: Vec<(String, String)>,
    /// Correct answers, …
    pub right: Vec<String>,
    /// … incorrect ones, for the test, …
    pub wrong: Vec<String>,
    /// … and ways around the lesson or the judge.
    pub tricks: Vec<String>,
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

/// Returns the command of the prompt that an entry in an exercise is.
pub fn command_of(entry: &str) -> Option<&str> {
    match entry.trim() {
        "help" | "help()" => Some(":help"),
        entry => is_command(entry).then_some(entry),
    }
}

impl Inputs {
    /// Returns the examples for lessons in `language`.
    pub fn examples(&self, language: Language) -> &[Example] {
        if language == Language::Rhai && !self.rhai.is_empty() { &self.rhai } else { &self.python }
    }
}

impl Exercise {
    /// Begins the exercise in a new session, whose output goes to the listener of the options.
    pub fn begin(&self, language: Language, options: SessionOptions) -> Attempt<'_> {
        self.begin_watched(language, options.live.unwrap_or_else(|| Box::new(|_| {})), Rc::new(|_| {}))
    }

    /// Like [`Exercise::begin`]. `on_open` receives every session that runs code of the page or the learner, before it
    /// does, so that the caller can stop it.
    pub fn begin_watched(&self, language: Language, output: Live, on_open: OnOpen) -> Attempt<'_> {
        self.begin_with(&self.given, language, output, on_open)
    }

    fn begin_with(&self, code: &str, language: Language, mut listener: Live, on_open: OnOpen) -> Attempt<'_> {
        let shown = Rc::new(Cell::new(OutputKind::Nothing));
        let noted = Rc::clone(&shown);
        let live = move |said: Said| {
            noted.set(noted.get().and(said));
            listener(said);
        };
        let desk = Desk::new(language, Vec::new(), Box::new(live));
        on_open(&desk.session());
        let mut given = Vec::new();
        for line in code.lines() {
            let mut session = desk.session_mut();
            let Some(told) = translated(&session, language, Language::Python, line) else { continue };
            session.eval(told.language, &told.source);
            given.push(told);
        }
        let judge = Judge::begin(self, code, &desk.session(), &on_open);
        let state = judge.state(&desk.session());
        let names = names(&desk.session());
        let first = names.clone();
        Attempt { exercise: self, desk, shown, given, judge, activity: Vec::new(), state, first, names, on_open }
    }

    fn asks_for_value(&self) -> bool {
        self.check.contains("answer")
    }

    /// Returns the inputs of the solution.
    fn solution_inputs(&self) -> impl Iterator<Item = &Inputs> {
        self.solution.iter().filter_map(|part| match part {
            PagePart::Session(inputs) => Some(inputs),
            PagePart::Prose(_) => None,
        })
    }
}

/// An exercise in progress.
pub struct Attempt<'e> {
    exercise: &'e Exercise,
    pub desk: Desk,
    /// The output of the running input so far.
    shown: Rc<Cell<OutputKind>>,
    /// The inputs run at the beginning.
    pub given: Vec<TranslatedInput>,
    judge: Judge<'e>,
    /// What each input in the log of the desk has done.
    activity: Vec<Activity>,
    /// The state of the given variables after the last input.
    state: GivenState,
    /// The initial variables, …
    first: BTreeSet<String>,
    /// … and all variables so far.
    names: BTreeSet<String>,
    on_open: OnOpen,
}

/// The verdict on an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Right,
    /// With a sentence on the error, if it is a likely one.
    Wrong(String),
    /// A way that is forbidden; with the explanation.
    Forbidden(String),
    /// The value was assigned but not shown.
    Unsaid(String),
    /// Not an answer: an inspection, or an intermediate step; with the reason.
    Step(String),
}

impl Verdict {
    /// The name used in answers to a page.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::Wrong(_) => "wrong",
            Verdict::Forbidden(_) => "forbidden",
            Verdict::Unsaid(_) => "unsaid",
            Verdict::Step(_) => "step",
        }
    }

    /// The text for the learner.
    pub fn text(&self) -> String {
        match self {
            Verdict::Right => "Right.".to_owned(),
            Verdict::Wrong(why) if why.is_empty() => "Not yet.".to_owned(),
            Verdict::Wrong(why) => format!("Not yet: {why}"),
            Verdict::Forbidden(why) => format!("Not this way: {why}"),
            Verdict::Unsaid(name) => format!("To submit it, type {name}."),
            Verdict::Step(why) => why.clone(),
        }
    }
}

impl Attempt<'_> {
    /// Runs an input in a lesson in `language`, and judges it. There is no verdict after an error.
    pub fn answer(&mut self, language: Language, source: &str) -> (Outcome, Option<Verdict>) {
        // A stop that came too late for the previous input must not stop this one.
        self.desk.session().interrupt_flag().store(false, Ordering::Relaxed);
        let outcome = self.run(language, source);
        let verdict = outcome.error.is_none().then(|| self.judge(source));
        if verdict.is_none() {
            self.look();
        }
        (outcome, verdict)
    }

    /// Runs a command of the prompt. If it has run code that is an answer, returns the verdict.
    pub fn command(&mut self, console: &mut dyn Console, entry: &str) -> Option<Verdict> {
        if entry.trim() == ":reset" {
            console.complain(&":reset would forget what was given; begin the exercise again instead\n".into());
            return None;
        }
        let before = self.desk.log().len();
        self.noted(|desk| run_command(desk, console, entry));
        let code = self.desk.log().since(before).last().filter(|input| !input.failed).map(|input| input.source.clone());
        match code.map(|code| self.judge(&code)) {
            None => self.look(),
            Some(Verdict::Step(_)) => {}
            verdict => return verdict,
        }
        None
    }

    /// Runs an input that undo can take back, and notes what it does.
    fn run(&mut self, language: Language, source: &str) -> Outcome {
        let language = language_of(&self.desk.session(), language, source);
        self.noted(|desk| desk.run_alone(language, source))
    }

    /// Runs work on the desk, and notes what its inputs call and write to.
    fn noted<R>(&mut self, work: impl FnOnce(&Desk) -> R) -> R {
        self.shown.set(OutputKind::Nothing);
        let state = self.desk.session().state();
        state.count_calls();
        journal::watch();
        let before = self.desk.log().len();
        let done = work(&self.desk);
        let activity = Activity { writes: journal::unwatch(), calls: state.take_calls() };
        // Undo takes inputs from the log, and redo puts them back.
        let inputs = self.desk.log().len();
        self.activity.resize(before.min(inputs), Activity::default());
        if inputs > before {
            self.activity.resize(inputs - 1, Activity::default());
            self.activity.push(activity);
        }
        done
    }

    /// Takes note of the present variables.
    fn look(&mut self) {
        let session = self.desk.session();
        self.state = self.judge.state(&session);
        self.names = names(&session);
    }

    /// Judges an input that ran without an error.
    fn judge(&mut self, source: &str) -> Verdict {
        let (before, known) = (std::mem::take(&mut self.state), std::mem::take(&mut self.names));
        self.look();
        let has_changed = self.state != before;
        let new = self.names.difference(&known).next().cloned();
        if self.exercise.asks_for_value() {
            return self.judge_value(source, new);
        }
        let finding = self.find(None);
        let shown = self.shown.get();
        match finding {
            Finding::Met => self.tried_again(),
            _ if !has_changed && shown == OutputKind::Other => {
                Verdict::Step("Only a look: nothing was written.".into())
            }
            Finding::Forbidden(why) if has_changed => Verdict::Forbidden(why),
            Finding::Unmet(Some(why)) => Verdict::Wrong(why),
            _ if has_changed => self.judge_change(),
            _ => self.judge_nothing(shown, new),
        }
    }

    /// Judges a change that neither meets the check nor has a sentence on the page.
    fn judge_change(&self) -> Verdict {
        let GivenState { rebound, moved, changed, .. } = &self.state;
        let is_same = |name: &String| changed.get(name) == Some(&0);
        if let Some(name) = rebound.iter().find(|name| is_same(name)) {
            return Verdict::Forbidden(format!("`{name}` names something else now; what it named is as before."));
        }
        if let Some(name) = moved.iter().find(|name| is_same(name)) {
            return Verdict::Forbidden(format!(
                "`{name}` shows other memory now; the memory that it showed is as before."
            ));
        }
        Verdict::Wrong(String::new())
    }

    /// Judges an input that was to change something and did not.
    fn judge_nothing(&self, shown: OutputKind, new: Option<String>) -> Verdict {
        let last = self.activity.last();
        let is_elsewhere = last.is_some_and(|activity| self.judge.wrote_elsewhere(activity));
        let may_have_written = last.is_some_and(|activity| self.judge.may_have_written(activity));
        match (shown, new) {
            (OutputKind::Nothing, Some(name)) => {
                Verdict::Step(format!("`{name}` is new; all that was given is as before."))
            }
            _ if may_have_written => Verdict::Wrong("nothing has changed; all that was given is as before.".into()),
            _ if is_elsewhere => Verdict::Wrong("this wrote to other memory; all that was given is as before.".into()),
            (OutputKind::Value, _) => Verdict::Step("Nothing was written: all that was given is as before.".into()),
            _ => Verdict::Wrong("nothing was written; all that was given is as before.".into()),
        }
    }

    /// Judges an input that is to show a value.
    fn judge_value(&mut self, source: &str, new: Option<String>) -> Verdict {
        let answer = match (self.shown.get(), new) {
            (OutputKind::Value, _) => self.desk.session().value_of_variable("_"),
            (OutputKind::Other, _) => {
                return Verdict::Step("Only a look: the exercise asks for a value, not for text or a picture.".into());
            }
            (OutputKind::Nothing, Some(name)) => return Verdict::Unsaid(name),
            (OutputKind::Nothing, None) => {
                return Verdict::Step("Nothing was shown: the exercise asks for a value.".into());
            }
        };
        let Some(answer) = answer else {
            return Verdict::Wrong("this value is too large to be kept.".into());
        };
        let name = source.trim();
        let is_look = self.first.contains(name) && !self.state.rebound.contains(name);
        match self.find(Some(&answer)) {
            Finding::Met => self.tried_again(),
            _ if is_look => Verdict::Step(format!("Only a look: `{name}` was given.")),
            Finding::Forbidden(why) => Verdict::Forbidden(why),
            Finding::Unmet(why) => Verdict::Wrong(why.unwrap_or_default()),
        }
    }

    fn find(&mut self, answer: Option<&value::Value>) -> Finding {
        self.judge.find(&self.desk.session(), answer, &self.state, &self.activity)
    }

    /// Runs all inputs again on the second data, and returns the verdict.
    fn tried_again(&self) -> Verdict {
        let exercise = self.exercise;
        if exercise.second.is_empty() {
            return Verdict::Right;
        }
        let (language, on_open) = (self.desk.language(), Rc::clone(&self.on_open));
        let mut other = exercise.begin_with(&exercise.second, language, Box::new(|_| {}), on_open);
        let log = self.desk.log();
        let mut error = None;
        for input in log.since(0) {
            error = other.run(input.language, &input.source).error;
            if error.as_ref().is_some_and(|error| error.interrupted) {
                return Verdict::Step("The trial with other data was stopped.".into());
            }
        }
        other.look();
        let answer = match (exercise.asks_for_value(), other.shown.get()) {
            (true, OutputKind::Value) => other.desk.session().value_of_variable("_"),
            _ => None,
        };
        match other.find(answer.as_ref()) {
            Finding::Met if error.is_none() => Verdict::Right,
            _ => Verdict::Wrong("this is right for these data only; with other data it fails.".into()),
        }
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
