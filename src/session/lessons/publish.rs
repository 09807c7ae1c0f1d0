//! Lessons as pages for a browser, without a program behind them: the sessions with what they print and draw now,
//! hints and solutions folded. A page has no script and asks for nothing; its policy says so to the browser.

use std::cell::RefCell;
use std::rc::Rc;

use explain::{Scene, escaped, html};

use super::markup::{inline, prose};
use super::{Attempt, Exercise, Inputs, Lesson, PagePart, TranslatedInput, packed, translated};
use crate::assist::Desk;
use crate::transcript::{Example, matches, printed};
use crate::{Language, Live, Said, SessionOptions};

/// What a page has in its head, by which it is recognised.
pub const MARK: &str = "<meta name=\"generator\" content=\"tensorsh publish\">";

const STYLE: &str = "\
main { display: block; max-width: 52rem; margin: 0 auto; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; } h3 { font-size: 1.05rem; }
a { color: var(--shown); } nav { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; }
code, pre { font: 14px/1.45 ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
p, li { margin: .6rem 0; } p code, li code, h1 code, h2 code { background: var(--unused-fill); padding: 0 .25em; }
.session { border-left: 3px solid var(--frame); margin: 1rem 0; padding-left: 1rem; }
.session pre { margin: .25rem 0; overflow-x: auto; } pre.input { color: var(--shown); } pre.warning { color: var(--shared); }
figure { border: 1px solid var(--frame); border-radius: 6px; margin: .6rem 0; padding: .4rem .9rem; }
figcaption { font-weight: 600; } figure p.label { color: var(--label); font-weight: 500; margin: .8rem 0 0; }
.exercise { border-top: 1px solid var(--frame); margin-top: 2.5rem; }
details { border: 1px solid var(--frame); border-radius: 6px; margin: .6rem 0; padding: .4rem .9rem; }
summary { cursor: pointer; font-weight: 500; } summary:focus-visible { outline: 2px solid var(--shown); }
";

/// How lessons are published.
#[derive(Clone, Debug)]
pub struct Publishing {
    pub language: Language,
    /// The address of the page on which readers can run the sessions, without a slash at the end.
    pub site: Option<String>,
}

/// A published lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub html: String,
    /// Inputs that now print something else than the lesson says.
    pub differing: Vec<String>,
}

/// Runs the sessions of the lesson at `index`, and returns it as a page with links to the other lessons; `None` if there is
/// no such lesson.
pub fn publish(lessons: &[Lesson], index: usize, publishing: &Publishing) -> Option<Page> {
    let lesson = lessons.get(index)?;
    let mut writer = Writer { lesson, publishing, body: String::new(), differing: Vec::new() };
    writer.lesson();
    let link =
        |lesson: &Lesson, sign: &str| format!("<a href=\"{}\">{sign}{}</a>\n", file_of(lesson), inline(&lesson.title));
    let mut around = String::new();
    if lessons.len() > 1 {
        around.push_str("<a href=\"index.html\">All lessons</a>\n");
        let before = index.checked_sub(1).and_then(|index| lessons.get(index));
        around.push_str(&before.map(|lesson| link(lesson, "Before: ")).unwrap_or_default());
        around.push_str(&lessons.get(index + 1).map(|lesson| link(lesson, "Next: ")).unwrap_or_default());
    }
    let nav = if around.is_empty() { around } else { format!("<nav aria-label=\"Lessons\">\n{around}</nav>\n") };
    let body = format!("{nav}<h1>{}</h1>\n{}{nav}", inline(&lesson.title), writer.body);
    Some(Page { html: whole(&lesson.title, &body), differing: writer.differing })
}

/// Returns a page that lists lessons.
pub fn contents(lessons: &[Lesson]) -> String {
    let line = |lesson: &Lesson| {
        let count = lesson.exercises.len();
        let exercises = if count == 1 { "1 exercise".to_owned() } else { format!("{count} exercises") };
        format!("<li><a href=\"{}\">{}</a> ({exercises})</li>\n", file_of(lesson), inline(&lesson.title))
    };
    let lines: String = lessons.iter().map(line).collect();
    whole("Lessons", &format!("<h1>Lessons</h1>\n<ol>\n{lines}</ol>\n"))
}

