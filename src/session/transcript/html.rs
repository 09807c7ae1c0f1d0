//! Finds the `pre` elements of a page of HTML. Reads no more of the markup than that: tags inside them are dropped,
//! references to characters are replaced.

use std::borrow::Cow;

use super::blocks::Block;
use super::lines::{Encoding, Line};
use super::reader::Reader;

/// Reads a file.
pub(super) fn read(text: &str, reader: &mut Reader) {
    let mut number = Lines { text, at: 0, number: 1 };
    let mut language = "";
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('<')) {
        let start = at + found;
        let rest = text.get(start..).unwrap_or_default();
        if let Some(comment) = rest.strip_prefix("<!--") {
            let length = comment.find("-->").unwrap_or(comment.len());
            if let Some(words) = comment.get(..length).unwrap_or_default().trim().strip_prefix("tensorsh:") {
                reader.comment(words, number.of(start));
            }
            at = start + 4 + length;
            continue;
        }
        let tag = Tag::at(rest);
        at = start + tag.length;
        match tag.name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if !tag.is_closing => {
                let inner = text.get(at..).unwrap_or_default();
                let inner = inner.get(..inner.find("</h").unwrap_or(inner.len())).unwrap_or_default();
                reader.heading(plain(inner).trim_end_matches('¶').trim());
            }
            // Sphinx and Jekyll name the language in an element around the block.
            "div" | "figure" if !tag.is_closing => language = tag.language().unwrap_or(language),
            "script" | "style" if !tag.is_closing => {
                let end = text.get(at..).and_then(|rest| rest.find(&format!("</{}", tag.name)));
                at = end.map_or(text.len(), |end| at + end);
            }
            "pre" if !tag.is_closing => {
                let body = text.get(at..).unwrap_or_default();
                let body = body.get(..body.find("</pre").unwrap_or(body.len())).unwrap_or_default();
                let inner = Tag::at(body.trim_start());
                let inner = Some(inner).filter(|tag| tag.name == "code").and_then(|tag| tag.language());
                let marked = tag.language().or(inner).unwrap_or(language);
                let lines = Pre { text, at, end: at + body.len(), number: number.of(at) }.lines();
                let is_marked = body.contains("class=\"go\"") || body.contains("class=\"gp\"");
                let encoding = Encoding::Html { marked: is_marked };
                Block { lines: &lines, indent: "", encoding }.pass_to(marked, reader);
                at += body.len();
                language = "";
            }
            _ => {}
        }
    }
}

/// Returns the lines of a `pre` element in another page, from the line with its tag on, as they read; and the number of
/// lines that it takes there.
pub(super) fn inline_block<'l>(lines: &[Line<'l>]) -> (Vec<Line<'l>>, usize) {
    let end = |line: &Line<'_>| line.text.find("</pre");
    let count = lines.iter().position(|line| end(line).is_some()).map_or(lines.len(), |last| last + 1);
    let read = |line: &Line<'l>| {
        let kept = match end(line) {
            Some(length) => without_closing(line.text.get(..length).unwrap_or_default()),
            None => &line.text,
        };
        let text = Cow::Owned(plain(kept).into_owned());
        match end(line) {
            Some(_) => Line { text, after: line.start + kept.len(), end: "", ..line.clone() },
            None => Line { text, ..line.clone() },
        }
    };
    let block = lines.iter().take(count).map(read).filter(|line| !line.end.is_empty() || !line.text.trim().is_empty());
    (block.collect(), count)
}

/// Counts lines, for offsets that only grow.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl Lines<'_> {
    fn of(&mut self, offset: usize) -> usize {
        self.number += self.text.get(self.at..offset).unwrap_or_default().matches('\n').count();
        self.at = self.at.max(offset);
        self.number
    }
}

/// A tag.
struct Tag<'a> {
    /// The name in the case of the file.
    name: &'a str,
    attributes: &'a str,
    is_closing: bool,
    /// The length with its brackets.
    length: usize,
}

