//! Lessons of others: reads a page that somebody has written, and says what is wrong with it, line by line.

use super::{Lesson, parse};
use crate::transcript::{Document, Form};
use crate::{Completeness, completeness_of_python, is_python_expression, nearest};

/// The largest page, in bytes.
pub const MOST_BYTES: usize = 1 << 20;

/// The largest number of sessions and exercises of a page. Whatever shows a lesson takes time for each of them.
const MOST_PARTS: usize = 400;

/// The comments that an exercise consists of.
const KINDS: [&str; 8] = ["given", "second", "check", "forbidden", "likely", "right", "wrong", "tricks"];

/// What is wrong with a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what to write.
    pub what: String,
}

/// Splits the number of an exercise from the name of a lesson: `strides:2` is the second exercise of `strides`.
pub fn place(wanted: &str) -> (&str, Option<usize>) {
    match wanted.rsplit_once(':') {
        Some((name, number)) if !name.is_empty() => match number.parse() {
            Ok(number) => (name, Some(number)),
            Err(_) => (wanted, None),
        },
        _ => (wanted, None),
    }
}

/// Reads a page. `key` tells its lesson from all others in stored progress.
///
/// # Errors
/// Fails with everything that is wrong with the page, in the order of lines.
pub fn read(name: &str, key: &str, page: &str) -> Result<Lesson, Vec<Mistake>> {
    if page.len() > MOST_BYTES {
        let what = format!("the lesson is longer than {MOST_BYTES} bytes; divide it");
        return Err(vec![Mistake { line: 1, what }]);
    }
    let mut reading = Reading::default();
    reading.page(page);
    match reading.mistakes.is_empty() {
        true => Ok(Lesson { key: key.to_owned(), page: Some(page.to_owned()), ..parse::lesson(name, page) }),
        false => Err(reading.mistakes),
    }
}

/// A look at every line of a page.
#[derive(Default)]
struct Reading {
    mistakes: Vec<Mistake>,
    has_title: bool,
    parts: usize,
    exercises: Vec<Draft>,
}

/// An exercise as far as it is read.
struct Draft {
    title: String,
    line: usize,
    has_task: bool,
    has_check: bool,
}

/// The lines of a page that are not read yet, each with its number.
type Lines<'p> = std::iter::Peekable<std::iter::Zip<std::ops::RangeFrom<usize>, std::str::Lines<'p>>>;

impl Reading {
    fn refuse(&mut self, line: usize, what: impl Into<String>) {
        self.mistakes.push(Mistake { line, what: what.into() });
    }

    fn page(&mut self, page: &str) {
        let mut lines: Lines = (1..).zip(page.lines()).peekable();
        while let Some((number, line)) = lines.next() {
            if self.mistakes.len() >= 20 {
                return;
            }
            self.line(number, line, &mut lines);
        }
        if !self.has_title {
            self.mistakes.insert(0, Mistake { line: 1, what: "a lesson has a title: write `# TITLE`".to_owned() });
        }
        self.end_exercise();
        if self.parts > MOST_PARTS {
            self.refuse(
                1,
                format!("the lesson has {} sessions and exercises, more than {MOST_PARTS}; divide it", self.parts),
            );
        }
        self.mistakes.sort_by_key(|mistake| mistake.line);
    }

    fn line(&mut self, number: usize, line: &str, lines: &mut Lines) {
        self.controls(number, line);
        if line.starts_with("```") {
            self.fence(number, lines);
        } else if line.starts_with("<!--") {
            self.comment(number, line, lines);
        } else if line.starts_with("<details") {
            self.details(number, line, lines);
        } else if let Some(title) = line.strip_prefix("# ") {
            self.has_title |= !title.trim().is_empty();
        } else if let Some(title) = line.strip_prefix("## Exercise: ") {
            self.exercise(number, title);
        } else if line.trim_start_matches('#').trim_start().starts_with("Exercise") && line.starts_with('#') {
            self.refuse(number, "the heading of an exercise is written `## Exercise: TITLE`");
        } else if !line.trim().is_empty() {
            self.has_content();
        }
    }

    /// Refuses characters that a terminal would obey.
    fn controls(&mut self, number: usize, line: &str) {
        if let Some(c) = line.chars().find(|c| c.is_control() && *c != '\t') {
            self.refuse(number, format!("the character U+{:04X} is not text; remove it", u32::from(c)));
        }
    }

    fn has_content(&mut self) {
        if let Some(exercise) = self.exercises.last_mut() {
            exercise.has_task = true;
        }
    }

