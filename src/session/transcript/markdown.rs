//! Finds the lines of a Markdown file that belong to sessions or name a case.

use super::parse::{Reader, lines};

/// Passes the lines of session blocks in a Markdown file to `reader`.
pub(super) fn read(text: &str, reader: &mut Reader) {
    let mut fence: Option<Fence<'_>> = None;
    let mut above = "";
    for line in lines(text) {
        match &fence {
            Some(open) if open.is_closed_by(line.text) => {
                reader.close_block();
                fence = None;
            }
            Some(open) => {
                if open.is_session {
                    reader.session_line(&line, open.indent);
                }
            }
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
    is_session: bool,
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
        let is_session = matches!(info.split_whitespace().next(), Some("pycon" | "rhai-session"));
        Some(Fence { indent: line.strip_suffix(body).unwrap_or_default(), mark, length, is_session })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let body = line.trim();
        body.len() >= self.length && body.chars().all(|mark| mark == self.mark)
    }
}