impl<'a> Tag<'a> {
    /// Reads the tag at the start of a text. What is no tag has no name and the length 1.
    fn at(text: &'a str) -> Tag<'a> {
        let nothing = Tag { name: "", attributes: "", is_closing: false, length: 1 };
        let Some(inner) = text.strip_prefix('<') else { return nothing };
        let is_closing = inner.starts_with('/');
        let inner = inner.strip_prefix('/').unwrap_or(inner);
        let end_of_name = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
        let name = inner.get(..end_of_name).unwrap_or_default();
        if name.is_empty() {
            return nothing;
        }
        // A bracket inside quotes does not end the tag.
        let mut quote = None;
        let end = inner.char_indices().find(|(_, c)| match quote {
            Some(open) => {
                quote = quote.filter(|_| *c != open);
                false
            }
            None if *c == '"' || *c == '\'' => {
                quote = Some(*c);
                false
            }
            None => *c == '>',
        });
        let end = end.map_or(inner.len(), |(at, _)| at);
        let attributes = inner.get(end_of_name..end).unwrap_or_default();
        Tag { name, attributes, is_closing, length: (text.len() - inner.len() + end + 1).min(text.len()) }
    }

    /// Returns the value of the attribute `class`.
    fn classes(&self) -> &'a str {
        let Some((_, rest)) = self.attributes.split_once("class=") else { return "" };
        let quote = rest.chars().next().filter(|c| *c == '"' || *c == '\'');
        match quote {
            Some(quote) => rest.get(1..).and_then(|rest| rest.split(quote).next()).unwrap_or_default(),
            None => rest.split_whitespace().next().unwrap_or_default(),
        }
    }

    /// Returns the language in a class `highlight-python` or `language-python`.
    fn language(&self) -> Option<&'a str> {
        self.classes().split_whitespace().find_map(|class| {
            let heads = ["language-", "highlight-source-", "highlight-", "lang-", "brush:"];
            heads.iter().find_map(|head| class.strip_prefix(head))
        })
    }
}

/// The text of a `pre` element.
struct Pre<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    number: usize,
}

impl<'a> Pre<'a> {
    fn lines(self) -> Vec<Line<'a>> {
        let mut lines = Vec::new();
        let (mut start, mut number) = (self.at, self.number);
        let body = self.text.get(self.at..self.end).unwrap_or_default();
        // A line end directly after the tag is no part of the text.
        if body.starts_with('\n') {
            start += 1;
            number += 1;
        }
        for whole in self.text.get(start..self.end).unwrap_or_default().split_inclusive('\n') {
            let written = whole.strip_suffix('\n').unwrap_or(whole);
            let written = written.strip_suffix('\r').unwrap_or(written);
            let ends = whole.len() > written.len();
            let end = match whole.len() - written.len() {
                0 => "",
                1 => "\n",
                _ => "\r\n",
            };
            // Elements that end on the last line stay behind its text.
            let kept = if ends { written } else { without_closing(written) };
            if !ends && plain(kept).is_empty() {
                break;
            }
            let after = start + kept.len() + end.len();
            lines.push(Line { number, start, after, text: plain(kept), end });
            start += whole.len();
            number += 1;
        }
        lines
    }
}

/// Removes closing tags whose elements begin before the line.
fn without_closing(written: &str) -> &str {
    let mut kept = written.trim_end();
    while let Some(at) = kept
        .rfind("</")
        .filter(|at| kept.ends_with('>') && Tag::at(kept.get(*at..).unwrap_or_default()).length == kept.len() - at)
    {
        let name = Tag::at(kept.get(at..).unwrap_or_default()).name;
        let opened = kept.matches(&format!("<{name}")).count();
        let closed = kept.matches(&format!("</{name}")).count();
        if opened >= closed {
            break;
        }
        kept = kept.get(..at).unwrap_or_default();
    }
    kept
}