    fn exercise(&mut self, number: usize, title: &str) {
        self.end_exercise();
        self.parts += 1;
        let title = title.trim();
        if title.is_empty() {
            self.refuse(number, "the exercise has no title: write `## Exercise: TITLE`");
        }
        if let Some(other) = self.exercises.iter().find(|other| other.title == title) {
            let line = other.line;
            self.refuse(number, format!("line {line} has an exercise of the same title; give this one another"));
        }
        self.exercises.push(Draft { title: title.to_owned(), line: number, has_task: false, has_check: false });
    }

    fn end_exercise(&mut self) {
        let Some(exercise) = self.exercises.last() else { return };
        let (line, has_task, has_check) = (exercise.line, exercise.has_task, exercise.has_check);
        if !has_task {
            self.refuse(line, "the exercise has no task: write below the heading what to do");
        }
        if !has_check {
            let form = "`<!-- check`, a condition in Python, `-->`, each on a line of its own";
            self.refuse(line, format!("the exercise has no check: write {form}"));
        }
    }

    /// Reads a session up to its end.
    fn fence(&mut self, number: usize, lines: &mut Lines) {
        self.parts += 1;
        self.has_content();
        let Some(text) = self.until("```", lines) else {
            self.refuse(number, "this block is not closed: write a line ``` below it");
            return;
        };
        if Document::parse(&text, Form::Text).cases.is_empty() {
            self.refuse(
                number,
                "this block has no input: write `>>> ` before the first line of each, `... ` before others",
            );
        }
    }

    /// Returns the lines up to one that reads `end`. `None` if there is none.
    fn until(&mut self, end: &str, lines: &mut Lines) -> Option<String> {
        let mut text = String::new();
        for (number, line) in lines {
            if line == end {
                return Some(text);
            }
            self.controls(number, line);
            text.push_str(line);
            text.push('\n');
        }
        None
    }

    fn comment(&mut self, number: usize, line: &str, lines: &mut Lines) {
        let is_whole = line.ends_with("-->");
        let words = line.trim_start_matches("<!--").trim_end_matches("-->").trim();
        let kind = words.split_whitespace().next().unwrap_or_default();
        let is_known = kind == "rhai" || KINDS.contains(&kind);
        if is_known && (is_whole || kind != words) {
            self.refuse(number, format!("write `<!-- {kind}`, the text, and `-->` each on a line of its own"));
        }
        if is_whole {
            return;
        }
        let Some(text) = self.until("-->", lines) else {
            self.refuse(number, "this comment is not closed: write a line `-->` below it");
            return;
        };
        if let Some(at) = text.lines().position(|line| line.ends_with("-->")) {
            self.refuse(number + 1 + at, "write `-->` on a line of its own");
            return;
        }
        if !is_known {
            if let Some(near) = nearest(kind, KINDS) {
                self.refuse(number, format!("an exercise has no comment {kind}; did you mean {near}?"));
            }
            return;
        }
        let Some(exercise) = self.exercises.last_mut().filter(|_| kind != "rhai") else {
            if kind != "rhai" {
                self.refuse(number, format!("{kind} belongs to an exercise: write `## Exercise: TITLE` above it"));
            }
            return;
        };
        exercise.has_check |= kind == "check";
        self.code(number, kind, &text);
    }

    /// Looks at the code of an exercise, which begins below line `number`.
    fn code(&mut self, number: usize, kind: &str, text: &str) {
        let is_expression = |text: &str| is_python_expression(&format!("({text})"));
        match kind {
            "check" if !is_expression(text.trim()) => {
                self.refuse(number + 1, format!("{kind} is not an expression of Python: {}", text.trim()));
            }
            "given" | "second" => {
                for (line, text) in (number + 1..).zip(text.lines()) {
                    if completeness_of_python(text) != Completeness::Complete {
                        self.refuse(line, format!("this line of {kind} is not a statement of Python: {text}"));
                    }
                }
            }
            "forbidden" | "likely" => {
                for (line, text) in (number + 1..).zip(text.lines()) {
                    match text.split_once(": ") {
                        Some((condition, why)) if !why.trim().is_empty() && is_expression(condition) => {}
                        _ => self.refuse(line, "write a condition in Python, `: `, and a sentence for the learner"),
                    }
                }
            }
            _ => {}
        }
    }

