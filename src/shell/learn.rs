//! `tensorsh learn`: the lessons at the terminal. A lesson runs its sessions while it is read, and ends with exercises.
//! The user's state folder records the finished ones.

mod console;
mod course;
mod done;
mod mark;
mod report;

use std::io::{IsTerminal, stdin};
use std::path::PathBuf;
use std::rc::Rc;

use owo_colors::{OwoColorize, Style};
use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;

use super::interrupts::listen;
use super::pager::Paging;
use super::screen::{Screen, Stream, complain, complain_marked, show};
use console::LessonConsole;
pub(crate) use course::Course;
use done::Done;
pub use mark::{Marking, mark};
use report::ReportFile;
use session::assist::{Desk, describe, is_known_command, run_command};
use session::lessons::{
    Event, Exercise, Lesson, PagePart, Record, TranslatedInput, Verdict, command_of, plain, translated,
};
use session::{Completeness, Language, Live, Said, Session, nearest, wrapped};

/// The arguments of `tensorsh learn`.
#[derive(Clone, Debug)]
pub struct Learning {
    /// The language of the lessons. Answers may be in either language.
    pub language: Language,
    /// The number or the name of a lesson, a file, or a folder. `None` means the first unfinished one of docs/learn.
    pub lesson: Option<String>,
    /// Whether only to list the lessons.
    pub list: bool,
    /// Whether to reset the progress: of `lesson`, or of all lessons.
    pub reset: bool,
    /// The file that keeps what the learner does.
    pub report: Option<PathBuf>,
}

/// Runs a lesson, and returns the program's exit status.
pub fn learn(screen: Screen, wanted: &Learning) -> i32 {
    let mut done = Done::read();
    let course = match wanted.lesson.as_deref().map_or_else(|| Ok(Course::own()), Course::find) {
        Ok(course) => course,
        Err(why) => {
            why.lines().for_each(|line| complain(&format!("tensorsh: {line}\n")));
            return 1;
        }
    };
    if wanted.reset {
        let asked =
            course.first.map_or(&course.lessons[..], |first| course.lessons.get(first..=first).unwrap_or_default());
        done.forget(wanted.lesson.as_ref().map(|_| asked));
    }
    if wanted.list {
        show(&list(&course.lessons, &done));
        return 0;
    }
    if wanted.reset && wanted.lesson.is_none() {
        return 0;
    }
    let Some(first) = course.first.or_else(|| course.lessons.iter().position(|lesson| !done.has_all(lesson))) else {
        show("All exercises are done. tensorsh learn LESSON repeats one, --reset clears the progress.\n");
        return 0;
    };
    let report = match wanted.report.as_deref().map(ReportFile::open).transpose() {
        Ok(report) => report,
        Err(why) => {
            complain(&format!("tensorsh: {why}\n"));
            return 1;
        }
    };
    let opened = Learner::open(screen, wanted.language, report);
    match opened.and_then(|mut learner| learner.lessons(&course.lessons, first, course.exercise, &mut done)) {
        Ok(()) | Err(ReadlineError::Eof | ReadlineError::Interrupted) => 0,
        Err(error) => {
            complain(&format!("tensorsh: the terminal cannot be used: {error}\n"));
            1
        }
    }
}

fn list(lessons: &[Lesson], done: &Done) -> String {
    let widest = lessons.iter().map(|lesson| lesson.name.chars().count()).max().unwrap_or_default();
    let line = |(number, lesson): (usize, &Lesson)| {
        let mark = if done.has_all(lesson) { "x" } else { " " };
        let (name, title, count, all) = (&lesson.name, &lesson.title, done.count(lesson), lesson.exercises.len());
        format!("[{mark}] {:>2} {name:<widest$}  {title} ({count} of {all} exercises)\n", number + 1)
    };
    lessons.iter().enumerate().map(line).collect()
}

/// How an exercise ended.
enum ExerciseEnd {
    Solved,
    Skipped,
    Quit,
}

/// The learner at the terminal.
struct Learner {
    screen: Screen,
    language: Language,
    /// `None` if input comes from a file.
    editor: Option<Editor<(), MemHistory>>,
    /// The lines shown since the learner last pressed Enter.
    unread: usize,
    /// What was typed while the lesson waited for Enter. The next prompt begins with it.
    typed: String,
    paging: Rc<Paging>,
    report: Option<ReportFile>,
}

/// The commands that can be typed in place of an answer.
const COMMANDS: [&str; 5] = [":hint", ":solution", ":again", ":skip", ":quit"];

const GO_ON: &str = "-- press Enter --";

impl Learner {
    fn open(screen: Screen, language: Language, report: Option<ReportFile>) -> rustyline::Result<Learner> {
        let editor = if stdin().is_terminal() {
            Some(Editor::with_history(rustyline::Config::default(), MemHistory::new())?)
        } else {
            None
        };
        Ok(Learner { screen, language, editor, unread: 0, typed: String::new(), paging: Rc::default(), report })
    }

