//! Finds the blocks of a reStructuredText file: blocks with prompts, literal blocks, and directives with code.

use super::blocks::{Block, Directive, is_prompted, split_options};
use super::lines::{Encoding, Line, indent_of, lines};
use super::reader::{Reader, common_indent};

/// Reads a file.
pub(super) fn read(text: &str, reader: &mut Reader) {
    let all: Vec<Line<'_>> = lines(text).collect();
    // As in sphinx.ext.doctest.
    reader.comment("+ELLIPSIS", 0);
    read_lines(&all, reader);
}

/// Reads lines of reStructuredText.
pub(super) fn read_lines(all: &[Line<'_>], reader: &mut Reader) {
    let (mut at, mut above) = (0, "");
    // Lines with prompts may stand anywhere in text. They are read together up to the next directive or heading.
    let mut text: Vec<Line<'_>> = Vec::new();
    while let Some(line) = all.get(at) {
        at += 1;
        let indent = indent_of(&line.text);
        let body = line.text.get(indent.len()..).unwrap_or_default();
        let rest = all.get(at..).unwrap_or_default();
        if let Some(comment) = body.strip_prefix(".. ") {
            flush(&mut text, reader);
            above = "";
            if let Some(words) = comment.strip_prefix("tensorsh:").filter(|words| !words.starts_with(':')) {
                reader.comment(words, line.number);
            } else if comment.trim_end() == "doctest-skip-all" {
                reader.comment("+SKIP", line.number);
            } else if let Some((name, argument)) = comment.split_once("::")
                && Directive::is_code(name)
            {
                let length = length_inside(rest, indent);
                let (options, lines) = split_options(rest.get(..length).unwrap_or_default());
                let inner = common_indent(lines.iter().map(|line| &*line.text));
                let body = Block { lines, indent: inner, encoding: Encoding::Plain };
                Directive { name, argument: argument.trim(), options, body }.pass_to(reader);
                at += length;
            }
            continue;
        }
        if is_underline(body) && indent.is_empty() && !above.trim().is_empty() && !is_underline(above) {
            flush(&mut text, reader);
            reader.heading(above.trim());
        } else if body.trim_end().ends_with("::") && !is_prompted(body) {
            // A literal block follows.
            flush(&mut text, reader);
            let length = length_inside(rest, indent);
            let lines = rest.get(..length).unwrap_or_default();
            if lines.iter().any(|line| is_prompted(&line.text)) {
                reader.loose(lines.iter().cloned(), Encoding::Plain);
                at += length;
            } else if lines.iter().any(|line| !line.text.trim().is_empty()) {
                reader.not_read("no prompt");
                at += length;
            }
        } else {
            text.push(line.clone());
        }
        above = &line.text;
    }
    flush(&mut text, reader);
}

fn flush(text: &mut Vec<Line<'_>>, reader: &mut Reader) {
    if text.iter().any(|line| is_prompted(&line.text)) {
        reader.loose(text.drain(..), Encoding::Plain);
    }
    text.clear();
}

/// Returns the number of lines that are indented further than `indent`, with the blank lines between them.
fn length_inside(lines: &[Line<'_>], indent: &str) -> usize {
    let is_outside = |line: &Line<'_>| !line.text.trim().is_empty() && indent_of(&line.text).len() <= indent.len();
    lines.iter().position(is_outside).unwrap_or(lines.len())
}

/// Returns whether a line underlines a heading.
fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    let first = line.bytes().next().unwrap_or_default();
    line.len() > 1 && first.is_ascii_punctuation() && first != b'.' && line.bytes().all(|byte| byte == first)
}
