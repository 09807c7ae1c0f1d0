//! `tensorsh learn`: the lessons at the terminal. A lesson runs its sessions while it is read, and ends with exercises.
//! The user's state folder records the finished ones.

mod console;

use std::collections::BTreeSet;
use std::io::{IsTerminal, stdin};
use std::path::PathBuf;
use std::rc::Rc;

use owo_colors::{OwoColorize, Style};
use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::history;
use super::pager::Paging;
use super::screen::{Screen, Stream, complain, complain_marked, show};
use console::LessonConsole;
use files::{PRIVATE, replace};
use session::assist::{Desk, describe, is_known_command, run_command};
use session::lessons::{
    Exercise, Lesson, PagePart, TranslatedInput, Verdict, command_of, find, lessons, plain, translated,
};
use session::{Completeness, Language, Live, Said, Session, nearest, wrapped};

/// The arguments of `tensorsh learn`.
#[derive(Clone, Debug)]
pub struct Learning {
    /// The language of the lessons. Answers may be in either language.
    pub language: Language,
    /// The number or the name of a lesson. `None` means the first unfinished one.
    pub lesson: Option<String>,
    /// Whether only to list the lessons.
    pub list: bool,
    /// Whether to reset the progress.
    pub reset: bool,
}

/// Runs a lesson, and returns the program's exit status.
pub fn learn(screen: Screen, wanted: &Learning) -> i32 {
    let mut progress = Progress::read();
    if wanted.reset {
        progress.forget();
    }
    if wanted.list {
        show(&list(&progress));
        return 0;
    }
    let lesson = match &wanted.lesson {
        Some(name) => match find(name) {
            Some(lesson) => lesson,
            None => {
                complain(&format!("tensorsh: there is no lesson {name}; see tensorsh learn --list\n"));
                return 1;
            }
        },
        None if wanted.reset => return 0,
        None => match lessons().iter().find(|lesson| !progress.has_done(lesson)) {
            Some(lesson) => lesson,
            None => {
                show("All exercises are done. tensorsh learn LESSON repeats one, --reset clears the progress.\n");
                return 0;
            }
        },
    };
    match Learner::open(screen, wanted.language).and_then(|mut learner| learner.lessons(lesson, &mut progress)) {
        Ok(()) | Err(ReadlineError::Eof | ReadlineError::Interrupted) => 0,
        Err(error) => {
            complain(&format!("tensorsh: the terminal cannot be used: {error}\n"));
            1
        }
    }
}

fn list(progress: &Progress) -> String {
    let widest = lessons().iter().map(|lesson| lesson.name.len()).max().unwrap_or_default();
    let line = |(number, lesson): (usize, &Lesson)| {
        let done = lesson.exercises.iter().filter(|exercise| progress.has(lesson, exercise)).count();
        let mark = if progress.has_done(lesson) { "x" } else { " " };
        let (name, title, all) = (lesson.name, &lesson.title, lesson.exercises.len());
        format!("[{mark}] {:>2} {name:<widest$}  {title} ({done} of {all} exercises)\n", number + 1)
    };
    lessons().iter().enumerate().map(line).collect()
}

/// The finished exercises.
struct Progress {
    /// `None` if nothing can be kept.
    path: Option<PathBuf>,
    done: BTreeSet<String>,
}

impl Progress {
    fn read() -> Progress {
        let path = history::folder().map(|folder| folder.join("learn"));
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        Progress { path, done: text.lines().map(str::to_owned).collect() }
    }

    fn key(lesson: &Lesson, exercise: &Exercise) -> String {
        format!("{}: {}", lesson.name, exercise.title)
    }

    fn has(&self, lesson: &Lesson, exercise: &Exercise) -> bool {
        self.done.contains(&Progress::key(lesson, exercise))
    }

    fn has_done(&self, lesson: &Lesson) -> bool {
        lesson.exercises.iter().all(|exercise| self.has(lesson, exercise))
    }

    fn add(&mut self, lesson: &Lesson, exercise: &Exercise) {
        self.done.insert(Progress::key(lesson, exercise));
        self.write();
    }

    fn forget(&mut self) {
        self.done.clear();
        self.write();
    }

    fn write(&self) {
        let Some(path) = &self.path else { return };
        let text: String = self.done.iter().map(|line| format!("{line}\n")).collect();
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = made.and_then(|()| replace(path, text.as_bytes(), PRIVATE)) {
            complain(&format!("progress cannot be saved: {}: {error}\n", path.display()));
        }
    }
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
}

