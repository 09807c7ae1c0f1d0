//! Text copied from a documentation page: separates input lines, with their language, from printed results. Evaluates
//! nothing; the caller decides whether a statement continues.

use std::borrow::Cow;

use super::growth::Growth;
use crate::Language;
use crate::logical::{is_block, is_inner, statements};
use crate::transcript::{continuation_of, in_number_of, out_number_of, prompt_of, without_references};

/// Replaces IPython's prompts by Python's: `In [1]: ` by `>>> `, `   ...: ` by `... `. Removes `Out[1]: `. If prompts
/// are written as `&gt;&gt;&gt;`, characters in HTML's notation are decoded.
pub fn with_python_prompts(text: &str) -> Cow<'_, str> {
    let starts = |is_prompt: &dyn Fn(&str) -> bool| text.lines().any(|line| is_prompt(line.trim_start()));
    if starts(&|line| line.starts_with("&gt;&gt;&gt;")) {
        return Cow::Owned(with_python_prompts(&without_references(text)).into_owned());
    }
    if !starts(&|line| in_number_of(line).is_some()) {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').filter_map(|line| {
        let body = line.trim_start();
        Some(if let Some(input) = in_number_of(body) {
            format!(">>> {input}")
        } else if let Some(input) = body.strip_prefix("...:") {
            format!("...{input}")
        } else if let Some(output) = out_number_of(body) {
            // A value of several lines follows below its number.
            Some(output.to_owned()).filter(|output| !output.trim_end().is_empty())?
        } else {
            line.to_owned()
        })
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns whether an entry is only the number that IPython writes before a value, `Out[3]:`. The value follows on the
/// lines below.
pub(crate) fn is_output_number(entry: &str) -> bool {
    let number = entry.trim().strip_prefix("Out[").and_then(|rest| rest.strip_suffix("]:"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// One statement of a pasted session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub language: Language,
    /// The lines as pasted, with prompts, from the prompt's column on.
    pub shown: String,
    /// The lines without prompts.
    pub source: String,
    /// The result that was pasted below the statement.
    recorded: String,
    /// Whether a continuation prompt was seen. A line without one is then a result.
    is_prompted: bool,
    /// Whether a result was seen below the statement.
    is_closed: bool,
    /// Whether the statement is Python and begins with a compound statement.
    is_block: bool,
    /// Whether the source has several lines.
    is_long: bool,
    last: LastLine,
    growth: Box<Growth>,
}

/// How the last line of a block relates to the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLine {
    /// The line is blank, which ends the block at a prompt.
    Blank,
    /// The line belongs to the block.
    Inner,
    /// The line begins a statement after the block.
    Outer,
}

/// The answers that reading a session needs.
pub(crate) struct Parser<'p> {
    /// Whether a source needs more lines to be a statement.
    pub is_unfinished: &'p dyn Fn(Language, &str) -> bool,
    /// Whether Ctrl-C was pressed.
    pub is_stopped: &'p dyn Fn() -> bool,
}

/// Reading a session was stopped by Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped;

/// Lines read between two checks for Ctrl-C.
const LINES: usize = 64;

/// Returns the statements of a text in which some line starts with a prompt, and whether the text contains anything
/// else. `None` for any other text.
pub(crate) fn read_session(text: &str, parser: &Parser) -> Result<Option<Pasted>, Stopped> {
    let mut reader = Reader { parser, statements: Vec::new(), has_results: false, column: 0, is_recording: false };
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty());
    let is_page = first.is_none_or(|line| prompt_of(line).is_none());
    let mut is_below_blank = false;
    for (number, line) in text.split('\n').enumerate() {
        if number.is_multiple_of(LINES) && (parser.is_stopped)() {
            return Err(Stopped);
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        let body = line.trim_start();
        let column = line.len() - body.len();
        if let Some((language, input)) = prompt_of(body) {
            reader.column = column;
            reader.prompt(language, body, input);
        } else {
            // On a page, prose follows a result: after a blank line, or further to the left.
            let is_prose = column < reader.column || is_below_blank && column == reader.column;
            if is_page && is_prose && !body.is_empty() {
                reader.is_recording = false;
            }
            reader.line(line, body);
        }
        is_below_blank = body.is_empty();
    }
    // The last parse may have been stopped.
    if (parser.is_stopped)() {
        return Err(Stopped);
    }
    let Reader { statements, has_results, .. } = reader;
    Ok((!statements.is_empty()).then_some(Pasted { statements, has_results }))
}

struct Reader<'p> {
    parser: &'p Parser<'p>,
    statements: Vec<Statement>,
    has_results: bool,
    /// The width of the white space before the last prompt.
    column: usize,
    /// Whether the lines below a closed statement are its result.
    is_recording: bool,
}

