//! Parses a page of Markdown into a lesson. Text hidden from readers is in comments: `<!-- given`, `<!-- second`, `<!--
//! check`, `<!-- forbidden`, `<!-- likely`, `<!-- right`, `<!-- wrong`, `<!-- tricks`, and `<!-- rhai` after a session
//! that differs for lessons in Rhai. Hints and the solution are in `<details>`.

use super::{Exercise, Inputs, Lesson, PagePart};
use crate::transcript::{Document, Form};

/// The name of a comment that contains a session in Rhai.
const RHAI: &str = "rhai";

/// Parses a page.
pub(super) fn lesson(name: &str, page: &str) -> Lesson {
    let mut lesson = Lesson { name: name.to_owned(), key: name.to_owned(), ..Lesson::default() };
    let mut lines = page.lines();
    let mut reader = Reader::default();
    while let Some(line) = lines.next() {
        if reader.fence.is_some() {
            reader.line(line);
        } else if let Some(title) = line.strip_prefix("# ") {
            title.clone_into(&mut lesson.title);
        } else if let Some(title) = line.strip_prefix("## Exercise: ") {
            reader.close(&mut lesson);
            lesson.exercises.push(Exercise { title: title.to_owned(), ..Exercise::default() });
        } else if line.starts_with("<!--") && line.ends_with("-->") {
            // A remark of the author, or an option of the page's tests.
        } else if let Some(kind) = line.strip_prefix("<!--").map(str::trim).filter(|kind| *kind != RHAI) {
            let text: Vec<_> = lines.by_ref().take_while(|line| *line != "-->").collect();
            if let Some(exercise) = lesson.exercises.last_mut() {
                exercise.note(kind, &text);
            }
        } else if let Some(summary) = line.strip_prefix("<details><summary>") {
            let mut inner = Reader::default();
            lines.by_ref().take_while(|line| *line != "</details>").for_each(|line| inner.line(line));
            let parts = inner.parts();
            if let Some(exercise) = lesson.exercises.last_mut() {
                match summary {
                    "Solution</summary>" => exercise.solution = parts,
                    _ => exercise.hints.push(parts),
                }
            }
        } else {
            reader.line(line);
        }
    }
    reader.close(&mut lesson);
    lesson
}

impl Exercise {
    fn note(&mut self, kind: &str, lines: &[&str]) {
        let each = || lines.iter().map(|line| (*line).to_owned()).collect();
        match kind {
            "given" => self.given = lines.join("\n"),
            "second" => self.second = lines.join("\n"),
            "check" => self.check = lines.join("\n"),
            "forbidden" => self.forbidden = conditions(lines),
            "likely" => self.likely = conditions(lines),
            "right" => self.right = each(),
            "wrong" => self.wrong = each(),
            "tricks" => self.tricks = each(),
            _ => {}
        }
    }
}

/// Reads lines of the form `CONDITION: SENTENCE`.
fn conditions(lines: &[&str]) -> Vec<(String, String)> {
    let parts = lines.iter().filter_map(|line| line.split_once(": "));
    parts.map(|(is, why)| (is.to_owned(), why.to_owned())).collect()
}

/// Collects paragraphs and sessions.
#[derive(Default)]
struct Reader {
    parts: Vec<PagePart>,
    paragraph: String,
    /// The lines of an open fence, or of a session in Rhai.
    fence: Option<String>,
    is_rhai: bool,
}

impl Reader {
    fn line(&mut self, line: &str) {
        match &mut self.fence {
            Some(text) if line == if self.is_rhai { "-->" } else { "```" } => {
                let examples = Document::parse(text, Form::Text).cases.into_iter().flat_map(|case| case.examples);
                match self.parts.last_mut() {
                    Some(PagePart::Session(inputs)) if self.is_rhai => inputs.rhai = examples.collect(),
                    _ => self.parts.push(PagePart::Session(Inputs { python: examples.collect(), ..Inputs::default() })),
                }
                self.fence = None;
            }
            Some(text) => {
                text.push_str(line);
                text.push('\n');
            }
            None if line.starts_with("```") || line.strip_prefix("<!-- ") == Some(RHAI) => {
                self.end_paragraph();
                self.fence = Some(String::new());
                self.is_rhai = !line.starts_with("```");
            }
            None if line.trim().is_empty() => self.end_paragraph(),
            None => {
                // Items, headings and quotations stand on lines of their own.
                if begins_part(line, &self.paragraph) {
                    self.end_paragraph();
                }
                if !self.paragraph.is_empty() {
                    self.paragraph.push(' ');
                }
                self.paragraph.push_str(line.trim());
            }
        }
    }

    fn end_paragraph(&mut self) {
        if !self.paragraph.is_empty() {
            self.parts.push(PagePart::Prose(std::mem::take(&mut self.paragraph)));
        }
    }

    fn parts(&mut self) -> Vec<PagePart> {
        self.end_paragraph();
        std::mem::take(&mut self.parts)
    }

    /// Adds the parts read so far to the lesson, or to the current exercise.
    fn close(&mut self, lesson: &mut Lesson) {
        let parts = self.parts();
        match lesson.exercises.last_mut() {
            Some(exercise) => exercise.task.extend(parts),
            None => lesson.parts.extend(parts),
        }
    }
}

/// Returns whether a line of prose begins a part of its own, after the paragraph so far.
fn begins_part(line: &str, paragraph: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let is_number = |word: &str| {
        word.strip_suffix('.').is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
    };
    // A line that happens to begin with a number goes on with the paragraph, as in Markdown.
    let is_numbered = || paragraph.split_whitespace().next().is_some_and(is_number);
    matches!(word, "-" | "*" | ">" | "1.") || word.starts_with('#') || is_number(word) && is_numbered()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read() {
        let page = "\
# Title

One
paragraph.

```pycon
>>> 1 + 1
2
```

<!-- rhai
rhai> 2
-->

## Exercise: try

Do it.

<!-- given
x = 1
y = 2
-->
<!-- second
x = 3
-->
<!-- check
answer == x
-->
<!-- forbidden
'x' in rebound: `x` is another one.
-->
<!-- right
1
x
-->

<details><summary>Hint</summary>

Think.

</details>

<details><summary>Solution</summary>

```pycon
>>> x
1
```

So.

</details>
";
        let lesson = lesson("name", page);
        assert_eq!(lesson.title, "Title");
        assert!(matches!(&lesson.parts[..], [PagePart::Prose(text), PagePart::Session(inputs)]
            if text == "One paragraph." && inputs.python[0].source == "1 + 1" && inputs.rhai[0].source == "2"));
        let [exercise] = &lesson.exercises[..] else { panic!("{lesson:?}") };
        assert_eq!((exercise.given.as_str(), exercise.check.as_str()), ("x = 1\ny = 2", "answer == x"));
        assert_eq!(exercise.second, "x = 3");
        assert_eq!(exercise.forbidden, [("'x' in rebound".to_owned(), "`x` is another one.".to_owned())]);
        assert_eq!((exercise.right.len(), exercise.wrong.len(), exercise.hints.len()), (2, 0, 1));
        assert_eq!(exercise.task, [PagePart::Prose("Do it.".to_owned())]);
        assert_eq!(exercise.solution.len(), 2);
    }
}
