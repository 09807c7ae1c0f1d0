//! Python without prompts, as pages show it: statements, and comments that say what they print.

use super::blocks::Block;
use super::example::{Example, Manner, Origin, Written};
use super::lines::{Encoding, Line, dedent};
use super::options::Options;
use super::reader::{Reader, common_indent};
use crate::Language;
use crate::logical::{LineScanner, statements};
use crate::{is_python_expression, without_magics};

/// Passes each statement to `reader` as an example. One whose comment says what it prints is compared; the others only
/// have to run.
pub(super) fn read(block: &Block<'_, '_>, reader: &mut Reader) {
    let lines: Vec<&str> = block.lines.iter().map(|line| dedent(&line.text, block.indent)).collect();
    let common = common_indent(lines.iter().copied());
    let lines: Vec<&str> = lines.into_iter().map(|line| dedent(line, common)).collect();
    let (source, magics) = without_magics(&lines.join("\n"));
    magics.iter().for_each(|_| reader.not_read("magic"));
    // Without its magics, a line is shorter.
    let lines: Vec<&str> = source.split('\n').collect();
    let (mut at, mut start) = (0, 0);
    for range in statements(&source) {
        // The lines of the statement.
        while lines.get(at).is_some_and(|line| start + line.len() < range.start) {
            start += lines.get(at).map_or(0, |line| line.len() + 1);
            at += 1;
        }
        let (first, statement) = (at, source.get(range.clone()).unwrap_or_default());
        while lines.get(at).is_some_and(|line| start + line.len() < range.end) {
            start += lines.get(at).map_or(0, |line| line.len() + 1);
            at += 1;
        }
        reader.push(example(block, &lines, (first, at), statement, reader.name().to_owned()));
    }
    reader.close_block();
}

/// Returns the statements of a file of Python as examples that only have to run.
pub(super) fn file_examples(source: &str, origin: Origin) -> Vec<Example> {
    let mut line = 1;
    let mut done = 0;
    let example = |range: std::ops::Range<usize>| {
        line += source.get(done..range.start).unwrap_or_default().matches('\n').count();
        done = range.start;
        let statement = source.get(range).unwrap_or_default();
        Example { line, origin: origin.clone(), ..run_only(statement, String::new()) }
    };
    statements(source).into_iter().map(example).collect()
}

/// Returns an example that only has to run, without its line.
pub(super) fn run_only(statement: &str, heading: String) -> Example {
    Example {
        language: Language::Python,
        manner: Manner::Script,
        line: 0,
        heading,
        input: format!("{statement}\n"),
        source: statement.to_owned(),
        expected: String::new(),
        options: Options { ignore_output: true, ..Options::default() },
        output: 0..0,
        written: Written::Nowhere,
        origin: Origin::Page,
    }
}

/// Returns the example of a statement on the lines from `first` to `last`.
fn example(
    block: &Block<'_, '_>,
    lines: &[&str],
    (first, last): (usize, usize),
    statement: &str,
    heading: String,
) -> Example {
    let number = block.lines.get(first).map_or(0, |line| line.number);
    let mut example = Example { line: number, ..run_only(statement, heading) };
    let is_value = is_python_expression(statement);
    let may_print = is_value || statement.contains("print(");
    let column = Comment::column_beside(lines, last);
    let beside = column.and_then(|column| Comment::at(block, lines, last, column)?.told(may_print));
    if let (Some(_), Some(column), Some(line)) = (&beside, column, lines.get(last)) {
        example.source.truncate(statement.len() - (line.trim_end().len() - column));
    }
    let Some(told) = beside.or_else(|| Comment::below(block, lines, last)?.told(may_print)) else { return example };
    example.manner = if is_value { Manner::Prompt } else { Manner::Script };
    example.options = Options { comment: true, ..Options::default() };
    example.expected = told.text;
    // Markup between the lines of a comment is not rewritten.
    if block.encoding == Encoding::Plain {
        example.output = told.range;
        example.written = Written::Comment { next: told.next, encoding: block.encoding };
    }
    example
}

/// The lines of a comment.
struct Comment {
    /// The lines, without `# `, and the byte range of each in the file.
    lines: Vec<(String, std::ops::Range<usize>)>,
    /// The start of a further line, with the line end before it.
    next: String,
}

/// What a comment says about the output.
struct Told {
    text: String,
    range: std::ops::Range<usize>,
    next: String,
}

impl Comment {
    /// Returns the byte at which the comment at the end of a statement's last line begins.
    fn column_beside(lines: &[&str], last: usize) -> Option<usize> {
        let line = lines.get(last)?;
        let mut scanner = LineScanner::new(Language::Python);
        scanner.line(line);
        // If the line begins inside a string or a bracket, its start misleads the scanner, but only `#` matters.
        scanner.comment().filter(|column| !line.get(..*column).unwrap_or_default().trim().is_empty())
    }

    /// Returns the comment directly below a statement.
    fn below(block: &Block<'_, '_>, lines: &[&str], last: usize) -> Option<Comment> {
        let below = lines.get(last + 1)?;
        let column = below.len() - below.trim_start().len();
        below.trim_start().starts_with('#').then(|| Comment::at(block, lines, last + 1, column))?
    }