    fn details(&mut self, number: usize, line: &str, lines: &mut Lines) {
        let form = "write `<details><summary>Hint</summary>` or `<details><summary>Solution</summary>` on one line";
        if !(line.starts_with("<details><summary>") && line.ends_with("</summary>")) {
            self.refuse(number, form);
        }
        if self.exercises.is_empty() {
            self.refuse(number, "hints and solutions belong to an exercise: write `## Exercise: TITLE` above them");
        }
        while let Some((number, line)) = lines.next() {
            match line {
                "</details>" => return,
                _ if line.starts_with("<details") || line.starts_with("## Exercise") => break,
                _ => {
                    self.controls(number, line);
                    if line.starts_with("```") {
                        self.fence(number, lines);
                    }
                }
            }
        }
        self.refuse(number, "this is not closed: write a line `</details>` below it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# T\n\nOne.\n\n```pycon\n>>> 1\n1\n```\n\n<!-- a remark -->\n\n## Exercise: a\n\nDo it.\n\n<!-- given\n\
                        x = 1\n-->\n<!-- check\nanswer == 1\n-->\n<!--\na longer remark\n-->\n\n\
                        <details><summary>Hint</summary>\n\nThink.\n\n</details>\n";

    #[test]
    fn a_page_without_mistakes_is_a_lesson() {
        let lesson = read("name", "/a/name.md", GOOD).unwrap();
        assert_eq!((lesson.name.as_str(), lesson.key.as_str(), lesson.title.as_str()), ("name", "/a/name.md", "T"));
        let [exercise] = &lesson.exercises[..] else { panic!("{lesson:?}") };
        assert_eq!(
            (exercise.given.as_str(), exercise.check.as_str(), exercise.hints.len()),
            ("x = 1", "answer == 1", 1)
        );
        assert_eq!((lesson.parts.len(), exercise.task.len()), (2, 1));
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        let rows = [
            ("# T\n", "", 1, "write `# TITLE`"),
            ("```pycon\n>>> 1\n1\n```", "```\nno prompt\n```", 5, "write `>>> `"),
            ("1\n```\n", "1\n", 5, "write a line ```"),
            ("## Exercise: a", "## Exercise a", 12, "`## Exercise: TITLE`"),
            ("## Exercise: a", "### Exercise: a", 12, "`## Exercise: TITLE`"),
            ("Do it.\n", "", 12, "no task"),
            ("<!-- check\nanswer == 1\n-->\n", "", 12, "no check"),
            ("<!-- check\nanswer == 1\n-->", "<!-- check answer == 1 -->", 19, "on a line of its own"),
            ("answer == 1\n-->", "answer == 1 -->", 20, "on a line of its own"),
            ("answer == 1", "answer = 1", 20, "check is not an expression"),
            ("<!-- check", "<!-- chekc", 19, "did you mean check?"),
            ("x = 1", "x = (", 17, "not a statement"),
            ("Do it.\n", "Do it.\n\n<!-- forbidden\nx == 1\n-->\n", 17, "a sentence for the learner"),
            ("</details>\n", "", 26, "`</details>`"),
            ("<details><summary>Hint</summary>", "<details>", 26, "on one line"),
            ("One.\n", "One.\n\n<!-- check\n1\n-->\n", 5, "belongs to an exercise"),
            ("One.", "One\u{1b}[2J.", 3, "U+001B"),
            ("</details>\n", "</details>\n\n## Exercise: a\n\nx\n\n<!-- check\n1\n-->\n", 32, "of the same title"),
        ];
        for (old, new, line, wanted) in rows {
            assert!(GOOD.contains(old), "{old}");
            let mistakes = read("name", "name", &GOOD.replacen(old, new, 1)).unwrap_err();
            let is_told = |mistake: &Mistake| mistake.line == line && mistake.what.contains(wanted);
            assert!(mistakes.iter().any(is_told), "{old} -> {new}: {mistakes:?}");
        }
        let long = format!("# T\n{}", "```\n>>> 1\n```\n".repeat(MOST_PARTS + 1));
        assert!(read("n", "n", &long).unwrap_err()[0].what.contains("divide it"));
        let longer = format!("# T\n{}", "x".repeat(MOST_BYTES));
        assert!(read("n", "n", &longer).unwrap_err()[0].what.contains("divide it"));
    }

    #[test]
    fn an_exercise_is_named_by_its_number() {
        for (wanted, found) in [
            ("strides", ("strides", None)),
            ("strides:2", ("strides", Some(2))),
            ("a:b.md:1", ("a:b.md", Some(1))),
            ("a:b.md", ("a:b.md", None)),
            (":1", (":1", None)),
        ] {
            assert_eq!(place(wanted), found);
        }
    }
}
