//! Finds the blocks of a Markdown file, its headings, and what it says about itself. MyST's directives are fences too:
//! those with code are read as in reStructuredText, the others for the fences inside them.

use super::blocks::{Block, Directive, is_prompted, split_options};
use super::lines::{Encoding, Line, indent_of, lines};
use super::reader::Reader;
use super::{html, rst};

/// Reads a file.
pub(super) fn read(text: &str, reader: &mut Reader) {
    let all: Vec<Line<'_>> = lines(text).collect();
    let body = front_matter(&all, reader);
    read_lines(body, reader);
}

/// Reads the words about the page in its front matter, the lines between two `---` at its start. Returns the lines
/// below it.
fn front_matter<'b, 'l>(all: &'b [Line<'l>], reader: &mut Reader) -> &'b [Line<'l>] {
    let Some((_, rest)) = all.split_first().filter(|(first, _)| first.text.trim_end() == "---") else { return all };
    let Some(end) = rest.iter().position(|line| ["---", "..."].contains(&line.text.trim_end())) else { return all };
    let mut is_inside = false;
    for line in rest.get(..end).unwrap_or_default() {
        if let Some(words) = line.text.strip_prefix("tensorsh:") {
            is_inside = true;
            reader.comment(words, line.number);
        } else if is_inside && line.text.starts_with([' ', '\t']) {
            let (key, value) = line.text.split_once(':').unwrap_or((&line.text, ""));
            match key.trim() {
                "options" => reader.comment(value, line.number),
                key => reader.comment(&format!("{key}={}", value.trim()), line.number),
            }
        } else {
            is_inside = false;
        }
    }
    rest.get(end + 1..).unwrap_or_default()
}