    /// Returns the columns and rows of the terminal, if there is one.
    fn dimensions(&mut self) -> Option<(usize, usize)> {
        let (columns, rows) = self.editor.as_mut().and_then(Editor::dimensions)?;
        Some((columns.into(), rows.into()))
    }

    fn columns(&mut self) -> usize {
        self.dimensions().map_or(80, |(columns, _)| columns).clamp(20, 100)
    }

    /// Waits for a key if printing `lines` more lines would push unread ones off the screen.
    fn wait_for_room(&mut self, lines: usize) -> rustyline::Result<()> {
        let Some((_, rows)) = self.dimensions() else { return Ok(()) };
        if self.unread > 0 && self.unread + lines >= rows {
            self.typed = self.read(GO_ON)?;
        }
        self.unread += lines;
        Ok(())
    }

    /// Returns the number of terminal lines that a text takes.
    fn height(&mut self, text: &str) -> usize {
        let columns = self.dimensions().map_or(80, |(columns, _)| columns).max(1);
        text.lines().map(|line| line.chars().count().div_ceil(columns).max(1)).sum()
    }

    /// Reads the next line. Fails at the end of the input.
    fn read(&mut self, sign: &str) -> rustyline::Result<String> {
        self.unread = 0;
        if let Some(editor) = &mut self.editor {
            let line = editor.readline_with_initial(sign, (&std::mem::take(&mut self.typed), ""))?;
            // The prompt works without a history too.
            let _ = editor.add_history_entry(&line);
            return Ok(line);
        }
        let mut line = String::new();
        match stdin().read_line(&mut line)? {
            0 => Err(ReadlineError::Eof),
            _ => {
                let line = line.trim_end_matches(['\r', '\n']).to_owned();
                show(&format!("{sign}{line}\n"));
                Ok(line)
            }
        }
    }

    fn remark(&self, text: &str) {
        let dim = self.screen.style(Stream::Output, Style::new().dimmed());
        show(&format!("{}\n", text.style(dim)));
    }

    /// Shows a heading, but not as the last lines of a screen.
    fn heading(&mut self, text: &str) -> rustyline::Result<()> {
        self.wait_for_room(6)?;
        let bold = self.screen.style(Stream::Output, Style::new().bold());
        show(&format!("\n{}\n\n", text.style(bold)));
        Ok(())
    }

    fn prose(&mut self, text: &str) -> rustyline::Result<()> {
        let columns = self.columns();
        let lines = wrapped(&plain(text), columns);
        // A paragraph is not split if it fits on one screen.
        let is_one = self.dimensions().is_none_or(|(_, rows)| lines.len() + 1 < rows);
        if is_one {
            self.wait_for_room(lines.len() + 1)?;
        }
        for line in lines {
            if !is_one {
                self.wait_for_room(1)?;
            }
            show(&format!("{line}\n"));
        }
        show("\n");
        Ok(())
    }

    /// Runs the lesson at `first` and the following ones until the learner quits. With an `exercise`, begins there.
    fn lessons(
        &mut self,
        lessons: &[Lesson],
        first: usize,
        mut exercise: Option<usize>,
        done: &mut Done,
    ) -> rustyline::Result<()> {
        for (number, lesson) in (1..).zip(lessons).skip(first) {
            if let ExerciseEnd::Quit = self.lesson(number, lesson, exercise.take(), done)? {
                break;
            }
            let Some(next) = lessons.get(number) else { break };
            let sign = format!("-- press Enter for lesson {}, {}; type :quit to leave --", number + 1, next.title);
            if is_quit(self.read(&sign)?.trim()) {
                break;
            }
        }
        Ok(())
    }

    /// Runs a lesson, or its exercises from one on.
    fn lesson(
        &mut self,
        number: usize,
        lesson: &Lesson,
        exercise: Option<usize>,
        done: &mut Done,
    ) -> rustyline::Result<ExerciseEnd> {
        self.heading(&format!("{number}. {}", lesson.title))?;
        if exercise.is_none() && self.read_lesson(lesson)? {
            return Ok(ExerciseEnd::Quit);
        }
        for index in exercise.unwrap_or_default()..lesson.exercises.len() {
            let Some(exercise) = lesson.exercises.get(index) else { break };
            if done.has(lesson, exercise) {
                self.remark(&format!("Exercise: {} (done before)", exercise.title));
            }
            match self.exercise(lesson, index, exercise)? {
                ExerciseEnd::Solved => done.add(lesson, exercise),
                ExerciseEnd::Skipped => {}
                ExerciseEnd::Quit => return Ok(ExerciseEnd::Quit),
            }
        }
        self.remark(&format!("Lesson {number}: {} of {} exercises done.", done.count(lesson), lesson.exercises.len()));
        Ok(ExerciseEnd::Solved)
    }

