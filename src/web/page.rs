//! The page: answers requests with the help of the session, its desk and the lessons.

use super::events::Listener;
use super::quizzing::Quiz;
use super::request::{Parsed, Request, named, units, units_before};
use super::stage::{Files, Stage};
use super::teaching::{self, Trial};
use super::variables::variables;
use files::Input;
use serde_json::{Value, json};
use session::assist::{
    Desk, ListedCompletion, TITLE, completeness, completions, help, is_command, pieces, script, usages,
};
use session::transcript::{Json, Target, Totals, run_here};
use session::{Completeness, Language, Session};
use std::path::Path;
use std::rc::Rc;

/// A page with its session.
pub struct Page {
    pub(super) desk: Desk,
    pub(super) stage: Stage,
    /// The active exercise. While one is active, every request except `run` applies to its session.
    pub(super) trial: Option<Trial>,
    quiz: Option<Quiz>,
}

impl Page {
    /// Creates a page that sends events to `listener` and uses `files`.
    pub fn new(listener: impl FnMut(&str) + 'static, files: Rc<dyn Files>) -> Page {
        let stage = Stage::new(Listener::new(listener), files);
        Page { desk: desk(&stage), stage, trial: None, quiz: None }
    }

    /// Answers a request. If it is malformed or cannot be carried out, the answer says why.
    pub fn answer(&mut self, request: &str) -> String {
        let answer = Request::read(request).and_then(|request| self.answered(&request));
        answer.unwrap_or_else(|why| json!({ "refused": why })).to_string()
    }

    fn answered(&mut self, request: &Request) -> Parsed<Value> {
        let asked = request.text("ask")?;
        // The variables have a column of their own.
        if let Some(width) = request.width().filter(|_| asked != "variables") {
            self.stage.set_column(width);
        }
        match asked {
            "run" => self.run(request),
            "choose" => self.choose(request),
            "complete?" => self.is_complete(request),
            "highlight" => highlight(request),
            "complete" => self.complete(request),
            "signature" => self.signature(request),
            "help" => Ok(json!({ "text": self.help(request.text("topic")?) })),
            "fit" => Ok(self.fit()),
            "variables" => Ok(self.seeing(|session| variables(session, request.width()))),
            "transcript" => Ok(json!({ "text": self.desk.log().markdown(TITLE)? })),
            "script" => self.script(request.language()?),
            "restart" => Ok(self.restart()),
            "lessons" => Ok(teaching::list()),
            "lesson" => self.lesson(request),
            "attempt" => self.attempt(request),
            "try" => self.try_answer(request),
            "leave" => Ok(self.leave()),
            "quiz" => {
                let quiz = self.quiz.insert(Quiz::begin(request)?);
                Ok(quiz.next())
            }
            "next" => Ok(self.quiz.as_mut().ok_or("no quiz is active")?.next()),
            "guess" => Ok(self.quiz.as_mut().ok_or("no quiz is active")?.guess(request.text("text")?)),
            "fill" => self.stage.fill(request.number("id")?, request.number("blank")?, request.text("text")?),
            "solve" => self.stage.solve(request.number("id")?),
            "files" => Ok(json!({ "files": self.files() })),
            "inspect" => inspect(request.text("name")?),
            "remove" => self.stage.files.remove(request.text("name")?).map(|()| json!({})),
            "test" => test(request),
            "turn" => self.turn(request),
            other => Err(format!("there is no request \"{other}\"")),
        }
    }

    fn run(&mut self, request: &Request) -> Parsed<Value> {
        let (language, source) = (request.language()?, request.text("source")?);
        self.desk.set_language(language);
        self.stage.let_go();
        let taken = self.desk.take(&mut self.stage, source);
        self.stage.renew(&self.desk.session());
        let unfinished =
            taken.unfinished.map(|tail| json!({ "language": named(tail.language), "source": tail.source }));
        Ok(json!({ "unfinished": unfinished, "exit": taken.exit, "language": named(self.desk.language()) }))
    }

    /// Follows another element of a picture of `origin`.
    fn choose(&self, request: &Request) -> Parsed<Value> {
        let (id, choice) = (request.number("id")? as u64, request.number("choice")?);
        match self.stage.choose(id, choice) {
            true => Ok(json!({})),
            false => Err("this picture is of an earlier input; run that again to follow its elements".to_owned()),
        }
    }

    /// Redraws all pictures for a column that has changed.
    fn fit(&self) -> Value {
        self.stage.refit();
        if let Some(trial) = &self.trial {
            trial.refit();
        }
        json!({})
    }