/// Returns the name of a lesson's page in a link.
fn file_of(lesson: &Lesson) -> String {
    let mut name = String::new();
    for byte in lesson.name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => name.push(char::from(byte)),
            byte => name.push_str(&format!("%{byte:02X}")),
        }
    }
    // A name that begins like `c:` would be an address of its own.
    format!("./{name}.html")
}

fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{MARK}\n\
         <title>{}</title>\n<style>\n{}{STYLE}</style>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(&title.replace(['`', '*'], "")),
        html::style(),
    )
}

/// A piece of a session's output.
enum Piece {
    Text(String),
    Warning(String),
    Picture(Scene),
}

/// A session whose output is kept.
struct Stage {
    desk: Desk,
    said: Rc<RefCell<Vec<Piece>>>,
    /// The inputs so far.
    inputs: Vec<TranslatedInput>,
}

/// Returns a listener that keeps output, and the place where it is kept.
fn listening() -> (Live, Rc<RefCell<Vec<Piece>>>) {
    let said: Rc<RefCell<Vec<Piece>>> = Rc::default();
    let heard = Rc::clone(&said);
    let live = move |piece: Said| {
        let mut heard = heard.borrow_mut();
        match (piece, heard.last_mut()) {
            (Said::Printed(text) | Said::Value(text), Some(Piece::Text(before))) => before.push_str(text),
            (Said::Printed(text) | Said::Value(text), _) => heard.push(Piece::Text(text.to_owned())),
            (Said::Warned(text), _) => heard.push(Piece::Warning(text.to_owned())),
            (Said::Drawn(picture), _) => heard.push(Piece::Picture(picture.scene.clone())),
        }
    };
    (Box::new(live), said)
}

impl Stage {
    fn new(language: Language) -> Stage {
        let (live, said) = listening();
        Stage { desk: Desk::new(language, Vec::new(), live), said, inputs: Vec::new() }
    }
}

/// Writes a lesson as HTML.
struct Writer<'l> {
    lesson: &'l Lesson,
    publishing: &'l Publishing,
    body: String,
    differing: Vec<String>,
}