    /// Shows a lesson up to its exercises. Returns whether to quit.
    fn read_lesson(&mut self, lesson: &Lesson) -> rustyline::Result<bool> {
        let desk = Desk::new(self.language, Vec::new(), self.live());
        desk.session_mut().set_width(self.columns());
        for (i, part) in lesson.parts.iter().enumerate() {
            self.part(part, &desk)?;
            // Input from a file needs no pauses.
            let has_more = lesson.parts.len() > i + 1;
            if self.editor.is_some() && has_more && matches!(part, PagePart::Session(_)) && self.pause(&desk)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps what the learner does, if that was asked for.
    fn note(&mut self, lesson: &Lesson, index: usize, event: Event) {
        if let Some(report) = &mut self.report {
            report.add(&Record::new(lesson, index, event));
        }
    }

    /// Waits for Enter. Runs what is typed before it in the session of the lesson. Returns whether to quit.
    fn pause(&mut self, desk: &Desk) -> rustyline::Result<bool> {
        loop {
            let line = self.read(GO_ON)?;
            match line.trim() {
                "" => return Ok(false),
                line if is_quit(line) => return Ok(true),
                line => match command_of(line) {
                    Some(command) => {
                        run_command(desk, &mut self.console(), command);
                    }
                    None => {
                        let source = self.read_rest(desk, line.to_owned())?;
                        let outcome = self.paged(|| desk.session_mut().eval(desk.language(), &source))?;
                        if let Some(error) = &outcome.error {
                            complain_marked(self.screen, &describe(error, &source, None));
                        }
                    }
                },
            }
        }
    }

    /// Returns a listener that sends output to the terminal immediately.
    fn live(&self) -> Live {
        let (screen, paging) = (self.screen, Rc::clone(&self.paging));
        Box::new(move |said: Said| paging.say(screen, said))
    }

    fn console(&mut self) -> LessonConsole {
        let rows = self.dimensions().map(|(_, rows)| rows);
        LessonConsole { screen: self.screen, columns: self.columns(), rows, paging: Rc::clone(&self.paging) }
    }

    fn part(&mut self, part: &PagePart, desk: &Desk) -> rustyline::Result<()> {
        match part {
            PagePart::Prose(text) => self.prose(text)?,
            PagePart::Session(inputs) => {
                let examples = inputs.examples(self.language).iter();
                for example in examples.filter(|example| !example.options.skip) {
                    let told = translated(&desk.session(), self.language, example.language, &example.source);
                    if let Some(told) = told {
                        let (asked, shown) = (self.height(&told.source), self.height(&example.expected));
                        // A picture that fills a screen is shown in pieces.
                        let is_long = self.dimensions().is_some_and(|(_, rows)| shown >= rows);
                        self.wait_for_room(if is_long { asked } else { asked + shown })?;
                        self.run(&told, desk)?;
                    }
                }
                show("\n");
                self.unread += 1;
            }
        }
        Ok(())
    }

    /// Runs `work`, and shows its pictures, a screen at a time.
    fn paged<R>(&mut self, work: impl FnOnce() -> R) -> rustyline::Result<R> {
        let rows = self.dimensions().map(|(_, rows)| rows);
        self.paging.above(rows);
        let done = work();
        let drawn = self.paging.take();
        let mut lines: Vec<_> = drawn.lines().collect();
        while let Some((_, rows)) = self.dimensions()
            && lines.len() + 1 >= rows
        {
            // Two lines are for the input above and the sign below.
            let most = rows.saturating_sub(2).max(1);
            let gap = lines.iter().take(most).rposition(|line| line.is_empty()).filter(|gap| *gap > 0);
            let rest = lines.split_off(gap.map_or(most, |gap| gap + 1));
            show(&format!("{}\n", lines.join("\n")));
            self.typed = self.read(GO_ON)?;
            self.unread = rest.len();
            lines = rest;
        }
        if !lines.is_empty() {
            show(&format!("{}\n", lines.join("\n")));
        }
        Ok(done)
    }

    /// Shows an input with its prompts.
    fn input(&self, told: &TranslatedInput) {
        let (first, next) = told.language.signs();
        let signs = std::iter::once(first).chain(std::iter::repeat(next));
        signs.zip(told.source.lines()).for_each(|(sign, line)| self.remark(&format!("{sign}{line}")));
    }

    /// Runs an input of a page, and shows it with its output.
    fn run(&mut self, told: &TranslatedInput, desk: &Desk) -> rustyline::Result<()> {
        self.input(told);
        let outcome = self.paged(|| desk.session_mut().eval(told.language, &told.source))?;
        if let Some(error) = &outcome.error {
            complain_marked(self.screen, &describe(error, &told.source, None));
        }
        Ok(())
    }

    fn exercise(&mut self, lesson: &Lesson, index: usize, exercise: &Exercise) -> rustyline::Result<ExerciseEnd> {
        self.heading(&format!("Exercise: {}", exercise.title))?;
        'anew: loop {
            // Without a handler, Ctrl-C ends the program immediately, which is acceptable here.
            let opened = |session: &Session| drop(listen(session.interrupt_flag()));
            let mut attempt = exercise.begin_watched(self.language, self.live(), Rc::new(opened));
            self.note(lesson, index, Event::Begin(self.language));
            attempt.desk.session_mut().set_width(self.columns());
            for part in &exercise.task {
                self.part(part, &attempt.desk)?;
            }
            attempt.given.iter().for_each(|told| self.input(told));
            self.remark(&format!("({})", COMMANDS.join(", ")));
            let mut hints = exercise.hints.iter();
            loop {
                // Ctrl-C discards the typed line, like at the prompt of the shell.
                let line = match self.read(attempt.desk.language().signs().0) {
                    Err(ReadlineError::Interrupted) => {
                        self.remark("(type :quit or press Ctrl-D to leave the lesson)");
                        continue;
                    }
                    line => line?,
                };
                let verdict = match line.trim() {
                    "" => None,
                    ":hint" => {
                        match hints.next() {
                            Some(parts) => {
                                self.note(lesson, index, Event::Hint);
                                for part in parts {
                                    self.part(part, &attempt.desk)?;
                                }
                            }
                            None => self.remark("No more hints; type :solution to see an answer."),
                        }
                        None
                    }
                    ":solution" => {
                        self.note(lesson, index, Event::Solution);
                        // Runs in a separate session, so that the learner's own is not affected.
                        let aside = Desk::new(self.language, Vec::new(), self.live());
                        aside.session_mut().set_width(self.columns());
                        for part in &exercise.solution {
                            self.part(part, &aside)?;
                        }
                        None
                    }
                    ":again" => continue 'anew,
                    ":skip" => {
                        self.note(lesson, index, Event::Skip);
                        return Ok(ExerciseEnd::Skipped);
                    }
                    line if is_quit(line) => return Ok(ExerciseEnd::Quit),
                    line if line.starts_with(':') && !is_known_command(line) => {
                        let near = nearest(line, COMMANDS).map(|near| format!("; did you mean {near}?"));
                        self.remark(&format!("A lesson has no command {line}{}", near.unwrap_or_default()));
                        None
                    }
                    line => match command_of(line) {
                        Some(command) => {
                            let verdict = attempt.command(&mut self.console(), command);
                            let name = verdict.as_ref().map_or("step", Verdict::name).to_owned();
                            self.note(lesson, index, Event::Answer { source: command.to_owned(), verdict: name });
                            verdict
                        }
                        None => {
                            let source = match self.read_rest(&attempt.desk, line.to_owned()) {
                                Err(ReadlineError::Interrupted) => continue,
                                source => source?,
                            };
                            let language = attempt.desk.language();
                            let (outcome, verdict) = self.paged(|| attempt.answer(language, &source))?;
                            if let Some(error) = &outcome.error {
                                complain_marked(self.screen, &describe(error, &source, None));
                            }
                            // An input that failed may still have changed something.
                            let name = verdict.as_ref().map_or("error", Verdict::name).to_owned();
                            self.note(lesson, index, Event::Answer { source, verdict: name });
                            verdict
                        }
                    },
                };
                let Some(verdict) = verdict else { continue };
                let (text, columns) = (verdict.text(), self.columns());
                let told = match verdict {
                    Verdict::Right => {
                        self.remark(&text);
                        return Ok(ExerciseEnd::Solved);
                    }
                    Verdict::Wrong(_) => format!("{text} Type :hint for a hint."),
                    Verdict::Forbidden(_) => format!("{text} Type :again to start over, :hint for a hint."),
                    Verdict::Unsaid(_) | Verdict::Step(_) => format!("({text})"),
                };
                wrapped(&told, columns).iter().for_each(|line| self.remark(line));
            }
        }
    }

    /// Reads the remaining lines of an input.
    fn read_rest(&mut self, desk: &Desk, first: String) -> rustyline::Result<String> {
        let language = desk.language();
        let (sign, next) = language.signs();
        let mut source = first.trim_start_matches(sign).to_owned();
        while desk.session().completeness(language, &source) == Completeness::Incomplete {
            source = format!("{source}\n{}", self.read(next)?);
        }
        Ok(source)
    }
}

/// Returns whether a line asks to quit.
fn is_quit(line: &str) -> bool {
    matches!(line, ":quit" | "exit" | "exit()" | "quit()")
}