/// The commands that can be typed in place of an answer.
const COMMANDS: [&str; 5] = [":hint", ":solution", ":again", ":skip", ":quit"];

const GO_ON: &str = "-- press Enter --";

impl Learner {
    fn open(screen: Screen, language: Language) -> rustyline::Result<Learner> {
        let editor = if stdin().is_terminal() {
            Some(Editor::with_history(rustyline::Config::default(), MemHistory::new())?)
        } else {
            None
        };
        Ok(Learner { screen, language, editor, unread: 0, typed: String::new(), paging: Rc::default() })
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

    /// Runs a lesson and the following ones until the learner quits.
    fn lessons(&mut self, first: &Lesson, progress: &mut Progress) -> rustyline::Result<()> {
        let before = lessons().iter().take_while(|lesson| *lesson != first).count();
        for (number, lesson) in (1..).zip(lessons()).skip(before) {
            if let ExerciseEnd::Quit = self.lesson(number, lesson, progress)? {
                break;
            }
            let Some(next) = lessons().get(number) else { break };
            let sign = format!("-- press Enter for lesson {}, {}; type :quit to leave --", number + 1, next.title);
            if is_quit(self.read(&sign)?.trim()) {
                break;
            }
        }
        Ok(())
    }

    fn lesson(&mut self, number: usize, lesson: &Lesson, progress: &mut Progress) -> rustyline::Result<ExerciseEnd> {
        self.heading(&format!("{number}. {}", lesson.title))?;
        let desk = Desk::new(self.language, Vec::new(), self.live());
        desk.session_mut().set_width(self.columns());
        for (i, part) in lesson.parts.iter().enumerate() {
            self.part(part, &desk)?;
            // Input from a file needs no pauses.
            let has_more = lesson.parts.len() > i + 1;
            if self.editor.is_some() && has_more && matches!(part, PagePart::Session(_)) && self.pause(&desk)? {
                return Ok(ExerciseEnd::Quit);
            }
        }
        for exercise in &lesson.exercises {
            if progress.has(lesson, exercise) {
                self.remark(&format!("Exercise: {} (done before)", exercise.title));
            }
            match self.exercise(exercise)? {
                ExerciseEnd::Solved => progress.add(lesson, exercise),
                ExerciseEnd::Skipped => {}
                ExerciseEnd::Quit => return Ok(ExerciseEnd::Quit),
            }
        }
        let done = lesson.exercises.iter().filter(|exercise| progress.has(lesson, exercise)).count();
        self.remark(&format!("Lesson {number}: {done} of {} exercises done.", lesson.exercises.len()));
        Ok(ExerciseEnd::Solved)
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

    fn exercise(&mut self, exercise: &Exercise) -> rustyline::Result<ExerciseEnd> {
        self.heading(&format!("Exercise: {}", exercise.title))?;
        'anew: loop {
            // Without a handler, Ctrl-C ends the program immediately, which is acceptable here.
            let listen = |session: &Session| drop(flag::register(SIGINT, session.interrupt_flag()));
            let mut attempt = exercise.begin_watched(self.language, self.live(), Rc::new(listen));
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
                                for part in parts {
                                    self.part(part, &attempt.desk)?;
                                }
                            }
                            None => self.remark("No more hints; type :solution to see an answer."),
                        }
                        None
                    }
                    ":solution" => {
                        // Runs in a separate session, so that the learner's own is not affected.
                        let aside = Desk::new(self.language, Vec::new(), self.live());
                        aside.session_mut().set_width(self.columns());
                        for part in &exercise.solution {
                            self.part(part, &aside)?;
                        }
                        None
                    }
                    ":again" => continue 'anew,
                    ":skip" => return Ok(ExerciseEnd::Skipped),
                    line if is_quit(line) => return Ok(ExerciseEnd::Quit),
                    line if line.starts_with(':') && !is_known_command(line) => {
                        let near = nearest(line, COMMANDS).map(|near| format!("; did you mean {near}?"));
                        self.remark(&format!("A lesson has no command {line}{}", near.unwrap_or_default()));
                        None
                    }
                    line => match command_of(line) {
                        Some(command) => attempt.command(&mut self.console(), command),
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
