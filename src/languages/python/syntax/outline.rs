//! The outline of a source that is known to be correct: its text with the bodies of functions left blank, so that they are
//! read only when they are needed. Half a module of Python's library is never called.
//!
//! Finds bodies by indentation, and knows of the grammar only strings, comments, brackets and joined lines.

use memchr::{memchr, memchr2, memmem};
use std::ops::Range;

/// A source without the bodies of its functions. Everything else stands where it stood.
pub(crate) struct Outline {
    pub text: String,
    bodies: Vec<Body>,
}

/// A function whose body an outline leaves out. Functions inside it are part of its body.
pub(crate) struct Body {
    /// The lines from `def` or `async def` to the end of the body.
    pub function: Range<usize>,
    /// Those after the header.
    lines: Range<usize>,
    /// The column of `def`, in bytes.
    pub column: usize,
    /// Whether the body may refer to the class around it, by `super()` or `__class__`.
    pub sees_class: bool,
}

impl Outline {
    pub(crate) fn of(source: &str) -> Outline {
        let class = [memmem::Finder::new("super"), memmem::Finder::new("__class__")];
        let mut bodies = Lines { bytes: source.as_bytes(), at: 0 }.bodies();
        let mut text = String::with_capacity(source.len());
        for body in &mut bodies {
            text.push_str(source.get(text.len()..body.lines.start).unwrap_or_default());
            let lines = source.get(body.lines.clone()).unwrap_or_default();
            body.sees_class = body.column > 0 && may_see_class(lines.as_bytes(), &class);
            // The shortest statement, one column deeper, and a comment up to the end of the last line.
            fill(&mut text, " ", body.column + 1);
            text.push('0');
            let rest = body.lines.end.saturating_sub(text.len());
            fill(&mut text, COMMENT, rest);
        }
        text.push_str(source.get(text.len()..).unwrap_or_default());
        Outline { text, bodies }
    }

    /// Returns the function whose body the outline leaves out, if a statement of the outline stands there.
    pub(crate) fn function_at(&self, statement: usize) -> Option<&Body> {
        let after = self.bodies.partition_point(|body| body.lines.start <= statement);
        self.bodies.get(after.checked_sub(1)?).filter(|body| statement < body.lines.end)
    }
}

/// A part of the comment that fills a blank body.
const COMMENT: &str =
    "################################################################################################";

/// Appends a number of characters of a text that repeats one of them.
fn fill(text: &mut String, with: &str, mut count: usize) {
    while count > 0 {
        let some = count.min(with.len());
        text.push_str(with.get(..some).unwrap_or_default());
        count -= some;
    }
}

/// Returns whether a method may refer to its class.
fn may_see_class(lines: &[u8], [by_super, by_name]: &[memmem::Finder; 2]) -> bool {
    let is_plain = |at: usize| !lines.get(..at).unwrap_or_default().ends_with(b".");
    by_super.find(lines).is_some() || by_name.find_iter(lines).any(is_plain)
}

/// The bytes at which a logical line ends or is joined, or a string, a comment or a bracket begins or ends.
static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut bytes = b"\n#\\\"'()[]{}".as_slice();
    while let [byte, rest @ ..] = bytes {
        special[*byte as usize] = true;
        bytes = rest;
    }
    special
};

/// A walk over logical lines.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Lines<'_> {
    /// Finds the bodies of functions that are not inside other functions, except those on the line of their header.
    fn bodies(mut self) -> Vec<Body> {
        let (mut bodies, mut open): (Vec<Body>, Option<Body>) = (Vec::new(), None);
        // The end of the last line that is not blank, without its line break.
        let mut end = 0;
        loop {
            let start = self.at;
            let blank = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\x0c')).count();
            self.at += blank;
            match self.rest() {
                [] => break,
                [b'\n' | b'\r' | b'#', ..] => {
                    self.end_line();
                    continue;
                }
                _ => {}
            }
            if open.as_ref().is_some_and(|open| blank <= open.column) {
                bodies.extend(open.take().map(|open| open.closed(end)));
            }
            let is_function = [b"def ".as_slice(), b"async def "].iter().any(|word| self.rest().starts_with(word));
            let has_body = self.logical_line();
            end = self.at - usize::from(self.bytes.get(self.at - 1) == Some(&b'\n'));
            if is_function && has_body && open.is_none() {
                let (function, lines) = (start..self.at, self.at..self.at);
                open = Some(Body { function, lines, column: blank, sees_class: false });
            }
        }
        bodies.extend(open.map(|open| open.closed(end)));
        bodies
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Moves past the byte at this distance and returns it, or moves to the end.
    fn past(&mut self, distance: Option<usize>) -> Option<u8> {
        let found = distance.map(|distance| self.at + distance);
        self.at = found.map_or(self.bytes.len(), |found| found + 1);
        self.bytes.get(found?).copied()
    }

    fn end_line(&mut self) {
        self.past(memchr(b'\n', self.rest()));
    }

    /// Moves to the next logical line. Returns whether this one ends with a colon, apart from a comment.
    fn logical_line(&mut self) -> bool {
        let (mut depth, mut comment) = (0_usize, None);
        loop {
            let found = self.past(self.rest().iter().position(|byte| SPECIAL[usize::from(*byte)]));
            match found {
                None | Some(b'\n') if depth == 0 || found.is_none() => {
                    let end = comment.unwrap_or(self.at - usize::from(found.is_some()));
                    return self.bytes.get(..end).unwrap_or_default().trim_ascii_end().ends_with(b":");
                }
                Some(b'#') => {
                    comment = Some(self.at - 1);
                    // The line break is met next.
                    self.at += memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
                }
                Some(b'\n') => comment = None,
                Some(b'\\') => self.at += 1,
                Some(quote @ (b'"' | b'\'')) => self.string(quote),
                Some(b'(' | b'[' | b'{') => depth += 1,
                Some(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Moves past a string, of which the first quote has been read.
    fn string(&mut self, quote: u8) {
        let is_triple = self.rest().starts_with(&[quote; 2]);
        if is_triple {
            self.at += 2;
        }
        while let Some(byte) = self.past(memchr2(quote, b'\\', self.rest())) {
            if byte == b'\\' {
                self.at += 1;
            } else if !is_triple {
                return;
            } else if self.rest().starts_with(&[quote; 2]) {
                self.at += 2;
                return;
            }
        }
    }
}

impl Body {
    fn closed(mut self, end: usize) -> Body {
        (self.function.end, self.lines.end) = (end, end);
        self
    }
}