    /// Returns the comment that begins at a byte of a line, with the lines below that continue it at the same column.
    fn at(block: &Block<'_, '_>, lines: &[&str], first: usize, column: usize) -> Option<Comment> {
        let mut found: Vec<(String, std::ops::Range<usize>)> = Vec::new();
        for (line, place) in lines.iter().zip(block.lines).skip(first) {
            let text = line.get(column..).filter(|text| text.starts_with('#'));
            let is_alone = || line.get(..column).is_some_and(|before| before.trim().is_empty());
            let Some(text) = text.filter(|_| found.is_empty() || is_alone()) else { break };
            let body = text.get(1..).unwrap_or_default();
            let body = body.strip_prefix(' ').unwrap_or(body);
            let end = place.start + place.text.len();
            found.push((body.trim_end().to_owned(), end - body.len()..end));
        }
        let place: &Line<'_> = block.lines.get(first)?;
        let dropped = place.text.len() - lines.get(first)?.len();
        let margin = place.text.get(..dropped).unwrap_or_default();
        let line_end = if place.end == "\r\n" { "\r\n" } else { "\n" };
        Some(Comment { lines: found, next: format!("{line_end}{margin}{}# ", " ".repeat(column)) })
    }

    /// Returns the output that the comment tells. A remark tells none.
    fn told(mut self, may_print: bool) -> Option<Told> {
        let (first, range) = self.lines.first_mut()?;
        let mut is_labelled = false;
        if let Some(length) = label(first) {
            // Behind an arrow may be a remark: `-> a column`.
            is_labelled = first.starts_with(|first: char| first.is_ascii_alphabetic());
            range.start += length;
            *first = first.get(length..).unwrap_or_default().to_owned();
            if first.is_empty() {
                self.lines.remove(0);
            }
        }
        let text = self.lines.iter().map(|(line, _)| line.as_str()).collect::<Vec<_>>().join("\n");
        let is_told = is_error(&text) || may_print && (is_labelled && !text.is_empty() || is_value(&text));
        // A remark may follow the value on lines of its own.
        let count = if is_labelled { self.lines.len() } else { value_lines(&text) };
        let lines = self.lines.get(..count)?;
        let (start, end) = (lines.first()?.1.start, lines.last()?.1.end);
        let text = lines.iter().map(|(line, _)| line.as_str()).collect::<Vec<_>>().join("\n");
        is_told.then_some(Told { text, range: start..end, next: self.next })
    }
}

/// Words before an output in a comment.
const LABELS: &[&str] =
    &["prints", "print", "output", "outputs", "out", "returns", "result", "=>", "->", "-->", "==>", "⇒", "→"];

/// Returns the length of the label at the start of a comment: `prints: `, `=> `.
fn label(comment: &str) -> Option<usize> {
    let lower = comment.to_lowercase();
    LABELS.iter().find_map(|label| {
        let rest = lower.strip_prefix(label)?;
        let is_word = label.starts_with(|first: char| first.is_ascii_alphabetic());
        let after = if is_word { rest.strip_prefix(':')? } else { rest };
        let body = after.trim_start();
        // Lower case may have another length; the label itself is ASCII or an arrow.
        comment.len().checked_sub(body.len()).filter(|length| comment.is_char_boundary(*length))
    })
}

/// Returns the number of lines that a value takes: up to the line that closes its brackets, and all values below it.
fn value_lines(text: &str) -> usize {
    let count = text.split('\n').count();
    if is_error(text) {
        return if text.starts_with(super::example::TRACEBACK) { count } else { 1 };
    }
    let mut scanner = LineScanner::new(Language::Python);
    let mut closed = 0;
    for (index, line) in text.split('\n').enumerate() {
        scanner.line(line);
        if scanner.is_open() {
            continue;
        }
        if closed > 0 && !begins_value(line) {
            break;
        }
        closed = index + 1;
    }
    if closed == 0 { count } else { closed }
}

/// Returns whether a comment names an error: `RuntimeError: …`, or its class alone.
fn is_error(text: &str) -> bool {
    let text = text.strip_prefix("raises ").unwrap_or(text);
    let class = text.split([':', '\n']).next().unwrap_or_default().trim_end();
    let is_class = class.rsplit('.').next().is_some_and(|name| {
        name.starts_with(|first: char| first.is_ascii_uppercase())
            && (name.ends_with("Error") || name.ends_with("Exception") || name == "StopIteration")
    });
    is_class && !class.contains(' ') || text.starts_with(super::example::TRACEBACK)
}

fn begins_value(line: &str) -> bool {
    ["tensor(", "array(", "torch.Size(", "Parameter containing:", "<", "OrderedDict("]
        .iter()
        .any(|head| line.starts_with(head))
        || is_literal(line)
}

/// Returns whether a comment is a value as Python prints it, and not a remark.
fn is_value(text: &str) -> bool {
    let first = text.split('\n').next().unwrap_or_default();
    begins_value(first) || is_literal(text)
}

