//! Finds the lines of a Markdown file that belong to sessions or name a case.

use super::parse::{Line, Reader, dedent, lines, prompt_of};

/// Passes the lines of fenced blocks with a prompt to `reader`, and tells it of the other blocks.
pub(super) fn read(text: &str, reader: &mut Reader) {
    let mut fence: Option<Fence<'_>> = None;
    let mut above = "";
    for line in lines(text) {
        match &mut fence {
            Some(open) if open.is_closed_by(line.text) => {
                open.pass_to(reader);
                fence = None;
            }
            Some(open) => open.lines.push(line),
            None => {
                fence = Fence::opened_by(line.text);
                if fence.is_none()
                    && let Some(name) = heading(above, line.text)
                {
                    reader.heading(name);
                }
            }
        }
        above = if fence.is_none() { line.text } else { "" };
    }
    if let Some(open) = fence {
        open.pass_to(reader);
    }
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

/// An open fenced block.
struct Fence<'a> {
    indent: &'a str,
    mark: char,
    length: usize,
    /// The language that it is marked with.
    language: &'a str,
    lines: Vec<Line<'a>>,
}

impl<'a> Fence<'a> {
    fn opened_by(line: &'a str) -> Option<Fence<'a>> {
        let body = line.trim_start_matches([' ', '\t']);
        let mark = body.chars().next().filter(|mark| "`~".contains(*mark))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let language = info.split_whitespace().next().unwrap_or_default();
        let indent = line.strip_suffix(body).unwrap_or_default();
        Some(Fence { indent, mark, length, language, lines: Vec::new() })
    }

    /// Passes the block to `reader`: its lines if one has a prompt, or else why it is not read.
    fn pass_to(&self, reader: &mut Reader) {
        if self.lines.iter().any(|line| prompt_of(dedent(line.text, self.indent)).is_some()) {
            self.lines.iter().for_each(|line| reader.session_line(line, self.indent));
            reader.close_block();
        } else {
            reader.not_read(match self.language {
                "" | "py" | "pycon" | "python" | "python3" | "rhai" | "rhai-session" => "no prompt",
                other => other,
            });
        }
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let body = line.trim();
        body.len() >= self.length && body.chars().all(|mark| mark == self.mark)
    }
}