impl Writer<'_> {
    fn lesson(&mut self) {
        if let Some(site) = &self.publishing.site {
            let address = format!("{site}/{}", self.address());
            self.body.push_str(&format!(
                "<p><a href=\"{}\">Open this lesson, to run and change it</a></p>\n",
                escaped(&address)
            ));
        }
        self.parts(&self.lesson.parts, &mut Stage::new(self.publishing.language));
        for (index, exercise) in self.lesson.exercises.iter().enumerate() {
            self.exercise(index, exercise);
        }
    }

    /// Returns the end of the address of the lesson on the site.
    fn address(&self) -> String {
        match &self.lesson.page {
            Some(page) => packed::lesson(&self.lesson.name, page),
            None => format!("#/lessons/{}", self.lesson.name),
        }
    }

    fn exercise(&mut self, index: usize, exercise: &Exercise) {
        let number = index + 1;
        self.body.push_str(&format!(
            "<section class=\"exercise\" id=\"exercise-{number}\">\n<h2>Exercise: {}</h2>\n",
            inline(&exercise.title)
        ));
        let (live, said) = listening();
        let options = SessionOptions { live: Some(live), ..SessionOptions::default() };
        let Attempt { desk, given, .. } = exercise.begin(self.publishing.language, options);
        let mut stage = Stage { desk, said, inputs: Vec::new() };
        self.parts(&exercise.task, &mut stage);
        if !given.is_empty() {
            let lines: String = given.iter().map(input).collect();
            self.body.push_str(&format!("<div class=\"session\">\n{lines}</div>\n"));
        }
        if let Some(site) = &self.publishing.site {
            let address = format!("{site}/{}/{number}", self.address());
            self.body.push_str(&format!("<p><a href=\"{}\">Try this exercise</a></p>\n", escaped(&address)));
        }
        for (i, hint) in exercise.hints.iter().enumerate() {
            let name = if exercise.hints.len() > 1 { format!("Hint {}", i + 1) } else { "Hint".to_owned() };
            self.folded(&name, hint, &mut stage);
        }
        if !exercise.solution.is_empty() {
            self.folded("Solution", &exercise.solution, &mut Stage::new(self.publishing.language));
        }
        self.body.push_str("</section>\n");
    }

    fn folded(&mut self, name: &str, parts: &[PagePart], stage: &mut Stage) {
        self.body.push_str(&format!("<details>\n<summary>{name}</summary>\n"));
        self.parts(parts, stage);
        self.body.push_str("</details>\n");
    }

    fn parts(&mut self, parts: &[PagePart], stage: &mut Stage) {
        let is_prose = |part: &PagePart| matches!(part, PagePart::Prose(_));
        for group in parts.chunk_by(|before, after| is_prose(before) && is_prose(after)) {
            let texts = group.iter().filter_map(|part| match part {
                PagePart::Prose(text) => Some(text.as_str()),
                PagePart::Session(_) => None,
            });
            self.body.push_str(&prose(texts));
            for part in group {
                if let PagePart::Session(inputs) = part {
                    self.session(inputs, stage);
                }
            }
        }
    }

    fn session(&mut self, inputs: &Inputs, stage: &mut Stage) {
        let language = self.publishing.language;
        self.body.push_str("<div class=\"session\">\n");
        for example in inputs.examples(language).iter().filter(|example| !example.options.skip) {
            let Some(told) = translated(&stage.desk.session(), language, example.language, &example.source) else {
                continue;
            };
            self.body.push_str(&input(&told));
            self.output(example, &told, stage);
            stage.inputs.push(told);
        }
        if let Some(site) = &self.publishing.site {
            let address = format!("{site}/{}", packed::session(&stage.inputs));
            self.body.push_str(&format!("<p><a href=\"{}\">Run this</a></p>\n", escaped(&address)));
        }
        self.body.push_str("</div>\n");
    }

    /// Runs an input, and writes its output. Where the lesson leaves something open, such as an address, it stays open.
    fn output(&mut self, example: &Example, told: &TranslatedInput, stage: &mut Stage) {
        let mut outcome = stage.desk.session_mut().eval(told.language, &told.source);
        let pieces = stage.said.take();
        let has_picture = pieces.iter().any(|piece| matches!(piece, Piece::Picture(_)));
        let texts = pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        outcome.text = texts.collect();
        let shown = printed(&outcome);
        // Translated inputs may print in other words.
        let is_compared = told.source == example.source && !has_picture;
        if is_compared && matches(&example.expected, &shown, &example.options) {
            self.body.push_str(&preformatted("output", example.expected.trim_end()));
            return;
        }
        if is_compared && !example.expected.trim().is_empty() {
            self.differing.push(example.source.clone());
        }
        for piece in &pieces {
            let html = match piece {
                Piece::Text(text) => preformatted("output", text.trim_end()),
                Piece::Warning(text) => preformatted("output warning", text.trim_end()),
                Piece::Picture(scene) => html::part(scene),
            };
            self.body.push_str(&html);
        }
        outcome.text.clear();
        if outcome.error.is_some() {
            self.body.push_str(&preformatted("output", printed(&outcome).trim_end()));
        }
    }
}

fn input(told: &TranslatedInput) -> String {
    let (first, next) = told.language.signs();
    let signs = std::iter::once(first).chain(std::iter::repeat(next));
    let lines: Vec<String> = signs.zip(told.source.lines()).map(|(sign, line)| format!("{sign}{line}")).collect();
    preformatted("input", &lines.join("\n"))
}

/// Returns lines as they stand; nothing for none.
fn preformatted(class: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = text.split('\n').map(|line| escaped(&line.replace('\t', "    "))).collect();
    format!("<pre class=\"{class}\" tabindex=\"0\">{}</pre>\n", lines.join("\n"))
}