/// Reads lines of Markdown.
fn read_lines(all: &[Line<'_>], reader: &mut Reader) {
    // Directives with text inside, whose closing lines are still to come.
    let mut around: Vec<Fence<'_>> = Vec::new();
    let (mut at, mut above) = (0, "");
    while let Some(line) = all.get(at) {
        at += 1;
        let text: &str = &line.text;
        if around.last().is_some_and(|fence| fence.is_closed_by(text)) {
            around.pop();
            above = "";
        } else if let Some(fence) = Fence::opened_by(text) {
            above = "";
            let rest = all.get(at..).unwrap_or_default();
            if fence.has_fences(rest) {
                around.push(fence);
                continue;
            }
            let length = rest.iter().position(|line| fence.is_closed_by(&line.text)).unwrap_or(rest.len());
            fence.pass_to(rest.get(..length).unwrap_or_default(), reader);
            at += length + 1;
        } else if text.trim_start().starts_with("<pre") {
            let (lines, count) = html::inline_block(all.get(at - 1..).unwrap_or_default());
            Block { lines: &lines, indent: "", encoding: Encoding::Html { marked: false } }.pass_to("", reader);
            at += count.max(1) - 1;
        } else if let Some(words) = comment(text) {
            reader.comment(words, line.number);
        } else if is_prompted(text) {
            let indent = indent_of(text);
            if indent.len() < 4 && !indent.contains('\t') {
                reader.not_read("prompt outside a fence");
                let is_same = |line: &&Line<'_>| !line.text.trim().is_empty() && Fence::opened_by(&line.text).is_none();
                at += all.get(at..).unwrap_or_default().iter().take_while(is_same).count();
                continue;
            }
            let rest = all.get(at - 1..).unwrap_or_default();
            let is_inside = |line: &Line<'_>| line.text.trim().is_empty() || line.text.starts_with(indent);
            let length = rest.iter().position(|line| !is_inside(line)).unwrap_or(rest.len());
            reader.loose(rest.iter().take(length).cloned(), Encoding::Plain);
            at += length - 1;
        } else {
            if let Some(name) = heading(above, text) {
                reader.heading(name);
            }
            above = text;
        }
    }
}

/// Returns the words of a comment about the page: `<!-- tensorsh: … -->`, or `{/* tensorsh: … */}` in MDX.
fn comment(line: &str) -> Option<&str> {
    let inner = |start: &str, end: &str| line.trim().strip_prefix(start)?.strip_suffix(end);
    let comment = inner("<!--", "-->").or_else(|| inner("{/*", "*/}"))?;
    comment.trim().strip_prefix("tensorsh:")
}

/// Returns the name in a heading: `## Name`, or `Name` above an underline of `=` or `-`.
fn heading<'a>(above: &'a str, line: &'a str) -> Option<&'a str> {
    let name = line.trim_start_matches('#');
    if name.len() < line.len() && line.len() - name.len() <= 6 && (name.is_empty() || name.starts_with([' ', '\t'])) {
        return Some(name.trim().trim_end_matches('#').trim_end());
    }
    let underline = line.trim_end();
    let is_underline = underline.len() > 1
        && (underline.bytes().all(|byte| byte == b'=') || underline.bytes().all(|byte| byte == b'-'));
    let is_paragraph = above.starts_with(|first: char| !first.is_whitespace() && !"#>|-*+`~".contains(first));
    (is_underline && is_paragraph).then(|| above.trim())
}

/// The number of lines of a directive that are searched for fences.
const LOOKED_AT: usize = 100;

/// The opening line of a fenced block.
struct Fence<'a> {
    /// The indentation, with the marks of quotations around the block.
    indent: &'a str,
    mark: char,
    length: usize,
    /// The text after the marks.
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn opened_by(line: &'a str) -> Option<Fence<'a>> {
        let body = line.trim_start_matches([' ', '\t', '>']);
        let mark = body.chars().next().filter(|mark| "`~:".contains(*mark))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        if length < 3 || mark == '`' && info.contains('`') || mark == ':' && !info.trim_start().starts_with('{') {
            return None;
        }
        let indent = line.strip_suffix(body).unwrap_or_default();
        Some(Fence { indent, mark, length, info: info.trim() })
    }

    /// Returns the name and the argument, if the block is a directive: `{doctest} group`.
    fn directive(&self) -> Option<(&'a str, &'a str)> {
        let (name, argument) = self.info.strip_prefix('{')?.split_once('}')?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte));
        is_name.then(|| (name, argument.trim()))
    }

    /// Returns whether the block is a directive with text, which has fences in it: a note, a tab. `rest` are the lines
    /// below; of a long block, only
    /// the first ones are looked at.
    fn has_fences(&self, rest: &[Line<'_>]) -> bool {
        let is_text = |name: &str| !Directive::is_code(name) && !["python", "rhai", "eval-rst", ""].contains(&name);
        if !self.directive().is_some_and(|(name, _)| is_text(name)) {
            return false;
        }
        let mut inner = rest.iter().take(LOOKED_AT);
        match inner.find(|line| self.is_closed_by(&line.text) || Fence::opened_by(&line.text).is_some()) {
            Some(line) => !self.is_closed_by(&line.text),
            None => rest.len() > LOOKED_AT,
        }
    }

    /// Returns the language that the block is marked with: ```` ```python title="x" ````, ```` ``` {.python} ````.
    fn language(&self) -> &'a str {
        let word = self.info.trim_start_matches(['{', '.', ' ']);
        word.split(|next: char| !(next.is_alphanumeric() || "_+-#".contains(next))).next().unwrap_or_default()
    }

    /// Passes the lines of the block to `reader`.
    fn pass_to(&self, lines: &[Line<'_>], reader: &mut Reader) {
        let encoding = Encoding::Plain;
        match self.directive() {
            Some(("eval-rst", _)) => return rst::read_lines(lines, reader),
            Some((name, argument)) if Directive::is_code(name) => {
                let (mut options, mut body) = split_options(lines);
                let yaml = self.yaml(body);
                if let Some(end) = yaml {
                    let pair = |line: &'_ Line<'_>| line.text.split_once(':').map(|(key, _)| key.len());
                    let (head, rest) = body.split_at(end);
                    for line in head {
                        if let Some(at) = pair(line) {
                            let key = line.text.get(..at).unwrap_or_default().trim();
                            options.push((key, line.text.get(at + 1..).unwrap_or_default().trim()));
                        }
                    }
                    body = rest.get(1..).unwrap_or_default();
                }
                let body = Block { lines: body, indent: self.indent, encoding };
                return Directive { name, argument, options, body }.pass_to(reader);
            }
            // A figure, or text without code.
            Some((name, _))
                if !["python", "rhai", ""].contains(&name) && !lines.iter().any(|line| is_prompted(&line.text)) =>
            {
                return;
            }
            _ => {}
        }
        let words = self.info.split([' ', ',', '{', '}', '\t']);
        if words.skip(1).any(|word| ["skip", "ignore", "notest", "no-test"].contains(&word)) {
            return reader.not_read("marked as not to be tested");
        }
        Block { lines, indent: self.indent, encoding }.pass_to(self.language(), reader);
    }

    /// Returns the index of the line that ends a block of YAML at the start of a directive's body.
    fn yaml(&self, body: &[Line<'_>]) -> Option<usize> {
        let is_rule = |line: &Line<'_>| line.text.trim() == "---";
        body.first().filter(|first| is_rule(first))?;
        body.iter().skip(1).position(is_rule).map(|end| end + 1)
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let body = line.trim_start_matches([' ', '\t', '>']).trim_end();
        body.len() >= self.length && body.chars().all(|mark| mark == self.mark)
    }
}