impl Reader<'_> {
    /// Reads a line with a prompt. `body` is the line without the white space before the prompt.
    fn prompt(&mut self, language: Language, body: &str, input: &str) {
        self.is_recording = true;
        // Pages also put `>>> ` before the indented lines of a block.
        if let Some(last) = self.statements.last_mut().filter(|last| last.language == language)
            && input.starts_with([' ', '\t'])
            && last.takes_more(self.parser)
        {
            last.is_prompted = true;
            last.push(body, input);
        } else {
            self.statements.push(Statement::new(language, body, input));
        }
    }

    /// Reads a line without a prompt. `body` is the line without white space at its start.
    fn line(&mut self, line: &str, body: &str) {
        let Some(last) = self.statements.last_mut() else {
            self.has_results |= !body.is_empty();
            return;
        };
        let line = line.get(self.column.min(line.len() - body.len())..).unwrap_or(body);
        // The end of a fenced block is not part of the session in it.
        if body.starts_with("```") && (last.is_closed || !last.growth.is_in_text()) {
            last.is_closed = true;
            self.is_recording = false;
            return;
        }
        if !last.is_closed {
            if let Some(input) = last.continuation(line, body, self.parser) {
                last.is_prompted = true;
                last.push(line, input);
                return;
            }
            if last.takes_bare_line(line, self.parser) {
                last.push(line, line);
                return;
            }
            last.is_closed = true;
        }
        self.has_results |= !body.is_empty();
        if self.is_recording {
            last.recorded.push_str(line);
            last.recorded.push('\n');
        }
    }
}

/// A pasted session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pasted {
    /// The statements, in order.
    pub statements: Vec<Statement>,
    /// Whether the text contains anything other than input: printed results or prose.
    pub has_results: bool,
}

impl Pasted {
    /// Returns the session as a transcript: each statement with its prompts, and its recorded result below.
    pub(crate) fn transcript(&self) -> String {
        let mut text = String::new();
        for statement in &self.statements {
            let (first, next) = statement.language.signs();
            for (number, line) in statement.source.split('\n').enumerate() {
                text.push_str(if number == 0 { first } else { next });
                text.push_str(line);
                text.push('\n');
            }
            text.push_str(&statement.recorded);
        }
        text
    }
}

impl Statement {
    fn new(language: Language, shown: &str, source: &str) -> Statement {
        let mut growth = Growth::new(language);
        growth.line(source);
        Statement {
            language,
            shown: shown.to_owned(),
            source: source.to_owned(),
            recorded: String::new(),
            is_prompted: false,
            is_closed: false,
            is_block: language == Language::Python && is_block(source),
            is_long: false,
            last: LastLine::Inner,
            growth: Box::new(growth),
        }
    }

    /// Returns whether a line below may belong to the statement.
    pub(crate) fn is_unfinished(&self, parse: impl Fn(Language, &str) -> bool) -> bool {
        !self.is_closed && (self.is_open_block() || parse(self.language, &self.source))
    }

    /// Returns whether the statement cannot run without more lines. A block can, even if it could have another line.
    pub(crate) fn is_cut(&self, parse: impl Fn(Language, &str) -> bool) -> bool {
        !self.is_closed && parse(self.language, &self.source)
    }