/// Words in printed values.
const WORDS: &[&str] = &["True", "False", "None", "nan", "inf", "nanj", "infj", "j", "e", "dtype", "device", "size"];

/// Returns whether a text is made of numbers, strings, brackets, and names in calls, with all brackets closed.
fn is_literal(text: &str) -> bool {
    let mut rest = text.trim();
    if rest.is_empty()
        || rest.starts_with(['-', '+'])
            && !rest.get(1..2).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit() || "in.".contains(c)))
    {
        return false;
    }
    let mut depth: usize = 0;
    let mut previous = ' ';
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                let Some(less) = depth.checked_sub(1) else { return false };
                depth = less;
            }
            '"' | '\'' => {
                let Some(end) = rest.get(1..).and_then(|rest| rest.find(first)) else { return false };
                length = end + 2;
            }
            _ if first.is_alphanumeric() || first == '_' => {
                length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let word = rest.get(..length).unwrap_or_default();
                let after = rest.get(length..).unwrap_or_default();
                let is_part =
                    previous == '.' || after.starts_with(['(', '=']) || after.starts_with('.') && word == "torch";
                let is_number = first.is_ascii_digit();
                // Two words in a row are prose.
                if !(is_number || is_part || WORDS.contains(&word) || word.len() == 1 && "bru".contains(word)) {
                    return false;
                }
            }
            '.' | ',' | ':' | '-' | '+' | '*' | '=' | '<' | '>' | ' ' | '\n' | '\t' => {}
            _ => return false,
        }
        if first == ' ' && depth == 0 && !text.contains(',') {
            return false;
        }
        previous = first;
        rest = rest.get(length..).unwrap_or_default();
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::super::example::Document;
    use super::super::parse::Form;
    use super::*;

    #[test]
    fn a_comment_is_a_value_or_a_remark() {
        let values = [
            "tensor([1.])",
            "tensor([1., 2.]) shares memory",
            "torch.Size([2, 3])",
            "3",
            "-1.5e-3",
            "True",
            "(2, 3)",
            "()",
            "[tensor([1]), tensor([2])]",
            "torch.float32",
            "'a'",
            "{'a': 1}",
            "array([1, 2])",
            "(1+2j)",
            "b'\\x00'",
            "tensor([[1, 2],\n        [3, 4]])",
            "nan",
            "[0.1, 0.2]",
            "<class 'int'>",
            "-inf",
        ];
        for value in values {
            assert!(is_value(value), "{value}");
        }
        let remarks = [
            "",
            "in place",
            "(see above)",
            "2 rows",
            "True if contiguous",
            "torch.float32 is the default",
            "x has shape (2, 3)",
            "[sic",
            "- a list",
            "1) first",
            "shape: (2, 3)",
            "(batch, channels)",
        ];
        for remark in remarks {
            assert!(!is_value(remark), "{remark}");
        }
        for (text, wanted) in [
            ("RuntimeError: x", true),
            ("raises ValueError", true),
            ("Error here", false),
            ("TypeError", true),
            ("An Error: x", false),
        ] {
            assert_eq!(is_error(text), wanted, "{text}");
        }
        for (text, wanted) in [
            ("prints: 1", Some(8)),
            ("Output:", Some(7)),
            ("=> 1", Some(3)),
            ("printing", None),
            ("-> a", Some(3)),
            ("-1", None),
        ] {
            assert_eq!(label(text), wanted, "{text}");
        }
    }

    #[test]
    fn statements_and_their_comments() {
        let text = "\
```python
import torch
x = torch.ones(2)  # (2,)
x.view(1, 2)  # tensor([[1., 1.]])
# now in place
x.add_(1)
print(x)
# tensor([2., 2.])
for i in range(2):
    print(i)
# prints:
# 0
# 1
x.shape  # torch.Size([2])
x.dim()  # 1
         # dimension
x.t()  # -> a column
x.numel()  # -> 2
x.view(3)  # RuntimeError
f(  # a remark
  1)
print(x.view(2, 1))  # tensor([[2.],
                     #         [2.]])
                     # which is a column
```
";
        let document = Document::parse(text, Form::Markdown);
        let found: Vec<_> = document.cases[0]
            .examples
            .iter()
            .map(|example| (example.line, example.expected.as_str(), &text[example.output.clone()]))
            .collect();
        let wanted = [
            (2, "", ""),
            (3, "", ""),
            (4, "tensor([[1., 1.]])", "tensor([[1., 1.]])"),
            (6, "", ""),
            (7, "tensor([2., 2.])", "tensor([2., 2.])"),
            (9, "0\n1", "0\n# 1"),
            (14, "torch.Size([2])", "torch.Size([2])"),
            (15, "1", "1"),
            (17, "", ""),
            (18, "2", "2"),
            (19, "RuntimeError", "RuntimeError"),
            (20, "", ""),
            (22, "tensor([[2.],\n        [2.]])", "tensor([[2.],\n                     #         [2.]])"),
        ];
        assert_eq!(found, wanted);
        let example = &document.cases[0].examples[12];
        assert!(matches!(&example.written, Written::Comment { next, .. } if next == "\n                     # "));
    }
}