/// Returns the text of markup on one line: without tags, line numbers and references.
fn plain(markup: &str) -> Cow<'_, str> {
    if !markup.contains(['<', '&']) {
        return Cow::Borrowed(markup);
    }
    let mut text = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some(at) = rest.find(['<', '&']) {
        let (before, there) = rest.split_at(at);
        text.push_str(before);
        let length = if there.starts_with('&') {
            let (character, length) = reference(there);
            text.push_str(&character);
            length
        } else {
            let tag = Tag::at(there);
            match tag.name {
                "" => text.push('<'),
                "span" | "td" if ["linenos", "lineno", "linenodiv"].iter().any(|class| tag.classes() == *class) => {
                    let end = there.find(&format!("</{}", tag.name)).unwrap_or(there.len());
                    rest = there.get(end..).unwrap_or_default();
                    continue;
                }
                _ => {}
            }
            tag.length
        };
        rest = there.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Replaces the references to characters in a text without tags.
pub(crate) fn without_references(text: &str) -> String {
    let mut parts = text.split('&');
    let mut new = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (character, length) = reference(&format!("&{part}"));
        new.push_str(&character);
        new.push_str(part.get(length - 1..).unwrap_or_default());
    }
    new
}

/// Names of characters that pages use in code.
const NAMES: &[(&str, &str)] = &[
    ("lt", "<"),
    ("gt", ">"),
    ("amp", "&"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("hellip", "…"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
];

/// Returns the character that a reference at the start of a text stands for, and the reference's length. Unknown ones
/// stand for themselves.
fn reference(text: &str) -> (Cow<'static, str>, usize) {
    let itself = (Cow::Borrowed("&"), 1);
    let Some(end) = text.bytes().take(12).position(|byte| byte == b';') else { return itself };
    let name = text.get(1..end).unwrap_or_default();
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        },
        None => None,
    };
    if let Some(character) = code.and_then(char::from_u32) {
        let character = if character == '\u{a0}' { ' ' } else { character };
        return (Cow::Owned(character.to_string()), end + 1);
    }
    let known = NAMES.iter().find(|(known, _)| *known == name);
    known.map_or(itself, |(_, text)| (Cow::Borrowed(*text), end + 1))
}

#[cfg(test)]
mod tests {
    use super::super::example::Document;
    use super::super::parse::Form;
    use super::*;

    #[test]
    fn text_of_markup() {
        let rows = [
            ("a &lt; b &amp;&amp; c", "a < b && c"),
            ("<span class=\"gp\">&gt;&gt;&gt; </span><span title=\">\">x</span>", ">>> x"),
            ("<span class=\"linenos\"> 3</span>x", "x"),
            ("1 < 2 & 3", "1 < 2 & 3"),
            ("&#x27;&#39;&#160;&unknown;", "'' &unknown;"),
            ("&gt; ééééééé", "> ééééééé"),
        ];
        for (markup, wanted) in rows {
            assert_eq!(plain(markup), wanted, "{markup}");
        }
    }

    #[test]
    fn blocks_of_a_page() {
        let text = "<h1>Title<a href=\"#\">¶</a></h1>\n<script>if (a < b) { '<pre>>>> no</pre>' }</script>\n\
            <div class=\"highlight-default notranslate\"><div class=\"highlight\"><pre><span></span>\
            <span class=\"gp\">&gt;&gt;&gt; </span><span class=\"n\">x</span>\n<span class=\"go\">&lt;a&gt;</span>\n\
            <span class=\"gp\">&gt;&gt;&gt; </span><span class=\"n\">y</span>\n<span class=\"go\">2</span>\n</pre></div></div>\n\
            <pre><code class=\"language-js\">x</code></pre>\n<pre><code>&gt;&gt;&gt; z\n3</code></pre>\n";
        let document = Document::parse(text, Form::Html);
        let found: Vec<_> = document.cases[0]
            .examples
            .iter()
            .map(|example| {
                (example.line, example.source.as_str(), example.expected.as_str(), &text[example.output.clone()])
            })
            .collect();
        let wanted = [
            (3, "x", "<a>", "<span class=\"go\">&lt;a&gt;</span>\n"),
            (5, "y", "2", "<span class=\"go\">2</span>\n"),
            (9, "z", "3", "3"),
        ];
        assert_eq!(found, wanted);
        assert_eq!(document.not_read.into_iter().collect::<Vec<_>>(), [("js".to_owned(), 1)]);
    }
}