    fn is_complete(&self, request: &Request) -> Parsed<Value> {
        let (language, source) = (request.language()?, request.text("source")?);
        let state = match self.seeing(|session| completeness(session, language, source)) {
            Completeness::Complete => "complete",
            Completeness::Incomplete => "incomplete",
            Completeness::Invalid => "invalid",
        };
        Ok(json!({ "state": state }))
    }

    fn complete(&self, request: &Request) -> Parsed<Value> {
        let (source, at) = request.place()?;
        let files = |word: &str| {
            let names = self.stage.files.list().into_iter().map(|(name, _)| name);
            (word.len(), names.filter(|name| name.starts_with(word)).map(|name| (name, String::new())).collect())
        };
        let language = request.language()?;
        let (start, found) = self.seeing(|session| completions(session, language, source, at, &files));
        let candidate = |way: ListedCompletion| json!({ "text": way.text, "shown": way.name, "doc": way.doc });
        let candidates: Vec<Value> = found.into_iter().map(candidate).collect();
        Ok(json!({ "start": units_before(source, start), "candidates": candidates }))
    }

    fn signature(&self, request: &Request) -> Parsed<Value> {
        let (source, at) = request.place()?;
        let language = request.language()?;
        Ok(json!({ "usages": self.seeing(|session| usages(session, language, source, at)) }))
    }

    fn help(&self, topic: &str) -> Option<String> {
        (!topic.trim().is_empty()).then(|| self.seeing(|session| help(session, topic)))
    }

    fn script(&mut self, language: Language) -> Parsed<Value> {
        let name = match language {
            Language::Python => "session.py",
            Language::Rhai => "session.rhai",
        };
        let text = script(&self.desk, &mut self.stage, language, Path::new(name));
        Ok(json!({ "text": text.map_err(|reason| reason.text().trim_end().to_owned())? }))
    }

    /// Calls `look` with the session that requests apply to.
    pub(super) fn seeing<R>(&self, look: impl FnOnce(&Session) -> R) -> R {
        match &self.trial {
            Some(trial) => look(&trial.session()),
            None => look(&self.desk.session()),
        }
    }

    fn lesson(&self, request: &Request) -> Parsed<Value> {
        let name = request.text("name")?;
        match request.optional("text") {
            Some(page) => teaching::lesson_of_others(name, page),
            None => teaching::lesson(name, request.language()?, &*self.stage.files),
        }
    }

    fn attempt(&mut self, request: &Request) -> Parsed<Value> {
        let (name, exercise, language) = (request.text("name")?, request.number("exercise")?, request.language()?);
        self.leave();
        let trial = Trial::begin(name, request.optional("text"), exercise, language, self.stage.another())?;
        let given = trial.given();
        self.trial = Some(trial);
        Ok(given)
    }

    fn try_answer(&mut self, request: &Request) -> Parsed<Value> {
        let (language, source) = (request.language()?, request.text("source")?);
        let trial = self.trial.as_mut().ok_or("no exercise is active")?;
        Ok(trial.answer(language, source))
    }

    fn leave(&mut self) -> Value {
        if let Some(trial) = self.trial.take() {
            trial.leave();
        }
        json!({})
    }

    fn restart(&mut self) -> Value {
        self.leave();
        self.stage.clear();
        self.desk = desk(&self.stage);
        json!({})
    }

    fn files(&self) -> Vec<Value> {
        let file = |(name, nbytes): (String, usize)| json!({ "name": name, "nbytes": nbytes });
        self.stage.files.list().into_iter().map(file).collect()
    }
}

/// Creates a fresh session on a stage.
fn desk(stage: &Stage) -> Desk {
    Desk::new(Language::Python, Vec::new(), stage.live())
}

fn highlight(request: &Request) -> Parsed<Value> {
    let (language, source) = (request.language()?, request.text("source")?);
    if is_command(source) {
        return Ok(json!({ "pieces": [["plain", units(source)]] }));
    }
    let pieces = pieces(language, source).into_iter();
    Ok(json!({ "pieces": pieces.map(|(piece, text)| json!([piece.name(), units(text)])).collect::<Vec<_>>() }))
}

fn inspect(name: &str) -> Parsed<Value> {
    let report = Input::at(name).and_then(|input| input.contents()).map_err(|error| format!("{name}: {error}"))?;
    Ok(json!({ "text": report.text() }))
}

/// Runs a recorded session like `tensorsh test --json`.
fn test(request: &Request) -> Parsed<Value> {
    let report = run_here(&Target::named(request.text("name")?, request.text("source")?));
    let (mut totals, mut document) = (Totals::default(), Json::default());
    totals.add(&report);
    document.add(&report);
    Ok(json!({ "report": document.value(&totals) }))
}