    /// Like `is_unfinished`, but a long source is rarely parsed.
    fn takes_more(&mut self, parser: &Parser) -> bool {
        if self.is_closed || self.is_open_block() {
            return !self.is_closed;
        }
        self.growth.is_unfinished(&self.source, |source| (parser.is_unfinished)(self.language, source))
    }

    /// Returns whether the statement is a block of several lines that no blank line has ended. Another line may follow,
    /// even if the source already parses.
    fn is_open_block(&self) -> bool {
        self.is_block && self.is_long && self.last == LastLine::Inner
    }

    /// Returns a continuation line without its prompt.
    fn continuation<'l>(&mut self, line: &'l str, body: &'l str, parser: &Parser) -> Option<&'l str> {
        let head = if self.language == Language::Python { self.shown.strip_prefix(">>>") } else { None };
        // A tab after both prompts separates; after this one only, it indents the line.
        let separates = head.is_some_and(|head| head.starts_with('\t'));
        let separated = |input: &'l str| input.strip_prefix('\t').filter(|_| separates).unwrap_or(input);
        if let Some(input) = continuation_of(line, self.language) {
            return Some(separated(input));
        }
        // Pages indent prompts by tabs and spaces in turn, or omit the space after both prompts.
        let is_tight = head.is_some_and(|head| !head.is_empty() && !head.starts_with([' ', '\t']));
        let tight = body.strip_prefix("...").filter(|rest| is_tight && !rest.starts_with('.'));
        let input = continuation_of(body, self.language).or(tight)?;
        self.takes_more(parser).then(|| separated(input))
    }

    /// Returns whether a line without a prompt belongs to the statement. Typed lines do not have one, and some pages
    /// omit it.
    fn takes_bare_line(&mut self, line: &str, parser: &Parser) -> bool {
        let is_whole_block = self.is_block && self.is_long;
        if self.is_prompted && is_whole_block {
            return false;
        }
        // Below a typed block, its output may follow without a blank line between them.
        let may_be_output = is_whole_block && !self.growth.is_open() && !is_inner(line) && !line.trim().is_empty();
        !(may_be_output && looks_printed(line)) && self.takes_more(parser)
    }

    fn push(&mut self, shown: &str, input: &str) {
        let was_decorator = self.source.rsplit('\n').next().is_some_and(|line| line.starts_with('@'));
        self.last = if input.trim().is_empty() {
            LastLine::Blank
        } else if self.growth.is_open() || is_inner(input) || input.starts_with(['@', '#']) || was_decorator {
            LastLine::Inner
        } else {
            LastLine::Outer
        };
        self.is_long = true;
        self.growth.line(input);
        self.shown.push('\n');
        self.shown.push_str(shown);
        self.source.push('\n');
        self.source.push_str(input);
    }
}

/// Returns whether a typed Python source ends within a block that no blank line has ended. Another line may follow,
/// even if the source already parses.
pub(crate) fn is_open_block(source: &str) -> bool {
    let is_ended = source.rsplit_once('\n').is_none_or(|(_, last)| last.trim().is_empty());
    if !is_block(source) || is_ended {
        return false;
    }
    let last = statements(source).pop().and_then(|range| source.get(range));
    last.is_some_and(|last| is_block(last) && last.contains('\n'))
}

