//! The prose of lessons as HTML. Knows paragraphs, items, headings, quotations, emphasis, code and links to the web; all
//! other text, markup included, is shown as it is written.

use explain::escaped;

/// The form of a paragraph, told by its first word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    /// An item of a list, which is numbered or not.
    Item(bool),
    Heading(usize),
    Quotation,
}

/// Returns paragraphs as HTML. Consecutive items form a list.
pub(super) fn prose<'p>(paragraphs: impl IntoIterator<Item = &'p str>) -> String {
    let (mut out, mut list) = (String::new(), None);
    for paragraph in paragraphs {
        let (form, text) = form(paragraph);
        let now = if let Form::Item(is_numbered) = form { Some(is_numbered) } else { None };
        if list != now {
            out.push_str(list.map_or("", end));
            out.push_str(now.map_or("", begin));
            list = now;
        }
        let text = inline(text);
        out.push_str(&match form {
            Form::Plain => format!("<p>{text}</p>\n"),
            Form::Item(_) => format!("<li>{text}</li>\n"),
            Form::Heading(level) => format!("<h{level}>{text}</h{level}>\n"),
            Form::Quotation => format!("<blockquote><p>{text}</p></blockquote>\n"),
        });
    }
    out + list.map_or("", end)
}

fn begin(is_numbered: bool) -> &'static str {
    if is_numbered { "<ol>\n" } else { "<ul>\n" }
}

fn end(is_numbered: bool) -> &'static str {
    if is_numbered { "</ol>\n" } else { "</ul>\n" }
}

/// Returns the form of a paragraph, and its text without the sign of it.
fn form(paragraph: &str) -> (Form, &str) {
    let Some((sign, text)) = paragraph.split_once(' ') else { return (Form::Plain, paragraph) };
    let is_number = |digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    match sign {
        "-" | "*" => (Form::Item(false), text),
        ">" => (Form::Quotation, text),
        // The title of the lesson is the heading of level 1.
        _ if sign.chars().all(|c| c == '#') => (Form::Heading(sign.len().clamp(2, 6)), text),
        _ if sign.strip_suffix('.').is_some_and(is_number) => (Form::Item(true), text),
        _ => (Form::Plain, paragraph),
    }
}

/// A longer text has no emphasis: finding the end of each sign would take too long.
const LONGEST: usize = 20_000;

/// Returns text with its emphasis, code and links as HTML.
pub(super) fn inline(text: &str) -> String {
    if text.len() > LONGEST {
        return escaped(text);
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let (html, after) = code(rest).or_else(|| emphasis(rest)).or_else(|| link(rest)).unwrap_or_else(|| {
            let is_escape = c == '\\' && rest.chars().nth(1).is_some_and(|c| c.is_ascii_punctuation());
            let begin = usize::from(is_escape);
            let length = rest.get(begin..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            let (text, after) = rest.split_at_checked(begin + length).unwrap_or((rest, ""));
            (escaped(text.get(begin..).unwrap_or_default()), after)
        });
        out.push_str(&html);
        rest = after;
    }
    out
}

/// Reads code between backticks.
fn code(text: &str) -> Option<(String, &str)> {
    let sign = text.get(..text.len() - text.trim_start_matches('`').len()).filter(|sign| !sign.is_empty())?;
    let (code, rest) = text.get(sign.len()..)?.split_once(sign)?;
    // Spaces separate the signs from code that begins or ends with one.
    let code = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' ')).unwrap_or(code);
    Some((format!("<code>{}</code>", escaped(code)), rest))
}

/// Reads emphasis between asterisks.
fn emphasis(text: &str) -> Option<(String, &str)> {
    let (sign, tag) = if text.starts_with("**") { ("**", "strong") } else { ("*", "em") };
    let (inner, rest) = text.strip_prefix(sign)?.split_once(sign)?;
    let is_word = |c: char| !c.is_whitespace() && c != '*';
    let is_emphasis = inner.starts_with(is_word) && inner.ends_with(is_word);
    is_emphasis.then(|| (format!("<{tag}>{}</{tag}>", inline(inner)), rest))
}

/// Reads a link. One that does not lead to the web is its text alone.
fn link(text: &str) -> Option<(String, &str)> {
    let (shown, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (address, rest) = rest.split_once(')')?;
    if shown.contains(['[', ']']) {
        return None;
    }
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    let shown = inline(shown);
    let html = match is_web && !address.contains(char::is_whitespace) {
        true => format!("<a href=\"{}\" rel=\"noopener noreferrer\">{shown}</a>", escaped(address)),
        false => shown,
    };
    Some((html, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        let rows = [
            ("a *b* **c** `d`", "a <em>b</em> <strong>c</strong> <code>d</code>"),
            ("2 * 3 * 4, a * b", "2 * 3 * 4, a * b"),
            ("``a ` b`` \\*c\\*", "<code>a ` b</code> *c*"),
            (
                "`<b>` <script>x</script> & \"q\"",
                "<code>&lt;b&gt;</code> &lt;script&gt;x&lt;/script&gt; &amp; &quot;q&quot;",
            ),
            (
                "[t](https://e.org/?a=\"b\")",
                "<a href=\"https://e.org/?a=&quot;b&quot;\" rel=\"noopener noreferrer\">t</a>",
            ),
            ("[t](javascript:alert(1))", "t)"),
            ("[t](other.md)", "t"),
            ("![t](https://e.org/i.png)", "!<a href=\"https://e.org/i.png\" rel=\"noopener noreferrer\">t</a>"),
            ("[<b>](data:text/html,x)", "&lt;b&gt;"),
            ("*open `open [open", "*open `open [open"),
            ("é*ü*ß\\", "é<em>ü</em>ß\\"),
        ];
        for (text, html) in rows {
            assert_eq!(inline(text), html, "{text}");
        }
        for long in ["[".repeat(5_000), "*`[".repeat(LONGEST)] {
            assert_eq!(inline(&long), long);
        }
    }

    #[test]
    fn items_form_lists() {
        let html = prose(["One.", "- a", "- b", "1. c", "## Two", "> q", "-x"]);
        let wanted = "<p>One.</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol>\n<li>c</li>\n</ol>\n<h2>Two</h2>\n\
                      <blockquote><p>q</p></blockquote>\n<p>-x</p>\n";
        assert_eq!(html, wanted);
    }
}