/// Returns whether a line looks like a printed result and not like input. This happens if a session is pasted line by
/// line because the terminal does not mark pasted text.
pub fn looks_printed(line: &str) -> bool {
    let body = line.trim_end();
    if prompt_of(body.trim_start()).is_some() {
        return false;
    }
    let starts = |heads: &[&str]| heads.iter().any(|head| body.starts_with(head));
    body.is_empty()
        || starts(&[" ", "\t", "(", "[", "{", "<", "'", "\"", "b'", "b\"", "tensor(", "array(", "bytearray("])
        || starts(&["torch.", "True", "False", "None", "Traceback (most recent call last):", "..."])
        || body.parse::<f64>().is_ok()
        || body.split_once(": ").unwrap_or((body, "")).0.ends_with("Error")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A statement is unfinished while a bracket is open or a block does not have a body.
    fn is_unfinished(_: Language, source: &str) -> bool {
        let depth = source.matches(['(', '[', '{']).count() > source.matches([')', ']', '}']).count();
        depth || source.trim_end().ends_with(':')
    }

    fn read(text: &str) -> Option<Pasted> {
        read_session(text, &Parser { is_unfinished: &is_unfinished, is_stopped: &|| false }).unwrap()
    }

    #[test]
    fn a_number_of_ipython_is_no_input() {
        for (entry, wanted) in
            [("Out[3]:", true), (" Out[12]: ", true), ("Out[3]: 5", false), ("Out[x]:", false), ("", false)]
        {
            assert_eq!(is_output_number(entry), wanted, "{entry}");
        }
    }

    #[test]
    fn sessions() {
        let rows: &[(&str, &[&str], bool)] = &[
            (">>> x", &["x"], false),
            (">>> x\n1\n>>> y\n", &["x", "y"], true),
            ("Example:\n\n    >>> x\n    1\n    >>> f(\n    ...   2)\n    2\n", &["x", "f(\n  2)"], true),
            (">>> f([1,\n       2])\ntensor([1,\n        2])\n", &["f([1,\n       2])"], true),
            (">>> for i in x:\n...     print(i)\n0\n1\n>>> y", &["for i in x:\n    print(i)", "y"], true),
            (">>> for i in x:\n...     print(i)\n...\n>>> y", &["for i in x:\n    print(i)\n", "y"], false),
            (">>> for i in x:\n    a\n    b\n", &["for i in x:\n    a\n    b\n"], false),
            (">>> with x:\n>>>     a\n>>>     b\n>>> c", &["with x:\n    a\n    b", "c"], false),
            ("rhai> f(\n    > 1)\n2", &["f(\n1)"], true),
            (">>>x\n>>>f(\n...1)\n>>>\n>>>> y", &["x", "f(\n1)", ""], true),
            (">>>\tfor i in x:\n...\t    a\n...\telse:\n...\t    b", &["for i in x:\n    a\nelse:\n    b"], false),
            (">>>for i in x:\n...\ta", &["for i in x:\n\ta"], false),
            ("\t>>> f(\n        ... 1)\n\t1", &["f(\n1)"], true),
            (">>> f([\n...,\n1])", &["f([\n...,\n1])"], false),
            (">>> for i in x:\n    a\n0\n1", &["for i in x:\n    a"], true),
            (">>> for i in x:\n    a\nb = 1\n", &["for i in x:\n    a\nb = 1"], false),
            (">>> x = \"\"\"(\n```\n)\"\"\"\n```\ny", &["x = \"\"\"(\n```\n)\"\"\""], true),
            (">>> f(\n```\n1)", &["f("], true),
        ];
        for (text, sources, has_results) in rows {
            let session = read(text).unwrap();
            let found: Vec<_> = session.statements.iter().map(|statement| statement.source.as_str()).collect();
            assert_eq!(found, *sources, "{text:?}");
            assert_eq!(session.has_results, *has_results, "{text:?}");
        }
        for text in ["", "x\ny", "let s = \">>> \";", ">>>> x"] {
            assert_eq!(read(text), None);
        }
    }

    #[test]
    fn results_are_recorded_up_to_prose_and_fences() {
        let rows = [
            (">>> x\n1\n\n2\n", ">>> x\n1\n\n2\n\n"),
            ("A page:\n\n  >>> f(\n  ... 1)\n  1\n\n    2\n\n  Prose.\n", ">>> f(\n... 1)\n1\n\n  2\n\n"),
            ("```\n>>> x\n1\n```\nProse.\n```\n>>> y\n```\n", ">>> x\n1\n>>> y\n"),
            ("rhai> f(\n    > 1)\n2", "rhai> f(\n    > 1)\n2\n"),
        ];
        for (text, wanted) in rows {
            assert_eq!(read(text).unwrap().transcript(), wanted, "{text:?}");
        }
    }

    #[test]
    fn the_work_of_reading_grows_with_the_length() {
        let work = |text: &str, lines: usize| {
            let work = Cell::new(0);
            let is_unfinished = |language, source: &str| {
                work.set(work.get() + source.len());
                is_unfinished(language, source)
            };
            let text = format!("{text}{}", "\n    x = [1, 2]  # some text".repeat(lines));
            read_session(&text, &Parser { is_unfinished: &is_unfinished, is_stopped: &|| false }).unwrap();
            work.get()
        };
        for start in
            [">>> x = f(", ">>> for i in x:", ">>> x = \"\"\"", "rhai> let x = `(", "rhai> fn f() {", "rhai> /* ("]
        {
            let (few, many) = (work(start, 500), work(start, 8000));
            assert!(many <= few * 32, "{start}: {few} bytes are parsed, and {many} for 16 times as many lines");
        }
    }

    #[test]
    fn reading_can_be_stopped() {
        let text = format!(">>> x = f(\n{}", "1,\n".repeat(1000));
        let checks = Cell::new(0);
        let is_stopped = || {
            checks.set(checks.get() + 1);
            checks.get() > 3
        };
        let parser = Parser { is_unfinished: &is_unfinished, is_stopped: &is_stopped };
        assert_eq!(read_session(&text, &parser), Err(Stopped));
        assert_eq!(checks.get(), 4);
    }

    #[test]
    fn prompts_in_the_notation_of_html() {
        let text = "&gt;&gt;&gt; x &lt; 1 &amp;&amp; &quot;a&quot; &copy;";
        assert_eq!(with_python_prompts(text), ">>> x < 1 && \"a\" &copy;");
        assert_eq!(with_python_prompts(">>> x = '&gt;'"), ">>> x = '&gt;'");
    }

    #[test]
    fn the_prompts_of_ipython() {
        let text = "In [2]: x\nOut[2]: \ntensor([1,\n        2])";
        assert_eq!(with_python_prompts(text), ">>> x\ntensor([1,\n        2])");
        let text = "In [1]: x\nOut[1]: 1\n\nIn [12]: for i in x:\n    ...:     i\n    ...: \n";
        assert_eq!(with_python_prompts(text), ">>> x\n1\n\n>>> for i in x:\n...     i\n... \n");
        let text = "In [*]: x\nIn[3]:y\nOut[3]:\n1\nIn [ ]: z";
        assert_eq!(with_python_prompts(text), ">>> x\n>>> y\n1\n>>> z");
        assert_eq!(with_python_prompts("a\n...: b"), "a\n...: b");
        assert_eq!(with_python_prompts("In [x]: b"), "In [x]: b");
    }

    #[test]
    fn more_lines_are_taken_until_a_statement_ends() {
        let rows = [
            (">>> x", false),
            (">>> f(", true),
            (">>> for i in x:", true),
            (">>> for i in x: y", false),
            (">>> for i in x:\n...     y", true),
            (">>> for i in x:\n...     y\n...", false),
            (">>> for i in x:\n    y\n", false),
            (">>> for i in x:\n...     y\n0", false),
            (">>> f(\n...  1)", false),
            (">>> fortune = [\n1]", false),
        ];
        for (text, wanted) in rows {
            let session = read(text).unwrap();
            assert_eq!(session.statements.last().unwrap().is_unfinished(is_unfinished), wanted, "{text:?}");
        }
    }

    #[test]
    fn printed_lines() {
        for line in
            ["tensor([1., 2.])", "        [1.]])", "3", "-1.5e-3", "torch.Size([2])", "(1, 2)", "ValueError: x", "True"]
        {
            assert!(looks_printed(line), "{line}");
        }
        for line in ["x", "1 + 1", "let t = tensor([1])", "print(1)", "t.shape", "  >>> x", "\t>>>x"] {
            assert!(!looks_printed(line), "{line}");
        }
    }
}
